/* SPDX-License-Identifier: MIT
 * report's first lines: what every event adds to the times that threads lost.
 */
#include "tools/openetw/report_cause.h"

#include "base/vec.h"
#include "etw/values/guids.h"
#include "kernel_payload.h"

#include <stdlib.h>

enum { STATE_READY = 1, STATE_STANDBY = 3, STATE_WAITING = 5, STATE_DEFERRED_READY = 7 };
#define EARLY         10000u /* 1 ms: of a wake-up that is told before the switch away */
#define TOGETHER      1000u  /* 100 µs */
#define SAMPLES_LEAST 30     /* fewer tell no share */
#define SAMPLE_USUAL  10000u /* 1 ms */
#define STACK_LEAST   50u    /* 5 µs: the stack of a shorter wait is not looked at */

struct causes *causes_create(struct openetw_state *state, const struct names *names)
{
	struct causes *c = calloc(1, sizeof *c);
	if (c) {
		c->state = state;
		c->names = names;
	}
	return c;
}

void causes_destroy(struct causes *c)
{
	if (!c) {
		return;
	}
	for (size_t i = 0; i < CAUSE_CPUS; i++) {
		free(c->cpu[i].slice);
	}
	for (size_t i = 0; i < c->finding_count; i++) {
		free(c->finding[i].text);
	}
	cause_peer_free(c);
	cause_pairs_free(&c->neighbours);
	cause_pairs_free(&c->wakers);
	cause_pairs_free(&c->handed);
	cause_pairs_free(&c->chains);
	cause_pairs_free(&c->local);
	map_free(&c->server_of);
	map_free(&c->thread_of);
	map_free(&c->class_of);
	free(c->thread);
	free(c->gc);
	free(c->flush);
	free(c->finding);
	free(c);
}

/* ---- sums ------------------------------------------------------------------------------------------ */

void cause_add(struct cause_sum *s, uint64_t time)
{
	s->time += time;
	s->longest = BASE_MAX(s->longest, time);
	s->count++;
}

void cause_pair_add(struct causes *c, struct cause_pairs *p, uint32_t a, uint32_t b, uint64_t time)
{
	uint64_t key = (uint64_t)a << 32 | b;
	size_t at = map_find(&p->of, key);
	if (at == MAP_NONE) {
		if (!VEC_ROOM_UP_TO(p->pair, p->count, p->cap, CAUSE_MOST) || map_add(&p->of, key, p->count) < 0) {
			c->failed = true;
			return;
		}
		p->pair[p->count] = (struct cause_pair){.a = a, .b = b};
		cause_add(&p->pair[p->count++].sum, time);
		return;
	}
	cause_add(&p->pair[map_value(&p->of, at)].sum, time);
}

void cause_pairs_free(struct cause_pairs *p)
{
	free(p->pair);
	map_free(&p->of);
}

static int by_a(const void *pa, const void *pb)
{
	const struct cause_pair *a = pa, *b = pb;
	return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b != b->b ? (a->b < b->b ? -1 : 1) : 0;
}

void cause_pairs_sort(struct cause_pairs *p)
{
	map_free(&p->of);
	p->of = (struct map){0};
	if (p->count) {
		qsort(p->pair, p->count, sizeof *p->pair, by_a);
	}
}

const struct cause_pair *cause_pairs_of(const struct cause_pairs *p, uint32_t a, size_t *ret_count)
{
	size_t low = 0, high = p->count, end;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p->pair[mid].a < a) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (end = low; end < p->count && p->pair[end].a == a;) {
		end++;
	}
	*ret_count = end - low;
	return p->pair + low;
}

/* ---- threads --------------------------------------------------------------------------------------- */

static int by_process(const void *pa, const void *pb, void *context)
{
	const struct causes *c = context;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb, p = c->thread[a].pid, q = c->thread[b].pid;
	return p != q ? (p < q ? -1 : 1) : a < b ? -1 : a > b;
}

uint32_t *cause_by_process(struct causes *c)
{
	uint32_t *order = calloc(c->thread_count + 1, sizeof *order);
	if (!order) {
		c->failed = true;
		return NULL;
	}
	for (size_t i = 0; i < c->thread_count; i++) {
		order[i] = (uint32_t)i;
	}
	qsort_r(order, c->thread_count, sizeof *order, by_process, c);
	return order;
}

size_t cause_process_end(const struct causes *c, const uint32_t *order, size_t from)
{
	size_t end = from + 1;
	while (end < c->thread_count && c->thread[order[end]].pid == c->thread[order[from]].pid) {
		end++;
	}
	return end;
}

struct cause_thread *cause_thread(struct causes *c, uint32_t tid, uint64_t time)
{
	struct openetw_thread t = {.size = sizeof t};
	if (tid == 0 || tid == OPENETW_UNKNOWN_ID) {
		return NULL;
	}
	size_t at = map_find(&c->thread_of, tid);
	if (at != MAP_NONE) {
		struct cause_thread *known = &c->thread[map_value(&c->thread_of, at)];
		known->seen = time;
		return known;
	}
	if (!VEC_ROOM_UP_TO(c->thread, c->thread_count, c->thread_cap, CAUSE_MOST) ||
	    map_add(&c->thread_of, tid, c->thread_count) < 0) {
		c->failed = true;
		return NULL;
	}
	struct cause_thread *new = &c->thread[c->thread_count++];
	*new = (struct cause_thread){.tid = tid, .pid = OPENETW_UNKNOWN_ID, .seen = time};
	if (openetw_state_thread(c->state, tid, time, &t) == ERROR_SUCCESS) {
		new->pid = t.pid;
	}
	return new;
}

/* Its number is that of another one from now on. */
static void thread_begins(struct causes *c, uint32_t tid)
{
	size_t at = map_find(&c->thread_of, tid);
	if (at != MAP_NONE) {
		map_remove(&c->thread_of, at);
	}
}

/* ---- switches -------------------------------------------------------------------------------------- */

/* Locks and answers are waited for until the thread could run again; calls that wait for a disk are not over before it
 * does. */
static void wait_over(struct causes *c, struct cause_thread *t, const EVENT_RECORD *e, uint64_t now)
{
	struct cause_wait w = {.from = t->since, .until = t->ready ? t->ready : now};
	uint64_t length = w.until > w.from ? w.until - w.from : 0;
	if (now - w.from >= STACK_LEAST) {
		w.in = cause_stack(c, e, t->pid, t->seen, &w.site);
	}
	if (w.in & CAUSE_IN_FLUSH) {
		cause_add(&t->flush_waits, now - w.from);
	} else if (w.in & (CAUSE_IN_FAULT | CAUSE_IN_MEMORY)) {
		cause_add(&t->fault_waits, now - w.from);
	} else if (w.in & CAUSE_IN_LOCK) {
		cause_lock_wait(c, t, &w);
		return;
	}
	if (w.in & CAUSE_IN_SEMAPHORE) {
		cause_semaphore_wait(c, t, &w);
	}
	if (w.in & (CAUSE_IN_ACCEPT | CAUSE_IN_LOCAL)) {
		cause_local_wait(c, t, &w);
	}
	t->last_from = w.from;
	t->last_until = w.until;
	t->last_in = w.in;
	if (!(t->told && t->by == KEVENT_BY_TIMER) && !(w.in & CAUSE_IN_SLEEP)) {
		t->answerable += length;
	}
}

static void comes(struct causes *c, struct cause_thread *t, const EVENT_RECORD *e, uint32_t number, uint64_t time)
{
	bool waited = t->state == STATE_WAITING;
	if (t->since && openetw_state_watched(c->state, t->pid, time)) {
		if (waited) {
			wait_over(c, t, e, time);
		}
		if (t->ready && t->ready < time) {
			t->unready += time - t->ready;
			cause_neighbour_ready(c, t, &c->cpu[number], t->ready, time);
		}
	}
	t->since = t->ready = t->early = 0;
	t->told = t->together = false;
	t->moved = t->moved || (t->ran && t->cpu != number);
	t->cpu = number;
	t->ran = true;
}

static void goes(struct cause_thread *t, const struct kevent *k)
{
	bool can_run = k->state == STATE_READY || k->state == STATE_STANDBY || k->state == STATE_DEFERRED_READY;
	t->since = k->time;
	t->state = k->state;
	t->told = t->early && t->early + EARLY >= k->time && k->state == STATE_WAITING;
	t->ready = can_run || t->told ? k->time : 0;
	t->early = 0;
}

/* What ran on the processor until now. */
static void slice(struct causes *c, struct cause_cpu *cpu, const struct kevent *k)
{
	if (!cpu->slice && !(cpu->slice = calloc(CAUSE_SLICES, sizeof *cpu->slice))) {
		c->failed = true;
		return;
	}
	/* Switches between others are missing when not all processes were recorded, or events were lost. */
	bool whole = cpu->known && cpu->tid == k->out_tid;
	struct cause_slice s = {whole ? cpu->thread : CAUSE_NOBODY, cpu->known ? cpu->since : k->time, k->time};
	cpu->slice[cpu->slices++ % CAUSE_SLICES] = s;
	if (s.thread != CAUSE_NOBODY) {
		c->thread[s.thread].running += s.until - s.from;
	}
}

static void on_switch(struct causes *c, const EVENT_RECORD *e, const struct kevent *k)
{
	uint32_t number = GetEventProcessorIndex(e);
	struct cause_cpu *cpu = number < CAUSE_CPUS ? &c->cpu[number] : NULL;
	c->switches++;
	if (cpu) {
		slice(c, cpu, k);
	}
	struct cause_thread *out = cause_thread(c, k->out_tid, k->time);
	if (out) {
		goes(out, k);
	}
	struct cause_thread *in = cause_thread(c, k->in_tid, k->time);
	if (in && cpu && cpu->slice) {
		comes(c, in, e, number, k->time);
	}
	if (cpu) {
		cpu->known = true;
		cpu->tid = k->in_tid;
		cpu->since = k->time;
		cpu->thread = in ? cause_thread_number(c, in) : CAUSE_NOBODY;
	}
}

/* A lock that is released lets one thread go on; a barrier, or a broadcast, lets all of them. */
static void note_together(struct causes *c, struct cause_thread *t, const struct kevent *k)
{
	size_t at = map_find(&c->thread_of, k->tid);
	struct cause_thread *by = at != MAP_NONE ? &c->thread[map_value(&c->thread_of, at)] : NULL;
	if (!by || k->waker != KEVENT_BY_THREAD) {
		return;
	}
	at = map_find(&c->thread_of, by->last_woken);
	struct cause_thread *before = at != MAP_NONE ? &c->thread[map_value(&c->thread_of, at)] : NULL;
	if (before && before != t && before->pid == t->pid && by->last_wake + TOGETHER >= k->time) {
		t->together = true;
		before->together = before->together || before->since; /* unless it runs already */
	}
	by->last_wake = k->time;
	by->last_woken = t->tid;
}

static void on_ready(struct causes *c, const struct kevent *k)
{
	struct cause_thread *t = cause_thread(c, k->subject_tid, k->time);
	c->wakes++;
	if (!t || (t->since && (t->state != STATE_WAITING || t->told))) {
		return; /* the first one ended the wait */
	}
	note_together(c, t, k);
	t->by = k->waker;
	t->waker_pid = k->pid;
	t->waker_tid = k->tid;
	if (t->since) {
		t->told = true;
		t->ready = k->time;
	} else {
		t->early = k->time;
	}
}

/* Where switches were lost a thread may have run unseen. */
static void forget(struct causes *c)
{
	for (size_t i = 0; i < c->thread_count; i++) {
		c->thread[i].since = 0;
	}
	for (size_t i = 0; i < CAUSE_CPUS; i++) {
		c->cpu[i].known = false;
	}
}

/* ---- the rest -------------------------------------------------------------------------------------- */

static void on_sample(struct causes *c, const EVENT_RECORD *e, const struct kevent *k)
{
	struct cause_thread *t = k->pid ? cause_thread(c, k->tid, k->time) : NULL;
	c->samples++;
	if (!t) {
		return;
	}
	uint32_t in = cause_stack(c, e, k->pid, k->time, NULL);
	in = in ? in : cause_class(c, k->pid, k->address, k->time);
	t->samples++;
	t->fault_samples += (in & CAUSE_IN_FAULT) != 0;
	t->memory_samples += (in & (CAUSE_IN_FAULT | CAUSE_IN_MEMORY)) == CAUSE_IN_MEMORY;
	t->flush_samples += (in & CAUSE_IN_FLUSH) != 0;
	t->gc_samples += (in & CAUSE_IN_GC) != 0;
}

static void on_fault(struct causes *c, const struct kevent *k)
{
	struct cause_thread *t = cause_thread(c, k->tid, k->time);
	c->faults++;
	if (t) {
		t->faults += k->op != KOP_HARD;
		t->hard_faults += k->op == KOP_HARD;
	}
}

static void learn(struct causes *c, const EVENT_RECORD *e)
{
	static const struct guid perf_info = GUID_INIT(ETW_GUID_CLASS_PERF_INFO);
	UCHAR type = e->EventHeader.EventDescriptor.Opcode;
	struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	if (type < KP_PERF_INFO_SET_INTERVAL || type > KP_PERF_INFO_SAMPLED_PROFILE_INTERVAL_COLLECTION_END ||
	    memcmp(&e->EventHeader.ProviderId, &perf_info, sizeof perf_info) != 0) {
		return;
	}
	uint32_t interval = kernel_payload_get32(in, KP_PERF_INFO_SET_INTERVAL_SINCE_V0_NEW_INTERVAL);
	if (kernel_payload_get32(in, KP_PERF_INFO_SET_INTERVAL_SINCE_V0_SOURCE) == 0 && interval > 0) {
		c->sample_interval = interval;
	}
}

void causes_event(struct causes *c, const EVENT_RECORD *e, const struct kevent *k)
{
	if (kevent_switches_lost(e) != UINT64_MAX) {
		forget(c);
	}
	if (!k) {
		learn(c, e);
		cause_gc_event(c, e);
		return;
	}
	if (k->kind == KEVENT_THREAD && k->op == KOP_START) {
		thread_begins(c, k->subject_tid);
	}
	if (k->kind == KEVENT_PROCESS || k->kind == KEVENT_THREAD || k->kind == KEVENT_IMAGE) {
		return; /* of what was there before the trace as well */
	}
	c->first = c->first ? c->first : k->time;
	c->last = k->time;
	switch (k->kind) {
	case KEVENT_SAMPLE: on_sample(c, e, k); break;
	case KEVENT_SWITCH: on_switch(c, e, k); break;
	case KEVENT_READY: on_ready(c, k); break;
	case KEVENT_FAULT: on_fault(c, k); break;
	case KEVENT_FILE:
	case KEVENT_FILE_END:
	case KEVENT_SYSCALL: cause_flush_event(c, k); break;
	case KEVENT_NET: cause_peer_event(c, e, k); break;
	default: break;
	}
}

uint64_t cause_sampled(const struct causes *c, const struct cause_thread *t, uint64_t samples)
{
	uint64_t interval = c->sample_interval ? c->sample_interval : SAMPLE_USUAL;
	if (t->samples < SAMPLES_LEAST) {
		return 0;
	}
	return c->switches ? (uint64_t)((double)t->running * (double)samples / t->samples) : samples * interval;
}

uint64_t cause_presence(struct causes *c, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process p = {.size = sizeof p};
	uint64_t from = c->first, until = c->last;
	if (tid != CAUSE_NOBODY) {
		if (openetw_state_thread(c->state, tid, time, &t) == ERROR_SUCCESS) {
			from = BASE_MAX(from, t.start_time);
			until = BASE_MIN(until, t.end_time);
		}
	} else if (openetw_state_process(c->state, pid, time, &p) == ERROR_SUCCESS) {
		from = BASE_MAX(from, p.start_time);
		until = BASE_MIN(until, p.end_time);
	}
	return until > from ? until - from : 0;
}
