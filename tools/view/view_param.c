/* SPDX-License-Identifier: MIT */
#include "tools/view/view_param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The kind of a parameter; NULL: there is none of this name. */
static const char *kind_of(const char *params, const char *name, size_t *ret_length)
{
	size_t n = strlen(name);
	for (const char *s = params; s && *s && n;) {
		s += strspn(s, " ");
		size_t word = strcspn(s, " ");
		if (word > n && strncmp(s, name, n) == 0 && s[n] == ':') {
			*ret_length = word - n - 1;
			return s + n + 1;
		}
		s += word;
	}
	return NULL;
}

bool view_param_number(const char *s, double *ret)
{
	char *end;
	if (strlen(s) > 40 || !s[0] || s[strspn(s, "0123456789+-.eE")]) { /* no blanks, no "0x", no "nan" */
		return false;
	}
	*ret = strtod(s, &end);
	return end != s && *end == 0 && isfinite(*ret);
}

bool view_param_numbers(const char *text, uint32_t *ret, uint32_t most, uint32_t *ret_count)
{
	uint32_t n = 0;
	for (const char *s = text; *s; n++) {
		char *end = NULL;
		unsigned long v = *s >= '0' && *s <= '9' ? strtoul(s, &end, 10) : 0;
		if (!end || v > UINT32_MAX || n == most || (*end && *end != ',')) {
			return false;
		}
		ret[n] = (uint32_t)v;
		s = *end ? end + 1 : end;
	}
	*ret_count = n;
	return true;
}

static bool is(const char *kind, size_t n, const char *word)
{
	return n == strlen(word) && strncmp(kind, word, n) == 0;
}

static bool fits(const char *kind, size_t n, const char *value)
{
	double d;
	char *end;
	if (is(kind, n, "text")) {
		return strlen(value) <= VIEW_TEXT_MOST;
	}
	if (is(kind, n, "list") || !view_param_number(value, &d)) {
		return false;
	}
	if (is(kind, n, "time")) {
		return fabs(d) < 9e18;
	}
	if (is(kind, n, "real")) {
		return true;
	}
	if (is(kind, n, "flag")) {
		return d == 0 || d == 1;
	}
	double least = strtod(kind, &end), most = strtod(end + 1, NULL);
	return d >= least && d <= most && d == (double)(int64_t)d; /* no kind reaches 2^63 */
}

const char *view_param_problem(const char *params, const char *name, const char *value, char *why, size_t cap)
{
	size_t n = 0;
	const char *kind = kind_of(params, name, &n);
	if (!kind) {
		snprintf(why, cap, "there is no parameter '%.60s'", name);
	} else if (!value || fits(kind, n, value)) {
		return NULL;
	} else if (is(kind, n, "text")) {
		snprintf(why, cap, "%.60s is longer than %u bytes", name, VIEW_TEXT_MOST);
	} else {
		snprintf(why, cap, "%.60s=%.60s: this is to be %s%.*s", name, value,
			 kind[0] >= '0' && kind[0] <= '9' ? "a whole number of " : "a ", (int)n, kind);
	}
	return why;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* "%20" and "+" become what they stand for. False: there is a NUL, or no number behind '%'. */
static bool unescape(char *s)
{
	char *to = s;
	for (; *s; s++) {
		if (*s == '%') {
			int high = digit_of(s[1]), low = high < 0 ? -1 : digit_of(s[2]);
			if (low < 0 || high + low == 0) {
				return false;
			}
			*to++ = (char)(high * 16 + low);
			s += 2;
		} else {
			*to++ = *s == '+' ? ' ' : *s;
		}
	}
	*to = 0;
	return true;
}

bool view_param_split(char *query, char **ret_names, char **ret_values, uint32_t most, uint32_t *ret_count)
{
	char *rest = NULL;
	uint32_t n = 0;
	for (char *word = strtok_r(query, "&", &rest); word; word = strtok_r(NULL, "&", &rest)) {
		char *value = strchr(word, '=');
		if (!value || n == most) {
			return false;
		}
		*value++ = 0;
		if (!unescape(word) || !unescape(value)) {
			return false;
		}
		ret_names[n] = word;
		ret_values[n++] = value;
	}
	*ret_count = n;
	return true;
}
