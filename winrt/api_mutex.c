/* SPDX-License-Identifier: MIT
 *
 * Mutexes and semaphores: objects like events (api_handle.c), which waits take. A thread that ends with
 * a mutex keeps it: nobody is told that it was abandoned.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <stdlib.h>

HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner, LPCWSTR lpName)
{
	struct win_object *o = win_object_named(WIN_MUTEX, lpName, false);
	if (!o) {
		return NULL;
	}
	if (bInitialOwner && GetLastError() != ERROR_ALREADY_EXISTS) {
		o->pid = (int)GetCurrentThreadId();
		o->count = 1;
	}
	win_objects_unlock(false);
	return win_handle_give(o);
}
HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner, LPCSTR lpName)
{
	uint16_t *name = win_utf16(lpName);
	HANDLE h = CreateMutexW(lpMutexAttributes, bInitialOwner, name);
	DWORD code = GetLastError();
	free(name);
	SetLastError(code);
	return h;
}
HANDLE WINAPI CreateMutexExW(LPSECURITY_ATTRIBUTES lpMutexAttributes, LPCWSTR lpName, DWORD dwFlags,
			     DWORD dwDesiredAccess)
{
	return CreateMutexW(lpMutexAttributes, !!(dwFlags & CREATE_MUTEX_INITIAL_OWNER), lpName);
}
HANDLE WINAPI OpenMutexW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName)
{
	struct win_object *o = win_object_named(WIN_MUTEX, lpName, true);
	if (o) {
		win_objects_unlock(false);
	}
	return win_handle_give(o);
}
BOOL WINAPI ReleaseMutex(HANDLE hMutex)
{
	WIN_USED struct win_object *o = win_object_of(hMutex, WIN_MUTEX);
	if (!o) {
		return FALSE;
	}
	win_objects_lock();
	bool mine = o->pid == (int)GetCurrentThreadId() && o->count > 0;
	bool freed = mine && --o->count == 0;
	if (freed) {
		o->pid = 0;
	}
	win_objects_unlock(freed);
	return mine ? TRUE : win_fail(ERROR_NOT_OWNER);
}

HANDLE WINAPI CreateSemaphoreW(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount, LONG lMaximumCount,
			       LPCWSTR lpName)
{
	if (lMaximumCount <= 0 || lInitialCount < 0 || lInitialCount > lMaximumCount) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	struct win_object *o = win_object_named(WIN_SEMAPHORE, lpName, false);
	if (!o) {
		return NULL;
	}
	if (GetLastError() != ERROR_ALREADY_EXISTS) {
		o->count = lInitialCount;
		o->limit = lMaximumCount;
	}
	win_objects_unlock(false);
	return win_handle_give(o);
}
HANDLE WINAPI CreateSemaphoreA(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount, LONG lMaximumCount,
			       LPCSTR lpName)
{
	uint16_t *name = win_utf16(lpName);
	HANDLE h = CreateSemaphoreW(lpSemaphoreAttributes, lInitialCount, lMaximumCount, name);
	DWORD code = GetLastError();
	free(name);
	SetLastError(code);
	return h;
}
HANDLE WINAPI CreateSemaphoreExW(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount, LONG lMaximumCount,
				 LPCWSTR lpName, DWORD dwFlags, DWORD dwDesiredAccess)
{
	return CreateSemaphoreW(lpSemaphoreAttributes, lInitialCount, lMaximumCount, lpName);
}
HANDLE WINAPI OpenSemaphoreW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName)
{
	struct win_object *o = win_object_named(WIN_SEMAPHORE, lpName, true);
	if (o) {
		win_objects_unlock(false);
	}
	return win_handle_give(o);
}
BOOL WINAPI ReleaseSemaphore(HANDLE hSemaphore, LONG lReleaseCount, LPLONG lpPreviousCount)
{
	WIN_USED struct win_object *o = win_object_of(hSemaphore, WIN_SEMAPHORE);
	if (!o) {
		return FALSE;
	}
	if (lReleaseCount <= 0) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	win_objects_lock();
	bool fits = lReleaseCount <= o->limit - o->count;
	if (fits && lpPreviousCount) {
		*lpPreviousCount = (LONG)o->count;
	}
	o->count += fits ? lReleaseCount : 0;
	win_objects_unlock(fits);
	return fits ? TRUE : win_fail(ERROR_TOO_MANY_POSTS);
}
