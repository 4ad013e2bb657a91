/* SPDX-License-Identifier: MIT */
#include "tools/classic/tracerpt_export.h"
#include "base/level.h"
#include "base/map.h"
#include "base/vec.h"
#include "xml/xml.h"

#include <tdh.h>

#include <ctype.h>
#include <stdlib.h>

enum { KINDS_MAX = 65536, INFO_MAX = 1 << 20 };

struct kind {
	GUID provider;
	uint16_t id;
	uint8_t version;
	TRACE_EVENT_INFO *info; /* NULL: no manifest describes it */
	ULONG bytes;
	char *maps; /* <valueMap> and <bitMap> of its fields, one string each, the last empty; or NULL */
};

struct tracerpt_export {
	struct kind *kinds;
	size_t count, cap;
	struct map places;                        /* of kinds, by provider, id and version */
	size_t by_class, by_itself, unknown, wpp; /* kinds that have no place in a manifest */
	bool failed;
};

struct tracerpt_export *tracerpt_export_create(void)
{
	return calloc(1, sizeof(struct tracerpt_export));
}

void tracerpt_export_destroy(struct tracerpt_export *x)
{
	for (size_t i = 0; x && i < x->count; i++) {
		free(x->kinds[i].info);
		free(x->kinds[i].maps);
	}
	if (x) {
		free(x->kinds);
		map_free(&x->places);
		free(x);
	}
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* What a name of the information is, bounded by the information. */
static void text_at(const struct kind *k, ULONG offset, struct strbuf *ret)
{
	strbuf_clear(ret);
	const char *base = (const char *)k->info;
	for (ULONG at = offset; offset && at + 2 <= k->bytes; at += 2) {
		uint16_t unit;
		memcpy(&unit, base + at, 2);
		if (unit == 0) {
			break;
		}
		uint32_t c = unit;
		uint16_t low;
		if (unit >= 0xD800 && unit < 0xDC00 && at + 4 <= k->bytes) {
			memcpy(&low, base + at + 2, 2);
			if (low >= 0xDC00 && low < 0xE000) {
				c = 0x10000 + ((unit - 0xD800u) << 10) + (low - 0xDC00u);
				at += 2;
			}
		}
		if ((c >= 0xD800 && c < 0xE000) || c == 0xFFFE || c == 0xFFFF) {
			c = 0xFFFD; /* half a character, or none of XML's */
		}
		char utf8[4];
		size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
		for (size_t i = n; i-- > 1; c >>= 6) {
			utf8[i] = (char)(0x80 | (c & 0x3F));
		}
		utf8[0] = (char)(lead[n == 1 ? 0 : n] | c);
		strbuf_add(ret, utf8, n);
	}
	strbuf_adds(ret, ""); /* terminated, also when empty */
	/* TDH ends names of levels and so on with a space. */
	while (!ret->failed && ret->len > 0 && ret->s[ret->len - 1] == ' ') {
		ret->s[--ret->len] = 0;
	}
}

/* As the value of an attribute. */
static void put(struct strbuf *b, const char *s)
{
	xml_escape(b, s, strlen(s));
}

/* A name that XML takes for one, made of a text: "Copy file" is Copy_file. */
static void put_name(struct strbuf *b, const char *text, const char *kind, uint64_t value)
{
	bool any = false;
	for (const char *s = text; *s; s++) {
		unsigned char c = (unsigned char)*s;
		bool good = isalpha(c) || c == '_' || c >= 0x80 ||
			    (any && (isdigit(c) || c == '-' || c == '.' || c == ':'));
		if (!any && isdigit(c)) {
			strbuf_addc(b, '_');
			good = true;
		}
		strbuf_addc(b, good ? (char)c : '_');
		any = true;
	}
	if (!any) {
		strbuf_addf(b, "%s_%llu", kind, (unsigned long long)value);
	}
}

static const char *in_name(uint16_t in)
{
	static const char *const names[] = {
		NULL,      "UnicodeString", "AnsiString", "Int8",  "UInt8",    "Int16",   "UInt16", "Int32",
		"UInt32",  "Int64",         "UInt64",     "Float", "Double",   "Boolean", "Binary", "GUID",
		"Pointer", "FILETIME",      "SYSTEMTIME", "SID",   "HexInt32", "HexInt64"};
	return in == TDH_INTYPE_MANIFEST_COUNTEDSTRING       ? "CountedUnicodeString"
	       : in == TDH_INTYPE_MANIFEST_COUNTEDANSISTRING ? "CountedAnsiString"
	       : in == TDH_INTYPE_MANIFEST_COUNTEDBINARY     ? "CountedBinary"
	       : in < BASE_ARRAY_LEN(names)                  ? names[in]
							     : NULL;
}

static const char *out_name(uint16_t out)
{
	static const char *const names[] = {NULL,
					    "xs:string",
					    "xs:dateTime",
					    "xs:byte",
					    "xs:unsignedByte",
					    "xs:short",
					    "xs:unsignedShort",
					    "xs:int",
					    "xs:unsignedInt",
					    "xs:long",
					    "xs:unsignedLong",
					    "xs:float",
					    "xs:double",
					    "xs:boolean",
					    "xs:GUID",
					    "xs:hexBinary",
					    "win:HexInt8",
					    "win:HexInt16",
					    "win:HexInt32",
					    "win:HexInt64",
					    "win:PID",
					    "win:TID",
					    "win:Port",
					    "win:IPv4",
					    "win:IPv6",
					    "win:SocketAddress",
					    "win:CIMDateTime",
					    "win:ETWTIME",
					    "win:Xml",
					    "win:ErrorCode",
					    "win:Win32Error",
					    "win:NTSTATUS",
					    "win:HResult",
					    "win:DateTimeCultureInsensitive",
					    "win:Json",
					    "win:Utf8",
					    "win:Pkcs7WithTypeInfo",
					    "win:CodePointer",
					    "win:DateTimeUtc"};
	return out < BASE_ARRAY_LEN(names) ? names[out] : NULL;
}

/* ---- events that come -------------------------------------------------------------------------- */

static bool same(const struct kind *k, const EVENT_RECORD *e)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	return k->id == d->Id && k->version == d->Version &&
	       memcmp(&k->provider, &e->EventHeader.ProviderId, sizeof k->provider) == 0;
}

static void put_map(struct strbuf *b, const char *name, const EVENT_MAP_INFO *m, ULONG bytes)
{
	bool bits = m->Flag & EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
	struct kind whole = {.info = (TRACE_EVENT_INFO *)(uintptr_t)m, .bytes = bytes};
	struct strbuf text = {0};
	strbuf_addf(b, "<%sMap name=\"", bits ? "bit" : "value");
	put(b, name);
	strbuf_adds(b, "\">");
	for (ULONG i = 0; i < m->EntryCount; i++) {
		text_at(&whole, m->MapEntryArray[i].OutputOffset, &text);
		strbuf_addf(b, "<map value=\"0x%x\" message=\"", m->MapEntryArray[i].Value);
		put(b, text.s && !text.failed ? text.s : "");
		strbuf_adds(b, "\"/>");
	}
	strbuf_addf(b, "</%sMap>", bits ? "bit" : "value");
	strbuf_addc(b, 0);
	strbuf_finish(&text);
}

static void take_maps(struct kind *k, const EVENT_RECORD *e, bool *failed)
{
	struct strbuf all = {0};
	for (ULONG i = 0; i < k->info->PropertyCount; i++) {
		const EVENT_PROPERTY_INFO *p = &k->info->EventPropertyInfoArray[i];
		if ((p->Flags & PropertyStruct) || p->nonStructType.MapNameOffset == 0) {
			continue;
		}
		struct strbuf name = {0};
		text_at(k, p->nonStructType.MapNameOffset, &name);
		PWSTR wide = (PWSTR)((char *)k->info + p->nonStructType.MapNameOffset);
		ULONG bytes = 0;
		ULONG code = TdhGetEventMapInformation((PEVENT_RECORD)(uintptr_t)e, wide, NULL, &bytes);
		EVENT_MAP_INFO *m = code == ERROR_INSUFFICIENT_BUFFER && bytes < INFO_MAX ? calloc(1, bytes) : NULL;
		if (m && TdhGetEventMapInformation((PEVENT_RECORD)(uintptr_t)e, wide, m, &bytes) == ERROR_SUCCESS &&
		    !name.failed) {
			put_map(&all, name.s, m, bytes);
		}
		free(m);
		strbuf_finish(&name);
	}
	strbuf_addc(&all, 0);
	*failed = *failed || all.failed;
	k->maps = all.failed ? NULL : all.s;
	if (all.failed) {
		strbuf_finish(&all);
	}
}

void tracerpt_export_event(struct tracerpt_export *x, const EVENT_RECORD *e)
{
	if (e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) {
		x->wpp++;
		return;
	}
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	uint8_t key[sizeof(GUID) + 3];
	memcpy(key, &e->EventHeader.ProviderId, sizeof(GUID));
	le16_put(key + sizeof(GUID), d->Id);
	key[sizeof(GUID) + 2] = d->Version;
	uint64_t hash = map_hash(&x->places, key, sizeof key);
	MAP_EACH(&x->places, hash, at) {
		if (same(&x->kinds[map_value(&x->places, at)], e)) {
			return;
		}
	}
	ULONG bytes = 0;
	PEVENT_RECORD r = (PEVENT_RECORD)(uintptr_t)e;
	ULONG code = TdhGetEventInformation(r, 0, NULL, NULL, &bytes);
	TRACE_EVENT_INFO *info = code == ERROR_INSUFFICIENT_BUFFER && bytes < INFO_MAX ? calloc(1, bytes) : NULL;
	if (info && TdhGetEventInformation(r, 0, NULL, info, &bytes) != ERROR_SUCCESS) {
		free(info);
		info = NULL;
	}
	if (!info || info->DecodingSource != DecodingSourceXMLFile) {
		*(!info ? &x->unknown : info->DecodingSource == DecodingSourceTlg ? &x->by_itself : &x->by_class) += 1;
		free(info);
		info = NULL;
	}
	if (!VEC_ROOM_UP_TO(x->kinds, x->count, x->cap, KINDS_MAX) || map_add(&x->places, hash, x->count) < 0) {
		x->failed = true;
		free(info);
		return;
	}
	struct kind *k = &x->kinds[x->count++];
	*k = (struct kind){.provider = e->EventHeader.ProviderId,
			   .id = d->Id,
			   .version = d->Version,
			   .info = info,
			   .bytes = bytes};
	if (info) {
		info->EventDescriptor = *d;
		take_maps(k, e, &x->failed);
	}
}

/* ---- the manifest ------------------------------------------------------------------------------ */

static int by_provider(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	int c = memcmp(&x->provider, &y->provider, sizeof x->provider);
	return c ? c : x->id != y->id ? (x->id > y->id) - (x->id < y->id) : x->version - y->version;
}

static void put_fields(struct strbuf *b, const struct kind *k, ULONG from, ULONG count, int depth)
{
	struct strbuf text = {0};
	for (ULONG i = from; i < from + count && i < k->info->PropertyCount; i++) {
		const EVENT_PROPERTY_INFO *p = &k->info->EventPropertyInfoArray[i];
		bool structure = p->Flags & PropertyStruct;
		text_at(k, p->NameOffset, &text);
		strbuf_adds(b, depth ? "\t\t\t\t\t\t\t" : "\t\t\t\t\t\t");
		strbuf_adds(b, structure ? "<struct name=\"" : "<data name=\"");
		put(b, text.failed || !text.s ? "" : text.s);
		strbuf_addc(b, '"');
		const char *in = structure ? NULL : in_name(p->nonStructType.InType), *out = NULL;
		if (!structure) {
			strbuf_addf(b, " inType=\"win:%s\"", in ? in : "Binary");
			out = out_name(p->nonStructType.OutType);
		}
		if (out) {
			strbuf_addf(b, " outType=\"%s\"", out);
		}
		if (!structure && p->nonStructType.MapNameOffset) {
			text_at(k, p->nonStructType.MapNameOffset, &text);
			strbuf_adds(b, " map=\"");
			put(b, text.failed ? "" : text.s);
			strbuf_addc(b, '"');
		}
		bool sized = !structure && (p->nonStructType.InType == TDH_INTYPE_UNICODESTRING ||
					    p->nonStructType.InType == TDH_INTYPE_ANSISTRING ||
					    p->nonStructType.InType == TDH_INTYPE_BINARY);
		if ((p->Flags & PropertyParamLength) && p->lengthPropertyIndex < k->info->PropertyCount) {
			text_at(k, k->info->EventPropertyInfoArray[p->lengthPropertyIndex].NameOffset, &text);
			strbuf_adds(b, " length=\"");
			put(b, text.failed ? "" : text.s);
			strbuf_addc(b, '"');
		} else if (sized && p->length > 0) {
			strbuf_addf(b, " length=\"%u\"", p->length);
		}
		if ((p->Flags & PropertyParamCount) && p->countPropertyIndex < k->info->PropertyCount) {
			text_at(k, k->info->EventPropertyInfoArray[p->countPropertyIndex].NameOffset, &text);
			strbuf_adds(b, " count=\"");
			put(b, text.failed ? "" : text.s);
			strbuf_addc(b, '"');
		} else if (p->count > 1 || (p->Flags & PropertyParamFixedCount)) {
			strbuf_addf(b, " count=\"%u\"", p->count);
		}
		if (structure && depth == 0) {
			strbuf_adds(b, ">\n");
			put_fields(b, k, p->structType.StructStartIndex, p->structType.NumOfStructMembers, 1);
			strbuf_adds(b, "\t\t\t\t\t\t</struct>\n");
		} else {
			strbuf_adds(b, "/>\n");
		}
	}
	strbuf_finish(&text);
}

/* Names of values that several events share: written once, for the first event that has the value. */
enum part { LEVELS, CHANNELS, TASKS, OPCODES };
static const struct {
	const char *list, *item, *kind;
} parts[] = {{"levels", "level", "Level"},
	     {"channels", "channel", "Channel"},
	     {"tasks", "task", "Task"},
	     {"opcodes", "opcode", "Opcode"}};

/* The value of an event, its name's place, and whether a manifest declares such a one. */
static bool value_of(const struct kind *k, enum part part, uint32_t *ret, ULONG *ret_name)
{
	const EVENT_DESCRIPTOR *d = &k->info->EventDescriptor;
	switch (part) {
	case LEVELS:
		*ret = d->Level;
		*ret_name = k->info->LevelNameOffset;
		return d->Level >= 16;
	case CHANNELS:
		*ret = d->Channel;
		*ret_name = k->info->ChannelNameOffset;
		return d->Channel >= 16;
	case TASKS:
		*ret = d->Task;
		*ret_name = k->info->TaskNameOffset;
		return d->Task > 0;
	default:
		*ret = d->Opcode;
		*ret_name = k->info->OpcodeNameOffset;
		return d->Opcode >= 10 && d->Opcode < 240;
	}
}

/* Opcodes may have one name in one task and another in the next. */
static bool same_value(const struct kind *a, const struct kind *b, enum part part)
{
	uint32_t x, y;
	ULONG name;
	value_of(a, part, &x, &name);
	return value_of(b, part, &y, &name) && x == y &&
	       (part != OPCODES || a->info->EventDescriptor.Task == b->info->EventDescriptor.Task);
}

static void put_value_name(struct strbuf *b, const struct kind *k, enum part part)
{
	struct strbuf text = {0};
	uint32_t value;
	ULONG name;
	value_of(k, part, &value, &name);
	text_at(k, name, &text);
	put_name(b, text.failed || !text.s ? "" : text.s, parts[part].kind, value);
	/* two values of one text have two names */
	if (text.len > 0) {
		strbuf_addf(b, ".%u", value);
	}
	strbuf_finish(&text);
}

/* Opcodes belong to the task of their events. */
static void put_part(struct strbuf *b, const struct kind *k, size_t n, enum part part, uint32_t task)
{
	bool open = false;
	struct strbuf text = {0};
	for (size_t i = 0; i < n; i++) {
		uint32_t value;
		ULONG name;
		bool first = value_of(&k[i], part, &value, &name) &&
			     (part != OPCODES || k[i].info->EventDescriptor.Task == task);
		for (size_t j = 0; j < i && first; j++) {
			first = !same_value(&k[i], &k[j], part);
		}
		if (!first) {
			continue;
		}
		if (!open) {
			strbuf_addf(b, "\t\t\t\t<%s>\n", parts[part].list);
		}
		strbuf_addf(b, "\t\t\t\t\t<%s name=\"", parts[part].item);
		open = true;
		text_at(&k[i], name, &text);
		const char *said = text.failed || !text.s ? "" : text.s;
		if (part == CHANNELS) {
			if (*said) {
				put(b, said);
			} else {
				strbuf_addf(b, "Channel_%u", value);
			}
			strbuf_addf(b, "\" chid=\"C%u\" type=\"Analytic\" value=\"%u\"/>\n", value, value);
			continue;
		}
		put_value_name(b, &k[i], part);
		strbuf_addf(b, "\" value=\"%u\"", value);
		if (*said) {
			strbuf_adds(b, " message=\"");
			put(b, said);
			strbuf_addc(b, '"');
		}
		if (part == TASKS) {
			size_t before = b->len;
			strbuf_adds(b, ">\n");
			size_t inside = b->len;
			put_part(b, k, n, OPCODES, value);
			if (b->len > inside) {
				strbuf_adds(b, "\t\t\t\t\t</task>\n");
				continue;
			}
			b->len = BASE_MIN(before, b->len);
		}
		strbuf_adds(b, "/>\n");
	}
	if (open) {
		strbuf_addf(b, "\t\t\t\t</%s>\n", parts[part].list);
	}
	strbuf_finish(&text);
}

/* Windows' own bits have no names; those of a provider are named in the order of the bits, if all are. */
static void keyword_names(const struct kind *k, struct strbuf names[48])
{
	uint64_t own = k->info->EventDescriptor.Keyword & 0xFFFFFFFFFFFFull;
	ULONG at = k->info->KeywordsNameOffset;
	int wanted = __builtin_popcountll(own), had = 0;
	for (int bit = 0; bit < 48; bit++) {
		if (!(own >> bit & 1)) {
			continue;
		}
		struct strbuf text = {0};
		ULONG units = 0;
		text_at(k, at, &text);
		for (uint16_t u = 1; at && at + 2 * units + 2 <= k->bytes && u; units++) {
			memcpy(&u, (const char *)k->info + at + 2 * units, 2);
		}
		at = at && !text.failed && text.len > 0 ? at + 2 * units : 0;
		had += at != 0;
		strbuf_clear(&names[bit]);
		put_name(&names[bit], at ? text.s : "", "Keyword", 1ull << bit);
		strbuf_finish(&text);
	}
	for (int bit = 0; bit < 48 && had != wanted; bit++) {
		if (own >> bit & 1) {
			strbuf_clear(&names[bit]);
			strbuf_addf(&names[bit], "Keyword_0x%llx", 1ull << bit);
		}
	}
}

static void put_keywords(struct strbuf *b, const struct kind *k, size_t n, struct strbuf names[48])
{
	uint64_t all = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t own = k[i].info->EventDescriptor.Keyword & 0xFFFFFFFFFFFFull;
		if (own & ~all) {
			struct strbuf of[48] = {0};
			keyword_names(&k[i], of);
			for (int bit = 0; bit < 48; bit++) {
				if ((own & ~all) >> bit & 1) {
					strbuf_clear(&names[bit]);
					strbuf_adds(&names[bit], of[bit].failed || !of[bit].s ? "" : of[bit].s);
				}
				strbuf_finish(&of[bit]);
			}
		}
		all |= own;
	}
	/* two bits of one name */
	for (int x = 0; x < 48; x++) {
		for (int y = 0; y < x; y++) {
			if ((all >> x & 1) && (all >> y & 1) && !names[x].failed && !names[y].failed &&
			    strcmp(names[x].s, names[y].s) == 0) {
				strbuf_addf(&names[x], "_0x%llx", 1ull << x);
			}
		}
	}
	strbuf_adds(b, all ? "\t\t\t\t<keywords>\n" : "");
	for (int bit = 0; bit < 48; bit++) {
		if (all >> bit & 1) {
			strbuf_adds(b, "\t\t\t\t\t<keyword name=\"");
			put(b, names[bit].failed ? "" : names[bit].s);
			strbuf_addf(b, "\" mask=\"0x%llx\"/>\n", 1ull << bit);
		}
	}
	strbuf_adds(b, all ? "\t\t\t\t</keywords>\n" : "");
}

/* Each map once, by its name. */
static void put_maps(struct strbuf *b, const struct kind *k, size_t n)
{
	bool open = false;
	for (size_t i = 0; i < n; i++) {
		for (const char *m = k[i].maps; m && *m; m += strlen(m) + 1) {
			size_t head = strcspn(m, ">");
			bool first = true;
			for (size_t j = 0; j <= i && first; j++) {
				for (const char *o = k[j].maps; o && *o && o != m && first; o += strlen(o) + 1) {
					first = strncmp(o, m, head + 1) != 0;
				}
			}
			if (first) {
				strbuf_adds(b, open ? "\t\t\t\t\t" : "\t\t\t\t<maps>\n\t\t\t\t\t");
				strbuf_adds(b, m);
				strbuf_addc(b, '\n');
				open = true;
			}
		}
	}
	strbuf_adds(b, open ? "\t\t\t\t</maps>\n" : "");
}

static void put_event(struct strbuf *b, const struct kind *k, struct strbuf names[48])
{
	static const char *const opcodes[] = {"win:Info",      "win:Start", "win:Stop",   "win:DC_Start", "win:DC_Stop",
					      "win:Extension", "win:Reply", "win:Resume", "win:Suspend",  "win:Send"};
	const EVENT_DESCRIPTOR *d = &k->info->EventDescriptor;
	struct strbuf text = {0};
	strbuf_addf(b, "\t\t\t\t\t<event value=\"%u\" version=\"%u\" symbol=\"E%u_v%u\"", d->Id, d->Version, d->Id,
		    d->Version);
	text_at(k, k->info->EventNameOffset, &text);
	if (!text.failed && text.len > 0) {
		strbuf_adds(b, " name=\"");
		put(b, text.s);
		strbuf_addc(b, '"');
	}
	if (d->Channel >= 16) {
		strbuf_addf(b, " channel=\"C%u\"", d->Channel);
	}
	if (d->Level >= 16) {
		strbuf_adds(b, " level=\"");
		put_value_name(b, k, LEVELS);
		strbuf_addc(b, '"');
	} else if (level_manifest(d->Level)) {
		strbuf_addf(b, " level=\"%s\"", level_manifest(d->Level));
	}
	if (d->Task > 0) {
		strbuf_adds(b, " task=\"");
		put_value_name(b, k, TASKS);
		strbuf_addc(b, '"');
	}
	if (d->Opcode > 0 && d->Opcode < BASE_ARRAY_LEN(opcodes)) {
		strbuf_addf(b, " opcode=\"%s\"", opcodes[d->Opcode]);
	} else if (d->Opcode == 240) {
		strbuf_adds(b, " opcode=\"win:Receive\"");
	} else if (d->Opcode >= 10 && d->Opcode < 240) {
		strbuf_adds(b, " opcode=\"");
		put_value_name(b, k, OPCODES);
		strbuf_addc(b, '"');
	}
	bool first = true;
	for (int bit = 0; bit < 48; bit++) {
		if (d->Keyword >> bit & 1) {
			strbuf_adds(b, first ? " keywords=\"" : " ");
			put(b, names[bit].failed ? "" : names[bit].s);
			first = false;
		}
	}
	strbuf_adds(b, first ? "" : "\"");
	if (k->info->TopLevelPropertyCount > 0) {
		strbuf_addf(b, " template=\"T%u_v%u\"", d->Id, d->Version);
	}
	text_at(k, k->info->EventMessageOffset, &text);
	if (!text.failed && text.len > 0) {
		strbuf_adds(b, " message=\"");
		put(b, text.s);
		strbuf_addc(b, '"');
	}
	strbuf_adds(b, "/>\n");
	strbuf_finish(&text);
}

static void put_provider(struct strbuf *b, const struct kind *k, size_t n, size_t number)
{
	struct strbuf text = {0}, names[48] = {0};
	char guid[37];
	cli_guid_text(&k->provider, guid);
	text_at(k, k->info->ProviderNameOffset, &text);
	strbuf_adds(b, "\t\t\t<provider name=\"");
	put(b, text.failed || text.len == 0 ? guid : text.s);
	strbuf_addf(b, "\" guid=\"{%s}\" symbol=\"PROVIDER_%zu\" resourceFileName=\"-\" messageFileName=\"-\">\n", guid,
		    number);
	for (int i = 0; i < 4; i++) {
		put_part(b, k, n, (enum part)i, 0);
	}
	put_keywords(b, k, n, names);
	put_maps(b, k, n);
	strbuf_adds(b, "\t\t\t\t<templates>\n");
	for (size_t i = 0; i < n; i++) {
		if (k[i].info->TopLevelPropertyCount > 0) {
			strbuf_addf(b, "\t\t\t\t\t<template tid=\"T%u_v%u\">\n", k[i].id, k[i].version);
			put_fields(b, &k[i], 0, k[i].info->TopLevelPropertyCount, 0);
			strbuf_adds(b, "\t\t\t\t\t</template>\n");
		}
	}
	strbuf_adds(b, "\t\t\t\t</templates>\n\t\t\t\t<events>\n");
	for (size_t i = 0; i < n; i++) {
		put_event(b, &k[i], names);
	}
	strbuf_adds(b, "\t\t\t\t</events>\n\t\t\t</provider>\n");
	for (int i = 0; i < 48; i++) {
		strbuf_finish(&names[i]);
	}
	strbuf_finish(&text);
}

bool tracerpt_export_write(struct tracerpt_export *x, const struct cli_args *a, FILE *f)
{
	struct strbuf b = {0};
	size_t number = 0;
	size_t described = 0;
	for (size_t i = 0; i < x->count; i++) {
		if (x->kinds[i].info) {
			x->kinds[described++] = x->kinds[i];
		}
	}
	x->count = described; /* the places are of no use any more */
	if (x->count > 0) {
		qsort(x->kinds, x->count, sizeof *x->kinds, by_provider);
	}
	strbuf_adds(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			"<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"\n"
			"\txmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\"\n"
			"\txmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
			"\t<instrumentation>\n\t\t<events>\n");
	for (size_t i = 0, n; i < x->count; i += n) {
		for (n = 1; i + n < x->count && memcmp(&x->kinds[i].provider, &x->kinds[i + n].provider,
						       sizeof x->kinds[i].provider) == 0;) {
			n++;
		}
		put_provider(&b, &x->kinds[i], n, ++number);
	}
	strbuf_adds(&b, "\t\t</events>\n\t</instrumentation>\n</instrumentationManifest>\n");
	bool ok = !b.failed && !x->failed;
	if (ok) {
		fwrite(b.s, 1, b.len, f);
	}
	strbuf_finish(&b);
	if (ok) {
		fprintf(stderr, "openetw %s: the manifest has %zu events of %zu providers\n", a->command->name,
			x->count, number);
	}
	if (x->by_itself || x->by_class || x->wpp || x->unknown) {
		static const char *const what[] = {"TraceLogging events, which describe themselves",
						   "events of classes such as the kernel's", "WPP messages",
						   "events that nothing here describes"};
		const size_t count[] = {x->by_itself, x->by_class, x->wpp, x->unknown};
		const char *between = " ";
		fprintf(stderr, "openetw %s: not in the manifest:", a->command->name);
		for (size_t i = 0; i < BASE_ARRAY_LEN(what); i++) {
			if (count[i]) {
				fprintf(stderr, "%s%s", between, what[i]);
				between = "; ";
			}
		}
		fputc('\n', stderr);
	}
	return ok;
}
