/* SPDX-License-Identifier: MIT */
#include "tools/common/unpacked.h"

#include "tools/common/archive.h"

#include <fcntl.h>
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
	char path[32];
	char name[]; /* of the archive, as the user gave it */
};
static struct unpacked *all;

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
	snprintf(u->path, sizeof u->path, "/proc/self/fd/%d", fd);
	strcpy(u->name, path);
	u->next = all;
	all = u;
	return u;
}

const char *cli_unpacked(const struct cli_args *a, const char *path)
{
	uint8_t p[CLI_ARCHIVE_PEEK_BYTES];
	struct stat st;
	/* Not blocking: whoever opens a FIFO next says that it is no trace. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		base_close(&fd);
		return path;
	}
	ssize_t n = pread(fd, p, sizeof p, 0);
	const char *kind = n > 0 ? cli_archive_kind(p, (size_t)n) : NULL;
	const char *ret = path;
	if (kind) {
		struct unpacked *u = find(&st);
		u = u ? u : unpack(a, fd, path, kind, &st);
		ret = u ? u->path : NULL;
	}
	close(fd);
	return ret;
}

bool cli_unpacked_damaged(const char *path)
{
	struct stat st;
	const struct unpacked *u = stat(path, &st) == 0 ? find(&st) : NULL;
	return u && u->damaged;
}

const char *cli_unpacked_error(const char *why, char *buf, size_t cap)
{
	for (const struct unpacked *u = why ? all : NULL; u; u = u->next) {
		size_t n = strlen(u->path);
		if (strncmp(why, u->path, n) == 0 && why[n] == ':') {
			snprintf(buf, cap, "%s%s", u->name, why + n);
			return buf;
		}
	}
	return why;
}
