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
	size_t count;
	const struct cause_pair *of = cause_pairs_of(&c->neighbours, number, &count);
	for (size_t i = 0; i < count; i++) {
		l->all += of[i].sum.time;
		if (of[i].sum.time > most && may_be_blamed(c, t, of[i].b)) {
			most = of[i].sum.time;
			l->other = of[i].b;
		}
	}
	l->to = most;
	l->always = most && together(c, t, l->other) >= there / 10 * 9;
	if (most == 0 || !process_of(c, l->other, t->seen, &worst)) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct cause_pair *n = &of[i];
		if (n->b != l->other && process_of(c, n->b, t->seen, &p) && strcmp(p.name, worst.name) == 0 &&
		    together(c, t, n->b) >= there / 2 && may_be_blamed(c, t, n->b)) {
			l->to += n->sum.time;
			l->family++;
		}
	}
}

/* Processes that were there less than half of the time, by name. */
struct brief {
	const char *name;
	uint32_t pid;
};
struct crowd {
	struct brief *brief;
	size_t count;
	uint32_t *threads; /* of each thread: how many its process has */
};

static int by_name(const void *pa, const void *pb)
{
	return strcmp(((const struct brief *)pa)->name, ((const struct brief *)pb)->name);
}

static bool is_brief(struct causes *c, const struct cause_thread *t)
{
	return cause_presence(c, t->pid, CAUSE_NOBODY, t->seen) * 2 < c->last - c->first;
}

static bool crowd_make(struct causes *c, struct crowd *ret)
{
	struct openetw_process p;
	uint32_t *order = cause_by_process(c);
	*ret = (struct crowd){.brief = calloc(c->thread_count + 1, sizeof *ret->brief),
			      .threads = calloc(c->thread_count + 1, sizeof *ret->threads)};
	if (!order || !ret->brief || !ret->threads) {
		free(order);
		return false;
	}
	for (size_t i = 0, end; i < c->thread_count; i = end) {
		end = cause_process_end(c, order, i);
		for (size_t k = i; k < end; k++) {
			const struct cause_thread *t = &c->thread[order[k]];
			ret->threads[order[k]] = (uint32_t)(end - i);
			if (t->tid == t->pid && is_brief(c, t) && process_of(c, t->pid, t->seen, &p) && p.name) {
				ret->brief[ret->count++] = (struct brief){p.name, t->pid};
			}
		}
	}
	free(order);
	qsort(ret->brief, ret->count, sizeof *ret->brief, by_name);
	return true;
}

static void crowd_free(struct crowd *w)
{
	free(w->brief);
	free(w->threads);
}

/* The first of this name, or where it would be. */
static size_t brief_from(const struct crowd *w, const char *name)
{
	size_t low = 0, high = w->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (strcmp(w->brief[mid].name, name) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* One of many short programs of that name, as compilers are: what they wait for each other is the way they work. */
static bool is_of_many(struct causes *c, const struct cause_thread *t, const struct crowd *w)
{
	struct openetw_process v;
	if (!process_of(c, t->pid, t->seen, &v) || !v.name) {
		return false;
	}
	uint32_t many = is_brief(c, t) ? w->threads[cause_thread_number(c, t)] : 0;
	for (size_t i = brief_from(w, v.name); many < MANY && i < w->count && strcmp(w->brief[i].name, v.name) == 0;
	     i++) {
		many += w->brief[i].pid != t->pid;
	}
	return many >= MANY;
}

/* A machine with too much to do takes time from everybody. Somebody is to blame who takes most of it; of a thread that
 * stays on one processor, where few others are, a third is enough when they are always there. */
static bool is_cause(struct causes *c, const struct cause_thread *t, const struct lost *l, uint64_t there,
		     const struct crowd *w)
{
	unsigned least = !t->moved && l->always ? 33 : 50;
	return cause_counts(c, l->to, there) && l->to >= l->all / 100 * least &&
	       together(c, t, l->other) >= there / 2 && !is_of_many(c, t, w);
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

/* Whose processor was taken, and by whom: names. */
struct blame {
	const char *by, *from;
};

static int by_names(const void *pa, const void *pb)
{
	const struct blame *a = pa, *b = pb;
	int r = strcmp(a->by, b->by);
	return r ? r : strcmp(a->from, b->from);
}

static bool blame_of(struct causes *c, const struct cause_thread *t, uint32_t other, struct blame *ret)
{
	struct openetw_process from, by;
	if (!process_of(c, t->pid, t->seen, &from) || !process_of(c, other, t->seen, &by) || !from.name || !by.name) {
		return false;
	}
	*ret = (struct blame){by.name, from.name};
	return true;
}

/* Programs that compute take time from each other as well: who is blamed anyhow gets no line as a victim of its own
 * kind while others have one. `all` is sorted. */
static bool is_blamed_by_others(const struct blame *b, const struct blame *all, size_t count)
{
	if (strcmp(b->by, b->from) != 0) {
		return false;
	}
	size_t low = 0, high = count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (strcmp(all[mid].by, b->from) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (; low < count && strcmp(all[low].by, b->from) == 0; low++) {
		if (strcmp(all[low].from, b->from) != 0) {
			return true;
		}
		while (low + 1 < count && by_names(&all[low], &all[low + 1]) == 0) { /* the same again */
			low++;
		}
	}
	return false;
}

struct victim {
	uint32_t thread;
	bool named; /* `blame` is known */
	struct lost lost;
	struct blame blame;
};

/* One line for a process: of the thread that lost most. */
static void find_victims(struct causes *c, const struct crowd *w, struct victim *v, struct blame *all)
{
	struct map best_of = {0}; /* by pid */
	size_t victims = 0, blames = 0;
	for (size_t i = 0; i < c->thread_count; i++) {
		const struct cause_thread *t = &c->thread[i];
		uint64_t of = cause_presence(c, t->pid, t->tid, t->seen);
		struct lost lost = {0};
		if (t->pid == SYSTEM_PID || !cause_counts(c, t->unready, of)) {
			continue;
		}
		add_up(c, t, of, &lost);
		if (!is_cause(c, t, &lost, of, w)) {
			continue;
		}
		size_t at = map_find(&best_of, t->pid);
		if (at == MAP_NONE) {
			c->failed = map_add(&best_of, t->pid, victims) < 0 || c->failed;
			v[victims++] = (struct victim){.thread = (uint32_t)i, .lost = lost};
		} else if (v[map_value(&best_of, at)].lost.to < lost.to) {
			v[map_value(&best_of, at)] = (struct victim){.thread = (uint32_t)i, .lost = lost};
		}
	}
	for (size_t i = 0; i < victims; i++) {
		v[i].named = blame_of(c, &c->thread[v[i].thread], v[i].lost.other, &v[i].blame);
		if (v[i].named) {
			all[blames++] = v[i].blame;
		}
	}
	qsort(all, blames, sizeof *all, by_names);
	for (size_t i = 0; i < victims; i++) {
		const struct cause_thread *t = &c->thread[v[i].thread];
		if (!v[i].named || !is_blamed_by_others(&v[i].blame, all, blames)) {
			find(c, t, &v[i].lost, cause_presence(c, t->pid, t->tid, t->seen));
		}
	}
	map_free(&best_of);
}

void cause_neighbour_find(struct causes *c)
{
	struct crowd w;
	struct victim *v = calloc(c->thread_count + 1, sizeof *v);
	struct blame *all = calloc(c->thread_count + 1, sizeof *all);
	cause_pairs_sort(&c->neighbours);
	if (crowd_make(c, &w) && v && all) {
		find_victims(c, &w, v, all);
	} else {
		c->failed = true;
	}
	crowd_free(&w);
	free(v);
	free(all);
}
