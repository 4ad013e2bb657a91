/* SPDX-License-Identifier: MIT
 *
 *   $XDG_RUNTIME_DIR/openetw   where that directory is the user's and nobody else may write to it
 *   /run/user/UID/openetw      where the system keeps such a directory
 *   /tmp/openetw-UID           where it does not; the first program makes it, and then only the user can remove it
 *
 * Another user may have made the last one before. Then, for good, it is one that nobody else can make:
 *
 *   HOME/.local/state/openetw/run-HOST
 *   /tmp/openetw-UID-1, -2 …   for users without a home: the lowest that is theirs, else the lowest that is free
 *
 * One that exists and is the user's goes before one that would have to be made, so that all programs find
 * the same, also when the other user has removed theirs.
 */
#include "base/runtime_dir.h"

#include "base/account.h"
#include "base/datadir.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>

/* Whoever wants to leave no number free must make so many directories. */
#define NUMBERS_MAX 1000000u

enum found { FREE, OURS, FOREIGN };

/* Is it a directory that the user alone can change? Never through a link. */
static enum found look(const char *path, uid_t uid, uid_t *ret_owner)
{
	struct stat st;
	if (lstat(path, &st) < 0) {
		return errno == ENOENT ? FREE : FOREIGN;
	}
	*ret_owner = st.st_uid;
	return S_ISDIR(st.st_mode) && st.st_uid == uid && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? OURS : FOREIGN;
}

static bool is_safe(const char *path, uid_t uid)
{
	uid_t owner;
	return look(path, uid, &owner) == OURS;
}

/* Sockets have short names. */
static bool fits(int n, size_t cap)
{
	return n > 0 && (size_t)n < cap &&
	       (size_t)n + sizeof "/provider" <= sizeof(((struct sockaddr_un *)0)->sun_path);
}

static int made(const char *path, uid_t uid, bool create)
{
	uid_t owner;
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST) {
		return -errno;
	}
	enum found f = look(path, uid, &owner);
	return f == OURS ? 0 : f == FREE ? -ENOENT : -EPERM;
}

/* Below a directory that is the user's. */
static bool below(const char *dir, uid_t uid, char *out, size_t cap)
{
	return dir && dir[0] == '/' && is_safe(dir, uid) && fits(snprintf(out, cap, "%s/openetw", dir), cap);
}

static bool home_place(const struct runtime_places *p, char *out, size_t cap)
{
	struct stat st;
	char home[256];
	return p->home(p->uid, home, sizeof home) && stat(home, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == p->uid && fits(snprintf(out, cap, "%s/.local/state/openetw/run-%s", home, p->host), cap);
}

static bool numbered(const struct runtime_places *p, unsigned n, char *out, size_t cap)
{
	return fits(snprintf(out, cap, "%s/openetw-%u-%u", p->tmp, (unsigned)p->uid, n), cap);
}

/* The lowest number that is the user's; others may have many. */
static bool find_numbered(const struct runtime_places *p, char *out, size_t cap)
{
	char prefix[32];
	unsigned long lowest = ULONG_MAX;
	int len = snprintf(prefix, sizeof prefix, "openetw-%u-", (unsigned)p->uid);
	DIR *dir = opendir(p->tmp);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (strncmp(e->d_name, prefix, (size_t)len) != 0) {
			continue;
		}
		unsigned long n = strtoul(e->d_name + len, NULL, 10);
		if (n != 0 && n < lowest && n <= NUMBERS_MAX && numbered(p, (unsigned)n, out, cap) &&
		    strcmp(strrchr(out, '/') + 1, e->d_name) == 0 && is_safe(out, p->uid)) {
			lowest = n;
		}
	}
	if (dir) {
		closedir(dir);
	}
	return lowest != ULONG_MAX && numbered(p, (unsigned)lowest, out, cap);
}

/* One that is there. */
static bool find_other(const struct runtime_places *p, char *out, size_t cap)
{
	return (home_place(p, out, cap) && is_safe(out, p->uid)) || find_numbered(p, out, cap);
}

static int make_other(const struct runtime_places *p, char *out, size_t cap)
{
	if (home_place(p, out, cap) && datadir_make(out, false) == 0 && is_safe(out, p->uid)) {
		return 0;
	}
	int r = -EPERM;
	for (unsigned i = 1; r == -EPERM && i <= NUMBERS_MAX && numbered(p, i, out, cap); i++) {
		r = made(out, p->uid, true);
	}
	return r;
}

int runtime_dir_choose(const struct runtime_places *p, bool create, char *out, size_t cap, char *note, size_t note_cap)
{
	char run[64], usual[64];
	uid_t owner = p->uid;
	snprintf(run, sizeof run, "%s/%u", p->run_user, (unsigned)p->uid);
	if (note) {
		note[0] = 0;
	}
	if (below(p->xdg, p->uid, out, cap) || below(run, p->uid, out, cap)) {
		return made(out, p->uid, create);
	}
	int n = snprintf(usual, sizeof usual, "%s/openetw-%u", p->tmp, (unsigned)p->uid);
	if (!fits(n, cap)) {
		return -ENAMETOOLONG;
	}
	enum found f = look(usual, p->uid, &owner);
	int r = 0;
	if (f != OURS && find_other(p, out, cap)) {
		r = 0;
	} else if (f != FOREIGN) {
		memcpy(out, usual, (size_t)n + 1);
		r = made(out, p->uid, create);
		f = r == -EPERM ? look(usual, p->uid, &owner) : OURS; /* somebody was faster */
	}
	if (f == FOREIGN && !is_safe(out, p->uid)) {
		r = create ? make_other(p, out, cap) : -ENOENT;
		if (!create && !home_place(p, out, cap)) {
			numbered(p, 1u, out, cap);
		}
	}
	if (note && f == FOREIGN && owner != p->uid) {
		snprintf(note, note_cap, "%s belongs to another user (id %u)", usual, (unsigned)owner);
	} else if (note && f == FOREIGN) {
		snprintf(note, note_cap, "%s is no directory of this user alone", usual);
	}
	return r;
}

static int check_dir(const char *path)
{
	struct stat st;
	if (lstat(path, &st) < 0) {
		return -errno;
	}
	/* Another user's directory (or a symlink) under /tmp must never be followed. */
	if (!S_ISDIR(st.st_mode)) {
		return -ENOTDIR;
	}
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		return -EPERM;
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		return -EPERM;
	}
	return 0;
}

/* ---- what the environment says ---------------------------------------------------------------- */

/* What is longer is cut, and recognised by its length. */
static void take(const char *name, char ret[RUNTIME_DIR_MAX])
{
	const char *v = getauxval(AT_SECURE) ? NULL : getenv(name);
	size_t n = v && v[0] == '/' ? strnlen(v, RUNTIME_DIR_MAX - 1) : 0;
	memcpy(ret, v ? v : "", n);
	ret[n] = 0;
}

static bool too_long(const char *s)
{
	return strlen(s) == RUNTIME_DIR_MAX - 1;
}

void runtime_environment_get(struct runtime_environment *ret)
{
	take("OPENETW_RUNTIME_DIR", ret->runtime_dir);
	take("XDG_RUNTIME_DIR", ret->xdg);
}

static int user_dir(const struct runtime_environment *s, bool create, char *out, size_t cap, char *note,
		    size_t note_cap)
{
	struct utsname host = {0};
	struct runtime_places p = {
		.uid = geteuid(),
		.xdg = too_long(s->xdg) ? "" : s->xdg,
		.run_user = "/run/user",
		.tmp = "/tmp",
		.home = account_home,
		.host = host.nodename,
	};
	(void)uname(&host);
	for (char *c = host.nodename; *c; c++) {
		*c = *c == '/' ? '_' : *c;
	}
	return runtime_dir_choose(&p, create, out, cap, note, note_cap);
}

static int given_dir(int printed, mode_t mode, bool create, char *out, size_t cap)
{
	if (printed < 0 || (size_t)printed >= cap) {
		return -ENAMETOOLONG;
	}
	if (create && mkdir(out, mode) < 0 && errno != EEXIST) {
		return -errno;
	}
	return 0;
}

int runtime_dir_user(const struct runtime_environment *s, bool create, char *out, size_t cap, char *note,
		     size_t note_cap)
{
	if (s->runtime_dir[0] == 0) {
		return user_dir(s, create, out, cap, note, note_cap);
	}
	if (note) {
		note[0] = 0;
	}
	if (too_long(s->runtime_dir)) {
		return -ENAMETOOLONG;
	}
	int r = given_dir(snprintf(out, cap, "%s", s->runtime_dir), 0700, create, out, cap);
	return r < 0 ? r : check_dir(out);
}

int runtime_dir(bool system, bool create, char *out, size_t cap)
{
	const mode_t everybody = 0755;
	if (!system) {
		struct runtime_environment s;
		runtime_environment_get(&s);
		return runtime_dir_user(&s, create, out, cap, NULL, 0);
	}
	int r = given_dir(snprintf(out, cap, "%s/run/openetw", datadir_root()), everybody, create, out, cap);
	if (r < 0) {
		return r;
	}
	if (create) {
		(void)chmod(out, everybody); /* whatever the daemon's umask: its sockets are everybody's */
	}
	return check_dir(out);
}
