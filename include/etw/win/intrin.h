/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_INTRIN_H
#define ETW_WIN_INTRIN_H
#include "synchapi.h"
#define _ReadWriteBarrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define _ReadBarrier()      __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define _WriteBarrier()     __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define _ReturnAddress()    __builtin_return_address(0)
#if !defined(__clang__)
#define __debugbreak() __builtin_trap()
#endif
#define __iso_volatile_load8(p)      (*(const volatile __int8 *)(p))
#define __iso_volatile_load16(p)     (*(const volatile __int16 *)(p))
#define __iso_volatile_load32(p)     (*(const volatile __int32 *)(p))
#define __iso_volatile_load64(p)     (*(const volatile __int64 *)(p))
#define __iso_volatile_store8(p, v)  ((void)(*(volatile __int8 *)(p) = (v)))
#define __iso_volatile_store16(p, v) ((void)(*(volatile __int16 *)(p) = (v)))
#define __iso_volatile_store32(p, v) ((void)(*(volatile __int32 *)(p) = (v)))
#define __iso_volatile_store64(p, v) ((void)(*(volatile __int64 *)(p) = (v)))

/* FALSE, and no index, when no bit is set. The index is an unsigned long in sources, of any size here. */
#define _BitScanForward64(ret, mask)                                \
	(__extension__({                                            \
		unsigned long long etw_mask_ = (mask);              \
		if (etw_mask_) {                                    \
			*(ret) = (ULONG)__builtin_ctzll(etw_mask_); \
		}                                                   \
		(BOOLEAN)(etw_mask_ != 0);                          \
	}))
#define _BitScanReverse64(ret, mask)                                      \
	(__extension__({                                                  \
		unsigned long long etw_mask_ = (mask);                    \
		if (etw_mask_) {                                          \
			*(ret) = 63u - (ULONG)__builtin_clzll(etw_mask_); \
		}                                                         \
		(BOOLEAN)(etw_mask_ != 0);                                \
	}))
#define _BitScanForward(ret, mask) _BitScanForward64((ret), (unsigned)(mask))
#define _BitScanReverse(ret, mask) _BitScanReverse64((ret), (unsigned)(mask))
#define __popcnt(v)                ((unsigned)__builtin_popcount(v))
#define __popcnt64(v)              ((unsigned long long)__builtin_popcountll(v))

#if defined(__x86_64__)
/* __rdtsc, _mm_pause and the rest. clang's headers do not stand alone where Microsoft's compiler is claimed. */
#pragma push_macro("_MSC_VER")
#undef _MSC_VER
#include <x86intrin.h>
#pragma pop_macro("_MSC_VER")
/* <cpuid.h> has a macro of this name, with other arguments. */
#ifndef __cpuid
#if defined(__clang__) && defined(__has_builtin)
#if __has_builtin(__cpuid)
#define ETW_HAVE_CPUID
EXTERN_C void __cpuid(int info[4], int leaf);
EXTERN_C void __cpuidex(int info[4], int leaf, int sub);
#endif
#endif
#ifndef ETW_HAVE_CPUID
FORCEINLINE void __cpuidex(int info[4], int leaf, int sub)
{
	__asm__ __volatile__("cpuid"
			     : "=a"(info[0]), "=b"(info[1]), "=c"(info[2]), "=d"(info[3])
			     : "a"(leaf), "c"(sub));
}
FORCEINLINE void __cpuid(int info[4], int leaf)
{
	__cpuidex(info, leaf, 0);
}
#endif
#endif
#endif
#endif
