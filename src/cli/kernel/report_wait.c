/* SPDX-License-Identifier: MIT
 * report: what threads waited for, and who woke them.
 */
#include "cli/kernel/report.h"

#include <stdlib.h>

enum { STATE_WAITING = 5 };
enum { WAIT_TIME, WAIT_COUNT, WAIT_LONGEST };

struct report_thread *report_thread(struct report *r, uint32_t tid)
{
	if (r->slot_count * 2 >= r->slot_cap) {
		size_t cap = r->slot_cap ? r->slot_cap * 2 : 1024;
		struct report_thread *bigger = malloc(cap * sizeof *bigger);
		if (!bigger) {
			r->failed = true;
			return NULL;
		}
		for (size_t i = 0; i < cap; i++) {
			bigger[i] = (struct report_thread){.tid = UINT32_MAX};
		}
		for (size_t i = 0; i < r->slot_cap; i++) {
			if (r->slot[i].tid != UINT32_MAX) {
				size_t at = (r->slot[i].tid * 2654435761u) & (cap - 1);
				while (bigger[at].tid != UINT32_MAX) {
					at = (at + 1) & (cap - 1);
				}
				bigger[at] = r->slot[i];
			}
		}
		free(r->slot);
		r->slot = bigger;
		r->slot_cap = cap;
	}
	size_t at = (tid * 2654435761u) & (r->slot_cap - 1);
	while (r->slot[at].tid != UINT32_MAX && r->slot[at].tid != tid) {
		at = (at + 1) & (r->slot_cap - 1);
	}
	if (r->slot[at].tid == UINT32_MAX) {
		r->slot[at] = (struct report_thread){.tid = tid};
		r->slot_count++;
	}
	return &r->slot[at];
}

static void keep(struct report *r, const struct wait *w)
{
	size_t least = 0;
	if (r->wait_count < REPORT_WAITS_KEPT) {
		r->waits[r->wait_count++] = *w;
		return;
	}
	for (size_t i = 1; i < REPORT_WAITS_KEPT; i++) {
		least = r->waits[i].length < r->waits[least].length ? i : least;
	}
	if (r->waits[least].length < w->length) {
		r->waits[least] = *w;
	}
}

static void waited(struct report *r, const EVENT_RECORD *e, const struct kevent *k,
		   const struct report_thread *s)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process q = {.size = sizeof q};
	struct wait w = {.length = k->time - s->since,
			 .tid = k->in_tid,
			 .reason = s->reason,
			 .waker_pid = s->waker_pid,
			 .waker_tid = s->waker_tid,
			 .waker = s->waker,
			 .process = "?"};
	if (openetw_state_thread(r->state, k->in_tid, k->time, &t) == ERROR_SUCCESS) {
		w.pid = t.pid;
		if (openetw_state_process(r->state, t.pid, k->time, &q) == ERROR_SUCCESS) {
			w.process = q.name;
		}
	}
	if (!report_wanted(r, w.pid)) {
		return;
	}
	keep(r, &w);
	struct tally_row *row = tally_rowf(&r->waits_by_thread, "%s (%u:%u)", w.process, w.pid, w.tid);
	uint64_t us = w.length / 10;
	if (row) {
		row->v[WAIT_TIME] += us;
		row->v[WAIT_COUNT]++;
		row->v[WAIT_LONGEST] = BASE_MAX(row->v[WAIT_LONGEST], us);
	}
	if (r->off_cpu && us > 0) {
		/* Windows and we alike: the stack of a switch is that of the thread that comes back. */
		report_stack_line(r, e, w.pid, w.process, k->time);
		row = r->line.failed ? NULL : tally_row(&r->off_stacks, r->line.s);
		if (row) {
			row->v[0] += us;
		}
	}
	r->failed = r->failed || !row;
}

void report_switch(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	uint32_t cpu = e->BufferContext.ProcessorIndex;
	r->switches++;
	if (cpu < REPORT_CPUS_MAX) {
		r->gaps += r->on_cpu[cpu] && r->on_cpu[cpu] != (uint64_t)k->out_tid + 1;
		r->on_cpu[cpu] = (uint64_t)k->in_tid + 1;
	}
	struct report_thread *s = k->out_tid ? report_thread(r, k->out_tid) : NULL;
	if (s) {
		s->since = k->time;
		s->reason = k->reason;
		s->state = k->state;
		s->waker_tid = 0;
	}
	s = k->in_tid ? report_thread(r, k->in_tid) : NULL;
	if (s && s->since && s->state == STATE_WAITING) {
		waited(r, e, k, s);
	}
	if (s) {
		s->since = 0;
	}
}

void report_ready(struct report *r, const struct kevent *k)
{
	struct report_thread *s = report_thread(r, k->subject_tid);
	if (s) {
		s->waker_pid = k->pid;
		s->waker_tid = k->tid;
		s->waker = k->process;
	}
}

static int by_length(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	return x->length < y->length ? 1 : x->length > y->length ? -1 : 0;
}

void report_print_waits(struct report *r, uint64_t top, bool json)
{
	qsort(r->waits, r->wait_count, sizeof r->waits[0], by_length);
	if (!json && r->wait_count) {
		printf("\nlongest waits\n  %10s  %-28s %-16s %s\n", "MS", "THREAD", "REASON", "WOKEN BY");
	}
	for (size_t i = 0; i < r->wait_count && i < top; i++) {
		const struct wait *w = &r->waits[i];
		const char *reason = kevent_wait_reason(w->reason);
		char who[300], waker[300] = "";
		snprintf(who, sizeof who, "%s (%u:%u)", w->process, w->pid, w->tid);
		if (w->waker_tid) {
			snprintf(waker, sizeof waker, "%s (%u:%u)", w->waker ? w->waker : "?", w->waker_pid,
				 w->waker_tid);
		}
		if (json) {
			printf("{\"table\":\"waits\",\"ms\":%.3f,\"pid\":%u,\"tid\":%u,\"reason\":\"%s\",\"wakerPid\":%u,"
			       "\"wakerTid\":%u}\n",
			       (double)w->length / 1e4, w->pid, w->tid, reason, w->waker_pid, w->waker_tid);
		} else {
			printf("  %10.3f  %-28s %-16s %s\n", (double)w->length / 1e4, who, reason, waker);
		}
	}
	static const char *const parts[] = {"THREAD", NULL};
	static const struct tally_column columns[] = {{"MS", "ms", TALLY_US, WAIT_TIME},
						      {"WAITS", "waits", TALLY_COUNT, WAIT_COUNT},
						      {"LONGEST MS", "longestMs", TALLY_US, WAIT_LONGEST}};
	static const struct tally_table table = {
		"threads by time waited", "threadWaits", parts, columns, 3, WAIT_TIME, 0};
	tally_print(stdout, &r->waits_by_thread, &table, top, json);
}
