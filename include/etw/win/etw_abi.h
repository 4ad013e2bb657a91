/* SPDX-License-Identifier: MIT
 *
 * How Windows declarations are spelled for gcc and clang on Linux: linkage, visibility, calling
 * conventions, __declspec, and what a 16-bit character is. Everything else in include/etw builds on
 * it.
 *
 * A program is compiled in one of two modes, and both talk to the same library, because the ABI is
 * UTF-16 in 16-bit units whatever the compiler thinks wchar_t is:
 *
 *   -fshort-wchar   WCHAR is wchar_t, L"text" is UTF-16: for unmodified Windows sources
 *   no flag         WCHAR is char16_t, u"text" is UTF-16: for Linux sources
 */
#ifndef ETW_WIN_ETW_ABI_H
#define ETW_WIN_ETW_ABI_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "sal.h"
#include "winapifamily.h"

#ifdef __cplusplus
#define EXTERN_C       extern "C"
#define EXTERN_C_START extern "C" {
#define EXTERN_C_END   }
#else
#define EXTERN_C extern
#define EXTERN_C_START
#define EXTERN_C_END
#endif

/* In front of every function that libetw or libetw-win exports. */
#define ETW_API EXTERN_C __attribute__((visibility("default")))
/* In front of functions that live in headers. */
#define ETW_INLINE static __inline__ __attribute__((unused))

/* Calling conventions: Linux has one. */
#define WINAPI
#define WINAPIV
#define NTAPI
#define APIENTRY
#define CALLBACK
#define APIPRIVATE
#define PASCAL
#define STDAPICALLTYPE
#define STDMETHODCALLTYPE
#define STDMETHODVCALLTYPE

#if defined(__clang__) && defined(__is_identifier)
#define ETW_IS_KEYWORD(word) (!__is_identifier(word))
#else
#define ETW_IS_KEYWORD(word) 0
#endif

/* Where they are keywords they say at each use that this machine has none of them. */
#ifndef __stdcall
#define __stdcall
#endif
#ifndef __cdecl
#define __cdecl
#endif
#ifndef __fastcall
#define __fastcall
#endif
#if !ETW_IS_KEYWORD(__vectorcall) && !defined(__vectorcall)
#define __vectorcall
#endif
#if !ETW_IS_KEYWORD(__forceinline) && !defined(__forceinline)
#define __forceinline __inline__ __attribute__((always_inline, unused))
#endif
/* Naming __pragma in a condition runs it where it is a keyword, so another word of that mode is
 * asked, before it is a macro. */
#if !ETW_IS_KEYWORD(__int64) && !defined(__pragma)
#define __pragma(...) _Pragma(#__VA_ARGS__)
#endif
#if !ETW_IS_KEYWORD(__int64) && !defined(__int64)
#define __int64 long long
#define __int32 int
#define __int16 short
#define __int8 char
#endif
/* Processors that we know read at any address. */
#if !ETW_IS_KEYWORD(__unaligned) && !defined(__unaligned)
#define __unaligned
#endif
/* The spellings with one underscore. */
#if !ETW_IS_KEYWORD(_declspec)
#define _declspec(what) __declspec(what)
#define _inline __inline
#define _forceinline __forceinline
#define _int64 __int64
#define _int32 __int32
#define _int16 __int16
#define _int8 __int8
#endif
#if !ETW_IS_KEYWORD(_cdecl)
#define _cdecl
#define _stdcall
#define _fastcall
#endif
#if !ETW_IS_KEYWORD(__declspec) && !defined(__declspec)
/* Each word opens an attribute, and the end of __declspec closes it: so a word may have an argument or
 * none, as deprecated and deprecated("…"). A word of which nothing follows opens an empty one.
 * The attributes have the spellings that no program defines. */
#define __declspec(...) ETW_DECLSPEC(__VA_ARGS__)
#define ETW_DECLSPEC(what) ETW_DECLSPEC_##what))
#define ETW_ATTRIBUTE	  __attribute__((
#define ETW_DECLSPEC_                    ETW_ATTRIBUTE
#define ETW_DECLSPEC_allocator           ETW_ATTRIBUTE
#define ETW_DECLSPEC_intrin_type         ETW_ATTRIBUTE
#define ETW_DECLSPEC_no_init_all         ETW_ATTRIBUTE
#define ETW_DECLSPEC_hybrid_patchable    ETW_ATTRIBUTE
#define ETW_DECLSPEC_align(n)            ETW_ATTRIBUTE __aligned__(n)
#define ETW_DECLSPEC_allocate(name)      ETW_ATTRIBUTE __section__(name)
#define ETW_DECLSPEC_code_seg(name)      ETW_ATTRIBUTE
#define ETW_DECLSPEC_deprecated          ETW_ATTRIBUTE __deprecated__
#define ETW_DECLSPEC_dllexport           ETW_ATTRIBUTE __visibility__("default")
#define ETW_DECLSPEC_dllimport           ETW_ATTRIBUTE
#define ETW_DECLSPEC_empty_bases         ETW_ATTRIBUTE
#define ETW_DECLSPEC_guard(x)            ETW_ATTRIBUTE
#define ETW_DECLSPEC_naked               ETW_ATTRIBUTE __naked__
#define ETW_DECLSPEC_noalias             ETW_ATTRIBUTE
#define ETW_DECLSPEC_noinline            ETW_ATTRIBUTE __noinline__
#define ETW_DECLSPEC_noreturn            ETW_ATTRIBUTE __noreturn__
#define ETW_DECLSPEC_nothrow             ETW_ATTRIBUTE __nothrow__
#define ETW_DECLSPEC_novtable            ETW_ATTRIBUTE
#define ETW_DECLSPEC_restrict            ETW_ATTRIBUTE
#define ETW_DECLSPEC_safebuffers         ETW_ATTRIBUTE
#define ETW_DECLSPEC_spectre(x)          ETW_ATTRIBUTE
#define ETW_DECLSPEC_no_sanitize_address ETW_ATTRIBUTE __no_sanitize_address__
/* "EXTERN_C __declspec(selectany) T x;" is a definition on Windows, shared by all that have it. With
 * extern in front gcc takes it for a declaration, so the extern is given to something else. */
#if defined(__clang__)
#define ETW_DECLSPEC_selectany ETW_ATTRIBUTE __selectany__
#elif defined(__cplusplus)
extern "C" void etw_selectany_(void);
#define ETW_DECLSPEC_selectany     \
	void etw_selectany_(void); \
	inline ETW_ATTRIBUTE
#else
#define ETW_DECLSPEC_selectany     \
	void etw_selectany_(void); \
	ETW_ATTRIBUTE __weak__
#endif
/* Not __thread, which has to come behind static and extern. */
#ifdef __cplusplus
#define ETW_DECLSPEC_thread thread_local ETW_ATTRIBUTE
#else
#define ETW_DECLSPEC_thread _Thread_local ETW_ATTRIBUTE
#endif
#define ETW_DECLSPEC_uuid(text) ETW_ATTRIBUTE
#define ETW_DECLSPEC__Noreturn  ETW_ATTRIBUTE __noreturn__ /* with <stdnoreturn.h> */
#endif

/* An interface's id, for __uuidof. Compilers that lack the keyword get it for types as a macro. */
#if ETW_IS_KEYWORD(__uuidof)
#define ETW_UUID(text) __declspec(uuid(text))
#define ETW_UUID_OF(type, iid)
#elif defined(__cplusplus)
#define ETW_UUID(text) __attribute__((visibility("default")))
extern "C++" {
template <class T> struct etw_uuid;
template <class T> struct etw_uuid<T *> : etw_uuid<T> {
};
}
#define ETW_UUID_OF(type, iid)              \
	extern "C++" {                      \
	template <> struct etw_uuid<type> { \
		static const IID &get()     \
		{                           \
			return iid;         \
		}                           \
	};                                  \
	}
#define __uuidof(type) (etw_uuid<type>::get())
#else
#define ETW_UUID(text)
#define ETW_UUID_OF(type, iid)
#endif

/* In front of "struct" only __declspec aligns the type; openetw-cc helps compilers without it. */
#if ETW_IS_KEYWORD(__declspec)
#define DECLSPEC_ALIGN(n) __declspec(align(n))
#else
#define DECLSPEC_ALIGN(n) __attribute__((aligned(n)))
#endif
#define DECLSPEC_CACHEALIGN     DECLSPEC_ALIGN(64)
#define DECLSPEC_ALLOCATE(name) __attribute__((section(name)))
#define DECLSPEC_DEPRECATED     __attribute__((deprecated))
#define DECLSPEC_IMPORT
/* "DECLSPEC_NOINLINE __inline" in C headers made by Windows' tools means one copy in the program.
 * For clang weak functions are that, and are not inlined either; gcc has none that are inline, so
 * there each source has its own (and such a function of a C source cannot be called from others). */
#ifdef __cplusplus
#define DECLSPEC_NOINLINE __attribute__((noinline))
#elif defined(__clang__)
#define DECLSPEC_NOINLINE __attribute__((weak, unused))
#else
#define DECLSPEC_NOINLINE static __attribute__((noipa, unused))
#endif
#define DECLSPEC_NORETURN __attribute__((noreturn))
#define DECLSPEC_NOTHROW  __attribute__((nothrow))
#define DECLSPEC_NOVTABLE
#define DECLSPEC_SELECTANY __attribute__((weak))
#define DECLSPEC_UUID(text)
#ifndef FORCEINLINE
#define FORCEINLINE static __inline__ __attribute__((always_inline, unused))
#endif
#ifndef CFORCEINLINE
#define CFORCEINLINE FORCEINLINE
#endif
#define UNALIGNED
#define UNALIGNED64
#define RESTRICTED_POINTER
/* In C a function that is only inline has code elsewhere; Windows' __inline brings it along. */
#ifndef __inline
#ifdef __cplusplus
#define __inline __inline__
#else
#define __inline __inline__ __attribute__((gnu_inline, unused))
#endif
#endif
#ifndef __assume
#define __assume(condition) ((void)0)
#endif
#ifndef __analysis_assume
#define __analysis_assume(condition) ((void)0)
#endif
#ifndef __annotation
#define __annotation(...) ((void)0)
#endif
#ifndef __fallthrough
#define __fallthrough __attribute__((__fallthrough__))
#endif
#define NOP_FUNCTION ((void)0)

/* Anonymous members, as the SDK spells them for compilers without them. */
#ifdef NONAMELESSUNION
#define DUMMYUNIONNAME   u
#define DUMMYUNIONNAME2  u2
#define DUMMYUNIONNAME3  u3
#define DUMMYUNIONNAME4  u4
#define DUMMYSTRUCTNAME  s
#define DUMMYSTRUCTNAME2 s2
#define DUMMYSTRUCTNAME3 s3
#else
#define DUMMYUNIONNAME
#define DUMMYUNIONNAME2
#define DUMMYUNIONNAME3
#define DUMMYUNIONNAME4
#define DUMMYSTRUCTNAME
#define DUMMYSTRUCTNAME2
#define DUMMYSTRUCTNAME3
#endif

/* Newest Windows unless the program says otherwise, so that nothing is hidden and the code that mc
 * and TraceLogging generate calls EventSetInformation directly. */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#ifndef WINVER
#define WINVER _WIN32_WINNT
#endif
#ifndef NTDDI_VERSION
#define NTDDI_VERSION 0x0A000010
#endif

/* 1 when the compiler's wide literals are UTF-16. */
#if defined(__SIZEOF_WCHAR_T__) && __SIZEOF_WCHAR_T__ == 2
#define ETW_SHORT_WCHAR 1
typedef wchar_t WCHAR;
/* ETW_WIDE("text") is a string literal of WCHARs in either mode. */
#define ETW_WIDE_PASTE(text) L##text
#else
#define ETW_SHORT_WCHAR 0
#ifdef __cplusplus
typedef char16_t WCHAR;
#else
typedef __CHAR16_TYPE__ WCHAR;
#endif
#define ETW_WIDE_PASTE(text) u##text
#endif
#define ETW_WIDE(text) ETW_WIDE_PASTE(text)

#endif
