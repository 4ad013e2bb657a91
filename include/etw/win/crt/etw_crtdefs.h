/* SPDX-License-Identifier: MIT
 *
 * This folder comes first on the include path of programs compiled with -fshort-wchar, and of no
 * others. Its headers put a 16-bit implementation (libetw-win) behind the wide functions of the C
 * runtime, and Microsoft's printf behind the narrow ones, by assembler label: the names in the
 * source stay what they are.
 */
#ifndef ETW_CRT_ETW_CRTDEFS_H
#define ETW_CRT_ETW_CRTDEFS_H

#if !defined(__SIZEOF_WCHAR_T__) || __SIZEOF_WCHAR_T__ != 2
#error "include/etw/win/crt is for programs compiled with -fshort-wchar"
#endif

#include <features.h>
#include <stddef.h>
#include <sys/cdefs.h>

/* The checking wrappers of glibc would go around the functions that are bound here. */
#ifdef __USE_FORTIFY_LEVEL
#undef __USE_FORTIFY_LEVEL
#define __USE_FORTIFY_LEVEL 0
#endif
/* And its inline functions would call them before they can be bound. */
#undef __USE_EXTERN_INLINES

#ifdef __cplusplus
#define ETW_CRT_BEGIN extern "C" {
#define ETW_CRT_END   }
#else
#define ETW_CRT_BEGIN
#define ETW_CRT_END
#endif
/* A declaration bound to libetw-win. */
#define ETW_CRT(ret, name, args) ret name args __asm__("etw16_" #name)
/* The same for a function that glibc's headers declare as one that does not throw. */
#ifdef __cplusplus
#define ETW_CRT_NOTHROW(ret, name, args) ret name args noexcept(true) __asm__("etw16_" #name)
#else
#define ETW_CRT_NOTHROW(ret, name, args) ret name args __asm__("etw16_" #name)
#endif
/* A second name for a function. */
#define ETW_CRT_ALIAS(ret, alias, name, args) ret alias args __asm__("etw16_" #name)

typedef int errno_t;

#ifndef _TRUNCATE
#define _TRUNCATE ((size_t)-1)
#endif
#ifndef STRUNCATE
#define STRUNCATE 80
#endif
#define _CRT_INSECURE_DEPRECATE(replacement)

#ifndef _countof
#ifdef __cplusplus
extern "C++" {
template <class T, size_t N> char (&etw_countof_probe(T (&)[N]))[N];
}
#define _countof(a) (sizeof(etw_countof_probe(a)))
#else
#define _countof(a) (sizeof(a) / sizeof((a)[0]))
#endif
#endif

#endif
