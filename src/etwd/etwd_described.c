/* SPDX-License-Identifier: MIT
 *
 * Programs that carry the description of their events: its section is copied into the user's data
 * directory (base/datadir.h), where every decoder looks, in a file named after its content. So
 * traces are understood after the program was rebuilt or removed. Nothing in the section is
 * believed or even read here.
 *
 * Only of the daemon's own user: what lies in a user's directory decides what that user is shown.
 */
#include "base/datadir.h"
#include "base/elf.h"
#include "base/open_foreign.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "format/schema_section.h"
#include "proto/proto.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define TOLD_MAX 64u   /* of a process */
#define KEPT_MAX 1000u /* files; the oldest goes */
#define SEEN_MAX 64u
#define WAIT_S   5

struct described_job {
	struct job job;
	bool machine;
	bool written;
	int result;
	pid_t pid;
	char path[PATH_MAX];
};

/* What was copied lately: thousands of processes may be of one program. */
struct seen {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};
static struct {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	uint32_t running;
	struct seen seen[SEEN_MAX];
	uint32_t next;
} shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

static bool was_seen(const struct stat *st)
{
	bool yes = false;
	pthread_mutex_lock(&shared.lock);
	for (uint32_t i = 0; i < SEEN_MAX && !yes; i++) {
		const struct seen *s = &shared.seen[i];
		yes = s->ino == st->st_ino && s->dev == st->st_dev && s->size == st->st_size &&
		      s->changed.tv_sec == st->st_mtim.tv_sec && s->changed.tv_nsec == st->st_mtim.tv_nsec;
	}
	pthread_mutex_unlock(&shared.lock);
	return yes;
}

static void remember(const struct stat *st)
{
	pthread_mutex_lock(&shared.lock);
	shared.seen[shared.next++ % SEEN_MAX] = (struct seen){st->st_dev, st->st_ino, st->st_size, st->st_mtim};
	pthread_mutex_unlock(&shared.lock);
}

/* One too many: the oldest goes. */
static void make_room(const char *dir)
{
	char oldest[PATH_MAX] = "";
	struct timespec when = {0};
	uint32_t count = 0;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			continue;
		}
		if (count++ == 0 || st.st_mtim.tv_sec < when.tv_sec) {
			when = st.st_mtim;
			snprintf(oldest, sizeof oldest, "%s", e->d_name);
		}
	}
	if (d && count > KEPT_MAX) {
		unlinkat(dirfd(d), oldest, 0);
	}
	if (d) {
		closedir(d);
	}
}

static int write_whole(const char *path, const uint8_t *p, size_t n, bool machine)
{
	char temp[PATH_MAX];
	int k = snprintf(temp, sizeof temp, "%s.part%d", path, (int)gettid());
	if (k < 0 || (size_t)k >= sizeof temp) {
		return -ENAMETOOLONG;
	}
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, machine ? 0644 : 0600);
	if (fd < 0) {
		return -errno;
	}
	int err = machine && fchmod(fd, 0644) < 0 ? -errno : 0; /* whatever our umask */
	while (n > 0 && err == 0) {
		ssize_t put = write(fd, p, n);
		err = put < 0 ? -errno : 0;
		p += put > 0 ? put : 0;
		n -= put > 0 ? (size_t)put : 0;
	}
	close(fd);
	if (err == 0 && rename(temp, path) < 0) {
		err = -errno;
	}
	if (err < 0) {
		unlink(temp);
	}
	return err;
}

static int copy_section(struct described_job *j, int fd)
{
	char dir[PATH_MAX - 100], path[PATH_MAX], name[41];
	uint8_t *p, digest[20];
	size_t n;
	int err = elf_section_read(fd, SCHEMA_SECTION_NAME, SCHEMA_SECTION_BYTES_MAX, &p, &n);
	if (err < 0) {
		return err;
	}
	sha1(p, n, digest);
	for (size_t i = 0; i < sizeof digest; i++) {
		snprintf(name + 2 * i, 3, "%02x", digest[i]);
	}
	if (!datadir_path(j->machine, DATADIR_BINARIES, dir, sizeof dir)) {
		free(p);
		return -ENOENT;
	}
	snprintf(path, sizeof path, "%s/%s" SCHEMA_SECTION_SUFFIX, dir, name);
	/* Of the same content already: it is the newest again. */
	if (utimensat(AT_FDCWD, path, NULL, 0) < 0) {
		err = datadir_make(dir, j->machine);
		err = err < 0 ? err : write_whole(path, p, n, j->machine);
		j->written = err == 0;
		make_room(dir);
	}
	free(p);
	return err;
}

static void described_run(struct job *job)
{
	struct described_job *j = (struct described_job *)job;
	struct stat st;
	/* As the process sees it, which may be another root; it may also have ended by now. */
	int root = open_foreign_root((uint32_t)j->pid);
	int fd = root >= 0 ? open_foreign(root, j->path, 0, &st) : -1;
	if (fd < 0) {
		fd = open_foreign(-1, j->path, 0, &st);
	}
	base_close(&root);
	j->result = fd < 0 ? fd : 0;
	if (j->result == 0 && !was_seen(&st)) {
		j->result = copy_section(j, fd);
		if (j->result == 0) {
			remember(&st);
		}
	}
	base_close(&fd);
	pthread_mutex_lock(&shared.lock);
	if (--shared.running == 0) {
		pthread_cond_broadcast(&shared.idle);
	}
	pthread_mutex_unlock(&shared.lock);
}

static void described_done(struct etwd *d, struct job *job)
{
	const struct described_job *j = (const struct described_job *)job;
	if (j->written) {
		etwd_log(d, "Took the description of events out of %s", j->path);
	} else if (j->result < 0 && j->result != -ENOENT) {
		etwd_log(d, "Cannot take the description of events out of %s: %s", j->path, strerror(-j->result));
	}
}

void etwd_described(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct process *p = c->process;
	if (c->uid != d->uid || p->described >= TOLD_MAX || d->jobs_running >= ETWD_JOBS_MAX / 2) {
		return;
	}
	struct described_job *j = calloc(1, sizeof *j);
	if (!j || !proto_get_str(m, PROTO_TAG_PATH, j->path, sizeof j->path) || j->path[0] != '/') {
		free(j);
		return;
	}
	p->described++;
	j->job = (struct job){.run = described_run, .done = described_done};
	j->machine = d->system;
	j->pid = c->pid;
	pthread_mutex_lock(&shared.lock);
	shared.running++;
	pthread_mutex_unlock(&shared.lock);
	etwd_job_start(d, &j->job);
}

void etwd_described_wait(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&shared.lock);
	int err = 0;
	while (shared.running > 0 && err == 0) {
		err = pthread_cond_timedwait(&shared.idle, &shared.lock, &until);
	}
	pthread_mutex_unlock(&shared.lock);
}
