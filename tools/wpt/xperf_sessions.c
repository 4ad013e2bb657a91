/* SPDX-License-Identifier: MIT
 * xperf's sessions: options to scopes, all of them started or none, stopped and merged.
 */
#include "tools/classic/explain_line.h"
#include "tools/common/session_options.h"
#include "tools/common/mark.h"
#include "base/parse.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "tools/wpt/xperf.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- options in their order, each to its scope ------------------------------------------------------ */

static struct xperf_options *options_of(const struct cli_args *a)
{
	return a->given;
}

static struct xperf_scope *scope_of(const struct cli_args *a)
{
	struct xperf_options *o = options_of(a);
	return &o->scopes.at[o->scopes.count - 1];
}

/* Something was said of it. */
static void *field_of(const struct cli_args *a, const struct cli_option *o)
{
	options_of(a)->scopes.first = false;
	return (char *)scope_of(a) + o->offset;
}

bool xperf_take_start(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct xperf_options *x = options_of(a);
	bool kernel = launch_is_kernel_name(value);
	if (kernel && !x->scopes.first) {
		cli_usage(a, "-start \"%s\" comes before the other sessions", value);
		return false;
	}
	if (!kernel && x->scopes.count == XPERF_SCOPES_MAX) {
		cli_usage(a, "more than %d sessions", XPERF_SCOPES_MAX - 1);
		return false;
	}
	x->start = true;
	x->scopes.first = false;
	if (kernel) {
		scope_of(a)->name = value;
	} else {
		x->scopes.at[x->scopes.count++] =
			(struct xperf_scope){.name = value, .buffer_kb = 64, .min = 64, .max = 320};
	}
	return true;
}

bool xperf_take_text(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	const char **field = field_of(a, o);
	if (*field) {
		cli_usage(a, "-%s is said twice of '%s'; join with +, or -start another", o->name, scope_of(a)->name);
		return false;
	}
	options_of(a)->on |= field == &scope_of(a)->on;
	*field = value;
	return true;
}

bool xperf_take_stack(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct xperf_scope *s = scope_of(a);
	char joined[sizeof s->stacks];
	if (!s->stack || *value == '@' || *s->stack == '@') {
		return xperf_take_text(a, o, value, member);
	}
	if ((size_t)snprintf(joined, sizeof joined, "%s+%s", s->stack, value) >= sizeof joined) {
		cli_usage(a, "-StackWalk: too many events");
		return false;
	}
	memcpy(s->stacks, joined, sizeof joined);
	s->stack = s->stacks;
	return true;
}

bool xperf_take_number(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	uint64_t *field = field_of(a, o);
	options_of(a)->max_buffers |= field == &scope_of(a)->max;
	return cli_take_number(a, o, value, field);
}

bool xperf_take_flag(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(bool *)field_of(a, o) = true;
	return true;
}

/* Behind a -flush it is that one's. */
bool xperf_take_file(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct xperf_options *x = options_of(a);
	if (x->flushes.count == 0) {
		return xperf_take_text(a, o, value, member);
	}
	x->flushes.at[x->flushes.count - 1].file = value;
	return true;
}

bool xperf_take_flush(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct xperf_options *x = options_of(a);
	if (x->flushes.count == XPERF_FLUSHES_MAX) {
		cli_usage(a, "at most %d -flush", XPERF_FLUSHES_MAX);
		return false;
	}
	x->flushes.at[x->flushes.count++].session = value;
	return cli_take_verb(a, o, value, &x->verb);
}

/* ---- providers -------------------------------------------------------------------------------- */

/* Has "Name:kw:LEVEL" a level? */
static bool has_level(const char *spec)
{
	const char *s = strchr(spec, ':');
	s = s ? strchr(s + 1, ':') : NULL;
	return s && s[1] && s[1] != ':';
}

/* What -on says, as providers of the session. */
static int parse_specs(struct cli_args *a, const char *text, struct etw_session *out)
{
	for (const char *s = text; *s;) {
		char spec[512];
		size_t k = strcspn(s, "+");
		if (out->provider_count == XPERF_SPECS_MAX || k >= sizeof spec) {
			return cli_usage(a, k < sizeof spec ? "more than 64 providers" : "'%s' is too long", s);
		}
		memcpy(spec, s, k);
		spec[k] = 0;
		s += k + (s[k] == '+');
		if (!cli_session_add_provider(a, NULL, spec, out)) {
			return CLI_USAGE;
		}
		if (!has_level(spec)) {
			out->provider[out->provider_count - 1].level = 255;
		}
	}
	return out->provider_count ? CLI_OK : cli_usage(a, "-on names no provider");
}

/* -on and -pids. CLI_OK, or printed why. */
static int parse_providers(struct cli_args *a, const struct xperf_scope *s, struct etw_session *out)
{
	ULONG ids[8];
	char pids[8 * sizeof "4294967295,"] = "";
	int n = s->pids ? parse_numbers(s->pids, 0, UINT32_MAX, ids, 8) : 0, at = 0;
	if (n < 0) {
		return cli_usage(a, "-pids takes up to 8 process ids such as 17,42, not '%s'", s->pids);
	}
	for (int i = 0; i < n; i++) {
		at += snprintf(pids + at, sizeof pids - (size_t)at, "%s%u", i ? "," : "", (unsigned)ids[i]);
	}
	int status = s->on ? parse_specs(a, s->on, out) : CLI_OK;
	for (uint32_t i = 0; i < out->provider_count && status == CLI_OK; i++) {
		if (session_set_filter(&out->provider[i], SESSION_FILTER_PID, *pids ? pids : NULL, NULL) < 0) {
			return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "-pids");
		}
	}
	return status;
}

int xperf_enable(struct cli_args *a, const struct xperf_scope *s, TRACEHANDLE h)
{
	struct etw_session of;
	session_init(&of);
	int status = parse_providers(a, s, &of);
	for (uint32_t i = 0; i < of.provider_count && status == CLI_OK; i++) {
		const struct session_provider *p = &of.provider[i];
		uint32_t code = cli_session_enable(h, p, 5000);
		if (code == ERROR_TIMEOUT) {
			fprintf(stderr, "xperf: warning: %s: a process is slow to take notice of being enabled\n",
				p->name);
		} else if (code) {
			status = cli_fail(a, code, "%s: cannot enable '%s'", s->name, p->name);
		} else {
			cli_session_enable_tell(p);
		}
	}
	session_finish(&of);
	return status;
}

int xperf_capture(struct cli_args *a, const char *session, TRACEHANDLE h, const char *specs)
{
	struct etw_session of;
	session_init(&of);
	int status = parse_specs(a, specs, &of);
	for (uint32_t i = 0; i < of.provider_count && status == CLI_OK; i++) {
		const struct session_provider *p = &of.provider[i];
		GUID g;
		memcpy(&g, p->guid.b, sizeof g);
		uint32_t code =
			EnableTraceEx2(h, &g, EVENT_CONTROL_CODE_CAPTURE_STATE, p->level, p->any, p->all, 60000, NULL);
		status = code ? cli_fail(a, code, "%s: cannot ask '%s' for its state", session, p->name) : CLI_OK;
	}
	session_finish(&of);
	return status;
}

/* ---- -start ----------------------------------------------------------------------------------- */

static bool wants_kernel(const struct xperf_scope *s)
{
	return s->on || s->stack || s->file;
}

void xperf_describe(const struct xperf_scope *s, struct etw_session *ret)
{
	const char *m = s->file_mode ? s->file_mode : "Sequential";
	struct session_properties *p = &ret->props;
	session_init(ret);
	snprintf(ret->name, sizeof ret->name, "%s", s->name);
	p->buffer_kb = (uint32_t)s->buffer_kb;
	p->minimum_buffers = (uint32_t)s->min;
	p->maximum_buffers = (uint32_t)BASE_MAX(s->min, s->max);
	p->maximum_file_size = (uint32_t)s->max_file;
	p->flush_timer = (uint32_t)s->flush;
	p->clock = !s->clock || strcasecmp(s->clock, "PerfCounter") == 0 ? 1
		   : strcasecmp(s->clock, "SystemTime") == 0             ? 2
									 : 3;
	p->mode = strcasecmp(m, "Circular") == 0  ? EVENT_TRACE_FILE_MODE_CIRCULAR
		  : strcasecmp(m, "Append") == 0  ? EVENT_TRACE_FILE_MODE_APPEND
		  : strcasecmp(m, "NewFile") == 0 ? EVENT_TRACE_FILE_MODE_NEWFILE
						  : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	if (p->mode == EVENT_TRACE_FILE_MODE_APPEND && !s->clock) {
		p->clock = 2; /* an appended file can only be in system time */
	}
	if (s->buffering) {
		p->mode = EVENT_TRACE_BUFFERING_MODE;
	} else if (s->realtime && !s->file) {
		p->mode = EVENT_TRACE_REAL_TIME_MODE;
	} else {
		p->mode |= s->realtime ? EVENT_TRACE_REAL_TIME_MODE : 0u;
		snprintf(ret->file, sizeof ret->file, "%s", s->file ? s->file : s->kernel ? "kernel.etl" : "user.etl");
	}
}

static void undo(struct xperf *x)
{
	for (int i = 0; i < x->count; i++) {
		struct cli_props p;
		cli_props_init(&p);
		if (x->scope[i].handle) {
			ControlTraceA(x->scope[i].handle, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
			if (x->scope[i].kernel && p.p.LogFileNameOffset && p.file[0]) {
				open_output_remove(p.file);
			}
		}
	}
}

static void only_these(const struct xperf *x)
{
	if (x->count > 1) {
		fprintf(stderr, "  Nothing was started. With --partial, or without that part, xperf starts ");
		for (int i = 1; i < x->count; i++) {
			fprintf(stderr, "%s\"%s\"", i > 1 ? ", " : "", x->scope[i].name);
		}
		fprintf(stderr, ".\n");
	}
}

/* The kernel's part. When it cannot be recorded nothing is, unless --partial. */
static int start_kernel(struct xperf *x)
{
	struct cli_args *a = x->a;
	struct xperf_scope *k = &x->scope[0];
	struct cli_counters counters;
	struct etw_session s;
	struct cli_session_run r;
	bool partial = x->o->partial && x->count > 1;
	if (!wants_kernel(k)) {
		return CLI_OK;
	}
	if (!k->on) {
		return cli_usage(a, "the kernel's session needs -on FLAGS");
	}
	xperf_describe(k, &s);
	int status = xperf_kernel_wish(a, k, &s.kernel, &counters);
	if (status != CLI_OK) {
		if (status == CLI_FAILED) {
			fprintf(stderr, "xperf: error: \"%s\" is not started.\n", k->name);
			only_these(x);
		}
		return status;
	}
	struct cli_counters named = {0};
	uint32_t timer;
	if (!xperf_intervals(a, &named) || !xperf_timer(a, &timer)) {
		return cli_told();
	}
	if (x->o->explain) {
		cli_session_explain(stdout, "start", &s, &counters);
		return timer ? cli_same_none(CLI_SAME_INTERVAL) : CLI_OK;
	}
	uint32_t set = xperf_set_intervals(timer, &named);
	if (set) {
		return cli_fail(a, set, "cannot set the interval of samples");
	}
	if (partial && kernel_mask_empty(&s.kernel.mask)) {
		fprintf(stderr, "xperf: warning: \"%s\" is not started: nothing of %s is there on Linux\n", k->name,
			k->on);
		return CLI_OK;
	}
	char cannot[sizeof s.name + 32];
	snprintf(cannot, sizeof cannot, "\"%s\" is not started", k->name);
	struct cli_session_how how = {
		.args = partial ? NULL : a, .cannot = cannot, .tool = "xperf", .counters = &counters};
	uint32_t code = cli_session_start(&s, &how, &r);
	k->handle = r.handle;
	if (code == ERROR_SUCCESS) {
		return CLI_OK;
	}
	if (partial) {
		const char *why = cli_session_why(), *text = openetw_error_text(code);
		fprintf(stderr, "xperf: warning: \"%s\" is not started: %s\n", k->name,
			*why   ? why
			: text ? text
			       : "unknown error");
		return CLI_OK;
	}
	only_these(x);
	return r.status;
}

/* In one session: marks are not to come twice into a merged file. */
static void enable_marks(void *ctx, TRACEHANDLE h)
{
	(void)ctx;
	cli_mark_enable(h);
}

static int start_one(struct xperf *x, struct xperf_scope *scope)
{
	struct etw_session s;
	struct cli_session_run r = {0};
	struct cli_session_how how = {.args = x->a,
				      .tool = "xperf",
				      .late_is_fine = true,
				      .late_is_told = true,
				      .begun = scope == &x->scope[1] ? enable_marks : NULL};
	xperf_describe(scope, &s);
	int status = parse_providers(x->a, scope, &s);
	if (status == CLI_OK && x->o->explain) {
		cli_session_explain(stdout, "start", &s, NULL);
	} else if (status == CLI_OK) {
		cli_session_start(&s, &how, &r);
		scope->handle = r.handle;
		status = r.status;
	}
	session_finish(&s);
	return status;
}

int xperf_start(struct xperf *x)
{
	struct cli_args *a = x->a;
	int status = CLI_OK;
	for (int i = 1; i < x->count; i++) { /* mistakes first */
		struct xperf_scope *s = &x->scope[i];
		if (!s->on) {
			return cli_usage(
				a,
				strchr(s->name, '!')
					? "-start %s needs -on PROVIDERS; profiles of xperf (FILE!NAME) are not "
					  "read, those of wpr are: 'wpr -start FILE.wprp!NAME'"
					: "-start %s needs -on PROVIDERS",
				s->name);
		}
		if (s->stack) {
			return cli_usage(a, "-StackWalk is for kernel events; write %s:::'stack'", s->on);
		}
		struct etw_session unused;
		session_init(&unused);
		status = parse_providers(a, s, &unused);
		session_finish(&unused);
		if (status) {
			return status;
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
	status = start_kernel(x);
	for (int i = 1; i < x->count && status == CLI_OK; i++) {
		status = start_one(x, &x->scope[i]);
	}
	for (int i = 1; i < x->count && status == CLI_OK && !x->o->explain; i++) {
		const struct xperf_scope *s = &x->scope[i];
		status = s->state ? xperf_capture(a, s->name, s->handle, s->state) : CLI_OK;
	}
	if (status) {
		undo(x);
	}
	return status;
}

/* ---- -stop ------------------------------------------------------------------------------------ */

int xperf_merge(struct cli_args *a, int count, char **files, const char *to)
{
	char mapped[PATH_MAX];
	to = cli_path_told(to, mapped);
	cli_output_private();
	int status = cli_merge_files(a, (const char *const *)files, (uint32_t)count, to, options_of(a)->compress);
	if (status) {
		return status;
	}
	printf("Merged Etl: %s\n", to);
	fprintf(stderr, "The file may hold personal data: names, paths, command lines. Look before you send "
			"it.\n");
	return CLI_OK;
}

/* A memory session has no file: what is in it goes to `spare`. */
int xperf_stop_one(struct cli_args *a, const char *name, char **ret_file)
{
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	*ret_file = NULL;
	if (code == ERROR_SUCCESS && (p.p.LogFileMode & EVENT_TRACE_BUFFERING_MODE) && options_of(a)->to) {
		cli_props_init(&p);
		snprintf(p.file, sizeof p.file, "%s.%ld.etl", options_of(a)->to, (long)getpid());
		*ret_file = strdup(p.file);
		code = ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_FLUSH);
	}
	cli_props_init(&p);
	code = code ? code : ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_STOP);
	if (code) {
		return cli_fail(a, code,
				code == ERROR_WMI_INSTANCE_NOT_FOUND ? "\"%s\" is not running" : "cannot stop '%s'",
				name);
	}
	if (p.p.EventsLost) {
		fprintf(stderr, "xperf: warning: Session \"%s\" lost %u events.\n", name, p.p.EventsLost);
	}
	if (!*ret_file && p.p.LogFileNameOffset && p.file[0]) {
		*ret_file = strdup(p.file);
	}
	return CLI_OK;
}

int xperf_stop(struct cli_args *a)
{
	char *files[XPERF_SCOPES_MAX];
	bool spare[XPERF_SCOPES_MAX];
	int count = 0, status = CLI_OK, named = 0;
	const struct xperf_options *o = options_of(a);
	const char *to = o->to;
	const struct cli_words *stop = &o->verb.values; /* none when -d stands alone */
	/* "-stop A B" ends both; "-d FILE" alone ends the kernel's. */
	int options = stop->count;
	named = BASE_MAX(1, options + a->count);
	for (int i = 0; i < named && count < XPERF_SCOPES_MAX; i++) {
		const char *v = i < options ? stop->text[i] : a->count ? a->words[i - options] : "";
		const char *name = *v ? v : XPERF_KERNEL;
		char *file;
		struct cli_props p;
		if (o->explain) {
			printf("openetw stop %s\n", cli_quoted("%s", name));
			continue;
		}
		if (strcasecmp(name, XPERF_KERNEL) == 0 && named > 1 &&
		    cli_session_query(name, &p) == ERROR_WMI_INSTANCE_NOT_FOUND) {
			fprintf(stderr,
				"xperf: warning: \"" XPERF_KERNEL "\" is not running, so there is no kernel part.\n");
			continue;
		}
		int one = xperf_stop_one(a, name, &file);
		status = one ? one : status;
		if (one == CLI_OK && file) {
			spare[count] = to && strncmp(file, to, strlen(to)) == 0 && file[strlen(to)] == '.';
			files[count++] = file;
		}
	}
	if (to && o->explain) {
		printf("openetw merge FILES -o %s\n", cli_quoted("%s", to));
	} else if (to && status == CLI_OK) {
		status = count ? xperf_merge(a, count, files, to)
			       : cli_fail(a, ERROR_FILE_NOT_FOUND, "none of the sessions has a file to merge");
	} else if (!to && status == CLI_OK) {
		for (int i = 0; i < count; i++) {
			printf("%s\n", files[i]);
		}
	}
	for (int i = 0; i < count; i++) {
		if (spare[i] && status == CLI_OK) {
			open_output_remove(files[i]);
		}
		free(files[i]);
	}
	return status;
}
