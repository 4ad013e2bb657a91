/* SPDX-License-Identifier: MIT
 * Tables: who had which processor, from the switch to a thread to the switch away from it (cpu); interrupts and deferred
 * calls (dpc_isr).
 */
#include "base/vec.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "tools/tables/table_kernel.h"
#include "tools/tables/table_names.h"

#include <stdlib.h>

enum { STATE_WAITING = 5, CPUS_MAX = 4096 };
#define EARLY 10000u /* 1 ms: how long before its switch away a thread may be told to be woken, on another processor */

/* ---- cpu ------------------------------------------------------------------------------------------ */

struct off { /* a thread that does not run */
	uint32_t tid;
	uint64_t since; /* FILETIME; 0: it runs, or nobody knows */
	uint8_t reason, state;
	bool told, early;
	uint8_t by;
	uint32_t waker_pid, waker_tid;
	uint64_t ready;
};
struct on { /* a processor */
	bool known;
	uint32_t tid;
	uint64_t since, row;
};
struct cpu {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	int start, running, ready, waiting, cpu, priority, reason, by, waker_thread, waker_pid, waker_tid, waker_name,
		stack;
	struct off *threads;
	uint32_t count, cap;
	struct map of;
	struct on *on;
};

static struct off *thread_of(struct cpu *t, uint32_t tid)
{
	size_t at = map_find(&t->of, tid);
	if (at != MAP_NONE) {
		return &t->threads[map_value(&t->of, at)];
	}
	if (!VEC_ROOM(t->threads, t->count, t->cap) || map_add(&t->of, tid, t->count) < 0) {
		t->m->failed = true;
		return NULL;
	}
	t->threads[t->count] = (struct off){.tid = tid};
	return &t->threads[t->count++];
}

static uint32_t process_of(struct cpu *t, uint32_t tid, uint64_t time)
{
	struct openetw_thread k = {.size = sizeof k};
	return tid == 0                                                            ? 0
	       : openetw_state_thread(t->m->state, tid, time, &k) == ERROR_SUCCESS ? k.pid
										   : OPENETW_UNKNOWN_ID;
}

static void put_waker(struct cpu *t, const struct off *w)
{
	const char *by = kevent_waker_name(w->by);
	table_put_string(t->b, t->by, by ? by : "thread");
	if (!by) {
		table_build_number(t->b, t->waker_thread, table_make_thread(t->m, w->waker_tid, w->ready));
		table_build_number(t->b, t->waker_pid, w->waker_pid);
		table_build_number(t->b, t->waker_tid, w->waker_tid);
		uint32_t process = table_make_process(t->m, w->waker_pid, w->ready);
		table_put_string(t->b, t->waker_name, table_make_process_name(t->m, process));
	}
}

static void put_begin(struct cpu *t, const EVENT_RECORD *e, const struct kevent *s, const struct off *w, uint32_t cpu)
{
	uint32_t pid = process_of(t, s->in_tid, s->time), stack = table_make_stack(t->m, e);
	table_build_number(t->b, t->start, (uint64_t)table_make_time(t->m, s->time));
	table_who_put(t->m, t->b, &t->who, pid, s->in_tid, s->time);
	table_build_number(t->b, t->cpu, cpu);
	if (s->in_tid) {
		table_build_number(t->b, t->priority, (uint64_t)(int64_t)s->priority);
	}
	if (w && w->since && openetw_state_watched(t->m->state, pid, s->time)) {
		bool waited = w->state == STATE_WAITING;
		uint64_t ready = w->told ? w->ready : waited ? s->time : w->since;
		ready = BASE_MAX(ready, w->since);
		table_build_number(t->b, t->waiting, (ready - w->since) * 100);
		if (w->told || !waited) {
			table_build_number(t->b, t->ready, (s->time - BASE_MIN(ready, s->time)) * 100);
		}
		if (waited) {
			table_put_string(t->b, t->reason, kevent_wait_reason(w->reason));
		}
		if (w->told) {
			put_waker(t, w);
		}
	}
	if (stack) {
		table_build_number(t->b, t->stack, stack);
	}
	t->on[cpu] = (struct on){true, s->in_tid, s->time, table_build_rows(t->b)};
	table_build_row(t->b);
}

static void put_switch(struct cpu *t, const EVENT_RECORD *e, const struct kevent *s)
{
	uint32_t cpu = GetEventProcessorIndex(e);
	struct off *w = s->out_tid ? thread_of(t, s->out_tid) : NULL;
	if (cpu >= CPUS_MAX) {
		return;
	}
	/* Another one than the switch before had brought: a switch is missing. */
	struct on *on = &t->on[cpu];
	if (on->known && on->tid == s->out_tid && s->time >= on->since) {
		table_build_late(t->b, t->running, on->row, (s->time - on->since) * 100);
	}
	if (w) {
		w->since = s->time;
		w->reason = s->reason;
		w->state = s->state;
		w->told = w->early && w->ready + EARLY >= s->time;
		w->ready = w->told ? s->time : 0;
		w->early = false;
	}
	w = s->in_tid ? thread_of(t, s->in_tid) : NULL;
	put_begin(t, e, s, w, cpu);
	if (w) {
		w->since = 0;
		w->told = w->early = false;
	}
}

static void woken(struct cpu *t, const struct kevent *s)
{
	struct off *w = thread_of(t, s->subject_tid);
	if (!w || (w->since && w->told)) {
		return; /* the first one ended the wait */
	}
	w->told = w->since != 0;
	w->early = w->since == 0;
	w->by = s->waker;
	w->waker_pid = s->pid;
	w->waker_tid = s->tid;
	w->ready = s->time;
}

/* Where switches were lost nobody knows who ran. */
static void forget(struct cpu *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		t->threads[i].since = 0;
	}
	memset(t->on, 0, CPUS_MAX * sizeof *t->on);
}

static void on_cpu_event(void *context, const EVENT_RECORD *e)
{
	struct cpu *t = context;
	struct kevent s;
	if (kevent_switches_lost(e) != UINT64_MAX) {
		forget(t);
	}
	if (!kevent_of(t->m->state, e, &s)) {
		return;
	}
	if (s.kind == KEVENT_READY) {
		woken(t, &s);
	} else if (s.kind == KEVENT_SWITCH) {
		put_switch(t, e, &s);
	}
}

struct table_build *table_make_cpu(struct table_maker *m, char *why, size_t cap)
{
	struct cpu t = {.m = m, .b = table_build_create(), .on = calloc(CPUS_MAX, sizeof *t.on)};
	bool ok = t.b && t.on;
	if (ok) {
		t.start = table_build_column(t.b, "start", SQL_TYPE_I64);
		t.running = table_build_column(t.b, "running", SQL_TYPE_U64);
		t.ready = table_build_column(t.b, "ready", SQL_TYPE_U64);
		t.waiting = table_build_column(t.b, "waiting", SQL_TYPE_U64);
		table_who_columns(t.b, &t.who);
		t.cpu = table_build_column(t.b, "cpu", SQL_TYPE_U16);
		t.priority = table_build_column(t.b, "priority", SQL_TYPE_I8);
		t.reason = table_build_column(t.b, "reason", SQL_TYPE_TEXT);
		t.by = table_build_column(t.b, "woken_by", SQL_TYPE_TEXT);
		t.waker_thread = table_build_column(t.b, "waker_thread", SQL_TYPE_U32);
		t.waker_pid = table_build_column(t.b, "waker_pid", SQL_TYPE_U32);
		t.waker_tid = table_build_column(t.b, "waker_tid", SQL_TYPE_U32);
		t.waker_name = table_build_column(t.b, "waker_process_name", SQL_TYPE_TEXT);
		t.stack = table_build_column(t.b, "stack", SQL_TYPE_U32);
		ok = table_make_pass(m, on_cpu_event, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	free(t.threads);
	free(t.on);
	map_free(&t.of);
	if (!ok) {
		table_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}

/* ---- dpc_isr -------------------------------------------------------------------------------------- */

struct interrupts {
	struct table_maker *m;
	struct table_build *b;
	int start, duration, kind, cpu, vector, address, module, function;
};

static const char *interrupt_kind(UCHAR opcode)
{
	switch (opcode) {
	case KP_PERF_INFO_ISR:
	case KP_PERF_INFO_ISR_PASS:
	case KP_PERF_INFO_ISR_MSI: return "ISR";
	case KP_PERF_INFO_DPC: return "DPC";
	case KP_PERF_INFO_TIMER_DPC: return "timer DPC";
	case KP_PERF_INFO_THREADED_DPC: return "threaded DPC";
	default: return NULL;
	}
}

static void on_interrupt(void *context, const EVENT_RECORD *e)
{
	struct interrupts *t = context;
	UCHAR opcode = e->EventHeader.EventDescriptor.Opcode;
	const struct kernel_payload in = {e->UserData, e->UserDataLength,
					  e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
	const char *kind =
		kernel_class_group(&e->EventHeader.ProviderId) == KERNEL_GROUP_PERF ? interrupt_kind(opcode) : NULL;
	if (!kind || !kernel_payload_has(in, KP_PERF_INFO_DPC_SINCE_V0_ROUTINE)) {
		return;
	}
	_Static_assert(KP_PERF_INFO_DPC_SINCE_V0_INITIAL_TIME == KP_PERF_INFO_ISR_SINCE_V0_INITIAL_TIME &&
			       KP_PERF_INFO_DPC_SINCE_V0_ROUTINE == KP_PERF_INFO_ISR_SINCE_V0_ROUTINE &&
			       KP_PERF_INFO_DPC_SINCE_V0_ROUTINE == KP_PERF_INFO_ISR_MSI_SINCE_V0_ROUTINE,
		       "one place for both");
	uint64_t filetime = (uint64_t)e->EventHeader.TimeStamp.QuadPart,
		 address = kernel_payload_get(in, KP_PERF_INFO_DPC_SINCE_V0_ROUTINE);
	int64_t end = table_make_time(t->m, filetime);
	int64_t start = table_make_ticks_time(t->m, kernel_payload_get(in, KP_PERF_INFO_DPC_SINCE_V0_INITIAL_TIME));
	char name[1024];
	/* Times of events are cut to 100 ns. Nonsense has no duration. */
	bool known = start <= end + 99 && start > end - 1000000000ll;
	table_build_number(t->b, t->start, (uint64_t)(known ? BASE_MIN(start, end) : end));
	if (known) {
		table_build_number(t->b, t->duration, start < end ? (uint64_t)(end - start) : 0);
	}
	table_put_string(t->b, t->kind, kind);
	table_build_number(t->b, t->cpu, GetEventProcessorIndex(e));
	if (strcmp(kind, "ISR") == 0 && kernel_payload_has(in, KP_PERF_INFO_ISR_SINCE_V0_VECTOR)) {
		table_build_number(t->b, t->vector, kernel_payload_get(in, KP_PERF_INFO_ISR_SINCE_V0_VECTOR));
	}
	table_build_number(t->b, t->address, address);
	names_of(&t->m->names, 4, address, filetime, name, sizeof name);
	table_names_put(t->b, t->module, t->function, name);
	table_build_row(t->b);
}

struct table_build *table_make_interrupts(struct table_maker *m, char *why, size_t cap)
{
	struct interrupts t = {.m = m, .b = table_build_create()};
	bool ok = t.b && table_make_clocks(m);
	if (ok) {
		t.start = table_build_column(t.b, "start", SQL_TYPE_I64);
		t.duration = table_build_column(t.b, "duration", SQL_TYPE_U64);
		t.kind = table_build_column(t.b, "kind", SQL_TYPE_TEXT);
		t.cpu = table_build_column(t.b, "cpu", SQL_TYPE_U16);
		t.vector = table_build_column(t.b, "vector", SQL_TYPE_U16);
		t.address = table_build_column(t.b, "address", SQL_TYPE_U64);
		t.module = table_build_column(t.b, "module", SQL_TYPE_TEXT);
		t.function = table_build_column(t.b, "function", SQL_TYPE_TEXT);
		ok = table_make_pass(m, on_interrupt, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	if (!ok) {
		table_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}
