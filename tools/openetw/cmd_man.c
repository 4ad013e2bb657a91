/* SPDX-License-Identifier: MIT
 * man: the manual page of a verb in roff, made from its table so that page and program agree. The
 * build runs it once a verb.
 */
#include "tools/common/cli.h"

static const struct cli_option no_options[] = {{0}};

/* Text with what roff would take as its own made harmless. */
static void put(const char *s)
{
	for (bool line_start = true; *s; s++) {
		if (line_start && (*s == '.' || *s == '\'')) {
			fputs("\\&", stdout);
		}
		if (*s == '\\') {
			fputs("\\e", stdout);
		} else if (*s == '-') {
			fputs("\\-", stdout);
		} else {
			putchar(*s);
		}
		line_start = *s == '\n';
	}
}

static void put_options(const struct cli_option *options, bool classic)
{
	for (const struct cli_option *o = options; o && o->name; o++) {
		if (!o->help) {
			continue;
		}
		printf(".TP\n");
		if (o->letter) {
			printf("\\fB\\-%c\\fR, ", o->letter);
		}
		printf(classic ? "\\fB\\-" : "\\fB\\-\\-");
		put(o->name);
		printf("\\fR");
		if (o->arg) {
			printf(" \\fI");
			put(o->arg);
			printf("\\fR");
		}
		putchar('\n');
		put(o->help);
		putchar('\n');
	}
}

static void page(const struct cli_command *c)
{
	bool link = cli_has_link(c);
	printf(".TH OPENETW\\-%s 1 \"\" \"openetw %s\"\n.SH NAME\nopenetw\\-%s", c->name, openetw_version(), c->name);
	printf(link ? ", %s \\- " : " \\- ", c->name);
	put(c->summary);
	printf("\n.SH SYNOPSIS\n.B openetw %s\n", c->name);
	put(c->synopsis);
	putchar('\n');
	if (link) {
		printf(".br\n.B %s\n", c->name);
		put(c->synopsis);
		putchar('\n');
	}
	if (c->options && c->options->name) {
		printf(".SH OPTIONS\n");
	}
	put_options(c->options, c->classic);
	const char *details = cli_details(c);
	if (details) {
		printf(".SH DETAILS\n.nf\n");
		put(details);
		printf(".fi\n");
	}
	struct cli_topic t;
	for (int i = 0; c->topic && c->topic(i, &t); i++) {
		if (i == 0) {
			printf(".SH OPTIONS OF THE %s\n", c->topics);
		}
		printf(".SS %s\n", t.name);
		put(t.summary);
		putchar('\n');
		put_options(t.options, c->classic);
	}
	printf(".SH EXIT STATUS\n%s\n.SH SEE ALSO\n.BR openetw (1),\n.BR etwd (8)\n",
	       c->rest_is_command ? "The command's own; 128 + N when signal N killed it, 127 when it does not "
				    "exist. 1 when "
				    "recording failed, 2 wrong usage."
				  : "0 done; 1 failed (one line on standard error says what, why and what to "
				    "do next), or a file was damaged and only its good part could be read, or "
				    "nothing was there of what was asked for; 2 "
				    "wrong usage; 128 + N when signal N ended it before its output was whole "
				    "(130: Ctrl\\-C).");
}

static void overview(void)
{
	printf(".TH OPENETW 1 \"\" \"openetw %s\"\n.SH NAME\nopenetw \\- Event Tracing for "
	       "Windows, on Linux\n"
	       ".SH SYNOPSIS\n.B openetw\n.I VERB\n[\\fIOPTIONS\\fR] …\n.SH DESCRIPTION\n"
	       "Records events of programs that are instrumented for ETW into standard .etl files, "
	       "shows them as they "
	       "happen, and reads .etl files from Windows and from here.\n.SH VERBS\n",
	       openetw_version());
	for (int i = 0; cli_commands[i]; i++) {
		printf(".TP\n.BR openetw\\-%s (1)\n", cli_commands[i]->name);
		put(cli_commands[i]->summary);
		putchar('\n');
	}
	printf(".SH ENVIRONMENT\n.TP\n.B OPENETW_RUNTIME_DIR\nwhere etwd's sockets are; default "
	       "$XDG_RUNTIME_DIR/openetw, /run/user/UID/openetw or "
	       "/tmp/openetw\\-UID; 'openetw list' says which.\n.TP\n.B OPENETW_ETWD\nfull path of the etwd to start "
	       "when "
	       "none runs.\n"
	       ".SH SEE ALSO\n.BR etwd (8)\n");
}

static int run(struct cli_args *a)
{
	const struct cli_command *c = a->count == 1 ? cli_find(a->words[0]) : NULL;
	if (a->count > 0 && !c) {
		return cli_usage(a, "which verb?");
	}
	if (c) {
		page(c);
	} else {
		overview();
	}
	return CLI_OK;
}

const struct cli_command cli_man = {
	.name = "man",
	.synopsis = "[VERB]",
	.summary = "Print the manual page of a verb, or of openetw, in roff.",
	.details = "Example: openetw man run | man -l -\n",
	.options = no_options,
	.run = run,
	.complete = "verb",
};
