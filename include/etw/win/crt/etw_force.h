/* SPDX-License-Identifier: MIT
 *
 * For programs compiled with -fshort-wchar: force it in front of every source with -include.
 * libstdc++.so contains std::wstring for 32-bit characters; this keeps the compiler from using
 * those ready-made pieces, so that the program gets its own, made for 16 bits.
 */
#ifdef __clang__
/* <pshpack1.h> is there to change the packing of who includes it. */
#pragma clang diagnostic ignored "-Wpragma-pack"
#endif
#ifdef __cplusplus
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif
