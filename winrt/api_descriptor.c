/* SPDX-License-Identifier: MIT
 *
 * Descriptors of handles, and handles of descriptors: each descriptor has at most one, which lives until _close().
 * The program may close a descriptor with a function of libc (close, fclose, dup2), which tells us nothing. A handle
 * therefore remembers which file its descriptor was, and is refused when the number is another file's.
 */
#include "winrt/win.h"

#include "win/io.h"
#include "win/windows.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* Its handle, too, when it stands for a file that is gone. */
static void forget(struct of_fd *e)
{
	if (e->object && win_handle_object(e->handle) == e->object) {
		win_handle_close(e->handle);
	}
	win_object_unref(e->object);
	*e = (struct of_fd){0};
}

INT_PTR _get_osfhandle(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0) {
		return (INT_PTR)INVALID_HANDLE_VALUE;
	}
	pthread_mutex_lock(&fds_lock);
	struct of_fd *e = entry_locked((size_t)fd);
	if (e && !still_there(e)) {
		forget(e);
		*e = (struct of_fd){.object = win_object_new(WIN_FILE)};
		if (e->object) {
			e->object->fd = fd;
			e->object->of_fd = true;
			e->object->dev = st.st_dev;
			e->object->ino = st.st_ino;
			e->object->refs = 2; /* of the handle, and of this table */
			e->handle = win_handle_give(e->object);
		}
	}
	HANDLE h = e ? e->handle : NULL;
	pthread_mutex_unlock(&fds_lock);
	return h ? (INT_PTR)h : (INT_PTR)INVALID_HANDLE_VALUE;
}

/* What there is of a handle of this descriptor, which the table then has no more. Of a file that the program closed
 * in another way nothing is left. */
static struct of_fd take_entry(int fd)
{
	struct of_fd e = {0};
	pthread_mutex_lock(&fds_lock);
	if (fd >= 0 && (size_t)fd < fds_count && fds[fd].object) {
		if (win_object_has_file(fds[fd].object)) {
			e = fds[fd];
			fds[fd] = (struct of_fd){0};
		} else {
			forget(&fds[fd]);
		}
	}
	pthread_mutex_unlock(&fds_lock);
	return e;
}

/* The handle is closed, and this descriptor of the file becomes the object's, so that whoever uses the object keeps it. */
static void hand_over(struct of_fd *e)
{
	win_objects_lock();
	e->object->owns_fd = true;
	e->object->of_fd = false;
	win_objects_unlock(false);
	if (win_handle_object(e->handle) == e->object) {
		win_handle_close(e->handle);
	}
	win_object_unref(e->object);
}

int _close(int fd)
{
	if (fcntl(fd, F_GETFD) < 0) {
		return -1;
	}
	struct of_fd e = take_entry(fd);
	if (!e.object) {
		return close(fd);
	}
	hand_over(&e);
	return 0;
}

/* Zero, as Windows' has it, not the descriptor. */
int _dup2(int fd, int to)
{
	if (fd == to || fcntl(fd, F_GETFD) < 0) {
		return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
	}
	pthread_mutex_lock(&fds_lock);
	if (to >= 0 && (size_t)to < fds_count) {
		forget(&fds[to]);
	}
	pthread_mutex_unlock(&fds_lock);
	return dup2(fd, to) < 0 ? -1 : 0;
}
