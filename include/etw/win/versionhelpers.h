/* SPDX-License-Identifier: MIT
 *
 * Questions about the version of Windows, answered as GetVersionEx answers: Windows 10, a
 * workstation.
 */
#ifndef ETW_WIN_VERSIONHELPERS_H
#define ETW_WIN_VERSIONHELPERS_H
#define _versionhelpers_H_INCLUDED_
#include "winbase.h"
ETW_INLINE BOOL IsWindowsVersionOrGreater(WORD major, WORD minor, WORD servicePack)
{
	(void)servicePack; /* Windows 10 has none, and every older version less */
	return major < 10 || (major == 10 && minor == 0 && servicePack == 0);
}
#define IsWindowsXPOrGreater()        IsWindowsVersionOrGreater(5, 1, 0)
#define IsWindowsXPSP1OrGreater()     IsWindowsVersionOrGreater(5, 1, 1)
#define IsWindowsXPSP2OrGreater()     IsWindowsVersionOrGreater(5, 1, 2)
#define IsWindowsXPSP3OrGreater()     IsWindowsVersionOrGreater(5, 1, 3)
#define IsWindowsVistaOrGreater()     IsWindowsVersionOrGreater(6, 0, 0)
#define IsWindowsVistaSP1OrGreater()  IsWindowsVersionOrGreater(6, 0, 1)
#define IsWindowsVistaSP2OrGreater()  IsWindowsVersionOrGreater(6, 0, 2)
#define IsWindows7OrGreater()         IsWindowsVersionOrGreater(6, 1, 0)
#define IsWindows7SP1OrGreater()      IsWindowsVersionOrGreater(6, 1, 1)
#define IsWindows8OrGreater()         IsWindowsVersionOrGreater(6, 2, 0)
#define IsWindows8Point1OrGreater()   IsWindowsVersionOrGreater(6, 3, 0)
#define IsWindowsThresholdOrGreater() IsWindowsVersionOrGreater(10, 0, 0)
#define IsWindows10OrGreater()        IsWindowsVersionOrGreater(10, 0, 0)
#define IsWindowsServer()             FALSE
#endif
