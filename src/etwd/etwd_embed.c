/* SPDX-License-Identifier: MIT
 *
 * What the events of finished files mean is written into these by a program of its own, `openetw
 * describe`: the daemon reads no schemas. A controller that stops a session does it by itself; here are
 * the files that nobody waits for: of sessions that end by themselves, all but the last of a row of new
 * files, snapshots of rings, and those that an earlier etwd left when it was killed.
 *
 * For the last kind each open log file has a note in the runtime directory, a file with the path in it.
 *
 * Called by the loop, by jobs and by file threads.
 */
#include "etwd/etwd.h"
#include "base/quiet_thread.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_session.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define NOTES_DIR   "open"
#define WAITING_MAX 1000u /* files; more are made only when describing is slower than recording */
#define WAIT_S      30

extern char **environ;

struct waiting {
	STAILQ_ENTRY(waiting) link;
	bool left; /* by an earlier etwd */
	char path[];
};
static struct {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	STAILQ_HEAD(, waiting) list;
	uint32_t count;            /* in the list, or with the helper */
	uint32_t left;             /* of them, by an earlier etwd */
	bool running;              /* a thread works on it */
	const struct waiting *now; /* what the helper is at */
	char dir[600];             /* of notes; empty: nothing happens here */
	char program[4200];
} shared = {PTHREAD_MUTEX_INITIALIZER,
	    PTHREAD_COND_INITIALIZER,
	    STAILQ_HEAD_INITIALIZER(shared.list),
	    0,
	    0,
	    false,
	    NULL,
	    "",
	    ""};

/* ---- notes ------------------------------------------------------------------------------------ */

static bool note_name(const char *path, char *out, size_t cap)
{
	uint8_t digest[20];
	char name[41];
	sha1(path, strlen(path), digest);
	for (size_t i = 0; i < sizeof digest; i++) {
		snprintf(name + 2 * i, 3, "%02x", digest[i]);
	}
	int n = snprintf(out, cap, "%s/%s", shared.dir, name);
	return n > 0 && (size_t)n < cap;
}

static void note_write(const char *path)
{
	char name[700];
	int fd = note_name(path, name, sizeof name)
			 ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)
			 : -1;
	if (fd >= 0 && write(fd, path, strlen(path)) < 0) {
		unlink(name);
	}
	base_close(&fd);
}

static void note_remove(const char *path)
{
	char name[700];
	if (note_name(path, name, sizeof name)) {
		unlink(name);
	}
}

/* ---- the helper ------------------------------------------------------------------------------- */

/* The file is opened here, where there is the right to: the helper has this one, and none to others. */
static void describe(const char *path)
{
	char *argv[] = {(char *)(uintptr_t) "openetw", (char *)(uintptr_t) "describe",
			(char *)(uintptr_t) "--quiet", (char *)(uintptr_t) "--descriptor",
			(char *)(uintptr_t) "3",       NULL};
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		(void)etwd_program_run(shared.program, argv, environ,
				       fd); /* without it the file is as good as before */
	}
	base_close(&fd);
}

static void *work(void *arg)
{
	pthread_setname_np(pthread_self(), "etwd-describe");
	pthread_mutex_lock(&shared.lock);
	for (struct waiting *w; (w = STAILQ_FIRST(&shared.list)) != NULL;) {
		STAILQ_REMOVE_HEAD(&shared.list, link);
		shared.now = w;
		pthread_mutex_unlock(&shared.lock);
		/* What the programs in it said about themselves is to be there. */
		etwd_described_wait();
		describe(w->path);
		note_remove(w->path);
		bool left = w->left;
		pthread_mutex_lock(&shared.lock);
		shared.now = NULL;
		free(w);
		shared.count--;
		shared.left -= left;
		pthread_cond_broadcast(&shared.idle);
	}
	shared.running = false;
	pthread_cond_broadcast(&shared.idle);
	pthread_mutex_unlock(&shared.lock);
	return NULL;
}

static void enqueue(const char *path, bool left)
{
	size_t n = strlen(path) + 1;
	struct waiting *w = shared.program[0] ? malloc(sizeof *w + n) : NULL;
	if (!w) {
		note_remove(path);
		return;
	}
	memcpy(w->path, path, n);
	w->left = left;
	pthread_mutex_lock(&shared.lock);
	bool room = shared.count < WAITING_MAX;
	if (room) {
		STAILQ_INSERT_TAIL(&shared.list, w, link);
		shared.count++;
		shared.left += left;
	}
	if (room && !shared.running) {
		shared.running = quiet_thread_start(NULL, work, NULL) == 0;
		if (!shared.running) { /* the next one takes it along, or the next etwd */
			STAILQ_REMOVE(&shared.list, w, waiting, link);
			shared.count--;
			shared.left -= left;
			room = false;
		}
	}
	pthread_mutex_unlock(&shared.lock);
	if (!room) {
		free(w);
	}
}

/* ---- for the others --------------------------------------------------------------------------- */

void etwd_embed_on_file(void *ctx, const char *path, enum sink_file_event event)
{
	if (event == SINK_FILE_OPENED) {
		etwd_images_file(ctx);
	}
	if (!shared.dir[0]) {
		return;
	}
	if (event == SINK_FILE_OPENED) {
		note_write(path);
	} else if (event == SINK_FILE_FINISHED) {
		enqueue(path, false);
	} else if (event == SINK_FILE_GONE) {
		note_remove(path);
	} else {
		/* Read when the sink has ended, by the job that ends it. */
		struct session *s = ctx;
		free(s->last_file);
		s->last_file = strdup(path);
	}
}

void etwd_embed_last(const char *path, bool by_controller)
{
	if (!shared.dir[0]) {
		return;
	}
	if (by_controller) {
		note_remove(path);
	} else {
		enqueue(path, false);
		etwd_embed_wait(false);
	}
}

static struct timespec patience(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	return until;
}

static bool busy_with(const char *path)
{
	const struct waiting *w;
	if (shared.now && strcmp(shared.now->path, path) == 0) {
		return true;
	}
	STAILQ_FOREACH(w, &shared.list, link) {
		if (strcmp(w->path, path) == 0) {
			return true;
		}
	}
	return false;
}

void etwd_embed_wait_for(const char *path)
{
	struct timespec until = patience();
	pthread_mutex_lock(&shared.lock);
	int err = 0;
	while (busy_with(path) && err == 0) {
		err = pthread_cond_timedwait(&shared.idle, &shared.lock, &until);
	}
	pthread_mutex_unlock(&shared.lock);
}

void etwd_embed_wait(bool left_only)
{
	struct timespec until = patience();
	pthread_mutex_lock(&shared.lock);
	int err = 0;
	while ((left_only ? shared.left > 0 : shared.running) && err == 0) {
		err = pthread_cond_timedwait(&shared.idle, &shared.lock, &until);
	}
	pthread_mutex_unlock(&shared.lock);
}

void etwd_embed_start(struct etwd *d)
{
	char path[PATH_MAX];
	int n = snprintf(shared.dir, sizeof shared.dir, "%s/" NOTES_DIR, d->dir);
	if (n < 0 || (size_t)n >= sizeof shared.dir || (mkdir(shared.dir, 0700) < 0 && errno != EEXIST)) {
		shared.dir[0] = 0;
		return;
	}
	if (!etwd_program_find_cli(shared.program, sizeof shared.program)) {
		shared.program[0] = 0;
		etwd_log(d, "No openetw beside etwd: files of sessions that end by themselves do not say what "
			    "their events mean");
	}
	DIR *dir = opendir(shared.dir);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		int fd = e->d_name[0] == '.' ? -1 : openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		ssize_t bytes = fd >= 0 ? read(fd, path, sizeof path - 1) : -1;
		base_close(&fd);
		if (bytes > 0 && path[0] == '/') {
			path[bytes] = 0;
			etwd_log(d, "An earlier etwd left %s, its events are described now", path);
			enqueue(path, true);
		} else if (e->d_name[0] != '.') {
			unlinkat(dirfd(dir), e->d_name, 0);
		}
	}
	if (dir) {
		closedir(dir);
	}
}
