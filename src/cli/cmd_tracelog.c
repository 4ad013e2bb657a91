/* SPDX-License-Identifier: MIT
 * tracelog: the controller of the Windows driver kit, with its options and its layout.
 */
#include "cli/tracelog.h"

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
	{0, "capturestate", "[SESSION]", "ask the providers of -guid for a rundown", NULL},
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
	{0, "ft", "SECONDS", "write part-filled buffers this often", NULL},
	{0, "bt", "N", "buffers to fill before they are delivered", NULL},
	{0, "b", "KB", "size of one buffer", NULL},
	{0, "min", "N", "least number of buffers", NULL},
	{0, "max", "N", "greatest number of buffers", NULL},
	{0, "paged", NULL, "accepted: all memory here is paged", NULL},
	{0, "lowcapacity", NULL, "one stream of buffers for all processors", NULL},
	{0, "guid", "GUID|*NAME|FILE", "provider, or file of guid;keywords;level (repeatable)",
	 NULL},
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
	{0, "um", NULL, "private session in the provider's process", NULL},
	{0, "secure", NULL, "only who has the right to log into the session", NULL},
	{0, "independent", NULL, "accepted: sessions here are always independent", NULL},
	{0, "systemlogger", NULL, "may receive kernel events", NULL},
	{0, "hybridshutdown", "WHAT", "accepted: stop or persist", "stop|persist"},
	{0, "addtotriagedump", NULL, "accepted", NULL},
	{0, "timeout", "MS", "wait so long for providers' callbacks", NULL},
	{0, "eflag", "N FLAG…", "kernel flags", NULL},
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
	{0, "systemrundown", "[SESSION]", "refused: there is no kernel session yet", NULL},
	{0, "kd", NULL, "refused: no kernel debugger", NULL},
	{0, "stackwalk", "EVENT…", "refused: kernel stacks", NULL},
	{0, "explain", NULL, "do nothing but print the same as a line of openetw", NULL},
	{0},
};

static const char *const actions[] = {"start",	      "stop",	"update",     "enable",
				      "enableex",     "disable", "flush",      "capturestate",
				      "q",	      "l",	"x",	      "enumguid",
				      "enumguidex",   "addautologger", "remove",
				      "systemrundown"};

int tracelog_fail(uint32_t code, const char *what)
{
	const char *text = openetw_error_text(code), *name = openetw_error_name(code);
	fflush(stdout);
	fprintf(stderr, "%-24s%uL      %s\n", "Operation Status:", code, text ? text : "Unknown error.");
	if (*controller_why() || what) {
		fprintf(stderr, "  %s%s%s\n", what ? what : "", what && *controller_why() ? ": " : "",
			controller_why());
	}
	fprintf(stderr, "  'openetw explain %s' says more\n", name ? name : "CODE");
	return CLI_FAILED;
}

static void status_ok(void)
{
	printf("%-24s0L      The operation completed successfully.\n\n", "Operation Status:");
}

/* ---- the options' session
 * --------------------------------------------------------------------- */

static bool mask(const struct winargs *w, const char *name, uint64_t *inout)
{
	const char *v = winargs_value(w, name, NULL);
	char *end;
	if (!v || winargs_u64_text(v, inout)) {
		return true;
	}
	/* Old instructions write "ffff". */
	errno = 0;
	uint64_t n = strtoull(v, &end, 16);
	if (*end || errno || !*v || *v == '-') {
		cli_usage(w->a, "-%s takes a number such as 0x10, not '%s'", name, v);
		return false;
	}
	*inout = n;
	return true;
}

/* "guid;matchanykeyword;level", ';' alone in front a comment. */
static bool guid_file(const struct winargs *w, const char *path, const struct saved_provider *base,
		      struct saved_session *s)
{
	char line[1024];
	FILE *f = fopen(path, "re");
	if (!f) {
		cli_usage(w->a, "-guid %s: neither #GUID nor *NAME, and no file: %s", path,
			  strerror(errno));
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
		struct saved_provider p = *base;
		uint64_t v;
		if (!guid || guid_parse(guid + (*guid == '#'), &p.guid) < 0) {
			cli_usage(w->a, "%s:%u: '%s' is no GUID", path, n, guid ? guid : "");
			fclose(f);
			return false;
		}
		if (any && winargs_u64_text(any, &v)) { /* else it is the provider's name */
			p.any = v;
		}
		if (level && winargs_u64_text(level, &v) && v <= 255) {
			p.level = (uint8_t)v;
		}
		struct saved_provider *at = saved_add_provider(s, &p.guid);
		if (at) {
			*at = p;
		}
	}
	fclose(f);
	return true;
}

static bool providers(const struct winargs *w, struct saved_session *s)
{
	uint64_t level = 255, any = 0, all = 0, properties = 0;
	if (!mask(w, "level", &level) || !mask(w, "flag", &any) || !mask(w, "flags", &any) ||
	    !mask(w, "matchanykw", &any) || !mask(w, "matchallkw", &all) ||
	    !mask(w, "enableproperty", &properties)) {
		return false;
	}
	if (properties > UINT32_MAX) {
		cli_usage(w->a, "-enableproperty has 32 bits");
		return false;
	}
	struct saved_provider base = {.enabled = true,
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
		struct saved_provider p;
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
		struct saved_provider *at = saved_add_provider(s, &id);
		if (at) {
			char name[256];
			memcpy(name, p.name, sizeof name);
			*at = base;
			at->guid = id;
			memcpy(at->name, name, sizeof name);
		}
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
	} rows[] = {{"img", 0x4, 0},	     {"cm", 0x20000, 0},   {"fio", 0x2000000, 0},
		    {"pf", 0x1000, 0},	     {"hf", 0x2000, 0},	   {"dpcisr", 0x60, 0},
		    {"noprocess", 0, 0x1},   {"nothread", 0, 0x2}, {"nodisk", 0, 0x300},
		    {"nonet", 0, 0x10000}};
	uint32_t flags = 0x1 | 0x2 | 0x100 | 0x200 | 0x10000;
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (winargs_on(w, rows[i].option)) {
			flags = (flags | rows[i].on) & ~rows[i].off;
		}
	}
	return flags;
}

static bool describe(const struct winargs *w, const char *name, struct saved_session *s)
{
	char cwd[2048];
	uint32_t clock_options = 0;
	snprintf(s->name, sizeof s->name, "%s", name);
	for (size_t i = 0; i < BASE_ARRAY_LEN(mode_options); i++) {
		if (winargs_on(w, mode_options[i].option)) {
			s->mode |= mode_options[i].bit;
		}
	}
	static const char *const clocks[] = {"UsePerfCounter", "UseSystemTime", "UseCPUCycle"};
	for (uint32_t i = 0; i < 3; i++) {
		if (winargs_on(w, clocks[i])) {
			s->clock = i + 1;
			clock_options++;
		}
	}
	if (clock_options > 1) {
		cli_usage(w->a, "only one of -UsePerfCounter, -UseSystemTime and -UseCPUCycle");
		return false;
	}
	const char *const sizes[] = {"seq", "cir", "newfile"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(sizes); i++) {
		if (!winargs_u32(w, sizes[i], 0, 1, UINT32_MAX, &s->maximum_file_size)) {
			return false;
		}
	}
	if (!winargs_u32(w, "b", 0, 4, 16384, &s->buffer_kb) ||
	    !winargs_u32(w, "min", 0, 1, 1u << 20, &s->minimum_buffers) ||
	    !winargs_u32(w, "max", 0, 1, 1u << 20, &s->maximum_buffers) ||
	    !winargs_u32(w, "ft", 0, 1, 86400, &s->flush_timer) || !providers(w, s)) {
		return false;
	}
	const char *guid = winargs_value(w, "sessionguid", NULL);
	if (guid && guid_parse(guid + (*guid == '#'), &s->guid) < 0) {
		cli_usage(w->a, "-sessionguid: '%s' is no GUID", guid);
		return false;
	}
	bool memory = s->mode & (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE);
	if (winargs_on(w, "f") || !memory) {
		const char *f = winargs_value(w, "f", "logfile.etl");
		bool rooted = f[0] == '/' || (f[0] && f[1] == ':') || !getcwd(cwd, sizeof cwd);
		int n = snprintf(s->file, sizeof s->file, "%s%s%s", rooted ? "" : cwd,
				 rooted ? "" : "/", f);
		if (n < 0 || (size_t)n >= sizeof s->file) {
			cli_usage(w->a, "the file name is too long");
			return false;
		}
	}
	if (s->file[0] && !(s->mode & (EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_CIRCULAR |
				       EVENT_TRACE_FILE_MODE_NEWFILE))) {
		s->mode |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	if ((s->mode & EVENT_TRACE_FILE_MODE_APPEND) && clock_options == 0) {
		s->clock = 2;
	}
	if (strcasecmp(name, CONTROLLER_KERNEL_SESSION) == 0) {
		struct saved_provider kernel;
		controller_provider("Windows Kernel Trace", &kernel);
		struct saved_provider *at = saved_add_provider(s, &kernel.guid);
		if (at) {
			*at = kernel;
			at->any = kernel_flags(w);
		}
	}
	return true;
}

/* ---- filters
 * ---------------------------------------------------------------------------------- */

struct filters {
	EVENT_FILTER_DESCRIPTOR d[4];
	uint8_t ids[2][4 + 2 * 64];
	ULONG pids[8];
	uint16_t exe[512];
	uint32_t count;
};

static void add_filter(struct filters *f, const void *p, size_t bytes, ULONG type)
{
	f->d[f->count++] =
		(EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(uintptr_t)p, (ULONG)bytes, type};
}

/* The count in front is part of the grammar; it has to be right. */
static bool counted(const struct winargs *w, const struct winarg *g, int at, uint32_t max,
		    uint64_t limit, uint64_t *out, uint32_t *ret_n)
{
	uint64_t n;
	int given = g->count - at - 1;
	if (!winargs_u64_text(g->value[at], &n) || n == 0 || n > max || n != (uint64_t)given) {
		cli_usage(w->a, "-%s: '%s' is followed by %d numbers; 1 to %u are possible",
			  g->option->name, g->value[at], given, max);
		return false;
	}
	for (int i = 0; i < given; i++) {
		if (!winargs_u64_text(g->value[at + 1 + i], &out[i]) || out[i] > limit) {
			cli_usage(w->a, "-%s: '%s' is no number in range", g->option->name,
				  g->value[at + 1 + i]);
			return false;
		}
	}
	*ret_n = (uint32_t)n;
	return true;
}

static bool make_filters(const struct winargs *w, struct filters *f)
{
	static const struct {
		const char *name;
		ULONG type;
	} by_id[] = {{"EventIdFilter", EVENT_FILTER_TYPE_EVENT_ID},
		     {"StackWalkFilter", EVENT_FILTER_TYPE_STACKWALK}};
	uint64_t v[64];
	uint32_t n;
	memset(f, 0, sizeof *f);
	for (size_t k = 0; k < 2; k++) {
		const struct winarg *g = winargs_find(w, by_id[k].name);
		if (!g) {
			continue;
		}
		bool in = strcasecmp(g->value[0], "-in") == 0;
		if ((!in && strcasecmp(g->value[0], "-out") != 0) ||
		    !counted(w, g, 1, 64, UINT16_MAX, v, &n)) {
			if (!in && strcasecmp(g->value[0], "-out") != 0) {
				cli_usage(w->a, "-%s is followed by -in or -out", by_id[k].name);
			}
			return false;
		}
		f->ids[k][0] = in;
		le16_put(f->ids[k] + 2, (uint16_t)n);
		for (uint32_t i = 0; i < n; i++) {
			le16_put(f->ids[k] + 4 + 2 * (size_t)i, (uint16_t)v[i]);
		}
		add_filter(f, f->ids[k], 4 + 2 * (size_t)n, by_id[k].type);
	}
	const struct winarg *g = winargs_find(w, "PidFilter");
	if (g) {
		if (!counted(w, g, 0, 8, UINT32_MAX, v, &n)) {
			return false;
		}
		for (uint32_t i = 0; i < n; i++) {
			f->pids[i] = (ULONG)v[i];
		}
		add_filter(f, f->pids, 4 * (size_t)n, EVENT_FILTER_TYPE_PID);
	}
	const char *exe = winargs_value(w, "ExeFilter", NULL);
	if (exe) {
		long units = utf8_to_utf16(exe, strlen(exe), f->exe, BASE_ARRAY_LEN(f->exe));
		if (units < 0 || units >= (long)BASE_ARRAY_LEN(f->exe)) {
			cli_usage(w->a, "-ExeFilter: the names are too long");
			return false;
		}
		add_filter(f, f->exe, 2 * ((size_t)units + 1), EVENT_FILTER_TYPE_EXECUTABLE_NAME);
	}
	return true;
}

static uint32_t control_provider(const struct winargs *w, TRACEHANDLE h, ULONG control,
				 const struct saved_provider *p, struct filters *f)
{
	GUID g;
	uint32_t timeout = 5000;
	memcpy(&g, p->guid.b, 16);
	if (!winargs_u32(w, "timeout", 0, 0, UINT32_MAX, &timeout)) {
		return ERROR_INVALID_PARAMETER;
	}
	ENABLE_TRACE_PARAMETERS params = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					  .EnableProperty = p->properties,
					  .EnableFilterDesc = f->count ? f->d : NULL,
					  .FilterDescCount = f->count};
	const char *source = winargs_value(w, "sourceguid", NULL);
	struct guid s;
	if (source && guid_parse(source + (*source == '#'), &s) == 0) {
		memcpy(&params.SourceId, s.b, 16);
	}
	bool off = control == EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	return EnableTraceEx2(h, &g, control, off ? 0 : p->level, off ? 0 : p->any, off ? 0 : p->all,
			      timeout, &params);
}

static uint32_t control_all(const struct winargs *w, TRACEHANDLE h, ULONG control,
			    const struct saved_session *s, const char **ret_what)
{
	struct filters f;
	struct guid kernel;
	guid_parse("9e814aad-3204-11d2-9a82-006008a86939", &kernel);
	if (!make_filters(w, &f)) {
		return ERROR_INVALID_PARAMETER;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (guid_equal(&s->provider[i].guid, &kernel)) {
			continue;
		}
		uint32_t code = control_provider(w, h, control, &s->provider[i], &f);
		if (code) {
			*ret_what = s->provider[i].name[0] ? s->provider[i].name : "a provider";
			return code;
		}
	}
	return 0;
}

/* ---- actions
 * ---------------------------------------------------------------------------------- */

static int run_start(const struct winargs *w, const char *name, struct saved_session *s)
{
	const char *what = NULL;
	struct filters f;
	if (!describe(w, name, s) || !make_filters(w, &f)) {
		return CLI_USAGE;
	}
	if (winargs_on(w, "explain")) {
		controller_explain(stdout, s);
		return CLI_OK;
	}
	/* -newfile without %d has its own code [doc]. */
	if ((s->mode & EVENT_TRACE_FILE_MODE_NEWFILE) && !strstr(s->file, "%d")) {
		return tracelog_fail(ERROR_INVALID_NAME, "the file name of -newfile needs %d");
	}
	struct saved_session bare = *s;
	struct cli_props p;
	bool kernel = strcasecmp(name, CONTROLLER_KERNEL_SESSION) == 0;
	bare.provider_count = kernel ? s->provider_count : 0;
	uint32_t code = controller_start(&bare, &what);
	if (code) {
		return tracelog_fail(code, NULL);
	}
	puts("Logger Started...");
	code = cli_session_query(name, &p);
	code = code ? code
		    : control_all(w, p.p.Wnode.HistoricalContext, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
				  s, &what);
	if (code) {
		int status = tracelog_fail(code, what);
		cli_props_init(&p);
		ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_STOP);
		return status;
	}
	if (s->provider_count) {
		printf("Enabling trace to logger %llu\n",
		       (unsigned long long)p.p.Wnode.HistoricalContext);
	}
	status_ok();
	tracelog_show(&p);
	return CLI_OK;
}

static int run_enable(const struct winargs *w, const char *name, ULONG control,
		      struct saved_session *s)
{
	struct cli_props p;
	const char *what = NULL;
	struct filters f;
	if (!providers(w, s) || !make_filters(w, &f)) {
		return CLI_USAGE;
	}
	if (s->provider_count == 0) {
		return cli_usage(w->a, "which provider? -guid #GUID, -guid *NAME or -guid FILE");
	}
	if (winargs_on(w, "explain")) {
		for (uint32_t i = 0; i < s->provider_count; i++) {
			s->provider[i].enabled = control != EVENT_CONTROL_CODE_DISABLE_PROVIDER;
			controller_explain_enable(stdout, name, &s->provider[i]);
		}
		return CLI_OK;
	}
	uint32_t code = cli_session_query(name, &p);
	code = code ? code : control_all(w, p.p.Wnode.HistoricalContext, control, s, &what);
	if (code) {
		return tracelog_fail(code, what);
	}
	status_ok();
	return CLI_OK;
}

static int run_control(const struct winargs *w, const char *name, ULONG control,
		       struct saved_session *s)
{
	struct cli_props p, before;
	uint32_t code = cli_session_query(name, &before);
	if (code) {
		return tracelog_fail(code, name);
	}
	cli_props_init(&p);
	if (control == EVENT_TRACE_CONTROL_UPDATE) {
		struct saved_session wish;
		saved_init(&wish);
		if (!describe(w, name, &wish)) {
			return CLI_USAGE;
		}
		p.p.LogFileMode = before.p.LogFileMode |
				  (wish.mode & EVENT_TRACE_REAL_TIME_MODE);
		p.p.MaximumBuffers = wish.maximum_buffers;
		p.p.FlushTimer = wish.flush_timer;
		*s = wish;
	}
	const char *file = winargs_value(w, "f", NULL);
	if (file) {
		snprintf(p.file, sizeof p.file, "%s", file);
	} else if (control != EVENT_TRACE_CONTROL_STOP) {
		p.p.LogFileNameOffset = 0;
	}
	if (winargs_on(w, "explain")) {
		fprintf(stdout, "openetw %s ",
			control == EVENT_TRACE_CONTROL_STOP    ? "stop"
			: control == EVENT_TRACE_CONTROL_FLUSH ? "flush"
							       : "enable");
		controller_quote(stdout, name);
		if (file) {
			fputs(" -o ", stdout);
			controller_quote(stdout, file);
		}
		putchar('\n');
		return CLI_OK;
	}
	code = ControlTraceA(0, name, &p.p, control);
	if (code) {
		return tracelog_fail(code, name);
	}
	if (control == EVENT_TRACE_CONTROL_UPDATE && s->provider_count) {
		const char *what = NULL;
		code = control_all(w, before.p.Wnode.HistoricalContext,
				   EVENT_CONTROL_CODE_ENABLE_PROVIDER, s, &what);
		if (code) {
			return tracelog_fail(code, what);
		}
	}
	status_ok();
	if (control == EVENT_TRACE_CONTROL_STOP) {
		puts("Logger Stopped...");
		tracelog_show(&p);
	} else if (cli_session_query(name, &p) == ERROR_SUCCESS) {
		tracelog_show(&p);
	}
	return CLI_OK;
}

static int run_autologger(const struct winargs *w, const char *name, struct saved_session *s)
{
	char path[4200];
	int r = saved_path(SAVED_AUTOLOGGERS, false, name, path, sizeof path);
	if (winargs_on(w, "remove")) {
		r = r == 0 && unlink(path) < 0 ? -errno : r;
	} else {
		if (!describe(w, name, s)) {
			return CLI_USAGE;
		}
		s->start = 1;
		r = r == 0 ? saved_write(path, s) : r;
	}
	if (r < 0) {
		return tracelog_fail(win32_from_errno(r), path);
	}
	status_ok();
	return CLI_OK;
}

static int refuse(const struct winargs *w)
{
	static const struct {
		const char *name, *why;
	} rows[] = {{"systemrundown", "kernel events are not collected yet"},
		    {"kd", "there is no kernel debugger to send to"},
		    {"stackwalk", "kernel events are not collected yet; -enableproperty 4 gives the "
				  "stacks of providers"}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (winargs_on(w, rows[i].name)) {
			return cli_usage(w->a, "-%s: %s", rows[i].name, rows[i].why);
		}
	}
	return CLI_OK;
}

static int run(struct cli_args *a)
{
	static struct winargs w;
	const struct winarg *action = NULL;
	if (!winargs_parse(a, false, NULL, &w)) {
		return CLI_USAGE;
	}
	for (int i = 0; i < w.arg_count; i++) {
		for (size_t k = 0; k < BASE_ARRAY_LEN(actions); k++) {
			if (strcasecmp(w.arg[i].option->name, actions[k]) != 0) {
				continue;
			}
			if (action) {
				return cli_usage(a, "-%s and -%s together: one thing at a time",
						 action->option->name, actions[k]);
			}
			action = &w.arg[i];
		}
	}
	if (w.count > 0) {
		return cli_usage(a, "'%s' is too much", w.word[0]);
	}
	if (!action) {
		return cli_usage(a, "what is to be done? -start, -stop, -q, -l, -enumguid, …");
	}
	int status = refuse(&w);
	if (status != CLI_OK) {
		return status;
	}
	const char *verb = action->option->name;
	const char *name = action->count ? action->value[0] : CONTROLLER_KERNEL_SESSION;
	struct saved_session s;
	saved_init(&s);
	if (strcmp(verb, "start") == 0) {
		status = run_start(&w, name, &s);
	} else if (strcmp(verb, "stop") == 0) {
		status = run_control(&w, name, EVENT_TRACE_CONTROL_STOP, &s);
	} else if (strcmp(verb, "update") == 0) {
		status = run_control(&w, name, EVENT_TRACE_CONTROL_UPDATE, &s);
	} else if (strcmp(verb, "flush") == 0) {
		status = run_control(&w, name, EVENT_TRACE_CONTROL_FLUSH, &s);
	} else if (strcmp(verb, "enable") == 0 || strcmp(verb, "enableex") == 0) {
		status = run_enable(&w, name, EVENT_CONTROL_CODE_ENABLE_PROVIDER, &s);
	} else if (strcmp(verb, "disable") == 0) {
		status = run_enable(&w, name, EVENT_CONTROL_CODE_DISABLE_PROVIDER, &s);
	} else if (strcmp(verb, "capturestate") == 0) {
		status = run_enable(&w, name, EVENT_CONTROL_CODE_CAPTURE_STATE, &s);
	} else if (strcmp(verb, "q") == 0) {
		status = tracelog_query(name, winargs_on(&w, "lp"));
	} else if (strcmp(verb, "l") == 0) {
		status = tracelog_list(winargs_on(&w, "lp"), false);
	} else if (strcmp(verb, "x") == 0) {
		status = tracelog_list(false, true);
	} else if (strcmp(verb, "enumguid") == 0) {
		status = tracelog_guids();
	} else if (strcmp(verb, "enumguidex") == 0) {
		status = tracelog_guids_of_processes(a, action->count ? action->value[0] : NULL);
	} else {
		status = run_autologger(&w, name, &s);
	}
	saved_finish(&s);
	free(w.word);
	return status;
}

const struct cli_command cli_tracelog = {
	.name = "tracelog",
	.synopsis = "-start|-stop|-update|-enable|-disable|-flush|-q|-l|-enumguid … [SESSION] [options]",
	.summary = "Trace sessions, as the tool of this name in the Windows driver kit.",
	.details = "Without a session name the kernel's is meant. Options may begin with - or /. "
		   "-guid takes #GUID or *NAME\n"
		   "(the GUID of that name), or a file of lines guid;keywords;level where ; begins a "
		   "comment.\n\n"
		   "Examples:\n"
		   "  tracelog -start web -guid '*MyCompany.Web' -level 5 -matchanykw 0x11 -f web.etl\n"
		   "  tracelog -enable web -guid '#{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}' "
		   "-EventIdFilter -in 2 1 7\n"
		   "  tracelog -q web -lp\n"
		   "  tracelog -stop web\n",
	.options = tracelog_option_table,
	.run = run,
	.classic = true,
	.raw = true,
	.complete = "session",
};
