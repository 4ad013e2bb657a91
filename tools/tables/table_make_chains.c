/* SPDX-License-Identifier: MIT
 * Tables: waits by the chain of threads that ended them, to the cause: wait_chains.
 *
 * The thread that ended a wait may have waited itself meanwhile, once or a hundred times. Of the time of the wait it spent
 * some on waits for each of several threads, timers, interrupts, or for a processor, and the rest it ran. If it ran
 * longest, it is the cause. Else the chain goes on to what it waited for longest, and of that thread only the time of
 * those waits is looked at; and so on.
 *
 * Each step looks at a part of the time before, and within it the thread before waits. So a thread that waits cannot
 * end a wait further down, and there are no circles but those that events out of order pretend: a thread that is in the
 * chain already ends it. So does the eighth link. Of each thread the last PAST_MAX waits are known.
 */
#include "tools/tables/table_kernel.h"
#include "tools/tables/table_names.h"

#include "base/vec.h"

#include <stdlib.h>

#define LINKS_MAX  8u
#define FRAMES_MAX 192u
#define PAST_MAX   256u
#define GROUPS_MAX 16u
#define PROCESSOR  0xFFu /* instead of enum kevent_waker: it could have run */

struct table_past { /* a thread waited, or could run and did not */
	uint64_t since, until;
	uint32_t pid, tid; /* of who ended it */
	uint8_t by;
	bool told;
};
struct span {
	uint64_t from, until;
};
struct spans {
	struct span v[2 * PAST_MAX];
	uint32_t count;
};
struct group { /* waits of a thread that were ended by the same */
	struct table_past like;
	uint64_t time;
};
struct chain {
	struct strbuf text;
	uint32_t links, tids[LINKS_MAX + 1];
	bool known;    /* what ended it was told */
	uint8_t cause; /* enum kevent_waker, or PROCESSOR */
	uint32_t pid, tid;
	uint64_t time; /* when they had these numbers */
};
struct chains {
	struct table_names names;
	struct map idle_of; /* by name's number: enum place */
	struct chain chain;
	struct spans now, next;
};

/* ---- what threads did ------------------------------------------------------------------------------ */

static void remember(struct table_kernel *k, struct waiting *w, const struct table_past *p)
{
	if (p->until <= p->since) {
		return;
	}
	if (!w->past && !(w->past = malloc(PAST_MAX * sizeof *w->past))) {
		k->m->failed = true;
		return;
	}
	w->past[w->pasts++ % PAST_MAX] = *p;
}

void table_chains_preempted(struct table_kernel *k, struct waiting *w, uint64_t now)
{
	if (k->chains) {
		remember(k, w, &(struct table_past){.since = w->since, .until = now, .by = PROCESSOR, .told = true});
	}
}

static uint64_t oldest(const struct waiting *w)
{
	return w->pasts > PAST_MAX ? w->pasts - PAST_MAX : 0;
}

/* The first one that reaches beyond `from`. They follow each other in time. */
static uint64_t first_past(const struct waiting *w, uint64_t from)
{
	uint64_t low = oldest(w), high = w->pasts;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (w->past[middle % PAST_MAX].until <= from) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool same_end(const struct table_past *a, const struct table_past *b)
{
	return a->told == b->told && (!a->told || (a->by == b->by && (a->by != KEVENT_BY_THREAD || a->tid == b->tid)));
}

/* Calls for each part of a wait of `w` that lies in `in`, in order. */
typedef void (*part_fn)(void *context, const struct table_past *p, uint64_t from, uint64_t until);
static void each_part(const struct waiting *w, const struct spans *in, part_fn fn, void *context)
{
	uint64_t i = in->count && w->past ? first_past(w, in->v[0].from) : w->pasts;
	for (uint32_t s = 0; s < in->count && i < w->pasts;) {
		const struct table_past *p = &w->past[i % PAST_MAX];
		uint64_t from = BASE_MAX(p->since, in->v[s].from), until = BASE_MIN(p->until, in->v[s].until);
		if (until > from) {
			fn(context, p, from, until);
		}
		if (p->until < in->v[s].until) {
			i++;
		} else {
			s++;
		}
	}
}

struct groups {
	struct group v[GROUPS_MAX];
	uint32_t count;
	uint64_t waited;
};
static void add_group(void *context, const struct table_past *p, uint64_t from, uint64_t until)
{
	struct groups *g = context;
	g->waited += until - from;
	for (uint32_t i = 0; i < g->count; i++) {
		if (same_end(&g->v[i].like, p)) {
			g->v[i].time += until - from;
			return;
		}
	}
	if (g->count < GROUPS_MAX) {
		g->v[g->count++] = (struct group){*p, until - from};
	}
}

struct taking {
	const struct table_past *like;
	struct spans *out;
};
static void add_span(void *context, const struct table_past *p, uint64_t from, uint64_t until)
{
	struct taking *t = context;
	if (same_end(t->like, p) && t->out->count < BASE_ARRAY_LEN(t->out->v)) {
		t->out->v[t->out->count++] = (struct span){from, until};
	}
}

static uint64_t length_of(const struct spans *s)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		n += s->v[i].until - s->v[i].from;
	}
	return n;
}

/* ---- the chain ------------------------------------------------------------------------------------- */

static void add_name(struct table_kernel *k, struct chain *c, const char *name)
{
	strbuf_addf(&c->text, "%s%s", c->text.len ? " < " : "", name ? name : "?");
	k->m->failed = k->m->failed || c->text.failed;
}

static void add_thread(struct table_kernel *k, struct chain *c, uint32_t pid, uint64_t time)
{
	add_name(k, c, table_make_process_name(k->m, table_make_process(k->m, pid, time)));
}

static bool is_link(const struct chain *c, uint32_t tid)
{
	for (uint32_t i = 0; i < c->links; i++) {
		if (c->tids[i] == tid) {
			return true;
		}
	}
	return false;
}

static const struct waiting *known_thread(const struct table_kernel *k, uint32_t tid)
{
	size_t at = map_find(&k->thread_of, tid);
	return at != MAP_NONE ? &k->threads[map_value(&k->thread_of, at)] : NULL;
}

/* `end`: what ended the wait that the chain has come to. False: the chain ends with it. */
static bool next_link(struct table_kernel *k, struct table_past *inout_end)
{
	struct chains *all = k->chains;
	struct chain *c = &all->chain;
	struct groups g = {.count = 0};
	const struct group *most = NULL;
	const struct waiting *w = known_thread(k, inout_end->tid);
	if (w && c->links < LINKS_MAX && !is_link(c, inout_end->tid)) {
		each_part(w, &all->now, add_group, &g);
	}
	for (uint32_t i = 0; i < g.count; i++) {
		most = most && most->time >= g.v[i].time ? most : &g.v[i];
	}
	if (!most || !most->like.told || most->time <= length_of(&all->now) - g.waited) {
		return false;
	}
	all->next.count = 0;
	each_part(w, &all->now, add_span, &(struct taking){&most->like, &all->next});
	c->tids[c->links++] = inout_end->tid;
	all->now = all->next;
	*inout_end = most->like;
	return true;
}

static void follow(struct table_kernel *k, const struct waiting *w, uint32_t pid, const struct table_past *wait)
{
	struct chains *all = k->chains;
	struct chain *c = &all->chain;
	struct table_past end = *wait;
	strbuf_clear(&c->text);
	c->links = 0;
	c->tids[c->links++] = w->tid;
	all->now.count = 1;
	all->now.v[0] = (struct span){wait->since, wait->until};
	add_thread(k, c, pid, wait->until);
	while (end.told && end.by == KEVENT_BY_THREAD) {
		uint64_t time = end.until;
		add_thread(k, c, end.pid, time);
		c->pid = end.pid;
		c->tid = end.tid;
		c->time = time;
		if (!next_link(k, &end)) {
			break;
		}
	}
	c->known = end.told;
	c->cause = end.by;
	if (end.told && end.by != KEVENT_BY_THREAD) {
		add_name(k, c, end.by == PROCESSOR ? "processor" : kevent_waker_name(end.by));
	}
}

/* ---- idle ----------------------------------------------------------------------------------------- */

/* A wait is idle when its thread waits for something to do, or for a time. What it waits in tells, in this order:
 * that a timer ended it; the reason that the scheduler has (a queue of work, a pause; pages and memory never); the system
 * call; and last the innermost of the functions on its stack that either take a lock or wait for work. */
enum place { PLACE_OTHER, PLACE_LOCK, PLACE_WORK };

static bool is_among(const char *const *words, const char *name)
{
	const char *bang = strchr(name, '!');
	name = bang ? bang + 1 : name;
	name += strspn(name, "_");
	name += strncmp(name, "GI_", 3) == 0 ? 3 : 0;
	name += strspn(name, "_");
	size_t n = strcspn(name, ".+@");
	for (const char *const *w = words; *w; w++) {
		if (strlen(*w) == n && memcmp(*w, name, n) == 0) {
			return true;
		}
	}
	return false;
}

static enum place place_of_reason(const char *reason)
{
	static const char *const work[] = {"DelayExecution", "WrDelayExecution", "Suspended", "WrSuspended",
					   "WrQueue",        "WrLpcReceive",     NULL},
				 *const never[] = {"FreePage", "PageIn",           "PoolAllocation", "WrFreePage",
						   "WrPageIn", "WrPoolAllocation", "WrLpcReply",     NULL};
	return is_among(work, reason) ? PLACE_WORK : is_among(never, reason) ? PLACE_LOCK : PLACE_OTHER;
}

/* "kernel!__x64_sys_epoll_wait" */
static enum place place_of_call(const char *name)
{
	static const char *const work[] = {
		"epoll_wait",      "epoll_pwait",     "epoll_pwait2",  "poll",          "ppoll",     "select",
		"pselect6",        "accept",          "accept4",       "pause",         "nanosleep", "io_getevents",
		"clock_nanosleep", "rt_sigtimedwait", "rt_sigsuspend", "io_pgetevents", NULL};
	const char *sys = strstr(name, "_sys_");
	return sys && is_among(work, sys + 5) ? PLACE_WORK : PLACE_OTHER;
}

static enum place place_of_function(const char *name)
{
	static const char *const locks[] = {"lll_lock_wait",
					    "lll_lock_wait_private",
					    "pthread_mutex_lock",
					    "pthread_rwlock_rdlock",
					    "pthread_rwlock_wrlock",
					    "futex_lock_pi",
					    "RtlpWaitOnCriticalSection",
					    "RtlAcquireSRWLockExclusive",
					    "RtlAcquireSRWLockShared",
					    NULL};
	static const char *const words[] = {"ep_poll",
					    "do_epoll_wait",
					    "do_poll",
					    "do_sys_poll",
					    "do_select",
					    "core_sys_select",
					    "inet_csk_accept",
					    "unix_accept",
					    "do_sigtimedwait",
					    "sigsuspend",
					    "do_nanosleep",
					    "hrtimer_nanosleep",
					    "worker_thread",
					    "kthread",
					    "smpboot_thread_fn",
					    "pthread_cond_wait",
					    "pthread_cond_timedwait",
					    "pthread_cond_clockwait",
					    "SleepConditionVariableSRW",
					    "SleepConditionVariableCS",
					    "GetQueuedCompletionStatus",
					    "NtRemoveIoCompletion",
					    "NtWaitForWorkViaWorkerFactory",
					    NULL};
	return is_among(locks, name) ? PLACE_LOCK : is_among(words, name) ? PLACE_WORK : PLACE_OTHER;
}

static enum place place_of_name(struct table_kernel *k, uint32_t name)
{
	struct chains *c = k->chains;
	size_t at = map_find(&c->idle_of, name);
	if (at != MAP_NONE) {
		return (enum place)map_value(&c->idle_of, at);
	}
	enum place place = place_of_function(c->names.names[name].text);
	k->m->failed = map_add(&c->idle_of, name, place) < 0 || k->m->failed;
	return place;
}

/* Looks at the stack. `ret_function` is the innermost function that is not the kernel's; NULL: none. */
static enum place place_of_stack(struct table_kernel *k, uint32_t stack, uint32_t process, uint32_t pid, uint64_t time,
				 const char **ret_function)
{
	uint64_t addresses[FRAMES_MAX];
	uint32_t n = stack ? openetw_index_stack(k->m->index, stack, addresses, FRAMES_MAX) : 0;
	enum place place = PLACE_OTHER;
	*ret_function = NULL;
	for (uint32_t i = 0; i < BASE_MIN(n, FRAMES_MAX); i++) {
		uint64_t address = names_frame(addresses, i, true);
		bool in_kernel = address >= NAMES_KERNEL_SPACE;
		uint32_t name = table_names_find(k->m, &k->chains->names, in_kernel ? 0 : process, pid, address,
						 table_make_time(k->m, time));
		if (name == UINT32_MAX) {
			return place;
		}
		place = place == PLACE_OTHER ? place_of_name(k, name) : place;
		if (!in_kernel && !*ret_function) {
			*ret_function = k->chains->names.names[name].text;
		}
	}
	return place;
}

static enum place place_of_wait(struct table_kernel *k, const struct waiting *w, const char *reason, enum place stack)
{
	char name[1024];
	enum place place = w->told && w->by == KEVENT_BY_TIMER ? PLACE_WORK
			   : reason                            ? place_of_reason(reason)
							       : PLACE_OTHER;
	if (place == PLACE_OTHER && w->call_time && w->call_time <= w->since && w->call >= NAMES_KERNEL_SPACE) {
		names_of(&k->m->names, 4, w->call, w->since, name, sizeof name);
		place = place_of_call(name);
	}
	return place == PLACE_OTHER ? stack : place;
}

/* ---- the table ------------------------------------------------------------------------------------ */

void table_chains_columns(struct table_kernel *k)
{
	k->chains = calloc(1, sizeof *k->chains);
	k->m->failed = k->m->failed || !k->chains;
	k->c[0] = table_build_column(k->b, "start", SQL_TYPE_I64);
	k->c[1] = table_build_column(k->b, "duration", SQL_TYPE_U64);
	table_who_columns(k->b, &k->who);
	k->c[2] = table_build_column(k->b, "reason", SQL_TYPE_TEXT);
	k->c[3] = table_build_column(k->b, "idle", SQL_TYPE_BOOL);
	k->c[4] = table_build_column(k->b, "function", SQL_TYPE_TEXT);
	k->c[5] = table_build_column(k->b, "chain", SQL_TYPE_TEXT);
	k->c[6] = table_build_column(k->b, "links", SQL_TYPE_U32);
	k->c[7] = table_build_column(k->b, "cause", SQL_TYPE_TEXT);
	k->c[8] = table_build_column(k->b, "cause_thread", SQL_TYPE_U32);
	k->c[9] = table_build_column(k->b, "cause_pid", SQL_TYPE_U32);
	k->c[10] = table_build_column(k->b, "cause_tid", SQL_TYPE_U32);
	k->c[11] = table_build_column(k->b, "cause_process_name", SQL_TYPE_TEXT);
	k->c[12] = table_build_column(k->b, "stack", SQL_TYPE_U32);
}

void table_chains_wait(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s, struct waiting *w,
		       uint32_t pid)
{
	if (!k->chains) {
		return;
	}
	uint32_t process = table_make_process(k->m, pid, s->time), stack = table_make_stack(k->m, e);
	const char *function, *reason = kevent_wait_reason(w->reason);
	uint64_t ready = w->told ? BASE_MAX(w->ready, w->since) : s->time;
	const struct table_past wait = {w->since, ready, w->waker_pid, w->waker_tid, w->by, w->told};
	const struct chain *c = &k->chains->chain;
	follow(k, w, pid, &wait);
	remember(k, w, &wait);
	remember(k, w, &(struct table_past){.since = ready, .until = s->time, .by = PROCESSOR, .told = true});
	enum place in = place_of_stack(k, stack, process, pid, s->time, &function);
	bool idle = place_of_wait(k, w, reason, in) == PLACE_WORK;
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, w->since));
	table_build_number(k->b, k->c[1], (s->time - w->since) * 100);
	table_who_put(k->m, k->b, &k->who, pid, s->in_tid, s->time);
	table_put_string(k->b, k->c[2], reason);
	table_build_number(k->b, k->c[3], idle);
	table_put_string(k->b, k->c[4], function);
	table_put_string(k->b, k->c[5], c->text.s);
	table_build_number(k->b, k->c[6], c->links);
	if (c->known && c->cause == KEVENT_BY_THREAD) {
		uint32_t cause = table_make_process(k->m, c->pid, c->time);
		table_put_string(k->b, k->c[7], "thread");
		table_build_number(k->b, k->c[8], table_make_thread(k->m, c->tid, c->time));
		table_build_number(k->b, k->c[9], c->pid);
		table_build_number(k->b, k->c[10], c->tid);
		table_put_string(k->b, k->c[11], table_make_process_name(k->m, cause));
	} else if (c->known) {
		table_put_string(k->b, k->c[7], c->cause == PROCESSOR ? "processor" : kevent_waker_name(c->cause));
	}
	table_kernel_stack(k, k->c[12], stack);
	table_build_row(k->b);
}

void table_chains_free(struct table_kernel *k)
{
	struct chains *c = k->chains;
	for (uint32_t i = 0; i < k->thread_count; i++) {
		free(k->threads[i].past);
	}
	if (!c) {
		return;
	}
	strbuf_finish(&c->chain.text);
	map_free(&c->idle_of);
	table_names_free(&c->names);
	free(c);
}
