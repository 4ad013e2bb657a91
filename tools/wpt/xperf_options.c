/* SPDX-License-Identifier: MIT
 * Options of xperf's actions: their words, and the kinds of values that only reports have.
 */
#include "base/parse.h"
#include "tools/wpt/xperf_action.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

static const struct cli_option only_range[] = {XPERF_RANGE, {0}};

/* ---- times ---------------------------------------------------------------------------------------- */

/* "2026/11/22:10:30:00.1234567", in the machine's zone without "+UTC". */
static bool absolute(const char *text, uint64_t *ret_filetime)
{
	struct tm t = {.tm_isdst = -1};
	char fraction[16] = "", zone[8] = "";
	int n = 0;
	if (sscanf(text, "%4d/%2d/%2d:%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min,
		   &t.tm_sec, &n) != 6) {
		return false;
	}
	text += n;
	if (*text == '.' && sscanf(text, ".%15[0-9]%n", fraction, &n) == 1) {
		text += n;
	}
	if (*text == '+' && sscanf(text, "+%7[A-Za-z]%n", zone, &n) == 1) {
		text += n;
	}
	if (*text || t.tm_year < 1970 || t.tm_mon < 1 || t.tm_mon > 12 || (*zone && strcasecmp(zone, "UTC") != 0)) {
		return false;
	}
	t.tm_year -= 1900;
	t.tm_mon--;
	time_t s = *zone ? timegm(&t) : mktime(&t);
	uint64_t ticks = 0;
	for (int i = 0; i < 7; i++) {
		ticks = 10 * ticks + (fraction[0] && strlen(fraction) > (size_t)i ? (uint64_t)(fraction[i] - '0') : 0);
	}
	*ret_filetime = ((uint64_t)s + 11644473600ull) * 10000000ull + ticks;
	return true;
}

static bool of_clock(const char *text, double *ret_us)
{
	unsigned h, m;
	double s;
	int n = 0;
	if (sscanf(text, "%3u:%2u:%lf%n", &h, &m, &s, &n) != 3 || text[n] || m > 59 || !(s >= 0 && s < 60)) {
		return false;
	}
	*ret_us = ((double)h * 3600 + m * 60 + s) * 1e6;
	return true;
}

static bool time_of(const struct xperf_job *j, const char *option, const char *text, double *ret_us)
{
	uint64_t ns, filetime;
	if (parse_duration(text, 1000, &ns)) {
		*ret_us = (double)ns / 1000;
	} else if (absolute(text, &filetime)) {
		*ret_us = ((double)filetime - (double)j->start) / 10;
	} else {
		cli_usage(j->a,
			  "-%s takes times such as 1.5s, 20ms, 2026/11/22:10:30:00.5+UTC or microseconds, not '%s'",
			  option, text);
		return false;
	}
	return true;
}

static bool span_of(const struct cli_args *a, const char *option, const char *text, uint64_t unit_ns, double *ret_us)
{
	uint64_t ns;
	if (parse_duration(text, unit_ns, &ns)) {
		*ret_us = (double)ns / 1000;
		return true;
	}
	if (of_clock(text, ret_us)) {
		return true;
	}
	cli_usage(a, "-%s takes a time such as 1s, 20ms or 00:00:20.5, not '%s'", option, text);
	return false;
}

/* ---- reading values ------------------------------------------------------------------------------ */

bool xperf_take_range(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct xperf_job *j = a->context;
	j->ranged = true;
	return time_of(j, o->name, value[0], &j->from_us) && time_of(j, o->name, value[1], &j->to_us);
}

bool xperf_take_interval(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	double us = (double)o->bare * 1e6;
	if (*value && !span_of(a, o->name, value, 1000000000, &us)) {
		return false;
	}
	if (us <= 0) {
		cli_usage(a, "-%s takes more than no time", o->name);
		return false;
	}
	*(double *)member = us;
	return true;
}

bool xperf_take_span(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	return !*value || span_of(a, o->name, value, o->unit, member);
}

bool xperf_take_spans(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct xperf_times *t = member;
	if (t->count == BASE_ARRAY_LEN(t->us)) {
		cli_usage(a, "-%s takes up to %zu times", o->name, BASE_ARRAY_LEN(t->us));
		return false;
	}
	double *us = &t->us[t->count++];
	if (!span_of(a, o->name, value, 1000000000, us)) {
		return false;
	}
	if (t->count > 1 && us[0] <= us[-1]) {
		cli_usage(a, "-%s takes growing times", o->name);
		return false;
	}
	return true;
}

bool xperf_take_time(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	return time_of(a->context, o->name, value, member);
}

bool xperf_take_regex(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct xperf_regexes *r = member;
	regex_t *more = realloc(r->re, ((size_t)r->count + 1) * sizeof *more);
	if (!more) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the options");
		return false;
	}
	r->re = more;
	if (regcomp(&r->re[r->count], value, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0) {
		cli_usage(a, "-%s: '%s' is no regular expression", o->name, value);
		return false;
	}
	r->count++;
	return true;
}

bool xperf_regexes_match(const struct xperf_regexes *r, const char *text)
{
	for (int i = 0; i < r->count; i++) {
		if (regexec(&r->re[i], text, 0, NULL, 0) == 0) {
			return true;
		}
	}
	return r->count == 0;
}

void xperf_regexes_finish(struct xperf_regexes *r)
{
	for (int i = 0; i < r->count; i++) {
		regfree(&r->re[i]);
	}
	free(r->re);
}

bool xperf_numbers_have(const struct cli_numbers *n, uint64_t v)
{
	for (int i = 0; i < n->count; i++) {
		if (n->number[i] == v) {
			return true;
		}
	}
	return false;
}

bool xperf_topic(int i, struct cli_topic *ret)
{
	const char *name = xperf_action_name(NULL, i);
	const struct xperf_action *k = name ? xperf_action_find(name) : NULL;
	k = name && !k ? &xperf_dumper : k;
	if (k) {
		*ret = (struct cli_topic){k->name, k->summary, k->options ? k->options : only_range};
	}
	return k != NULL;
}

/* ---- words --------------------------------------------------------------------------------------- */

bool xperf_options_read(struct xperf_job *j, int count, char **words)
{
	const struct xperf_action *k = j->action;
	struct cli_command c = *j->a->command;
	struct cli_args own = {.command = &c, .context = j};
	c.options = k->options ? k->options : only_range;
	c.options_bytes = k->own;
	c.defaults = NULL;
	j->from_us = 0;
	j->to_us = HUGE_VAL;
	if (!cli_args_give(&own)) {
		return false;
	}
	j->own = own.given;
	if (k->defaults) {
		memcpy(j->own, k->defaults, k->defaults_bytes);
	}
	if (!cli_parse_windows(&own, count, words)) {
		return false;
	}
	if (own.count) {
		cli_usage(j->a, "-a %s takes no '%s'", k->name, own.words[0]);
	}
	return own.count == 0;
}
