/* SPDX-License-Identifier: MIT
 *
 * Which files a client may name: those of the command line, and what lies below its folders. What lies below a folder is
 * looked up from the folder's own descriptor (base/open_foreign.h): neither ".." nor a link leads out of it.
 */
#include "tools/common/allowed.h"

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
static int refuse(const struct cli_args *a, const struct allowed *may, const char *path)
{
	cli_tell(a, "there is no trace '%.300s' that may be read%s", path, may->hint ? may->hint : "");
	return -1;
}

/* A file of the command line: by its whole path, as it was written there, or by its name alone. */
static const char *given_file(const struct allowed *may, const char *path)
{
	for (int i = 0; i < may->file_count; i++) {
		const char *slash = strrchr(may->files[i], '/');
		if (strcmp(may->files[i], path) == 0 || strcmp(may->file_words[i], path) == 0 ||
		    (slash && strcmp(slash + 1, path) == 0)) {
			return may->files[i];
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

int allowed_open(const struct cli_args *a, const struct allowed *may, const char *path, char **ret)
{
	int fd = -1;
	const char *known = given_file(may, path);
	*ret = NULL;
	if (known) {
		return open_given(a, known, ret);
	}
	for (int i = 0; i < may->root_count && path[0] && fd < 0; i++) {
		const char *rest = behind(path, may->roots[i]);
		rest = rest ? rest : behind(path, may->root_words[i]);
		if (rest || path[0] != '/') {
			fd = look_below(may->root_fds[i], rest ? rest : path, ret);
		}
	}
	return fd < 0 ? refuse(a, may, path) : fd;
}

char *allowed_path(const struct cli_args *a, const struct allowed *may, const char *path)
{
	char *whole;
	int fd = allowed_open(a, may, path, &whole);
	base_close(&fd);
	return whole;
}

/* ---- what there is ---------------------------------------------------------------------------------- */

struct walk {
	allowed_fn fn;
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

uint32_t allowed_each(const struct allowed *may, uint32_t most, allowed_fn fn, void *context, bool *ret_incomplete)
{
	struct walk w = {.fn = fn, .context = context, .most = most};
	struct stat st;
	for (int i = 0; i < may->file_count; i++) {
		if (stat(may->files[i], &st) == 0 && w.found++ < most) {
			fn(context, may->files[i], (uint64_t)st.st_size, true);
		}
	}
	for (int i = 0; i < may->root_count; i++) {
		walk_folder(&w, openat(may->root_fds[i], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), may->roots[i], 0);
	}
	*ret_incomplete = w.incomplete;
	return w.found;
}

/* ---- from the command line --------------------------------------------------------------------------- */

bool allowed_whole(const struct cli_args *a, int count, char **words, mode_t kind, char ***ret)
{
	struct stat st;
	char **list = calloc((size_t)count + 1, sizeof *list);
	for (int i = 0; list && i < count; i++) {
		list[i] = realpath(words[i], NULL);
		if (!list[i] || stat(list[i], &st) < 0) {
			cli_tell(a, "cannot open %s: %s", words[i], strerror(errno));
			return false;
		}
		if ((st.st_mode & S_IFMT) != kind) {
			cli_tell(a, "%s is no %s", words[i], kind == S_IFDIR ? "folder" : "file");
			return false;
		}
	}
	*ret = list;
	return list != NULL;
}

bool allowed_begin(const struct cli_args *a, struct allowed *may, int count, char **files,
		   const struct cli_words *roots)
{
	may->file_count = count;
	may->root_count = roots->count;
	if (!allowed_whole(a, count, files, S_IFREG, &may->files) ||
	    !allowed_whole(a, roots->count, (char **)(uintptr_t)roots->text, S_IFDIR, &may->roots)) {
		return false;
	}
	may->file_words = files;
	may->root_words = roots->text;
	may->root_fds = calloc((size_t)roots->count + 1, sizeof *may->root_fds);
	for (int i = 0; may->root_fds && i < roots->count; i++) {
		may->root_fds[i] = open(may->roots[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (may->root_fds[i] < 0) {
			cli_tell(a, "cannot open %s: %s", may->roots[i], strerror(errno));
			return false;
		}
	}
	return may->root_fds || (cli_tell(a, "no memory"), false);
}

void allowed_end(struct allowed *may)
{
	for (int i = 0; may->files && i < may->file_count; i++) {
		free(may->files[i]);
	}
	for (int i = 0; may->roots && i < may->root_count; i++) {
		free(may->roots[i]);
	}
	for (int i = 0; may->root_fds && i < may->root_count; i++) {
		close(may->root_fds[i]);
	}
	free(may->files);
	free(may->roots);
	free(may->root_fds);
	*may = (struct allowed){0};
}
