/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_PSAPI_H
#define ETW_WIN_PSAPI_H
#include "windows.h"

/* The program's path, as QueryFullProcessImageName has it; its length, 0 on failure. */
ETW_API DWORD WINAPI GetProcessImageFileNameW(HANDLE hProcess, LPWSTR lpImageFileName, DWORD nSize);
ETW_API DWORD WINAPI GetProcessImageFileNameA(HANDLE hProcess, LPSTR lpImageFileName, DWORD nSize);
#ifdef UNICODE
#define GetProcessImageFileName GetProcessImageFileNameW
#else
#define GetProcessImageFileName GetProcessImageFileNameA
#endif
#define K32GetProcessImageFileNameW GetProcessImageFileNameW
#define K32GetProcessImageFileNameA GetProcessImageFileNameA
#endif
