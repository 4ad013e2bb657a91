/* SPDX-License-Identifier: MIT
 *
 * The decoder of events (Trace Data Helper): what fields does an event have, how are they named,
 * and how are their values shown.
 *
 *   ULONG bytes = 0;   // event: of an EventRecordCallback
 *   if (TdhGetEventInformation(event, 0, NULL, NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER) {
 *           TRACE_EVENT_INFO *info = malloc(bytes);
 *           if (info && TdhGetEventInformation(event, 0, NULL, info, &bytes) == ERROR_SUCCESS) {
 *                   printf("event %u has %u fields\n", info->EventDescriptor.Id, info->TopLevelPropertyCount);
 *           }
 *           free(info);
 *   }
 *
 * Results are one block each: a structure whose ...Offset members count bytes from its start to
 * NUL-terminated UTF-16 strings; 0 means that there is none. Functions with a buffer and an in/out
 * size return ERROR_INSUFFICIENT_BUFFER and the number of bytes needed while the buffer is too
 * small or NULL with size 0, and put the bytes used there on success.
 */
#ifndef ETW_TDH_H
#define ETW_TDH_H

#include "evntcons.h"
#include "evntprov.h"
#include "evntrace.h"
#include "values/tdh_types.h"

#ifndef TDHAPI
#define TDHAPI
#endif

EXTERN_C_START

typedef ULONG TDHSTATUS;
typedef HANDLE TDH_HANDLE, *PTDH_HANDLE;

/* ---- maps ------------------------------------------------------------------------------------ */

typedef struct _EVENT_MAP_ENTRY {
	ULONG OutputOffset; /* text */
	__extension__ union {
		ULONG Value;
		ULONG InputOffset; /* pattern maps, string maps */
	};
} EVENT_MAP_ENTRY, *PEVENT_MAP_ENTRY;

typedef enum _MAP_FLAGS {
	EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP = 0x01,
	EVENTMAP_INFO_FLAG_MANIFEST_BITMAP = 0x02,
	EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP = 0x04,
	EVENTMAP_INFO_FLAG_WBEM_VALUEMAP = 0x08,
	EVENTMAP_INFO_FLAG_WBEM_BITMAP = 0x10,
	EVENTMAP_INFO_FLAG_WBEM_FLAG = 0x20,
	EVENTMAP_INFO_FLAG_WBEM_NO_MAP = 0x40
} MAP_FLAGS;
DEFINE_ENUM_FLAG_OPERATORS(MAP_FLAGS)

typedef enum _MAP_VALUETYPE { EVENTMAP_ENTRY_VALUETYPE_ULONG = 0, EVENTMAP_ENTRY_VALUETYPE_STRING = 1 } MAP_VALUETYPE;

typedef struct _EVENT_MAP_INFO {
	ULONG NameOffset;
	MAP_FLAGS Flag;
	ULONG EntryCount;
	__extension__ union {
		MAP_VALUETYPE MapEntryValueType;
		ULONG FormatStringOffset; /* pattern maps */
	};
	EVENT_MAP_ENTRY MapEntryArray[1];
} EVENT_MAP_INFO, *PEVENT_MAP_INFO;

/* ---- types of values --------------------------------------------------------------------------
 */

typedef enum _TDH_IN_TYPE TDH_IN_TYPE;
typedef enum _TDH_OUT_TYPE TDH_OUT_TYPE;
#define TDH_OUTYTPE_ERRORCODE TDH_OUTTYPE_ERRORCODE

/* ---- description of an event ------------------------------------------------------------------
 */

typedef enum _PROPERTY_FLAGS PROPERTY_FLAGS;
DEFINE_ENUM_FLAG_OPERATORS(PROPERTY_FLAGS)

typedef struct _EVENT_PROPERTY_INFO {
	PROPERTY_FLAGS Flags;
	ULONG NameOffset;
	__extension__ union {
		struct {
			USHORT InType;
			USHORT OutType;
			ULONG MapNameOffset;
		} nonStructType;
		struct {
			USHORT StructStartIndex;
			USHORT NumOfStructMembers;
			ULONG padding;
		} structType;
		struct {
			USHORT InType;
			USHORT OutType;
			ULONG CustomSchemaOffset;
		} customSchemaType;
	};
	__extension__ union {
		USHORT count;
		USHORT countPropertyIndex;
	};
	__extension__ union {
		USHORT length; /* UTF-16 units for UNICODESTRING, else bytes */
		USHORT lengthPropertyIndex;
	};
	__extension__ union {
		ULONG Reserved;
		__extension__ struct {
			ULONG Tags : 28;
		};
	};
} EVENT_PROPERTY_INFO, *PEVENT_PROPERTY_INFO;

typedef enum _DECODING_SOURCE {
	DecodingSourceXMLFile, /* manifest */
	DecodingSourceWbem,    /* MOF class */
	DecodingSourceWPP,
	DecodingSourceTlg, /* the event describes itself */
	DecodingSourceMax
} DECODING_SOURCE;

typedef enum _TEMPLATE_FLAGS {
	TEMPLATE_EVENT_DATA = 1,
	TEMPLATE_USER_DATA = 2,
	TEMPLATE_CONTROL_GUID = 4
} TEMPLATE_FLAGS;
DEFINE_ENUM_FLAG_OPERATORS(TEMPLATE_FLAGS)

/* Top-level properties come first in the array, members of structures after them. */
typedef struct _TRACE_EVENT_INFO {
	GUID ProviderGuid;
	GUID EventGuid;
	EVENT_DESCRIPTOR EventDescriptor;
	DECODING_SOURCE DecodingSource;
	ULONG ProviderNameOffset;
	ULONG LevelNameOffset;
	ULONG ChannelNameOffset;
	ULONG KeywordsNameOffset; /* several strings, ended by an empty one */
	ULONG TaskNameOffset;
	ULONG OpcodeNameOffset;
	ULONG EventMessageOffset;
	ULONG ProviderMessageOffset;
	ULONG BinaryXMLOffset;
	ULONG BinaryXMLSize; /* bytes */
	__extension__ union {
		ULONG EventNameOffset;
		ULONG ActivityIDNameOffset;
	};
	__extension__ union {
		ULONG EventAttributesOffset;
		ULONG RelatedActivityIDNameOffset;
	};
	ULONG PropertyCount;
	ULONG TopLevelPropertyCount;
	__extension__ union {
		TEMPLATE_FLAGS Flags;
		__extension__ struct {
			ULONG Reserved : 4;
			ULONG Tags : 28;
		};
	};
	EVENT_PROPERTY_INFO EventPropertyInfoArray[1];
} TRACE_EVENT_INFO, *PTRACE_EVENT_INFO;

/* Names one property: ArrayIndex ULONG_MAX means the scalar or the whole array. */
typedef struct _PROPERTY_DATA_DESCRIPTOR {
	ULONGLONG PropertyName; /* address of a UTF-16 string */
	ULONG ArrayIndex;
	ULONG Reserved;
} PROPERTY_DATA_DESCRIPTOR, *PPROPERTY_DATA_DESCRIPTOR;

typedef enum _TDH_CONTEXT_TYPE {
	TDH_CONTEXT_WPP_TMFFILE = 0,       /* address of a UTF-16 path */
	TDH_CONTEXT_WPP_TMFSEARCHPATH = 1, /* address of UTF-16 folders, separated by ';' */
	TDH_CONTEXT_WPP_GMT = 2,           /* 1: times in UTC */
	TDH_CONTEXT_POINTERSIZE = 3,       /* 4 or 8 */
	TDH_CONTEXT_PDB_PATH = 4,
	TDH_CONTEXT_MAXIMUM = 5
} TDH_CONTEXT_TYPE;

typedef struct _TDH_CONTEXT {
	ULONGLONG ParameterValue;
	TDH_CONTEXT_TYPE ParameterType;
	ULONG ParameterSize;
} TDH_CONTEXT, *PTDH_CONTEXT;

/* ---- providers --------------------------------------------------------------------------------
 */

typedef enum _EVENT_FIELD_TYPE {
	EventKeywordInformation = 0,
	EventLevelInformation = 1,
	EventChannelInformation = 2,
	EventTaskInformation = 3,
	EventOpcodeInformation = 4,
	EventInformationMax = 5
} EVENT_FIELD_TYPE;

typedef struct _PROVIDER_FILTER_INFO {
	UCHAR Id;
	UCHAR Version;
	ULONG MessageOffset;
	ULONG Reserved;
	ULONG PropertyCount;
	EVENT_PROPERTY_INFO EventPropertyInfoArray[1];
} PROVIDER_FILTER_INFO, *PPROVIDER_FILTER_INFO;

typedef struct _PROVIDER_FIELD_INFO {
	ULONG NameOffset;
	ULONG DescriptionOffset;
	ULONGLONG Value;
} PROVIDER_FIELD_INFO, *PPROVIDER_FIELD_INFO;

typedef struct _PROVIDER_FIELD_INFOARRAY {
	ULONG NumberOfElements;
	EVENT_FIELD_TYPE FieldType;
	PROVIDER_FIELD_INFO FieldInfoArray[1];
} PROVIDER_FIELD_INFOARRAY, *PPROVIDER_FIELD_INFOARRAY;

typedef struct _TRACE_PROVIDER_INFO {
	GUID ProviderGuid;
	ULONG SchemaSource; /* 0 manifest, 1 MOF */
	ULONG ProviderNameOffset;
} TRACE_PROVIDER_INFO, *PTRACE_PROVIDER_INFO;

typedef struct _PROVIDER_ENUMERATION_INFO {
	ULONG NumberOfProviders;
	ULONG Reserved;
	TRACE_PROVIDER_INFO TraceProviderInfoArray[1];
} PROVIDER_ENUMERATION_INFO, *PPROVIDER_ENUMERATION_INFO;

typedef struct _PROVIDER_EVENT_INFO {
	ULONG NumberOfEvents;
	ULONG Reserved;
	EVENT_DESCRIPTOR EventDescriptorsArray[1];
} PROVIDER_EVENT_INFO, *PPROVIDER_EVENT_INFO;

/* ---- payload filters --------------------------------------------------------------------------
 */

#define MAX_PAYLOAD_PREDICATES     8
#define ETW_MAX_PAYLOAD_PREDICATES MAX_PAYLOAD_PREDICATES

typedef enum _PAYLOAD_OPERATOR {
	PAYLOADFIELD_EQ = 0, /* integers from here */
	PAYLOADFIELD_NE = 1,
	PAYLOADFIELD_LE = 2,
	PAYLOADFIELD_GT = 3,
	PAYLOADFIELD_LT = 4,
	PAYLOADFIELD_GE = 5,
	PAYLOADFIELD_BETWEEN = 6, /* "low,high", both included */
	PAYLOADFIELD_NOTBETWEEN = 7,
	PAYLOADFIELD_MODULO = 8,
	PAYLOADFIELD_CONTAINS = 20, /* strings from here */
	PAYLOADFIELD_DOESNTCONTAIN = 21,
	PAYLOADFIELD_IS = 30, /* strings and other types */
	PAYLOADFIELD_ISNOT = 31,
	PAYLOADFIELD_INVALID = 32
} PAYLOAD_OPERATOR;

typedef struct _PAYLOAD_FILTER_PREDICATE {
	LPWSTR FieldName;
	USHORT CompareOp; /* PAYLOAD_OPERATOR */
	LPWSTR Value;
} PAYLOAD_FILTER_PREDICATE, *PPAYLOAD_FILTER_PREDICATE;

EXTERN_C_END

/* ---- decoding ---------------------------------------------------------------------------------
 */

/* Describe an event. ERROR_NOT_FOUND: no schema; ERROR_FILE_NOT_FOUND: the file with the schema is
 * missing. */
ETW_API TDHSTATUS TDHAPI TdhGetEventInformation(PEVENT_RECORD Event, ULONG TdhContextCount, PTDH_CONTEXT TdhContext,
						PTRACE_EVENT_INFO Buffer, PULONG BufferSize);
/* A value or bit map by the name in MapNameOffset. Texts of manifest maps end with a space. */
ETW_API TDHSTATUS TDHAPI TdhGetEventMapInformation(PEVENT_RECORD pEvent, LPWSTR pMapName, PEVENT_MAP_INFO pBuffer,
						   ULONG *pBufferSize);
/* Bytes of a property; with two descriptors, of a member of a structure. */
ETW_API TDHSTATUS TDHAPI TdhGetPropertySize(PEVENT_RECORD pEvent, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
					    ULONG PropertyDataCount, PPROPERTY_DATA_DESCRIPTOR pPropertyData,
					    ULONG *pPropertySize);
/* Its value as stored. BufferSize in bytes; ERROR_INSUFFICIENT_BUFFER, ERROR_NOT_FOUND. */
ETW_API TDHSTATUS TDHAPI TdhGetProperty(PEVENT_RECORD pEvent, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
					ULONG PropertyDataCount, PPROPERTY_DATA_DESCRIPTOR pPropertyData,
					ULONG BufferSize, PBYTE pBuffer);
/* Text of one scalar.
 *
 *   MapInfo           may be NULL
 *   PointerSize       4 or 8
 *   PropertyLength    as in EVENT_PROPERTY_INFO, or the value of the property it refers to
 *   UserDataLength    bytes from UserData to the end of the payload
 *   BufferSize        in/out, bytes
 *   UserDataConsumed  bytes of payload that the value took
 *
 * ERROR_EVT_INVALID_EVENT_DATA: payload and type do not match, or the map lacks the value. */
ETW_API TDHSTATUS TDHAPI TdhFormatProperty(PTRACE_EVENT_INFO EventInfo, PEVENT_MAP_INFO MapInfo, ULONG PointerSize,
					   USHORT PropertyInType, USHORT PropertyOutType, USHORT PropertyLength,
					   USHORT UserDataLength, PBYTE UserData, PULONG BufferSize, PWCHAR Buffer,
					   PUSHORT UserDataConsumed);

/* Providers with a schema on this machine. Sizes are in bytes;
 * ERROR_INSUFFICIENT_BUFFER: *pBufferSize (*bufferRequired) are needed. The
 * ForDecodingSource form gives those of one kind of schema. */
ETW_API TDHSTATUS TDHAPI TdhEnumerateProviders(PPROVIDER_ENUMERATION_INFO pBuffer, ULONG *pBufferSize);
ETW_API TDHSTATUS TDHAPI TdhEnumerateProvidersForDecodingSource(DECODING_SOURCE filter,
								PROVIDER_ENUMERATION_INFO *buffer, ULONG bufferSize,
								ULONG *bufferRequired);
/* Names of keywords, levels, channels, tasks or opcodes; for keywords one per bit of the value. The
 * Enumerate form gives all of them. *pBufferSize in bytes, in and out;
 * ERROR_INSUFFICIENT_BUFFER: so many are needed. ERROR_NOT_FOUND: no schema of the provider,
 * or nothing of that kind in it.
 * ERROR_NOT_SUPPORTED: EventFieldType is none. */
ETW_API TDHSTATUS TDHAPI TdhQueryProviderFieldInformation(LPGUID pGuid, ULONGLONG EventFieldValue,
							  EVENT_FIELD_TYPE EventFieldType,
							  PPROVIDER_FIELD_INFOARRAY pBuffer, ULONG *pBufferSize);
ETW_API TDHSTATUS TDHAPI TdhEnumerateProviderFieldInformation(LPGUID pGuid, EVENT_FIELD_TYPE EventFieldType,
							      PPROVIDER_FIELD_INFOARRAY pBuffer, ULONG *pBufferSize);
/* The filters a manifest declares for EVENT_FILTER_TYPE_SCHEMATIZED: pBuffer becomes an array of
 * *FilterCount pointers, with what they point to behind it. Sizes as above; then *FilterCount is 0.
 * ERROR_NOT_FOUND: no manifest, or none declared. */
ETW_API TDHSTATUS TDHAPI TdhEnumerateProviderFilters(LPGUID pGuid, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
						     ULONG *FilterCount, PPROVIDER_FILTER_INFO *pBuffer,
						     ULONG *pBufferSize);
/* Descriptors of a manifest's events; ERROR_EMPTY when it has none, ERROR_NOT_FOUND when there is
 * no manifest. *BufferSize in bytes; ERROR_INSUFFICIENT_BUFFER: so many are needed. */
ETW_API TDHSTATUS TDHAPI TdhEnumerateManifestProviderEvents(LPGUID ProviderGuid, PPROVIDER_EVENT_INFO Buffer,
							    ULONG *BufferSize);
/* What TdhGetEventInformation would say about an event with this descriptor, without an event. */
ETW_API TDHSTATUS TDHAPI TdhGetManifestEventInformation(LPGUID ProviderGuid, PEVENT_DESCRIPTOR EventDescriptor,
							PTRACE_EVENT_INFO Buffer, ULONG *BufferSize);

/* Add the schemas of a manifest to this process, and take them away. ERROR_FILE_NOT_FOUND,
 * ERROR_INVALID_PARAMETER, ERROR_XML_PARSE_ERROR. Sizes in bytes. */
/* a path, then its undoing */
ETW_API TDHSTATUS TDHAPI TdhLoadManifest(PWSTR Manifest);
ETW_API TDHSTATUS TDHAPI TdhUnloadManifest(PWSTR Manifest);
/* the text of a manifest, then its undoing: the same bytes */
ETW_API TDHSTATUS TDHAPI TdhLoadManifestFromMemory(LPCVOID pData, ULONG cbData);
ETW_API TDHSTATUS TDHAPI TdhUnloadManifestFromMemory(LPCVOID pData, ULONG cbData);
/* the WEVT_TEMPLATE resource of a PE file */
ETW_API TDHSTATUS TDHAPI TdhLoadManifestFromBinary(PWSTR BinaryPath);

/* A handle with decoding parameters, for WPP messages. One thread at a time uses it.
 * ERROR_INVALID_PARAMETER: NULL, or no such handle. */
ETW_API TDHSTATUS TDHAPI TdhOpenDecodingHandle(PTDH_HANDLE Handle);
/* Set or read one parameter (TDH_CONTEXT_*): search paths, time zone, pointer size. */
ETW_API TDHSTATUS TDHAPI TdhSetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext);
ETW_API TDHSTATUS TDHAPI TdhGetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext);
/* One property of a WPP event ("FormattedString", "ProcessId", …), or its whole message, as
 * UTF-16. *BufferSize in bytes; ERROR_INSUFFICIENT_BUFFER: so many are needed. ERROR_NOT_FOUND: no
 * format. */
ETW_API TDHSTATUS TDHAPI TdhGetWppProperty(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PWSTR PropertyName,
					   PULONG BufferSize, PBYTE Buffer);
ETW_API TDHSTATUS TDHAPI TdhGetWppMessage(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PULONG BufferSize,
					  PBYTE Buffer);
/* Afterwards the handle is invalid. */
ETW_API TDHSTATUS TDHAPI TdhCloseDecodingHandle(TDH_HANDLE Handle);

/* Filters over the payload for EVENT_FILTER_TYPE_PAYLOAD: create one or more per event, aggregate
 * them into a descriptor, clean up both. EventMatchANY: one true predicate is enough.
 *
 * FieldName is a field of the event in its manifest, "struct.member" for a member of a structure;
 * arrays cannot be compared. Values of integers are decimal or 0x…, of booleans also true and false,
 * of IPv4 addresses four numbers with dots, of ports the number people know; those of text are
 * compared with case; a GUID stands in braces. Floating-point numbers, SIDs, SYSTEMTIME and binary
 * data are not compared.
 *
 * Events that no filter names are not touched: add an event id filter to leave them out. A named
 * event whose payload is shorter than its manifest says does not pass.
 *
 * ERROR_NOT_FOUND: no manifest known that declares the event. ERROR_INVALID_PARAMETER:
 * openetw_last_error_text() says which predicate and why. ERROR_INSUFFICIENT_BUFFER: larger than
 * MAX_EVENT_FILTER_PAYLOAD_SIZE. */
ETW_API TDHSTATUS TDHAPI TdhCreatePayloadFilter(LPCGUID ProviderGuid, PCEVENT_DESCRIPTOR EventDescriptor,
						BOOLEAN EventMatchANY, ULONG PayloadPredicateCount,
						PPAYLOAD_FILTER_PREDICATE PayloadPredicates, PVOID *PayloadFilter);
/* Frees it and sets *PayloadFilter to NULL. */
ETW_API TDHSTATUS TDHAPI TdhDeletePayloadFilter(PVOID *PayloadFilter);
/* EventMatchALLFlags[i]: filter i must pass in any case; NULL means none must. Of the others for the
 * same event one is enough. The descriptor owns memory until the next function takes it back; the
 * filters may be deleted at once. */
ETW_API TDHSTATUS TDHAPI TdhAggregatePayloadFilters(ULONG PayloadFilterCount, PVOID *PayloadFilterPtrs,
						    PBOOLEAN EventMatchALLFlags,
						    PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor);
ETW_API TDHSTATUS TDHAPI TdhCleanupPayloadEventFilterDescriptor(PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor);

/* ---- accessors: NULL where the offset is 0 ------------------------------------------------------
 */

#define ETW_TDH_STRING(base, offset) ((offset) == 0 ? (PWSTR)0 : (PWSTR)((PBYTE)(base) + (offset)))
#define ETW_TDH_ACCESSOR(name, type, member)               \
	FORCEINLINE PWSTR name(const type *Info)           \
	{                                                  \
		return ETW_TDH_STRING(Info, Info->member); \
	}
#define ETW_TDH_ACCESSOR2(name, type, item, member)                \
	FORCEINLINE PWSTR name(const type *Info, const item *Item) \
	{                                                          \
		return ETW_TDH_STRING(Info, Item->member);         \
	}

ETW_TDH_ACCESSOR(EMI_MAP_NAME, EVENT_MAP_INFO, NameOffset)
ETW_TDH_ACCESSOR2(EMI_MAP_OUTPUT, EVENT_MAP_INFO, EVENT_MAP_ENTRY, OutputOffset)
FORCEINLINE PWSTR EMI_MAP_FORMAT(const EVENT_MAP_INFO *Info)
{
	return (Info->Flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP) == 0
		       ? (PWSTR)0
		       : ETW_TDH_STRING(Info, Info->FormatStringOffset);
}
FORCEINLINE PWSTR EMI_MAP_INPUT(const EVENT_MAP_INFO *Info, const EVENT_MAP_ENTRY *Item)
{
	return (Info->Flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP) == 0 ? (PWSTR)0
									  : ETW_TDH_STRING(Info, Item->InputOffset);
}

ETW_TDH_ACCESSOR2(TEI_MAP_NAME, TRACE_EVENT_INFO, EVENT_PROPERTY_INFO, nonStructType.MapNameOffset)
ETW_TDH_ACCESSOR2(TEI_PROPERTY_NAME, TRACE_EVENT_INFO, EVENT_PROPERTY_INFO, NameOffset)
ETW_TDH_ACCESSOR(TEI_PROVIDER_NAME, TRACE_EVENT_INFO, ProviderNameOffset)
ETW_TDH_ACCESSOR(TEI_LEVEL_NAME, TRACE_EVENT_INFO, LevelNameOffset)
ETW_TDH_ACCESSOR(TEI_CHANNEL_NAME, TRACE_EVENT_INFO, ChannelNameOffset)
ETW_TDH_ACCESSOR(TEI_KEYWORDS_NAME, TRACE_EVENT_INFO, KeywordsNameOffset)
ETW_TDH_ACCESSOR(TEI_TASK_NAME, TRACE_EVENT_INFO, TaskNameOffset)
ETW_TDH_ACCESSOR(TEI_OPCODE_NAME, TRACE_EVENT_INFO, OpcodeNameOffset)
ETW_TDH_ACCESSOR(TEI_EVENT_MESSAGE, TRACE_EVENT_INFO, EventMessageOffset)
ETW_TDH_ACCESSOR(TEI_PROVIDER_MESSAGE, TRACE_EVENT_INFO, ProviderMessageOffset)
ETW_TDH_ACCESSOR(TEI_ACTIVITYID_NAME, TRACE_EVENT_INFO, ActivityIDNameOffset)
ETW_TDH_ACCESSOR(TEI_RELATEDACTIVITYID_NAME, TRACE_EVENT_INFO, RelatedActivityIDNameOffset)

ETW_TDH_ACCESSOR(PFI_FILTER_MESSAGE, PROVIDER_FILTER_INFO, MessageOffset)
ETW_TDH_ACCESSOR2(PFI_PROPERTY_NAME, PROVIDER_FILTER_INFO, EVENT_PROPERTY_INFO, NameOffset)
ETW_TDH_ACCESSOR2(PFI_FIELD_NAME, PROVIDER_FIELD_INFOARRAY, PROVIDER_FIELD_INFO, NameOffset)
ETW_TDH_ACCESSOR2(PFI_FIELD_MESSAGE, PROVIDER_FIELD_INFOARRAY, PROVIDER_FIELD_INFO, DescriptionOffset)

#undef ETW_TDH_ACCESSOR
#undef ETW_TDH_ACCESSOR2

#endif
