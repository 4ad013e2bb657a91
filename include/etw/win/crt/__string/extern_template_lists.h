/* SPDX-License-Identifier: MIT
 *
 * libc++: which parts of std::wstring a program is to take from the library, where they are of 32 bits.
 * None.
 */
#pragma GCC system_header
#include_next <__string/extern_template_lists.h>
#undef _LIBCPP_STRING_V1_EXTERN_TEMPLATE_LIST
#define _LIBCPP_STRING_V1_EXTERN_TEMPLATE_LIST(declare, type)
#undef _LIBCPP_STRING_UNSTABLE_EXTERN_TEMPLATE_LIST
#define _LIBCPP_STRING_UNSTABLE_EXTERN_TEMPLATE_LIST(declare, type)
