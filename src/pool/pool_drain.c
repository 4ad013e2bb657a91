/* SPDX-License-Identifier: MIT
 *
 * Draining one process: copy, then validate the copy. Every byte of a segment may change while we
 * look at it, so each shared word is loaded once, bounds come from our own record of the mapping,
 * and what was written into the chunks is read through view_read() only, which copies.
 */
#include "pool/pool_view.h"
#include "base/order.h"

#include <stdlib.h>
#include <unistd.h>

#define KNOWN_FLAGS       (POOL_REC_ACTIVITY | POOL_REC_ITEMS | POOL_REC_STRING_ONLY | POOL_REC_INPRIVATE)
#define ITEM_HEADER_BYTES 8u

/* ---- views ---------------------------------------------------------------------------------- */

int pool_view_create(void *cookie, struct pool_view **ret_view)
{
	struct pool_view *v = (struct pool_view *)calloc(1, sizeof *v);
	if (!v) {
		return -ENOMEM;
	}
	v->cookie = cookie;
	v->created_ns = clock_read_system_ns();
	*ret_view = v;
	return 0;
}

void pool_view_destroy(struct pool_view *v)
{
	for (uint32_t i = 0; v && i < v->segment_count; i++) {
		free(v->segment[i]);
	}
	free(v);
}

int pool_view_add_segment(struct pool_view *v, void *mem, uint64_t bytes)
{
	struct seg_header *h = (struct seg_header *)mem;
	if (!mem || bytes < POOL_DATA_OFFSET || v->segment_count >= POOL_SEGMENTS_MAX) {
		return -EINVAL;
	}
	/* The header is ours, but the process can write there as well: it is read here, once, and
	 * believed as far as the mapping reaches. */
	uint32_t chunk_size = order_load_relaxed(&h->chunk_size);
	if (order_load_acquire(&h->magic) != POOL_SEG_MAGIC || chunk_size < POOL_CHUNK_MIN ||
	    chunk_size > POOL_CHUNK_MAX || chunk_size % POOL_CHUNK_MIN != 0 || bytes < pool_segment_bytes(chunk_size)) {
		return -EINVAL;
	}
	struct view_segment *s = (struct view_segment *)calloc(1, sizeof *s);
	if (!s) {
		return -ENOMEM;
	}
	v->segment[v->segment_count] = s;
	s->h = h;
	s->desc = (struct chunk_desc *)(void *)((uint8_t *)mem + POOL_DESC_OFFSET);
	s->theirs = (const uint8_t *)mem + POOL_DATA_OFFSET;
	s->theirs_bytes = bytes - POOL_DATA_OFFSET;
	s->chunk_size = chunk_size;
	v->segment_count++;
	return 0;
}

void pool_view_set_limits(struct pool_view *v, const struct pool_limits *limits)
{
	v->limits = *limits;
}

/* A chunk that shows as closed and consumed, and whose bit was about to be set when the last etwd
 * ended, may already be claimed again, though not yet opened. Nobody can tell, so that one is not
 * freed: at worst one chunk is missing until its process ends. */
void pool_view_adopt(struct pool_view *v)
{
	v->created_ns = 0;
	for (uint32_t i = 0; i < v->segment_count; i++) {
		struct view_segment *s = v->segment[i];
		for (uint32_t k = 0; k < POOL_CHUNKS; k++) {
			uint64_t word = order_load_acquire(&s->desc[k].word);
			uint32_t hint = order_load_relaxed(&s->desc[k].cons_hint);
			uint32_t gen = pool_word_gen(word), committed = pool_word_committed(word);
			struct view_chunk *c = &s->chunk[k];
			c->gen = gen;
			if (gen == 0 || (order_load_relaxed(&s->h->free_mask) >> k & 1) != 0) {
				continue;
			}
			uint32_t span = order_load_relaxed(&s->desc[k].span);
			c->span = (uint16_t)BASE_MIN(BASE_MAX(span, 1u), POOL_CHUNKS - k);
			committed = BASE_MIN(committed, c->span * s->chunk_size);
			c->consumed = BASE_MIN(pool_hint_bytes(hint, gen), committed & ~7u);
			if ((word & POOL_WORD_CLOSED) != 0 && c->consumed >= committed &&
			    hint == (gen << POOL_HINT_SHIFT | POOL_HINT_FREEING)) {
				continue;
			}
			c->live = true;
		}
	}
	if (v->segment_count > 0) {
		for (uint32_t bit = 0; bit < POOL_SESSION_BITS; bit++) {
			/* From here on: what no session has been told yet. */
			v->lost_base[bit] = order_load_relaxed(&v->segment[0]->h->lost_told[bit]);
		}
	}
}

void pool_view_set_bit_name(struct pool_view *v, uint32_t bit, uint64_t name)
{
	if (bit < POOL_SESSION_BITS && v->segment_count > 0) {
		order_store_relaxed(&v->segment[0]->h->bit_name[bit], name);
	}
}

uint64_t pool_view_bit_name(const struct pool_view *v, uint32_t bit)
{
	return bit < POOL_SESSION_BITS && v->segment_count > 0 ? order_load_relaxed(&v->segment[0]->h->bit_name[bit])
							       : 0;
}

/* ---- claims --------------------------------------------------------------------------------- */

#define LATE_NS 2000000000ull

/* More losses than one in 2 ns on every CPU are not possible. Asked only when something was lost:
 * libc reads a file to count the CPUs. */
static uint64_t lost_possible(uint64_t elapsed_ns)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n = cpus > 0 ? (uint64_t)cpus : 1;
	return elapsed_ns / 2 > UINT64_MAX / n ? UINT64_MAX : elapsed_ns / 2 * n;
}

uint64_t pool_view_take_lost(struct pool_view *v, uint32_t bit, uint64_t elapsed_ns)
{
	if (bit >= POOL_SESSION_BITS || v->segment_count == 0) {
		return 0;
	}
	uint64_t claim = order_load_relaxed(&v->segment[0]->h->lost[bit]);
	uint64_t base = v->lost_base[bit];
	if (claim == base) {
		return 0;
	}
	v->lost_base[bit] = claim;
	order_store_relaxed(&v->segment[0]->h->lost_told[bit], claim);
	if (claim < base) {
		v->lied = true;
		return 0; /* counters do not run backwards, liars do */
	}
	/* Whoever looks may have waited for a processor since they took the time. */
	uint64_t waited = elapsed_ns > UINT64_MAX - LATE_NS ? UINT64_MAX : elapsed_ns + LATE_NS;
	v->lied = v->lied || claim - base > lost_possible(waited);
	return BASE_MIN(claim - base, lost_possible(elapsed_ns));
}

bool pool_view_lied(const struct pool_view *v)
{
	return v->lied;
}

void pool_view_stats(const struct pool_view *v, struct pool_view_stats *ret)
{
	struct pool_view_stats s = v->stats;
	uint64_t any = 0;
	if (v->segment_count > 0) {
		for (uint32_t i = 0; i < BASE_ARRAY_LEN(s.lost_cause); i++) {
			s.lost_cause[i] = order_load_relaxed(&v->segment[0]->h->lost_cause[i]);
			any |= s.lost_cause[i];
		}
	}
	if (any != 0 && v->created_ns != 0) {
		uint64_t most = lost_possible(clock_read_system_ns() - v->created_ns);
		for (uint32_t i = 0; i < BASE_ARRAY_LEN(s.lost_cause); i++) {
			s.lost_cause[i] = BASE_MIN(s.lost_cause[i], most);
		}
	}
	*ret = s;
}

bool pool_view_half_full(const struct pool_view *v)
{
	uint32_t busy = 0;
	for (uint32_t i = 0; i < v->segment_count; i++) {
		const struct view_segment *s = v->segment[i];
		busy += (uint32_t)__builtin_popcountll(~order_load_relaxed(&s->h->free_mask) & ~s->idle);
	}
	return busy * 2 > v->segment_count * POOL_CHUNKS;
}

/* ---- validation ----------------------------------------------------------------------------- */

/* The on-disk chain: each item names its own size, all but the last say that another follows. */
static bool items_valid(const uint8_t *p, uint32_t left)
{
	while (left >= ITEM_HEADER_BYTES) {
		uint32_t size = le16_get(p), data = le16_get(p + 6);
		bool more = (le16_get(p + 4) & 1) != 0;
		if (size < ITEM_HEADER_BYTES || size > left || size % 8 != 0 || data + ITEM_HEADER_BYTES > size) {
			return false;
		}
		p += size;
		left -= size;
		if (more != (left != 0)) {
			return false;
		}
	}
	return left == 0;
}

/* Bytes of the record at `rec`, which has `left` bytes of private memory; 0 when it is none. */
static inline uint32_t rec_size(const struct pool_rec *rec, uint32_t left, uint32_t provider_count)
{
	static const uint8_t least_payload[8] = {
		[POOL_REC_CLASSIC] = 16,
		[POOL_REC_INSTANCE] = 40,
	};
	if (BASE_UNLIKELY(left < sizeof *rec)) {
		return 0;
	}
	uint32_t size = rec->size8 * 8u, flags = rec->flags, kind = rec->kind;
	uint32_t fixed = (uint32_t)sizeof *rec + (flags & POOL_REC_ACTIVITY) * 16u;
	uint32_t known = fixed + BASE_ALIGN8((uint32_t)rec->user_len);
	if (BASE_UNLIKELY(size > left || known > size || (flags & ~(uint32_t)KNOWN_FLAGS) != 0 ||
			  kind - 1u > POOL_REC_INSTANCE - 1u || rec->prov >= provider_count ||
			  rec->user_len < least_payload[kind & 7])) {
		return 0;
	}
	if (BASE_UNLIKELY((flags & POOL_REC_ITEMS) != 0)) {
		const uint8_t *items = (const uint8_t *)rec + fixed;
		return known < size && items_valid(items, size - known) ? size : 0;
	}
	return known == size ? size : 0;
}
_Static_assert(POOL_REC_ACTIVITY == 1, "rec_size multiplies by the flag");

/* Check the copy record by record, make its times plausible, and cut it into pieces of one cpu.
 * Sets run->valid and run->bad. -ENOMEM: what was cut so far is good, the rest waits. */
static int run_validate(struct pool_pass *p, uint32_t run_index, uint64_t last)
{
	struct pass_run *run = &p->run[run_index];
	struct pool_view *v = run->view;
	uint32_t provider_count = v->limits.provider_count;
	/* After the copy, so that every honest time is below. CPUs may differ by a little. */
	uint64_t scan = clock_now();
	uint64_t most = BASE_MAX(scan, p->now) + p->freq / 1000;
	uint8_t *at = run->data, *end = at + (run->to - run->from);
	struct pass_piece *piece = NULL;
	int cpu = -1;
	/* Most records look like the one before: kind, flags, registration and processor, the first
	 * word without the size, need to be checked only once. */
	uint64_t like = 0;
	uint32_t fixed = 1; /* no size matches */
	while (at < end) {
		struct pool_rec *rec = (struct pool_rec *)(void *)at;
		uint32_t left = (uint32_t)(end - at);
		if (BASE_LIKELY(left >= sizeof *rec)) {
			uint64_t size8 = le64_get(at) ^ like, ts = rec->ts;
			uint32_t size = (uint32_t)size8 * 8;
			if (BASE_LIKELY(size8 <= 0xFFFF && size <= left && ts >= last && ts <= most &&
					size == fixed + BASE_ALIGN8((uint32_t)rec->user_len))) {
				last = ts;
				at += size;
				continue;
			}
		}
		uint32_t size = rec_size(rec, left, provider_count);
		if (BASE_UNLIKELY(size == 0)) {
			run->bad = true;
			break;
		}
		uint64_t ts = rec->ts;
		if (BASE_UNLIKELY(ts < last || ts > most)) {
			/* From the future: as old as may be, so that it cannot be held back for
			 * ever and disturbs nobody else. */
			ts = ts < last ? last : BASE_MAX(last, p->oldest);
			rec->ts = ts;
			v->stats.times_clamped++;
		}
		if (BASE_UNLIKELY(rec->cpu != cpu)) {
			struct pass_piece *next = pool_pass_piece(p);
			if (!next) {
				break;
			}
			if (piece) { /* the array may have moved */
				next[-1].end = at;
				next[-1].last_ts = last;
			}
			piece = next;
			cpu = rec->cpu;
			*piece = (struct pass_piece){
				.at = at,
				.head_ts = ts,
				.run = run_index,
				.seq = p->piece_count,
				.cpu = rec->cpu,
			};
		}
		last = ts;
		at += size;
		bool plain = rec->kind == POOL_REC_EVENT && !(rec->flags & POOL_REC_ITEMS);
		like = le64_get((const uint8_t *)rec) & ~0xFFFFull;
		fixed = plain ? (uint32_t)sizeof *rec + (rec->flags & POOL_REC_ACTIVITY) * 16u : 1;
	}
	if (piece) {
		piece->end = at;
		piece->last_ts = last;
	}
	run->valid = (uint32_t)(at - run->data);
	run->held = run->valid;
	return at < end && !run->bad ? -ENOMEM : 0;
}

/* ---- one chunk ------------------------------------------------------------------------------ */

/* What a look at a chunk's descriptor tells. */
struct chunk_look {
	uint32_t from;
	uint32_t to;
	bool closed;
	bool in_flight;
};

/* False when there is nothing to know about this chunk yet. */
static bool chunk_look(struct pool_view *v, struct view_segment *s, uint32_t i, struct chunk_look *ret)
{
	struct view_chunk *c = &s->chunk[i];
	/* begun first: a record begun after this load has a time after this round's `now`. */
	uint64_t begun = order_load_acquire(&s->desc[i].begun);
	uint64_t word = order_load_acquire(&s->desc[i].word); /* pairs with P in pool_write.h */
	uint32_t gen = pool_word_gen(word), committed = pool_word_committed(word);
	if (!c->live && gen == c->gen) {
		return false; /* claimed, but not opened */
	}
	if (!c->live || gen != c->gen) {
		if (c->live) {
			v->stats.records_rejected++; /* only we may end a generation */
		}
		uint32_t span = order_load_relaxed(&s->desc[i].span);
		*c = (struct view_chunk){
			.gen = gen,
			.rest_ts = v->last_now,
			.span = (uint16_t)span,
			.live = true,
		};
		if (span == 0 || span > POOL_CHUNKS - i) {
			v->stats.records_rejected++;
			c->span = 1;
		}
	}
	uint32_t most = c->span * s->chunk_size;
	if (committed > most || committed % 8 != 0) {
		v->stats.records_rejected++;
		committed = BASE_MIN(committed, most) & ~7u;
	}
	if (committed < c->consumed) {
		v->stats.records_rejected++;
		committed = c->consumed;
	}
	ret->from = c->consumed;
	ret->to = committed;
	ret->closed = (word & POOL_WORD_CLOSED) != 0;
	ret->in_flight = !ret->closed && pool_word_committed(begun) > committed;
	return true;
}

/* The copy is the moment after which the process can change nothing. */
static int chunk_copy(struct pool_view *v, struct pool_pass *p, uint32_t seg, uint32_t i, const struct chunk_look *look)
{
	struct view_segment *s = v->segment[seg];
	struct pass_run *run = pool_pass_run(p);
	if (!run) {
		return -ENOMEM;
	}
	*run = (struct pass_run){
		.view = v,
		.from = look->from,
		.to = look->to,
		.last_ts = s->chunk[i].last_ts,
		.segment = (uint8_t)seg,
		.chunk = (uint8_t)i,
		.closed = look->closed,
	};
	if (look->from == look->to) {
		return 0;
	}
	run->data = pool_pass_bytes(p, look->to - look->from);
	if (!run->data) {
		p->run_count--;
		return -ENOMEM;
	}
	if (!view_read(s, i, look->from, look->to, run->data, look->to - look->from)) {
		p->run_count--;
		v->stats.records_rejected++;
		return 0;
	}
	POOL_TESTPOINT("drain-after-copy");
	return run_validate(p, p->run_count - 1, s->chunk[i].last_ts);
}

/* ---- one process ---------------------------------------------------------------------------- */

/* Time of the first record that waits in a chunk, as claimed: only used to choose an order. Too few
 * bytes for a record are no record: they come first, and are rejected. */
static uint64_t head_claimed(const struct view_segment *s, uint32_t i, const struct chunk_look *look)
{
	struct pool_rec rec;
	return view_read(s, i, look->from, look->to, &rec, sizeof rec) ? rec.ts : 0;
}

struct chunk_order {
	uint64_t head;
	uint32_t seg;
	uint32_t chunk;
	struct chunk_look look;
};

static int order_compare(const void *a, const void *b)
{
	uint64_t x = ((const struct chunk_order *)a)->head, y = ((const struct chunk_order *)b)->head;
	return x < y ? -1 : x > y;
}

/* Look at everything, then take the oldest chunks until the budget is used up. What is left lowers
 * the view's own watermark, so that no event of a thread overtakes an earlier one. */
static int collect_chunks(struct pool_view *v, struct pool_pass *p, uint32_t flags, uint64_t budget, bool hold)
{
	struct chunk_order order[POOL_SEGMENTS_MAX * POOL_CHUNKS];
	uint32_t n = 0;
	for (uint32_t seg = 0; seg < v->segment_count; seg++) {
		struct view_segment *s = v->segment[seg];
		uint64_t taken = ~order_load_acquire(&s->h->free_mask);
		if (seg == v->segment_count - 1) {
			v->stats.used_chunks = (uint32_t)__builtin_popcountll(taken);
			v->stats.total_chunks = POOL_CHUNKS;
		}
		s->idle = 0;
		for (uint64_t m = taken; m != 0;) {
			uint32_t i = (uint32_t)__builtin_ctzll(m);
			struct view_chunk *c = &s->chunk[i];
			struct chunk_look look;
			m &= m - 1;
			if (!chunk_look(v, s, i, &look)) {
				continue;
			}
			/* The other chunks of a run have no life of their own; skipping them
			 * also bounds the bytes a liar makes us copy. */
			m &= c->span >= POOL_CHUNKS - i ? 0 : UINT64_MAX << (i + c->span);
			if (!look.in_flight) {
				c->rest_ts = p->now;
			} else if (hold) {
				uint64_t rest = c->rest_ts > p->slack ? c->rest_ts - p->slack : 0;
				p->lowered = BASE_MIN(p->lowered, rest);
			}
			if (look.in_flight && (flags & POOL_PASS_FINAL) != 0 && !v->final_done) {
				v->stats.torn++;
			}
			if (look.from == look.to && !look.closed) {
				s->idle |= view_chunk_bits(c, i);
			} else {
				order[n++] = (struct chunk_order){.seg = seg, .chunk = i, .look = look};
			}
		}
	}
	if (budget != UINT64_MAX) {
		for (uint32_t k = 0; k < n; k++) {
			struct chunk_order *o = &order[k];
			o->head = head_claimed(v->segment[o->seg], o->chunk, &o->look);
		}
		qsort(order, n, sizeof order[0], order_compare);
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t bytes = order[k].look.to - order[k].look.from;
		int r = bytes != 0 && budget == 0 ? -EAGAIN
						  : chunk_copy(v, p, order[k].seg, order[k].chunk, &order[k].look);
		if (r == -EAGAIN) {
			v->watermark = BASE_MIN(v->watermark, order[k].head);
			return 0;
		}
		if (r < 0) {
			return r;
		}
		budget -= budget == UINT64_MAX ? 0 : BASE_MIN(budget, bytes);
	}
	return 0;
}

int pool_view_collect(struct pool_view *v, struct pool_pass *p, uint32_t flags, uint64_t budget_bytes)
{
	bool now = (flags & (POOL_PASS_FLUSH | POOL_PASS_FINAL)) != 0;
	bool hold = !now && !pool_view_half_full(v);
	/* What this view alone may emit; UINT64_MAX = as the others. A full pool does not wait for
	 * anybody, its own writers included. */
	v->watermark = UINT64_MAX;
	v->impatient = !hold;
	v->own_limit = (flags & POOL_PASS_FINAL) != 0   ? UINT64_MAX
		       : (flags & POOL_PASS_FLUSH) != 0 ? p->now
							: p->now - p->slack;
	int r = collect_chunks(v, p, flags, budget_bytes ? budget_bytes : UINT64_MAX, hold);
	v->stats.busy_chunks = 0;
	if (v->segment_count > 0) {
		const struct view_segment *s = v->segment[v->segment_count - 1];
		v->stats.busy_chunks = (uint32_t)__builtin_popcountll(~order_load_relaxed(&s->h->free_mask) & ~s->idle);
	}
	v->last_now = p->now;
	if ((flags & POOL_PASS_FINAL) != 0) {
		v->final_done = true;
	}
	return r;
}
