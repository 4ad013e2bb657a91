/* SPDX-License-Identifier: MIT
 * tracelog's options: the table, the session and the filters they describe.
 */
#include "tools/classic/tracelog.h"
#include "base/parse.h"
#include "tools/common/path.h"

#include <stdlib.h>
#include <strings.h>

/* ---- reading values ------------------------------------------------------------------------------ */

static bool take_mask(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	char hex[32];
	/* Old instructions write "ffff". */
	snprintf(hex, sizeof hex, "0x%s", value);
	if (parse_number(value, 0, o->max, member) || parse_number(hex, 0, o->max, member)) {
		return true;
	}
	cli_usage(a, "-%s takes a number such as 0x10, from 0 to 0x%llx, not '%s'", o->name, (unsigned long long)o->max,
		  value);
	return false;
}

/* -seq, -cir, -newfile: a mode, and a size with it. */
static bool take_layout(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct tracelog_layout *l = member;
	uint64_t size = l->max_size;
	l->mode |= (uint32_t)o->unit;
	if (*value && !cli_take_number(a, o, value, &size)) {
		return false;
	}
	l->max_size = (uint32_t)size;
	return true;
}

/* "N" seconds, or "Nms". */
static bool take_timer(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct tracelog_timer *t = member;
	size_t n = strlen(value);
	uint64_t v;
	t->ms = n > 2 && strcasecmp(value + n - 2, "ms") == 0;
	if (!t->ms && !cli_take_number(a, o, value, &v)) {
		return false;
	}
	if (t->ms && !parse_number_of(value, n - 2, 1, 86400000, &v)) {
		cli_usage(a, "-%s takes seconds, or milliseconds such as 100ms, not '%s'", o->name, value);
		return false;
	}
	t->time = (uint32_t)v;
	return true;
}

static bool take_guid(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct tracelog_guid *g = member;
	g->given = guid_parse(value + (*value == '#'), &g->guid) == 0;
	if (!g->given) {
		cli_usage(a, "-%s: '%s' is no GUID", o->name, value);
	}
	return g->given;
}

static bool take_interval(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct tracelog_interval *i = member;
	i->source = count > 1 ? value[1] : NULL;
	return cli_take_number(a, o, value[0], &i->interval);
}

/* "N FLAG…", and without the number when + joins them. */
static bool take_flags(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct tracelog_kernel *k = member;
	uint64_t n = 0;
	bool number = parse_number(value[0], 0, UINT64_MAX, &n);
	k->flags = true;
	if (count == 1 && strcasecmp(value[0], "Help") == 0) {
		k->help = true;
		return true;
	}
	if (number ? n != (uint64_t)count - 1 : count > 1) {
		cli_usage(a, "-eflag: '%s' is followed by %d flags", value[0], count - 1);
		return false;
	}
	for (int i = number; i < count; i++) {
		if (cli_kernel_flags(a, value[i], false, &k->wish) != CLI_OK) {
			return false;
		}
	}
	return true;
}

static bool take_stacks(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct tracelog_kernel *k = member;
	return cli_kernel_stacks(a, value, &k->wish);
}

/* "N ID…": the count in front is part of the grammar; it has to be right. The row has the greatest count and number. */
static bool counted(const struct cli_args *a, const struct cli_option *o, int count, char **value, uint64_t *out)
{
	uint64_t n;
	if (!parse_number(value[0], 1, o->unit, &n) || n != (uint64_t)count - 1) {
		cli_usage(a, "-%s: '%s' is followed by %d numbers; 1 to %u are possible", o->name, value[0], count - 1,
			  (unsigned)o->unit);
		return false;
	}
	for (int i = 1; i < count; i++) {
		if (!cli_take_number(a, o, value[i], &out[i - 1])) {
			return false;
		}
	}
	return true;
}

static bool take_ids(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct tracelog_ids *ids = member;
	uint64_t v[BASE_ARRAY_LEN(ids->id)];
	ids->given = true;
	ids->in = strcasecmp(value[0], "-in") == 0;
	if (!ids->in && strcasecmp(value[0], "-out") != 0) {
		cli_usage(a, "-%s is followed by -in or -out", o->name);
		return false;
	}
	if (!counted(a, o, count - 1, value + 1, v)) {
		return false;
	}
	ids->count = (uint32_t)count - 2;
	for (uint32_t i = 0; i < ids->count; i++) {
		ids->id[i] = (uint16_t)v[i];
	}
	return true;
}

static bool take_pids(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct tracelog_pids *p = member;
	uint64_t v[BASE_ARRAY_LEN(p->pid)];
	if (!counted(a, o, count, value, v)) {
		return false;
	}
	p->count = (uint32_t)count - 1;
	for (uint32_t i = 0; i < p->count; i++) {
		p->pid[i] = (ULONG)v[i];
	}
	return true;
}

#define VERB(name, arg, help)         CLI_VERB(tracelog_options, verb, name, arg, help)
#define MODE(which, name, help)       CLI_BITS(tracelog_options, layout.mode, EVENT_TRACE_##which, 0, name, help)
#define KERNEL(part, bit, name, help) CLI_BITS(tracelog_options, kernel_##part, bit, 0, name, help)
#define SIZED(mode, name, arg, help)                                                             \
	CLI_BOUNDED(tracelog_options, layout, struct tracelog_layout, take_layout, 0, name, arg, \
		    EVENT_TRACE_FILE_MODE_##mode, 1, UINT32_MAX, help)
#define MASK(member, name, arg, most, help) \
	CLI_BOUNDED(tracelog_options, member, uint64_t, take_mask, 0, name, arg, 1, 0, most, help)
#define COUNTED(member, kind, take_fn, name_, arg_, most, limit, help_)                                     \
	{                                                                                                   \
		.name = name_, .arg = arg_, .help = help_, .take_all = take_fn, .unit = most, .max = limit, \
		.offset = CLI_AT(tracelog_options, member, kind)                                            \
	}

const struct tracelog_options tracelog_defaults = {.level = 255, .timeout = 5000};
const struct cli_option tracelog_option_table[] = {
	VERB("start", "[SESSION]", "start a session"),
	VERB("stop", "[SESSION]", "stop it"),
	VERB("update", "[SESSION]", "change a running session"),
	VERB("enable", "[SESSION]", "enable the providers of -guid in a running session"),
	VERB("enableex", "[SESSION]", "the same"),
	VERB("disable", "[SESSION]", "disable them"),
	VERB("flush", "[SESSION]", "write what is in memory; with -f, of a buffering session"),
	VERB("capturestate", "[SESSION]", "ask the providers of -guid for a rundown; without it all that are enabled"),
	VERB("q", "[SESSION]", "show a session"),
	VERB("l", NULL, "show all sessions"),
	VERB("x", NULL, "stop all sessions"),
	CLI_FLAG(tracelog_options, providers, 0, "lp", "with -q and -l: the enabled providers, too"),
	VERB("enumguid", NULL, "registered and enabled providers"),
	VERB("enumguidex", "[GUID]", "the same for each process"),
	VERB("addautologger", "SESSION", "save the session as one that starts with etwd"),
	CLI_OWN(tracelog_options, session_guid, struct tracelog_guid, take_guid, 0, "sessionguid", "GUID",
		"with -addautologger and -start: the session's GUID"),
	VERB("remove", "SESSION", "drop an autologger"),
	CLI_WORD(tracelog_options, file, 0, "f", "[FILE]", "log file (default logfile.etl)"),
	MODE(FILE_MODE_APPEND, "append", "append to the file"),
	SIZED(SEQUENTIAL, "seq", "[MB]", "sequential file, at most MB large"),
	SIZED(CIRCULAR, "cir", "MB", "circular file of MB"),
	SIZED(NEWFILE, "newfile", "MB", "a new file every MB; the name needs %d"),
	MODE(FILE_MODE_PREALLOCATE, "prealloc", "reserve the file's size at once"),
	MODE(USE_KBYTES_FOR_SIZE, "kb", "file sizes are KB instead of MB"),
	MODE(REAL_TIME_MODE, "rt", "deliver to live consumers"),
	MODE(BUFFERING_MODE, "buffering", "keep events in memory until -flush"),
	CLI_BOUNDED(tracelog_options, flush_timer, struct tracelog_timer, take_timer, 0, "ft", "SECONDS", 1, 1, 86400,
		    "write part-filled buffers this often; 100ms are milliseconds"),
	CLI_ACCEPTED(0, "bt", "N", "accepted: what is there is delivered every 10 ms, full or not"),
	CLI_NUMBER(tracelog_options, buffer_kb, 0, "b", "KB", 4, 16384, "size of one buffer"),
	CLI_NUMBER(tracelog_options, min, 0, "min", "N", 1, 1 << 20, "least number of buffers"),
	CLI_NUMBER(tracelog_options, max, 0, "max", "N", 1, 1 << 20, "greatest number of buffers"),
	MODE(USE_PAGED_MEMORY, "paged", "accepted: all memory here is paged"),
	MODE(NO_PER_PROCESSOR_BUFFERING, "lowcapacity", "one stream of buffers for all processors"),
	CLI_WORDS(tracelog_options, guids, 0, "guid", "GUID|*NAME|FILE",
		  "provider, or file of guid;keywords;level (repeatable)"),
	MASK(any, "flag", "FLAGS", UINT64_MAX, "any of these keywords"),
	MASK(any, "flags", "FLAGS", UINT64_MAX, "the same"),
	MASK(level, "level", "LEVEL", 255, "up to this level"),
	MASK(any, "matchanykw", "MASK", UINT64_MAX, "any of these keywords"),
	MASK(all, "matchallkw", "MASK", UINT64_MAX, "all of these keywords"),
	MASK(properties, "enableproperty", "BITS", UINT32_MAX, "EVENT_ENABLE_PROPERTY_*: 1 sid, 4 stack, …"),
	CLI_OWN(tracelog_options, source_guid, struct tracelog_guid, take_guid, 0, "sourceguid", "GUID",
		"source id that callbacks get"),
	COUNTED(event_ids, struct tracelog_ids, take_ids, "EventIdFilter", "-in|-out N ID…", 64, UINT16_MAX,
		"only, or all but, these event ids"),
	COUNTED(stack_ids, struct tracelog_ids, take_ids, "StackWalkFilter", "-in|-out N ID…", 64, UINT16_MAX,
		"stacks of only, or all but, these ids"),
	COUNTED(pids, struct tracelog_pids, take_pids, "PidFilter", "N PID…", 8, UINT32_MAX, "only these processes"),
	CLI_WORD(tracelog_options, exe, 0, "ExeFilter", "NAMES", "only these executables: a;b"),
	MODE(USE_GLOBAL_SEQUENCE, "gs", "global sequence numbers"),
	MODE(USE_LOCAL_SEQUENCE, "ls", "sequence numbers of the session"),
	CLI_BITS(tracelog_options, clocks, 1 << 1, 0, "UsePerfCounter", "clock: performance counter (default)"),
	CLI_BITS(tracelog_options, clocks, 1 << 2, 0, "UseSystemTime", "clock: system time"),
	CLI_BITS(tracelog_options, clocks, 1 << 3, 0, "UseCPUCycle", "clock: processor cycles"),
	MODE(PRIVATE_LOGGER_MODE, "um",
	     "private session in each process that has the provider (-guid), with a file of its own: FILE, FILE_PID …"),
	MODE(SECURE_MODE, "secure", "only who has the right to log into the session"),
	MODE(INDEPENDENT_SESSION_MODE, "independent", "accepted: sessions here are always independent"),
	MODE(SYSTEM_LOGGER_MODE, "systemlogger", "may receive kernel events"),
	{.name = "hybridshutdown", .arg = "WHAT", .help = "accepted: stop or persist", .values = "stop|persist"},
	MODE(ADDTO_TRIAGE_DUMP, "addtotriagedump", "accepted"),
	CLI_NUMBER(tracelog_options, timeout, 0, "timeout", "MS", 0, UINT32_MAX,
		   "wait so long for providers' callbacks"),
	CLI_OWN_ALL(tracelog_options, kernel, struct tracelog_kernel, take_flags, NULL, "eflag", "N [FLAG…]",
		    "kernel flags by name (xperf -providers KF) or PERF_* number; or FLAG+FLAG…"),
	KERNEL(on, 0x4, "img", "kernel: image loads"),
	KERNEL(on, 0x20000, "cm", "kernel: registry"),
	KERNEL(on, 0x2000000, "fio", "kernel: file names"),
	KERNEL(on, 0x1000, "pf", "kernel: page faults"),
	KERNEL(on, 0x2000, "hf", "kernel: hard faults"),
	KERNEL(on, 0x60, "dpcisr", "kernel: interrupts"),
	KERNEL(off, 0x1, "noprocess", "kernel: no processes"),
	KERNEL(off, 0x2, "nothread", "kernel: no threads"),
	KERNEL(off, 0x300, "nodisk", "kernel: no disk"),
	KERNEL(off, 0x10000, "nonet", "kernel: no network"),
	CLI_REFUSED("PkgIdFilter", "NAMES", "refused: packages of Windows",
		    "no process of this system has a package identity"),
	CLI_REFUSED("PkgAppIdFilter", "NAMES", "refused: packages of Windows",
		    "no process of this system has a package identity"),
	CLI_WORD(tracelog_options, sources, 0, "ProfileSource", "SOURCE,…|Help",
		 "what samples are taken by (PMC_PROFILE), beside the timer; Help lists"),
	CLI_WORD(tracelog_options, pmc, 0, "Pmc", "COUNTERS:EVENTS",
		 "kernel: values of these counters (C,C) with these events (E+E)"),
	CLI_FLAG(tracelog_options, list_sources, 0, "PmcSources", "the same list"),
	CLI_REFUSED("Lbr", "WHAT", "refused: branch records", "branch records are not recorded in this version"),
	CLI_REFUSED("heap", NULL, "refused: heap events",
		    "heap events are not of a session here: 'openetw record --heap PID|NAME -o FILE' records them"),
	CLI_REFUSED("critsec", NULL, "refused: critical sections", "critical sections have no source here"),
	CLI_REFUSED("pids", "N PID…", "refused: goes with -heap",
		    "goes with -heap and -critsec, which are not there; -PidFilter chooses processes"),
	VERB("systemrundown", "[SESSION]", "processes, threads and images once more into a kernel session"),
	{.name = "SetProfInt",
	 .arg = "N [SOURCE]",
	 .help = "time between samples, in 100 ns; of another source its events",
	 .take_all = take_interval,
	 .offset = CLI_AT(tracelog_options, interval, struct tracelog_interval),
	 .min = 1,
	 .max = UINT32_MAX},
	CLI_REFUSED("kd", NULL, "refused: no kernel debugger", "there is no kernel debugger to send to"),
	CLI_OWN(tracelog_options, kernel, struct tracelog_kernel, take_stacks, 0, "stackwalk", "EVENT…",
		"kernel events with call stacks: Profile, CSwitch, …"),
	CLI_FLAG(tracelog_options, explain, 0, "explain", "do nothing but print the same as a line of openetw"),
	{0},
};

/* ---- the options' session ------------------------------------------------------------------------ */

/* "guid;matchanykeyword;level", ';' alone in front a comment. */
static bool guid_file(const struct cli_args *a, const char *path, const struct session_provider *base,
		      struct etw_session *s)
{
	char line[1024];
	FILE *f = cli_path_fopen(path);
	if (!f) {
		cli_usage(a, "-guid %s: neither #GUID nor *NAME, and no file: %s", path, strerror(errno));
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
			cli_usage(a, "%s:%u: '%s' is no GUID", path, n, guid ? guid : "");
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
			cli_usage(a, "%s:%u: %s", path, n, session_add_failed(s));
			fclose(f);
			return false;
		}
		*at = p;
	}
	fclose(f);
	return true;
}

bool tracelog_providers(const struct cli_args *a, struct etw_session *s)
{
	const struct tracelog_options *o = a->given;
	struct session_provider base = {.enabled = true,
					.level = (uint8_t)o->level,
					.any = o->any,
					.all = o->all,
					.properties = (uint32_t)o->properties};
	for (int i = 0; i < o->guids.count; i++) {
		const char *v = o->guids.text[i];
		struct session_provider p;
		struct guid id;
		bool literal = *v == '#' || *v == '*' || guid_parse(v, &id) == 0;
		if (!literal) {
			if (!guid_file(a, v, &base, s)) {
				return false;
			}
			continue;
		}
		if (!controller_provider(v, &p)) {
			cli_usage(a, "-guid: '%s' is no GUID", v);
			return false;
		}
		id = p.guid;
		struct session_provider *at = session_add_provider(s, &id);
		if (!at) {
			cli_usage(a, "-guid: %s", session_add_failed(s));
			return false;
		}
		*at = base;
		at->guid = id;
		memcpy(at->name, p.name, sizeof at->name);
	}
	return true;
}

bool tracelog_describe(const struct cli_args *a, const char *name, struct etw_session *s)
{
	const struct tracelog_options *o = a->given;
	snprintf(s->name, sizeof s->name, "%s", name);
	if (o->clocks & (o->clocks - 1)) {
		cli_usage(a, "only one of -UsePerfCounter, -UseSystemTime and -UseCPUCycle");
		return false;
	}
	s->props.clock = o->clocks ? (uint32_t)__builtin_ctz(o->clocks) : s->props.clock;
	s->props.mode |= o->layout.mode | (o->flush_timer.ms ? EVENT_TRACE_USE_MS_FLUSH_TIMER : 0);
	s->props.maximum_file_size = o->layout.max_size;
	s->props.buffer_kb = (uint32_t)o->buffer_kb;
	s->props.minimum_buffers = (uint32_t)o->min;
	s->props.maximum_buffers = (uint32_t)o->max;
	s->props.flush_timer = o->flush_timer.time;
	if (o->session_guid.given) {
		s->props.guid = o->session_guid.guid;
	}
	if (!tracelog_providers(a, s)) {
		return false;
	}
	bool memory = s->props.mode & (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE);
	if (o->file || !memory) {
		const char *f = o->file && *o->file ? o->file : "logfile.etl";
		if (!cli_path_absolute(f, s->file, sizeof s->file)) {
			cli_usage(a, "the file name is too long");
			return false;
		}
	}
	if (s->file[0] && !(s->props.mode & (EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_CIRCULAR |
					     EVENT_TRACE_FILE_MODE_NEWFILE))) {
		s->props.mode |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	if ((s->props.mode & EVENT_TRACE_FILE_MODE_APPEND) && o->clocks == 0) {
		s->props.clock = 2;
	}
	if (strcasecmp(name, CONTROLLER_KERNEL_SESSION) == 0 && !o->kernel.flags) {
		struct session_provider kernel;
		controller_provider("Windows Kernel Trace", &kernel);
		struct session_provider *at = session_add_provider(s, &kernel.guid);
		if (!at) {
			cli_usage(a, "%s", session_add_failed(s));
			return false;
		}
		*at = kernel;
		/* What the kernel logger records; the daemon says whether it can. */
		at->any = (0x1 | 0x2 | 0x100 | 0x200 | 0x10000 | o->kernel_on) & ~o->kernel_off;
	}
	return true;
}

bool tracelog_kernel(const struct cli_args *a, struct session_kernel *ret, struct cli_counters *counters)
{
	const struct tracelog_options *o = a->given;
	const char *pmc = o->pmc, *sources = o->sources;
	*ret = o->kernel.wish;
	*counters = (struct cli_counters){0};
	if (pmc && !strchr(pmc, ':')) {
		cli_usage(a, "-Pmc takes counters and events, such as PageFaults,ContextSwitches:CSwitch+SyscallEnter");
		return false;
	}
	if ((pmc && !cli_counters_parse(a, pmc, counters)) || (sources && !tracelog_sources(a, sources, counters))) {
		return false;
	}
	if (counters->sampleds) {
		kernel_mask_set(&ret->mask, KERNEL_BIT_PMC_PROFILE);
	}
	return true;
}

bool tracelog_sources(const struct cli_args *a, const char *text, struct cli_counters *c)
{
	for (const char *s = text; *s;) {
		char one[64];
		size_t n = strcspn(s, ",+");
		snprintf(one, sizeof one, "%.*s", (int)n, s);
		if (!cli_counters_sampled(a, one, c)) {
			return false;
		}
		s += n + (s[n] != 0);
	}
	return true;
}

/* ---- filters
 * ---------------------------------------------------------------------------------- */

static const enum session_filter filters[] = {SESSION_FILTER_EVENT_ID, SESSION_FILTER_STACK_ID, SESSION_FILTER_PID,
					      SESSION_FILTER_EXE};

static const char *filter_name(enum session_filter kind)
{
	return kind == SESSION_FILTER_EVENT_ID   ? "EventIdFilter"
	       : kind == SESSION_FILTER_STACK_ID ? "StackWalkFilter"
	       : kind == SESSION_FILTER_PID      ? "PidFilter"
						 : "ExeFilter";
}

/* What an option says, as session files have it; nothing without the option. */
static void filter_text(const struct tracelog_options *o, enum session_filter kind, struct strbuf *out)
{
	const struct tracelog_ids *ids = kind == SESSION_FILTER_EVENT_ID   ? &o->event_ids
					 : kind == SESSION_FILTER_STACK_ID ? &o->stack_ids
									   : NULL;
	if (ids && ids->given) {
		strbuf_adds(out, ids->in ? "" : "!");
		for (uint32_t i = 0; i < ids->count; i++) {
			strbuf_addf(out, "%s%u", i ? "," : "", ids->id[i]);
		}
	} else if (kind == SESSION_FILTER_PID) {
		for (uint32_t i = 0; i < o->pids.count; i++) {
			strbuf_addf(out, "%s%u", i ? "," : "", (unsigned)o->pids.pid[i]);
		}
	} else if (kind == SESSION_FILTER_EXE && o->exe) {
		strbuf_adds(out, o->exe);
	}
}

static bool set_filter(const struct cli_args *a, enum session_filter kind, const struct strbuf *text,
		       struct session_provider *p)
{
	struct diag d = {0};
	int r = text->failed ? -ENOMEM : session_set_filter(p, kind, text->s ? text->s : "", &d);
	if (r < 0) {
		cli_usage(a, "-%s %s", filter_name(kind), d.text[0] ? d.text : "needs more memory than there is");
	}
	return r == 0;
}

bool tracelog_filters(const struct cli_args *a, struct etw_session *s)
{
	bool fine = true;
	for (size_t k = 0; k < BASE_ARRAY_LEN(filters) && fine; k++) {
		struct strbuf text = {0};
		struct session_provider none = {0}; /* a mistake is one without providers, too */
		filter_text(a->given, filters[k], &text);
		if (text.len || text.failed) {
			fine = set_filter(a, filters[k], &text, &none);
		}
		for (uint32_t i = 0; i < s->provider_count && fine && text.len; i++) {
			fine = set_filter(a, filters[k], &text, &s->provider[i]);
		}
		session_provider_finish(&none);
		strbuf_finish(&text);
	}
	return fine;
}

void tracelog_scope(const struct cli_args *a, struct launch_filters *ret)
{
	launch_filters_init(ret);
	for (size_t k = 0; k < BASE_ARRAY_LEN(filters); k++) {
		struct strbuf text = {0};
		filter_text(a->given, filters[k], &text);
		if (text.s && text.len) {
			(void)launch_filters_add(ret, filters[k], text.s, NULL); /* they were looked at before */
		}
		strbuf_finish(&text);
	}
}
