/* SPDX-License-Identifier: MIT
 * One event to one line: text, JSON (payload fields, then "meta") or CSV.
 */
#include "tools/common/printer.h"
#include "tools/common/session_options.h"
#include "base/parse.h"
#include "base/level.h"
#include "tools/common/counters_of.h"
#include "tools/common/csv.h"
#include "tools/common/fields.h"
#include "tools/common/frame_text.h"
#include "tools/common/trace_reading.h"

#include <stdlib.h>
#include <tdh.h>

#define MISSING_MAX 12

struct cli_printer {
	enum cli_format format;
	bool stacks, local, header_done;
	bool headers; /* records of the file itself too */
	uint64_t count, header_count, limit, undecoded;
	struct cli_select *select; /* borrowed; may be NULL */
	struct fields fields;
	struct openetw_decoder *decoder;
	struct cli_view *view;
	struct openetw_state *state; /* NULL: not asked for */
	bool state_borrowed;
	FILE *f;
	struct openetw_text text;
	struct strbuf line, frame;
	struct counters_of counters;
	/* Providers with events that could not be decoded, and why the first one could not. */
	struct {
		GUID provider;
		uint64_t count;
		char reason[400];
	} missing[MISSING_MAX];
	unsigned missing_count;
	uint64_t missing_more; /* of further providers */
};

int cli_output_errno;

struct cli_printer *cli_printer_create(const struct cli_args *a, const struct cli_print_options *o,
				       struct cli_select *select)
{
	struct cli_printer *p = calloc(1, sizeof *p);
	if (p) {
		p->local = o->local;
		p->decoder = openetw_decoder_create();
		p->view = cli_view_create(p->decoder, p->local);
	}
	if (!p || !p->decoder || !p->view) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot print events");
		cli_printer_destroy(p);
		return NULL;
	}
	p->f = stdout;
	p->format = o->json ? CLI_JSON : o->format;
	p->stacks = o->stacks;
	p->headers = o->headers;
	p->select = select;
	if (select) {
		cli_select_set_local(select, o->local);
	}
	p->limit = o->limit ? o->limit : UINT64_MAX;
	bool ok = fields_from_args(&p->fields, a, o->fields);
	if (ok && p->local && o->utc) {
		cli_usage(a, "--utc and --local contradict each other");
		ok = false;
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
		cli_view_destroy(p->view);
		cli_state_end(p->state_borrowed ? NULL : p->state);
		openetw_decoder_destroy(p->decoder);
		openetw_text_free(&p->text);
		strbuf_finish(&p->line);
		strbuf_finish(&p->frame);
		fields_finish(&p->fields);
		free(p);
	}
}

struct openetw_state *cli_printer_state(struct cli_printer *p)
{
	if (!p->state) {
		p->state = openetw_state_create(
			p->stacks || (p->select && cli_select_asks_stack(p->select)) ? OPENETW_STATE_STACKS : 0);
		cli_view_set_state(p->view, p->state);
	}
	return p->state;
}

void cli_printer_redirect(struct cli_printer *p, FILE *f, struct openetw_state *state)
{
	p->f = f;
	p->state = state;
	p->state_borrowed = true;
	cli_view_set_state(p->view, state);
}

uint64_t cli_printer_count(const struct cli_printer *p)
{
	return p->count;
}

uint64_t cli_printer_headers(const struct cli_printer *p)
{
	return p->header_count;
}

uint64_t cli_printer_undecoded(const struct cli_printer *p)
{
	return p->undecoded;
}

static bool guid_set(const GUID *g)
{
	static const GUID zero;
	return memcmp(g, &zero, sizeof zero) != 0;
}

static void add_stack(struct cli_printer *p, const EVENT_RECORD *e, bool json)
{
	struct strbuf *b = &p->line;
	struct openetw_stack k = {.size = sizeof k};
	if (!p->state || openetw_state_stack(p->state, e, &k)) {
		return;
	}
	strbuf_adds(b, json ? ",\"stack\":[" : "");
	for (uint32_t i = 0; i < k.count; i++) {
		unsigned long long address = k.addresses[i];
		if (json) {
			strbuf_addf(b, "%s\"0x%llx\"", i ? "," : "", address);
			continue;
		}
		strbuf_addf(b, "\n    %2u 0x%016llx ", i, address);
		cli_frame_text(p->state, e, &k, i, true, b);
	}
	/* What the addresses mean, in the same order; "" where nobody knows. */
	for (uint32_t i = 0; json && i < k.count; i++) {
		strbuf_clear(&p->frame);
		cli_frame_text(p->state, e, &k, i, true, &p->frame);
		strbuf_adds(b, i ? "," : "],\"frames\":[");
		strbuf_add_json(b, p->frame.s ? p->frame.s : "", p->frame.len);
	}
	strbuf_adds(b, json ? "]" : "");
}

/* ---- the meta object ----------------------------------------------------------------------------
 * Room for all of its fixed part is made once, then bytes are stored without further questions: this
 * is done for every event. */

#define META_ROOM 640u /* all keys, numbers, time and two GUIDs */

/* A literal: its length is known to the compiler. */
#define PUT(s, text)                               \
	do {                                       \
		memcpy(s, text, sizeof(text) - 1); \
		(s) += sizeof(text) - 1;           \
	} while (0)

static char *put_u32(char *s, uint32_t v)
{
	char digits[10], *d = digits + sizeof digits;
	do {
		*--d = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	size_t n = (size_t)(digits + sizeof digits - d);
	for (size_t i = 0; i < n; i++) {
		s[i] = d[i];
	}
	return s + n;
}

static char *put_hex(char *s, uint64_t v)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	for (unsigned i = n; i-- > 0; v >>= 4) {
		s[i] = "0123456789ABCDEF"[v & 15];
	}
	return s + n;
}

static void add_name(struct strbuf *b, const char *key, const char *name)
{
	if (name) {
		strbuf_adds(b, key);
		strbuf_add_json(b, name, strlen(name));
	}
}

/* From "time" to "relatedActivity". */
static void add_meta(struct strbuf *b, const EVENT_RECORD *e, const struct openetw_event_origin *o, const char *time)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	char guid[37];
	size_t name_bytes = (o->process ? strlen(o->process) : 0) + (o->thread ? strlen(o->thread) : 0);
	if (!strbuf_room(b, META_ROOM + 6 * name_bytes)) { /* \u0000 at worst */
		return;
	}
	char *s = b->s + b->len;
	PUT(s, ",\"time\":\"");
	size_t n = strlen(time);
	memcpy(s, time, n);
	s += n;
	PUT(s, "\",\"cpu\":");
	s = put_u32(s, GetEventProcessorIndex(e));
	if (o->pid != UINT32_MAX) {
		PUT(s, ",\"pid\":");
		s = put_u32(s, o->pid);
	}
	if (o->tid != UINT32_MAX) {
		PUT(s, ",\"tid\":");
		s = put_u32(s, o->tid);
	}
	if (o->process) {
		b->len = (size_t)(s - b->s);
		add_name(b, ",\"process\":", o->process);
		s = b->s + b->len;
	}
	if (o->thread) {
		b->len = (size_t)(s - b->s);
		add_name(b, ",\"thread\":", o->thread);
		s = b->s + b->len;
	}
#define NUMBER(key, v)                   \
	if (v) {                         \
		PUT(s, ",\"" key "\":"); \
		s = put_u32(s, v);       \
	}
	NUMBER("id", d->Id)
	NUMBER("version", d->Version)
	NUMBER("channel", d->Channel)
	NUMBER("level", d->Level)
	NUMBER("opcode", d->Opcode)
	NUMBER("task", d->Task)
#undef NUMBER
	if (d->Keyword) {
		PUT(s, ",\"keywords\":\"0x");
		s = put_hex(s, d->Keyword);
		*s++ = '"';
	}
	if (guid_set(&h->ActivityId)) {
		cli_guid_text(&h->ActivityId, guid);
		PUT(s, ",\"activity\":\"");
		memcpy(s, guid, 36);
		s += 36;
		*s++ = '"';
	}
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related = cli_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	if (related && related->DataSize == sizeof(GUID)) {
		cli_guid_text((const GUID *)(uintptr_t)related->DataPtr, guid);
		PUT(s, ",\"relatedActivity\":\"");
		memcpy(s, guid, 36);
		s += 36;
		*s++ = '"';
	}
	*s = 0;
	b->len = (size_t)(s - b->s);
}

static void note(struct cli_printer *p, const EVENT_RECORD *e, uint32_t result)
{
	if (result == OPENETW_DECODED) {
		return;
	}
	p->undecoded++;
	unsigned i = 0;
	while (i < p->missing_count && memcmp(&p->missing[i].provider, &e->EventHeader.ProviderId, sizeof(GUID)) != 0) {
		i++;
	}
	if (i == MISSING_MAX) {
		p->missing_more++;
		return;
	}
	if (i == p->missing_count) {
		p->missing_count++;
		p->missing[i].provider = e->EventHeader.ProviderId;
		snprintf(p->missing[i].reason, sizeof p->missing[i].reason, "%s", openetw_decoder_reason(p->decoder));
	}
	p->missing[i].count++;
}

void cli_printer_explain(const struct cli_printer *p, FILE *f)
{
	for (unsigned i = 0; i < p->missing_count; i++) {
		fprintf(f, "  %llu: %s\n", (unsigned long long)p->missing[i].count, p->missing[i].reason);
	}
	if (p->missing_more) {
		fprintf(f, "  %llu of further providers\n", (unsigned long long)p->missing_more);
	}
}

/* Values of counters that go with the event. */
static void add_counters(struct cli_printer *p, const EVENT_RECORD *e, bool json)
{
	uint64_t value[COUNTERS_OF_MAX];
	char buffer[16];
	uint32_t n = counters_of_event(e, value);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = counters_of_name(&p->counters, i, buffer);
		if (json) {
			strbuf_adds(&p->line, i ? "," : ",\"counters\":{");
			strbuf_add_json(&p->line, name, strlen(name));
			strbuf_addc(&p->line, ':');
		} else {
			strbuf_adds(&p->line, i ? " " : " {");
			strbuf_adds(&p->line, name);
			strbuf_addc(&p->line, '=');
		}
		strbuf_add_u64(&p->line, value[i]);
	}
	if (n) {
		strbuf_addc(&p->line, '}');
	}
}

static void print_json(struct cli_printer *p, const EVENT_RECORD *e, const char *time)
{
	struct strbuf *b = &p->line;
	const char *provider, *name;
	openetw_text_clear(&p->text);
	note(p, e, openetw_decode_json_named(p->decoder, e, &p->text, &provider, &name));
	/* "{fields}" without its closing brace, then the meta object */
	if (p->text.length > 2) {
		strbuf_add(b, p->text.data, p->text.length - 1);
		strbuf_addc(b, ',');
	} else {
		strbuf_addc(b, '{');
	}
	strbuf_adds(b, "\"meta\":{\"provider\":");
	strbuf_add_json(b, provider, strlen(provider));
	strbuf_adds(b, ",\"event\":");
	strbuf_add_json(b, name, strlen(name));
	const struct openetw_event_origin *o = cli_view_origin(p->view);
	add_meta(b, e, o, time);
	add_name(b, ",\"file\":", o->file);
	add_counters(p, e, true);
	if (p->stacks) {
		add_stack(p, e, true);
	}
	strbuf_adds(b, "}}\n");
}

static void print_csv(struct cli_printer *p, const EVENT_RECORD *e, const char *time)
{
	if (!p->header_done) {
		csv_add_event_head(&p->line);
		p->header_done = true;
	}
	openetw_text_clear(&p->text);
	note(p, e, openetw_decode_json(p->decoder, e, &p->text));
	const char *provider, *name;
	openetw_event_names(p->decoder, e, &provider, &name);
	csv_add_event(&p->line, e, cli_view_origin(p->view), time, provider, name, &p->text);
}

/* name(pid):tid[name of the thread], name(pid):tid, pid:tid, pid:- or -:- */
static void add_origin(struct strbuf *b, const struct openetw_event_origin *o)
{
	if (o->process) {
		strbuf_add_printable(b, o->process, strlen(o->process));
		strbuf_addc(b, '(');
		strbuf_add_u64(b, o->pid);
		strbuf_addc(b, ')');
	} else if (o->pid != UINT32_MAX) {
		strbuf_add_u64(b, o->pid);
	} else {
		strbuf_addc(b, '-');
	}
	strbuf_addc(b, ':');
	if (o->tid != UINT32_MAX) {
		strbuf_add_u64(b, o->tid);
	} else {
		strbuf_addc(b, '-');
	}
	if (o->thread) {
		strbuf_addc(b, '[');
		strbuf_add_printable(b, o->thread, strlen(o->thread));
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, ' ');
}

static void print_text(struct cli_printer *p, const EVENT_RECORD *e, const char *time)
{
	const EVENT_HEADER *h = &e->EventHeader;
	struct strbuf *b = &p->line;
	const char *provider, *name;
	openetw_text_clear(&p->text);
	note(p, e, openetw_decode_text_named(p->decoder, e, &p->text, &provider, &name));
	unsigned cpu = GetEventProcessorIndex(e);
	strbuf_adds(b, time);
	strbuf_adds(b, cpu < 10 ? " [00" : cpu < 100 ? " [0" : " [");
	strbuf_add_u64(b, cpu);
	strbuf_adds(b, "] ");
	const struct openetw_event_origin *o = cli_view_origin(p->view);
	add_origin(b, o);
	strbuf_add_printable(b, provider, strlen(provider));
	strbuf_addc(b, '/');
	strbuf_add_printable(b, name, strlen(name));
	const char *level = h->EventDescriptor.Level ? level_word(h->EventDescriptor.Level) : NULL;
	if (level) {
		strbuf_adds(b, " <");
		strbuf_adds(b, level);
		strbuf_addc(b, '>');
	}
	if (p->text.length) {
		strbuf_addc(b, ' ');
		strbuf_add_printable(b, p->text.data, p->text.length);
	}
	if (o->file) {
		strbuf_addf_printable(b, " file=\"%s\"", o->file);
	}
	add_counters(p, e, false);
	if (p->stacks) {
		add_stack(p, e, false);
	}
	strbuf_addc(b, '\n');
}

bool cli_printer_asked(const struct cli_printer *p, unsigned i, struct cli_asked *ret)
{
	return fields_asked(&p->fields, i, ret);
}

bool cli_printer_event(struct cli_printer *p, const EVENT_RECORD *e)
{
	counters_of_learn(&p->counters, e);
	/* Reading the trace has taught every decoder what schemas it holds. */
	cli_view_set(p->view, e);
	bool header = cli_is_header(e);
	if (header && !p->headers && !(p->select && cli_select_names_events(p->select))) {
		return true;
	}
	if (!(header && p->headers) && p->select && !cli_select_match(p->select, p->view, e)) {
		return true;
	}
	char time[TIME_TEXT_SIZE];
	strbuf_clear(&p->line);
	if (p->fields.count) {
		fields_add(&p->fields, p->format, p->view, &p->line);
	} else {
		format_time((uint64_t)e->EventHeader.TimeStamp.QuadPart, p->local, time);
		switch (p->format) {
		case CLI_JSON: print_json(p, e, time); break;
		case CLI_CSV: print_csv(p, e, time); break;
		case CLI_TEXT: print_text(p, e, time); break;
		}
	}
	if (p->line.len && fwrite_unlocked(p->line.s, 1, p->line.len, p->f) != p->line.len) {
		cli_output_errno = cli_output_errno ? cli_output_errno : errno;
		return false;
	}
	if (header) {
		p->header_count++;
		return true;
	}
	return ++p->count < p->limit;
}
