/* SPDX-License-Identifier: MIT
 *
 * Every question about a version up to Windows 10 is answered with yes.
 */
#ifndef ETW_WIN_VERSIONHELPERS_H
#define ETW_WIN_VERSIONHELPERS_H
#include "minwindef.h"
ETW_INLINE BOOL IsWindowsVersionOrGreater(WORD major, WORD minor, WORD servicePack)
{
	(void)minor;
	(void)servicePack;
	return major <= 10;
}
#define IsWindowsXPOrGreater()	    TRUE
#define IsWindowsVistaOrGreater()   TRUE
#define IsWindows7OrGreater()	    TRUE
#define IsWindows7SP1OrGreater()    TRUE
#define IsWindows8OrGreater()	    TRUE
#define IsWindows8Point1OrGreater() TRUE
#define IsWindows10OrGreater()	    TRUE
#define IsWindowsServer()	    FALSE
#endif
