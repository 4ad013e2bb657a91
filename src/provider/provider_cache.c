/* SPDX-License-Identifier: MIT
 *
 * The verdicts kept in struct provider_hot.
 *
 *   filling                                 reading (provider_write)
 *   -------                                 -------
 *   cas tag: old -> BUSY (Q)                tag (acquire, T): the cfg of the entry?
 *   fields, from the control block          level, keyword, entry, the rest
 *   tag = cfg, old sequence + 1             fence; tag again: still the same?
 *     (release, T)
 *
 * The sequence number tells a reader who was interrupted between its two looks that the same
 * configuration was filled in again for another event. Whoever finds BUSY, or anything changed,
 * asks the control block itself. A filler that never comes back (cancelled thread, siglongjmp) leaves
 * BUSY behind: slower, never wrong. After so many events that no handler would write in between, the place is
 * taken over, when its thread is this one or is gone.
 *
 * A verdict may be out of date by the time it is used: the record carries the generation it was
 * decided under, and etwd evaluates again.
 */
#include "provider/provider_emit.h"

/* Two kinds of events that share a place would otherwise throw each other out for every event. */
#define CONFLICTS_TAKEN 16u
#define ABANDONED_AFTER 65536u

static bool is_abandoned(struct provider_hot *hot, uint32_t by)
{
	return order_add_relaxed(&hot->conflicts, 1u) % ABANDONED_AFTER == ABANDONED_AFTER - 1 &&
	       (by == provider_tid() || pool_thread_is_dead(by));
}

__attribute__((cold, noinline)) void provider_cache_fill(struct provider_hot *hot, const void *descriptor,
							 const struct ctl_entry *e, uint32_t cfg,
							 const struct pool_verdict *pv)
{
	struct provider_verdict *v = provider_verdict_place(hot, descriptor);
	uint64_t old = order_load_relaxed(&v->tag);
	struct pool_writer *writer = provider_link_of(e)->writer;
	if (cfg == UINT32_MAX || !pool_writer_is_quick(writer) ||
	    (provider_tag_is_busy(old) && !is_abandoned(hot, (uint32_t)old))) {
		return;
	}
	if (old >> 32 == cfg && order_load_relaxed(&v->entry) == e &&
	    order_add_relaxed(&hot->conflicts, 1u) % CONFLICTS_TAKEN != 0) {
		return;
	}
	/* Q: pairs with the reader's second look */
	if (!order_cas_full(&v->tag, &old, PROVIDER_TAG_BUSY(provider_tid()))) {
		return;
	}
	const uint8_t *desc = descriptor;
	order_fence_full();
	order_store_relaxed(&v->level, (uint64_t)desc[4]);
	order_store_relaxed(&v->keyword, le64_get(desc + 8));
	order_store_relaxed(&v->entry, e);
	order_store_relaxed(&v->writer, writer);
	order_pair head = pool_rec_head(POOL_REC_EVENT, (uint16_t)provider_hot_index(hot), pv->cfg_gen);
	order_store_relaxed(&v->head[0], head[0]);
	order_store_relaxed(&v->head[1], head[1]);
	order_store_relaxed(&v->mask, pv->mask);
	order_store_release(&v->tag, (uint64_t)cfg << 32 | (uint32_t)(old + 1)); /* T */
}
