/* SPDX-License-Identifier: MIT
 * Reports about disks: diskio and diskidlehistogram.
 */
#include "tools/wpt/xperf_action.h"
#include "base/vec.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>

#define DISKS_MAX 256u
#define DEPTH_MAX 4096u /* requests that are compared with one another */

/* One access. The event comes at its end and says how long it took. */
struct access {
	double from, to, service;
	uint64_t bytes, offset, irp;
	uint32_t disk, flags;
	char type;            /* R, W, F */
	char *process, *file; /* shared: of `names` */
};
struct accesses {
	struct access *list;
	size_t count, cap;
	struct xperf_sums names; /* of processes and files, each once */
};

static char *name_of(struct xperf_job *j, struct accesses *a, const char *text)
{
	struct xperf_sum *s = xperf_sum(j, &a->names, text);
	return s ? s->key : NULL;
}

static void take(struct xperf_job *j, struct accesses *a)
{
	if (!VEC_ROOM(a->list, a->count, a->cap)) {
		j->failed = true;
		return;
	}
	double took = xperf_ticks_us(j, xperf_number(j, "HighResResponseTime"));
	xperf_key_process(j);
	struct access x = {.from = took < j->us ? j->us - took : 0,
			   .to = j->us,
			   .bytes = xperf_number(j, "TransferSize"),
			   .offset = xperf_number(j, "ByteOffset"),
			   .irp = xperf_number(j, "Irp"),
			   .disk = (uint32_t)xperf_number(j, "DiskNumber"),
			   .flags = (uint32_t)xperf_number(j, "IrpFlags"),
			   .type = strcmp(j->name, "DiskIo/Read") == 0    ? 'R'
				   : strcmp(j->name, "DiskIo/Write") == 0 ? 'W'
									  : 'F'};
	x.process = j->key.failed ? NULL : name_of(j, a, j->key.s);
	x.file = name_of(j, a, j->origin.file ? j->origin.file : "Unknown");
	if (!j->failed) {
		a->list[a->count++] = x;
	}
}

static int by_end(const void *pa, const void *pb)
{
	const struct access *a = pa, *b = pb;
	return a->to != b->to ? (a->to < b->to ? -1 : 1) : a->from < b->from ? -1 : a->from > b->from;
}

static int by_start(const void *pa, const void *pb)
{
	const struct access *a = pa, *b = pb;
	return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->to < b->to ? -1 : a->to > b->to;
}

/* A disk serves one request after the other: from the later of its start and the end of the one before. */
static void serve(struct accesses *a)
{
	double busy[DISKS_MAX] = {0};
	qsort(a->list, a->count, sizeof *a->list, by_end);
	for (size_t i = 0; i < a->count; i++) {
		struct access *x = &a->list[i];
		double *b = &busy[x->disk % DISKS_MAX];
		x->service = x->to - (x->from > *b ? x->from : *b);
		*b = x->to;
	}
}

static void finish(struct accesses *a)
{
	free(a->list);
	xperf_sums_finish(&a->names);
}

static const char *type_name(char type)
{
	return type == 'R' ? "Read" : type == 'W' ? "Write" : "Flush";
}

static uint32_t disk_count(const struct accesses *a)
{
	uint32_t n = 0;
	for (size_t i = 0; i < a->count; i++) {
		n = BASE_MAX(n, BASE_MIN(a->list[i].disk, DISKS_MAX - 1) + 1);
	}
	return n;
}

/* ---- diskio -------------------------------------------------------------------------------------- */

struct diskio {
	bool summary, counts, detail, overlap;
	double util_us;
	struct accesses a;
};

static bool diskio_begin(struct xperf_job *j)
{
	struct diskio *d = j->own;
	if (!d->summary && !d->counts && !d->detail && !d->overlap && d->util_us <= 0) {
		d->util_us = 1e6;
	}
	return true;
}

static void diskio_event(struct xperf_job *j)
{
	struct diskio *d = j->own;
	take(j, &d->a);
}

static void util(struct xperf_job *j, struct diskio *d)
{
	struct xperf_grid g[3] = {0};
	uint32_t disks = disk_count(&d->a);
	if (!xperf_grid_make(j, &g[0], d->util_us, disks) || !xperf_grid_make(j, &g[1], d->util_us, disks)) {
		xperf_grid_finish(&g[0]);
		return;
	}
	for (size_t i = 0; i < d->a.count; i++) {
		const struct access *x = &d->a.list[i];
		xperf_grid_add(&g[x->type == 'R' ? 0 : 1], x->disk, x->to - x->service, x->to);
	}
	fprintf(j->out, "Disk utilization (%%)\n%12s, %12s", "StartTime", "EndTime");
	for (uint32_t k = 0; k < disks; k++) {
		fprintf(j->out, ", Disk %3u Read,    Write,    Usage", k);
	}
	fputc('\n', j->out);
	for (size_t r = 0; r < g[0].rows; r++) {
		double from = g[0].from_us + (double)r * g[0].step_us;
		double to = from + g[0].step_us < g[0].to_us ? from + g[0].step_us : g[0].to_us;
		fprintf(j->out, "%12.0f, %12.0f", from, to);
		for (uint32_t k = 0; k < disks; k++) {
			double read = 100 * g[0].cell[r * disks + k] / (to - from);
			double write = 100 * g[1].cell[r * disks + k] / (to - from);
			fprintf(j->out, ", %13.2f, %8.2f, %8.2f", read, write, read + write);
		}
		fputc('\n', j->out);
	}
	xperf_grid_finish(&g[0]);
	xperf_grid_finish(&g[1]);
}

/* 0 count, 1 bytes, 2 service, then the same of reads and of writes, 9 time of all. */
static void sum_up(struct xperf_job *j, struct diskio *d, struct xperf_sums *sums, bool files)
{
	for (size_t i = 0; i < d->a.count; i++) {
		const struct access *x = &d->a.list[i];
		strbuf_clear(&j->key);
		if (files) {
			strbuf_addf(&j->key, "%4u, ", x->disk);
			xperf_quote(&j->key, x->file);
		} else {
			strbuf_addf(&j->key, "%s, %4u", x->process, x->disk);
		}
		struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, sums, j->key.s);
		for (int part = 0; s && part < 2; part++) {
			int at = part == 0 ? 0 : x->type == 'R' ? 3 : x->type == 'W' ? 6 : -1;
			if (at >= 0) {
				s->v[at]++;
				s->v[at + 1] += (double)x->bytes;
				s->v[at + 2] += x->service;
			}
		}
		if (s) {
			s->v[9] += x->to - x->from;
		}
	}
}

static void print_sums(struct xperf_job *j, struct diskio *d, bool files)
{
	struct xperf_sums sums = {0};
	sum_up(j, d, &sums, files);
	xperf_sums_sort(&sums, 2);
	fprintf(j->out,
		"%s   Count,       Size,       SrvT,  R Count,     R Size,     R SrvT,  W Count,     W Size,     W "
		"SrvT,     "
		"IOTime%s\n",
		files ? "" : "    Process Name ( PID), Disk, ", files ? ", Disk, File" : "");
	for (size_t i = 0; i < sums.count; i++) {
		const struct xperf_sum *s = &sums.list[i];
		if (!files) {
			fprintf(j->out, "%s, ", s->key);
		}
		for (int k = 0; k < 10; k++) {
			fprintf(j->out, k % 3 == 0 && k < 9 ? "%s%8.0f" : "%s%10.0f", k ? ", " : "", s->v[k]);
		}
		fprintf(j->out, "%s%s\n", files ? ", " : "", files ? s->key : "");
	}
	xperf_sums_finish(&sums);
}

/* Of the accesses to the same disk, which are in the order of their starts: */
struct depth {
	size_t init, done;                  /* under way at its start, at its end */
	size_t before_before, before_after; /* began before it; ended before it did, after it did */
	size_t after_before;                /* began after it and ended before it did */
};

static struct depth depth_of(const struct accesses *a, size_t i)
{
	const struct access *x = &a->list[i];
	struct depth d = {0};
	size_t seen = 0;
	for (size_t k = i; k-- > 0 && seen < DEPTH_MAX; seen++) {
		const struct access *y = &a->list[k];
		if (y->disk == x->disk && y->to > x->from) {
			d.init++;
			d.before_before += y->to <= x->to;
			d.before_after += y->to > x->to;
			d.done += y->to > x->to;
		}
	}
	seen = 0;
	for (size_t k = i + 1; k < a->count && a->list[k].from < x->to && seen < DEPTH_MAX; k++, seen++) {
		const struct access *y = &a->list[k];
		if (y->disk == x->disk) {
			d.after_before += y->to <= x->to;
			d.done += y->to > x->to;
		}
	}
	return d;
}

static void detail(struct xperf_job *j, struct diskio *d)
{
	/* Scripts take the eighth line for the heading. */
	fputs("\nQD/I - requests of the disk under way when this one began\n"
	      "QD/C - requests of the disk under way when it was done\n"
	      "IBCB - began before it, done before it\nIBCA - began before it, done after it\n"
	      "IACB - began after it, done before it\n\n",
	      j->out);
	fputs("     IO Type,  Start Time,    End Time,     IO Time,  Disk SrvT,    IO Size,       Byte Offset,    "
	      "IrpFlags, "
	      "QD/I, QD/C, IBCB, IBCA, IACB,     Process Name ( PID), Disk, Filename\n",
	      j->out);
	for (size_t i = 0; i < d->a.count; i++) {
		const struct access *x = &d->a.list[i];
		struct depth q = depth_of(&d->a, i);
		strbuf_clear(&j->key);
		xperf_quote(&j->key, x->file);
		fprintf(j->out,
			"%12s, %11.0f, %11.0f, %11.0f, %10.0f, %10llu, 0x%016llx, 0x%08x, %4zu, %4zu, %4zu, %4zu, "
			"%4zu, %s, %4u, "
			"%s\n",
			type_name(x->type), x->from, x->to, x->to - x->from, x->service, (unsigned long long)x->bytes,
			(unsigned long long)x->offset, x->flags, q.init, q.done, q.before_before, q.before_after,
			q.after_before, x->process, x->disk, j->key.s ? j->key.s : "");
	}
}

/* Each start (+) and end (-), with a line for what goes on meanwhile. */
static void overlap(struct xperf_job *j, struct diskio *d)
{
	enum { LANES = 64 };
	for (uint32_t disk = 0, n = disk_count(&d->a); disk < n; disk++) {
		size_t lane[LANES], used = 0, left = 0;
		bool headed = false;
		for (size_t i = 0; i <= d->a.count; i++) {
			const struct access *x = i < d->a.count ? &d->a.list[i] : NULL;
			if (x && x->disk != disk) {
				continue;
			}
			for (;;) { /* those that end before this one starts */
				size_t first = SIZE_MAX;
				for (size_t k = 0; k < used; k++) {
					const struct access *y = lane[k] == SIZE_MAX ? NULL : &d->a.list[lane[k]];
					if (y && (!x || y->to <= x->from) &&
					    (first == SIZE_MAX || y->to < d->a.list[lane[first]].to)) {
						first = k;
					}
				}
				if (first == SIZE_MAX) {
					break;
				}
				for (size_t k = 0; k < used; k++) {
					fputc(k == first ? '-' : lane[k] == SIZE_MAX ? ' ' : '|', j->out);
				}
				const struct access *y = &d->a.list[lane[first]];
				fprintf(j->out, "%*s, %11.0f, %6s, 0x%016llx\n", (int)(LANES - used), "", y->to,
					type_name(y->type), (unsigned long long)y->irp);
				lane[first] = SIZE_MAX;
				while (used > 0 && lane[used - 1] == SIZE_MAX) {
					used--;
				}
			}
			if (!x) {
				break;
			}
			size_t at = 0;
			while (at < used && lane[at] != SIZE_MAX) {
				at++;
			}
			if (at == LANES) {
				left++;
				continue;
			}
			used = BASE_MAX(used, at + 1);
			lane[at] = i;
			if (!headed) {
				headed = true;
				fprintf(j->out,
					"Disk %u\n%-*s,        Time,   Type,                Irp,   IrpFlags, IO Size, "
					"Process Name ( PID), Filename\n",
					disk, (int)LANES, "IO");
			}
			for (size_t k = 0; k < used; k++) {
				fputc(k == at ? '+' : lane[k] == SIZE_MAX ? ' ' : '|', j->out);
			}
			strbuf_clear(&j->key);
			xperf_quote(&j->key, x->file);
			fprintf(j->out, "%*s, %11.0f, %6s, 0x%016llx, 0x%08x, %llu, %s, %s\n", (int)(LANES - used), "",
				x->from, type_name(x->type), (unsigned long long)x->irp, x->flags,
				(unsigned long long)x->bytes, x->process, j->key.s ? j->key.s : "");
		}
		if (left) {
			fprintf(j->out, "%zu requests beyond %d at a time are not drawn\n", left, (int)LANES);
		}
	}
}

static void diskio_end(struct xperf_job *j)
{
	struct diskio *d = j->own;
	serve(&d->a);
	if (d->util_us > 0) {
		util(j, d);
	}
	if (d->summary) {
		print_sums(j, d, true);
	}
	if (d->counts) {
		print_sums(j, d, false);
	}
	qsort(d->a.list, d->a.count, sizeof *d->a.list, by_start);
	if (d->detail) {
		detail(j, d);
	}
	if (d->overlap) {
		overlap(j, d);
	}
}

static void diskio_release(struct xperf_job *j)
{
	struct diskio *d = j->own;
	finish(&d->a);
}

static const struct cli_option diskio_options[] = {
	XPERF_INTERVAL(diskio, util_us, 1, "util", "how busy each disk was in intervals of this length (default 1)"),
	CLI_FLAG(diskio, summary, 0, "summary", "by file"),
	CLI_FLAG(diskio, counts, 0, "counts", "by process"),
	CLI_FLAG(diskio, detail, 0, "detail", "each access"),
	CLI_FLAG(diskio, overlap, 0, "overlap", "each access drawn beside those that were under way"),
	XPERF_RANGE,
	{0},
};

/* ---- diskidlehistogram ------------------------------------------------------------------------------ */

#define BUCKETS_MAX BASE_ARRAY_LEN(((struct xperf_times *)0)->us)
#define ALL_DISKS   UINT64_MAX
struct idle_options {
	struct xperf_times buckets, timeouts;
	double threshold, down, up;
	uint64_t disk;
	struct cli_words files, parts;
	struct xperf_regexes patterns;
};
struct idle {
	struct idle_options o;
	struct accesses a;
};

static bool idle_begin(struct xperf_job *j)
{
	static const struct xperf_times buckets = {8, {1e6, 5e6, 60e6, 180e6, 600e6, 900e6, 1200e6, 1800e6}};
	static const struct xperf_times timeouts = {5, {5e6, 60e6, 180e6, 600e6, 1800e6}};
	struct idle *d = j->own;
	d->o.buckets = d->o.buckets.count ? d->o.buckets : buckets;
	d->o.timeouts = d->o.timeouts.count ? d->o.timeouts : timeouts;
	return true;
}

static void idle_event(struct xperf_job *j)
{
	struct idle *d = j->own;
	const struct idle_options *o = &d->o;
	const char *file = j->origin.file ? j->origin.file : "";
	bool out = o->patterns.count > 0 && xperf_regexes_match(&o->patterns, file);
	for (int i = 0; i < o->files.count; i++) {
		out = out || strcmp(o->files.text[i], file) == 0;
	}
	for (int i = 0; i < o->parts.count; i++) {
		out = out || strstr(file, o->parts.text[i]) != NULL;
	}
	if (!out && (o->disk == ALL_DISKS || o->disk == xperf_number(j, "DiskNumber"))) {
		take(j, &d->a);
	}
}

static void idle_disk(struct xperf_job *j, struct idle *d, uint32_t disk)
{
	const struct idle_options *o = &d->o;
	double time[BUCKETS_MAX + 1] = {0}, standby[BUCKETS_MAX] = {0}, all = 0;
	uint64_t count[BUCKETS_MAX + 1] = {0}, downs[BUCKETS_MAX] = {0}, periods = 0;
	double busy_until = j->ranged ? j->from_us : 0,
	       last = j->ranged && j->to_us < j->length_us ? j->to_us : j->length_us;
	for (size_t i = 0; i <= d->a.count; i++) {
		const struct access *x = i < d->a.count ? &d->a.list[i] : NULL;
		if (x && x->disk != disk) {
			continue;
		}
		double idle = (x ? x->from : last) - busy_until;
		if (idle > o->threshold && idle > 0) {
			int b = 0;
			while (b < o->buckets.count && idle > o->buckets.us[b]) {
				b++;
			}
			time[b] += idle;
			count[b]++;
			all += idle;
			periods++;
			for (int t = 0; t < o->timeouts.count; t++) {
				double down = idle - o->timeouts.us[t] - o->down - o->up;
				standby[t] += down > 0 ? down : 0;
				downs[t] += down > 0;
			}
		}
		busy_until = x && x->to > busy_until ? x->to : busy_until;
	}
	fprintf(j->out, "Disk %u\n%-28s", disk, "");
	for (int b = 0; b <= o->buckets.count; b++) {
		char cell[40];
		if (b < o->buckets.count) {
			snprintf(cell, sizeof cell, "[%g s, %g s]", b ? o->buckets.us[b - 1] / 1e6 : 0.0,
				 o->buckets.us[b] / 1e6);
		} else {
			snprintf(cell, sizeof cell, "[%g s, +inf]", b ? o->buckets.us[b - 1] / 1e6 : 0.0);
		}
		fprintf(j->out, ", %16s", cell);
	}
	fprintf(j->out, "\n%-28s", "Idle time (s)");
	for (int b = 0; b <= o->buckets.count; b++) {
		fprintf(j->out, ", %16.3f", time[b] / 1e6);
	}
	fprintf(j->out, "\n%-28s", "Percent of total idle time");
	for (int b = 0; b <= o->buckets.count; b++) {
		fprintf(j->out, ", %16.2f", all > 0 ? 100 * time[b] / all : 0);
	}
	fprintf(j->out, "\n%-28s", "Idle count");
	for (int b = 0; b <= o->buckets.count; b++) {
		fprintf(j->out, ", %16llu", (unsigned long long)count[b]);
	}
	fprintf(j->out, "\n%-28s", "Percent of total idle count");
	for (int b = 0; b <= o->buckets.count; b++) {
		fprintf(j->out, ", %16.2f", periods ? 100.0 * (double)count[b] / (double)periods : 0);
	}
	fprintf(j->out, "\n\n%-28s, %16s, %16s, %16s\n", "Idle timeout (s)", "Spin-downs", "Standby time (s)",
		"% of trace");
	for (int t = 0; t < o->timeouts.count; t++) {
		fprintf(j->out, "%-28g, %16llu, %16.3f, %16.2f\n", o->timeouts.us[t] / 1e6,
			(unsigned long long)downs[t], standby[t] / 1e6, last > 0 ? 100 * standby[t] / last : 0);
	}
	fputc('\n', j->out);
}

static void idle_end(struct xperf_job *j)
{
	struct idle *d = j->own;
	qsort(d->a.list, d->a.count, sizeof *d->a.list, by_start);
	for (uint32_t disk = 0, n = disk_count(&d->a); disk < n; disk++) {
		if (d->o.disk == ALL_DISKS || d->o.disk == disk) {
			idle_disk(j, d, disk);
		}
	}
}

static void idle_release(struct xperf_job *j)
{
	struct idle *d = j->own;
	finish(&d->a);
	xperf_regexes_finish(&d->o.patterns);
}

static const struct cli_option idle_options[] = {
	CLI_NUMBER(idle, o.disk, 0, "disknum", "N", 0, DISKS_MAX - 1, "only this disk"),
	XPERF_SPANS(idle, o.buckets, "buckets", "SECONDS…",
		    "the histogram's bounds (default 1 5 60 180 600 900 1200 1800)"),
	XPERF_SPANS(idle, o.timeouts, "idletimeout", "SECONDS…",
		    "after how long a disk would stop (default 5 60 180 600 1800)"),
	XPERF_SPAN(idle, o.threshold, "idlethreshold", "SECONDS", 1000000000, "shorter times do not count as idle"),
	XPERF_SPAN(idle, o.threshold, "idletheshold", "SECONDS", 1000000000, NULL),
	XPERF_SPAN(idle, o.down, "spindownOverhead", "[SECONDS]", 1000000000, "stopping takes that long"),
	XPERF_SPAN(idle, o.up, "spinupOverhead", "[SECONDS]", 1000000000, "starting again takes that long"),
	CLI_WORDS(idle, o.files, 0, "exc_file", "FILE…", "without accesses to these files"),
	CLI_WORDS(idle, o.parts, 0, "exc_filestr", "TEXT…", "without files whose path has this in it"),
	XPERF_REGEXES(idle, o.patterns, "exc_filere", "without files whose path this matches"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_disk_actions[] = {
	{.name = "diskio",
	 .summary = "disk accesses: utilization, by file, by process, each",
	 .options = diskio_options,
	 .events = "DiskIo/Read DiskIo/Write DiskIo/FlushBuffers",
	 .source = "DISK_IO+FILENAME",
	 .own = sizeof(struct diskio),
	 .begin = diskio_begin,
	 .event = diskio_event,
	 .end = diskio_end,
	 .release = diskio_release},
	{.name = "diskidlehistogram",
	 .summary = "for how long disks were idle",
	 .options = idle_options,
	 .events = "DiskIo/Read DiskIo/Write DiskIo/FlushBuffers",
	 .source = "DISK_IO",
	 .own = sizeof(struct idle),
	 XPERF_DEFAULTS(idle_options, .disk = ALL_DISKS),
	 .begin = idle_begin,
	 .event = idle_event,
	 .end = idle_end,
	 .release = idle_release},
	{0},
};
