/* SPDX-License-Identifier: MIT */
#include "tools/common/path.h"

#include "tools/common/print.h"

#include <errno.h>
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
	static char told[PATH_MAX]; /* the last one */
	const char *to = cli_path(path, out);
	if (to != path && strcmp(told, path) != 0) {
		strcpy(told, path); /* which has room: cli_path() looked */
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

bool cli_path_absolute(const char *path, char *out, size_t cap)
{
	char mapped[PATH_MAX], cwd[PATH_MAX];
	const char *to = cli_path_told(path, mapped);
	bool rooted = to[0] == '/' || !getcwd(cwd, sizeof cwd);
	int n = snprintf(out, cap, "%s%s%s", rooted ? "" : cwd, rooted ? "" : "/", to);
	return n >= 0 && (size_t)n < cap;
}

FILE *cli_path_fopen(const char *path)
{
	char mapped[PATH_MAX];
	FILE *f = fopen(path, "re");
	if (!f && errno == ENOENT && cli_path(path, mapped) != path) {
		f = fopen(mapped, "re");
	}
	return f;
}
