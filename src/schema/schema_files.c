/* SPDX-License-Identifier: MIT
 *
 * Files that describe providers: read by their content, and found by provider in the user's
 * directories. The directories are looked through once, and for each file only the GUIDs in it are
 * kept; a file is read when an event of one of its providers turns up.
 */
#include "base/datadir.h"
#include "base/vec.h"
#include "base/file.h"
#include "base/elf.h"
#include "format/schema_section.h"
#include "schema/catalogue.h"
#include "manifest/manifest_section.h"
#include "schema/schema_store.h"
#include "schema/wpp.h"

#include <dirent.h>
#include <stdio.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (64u << 20)
#define FILES_MAX      20000u

#ifndef OPENETW_DATADIR
#define OPENETW_DATADIR "/usr/local/share"
#endif

/* ---- one file --------------------------------------------------------------------------------- */

static int read_file(const char *path, uint8_t **ret, size_t *ret_n, struct diag *d)
{
	struct strbuf b = {0};
	int err = file_read(path, FILE_BYTES_MAX, &b);
	if (err == -EFBIG || err == -EINVAL || err == -EISDIR) {
		diag_at(d, UINT64_MAX, "not a regular file below 64 MB");
		err = -EBADMSG;
	} else if (err < 0) {
		diag_at(d, UINT64_MAX, "%s", strerror(-err));
	}
	if (err < 0) {
		strbuf_finish(&b);
		return err;
	}
	*ret = (uint8_t *)b.s;
	*ret_n = b.len;
	return 0;
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);
	return n > k && strcasecmp(path + n - k, suffix) == 0;
}

struct catalogue_load {
	const char *key;
	struct diag *diag;
	manifest_take_fn take;
	void *ctx;
};

static int load_section(void *ctx, const struct catalogue_section *s)
{
	const struct catalogue_load *l = ctx;
	struct manifest m;
	int err = catalogue_read_section(s, &m, l->diag);
	if (err < 0) {
		return err;
	}
	return l->take(l->ctx, &m, s->classic ? SCHEMA_SOURCE_WBEM : SCHEMA_SOURCE_XML, l->key);
}

static bool is_elf(const char *path)
{
	char magic[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool yes = fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;
	base_close(&fd);
	return yes;
}

/* The section alone: programs may be of any size. */
static int read_elf(const char *path, uint8_t **ret, size_t *ret_n, struct diag *d)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : elf_section_read(fd, SCHEMA_SECTION_NAME, SCHEMA_SECTION_BYTES_MAX, ret, ret_n);
	base_close(&fd);
	if (err == -ENOENT) {
		diag_at(d, UINT64_MAX, "this program carries no description of events (section %s)",
			SCHEMA_SECTION_NAME);
	} else if (err < 0) {
		diag_at(d, UINT64_MAX, err == -EBADMSG ? "damaged ELF file" : "%s", strerror(-err));
	}
	return err;
}

int schema_file_read(const char *path, manifest_take_fn take, void *ctx, struct diag *d)
{
	uint8_t *p;
	size_t n;
	struct manifest m;
	bool elf = is_elf(path);
	int err = elf ? read_elf(path, &p, &n, d) : read_file(path, &p, &n, d);
	if (err < 0) {
		return err;
	}
	if (elf || has_suffix(path, SCHEMA_SECTION_SUFFIX)) {
		err = manifest_read_section(p, n, take, ctx, path, d);
		if (err == -ENOENT) {
			diag_at(d, UINT64_MAX, "there is no description of events in it");
		}
	} else if (has_suffix(path, ".tmf")) {
		err = manifest_read_tmf(p, n, &m, d);
		if (err == 0) {
			err = take(ctx, &m, SCHEMA_SOURCE_WPP, path);
		}
	} else if (has_suffix(path, ".etwcat")) {
		struct catalogue_load l = {path, d, take, ctx};
		err = catalogue_each_section((const char *)p, n, load_section, &l);
	} else {
		bool pe = n > 2 && p[0] == 'M' && p[1] == 'Z';
		err = pe ? manifest_read_pe(p, n, &m, d) : manifest_read_xml(p, n, &m, d);
		if (err == 0) {
			err = take(ctx, &m, SCHEMA_SOURCE_XML, path);
		}
	}
	free(p);
	return err;
}

/* ---- which providers a file describes ---------------------------------------------------------- */

struct entry {
	struct guid guid;
	uint32_t order; /* what is loaded later goes before */
	bool messages;  /* of WPP: not a provider's GUID */
	const char *path;
};
#define DIRECTORIES_MAX 32u
static struct {
	pthread_rwlock_t lock; /* read while entries are looked at, taken after the process's lock */
	bool built;
	struct entry *entries; /* sorted by GUID */
	size_t count, cap;
	struct arena arena; /* paths */
	/* The directories, and when they last changed. */
	struct {
		char path[4096];
		struct timespec changed;
	} dir[DIRECTORIES_MAX];
	uint32_t dirs;
} files = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static void add_entry(const struct guid *g, const char *path, bool messages)
{
	if (!VEC_ROOM_UP_TO(files.entries, files.count, files.cap, 8 * FILES_MAX)) {
		return;
	}
	files.entries[files.count] = (struct entry){*g, (uint32_t)files.count, messages, path};
	files.count++;
}

static int index_section(void *ctx, const struct catalogue_section *s)
{
	add_entry(&s->guid, ctx, false);
	return 0;
}

/* GUIDs behind `guid=` in the text of a manifest, with `step` bytes for a character. */
static void index_text(const uint8_t *p, size_t n, size_t step, const char *path)
{
	static const char word[] = "guid=";
	for (size_t i = 0; i + (5 + 39) * step <= n; i += step) {
		size_t k = 0;
		while (k < 5 && (p[i + k * step] | 0x20) == (word[k] | 0x20)) {
			k++;
		}
		if (k < 5) {
			continue;
		}
		char text[40];
		for (k = 0; k < 38; k++) {
			text[k] = (char)p[i + (6 + k) * step];
		}
		text[38] = 0;
		struct guid g;
		bool braces = text[0] == '{';
		text[braces ? 38 : 36] = 0;
		if (guid_parse(text, &g) == 0) {
			add_entry(&g, path, false);
		}
	}
}

static int index_manifest(void *ctx, struct manifest *m, enum schema_source source, const char *key)
{
	for (const struct manifest_provider *q = m->providers; q; q = q->next) {
		add_entry(&q->guid, ctx, source == SCHEMA_SOURCE_WPP);
	}
	manifest_finish(m);
	return 0;
}

static void index_file(const char *path)
{
	uint8_t *p;
	size_t n;
	const char *own = arena_text(&files.arena, path, strlen(path));
	if (!own) {
		return;
	}
	if (has_suffix(path, ".dll") || has_suffix(path, ".exe") || has_suffix(path, ".sys") ||
	    has_suffix(path, ".mui") || has_suffix(path, ".tmf") || has_suffix(path, SCHEMA_SECTION_SUFFIX)) {
		schema_file_read(path, index_manifest, (void *)(uintptr_t)own, NULL);
	} else if (has_suffix(path, ".man") || has_suffix(path, ".xml") || has_suffix(path, ".etwcat")) {
		if (read_file(path, &p, &n, NULL) < 0) {
			return;
		}
		if (has_suffix(path, ".etwcat")) {
			catalogue_each_section((const char *)p, n, index_section, (void *)(uintptr_t)own);
		} else {
			bool wide = n > 2 && (p[0] == 0xFF || p[0] == 0xFE || !p[0] || !p[1]);
			bool big = wide && (p[0] == 0xFE || p[0] == 0);
			index_text(p + big, n - big, wide ? 2 : 1, own);
		}
		free(p);
	}
}

struct found {
	char *path;
	struct timespec changed;
};

static int by_change(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	return x->changed.tv_sec != y->changed.tv_sec     ? (x->changed.tv_sec < y->changed.tv_sec ? -1 : 1)
	       : x->changed.tv_nsec != y->changed.tv_nsec ? (x->changed.tv_nsec < y->changed.tv_nsec ? -1 : 1)
							  : strcmp(x->path, y->path);
}

static struct timespec changed_at(const char *dir)
{
	struct stat st;
	return stat(dir, &st) == 0 ? st.st_mtim : (struct timespec){0};
}

/* The newest file of a directory goes before older ones that describe the same provider. */
static void index_directory(const char *dir)
{
	struct found *list = NULL;
	size_t count = 0, cap = 0;
	if (files.dirs < DIRECTORIES_MAX && strlen(dir) < sizeof files.dir[0].path) {
		strcpy(files.dir[files.dirs].path, dir);
		files.dir[files.dirs++].changed = changed_at(dir);
	}
	DIR *d = opendir(dir);
	for (struct dirent *e; d && count < FILES_MAX && (e = readdir(d));) {
		char path[4096];
		struct stat st;
		int n = snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (e->d_name[0] == '.' || n <= 0 || (size_t)n >= sizeof path || stat(path, &st) < 0) {
			continue;
		}
		if (!VEC_ROOM(list, count, cap)) {
			break;
		}
		list[count] = (struct found){strdup(path), st.st_mtim};
		count += list[count].path != NULL;
	}
	if (d) {
		closedir(d);
	}
	if (count) {
		qsort(list, count, sizeof *list, by_change);
	}
	for (size_t i = 0; i < count; i++) {
		index_file(list[i].path);
		free(list[i].path);
	}
	free(list);
}

static int by_guid(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = memcmp(&x->guid, &y->guid, sizeof x->guid);
	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

/* From what goes last to what goes before all others. */
static void index_all_locked(void)
{
	char dir[4096];
	arena_finish(&files.arena);
	files.count = 0;
	files.dirs = 0;
	files.built = true;
	arena_init(&files.arena, 64u << 20);
	static const char *const parts[] = {DATADIR_BINARIES, DATADIR_MANIFESTS};
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		for (int machine = 1; machine >= 0; machine--) {
			if (machine && i == 1) {
				index_directory(OPENETW_DATADIR "/openetw/manifests");
			}
			if (datadir_path(machine, parts[i], dir, sizeof dir)) {
				index_directory(dir);
			}
		}
	}
	/* A set-user-id program does not read what its caller's environment names. */
	const char *list = secure_getenv("OPENETW_CATALOGUE");
	for (; list && *list; list += strcspn(list, ":") + (list[strcspn(list, ":")] == ':')) {
		size_t n = strcspn(list, ":");
		if (n > 0 && n < sizeof dir) {
			memcpy(dir, list, n);
			dir[n] = 0;
			index_directory(dir);
		}
	}
	if (files.count) {
		qsort(files.entries, files.count, sizeof *files.entries, by_guid);
	}
}

static void read_lock(void)
{
	pthread_rwlock_rdlock(&files.lock);
	while (!files.built) {
		pthread_rwlock_unlock(&files.lock);
		pthread_rwlock_wrlock(&files.lock);
		if (!files.built) {
			index_all_locked();
		}
		pthread_rwlock_unlock(&files.lock);
		pthread_rwlock_rdlock(&files.lock);
	}
}

bool schema_files_refresh(void)
{
	pthread_rwlock_wrlock(&files.lock);
	bool changed = !files.built;
	for (uint32_t i = 0; i < files.dirs && !changed; i++) {
		struct timespec t = changed_at(files.dir[i].path);
		changed = t.tv_sec != files.dir[i].changed.tv_sec || t.tv_nsec != files.dir[i].changed.tv_nsec;
	}
	if (changed) {
		index_all_locked();
	}
	pthread_rwlock_unlock(&files.lock);
	return changed;
}

int schema_files_of(const struct guid *g, schema_file_fn fn, void *ctx)
{
	read_lock();
	int stop = 0;
	const char *last = NULL;
	size_t low = 0, high = files.count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (memcmp(&files.entries[mid].guid, g, sizeof *g) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (; low < files.count && stop == 0 && guid_equal(&files.entries[low].guid, g); low++) {
		if (files.entries[low].path != last) {
			last = files.entries[low].path;
			stop = fn(ctx, last);
		}
	}
	pthread_rwlock_unlock(&files.lock);
	return stop;
}

int schema_files_each(int (*fn)(void *ctx, const struct guid *g), void *ctx)
{
	read_lock();
	int stop = 0;
	for (size_t i = 0; i < files.count && stop == 0; i++) {
		if (!files.entries[i].messages) {
			stop = fn(ctx, &files.entries[i].guid);
		}
	}
	pthread_rwlock_unlock(&files.lock);
	return stop;
}
