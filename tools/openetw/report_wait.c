/* SPDX-License-Identifier: MIT
 * report: what threads waited for, and who woke them.
 */
#include "tools/openetw/report.h"
#include "tools/common/table.h"

#include "base/vec.h"

#include <stdlib.h>

enum { STATE_WAITING = 5 };
enum { WAIT_TIME, WAIT_COUNT, WAIT_LONGEST };
#define EARLY 10000u /* 1 ms */

struct report_thread *report_thread(struct report *r, uint32_t tid)
{
	size_t at = map_find(&r->thread_of, tid);
	if (at != MAP_NONE) {
		return &r->thread[map_value(&r->thread_of, at)];
	}
	if (!VEC_ROOM(r->thread, r->thread_count, r->thread_cap) || map_add(&r->thread_of, tid, r->thread_count) < 0) {
		r->failed = true;
		return NULL;
	}
	r->thread[r->thread_count] = (struct report_thread){0};
	return &r->thread[r->thread_count++];
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

/* Interrupts and timers have a thread in their events as well: the one that happened to run. Only softirqs may be its
 * doing, as those of who sends to a program on the same machine. */
static void waker_text(const struct waker *w, char *out, size_t cap)
{
	const char *by = kevent_waker_name(w->by);
	char who[KEVENT_THREAD_SIZE];
	kevent_thread_text(w->process ? w->process : "?", w->pid, w->tid, w->thread ? w->thread : "", who);
	if (!w->told) {
		snprintf(out, cap, "%s", "");
	} else if (!by) {
		snprintf(out, cap, "%s", who);
	} else if (w->by == KEVENT_BY_SOFTIRQ && w->tid) {
		snprintf(out, cap, "%s, while %s ran", by, who);
	} else {
		snprintf(out, cap, "%s", by);
	}
}

/* What the range has of it. A wait that began before the range only adds to the time. */
static bool add(struct tally_row *row, const struct wait *w)
{
	if (row) {
		uint64_t us = w->length / 10;
		row->v[WAIT_TIME] += w->part / 10;
		row->v[WAIT_COUNT] += w->begins;
		row->v[WAIT_LONGEST] = w->begins ? BASE_MAX(row->v[WAIT_LONGEST], us) : row->v[WAIT_LONGEST];
	}
	return row != NULL;
}

static bool count_waker(struct report *r, const struct wait *w)
{
	char text[KEVENT_THREAD_SIZE + 40];
	const char *by = kevent_waker_name(w->waker.by);
	waker_text(&w->waker, text, sizeof text);
	return add(tally_row(&r->waits_by_waker, !w->waker.told ? "(not told)" : by ? by : text), w);
}

static void count(struct report *r, const EVENT_RECORD *e, const struct kevent *k, const struct wait *w)
{
	char who[KEVENT_THREAD_SIZE];
	if (w->begins) {
		keep(r, w);
	}
	bool ok = !r->wakers || count_waker(r, w);
	kevent_thread_text(w->process, w->pid, w->tid, w->thread, who);
	ok = add(tally_rowf(&r->waits_by_thread, "%s", who), w) && ok;
	if (r->off_cpu && w->part >= 10) {
		/* Windows and we alike: the stack of a switch is that of the thread that comes back. */
		report_stack_line(r, e, w->pid, w->process, k->time, true);
		struct tally_row *row = r->line.failed ? NULL : tally_row(&r->off_stacks, r->line.s);
		ok = row && ok;
		if (row) {
			row->v[0] += w->part / 10;
		}
	}
	r->failed = r->failed || !ok;
}

/* Returns false when the filter is not true of the switch that ends the wait. */
static bool waited(struct report *r, const EVENT_RECORD *e, const struct kevent *k, const struct report_thread *s)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process q = {.size = sizeof q};
	struct wait w = {.length = k->time - s->since,
			 .part = report_part(r, s->since, k->time),
			 .begins = report_in_range(r, s->since),
			 .tid = k->in_tid,
			 .reason = s->reason,
			 .waker = s->waker,
			 .process = "?",
			 .thread = ""};
	const uint64_t ns = w.length * 100;
	if (!report_fits(r, e, &ns)) {
		return false;
	}
	if (openetw_state_thread(r->state, k->in_tid, k->time, &t) == ERROR_SUCCESS) {
		w.pid = t.pid;
		w.thread = t.name;
		if (openetw_state_process(r->state, t.pid, k->time, &q) == ERROR_SUCCESS) {
			w.process = q.name;
		}
	}
	/* A thread of a process that was not recorded may have run since, unseen. */
	if (report_whose(r, w.pid, w.tid, w.process) && (w.begins || w.part) &&
	    openetw_state_watched(r->state, w.pid, k->time)) {
		count(r, e, k, &w);
	}
	return true;
}

/* Switches are counted by who comes. */
static bool is_wanted(struct report *r, const struct kevent *k)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process q = {.size = sizeof q};
	if (r->o->pid.count == 0 && r->o->tables.process.count == 0 && r->o->tables.thread.count == 0) {
		return true;
	}
	bool known = openetw_state_thread(r->state, k->in_tid, k->time, &t) == ERROR_SUCCESS;
	bool named = known && openetw_state_process(r->state, t.pid, k->time, &q) == ERROR_SUCCESS;
	return known && report_whose(r, t.pid, k->in_tid, named ? q.name : NULL);
}

void report_switch(struct report *r, const EVENT_RECORD *e, const struct kevent *k)
{
	uint32_t cpu = GetEventProcessorIndex(e);
	bool fits;
	if (cpu < REPORT_CPUS_MAX) {
		r->gaps += r->on_cpu[cpu] && r->on_cpu[cpu] != (uint64_t)k->out_tid + 1;
		r->on_cpu[cpu] = (uint64_t)k->in_tid + 1;
	}
	struct report_thread *s = k->out_tid ? report_thread(r, k->out_tid) : NULL;
	if (s) {
		s->since = k->time;
		s->reason = k->reason;
		s->state = k->state;
		s->waker.told = false;
	}
	s = k->in_tid ? report_thread(r, k->in_tid) : NULL;
	if (s && s->since && !s->waker.told && s->early.told && s->early_time + EARLY >= s->since) {
		s->waker = s->early;
	}
	fits = s && s->since && s->state == STATE_WAITING ? waited(r, e, k, s) : report_fits(r, e, NULL);
	r->switches += fits && report_in_range(r, k->time) && is_wanted(r, k);
	r->all_switches++;
	if (s) {
		s->since = 0;
	}
}

/* Where switches were lost a thread may have run unseen: what it waited then is not known. Told within a tenth of a
 * second of it. */
static void forget_waits(struct report *r, uint64_t lost)
{
	r->switches_lost += lost;
	for (size_t i = 0; i < r->thread_count; i++) {
		r->thread[i].since = 0;
	}
}

void report_losses(struct report *r, const EVENT_RECORD *e)
{
	uint64_t lost = kevent_switches_lost(e);
	if (lost != UINT64_MAX) {
		forget_waits(r, lost);
	}
}

void report_ready(struct report *r, const struct kevent *k)
{
	r->wakers = true;
	struct report_thread *s = report_thread(r, k->subject_tid);
	struct waker w = {true, k->waker, k->pid, k->tid, k->process, k->thread};
	if (s && s->since) {
		s->waker = s->waker.told ? s->waker : w; /* the first one ended it */
	} else if (s) {
		s->early = w;
		s->early_time = k->time;
	}
}

static int by_length(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	return x->length < y->length ? 1 : x->length > y->length ? -1 : 0;
}

static void print_json(const struct wait *w, const char *reason)
{
	const char *by = kevent_waker_name(w->waker.by);
	bool thread = w->waker.told && !by;
	printf("{\"table\":\"waits\",\"ms\":%.3f,\"pid\":%u,\"tid\":%u,\"reason\":\"%s\",\"wakerPid\":%u,\"wakerTid\":%"
	       "u",
	       (double)w->length / 1e4, w->pid, w->tid, reason, thread ? w->waker.pid : 0, thread ? w->waker.tid : 0);
	if (w->waker.told) {
		printf(",\"wokenBy\":\"%s\"", by ? by : "thread");
	}
	if (w->waker.told && by) {
		printf(",\"interruptedPid\":%u,\"interruptedTid\":%u", w->waker.pid, w->waker.tid);
	}
	puts("}");
}

void report_print_waits(struct report *r, uint64_t top, bool json)
{
	qsort(r->waits, r->wait_count, sizeof r->waits[0], by_length);
	static const struct table_column shown[] = {
		{"MS", .right = true, .least = 10}, {"THREAD"}, {"REASON"}, {"WOKEN BY"}};
	struct table *t = json ? NULL : table_create(shown, BASE_ARRAY_LEN(shown), 2);
	if (!json && r->wait_count) {
		printf("\nlongest waits\n");
	}
	for (size_t i = 0; i < r->wait_count && i < top; i++) {
		const struct wait *w = &r->waits[i];
		const char *reason = kevent_wait_reason(w->reason);
		char who[KEVENT_THREAD_SIZE], waker[KEVENT_THREAD_SIZE + 40];
		kevent_thread_text(w->process, w->pid, w->tid, w->thread, who);
		waker_text(&w->waker, waker, sizeof waker);
		if (json) {
			print_json(w, reason);
		} else {
			table_cell(t, "%.3f", (double)w->length / 1e4);
			table_cell(t, "%s", who);
			table_cell(t, "%s", reason);
			table_cell(t, "%s", waker);
		}
	}
	if (!json) {
		table_print(stdout, t);
	}
	static const char *const parts[] = {"THREAD", NULL};
	static const struct tally_column columns[] = {{"MS", "ms", TALLY_US, WAIT_TIME},
						      {"WAITS", "waits", TALLY_COUNT, WAIT_COUNT},
						      {"LONGEST MS", "longestMs", TALLY_US, WAIT_LONGEST}};
	static const struct tally_table table = {
		"threads by time waited", "threadWaits", parts, columns, 3, WAIT_TIME, 0};
	tally_print(stdout, &r->waits_by_thread, &table, top, json);
	static const char *const wakers[] = {"WOKEN BY", NULL}, *const json_wakers[] = {"WAKER", NULL};
	struct tally_table ended = {
		"waits by what ended them", "wakers", json ? json_wakers : wakers, columns, 3, WAIT_TIME, 0};
	tally_print(stdout, &r->waits_by_waker, &ended, top, json);
}
