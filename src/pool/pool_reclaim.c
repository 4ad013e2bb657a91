/* SPDX-License-Identifier: MIT
 *
 * Writes that never return: a fault in the payload whose handler jumps out, a timer that jumps out of anything, a
 * thread that is cancelled in the middle. Each leaves a locked slot behind, the chunk that the slot had open, and
 * with bad luck one that it was just claiming. All of it comes back here; the record itself was never published.
 *
 * Who finds what:
 *
 *   the thread itself    a slot locked in its name, when it writes again from as high up its stack as that write or
 *                        from higher: the write cannot be running below. A handler on another stack asks the system.
 *                        Deeper in the stack nobody can tell; when there is no slot left at all, many looks decide
 *   a thread of ours     (reap) slots of threads that are gone; and of those that sleep, so high up their stack that
 *                        the write is not below. A process whose slots run out wakes it
 *
 * A claim is noted in the slot before it is made (N), so that it can be found: either the chunk is still free; or
 * it has another generation by now, and if nobody refers to it, it is open and lost; or nobody has opened it, and
 * when no living writer is about to, then the claim was this one.
 *
 * To be wrong here would be bad, but not very: a write that was thought dead and goes on finds its lock gone
 * before it publishes. It can spoil the bytes of one record of its own process, which etwd checks.
 */
#include "pool/pool_write.h"
#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

/* A write is on the same stack within this distance. */
#define STALE_DISTANCE (1u << 20)
/* Two calls from the same place differ by so much, since one notes its stack pointer and the other its frame. A
 * handler's frame lies much further below what it interrupted. */
#define FRAME_SLACK 16u
/* pool_slot.doubt: a picture of the slot, and how often a write of the same thread saw it so. */
#define DOUBT_BITS 12u
#define DOUBT_MOST ((1u << DOUBT_BITS) - 1)
/* Of slots that the position says are stale, when there are many; and of others, when there is no other. */
#define DOUBTS_FEW  4u
#define DOUBTS_MANY 256u
/* How long a living thread's slot stays as it is before the thread is looked at, and before a thread that
 * sleeps anywhere is given up, when that many slots are locked. */
#define LOOK_MS     100u
#define GIVE_UP_MS  10000u
#define GIVE_UP_AT  64u
#define CLAIM_TRIES 100
#define ROOM_WORTH  1024
#define WAKE_EVERY  16u

#define NO_TSAN __attribute__((noinline, no_sanitize("thread")))

struct slot_set {
	uint64_t bits[POOL_SLOTS_TOTAL / 64];
};

static void set_add(struct slot_set *s, uint32_t i)
{
	s->bits[i / 64] |= 1ull << (i % 64);
}

static bool set_has(const struct slot_set *s, uint32_t i)
{
	return s->bits[i / 64] >> (i % 64) & 1;
}

/* ---- what a holder that is gone has left -------------------------------------------------------- */

/* Is some writer that lives about to claim a chunk, or to open one that it has claimed? Kept from the thread
 * sanitizer's eyes, as the next one: holders write their slots plainly. */
static NO_TSAN bool someone_claims(const struct pool_writer *w, const struct slot_set *gone)
{
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		const struct pool_slot *s = &w->slot[i];
		if (pool_is_claim(order_load_acquire(&s->chunk)) && order_load_relaxed(&s->lock) != 0 &&
		    !set_has(gone, i)) {
			return true;
		}
	}
	return false;
}

/* Is it some slot's? One that was left in the middle of a change may still name what it had before. */
static NO_TSAN bool someone_has(const struct pool_writer *w, const struct chunk_desc *desc, uint32_t gen)
{
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		const struct pool_slot *s = &w->slot[i];
		if (order_load_relaxed(&s->at) != NULL && order_load_relaxed(&s->desc) == desc &&
		    order_load_relaxed(&s->gen) == gen) {
			return true;
		}
	}
	return false;
}

bool pool_thread_is_dead(uint32_t tid)
{
	int saved = errno;
	bool dead = syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
	errno = saved;
	return dead;
}

/* One thread at a time, or two would undo the same claim. One that never came back from here does not count. */
static bool begin_settling(struct pool_writer *w, uint32_t me)
{
	uint32_t seen = 0;
	return order_cas_acquire(&w->settling, &seen, me) || seen == me ||
	       (pool_thread_is_dead(seen) && order_cas_acquire(&w->settling, &seen, me));
}

/* What the claim in the slot came to. False: not to be told while others claim. */
static bool find_claim(struct pool_writer *w, const struct pool_slot *s, const struct slot_set *gone)
{
	uint32_t note = s->chunk, first = note >> 8 & 63, span = BASE_MIN(note & 127, POOL_CHUNKS - first);
	struct seg_header *h = pool_writer_segment(w, note >> 14 & 3);
	if (!h || span == 0) {
		return true;
	}
	uint64_t bits = (span == 64 ? UINT64_MAX : (1ull << span) - 1) << first;
	struct chunk_desc *desc = (struct chunk_desc *)(void *)((uint8_t *)h + POOL_DESC_OFFSET) + first;
	if ((order_load_acquire(&h->free_mask) & bits) != 0) {
		return true; /* not made, or undone already */
	}
	uint64_t word = order_load_acquire(&desc->word);
	order_fence_full(); /* N: whoever took the bits before us has noted it where we look now */
	if (someone_claims(w, gone)) {
		return false;
	}
	bool had = someone_has(w, desc, pool_word_gen(word));
	order_fence_full();
	if (order_load_acquire(&desc->word) != word) {
		return true;
	}
	bool open = word != 0 && (word & POOL_WORD_CLOSED) == 0;
	uint32_t gen = pool_word_gen(word) & POOL_CLAIM_GENS, noted = note >> 16 & POOL_CLAIM_GENS;
	if (gen == noted && !open) {
		order_or_release(&h->free_mask, bits); /* claimed, and never opened */
	} else if (gen == ((noted + 1) & POOL_CLAIM_GENS) && open && !had) {
		order_cas_full(&desc->word, &word, word | POOL_WORD_CLOSED); /* opened, and never used */
	}
	return true;
}

static bool settle_claim(struct pool_writer *w, const struct pool_slot *s, uint32_t me, const struct slot_set *gone)
{
	if (!begin_settling(w, me)) {
		return false;
	}
	bool done = find_claim(w, s, gone);
	order_store_release(&w->settling, 0u);
	return done;
}

static uint32_t chunk_number(const struct pool_writer *w, const struct pool_slot *s)
{
	for (uint32_t seg = 0; seg < POOL_SEGMENTS_MAX; seg++) {
		const uint8_t *h = (const uint8_t *)pool_writer_segment(w, seg);
		ptrdiff_t off = h ? (const uint8_t *)s->desc - h : -1;
		if (off >= (ptrdiff_t)POOL_DESC_OFFSET && off < (ptrdiff_t)POOL_DATA_OFFSET) {
			return seg << 8 | (uint32_t)((size_t)(off - (ptrdiff_t)POOL_DESC_OFFSET) / sizeof *s->desc);
		}
	}
	return POOL_CHUNK_NONE;
}

static bool repair(struct pool_writer *w, struct pool_slot *s, uint32_t me, const struct slot_set *gone)
{
	if (pool_is_claim(order_load_acquire(&s->chunk))) {
		if (!settle_claim(w, s, me, gone)) {
			return false;
		}
		order_store_relaxed(&s->chunk, s->at ? chunk_number(w, s) : POOL_CHUNK_NONE);
	}
	order_add_relaxed(&w->abandoned, 1u);
	if (!s->at) {
		pool_slot_clear(s);
		return true;
	}
	uint8_t *base = pool_slot_base(s);
	uint64_t word = order_load_relaxed(&s->desc->word);
	uint32_t committed = pool_word_committed(word);
	if (pool_word_gen(word) != s->gen || (word & POOL_WORD_CLOSED) != 0 || base + committed > s->limit ||
	    committed % 8 != 0) {
		pool_slot_clear(s);
		return true;
	}
	s->at = base + committed;
	order_store_relaxed(&s->desc->begun, (uint64_t)committed);
	return true;
}

static bool has_free_chunk(const struct pool_writer *w)
{
	uint64_t free = 0;
	const struct seg_header *h;
	for (uint32_t i = 0; (h = pool_writer_segment(w, i)) != NULL; i++) {
		free |= order_load_relaxed(&h->free_mask);
	}
	return free != 0;
}

/* An overflow slot may not be used again for long: its chunk goes to the drain, unless whoever finds no chunk now
 * can borrow the room in it. */
static void give_back(struct pool_writer *w, struct pool_slot *s)
{
	if (s >= &w->slot[POOL_SLOTS] && s->at && (s->limit - s->at < ROOM_WORTH || has_free_chunk(w))) {
		uint64_t word = ((uintptr_t)s->at + s->bias) | POOL_WORD_CLOSED;
		struct chunk_desc *desc = s->desc;
		order_note_gives(&pool_writer_segment(w, s->chunk >> 8)->free_mask);
		order_store_release(&desc->word, word); /* P, for the last time */
		pool_slot_clear(s);
	}
	s->doubt = 0;
	order_store_release(&s->lock, 0u); /* U */
}

/* ---- by the thread itself ----------------------------------------------------------------------- */

/* Does its write lie where we are, or deeper? On the same stack it has ended then. */
static bool is_below(const struct pool_slot *s, uint64_t frame)
{
	uint64_t held = s->frame, tp = pool_thread_pointer(), here = frame + FRAME_SLACK;
	return held <= here && here - held <= STALE_DISTANCE && !(held < tp && tp < frame);
}

/* One more look at it. */
static uint32_t doubts_of(struct pool_slot *s)
{
	uint32_t picture = (pool_slot_pos(s) / 8 ^ s->gen << 13 ^ s->chunk) << DOUBT_BITS;
	if ((s->doubt & ~DOUBT_MOST) != picture) {
		s->doubt = picture;
	}
	s->doubt += (s->doubt & DOUBT_MOST) < DOUBT_MOST;
	return s->doubt & DOUBT_MOST;
}

/* Are we in a handler that has a stack of its own, and was the write on another? Then it may be what the handler
 * interrupted. */
static bool on_handlers_stack(uint64_t held)
{
	int saved = errno;
	stack_t now;
	bool yes = false;
	if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK)) {
		uint64_t from = (uint64_t)(uintptr_t)now.ss_sp;
		yes = held < from || held - from >= now.ss_size;
	}
	errno = saved;
	return yes;
}

bool pool_slot_is_stale(struct pool_slot *s, uint64_t frame, uint32_t doubts)
{
	if (doubts_of(s) < doubts || !is_below(s, frame)) {
		return false;
	}
	if (on_handlers_stack(s->frame)) {
		s->doubt = 0;
		return false;
	}
	return true;
}

bool pool_slot_repair(struct pool_writer *w, struct pool_slot *s, uint32_t me, uint64_t frame)
{
	struct slot_set gone = {0};
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL && pool_is_claim(s->chunk); i++) {
		if (order_load_relaxed(&w->slot[i].lock) == me && is_below(&w->slot[i], frame)) {
			set_add(&gone, i);
		}
	}
	set_add(&gone, (uint32_t)(s - w->slot));
	return repair(w, s, me, &gone);
}

uint32_t pool_reclaim_mine(struct pool_writer *w, uint32_t me, uint64_t frame, const struct pool_slot *keep,
			   bool exhausted)
{
	struct slot_set gone = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		struct pool_slot *s = &w->slot[i];
		if (s == keep || order_load_relaxed(&s->lock) != me) {
			continue;
		}
		uint32_t doubts = s->doubt & DOUBT_MOST;
		if ((doubts >= DOUBTS_FEW && is_below(s, frame)) || (exhausted && doubts >= DOUBTS_MANY)) {
			if (!on_handlers_stack(s->frame)) {
				set_add(&gone, i);
			}
		}
	}
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		if (set_has(&gone, i) && repair(w, &w->slot[i], me, &gone)) {
			give_back(w, &w->slot[i]);
			n++;
		}
	}
	return n;
}

/* ---- by a thread of ours ------------------------------------------------------------------------ */

void pool_want_reap(struct pool_writer *w)
{
	/* Again now and then: who wished it first may have ended before the wake. */
	uint32_t n = order_add_full(&w->reap_wanted, 1u);
	if (n % WAKE_EVERY == 0 && (order_load_relaxed(&w->bell_allowed) & POOL_CTL_BELL_ALLOWED) != 0) {
		pool_writer_wake(w);
	}
}

static uint32_t now_ms(void)
{
	return (uint32_t)(clock_read_system_ns() / 1000000u);
}

/* The mapping of this process that holds an address. */
static bool mapping_of(uint64_t at, uint64_t *ret_from, uint64_t *ret_to)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;
	while (f && !found && fgets(line, sizeof line, f)) {
		char *end;
		*ret_from = strtoull(line, &end, 16);
		*ret_to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
		found = *ret_from <= at && at < *ret_to;
	}
	if (f) {
		fclose(f);
	}
	return found;
}

/* Where a thread's stack ends, if it sleeps in the kernel. */
static bool sleeps_at(uint32_t tid, uint64_t *ret_sp)
{
	char path[64], text[256];
	snprintf(path, sizeof path, "/proc/self/task/%u/syscall", tid);
	if (file_read_start(path, text, sizeof text) <= 0) {
		return false;
	}
	/* "NUMBER ARGUMENT… SP PC" or "-1 SP PC"; "running" */
	char *pc = strrchr(text, ' ');
	if (!pc) {
		return false;
	}
	*pc = 0;
	char *sp = strrchr(text, ' ');
	*ret_sp = sp ? strtoull(sp + 1, NULL, 16) : 0;
	return *ret_sp != 0;
}

/* It lives, but does it come back to this write? */
static __attribute__((noinline)) bool has_left(struct pool_writer *w, uint32_t i, uint32_t tid, uint32_t locked,
					       uint32_t now)
{
	struct pool_slot *s = &w->slot[i];
	uint64_t held = order_load_relaxed(&s->frame), sp, from, to;
	uint32_t picture =
		(uint32_t)((uintptr_t)order_load_relaxed(&s->at) >> 3) ^ tid << 10 ^ (uint32_t)held << 1 ^ 1u;
	if (w->suspect[i].picture != picture) {
		w->suspect[i].picture = picture;
		w->suspect[i].since = now;
		return false;
	}
	uint32_t ms = now - w->suspect[i].since;
	if (ms < LOOK_MS || !sleeps_at(tid, &sp)) {
		return false;
	}
	if (sp > held && mapping_of(held, &from, &to) && sp >= from && sp < to) {
		return true;
	}
	return ms >= GIVE_UP_MS && locked >= GIVE_UP_AT;
}

static bool is_gone(struct pool_writer *w, uint32_t i, uint32_t holder, bool look_at_living, uint32_t locked,
		    uint32_t now)
{
	return pool_thread_is_dead(holder) || (look_at_living && has_left(w, i, holder, locked, now));
}

static void reap(struct pool_writer *w, bool look_at_living)
{
	struct slot_set gone = {0};
	uint32_t me = (uint32_t)syscall(SYS_gettid), locked = 0, found = 0;
	uint32_t now = look_at_living ? now_ms() : 0;
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		locked += order_load_relaxed(&w->slot[i].lock) != 0;
	}
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		uint32_t holder = order_load_acquire(&w->slot[i].lock);
		if (holder != 0 && holder != me && is_gone(w, i, holder, look_at_living, locked, now)) {
			set_add(&gone, i);
			found++;
		}
	}
	for (uint32_t i = 0; found > 0 && i < POOL_SLOTS_TOTAL; i++) {
		struct pool_slot *s = &w->slot[i];
		uint32_t holder = order_load_acquire(&s->lock), seen = holder;
		/* Looked at again: another thread may have been here meanwhile, and a third have it now. */
		if (!set_has(&gone, i) || holder == 0 || holder == me ||
		    !is_gone(w, i, holder, look_at_living, locked, now) || !order_cas_acquire(&s->lock, &seen, me)) {
			continue;
		}
		order_store_relaxed(&s->frame, UINT64_MAX); /* never stale while we are at it */
		bool done = false;
		for (int k = 0; !done && k < CLAIM_TRIES; k++) {
			done = repair(w, s, me, &gone);
			if (!done) {
				sched_yield(); /* somebody claims a chunk just now */
			}
		}
		if (done) {
			give_back(w, s);
		} else {
			order_store_release(&s->lock, holder); /* the next time */
		}
	}
}

void pool_writer_reap(struct pool_writer *w)
{
	order_store_relaxed(&w->reap_wanted, 0u);
	reap(w, true);
}

void pool_writer_reap_dead(struct pool_writer *w)
{
	reap(w, false);
}
