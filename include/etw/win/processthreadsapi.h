/* SPDX-License-Identifier: MIT
 *
 * Processes and threads. Ids are the kernel's pid and tid, the same that events carry.
 */
#ifndef ETW_WIN_PROCESSTHREADSAPI_H
#define ETW_WIN_PROCESSTHREADSAPI_H
#define _PROCESSTHREADSAPI_H_

#include "winnt.h"

typedef struct _PROCESS_INFORMATION {
	HANDLE hProcess;
	HANDLE hThread;
	DWORD dwProcessId;
	DWORD dwThreadId;
} PROCESS_INFORMATION, *PPROCESS_INFORMATION, *LPPROCESS_INFORMATION;

#define ETW_STARTUPINFO(name, text)                      \
	typedef struct _##name {                         \
		DWORD cb;                                \
		text lpReserved;                         \
		text lpDesktop;                          \
		text lpTitle;                            \
		DWORD dwX, dwY, dwXSize, dwYSize;        \
		DWORD dwXCountChars, dwYCountChars;      \
		DWORD dwFillAttribute;                   \
		DWORD dwFlags;                           \
		WORD wShowWindow;                        \
		WORD cbReserved2;                        \
		BYTE *lpReserved2;                       \
		HANDLE hStdInput, hStdOutput, hStdError; \
	} name, *LP##name;
ETW_STARTUPINFO(STARTUPINFOA, LPSTR)
ETW_STARTUPINFO(STARTUPINFOW, LPWSTR)
#undef ETW_STARTUPINFO
#define STARTF_USESHOWWINDOW       0x00000001
#define STARTF_USESTDHANDLES       0x00000100
#define DETACHED_PROCESS           0x00000008
#define CREATE_NEW_CONSOLE         0x00000010
#define CREATE_NEW_PROCESS_GROUP   0x00000200
#define CREATE_UNICODE_ENVIRONMENT 0x00000400
#define CREATE_NO_WINDOW           0x08000000
#define PROCESS_DUP_HANDLE         0x0040

typedef DWORD(WINAPI *PTHREAD_START_ROUTINE)(LPVOID lpThreadParameter);
typedef PTHREAD_START_ROUTINE LPTHREAD_START_ROUTINE;

#define CREATE_SUSPENDED              0x00000004
#define THREAD_PRIORITY_IDLE          (-15)
#define THREAD_PRIORITY_LOWEST        (-2)
#define THREAD_PRIORITY_BELOW_NORMAL  (-1)
#define THREAD_PRIORITY_NORMAL        0
#define THREAD_PRIORITY_ABOVE_NORMAL  1
#define THREAD_PRIORITY_HIGHEST       2
#define THREAD_PRIORITY_TIME_CRITICAL 15
#define TLS_OUT_OF_INDEXES            0xFFFFFFFFu

typedef struct _SYSTEM_INFO {
	__extension__ union {
		DWORD dwOemId;
		__extension__ struct {
			WORD wProcessorArchitecture; /* 9 x64, 12 arm64 */
			WORD wReserved;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
	DWORD dwPageSize; /* bytes */
	LPVOID lpMinimumApplicationAddress;
	LPVOID lpMaximumApplicationAddress;
	DWORD_PTR dwActiveProcessorMask;
	DWORD dwNumberOfProcessors;
	DWORD dwProcessorType;
	DWORD dwAllocationGranularity; /* bytes */
	WORD wProcessorLevel;
	WORD wProcessorRevision;
} SYSTEM_INFO, *LPSYSTEM_INFO;
#define PROCESSOR_ARCHITECTURE_AMD64 9
#define PROCESSOR_ARCHITECTURE_ARM64 12

ETW_API DWORD WINAPI GetCurrentProcessId(void);
ETW_API DWORD WINAPI GetCurrentThreadId(void);
/* Pseudo handles: need no CloseHandle. */
ETW_API HANDLE WINAPI GetCurrentProcess(void);
ETW_API HANDLE WINAPI GetCurrentThread(void);
ETW_API DWORD WINAPI GetProcessId(HANDLE Process);
ETW_API DWORD WINAPI GetThreadId(HANDLE Thread);
/* A thread of any process, to ask about, not to wait for. NULL and ERROR_INVALID_PARAMETER when there is
 * none of that id. */
#define THREAD_QUERY_INFORMATION         0x0040
#define THREAD_QUERY_LIMITED_INFORMATION 0x0800
ETW_API HANDLE WINAPI OpenThread(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwThreadId);
ETW_API DWORD WINAPI GetProcessIdOfThread(HANDLE Thread);
/* NULL and ERROR_INVALID_PARAMETER when there is no such process. */
ETW_API HANDLE WINAPI OpenProcess(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwProcessId);
ETW_API BOOL WINAPI TerminateProcess(HANDLE hProcess, UINT uExitCode);
/* STILL_ACTIVE while it runs; then its code when this process started it, and 0 otherwise: another
 * process's code is not to be had on Linux. 0xC0000000 and the number of the signal that ended it. */
ETW_API BOOL WINAPI GetExitCodeProcess(HANDLE hProcess, LPDWORD lpExitCode);
ETW_API VOID WINAPI ExitProcess(UINT uExitCode) __attribute__((noreturn));
/* The program (with or without ".exe") and its arguments, which are cut as on Windows. The child has the
 * three handles of STARTF_USESTDHANDLES, and no others. CREATE_SUSPENDED: ERROR_NOT_SUPPORTED. */
ETW_API BOOL WINAPI CreateProcessW(LPCWSTR lpApplicationName, LPWSTR lpCommandLine,
				   LPSECURITY_ATTRIBUTES lpProcessAttributes, LPSECURITY_ATTRIBUTES lpThreadAttributes,
				   BOOL bInheritHandles, DWORD dwCreationFlags, LPVOID lpEnvironment,
				   LPCWSTR lpCurrentDirectory, LPSTARTUPINFOW lpStartupInfo,
				   LPPROCESS_INFORMATION lpProcessInformation);
ETW_API BOOL WINAPI CreateProcessA(LPCSTR lpApplicationName, LPSTR lpCommandLine,
				   LPSECURITY_ATTRIBUTES lpProcessAttributes, LPSECURITY_ATTRIBUTES lpThreadAttributes,
				   BOOL bInheritHandles, DWORD dwCreationFlags, LPVOID lpEnvironment,
				   LPCSTR lpCurrentDirectory, LPSTARTUPINFOA lpStartupInfo,
				   LPPROCESS_INFORMATION lpProcessInformation);
ETW_API VOID WINAPI GetStartupInfoW(LPSTARTUPINFOW lpStartupInfo);
ETW_API VOID WINAPI GetStartupInfoA(LPSTARTUPINFOA lpStartupInfo);
/* `dwStackSize` in bytes, 0 for the default. CREATE_SUSPENDED is honoured by ResumeThread. */
ETW_API HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES lpThreadAttributes, SIZE_T dwStackSize,
				   LPTHREAD_START_ROUTINE lpStartAddress, LPVOID lpParameter, DWORD dwCreationFlags,
				   LPDWORD lpThreadId);
ETW_API DWORD WINAPI ResumeThread(HANDLE hThread);
ETW_API BOOL WINAPI GetExitCodeThread(HANDLE hThread, LPDWORD lpExitCode);
ETW_API VOID WINAPI ExitThread(DWORD dwExitCode) __attribute__((noreturn));
/* Accepted; the scheduler decides. */
ETW_API BOOL WINAPI SetThreadPriority(HANDLE hThread, int nPriority);
ETW_API int WINAPI GetThreadPriority(HANDLE hThread);
/* Linux cannot kill one thread: FALSE, ERROR_NOT_SUPPORTED. */
ETW_API BOOL WINAPI TerminateThread(HANDLE hThread, DWORD dwExitCode);
ETW_API BOOL WINAPI SwitchToThread(void);
ETW_API DWORD WINAPI GetCurrentProcessorNumber(void);
ETW_API VOID WINAPI GetSystemInfo(LPSYSTEM_INFO lpSystemInfo);
ETW_API DWORD WINAPI TlsAlloc(void);
ETW_API LPVOID WINAPI TlsGetValue(DWORD dwTlsIndex);
ETW_API BOOL WINAPI TlsSetValue(DWORD dwTlsIndex, LPVOID lpTlsValue);
ETW_API BOOL WINAPI TlsFree(DWORD dwTlsIndex);
/* Path of the executable; *lpdwSize counts characters. */
#define PROCESS_NAME_NATIVE 1 /* the same name here */
ETW_API BOOL WINAPI QueryFullProcessImageNameA(HANDLE hProcess, DWORD dwFlags, LPSTR lpExeName, PDWORD lpdwSize);
ETW_API BOOL WINAPI QueryFullProcessImageNameW(HANDLE hProcess, DWORD dwFlags, LPWSTR lpExeName, PDWORD lpdwSize);
ETW_API BOOL WINAPI CloseHandle(HANDLE hObject);
ETW_API BOOL WINAPI DuplicateHandle(HANDLE hSourceProcessHandle, HANDLE hSourceHandle, HANDLE hTargetProcessHandle,
				    LPHANDLE lpTargetHandle, DWORD dwDesiredAccess, BOOL bInheritHandle,
				    DWORD dwOptions);
#define DUPLICATE_CLOSE_SOURCE 1
#define DUPLICATE_SAME_ACCESS  2

#ifdef UNICODE
#define CreateProcess  CreateProcessW
#define GetStartupInfo GetStartupInfoW
typedef STARTUPINFOW STARTUPINFO, *LPSTARTUPINFO;
#else
#define CreateProcess  CreateProcessA
#define GetStartupInfo GetStartupInfoA
typedef STARTUPINFOA STARTUPINFO, *LPSTARTUPINFO;
#endif

#endif
