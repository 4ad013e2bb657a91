/* SPDX-License-Identifier: MIT
 *
 * The last error, per thread. OpenTrace and the inquiries of classic providers report through it
 * only, so it lives here and not in libetw-win, which calls these two.
 */
#include "win/windows.h"

static __thread DWORD last_error __attribute__((tls_model("initial-exec")));

DWORD WINAPI GetLastError(void)
{
	return last_error;
}

VOID WINAPI SetLastError(DWORD dwErrCode)
{
	last_error = dwErrCode;
}
