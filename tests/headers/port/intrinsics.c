/* SPDX-License-Identifier: MIT
 *
 * What <intrin.h> and the interlocked functions have of Microsoft's compiler. C and C++.
 */
#include <windows.h>

#include <intrin.h>
#include <stdio.h>

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			failed++;                                              \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
		}                                                              \
	} while (0)

int main(void)
{
	int failed = 0;
	LONG64 wide = 1;
	LONG word = 0;
	SHORT half = 5;
	char byte = 1;
	unsigned long index = 0; /* of 64 or, with --llp64, 32 bits */
	DWORD other = 0;
	CHECK(_InterlockedExchangeAdd64(&wide, 4) == 1 && wide == 5);
	CHECK(InterlockedCompareExchangeAcquire64(&wide, 9, 5) == 5 && wide == 9);
	CHECK(_InterlockedExchangeAdd8(&byte, 1) == 1 && byte == 2);
	CHECK(_InterlockedIncrement16(&half) == 6 && _InterlockedAnd16(&half, 4) == 6 && half == 4);
	CHECK(!_interlockedbittestandset(&word, 3) && word == 8);
	CHECK(InterlockedBitTestAndReset(&word, 3) && word == 0);
	CHECK(_BitScanForward(&index, 8) && index == 3 && !_BitScanForward(&index, 0) && index == 3);
	CHECK(_BitScanReverse64(&other, 0x100000000ull) && other == 32);
	CHECK(_BitScanReverse(&index, 0xFFFFFFFFu) && index == 31);
	CHECK(__popcnt(7) == 3 && __popcnt64(0xF000000000000000ull) == 4);
	CHECK(__iso_volatile_load64(&wide) == 9);
	__iso_volatile_store64(&wide, 1);
	CHECK(wide == 1);
#ifdef __x86_64__
	int info[4] = {0, 0, 0, 0};
	__cpuid(info, 0);
	CHECK(info[0] >= 1);
	__cpuidex(info, 0, 0);
	CHECK(info[0] >= 1 && __rdtsc() != 0);
	_mm_pause();
#endif
	return failed;
}
