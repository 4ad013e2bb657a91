/* SPDX-License-Identifier: MIT
 * Words of a command line -> options, as programs of Linux have them.
 */
#include "tools/common/cli.h"

#include <stddef.h>
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

/* Instructions are pasted from formatted pages: U+2010..U+2015 and U+2212 before an option are taken for what was
 * meant. The bytes of the one that `w` begins with; 0: it begins with none. */
static size_t long_dash(const char *w)
{
	static const char *const dashes[] = {"\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(dashes); i++) {
		size_t n = strlen(dashes[i]);
		if (strncmp(w, dashes[i], n) == 0) {
			return n;
		}
	}
	return 0;
}

char *cli_plain_dashes(char *w, bool classic)
{
	size_t n = long_dash(w);
	if (n) {
		w += n - 1;
		*w = '-';
		if (!classic && w[1] && w[2]) { /* one dash before a letter, two before a longer name */
			*--w = '-';
		}
	}
	size_t second = classic && *w == '-' ? long_dash(w + 1) : 0;
	if (second) {
		w += second - 1;
		w[0] = w[1] = '-';
	}
	return w;
}

/* What options are read into lives as long as the program. */
static struct given {
	struct given *before;
	max_align_t values[];
} * given;

bool cli_args_give(struct cli_args *a)
{
	const struct cli_command *c = a->command;
	struct given *g = calloc(1, sizeof *g + c->options_bytes);
	if (!g) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the options");
		return false;
	}
	if (c->defaults) {
		memcpy(g->values, c->defaults, c->options_bytes);
	}
	g->before = given;
	given = g;
	a->given = g->values;
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

int cli_run_other(const char *verb, int argc, char **argv)
{
	struct cli_args a = {.command = cli_find(verb)};
	return cli_parse(&a, argc, argv) ? a.command->run(&a) : cli_told();
}
