/* SPDX-License-Identifier: MIT
 * row: everything about one event.
 */
#include "tools/view/view_live.h"

#include "tools/tables/index_row.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

#define FRAMES_MOST 192u
#define HEX_MOST    65536u

static bool gone(void *context)
{
	return view_gone(context);
}

static bool put_field(void *context, const struct openetw_field *f)
{
	struct strbuf *b = context;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_name(b, "name");
	strbuf_add_json(b, f->name, f->name_length);
	json_put_count(b, "in_type", f->in_type);
	json_put_count(b, "out_type", f->out_type);
	json_put_name(b, "value");
	strbuf_add_json(b, f->text, f->text_length);
	strbuf_addc(b, '}');
	return true;
}

static void put_guid(struct strbuf *b, const char *name, const GUID *g)
{
	static const GUID none;
	char text[37];
	cli_guid_text(g, text);
	json_put_text(b, name, memcmp(g, &none, sizeof none) ? text : NULL);
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
	json_put_name(b, "schema");
	strbuf_addc(b, '{');
	put_guid(b, "guid", &h->ProviderId);
	json_put_count(b, "id", h->EventDescriptor.Id);
	json_put_count(b, "version", h->EventDescriptor.Version);
	json_put_text(b, "source",
		      type.classic ? "a class of the kernel or of the time before Vista"
				   : "a manifest, or the event itself");
	strbuf_addc(b, '}');
}

static void put_payload(struct strbuf *b, struct openetw_decoder *d, const EVENT_RECORD *e)
{
	struct openetw_text message = {0};
	if (openetw_event_message(d, e, &message) && message.data && !message.failed) {
		json_put_text(b, "message", message.data);
	}
	openetw_text_free(&message);
	json_put_name(b, "fields");
	strbuf_addc(b, '[');
	uint32_t code = openetw_decode_fields(d, e, put_field, b);
	strbuf_addc(b, ']');
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
		names = view_copy_of_machine(t, gone, r, why, sizeof why);
	} else if (!n || !view_trace_whole(t)) {
		names = NULL;
	}
	struct table_maker *m = names ? view_names_lock(names, gone, r, why, sizeof why) : NULL;
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
		put_payload(&r->out, d, e);
		put_stack(r, s.trace, &row, e);
		strbuf_addc(&r->out, '}');
	}
	view_decoder_give(s.trace, d);
	view_query_give(r, &s, q);
	return code == ERROR_SUCCESS ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_row = {.path = "row", .params = VIEW_TRACE_PARAM "row:0-1000000000000000", .run = run};
