/* SPDX-License-Identifier: MIT
 * Reports about the trace itself: tracestats and marks.
 */
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>
#include <time.h>

/* ---- tracestats ------------------------------------------------------------------------------------ */

struct part {
	bool given, more; /* more: with its word */
};
struct tracestats {
	struct part timespan, detail; /* "actual", "stack" */
	enum { LOCAL, UTC } zone;
	struct xperf_sums providers, kinds; /* 0 events, 1 bytes, 2 stacks */
	uint64_t events, own;
	double first, last;
};

static bool take_part(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(struct part *)member = (struct part){.given = true, .more = *value != 0};
	return true;
}

static bool stats_begin(struct xperf_job *j)
{
	struct tracestats *t = j->own;
	t->first = -1;
	return true;
}

static void stats_event(struct xperf_job *j)
{
	struct tracestats *t = j->own;
	const EVENT_HEADER *h = &j->e->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	const char *provider, *event;
	char guid[37];
	if (cli_is_header(j->e)) {
		t->own++;
	} else {
		t->events++;
		t->first = t->first < 0 ? j->us : t->first;
		t->last = j->us;
	}
	if (!t->detail.given) {
		return;
	}
	openetw_event_names(j->decoder, j->e, &provider, &event);
	cli_guid_text(&h->ProviderId, guid);
	strbuf_clear(&j->key);
	strbuf_addf(&j->key, "{%s}\t%s", guid, provider);
	struct xperf_sum *p = j->key.failed ? NULL : xperf_sum(j, &t->providers, j->key.s);
	strbuf_clear(&j->key);
	openetw_event_names(j->decoder, j->e, &provider, &event);
	strbuf_addf(&j->key, "{%s}\t%5u, %3u, %3u, %3u, %4u, %5u, %s", guid, d->Id, d->Version, d->Channel, d->Level,
		    d->Opcode, d->Task, event);
	struct xperf_sum *k = j->key.failed ? NULL : xperf_sum(j, &t->kinds, j->key.s);
	struct openetw_stack s = {.size = sizeof s};
	bool stack = t->detail.more && openetw_state_stack(j->state, j->e, &s) == ERROR_SUCCESS;
	for (int i = 0; i < 2; i++) {
		struct xperf_sum *x = i ? k : p;
		if (x) {
			x->v[0]++;
			x->v[1] += j->e->UserDataLength;
			x->v[2] += stack;
		}
	}
}

static void put_time(FILE *f, const char *label, uint64_t filetime, bool utc)
{
	struct tm t;
	time_t s = (time_t)(filetime / 10000000) - 11644473600;
	if (utc) {
		gmtime_r(&s, &t);
	} else {
		localtime_r(&s, &t);
	}
	fprintf(f, "%-20s : %04d/%02d/%02d:%02d:%02d:%02d.%07u%s\n", label, t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
		t.tm_hour, t.tm_min, t.tm_sec, (unsigned)(filetime % 10000000), utc ? "+UTC" : "");
}

static void put_span(FILE *f, double us)
{
	uint64_t ticks = us > 0 ? (uint64_t)(us * 10 + 0.5) : 0, s = ticks / 10000000;
	fprintf(f, "%-20s : + %llu:%02u:%02u:%02u.%07u\n", "Duration", (unsigned long long)(s / 86400),
		(unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60), (unsigned)(s % 60), (unsigned)(ticks % 10000000));
}

static void put_kinds(struct xperf_job *j)
{
	struct tracestats *t = j->own;
	xperf_sums_sort(&t->providers, 0);
	xperf_sums_sort(&t->kinds, -1);
	fprintf(j->out, "\n%-38s %14s %14s  %s\n", "ProviderGUID", "TotalCount", "TotalBytes", "Provider");
	for (size_t i = 0; i < t->providers.count; i++) {
		const struct xperf_sum *p = &t->providers.list[i];
		fprintf(j->out, "%.38s %14.0f %14.0f  %s\n", p->key, p->v[0], p->v[1], p->key + 39);
	}
	for (size_t i = 0; i < t->providers.count; i++) {
		const struct xperf_sum *p = &t->providers.list[i];
		fprintf(j->out, "\n%s %.38s\n   Id, Ver, Chn, Lvl, Opcd,  Task,      Count,        Bytes,%s Event\n",
			p->key + 39, p->key, t->detail.more ? "     Stacks," : "");
		/* The kinds are sorted by name, which begins with the provider's GUID. */
		size_t low = 0, high = t->kinds.count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (strncmp(t->kinds.list[middle].key, p->key, 38) < 0) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		for (; low < t->kinds.count && strncmp(t->kinds.list[low].key, p->key, 38) == 0; low++) {
			const struct xperf_sum *k = &t->kinds.list[low];
			const char *text = k->key + 39, *name = text;
			for (int n = 0; n < 6; n++) {
				name = strchr(name, ',') + 1;
			}
			fprintf(j->out, "%.*s %10.0f, %12.0f,", (int)(name - text), text, k->v[0], k->v[1]);
			if (t->detail.more) {
				fprintf(j->out, " %11.0f,", k->v[2]);
			}
			fprintf(j->out, "%s\n", name);
		}
	}
}

static void stats_end(struct xperf_job *j)
{
	struct tracestats *t = j->own;
	const TRACE_LOGFILE_HEADER *h = j->header;
	FILE *f = j->out;
	for (int i = 0; i < j->count; i++) {
		fprintf(f, "%-20s : %s\n", i ? "" : "Trace File", j->files[i]);
	}
	fprintf(f, "%-20s : %u.%u\n", "OS Version", h->VersionDetail.MajorVersion, h->VersionDetail.MinorVersion);
	fprintf(f, "%-20s : %u\n", "OS Build Number", h->ProviderVersion);
	fprintf(f, "%-20s : %u\n", "Number of Processors", j->cpus);
	fprintf(f, "%-20s : %u MHz\n", "Processor Speed", h->CpuSpeedInMHz);
	fprintf(f, "%-20s : %u\n", "Pointer Size", h->PointerSize);
	fprintf(f, "%-20s : %lld\n", "Clock Frequency", (long long)h->PerfFreq.QuadPart);
	put_time(f, "Trace Start", j->start, t->zone == UTC);
	put_time(f, "Trace End", j->start + (uint64_t)(j->length_us * 10), t->zone == UTC);
	put_span(f, j->length_us);
	if (t->timespan.more && t->first >= 0) {
		put_time(f, "First Event", j->start + (uint64_t)(t->first * 10), t->zone == UTC);
		put_time(f, "Last Event", j->start + (uint64_t)(t->last * 10), t->zone == UTC);
		put_span(f, t->last - t->first);
	}
	fprintf(f, "%-20s : %llu\n", "Total # Buffers", (unsigned long long)j->trace->buffers_total);
	fprintf(f, "%-20s : %llu\n", "Total # Lost Buffers", (unsigned long long)j->trace->lost_buffers);
	fprintf(f, "%-20s : %llu\n", "Total # Events", (unsigned long long)t->events);
	fprintf(f, "%-20s : %llu\n", "Total # Headers", (unsigned long long)t->own);
	fprintf(f, "%-20s : %llu\n", "Total # Lost Events", (unsigned long long)j->trace->lost_events);
	if (t->detail.given) {
		put_kinds(j);
	}
}

static void stats_release(struct xperf_job *j)
{
	struct tracestats *t = j->own;
	xperf_sums_finish(&t->providers);
	xperf_sums_finish(&t->kinds);
}

static const struct cli_option stats_options[] = {
	{.name = "timespan",
	 .arg = "[actual]",
	 .help = "the times of the trace (always); actual: and of its first and last event",
	 .values = "actual",
	 .take = take_part,
	 .offset = CLI_AT(tracestats, timespan, struct part)},
	{.name = "detail",
	 .arg = "[stack]",
	 .help = "by provider and kind of event; stack: and how many have a call stack",
	 .values = "stack",
	 .take = take_part,
	 .offset = CLI_AT(tracestats, detail, struct part)},
	CLI_CHOICE(tracestats, zone, 0, 0, "timezone", "ZONE", "local|utc", "utc or local (default)"),
	XPERF_RANGE,
	{0},
};

/* ---- marks ------------------------------------------------------------------------------------------ */

struct marks {
	bool summary;
	struct xperf_sums sums; /* 0 count, 1 first, 2 last */
	double before;
	uint64_t count;
};

static void marks_event(struct xperf_job *j)
{
	struct marks *m = j->own;
	const char *text = xperf_text(j, "Message");
	strbuf_clear(&j->key);
	xperf_quote(&j->key, text);
	if (m->summary) {
		struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, &m->sums, j->key.s ? j->key.s : "");
		if (s) {
			s->v[1] = s->v[0] > 0 ? s->v[1] : j->us;
			s->v[2] = j->us;
			s->v[0]++;
		}
		return;
	}
	if (m->count++ == 0) {
		fprintf(j->out, "%12s, %12s, %s\n", "TimeStamp", "Since last", "Label");
	}
	fprintf(j->out, "%12.0f, %12.0f, %s\n", j->us, m->count > 1 ? j->us - m->before : 0, j->key.s ? j->key.s : "");
	m->before = j->us;
}

static void marks_end(struct xperf_job *j)
{
	struct marks *m = j->own;
	if (!m->summary) {
		return;
	}
	xperf_sums_sort(&m->sums, -1);
	fprintf(j->out, "%8s, %12s, %12s, %s\n", "Count", "First", "Last", "Label");
	for (size_t i = 0; i < m->sums.count; i++) {
		const struct xperf_sum *s = &m->sums.list[i];
		fprintf(j->out, "%8.0f, %12.0f, %12.0f, %s\n", s->v[0], s->v[1], s->v[2], s->key);
	}
}

static void marks_release(struct xperf_job *j)
{
	struct marks *m = j->own;
	xperf_sums_finish(&m->sums);
}

static const struct cli_option marks_options[] = {
	CLI_FLAG(marks, summary, 0, "summary", "each text once"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_trace_actions[] = {
	{.name = "tracestats",
	 .summary = "the trace: times, events, loss; by provider and kind of event",
	 .options = stats_options,
	 .own = sizeof(struct tracestats),
	 .begin = stats_begin,
	 .event = stats_event,
	 .end = stats_end,
	 .release = stats_release,
	 .stacks = true,
	 .no_events = true},
	{.name = "marks",
	 .summary = "marks that were put into the trace",
	 .options = marks_options,
	 .events = "PerfInfo/Mark",
	 .source = ":'xperf -m TEXT' and 'openetw mark TEXT' put them in",
	 .own = sizeof(struct marks),
	 .event = marks_event,
	 .end = marks_end,
	 .release = marks_release},
	{0},
};
