/* SPDX-License-Identifier: MIT
 *
 * What the values of tests mean: numbers with units, times, levels.
 */
#include "filter/filter_parse.h"

#include "base/level.h"
#include "base/nearest.h"
#include "base/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define TICKS_PER_SECOND 10000000ull
#define DIGITS_MAX       40

const char *const filter_size_units[] = {"K", "M", "G", "T", NULL};
const char *const filter_duration_units[] = {"ns", "us", "ms", "s", "m", "h", NULL};

static const struct unit {
	const char *word;
	enum filter_unit kind;
	uint64_t factor;
} units[] = {
	{"ns", FILTER_UNIT_DURATION, 1},
	{"us", FILTER_UNIT_DURATION, 1000},
	{"µs", FILTER_UNIT_DURATION, 1000},
	{"ms", FILTER_UNIT_DURATION, 1000000},
	{"s", FILTER_UNIT_DURATION, 1000000000},
	{"sec", FILTER_UNIT_DURATION, 1000000000},
	{"m", FILTER_UNIT_DURATION, 60000000000},
	{"min", FILTER_UNIT_DURATION, 60000000000},
	{"h", FILTER_UNIT_DURATION, 3600000000000},
	{"d", FILTER_UNIT_DURATION, 86400000000000},
	{"B", FILTER_UNIT_SIZE, 1},
	{"K", FILTER_UNIT_SIZE, 1ull << 10},
	{"k", FILTER_UNIT_SIZE, 1ull << 10},
	{"KB", FILTER_UNIT_SIZE, 1ull << 10},
	{"kB", FILTER_UNIT_SIZE, 1ull << 10},
	{"Ki", FILTER_UNIT_SIZE, 1ull << 10},
	{"KiB", FILTER_UNIT_SIZE, 1ull << 10},
	{"M", FILTER_UNIT_SIZE, 1ull << 20},
	{"MB", FILTER_UNIT_SIZE, 1ull << 20},
	{"Mi", FILTER_UNIT_SIZE, 1ull << 20},
	{"MiB", FILTER_UNIT_SIZE, 1ull << 20},
	{"G", FILTER_UNIT_SIZE, 1ull << 30},
	{"GB", FILTER_UNIT_SIZE, 1ull << 30},
	{"Gi", FILTER_UNIT_SIZE, 1ull << 30},
	{"GiB", FILTER_UNIT_SIZE, 1ull << 30},
	{"T", FILTER_UNIT_SIZE, 1ull << 40},
	{"TB", FILTER_UNIT_SIZE, 1ull << 40},
	{"Ti", FILTER_UNIT_SIZE, 1ull << 40},
	{"TiB", FILTER_UNIT_SIZE, 1ull << 40},
};

static const char *unit_at(const void *ctx, int i)
{
	(void)ctx;
	return (size_t)i < BASE_ARRAY_LEN(units) ? units[i].word : NULL;
}

/* A number times a factor, exactly where that is possible. */
static struct filter_number scaled(const struct filter_number *x, uint64_t factor, uint64_t divisor,
				   enum filter_unit unit)
{
	struct filter_number r = *x;
	uint64_t product;
	r.unit = (uint8_t)unit;
	r.real = x->real * (double)factor / (double)divisor;
	r.is_int = x->is_int && !__builtin_mul_overflow(x->magnitude, factor, &product) && product % divisor == 0;
	if (r.is_int) {
		r.magnitude = product / divisor;
	} else if (r.real > -0x1p53 && r.real < 0x1p53 && r.real == (double)(int64_t)r.real) { /* 1.5K */
		int64_t whole = (int64_t)r.real;
		r.is_int = true;
		r.negative = whole < 0;
		r.magnitude = (uint64_t)(whole < 0 ? -whole : whole);
	}
	return r;
}

bool filter_number_with_unit(const char *s, size_t n, struct filter_number *ret, const char **ret_unit)
{
	size_t i = n > 0 && (s[0] == '-' || s[0] == '+'), begin = i;
	bool digits = false;
	for (; i < n && (isdigit((unsigned char)s[i]) || s[i] == '.'); i++) {
		digits |= s[i] != '.';
	}
	if (!digits || i == n || i - begin > DIGITS_MAX) {
		return false;
	}
	for (size_t k = i; k < n; k++) {
		if (!isalpha((unsigned char)s[k]) && (unsigned char)s[k] < 0x80) {
			return false;
		}
	}
	struct filter_number x = filter_number_of(s, i);
	*ret_unit = s + i;
	*ret = (struct filter_number){0};
	for (size_t k = 0; x.valid && k < BASE_ARRAY_LEN(units); k++) {
		if (strlen(units[k].word) == n - i && memcmp(units[k].word, s + i, n - i) == 0) {
			*ret = scaled(&x, units[k].factor, 1, units[k].kind);
			break;
		}
	}
	return x.valid;
}

uint64_t filter_field_unit_ns(const char *name)
{
	static const struct {
		const char *end;
		uint64_t ns;
	} ends[] = {
		{"Nanoseconds", 1},        {"Ns", 1},
		{"Microseconds", 1000},    {"Us", 1000},
		{"Milliseconds", 1000000}, {"Millis", 1000000},
		{"Msec", 1000000},         {"Ms", 1000000},
		{"MS", 1000000},           {"Seconds", 1000000000},
		{"Secs", 1000000000},      {"Sec", 1000000000},
	};
	static const struct {
		const char *end;
		uint64_t ns;
	} words[] = {
		{"ns", 1},           {"us", 1000},           {"usec", 1000},
		{"ms", 1000000},     {"msec", 1000000},      {"s", 1000000000},
		{"sec", 1000000000}, {"secs", 1000000000},   {"seconds", 1000000000},
		{"nanoseconds", 1},  {"microseconds", 1000}, {"milliseconds", 1000000},
	};
	const char *dot = strrchr(name, '.'), *under;
	name = dot ? dot + 1 : name;
	size_t n = strlen(name);
	under = strrchr(name, '_');
	for (size_t i = 0; i < BASE_ARRAY_LEN(words); i++) { /* took_ms; ms */
		if (strcasecmp(under ? under + 1 : name, words[i].end) == 0) {
			return words[i].ns;
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(ends); i++) { /* WaitedMs */
		size_t m = strlen(ends[i].end);
		if (n > m && strcmp(name + n - m, ends[i].end) == 0 &&
		    (islower((unsigned char)name[n - m - 1]) || isdigit((unsigned char)name[n - m - 1]))) {
			return ends[i].ns;
		}
	}
	return 0;
}

/* ---- what a value means ---------------------------------------------------------------------- */

static bool two_digits(const char **s, unsigned max, unsigned *ret)
{
	const char *p = *s;
	if (!isdigit((unsigned char)p[0]) || !isdigit((unsigned char)p[1])) {
		return false;
	}
	*ret = (unsigned)(p[0] - '0') * 10 + (unsigned)(p[1] - '0');
	*s += 2;
	return *ret <= max;
}

/* 10:00, 10:00:01, 10:00:01.25: since midnight. */
static bool clock_of(const char *s, uint64_t *ret_ticks)
{
	unsigned h, m, sec = 0;
	uint64_t ticks = 0, unit = TICKS_PER_SECOND / 10;
	if (!two_digits(&s, 23, &h) || *s++ != ':' || !two_digits(&s, 59, &m)) {
		return false;
	}
	if (*s == ':') {
		s++;
		if (!two_digits(&s, 59, &sec)) {
			return false;
		}
		if (*s == '.' && isdigit((unsigned char)s[1])) {
			for (s++; isdigit((unsigned char)*s); s++, unit /= 10) {
				ticks += (uint64_t)(*s - '0') * unit;
			}
		}
	}
	*ret_ticks = ((uint64_t)h * 3600 + m * 60 + sec) * TICKS_PER_SECOND + ticks;
	return *s == 0;
}

/* "no unit 'mss'; did you mean 'ms'?" */
static bool no_unit(const char *unit, struct strbuf *why)
{
	const char *near = nearest_word(unit, unit_at, NULL);
	strbuf_addf(why, "no unit '%.40s'; ", unit);
	strbuf_addf(why, near ? "did you mean '%s'?" : "units are ns us ms s m h and K M G T", near);
	return false;
}

static bool mean_level(const char *value, struct filter_number *ret, struct strbuf *why)
{
	static const char *const words[] = {"critical", "error",         "warning", "info",
					    "verbose",  "informational", "always",  NULL};
	uint8_t level;
	if (!level_parse(value, strlen(value), &level)) {
		const char *near = nearest_of(value, words);
		strbuf_addf(why,
			    near ? "no level '%.40s'; did you mean '%s'?"
				 : "no level '%.40s': it is a number or critical, error, warning, info or verbose",
			    value, near);
		return false;
	}
	*ret = (struct filter_number){.valid = true, .is_int = true, .magnitude = level, .real = level};
	return true;
}

static bool mean_time(const char *value, struct filter_number *ret, struct strbuf *why)
{
	struct filter_number x;
	const char *unit;
	uint64_t t;
	if (parse_time(value, &t)) {
		*ret = (struct filter_number){.valid = true, .is_int = true, .magnitude = t, .real = (double)t};
		return true;
	}
	if (clock_of(value, &t)) {
		*ret = (struct filter_number){.is_int = true, .unit = FILTER_UNIT_CLOCK, .relative = t};
		return true;
	}
	if (filter_number_with_unit(value, strlen(value), &x, &unit)) {
		if (!x.valid) {
			return no_unit(unit, why);
		}
		if (x.unit == FILTER_UNIT_DURATION && x.real >= 0 && x.real < 1e18) {
			*ret = (struct filter_number){
				.is_int = true, .unit = FILTER_UNIT_SINCE, .relative = (uint64_t)(x.real / 100)};
			return true;
		}
	}
	strbuf_adds(why,
		    "time is written as 2026-01-31T12:00:00 (UTC, or with +01:00), as 10:00:01, or as 1.5s since the "
		    "start of the trace");
	return false;
}

static bool mean_duration(const char *value, struct filter_number *ret, struct strbuf *why)
{
	const char *unit;
	*ret = filter_number_of(value, strlen(value));
	if (ret->valid && ret->real == 0) {
		return true;
	}
	if (!filter_number_with_unit(value, strlen(value), ret, &unit)) {
		strbuf_adds(why,
			    "duration is a number with ns, us, ms, s, m or h behind it, such as 10ms; '.duration' is "
			    "a field of that name");
		return false;
	}
	if (!ret->valid) {
		return no_unit(unit, why);
	}
	if (ret->unit != FILTER_UNIT_DURATION) {
		strbuf_adds(why, "duration is compared with ns, us, ms, s, m or h, not with a size");
	}
	return ret->unit == FILTER_UNIT_DURATION;
}

/* Properties that are numbers. */
static bool is_number(enum filter_property p)
{
	switch (p) {
	case FILTER_PROPERTY_ID:
	case FILTER_PROPERTY_VERSION:
	case FILTER_PROPERTY_CHANNEL:
	case FILTER_PROPERTY_OPCODE:
	case FILTER_PROPERTY_TASK:
	case FILTER_PROPERTY_KEYWORDS:
	case FILTER_PROPERTY_CPU:
	case FILTER_PROPERTY_PID:
	case FILTER_PROPERTY_TID:
	case FILTER_PROPERTY_LENGTH: return true;
	default: return false;
	}
}

static bool is_ordered(enum filter_test t)
{
	return t != FILTER_TEST_EQ && t != FILTER_TEST_NE;
}

static bool mean_number(const struct filter_node *n, const char *value, bool quoted, struct filter_number *ret,
			struct strbuf *why)
{
	struct filter_number x;
	const char *unit = NULL;
	bool number = is_number(n->property);
	if (ret->valid) {
		return true;
	}
	if ((quoted && !number) || !filter_number_with_unit(value, strlen(value), &x, &unit)) {
		if (number) {
			strbuf_addf(why, "%s is a number, not '%.40s'", n->name, value);
		}
		return !number;
	}
	if (!x.valid && !number && !is_ordered(n->test)) {
		return true; /* a text such as 10x */
	}
	if (!x.valid) {
		no_unit(unit, why);
		strbuf_adds(why, number ? "" : " (a text is quoted)");
		return false;
	}
	if (x.unit == FILTER_UNIT_SIZE) {
		*ret = x;
		return true;
	}
	uint64_t ns = number ? 0 : filter_field_unit_ns(n->name);
	if (ns) {
		*ret = scaled(&x, 1, ns, FILTER_UNIT_DURATION);
		return true;
	}
	if (number) {
		strbuf_addf(why, "%s is a number, not a duration", n->name);
	} else if (is_ordered(n->test)) {
		strbuf_addf(why,
			    "the name '%.60s' does not say in which unit the field counts, as WaitedMs does: write a "
			    "number without unit",
			    n->name);
	} else {
		return true; /* the text "10s" */
	}
	return false;
}

bool filter_value_mean(const struct filter_node *n, char **inout_value, bool quoted, struct filter_number *ret,
		       struct strbuf *why)
{
	const char *value = *inout_value;
	struct guid g;
	*ret = filter_number_of(value, strlen(value));
	switch (n->test) {
	case FILTER_TEST_LIKE:
	case FILTER_TEST_NOT_LIKE:
	case FILTER_TEST_REGEX:
	case FILTER_TEST_NOT_REGEX:
	case FILTER_TEST_HAS: *ret = (struct filter_number){0}; break;
	default:
		switch (n->property) {
		case FILTER_PROPERTY_LEVEL: return mean_level(value, ret, why);
		case FILTER_PROPERTY_TIME: return mean_time(value, ret, why);
		case FILTER_PROPERTY_DURATION: return mean_duration(value, ret, why);
		case FILTER_PROPERTY_PROVIDER:
		case FILTER_PROPERTY_PROVIDER_GUID:
		case FILTER_PROPERTY_EVENT:
		case FILTER_PROPERTY_PROCESS:
		case FILTER_PROPERTY_THREAD:
		case FILTER_PROPERTY_FILE:
		case FILTER_PROPERTY_ACTIVITY:
		case FILTER_PROPERTY_RELATED_ACTIVITY: break; /* texts */
		default:
			if (!mean_number(n, value, quoted, ret, why)) {
				return false;
			}
		}
	}
	if ((n->property == FILTER_PROPERTY_PROVIDER || n->property == FILTER_PROPERTY_PROVIDER_GUID ||
	     n->property == FILTER_PROPERTY_ACTIVITY || n->property == FILTER_PROPERTY_RELATED_ACTIVITY) &&
	    guid_parse(value, &g) == 0) {
		char text[37], *copy;
		guid_format(&g, text);
		copy = strdup(text);
		if (!copy) {
			why->failed = true;
			return false;
		}
		free(*inout_value);
		*inout_value = copy;
	}
	return true;
}

/* ---- times that count from the start ------------------------------------------------------------ */

#define TICKS_PER_DAY (86400 * TICKS_PER_SECOND)

static void resolve(struct filter_number *x, uint64_t start, uint64_t midnight)
{
	if (x->unit == FILTER_UNIT_SINCE || x->unit == FILTER_UNIT_CLOCK) {
		x->magnitude = (x->unit == FILTER_UNIT_SINCE ? start : midnight) + x->relative;
		x->real = (double)x->magnitude;
		x->valid = true;
	}
}

void filter_expr_set_start(struct filter_expr *f, uint64_t start, int64_t ahead)
{
	uint64_t local = start + (uint64_t)ahead;
	uint64_t midnight = local - local % TICKS_PER_DAY - (uint64_t)ahead;
	for (uint32_t i = 0; i < f->count; i++) {
		struct filter_number *low = &f->nodes[i].number, *high = &f->nodes[i].high_number;
		resolve(low, start, midnight);
		resolve(high, start, midnight);
		if (low->unit == FILTER_UNIT_CLOCK && high->unit == FILTER_UNIT_CLOCK &&
		    high->relative < low->relative) {
			high->magnitude += TICKS_PER_DAY; /* 23:50..00:10 */
			high->real = (double)high->magnitude;
		}
	}
}

bool filter_expr_needs_start(const struct filter_expr *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		const struct filter_node *n = &f->nodes[i];
		if (n->number.unit >= FILTER_UNIT_SINCE || n->high_number.unit >= FILTER_UNIT_SINCE) {
			return true;
		}
	}
	return false;
}
