/* SPDX-License-Identifier: MIT
 *
 * The slow path of the writer: slots, chunks, losses, the bell. The fast path is pool_write.h.
 */
#include "pool/pool_write.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif
#endif

/* Overflow slots are tried this far apart, so that one preempted thread does not push its successor
 * beside the overflow slot of the next CPU. */
#define OVERFLOW_STRIDE 16u
/* A lock of our own is believed stale after so many calls that saw it so without any progress. */
#define STALE_DOUBTS 64u
/* So many locked slots of one thread are no nesting any more. */
#define MINE_MANY 16u
/* And so many of other threads on the way to a free one are more than the processors explain. */
#define OTHERS_MANY 32u
/* How often what finds no room looks for slots that were left behind. */
#define REFUSED_LOOK 16u
#define REFUSED_REAP 1024u
#define CLAIM_TRIES  1024

/* ---- create, attach ------------------------------------------------------------------------- */

static size_t writer_map_bytes(void)
{
	return (sizeof(struct pool_writer) + 4095) & ~(size_t)4095;
}

/* In place of struct rseq where there is none (an old libc, a tool that emulates the CPU): the CPU
 * as it was when this thread last needed a chunk. UINT32_MAX: not asked yet. */
static __thread struct {
	uint32_t cpu, slot;
} cached __attribute__((tls_model("initial-exec"))) = {UINT32_MAX, 0};

static void writer_refresh_cpu(const struct pool_writer *w)
{
	if (w->cpu_cached) {
		pool_thread_ready();
	}
}

bool pool_thread_ready(void)
{
#ifdef HAVE_RSEQ
	enum { RSEQ_CPU = 4 };
	if (__rseq_size != 0) {
		return pool_thread_u32((int64_t)__rseq_offset + RSEQ_CPU) < 0x10000u;
	}
#endif
	int cpu = sched_getcpu();
	cached.slot = cpu < 0 ? 0 : (uint32_t)cpu;
	cached.cpu = cached.slot & 0xFFFFu;
	return true;
}

static void writer_find_cpu(struct pool_writer *w)
{
	int64_t at = (int64_t)((uint64_t)(uintptr_t)&cached - pool_thread_pointer());
	w->rseq_cpu = at + (int64_t)offsetof(__typeof__(cached), cpu);
	w->rseq_slot = at + (int64_t)offsetof(__typeof__(cached), slot);
	w->cpu_cached = 1;
#ifdef HAVE_RSEQ
	enum { RSEQ_CPU_ID = 4, RSEQ_MM_CID = 24, RSEQ_MM_CID_END = 28, AUX_RSEQ_FEATURES = 27 };
	if (__rseq_size == 0) {
		return;
	}
	at = (int64_t)__rseq_offset;
	/* The kernel says which fields it keeps; the memory is there (32 bytes at least). */
	bool has_cid = getauxval(AUX_RSEQ_FEATURES) >= RSEQ_MM_CID_END;
	w->rseq_cpu = at + RSEQ_CPU_ID;
	w->rseq_slot = at + (has_cid ? RSEQ_MM_CID : RSEQ_CPU_ID);
	w->cpu_cached = 0;
#endif
}

struct pool_writer *pool_writer_create(void)
{
	void *mem = mmap(NULL, writer_map_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED) {
		return NULL;
	}
	/* Without it a forked child would go on writing into its parent's chunks. */
	if (madvise(mem, writer_map_bytes(), MADV_WIPEONFORK) != 0) {
		munmap(mem, writer_map_bytes());
		return NULL;
	}
	struct pool_writer *w = (struct pool_writer *)mem;
	pool_writer_init(w);
	return w;
}

void pool_writer_init(struct pool_writer *w)
{
	w->clock_kind = clock_kind();
	writer_find_cpu(w);
}

void pool_writer_destroy(struct pool_writer *w)
{
	if (w) {
		munmap(w, writer_map_bytes());
	}
}

static int add_segment(struct pool_writer *w, void *mem, uint64_t bytes, uint32_t chunk_size, bool look)
{
	uint32_t n = w->segment_count;
	if (n >= POOL_SEGMENTS_MAX || !mem || chunk_size < POOL_CHUNK_MIN || chunk_size > POOL_CHUNK_MAX ||
	    chunk_size % POOL_CHUNK_MIN != 0 || bytes < pool_segment_bytes(chunk_size)) {
		return -EINVAL;
	}
	const struct seg_header *h = (const struct seg_header *)mem;
	/* A fresh one is not looked at: that alone would cost a quiet process a page. Its header is
	 * not used for anything but what etwd and we agree to change in it. */
	uint32_t magic = !look ? 0 : order_load_acquire(&h->magic);
	if (magic != 0 && (magic != POOL_SEG_MAGIC || h->abi_major != POOL_ABI_MAJOR || h->chunk_size != chunk_size ||
			   h->chunk_count != POOL_CHUNKS)) {
		return -EINVAL;
	}
	w->segment[n] = (struct seg_header *)mem;
	w->segment_bytes[n] = bytes;
	order_store_relaxed(&w->chunk_size[n], chunk_size);
	order_store_release(&w->segment_count, n + 1); /* S: pairs with the acquire in claim */
	if (n == 0) {
		bool quick = w->clock_kind == CLOCK_KIND_TSC;
		order_store_release(&w->alive, quick ? POOL_ALIVE_QUICK : POOL_ALIVE);
	}
	return 0;
}

int pool_writer_add_segment(struct pool_writer *w, void *mem, uint64_t bytes, uint32_t chunk_size)
{
	return add_segment(w, mem, bytes, chunk_size, true);
}

int pool_writer_add_fresh(struct pool_writer *w, void *mem, uint64_t bytes, uint32_t chunk_size)
{
	return add_segment(w, mem, bytes, chunk_size, false);
}

struct seg_header *pool_writer_segment(const struct pool_writer *w, uint32_t i)
{
	uint32_t n = order_load_acquire(&w->segment_count); /* pairs with S */
	return i < n && i < POOL_SEGMENTS_MAX ? order_load_relaxed(&w->segment[i]) : NULL;
}

/* ---- losses --------------------------------------------------------------------------------- */

void pool_count_lost(struct pool_writer *w, uint64_t mask, enum pool_lost_cause cause)
{
	struct seg_header *h = pool_writer_segment(w, 0);
	if (!h) {
		order_add_relaxed(&w->lost_detached, 1u);
		return;
	}
	for (uint64_t m = mask; m != 0; m &= m - 1) {
		order_add_relaxed(&h->lost[__builtin_ctzll(m)], 1u);
	}
	order_add_relaxed(&h->lost_cause[cause & 7], 1u);
}

__attribute__((cold)) int pool_write_refuse(struct pool_writer *w, uint64_t mask, enum pool_lost_cause cause)
{
	pool_count_lost(w, mask, cause);
	switch (cause) {
	case POOL_LOST_TOO_BIG: return -EMSGSIZE;
	case POOL_LOST_NESTING: return -EDEADLK;
	case POOL_LOST_FULL: return -ENOSPC;
	default: return -ENOTCONN;
	}
}

__attribute__((cold)) int pool_write_no_room(struct pool_writer *w, uint64_t mask)
{
	const struct seg_header *h = pool_writer_segment(w, 0);
	/* A segment that etwd has not made ready: nothing can be claimed, but it is not full. */
	bool ready = h && order_load_relaxed(&h->magic) != 0;
	return pool_write_refuse(w, mask, ready ? POOL_LOST_FULL : POOL_LOST_DETACHED);
}

/* ---- bell ----------------------------------------------------------------------------------- */

/* The raw system call: libc's wrapper would change errno. */
static void futex_wake(uint32_t *word)
{
	int saved = errno;
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}

void pool_writer_wake(struct pool_writer *w)
{
	order_add_full(&w->bell, 1u);
	futex_wake(&w->bell);
}

void pool_writer_ring(struct pool_writer *w)
{
	struct seg_header *h = pool_writer_segment(w, 0);
	if (!h || (order_load_relaxed(&w->bell_allowed) & POOL_CTL_BELL_ALLOWED) == 0) {
		return;
	}
	uint32_t *armed = &h->armed;
	/* B: what we published or closed before, against etwd's "arm, fence, look again" */
	order_fence_full();
	if (order_load_relaxed(armed) == 0 || order_exchange_full(armed, 0u) == 0) {
		return;
	}
	POOL_TESTPOINT("writer-before-bell");
	pool_writer_wake(w);
}

/* The builtin is a call where the CPU is not chosen at build time. */
static uint32_t bits_set(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
	return (uint32_t)(((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull >> 56);
}

static bool writer_half_full(const struct pool_writer *w)
{
	uint32_t free = 0, total = 0;
	const struct seg_header *h;
	for (uint32_t i = 0; (h = pool_writer_segment(w, i)) != NULL; i++) {
		free += bits_set(order_load_relaxed(&h->free_mask));
		total += POOL_CHUNKS;
	}
	return free * 2 < total;
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* Bits where `need` contiguous free chunks begin. */
static uint64_t runs_of(uint64_t free, uint32_t need)
{
	uint64_t m = free;
	for (uint32_t have = 1; have < need && m != 0;) {
		uint32_t step = BASE_MIN(have, need - have);
		m &= m >> step;
		have += step;
	}
	return m;
}

static struct chunk_desc *desc_of(struct seg_header *h, uint32_t chunk)
{
	return (struct chunk_desc *)(void *)((uint8_t *)h + POOL_DESC_OFFSET) + chunk;
}

/* Lowest first: the same few chunks are reused and stay in the cache. The slot says what it is about to claim,
 * before it does. */
static int claim(struct seg_header *h, struct pool_slot *s, uint32_t seg, uint32_t need, uint32_t *ret_first)
{
	if (need > POOL_CHUNKS) {
		return -ENOSPC;
	}
	uint64_t free = order_load_relaxed(&h->free_mask);
	for (int tries = 0; tries < CLAIM_TRIES; tries++) {
		uint64_t m = runs_of(free, need);
		if (m == 0) {
			return -ENOSPC;
		}
		uint32_t first = (uint32_t)__builtin_ctzll(m);
		uint64_t bits = (need == 64 ? UINT64_MAX : (1ull << need) - 1) << first;
		uint32_t gen = pool_word_gen(order_load_relaxed(&desc_of(h, first)->word));
		order_store_relaxed(&s->chunk, pool_claim_note(seg, first, need, gen));
		order_fence_full(); /* N: pairs with the fence in pool_reclaim.c */
		POOL_TESTPOINT("writer-before-claim");
		/* R: pairs with the or-release in pool_pass.c: etwd has copied what was here */
		if (order_cas_acquire(&h->free_mask, &free, free & ~bits)) {
			*ret_first = first;
			return 0;
		}
	}
	return -ENOSPC;
}

/* `at` says whether the rest means anything, also to one who takes over a stale lock. */
void pool_slot_clear(struct pool_slot *s)
{
	order_store_relaxed(&s->at, NULL);
	order_fence_compiler();
	s->limit = NULL;
	order_store_relaxed(&s->chunk, POOL_CHUNK_NONE);
	order_fence_compiler();
}

struct claimed {
	struct seg_header *h;
	uint32_t seg;
	uint32_t chunk_size;
	uint32_t first;
	uint32_t span;
};

static int claim_newest(struct pool_writer *w, struct pool_slot *s, uint32_t size, struct claimed *ret)
{
	struct claimed c;
	for (c.seg = POOL_SEGMENTS_MAX; c.seg-- > 0;) { /* the newest has the largest chunks */
		c.h = pool_writer_segment(w, c.seg);
		c.chunk_size = order_load_relaxed(&w->chunk_size[c.seg]);
		if (!c.h || c.chunk_size == 0) {
			continue;
		}
		c.span = (size + c.chunk_size - 1) / c.chunk_size;
		if (claim(c.h, s, c.seg, c.span, &c.first) == 0) {
			*ret = c;
			return 0;
		}
	}
	return -ENOSPC;
}

static void slot_open(struct pool_slot *s, const struct claimed *c)
{
	struct chunk_desc *desc = desc_of(c->h, c->first);
	uint32_t gen = (pool_word_gen(order_load_relaxed(&desc->word)) + 1) & 0x7fffffffu;
	order_store_relaxed(&desc->begun, 0u);
	order_store_relaxed(&desc->span, c->span);
	order_store_release(&desc->word, pool_word(gen, 0)); /* G */
	POOL_TESTPOINT("writer-after-generation");
	uint8_t *base = (uint8_t *)c->h + POOL_DATA_OFFSET + (uint64_t)c->first * c->chunk_size;
	for (uint32_t i = 0; i < POOL_PREFETCH_BYTES + 64; i += 64) {
		pool_prefetch_write(base + i);
	}
	s->desc = desc;
	s->gen = gen;
	s->bias = ((uint64_t)gen << 33) - (uintptr_t)base;
	s->limit = base + (uint64_t)c->span * c->chunk_size;
	order_fence_compiler();
	order_store_relaxed(&s->at, base);
	order_store_release(&s->chunk, c->seg << 8 | c->first); /* the claim is over */
}

static void note_used(struct pool_writer *w, const struct pool_slot *s)
{
	uint32_t index = (uint32_t)(s - w->slot);
	uint64_t bit = 1ull << (index % 64);
	if ((order_load_relaxed(&w->used[index / 64]) & bit) == 0) {
		order_or_relaxed(&w->used[index / 64], bit);
	}
}

int pool_switch_chunk(struct pool_writer *w, struct pool_slot *s, uint32_t size)
{
	struct claimed c;
	uint32_t old_chunk = s->chunk;
	note_used(w, s);
	if (claim_newest(w, s, size, &c) != 0) {
		order_store_relaxed(&s->chunk, old_chunk);
		pool_writer_ring(w);
		return -ENOSPC;
	}
	POOL_TESTPOINT("writer-after-claim");
	/* Only now: a chunk that is not replaced keeps serving events that still fit. Closed first and forgotten
	 * then: who finds the slot in between sees in the word that it is over. */
	if (s->at) {
		uint64_t word = ((uintptr_t)s->at + s->bias) | POOL_WORD_CLOSED;
		order_note_gives(&pool_writer_segment(w, old_chunk >> 8)->free_mask); /* etwd frees it */
		order_store_release(&s->desc->word, word);                            /* P, for the last time */
		POOL_TESTPOINT("writer-after-close");
	}
	order_store_relaxed(&s->at, NULL);
	order_fence_compiler();
	s->limit = NULL;
	order_fence_compiler();
	slot_open(s, &c);
	if (writer_half_full(w)) {
		pool_writer_ring(w);
	}
	return 0;
}

/* ---- slots ---------------------------------------------------------------------------------- */

static bool slot_try(struct pool_writer *w, struct pool_slot *s, uint32_t me, uint64_t frame, uint32_t *inout_mine,
		     uint32_t *inout_others)
{
	uint32_t seen = order_load_relaxed(&s->lock);
	if (seen == 0 && order_cas_acquire(&s->lock, &seen, me)) {
		order_store_relaxed(&s->frame, frame);
		return true;
	}
	if (seen != me) {
		++*inout_others;
		return false;
	}
	++*inout_mine;
	if (!pool_slot_is_stale(s, frame, STALE_DOUBTS)) {
		return false;
	}
	order_store_relaxed(&s->frame, frame); /* first, so that a handler coming now sees a live holder */
	order_fence_compiler();
	return pool_slot_repair(w, s, me, frame);
}

static struct pool_slot *slot_search(struct pool_writer *w, uint32_t index, uint32_t me, uint64_t frame,
				     uint32_t *ret_mine)
{
	uint32_t mine = 0, others = 0;
	struct pool_slot *found = slot_try(w, &w->slot[index], me, frame, &mine, &others) ? &w->slot[index] : NULL;
	for (uint32_t k = 0; !found && k < POOL_SLOTS; k++) {
		uint32_t i = (index + k * OVERFLOW_STRIDE + k / (POOL_SLOTS / OVERFLOW_STRIDE)) % POOL_SLOTS;
		struct pool_slot *s = &w->slot[POOL_SLOTS + i];
		found = slot_try(w, s, me, frame, &mine, &others) ? s : NULL;
	}
	if (mine >= MINE_MANY / 4) {
		order_store_relaxed(&w->crowded, 1u);
	}
	if (others >= OTHERS_MANY) {
		pool_want_reap(w);
	}
	*ret_mine = mine;
	return found;
}

/* Nothing was found: now and then somebody looks whether that is because of writes that never returned. */
static bool look_for_abandoned(struct pool_writer *w, uint32_t me, uint64_t frame, const struct pool_slot *keep)
{
	uint32_t n = order_add_relaxed(&w->refused, 1u);
	if (n % REFUSED_REAP == REFUSED_REAP - 1) {
		pool_writer_reap_dead(w);
	}
	bool look = n % REFUSED_LOOK == REFUSED_LOOK - 1;
	if (look) {
		pool_want_reap(w);
	}
	look = look || !keep || order_exchange_full(&w->crowded, 0u) != 0;
	return look && pool_reclaim_mine(w, me, frame, keep, !keep) > 0;
}

__attribute__((cold)) struct pool_slot *pool_slot_take(struct pool_writer *w, uint32_t index, uint32_t me,
						       uint64_t frame)
{
	uint32_t mine;
	struct pool_slot *s = slot_search(w, index, me, frame, &mine);
	if (!s && look_for_abandoned(w, me, frame, NULL)) {
		s = slot_search(w, index, me, frame, &mine);
	}
	if (s && mine >= MINE_MANY) {
		pool_reclaim_mine(w, me, frame, s, false);
	}
	return s;
}

/* A guess, repeated under the lock. Kept from the thread sanitizer's eyes: whoever holds the slot
 * writes both plainly, because that is the hot path. */
static __attribute__((noinline, no_sanitize("thread"))) bool slot_may_have(const volatile struct pool_slot *s,
									   uint32_t size)
{
	const uint8_t *limit = s->limit, *at = s->at;
	return at && limit - at >= (int64_t)size;
}

/* Any unlocked slot whose chunk still has room. The room is looked at before the lock is taken (a
 * guess) and again after. */
static struct pool_slot *slot_borrow(struct pool_writer *w, uint32_t size, uint32_t me, uint64_t frame)
{
	for (uint32_t word = 0; word < BASE_ARRAY_LEN(w->used); word++) {
		uint64_t m = order_load_relaxed(&w->used[word]);
		for (; m != 0; m &= m - 1) {
			struct pool_slot *s = &w->slot[word * 64 + (uint32_t)__builtin_ctzll(m)];
			uint32_t seen = 0;
			if (order_load_relaxed(&s->lock) != 0 || !slot_may_have(s, size) ||
			    !order_cas_acquire(&s->lock, &seen, me)) {
				continue;
			}
			order_store_relaxed(&s->frame, frame);
			if (s->at && s->limit - s->at >= (int64_t)size) {
				return s;
			}
			order_store_release(&s->lock, 0u); /* U */
		}
	}
	return NULL;
}

__attribute__((cold)) struct pool_slot *pool_slot_make_room(struct pool_writer *w, struct pool_slot *s, uint32_t size)
{
	if (pool_switch_chunk(w, s, size) == 0) {
		return s;
	}
	uint32_t me = order_load_relaxed(&s->lock);
	struct pool_slot *other = slot_borrow(w, size, me, s->frame);
	if (!other && me != 0 && look_for_abandoned(w, me, s->frame, s)) {
		other = slot_borrow(w, size, me, s->frame);
	}
	order_store_release(&s->lock, 0u); /* U */
	return other;
}

void pool_writer_prepare(struct pool_writer *w, uint32_t tid, uint32_t size)
{
	writer_refresh_cpu(w);
	uint32_t cpu, seen = 0, me = tid;
	struct pool_slot *s = &w->slot[pool_place(w, tid, &cpu)];
	if (order_load_relaxed(&w->alive) == 0 || !order_cas_acquire(&s->lock, &seen, me)) { /* L */
		return;
	}
	order_store_relaxed(&s->frame, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	order_fence_compiler();
	int64_t room = s->limit - s->at;
	order_fence_compiler();
	/* A forked child has nothing to prepare. */
	if (order_load_relaxed(&s->lock) != me) {
		return;
	}
	if (room < (int64_t)size) {
		pool_switch_chunk(w, s, size);
	}
	order_fence_compiler();
	if (order_load_relaxed(&s->lock) == me) {
		order_store_release(&s->lock, 0u); /* U */
	}
}

int pool_write_slow(struct pool_writer *w, const struct pool_write_args *a)
{
	return pool_write(w, a);
}
