/* SPDX-License-Identifier: MIT
 * The file "wpr -stop" writes: one part moved into place, several merged.
 */
#include "cli/wpr/wpr.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Into place without ever showing half a file there. */
static int move_file(const char *from, const char *to)
{
	char part[PATH_MAX + 16];
	if (rename(from, to) == 0) {
		return 0;
	}
	if (errno != EXDEV) {
		return -errno;
	}
	snprintf(part, sizeof part, "%s.part", to);
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err = in < 0 || out < 0 ? -errno : 0;
	char *buffer = malloc(1 << 20);
	for (ssize_t n = 1; err == 0 && n > 0;) {
		n = buffer ? read(in, buffer, 1 << 20) : -1;
		for (ssize_t done = 0; n > 0 && done < n && err == 0;) {
			ssize_t k = write(out, buffer + done, (size_t)(n - done));
			err = k < 0 ? -errno : 0;
			done += k > 0 ? k : 0;
		}
		err = n < 0 ? -errno : err;
	}
	free(buffer);
	base_close(&in);
	if (out >= 0 && close(out) < 0 && err == 0) {
		err = -errno;
	}
	if (err == 0 && rename(part, to) < 0) {
		err = -errno;
	}
	unlink(err ? part : from);
	return err;
}

/* The mode a file of this user gets; session files are private. */
static void usual_mode(const char *path)
{
	mode_t mask = umask(022);
	umask(mask);
	chmod(path, 0666 & ~mask);
}

int wpr_result_write(struct wpr *w, char **files, unsigned count, const char *to)
{
	bool compress = cli_flag(w->args, "compress") || w->profile->compress;
	if (count == 0) {
		return wpr_fail(WPR_NOT_RUNNING, "Nothing of the recording is left to save.");
	}
	if (count == 1 && !compress) {
		int err = move_file(files[0], to);
		if (err) {
			return wpr_fail(WPR_HRESULT(win32_from_errno(err)),
					"Cannot write %s: %s. The recording is in %s.", to, strerror(-err),
					files[0]);
		}
		usual_mode(to);
		return CLI_OK;
	}
	uint32_t code = openetw_merge((const char *const *)files, count, to,
				      compress ? OPENETW_MERGE_COMPRESS : 0, NULL, NULL);
	if (code) {
		return wpr_fail_call(code, "cannot write %s (the parts are in %s)", to, w->work);
	}
	for (unsigned i = 0; i < count && !w->profile->keep_parts; i++) {
		unlink(files[i]);
	}
	return CLI_OK;
}

int wpr_result_try(const char *to)
{
	char parent[PATH_MAX];
	struct stat st;
	snprintf(parent, sizeof parent, "%s", to);
	char *slash = strrchr(parent, '/');
	if (slash) {
		slash[slash == parent] = 0;
	}
	if (stat(to, &st) == 0 && S_ISDIR(st.st_mode)) {
		return wpr_fail(WPR_HRESULT(161), "%s is a folder; the recording goes on.", to);
	}
	if (access(slash ? parent : ".", W_OK | X_OK) < 0) {
		return wpr_fail(WPR_HRESULT(errno == ENOENT ? ERROR_PATH_NOT_FOUND : win32_from_errno(-errno)),
				"Cannot write to %s: %s. The recording goes on.", slash ? parent : ".",
				strerror(errno));
	}
	return CLI_OK;
}
