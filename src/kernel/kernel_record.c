/* SPDX-License-Identifier: MIT
 *
 * Records with the short headers of kernel events: SYSTEM64 (with process and thread) and PERFINFO64
 * (time only).
 */
#include "kernel/kernel_walk.h"

#include "format/etl_head.h"
#include "format/unix_sid.h"

#include "kernel_payload.h"

#define HOOK_STACK    0x1820u
#define STACK_VERSION 2

void kernel_put(struct kernel_record *r, uint64_t value, unsigned bytes)
{
	if (r->n + bytes <= sizeof r->payload) {
		for (unsigned i = 0; i < bytes; i++) {
			r->payload[r->n++] = (uint8_t)(value >> (8 * i));
		}
	}
}

#define WIDE_MAX 4200
static size_t widen(const char *s, uint16_t wide[WIDE_MAX], size_t max)
{
	long n = utf8_to_utf16(s, strlen(s), wide, WIDE_MAX);
	if (n < 0) { /* file names need not be UTF-8 */
		n = 0;
		for (; s[n] && n < WIDE_MAX - 1; n++) {
			wide[n] = (uint8_t)s[n];
		}
	}
	return BASE_MIN((size_t)n, BASE_MIN(max, (size_t)WIDE_MAX - 1));
}

void kernel_put_wide(struct kernel_record *r, const char *s, size_t max)
{
	uint16_t wide[WIDE_MAX];
	size_t n = widen(s, wide, max);
	for (size_t i = 0; i < n; i++) {
		kernel_put(r, wide[i], 2);
	}
	kernel_put(r, 0, 2);
}

void kernel_put_fixed(struct kernel_record *r, const char *s, size_t units)
{
	uint16_t wide[WIDE_MAX];
	size_t n = widen(s, wide, units - 1); /* the last is the terminator */
	for (size_t i = 0; i < units; i++) {
		kernel_put(r, i < n ? wide[i] : 0, 2);
	}
}

void kernel_put_text(struct kernel_record *r, const char *s, size_t max)
{
	for (size_t i = 0; s[i] && i < max; i++) {
		kernel_put(r, (uint8_t)s[i], 1);
	}
	kernel_put(r, 0, 1);
}

void kernel_put_user(struct kernel_record *r, uint32_t uid)
{
	kernel_put(r, 1, 8); /* a pointer that is not zero: a SID follows */
	kernel_put(r, 0, 8);
	uint8_t sid[UNIX_SID_BYTES];
	unix_sid_put(sid, uid);
	kernel_put(r, le64_get(sid), 8);
	kernel_put(r, le64_get(sid + 8), 8);
}

static uint32_t header(uint8_t *p, const struct kernel_record *r, uint32_t payload_bytes)
{
	if (r->class) {
		const struct etl_full_head full = {
			.type = ETL_RT_FULL64,
			.opcode = (uint8_t)r->hook,
			.version = r->version,
			.pid = r->pid,
			.tid = r->tid,
			.time = r->time,
			.class = r->class->b,
		};
		etl_full_head_put(p, ETL_FULL_HEADER_SIZE + payload_bytes, &full);
		return ETL_FULL_HEADER_SIZE;
	}
	const struct etl_hook_head hook = {
		.type = r->perfinfo ? ETL_RT_PERFINFO64 : ETL_RT_SYSTEM64,
		.version = r->version,
		.hook = r->hook,
		.pid = r->pid,
		.tid = r->tid,
		.time = r->time,
	};
	return etl_hook_head_put(p, etl_hook_head_bytes(hook.type) + payload_bytes, &hook);
}

/* Masks, the end of a rundown: records of the file itself are no events. */
static void count(struct kernel *k, const struct kernel_record *r)
{
	k->stats.events += r->class || r->hook >> 8 != 0x00;
}

/* Each session has the counters that it asked for: their values stand between the header and the payload, their
 * number in the version. */
static void out_counted(struct kernel *k, const struct kernel_record *r, uint64_t sessions, const uint64_t *all)
{
	uint8_t head[ETL_SYSTEM_HEADER_SIZE + 8 * PMC_COUNTERS_MAX];
	while (sessions) {
		uint32_t slot = (uint32_t)__builtin_ctzll(sessions);
		uint64_t same = kernel_pmc_same(k, sessions, slot), value[PMC_COUNTERS_MAX];
		uint32_t n = kernel_pmc_values(k, slot, r->time, all, value);
		uint32_t at = header(head, r, r->n + 8 * n);
		le16_put(head, (uint16_t)(r->version | n << 8));
		for (uint32_t i = 0; i < n; i++) {
			le64_put(head + at + (size_t)8 * i, value[i]);
		}
		count(k, r);
		k->out.record(k->out.ctx, same, r->cpu, r->time, head, at + 8 * n, r->payload, r->n);
		sessions &= ~same;
	}
}

void kernel_put_out(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head,
		    uint32_t head_bytes, const void *body, uint32_t body_bytes)
{
	if (sessions == k->explained && k->out.explain) {
		k->out.explain(k->out.ctx, sessions, cpu, time, head, head_bytes, body, body_bytes);
	} else {
		k->out.record(k->out.ctx, sessions, cpu, time, head, head_bytes, body, body_bytes);
	}
}

uint64_t kernel_wants_of(struct kernel *k, uint16_t hook, uint32_t tid)
{
	uint64_t sessions = k->want[hook];
	if (sessions & k->filtered) {
		const struct kernel_thread *t = kernel_table_find(k->threads, tid);
		sessions &= ~k->filtered | (t ? t->watchers : 0);
	}
	return sessions;
}

/* What a session for some processes must hear of all: who they are. */
static bool names_things(uint16_t hook)
{
	uint8_t group = (uint8_t)(hook >> 8), type = (uint8_t)hook;
	return group == 0x03 || group == 0x14 || group == 0x0B || group == 0x00 ||
	       (group == 0x05 && (type <= 0x04 || type == 0x48));
}

void kernel_out(struct kernel *k, const struct kernel_record *r)
{
	uint8_t head[ETL_FULL_HEADER_SIZE];
	uint64_t sessions = r->live                 ? r->sessions & k->want[r->hook]
			    : r->sessions           ? r->sessions
			    : names_things(r->hook) ? k->want[r->hook]
						    : kernel_wants_of(k, r->hook, r->tid);
	sessions = sessions & k->confined ? kernel_confine(k, r, sessions) : sessions;
	k->last_hook = r->hook;
	k->last_sessions = sessions;
	if (BASE_UNLIKELY(sessions & k->forgetful)) {
		kernel_ended_seen(k, r->tid, r->time);
	}
	uint64_t counted = k->values && !r->class ? sessions & k->counted[r->hook] : 0;
	if (counted) {
		out_counted(k, r, counted, k->values);
		sessions &= ~counted;
	}
	uint64_t blind = sessions & k->confined && r->hook == KERNEL_HOOK_SAMPLE ? sessions & k->confined : 0;
	if (blind && le64_get(r->payload) >= KERNEL_SPACE) {
		/* That it was in the kernel they may know, not where. */
		struct kernel_record mine = *r;
		le64_put(mine.payload, KERNEL_SPACE);
		k->stats.events++;
		k->out.record(k->out.ctx, blind, r->cpu, r->time, head, header(head, r, r->n), mine.payload, r->n);
		sessions &= ~blind;
	}
	if (sessions != 0) {
		uint32_t n = header(head, r, r->n);
		count(k, r);
		kernel_put_out(k, sessions, r->cpu, r->time, head, n, r->payload, r->n);
		if (BASE_UNLIKELY(sessions & k->forgetful) && kernel_ended_is(r->hook) && !r->class) {
			kernel_ended_keep(k, sessions & k->forgetful, r->cpu, r->time, r->pid, head, n, r->payload,
					  r->n);
		}
	}
}

/* The user's part, to those who may have it. */
static void out_confined_stack(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t event_time, uint64_t time,
			       uint32_t pid, uint32_t tid, const uint64_t *frames, uint32_t count)
{
	uint64_t mine[KERNEL_FRAMES_MAX];
	uint32_t n = 0;
	sessions = kernel_confine_stack(k, sessions, pid, event_time);
	for (uint32_t i = 0; sessions && i < count && n < KERNEL_FRAMES_MAX; i++) {
		mine[n] = frames[i];
		n += frames[i] < KERNEL_SPACE;
	}
	if (n > 0) {
		uint64_t confined = k->confined;
		k->confined = 0; /* they are what is let through */
		kernel_out_stack(k, sessions, cpu, event_time, time, pid, tid, mine, n);
		k->confined = confined;
	}
}

void kernel_out_stack(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t event_time, uint64_t time,
		      uint32_t pid, uint32_t tid, const uint64_t *frames, uint32_t count)
{
	struct kernel_record r;
	uint8_t head[ETL_FULL_HEADER_SIZE + 16]; /* of which the short one is used */
	kernel_record_clear(&r);
	r.hook = HOOK_STACK;
	r.version = STACK_VERSION;
	r.perfinfo = true;
	r.time = time;
	if (sessions & k->confined) {
		out_confined_stack(k, sessions, cpu, event_time, time, pid, tid, frames, count);
		sessions &= ~k->confined;
	}
	if (sessions == 0 || count == 0) {
		return;
	}
	kernel_walk_seen(k->walk, pid, frames, count);
	uint32_t at = header(head, &r, 16 + 8 * count);
	le64_put(head + at, event_time);
	le32_put(head + at + 8, pid);
	le32_put(head + at + 12, tid);
	k->stats.events++;
	k->stats.stacks++;
	k->out.record(k->out.ctx, sessions, cpu, time, head, at + 16, frames, 8 * count);
}

void kernel_out_event(struct kernel *k, uint64_t sessions, const struct guid *provider, const uint8_t descriptor[16],
		      uint32_t pid, const uint8_t *payload, uint32_t bytes)
{
	uint8_t head[ETL_EVENT_HEADER_SIZE];
	const struct etl_event_head common = etl_event_head_of(pid, provider->b, 0);
	uint64_t time = clock_read_system_ns();
	sessions &= ~k->confined; /* names of functions, losses: of the machine */
	if (sessions == 0) {
		return;
	}
	etl_event_head_put(head, &common, 0, sizeof head + bytes, pid, time, descriptor, NULL);
	k->stats.events++;
	kernel_put_out(k, sessions, 0, time, head, sizeof head, payload, bytes);
}

void kernel_lost(struct kernel *k, uint16_t hook, uint32_t cpu, const char *what, uint64_t events)
{
	static const struct guid provider = GUID_INIT(KP_OPEN_ETW_LOSSES_GUID); /* event 1 */
	static const uint8_t descriptor[16] = {1, 0, 0, 0, 3, 0, 0, 0};
	uint64_t sessions = hook ? k->want[hook] : k->active;
	uint8_t payload[128];
	size_t n = strnlen(what, sizeof payload - 13);
	k->stats.lost += events;
	k->out.lost(k->out.ctx, sessions, events);
	le64_put(payload, events);
	le32_put(payload + 8, cpu);
	memcpy(payload + 12, what, n);
	payload[12 + n] = 0;
	if (sessions) {
		kernel_out_event(k, sessions, &provider, descriptor, KERNEL_PID_SYSTEM, payload, 12 + (uint32_t)n + 1);
	}
}
