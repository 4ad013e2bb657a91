/* SPDX-License-Identifier: MIT
 *
 * Views of files.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY 65536u

/* What UnmapViewOfFile must know of an address. */
struct view {
	void *at;
	size_t bytes;
	struct view *next;
};
static pthread_mutex_t views_lock = PTHREAD_MUTEX_INITIALIZER;
static struct view *views;

HANDLE WINAPI CreateFileMappingW(HANDLE hFile, LPSECURITY_ATTRIBUTES lpAttributes, DWORD flProtect,
				 DWORD dwMaximumSizeHigh, DWORD dwMaximumSizeLow, LPCWSTR lpName)
{
	WIN_USED struct win_object *file = win_object_of(hFile, WIN_FILE);
	struct stat st;
	if (!file) {
		return NULL;
	}
	if (lpName || (flProtect != PAGE_READONLY && flProtect != PAGE_READWRITE)) {
		SetLastError(lpName ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER);
		return NULL;
	}
	if (fstat(file->fd, &st) < 0) {
		win_fail_errno();
		return NULL;
	}
	uint64_t wanted = (uint64_t)dwMaximumSizeHigh << 32 | dwMaximumSizeLow;
	if (st.st_size == 0 || wanted > (uint64_t)st.st_size) {
		SetLastError(st.st_size == 0 ? ERROR_FILE_INVALID : ERROR_NOT_SUPPORTED);
		return NULL;
	}
	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
	struct win_object *o = fd >= 0 ? win_object_new(WIN_MAPPING) : NULL;
	if (!o) {
		if (fd >= 0) {
			close(fd);
		} else {
			win_fail_errno();
		}
		return NULL;
	}
	o->fd = fd;
	o->owns_fd = true;
	o->count = (long)(wanted ? wanted : (uint64_t)st.st_size);
	SetLastError(ERROR_SUCCESS);
	return win_handle_give(o);
}
HANDLE WINAPI CreateFileMappingA(HANDLE hFile, LPSECURITY_ATTRIBUTES lpAttributes, DWORD flProtect,
				 DWORD dwMaximumSizeHigh, DWORD dwMaximumSizeLow, LPCSTR lpName)
{
	uint16_t *name = win_utf16(lpName);
	HANDLE h = CreateFileMappingW(hFile, lpAttributes, flProtect, dwMaximumSizeHigh, dwMaximumSizeLow, name);
	DWORD code = GetLastError();
	free(name);
	SetLastError(code);
	return h;
}

LPVOID WINAPI MapViewOfFile(HANDLE hFileMappingObject, DWORD dwDesiredAccess, DWORD dwFileOffsetHigh,
			    DWORD dwFileOffsetLow, SIZE_T dwNumberOfBytesToMap)
{
	WIN_USED struct win_object *o = win_object_of(hFileMappingObject, WIN_MAPPING);
	uint64_t from = (uint64_t)dwFileOffsetHigh << 32 | dwFileOffsetLow;
	if (!o) {
		return NULL;
	}
	if (from % GRANULARITY || from >= (uint64_t)o->count || dwNumberOfBytesToMap > (uint64_t)o->count - from) {
		SetLastError(from % GRANULARITY ? ERROR_MAPPED_ALIGNMENT : ERROR_INVALID_PARAMETER);
		return NULL;
	}
	size_t n = dwNumberOfBytesToMap ? dwNumberOfBytesToMap : (size_t)((uint64_t)o->count - from);
	bool copy = dwDesiredAccess & FILE_MAP_COPY;
	bool writes = copy || dwDesiredAccess & FILE_MAP_WRITE;
	struct view *v = malloc(sizeof *v);
	void *at = v ? mmap(NULL, n, PROT_READ | (writes ? PROT_WRITE : 0), copy ? MAP_PRIVATE : MAP_SHARED, o->fd,
			    (off_t)from)
		     : MAP_FAILED;
	if (at == MAP_FAILED) {
		win_fail_errno();
		free(v);
		return NULL;
	}
	pthread_mutex_lock(&views_lock);
	*v = (struct view){at, n, views};
	views = v;
	pthread_mutex_unlock(&views_lock);
	return at;
}

BOOL WINAPI UnmapViewOfFile(LPCVOID lpBaseAddress)
{
	pthread_mutex_lock(&views_lock);
	struct view **p = &views;
	while (*p && (*p)->at != lpBaseAddress) {
		p = &(*p)->next;
	}
	struct view *v = *p;
	if (v) {
		*p = v->next;
	}
	pthread_mutex_unlock(&views_lock);
	if (!v) {
		return win_fail(ERROR_INVALID_ADDRESS);
	}
	munmap(v->at, v->bytes);
	free(v);
	return TRUE;
}
