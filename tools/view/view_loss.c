/* SPDX-License-Identifier: MIT */
#include "tools/view/view_loss.h"

#include <stdlib.h>

#define LOSSES_MOST 10000u

static bool gone(void *context)
{
	return view_gone(context);
}

static void take(const struct table_view *w, struct view_losses *ret)
{
	int start = table_view_column(w, "start"), stop = table_view_column(w, "stop"),
	    cpu = table_view_column(w, "cpu"), count = table_view_column(w, "count"),
	    kind = table_view_column(w, "kind");
	uint64_t rows = BASE_MIN(table_view_rows(w), LOSSES_MOST);
	struct table_value v;
	ret->list = calloc(rows + 1, sizeof *ret->list);
	for (uint64_t i = 0; ret->list && i < rows; i++) {
		struct view_loss *l = &ret->list[ret->count];
		l->from = table_view_integer(w, start, i, INT64_MIN);
		l->to = table_view_integer(w, stop, i, l->from);
		l->cpu = table_view_integer(w, cpu, i, -1);
		l->count = table_view_integer(w, count, i, -1);
		if (table_view_value(w, kind, i, &v) && v.kind == TABLE_TEXT) {
			snprintf(l->kind, sizeof l->kind, "%.*s", (int)BASE_MIN(v.n, sizeof l->kind - 1), v.s);
		}
		if (l->from == INT64_MIN) {
			continue; /* nobody knows when */
		}
		ret->from = ret->count ? BASE_MIN(ret->from, l->from) : l->from;
		ret->to = ret->count ? BASE_MAX(ret->to, l->to) : l->to;
		ret->count++;
	}
}

void view_losses_of(struct view_request *r, struct view_trace *t, struct view_losses *ret)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	char why[300];
	memset(ret, 0, sizeof *ret);
	view_trace_about(t, &a);
	if (t->live || !view_trace_whole(t) || (a.events_lost == 0 && a.buffers_lost == 0)) {
		return;
	}
	struct table_set *s = view_tables_lock(t, gone, r, why, sizeof why);
	const struct table_view *w = s ? table_set_get(s, "lost", why, sizeof why) : NULL;
	if (w) {
		take(w, ret);
	}
	if (s) {
		view_tables_unlock();
	}
}

void view_losses_free(struct view_losses *l)
{
	free(l->list);
}

void view_losses_put(struct strbuf *b, const struct view_losses *l, int64_t from, int64_t to)
{
	json_put_name(b, "lost");
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < l->count; i++) {
		const struct view_loss *x = &l->list[i];
		if (x->to < from || x->from > to) {
			continue;
		}
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_integer(b, "t0", x->from);
		json_put_integer(b, "t1", x->to);
		json_put_integer(b, "cpu", x->cpu);
		json_put_integer(b, "count", x->count);
		json_put_text(b, "reason", x->kind);
		strbuf_addc(b, '}');
	}
	strbuf_addc(b, ']');
}
