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

static bool number(const struct cli_args *a, const char *option, const char *text, uint64_t least, uint64_t most,
		   uint64_t *ret)
{
	if (!parse_number(text, least, most, ret)) {
		cli_usage(a, "-%s takes a number from %llu to %llu, not '%s'", option, (unsigned long long)least,
			  (unsigned long long)most, text);
		return false;
	}
	return true;
}

/* The options in their order, each to its scope. */
bool xperf_scopes(struct xperf *x)
{
	const struct cli_args *a = x->a;
	struct xperf_scope *s = &x->scope[0];
	*s = (struct xperf_scope){.name = XPERF_KERNEL, .kernel = true, .buffer_kb = 64, .min = 64, .max = 320};
	bool first = true; /* nothing belongs to the kernel's scope yet */
	x->count = 1;
	for (int i = 0; i < a->value_count; i++) {
		const char *o = a->values[i].option->name, *v = a->values[i].value;
		const struct {
			const char *name, **to;
		} texts[] = {{"on", &s->on},
			     {"f", &s->file},
			     {"FileMode", &s->file_mode},
			     {"ClockType", &s->clock},
			     {"StackWalk", &s->stack},
			     {"pids", &s->pids},
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
			bool kernel = cli_kernel_name(v);
			if (kernel && !first) {
				cli_usage(a, "-start \"%s\" comes before the other sessions", v);
				return false;
			}
			s->name = kernel ? v : s->name;
			if (!kernel && x->count == XPERF_SCOPES_MAX) {
				cli_usage(a, "more than %d sessions", XPERF_SCOPES_MAX - 1);
				return false;
			}
			if (!kernel) {
				s = &x->scope[x->count++];
				*s = (struct xperf_scope){.name = v, .buffer_kb = 64, .min = 64, .max = 320};
			}
			first = false;
			continue;
		}
		bool mine = strcmp(o, "RealTime") == 0 || strcmp(o, "Buffering") == 0;
		s->realtime = s->realtime || strcmp(o, "RealTime") == 0;
		s->buffering = s->buffering || strcmp(o, "Buffering") == 0;
		for (size_t k = 0; k < BASE_ARRAY_LEN(texts); k++) {
			if (strcmp(o, texts[k].name) == 0 && texts[k].to == &s->stack && s->stack && *v != '@' &&
			    *s->stack != '@') {
				char joined[sizeof s->stacks];
				if ((size_t)snprintf(joined, sizeof joined, "%s+%s", s->stack, v) >= sizeof joined) {
					cli_usage(a, "-StackWalk: too many events");
					return false;
				}
				memcpy(s->stacks, joined, sizeof joined);
				s->stack = s->stacks;
				mine = true;
			} else if (strcmp(o, texts[k].name) == 0) {
				if (*texts[k].to) {
					cli_usage(a, "-%s is said twice of '%s'; join with +, or -start another", o,
						  s->name);
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
	bool partial = cli_flag(a, "partial") && x->count > 1;
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
	if (cli_flag(a, "explain")) {
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
		if (cli_flag(a, "explain")) {
			explain_start(&x->scope[i], NULL);
		} else {
			status = start_one(x, &x->scope[i]);
		}
	}
	for (int i = 1; i < x->count && status == CLI_OK && !cli_flag(a, "explain"); i++) {
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
	int status = cli_merge_files(a, (const char *const *)files, (uint32_t)count, to, cli_flag(a, "compress"));
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
	if (code == ERROR_SUCCESS && (p.p.LogFileMode & EVENT_TRACE_BUFFERING_MODE) && cli_flag(a, "d")) {
		cli_props_init(&p);
		snprintf(p.file, sizeof p.file, "%s.%ld.etl", cli_value(a, "d", ""), (long)getpid());
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
	const char *to = cli_value(a, "d", NULL);
	for (const char *v; (v = cli_value_at(a, "stop", named)) != NULL; named++) {
	}
	/* "-stop A B" ends both; "-d FILE" alone ends the kernel's. */
	int options = named;
	named = BASE_MAX(1, named + a->count);
	for (int i = 0; i < named && count < XPERF_SCOPES_MAX; i++) {
		const char *v = i < options ? cli_value_at(a, "stop", i) : a->count ? a->words[i - options] : "";
		const char *name = *v ? v : XPERF_KERNEL;
		char *file;
		struct cli_props p;
		if (cli_flag(a, "explain")) {
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
			spare[count] =
				cli_flag(a, "d") && strncmp(file, to, strlen(to)) == 0 && file[strlen(to)] == '.';
			files[count++] = file;
		}
	}
	if (to && cli_flag(a, "explain")) {
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
