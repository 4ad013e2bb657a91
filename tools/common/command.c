/* SPDX-License-Identifier: MIT
 * Help of verbs, and the nearest word to a misspelt one.
 */
#include "tools/common/cli.h"

#include <ctype.h>
#include <strings.h>

static void put_options(FILE *f, const struct cli_option *options, bool classic)
{
	if (options && options->name) {
		fprintf(f, "\nOptions:\n");
	}
	for (const struct cli_option *o = options; o && o->name; o++) {
		if (!o->help) {
			continue; /* known only to be refused */
		}
		char left[64];
		int n = classic ? snprintf(left, sizeof left, "  -%s%s%s", o->name, o->arg ? " " : "",
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
}

void cli_help(FILE *f, const struct cli_command *c, const char *topic)
{
	struct cli_topic t;
	for (int i = 0; topic && c->topic && c->topic(i, &t); i++) {
		if (strcasecmp(t.name, topic) == 0) {
			fprintf(f, "%s: %s\n", t.name, t.summary);
			put_options(f, t.options, c->classic);
			return;
		}
	}
	fprintf(f, "Usage: openetw %s%s%s\n\n%s\n", c->name, *c->synopsis ? " " : "", c->synopsis, c->summary);
	put_options(f, c->options, c->classic);
	if (c->details) {
		putc('\n', f);
		fputs(c->details, f);
	}
	if (c->topic) {
		fprintf(f, "\nThe %s have options of their own: openetw help %s NAME\n", c->topics, c->name);
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
