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
