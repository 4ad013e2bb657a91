/* SPDX-License-Identifier: MIT
 * libetw itself is the other folders put together; the export list is libetw.map. This file holds what
 * belongs to no folder.
 */
#include "base/base.h"

__attribute__((visibility("default"))) const char *openetw_version(void);
const char *openetw_version(void)
{
	return "0.1.0";
}
