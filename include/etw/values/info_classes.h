/* SPDX-License-Identifier: MIT
 *
 * What can be asked and set beside sessions and enables. These are enumerators, as in Windows' evntrace.h: C++
 * programs pass them as _TRACE_QUERY_INFO_CLASS.
 */
#ifndef ETW_VALUES_INFO_CLASSES_H
#define ETW_VALUES_INFO_CLASSES_H

/* E: EnumerateTraceGuidsEx, S: TraceSetInformation, Q: TraceQueryInformation. */
enum _TRACE_QUERY_INFO_CLASS {
	TraceGuidQueryList = 0,              /* E: out GUID[] */
	TraceGuidQueryInfo = 1,              /* E: in GUID, out TRACE_GUID_INFO and instances */
	TraceGuidQueryProcess = 2,           /* E: out GUID[] of this process */
	TraceStackTracingInfo = 3,           /* S: CLASSIC_EVENT_ID[] */
	TraceSystemTraceEnableFlagsInfo = 4, /* S, Q: ULONG[8] */
	TraceSampledProfileIntervalInfo = 5, /* S, Q: TRACE_PROFILE_INTERVAL */
	TraceProfileSourceConfigInfo = 6,    /* S: ULONG[] */
	TraceProfileSourceListInfo = 7,      /* Q: PROFILE_SOURCE_INFO chain */
	TracePmcEventListInfo = 8,           /* S: CLASSIC_EVENT_ID[] */
	TracePmcCounterListInfo = 9,         /* S: ULONG[] */
	TraceSetDisallowList = 10,           /* S: GUID[] */
	TraceVersionInfo = 11,               /* Q: TRACE_VERSION_INFO */
	TraceGroupQueryList = 12,            /* E: out GUID[] */
	TraceGroupQueryInfo = 13,            /* E: in GUID; out count, TRACE_ENABLE_INFO[], count, GUID[] */
	TraceDisallowListQuery = 14,         /* Q: GUID[] */
	TraceInfoReserved15 = 15,
	TracePeriodicCaptureStateListInfo = 16, /* S: TRACE_PERIODIC_CAPTURE_STATE_INFO, GUID[] */
	TracePeriodicCaptureStateInfo = 17,     /* Q: limits */
	TraceProviderBinaryTracking = 18,       /* S: BOOLEAN */
	TraceMaxLoggersQuery = 19,              /* Q, E: ULONG */
	TraceLbrConfigurationInfo = 20,         /* S: ULONG */
	TraceLbrEventListInfo = 21,             /* S: ULONG[] */
	TraceMaxPmcCounterQuery = 22,           /* Q: ULONG */
	TraceStreamCount = 23,                  /* Q: ULONG */
	TraceStackCachingInfo = 24,             /* S: TRACE_STACK_CACHING_INFO */
	TracePmcCounterOwners = 25,             /* Q: ETW_PMC_COUNTER_OWNERSHIP_STATUS */
	TraceUnifiedStackCachingInfo = 26,      /* S: TRACE_STACK_CACHING_INFO */
	TracePmcSessionInformation = 27,        /* Q: ETW_PMC_SESSION_INFO */
	TraceContextRegisterInfo = 28,          /* S: TRACE_CONTEXT_REGISTER_INFO, CLASSIC_EVENT_ID[] */
	MaxTraceSetInfoClass = 29
};

#endif
