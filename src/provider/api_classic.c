/* SPDX-License-Identifier: MIT
 * evntrace.h, classic providers: RegisterTraceGuids to TraceEventInstance.
 */
#include <evntrace.h>

#include "provider/provider_classic.h"
#include "provider/provider_classic_write.h"

/* Lives in libetw; a program linked with this folder alone has no last error. */
extern VOID SetLastError(DWORD code) __attribute__((weak));

_Static_assert(sizeof(EVENT_TRACE_HEADER) == 48 && sizeof(EVENT_INSTANCE_HEADER) == 56 &&
		       sizeof(MOF_FIELD) == sizeof(struct pool_piece),
	       "as on Windows x64");

static void set_error(DWORD code)
{
	if (SetLastError) {
		SetLastError(code);
	}
}

static ULONG register_guids(WMIDPREQUEST callback, PVOID context, LPCGUID control, ULONG count,
			    PTRACE_GUID_REGISTRATION classes, TRACEGUID_HANDLE *ret)
{
	if (!callback || !control || !ret || (count != 0 && !classes)) {
		return ERROR_INVALID_PARAMETER;
	}
	for (ULONG i = 0; i < count; i++) {
		if (!classes[i].Guid) {
			return ERROR_INVALID_PARAMETER;
		}
	}
	struct provider_register_args a = {
		.wmi_fn = (provider_wmi_fn)(void (*)(void))callback,
		.context = context,
		.classic = true,
	};
	memcpy(&a.guid, control, sizeof a.guid);
	*ret = 0;
	uint32_t result = 0;
	if (provider_register(&a, (uint64_t *)(void *)ret, &result) < 0) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	for (ULONG i = 0; i < count; i++) {
		struct guid g;
		memcpy(&g, classes[i].Guid, sizeof g);
		classes[i].RegHandle = (HANDLE)(uintptr_t)provider_class_add(*ret, &g);
	}
	return result;
}

ULONG WMIAPI RegisterTraceGuidsW(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
				 ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg, LPCWSTR MofImagePath,
				 LPCWSTR MofResourceName, TRACEGUID_HANDLE *RegistrationHandle)
{
	return register_guids(RequestAddress, RequestContext, ControlGuid, GuidCount, TraceGuidReg, RegistrationHandle);
}

ULONG WMIAPI RegisterTraceGuidsA(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
				 ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg, LPCSTR MofImagePath,
				 LPCSTR MofResourceName, TRACEGUID_HANDLE *RegistrationHandle)
{
	return register_guids(RequestAddress, RequestContext, ControlGuid, GuidCount, TraceGuidReg, RegistrationHandle);
}

ULONG WMIAPI UnregisterTraceGuids(TRACEGUID_HANDLE RegistrationHandle)
{
	if (provider_unregister(RegistrationHandle, true) < 0) {
		return ERROR_INVALID_PARAMETER;
	}
	provider_class_remove_all(RegistrationHandle);
	return ERROR_SUCCESS;
}

TRACELOGGER_HANDLE WMIAPI GetTraceLoggerHandle(PVOID Buffer)
{
	if (!Buffer) {
		set_error(ERROR_INVALID_PARAMETER);
		return (TRACELOGGER_HANDLE)(uintptr_t)INVALID_HANDLE_VALUE;
	}
	const WNODE_HEADER *node = Buffer;
	if (node->BufferSize < sizeof *node) {
		set_error(ERROR_BAD_LENGTH);
		return (TRACELOGGER_HANDLE)(uintptr_t)INVALID_HANDLE_VALUE;
	}
	return node->HistoricalContext;
}

static bool logger_handle_bad(TRACELOGGER_HANDLE handle)
{
	return handle == 0 || (handle & 0xFFFF) == PROVIDER_KERNEL_LOGGER_ID;
}

UCHAR WMIAPI GetTraceEnableLevel(TRACELOGGER_HANDLE TraceHandle)
{
	if (logger_handle_bad(TraceHandle)) {
		set_error(ERROR_INVALID_HANDLE);
		return 0;
	}
	return (UCHAR)(TraceHandle >> 16);
}

ULONG WMIAPI GetTraceEnableFlags(TRACELOGGER_HANDLE TraceHandle)
{
	if (logger_handle_bad(TraceHandle)) {
		set_error(ERROR_INVALID_HANDLE);
		return 0;
	}
	return (ULONG)(TraceHandle >> 32);
}

ULONG WMIAPI CreateTraceInstanceId(HANDLE RegHandle, PEVENT_INSTANCE_INFO InstInfo)
{
	uint32_t id;
	if (!RegHandle || !InstInfo || !provider_class_next((uint64_t)(uintptr_t)RegHandle, &id)) {
		return ERROR_INVALID_PARAMETER;
	}
	InstInfo->RegHandle = RegHandle;
	InstInfo->InstanceId = id;
	return ERROR_SUCCESS;
}

/* User data behind a header of `head` bytes: one block, or the MOF_FIELDs found there. */
static ULONG gather(const uint8_t *event, uint32_t size, uint32_t head, ULONG flags, struct pool_piece *piece,
		    uint32_t *inout_count)
{
	uint32_t n = *inout_count;
	if (flags & WNODE_FLAG_USE_MOF_PTR) {
		uint32_t fields = (size - head) / sizeof(MOF_FIELD);
		if ((size - head) % sizeof(MOF_FIELD) != 0 || fields > MAX_MOF_FIELDS) {
			return ERROR_INVALID_PARAMETER;
		}
		for (uint32_t i = 0; i < fields; i++) {
			MOF_FIELD f;
			memcpy(&f, event + head + i * sizeof f, sizeof f);
			piece[n++] = (struct pool_piece){(const void *)(uintptr_t)f.DataPtr, f.Length, 0};
		}
	} else if (size > head) {
		piece[n++] = (struct pool_piece){event + head, size - head, 0};
	}
	*inout_count = n;
	return ERROR_SUCCESS;
}

ULONG WMIAPI TraceEvent(TRACELOGGER_HANDLE TraceHandle, PEVENT_TRACE_HEADER EventTrace)
{
	if (TraceHandle == 0 || !EventTrace || EventTrace->Size < sizeof *EventTrace) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG flags = EventTrace->Flags;
	if (!(flags & WNODE_FLAG_TRACED_GUID)) {
		return ERROR_INVALID_FLAG_NUMBER;
	}
	const void *class = &EventTrace->Guid;
	if (flags & WNODE_FLAG_USE_GUID_PTR) {
		class = (const void *)(uintptr_t)EventTrace->GuidPtr;
		if (!class) {
			return ERROR_INVALID_PARAMETER;
		}
	}
	struct pool_piece piece[1 + MAX_MOF_FIELDS];
	uint32_t count = 1;
	ULONG r = gather((const uint8_t *)EventTrace, EventTrace->Size, sizeof *EventTrace, flags, piece, &count);
	if (r != ERROR_SUCCESS) {
		return r;
	}
	piece[0] = (struct pool_piece){class, sizeof(GUID), 0};
	EVENT_DESCRIPTOR desc = {
		.Version = (UCHAR)EventTrace->Class.Version,
		.Level = EventTrace->Class.Level,
		.Opcode = EventTrace->Class.Type,
	};
	struct provider_classic_event ev = {
		.kind = POOL_REC_CLASSIC,
		.descriptor = &desc,
		.piece = piece,
		.count = count,
		.timestamp = flags & WNODE_FLAG_USE_TIMESTAMP ? (uint64_t)EventTrace->TimeStamp.QuadPart : 0,
	};
	return provider_classic_write(TraceHandle, &ev);
}

ULONG WMIAPI TraceEventInstance(TRACELOGGER_HANDLE TraceHandle, PEVENT_INSTANCE_HEADER EventTrace,
				PEVENT_INSTANCE_INFO InstInfo, PEVENT_INSTANCE_INFO ParentInstInfo)
{
	struct {
		struct guid class;
		uint32_t id;
		uint32_t parent_id;
		struct guid parent;
	} head = {0};
	if (TraceHandle == 0 || !EventTrace || !InstInfo || EventTrace->Size < sizeof *EventTrace) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG flags = EventTrace->Flags;
	if (!(flags & WNODE_FLAG_TRACED_GUID)) {
		return ERROR_INVALID_FLAGS;
	}
	if (!provider_class_guid((uint64_t)(uintptr_t)InstInfo->RegHandle, &head.class) ||
	    (ParentInstInfo && ParentInstInfo->RegHandle &&
	     !provider_class_guid((uint64_t)(uintptr_t)ParentInstInfo->RegHandle, &head.parent))) {
		return ERROR_INVALID_PARAMETER;
	}
	head.id = InstInfo->InstanceId;
	head.parent_id = ParentInstInfo ? ParentInstInfo->InstanceId : 0;
	struct pool_piece piece[1 + MAX_MOF_FIELDS];
	uint32_t count = 1;
	ULONG r = gather((const uint8_t *)EventTrace, EventTrace->Size, sizeof *EventTrace, flags, piece, &count);
	if (r != ERROR_SUCCESS) {
		return r;
	}
	piece[0] = (struct pool_piece){&head, sizeof head, 0};
	EVENT_DESCRIPTOR desc = {
		.Version = (UCHAR)EventTrace->Class.Version,
		.Level = EventTrace->Class.Level,
		.Opcode = EventTrace->Class.Type,
	};
	struct provider_classic_event ev = {
		.kind = POOL_REC_INSTANCE,
		.descriptor = &desc,
		.piece = piece,
		.count = count,
		.timestamp = flags & WNODE_FLAG_USE_TIMESTAMP ? (uint64_t)EventTrace->TimeStamp.QuadPart : 0,
	};
	return provider_classic_write(TraceHandle, &ev);
}
