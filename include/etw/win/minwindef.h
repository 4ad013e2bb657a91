/* SPDX-License-Identifier: MIT
 *
 * The plain type names and macros of Win32. Sizes: BOOL, DWORD, LONG, ULONG are 32 bits.
 */
#ifndef ETW_WIN_MINWINDEF_H
#define ETW_WIN_MINWINDEF_H

#include "basetsd.h"
#include "sdkddkver.h"

#define VOID void
typedef char CHAR, CCHAR;
typedef short SHORT;
typedef int LONG;
typedef int INT;
typedef unsigned char UCHAR;
typedef unsigned short USHORT;
typedef unsigned int ULONG;
typedef unsigned int UINT;
typedef unsigned int DWORD;
typedef unsigned short WORD;
typedef unsigned char BYTE;
typedef int BOOL;
typedef BYTE BOOLEAN;
typedef float FLOAT;
typedef double DOUBLE;
typedef long long LONGLONG;
typedef unsigned long long ULONGLONG;
typedef unsigned long long DWORDLONG;
typedef LONG HRESULT;
typedef LONG NTSTATUS;
typedef LONG LSTATUS;
typedef LONG SCODE;
typedef DWORD LCID, *PLCID;
typedef WORD LANGID;
typedef DWORD ACCESS_MASK, *PACCESS_MASK;
typedef LONGLONG USN;

typedef void *PVOID, *LPVOID;
typedef const void *LPCVOID, *PCVOID;
typedef PVOID HANDLE;
typedef HANDLE *PHANDLE, *LPHANDLE;
typedef void *PVOID64;
typedef CHAR *PCHAR, *LPCH, *PCH;
typedef const CHAR *LPCCH, *PCCH;
typedef CHAR *NPSTR, *LPSTR, *PSTR;
typedef const CHAR *LPCSTR, *PCSTR;
typedef PSTR *PZPSTR;
typedef WCHAR *PWCHAR, *LPWCH, *PWCH;
typedef const WCHAR *LPCWCH, *PCWCH, *PCWCHAR;
typedef WCHAR *NWPSTR, *LPWSTR, *PWSTR;
/* Not terminated. */
typedef CHAR *PNZCH;
typedef const CHAR *PCNZCH;
typedef WCHAR *PNZWCH;
typedef const WCHAR *PCNZWCH;
typedef const WCHAR *LPCWSTR, *PCWSTR;
typedef WCHAR *PZZWSTR;
typedef const WCHAR *PCZZWSTR;
typedef const WCHAR *LPCUWSTR, *PCUWSTR;
typedef SHORT *PSHORT;
typedef LONG *PLONG, *LPLONG;
typedef INT *PINT, *LPINT;
typedef UCHAR *PUCHAR;
typedef const UCHAR *PCUCHAR;
typedef USHORT *PUSHORT;
typedef ULONG *PULONG;
typedef UINT *PUINT;
typedef DWORD *PDWORD, *LPDWORD;
typedef WORD *PWORD, *LPWORD;
typedef BYTE *PBYTE, *LPBYTE;
typedef const BYTE *LPCBYTE, *PCBYTE;
typedef BOOL *PBOOL, *LPBOOL;
typedef BOOLEAN *PBOOLEAN;
typedef FLOAT *PFLOAT;
typedef LONGLONG *PLONGLONG;
typedef ULONGLONG *PULONGLONG;
typedef NTSTATUS *PNTSTATUS;
typedef UINT_PTR WPARAM;
typedef LONG_PTR LPARAM, LRESULT;
typedef WORD ATOM;

/* Windows gives each handle kind its own pointer type under STRICT; one is enough here. */
#define DECLARE_HANDLE(name) typedef struct name##__ *name

#ifdef UNICODE
typedef WCHAR TCHAR, *PTCHAR, TBYTE, *PTBYTE;
typedef LPWSTR LPTSTR, PTSTR;
typedef LPCWSTR LPCTSTR, PCTSTR;
#define __TEXT(quote) ETW_WIDE(quote)
#else
typedef CHAR TCHAR, *PTCHAR;
typedef unsigned char TBYTE, *PTBYTE;
typedef LPSTR LPTSTR, PTSTR;
typedef LPCSTR LPCTSTR, PCTSTR;
#define __TEXT(quote) quote
#endif
#define TEXT(quote) __TEXT(quote)

typedef HANDLE HINSTANCE, HMODULE, HGLOBAL, HLOCAL, HKEY, HWND, HDESK, HWINSTA, HMENU, HICON, HGDIOBJ, HBRUSH,
	SC_HANDLE;
typedef HKEY *PHKEY;
typedef INT_PTR (*FARPROC)(void);
typedef INT_PTR (*NEARPROC)(void);
typedef INT_PTR (*PROC)(void);

#ifndef CONST
#define CONST const
#endif
#ifndef NULL
#define NULL 0
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef OPTIONAL
#define OPTIONAL
#endif
#define FAR
#define NEAR

#define MAX_PATH             260
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#define INFINITE             0xFFFFFFFFu
/* Our own headers write [1]: clang takes an array whose length comes from a macro for a fixed one. */
#define ANYSIZE_ARRAY    1
#define UNICODE_NULL     ((WCHAR)0)
#define ANSI_NULL        ((CHAR)0)
#define MAKEWORD(lo, hi) ((WORD)(((BYTE)(lo)) | ((WORD)((BYTE)(hi))) << 8))
#define MAKELONG(lo, hi) ((LONG)(((WORD)(lo)) | ((DWORD)((WORD)(hi))) << 16))
#define LOWORD(v)        ((WORD)((DWORD_PTR)(v)&0xFFFF))
#define HIWORD(v)        ((WORD)(((DWORD_PTR)(v) >> 16) & 0xFFFF))
#define LOBYTE(v)        ((BYTE)((DWORD_PTR)(v)&0xFF))
#define HIBYTE(v)        ((BYTE)(((DWORD_PTR)(v) >> 8) & 0xFF))

/* min and max are macros on Windows; libstdc++ does not survive that, so C++ gets templates that
 * also lose against std::min and std::max where both are visible. */
#ifndef NOMINMAX
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
extern "C++" {
template <class A, class B> constexpr auto min(const A &a, const B &b) -> decltype(true ? a + 0 : b + 0)
{
	return a < b ? a + 0 : b + 0;
}
template <class A, class B> constexpr auto max(const A &a, const B &b) -> decltype(true ? a + 0 : b + 0)
{
	return a > b ? a + 0 : b + 0;
}
}
#pragma GCC diagnostic pop
#else
#ifndef max
#define max(a, b) (((a) > (b)) ? (a) : (b))
#endif
#ifndef min
#define min(a, b) (((a) < (b)) ? (a) : (b))
#endif
#endif
#endif

/* 100 ns units since 1601-01-01 UTC, in two halves: aligned to 4 bytes, not 8. */
typedef struct _FILETIME {
	DWORD dwLowDateTime;
	DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

#endif
