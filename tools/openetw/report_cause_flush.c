/* SPDX-License-Identifier: MIT
 * report's first lines: threads whose time goes into fsync and its like.
 */
#include "tools/openetw/report_cause.h"

#include "base/vec.h"

#include <stdlib.h>

#define OPEN_MOST 256 /* operations without an end; more are not begun */

struct cause_flush {
	uint64_t irp, time;
	uint32_t tid;
};

static bool is_flush_call(struct causes *c, const struct kevent *k)
{
	return k->address >= NAMES_KERNEL_SPACE && cause_class(c, 4, k->address, k->time) & CAUSE_IN_FLUSH;
}

static void on_call(struct causes *c, const struct kevent *k)
{
	struct cause_thread *t = cause_thread(c, k->tid, k->time);
	c->calls++;
	if (!t) {
		return;
	}
	if (k->op == KOP_START) {
		t->call = is_flush_call(c, k);
		t->call_time = k->time;
	} else if (t->call && t->call_time) {
		cause_add(&t->flush_calls, k->time - t->call_time);
		t->call = t->call_time = 0;
	}
}

static void on_end(struct causes *c, const struct kevent *k)
{
	for (size_t i = c->flush_count; i-- > 0;) {
		struct cause_flush *f = &c->flush[i];
		if (f->irp == k->irp) {
			struct cause_thread *t = cause_thread(c, f->tid, k->time);
			if (t) {
				cause_add(&t->flush_ops, k->time - f->time);
			}
			*f = c->flush[--c->flush_count];
			return;
		}
	}
}

void cause_flush_event(struct causes *c, const struct kevent *k)
{
	if (k->kind == KEVENT_SYSCALL) {
		on_call(c, k);
		return;
	}
	c->file_ops++;
	if (k->kind == KEVENT_FILE_END) {
		on_end(c, k);
	} else if (k->op == KOP_FLUSH && c->flush_count < OPEN_MOST) {
		if (!VEC_ROOM(c->flush, c->flush_count, c->flush_cap)) {
			c->failed = true;
			return;
		}
		c->flush[c->flush_count++] = (struct cause_flush){k->irp, k->time, k->tid};
	}
}

/* Operations on files, system calls and stacks tell the same time. The first two know the calls; stacks, and samples of
 * what was done meanwhile, are there more often. */
static struct cause_sum flushed(const struct causes *c, const struct cause_thread *t, const char **ret_what)
{
	struct cause_sum s = t->flush_waits;
	*ret_what = "waits";
	if (s.count) {
		s.time += cause_sampled(c, t, t->flush_samples);
	}
	uint64_t enough = s.time / 4 * 3;
	if (t->flush_ops.count && t->flush_ops.time >= enough) {
		*ret_what = "calls";
		return t->flush_ops;
	}
	if (t->flush_calls.count && t->flush_calls.time >= enough) {
		*ret_what = "calls";
		return t->flush_calls;
	}
	return s;
}

void cause_flush_find(struct causes *c)
{
	for (size_t i = 0; i < c->thread_count; i++) {
		const struct cause_thread *t = &c->thread[i];
		const char *what;
		struct cause_sum s = flushed(c, t, &what);
		uint64_t of = s.time ? cause_presence(c, t->pid, t->tid, t->seen) : 0;
		char lost[CAUSE_TIME], whole[CAUSE_TIME], each[CAUSE_TIME], longest[CAUSE_TIME];
		if (!cause_counts(c, s.time, of)) {
			continue;
		}
		struct cause_finding f = {.kind = CAUSE_FLUSH,
					  .lost = s.time,
					  .of = of,
					  .pid = t->pid,
					  .tid = t->tid,
					  .other_pid = CAUSE_NOBODY,
					  .other_tid = CAUSE_NOBODY,
					  .time = t->seen,
					  .count = s.count};
		cause_found(c, &f,
			    "spent %s of %s in fsync or its like, until files were on the disk: %llu %s, %s each, %s "
			    "at most",
			    cause_time(s.time, lost), cause_time(of, whole), (unsigned long long)s.count, what,
			    cause_time(s.time / s.count, each), cause_time(s.longest, longest));
	}
}
