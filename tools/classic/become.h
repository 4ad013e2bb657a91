/* SPDX-License-Identifier: MIT
 *
 * Tools of Windows whose work one of our verbs does: the line is put together and run in their place.
 */
#ifndef TOOLS_CLASSIC_BECOME_H
#define TOOLS_CLASSIC_BECOME_H

#include "tools/common/cli.h"

enum { CLI_BECOME_MAX = 256 };

struct cli_become {
	const char *word[CLI_BECOME_MAX + 2]; /* "openetw VERB …" */
	int count;
	bool failed; /* no memory, or too many words */
};

void cli_become_add(struct cli_become *b, const char *word);
void cli_become_addf(struct cli_become *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "FILE.etl" with another extension. */
void cli_become_add_beside(struct cli_become *b, const char *file, const char *extension);
/* The line, on stderr. */
void cli_become_say(const struct cli_become *b);
/* Says the line and runs it, as this process. Returns only when that cannot be done. */
int cli_become(const struct cli_args *a, struct cli_become *b);
/* Says that `what` is not done here, and with which command it is; `instead` has all up to the full stop. */
int cli_instead(const struct cli_args *a, const char *what, const char *instead);

#endif
