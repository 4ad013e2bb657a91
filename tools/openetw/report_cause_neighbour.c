/* SPDX-License-Identifier: MIT
 * report's first lines: threads that could have run, while another process had their processor.
 */
#include "tools/openetw/report_cause.h"

#include <stdlib.h>

#define SYSTEM_PID 4
#define ANCESTORS  32
#define MANY       3

void cause_neighbour_ready(struct causes *c, const struct cause_thread *t, const struct cause_cpu *cpu, uint64_t from,
			   uint64_t until)
{
	uint64_t kept = BASE_MIN(cpu->slices, (uint64_t)CAUSE_SLICES);
	for (uint64_t i = 1; i <= kept; i++) {
		const struct cause_slice *s = &cpu->slice[(cpu->slices - i) % CAUSE_SLICES];
		if (s->until <= from) {
			break;
		}
		uint64_t a = BASE_MAX(s->from, from), b = BASE_MIN(s->until, until);
		uint32_t pid = s->thread == CAUSE_NOBODY ? OPENETW_UNKNOWN_ID : c->thread[s->thread].pid;
		if (b > a && pid != OPENETW_UNKNOWN_ID && pid != t->pid) {
			cause_pair_add(c, &c->neighbours, cause_thread_number(c, t), pid, b - a);
		}
	}
}

static bool process_of(struct causes *c, uint32_t pid, uint64_t time, struct openetw_process *p)
{
	p->size = sizeof *p;
	return openetw_state_process(c->state, pid, time, p) == ERROR_SUCCESS;
}

/* The nearest process that both descend from, when it began in the trace: what it started is one job. */
static bool one_job(struct causes *c, uint32_t a, uint32_t b, uint64_t time)
{
	uint32_t above[ANCESTORS], n = 0;
	struct openetw_process p;
	for (uint32_t pid = a; n < ANCESTORS && process_of(c, pid, time, &p) && p.start_time; pid = p.parent_pid) {
		above[n++] = pid;
	}
	uint32_t pid = b;
	for (uint32_t depth = 0; depth < ANCESTORS && process_of(c, pid, time, &p) && p.start_time; depth++) {
		for (uint32_t i = 0; i < n; i++) {
			if (above[i] == pid) {
				return true;
			}
		}
		pid = p.parent_pid;
	}
	return false;
}

/* A build, and whatever else starts many short programs, has more to do than processors: its parts take these from
 * each other as they should. Two long programs that the same script started do not. */
static bool are_parts(struct causes *c, uint32_t victim, uint32_t other, uint64_t time)
{
	struct openetw_process v, o;
	uint64_t whole = c->last - c->first;
	if (!process_of(c, victim, time, &v) || !process_of(c, other, time, &o) || !one_job(c, victim, other, time)) {
		return false;
	}
	uint64_t v_there = cause_presence(c, victim, CAUSE_NOBODY, time);
	uint64_t o_there = cause_presence(c, other, CAUSE_NOBODY, time);
	bool siblings = v.parent_pid == o.parent_pid || v.parent_pid == other || o.parent_pid == victim;
	return BASE_MIN(v_there, o_there) * 2 < whole || (strcmp(v.name, o.name) == 0 && !siblings);
}

struct lost {
	uint64_t all, to;       /* to others; to the worst of them, and to those of its name that were there long */
	uint32_t other, family; /* the worst, and how many of its name these are */
	bool always;            /* it was there nearly all the time */
};

/* How long the two were there together. */
static uint64_t together(struct causes *c, const struct cause_thread *t, uint32_t other)
{
	struct openetw_thread v = {.size = sizeof v};
	struct openetw_process o;
	uint64_t from = c->first, until = c->last;
	if (openetw_state_thread(c->state, t->tid, t->seen, &v) == ERROR_SUCCESS) {
		from = BASE_MAX(from, v.start_time);
		until = BASE_MIN(until, v.end_time);
	}
	if (process_of(c, other, t->seen, &o)) {
		from = BASE_MAX(from, o.start_time);
		until = BASE_MIN(until, o.end_time);
	}
	return until > from ? until - from : 0;
}

static bool may_be_blamed(struct causes *c, const struct cause_thread *t, uint32_t pid)
{
	return pid != SYSTEM_PID && !cause_is_recorder(c, pid, t->seen) && !are_parts(c, t->pid, pid, t->seen);
}

static void add_up(struct causes *c, const struct cause_thread *t, uint64_t there, struct lost *l)
{
	struct openetw_process worst, p;
	uint32_t number = cause_thread_number(c, t);
	uint64_t most = 0;
	for (size_t i = 0; i < c->neighbours.count; i++) {
		const struct cause_pair *n = &c->neighbours.pair[i];
		l->all += n->a == number ? n->sum.time : 0;
		if (n->a == number && n->sum.time > most && may_be_blamed(c, t, n->b)) {
			most = n->sum.time;
			l->other = n->b;
		}
	}
	l->to = most;
	l->always = most && together(c, t, l->other) >= there / 10 * 9;
	if (most == 0 || !process_of(c, l->other, t->seen, &worst)) {
		return;
	}
	for (size_t i = 0; i < c->neighbours.count; i++) {
		const struct cause_pair *n = &c->neighbours.pair[i];
		if (n->a == number && n->b != l->other && process_of(c, n->b, t->seen, &p) &&
		    strcmp(p.name, worst.name) == 0 && together(c, t, n->b) >= there / 2 && may_be_blamed(c, t, n->b)) {
			l->to += n->sum.time;
			l->family++;
		}
	}
}

/* One of many short programs of that name, as compilers are: what they wait for each other is the way they work. */
static bool is_of_many(struct causes *c, const struct cause_thread *t)
{
	struct openetw_process v, p;
	unsigned many = 0;
	if (!process_of(c, t->pid, t->seen, &v)) {
		return false;
	}
	for (size_t i = 0; i < c->thread_count && many < MANY; i++) {
		const struct cause_thread *o = &c->thread[i];
		many += (o->tid == o->pid || o->pid == t->pid) && process_of(c, o->pid, o->seen, &p) &&
			strcmp(p.name, v.name) == 0 &&
			cause_presence(c, o->pid, CAUSE_NOBODY, o->seen) * 2 < c->last - c->first;
	}
	return many >= MANY;
}

/* A machine with too much to do takes time from everybody. Somebody is to blame who takes most of it; of a thread that
 * stays on one processor, where few others are, a third is enough when they are always there. */
static bool is_cause(struct causes *c, const struct cause_thread *t, const struct lost *l, uint64_t there)
{
	unsigned least = !t->moved && l->always ? 33 : 50;
	return cause_counts(c, l->to, there) && l->to >= l->all / 100 * least &&
	       together(c, t, l->other) >= there / 2 && !is_of_many(c, t);
}

static void find(struct causes *c, const struct cause_thread *t, const struct lost *l, uint64_t of)
{
	char lost[CAUSE_TIME], whole[CAUSE_TIME], theirs[CAUSE_TIME], who[CAUSE_WHO], more[64] = "";
	struct cause_finding f = {.kind = CAUSE_NEIGHBOUR,
				  .lost = l->to,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = l->other,
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen};
	if (l->family) {
		snprintf(more, sizeof more, ", and %u more of that name,", l->family);
	}
	cause_found(c, &f, "could run but had no processor for %s of %s: %s%s ran there for %s of that",
		    cause_time(l->all, lost), cause_time(of, whole), cause_who(c, l->other, CAUSE_NOBODY, t->seen, who),
		    more, cause_time(l->to, theirs));
}

/* Programs that compute take time from each other as well: who is blamed anyhow gets no line as a victim of its own
 * kind while others have one. */
static bool is_blamed_by_others(struct causes *c, const struct cause_thread *t, const struct lost *l,
				const struct map *best_of, const struct lost *lost)
{
	struct openetw_process v, o, w;
	if (!process_of(c, t->pid, t->seen, &v) || !process_of(c, l->other, t->seen, &o) ||
	    strcmp(v.name, o.name) != 0) {
		return false;
	}
	MAP_ALL(best_of, at) {
		size_t i = map_value(best_of, at);
		if (process_of(c, c->thread[i].pid, c->thread[i].seen, &w) && strcmp(w.name, v.name) != 0 &&
		    process_of(c, lost[i].other, c->thread[i].seen, &o) && strcmp(o.name, v.name) == 0) {
			return true;
		}
	}
	return false;
}

/* One line for a process: of the thread that lost most. */
void cause_neighbour_find(struct causes *c)
{
	struct map best_of = {0}; /* by pid */
	struct lost *lost = calloc(c->thread_count + 1, sizeof *lost);
	for (size_t i = 0; lost && i < c->thread_count; i++) {
		const struct cause_thread *t = &c->thread[i];
		uint64_t of = cause_presence(c, t->pid, t->tid, t->seen);
		if (t->pid == SYSTEM_PID || !cause_counts(c, t->unready, of)) {
			continue;
		}
		add_up(c, t, of, &lost[i]);
		if (!is_cause(c, t, &lost[i], of)) {
			continue;
		}
		size_t at = map_find(&best_of, t->pid);
		if (at == MAP_NONE) {
			c->failed = map_add(&best_of, t->pid, i) < 0 || c->failed;
		} else if (lost[map_value(&best_of, at)].to < lost[i].to) {
			map_set(&best_of, at, i);
		}
	}
	for (size_t i = 0; lost && i < c->thread_count; i++) {
		const struct cause_thread *t = &c->thread[i];
		size_t at = map_find(&best_of, t->pid);
		if (at != MAP_NONE && map_value(&best_of, at) == i &&
		    !is_blamed_by_others(c, t, &lost[i], &best_of, lost)) {
			find(c, t, &lost[i], cause_presence(c, t->pid, t->tid, t->seen));
		}
	}
	c->failed = c->failed || !lost;
	map_free(&best_of);
	free(lost);
}
