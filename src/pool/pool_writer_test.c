/* SPDX-License-Identifier: MIT
 *
 * The writer's promises, one process, no drain thread. Crash tests are in pool_torture_test.c.
 */
#include "pool/pool_testing.h"

#include <cmocka.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
	uint32_t count;
	struct pool_rec rec;
	uint8_t activity[16];
	bool has_activity;
	uint8_t items[256];
	uint32_t items_bytes;
	uint8_t payload[70000];
	uint32_t payload_bytes;
};

static void keep_last(void *ctx, const struct pool_event *ev)
{
	struct seen *s = ctx;
	s->count++;
	s->rec = *ev->rec;
	s->has_activity = ev->activity != NULL;
	if (ev->activity) {
		memcpy(s->activity, ev->activity, 16);
	}
	s->items_bytes = ev->items_bytes;
	if (ev->items) {
		memcpy(s->items, ev->items, ev->items_bytes);
	}
	s->payload_bytes = ev->payload_bytes;
	memcpy(s->payload, ev->payload, ev->payload_bytes);
}

static uint8_t pattern[70000];

static void fill_pattern(void)
{
	for (uint32_t i = 0; i < sizeof pattern; i++) {
		pattern[i] = (uint8_t)(i * 31 + i / 256 + 1);
	}
}

static void every_field_of_a_record_comes_out_as_it_went_in(void **state)
{
	struct rig r = rig_make(4096);
	static struct seen s;
	s.count = 0;
	uint32_t a = 0x11223344;
	uint64_t b = 0x5566778899aabbccull;
	char c[16] = "sixteen bytes!!";
	struct pool_piece pieces[3] = {{&a, 4, 0}, {&b, 8, 0}, {c, 16, 0}};
	uint8_t activity[16] = "activity id 16b";
	/* 24-byte item with 11 data bytes, Linkage; then one of 16 without */
	uint8_t items[40] = {24, 0, 6, 0, 1, 0, 11, 0, [24] = 16, 0, 1, 0, 0, 0, 8, 0};
	struct pool_write_args args = {
		.kind = POOL_REC_EVENT,
		.flags = POOL_REC_ACTIVITY | POOL_REC_ITEMS | POOL_REC_STRING_ONLY,
		.prov = 6,
		.cfg_gen = 65535,
		.tid = 4711,
		.mask = 1ull << 63 | 1,
		.descriptor = test_descriptor,
		.activity = activity,
		.items = items,
		.items_bytes = sizeof items,
		.piece = pieces,
		.piece_count = 3,
		.payload_bytes = 28,
	};
	uint64_t before = clock_now();
	assert_int_equal(pool_write_slow(r.w, &args), 0);
	uint64_t after = clock_now();
	assert_int_equal(rig_flush(&r, keep_last, &s), 1);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.rec.size8, (48 + 16 + 40 + 32) / 8);
	assert_int_equal(s.rec.kind, POOL_REC_EVENT);
	assert_int_equal(s.rec.flags, args.flags);
	assert_int_equal(s.rec.prov, 6);
	assert_int_equal(s.rec.cfg_gen, 65535);
	assert_int_equal(s.rec.tid, 4711);
	assert_int_equal(s.rec.user_len, 28);
	assert_true(s.rec.mask == (1ull << 63 | 1));
	assert_true(s.rec.ts >= before && s.rec.ts <= after);
	assert_memory_equal(&s.rec.id, test_descriptor, 16);
	assert_memory_equal(s.activity, activity, 16);
	assert_int_equal(s.items_bytes, 40);
	assert_memory_equal(s.items, items, 40);
	assert_memory_equal(s.payload, &a, 4);
	assert_memory_equal(s.payload + 4, &b, 8);
	assert_memory_equal(s.payload + 12, c, 16);
	rig_free(&r);
}

static void payloads_of_every_length_are_copied_exactly(void **state)
{
	struct rig r = rig_make(4096);
	static struct seen s;
	for (uint32_t n = 0; n <= 600; n++) {
		s.count = 0;
		assert_int_equal(test_write(r.w, pattern + n % 13, n), 0);
		assert_int_equal(rig_flush(&r, keep_last, &s), 1);
		assert_int_equal(s.payload_bytes, n);
		assert_memory_equal(s.payload, pattern + n % 13, n);
		assert_int_equal(s.items_bytes, 0);
		assert_false(s.has_activity);
	}
	rig_free(&r);
}

static void events_up_to_64k_fit_into_a_pool_of_4k_chunks(void **state)
{
	static const uint32_t sizes[] = {4000, 4048, 4049, 8192, 30001, 65000, 65535};
	struct rig r = rig_make(4096);
	static struct seen s;
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < BASE_ARRAY_LEN(sizes); i++) {
			s.count = 0;
			assert_int_equal(test_write(r.w, pattern, sizes[i]), 0);
			assert_int_equal(test_write(r.w, pattern + 1, 8), 0);
			assert_int_equal(rig_flush(&r, keep_last, &s), 2);
			assert_int_equal(s.payload_bytes, 8);
			s.count = 0;
			assert_int_equal(test_write(r.w, pattern, sizes[i]), 0);
			assert_int_equal(rig_flush(&r, keep_last, &s), 1);
			assert_int_equal(s.payload_bytes, sizes[i]);
			assert_memory_equal(s.payload, pattern, sizes[i]);
		}
	}
	/* every run was given back: all chunks but the open one (a run of up to 17) are free */
	rig_flush(&r, NULL, NULL);
	assert_true(__builtin_popcountll(rig_header(&r)->free_mask) >= 64 - 17);
	rig_free(&r);
}

static void an_event_above_64k_is_refused_and_counted(void **state)
{
	struct rig r = rig_make(4096);
	assert_int_equal(test_write(r.w, pattern, 65536), -EMSGSIZE);
	assert_int_equal(test_lost(&r, 0), 1);
	assert_int_equal(test_lost(&r, 1), 0);
	assert_int_equal(test_lost(&r, 2), 1);
	struct pool_view_stats st;
	pool_view_stats(r.v, &st);
	assert_int_equal(st.lost_cause[POOL_LOST_TOO_BIG], 1);
	assert_int_equal(rig_flush(&r, NULL, NULL), 0);
	rig_free(&r);
}

static void a_payload_that_grows_while_it_is_read_stays_in_its_record(void **state)
{
	struct rig r = rig_make(4096);
	static struct seen s;
	struct pool_piece piece = {pattern, 4000, 0}; /* the caller had added up 16 */
	struct pool_write_args a = {.kind = POOL_REC_EVENT, .tid = 1, .mask = 1};
	a.descriptor = test_descriptor;
	a.piece = &piece;
	a.piece_count = 1;
	a.payload_bytes = 16;
	assert_int_equal(pool_write(r.w, &a), 0);
	piece.size = 3;
	assert_int_equal(pool_write(r.w, &a), 0);
	s.count = 0;
	assert_int_equal(rig_flush(&r, keep_last, &s), 2);
	assert_int_equal(s.payload_bytes, 16);
	assert_memory_equal(s.payload, pattern, 3);
	for (unsigned i = 3; i < 16; i++) {
		assert_int_equal(s.payload[i], 0);
	}
	rig_free(&r);
}

static void a_full_pool_counts_every_event_it_refuses(void **state)
{
	struct rig r = rig_make(4096);
	uint64_t written = 0, refused = 0;
	for (unsigned i = 0; i < 10000; i++) {
		int e = test_write(r.w, pattern, i % 100);
		assert_true(e == 0 || e == -ENOSPC);
		written += e == 0;
		refused += e != 0;
	}
	assert_true(refused > 0);
	assert_int_equal(test_lost(&r, 0), refused);
	assert_int_equal(test_lost(&r, 2), refused);
	assert_int_equal(rig_flush(&r, NULL, NULL), written);
	assert_int_equal(test_write(r.w, pattern, 100), 0); /* there is room again */
	rig_free(&r);
}

static void small_events_still_fit_when_a_big_one_does_not(void **state)
{
	struct rig r = rig_make(4096);
	while (test_write(r.w, pattern, 1000) == 0) {
	}
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	rig_free(&r);
}

static struct pool_slot *slot_in_use(struct pool_writer *w, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++) {
		if (w->slot[i].at) {
			return &w->slot[i];
		}
	}
	return NULL;
}

static void hold_normal_slots(struct pool_writer *w, uint32_t lock)
{
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		w->slot[i].lock = lock;
	}
}

static void a_locked_slot_sends_the_next_writer_to_an_overflow_slot(void **state)
{
	struct rig r = rig_make(4096);
	hold_normal_slots(r.w, 12345);
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	assert_null(slot_in_use(r.w, 0, POOL_SLOTS));
	struct pool_slot *s = slot_in_use(r.w, POOL_SLOTS, POOL_SLOTS);
	assert_non_null(s);
	assert_int_equal(s->lock, 0);
	assert_int_equal(rig_flush(&r, NULL, NULL), 1);
	rig_free(&r);
}

static void overflow_slots_of_one_writer_lie_apart(void **state)
{
	struct rig r = rig_make(4096);
	struct pool_slot *last = NULL;
	for (unsigned k = 0; k < 16; k++) {
		struct pool_slot *s = pool_slot_take(r.w, 3, (77 + k), 0);
		assert_non_null(s);
		if (k == 0) {
			assert_ptr_equal(s, &r.w->slot[3]);
		} else if (k > 1) {
			ptrdiff_t apart = s - last;
			assert_true(apart >= 16 || apart <= -16);
		}
		last = s;
	}
	rig_free(&r);
}

static void nesting_goes_as_deep_as_there_are_slots_then_is_counted(void **state)
{
	struct rig r = rig_make(4096);
	hold_normal_slots(r.w, 12345);
	for (unsigned k = 0; k < POOL_SLOTS; k++) {
		assert_non_null(pool_slot_take(r.w, 9, (100 + k), 0));
	}
	assert_int_equal(test_write(r.w, pattern, 8), -EDEADLK);
	assert_int_equal(test_lost(&r, 0), 1);
	assert_int_equal(rig_header(&r)->lost_cause[POOL_LOST_NESTING], 1);
	rig_free(&r);
}

static void a_writer_without_a_chunk_borrows_an_idle_slot_with_room(void **state)
{
	struct rig r = rig_make(4096);
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	struct pool_slot *mine = slot_in_use(r.w, 0, POOL_SLOTS);
	rig_header(&r)->free_mask = 0; /* others hold the rest */
	hold_normal_slots(r.w, 12345);
	mine->lock = 0; /* idle, but not this CPU's: make the writer start elsewhere */
	struct pool_slot *other = pool_slot_take(r.w, 40, test_tid(), UINT64_MAX);
	assert_ptr_not_equal(other, mine);
	assert_ptr_equal(pool_slot_make_room(r.w, other, 64), mine);
	assert_int_equal(other->lock, 0);
	assert_int_equal(mine->lock, test_tid());
	rig_free(&r);
}

static sigjmp_buf jump;

static void jump_out(int sig)
{
	siglongjmp(jump, 1);
}

static void a_fault_in_the_payload_leaves_nothing_behind_and_its_slot_comes_back(void **state)
{
	struct rig r = rig_make(4096);
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction sa = {.sa_handler = jump_out}, old, old_bus;
	sigaction(SIGSEGV, &sa, &old);
	sigaction(SIGBUS, &sa, &old_bus);
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	if (sigsetjmp(jump, 1) == 0) {
		test_write(r.w, bad, 8);
		fail();
	}
	sigaction(SIGSEGV, &old, NULL);
	sigaction(SIGBUS, &old_bus, NULL);
	struct pool_slot *s = slot_in_use(r.w, 0, POOL_SLOTS);
	assert_int_equal(s->lock, test_tid());
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(test_write(r.w, pattern, 8), 0);
	}
	/* The thread may have moved to another CPU's slot meanwhile; then the old one stays. */
	unsigned locked = 0, opened = 0;
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		locked += r.w->slot[i].lock != 0;
		opened += r.w->slot[i].at != NULL;
	}
	assert_true(locked == 0 || opened > 1);
	assert_int_equal(rig_flush(&r, NULL, NULL), 201);
	struct pool_view_stats st;
	pool_view_stats(r.v, &st);
	assert_int_equal(st.records_rejected, 0);
	munmap(bad, 4096);
	rig_free(&r);
}

static void a_live_write_that_was_interrupted_is_never_taken_over(void **state)
{
	struct rig r = rig_make(4096);
	uint32_t me = test_tid();
	uint64_t above = (uint64_t)(uintptr_t)__builtin_frame_address(0) + 64;
	hold_normal_slots(r.w, me);
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		r.w->slot[i].frame = above;
	}
	for (unsigned i = 0; i < 1000; i++) {
		test_write(r.w, pattern, 8);
	}
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		assert_int_equal(r.w->slot[i].lock, me);
		assert_null(r.w->slot[i].at);
	}
	rig_free(&r);
}

static void *return_tid(void *arg)
{
	return (void *)(uintptr_t)test_tid();
}

static void reap_frees_the_lock_of_a_thread_that_is_gone_and_no_other(void **state)
{
	struct rig r = rig_make(4096);
	pthread_t t;
	void *dead;
	pthread_create(&t, NULL, return_tid, NULL);
	pthread_join(t, &dead);
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	struct pool_slot *s = slot_in_use(r.w, 0, POOL_SLOTS);
	s->lock = (uint32_t)(uintptr_t)dead;
	s->desc->begun = pool_slot_pos(s) + 64; /* it died inside a record */
	struct pool_slot *other = &r.w->slot[s == &r.w->slot[200] ? 201 : 200];
	other->lock = (uint32_t)getpid();
	pool_writer_reap(r.w);
	assert_int_equal(s->lock, 0);
	assert_int_equal(s->desc->begun, pool_slot_pos(s));
	assert_int_equal(other->lock, (uint32_t)getpid());
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	assert_int_equal(rig_flush(&r, NULL, NULL), 2);
	rig_free(&r);
}

static void a_forked_child_writes_nothing_into_its_parents_pool(void **state)
{
	struct rig r = rig_make(4096);
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int e = test_write(r.w, pattern, 8);
		_exit(e == -ENOTCONN && r.w->lost_detached == 1 ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(test_write(r.w, pattern, 8), 0);
	assert_int_equal(rig_flush(&r, NULL, NULL), 2);
	rig_free(&r);
}

static void times_given_by_the_caller_do_not_disturb_the_order(void **state)
{
	struct rig r = rig_make(4096);
	static struct seen s;
	struct pool_write_args a = {.kind = POOL_REC_EVENT, .tid = 1, .mask = 1};
	a.descriptor = test_descriptor;
	a.timestamp = UINT64_MAX;
	assert_int_equal(pool_write(r.w, &a), 0);
	uint64_t now = clock_now();
	rig_flush(&r, keep_last, &s);
	assert_true(s.rec.ts <= now);
	uint64_t first = s.rec.ts;
	a.timestamp = 1; /* long ago */
	assert_int_equal(pool_write(r.w, &a), 0);
	rig_flush(&r, keep_last, &s);
	assert_true(s.rec.ts >= first || slot_in_use(r.w, 0, POOL_SLOTS)->last_ts != s.rec.ts);
	struct pool_view_stats st;
	pool_view_stats(r.v, &st);
	assert_int_equal(st.times_clamped, 0);
	rig_free(&r);
}

static void errno_is_left_alone(void **state)
{
	struct rig r = rig_make(4096);
	r.w->bell_allowed = POOL_CTL_BELL_ALLOWED;
	errno = 4242;
	for (unsigned i = 0; i < 5000; i++) {
		test_write(r.w, pattern, 100);
	}
	assert_int_equal(errno, 4242);
	rig_free(&r);
}

static void the_bell_rings_once_when_the_pool_is_half_full(void **state)
{
	struct rig r = rig_make(4096);
	r.w->bell_allowed = POOL_CTL_BELL_ALLOWED;
	while (__builtin_popcountll(rig_header(&r)->free_mask) > 32) {
		assert_int_equal(r.w->bell, 0);
		test_write(r.w, pattern, 1000);
	}
	while (test_write(r.w, pattern, 1000) == 0) {
	}
	assert_int_equal(r.w->bell, 1);
	assert_int_equal(rig_header(&r)->armed, 0);
	rig_flush(&r, NULL, NULL);
	assert_int_equal(rig_header(&r)->armed, 1);
	assert_false(pool_pass_again(r.p));
	rig_free(&r);
}

static void the_bell_is_silent_when_it_is_not_allowed(void **state)
{
	struct rig r = rig_make(4096);
	while (test_write(r.w, pattern, 1000) == 0) {
	}
	assert_int_equal(r.w->bell, 0);
	assert_int_equal(rig_header(&r)->armed, 1);
	rig_free(&r);
}

static void with_low_latency_the_first_event_rings(void **state)
{
	struct rig r = rig_make(4096);
	r.w->bell_allowed = POOL_CTL_BELL_ALLOWED | POOL_CTL_LOW_LATENCY;
	test_write(r.w, pattern, 8);
	assert_int_equal(r.w->bell, 1);
	test_write(r.w, pattern, 8);
	assert_int_equal(r.w->bell, 1);
	rig_flush(&r, NULL, NULL);
	test_write(r.w, pattern, 8);
	assert_int_equal(r.w->bell, 2);
	rig_free(&r);
}

static void *wait_for_bell(void *arg)
{
	struct pool_writer *w = arg;
	while (order_load_acquire(&w->bell) == 0) {
		syscall(SYS_futex, &w->bell, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	}
	return NULL;
}

static void the_bell_wakes_a_thread_that_sleeps_on_it(void **state)
{
	struct rig r = rig_make(4096);
	r.w->bell_allowed = POOL_CTL_BELL_ALLOWED | POOL_CTL_LOW_LATENCY;
	pthread_t t;
	pthread_create(&t, NULL, wait_for_bell, r.w);
	usleep(2000); /* most likely asleep; correct either way */
	test_write(r.w, pattern, 8);
	pthread_join(t, NULL);
	rig_free(&r);
}

static void before_the_segment_is_ready_events_are_counted_as_detached(void **state)
{
	static const uint8_t id[16];
	uint64_t bytes = pool_segment_bytes(4096);
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct pool_writer *w = pool_writer_create();
	assert_int_equal(test_write(w, pattern, 8), -ENOTCONN);
	assert_int_equal(w->lost_detached, 1);
	assert_int_equal(pool_writer_add_segment(w, mem, bytes, 4096), 0);
	assert_int_equal(test_write(w, pattern, 8), -ENOTCONN);
	assert_int_equal(((struct seg_header *)mem)->lost[0], 1);
	pool_segment_init(mem, 4096, id);
	assert_int_equal(test_write(w, pattern, 8), 0);
	assert_int_equal(((struct seg_header *)mem)->lost[0], 1);
	pool_writer_destroy(w);
	munmap(mem, bytes);
}

static void a_growth_segment_is_used_first_and_the_old_one_after_it(void **state)
{
	struct rig r = rig_make(4096);
	void *more = rig_segment(16384);
	assert_int_equal(pool_writer_add_segment(r.w, more, pool_segment_bytes(16384), 16384), 0);
	assert_int_equal(pool_view_add_segment(r.v, more, pool_segment_bytes(16384)), 0);
	uint64_t written = 1;
	assert_int_equal(test_write(r.w, pattern, 1000), 0);
	assert_true(((struct seg_header *)more)->free_mask == UINT64_MAX << 1);
	while (test_write(r.w, pattern, 1000) == 0) {
		written++;
	}
	assert_true(((struct seg_header *)more)->free_mask == 0);
	assert_true(rig_header(&r)->free_mask == 0);
	assert_int_equal(written, 64 * 15 + 64 * 3);
	assert_int_equal(rig_flush(&r, NULL, NULL), written);
	rig_free(&r);
	rig_segment_free(more, 16384);
}

static void segments_that_do_not_make_sense_are_refused(void **state)
{
	struct rig r = rig_make(4096);
	struct seg_header *h = rig_segment(4096);
	uint64_t bytes = pool_segment_bytes(4096);
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes - 1, 4096), -EINVAL);
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 8192), -EINVAL);
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 0), -EINVAL);
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 4097), -EINVAL);
	assert_int_equal(pool_writer_add_segment(r.w, NULL, bytes, 4096), -EINVAL);
	h->chunk_count = 65;
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 4096), -EINVAL);
	h->chunk_count = 64;
	h->abi_major++;
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 4096), -EINVAL);
	h->abi_major--;
	for (unsigned i = 1; i < POOL_SEGMENTS_MAX; i++) {
		assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 4096), 0);
	}
	assert_int_equal(pool_writer_add_segment(r.w, h, bytes, 4096), -EINVAL);
	rig_segment_free(h, 4096);
	rig_free(&r);
}

static void claims_take_the_lowest_chunk_so_that_few_are_touched(void **state)
{
	struct rig r = rig_make(4096);
	for (unsigned i = 0; i < 20000; i++) {
		assert_int_equal(test_write(r.w, pattern, 100), 0);
		if (i % 20 == 0) {
			rig_flush(&r, NULL, NULL);
		}
	}
	const struct chunk_desc *d = (const void *)((uint8_t *)r.mem + POOL_DESC_OFFSET);
	unsigned touched = 0;
	for (unsigned i = 0; i < POOL_CHUNKS; i++) {
		touched += d[i].word != 0;
	}
	assert_true(touched <= 6); /* two in turn, for each slot the thread visited */
	rig_free(&r);
}

int main(void)
{
	fill_pattern();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_record_comes_out_as_it_went_in),
		cmocka_unit_test(payloads_of_every_length_are_copied_exactly),
		cmocka_unit_test(events_up_to_64k_fit_into_a_pool_of_4k_chunks),
		cmocka_unit_test(an_event_above_64k_is_refused_and_counted),
		cmocka_unit_test(a_payload_that_grows_while_it_is_read_stays_in_its_record),
		cmocka_unit_test(a_full_pool_counts_every_event_it_refuses),
		cmocka_unit_test(small_events_still_fit_when_a_big_one_does_not),
		cmocka_unit_test(a_locked_slot_sends_the_next_writer_to_an_overflow_slot),
		cmocka_unit_test(overflow_slots_of_one_writer_lie_apart),
		cmocka_unit_test(nesting_goes_as_deep_as_there_are_slots_then_is_counted),
		cmocka_unit_test(a_writer_without_a_chunk_borrows_an_idle_slot_with_room),
		cmocka_unit_test(a_fault_in_the_payload_leaves_nothing_behind_and_its_slot_comes_back),
		cmocka_unit_test(a_live_write_that_was_interrupted_is_never_taken_over),
		cmocka_unit_test(reap_frees_the_lock_of_a_thread_that_is_gone_and_no_other),
		cmocka_unit_test(a_forked_child_writes_nothing_into_its_parents_pool),
		cmocka_unit_test(times_given_by_the_caller_do_not_disturb_the_order),
		cmocka_unit_test(errno_is_left_alone),
		cmocka_unit_test(the_bell_rings_once_when_the_pool_is_half_full),
		cmocka_unit_test(the_bell_is_silent_when_it_is_not_allowed),
		cmocka_unit_test(with_low_latency_the_first_event_rings),
		cmocka_unit_test(the_bell_wakes_a_thread_that_sleeps_on_it),
		cmocka_unit_test(before_the_segment_is_ready_events_are_counted_as_detached),
		cmocka_unit_test(a_growth_segment_is_used_first_and_the_old_one_after_it),
		cmocka_unit_test(segments_that_do_not_make_sense_are_refused),
		cmocka_unit_test(claims_take_the_lowest_chunk_so_that_few_are_touched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
