/* SPDX-License-Identifier: MIT
 *
 * Text between encodings, and the locale functions ETW programs print times with. There is one
 * 8-bit code page here, UTF-8: CP_ACP, CP_OEMCP and CP_THREAD_ACP mean it too. 1252 and 28591
 * (Latin-1) are known.
 */
#ifndef ETW_WIN_WINNLS_H
#define ETW_WIN_WINNLS_H

#include "winnt.h"

#define CP_ACP        0
#define CP_OEMCP      1
#define CP_MACCP      2
#define CP_THREAD_ACP 3
#define CP_UTF7       65000
#define CP_UTF8       65001

#define MB_PRECOMPOSED       1
#define MB_ERR_INVALID_CHARS 8
#define WC_ERR_INVALID_CHARS 0x80
#define WC_NO_BEST_FIT_CHARS 0x400

#define LCMAP_LOWERCASE            0x00000100
#define LCMAP_UPPERCASE            0x00000200
#define LCMAP_BYTEREV              0x00000800
#define LOCALE_NAME_INVARIANT      ETW_WIDE("")
#define LOCALE_NAME_USER_DEFAULT   ((LPCWSTR)0)
#define LOCALE_NAME_SYSTEM_DEFAULT ETW_WIDE("!x-sys-default-locale")
#define DATE_SHORTDATE             1
#define DATE_LONGDATE              2
#define TIME_NOSECONDS             2
#define TIME_FORCE24HOURFORMAT     8
#define NORM_IGNORECASE            1
#define CSTR_LESS_THAN             1
#define CSTR_EQUAL                 2
#define CSTR_GREATER_THAN          3

typedef struct _nlsversioninfo NLSVERSIONINFO, *LPNLSVERSIONINFO;

/* Sizes: 8-bit ones in bytes, wide ones in characters; -1 counts up to and with the terminator; an
 * output size of 0 asks for what is needed. 0 on failure: ERROR_INSUFFICIENT_BUFFER,
 * ERROR_INVALID_PARAMETER, ERROR_NO_UNICODE_TRANSLATION (bad text and an ERR_INVALID flag). */
ETW_API int WINAPI MultiByteToWideChar(UINT CodePage, DWORD dwFlags, LPCSTR lpMultiByteStr, int cbMultiByte,
				       LPWSTR lpWideCharStr, int cchWideChar);
ETW_API int WINAPI WideCharToMultiByte(UINT CodePage, DWORD dwFlags, LPCWSTR lpWideCharStr, int cchWideChar,
				       LPSTR lpMultiByteStr, int cbMultiByte, LPCSTR lpDefaultChar,
				       LPBOOL lpUsedDefaultChar);
ETW_API UINT WINAPI GetACP(void);
ETW_API UINT WINAPI GetOEMCP(void);
ETW_API int WINAPI LCMapStringEx(LPCWSTR lpLocaleName, DWORD dwMapFlags, LPCWSTR lpSrcStr, int cchSrc, LPWSTR lpDestStr,
				 int cchDest, LPNLSVERSIONINFO lpVersionInformation, LPVOID lpReserved,
				 LPARAM sortHandle);
/* The pictures d dd ddd dddd M MM MMM MMMM y yy yyyy, h hh H HH m mm s ss t tt and 'quoted' text;
 * NULL gives M/d/yyyy and h:mm:ss tt. Times are English whatever the locale. Characters written
 * with terminator. */
ETW_API int WINAPI GetDateFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCWSTR lpFormat,
				  LPWSTR lpDateStr, int cchDate);
ETW_API int WINAPI GetTimeFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCWSTR lpFormat,
				  LPWSTR lpTimeStr, int cchTime);
ETW_API int WINAPI GetDateFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCSTR lpFormat,
				  LPSTR lpDateStr, int cchDate);
ETW_API int WINAPI GetTimeFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCSTR lpFormat,
				  LPSTR lpTimeStr, int cchTime);
ETW_API int WINAPI lstrlenW(LPCWSTR lpString);
ETW_API int WINAPI lstrlenA(LPCSTR lpString);
/* -1, 0, 1: "a" is before "A", and that before "b". */
ETW_API int WINAPI lstrcmpW(LPCWSTR lpString1, LPCWSTR lpString2);
ETW_API int WINAPI lstrcmpA(LPCSTR lpString1, LPCSTR lpString2);
ETW_API int WINAPI lstrcmpiW(LPCWSTR lpString1, LPCWSTR lpString2);
ETW_API int WINAPI lstrcmpiA(LPCSTR lpString1, LPCSTR lpString2);
ETW_API LPWSTR WINAPI lstrcpyW(LPWSTR lpString1, LPCWSTR lpString2);
ETW_API LPSTR WINAPI lstrcpyA(LPSTR lpString1, LPCSTR lpString2);
ETW_API LPWSTR WINAPI lstrcpynW(LPWSTR lpString1, LPCWSTR lpString2, int iMaxLength);
ETW_API LPSTR WINAPI lstrcpynA(LPSTR lpString1, LPCSTR lpString2, int iMaxLength);
ETW_API LPWSTR WINAPI lstrcatW(LPWSTR lpString1, LPCWSTR lpString2);
ETW_API LPSTR WINAPI lstrcatA(LPSTR lpString1, LPCSTR lpString2);
ETW_API int WINAPI CompareStringOrdinal(LPCWSTR lpString1, int cchCount1, LPCWSTR lpString2, int cchCount2,
					BOOL bIgnoreCase);

#ifdef UNICODE
#define lstrlen       lstrlenW
#define lstrcmp       lstrcmpW
#define lstrcmpi      lstrcmpiW
#define lstrcpy       lstrcpyW
#define lstrcpyn      lstrcpynW
#define lstrcat       lstrcatW
#define GetDateFormat GetDateFormatW
#define GetTimeFormat GetTimeFormatW
#else
#define GetDateFormat GetDateFormatA
#define GetTimeFormat GetTimeFormatA
#define lstrlen       lstrlenA
#define lstrcmp       lstrcmpA
#define lstrcmpi      lstrcmpiA
#define lstrcpy       lstrcpyA
#define lstrcpyn      lstrcpynA
#define lstrcat       lstrcatA
#endif

#endif
