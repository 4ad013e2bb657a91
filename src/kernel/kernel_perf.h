/* SPDX-License-Identifier: MIT
 * Shared by kernel_perf.c, which opens the rings, and kernel_perf_ring.c, which reads them.
 */
#ifndef KERNEL_KERNEL_PERF_H
#define KERNEL_KERNEL_PERF_H

#include "kernel/kernel_private.h"

#include <linux/perf_event.h>

#define PAGE_BYTES 4096u
#define RECORD_MAX 65536u

struct event {
	int fd; /* -1: not open */
	uint64_t id;
	bool stack;
	bool copied; /* user stacks come as memory */
	bool read;   /* counters come with it */
};
struct ring {
	uint32_t cpu;
	struct event event[KERNEL_EV_COUNT]; /* by kind; that of KERNEL_EV_NONE owns the ring */
	/* Switches with no more of their user stacks than frame pointers give, for times when there are
	 * too many to copy memory with each: one of the two is on. */
	struct event plain;
	bool is_plain;
	uint64_t switches, last_switches, looked; /* how many there were, and when that was last looked at */
	uint32_t prev, next;                      /* of the last one, */
	bool from_plain;                          /* and where it came from */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t head;            /* as of kernel_perf_begin */
	bool waiting;             /* its first record has been looked at */
	uint64_t time;            /* of that */
	uint8_t copy[RECORD_MAX]; /* a record that wraps around, made whole */
};
struct field {
	uint32_t offset, bytes;
	bool is_signed;
};
struct kernel_perf {
	struct ring **ring;
	uint32_t count;
	size_t map_bytes;
	struct kernel_perf_plan plan;
	struct kernel_perf_stacks stacks;
	uint32_t generation;             /* of the timer's events */
	int tracepoint[KERNEL_EV_COUNT]; /* ids; 0: not looked up */
	struct field field[KERNEL_FIELDS];
};

#endif
