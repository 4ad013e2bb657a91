/* SPDX-License-Identifier: MIT */
#include "base/datadir.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *datadir_root(void)
{
	const char *v = secure_getenv("OPENETW_ROOT");
	return v && *v == '/' ? v : "";
}

bool datadir_path(bool machine, const char *part, char *ret, size_t cap)
{
	int n = -1;
	const char *home;
	if (machine) {
		n = snprintf(ret, cap, "%s%s/%s", datadir_root(), DATADIR_MACHINE, part);
	} else if ((home = secure_getenv("XDG_DATA_HOME")) && *home == '/') {
		n = snprintf(ret, cap, "%s/openetw/%s", home, part);
	} else if ((home = secure_getenv("HOME")) && *home == '/') {
		n = snprintf(ret, cap, "%s%s/.local/share/openetw/%s", datadir_root(), home, part);
	}
	return n > 0 && (size_t)n < cap;
}

int datadir_make(const char *path, bool machine)
{
	char part[4096];
	size_t n = strlen(path);
	if (n >= sizeof part || path[0] != '/') {
		return -EINVAL;
	}
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != 0) {
			continue;
		}
		memcpy(part, path, i);
		part[i] = 0;
		int err = mkdir(part, machine ? 0755 : 0700) < 0 ? errno : 0;
		if (err != 0 && err != EEXIST) {
			/* A directory above may be there and not be ours to look at. */
			struct stat st;
			if (path[i] == 0 || stat(part, &st) < 0) {
				return -err;
			}
		} else if (err == 0 && machine && chmod(part, 0755) < 0) {
			return -errno; /* the daemon's umask is for its own files */
		}
	}
	return 0;
}
