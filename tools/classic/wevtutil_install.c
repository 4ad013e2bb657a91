/* SPDX-License-Identifier: MIT
 *
 * im and um. Installed is a copy of the file in a directory where every decoder looks, named after
 * its first provider; whatever described one of its providers before makes room.
 */
#include "base/datadir.h"
#include "base/elf.h"
#include "tools/classic/wevtutil.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "format/schema_section.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#define PROVIDERS_MAX 4096
#define PASSING       ".part" /* in names of files that somebody is writing */

struct found {
	struct guid guid[PROVIDERS_MAX];
	size_t count;
	char name[256]; /* of the first */
	bool messages;  /* of WPP */
};

static int collect(void *ctx, struct manifest *m, enum schema_source source, const char *key)
{
	struct found *f = ctx;
	for (const struct manifest_provider *p = m->providers; p; p = p->next) {
		if (f->count == 0) {
			snprintf(f->name, sizeof f->name, "%s", p->name ? p->name : "");
			f->messages = source == SCHEMA_SOURCE_WPP;
		}
		if (f->count < PROVIDERS_MAX) {
			f->guid[f->count++] = p->guid;
		}
	}
	manifest_finish(m);
	return 0;
}

static bool share(const struct found *a, const struct found *b)
{
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			if (guid_equal(&a->guid[i], &b->guid[k])) {
				return true;
			}
		}
	}
	return false;
}

static bool directory(struct wevtutil *w, char *ret, size_t cap, bool *ret_machine)
{
	const char *scope = wevtutil_value(w, "sc", geteuid() == 0 ? "machine" : "user");
	*ret_machine = strcasecmp(scope, "machine") == 0;
	if (!*ret_machine && strcasecmp(scope, "user") != 0) {
		cli_usage(w->a, "/sc takes user or machine, not '%s'", scope);
		return false;
	}
	if (!datadir_path(*ret_machine, DATADIR_MANIFESTS, ret, cap)) {
		fprintf(stderr, "openetw wevtutil: neither XDG_DATA_HOME nor HOME says where your "
				"files are\n");
		return false;
	}
	return true;
}

static int read_problem(struct wevtutil *w, int err, const struct diag *d)
{
	if (d->line) {
		fprintf(stderr, "%s:%u:%u: error: %s\n", w->word, d->line, d->column, d->text);
	} else {
		fprintf(stderr, "openetw wevtutil: cannot read %s: %s\n", w->word,
			d->text[0] ? d->text : strerror(-err));
	}
	return CLI_FAILED;
}

/* Removes files that describe a provider of `f`, but not `keep`. Returns how many, or -errno. */
static int remove_same(const char *dir, const struct found *f, const char *keep)
{
	int removed = 0;
	DIR *d = opendir(dir);
	struct found *other = calloc(1, sizeof *other);
	if (!d || !other) {
		int err = d ? -ENOMEM : -errno;
		if (d) {
			closedir(d);
		}
		free(other);
		return err == -ENOENT ? 0 : err;
	}
	for (struct dirent *e; removed >= 0 && (e = readdir(d));) {
		char path[PATH_MAX], files[PATH_MAX + 8];
		int n = snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		size_t len = strlen(e->d_name);
		if (e->d_name[0] == '.' || strstr(e->d_name, PASSING) || n <= 0 || (size_t)n >= sizeof path ||
		    strcmp(path, keep) == 0 || (len > 6 && strcmp(e->d_name + len - 6, ".files") == 0)) {
			continue;
		}
		other->count = 0;
		if (schema_file_read(path, collect, other, NULL) < 0 || !share(f, other)) {
			continue;
		}
		if (unlink(path) < 0) {
			removed = -errno;
			break;
		}
		snprintf(files, sizeof files, "%s.files", path);
		unlink(files);
		removed++;
	}
	closedir(d);
	free(other);
	return removed;
}

/* The file itself, or of a program the section that describes its events. */
static int content(const char *path, struct strbuf *b, bool *ret_section)
{
	char mapped[PATH_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		fd = open(cli_path(path, mapped), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0) {
		return -errno;
	}
	uint8_t *p;
	size_t n;
	int err = elf_section_read(fd, SCHEMA_SECTION_NAME, SCHEMA_SECTION_BYTES_MAX, &p, &n);
	*ret_section = err == 0;
	if (err == 0) {
		strbuf_add(b, p, n);
		free(p);
	}
	ssize_t got = 1;
	while (err == -ENOEXEC && got > 0) {
		char buf[65536];
		got = read(fd, buf, sizeof buf);
		if (got > 0) {
			strbuf_add(b, buf, (size_t)got);
		}
	}
	err = err == -ENOEXEC ? (got < 0 ? -errno : 0) : err;
	base_close(&fd);
	return b->failed ? -ENOMEM : err;
}

/* Under a passing name first: decoders may look at any time. */
static int write_whole(const char *path, const void *p, size_t n, bool machine)
{
	char temp[PATH_MAX];
	int k = snprintf(temp, sizeof temp, "%s" PASSING "%d", path, (int)getpid());
	if (k < 0 || (size_t)k >= sizeof temp) {
		return -ENAMETOOLONG;
	}
	open_output_remove(temp); /* one that was left over */
	/* No decoder looks at files of this ending. */
	int fd = open_output(temp, 0, machine ? 0644 : 0600, NULL);
	const uint8_t *at = p;
	while (fd >= 0 && n > 0) {
		ssize_t put = write(fd, at, n);
		if (put <= 0) {
			break;
		}
		at += put;
		n -= (size_t)put;
	}
	int err = fd < 0 ? fd : n ? -(errno ? errno : EIO) : 0;
	base_close(&fd);
	if (err == 0 && rename(temp, path) < 0) {
		err = -errno;
	}
	if (err < 0) {
		unlink(temp);
	}
	return err;
}

/* Names of providers may hold a slash or anything else that file names do not. Two of them may look
 * alike then, so the GUID is added. */
static void file_name(const struct found *f, const char *source, bool section, bool program, char *ret, size_t cap)
{
	char name[200], guid[40] = "";
	/* Decoders go by the ending; whatever else was read is a manifest. */
	static const char *const endings[] = {".dll", ".exe", ".sys", ".mui", ".tmf", ".etwcat", SCHEMA_SECTION_SUFFIX};
	const char *ending = section ? SCHEMA_SECTION_SUFFIX : ".man", *dot = strrchr(source, '.');
	for (size_t i = 0; dot && !section && i < BASE_ARRAY_LEN(endings); i++) {
		ending = strcasecmp(dot, endings[i]) == 0 ? endings[i] : ending;
	}
	if (program && strcmp(ending, ".man") == 0) {
		ending = endings[0]; /* a library of resources under some other name */
	}
	if (f->messages || f->name[0] == 0) {
		guid_format(&f->guid[0], name);
	} else {
		snprintf(name, sizeof name, "%.199s", f->name);
	}
	for (char *s = name; *s; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
			     *s == '-' || *s == '_' || (*s == '.' && s != name);
		if (!plain) {
			*s = '_';
			guid[0] = '-';
			guid_format(&f->guid[0], guid + 1);
		}
	}
	snprintf(ret, cap, "%s%s%s", name, guid, ending);
}

static int write_overrides(struct wevtutil *w, const char *path, bool machine)
{
	static const char *const keys[] = {"rf", "mf", "pf"};
	struct strbuf b = {0};
	char files[PATH_MAX + 8];
	for (size_t i = 0; i < BASE_ARRAY_LEN(keys); i++) {
		const char *v = wevtutil_value(w, keys[i], NULL);
		if (v && !strchr(v, '\n')) {
			strbuf_addf(&b, "%s=%s\n", keys[i], v);
		}
	}
	snprintf(files, sizeof files, "%s.files", path);
	int err = b.failed ? -ENOMEM : 0;
	if (b.len) {
		err = write_whole(files, b.s, b.len, machine);
	} else {
		unlink(files);
	}
	strbuf_finish(&b);
	return err;
}

int wevtutil_install(struct wevtutil *w)
{
	char dir[PATH_MAX - 300], path[PATH_MAX], name[256];
	bool machine, section = false;
	struct diag d;
	struct strbuf b = {0};
	struct found *f = calloc(1, sizeof *f);
	diag_clear(&d);
	if (!f || !directory(w, dir, sizeof dir, &machine)) {
		free(f);
		return CLI_FAILED;
	}
	int err = schema_file_read(w->word, collect, f, &d);
	if (err == 0 && f->count == 0) {
		err = -EBADMSG;
		diag_at(&d, UINT64_MAX, "it describes no provider");
	}
	if (err < 0) {
		int status = read_problem(w, err, &d);
		free(f);
		return status;
	}
	err = content(w->word, &b, &section);
	bool program = b.len > 2 && memcmp(b.s, "MZ", 2) == 0;
	file_name(f, w->word, section, program, name, sizeof name);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	err = err < 0 ? err : datadir_make(dir, machine);
	err = err < 0 ? err : write_whole(path, b.s ? b.s : "", b.len, machine);
	err = err < 0 ? err : write_overrides(w, path, machine);
	int removed = err < 0 ? err : remove_same(dir, f, path);
	strbuf_finish(&b);
	free(f);
	if (removed < 0) {
		return cli_fail(w->a, win32_from_errno(removed), "cannot install %s in %s", w->word, dir);
	}
	return CLI_OK;
}

int wevtutil_uninstall(struct wevtutil *w)
{
	char dir[PATH_MAX - 300];
	bool machine;
	struct diag d;
	struct found *f = calloc(1, sizeof *f);
	diag_clear(&d);
	if (!f || !directory(w, dir, sizeof dir, &machine)) {
		free(f);
		return CLI_FAILED;
	}
	struct stat st;
	const struct manifest_provider *p = stat(w->word, &st) < 0 ? wevtutil_find(w->word) : NULL;
	int err = 0;
	if (p) {
		f->guid[f->count++] = p->guid;
	} else {
		err = schema_file_read(w->word, collect, f, &d);
	}
	if (err < 0) {
		int status = read_problem(w, err, &d);
		free(f);
		return status;
	}
	int removed = remove_same(dir, f, "");
	/* Also what programs said of themselves; they say it again when they run. */
	char binaries[PATH_MAX - 300];
	if (removed >= 0 && datadir_path(machine, DATADIR_BINARIES, binaries, sizeof binaries)) {
		int more = remove_same(binaries, f, "");
		removed = more < 0 ? more : removed + more;
	}
	free(f);
	if (removed < 0) {
		return cli_fail(w->a, win32_from_errno(removed), "cannot uninstall %s in %s", w->word, dir);
	}
	if (removed == 0) {
		fprintf(stderr, "openetw wevtutil: %s is not installed in %s\n", w->word, dir);
		return CLI_FAILED;
	}
	return CLI_OK;
}

void wevtutil_override(const char *path, const char *key, char *ret, size_t cap)
{
	char files[PATH_MAX + 8], line[1024];
	size_t n = strlen(key);
	ret[0] = 0;
	snprintf(files, sizeof files, "%s.files", path);
	FILE *f = fopen(files, "re");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, key, n) == 0 && line[n] == '=') {
			snprintf(ret, cap, "%s", line + n + 1);
		}
	}
	if (f) {
		fclose(f);
	}
}
