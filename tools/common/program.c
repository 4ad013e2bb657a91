/* SPDX-License-Identifier: MIT */
#include "tools/common/program.h"

#include "tools/common/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int runs(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0) {
		return errno == EACCES ? -EACCES : -ENOENT;
	}
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int cli_program_find(const char *word, char ret_path[PATH_MAX])
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];
	int worst = -ENOENT;
	if (strchr(word, '/')) {
		snprintf(ret_path, PATH_MAX, "%s", word);
		return runs(word);
	}
	for (const char *p = list ? list : "/bin:/usr/bin"; p && *word;
	     p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		int n = (int)strcspn(p, ":");
		int length = snprintf(path, sizeof path, "%.*s%s%s", n, p, n ? "/" : "./", word);
		int one = length > 0 && (size_t)length < sizeof path ? runs(path) : -ENOENT;
		if (one == 0) {
			memcpy(ret_path, path, (size_t)length + 1);
			return 0;
		}
		worst = one == -EACCES ? -EACCES : worst;
	}
	return worst;
}

int cli_program_check(const struct cli_args *a, const char *word)
{
	char path[PATH_MAX];
	int err = cli_program_find(word, path);
	if (err < 0) {
		cli_tell(a, "cannot run %s: %s", word, strerror(-err));
	}
	return err == 0 ? 0 : err == -ENOENT ? 127 : 126;
}
