/* SPDX-License-Identifier: MIT
 *
 * The printf family of programs compiled with -fshort-wchar. The narrow one is bound here too: see
 * win.h. Wide text goes to streams as UTF-8.
 */
#include "winrt/win.h"

#include <stdlib.h>

/* Formats into a buffer of `cap` units (terminator included). `ret_full` tells that it did not fit.
 */
static int format_buffer(void *buf, size_t cap, bool wide, const void *format, va_list ap, bool *ret_full)
{
	struct win_sink s = {.wide = wide, .buf = cap ? buf : NULL, .cap = cap ? cap - 1 : 0};
	win_format(&s, format, wide, ap);
	if (buf && cap) {
		size_t end = s.count < cap ? s.count : cap - 1;
		if (wide) {
			((uint16_t *)buf)[end] = 0;
		} else {
			((char *)buf)[end] = 0;
		}
	}
	*ret_full = s.count >= cap;
	return s.failed || s.count > INT32_MAX ? -1 : (int)s.count;
}

static int print_file(FILE *file, const void *format, bool wide, va_list ap)
{
	struct win_sink s = {.grow = true}; /* bytes: UTF-8 whatever the format is */
	win_format(&s, format, wide, ap);
	int ret = -1;
	if (!s.failed && s.count <= INT32_MAX && fwrite(s.buf, 1, s.count, file) == s.count) {
		ret = (int)s.count;
	}
	free(s.buf);
	return ret;
}

/* ---- wide ------------------------------------------------------------------------------------ */

#define VARIADIC(call)        \
	va_list ap;           \
	va_start(ap, format); \
	int ret = call;       \
	va_end(ap);           \
	return ret

WIN_EXPORT int etw16_vfwprintf(FILE *file, const uint16_t *format, va_list ap);
int etw16_vfwprintf(FILE *file, const uint16_t *format, va_list ap)
{
	return print_file(file, format, true, ap);
}
WIN_EXPORT int etw16_fwprintf(FILE *file, const uint16_t *format, ...);
int etw16_fwprintf(FILE *file, const uint16_t *format, ...)
{
	VARIADIC(print_file(file, format, true, ap));
}
WIN_EXPORT int etw16_vwprintf(const uint16_t *format, va_list ap);
int etw16_vwprintf(const uint16_t *format, va_list ap)
{
	return print_file(stdout, format, true, ap);
}
WIN_EXPORT int etw16_wprintf(const uint16_t *format, ...);
int etw16_wprintf(const uint16_t *format, ...)
{
	VARIADIC(print_file(stdout, format, true, ap));
}

/* ISO: a negative value when the text does not fit, and the buffer is terminated. */
WIN_EXPORT int etw16_vswprintf(uint16_t *buf, size_t cap, const uint16_t *format, va_list ap);
int etw16_vswprintf(uint16_t *buf, size_t cap, const uint16_t *format, va_list ap)
{
	bool full;
	int n = format_buffer(buf, cap, true, format, ap, &full);
	return full ? -1 : n;
}
WIN_EXPORT int etw16_swprintf(uint16_t *buf, size_t cap, const uint16_t *format, ...);
int etw16_swprintf(uint16_t *buf, size_t cap, const uint16_t *format, ...)
{
	VARIADIC(etw16_vswprintf(buf, cap, format, ap));
}

/* No terminator when the text fills the buffer exactly, or more: the Windows rule. */
static int legacy_bounded(void *buf, size_t cap, bool wide, const void *format, va_list ap)
{
	struct win_sink s = {.wide = wide, .buf = buf, .cap = cap};
	win_format(&s, format, wide, ap);
	if (buf && s.count < cap) {
		if (wide) {
			((uint16_t *)buf)[s.count] = 0;
		} else {
			((char *)buf)[s.count] = 0;
		}
	}
	return s.failed || (s.count > cap && buf) ? -1 : (int)s.count;
}
WIN_EXPORT int etw16__vsnwprintf(uint16_t *buf, size_t cap, const uint16_t *format, va_list ap);
int etw16__vsnwprintf(uint16_t *buf, size_t cap, const uint16_t *format, va_list ap)
{
	return legacy_bounded(buf, cap, true, format, ap);
}
WIN_EXPORT int etw16__snwprintf(uint16_t *buf, size_t cap, const uint16_t *format, ...);
int etw16__snwprintf(uint16_t *buf, size_t cap, const uint16_t *format, ...)
{
	VARIADIC(legacy_bounded(buf, cap, true, format, ap));
}
WIN_EXPORT int etw16__vsnprintf(char *buf, size_t cap, const char *format, va_list ap);
int etw16__vsnprintf(char *buf, size_t cap, const char *format, va_list ap)
{
	return legacy_bounded(buf, cap, false, format, ap);
}
WIN_EXPORT int etw16__snprintf(char *buf, size_t cap, const char *format, ...);
int etw16__snprintf(char *buf, size_t cap, const char *format, ...)
{
	VARIADIC(legacy_bounded(buf, cap, false, format, ap));
}

WIN_EXPORT int etw16__vscwprintf(const uint16_t *format, va_list ap);
int etw16__vscwprintf(const uint16_t *format, va_list ap)
{
	bool full;
	return format_buffer(NULL, 0, true, format, ap, &full);
}
WIN_EXPORT int etw16__scwprintf(const uint16_t *format, ...);
int etw16__scwprintf(const uint16_t *format, ...)
{
	VARIADIC(etw16__vscwprintf(format, ap));
}
WIN_EXPORT int etw16__vscprintf(const char *format, va_list ap);
int etw16__vscprintf(const char *format, va_list ap)
{
	bool full;
	return format_buffer(NULL, 0, false, format, ap, &full);
}
WIN_EXPORT int etw16__scprintf(const char *format, ...);
int etw16__scprintf(const char *format, ...)
{
	VARIADIC(etw16__vscprintf(format, ap));
}

/* ---- the secure forms -------------------------------------------------------------------------
 */

#define TRUNCATE ((size_t)-1)

/* Too small: empty text and -1, unless `count` allows truncation. On Windows the first of these
 * ends the program through the invalid-parameter handler; a library does not. */
static int format_secure(void *buf, size_t cap, size_t count, bool wide, const void *format, va_list ap)
{
	if (!buf || cap == 0 || !format) {
		errno = EINVAL;
		return -1;
	}
	bool full;
	size_t room = count != TRUNCATE && count < cap ? count + 1 : cap;
	int n = format_buffer(buf, room, wide, format, ap, &full);
	if (!full && n >= 0) {
		return n;
	}
	if (count == TRUNCATE || count < cap) {
		return -1; /* what fits stays */
	}
	if (wide) {
		*(uint16_t *)buf = 0;
	} else {
		*(char *)buf = 0;
	}
	errno = ERANGE;
	return -1;
}

WIN_EXPORT int etw16_vswprintf_s(uint16_t *buf, size_t cap, const uint16_t *format, va_list ap);
int etw16_vswprintf_s(uint16_t *buf, size_t cap, const uint16_t *format, va_list ap)
{
	return format_secure(buf, cap, cap, true, format, ap);
}
WIN_EXPORT int etw16_swprintf_s(uint16_t *buf, size_t cap, const uint16_t *format, ...);
int etw16_swprintf_s(uint16_t *buf, size_t cap, const uint16_t *format, ...)
{
	VARIADIC(format_secure(buf, cap, cap, true, format, ap));
}
WIN_EXPORT int etw16__vsnwprintf_s(uint16_t *buf, size_t cap, size_t count, const uint16_t *format, va_list ap);
int etw16__vsnwprintf_s(uint16_t *buf, size_t cap, size_t count, const uint16_t *format, va_list ap)
{
	return format_secure(buf, cap, count, true, format, ap);
}
WIN_EXPORT int etw16__snwprintf_s(uint16_t *buf, size_t cap, size_t count, const uint16_t *format, ...);
int etw16__snwprintf_s(uint16_t *buf, size_t cap, size_t count, const uint16_t *format, ...)
{
	VARIADIC(format_secure(buf, cap, count, true, format, ap));
}
WIN_EXPORT int etw16_vsprintf_s(char *buf, size_t cap, const char *format, va_list ap);
int etw16_vsprintf_s(char *buf, size_t cap, const char *format, va_list ap)
{
	return format_secure(buf, cap, cap, false, format, ap);
}
WIN_EXPORT int etw16_sprintf_s(char *buf, size_t cap, const char *format, ...);
int etw16_sprintf_s(char *buf, size_t cap, const char *format, ...)
{
	VARIADIC(format_secure(buf, cap, cap, false, format, ap));
}
WIN_EXPORT int etw16__vsnprintf_s(char *buf, size_t cap, size_t count, const char *format, va_list ap);
int etw16__vsnprintf_s(char *buf, size_t cap, size_t count, const char *format, va_list ap)
{
	return format_secure(buf, cap, count, false, format, ap);
}
WIN_EXPORT int etw16__snprintf_s(char *buf, size_t cap, size_t count, const char *format, ...);
int etw16__snprintf_s(char *buf, size_t cap, size_t count, const char *format, ...)
{
	VARIADIC(format_secure(buf, cap, count, false, format, ap));
}

/* ---- narrow ISO names ---------------------------------------------------------------------------
 */

WIN_EXPORT int etw16_vfprintf(FILE *file, const char *format, va_list ap);
int etw16_vfprintf(FILE *file, const char *format, va_list ap)
{
	return print_file(file, format, false, ap);
}
WIN_EXPORT int etw16_fprintf(FILE *file, const char *format, ...);
int etw16_fprintf(FILE *file, const char *format, ...)
{
	VARIADIC(print_file(file, format, false, ap));
}
WIN_EXPORT int etw16_vprintf(const char *format, va_list ap);
int etw16_vprintf(const char *format, va_list ap)
{
	return print_file(stdout, format, false, ap);
}
WIN_EXPORT int etw16_printf(const char *format, ...);
int etw16_printf(const char *format, ...)
{
	VARIADIC(print_file(stdout, format, false, ap));
}
WIN_EXPORT int etw16_vsnprintf(char *buf, size_t cap, const char *format, va_list ap);
int etw16_vsnprintf(char *buf, size_t cap, const char *format, va_list ap)
{
	bool full;
	return format_buffer(buf, cap, false, format, ap, &full);
}
WIN_EXPORT int etw16_snprintf(char *buf, size_t cap, const char *format, ...);
int etw16_snprintf(char *buf, size_t cap, const char *format, ...)
{
	VARIADIC(etw16_vsnprintf(buf, cap, format, ap));
}
WIN_EXPORT int etw16_vsprintf(char *buf, const char *format, va_list ap);
int etw16_vsprintf(char *buf, const char *format, va_list ap)
{
	bool full;
	return format_buffer(buf, SIZE_MAX / 2, false, format, ap, &full);
}
WIN_EXPORT int etw16_sprintf(char *buf, const char *format, ...);
int etw16_sprintf(char *buf, const char *format, ...)
{
	VARIADIC(etw16_vsprintf(buf, format, ap));
}
