/* SPDX-License-Identifier: MIT
 *
 * <wctype.h> whose case mapping agrees with the rest; see etw_crtdefs.h. Classification is the system's.
 */
#include "etw_crtdefs.h"

#include_next <wctype.h>

#ifndef ETW_CRT_WCTYPE_H
#define ETW_CRT_WCTYPE_H
ETW_CRT_BEGIN
ETW_CRT_NOTHROW(wint_t, towlower, (wint_t c));
ETW_CRT_NOTHROW(wint_t, towupper, (wint_t c));
ETW_CRT_END
#endif
