/* SPDX-License-Identifier: MIT
 * The action boot: an XML report of how a machine came up, out of a trace that began early (xperf -boottrace):
 * which processes started when, what they cost, which files were read, and when the processor and the disk were busy.
 */
#include "tools/common/event_xml.h"
#include "base/vec.h"
#include "xml/xml.h"
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>
#include <strings.h>

struct run {
	uint32_t pid, parent;
	double from, to; /* to < 0: still there */
	double cpu;
	char *name, *command;
};
struct boot_options {
	double least_cpu, least_interval, most_files;
	const char *shell, *expected_file;
};
struct boot {
	struct boot_options o;
	struct strbuf expected;
	struct run *run;
	size_t runs, run_cap;
	struct xperf_sums now;   /* by process id: the last run of that id, + 1 (tag) */
	struct xperf_sums files; /* 0 reads, 1 bytes, 2 time, 3 writes, 4 bytes */
	struct xperf_sums dpc;   /* by kind: 0 count, 1 time */
	double cpu_since[4096], cpu_total, disk_total;
	bool cpu_known[4096];
	double shell_at;
};

static bool take_decimal(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || !(v >= 0)) {
		cli_usage(a, "-%s takes a number, not '%s'", o->name, value);
		return false;
	}
	*(double *)member = v;
	return true;
}

static bool begin(struct xperf_job *j)
{
	struct boot *b = j->own;
	b->shell_at = -1;
	if (b->o.expected_file) {
		int r = cli_file_read(b->o.expected_file, 1 << 20, &b->expected);
		if (r < 0) {
			cli_usage(j->a, "-expectedProcessesFile: cannot read %s: %s", b->o.expected_file, strerror(-r));
			return false;
		}
		strbuf_addc(&b->expected, 0);
	}
	return true;
}

static struct xperf_sum *run_of(struct xperf_job *j, uint32_t pid)
{
	struct boot *b = j->own;
	char key[16];
	snprintf(key, sizeof key, "%u", pid);
	return xperf_sum(j, &b->now, key);
}

static void process_event(struct xperf_job *j)
{
	struct boot *b = j->own;
	uint32_t pid = (uint32_t)xperf_number(j, "ProcessId");
	struct xperf_sum *last = run_of(j, pid);
	struct run *r = last && last->tag && b->run[last->tag - 1].to < 0 ? &b->run[last->tag - 1] : NULL;
	if (!last) {
		return;
	}
	if (strcmp(j->name, "Process/End") == 0 && r) {
		r->to = j->us;
		return;
	}
	if (r && strcmp(j->name, "Process/Start") != 0) {
		return;
	}
	if (!VEC_ROOM(b->run, b->runs, b->run_cap)) {
		j->failed = true;
		return;
	}
	r = &b->run[b->runs++];
	last->tag = b->runs;
	*r = (struct run){.pid = pid,
			  .parent = (uint32_t)xperf_number(j, "ParentId"),
			  .from = strcmp(j->name, "Process/Start") == 0 ? j->us : -1,
			  .to = strcmp(j->name, "Process/End") == 0 ? j->us : -1,
			  .name = strdup(xperf_text(j, "ImageFileName")),
			  .command = strdup(xperf_text(j, "CommandLine"))};
	j->failed = j->failed || !r->name || !r->command;
	if (r->name && b->shell_at < 0 && r->from >= 0 && strcasecmp(r->name, b->o.shell) == 0) {
		b->shell_at = r->from;
	}
}

static void event(struct xperf_job *j)
{
	struct boot *b = j->own;
	uint32_t cpu = xperf_cpu(j);
	if (strncmp(j->name, "Process/", 8) == 0) {
		process_event(j);
	} else if (strcmp(j->name, "Thread/CSwitch") == 0 && cpu < BASE_ARRAY_LEN(b->cpu_since)) {
		struct openetw_thread t = {.size = sizeof t};
		uint32_t old = (uint32_t)xperf_number(j, "OldThreadId");
		if (b->cpu_known[cpu] && old && openetw_state_thread(j->state, old, j->time, &t) == ERROR_SUCCESS) {
			struct xperf_sum *s = run_of(j, t.pid);
			if (s && s->tag) {
				b->run[s->tag - 1].cpu += j->us - b->cpu_since[cpu];
			}
			b->cpu_total += j->us - b->cpu_since[cpu];
		}
		b->cpu_known[cpu] = true;
		b->cpu_since[cpu] = j->us;
	} else if (strncmp(j->name, "DiskIo/", 7) == 0) {
		int at = strcmp(j->name, "DiskIo/Read") == 0 ? 0 : 3;
		struct xperf_sum *s = xperf_sum(j, &b->files, j->origin.file ? j->origin.file : "Unknown");
		double took = xperf_ticks_us(j, xperf_number(j, "HighResResponseTime"));
		if (s) {
			s->v[at]++;
			s->v[at + 1] += (double)xperf_number(j, "TransferSize");
			s->v[2] += took;
			b->disk_total += took;
		}
	} else if (xperf_is_dpc(j->name) || xperf_is_isr(j->name)) {
		struct xperf_sum *s = xperf_sum(j, &b->dpc, xperf_is_dpc(j->name) ? "dpc" : "isr");
		if (s) {
			s->v[0]++;
			s->v[1] += j->us - xperf_begun_us(j);
		}
	}
}

static void attribute(struct xperf_job *j, const char *name, const char *value)
{
	strbuf_clear(&j->key);
	xml_escape(&j->key, value, strlen(value));
	fprintf(j->out, " %s=\"%s\"", name, j->key.s ? j->key.s : "");
}

static bool expected(const struct boot *b, const char *name)
{
	for (const char *s = b->expected.s; s && *s;) {
		size_t n = strcspn(s, "\r\n");
		if (strlen(name) == n && strncasecmp(s, name, n) == 0) {
			return true;
		}
		s += n + (s[n] != 0);
	}
	return false;
}

static void end(struct xperf_job *j)
{
	struct boot *b = j->own;
	FILE *f = j->out;
	double whole = j->length_us * j->cpus;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<results>\n<boot>\n", f);
	fprintf(f, "<timing traceStart=\"0\" traceEnd=\"%.0f\" cpuTime=\"%.0f\" cpuPercent=\"%.2f\" diskTime=\"%.0f\"",
		j->length_us, b->cpu_total, whole > 0 ? 100 * b->cpu_total / whole : 0, b->disk_total);
	if (b->shell_at >= 0) {
		attribute(j, "userShell", b->o.shell);
		fprintf(f, " userShellStart=\"%.0f\"", b->shell_at);
	}
	fputs("/>\n<processes>\n", f);
	for (size_t i = 0; i < b->runs; i++) {
		const struct run *r = &b->run[i];
		double us = r->cpu, percent = b->cpu_total > 0 ? 100 * us / b->cpu_total : 0;
		double length = (r->to < 0 ? j->length_us : r->to) - (r->from < 0 ? 0 : r->from);
		if (percent < b->o.least_cpu || length < b->o.least_interval) {
			continue;
		}
		fputs("<process", f);
		attribute(j, "name", r->name);
		fprintf(f, " pid=\"%u\" parentPid=\"%u\"", r->pid, r->parent);
		if (r->from >= 0) {
			fprintf(f, " startTime=\"%.0f\"", r->from);
		}
		if (r->to >= 0) {
			fprintf(f, " endTime=\"%.0f\"", r->to);
		}
		fprintf(f, " cpuTime=\"%.0f\" cpuPercent=\"%.2f\"", us, percent);
		if (b->o.expected_file) {
			attribute(j, "expected", expected(b, r->name) ? "true" : "false");
		}
		attribute(j, "commandLine", r->command);
		fputs("/>\n", f);
	}
	fputs("</processes>\n<files>\n", f);
	xperf_sums_sort(&b->files, 2);
	for (size_t i = 0; i < b->files.count && (double)i < b->o.most_files; i++) {
		const struct xperf_sum *s = &b->files.list[i];
		fputs("<file", f);
		attribute(j, "name", s->key);
		fprintf(f, " reads=\"%.0f\" readBytes=\"%.0f\" writes=\"%.0f\" writeBytes=\"%.0f\" time=\"%.0f\"/>\n",
			s->v[0], s->v[1], s->v[3], s->v[4], s->v[2]);
	}
	fputs("</files>\n<interrupts>\n", f);
	xperf_sums_sort(&b->dpc, -1);
	for (size_t i = 0; i < b->dpc.count; i++) {
		const struct xperf_sum *s = &b->dpc.list[i];
		fprintf(f, "<%s count=\"%.0f\" time=\"%.0f\"/>\n", s->key, s->v[0], s->v[1]);
	}
	fputs("</interrupts>\n</boot>\n</results>\n", f);
}

static void release(struct xperf_job *j)
{
	struct boot *b = j->own;
	for (size_t i = 0; i < b->runs; i++) {
		free(b->run[i].name);
		free(b->run[i].command);
	}
	free(b->run);
	strbuf_finish(&b->expected);
	xperf_sums_finish(&b->now);
	xperf_sums_finish(&b->files);
	xperf_sums_finish(&b->dpc);
}

static const struct cli_option options[] = {
	{.name = "minCPUToShow",
	 .arg = "PERCENT",
	 .help = "only processes that took as much of the processors' time",
	 .take = take_decimal,
	 .offset = CLI_AT(boot, o.least_cpu, double)},
	{.name = "maxFilesToShow",
	 .arg = "N",
	 .help = "at most so many files (default 20)",
	 .take = take_decimal,
	 .offset = CLI_AT(boot, o.most_files, double)},
	CLI_WORD(boot, o.expected_file, 0, "expectedProcessesFile", "FILE",
		 "names of processes, one a line: others are told apart"),
	{.name = "minIntervalToShow",
	 .arg = "USEC",
	 .help = "only processes that were there so long (default 10)",
	 .take = take_decimal,
	 .offset = CLI_AT(boot, o.least_interval, double)},
	CLI_WORD(boot, o.shell, 0, "userShellExecutable", "NAME",
		 "the process whose start ends the boot (default explorer.exe)"),
	{0},
};

const struct xperf_action xperf_boot_actions[] = {
	{.name = "boot",
	 .summary = "how the machine came up (XML), of a trace from -boottrace",
	 .options = options,
	 .events = "Process/Start Process/End Process/DCStart Process/DCEnd Thread/CSwitch DiskIo/Read "
		   "DiskIo/Write " XPERF_DPC_EVENTS,
	 .source = "PROC_THREAD+LOADER+CSWITCH+DISK_IO",
	 .own = sizeof(struct boot),
	 XPERF_DEFAULTS(boot_options, .least_interval = 10, .most_files = 20, .shell = "explorer.exe"),
	 .begin = begin,
	 .event = event,
	 .end = end,
	 .release = release},
	{0},
};
