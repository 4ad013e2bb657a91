/* SPDX-License-Identifier: MIT
 *
 * mc: manifest to C header and resources. The compiler is src/mc; here are its options and files.
 */
#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "mc/mc.h"
#include "xml/xml.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

static const struct cli_option options[] = {
	{0, "h", "DIR", "where the header goes (default: here)", NULL},
	{0, "r", "DIR", "where the resources go (default: here)", NULL},
	{0, "z", "NAME", "name of the outputs without ending (default: the manifest's)", NULL},
	{0, "e", "EXT", "ending of the header (default: h)", NULL},
	{0, "p", "PREFIX", "of the macros that write (default: EventWrite)", NULL},
	{0, "P", "PREFIX", "to take off the front of event symbols in these macros", NULL},
	{0, "um", NULL, "macros without activity id (default)", NULL},
	{0, "km", NULL, "macros whose first argument is an activity id or NULL", NULL},
	{0, "nocode", NULL, "constants and descriptors only", NULL},
	{0, "format", "N", "of the resource: 5 (default), or 3 as SDKs before 10.0.16299 wrote it; also -u1", NULL},
	{0, "co", NULL, "call the source's MCGEN_CALLOUT after each event", NULL},
	{0, "noembed", NULL, "programs with the header do not carry the manifest in a section", NULL},
	{0, "cp", "ENC", "of the header: ansi (default), or utf-8 with a mark at its start", NULL},
	{0, "m", "N", "warn of messages longer than N characters", NULL},
	{0, "b", NULL, "NAME_MSG00001.bin instead of MSG00001.bin; -z does so too", NULL},
	{0, "v", NULL, "say what is written", NULL},
	{0, NULL, NULL, NULL, NULL},
};

struct job {
	struct cli_args *a;
	struct mc_options mc;
	const char *header_dir, *resource_dir, *base, *ext, *input;
	const char *encoding, *longest, *format, *ignored;
	bool prefixed, verbose, no_embed, old_format, unused;
	struct xml_doc doc;
	struct manifest manifest;
};

/* Options of Windows' mc that mean nothing here, with the reason. */
static const struct {
	const char *name, *why;
} known[] = {
	{"cs", "C# classes are not made; use the C header"},
	{"css", "C# classes are not made; use the C header"},
	{"mof", "MOF classes are not made; the manifest itself decodes the events"},
	{"s", "baselines are not written"},
	{"t", "there are no baselines to compare with"},
	{"generateProjections", "there is nothing to project to; use the C header"},
	{"n", "it is for .mc files; -nocode leaves out all code"},
	{"x", "there is no debugging file"},
	{"c", "it is for .mc files"},
	{"d", "it is for .mc files"},
	{"o", "it is for .mc files"},
	{"A", "message tables are UTF-16"},
};

static const char *name_at(const void *ctx, int i)
{
	(void)ctx;
	return options[i].name;
}

static int bad_option(struct job *j, const char *word)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		if (strcmp(known[i].name, word + 1) == 0) {
			return cli_usage(j->a, "-%s is not for this compiler: %s", word + 1, known[i].why);
		}
	}
	const char *near = cli_nearest(word + 1, name_at, NULL);
	return cli_usage(j->a, near ? "unknown option '%s'; did you mean -%s?" : "unknown option '%s'", word, near);
}

/* Words as Windows' mc takes them: case counts, values follow. */
static int parse(struct job *j)
{
	struct cli_args *a = j->a;
	for (int i = 0; i < a->count; i++) {
		const char *w = a->words[i], *value = i + 1 < a->count ? a->words[i + 1] : NULL;
		if (w[0] != '-' || !w[1]) {
			if (j->input) {
				return cli_usage(a, "one manifest at a time, not '%s' and '%s'", j->input, w);
			}
			j->input = w;
			continue;
		}
		const struct {
			const char *name;
			const char **to;
		} values[] = {{"h", &j->header_dir},
			      {"r", &j->resource_dir},
			      {"z", &j->base},
			      {"e", &j->ext},
			      {"p", &j->mc.prefix},
			      {"P", &j->mc.strip},
			      {"cp", &j->encoding},
			      {"m", &j->longest},
			      {"format", &j->format},
			      /* where Windows' compiler once found its schema and winmeta.xml */
			      {"w", &j->ignored},
			      {"W", &j->ignored}};
		bool done = false;
		for (size_t k = 0; k < BASE_ARRAY_LEN(values) && !done; k++) {
			if (strcmp(values[k].name, w + 1) == 0) {
				if (!value) {
					return cli_usage(a, "%s needs a value", w);
				}
				*values[k].to = value;
				i++;
				done = true;
			}
		}
		const struct {
			const char *name;
			bool *to, on;
		} flags[] = {{"um", &j->mc.activity, false},
			     {"km", &j->mc.activity, true},
			     {"nocode", &j->mc.no_code, true},
			     {"b", &j->prefixed, true},
			     {"noembed", &j->no_embed, true},
			     {"u1", &j->old_format, true},
			     {"co", &j->mc.callout, true},
			     {"v", &j->verbose, true},
			     /* encodings are seen, tables are UTF-16 */
			     {"a", &j->unused, true},
			     {"u", &j->unused, true},
			     {"U", &j->unused, true}};
		for (size_t k = 0; k < BASE_ARRAY_LEN(flags) && !done; k++) {
			if (strcmp(flags[k].name, w + 1) == 0) {
				*flags[k].to = flags[k].on;
				done = true;
			}
		}
		if (!done) {
			return bad_option(j, w);
		}
	}
	if (j->encoding && strcasecmp(j->encoding, "ansi") != 0 && strcasecmp(j->encoding, "utf-8") != 0) {
		return cli_usage(a,
				 strcasecmp(j->encoding, "utf-16") == 0
					 ? "-cp %s: no compiler here reads such headers; use utf-8"
					 : "-cp takes ansi or utf-8, not '%s'",
				 j->encoding);
	}
	if (j->format && strcmp(j->format, "3") != 0 && strcmp(j->format, "5") != 0) {
		return cli_usage(a, "-format takes 3 or 5, not '%s'", j->format);
	}
	j->old_format |= j->format && j->format[0] == '3';
	if (j->longest &&
	    (j->longest[0] < '0' || j->longest[0] > '9' || j->longest[strspn(j->longest, "0123456789")])) {
		return cli_usage(a, "-m takes a number of characters, not '%s'", j->longest);
	}
	return j->input ? CLI_OK : cli_usage(a, "which manifest?");
}

/* -m: of all languages. */
static void warn_of_long(const struct job *j)
{
	unsigned long most = j->longest ? strtoul(j->longest, NULL, 10) : 0;
	for (const struct manifest_culture *c = j->manifest.cultures; most && c; c = c->next) {
		for (size_t i = 0; i < c->string_count; i++) {
			const char *s = c->strings[i].value;
			long units = utf8_to_utf16(s, strlen(s), NULL, 0);
			if (units > 0 && (unsigned long)units > most) {
				fprintf(stderr, "%s: warning: string '%s' of %s has %ld characters, more than %lu\n",
					j->input, c->strings[i].id, c->name, units, most);
			}
		}
	}
}

/* "FILE:line:column: error: text" as compilers say it. */
static int report(const struct job *j, int err, const struct diag *d)
{
	if (err == -ENOMEM) {
		fprintf(stderr, "%s: error: not enough memory\n", j->input);
	} else if (d->line) {
		fprintf(stderr, "%s:%u:%u: error: %s\n", j->input, d->line, d->column, d->text);
	} else {
		fprintf(stderr, "%s: error: %s\n", j->input, d->text);
	}
	return CLI_FAILED;
}

/* Under a passing name first, so that nobody ever includes half a file. */
static int write_output(const struct job *j, const char *dir, const char *name, struct strbuf *b)
{
	char path[4096];
	struct diag d;
	int n = snprintf(path, sizeof path, "%s/%s", dir ? dir : ".", name);
	int err = b->failed ? -ENOMEM : (size_t)n >= sizeof path ? -ENAMETOOLONG : 0;
	diag_clear(&d);
	err = err ? err : cli_write_whole(path, b->s, b->len, true, &d);
	if (err) {
		fprintf(stderr, "openetw mc: cannot write %s\n", d.text[0] ? d.text : strerror(-err));
	} else if (j->verbose) {
		fprintf(stderr, "%s: %zu bytes\n", path, b->len);
	}
	strbuf_clear(b);
	return err ? CLI_FAILED : CLI_OK;
}

static int write_resources(const struct job *j, const struct mc *mc, struct strbuf *b)
{
	char name[512], prefix[300] = "";
	struct diag d;
	diag_clear(&d);
	int err = mc_write_template(mc, j->old_format ? MC_FORMAT_3 : MC_FORMAT_5, b, &d);
	if (err < 0) {
		return report(j, err, &d);
	}
	snprintf(name, sizeof name, "%sTEMP.BIN", j->base);
	int status = write_output(j, j->resource_dir, name, b);
	if (j->prefixed) {
		snprintf(prefix, sizeof prefix, "%s_", j->base);
	}
	size_t languages = mc_has_messages(mc) ? mc_language_count(mc) : 0;
	for (size_t i = 0; i < languages && status == CLI_OK; i++) {
		mc_write_messages(mc, i, b);
		snprintf(name, sizeof name, "%sMSG%05zX.bin", prefix, i + 1);
		status = write_output(j, j->resource_dir, name, b);
	}
	if (status == CLI_OK) {
		mc_write_rc(mc, j->base, prefix, b);
		snprintf(name, sizeof name, "%s.rc", j->base);
		status = write_output(j, j->resource_dir, name, b);
	}
	return status;
}

/* Larger ones would make every source slow that includes the header. */
#define EMBED_BYTES_MAX (512u << 10)

static int embed(const struct job *j, const struct mc *mc, struct strbuf *b, struct diag *d)
{
	struct strbuf section = {0};
	int err = mc_write_section(mc, &section, d);
	if (err == 0 && section.len > EMBED_BYTES_MAX) {
		fprintf(stderr,
			"%s: note: too large for a header; programs carry it when they link what 'openetw rc "
			"%s.rc' makes\n",
			j->input, j->base);
	} else if (err == 0) {
		mc_write_embedded(&section, b);
	}
	strbuf_finish(&section);
	return err;
}

static int compile(struct job *j, struct strbuf *b)
{
	struct mc *mc = NULL;
	struct diag d;
	char name[512];
	diag_clear(&d);
	int err = mc_build(&j->manifest, &j->mc, &mc, &d);
	if (err < 0) {
		return report(j, err, &d);
	}
	warn_of_long(j);
	strbuf_clear(b);
	if (j->encoding && strcasecmp(j->encoding, "utf-8") == 0) {
		strbuf_adds(b, "\xEF\xBB\xBF");
	}
	mc_write_header(mc, b);
	err = j->no_embed || j->mc.no_code ? 0 : embed(j, mc, b, &d);
	if (err < 0) {
		mc_destroy(mc);
		return report(j, err, &d);
	}
	snprintf(name, sizeof name, "%s.%s", j->base, j->ext);
	int status = write_output(j, j->header_dir, name, b);
	if (status == CLI_OK) {
		status = write_resources(j, mc, b);
	}
	mc_destroy(mc);
	return status;
}

static int run(struct cli_args *a)
{
	struct job j = {.a = a, .ext = "h"};
	char base[256];
	int status = parse(&j);
	if (status != CLI_OK) {
		return status;
	}
	const char *slash = strrchr(j.input, '/');
	const char *file = slash ? slash + 1 : j.input;
	if (j.base) {
		j.prefixed = true;
	} else {
		const char *dot = strrchr(file, '.');
		snprintf(base, sizeof base, "%.*s", (int)(dot && dot > file ? dot - file : (long)strlen(file)), file);
		j.base = base;
	}
	if (strchr(j.base, '/')) {
		return cli_usage(a, "-z takes a name, not the path '%s'", j.base);
	}
	j.mc.source = file;
	struct strbuf b = {0};
	struct diag d;
	diag_clear(&d);
	int err = cli_file_read(j.input, XML_BYTES_MAX, &b);
	if (err < 0) {
		fprintf(stderr, "openetw mc: cannot read %s: %s\n", j.input, strerror(-err));
		strbuf_finish(&b);
		return CLI_FAILED;
	}
	err = xml_parse(b.s ? b.s : "", b.len, &j.doc, &d);
	if (err < 0) {
		status = report(&j, err, &d);
	} else {
		err = mc_check(j.doc.root, &d);
		err = err < 0 ? err : manifest_read_document(&j.doc, &j.manifest, &d);
		status = err < 0 ? report(&j, err, &d) : compile(&j, &b);
		if (err == 0) {
			manifest_finish(&j.manifest);
		}
		xml_finish(&j.doc);
	}
	strbuf_finish(&b);
	return status;
}

const struct cli_command cli_mc = {
	.name = "mc",
	.synopsis = "[options] FILE.man",
	.summary = "Compile an instrumentation manifest to a C header and resources.",
	.details = "The message compiler for user-mode providers. The header has the names and macros "
		   "of the Windows\n"
		   "compiler's (EventRegisterNAME, EventWriteSYMBOL, EventEnabledSYMBOL, …), so that "
		   "sources written\n"
		   "for those compile with it; the resources NAMETEMP.BIN, MSG00001.bin and NAME.rc are "
		   "those that\n"
		   "Windows binaries carry. Mistakes in the manifest are told as "
		   "FILE:line:column: error: …\n"
		   "Options are written as for the Windows tool: one dash, case counts. Examples:\n"
		   "  openetw mc -um app.man\n"
		   "  openetw mc -h include -r build -z app_events app.man\n",
	.options = options,
	.run = run,
	.classic = true,
	.raw = true,
	.complete = "file",
};
