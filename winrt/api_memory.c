/* SPDX-License-Identifier: MIT
 *
 * Heaps and local memory: malloc under other names.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
	return win_handle_give(win_object_new(WIN_HEAP));
}
BOOL WINAPI HeapDestroy(HANDLE hHeap)
{
	return win_handle_is(hHeap, WIN_HEAP) && win_handle_close(hHeap);
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

SIZE_T WINAPI LocalSize(HLOCAL hMem)
{
	return malloc_usable_size(hMem);
}

/* A page in front keeps the length. */
LPVOID WINAPI VirtualAlloc(LPVOID lpAddress, SIZE_T dwSize, DWORD flAllocationType, DWORD flProtect)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (lpAddress || dwSize == 0 || dwSize > SIZE_MAX / 2 || !(flAllocationType & (MEM_COMMIT | MEM_RESERVE))) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	size_t n = page + dwSize;
	uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	memcpy(p, &n, sizeof n);
	if (flProtect == PAGE_NOACCESS || flProtect == PAGE_READONLY) {
		mprotect(p + page, dwSize, flProtect == PAGE_READONLY ? PROT_READ : PROT_NONE);
	}
	return p + page;
}
BOOL WINAPI VirtualFree(LPVOID lpAddress, SIZE_T dwSize, DWORD dwFreeType)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n;
	if (!lpAddress || (uintptr_t)lpAddress % page || dwFreeType != MEM_RELEASE || dwSize) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	uint8_t *p = (uint8_t *)lpAddress - page;
	memcpy(&n, p, sizeof n);
	return munmap(p, n) == 0 ? TRUE : win_fail_errno();
}
