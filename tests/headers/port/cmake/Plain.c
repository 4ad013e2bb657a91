/* SPDX-License-Identifier: MIT */
#include <evntprov.h>
int main(void)
{
	REGHANDLE h = 0;
	return sizeof(L"") != 4 || EventUnregister(h) == 0;
}
