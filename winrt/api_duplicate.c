/* SPDX-License-Identifier: MIT
 *
 * DuplicateHandle, within one process.
 */
#include "winrt/win.h"

#include "win/windows.h"

static struct win_object *source_of(HANDLE h)
{
	if (h == GetCurrentProcess()) {
		return win_object_of_process((int)GetCurrentProcessId());
	}
	if (h == GetCurrentThread()) {
		return win_object_of_thread();
	}
	struct win_object *o = win_object_of(h, 0);
	if (o && o->kind == WIN_WAIT) { /* UnregisterWait ends it, and only once */
		win_object_unref(o);
		SetLastError(ERROR_INVALID_HANDLE);
		return NULL;
	}
	return o;
}

BOOL WINAPI DuplicateHandle(HANDLE hSourceProcessHandle, HANDLE hSourceHandle, HANDLE hTargetProcessHandle,
			    LPHANDLE lpTargetHandle, DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwOptions)
{
	bool closes = dwOptions & DUPLICATE_CLOSE_SOURCE;
	if (closes && !hTargetProcessHandle && !lpTargetHandle) { /* Windows: the source is closed, and that is all */
		return CloseHandle(hSourceHandle);
	}
	DWORD before = GetLastError();
	HANDLE twin = lpTargetHandle ? win_handle_give(source_of(hSourceHandle)) : NULL;
	DWORD code = twin ? before : lpTargetHandle ? GetLastError() : ERROR_INVALID_PARAMETER;
	if (closes) { /* whatever became of the duplicate */
		CloseHandle(hSourceHandle);
	}
	if (twin) {
		*lpTargetHandle = twin;
	}
	SetLastError(code);
	return twin != NULL;
}
