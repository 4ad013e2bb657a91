/* SPDX-License-Identifier: MIT
 *
 * NtQuerySystemInformation and NtSetSystemInformation: the size of the machine, and the event
 * groups of a kernel session, which older tools set this way.
 */
#include "winrt/win.h"

#include "etw/evntrace.h"
#include "win/windows.h"
#include "win/winternl.h"

#include <unistd.h>

/* The second word of the trace requests: which of the groups' information. */
#define GROUP_MASK       1
#define GROUP_MASK_BYTES 32

struct group_mask_request {
	ULONG kind;
	TRACEHANDLE session;
	ULONG masks[8];
};

static NTSTATUS status_of(ULONG code)
{
	/* The sessions are named by their handles here. */
	return code == ERROR_WMI_INSTANCE_NOT_FOUND ? (NTSTATUS)STATUS_INVALID_HANDLE : win_status_of(code);
}

static NTSTATUS basic_information(SYSTEM_BASIC_INFORMATION *b)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), page = sysconf(_SC_PAGESIZE);
	memset(b, 0, sizeof *b);
	b->TimerResolution = 156250;
	b->PageSize = (ULONG)page;
	b->NumberOfPhysicalPages = (ULONG)sysconf(_SC_PHYS_PAGES);
	b->LowestPhysicalPageNumber = 1;
	b->HighestPhysicalPageNumber = b->NumberOfPhysicalPages;
	b->AllocationGranularity = (ULONG)page;
	b->MinimumUserModeAddress = 0x10000;
	b->MaximumUserModeAddress = 0x7FFFFFFEFFFF;
	b->ActiveProcessorsAffinityMask = cpus >= 64 ? ~(ULONG_PTR)0 : ((ULONG_PTR)1 << cpus) - 1;
	b->NumberOfProcessors = (CCHAR)(cpus > 127 ? 127 : cpus);
	return STATUS_SUCCESS;
}

NTSTATUS NTAPI NtQuerySystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass, PVOID SystemInformation,
					ULONG SystemInformationLength, PULONG ReturnLength)
{
	struct group_mask_request *r = SystemInformation;
	ULONG need = SystemInformationClass == SystemBasicInformation ? sizeof(SYSTEM_BASIC_INFORMATION) : sizeof *r;
	if (SystemInformationClass != SystemBasicInformation &&
	    SystemInformationClass != SystemPerformanceTraceInformation) {
		return STATUS_INVALID_INFO_CLASS;
	}
	if (ReturnLength) {
		*ReturnLength = need;
	}
	if (SystemInformationLength < need) {
		return STATUS_INFO_LENGTH_MISMATCH;
	}
	if (SystemInformationClass == SystemBasicInformation) {
		return basic_information(SystemInformation);
	}
	if (r->kind != GROUP_MASK) {
		return STATUS_NOT_SUPPORTED;
	}
	ULONG got;
	return status_of(
		TraceQueryInformation(r->session, TraceSystemTraceEnableFlagsInfo, r->masks, GROUP_MASK_BYTES, &got));
}

NTSTATUS NTAPI NtSetSystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass, PVOID SystemInformation,
				      ULONG SystemInformationLength)
{
	struct group_mask_request *r = SystemInformation;
	if (SystemInformationClass != SystemPerformanceTraceInformation) {
		return STATUS_INVALID_INFO_CLASS;
	}
	if (SystemInformationLength < sizeof *r) {
		return STATUS_INFO_LENGTH_MISMATCH;
	}
	if (r->kind != GROUP_MASK) {
		return STATUS_NOT_SUPPORTED;
	}
	return status_of(TraceSetInformation(r->session, TraceSystemTraceEnableFlagsInfo, r->masks, GROUP_MASK_BYTES));
}
