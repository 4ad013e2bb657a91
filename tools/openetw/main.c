/* SPDX-License-Identifier: MIT
 * Finds the verb, has its options parsed, runs it.
 */
#include "tools/common/printer.h"
#include "tools/common/cli.h"

#include "tools/common/output.h"
#include "tools/common/path.h"
#include "tools/common/unpacked.h"

#include <signal.h>
#include <stdlib.h>
#include <strings.h>

#define VERB(name)     extern const struct cli_command cli_##name;
#define TOOL(name)     VERB(name)
#define PREFIXED(name) VERB(name)
#include "tools/openetw/verbs.def"
#undef VERB

const struct cli_command *const cli_commands[] = {
#define VERB(name) &cli_##name,
#include "tools/openetw/verbs.def"
#undef VERB
	NULL,
};

const struct cli_command *cli_find(const char *name)
{
	size_t n = strlen(name);
	bool exe = n > 4 && strcasecmp(name + n - 4, ".exe") == 0;
	n -= exe ? 4 : 0;
	for (int i = 0; cli_commands[i]; i++) {
		const struct cli_command *c = cli_commands[i];
		/* The tools' names are written in any case, and with ".exe", on Windows. */
		bool is =
			c->classic ? strncasecmp(c->name, name, n) == 0 && c->name[n] == 0 : strcmp(c->name, name) == 0;
		if (is) {
			return c;
		}
	}
	return NULL;
}

static const char *verb_at(const void *ctx, int i)
{
	(void)ctx;
	return cli_commands[i] ? cli_commands[i]->name : NULL;
}

static int no_such_verb(const char *verb)
{
	const char *near = cli_nearest(verb, verb_at, NULL);
	fprintf(stderr, "openetw: there is no verb '%s'", verb);
	if (near) {
		fprintf(stderr, "; did you mean '%s'?\n", near);
	} else {
		fprintf(stderr, "; 'openetw help' lists them\n");
	}
	return CLI_USAGE;
}

bool cli_has_link(const struct cli_command *c)
{
	return c->classic && (!c->raw || c->linked);
}

/* Called by the name of a classic tool (a link), we are that tool. */
static const struct cli_command *by_link_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	/* Those whose names other programs have: openetw-mc, openetw-rc. */
	const struct cli_command *c = strncmp(name, "openetw-", 8) == 0 ? cli_find(name + 8) : NULL;
	if (c) {
		return c->raw ? c : NULL;
	}
	c = cli_find(name);
	/* No other program has the name mc.exe. */
	bool exe = c && strcmp(c->name, name) != 0;
	return c && (exe ? c->classic : cli_has_link(c)) ? c : NULL;
}

/* A verb that catches no signals ends by them, as any program, but does not end without a word. */
static const char *volatile running_verb = "";

static void on_end(int sig)
{
	static const char ours[] = "openetw ", said[] = ": interrupted\n";
	const char *verb = running_verb;
	ssize_t n = write(2, ours, sizeof ours - 1);
	n += write(2, verb, strlen(verb));
	n += write(2, said, sizeof said - 1);
	(void)n;
	cli_output_abandon();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void say_ends(const struct cli_command *c)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = on_end, .sa_flags = SA_NODEFER | SA_RESETHAND}, old;
	running_verb = c->name;
	for (size_t i = 0; i < BASE_ARRAY_LEN(ends); i++) {
		if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
			sigaction(ends[i], &sa, NULL);
		}
	}
}

/* Without anything left to say but what the output's end says. */
static int finish(const struct cli_args *a, int status)
{
	if (cli_interrupted()) {
		fflush(stdout);
		fprintf(stderr, "openetw %s: interrupted: what came out is not all\n", a->command->name);
		return 128 + cli_interrupted();
	}
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout)) {
		return status;
	}
	int why = cli_output_errno ? cli_output_errno : errno;
	if (why == 0 || why == EPIPE) { /* end as any other program at a closed pipe: quietly, by the signal */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	fprintf(stderr, "openetw %s: cannot write the output: %s\n", a->command->name, strerror(why));
	return CLI_FAILED;
}

/* Files are also found by the names that they have on Windows. */
static void take_paths(const struct cli_args *a)
{
	const struct cli_command *c = a->command;
	/* Their words are also texts and outputs. */
	bool others = c == &cli_wpr || c == &cli_xperf || c == &cli_sql;
	bool files = c->complete && strcmp(c->complete, "file") == 0 && !others;
	for (int i = 0; files && i < a->count; i++) {
		cli_path_input(a->words[i]);
	}
}

static int classic(const struct cli_command *c, int argc, char **argv)
{
	static const char *const helps[] = {"-?", "/?", "--help", "-help", "-h"};
	struct cli_args a = {.command = c};
	bool own = false; /* -h may be an option */
	for (const struct cli_option *o = c->options; o && (o->name || o->letter); o++) {
		own = own || (o->name && strcasecmp(o->name, "h") == 0);
	}
	size_t help_count = BASE_ARRAY_LEN(helps) - own;
	for (int i = 0; i < argc; i++) {
		for (size_t k = 0; k < help_count; k++) {
			if (strcasecmp(argv[i], helps[k]) == 0) {
				cli_help(stdout, c, i + 1 < argc ? argv[i + 1] : NULL);
				return CLI_OK;
			}
		}
		argv[i] = cli_plain_dashes(argv[i], true);
	}
	say_ends(c);
	if (c->raw) {
		a.count = argc;
		a.words = argv;
		return finish(&a, c->run(&a));
	}
	if (!cli_parse_windows(&a, argc, argv)) {
		return cli_told();
	}
	take_paths(&a);
	return finish(&a, c->run(&a));
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	const struct cli_command *link = argc > 0 ? by_link_name(argv[0]) : NULL;
	/* A reader that leaves ("openetw live … | head") must not kill us before our session is
	 * stopped. */
	signal(SIGPIPE, SIG_IGN);
	if (link) {
		return classic(link, argc - 1, argv + 1);
	}
	if (strcmp(verb, "--system") == 0) {
		/* The library's controllers and consumers look there; programs that are traced do not. */
		setenv("OPENETW_INSTANCE", "system", 1);
		argv[1] = argv[0];
		argv++;
		argc--;
		verb = argc > 1 ? argv[1] : "";
	}
	if (strcmp(verb, "--version") == 0 || strcmp(verb, "-V") == 0) {
		printf("openetw %s\n", openetw_version());
		return CLI_OK;
	}
	if (strcmp(verb, "help") == 0 || strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
		const struct cli_command *c = argc > 2 ? cli_find(argv[2]) : NULL;
		if (argc > 2 && !c) {
			return no_such_verb(argv[2]);
		}
		if (c) {
			cli_help(stdout, c, argc > 3 ? argv[3] : NULL);
		} else {
			cli_help_all(stdout);
		}
		return CLI_OK;
	}
	if (argc < 2) {
		cli_help_all(stderr);
		return CLI_USAGE;
	}
	struct cli_args a = {.command = cli_find(verb)};
	if (!a.command) {
		return no_such_verb(verb);
	}
	if (a.command->classic) {
		return classic(a.command, argc - 2, argv + 2);
	}
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			cli_help(stdout, a.command, NULL);
			return CLI_OK;
		}
		if (a.command->rest_is_command && argv[i][0] != '-') {
			break;
		}
	}
	if (!cli_parse(&a, argc - 2, argv + 2)) {
		return cli_told();
	}
	say_ends(a.command);
	take_paths(&a);
	cli_work_take_over();
	if (!cli_unpacked_take_held(&a)) {
		return CLI_USAGE;
	}
	return finish(&a, a.command->run(&a));
}
