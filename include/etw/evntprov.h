/* SPDX-License-Identifier: MIT
 *
 * Writing events: register a provider, ask whether anybody listens, write.
 *
 * The way of an event: EventRegister gives a handle; a session that wants the provider is announced
 * to the enable callback; EventWrite gathers the payload from data descriptors, without padding,
 * and hands it to every session whose level and keywords let it pass. With no session listening a
 * write costs one test.
 *
 *   REGHANDLE provider;
 *   EVENT_DESCRIPTOR opened = {.Id = 7, .Level = 4, .Keyword = 0x1};
 *   EVENT_DATA_DESCRIPTOR data;
 *   EventRegister(guid, NULL, NULL, &provider);
 *   EventDataDescCreate(&data, &number, sizeof number);
 *   EventWrite(provider, &opened, 1, &data);
 *   EventUnregister(provider);
 *
 * Every function is safe from any thread. Functions return a Win32 code (ERROR_SUCCESS is 0).
 */
#ifndef ETW_EVNTPROV_H
#define ETW_EVNTPROV_H
#define _EVNTPROV_

#include "values/event_write.h"
#include "values/filter_types.h"
#include "values/provider_control.h"
#include "win/winerror.h"
#include "win/winnt.h"

#ifndef EVNTAPI /* a program's own comes first */
#define EVNTAPI
#endif

EXTERN_C_START

#define EVENT_MIN_LEVEL 0
#define EVENT_MAX_LEVEL 0xFF

typedef ULONGLONG REGHANDLE, *PREGHANDLE;

/* One block of payload: an address and a size. */
typedef struct _EVENT_DATA_DESCRIPTOR {
	ULONGLONG Ptr;
	ULONG Size; /* bytes */
	__extension__ union {
		ULONG Reserved; /* 0 unless typed */
		__extension__ struct {
			UCHAR Type;
			UCHAR Reserved1;
			USHORT Reserved2;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
} EVENT_DATA_DESCRIPTOR, *PEVENT_DATA_DESCRIPTOR;

#ifndef EVENT_DESCRIPTOR_DEF
#define EVENT_DESCRIPTOR_DEF
/* What an event is, apart from its data. */
typedef struct _EVENT_DESCRIPTOR {
	USHORT Id;
	UCHAR Version;
	UCHAR Channel;
	UCHAR Level; /* 0 passes every session; 1 critical … 5 verbose */
	UCHAR Opcode;
	USHORT Task;
	ULONGLONG Keyword; /* 0 passes every session; bits 48–63 are reserved */
} EVENT_DESCRIPTOR, *PEVENT_DESCRIPTOR;
typedef const EVENT_DESCRIPTOR *PCEVENT_DESCRIPTOR;
#endif

typedef struct _EVENT_FILTER_DESCRIPTOR {
	ULONGLONG Ptr;
	ULONG Size; /* bytes */
	ULONG Type; /* EVENT_FILTER_TYPE_* */
} EVENT_FILTER_DESCRIPTOR, *PEVENT_FILTER_DESCRIPTOR;

/* Starts the data of a schematized filter. */
typedef struct _EVENT_FILTER_HEADER {
	USHORT Id;
	UCHAR Version;
	UCHAR Reserved[5];
	ULONGLONG InstanceId; /* the session's bit for EventWriteEx's Filter */
	ULONG Size;           /* bytes, header included */
	ULONG NextOffset;     /* to the next header, 0 at the last */
} EVENT_FILTER_HEADER, *PEVENT_FILTER_HEADER;

typedef struct _EVENT_FILTER_EVENT_ID {
	BOOLEAN FilterIn; /* TRUE: only these ids; FALSE: all but these */
	UCHAR Reserved;
	USHORT Count;
	USHORT Events[1];
} EVENT_FILTER_EVENT_ID, *PEVENT_FILTER_EVENT_ID;

/* NameCount UTF-8 names follow one another, each with its NUL. */
typedef struct _EVENT_FILTER_EVENT_NAME {
	ULONGLONG MatchAnyKeyword;
	ULONGLONG MatchAllKeyword;
	UCHAR Level;
	BOOLEAN FilterIn;
	USHORT NameCount;
	UCHAR Names[1];
} EVENT_FILTER_EVENT_NAME, *PEVENT_FILTER_EVENT_NAME;

typedef struct _EVENT_FILTER_LEVEL_KW {
	ULONGLONG MatchAnyKeyword;
	ULONGLONG MatchAllKeyword;
	UCHAR Level;
	BOOLEAN FilterIn;
} EVENT_FILTER_LEVEL_KW, *PEVENT_FILTER_LEVEL_KW;

typedef enum _EVENT_INFO_CLASS {
	EventProviderBinaryTrackInfo, /* no data: log the path of the registering module */
	EventProviderSetReserved1,
	EventProviderSetTraits,         /* traits blob; once per registration */
	EventProviderUseDescriptorType, /* BOOLEAN: heed EVENT_DATA_DESCRIPTOR.Type */
	MaxEventInfo
} EVENT_INFO_CLASS;

typedef enum _ETW_PROVIDER_TRAIT_TYPE {
	EtwProviderTraitTypeGroup = 1,  /* GUID of the provider group */
	EtwProviderTraitDecodeGuid = 2, /* GUID that decoders should use */
	EtwProviderTraitTypeMax
} ETW_PROVIDER_TRAIT_TYPE;

/* Called when the provider is enabled, disabled or asked for a rundown.
 *
 *   SourceId         who asked, as given to EnableTraceEx2; GUID_NULL at registration and when a
 *                    session stops
 *   IsEnabled        EVENT_CONTROL_CODE_*: 0 only when no session is left, 1 whenever the merged
 *                    state of all sessions may have changed, 2 capture state
 *   Level            highest level of any session; a session's 0 counts as 255
 *   MatchAnyKeyword  OR over sessions; a session's 0 counts as all ones
 *   MatchAllKeyword  AND over sessions
 *   FilterData       schematized filter or NULL, valid during the call only
 *
 * Calls for one registration never overlap. The callback may write events. */
typedef VOID(NTAPI *PENABLECALLBACK)(LPCGUID SourceId, ULONG IsEnabled, UCHAR Level, ULONGLONG MatchAnyKeyword,
				     ULONGLONG MatchAllKeyword, PEVENT_FILTER_DESCRIPTOR FilterData,
				     PVOID CallbackContext);

EXTERN_C_END

/* Register a provider. `EnableCallback` may be NULL. If a session waits for the GUID already, the
 * callback runs before this returns, and *RegHandle is valid inside of it. ERROR_INVALID_PARAMETER:
 * ProviderId or RegHandle is NULL. ERROR_NOT_ENOUGH_MEMORY, or 1024 registrations exist in the
 * process. *RegHandle is 0 on failure. */
ETW_API ULONG EVNTAPI EventRegister(LPCGUID ProviderId, PENABLECALLBACK EnableCallback, PVOID CallbackContext,
				    PREGHANDLE RegHandle);

/* After this no callback of the registration runs, except the one that called it.
 * ERROR_INVALID_HANDLE: 0 or not registered. */
ETW_API ULONG EVNTAPI EventUnregister(REGHANDLE RegHandle);

/* ERROR_INVALID_PARAMETER: bad handle, NULL with a length, wrong length for the class.
 * ERROR_NOT_SUPPORTED: unknown class. `InformationLength` is in bytes. */
ETW_API ULONG EVNTAPI EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass,
					  PVOID EventInformation, ULONG InformationLength);

/* Would an event with this descriptor reach a session, going by the merged level and keywords? May
 * say TRUE for an event that every session then filters out; never FALSE for one that passes. */
ETW_API BOOLEAN EVNTAPI EventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor);

/* The same for a level and keyword. */
ETW_API BOOLEAN EVNTAPI EventProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword);

/* Write an event whose payload is the concatenation of `UserDataCount` (at most 128) blocks.
 * ERROR_SUCCESS also when nobody listens. ERROR_INVALID_HANDLE: 0 or stale.
 * ERROR_INVALID_PARAMETER: no descriptor, no array, too many blocks. ERROR_ARITHMETIC_OVERFLOW:
 * header, extended items and payload exceed 64 KiB. ERROR_MORE_DATA: larger than a buffer of the
 * session. ERROR_NOT_ENOUGH_MEMORY: buffers full, the event is lost and counted. */
ETW_API ULONG EVNTAPI EventWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG UserDataCount,
				 PEVENT_DATA_DESCRIPTOR UserData);

/* EventWrite with an activity instead of the thread's (NULL: the thread's) and a related activity
 * (NULL: none), which travels as an extended data item. */
ETW_API ULONG EVNTAPI EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, LPCGUID ActivityId,
					 LPCGUID RelatedActivityId, ULONG UserDataCount,
					 PEVENT_DATA_DESCRIPTOR UserData);

/* EventWriteTransfer that leaves out the sessions whose EVENT_FILTER_HEADER.InstanceId bits are in
 * `Filter`. `Flags`: EVENT_WRITE_FLAG_*. */
ETW_API ULONG EVNTAPI EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter, ULONG Flags,
				   LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
				   PEVENT_DATA_DESCRIPTOR UserData);

/* Write a text. The payload is the UTF-16 string with its terminator; such events need no schema.
 * ERROR_INVALID_HANDLE is checked before ERROR_INVALID_PARAMETER (String is NULL). */
ETW_API ULONG EVNTAPI EventWriteString(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword, PCWSTR String);

/* Get, set or make the activity id of this thread (EVENT_ACTIVITY_CTRL_*). GET_SET swaps;
 * CREATE_SET gives the thread a new id and hands back the old one; CREATE leaves the thread alone.
 */
ETW_API ULONG EVNTAPI EventActivityIdControl(ULONG ControlCode, LPGUID ActivityId);

/* Note that a known vulnerability was about to be exploited: writes one event to the provider
 * {85a62a0d-7e17-485f-9d4f-749a287193a6}. Codes as of EventWrite.
 * ERROR_INVALID_PARAMETER: CveId is NULL. */
ETW_API LONG WINAPI CveEventWrite(PCWSTR CveId, PCWSTR AdditionalDetails);

/* ---- inline helpers ------------------------------------------------------------------------- */

/* One block: DataSize bytes at DataPtr, which must stay valid until the write returns. */
FORCEINLINE VOID EventDataDescCreate(PEVENT_DATA_DESCRIPTOR EventDataDescriptor, const VOID *DataPtr, ULONG DataSize)
{
	EventDataDescriptor->Ptr = (ULONGLONG)(ULONG_PTR)DataPtr;
	EventDataDescriptor->Size = DataSize;
	EventDataDescriptor->Reserved = 0;
}

/* Fill all fields. */
FORCEINLINE VOID EventDescCreate(PEVENT_DESCRIPTOR EventDescriptor, USHORT Id, UCHAR Version, UCHAR Channel,
				 UCHAR Level, USHORT Task, UCHAR Opcode, ULONGLONG Keyword)
{
	EventDescriptor->Id = Id;
	EventDescriptor->Version = Version;
	EventDescriptor->Channel = Channel;
	EventDescriptor->Level = Level;
	EventDescriptor->Task = Task;
	EventDescriptor->Opcode = Opcode;
	EventDescriptor->Keyword = Keyword;
}

/* All fields 0: passes every session. */
FORCEINLINE VOID EventDescZero(PEVENT_DESCRIPTOR EventDescriptor)
{
	memset(EventDescriptor, 0, sizeof(EVENT_DESCRIPTOR));
}

#define ETW_DESC_FIELD(name, type)                                                                     \
	FORCEINLINE type EventDescGet##name(PCEVENT_DESCRIPTOR EventDescriptor)                        \
	{                                                                                              \
		return EventDescriptor->name;                                                          \
	}                                                                                              \
	FORCEINLINE PEVENT_DESCRIPTOR EventDescSet##name(PEVENT_DESCRIPTOR EventDescriptor, type name) \
	{                                                                                              \
		EventDescriptor->name = name;                                                          \
		return EventDescriptor;                                                                \
	}
ETW_DESC_FIELD(Id, USHORT)
ETW_DESC_FIELD(Version, UCHAR)
ETW_DESC_FIELD(Task, USHORT)
ETW_DESC_FIELD(Opcode, UCHAR)
ETW_DESC_FIELD(Channel, UCHAR)
ETW_DESC_FIELD(Level, UCHAR)
ETW_DESC_FIELD(Keyword, ULONGLONG)
#undef ETW_DESC_FIELD

FORCEINLINE PEVENT_DESCRIPTOR EventDescOrKeyword(PEVENT_DESCRIPTOR EventDescriptor, ULONGLONG Keyword)
{
	EventDescriptor->Keyword |= Keyword;
	return EventDescriptor;
}

#endif
