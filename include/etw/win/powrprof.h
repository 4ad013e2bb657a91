/* SPDX-License-Identifier: MIT
 *
 * How fast the processors are. There are no power schemes: those functions say ERROR_NOT_SUPPORTED.
 */
#ifndef ETW_WIN_POWRPROF_H
#define ETW_WIN_POWRPROF_H

#include "windows.h"

typedef enum {
	SystemPowerPolicyAc,
	SystemPowerPolicyDc,
	VerifySystemPolicyAc,
	VerifySystemPolicyDc,
	SystemPowerCapabilities,
	SystemBatteryState,
	SystemPowerStateHandler,
	ProcessorStateHandler,
	SystemPowerPolicyCurrent,
	AdministratorPowerPolicy,
	SystemReserveHiberFile,
	ProcessorInformation,
	SystemPowerInformation
} POWER_INFORMATION_LEVEL;

/* ProcessorInformation: for each processor { ULONG Number, MaxMhz, CurrentMhz, MhzLimit, MaxIdleState,
 * CurrentIdleState }; STATUS_BUFFER_TOO_SMALL. Other levels: STATUS_NOT_SUPPORTED. */
ETW_API NTSTATUS WINAPI CallNtPowerInformation(POWER_INFORMATION_LEVEL InformationLevel, PVOID InputBuffer,
					       ULONG InputBufferLength, PVOID OutputBuffer, ULONG OutputBufferLength);
ETW_API DWORD WINAPI PowerGetActiveScheme(HKEY UserRootPowerKey, GUID **ActivePolicyGuid);
ETW_API DWORD WINAPI PowerSetActiveScheme(HKEY UserRootPowerKey, const GUID *SchemeGuid);
ETW_API DWORD WINAPI PowerReadACValueIndex(HKEY RootPowerKey, const GUID *SchemeGuid,
					   const GUID *SubGroupOfPowerSettingsGuid, const GUID *PowerSettingGuid,
					   LPDWORD AcValueIndex);
#endif
