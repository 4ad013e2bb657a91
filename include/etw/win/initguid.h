/* SPDX-License-Identifier: MIT
 *
 * From here on DEFINE_GUID defines. No include guard, see guiddef.h.
 */
#ifndef INITGUID
#define INITGUID
#endif
#include "guiddef.h"
