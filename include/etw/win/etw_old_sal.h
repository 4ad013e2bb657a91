/* SPDX-License-Identifier: MIT
 *
 * For C++ sources with the lower-case annotations of the Windows 7 era (__in, __out, __inout): force
 * it in front with -include. libstdc++ uses the same names inside, so its headers are read first.
 */
#ifdef __cplusplus
#include "etw_cxx_headers.h"
#endif
#define ETW_WANT_OLD_SAL 1
#include "sal.h"
