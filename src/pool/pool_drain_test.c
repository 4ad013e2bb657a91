/* SPDX-License-Identifier: MIT
 *
 * The drain against segments written by hand: what it must accept, refuse, hold back and free.
 * Segments are built byte by byte here, so that a mistake of the writer cannot hide one of the
 * drain.
 */
#include "pool/pool_testing.h"

#include <cmocka.h>

#define FREQ 1000000000ull /* one tick = 1 ns */
#define MS   1000000ull

struct log {
	uint32_t count;
	uint64_t ts[20000];
	uint16_t cpu[20000];
	uint32_t tid[20000];
	void *cookie[20000];
};

static struct log got;

static void log_event(void *ctx, const struct pool_event *ev)
{
	struct log *l = ctx;
	if (l->count < BASE_ARRAY_LEN(l->ts)) {
		l->ts[l->count] = ev->rec->ts;
		l->cpu[l->count] = ev->rec->cpu;
		l->tid[l->count] = ev->rec->tid;
		l->cookie[l->count] = ev->cookie;
	}
	l->count++;
}

static struct chunk_desc *desc_of(void *mem, uint32_t i)
{
	return (struct chunk_desc *)(void *)((uint8_t *)mem + POOL_DESC_OFFSET) + i;
}

static uint8_t *chunk_of(void *mem, uint32_t i)
{
	return (uint8_t *)mem + POOL_DATA_OFFSET + i * ((struct seg_header *)mem)->chunk_size;
}

static void claim_by_hand(void *mem, uint32_t i, uint32_t gen)
{
	((struct seg_header *)mem)->free_mask &= ~(1ull << i);
	desc_of(mem, i)->span = 1;
	desc_of(mem, i)->begun = 0;
	desc_of(mem, i)->word = pool_word(gen, 0);
}

/* Append a good event; returns it for spoiling. */
static struct pool_rec *put(void *mem, uint32_t i, uint64_t ts, uint16_t cpu, uint32_t tid)
{
	struct chunk_desc *d = desc_of(mem, i);
	uint32_t at = pool_word_committed(d->word);
	struct pool_rec *rec = (struct pool_rec *)(void *)(chunk_of(mem, i) + at);
	*rec = (struct pool_rec){
		.size8 = 8,
		.kind = POOL_REC_EVENT,
		.prov = 1,
		.cpu = cpu,
		.tid = tid,
		.user_len = 16,
		.ts = ts,
		.mask = 1,
	};
	d->begun = at + 64;
	d->word = pool_word(pool_word_gen(d->word), at + 64);
	return rec;
}

static void close_chunk(void *mem, uint32_t i)
{
	desc_of(mem, i)->word |= POOL_WORD_CLOSED;
}

static uint64_t round_at(struct rig *r, uint64_t now, uint32_t flags)
{
	got.count = 0;
	return test_round(r->p, &r->v, 1, flags, now, log_event, &got);
}

static struct pool_view_stats stats_of(const struct rig *r)
{
	struct pool_view_stats s;
	pool_view_stats(r->v, &s);
	return s;
}

/* ---- violations ----------------------------------------------------------------------------- */

static void spoil_size_zero(struct pool_rec *r)
{
	r->size8 = 0;
}
static void spoil_size_too_small(struct pool_rec *r)
{
	r->size8 = 5;
}
static void spoil_size_beyond_committed(struct pool_rec *r)
{
	r->size8 = 1000;
}
static void spoil_size_huge(struct pool_rec *r)
{
	r->size8 = 65535;
}
static void spoil_kind_zero(struct pool_rec *r)
{
	r->kind = 0;
}
static void spoil_kind_unknown(struct pool_rec *r)
{
	r->kind = 5;
}
static void spoil_kind_huge(struct pool_rec *r)
{
	r->kind = 255;
}
static void spoil_flag_unknown(struct pool_rec *r)
{
	r->flags = 0x10;
}
static void spoil_provider(struct pool_rec *r)
{
	r->prov = 8;
}
static void spoil_payload_too_long(struct pool_rec *r)
{
	r->user_len = 17;
}
static void spoil_payload_huge(struct pool_rec *r)
{
	r->user_len = 65535;
}
static void spoil_payload_leaves_a_gap(struct pool_rec *r)
{
	r->user_len = 8;
}
static void spoil_activity_without_room(struct pool_rec *r)
{
	r->flags = POOL_REC_ACTIVITY;
}
static void spoil_items_without_items(struct pool_rec *r)
{
	r->flags = POOL_REC_ITEMS;
}
static void set_item(struct pool_rec *r, uint16_t size, uint16_t linkage, uint16_t data)
{
	uint8_t *p = (uint8_t *)(r + 1);
	r->flags = POOL_REC_ITEMS;
	r->user_len = 0;
	memset(p, 0, 16);
	le16_put(p, size);
	le16_put(p + 4, linkage);
	le16_put(p + 6, data);
}
static void spoil_item_size_zero(struct pool_rec *r)
{
	set_item(r, 0, 0, 0);
}
static void spoil_item_too_long(struct pool_rec *r)
{
	set_item(r, 24, 0, 8);
}
static void spoil_item_data_too_long(struct pool_rec *r)
{
	set_item(r, 16, 0, 9);
}
static void spoil_item_promises_another(struct pool_rec *r)
{
	set_item(r, 16, 1, 8);
}
static void spoil_item_odd_size(struct pool_rec *r)
{
	set_item(r, 12, 0, 4);
}
static void spoil_item_without_linkage_before_another(struct pool_rec *r)
{
	set_item(r, 8, 0, 0);
}
static void spoil_instance_too_short(struct pool_rec *r)
{
	r->kind = POOL_REC_INSTANCE;
}
static void spoil_classic_too_short(struct pool_rec *r)
{
	r->kind = POOL_REC_CLASSIC;
	r->user_len = 15;
}

static void a_bad_record_is_refused_with_what_follows_and_counted(void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct pool_rec *);
	} cases[] = {
#define CASE(n) {#n, n}
		CASE(spoil_size_zero),
		CASE(spoil_size_too_small),
		CASE(spoil_size_beyond_committed),
		CASE(spoil_size_huge),
		CASE(spoil_kind_zero),
		CASE(spoil_kind_unknown),
		CASE(spoil_kind_huge),
		CASE(spoil_flag_unknown),
		CASE(spoil_provider),
		CASE(spoil_payload_too_long),
		CASE(spoil_payload_huge),
		CASE(spoil_payload_leaves_a_gap),
		CASE(spoil_activity_without_room),
		CASE(spoil_items_without_items),
		CASE(spoil_item_size_zero),
		CASE(spoil_item_too_long),
		CASE(spoil_item_data_too_long),
		CASE(spoil_item_promises_another),
		CASE(spoil_item_odd_size),
		CASE(spoil_item_without_linkage_before_another),
		CASE(spoil_instance_too_short),
		CASE(spoil_classic_too_short),
	};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct rig r = rig_make(4096);
		claim_by_hand(r.mem, 0, 1);
		put(r.mem, 0, 1000, 0, 1);
		cases[i].spoil(put(r.mem, 0, 1001, 0, 2));
		put(r.mem, 0, 1002, 0, 3);
		uint64_t n = round_at(&r, 10 * MS, 0);
		struct pool_view_stats s = stats_of(&r);
		if (n != 1 || s.records_rejected != 1 || s.bytes_rejected != 128 || s.events != 1) {
			fail_msg("%s: %u emitted, %u rejected, %u bytes", cases[i].name, (unsigned)n,
				 (unsigned)s.records_rejected, (unsigned)s.bytes_rejected);
		}
		/* the process goes on: what it writes later is taken, and nothing counted twice */
		put(r.mem, 0, 1003, 0, 4);
		assert_int_equal(round_at(&r, 10 * MS, 0), 1);
		assert_int_equal(got.tid[0], 4);
		assert_int_equal(stats_of(&r).records_rejected, 1);
		rig_free(&r);
	}
}

static void a_good_chain_of_items_is_accepted(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	set_item(put(r.mem, 0, 1000, 0, 1), 16, 0, 8);
	set_item(put(r.mem, 0, 1000, 0, 1), 16, 0, 3);
	struct pool_rec *rec = put(r.mem, 0, 1000, 0, 1);
	set_item(rec, 8, 1, 0);
	le16_put((uint8_t *)(rec + 1) + 8, 8);
	assert_int_equal(round_at(&r, 10 * MS, 0), 3);
	assert_int_equal(stats_of(&r).records_rejected, 0);
	rig_free(&r);
}

static void committed_beyond_the_chunk_is_clamped_and_counted(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 63, 1); /* the last chunk: reading beyond would fault */
	for (unsigned i = 0; i < 64; i++) {
		put(r.mem, 63, 1000, 0, i);
	}
	desc_of(r.mem, 63)->word = pool_word(1, UINT32_MAX);
	assert_int_equal(round_at(&r, 10 * MS, 0), 64);
	assert_true(stats_of(&r).records_rejected > 0);
	rig_free(&r);
}

/* Fewer bytes than a record has, at the very end of the mapping: nothing may be read there to find
 * out how old they are. */
static void a_few_bytes_at_the_end_of_the_last_chunk_are_refused_unread(void **state)
{
	struct rig r = rig_make(4096);
	for (uint32_t left = 8; left < sizeof(struct pool_rec); left += 8) {
		claim_by_hand(r.mem, 63, left);
		desc_of(r.mem, 63)->word = pool_word(left, 4096 - left);
		for (int round = 0; round < 2; round++) {
			pool_pass_begin(r.p, 10 * MS, FREQ, 0);
			assert_int_equal(pool_pass_collect(r.p, r.v, 0, 1000), 0);
			assert_int_equal(pool_pass_emit(r.p, log_event, &got), 0);
			pool_pass_commit(r.p);
			desc_of(r.mem, 63)->word = pool_word(left, 4096) | POOL_WORD_CLOSED;
		}
		assert_true(rig_header(&r)->free_mask >> 63 == 1);
	}
	assert_int_equal(stats_of(&r).records_rejected, 10);
	rig_free(&r);
}

/* What an earlier drain is said to have consumed is a claim, too. */
static void an_adopted_chunk_was_not_consumed_beyond_its_end(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 63, 1);
	desc_of(r.mem, 63)->word = pool_word(1, UINT32_MAX);
	desc_of(r.mem, 63)->cons_hint = 1u << POOL_HINT_SHIFT | 4088 / 8;
	pool_view_adopt(r.v);
	pool_pass_begin(r.p, 10 * MS, FREQ, 0);
	assert_int_equal(pool_pass_collect(r.p, r.v, 0, 1000), 0);
	assert_int_equal(pool_pass_emit(r.p, log_event, &got), 0);
	pool_pass_commit(r.p);
	desc_of(r.mem, 63)->cons_hint = 1u << POOL_HINT_SHIFT | ((1u << POOL_HINT_SHIFT) - 2);
	pool_view_adopt(r.v);
	assert_int_equal(round_at(&r, 10 * MS, 0), 0);
	rig_free(&r);
}

static void a_span_beyond_the_segment_is_refused(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 60, 1);
	desc_of(r.mem, 60)->span = 5;
	put(r.mem, 60, 1000, 0, 1);
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	assert_int_equal(stats_of(&r).records_rejected, 1);
	desc_of(r.mem, 60)->span = UINT32_MAX; /* later changes are not even looked at */
	desc_of(r.mem, 60)->word = pool_word(1, 5 * 4096);
	round_at(&r, 10 * MS, 0);
	rig_free(&r);
}

static void committed_that_runs_backwards_delivers_nothing_twice(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 1000, 0, 1);
	put(r.mem, 0, 1001, 0, 2);
	assert_int_equal(round_at(&r, 10 * MS, 0), 2);
	desc_of(r.mem, 0)->word = pool_word(1, 64);
	assert_int_equal(round_at(&r, 10 * MS, 0), 0);
	assert_int_equal(stats_of(&r).records_rejected, 1);
	rig_free(&r);
}

static void committed_that_is_not_aligned_is_rounded_down(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 1000, 0, 1);
	desc_of(r.mem, 0)->word += 3;
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	assert_int_equal(stats_of(&r).records_rejected, 1);
	rig_free(&r);
}

static void a_generation_that_vanishes_is_a_violation(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 1000, 0, 1);
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	desc_of(r.mem, 0)->word = pool_word(2, 0);
	put(r.mem, 0, 1001, 0, 2);
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	assert_int_equal(got.tid[0], 2);
	assert_int_equal(stats_of(&r).records_rejected, 1);
	rig_free(&r);
}

/* ---- times ---------------------------------------------------------------------------------- */

static void times_that_run_backwards_are_raised_to_their_predecessor(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 5000, 0, 1);
	put(r.mem, 0, 4000, 0, 2);
	assert_int_equal(round_at(&r, 10 * MS, 0), 2);
	assert_true(got.ts[1] == 5000);
	put(r.mem, 0, 10, 0, 3); /* also over the border of a round */
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	assert_true(got.ts[0] == 5000);
	assert_int_equal(stats_of(&r).times_clamped, 2);
	assert_int_equal(stats_of(&r).records_rejected, 0);
	rig_free(&r);
}

static void a_time_in_the_future_is_neither_believed_nor_stuck(void **state)
{
	struct rig r = rig_make(4096);
	uint64_t now = clock_now();
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, UINT64_MAX, 0, 1);
	put(r.mem, 0, UINT64_MAX - 5, 0, 2);
	assert_int_equal(round_at(&r, now, 0), 2);
	assert_true(got.ts[0] <= now && got.ts[1] <= now);
	assert_int_equal(stats_of(&r).times_clamped, 2);
	rig_free(&r);
}

static void records_newer_than_the_watermark_wait_in_their_chunk(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 10 * MS - 2000, 0, 1);
	put(r.mem, 0, 10 * MS - 500, 0, 2); /* less than 1 us old */
	put(r.mem, 0, 10 * MS - 400, 1, 3);
	put(r.mem, 0, 10 * MS - 300, 0, 4);
	close_chunk(r.mem, 0);
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	assert_true(pool_pass_watermark(r.p) == 10 * MS - 1000);
	assert_false(rig_header(&r)->free_mask & 1);
	assert_int_equal(round_at(&r, 10 * MS + 600, 0), 2);
	assert_int_equal(got.tid[0], 2);
	assert_int_equal(got.tid[1], 3);
	assert_int_equal(round_at(&r, 10 * MS + 1000, 0), 1);
	assert_int_equal(got.tid[0], 4);
	assert_true(rig_header(&r)->free_mask & 1);
	assert_int_equal(stats_of(&r).events, 4);
	rig_free(&r);
}

static void a_write_in_flight_holds_later_events_back_until_it_is_published(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	claim_by_hand(r.mem, 1, 1);
	put(r.mem, 0, 100 * MS, 0, 1);
	assert_int_equal(round_at(&r, 101 * MS, 0), 1); /* both at rest at 101 ms */
	desc_of(r.mem, 0)->begun = 128;                 /* chunk 0: preempted inside a write */
	put(r.mem, 1, 100 * MS + 1, 0, 2);
	put(r.mem, 1, 102 * MS, 0, 3);
	assert_int_equal(round_at(&r, 110 * MS, 0), 1);
	assert_int_equal(got.tid[0], 2);
	assert_true(pool_pass_watermark(r.p) == 101 * MS - 1000);
	put(r.mem, 0, 101 * MS + 5, 0, 4); /* the late one */
	assert_int_equal(round_at(&r, 111 * MS, 0), 2);
	assert_int_equal(got.tid[0], 4);
	assert_int_equal(got.tid[1], 3);
	rig_free(&r);
}

static void nobody_is_held_back_longer_than_the_limit(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	claim_by_hand(r.mem, 1, 1);
	desc_of(r.mem, 0)->begun = UINT64_MAX; /* in flight for ever */
	put(r.mem, 1, 1000 * MS, 0, 1);
	assert_int_equal(round_at(&r, 1049 * MS, 0), 0);
	assert_int_equal(round_at(&r, 1050 * MS, 0), 1);
	rig_free(&r);
}

static void flush_does_not_wait_for_a_write_in_flight(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	claim_by_hand(r.mem, 1, 1);
	desc_of(r.mem, 0)->begun = 64;
	put(r.mem, 1, 1000 * MS, 0, 1);
	assert_int_equal(round_at(&r, 1000 * MS, POOL_PASS_FLUSH), 1);
	rig_free(&r);
}

static void a_pool_more_than_half_full_does_not_wait(void **state)
{
	struct rig r = rig_make(4096);
	for (uint32_t i = 0; i < 40; i++) {
		claim_by_hand(r.mem, i, 1);
		put(r.mem, i, 1000 * MS + i, 0, i);
		close_chunk(r.mem, i);
	}
	claim_by_hand(r.mem, 40, 1);
	desc_of(r.mem, 40)->begun = 64;
	assert_int_equal(round_at(&r, 1001 * MS, 0), 40);
	assert_int_equal(stats_of(&r).used_chunks, 41);
	assert_int_equal(stats_of(&r).total_chunks, 64);
	rig_free(&r);
}

static void a_pool_of_open_and_drained_chunks_is_not_full(void **state)
{
	struct rig r = rig_make(4096);
	for (uint32_t i = 0; i < 40; i++) { /* as many slots, each with its own chunk */
		claim_by_hand(r.mem, i, 1);
		put(r.mem, i, 1000 * MS + i, 0, i);
	}
	assert_int_equal(round_at(&r, 1100 * MS, 0), 40);
	assert_false(pool_pass_again(r.p));
	assert_int_equal(stats_of(&r).used_chunks, 40);
	/* One writer is between its clock and its word: the others wait for it. */
	desc_of(r.mem, 0)->begun = 128;
	for (uint32_t i = 1; i < 40; i++) {
		put(r.mem, i, 1110 * MS + i, 0, i);
	}
	assert_int_equal(round_at(&r, 1120 * MS, 0), 0);
	put(r.mem, 0, 1105 * MS, 0, 7);
	assert_int_equal(round_at(&r, 1121 * MS, 0), 40);
	assert_int_equal(got.tid[0], 7);
	rig_free(&r);
}

static void chunks_that_are_full_of_news_do_make_a_pool_full(void **state)
{
	struct rig r = rig_make(4096);
	for (uint32_t i = 0; i < 40; i++) {
		claim_by_hand(r.mem, i, 1);
	}
	pool_pass_begin(r.p, 1000 * MS, 1000000000ull, 0);
	assert_int_equal(pool_pass_collect(r.p, r.v, 0, 0), 0);
	pool_pass_emit(r.p, log_event, &got);
	for (uint32_t i = 40; i < 64; i++) { /* while the round was on */
		claim_by_hand(r.mem, i, 1);
	}
	pool_pass_commit(r.p);
	assert_false(pool_pass_again(r.p)); /* 24 of 64 */
	for (uint32_t i = 0; i < 40; i++) {
		put(r.mem, i, 1000 * MS + i, 0, i);
		close_chunk(r.mem, i);
	}
	pool_pass_begin(r.p, 1000 * MS, 1000000000ull, 0); /* nothing is old enough */
	assert_int_equal(pool_pass_collect(r.p, r.v, 0, 0), 0);
	pool_pass_emit(r.p, log_event, &got);
	pool_pass_commit(r.p);
	assert_true(pool_pass_again(r.p));
	rig_free(&r);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void events_of_one_cpu_come_in_time_order_over_processes(void **state)
{
	struct rig r = rig_make(4096);
	void *other = rig_segment(4096);
	struct pool_view *views[2] = {r.v, rig_view(other, 4096, &views)};
	unsigned total = 0;
	uint32_t seed = 12345;
	uint64_t ts = 1000;
	uint32_t opened[2] = {0, 0};
	for (unsigned k = 0; k < 600; k++) { /* in true order, over random chunks and cpus */
		seed = seed * 1664525u + 1013904223u;
		void *mem = seed >> 31 ? other : r.mem;
		unsigned chunk = (seed >> 20) % 16;
		uint32_t *bits = &opened[mem == other];
		if (!(*bits >> chunk & 1)) {
			*bits |= 1u << chunk;
			claim_by_hand(mem, chunk, 1);
		}
		if (pool_word_committed(desc_of(mem, chunk)->word) >= 4096) {
			continue;
		}
		ts += (seed >> 10) % 3; /* equal ticks happen */
		put(mem, chunk, ts, (seed >> 16) % 3, ++total);
	}
	got.count = 0;
	assert_int_equal(test_round(r.p, views, 2, 0, 10 * MS, log_event, &got), total);
	uint64_t last[3] = {0, 0, 0};
	static bool seen[1000];
	for (uint32_t i = 0; i < got.count; i++) {
		assert_true(got.ts[i] >= last[got.cpu[i]]);
		last[got.cpu[i]] = got.ts[i];
		assert_false(seen[got.tid[i]]);
		seen[got.tid[i]] = true;
		assert_true(got.cookie[i] == r.mem || got.cookie[i] == (void *)&views);
	}
	pool_view_destroy(views[1]);
	rig_segment_free(other, 4096);
	rig_free(&r);
}

static void equal_ticks_of_one_chunk_keep_their_order(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	claim_by_hand(r.mem, 1, 1);
	for (uint32_t i = 0; i < 60; i++) {
		put(r.mem, 0, 1000, i / 3 % 2, i);
		put(r.mem, 1, 1000, i / 3 % 2, 100 + i);
	}
	assert_int_equal(round_at(&r, 10 * MS, 0), 120);
	int64_t last[2][2] = {{-1, -1}, {-1, -1}};
	for (uint32_t i = 0; i < got.count; i++) {
		int64_t *l = &last[got.cpu[i]][got.tid[i] >= 100];
		assert_true(got.tid[i] > *l);
		*l = got.tid[i];
	}
	rig_free(&r);
}

static void a_budget_takes_the_oldest_and_leaves_the_rest_for_later(void **state)
{
	struct rig r = rig_make(4096);
	/* one thread whose later chunk has the lower number */
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t chunk = 19 - i;
		claim_by_hand(r.mem, chunk, 1);
		for (uint32_t k = 0; k < 64; k++) {
			put(r.mem, chunk, 1000 + i * 64 + k, 0, i * 64 + k);
		}
		close_chunk(r.mem, chunk);
	}
	uint32_t expected = 0;
	for (unsigned rounds = 0; rounds < 100 && expected < 1280; rounds++) {
		got.count = 0;
		pool_pass_begin(r.p, 10 * MS, FREQ, 0);
		assert_int_equal(pool_pass_collect(r.p, r.v, 0, 10000), 0);
		uint64_t n = pool_pass_emit(r.p, log_event, &got);
		pool_pass_commit(r.p);
		assert_true(n > 0 && n * 64 <= 10000 + 4096);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(got.tid[i], expected++);
		}
	}
	assert_int_equal(expected, 1280);
	assert_true(rig_header(&r)->free_mask == UINT64_MAX);
	rig_free(&r);
}

/* ---- commit, death, adoption ---------------------------------------------------------------- */

static void a_round_that_is_not_committed_happens_again(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 1000, 0, 1);
	close_chunk(r.mem, 0);
	for (unsigned i = 0; i < 3; i++) {
		got.count = 0;
		pool_pass_begin(r.p, 10 * MS, FREQ, 0);
		assert_int_equal(pool_pass_collect(r.p, r.v, 0, 0), 0);
		assert_int_equal(pool_pass_emit(r.p, log_event, &got), 1);
		assert_false(rig_header(&r)->free_mask & 1);
	}
	pool_pass_commit(r.p);
	assert_true(rig_header(&r)->free_mask & 1);
	assert_int_equal(round_at(&r, 10 * MS, 0), 0);
	rig_free(&r);
}

static void a_claimed_chunk_that_is_not_open_yet_is_left_alone(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	put(r.mem, 0, 1000, 0, 1);
	close_chunk(r.mem, 0);
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	rig_header(&r)->free_mask &= ~1ull; /* claimed again; the word is still the old one */
	assert_int_equal(round_at(&r, 10 * MS, 0), 0);
	assert_false(rig_header(&r)->free_mask & 1);
	claim_by_hand(r.mem, 0, 2);
	put(r.mem, 0, 1001, 0, 2);
	assert_int_equal(round_at(&r, 10 * MS, 0), 1);
	assert_int_equal(got.tid[0], 2);
	rig_free(&r);
}

static void a_record_begun_but_not_published_is_counted_once_at_death(void **state)
{
	struct rig r = rig_make(4096);
	claim_by_hand(r.mem, 0, 1);
	claim_by_hand(r.mem, 1, 1);
	put(r.mem, 0, 1000, 0, 1);
	desc_of(r.mem, 0)->begun = 128;
	put(r.mem, 1, clock_now(), 0, 2); /* newer than any watermark: the end is the end */
	assert_int_equal(round_at(&r, 10 * MS, POOL_PASS_FINAL), 2);
	assert_int_equal(stats_of(&r).torn, 1);
	assert_int_equal(round_at(&r, 10 * MS, POOL_PASS_FINAL), 0);
	assert_int_equal(stats_of(&r).torn, 1);
	rig_free(&r);
}

static void an_adopted_pool_goes_on_where_the_last_drain_stopped(void **state)
{
	struct rig r = rig_make(4096);
	for (uint32_t i = 0; i < 4; i++) {
		claim_by_hand(r.mem, i, 9000 + i);
		put(r.mem, i, 1000, 0, i);
		put(r.mem, i, 1001, 0, 10 + i);
	}
	rig_header(&r)->lost[3] = 17;
	assert_int_equal(round_at(&r, 10 * MS, 0), 8);
	put(r.mem, 0, 1002, 0, 100);
	close_chunk(r.mem, 1);       /* consumed, and nobody was about to free it */
	claim_by_hand(r.mem, 4, 77); /* consumed, and perhaps freed and claimed again already */
	put(r.mem, 4, 900, 0, 104);
	close_chunk(r.mem, 4);
	desc_of(r.mem, 4)->cons_hint = 77u << POOL_HINT_SHIFT | POOL_HINT_FREEING;
	put(r.mem, 2, 1002, 0, 102);
	close_chunk(r.mem, 2);
	desc_of(r.mem, 3)->word = pool_word(9999, 0); /* hint of another generation */
	put(r.mem, 3, 1002, 0, 103);
	assert_int_equal(pool_view_take_lost(r.v, 3, UINT64_MAX), 17);
	rig_header(&r)->lost[3] += 5; /* the next one is the first to hear of these */
	pool_view_destroy(r.v);
	r.v = rig_view(r.mem, 4096, NULL);
	pool_view_adopt(r.v);
	assert_int_equal(round_at(&r, 10 * MS, 0), 3);
	assert_int_equal(got.tid[0] + got.tid[1] + got.tid[2], 100 + 102 + 103);
	assert_true(rig_header(&r)->free_mask == ((UINT64_MAX << 5) | 6));
	assert_int_equal(stats_of(&r).records_rejected, 0);
	assert_int_equal(pool_view_take_lost(r.v, 3, UINT64_MAX), 5);
	rig_header(&r)->lost[3] += 2;
	assert_int_equal(pool_view_take_lost(r.v, 3, UINT64_MAX), 2);
	rig_free(&r);
}

static void claims_of_loss_are_clamped_to_what_is_possible(void **state)
{
	struct rig r = rig_make(4096);
	rig_header(&r)->lost[0] = 10;
	assert_int_equal(pool_view_take_lost(r.v, 0, 1 * MS), 10);
	assert_int_equal(pool_view_take_lost(r.v, 0, 1 * MS), 0);
	assert_false(pool_view_lied(r.v));
	rig_header(&r)->lost[0] = UINT64_MAX;
	uint64_t n = pool_view_take_lost(r.v, 0, 1000);
	assert_true(n >= 500 && n <= 500 * 4096);
	assert_true(pool_view_lied(r.v));
	rig_header(&r)->lost[0] = 3; /* backwards */
	assert_int_equal(pool_view_take_lost(r.v, 0, 1 * MS), 0);
	assert_int_equal(pool_view_take_lost(r.v, 64, 1 * MS), 0);
	rig_header(&r)->lost_cause[0] = UINT64_MAX;
	assert_true(stats_of(&r).lost_cause[0] < UINT64_MAX / 2);
	rig_free(&r);
}

static void segments_with_a_false_header_are_refused(void **state)
{
	struct rig r = rig_make(4096);
	struct seg_header *h = rig_segment(4096);
	uint64_t bytes = pool_segment_bytes(4096);
	assert_int_equal(pool_view_add_segment(r.v, h, bytes - 1), -EINVAL);
	assert_int_equal(pool_view_add_segment(r.v, h, 0), -EINVAL);
	h->chunk_size = 65536;
	assert_int_equal(pool_view_add_segment(r.v, h, bytes), -EINVAL);
	h->chunk_size = 4104;
	assert_int_equal(pool_view_add_segment(r.v, h, bytes), -EINVAL);
	h->chunk_size = 4096;
	h->magic++;
	assert_int_equal(pool_view_add_segment(r.v, h, bytes), -EINVAL);
	rig_segment_free(h, 4096);
	rig_free(&r);
}

static void each_change_of_cpu_is_a_piece_and_none_is_lost(void **state)
{
	struct rig r = rig_make(65536);
	claim_by_hand(r.mem, 0, 1);
	for (uint32_t i = 0; i < 1024; i++) {
		put(r.mem, 0, 1000 + i, (uint16_t)(i * 40503u), i);
	}
	assert_int_equal(round_at(&r, 10 * MS, 0), 1024);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bad_record_is_refused_with_what_follows_and_counted),
		cmocka_unit_test(a_good_chain_of_items_is_accepted),
		cmocka_unit_test(committed_beyond_the_chunk_is_clamped_and_counted),
		cmocka_unit_test(a_few_bytes_at_the_end_of_the_last_chunk_are_refused_unread),
		cmocka_unit_test(an_adopted_chunk_was_not_consumed_beyond_its_end),
		cmocka_unit_test(a_span_beyond_the_segment_is_refused),
		cmocka_unit_test(committed_that_runs_backwards_delivers_nothing_twice),
		cmocka_unit_test(committed_that_is_not_aligned_is_rounded_down),
		cmocka_unit_test(a_generation_that_vanishes_is_a_violation),
		cmocka_unit_test(times_that_run_backwards_are_raised_to_their_predecessor),
		cmocka_unit_test(a_time_in_the_future_is_neither_believed_nor_stuck),
		cmocka_unit_test(records_newer_than_the_watermark_wait_in_their_chunk),
		cmocka_unit_test(a_write_in_flight_holds_later_events_back_until_it_is_published),
		cmocka_unit_test(nobody_is_held_back_longer_than_the_limit),
		cmocka_unit_test(flush_does_not_wait_for_a_write_in_flight),
		cmocka_unit_test(a_pool_more_than_half_full_does_not_wait),
		cmocka_unit_test(a_pool_of_open_and_drained_chunks_is_not_full),
		cmocka_unit_test(chunks_that_are_full_of_news_do_make_a_pool_full),
		cmocka_unit_test(events_of_one_cpu_come_in_time_order_over_processes),
		cmocka_unit_test(equal_ticks_of_one_chunk_keep_their_order),
		cmocka_unit_test(a_budget_takes_the_oldest_and_leaves_the_rest_for_later),
		cmocka_unit_test(a_round_that_is_not_committed_happens_again),
		cmocka_unit_test(a_claimed_chunk_that_is_not_open_yet_is_left_alone),
		cmocka_unit_test(a_record_begun_but_not_published_is_counted_once_at_death),
		cmocka_unit_test(an_adopted_pool_goes_on_where_the_last_drain_stopped),
		cmocka_unit_test(claims_of_loss_are_clamped_to_what_is_possible),
		cmocka_unit_test(segments_with_a_false_header_are_refused),
		cmocka_unit_test(each_change_of_cpu_is_a_piece_and_none_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
