/* SPDX-License-Identifier: MIT
 * Tables: waits by the chain of threads that ended them, to the cause: wait_chains.
 *
 * The thread that ended a wait may have waited itself meanwhile. If that took more than half of the wait, it is what
 * both waited for; and so on, until a thread that ran, a timer or an interrupt. A thread's last wait is over when it
 * wakes another one, so each link is known when the next one comes, and there are no circles.
 */
#include "tools/tables/table_kernel.h"
#include "tools/tables/table_names.h"

#include "base/vec.h"

#include <stdlib.h>

#define LINKS_MAX  8u
#define FRAMES_MAX 192u
#define MOST       (1u << 28)
#define NONE       UINT32_MAX

struct node { /* the text of a chain: who, and what follows */
	char *text;
	uint32_t links;
};
struct chains {
	struct node *nodes;
	uint32_t count, cap;
	struct map of;
	struct table_names names;
	struct map idle_of; /* by name's number: 1: who is in there waits for work, or for a time; 0: not */
};

static uint32_t node_of(struct table_kernel *k, const char *who, uint32_t next, const char *end)
{
	struct chains *c = k->chains;
	struct strbuf b = {0};
	if (next != NONE) {
		strbuf_addf(&b, "%s < %s", who, c->nodes[next].text);
	} else {
		strbuf_addf(&b, "%s%s%s", who, end ? " < " : "", end ? end : "");
	}
	uint64_t key = b.failed ? 0 : map_hash(&c->of, b.s, b.len);
	MAP_EACH(&c->of, key, at) {
		uint32_t i = (uint32_t)map_value(&c->of, at);
		if (!b.failed && strcmp(c->nodes[i].text, b.s) == 0) {
			strbuf_finish(&b);
			return i;
		}
	}
	char *copy = b.failed ? NULL : strdup(b.s);
	strbuf_finish(&b);
	if (!copy || !VEC_ROOM_UP_TO(c->nodes, c->count, c->cap, MOST) || map_add(&c->of, key, c->count) < 0) {
		free(copy);
		k->m->failed = true;
		return NONE;
	}
	c->nodes[c->count] = (struct node){copy, next != NONE ? c->nodes[next].links + 1 : 1};
	return c->count++;
}

/* ---- idle ----------------------------------------------------------------------------------------- */

/* Functions in which programs wait for something to do. */
static bool waits_for_work(const char *name)
{
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
	const char *bang = strchr(name, '!');
	name = bang ? bang + 1 : name;
	name += strspn(name, "_");
	size_t n = strcspn(name, ".+@");
	for (const char *const *w = words; *w; w++) {
		if (strlen(*w) == n && memcmp(*w, name, n) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_idle_name(struct table_kernel *k, uint32_t name)
{
	struct chains *c = k->chains;
	size_t at = map_find(&c->idle_of, name);
	if (at != MAP_NONE) {
		return map_value(&c->idle_of, at) != 0;
	}
	bool idle = waits_for_work(c->names.names[name].text);
	k->m->failed = map_add(&c->idle_of, name, idle) < 0 || k->m->failed;
	return idle;
}

/* Looks at the stack. `ret_function` is the innermost function that is not the kernel's; NULL: none. */
static bool is_idle(struct table_kernel *k, uint32_t stack, uint32_t process, uint32_t pid, uint64_t time,
		    const char **ret_function)
{
	uint64_t addresses[FRAMES_MAX];
	uint32_t n = stack ? openetw_index_stack(k->m->index, stack, addresses, FRAMES_MAX) : 0;
	bool idle = false;
	*ret_function = NULL;
	for (uint32_t i = 0; i < BASE_MIN(n, FRAMES_MAX); i++) {
		uint64_t address = names_frame(addresses, i, true);
		bool in_kernel = address >= NAMES_KERNEL_SPACE;
		uint32_t name = table_names_find(k->m, &k->chains->names, in_kernel ? 0 : process, pid, address,
						 table_make_time(k->m, time));
		if (name == UINT32_MAX) {
			return idle;
		}
		idle = idle || is_idle_name(k, name);
		if (!in_kernel && !*ret_function) {
			*ret_function = k->chains->names.names[name].text;
		}
	}
	return idle;
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

static const char *name_or(const char *name)
{
	return name ? name : "?";
}

static uint64_t both(const struct table_link *a, uint64_t from, uint64_t until)
{
	from = BASE_MAX(from, a->since);
	until = BASE_MIN(until, a->ready);
	return until > from ? until - from : 0;
}

/* What the wait of `w` was for, which `by` ended: its own wait, or what it did. */
static struct table_link link_of(struct table_kernel *k, const struct waiting *w, uint32_t process, uint64_t ready)
{
	struct table_link r = {.since = w->since, .ready = ready, .node = NONE, .cause = TABLE_CAUSE_UNKNOWN};
	const char *who = name_or(table_make_process_name(k->m, process));
	const struct table_link *next = &w->of_waker;
	if (!w->told) {
		r.node = node_of(k, who, NONE, NULL);
	} else if (kevent_waker_name(w->by)) {
		r.cause = (uint8_t)(TABLE_CAUSE_OTHER + w->by);
		r.node = node_of(k, who, NONE, kevent_waker_name(w->by));
	} else if (next->ready && next->node != NONE && k->chains->nodes[next->node].links < LINKS_MAX &&
		   w->waker_tid != w->tid && both(next, w->since, ready) * 2 > ready - w->since) {
		r.cause = next->cause;
		r.pid = next->pid;
		r.tid = next->tid;
		r.node = node_of(k, who, next->node, NULL);
	} else {
		uint32_t waker = table_make_process(k->m, w->waker_pid, w->ready);
		r.cause = TABLE_CAUSE_THREAD;
		r.pid = w->waker_pid;
		r.tid = w->waker_tid;
		r.node = node_of(k, who, NONE, name_or(table_make_process_name(k->m, waker)));
	}
	return r;
}

void table_chains_wait(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s, struct waiting *w,
		       uint32_t pid)
{
	uint32_t process = table_make_process(k->m, pid, s->time), stack = table_make_stack(k->m, e);
	const char *function, *reason = kevent_wait_reason(w->reason);
	uint64_t ready = w->told ? BASE_MAX(w->ready, w->since) : s->time;
	if (!k->chains) {
		return;
	}
	struct table_link r = link_of(k, w, process, ready);
	w->last = r;
	bool idle = is_idle(k, stack, process, pid, s->time, &function) || (w->told && w->by == KEVENT_BY_TIMER);
	table_build_number(k->b, k->c[0], (uint64_t)table_make_time(k->m, w->since));
	table_build_number(k->b, k->c[1], (s->time - w->since) * 100);
	table_who_put(k->m, k->b, &k->who, pid, s->in_tid, s->time);
	table_put_string(k->b, k->c[2], reason);
	table_build_number(k->b, k->c[3], idle);
	table_put_string(k->b, k->c[4], function);
	if (r.node != NONE) {
		table_put_string(k->b, k->c[5], k->chains->nodes[r.node].text);
		table_build_number(k->b, k->c[6], k->chains->nodes[r.node].links);
	}
	if (r.cause == TABLE_CAUSE_THREAD) {
		uint32_t cause = table_make_process(k->m, r.pid, r.ready);
		table_put_string(k->b, k->c[7], "thread");
		table_build_number(k->b, k->c[8], table_make_thread(k->m, r.tid, r.ready));
		table_build_number(k->b, k->c[9], r.pid);
		table_build_number(k->b, k->c[10], r.tid);
		table_put_string(k->b, k->c[11], table_make_process_name(k->m, cause));
	} else if (r.cause != TABLE_CAUSE_UNKNOWN) {
		table_put_string(k->b, k->c[7], kevent_waker_name((uint8_t)(r.cause - TABLE_CAUSE_OTHER)));
	}
	table_kernel_stack(k, k->c[12], stack);
	table_build_row(k->b);
}

void table_chains_free(struct table_kernel *k)
{
	struct chains *c = k->chains;
	if (!c) {
		return;
	}
	for (uint32_t i = 0; i < c->count; i++) {
		free(c->nodes[i].text);
	}
	free(c->nodes);
	map_free(&c->of);
	map_free(&c->idle_of);
	table_names_free(&c->names);
	free(c);
}
