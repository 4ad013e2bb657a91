/* SPDX-License-Identifier: MIT
 *
 * Integers of a stated size. Windows is LLP64: nothing here is ever a C `long`.
 */
#ifndef ETW_WIN_BASETSD_H
#define ETW_WIN_BASETSD_H

#include "etw_abi.h"

typedef signed char INT8, *PINT8;
typedef short INT16, *PINT16;
typedef int INT32, *PINT32;
typedef long long INT64, *PINT64;
typedef unsigned char UINT8, *PUINT8;
typedef unsigned short UINT16, *PUINT16;
typedef unsigned int UINT32, *PUINT32;
typedef unsigned long long UINT64, *PUINT64;
typedef int LONG32, *PLONG32;
typedef unsigned int ULONG32, *PULONG32;
typedef unsigned int DWORD32, *PDWORD32;
typedef long long LONG64, *PLONG64;
typedef unsigned long long ULONG64, *PULONG64;
typedef unsigned long long DWORD64, *PDWORD64;

#if __SIZEOF_POINTER__ == 8
typedef long long INT_PTR, *PINT_PTR;
typedef unsigned long long UINT_PTR, *PUINT_PTR;
typedef long long LONG_PTR, *PLONG_PTR;
typedef unsigned long long ULONG_PTR, *PULONG_PTR;
typedef unsigned int UHALF_PTR, *PUHALF_PTR;
typedef int HALF_PTR, *PHALF_PTR;
#else
typedef int INT_PTR, *PINT_PTR;
typedef unsigned int UINT_PTR, *PUINT_PTR;
typedef int LONG_PTR, *PLONG_PTR;
typedef unsigned int ULONG_PTR, *PULONG_PTR;
typedef unsigned short UHALF_PTR, *PUHALF_PTR;
typedef short HALF_PTR, *PHALF_PTR;
#endif
typedef ULONG_PTR DWORD_PTR, *PDWORD_PTR;
typedef ULONG_PTR SIZE_T, *PSIZE_T;
typedef LONG_PTR SSIZE_T, *PSSIZE_T;
typedef ULONG_PTR KAFFINITY, *PKAFFINITY;

#define MAXUINT8     ((UINT8)0xFF)
#define MAXINT8      ((INT8)0x7F)
#define MAXUINT16    ((UINT16)0xFFFF)
#define MAXINT16     ((INT16)0x7FFF)
#define MAXUINT32    ((UINT32)0xFFFFFFFFu)
#define MAXINT32     ((INT32)0x7FFFFFFF)
#define MAXUINT64    ((UINT64) ~(UINT64)0)
#define MAXINT64     ((INT64)(MAXUINT64 >> 1))
#define MAXUINT      ((unsigned int)0xFFFFFFFFu)
#define MAXINT       ((int)0x7FFFFFFF)
#define MAXULONG     MAXUINT32
#define MAXLONG      MAXINT32
#define MAXDWORD     MAXUINT32
#define MAXWORD      0xFFFF
#define MAXUSHORT    0xFFFF
#define MAXULONG64   MAXUINT64
#define MAXULONGLONG MAXUINT64
#define MAXSIZE_T    ((SIZE_T) ~(SIZE_T)0)

#define HandleToULong(h) ((unsigned int)(ULONG_PTR)(h))
#define HandleToUlong(h) HandleToULong(h)
#define HandleToLong(h)  ((int)(LONG_PTR)(h))
#define ULongToHandle(v) ((void *)(ULONG_PTR)(v))
#define UlongToHandle(v) ULongToHandle(v)
#define LongToHandle(v)  ((void *)(LONG_PTR)(v))
#define PtrToUlong(p)    ((unsigned int)(ULONG_PTR)(p))
#define PtrToULong(p)    PtrToUlong(p)
#define PtrToLong(p)     ((int)(LONG_PTR)(p))
#define PtrToUint(p)     ((unsigned int)(UINT_PTR)(p))
#define UlongToPtr(v)    ((void *)(ULONG_PTR)(v))
#define ULongToPtr(v)    UlongToPtr(v)
#define LongToPtr(v)     ((void *)(LONG_PTR)(v))
#define PtrToPtr64(p)    ((unsigned long long)(ULONG_PTR)(p))

#endif
