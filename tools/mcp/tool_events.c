/* SPDX-License-Identifier: MIT
 * find_events, get_event: events by a filter, and one of them whole.
 */
#include "tools/mcp/mcp_tool.h"

#include "tools/tables/index_row.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

#define PAYLOAD_SHORT 2000u /* bytes of a payload in a list */
#define FRAMES_MOST   192u

static void put_head(struct strbuf *b, struct mcp_trace *t, const struct openetw_row *r)
{
	struct openetw_index *x = mcp_trace_index(t);
	OPENETW_SIZED(struct openetw_index_type, type);
	OPENETW_SIZED(struct openetw_index_process, process);
	OPENETW_SIZED(struct openetw_index_thread, thread);
	json_put_count(b, "row", r->row);
	json_put_integer(b, "time_ns", r->time);
	mcp_put_date(b, t, "time", r->time);
	if (openetw_index_type(x, r->type, &type) == ERROR_SUCCESS) {
		json_put_text(b, "provider", type.provider);
		json_put_text(b, "event", type.name);
		json_put_count(b, "id", type.id);
		json_put_count(b, "level", type.level);
	}
	if (openetw_index_process(x, r->process, &process) == ERROR_SUCCESS && process.pid != OPENETW_UNKNOWN_ID) {
		json_put_count(b, "pid", process.pid);
		json_put_text(b, "process", process.name[0] ? process.name : NULL);
	}
	if (openetw_index_thread(x, r->thread, &thread) == ERROR_SUCCESS && thread.tid != OPENETW_UNKNOWN_ID) {
		json_put_count(b, "tid", thread.tid);
	}
	json_put_count(b, "cpu", r->cpu);
	if (r->stack) {
		json_put_count(b, "stack", r->stack);
	}
}

/* ---- find_events ------------------------------------------------------------------------------------ */

struct found {
	struct openetw_row *rows;
	uint64_t count, cap;
};

static bool take_row(void *context, const struct openetw_row *row)
{
	struct found *f = context;
	if (f->count < f->cap) {
		f->rows[f->count++] = *row;
	}
	return f->count < f->cap && !cli_signal_caught();
}

/* What the payload says, of at most `most` bytes: a longer one stands there as a text that is cut, and `more` says where
 * there is more of it. */
static void put_payload(struct mcp_call *c, struct mcp_trace *t, const EVENT_RECORD *e, size_t most, const char *more)
{
	char why[100];
	struct openetw_decoder *d = mcp_trace_maker(t)->decoder;
	struct openetw_text text = {0};
	struct strbuf *b = &c->out;
	uint32_t code = openetw_decode_json(d, e, &text);
	bool there = text.data && !text.failed;
	/* It goes into an object of ours as it is, so it is looked at: what it says comes out of the trace. */
	struct json_value *v =
		there && text.length <= most ? json_parse(text.data, text.length, why, sizeof why) : NULL;
	json_put_name(b, "payload");
	if (v) {
		strbuf_add(b, text.data, text.length);
	} else if (there) {
		if (json_put_part(b, text.data, text.length, most) < text.length) {
			json_put_count(b, "payload_bytes", text.length);
			mcp_put_cut(b, true, more);
		}
	} else {
		strbuf_adds(b, "null");
	}
	json_free(v);
	if (code == OPENETW_NO_SCHEMA || code == OPENETW_PARTLY) {
		json_put_text(b, "not_decoded", openetw_decoder_reason(d));
	}
	openetw_text_free(&text);
}

static bool put_event(struct mcp_call *c, struct mcp_trace *t, struct openetw_query *q, const struct openetw_row *r,
		      bool payload)
{
	const EVENT_RECORD *e;
	json_put_comma(&c->out);
	strbuf_addc(&c->out, '{');
	put_head(&c->out, t, r);
	uint32_t code = payload ? openetw_query_event(q, r->row, &e) : ERROR_SUCCESS;
	if (payload && code == ERROR_SUCCESS) {
		put_payload(c, t, e, PAYLOAD_SHORT, "get_event has all of it");
	}
	strbuf_addc(&c->out, '}');
	return code == ERROR_SUCCESS || mcp_trace_failed(c, code);
}

static bool run_find(struct mcp_call *c)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct mcp_trace *t = mcp_trace_of(c, "files");
	struct openetw_query *q = t ? mcp_trace_query(c, t, mcp_call_text(c, "filter", NULL), "from", "to") : NULL;
	uint64_t position = (uint64_t)mcp_call_integer(c, "position", 0), shown = 0;
	struct found f = {.cap = (uint64_t)mcp_call_integer(c, "limit", 20)};
	bool payload = mcp_call_truth(c, "payload", true);
	uint32_t code = ERROR_SUCCESS;
	f.rows = q ? calloc(f.cap, sizeof *f.rows) : NULL;
	if (!f.rows) {
		openetw_query_destroy(q);
		return q ? cli_tell(c->args, "no memory"), false : false;
	}
	code = openetw_query_count(q, &a);
	if (code == ERROR_SUCCESS) {
		code = openetw_query_rows(q, position, f.cap, take_row, &f, NULL);
	}
	bool ok = code == ERROR_SUCCESS || mcp_trace_failed(c, code);
	if (ok && a.matched == 0) {
		mcp_trace_nothing(c, t);
	}
	strbuf_addc(&c->out, '{');
	mcp_put_answer(&c->out, &a);
	json_put_name(&c->out, "events");
	strbuf_addc(&c->out, '[');
	for (; ok && shown < f.count && mcp_call_room(c); shown++) {
		ok = put_event(c, t, q, &f.rows[shown], payload);
	}
	strbuf_addc(&c->out, ']');
	bool more = position + shown < a.matched;
	json_put_count(&c->out, "position", position);
	json_put_count(&c->out, "shown", shown);
	json_put_truth(&c->out, "cut", more);
	if (more) {
		json_put_count(&c->out, "next_position", position + shown);
	}
	strbuf_addc(&c->out, '}');
	free(f.rows);
	openetw_query_destroy(q);
	return ok;
}

static const struct mcp_param find_params[] = {
	MCP_FILES("files"),
	MCP_FILTER,
	MCP_RANGE,
	{.name = "position",
	 .kind = MCP_PARAM_INTEGER,
	 .max = INT64_C(1) << 50,
	 .help = "The first event to show, by its number in the result (default 0). Answers say next_position."},
	{.name = "limit",
	 .kind = MCP_PARAM_INTEGER,
	 .min = 1,
	 .max = 500,
	 .help = "At most so many events (default 20)."},
	{.name = "payload", .kind = MCP_PARAM_TRUTH, .help = "With the fields of the payload (default true)."},
	{0}};
const struct mcp_tool mcp_tool_find_events = {
	.name = "find_events",
	.title = "Find events",
	.help = "Events that match a filter, in the order of time: who, when, which, and the fields of their payloads. "
		"Also "
		"says how many match in all. \"row\" names an event for get_event.",
	.params = find_params,
	.run = run_find,
};

/* ---- get_event -------------------------------------------------------------------------------------- */

/* A sample interrupted its first frame; all others stand behind calls. */
static bool is_sample(struct table_maker *m, const EVENT_RECORD *e)
{
	struct kevent k;
	return kevent_of(m->state, e, &k) && (k.kind == KEVENT_SAMPLE || k.kind == KEVENT_PMC_SAMPLE);
}

static void put_stack(struct mcp_call *c, struct mcp_trace *t, const EVENT_RECORD *e, const struct openetw_row *r)
{
	uint64_t frames[FRAMES_MOST];
	char name[1024], why[400];
	struct table_maker *m = mcp_trace_maker(t);
	OPENETW_SIZED(struct openetw_index_process, p);
	uint32_t there = openetw_index_stack(mcp_trace_index(t), r->stack, frames, FRAMES_MOST);
	uint32_t n = BASE_MIN(there, FRAMES_MOST), shown = 0;
	bool named = openetw_index_process(mcp_trace_index(t), r->process, &p) == ERROR_SUCCESS &&
		     table_make_state(m, why, sizeof why);
	bool interrupted = is_sample(m, e);
	json_put_name(&c->out, "stack_frames");
	strbuf_addc(&c->out, '[');
	for (; shown < n && mcp_call_room(c); shown++) {
		snprintf(name, sizeof name, "?!?");
		if (named) {
			names_of(&m->names, p.pid, names_frame(frames, shown, interrupted),
				 table_make_filetime(m, r->time), name, sizeof name);
		}
		if (strcmp(name, "?!?") == 0) {
			snprintf(name, sizeof name, "0x%llx", (unsigned long long)frames[shown]);
		}
		json_put_text(&c->out, NULL, name);
	}
	strbuf_addc(&c->out, ']');
	if (there > shown) {
		json_put_count(&c->out, "frames_left_out", there - shown);
	}
}

static void put_guid(struct strbuf *b, const char *name, const GUID *g)
{
	char text[37];
	cli_guid_text(g, text);
	json_put_text(b, name, text);
}

static void put_record(struct mcp_call *c, struct mcp_trace *t, const EVENT_RECORD *e)
{
	static const GUID none;
	struct strbuf *b = &c->out;
	struct openetw_text message = {0};
	const EVENT_HEADER *h = &e->EventHeader;
	put_guid(b, "provider_guid", &h->ProviderId);
	json_put_count(b, "version", h->EventDescriptor.Version);
	json_put_count(b, "opcode", h->EventDescriptor.Opcode);
	json_put_count(b, "task", h->EventDescriptor.Task);
	json_put_count(b, "channel", h->EventDescriptor.Channel);
	json_put_name(b, "keyword");
	strbuf_addf(b, "\"0x%llx\"", (unsigned long long)h->EventDescriptor.Keyword);
	if (memcmp(&h->ActivityId, &none, sizeof none) != 0) {
		put_guid(b, "activity", &h->ActivityId);
	}
	json_put_count(b, "payload_length", e->UserDataLength);
	if (openetw_event_message(mcp_trace_maker(t)->decoder, e, &message) && message.data && !message.failed) {
		json_put_text(b, "message", message.data);
	}
	openetw_text_free(&message);
	put_payload(c, t, e, c->budget, "the server's option --max-answer allows longer answers");
}

static bool run_get(struct mcp_call *c)
{
	struct mcp_trace *t = mcp_trace_of(c, "files");
	uint64_t row = (uint64_t)mcp_call_integer(c, "row", 0);
	struct openetw_row found;
	const EVENT_RECORD *e;
	if (!t) {
		return false;
	}
	const struct openetw_index_about *a = mcp_trace_about(t);
	if (a->files == 1 && row >= a->rows) {
		cli_tell(c->args, "there is no row %llu: the trace has %llu, which begin with 0",
			 (unsigned long long)row, (unsigned long long)a->rows);
		return false;
	}
	struct openetw_query *q = mcp_trace_all(c, t);
	if (!q) {
		return false;
	}
	uint32_t code = index_row_find(mcp_trace_index(t), q, row, &found);
	bool ok = code == ERROR_SUCCESS && openetw_query_event(q, row, &e) == ERROR_SUCCESS;
	if (ok) {
		strbuf_addc(&c->out, '{');
		put_head(&c->out, t, &found);
		put_record(c, t, e);
		if (found.stack) {
			put_stack(c, t, e, &found);
		}
		strbuf_addc(&c->out, '}');
	} else if (code == ERROR_CANCELLED || cli_signal_caught()) {
		mcp_trace_failed(c, ERROR_CANCELLED);
	} else {
		cli_tell(c->args,
			 "there is no row %llu; find_events says the rows of events, which are those of the same files "
			 "only",
			 (unsigned long long)row);
	}
	openetw_query_destroy(q);
	return ok;
}

static const struct mcp_param get_params[] = {MCP_FILES("files"),
					      {.name = "row",
					       .kind = MCP_PARAM_INTEGER,
					       .required = true,
					       .max = INT64_C(1) << 50,
					       .help = "The event's row, as find_events says it."},
					      {0}};
const struct mcp_tool mcp_tool_get_event = {
	.name = "get_event",
	.title = "One event, whole",
	.help = "Everything about one event: its header, the whole payload, its message and its call stack with names "
		"of "
		"functions.",
	.params = get_params,
	.run = run_get,
};
