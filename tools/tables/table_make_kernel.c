/* SPDX-License-Identifier: MIT
 * Tables: what the kernel's events say: samples, switches, waits, net, faults, syscalls.
 */
#include "tools/tables/table_kernel.h"
#include "tools/tables/table_names.h"

#include "base/vec.h"

#include <stdlib.h>

enum { STATE_WAITING = 5 };

static struct waiting *thread_of(struct table_kernel *k, uint32_t tid)
{
	size_t at = map_find(&k->thread_of, tid);
	if (at != MAP_NONE) {
		return &k->threads[map_value(&k->thread_of, at)];
	}
	if (!VEC_ROOM(k->threads, k->thread_count, k->thread_cap) || map_add(&k->thread_of, tid, k->thread_count) < 0) {
		k->m->failed = true;
		return NULL;
	}
	k->threads[k->thread_count] = (struct waiting){.tid = tid};
	return &k->threads[k->thread_count++];
}

/* ---- samples -------------------------------------------------------------------------------------- */

static void samples_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "time", SQL_TYPE_I64);
	table_who_columns(k->b, &k->who);
	k->c[1] = table_build_column(k->b, "cpu", SQL_TYPE_U16);
	k->c[2] = table_build_column(k->b, "address", SQL_TYPE_U64);
	k->c[3] = table_build_column(k->b, "module", SQL_TYPE_TEXT);
	k->c[4] = table_build_column(k->b, "function", SQL_TYPE_TEXT);
	k->c[5] = table_build_column(k->b, "stack", SQL_TYPE_U32);
	k->c[6] = table_build_column(k->b, "idle", SQL_TYPE_BOOL);
}

static void put_code(struct table_kernel *k, int module, int function, uint32_t pid, uint64_t address, uint64_t time)
{
	char name[1024];
	names_of(&k->m->names, pid, address, time, name, sizeof name);
	table_names_put(k->b, module, function, name);
}

static void put_sample(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	if (s->kind != KEVENT_SAMPLE) {
		return;
	}
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, s->time));
	table_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	table_build_number(k->b, k->c[1], GetEventProcessorIndex(e));
	table_build_number(k->b, k->c[2], s->address);
	put_code(k, k->c[3], k->c[4], s->pid, s->address, s->time);
	table_kernel_stack(k, k->c[5], table_make_stack(k->m, e));
	table_build_number(k->b, k->c[6], s->pid == 0 || s->tid == 0);
	table_build_row(k->b);
}

/* ---- switches ------------------------------------------------------------------------------------- */

static void switches_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "time", SQL_TYPE_I64);
	k->c[1] = table_build_column(k->b, "cpu", SQL_TYPE_U16);
	table_who_columns(k->b, &k->who);
	k->c[2] = table_build_column(k->b, "old_thread", SQL_TYPE_U32);
	k->c[3] = table_build_column(k->b, "old_tid", SQL_TYPE_U32);
	k->c[4] = table_build_column(k->b, "old_process_name", SQL_TYPE_TEXT);
	k->c[5] = table_build_column(k->b, "old_state", SQL_TYPE_U8);
	k->c[6] = table_build_column(k->b, "reason", SQL_TYPE_TEXT);
	k->c[7] = table_build_column(k->b, "stack", SQL_TYPE_U32);
}

static uint32_t pid_of(struct table_kernel *k, uint32_t tid, uint64_t time)
{
	struct openetw_thread t = {.size = sizeof t};
	return tid == 0                                                            ? 0
	       : openetw_state_thread(k->m->state, tid, time, &t) == ERROR_SUCCESS ? t.pid
										   : OPENETW_UNKNOWN_ID;
}

static void put_switch(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	if (s->kind != KEVENT_SWITCH) {
		return;
	}
	uint32_t in = pid_of(k, s->in_tid, s->time), out = pid_of(k, s->out_tid, s->time);
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, s->time));
	table_build_number(k->b, k->c[1], GetEventProcessorIndex(e));
	table_who_put(k->m, k->b, &k->who, in, s->in_tid, s->time);
	table_build_number(k->b, k->c[2], table_make_thread(k->m, s->out_tid, s->time));
	table_build_number(k->b, k->c[3], s->out_tid);
	table_put_string(k->b, k->c[4], table_make_process_name(k->m, table_make_process(k->m, out, s->time)));
	table_build_number(k->b, k->c[5], s->state);
	table_put_string(k->b, k->c[6], kevent_wait_reason(s->reason));
	table_kernel_stack(k, k->c[7], table_make_stack(k->m, e));
	table_build_row(k->b);
}

/* ---- waits ---------------------------------------------------------------------------------------- */

static void waits_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = table_build_column(k->b, "duration", SQL_TYPE_U64);
	k->c[2] = table_build_column(k->b, "kind", SQL_TYPE_TEXT);
	table_who_columns(k->b, &k->who);
	k->c[3] = table_build_column(k->b, "reason", SQL_TYPE_TEXT);
	k->c[4] = table_build_column(k->b, "woken_by", SQL_TYPE_TEXT);
	k->c[5] = table_build_column(k->b, "waker_thread", SQL_TYPE_U32);
	k->c[6] = table_build_column(k->b, "waker_pid", SQL_TYPE_U32);
	k->c[7] = table_build_column(k->b, "waker_tid", SQL_TYPE_U32);
	k->c[8] = table_build_column(k->b, "waker_process_name", SQL_TYPE_TEXT);
	k->c[9] = table_build_column(k->b, "ready", SQL_TYPE_U64);
	k->c[10] = table_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void put_wait(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s, struct waiting *w)
{
	uint32_t pid = pid_of(k, s->in_tid, s->time);
	bool waited = w->state == STATE_WAITING;
	if (!openetw_state_watched(k->m->state, pid, s->time)) {
		return; /* it may have run since, unseen */
	}
	if (k->chains) {
		if (waited) {
			table_chains_wait(k, e, s, w, pid);
		} else {
			table_chains_preempted(k, w, s->time);
		}
		return;
	}
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, w->since));
	table_build_number(k->b, k->c[1], (s->time - w->since) * 100);
	table_put_string(k->b, k->c[2], waited ? "wait" : "preempted");
	table_who_put(k->m, k->b, &k->who, pid, s->in_tid, s->time);
	if (waited) {
		table_put_string(k->b, k->c[3], kevent_wait_reason(w->reason));
	}
	if (w->told) {
		const char *by = kevent_waker_name(w->by);
		table_put_string(k->b, k->c[4], by ? by : "thread");
		if (!by) {
			table_build_number(k->b, k->c[5], table_make_thread(k->m, w->waker_tid, w->ready));
			table_build_number(k->b, k->c[6], w->waker_pid);
			table_build_number(k->b, k->c[7], w->waker_tid);
			uint32_t process = table_make_process(k->m, w->waker_pid, w->ready);
			table_put_string(k->b, k->c[8], table_make_process_name(k->m, process));
		}
		table_build_number(k->b, k->c[9], (s->time - w->ready) * 100);
	}
	table_kernel_stack(k, k->c[10], table_make_stack(k->m, e));
	table_build_row(k->b);
}

#define EARLY 10000u /* 1 ms */

static void woken(struct table_kernel *k, const struct kevent *s)
{
	struct waiting *w = thread_of(k, s->subject_tid);
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

static void wait_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	struct waiting *w;
	if (s->kind == KEVENT_READY) {
		woken(k, s);
		return;
	}
	if (s->kind == KEVENT_SYSCALL && k->chains) { /* what it waits in */
		w = s->tid == OPENETW_UNKNOWN_ID ? NULL : thread_of(k, s->tid);
		if (w) {
			w->call = s->address;
			w->call_time = s->op == KOP_START ? s->time : 0;
		}
		return;
	}
	if (s->kind != KEVENT_SWITCH) {
		return;
	}
	w = s->out_tid ? thread_of(k, s->out_tid) : NULL;
	if (w) {
		w->since = s->time;
		w->reason = s->reason;
		w->state = s->state;
		w->told = w->early && w->ready + EARLY >= s->time;
		w->ready = w->told ? s->time : 0;
		w->early = false;
	}
	w = s->in_tid ? thread_of(k, s->in_tid) : NULL;
	if (w && w->since) {
		put_wait(k, e, s, w);
	}
	if (w) {
		w->since = 0;
		w->told = w->early = false;
	}
}

/* Where switches were lost a thread may have run unseen: what it waited then is not known. */
static void forget_waits(struct table_kernel *k)
{
	for (uint32_t i = 0; i < k->thread_count; i++) {
		k->threads[i].since = 0;
	}
}

/* ---- connections, faults, system calls ------------------------------------------------------------ */

static void net_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "time", SQL_TYPE_I64);
	table_who_columns(k->b, &k->who);
	k->c[1] = table_build_column(k->b, "protocol", SQL_TYPE_TEXT);
	k->c[2] = table_build_column(k->b, "operation", SQL_TYPE_TEXT);
	k->c[3] = table_build_column(k->b, "local", SQL_TYPE_TEXT);
	k->c[4] = table_build_column(k->b, "remote", SQL_TYPE_TEXT);
	k->c[5] = table_build_column(k->b, "bytes", SQL_TYPE_U64);
	k->c[6] = table_build_column(k->b, "status", SQL_TYPE_I32);
	k->c[7] = table_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void net_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	static const char *const names[] = {
		[KOP_SEND] = "send",     [KOP_RECEIVE] = "receive",       [KOP_CONNECT] = "connect",
		[KOP_ACCEPT] = "accept", [KOP_DISCONNECT] = "disconnect", [KOP_RETRANSMIT] = "retransmit",
		[KOP_FAIL] = "fail"};
	if (s->kind != KEVENT_NET) {
		return;
	}
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, s->time));
	table_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	table_put_string(k->b, k->c[1], s->udp ? "udp" : "tcp");
	table_put_string(k->b, k->c[2], s->op < BASE_ARRAY_LEN(names) && names[s->op] ? names[s->op] : "other");
	table_put_string(k->b, k->c[3], s->local[0] ? s->local : NULL);
	table_put_string(k->b, k->c[4], s->remote[0] ? s->remote : NULL);
	table_build_number(k->b, k->c[5], s->bytes);
	if (s->op == KOP_FAIL) {
		table_build_number(k->b, k->c[6], s->status);
	}
	table_kernel_stack(k, k->c[7], table_make_stack(k->m, e));
	table_build_row(k->b);
}

static void faults_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "time", SQL_TYPE_I64);
	table_who_columns(k->b, &k->who);
	k->c[1] = table_build_column(k->b, "kind", SQL_TYPE_TEXT);
	k->c[2] = table_build_column(k->b, "address", SQL_TYPE_U64);
	k->c[3] = table_build_column(k->b, "file", SQL_TYPE_TEXT);
	k->c[4] = table_build_column(k->b, "bytes", SQL_TYPE_U64);
	k->c[5] = table_build_column(k->b, "offset", SQL_TYPE_U64);
	k->c[6] = table_build_column(k->b, "stack", SQL_TYPE_U32);
}

static void fault_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	static const char *const names[] = {[KOP_HARD] = "hard",
					    [KOP_DEMAND_ZERO] = "demand zero",
					    [KOP_TRANSITION] = "transition",
					    [KOP_COPY_ON_WRITE] = "copy on write"};
	if (s->kind != KEVENT_FAULT) {
		return;
	}
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, s->time));
	table_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	table_put_string(k->b, k->c[1], s->op < BASE_ARRAY_LEN(names) && names[s->op] ? names[s->op] : "other");
	table_build_number(k->b, k->c[2], s->address);
	if (s->op == KOP_HARD) {
		table_put_string(k->b, k->c[3], s->file);
		table_build_number(k->b, k->c[4], s->bytes);
		table_build_number(k->b, k->c[5], s->offset);
	}
	table_kernel_stack(k, k->c[6], table_make_stack(k->m, e));
	table_build_row(k->b);
}

static void syscalls_columns(struct table_kernel *k)
{
	k->c[0] = table_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = table_build_column(k->b, "duration", SQL_TYPE_U64);
	table_who_columns(k->b, &k->who);
	k->c[2] = table_build_column(k->b, "call", SQL_TYPE_TEXT);
	k->c[3] = table_build_column(k->b, "result", SQL_TYPE_I32);
}

static void syscall_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s)
{
	char name[1024];
	(void)e;
	struct waiting *w = s->kind == KEVENT_SYSCALL && s->tid != OPENETW_UNKNOWN_ID ? thread_of(k, s->tid) : NULL;
	if (!w) {
		return;
	}
	if (s->op == KOP_START) {
		w->call = s->address;
		w->call_time = s->time;
		return;
	}
	if (!w->call_time) {
		return; /* it began before the trace */
	}
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, w->call_time));
	table_build_number(k->b, k->c[1], (s->time - w->call_time) * 100);
	table_who_put(k->m, k->b, &k->who, s->pid, s->tid, s->time);
	if (w->call < NAMES_KERNEL_SPACE) {
		snprintf(name, sizeof name, "%llu", (unsigned long long)w->call);
	} else {
		names_of(&k->m->names, 4, w->call, s->time, name, sizeof name);
	}
	table_put_string(k->b, k->c[2], name);
	table_build_number(k->b, k->c[3], s->status);
	table_build_row(k->b);
	w->call_time = 0;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

static const struct table {
	const char *name;
	void (*columns)(struct table_kernel *k);
	void (*event)(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s);
	void (*rest)(struct table_kernel *k); /* what is left when all events are read; may be NULL */
} tables[] = {
	{"samples", samples_columns, put_sample, NULL},
	{"switches", switches_columns, put_switch, NULL},
	{"waits", waits_columns, wait_event, NULL},
	{"wait_chains", table_chains_columns, wait_event, NULL},
	{"io", table_io_columns, table_io_event, table_io_rest},
	{"files", table_files_columns, table_files_event, table_files_rest},
	{"net", net_columns, net_event, NULL},
	{"faults", faults_columns, fault_event, NULL},
	{"syscalls", syscalls_columns, syscall_event, NULL},
};

static void on_event(void *context, const EVENT_RECORD *e)
{
	struct table_kernel *k = context;
	struct kevent s;
	if (kevent_switches_lost(e) != UINT64_MAX) {
		forget_waits(k);
	}
	if (kevent_of(k->m->state, e, &s)) {
		k->table->event(k, e, &s);
	}
}

struct table_build *table_make_kernel(struct table_maker *m, const char *name, char *why, size_t cap)
{
	struct table_kernel k = {.m = m, .b = table_build_create()};
	for (size_t i = 0; i < BASE_ARRAY_LEN(tables); i++) {
		k.table = strcmp(tables[i].name, name) == 0 ? &tables[i] : k.table;
	}
	bool ok = k.b && k.table;
	if (ok) {
		k.table->columns(&k);
		ok = table_make_pass(m, on_event, &k, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	if (ok && k.table->rest) {
		k.table->rest(&k);
		ok = !m->failed;
		if (!ok) {
			snprintf(why, cap, "no memory for the table");
		}
	}
	table_io_free(&k);
	table_chains_free(&k);
	free(k.threads);
	map_free(&k.thread_of);
	if (!ok) {
		table_build_destroy(k.b);
		return NULL;
	}
	return k.b;
}
