/* SPDX-License-Identifier: MIT
 *
 * Threads of other processes, as the ids of events name them.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <stdlib.h>

static DWORD process_of(DWORD tid)
{
	char path[64], line[256];
	DWORD pid = 0;
	snprintf(path, sizeof path, "/proc/%u/status", tid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "Tgid:", 5) == 0) {
			pid = (DWORD)strtoul(line + 5, NULL, 10);
			break;
		}
	}
	if (f) {
		fclose(f);
	}
	return pid;
}

HANDLE WINAPI OpenThread(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwThreadId)
{
	if (dwThreadId == 0 || process_of(dwThreadId) == 0) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	struct win_object *o = win_object_new(WIN_THREAD);
	if (o) {
		o->pid = (int)dwThreadId;
	}
	return win_handle_give(o);
}

DWORD WINAPI GetProcessIdOfThread(HANDLE Thread)
{
	DWORD tid = GetThreadId(Thread);
	DWORD pid = tid ? process_of(tid) : 0;
	if (tid && !pid) {
		SetLastError(ERROR_INVALID_PARAMETER); /* it has ended */
	}
	return pid;
}
