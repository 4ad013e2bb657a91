/* SPDX-License-Identifier: MIT
 * run: record while a command runs.
 */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static const struct cli_option options[] = {
	{'o', "output", "FILE", "log file (default openetw.etl)", NULL},
	{'p', "provider", "P", "record Name:keywords:level (repeatable)", NULL},
	{0, "name", "NAME", "session name (default openetw-run-PID)", NULL},
	CLI_SESSION_OPTIONS,
	CLI_ENABLE_OPTIONS,
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

static int run(struct cli_args *a)
{
	const char *file = cli_value(a, "output", "openetw.etl");
	if (a->count == 0) {
		return cli_usage(a, "which command? put it after --");
	}
	if (!cli_value(a, "provider", NULL)) {
		return cli_usage(a, "which providers? name them with -p");
	}
	char name[64];
	struct cli_props p;
	struct cli_provider providers[64];
	int n = 0;
	for (const char *v; n < 64 && (v = cli_value_at(a, "provider", n)) != NULL; n++) {
		if (!cli_provider_parse(a, v, &providers[n])) {
			return CLI_USAGE;
		}
	}
	snprintf(name, sizeof name, "openetw-run-%d", (int)getpid());
	const char *session = cli_value(a, "name", name);
	if (!cli_props_from_args(a, &p, file, false)) {
		return CLI_USAGE;
	}
	TRACEHANDLE h = 0;
	uint32_t code = StartTraceA(&h, session, &p.p);
	if (code) {
		return cli_fail(a, code, "cannot record to %s", file);
	}
	int status = CLI_OK;
	for (int i = 0; i < n && status == CLI_OK; i++) {
		code = cli_provider_enable(a, h, &providers[i], 1000);
		if (code && code != ERROR_TIMEOUT) {
			status = cli_fail(a, code, "cannot enable '%s'", providers[i].name);
		}
	}
	if (status == CLI_OK) {
		/* As a shell does: the command gets Ctrl-C, we stay to stop the session. */
		struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
		int go = -1, err = 0, wait_status = 0;
		fflush(NULL);
		pid_t pid = spawn(a->words, &go);
		sigaction(SIGINT, &ignore, &old_int);
		sigaction(SIGQUIT, &ignore, &old_quit);
		if (pid > 0) {
			while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
			}
			if (read(go, &err, sizeof err) == sizeof err) {
				fprintf(stderr, "openetw run: cannot run %s: %s\n", a->words[0], strerror(err));
				status = CLI_FAILED;
			} else {
				status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
								: 128 + WTERMSIG(wait_status);
			}
		} else {
			fprintf(stderr, "openetw run: cannot fork: %s\n", strerror(errno));
			status = CLI_FAILED;
		}
		if (go >= 0) {
			close(go);
		}
		sigaction(SIGINT, &old_int, NULL);
		sigaction(SIGQUIT, &old_quit, NULL);
	}
	struct openetw_loss loss = {.size = sizeof loss};
	struct cli_props flush;
	cli_props_init(&flush);
	flush.p.LogFileNameOffset = 0;
	ControlTraceA(h, NULL, &flush.p, EVENT_TRACE_CONTROL_FLUSH);
	bool known = openetw_session_loss(session, &loss) == ERROR_SUCCESS;
	cli_props_init(&p);
	code = ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
	if (code) {
		cli_fail(a, code, "cannot stop the session '%s'", session);
		return CLI_FAILED;
	}
	fprintf(stderr, "recorded to %s: ", file);
	cli_print_totals(stderr, &p.p, known ? &loss : NULL);
	return status;
}

const struct cli_command cli_run = {
	.name = "run",
	.synopsis = "-p PROVIDER… [-o FILE] [options] -- COMMAND [ARG…]",
	.summary = "Record while a command runs.",
	.details = "The session starts before the command does and is stopped when it ends, so its first and last\n"
		   "events are in the file. The exit status is the command's.\n"
		   "  openetw run -p MyCompany.Web -o web.etl -- ./web --port 8080\n",
	.options = options,
	.run = run,
	.rest_is_command = true,
};
