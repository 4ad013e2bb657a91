/* SPDX-License-Identifier: MIT
 *
 * ntdll's run-time library: counted strings, heaps, GUIDs as text, NTSTATUS and Win32 codes. Some of these
 * are in no header of the SDK; who calls them declares them, or looks them up.
 */
#include "winrt/win.h"

#include "win/windows.h"
#include "win/winternl.h"

#include <stdlib.h>

/* Status and code; of several with one code the first is the code's. */
static const struct {
	ULONG status, code;
} known[] = {
	{0, ERROR_SUCCESS},
	{0x102, ERROR_TIMEOUT},
	{0x103, ERROR_IO_PENDING},
	{0x80000005, ERROR_MORE_DATA},
	{0xC0000001, ERROR_GEN_FAILURE},
	{0xC0000002, ERROR_INVALID_FUNCTION},
	{0xC0000004, ERROR_BAD_LENGTH},
	{0xC0000005, ERROR_NOACCESS},
	{0xC0000008, ERROR_INVALID_HANDLE},
	{0xC000000D, ERROR_INVALID_PARAMETER},
	{0xC0000017, ERROR_NOT_ENOUGH_MEMORY},
	{0xC0000022, ERROR_ACCESS_DENIED},
	{0xC0000023, ERROR_INSUFFICIENT_BUFFER},
	{0xC0000034, ERROR_FILE_NOT_FOUND},
	{0xC0000035, ERROR_ALREADY_EXISTS},
	{0xC000003A, ERROR_PATH_NOT_FOUND},
	{0xC000003B, ERROR_BAD_PATHNAME},
	{0xC0000043, ERROR_SHARING_VIOLATION},
	{0xC000007F, ERROR_DISK_FULL},
	{0xC000009A, ERROR_NO_SYSTEM_RESOURCES},
	{0xC00000BB, ERROR_NOT_SUPPORTED},
	{0xC0000225, ERROR_NOT_FOUND},
	{0xC0000295, ERROR_WMI_GUID_NOT_FOUND},
	{0xC0000297, ERROR_WMI_INSTANCE_NOT_FOUND},
};

ULONG NTAPI RtlNtStatusToDosError(NTSTATUS Status)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		if (known[i].status == (ULONG)Status) {
			return known[i].code;
		}
	}
	if (((ULONG)Status & 0xFFFF0000u) == 0xC0070000u) { /* made from a Win32 code */
		return (ULONG)Status & 0xFFFF;
	}
	return ERROR_MR_MID_NOT_FOUND;
}

int32_t win_status_of(uint32_t code)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		if (known[i].code == code) {
			return (int32_t)known[i].status;
		}
	}
	return STATUS_UNSUCCESSFUL;
}

VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString)
{
	size_t n = SourceString ? 2 * utf16_len(SourceString) : 0;
	n = BASE_MIN(n, (size_t)0xFFFC);
	DestinationString->Length = (USHORT)n;
	DestinationString->MaximumLength = SourceString ? (USHORT)(n + 2) : 0;
	DestinationString->Buffer = (PWSTR)(uintptr_t)SourceString;
}
VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString)
{
	free(UnicodeString->Buffer);
	memset(UnicodeString, 0, sizeof *UnicodeString);
}

/* A name that no header has: declared here, as it is where it is called. */
#define UNDECLARED(ret, name, parameters)     \
	WIN_EXPORT ret NTAPI name parameters; \
	ret NTAPI name parameters

UNDECLARED(NTSTATUS, RtlStringFromGUID, (const GUID *Guid, PUNICODE_STRING GuidString))
{
	uint16_t *text = malloc(39 * sizeof *text);
	if (!text) {
		return (NTSTATUS)STATUS_NO_MEMORY;
	}
	StringFromGUID2(Guid, text, 39);
	*GuidString = (UNICODE_STRING){38 * 2, 39 * 2, text};
	return STATUS_SUCCESS;
}

UNDECLARED(NTSTATUS, RtlGUIDFromString, (PCUNICODE_STRING GuidString, GUID *Guid))
{
	uint16_t text[39];
	if (GuidString->Length < 38 * 2 || !GuidString->Buffer) {
		return (NTSTATUS)STATUS_INVALID_PARAMETER;
	}
	memcpy(text, GuidString->Buffer, 38 * 2); /* what stands behind it does not matter */
	text[38] = 0;
	return CLSIDFromString(text, Guid) == S_OK ? STATUS_SUCCESS : (NTSTATUS)STATUS_INVALID_PARAMETER;
}

UNDECLARED(PVOID, RtlAllocateHeap, (PVOID HeapHandle, ULONG Flags, SIZE_T Size))
{
	return HeapAlloc(HeapHandle, Flags, Size);
}
UNDECLARED(PVOID, RtlReAllocateHeap, (PVOID HeapHandle, ULONG Flags, PVOID BaseAddress, SIZE_T Size))
{
	return HeapReAlloc(HeapHandle, Flags, BaseAddress, Size);
}
UNDECLARED(BOOLEAN, RtlFreeHeap, (PVOID HeapHandle, ULONG Flags, PVOID BaseAddress))
{
	return (BOOLEAN)HeapFree(HeapHandle, Flags, BaseAddress);
}
UNDECLARED(SIZE_T, RtlSizeHeap, (PVOID HeapHandle, ULONG Flags, PVOID BaseAddress))
{
	return HeapSize(HeapHandle, Flags, BaseAddress);
}

UNDECLARED(VOID, RtlSetLastWin32Error, (ULONG Win32Error))
{
	SetLastError(Win32Error);
}
UNDECLARED(ULONG, RtlGetLastWin32Error, (VOID))
{
	return GetLastError();
}
UNDECLARED(ULONG, RtlSetLastWin32ErrorAndNtStatusFromNtStatus, (NTSTATUS Status))
{
	SetLastError(RtlNtStatusToDosError(Status));
	return GetLastError();
}
