/* SPDX-License-Identifier: MIT
 *
 * The ends of things that nobody can make here (waits of thread pools, private name spaces, …), for headers
 * like WIL's that name them all. No handle of theirs is valid.
 */
#include "winrt/win.h"

#include "win/windows.h"

VOID WINAPI SetThreadpoolWait(PTP_WAIT pwa, HANDLE h, PFILETIME pftTimeout)
{
}
VOID WINAPI WaitForThreadpoolWaitCallbacks(PTP_WAIT pwa, BOOL fCancelPendingCallbacks)
{
}
VOID WINAPI CloseThreadpoolWait(PTP_WAIT pwa)
{
}
VOID WINAPI WaitForThreadpoolIoCallbacks(PTP_IO pio, BOOL fCancelPendingCallbacks)
{
}
VOID WINAPI CloseThreadpoolIo(PTP_IO pio)
{
}
BOOL WINAPI FindCloseChangeNotification(HANDLE hChangeHandle)
{
	return win_fail(ERROR_INVALID_HANDLE);
}
BOOL WINAPI DestroyPrivateObjectSecurity(PSECURITY_DESCRIPTOR *ObjectDescriptor)
{
	return win_fail(ERROR_INVALID_SECURITY_DESCR);
}
VOID WINAPI DeleteBoundaryDescriptor(HANDLE BoundaryDescriptor)
{
}
BOOLEAN WINAPI ClosePrivateNamespace(HANDLE Handle, ULONG Flags)
{
	win_fail(ERROR_INVALID_HANDLE);
	return FALSE;
}
BOOL WINAPI CloseDesktop(HDESK hDesktop)
{
	return win_fail(ERROR_INVALID_HANDLE);
}
BOOL WINAPI CloseWindowStation(HWINSTA hWinSta)
{
	return win_fail(ERROR_INVALID_HANDLE);
}
