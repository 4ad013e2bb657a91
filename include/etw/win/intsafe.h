/* SPDX-License-Identifier: MIT
 *
 * Arithmetic that notices overflow.
 */
#ifndef ETW_WIN_INTSAFE_H
#define ETW_WIN_INTSAFE_H
#include "winerror.h"
#define INTSAFE_E_ARITHMETIC_OVERFLOW ((HRESULT)0x80070216u)
#ifndef USHORT_MAX
#define USHORT_MAX 0xFFFF
#endif
#define ETW_SAFE(name, type, op)                                                                    \
	ETW_INLINE HRESULT name(type a, type b, type *ret)                                          \
	{                                                                                           \
		return __builtin_##op##_overflow(a, b, ret) ? INTSAFE_E_ARITHMETIC_OVERFLOW : S_OK; \
	}
ETW_SAFE(ULongAdd, ULONG, add)
ETW_SAFE(ULongSub, ULONG, sub)
ETW_SAFE(ULongMult, ULONG, mul)
ETW_SAFE(DWordAdd, DWORD, add)
ETW_SAFE(DWordMult, DWORD, mul)
ETW_SAFE(SizeTAdd, SIZE_T, add)
ETW_SAFE(SizeTSub, SIZE_T, sub)
ETW_SAFE(SizeTMult, SIZE_T, mul)
ETW_SAFE(UShortAdd, USHORT, add)
ETW_SAFE(ULongLongAdd, ULONGLONG, add)
ETW_SAFE(ULongLongMult, ULONGLONG, mul)
#undef ETW_SAFE
#endif
