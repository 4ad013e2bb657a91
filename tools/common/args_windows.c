/* SPDX-License-Identifier: MIT
 * Words of a command line -> options, as Windows' tools have them.
 */
#include "tools/common/cli.h"
#include "tools/common/path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#define FILE_BYTES (64u << 10)
#define FILE_WORDS 512

/* The row of a word that is an option: "-name", "/name", and "--name" where no row has that name to itself. */
static const struct cli_option *option_of(const struct cli_command *c, const char *word)
{
	struct stat st;
	if ((word[0] != '-' && word[0] != '/') || word[1] == 0) {
		return NULL;
	}
	const char *name = word + 1;
	const struct cli_option *o = cli_option_find(c->options, name, strlen(name), 0, true);
	if (!o && word[0] == '-' && name[0] == '-') {
		o = cli_option_find(c->options, name + 1, strlen(name + 1), 0, true);
	}
	/* "/tmp" may be a file, "/y" hardly */
	return o && (word[0] == '-' || stat(word, &st) < 0) ? o : NULL;
}

static const char *name_at(const void *ctx, int i)
{
	const struct cli_command *c = ctx;
	const char *name = c->options ? c->options[i].name : NULL;
	return name && *name == '-' ? name + 1 : name;
}

static bool unknown(struct cli_args *a, const char *word)
{
	const char *near = cli_nearest(word + 1 + (word[1] == '-'), name_at, a->command);
	cli_usage(a, near ? "unknown option '%s'; did you mean -%s?" : "unknown option '%s'", word, near);
	return false;
}

/* How many values the row wants at least and at most. */
static void arity(const struct cli_option *o, int *ret_min, int *ret_max)
{
	int depth = 0;
	*ret_min = *ret_max = 0;
	for (const char *s = o->arg; s && *s;) {
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
			*ret_max = more ? INT_MAX : *ret_max + 1;
			s += n;
		}
	}
	if (o->take && *ret_max != INT_MAX) { /* what follows is the verb's to read */
		*ret_min = BASE_MIN(*ret_min, 1);
		*ret_max = BASE_MIN(*ret_max, 1);
	}
}

/* The values behind the option at *inout_i, which becomes the last of them. `words`: as many that are no options stand
 * before it. */
static bool take_values(struct cli_args *a, const struct cli_option *o, int argc, char **argv, int *inout_i, int words)
{
	int min, max, count = 0;
	char **value = argv + *inout_i + 1;
	arity(o, &min, &max);
	while (count < max && *inout_i + 1 < argc) {
		char *next = cli_plain_dashes(value[count], true);
		bool stranger = (next[0] == '-' && next[1]) || (o->wants && !o->wants(count, next, words));
		if (option_of(a->command, next) || (count >= min && stranger)) {
			break;
		}
		value[count++] = next;
		++*inout_i;
	}
	if (count < min) {
		/* An unquoted #GUID, which ends the line for a shell, is why it usually is missing. */
		bool guid = strstr(o->arg, "GUID") && *inout_i + 1 == argc;
		cli_usage(a,
			  guid ? "-%s needs %s; shells take what begins with # for a comment: '#GUID', or leave it out"
			       : "-%s needs %s",
			  o->name, o->arg);
		return false;
	}
	if (o->take_all) {
		return o->take_all(a, o, count, value, (char *)a->given + o->offset);
	}
	bool fine = cli_option_store(a, o, count ? value[0] : "");
	for (int i = 1; i < count && fine; i++) {
		fine = cli_option_store(a, o, value[i]);
	}
	return fine;
}

bool cli_parse_windows(struct cli_args *a, int argc, char **argv)
{
	int out = 0;
	if (!a->given && !cli_args_give(a)) {
		return false;
	}
	for (int i = 0; i < argc; i++) {
		char *w = cli_plain_dashes(argv[i], true);
		const struct cli_option *o = option_of(a->command, w);
		if (!o && a->command->other) {
			if (!a->command->other(a, w)) {
				return false;
			}
		} else if (!o && w[0] == '-' && w[1]) {
			return unknown(a, w);
		} else if (!o) {
			argv[out++] = w; /* over options that are read */
		} else if (!take_values(a, o, argc, argv, &i, out)) {
			return false;
		}
	}
	if (out < argc) {
		argv[out] = NULL;
	}
	a->count = out;
	a->words = argv;
	return true;
}

/* Words of a text, cut in place. Returns how many; -1: a quote is open. */
static int split_words(char *s, char **out, int cap)
{
	int n = 0;
	for (;;) {
		s += strspn(s, " \t\r\n");
		if (*s == '#') {
			s += strcspn(s, "\n");
			continue;
		}
		if (*s == 0 || n == cap) {
			return *s ? cap + 1 : n;
		}
		char *to = s;
		bool quoted = false;
		out[n++] = to;
		while (*s && (quoted || !strchr(" \t\r\n", *s))) {
			if (*s == '"') {
				quoted = !quoted;
				s++;
			} else {
				*to++ = *s++;
			}
		}
		bool end = *s == 0;
		*to = 0;
		if (quoted) {
			return -1;
		}
		s += !end;
	}
}

/* What stands in such a file lives as long as the program. */
static struct expansion {
	struct expansion *before;
	char text[FILE_BYTES + 1];
	char *words[];
} * expansions;

/* The words of a file in place of the two that name it. */
static bool expand_at(struct cli_args *a, int i, const char *name, char *text, char **words)
{
	const char *path = a->words[i + 1];
	FILE *f = cli_path_fopen(path);
	if (!f || !text || !words) {
		cli_usage(a, "-%s: cannot read %s: %s", name, path, strerror(errno));
		return false;
	}
	size_t got = fread(text, 1, FILE_BYTES, f);
	bool whole = fgetc(f) == EOF && !ferror(f) && !memchr(text, 0, got);
	fclose(f);
	memcpy(words, a->words, (size_t)i * sizeof *words);
	int n = whole ? split_words(text, words + i, FILE_WORDS) : -1;
	if (n < 0 || n > FILE_WORDS) {
		cli_usage(a, "-%s: %s is no list of options%s", name, path, n < 0 && whole ? ": a quote is open" : "");
		return false;
	}
	for (int k = 0; k < n; k++) {
		char *one = cli_plain_dashes(words[i + k], true);
		if ((*one == '-' || *one == '/') && strcasecmp(one + 1, name) == 0) {
			cli_usage(a, "-%s: %s names another such file", name, path);
			return false;
		}
	}
	memcpy(words + i + n, a->words + i + 2, (size_t)(a->count - i - 2) * sizeof *words);
	a->words = words;
	a->count += n - 2;
	return true;
}

bool cli_expand_file(struct cli_args *a, const char *name)
{
	for (int i = 0; i + 1 < a->count; i++) {
		char *w = cli_plain_dashes(a->words[i], true);
		if ((*w != '-' && *w != '/') || strcasecmp(w + 1, name) != 0) {
			continue;
		}
		struct expansion *e = calloc(1, sizeof *e + ((size_t)a->count + FILE_WORDS + 1) * sizeof *e->words);
		bool ok = expand_at(a, i, name, e ? e->text : NULL, e ? e->words : NULL);
		if (ok) {
			e->before = expansions;
			expansions = e;
		} else {
			free(e);
		}
		return ok;
	}
	return true;
}
