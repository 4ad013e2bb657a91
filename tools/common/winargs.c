/* SPDX-License-Identifier: MIT */
#include "tools/common/winargs.h"
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

static const struct cli_option *option_of(const struct cli_command *c, const char *word, bool negate, bool *ret_off)
{
	struct stat st;
	*ret_off = false;
	if ((word[0] != '-' && word[0] != '/') || word[1] == 0) {
		return NULL;
	}
	const char *name = word + 1;
	if (word[0] == '-' && name[0] == '-') {
		name++;
		*ret_off = negate;
	}
	for (const struct cli_option *o = c->options; o && o->name; o++) {
		/* "/tmp" may be a file, "/y" hardly */
		if (strcasecmp(o->name, name) == 0 && (word[0] == '-' || stat(word, &st) < 0)) {
			/* ours, which people write as every other tool has it */
			*ret_off = *ret_off && strcmp(o->name, "explain") != 0 && strcmp(o->name, "json") != 0;
			return o;
		}
	}
	return NULL;
}

static const char *name_at(const void *ctx, int i)
{
	const struct cli_command *c = ctx;
	return c->options[i].name;
}

static bool unknown(struct cli_args *a, const char *word)
{
	const char *near = cli_nearest(word + 1 + (word[1] == '-'), name_at, a->command);
	cli_usage(a, near ? "unknown option '%s'; did you mean -%s?" : "unknown option '%s'", word, near);
	return false;
}

/* How many values the grammar wants at least and at most. */
static void arity(const char *arg, int *ret_min, int *ret_max)
{
	int depth = 0;
	*ret_min = *ret_max = 0;
	for (const char *s = arg; s && *s;) {
		if (*s == '[') {
			depth++;
			s++;
		} else if (*s == ']' || *s == ' ') {
			depth -= *s == ']';
			s++;
		} else {
			size_t n = strcspn(s, " []");
			bool more = n >= strlen("…") && strncmp(s + n - strlen("…"), "…", strlen("…")) == 0;
			*ret_min += depth == 0;
			*ret_max = more ? WINARGS_MAX : *ret_max + 1;
			s += n;
		}
	}
}

static bool take_values(struct cli_args *a, struct winarg *arg, int argc, char **argv, int *inout_i, bool negate,
			winargs_accept_fn *accept, int positionals, int most)
{
	int min, max;
	bool off;
	const struct cli_option *o = arg->option;
	arity(o->arg, &min, &max);
	min = BASE_MIN(min, most);
	max = BASE_MIN(max, most);
	arg->value = argv + *inout_i + 1;
	while (arg->count < max && *inout_i + 1 < argc) {
		char *next = cli_plain_dashes(argv[*inout_i + 1], true);
		if (option_of(a->command, next, negate, &off) || (arg->count >= min && next[0] == '-' && next[1])) {
			break;
		}
		if (arg->count >= min && accept && !accept(o, arg->count, next, positionals)) {
			break;
		}
		argv[++*inout_i] = next;
		arg->count++;
	}
	if (arg->count < min && !arg->off) {
		/* An unquoted #GUID, which ends the line for a shell, is why it usually is missing. */
		bool guid = strstr(o->arg, "GUID") && *inout_i + 1 == argc;
		cli_usage(a,
			  guid ? "-%s needs %s; shells take what begins with # for a comment: '#GUID', or leave it out"
			       : "-%s needs %s",
			  o->name, o->arg);
		return false;
	}
	if (arg->count && !cli_option_allows(o, arg->value[0], true)) {
		cli_usage(a, "-%s takes %s, not '%s'", o->name, o->values, arg->value[0]);
		return false;
	}
	return true;
}

/* `most`: values of one option. */
static bool parse_words(struct cli_args *a, bool negate, int most, winargs_accept_fn *accept, struct winargs *ret)
{
	int argc = a->count, out = 0;
	char **argv = a->words;
	char **positional = calloc((size_t)argc + 1, sizeof *positional);
	*ret = (struct winargs){.a = a};
	if (!positional) {
		return false;
	}
	bool fine = true;
	for (int i = 0; i < argc && fine; i++) {
		bool off;
		char *w = cli_plain_dashes(argv[i], true);
		const struct cli_option *o = option_of(a->command, w, negate, &off);
		if (!o && w[0] == '-' && w[1]) {
			fine = unknown(a, w);
		} else if (!o) {
			positional[out++] = w;
		} else if (ret->arg_count == WINARGS_MAX) {
			cli_usage(a, "too many options");
			fine = false;
		} else {
			struct winarg *arg = &ret->arg[ret->arg_count++];
			*arg = (struct winarg){.option = o, .off = off};
			fine = !o->arg || take_values(a, arg, argc, argv, &i, negate, accept, out, most);
		}
	}
	/* Values point into argv, so the positionals have a place of their own until the end of
	 * main. */
	ret->word = positional;
	ret->count = out;
	return fine;
}

bool winargs_parse(struct cli_args *a, bool negate, winargs_accept_fn *accept, struct winargs *ret)
{
	return parse_words(a, negate, WINARGS_MAX, accept, ret);
}

const struct winarg *winargs_find(const struct winargs *w, const char *name)
{
	for (int i = w->arg_count; i-- > 0;) {
		if (strcasecmp(w->arg[i].option->name, name) == 0) {
			return &w->arg[i];
		}
	}
	return NULL;
}

bool winargs_on(const struct winargs *w, const char *name)
{
	const struct winarg *g = winargs_find(w, name);
	return g && !g->off;
}

bool winargs_off(const struct winargs *w, const char *name)
{
	const struct winarg *g = winargs_find(w, name);
	return g && g->off;
}

const char *winargs_value(const struct winargs *w, const char *name, const char *fallback)
{
	const struct winarg *g = winargs_find(w, name);
	return g && g->count ? g->value[0] : fallback;
}

bool winargs_u32(const struct winargs *w, const char *name, int index, uint32_t min, uint32_t max, uint32_t *inout)
{
	const struct winarg *g = winargs_find(w, name);
	uint64_t v;
	if (!g || g->count <= index) {
		return true;
	}
	if (!parse_number(g->value[index], min, max, &v)) {
		cli_usage(w->a, "-%s takes a number from %u to %u, not '%s'", name, min, max, g->value[index]);
		return false;
	}
	*inout = (uint32_t)v;
	return true;
}
