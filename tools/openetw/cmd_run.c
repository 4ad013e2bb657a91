/* SPDX-License-Identifier: MIT
 * run: record while a command runs.
 */
#include "tools/common/program.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "tools/openetw/indexing.h"
#include "tools/openetw/run_why.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

struct run_options {
	const char *output, *name;
	bool index;
	struct cli_words provider;
	struct cli_session_options session;
	struct cli_enable_options enable;
};
static const struct cli_option options[] = {
	CLI_WORD(run_options, output, 'o', "output", "FILE", "log file (default openetw.etl)"),
	CLI_WORDS(run_options, provider, 'p', "provider", "P", "record Name:keywords:level (repeatable)"),
	CLI_WORD(run_options, name, 0, "name", "NAME", "session name (default openetw-run-PID)"),
	CLI_FLAG(run_options, index, 0, "index",
		 "make the index of the file, so that its first question is answered at once"),
	CLI_FORCE_OPTION,
	CLI_SESSION_OPTIONS(run_options, session),
	CLI_ENABLE_OPTIONS(run_options, enable),
	CLI_SESSION_FILTER_OPTION(run_options, enable),
	{0},
};

static pid_t spawn(char **words, int *ret_go)
{
	int go[2];
	if (pipe2(go, O_CLOEXEC) < 0) {
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0) {
		cli_child_signals();
		/* A short program on a busy machine may be gone before etwd has answered its
		 * EventRegister: under a recorder let it wait longer than it would by itself. */
		setenv("OPENETW_WAIT_MS", "3000", 0);
		execvp(words[0], words);
		int err = errno;
		ssize_t n = write(go[1], &err, sizeof err);
		(void)n;
		_exit(127);
	}
	close(go[1]);
	*ret_go = go[0];
	return pid;
}

/* Runs the command to its end. Ctrl-C reaches it through the terminal and we stay to stop the
 * session; a SIGTERM or SIGHUP that only we got is passed on. Returns its exit status, as a shell
 * counts. */
static int supervise(char **words, struct run_why *why)
{
	int go = -1, err = 0, wait_status = 0, passed = 0;
	fflush(NULL);
	pid_t pid = spawn(words, &go);
	if (pid < 0) {
		fprintf(stderr, "openetw run: cannot fork: %s\n", strerror(errno));
		return CLI_FAILED;
	}
	while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
		run_why_tick(why);
		int sig = cli_signal_caught();
		if (sig && sig != SIGINT && !passed) {
			passed = sig;
			kill(pid, sig);
		}
	}
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
	if (read(go, &err, sizeof err) == sizeof err) {
		fprintf(stderr, "openetw run: cannot run %s: %s\n", words[0], strerror(err));
		status = err == ENOENT ? 127 : 126;
	}
	close(go);
	return status;
}

struct recording {
	const struct cli_args *args;
	const struct etw_session *session;
	struct run_why why;
};

/* First: a classic provider has the session that came last. */
static void begun(void *ctx, TRACEHANDLE h)
{
	struct recording *r = ctx;
	(void)h;
	cli_place_tell(r->args);
	run_why_begin(&r->why, &((const struct run_options *)r->args->given)->enable, r->session);
}

static int record(struct cli_args *a, struct etw_session *s, const char *file)
{
	char cannot[PATH_MAX + 64];
	struct recording rec = {.args = a, .session = s};
	struct cli_session_run r;
	struct cli_session_how how = {.args = a,
				      .cannot = cannot,
				      .enable_ms = 1000,
				      .late_is_fine = true,
				      .ours = true,
				      .begun = begun,
				      .ctx = &rec};
	snprintf(cannot, sizeof cannot, "cannot record to %s", file);
	cli_signals_catch(); /* from here on a signal must not leave the session behind */
	if (cli_session_start(s, &how, &r) != ERROR_SUCCESS) {
		run_why_end(&rec.why);
		return r.status;
	}
	int status = cli_signal_caught() ? 128 + cli_signal_caught() : supervise(a->words, &rec.why);
	run_why_end(&rec.why);
	struct openetw_loss loss = {.size = sizeof loss};
	cli_props_init(&r.props);
	uint32_t code = openetw_session_stop(r.handle, NULL, &r.props.p, &loss);
	if (code) {
		cli_fail(a, code, "cannot stop the session '%s'", s->name);
		return CLI_FAILED;
	}
	fprintf(stderr, "recorded to %s: ", file);
	cli_print_totals(stderr, &r.props.p, &loss);
	run_why_say(&rec.why, loss.events);
	if (((const struct run_options *)a->given)->index) {
		int made = indexing_make(a, file, false);
		status = status ? status : made;
	}
	return status;
}

static int run(struct cli_args *a)
{
	const struct run_options *o = a->given;
	if (a->count == 0) {
		return cli_usage(a, "which command? put it after --");
	}
	if (o->provider.count == 0) {
		return cli_usage(a, "which providers? name them with -p");
	}
	int missing = cli_program_check(a, a->words[0]);
	if (missing) {
		return missing;
	}
	char name[64], mapped[PATH_MAX];
	struct etw_session s;
	session_init(&s);
	cli_provider_of_command(a->words[0]);
	snprintf(name, sizeof name, "openetw-run-%d", (int)getpid());
	snprintf(s.name, sizeof s.name, "%s", o->name ? o->name : name);
	const char *file = cli_path_told(o->output, mapped);
	int status = cli_session_providers(a, &o->enable, &o->provider, &s) &&
				     cli_session_options(a, &o->session, file, false, &s)
			     ? record(a, &s, file)
			     : CLI_USAGE;
	session_finish(&s);
	return status;
}

const struct cli_command cli_run = {
	.name = "run",
	.synopsis = "-p PROVIDER… [-o FILE] [options] -- COMMAND [ARG…]",
	.summary = "Record while a command runs.",
	.details =
		"The session starts before the command does and is stopped when it ends, so its "
		"first and last\n"
		"events are in the file, and those of its children. Standard input and output are "
		"the command's own; the\n"
		"summary with everything that was lost goes to standard error. The exit status is "
		"the command's\n"
		"(128 + signal when one killed it, 127 when there is no such command). Events of "
		"other processes that use\n"
		"the same provider are recorded too; --exe or --pid narrow that. The command finds\n"
		"OPENETW_WAIT_MS=3000 in its environment unless it is set: its providers wait that long\n"
		"for etwd when they register.\n"
		"A provider that no process registered is told, with what was registered instead. When nothing was\n"
		"recorded because of level, keywords or filters, it is said how many events they dropped: a second\n"
		"session counts all events, until the first one is counted and for a second at least (programs hear\n"
		"of all levels in that time). It is there only when level, keywords or filters are given.\n"
		"Without -o the file is openetw.etl. One from before, of this name or the one that -o gives,\n"
		"becomes FILE.old unless --force says to overwrite it.\n\n"
		"Examples:\n"
		"  openetw run -p MyCompany.Web -o web.etl -- ./web --port 8080\n"
		"  openetw run -p 'MyCompany.Web:0x11:warning' -p "
		"'{71e4037d-56b7-5e7c-163b-9a48a5792f88}' -- make test\n"
		"  openetw run -p MyCompany.Web:::stack --mode circular --max-size 64MB -- ./web\n",
	.options = options,
	CLI_INTO(run_options),
	.defaults = &(const struct run_options){.output = "openetw.etl"},
	.run = run,
	.rest_is_command = true,
	.complete = "command",
};
