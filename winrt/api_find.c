/* SPDX-License-Identifier: MIT
 *
 * FindFirstFile: the entries of a folder that a pattern fits.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>

#define UNITS_1601_TO_1970 116444736000000000LL

/* What the handle points to. */
struct find {
	DIR *folder;
	char pattern[256];
};

struct found {
	char name[256];
	struct stat st;
};

static void file_time(FILETIME *ret, const struct timespec *t)
{
	uint64_t v = (uint64_t)(t->tv_sec * 10000000LL + t->tv_nsec / 100 + UNITS_1601_TO_1970);
	ret->dwLowDateTime = (DWORD)v;
	ret->dwHighDateTime = (DWORD)(v >> 32);
}

static bool find_next(struct find *f, struct found *ret)
{
	struct dirent *e;
	while ((e = readdir(f->folder)) != NULL) {
		/* The pattern of all files is *.* there, whether they have a point or not. */
		bool all = strcmp(f->pattern, "*.*") == 0;
		if ((all || fnmatch(f->pattern, e->d_name, FNM_CASEFOLD | FNM_NOESCAPE) == 0) &&
		    fstatat(dirfd(f->folder), e->d_name, &ret->st, 0) == 0) {
			snprintf(ret->name, sizeof ret->name, "%s", e->d_name);
			return true;
		}
	}
	return false;
}

/* The members that come before the name are those of both structures. */
static void fill(WIN32_FIND_DATAA *d, const struct found *f)
{
	memset(d, 0, offsetof(WIN32_FIND_DATAA, cFileName));
	d->dwFileAttributes = S_ISDIR(f->st.st_mode) ? FILE_ATTRIBUTE_DIRECTORY : FILE_ATTRIBUTE_ARCHIVE;
	if (!(f->st.st_mode & 0222)) {
		d->dwFileAttributes |= FILE_ATTRIBUTE_READONLY;
	}
	if (f->name[0] == '.' && strcmp(f->name, ".") != 0 && strcmp(f->name, "..") != 0) {
		d->dwFileAttributes |= FILE_ATTRIBUTE_HIDDEN;
	}
	file_time(&d->ftCreationTime, &f->st.st_ctim);
	file_time(&d->ftLastAccessTime, &f->st.st_atim);
	file_time(&d->ftLastWriteTime, &f->st.st_mtim);
	d->nFileSizeHigh = (DWORD)((uint64_t)f->st.st_size >> 32);
	d->nFileSizeLow = (DWORD)f->st.st_size;
}

static void give_narrow(WIN32_FIND_DATAA *d, const struct found *f)
{
	fill(d, f);
	snprintf(d->cFileName, sizeof d->cFileName, "%s", f->name);
	d->cAlternateFileName[0] = 0;
}

static void give_wide(WIN32_FIND_DATAW *d, const struct found *f)
{
	fill((WIN32_FIND_DATAA *)d, f);
	uint16_t *w = win_utf16(f->name);
	size_t n = w ? BASE_MIN(utf16_len(w), MAX_PATH - 1) : 0;
	memcpy(d->cFileName, w ? w : (const uint16_t *)d->cFileName, 2 * n);
	d->cFileName[n] = 0;
	d->cAlternateFileName[0] = 0;
	free(w);
}

static struct find *find_first(const char *name, struct found *ret)
{
	char *path = name ? win_path(name) : NULL;
	struct find *f = path ? calloc(1, sizeof *f) : NULL;
	if (!f) {
		SetLastError(name ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER);
		free(path);
		return NULL;
	}
	char *slash = strrchr(path, '/');
	snprintf(f->pattern, sizeof f->pattern, "%s", slash ? slash + 1 : path);
	if (slash) {
		slash[slash == path] = 0;
	}
	f->folder = opendir(slash ? path : ".");
	free(path);
	if (!f->folder) {
		SetLastError(ERROR_PATH_NOT_FOUND);
	} else if (find_next(f, ret)) {
		return f;
	} else {
		closedir(f->folder);
		SetLastError(ERROR_FILE_NOT_FOUND);
	}
	free(f);
	return NULL;
}

HANDLE WINAPI FindFirstFileA(LPCSTR lpFileName, LPWIN32_FIND_DATAA lpFindFileData)
{
	struct found one;
	struct find *f = find_first(lpFileName, &one);
	if (f) {
		give_narrow(lpFindFileData, &one);
	}
	return f ? f : INVALID_HANDLE_VALUE;
}
HANDLE WINAPI FindFirstFileW(LPCWSTR lpFileName, LPWIN32_FIND_DATAW lpFindFileData)
{
	struct found one;
	char *name = win_utf8(lpFileName);
	struct find *f = find_first(name, &one);
	free(name);
	if (f) {
		give_wide(lpFindFileData, &one);
	}
	return f ? f : INVALID_HANDLE_VALUE;
}
BOOL WINAPI FindNextFileA(HANDLE hFindFile, LPWIN32_FIND_DATAA lpFindFileData)
{
	struct found one;
	if (!find_next(hFindFile, &one)) {
		return win_fail(ERROR_NO_MORE_FILES);
	}
	give_narrow(lpFindFileData, &one);
	return TRUE;
}
BOOL WINAPI FindNextFileW(HANDLE hFindFile, LPWIN32_FIND_DATAW lpFindFileData)
{
	struct found one;
	if (!find_next(hFindFile, &one)) {
		return win_fail(ERROR_NO_MORE_FILES);
	}
	give_wide(lpFindFileData, &one);
	return TRUE;
}
BOOL WINAPI FindClose(HANDLE hFindFile)
{
	struct find *f = hFindFile;
	if (!f || f == INVALID_HANDLE_VALUE) {
		return win_fail(ERROR_INVALID_HANDLE);
	}
	closedir(f->folder);
	free(f);
	return TRUE;
}
