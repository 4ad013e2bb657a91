/* SPDX-License-Identifier: MIT
 *
 * Names that mean the wide function with _UNICODE and the narrow one without.
 */
#ifndef ETW_WIN_TCHAR_H
#define ETW_WIN_TCHAR_H
#include "minwindef.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _UNICODE
#include <wchar.h>
typedef WCHAR _TCHAR;
#define __T(text)    ETW_WIDE(text)
#define _tcslen      wcslen
#define _tcsnlen     wcsnlen
#define _tcscpy      wcscpy
#define _tcsncpy     wcsncpy
#define _tcscat      wcscat
#define _tcsncat     wcsncat
#define _tcscmp      wcscmp
#define _tcsncmp     wcsncmp
#define _tcsicmp     _wcsicmp
#define _tcsnicmp    _wcsnicmp
#define _tcschr      wcschr
#define _tcsrchr     wcsrchr
#define _tcsstr      wcsstr
#define _tcstok_s    wcstok_s
#define _tcsdup      _wcsdup
#define _tcscpy_s    wcscpy_s
#define _tcsncpy_s   wcsncpy_s
#define _tcscat_s    wcscat_s
#define _tcsncat_s   wcsncat_s
#define _tprintf     wprintf
#define _tprintf_s   wprintf_s
#define _ftprintf    fwprintf
#define _vtprintf    vwprintf
#define _vftprintf   vfwprintf
#define _stprintf_s  swprintf_s
#define _sntprintf   _snwprintf
#define _sntprintf_s _snwprintf_s
#define _vsntprintf  _vsnwprintf
#define _vstprintf_s vswprintf_s
#define _stscanf_s   swscanf_s
#define _fputts      fputws
#define _fgetts      fgetws
#define _putts       _putws
#define _tcstol      wcstol
#define _tcstoul     wcstoul
#define _tcstoui64   _wcstoui64
#define _ttoi        _wtoi
#define _ttoi64      _wtoi64
#define _tfopen      _wfopen
#define _tfopen_s    _wfopen_s
#define _tsystem     _wsystem
#define _tgetenv     _wgetenv
#define _tfullpath   _wfullpath
#define _tmain       wmain
#define _totlower    towlower
#define _totupper    towupper
#else
typedef CHAR _TCHAR;
#define __T(text)    text
#define _tcslen      strlen
#define _tcsnlen     strnlen
#define _tcscpy      strcpy
#define _tcsncpy     strncpy
#define _tcscat      strcat
#define _tcsncat     strncat
#define _tcscmp      strcmp
#define _tcsncmp     strncmp
#define _tcsicmp     strcasecmp
#define _tcsnicmp    strncasecmp
#define _tcschr      strchr
#define _tcsrchr     strrchr
#define _tcsstr      strstr
#define _tcstok_s    strtok_s
#define _tcsdup      strdup
#define _tcscpy_s    strcpy_s
#define _tcsncpy_s   strncpy_s
#define _tcscat_s    strcat_s
#define _tcsncat_s   strncat_s
#define _tprintf     printf
#define _tprintf_s   printf_s
#define _ftprintf    fprintf
#define _vtprintf    vprintf
#define _vftprintf   vfprintf
#define _stprintf_s  sprintf_s
#define _sntprintf   _snprintf
#define _sntprintf_s _snprintf_s
#define _vsntprintf  _vsnprintf
#define _vstprintf_s vsprintf_s
#define _stscanf_s   sscanf_s
#define _fputts      fputs
#define _fgetts      fgets
#define _putts       puts
#define _tcstol      strtol
#define _tcstoul     strtoul
#define _tcstoui64   strtoull
#define _ttoi        atoi
#define _ttoi64      atoll
#define _tfopen      fopen
#define _tfopen_s    fopen_s
#define _tsystem     system
#define _tgetenv     getenv
#define _tfullpath   _fullpath
#define _tmain       main
#define _totlower    tolower
#define _totupper    toupper
#endif
#define _T(text)    __T(text)
#define _TEXT(text) __T(text)

#endif
