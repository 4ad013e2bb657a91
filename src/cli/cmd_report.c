/* SPDX-License-Identifier: MIT
 * report: where the processors' time went and what threads waited for, from a trace with kernel
 * events of Linux or of Windows.
 */
#include "cli/kallsyms.h"

#include <openetw/state.h>
#include <stdlib.h>

#define TOP_DEFAULT 15
#define WAITS_KEPT  64
#define OP_SAMPLE   46
#define OP_CSWITCH  36
#define OP_READY    50
#define FRAMES_MAX  192
#define KERNEL_SPACE 0xFFFF000000000000ull

static const struct cli_option options[] = {
	{'n', "top", "N", "lines of each table (default 15)", NULL},
	{0, "pid", "PID", "only this process (repeatable)", NULL},
	{0, "folded", "FILE", "write folded stacks (one line a stack, for flame graphs)", NULL},
	{0, "speedscope", "FILE", "write a profile for speedscope.app", NULL},
	{'j', "json", NULL, "the tables as JSON objects, one a line", NULL},
	{0},
};

/* ce1dbfb4-137e-4da6-87b0-3f59aa102cbc and 3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c */
static const GUID perf_info = {0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
static const GUID thread_class = {0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* ---- counters by name --------------------------------------------------------------------------- */

struct count {
	char *name;
	uint64_t self, total;
	uint64_t seen; /* number of the sample that counted it last: recursion counts once */
};
struct counts {
	struct count *slot;
	size_t cap, used;
};

static uint64_t hash_of(const char *s)
{
	uint64_t h = 14695981039346656037ull;
	for (; *s; s++) {
		h = (h ^ (uint8_t)*s) * 1099511628211ull;
	}
	return h;
}

static struct count *place(struct count *slot, size_t cap, const char *name)
{
	size_t i = hash_of(name) & (cap - 1);
	while (slot[i].name && strcmp(slot[i].name, name) != 0) {
		i = (i + 1) & (cap - 1);
	}
	return &slot[i];
}

static struct count *count_of(struct counts *c, const char *name)
{
	if (c->used * 2 >= c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 256;
		struct count *slot = calloc(cap, sizeof *slot);
		if (!slot) {
			return NULL;
		}
		for (size_t i = 0; i < c->cap; i++) {
			if (c->slot[i].name) {
				*place(slot, cap, c->slot[i].name) = c->slot[i];
			}
		}
		free(c->slot);
		c->slot = slot;
		c->cap = cap;
	}
	struct count *found = place(c->slot, c->cap, name);
	if (!found->name && (found->name = strdup(name)) != NULL) {
		c->used++;
	}
	return found->name ? found : NULL;
}

static void counts_free(struct counts *c)
{
	for (size_t i = 0; i < c->cap; i++) {
		free(c->slot[i].name);
	}
	free(c->slot);
}

static int by_self(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	if (x->self != y->self) {
		return x->self < y->self ? 1 : -1;
	}
	return x->name && y->name ? strcmp(x->name, y->name) : !x->name - !y->name;
}

static int by_total(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	return x->total != y->total ? (x->total < y->total ? 1 : -1) : by_self(a, b);
}

/* ---- waits ---------------------------------------------------------------------------------------- */

struct wait {
	uint64_t length; /* 100 ns */
	uint64_t end;
	uint32_t pid, tid, waker_pid, waker_tid;
	uint8_t reason;
	const char *process, *waker;
};
struct sleeper {
	uint32_t tid;
	uint32_t waker_pid, waker_tid;
	const char *waker;
	uint64_t since; /* 0: runs */
	uint8_t reason, state;
};

struct report {
	const struct cli_args *args;
	struct openetw_state *state;
	struct cli_kallsyms *kernel; /* NULL: not of this boot */
	struct counts processes, functions, stacks;
	uint64_t samples, others; /* not wanted, by --pid */
	uint64_t idle;
	uint64_t switches;
	struct sleeper *sleepers;
	size_t sleeper_cap, sleeper_count;
	struct wait waits[WAITS_KEPT];
	size_t wait_count;
	uint64_t pids[32];
	int pid_count;
	struct strbuf line;
	bool failed; /* out of memory */
};

static bool wanted(const struct report *r, uint32_t pid)
{
	for (int i = 0; i < r->pid_count; i++) {
		if (r->pids[i] == pid) {
			return true;
		}
	}
	return r->pid_count == 0;
}

/* ---- samples -------------------------------------------------------------------------------------- */

static void frame_name(struct report *r, uint32_t pid, uint64_t address, uint64_t time, char *out, size_t cap)
{
	struct openetw_symbol s = {.size = sizeof s};
	struct openetw_module m = {.size = sizeof m};
	const char *function = address >= KERNEL_SPACE ? cli_kallsyms_name(r->kernel, address) : NULL;
	if (function) {
		snprintf(out, cap, "kernel!%s", function);
	} else if (openetw_state_symbol(r->state, pid, address, time, &s) == ERROR_SUCCESS) {
		snprintf(out, cap, "%s!%s", s.module ? s.module : "?", s.name);
	} else if (openetw_state_module(r->state, pid, address, time, &m) == ERROR_SUCCESS) {
		snprintf(out, cap, "%s!?", m.name);
	} else {
		snprintf(out, cap, "?!?");
	}
	for (char *p = out; *p; p++) { /* folded stacks are divided by these */
		*p = *p == ';' ? ':' : (uint8_t)*p < ' ' ? ' ' : *p;
	}
}

static void on_sample(struct report *r, const EVENT_RECORD *e, const struct openetw_event_origin *o)
{
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	uint64_t one = e->UserDataLength >= 8 ? le64_get(e->UserData) : 0;
	struct openetw_stack s = {.size = sizeof s};
	char name[1024], process[300];
	if (e->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) {
		one = e->UserDataLength >= 4 ? le32_get(e->UserData) : 0;
	}
	if (!wanted(r, o->pid)) {
		r->others++;
		return;
	}
	r->samples++;
	if (o->tid == 0 || o->pid == 0) {
		r->idle++;
		return;
	}
	snprintf(process, sizeof process, "%s (%u)", o->process ? o->process : "?", o->pid);
	struct count *c = count_of(&r->processes, process);
	if (!c) {
		r->failed = true;
		return;
	}
	c->self++;
	if (openetw_state_stack(r->state, e, &s) != ERROR_SUCCESS || s.count == 0) {
		s.count = 1;
		s.addresses = &one;
	}
	/* From the outermost frame in: that is how folded stacks read. */
	strbuf_clear(&r->line);
	strbuf_addf(&r->line, "%s", process);
	uint32_t n = BASE_MIN(s.count, (uint32_t)FRAMES_MAX);
	uint64_t frames[FRAMES_MAX];
	memcpy(frames, s.addresses, n * sizeof frames[0]);
	for (uint32_t i = n; i-- > 0;) {
		frame_name(r, o->pid, frames[i], time, name, sizeof name);
		strbuf_addf(&r->line, ";%s", name);
		c = count_of(&r->functions, name);
		if (!c) {
			r->failed = true;
			return;
		}
		c->total += c->seen != r->samples;
		c->seen = r->samples;
		c->self += i == 0;
	}
	c = count_of(&r->stacks, r->line.s);
	if (c) {
		c->self++;
	} else {
		r->failed = true;
	}
}

/* ---- switches ------------------------------------------------------------------------------------- */

static struct sleeper *sleeper_of(struct report *r, uint32_t tid)
{
	if (r->sleeper_count * 2 >= r->sleeper_cap) {
		size_t cap = r->sleeper_cap ? r->sleeper_cap * 2 : 1024;
		struct sleeper *bigger = malloc(cap * sizeof *bigger);
		if (!bigger) {
			return NULL;
		}
		for (size_t i = 0; i < cap; i++) {
			bigger[i] = (struct sleeper){.tid = UINT32_MAX};
		}
		for (size_t i = 0; i < r->sleeper_cap; i++) {
			if (r->sleepers[i].tid != UINT32_MAX) {
				size_t at = (r->sleepers[i].tid * 2654435761u) & (cap - 1);
				while (bigger[at].tid != UINT32_MAX) {
					at = (at + 1) & (cap - 1);
				}
				bigger[at] = r->sleepers[i];
			}
		}
		free(r->sleepers);
		r->sleepers = bigger;
		r->sleeper_cap = cap;
	}
	size_t at = (tid * 2654435761u) & (r->sleeper_cap - 1);
	while (r->sleepers[at].tid != UINT32_MAX && r->sleepers[at].tid != tid) {
		at = (at + 1) & (r->sleeper_cap - 1);
	}
	if (r->sleepers[at].tid == UINT32_MAX) {
		r->sleepers[at] = (struct sleeper){.tid = tid};
		r->sleeper_count++;
	}
	return &r->sleepers[at];
}

static void keep_wait(struct report *r, const struct wait *w)
{
	size_t least = 0;
	if (r->wait_count < WAITS_KEPT) {
		r->waits[r->wait_count++] = *w;
		return;
	}
	for (size_t i = 1; i < WAITS_KEPT; i++) {
		least = r->waits[i].length < r->waits[least].length ? i : least;
	}
	if (r->waits[least].length < w->length) {
		r->waits[least] = *w;
	}
}

static void on_switch(struct report *r, const EVENT_RECORD *e)
{
	enum { WAITING = 5 };
	const uint8_t *p = e->UserData;
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (e->UserDataLength < 15) {
		return;
	}
	r->switches++;
	uint32_t in = le32_get(p), out = le32_get(p + 4);
	struct sleeper *s = out ? sleeper_of(r, out) : NULL;
	if (s) {
		s->since = time;
		s->reason = p[12];
		s->state = p[14];
		s->waker_tid = 0;
	}
	s = in ? sleeper_of(r, in) : NULL;
	if (s && s->since && s->state == WAITING) {
		struct openetw_thread t = {.size = sizeof t};
		struct openetw_process q = {.size = sizeof q};
		struct wait w = {.length = time - s->since,
				 .end = time,
				 .tid = in,
				 .reason = s->reason,
				 .waker_pid = s->waker_pid,
				 .waker_tid = s->waker_tid,
				 .waker = s->waker};
		if (openetw_state_thread(r->state, in, time, &t) == ERROR_SUCCESS) {
			w.pid = t.pid;
			if (openetw_state_process(r->state, t.pid, time, &q) == ERROR_SUCCESS) {
				w.process = q.name;
			}
		}
		if (wanted(r, w.pid)) {
			keep_wait(r, &w);
		}
	}
	if (s) {
		s->since = 0;
	}
}

static void on_ready(struct report *r, const EVENT_RECORD *e, const struct openetw_event_origin *o)
{
	struct sleeper *s = e->UserDataLength >= 4 ? sleeper_of(r, le32_get(e->UserData)) : NULL;
	if (s) {
		s->waker_pid = o->pid;
		s->waker_tid = o->tid;
		s->waker = o->process;
	}
}

static VOID WINAPI on_event(PEVENT_RECORD e)
{
	struct report *r = e->UserContext;
	const GUID *g = &e->EventHeader.ProviderId;
	UCHAR op = e->EventHeader.EventDescriptor.Opcode;
	bool perf = IsEqualGUID(g, &perf_info) && op == OP_SAMPLE;
	bool thread = IsEqualGUID(g, &thread_class) && (op == OP_CSWITCH || op == OP_READY);
	struct openetw_event_origin o = {.size = sizeof o};
	if ((!perf && !thread) || openetw_state_event(r->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	if (perf) {
		on_sample(r, e, &o);
	} else if (op == OP_CSWITCH) {
		on_switch(r, e);
	} else {
		on_ready(r, e, &o);
	}
}

/* ---- output --------------------------------------------------------------------------------------- */

static void rows(const struct report *r, const char *title, const struct counts *c, bool functions, uint64_t top)
{
	bool json = cli_flag(r->args, "json");
	uint64_t busy = r->samples - r->idle;
	struct strbuf b = {0};
	if (!json) {
		printf("\n%s\n", title);
		printf(functions ? "  %8s %7s %8s %7s  %s\n" : "  %8s %7s%.0s%.0s  %s\n", functions ? "SELF" : "SAMPLES",
		       "%", "TOTAL", "%", functions ? "FUNCTION" : "PROCESS");
	}
	for (size_t i = 0; i < c->cap && i < top && c->slot[i].name; i++) {
		const struct count *e = &c->slot[i];
		double self = busy ? 100.0 * (double)e->self / (double)busy : 0;
		double total = busy ? 100.0 * (double)e->total / (double)busy : 0;
		if (json) {
			strbuf_clear(&b);
			strbuf_add_json(&b, e->name, strlen(e->name));
			printf("{\"table\":\"%s\",\"name\":%s,\"self\":%llu,\"total\":%llu,\"percent\":%.2f}\n",
			       functions ? "functions" : "processes", b.s, (unsigned long long)e->self,
			       (unsigned long long)(functions ? e->total : e->self), functions ? total : self);
		} else if (functions) {
			printf("  %8llu %6.1f%% %8llu %6.1f%%  %s\n", (unsigned long long)e->self, self,
			       (unsigned long long)e->total, total, e->name);
		} else {
			printf("  %8llu %6.1f%%  %s\n", (unsigned long long)e->self, self, e->name);
		}
	}
	strbuf_finish(&b);
}

static int by_length(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	return x->length < y->length ? 1 : x->length > y->length ? -1 : 0;
}

static const char *reason_text(uint8_t reason)
{
	static const char *const names[] = {
		"Executive",	"FreePage",	 "PageIn",	  "PoolAllocation", "DelayExecution", "Suspended",
		"UserRequest",	"WrExecutive",	 "WrFreePage",	  "WrPageIn",	    "WrPoolAllocation", "WrDelayExecution",
		"WrSuspended",	"WrUserRequest", "WrEventPair",	  "WrQueue",	    "WrLpcReceive",   "WrLpcReply"};
	return reason < BASE_ARRAY_LEN(names) ? names[reason] : "other";
}

static void wait_rows(struct report *r, uint64_t top)
{
	bool json = cli_flag(r->args, "json");
	qsort(r->waits, r->wait_count, sizeof r->waits[0], by_length);
	if (!json && r->wait_count) {
		printf("\nlongest waits\n  %10s  %-28s %-16s %s\n", "MS", "THREAD", "REASON", "WOKEN BY");
	}
	for (size_t i = 0; i < r->wait_count && i < top; i++) {
		const struct wait *w = &r->waits[i];
		char who[300], waker[300] = "";
		snprintf(who, sizeof who, "%s (%u:%u)", w->process ? w->process : "?", w->pid, w->tid);
		if (w->waker_tid) {
			snprintf(waker, sizeof waker, "%s (%u:%u)", w->waker ? w->waker : "?", w->waker_pid,
				 w->waker_tid);
		}
		if (json) {
			printf("{\"table\":\"waits\",\"ms\":%.3f,\"pid\":%u,\"tid\":%u,\"reason\":\"%s\",\"wakerPid\":%u,"
			       "\"wakerTid\":%u}\n",
			       (double)w->length / 1e4, w->pid, w->tid, reason_text(w->reason), w->waker_pid,
			       w->waker_tid);
		} else {
			printf("  %10.3f  %-28s %-16s %s\n", (double)w->length / 1e4, who, reason_text(w->reason),
			       waker);
		}
	}
}

static bool write_folded(const struct report *r, const char *path)
{
	FILE *f = fopen(path, "we");
	for (size_t i = 0; f && i < r->stacks.cap; i++) {
		if (r->stacks.slot[i].name) {
			fprintf(f, "%s %llu\n", r->stacks.slot[i].name, (unsigned long long)r->stacks.slot[i].self);
		}
	}
	return f && fclose(f) == 0;
}

/* The file format of speedscope: frames once, then stacks as lists of their numbers. */
static bool write_speedscope(const struct report *r, const char *path)
{
	struct counts frames = {0};
	struct strbuf names = {0}, samples = {0}, weights = {0};
	uint64_t total = 0;
	bool ok = true;
	for (size_t i = 0; i < r->stacks.cap && ok; i++) {
		const struct count *s = &r->stacks.slot[i];
		char *copy = s->name ? strdup(s->name) : NULL, *rest = copy;
		if (!s->name) {
			continue;
		}
		strbuf_addf(&samples, "%s[", samples.len ? "," : "");
		for (char *part, *first = copy; copy && (part = strsep(&rest, ";")) != NULL;) {
			struct count *c = count_of(&frames, part);
			ok = ok && c;
			if (c && !c->total) { /* new: its number is the order of appearance */
				c->total = frames.used;
				strbuf_addf(&names, "%s{\"name\":", names.len ? "," : "");
				strbuf_add_json(&names, part, strlen(part));
				strbuf_addf(&names, "}");
			}
			if (c) {
				strbuf_addf(&samples, "%s%llu", part == first ? "" : ",",
					    (unsigned long long)c->total - 1);
			}
		}
		strbuf_addf(&samples, "]");
		strbuf_addf(&weights, "%s%llu", weights.len ? "," : "", (unsigned long long)s->self);
		total += s->self;
		ok = ok && copy;
		free(copy);
	}
	FILE *f = ok ? fopen(path, "we") : NULL;
	if (f) {
		fprintf(f,
			"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[%s]},"
			"\"profiles\":[{\"type\":\"sampled\",\"name\":\"CPU samples\",\"unit\":\"none\",\"startValue\":0,"
			"\"endValue\":%llu,\"samples\":[%s],\"weights\":[%s]}]}\n",
			names.s ? names.s : "", (unsigned long long)total, samples.s ? samples.s : "",
			weights.s ? weights.s : "");
		ok = fclose(f) == 0;
	}
	strbuf_finish(&names);
	strbuf_finish(&samples);
	strbuf_finish(&weights);
	counts_free(&frames);
	return ok && f;
}

static int print(struct report *r, uint64_t top)
{
	const char *path;
	if (r->samples + r->others + r->switches == 0) {
		fprintf(stderr, "openetw report: no CPU samples and no context switches in there; openetw record makes them\n");
		return CLI_FAILED;
	}
	if (!cli_flag(r->args, "json")) {
		printf("%llu samples, %llu of them idle; %llu context switches\n", (unsigned long long)r->samples,
		       (unsigned long long)r->idle, (unsigned long long)r->switches);
	}
	qsort(r->processes.slot, r->processes.cap, sizeof(struct count), by_self);
	rows(r, "processes by CPU", &r->processes, false, top);
	qsort(r->functions.slot, r->functions.cap, sizeof(struct count), by_self);
	rows(r, "functions by their own CPU", &r->functions, true, top);
	if (!cli_flag(r->args, "json")) {
		qsort(r->functions.slot, r->functions.cap, sizeof(struct count), by_total);
		rows(r, "functions by CPU with what they called", &r->functions, true, top);
	}
	wait_rows(r, top);
	if ((path = cli_value(r->args, "folded", NULL)) != NULL && !write_folded(r, path)) {
		return cli_fail(r->args, win32_from_errno(errno), "cannot write %s", path);
	}
	if ((path = cli_value(r->args, "speedscope", NULL)) != NULL && !write_speedscope(r, path)) {
		return cli_fail(r->args, win32_from_errno(errno), "cannot write %s", path);
	}
	return CLI_OK;
}

static int run(struct cli_args *a)
{
	struct report r = {.args = a};
	uint64_t top = TOP_DEFAULT;
	const char *v;
	if (a->count != 1) {
		return cli_usage(a, a->count ? "one file" : "which file?");
	}
	if (!cli_number(a, "top", 1, 10000, &top)) {
		return CLI_USAGE;
	}
	for (; (v = cli_value_at(a, "pid", r.pid_count)) != NULL; r.pid_count++) {
		char *end;
		if (r.pid_count == (int)BASE_ARRAY_LEN(r.pids)) {
			return cli_usage(a, "at most %zu --pid", BASE_ARRAY_LEN(r.pids));
		}
		r.pids[r.pid_count] = strtoull(v, &end, 0);
		if (end == v || *end) {
			return cli_usage(a, "--pid takes a number, not '%s'", v);
		}
	}
	r.state = openetw_state_create(OPENETW_STATE_STACKS);
	uint32_t code = r.state ? openetw_state_read_file(r.state, a->words[0], NULL, NULL)
				: ERROR_NOT_ENOUGH_MEMORY;
	EVENT_TRACE_LOGFILEA log = {.LogFileName = a->words[0], .Context = &r, .EventRecordCallback = on_event};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	int status = CLI_FAILED;
	TRACEHANDLE h = code ? INVALID_PROCESSTRACE_HANDLE : OpenTraceA(&log);
	if (code || h == INVALID_PROCESSTRACE_HANDLE) {
		cli_fail(a, code ? code : GetLastError(), "cannot open %s", a->words[0]);
	} else {
		r.kernel = cli_kallsyms_load((uint64_t)log.LogfileHeader.BootTime.QuadPart);
		code = openetw_state_attach(r.state, h);
		code = code ? code : ProcessTrace(&h, 1, NULL, NULL);
		status = code	    ? cli_fail(a, code, "stopped after %llu samples", (unsigned long long)r.samples)
			 : r.failed ? cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "too many names")
				    : print(&r, top);
		CloseTrace(h);
	}
	counts_free(&r.processes);
	counts_free(&r.functions);
	counts_free(&r.stacks);
	strbuf_finish(&r.line);
	free(r.sleepers);
	cli_kallsyms_free(r.kernel);
	openetw_state_destroy(r.state);
	return status;
}

const struct cli_command cli_report = {
	.name = "report",
	.synopsis = "FILE [--pid PID] [--folded FILE] [--speedscope FILE] [options]",
	.summary = "Where the processors' time went, and what threads waited for.",
	.details =
		"Reads CPU samples, call stacks, context switches and wake-ups, from openetw record or from Windows.\n"
		"Functions of Linux programs are named from the files of this machine that are of the same build, those\n"
		"of the kernel from /proc/kallsyms when the trace is of this boot.\n"
		"Percentages are of the samples that were not idle.\n\n"
		"Examples:\n"
		"  openetw record --cpu --wait -o build.etl -- make\n"
		"  openetw report build.etl\n"
		"  openetw report build.etl --folded build.folded && flamegraph.pl build.folded >build.svg\n",
	.options = options,
	.run = run,
	.complete = "file",
};
