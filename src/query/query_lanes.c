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
#define SHORT_NS     (UINT64_MAX / PIXELS_MOST - 1) /* 78 hours */
#define CANCEL_EVERY 256u                           /* parts */

/* One doing of a pixel, or of a run. */
struct part {
	uint64_t ns, stays;
	uint64_t longest;      /* of one stay, as far as it is in the pixel */
	uint64_t stay;         /* which one that is */
	uint64_t begins, ends; /* the first and the last of them */
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
	struct stay_lane l;
	uint32_t pixel;                /* the one that is collected */
	int64_t pixel_from, pixel_end; /* its times, without those that are not asked for */
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
	if (pixel >= m->pixels) {
		return m->to;
	}
	if (length <= SHORT_NS) { /* a division of 64 bits takes a fraction of the time */
		return (int64_t)((uint64_t)m->from + (length * pixel + (m->pixels - 1)) / m->pixels);
	}
	unsigned __int128 product = (unsigned __int128)length * pixel + (m->pixels - 1);
	return (int64_t)((uint64_t)m->from + (uint64_t)(product / m->pixels));
}

static uint32_t pixel_of(const struct lanes *m, int64_t time)
{
	uint64_t length = (uint64_t)m->to - (uint64_t)m->from, at = (uint64_t)time - (uint64_t)m->from;
	return length <= SHORT_NS ? (uint32_t)(at * m->pixels / length)
				  : (uint32_t)((unsigned __int128)at * m->pixels / length);
}

static void tell(struct lanes *m)
{
	if (m->count == 0 || m->stopped) {
		m->count = 0;
		return;
	}
	const struct stay one = lane_stay(&m->l, m->run.stay), *s = &one;
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
		.to = index_time(lane_stay_end(&m->l, m->run.stay), f->offset),
		.thread = s->who ? f->thread_base + s->who : 0,
		.cpu = s->cpu,
		.reason = s->doing == OPENETW_DOING_WAITING ? s->detail : 0,
		.waker = s->doing == OPENETW_DOING_READY ? (enum openetw_waker)s->detail : OPENETW_WAKER_UNKNOWN,
	};
	m->stopped = !m->fn(m->context, &r);
	m->count = 0;
}

static uint32_t who_of(const struct lanes *m, uint64_t stay)
{
	return lane_stay(&m->l, stay).who;
}

/* Some pixels during most of which this was done. */
static void add_pixels(struct lanes *m, uint32_t first, uint32_t count, enum openetw_doing doing, const struct part *p)
{
	bool same = m->count && m->first + m->count == first && m->doing == doing &&
		    (m->kind == OPENETW_LANES_THREADS || who_of(m, m->run.stay) == who_of(m, p->stay));
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

static void begin_pixel(struct lanes *m, uint32_t pixel)
{
	m->pixel = pixel;
	m->pixel_from = edge_of(m, pixel);
	m->pixel_end = edge_of(m, pixel + 1);
}

/* Stays of one doing that lie in the pixel that is collected, behind those that it has. */
static void add_part(struct lanes *m, uint32_t doing, const struct part *more)
{
	struct part *p = &m->parts[doing];
	p->ns += more->ns;
	p->begins = p->stays ? p->begins : more->begins;
	p->stays += more->stays;
	p->ends = more->ends;
	if (more->longest > p->longest) {
		p->longest = more->longest;
		p->stay = more->stay;
	}
}

/* A stay, or a part of it, within a pixel. */
static void add_within(struct lanes *m, uint32_t pixel, uint64_t stay, uint32_t doing, int64_t from, int64_t to)
{
	if (pixel != m->pixel) {
		end_pixel(m);
		begin_pixel(m, pixel);
	}
	if (doing == OPENETW_DOING_UNKNOWN) {
		return; /* however long: the pixel tells what is known */
	}
	struct part *p = &m->parts[doing];
	uint64_t ns = (uint64_t)to - (uint64_t)from;
	p->ns += ns;
	p->begins = p->stays++ ? p->begins : stay;
	p->ends = stay;
	if (ns > p->longest) {
		p->longest = ns;
		p->stay = stay;
	}
}

static void add_stay(struct lanes *m, uint64_t stay, uint32_t doing, int64_t from, int64_t to)
{
	if (from >= m->pixel_from && to <= m->pixel_end) {
		add_within(m, m->pixel, stay, doing, from, to);
		return;
	}
	uint32_t first = pixel_of(m, from), last = pixel_of(m, to - 1);
	if (first == last) {
		add_within(m, first, stay, doing, from, to);
		return;
	}
	add_within(m, first, stay, doing, from, edge_of(m, first + 1));
	if (last - first > 1 && doing != OPENETW_DOING_UNKNOWN) {
		/* Whole pixels at once. */
		end_pixel(m);
		uint64_t ns = (uint64_t)edge_of(m, last) - (uint64_t)edge_of(m, first + 1);
		const struct part whole = {
			.ns = ns, .stays = 1, .longest = ns, .stay = stay, .begins = stay, .ends = stay};
		add_pixels(m, first + 1, last - first - 1, (enum openetw_doing)doing, &whole);
		begin_pixel(m, last);
	}
	add_within(m, last, stay, doing, edge_of(m, last), to);
}

static void add_clipped(struct lanes *m, uint64_t stay, uint32_t doing, int64_t from, int64_t to)
{
	from = BASE_MAX(from, m->from);
	to = BASE_MIN(to, m->to);
	if (from < to) {
		add_stay(m, stay, doing < DOINGS ? doing : OPENETW_DOING_UNKNOWN, from, to);
	}
}

/* All stays of a block but its last, when they lie in one pixel. Their sums are as good as they are. */
static bool add_block(struct lanes *m, uint64_t at, const struct store_lane_part *p, const uint64_t *stays,
		      const struct store_stay_block *b)
{
	const uint32_t last = STORE_BLOCK_STAYS - 1;
	int64_t from = lane_narrow_from(p, stays[0]), to = lane_narrow_from(p, stays[last]);
	if (from < m->from || to > m->to || from >= to) {
		return false;
	}
	if (from < m->pixel_from || to > m->pixel_end) {
		uint32_t first = pixel_of(m, from);
		if (first != pixel_of(m, to - 1)) {
			return false;
		}
		end_pixel(m);
		begin_pixel(m, first);
	}
	for (uint32_t i = 0; i < STORE_BLOCK_DOINGS; i++) {
		const struct store_stay_sum *s = &b->of[i];
		if (s->stays == 0 || s->longest >= last || s->first >= last || s->last >= last) {
			continue; /* there are none, or it is damaged */
		}
		uint32_t longest = (uint32_t)stays[s->longest + 1] - (uint32_t)stays[s->longest];
		add_part(m, i + 1,
			 &(struct part){.ns = s->ns,
					.stays = s->stays,
					.longest = longest,
					.stay = at + s->longest,
					.begins = at + s->first,
					.ends = at + s->last});
	}
	return true;
}

/* `end`: when the part's last stay ends. */
static void narrow_part(struct lanes *m, uint32_t part, uint32_t i, int64_t end)
{
	const struct store_lane_part *p = &m->l.parts[part];
	const uint8_t *bytes = m->l.s->bytes + p->at;
	const struct store_stay_block *blocks = (const struct store_stay_block *)(const void *)bytes;
	const uint64_t *stays = lane_narrow(p, bytes);
	uint64_t first = (uint64_t)part << 32;
	while (i < p->count) {
		int64_t from = lane_narrow_from(p, stays[i]);
		if (from >= m->to) {
			return;
		}
		if (i % STORE_BLOCK_STAYS == 0 && i / STORE_BLOCK_STAYS < lane_blocks(p) &&
		    add_block(m, first + i, p, stays + i, &blocks[i / STORE_BLOCK_STAYS])) {
			i += STORE_BLOCK_STAYS - 1;
			from = lane_narrow_from(p, stays[i]);
		}
		int64_t to = i + 1 < p->count ? lane_narrow_from(p, stays[i + 1]) : end;
		add_clipped(m, first + i, lane_narrow_doing(stays[i]), from, to);
		i++;
	}
}

static void wide_part(struct lanes *m, uint32_t part, uint32_t i)
{
	const struct store_lane_part *p = &m->l.parts[part];
	for (; i < p->count; i++) {
		uint64_t at = (uint64_t)part << 32 | i;
		struct stay s = lane_stay(&m->l, at);
		if (s.from >= m->to) {
			return;
		}
		add_clipped(m, at, s.doing, s.from, lane_stay_end(&m->l, at));
	}
}

static int one_lane(struct lanes *m)
{
	uint64_t at = lane_at(&m->l, m->from);
	m->count = 0;
	memset(m->parts, 0, sizeof m->parts);
	begin_pixel(m, 0);
	at = at == STAY_NOWHERE ? 0 : at;
	uint32_t i = (uint32_t)at;
	for (uint32_t part = (uint32_t)(at >> 32); part < m->l.part_count && !m->stopped; part++, i = 0) {
		const struct store_lane_part *p = &m->l.parts[part];
		if (p->from >= m->to) {
			break;
		}
		if (p->wide) {
			wide_part(m, part, i);
		} else {
			narrow_part(m, part, i, lane_stay_end(&m->l, (uint64_t)part << 32 | (p->count - 1)));
		}
		if (part % CANCEL_EVERY == 0 && question_cancelled(m->q)) {
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
	const struct stays *s;
	int err = m->file ? stays_of(m->q, (uint32_t)(m->file - x->files), &s) : -ENOENT;
	if (err < 0) {
		return err;
	}
	if (m->kind == OPENETW_LANES_CPUS && local >= s->cpu_count) {
		return -ENOENT;
	}
	m->l = m->kind == OPENETW_LANES_THREADS ? lane_of_thread(s, local) : lane_of_cpu(s, local);
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
