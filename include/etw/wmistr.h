/* SPDX-License-Identifier: MIT
 *
 * What ETW inherited from WMI: the 48-byte WNODE_HEADER that starts every session properties block,
 * its flags, the request codes of classic providers and the access rights of a GUID.
 */
#ifndef ETW_WMISTR_H
#define ETW_WMISTR_H
#define _WMISTR_

#include "values/access_rights.h"
#include "win/winnt.h"

typedef struct _WNODE_HEADER {
	ULONG BufferSize; /* bytes of the whole block, names included */
	ULONG ProviderId;
	__extension__ union {
		ULONG64 HistoricalContext; /* session handle */
		__extension__ struct {
			ULONG Version;
			ULONG Linkage;
		} DUMMYSTRUCTNAME;
	} DUMMYUNIONNAME;
	__extension__ union {
		ULONG CountLost;
		HANDLE KernelHandle;
		LARGE_INTEGER TimeStamp; /* FILETIME */
	} DUMMYUNIONNAME2;
	GUID Guid;
	ULONG ClientContext; /* clock: 1 QPC, 2 system time, 3 CPU cycles */
	ULONG Flags;         /* WNODE_FLAG_* */
} WNODE_HEADER, *PWNODE_HEADER;

#define WNODE_FLAG_ALL_DATA              0x1
#define WNODE_FLAG_SINGLE_INSTANCE       0x2
#define WNODE_FLAG_SINGLE_ITEM           0x4
#define WNODE_FLAG_EVENT_ITEM            0x8
#define WNODE_FLAG_FIXED_INSTANCE_SIZE   0x10
#define WNODE_FLAG_TOO_SMALL             0x20
#define WNODE_FLAG_INSTANCES_SAME        0x40
#define WNODE_FLAG_STATIC_INSTANCE_NAMES 0x80
#define WNODE_FLAG_INTERNAL              0x100
#define WNODE_FLAG_USE_TIMESTAMP         0x200
#define WNODE_FLAG_PERSIST_EVENT         0x400
#define WNODE_FLAG_EVENT_REFERENCE       0x2000
#define WNODE_FLAG_ANSI_INSTANCENAMES    0x4000
#define WNODE_FLAG_METHOD_ITEM           0x8000
#define WNODE_FLAG_PDO_INSTANCE_NAMES    0x10000
#define WNODE_FLAG_TRACED_GUID           0x20000
#define WNODE_FLAG_LOG_WNODE             0x40000
#define WNODE_FLAG_USE_GUID_PTR          0x80000
#define WNODE_FLAG_USE_MOF_PTR           0x100000
#define WNODE_FLAG_NO_HEADER             0x200000
#define WNODE_FLAG_SEND_DATA_BLOCK       0x400000
#define WNODE_FLAG_VERSIONED_PROPERTIES  0x800000
#define WNODE_FLAG_SEVERITY_MASK         0xFF000000u
#define WMIREG_FLAG_EXPENSIVE            0x1
#define WMIREG_FLAG_INSTANCE_LIST        0x4
#define WMIREG_FLAG_INSTANCE_BASENAME    0x8
#define WMIREG_FLAG_INSTANCE_PDO         0x20
#define WMIREG_FLAG_REMOVE_GUID          0x10000
#define WMIREG_FLAG_RESERVED1            0x20000
#define WMIREG_FLAG_RESERVED2            0x40000
#define WMIREG_FLAG_TRACED_GUID          0x80000
#define WMIREG_FLAG_TRACE_CONTROL_GUID   0x1000
#define WMIREG_FLAG_EVENT_ONLY_GUID      0x40
#define WMI_GUIDTYPE_TRACECONTROL        0
#define WMI_GUIDTYPE_TRACE               1
#define WMI_GUIDTYPE_DATA                2
#define WMI_GUIDTYPE_EVENT               3
#define WMI_GLOBAL_LOGGER_ID             0x1

#define WMIGUID_ALL_ACCESS  (STANDARD_RIGHTS_READ | SYNCHRONIZE | 0x1FFF)
#define TRACELOG_ALL_ACCESS WMIGUID_ALL_ACCESS

typedef enum {
	WMI_GET_ALL_DATA = 0,
	WMI_GET_SINGLE_INSTANCE = 1,
	WMI_SET_SINGLE_INSTANCE = 2,
	WMI_SET_SINGLE_ITEM = 3,
	WMI_ENABLE_EVENTS = 4,
	WMI_DISABLE_EVENTS = 5,
	WMI_ENABLE_COLLECTION = 6,
	WMI_DISABLE_COLLECTION = 7,
	WMI_REGINFO = 8,
	WMI_EXECUTE_METHOD = 9,
	WMI_CAPTURE_STATE = 10
} WMIDPREQUESTCODE;

/* A classic provider's control callback. `Buffer` is a WNODE_HEADER; ask GetTraceLoggerHandle about
 * it. `*BufferSize` is the size of that block in bytes. Returns a Win32 code. */
typedef ULONG(WINAPI *WMIDPREQUEST)(WMIDPREQUESTCODE RequestCode, PVOID RequestContext, ULONG *BufferSize,
				    PVOID Buffer);

#endif
