/* SPDX-License-Identifier: MIT
 *
 * Processes and their modules. Sizes of buffers in characters with terminator; names that do not fit are
 * cut off, with ERROR_INSUFFICIENT_BUFFER. The names with K32 are there, too.
 */
#ifndef ETW_WIN_PSAPI_H
#define ETW_WIN_PSAPI_H
#include "windows.h"

EXTERN_C_START
#define LIST_MODULES_DEFAULT 0
#define LIST_MODULES_32BIT   1
#define LIST_MODULES_64BIT   2
#define LIST_MODULES_ALL     3

typedef struct _MODULEINFO {
	LPVOID lpBaseOfDll; /* where its first segment lies */
	DWORD SizeOfImage;
	LPVOID EntryPoint; /* always NULL */
} MODULEINFO, *LPMODULEINFO;

typedef struct _PROCESS_MEMORY_COUNTERS {
	DWORD cb;
	DWORD PageFaultCount;
	SIZE_T PeakWorkingSetSize;
	SIZE_T WorkingSetSize;
	SIZE_T QuotaPeakPagedPoolUsage; /* these four are 0 */
	SIZE_T QuotaPagedPoolUsage;
	SIZE_T QuotaPeakNonPagedPoolUsage;
	SIZE_T QuotaNonPagedPoolUsage;
	SIZE_T PagefileUsage;
	SIZE_T PeakPagefileUsage;
} PROCESS_MEMORY_COUNTERS, *PPROCESS_MEMORY_COUNTERS;
typedef struct _PROCESS_MEMORY_COUNTERS_EX {
	DWORD cb;
	DWORD PageFaultCount;
	SIZE_T PeakWorkingSetSize;
	SIZE_T WorkingSetSize;
	SIZE_T QuotaPeakPagedPoolUsage;
	SIZE_T QuotaPagedPoolUsage;
	SIZE_T QuotaPeakNonPagedPoolUsage;
	SIZE_T QuotaNonPagedPoolUsage;
	SIZE_T PagefileUsage;
	SIZE_T PeakPagefileUsage;
	SIZE_T PrivateUsage;
} PROCESS_MEMORY_COUNTERS_EX, *PPROCESS_MEMORY_COUNTERS_EX;

/* Each under the name of psapi and that of kernel32. */
#define ETW_PSAPI(ret, name, parameters)    \
	ETW_API ret WINAPI name parameters; \
	ETW_API ret WINAPI K32##name parameters;
/* *lpcbNeeded: bytes that were written. */
ETW_PSAPI(BOOL, EnumProcesses, (DWORD * lpidProcess, DWORD cb, LPDWORD lpcbNeeded))
/* The files that are mapped to be executed, the program first; *lpcbNeeded: bytes for all of them. Other
 * users' processes: ERROR_ACCESS_DENIED. */
ETW_PSAPI(BOOL, EnumProcessModules, (HANDLE hProcess, HMODULE *lphModule, DWORD cb, LPDWORD lpcbNeeded))
ETW_PSAPI(BOOL, EnumProcessModulesEx,
	  (HANDLE hProcess, HMODULE *lphModule, DWORD cb, LPDWORD lpcbNeeded, DWORD dwFilterFlag))
/* hModule NULL: the program. */
ETW_PSAPI(DWORD, GetModuleFileNameExW, (HANDLE hProcess, HMODULE hModule, LPWSTR lpFilename, DWORD nSize))
ETW_PSAPI(DWORD, GetModuleFileNameExA, (HANDLE hProcess, HMODULE hModule, LPSTR lpFilename, DWORD nSize))
ETW_PSAPI(DWORD, GetModuleBaseNameW, (HANDLE hProcess, HMODULE hModule, LPWSTR lpBaseName, DWORD nSize))
ETW_PSAPI(DWORD, GetModuleBaseNameA, (HANDLE hProcess, HMODULE hModule, LPSTR lpBaseName, DWORD nSize))
ETW_PSAPI(BOOL, GetModuleInformation, (HANDLE hProcess, HMODULE hModule, LPMODULEINFO lpmodinfo, DWORD cb))
/* Also takes a PROCESS_MEMORY_COUNTERS_EX. */
ETW_PSAPI(BOOL, GetProcessMemoryInfo, (HANDLE Process, PPROCESS_MEMORY_COUNTERS ppsmemCounters, DWORD cb))
/* There are none: drivers of Windows' kernel. */
ETW_PSAPI(BOOL, EnumDeviceDrivers, (LPVOID * lpImageBase, DWORD cb, LPDWORD lpcbNeeded))
ETW_PSAPI(DWORD, GetDeviceDriverBaseNameW, (LPVOID ImageBase, LPWSTR lpBaseName, DWORD nSize))
ETW_PSAPI(DWORD, GetDeviceDriverBaseNameA, (LPVOID ImageBase, LPSTR lpBaseName, DWORD nSize))
ETW_PSAPI(DWORD, GetDeviceDriverFileNameW, (LPVOID ImageBase, LPWSTR lpFilename, DWORD nSize))
ETW_PSAPI(DWORD, GetDeviceDriverFileNameA, (LPVOID ImageBase, LPSTR lpFilename, DWORD nSize))
/* The program's path, as QueryFullProcessImageName has it; its length, 0 on failure. */
ETW_PSAPI(DWORD, GetProcessImageFileNameW, (HANDLE hProcess, LPWSTR lpImageFileName, DWORD nSize))
ETW_PSAPI(DWORD, GetProcessImageFileNameA, (HANDLE hProcess, LPSTR lpImageFileName, DWORD nSize))
#undef ETW_PSAPI
EXTERN_C_END

#ifdef UNICODE
#define GetModuleFileNameEx     GetModuleFileNameExW
#define GetModuleBaseName       GetModuleBaseNameW
#define GetProcessImageFileName GetProcessImageFileNameW
#define GetDeviceDriverBaseName GetDeviceDriverBaseNameW
#define GetDeviceDriverFileName GetDeviceDriverFileNameW
#else
#define GetModuleFileNameEx     GetModuleFileNameExA
#define GetModuleBaseName       GetModuleBaseNameA
#define GetProcessImageFileName GetProcessImageFileNameA
#define GetDeviceDriverBaseName GetDeviceDriverBaseNameA
#define GetDeviceDriverFileName GetDeviceDriverFileNameA
#endif
#endif
