/* SPDX-License-Identifier: MIT
 *
 * Guarded blocks as C and C++ sources have them, compiled with --seh: those that run, run once and in
 * order, and handlers do not, except for what C++ throws.
 */
#include <windows.h>

#include <excpt.h>
#include <new.h>
#include <stdio.h>

static int filter(DWORD code, EXCEPTION_POINTERS *pointers)
{
	return pointers != NULL && code == EXCEPTION_ACCESS_VIOLATION ? EXCEPTION_EXECUTE_HANDLER
								      : EXCEPTION_CONTINUE_SEARCH;
}

int main(void)
{
	unsigned seen = 0;

	(void)filter;
	__try {
		seen |= 1;
		if (seen != 0) {
			__leave;
		}
		seen |= 2;
	} __except (filter(GetExceptionCode(), GetExceptionInformation())) {
		seen |= 4;
	}
	__try {
		seen |= 8;
	} __finally {
		seen = seen << 8 | (AbnormalTermination() ? 1 : 16);
	}
#ifdef __cplusplus
	__try {
		throw 1;
	} __except ((void)seen, EXCEPTION_EXECUTE_HANDLER) {
		seen |= 32;
	}
	seen ^= 32;
#endif
	if (seen != 0x910 || _UI64_MAX != ~0ull || _I64_MIN >= 0 || _UI32_MAX != ULONG_MAX) {
		printf("%x\n", seen);
		return 1;
	}
	return 0;
}
