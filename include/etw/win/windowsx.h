/* SPDX-License-Identifier: MIT
 *
 * For sources that include it for its few macros of numbers; windows themselves are not there.
 */
#ifndef ETW_WIN_WINDOWSX_H
#define ETW_WIN_WINDOWSX_H
#include "windows.h"
#define GET_X_LPARAM(lp) ((int)(short)LOWORD(lp))
#define GET_Y_LPARAM(lp) ((int)(short)HIWORD(lp))
#endif
