/* SPDX-License-Identifier: MIT
 * Actions about things that only Windows has. Of a trace from there they list the events, or what these took; a trace
 * of this system has none, which is said. And names that are refused, with the reason.
 */
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>
#include <strings.h>

/* ---- lists of the events of a provider -------------------------------------------------------------- */

/* Whose events: a provider's name with, behind a /, a part of the event's name. */
static const struct {
	const char *action, *provider, *part;
} lists[] = {
	{"focuschange", "Microsoft-Windows-Win32k", "Focus"},
	{"pnp", "Microsoft-Windows-Kernel-PnP", ""},
	{"services", "Microsoft-Windows-Services", ""},
	{"winlogon", "Microsoft-Windows-Winlogon", ""},
	{"bootprefetch", "Microsoft-Windows-ReadyBoost", ""},
	{"prefetch", "Microsoft-Windows-Kernel-Prefetch", ""},
	{"prefetch", "Microsoft-Windows-Superfetch", ""},
	{"suspend", "Microsoft-Windows-Kernel-Power", ""},
	{"shutdown", "Microsoft-Windows-Kernel-General", "Shutdown"},
	{"perfctrs", "MSNT_SystemTrace", "Process/PerfCtr"},
};

static bool put_field(void *ctx, const struct openetw_field *f)
{
	struct strbuf *b = ctx;
	strbuf_addf(b, ", %.*s=", (int)f->name_length, f->name);
	char text[512];
	snprintf(text, sizeof text, "%.*s", (int)BASE_MIN(f->text_length, sizeof text - 1), f->text);
	xperf_quote(b, text);
	return true;
}

static void list_event(struct xperf_job *j)
{
	bool *headed = j->own;
	const char *provider, *event;
	openetw_event_names(j->decoder, j->e, &provider, &event);
	bool wanted = false;
	for (size_t i = 0; i < BASE_ARRAY_LEN(lists); i++) {
		wanted = wanted || (strcmp(lists[i].action, j->action->name) == 0 &&
				    strcmp(lists[i].provider, provider) == 0 && strstr(event, lists[i].part) != NULL);
	}
	if (!wanted) {
		j->taken--;
		return;
	}
	if (!*headed) {
		*headed = true;
		fprintf(j->out, "%10s, %23s,   ThreadID, Event, Fields\n", "TimeStamp", "Process Name ( PID)");
	}
	fprintf(j->out, "%10.0f, ", j->us);
	xperf_key_process(j);
	strbuf_addf(&j->key, ", %10d, %s/%s", (int)j->origin.tid, provider, event);
	openetw_decode_fields(j->decoder, j->e, put_field, &j->key);
	fprintf(j->out, "%s\n", j->key.s ? j->key.s : "");
}

static void list_end(struct xperf_job *j)
{
	(void)j;
}

/* Options that these have are taken, so that scripts' lines work. */
static const struct cli_option list_options[] = {
	CLI_ACCEPTED(0, "summary", NULL, "accepted"),
	CLI_ACCEPTED(0, "events", NULL, "accepted"),
	CLI_ACCEPTED(0, "xml", NULL, NULL),
	CLI_ACCEPTED(0, "timeunit", "UNIT [PRECISION]", NULL),
	CLI_ACCEPTED(0, "timeout", "UNIT [PRECISION]", NULL),
	CLI_ACCEPTED(0, "min", "DURATION", NULL),
	CLI_ACCEPTED(0, "minCPUToShow", "PERCENT", NULL),
	CLI_ACCEPTED(0, "maxFilesToShow", "N", NULL),
	CLI_ACCEPTED(0, "poiThreshold_ContainerInit", "TIME", NULL),
	CLI_ACCEPTED(0, "poiThreshold_ImageLoad", "TIME", NULL),
	CLI_ACCEPTED(0, "poiThreshold_ServiceInit", "TIME", NULL),
	XPERF_RANGE,
	{0},
};

/* ---- registry ------------------------------------------------------------------------------------------ */

struct registry {
	bool tree, unknown;
	double counts_us;
	struct xperf_sums sums, keys; /* 0 count, 1 time */
	uint64_t nameless;
};

static void registry_event(struct xperf_job *j)
{
	struct registry *r = j->own;
	const char *key = xperf_text(j, "KeyName"), *operation = strchr(j->name, '/') + 1;
	double took = j->us - xperf_begun_us(j);
	if (!*key) {
		r->nameless++;
		if (!r->unknown) {
			return;
		}
		key = "Unknown";
	}
	if (r->tree) {
		struct xperf_sum *k = xperf_sum(j, &r->keys, key);
		if (k) {
			k->v[0]++;
			k->v[1] += took;
		}
	}
	strbuf_clear(&j->key);
	if (r->counts_us > 0) {
		strbuf_addf(&j->key, "%12.0f, ", r->counts_us * (double)(uint64_t)(j->us / r->counts_us));
	}
	xperf_process_cell(&j->key, j->origin.process, j->origin.pid);
	strbuf_addf(&j->key, ", %s", operation);
	struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, &r->sums, j->key.s);
	if (s) {
		s->v[0]++;
		s->v[1] += took;
	}
}

static void registry_end(struct xperf_job *j)
{
	struct registry *r = j->own;
	xperf_sums_sort(&r->sums, r->counts_us > 0 ? -1 : 0);
	fprintf(j->out, "%s    Process Name ( PID), Operation, Count, Time (us)\n",
		r->counts_us > 0 ? "   StartTime, " : "");
	for (size_t i = 0; i < r->sums.count; i++) {
		fprintf(j->out, "%s, %.0f, %.0f\n", r->sums.list[i].key, r->sums.list[i].v[0], r->sums.list[i].v[1]);
	}
	xperf_sums_sort(&r->keys, -1);
	for (size_t i = 0; i < r->keys.count; i++) {
		size_t depth = 0;
		const char *key = r->keys.list[i].key, *last = key;
		for (const char *c = key; *c; c++) {
			if (*c == '\\' && c[1]) {
				depth++;
				last = c + 1;
			}
		}
		fputs(i ? "" : "\n   Count,  Time (us), Key\n", j->out);
		fprintf(j->out, "%8.0f, %10.0f, %*s%s\n", r->keys.list[i].v[0], r->keys.list[i].v[1],
			(int)(2 * BASE_MIN(depth, (size_t)64)), "", depth ? last : key);
	}
	if (r->nameless && !r->unknown) {
		fprintf(j->out, "%llu operations on keys whose name is not known are left out (-unknown)\n",
			(unsigned long long)r->nameless);
	}
}

static void registry_release(struct xperf_job *j)
{
	struct registry *r = j->own;
	xperf_sums_finish(&r->sums);
	xperf_sums_finish(&r->keys);
}

static const struct cli_option registry_options[] = {
	XPERF_INTERVAL(registry, counts_us, 1, "counts", "in intervals of this length (default 1)"),
	CLI_FLAG(registry, tree, 0, "tree", "the keys too"),
	CLI_FLAG(registry, unknown, 0, "unknown", "keys without a name too"),
	XPERF_RANGE,
	{0},
};

/* ---- drvdelay: calls of drivers that took long -------------------------------------------------------- */

#define CALLS_MAX 16384u

struct call {
	uint64_t irp, routine;
	uint32_t match;
	double from;
};
struct drvdelay {
	double least;
	const char *name;
	bool headed;
	struct call *call; /* by number */
};

static bool drv_begin(struct xperf_job *j)
{
	struct drvdelay *d = j->own;
	d->call = calloc(CALLS_MAX, sizeof *d->call);
	j->failed = !d->call;
	return !j->failed;
}

static void drv_event(struct xperf_job *j)
{
	struct drvdelay *d = j->own;
	uint32_t match = (uint32_t)xperf_number(j, "UniqMatchId");
	struct call *c = &d->call[match % CALLS_MAX];
	if (strcmp(j->name, "DiskIo/DrvMjFnCall") == 0) {
		*c = (struct call){xperf_number(j, "Irp"), xperf_number(j, "RoutineAddr"), match, j->us};
		return;
	}
	if (c->irp == 0 || c->match != match) {
		return;
	}
	const char *module = xperf_module(j, 4, c->routine);
	double took = j->us - c->from;
	if (took >= d->least && (!d->name || strcasecmp(d->name, module) == 0)) {
		if (!d->headed) {
			d->headed = true;
			fprintf(j->out, "%12s, %12s, %12s, %18s, Driver\n", "Start Time", "End Time", "Delay (us)",
				"Irp");
		}
		fprintf(j->out, "%12.0f, %12.0f, %12.0f, 0x%016llx, %s\n", c->from, j->us, took,
			(unsigned long long)c->irp, module);
	}
	c->irp = 0;
}

static void drv_release(struct xperf_job *j)
{
	struct drvdelay *d = j->own;
	free(d->call);
}

static const struct cli_option drv_options[] = {
	XPERF_SPAN(drvdelay, least, "min", "[TIME]", 1000, "only longer ones, in microseconds"),
	CLI_WORD(drvdelay, name, 0, "name", "DRIVER", "only of this driver"),
	XPERF_RANGE,
	{0},
};

/* ---- spinlock ------------------------------------------------------------------------------------------- */

struct spinlock {
	uint64_t most;          /* 0: all */
	struct xperf_sums sums; /* 0 count, 1 spins, 2 cycles waited, 3 time held */
};

static void spin_event(struct xperf_job *j)
{
	struct spinlock *s = j->own;
	strbuf_clear(&j->key);
	xperf_symbol_cell(&j->key, j->state, 4, xperf_number(j, "CallerAddress"), j->time);
	struct xperf_sum *t = j->key.failed ? NULL : xperf_sum(j, &s->sums, j->key.s);
	uint64_t from = xperf_number(j, "AcquireTime"), to = xperf_number(j, "ReleaseTime");
	if (t) {
		t->v[0]++;
		t->v[1] += (double)xperf_number(j, "SpinCount");
		t->v[2] += (double)xperf_number(j, "WaitTimeInCycles");
		t->v[3] += to > from ? xperf_ticks_us(j, to - from) : 0;
	}
}

static void spin_end(struct xperf_job *j)
{
	struct spinlock *s = j->own;
	xperf_sums_sort(&s->sums, 1);
	fprintf(j->out, "Count\tSpins\tWait (cycles)\tHeld (us)\tCaller\n");
	for (size_t i = 0; i < s->sums.count && (s->most == 0 || i < s->most); i++) {
		const double *v = s->sums.list[i].v;
		fprintf(j->out, "%.0f\t%.0f\t%.0f\t%.0f\t%s\n", v[0], v[1], v[2], v[3], s->sums.list[i].key);
	}
}

static void spin_release(struct xperf_job *j)
{
	struct spinlock *s = j->own;
	xperf_sums_finish(&s->sums);
}

static const struct cli_option spin_options[] = {
	CLI_ACCEPTED(0, "summary", NULL, "accepted"),
	CLI_NUMBER_OR(spinlock, most, 0, "count", "[N]", 0, 1, UINT32_MAX, "at most so many rows"),
	CLI_NUMBER_OR(spinlock, most, 0, "counts", "[N]", 0, 1, UINT32_MAX, NULL),
	XPERF_RANGE,
	{0},
};

#define LIST(NAME, TEXT)                                                                                          \
	{                                                                                                         \
		.name = NAME, .summary = TEXT, .options = list_options, .own = sizeof(bool), .event = list_event, \
		.end = list_end                                                                                   \
	}
#define REFUSED(NAME, WHY)                   \
	{                                    \
		.name = NAME, .refused = WHY \
	}

const struct xperf_action xperf_list_actions[] = {
	{.name = "registry",
	 .summary = "operations on Windows' registry",
	 .options = registry_options,
	 .events =
		 "Registry/Create Registry/Open Registry/Delete Registry/Query Registry/SetValue Registry/DeleteValue "
		 "Registry/QueryValue Registry/EnumerateKey Registry/EnumerateValueKey Registry/QueryMultipleValue "
		 "Registry/SetInformation Registry/Flush Registry/Close Registry/SetSecurity Registry/QuerySecurity",
	 .own = sizeof(struct registry),
	 .event = registry_event,
	 .end = registry_end,
	 .release = registry_release},
	{.name = "drvdelay",
	 .summary = "calls of Windows' drivers that took long",
	 .options = drv_options,
	 .events = "DiskIo/DrvMjFnCall DiskIo/DrvMjFnRet",
	 .own = sizeof(struct drvdelay),
	 .begin = drv_begin,
	 .event = drv_event,
	 .end = list_end,
	 .release = drv_release},
	{.name = "spinlock",
	 .summary = "spin locks of Windows' kernel",
	 .options = spin_options,
	 .events = "Thread/SpinLock",
	 .own = sizeof(struct spinlock),
	 .event = spin_event,
	 .end = spin_end,
	 .release = spin_release},
	LIST("focuschange", "which of Windows' windows had the focus"),
	LIST("pnp", "Windows' Plug and Play events"),
	LIST("services", "events of Windows' services"),
	LIST("winlogon", "events of Windows' logon"),
	LIST("bootprefetch", "ReadyBoot events of Windows"),
	LIST("prefetch", "prefetch events of Windows"),
	LIST("suspend", "power events of Windows"),
	LIST("shutdown", "shutdown events of Windows"),
	{.name = "perfctrs",
	 .summary = "counters of processes when they ended",
	 .options = list_options,
	 .source = "PERF_COUNTER",
	 .own = sizeof(bool),
	 .event = list_event,
	 .end = list_end},
	REFUSED("activityintervals", "activities are shown by 'openetw dump --filter \"activity == …\"'"),
	REFUSED("minifilter", "this system has no filter drivers"),
	REFUSED("minifilterdelay", "this system has no filter drivers"),
	REFUSED("screenshots", "traces of this system have no pictures"),
	{0},
};
