/* SPDX-License-Identifier: MIT
 *
 * rc: from a resource script, what describes events (WEVT_TEMPLATE and message tables) as an object
 * file to link: sources that come with a header and resources made on Windows need nothing else.
 * Other resources have no meaning here.
 */
#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "format/schema_section.h"
#include "mc/mc.h"
#include "manifest/manifest_section.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#define DEPTH_MAX 8
#define FILE_MAX  (32u << 20)

static const struct cli_option options[] = {
	{0, "fo", "FILE", "the object file to write (default: the script's name with .o)", NULL},
	{0, "o", "FILE", "the same", NULL},
	{0, "I", "DIR", "look for included scripts and files there too (repeatable)", NULL},
	{0, "m", "MACHINE", "x86-64 or arm64 (default: this one)", "x86-64|arm64"},
	{0, "v", NULL, "say what is taken and what is left out", NULL},
	{0, NULL, NULL, NULL, NULL},
};

struct job {
	struct cli_args *a;
	const char *input, *output;
	const char *include[64];
	size_t includes;
	uint16_t machine;
	bool verbose;
	struct strbuf records;
	uint64_t set;
	size_t templates, tables, others;
};

/* Beside the script that names it, then in the directories of -I. Backslashes are slashes. */
static bool find_file(const struct job *j, const char *script, const char *name, char *ret, size_t cap)
{
	const char *slash = strrchr(script, '/');
	for (size_t i = 0; i <= j->includes; i++) {
		int n = name[0] == '/' ? snprintf(ret, cap, "%s", name)
			: i == 0 ? snprintf(ret, cap, "%.*s%s", slash ? (int)(slash + 1 - script) : 0, script, name)
				 : snprintf(ret, cap, "%s/%s", j->include[i - 1], name);
		for (char *s = ret; n > 0 && (size_t)n < cap && *s; s++) {
			*s = *s == '\\' ? '/' : *s;
		}
		if (n > 0 && (size_t)n < cap && access(ret, R_OK) == 0) {
			return true;
		}
	}
	return false;
}

/* ---- the script -------------------------------------------------------------------------------
 */

struct script {
	struct job *j;
	const char *path;
	const char *at;
	uint32_t line;
	uint16_t language;
	int depth;
};

static int mistake(const struct script *s, const char *fmt, const char *what)
{
	char text[PATH_MAX + 100];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof text, fmt, what);
#pragma GCC diagnostic pop
	fprintf(stderr, "%s:%u: error: %s\n", s->path, s->line, text);
	return CLI_FAILED;
}

static int read_script(struct job *j, const char *path, int depth);

/* A word, or a string without its quotes; false at the end of the line. */
static bool next_word(const char **at, char *ret, size_t cap, bool *ret_quoted)
{
	*at += strspn(*at, " \t,");
	const char *s = *at;
	*ret_quoted = *s == '"' || ((*s == 'L' || *s == 'l') && s[1] == '"') || *s == '<';
	size_t n = 0;
	if (*ret_quoted) {
		char close = *s == '<' ? '>' : '"';
		for (s += 1 + (*s == 'L' || *s == 'l'); *s && *s != close; s++) {
			s += *s == '\\' && s[1] == '\\';
			if (n + 1 < cap) {
				ret[n++] = *s;
			}
		}
		s += *s == close;
	} else {
		for (; *s && !strchr(" \t,", *s); s++) {
			if (n + 1 < cap) {
				ret[n++] = *s;
			}
		}
	}
	ret[n] = 0;
	*at = s;
	return n > 0 || *ret_quoted;
}

static int add_file(struct script *s, uint16_t kind, const char *name)
{
	char path[PATH_MAX];
	struct job *j = s->j;
	struct strbuf b = {0};
	if (!find_file(j, s->path, name, path, sizeof path)) {
		return mistake(s, "cannot find %s", name);
	}
	int err = cli_file_read(path, FILE_MAX, &b);
	if (err == 0 && kind == SCHEMA_SECTION_TEMPLATE && (b.len < 16 || memcmp(b.s, "CRIM", 4) != 0)) {
		strbuf_finish(&b);
		return mistake(s, "%s is no WEVT_TEMPLATE resource", path);
	}
	if (err == 0) {
		j->set = mc_section_set(b.s, b.len, j->set);
		mc_section_record(&j->records, kind, kind == SCHEMA_SECTION_MESSAGES ? s->language : 0, 0, b.s, b.len);
		*(kind == SCHEMA_SECTION_TEMPLATE ? &j->templates : &j->tables) += 1;
	}
	strbuf_finish(&b);
	return err < 0 ? mistake(s, "cannot read it: %s", strerror(-err)) : CLI_OK;
}

static int include(struct script *s, const char *name)
{
	char path[PATH_MAX];
	size_t n = strlen(name);
	/* headers hold constants, and what is not there comes with Windows */
	if (n < 4 || strcasecmp(name + n - 3, ".rc") != 0 || !find_file(s->j, s->path, name, path, sizeof path)) {
		return CLI_OK;
	}
	return s->depth + 1 >= DEPTH_MAX ? mistake(s, "%s: too many includes in each other", name)
					 : read_script(s->j, path, s->depth + 1);
}

static int read_line(struct script *s, const char *line)
{
	char word[3][512] = {""};
	bool quoted[3] = {false};
	const char *at = line;
	for (int i = 0; i < 3 && next_word(&at, word[i], sizeof word[i], &quoted[i]); i++) {
	}
	if (strcmp(word[0], "#include") == 0) {
		return include(s, word[1]);
	}
	if (word[0][0] == '#') {
		return CLI_OK;
	}
	if (strcasecmp(word[0], "LANGUAGE") == 0) {
		unsigned long primary = strtoul(word[1], NULL, 0), sub = strtoul(word[2], NULL, 0);
		s->language = (uint16_t)(primary ? (primary & 0x3FF) | sub << 10 : 0x409);
		return CLI_OK;
	}
	uint16_t kind = strcasecmp(word[1], "WEVT_TEMPLATE") == 0 ? SCHEMA_SECTION_TEMPLATE
			: strcmp(word[1], "11") == 0 || strcasecmp(word[1], "MESSAGETABLE") == 0 ||
					strcasecmp(word[1], "RT_MESSAGETABLE") == 0
				? SCHEMA_SECTION_MESSAGES
				: 0;
	if (!kind) {
		s->j->others += word[0][0] != 0 && word[1][0] != 0;
		return CLI_OK;
	}
	/* memory flags of old may stand between */
	while (!quoted[2] && !strchr(word[2], '.') && word[2][0] &&
	       next_word(&at, word[2], sizeof word[2], &quoted[2])) {
	}
	return word[2][0] ? add_file(s, kind, word[2]) : mistake(s, "%s names no file", word[1]);
}

/* Comments become blanks. */
static void strip_comments(char *s)
{
	for (bool text = false; *s; s++) {
		if (*s == '"') {
			text = !text;
		} else if (*s == '\n') {
			text = false;
		} else if (!text && s[0] == '/' && s[1] == '/') {
			while (*s && *s != '\n') {
				*s++ = ' ';
			}
			s--;
		} else if (!text && s[0] == '/' && s[1] == '*') {
			char *end = strstr(s + 2, "*/");
			for (char *stop = end ? end + 2 : s + strlen(s); s < stop; s++) {
				*s = *s == '\n' ? '\n' : ' ';
			}
			s--;
		}
	}
}

static int read_script(struct job *j, const char *path, int depth)
{
	struct strbuf b = {0};
	struct script s = {.j = j, .path = path, .language = 0x409, .depth = depth};
	int err = cli_source_read(path, FILE_MAX, &b);
	if (err < 0) {
		fprintf(stderr, "openetw rc: cannot read %s: %s\n", path, strerror(-err));
		strbuf_finish(&b);
		return CLI_FAILED;
	}
	int status = CLI_OK;
	char *line = b.s ? b.s : NULL;
	if (line) {
		strip_comments(line);
	}
	for (char *next; line && status == CLI_OK; line = next) {
		next = strchr(line, '\n');
		if (next) {
			*next++ = 0;
		}
		line[strcspn(line, "\r")] = 0;
		s.line++;
		status = read_line(&s, line);
	}
	strbuf_finish(&b);
	return status;
}

/* ---- the object file --------------------------------------------------------------------------
 */

static void section(struct strbuf *o, uint32_t name, uint32_t type, uint64_t flags, uint64_t at, uint64_t n)
{
	uint8_t h[64] = {0};
	le32_put(h, name);
	le32_put(h + 4, type);
	le64_put(h + 8, flags);
	le64_put(h + 24, at);
	le64_put(h + 32, n);
	le64_put(h + 48, type == SHT_STRTAB ? 1 : 4);
	strbuf_add(o, h, sizeof h);
}

/* Relocatable, without symbols: the linker takes its sections as they are. */
static void write_object(const struct job *j, struct strbuf *o)
{
	static const char names[] = "\0" SCHEMA_SECTION_NOTE "\0" SCHEMA_SECTION_NAME "\0.note.GNU-stack\0.shstrtab";
	const uint32_t note_name = 1, schema_name = note_name + sizeof SCHEMA_SECTION_NOTE,
		       stack_name = schema_name + sizeof SCHEMA_SECTION_NAME,
		       own_name = stack_name + sizeof ".note.GNU-stack";
	uint8_t e[64] = {0x7F,       'E',         'L',        'F',
			 ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_GNU}, /* else the flag below means nothing */
		note[24] = {0};
	le32_put(note, sizeof SCHEMA_SECTION_NOTE_NAME);
	le32_put(note + 4, 4);
	le32_put(note + 8, SCHEMA_SECTION_NOTE_TYPE);
	memcpy(note + 12, SCHEMA_SECTION_NOTE_NAME, sizeof SCHEMA_SECTION_NOTE_NAME);
	le32_put(note + 20, 1);
	uint64_t note_at = sizeof e, data_at = note_at + sizeof note, names_at = data_at + j->records.len,
		 heads_at = BASE_ALIGN8(names_at + sizeof names);
	le16_put(e + 16, ET_REL);
	le16_put(e + 18, j->machine);
	le32_put(e + 20, EV_CURRENT);
	le64_put(e + 40, heads_at);
	le16_put(e + 52, 64);
	le16_put(e + 58, 64);
	le16_put(e + 60, 5);
	le16_put(e + 62, 4);
	strbuf_add(o, e, sizeof e);
	strbuf_add(o, note, sizeof note);
	strbuf_add(o, j->records.s, j->records.len);
	strbuf_add(o, names, sizeof names);
	strbuf_add(o, "\0\0\0\0\0\0\0", heads_at - names_at - sizeof names);
	section(o, 0, SHT_NULL, 0, 0, 0);
	section(o, note_name, SHT_NOTE, SHF_ALLOC, note_at, sizeof note);
	/* 0x200000: SHF_GNU_RETAIN, or --gc-sections takes it away */
	section(o, schema_name, SHT_PROGBITS, SHF_ALLOC | 0x200000, data_at, j->records.len);
	section(o, stack_name, SHT_PROGBITS, 0, names_at, 0);
	section(o, own_name, SHT_STRTAB, 0, names_at, sizeof names);
}

/* Records were written before the set was known. */
static void stamp(struct job *j)
{
	struct manifest_section_record r;
	for (size_t at = 0, start = 0; manifest_section_next(j->records.s, j->records.len, &at, &r); start = at) {
		le64_put(j->records.s + start + 12, j->set);
	}
}

static int write_output(struct job *j)
{
	struct strbuf o = {0};
	char path[PATH_MAX];
	struct diag d;
	if (j->output) {
		snprintf(path, sizeof path, "%s", j->output);
	} else {
		const char *slash = strrchr(j->input, '/'), *name = slash ? slash + 1 : j->input;
		const char *dot = strrchr(name, '.');
		snprintf(path, sizeof path, "%.*s.o", (int)(dot ? dot - name : (long)strlen(name)), name);
	}
	stamp(j);
	write_object(j, &o);
	diag_clear(&d);
	bool ok = !o.failed && cli_write_whole(path, o.s, o.len, true, &d) == 0;
	if (!ok) {
		fprintf(stderr, "openetw rc: cannot write %s\n", o.failed ? strerror(ENOMEM) : d.text);
	}
	strbuf_finish(&o);
	return ok ? CLI_OK : CLI_FAILED;
}

/* ---- options: Windows' rc, and what build systems say to windres ------------------------------
 */

static int parse(struct job *j)
{
	struct cli_args *a = j->a;
	for (int i = 0; i < a->count; i++) {
		const char *w = a->words[i];
		const char *next = i + 1 < a->count ? a->words[i + 1] : NULL;
		bool dash = w[0] == '-', slash = w[0] == '/' && access(w, F_OK) < 0;
		if ((!dash && !slash) || !w[1]) {
			if (j->input) {
				return cli_usage(a, "one script at a time, not '%s' and '%s'", j->input, w);
			}
			j->input = w;
			continue;
		}
		const char *o = w + 1;
		const char **to = strcasecmp(o, "fo") == 0 || strcmp(o, "o") == 0 ? &j->output
				  : strcmp(o, "i") == 0 && dash                   ? &j->input
										  : NULL;
		if (to || strcmp(o, "I") == 0 || strcmp(o, "i") == 0 || strcasecmp(o, "d") == 0 ||
		    strcasecmp(o, "l") == 0 || strcmp(o, "O") == 0 || strcmp(o, "J") == 0 || strcmp(o, "m") == 0) {
			if (!next) {
				return cli_usage(a, "%s needs a value", w);
			}
			i++;
			if (to) {
				*to = next;
			} else if (strcasecmp(o, "I") == 0 && j->includes < BASE_ARRAY_LEN(j->include)) {
				j->include[j->includes++] = next;
			} else if (strcmp(o, "m") == 0) {
				bool arm = strcmp(next, "arm64") == 0 || strcmp(next, "aarch64") == 0;
				if (!arm && strcmp(next, "x86-64") != 0 && strcmp(next, "x86_64") != 0) {
					return cli_usage(a, "-m takes x86-64 or arm64, not '%s'", next);
				}
				j->machine = arm ? EM_AARCH64 : EM_X86_64;
			}
			continue;
		}
		if (strncasecmp(o, "fo", 2) == 0) {
			j->output = o + 2 + (o[2] == ':');
		} else if ((*o == 'I' || *o == 'i') && j->includes < BASE_ARRAY_LEN(j->include)) {
			j->include[j->includes++] = o + 1;
		} else if (strcmp(o, "v") == 0) {
			j->verbose = true;
		} else if (!strchr("dDrRnNlLuUxXwWcC-", *o)) {
			return cli_usage(a, "unknown option '%s'", w);
		}
	}
	return j->input ? CLI_OK : cli_usage(a, "which resource script?");
}

static int run(struct cli_args *a)
{
	struct job j = {.a = a};
#if defined(__aarch64__)
	j.machine = EM_AARCH64;
#else
	j.machine = EM_X86_64;
#endif
	int status = parse(&j);
	if (status == CLI_OK) {
		status = read_script(&j, j.input, 0);
	}
	if (status == CLI_OK && j.records.failed) {
		status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot compile %s", j.input);
	}
	if (status == CLI_OK && j.verbose) {
		fprintf(stderr, "%s: %zu templates, %zu message tables, %zu other lines left out\n", j.input,
			j.templates, j.tables, j.others);
	}
	if (status == CLI_OK) {
		status = write_output(&j);
	}
	strbuf_finish(&j.records);
	return status;
}

const struct cli_command cli_rc = {
	.name = "rc",
	.synopsis = "[/fo FILE.o] [-I DIR] FILE.rc",
	.summary = "Make an object file of the resources that describe events.",
	.details = "For sources that come with a header and resources made by Windows' message "
		   "compiler: the "
		   "resources\n"
		   "WEVT_TEMPLATE and MESSAGETABLE of a script, and of scripts it includes, become "
		   "a section of "
		   "the program\n"
		   "the object is linked into, so that decoders know its events. Icons, versions "
		   "and other "
		   "resources are left\n"
		   "out. Takes the options of Windows' rc and of windres, as CMake gives them "
		   "(CMAKE_RC_COMPILER=openetw-rc).\n"
		   "Name the object itself when linking: out of an archive it would not be taken. "
		   "Examples:\n"
		   "  openetw rc /fo app_events.o app.rc\n"
		   "  cc app.c app_events.o -o app -letw\n",
	.options = options,
	.run = run,
	.classic = true,
	.raw = true,
	.complete = "file",
};
