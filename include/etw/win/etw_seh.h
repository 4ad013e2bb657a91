/* SPDX-License-Identifier: MIT
 *
 * __try, __except, __finally and __leave, for sources that have them: force it in front with -include,
 * or give the driver --seh. No compiler here knows structured exceptions, and faults do not become any:
 * an access violation ends the program as it always does here. So
 *
 *   the block of __try runs;
 *   the one of __except does not, except in C++ after a C++ exception, whatever its filter says;
 *   the one of __finally runs behind it: not when the first was left by return, goto or an exception;
 *   __leave leaves the block of __try (in C, where break would leave the same).
 */
#ifndef ETW_SEH_H
#define ETW_SEH_H

#include "excpt.h"
#ifdef __cplusplus
/* libstdc++ says __try for try itself. */
#include "etw_cxx_headers.h"
struct etw_seh_leave {
};
/* clang-format off */ /* which takes the parameters of a macro that is named like a keyword for its text */
#define __leave throw etw_seh_leave()
#define __except(...) catch (etw_seh_leave &) {} catch (...)
#define __finally catch (etw_seh_leave &) {}
#else
#define __try do
#define __except(...) while (0); if (0 && (__VA_ARGS__))
#define __finally while (0);
#define __leave break
/* clang-format on */
#endif

#endif
