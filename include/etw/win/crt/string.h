/* SPDX-License-Identifier: MIT
 *
 * <string.h> and Microsoft's additions; see etw_crtdefs.h.
 */
#include "etw_crtdefs.h"

#pragma GCC system_header
#include_next <string.h>

#ifndef ETW_CRT_STRING_H
#define ETW_CRT_STRING_H
#include <strings.h>

ETW_CRT_BEGIN
ETW_CRT(errno_t, strcpy_s, (char *d, size_t cap, const char *s));
ETW_CRT(errno_t, strncpy_s, (char *d, size_t cap, const char *s, size_t n));
ETW_CRT(errno_t, strcat_s, (char *d, size_t cap, const char *s));
ETW_CRT(errno_t, strncat_s, (char *d, size_t cap, const char *s, size_t n));
ETW_CRT(errno_t, memcpy_s, (void *d, size_t cap, const void *s, size_t n));
ETW_CRT(errno_t, memmove_s, (void *d, size_t cap, const void *s, size_t n));
ETW_CRT(errno_t, strerror_s, (char *d, size_t cap, int number));
ETW_CRT(errno_t, _strerror_s, (char *d, size_t cap, const char *text)); /* "text: " and errno's */
ETW_CRT(char *, strtok_s, (char *s, const char *set, char **save));
ETW_CRT_END

#define _stricmp        strcasecmp
#define _strnicmp       strncasecmp
#define stricmp         strcasecmp
#define strnicmp        strncasecmp
#define _strdup         strdup
#define strnlen_s(s, n) ((s) ? strnlen((s), (n)) : 0)

#ifdef __cplusplus
extern "C++" {
template <size_t N> inline errno_t strerror_s(char (&d)[N], int number)
{
	return strerror_s(d, N, number);
}
template <size_t N> inline errno_t _strerror_s(char (&d)[N], const char *text)
{
	return _strerror_s(d, N, text);
}
template <size_t N> inline errno_t strcpy_s(char (&d)[N], const char *s)
{
	return strcpy_s(d, N, s);
}
template <size_t N> inline errno_t strncpy_s(char (&d)[N], const char *s, size_t n)
{
	return strncpy_s(d, N, s, n);
}
template <size_t N> inline errno_t strcat_s(char (&d)[N], const char *s)
{
	return strcat_s(d, N, s);
}
template <size_t N> inline errno_t strncat_s(char (&d)[N], const char *s, size_t n)
{
	return strncat_s(d, N, s, n);
}
}
#endif
#include "wchar.h"
#endif
