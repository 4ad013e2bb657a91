/* SPDX-License-Identifier: MIT
 * xperf: the controller of the Windows Performance Toolkit. Every -start opens a scope; the options
 * after it belong to that session, those before the first one to the kernel's.
 */
#include "cli/mark.h"
#include "cli/xperf.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <tdh.h>

#define SCOPES_MAX 16
#define SPECS_MAX  64
#define KERNEL	   "NT Kernel Logger"

static const struct cli_option options[] = {
	{0, "on", "SPECS", "kernel flags, or providers Name:keywords:level:'stack' joined by +", NULL},
	{0, "start", "SESSION", "the following options belong to this session", NULL},
	{0, "f", "FILE", "its log file (default kernel.etl, user.etl)", NULL},
	{0, "BufferSize", "KB", "of one buffer (default 64)", NULL},
	{0, "MinBuffers", "N", "buffers at the start (default 64)", NULL},
	{0, "MaxBuffers", "N", "at most (default 320)", NULL},
	{0, "MaxFile", "MB", "size limit of the file", NULL},
	{0, "FileMode", "MODE", "Sequential, Circular, Append or NewFile",
	 "Sequential|Circular|Append|NewFile"},
	{0, "FlushTimer", "SECONDS", "write part-filled buffers this often", NULL},
	{0, "ClockType", "CLOCK", "PerfCounter, Cycle or SystemTime", "PerfCounter|Cycle|SystemTime"},
	{0, "RealTime", NULL, "deliver to live consumers", NULL},
	{0, "Buffering", NULL, "keep events in memory, to be written by -flush", NULL},
	{0, "StackWalk", "EVENTS", "kernel events with call stacks, joined by +", NULL},
	{0, "pids", "PIDS", "only from these processes: numbers separated by commas", NULL},
	{0, "capturestate_on", "SPECS", "ask these providers for their state when all are enabled", NULL},
	{0, "partial", NULL, "start what can be recorded, without the kernel's part", NULL},
	{0, "stop", "[SESSION]", "end a session (repeatable); without a name the kernel's", NULL},
	{0, "stopall", NULL, "end all sessions", NULL},
	{0, "d", "FILE", "with -stop: merge their files into this one", NULL},
	{0, "flush", "SESSION", "write what is buffered; with -f a memory session to a file", NULL},
	{0, "capturestate", "SESSION", "ask the providers that follow for their state", NULL},
	{0, "update", "SESSION", "change -on, -FlushTimer, -MaxBuffers, -f of a running session", NULL},
	{0, "m", "TEXT", "put a mark into the sessions", NULL},
	{0, "mf", "TEXT", "the same; working sets are not touched here", NULL},
	{0, "merge", "FILE", "merge this and the following files into the last one", NULL},
	{0, "compress", NULL, "with -merge or -d: compress", NULL},
	{0, "i", "FILE", "print the events of a file (and of those that follow)", NULL},
	{0, "o", "FILE", "to this file instead of the terminal", NULL},
	{0, "a", "ACTION", "what to print: dumper", NULL},
	{0, "tle", NULL, "tolerate lost events: they are told in any case", NULL},
	{0, "tti", NULL, "tolerate time inversions: events are sorted in any case", NULL},
	{0, "quiet", NULL, "accepted", NULL},
	{0, "target", "WHAT", "accepted: human or machine", "human|machine"},
	{0, "loggers", NULL, "list the running sessions", NULL},
	{0, "providers", "[KIND]", "list providers: I installed, R registered, KF, KG, K kernel", NULL},
	{0, "explain", NULL, "print the openetw lines, do nothing", NULL},
	{0, "symbols", "[WHAT]", NULL, NULL},
	{0, "profint", NULL, NULL, NULL},
	{0, "setprofint", "N", NULL, NULL},
	{0, "pmcsources", NULL, NULL, NULL},
	{0, "boottrace", "FLAGS", NULL, NULL},
	{0, "heap", NULL, NULL, NULL},
	{0, "critsec", NULL, NULL, NULL},
	{0, "pooltag", "TAGS", NULL, NULL},
	{0, "pidnewprocess", "COMMAND", NULL, NULL},
	{0, "injectonly", NULL, NULL, NULL},
	{0, "cancel", "SESSION", NULL, NULL},
	{0, "save", "SESSION", NULL, NULL},
	{0},
};

static const struct {
	const char *name, *why;
} refused[] = {
	{"symbols", "symbols are not resolved in this version"},
	{"profint", "sampling comes with kernel events, which this version does not record yet"},
	{"setprofint", "sampling comes with kernel events, which this version does not record yet"},
	{"pmcsources", "hardware counters come with kernel events, which this version does not record yet"},
	{"boottrace", "recording from boot on is not supported"},
	{"heap", "heap events have no source on this system"},
	{"critsec", "critical sections have no source on this system"},
	{"pooltag", "pool tags belong to kernel events, which this version does not record yet"},
	{"pidnewprocess", "use 'openetw run -p PROVIDER -- COMMAND', which records a program from its start"},
	{"injectonly", "images are not identified here, so there is nothing to inject"},
	{"cancel", "sessions of another program's profiles: use 'wpr -cancel'"},
	{"save", "sessions of another program's profiles: use 'wpr -stop FILE'"},
};

struct scope {
	const char *name, *on, *file, *file_mode, *clock, *stack, *pids, *state;
	uint64_t buffer_kb, min, max, max_file, flush;
	bool realtime, buffering, kernel;
	TRACEHANDLE handle;
};
struct xperf {
	struct cli_args *a;
	struct scope scope[SCOPES_MAX];
	int count;
};

static bool number(const struct cli_args *a, const char *option, const char *text, uint64_t least,
		   uint64_t most, uint64_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 0);
	if (*text == 0 || *text == '-' || *end || errno || v < least || v > most) {
		cli_usage(a, "-%s takes a number from %llu to %llu, not '%s'", option,
			  (unsigned long long)least, (unsigned long long)most, text);
		return false;
	}
	*ret = v;
	return true;
}

/* The options in their order, each to its scope. */
static bool scopes(struct xperf *x)
{
	const struct cli_args *a = x->a;
	struct scope *s = &x->scope[0];
	*s = (struct scope){.name = KERNEL, .kernel = true, .buffer_kb = 64, .min = 64, .max = 320};
	bool first = true; /* nothing belongs to the kernel's scope yet */
	x->count = 1;
	for (int i = 0; i < a->value_count; i++) {
		const char *o = a->values[i].option->name, *v = a->values[i].value;
		const struct {
			const char *name, **to;
		} texts[] = {{"on", &s->on},	       {"f", &s->file},	    {"FileMode", &s->file_mode},
			     {"ClockType", &s->clock}, {"StackWalk", &s->stack}, {"pids", &s->pids},
			     {"capturestate_on", &s->state}};
		const struct {
			const char *name;
			uint64_t *to, least, most;
		} numbers[] = {{"BufferSize", &s->buffer_kb, 4, 16384},
			       {"MinBuffers", &s->min, 1, 1 << 20},
			       {"MaxBuffers", &s->max, 1, 1 << 20},
			       {"MaxFile", &s->max_file, 1, UINT32_MAX},
			       {"FlushTimer", &s->flush, 0, 86400}};
		if (strcmp(o, "start") == 0) {
			bool kernel = strcasecmp(v, KERNEL) == 0;
			if (kernel && !first) {
				cli_usage(a, "-start \"" KERNEL "\" comes before the other sessions");
				return false;
			}
			if (!kernel && x->count == SCOPES_MAX) {
				cli_usage(a, "more than %d sessions", SCOPES_MAX - 1);
				return false;
			}
			if (!kernel) {
				s = &x->scope[x->count++];
				*s = (struct scope){.name = v, .buffer_kb = 64, .min = 64, .max = 320};
			}
			first = false;
			continue;
		}
		bool mine = strcmp(o, "RealTime") == 0 || strcmp(o, "Buffering") == 0;
		s->realtime = s->realtime || strcmp(o, "RealTime") == 0;
		s->buffering = s->buffering || strcmp(o, "Buffering") == 0;
		for (size_t k = 0; k < BASE_ARRAY_LEN(texts); k++) {
			if (strcmp(o, texts[k].name) == 0) {
				if (*texts[k].to) {
					cli_usage(a, "-%s is said twice of '%s'; join with +, or -start another",
						  o, s->name);
					return false;
				}
				*texts[k].to = v;
				mine = true;
			}
		}
		for (size_t k = 0; k < BASE_ARRAY_LEN(numbers); k++) {
			if (strcmp(o, numbers[k].name) == 0) {
				if (!number(a, o, v, numbers[k].least, numbers[k].most, numbers[k].to)) {
					return false;
				}
				mine = true;
			}
		}
		first = first && !mine;
	}
	return true;
}

/* ---- providers -------------------------------------------------------------------------------- */

/* Has "Name:kw:LEVEL" a level? */
static bool has_level(const char *spec)
{
	const char *s = strchr(spec, ':');
	s = s ? strchr(s + 1, ':') : NULL;
	return s && s[1] && s[1] != ':';
}

static int parse_specs(struct cli_args *a, const char *text, struct cli_provider *out, int *ret_n)
{
	int n = 0;
	for (const char *s = text; *s;) {
		char spec[512];
		size_t k = strcspn(s, "+");
		if (n == SPECS_MAX || k >= sizeof spec) {
			return cli_usage(a, n == SPECS_MAX ? "more than 64 providers" : "'%s' is too long", s);
		}
		memcpy(spec, s, k);
		spec[k] = 0;
		s += k + (s[k] == '+');
		if (!cli_provider_parse(a, spec, &out[n])) {
			return CLI_USAGE;
		}
		out[n].level = has_level(spec) ? out[n].level : 255;
		n++;
	}
	*ret_n = n;
	return n ? CLI_OK : cli_usage(a, "-on names no provider");
}

/* "1,2,3", up to eight. */
static bool parse_pids(const char *text, ULONG ids[8], ULONG *ret_n)
{
	ULONG n = 0;
	for (const char *s = text; s && *s;) {
		char *end;
		unsigned long v = strtoul(s, &end, 0);
		if (end == s || (*end && *end != ',') || *s == '-' || v > UINT32_MAX || n == 8) {
			return false;
		}
		ids[n++] = (ULONG)v;
		s = *end ? end + 1 : end;
	}
	*ret_n = n;
	return true;
}

static uint32_t enable(TRACEHANDLE h, const struct cli_provider *p, const char *pids)
{
	ULONG ids[8], n = 0;
	parse_pids(pids, ids, &n);
	EVENT_FILTER_DESCRIPTOR f = {(ULONGLONG)(uintptr_t)ids, 4 * n, EVENT_FILTER_TYPE_PID};
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					      .EnableProperty = p->properties,
					      .EnableFilterDesc = n ? &f : NULL,
					      .FilterDescCount = n ? 1 : 0};
	return EnableTraceEx2(h, &p->guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, p->level, p->any, p->all,
			      5000, &parameters);
}

static int enable_all(struct cli_args *a, const struct scope *s, TRACEHANDLE h)
{
	struct cli_provider p[SPECS_MAX];
	int n = 0, status = s->on ? parse_specs(a, s->on, p, &n) : CLI_OK;
	for (int i = 0; i < n && status == CLI_OK; i++) {
		uint32_t code = enable(h, &p[i], s->pids);
		if (code == ERROR_TIMEOUT) {
			fprintf(stderr, "xperf: warning: %s: a process is slow to take notice of being enabled\n",
				p[i].name);
		} else if (code) {
			status = cli_fail(a, code, "%s: cannot enable '%s'", s->name, p[i].name);
		}
	}
	return status;
}

static int capture_all(struct cli_args *a, const char *session, TRACEHANDLE h, const char *specs)
{
	struct cli_provider p[SPECS_MAX];
	int n = 0, status = parse_specs(a, specs, p, &n);
	for (int i = 0; i < n && status == CLI_OK; i++) {
		uint32_t code = EnableTraceEx2(h, &p[i].guid, EVENT_CONTROL_CODE_CAPTURE_STATE, p[i].level,
					       p[i].any, p[i].all, 60000, NULL);
		status = code ? cli_fail(a, code, "%s: cannot ask '%s' for its state", session, p[i].name)
			      : CLI_OK;
	}
	return status;
}

/* ---- -start ----------------------------------------------------------------------------------- */

static bool wants_kernel(const struct scope *s)
{
	return s->on || s->stack || s->file;
}

/* The kernel's part: the names have to be right all the same. */
static int check_kernel(struct xperf *x)
{
	struct cli_args *a = x->a;
	const struct scope *k = &x->scope[0];
	char flags[2048];
	if (!wants_kernel(k)) {
		return CLI_OK;
	}
	if (!k->on) {
		return cli_usage(a, "the kernel's session needs -on FLAGS");
	}
	if (!xperf_kernel_flags(a, k->on, flags, sizeof flags)) {
		return CLI_USAGE;
	}
	bool partial = cli_flag(a, "partial") || cli_flag(a, "explain");
	fprintf(stderr, "xperf: %s: \"" KERNEL "\" is not started: this version records no kernel events yet.\n",
		partial ? "warning" : "error");
	fprintf(stderr, "  -on %s asks for %s%s%s\n", k->on, flags, k->stack ? ", with stacks of " : "",
		k->stack ? k->stack : "");
	if (partial) {
		return CLI_OK;
	}
	if (x->count > 1) {
		fprintf(stderr, "  Nothing was started. With --partial, or without that part, xperf starts ");
		for (int i = 1; i < x->count; i++) {
			fprintf(stderr, "%s\"%s\"", i > 1 ? ", " : "", x->scope[i].name);
		}
		fprintf(stderr, ".\n");
	}
	return CLI_FAILED;
}

static void fill(const struct scope *s, struct cli_props *p)
{
	const char *m = s->file_mode ? s->file_mode : "Sequential";
	cli_props_init(p);
	p->p.BufferSize = (ULONG)s->buffer_kb;
	p->p.MinimumBuffers = (ULONG)s->min;
	p->p.MaximumBuffers = (ULONG)BASE_MAX(s->min, s->max);
	p->p.MaximumFileSize = (ULONG)s->max_file;
	p->p.FlushTimer = (ULONG)s->flush;
	p->p.Wnode.ClientContext = !s->clock || strcasecmp(s->clock, "PerfCounter") == 0 ? 1
				   : strcasecmp(s->clock, "SystemTime") == 0		 ? 2
											 : 3;
	p->p.LogFileMode = strcasecmp(m, "Circular") == 0  ? EVENT_TRACE_FILE_MODE_CIRCULAR
			   : strcasecmp(m, "Append") == 0  ? EVENT_TRACE_FILE_MODE_APPEND
			   : strcasecmp(m, "NewFile") == 0 ? EVENT_TRACE_FILE_MODE_NEWFILE
							   : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	if (p->p.LogFileMode == EVENT_TRACE_FILE_MODE_APPEND && !s->clock) {
		p->p.Wnode.ClientContext = 2; /* an appended file can only be in system time */
	}
	if (s->buffering) {
		p->p.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
		p->p.LogFileNameOffset = 0;
	} else if (s->realtime && !s->file) {
		p->p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
		p->p.LogFileNameOffset = 0;
	} else {
		p->p.LogFileMode |= s->realtime ? EVENT_TRACE_REAL_TIME_MODE : 0u;
		snprintf(p->file, sizeof p->file, "%s", s->file ? s->file : "user.etl");
	}
}

static void explain_start(const struct scope *s)
{
	struct cli_props p;
	fill(s, &p);
	printf("openetw start '%s'", s->name);
	if (p.p.LogFileNameOffset) {
		printf(" -o '%s'", p.file);
	}
	if (s->buffering || s->file_mode) {
		char mode[16];
		snprintf(mode, sizeof mode, "%s", s->buffering ? "buffering" : s->file_mode);
		for (char *c = mode; *c; c++) {
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
		}
		printf(" -m %s", mode);
	}
	printf("%s --buffer-size %uK --buffers %u:%u", s->realtime ? " -r" : "", p.p.BufferSize,
	       p.p.MinimumBuffers, p.p.MaximumBuffers);
	if (s->max_file) {
		printf(" --max-size %uMB", p.p.MaximumFileSize);
	}
	for (const char *v = s->on; v && *v;) {
		int k = (int)strcspn(v, "+");
		printf(" -p \"%.*s\"", k, v);
		v += k + (v[k] == '+');
	}
	printf("\n");
}

static void undo(struct xperf *x)
{
	for (int i = 1; i < x->count; i++) {
		struct cli_props p;
		cli_props_init(&p);
		if (x->scope[i].handle) {
			ControlTraceA(x->scope[i].handle, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
		}
	}
}

static int start_one(struct xperf *x, struct scope *s)
{
	struct cli_props p;
	fill(s, &p);
	uint32_t code = StartTraceA(&s->handle, s->name, &p.p);
	if (code) {
		s->handle = 0;
		return cli_fail(x->a, code, "cannot start '%s'", s->name);
	}
	if (s == &x->scope[1]) { /* in one session: marks are not to come twice into a merged file */
		cli_mark_enable(s->handle);
	}
	return enable_all(x->a, s, s->handle);
}

static int run_start(struct xperf *x)
{
	struct cli_args *a = x->a;
	int status = CLI_OK;
	struct cli_provider unused[SPECS_MAX];
	for (int i = 1; i < x->count; i++) { /* mistakes first */
		struct scope *s = &x->scope[i];
		int n;
		if (!s->on) {
			return cli_usage(a, "-start %s needs -on PROVIDERS", s->name);
		}
		if (s->stack) {
			return cli_usage(a, "-StackWalk is for kernel events; write %s:::'stack'", s->on);
		}
		status = parse_specs(a, s->on, unused, &n);
		if (status) {
			return status;
		}
		ULONG ids[8], count;
		if (!parse_pids(s->pids, ids, &count)) {
			return cli_usage(a, "-pids takes up to 8 process ids such as 17,42, not '%s'", s->pids);
		}
		for (int k = 1; k < i; k++) {
			const char *f = s->file ? s->file : "user.etl";
			const char *g = x->scope[k].file ? x->scope[k].file : "user.etl";
			if (!s->buffering && !x->scope[k].buffering && strcmp(f, g) == 0) {
				return cli_usage(a, "'%s' and '%s' both write %s; give them files with -f",
						 x->scope[k].name, s->name, f);
			}
		}
	}
	status = check_kernel(x);
	if (status == CLI_OK && x->count == 1) {
		return cli_flag(a, "explain") ? CLI_OK
					      : cli_usage(a, "nothing is left to start without the kernel's part");
	}
	for (int i = 1; i < x->count && status == CLI_OK; i++) {
		if (cli_flag(a, "explain")) {
			explain_start(&x->scope[i]);
		} else {
			status = start_one(x, &x->scope[i]);
		}
	}
	for (int i = 1; i < x->count && status == CLI_OK && !cli_flag(a, "explain"); i++) {
		const struct scope *s = &x->scope[i];
		status = s->state ? capture_all(a, s->name, s->handle, s->state) : CLI_OK;
	}
	if (status) {
		undo(x);
	}
	return status;
}

/* ---- -stop ------------------------------------------------------------------------------------ */

static int merge(struct cli_args *a, int count, char **files, const char *to)
{
	uint32_t code = openetw_merge((const char *const *)files, (uint32_t)count, to,
				      cli_flag(a, "compress") ? OPENETW_MERGE_COMPRESS : 0, NULL, NULL);
	if (code) {
		return cli_fail(a, code, "cannot merge into %s", to);
	}
	printf("Merged Etl: %s\n", to);
	fprintf(stderr, "The file may hold personal data: names, paths, command lines. Look before you send "
			"it.\n");
	return CLI_OK;
}

/* A memory session has no file: what is in it goes to `spare`. */
static int stop_one(struct cli_args *a, const char *name, char **ret_file)
{
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	*ret_file = NULL;
	if (code == ERROR_SUCCESS && (p.p.LogFileMode & EVENT_TRACE_BUFFERING_MODE) && cli_flag(a, "d")) {
		cli_props_init(&p);
		snprintf(p.file, sizeof p.file, "%s.%ld.etl", cli_value(a, "d", ""), (long)getpid());
		*ret_file = strdup(p.file);
		code = ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_FLUSH);
	}
	cli_props_init(&p);
	code = code ? code : ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_STOP);
	if (code) {
		return cli_fail(a, code, "cannot stop '%s'", name);
	}
	if (p.p.EventsLost) {
		fprintf(stderr, "xperf: warning: Session \"%s\" lost %u events.\n", name, p.p.EventsLost);
	}
	if (!*ret_file && p.p.LogFileNameOffset && p.file[0]) {
		*ret_file = strdup(p.file);
	}
	return CLI_OK;
}

static int run_stop(struct cli_args *a)
{
	char *files[SCOPES_MAX];
	bool spare[SCOPES_MAX];
	int count = 0, status = CLI_OK, named = 0;
	const char *to = cli_value(a, "d", NULL);
	for (const char *v; (v = cli_value_at(a, "stop", named)) != NULL; named++) {
	}
	for (int i = 0; i < named && count < SCOPES_MAX; i++) {
		const char *v = cli_value_at(a, "stop", i), *name = *v ? v : KERNEL;
		struct cli_props p;
		char *file;
		if (cli_flag(a, "explain")) {
			printf("openetw stop '%s'\n", name);
			continue;
		}
		if (strcasecmp(name, KERNEL) == 0 && named > 1 && cli_session_query(name, &p) != 0) {
			fprintf(stderr, "xperf: warning: \"" KERNEL "\" is not running, so there is no kernel part.\n");
			continue;
		}
		int one = stop_one(a, name, &file);
		status = one ? one : status;
		if (one == CLI_OK && file) {
			spare[count] = cli_flag(a, "d") && strncmp(file, to, strlen(to)) == 0 &&
				       file[strlen(to)] == '.';
			files[count++] = file;
		}
	}
	if (to && cli_flag(a, "explain")) {
		printf("openetw merge FILES -o '%s'\n", to);
	} else if (to && status == CLI_OK) {
		status = count ? merge(a, count, files, to)
			       : cli_fail(a, ERROR_FILE_NOT_FOUND, "none of the sessions has a file to merge");
	} else if (!to && status == CLI_OK) {
		for (int i = 0; i < count; i++) {
			printf("%s\n", files[i]);
		}
	}
	for (int i = 0; i < count; i++) {
		if (spare[i] && status == CLI_OK) {
			unlink(files[i]);
		}
		free(files[i]);
	}
	return status;
}

/* ---- the rest --------------------------------------------------------------------------------- */

static struct cli_props *all_sessions(struct cli_args *a, ULONG *ret_count)
{
	enum { MOST = 1024 };
	struct cli_props *all = calloc(MOST, sizeof *all);
	PEVENT_TRACE_PROPERTIES *array = calloc(MOST, sizeof *array);
	*ret_count = 0;
	for (int i = 0; all && array && i < MOST; i++) {
		cli_props_init(&all[i]);
		array[i] = &all[i].p;
	}
	uint32_t code = all && array ? QueryAllTracesA(array, MOST, ret_count) : ERROR_NOT_ENOUGH_MEMORY;
	free(array);
	if (code) {
		cli_fail(a, code, "cannot list the sessions");
		free(all);
		return NULL;
	}
	return all;
}

static int run_loggers(struct cli_args *a)
{
	ULONG n;
	struct cli_props *all = all_sessions(a, &n);
	for (ULONG i = 0; all && i < n; i++) {
		const EVENT_TRACE_PROPERTIES *p = &all[i].p;
		char mode[200];
		cli_mode_text(p->LogFileMode, mode, sizeof mode);
		printf("Logger Name           : %s\n", all[i].name);
		printf("Logger Id             : %llx\n", (unsigned long long)p->Wnode.HistoricalContext);
		printf("Buffer Size           : %u\n", p->BufferSize);
		printf("Maximum Buffers       : %u\n", p->MaximumBuffers);
		printf("Minimum Buffers       : %u\n", p->MinimumBuffers);
		printf("Number of Buffers     : %u\n", p->NumberOfBuffers);
		printf("Free Buffers          : %u\n", p->FreeBuffers);
		printf("Buffers Written       : %u\n", p->BuffersWritten);
		printf("Events Lost           : %u\n", p->EventsLost);
		printf("Log Buffers Lost      : %u\n", p->LogBuffersLost);
		printf("Real Time Buffers Lost: %u\n", p->RealTimeBuffersLost);
		printf("Flush Timer           : %u\n", p->FlushTimer);
		printf("Log File Mode         : %s\n", mode);
		printf("Maximum File Size     : %u\n", p->MaximumFileSize);
		printf("Log Filename          : %s\n\n", all[i].file);
	}
	int status = all ? CLI_OK : CLI_FAILED;
	free(all);
	return status;
}

static int run_stop_all(struct cli_args *a)
{
	ULONG n;
	int status = CLI_OK;
	struct cli_props *all = all_sessions(a, &n);
	for (ULONG i = 0; all && i < n; i++) {
		char *file;
		int one = stop_one(a, all[i].name, &file);
		status = one ? one : status;
		free(file);
	}
	status = all ? status : CLI_FAILED;
	free(all);
	return status;
}

static int print_registered(struct cli_args *a)
{
	static GUID guids[4096];
	ULONG bytes = 0;
	uint32_t code = EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, guids, sizeof guids, &bytes);
	if (code) {
		return cli_fail(a, code, "cannot list the registered providers");
	}
	printf("Registered User Providers:\n");
	for (size_t i = 0; i < bytes / sizeof guids[0]; i++) {
		char text[40];
		cli_guid_text(&guids[i], text);
		printf("\t{%s}\n", text);
	}
	return CLI_OK;
}

static int print_installed(struct cli_args *a)
{
	ULONG bytes = 0;
	uint32_t code = TdhEnumerateProviders(NULL, &bytes);
	uint8_t *all = bytes ? malloc(bytes) : NULL;
	code = all ? TdhEnumerateProviders((PPROVIDER_ENUMERATION_INFO)(void *)all, &bytes) : code;
	if (code && code != ERROR_INSUFFICIENT_BUFFER) {
		free(all);
		return cli_fail(a, code, "cannot list the installed providers");
	}
	printf("Installed User Providers:\n");
	const PROVIDER_ENUMERATION_INFO *info = (const void *)all;
	for (ULONG i = 0; info && i < info->NumberOfProviders; i++) {
		const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];
		const uint16_t *wide = (const uint16_t *)(const void *)(all + p->ProviderNameOffset);
		char text[40], name[512] = "";
		cli_guid_text(&p->ProviderGuid, text);
		if (p->ProviderNameOffset) {
			utf16_to_utf8_lossy(wide, utf16_len(wide), name, sizeof name);
		}
		printf("\t{%s} : %s\n", text, name);
	}
	free(all);
	return CLI_OK;
}

static int run_providers(struct cli_args *a)
{
	const char *k = cli_value(a, "providers", "");
	if (strcasecmp(k, "KF") == 0 || strcasecmp(k, "KG") == 0 || strcasecmp(k, "K") == 0) {
		xperf_kernel_print(k);
		return CLI_OK;
	}
	if (strcasecmp(k, "I") == 0) {
		return print_installed(a);
	}
	if (strcasecmp(k, "R") == 0) {
		return print_registered(a);
	}
	if (*k) {
		return cli_usage(a, "-providers takes I, R, KF, KG or K, not '%s'", k);
	}
	int status = print_installed(a);
	status = status ? status : print_registered(a);
	xperf_kernel_print("K");
	return status;
}

static int run_flush(struct cli_args *a)
{
	const char *name = cli_value(a, "flush", ""), *file = cli_value(a, "f", NULL);
	struct cli_props p;
	cli_props_init(&p);
	if (file) {
		snprintf(p.file, sizeof p.file, "%s", file);
	} else {
		p.p.LogFileNameOffset = 0;
	}
	uint32_t code = ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_FLUSH);
	return code ? cli_fail(a, code, "cannot flush '%s'", name) : CLI_OK;
}

static int run_capture(struct cli_args *a)
{
	const char *name = cli_value(a, "capturestate", "");
	struct cli_props p;
	if (a->count != 1) {
		return cli_usage(a, "-capturestate takes a session and providers joined by +");
	}
	uint32_t code = cli_session_query(name, &p);
	return code ? cli_fail(a, code, "no session '%s'", name)
		    : capture_all(a, name, p.p.Wnode.HistoricalContext, a->words[0]);
}

static int run_update(struct xperf *x)
{
	struct cli_args *a = x->a;
	const char *name = cli_value(a, "update", "");
	const struct scope *s = &x->scope[0];
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	TRACEHANDLE h = p.p.Wnode.HistoricalContext;
	if (code) {
		return cli_fail(a, code, "no session '%s'", name);
	}
	if (s->flush || cli_flag(a, "MaxBuffers") || s->file) {
		cli_props_init(&p);
		p.p.FlushTimer = (ULONG)s->flush;
		p.p.MaximumBuffers = cli_flag(a, "MaxBuffers") ? (ULONG)s->max : 0;
		if (s->file) {
			snprintf(p.file, sizeof p.file, "%s", s->file);
		} else {
			p.p.LogFileNameOffset = 0;
		}
		code = ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_UPDATE);
		if (code) {
			return cli_fail(a, code, "cannot update '%s'", name);
		}
	}
	struct scope only = *s;
	only.name = name;
	return enable_all(a, &only, h);
}

static int run_mark(struct cli_args *a, const char *verb)
{
	uint32_t code = cli_mark_write("Mark", cli_value(a, verb, ""));
	return code ? cli_fail(a, code, "no session of xperf or wpr is running to take the mark") : CLI_OK;
}

static int run_merge(struct cli_args *a)
{
	char *files[CLI_VALUES_MAX];
	int n = 0;
	const char *to = cli_value(a, "o", NULL);
	files[n++] = (char *)(uintptr_t)cli_value(a, "merge", "");
	for (int i = 0; i < a->count && n < CLI_VALUES_MAX; i++) {
		files[n++] = a->words[i];
	}
	if (!to) {
		if (n < 2) {
			return cli_usage(a, "-merge takes files and, last, the one to write");
		}
		to = files[--n];
	}
	if (cli_flag(a, "explain")) {
		printf("openetw merge");
		for (int i = 0; i < n; i++) {
			printf(" '%s'", files[i]);
		}
		printf(" -o '%s'%s\n", to, cli_flag(a, "compress") ? " --compress" : "");
		return CLI_OK;
	}
	return merge(a, n, files, to);
}

static int run_read(struct cli_args *a)
{
	char *files[CLI_VALUES_MAX];
	int n = 0;
	const char *action = cli_value(a, "a", "dumper");
	if (strcasecmp(action, "dumper") != 0) {
		return cli_usage(a, "the action '%s' is not in this version; 'dumper' is, and 'openetw stats' counts",
				 action);
	}
	for (const char *v; n < CLI_VALUES_MAX && (v = cli_value_at(a, "i", n)) != NULL; n++) {
		files[n] = (char *)(uintptr_t)v;
	}
	for (int i = 0; i < a->count && n < CLI_VALUES_MAX; i++) {
		files[n++] = a->words[i];
	}
	if (cli_flag(a, "explain")) {
		printf("openetw dump --format csv");
		for (int i = 0; i < n; i++) {
			printf(" '%s'", files[i]);
		}
		printf("\n");
		return CLI_OK;
	}
	return xperf_dump(a, n, files, cli_value(a, "o", NULL), cli_flag(a, "tle"));
}

static int run(struct cli_args *a)
{
	static const char *const verbs[] = {"i",	"merge",	"stop",	  "stopall", "flush",	"capturestate",
					    "update",	"m",	"mf",	  "loggers", "providers"};
	const char *verb = NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(refused); i++) {
		if (cli_flag(a, refused[i].name)) {
			cli_fail(a, ERROR_NOT_SUPPORTED, "-%s: %s", refused[i].name, refused[i].why);
			return CLI_FAILED;
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(verbs); i++) {
		if (cli_flag(a, verbs[i])) {
			if (verb) {
				return cli_usage(a, "-%s and -%s are two things to do; one at a time", verb,
						 verbs[i]);
			}
			verb = verbs[i];
		}
	}
	if (verb && cli_flag(a, "start")) {
		return cli_usage(a, "-start and -%s are two things to do; one at a time", verb);
	}
	bool takes_words = verb && (strcmp(verb, "i") == 0 || strcmp(verb, "merge") == 0 ||
				    strcmp(verb, "capturestate") == 0);
	if (a->count > 0 && !takes_words) {
		return cli_usage(a, "'%s' belongs to no option", a->words[0]);
	}
	struct xperf x = {.a = a};
	if (!scopes(&x)) {
		return CLI_USAGE;
	}
	if (!verb && !cli_flag(a, "on") && !cli_flag(a, "start")) {
		return cli_usage(a, "what to do? -start, -stop, -merge, -i, …");
	}
	return !verb			       ? run_start(&x)
	       : strcmp(verb, "i") == 0	       ? run_read(a)
	       : strcmp(verb, "merge") == 0    ? run_merge(a)
	       : strcmp(verb, "stop") == 0     ? run_stop(a)
	       : strcmp(verb, "stopall") == 0  ? run_stop_all(a)
	       : strcmp(verb, "flush") == 0    ? run_flush(a)
	       : strcmp(verb, "update") == 0   ? run_update(&x)
	       : verb[0] == 'm'		       ? run_mark(a, verb)
	       : strcmp(verb, "loggers") == 0  ? run_loggers(a)
	       : strcmp(verb, "providers") == 0 ? run_providers(a)
						: run_capture(a);
}

const struct cli_command cli_xperf = {
	.name = "xperf",
	.synopsis = "-start SESSION -on PROVIDERS [options] | -stop SESSION -d FILE | -i FILE | …",
	.summary = "Control sessions, merge and print traces, as the Windows Performance Toolkit's tool.",
	.details =
		"Each -start opens a scope: the options after it are of that session, those before the first\n"
		"one of the kernel's. A provider is Name:keywords:level:'stack' with or without the quotes;\n"
		"what is empty means everything. When one session cannot be started, none is.\n\n"
		"Kernel events are not recorded in this version: a command with kernel flags is refused, exit\n"
		"status 1, and says what it lacks; --partial starts the other sessions. When several sessions\n"
		"are stopped, a kernel session that does not run is a warning.\n\n"
		"Examples:\n"
		"  xperf -start web -on \"MyCompany.Web:0x1:5:'stack'+MyCompany.Db\" -f web.etl -BufferSize 1024\n"
		"  xperf -m \"here it is slow\"\n"
		"  xperf -stop web -d merged.etl\n"
		"  xperf -i merged.etl -o merged.csv\n"
		"  xperf -on latency -start web -on MyCompany.Web --partial\n",
	.options = options,
	.run = run,
	.classic = true,
	.complete = "file",
};
