/* SPDX-License-Identifier: MIT
 *
 * Spans as a viewer draws them: those that touch several pixels by themselves, short ones together.
 */
#include "query/query_spans.h"

#include "base/sized.h"
#include "base/win32_error.h"

#define PIXELS_MOST  65536u
#define IDS_MOST     65536u
#define CANCEL_EVERY 65536u

/* Short ones of a level, in one pixel. */
struct short_ones {
	uint32_t pixel;
	uint64_t spans, ns, longest;
	const struct span *span; /* the longest */
};
struct question {
	struct openetw_query *q;
	openetw_span_fn fn;
	void *context;
	bool stopped;
	int64_t from, to; /* of the file */
	uint32_t pixels, lane;
	const struct index_file *file;
	struct short_ones levels[SPAN_LEVELS];
};

static uint32_t pixel_of(const struct question *m, int64_t time)
{
	uint64_t length = (uint64_t)m->to - (uint64_t)m->from, at = (uint64_t)time - (uint64_t)m->from;
	return (uint32_t)((unsigned __int128)at * m->pixels / length);
}

static void tell(struct question *m, const struct span *s, uint32_t first, uint32_t pixels, uint64_t count, uint64_t ns)
{
	const struct index_file *f = m->file;
	double whole = ((double)m->to - (double)m->from) / m->pixels * pixels;
	struct openetw_span r = {.size = sizeof r,
				 .lane = m->lane,
				 .level = s->level,
				 .first = first,
				 .pixels = pixels,
				 .type = question_id(s->type, f->store.type_count, f->type_base),
				 .coverage = BASE_MIN((double)ns / whole, 1),
				 .spans = count,
				 .from = index_time(s->from, f->offset),
				 .to = index_time(s->to, f->offset)};
	m->stopped = m->stopped || !m->fn(m->context, &r);
}

static void end_level(struct question *m, uint32_t level)
{
	struct short_ones *l = &m->levels[level];
	if (l->spans && !m->stopped) {
		tell(m, l->span, l->pixel, 1, l->spans, l->ns);
	}
	*l = (struct short_ones){0};
}

static void add_span(struct question *m, const struct span *s)
{
	int64_t from = BASE_MAX(s->from, m->from),
		to = BASE_MIN(BASE_MAX(s->to, s->from + (s->from < INT64_MAX)), m->to);
	if (from >= to) {
		return;
	}
	uint32_t first = pixel_of(m, from), last = pixel_of(m, to - 1);
	uint64_t ns = (uint64_t)to - (uint64_t)from;
	struct short_ones *l = &m->levels[s->level];
	if (first != last || l->pixel != first) {
		end_level(m, s->level);
	}
	if (first != last) {
		if (!m->stopped) {
			tell(m, s, first, last - first + 1, 1, ns);
		}
		return;
	}
	l->pixel = first;
	l->spans++;
	l->ns += ns;
	if (!l->span || ns > l->longest) {
		l->longest = ns;
		l->span = s;
	}
}

static int one_lane(struct question *m, const struct spans *s, uint32_t thread)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->list[middle].thread < thread) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	memset(m->levels, 0, sizeof m->levels);
	for (size_t i = low; i < s->count && s->list[i].thread == thread && s->list[i].from < m->to && !m->stopped;
	     i++) {
		add_span(m, &s->list[i]);
		if (i % CANCEL_EVERY == 0 && question_cancelled(m->q)) {
			return -ECANCELED;
		}
	}
	for (uint32_t i = 0; i < SPAN_LEVELS; i++) {
		end_level(m, i);
	}
	return 0;
}

uint32_t openetw_query_spans(struct openetw_query *q, enum openetw_spans kind, const uint32_t *threads, uint32_t count,
			     int64_t from, int64_t to, uint32_t pixels, openetw_span_fn fn, void *context,
			     struct openetw_answer *ret)
{
	if (kind > OPENETW_SPANS_FILES || !threads || count == 0 || count > IDS_MOST || from >= to || pixels == 0 ||
	    pixels > PIXELS_MOST || !fn || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	struct question m = {.q = q, .fn = fn, .context = context, .pixels = pixels};
	int err = question_begin(q);
	for (uint32_t i = 0; i < count && err == 0 && !m.stopped; i++) {
		const struct spans *s;
		uint32_t local;
		m.lane = i;
		m.file = index_thread_of(q->x, threads[i], &local);
		err = m.file ? spans_of(q, (uint32_t)(m.file - q->x->files), kind, &s) : -ENOENT;
		if (err == 0) {
			m.from = index_time_of_file(from, m.file->offset);
			m.to = index_time_of_file(to, m.file->offset);
			err = m.from < m.to ? one_lane(&m, s, local) : 0;
		}
	}
	return question_end(q, err, ret);
}
