/* SPDX-License-Identifier: MIT
 *
 * Volumes and drive letters, of which this system has none: consumers that translate device names into
 * drive letters ask, are told so, and leave paths as they are.
 */
#include "winrt/win.h"

#include "win/windows.h"

#define ERROR_NO_MORE_FILES_ 18u

DWORD WINAPI GetLogicalDrives(void)
{
	SetLastError(0);
	return 0;
}

DWORD WINAPI QueryDosDeviceW(LPCWSTR lpDeviceName, LPWSTR lpTargetPath, DWORD ucchMax)
{
	SetLastError(2); /* no such device */
	return 0;
}

DWORD WINAPI QueryDosDeviceA(LPCSTR lpDeviceName, LPSTR lpTargetPath, DWORD ucchMax)
{
	SetLastError(2);
	return 0;
}

HANDLE WINAPI FindFirstVolumeW(LPWSTR lpszVolumeName, DWORD cchBufferLength)
{
	SetLastError(ERROR_NO_MORE_FILES_);
	return (HANDLE)(LONG_PTR)-1;
}

BOOL WINAPI FindNextVolumeW(HANDLE hFindVolume, LPWSTR lpszVolumeName, DWORD cchBufferLength)
{
	SetLastError(ERROR_NO_MORE_FILES_);
	return 0;
}

BOOL WINAPI FindVolumeClose(HANDLE hFindVolume)
{
	SetLastError(6);
	return 0;
}

/* As 64-bit Windows says to 64-bit programs. */
BOOL WINAPI Wow64DisableWow64FsRedirection(PVOID *OldValue)
{
	SetLastError(1);
	return 0;
}

BOOL WINAPI Wow64RevertWow64FsRedirection(PVOID OlValue)
{
	SetLastError(1);
	return 0;
}

DWORD WINAPI GetLogicalDriveStringsW(DWORD nBufferLength, LPWSTR lpBuffer)
{
	SetLastError(0);
	if (lpBuffer && nBufferLength) {
		lpBuffer[0] = 0;
	}
	return 0;
}
