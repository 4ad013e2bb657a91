/* SPDX-License-Identifier: MIT
 *
 * Errors and messages, modules, heaps, environment, files, console: what is left of kernel32.
 */
#ifndef ETW_WIN_WINBASE_H
#define ETW_WIN_WINBASE_H
#define _WINBASE_
#define _HEAPAPI_H_

#include "winnt.h"

#include <stdarg.h>

EXTERN_C_START

/* ---- errors and messages ----------------------------------------------------------------------
 */

#define FORMAT_MESSAGE_ALLOCATE_BUFFER 0x00000100
#define FORMAT_MESSAGE_IGNORE_INSERTS  0x00000200
#define FORMAT_MESSAGE_FROM_STRING     0x00000400
#define FORMAT_MESSAGE_FROM_HMODULE    0x00000800
#define FORMAT_MESSAGE_FROM_SYSTEM     0x00001000
#define FORMAT_MESSAGE_ARGUMENT_ARRAY  0x00002000
#define FORMAT_MESSAGE_MAX_WIDTH_MASK  0x000000FF

/* Thread-local. In libetw, so that OpenTrace can use it. */
ETW_API DWORD WINAPI GetLastError(void);
ETW_API VOID WINAPI SetLastError(DWORD dwErrCode);

/* FROM_SYSTEM: the text of a Win32 code; FROM_STRING: inserts %1 %2!u! … %n %t %0 %% of lpSource.
 * ALLOCATE_BUFFER: lpBuffer is the address of a pointer, to be freed with LocalFree. Returns
 * characters without terminator, 0 on failure. */
ETW_API DWORD WINAPI FormatMessageW(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId,
				    LPWSTR lpBuffer, DWORD nSize, va_list *Arguments);
ETW_API DWORD WINAPI FormatMessageA(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId,
				    LPSTR lpBuffer, DWORD nSize, va_list *Arguments);
ETW_API VOID WINAPI OutputDebugStringW(LPCWSTR lpOutputString); /* to stderr */
ETW_API VOID WINAPI OutputDebugStringA(LPCSTR lpOutputString);
ETW_API BOOL WINAPI IsDebuggerPresent(void);
FORCEINLINE VOID DebugBreak(VOID)
{
	__builtin_trap();
}

/* ---- memory ------------------------------------------------------------------------------------
 */

#define HEAP_NO_SERIALIZE        1
#define HEAP_GENERATE_EXCEPTIONS 4
#define HEAP_ZERO_MEMORY         8
#define LMEM_FIXED               0
#define LMEM_ZEROINIT            0x40
#define LPTR                     (LMEM_FIXED | LMEM_ZEROINIT)
#define GMEM_FIXED               0
#define GPTR                     0x40

/* Sizes in bytes. All of them are malloc. */
ETW_API HANDLE WINAPI GetProcessHeap(void);
ETW_API HANDLE WINAPI HeapCreate(DWORD flOptions, SIZE_T dwInitialSize, SIZE_T dwMaximumSize);
ETW_API BOOL WINAPI HeapDestroy(HANDLE hHeap); /* does not free what is left in it */
ETW_API LPVOID WINAPI HeapAlloc(HANDLE hHeap, DWORD dwFlags, SIZE_T dwBytes);
ETW_API LPVOID WINAPI HeapReAlloc(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem, SIZE_T dwBytes);
ETW_API BOOL WINAPI HeapFree(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem);
ETW_API SIZE_T WINAPI HeapSize(HANDLE hHeap, DWORD dwFlags, LPCVOID lpMem);
ETW_API HLOCAL WINAPI LocalAlloc(UINT uFlags, SIZE_T uBytes);
ETW_API HLOCAL WINAPI LocalFree(HLOCAL hMem); /* NULL on success */
ETW_API HGLOBAL WINAPI GlobalAlloc(UINT uFlags, SIZE_T dwBytes);
ETW_API HGLOBAL WINAPI GlobalFree(HGLOBAL hMem);

/* ---- modules -----------------------------------------------------------------------------------
 */

#define LOAD_LIBRARY_AS_DATAFILE                     0x00000002
#define LOAD_LIBRARY_SEARCH_SYSTEM32                 0x00000800
#define GET_MODULE_HANDLE_EX_FLAG_PIN                1
#define GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT 2
#define GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS       4

/* advapi32, tdh, ntdll, sechost, kernel32 and the api-ms-win-* sets are this library itself; any
 * other name goes to dlopen. NULL: the program. ERROR_MOD_NOT_FOUND, ERROR_PROC_NOT_FOUND. */
ETW_API HMODULE WINAPI GetModuleHandleW(LPCWSTR lpModuleName);
ETW_API HMODULE WINAPI GetModuleHandleA(LPCSTR lpModuleName);
ETW_API BOOL WINAPI GetModuleHandleExW(DWORD dwFlags, LPCWSTR lpModuleName, HMODULE *phModule);
ETW_API BOOL WINAPI GetModuleHandleExA(DWORD dwFlags, LPCSTR lpModuleName, HMODULE *phModule);
ETW_API HMODULE WINAPI LoadLibraryW(LPCWSTR lpLibFileName);
ETW_API HMODULE WINAPI LoadLibraryA(LPCSTR lpLibFileName);
ETW_API HMODULE WINAPI LoadLibraryExW(LPCWSTR lpLibFileName, HANDLE hFile, DWORD dwFlags);
ETW_API HMODULE WINAPI LoadLibraryExA(LPCSTR lpLibFileName, HANDLE hFile, DWORD dwFlags);
ETW_API BOOL WINAPI FreeLibrary(HMODULE hLibModule);
ETW_API FARPROC WINAPI GetProcAddress(HMODULE hModule, LPCSTR lpProcName);
/* Path of the executable, or of a module from LoadLibrary. nSize in characters. */
ETW_API DWORD WINAPI GetModuleFileNameW(HMODULE hModule, LPWSTR lpFilename, DWORD nSize);
ETW_API DWORD WINAPI GetModuleFileNameA(HMODULE hModule, LPSTR lpFilename, DWORD nSize);

/* ---- environment and version -------------------------------------------------------------------
 */

ETW_API DWORD WINAPI GetEnvironmentVariableW(LPCWSTR lpName, LPWSTR lpBuffer, DWORD nSize);
ETW_API DWORD WINAPI GetEnvironmentVariableA(LPCSTR lpName, LPSTR lpBuffer, DWORD nSize);
/* %NAME% is replaced, unknown names stay. Returns characters with terminator. */
ETW_API DWORD WINAPI ExpandEnvironmentStringsW(LPCWSTR lpSrc, LPWSTR lpDst, DWORD nSize);
ETW_API DWORD WINAPI ExpandEnvironmentStringsA(LPCSTR lpSrc, LPSTR lpDst, DWORD nSize);
ETW_API LPWSTR WINAPI GetCommandLineW(void);
ETW_API LPSTR WINAPI GetCommandLineA(void);
/* Freed with LocalFree, in one piece. */
ETW_API LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR lpCmdLine, int *pNumArgs);
/* Says Windows 10, build 19045. */
ETW_API BOOL WINAPI GetVersionExW(LPOSVERSIONINFOW lpVersionInformation);
ETW_API BOOL WINAPI GetVersionExA(LPOSVERSIONINFOA lpVersionInformation);
ETW_API NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW lpVersionInformation);
/* Adds one comparison (VER_EQUAL …) to a mask for VerifyVersionInfo. */
ETW_API ULONGLONG NTAPI VerSetConditionMask(ULONGLONG ConditionMask, DWORD TypeMask, BYTE Condition);
/* Compares what dwTypeMask names with the version that GetVersionEx says; FALSE and
 * ERROR_OLD_WIN_VERSION when it does not fit. */
ETW_API BOOL WINAPI VerifyVersionInfoW(LPOSVERSIONINFOEXW lpVersionInformation, DWORD dwTypeMask,
				       DWORDLONG dwlConditionMask);
ETW_API BOOL WINAPI VerifyVersionInfoA(LPOSVERSIONINFOEXA lpVersionInformation, DWORD dwTypeMask,
				       DWORDLONG dwlConditionMask);
#define VER_SET_CONDITION(mask, type, condition) ((mask) = VerSetConditionMask((mask), (type), (condition)))
/* The login name of the effective user. *pcbBuffer: characters with terminator, in and out;
 * ERROR_INSUFFICIENT_BUFFER when there are more. */
ETW_API BOOL WINAPI GetUserNameW(LPWSTR lpBuffer, LPDWORD pcbBuffer);
ETW_API BOOL WINAPI GetUserNameA(LPSTR lpBuffer, LPDWORD pcbBuffer);
#define UNLEN 256
ETW_API BOOL WINAPI GetComputerNameA(LPSTR lpBuffer, LPDWORD nSize);
ETW_API BOOL WINAPI GetComputerNameW(LPWSTR lpBuffer, LPDWORD nSize);
#define MAX_COMPUTERNAME_LENGTH 15

/* Ends the program; the record says why to a debugger only there. */
#define FAIL_FAST_GENERATE_EXCEPTION_ADDRESS 1
struct _EXCEPTION_RECORD;
struct _CONTEXT;
ETW_API VOID WINAPI RaiseFailFastException(struct _EXCEPTION_RECORD *pExceptionRecord, struct _CONTEXT *pContextRecord,
					   DWORD dwFlags);

/* Drive letters and volumes, to which consumers translate names of devices: there are none, and paths
 * are what they are. 0, ERROR_FILE_NOT_FOUND, ERROR_NO_MORE_FILES. */
ETW_API DWORD WINAPI GetLogicalDrives(void);
ETW_API DWORD WINAPI GetLogicalDriveStringsW(DWORD nBufferLength, LPWSTR lpBuffer);
ETW_API DWORD WINAPI QueryDosDeviceW(LPCWSTR lpDeviceName, LPWSTR lpTargetPath, DWORD ucchMax);
ETW_API DWORD WINAPI QueryDosDeviceA(LPCSTR lpDeviceName, LPSTR lpTargetPath, DWORD ucchMax);
ETW_API HANDLE WINAPI FindFirstVolumeW(LPWSTR lpszVolumeName, DWORD cchBufferLength);
ETW_API BOOL WINAPI FindNextVolumeW(HANDLE hFindVolume, LPWSTR lpszVolumeName, DWORD cchBufferLength);
ETW_API BOOL WINAPI FindVolumeClose(HANDLE hFindVolume);
/* FALSE and ERROR_INVALID_FUNCTION, as for a 64-bit program. */
ETW_API BOOL WINAPI Wow64DisableWow64FsRedirection(PVOID *OldValue);
ETW_API BOOL WINAPI Wow64RevertWow64FsRedirection(PVOID OlValue);
#ifdef UNICODE
#define QueryDosDevice QueryDosDeviceW
/* These have no A form. */
#define GetLogicalDriveStrings GetLogicalDriveStringsW
#define FindFirstVolume        FindFirstVolumeW
#define FindNextVolume         FindNextVolumeW
#else
#define QueryDosDevice QueryDosDeviceA
#endif

/* Nothing of these kinds can be made here: FALSE, and the handle is not valid. */
ETW_API BOOL WINAPI FindCloseChangeNotification(HANDLE hChangeHandle);
ETW_API BOOL WINAPI DestroyPrivateObjectSecurity(PSECURITY_DESCRIPTOR *ObjectDescriptor);
ETW_API VOID WINAPI DeleteBoundaryDescriptor(HANDLE BoundaryDescriptor);
ETW_API BOOLEAN WINAPI ClosePrivateNamespace(HANDLE Handle, ULONG Flags);
#define PRIVATE_NAMESPACE_FLAG_DESTROY 1
ETW_API BOOL WINAPI CloseDesktop(HDESK hDesktop);
ETW_API BOOL WINAPI CloseWindowStation(HWINSTA hWinSta);

/* Views of files. The file's own length only (a maximum of 0, or what it has), whole pages at a time, no
 * names. ERROR_FILE_INVALID for an empty file. */
#define FILE_MAP_COPY  1
#define FILE_MAP_WRITE 2
#define FILE_MAP_READ  4
ETW_API HANDLE WINAPI CreateFileMappingW(HANDLE hFile, LPSECURITY_ATTRIBUTES lpAttributes, DWORD flProtect,
					 DWORD dwMaximumSizeHigh, DWORD dwMaximumSizeLow, LPCWSTR lpName);
ETW_API HANDLE WINAPI CreateFileMappingA(HANDLE hFile, LPSECURITY_ATTRIBUTES lpAttributes, DWORD flProtect,
					 DWORD dwMaximumSizeHigh, DWORD dwMaximumSizeLow, LPCSTR lpName);
/* dwFileOffset: a multiple of 64 KiB; 0 bytes: to the end. */
ETW_API LPVOID WINAPI MapViewOfFile(HANDLE hFileMappingObject, DWORD dwDesiredAccess, DWORD dwFileOffsetHigh,
				    DWORD dwFileOffsetLow, SIZE_T dwNumberOfBytesToMap);
ETW_API BOOL WINAPI UnmapViewOfFile(LPCVOID lpBaseAddress);
#ifdef UNICODE
#define CreateFileMapping CreateFileMappingW
#else
#define CreateFileMapping CreateFileMappingA
#endif

/* Pages. VirtualFree takes the whole of what VirtualAlloc gave, MEM_RELEASE and size 0. */
#define MEM_COMMIT     0x00001000
#define MEM_RESERVE    0x00002000
#define MEM_DECOMMIT   0x00004000
#define MEM_RELEASE    0x00008000
#define PAGE_NOACCESS  0x01
#define PAGE_READONLY  0x02
#define PAGE_READWRITE 0x04
ETW_API LPVOID WINAPI VirtualAlloc(LPVOID lpAddress, SIZE_T dwSize, DWORD flAllocationType, DWORD flProtect);
ETW_API BOOL WINAPI VirtualFree(LPVOID lpAddress, SIZE_T dwSize, DWORD dwFreeType);
ETW_API SIZE_T WINAPI LocalSize(HLOCAL hMem);

/* What a fault or a missing file shows the user on Windows. Kept and given back; there is no dialog. */
#define SEM_FAILCRITICALERRORS     0x0001
#define SEM_NOGPFAULTERRORBOX      0x0002
#define SEM_NOALIGNMENTFAULTEXCEPT 0x0004
#define SEM_NOOPENFILEERRORBOX     0x8000
ETW_API UINT WINAPI SetErrorMode(UINT uMode);
ETW_API UINT WINAPI GetErrorMode(void);

/* ---- files --------------------------------------------------------------------------------------
 */

#define FILE_SHARE_READ          1
#define FILE_SHARE_WRITE         2
#define FILE_SHARE_DELETE        4
#define CREATE_NEW               1
#define CREATE_ALWAYS            2
#define OPEN_EXISTING            3
#define OPEN_ALWAYS              4
#define TRUNCATE_EXISTING        5
#define FILE_ATTRIBUTE_READONLY  0x00000001
#define FILE_ATTRIBUTE_HIDDEN    0x00000002
#define FILE_ATTRIBUTE_SYSTEM    0x00000004
#define FILE_ATTRIBUTE_DIRECTORY 0x00000010
#define FILE_ATTRIBUTE_ARCHIVE   0x00000020
#define FILE_ATTRIBUTE_DEVICE    0x00000040
#define FILE_ATTRIBUTE_NORMAL    0x00000080
/* GetFileAttributes never tells of those from here on. */
#define FILE_ATTRIBUTE_TEMPORARY             0x00000100
#define FILE_ATTRIBUTE_SPARSE_FILE           0x00000200
#define FILE_ATTRIBUTE_REPARSE_POINT         0x00000400
#define FILE_ATTRIBUTE_COMPRESSED            0x00000800
#define FILE_ATTRIBUTE_OFFLINE               0x00001000
#define FILE_ATTRIBUTE_NOT_CONTENT_INDEXED   0x00002000
#define FILE_ATTRIBUTE_ENCRYPTED             0x00004000
#define FILE_ATTRIBUTE_INTEGRITY_STREAM      0x00008000
#define FILE_ATTRIBUTE_VIRTUAL               0x00010000
#define FILE_ATTRIBUTE_NO_SCRUB_DATA         0x00020000
#define FILE_ATTRIBUTE_RECALL_ON_OPEN        0x00040000
#define FILE_ATTRIBUTE_PINNED                0x00080000
#define FILE_ATTRIBUTE_UNPINNED              0x00100000
#define FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS 0x00400000
#define FILE_FLAG_SEQUENTIAL_SCAN            0x08000000
#define INVALID_FILE_ATTRIBUTES              0xFFFFFFFFu
#define INVALID_FILE_SIZE                    0xFFFFFFFFu
#define FILE_APPEND_DATA                     4
#define FILE_READ_DATA                       1
#define FILE_WRITE_DATA                      2
#define FILE_GENERIC_READ                    0x00120089
#define FILE_GENERIC_WRITE                   0x00120116
#define FILE_BEGIN                           0
#define FILE_CURRENT                         1
#define FILE_END                             2
#define FILE_TYPE_UNKNOWN                    0
#define FILE_TYPE_DISK                       1
#define FILE_TYPE_CHAR                       2
#define FILE_TYPE_PIPE                       3
#define MOVEFILE_REPLACE_EXISTING            1
#define STD_INPUT_HANDLE                     ((DWORD)-10)
#define STD_OUTPUT_HANDLE                    ((DWORD)-11)
#define STD_ERROR_HANDLE                     ((DWORD)-12)

typedef struct _OVERLAPPED {
	ULONG_PTR Internal;
	ULONG_PTR InternalHigh;
	DWORD Offset;
	DWORD OffsetHigh;
	HANDLE hEvent;
} OVERLAPPED, *LPOVERLAPPED;

/* Paths may have either separator and a drive letter, which is dropped. INVALID_HANDLE_VALUE on
 * failure. */
ETW_API HANDLE WINAPI CreateFileW(LPCWSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
				  LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
				  DWORD dwFlagsAndAttributes, HANDLE hTemplateFile);
ETW_API HANDLE WINAPI CreateFileA(LPCSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
				  LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
				  DWORD dwFlagsAndAttributes, HANDLE hTemplateFile);
/* Synchronous; an OVERLAPPED gives the position only. */
ETW_API BOOL WINAPI ReadFile(HANDLE hFile, LPVOID lpBuffer, DWORD nNumberOfBytesToRead, LPDWORD lpNumberOfBytesRead,
			     LPOVERLAPPED lpOverlapped);
ETW_API BOOL WINAPI WriteFile(HANDLE hFile, LPCVOID lpBuffer, DWORD nNumberOfBytesToWrite,
			      LPDWORD lpNumberOfBytesWritten, LPOVERLAPPED lpOverlapped);
ETW_API BOOL WINAPI FlushFileBuffers(HANDLE hFile);
/* Reading and writing end before they return, so nothing is pending: FALSE and ERROR_NOT_FOUND for
 * CancelIoEx and CancelSynchronousIo, TRUE for CancelIo. */
ETW_API BOOL WINAPI CancelIo(HANDLE hFile);
ETW_API BOOL WINAPI CancelIoEx(HANDLE hFile, LPOVERLAPPED lpOverlapped);
ETW_API BOOL WINAPI CancelSynchronousIo(HANDLE hThread);
ETW_API BOOL WINAPI GetFileSizeEx(HANDLE hFile, PLARGE_INTEGER lpFileSize);
ETW_API DWORD WINAPI GetFileType(HANDLE hFile);
ETW_API BOOL WINAPI SetFilePointerEx(HANDLE hFile, LARGE_INTEGER liDistanceToMove, PLARGE_INTEGER lpNewFilePointer,
				     DWORD dwMoveMethod);
typedef struct _WIN32_FIND_DATAA {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime;
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
	DWORD dwReserved0;
	DWORD dwReserved1;
	CHAR cFileName[MAX_PATH];
	CHAR cAlternateFileName[14];
} WIN32_FIND_DATAA, *PWIN32_FIND_DATAA, *LPWIN32_FIND_DATAA;
typedef struct _WIN32_FIND_DATAW {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime;
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
	DWORD dwReserved0;
	DWORD dwReserved1;
	WCHAR cFileName[MAX_PATH];
	WCHAR cAlternateFileName[14];
} WIN32_FIND_DATAW, *PWIN32_FIND_DATAW, *LPWIN32_FIND_DATAW;
/* Files whose name fits the last part of the path (with * and ?, whatever the case). The entries of
 * a folder come in no order. ERROR_FILE_NOT_FOUND, then ERROR_NO_MORE_FILES. */
ETW_API HANDLE WINAPI FindFirstFileW(LPCWSTR lpFileName, LPWIN32_FIND_DATAW lpFindFileData);
ETW_API HANDLE WINAPI FindFirstFileA(LPCSTR lpFileName, LPWIN32_FIND_DATAA lpFindFileData);
ETW_API BOOL WINAPI FindNextFileW(HANDLE hFindFile, LPWIN32_FIND_DATAW lpFindFileData);
ETW_API BOOL WINAPI FindNextFileA(HANDLE hFindFile, LPWIN32_FIND_DATAA lpFindFileData);
ETW_API BOOL WINAPI FindClose(HANDLE hFindFile);
/* Before the structure, whose member is renamed by it there as well. */
#ifdef UNICODE
#define DeleteFile DeleteFileW
#else
#define DeleteFile DeleteFileA
#endif
typedef struct _FILE_DISPOSITION_INFO {
	BOOLEAN DeleteFile;
} FILE_DISPOSITION_INFO, *PFILE_DISPOSITION_INFO;
typedef enum _FILE_INFO_BY_HANDLE_CLASS {
	FileBasicInfo,
	FileStandardInfo,
	FileNameInfo,
	FileRenameInfo,
	FileDispositionInfo,
	FileAllocationInfo,
	FileEndOfFileInfo
} FILE_INFO_BY_HANDLE_CLASS,
	*PFILE_INFO_BY_HANDLE_CLASS;
/* FileDispositionInfo: the name is removed at once, the file when its handles are closed;
 * FileEndOfFileInfo (a LARGE_INTEGER): cut or lengthened. Others: ERROR_NOT_SUPPORTED. */
ETW_API BOOL WINAPI SetFileInformationByHandle(HANDLE hFile, FILE_INFO_BY_HANDLE_CLASS FileInformationClass,
					       LPVOID lpFileInformation, DWORD dwBufferSize);
ETW_API BOOL WINAPI DeleteFileW(LPCWSTR lpFileName);
ETW_API BOOL WINAPI DeleteFileA(LPCSTR lpFileName);
ETW_API BOOL WINAPI MoveFileW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName);
ETW_API BOOL WINAPI MoveFileA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName);
ETW_API BOOL WINAPI CreateDirectoryW(LPCWSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes);
ETW_API BOOL WINAPI CreateDirectoryA(LPCSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes);
ETW_API DWORD WINAPI GetFileAttributesW(LPCWSTR lpFileName);
ETW_API DWORD WINAPI GetFileAttributesA(LPCSTR lpFileName);
ETW_API DWORD WINAPI GetCurrentDirectoryW(DWORD nBufferLength, LPWSTR lpBuffer);
ETW_API DWORD WINAPI GetCurrentDirectoryA(DWORD nBufferLength, LPSTR lpBuffer);
ETW_API DWORD WINAPI GetFullPathNameW(LPCWSTR lpFileName, DWORD nBufferLength, LPWSTR lpBuffer, LPWSTR *lpFilePart);
ETW_API DWORD WINAPI GetFullPathNameA(LPCSTR lpFileName, DWORD nBufferLength, LPSTR lpBuffer, LPSTR *lpFilePart);

/* $TMPDIR, $TMP or /tmp, with a separator behind it. Characters without terminator, or with it when the
 * buffer is too small. */
ETW_API DWORD WINAPI GetTempPathW(DWORD nBufferLength, LPWSTR lpBuffer);
ETW_API DWORD WINAPI GetTempPathA(DWORD nBufferLength, LPSTR lpBuffer);
/* uUnique 0: a new, empty file. The number in the name; lpTempFileName has room for MAX_PATH. */
ETW_API UINT WINAPI GetTempFileNameW(LPCWSTR lpPathName, LPCWSTR lpPrefixString, UINT uUnique, LPWSTR lpTempFileName);
ETW_API UINT WINAPI GetTempFileNameA(LPCSTR lpPathName, LPCSTR lpPrefixString, UINT uUnique, LPSTR lpTempFileName);
/* nSize says nothing here. */
ETW_API BOOL WINAPI CreatePipe(PHANDLE hReadPipe, PHANDLE hWritePipe, LPSECURITY_ATTRIBUTES lpPipeAttributes,
			       DWORD nSize);

/* ---- console ------------------------------------------------------------------------------------
 */

#define CTRL_C_EVENT                       0
#define CTRL_BREAK_EVENT                   1
#define CTRL_CLOSE_EVENT                   2
#define CTRL_LOGOFF_EVENT                  5
#define CTRL_SHUTDOWN_EVENT                6
#define FOREGROUND_BLUE                    1
#define FOREGROUND_GREEN                   2
#define FOREGROUND_RED                     4
#define FOREGROUND_INTENSITY               8
#define BACKGROUND_BLUE                    0x10
#define BACKGROUND_GREEN                   0x20
#define BACKGROUND_RED                     0x40
#define BACKGROUND_INTENSITY               0x80
#define ENABLE_PROCESSED_INPUT             1
#define ENABLE_LINE_INPUT                  2
#define ENABLE_ECHO_INPUT                  4
#define ENABLE_PROCESSED_OUTPUT            1
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 4

typedef BOOL(WINAPI *PHANDLER_ROUTINE)(DWORD CtrlType);

typedef struct _COORD {
	SHORT X;
	SHORT Y;
} COORD, *PCOORD;

typedef struct _SMALL_RECT {
	SHORT Left;
	SHORT Top;
	SHORT Right;
	SHORT Bottom;
} SMALL_RECT, *PSMALL_RECT;

typedef struct _CONSOLE_SCREEN_BUFFER_INFO {
	COORD dwSize;
	COORD dwCursorPosition;
	WORD wAttributes;
	SMALL_RECT srWindow;
	COORD dwMaximumWindowSize;
} CONSOLE_SCREEN_BUFFER_INFO, *PCONSOLE_SCREEN_BUFFER_INFO;

EXTERN_C_END

ETW_API HANDLE WINAPI GetStdHandle(DWORD nStdHandle);
/* SIGINT is CTRL_C_EVENT, SIGQUIT CTRL_BREAK_EVENT, SIGTERM and SIGHUP CTRL_CLOSE_EVENT. Handlers
 * run on a thread of their own, latest first, until one returns TRUE; otherwise the process ends.
 */
ETW_API BOOL WINAPI SetConsoleCtrlHandler(PHANDLER_ROUTINE HandlerRoutine, BOOL Add);
/* FALSE when the handle is no terminal. */
ETW_API BOOL WINAPI GetConsoleMode(HANDLE hConsoleHandle, LPDWORD lpMode);
ETW_API BOOL WINAPI SetConsoleMode(HANDLE hConsoleHandle, DWORD dwMode);
ETW_API BOOL WINAPI GetConsoleScreenBufferInfo(HANDLE hConsoleOutput,
					       PCONSOLE_SCREEN_BUFFER_INFO lpConsoleScreenBufferInfo);
ETW_API BOOL WINAPI SetConsoleTextAttribute(HANDLE hConsoleOutput, WORD wAttributes);
ETW_API BOOL WINAPI WriteConsoleW(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
				  LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved);
ETW_API BOOL WINAPI WriteConsoleA(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
				  LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved);
ETW_API BOOL WINAPI SetConsoleOutputCP(UINT wCodePageID);
/* CP_UTF8, whatever was set. */
ETW_API UINT WINAPI GetConsoleOutputCP(void);
ETW_API UINT WINAPI GetConsoleCP(void);
ETW_API BOOL WINAPI SetConsoleCP(UINT wCodePageID);

#ifdef UNICODE
#define FormatMessage          FormatMessageW
#define OutputDebugString      OutputDebugStringW
#define GetModuleHandle        GetModuleHandleW
#define GetModuleHandleEx      GetModuleHandleExW
#define LoadLibrary            LoadLibraryW
#define LoadLibraryEx          LoadLibraryExW
#define GetModuleFileName      GetModuleFileNameW
#define GetEnvironmentVariable GetEnvironmentVariableW
#define GetCommandLine         GetCommandLineW
#define GetVersionEx           GetVersionExW
#define VerifyVersionInfo      VerifyVersionInfoW
#define GetUserName            GetUserNameW
#define GetComputerName        GetComputerNameW
#define CreateFile             CreateFileW
#define FindFirstFile          FindFirstFileW
#define FindNextFile           FindNextFileW
#define WIN32_FIND_DATA        WIN32_FIND_DATAW
#define LPWIN32_FIND_DATA      LPWIN32_FIND_DATAW
#define CreateDirectory        CreateDirectoryW
#define GetFileAttributes      GetFileAttributesW
#define GetCurrentDirectory    GetCurrentDirectoryW
#define MoveFile               MoveFileW
#define GetTempPath            GetTempPathW
#define GetTempFileName        GetTempFileNameW
#define GetFullPathName        GetFullPathNameW
#define WriteConsole           WriteConsoleW

#define QueryFullProcessImageName QueryFullProcessImageNameW
#define ExpandEnvironmentStrings  ExpandEnvironmentStringsW
#else
#define FormatMessage          FormatMessageA
#define OutputDebugString      OutputDebugStringA
#define GetModuleHandle        GetModuleHandleA
#define GetModuleHandleEx      GetModuleHandleExA
#define LoadLibrary            LoadLibraryA
#define LoadLibraryEx          LoadLibraryExA
#define GetModuleFileName      GetModuleFileNameA
#define GetEnvironmentVariable GetEnvironmentVariableA
#define GetCommandLine         GetCommandLineA
#define GetVersionEx           GetVersionExA
#define VerifyVersionInfo      VerifyVersionInfoA
#define GetUserName            GetUserNameA
#define GetComputerName        GetComputerNameA
#define CreateFile             CreateFileA
#define FindFirstFile          FindFirstFileA
#define FindNextFile           FindNextFileA
#define WIN32_FIND_DATA        WIN32_FIND_DATAA
#define LPWIN32_FIND_DATA      LPWIN32_FIND_DATAA
#define CreateDirectory        CreateDirectoryA
#define GetFileAttributes      GetFileAttributesA
#define GetCurrentDirectory    GetCurrentDirectoryA
#define MoveFile               MoveFileA
#define GetTempPath            GetTempPathA
#define GetTempFileName        GetTempFileNameA
#define GetFullPathName        GetFullPathNameA
#define WriteConsole           WriteConsoleA

#define QueryFullProcessImageName QueryFullProcessImageNameA
#define ExpandEnvironmentStrings  ExpandEnvironmentStringsA
#endif

#endif
