/* SPDX-License-Identifier: MIT
 *
 * Sessions and their consumers, and the classic (pre-Vista) providers.
 *
 *   controller  StartTrace makes a session, EnableTraceEx2 connects providers to it, ControlTrace
 *               asks, changes, flushes and stops it
 *   consumer    OpenTrace on a file or a real-time session, ProcessTrace delivers its events in
 *               order of time, CloseTrace
 *   classic     RegisterTraceGuids, TraceEvent, TraceMessage
 *
 *   struct {
 *           EVENT_TRACE_PROPERTIES p;
 *           char names[2048];
 *   } session = {.p.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL};
 *   CONTROLTRACE_ID id;
 *   session.p.Wnode.BufferSize = sizeof session;
 *   session.p.LoggerNameOffset = sizeof session.p;
 *   session.p.LogFileNameOffset = sizeof session.p + 1024;
 *   strcpy(session.names + 1024, "web.etl");
 *   if (StartTraceA(&id, "web", &session.p) == ERROR_SUCCESS) {
 *           EnableTraceEx2(id, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL);
 *           …
 *           StopTraceA(id, NULL, &session.p);
 *   }
 *
 * Functions return a Win32 code unless stated otherwise. Names ending in W take UTF-16, those
 * ending in A UTF-8; the name without suffix is one of them, by UNICODE.
 */
#ifndef ETW_EVNTRACE_H
#define ETW_EVNTRACE_H
#define _EVNTRACE_

#include "evntprov.h"
#include "evntrace_guids.h"
#include "values/enable_flags.h"
#include "values/enable_trace.h"
#include "values/event_types.h"
#include "values/info_classes.h"
#include "values/levels.h"
#include "values/message_flags.h"
#include "values/mof_types.h"
#include "values/session_control.h"
#include "values/session_modes.h"
#include "values/session_names.h"
#include "values/system_keywords.h"
#include "wmistr.h"

#include <stdarg.h>

#ifndef WMIAPI
#define WMIAPI
#endif

EXTERN_C_START

#define KERNEL_LOGGER_NAMEW ETW_WIDE(KERNEL_LOGGER_NAMEA)
#define GLOBAL_LOGGER_NAMEW ETW_WIDE(GLOBAL_LOGGER_NAMEA)
#define EVENT_LOGGER_NAMEW  ETW_WIDE(EVENT_LOGGER_NAMEA)
#define DIAG_LOGGER_NAMEW   ETW_WIDE(DIAG_LOGGER_NAMEA)

typedef ULONG64 TRACEHANDLE, *PTRACEHANDLE;
typedef ULONG64 CONTROLTRACE_ID, *PCONTROLTRACE_ID; /* invalid: 0 */
typedef ULONG64 PROCESSTRACE_HANDLE;                /* invalid: INVALID_PROCESSTRACE_HANDLE */
typedef ULONG64 TRACELOGGER_HANDLE;                 /* invalid: (ULONG64)INVALID_HANDLE_VALUE */
typedef ULONG64 TRACEGUID_HANDLE;                   /* invalid: 0 */

#define INVALID_PROCESSTRACE_HANDLE ((PROCESSTRACE_HANDLE)(ULONG_PTR)INVALID_HANDLE_VALUE)

typedef struct _EVENT_RECORD EVENT_RECORD, *PEVENT_RECORD;
typedef struct _EVENT_TRACE EVENT_TRACE, *PEVENT_TRACE;
typedef struct _EVENT_TRACE_LOGFILEW EVENT_TRACE_LOGFILEW, *PEVENT_TRACE_LOGFILEW;
typedef struct _EVENT_TRACE_LOGFILEA EVENT_TRACE_LOGFILEA, *PEVENT_TRACE_LOGFILEA;

/* ---- events of classic providers ------------------------------------------------------------ */

typedef struct _EVENT_TRACE_HEADER {
	USHORT Size; /* bytes, header included */
	__extension__ union {
		USHORT FieldTypeFlags;
		__extension__ struct {
			UCHAR HeaderType;
			UCHAR MarkerFlags;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR Type; /* EVENT_TRACE_TYPE_*, the opcode */
			UCHAR Level;
			USHORT Version;
		} Class;
	} DUMMYUNIONNAME2;
	ULONG ThreadId;
	ULONG ProcessId;
	LARGE_INTEGER TimeStamp; /* FILETIME, or raw ticks if the consumer asked for them */
	__extension__ union {
		GUID Guid;
		ULONGLONG GuidPtr; /* with WNODE_FLAG_USE_GUID_PTR */
	} DUMMYUNIONNAME3;
	__extension__ union {
		__extension__ struct {
			ULONG KernelTime;
			ULONG UserTime;
		} DUMMYSTRUCTNAME;
		ULONG64 ProcessorTime;
		__extension__ struct {
			ULONG ClientContext;
			ULONG Flags; /* WNODE_FLAG_TRACED_GUID and others */
		} DUMMYSTRUCTNAME2;
	} DUMMYUNIONNAME4;
} EVENT_TRACE_HEADER, *PEVENT_TRACE_HEADER;

typedef struct _EVENT_INSTANCE_HEADER {
	USHORT Size;
	__extension__ union {
		USHORT FieldTypeFlags;
		__extension__ struct {
			UCHAR HeaderType;
			UCHAR MarkerFlags;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR Type;
			UCHAR Level;
			USHORT Version;
		} Class;
	} DUMMYUNIONNAME2;
	ULONG ThreadId;
	ULONG ProcessId;
	LARGE_INTEGER TimeStamp;
	ULONGLONG RegHandle;
	ULONG InstanceId;
	ULONG ParentInstanceId;
	__extension__ union {
		__extension__ struct {
			ULONG KernelTime;
			ULONG UserTime;
		} DUMMYSTRUCTNAME;
		ULONG64 ProcessorTime;
		__extension__ struct {
			ULONG EventId;
			ULONG Flags;
		} DUMMYSTRUCTNAME2;
	} DUMMYUNIONNAME3;
	ULONGLONG ParentRegHandle;
} EVENT_INSTANCE_HEADER, *PEVENT_INSTANCE_HEADER;

/* Follows the header of an event with WNODE_FLAG_USE_MOF_PTR; at most MAX_MOF_FIELDS of them. */
typedef struct _MOF_FIELD {
	ULONG64 DataPtr;
	ULONG Length; /* bytes */
	ULONG DataType;
} MOF_FIELD, *PMOF_FIELD;

#define DEFINE_TRACE_MOF_FIELD(M, ptr, length, type) \
	((M)->DataPtr = (ULONG64)(ULONG_PTR)(ptr), (M)->Length = (length), (M)->DataType = (type))

typedef struct _EVENT_INSTANCE_INFO {
	HANDLE RegHandle;
	ULONG InstanceId;
} EVENT_INSTANCE_INFO, *PEVENT_INSTANCE_INFO;

typedef struct _TRACE_GUID_REGISTRATION {
	LPCGUID Guid;
	HANDLE RegHandle; /* filled by RegisterTraceGuids */
} TRACE_GUID_REGISTRATION, *PTRACE_GUID_REGISTRATION;

/* ---- the log file header -------------------------------------------------------------------- */

#define ETW_LOGFILE_HEADER_HEAD                                               \
	ULONG BufferSize; /* bytes */                                         \
	__extension__ union {                                                 \
		ULONG Version;                                                \
		struct {                                                      \
			UCHAR MajorVersion;                                   \
			UCHAR MinorVersion;                                   \
			UCHAR SubVersion;                                     \
			UCHAR SubMinorVersion;                                \
		} VersionDetail;                                              \
	} DUMMYUNIONNAME;                                                     \
	ULONG ProviderVersion; /* build of the system */                      \
	ULONG NumberOfProcessors;                                             \
	LARGE_INTEGER EndTime; /* FILETIME; 0 when the file was not closed */ \
	ULONG TimerResolution; /* 100 ns */                                   \
	ULONG MaximumFileSize; /* MiB, or KiB with USE_KBYTES_FOR_SIZE */     \
	ULONG LogFileMode;                                                    \
	ULONG BuffersWritten;                                                 \
	__extension__ union {                                                 \
		GUID LogInstanceGuid;                                         \
		__extension__ struct {                                        \
			ULONG StartBuffers;                                   \
			ULONG PointerSize; /* bytes */                        \
			ULONG EventsLost;                                     \
			ULONG CpuSpeedInMHz;                                  \
		} DUMMYSTRUCTNAME;                                            \
	} DUMMYUNIONNAME2
#define ETW_LOGFILE_HEADER_TAIL                         \
	TIME_ZONE_INFORMATION TimeZone;                 \
	LARGE_INTEGER BootTime;  /* FILETIME */         \
	LARGE_INTEGER PerfFreq;  /* ticks per second */ \
	LARGE_INTEGER StartTime; /* FILETIME */         \
	ULONG ReservedFlags;     /* clock kind */       \
	ULONG BuffersLost

/* The payload of a file's first event. Its pointer-sized fields follow the process that logged:
 * when reading a file look at PointerSize and take the 32 or 64 form below. */
typedef struct _TRACE_LOGFILE_HEADER {
	ETW_LOGFILE_HEADER_HEAD;
	LPWSTR LoggerName;
	LPWSTR LogFileName;
	ETW_LOGFILE_HEADER_TAIL;
} TRACE_LOGFILE_HEADER, *PTRACE_LOGFILE_HEADER;

typedef struct _TRACE_LOGFILE_HEADER32 {
	ETW_LOGFILE_HEADER_HEAD;
	ULONG32 LoggerName;
	ULONG32 LogFileName;
	ETW_LOGFILE_HEADER_TAIL;
} TRACE_LOGFILE_HEADER32, *PTRACE_LOGFILE_HEADER32;

typedef struct _TRACE_LOGFILE_HEADER64 {
	ETW_LOGFILE_HEADER_HEAD;
	ULONG64 LoggerName;
	ULONG64 LogFileName;
	ETW_LOGFILE_HEADER_TAIL;
} TRACE_LOGFILE_HEADER64, *PTRACE_LOGFILE_HEADER64;

/* ---- session properties --------------------------------------------------------------------- */

#define ETW_TRACE_PROPERTIES_HEAD                                                    \
	WNODE_HEADER Wnode;                                                          \
	ULONG BufferSize; /* KiB */                                                  \
	ULONG MinimumBuffers;                                                        \
	ULONG MaximumBuffers;                                                        \
	ULONG MaximumFileSize; /* MiB, or KiB with USE_KBYTES_FOR_SIZE */            \
	ULONG LogFileMode;                                                           \
	ULONG FlushTimer; /* seconds, or milliseconds with USE_MS_FLUSH_TIMER */     \
	ULONG EnableFlags;                                                           \
	__extension__ union {                                                        \
		LONG AgeLimit;                                                       \
		LONG FlushThreshold; /* buffers */                                   \
	} DUMMYUNIONNAME;                                                            \
	ULONG NumberOfBuffers; /* from here on filled by the system */               \
	ULONG FreeBuffers;                                                           \
	ULONG EventsLost;                                                            \
	ULONG BuffersWritten;                                                        \
	ULONG LogBuffersLost;                                                        \
	ULONG RealTimeBuffersLost;                                                   \
	HANDLE LoggerThreadId;                                                       \
	ULONG LogFileNameOffset; /* bytes from the start of the block; 0: no name */ \
	ULONG LoggerNameOffset

/* What a session is like. The caller allocates room for the two names behind it, says where in the
 * two offsets (session name first), and puts the size of everything in Wnode.BufferSize. StartTrace
 * copies the session name there itself; the file name is the caller's to write. */
typedef struct _EVENT_TRACE_PROPERTIES {
	ETW_TRACE_PROPERTIES_HEAD;
} EVENT_TRACE_PROPERTIES, *PEVENT_TRACE_PROPERTIES;

/* With WNODE_FLAG_VERSIONED_PROPERTIES and VersionNumber 2. */
typedef struct _EVENT_TRACE_PROPERTIES_V2 {
	ETW_TRACE_PROPERTIES_HEAD;
	__extension__ union {
		__extension__ struct {
			ULONG VersionNumber : 8; /* 2 */
		} DUMMYSTRUCTNAME;
		ULONG V2Control;
	} DUMMYUNIONNAME2;
	ULONG FilterDescCount; /* private sessions only */
	PEVENT_FILTER_DESCRIPTOR FilterDesc;
	__extension__ union {
		__extension__ struct {
			ULONG Wow : 1; /* output */
			ULONG QpcDeltaTracking : 1;
			ULONG LargeMdlPages : 1;
			ULONG ExcludeKernelStack : 1;
		} DUMMYSTRUCTNAME;
		ULONG64 V2Options;
	} DUMMYUNIONNAME3;
} EVENT_TRACE_PROPERTIES_V2, *PEVENT_TRACE_PROPERTIES_V2;

/* ---- what a consumer gets ------------------------------------------------------------------- */

typedef struct _ETW_BUFFER_CONTEXT {
	__extension__ union {
		__extension__ struct {
			UCHAR ProcessorNumber;
			UCHAR Alignment;
		} DUMMYSTRUCTNAME;
		USHORT ProcessorIndex;
	} DUMMYUNIONNAME;
	USHORT LoggerId;
} ETW_BUFFER_CONTEXT, *PETW_BUFFER_CONTEXT;

/* An event in the form of before Vista. */
struct _EVENT_TRACE {
	EVENT_TRACE_HEADER Header;
	ULONG InstanceId;
	ULONG ParentInstanceId;
	GUID ParentGuid;
	PVOID MofData;
	ULONG MofLength; /* bytes */
	__extension__ union {
		ULONG ClientContext;
		ETW_BUFFER_CONTEXT BufferContext;
	} DUMMYUNIONNAME;
};

/* After each buffer. FALSE ends ProcessTrace with ERROR_CANCELLED. */
typedef ULONG(WINAPI *PEVENT_TRACE_BUFFER_CALLBACKW)(PEVENT_TRACE_LOGFILEW Logfile);
typedef ULONG(WINAPI *PEVENT_TRACE_BUFFER_CALLBACKA)(PEVENT_TRACE_LOGFILEA Logfile);
typedef VOID(WINAPI *PEVENT_CALLBACK)(PEVENT_TRACE pEvent);
/* The record and what it points to are valid during the call only. */
typedef VOID(WINAPI *PEVENT_RECORD_CALLBACK)(PEVENT_RECORD EventRecord);

#define ETW_LOGFILE_MEMBERS(chr, callback)                                               \
	chr *LogFileName; /* of a file, or */                                            \
	chr *LoggerName;  /* of a real-time session */                                   \
	LONGLONG CurrentTime;                                                            \
	ULONG BuffersRead;                                                               \
	__extension__ union {                                                            \
		ULONG LogFileMode;                                                       \
		ULONG ProcessTraceMode; /* PROCESS_TRACE_MODE_* */                       \
	} DUMMYUNIONNAME;                                                                \
	EVENT_TRACE CurrentEvent;                                                        \
	TRACE_LOGFILE_HEADER LogfileHeader; /* filled by OpenTrace */                    \
	callback BufferCallback;            /* may be NULL */                            \
	ULONG BufferSize;                   /* bytes */                                  \
	ULONG Filled;                       /* bytes */                                  \
	ULONG EventsLost;                                                                \
	__extension__ union {                                                            \
		PEVENT_CALLBACK EventCallback;                                           \
		PEVENT_RECORD_CALLBACK EventRecordCallback; /* with MODE_EVENT_RECORD */ \
	} DUMMYUNIONNAME2;                                                               \
	ULONG IsKernelTrace;                                                             \
	PVOID Context /* becomes EVENT_RECORD.UserContext */

struct _EVENT_TRACE_LOGFILEW {
	ETW_LOGFILE_MEMBERS(WCHAR, PEVENT_TRACE_BUFFER_CALLBACKW);
};
struct _EVENT_TRACE_LOGFILEA {
	ETW_LOGFILE_MEMBERS(CHAR, PEVENT_TRACE_BUFFER_CALLBACKA);
};

typedef struct _ETW_BUFFER_HEADER {
	ULONG Reserved1[4];
	LARGE_INTEGER TimeStamp;
	ULONG Reserved2[4];
	ETW_BUFFER_CONTEXT ClientContext;
	ULONG Reserved3;
	ULONG FilledBytes;
	ULONG Reserved4[5];
} ETW_BUFFER_HEADER;

typedef struct _ETW_BUFFER_CALLBACK_INFORMATION {
	PROCESSTRACE_HANDLE TraceHandle;
	const TRACE_LOGFILE_HEADER *LogfileHeader;
	ULONG BuffersRead;
} ETW_BUFFER_CALLBACK_INFORMATION;

/* A raw buffer of a handle from OpenTraceFrom…. FALSE ends ProcessTrace. */
typedef BOOL(WINAPI *PETW_BUFFER_CALLBACK)(const ETW_BUFFER_HEADER *Buffer, ULONG BufferSize,
					   const ETW_BUFFER_CALLBACK_INFORMATION *ConsumerInfo, void *CallbackContext);
/* The runtime is through with a buffer of ProcessTraceAddBufferToBufferStream. */
typedef VOID(WINAPI *PETW_BUFFER_COMPLETION_CALLBACK)(const ETW_BUFFER_HEADER *Buffer, void *CallbackContext);

typedef enum { ETW_PROCESS_TRACE_MODE_NONE = 0, ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP = 1 } ETW_PROCESS_TRACE_MODES;
DEFINE_ENUM_FLAG_OPERATORS(ETW_PROCESS_TRACE_MODES)

typedef struct _ETW_OPEN_TRACE_OPTIONS {
	ETW_PROCESS_TRACE_MODES ProcessTraceModes;
	PEVENT_RECORD_CALLBACK EventCallback; /* NULL: events are not decoded */
	void *EventCallbackContext;
	PETW_BUFFER_CALLBACK BufferCallback;
	void *BufferCallbackContext;
} ETW_OPEN_TRACE_OPTIONS;

/* ---- information ----------------------------------------------------------------------------- */

typedef struct _TRACE_GUID_PROPERTIES {
	GUID Guid;
	ULONG GuidType;
	ULONG LoggerId;
	ULONG EnableLevel;
	ULONG EnableFlags;
	BOOLEAN IsEnable;
} TRACE_GUID_PROPERTIES, *PTRACE_GUID_PROPERTIES;

typedef struct _TRACE_ENABLE_INFO {
	ULONG IsEnabled;
	UCHAR Level;
	UCHAR Reserved1;
	USHORT LoggerId;
	ULONG EnableProperty;
	ULONG Reserved2;
	ULONGLONG MatchAnyKeyword;
	ULONGLONG MatchAllKeyword;
} TRACE_ENABLE_INFO, *PTRACE_ENABLE_INFO;

/* EnableCount TRACE_ENABLE_INFO follow. */
typedef struct _TRACE_PROVIDER_INSTANCE_INFO {
	ULONG NextOffset; /* bytes from this one to the next, 0 at the last */
	ULONG EnableCount;
	ULONG Pid;
	ULONG Flags; /* TRACE_PROVIDER_FLAG_* */
} TRACE_PROVIDER_INSTANCE_INFO, *PTRACE_PROVIDER_INSTANCE_INFO;

typedef struct _TRACE_GUID_INFO {
	ULONG InstanceCount;
	ULONG Reserved;
} TRACE_GUID_INFO, *PTRACE_GUID_INFO;

typedef struct _PROFILE_SOURCE_INFO {
	ULONG NextEntryOffset;
	ULONG Source;
	ULONG MinInterval;
	ULONG MaxInterval;
	ULONG64 Reserved;
	WCHAR Description[1];
} PROFILE_SOURCE_INFO, *PPROFILE_SOURCE_INFO;

typedef struct _CLASSIC_EVENT_ID {
	GUID EventGuid;
	UCHAR Type;
	UCHAR Reserved[7];
} CLASSIC_EVENT_ID, *PCLASSIC_EVENT_ID;

typedef struct _TRACE_STACK_CACHING_INFO {
	BOOLEAN Enabled;
	ULONG CacheSize;
	ULONG BucketCount;
} TRACE_STACK_CACHING_INFO, *PTRACE_STACK_CACHING_INFO;

typedef struct _TRACE_PROFILE_INTERVAL {
	ULONG Source;
	ULONG Interval; /* 100 ns for the timer source */
} TRACE_PROFILE_INTERVAL, *PTRACE_PROFILE_INTERVAL;

typedef struct _TRACE_VERSION_INFO {
	UINT EtwTraceProcessingVersion;
	UINT Reserved;
} TRACE_VERSION_INFO, *PTRACE_VERSION_INFO;

typedef struct _TRACE_PERIODIC_CAPTURE_STATE_INFO {
	ULONG CaptureStateFrequencyInSeconds;
	USHORT ProviderCount;
	USHORT Reserved;
} TRACE_PERIODIC_CAPTURE_STATE_INFO, *PTRACE_PERIODIC_CAPTURE_STATE_INFO;

typedef struct _ETW_TRACE_PARTITION_INFORMATION {
	GUID PartitionId;
	GUID ParentId;
	LONG64 QpcOffsetFromRoot;
	ULONG PartitionType;
} ETW_TRACE_PARTITION_INFORMATION, *PETW_TRACE_PARTITION_INFORMATION;

typedef struct _ETW_TRACE_PARTITION_INFORMATION_V2 {
	LONG64 QpcOffsetFromRoot;
	ULONG PartitionType;
	PWSTR PartitionId;
	PWSTR ParentId;
} ETW_TRACE_PARTITION_INFORMATION_V2, *PETW_TRACE_PARTITION_INFORMATION_V2;

typedef enum _ETW_PMC_COUNTER_OWNER_TYPE {
	EtwPmcOwnerFree = 0,
	EtwPmcOwnerUntagged = 1,
	EtwPmcOwnerTagged = 2,
	EtwPmcOwnerTaggedWithSource = 3
} ETW_PMC_COUNTER_OWNER_TYPE;

typedef struct _ETW_PMC_COUNTER_OWNER {
	ETW_PMC_COUNTER_OWNER_TYPE OwnerType;
	ULONG ProfileSource;
	ULONG OwnerTag;
} ETW_PMC_COUNTER_OWNER, *PETW_PMC_COUNTER_OWNER;

typedef struct _ETW_PMC_COUNTER_OWNERSHIP_STATUS {
	ULONG ProcessorNumber;
	ULONG NumberOfCounters;
	ETW_PMC_COUNTER_OWNER CounterOwners[1];
} ETW_PMC_COUNTER_OWNERSHIP_STATUS, *PETW_PMC_COUNTER_OWNERSHIP_STATUS;

typedef struct _ETW_PMC_SESSION_INFO {
	ULONG NextEntryOffset;
	USHORT LoggerId;
	USHORT Reserved;
	ULONG ProfileSourceCount;
	ULONG HookIdCount;
} ETW_PMC_SESSION_INFO, *PETW_PMC_SESSION_INFO;

typedef enum _ETW_CONTEXT_REGISTER_TYPES {
	EtwContextRegisterTypeNone = 0,
	EtwContextRegisterTypeControl = 1,
	EtwContextRegisterTypeInteger = 2
} ETW_CONTEXT_REGISTER_TYPES;
DEFINE_ENUM_FLAG_OPERATORS(ETW_CONTEXT_REGISTER_TYPES)

typedef struct _TRACE_CONTEXT_REGISTER_INFO {
	ETW_CONTEXT_REGISTER_TYPES RegisterTypes;
	ULONG Reserved;
} TRACE_CONTEXT_REGISTER_INFO, *PTRACE_CONTEXT_REGISTER_INFO;

typedef enum _ETW_COMPRESSION_RESUMPTION_MODE {
	EtwCompressionModeRestart = 0,
	EtwCompressionModeNoDisable = 1,
	EtwCompressionModeNoRestart = 2
} ETW_COMPRESSION_RESUMPTION_MODE;

typedef enum _ETW_PROCESS_HANDLE_INFO_TYPE {
	EtwQueryPartitionInformation = 1,
	EtwQueryPartitionInformationV2 = 2,
	EtwQueryLastDroppedTimes = 3,
	EtwQueryLogFileHeader = 4,
	EtwQueryProcessHandleInfoMax
} ETW_PROCESS_HANDLE_INFO_TYPE;

typedef enum {
	TRACE_LBR_EXCLUDE_KERNEL = 0x001,
	TRACE_LBR_EXCLUDE_USER = 0x002,
	TRACE_LBR_EXCLUDE_JCC = 0x004,
	TRACE_LBR_EXCLUDE_NEAR_REL_CALL = 0x008,
	TRACE_LBR_EXCLUDE_NEAR_IND_CALL = 0x010,
	TRACE_LBR_EXCLUDE_NEAR_RET = 0x020,
	TRACE_LBR_EXCLUDE_NEAR_IND_JMP = 0x040,
	TRACE_LBR_EXCLUDE_NEAR_REL_JMP = 0x080,
	TRACE_LBR_EXCLUDE_FAR_BRANCH = 0x100,
	TRACE_LBR_CALLSTACK_ENABLE = 0x200,
	TRACE_LBR_SAMPLED = 0x400
} TRACE_LBR_CONFIGURATION;
DEFINE_ENUM_FLAG_OPERATORS(TRACE_LBR_CONFIGURATION)

typedef enum _TRACE_QUERY_INFO_CLASS TRACE_QUERY_INFO_CLASS, TRACE_INFO_CLASS;

typedef struct _ENABLE_TRACE_PARAMETERS_V1 {
	ULONG Version; /* ENABLE_TRACE_PARAMETERS_VERSION */
	ULONG EnableProperty;
	ULONG ControlFlags; /* 0 */
	GUID SourceId;
	PEVENT_FILTER_DESCRIPTOR EnableFilterDesc; /* exactly one, or NULL */
} ENABLE_TRACE_PARAMETERS_V1, *PENABLE_TRACE_PARAMETERS_V1;

typedef struct _ENABLE_TRACE_PARAMETERS {
	ULONG Version;        /* ENABLE_TRACE_PARAMETERS_VERSION_2 */
	ULONG EnableProperty; /* EVENT_ENABLE_PROPERTY_* */
	ULONG ControlFlags;   /* 0 */
	GUID SourceId;
	PEVENT_FILTER_DESCRIPTOR EnableFilterDesc;
	ULONG FilterDescCount; /* at most MAX_EVENT_FILTERS_COUNT, one of each type */
} ENABLE_TRACE_PARAMETERS, *PENABLE_TRACE_PARAMETERS;

EXTERN_C_END

#include "evntrace_calls.h"

#endif
