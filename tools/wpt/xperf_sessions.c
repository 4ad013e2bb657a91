/* SPDX-License-Identifier: MIT
 * xperf's sessions: options to scopes, all of them started or none, stopped and merged.
 */
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
	bool kernel = cli_kernel_name(value);
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

static int parse_specs(struct cli_args *a, const char *text, struct cli_provider *out, int *ret_n)
{
	int n = 0;
	for (const char *s = text; *s;) {
		char spec[512];
		size_t k = strcspn(s, "+");
		if (n == XPERF_SPECS_MAX || k >= sizeof spec) {
			return cli_usage(a, n == XPERF_SPECS_MAX ? "more than 64 providers" : "'%s' is too long", s);
		}
		memcpy(spec, s, k);
		spec[k] = 0;
		s += k + (s[k] == '+');
		if (!cli_provider_parse(a, NULL, spec, &out[n])) {
			return CLI_USAGE;
		}
		out[n].level = has_level(spec) ? out[n].level : 255;
		n++;
	}
	*ret_n = n;
	return n ? CLI_OK : cli_usage(a, "-on names no provider");
}

/* How many; -1: it is no list of at most eight. */
static int parse_pids(const char *text, ULONG ids[8])
{
	return text ? parse_numbers(text, 0, UINT32_MAX, ids, 8) : 0;
}

static uint32_t enable(TRACEHANDLE h, const struct cli_provider *p, const char *pids)
{
	ULONG ids[8], n = (ULONG)BASE_MAX(parse_pids(pids, ids), 0);
	EVENT_FILTER_DESCRIPTOR f = {(ULONGLONG)(uintptr_t)ids, 4 * n, EVENT_FILTER_TYPE_PID};
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					      .EnableProperty = p->properties,
					      .EnableFilterDesc = n ? &f : NULL,
					      .FilterDescCount = n ? 1 : 0};
	return EnableTraceEx2(h, &p->guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, p->level, p->any, p->all, 5000,
			      &parameters);
}

int xperf_enable(struct cli_args *a, const struct xperf_scope *s, TRACEHANDLE h)
{
	struct cli_provider p[XPERF_SPECS_MAX];
	int n = 0, status = s->on ? parse_specs(a, s->on, p, &n) : CLI_OK;
	for (int i = 0; i < n && status == CLI_OK; i++) {
		uint32_t code = enable(h, &p[i], s->pids);
		if (code == ERROR_TIMEOUT) {
			fprintf(stderr, "xperf: warning: %s: a process is slow to take notice of being enabled\n",
				p[i].name);
		} else if (code) {
			status = cli_fail(a, code, "%s: cannot enable '%s'", s->name, p[i].name);
		} else {
			cli_provider_tell(&p[i].guid, p[i].name);
		}
	}
	return status;
}

int xperf_capture(struct cli_args *a, const char *session, TRACEHANDLE h, const char *specs)
{
	struct cli_provider p[XPERF_SPECS_MAX];
	int n = 0, status = parse_specs(a, specs, p, &n);
	for (int i = 0; i < n && status == CLI_OK; i++) {
		uint32_t code = EnableTraceEx2(h, &p[i].guid, EVENT_CONTROL_CODE_CAPTURE_STATE, p[i].level, p[i].any,
					       p[i].all, 60000, NULL);
		status = code ? cli_fail(a, code, "%s: cannot ask '%s' for its state", session, p[i].name) : CLI_OK;
	}
	return status;
}

/* ---- -start ----------------------------------------------------------------------------------- */

static bool wants_kernel(const struct xperf_scope *s)
{
	return s->on || s->stack || s->file;
}

static void fill(const struct xperf_scope *s, struct cli_props *p)
{
	const char *m = s->file_mode ? s->file_mode : "Sequential";
	cli_props_init(p);
	p->p.BufferSize = (ULONG)s->buffer_kb;
	p->p.MinimumBuffers = (ULONG)s->min;
	p->p.MaximumBuffers = (ULONG)BASE_MAX(s->min, s->max);
	p->p.MaximumFileSize = (ULONG)s->max_file;
	p->p.FlushTimer = (ULONG)s->flush;
	p->p.Wnode.ClientContext = !s->clock || strcasecmp(s->clock, "PerfCounter") == 0 ? 1
				   : strcasecmp(s->clock, "SystemTime") == 0             ? 2
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
		snprintf(p->file, sizeof p->file, "%s", s->file ? s->file : s->kernel ? "kernel.etl" : "user.etl");
	}
}

static void explain_start(const struct xperf_scope *s, const struct cli_kernel_wish *wish)
{
	struct cli_props p;
	fill(s, &p);
	printf("openetw start %s", cli_quoted("%s", s->name));
	if (p.p.LogFileNameOffset) {
		printf(" -o %s", cli_quoted("%s", p.file));
	}
	if (s->buffering || s->file_mode) {
		char mode[16];
		snprintf(mode, sizeof mode, "%s", s->buffering ? "buffering" : s->file_mode);
		for (char *c = mode; *c; c++) {
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
		}
		printf(" -m %s", mode);
	}
	printf("%s --buffer-size %uK --buffers %u:%u", s->realtime ? " -r" : "", p.p.BufferSize, p.p.MinimumBuffers,
	       p.p.MaximumBuffers);
	if (s->max_file) {
		printf(" --max-size %uMB", p.p.MaximumFileSize);
	}
	for (const char *v = s->kernel ? NULL : s->on; v && *v;) {
		int k = (int)strcspn(v, "+");
		/* 'stack' has single quotes as a rule. */
		bool plain = printable_is(v, (size_t)k) && (int)strcspn(v, "\"$`\\!") >= k;
		printf(" -p ");
		plain ? printf("\"%.*s\"", k, v) : printf("%s", cli_quoted("%.*s", k, v));
		v += k + (v[k] == '+');
	}
	if (wish) {
		cli_kernel_explain(stdout, wish);
	}
	printf("\n");
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
	struct cli_kernel_wish wish;
	struct cli_props p;
	bool partial = x->o->partial && x->count > 1;
	if (!wants_kernel(k)) {
		return CLI_OK;
	}
	if (!k->on) {
		return cli_usage(a, "the kernel's session needs -on FLAGS");
	}
	int status = xperf_kernel_wish(a, k, &wish);
	if (status != CLI_OK) {
		if (status == CLI_FAILED) {
			fprintf(stderr, "xperf: error: \"%s\" is not started.\n", k->name);
			only_these(x);
		}
		return status;
	}
	if (x->o->explain) {
		explain_start(k, &wish);
		return CLI_OK;
	}
	if (partial && kernel_mask_empty(&wish.mask)) {
		fprintf(stderr, "xperf: warning: \"%s\" is not started: nothing of %s is there on Linux\n", k->name,
			k->on);
		return CLI_OK;
	}
	fill(k, &p);
	uint32_t code = cli_kernel_start(&k->handle, k->name, &p, &wish);
	if (code == ERROR_SUCCESS) {
		cli_kernel_tell("xperf", k->name);
		return CLI_OK;
	}
	if (partial) {
		const char *why = openetw_last_error_text(), *text = openetw_error_text(code);
		fprintf(stderr, "xperf: warning: \"%s\" is not started: %s\n", k->name,
			*why   ? why
			: text ? text
			       : "unknown error");
		return CLI_OK;
	}
	status = cli_fail(a, code, "\"%s\" is not started", k->name);
	only_these(x);
	return status;
}

static int start_one(struct xperf *x, struct xperf_scope *s)
{
	struct cli_props p;
	fill(s, &p);
	uint32_t code = cli_start_trace(&s->handle, s->name, &p.p);
	if (code) {
		s->handle = 0;
		return cli_fail(x->a, code, "cannot start '%s'", s->name);
	}
	if (s == &x->scope[1]) { /* in one session: marks are not to come twice into a merged file */
		cli_mark_enable(s->handle);
	}
	return xperf_enable(x->a, s, s->handle);
}

int xperf_start(struct xperf *x)
{
	struct cli_args *a = x->a;
	int status = CLI_OK;
	struct cli_provider unused[XPERF_SPECS_MAX];
	for (int i = 1; i < x->count; i++) { /* mistakes first */
		struct xperf_scope *s = &x->scope[i];
		int n;
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
		status = parse_specs(a, s->on, unused, &n);
		if (status) {
			return status;
		}
		ULONG ids[8];
		if (parse_pids(s->pids, ids) < 0) {
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
	status = start_kernel(x);
	for (int i = 1; i < x->count && status == CLI_OK; i++) {
		if (x->o->explain) {
			explain_start(&x->scope[i], NULL);
		} else {
			status = start_one(x, &x->scope[i]);
		}
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
