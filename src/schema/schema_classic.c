/* SPDX-License-Identifier: MIT
 *
 * Built-in classic classes, one row each: the fields as "Name:type;...". Types:
 *   u8 u16 u32 u64 i32 i64 x32 x64 (hex) ptr size time (FILETIME) guid wsz asz bin<N> sid rest
 * A type may be followed by [N], or by [Field] for as many elements as an earlier field says. A row
 * covers versions from..to. Field names are those of the MOF classes where there are any.
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

#define EVENT_TRACE "68fdd900-4a3e-11d1-84f4-0000f80464e3"
#define IMAGE_ID    "b3e675d7-2554-4f18-830b-2762732560de"
#define CONFIG_EX   "9b79ee91-b5fd-41c0-a243-4248e266e9d0"
#define SYSTEM	    "MSNT_SystemTrace"
#define CONTROL	    "KernelTraceControl"
#define GROUP_MASKS "GroupMask:x32[8];KernelEventVersion:u32"

static const struct classic_row rows[] = {
	/* TRACE_LOGFILE_HEADER as a file's first record holds it: 32- and 64-bit forms differ only
	 * in the two pointers. bin176 is the time zone and four bytes of padding. [obs] */
	{EVENT_TRACE, 0, 0, 255, SYSTEM, "EventTrace", "Header",
	 "BufferSize:u32;Version:x32;ProviderVersion:u32;NumberOfProcessors:u32;EndTime:time;"
	 "TimerResolution:u32;MaxFileSize:u32;LogFileMode:x32;BuffersWritten:u32;StartBuffers:u32;"
	 "PointerSize:u32;EventsLost:u32;CPUSpeed:u32;LoggerName:ptr;LogFileName:ptr;"
	 "TimeZoneInformation:bin176;BootTime:time;PerfFreq:u64;StartTime:time;ReservedFlags:x32;"
	 "BuffersLost:u32;SessionNameString:wsz;LogFileNameString:wsz"},
	/* Other records of the log file itself. [obs] */
	{EVENT_TRACE, 5, 0, 255, SYSTEM, "EventTrace", "Extension", GROUP_MASKS},
	{EVENT_TRACE, 8, 0, 255, SYSTEM, "EventTrace", "RundownComplete", ""},
	{EVENT_TRACE, 32, 0, 255, SYSTEM, "EventTrace", "EndExtension", GROUP_MASKS},
	{EVENT_TRACE, 64, 0, 255, SYSTEM, "EventTrace", "DbgIdRSDS",
	 "GuidSig:guid;Age:u32;PdbFileName:asz"},
	{EVENT_TRACE, 66, 0, 255, SYSTEM, "EventTrace", "BuildInfo", "BuildString:asz"},
	{EVENT_TRACE, 67, 0, 255, SYSTEM, "EventTrace", "ProviderBinaryPath",
	 "GuidCount:u32;Guids:guid[GuidCount];BinaryPath:wsz"},
	{EVENT_TRACE, 80, 0, 255, SYSTEM, "EventTrace", "PartitionInfoExtension",
	 "EventVersion:u16;Reserved:u16;PartitionType:u32;QpcOffsetFromRoot:i64;PartitionId:guid;"
	 "ParentId:guid"},
	{EVENT_TRACE, 82, 0, 255, SYSTEM, "EventTrace", "LastDroppedTimes",
	 "ProcessorCount:u32;Reserved:u32;Times:u64[ProcessorCount]"},
	/* What a merge adds. [obs] */
	{IMAGE_ID, 0, 0, 255, CONTROL, "ImageID", "Info",
	 "ImageBase:ptr;ImageSize:size;ProcessId:u32;TimeDateStamp:x32;OriginalFileName:wsz"},
	{IMAGE_ID, 32, 0, 255, CONTROL, "ImageID", "None", "ImageBase:ptr;ProcessId:u32"},
	{IMAGE_ID, 36, 0, 255, CONTROL, "ImageID", "DbgID_RSDS",
	 "ImageBase:ptr;ProcessId:u32;GuidSig:guid;Age:u32;PdbFileName:asz"},
	{IMAGE_ID, 37, 0, 255, CONTROL, "ImageID", "DbgID_ILRSDS",
	 "ImageBase:ptr;ProcessId:u32;GuidSig:guid;Age:u32;PdbFileName:asz"},
	{IMAGE_ID, 38, 0, 255, CONTROL, "ImageID", "DbgPPDB",
	 "ImageBase:ptr;ProcessId:u32;TimeDateStamp:x32;MajorVersion:u16;MinorVersion:u16"},
	{IMAGE_ID, 40, 0, 255, CONTROL, "ImageID", "DbgDeterm", "ImageBase:ptr;ProcessId:u32"},
	{IMAGE_ID, 64, 0, 255, CONTROL, "ImageID", "FileVersion",
	 "ImageSize:u32;TimeDateStamp:x32;OriginalFileName:wsz;FileDescription:wsz;FileVersion:wsz;"
	 "BinaryFileVersion:wsz;Language:wsz;ProductName:wsz;CompanyName:wsz;ProductVersion:wsz;"
	 "FileId:wsz;ProgramId:wsz"},
	{CONFIG_EX, 32, 0, 255, CONTROL, "SystemConfigEx", "BuildInfo",
	 "InstallDate:time;BuildLab:wsz;ProductName:wsz"},
	{CONFIG_EX, 33, 0, 255, CONTROL, "SystemConfigEx", "SystemPaths",
	 "SystemDirectory:wsz;WindowsDirectory:wsz"},
	{CONFIG_EX, 34, 0, 255, CONTROL, "SystemConfigEx", "UnknownVolume", "Volume:wsz"},
	{CONFIG_EX, 35, 0, 255, CONTROL, "SystemConfigEx", "VolumeMapping",
	 "NtPath:wsz;DosPath:wsz"},
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
};

static bool is_type(const char *type, size_t n, size_t i)
{
	return strlen(types[i].name) == n && memcmp(types[i].name, type, n) == 0;
}

/* `[8]` or `[Count]` */
static void add_count(struct schema_build *b, uint32_t self, const char *count)
{
	struct schema_field *f = &b->fields[self];
	size_t n = strcspn(count, "]");
	if (count[0] >= '0' && count[0] <= '9') {
		f->flags |= SCHEMA_FF_FIXED_COUNT;
		f->count = (uint16_t)strtoul(count, NULL, 10);
		return;
	}
	for (uint32_t i = 0; i < self; i++) {
		struct schema_field *from = &b->fields[i];
		if (from->name.bytes == n && memcmp(b->pool.data + from->name.at, count, n) == 0) {
			from->captured = true;
			f->flags |= SCHEMA_FF_PARAM_COUNT;
			f->count = (uint16_t)i;
			return;
		}
	}
}

static void add_field(struct schema_build *b, const char *name, size_t name_bytes, const char *type)
{
	struct schema_field *f = schema_build_field(b);
	if (!f) {
		return;
	}
	uint32_t self = b->field_count - 1;
	size_t whole = strcspn(type, ";[");
	if (memcmp(type, "bin", 3) == 0) {
		f->in_type = SCHEMA_IN_BINARY;
		f->out_type = SCHEMA_OUT_HEXBINARY;
		f->length = (uint16_t)strtoul(type + 3, NULL, 10);
		f->flags |= SCHEMA_FF_FIXED_LENGTH;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		if (is_type(type, whole, i)) {
			f->in_type = types[i].in;
			f->out_type = types[i].out;
		}
	}
	struct schema_str s = schema_build_utf8(b, name, name_bytes);
	schema_build_name(b, f, s, NULL);
	if (type[whole] == '[' && !b->failed) {
		add_count(b, self, type + whole + 1);
	}
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
