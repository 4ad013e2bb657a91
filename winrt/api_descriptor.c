/* SPDX-License-Identifier: MIT
 *
 * Descriptors of handles, and handles of descriptors: each descriptor has at most one, which lives until _close().
 * The program may close a descriptor with a function of libc; then its handle belongs to the next file of that number.
 */
#include "winrt/win.h"

#include "win/io.h"
#include "win/windows.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct of_fd {
	void *handle;
	struct win_object *object; /* one reference; NULL: nobody asked for a handle */
};
static pthread_mutex_t fds_lock = PTHREAD_MUTEX_INITIALIZER;
static struct of_fd *fds;
static size_t fds_count;

int _open_osfhandle(INT_PTR osfhandle, int flags)
{
	WIN_USED struct win_object *o = win_object_of((HANDLE)osfhandle, WIN_FILE);
	int fd = o ? fcntl(o->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd >= 0) {
		win_handle_close((HANDLE)osfhandle); /* closed with the descriptor on Windows */
	} else if (!o) {
		errno = EBADF;
	}
	return fd;
}

static struct of_fd *entry_locked(size_t fd)
{
	if (fd >= fds_count) {
		size_t count = fd + fd / 2 + 16;
		struct of_fd *more = realloc(fds, count * sizeof *more);
		if (!more) {
			return NULL;
		}
		memset(more + fds_count, 0, (count - fds_count) * sizeof *more);
		fds = more;
		fds_count = count;
	}
	return &fds[fd];
}

/* The program may have closed the handle, and its number may be another object's by now. */
static bool still_there(const struct of_fd *e)
{
	WIN_USED struct win_object *o = e->object ? win_object_find(e->handle, WIN_FILE) : NULL;
	return o && o == e->object;
}

INT_PTR _get_osfhandle(int fd)
{
	if (fcntl(fd, F_GETFD) < 0) {
		return (INT_PTR)INVALID_HANDLE_VALUE;
	}
	pthread_mutex_lock(&fds_lock);
	struct of_fd *e = entry_locked((size_t)fd);
	if (e && !still_there(e)) {
		win_object_unref(e->object);
		*e = (struct of_fd){.object = win_object_new(WIN_FILE)};
		if (e->object) {
			e->object->fd = fd;
			e->object->refs = 2; /* of the handle, and of this table */
			e->handle = win_handle_give(e->object);
		}
	}
	HANDLE h = e ? e->handle : NULL;
	pthread_mutex_unlock(&fds_lock);
	return h ? (INT_PTR)h : (INT_PTR)INVALID_HANDLE_VALUE;
}

/* The descriptor becomes the object's, so that whoever uses the object, or a duplicate of the handle, keeps it. */
int _close(int fd)
{
	struct of_fd e = {0};
	if (fcntl(fd, F_GETFD) < 0) {
		return -1;
	}
	pthread_mutex_lock(&fds_lock);
	if ((size_t)fd < fds_count && fds[fd].object) {
		e = fds[fd];
		fds[fd] = (struct of_fd){0};
	}
	pthread_mutex_unlock(&fds_lock);
	if (!e.object) {
		return close(fd);
	}
	if (still_there(&e)) {
		win_handle_close(e.handle);
	}
	win_objects_lock();
	e.object->owns_fd = true;
	win_objects_unlock(false);
	win_object_unref(e.object);
	return 0;
}
