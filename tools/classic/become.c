/* SPDX-License-Identifier: MIT */
#include "tools/classic/become.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

void cli_become_add(struct cli_become *b, const char *word)
{
	if (!word || b->count == CLI_BECOME_MAX) {
		b->failed = true;
		return;
	}
	b->word[b->count++] = word;
}

void cli_become_addf(struct cli_become *b, const char *fmt, ...)
{
	char *word = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0) {
		word = NULL;
	}
	va_end(ap);
	cli_become_add(b, word); /* for as long as the process lives */
}

void cli_become_add_beside(struct cli_become *b, const char *file, const char *extension)
{
	const char *dot = strrchr(file, '.');
	bool is = dot && !strpbrk(dot, "/\\");
	cli_become_addf(b, "%.*s%s", is ? (int)(dot - file) : (int)strlen(file), file, extension);
}

void cli_become_say(const struct cli_become *b)
{
	for (int i = 0; i < b->count; i++) {
		const char *w = b->word[i];
		bool plain =
			*w &&
			w[strspn(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+%")] == 0;
		fprintf(stderr, "%s%s", i ? " " : "", plain ? w : cli_quoted("%s", w));
	}
	fputc('\n', stderr);
}

int cli_become(const struct cli_args *a, struct cli_become *b)
{
	if (b->failed) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot put the command together");
	}
	fprintf(stderr, "%s is here: ", a->command->name);
	cli_become_say(b);
	fflush(NULL);
	b->word[b->count] = NULL;
	execv("/proc/self/exe", (char **)(uintptr_t)b->word);
	return cli_fail(a, win32_from_errno(errno), "cannot run openetw");
}

int cli_instead(const struct cli_args *a, const char *what, const char *instead)
{
	fprintf(stderr, "openetw %s: %s: %s\n", a->command->name, what, instead);
	return CLI_FAILED;
}
