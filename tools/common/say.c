/* SPDX-License-Identifier: MIT
 * Error lines, and what to do about errors.
 */
#include "tools/common/cli.h"
#include "tools/common/explain.h"
#include "tools/common/unpacked.h"

#include <limits.h>
#include <stdlib.h>

const char *cli_hint(uint32_t code)
{
	const char *why = openetw_last_error_text();
	switch (code) {
	case 183:
		return why && strstr(why, "session")
			       ? "'openetw list' shows what runs; 'openetw stop NAME' ends a session"
			       : NULL;
	case 4201: return "'openetw list' shows what runs";
	case 161:
		return !why || strstr(why, "symbolic link") ? NULL
		       : strstr(why, "needs a log file")
			       ? "name one with -o FILE; or -r is for live consumers, -m buffering "
				 "keeps events in memory"
		       : strstr(why, "another session")
			       ? "'openetw list' shows which; end it with 'openetw stop NAME', "
				 "or name another file"
		       : strstr(why, "regular file") ? "give a file of a disk: pipes and devices hold no traces, and "
						       "cannot be written as one"
						     : NULL;
	case 3: return "the folder of the file must be there: make it with 'mkdir -p', or name another";
	case 5:
		/* The text says it all. */
		if (why && (strstr(why, "belongs to") || strstr(why, "regular file") || strstr(why, "takes root") ||
			    strstr(why, "for its owner"))) {
			return NULL;
		}
		return why && strstr(why, "cannot open it") ? "'ls -l' shows who may read it"
		       : why && strstr(why, "cannot open")
			       ? "write where you may make files, or have the folder's owner let you"
			       : "'openetw explain 5' says who may do what; sessions of other "
				 "users are theirs";
	case 112: return "make room, write elsewhere, or ask for less: a size limit, a circular file";
	default: return NULL;
	}
}

static int told = CLI_USAGE;

int cli_told(void)
{
	return told;
}

/* "FILE: cannot open it: why", without what "cannot open FILE" has said already. */
static const char *not_twice(const char *what, const char *why)
{
	static const char open_it[] = "cannot open it: ";
	const char *colon = why ? strstr(why, ": ") : NULL;
	size_t n = colon ? (size_t)(colon - why) : 0, all = strlen(what);
	if (n == 0 || n >= all || what[all - n - 1] != ' ' || memcmp(what + all - n, why, n) != 0) {
		return why;
	}
	why = colon + 2;
	return strncmp(what, "cannot open ", 12) == 0 && strncmp(why, open_it, sizeof open_it - 1) == 0
		       ? why + sizeof open_it - 1
		       : why;
}

int cli_fail(const struct cli_args *a, uint32_t code, const char *fmt, ...)
{
	char what[8192];
	told = CLI_FAILED;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	fprintf(stderr, "openetw %s: %s", a->command->name, what);
	char unpacked[PATH_MAX + 512];
	const char *why = not_twice(what, cli_unpacked_error(openetw_last_error_text(), unpacked, sizeof unpacked));
	const char *text = openetw_error_text(code);
	const char *name = openetw_error_name(code);
	if (why && *why) {
		fprintf(stderr, ": %s", why);
	} else if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
		fprintf(stderr, ": no such trace session is running"); /* Windows' words are about WMI */
	} else {
		fprintf(stderr, ": %s", text ? text : "unknown error");
	}
	fprintf(stderr, " (%s, %u)\n", name ? name : "error", code);
	if (cli_hint(code)) {
		fprintf(stderr, "  %s\n", cli_hint(code));
	} else if (name && explain_find(code)) {
		fprintf(stderr, "  'openetw explain %s' says more\n", name);
	}
	return CLI_FAILED;
}

int cli_usage(const struct cli_args *a, const char *fmt, ...)
{
	told = CLI_USAGE;
	fprintf(stderr, "openetw %s: ", a->command->name);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n  usage: openetw %s %s\n  'openetw help %s' tells more\n", a->command->name,
		a->command->synopsis, a->command->name);
	if (a->command->usage_code) {
		fprintf(stderr, "\n\tError code: 0x%08x\n", a->command->usage_code);
	}
	return CLI_USAGE;
}

int cli_tell(const struct cli_args *a, const char *fmt, ...)
{
	told = CLI_FAILED;
	fprintf(stderr, "openetw %s: ", a->command->name);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CLI_FAILED;
}
