/* SPDX-License-Identifier: MIT
 *
 * Heaps and local memory: malloc under other names.
 */
#include "win/win.h"

#include "win/windows.h"

#include <malloc.h>
#include <stdlib.h>

static void *allocate(bool zero, SIZE_T n)
{
	void *p = zero ? calloc(1, n ? n : 1) : malloc(n ? n : 1);
	if (!p) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	}
	return p;
}

HANDLE WINAPI GetProcessHeap(void)
{
	static int heap;
	return &heap;
}
HANDLE WINAPI HeapCreate(DWORD flOptions, SIZE_T dwInitialSize, SIZE_T dwMaximumSize)
{
	return win_object_new(WIN_HEAP);
}
BOOL WINAPI HeapDestroy(HANDLE hHeap)
{
	struct win_object *o = win_object_of(hHeap, WIN_HEAP);
	if (o) {
		win_object_unref(o);
	}
	return o != NULL;
}
LPVOID WINAPI HeapAlloc(HANDLE hHeap, DWORD dwFlags, SIZE_T dwBytes)
{
	return allocate(dwFlags & HEAP_ZERO_MEMORY, dwBytes);
}
LPVOID WINAPI HeapReAlloc(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem, SIZE_T dwBytes)
{
	size_t before = malloc_usable_size(lpMem);
	char *p = realloc(lpMem, dwBytes ? dwBytes : 1);
	if (!p) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	} else if ((dwFlags & HEAP_ZERO_MEMORY) && dwBytes > before) {
		memset(p + before, 0, dwBytes - before);
	}
	return p;
}
BOOL WINAPI HeapFree(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem)
{
	free(lpMem);
	return TRUE;
}
SIZE_T WINAPI HeapSize(HANDLE hHeap, DWORD dwFlags, LPCVOID lpMem)
{
	return malloc_usable_size((void *)(uintptr_t)lpMem);
}
HLOCAL WINAPI LocalAlloc(UINT uFlags, SIZE_T uBytes)
{
	return allocate(uFlags & LMEM_ZEROINIT, uBytes);
}
HLOCAL WINAPI LocalFree(HLOCAL hMem)
{
	free(hMem);
	return NULL;
}
HGLOBAL WINAPI GlobalAlloc(UINT uFlags, SIZE_T dwBytes)
{
	return allocate(uFlags & GPTR, dwBytes);
}
HGLOBAL WINAPI GlobalFree(HGLOBAL hMem)
{
	free(hMem);
	return NULL;
}
LPVOID WINAPI CoTaskMemAlloc(SIZE_T cb)
{
	return allocate(false, cb);
}
VOID WINAPI CoTaskMemFree(LPVOID pv)
{
	free(pv);
}
