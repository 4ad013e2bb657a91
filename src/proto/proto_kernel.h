/* SPDX-License-Identifier: MIT
 *
 * What etwd and its collector of kernel events share: a ring of finished records, and small messages
 * over a socket pair. etwd starts the collector, hands it both as descriptors 3 and 4, and is the only
 * one that speaks first; the collector answers every request once, with the request's id.
 *
 * The ring: the collector puts {kernel_ring_record, bytes} behind one another and publishes by a
 * store-release of `head`; etwd copies out and gives room back by a store-release of `tail`. A record
 * never wraps: what is left at the end is skipped by one of kind SKIP. What did not fit is counted, for
 * each session. etwd believes the collector no more than it must: everything is checked against bounds.
 */
#ifndef PROTO_PROTO_KERNEL_H
#define PROTO_PROTO_KERNEL_H

#include "base/base.h"
#include "base/order.h"
#include "format/kernel_mask.h"
#include "pmc/pmc.h"

#define KERNEL_FD_SOCKET 3
#define KERNEL_FD_RING   4

#define KERNEL_RING_VERSION 2u
#define KERNEL_RING_BYTES   (8u << 20) /* a power of two */
#define KERNEL_RING_PAGE    4096u
#define KERNEL_SLOTS        64u

struct kernel_ring_head {
	uint32_t version, bytes;
	uint64_t head __attribute__((aligned(64))); /* the collector's; bytes ever put */
	uint64_t watermark;                         /* ns: all events until then stand before `head` */
	uint64_t tail __attribute__((aligned(64))); /* etwd's; bytes ever taken */
	/* The collector's counters; cumulative. */
	uint64_t lost[KERNEL_SLOTS] __attribute__((aligned(64)));
	uint64_t samples, switches, stacks, events;
	uint64_t cpu_ns;   /* processor time of the collector */
	uint64_t resident; /* bytes of memory */
};

enum kernel_ring_kind {
	KERNEL_RING_RECORD,
	KERNEL_RING_SKIP,
	KERNEL_RING_EXPLANATION, /* a record of what EXPLAIN and REMOVE make it say */
};
struct kernel_ring_record {
	uint64_t sessions; /* slots */
	uint64_t time;     /* ns of CLOCK_MONOTONIC */
	uint32_t bytes;    /* that follow; a multiple of 8 */
	uint16_t cpu;
	uint16_t kind;
};

enum kernel_message_type {
	KERNEL_OPEN = 1,     /* interval_us, pid[0]: etwd; the engine; fails for want of rights */
	KERNEL_ADD = 2,      /* slot and what it wants; answered when its rundown is in the ring */
	KERNEL_CHANGE = 3,   /* the same for a slot in use */
	KERNEL_REMOVE = 4,   /* slot; answered when its closing rundown is in the ring */
	KERNEL_INTERVAL = 5, /* interval_us */
	KERNEL_CAPTURE = 6,  /* slot: its rundown again */
	KERNEL_EXPLAIN = 9,  /* slot: what its closing rundown would say, now; answered when it is in the ring */
	KERNEL_SAMPLED = 8,  /* source, source_interval: what samples are taken by beside the timer; in OPEN too */
	KERNEL_BELL = 7,     /* collector to etwd: the ring is half full; no answer */
};
#define KERNEL_CHILDREN 1u /* flags */
#define KERNEL_CONFINED 2u /* to processes of `uid` */
#define KERNEL_FORGETS  4u /* a ring, in a file or in memory */

/* As struct kernel_window of the engine; `after` 0: nothing is to be said of it. */
struct kernel_left {
	uint64_t since, after;
	uint64_t until[64];
};

struct kernel_message {
	uint32_t type, id;
	int32_t result; /* in answers: 0 or -errno */
	uint32_t slot, interval_us, flags, uid;
	struct kernel_mask mask; /* in answers: what of it is missing */
	struct kernel_left left; /* EXPLAIN, REMOVE: what is left of a ring */
	uint32_t stacks, pids;
	uint16_t stack[KERNEL_STACKS_MAX];
	uint32_t pid[8];
	uint32_t counters, counteds; /* sources whose values go with records of these hooks */
	uint32_t counter[PMC_COUNTERS_MAX];
	uint16_t counted[PMC_EVENTS_MAX];
	uint32_t sources;
	uint32_t source[PMC_SAMPLED_MAX], source_interval[PMC_SAMPLED_MAX];
	char text[400]; /* in answers: why; terminated */
};

#endif
