/* SPDX-License-Identifier: MIT
 * tracelog's options: the table, the session and the filters they describe.
 */
#include "tools/classic/tracelog.h"
#include "base/parse.h"
#include "tools/common/path.h"

#include <stdlib.h>
#include <strings.h>

const struct cli_option tracelog_option_table[] = {
	{0, "start", "[SESSION]", "start a session", NULL},
	{0, "stop", "[SESSION]", "stop it", NULL},
	{0, "update", "[SESSION]", "change a running session", NULL},
	{0, "enable", "[SESSION]", "enable the providers of -guid in a running session", NULL},
	{0, "enableex", "[SESSION]", "the same", NULL},
	{0, "disable", "[SESSION]", "disable them", NULL},
	{0, "flush", "[SESSION]", "write what is in memory; with -f, of a buffering session", NULL},
	{0, "capturestate", "[SESSION]", "ask the providers of -guid for a rundown; without it all that are enabled",
	 NULL},
	{0, "q", "[SESSION]", "show a session", NULL},
	{0, "l", NULL, "show all sessions", NULL},
	{0, "x", NULL, "stop all sessions", NULL},
	{0, "lp", NULL, "with -q and -l: the enabled providers, too", NULL},
	{0, "enumguid", NULL, "registered and enabled providers", NULL},
	{0, "enumguidex", "[GUID]", "the same for each process", NULL},
	{0, "addautologger", "SESSION", "save the session as one that starts with etwd", NULL},
	{0, "sessionguid", "GUID", "with -addautologger and -start: the session's GUID", NULL},
	{0, "remove", "SESSION", "drop an autologger", NULL},
	{0, "f", "[FILE]", "log file (default logfile.etl)", NULL},
	{0, "append", NULL, "append to the file", NULL},
	{0, "seq", "[MB]", "sequential file, at most MB large", NULL},
	{0, "cir", "MB", "circular file of MB", NULL},
	{0, "newfile", "MB", "a new file every MB; the name needs %d", NULL},
	{0, "prealloc", NULL, "reserve the file's size at once", NULL},
	{0, "kb", NULL, "file sizes are KB instead of MB", NULL},
	{0, "rt", NULL, "deliver to live consumers", NULL},
	{0, "buffering", NULL, "keep events in memory until -flush", NULL},
	{0, "ft", "SECONDS", "write part-filled buffers this often; 100ms are milliseconds", NULL},
	{0, "bt", "N", "accepted: what is there is delivered every 10 ms, full or not", NULL},
	{0, "b", "KB", "size of one buffer", NULL},
	{0, "min", "N", "least number of buffers", NULL},
	{0, "max", "N", "greatest number of buffers", NULL},
	{0, "paged", NULL, "accepted: all memory here is paged", NULL},
	{0, "lowcapacity", NULL, "one stream of buffers for all processors", NULL},
	{0, "guid", "GUID|*NAME|FILE", "provider, or file of guid;keywords;level (repeatable)", NULL},
	{0, "flag", "FLAGS", "any of these keywords", NULL},
	{0, "flags", "FLAGS", "the same", NULL},
	{0, "level", "LEVEL", "up to this level", NULL},
	{0, "matchanykw", "MASK", "any of these keywords", NULL},
	{0, "matchallkw", "MASK", "all of these keywords", NULL},
	{0, "enableproperty", "BITS", "EVENT_ENABLE_PROPERTY_*: 1 sid, 4 stack, …", NULL},
	{0, "sourceguid", "GUID", "source id that callbacks get", NULL},
	{0, "EventIdFilter", "-in|-out N ID…", "only, or all but, these event ids", NULL},
	{0, "StackWalkFilter", "-in|-out N ID…", "stacks of only, or all but, these ids", NULL},
	{0, "PidFilter", "N PID…", "only these processes", NULL},
	{0, "ExeFilter", "NAMES", "only these executables: a;b", NULL},
	{0, "gs", NULL, "global sequence numbers", NULL},
	{0, "ls", NULL, "sequence numbers of the session", NULL},
	{0, "UsePerfCounter", NULL, "clock: performance counter (default)", NULL},
	{0, "UseSystemTime", NULL, "clock: system time", NULL},
	{0, "UseCPUCycle", NULL, "clock: processor cycles", NULL},
	{0, "um", NULL,
	 "private session in each process that has the provider (-guid), with a file of its own: FILE, FILE_PID …",
	 NULL},
	{0, "secure", NULL, "only who has the right to log into the session", NULL},
	{0, "independent", NULL, "accepted: sessions here are always independent", NULL},
	{0, "systemlogger", NULL, "may receive kernel events", NULL},
	{0, "hybridshutdown", "WHAT", "accepted: stop or persist", "stop|persist"},
	{0, "addtotriagedump", NULL, "accepted", NULL},
	{0, "timeout", "MS", "wait so long for providers' callbacks", NULL},
	{0, "eflag", "N [FLAG…]", "kernel flags by name (xperf -providers KF) or PERF_* number; or FLAG+FLAG…", NULL},
	{0, "img", NULL, "kernel: image loads", NULL},
	{0, "cm", NULL, "kernel: registry", NULL},
	{0, "fio", NULL, "kernel: file names", NULL},
	{0, "pf", NULL, "kernel: page faults", NULL},
	{0, "hf", NULL, "kernel: hard faults", NULL},
	{0, "dpcisr", NULL, "kernel: interrupts", NULL},
	{0, "noprocess", NULL, "kernel: no processes", NULL},
	{0, "nothread", NULL, "kernel: no threads", NULL},
	{0, "nodisk", NULL, "kernel: no disk", NULL},
	{0, "nonet", NULL, "kernel: no network", NULL},
	{0, "PkgIdFilter", "NAMES", "refused: packages of Windows", NULL},
	{0, "PkgAppIdFilter", "NAMES", "refused: packages of Windows", NULL},
	{0, "ProfileSource", "SOURCE,…|Help", "what samples are taken by (PMC_PROFILE), beside the timer; Help lists",
	 NULL},
	{0, "Pmc", "COUNTER,…:EVENT+…", "kernel: values of these counters with these events", NULL},
	{0, "PmcSources", NULL, "the same list", NULL},
	{0, "Lbr", "WHAT", "refused: branch records", NULL},
	{0, "heap", NULL, "refused: heap events", NULL},
	{0, "critsec", NULL, "refused: critical sections", NULL},
	{0, "pids", "N PID…", "refused: goes with -heap", NULL},
	{0, "systemrundown", "[SESSION]", "processes, threads and images once more into a kernel session", NULL},
	{0, "SetProfInt", "N [SOURCE]", "time between samples, in 100 ns; of another source its events", NULL},
	{0, "kd", NULL, "refused: no kernel debugger", NULL},
	{0, "stackwalk", "EVENT…", "kernel events with call stacks: Profile, CSwitch, …", NULL},
	{0, "explain", NULL, "do nothing but print the same as a line of openetw", NULL},
	{0},
};

/* ---- the options' session
 * --------------------------------------------------------------------- */

static bool mask(const struct winargs *w, const char *name, uint64_t *inout)
{
	const char *v = winargs_value(w, name, NULL);
	char hex[32];
	if (!v || parse_number(v, 0, UINT64_MAX, inout)) {
		return true;
	}
	/* Old instructions write "ffff". */
	snprintf(hex, sizeof hex, "0x%s", v);
	if (!parse_number(hex, 0, UINT64_MAX, inout)) {
		cli_usage(w->a, "-%s takes a number such as 0x10, not '%s'", name, v);
		return false;
	}
	return true;
}

/* "N" seconds, or "Nms". */
static bool flush_timer(const struct winargs *w, struct etw_session *s)
{
	const char *v = winargs_value(w, "ft", NULL);
	size_t n = v ? strlen(v) : 0;
	char digits[16];
	uint64_t ms;
	if (n < 3 || n >= sizeof digits || strcasecmp(v + n - 2, "ms") != 0) {
		return winargs_u32(w, "ft", 0, 1, 86400, &s->props.flush_timer);
	}
	snprintf(digits, sizeof digits, "%.*s", (int)(n - 2), v);
	if (!parse_number(digits, 1, 86400000, &ms)) {
		cli_usage(w->a, "-ft takes seconds, or milliseconds such as 100ms, not '%s'", v);
		return false;
	}
	s->props.flush_timer = (uint32_t)ms;
	s->props.mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
	return true;
}

/* "guid;matchanykeyword;level", ';' alone in front a comment. */
static bool guid_file(const struct winargs *w, const char *path, const struct session_provider *base,
		      struct etw_session *s)
{
	char line[1024];
	FILE *f = cli_path_fopen(path);
	if (!f) {
		cli_usage(w->a, "-guid %s: neither #GUID nor *NAME, and no file: %s", path, strerror(errno));
		return false;
	}
	for (unsigned n = 1; fgets(line, sizeof line, f); n++) {
		char *save = NULL, *start = line + strspn(line, " \t\r\n\xEF\xBB\xBF");
		if (*start == 0 || *start == ';' || *start == '#') {
			continue;
		}
		start[strcspn(start, "\r\n")] = 0;
		char *guid = strtok_r(start, "; \t", &save);
		char *any = strtok_r(NULL, "; \t", &save), *level = strtok_r(NULL, "; \t", &save);
		struct session_provider p = *base;
		uint64_t v;
		if (!guid || guid_parse(guid + (*guid == '#'), &p.guid) < 0) {
			cli_usage(w->a, "%s:%u: '%s' is no GUID", path, n, guid ? guid : "");
			fclose(f);
			return false;
		}
		if (any && parse_number(any, 0, UINT64_MAX, &v)) { /* else it is the provider's name */
			p.any = v;
		}
		if (level && parse_number(level, 0, 255, &v)) {
			p.level = (uint8_t)v;
		}
		struct session_provider *at = session_add_provider(s, &p.guid);
		if (!at) {
			cli_usage(w->a, "%s:%u: %s", path, n, session_add_failed(s));
			fclose(f);
			return false;
		}
		*at = p;
	}
	fclose(f);
	return true;
}

bool tracelog_providers(const struct winargs *w, struct etw_session *s)
{
	uint64_t level = 255, any = 0, all = 0, properties = 0;
	if (!mask(w, "level", &level) || !mask(w, "flag", &any) || !mask(w, "flags", &any) ||
	    !mask(w, "matchanykw", &any) || !mask(w, "matchallkw", &all) || !mask(w, "enableproperty", &properties)) {
		return false;
	}
	if (properties > UINT32_MAX) {
		cli_usage(w->a, "-enableproperty has 32 bits");
		return false;
	}
	struct session_provider base = {.enabled = true,
					.level = (uint8_t)BASE_MIN(level, (uint64_t)255),
					.any = any,
					.all = all,
					.properties = (uint32_t)properties};
	for (int i = 0; i < w->arg_count; i++) {
		const struct winarg *g = &w->arg[i];
		if (strcasecmp(g->option->name, "guid") != 0) {
			continue;
		}
		const char *v = g->value[0];
		struct session_provider p;
		struct guid id;
		bool literal = *v == '#' || *v == '*' || guid_parse(v, &id) == 0;
		if (!literal) {
			if (!guid_file(w, v, &base, s)) {
				return false;
			}
			continue;
		}
		if (!controller_provider(v, &p)) {
			cli_usage(w->a, "-guid: '%s' is no GUID", v);
			return false;
		}
		id = p.guid;
		struct session_provider *at = session_add_provider(s, &id);
		if (!at) {
			cli_usage(w->a, "-guid: %s", session_add_failed(s));
			return false;
		}
		*at = base;
		at->guid = id;
		memcpy(at->name, p.name, sizeof at->name);
	}
	return true;
}

static const struct {
	const char *option;
	uint32_t bit;
} mode_options[] = {
	{"append", EVENT_TRACE_FILE_MODE_APPEND},
	{"cir", EVENT_TRACE_FILE_MODE_CIRCULAR},
	{"newfile", EVENT_TRACE_FILE_MODE_NEWFILE},
	{"seq", EVENT_TRACE_FILE_MODE_SEQUENTIAL},
	{"prealloc", EVENT_TRACE_FILE_MODE_PREALLOCATE},
	{"kb", EVENT_TRACE_USE_KBYTES_FOR_SIZE},
	{"rt", EVENT_TRACE_REAL_TIME_MODE},
	{"buffering", EVENT_TRACE_BUFFERING_MODE},
	{"paged", EVENT_TRACE_USE_PAGED_MEMORY},
	{"lowcapacity", EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING},
	{"gs", EVENT_TRACE_USE_GLOBAL_SEQUENCE},
	{"ls", EVENT_TRACE_USE_LOCAL_SEQUENCE},
	{"um", EVENT_TRACE_PRIVATE_LOGGER_MODE},
	{"secure", EVENT_TRACE_SECURE_MODE},
	{"independent", EVENT_TRACE_INDEPENDENT_SESSION_MODE},
	{"systemlogger", EVENT_TRACE_SYSTEM_LOGGER_MODE},
	{"addtotriagedump", EVENT_TRACE_ADDTO_TRIAGE_DUMP},
};

/* What the kernel logger records; the daemon says whether it can. */
static uint32_t kernel_flags(const struct winargs *w)
{
	static const struct {
		const char *option;
		uint32_t on, off;
	} rows[] = {{"img", 0x4, 0},      {"cm", 0x20000, 0},   {"fio", 0x2000000, 0}, {"pf", 0x1000, 0},
		    {"hf", 0x2000, 0},    {"dpcisr", 0x60, 0},  {"noprocess", 0, 0x1}, {"nothread", 0, 0x2},
		    {"nodisk", 0, 0x300}, {"nonet", 0, 0x10000}};
	uint32_t flags = 0x1 | 0x2 | 0x100 | 0x200 | 0x10000;
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (winargs_on(w, rows[i].option)) {
			flags = (flags | rows[i].on) & ~rows[i].off;
		}
	}
	return flags;
}

bool tracelog_describe(const struct winargs *w, const char *name, struct etw_session *s)
{
	uint32_t clock_options = 0;
	snprintf(s->name, sizeof s->name, "%s", name);
	for (size_t i = 0; i < BASE_ARRAY_LEN(mode_options); i++) {
		if (winargs_on(w, mode_options[i].option)) {
			s->props.mode |= mode_options[i].bit;
		}
	}
	static const char *const clocks[] = {"UsePerfCounter", "UseSystemTime", "UseCPUCycle"};
	for (uint32_t i = 0; i < 3; i++) {
		if (winargs_on(w, clocks[i])) {
			s->props.clock = i + 1;
			clock_options++;
		}
	}
	if (clock_options > 1) {
		cli_usage(w->a, "only one of -UsePerfCounter, -UseSystemTime and -UseCPUCycle");
		return false;
	}
	const char *const sizes[] = {"seq", "cir", "newfile"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(sizes); i++) {
		if (!winargs_u32(w, sizes[i], 0, 1, UINT32_MAX, &s->props.maximum_file_size)) {
			return false;
		}
	}
	if (!winargs_u32(w, "b", 0, 4, 16384, &s->props.buffer_kb) ||
	    !winargs_u32(w, "min", 0, 1, 1u << 20, &s->props.minimum_buffers) ||
	    !winargs_u32(w, "max", 0, 1, 1u << 20, &s->props.maximum_buffers) || !flush_timer(w, s) ||
	    !tracelog_providers(w, s)) {
		return false;
	}
	const char *guid = winargs_value(w, "sessionguid", NULL);
	if (guid && guid_parse(guid + (*guid == '#'), &s->props.guid) < 0) {
		cli_usage(w->a, "-sessionguid: '%s' is no GUID", guid);
		return false;
	}
	bool memory = s->props.mode & (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE);
	if (winargs_on(w, "f") || !memory) {
		const char *f = winargs_value(w, "f", "logfile.etl");
		if (!cli_path_absolute(f, s->file, sizeof s->file)) {
			cli_usage(w->a, "the file name is too long");
			return false;
		}
	}
	if (s->file[0] && !(s->props.mode & (EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_CIRCULAR |
					     EVENT_TRACE_FILE_MODE_NEWFILE))) {
		s->props.mode |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	if ((s->props.mode & EVENT_TRACE_FILE_MODE_APPEND) && clock_options == 0) {
		s->props.clock = 2;
	}
	if (strcasecmp(name, CONTROLLER_KERNEL_SESSION) == 0 && !winargs_on(w, "eflag")) {
		struct session_provider kernel;
		controller_provider("Windows Kernel Trace", &kernel);
		struct session_provider *at = session_add_provider(s, &kernel.guid);
		if (!at) {
			cli_usage(w->a, "%s", session_add_failed(s));
			return false;
		}
		*at = kernel;
		at->any = kernel_flags(w);
	}
	return true;
}

bool tracelog_kernel(const struct winargs *w, struct session_kernel *ret, struct cli_counters *counters)
{
	*ret = (struct session_kernel){0};
	*counters = (struct cli_counters){0};
	const struct winarg *flags = winargs_find(w, "eflag"), *stacks = winargs_find(w, "stackwalk");
	uint64_t n;
	/* "N FLAG…", and without the number when + joins them. */
	bool joined = flags && flags->count == 1 && !parse_number(flags->value[0], 0, UINT64_MAX, &n);
	if (joined && cli_kernel_flags(w->a, flags->value[0], false, ret) != CLI_OK) {
		return false;
	}
	if (flags && !joined &&
	    (!parse_number(flags->value[0], 0, UINT64_MAX, &n) || n != (uint64_t)flags->count - 1)) {
		cli_usage(w->a, "-eflag: '%s' is followed by %d flags", flags->value[0], flags->count - 1);
		return false;
	}
	for (int i = 1; flags && !joined && i < flags->count; i++) {
		if (cli_kernel_flags(w->a, flags->value[i], false, ret) != CLI_OK) {
			return false;
		}
	}
	for (int i = 0; stacks && i < stacks->count; i++) {
		if (!cli_kernel_stacks(w->a, stacks->value[i], ret)) {
			return false;
		}
	}
	const char *pmc = winargs_value(w, "Pmc", NULL), *sources = winargs_value(w, "ProfileSource", NULL);
	if (pmc && !strchr(pmc, ':')) {
		cli_usage(w->a,
			  "-Pmc takes counters and events, such as PageFaults,ContextSwitches:CSwitch+SyscallEnter");
		return false;
	}
	if ((pmc && !cli_counters_parse(w->a, pmc, counters)) || (sources && !tracelog_sources(w, sources, counters))) {
		return false;
	}
	if (counters->sampleds) {
		kernel_mask_set(&ret->mask, KERNEL_BIT_PMC_PROFILE);
	}
	return true;
}

bool tracelog_sources(const struct winargs *w, const char *text, struct cli_counters *c)
{
	for (const char *s = text; *s;) {
		char one[64];
		size_t n = strcspn(s, ",+");
		snprintf(one, sizeof one, "%.*s", (int)n, s);
		if (!cli_counters_sampled(w->a, one, c)) {
			return false;
		}
		s += n + (s[n] != 0);
	}
	return true;
}

/* ---- filters
 * ---------------------------------------------------------------------------------- */

/* The count in front is part of the grammar; it has to be right. */
static bool counted(const struct winargs *w, const struct winarg *g, int at, uint32_t max, uint64_t limit,
		    uint64_t *out, uint32_t *ret_n)
{
	uint64_t n;
	int given = g->count - at - 1;
	if (!parse_number(g->value[at], 1, max, &n) || n != (uint64_t)given) {
		cli_usage(w->a, "-%s: '%s' is followed by %d numbers; 1 to %u are possible", g->option->name,
			  g->value[at], given, max);
		return false;
	}
	for (int i = 0; i < given; i++) {
		if (!parse_number(g->value[at + 1 + i], 0, limit, &out[i])) {
			cli_usage(w->a, "-%s: '%s' is no number in range", g->option->name, g->value[at + 1 + i]);
			return false;
		}
	}
	*ret_n = (uint32_t)n;
	return true;
}

static const char *filter_name(enum session_filter kind)
{
	return kind == SESSION_FILTER_EVENT_ID   ? "EventIdFilter"
	       : kind == SESSION_FILTER_STACK_ID ? "StackWalkFilter"
	       : kind == SESSION_FILTER_PID      ? "PidFilter"
						 : "ExeFilter";
}

/* What an option says, as session files have it; nothing without the option. False: printed the mistake. */
static bool filter_text(const struct winargs *w, enum session_filter kind, struct strbuf *out)
{
	uint64_t v[64];
	uint32_t n;
	const char *name = filter_name(kind);
	const struct winarg *g = winargs_find(w, name);
	if (!g) {
		return true;
	}
	if (kind == SESSION_FILTER_EXE) {
		strbuf_adds(out, g->value[0]);
		return true;
	}
	bool ids = kind != SESSION_FILTER_PID, in = strcasecmp(g->value[0], "-in") == 0;
	if (ids && !in && strcasecmp(g->value[0], "-out") != 0) {
		cli_usage(w->a, "-%s is followed by -in or -out", name);
		return false;
	}
	if (!counted(w, g, ids, ids ? 64 : 8, ids ? UINT16_MAX : UINT32_MAX, v, &n)) {
		return false;
	}
	strbuf_adds(out, ids && !in ? "!" : "");
	for (uint32_t i = 0; i < n; i++) {
		strbuf_addf(out, "%s%llu", i ? "," : "", (unsigned long long)v[i]);
	}
	return true;
}

static const enum session_filter filters[] = {SESSION_FILTER_EVENT_ID, SESSION_FILTER_STACK_ID, SESSION_FILTER_PID,
					      SESSION_FILTER_EXE};

static bool set_filter(const struct winargs *w, enum session_filter kind, const struct strbuf *text,
		       struct session_provider *p)
{
	struct diag d = {0};
	int r = text->failed ? -ENOMEM : session_set_filter(p, kind, text->s ? text->s : "", &d);
	if (r < 0) {
		cli_usage(w->a, "-%s %s", filter_name(kind), d.text[0] ? d.text : "needs more memory than there is");
	}
	return r == 0;
}

bool tracelog_filters(const struct winargs *w, struct etw_session *s)
{
	bool fine = true;
	for (size_t k = 0; k < BASE_ARRAY_LEN(filters) && fine; k++) {
		struct strbuf text = {0};
		struct session_provider none = {0}; /* a mistake is one without providers, too */
		if (!winargs_find(w, filter_name(filters[k]))) {
			continue;
		}
		fine = filter_text(w, filters[k], &text) && set_filter(w, filters[k], &text, &none);
		for (uint32_t i = 0; i < s->provider_count && fine; i++) {
			fine = set_filter(w, filters[k], &text, &s->provider[i]);
		}
		session_provider_finish(&none);
		strbuf_finish(&text);
	}
	return fine;
}

void tracelog_scope(const struct winargs *w, struct launch_filters *ret)
{
	launch_filters_init(ret);
	for (size_t k = 0; k < BASE_ARRAY_LEN(filters); k++) {
		struct strbuf text = {0};
		if (filter_text(w, filters[k], &text) && text.s && text.len) {
			(void)launch_filters_add(ret, filters[k], text.s, NULL); /* they were looked at before */
		}
		strbuf_finish(&text);
	}
}
