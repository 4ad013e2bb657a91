/* SPDX-License-Identifier: MIT */
#include "tools/common/output_dir.h"

#include "tools/common/path.h"

#include <fcntl.h>
#include <stdlib.h>

struct cli_output_dir {
	const struct cli_args *args;
	const char *const *names;
	char path[PATH_MAX];
	char name[NAME_MAX + 1], partial[NAME_MAX + 16], old[NAME_MAX + 16];
	int parent, dir;
};

static void *refuse(struct cli_output_dir *d, const struct cli_args *a, const char *path, const char *why)
{
	fprintf(stderr, "openetw %s: cannot write %s: %s\n", a->command->name, path, why);
	if (d) {
		base_close(&d->parent);
		base_close(&d->dir);
		free(d);
	}
	return NULL;
}

/* Removes the files that such a folder has, and the folder. 0 or -errno; nothing there is 0. */
static int remove_folder(const struct cli_output_dir *d, const char *name)
{
	struct stat st;
	int dir = openat(d->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	/* Of another user it would be theirs to say what is in it. */
	int err = fstat(dir, &st) < 0 ? -errno : st.st_uid != geteuid() ? -EPERM : 0;
	for (int i = 0; err == 0 && d->names[i]; i++) {
		unlinkat(dir, d->names[i], 0);
	}
	close(dir);
	return err ? err : unlinkat(d->parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

struct cli_output_dir *cli_output_dir_open(const struct cli_args *a, const char *path, const char *const *names)
{
	char mapped[PATH_MAX];
	struct diag why;
	diag_clear(&why);
	struct cli_output_dir *d = calloc(1, sizeof *d);
	if (!d) {
		return refuse(NULL, a, path, strerror(ENOMEM));
	}
	d->args = a;
	d->names = names;
	d->parent = d->dir = -1;
	snprintf(d->path, sizeof d->path, "%s", cli_path_told(path, mapped));
	for (size_t n = strlen(d->path); n > 1 && d->path[n - 1] == '/'; n--) {
		d->path[n - 1] = 0;
	}
	d->parent = open_output_dir(d->path, d->name, &why);
	if (d->parent < 0) {
		int err = -d->parent;
		d->parent = -1;
		return refuse(d, a, path, why.text[0] ? why.text : strerror(err));
	}
	if (strlen(d->name) + sizeof ".partial" > NAME_MAX) {
		return refuse(d, a, path, strerror(ENAMETOOLONG));
	}
	snprintf(d->partial, sizeof d->partial, "%s.partial", d->name);
	snprintf(d->old, sizeof d->old, "%s.old", d->name);
	int err = remove_folder(d, d->partial);
	if (err == 0 && mkdirat(d->parent, d->partial, 0777) < 0) {
		err = -errno;
	}
	if (err == 0) {
		d->dir = openat(d->parent, d->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		err = d->dir < 0 ? -errno : 0;
	}
	return err < 0 ? refuse(d, a, path,
				err == -ENOTEMPTY ? "there is a folder OUT.partial with other files" : strerror(-err))
		       : d;
}

FILE *cli_output_dir_file(struct cli_output_dir *d, const char *name)
{
	int fd = openat(d->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !f) {
		close(fd);
	}
	return f;
}

/* The earlier folder, out of the way. 0 or -errno. */
static int make_way(struct cli_output_dir *d)
{
	struct stat st;
	if (fstatat(d->parent, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!S_ISDIR(st.st_mode)) {
		return -ENOTDIR;
	}
	if (st.st_uid != geteuid()) {
		return -EPERM;
	}
	if (cli_output_overwrites()) {
		return remove_folder(d, d->name);
	}
	int err = remove_folder(d, d->old);
	if (err == 0 && renameat(d->parent, d->name, d->parent, d->old) < 0) {
		err = -errno;
	}
	if (err == 0) {
		fprintf(stderr, "openetw %s: the earlier %s is %s.old now\n", d->args->command->name, d->path, d->path);
	}
	return err;
}

int cli_output_dir_close(struct cli_output_dir *d, bool whole)
{
	int status = CLI_OK;
	if (!d) {
		return CLI_OK;
	}
	if (whole && !cli_interrupted()) {
		int err = make_way(d);
		if (err == 0 && renameat(d->parent, d->partial, d->parent, d->name) < 0) {
			err = -errno;
		}
		if (err < 0) {
			fprintf(stderr, "openetw %s: cannot write %s: %s; it is in %s.partial\n",
				d->args->command->name, d->path, strerror(-err), d->path);
			status = CLI_FAILED;
		}
	} else {
		remove_folder(d, d->partial);
	}
	base_close(&d->dir);
	base_close(&d->parent);
	free(d);
	return status;
}
