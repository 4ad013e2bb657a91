/* SPDX-License-Identifier: MIT
 *
 * The part of <windows.h> that ETW programs use. GetLastError and SetLastError are in libetw, all
 * other functions in libetw-win.
 */
#ifndef ETW_WIN_WINDOWS_H
#define ETW_WIN_WINDOWS_H
#define _WINDOWS_
#define _INC_WINDOWS

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "winnt.h"
#include "winerror.h"

#include "processthreadsapi.h"
#include "securitybaseapi.h"
#include "synchapi.h"
#include "threadpoolapiset.h"
#include "timezoneapi.h"
#include "winbase.h"
#include "excpt.h"
#include "stralign.h"
#include "winnls.h"
#ifndef WIN32_LEAN_AND_MEAN
#include "objbase.h"
#include "oleauto.h"
#include "winsock.h"
#endif

#endif
/* Outside of the guard: INITGUID may have been defined since. */
#include "guiddef.h"
