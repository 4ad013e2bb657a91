/* SPDX-License-Identifier: MIT
 *
 * Memory of the in-process destination and the logger thread that drains it.
 *
 * The memory is made once and kept for the life of the process: a writer may be inside at any
 * moment and is never waited for.
 */
#include "inproc/inproc_private.h"
#include "base/quiet_thread.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* A full half of the pool rings the bell; this is for the rest: timers, and quiet programs. */
#define TICK_NS (100u * 1000 * 1000)

struct ctl_entry *inproc_entry(uint32_t index)
{
	return (struct ctl_entry *)(void *)(inproc.ctl + inproc_entry_offset(index));
}

static void *map_anonymous(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void put_ctl_header(void)
{
	struct ctl_header *h = (struct ctl_header *)(void *)inproc.ctl;
	h->abi_major = POOL_ABI_MAJOR;
	h->abi_minor = POOL_ABI_MINOR;
	h->size = POOL_CTL_BYTES;
	h->clock_kind = clock_kind();
	h->clock_freq = clock_frequency();
	order_store_relaxed(&h->flags, (uint32_t)POOL_CTL_BELL_ALLOWED);
	for (uint32_t i = 0; i < INPROC_REGISTRATIONS; i++) {
		struct ctl_entry *e = inproc_entry(i);
		e->table[0] = inproc_table_offset(i, 0);
		e->table[1] = inproc_table_offset(i, 1);
	}
	order_store_release(&h->magic, POOL_CTL_MAGIC);
}

int inproc_memory_create(void)
{
	if (inproc.destination) {
		return 0;
	}
	size_t segment_bytes = pool_segment_bytes(INPROC_CHUNK_BYTES);
	struct guid pool_id;
	struct pool_writer *writer = pool_writer_create();
	inproc.ctl = map_anonymous(POOL_CTL_BYTES);
	inproc.segment = map_anonymous(segment_bytes);
	int err = -ENOMEM;
	if (!writer || !inproc.ctl || !inproc.segment) {
		goto fail;
	}
	err = guid_random(&pool_id);
	if (err == 0) {
		put_ctl_header();
		pool_segment_init(inproc.segment, INPROC_CHUNK_BYTES, pool_id.b);
		err = pool_writer_add_segment(writer, inproc.segment, segment_bytes, INPROC_CHUNK_BYTES);
	}
	if (err == 0) {
		err = pool_view_create(NULL, &inproc.view);
	}
	if (err == 0) {
		err = pool_view_add_segment(inproc.view, inproc.segment, segment_bytes);
	}
	if (err == 0) {
		err = pool_pass_create(&inproc.pass);
	}
	if (err < 0) {
		goto fail;
	}
	struct pool_limits limits = {.provider_count = INPROC_REGISTRATIONS};
	pool_view_set_limits(inproc.view, &limits);
	order_store_relaxed(&writer->bell_allowed, (uint32_t)POOL_CTL_BELL_ALLOWED);
	inproc.lost_taken_ns = clock_read_system_ns();
	inproc.destination_body.ctl = inproc.ctl;
	inproc.destination_body.writer = writer;
	/* A: pairs with B in inproc_destination() */
	order_store_release(&inproc.destination, &inproc.destination_body);
	return 0;
fail:
	pool_view_destroy(inproc.view);
	inproc.view = NULL;
	pool_writer_destroy(writer);
	if (inproc.ctl) {
		munmap(inproc.ctl, POOL_CTL_BYTES);
	}
	if (inproc.segment) {
		munmap(inproc.segment, segment_bytes);
	}
	inproc.ctl = NULL;
	inproc.segment = NULL;
	return err;
}

static void take_losses(uint64_t now_ns)
{
	uint64_t elapsed = now_ns - inproc.lost_taken_ns;
	inproc.lost_taken_ns = now_ns;
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		uint64_t lost = pool_view_take_lost(inproc.view, i, elapsed);
		if (lost > 0 && inproc.session[i].sink) {
			sink_add_lost(inproc.session[i].sink, lost);
		}
	}
}

bool inproc_pass(bool flush)
{
	inproc.images = 0;
	pool_pass_begin(inproc.pass, clock_now(), clock_frequency(), flush ? POOL_PASS_FLUSH : 0);
	pool_pass_collect(inproc.pass, inproc.view, 0, 0);
	pool_pass_emit(inproc.pass, inproc_record, NULL);
	pool_pass_commit(inproc.pass);
	bool again = pool_pass_again(inproc.pass);
	uint64_t now_ns = clock_read_system_ns();
	take_losses(now_ns);
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		if (inproc.session[i].sink) {
			sink_tick(inproc.session[i].sink, now_ns);
		}
	}
	return again;
}

static void *logger_main(void *arg)
{
	uint32_t *bell = &inproc.destination_body.writer->bell;
	pthread_setname_np(pthread_self(), "etw-private");
	uint32_t mine = (uint32_t)(uintptr_t)arg;
	pthread_mutex_lock(&inproc.lock);
	while (inproc.thread_generation == mine) {
		uint32_t rung = order_load_acquire(bell);
		bool again = inproc_pass(false);
		if (order_load_relaxed(&inproc.destination_body.writer->reap_wanted) != 0) {
			pool_writer_reap(inproc.destination_body.writer);
		}
		pthread_mutex_unlock(&inproc.lock);
		inproc_retire_full();
		if (!again) {
			struct timespec ts = {0, TICK_NS};
			syscall(SYS_futex, bell, FUTEX_WAIT_PRIVATE, rung, &ts, NULL, 0);
		}
		pthread_mutex_lock(&inproc.lock);
	}
	pthread_mutex_unlock(&inproc.lock);
	return NULL;
}

int inproc_thread_start(void)
{
	if (inproc.thread_running) {
		return 0;
	}
	void *generation = (void *)(uintptr_t)++inproc.thread_generation;
	int err = quiet_thread_start(&inproc.thread, logger_main, generation);
	inproc.thread_running = err == 0;
	return err;
}

void inproc_thread_dismiss(void)
{
	inproc.thread_running = false;
	inproc.thread_generation++;
	uint32_t *bell = &inproc.destination_body.writer->bell;
	order_add_full(bell, 1u);
	syscall(SYS_futex, bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
