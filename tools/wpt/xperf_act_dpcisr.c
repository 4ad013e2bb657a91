/* SPDX-License-Identifier: MIT
 * The action dpcisr: what interrupts and deferred procedure calls cost, by module, in histograms and
 * in intervals. The layout is the one that public parsers of the report read.
 */
#include "base/vec.h"
#include "tools/wpt/xperf_action.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 32
#define LINE  "--------------------------\n"

struct module {
	double *cpu; /* µs by processor */
	uint64_t count, step[STEPS];
};
struct kind {
	struct xperf_sums names; /* tag: index into `module` */
	struct module *module;
	size_t modules, module_cap;
	uint64_t count, step[STEPS];
	struct xperf_grid interval, bucket;
};
struct dpcisr {
	bool dpc, isr, summary;
	double interval_us, bucket_us;
	struct kind kind[2]; /* DPCs, ISRs */
};

static bool begin(struct xperf_job *j)
{
	struct dpcisr *d = j->own;
	if (!d->dpc && !d->isr) {
		d->dpc = d->isr = true;
	}
	if (!d->summary && d->interval_us <= 0 && d->bucket_us <= 0) {
		d->summary = true;
		d->interval_us = 1e6;
		d->bucket_us = 2e6;
	}
	for (int i = 0; i < 2; i++) {
		if ((d->interval_us > 0 && !xperf_grid_make(j, &d->kind[i].interval, d->interval_us, j->cpus)) ||
		    (d->bucket_us > 0 && !xperf_grid_make(j, &d->kind[i].bucket, d->bucket_us, j->cpus))) {
			return false;
		}
	}
	return true;
}

static struct module *module_of(struct xperf_job *j, struct kind *k, const char *name)
{
	struct xperf_sum *s = xperf_sum(j, &k->names, name);
	if (!s) {
		return NULL;
	}
	if (s->tag == 0) {
		double *cpu = VEC_ROOM(k->module, k->modules, k->module_cap) ? calloc(j->cpus, sizeof *cpu) : NULL;
		if (!cpu) {
			j->failed = true;
			return NULL;
		}
		k->module[k->modules] = (struct module){.cpu = cpu};
		s->tag = ++k->modules;
	}
	return &k->module[s->tag - 1];
}

/* 0: up to 1 µs, 1: up to 2, 2: up to 4, … */
static unsigned step_of(double us)
{
	unsigned i = 0;
	while (i + 1 < STEPS && us > (double)(1ull << i)) {
		i++;
	}
	return i;
}

static void event(struct xperf_job *j)
{
	struct dpcisr *d = j->own;
	bool dpc = xperf_is_dpc(j->name);
	struct kind *k = &d->kind[dpc ? 0 : 1];
	double begun = xperf_begun_us(j), us = j->us - begun;
	uint32_t cpu = xperf_cpu(j);
	if (!(dpc ? d->dpc : d->isr) || cpu >= j->cpus) {
		return;
	}
	struct module *m = module_of(j, k, xperf_module(j, 4, xperf_number(j, "Routine")));
	if (m) {
		m->cpu[cpu] += us;
		m->count++;
		m->step[step_of(us)]++;
		k->count++;
		k->step[step_of(us)]++;
	}
	if (d->interval_us > 0) {
		xperf_grid_add(&k->interval, cpu, begun, j->us);
	}
	if (d->bucket_us > 0) {
		xperf_grid_add(&k->bucket, cpu, begun, j->us);
	}
}

static void histogram(FILE *f, const uint64_t *step, uint64_t count)
{
	for (unsigned i = 0; i < STEPS; i++) {
		if (step[i]) {
			fprintf(f, "Elapsed Time, > %8llu usecs AND <= %8llu usecs, %6llu, or %6.2f%%\n",
				i ? 1ull << (i - 1) : 0ull, 1ull << i, (unsigned long long)step[i],
				100.0 * (double)step[i] / (double)count);
		}
	}
	fprintf(f, "Total, %53llu\n\n", (unsigned long long)count);
}

/* "Unknown" stands in quotes, names do not. */
static const char *shown(const char *name)
{
	return strcmp(name, "Unknown") == 0 ? "\"Unknown\"" : name;
}

static void summary(struct xperf_job *j, struct kind *k)
{
	double from = j->ranged ? j->from_us : 0, to = j->ranged && j->to_us < j->length_us ? j->to_us : j->length_us;
	uint64_t all = 0;
	fprintf(j->out, "CPU Usage Summing By Module For the Whole Trace\n\nCPU Usage from %.0f us to %.0f us:\n\n",
		from, to);
	for (uint32_t c = 0; c < j->cpus; c++) {
		char cell[32];
		snprintf(cell, sizeof cell, "CPU %u Usage", c);
		fprintf(j->out, "%s%16s,", c ? " " : "", cell);
	}
	fputc('\n', j->out);
	for (uint32_t c = 0; c < j->cpus; c++) {
		fprintf(j->out, "%s%9s %6s,", c ? " " : "", "usec", "%");
	}
	fputs(" Module\n", j->out);
	xperf_sums_sort(&k->names, -1);
	for (size_t i = 0; i < k->names.count; i++) {
		const struct xperf_sum *s = &k->names.list[i];
		for (uint32_t c = 0; c < j->cpus; c++) {
			double us = k->module[s->tag - 1].cpu[c];
			fprintf(j->out, "%s%9.0f %6.2f,", c ? " " : "", us, to > from ? 100 * us / (to - from) : 0);
		}
		fprintf(j->out, " %s\n", shown(s->key));
	}
	fprintf(j->out, "\nTotal = %llu\n", (unsigned long long)k->count);
	histogram(j->out, k->step, k->count);
	for (size_t i = 0; i < k->names.count; i++) {
		const struct xperf_sum *s = &k->names.list[i];
		const struct module *m = &k->module[s->tag - 1];
		fprintf(j->out, "Total = %llu for module %s\n", (unsigned long long)m->count, shown(s->key));
		histogram(j->out, m->step, m->count);
		all += m->count;
	}
	fprintf(j->out, "All Module = %llu,  Total = %llu,   %s\n\n", (unsigned long long)all,
		(unsigned long long)k->count, all == k->count ? "EQUAL" : "NOT EQUAL");
}

static void intervals(struct xperf_job *j, const struct xperf_grid *g)
{
	fprintf(j->out, LINE "Usage From %.0f ms to %.0f ms, Summing In %g second intervals. Intervals=%zu\n\n",
		g->from_us / 1000, g->to_us / 1000, g->step_us / 1e6, g->rows);
	fprintf(j->out, "%23s", "");
	for (uint32_t c = 0; c < j->cpus; c++) {
		char cell[32];
		snprintf(cell, sizeof cell, "CPU %u Usage", c);
		fprintf(j->out, ", %16s ", cell);
	}
	fprintf(j->out, "\n%-23s", "Start (ms) End (ms)");
	for (uint32_t c = 0; c < j->cpus; c++) {
		fprintf(j->out, ", %9s %6s ", "(usec)", "%");
	}
	fputc('\n', j->out);
	for (size_t r = 0; r < g->rows; r++) {
		double from = g->from_us + (double)r * g->step_us, to = from + g->step_us;
		fprintf(j->out, "%10.0f-%-10.0f:", from / 1000, to / 1000);
		for (uint32_t c = 0; c < j->cpus; c++) {
			double us = g->cell[r * g->columns + c];
			fprintf(j->out, ", %9.0f %6.2f", us, 100 * us / g->step_us);
		}
		fputc('\n', j->out);
	}
	fputc('\n', j->out);
}

static void distribution(struct xperf_job *j, const struct dpcisr *d)
{
	static const int bound[] = {0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
	const struct xperf_grid *g[2] = {&d->kind[0].bucket, &d->kind[1].bucket};
	fprintf(j->out, "\nDistribution of number of %.0f ms intervals w.r.t. DPC/ISR usage:\n\n%16s",
		d->bucket_us / 1000, "");
	for (uint32_t c = 0; c < j->cpus; c++) {
		char cell[32];
		snprintf(cell, sizeof cell, "CPU %u", c);
		fprintf(j->out, ", %26s", cell);
	}
	fprintf(j->out, "\n%16s", "DPC/ISR Usage %");
	for (uint32_t c = 0; c < j->cpus; c++) {
		fprintf(j->out, ", %8s %8s %8s", "DPC", "ISR", "Combined");
	}
	fputc('\n', j->out);
	for (size_t b = 1; b < BASE_ARRAY_LEN(bound); b++) {
		uint64_t any = 0;
		for (int print = 0; print < 2; print++) {
			if (print && any == 0) {
				break;
			}
			if (print) {
				fprintf(j->out, "%s%3d AND <= %3d", b == 1 ? ">=" : "> ", bound[b - 1], bound[b]);
			}
			for (uint32_t c = 0; c < j->cpus; c++) {
				for (int what = 0; what < 3; what++) {
					uint64_t n = 0;
					for (size_t r = 0; r < g[0]->rows; r++) {
						double us = (what != 1 ? g[0]->cell[r * g[0]->columns + c] : 0) +
							    (what != 0 ? g[1]->cell[r * g[1]->columns + c] : 0);
						double part = 100 * us / d->bucket_us;
						part = part > 100 ? 100 : part;
						n += (b == 1 ? part >= 0 : part > bound[b - 1]) && part <= bound[b];
					}
					any += n;
					if (print) {
						fprintf(j->out, ", %8llu", (unsigned long long)n);
					}
				}
			}
			if (print) {
				fputc('\n', j->out);
			}
		}
	}
	fprintf(j->out, "---\n%-16s", "Total:");
	for (uint32_t c = 0; c < 3 * j->cpus; c++) {
		fprintf(j->out, ", %8zu", g[0]->rows);
	}
	fputc('\n', j->out);
}

static void end(struct xperf_job *j)
{
	struct dpcisr *d = j->own;
	static const char *const titles[] = {"DPC Info", "Interrupt Info"};
	for (int i = 0; i < 2; i++) {
		if (!(i == 0 ? d->dpc : d->isr) || (!d->summary && d->interval_us <= 0)) {
			continue;
		}
		fprintf(j->out, LINE "%s\n\n" LINE, titles[i]);
		if (d->summary) {
			summary(j, &d->kind[i]);
		}
		if (d->interval_us > 0) {
			intervals(j, &d->kind[i].interval);
		}
	}
	if (d->bucket_us > 0) {
		distribution(j, d);
	}
}

static void release(struct xperf_job *j)
{
	struct dpcisr *d = j->own;
	for (int i = 0; i < 2; i++) {
		for (size_t m = 0; m < d->kind[i].modules; m++) {
			free(d->kind[i].module[m].cpu);
		}
		free(d->kind[i].module);
		xperf_sums_finish(&d->kind[i].names);
		xperf_grid_finish(&d->kind[i].interval);
		xperf_grid_finish(&d->kind[i].bucket);
	}
}

static const struct cli_option options[] = {
	CLI_FLAG(dpcisr, dpc, 0, "dpc", "deferred procedure calls only"),
	CLI_FLAG(dpcisr, isr, 0, "isr", "interrupts only"),
	CLI_FLAG(dpcisr, summary, 0, "summary", "by module, with histograms of how long they took"),
	XPERF_INTERVAL(dpcisr, interval_us, 1, "interval", "how much of each interval they took (default 1)"),
	XPERF_INTERVAL(dpcisr, bucket_us, 2, "bucket",
		       "how many intervals of this length they took how much of (default 2)"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_dpcisr_actions[] = {
	{.name = "dpcisr",
	 .summary = "interrupts and deferred procedure calls, by module and in intervals",
	 .options = options,
	 .events = XPERF_DPC_EVENTS,
	 .source = "DPC+INTERRUPT",
	 .own = sizeof(struct dpcisr),
	 .begin = begin,
	 .event = event,
	 .end = end,
	 .release = release},
	{0},
};
