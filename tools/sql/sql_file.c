/* SPDX-License-Identifier: MIT
 *
 * This process may open nothing: no call of the kernel's that does is allowed to it. DuckDB's COPY opens its file by
 * name, though. It finds this open() instead of the C library's, because the program's functions come first: for the
 * one name it gives another descriptor of the file that the parent has handed over; all else goes to the kernel, which
 * refuses it.
 */
#include "tools/sql/sql_file.h"

#include "base/base.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static int file = -1;

void sql_file_set(int fd)
{
	file = fd;
}

/* By its name in the object file: the headers call it open64. */
__attribute__((visibility("default"))) int sql_file_open(const char *path, int flags, ...) __asm__("open");

int sql_file_open(const char *path, int flags, ...)
{
	unsigned mode = 0;
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_list ap;
		va_start(ap, flags);
		mode = va_arg(ap, unsigned);
		va_end(ap);
	}
	if (file < 0 || strcmp(path, SQL_FILE_NAME) != 0) {
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	}
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
	/* Whoever opens it for writing begins anew. */
	if (fd >= 0 && ((flags & O_ACCMODE) == O_RDONLY || ftruncate(fd, 0) == 0)) {
		(void)lseek(fd, 0, SEEK_SET);
	}
	return fd;
}
