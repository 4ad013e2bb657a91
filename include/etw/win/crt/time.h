/* SPDX-License-Identifier: MIT
 *
 * <time.h> and Microsoft's additions; see etw_crtdefs.h.
 */
#include "etw_crtdefs.h"

#pragma GCC system_header
#include_next <time.h>

#if !defined(ETW_CRT_TIME_H) && defined(__time_t_defined) && defined(_TIME_H)
#define ETW_CRT_TIME_H
ETW_CRT_BEGIN
ETW_CRT(errno_t, localtime_s, (struct tm * tm, const time_t *t));
ETW_CRT(errno_t, gmtime_s, (struct tm * tm, const time_t *t));
ETW_CRT_ALIAS(errno_t, _localtime64_s, localtime_s, (struct tm * tm, const time_t *t));
ETW_CRT_ALIAS(errno_t, _gmtime64_s, gmtime_s, (struct tm * tm, const time_t *t));
ETW_CRT_END
typedef time_t __time64_t;
#define _time64 time
#endif
