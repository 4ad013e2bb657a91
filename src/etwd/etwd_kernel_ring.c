/* SPDX-License-Identifier: MIT
 * Finished records of the collector into the buffers of the sessions that want them.
 */
#include "base/vec.h"
#include "etw/values/errors.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "format/etl_layout.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdlib.h>

#define HOOK_STACK KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK)

/* A record that a session without per-processor buffers gets in order of time. */
struct waiting {
	uint64_t time;
	uint32_t order;
	struct proto_kernel_ring_record r;
	const uint8_t *p;
};

/* The short headers, and the full one of classes without a hook: where the time stands; 0: none of
 * them, or not of that length. */
static uint32_t time_at(const uint8_t *p, uint32_t bytes)
{
	if (bytes >= ETL_FULL_HEADER_SIZE && p[2] == ETL_RT_FULL64) {
		return BASE_ALIGN8((uint32_t)le16_get(p)) == bytes ? 0x10 : 0;
	}
	if (bytes >= ETL_EVENT_HEADER_SIZE && p[ETL_EH_TYPE] == ETL_RT_EVENT64) {
		return BASE_ALIGN8((uint32_t)le16_get(p)) == bytes ? ETL_EH_TIME : 0;
	}
	if (bytes < ETL_PERFINFO_HEADER_SIZE || BASE_ALIGN8((uint32_t)le16_get(p + 4)) != bytes) {
		return 0;
	}
	if (p[2] == ETL_RT_PERFINFO64) {
		return ETL_PERFINFO_TIME;
	}
	return p[2] == ETL_RT_SYSTEM64 && bytes >= ETL_SYSTEM_HEADER_SIZE ? 16 : 0;
}

static void put(struct etwd *d, struct session *s, const struct proto_kernel_ring_record *r, const uint8_t *p)
{
	uint64_t time = etwd_session_time_ns(d, s, r->time);
	uint16_t cpu = r->cpu < d->cpus ? r->cpu : 0;
	/* What explains a ring in memory takes no part of it; a file has it like everything else. */
	bool apart = r->kind == PROTO_KERNEL_RING_EXPLANATION && (s->props.mode & EVENT_TRACE_BUFFERING_MODE);
	uint8_t *out = apart ? sink_explain(s->sink, time, r->bytes) : sink_reserve(s->sink, cpu, time, r->bytes);
	if (!out) {
		return;
	}
	s->kernel->events++;
	memcpy(out, p, r->bytes);
	sink_uncount_of_file(s->sink, out, r->bytes);
	if (s->props.clock == 2) { /* of the session's clock are the record's time and the joint of stacks */
		le64_put(out + time_at(p, r->bytes), time);
		uint32_t joint_at = kernel_field_at(KP_STACK_WALK_STACK_SINCE_V0_TIMESTAMP, sizeof(uint64_t));
		if (p[2] != ETL_RT_FULL64 && le16_get(p + 6) == HOOK_STACK &&
		    r->bytes >= ETL_PERFINFO_HEADER_SIZE + joint_at + sizeof(uint64_t)) {
			uint8_t *joint = out + ETL_PERFINFO_HEADER_SIZE + joint_at;
			le64_put(joint, etwd_session_time_ns(d, s, le64_get(joint)));
		}
	}
}

static int compare_waiting(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

#define RATE_NS 1000000000u

static void take_rate(struct etwd_session_kernel *k, uint64_t watermark)
{
	uint64_t took = watermark - BASE_MIN(k->rate_since, watermark);
	if (k->rate_since == 0) {
		k->rate_since = watermark; /* with the rundown begins nothing */
		k->rate_events = k->events;
	} else if (took >= RATE_NS) {
		k->rate = (uint64_t)((double)(k->events - k->rate_events) * RATE_NS / (double)took);
		k->rate_since = watermark;
		k->rate_events = k->events;
	}
}

static void take_losses(struct collector *c)
{
	for (uint32_t i = 0; i < PROTO_KERNEL_SLOTS; i++) {
		if (c->slot[i]) {
			uint64_t lost = order_load_relaxed(&c->head->lost[i]);
			if (lost > c->lost_seen[i]) { /* it only grows */
				etwd_session_lost(c->slot[i], lost - c->lost_seen[i], PROTO_LOSS_POOL_FULL, true);
			}
			c->lost_seen[i] = lost;
		}
	}
}

uint64_t etwd_kernel_ring_drain(struct etwd *d, struct collector *c)
{
	/* Acquire, and before the head: what the watermark stands for is below the head read then. */
	uint64_t watermark = order_load_acquire(&c->head->watermark);
	/* Acquire: the records before it are whole. */
	uint64_t head = order_load_acquire(&c->head->head), tail = c->tail, size = PROTO_KERNEL_RING_BYTES;
	struct waiting *wait = NULL;
	uint32_t waits = 0, cap = 0;
	uint64_t events = 0, together = 0;
	for (uint32_t i = 0; i < PROTO_KERNEL_SLOTS; i++) {
		together |=
			c->slot[i] && (c->slot[i]->props.mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) ? 1ull << i : 0;
	}
	if (head - tail > size) {
		head = tail; /* nonsense; it is told by its silence */
	}
	while (tail != head) {
		struct proto_kernel_ring_record r;
		uint64_t at = tail & (size - 1), left = size - at;
		if (left < sizeof r && left <= head - tail) {
			tail += left;
			continue;
		}
		if (left < sizeof r || sizeof r > head - tail) { /* it would never end */
			d->kernel->rejected++;
			tail = head;
			break;
		}
		memcpy(&r, c->data + at, sizeof r);
		if (r.bytes > left - sizeof r || r.bytes % 8 != 0 || sizeof r + r.bytes > head - tail) {
			d->kernel->rejected++;
			tail = head;
			break;
		}
		const uint8_t *p = c->data + at + sizeof r;
		tail += sizeof r + r.bytes;
		if (r.kind != PROTO_KERNEL_RING_RECORD && r.kind != PROTO_KERNEL_RING_EXPLANATION) {
			continue;
		}
		if (time_at(p, r.bytes) == 0) {
			d->kernel->rejected++;
			continue;
		}
		events++;
		if (BASE_UNLIKELY(r.sessions & together)) {
			if (VEC_ROOM(wait, waits, cap)) {
				wait[waits] = (struct waiting){r.time, waits, r, p};
				waits++;
				r.sessions &= ~together;
			}
		}
		for (uint64_t left_to = r.sessions; left_to; left_to &= left_to - 1) {
			struct session *s = c->slot[__builtin_ctzll(left_to)];
			if (s && s->sink) {
				put(d, s, &r, p);
			}
		}
	}
	if (waits > 0) {
		qsort(wait, waits, sizeof *wait, compare_waiting);
	}
	for (uint32_t i = 0; i < waits; i++) {
		for (uint64_t to = wait[i].r.sessions & together; to; to &= to - 1) {
			struct session *s = c->slot[__builtin_ctzll(to)];
			if (s && s->sink) {
				put(d, s, &wait[i].r, wait[i].p);
			}
		}
	}
	free(wait);
	c->tail = tail;
	/* Release: we have read what lies before. */
	order_store_release(&c->head->tail, tail);
	take_losses(c);
	for (uint32_t i = 0; i < PROTO_KERNEL_SLOTS; i++) {
		if (c->slot[i] && c->slot[i]->state == SESSION_RUNNING) {
			take_rate(c->slot[i]->kernel, watermark);
		}
	}
	d->kernel->watermark = watermark;
	d->kernel->events += events;
	return events;
}

uint64_t etwd_kernel_drain(struct etwd *d)
{
	return d->kernel && d->kernel->collector ? etwd_kernel_ring_drain(d, d->kernel->collector) : 0;
}

uint32_t etwd_kernel_ring_fill(const struct collector *c)
{
	uint64_t used = order_load_relaxed(&c->head->head) - c->tail;
	return (uint32_t)(BASE_MIN(used, (uint64_t)PROTO_KERNEL_RING_BYTES) * 256 / PROTO_KERNEL_RING_BYTES);
}

uint32_t etwd_kernel_fill(const struct etwd *d)
{
	return d->kernel && d->kernel->collector ? etwd_kernel_ring_fill(d->kernel->collector) : 0;
}

uint64_t etwd_kernel_watermark(const struct etwd *d, const struct session *s, uint64_t time)
{
	if (!s->kernel || s->kernel->slot < 0 || !d->kernel->collector) {
		return time;
	}
	return BASE_MIN(time, etwd_session_time_ns(d, s, d->kernel->watermark));
}
