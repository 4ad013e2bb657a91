/* SPDX-License-Identifier: MIT
 *
 * What a consumer's callback receives: EVENT_RECORD, its header and its extended data items; and
 * the rights of a session or provider.
 *
 *   EVENT_TRACE_LOGFILEA file = {.LogFileName = path, .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD};
 *   file.EventRecordCallback = callback;   // VOID WINAPI callback(EVENT_RECORD *event)
 *   TRACEHANDLE trace = OpenTraceA(&file);
 *   if (trace != INVALID_PROCESSTRACE_HANDLE) {
 *           ProcessTrace(&trace, 1, NULL, NULL);
 *           CloseTrace(trace);
 *   }
 */
#ifndef ETW_EVNTCONS_H
#define ETW_EVNTCONS_H
#define _EVNTCONS_

#include "evntprov.h"
#include "evntrace.h"
#include "values/enable_properties.h"
#include "values/event_header.h"
#include "values/process_trace.h"
#include "wmistr.h"

EXTERN_C_START

typedef struct _EVENT_HEADER_EXTENDED_DATA_ITEM {
	USHORT Reserved1;
	USHORT ExtType; /* EVENT_HEADER_EXT_TYPE_* */
	__extension__ struct {
		USHORT Linkage : 1; /* another item follows */
		USHORT Reserved2 : 15;
	};
	USHORT DataSize; /* bytes */
	ULONGLONG DataPtr;
} EVENT_HEADER_EXTENDED_DATA_ITEM, *PEVENT_HEADER_EXTENDED_DATA_ITEM;

typedef struct _EVENT_EXTENDED_ITEM_INSTANCE {
	ULONG InstanceId;
	ULONG ParentInstanceId;
	GUID ParentGuid;
} EVENT_EXTENDED_ITEM_INSTANCE, *PEVENT_EXTENDED_ITEM_INSTANCE;

typedef struct _EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID {
	GUID RelatedActivityId;
} EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID, *PEVENT_EXTENDED_ITEM_RELATED_ACTIVITYID;

typedef struct _EVENT_EXTENDED_ITEM_TS_ID {
	ULONG SessionId;
} EVENT_EXTENDED_ITEM_TS_ID, *PEVENT_EXTENDED_ITEM_TS_ID;

/* The number of addresses follows from DataSize. */
typedef struct _EVENT_EXTENDED_ITEM_STACK_TRACE32 {
	ULONG64 MatchId;
	ULONG Address[1];
} EVENT_EXTENDED_ITEM_STACK_TRACE32, *PEVENT_EXTENDED_ITEM_STACK_TRACE32;

typedef struct _EVENT_EXTENDED_ITEM_STACK_TRACE64 {
	ULONG64 MatchId;
	ULONG64 Address[1];
} EVENT_EXTENDED_ITEM_STACK_TRACE64, *PEVENT_EXTENDED_ITEM_STACK_TRACE64;

typedef struct _EVENT_EXTENDED_ITEM_STACK_KEY32 {
	ULONG64 MatchId;
	ULONG StackKey;
	ULONG Padding;
} EVENT_EXTENDED_ITEM_STACK_KEY32, *PEVENT_EXTENDED_ITEM_STACK_KEY32;

typedef struct _EVENT_EXTENDED_ITEM_STACK_KEY64 {
	ULONG64 MatchId;
	ULONG64 StackKey;
} EVENT_EXTENDED_ITEM_STACK_KEY64, *PEVENT_EXTENDED_ITEM_STACK_KEY64;

typedef struct _EVENT_EXTENDED_ITEM_PEBS_INDEX {
	ULONG64 PebsIndex;
} EVENT_EXTENDED_ITEM_PEBS_INDEX, *PEVENT_EXTENDED_ITEM_PEBS_INDEX;

typedef struct _EVENT_EXTENDED_ITEM_PMC_COUNTERS {
	ULONG64 Counter[1];
} EVENT_EXTENDED_ITEM_PMC_COUNTERS, *PEVENT_EXTENDED_ITEM_PMC_COUNTERS;

typedef struct _EVENT_EXTENDED_ITEM_PROCESS_START_KEY {
	ULONG64 ProcessStartKey;
} EVENT_EXTENDED_ITEM_PROCESS_START_KEY, *PEVENT_EXTENDED_ITEM_PROCESS_START_KEY;

typedef struct _EVENT_EXTENDED_ITEM_EVENT_KEY {
	ULONG64 Key;
} EVENT_EXTENDED_ITEM_EVENT_KEY, *PEVENT_EXTENDED_ITEM_EVENT_KEY;

typedef struct _EVENT_HEADER {
	USHORT Size;
	USHORT HeaderType;
	USHORT Flags;         /* EVENT_HEADER_FLAG_* */
	USHORT EventProperty; /* EVENT_HEADER_PROPERTY_* */
	ULONG ThreadId;
	ULONG ProcessId;
	LARGE_INTEGER TimeStamp; /* FILETIME, or raw ticks with PROCESS_TRACE_MODE_RAW_TIMESTAMP */
	GUID ProviderId;
	EVENT_DESCRIPTOR EventDescriptor;
	__extension__ union {
		__extension__ struct {
			ULONG KernelTime; /* units of TimerResolution */
			ULONG UserTime;
		} DUMMYSTRUCTNAME;
		ULONG64 ProcessorTime; /* with PRIVATE_SESSION or NO_CPUTIME */
	} DUMMYUNIONNAME;
	GUID ActivityId;
} EVENT_HEADER, *PEVENT_HEADER;

struct _EVENT_RECORD {
	EVENT_HEADER EventHeader;
	ETW_BUFFER_CONTEXT BufferContext;
	USHORT ExtendedDataCount;
	USHORT UserDataLength;                         /* bytes */
	PEVENT_HEADER_EXTENDED_DATA_ITEM ExtendedData; /* NULL when there is none */
	PVOID UserData;
	PVOID UserContext; /* EVENT_TRACE_LOGFILE.Context */
};
typedef const EVENT_RECORD *PCEVENT_RECORD;

typedef enum {
	EventSecuritySetDACL = 0,
	EventSecuritySetSACL = 1,
	EventSecurityAddDACL = 2,
	EventSecurityAddSACL = 3,
	EventSecurityMax = 4
} EVENTSECURITYOPERATION;

EXTERN_C_END

/* Set or add to the rights that `Sid` has on a provider or session GUID. Kept by the daemon of the
 * instance, also over its restarts; only its owner and root may change them.
 *
 *   TRACELOG_GUID_ENABLE      enable the provider
 *   TRACELOG_REGISTER_GUIDS   register it
 *   WMIGUID_QUERY             query the session
 *   TRACELOG_CREATE_REALTIME, TRACELOG_CREATE_ONDISK   start, change and stop it
 *   TRACELOG_ACCESS_REALTIME  read it as it runs
 *   TRACELOG_LOG_EVENT        write to it, when it is an EVENT_TRACE_SECURE_MODE session
 *
 * A GUID without rights of its own has those of DefaultTraceSecurityGuid, or else all. SIDs:
 * S-1-1-0 everyone, S-1-22-1-uid, S-1-22-2-gid; S-1-5-18 and S-1-5-32-544 are root. The system
 * lists are kept, not acted upon. ERROR_INVALID_PARAMETER, ERROR_ACCESS_DENIED,
 * ERROR_NO_SYSTEM_RESOURCES: 64 entries for a GUID, 1024 GUIDs. */
ETW_API ULONG EVNTAPI EventAccessControl(LPGUID Guid, ULONG Operation, PSID Sid, ULONG Rights, BOOLEAN AllowOrDeny);
/* The self-relative security descriptor; *BufferSize is in bytes, ERROR_MORE_DATA when too small. */
ETW_API ULONG EVNTAPI EventAccessQuery(LPGUID Guid, PSECURITY_DESCRIPTOR Buffer, PULONG BufferSize);
/* Back to the default rights. ERROR_FILE_NOT_FOUND: there are no others. */
ETW_API ULONG EVNTAPI EventAccessRemove(LPGUID Guid);

/* The processor an event was written on, whichever of the two forms the record has. */
FORCEINLINE ULONG GetEventProcessorIndex(PCEVENT_RECORD EventRecord)
{
	if (EventRecord->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) {
		return EventRecord->BufferContext.ProcessorIndex;
	}
	return EventRecord->BufferContext.ProcessorNumber;
}

/* Find a trait in a traits blob (EVENT_HEADER_EXT_TYPE_PROV_TRAITS): 16-bit total size, name with
 * NUL, then records of 16-bit size, 8-bit type, data. Sets *Trait to NULL and *Size (bytes) to 0 if
 * it is not there or the blob is damaged. */
FORCEINLINE void EtwGetTraitFromProviderTraits(const VOID *ProviderTraits, UCHAR TraitType, const VOID **Trait,
					       USHORT *Size)
{
	const UCHAR *p = (const UCHAR *)ProviderTraits;
	ULONG total = (ULONG)p[0] | (ULONG)p[1] << 8;
	ULONG at = 2;
	*Trait = NULL;
	*Size = 0;
	if (total < 3) {
		return;
	}
	while (at < total && p[at] != 0) {
		at++;
	}
	at++;
	while (at + 3 <= total) {
		ULONG size = (ULONG)p[at] | (ULONG)p[at + 1] << 8;
		if (size < 3 || size > total - at) {
			return;
		}
		if (p[at + 2] == TraitType) {
			*Trait = p + at + 3;
			*Size = (USHORT)(size - 3);
			return;
		}
		at += size;
	}
}

#endif
