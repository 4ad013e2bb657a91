/* SPDX-License-Identifier: MIT
 *
 * Lanes: the stays of a thread or a processor, as many as there are, made into at most a run for each pixel.
 */
#include "query/query_stays.h"

#include "base/sized.h"
#include "base/win32_error.h"

#define PIXELS_MOST  65536u
#define IDS_MOST     65536u
#define DOINGS       (OPENETW_DOING_IDLE + 1u)
#define CANCEL_EVERY 65536u

/* One doing of a pixel, or of a run. */
struct part {
	uint64_t ns, stays;
	uint64_t longest;    /* of one stay, as far as it is in the pixel */
	size_t stay;         /* which one that is */
	size_t begins, ends; /* the first and the last of them */
};
struct lanes {
	struct openetw_query *q;
	openetw_lane_fn fn;
	void *context;
	bool stopped; /* the function said so */
	enum openetw_lanes kind;
	int64_t from, to; /* of the file */
	uint32_t pixels;
	/* One lane. */
	uint32_t lane;
	const struct index_file *file;
	const struct stays *s;
	const struct stay_lane *l;
	uint32_t pixel; /* the one that is collected */
	struct part parts[DOINGS];
	/* The run that may go on. */
	uint32_t first, count; /* pixels; 0: there is none */
	enum openetw_doing doing;
	struct part run;
};

/* The first time of a pixel. */
static int64_t edge_of(const struct lanes *m, uint32_t pixel)
{
	uint64_t length = (uint64_t)m->to - (uint64_t)m->from;
	unsigned __int128 product = (unsigned __int128)length * pixel + (m->pixels - 1);
	return (int64_t)((uint64_t)m->from + (uint64_t)(product / m->pixels));
}

static uint32_t pixel_of(const struct lanes *m, int64_t time)
{
	uint64_t length = (uint64_t)m->to - (uint64_t)m->from, at = (uint64_t)time - (uint64_t)m->from;
	return (uint32_t)((unsigned __int128)at * m->pixels / length);
}

static void tell(struct lanes *m)
{
	if (m->count == 0 || m->stopped) {
		m->count = 0;
		return;
	}
	const struct stay *s = &m->l->list[m->run.stay];
	const struct index_file *f = m->file;
	uint64_t whole = (uint64_t)edge_of(m, m->first + m->count) - (uint64_t)edge_of(m, m->first);
	struct openetw_lane_run r = {
		.size = sizeof r,
		.lane = m->lane,
		.first = m->first,
		.pixels = m->count,
		.doing = m->doing,
		.coverage = whole ? (double)m->run.ns / (double)whole : 0,
		.intervals = m->run.stays,
		.from = index_time(s->from, f->offset),
		.to = index_time(stay_end(m->s, m->l, m->run.stay), f->offset),
		.thread = s->who ? f->thread_base + s->who : 0,
		.cpu = s->cpu,
		.reason = s->doing == OPENETW_DOING_WAITING ? s->detail : 0,
		.waker = s->doing == OPENETW_DOING_READY ? (enum openetw_waker)s->detail : OPENETW_WAKER_UNKNOWN,
	};
	m->stopped = !m->fn(m->context, &r);
	m->count = 0;
}

/* Some pixels during most of which this was done. */
static void add_pixels(struct lanes *m, uint32_t first, uint32_t count, enum openetw_doing doing, const struct part *p)
{
	bool same = m->count && m->first + m->count == first && m->doing == doing &&
		    (m->kind == OPENETW_LANES_THREADS || m->l->list[m->run.stay].who == m->l->list[p->stay].who);
	if (!same) {
		tell(m);
		m->first = first;
		m->count = count;
		m->doing = doing;
		m->run = *p;
		return;
	}
	/* A stay that went on from the last pixel into this one is one stay, and as long as both. */
	bool on = m->run.stay == p->stay;
	uint64_t longest = on ? m->run.longest + p->longest : p->longest;
	m->count += count;
	m->run.ns += p->ns;
	m->run.stays += p->stays - (m->run.ends == p->begins);
	m->run.ends = p->ends;
	if (longest > m->run.longest) {
		m->run.longest = longest;
		m->run.stay = p->stay;
	}
}

/* What was done most of the pixel's time. */
static void end_pixel(struct lanes *m)
{
	uint32_t most = 0;
	for (uint32_t i = 1; i < DOINGS; i++) {
		most = m->parts[i].ns > m->parts[most].ns ? i : most;
	}
	if (most) {
		add_pixels(m, m->pixel, 1, (enum openetw_doing)most, &m->parts[most]);
	}
	memset(m->parts, 0, sizeof m->parts);
}

/* A stay, or a part of it, within a pixel. */
static void add_within(struct lanes *m, uint32_t pixel, size_t stay, int64_t from, int64_t to)
{
	if (pixel != m->pixel) {
		end_pixel(m);
		m->pixel = pixel;
	}
	uint8_t doing = m->l->list[stay].doing;
	struct part *p = &m->parts[doing < DOINGS ? doing : 0];
	uint64_t ns = (uint64_t)to - (uint64_t)from;
	if (doing == OPENETW_DOING_UNKNOWN) {
		return; /* however long: the pixel tells what is known */
	}
	p->ns += ns;
	p->begins = p->stays++ ? p->begins : stay;
	p->ends = stay;
	if (ns > p->longest) {
		p->longest = ns;
		p->stay = stay;
	}
}

static void add_stay(struct lanes *m, size_t stay, int64_t from, int64_t to)
{
	uint32_t first = pixel_of(m, from), last = pixel_of(m, to - 1);
	enum openetw_doing doing = (enum openetw_doing)m->l->list[stay].doing;
	if (first == last) {
		add_within(m, first, stay, from, to);
		return;
	}
	add_within(m, first, stay, from, edge_of(m, first + 1));
	if (last - first > 1 && doing != OPENETW_DOING_UNKNOWN) {
		/* Whole pixels at once. */
		end_pixel(m);
		uint64_t ns = (uint64_t)edge_of(m, last) - (uint64_t)edge_of(m, first + 1);
		const struct part whole = {
			.ns = ns, .stays = 1, .longest = ns, .stay = stay, .begins = stay, .ends = stay};
		add_pixels(m, first + 1, last - first - 1, doing, &whole);
		m->pixel = last;
	}
	add_within(m, last, stay, edge_of(m, last), to);
}

static int one_lane(struct lanes *m)
{
	size_t i = stay_at(m->l, m->from);
	m->count = 0;
	m->pixel = 0;
	memset(m->parts, 0, sizeof m->parts);
	for (i = i == SIZE_MAX ? 0 : i; i < m->l->count && m->l->list[i].from < m->to && !m->stopped; i++) {
		int64_t from = BASE_MAX(m->l->list[i].from, m->from);
		int64_t to = BASE_MIN(stay_end(m->s, m->l, i), m->to);
		if (from < to) {
			add_stay(m, i, from, to);
		}
		if (i % CANCEL_EVERY == 0 && question_cancelled(m->q)) {
			return -ECANCELED;
		}
	}
	end_pixel(m);
	tell(m);
	return 0;
}

/* Which lane of which file an id is. */
static int find_lane(struct lanes *m, uint32_t id)
{
	const struct openetw_index *x = m->q->x;
	uint32_t local = id & 0xFFFF, file = id >> 16;
	if (m->kind == OPENETW_LANES_THREADS) {
		m->file = index_thread_of(x, id, &local);
	} else {
		m->file = file < x->file_count ? &x->files[file] : NULL;
	}
	int err = m->file ? stays_of(m->q, (uint32_t)(m->file - x->files), &m->s) : -ENOENT;
	if (err < 0) {
		return err;
	}
	if (m->kind == OPENETW_LANES_CPUS && local >= m->s->cpu_count) {
		return -ENOENT;
	}
	m->l = m->kind == OPENETW_LANES_THREADS ? &m->s->threads[local] : &m->s->cpus[local];
	return 0;
}

uint32_t openetw_query_lanes(struct openetw_query *q, enum openetw_lanes kind, const uint32_t *ids, uint32_t count,
			     int64_t from, int64_t to, uint32_t pixels, openetw_lane_fn fn, void *context,
			     struct openetw_answer *ret)
{
	if (kind > OPENETW_LANES_CPUS || !ids || count == 0 || count > IDS_MOST || from >= to || pixels == 0 ||
	    pixels > PIXELS_MOST || !fn || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	struct lanes m = {.q = q, .fn = fn, .context = context, .kind = kind, .pixels = pixels};
	int err = question_begin(q);
	for (uint32_t i = 0; i < count && err == 0 && !m.stopped; i++) {
		m.lane = i;
		err = find_lane(&m, ids[i]);
		if (err == 0) {
			m.from = index_time_of_file(from, m.file->offset);
			m.to = index_time_of_file(to, m.file->offset);
			err = m.from < m.to ? one_lane(&m) : 0;
		}
	}
	return question_end(q, err, ret);
}
