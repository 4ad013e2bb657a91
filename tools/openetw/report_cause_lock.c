/* SPDX-License-Identifier: MIT
 * report's first lines: threads that wait for locks, and who holds these.
 */
#include "tools/openetw/report_cause.h"

#include <stdlib.h>

#define SHOWN 8 /* ids of other threads that wait as well */

static struct cause_thread *known(struct causes *c, uint32_t tid)
{
	size_t at = map_find(&c->thread_of, tid);
	return at != MAP_NONE ? &c->thread[map_value(&c->thread_of, at)] : NULL;
}

static uint64_t both(uint64_t a_from, uint64_t a_until, uint64_t b_from, uint64_t b_until)
{
	uint64_t from = BASE_MAX(a_from, b_from), until = BASE_MIN(a_until, b_until);
	return until > from ? until - from : 0;
}

/* Who ended the wait had the lock at its end. As long as that thread waited for it itself, somebody else had it: who
 * that was is known from its own wait. What did the holder wait for, all the while? */
void cause_lock_wait(struct causes *c, struct cause_thread *t, const struct cause_wait *w)
{
	uint64_t length = w->until > w->from ? w->until - w->from : 0;
	if (length >= t->locks.longest && w->site) {
		t->lock_site = w->site;
	}
	cause_add(&t->locks, length);
	t->lock_from = w->from;
	t->lock_until = w->until;
	t->lock_holder = 0;
	if (!t->told || t->by != KEVENT_BY_THREAD || t->waker_tid == t->tid) {
		return;
	}
	uint32_t holder = t->waker_tid;
	const struct cause_thread *h = known(c, holder);
	uint64_t waited = h ? both(h->lock_from, h->lock_until, w->from, w->until) : 0;
	if (waited && h->lock_holder && h->lock_holder != t->tid) {
		cause_pair_add(c, &c->wakers, t->pid, h->lock_holder, waited);
		cause_pair_add(c, &c->wakers, t->pid, holder, length - waited);
		holder = waited * 2 > length ? h->lock_holder : holder;
	} else {
		cause_pair_add(c, &c->wakers, t->pid, holder, length);
	}
	t->lock_holder = holder;
	h = known(c, holder);
	uint64_t slept = h ? both(h->last_from, h->last_until, w->from, w->until) : 0;
	if (slept) {
		cause_pair_add(c, &c->chains, t->pid, h->last_in & (CAUSE_IN_FLUSH | CAUSE_IN_SLEEP), slept);
	}
}

/* A semaphore may be a lock, as those of Python are, or hand out work: cause_lock_find() looks who ends the waits. */
void cause_semaphore_wait(struct causes *c, struct cause_thread *t, const struct cause_wait *w)
{
	uint64_t length = w->until > w->from ? w->until - w->from : 0;
	if (length >= t->semaphores.longest && w->site) {
		t->lock_site = t->locks.count ? t->lock_site : w->site;
	}
	cause_add(&t->semaphores, length);
	bool by_thread = t->told && t->by == KEVENT_BY_THREAD && t->waker_tid != t->tid;
	if (by_thread) {
		/* No thread has the number 0: a wait that was none for a lock. */
		bool many = (w->in & CAUSE_IN_FUTEX) && t->together;
		cause_pair_add(c, &c->handed, cause_thread_number(c, t), many ? 0 : t->waker_tid, length);
	}
}

static bool is_member(struct causes *c, const struct cause_thread *t, uint32_t pid)
{
	return t->pid == pid && t->semaphores.time &&
	       cause_counts(c, t->semaphores.time, cause_presence(c, pid, t->tid, t->seen));
}

static bool is_member_tid(struct causes *c, uint32_t tid, uint32_t pid)
{
	const struct cause_thread *t = known(c, tid);
	return t && is_member(c, t, pid);
}

/* Threads of one process, and which of them ended whose waits for semaphores. */
struct group {
	uint32_t pid;
	const uint32_t *thread;
	size_t threads;
	const struct cause_pair *handed;
	size_t handed_count;
};

/* Threads that take turns: three or more wait alike, and end each other's waits. When work is handed out, one thread
 * ends the waits of all others: without that one, most of the time has to remain. */
static bool takes_turns(struct causes *c, const struct group *g)
{
	struct cause_pairs by = {0}; /* b: who ended waits */
	uint64_t all = 0, by_members = 0, by_one = 0, least = UINT64_MAX, longest = 0;
	unsigned members = 0;
	for (size_t i = 0; i < g->handed_count; i++) {
		const struct cause_pair *p = &g->handed[i];
		if (is_member(c, &c->thread[p->a], g->pid)) {
			all += p->sum.time;
			if (is_member_tid(c, p->b, g->pid)) {
				by_members += p->sum.time;
				cause_pair_add(c, &by, 0, p->b, p->sum.time);
			}
		}
	}
	for (size_t i = 0; i < by.count; i++) {
		by_one = BASE_MAX(by_one, by.pair[i].sum.time);
	}
	for (size_t i = 0; i < g->threads; i++) {
		struct cause_thread *t = &c->thread[g->thread[i]];
		size_t at = is_member(c, t, g->pid) ? map_find(&by.of, t->tid) : MAP_NONE;
		t->takes_turns = at != MAP_NONE && by.pair[map_value(&by.of, at)].sum.time * 20 >= by_members;
		if (t->takes_turns) {
			members++;
			least = BASE_MIN(least, t->semaphores.time);
			longest = BASE_MAX(longest, t->semaphores.time);
		}
	}
	cause_pairs_free(&by);
	return members >= 3 && (by_members - by_one) * 2 >= all && least * 2 >= longest;
}

static int by_process(const void *pa, const void *pb, void *context)
{
	const struct causes *c = context;
	const struct cause_pair *a = pa, *b = pb;
	uint32_t p = c->thread[a->a].pid, q = c->thread[b->a].pid;
	return p != q ? (p < q ? -1 : 1) : a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

/* Semaphores that are locks count as locks from here on. */
static void take_semaphores(struct causes *c, const uint32_t *order)
{
	struct cause_pairs *h = &c->handed;
	if (h->count == 0) {
		return;
	}
	qsort_r(h->pair, h->count, sizeof *h->pair, by_process, c);
	for (size_t i = 0, end, from = 0; i < c->thread_count; i = end) {
		end = cause_process_end(c, order, i);
		struct group g = {c->thread[order[i]].pid, order + i, end - i, h->pair + from, 0};
		for (; from < h->count && c->thread[h->pair[from].a].pid == g.pid; from++) {
			g.handed_count++;
		}
		if (g.handed_count == 0 || !takes_turns(c, &g)) {
			continue;
		}
		for (size_t k = 0; k < g.threads; k++) {
			struct cause_thread *t = &c->thread[g.thread[k]];
			t->locks.time += t->takes_turns ? t->semaphores.time : 0;
			t->locks.count += t->takes_turns ? t->semaphores.count : 0;
		}
		for (size_t k = 0; k < g.handed_count; k++) {
			cause_pair_add(c, &c->wakers, g.pid, g.handed[k].b, g.handed[k].sum.time);
		}
	}
}

static const struct cause_pair *most(const struct cause_pairs *p, uint32_t a, uint64_t *ret_all)
{
	const struct cause_pair *best = NULL;
	size_t n;
	const struct cause_pair *of = cause_pairs_of(p, a, &n);
	*ret_all = 0;
	for (size_t i = 0; i < n; i++) {
		*ret_all += of[i].sum.time;
		best = best && best->sum.time >= of[i].sum.time ? best : &of[i];
	}
	return best;
}

static void add_others(struct causes *c, const struct cause_thread *t, const struct group *g, struct strbuf *b)
{
	unsigned others = 0;
	for (size_t i = 0; i < g->threads; i++) {
		const struct cause_thread *o = &c->thread[g->thread[i]];
		if (o == t || o->locks.time * 2 < t->locks.time) {
			continue;
		}
		if (others++ < SHOWN) {
			strbuf_addf(b, "%s%u", others > 1 ? ", " : "", o->tid);
		}
	}
	if (others > SHOWN) {
		strbuf_addf(b, " and %u more", others - SHOWN);
	}
}

static void add_holder(struct causes *c, const struct cause_thread *t, struct strbuf *b, struct cause_finding *f)
{
	char who[CAUSE_WHO];
	uint64_t all, chained;
	const struct cause_pair *holder = most(&c->wakers, t->pid, &all);
	if (!holder || all == 0) { /* only waits that were over before they began are told */
		return;
	}
	const struct cause_pair *chain = most(&c->chains, t->pid, &chained);
	const struct cause_thread *h = known(c, holder->b);
	uint64_t time = h ? h->seen : t->seen;
	uint32_t pid = h ? h->pid : t->pid;
	if (holder->sum.time * 2 >= all) {
		f->other_pid = pid;
		f->other_tid = holder->b;
		cause_who(c, pid, holder->b, time, who);
		strbuf_addf(b, "; %s held it for %u %% of that", who, (unsigned)(100 * holder->sum.time / all));
	} else {
		strbuf_adds(b, "; they take it from each other");
	}
	if (chain && chain->sum.time * 2 >= all && chain->b) {
		strbuf_addf(b, " and %s meanwhile", chain->b & CAUSE_IN_FLUSH ? "flushed files" : "slept");
	}
}

static void find(struct causes *c, const struct cause_thread *t, const struct group *g, uint64_t of)
{
	char lost[CAUSE_TIME], whole[CAUSE_TIME], name[1024];
	struct strbuf others = {0}, holder = {0};
	struct cause_finding f = {.kind = CAUSE_LOCK,
				  .lost = t->locks.time,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = CAUSE_NOBODY,
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen,
				  .count = t->locks.count};
	add_others(c, t, g, &others);
	add_holder(c, t, &holder, &f);
	name[0] = 0;
	if (t->lock_site) {
		names_of(c->names, t->pid, t->lock_site, t->seen, name, sizeof name);
		name[0] = strncmp(name, "?!", 2) == 0 ? 0 : name[0];
	}
	c->failed = c->failed || others.failed || holder.failed;
	cause_found(c, &f, "waited %s of %s for a lock%s%s, %llu times%s%s%s", cause_time(t->locks.time, lost),
		    cause_time(of, whole), name[0] ? " in " : "", name, (unsigned long long)t->locks.count,
		    others.len ? "; so did threads " : "", others.len ? others.s : "", holder.len ? holder.s : "");
	strbuf_finish(&others);
	strbuf_finish(&holder);
}

/* One line for a process: of the thread that lost most. */
void cause_lock_find(struct causes *c)
{
	uint32_t *order = cause_by_process(c);
	if (!order) {
		return;
	}
	take_semaphores(c, order);
	cause_pairs_sort(&c->wakers);
	cause_pairs_sort(&c->chains);
	for (size_t i = 0, end; i < c->thread_count; i = end) {
		end = cause_process_end(c, order, i);
		const struct cause_thread *worst = &c->thread[order[i]];
		const struct group g = {.pid = worst->pid, .thread = order + i, .threads = end - i};
		for (size_t k = 1; k < g.threads; k++) {
			const struct cause_thread *t = &c->thread[g.thread[k]];
			worst = t->locks.time > worst->locks.time ? t : worst;
		}
		uint64_t of = worst->locks.time ? cause_presence(c, worst->pid, worst->tid, worst->seen) : 0;
		if (cause_counts(c, worst->locks.time, of)) {
			find(c, worst, &g, of);
		}
	}
	free(order);
}
