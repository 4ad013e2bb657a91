/* SPDX-License-Identifier: MIT
 *
 * <stdio.h> with Microsoft's printf; see etw_crtdefs.h. No guard around the system's header: it has
 * its own tricks with partial inclusion.
 */
#pragma GCC system_header
#include "etw_crtdefs.h"
#include <bits/types/FILE.h>
#include <stdarg.h>

/* Before the system declares them: the C++ library takes these names into std at once, and clang
 * would keep the unbound functions there. Repeated inclusion repeats the declarations, which is
 * harmless. */
ETW_CRT_BEGIN
ETW_CRT(int, printf, (const char *format, ...));
ETW_CRT(int, vprintf, (const char *format, va_list ap));
ETW_CRT(int, fprintf, (FILE * f, const char *format, ...));
ETW_CRT(int, vfprintf, (FILE * f, const char *format, va_list ap));
ETW_CRT_NOTHROW(int, sprintf, (char *d, const char *format, ...));
ETW_CRT_NOTHROW(int, vsprintf, (char *d, const char *format, va_list ap));
ETW_CRT_NOTHROW(int, snprintf, (char *d, size_t cap, const char *format, ...));
ETW_CRT_NOTHROW(int, vsnprintf, (char *d, size_t cap, const char *format, va_list ap));
ETW_CRT_END

#include_next <stdio.h>

#ifndef ETW_CRT_STDIO_H
#define ETW_CRT_STDIO_H
#include <stdarg.h>

ETW_CRT_BEGIN

ETW_CRT_ALIAS(int, printf_s, printf, (const char *format, ...));
ETW_CRT_ALIAS(int, fprintf_s, fprintf, (FILE * f, const char *format, ...));
ETW_CRT_ALIAS(int, vfprintf_s, vfprintf, (FILE * f, const char *format, va_list ap));
ETW_CRT(int, sprintf_s, (char *d, size_t cap, const char *format, ...));
ETW_CRT(int, vsprintf_s, (char *d, size_t cap, const char *format, va_list ap));
ETW_CRT(int, _snprintf, (char *d, size_t cap, const char *format, ...));
ETW_CRT(int, _vsnprintf, (char *d, size_t cap, const char *format, va_list ap));
ETW_CRT(int, _snprintf_s, (char *d, size_t cap, size_t n, const char *format, ...));
ETW_CRT(int, _vsnprintf_s, (char *d, size_t cap, size_t n, const char *format, va_list ap));
ETW_CRT_ALIAS(int, vsnprintf_s, _vsnprintf_s, (char *d, size_t cap, size_t n, const char *format, va_list ap));
ETW_CRT(int, _scprintf, (const char *format, ...));
ETW_CRT(int, _vscprintf, (const char *format, va_list ap));
ETW_CRT(int, sscanf_s, (const char *s, const char *format, ...));
ETW_CRT(errno_t, fopen_s, (FILE * *ret, const char *path, const char *mode));
ETW_CRT_END

#define _fileno                fileno
#define _popen                 popen
#define _pclose                pclose
#define _fseeki64(f, at, from) fseeko((f), (off_t)(at), (from))
#define _ftelli64(f)           ((long long)ftello(f))

#ifdef __cplusplus
extern "C++" {
template <size_t N> inline int vsprintf_s(char (&d)[N], const char *format, va_list ap)
{
	return vsprintf_s(d, N, format, ap);
}
template <size_t N> inline int sprintf_s(char (&d)[N], const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int n = vsprintf_s(d, N, format, ap);
	va_end(ap);
	return n;
}
template <size_t N> inline int _snprintf_s(char (&d)[N], size_t n, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int k = _vsnprintf_s(d, N, n, format, ap);
	va_end(ap);
	return k;
}
}
#endif
/* Wide streams are declared here as well on Windows. */
#include "wchar.h"
#endif
