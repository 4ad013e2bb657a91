/* SPDX-License-Identifier: MIT
 * Values of options on their way into a verb's structure.
 */
#include "tools/common/options.h"

#include "base/level.h"
#include "base/parse.h"
#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "tools/common/path.h"

#include <openetw/decode.h>

#include <stdlib.h>
#include <strings.h>

const char *cli_words_last(const struct cli_words *w)
{
	return w->count ? w->text[w->count - 1] : NULL;
}

const struct cli_option *cli_option_find(const struct cli_option *table, const char *name, size_t n, char letter,
					 bool any_case)
{
	for (const struct cli_option *o = table; o && o->name; o++) {
		if (letter ? o->letter == letter
			   : strlen(o->name) == n &&
				     (any_case ? strncasecmp(o->name, name, n) : memcmp(o->name, name, n)) == 0) {
			return o;
		}
	}
	return NULL;
}

/* The number of the word in "a|b|c"; -1: it is none of them. */
static int word_number(const char *words, const char *value, bool any_case)
{
	size_t n = strlen(value);
	int i = 0;
	for (const char *s = words; s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL, i++) {
		if ((any_case ? strncasecmp(s, value, n) : strncmp(s, value, n)) == 0 && (s[n] == '|' || s[n] == 0)) {
			return i;
		}
	}
	return -1;
}

bool cli_option_allows(const struct cli_option *o, const char *value, bool any_case)
{
	return !o->values || word_number(o->values, value, any_case) >= 0;
}

/* "--name", or "-name" of the classic tools. */
static const char *dash(const struct cli_args *a)
{
	return a->command->classic ? "-" : "--";
}

static bool left_out(const struct cli_option *o, const char *value)
{
	return !*value && o->arg && o->arg[0] == '[';
}

bool cli_option_store(struct cli_args *a, const struct cli_option *o, const char *value)
{
	if (o->refused) {
		cli_usage(a, "%s%s is not done here: %s", dash(a), o->name, o->refused);
		return false;
	}
	if (o->arg && !left_out(o, value) && !cli_option_allows(o, value, a->command->classic)) {
		cli_usage(a, "%s%s takes %s%s, not '%s'", dash(a), o->name, o->values,
			  o->arg[0] == '[' ? " or nothing" : "", value);
		return false;
	}
	return !o->take || o->take(a, o, value, (char *)a->given + o->offset);
}

bool cli_take_flag(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(bool *)member = true;
	return true;
}

bool cli_take_set(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(int *)member = (int)o->min;
	return true;
}

bool cli_take_bits(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(uint32_t *)member |= (uint32_t)o->min;
	return true;
}

bool cli_take_word(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(const char **)member = value;
	return true;
}

bool cli_take_name(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	*(const char **)member = o->name;
	return true;
}

bool cli_take_verb(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct cli_verb *v = member;
	if (v->name && v->name != o->name) {
		v->other = o->name;
		return true;
	}
	v->name = o->name;
	return cli_take_words(a, o, value, &v->values);
}

static bool no_memory(const struct cli_args *a)
{
	cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the options");
	return false;
}

bool cli_take_words(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct cli_words *w = member;
	const char **more = realloc(w->text, ((size_t)w->count + 1) * sizeof *more);
	if (!more) {
		return no_memory(a);
	}
	w->text = more;
	w->text[w->count++] = value;
	return true;
}

bool cli_take_number(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	if (left_out(o, value)) {
		*(uint64_t *)member = o->bare;
		return true;
	}
	if (parse_number(value, o->min, o->max, member)) {
		return true;
	}
	if (o->min == 0 && o->max == UINT64_MAX) {
		cli_usage(a, "%s%s takes a number, not '%s'", dash(a), o->name, value);
	} else {
		cli_usage(a, "%s%s takes a number from %llu to %llu, not '%s'", dash(a), o->name,
			  (unsigned long long)o->min, (unsigned long long)o->max, value);
	}
	return false;
}

bool cli_take_numbers(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct cli_numbers *w = member;
	uint64_t one;
	if (!cli_take_number(a, o, value, &one)) {
		return false;
	}
	if ((uint64_t)w->count == o->unit) {
		cli_usage(a, "at most %llu %s%s", (unsigned long long)o->unit, dash(a), o->name);
		return false;
	}
	uint64_t *more = realloc(w->number, ((size_t)w->count + 1) * sizeof *more);
	if (!more) {
		return no_memory(a);
	}
	w->number = more;
	w->number[w->count++] = one;
	return true;
}

static void limit_text(uint64_t v, bool is_time, char *out, size_t cap)
{
	if (!is_time) {
		cli_size_text(v, out, cap);
	} else if (v % 1000000000 == 0) {
		snprintf(out, cap, "%llus", (unsigned long long)(v / 1000000000));
	} else if (v % 1000000 == 0) {
		snprintf(out, cap, "%llums", (unsigned long long)(v / 1000000));
	} else {
		snprintf(out, cap, "%lluus", (unsigned long long)(v / 1000));
	}
}

/* `amount` is in bytes or ns. */
static bool take_scaled(const struct cli_args *a, const struct cli_option *o, const char *value, uint64_t amount,
			bool is_time, uint64_t *ret)
{
	uint64_t v = amount / o->unit + (amount % o->unit != 0);
	if (v < o->min || v > o->max) {
		char limit[32];
		limit_text((v < o->min ? o->min : o->max) * o->unit, is_time, limit, sizeof limit);
		cli_usage(a, "%s%s %s is out of range: %s at %s", dash(a), o->name, value, limit,
			  v < o->min ? "least" : "most");
		return false;
	}
	*ret = v;
	return true;
}

bool cli_take_size(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	uint64_t bytes;
	if (!parse_size(value, o->unit, &bytes)) {
		cli_usage(a, "%s%s takes a size such as 64K, 100MB or 2G, not '%s'", dash(a), o->name, value);
		return false;
	}
	return take_scaled(a, o, value, bytes, false, member);
}

bool cli_take_duration(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	uint64_t ns;
	if (!parse_duration(value, o->bare ? o->bare : o->unit, &ns)) {
		cli_usage(a, "%s%s takes a time such as 250ms, 1.5s or 2m, not '%s'", dash(a), o->name, value);
		return false;
	}
	return take_scaled(a, o, value, ns, true, member);
}

bool cli_take_choice(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	int i = word_number(o->values, value, a->command->classic);
	*(int *)member = (int)o->min + (i < 0 ? 0 : i);
	return true;
}

bool cli_take_level(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct cli_level *l = member;
	l->given = level_parse(value, strlen(value), &l->level);
	if (!l->given) {
		cli_usage(a, "%s%s takes 0-255 or critical|error|warning|info|verbose, not '%s'", dash(a), o->name,
			  value);
	}
	return l->given;
}

bool cli_take_time(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct cli_time *t = member;
	uint64_t ns;
	if (parse_time(value, &t->time)) {
		t->relative = false;
	} else if (parse_duration(value + (*value == '+'), 1000,
				  &ns)) { /* bare numbers are µs, as in other ETW tools */
		t->time = ns / 100;
		t->relative = true;
	} else {
		cli_usage(a,
			  "%s%s takes 2026-01-31T12:00:00 (UTC; or with +01:00) or a time from the start such as 1.5s, "
			  "not '%s'",
			  dash(a), o->name, value);
		return false;
	}
	return t->given = true;
}

bool cli_take_schema(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	cli_path_input((char *)(uintptr_t)value); /* a word of the command line */
	uint32_t code = openetw_schema_load_file(value);
	if (code != ERROR_SUCCESS) {
		cli_tell(a, "cannot load %s: %s", value, openetw_last_error_text());
	}
	return code == ERROR_SUCCESS;
}

bool cli_take_force(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	cli_output_overwrite();
	return true;
}
