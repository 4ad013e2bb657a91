/* SPDX-License-Identifier: MIT */
#include "cli/path.h"

#include "cli/print.h"

#include <string.h>
#include <unistd.h>

static bool has_drive(const char *s)
{
	return ((s[0] | 0x20) >= 'a' && (s[0] | 0x20) <= 'z') && s[1] == ':' && (s[2] == '\\' || s[2] == '/');
}

const char *cli_path(const char *path, char out[PATH_MAX])
{
	bool drive = has_drive(path);
	if ((!drive && (strchr(path, '/') || !strchr(path, '\\'))) || strlen(path) >= PATH_MAX) {
		return path;
	}
	strcpy(out, path + (drive ? 2 : 0));
	for (char *s = out; *s; s++) {
		*s = *s == '\\' ? '/' : *s;
	}
	return out;
}

const char *cli_path_told(const char *path, char out[PATH_MAX])
{
	const char *to = cli_path(path, out);
	if (to != path) {
		fprintf(stderr, "%s is %s here\n", path, to);
	}
	return to;
}

void cli_path_input(char *path)
{
	char out[PATH_MAX];
	if (access(path, F_OK) < 0) {
		const char *to = cli_path(path, out);
		if (to != path) {
			memcpy(path, to, strlen(to) + 1);
		}
	}
}
