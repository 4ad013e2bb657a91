/* SPDX-License-Identifier: MIT
 * Options by name, help text, error lines.
 */
#include "cli/cli.h"

#include <stdlib.h>

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
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 0);
	if (*text == 0 || *text == '-' || *end || errno || v < min || v > max) {
		cli_usage(a, "--%s takes a number from %llu to %llu, not '%s'", name, (unsigned long long)min,
			  (unsigned long long)max, text);
		return false;
	}
	*inout = v;
	return true;
}

void cli_help(FILE *f, const struct cli_command *c)
{
	fprintf(f, "Usage: openetw %s %s\n\n%s\n", c->name, c->synopsis, c->summary);
	if (c->options && c->options->name) {
		fprintf(f, "\nOptions:\n");
	}
	for (const struct cli_option *o = c->options; o && o->name; o++) {
		char left[64];
		int n = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
				 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name, o->arg ? " " : "",
				 o->arg ? o->arg : "");
		fprintf(f, n < 32 ? "%-32s %s\n" : "%s\n%33s%s\n", left, n < 32 ? o->help : "", o->help);
	}
	if (c->details) {
		fprintf(f, "\n%s", c->details);
	}
}

void cli_help_all(FILE *f)
{
	fprintf(f, "Usage: openetw VERB [OPTIONS] …\n\n"
		   "Event Tracing for Windows on Linux: record, watch and read ETW events.\n\nVerbs:\n");
	for (int i = 0; cli_commands[i]; i++) {
		fprintf(f, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
	}
	fprintf(f, "\n'openetw help VERB' tells more. First steps:\n"
		   "  openetw run -p MyCompany.MyProvider -- ./my-program    record a program\n"
		   "  openetw dump openetw.etl                               read what was recorded\n"
		   "  openetw live -p MyCompany.MyProvider                   watch events as they happen\n");
}

int cli_fail(const struct cli_args *a, uint32_t code, const char *fmt, ...)
{
	fprintf(stderr, "openetw %s: ", a->command->name);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	const char *why = openetw_last_error_text();
	const char *text = openetw_error_text(code);
	const char *name = openetw_error_name(code);
	if (why && *why) {
		fprintf(stderr, ": %s", why);
	} else {
		fprintf(stderr, ": %s", text ? text : "unknown error");
	}
	fprintf(stderr, " (%s, %u)\n", name ? name : "error", code);
	const char *hint = NULL;
	switch (code) {
	case 183:
		hint = "'openetw list' shows what runs; 'openetw stop NAME' ends a session";
		break;
	case 4201:
		hint = "'openetw list' shows what runs";
		break;
	case 161:
		hint = "give a log file with -o FILE, or use another one";
		break;
	default:
		break;
	}
	if (hint) {
		fprintf(stderr, "  %s\n", hint);
	}
	return CLI_FAILED;
}

int cli_usage(const struct cli_args *a, const char *fmt, ...)
{
	fprintf(stderr, "openetw %s: ", a->command->name);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n  usage: openetw %s %s\n", a->command->name, a->command->synopsis);
	return CLI_USAGE;
}
