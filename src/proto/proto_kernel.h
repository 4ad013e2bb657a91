/* SPDX-License-Identifier: MIT
 *
 * What etwd and its collector of kernel events share: a ring of finished records, and small messages
 * over a socket pair. etwd starts the collector, hands it both as descriptors 3 and 4, and is the only
 * one that speaks first; the collector answers every request once, with the request's id.
 *
 * The ring: the collector puts {proto_kernel_ring_record, bytes} behind one another and publishes by a
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

#define PROTO_KERNEL_FD_SOCKET 3
#define PROTO_KERNEL_FD_RING   4

#define PROTO_KERNEL_RING_VERSION 2u
#define PROTO_KERNEL_RING_BYTES   (8u << 20) /* a power of two */
#define PROTO_KERNEL_RING_PAGE    4096u
#define PROTO_KERNEL_SLOTS        64u

struct proto_kernel_ring_head {
	uint32_t version, bytes;
	uint64_t head __attribute__((aligned(64))); /* the collector's; bytes ever put */
	uint64_t watermark;                         /* ns: all events until then stand before `head` */
	uint64_t tail __attribute__((aligned(64))); /* etwd's; bytes ever taken */
	/* The collector's counters; cumulative. */
	uint64_t lost[PROTO_KERNEL_SLOTS] __attribute__((aligned(64)));
	uint64_t samples, switches, stacks, events;
	uint64_t cpu_ns;   /* processor time of the collector */
	uint64_t resident; /* bytes of memory */
};

enum proto_kernel_ring_kind {
	PROTO_KERNEL_RING_RECORD,
	PROTO_KERNEL_RING_SKIP,
	PROTO_KERNEL_RING_EXPLANATION, /* a record of what EXPLAIN and REMOVE make it say */
};
struct proto_kernel_ring_record {
	uint64_t sessions; /* slots */
	uint64_t time;     /* ns of CLOCK_MONOTONIC */
	uint32_t bytes;    /* that follow; a multiple of 8 */
	uint16_t cpu;
	uint16_t kind;
};

enum proto_kernel_message_type {
	PROTO_KERNEL_OPEN = 1,     /* interval_us, pid[0]: etwd; the engine; fails for want of rights */
	PROTO_KERNEL_ADD = 2,      /* slot and what it wants; answered when its rundown is in the ring */
	PROTO_KERNEL_CHANGE = 3,   /* the same for a slot in use */
	PROTO_KERNEL_REMOVE = 4,   /* slot; answered when its closing rundown is in the ring */
	PROTO_KERNEL_INTERVAL = 5, /* interval_us */
	PROTO_KERNEL_CAPTURE = 6,  /* slot: its rundown again */
	PROTO_KERNEL_EXPLAIN = 9,  /* slot: what its closing rundown would say, now; answered when it is in the ring */
	PROTO_KERNEL_SAMPLED = 8, /* source, source_interval: what samples are taken by beside the timer; in OPEN too */
	PROTO_KERNEL_BELL = 7,    /* collector to etwd: the ring is half full; no answer */
};
#define PROTO_KERNEL_CHILDREN 1u /* flags */
#define PROTO_KERNEL_CONFINED 2u /* to processes of `uid` */
#define PROTO_KERNEL_FORGETS  4u /* a ring, in a file or in memory */

/* As struct kernel_window of the engine; `after` 0: nothing is to be said of it. */
struct proto_kernel_left {
	uint64_t since, after;
	uint64_t until[64];
};

struct proto_kernel_message {
	uint32_t type, id;
	int32_t result; /* in answers: 0 or -errno */
	uint32_t slot, interval_us, flags, uid;
	struct kernel_mask mask;       /* in answers: what of it is missing */
	struct proto_kernel_left left; /* EXPLAIN, REMOVE: what is left of a ring */
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
