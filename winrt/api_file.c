/* SPDX-License-Identifier: MIT
 *
 * Files by HANDLE, and the few path functions ETW tools call.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *win_path(const char *utf8)
{
	if (utf8[0] && utf8[1] == ':' && (utf8[2] == '\\' || utf8[2] == '/')) {
		utf8 += 2;
	}
	char *p = strdup(utf8);
	for (char *q = p; q && *q; q++) {
		*q = *q == '\\' ? '/' : *q;
	}
	return p;
}

static char *path_w(const WCHAR *w)
{
	char *u = win_utf8(w);
	char *p = u ? win_path(u) : NULL;
	free(u);
	if (!p) {
		SetLastError(w ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER);
	}
	return p;
}

static HANDLE open_path(const char *path, DWORD rights, DWORD disposition)
{
	bool rd = rights & (GENERIC_READ | GENERIC_ALL | FILE_READ_DATA);
	bool wr = rights & (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_DATA | FILE_APPEND_DATA);
	int flags = O_CLOEXEC | (rd && wr ? O_RDWR : wr ? O_WRONLY : O_RDONLY);
	if ((rights & FILE_APPEND_DATA) && !(rights & (GENERIC_WRITE | FILE_WRITE_DATA))) {
		flags |= O_APPEND;
	}
	switch (disposition) {
	case CREATE_NEW: flags |= O_CREAT | O_EXCL; break;
	case CREATE_ALWAYS: flags |= O_CREAT | O_TRUNC; break;
	case OPEN_ALWAYS: flags |= O_CREAT; break;
	case TRUNCATE_EXISTING: flags |= O_TRUNC; break;
	case OPEN_EXISTING: break;
	default: SetLastError(ERROR_INVALID_PARAMETER); return INVALID_HANDLE_VALUE;
	}
	bool existed = access(path, F_OK) == 0;
	int fd = open(path, flags, 0666);
	if (fd < 0) {
		if (errno == EEXIST) {
			SetLastError(ERROR_FILE_EXISTS);
		} else {
			win_fail_errno();
		}
		return INVALID_HANDLE_VALUE;
	}
	struct win_object *o = win_object_new(WIN_FILE);
	if (!o) {
		close(fd);
		return INVALID_HANDLE_VALUE;
	}
	o->fd = fd;
	o->owns_fd = true;
	bool says_so = disposition == CREATE_ALWAYS || disposition == OPEN_ALWAYS;
	HANDLE h = win_handle_give(o);
	if (!h) {
		return INVALID_HANDLE_VALUE;
	}
	SetLastError(existed && says_so ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
	return h;
}

HANDLE WINAPI CreateFileA(LPCSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
			  LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
			  DWORD dwFlagsAndAttributes, HANDLE hTemplateFile)
{
	char *p = lpFileName ? win_path(lpFileName) : NULL;
	HANDLE h = INVALID_HANDLE_VALUE;
	if (p) {
		h = open_path(p, dwDesiredAccess, dwCreationDisposition);
	} else {
		SetLastError(ERROR_INVALID_PARAMETER);
	}
	free(p);
	return h;
}
HANDLE WINAPI CreateFileW(LPCWSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
			  LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
			  DWORD dwFlagsAndAttributes, HANDLE hTemplateFile)
{
	char *p = path_w(lpFileName);
	HANDLE h = p ? open_path(p, dwDesiredAccess, dwCreationDisposition) : INVALID_HANDLE_VALUE;
	free(p);
	return h;
}

static DWORD type_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0) {
		win_fail_errno();
		return FILE_TYPE_UNKNOWN;
	}
	return S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)     ? FILE_TYPE_DISK
	       : S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ? FILE_TYPE_PIPE
							      : FILE_TYPE_CHAR;
}

BOOL WINAPI ReadFile(HANDLE hFile, LPVOID lpBuffer, DWORD nNumberOfBytesToRead, LPDWORD lpNumberOfBytesRead,
		     LPOVERLAPPED lpOverlapped)
{
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	if (!o) {
		return FALSE;
	}
	size_t done = 0;
	while (done < nNumberOfBytesToRead) {
		char *at = (char *)lpBuffer + done;
		size_t left = nNumberOfBytesToRead - done;
		off_t off = lpOverlapped ? (off_t)((uint64_t)lpOverlapped->OffsetHigh << 32 | lpOverlapped->Offset) +
						   (off_t)done
					 : 0;
		ssize_t n = lpOverlapped ? pread(o->fd, at, left, off) : read(o->fd, at, left);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return win_fail_errno();
		}
		done += (size_t)n;
		if (n == 0 || type_of(o->fd) != FILE_TYPE_DISK) {
			break;
		}
	}
	if (lpNumberOfBytesRead) {
		*lpNumberOfBytesRead = (DWORD)done;
	}
	return TRUE;
}

BOOL WINAPI WriteFile(HANDLE hFile, LPCVOID lpBuffer, DWORD nNumberOfBytesToWrite, LPDWORD lpNumberOfBytesWritten,
		      LPOVERLAPPED lpOverlapped)
{
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	if (!o) {
		return FALSE;
	}
	size_t done = 0;
	while (done < nNumberOfBytesToWrite) {
		const char *at = (const char *)lpBuffer + done;
		size_t left = nNumberOfBytesToWrite - done;
		off_t off = lpOverlapped ? (off_t)((uint64_t)lpOverlapped->OffsetHigh << 32 | lpOverlapped->Offset) +
						   (off_t)done
					 : 0;
		ssize_t n = lpOverlapped ? pwrite(o->fd, at, left, off) : write(o->fd, at, left);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return win_fail_errno();
		}
		done += (size_t)n;
	}
	if (lpNumberOfBytesWritten) {
		*lpNumberOfBytesWritten = (DWORD)done;
	}
	return TRUE;
}

BOOL WINAPI FlushFileBuffers(HANDLE hFile)
{
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	return !o ? FALSE : fsync(o->fd) == 0 ? TRUE : win_fail_errno();
}

BOOL WINAPI GetFileSizeEx(HANDLE hFile, PLARGE_INTEGER lpFileSize)
{
	struct stat st;
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	if (!o) {
		return FALSE;
	}
	if (fstat(o->fd, &st) < 0) {
		return win_fail_errno();
	}
	lpFileSize->QuadPart = st.st_size;
	return TRUE;
}

DWORD WINAPI GetFileType(HANDLE hFile)
{
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	return o ? type_of(o->fd) : FILE_TYPE_UNKNOWN;
}

BOOL WINAPI SetFilePointerEx(HANDLE hFile, LARGE_INTEGER liDistanceToMove, PLARGE_INTEGER lpNewFilePointer,
			     DWORD dwMoveMethod)
{
	static const int whence[] = {SEEK_SET, SEEK_CUR, SEEK_END};
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	if (!o) {
		return FALSE;
	}
	if (dwMoveMethod > FILE_END) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	off_t at = lseek(o->fd, (off_t)liDistanceToMove.QuadPart, whence[dwMoveMethod]);
	if (at < 0) {
		return win_fail_errno();
	}
	if (lpNewFilePointer) {
		lpNewFilePointer->QuadPart = at;
	}
	return TRUE;
}

/* ---- paths -------------------------------------------------------------------------------------
 */

static BOOL done(int r)
{
	if (r < 0 && errno == EEXIST) {
		return win_fail(ERROR_ALREADY_EXISTS);
	}
	return r == 0 ? TRUE : win_fail_errno();
}

BOOL WINAPI DeleteFileA(LPCSTR lpFileName)
{
	char *p = win_path(lpFileName);
	BOOL ok = p && done(unlink(p));
	free(p);
	return ok;
}
BOOL WINAPI DeleteFileW(LPCWSTR lpFileName)
{
	char *p = path_w(lpFileName);
	BOOL ok = p && done(unlink(p));
	free(p);
	return ok;
}
BOOL WINAPI MoveFileW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName)
{
	char *from = path_w(lpExistingFileName), *to = path_w(lpNewFileName);
	BOOL ok = FALSE;
	if (from && to) {
		/* Windows does not replace an existing file here. */
		ok = access(to, F_OK) == 0 ? win_fail(ERROR_ALREADY_EXISTS) : done(rename(from, to));
	}
	free(from);
	free(to);
	return ok;
}
BOOL WINAPI CreateDirectoryA(LPCSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes)
{
	char *p = win_path(lpPathName);
	BOOL ok = p && done(mkdir(p, 0777));
	free(p);
	return ok;
}
BOOL WINAPI CreateDirectoryW(LPCWSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes)
{
	char *p = path_w(lpPathName);
	BOOL ok = p && done(mkdir(p, 0777));
	free(p);
	return ok;
}

static DWORD attributes(const char *path)
{
	struct stat st;
	if (!path || stat(path, &st) < 0) {
		win_fail_errno();
		return INVALID_FILE_ATTRIBUTES;
	}
	DWORD a = S_ISDIR(st.st_mode) ? FILE_ATTRIBUTE_DIRECTORY : 0;
	a |= access(path, W_OK) < 0 ? FILE_ATTRIBUTE_READONLY : 0;
	return a ? a : FILE_ATTRIBUTE_NORMAL;
}
DWORD WINAPI GetFileAttributesA(LPCSTR lpFileName)
{
	char *p = win_path(lpFileName);
	DWORD a = attributes(p);
	free(p);
	return a;
}
DWORD WINAPI GetFileAttributesW(LPCWSTR lpFileName)
{
	char *p = path_w(lpFileName);
	DWORD a = p ? attributes(p) : INVALID_FILE_ATTRIBUTES;
	free(p);
	return a;
}

BOOL WINAPI CancelIo(HANDLE hFile)
{
	return win_handle_is(hFile, 0);
}
BOOL WINAPI CancelIoEx(HANDLE hFile, LPOVERLAPPED lpOverlapped)
{
	return win_handle_is(hFile, 0) ? win_fail(ERROR_NOT_FOUND) : FALSE;
}
BOOL WINAPI CancelSynchronousIo(HANDLE hThread)
{
	return win_handle_is(hThread, WIN_THREAD) ? win_fail(ERROR_NOT_FOUND) : FALSE;
}

/* Text into a caller's buffer of `cap` units: length without terminator, or with it when too small.
 */
static DWORD give_w(const char *text, LPWSTR buf, DWORD cap)
{
	uint16_t *w = win_utf16(text);
	DWORD n = w ? (DWORD)utf16_len(w) : 0;
	bool fits = w && n < cap;
	if (fits) {
		memcpy(buf, w, 2 * (n + 1));
	}
	free(w);
	return fits ? n : n + 1;
}
DWORD WINAPI GetCurrentDirectoryW(DWORD nBufferLength, LPWSTR lpBuffer)
{
	char p[PATH_MAX];
	return getcwd(p, sizeof p) ? give_w(p, lpBuffer, nBufferLength) : (DWORD)win_fail_errno();
}
DWORD WINAPI GetCurrentDirectoryA(DWORD nBufferLength, LPSTR lpBuffer)
{
	char p[PATH_MAX];
	if (!getcwd(p, sizeof p)) {
		return (DWORD)win_fail_errno();
	}
	DWORD n = (DWORD)strlen(p);
	if (n >= nBufferLength) {
		return n + 1;
	}
	memcpy(lpBuffer, p, n + 1);
	return n;
}
DWORD WINAPI GetFullPathNameW(LPCWSTR lpFileName, DWORD nBufferLength, LPWSTR lpBuffer, LPWSTR *lpFilePart)
{
	char *p = path_w(lpFileName), cwd[PATH_MAX];
	if (!p) {
		return 0;
	}
	struct strbuf full = {0};
	if (p[0] != '/' && getcwd(cwd, sizeof cwd)) {
		strbuf_addf(&full, "%s/", cwd);
	}
	strbuf_adds(&full, p);
	free(p);
	DWORD n = full.s ? give_w(full.s, lpBuffer, nBufferLength) : 0;
	if (lpFilePart && n && n < nBufferLength) {
		*lpFilePart = NULL;
		for (DWORD i = 0; i < n; i++) {
			if (lpBuffer[i] == '/' && lpBuffer[i + 1]) {
				*lpFilePart = lpBuffer + i + 1;
			}
		}
	}
	strbuf_finish(&full);
	return n;
}

/* The struct's member is spelled through the macro DeleteFile, like in the sources that set it. */
BOOL WINAPI SetFileInformationByHandle(HANDLE hFile, FILE_INFO_BY_HANDLE_CLASS FileInformationClass,
				       LPVOID lpFileInformation, DWORD dwBufferSize)
{
	WIN_USED struct win_object *o = win_object_of(hFile, WIN_FILE);
	if (!o) {
		return FALSE;
	}
	if (FileInformationClass == FileEndOfFileInfo && dwBufferSize >= sizeof(LARGE_INTEGER)) {
		const LARGE_INTEGER *at = lpFileInformation;
		return ftruncate(o->fd, at->QuadPart) == 0 ? TRUE : win_fail_errno();
	}
	if (FileInformationClass != FileDispositionInfo || dwBufferSize < 1) {
		return win_fail(FileInformationClass == FileDispositionInfo || FileInformationClass == FileEndOfFileInfo
					? ERROR_BAD_LENGTH
					: ERROR_NOT_SUPPORTED);
	}
	if (*(const BYTE *)lpFileInformation == 0) {
		return TRUE;
	}
	char link[64], path[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", o->fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n < 0) {
		return win_fail_errno();
	}
	path[n] = 0;
	return unlink(path) == 0 ? TRUE : win_fail_errno();
}
