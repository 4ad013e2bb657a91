/* SPDX-License-Identifier: MIT
 *
 * The drain side of the control block: two tables an entry, one valid and one being written.
 *
 *   etwd                                    a process
 *   ----                                    ---------
 *   fence (E)                               cfg (acquire, C)
 *   fill the table not in use               read the rows of its table
 *   cfg (release, D)                        fence; cfg again (F): the same? else once more
 *   unions, enabled
 *
 * A reader still in the table we fill started before the previous publish, so it sees another cfg
 * at F: fence E orders that earlier cfg store before the row stores.
 */
#include "pool/pool.h"
#include "base/match.h"
#include "base/order.h"
#include "etw/values/enable_properties.h"

static void table_fill(struct filter_table *t, uint32_t generation, const struct filter_row *rows, uint32_t count)
{
	order_store_relaxed(&t->rows, 0u);
	for (uint32_t i = 0; i < count; i++) {
		struct filter_row *r = &t->row[i];
		order_store_relaxed(&r->bit, rows[i].bit);
		order_store_relaxed(&r->level, rows[i].level);
		order_store_relaxed(&r->props, rows[i].props);
		order_store_relaxed(&r->any, match_any(rows[i].any));
		order_store_relaxed(&r->all, rows[i].all);
	}
	order_store_relaxed(&t->gen, generation);
	order_store_relaxed(&t->rows, count);
}

uint16_t pool_row_props(uint32_t properties)
{
	bool ignore = (properties & EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0) &&
		      !(properties & EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0);
	return (uint16_t)((properties & EVENT_ENABLE_PROPERTY_STACK_TRACE ? FILTER_ROW_STACK : 0) |
			  (ignore ? FILTER_ROW_IGNORE_KEYWORD_0 : 0) |
			  (properties & EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE ? FILTER_ROW_EXCLUDE_INPRIVATE : 0));
}

void pool_ctl_publish_to(void *ctl, uint32_t entry_offset, uint32_t index, uint32_t table_offset, uint32_t generation,
			 const struct filter_row *rows, uint32_t count, uint32_t entry_flags)
{
	struct ctl_entry *e = (struct ctl_entry *)(void *)((uint8_t *)ctl + entry_offset);
	uint8_t level_max = 0;
	uint64_t any_union = 0, all_inter = count ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t level = match_limit(rows[i].level);
		level_max = BASE_MAX(level_max, level);
		any_union |= match_any(rows[i].any);
		all_inter &= rows[i].all;
		if (rows[i].props & FILTER_ROW_STACK) {
			entry_flags |= CTL_ENTRY_STACK;
		}
	}
	if (count == 0) {
		order_store_relaxed(&e->enabled, 0u); /* off first, the rest is tidying */
	}
	order_fence_full(); /* E */
	table_fill((struct filter_table *)(void *)((uint8_t *)ctl + table_offset), generation, rows, count);
	order_store_relaxed(&e->table[index & 1], table_offset);
	order_store_release(&e->cfg, generation << 1 | (index & 1)); /* D: pairs with C */
	order_store_relaxed(&e->level_max, level_max);
	order_store_relaxed(&e->rows, (uint8_t)count);
	order_store_relaxed(&e->flags, (uint16_t)entry_flags);
	order_store_relaxed(&e->all_inter, all_inter);
	order_store_relaxed(&e->any_union, any_union);
	order_store_release(&e->enabled, count);
}

void pool_ctl_publish(void *ctl, uint32_t entry_offset, uint32_t generation, const struct filter_row *rows,
		      uint32_t count, uint32_t entry_flags)
{
	const struct ctl_entry *e = (const struct ctl_entry *)(void *)((uint8_t *)ctl + entry_offset);
	uint32_t next = (order_load_relaxed(&e->cfg) & 1) ^ 1;
	pool_ctl_publish_to(ctl, entry_offset, next, e->table[next], generation, rows, count, entry_flags);
}
