/* SPDX-License-Identifier: MIT
 * What is kept between "wpr -start" and "wpr -stop".
 */
#include "tools/wpt/wpr.h"
#include "base/file.h"
#include "tools/common/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

static bool path_of(char *out, size_t cap, const char *dir, const char *name)
{
	int n = snprintf(out, cap, "%s/%s", dir, name);
	return n > 0 && (size_t)n < cap;
}

static bool make_folder(const char *path)
{
	struct stat st;
	if (mkdir(path, 0700) == 0) {
		return true;
	}
	return errno == EEXIST && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

bool wpr_state_open(struct wpr *w, bool lock)
{
	char dir[PATH_MAX], top[PATH_MAX], name[PATH_MAX];
	if (*w->boot && !wpr_boot_folder(dir, sizeof dir)) {
		return false;
	}
	uint32_t code = *w->boot ? ERROR_SUCCESS : openetw_runtime_directory(dir, sizeof dir);
	if (code) {
		wpr_fail_call(code, "cannot use the runtime directory");
		return false;
	}
	snprintf(name, sizeof name, "%s%s", *w->instance ? "instance-" : "default", w->instance);
	if (!path_of(top, sizeof top, dir, "wpr") || !path_of(w->state, sizeof w->state, top, name)) {
		wpr_fail(WPR_HRESULT(206), "The path of the runtime directory is too long: %s", dir);
		return false;
	}
	if (!make_folder(top)) {
		wpr_fail(WPR_HRESULT(win32_from_errno(-errno)), "Cannot make %s: %s", top, strerror(errno));
		return false;
	}
	if (lock) {
		char file[PATH_MAX + 8];
		snprintf(file, sizeof file, "%s.lock", w->state);
		w->lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (w->lock < 0) {
			wpr_fail(WPR_HRESULT(win32_from_errno(-errno)), "Cannot open %s: %s", file, strerror(errno));
			return false;
		}
		if (flock(w->lock, LOCK_EX | LOCK_NB) < 0) {
			wpr_fail(WPR_HRESULT(170),
				 "Another wpr is just starting or stopping this recording. Wait for it, or end it.");
			return false;
		}
	}
	return true;
}

static bool write_file(const char *dir, const char *name, const char *text, size_t n)
{
	char path[PATH_MAX];
	if (!path_of(path, sizeof path, dir, name)) {
		return false;
	}
	int err = cli_write_whole(path, text, n, false, NULL);
	errno = -err;
	return err == 0;
}

int wpr_state_save(struct wpr *w)
{
	struct strbuf profile = {0}, lines = {0};
	profile_write(w->profile, &profile);
	strbuf_addf(&lines, "started=%llu\nwork=", (unsigned long long)w->started);
	strbuf_adds(&lines, w->work); /* a path, as it is */
	strbuf_adds(&lines, "\nprofiles=");
	strbuf_adds(&lines, w->names);
	strbuf_addc(&lines, '\n');
	bool ok = !profile.failed && !lines.failed && make_folder(w->state) &&
		  write_file(w->state, "profile.wprp", profile.s, profile.len) &&
		  write_file(w->state, "recording", lines.s, lines.len);
	int err = errno;
	strbuf_finish(&profile);
	strbuf_finish(&lines);
	return ok ? CLI_OK
		  : wpr_fail(WPR_HRESULT(win32_from_errno(-err)), "Cannot write to %s: %s", w->state, strerror(err));
}

/* The whole file, terminated; NULL: errno. */
static char *read_file(const char *dir, const char *name, size_t *ret_n)
{
	char path[PATH_MAX];
	struct strbuf b = {0};
	if (!path_of(path, sizeof path, dir, name)) {
		return NULL;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int err = fd < 0 ? -errno : file_read_fd(fd, PROFILE_BYTES_MAX, &b);
	base_close(&fd);
	if (err < 0) {
		strbuf_finish(&b);
		errno = -err;
		return NULL;
	}
	*ret_n = b.len;
	return b.s;
}

static void take_line(const char *text, const char *key, char *out, size_t cap)
{
	size_t k = strlen(key);
	*out = 0;
	for (const char *s = text; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL) {
		if (strncmp(s, key, k) == 0 && s[k] == '=') {
			snprintf(out, cap, "%.*s", (int)strcspn(s + k + 1, "\n"), s + k + 1);
		}
	}
}

bool wpr_state_load(struct wpr *w)
{
	size_t n = 0, profile_bytes = 0;
	char started[32];
	char *lines = read_file(w->state, "recording", &n);
	if (!lines) {
		return false;
	}
	take_line(lines, "started", started, sizeof started);
	take_line(lines, "work", w->work, sizeof w->work);
	take_line(lines, "profiles", w->names, sizeof w->names);
	w->started = strtoull(started, NULL, 10);
	free(lines);
	char *text = read_file(w->state, "profile.wprp", &profile_bytes);
	struct profile_doc *doc = NULL;
	bool ok = text && profile_read(text, profile_bytes, &doc) == 0 && profile_entries(doc) &&
		  profile_resolve(doc, profile_entries(doc), &w->profile) == 0;
	profile_close(doc);
	free(text);
	if (!ok) {
		fprintf(stderr,
			"wpr: what %s says of a recording is damaged and not used; "
			"'openetw list' shows its sessions\n",
			w->state);
	}
	return ok;
}

void wpr_state_remove(struct wpr *w)
{
	if (*w->boot) {
		wpr_boot_remove(w);
	}
	static const char *const names[] = {"profile.wprp", "recording"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		char path[PATH_MAX];
		if (path_of(path, sizeof path, w->state, names[i])) {
			unlink(path);
		}
	}
	rmdir(w->state);
}

void wpr_close(struct wpr *w)
{
	base_close(&w->lock);
	profile_free(w->profile);
	w->profile = NULL;
}
