/* SPDX-License-Identifier: MIT
 *
 * The option grammar of logman, tracelog and their kin: -name or /name in any case, values as words
 * of their own, how many says the table. The `arg` text of a cli_option is the grammar:
 *
 *   NULL                        a flag
 *   "FILE"  "MIN MAX"           one value, two values
 *   "[FILE]" "PROVIDER [KW [LEVEL]]"   what is in brackets may be missing
 *   "N ID…"                     one or more, up to the next option
 *
 * A required value may look like anything but an option of the table; an optional one does not
 * begin with a dash. Pasted dashes (U+2010..U+2015, U+2212) at the start of a word count as "-".
 */
#ifndef TOOLS_COMMON_WINARGS_H
#define TOOLS_COMMON_WINARGS_H

#include "tools/common/cli.h"

#define WINARGS_MAX 512

struct winarg {
	const struct cli_option *option;
	bool off; /* --name, where the tool has that */
	int count;
	char **value;
};
struct winargs {
	struct cli_args *a; /* for messages */
	struct winarg arg[WINARGS_MAX];
	int arg_count;
	char **word; /* positionals, terminated by NULL */
	int count;
};

/* Is this word the optional value number `index` of that option? NULL: every word. */
typedef bool winargs_accept_fn(const struct cli_option *o, int index, const char *word, int positionals);

/* Words are sorted in place. `negate`: --name switches off. Prints the mistake. */
bool winargs_parse(struct cli_args *a, bool negate, winargs_accept_fn *accept, struct winargs *ret);
/* The last one of that name; NULL when absent. */
const struct winarg *winargs_find(const struct winargs *w, const char *name);
/* Given and not switched off. */
bool winargs_on(const struct winargs *w, const char *name);
bool winargs_off(const struct winargs *w, const char *name);
/* First value of the last one; `fallback` when absent. */
const char *winargs_value(const struct winargs *w, const char *name, const char *fallback);
/* A number with its range, decimal or 0x; prints the mistake. True and untouched when absent. */
bool winargs_u32(const struct winargs *w, const char *name, int index, uint32_t min, uint32_t max, uint32_t *inout);

#endif
