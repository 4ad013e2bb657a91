/* SPDX-License-Identifier: MIT
 * diag: can this trace be trusted? Loss, events that nobody decodes, damage.
 */
#include "tools/view/view.h"

#include "tools/tables/table_make.h"
#include "tools/view/view_child.h"
#include "tools/view/view_loss.h"

#include <stdlib.h>

/* ---- events that nobody decodes ---------------------------------------------------------------------- */

static bool take_row(void *context, const struct openetw_row *row)
{
	*(uint64_t *)context = row->row;
	return false;
}

/* One event of each type says whether, and if not why. */
#define TYPES_LOOKED 2000u
static void put_undecoded(struct view_request *r, struct view_trace *t)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct openetw_decoder *d = view_decoder_take(t);
	struct openetw_query *q = openetw_query_create(t->x);
	view_trace_about(t, &a);
	json_put_name(&r->out, "undecoded");
	strbuf_addc(&r->out, '[');
	for (uint32_t i = 0; d && q && i < BASE_MIN(a.types, TYPES_LOOKED) && !view_gone(r); i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		struct strbuf filter = {0};
		struct openetw_text text = {0};
		const openetw_event_record *e;
		uint64_t row = UINT64_MAX;
		if (openetw_index_type(t->x, i, &type) != ERROR_SUCCESS || type.rows == 0) {
			continue;
		}
		view_filter_text(&filter, t, OPENETW_BY_TYPE, NULL, i, "");
		if (filter.s && openetw_query_set_filter(q, filter.s) == ERROR_SUCCESS &&
		    openetw_query_rows(q, 0, 1, take_row, &row, NULL) == ERROR_SUCCESS && row != UINT64_MAX &&
		    openetw_query_event(q, row, &e) == ERROR_SUCCESS) {
			uint32_t code = openetw_decode_text(d, e, &text);
			if (code == OPENETW_NO_SCHEMA || code == OPENETW_PARTLY) {
				json_put_comma(&r->out);
				strbuf_addc(&r->out, '{');
				json_put_text(&r->out, "provider", type.provider);
				json_put_text(&r->out, "event", type.name);
				json_put_count(&r->out, "count", type.rows);
				json_put_truth(&r->out, "partly", code == OPENETW_PARTLY);
				json_put_text(&r->out, "reason", openetw_decoder_reason(d));
				json_put_text(&r->out, "filter", filter.s);
				strbuf_addc(&r->out, '}');
			}
		}
		openetw_text_free(&text);
		strbuf_finish(&filter);
	}
	strbuf_addc(&r->out, ']');
	openetw_query_destroy(q);
	view_decoder_give(t, d);
}

/* ---- the session ------------------------------------------------------------------------------------- */

static void put_trace_rows(struct view_request *r, const struct table_view *w)
{
	json_put_name(&r->out, "session");
	strbuf_addc(&r->out, '[');
	for (uint64_t row = 0; w && row < table_view_rows(w); row++) {
		for (uint32_t c = 0; c < table_view_columns(w); c++) {
			struct table_value v;
			struct strbuf text = {0};
			if (table_view_value(w, (int)c, row, &v)) {
				table_value_text(&v, false, &text);
				json_put_comma(&r->out);
				strbuf_addc(&r->out, '[');
				json_put_text(&r->out, NULL, table_view_column_name(w, (int)c));
				json_put_text(&r->out, NULL, text.s ? text.s : "");
				strbuf_addc(&r->out, ']');
			}
			strbuf_finish(&text);
		}
	}
	strbuf_addc(&r->out, ']');
}

/* ---- damage: what info says ------------------------------------------------------------------------- */

static void put_lines(struct strbuf *b, const char *name, const struct strbuf *text)
{
	json_put_name(b, name);
	strbuf_addc(b, '[');
	for (const char *line = text->s; line && *line;) {
		size_t n = strcspn(line, "\n");
		json_put_comma(b);
		strbuf_add_json(b, line, n);
		line += n + (line[n] != 0);
	}
	strbuf_addc(b, ']');
}

static void put_damage(struct view_request *r, struct view_trace *t)
{
	struct strbuf out = {0}, err = {0};
	char *words[80] = {(char *)"openetw", (char *)"info", (char *)"--"};
	for (int i = 0; i < t->count && i < 70; i++) {
		words[3 + i] = t->files[i];
	}
	view_child_run(words, 1u << 20, &out, &err, view_request_gone, r);
	put_lines(&r->out, "about", &out);
	put_lines(&r->out, "damage", &err);
	strbuf_finish(&out);
	strbuf_finish(&err);
}

static int run(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct view_losses l;
	char why[400] = "";
	struct view_trace *t = view_trace_of(r);
	if (!t) {
		return r->status;
	}
	view_trace_about(t, &a);
	view_losses_of(t, &l);
	strbuf_addc(&r->out, '{');
	view_losses_put(&r->out, &l, INT64_MIN, INT64_MAX);
	view_losses_free(&l);
	json_put_count(&r->out, "events_lost", a.events_lost);
	json_put_count(&r->out, "buffers_lost", a.buffers_lost);
	json_put_truth(&r->out, "loss_unknown", a.loss_unknown != 0);
	json_put_count(&r->out, "stacks_without_event", a.stacks_without_event);
	put_undecoded(r, t);
	struct table_set *s = view_tables_with(r, t, "trace", why, sizeof why);
	if (s) {
		put_trace_rows(r, table_set_made(s, "trace"));
	}
	if (!t->copy_of) {
		put_damage(r, t);
	}
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_diag = {
	.keep = true, .path = "diag", .params = VIEW_TRACE_PARAM, .whole = true, .run = run};
