/* SPDX-License-Identifier: MIT
 * Reports about processors: profile, cswitch, readythread and cpudisk.
 */
#include "base/vec.h"
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>
#include <strings.h>

/* "StartTime, EndTime, Cpu 0, …": percent of each interval. */
static void print_grid(struct xperf_job *j, const struct xperf_grid *g, bool rest)
{
	fprintf(j->out, "%12s, %12s", "StartTime", "EndTime");
	for (size_t c = 0; c < g->columns; c++) {
		fprintf(j->out, ", Cpu %3zu", c);
	}
	fputc('\n', j->out);
	for (size_t r = 0; r < g->rows; r++) {
		double from = g->from_us + (double)r * g->step_us;
		double to = from + g->step_us < g->to_us ? from + g->step_us : g->to_us;
		fprintf(j->out, "%12.0f, %12.0f", from, to);
		for (size_t c = 0; c < g->columns; c++) {
			double part = to > from ? 100 * g->cell[r * g->columns + c] / (to - from) : 0;
			part = part > 100 ? 100 : part;
			fprintf(j->out, ", %7.2f", rest ? 100 - part : part);
		}
		fputc('\n', j->out);
	}
}

static double whole_time(const struct xperf_job *j)
{
	double t = xperf_in_range(j, 0, j->length_us) * j->cpus;
	return t > 0 ? t : 1;
}

/* ---- profile ------------------------------------------------------------------------------------ */

struct profile {
	double interval_us, util_us;
	bool detail, freq;
	struct xperf_sums sums;
	struct xperf_grid grid;
	double samples[4096];
};

static bool profile_begin(struct xperf_job *j)
{
	struct profile *p = j->own;
	p->interval_us = 1000;
	if (!p->detail && !p->freq && p->util_us <= 0) {
		p->util_us = 1e6;
	}
	return p->util_us <= 0 || xperf_grid_make(j, &p->grid, p->util_us, j->cpus);
}

static void profile_event(struct xperf_job *j)
{
	struct profile *p = j->own;
	if (strcmp(j->name, "PerfInfo/SampleProf") != 0) {
		/* Source 0 is time; the interval counts 100 ns. It stands in front of the samples. */
		uint64_t interval = xperf_number(j, "NewInterval");
		if (xperf_number(j, "Source") == 0 && interval) {
			p->interval_us = (double)interval / 10;
		}
		return;
	}
	if (j->us < j->from_us || j->us > j->to_us) {
		return;
	}
	uint64_t n = xperf_number(j, "Count");
	double weight = (double)(n ? n : 1) * p->interval_us;
	p->samples[xperf_cpu(j) % BASE_ARRAY_LEN(p->samples)] += (double)(n ? n : 1);
	if (p->detail) {
		xperf_key_process(j);
		strbuf_adds(&j->key, "\t");
		xperf_symbol_cell(&j->key, j->state, j->origin.pid, xperf_number(j, "InstructionPointer"), j->time);
		struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, &p->sums, j->key.s);
		if (s) {
			s->v[0] += weight;
		}
	}
	if (p->util_us > 0 && j->origin.pid != 0) {
		/* A sample stands for the interval before it. */
		xperf_grid_add(&p->grid, xperf_cpu(j), j->us - weight, j->us);
	}
}

static void profile_end(struct xperf_job *j)
{
	struct profile *p = j->own;
	if (p->util_us > 0) {
		print_grid(j, &p->grid, false);
	}
	if (p->detail) {
		xperf_sums_sort(&p->sums, 0);
		fprintf(j->out, "%23s, %10s, %10s, %30s\n", "Process Name ( PID)", "Weight", "Usage %",
			"Module Name!Function Name");
		for (size_t i = 0; i < p->sums.count; i++) {
			const struct xperf_sum *s = &p->sums.list[i];
			int cell = (int)strcspn(s->key, "\t");
			strbuf_clear(&j->key);
			xperf_quote(&j->key, s->key + cell + 1);
			fprintf(j->out, "%.*s, %10.0f, %10.2f, %30s\n", cell, s->key, s->v[0],
				100 * s->v[0] / whole_time(j), j->key.s ? j->key.s : "");
		}
	}
	if (p->freq) {
		double seconds = xperf_in_range(j, 0, j->length_us) / 1e6;
		fprintf(j->out, "Interval: %.1f usec\n%5s, %10s, %12s\n", p->interval_us, "CPU", "Samples",
			"Samples/s");
		for (uint32_t c = 0; c < j->cpus; c++) {
			fprintf(j->out, "%5u, %10.0f, %12.1f\n", c, p->samples[c],
				seconds > 0 ? p->samples[c] / seconds : 0);
		}
	}
}

static void profile_release(struct xperf_job *j)
{
	struct profile *p = j->own;
	xperf_sums_finish(&p->sums);
	xperf_grid_finish(&p->grid);
}

static const struct cli_option profile_options[] = {
	XPERF_INTERVAL(profile, util_us, 1, "util",
		       "how busy each processor was in intervals of this length (default 1)"),
	CLI_FLAG(profile, detail, 0, "detail", "samples by process and function"),
	CLI_FLAG(profile, freq, 0, "freq", "samples of each processor"),
	XPERF_RANGE,
	{0},
};

/* ---- cswitch ------------------------------------------------------------------------------------ */

/* What runs on each processor: a thread's time is from its switch in to its switch out; what was
 * before the first switch of a processor and is after its last one counts for nobody. */
struct running {
	double since;
	uint32_t tid;
	bool known;
	struct xperf_interrupts stolen;
};
struct cswitch {
	double avail_us, util_us;
	bool process, thread, exclude;
	struct xperf_sums by_process, by_thread;
	struct xperf_grid busy;
	struct running *cpu;
};

static bool cswitch_begin(struct xperf_job *j)
{
	struct cswitch *c = j->own;
	if (!c->process && !c->thread && c->util_us <= 0 && c->avail_us <= 0) {
		c->avail_us = 1e6;
	}
	if (c->avail_us > 0 && c->util_us > 0 && c->avail_us != c->util_us) {
		cli_usage(j->a, "-avail and -util take the same interval when both are asked for");
		return false;
	}
	double step = c->avail_us > 0 ? c->avail_us : c->util_us;
	c->cpu = calloc(j->cpus, sizeof *c->cpu);
	j->failed = !c->cpu;
	return c->cpu && (step <= 0 || xperf_grid_make(j, &c->busy, step, j->cpus));
}

static void ran(struct xperf_job *j, struct running *r)
{
	struct cswitch *c = j->own;
	double in_range = xperf_in_range(j, r->since, j->us);
	double stolen = c->exclude && in_range > 0 ? r->stolen.total : 0;
	if (in_range <= 0) {
		return;
	}
	in_range = in_range > stolen ? in_range - stolen : 0;
	strbuf_clear(&j->key);
	xperf_thread_process(j, r->tid, &j->key);
	struct xperf_sum *s = c->process && !j->key.failed ? xperf_sum(j, &c->by_process, j->key.s) : NULL;
	if (s) {
		s->v[0] += in_range;
		s->v[1]++;
	}
	strbuf_addf(&j->key, ", %10u", r->tid);
	s = c->thread && !j->key.failed ? xperf_sum(j, &c->by_thread, j->key.s) : NULL;
	if (s) {
		s->v[0] += in_range;
		s->v[1]++;
	}
	if (c->busy.cell && r->tid != 0) {
		xperf_grid_add(&c->busy, xperf_cpu(j), r->since, j->us - stolen);
	}
}

static void cswitch_event(struct xperf_job *j)
{
	struct cswitch *c = j->own;
	uint32_t cpu = xperf_cpu(j);
	if (cpu >= j->cpus) {
		return;
	}
	struct running *r = &c->cpu[cpu];
	if (strcmp(j->name, "Thread/CSwitch") != 0) {
		if (c->exclude) {
			double begun = xperf_begun_us(j);
			xperf_interrupts_add(&r->stolen, begun > r->since ? begun : r->since, j->us);
		}
		return;
	}
	if (r->known) {
		r->tid = (uint32_t)xperf_number(j, "OldThreadId");
		ran(j, r);
	}
	r->known = true;
	r->since = j->us;
	r->tid = (uint32_t)xperf_number(j, "NewThreadId");
	r->stolen = (struct xperf_interrupts){0};
}

static void print_times(struct xperf_job *j, struct xperf_sums *s, const char *heading)
{
	xperf_sums_sort(s, 0);
	fprintf(j->out, "%s\n", heading);
	for (size_t i = 0; i < s->count; i++) {
		fprintf(j->out, "%s, %14.0f, %10.2f, %10.0f\n", s->list[i].key, s->list[i].v[0],
			100 * s->list[i].v[0] / whole_time(j), s->list[i].v[1]);
	}
}

static void cswitch_end(struct xperf_job *j)
{
	struct cswitch *c = j->own;
	if (c->avail_us > 0) {
		fprintf(j->out, "CPU availability (%%)%s\n", c->exclude ? ", without DPCs and ISRs" : "");
		print_grid(j, &c->busy, true);
	}
	if (c->util_us > 0) {
		fprintf(j->out, "CPU utilization (%%)%s\n", c->exclude ? ", without DPCs and ISRs" : "");
		print_grid(j, &c->busy, false);
	}
	if (c->process) {
		print_times(j, &c->by_process, "    Process Name ( PID), CPU Usage (us),    Usage %,   Switches");
	}
	if (c->thread) {
		print_times(j, &c->by_thread,
			    "    Process Name ( PID),   ThreadID, CPU Usage (us),    Usage %,   Switches");
	}
}

static void cswitch_release(struct xperf_job *j)
{
	struct cswitch *c = j->own;
	xperf_sums_finish(&c->by_process);
	xperf_sums_finish(&c->by_thread);
	xperf_grid_finish(&c->busy);
	free(c->cpu);
}

static const struct cli_option cswitch_options[] = {
	XPERF_INTERVAL(cswitch, avail_us, 1, "avail",
		       "free time of each processor in intervals of this length (default)"),
	XPERF_INTERVAL(cswitch, util_us, 1, "util", "busy time of each processor in intervals of this length"),
	CLI_FLAG(cswitch, process, 0, "process", "time by process"),
	CLI_FLAG(cswitch, thread, 0, "thread", "time by thread"),
	CLI_FLAG(cswitch, exclude, 0, "exc_dpcisr", "without the time that DPCs and ISRs took"),
	XPERF_RANGE,
	{0},
};

/* ---- readythread ---------------------------------------------------------------------------------- */

struct ready {
	bool counts, list, stacks, headed;
	struct xperf_sums sums;
};

static bool ready_begin(struct xperf_job *j)
{
	struct ready *r = j->own;
	r->list = r->list || r->stacks;
	r->counts = r->counts || !r->list;
	return true;
}

static void ready_stack(struct xperf_job *j)
{
	struct openetw_stack k = {.size = sizeof k};
	if (openetw_state_stack(j->state, j->e, &k) != ERROR_SUCCESS) {
		return;
	}
	for (uint32_t i = 0; i < k.count; i++) {
		struct strbuf name = {0};
		strbuf_clear(&j->key);
		xperf_symbol_cell(&name, j->state, k.pid, k.addresses[i], j->time);
		xperf_quote(&j->key, name.s ? name.s : "");
		fprintf(j->out, "%23s, %10.0f, %10u, %3u, 0x%016llx, %s\n", "Stack", j->us, k.tid, i + 1,
			(unsigned long long)k.addresses[i], j->key.s ? j->key.s : "");
		strbuf_finish(&name);
	}
}

static void ready_event(struct xperf_job *j)
{
	struct ready *r = j->own;
	uint32_t tid = (uint32_t)xperf_number(j, "TThreadId");
	xperf_key_process(j);
	strbuf_addf(&j->key, ", %10d, ", (int)j->origin.tid);
	xperf_thread_process(j, tid, &j->key);
	if (r->list) {
		if (!r->headed) {
			r->headed = true;
			fprintf(j->out,
				"%23s, %10s,     Process Name ( PID),   ThreadID, Rdy Process Name ( PID),    Rdy TID, "
				"AdjustReason, AdjustIncrement, InDPC\n",
				"ReadyThread", "TimeStamp");
		}
		fprintf(j->out, "%23s, %10.0f, %s, %10u, %12llu, %15llu, %5s\n", "ReadyThread", j->us,
			j->key.s ? j->key.s : "", tid, (unsigned long long)xperf_number(j, "AdjustReason"),
			(unsigned long long)xperf_number(j, "AdjustIncrement"),
			xperf_number(j, "Flag") & 1 ? "TRUE" : "FALSE");
		if (r->stacks) {
			ready_stack(j);
		}
	}
	if (r->counts) {
		/* By processes: without the threads. */
		xperf_key_process(j);
		strbuf_adds(&j->key, ", ");
		xperf_thread_process(j, tid, &j->key);
		struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, &r->sums, j->key.s);
		if (s) {
			s->v[0]++;
			s->v[1] += xperf_number(j, "Flag") & 1;
		}
	}
}

static void ready_end(struct xperf_job *j)
{
	struct ready *r = j->own;
	if (!r->counts) {
		return;
	}
	xperf_sums_sort(&r->sums, 0);
	fprintf(j->out, "%23s, %23s, %10s, %10s\n", "Process Name ( PID)", "Rdy Process Name ( PID)", "Count",
		"In DPC");
	for (size_t i = 0; i < r->sums.count; i++) {
		const struct xperf_sum *s = &r->sums.list[i];
		fprintf(j->out, "%s, %10.0f, %10.0f\n", s->key, s->v[0], s->v[1]);
	}
}

static void ready_release(struct xperf_job *j)
{
	struct ready *r = j->own;
	xperf_sums_finish(&r->sums);
}

static const struct cli_option ready_options[] = {
	CLI_FLAG(ready, counts, 0, "counts", "how often one process made threads of another ready (default)"),
	CLI_FLAG(ready, list, 0, "list", "each of these events"),
	CLI_FLAG(ready, stacks, 0, "stacks", "each with its call stack"),
	XPERF_RANGE,
	{0},
};

/* ---- cpudisk -------------------------------------------------------------------------------------- */

#define SLOTS_MAX 4096
struct slot {
	double from, to;
	char *name;
	struct xperf_sums sums; /* 0 cpu, 1 reads, 2 bytes, 3 writes, 4 bytes, 5 service */
};
struct cpudisk {
	bool thread, exclude, times;
	struct cli_numbers pids;
	struct cli_words exes, marks;
	struct slot *slot;
	size_t slots, slot_cap;
	struct running *cpu;
	bool switches;
	double mark_at;
	char mark[200];
	double interval_us;
};

static bool add_slot(struct xperf_job *j, double from, double to, const char *a, const char *b)
{
	struct cpudisk *c = j->own;
	char name[440];
	snprintf(name, sizeof name, "%s - %s", a, b);
	if (c->slots == SLOTS_MAX || !(to > from)) {
		return true;
	}
	if (!VEC_ROOM(c->slot, c->slots, c->slot_cap)) {
		j->failed = true;
		return false;
	}
	c->slot[c->slots] = (struct slot){.from = from, .to = to, .name = strdup(name)};
	j->failed = j->failed || !c->slot[c->slots].name;
	c->slots++;
	return !j->failed;
}

static void on_mark(struct xperf_job *j, void *ctx)
{
	struct cpudisk *c = j->own;
	const char *text = xperf_text(j, "Message");
	bool take = c->marks.count == 0;
	for (int i = 0; i < c->marks.count; i++) {
		take = take || strcasecmp(c->marks.text[i], text) == 0;
	}
	if (!take) {
		return;
	}
	if (c->mark[0]) {
		add_slot(j, c->mark_at, j->us, c->mark, text);
	}
	c->mark_at = j->us;
	snprintf(c->mark, sizeof c->mark, "%s", *text ? text : "(mark)");
}

static bool take_slots(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	double before = 0, at;
	for (int i = 0; i < count; i++, before = at) {
		if (!xperf_take_time(a, o, value[i], &at) ||
		    (i > 0 && !add_slot(a->context, before, at, value[i - 1], value[i]))) {
			return false;
		}
	}
	return *(bool *)member = true;
}

static bool cpudisk_begin(struct xperf_job *j)
{
	struct cpudisk *c = j->own;
	bool none = c->marks.count == 1 && !c->marks.text[0][0];
	c->interval_us = 1000;
	c->cpu = calloc(j->cpus, sizeof *c->cpu);
	j->failed = !c->cpu;
	if (j->failed || (!c->times && !none && !xperf_pass(j, "PerfInfo/Mark", on_mark, NULL))) {
		return false;
	}
	return c->slots > 0 || add_slot(j, 0, j->length_us > 0 ? j->length_us : 1e18, "start", "end");
}

static bool wanted_process(struct xperf_job *j, uint32_t pid, const char *name)
{
	const struct cpudisk *c = j->own;
	for (int i = 0; name && i < c->exes.count; i++) {
		size_t n = strlen(c->exes.text[i]);
		if (strncasecmp(name, c->exes.text[i], n) == 0 && (name[n] == 0 || strcasecmp(name + n, ".exe") == 0)) {
			return true;
		}
	}
	return xperf_numbers_have(&c->pids, pid) || (c->pids.count == 0 && c->exes.count == 0);
}

static struct xperf_sum *slot_sum(struct xperf_job *j, struct slot *s)
{
	return j->key.failed || !j->key.s ? NULL : xperf_sum(j, &s->sums, j->key.s);
}

static void cpu_time(struct xperf_job *j, double from, double to, double stolen)
{
	struct cpudisk *c = j->own;
	for (size_t i = 0; i < c->slots; i++) {
		struct slot *s = &c->slot[i];
		double a = from > s->from ? from : s->from, b = to < s->to ? to : s->to;
		struct xperf_sum *t = b > a ? slot_sum(j, s) : NULL;
		if (t) {
			double part = (b - a) * (to > from ? 1 - stolen / (to - from) : 1);
			t->v[0] += part > 0 ? part : 0;
		}
	}
}

/* j->key becomes the row's name. False: not asked for. */
static bool row_of_thread(struct xperf_job *j, uint32_t tid)
{
	struct cpudisk *c = j->own;
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process p = {.size = sizeof p};
	bool known = tid != 0 && openetw_state_thread(j->state, tid, j->time, &t) == ERROR_SUCCESS;
	bool named = known && openetw_state_process(j->state, t.pid, j->time, &p) == ERROR_SUCCESS;
	if (!wanted_process(j, tid == 0 ? 0 : known ? t.pid : UINT32_MAX, named ? p.name : NULL)) {
		return false;
	}
	strbuf_clear(&j->key);
	xperf_thread_process(j, tid, &j->key);
	if (c->thread) {
		strbuf_addf(&j->key, ", %10u", tid);
	}
	return true;
}

static void cpudisk_event(struct xperf_job *j)
{
	struct cpudisk *c = j->own;
	uint32_t cpu = xperf_cpu(j);
	if (strcmp(j->name, "Thread/CSwitch") == 0 && cpu < j->cpus) {
		struct running *r = &c->cpu[cpu];
		c->switches = true;
		uint32_t old = (uint32_t)xperf_number(j, "OldThreadId");
		if (r->known && old != 0 && row_of_thread(j, old)) {
			cpu_time(j, r->since, j->us, c->exclude ? r->stolen.total : 0);
		}
		*r = (struct running){.known = true, .since = j->us};
	} else if (xperf_is_dpc(j->name) || xperf_is_isr(j->name)) {
		if (cpu < j->cpus) {
			double begun = xperf_begun_us(j);
			struct running *r = &c->cpu[cpu];
			xperf_interrupts_add(&r->stolen, begun > r->since ? begun : r->since, j->us);
		}
	} else if (strcmp(j->name, "PerfInfo/SampleProf") == 0) {
		/* Samples tell the time only where there are no switches. */
		if (!c->switches && j->origin.pid != 0 && wanted_process(j, j->origin.pid, j->origin.process)) {
			xperf_key_process(j);
			if (c->thread) {
				strbuf_addf(&j->key, ", %10u", j->origin.tid);
			}
			cpu_time(j, j->us - c->interval_us, j->us, 0);
		}
	} else if (strncmp(j->name, "PerfInfo/", 9) == 0) {
		uint64_t interval = xperf_number(j, "NewInterval");
		c->interval_us = interval && xperf_number(j, "Source") == 0 ? (double)interval / 10 : c->interval_us;
	} else if (wanted_process(j, j->origin.pid, j->origin.process)) {
		bool read = strcmp(j->name, "DiskIo/Read") == 0, flush = strcmp(j->name, "DiskIo/FlushBuffers") == 0;
		xperf_key_process(j);
		if (c->thread) {
			strbuf_addf(&j->key, ", %10u", j->origin.tid);
		}
		for (size_t i = 0; i < c->slots; i++) {
			struct slot *s = &c->slot[i];
			struct xperf_sum *t = j->us >= s->from && j->us < s->to ? slot_sum(j, s) : NULL;
			if (t && !flush) {
				t->v[read ? 1 : 3]++;
				t->v[read ? 2 : 4] += (double)xperf_number(j, "TransferSize");
			}
			if (t) {
				t->v[5] += xperf_ticks_us(j, xperf_number(j, "HighResResponseTime"));
			}
		}
	}
}

static void cpudisk_end(struct xperf_job *j)
{
	struct cpudisk *c = j->own;
	for (size_t i = 0; i < c->slots; i++) {
		struct slot *s = &c->slot[i];
		double length = s->to - s->from;
		xperf_sums_sort(&s->sums, 0);
		fputs(i ? "\n" : "", j->out);
		fprintf(j->out, "Interval from %.0f us to %.0f us (%s):\n", s->from, s->to, s->name);
		fprintf(j->out,
			"    Process Name ( PID), %sCPU Usage (us),  CPU Usage %%, Disk Reads,  Read Bytes, "
			"Disk Writes, Write Bytes, Disk Time (us)\n",
			c->thread ? "  ThreadID, " : "");
		for (size_t k = 0; k < s->sums.count; k++) {
			const struct xperf_sum *t = &s->sums.list[k];
			fprintf(j->out, "%s, %14.0f, %12.2f, %10.0f, %11.0f, %11.0f, %11.0f, %14.0f\n", t->key, t->v[0],
				length > 0 ? 100 * t->v[0] / (length * j->cpus) : 0, t->v[1], t->v[2], t->v[3], t->v[4],
				t->v[5]);
		}
	}
}

static void cpudisk_release(struct xperf_job *j)
{
	struct cpudisk *c = j->own;
	for (size_t i = 0; i < c->slots; i++) {
		xperf_sums_finish(&c->slot[i].sums);
		free(c->slot[i].name);
	}
	free(c->slot);
	free(c->cpu);
}

static const struct cli_option cpudisk_options[] = {
	CLI_FLAG(cpudisk, thread, 0, "thread", "by thread"),
	CLI_FLAG(cpudisk, exclude, 0, "exc_dpcisr", "without the time that DPCs and ISRs took"),
	XPERF_IDS(cpudisk, pids, "pids", "PID…", "only these processes"),
	CLI_WORDS(cpudisk, exes, 0, "exes", "NAME…", "only processes of these names"),
	CLI_WORDS(cpudisk, marks, 0, "marks", "[MARK…]",
		  "the intervals are between these marks (default: all); without one, marks do not count"),
	CLI_OWN_ALL(cpudisk, times, bool, take_slots, NULL, "times", "FROM TO…",
		    "the intervals are between these times"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_cpu_actions[] = {
	{.name = "profile",
	 .summary = "samples: how busy processors were, by process and function",
	 .options = profile_options,
	 .events = "PerfInfo/SampleProf PerfInfo/SampledProfileIntervalCollectionStart PerfInfo/SetInterval",
	 .source = "PROFILE",
	 .own = sizeof(struct profile),
	 .own_range = true,
	 .begin = profile_begin,
	 .event = profile_event,
	 .end = profile_end,
	 .release = profile_release},
	{.name = "cswitch",
	 .summary = "context switches: time by process and thread",
	 .options = cswitch_options,
	 .events = "Thread/CSwitch " XPERF_DPC_EVENTS,
	 .source = "CSWITCH",
	 .own = sizeof(struct cswitch),
	 .own_range = true,
	 .begin = cswitch_begin,
	 .event = cswitch_event,
	 .end = cswitch_end,
	 .release = cswitch_release},
	{.name = "readythread",
	 .summary = "who made whose threads ready",
	 .options = ready_options,
	 .events = "Thread/ReadyThread",
	 .source = "DISPATCHER",
	 .own = sizeof(struct ready),
	 .begin = ready_begin,
	 .event = ready_event,
	 .end = ready_end,
	 .release = ready_release,
	 .stacks = true},
	{.name = "cpudisk",
	 .summary = "processor time and disk accesses of processes, between marks or times",
	 .options = cpudisk_options,
	 .events = "Thread/CSwitch DiskIo/Read DiskIo/Write DiskIo/FlushBuffers PerfInfo/SampleProf "
		   "PerfInfo/SampledProfileIntervalCollectionStart " XPERF_DPC_EVENTS,
	 .source = "CSWITCH+DISK_IO",
	 .own = sizeof(struct cpudisk),
	 .own_range = true,
	 .begin = cpudisk_begin,
	 .event = cpudisk_event,
	 .end = cpudisk_end,
	 .release = cpudisk_release},
	{0},
};
