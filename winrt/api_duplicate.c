/* SPDX-License-Identifier: MIT
 *
 * DuplicateHandle, within one process.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <fcntl.h>

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

/* A duplicate of what the program may close with a function of the C runtime has a descriptor of its own. */
static struct win_object *on_its_own(struct win_object *o)
{
	if (!o || o->kind != WIN_FILE || o->owns_fd || o->fd < 0) {
		return o;
	}
	struct win_object *twin = win_object_new(WIN_FILE);
	if (twin) {
		twin->fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
		twin->owns_fd = true;
	}
	if (twin && twin->fd < 0) {
		win_fail_errno();
		win_object_unref(twin);
		twin = NULL;
	}
	win_object_unref(o);
	return twin;
}

BOOL WINAPI DuplicateHandle(HANDLE hSourceProcessHandle, HANDLE hSourceHandle, HANDLE hTargetProcessHandle,
			    LPHANDLE lpTargetHandle, DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwOptions)
{
	bool closes = dwOptions & DUPLICATE_CLOSE_SOURCE;
	if (closes && !hTargetProcessHandle && !lpTargetHandle) { /* Windows: the source is closed, and that is all */
		return CloseHandle(hSourceHandle);
	}
	DWORD before = GetLastError();
	HANDLE twin = lpTargetHandle ? win_handle_give(on_its_own(source_of(hSourceHandle))) : NULL;
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
