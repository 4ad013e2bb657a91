/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_WINTERNL_H
#define ETW_WIN_WINTERNL_H
#include "ntstatus.h"
/* DestinationString points to SourceString; lengths in bytes. */
ETW_API VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);
ETW_API VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString);
/* ERROR_MR_MID_NOT_FOUND for a status without a Win32 counterpart. */
ETW_API ULONG NTAPI RtlNtStatusToDosError(NTSTATUS Status);
#endif
