/* SPDX-License-Identifier: MIT
 *
 * wevtutil: words, options and verbs as the Windows tool has them: "/name:value" or "-name:value",
 * any case, short and long names; a flag may stand without a value.
 */
#include "tools/classic/wevtutil.h"

#include <strings.h>
#include <sys/stat.h>

static const struct wevtutil_option im_options[] = {
	{"rf", "resourceFilePath"}, {"mf", "messageFilePath"}, {"pf", "parameterFilePath"}, {"sc", "scope"}, {NULL}};
static const struct wevtutil_option um_options[] = {{"sc", "scope"}, {NULL}};
static const struct wevtutil_option none[] = {{NULL}};
static const struct wevtutil_option gp_options[] = {
	{"ge", "getevents", true}, {"gm", "getmessage", true}, {"f", "format"}, {NULL}};
static const struct wevtutil_option gl_options[] = {{"f", "format"}, {NULL}};
static const struct wevtutil_option qe_options[] = {{"lf", "logfile", true},
						    {"sq", "structuredquery", true},
						    {"q", "query"},
						    {"bm", "bookmark"},
						    {"sbm", "savebookmark"},
						    {"rd", "reversedirection", true},
						    {"f", "format"},
						    {"l", "locale"},
						    {"c", "count"},
						    {"e", "element"},
						    {NULL}};

static int refuse(struct wevtutil *w)
{
	return cli_usage(w->a,
			 "%s: there is no event log service here; events are in .etl files. 'qe' reads "
			 "them, 'openetw relog' copies what a filter selects",
			 w->verb);
}

static const struct {
	const char *name, *longer;
	const struct wevtutil_option *options;
	const char *word; /* what it is about; NULL: nothing */
	int (*run)(struct wevtutil *w);
} verbs[] = {
	{"im", "install-manifest", im_options, "which manifest?", wevtutil_install},
	{"um", "uninstall-manifest", um_options, "which manifest?", wevtutil_uninstall},
	{"ep", "enum-publishers", none, NULL, wevtutil_publishers},
	{"gp", "get-publisher", gp_options, "which publisher?", wevtutil_publisher},
	{"el", "enum-logs", none, NULL, wevtutil_logs},
	{"gl", "get-log", gl_options, "which log?", wevtutil_log},
	{"qe", "query-events", qe_options, "which file?", wevtutil_query},
	{"sl", "set-log", NULL, NULL, refuse},
	{"gli", "get-log-info", NULL, NULL, refuse},
	{"epl", "export-log", NULL, NULL, refuse},
	{"al", "archive-log", NULL, NULL, refuse},
	{"cl", "clear-log", NULL, NULL, refuse},
};

static int place_of(const struct wevtutil *w, const char *name, size_t n)
{
	for (int i = 0; w->options[i].name; i++) {
		const struct wevtutil_option *o = &w->options[i];
		if ((strlen(o->name) == n && strncasecmp(o->name, name, n) == 0) ||
		    (strlen(o->longer) == n && strncasecmp(o->longer, name, n) == 0)) {
			return i;
		}
	}
	return -1;
}

const char *wevtutil_value(const struct wevtutil *w, const char *name, const char *fallback)
{
	int i = place_of(w, name, strlen(name));
	return i >= 0 && w->value[i] ? w->value[i] : fallback;
}

bool wevtutil_on(const struct wevtutil *w, const char *name)
{
	const char *v = wevtutil_value(w, name, "false");
	return strcasecmp(v, "true") == 0;
}

/* Of every verb; what they are about is on another machine. */
static bool remote(const char *name, size_t n)
{
	static const char *const names[] = {"r", "remote", "u", "username", "p", "password", "a", "authentication"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0) {
			return true;
		}
	}
	return false;
}

static int parse(struct wevtutil *w, const char *need)
{
	for (int i = 1; i < w->a->count; i++) {
		char *s = w->a->words[i];
		const char *colon = strchr(s, ':');
		size_t n = strlen(s) - 1;
		struct stat st;
		bool option = s[0] == '-' || (s[0] == '/' && (colon || stat(s, &st) < 0));
		if (!option || !s[1]) {
			if (w->word || !need) {
				return cli_usage(w->a, "%s: '%s' is one word too many", w->verb, s);
			}
			w->word = s;
			continue;
		}
		s += s[0] == '-' && s[1] == '-';
		n = colon ? (size_t)(colon - s) - 1 : strlen(s) - 1;
		int at = place_of(w, s + 1, n);
		if (at < 0 && n == 3 && strncasecmp(s + 1, "uni", 3) == 0) {
			continue; /* the output is UTF-8 in any case */
		}
		if (at < 0 && n == 7 && strncasecmp(s + 1, "unicode", 7) == 0) {
			continue;
		}
		if (at < 0) {
			/* "/home/x.man", which is not there */
			if (w->a->words[i][0] == '/' && !colon && strchr(s + 1, '/') && !w->word) {
				w->word = s;
				continue;
			}
			return cli_usage(w->a,
					 remote(s + 1, n) ? "%s: '%s': other machines are not reached"
							  : "%s: unknown option '%s'",
					 w->verb, w->a->words[i]);
		}
		const struct wevtutil_option *o = &w->options[at];
		w->value[at] = colon ? colon + 1 : "true";
		if (o->flag && strcasecmp(w->value[at], "true") != 0 && strcasecmp(w->value[at], "false") != 0) {
			return cli_usage(w->a, "/%s takes true or false, not '%s'", o->name, w->value[at]);
		}
		if (!o->flag && (!colon || !colon[1])) {
			return cli_usage(w->a, "/%s needs a value: /%s:VALUE", o->name, o->name);
		}
	}
	return need && !w->word ? cli_usage(w->a, "%s: %s", w->verb, need) : CLI_OK;
}

static const char *verb_at(const void *ctx, int i)
{
	(void)ctx;
	return i < 2 * (int)BASE_ARRAY_LEN(verbs) ? (i % 2 ? verbs[i / 2].longer : verbs[i / 2].name) : NULL;
}

static int run(struct cli_args *a)
{
	if (a->count == 0) {
		return cli_usage(a, "which command: im, um, ep, gp, el, gl or qe?");
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(verbs); i++) {
		if (strcasecmp(a->words[0], verbs[i].name) == 0 || strcasecmp(a->words[0], verbs[i].longer) == 0) {
			struct wevtutil w = {.a = a, .verb = verbs[i].name, .options = verbs[i].options};
			int status = w.options ? parse(&w, verbs[i].word) : CLI_OK;
			return status == CLI_OK ? verbs[i].run(&w) : status;
		}
	}
	const char *near = cli_nearest(a->words[0], verb_at, NULL);
	return cli_usage(a, near ? "there is no command '%s'; did you mean '%s'?" : "there is no command '%s'",
			 a->words[0], near);
}

static const struct cli_option options[] = {
	{0, "ge", NULL, "gp: the events too", NULL},
	{0, "gm", NULL, "gp: texts instead of message numbers", NULL},
	{0, "f", "FORMAT", "gp, gl: text or xml; qe: xml (default), text or RenderedXml", NULL},
	{0, "lf", NULL, "qe: PATH is a file (here it always is)", NULL},
	{0, "sq", NULL, "qe: PATH is a file with a structured query, which names the .etl files", NULL},
	{0, "q", "XPATH", "qe: only events that match", NULL},
	{0, "c", "N", "qe: at most N events", NULL},
	{0, "rd", NULL, "qe: the newest first", NULL},
	{0, "bm", "FILE", "qe: go on behind this bookmark (with /rd: before it)", NULL},
	{0, "sbm", "FILE", "qe: save a bookmark of the last event shown", NULL},
	{0, "e", "ELEMENT", "qe: put a root element around them", NULL},
	{0, "rf", "FILE", "im: resource file, instead of the manifest's (shown by gp only)", NULL},
	{0, "mf", "FILE", "im: message file", NULL},
	{0, "pf", "FILE", "im: parameter file", NULL},
	{0, "sc", "user|machine", "im, um: for whom; default: the machine as root, else the user", NULL},
	{0, NULL, NULL, NULL, NULL},
};

const struct cli_command cli_wevtutil = {
	.name = "wevtutil",
	.synopsis = "im|um|ep|gp|el|gl|qe [NAME] [/option[:value]]…",
	.summary = "Install manifests, show providers and channels, query .etl files.",
	.details = "Takes the words of Windows' wevtutil, short and long (im, install-manifest), "
		   "with / or -, in "
		   "any case.\n"
		   "  im FILE     install a manifest (.man), a program that carries its own (ELF, "
		   "PE), WPP formats "
		   "(.tmf):\n"
		   "              from then on every decoder knows its events. Needs no root: each "
		   "user has a folder of their "
		   "own,\n"
		   "              in ~/.local/share/openetw/manifests; root installs for all, in "
		   "/var/lib/openetw/manifests\n"
		   "  um FILE     uninstall what describes the same providers; a name of a "
		   "provider does too\n"
		   "  ep, gp NAME list providers; show one: channels, levels, opcodes, tasks, "
		   "keywords, events\n"
		   "  el, gl NAME list channels of all providers; show one\n"
		   "  qe FILE     print events of an .etl file, one a line, that match an XPath "
		   "query\n"
		   "There is no event log service: sl, cl, epl, al and gli say so. A link of the "
		   "name wevtutil to "
		   "openetw\n"
		   "is this tool. Examples:\n"
		   "  openetw wevtutil im app.man\n"
		   "  openetw wevtutil gp My-Provider /ge /gm\n"
		   "  openetw wevtutil qe app.etl /lf /q:\"*[System[Level<=2]]\" /f:text /c:10\n",
	.options = options,
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "im|um|ep|gp|el|gl|qe",
};
