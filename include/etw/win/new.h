/* SPDX-License-Identifier: MIT
 *
 * The old spelling of <new>, which sources for Windows still include.
 */
#pragma GCC system_header
#ifdef __cplusplus
#include <new>
#endif
