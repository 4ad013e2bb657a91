/* SPDX-License-Identifier: MIT
 *
 * Numbers, times, durations and sizes, in and out. Dates are the proleptic Gregorian calendar.
 */
#include "base/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define PER_SECOND   10000000ull
#define SECOND_CHARS 19
#define UNIX_SECONDS 11644473600ll /* from 1601 to 1970 */

/* ---- numbers ---------------------------------------------------------------------------------- */

static unsigned digit_of(char c)
{
	return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
	       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
				      : 16;
}

/* How many bytes of s[0..n) the number is that begins there; 0: none does, or it is above max. */
static size_t number_at(const char *s, size_t n, uint64_t max, uint64_t *ret)
{
	bool hex = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && digit_of(s[2]) < 16;
	unsigned base = hex ? 16 : 10;
	size_t start = hex ? 2 : 0, i = start;
	uint64_t v = 0;
	for (; i < n && digit_of(s[i]) < base; i++) {
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit_of(s[i]), &v) || v > max) {
			return 0;
		}
	}
	if (i == start) {
		return 0;
	}
	*ret = v;
	return i;
}

bool parse_number_of(const char *text, size_t n, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t v;
	if (n == 0 || number_at(text, n, max, &v) != n || v < min) {
		return false;
	}
	*ret = v;
	return true;
}

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	return parse_number_of(text, strlen(text), min, max, ret);
}

bool parse_number_at(const char **inout_text, uint64_t max, uint64_t *ret)
{
	size_t n = number_at(*inout_text, strlen(*inout_text), max, ret);
	*inout_text += n;
	return n > 0;
}

int parse_numbers(const char *text, uint32_t min, uint32_t max, uint32_t *out, int cap)
{
	int n = 0;
	text += strspn(text, " \t");
	while (*text) {
		size_t length = strcspn(text, ", \t");
		uint64_t v;
		if (n == cap || !parse_number_of(text, length, min, max, &v)) {
			return -1;
		}
		out[n++] = (uint32_t)v;
		text += length;
		text += strspn(text, " \t");
		if (*text && *text++ != ',') {
			return -1;
		}
		size_t blanks = strspn(text, " \t");
		if (text[-1] == ',' && !text[blanks]) {
			return -1;
		}
		text += blanks;
	}
	return n;
}

/* ---- times ------------------------------------------------------------------------------------ */

static void add2(char **s, unsigned v)
{
	*(*s)++ = (char)('0' + v / 10 % 10);
	*(*s)++ = (char)('0' + v % 10);
}

/* Offset of local time from UTC at that moment. Remembered for the quarter hour: zones change at
 * those. */
static long local_offset(uint64_t filetime)
{
	static _Thread_local int64_t known_quarter = -1;
	static _Thread_local long known;
	int64_t seconds = (int64_t)(filetime / PER_SECOND) - UNIX_SECONDS;
	if (known_quarter != seconds / 900) {
		time_t t = (time_t)seconds;
		struct tm tm;
		known = localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
		known_quarter = seconds / 900;
	}
	return known;
}

/* "2026-01-31T12:00:00" */
static void format_second(uint64_t seconds, char out[SECOND_CHARS])
{
	uint64_t days = seconds / 86400;
	unsigned rest = (unsigned)(seconds % 86400);
	/* Days to a date: count in 400-year cycles from 1601-01-01, which starts one. */
	uint64_t cycles = days / 146097;
	uint64_t d = days % 146097;
	uint64_t centuries = BASE_MIN(d / 36524, (uint64_t)3);
	d -= centuries * 36524;
	uint64_t fours = d / 1461;
	d -= fours * 1461;
	uint64_t ones = BASE_MIN(d / 365, (uint64_t)3);
	d -= ones * 365;
	uint64_t year = 1601 + cycles * 400 + centuries * 100 + fours * 4 + ones;
	bool leap = ones == 3 && (fours != 24 || centuries == 3);
	static const uint8_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned month = 0;
	while (d >= month_days[month] + (unsigned)(month == 1 && leap)) {
		d -= month_days[month] + (unsigned)(month == 1 && leap);
		month++;
	}
	if (year > 9999) { /* garbage time stamps must not break the columns */
		year = 9999;
	}
	char *s = out;
	add2(&s, (unsigned)(year / 100));
	add2(&s, (unsigned)(year % 100));
	*s++ = '-';
	add2(&s, month + 1);
	*s++ = '-';
	add2(&s, (unsigned)d + 1);
	*s++ = 'T';
	add2(&s, rest / 3600);
	*s++ = ':';
	add2(&s, rest / 60 % 60);
	*s++ = ':';
	add2(&s, rest % 60);
}

/* Events of one second come in a row: its part of the text is made once. */
void format_time(uint64_t filetime, bool local, char out[TIME_TEXT_SIZE])
{
	static _Thread_local uint64_t known_second = UINT64_MAX;
	static _Thread_local char known[SECOND_CHARS];
	long offset = local ? local_offset(filetime) : 0;
	uint64_t shifted = filetime + (uint64_t)((int64_t)offset * (int64_t)PER_SECOND);
	uint64_t seconds = shifted / PER_SECOND;
	uint32_t ticks = (uint32_t)(shifted % PER_SECOND);
	if (seconds != known_second) {
		format_second(seconds, known);
		known_second = seconds;
	}
	memcpy(out, known, SECOND_CHARS);
	char *s = out + SECOND_CHARS;
	*s = '.';
	for (int i = 7; i > 0; i--, ticks /= 10) {
		s[i] = (char)('0' + ticks % 10);
	}
	s += 8;
	if (!local) {
		*s++ = 'Z';
	} else {
		*s++ = offset < 0 ? '-' : '+';
		unsigned minutes = (unsigned)labs(offset) / 60;
		add2(&s, minutes / 60);
		*s++ = ':';
		add2(&s, minutes % 60);
	}
	*s = 0;
}

/* Exactly `digits` digits. */
static bool digits_of(const char **s, int digits, unsigned *ret)
{
	unsigned v = 0;
	for (int i = 0; i < digits; i++, (*s)++) {
		if (!isdigit((unsigned char)**s)) {
			return false;
		}
		v = v * 10 + (unsigned)(**s - '0');
	}
	*ret = v;
	return true;
}

static bool take(const char **s, char c)
{
	bool found = **s == c;
	*s += found;
	return found;
}

/* Days from 1601-01-01. Years start in March here, so that the leap day comes last. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = y / 400, year = y % 400;
	int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + year * 365 + year / 4 - year / 100 + day - 584694;
}

bool parse_time(const char *text, uint64_t *ret_filetime)
{
	static const uint8_t month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned y, mo, d, h = 0, mi = 0, s = 0;
	uint64_t ticks = 0;
	int64_t offset = 0;
	const char *p = text;
	if (!digits_of(&p, 4, &y) || !take(&p, '-') || !digits_of(&p, 2, &mo) || !take(&p, '-') ||
	    !digits_of(&p, 2, &d) || y < 1601 || mo < 1 || mo > 12 || d < 1 || d > month_days[mo - 1] ||
	    (mo == 2 && d == 29 && (y % 4 != 0 || (y % 100 == 0 && y % 400 != 0)))) {
		return false;
	}
	if (take(&p, 'T') || take(&p, 't') || take(&p, ' ')) {
		if (!digits_of(&p, 2, &h) || !take(&p, ':') || !digits_of(&p, 2, &mi) ||
		    (take(&p, ':') && !digits_of(&p, 2, &s)) || h > 23 || mi > 59 || s > 59) {
			return false;
		}
		if (take(&p, '.')) {
			uint64_t unit = PER_SECOND / 10;
			if (!isdigit((unsigned char)*p)) {
				return false;
			}
			for (; isdigit((unsigned char)*p); p++, unit /= 10) {
				ticks += (uint64_t)(*p - '0') * unit;
			}
		}
	}
	if (*p == '+' || *p == '-') {
		unsigned oh, om = 0;
		bool west = *p++ == '-';
		if (!digits_of(&p, 2, &oh) || (take(&p, ':'), *p && !digits_of(&p, 2, &om)) || oh > 23 || om > 59) {
			return false;
		}
		offset = (int64_t)(oh * 60 + om) * (west ? -60 : 60);
	} else if (!take(&p, 'Z')) {
		take(&p, 'z');
	}
	int64_t seconds = days_of(y, mo, d) * 86400 + (int64_t)(h * 3600 + mi * 60 + s) - offset;
	if (*p || seconds < 0) {
		return false;
	}
	*ret_filetime = (uint64_t)seconds * PER_SECOND + ticks;
	return true;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* number [unit]; rounds up, so that a limit is never smaller than asked for */
static bool quantity(const char *text, const struct unit *units, uint64_t bare, uint64_t *ret)
{
	char *end;
	if (!isdigit((unsigned char)*text) && *text != '.') {
		return false;
	}
	double v = strtod(text, &end);
	if (end == text || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))) {
		return false;
	}
	uint64_t factor = *end ? 0 : bare;
	for (; units->name && factor == 0; units++) {
		if (strcasecmp(units->name, end) == 0) {
			factor = units->factor;
		}
	}
	double exact = v * (double)factor;
	if (factor == 0 || exact > 1e18) {
		return false;
	}
	uint64_t whole = (uint64_t)exact;
	*ret = whole + (exact > (double)whole);
	return true;
}

bool parse_duration(const char *text, uint64_t unit_ns, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{"ns", 1},
		{"us", 1000},
		{"µs", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"sec", 1000000000},
		{"m", 60000000000},
		{"min", 60000000000},
		{"h", 3600000000000},
		{"d", 86400000000000},
		{NULL, 0},
	};
	return quantity(text, units, unit_ns, ret_ns);
}

bool parse_size(const char *text, uint64_t unit_bytes, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"B", 1},           {"K", 1ull << 10},   {"KB", 1ull << 10},  {"KiB", 1ull << 10}, {"M", 1ull << 20},
		{"MB", 1ull << 20}, {"MiB", 1ull << 20}, {"G", 1ull << 30},   {"GB", 1ull << 30},  {"GiB", 1ull << 30},
		{"T", 1ull << 40},  {"TB", 1ull << 40},  {"TiB", 1ull << 40}, {NULL, 0},
	};
	return quantity(text, units, unit_bytes, ret_bytes);
}

void format_duration(uint64_t duration, char *out, size_t cap)
{
	uint64_t seconds = duration / PER_SECOND;
	if (duration < 10000) {
		snprintf(out, cap, "%.1f µs", (double)duration / 10);
	} else if (seconds == 0) {
		snprintf(out, cap, "%.3f ms", (double)duration / 1e4);
	} else if (seconds < 60) {
		snprintf(out, cap, "%.3f s", (double)duration / 1e7);
	} else if (seconds < 3600) {
		snprintf(out, cap, "%u min %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
	} else {
		snprintf(out, cap, "%llu h %02u min", (unsigned long long)(seconds / 3600),
			 (unsigned)(seconds / 60 % 60));
	}
}
