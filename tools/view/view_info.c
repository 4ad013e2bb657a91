/* SPDX-License-Identifier: MIT
 * info: what a trace is, in one answer and one sentence.
 */
#include "tools/view/view.h"

#include "tools/view/view_loss.h"
#include "tools/view/view_machine.h"

#include "etw/values/guids.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What the page has pages for: how many events of each there are. */
enum has {
	HAS_SAMPLES,
	HAS_SWITCHES,
	HAS_DISK,
	HAS_FILE,
	HAS_NET,
	HAS_FAULTS,
	HAS_SYSCALLS,
	HAS_HEAP,
	HAS_GC,
	HAS_JIT,
	HAS_PACKETS,
	HAS_SPANS,
	HAS_IMAGES,
	HAS_DPC,
	HAS_UNDECODED,
	HAS_KERNEL, /* any event of the kernel's classes */
	HAS_COUNT
};
static const char *const has_names[HAS_COUNT] = {"samples",  "switches", "disk",      "file",  "net",     "faults",
						 "syscalls", "heap",     "gc",        "jit",   "packets", "spans",
						 "images",   "dpc",      "undecoded", "kernel"};
/* Beginnings of names of kernel events, as the catalogue has them. */
static const struct {
	const char *begin;
	enum has has;
} of_kernel[] = {{"PerfInfo/Sample", HAS_SAMPLES},
		 {"Thread/CSwitch", HAS_SWITCHES},
		 {"DiskIo/", HAS_DISK},
		 {"FileIo/", HAS_FILE},
		 {"TcpIp/", HAS_NET},
		 {"UdpIp/", HAS_NET},
		 {"PageFault/", HAS_FAULTS},
		 {"PerfInfo/SysCl", HAS_SYSCALLS},
		 {"Heap/", HAS_HEAP},
		 {"Image/", HAS_IMAGES},
		 {"PerfInfo/DPC", HAS_DPC},
		 {"PerfInfo/ISR", HAS_DPC},
		 {"PerfInfo/ThreadedDPC", HAS_DPC},
		 {"PerfInfo/TimerDPC", HAS_DPC}};

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void count_type(const struct openetw_index_type *t, uint64_t has[HAS_COUNT])
{
	if (strcmp(t->provider, "MSNT_SystemTrace") == 0 || t->classic) {
		for (size_t i = 0; i < BASE_ARRAY_LEN(of_kernel); i++) {
			if (begins(t->name, of_kernel[i].begin)) {
				has[of_kernel[i].has] += t->rows;
				has[HAS_KERNEL] += t->rows;
				return;
			}
		}
	}
	if (strstr(t->provider, "DotNETRuntime") || strstr(t->provider, ".NET Common Language Runtime")) {
		has[HAS_GC] += begins(t->name, "GarbageCollection/") || begins(t->name, "GC/") ? t->rows : 0;
		has[HAS_JIT] += begins(t->name, "Method/") ? t->rows : 0;
	}
	if (strcmp(t->provider, "Microsoft-Windows-NDIS-PacketCapture") == 0 ||
	    strcmp(t->provider, "Microsoft-Windows-PktMon") == 0) {
		has[HAS_PACKETS] += t->rows;
	}
	if (!t->classic && t->opcode == 1) {
		has[HAS_SPANS] += t->rows;
	}
	/* An event that nobody can decode is called by its number or its GUID. */
	if (begins(t->name, "Event(") || t->provider[0] == '{') {
		has[HAS_UNDECODED] += t->rows;
	}
}

struct facts {
	uint64_t has[HAS_COUNT];
	uint32_t providers;
	const char *provider; /* that has most events; NULL: none */
	bool warnings;        /* some event is a warning, or worse */
};

struct provider {
	const char *name;
	uint64_t rows;
};
static int by_name(const void *x, const void *y)
{
	const struct provider *a = x, *b = y;
	return strcmp(a->name, b->name);
}

/* All of it comes from the dictionaries of the index: no question is asked, so it costs the same for any trace. */
static void learn(struct view_trace *t, const struct openetw_index_about *a, struct facts *ret)
{
	struct provider *list = calloc(a->types + 1ull, sizeof *list);
	uint32_t n = 0;
	uint64_t most = 0, rows = 0;
	memset(ret, 0, sizeof *ret);
	for (uint32_t i = 0; i < a->types; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (openetw_index_type(t->x, i, &type) == ERROR_SUCCESS && type.rows) {
			count_type(&type, ret->has);
			ret->warnings |= type.level >= 1 && type.level <= 3;
			if (list) {
				list[n++] = (struct provider){type.provider, type.rows};
			}
		}
	}
	if (n) {
		qsort(list, n, sizeof *list, by_name);
	}
	for (uint32_t i = 0; i < n; i++) {
		bool first = i == 0 || strcmp(list[i].name, list[i - 1].name) != 0;
		ret->providers += first;
		rows = first ? list[i].rows : rows + list[i].rows;
		if (rows > most && !strpbrk(list[i].name, "\"'")) {
			most = rows;
			ret->provider = list[i].name;
		}
	}
	free(list);
}

/* The process of most threads, which is one that somebody would ask for. "": there is none. */
static const char *busy_process(struct view_trace *t, const struct openetw_index_about *a)
{
	uint32_t *threads = calloc(a->processes + 1ull, sizeof *threads), best = 0;
	const char *name = "";
	OPENETW_SIZED(struct openetw_index_thread, th);
	OPENETW_SIZED(struct openetw_index_process, p);
	for (uint32_t i = 0; threads && i < a->threads; i++) {
		if (openetw_index_thread(t->x, i, &th) == ERROR_SUCCESS && th.process < a->processes) {
			threads[th.process]++;
		}
	}
	for (uint32_t i = 0; threads && i < a->processes; i++) {
		if (threads[i] > best && openetw_index_process(t->x, i, &p) == ERROR_SUCCESS && p.pid > 4 &&
		    p.pid != OPENETW_UNKNOWN_ID && p.name[0] && p.name[0] != '(' && !strpbrk(p.name, "\"'")) {
			best = threads[i];
			name = p.name;
		}
	}
	free(threads);
	return name;
}

static const char *kind_of(const struct facts *f, const struct openetw_index_about *a)
{
	return a->rows == 0                        ? "empty"
	       : f->has[HAS_PACKETS] * 2 > a->rows ? "packets"
	       : f->has[HAS_SAMPLES] || f->has[HAS_SWITCHES] || f->has[HAS_DISK] || f->has[HAS_FILE] || f->has[HAS_NET]
		       ? "machine"
	       : f->has[HAS_UNDECODED] * 2 > a->rows ? "undecodable"
						     : "application";
}

/* 12431902 as "12,431,902" */
static void add_number(struct strbuf *b, uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	for (int i = 0; i < length; i++) {
		strbuf_addf(b, i && (length - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
	}
}

static void add_count(struct strbuf *b, uint64_t n, const char *one, const char *many)
{
	add_number(b, n);
	strbuf_addf(b, " %s", n == 1 ? one : many);
}

static void add_duration(struct strbuf *b, int64_t ns)
{
	if (ns < 1000000) {
		strbuf_addf(b, "%.3g \xc2\xb5s", (double)ns / 1e3);
	} else if (ns < 1000000000) {
		strbuf_addf(b, "%.3g ms", (double)ns / 1e6);
	} else if (ns < 120000000000) {
		strbuf_addf(b, "%.1f s", (double)ns / 1e9);
	} else {
		strbuf_addf(b, "%lld min %lld s", (long long)(ns / 60000000000), (long long)(ns / 1000000000 % 60));
	}
}

static void put_sentence(struct strbuf *out, struct view_trace *t, const struct openetw_index_about *a,
			 const struct facts *f)
{
	struct strbuf b = {0};
	const char *host = view_machine_host(t), *os = view_machine_os(t);
	uint32_t processes = a->processes > a->files ? a->processes - a->files : 0;
	if (a->rows == 0) {
		strbuf_adds(&b, "There are no events yet.");
	} else {
		add_duration(&b, a->last - BASE_MIN(a->first, a->last));
		if (host || os) {
			strbuf_addf(&b, " on %s%s%s", host ? host : "", host && os ? ", " : "", os ? os : "");
		}
		strbuf_adds(&b, ": ");
		add_count(&b, a->rows, "event", "events");
		strbuf_adds(&b, " of ");
		add_count(&b, f->providers, "provider", "providers");
		if (processes) {
			strbuf_adds(&b, ", ");
			add_count(&b, processes, "process", "processes");
		}
		strbuf_adds(&b, ", ");
		add_count(&b, a->processors, "processor", "processors");
		strbuf_addc(&b, '.');
	}
	json_put_text(out, "host", host);
	json_put_text(out, "os", os);
	json_put_text(out, "sentence", b.failed ? "" : b.s);
	strbuf_finish(&b);
}

static void put_loss(struct strbuf *out, const struct openetw_index_about *a, const struct view_losses *l)
{
	struct strbuf b = {0};
	json_put_name(out, "lost");
	strbuf_addc(out, '{');
	json_put_count(out, "events", a->events_lost);
	json_put_count(out, "buffers", a->buffers_lost);
	json_put_truth(out, "unknown", a->loss_unknown != 0);
	if (l->count) {
		json_put_integer(out, "t0", l->from);
		json_put_integer(out, "t1", l->to);
	}
	strbuf_addc(out, '}');
	if (a->events_lost) {
		add_count(&b, a->events_lost, "event was lost", "events were lost");
	} else if (a->buffers_lost) {
		add_count(&b, a->buffers_lost, "buffer was lost", "buffers were lost");
	} else if (a->loss_unknown) {
		strbuf_adds(&b, "The end of the recording is missing, so nobody knows whether events were lost");
	} else if (l->count) {
		strbuf_adds(&b, "No event is known to be lost, but parts of the recording are missing");
	} else {
		strbuf_adds(&b, "Nothing was lost");
	}
	if (a->events_lost && !l->placed) {
		strbuf_adds(&b, "; the file does not say when");
		strbuf_adds(&b, l->count ? ", and parts of it are missing" : "");
	}
	if (l->count) {
		strbuf_addf(&b, " between %.3f s and %.3f s", (double)l->from / 1e9, (double)l->to / 1e9);
	}
	strbuf_addc(&b, '.');
	json_put_text(out, "lost_sentence", b.failed ? "" : b.s);
	strbuf_finish(&b);
}

static void put_files(struct strbuf *b, const struct view_trace *t)
{
	struct stat st;
	json_put_name(b, "files");
	strbuf_addc(b, '[');
	for (int i = 0; i < t->count; i++) {
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "path", t->files[i]);
		const char *slash = strrchr(t->files[i], '/');
		json_put_text(b, "name", slash ? slash + 1 : t->files[i]);
		json_put_count(b, "bytes", stat(t->files[i], &st) == 0 ? (uint64_t)st.st_size : 0);
		strbuf_addc(b, '}');
	}
	strbuf_addc(b, ']');
}

static void put_progress(struct strbuf *b, struct openetw_index_progress p)
{
	bool whole = p.code != ERROR_IO_PENDING;
	json_put_name(b, "progress");
	strbuf_addc(b, '{');
	json_put_truth(b, "whole", whole);
	json_put_real(b, "fraction", whole ? 1 : p.fraction);
	json_put_count(b, "rows", p.rows_read);
	json_put_real(b, "rows_per_second", p.rows_per_second);
	json_put_real(b, "seconds_left", whole ? 0 : p.seconds_left);
	if (!whole && p.covered_until != INT64_MIN && p.covered_until != INT64_MAX) {
		json_put_integer(b, "covered_until", p.covered_until);
	}
	json_put_text(b, "problem", whole && p.code && p.code != ERROR_IO_PENDING ? openetw_error_text(p.code) : NULL);
	strbuf_addc(b, '}');
}

/* Filters that find something in this trace. */
static void put_examples(struct strbuf *b, struct view_trace *t, const struct facts *f,
			 const struct openetw_index_about *a)
{
	const char *process = busy_process(t, a);
	char text[700];
	json_put_name(b, "examples");
	strbuf_addc(b, '[');
	if (process[0]) {
		snprintf(text, sizeof text, "process == \"%.600s\"", process);
		json_put_text(b, NULL, text);
	}
	if (f->has[HAS_SPANS] || f->has[HAS_DISK] || f->has[HAS_FILE]) {
		json_put_text(b, NULL, "duration > 5ms");
	}
	if (f->provider) {
		snprintf(text, sizeof text, "provider == \"%.600s\"", f->provider);
		json_put_text(b, NULL, text);
	}
	if (f->warnings) {
		json_put_text(b, NULL, "level <= warning");
	}
	strbuf_addc(b, ']');
}

static int run(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct view_trace *t = view_trace_of(r);
	struct strbuf *b = &r->out;
	struct view_losses losses = {0};
	struct facts f;
	char date[64];
	if (!t) {
		return r->status;
	}
	/* First how far it is: what is said to be whole is whole below. */
	OPENETW_SIZED(struct openetw_index_progress, progress);
	if (openetw_index_progress(t->x, &progress) != ERROR_SUCCESS) {
		progress = (struct openetw_index_progress){.code = ERROR_SUCCESS};
	}
	view_trace_about(t, &a);
	learn(t, &a, &f);
	view_losses_of(t, &losses);
	strbuf_addc(b, '{');
	json_put_count(b, "tr", t->id);
	json_put_text(b, "name", t->name);
	put_files(b, t);
	json_put_truth(b, "live", t->live != NULL);
	view_trace_date(t, 0, date, sizeof date);
	json_put_text(b, "start", date);
	json_put_integer(b, "first", a.rows ? a.first : 0);
	json_put_integer(b, "last", a.rows ? a.last : 0);
	json_put_count(b, "rows", a.rows);
	json_put_count(b, "types", a.types > a.files ? a.types - a.files : 0);
	json_put_count(b, "providers", f.providers);
	json_put_count(b, "processes", a.processes > a.files ? a.processes - a.files : 0);
	json_put_count(b, "threads", a.threads > a.files ? a.threads - a.files : 0);
	json_put_count(b, "stacks", a.stacks ? a.stacks - 1 : 0);
	json_put_count(b, "processors", a.processors);
	json_put_name(b, "has");
	strbuf_addc(b, '{');
	for (int i = 0; i < HAS_COUNT; i++) {
		json_put_count(b, has_names[i], f.has[i]);
	}
	json_put_count(b, "stacks", a.stacks ? a.stacks - 1 : 0);
	strbuf_addc(b, '}');
	json_put_text(b, "kind", kind_of(&f, &a));
	put_sentence(b, t, &a, &f);
	put_loss(b, &a, &losses);
	bool gaps = a.events_lost || a.buffers_lost || losses.count, damaged = a.loss_unknown != 0;
	json_put_text(b, "light", damaged ? "red" : gaps || f.has[HAS_UNDECODED] ? "yellow" : "green");
	json_put_text(b, "light_sentence",
		      damaged                ? "Damaged: the end of the recording is missing"
		      : gaps                 ? "Usable, with gaps"
		      : f.has[HAS_UNDECODED] ? "Usable: some events cannot be decoded"
					     : "Trustworthy: nothing was lost");
	put_examples(b, t, &f, &a);
	put_progress(b, progress);
	if (t->live) {
		view_live_put(b, t);
	}
	strbuf_addc(b, '}');
	view_losses_free(&losses);
	return view_done(r);
}
const struct view_endpoint view_info = {.path = "info", .params = VIEW_TRACE_PARAM, .run = run};
