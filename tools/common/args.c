/* SPDX-License-Identifier: MIT
 * Words of a command line -> options, as programs of Linux have them.
 */
#include "tools/common/cli.h"

#include "base/parse.h"

#include <stdlib.h>

static const char *option_at(const void *ctx, int i)
{
	const struct cli_command *c = ctx;
	return c->options ? c->options[i].name : NULL;
}

static int no_such_option(struct cli_args *a, const char *word)
{
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word + (word[1] == '-' ? 2 : 1), "="),
		 word + (word[1] == '-' ? 2 : 1));
	const char *near = cli_nearest(name, option_at, a->command);
	if (near) {
		return cli_usage(a, "unknown option '%s'; did you mean --%s?", word, near);
	}
	return cli_usage(a, "unknown option '%s'", word);
}

/* Instructions are pasted from formatted pages: take U+2010..U+2015 and U+2212 before an option for
 * what was meant. */
char *cli_plain_dashes(char *w, bool classic)
{
	static const char *const dashes[] = {"\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(dashes); i++) {
		size_t n = strlen(dashes[i]);
		if (strncmp(w, dashes[i], n) == 0) {
			/* one dash before a letter option, two before a longer name */
			bool longer = !classic && w[n] && w[n + 1];
			memcpy(w + n - 1, "-", 1);
			memcpy(w + n - 2, "-", 1);
			return longer ? w + n - 2 : w + n - 1;
		}
	}
	return w;
}

/* What the verb's options are read into; it lives as long as the program. */
static void *given;

bool cli_args_give(struct cli_args *a)
{
	const struct cli_command *c = a->command;
	given = calloc(1, c->options_bytes + 1);
	a->given = given;
	if (!given) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the options");
		return false;
	}
	if (c->defaults) {
		memcpy(given, c->defaults, c->options_bytes);
	}
	return true;
}

bool cli_parse(struct cli_args *a, int argc, char **argv)
{
	const struct cli_command *c = a->command;
	int out = 0;
	if (!cli_args_give(a)) {
		return false;
	}
	for (int i = 0; i < argc; i++) {
		char *w = cli_plain_dashes(argv[i], false);
		if (strcmp(w, "--") == 0 || (c->rest_is_command && w[0] != '-')) {
			for (i += w[0] == '-'; i < argc; i++) {
				argv[out++] = argv[i];
			}
			break;
		}
		if (w[0] != '-' || w[1] == 0) {
			argv[out++] = w;
			continue;
		}
		const char *eq = w[1] == '-' ? strchr(w, '=') : NULL;
		const struct cli_option *o =
			w[1] == '-' ? cli_option_find(c->options, w + 2, eq ? (size_t)(eq - w - 2) : strlen(w + 2), 0,
						      false)
				    : cli_option_find(c->options, NULL, 0, w[1], false);
		if (!o) {
			no_such_option(a, w);
			return false;
		}
		const char *value = NULL;
		if (w[1] == '-') {
			value = eq ? eq + 1 : NULL;
		} else if (w[2]) {
			value = w + 2;
		}
		if (o->arg && o->arg[0] == '[' && !value) {
			/* One that may be left out: before another option, before "--", and before what is
			 * none of the values that there are. */
			bool next = i + 1 < argc && argv[i + 1][0] != '-' && cli_option_allows(o, argv[i + 1], false);
			value = next ? argv[++i] : "";
		} else if (o->arg && !value) {
			if (i + 1 == argc) {
				cli_usage(a, "--%s needs %s", o->name, o->arg);
				return false;
			}
			value = argv[++i];
		} else if (!o->arg && value) {
			cli_usage(a, "--%s takes no value", o->name);
			return false;
		}
		if (!cli_option_store(a, o, value ? value : "")) {
			return false;
		}
	}
	argv[out] = NULL; /* run hands the rest to execvp */
	a->count = out;
	a->words = argv;
	return true;
}

bool cli_flag(const struct cli_args *a, const char *name)
{
	return cli_value(a, name, NULL) != NULL;
}

const char *cli_value(const struct cli_args *a, const char *name, const char *fallback)
{
	const char *found = fallback;
	for (int i = 0; i < a->value_count; i++) {
		if (strcmp(a->values[i].option->name, name) == 0) {
			found = a->values[i].value;
		}
	}
	return found;
}

const char *cli_value_at(const struct cli_args *a, const char *name, int n)
{
	for (int i = 0; i < a->value_count; i++) {
		if (strcmp(a->values[i].option->name, name) == 0 && n-- == 0) {
			return a->values[i].value;
		}
	}
	return NULL;
}

bool cli_number(const struct cli_args *a, const char *name, uint64_t min, uint64_t max, uint64_t *inout)
{
	const char *text = cli_value(a, name, NULL);
	if (!text) {
		return true;
	}
	if (!parse_number(text, min, max, inout)) {
		cli_usage(a, "--%s takes a number from %llu to %llu, not '%s'", name, (unsigned long long)min,
			  (unsigned long long)max, text);
		return false;
	}
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

static bool scaled(const struct cli_args *a, const char *name, const char *what, const char *text, bool ok,
		   bool is_time, uint64_t base_units, uint64_t unit, uint64_t min, uint64_t max, uint64_t *inout)
{
	uint64_t v = ok ? base_units / unit + (base_units % unit != 0) : 0;
	if (!ok) {
		cli_usage(a, "--%s takes %s, not '%s'", name, what, text);
		return false;
	}
	if (v < min || v > max) {
		char limit[32];
		limit_text((v < min ? min : max) * unit, is_time, limit, sizeof limit);
		cli_usage(a, "--%s %s is out of range: %s at %s", name, text, limit, v < min ? "least" : "most");
		return false;
	}
	*inout = v;
	return true;
}

bool cli_size(const struct cli_args *a, const char *name, uint64_t unit, uint64_t min, uint64_t max, uint64_t *inout)
{
	const char *text = cli_value(a, name, NULL);
	uint64_t bytes = 0;
	bool ok = text && parse_size(text, unit, &bytes);
	return !text ||
	       scaled(a, name, "a size such as 64K, 100MB or 2G", text, ok, false, bytes, unit, min, max, inout);
}

bool cli_duration(const struct cli_args *a, const char *name, uint64_t unit_ns, uint64_t min, uint64_t max,
		  uint64_t *inout)
{
	const char *text = cli_value(a, name, NULL);
	uint64_t ns = 0;
	bool ok = text && parse_duration(text, unit_ns, &ns);
	return !text ||
	       scaled(a, name, "a time such as 250ms, 1.5s or 2m", text, ok, true, ns, unit_ns, min, max, inout);
}
