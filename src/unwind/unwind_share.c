/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_share.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define MAPS_BYTES   (64u << 20)
#define FILES_BYTES  (32u << 20)
#define TABLES_BYTES (512u << 20)
#define OPEN_MOST    512u
#define OPEN_LEAST   16u
#define OTHERS_FILES 256u /* descriptors of rings, sessions, sockets, … */
#define ROOT_PART    8u
#define WORK_NS      2000000000ull
#define WORK_PART    8u
#define NESTED_MAX   32u

void unwind_shares_init(struct unwind_shares *s)
{
	struct rlimit files;
	uint64_t most = OPEN_MOST;
	*s = (struct unwind_shares){
		.limit = {[UNWIND_MAPS] = MAPS_BYTES, [UNWIND_FILES] = FILES_BYTES, [UNWIND_TABLES] = TABLES_BYTES}};
	/* A fourth of the descriptors: a new session takes some for each processor. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
		uint64_t left = files.rlim_cur > OTHERS_FILES ? files.rlim_cur - OTHERS_FILES : 0;
		most = BASE_MIN(most, left / 4);
	}
	s->limit[UNWIND_OPEN] = BASE_MAX(most, (uint64_t)OPEN_LEAST);
}

void unwind_shares_finish(struct unwind_shares *s)
{
	MAP_ALL(&s->users, at) {
		free(map_pointer(&s->users, at));
	}
	map_free(&s->users);
}

struct unwind_user *unwind_share_user(struct unwind_shares *s, uint32_t uid)
{
	struct unwind_user *u = map_find_pointer(&s->users, uid);
	if (!u && (u = calloc(1, sizeof *u)) != NULL) {
		u->uid = uid;
		u->own = uid == 0 || uid == geteuid();
		TAILQ_INIT(&u->open);
		TAILQ_INIT(&u->idle);
		if (map_add_pointer(&s->users, uid, u) < 0) {
			free(u);
			u = NULL;
		}
	}
	return u;
}

bool unwind_share_take(struct unwind_shares *s, struct unwind_user *u, enum unwind_kind kind, uint64_t n)
{
	uint64_t limit = u->own ? s->limit[kind] : s->limit[kind] - s->limit[kind] / ROOT_PART;
	uint64_t left = limit > s->used[kind] ? limit - s->used[kind] : 0;
	if (n > left || (!u->own && u->used[kind] + n > left)) {
		return false;
	}
	u->used[kind] += n;
	s->used[kind] += n;
	return true;
}

void unwind_share_give(struct unwind_shares *s, struct unwind_user *u, enum unwind_kind kind, uint64_t n)
{
	u->used[kind] -= n;
	s->used[kind] -= n;
}

struct unwind_user *unwind_share_owing(struct unwind_shares *s, struct unwind_user *u, enum unwind_kind kind)
{
	struct unwind_user *most = u;
	if (u->own) {
		MAP_ALL(&s->users, at) {
			struct unwind_user *o = map_pointer(&s->users, at);
			most = o->used[kind] > most->used[kind] ? o : most;
		}
	}
	return most;
}

/* ---- time -------------------------------------------------------------------------------------- */

uint64_t unwind_work_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void forgive(struct unwind_user *u)
{
	uint64_t now = clock_read_system_ns(), since = now - u->work_at_ns;
	uint64_t earned = u->work_at_ns ? since / WORK_PART : 0;
	u->work_ns -= BASE_MIN(u->work_ns, earned);
	u->work_at_ns = now;
}

void unwind_work_add(struct unwind_user *u, uint64_t ns)
{
	forgive(u);
	u->work_ns += ns;
}

bool unwind_work_left(struct unwind_user *u)
{
	if (u->own || u->work_ns < WORK_NS) {
		return true;
	}
	forgive(u);
	return u->work_ns < WORK_NS;
}

/* ---- whose ------------------------------------------------------------------------------------- */

/* Its files in /proc are root's when it hides itself: this line says the truth. */
static uint32_t real_user(int dir)
{
	char status[4096];
	unsigned uid = UINT32_MAX;
	int fd = openat(dir, "status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, status, sizeof status - 1) : -1;
	status[n > 0 ? n : 0] = 0;
	const char *at = strstr(status, "\nUid:");
	if (!at || sscanf(at + 5, "%u", &uid) != 1) {
		uid = UINT32_MAX;
	}
	base_close(&fd);
	return uid;
}

/* Somebody who made a user name space has many user ids in it: they are all that user's. */
static uint32_t maker_of_namespace(int dir, uint32_t uid)
{
	struct stat ours, at;
	int ns = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	if (ns < 0 || stat("/proc/self/ns/user", &ours) < 0) {
		base_close(&ns);
		return uid;
	}
	for (unsigned i = 0; i < NESTED_MAX && fstat(ns, &at) == 0 && at.st_ino != ours.st_ino; i++) {
		uid_t maker;
		if (ioctl(ns, NS_GET_OWNER_UID, &maker) == 0) {
			uid = maker;
		}
		int parent = ioctl(ns, NS_GET_PARENT);
		close(ns);
		ns = parent;
		if (ns < 0) {
			break;
		}
	}
	base_close(&ns);
	return uid;
}

uint32_t unwind_owner_of(uint32_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%u", pid);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t uid = UINT32_MAX;
	if (dir >= 0) {
		uid = real_user(dir);
		uid = uid != UINT32_MAX ? maker_of_namespace(dir, uid) : uid;
		close(dir);
	}
	return uid;
}
