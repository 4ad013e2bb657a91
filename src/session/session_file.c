/* SPDX-License-Identifier: MIT
 * Where the files are, reading and replacing them.
 */
#include "session/session.h"
#include "base/file.h"

#include "base/datadir.h"
#include "base/open_output.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define SUFFIX ".conf"

/* An absolute directory from the environment, unless somebody else's rights are at stake. */
static const char *environment(const char *name)
{
	const char *v = getauxval(AT_SECURE) ? NULL : getenv(name);
	return v && v[0] == '/' ? v : NULL;
}

int session_dir(enum session_place place, bool system, char *out, size_t cap)
{
	static const char *const below[] = {"/autologger.d", "/collectors", ""};
	bool state = place == SESSION_STATE;
	const char *base = environment(state ? "XDG_STATE_HOME" : "XDG_CONFIG_HOME");
	char home[3072];
	if (system) {
		int n = snprintf(home, sizeof home, "%s%s", datadir_root(), state ? "/var/lib" : "/etc");
		if (n < 0 || (size_t)n >= sizeof home) {
			return -ENAMETOOLONG;
		}
		base = home;
	} else if (!base) {
		const char *h = environment("HOME");
		char mem[4096];
		struct passwd pw, *found = NULL;
		if (!h && getpwuid_r(geteuid(), &pw, mem, sizeof mem, &found) == 0 && found &&
		    found->pw_dir[0] == '/') {
			h = found->pw_dir;
		}
		if (!h) {
			return -ENOENT;
		}
		int n = snprintf(home, sizeof home, "%s%s%s", datadir_root(), h, state ? "/.local/state" : "/.config");
		if (n < 0 || (size_t)n >= sizeof home) {
			return -ENAMETOOLONG;
		}
		base = home;
	}
	int n = snprintf(out, cap, "%s/openetw%s", base, below[place]);
	return n > 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

static bool plain(const char *name, size_t i)
{
	char c = name[i];
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == ' ' || (unsigned char)c >= 0x80 || (c == '.' && i > 0);
}

int session_path(enum session_place place, bool system, const char *name, char *out, size_t cap)
{
	int r = session_dir(place, system, out, cap);
	size_t at = r == 0 ? strlen(out) : 0, dir = at + 1;
	if (r < 0) {
		return r;
	}
	if (at + 1 < cap) {
		out[at++] = '/';
	}
	for (size_t i = 0; name[i]; i++) {
		char one[4];
		int n = plain(name, i) ? snprintf(one, sizeof one, "%c", name[i])
				       : snprintf(one, sizeof one, "%%%02X", (unsigned char)name[i]);
		if (at + (size_t)n + sizeof SUFFIX > cap || at - dir + (size_t)n > 240) {
			return -ENAMETOOLONG;
		}
		memcpy(out + at, one, (size_t)n);
		at += (size_t)n;
	}
	memcpy(out + at, SUFFIX, sizeof SUFFIX);
	return 0;
}

/* The name that a file stands for when it does not say. */
static void name_of(const char *path, char *out, size_t cap)
{
	const char *slash = strrchr(path, '/');
	const char *s = slash ? slash + 1 : path;
	size_t n = strlen(s), at = 0;
	if (n > strlen(SUFFIX) && strcmp(s + n - strlen(SUFFIX), SUFFIX) == 0) {
		n -= strlen(SUFFIX);
	}
	for (size_t i = 0; i < n && at + 1 < cap; i++) {
		unsigned v;
		if (s[i] == '%' && i + 2 < n && sscanf(s + i + 1, "%2X", &v) == 1 && v != 0) {
			out[at++] = (char)v;
			i += 2;
		} else {
			out[at++] = s[i];
		}
	}
	out[at] = 0;
}

int session_read_file(const char *path, const struct session_manifests *manifests, struct etw_session *ret,
		      struct diag *d)
{
	struct strbuf text = {0};
	char name[300];
	int r = file_read(path, SESSION_BYTES_MAX, &text);
	if (r == -EFBIG || r == -EINVAL || r == -EISDIR) {
		diag_at(d, UINT64_MAX, "it is no ordinary file of at most 1 MiB");
		r = -EINVAL;
	}
	if (r == 0) {
		name_of(path, name, sizeof name);
		r = session_parse(text.s, text.len, name, manifests, ret, d);
	}
	strbuf_finish(&text);
	return r;
}

int session_make_dirs(const char *dir)
{
	/* Others look into the machine's place, for descriptions of events; what sessions keep in it is private. */
	char machine[4096];
	int n = snprintf(machine, sizeof machine, "%s%s", datadir_root(), DATADIR_MACHINE), r = 0;
	if (n > 0 && (size_t)n < sizeof machine && strncmp(dir, machine, (size_t)n) == 0 &&
	    (dir[n] == 0 || dir[n] == '/')) {
		r = file_make_dirs(machine, 0755);
	}
	return r < 0 ? r : file_make_dirs(dir, 0700);
}

int session_write(const char *path, const struct etw_session *s)
{
	char other[4200], dir[4096];
	const char *slash = strrchr(path, '/');
	if (!slash || strlen(path) >= sizeof dir) {
		return -ENAMETOOLONG;
	}
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
	int r = session_make_dirs(dir);
	struct strbuf b = {0};
	session_format(s, &b);
	snprintf(other, sizeof other, "%s.%d~", path, (int)getpid());
	r = r == 0 ? open_output_remove(other) : r; /* one that was left over */
	int fd = r < 0 ? r : b.failed ? -ENOMEM : open_output(other, 0, 0600, NULL);
	r = fd < 0 ? fd : 0;
	size_t at = 0;
	while (r == 0 && at < b.len) {
		ssize_t n = write(fd, b.s + at, b.len - at);
		if (n <= 0) {
			r = n < 0 ? -errno : -EIO;
		} else {
			at += (size_t)n;
		}
	}
	if (fd >= 0 && close(fd) < 0 && r == 0) {
		r = -errno;
	}
	if (r == 0 && rename(other, path) < 0) {
		r = -errno;
	}
	if (r < 0 && fd >= 0) {
		unlink(other);
	}
	strbuf_finish(&b);
	return r;
}

static int is_conf(const struct dirent *e)
{
	size_t n = strlen(e->d_name), m = strlen(SUFFIX);
	return e->d_name[0] != '.' && n > m && strcmp(e->d_name + n - m, SUFFIX) == 0;
}

int session_each(const char *dir, bool (*each)(void *ctx, const char *path), void *ctx)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, is_conf, alphasort);
	bool on = true;
	if (n < 0) {
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	}
	for (int i = 0; i < n; i++) {
		char path[4400];
		snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
		on = on && each(ctx, path);
		free(names[i]);
	}
	free(names);
	return 0;
}
