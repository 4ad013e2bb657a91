/* SPDX-License-Identifier: MIT
 * One event to one line: text, JSON (payload fields, then "meta") or CSV.
 */
#include "cli/cli.h"

#include <openetw/decode.h>
#include <stdlib.h>
#include <tdh.h>

#define ONLY_MAX 32

struct cli_printer {
	enum cli_format format;
	bool stacks;
	bool header_done;
	uint64_t count;
	uint64_t only_pid;
	int only_count;
	struct {
		GUID guid;
		bool is_guid;
		const char *name;
	} only[ONLY_MAX];
	struct openetw_decoder *decoder;
	struct openetw_text text;
	struct strbuf line;
};

struct cli_printer *cli_printer_create(const struct cli_args *a)
{
	struct cli_printer *p = calloc(1, sizeof *p);
	const char *format = cli_flag(a, "json") ? "json" : cli_value(a, "format", "text");
	if (!p || !(p->decoder = openetw_decoder_create())) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot print events");
		free(p);
		return NULL;
	}
	p->format = strcmp(format, "json") == 0 ? CLI_JSON : strcmp(format, "csv") == 0 ? CLI_CSV : CLI_TEXT;
	p->stacks = cli_flag(a, "stacks");
	p->only_pid = UINT64_MAX;
	bool ok = cli_number(a, "only-pid", 0, UINT32_MAX, &p->only_pid);
	const char *v;
	for (; ok && (v = cli_value_at(a, "only-provider", p->only_count)) != NULL; p->only_count++) {
		struct guid g;
		if (p->only_count == ONLY_MAX) {
			cli_usage(a, "at most %d --only-provider", ONLY_MAX);
			ok = false;
			break;
		}
		p->only[p->only_count].name = v;
		p->only[p->only_count].is_guid = guid_parse(v, &g) == 0;
		if (p->only[p->only_count].is_guid) {
			memcpy(&p->only[p->only_count].guid, g.b, 16);
		}
	}
	if (!ok) {
		cli_printer_destroy(p);
		return NULL;
	}
	return p;
}

void cli_printer_destroy(struct cli_printer *p)
{
	if (p) {
		openetw_decoder_destroy(p->decoder);
		openetw_text_free(&p->text);
		strbuf_finish(&p->line);
		free(p);
	}
}

uint64_t cli_printer_count(const struct cli_printer *p)
{
	return p->count;
}

static bool wanted(struct cli_printer *p, const EVENT_RECORD *e)
{
	if (p->only_pid != UINT64_MAX && e->EventHeader.ProcessId != p->only_pid) {
		return false;
	}
	for (int i = 0; i < p->only_count; i++) {
		if (p->only[i].is_guid
			    ? memcmp(&p->only[i].guid, &e->EventHeader.ProviderId, sizeof(GUID)) == 0
			    : strcasecmp(p->only[i].name, openetw_provider_name(p->decoder, e)) == 0) {
			return true;
		}
	}
	return p->only_count == 0;
}

static void add2(char **s, unsigned v)
{
	*(*s)++ = (char)('0' + v / 10 % 10);
	*(*s)++ = (char)('0' + v % 10);
}

/* "2024-03-01T12:34:56.1234567Z" from 100 ns since 1601 (proleptic Gregorian, UTC). */
static void time_text(uint64_t filetime, char out[32])
{
	uint64_t seconds = filetime / 10000000, ticks = filetime % 10000000;
	uint64_t days = seconds / 86400;
	unsigned rest = (unsigned)(seconds % 86400);
	/* Days to a date: count in 400-year cycles from 1601-01-01, which starts one. */
	uint64_t cycles = days / 146097;
	uint64_t d = days % 146097;
	uint64_t centuries = BASE_MIN(d / 36524, (uint64_t)3);
	d -= centuries * 36524;
	uint64_t fours = d / 1461;
	d -= fours * 1461;
	uint64_t ones = BASE_MIN(d / 365, (uint64_t)3);
	d -= ones * 365;
	uint64_t year = 1601 + cycles * 400 + centuries * 100 + fours * 4 + ones;
	bool leap = ones == 3 && (fours != 24 || centuries == 3);
	static const uint8_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned month = 0;
	while (d >= month_days[month] + (unsigned)(month == 1 && leap)) {
		d -= month_days[month] + (unsigned)(month == 1 && leap);
		month++;
	}
	if (year > 9999) { /* garbage time stamps must not break the columns */
		year = 9999;
	}
	char *s = out;
	add2(&s, (unsigned)(year / 100));
	add2(&s, (unsigned)(year % 100));
	*s++ = '-';
	add2(&s, month + 1);
	*s++ = '-';
	add2(&s, (unsigned)d + 1);
	*s++ = 'T';
	add2(&s, rest / 3600);
	*s++ = ':';
	add2(&s, rest / 60 % 60);
	*s++ = ':';
	add2(&s, rest % 60);
	*s++ = '.';
	for (unsigned div = 1000000; div; div /= 10) {
		*s++ = (char)('0' + ticks / div % 10);
	}
	*s++ = 'Z';
	*s = 0;
}

static const EVENT_HEADER_EXTENDED_DATA_ITEM *item(const EVENT_RECORD *e, USHORT type)
{
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		if (e->ExtendedData[i].ExtType == type) {
			return &e->ExtendedData[i];
		}
	}
	return NULL;
}

static bool guid_set(const GUID *g)
{
	static const GUID zero;
	return memcmp(g, &zero, sizeof zero) != 0;
}

static void add_stack(struct strbuf *b, const EVENT_RECORD *e, bool json)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *s = item(e, EVENT_HEADER_EXT_TYPE_STACK_TRACE64);
	size_t width = 8;
	if (!s) {
		s = item(e, EVENT_HEADER_EXT_TYPE_STACK_TRACE32);
		width = 4;
	}
	if (!s || s->DataSize < 8) {
		return;
	}
	const uint8_t *p = (const uint8_t *)(uintptr_t)s->DataPtr + 8;
	size_t n = (s->DataSize - 8u) / width;
	strbuf_adds(b, json ? ",\"stack\":[" : "");
	for (size_t i = 0; i < n; i++) {
		unsigned long long address = width == 8 ? le64_get(p + 8 * i) : le32_get(p + 4 * i);
		if (json) {
			strbuf_addf(b, "%s\"0x%llx\"", i ? "," : "", address);
		} else {
			strbuf_addf(b, "\n    %2zu 0x%016llx", i, address);
		}
	}
	strbuf_adds(b, json ? "]" : "");
}

static void add_number(struct strbuf *b, const char *name, unsigned v)
{
	if (v) {
		strbuf_addf(b, ",\"%s\":%u", name, v);
	}
}

static void print_json(struct cli_printer *p, const EVENT_RECORD *e, const char *time)
{
	const EVENT_HEADER *h = &e->EventHeader;
	struct strbuf *b = &p->line;
	openetw_text_clear(&p->text);
	openetw_decode_json(p->decoder, e, &p->text);
	/* "{fields}" without its closing brace, then the meta object */
	if (p->text.length > 2) {
		strbuf_add(b, p->text.data, p->text.length - 1);
		strbuf_addc(b, ',');
	} else {
		strbuf_addc(b, '{');
	}
	strbuf_adds(b, "\"meta\":{\"provider\":");
	const char *name = openetw_provider_name(p->decoder, e);
	strbuf_add_json(b, name, strlen(name));
	strbuf_adds(b, ",\"event\":");
	name = openetw_event_name(p->decoder, e);
	strbuf_add_json(b, name, strlen(name));
	strbuf_addf(b, ",\"time\":\"%s\",\"cpu\":%u", time, GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e));
	if (h->ProcessId != UINT32_MAX) {
		strbuf_addf(b, ",\"pid\":%u,\"tid\":%u", h->ProcessId, h->ThreadId);
	}
	add_number(b, "id", h->EventDescriptor.Id);
	add_number(b, "version", h->EventDescriptor.Version);
	add_number(b, "channel", h->EventDescriptor.Channel);
	add_number(b, "level", h->EventDescriptor.Level);
	add_number(b, "opcode", h->EventDescriptor.Opcode);
	add_number(b, "task", h->EventDescriptor.Task);
	if (h->EventDescriptor.Keyword) {
		strbuf_addf(b, ",\"keywords\":\"0x%llX\"", h->EventDescriptor.Keyword);
	}
	char guid[37];
	if (guid_set(&h->ActivityId)) {
		cli_guid_text(&h->ActivityId, guid);
		strbuf_addf(b, ",\"activity\":\"%s\"", guid);
	}
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related = item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	if (related && related->DataSize == sizeof(GUID)) {
		cli_guid_text((const GUID *)(uintptr_t)related->DataPtr, guid);
		strbuf_addf(b, ",\"relatedActivity\":\"%s\"", guid);
	}
	if (p->stacks) {
		add_stack(b, e, true);
	}
	strbuf_adds(b, "}}\n");
}

static void add_csv(struct strbuf *b, const char *s, size_t n)
{
	bool quote = false;
	for (size_t i = 0; i < n && !quote; i++) {
		quote = s[i] == '"' || s[i] == ',' || s[i] == '\n' || s[i] == '\r';
	}
	if (!quote) {
		strbuf_add(b, s, n);
		return;
	}
	strbuf_addc(b, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"') {
			strbuf_addc(b, '"');
		}
		strbuf_addc(b, s[i]);
	}
	strbuf_addc(b, '"');
}

static void print_csv(struct cli_printer *p, const EVENT_RECORD *e, const char *time)
{
	const EVENT_HEADER *h = &e->EventHeader;
	struct strbuf *b = &p->line;
	if (!p->header_done) {
		strbuf_adds(b, "time,provider,event,id,version,level,opcode,task,keywords,cpu,pid,tid,fields\n");
		p->header_done = true;
	}
	strbuf_addf(b, "%s,", time);
	const char *name = openetw_provider_name(p->decoder, e);
	add_csv(b, name, strlen(name));
	strbuf_addc(b, ',');
	name = openetw_event_name(p->decoder, e);
	add_csv(b, name, strlen(name));
	strbuf_addf(b, ",%u,%u,%u,%u,%u,0x%llX,%u,%u,%u,", h->EventDescriptor.Id, h->EventDescriptor.Version,
		    h->EventDescriptor.Level, h->EventDescriptor.Opcode, h->EventDescriptor.Task,
		    h->EventDescriptor.Keyword, GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e), h->ProcessId,
		    h->ThreadId);
	openetw_text_clear(&p->text);
	openetw_decode_json(p->decoder, e, &p->text);
	add_csv(b, p->text.data ? p->text.data : "", p->text.length);
	strbuf_addc(b, '\n');
}

static void print_text(struct cli_printer *p, const EVENT_RECORD *e, const char *time)
{
	static const char *const levels[] = {"", "critical", "error", "warning", "info", "verbose"};
	const EVENT_HEADER *h = &e->EventHeader;
	struct strbuf *b = &p->line;
	const char *name = openetw_provider_name(p->decoder, e);
	strbuf_addf(b, "%s [%03u] ", time, GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e));
	if (h->ProcessId == UINT32_MAX) {
		strbuf_adds(b, "-:- ");
	} else {
		strbuf_addf(b, "%u:%u ", h->ProcessId, h->ThreadId);
	}
	strbuf_adds(b, name);
	strbuf_addc(b, '/');
	strbuf_adds(b, openetw_event_name(p->decoder, e));
	UCHAR level = h->EventDescriptor.Level;
	if (level && level < BASE_ARRAY_LEN(levels)) {
		strbuf_addf(b, " <%s>", levels[level]);
	}
	openetw_text_clear(&p->text);
	openetw_decode_text(p->decoder, e, &p->text);
	if (p->text.length) {
		strbuf_addc(b, ' ');
		strbuf_add(b, p->text.data, p->text.length);
	}
	if (p->stacks) {
		add_stack(b, e, false);
	}
	strbuf_addc(b, '\n');
}

void cli_printer_event(struct cli_printer *p, const EVENT_RECORD *e)
{
	openetw_decoder_learn(p->decoder, e);
	if (!wanted(p, e)) {
		return;
	}
	char time[32];
	time_text((uint64_t)e->EventHeader.TimeStamp.QuadPart, time);
	strbuf_clear(&p->line);
	switch (p->format) {
	case CLI_JSON:
		print_json(p, e, time);
		break;
	case CLI_CSV:
		print_csv(p, e, time);
		break;
	case CLI_TEXT:
		print_text(p, e, time);
		break;
	}
	if (p->line.len) {
		fwrite(p->line.s, 1, p->line.len, stdout);
	}
	p->count++;
}
