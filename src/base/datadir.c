/* SPDX-License-Identifier: MIT */
#include "base/datadir.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

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
	return path[0] == '/' ? file_make_dirs(path, machine ? 0755 : 0700) : -EINVAL;
}
