/* SPDX-License-Identifier: MIT
 * Options by name, help text, error lines.
 */
#include "tools/common/cli.h"

#include "tools/common/explain.h"
#include "tools/common/unpacked.h"
#include "base/parse.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

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

#define COMPARED_MAX 128

/* Edits (insert, delete, replace, swap neighbours) between a and b, whatever their case. */
static int distance(const char *a, const char *b)
{
	int rows[3][COMPARED_MAX + 1];
	int n = (int)strlen(a), m = (int)strlen(b);
	if (n > COMPARED_MAX || m > COMPARED_MAX) {
		return 999;
	}
	for (int i = 0; i <= n; i++) {
		int *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
		for (int j = 0; j <= m; j++) {
			if (i == 0 || j == 0) {
				now[j] = i + j;
				continue;
			}
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
			int best = before[j - 1] + (x != y);
			best = BASE_MIN(best, before[j] + 1);
			best = BASE_MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    tolower((unsigned char)a[i - 2]) == y) {
				best = BASE_MIN(best, earlier[j - 2] + 1);
			}
			now[j] = best;
		}
	}
	return rows[n % 3][m];
}

const char *cli_nearest(const char *text, const char *(*next)(const void *ctx, int i), const void *ctx)
{
	const char *best = NULL;
	int best_distance = 999;
	size_t n = strlen(text);
	for (int i = 0;; i++) {
		const char *c = next(ctx, i);
		if (!c) {
			break;
		}
		/* A beginning or an end of the word is as good as one typing mistake. */
		size_t m = strlen(c);
		int d = n >= 3 && m > n && (strncasecmp(c, text, n) == 0 || strcasecmp(c + m - n, text) == 0)
				? 1
				: distance(text, c);
		if (d < best_distance) {
			best_distance = d;
			best = c;
		}
	}
	return best_distance <= (n <= 3 ? 1 : n <= 6 ? 2 : n <= 18 ? 3 : (int)n / 6) ? best : NULL;
}

void cli_help(FILE *f, const struct cli_command *c)
{
	fprintf(f, "Usage: openetw %s%s%s\n\n%s\n", c->name, *c->synopsis ? " " : "", c->synopsis, c->summary);
	if (c->options && c->options->name) {
		fprintf(f, "\nOptions:\n");
	}
	for (const struct cli_option *o = c->options; o && o->name; o++) {
		if (!o->help) {
			continue; /* known only to be refused */
		}
		char left[64];
		int n = c->classic ? snprintf(left, sizeof left, "  -%s%s%s", o->name, o->arg ? " " : "",
					      o->arg ? o->arg : "")
				   : snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
					      o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
					      o->arg ? " " : "", o->arg ? o->arg : "");
		if (n < 32) {
			fprintf(f, "%-32s %s\n", left, o->help);
		} else {
			fprintf(f, "%s\n%33s%s\n", left, "", o->help);
		}
	}
	if (c->details) {
		putc('\n', f);
		fputs(c->details, f);
	}
}

void cli_help_all(FILE *f)
{
	fprintf(f, "Usage: openetw [--system] VERB [OPTIONS] …\n\n"
		   "Event Tracing for Windows on Linux: record, watch and read ETW "
		   "events.\n\nVerbs:\n");
	for (int i = 0; cli_commands[i]; i++) {
		fprintf(f, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
	}
	fprintf(f, "\n--system before the verb: the sessions of the instance for all users instead of "
		   "yours.\n'openetw help VERB' tells more. First steps:\n"
		   "  openetw run -p MyCompany.MyProvider -- ./my-program    record a program\n"
		   "  openetw dump openetw.etl                               read what was recorded\n"
		   "  openetw stats openetw.etl                              count it\n"
		   "  openetw live -p MyCompany.MyProvider                   watch events as they "
		   "happen\n");
}

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
