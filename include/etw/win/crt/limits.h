/* SPDX-License-Identifier: MIT
 *
 * <limits.h> with the limits of LONG and ULONG under the names that Windows sources use for them:
 * ULONG_MAX is the highest ULONG there, and is compared with ULONGs. long itself has 64 bits here.
 */
#pragma GCC system_header
#include_next <limits.h>
#undef LONG_MIN
#undef LONG_MAX
#undef ULONG_MAX
#define LONG_MIN  (-2147483647 - 1)
#define LONG_MAX  2147483647
#define ULONG_MAX 0xFFFFFFFFu

/* The limits of integers by width: that header has them beside the standard's. */
#ifndef _I8_MIN
#define _I8_MIN   ((signed char)(-127 - 1))
#define _I8_MAX   ((signed char)127)
#define _UI8_MAX  0xffu
#define _I16_MIN  ((short)(-32767 - 1))
#define _I16_MAX  ((short)32767)
#define _UI16_MAX 0xffffu
#define _I32_MIN  (-2147483647 - 1)
#define _I32_MAX  2147483647
#define _UI32_MAX 0xffffffffu
#define _I64_MIN  (-9223372036854775807LL - 1)
#define _I64_MAX  9223372036854775807LL
#define _UI64_MAX 0xffffffffffffffffULL
#endif
