/* SPDX-License-Identifier: MIT
 *
 * Which files a client may name: those of the command line, and what lies below its folders. What lies below a folder is
 * looked up from the folder's own descriptor (base/open_foreign.h): neither ".." nor a link leads out of it.
 */
#include "tools/mcp/mcp_tool.h"

#include "base/open_foreign.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX   16
#define ENTRIES_MAX 200000u

struct mcp_limits mcp_limits;

/* What follows the folder in a path; NULL: the path does not begin with it. */
static const char *behind(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	if (n == 0 || strncmp(path, folder, n) != 0 || (path[n] != '/' && folder[n - 1] != '/')) {
		return NULL;
	}
	path += n;
	return path + strspn(path, "/");
}

/* A file that may not be read and one that is not there get the same words: who asks learns nothing of other files. */
static int refuse(const struct cli_args *a, const char *path)
{
	cli_tell(a, "there is no trace '%.300s' that may be read; list_traces says which there are", path);
	return -1;
}

/* A file of the command line: by its whole path, as it was written there, or by its name alone. */
static const char *given_file(const char *path)
{
	for (int i = 0; i < mcp_limits.file_count; i++) {
		const char *slash = strrchr(mcp_limits.files[i], '/');
		if (strcmp(mcp_limits.files[i], path) == 0 || strcmp(mcp_limits.file_words[i], path) == 0 ||
		    (slash && strcmp(slash + 1, path) == 0)) {
			return mcp_limits.files[i];
		}
	}
	return NULL;
}

/* A regular file below a folder, and its whole path, without links. Descriptor; -1: there is none. */
static int look_below(int root, const char *path, char **ret)
{
	char link[32], whole[PATH_MAX];
	int fd = open_foreign_look(root, path, 0, NULL);
	if (fd < 0) {
		return -1;
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, whole, sizeof whole);
	*ret = n > 0 && (size_t)n < sizeof whole && whole[0] == '/' ? strndup(whole, (size_t)n) : NULL;
	if (!*ret) {
		base_close(&fd);
	}
	return fd;
}

/* A file of the command line may be a link: the user gave it. */
static int open_given(const struct cli_args *a, const char *known, char **ret)
{
	int fd = open(known, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		cli_tell(a, "cannot open %s: %s", known, strerror(errno));
		return -1;
	}
	*ret = strdup(known);
	if (!*ret) {
		base_close(&fd);
	}
	return fd;
}

int mcp_path_open(const struct cli_args *a, const char *path, char **ret)
{
	int fd = -1;
	const char *known = given_file(path);
	*ret = NULL;
	if (known) {
		return open_given(a, known, ret);
	}
	for (int i = 0; i < mcp_limits.root_count && path[0] && fd < 0; i++) {
		const char *rest = behind(path, mcp_limits.roots[i]);
		rest = rest ? rest : behind(path, mcp_limits.root_words[i]);
		if (rest || path[0] != '/') {
			fd = look_below(mcp_limits.root_fds[i], rest ? rest : path, ret);
		}
	}
	return fd < 0 ? refuse(a, path) : fd;
}

char *mcp_path_allowed(const struct cli_args *a, const char *path)
{
	char *whole;
	int fd = mcp_path_open(a, path, &whole);
	base_close(&fd);
	return whole;
}

/* ---- what there is ---------------------------------------------------------------------------------- */

struct walk {
	mcp_path_fn fn;
	void *context;
	uint32_t found, most, entries;
	bool incomplete;
};

static bool is_trace(const char *name)
{
	size_t n = strlen(name);
	return n > 4 && strcasecmp(name + n - 4, ".etl") == 0;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* `at` is taken over. */
static void walk_folder(struct walk *w, int at, const char *folder, int depth)
{
	struct dirent **list;
	char path[PATH_MAX];
	struct stat st;
	int n = at >= 0 && depth < DEPTH_MAX ? scandirat(at, ".", &list, not_hidden, alphasort) : -1;
	w->incomplete |= n < 0;
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		int length = snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
		if (w->entries++ >= ENTRIES_MAX || length < 0 || (size_t)length >= sizeof path) {
			w->incomplete = true;
		} else if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			w->incomplete |= errno != ENOENT;
		} else if (S_ISDIR(st.st_mode)) {
			walk_folder(w, openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path,
				    depth + 1);
		} else if (S_ISREG(st.st_mode) && is_trace(name) && w->found++ < w->most) {
			w->fn(w->context, path, (uint64_t)st.st_size, false);
		}
		free(list[i]);
	}
	if (n >= 0) {
		free(list);
	}
	base_close(&at);
}

uint32_t mcp_path_each(uint32_t most, mcp_path_fn fn, void *context, bool *ret_incomplete)
{
	struct walk w = {.fn = fn, .context = context, .most = most};
	struct stat st;
	for (int i = 0; i < mcp_limits.file_count; i++) {
		if (stat(mcp_limits.files[i], &st) == 0 && w.found++ < most) {
			fn(context, mcp_limits.files[i], (uint64_t)st.st_size, true);
		}
	}
	for (int i = 0; i < mcp_limits.root_count; i++) {
		walk_folder(&w, openat(mcp_limits.root_fds[i], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    mcp_limits.roots[i], 0);
	}
	*ret_incomplete = w.incomplete;
	return w.found;
}
