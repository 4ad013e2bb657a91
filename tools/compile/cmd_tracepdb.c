/* SPDX-License-Identifier: MIT
 *
 * tracepdb: the formats of WPP messages that programs carry, as .tmf files. On Windows they are in
 * .pdb files; here in a section of the program itself.
 */
#include "base/elf.h"
#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "format/schema_section.h"
#include "manifest/manifest_section.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

struct tracepdb_options {
	struct cli_words program; /* -f and -i */
	const char *folder, *output;
	bool below, verbose;
};
static const struct cli_option options[] = {
	CLI_WORDS(tracepdb_options, program, 0, "f", "FILE",
		  "a program, library or directory of them (repeatable; may be left out)"),
	CLI_WORDS(tracepdb_options, program, 0, "i", "FILE", "the same"),
	CLI_WORD(tracepdb_options, folder, 0, "p", "DIR", "where the .tmf files go (default: here)"),
	CLI_WORD(tracepdb_options, output, 0, "o", "FILE", "one file with all of them"),
	CLI_FLAG(tracepdb_options, below, 0, "s", "directories with what is below them"),
	CLI_ACCEPTED(0, "c", NULL, "accepted: control GUIDs are not in the formats"),
	CLI_FLAG(tracepdb_options, verbose, 0, "v", "say what is written"),
	{0},
};

struct job {
	struct cli_args *a;
	const char *dir;
	struct cli_output *output;
	FILE *one; /* of output */
	bool below, verbose;
	size_t files, formats;
	int status;
};

static bool write_file(struct job *j, const char *name, const void *p, size_t n)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", j->dir, name);
	struct diag d;
	diag_clear(&d);
	bool ok = cli_write_whole(path, p, n, true, &d) == 0;
	if (!ok) {
		fprintf(stderr, "openetw tracepdb: cannot write %s\n", d.text);
		j->status = CLI_FAILED;
	} else if (j->verbose) {
		cli_puts(path);
	}
	return ok;
}

/* A record may come from elsewhere: its GUID names the file, so it has to be one. */
static void take_record(struct job *j, const struct manifest_section_record *r, const char *from)
{
	char name[48], text[37] = "";
	struct guid g;
	memcpy(text, r->data, BASE_MIN(r->bytes, (size_t)36));
	if (guid_parse(text, &g) < 0) {
		fprintf(stderr, "openetw tracepdb: %s: formats without a GUID\n", from);
		j->status = CLI_FAILED;
		return;
	}
	j->formats++;
	if (j->one) {
		if (fwrite(r->data, 1, r->bytes, j->one) != r->bytes) {
			j->status = CLI_FAILED;
		}
		return;
	}
	snprintf(name, sizeof name, "%s.tmf", guid_format(&g, text));
	write_file(j, name, r->data, r->bytes);
}

static void take_program(struct job *j, const char *path, bool named)
{
	uint8_t *p;
	size_t n, at = 0, before = j->formats;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : elf_section_read(fd, SCHEMA_SECTION_NAME, SCHEMA_SECTION_BYTES_MAX, &p, &n);
	base_close(&fd);
	struct manifest_section_record r;
	while (err == 0 && manifest_section_next(p, n, &at, &r)) {
		if (r.kind == SCHEMA_SECTION_TMF) {
			take_record(j, &r, path);
		}
	}
	if (err == 0) {
		free(p);
	}
	j->files++;
	/* Of a directory's files most are none. */
	if (named && (err < 0 || j->formats == before)) {
		fprintf(stderr, "openetw tracepdb: %s: %s\n", path,
			err == 0 || err == -ENOENT ? "no formats in this program"
			: err == -ENOEXEC          ? "no ELF file"
						   : strerror(-err));
		j->status = CLI_FAILED;
	}
}

static void take_path(struct job *j, const char *path, bool named, int depth)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		DIR *d = named || j->below ? opendir(path) : NULL;
		for (struct dirent *e; d && depth < 32 && (e = readdir(d));) {
			char inner[PATH_MAX];
			int n = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
			if (e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof inner) {
				take_path(j, inner, false, depth + 1);
			}
		}
		if (d) {
			closedir(d);
		}
		return;
	}
	take_program(j, path, named);
}

static int run(struct cli_args *a)
{
	const struct tracepdb_options *o = a->given;
	struct job j = {.a = a, .dir = o->folder, .below = o->below, .verbose = o->verbose};
	if (a->count == 0 && o->program.count == 0) {
		return cli_usage(a, "which program? -f FILE");
	}
	j.output = o->output ? cli_output_open(a, o->output, true) : NULL;
	j.one = cli_output_file(j.output);
	if (o->output && !j.one) {
		return CLI_FAILED;
	}
	for (int i = 0; i < o->program.count; i++) {
		take_path(&j, o->program.text[i], true, 0);
	}
	for (int i = 0; i < a->count; i++) {
		take_path(&j, a->words[i], true, 0);
	}
	if (cli_output_close(j.output, true) != CLI_OK) {
		j.status = CLI_FAILED;
	}
	if (j.status == CLI_OK) {
		printf("%zu of formats out of %zu files\n", j.formats, j.files);
	}
	return j.status;
}

const struct cli_command cli_tracepdb = {
	.name = "tracepdb",
	.synopsis = "-f PROGRAM… [-p DIR | -o FILE]",
	.summary = "Write the formats of WPP messages that programs carry to .tmf files.",
	.details = "Reads what 'openetw tracewpp' put into a program, where Windows' tool reads a "
		   ".pdb file, and "
		   "writes a file\n"
		   "MESSAGE-GUID.tmf for each source. Decoders on the machine that ran the program "
		   "need none. "
		   "Examples:\n"
		   "  openetw tracepdb -f ./app -p tmf\n"
		   "  openetw tracefmt app.etl -tmf tmf/5f0e….tmf -displayonly\n",
	.options = options,
	CLI_INTO(tracepdb_options),
	.defaults = &(const struct tracepdb_options){.folder = "."},
	.run = run,
	.classic = true,
	.complete = "file",
};
