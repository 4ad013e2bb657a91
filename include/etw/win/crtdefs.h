/* SPDX-License-Identifier: MIT
 *
 * Types that Microsoft's C runtime defines for all its headers.
 */
#ifndef ETW_WIN_CRTDEFS_H
#define ETW_WIN_CRTDEFS_H
#include "etw_abi.h"
#include <stdarg.h>
#include <sys/types.h>
#include <time.h>
#if ETW_SHORT_WCHAR
#include "crt/etw_crtdefs.h"
#endif
typedef size_t rsize_t;
#ifndef _CRTIMP
#define _CRTIMP
#define _CRTIMP2
#define _ACRTIMP
#define _VCRTIMP
#endif
#ifndef _CRT_STRINGIZE
#define _CRT_STRINGIZE_(text) #text
#define _CRT_STRINGIZE(text)  _CRT_STRINGIZE_(text)
#define _CRT_WIDE_(text)      ETW_WIDE(text)
#define _CRT_WIDE(text)       _CRT_WIDE_(text)
#endif
#endif
