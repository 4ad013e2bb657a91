/* SPDX-License-Identifier: MIT
 *
 * Strings at odd addresses: the processors that we know read them.
 */
#ifndef ETW_WIN_STRALIGN_H
#define ETW_WIN_STRALIGN_H
#include "minwindef.h"
#define WSTR_ALIGNED(text) TRUE
#define TSTR_ALIGNED(text) TRUE
#endif
