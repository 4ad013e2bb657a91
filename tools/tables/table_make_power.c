/* SPDX-License-Identifier: MIT
 * Tables: in which idle states processors were, and at what speed they ran: power.
 *
 * An idle state lasts from IdleStateEnter to IdleStateExit of the same processor, a speed until the next PerfStateChange
 * of the same processors. What has no end in the trace has no duration.
 */
#include "base/vec.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

enum { CPUS_MAX = 4096, SETS_MAX = 4096 };

struct idle { /* of a processor */
	bool known;
	uint64_t row;
	int64_t since;
};
struct speed { /* of the processors of a mask */
	uint64_t processors, row;
	int64_t since;
};
struct power {
	struct table_maker *m;
	struct table_build *b;
	int start, duration, kind, cpu, state, old_state;
	struct idle *idle; /* CPUS_MAX of each file */
	struct speed *speeds;
	uint32_t count, cap, file;
};

static void begin_row(struct power *t, int64_t time, const char *kind, uint32_t state)
{
	table_build_number(t->b, t->start, (uint64_t)time);
	table_put_string(t->b, t->kind, kind);
	table_build_number(t->b, t->state, state);
}

static void end_row(struct power *t, uint64_t row, int64_t since, int64_t now)
{
	table_build_late(t->b, t->duration, row, now > since ? (uint64_t)(now - since) : 0);
}

static void enters(struct power *t, uint32_t cpu, int64_t now, uint32_t state)
{
	t->idle[cpu] = (struct idle){true, table_build_rows(t->b), now};
	begin_row(t, now, "idle", state);
	table_build_number(t->b, t->cpu, cpu);
	table_build_row(t->b);
}

static void leaves(struct power *t, uint32_t cpu, int64_t now)
{
	if (t->idle[cpu].known) { /* else it was idle before the trace */
		end_row(t, t->idle[cpu].row, t->idle[cpu].since, now);
	}
	t->idle[cpu].known = false;
}

static void changes(struct power *t, struct kernel_payload in, int64_t now)
{
	uint64_t processors = kernel_payload_get(in, KP_POWER_PERF_STATE_CHANGE_SINCE_V0_PROCESSORS);
	struct speed *s = NULL;
	for (uint32_t i = 0; i < t->count && !s; i++) {
		s = t->speeds[i].processors == processors ? &t->speeds[i] : NULL;
	}
	if (s) {
		end_row(t, s->row, s->since, now);
	} else if (!VEC_ROOM_UP_TO(t->speeds, t->count, t->cap, SETS_MAX)) {
		return; /* no machine has so many sets of processors */
	} else {
		s = &t->speeds[t->count++];
	}
	*s = (struct speed){processors, table_build_rows(t->b), now};
	begin_row(t, now, "speed", kernel_payload_get32(in, KP_POWER_PERF_STATE_CHANGE_SINCE_V0_NEW_STATE));
	if (processors && (processors & (processors - 1)) == 0) {
		table_build_number(t->b, t->cpu, (uint64_t)__builtin_ctzll(processors));
	}
	table_build_number(t->b, t->old_state, kernel_payload_get32(in, KP_POWER_PERF_STATE_CHANGE_SINCE_V0_OLD_STATE));
	table_build_row(t->b);
}

static void on_power(void *context, const EVENT_RECORD *e)
{
	struct power *t = context;
	const struct kernel_payload in = {e->UserData, e->UserDataLength,
					  e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
	uint32_t cpu = GetEventProcessorIndex(e);
	int64_t now = table_make_time(t->m, (uint64_t)e->EventHeader.TimeStamp.QuadPart);
	if (kernel_class_group(&e->EventHeader.ProviderId) != KERNEL_GROUP_POWER || cpu >= CPUS_MAX) {
		return;
	}
	if (t->m->file != t->file) { /* another machine, or another time: its processors are others */
		memset(t->idle, 0, CPUS_MAX * sizeof *t->idle);
		t->count = 0;
		t->file = t->m->file;
	}
	switch (e->EventHeader.EventDescriptor.Opcode) {
	case KP_POWER_IDLE_STATE_ENTER:
		if (kernel_payload_has(in, KP_POWER_IDLE_STATE_ENTER_SINCE_V0_STATE)) {
			enters(t, cpu, now, kernel_payload_get32(in, KP_POWER_IDLE_STATE_ENTER_SINCE_V0_STATE));
		}
		break;
	case KP_POWER_IDLE_STATE_EXIT: leaves(t, cpu, now); break;
	case KP_POWER_PERF_STATE_CHANGE:
		if (kernel_payload_has(in, KP_POWER_PERF_STATE_CHANGE_SINCE_V0_PROCESSORS)) {
			changes(t, in, now);
		}
		break;
	default: break;
	}
}

struct table_build *table_make_power(struct table_maker *m, char *why, size_t cap)
{
	struct power t = {.m = m, .b = table_build_create(), .idle = calloc(CPUS_MAX, sizeof *t.idle)};
	bool ok = t.b && t.idle;
	if (ok) {
		t.start = table_build_column(t.b, "start", SQL_TYPE_I64);
		t.duration = table_build_column(t.b, "duration", SQL_TYPE_U64);
		t.kind = table_build_column(t.b, "kind", SQL_TYPE_TEXT);
		t.cpu = table_build_column(t.b, "cpu", SQL_TYPE_U16);
		t.state = table_build_column(t.b, "state", SQL_TYPE_U32);
		t.old_state = table_build_column(t.b, "old_state", SQL_TYPE_U32);
		ok = table_make_pass(m, on_power, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	free(t.idle);
	free(t.speeds);
	if (!ok) {
		table_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}
