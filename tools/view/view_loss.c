/* SPDX-License-Identifier: MIT */
#include "tools/view/view_loss.h"

#include "etl/etl_reader.h"
#include "query/query_share.h"

#include <stdlib.h>

static const char *const reasons[] = {
	[ETL_LOSS_EVENTS] = "events: no buffer was free",
	[ETL_LOSS_BUFFERS] = "buffers that were not written",
	[ETL_LOSS_BACKUP] = "parts put aside: the reader was too slow",
	[ETL_LOSS_MISSING] = "buffers are missing",
	[ETL_LOSS_OVERWRITTEN] = "the ring was overwritten",
	[ETL_LOSS_LATEST] = "the latest loss",
};

static int by_time(const void *a, const void *b)
{
	const struct view_loss *x = a, *y = b;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* `about`: a loss that has no end, or none that makes sense, ends with the trace. */
static void take(const struct index_share *s, const struct openetw_index_about *about, struct view_losses *ret)
{
	for (uint32_t i = 0; i < s->store->loss_count; i++) {
		const struct store_loss *l = &s->store->losses[i];
		if (ret->count == VIEW_LOSSES_MOST) {
			ret->rest++;
			continue;
		}
		int64_t from = l->from > INT64_MAX - s->offset ? INT64_MAX : l->from + s->offset;
		int64_t to = l->to > INT64_MAX - s->offset ? INT64_MAX : l->to + s->offset;
		from = BASE_MAX(from, BASE_MIN(about->first, INT64_C(0)));
		to = BASE_MAX(BASE_MIN(to, BASE_MAX(about->last, from)), from);
		ret->placed |= l->kind != ETL_LOSS_MISSING && l->kind != ETL_LOSS_OVERWRITTEN;
		ret->list[ret->count++] = (struct view_loss){
			.from = from,
			.to = to,
			.cpu = l->cpu >= UINT16_MAX ? -1 : (int64_t)l->cpu,
			.count = l->count ? (int64_t)BASE_MIN(l->count, (uint64_t)INT64_MAX) : -1,
			.reason = l->kind < BASE_ARRAY_LEN(reasons) ? reasons[l->kind] : "nobody knows why"};
	}
}

void view_losses_of(struct view_trace *t, struct view_losses *ret)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct index_share s;
	size_t most = 0;
	memset(ret, 0, sizeof *ret);
	view_trace_about(t, &a);
	for (uint32_t i = 0; i < a.files && index_share_of(t->x, i, &s); i++) {
		most += s.store->loss_count;
	}
	ret->list = most ? calloc(BASE_MIN(most, (size_t)VIEW_LOSSES_MOST), sizeof *ret->list) : NULL;
	if (!ret->list) {
		return;
	}
	most = BASE_MIN(most, (size_t)VIEW_LOSSES_MOST);
	for (uint32_t i = 0; i < a.files && ret->count < most && index_share_of(t->x, i, &s); i++) {
		take(&s, &a, ret);
	}
	qsort(ret->list, ret->count, sizeof *ret->list, by_time);
	for (uint32_t i = 0; i < ret->count; i++) {
		ret->from = i ? BASE_MIN(ret->from, ret->list[i].from) : ret->list[i].from;
		ret->to = i ? BASE_MAX(ret->to, ret->list[i].to) : ret->list[i].to;
	}
}

void view_losses_free(struct view_losses *l)
{
	free(l->list);
}

void view_loss_put(struct strbuf *b, const struct view_loss *l)
{
	json_put_integer(b, "t0", l->from);
	json_put_integer(b, "t1", l->to);
	json_put_integer(b, "cpu", l->cpu);
	json_put_integer(b, "count", l->count);
	json_put_text(b, "reason", l->reason);
}

void view_losses_put(struct strbuf *b, const struct view_losses *l, int64_t from, int64_t to)
{
	json_put_name(b, "lost");
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < l->count; i++) {
		if (l->list[i].to >= from && l->list[i].from <= to) {
			json_put_comma(b);
			strbuf_addc(b, '{');
			view_loss_put(b, &l->list[i]);
			strbuf_addc(b, '}');
		}
	}
	strbuf_addc(b, ']');
}
