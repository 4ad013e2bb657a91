/* SPDX-License-Identifier: MIT */
#include <windows.h>
int part(void);
int part(void)
{
	return sizeof(L"") - 2;
}
