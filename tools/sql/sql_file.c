/* SPDX-License-Identifier: MIT
 *
 * This process may open nothing: no call of the kernel's that does is allowed to it. DuckDB looks for files all the
 * same (what memory its control group has), and its COPY opens one by name. It finds this open() and access() instead
 * of the C library's, because the program's functions come first: for the one name it gets another descriptor of the
 * file that the parent has handed over. Other files are not there. That does not depend on what the kernel refuses:
 * DuckDB does not survive a file that is there and cannot be opened.
 */
#include "tools/sql/sql_file.h"

#include "base/base.h"

#include <fcntl.h>
#include <unistd.h>

static int file = -1;

void sql_file_set(int fd)
{
	file = fd;
}

/* By their names in the object file: the headers call the one open64. */
__attribute__((visibility("default"))) int sql_file_open(const char *path, int flags, ...) __asm__("open");
__attribute__((visibility("default"))) int sql_file_access(const char *path, int mode) __asm__("access");

int sql_file_open(const char *path, int flags, ...)
{
	if (file < 0 || strcmp(path, SQL_FILE_NAME) != 0) {
		errno = ENOENT;
		return -1;
	}
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
	/* Whoever opens it for writing begins anew. */
	if (fd >= 0 && ((flags & O_ACCMODE) == O_RDONLY || ftruncate(fd, 0) == 0)) {
		(void)lseek(fd, 0, SEEK_SET);
	}
	return fd;
}

int sql_file_access(const char *path, int mode)
{
	(void)path;
	(void)mode;
	errno = ENOENT;
	return -1;
}
