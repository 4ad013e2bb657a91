/* SPDX-License-Identifier: MIT
 *
 * Pools that outlived their etwd. The next one gets them (ADOPT), drains them into the sessions
 * that are there again, counts the rest, and answers; until then the memory stays ours, so that any
 * number of etwds may die over it.
 *
 * The descriptors of the segments live in the listener's private table. Where the kernel refuses us
 * one, none are kept: an application that closes "all" descriptors and reuses the numbers would
 * make us hand over somebody else's file. Such a pool ends with its etwd.
 *
 * A pool that nobody takes, or one too many, is dropped; its events are then counted as lost in the
 * pool that follows it, for the same sessions.
 */
#include "provider/provider_dest.h"

#include <time.h>

#define QUIET_MS 20

/* A pool that was never made ready holds nothing. */
static bool worth_keeping(const struct provider_attached *at)
{
	const struct seg_header *h = at->link && at->segments > 0 ? at->segment[0] : NULL;
	return h && order_load_relaxed(&h->magic) == POOL_SEG_MAGIC;
}

static bool can_be_sent(const struct provider_dest *d, const struct provider_attached *at)
{
	bool all = d->private_fds;
	for (uint32_t i = 0; i < at->segments; i++) {
		all = all && at->segment_fd[i] >= 0;
	}
	return all;
}

/* ---- dropping one -----------------------------------------------------------------------------
 */

/* The bit that means the same session there; POOL_SESSION_BITS: none. */
static uint32_t same_bit(const struct seg_header *from, uint32_t bit, const struct seg_header *to)
{
	uint64_t name = order_load_relaxed(&from->bit_name[bit]);
	for (uint32_t i = 0; name != 0 && i < POOL_SESSION_BITS; i++) {
		if (order_load_relaxed(&to->bit_name[i]) == name) {
			return i;
		}
	}
	return POOL_SESSION_BITS;
}

static void count_record(const struct seg_header *from, const struct pool_rec *rec, struct seg_header *to)
{
	for (uint64_t m = rec->mask; m != 0; m &= m - 1) {
		uint32_t bit = same_bit(from, (uint32_t)__builtin_ctzll(m), to);
		if (bit < POOL_SESSION_BITS) {
			order_add_relaxed(&to->lost[bit], 1u);
		}
	}
	order_add_relaxed(&to->lost_cause[POOL_LOST_DETACHED], 1u);
}

/* Our own memory, written by our own writers: the sizes are right, except where the program
 * scribbles. */
static void count_chunk(const struct seg_header *first, const uint8_t *data, uint32_t from, uint32_t to,
			struct seg_header *target)
{
	while (to - from >= sizeof(struct pool_rec)) {
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)(data + from);
		uint32_t bytes = rec->size8 * 8u;
		if (bytes < sizeof *rec || bytes > to - from) {
			return;
		}
		count_record(first, rec, target);
		from += bytes;
	}
}

static void count_undrained(const struct provider_attached *old, struct seg_header *target)
{
	for (uint32_t n = 0; n < old->segments; n++) {
		const uint8_t *mem = old->segment[n];
		const struct seg_header *h = old->segment[n];
		const struct chunk_desc *desc = (const void *)(mem + POOL_DESC_OFFSET);
		uint64_t taken = ~order_load_acquire(&h->free_mask);
		uint32_t size = order_load_relaxed(&h->chunk_size);
		for (uint32_t i = 0; i < POOL_CHUNKS; i++) {
			uint64_t word = order_load_acquire(&desc[i].word);
			uint32_t span = BASE_MIN(BASE_MAX(desc[i].span, 1u), POOL_CHUNKS - i);
			uint32_t to = pool_word_committed(word), gen = pool_word_gen(word);
			uint32_t from = pool_hint_bytes(order_load_relaxed(&desc[i].cons_hint), gen);
			if ((taken >> i & 1) == 0 || gen == 0) {
				continue;
			}
			if (from < to && to <= span * size) {
				count_chunk(old->segment[0], mem + POOL_DATA_OFFSET + (uint64_t)i * size, from, to,
					    target);
			}
			i += span - 1;
		}
	}
	/* What was lost there and not told either. */
	const struct seg_header *h = old->segment[0];
	for (uint32_t i = 0; i < POOL_SESSION_BITS; i++) {
		uint64_t untold = order_load_relaxed(&h->lost[i]) - order_load_relaxed(&h->lost_told[i]);
		uint32_t bit = untold ? same_bit(h, i, target) : POOL_SESSION_BITS;
		if (bit < POOL_SESSION_BITS) {
			order_add_relaxed(&target->lost[bit], untold);
		}
	}
}

/* Into the pool that came next; the current one is the last. */
static void drop_locked(struct provider_dest *d, struct provider_attached *old)
{
	struct provider_attached *next = &d->at;
	for (uint32_t i = 0; i < PROVIDER_OLD_POOLS; i++) {
		struct provider_attached *o = &d->old[i];
		if (o->link && o->serial > old->serial && (!next->link || o->serial < next->serial)) {
			next = o;
		}
	}
	if (next->link && next->segments > 0) {
		count_undrained(old, next->segment[0]);
	}
	provider_attach_retire(old);
}

/* ---- keeping, offering ------------------------------------------------------------------------
 */

void provider_adopt_keep_locked(struct provider_dest *d)
{
	if (!worth_keeping(&d->at)) {
		provider_attach_retire(&d->at);
		return;
	}
	provider_attach_hang_up(&d->at);
	struct provider_attached *oldest = &d->old[0];
	for (uint32_t i = 0; i < PROVIDER_OLD_POOLS; i++) {
		struct provider_attached *o = &d->old[i];
		if (!o->link || (oldest->link && o->serial < oldest->serial)) {
			oldest = o;
		}
		if (!o->link) {
			break;
		}
	}
	if (oldest->link) {
		drop_locked(d, oldest);
	}
	*oldest = d->at;
	d->at = (struct provider_attached){.fd = -1};
}

/* Is some thread inside a write? One that is interrupted between choosing this pool and taking its
 * slot is not seen; the daemon waits a while for it before it looks for the last time. */
static bool someone_writes(const struct pool_writer *w)
{
	for (uint32_t i = 0; i < POOL_SLOTS_TOTAL; i++) {
		if (order_load_acquire(&w->slot[i].lock) != 0) {
			return true;
		}
	}
	return false;
}

static void wait_quiet(const struct pool_writer *w)
{
	struct timespec ms = {0, 1000000};
	for (int i = 0; i < QUIET_MS && someone_writes(w); i++) {
		nanosleep(&ms, NULL);
	}
}

void provider_adopt_offer(struct provider_dest *d)
{
	for (uint32_t i = 0; i < PROVIDER_OLD_POOLS; i++) {
		struct provider_attached *o = &d->old[i];
		uint8_t mem[16];
		struct proto_writer w;
		if (!o->link) {
			continue;
		}
		wait_quiet(o->link->writer);
		if (!can_be_sent(d, o)) {
			pthread_mutex_lock(&provider_lock);
			drop_locked(d, o);
			pthread_mutex_unlock(&provider_lock);
			continue;
		}
		int count = (int)BASE_MIN(o->segments, (uint32_t)PROTO_FDS_MAX);
		proto_begin(&w, mem, sizeof mem, PROTO_ADOPT, o->serial);
		if (proto_send(d->at.fd, mem, (size_t)proto_end(&w), o->segment_fd, count) < 0) {
			return; /* the next daemon, then */
		}
	}
}

void provider_adopt_answered_locked(struct provider_dest *d, uint32_t serial, uint32_t status)
{
	for (uint32_t i = 0; i < PROVIDER_OLD_POOLS; i++) {
		struct provider_attached *o = &d->old[i];
		if (o->link && o->serial == serial) {
			if (status == 0) {
				provider_attach_retire(o);
			} else {
				drop_locked(d, o);
			}
		}
	}
}
