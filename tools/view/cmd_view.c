/* SPDX-License-Identifier: MIT
 * view: the picture of a trace, in a browser.
 */
#include "tools/common/options.h"
#include "tools/common/session_options.h"

#ifdef OPENETW_VIEW
#include "tools/view/view.h"
#include "tools/view/view_watch.h"
#include "tools/view/view_jobs.h"
#include "tools/view/view_mhd.h"
#include "tools/view/view_still.h"
#endif

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct view_options {
	uint64_t port;
	const char *socket, *web;
	struct cli_words root, host;
	bool no_open;
	/* --export-html */
	const char *html, *filter;
	struct cli_words pages;
	struct cli_time from, to;
};
static const struct cli_option options[] = {
	CLI_NUMBER(view_options, port, 0, "port", "N", 0, 65535,
		   "listen on this port of the loopback interface (default: any)"),
	CLI_WORD(view_options, socket, 0, "socket", "PATH", "listen on a Unix socket instead, for ssh -L"),
	CLI_WORDS(view_options, root, 0, "root", "DIR", "the page may open traces below this folder, too (repeatable)"),
	CLI_WORDS(view_options, host, 0, "host", "NAME", "answer to this name, too, beside localhost (repeatable)"),
	CLI_FLAG(view_options, no_open, 0, "no-open", "start no browser"),
	CLI_WORD(view_options, web, 0, "web", "DIR", "take the page from this folder: for who works on it"),
	CLI_WORD(view_options, html, 0, "export-html", "OUT",
		 "write the view into one file that opens without this program and without a network, and end"),
	CLI_WORDS(view_options, pages, 0, "page", "NAME",
		  "of --export-html: this page (default: overview; repeatable)"),
	CLI_TIME(view_options, from, 0, "from", "of --export-html: from this time on, 2026-01-31T12:00:00 or +1.5s"),
	CLI_TIME(view_options, to, 0, "to", "of --export-html: up to this time"),
	CLI_WORD(view_options, filter, 0, "filter", "EXPR", "of --export-html: of these events (docs/filters.md)"),
	CLI_SCHEMA('M', "manifest", "decode with this .man, .dll, .exe, .mui, .tmf or .etwcat too (repeatable)"),
	{0},
};

#ifndef OPENETW_VIEW

static int run(struct cli_args *a)
{
	return cli_tell(a, "this build is without the viewer: install libmicrohttpd-dev and build openetw again "
			   "('./openetw.sh view' does)");
}

#else

#define X(name) extern const struct view_endpoint view_##name;
#include "tools/view/view_endpoints.def"
#undef X
const struct view_endpoint *const view_endpoints[] = {
#define X(name) &view_##name,
#include "tools/view/view_endpoints.def"
#undef X
	NULL};

static bool has_screen(void)
{
	return (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) && !getenv("SSH_CONNECTION");
}

static void open_browser(const char *address)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) { /* nobody has to wait for it */
			cli_child_signals();
			execlp("xdg-open", "xdg-open", address, (char *)NULL);
			_exit(127);
		}
		_exit(0);
	}
	if (pid > 0) {
		waitpid(pid, NULL, 0);
	}
}

/* Prints the address; `again`: another one, for another browser. */
static int ready(struct view *v, bool again)
{
	const struct view_options *o = v->args->given;
	unsigned port = (unsigned)strtoul(strrchr(v->address, ':') + 1, NULL, 10);
	if (o->socket) {
		printf("ssh -L %u:%s HOST, then open %s\n", port, o->socket, v->address);
	} else {
		printf("%s\n", v->address);
		if (getenv("SSH_CONNECTION")) {
			printf("from your own machine:  ssh -L %u:localhost:%u HOST   and open that address there\n",
			       port, port);
		}
	}
	fflush(stdout);
	if (!again && !o->socket && !o->no_open && has_screen()) {
		open_browser(v->address);
	}
	return CLI_OK;
}

static bool open_first(struct view *v, const struct cli_args *a)
{
	char why[600] = "";
	if (a->count == 0) {
		return true;
	}
	uint32_t id;
	struct view_trace *t = view_trace_create(a, a->count, v->may.files, why, sizeof why);
	if (!t) {
		cli_tell(a, "%s", why);
		return false;
	}
	return view_trace_add(v, t, &id);
}

static void close_all(struct view *v)
{
	for (uint32_t i = 0; i < VIEW_TRACES_MAX; i++) {
		if (v->traces[i]) {
			view_trace_destroy(v->traces[i]);
		}
	}
}

/* Without a server. */
static int export_html(struct view *v, const struct view_options *o)
{
	const struct view_still_options still = {
		.path = o->html, .pages = o->pages, .from = o->from, .to = o->to, .filter = o->filter};
	cli_signals_catch();
	int status = view_still_export(v, &still);
	close_all(v);
	allowed_end(&v->may);
	cli_signals_restore();
	return status;
}

static int run(struct cli_args *a)
{
	char why[300];
	const struct view_options *o = a->given;
	struct view v = {.args = a, .lock = PTHREAD_MUTEX_INITIALIZER, .web = o->web};
	const struct view_listen listen = {(unsigned)o->port, o->socket};
	if (!o->html && (o->pages.count || o->from.given || o->to.given || o->filter)) {
		return cli_usage(a, "--page, --from, --to and --filter are for --export-html; the page has its own");
	}
	if (o->html && a->count == 0) {
		return cli_usage(a, "--export-html: which trace?");
	}
	if (a->count > 64) {
		return cli_usage(a, "at most 64 files are one trace");
	}
	if (!o->web && !view_bundle[0].path) {
		return cli_tell(
			a, "this openetw was built without the viewer's page; './openetw.sh view' builds one with it");
	}
	if (!json_load(why, sizeof why) || (!o->html && !view_mhd_load(why, sizeof why))) {
		return cli_tell(a, "%s", why);
	}
	v.guard.hosts = o->host.text;
	v.guard.host_count = o->host.count;
	if (!allowed_begin(a, &v.may, a->count, a->words, &o->root) || !open_first(&v, a)) {
		return CLI_FAILED;
	}
	if (o->html) {
		return export_html(&v, o);
	}
	if (!view_jobs_begin(&v)) {
		return cli_tell(a, "there is no folder for temporary files");
	}
	cli_signals_catch();
	int status = view_serve(&v, &listen, ready);
	view_watch_end(&v);
	view_jobs_end(&v);
	close_all(&v);
	allowed_end(&v.may);
	cli_signals_restore();
	return status;
}

#endif

const struct cli_command cli_view = {
	.name = "view",
	.synopsis = "[FILE…] [options]",
	.summary = "Look at a trace, or at this machine, in a browser.",
	.details = "Serves a page on the loopback interface, prints its address and opens it in a browser. Several "
		   "files are one\n"
		   "trace. Without files it begins with what can be opened and recorded. The page asks while the "
		   "trace's index is\n"
		   "made. Ctrl-C ends it.\n\n"
		   "The address holds a code that lets one browser in, once and within ten minutes; Enter prints "
		   "another one. "
		   "Nobody\n"
		   "else's requests are answered: no "
		   "other user's,\n"
		   "no other page's. From another machine go through ssh -L. docs/viewer.md has more.\n\n"
		   "Examples:\n"
		   "  openetw view boot.etl\n"
		   "  openetw view --root ~/traces\n"
		   "  openetw view --no-open --port 8080 boot.etl\n"
		   "  openetw view --export-html view.html --page cpu --from +1.2s --to +1.5s boot.etl\n",
	.options = options,
	CLI_INTO(view_options),
	.run = run,
	.complete = "file",
};
