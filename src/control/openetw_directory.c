/* SPDX-License-Identifier: MIT
 * Where etwd lives, for programs that keep something of their own beside it.
 */
#include "control/control.h"

#include <openetw/openetw.h>

uint32_t openetw_runtime_directory(char *path, uint32_t bytes)
{
	if (path == NULL || bytes == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	return win32_from_errno(proto_runtime_dir(PROTO_INSTANCE_USER, true, path, bytes));
}
