/* SPDX-License-Identifier: MIT
 *
 * GUIDs that evntrace.h promises: defined where INITGUID was defined before, else declared. They are in
 * libetw, so that INITGUID is not needed. Included by evntrace.h.
 */
#ifndef ETW_EVNTRACE_GUIDS_H
#define ETW_EVNTRACE_GUIDS_H

#include "values/guids.h"
#include "win/guiddef.h"

/* DEFINE_GUID with the eleven numbers in one macro. */
#define ETW_DECLARE_GUID(name, ...) DEFINE_GUID(name, __VA_ARGS__)

/* {68fdd900-4a3e-11d1-84f4-0000f80464e3} */
ETW_DECLARE_GUID(EventTraceGuid, ETW_GUID_EVENT_TRACE);
/* {9e814aad-3204-11d2-9a82-006008a86939} */
ETW_DECLARE_GUID(SystemTraceControlGuid, ETW_GUID_SYSTEM_TRACE_CONTROL);
/* {01853a65-418f-4f36-aefc-dc0f1d2fd235} */
ETW_DECLARE_GUID(EventTraceConfigGuid, ETW_GUID_EVENT_TRACE_CONFIG);
/* {0811c1af-7a07-4a06-82ed-869455cdf713} */
ETW_DECLARE_GUID(DefaultTraceSecurityGuid, ETW_GUID_DEFAULT_TRACE_SECURITY);
/* {3595ab5c-042a-4c8e-b942-2d059bfeb1b1} */
ETW_DECLARE_GUID(PrivateLoggerNotificationGuid, ETW_GUID_PRIVATE_LOGGER_NOTIFICATION);
/* {fbd09363-9e22-4661-b8bf-e7a34b535b8c} */
ETW_DECLARE_GUID(SystemIoFilterProviderGuid, ETW_GUID_SYSTEM_IO_FILTER_PROVIDER);
/* {febd7460-3d1d-47eb-af49-c9eeb1e146f2} */
ETW_DECLARE_GUID(SystemObjectProviderGuid, ETW_GUID_SYSTEM_OBJECT_PROVIDER);
/* {c134884a-32d5-4488-80e5-14ed7abb8269} */
ETW_DECLARE_GUID(SystemPowerProviderGuid, ETW_GUID_SYSTEM_POWER_PROVIDER);
/* {bafa072a-918a-4bed-b622-bc152097098f} */
ETW_DECLARE_GUID(SystemHypervisorProviderGuid, ETW_GUID_SYSTEM_HYPERVISOR_PROVIDER);
/* {721ddfd3-dacc-4e1e-b26a-a2cb31d4705a} */
ETW_DECLARE_GUID(SystemLockProviderGuid, ETW_GUID_SYSTEM_LOCK_PROVIDER);
/* {fef3a8b6-318d-4b67-a96a-3b0f6b8f18fe} */
ETW_DECLARE_GUID(SystemConfigProviderGuid, ETW_GUID_SYSTEM_CONFIG_PROVIDER);
/* {c6c5265f-eae8-4650-aae4-9d48603d8510} */
ETW_DECLARE_GUID(SystemCpuProviderGuid, ETW_GUID_SYSTEM_CPU_PROVIDER);
/* {599a2a76-4d91-4910-9ac7-7d33f2e97a6c} */
ETW_DECLARE_GUID(SystemSchedulerProviderGuid, ETW_GUID_SYSTEM_SCHEDULER_PROVIDER);
/* {bfeb0324-1cee-496f-a409-2ac2b48a6322} */
ETW_DECLARE_GUID(SystemProfileProviderGuid, ETW_GUID_SYSTEM_PROFILE_PROVIDER);
/* {3d5c43e3-0f1c-4202-b817-174c0070dc79} */
ETW_DECLARE_GUID(SystemIoProviderGuid, ETW_GUID_SYSTEM_IO_PROVIDER);
/* {82958ca9-b6cd-47f8-a3a8-03ae85a4bc24} */
ETW_DECLARE_GUID(SystemMemoryProviderGuid, ETW_GUID_SYSTEM_MEMORY_PROVIDER);
/* {16156bd9-fab4-4cfa-a232-89d1099058e3} */
ETW_DECLARE_GUID(SystemRegistryProviderGuid, ETW_GUID_SYSTEM_REGISTRY_PROVIDER);
/* {151f55dc-467d-471f-83b5-5f889d46ff66} */
ETW_DECLARE_GUID(SystemProcessProviderGuid, ETW_GUID_SYSTEM_PROCESS_PROVIDER);
/* {fcb9baaf-e529-4980-92e9-ced1a6aadfdf} */
ETW_DECLARE_GUID(SystemAlpcProviderGuid, ETW_GUID_SYSTEM_ALPC_PROVIDER);
/* {434286f7-6f1b-45bb-b37e-95f623046c7c} */
ETW_DECLARE_GUID(SystemSyscallProviderGuid, ETW_GUID_SYSTEM_SYSCALL_PROVIDER);
/* {d4bbee17-b545-4888-858b-744169015b25} */
ETW_DECLARE_GUID(SystemInterruptProviderGuid, ETW_GUID_SYSTEM_INTERRUPT_PROVIDER);
/* {4f061568-e215-499f-ab2e-eda0ae890a5b} */
ETW_DECLARE_GUID(SystemTimerProviderGuid, ETW_GUID_SYSTEM_TIMER_PROVIDER);
/* {99134383-5248-43fc-834b-529454e75df3} */
ETW_DECLARE_GUID(LastBranchRecordProviderGuid, ETW_GUID_LAST_BRANCH_RECORD_PROVIDER);

#undef ETW_DECLARE_GUID

#endif
