/* SPDX-License-Identifier: MIT
 *
 * GUIDs of headers: declared without INITGUID and found in the library, or the program's own. And types
 * that windows.h leaves to the program. C and C++; with guids_other.c.
 */
#include <windows.h>

#include <evntrace.h>
#include <relogger.h>
#include <rpcndr.h>

/* As programs have it that need no header of the kernel for it. */
typedef struct _UNICODE_STRING {
	USHORT Length;
	USHORT MaximumLength;
	PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef struct _STRING {
	USHORT Length;
	USHORT MaximumLength;
	PCHAR Buffer;
} STRING, *PSTRING;
#define NT_SUCCESS(Status) ((NTSTATUS)(Status) >= 0)

#include <initguid.h>
/* Of the library, but this program has its own. */
DEFINE_GUID(EventTraceGuid, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
DEFINE_GUID(IID_ITraceRelogger, 0xF754AD43, 0x3BCC, 0x4286, 0x80, 0x09, 0x9C, 0x5D, 0xA2, 0x14, 0xE8, 0x4E);
DEFINE_GUID(OwnGuid, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
EXTERN_GUID(SharedGuid, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51);

EXTERN_C const GUID *other_guid(int which);

int main(void)
{
	UNICODE_STRING s = {2, 4, NULL};
	PSTRING none = NULL;
	return !(EventTraceGuid.Data1 == 1 && other_guid(0) == &EventTraceGuid &&
		 IID_ITraceRelogger.Data1 == 0xF754AD43 && other_guid(1)->Data1 == 21 && other_guid(1) == &OwnGuid &&
		 other_guid(2) == &SharedGuid && SystemTraceControlGuid.Data1 == 0x9e814aad && GUID_NULL.Data1 == 0 &&
		 CLSID_TraceRelogger.Data1 == 0x7b40792d && NT_SUCCESS(0) && s.Length == 2 && !none);
}
