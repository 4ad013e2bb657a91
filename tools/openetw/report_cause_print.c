/* SPDX-License-Identifier: MIT
 * report's first lines: which findings are worth a line, and how they are printed.
 */
#include "tools/openetw/report_cause.h"

#include "base/printable.h"
#include "base/vec.h"

#include <stdlib.h>

#define SHARE_LEAST 5       /* a fifth of the time that it was there */
#define TRACE_LEAST 33      /* a 33rd of the trace */
#define TIME_LEAST  500000u /* 50 ms */
#define SECOND      10000000.0
#define ANCESTORS   32

bool cause_counts(const struct causes *c, uint64_t lost, uint64_t of)
{
	return lost >= TIME_LEAST && lost >= of / SHARE_LEAST && lost >= (c->last - c->first) / TRACE_LEAST;
}

const char *cause_time(uint64_t time, char out[CAUSE_TIME])
{
	double s = (double)time / SECOND;
	if (s >= 1) {
		snprintf(out, CAUSE_TIME, "%.1f s", s);
	} else if (s >= 0.01) {
		snprintf(out, CAUSE_TIME, "%.0f ms", s * 1e3);
	} else if (s >= 0.001) {
		snprintf(out, CAUSE_TIME, "%.1f ms", s * 1e3);
	} else {
		snprintf(out, CAUSE_TIME, "%.0f us", s * 1e6);
	}
	return out;
}

/* ---- who ------------------------------------------------------------------------------------------- */

static bool process_of(struct causes *c, uint32_t pid, uint64_t time, struct openetw_process *p)
{
	p->size = sizeof *p;
	return openetw_state_process(c->state, pid, time, p) == ERROR_SUCCESS && p->name;
}

static void BASE_PRINTF(2, 3) put(char out[CAUSE_WHO], const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(out, CAUSE_WHO, fmt, ap);
	va_end(ap);
}

const char *cause_who(struct causes *c, uint32_t pid, uint32_t tid, uint64_t time, char out[CAUSE_WHO])
{
	struct openetw_process p;
	char process[256];
	const char *name = process_of(c, pid, time, &p) && p.name[0] && strcmp(p.name, "?") != 0 ? p.name : NULL;
	const char *thread = tid == CAUSE_NOBODY ? "" : kevent_thread_name(c->state, tid, time);
	if (name) {
		snprintf(process, sizeof process, "%.200s (%u)", name, pid);
	} else {
		snprintf(process, sizeof process, "process %u", pid);
	}
	if (tid == CAUSE_NOBODY) {
		put(out, "%s%s", name ? "process " : "", process);
	} else if (thread[0] && (!name || strcmp(thread, name) != 0)) {
		put(out, "thread %.200s (%u) of %s", thread, tid, process);
	} else {
		put(out, "thread %u of %s", tid, process);
	}
	return out;
}

static bool is_ours(const struct openetw_process *p)
{
	return strncmp(p->name, "openetw", strlen("openetw")) == 0 || strcmp(p->name, "etwd") == 0;
}

bool cause_is_recorder(struct causes *c, uint32_t pid, uint64_t time)
{
	struct openetw_process p;
	return process_of(c, pid, time, &p) && is_ours(&p);
}

/* It, or who it descends from, was started by a recorder that was there before the trace. */
static bool is_recorded(struct causes *c, uint32_t pid, uint64_t time)
{
	struct openetw_process p, parent;
	for (int i = 0; i < ANCESTORS && process_of(c, pid, time, &p) && p.start_time; i++) {
		if (process_of(c, p.parent_pid, p.start_time, &parent) && is_ours(&parent) && !parent.start_time &&
		    !is_ours(&p)) {
			return true;
		}
		pid = p.parent_pid;
	}
	return false;
}

/* ---- findings -------------------------------------------------------------------------------------- */

void cause_found(struct causes *c, const struct cause_finding *f, const char *fmt, ...)
{
	if (!VEC_ROOM(c->finding, c->finding_count, c->finding_cap)) {
		c->failed = true;
		return;
	}
	struct cause_finding *new = &c->finding[c->finding_count++];
	struct strbuf b = {0};
	va_list ap;
	*new = *f;
	va_start(ap, fmt);
	strbuf_vaddf_printable(&b, fmt, ap);
	va_end(ap);
	c->failed = c->failed || b.failed;
	new->text = b.s;
	new->recorded = is_recorded(c, f->pid, f->time);
}

/* A recorder that ran something other than a pause recorded for its sake: noise of the machine is not what is asked. */
static bool ran_something(struct causes *c)
{
	struct openetw_process p;
	for (size_t i = 0; i < c->thread_count; i++) {
		const struct cause_thread *t = &c->thread[i];
		if (is_recorded(c, t->pid, t->seen) && process_of(c, t->pid, t->seen, &p) &&
		    strcmp(p.name, "sleep") != 0 && strcmp(p.name, "timeout") != 0) {
			return true;
		}
	}
	return false;
}

static int by_time(const void *a, const void *b)
{
	const struct cause_finding *x = a, *y = b;
	if (x->recorded != y->recorded) {
		return x->recorded ? -1 : 1;
	}
	return x->lost != y->lost ? (x->lost < y->lost ? 1 : -1) : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static const struct {
	const char *title, *json;
} kinds[] = {
	[CAUSE_LOCK] = {"lock contention", "lock"},
	[CAUSE_FLUSH] = {"slow fsync", "fsync"},
	[CAUSE_NEIGHBOUR] = {"busy neighbour", "neighbour"},
	[CAUSE_FAULTS] = {"page faults", "faults"},
	[CAUSE_PEER] = {"slow peer", "peer"},
	[CAUSE_GC] = {"garbage collection", "gc"},
};

static void print_json(struct causes *c, const struct cause_finding *f)
{
	char who[CAUSE_WHO];
	struct strbuf b = {0};
	strbuf_addf(&b, "{\"table\":\"causes\",\"cause\":\"%s\",\"pid\":%u", kinds[f->kind].json, f->pid);
	if (f->tid != CAUSE_NOBODY) {
		strbuf_addf(&b, ",\"tid\":%u", f->tid);
	}
	if (f->other_pid != CAUSE_NOBODY) {
		strbuf_addf(&b, ",\"otherPid\":%u", f->other_pid);
	}
	if (f->other_tid != CAUSE_NOBODY) {
		strbuf_addf(&b, ",\"otherTid\":%u", f->other_tid);
	}
	strbuf_addf(&b, ",\"lostMs\":%.3f,\"ofMs\":%.3f,\"count\":%llu,\"text\":", (double)f->lost / 1e4,
		    (double)f->of / 1e4, (unsigned long long)f->count);
	cause_who(c, f->pid, f->tid, f->time, who);
	struct strbuf text = {0};
	strbuf_addf(&text, "%s %s", who, f->text);
	strbuf_add_json(&b, text.s ? text.s : "", text.len);
	c->failed = c->failed || b.failed || text.failed;
	printf("%s}\n", b.s ? b.s : "");
	strbuf_finish(&text);
	strbuf_finish(&b);
}

/* What was looked at, and what could not be. */
static void print_nothing(struct causes *c, bool json)
{
	const struct {
		bool there;
		const char *what;
		bool expected;
	} parts[] = {{c->samples, "samples", true},
		     {c->switches, "context switches", true},
		     {c->stacks, "call stacks", c->samples + c->switches > 0},
		     {c->file_ops || c->calls, "files", c->stacks == 0},
		     {c->net_ops, "network", true},
		     {c->faults, "page faults", false},
		     {c->gc_events, "garbage collections", false}};
	struct strbuf looked = {0}, missing = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		if (parts[i].there) {
			strbuf_addf(&looked, "%s%s", looked.len ? ", " : "", parts[i].what);
		} else if (parts[i].expected) {
			strbuf_addf(&missing, "%s%s", missing.len ? ", " : "", parts[i].what);
		}
	}
	if (json) {
		printf("{\"table\":\"causes\",\"cause\":null,\"looked\":\"%s\",\"missing\":\"%s\"}\n",
		       looked.s ? looked.s : "", missing.s ? missing.s : "");
	} else {
		printf("nothing stands out: looked at %s%s%s%s\n", looked.s ? looked.s : "nothing",
		       missing.len ? "; not in the trace: " : "", missing.len ? missing.s : "",
		       c->switches || !missing.len ? "" : " (openetw record makes them)");
	}
	c->failed = c->failed || looked.failed || missing.failed;
	strbuf_finish(&looked);
	strbuf_finish(&missing);
}

static void print_one(struct causes *c, const struct cause_finding *f, bool json)
{
	char who[CAUSE_WHO];
	if (json) {
		print_json(c, f);
	} else {
		printf("%s: %s %s\n", kinds[f->kind].title, cause_who(c, f->pid, f->tid, f->time, who),
		       f->text ? f->text : "");
	}
}

bool causes_any(const struct causes *c)
{
	return c->gc_events > 0;
}

static bool is_wanted(struct causes *c, const struct cause_finding *f, causes_wanted_fn wanted, void *context)
{
	struct openetw_process p;
	return wanted(context, f->pid, f->tid, process_of(c, f->pid, f->time, &p) ? p.name : NULL);
}

bool causes_print(struct causes *c, causes_wanted_fn wanted, void *context, bool json)
{
	cause_lock_find(c);
	cause_flush_find(c);
	cause_neighbour_find(c);
	cause_fault_find(c);
	cause_peer_find(c);
	cause_local_find(c);
	cause_gc_find(c);
	if (c->finding_count) {
		qsort(c->finding, c->finding_count, sizeof *c->finding, by_time);
	}
	bool only_recorded = !wanted && ran_something(c);
	bool kind_seen[BASE_ARRAY_LEN(kinds)] = {0};
	size_t shown = 0;
	/* First the worst of each cause, then the rest. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < c->finding_count && shown < CAUSES_SHOWN; i++) {
			struct cause_finding *f = &c->finding[i];
			bool again = kind_seen[f->kind];
			if (!f->text || (wanted && !is_wanted(c, f, wanted, context)) ||
			    (only_recorded && !f->recorded) || (round == 0 && again)) {
				continue;
			}
			kind_seen[f->kind] = true;
			print_one(c, f, json);
			free(f->text);
			f->text = NULL;
			shown++;
		}
	}
	if (shown == 0) {
		print_nothing(c, json);
	}
	return !c->failed;
}
