/* SPDX-License-Identifier: MIT
 *
 * For sources that insist on Microsoft's compiler (`#if _MSC_VER < 1900 #error`): force it in front
 * with -include. The C++ and C headers of this system are read first, because they would take these
 * macros for a different system.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#ifdef __cplusplus
#include "etw_cxx_headers.h"
#endif

/* What Microsoft's library has beyond the standard, where sources use it. */
#ifdef __cplusplus
/* basic_string::_Copy_s: characters to a buffer of `room`. */
#define _Copy_s(d, room, n) copy((d), (n) < (room) ? (n) : (room))
/* Older compilers take no predefined name for the text of a static_assert. */
#if defined(__clang__) && __clang_major__ < 17
#define __FUNCSIG__ "this function"
#elif !defined(__clang__)
#define __FUNCSIG__ __PRETTY_FUNCTION__
#endif
/* A part of longer texts, which only newer clangs take predefined names for. */
#if defined(__clang__) && __clang_major__ >= 18
#define __FUNCTIONW__ L__FUNCTION__
#else
#define __FUNCTIONW__ L"this function"
#endif
#endif

#ifndef _MSC_VER
#define _MSC_VER      1930
#define _MSC_FULL_VER 193030705
#endif
#ifndef _WIN32
#define _WIN32 1
#endif
#ifndef _WIN64
#define _WIN64 1
#endif
#if defined(__x86_64__)
#define _M_AMD64 100
#define _M_X64   100
#elif defined(__aarch64__)
#define _M_ARM64 1
#endif

/* What /EHsc and /GR say there. */
#if (defined(__EXCEPTIONS) || defined(__cpp_exceptions)) && !defined(_CPPUNWIND)
#define _CPPUNWIND 1
#endif
#if defined(__cplusplus) && (defined(__GXX_RTTI) || defined(__cpp_rtti)) && !defined(_CPPRTTI)
#define _CPPRTTI 1
#endif
/* Of functions of classes in its library's headers. */
#define __CLR_OR_THIS_CALL
#define __CLRCALL_OR_CDECL
