/* SPDX-License-Identifier: MIT */
#include "query/query_stays_take.h"

#include "base/vec.h"
#include "query/query_index.h"

#include <stdlib.h>

enum { KERNEL_TERMINATED = 4, KERNEL_WAITING = 5 };
#define EARLY_NS 1000000

/* A waking that came before the wait. */
struct early {
	int64_t time;
	uint32_t who;
	uint8_t waker;
	bool is;
};
struct stays_taker {
	struct lane_writer *w;
	uint32_t threads, cpus;
	struct early *early; /* of each thread */
	int64_t *losses;     /* when switches were lost */
	size_t loss_count, loss_cap;
};

struct stays_taker *stays_taker_create(struct lane_writer *w, uint32_t threads, uint32_t cpus)
{
	struct stays_taker *t = calloc(1, sizeof *t);
	struct early *early = calloc(threads + 1ull, sizeof *early);
	if (!t || !early) {
		free(t);
		free(early);
		return NULL;
	}
	*t = (struct stays_taker){.w = w, .threads = threads, .cpus = cpus, .early = early};
	return t;
}

void stays_taker_destroy(struct stays_taker *t)
{
	if (t) {
		free(t->early);
		free(t->losses);
		free(t);
	}
}

static enum openetw_doing last_of(const struct stays_taker *t, uint32_t lane)
{
	int64_t from;
	uint8_t doing;
	return lane_written_last(t->w, lane, &from, &doing) ? (enum openetw_doing)doing : OPENETW_DOING_UNKNOWN;
}

/* Were switches lost since the lane's last record? Then nobody knows since. */
static int mind_losses(struct stays_taker *t, uint32_t lane)
{
	int64_t from;
	uint8_t doing;
	if (t->loss_count == 0 || !lane_written_last(t->w, lane, &from, &doing) || doing == OPENETW_DOING_UNKNOWN) {
		return 0;
	}
	size_t low = 0, high = t->loss_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->losses[middle] <= from) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < t->loss_count ? lane_write(t->w, lane, (struct stay){.from = t->losses[low]}) : 0;
}

static int switched_out(struct stays_taker *t, const struct said *e)
{
	uint32_t thread = e->out;
	if (thread == 0) {
		return 0;
	}
	struct early early = t->early[thread];
	struct stay s = {.from = e->time, .doing = OPENETW_DOING_WAITING, .detail = e->reason};
	if (e->state == KERNEL_TERMINATED) {
		s = (struct stay){.from = e->time, .doing = OPENETW_DOING_UNKNOWN};
	} else if (e->state != KERNEL_WAITING) {
		s.doing = OPENETW_DOING_READY;
		s.detail = OPENETW_WAKER_PREEMPTED;
	}
	t->early[thread].is = false;
	int err = mind_losses(t, thread);
	err = err < 0 ? err : lane_write(t->w, thread, s);
	if (err == 0 && s.doing == OPENETW_DOING_WAITING && early.is &&
	    early.time >= index_time_of_file(e->time, EARLY_NS)) {
		s = (struct stay){
			.from = e->time, .doing = OPENETW_DOING_READY, .who = early.who, .detail = early.waker};
		err = lane_write(t->w, thread, s);
	}
	return err;
}

static int switched_in(struct stays_taker *t, const struct said *e)
{
	uint32_t thread = e->in;
	int err = 0;
	if (thread) {
		t->early[thread].is = false;
		err = mind_losses(t, thread);
		if (err == 0 && e->unwatched) {
			err = lane_write_unknown(t->w, thread); /* it may have run since, unseen */
		}
		const struct stay s = {.from = e->time, .doing = OPENETW_DOING_RUNNING, .cpu = e->cpu};
		err = err < 0 ? err : lane_write(t->w, thread, s);
	}
	if (err == 0 && e->cpu < t->cpus) {
		uint32_t lane = t->threads + e->cpu;
		const struct stay s = {.from = e->time,
				       .doing = e->idle ? OPENETW_DOING_IDLE : OPENETW_DOING_RUNNING,
				       .who = thread,
				       .cpu = e->cpu};
		err = mind_losses(t, lane);
		err = err < 0 ? err : lane_write(t->w, lane, s);
	}
	return err;
}

static int woken(struct stays_taker *t, const struct said *e)
{
	uint32_t thread = e->in;
	if (thread == 0) {
		return 0;
	}
	int err = mind_losses(t, thread);
	uint32_t who = e->waker == OPENETW_WAKER_THREAD ? e->who : 0;
	if (err < 0) {
		return err;
	}
	if (last_of(t, thread) == OPENETW_DOING_WAITING) {
		return lane_write(
			t->w, thread,
			(struct stay){.from = e->time, .doing = OPENETW_DOING_READY, .who = who, .detail = e->waker});
	}
	if (last_of(t, thread) != OPENETW_DOING_READY) {
		t->early[thread] = (struct early){e->time, who, e->waker, true};
	}
	return 0;
}

static int lost(struct stays_taker *t, const struct said *e)
{
	if (!VEC_ROOM(t->losses, t->loss_count, t->loss_cap)) {
		return -ENOMEM;
	}
	t->losses[t->loss_count] = e->time;
	if (t->loss_count) { /* nearly in order */
		t->losses[t->loss_count] = BASE_MAX(e->time, t->losses[t->loss_count - 1]);
	}
	t->loss_count++;
	return 0;
}

int stays_take(struct stays_taker *t, const struct said *e)
{
	int err;
	switch (e->says) {
	case SAID_SWITCH: err = switched_out(t, e); return err < 0 ? err : switched_in(t, e);
	case SAID_READY: return woken(t, e);
	case SAID_LOSS: return lost(t, e);
	default: return 0;
	}
}

int stays_take_end(struct stays_taker *t)
{
	int err = 0;
	for (uint32_t i = 0; i < t->threads + t->cpus && err == 0; i++) {
		err = mind_losses(t, i);
	}
	return err;
}
