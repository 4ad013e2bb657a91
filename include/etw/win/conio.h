/* SPDX-License-Identifier: MIT
 *
 * Keys. At the end of the input every function returns EOF, so that loops which wait for a key end.
 */
#ifndef ETW_WIN_CONIO_H
#define ETW_WIN_CONIO_H
#include "etw_abi.h"
#include <stdio.h>
EXTERN_C_START
int _getch(void) __asm__("etw16__getch");
int _getche(void) __asm__("etw16__getche");
int _kbhit(void) __asm__("etw16__kbhit");
unsigned _getwch(void) __asm__("etw16__getwch");
EXTERN_C_END
#define getch _getch
#endif
