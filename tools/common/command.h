/* SPDX-License-Identifier: MIT
 *
 * A verb, its command line, and the list of all verbs.
 */
#ifndef TOOLS_COMMON_COMMAND_H
#define TOOLS_COMMON_COMMAND_H

#include "tools/common/options.h"

#include <stdio.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
};

/* Something of a verb that has options of its own, such as a report. */
struct cli_topic {
	const char *name, *summary;
	const struct cli_option *options;
};

struct cli_command {
	const char *name;
	const char *synopsis;              /* what follows the verb in the usage line */
	const char *summary;               /* one line */
	const char *details;               /* paragraphs and examples; may be NULL */
	const char *(*details_made)(void); /* instead of them, of what the program itself knows. NULL: `details` */
	const struct cli_option *options;
	size_t options_bytes; /* of the structure that they are read into: CLI_INTO */
	const void *defaults; /* of that type: what is absent is so; NULL: all zero */
	int (*run)(struct cli_args *args);
	bool classic;         /* words as the Windows tool of this name has them */
	bool raw;             /* classic, and run parses the words: their case counts */
	bool linked;          /* raw, and also by its own name as a link */
	bool rest_is_command; /* positionals are a command line: parsing stops at the first or at --
			       */
	/* Takes each word that no row wants, a word like an option too; NULL: these are mistakes, and the rest stays in
	 * `words`. False: said why. Of Windows' tools only. */
	bool (*other)(const struct cli_args *a, char *word);
	bool (*topic)(int i, struct cli_topic *ret); /* the i-th; false: there are no more. NULL: none */
	const char *topics;                          /* what they are: "reports" */
	uint32_t usage_code;  /* printed with mistakes in usage, for scripts that look for it; 0: none */
	const char *complete; /* what positionals are: "file", "session", "command", "verb", a|b|c;
				 NULL: nothing */
};

/* A parsed command line. */
struct cli_args {
	const struct cli_command *command;
	void *given; /* the structure of the command's options */
	int count;   /* positionals */
	char **words;
	void *context; /* for the functions that read values, when they are the verb's own; may be NULL */
};
/* Reads the words into the verb's structure (-x, --name, --name=value); what is no option is left in a->words. Prints
 * the mistake; cli_told() is what it was. */
bool cli_parse(struct cli_args *a, int argc, char **argv);
/* The same as Windows' tools have it: -name or /name in any case, with its values as words of their own. The `arg` of a
 * row says how many:
 *
 *   NULL                        a flag
 *   "FILE"  "MIN MAX"           one value, two values
 *   "[FILE]" "PROVIDER [KW [LEVEL]]"   what is in brackets may be missing
 *   "N ID…"                     one or more, up to the next option
 *
 * A row that is read value by value takes one, or with "…" all. A required value may look like anything but an option
 * of the table; one that may be missing does not begin with a dash. "--name" is the row "-name" where there is one
 * (logman takes options back with it), else "name". a->given is NULL, or the caller has made the structure. */
bool cli_parse_windows(struct cli_args *a, int argc, char **argv);
/* Puts the words of the file that "-NAME FILE" names in the place of these two: as on a command line, on as many lines
 * as one likes, with "quotes", and # before comments. The words stay allocated. Prints the mistake. */
bool cli_expand_file(struct cli_args *a, const char *name);
/* Another verb of openetw, as if these were its words; NULL ends them. Returns its exit status. */
int cli_run_other(const char *verb, int argc, char **argv);
/* Makes that structure, with its defaults. Prints what went wrong. */
bool cli_args_give(struct cli_args *a);
/* A word whose first dashes a formatted page has made longer (U+2010..U+2015, U+2212), with plain ones; in place. */
char *cli_plain_dashes(char *w, bool classic);

extern const struct cli_command *const cli_commands[]; /* NULL-terminated */
const struct cli_command *cli_find(const char *name);
const char *cli_details(const struct cli_command *c); /* may be NULL */
/* Is there a link of the tool's own name, such as wpr? */
bool cli_has_link(const struct cli_command *c);
/* The candidate closest to `text`, when it is close enough to be what was meant; else NULL. `next`
 * gives the i-th candidate, NULL at the end. */
const char *cli_nearest(const char *text, const char *(*next)(const void *ctx, int i), const void *ctx);
/* `topic`: only that; NULL, or none of the verb's: the verb. */
void cli_help(FILE *f, const struct cli_command *c, const char *topic);
void cli_help_all(FILE *f);

#endif
