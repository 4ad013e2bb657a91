/* SPDX-License-Identifier: MIT
 *
 * The same program as C++: other overloads, other paths through the system's headers.
 */
#include "client_crt.c"
