/* SPDX-License-Identifier: MIT
 * The kernel's part of xperf's command lines.
 */
#include "tools/wpt/wpr.h"
#include "tools/common/path.h"
#include "tools/common/session_start.h"
#include "tools/wpt/xperf.h"

#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* "@FILE" is a list, one event a line. */
static bool parse_stacks(const struct cli_args *a, const char *text, struct session_kernel *w)
{
	char line[256];
	if (*text != '@') {
		return cli_kernel_stacks(a, text, w);
	}
	FILE *f = cli_path_fopen(text + 1);
	bool ok = f != NULL;
	if (!f) {
		cli_usage(a, "cannot read %s: %s", text + 1, strerror(errno));
	}
	while (ok && fgets(line, sizeof line, f)) {
		line[strcspn(line, " \t\r\n#;")] = 0;
		ok = cli_kernel_stacks(a, line, w);
	}
	if (f) {
		fclose(f);
	}
	return ok;
}

static bool is_number(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == 0;
}

/* Words behind the options' values: numbers belong to -SetProfInt, one to each of its sources, and what
 * is none to -Pmc: its events, and "strict". */
static const char *word_at(const struct cli_args *a, bool numbers, int n)
{
	for (int i = 0; i < a->count; i++) {
		if (strcasecmp(a->words[i], "cached") != 0 && strcasecmp(a->words[i], "strict") != 0 &&
		    is_number(a->words[i]) == numbers && n-- == 0) {
			return a->words[i];
		}
	}
	return NULL;
}

bool xperf_intervals(const struct cli_args *a, struct cli_counters *c)
{
	const struct xperf_options *o = a->given;
	int numbers = 0;
	c->lenient = true;
	for (int i = 0; i < o->intervals.count; i++) {
		const char *v = o->intervals.text[i];
		const char *n = is_number(v) ? NULL : word_at(a, true, numbers++);
		char text[80];
		if (is_number(v)) {
			continue; /* the timer's */
		}
		if (!n) {
			cli_usage(a, "-SetProfInt %s N: how many of its events lie between two samples?", v);
			return false;
		}
		snprintf(text, sizeof text, "%.60s=%.16s", v, n);
		if (!cli_counters_sampled(a, text, c)) {
			return false;
		}
	}
	if (word_at(a, true, numbers)) {
		cli_usage(a, "'%s' belongs to no option", word_at(a, true, numbers));
		return false;
	}
	return true;
}

bool xperf_timer(const struct cli_args *a, uint32_t *ret)
{
	static const struct cli_option row = {.name = "setprofint", .min = 1, .max = UINT32_MAX};
	const struct xperf_options *o = a->given;
	uint64_t n = 0;
	for (int i = 0; i < o->intervals.count; i++) {
		const char *v = o->intervals.text[i];
		if (is_number(v) && !cli_take_number(a, &row, v, &n)) {
			return false;
		}
	}
	*ret = (uint32_t)n;
	return true;
}

uint32_t xperf_set_intervals(uint32_t timer, const struct cli_counters *c)
{
	uint32_t code = timer ? cli_kernel_set_interval(0, timer) : ERROR_SUCCESS;
	for (uint32_t i = 0; i < c->sampleds && code == ERROR_SUCCESS; i++) {
		code = cli_kernel_set_interval(c->sampled[i].source, c->sampled[i].interval);
	}
	return code;
}

/* -Pmc COUNTERS EVENTS [strict], -PmcProfile COUNTERS, -SetProfInt COUNTER N. */
static bool parse_counters(const struct cli_args *a, struct cli_counters *c)
{
	const struct xperf_options *o = a->given;
	const char *pmc = o->pmc, *profile = o->pmc_profile;
	const char *events = word_at(a, false, 0);
	struct cli_counters interval = {0};
	bool strict = false;
	for (int i = 0; i < a->count; i++) {
		strict = strict || strcasecmp(a->words[i], "strict") == 0;
	}
	c->lenient = !strict;
	if (pmc && !events) {
		cli_usage(a, "-Pmc %s EVENTS: with which events, such as CSwitch+SyscallEnter?", pmc);
		return false;
	}
	if ((!pmc && events) || word_at(a, false, 1)) {
		cli_usage(a, "'%s' belongs to no option", word_at(a, false, pmc != NULL));
		return false;
	}
	if ((pmc && (!cli_counters_list(a, pmc, c) || !cli_counters_events(a, events, c))) ||
	    !xperf_intervals(a, &interval)) {
		return false;
	}
	for (const char *s = profile; s && *s;) {
		char one[64];
		size_t n = strcspn(s, ",+");
		snprintf(one, sizeof one, "%.*s", (int)n, s);
		if (!cli_counters_sampled(a, one, c)) {
			return false;
		}
		s += n + (s[n] != 0);
	}
	for (uint32_t i = 0; i < c->sampleds; i++) {
		for (uint32_t k = 0; k < interval.sampleds; k++) {
			bool same = interval.sampled[k].source == c->sampled[i].source;
			c->sampled[i].interval = same ? interval.sampled[k].interval : c->sampled[i].interval;
		}
	}
	return true;
}

int xperf_kernel_wish(const struct cli_args *a, const struct xperf_scope *s, struct session_kernel *ret,
		      struct cli_counters *counters)
{
	*ret = (struct session_kernel){0};
	*counters = (struct cli_counters){0};
	int status = cli_kernel_flags(a, s->on, ((const struct xperf_options *)a->given)->partial, ret);
	if (status == CLI_OK &&
	    ((s->stack && !parse_stacks(a, s->stack, ret)) || !cli_kernel_pids(a, s->pids ? s->pids : "", ret))) {
		status = cli_told();
	}
	if (status == CLI_OK && !parse_counters(a, counters)) {
		status = cli_told();
	}
	if (status == CLI_OK && counters->sampleds) {
		kernel_mask_set(&ret->mask, KERNEL_BIT_PMC_PROFILE);
	}
	return status;
}

/* ---- -boottrace --------------------------------------------------------------------------------- */

static int boot_off(const struct cli_args *a, const char *path, bool only_tell)
{
	if (only_tell) {
		printf("openetw autologger remove '%s'\n", XPERF_KERNEL);
		return CLI_OK;
	}
	if (unlink(path) < 0) {
		return cli_fail(a, win32_from_errno(-errno),
				errno == ENOENT ? "no recording from boot is set up (%s)" : "cannot remove %s", path);
	}
	return CLI_OK;
}

/* The kernel's session as an autologger: it begins with etwd, and ends with -stop. */
int xperf_boot(struct xperf *x)
{
	struct cli_args *a = x->a;
	struct xperf_scope scope = x->scope[0];
	struct etw_session s;
	struct cli_counters unused;
	char path[4200];
	bool system = wpr_boot_system();
	scope.on = cli_words_last(&x->o->verb.values);
	if (session_path(SESSION_AUTOLOGGERS, system, XPERF_KERNEL, path, sizeof path) < 0) {
		return cli_fail(a, ERROR_PATH_NOT_FOUND, "there is no place for the files of autologgers");
	}
	if (strcasecmp(scope.on, "off") == 0) {
		return boot_off(a, path, x->o->explain);
	}
	xperf_describe(&scope, &s);
	int status = xperf_kernel_wish(a, &scope, &s.kernel, &unused);
	if (status != CLI_OK) {
		return status;
	}
	s.kernel.pids = 0; /* a file cannot say them */
	snprintf(s.name, sizeof s.name, "%s", XPERF_KERNEL);
	s.start = 1;
	bool circular = scope.file_mode && strcasecmp(scope.file_mode, "Circular") == 0;
	s.props.mode = circular ? EVENT_TRACE_FILE_MODE_CIRCULAR : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	s.props.clock = 1;
	s.file[0] = 0; /* in the state directory, unless one is named */
	if (scope.file && !cli_path_absolute(scope.file, s.file, sizeof s.file)) {
		return cli_usage(a, "the file name is too long");
	}
	uint32_t code = cli_session_check(&s, SESSION_RUNNER_AUTOLOGGER);
	if (code) {
		status = cli_fail(a, code, "'%s': %s", s.name, cli_session_why());
	} else if (x->o->explain) {
		printf("# the autologger %s:\n", path);
		struct strbuf b = {0};
		session_format(&s, &b);
		cli_put_lines(stdout, b.failed ? "" : b.s);
		strbuf_finish(&b);
	} else {
		int r = session_write(path, &s);
		if (r < 0) {
			status = cli_fail(a, win32_from_errno(r), "cannot write %s", path);
		} else {
			wpr_boot_tell("xperf -boottrace");
			fprintf(stderr, "'xperf -stop -d FILE' ends it, 'xperf -boottrace off' keeps it from beginning "
					"again.\n");
		}
	}
	session_finish(&s);
	return status;
}
