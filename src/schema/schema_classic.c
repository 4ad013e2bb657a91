/* SPDX-License-Identifier: MIT
 *
 * Built-in classic classes, one row each: the fields as "Name:type;...". Types:
 *   u8 u16 u32 u64 i32 i64 x32 x64 (hex) ptr size time (FILETIME) guid wsz asz bin<N> sid rest
 * A row covers versions from..to. Field names are those of the MOF classes.
 */
#include "schema/schema_build.h"

#include <stdlib.h>

struct classic_row {
	const char *guid;
	uint8_t opcode;
	uint8_t from, to;
	const char *provider, *task, *opcode_name;
	const char *fields;
};

static const struct classic_row rows[] = {
	/* TRACE_LOGFILE_HEADER as a file's first record holds it: 32- and 64-bit forms differ only in
	 * the two pointers. bin176 is the time zone and four bytes of padding. [obs] */
	{"68fdd900-4a3e-11d1-84f4-0000f80464e3", 0, 0, 255, "MSNT_SystemTrace", "EventTrace",
	 "Header",
	 "BufferSize:u32;Version:x32;ProviderVersion:u32;NumberOfProcessors:u32;EndTime:time;"
	 "TimerResolution:u32;MaxFileSize:u32;LogFileMode:x32;BuffersWritten:u32;StartBuffers:u32;"
	 "PointerSize:u32;EventsLost:u32;CPUSpeed:u32;LoggerName:ptr;LogFileName:ptr;"
	 "TimeZoneInformation:bin176;BootTime:time;PerfFreq:u64;StartTime:time;ReservedFlags:x32;"
	 "BuffersLost:u32;SessionNameString:wsz;LogFileNameString:wsz"},
};

/* By enum schema_special. */
static const struct classic_row specials[] = {
	[SCHEMA_SPECIAL_STRING] = {"", 0, 0, 0, "", "String", "", "Message:wsz"},
	[SCHEMA_SPECIAL_MANIFEST_CHUNK] = {"", 0, 0, 0, "", "ManifestData", "",
					   "Format:u8;MajorVersion:u8;MinorVersion:u8;Magic:u8;"
					   "TotalChunks:u16;ChunkNumber:u16;Data:rest"},
};

static const struct {
	const char *name;
	uint16_t in, out;
} types[] = {
	{"u8", SCHEMA_IN_UINT8, SCHEMA_OUT_UNSIGNEDBYTE},
	{"u16", SCHEMA_IN_UINT16, SCHEMA_OUT_UNSIGNEDSHORT},
	{"u32", SCHEMA_IN_UINT32, SCHEMA_OUT_UNSIGNEDINT},
	{"u64", SCHEMA_IN_UINT64, SCHEMA_OUT_UNSIGNEDLONG},
	{"i32", SCHEMA_IN_INT32, SCHEMA_OUT_INT},
	{"i64", SCHEMA_IN_INT64, SCHEMA_OUT_LONG},
	{"x32", SCHEMA_IN_UINT32, SCHEMA_OUT_HEXINT32},
	{"x64", SCHEMA_IN_UINT64, SCHEMA_OUT_HEXINT64},
	{"ptr", SCHEMA_IN_POINTER, SCHEMA_OUT_HEXINT64},
	{"size", SCHEMA_IN_SIZET, SCHEMA_OUT_HEXINT64},
	{"time", SCHEMA_IN_FILETIME, SCHEMA_OUT_DATETIME},
	{"guid", SCHEMA_IN_GUID, SCHEMA_OUT_GUID},
	{"wsz", SCHEMA_IN_UNICODESTRING, SCHEMA_OUT_STRING},
	{"asz", SCHEMA_IN_ANSISTRING, SCHEMA_OUT_STRING},
	{"sid", SCHEMA_IN_WBEMSID, SCHEMA_OUT_STRING},
	{"rest", SCHEMA_IN_NONNULLTERMINATEDANSISTRING, SCHEMA_OUT_STRING},
	{"bin", SCHEMA_IN_BINARY, SCHEMA_OUT_HEXBINARY},
};

static void add_field(struct schema_build *b, const char *name, size_t name_bytes, const char *type)
{
	struct schema_field *f = schema_build_field(b);
	if (!f) {
		return;
	}
	size_t n = strcspn(type, ";0123456789");
	size_t whole = strcspn(type, ";");
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		bool sized = types[i].in == SCHEMA_IN_BINARY;
		size_t want = strlen(types[i].name);
		if (want == (sized ? n : whole) && memcmp(types[i].name, type, want) == 0) {
			f->in_type = types[i].in;
			f->out_type = types[i].out;
			if (sized) {
				f->length = (uint16_t)strtoul(type + want, NULL, 10);
				f->flags |= SCHEMA_FF_FIXED_LENGTH;
			}
			break;
		}
	}
	struct schema_str s = schema_build_utf8(b, name, name_bytes);
	schema_build_name(b, f, s, NULL);
}

static int build_row(const struct classic_row *r, const struct guid *g, uint8_t version,
		     struct schema_event **ret)
{
	struct schema_build b;
	schema_build_init(&b);
	b.head.source = SCHEMA_SOURCE_WBEM;
	b.head.provider = *g;
	b.head.event_guid = *g;
	b.head.descriptor[2] = version;
	b.head.descriptor[5] = r->opcode;
	b.head.provider_name = schema_build_utf8(&b, r->provider, strlen(r->provider));
	b.head.task_name = schema_build_utf8(&b, r->task, strlen(r->task));
	b.head.opcode_name = schema_build_utf8(&b, r->opcode_name, strlen(r->opcode_name));
	for (const char *s = r->fields; *s;) {
		const char *colon = strchr(s, ':');
		add_field(&b, s, (size_t)(colon - s), colon + 1);
		s = colon + strcspn(colon, ";");
		s += *s == ';';
	}
	b.head.top_count = b.field_count;
	int err = schema_build_seal(&b, NULL, 0, ret);
	schema_build_finish(&b);
	return err;
}

int schema_load_classic(const struct guid *class_guid, uint8_t opcode, uint8_t version,
			struct schema_event **ret)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct guid g;
		if (rows[i].opcode == opcode && version >= rows[i].from && version <= rows[i].to &&
		    guid_parse(rows[i].guid, &g) == 0 && guid_equal(&g, class_guid)) {
			return build_row(&rows[i], &g, version, ret);
		}
	}
	return -ENOENT;
}

int schema_load_special(enum schema_special kind, struct schema_event **ret)
{
	return build_row(&specials[kind], &GUID_ZERO, 0, ret);
}
