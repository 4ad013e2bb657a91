/* SPDX-License-Identifier: MIT
 * row: everything about one event.
 */
#include "tools/view/view_live.h"

#include "base/vec.h"
#include "schema/schema_leaf.h"
#include "tools/tables/index_row.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

#define FRAMES_MOST 192u
#define HEX_MOST    65536u

/* ---- fields, and where they stand ---- */

#define PARTS_MOST 8192u

struct part {
	char name[100];
	uint32_t from, to;
};
struct fields {
	struct strbuf *b;
	struct part *parts; /* every value of the payload that is shown, in its order */
	uint32_t count, cap;
};

static void take_part(void *context, const struct schema_leaf *leaf)
{
	struct fields *f = context;
	if (!leaf->hidden && VEC_ROOM_UP_TO(f->parts, f->count, f->cap, PARTS_MOST)) {
		struct part *p = &f->parts[f->count++];
		*p = (struct part){.from = leaf->from, .to = leaf->from + leaf->taken};
		snprintf(p->name, sizeof p->name, "%.*s", (int)BASE_MIN(leaf->name_bytes, 99u), leaf->name);
	}
}

static void put_place(struct strbuf *b, uint32_t from, uint32_t to)
{
	json_put_count(b, "from", from);
	json_put_count(b, "to", to);
}

/* The values that an array or struct is made of. */
static void put_parts(const struct fields *x, uint32_t from, uint32_t to)
{
	json_put_name(x->b, "parts");
	strbuf_addc(x->b, '[');
	for (uint32_t i = 0; i < x->count; i++) {
		const struct part *p = &x->parts[i];
		if (p->from >= from && p->to <= to) {
			json_put_comma(x->b);
			strbuf_addc(x->b, '{');
			json_put_text(x->b, "name", p->name);
			put_place(x->b, p->from, p->to);
			strbuf_addc(x->b, '}');
		}
	}
	strbuf_addc(x->b, ']');
}

static bool put_field(void *context, const struct openetw_field *f)
{
	struct fields *x = context;
	struct strbuf *b = x->b;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_name(b, "name");
	strbuf_add_json(b, f->name, f->name_length);
	json_put_count(b, "in_type", f->in_type);
	json_put_count(b, "out_type", f->out_type);
	json_put_name(b, "value");
	strbuf_add_json(b, f->text, f->text_length);
	if (f->bytes) {
		put_place(b, f->offset, f->offset + f->bytes);
	}
	if (f->bytes && (f->is_array || f->is_struct)) {
		put_parts(x, f->offset, f->offset + f->bytes);
	}
	strbuf_addc(b, '}');
	return true;
}

static uint32_t put_fields(struct strbuf *b, struct openetw_decoder *d, const EVENT_RECORD *e)
{
	struct fields x = {.b = b};
	uint32_t explained;
	schema_decode_leaves(d, e, take_part, &x, &explained);
	json_put_name(b, "fields");
	strbuf_addc(b, '[');
	uint32_t code = openetw_decode_fields(d, e, put_field, &x);
	strbuf_addc(b, ']');
	free(x.parts);
	return code;
}

static void put_guid(struct strbuf *b, const char *name, const GUID *g)
{
	static const GUID none;
	char text[37];
	cli_guid_text(g, text);
	json_put_text(b, name, memcmp(g, &none, sizeof none) ? text : NULL);
}

static void put_schema(struct strbuf *b, struct openetw_decoder *d, const EVENT_RECORD *e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	json_put_name(b, "schema");
	strbuf_addc(b, '{');
	put_guid(b, "guid", &h->ProviderId);
	json_put_count(b, "id", h->EventDescriptor.Id);
	json_put_count(b, "version", h->EventDescriptor.Version);
	const char *source = openetw_decoder_source(d, e);
	json_put_text(b, "source", source[0] ? source : NULL);
	strbuf_addc(b, '}');
}

static void put_head(struct strbuf *b, struct view_trace *t, const struct openetw_row *row, const EVENT_RECORD *e)
{
	OPENETW_SIZED(struct openetw_index_type, type);
	OPENETW_SIZED(struct openetw_index_process, p);
	OPENETW_SIZED(struct openetw_index_thread, th);
	char date[64];
	const EVENT_HEADER *h = &e->EventHeader;
	openetw_index_type(t->x, row->type, &type);
	json_put_count(b, "row", row->row);
	json_put_integer(b, "time", row->time);
	view_trace_date(t, row->time, date, sizeof date);
	json_put_text(b, "date", date);
	json_put_count(b, "type", row->type);
	json_put_text(b, "provider", type.provider);
	json_put_text(b, "event", type.name);
	json_put_count(b, "level", h->EventDescriptor.Level);
	json_put_count(b, "opcode", h->EventDescriptor.Opcode);
	json_put_count(b, "task", h->EventDescriptor.Task);
	json_put_count(b, "channel", h->EventDescriptor.Channel);
	view_put_hex(b, "keywords", h->EventDescriptor.Keyword);
	if (openetw_index_process(t->x, row->process, &p) == ERROR_SUCCESS && p.pid != OPENETW_UNKNOWN_ID) {
		json_put_count(b, "pid", p.pid);
		json_put_text(b, "process", p.name);
		json_put_text(b, "command", p.command_line);
		json_put_text(b, "container", p.container && p.container[0] ? p.container : NULL);
	}
	if (openetw_index_thread(t->x, row->thread, &th) == ERROR_SUCCESS && th.tid != OPENETW_UNKNOWN_ID) {
		json_put_count(b, "tid", th.tid);
		json_put_text(b, "thread", th.name);
	}
	json_put_count(b, "thread_id", row->thread);
	json_put_count(b, "cpu", row->cpu);
	put_guid(b, "activity", &h->ActivityId);
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		if (x->ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID && x->DataSize == sizeof(GUID)) {
			GUID g;
			memcpy(&g, (const void *)(uintptr_t)x->DataPtr, sizeof g);
			put_guid(b, "related", &g);
		}
	}
}

static void put_payload(struct strbuf *b, struct openetw_decoder *d, const EVENT_RECORD *e)
{
	struct openetw_text message = {0};
	if (openetw_event_message(d, e, &message) && message.data && !message.failed) {
		json_put_text(b, "message", message.data);
	}
	openetw_text_free(&message);
	uint32_t code = put_fields(b, d, e);
	json_put_text(b, "not_decoded",
		      code == OPENETW_NO_SCHEMA || code == OPENETW_PARTLY ? openetw_decoder_reason(d) : NULL);
	json_put_count(b, "bytes", e->UserDataLength);
	json_put_name(b, "hex");
	strbuf_addc(b, '"');
	const uint8_t *p = e->UserData;
	for (uint32_t i = 0; i < e->UserDataLength && i < HEX_MOST; i++) {
		static const char digits[] = "0123456789abcdef";
		strbuf_addc(b, digits[p[i] >> 4]);
		strbuf_addc(b, digits[p[i] & 15]);
	}
	strbuf_addc(b, '"');
}

static void put_stack(struct view_request *r, struct view_trace *t, const struct openetw_row *row,
		      const EVENT_RECORD *e)
{
	uint64_t frames[FRAMES_MOST];
	char name[1024], why[300];
	OPENETW_SIZED(struct openetw_index_process, p);
	uint32_t n = row->stack ? BASE_MIN(openetw_index_stack(t->x, row->stack, frames, FRAMES_MOST), FRAMES_MOST) : 0;
	struct view_trace *names = t; /* of what they are read */
	if (n && t->live) {
		names = view_copy_of_machine(t, view_request_gone, r, why, sizeof why);
	} else if (!n || !view_trace_whole(t)) {
		names = NULL;
	}
	struct table_maker *m = names ? view_names_lock(r, names, why, sizeof why) : NULL;
	if (r->making.len) { /* the event is shown without them meanwhile */
		strbuf_clear(&r->making);
		json_put_truth(&r->out, "naming", true);
	}
	struct kevent k;
	bool interrupted = m && kevent_of(m->state, e, &k) && (k.kind == KEVENT_SAMPLE || k.kind == KEVENT_PMC_SAMPLE);
	bool whose = openetw_index_process(t->x, row->process, &p) == ERROR_SUCCESS;
	json_put_name(&r->out, "stack");
	strbuf_addc(&r->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "?!?");
		if (m && whose) {
			names_of(&m->names, p.pid, names_frame(frames, i, interrupted),
				 table_make_filetime(m, row->time), name, sizeof name);
		}
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		view_put_hex(&r->out, "address", frames[i]);
		char *bang = strchr(name, '!');
		if (bang && strcmp(name, "?!?") != 0) {
			*bang = 0;
			json_put_text(&r->out, "module", name);
			json_put_text(&r->out, "name", bang + 1);
		}
		strbuf_addc(&r->out, '}');
	}
	strbuf_addc(&r->out, ']');
	if (m) {
		view_names_unlock(names);
	}
	if (names && names != t) {
		view_tables_let_go(r); /* before their trace */
		view_trace_let_go(r->view, names);
	}
}

static int run(struct view_request *r)
{
	struct view_sel s;
	struct openetw_row row;
	const openetw_event_record *e;
	if (!view_sel_of(r, &s)) {
		return r->status;
	}
	s.from = INT64_MIN;
	s.to = INT64_MAX;
	struct openetw_query *q = view_query_take(r, &s);
	struct openetw_decoder *d = view_decoder_take(s.trace);
	uint32_t code =
		q && d ? index_row_find(s.trace->x, q, view_number(r, "row", 0), &row) : ERROR_NOT_ENOUGH_MEMORY;
	code = code ? code : openetw_query_event(q, row.row, &e);
	if (code == ERROR_SUCCESS) {
		strbuf_addc(&r->out, '{');
		put_head(&r->out, s.trace, &row, e);
		put_schema(&r->out, d, e);
		put_payload(&r->out, d, e);
		put_stack(r, s.trace, &row, e);
		strbuf_addc(&r->out, '}');
	}
	view_decoder_give(s.trace, d);
	view_query_give(r, &s, q);
	return code == ERROR_SUCCESS ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_row = {.path = "row", .params = VIEW_TRACE_PARAM "row:0-1000000000000000", .run = run};
