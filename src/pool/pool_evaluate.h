/* SPDX-License-Identifier: MIT
 *
 * Which sessions want this event? Read from the control block, which etwd writes and this process
 * only reads. We never read outside the block, whatever it says.
 *
 * A stale answer is harmless: the record carries the generation it was decided under, and etwd
 * knows what that generation meant. A mixed answer is not, hence the re-check of cfg.
 */
#ifndef POOL_POOL_EVALUATE_H
#define POOL_POOL_EVALUATE_H

#include "base/match.h"
#include "base/order.h"
#include "pool/pool.h"

struct pool_verdict {
	uint64_t mask;    /* session bits; 0 = nobody */
	uint16_t cfg_gen; /* for pool_rec.cfg_gen */
	uint16_t props;   /* union of filter_row_props of the rows that matched */
};

/* The first 8 bytes of a row in one load. */
static inline uint64_t pool_row_head(const struct filter_row *r)
{
	return order_load_relaxed((const uint64_t *)(const void *)r);
}
_Static_assert(offsetof(struct filter_row, bit) == 0 && offsetof(struct filter_row, level) == 1 &&
		       offsetof(struct filter_row, props) == 2 && sizeof(struct filter_row) % 8 == 0,
	       "pool_row_head");

#define POOL_HEAD_LEVEL(h) ((uint8_t)((h) >> 8))
#define POOL_HEAD_PROPS(h) ((uint16_t)((h) >> 16))

/* The rule of base/match.h for all rows of a table. Returns the mask; *ret_heads is the union of the heads that matched. */
static inline uint64_t pool_rows_match(const struct filter_row *r, uint32_t rows, uint8_t level, uint64_t keyword,
				       uint64_t *ret_heads)
{
	const struct filter_row *end = r + rows;
	uint8_t less_one = (uint8_t)(level - (level != 0));
	uint64_t mask = 0, heads = 0;
	if (BASE_UNLIKELY(keyword == 0)) {
		for (; r != end; r++) {
			uint64_t h = pool_row_head(r);
			if (match_level((uint8_t)(POOL_HEAD_LEVEL(h) - 1), less_one) &&
			    (POOL_HEAD_PROPS(h) & FILTER_ROW_IGNORE_KEYWORD_0) == 0) {
				mask |= 1ull << (h & 63);
				heads |= h;
			}
		}
	} else {
		for (; r != end; r++) {
			uint64_t h = pool_row_head(r);
			if (match_keywords(order_load_relaxed(&r->any), order_load_relaxed(&r->all), false, keyword) &&
			    match_level((uint8_t)(POOL_HEAD_LEVEL(h) - 1), less_one)) {
				mask |= 1ull << (h & 63);
				heads |= h;
			}
		}
	}
	*ret_heads = heads;
	return mask;
}

static inline struct pool_verdict pool_ctl_evaluate(const struct ctl_entry *e, const void *ctl, uint32_t ctl_bytes,
						    uint8_t level, uint64_t keyword)
{
	const struct pool_verdict nobody = {0, 0, 0};
	struct pool_verdict v = nobody;
	/* C: pairs with D in pool_ctl.c. First, because the other loads hang on it. */
	uint32_t cfg = order_load_acquire(&e->cfg);
	/* The unions say no for most events that nobody wants, from the one line already loaded. */
	if (!match_level(order_load_relaxed(&e->level_max), level) ||
	    !match_keywords(order_load_relaxed(&e->any_union), 0, true, keyword)) {
		return nobody;
	}
	for (int tries = 0; tries < 64; tries++) { /* a bound, because etwd is not us */
		uint64_t at = order_load_relaxed(&e->table[cfg & 1]);
		const uint8_t *p = (const uint8_t *)ctl + at;
		if (BASE_UNLIKELY((at & 7) != 0 || at + sizeof(struct filter_table) > ctl_bytes)) {
			return nobody;
		}
		const struct filter_table *t = (const struct filter_table *)(const void *)p;
		uint64_t rows = order_load_relaxed(&t->rows);
		if (BASE_UNLIKELY(rows > POOL_SESSION_BITS ||
				  at + sizeof *t + rows * sizeof(struct filter_row) > ctl_bytes)) {
			return nobody;
		}
		uint64_t heads;
		v.mask = pool_rows_match(t->row, (uint32_t)rows, level, keyword, &heads);
		v.props = POOL_HEAD_PROPS(heads);
		v.cfg_gen = (uint16_t)order_load_relaxed(&t->gen);
		order_fence_acquire();
		uint32_t again = order_load_relaxed(&e->cfg);
		if (BASE_LIKELY(again == cfg)) {
			break;
		}
		cfg = order_load_acquire(&e->cfg);
	}
	return v;
}

#endif
