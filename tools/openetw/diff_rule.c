/* SPDX-License-Identifier: MIT */
#include "tools/openetw/diff_rule.h"

#include "filter/filter_parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip(const char *p)
{
	return p + strspn(p, " \t");
}

static size_t trimmed(const char *p, size_t n)
{
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t')) {
		n--;
	}
	return n;
}

static bool is_word(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

/* "1.2", "5ms" */
static bool take_number(const char *p, size_t n, double *ret, char *why, size_t cap)
{
	struct filter_number x;
	const char *unit;
	char text[64], *end;
	snprintf(text, sizeof text, "%.*s", (int)BASE_MIN(n, sizeof text - 1), p);
	double v = strtod(text, &end);
	if (n > 0 && n < sizeof text && !*end && isfinite(v)) {
		*ret = v;
		return true;
	}
	if (n > 0 && n < sizeof text && filter_number_with_unit(text, n, &x, &unit)) {
		if (x.valid) {
			*ret = x.real;
			return true;
		}
		snprintf(why, cap, "there is no unit '%s'; there are ns us ms s m h K M G T", unit);
		return false;
	}
	snprintf(why, cap, "'%s' is no number; write 5ms, 10MB, 1.2 * base", text);
	return false;
}

/* Takes "beyond noise" off the end. */
static bool take_beyond(char *inout)
{
	static const char first[] = "beyond", second[] = "noise";
	size_t n = trimmed(inout, strlen(inout)), m = sizeof second - 1;
	if (n <= m || strncasecmp(inout + n - m, second, m) != 0) {
		return false;
	}
	n = trimmed(inout, n - m);
	m = sizeof first - 1;
	if (n <= m || strncasecmp(inout + n - m, first, m) != 0) {
		return false;
	}
	inout[trimmed(inout, n - m)] = 0;
	return true;
}

/* "1.2 * base", "base", "5ms" */
static bool take_value(const char *text, struct diff_rule *r, char *why, size_t cap)
{
	char p[300];
	if ((size_t)snprintf(p, sizeof p, "%s", text) >= sizeof p) {
		snprintf(why, cap, "it is too long");
		return false;
	}
	r->beyond = take_beyond(p);
	const char *star = strchr(p, '*');
	size_t n = trimmed(p, strlen(p));
	if (is_word(p, n, "base")) {
		r->of_base = true;
		r->number = 1;
		return true;
	}
	if (!star) {
		return take_number(p, n, &r->number, why, cap);
	}
	const char *right = skip(star + 1);
	size_t left_n = trimmed(p, (size_t)(star - p)), right_n = trimmed(right, strlen(right));
	bool first = is_word(p, left_n, "base"), second = is_word(right, right_n, "base");
	if (first == second) {
		snprintf(why, cap, "'%s' is no number times base", p);
		return false;
	}
	r->of_base = true;
	return first ? take_number(right, right_n, &r->number, why, cap) : take_number(p, left_n, &r->number, why, cap);
}

bool diff_rule_parse(const char *text, struct diff_rule *ret, char *why, size_t cap)
{
	const char *at = skip(text), *op = strpbrk(at, "<>=!");
	size_t n = op ? trimmed(at, (size_t)(op - at)) : 0;
	*ret = (struct diff_rule){.text = text};
	if (n == 0 || n >= sizeof ret->aggregate) {
		snprintf(why, cap, "it is written as in 'p99(duration) > 1.2 * base'");
		return false;
	}
	snprintf(ret->aggregate, sizeof ret->aggregate, "%.*s", (int)n, at);
	bool equal = op[1] == '=';
	ret->op = op[0] == '>' && equal ? 'g' : op[0] == '<' && equal ? 'l' : op[0];
	if (op[0] == '!' && !equal) {
		snprintf(why, cap, "'!' is written as '!='");
		return false;
	}
	return take_value(skip(op + 1 + equal), ret, why, cap);
}

bool diff_rule_is_true(const struct diff_rule *r, double value, double base)
{
	double with = r->of_base ? r->number * base : r->number;
	switch (r->op) {
	case '>': return value > with;
	case 'g': return value >= with;
	case '<': return value < with;
	case 'l': return value <= with;
	case '!': return value < with || value > with;
	default: return !(value < with) && !(value > with);
	}
}
