/* SPDX-License-Identifier: MIT
 * report's first lines: clients that wait for the answers of a server over a Unix socket.
 *
 * Events tell nothing of Unix sockets, but the stacks of waits do: who waits to read, and who ended that. Client and
 * server look alike there: each waits for the other, and who is slow and who has nothing to ask cannot be told. So a pair
 * of processes counts only when one of them was seen to wait in accept() and the other one ended that: that one asks.
 */
#include "tools/openetw/report_cause.h"

#define ANSWER_LEAST 20000u /* 2 ms: faster answers are no slow server's */

void cause_local_wait(struct causes *c, struct cause_thread *t, const struct cause_wait *w)
{
	uint64_t length = w->until > w->from ? w->until - w->from : 0;
	if (!t->told || t->by != KEVENT_BY_THREAD || t->waker_pid == t->pid || t->waker_pid == OPENETW_UNKNOWN_ID) {
		return;
	}
	if (w->in & CAUSE_IN_ACCEPT) {
		uint64_t key = (uint64_t)t->waker_pid << 32 | t->pid;
		if (map_find(&c->server_of, key) == MAP_NONE && c->server_of.count < CAUSE_MOST) {
			c->failed = map_add(&c->server_of, key, 1) < 0 || c->failed;
		}
	} else if (map_find(&c->server_of, (uint64_t)t->pid << 32 | t->waker_pid) != MAP_NONE) {
		cause_pair_add(c, &c->local, cause_thread_number(c, t), t->waker_pid, length);
	}
}

static void find(struct causes *c, const struct cause_pair *p)
{
	const struct cause_thread *t = &c->thread[p->a];
	char time[CAUSE_TIME], whole[CAUSE_TIME], each[CAUSE_TIME], longest[CAUSE_TIME], who[CAUSE_WHO];
	uint64_t of = cause_presence(c, t->pid, t->tid, t->seen);
	if (p->sum.time / p->sum.count < ANSWER_LEAST || !cause_counts(c, p->sum.time, of)) {
		return;
	}
	struct cause_finding f = {.kind = CAUSE_PEER,
				  .lost = p->sum.time,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = p->b,
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen,
				  .count = p->sum.count};
	cause_found(c, &f, "waited %s of %s for answers of %s over a Unix socket: %llu answers, %s each, %s at most",
		    cause_time(p->sum.time, time), cause_time(of, whole),
		    cause_who(c, p->b, CAUSE_NOBODY, t->seen, who), (unsigned long long)p->sum.count,
		    cause_time(p->sum.time / p->sum.count, each), cause_time(p->sum.longest, longest));
}

void cause_local_find(struct causes *c)
{
	for (size_t i = 0; i < c->local.count; i++) {
		find(c, &c->local.pair[i]);
	}
}
