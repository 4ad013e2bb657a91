/* SPDX-License-Identifier: MIT
 *
 * The older functions on paths, of MAX_PATH characters, and comparisons of strings. See pathcch.h.
 */
#ifndef ETW_WIN_SHLWAPI_H
#define ETW_WIN_SHLWAPI_H

#include "windows.h"

EXTERN_C_START
/* Behind the last separator; the path itself without one. */
ETW_API LPWSTR WINAPI PathFindFileNameW(LPCWSTR pszPath);
ETW_API LPSTR WINAPI PathFindFileNameA(LPCSTR pszPath);
ETW_API LPWSTR WINAPI PathFindExtensionW(LPCWSTR pszPath);
ETW_API LPSTR WINAPI PathFindExtensionA(LPCSTR pszPath);
ETW_API BOOL WINAPI PathFileExistsW(LPCWSTR pszPath);
ETW_API BOOL WINAPI PathFileExistsA(LPCSTR pszPath);
ETW_API BOOL WINAPI PathIsDirectoryW(LPCWSTR pszPath);
ETW_API BOOL WINAPI PathIsDirectoryA(LPCSTR pszPath);
ETW_API BOOL WINAPI PathIsRelativeW(LPCWSTR pszPath);
ETW_API BOOL WINAPI PathRemoveFileSpecW(LPWSTR pszPath);
ETW_API BOOL WINAPI PathAppendW(LPWSTR pszPath, LPCWSTR pszMore);
ETW_API LPWSTR WINAPI PathCombineW(LPWSTR pszDest, LPCWSTR pszDir, LPCWSTR pszFile);
ETW_API BOOL WINAPI PathRenameExtensionW(LPWSTR pszPath, LPCWSTR pszExt);
ETW_API VOID WINAPI PathRemoveExtensionW(LPWSTR pszPath);

/* By the numbers of the units; with I whatever the case. */
ETW_API int WINAPI StrCmpW(PCWSTR psz1, PCWSTR psz2);
ETW_API int WINAPI StrCmpIW(PCWSTR psz1, PCWSTR psz2);
ETW_API int WINAPI StrCmpNIW(PCWSTR psz1, PCWSTR psz2, int nChar);
ETW_API PWSTR WINAPI StrStrW(PCWSTR pszFirst, PCWSTR pszSrch);
ETW_API PWSTR WINAPI StrStrIW(PCWSTR pszFirst, PCWSTR pszSrch);
ETW_API PSTR WINAPI StrStrIA(PCSTR pszFirst, PCSTR pszSrch);
EXTERN_C_END

#ifdef UNICODE
#define PathFindFileName    PathFindFileNameW
#define PathFindExtension   PathFindExtensionW
#define PathFileExists      PathFileExistsW
#define PathIsDirectory     PathIsDirectoryW
#define StrStrI             StrStrIW
#define PathIsRelative      PathIsRelativeW
#define PathRemoveFileSpec  PathRemoveFileSpecW
#define PathAppend          PathAppendW
#define PathCombine         PathCombineW
#define PathRenameExtension PathRenameExtensionW
#define PathRemoveExtension PathRemoveExtensionW
#define StrCmp              StrCmpW
#define StrCmpI             StrCmpIW
#define StrCmpNI            StrCmpNIW
#define StrStr              StrStrW
#else
#define PathFindFileName  PathFindFileNameA
#define PathFindExtension PathFindExtensionA
#define PathFileExists    PathFileExistsA
#define PathIsDirectory   PathIsDirectoryA
#define StrStrI           StrStrIA
#endif
#endif
