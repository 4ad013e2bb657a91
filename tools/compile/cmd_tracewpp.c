/* SPDX-License-Identifier: MIT
 *
 * tracewpp: headers for sources with WPP trace calls. The preprocessor is src/tracewpp; here are
 * its options, those of Windows' tool, and files.
 */
#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "tracewpp/tracewpp.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#define SOURCES_MAX 4096
#define SOURCE_MAX  (64u << 20)

static const struct cli_option options[] = {
	{0, "func", "NAME(…)", "a trace function, written as after FUNC (repeatable)", NULL},
	{0, "scan", "FILE", "read configuration blocks of this file for all sources (repeatable)", NULL},
	{0, "ini", "FILE", "a file of configuration statements (repeatable); -defwpp:FILE too", NULL},
	{0, "gen", "{T}*.EXT", "ending of the headers; templates other than um-… and km-… are named, not read", NULL},
	{0, "odir", "DIR", "where the headers go (default: here)", NULL},
	{0, "ext", ".c.cpp", "only sources with these endings", NULL},
	{0, "preserveext", ".cpp", "sources with these endings get NAME.cpp.tmh", NULL},
	{0, "ctl", "GUID", "control GUID of sources without WPP_CONTROL_GUIDS: flags Error, Unusual, Noise", NULL},
	{0, "p", "NAME", "name of the component in formats (default: that of this directory)", NULL},
	{0, "argbase", "N", "number of the first message (default 10)", NULL},
	{0, "lookfor", "TEXT", "only sources that hold this text", NULL},
	{0, "tmf", "DIR", "write .tmf files too", NULL},
	{0, "v", NULL, "say what is written", NULL},
	{0, NULL, NULL, NULL, NULL},
};

struct job {
	struct cli_args *a;
	struct tracewpp *w;
	struct tracewpp_options o;
	const char *odir, *ext, *preserve, *lookfor, *tmf;
	const char *source[SOURCES_MAX];
	size_t sources;
	bool verbose;
	char component[256];
	char ending[16]; /* of headers */
};

static int read_text(const char *path, struct strbuf *b)
{
	strbuf_clear(b);
	return cli_source_read(path, SOURCE_MAX, b);
}

static int unreadable(const char *path, int err)
{
	fprintf(stderr, "openetw tracewpp: cannot read %s: %s\n", path, strerror(-err));
	return CLI_FAILED;
}

static int mistake(const char *path, int err, const struct diag *d)
{
	if (err == -ENOMEM) {
		fprintf(stderr, "%s: error: not enough memory\n", path);
	} else if (d->line) {
		fprintf(stderr, "%s:%u:%u: error: %s\n", path, d->line, d->column, d->text);
	} else {
		fprintf(stderr, "%s: error: %s\n", path, d->text);
	}
	return CLI_FAILED;
}

static int write_output(const struct job *j, const char *path, const char *s, size_t n)
{
	struct diag d;
	/* Build systems look at times: what did not change is left alone. */
	struct strbuf old = {0};
	bool same = read_text(path, &old) == 0 && old.len == n && memcmp(old.s, s, n) == 0;
	strbuf_finish(&old);
	diag_clear(&d);
	if (!same && cli_write_whole(path, s, n, true, &d) < 0) {
		fprintf(stderr, "openetw tracewpp: cannot write %s\n", d.text);
		return CLI_FAILED;
	}
	if (j->verbose) {
		fprintf(stderr, "%s: %zu bytes%s\n", path, n, same ? ", as before" : "");
	}
	return CLI_OK;
}

/* Is ".cpp" one of ".c.cpp" or ".c,.cpp"? */
static bool has_ending(const char *list, const char *ending)
{
	size_t n = strlen(ending);
	for (const char *s = list; n && (s = strcasestr(s, ending)) != NULL; s++) {
		if (s[n] == 0 || s[n] == '.' || s[n] == ',' || s[n] == ';' || s[n] == ' ') {
			return true;
		}
	}
	return false;
}

static int write_tmf(const struct job *j)
{
	char path[PATH_MAX];
	const char *text = tracewpp_formats(j->w);
	snprintf(path, sizeof path, "%s/%.36s.tmf", j->tmf, text);
	return tracewpp_calls(j->w) ? write_output(j, path, text, strlen(text)) : CLI_OK;
}

static int compile(struct job *j, const char *source)
{
	char path[PATH_MAX];
	const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
	const char *dot = strrchr(name, '.'), *ending = dot ? dot : "";
	if (j->ext && !has_ending(j->ext, ending)) {
		return CLI_OK;
	}
	struct strbuf b = {0}, tmh = {0};
	struct diag d;
	diag_clear(&d);
	int err = read_text(source, &b), status = CLI_OK;
	if (err < 0) {
		status = unreadable(source, err);
	} else if (!j->lookfor || strstr(b.s, j->lookfor)) {
		err = tracewpp_compile(j->w, name, b.s, b.len, &j->o, &tmh, &d);
		bool whole = j->preserve && has_ending(j->preserve, ending);
		int n = snprintf(path, sizeof path, "%s/%.*s%s", j->odir ? j->odir : ".",
				 (int)(dot && !whole ? dot - name : (long)strlen(name)), name, j->ending);
		status = err < 0                    ? mistake(source, err, &d)
			 : (size_t)n >= sizeof path ? unreadable(source, -ENAMETOOLONG)
						    : write_output(j, path, tmh.s ? tmh.s : "", tmh.len);
		if (status == CLI_OK && j->tmf) {
			status = write_tmf(j);
		}
	}
	strbuf_finish(&b);
	strbuf_finish(&tmh);
	return status;
}

static int scan(struct job *j, const char *given, bool bare)
{
	/* Some builds quote once more than the shell takes away. */
	char path[PATH_MAX];
	size_t n = strlen(given);
	bool quoted = n > 2 && given[0] == '"' && given[n - 1] == '"';
	snprintf(path, sizeof path, "%.*s", (int)(n - (quoted ? 2 : 0)), given + quoted);
	struct strbuf b = {0};
	struct diag d;
	diag_clear(&d);
	int err = read_text(path, &b), status = err < 0 ? unreadable(path, err) : CLI_OK;
	if (status == CLI_OK) {
		struct strbuf block = {0};
		bool marked = strstr(b.s, "begin_wpp config") && strstr(b.s, "end_wpp");
		if (bare && !marked) { /* statements as they are */
			strbuf_adds(&block, "/* begin_wpp config\n");
			strbuf_adds(&block, b.s);
			strbuf_adds(&block, "\nend_wpp */");
		} else {
			strbuf_adds(&block, b.s);
		}
		err = block.failed ? -ENOMEM : tracewpp_scan(j->w, block.s, block.len, &d);
		status = err < 0 ? mistake(path, err, &d) : CLI_OK;
		strbuf_finish(&block);
	}
	strbuf_finish(&b);
	return status;
}

static int word(struct job *j, const char *w);

/* @FILE: words, one behind the other, perhaps in quotes. */
static int response(struct job *j, const char *path)
{
	struct strbuf b = {0};
	int err = read_text(path, &b), status = err < 0 ? unreadable(path, err) : CLI_OK;
	char *copy = status == CLI_OK ? strdup(b.s) : NULL; /* the words live as long as we do */
	strbuf_finish(&b);
	for (char *s = copy; s && *s && status == CLI_OK;) {
		s += strspn(s, " \t\r\n");
		char *to = s, *start = s;
		bool quoted = false;
		for (; *s && (quoted || !strchr(" \t\r\n", *s)); s++) {
			if (*s == '"') {
				quoted = !quoted;
			} else {
				*to++ = *s;
			}
		}
		s += *s != 0;
		*to = 0;
		status = *start ? word(j, start) : CLI_OK;
	}
	return status;
}

/* "name:value" */
static const char *value_of(const char *s, const char *name)
{
	size_t n = strlen(name);
	return strncasecmp(s, name, n) == 0 && (s[n] == ':' || s[n] == '=') && s[n + 1] ? s + n + 1 : NULL;
}

/* A source, or those of a pattern that no shell has replaced. */
static int sources(struct job *j, const char *w)
{
	glob_t found = {0};
	bool pattern = strpbrk(w, "*?") && access(w, F_OK) < 0 && glob(w, 0, NULL, &found) == 0;
	size_t n = pattern ? found.gl_pathc : 1;
	for (size_t i = 0; i < n; i++) {
		if (j->sources == SOURCES_MAX) {
			globfree(&found);
			return cli_usage(j->a, "too many sources");
		}
		/* names live as long as we do */
		j->source[j->sources++] = pattern ? strdup(found.gl_pathv[i]) : w;
	}
	globfree(&found);
	return CLI_OK;
}

static int word(struct job *j, const char *w)
{
	/* of kernel mode, of makefiles, or without meaning here */
	static const char *const nothing[] = {
		"km",     "um", "dll",    "noshrieks", "ias",     "hv",       "nocc",       "name",     "o",
		"I",      "D",  "cfgdir", "gen",       "defwpp",  "sym",      "autologger", "recorder", "reserved",
		"nologo", "st", "mc",     "public",    "reorder", "separate", "q"};
	const char *v, *s = w + 1;
	struct diag d;
	diag_clear(&d);
	if (w[0] == '@') {
		return response(j, w + 1);
	}
	if (w[0] != '-' && (w[0] != '/' || access(w, F_OK) == 0)) {
		return sources(j, w);
	}
	if ((v = value_of(s, "func"))) {
		int err = tracewpp_add_function(j->w, v, &d);
		return err < 0 ? cli_usage(j->a, "%s: %s", w, d.text) : CLI_OK;
	}
	if ((v = value_of(s, "scan")) || (v = value_of(s, "ini")) || (v = value_of(s, "defwpp"))) {
		return scan(j, v, s[0] != 's' && s[0] != 'S');
	}
	const struct {
		const char *name, **to;
	} values[] = {{"odir", &j->odir},       {"ext", &j->ext},       {"preserveext", &j->preserve},
		      {"lookfor", &j->lookfor}, {"p", &j->o.component}, {"ctl", &j->o.control},
		      {"tmf", &j->tmf}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(values); i++) {
		if ((v = value_of(s, values[i].name))) {
			*values[i].to = v;
			return CLI_OK;
		}
	}
	if ((v = value_of(s, "argbase"))) {
		j->o.first_number = (unsigned)strtoul(v, NULL, 10);
		return CLI_OK;
	}
	if (*s == 'v') {
		j->verbose = s[1] == 0 || s[1] > '2';
		return CLI_OK;
	}
	if ((v = value_of(s, "gen"))) { /* {TEMPLATE}*.ENDING */
		const char *name = *v == '{' ? v + 1 : v;
		const char *star = strchr(v, '*');
		if (star && star[1] == '.' && star[2] && strlen(star + 1) < sizeof j->ending) {
			snprintf(j->ending, sizeof j->ending, "%s", star + 1);
		}
		if (strncasecmp(name, "um-", 3) != 0 && strncasecmp(name, "km-", 3) != 0) {
			fprintf(stderr, "openetw tracewpp: the template %.*s is not read: headers are made our way\n",
				(int)strcspn(name, "}"), name);
		}
		return CLI_OK;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(nothing); i++) {
		size_t n = strlen(nothing[i]);
		bool letter = n == 1 && strcmp(nothing[i], "o") != 0;
		if (strncasecmp(s, nothing[i], n) == 0 && (letter || s[n] == 0 || s[n] == ':' || s[n] == '-')) {
			return CLI_OK;
		}
	}
	return cli_usage(j->a, "unknown option '%s'", w);
}

static int run(struct cli_args *a)
{
	static struct job j; /* thousands of names */
	struct guid g;
	j = (struct job){.a = a, .w = tracewpp_create(), .ending = ".tmh"};
	if (!j.w) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot begin");
	}
	int status = CLI_OK;
	for (int i = 0; i < a->count && status == CLI_OK; i++) {
		status = word(&j, a->words[i]);
	}
	if (status == CLI_OK && j.sources == 0) {
		status = cli_usage(a, "which sources?");
	}
	if (status == CLI_OK && j.o.control && guid_parse(j.o.control, &g) < 0) {
		status = cli_usage(a, "-ctl takes a GUID, not '%s'", j.o.control);
	}
	if (!j.o.component) {
		char dir[PATH_MAX] = "";
		const char *slash = getcwd(dir, sizeof dir) ? strrchr(dir, '/') : NULL;
		snprintf(j.component, sizeof j.component, "%s", slash && slash[1] ? slash + 1 : "wpp");
		for (char *s = j.component; *s; s++) {
			*s = (uint8_t)*s <= ' ' ? '_' : *s;
		}
		j.o.component = j.component;
	}
	/* One mistake does not hide those of the other sources. */
	for (size_t i = 0; i < j.sources && status != CLI_USAGE; i++) {
		int one = compile(&j, j.source[i]);
		status = one != CLI_OK ? one : status;
	}
	tracewpp_destroy(j.w);
	return status;
}

const struct cli_command cli_tracewpp = {
	.name = "tracewpp",
	.synopsis = "[-func:NAME(…)] [-scan:FILE] [-odir:DIR] SOURCE…",
	.summary = "Make the headers of C and C++ sources with WPP trace calls.",
	.details = "The WPP preprocessor for user-mode programs: for main.c it writes main.tmh, "
		   "which the source "
		   "includes after\n"
		   "WPP_CONTROL_GUIDS. Trace functions are DoTraceMessage(FLAG, \"text\", …), "
		   "those of -func and "
		   "those of the\n"
		   "configuration blocks (FUNC, USEPREFIX, USESUFFIX, CUSTOM_TYPE, "
		   "DEFINE_SIMPLE_TYPE, "
		   "DEFINE_CPLX_TYPE) in the\n"
		   "sources and in files of -scan. Formats know printf's conversions and %!STATUS! "
		   "and its like "
		   "(docs/wpp.md).\n"
		   "Programs carry the formats in a section, where decoders find them; 'openetw "
		   "tracepdb' writes "
		   "them to .tmf\n"
		   "files. Options of Windows' tool that mean nothing here are taken and do "
		   "nothing. Examples:\n"
		   "  openetw tracewpp -odir:build main.c net.c\n"
		   "  openetw tracewpp -scan:trace.h "
		   "\"-func:TraceError{LEVEL=TRACE_LEVEL_ERROR}(FLAGS, MSG, ...)\" "
		   "*.cpp\n",
	.options = options,
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "file",
};
