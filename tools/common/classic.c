/* SPDX-License-Identifier: MIT
 * The option style of the Windows tools: -name or /name, any case, values as words of their own,
 * some of them optional ("[FILE]" in the table).
 */
#include "tools/common/cli.h"

#include <strings.h>
#include <sys/stat.h>

static const struct cli_option *option_of(const struct cli_command *c, const char *word)
{
	struct stat st;
	if ((word[0] != '-' && word[0] != '/') || word[1] == 0) {
		return NULL;
	}
	word += word[0] == '-' && word[1] == '-'; /* pasted dashes become two */
	for (const struct cli_option *o = c->options; o && o->name; o++) {
		/* "/tmp" may be a file, "/y" hardly */
		if (strcasecmp(o->name, word + 1) == 0 && (word[0] == '-' || stat(word, &st) < 0)) {
			return o;
		}
	}
	return NULL;
}

static const char *name_at(const void *ctx, int i)
{
	const struct cli_command *c = ctx;
	return c->options[i].name;
}

static bool one_of(const char *values, const char *text)
{
	size_t n = strlen(text);
	for (const char *s = values; s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL) {
		if (strncasecmp(s, text, n) == 0 && (s[n] == '|' || s[n] == 0)) {
			return true;
		}
	}
	return false;
}

bool cli_classic_parse(struct cli_args *a, int argc, char **argv)
{
	const struct cli_command *c = a->command;
	int out = 0;
	for (int i = 0; i < argc; i++) {
		const struct cli_option *o = option_of(c, argv[i]);
		if (!o) {
			if (argv[i][0] == '-' && argv[i][1]) {
				const char *near = cli_nearest(argv[i] + 1, name_at, c);
				cli_usage(a, near ? "unknown option '%s'; did you mean -%s?" : "unknown option '%s'",
					  argv[i], near);
				return false;
			}
			argv[out++] = argv[i];
			continue;
		}
		const char *value = "";
		if (o->arg && i + 1 < argc && !option_of(c, argv[i + 1])) {
			value = argv[++i];
		} else if (o->arg && o->arg[0] != '[') {
			cli_usage(a, "-%s needs %s", o->name, o->arg);
			return false;
		}
		if (o->arg && o->values && *value && !one_of(o->values, value)) {
			cli_usage(a, "-%s takes %s, not '%s'", o->name, o->values, value);
			return false;
		}
		if (a->value_count == CLI_VALUES_MAX) {
			cli_usage(a, "too many options");
			return false;
		}
		a->values[a->value_count].option = o;
		a->values[a->value_count++].value = value;
	}
	a->count = out;
	a->words = argv;
	return true;
}
