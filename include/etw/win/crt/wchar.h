/* SPDX-License-Identifier: MIT
 *
 * <wchar.h> with 16-bit characters; see etw_crtdefs.h. Instead of the system's, not in addition to
 * it.
 */
#ifndef ETW_CRT_WCHAR_H
#define ETW_CRT_WCHAR_H
#define _WCHAR_H 1
/* libc++ looks for its own, which puts overloads for const around the system's. */
#define _LIBCPP_WCHAR_H

#include "etw_crtdefs.h"

#include <bits/types/FILE.h>
#include <bits/types/__FILE.h>
#include <bits/types/locale_t.h>
#include <bits/types/mbstate_t.h>
#include <bits/types/wint_t.h>
#include <stdarg.h>
#include <stdint.h>

struct tm;

#undef WEOF
#define WEOF ((wint_t)0xFFFF)
#undef WCHAR_MIN
#undef WCHAR_MAX
#define WCHAR_MIN 0
#define WCHAR_MAX 0xFFFF

ETW_CRT_BEGIN

/* ---- ISO ------------------------------------------------------------------------------------- */

ETW_CRT(size_t, wcslen, (const wchar_t *s));
ETW_CRT(size_t, wcsnlen, (const wchar_t *s, size_t max));
ETW_CRT(wchar_t *, wcscpy, (wchar_t * d, const wchar_t *s));
ETW_CRT(wchar_t *, wcpcpy, (wchar_t * d, const wchar_t *s));
ETW_CRT(wchar_t *, wcsncpy, (wchar_t * d, const wchar_t *s, size_t n));
ETW_CRT(wchar_t *, wcscat, (wchar_t * d, const wchar_t *s));
ETW_CRT(wchar_t *, wcsncat, (wchar_t * d, const wchar_t *s, size_t n));
ETW_CRT(int, wcscmp, (const wchar_t *a, const wchar_t *b));
ETW_CRT(int, wcsncmp, (const wchar_t *a, const wchar_t *b, size_t n));
ETW_CRT(int, wcscoll, (const wchar_t *a, const wchar_t *b));
ETW_CRT(size_t, wcsxfrm, (wchar_t * d, const wchar_t *s, size_t n));
ETW_CRT(wchar_t *, wcschr, (const wchar_t *s, wchar_t c));
ETW_CRT(wchar_t *, wcsrchr, (const wchar_t *s, wchar_t c));
ETW_CRT(wchar_t *, wcsstr, (const wchar_t *s, const wchar_t *what));
ETW_CRT(size_t, wcsspn, (const wchar_t *s, const wchar_t *set));
ETW_CRT(size_t, wcscspn, (const wchar_t *s, const wchar_t *set));
ETW_CRT(wchar_t *, wcspbrk, (const wchar_t *s, const wchar_t *set));
ETW_CRT(wchar_t *, wcstok, (wchar_t * s, const wchar_t *set, wchar_t **save));
ETW_CRT(wchar_t *, wmemcpy, (wchar_t * d, const wchar_t *s, size_t n));
ETW_CRT(wchar_t *, wmemmove, (wchar_t * d, const wchar_t *s, size_t n));
ETW_CRT(wchar_t *, wmempcpy, (wchar_t * d, const wchar_t *s, size_t n));
ETW_CRT(wchar_t *, wmemset, (wchar_t * d, wchar_t c, size_t n));
ETW_CRT(int, wmemcmp, (const wchar_t *a, const wchar_t *b, size_t n));
ETW_CRT(wchar_t *, wmemchr, (const wchar_t *s, wchar_t c, size_t n));
ETW_CRT(long, wcstol, (const wchar_t *s, wchar_t **end, int base));
ETW_CRT(unsigned long, wcstoul, (const wchar_t *s, wchar_t **end, int base));
__extension__ ETW_CRT(long long, wcstoll, (const wchar_t *s, wchar_t **end, int base));
__extension__ ETW_CRT(unsigned long long, wcstoull, (const wchar_t *s, wchar_t **end, int base));
ETW_CRT(double, wcstod, (const wchar_t *s, wchar_t **end));
ETW_CRT(float, wcstof, (const wchar_t *s, wchar_t **end));
ETW_CRT(long double, wcstold, (const wchar_t *s, wchar_t **end));
ETW_CRT(wint_t, btowc, (int c));
ETW_CRT(int, wctob, (wint_t c));
ETW_CRT(int, mbsinit, (const mbstate_t *state));
ETW_CRT(size_t, mbrlen, (const char *s, size_t n, mbstate_t *state));
ETW_CRT(size_t, mbrtowc, (wchar_t * d, const char *s, size_t n, mbstate_t *state));
ETW_CRT(size_t, wcrtomb, (char *s, wchar_t c, mbstate_t *state));
ETW_CRT(size_t, mbsrtowcs, (wchar_t * d, const char **s, size_t n, mbstate_t *state));
ETW_CRT(size_t, wcsrtombs, (char *d, const wchar_t **s, size_t n, mbstate_t *state));
ETW_CRT(size_t, mbsnrtowcs, (wchar_t * d, const char **s, size_t bytes, size_t n, mbstate_t *state));
ETW_CRT(size_t, wcsnrtombs, (char *d, const wchar_t **s, size_t units, size_t n, mbstate_t *state));
ETW_CRT(size_t, wcsftime, (wchar_t * d, size_t cap, const wchar_t *format, const struct tm *tm));
ETW_CRT(int, fwide, (FILE * f, int mode));
ETW_CRT(wint_t, fgetwc, (FILE * f));
ETW_CRT_ALIAS(wint_t, getwc, fgetwc, (FILE * f));
ETW_CRT(wint_t, getwchar, (void));
ETW_CRT(wint_t, ungetwc, (wint_t c, FILE *f));
ETW_CRT(wchar_t *, fgetws, (wchar_t * d, int cap, FILE *f));
ETW_CRT(wint_t, fputwc, (wchar_t c, FILE *f));
ETW_CRT_ALIAS(wint_t, putwc, fputwc, (wchar_t c, FILE *f));
ETW_CRT(wint_t, putwchar, (wchar_t c));
ETW_CRT(int, fputws, (const wchar_t *s, FILE *f));
ETW_CRT(int, wprintf, (const wchar_t *format, ...));
ETW_CRT(int, vwprintf, (const wchar_t *format, va_list ap));
ETW_CRT(int, fwprintf, (FILE * f, const wchar_t *format, ...));
ETW_CRT(int, vfwprintf, (FILE * f, const wchar_t *format, va_list ap));
ETW_CRT(int, swprintf, (wchar_t * d, size_t cap, const wchar_t *format, ...));
ETW_CRT(int, vswprintf, (wchar_t * d, size_t cap, const wchar_t *format, va_list ap));
ETW_CRT(int, swscanf, (const wchar_t *s, const wchar_t *format, ...));
ETW_CRT(int, vswscanf, (const wchar_t *s, const wchar_t *format, va_list ap));
ETW_CRT(int, wscanf, (const wchar_t *format, ...));
ETW_CRT(int, vwscanf, (const wchar_t *format, va_list ap));
ETW_CRT(int, fwscanf, (FILE * f, const wchar_t *format, ...));
ETW_CRT(int, vfwscanf, (FILE * f, const wchar_t *format, va_list ap));

/* ---- Microsoft --------------------------------------------------------------------------------
 */

ETW_CRT(int, _wcsicmp, (const wchar_t *a, const wchar_t *b));
ETW_CRT(int, _wcsnicmp, (const wchar_t *a, const wchar_t *b, size_t n));
ETW_CRT_ALIAS(int, wcsicmp, _wcsicmp, (const wchar_t *a, const wchar_t *b));
ETW_CRT_ALIAS(int, wcscasecmp, _wcsicmp, (const wchar_t *a, const wchar_t *b));
ETW_CRT_ALIAS(int, wcsncasecmp, _wcsnicmp, (const wchar_t *a, const wchar_t *b, size_t n));
ETW_CRT(wchar_t *, _wcsdup, (const wchar_t *s));
ETW_CRT_ALIAS(wchar_t *, wcsdup, _wcsdup, (const wchar_t *s));
ETW_CRT(wchar_t *, _wcslwr, (wchar_t * s));
ETW_CRT(wchar_t *, _wcsupr, (wchar_t * s));
ETW_CRT(wchar_t *, _wcsrev, (wchar_t * s));
ETW_CRT(errno_t, _wcslwr_s, (wchar_t * s, size_t cap));
ETW_CRT(errno_t, _wcsupr_s, (wchar_t * s, size_t cap));
ETW_CRT(size_t, wcsnlen_s, (const wchar_t *s, size_t max));
ETW_CRT(errno_t, wcscpy_s, (wchar_t * d, size_t cap, const wchar_t *s));
ETW_CRT(errno_t, wcsncpy_s, (wchar_t * d, size_t cap, const wchar_t *s, size_t n));
ETW_CRT(errno_t, wcscat_s, (wchar_t * d, size_t cap, const wchar_t *s));
ETW_CRT(errno_t, wcsncat_s, (wchar_t * d, size_t cap, const wchar_t *s, size_t n));
ETW_CRT(errno_t, _wcserror_s, (wchar_t * d, size_t cap, int number));
ETW_CRT_ALIAS(wchar_t *, wcstok_s, wcstok, (wchar_t * s, const wchar_t *set, wchar_t **save));
__extension__ ETW_CRT_ALIAS(long long, _wcstoi64, wcstoll, (const wchar_t *s, wchar_t **end, int base));
__extension__ ETW_CRT_ALIAS(unsigned long long, _wcstoui64, wcstoull, (const wchar_t *s, wchar_t **end, int base));
ETW_CRT(int, _wtoi, (const wchar_t *s));
ETW_CRT_ALIAS(int, _wtol, _wtoi, (const wchar_t *s));
__extension__ ETW_CRT(long long, _wtoi64, (const wchar_t *s));
ETW_CRT(double, _wtof, (const wchar_t *s));
ETW_CRT(errno_t, _itow_s, (int v, wchar_t *d, size_t cap, int base));
ETW_CRT_ALIAS(errno_t, _ltow_s, _itow_s, (int v, wchar_t *d, size_t cap, int base));
ETW_CRT(errno_t, _ultow_s, (unsigned long v, wchar_t *d, size_t cap, int base));
__extension__ ETW_CRT(errno_t, _i64tow_s, (long long v, wchar_t *d, size_t cap, int base));
__extension__ ETW_CRT(errno_t, _ui64tow_s, (unsigned long long v, wchar_t *d, size_t cap, int base));
ETW_CRT_ALIAS(int, wprintf_s, wprintf, (const wchar_t *format, ...));
ETW_CRT_ALIAS(int, fwprintf_s, fwprintf, (FILE * f, const wchar_t *format, ...));
ETW_CRT_ALIAS(int, vfwprintf_s, vfwprintf, (FILE * f, const wchar_t *format, va_list ap));
ETW_CRT(int, swprintf_s, (wchar_t * d, size_t cap, const wchar_t *format, ...));
ETW_CRT(int, vswprintf_s, (wchar_t * d, size_t cap, const wchar_t *format, va_list ap));
ETW_CRT(int, _snwprintf, (wchar_t * d, size_t cap, const wchar_t *format, ...));
ETW_CRT(int, _vsnwprintf, (wchar_t * d, size_t cap, const wchar_t *format, va_list ap));
ETW_CRT(int, _snwprintf_s, (wchar_t * d, size_t cap, size_t n, const wchar_t *format, ...));
ETW_CRT(int, _vsnwprintf_s, (wchar_t * d, size_t cap, size_t n, const wchar_t *format, va_list ap));
ETW_CRT(int, _scwprintf, (const wchar_t *format, ...));
ETW_CRT(int, _vscwprintf, (const wchar_t *format, va_list ap));
ETW_CRT(int, swscanf_s, (const wchar_t *s, const wchar_t *format, ...));
ETW_CRT(int, _putws, (const wchar_t *s));
ETW_CRT(FILE *, _wfopen, (const wchar_t *path, const wchar_t *mode));
ETW_CRT(errno_t, _wfopen_s, (FILE * *ret, const wchar_t *path, const wchar_t *mode));
ETW_CRT(int, _wsystem, (const wchar_t *command));
ETW_CRT(wchar_t *, _wgetenv, (const wchar_t *name));
ETW_CRT(int, _wremove, (const wchar_t *path));
ETW_CRT(errno_t, _wsplitpath_s,
	(const wchar_t *path, wchar_t *drive, size_t drive_cap, wchar_t *dir, size_t dir_cap, wchar_t *name,
	 size_t name_cap, wchar_t *ext, size_t ext_cap));
ETW_CRT(errno_t, _wmakepath_s,
	(wchar_t * path, size_t cap, const wchar_t *drive, const wchar_t *dir, const wchar_t *name,
	 const wchar_t *ext));
ETW_CRT_END

/* The forms that find the size of an array themselves. */
#ifdef __cplusplus
extern "C++" {
inline wchar_t *wcstok(wchar_t *s, const wchar_t *set)
{
	return wcstok(s, set, static_cast<wchar_t **>(0));
}
template <size_t N> inline errno_t _wcserror_s(wchar_t (&d)[N], int number)
{
	return _wcserror_s(d, N, number);
}
template <size_t N> inline errno_t wcscpy_s(wchar_t (&d)[N], const wchar_t *s)
{
	return wcscpy_s(d, N, s);
}
template <size_t N> inline errno_t wcsncpy_s(wchar_t (&d)[N], const wchar_t *s, size_t n)
{
	return wcsncpy_s(d, N, s, n);
}
template <size_t N> inline errno_t wcscat_s(wchar_t (&d)[N], const wchar_t *s)
{
	return wcscat_s(d, N, s);
}
template <size_t N> inline errno_t wcsncat_s(wchar_t (&d)[N], const wchar_t *s, size_t n)
{
	return wcsncat_s(d, N, s, n);
}
template <size_t N> inline errno_t _wcslwr_s(wchar_t (&s)[N])
{
	return _wcslwr_s(s, N);
}
template <size_t N> inline errno_t _wcsupr_s(wchar_t (&s)[N])
{
	return _wcsupr_s(s, N);
}
template <size_t N> inline errno_t _itow_s(int v, wchar_t (&d)[N], int base)
{
	return _itow_s(v, d, N, base);
}
template <size_t N> inline int vswprintf_s(wchar_t (&d)[N], const wchar_t *format, va_list ap)
{
	return vswprintf_s(d, N, format, ap);
}
template <size_t N> inline int swprintf_s(wchar_t (&d)[N], const wchar_t *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int n = vswprintf_s(d, N, format, ap);
	va_end(ap);
	return n;
}
template <size_t N> inline int _vsnwprintf_s(wchar_t (&d)[N], size_t n, const wchar_t *format, va_list ap)
{
	return _vsnwprintf_s(d, N, n, format, ap);
}
template <size_t N> inline int _snwprintf_s(wchar_t (&d)[N], size_t n, const wchar_t *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int k = _vsnwprintf_s(d, N, n, format, ap);
	va_end(ap);
	return k;
}
template <size_t A, size_t B, size_t C, size_t D>
inline errno_t _wsplitpath_s(const wchar_t *path, wchar_t (&drive)[A], wchar_t (&dir)[B], wchar_t (&name)[C],
			     wchar_t (&ext)[D])
{
	return _wsplitpath_s(path, drive, A, dir, B, name, C, ext, D);
}
template <size_t N>
inline errno_t _wmakepath_s(wchar_t (&path)[N], const wchar_t *drive, const wchar_t *dir, const wchar_t *name,
			    const wchar_t *ext)
{
	return _wmakepath_s(path, N, drive, dir, name, ext);
}
}
#endif

/* On Windows wide classification and keys are declared here as well. */
#include "../conio.h"
#include "wctype.h"
#endif
