/* SPDX-License-Identifier: MIT
 * monitor: one line for each operation, in the order in which they began, when their results are known.
 */
#include "tools/openetw/monitor.h"

#include <stdlib.h>

#define ORDER_NS    200000000ull   /* that lines wait for one before them */
#define PATIENCE_NS 10000000000ull /* for an operation's result: a big copy to a slow disk lasts seconds */
#define CLOSE_NS    1000000000ull  /* for that of a close: one that the end of its process makes never has any */

static void fill(struct monitor *m, struct line *l, const struct kevent *k)
{
	l->k = *k;
	l->waits = k->kind == KEVENT_FILE && k->irp;
	l->has_result = k->kind == KEVENT_NET && k->op == KOP_FAIL && k->status;
	l->status = k->status;
	l->twice = false;
	l->to[0] = 0;
	l->took_ns = k->kind == KEVENT_DISK ? k->duration : 0;
	const char *path = k->file ? k->file : "";
	snprintf(l->process, sizeof l->process, "%.63s", k->process);
	snprintf(l->thread, sizeof l->thread, "%.63s", k->thread);
	if (k->kind == KEVENT_NET) {
		const char *arrow = k->remote[0] ? " -> " : "";
		snprintf(l->path, sizeof l->path, "%s%s%s", k->remote[0] ? k->local : "", arrow, k->remote);
	} else {
		snprintf(l->path, sizeof l->path, "%s", path);
	}
	if (k->kind == KEVENT_PROCESS) {
		struct openetw_process p = {.size = sizeof p};
		if (openetw_state_process(m->state, k->subject_pid, k->time, &p) == ERROR_SUCCESS) {
			snprintf(l->process, sizeof l->process, "%.63s", p.name[0] ? p.name : "?");
			snprintf(l->path, sizeof l->path, "%s", k->op == KOP_START ? p.command_line : "");
		}
	}
}

static uint64_t patience(const struct line *l)
{
	return l->k.op == KOP_CLOSE || l->k.op == KOP_CLEANUP ? CLOSE_NS : PATIENCE_NS;
}

/* What is complete, in the order in which it began. What still waits for its result holds up those behind
 * it for a while, and is shown without at last. */
void monitor_release(struct monitor *m, uint64_t now)
{
	uint32_t kept = 0, i = 0;
	for (; i < m->pending_count; i++) {
		struct line *l = m->pending[i];
		uint64_t age = now - BASE_MIN(now, l->k.time);
		if (l->waits && age < ORDER_NS) {
			break;
		}
		if (l->waits && age < patience(l)) {
			m->pending[kept++] = l;
			continue;
		}
		monitor_print(m, l);
		free(l);
	}
	memmove(m->pending + kept, m->pending + i, (m->pending_count - i) * sizeof *m->pending);
	m->pending_count -= i - kept;
}

/* When too many wait: closes do not wait any longer; if that does not help, the oldest are shown as they are. */
static void make_room(struct monitor *m, uint64_t now)
{
	monitor_release(m, now);
	for (uint32_t i = 0; m->pending_count == MONITOR_PENDING_MAX && i < m->pending_count; i++) {
		m->pending[i]->waits = m->pending[i]->waits && patience(m->pending[i]) == PATIENCE_NS;
	}
	monitor_release(m, now + ORDER_NS); /* in order as far as there is room for it */
	if (m->pending_count < MONITOR_PENDING_MAX) {
		return;
	}
	uint32_t n = m->pending_count / 8;
	for (uint32_t i = 0; i < n; i++) {
		struct line *l = m->pending[i];
		m->early += l->waits;
		monitor_print(m, l);
		free(l);
	}
	memmove(m->pending, m->pending + n, (m->pending_count - n) * sizeof *m->pending);
	m->pending_count -= n;
}

static void finish(struct monitor *m, const struct kevent *end)
{
	for (uint32_t i = m->pending_count; i-- > 0;) {
		struct line *l = m->pending[i];
		if (l->waits && l->k.irp == end->irp) {
			l->waits = false;
			l->has_result = true;
			l->status = end->status;
			l->took_ns = end->time - l->k.time;
			l->k.bytes = l->k.op == KOP_READ || l->k.op == KOP_WRITE ? end->bytes : l->k.bytes;
			if (l->k.op != KOP_RENAME) {
				return; /* names that are exchanged are two renames with one end */
			}
		}
	}
}

/* Of what is told twice the second adds what the first does not know. */
static bool told_before(struct monitor *m, const struct kevent *k)
{
	for (uint32_t i = m->pending_count; (k->with_path || k->op == KOP_CLOSE) && i-- > 0;) {
		struct line *l = m->pending[i];
		if (l->k.kind != KEVENT_FILE || l->k.irp != k->irp || l->twice ||
		    !(k->with_path ? l->k.op == k->op : l->k.op == KOP_CLEANUP)) {
			continue;
		}
		l->twice = true;
		if (k->op == KOP_CLOSE) {
			l->k.op = k->op;
			l->k.name = k->name;
		} else if (k->op == KOP_RENAME) {
			snprintf(l->to, sizeof l->to, "%s", k->file ? k->file : "");
		} else if (k->file) {
			snprintf(l->path, sizeof l->path, "%s", k->file);
		}
		return true;
	}
	return false;
}

void monitor_event(void *ctx, const EVENT_RECORD *e)
{
	struct monitor *m = ctx;
	struct kevent k;
	if (!m->live || m->done || !kevent_of(m->state, e, &k)) {
		return;
	}
	if (k.kind == KEVENT_FILE_END) {
		finish(m, &k);
		return;
	}
	if (!(m->kinds & 1u << k.kind) ||
	    !feed_shows(m->feed, k.kind == KEVENT_PROCESS ? k.subject_pid : k.pid, k.time)) {
		return;
	}
	if (k.kind == KEVENT_FILE && k.irp && told_before(m, &k)) {
		return;
	}
	struct line *l = malloc(sizeof *l);
	if (!l) {
		m->not_shown++;
		return;
	}
	fill(m, l, &k);
	if (!monitor_wants_process(m, l)) { /* one that waits in vain would push others out */
		free(l);
		return;
	}
	if (m->pending_count == MONITOR_PENDING_MAX) {
		make_room(m, k.time);
	}
	m->pending[m->pending_count++] = l;
}
