/* SPDX-License-Identifier: MIT
 *
 * A record of a file whose fields are declared as long, and an inline function that nobody defines
 * elsewhere.
 */
#include <windows.h>
#include <stddef.h>
#include <stdio.h>

#include <pshpack1.h>
struct block {
	unsigned long type;
	unsigned long length;
	long long section;
	long snap, *where;
};
#include <poppack.h>
_Static_assert(sizeof(struct block) == 28 && offsetof(struct block, snap) == 16, "packed, 32 bits");

inline int twice(int v)
{
	return 2 * v;
}

int wmain(int argc, wchar_t **argv)
{
	struct block b = {0x0A0D0D0AUL, ULONG_MAX, -1L, -2L, NULL};
	char text[64];
	sprintf_s(text, sizeof text, "%lu %ld %ws", b.length, b.snap, L"wide");
	(void)argv;
	return strcmp(text, "4294967295 -2 wide") != 0 || twice(argc) != 2;
}
