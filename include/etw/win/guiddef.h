/* SPDX-License-Identifier: MIT
 *
 * GUID, and DEFINE_GUID. Like on Windows the DEFINE_GUID part has no include guard: whether it
 * defines or only declares follows INITGUID at the latest inclusion of this file, so that
 * <initguid.h> may come first, last or more than once.
 */
#ifndef GUID_DEFINED
#define GUID_DEFINED
#include "minwindef.h"
/* 16 bytes, aligned to 4. */
typedef struct _GUID {
	ULONG Data1;
	USHORT Data2;
	USHORT Data3;
	UCHAR Data4[8];
} GUID;
#endif

#undef DEFINE_GUID
#undef DEFINE_OLEGUID
#ifdef __cplusplus
#define ETW_GUID_LINKAGE extern "C"
#else
#define ETW_GUID_LINKAGE
#endif
#ifdef INITGUID
/* Weak, so that the same definition may be in any number of files. */
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
	ETW_GUID_LINKAGE const GUID name __attribute__((weak));      \
	const GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#else
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) EXTERN_C const GUID name
#endif
#define DEFINE_OLEGUID(name, l, w1, w2) DEFINE_GUID(name, l, w1, w2, 0xC0, 0, 0, 0, 0, 0, 0, 0x46)

#ifndef ETW_WIN_GUIDDEF_H
#define ETW_WIN_GUIDDEF_H

#include <string.h>

typedef GUID *LPGUID, *PGUID;
typedef const GUID *LPCGUID, *PCGUID;
typedef GUID UUID;
typedef GUID IID, *LPIID;
typedef GUID CLSID, *LPCLSID;
typedef GUID FMTID, *LPFMTID;

#ifdef __cplusplus
#define REFGUID  const GUID &
#define REFIID   const IID &
#define REFCLSID const IID &
#define REFFMTID const IID &

ETW_INLINE int InlineIsEqualGUID(REFGUID a, REFGUID b)
{
	return memcmp(&a, &b, sizeof(GUID)) == 0;
}
ETW_INLINE int IsEqualGUID(REFGUID a, REFGUID b)
{
	return memcmp(&a, &b, sizeof(GUID)) == 0;
}
extern "C++" {
ETW_INLINE bool operator==(REFGUID a, REFGUID b)
{
	return memcmp(&a, &b, sizeof(GUID)) == 0;
}
ETW_INLINE bool operator!=(REFGUID a, REFGUID b)
{
	return memcmp(&a, &b, sizeof(GUID)) != 0;
}
}
#else
#define REFGUID                 const GUID *const
#define REFIID                  const IID *const
#define REFCLSID                const IID *const
#define REFFMTID                const IID *const
#define InlineIsEqualGUID(a, b) (memcmp((a), (b), sizeof(GUID)) == 0)
#define IsEqualGUID(a, b)       (memcmp((a), (b), sizeof(GUID)) == 0)
#endif
#define IsEqualIID(a, b)   IsEqualGUID(a, b)
#define IsEqualCLSID(a, b) IsEqualGUID(a, b)

#endif
