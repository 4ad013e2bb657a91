/* SPDX-License-Identifier: MIT
 *
 * powrprof: how fast the processors are.
 */
#include "winrt/win.h"

#include "win/ntstatus.h"
#include "win/powrprof.h"
#include "win/windows.h"

#include <stdlib.h>
#include <unistd.h>

/* One for each processor; clients declare it themselves. */
struct processor_power {
	ULONG Number, MaxMhz, CurrentMhz, MhzLimit, MaxIdleState, CurrentIdleState;
};

/* A file of cpufreq in kHz, as MHz; 0 without one. */
static ULONG frequency(long cpu, const char *what)
{
	char path[128];
	unsigned long khz = 0;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/%s", cpu, what);
	FILE *f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%lu", &khz) != 1) {
			khz = 0;
		}
		fclose(f);
	}
	return (ULONG)(khz / 1000);
}

/* "cpu MHz : 2300.000" of the n-th processor in /proc/cpuinfo. */
static ULONG listed_frequency(long cpu)
{
	char line[256];
	double mhz = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");
	for (long at = -1; f && at < cpu && fgets(line, sizeof line, f);) {
		double v;
		const char *colon = strchr(line, ':');
		if (colon && strncmp(line, "cpu MHz", 7) == 0 && sscanf(colon + 1, "%lf", &v) == 1) {
			at++;
			mhz = at == cpu ? v : 0;
		}
	}
	if (f) {
		fclose(f);
	}
	return (ULONG)mhz;
}

NTSTATUS WINAPI CallNtPowerInformation(POWER_INFORMATION_LEVEL InformationLevel, PVOID InputBuffer,
				       ULONG InputBufferLength, PVOID OutputBuffer, ULONG OutputBufferLength)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (InformationLevel != ProcessorInformation) {
		return STATUS_NOT_SUPPORTED;
	}
	if (!OutputBuffer || InputBuffer || InputBufferLength) {
		return (NTSTATUS)STATUS_INVALID_PARAMETER;
	}
	struct processor_power *p = OutputBuffer;
	if (OutputBufferLength < (size_t)cpus * sizeof *p) {
		return STATUS_BUFFER_TOO_SMALL;
	}
	for (long i = 0; i < cpus; i++) {
		ULONG now = frequency(i, "scaling_cur_freq"), most = frequency(i, "cpuinfo_max_freq");
		now = now ? now : listed_frequency(i);
		most = most ? most : now;
		ULONG limit = frequency(i, "scaling_max_freq");
		p[i] = (struct processor_power){(ULONG)i, most, now, limit ? limit : most, 0, 0};
	}
	return STATUS_SUCCESS;
}

/* There are no power schemes. */
DWORD WINAPI PowerGetActiveScheme(HKEY UserRootPowerKey, GUID **ActivePolicyGuid)
{
	return ERROR_NOT_SUPPORTED;
}
DWORD WINAPI PowerSetActiveScheme(HKEY UserRootPowerKey, const GUID *SchemeGuid)
{
	return ERROR_NOT_SUPPORTED;
}
DWORD WINAPI PowerReadACValueIndex(HKEY RootPowerKey, const GUID *SchemeGuid, const GUID *SubGroupOfPowerSettingsGuid,
				   const GUID *PowerSettingGuid, LPDWORD AcValueIndex)
{
	return ERROR_NOT_SUPPORTED;
}
