/* The other half of guids.c: INITGUID from the beginning, as samples have it. */
#define INITGUID
#include <windows.h>

#include <evntrace.h>
#include <rpcndr.h>
#include <winternl.h>

DEFINE_GUID(OwnGuid, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
EXTERN_GUID(SharedGuid, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51);

EXTERN_C const GUID *other_guid(int which);
const GUID *other_guid(int which)
{
	UNICODE_STRING unused;
	(void)unused;
	return which == 0 ? &EventTraceGuid : which == 1 ? &OwnGuid : &SharedGuid;
}
