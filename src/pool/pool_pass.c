/* SPDX-License-Identifier: MIT
 *
 * One round over many processes: watermark, merge, commit.
 *
 * Each chunk is a sorted run, cut into pieces of equal cpu. On one cpu few threads interleave, so a
 * merge that copies from the piece with the smallest head until it passes the second smallest
 * ("galloping") is close to a concatenation.
 */
#include "pool/pool_view.h"
#include "base/order.h"
#include "base/vec.h"

#include <stdlib.h>

#define BLOCK_BYTES      (1u << 20)
#define BLOCKS_KEPT      16u
#define SLACK_PER_SECOND 1000000u /* 1 us: a store buffer drains faster */
#define HOLD_PER_SECOND  20u      /* 50 ms: the worst latency a process in flight can cause */

int pool_pass_create(struct pool_pass **ret_pass)
{
	struct pool_pass *p = (struct pool_pass *)calloc(1, sizeof *p);
	if (!p) {
		return -ENOMEM;
	}
	*ret_pass = p;
	return 0;
}

void pool_pass_destroy(struct pool_pass *p)
{
	if (!p) {
		return;
	}
	for (uint32_t i = 0; i < p->block_count; i++) {
		free(p->block[i].mem);
	}
	free(p->block);
	free(p->run);
	free(p->piece);
	free(p->view);
	free(p);
}

/* ---- private memory ------------------------------------------------------------------------- */

/* Blocks never move, because runs and pieces point into them. */
uint8_t *pool_pass_bytes(struct pool_pass *p, uint32_t bytes)
{
	for (; p->block_current < p->block_count; p->block_current++) {
		struct pass_block *b = &p->block[p->block_current];
		if (b->size - b->used >= bytes) {
			b->used += bytes;
			return b->mem + b->used - bytes;
		}
	}
	if (!VEC_ROOM(p->block, p->block_count, p->block_cap)) {
		return NULL;
	}
	uint32_t size = BASE_MAX(BLOCK_BYTES, bytes);
	uint8_t *mem = (uint8_t *)malloc(size + POOL_READ_AHEAD);
	if (!mem) {
		return NULL;
	}
	p->block[p->block_count++] = (struct pass_block){.mem = mem, .size = size, .used = bytes};
	return mem;
}

struct pass_run *pool_pass_run(struct pool_pass *p)
{
	if (!VEC_ROOM(p->run, p->run_count, p->run_cap)) {
		return NULL;
	}
	return &p->run[p->run_count++];
}

struct pass_piece *pool_pass_piece(struct pool_pass *p)
{
	if (!VEC_ROOM(p->piece, p->piece_count, p->piece_cap)) {
		return NULL;
	}
	return &p->piece[p->piece_count++];
}

/* ---- begin, collect ------------------------------------------------------------------------- */

void pool_pass_begin(struct pool_pass *p, uint64_t now, uint64_t clock_freq, uint32_t flags)
{
	while (p->block_count > BLOCKS_KEPT) {
		free(p->block[--p->block_count].mem);
	}
	for (uint32_t i = 0; i < p->block_count; i++) {
		p->block[i].used = 0;
	}
	p->block_current = 0;
	p->run_count = 0;
	p->piece_count = 0;
	p->view_count = 0;
	p->again = false;
	p->now = now;
	p->freq = clock_freq;
	p->flags = flags;
	p->slack = BASE_MIN(now, clock_freq / SLACK_PER_SECOND);
	uint64_t hold = clock_freq / HOLD_PER_SECOND;
	p->oldest = now > hold ? now - hold : 0;
	p->lowered = now - p->slack;
	p->watermark = 0;
}

int pool_pass_collect(struct pool_pass *p, struct pool_view *v, uint32_t flags, uint64_t budget_bytes)
{
	if (!VEC_ROOM(p->view, p->view_count, p->view_cap)) {
		return -ENOMEM;
	}
	p->view[p->view_count++] = v;
	return pool_view_collect(v, p, p->flags | flags, budget_bytes);
}

/* ---- watermark ------------------------------------------------------------------------------ */

static void cut_piece(struct pool_pass *p, struct pass_piece *piece)
{
	struct pass_run *run = &p->run[piece->run];
	const struct pool_view *v = run->view;
	uint64_t limit = v->impatient ? v->own_limit : p->watermark;
	limit = BASE_MIN(limit, v->watermark);
	if (BASE_LIKELY(piece->last_ts <= limit)) {
		return;
	}
	uint8_t *at = piece->at;
	uint64_t last = 0;
	while (at < piece->end) {
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
		if (rec->ts > limit) {
			break;
		}
		last = rec->ts;
		at += rec->size8 * 8u;
	}
	/* A chunk is sorted, so what stays is a suffix of the run. */
	run->held = BASE_MIN(run->held, (uint32_t)(at - run->data));
	piece->end = at;
	piece->last_ts = last;
}

static void cut_all(struct pool_pass *p)
{
	bool flush = (p->flags & (POOL_PASS_FLUSH | POOL_PASS_FINAL)) != 0;
	p->watermark = flush ? p->now : BASE_MAX(p->lowered, p->oldest);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < p->piece_count; i++) {
		cut_piece(p, &p->piece[i]);
		if (p->piece[i].at < p->piece[i].end) {
			p->run[p->piece[i].run].last_ts = p->piece[i].last_ts;
			p->piece[kept++] = p->piece[i];
		}
	}
	p->piece_count = kept;
}

/* ---- merge ---------------------------------------------------------------------------------- */

/* Equal ticks: the order in which the pieces were cut, which is chunk order within one chunk. */
static inline bool piece_before(const struct pass_piece *a, const struct pass_piece *b)
{
	return a->head_ts != b->head_ts ? a->head_ts < b->head_ts : a->seq < b->seq;
}

static int piece_compare(const void *x, const void *y)
{
	const struct pass_piece *a = (const struct pass_piece *)x, *b = (const struct pass_piece *)y;
	if (a->cpu != b->cpu) {
		return a->cpu < b->cpu ? -1 : 1;
	}
	return piece_before(a, b) ? -1 : piece_before(b, a);
}

static void sift_down(struct pass_piece *heap, uint32_t n)
{
	struct pass_piece moving = heap[0];
	uint32_t hole = 0;
	for (;;) {
		uint32_t child = hole * 2 + 1;
		if (child >= n) {
			break;
		}
		if (child + 1 < n && piece_before(&heap[child + 1], &heap[child])) {
			child++;
		}
		if (!piece_before(&heap[child], &moving)) {
			break;
		}
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = moving;
}

/* Emit from `piece` as long as it comes before `other` (NULL: to its end). */
static uint64_t gallop(struct pass_piece *piece, const struct pass_piece *other, void *cookie, pool_emit_run_fn emit,
		       void *ctx)
{
	const uint8_t *from = piece->at;
	if (!other || piece->last_ts < other->head_ts) {
		piece->at = piece->end;
		return emit(ctx, cookie, from, piece->end);
	}
	uint64_t limit = other->head_ts - (other->seq < piece->seq); /* head_ts > ours if so */
	uint8_t *at = piece->at;
	while (at < piece->end) {
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
		if (rec->ts > limit) {
			piece->head_ts = rec->ts;
			break;
		}
		at += rec->size8 * 8u;
	}
	piece->at = at;
	return emit(ctx, cookie, from, at);
}

static uint64_t merge_cpu(struct pool_pass *p, struct pass_piece *heap, uint32_t n, pool_emit_run_fn emit, void *ctx)
{
	uint64_t total = 0;
	while (n > 0) { /* sorted, hence already a heap */
		const struct pass_piece *other = n > 1 ? &heap[1] : NULL;
		if (n > 2 && piece_before(&heap[2], &heap[1])) {
			other = &heap[2];
		}
		struct pool_view *v = p->run[heap[0].run].view;
		uint64_t count = gallop(&heap[0], other, v->cookie, emit, ctx);
		v->stats.events += count;
		total += count;
		if (heap[0].at >= heap[0].end) {
			heap[0] = heap[--n];
		}
		if (n > 1) {
			sift_down(heap, n);
		}
	}
	return total;
}

uint64_t pool_pass_emit_runs(struct pool_pass *p, pool_emit_run_fn emit, void *ctx)
{
	cut_all(p);
	if (p->piece_count > 1) {
		qsort(p->piece, p->piece_count, sizeof *p->piece, piece_compare);
	}
	uint64_t total = 0;
	for (uint32_t i = 0, n; i < p->piece_count; i += n) {
		for (n = 1; i + n < p->piece_count && p->piece[i + n].cpu == p->piece[i].cpu; n++) {
		}
		total += merge_cpu(p, &p->piece[i], n, emit, ctx);
	}
	p->piece_count = 0;
	return total;
}

struct emit_each {
	pool_emit_fn emit;
	void *ctx;
};

static uint64_t emit_each(void *ctx, void *cookie, const uint8_t *at, const uint8_t *end)
{
	const struct emit_each *e = (const struct emit_each *)ctx;
	struct pool_event ev = {.cookie = cookie};
	uint64_t n = 0;
	for (; at < end; n++) {
		at = pool_event_read(at, &ev);
		e->emit(e->ctx, &ev);
	}
	return n;
}

uint64_t pool_pass_emit(struct pool_pass *p, pool_emit_fn emit, void *ctx)
{
	struct emit_each e = {emit, ctx};
	return pool_pass_emit_runs(p, emit_each, &e);
}

uint64_t pool_pass_watermark(const struct pool_pass *p)
{
	return p->watermark;
}

/* ---- commit --------------------------------------------------------------------------------- */

static void commit_run(struct pass_run *run)
{
	struct view_segment *s = run->view->segment[run->segment];
	struct view_chunk *c = &s->chunk[run->chunk];
	bool all = run->held == run->valid;
	c->consumed = run->from + run->held;
	c->last_ts = run->last_ts;
	if (all && run->bad) {
		run->view->stats.records_rejected++;
		run->view->stats.bytes_rejected += run->to - run->from - run->valid;
		c->consumed = run->to;
	}
	order_store_relaxed(&s->desc[run->chunk].cons_hint, view_hint(c->gen, c->consumed));
	uint64_t bits = view_chunk_bits(c, run->chunk);
	if (c->consumed != run->to) {
		return;
	}
	if (!run->closed) {
		s->idle |= bits;
		return;
	}
	c->live = false;
	order_store_relaxed(&s->desc[run->chunk].cons_hint, c->gen << POOL_HINT_SHIFT | POOL_HINT_FREEING);
	order_fence_compiler(); /* a killed process leaves a prefix of its program order */
	POOL_TESTPOINT("drain-before-free");
	order_or_release(&s->h->free_mask, bits); /* R: pairs with the cas-acquire in pool_writer.c */
	POOL_TESTPOINT("drain-after-free");
}

void pool_pass_commit(struct pool_pass *p)
{
	for (uint32_t i = 0; i < p->run_count; i++) {
		commit_run(&p->run[i]);
	}
	for (uint32_t i = 0; i < p->view_count; i++) {
		struct pool_view *v = p->view[i];
		if (v->segment_count != 0 && order_load_relaxed(&v->segment[0]->h->armed) != 1) {
			order_store_relaxed(&v->segment[0]->h->armed, 1u);
		}
	}
	order_fence_full(); /* B: against the writer's "close, fence, exchange armed" */
	for (uint32_t i = 0; i < p->view_count; i++) {
		p->again = p->again || pool_view_half_full(p->view[i]);
	}
	p->run_count = 0;
	p->view_count = 0;
}

bool pool_pass_again(const struct pool_pass *p)
{
	return p->again;
}
