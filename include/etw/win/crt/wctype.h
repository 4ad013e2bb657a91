/* SPDX-License-Identifier: MIT
 *
 * <wctype.h> whose case mapping agrees with the rest; see etw_crtdefs.h. Classification is the
 * system's.
 */
#pragma GCC system_header
#include "etw_crtdefs.h"
#include <bits/types/wint_t.h>

/* Before the system declares them: the C++ library takes these names into std at once, and clang
 * would keep the unbound functions there. Repeated inclusion repeats the declarations, which is
 * harmless. */
ETW_CRT_BEGIN
ETW_CRT_NOTHROW(wint_t, towlower, (wint_t c));
ETW_CRT_NOTHROW(wint_t, towupper, (wint_t c));
ETW_CRT_END

#include_next <wctype.h>
