/* SPDX-License-Identifier: MIT
 *
 * <stdlib.h>: the multibyte functions bound to 16 bits, and Microsoft's additions; see
 * etw_crtdefs.h.
 */
#pragma GCC system_header
#include "etw_crtdefs.h"

/* Before the system declares them: the C++ library takes these names into std at once, and clang
 * would keep the unbound functions there. Repeated inclusion repeats the declarations, which is
 * harmless. */
ETW_CRT_BEGIN
ETW_CRT_NOTHROW(size_t, mbstowcs, (wchar_t * d, const char *s, size_t n));
ETW_CRT_NOTHROW(size_t, wcstombs, (char *d, const wchar_t *s, size_t n));
ETW_CRT_NOTHROW(int, mbtowc, (wchar_t * d, const char *s, size_t n));
ETW_CRT_NOTHROW(int, wctomb, (char *s, wchar_t c));
ETW_CRT_END

#include_next <stdlib.h>

#ifndef ETW_CRT_STDLIB_H
#define ETW_CRT_STDLIB_H

ETW_CRT_BEGIN
ETW_CRT(void *, _aligned_malloc, (size_t size, size_t align));
ETW_CRT(char *, _fullpath, (char *d, const char *path, size_t cap));
ETW_CRT(wchar_t *, _wfullpath, (wchar_t * d, const wchar_t *path, size_t cap));
ETW_CRT(errno_t, mbstowcs_s, (size_t * ret, wchar_t *d, size_t cap, const char *s, size_t n));
ETW_CRT(errno_t, wcstombs_s, (size_t * ret, char *d, size_t cap, const wchar_t *s, size_t n));
ETW_CRT(void, qsort_s,
	(void *base, size_t n, size_t size, int (*compare)(void *, const void *, const void *), void *context));

/* Variables of the environment, checked: EINVAL; ERANGE when `cap` is too small, with what is
 * wanted. */
ETW_CRT(errno_t, getenv_s, (size_t * ret, char *value, size_t cap, const char *name));
ETW_CRT(errno_t, _wgetenv_s, (size_t * ret, wchar_t *value, size_t cap, const wchar_t *name));
ETW_CRT(errno_t, _dupenv_s, (char **ret, size_t *count, const char *name)); /* free() it */
ETW_CRT(errno_t, _wdupenv_s, (wchar_t * *ret, size_t *count, const wchar_t *name));
ETW_CRT(errno_t, _putenv_s, (const char *name, const char *value)); /* "" takes it away */
ETW_CRT(errno_t, _wputenv_s, (const wchar_t *name, const wchar_t *value));
ETW_CRT_END

#define _MAX_PATH           260
#define _MAX_DRIVE          3
#define _MAX_DIR            256
#define _MAX_FNAME          256
#define _MAX_EXT            256
#define _strtoui64          strtoull
#define _strtoi64           strtoll
#define _atoi64             atoll
#define _aligned_free(p)    free(p)
#define _byteswap_ushort(v) __builtin_bswap16(v)
#define _byteswap_ulong(v)  __builtin_bswap32(v)
#define _byteswap_uint64(v) __builtin_bswap64(v)
#ifndef _rotl
#define _rotl(v, n) ((unsigned)(((unsigned)(v) << ((n)&31)) | ((unsigned)(v) >> (-(n)&31))))
#define _rotr(v, n) ((unsigned)(((unsigned)(v) >> ((n)&31)) | ((unsigned)(v) << (-(n)&31))))
#endif
#define _rotl64(v, n) (((unsigned long long)(v) << ((n)&63)) | ((unsigned long long)(v) >> (-(n)&63)))
#define _rotr64(v, n) (((unsigned long long)(v) >> ((n)&63)) | ((unsigned long long)(v) << (-(n)&63)))
/* Reports of failures go to stderr, and no window asks anybody. */
#define _WRITE_ABORT_MSG  1
#define _CALL_REPORTFAULT 2
#define _OUT_TO_DEFAULT   0
#define _OUT_TO_STDERR    1
#define _OUT_TO_MSGBOX    2
#define _REPORT_ERRMODE   3
static __inline__ __attribute__((unused)) unsigned _set_abort_behavior(unsigned flags, unsigned mask)
{
	(void)flags;
	(void)mask;
	return 0;
}
static __inline__ __attribute__((unused)) int _set_error_mode(int mode)
{
	(void)mode;
	return _OUT_TO_STDERR;
}

#include "wchar.h"
#endif
