/* SPDX-License-Identifier: MIT
 *
 * Filter rows: the documented enable rule, both directions of the union shortcut, a control block
 * that lies, and a reader racing a publisher.
 */
#include "pool/pool_evaluate.h"
#include "etw/values/enable_properties.h"
#include "pool/pool_testing.h"

#include <cmocka.h>
#include <pthread.h>

#define CTL_BYTES 16384u
#define ENTRY     128u
#define TABLE_A   1024u
#define TABLE_B   4096u

static struct ctl_entry *entry_of(void *ctl)
{
	return (struct ctl_entry *)(void *)((uint8_t *)ctl + ENTRY);
}

static void *make_ctl(void)
{
	void *ctl = calloc(1, CTL_BYTES);
	if (!ctl) {
		abort();
	}
	entry_of(ctl)->table[0] = TABLE_A;
	entry_of(ctl)->table[1] = TABLE_B;
	return ctl;
}

static uint64_t mask_of(void *ctl, uint8_t level, uint64_t keyword)
{
	return pool_ctl_evaluate(entry_of(ctl), ctl, CTL_BYTES, level, keyword).mask;
}

static void one_row_follows_the_documented_rule(void **state)
{
	static const struct {
		struct filter_row row;
		uint8_t level;
		uint64_t keyword;
		bool enabled;
	} cases[] = {
		{{.level = 0, .any = UINT64_MAX}, 255, 1, true},
		{{.level = 0, .any = UINT64_MAX}, 0, 0, true},
		{{.level = 4, .any = UINT64_MAX}, 4, 1, true},
		{{.level = 4, .any = UINT64_MAX}, 5, 1, false},
		{{.level = 4, .any = UINT64_MAX}, 0, 1, true}, /* log always */
		{{.level = 1, .any = UINT64_MAX}, 1, 1, true},
		{{.level = 1, .any = UINT64_MAX}, 2, 1, false},
		{{.level = 255, .any = UINT64_MAX}, 255, 1, true},
		{{.level = 254, .any = UINT64_MAX}, 255, 1, false},
		{{.level = 5, .any = 0x6}, 4, 0x2, true},
		{{.level = 5, .any = 0x6}, 4, 0x1, false},
		{{.level = 5, .any = 0x6}, 4, 0x0, true}, /* no keyword passes all keyword filters */
		{{.level = 5, .any = 0x6, .props = FILTER_ROW_IGNORE_KEYWORD_0}, 4, 0, false},
		{{.level = 5, .any = 0x6, .props = FILTER_ROW_IGNORE_KEYWORD_0}, 4, 4, true},
		{{.level = 5, .any = 0x6, .all = 0x6}, 4, 0x2, false},
		{{.level = 5, .any = 0x6, .all = 0x6}, 4, 0xe, true},
		{{.level = 5, .any = 0x6, .all = 0x8}, 4, 0x2, false},
		{{.level = 5, .any = 0x6, .all = 0x8}, 4, 0xa, true},
		{{.level = 5, .any = 0x6, .all = 0x8}, 4, 0x0, true},
		{{.level = 5, .any = 0}, 4, 1ull << 63, true}, /* 0 = every keyword */
		{{.level = 5, .any = 1ull << 63}, 4, 1ull << 63, true},
		{{.level = 5, .any = 1ull << 63}, 4, 1ull << 62, false},
	};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		void *ctl = make_ctl();
		struct filter_row row = cases[i].row;
		row.bit = 17;
		pool_ctl_publish(ctl, ENTRY, 1, &row, 1, 0);
		uint64_t mask = mask_of(ctl, cases[i].level, cases[i].keyword);
		if (mask != (cases[i].enabled ? 1ull << 17 : 0)) {
			fail_msg("case %u: mask %llx", i, (unsigned long long)mask);
		}
		free(ctl);
	}
}

/* Of the two properties about events without keywords the one that lets them pass wins, for etwd and for private
 * sessions. */
static void enable_keyword_0_wins_over_ignore_keyword_0(void **state)
{
	static const struct {
		uint32_t properties;
		uint16_t props;
	} rows[] = {
		{0, 0},
		{EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0, FILTER_ROW_IGNORE_KEYWORD_0},
		{EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0, 0},
		{EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 | EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0, 0},
		{EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE |
			 EVENT_ENABLE_PROPERTY_SID,
		 FILTER_ROW_STACK | FILTER_ROW_EXCLUDE_INPRIVATE},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		assert_int_equal(pool_row_props(rows[i].properties), rows[i].props);
	}
}

static void rows_are_independent_and_the_union_never_hides_one(void **state)
{
	uint32_t seed = 99;
	for (unsigned round = 0; round < 3000; round++) {
		void *ctl = make_ctl();
		struct filter_row rows[64];
		uint32_t n = round % 65;
		memset(rows, 0, sizeof rows);
		for (uint32_t i = 0; i < n; i++) {
			seed = seed * 1664525u + 1013904223u;
			rows[i].bit = (uint8_t)i;
			rows[i].level = (uint8_t)((seed >> 8) % 6);
			rows[i].any = (seed >> 12) % 8;
			rows[i].all = (seed >> 16) % 4 == 0 ? (seed >> 18) % 8 : 0;
			rows[i].props = (uint16_t)((seed >> 24) % 8);
		}
		pool_ctl_publish(ctl, ENTRY, round + 1, rows, n, 0);
		uint8_t level = (uint8_t)(round / 7 % 7);
		uint64_t keyword = round / 3 % 16;
		uint64_t want = 0;
		uint16_t props = 0;
		for (uint32_t i = 0; i < n; i++) { /* the rule once more, in other words */
			const struct filter_row *r = &rows[i];
			bool ok = r->level == 0 || level <= r->level;
			if (keyword == 0) {
				ok = ok && !(r->props & FILTER_ROW_IGNORE_KEYWORD_0);
			} else {
				ok = ok && (r->any == 0 || (keyword & r->any)) && (keyword & r->all) == r->all;
			}
			want |= ok ? 1ull << i : 0;
			props |= ok ? r->props : 0;
		}
		struct pool_verdict v = pool_ctl_evaluate(entry_of(ctl), ctl, CTL_BYTES, level, keyword);
		assert_true(v.mask == want);
		if (want) {
			assert_int_equal(v.cfg_gen, round + 1);
			assert_int_equal(v.props, props);
		}
		assert_int_equal(entry_of(ctl)->enabled, n);
		free(ctl);
	}
}

static void publishing_never_touches_the_table_in_use(void **state)
{
	uint8_t *ctl = make_ctl();
	struct filter_row row = {.bit = 1, .level = 5, .any = 1};
	pool_ctl_publish(ctl, ENTRY, 1, &row, 1, CTL_ENTRY_CLASSIC);
	uint8_t before[64];
	uint32_t used = entry_of(ctl)->cfg & 1 ? TABLE_B : TABLE_A;
	memcpy(before, ctl + used, sizeof before);
	row.bit = 2;
	row.props = FILTER_ROW_STACK;
	pool_ctl_publish(ctl, ENTRY, 2, &row, 1, CTL_ENTRY_CLASSIC);
	assert_memory_equal(before, ctl + used, sizeof before);
	assert_int_equal(entry_of(ctl)->cfg >> 1, 2);
	assert_int_equal(entry_of(ctl)->flags, CTL_ENTRY_CLASSIC | CTL_ENTRY_STACK);
	assert_true(mask_of(ctl, 1, 1) == 4);
	pool_ctl_publish(ctl, ENTRY, 3, NULL, 0, 0);
	assert_int_equal(entry_of(ctl)->enabled, 0);
	assert_true(mask_of(ctl, 1, 1) == 0);
	free(ctl);
}

/* The block ends exactly at an unreadable page: reading beyond it is a crash. */
static void tables_outside_the_block_are_not_read(void **state)
{
	uint8_t *map = mmap(NULL, CTL_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(map + CTL_BYTES, 4096, PROT_NONE);
	struct ctl_entry *e = entry_of(map);
	e->enabled = 1;
	e->level_max = 255;
	e->any_union = UINT64_MAX;
	static const uint32_t offsets[] = {
		CTL_BYTES - 4, CTL_BYTES,     CTL_BYTES + 8, UINT32_MAX, UINT32_MAX - 7,
		0x80000000u,   CTL_BYTES - 7, 1025,          3,
	};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(offsets); i++) {
		e->table[0] = offsets[i];
		assert_true(mask_of(map, 1, 1) == 0);
	}
	static const uint32_t rows[] = {2, 64, 65, 1000, UINT32_MAX, UINT32_MAX / 24 + 1};
	uint32_t at = CTL_BYTES - 8 - 24;
	e->table[0] = at;
	for (unsigned i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		le32_put(map + at + 4, rows[i]);
		assert_true(mask_of(map, 1, 1) == 0);
	}
	le32_put(map + at + 4, 1); /* exactly to the end is fine */
	le64_put(map + at + 8 + 8, 1);
	assert_true(mask_of(map, 1, 1) == 1);
	map[at + 8] = 200; /* a bit number beyond 63 stays a bit number */
	assert_true(mask_of(map, 1, 1) == 1ull << (200 & 63));
	assert_true(pool_ctl_evaluate(e, map, 4, 1, 1).mask == 0);
	munmap(map, CTL_BYTES + 4096);
}

static bool race_over;

static void *publish_for_ever(void *ctl)
{
	for (uint32_t gen = 1; !order_load_relaxed(&race_over); gen++) {
		struct filter_row rows[32];
		uint32_t n = 1 + gen % 32; /* bits 0..n-1, so that the mask names the generation */
		memset(rows, 0, sizeof rows);
		for (uint32_t i = 0; i < n; i++) {
			rows[i].bit = (uint8_t)i;
			rows[i].any = 1;
		}
		pool_ctl_publish(ctl, ENTRY, gen, rows, n, 0);
		for (volatile int pause = 0; pause < 2000; pause++) {
		}
	}
	return NULL;
}

static void a_reader_never_gets_the_rows_of_one_generation_under_the_name_of_another(void **state)
{
	void *ctl = make_ctl();
	pthread_t t;
	struct filter_row row = {.any = 1};
	pool_ctl_publish(ctl, ENTRY, 32, &row, 1, 0); /* 1 + 32 % 32 rows */
	pthread_create(&t, NULL, publish_for_ever, ctl);
	uint64_t wrong = 0;
	for (unsigned i = 0; i < 1000000; i++) {
		struct pool_verdict v = pool_ctl_evaluate(entry_of(ctl), ctl, CTL_BYTES, 1, 1);
		wrong += v.mask != (1ull << (1 + v.cfg_gen % 32)) - 1;
	}
	order_store_relaxed(&race_over, true);
	pthread_join(t, NULL);
	/* 64 tries overtaken one after the other: harmless, and next to impossible */
	assert_true(wrong <= 2);
	free(ctl);
}

/* Old kernels let a process write to its own control block. */
static void a_block_that_its_reader_overwrote_is_published_into_unread(void **state)
{
	uint8_t *ctl = make_ctl();
	struct filter_row row = {.bit = 17, .level = 5, .any = UINT64_MAX};
	for (uint32_t i = 0; i < 4; i++) {
		memset(ctl + ENTRY, 0xFF, sizeof(struct ctl_entry)); /* tables far behind the block */
		pool_ctl_publish_to(ctl, ENTRY, i & 1, i & 1 ? TABLE_B : TABLE_A, i + 1, &row, 1, 0);
		assert_int_equal(entry_of(ctl)->cfg, (i + 1) << 1 | (i & 1));
		assert_int_equal(entry_of(ctl)->table[i & 1], i & 1 ? TABLE_B : TABLE_A);
		assert_true(mask_of(ctl, 5, 1) == 1ull << 17);
	}
	free(ctl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_its_reader_overwrote_is_published_into_unread),
		cmocka_unit_test(one_row_follows_the_documented_rule),
		cmocka_unit_test(enable_keyword_0_wins_over_ignore_keyword_0),
		cmocka_unit_test(rows_are_independent_and_the_union_never_hides_one),
		cmocka_unit_test(publishing_never_touches_the_table_in_use),
		cmocka_unit_test(tables_outside_the_block_are_not_read),
		cmocka_unit_test(a_reader_never_gets_the_rows_of_one_generation_under_the_name_of_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
