/* SPDX-License-Identifier: MIT
 * Help of verbs, and the nearest word to a misspelt one.
 */
#include "tools/common/cli.h"
#include "base/nearest.h"

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

const char *cli_details(const struct cli_command *c)
{
	return c->details_made ? c->details_made() : c->details;
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
	const char *details = cli_details(c);
	if (details) {
		putc('\n', f);
		fputs(details, f);
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

const char *cli_nearest(const char *text, const char *(*next)(const void *ctx, int i), const void *ctx)
{
	return nearest_word(text, next, ctx);
}
