/* SPDX-License-Identifier: MIT
 *
 * What has ended, for sessions that forget what is oldest: a ring may still have samples and stacks of a thread whose
 * end it has overwritten, as processors fill their buffers at different speeds. The records of ends say who it was
 * (process, arguments, where which file lay), so they are kept here for a while, and those that are gone from the ring
 * are said again behind it, with their own times.
 *
 * A thread runs on after its end was told (see kernel_ended_seen()). If it did something then, and that is still in the
 * ring, its end is said again although it is older than the whole ring.
 */
#include "kernel/kernel_process.h"

#include <stdlib.h>

#define BYTES_MAX  (8u << 20)
#define ROUNDS_MAX 8u

struct kernel_ended {
	uint64_t head, tail; /* bytes ever put, ever dropped */
	uint32_t round;      /* of saying */
	/* Processes that did something after an end of theirs, in order, as long as it is there. */
	uint32_t lasting[KERNEL_DYING], lastings;
	uint8_t data[BYTES_MAX] __attribute__((aligned(8)));
};

struct ended_head {     /* 8-aligned; a piece of the end that no record fits in has `bytes` alone */
	uint32_t bytes; /* with this */
	uint16_t cpu;
	uint16_t skip;
	uint64_t sessions, time;
	uint32_t pid;
	uint32_t record_bytes;
	uint32_t said; /* in which round */
};

bool kernel_ended_is(uint16_t hook)
{
	return hook == 0x0302 || hook == 0x0502 || hook == 0x1402 /* ends of process, thread, image */
	       || hook == 0x0548;                                 /* names of threads are said once */
}

static struct ended_head *at(struct kernel_ended *e, uint64_t where)
{
	return (void *)(e->data + where % BYTES_MAX);
}

static void *room(struct kernel_ended *e, uint32_t bytes)
{
	uint64_t left = BYTES_MAX - e->head % BYTES_MAX, skip = left < bytes ? left : 0;
	while (e->head + skip + bytes - e->tail > BYTES_MAX) {
		e->tail += at(e, e->tail)->bytes;
	}
	if (skip) { /* of 8 bytes at least: `bytes` and `skip` fit */
		struct ended_head *h = at(e, e->head);
		h->bytes = (uint32_t)skip;
		h->skip = 1;
		e->head += skip;
	}
	void *p = at(e, e->head);
	e->head += bytes;
	return p;
}

void kernel_ended_keep(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t time, uint32_t pid, const void *head,
		       uint32_t head_bytes, const void *body, uint32_t body_bytes)
{
	if (!k->ended && !(k->ended = calloc(1, sizeof *k->ended))) {
		return;
	}
	struct ended_head h = {
		.cpu = cpu, .sessions = sessions, .time = time, .pid = pid, .record_bytes = head_bytes + body_bytes};
	h.bytes = (uint32_t)BASE_ALIGN8(sizeof h + h.record_bytes);
	uint8_t *p = room(k->ended, h.bytes);
	memcpy(p, &h, sizeof h);
	memcpy(p + sizeof h, head, head_bytes);
	if (body_bytes > 0) {
		memcpy(p + sizeof h + head_bytes, body, body_bytes);
	}
}

/* ---- threads that run on ----------------------------------------------------------------------- */

void kernel_ended_thread(struct kernel *k, uint32_t pid, uint32_t tid)
{
	struct kernel_dying *d = &k->dying[tid % KERNEL_DYING];
	if (d->tid && d->tid != tid) {
		kernel_table_remove(k->threads, d->tid); /* what it did last brought it back there */
	}
	*d = (struct kernel_dying){.pid = pid, .tid = tid};
}

void kernel_ended_seen(struct kernel *k, uint32_t tid, uint64_t time)
{
	struct kernel_dying *d = &k->dying[tid % KERNEL_DYING];
	if (BASE_UNLIKELY(d->tid == tid && tid != 0)) {
		d->seen = BASE_MAX(d->seen, time);
	}
}

void kernel_ended_not(struct kernel *k, uint32_t tid)
{
	struct kernel_dying *d = &k->dying[tid % KERNEL_DYING];
	if (d->tid == tid) {
		*d = (struct kernel_dying){0};
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void find_lasting(const struct kernel *k, struct kernel_ended *e, uint64_t since)
{
	e->lastings = 0;
	for (uint32_t i = 0; i < KERNEL_DYING; i++) {
		const struct kernel_dying *d = &k->dying[i];
		if (d->seen != 0 && d->seen >= since) {
			e->lasting[e->lastings++] = d->pid;
		}
	}
	qsort(e->lasting, e->lastings, sizeof e->lasting[0], compare);
}

static bool lasts(const struct kernel_ended *e, uint32_t pid)
{
	return bsearch(&pid, e->lasting, e->lastings, sizeof e->lasting[0], compare) != NULL;
}

/* ---- saying ------------------------------------------------------------------------------------ */

static bool missing(const struct kernel_ended *e, const struct ended_head *h, const struct kernel_window *w)
{
	return h->time >= w->after || (h->time <= w->until[BASE_MIN(h->cpu, KERNEL_WINDOW_CPUS - 1)] &&
				       (h->time >= w->since || lasts(e, h->pid)));
}

static uint64_t say(struct kernel *k, struct kernel_ended *e, uint64_t sessions, const struct kernel_window *w)
{
	uint64_t n = 0;
	find_lasting(k, e, w->since);
	for (uint64_t where = e->tail; where < e->head; where += at(e, where)->bytes) {
		struct ended_head *h = at(e, where);
		if (!h->skip && (h->sessions & sessions) && h->said != e->round && missing(e, h, w)) {
			k->stats.events++;
			kernel_put_out(k, sessions, h->cpu, h->time, h + 1, h->record_bytes, NULL, 0);
			h->said = e->round;
			n++;
		}
	}
	return n;
}

void kernel_ended_say(struct kernel *k, uint32_t slot)
{
	struct kernel_window w;
	struct kernel_ended *e = k->ended;
	if (!e || !(k->forgetful >> slot & 1) || !k->out.window) {
		return;
	}
	e->round++;
	/* What is said may make the ring forget more. */
	for (unsigned i = 0; i < ROUNDS_MAX && k->out.window(k->out.ctx, slot, &w); i++) {
		if (say(k, e, 1ull << slot, &w) == 0) {
			break;
		}
	}
}
