/* SPDX-License-Identifier: MIT
 *
 * The filter cached in struct provider_hot.
 *
 *   filling                                 reading (provider_cache_mask)
 *   -------                                 -------
 *   cas cfg: old -> BUSY (Q)                cfg (acquire, T), the same as entry->cfg?
 *   fill from the entry, re-check           fields
 *   cfg = the entry's (release, T)          fence; cfg again: still the same?
 *
 * Whoever finds BUSY, or anything changed, asks the control block itself. A filler that never comes
 * back (killed thread, siglongjmp) leaves BUSY behind: slower, never wrong.
 */
#include "provider/provider_emit.h"

__attribute__((cold, noinline)) void provider_cache_fill(struct provider_hot *hot)
{
	if (order_load_relaxed(&hot->entry) == &provider_entry_on) {
		return; /* several destinations: not for us */
	}
	uint32_t old = order_load_relaxed(&hot->cfg);
	/* Q: pairs with the reader's second look */
	if (old == PROVIDER_CACHE_BUSY || !order_cas_full(&hot->cfg, &old, PROVIDER_CACHE_BUSY)) {
		return;
	}
	const struct ctl_entry *e = order_load_acquire(&hot->entry);
	uint32_t cfg = 0, rows = 0;
	const struct filter_table *t = NULL;
	if (e != &provider_entry_on && e != &provider_entry_off) {
		const struct provider_link *link = provider_link_of(e);
		cfg = order_load_acquire(&e->cfg);
		t = provider_rows(e, provider_ctl_of(e), link->ctl_bytes, &rows);
		order_store_relaxed(&hot->writer, link->writer);
	}
	if (!t || rows == 0 || cfg == PROVIDER_CACHE_BUSY) {
		order_store_relaxed(&hot->cached_entry, (const struct ctl_entry *)NULL);
		order_store_release(&hot->cfg, 0u); /* T */
		return;
	}
	order_store_relaxed(&hot->table, t);
	order_store_relaxed(&hot->rows, rows);
	order_store_relaxed(&hot->head, (pool_row_head(&t->row[0]) & 0xFFFFFFFFu) |
						(uint64_t)order_load_relaxed(&t->gen) << 32);
	order_store_relaxed(&hot->any, order_load_relaxed(&t->row[0].any));
	order_store_relaxed(&hot->match_all, order_load_relaxed(&t->row[0].all));
	order_fence_acquire();
	bool same = order_load_relaxed(&e->cfg) == cfg;
	order_store_relaxed(&hot->cached_entry, same ? e : NULL);
	order_store_release(&hot->cfg, same ? cfg : 0u); /* T */
}
