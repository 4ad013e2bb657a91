/* SPDX-License-Identifier: MIT
 *
 * Process snapshots: what /proc says at the moment of the call, kept in an anonymous file whose
 * position is the enumeration's, so that CloseHandle needs to know nothing of it.
 */
#include "winrt/win.h"

#include "win/tlhelp32.h"
#include "win/windows.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct entry {
	uint32_t pid, parent, threads;
	char name[64];
};

static bool read_entry(const char *pid, struct entry *ret_e)
{
	char path[288], line[512];
	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	FILE *f = fopen(path, "re");
	if (!f) {
		return false; /* it ended meanwhile */
	}
	size_t n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = 0;
	/* The name is in parentheses and may contain some itself. */
	char *open = strchr(line, '('), *close = strrchr(line, ')');
	if (!open || !close || close < open) {
		return false;
	}
	struct entry e = {.pid = (uint32_t)strtoul(pid, NULL, 10)};
	size_t length = BASE_MIN((size_t)(close - open - 1), sizeof e.name - 1);
	memcpy(e.name, open + 1, length);
	int parent = 0, threads = 0;
	if (sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &parent,
		   &threads) != 2) {
		return false;
	}
	e.parent = (uint32_t)parent;
	e.threads = (uint32_t)threads;
	*ret_e = e;
	return true;
}

HANDLE WINAPI CreateToolhelp32Snapshot(DWORD dwFlags, DWORD th32ProcessID)
{
	if (!(dwFlags & TH32CS_SNAPPROCESS)) {
		SetLastError(ERROR_NOT_SUPPORTED);
		return INVALID_HANDLE_VALUE;
	}
	struct win_object *o = win_object_new(WIN_FILE);
	DIR *d = o ? opendir("/proc") : NULL;
	if (!d) {
		goto fail;
	}
	o->fd = memfd_create("processes", MFD_CLOEXEC);
	o->owns_fd = true;
	if (o->fd < 0) {
		goto fail;
	}
	for (struct dirent *e; (e = readdir(d));) {
		struct entry process;
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && read_entry(e->d_name, &process) &&
		    write(o->fd, &process, sizeof process) != sizeof process) {
			goto fail;
		}
	}
	closedir(d);
	HANDLE h = win_handle_give(o);
	return h ? h : INVALID_HANDLE_VALUE;
fail:
	win_fail_errno();
	if (d) {
		closedir(d);
	}
	if (o) {
		win_object_unref(o);
	}
	return INVALID_HANDLE_VALUE;
}

static bool next(HANDLE snapshot, bool first, DWORD size, DWORD need, struct entry *ret_e)
{
	WIN_USED struct win_object *o = win_object_of(snapshot, WIN_FILE);
	if (!o) {
		return false;
	}
	if (size < need) {
		return win_fail(ERROR_BAD_LENGTH);
	}
	if (first) {
		lseek(o->fd, 0, SEEK_SET);
	}
	return read(o->fd, ret_e, sizeof *ret_e) == sizeof *ret_e || win_fail(ERROR_NO_MORE_FILES);
}

static BOOL get_narrow(HANDLE snapshot, bool first, LPPROCESSENTRY32 p)
{
	struct entry e;
	if (!p || !next(snapshot, first, p->dwSize, sizeof *p, &e)) {
		return FALSE;
	}
	*p = (PROCESSENTRY32){
		.dwSize = p->dwSize, .th32ProcessID = e.pid, .th32ParentProcessID = e.parent, .cntThreads = e.threads};
	memcpy(p->szExeFile, e.name, sizeof e.name);
	return TRUE;
}

static BOOL get_wide(HANDLE snapshot, bool first, LPPROCESSENTRY32W p)
{
	struct entry e;
	if (!p || !next(snapshot, first, p->dwSize, sizeof *p, &e)) {
		return FALSE;
	}
	*p = (PROCESSENTRY32W){
		.dwSize = p->dwSize, .th32ProcessID = e.pid, .th32ParentProcessID = e.parent, .cntThreads = e.threads};
	MultiByteToWideChar(CP_UTF8, 0, e.name, -1, p->szExeFile, MAX_PATH);
	return TRUE;
}

BOOL WINAPI Process32First(HANDLE hSnapshot, LPPROCESSENTRY32 lppe)
{
	return get_narrow(hSnapshot, true, lppe);
}
BOOL WINAPI Process32Next(HANDLE hSnapshot, LPPROCESSENTRY32 lppe)
{
	return get_narrow(hSnapshot, false, lppe);
}
BOOL WINAPI Process32FirstW(HANDLE hSnapshot, LPPROCESSENTRY32W lppe)
{
	return get_wide(hSnapshot, true, lppe);
}
BOOL WINAPI Process32NextW(HANDLE hSnapshot, LPPROCESSENTRY32W lppe)
{
	return get_wide(hSnapshot, false, lppe);
}
