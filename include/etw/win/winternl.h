/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_WINTERNL_H
#define ETW_WIN_WINTERNL_H
#define _WINTERNL_
#include "ntstatus.h"
/* DestinationString points to SourceString; lengths in bytes. */
ETW_API VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);
ETW_API VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString);
/* ERROR_MR_MID_NOT_FOUND for a status without a Win32 counterpart. */
ETW_API ULONG NTAPI RtlNtStatusToDosError(NTSTATUS Status);

/* The two classes there are: the size of the machine, and the event groups of a kernel session. */
typedef enum _SYSTEM_INFORMATION_CLASS {
	SystemBasicInformation = 0,
	SystemPerformanceTraceInformation = 31
} SYSTEM_INFORMATION_CLASS;

typedef struct _SYSTEM_BASIC_INFORMATION {
	ULONG Reserved;
	ULONG TimerResolution; /* 100 ns units */
	ULONG PageSize;
	ULONG NumberOfPhysicalPages;
	ULONG LowestPhysicalPageNumber;
	ULONG HighestPhysicalPageNumber;
	ULONG AllocationGranularity;
	ULONG_PTR MinimumUserModeAddress;
	ULONG_PTR MaximumUserModeAddress;
	ULONG_PTR ActiveProcessorsAffinityMask;
	CCHAR NumberOfProcessors;
} SYSTEM_BASIC_INFORMATION, *PSYSTEM_BASIC_INFORMATION;

ETW_API NTSTATUS NTAPI NtQuerySystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
						PVOID SystemInformation,
						ULONG SystemInformationLength,
						PULONG ReturnLength);
ETW_API NTSTATUS NTAPI NtSetSystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
					      PVOID SystemInformation,
					      ULONG SystemInformationLength);
#endif
