/* SPDX-License-Identifier: MIT
 *
 * Strings with a bound, in characters (Cch) or bytes (Cb). The destination is always terminated:
 * what does not fit is cut and the result is STRSAFE_E_INSUFFICIENT_BUFFER.
 */
#ifndef ETW_WIN_STRSAFE_H
#define ETW_WIN_STRSAFE_H

#include "winerror.h"
#include "winnt.h"

#include <stdarg.h>

typedef LPSTR STRSAFE_LPSTR;
typedef LPCSTR STRSAFE_LPCSTR;
typedef LPWSTR STRSAFE_LPWSTR;
typedef LPCWSTR STRSAFE_LPCWSTR;

#define STRSAFE_MAX_CCH               2147483647
#define STRSAFE_E_INSUFFICIENT_BUFFER ((HRESULT)0x8007007Au)
#define STRSAFE_E_INVALID_PARAMETER   ((HRESULT)0x80070057u)
#define STRSAFE_E_END_OF_FILE         ((HRESULT)0x80070026u)
#define STRSAFE_IGNORE_NULLS          0x00000100
#define STRSAFE_FILL_BEHIND_NULL      0x00000200
#define STRSAFE_FILL_ON_FAILURE       0x00000400
#define STRSAFE_NULL_ON_FAILURE       0x00000800
#define STRSAFE_NO_TRUNCATION         0x00001000

#define ETW_STRSAFE(X, chr)                                                                            \
	ETW_API HRESULT StringCchCopy##X(chr *d, size_t cch, const chr *s);                            \
	ETW_API HRESULT StringCchCopyN##X(chr *d, size_t cch, const chr *s, size_t n);                 \
	ETW_API HRESULT StringCchCat##X(chr *d, size_t cch, const chr *s);                             \
	ETW_API HRESULT StringCchCatN##X(chr *d, size_t cch, const chr *s, size_t n);                  \
	ETW_API HRESULT StringCchLength##X(const chr *s, size_t cch, size_t *ret);                     \
	ETW_API HRESULT StringCchPrintf##X(chr *d, size_t cch, const chr *format, ...);                \
	ETW_API HRESULT StringCchVPrintf##X(chr *d, size_t cch, const chr *format, va_list ap);        \
	ETW_API HRESULT StringCchPrintfEx##X(chr *d, size_t cch, chr **end, size_t *left, DWORD flags, \
					     const chr *format, ...);                                  \
	ETW_API HRESULT StringCbCopy##X(chr *d, size_t cb, const chr *s);                              \
	ETW_API HRESULT StringCbCat##X(chr *d, size_t cb, const chr *s);                               \
	ETW_API HRESULT StringCbLength##X(const chr *s, size_t cb, size_t *ret);                       \
	ETW_API HRESULT StringCbPrintf##X(chr *d, size_t cb, const chr *format, ...);                  \
	ETW_API HRESULT StringCbVPrintf##X(chr *d, size_t cb, const chr *format, va_list ap);          \
	ETW_API HRESULT StringCbPrintfEx##X(chr *d, size_t cb, chr **end, size_t *left, DWORD flags,   \
					    const chr *format, ...);
ETW_STRSAFE(A, CHAR)
ETW_STRSAFE(W, WCHAR)
#undef ETW_STRSAFE
/* Without bound: 1024 characters, as in user32. */
ETW_API int WINAPIV wsprintfW(LPWSTR d, LPCWSTR format, ...);
ETW_API int WINAPIV wsprintfA(LPSTR d, LPCSTR format, ...);

#ifdef UNICODE
#define StringCchCopy     StringCchCopyW
#define StringCchCopyN    StringCchCopyNW
#define StringCchCat      StringCchCatW
#define StringCchCatN     StringCchCatNW
#define StringCchLength   StringCchLengthW
#define StringCchPrintf   StringCchPrintfW
#define StringCchVPrintf  StringCchVPrintfW
#define StringCchPrintfEx StringCchPrintfExW
#define StringCbCopy      StringCbCopyW
#define StringCbCat       StringCbCatW
#define StringCbLength    StringCbLengthW
#define StringCbPrintf    StringCbPrintfW
#define StringCbVPrintf   StringCbVPrintfW
#define StringCbPrintfEx  StringCbPrintfExW
#define wsprintf          wsprintfW
#else
#define StringCchCopy     StringCchCopyA
#define StringCchCopyN    StringCchCopyNA
#define StringCchCat      StringCchCatA
#define StringCchCatN     StringCchCatNA
#define StringCchLength   StringCchLengthA
#define StringCchPrintf   StringCchPrintfA
#define StringCchVPrintf  StringCchVPrintfA
#define StringCchPrintfEx StringCchPrintfExA
#define StringCbCopy      StringCbCopyA
#define StringCbCat       StringCbCatA
#define StringCbLength    StringCbLengthA
#define StringCbPrintf    StringCbPrintfA
#define StringCbVPrintf   StringCbVPrintfA
#define StringCbPrintfEx  StringCbPrintfExA
#define wsprintf          wsprintfA
#endif

#endif
