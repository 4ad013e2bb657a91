/* SPDX-License-Identifier: MIT
 *
 * Values of events in the forms of Windows' tracerpt.
 */
#include "tools/classic/tracerpt.h"

#include "base/json_text.h"
#include "base/parse.h"
#include "tools/common/event_view.h"
#include "etw/values/guids.h"

#include <stdlib.h>
#include <tdh.h>

/* Numbers that Windows' classes show in hexadecimal (the qualifier Format("x")) and our catalogue does not. All
 * events of the class; names are enough, for a class uses one in one way only. [doc] */
static const struct {
	uint32_t class_data1;
	const char *name;
	bool hex;
} shown[] = {
	{GUID_FIRST(ETW_GUID_EVENT_TRACE), "Version", false},
	{GUID_FIRST(ETW_GUID_EVENT_TRACE), "ReservedFlags", false},
	{GUID_FIRST(ETW_GUID_CLASS_PROCESS), "ProcessId", true},
	{GUID_FIRST(ETW_GUID_CLASS_PROCESS), "ParentId", true},
	{GUID_FIRST(ETW_GUID_CLASS_THREAD), "ProcessId", true},
	{GUID_FIRST(ETW_GUID_CLASS_THREAD), "TThreadId", true},
	{GUID_FIRST(ETW_GUID_CLASS_THREAD), "NewThreadId", true},
	{GUID_FIRST(ETW_GUID_CLASS_THREAD), "OldThreadId", true},
	{GUID_FIRST(ETW_GUID_CLASS_THREAD), "NewThreadWaitTime", true},
	{GUID_FIRST(ETW_GUID_CLASS_THREAD), "OldThreadWaitIdealProcessor", true},
	{GUID_FIRST(ETW_GUID_CLASS_PAGE_FAULT), "TThreadId", true},
	{GUID_FIRST(ETW_GUID_CLASS_PAGE_FAULT), "ReadOffset", true},
	{GUID_FIRST(ETW_GUID_CLASS_STACK_WALK), "StackProcess", true},
	{GUID_FIRST(ETW_GUID_CLASS_PERF_INFO), "SysCallNtStatus", true},
};

/* 1: in hexadecimal, 0: in decimal, -1: as the catalogue has it. */
static int shown_as(const EVENT_RECORD *e, const char *name, size_t n)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(shown); i++) {
		if (shown[i].class_data1 == e->EventHeader.ProviderId.Data1 && strlen(shown[i].name) == n &&
		    memcmp(shown[i].name, name, n) == 0) {
			return shown[i].hex;
		}
	}
	return -1;
}

struct walk {
	const struct tracerpt *r;
	const EVENT_RECORD *e;
	tracerpt_value_fn *fn;
	void *ctx;
	struct strbuf plain, text;
	bool classic, header;
};

static bool is_integer(uint16_t in)
{
	return (in >= TDH_INTYPE_INT8 && in <= TDH_INTYPE_UINT64) || in == TDH_INTYPE_POINTER ||
	       in == TDH_INTYPE_HEXINT32 || in == TDH_INTYPE_HEXINT64 || in == TDH_INTYPE_SIZET;
}

static bool is_binary(uint16_t in, uint16_t out)
{
	return !is_integer(in) &&
	       (out == TDH_OUTTYPE_HEXBINARY ||
		(out == TDH_OUTTYPE_NULL &&
		 (in == TDH_INTYPE_BINARY || in == TDH_INTYPE_MANIFEST_COUNTEDBINARY || in == TDH_INTYPE_HEXDUMP)));
}

static bool is_string(uint16_t in, uint16_t out)
{
	bool string = in == TDH_INTYPE_UNICODESTRING || in == TDH_INTYPE_ANSISTRING ||
		      in == TDH_INTYPE_MANIFEST_COUNTEDSTRING || in == TDH_INTYPE_MANIFEST_COUNTEDANSISTRING ||
		      (in >= TDH_INTYPE_COUNTEDSTRING && in <= TDH_INTYPE_ANSICHAR);
	return string && !is_binary(in, out);
}

static bool is_number(const char *s, size_t n, int base, uint64_t *ret)
{
	char copy[24], *end;
	if (n == 0 || n >= sizeof copy || s[0] < '0' || s[0] > '9') {
		return false;
	}
	memcpy(copy, s, n);
	copy[n] = 0;
	*ret = strtoull(copy, &end, base);
	return *end == 0;
}

static void upper_hex(struct strbuf *b)
{
	for (size_t i = 0; i < b->len; i++) {
		b->s[i] = b->s[i] >= 'a' && b->s[i] <= 'f' ? (char)(b->s[i] - 32) : b->s[i];
	}
}

/* The decoder's text of a value becomes tracerpt's, in w->text. */
static void reform(struct walk *w, const char *name, size_t name_bytes, uint16_t in, uint16_t out,
		   uint64_t *ret_filetime)
{
	const char *s = w->plain.s ? w->plain.s : "";
	size_t n = w->plain.len;
	uint64_t v = 0;
	strbuf_clear(&w->text);
	if (is_integer(in)) {
		int as = w->classic ? shown_as(w->e, name, name_bytes) : -1;
		bool hex = n > 2 && s[0] == '0' && s[1] == 'x' && is_number(s, n, 16, &v);
		bool decimal = !hex && is_number(s, n, 10, &v);
		as = w->classic && in == TDH_INTYPE_SIZET ? 1 : as;
		if ((hex && as != 0) || (decimal && as == 1)) {
			strbuf_addf(&w->text, "0x%llX", (unsigned long long)v);
			return;
		}
		if (hex || (decimal && (in == TDH_INTYPE_UINT32 || in == TDH_INTYPE_HEXINT32))) {
			strbuf_addf(&w->text, "%8llu", (unsigned long long)v);
			return;
		}
	} else if (in == TDH_INTYPE_FILETIME && parse_time(s, &v)) {
		*ret_filetime = v;
		if (w->classic) {
			strbuf_add_u64(&w->text, v);
			return;
		}
		strbuf_add(&w->text, s, n);
		if (n > 0 && s[n - 1] == 'Z') { /* nine digits of the second */
			w->text.len--;
			strbuf_adds(&w->text, "00Z");
		}
		return;
	} else if (in == TDH_INTYPE_GUID && n == 36) {
		strbuf_addf(&w->text, "{%s}", s);
		return;
	}
	strbuf_add(&w->text, s, n);
	if (is_binary(in, out)) {
		upper_hex(&w->text);
	}
}

struct place { /* of a field in r->info: its types, or its members */
	uint16_t in, out;
	bool is_struct;
	uint32_t first, count;
};

/* The field of that name among `count` ones. */
static struct place find_place(const struct tracerpt *r, uint32_t first, uint32_t count, const char *name, size_t n)
{
	struct place none = {.in = TDH_INTYPE_NULL};
	struct strbuf have = {0};
	for (uint32_t i = first; r->known && i - first < count; i++) {
		size_t at = offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray) + i * sizeof(EVENT_PROPERTY_INFO);
		EVENT_PROPERTY_INFO p;
		if (at > r->info_bytes || r->info_bytes - at < sizeof p) {
			break;
		}
		memcpy(&p, (const uint8_t *)r->info + at, sizeof p);
		strbuf_clear(&have);
		tracerpt_text(r, p.NameOffset, &have);
		if (have.len == n && have.s && memcmp(have.s, name, n) == 0) {
			bool is_struct = p.Flags & PropertyStruct;
			none = (struct place){.in = is_struct ? 0 : p.nonStructType.InType,
					      .out = is_struct ? 0 : p.nonStructType.OutType,
					      .is_struct = is_struct,
					      .first = is_struct ? p.structType.StructStartIndex : 0,
					      .count = is_struct ? p.structType.NumOfStructMembers : 0};
			break;
		}
	}
	strbuf_finish(&have);
	return none;
}

static void walk_json(struct walk *w, const char *name, size_t name_bytes, const struct place *at, const char *s,
		      size_t n, unsigned depth)
{
	struct tracerpt_value v = {.name = name, .name_bytes = name_bytes, .depth = depth};
	if (n && s[0] == '[' && depth < 16) {
		for (size_t i = 1; i + 1 < n;) {
			size_t m = json_text_skip(s + i, n - 1 - i, 0);
			walk_json(w, name, name_bytes, at, s + i, m, depth);
			i += m + 1;
		}
		return;
	}
	if (n && s[0] == '{' && depth < 16) {
		v.what = TRACERPT_OPEN;
		w->fn(w->ctx, &v);
		for (size_t i = 1; i + 1 < n;) {
			size_t pair = json_text_skip(s + i, n - 1 - i, 0); /* key, colon, value */
			const char *end = memchr(s + i + 1, '"', pair - 1);
			size_t key = end ? (size_t)(end - (s + i + 1)) : 0;
			struct place member = find_place(w->r, at->first, at->count, s + i + 1, key);
			walk_json(w, s + i + 1, key, &member, s + i + key + 3, pair > key + 3 ? pair - key - 3 : 0,
				  depth + 1);
			i += pair + 1;
		}
		v.what = TRACERPT_CLOSE;
		w->fn(w->ctx, &v);
		return;
	}
	json_text_plain(&w->plain, s, n);
	reform(w, name, name_bytes, at->in, at->out, &v.filetime);
	v.text = w->text.s ? w->text.s : "";
	v.text_bytes = w->text.len;
	v.is_text = is_string(at->in, at->out);
	w->fn(w->ctx, &v);
}

static bool take_field(void *ctx, const struct openetw_field *f)
{
	struct walk *w = ctx;
	/* Names of ours: the rest of a payload that does not fit. And Windows leaves the time zone out. */
	if ((f->name_length && f->name[0] == '_') || (w->header && strcmp(f->name, "TimeZoneInformation") == 0)) {
		return true;
	}
	struct place at = {.in = f->in_type, .out = f->out_type};
	if (f->is_struct) {
		const TRACE_EVENT_INFO *info = w->r->info;
		at = find_place(w->r, 0, w->r->known ? info->TopLevelPropertyCount : 0, f->name, f->name_length);
	}
	walk_json(w, f->name, f->name_length, &at, f->json, f->json_length, 0);
	return true;
}

uint32_t tracerpt_values(struct tracerpt *r, const EVENT_RECORD *e, tracerpt_value_fn *fn, void *ctx)
{
	static const struct guid header_guid = GUID_INIT(ETW_GUID_EVENT_TRACE);
	bool classic = e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
	struct walk w = {.r = r,
			 .e = e,
			 .fn = fn,
			 .ctx = ctx,
			 .classic = classic,
			 .header = classic && e->EventHeader.EventDescriptor.Opcode == 0 &&
				   memcmp(&e->EventHeader.ProviderId, &header_guid, sizeof header_guid) == 0};
	uint32_t result = openetw_decode_fields(r->decoder, e, take_field, &w);
	strbuf_finish(&w.plain);
	strbuf_finish(&w.text);
	return result;
}

/* ---- names ------------------------------------------------------------------------------------- */

void tracerpt_text(const struct tracerpt *r, ULONG offset, struct strbuf *out)
{
	struct bytes in = bytes_at(r->info, offset && r->known ? r->info_bytes : 0, offset);
	size_t units = 0;
	const uint8_t *s = bytes_wsz(&in, &units);
	while (s && units > 0 && le16_get(s + 2 * (units - 1)) == ' ') {
		units--;
	}
	static const uint8_t win[] = {'w', 0, 'i', 0, 'n', 0, ':', 0};
	if (s && units > 4 && memcmp(s, win, sizeof win) == 0) {
		s += sizeof win;
		units -= 4;
	}
	if (s && units > 0 && strbuf_room(out, 3 * units + 1)) {
		long n = utf16_to_utf8_lossy(s, units, out->s + out->len, 3 * units + 1);
		out->len += n > 0 ? (size_t)n : 0;
	}
}

uint64_t tracerpt_ms(const struct tracerpt *r, ULONG ticks)
{
	return r->timer_resolution >= 10000 ? (uint64_t)ticks * (r->timer_resolution / 10000)
					    : (uint64_t)ticks * r->timer_resolution / 10000;
}

static bool ask_tdh(struct tracerpt *r, const EVENT_RECORD *e)
{
	PEVENT_RECORD record = (PEVENT_RECORD)(uintptr_t)e;
	ULONG bytes = r->info_room;
	ULONG code = TdhGetEventInformation(record, 0, NULL, r->info, &bytes);
	if (code == ERROR_INSUFFICIENT_BUFFER) {
		void *more = realloc(r->info, bytes);
		if (!more) {
			return false;
		}
		r->info = more;
		r->info_room = bytes;
		code = TdhGetEventInformation(record, 0, NULL, r->info, &bytes);
	}
	r->info_bytes = bytes;
	return code == ERROR_SUCCESS && bytes >= sizeof(TRACE_EVENT_INFO);
}

enum tracerpt_kind tracerpt_look(struct tracerpt *r, const EVENT_RECORD *e)
{
	USHORT flags = e->EventHeader.Flags;
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	r->known = false;
	if (flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) {
		return TRACERPT_MESSAGE;
	}
	if (flags & EVENT_HEADER_FLAG_STRING_ONLY) {
		return TRACERPT_STRING;
	}
	bool classic = flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
	bool chunk = !classic && d->Id == 0xFFFE && d->Opcode == 0xFE; /* of an EventSource's manifest */
	r->known = !chunk && ask_tdh(r, e);
	if (!r->known) {
		return TRACERPT_UNKNOWN;
	}
	return classic                                                                    ? TRACERPT_CLASSIC
	       : ((const TRACE_EVENT_INFO *)r->info)->DecodingSource == DecodingSourceTlg ? TRACERPT_SELF_DESCRIBING
											  : TRACERPT_MANIFEST;
}

void tracerpt_finish(struct tracerpt *r)
{
	free(r->info);
	r->info = NULL;
	r->info_room = r->info_bytes = 0;
}
