/* SPDX-License-Identifier: MIT
 *
 * The list of processes, as of the moment of CreateToolhelp32Snapshot.
 */
#ifndef ETW_WIN_TLHELP32_H
#define ETW_WIN_TLHELP32_H
#include "winbase.h"

#define TH32CS_SNAPHEAPLIST 1
#define TH32CS_SNAPPROCESS  2
#define TH32CS_SNAPTHREAD   4
#define TH32CS_SNAPMODULE   8
#define TH32CS_SNAPALL      15

typedef struct tagPROCESSENTRY32 {
	DWORD dwSize; /* set it before Process32First */
	DWORD cntUsage;
	DWORD th32ProcessID;
	ULONG_PTR th32DefaultHeapID;
	DWORD th32ModuleID;
	DWORD cntThreads;
	DWORD th32ParentProcessID;
	LONG pcPriClassBase;
	DWORD dwFlags;
	CHAR szExeFile[MAX_PATH];
} PROCESSENTRY32, *PPROCESSENTRY32, *LPPROCESSENTRY32;
typedef struct tagPROCESSENTRY32W {
	DWORD dwSize;
	DWORD cntUsage;
	DWORD th32ProcessID;
	ULONG_PTR th32DefaultHeapID;
	DWORD th32ModuleID;
	DWORD cntThreads;
	DWORD th32ParentProcessID;
	LONG pcPriClassBase;
	DWORD dwFlags;
	WCHAR szExeFile[MAX_PATH];
} PROCESSENTRY32W, *PPROCESSENTRY32W, *LPPROCESSENTRY32W;

/* Only TH32CS_SNAPPROCESS; INVALID_HANDLE_VALUE and ERROR_NOT_SUPPORTED for the others. Free with
 * CloseHandle. The two calls return FALSE and ERROR_NO_MORE_FILES at the end, ERROR_BAD_LENGTH when
 * dwSize is too small. szExeFile is the command name of the process. */
ETW_API HANDLE WINAPI CreateToolhelp32Snapshot(DWORD dwFlags, DWORD th32ProcessID);
ETW_API BOOL WINAPI Process32First(HANDLE hSnapshot, LPPROCESSENTRY32 lppe);
ETW_API BOOL WINAPI Process32Next(HANDLE hSnapshot, LPPROCESSENTRY32 lppe);
ETW_API BOOL WINAPI Process32FirstW(HANDLE hSnapshot, LPPROCESSENTRY32W lppe);
ETW_API BOOL WINAPI Process32NextW(HANDLE hSnapshot, LPPROCESSENTRY32W lppe);
#ifdef UNICODE
#define PROCESSENTRY32   PROCESSENTRY32W
#define PPROCESSENTRY32  PPROCESSENTRY32W
#define LPPROCESSENTRY32 LPPROCESSENTRY32W
#define Process32First   Process32FirstW
#define Process32Next    Process32NextW
#endif

#endif
