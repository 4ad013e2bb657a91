/* SPDX-License-Identifier: MIT */
#include "tools/common/unpacked.h"

#include "tools/common/archive.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define OUTPUT_MAX (64ull << 30) /* more than any trace */
#define MEMORY_MAX (1ull << 30)  /* where no directory takes files without a name */
#define FREE_PART  16u           /* this part of a file system is left to others */

struct unpacked {
	struct unpacked *next;
	struct stat from; /* the archive */
	bool damaged;
	int fd;
	char path[32];
	char name[]; /* of the archive, as the user gave it */
};
/* Of the two lists: threads that make tables open traces, too. Held while an archive is unpacked: whoever wants it as well waits for it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unpacked *all;

struct cli_unpacked_hold {
	struct cli_unpacked_hold *next;
	struct unpacked *archive; /* NULL: it is none, or was not read */
	int fd;
	char path[32];
	char name[];
};
static struct cli_unpacked_hold *holds;

static struct cli_unpacked_hold *find_hold(const char *name)
{
	struct cli_unpacked_hold *h = holds;
	while (h && strcmp(h->name, name) != 0) {
		h = h->next;
	}
	return h;
}

/* What was written since is another file. */
static struct unpacked *find(const struct stat *st)
{
	struct unpacked *u = all;
	while (u && !(u->from.st_dev == st->st_dev && u->from.st_ino == st->st_ino && u->from.st_size == st->st_size &&
		      u->from.st_mtim.tv_sec == st->st_mtim.tv_sec && u->from.st_mtim.tv_nsec == st->st_mtim.tv_nsec)) {
		u = u->next;
	}
	return u;
}

/* A file without a name. Descriptor or -errno. */
static int scratch_file(uint64_t *ret_most_bytes)
{
	const char *dirs[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(dirs); i++) {
		struct statvfs v;
		int fd = dirs[i] ? open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
		if (fd >= 0 && fstatvfs(fd, &v) == 0) {
			uint64_t left = v.f_bavail - BASE_MIN(v.f_bavail, v.f_blocks / FREE_PART);
			*ret_most_bytes = BASE_MIN(left, OUTPUT_MAX / v.f_frsize) * v.f_frsize;
			return fd;
		}
		base_close(&fd);
	}
	int fd = memfd_create("trace", MFD_CLOEXEC);
	*ret_most_bytes = MEMORY_MAX;
	return fd < 0 ? -errno : fd;
}

static bool progress(void *ctx, unsigned percent, uint64_t bytes)
{
	char size[32];
	cli_size_text(bytes, size, sizeof size);
	cli_progress_show(ctx, "%3u%%  unpacking, %s", percent, size);
	return !cli_signal_caught();
}

static struct unpacked *unpack(const struct cli_args *a, int in, const char *path, const char *kind,
			       const struct stat *st)
{
	struct diag d;
	struct cli_archive_result r;
	struct cli_progress p;
	uint64_t most_bytes;
	diag_clear(&d);
	struct unpacked *u = calloc(1, sizeof *u + strlen(path) + 1);
	int fd = u ? scratch_file(&most_bytes) : -ENOMEM;
	int err = fd;
	if (fd >= 0) {
		cli_progress_start(&p, true);
		err = cli_archive_unpack(in, fd, most_bytes, progress, &p, &r, &d);
		cli_progress_end(&p);
	}
	if (err < 0) {
		fprintf(stderr, "openetw %s: cannot read %s, a %s: %s\n", a->command->name, path, kind,
			d.text[0] ? d.text : strerror(-err));
		base_close(&fd);
		free(u);
		return NULL;
	}
	if (r.damage[0]) {
		fprintf(stderr, "openetw %s: %s: %s\n", a->command->name, path, r.damage);
	}
	if (r.traces > 1) {
		fprintf(stderr, "openetw %s: %s has %u traces; only the first is read: %s\n", a->command->name, path,
			r.traces, r.member);
	}
	u->from = *st;
	u->damaged = r.damage[0] != 0;
	u->fd = fd;
	snprintf(u->path, sizeof u->path, "/proc/self/fd/%d", fd);
	strcpy(u->name, path);
	u->next = all;
	all = u;
	return u;
}

static const char *unpacked_locked(const struct cli_args *a, const char *path)
{
	uint8_t p[CLI_ARCHIVE_PEEK_BYTES];
	struct stat st;
	struct cli_unpacked_hold *h = find_hold(path);
	const char *ret = h ? h->path : path;
	/* Not blocking: whoever opens a FIFO next says that it is no trace. */
	int fd = open(ret, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		base_close(&fd);
		return ret;
	}
	ssize_t n = pread(fd, p, sizeof p, 0);
	const char *kind = n > 0 ? cli_archive_kind(p, (size_t)n) : NULL;
	if (kind) {
		struct unpacked *u = find(&st);
		u = u ? u : unpack(a, fd, path, kind, &st);
		ret = u ? u->path : NULL;
		if (h) {
			h->archive = u;
		}
	}
	close(fd);
	return ret;
}

const char *cli_unpacked(const struct cli_args *a, const char *path)
{
	pthread_mutex_lock(&lock);
	const char *ret = unpacked_locked(a, path);
	pthread_mutex_unlock(&lock);
	return ret;
}

struct cli_unpacked_hold *cli_unpacked_hold(const char *name, int fd)
{
	struct cli_unpacked_hold *h = calloc(1, sizeof *h + strlen(name) + 1);
	if (!h) {
		base_close(&fd);
		return NULL;
	}
	h->fd = fd;
	snprintf(h->path, sizeof h->path, "/proc/self/fd/%d", fd);
	strcpy(h->name, name);
	pthread_mutex_lock(&lock);
	h->next = holds;
	holds = h;
	pthread_mutex_unlock(&lock);
	return h;
}

bool cli_unpacked_take_held(const struct cli_args *a)
{
	const char *list = secure_getenv(CLI_HELD);
	int count = list != NULL, at;
	for (const char *p = list; p && *p; p++) {
		count += *p == ',';
	}
	at = a->count - count;
	bool ok = at >= 0;
	for (const char *p = list; ok && p; at++) {
		char *end;
		long fd = strtol(p, &end, 10);
		ok = end > p && (*end == ',' || *end == 0) && fd > 2 && fd < INT_MAX &&
		     fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0 && cli_unpacked_hold(a->words[at], (int)fd);
		p = *end == ',' ? end + 1 : NULL;
	}
	unsetenv(CLI_HELD);
	if (!ok) {
		cli_tell(a, CLI_HELD " does not name open descriptors of the last words of the command line");
	}
	return ok;
}

static void forget(struct unpacked *u)
{
	struct unpacked **at = &all;
	for (const struct cli_unpacked_hold *h = holds; h; h = h->next) {
		if (h->archive == u) {
			return;
		}
	}
	while (*at != u) {
		at = &(*at)->next;
	}
	*at = u->next;
	base_close(&u->fd);
	free(u);
}

void cli_unpacked_release(struct cli_unpacked_hold *h)
{
	struct cli_unpacked_hold **at = &holds;
	if (!h) {
		return;
	}
	pthread_mutex_lock(&lock);
	while (*at != h) {
		at = &(*at)->next;
	}
	*at = h->next;
	if (h->archive) {
		forget(h->archive);
	}
	pthread_mutex_unlock(&lock);
	base_close(&h->fd);
	free(h);
}

bool cli_unpacked_damaged(const char *path)
{
	struct stat st;
	pthread_mutex_lock(&lock);
	const struct cli_unpacked_hold *h = find_hold(path);
	const struct unpacked *u = stat(h ? h->path : path, &st) == 0 ? find(&st) : NULL;
	bool damaged = u && u->damaged;
	pthread_mutex_unlock(&lock);
	return damaged;
}

/* "PATH: why" with a name instead. False: it is about another path. */
static bool rename_error(const char *why, const char *path, const char *name, char *buf, size_t cap)
{
	size_t n = strlen(path);
	if (strncmp(why, path, n) != 0 || why[n] != ':') {
		return false;
	}
	snprintf(buf, cap, "%s%s", name, why + n);
	return true;
}

const char *cli_unpacked_error(const char *why, char *buf, size_t cap)
{
	bool renamed = false;
	pthread_mutex_lock(&lock);
	for (const struct unpacked *u = why ? all : NULL; u && !renamed; u = u->next) {
		renamed = rename_error(why, u->path, u->name, buf, cap);
	}
	for (const struct cli_unpacked_hold *h = why ? holds : NULL; h && !renamed; h = h->next) {
		renamed = rename_error(why, h->path, h->name, buf, cap);
	}
	pthread_mutex_unlock(&lock);
	return renamed ? buf : why;
}
