/* SPDX-License-Identifier: MIT
 * A library with a provider, to be loaded and unloaded by live_process.c.
 */
#include <windows.h>

#include <evntprov.h>

static REGHANDLE handle;
static volatile int calls;

__attribute__((visibility("default"))) int plugin_start(const GUID *guid);
__attribute__((visibility("default"))) int plugin_write(int id);
__attribute__((visibility("default"))) int plugin_calls(void);
__attribute__((visibility("default"))) int plugin_stop(void);

static VOID NTAPI on_enable(LPCGUID from, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)from, (void)code, (void)level, (void)any, (void)all, (void)filter, (void)context;
	calls++;
}

int plugin_start(const GUID *guid)
{
	return (int)EventRegister(guid, on_enable, NULL, &handle);
}

int plugin_write(int id)
{
	EVENT_DESCRIPTOR d = {.Id = (USHORT)id, .Level = 1};
	return (int)EventWrite(handle, &d, 0, NULL);
}

int plugin_stop(void)
{
	return (int)EventUnregister(handle);
}

int plugin_calls(void)
{
	return calls;
}
