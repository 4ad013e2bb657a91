/* SPDX-License-Identifier: MIT
 * TraceSetInformation, TraceQueryInformation, TraceConfigureLastBranchRecord: the information
 * classes. Lengths are checked for every class; those that speak of performance counters and branch
 * records are refused with ERROR_NOT_SUPPORTED as long as nothing collects these.
 */
#include "control/control.h"

#include <stdlib.h>

#define MAX_LOGGERS 1024u

enum where {
	NOWHERE, /* for the other function */
	KERNEL,	 /* known, and refused after its arguments have been looked at */
	HERE,
	DAEMON,
};

struct info_class {
	uint8_t set, query; /* enum where */
	bool may_clear;	    /* a length of 0 takes the setting back */
	uint16_t least;	    /* bytes */
	uint16_t element;   /* further bytes come in multiples of this; 0: exactly `least` */
	uint16_t most;	    /* elements; 0: no limit of the interface's */
};

static const struct info_class classes[MaxTraceSetInfoClass] = {
	[TraceStackTracingInfo] = {DAEMON, NOWHERE, true, 0, sizeof(CLASSIC_EVENT_ID), 256},
	[TraceSystemTraceEnableFlagsInfo] = {DAEMON, DAEMON, false, 32, 0, 0},
	[TraceSampledProfileIntervalInfo] = {DAEMON, DAEMON, false, sizeof(TRACE_PROFILE_INTERVAL),
					     0, 0},
	[TraceProfileSourceConfigInfo] = {HERE, NOWHERE, false, 4, 4, 0},
	[TraceProfileSourceListInfo] = {NOWHERE, HERE, false, 0, 1, 0},
	[TracePmcEventListInfo] = {KERNEL, NOWHERE, false, sizeof(CLASSIC_EVENT_ID),
				   sizeof(CLASSIC_EVENT_ID), 0},
	[TracePmcCounterListInfo] = {KERNEL, NOWHERE, false, 4, 4, 0},
	[TraceSetDisallowList] = {DAEMON, NOWHERE, true, 0, sizeof(GUID), 2048},
	[TraceVersionInfo] = {NOWHERE, HERE, false, sizeof(TRACE_VERSION_INFO), 0, 0},
	[TraceDisallowListQuery] = {NOWHERE, DAEMON, false, 0, 1, 0},
	[TracePeriodicCaptureStateListInfo] = {DAEMON, NOWHERE, true,
					       sizeof(TRACE_PERIODIC_CAPTURE_STATE_INFO),
					       sizeof(GUID), 2048},
	[TracePeriodicCaptureStateInfo] = {NOWHERE, HERE, false,
					   sizeof(TRACE_PERIODIC_CAPTURE_STATE_INFO), 0, 0},
	[TraceProviderBinaryTracking] = {DAEMON, NOWHERE, false, sizeof(BOOLEAN), 0, 0},
	[TraceMaxLoggersQuery] = {NOWHERE, HERE, false, 4, 0, 0},
	[TraceLbrConfigurationInfo] = {KERNEL, NOWHERE, false, 4, 0, 0},
	[TraceLbrEventListInfo] = {KERNEL, NOWHERE, true, 0, 4, 0},
	[TraceMaxPmcCounterQuery] = {NOWHERE, HERE, false, 4, 0, 0},
	[TraceStreamCount] = {NOWHERE, DAEMON, false, 4, 0, 0},
	[TraceStackCachingInfo] = {DAEMON, NOWHERE, false, sizeof(TRACE_STACK_CACHING_INFO), 0, 0},
	[TracePmcCounterOwners] = {NOWHERE, KERNEL, false, 0, 1, 0},
	[TraceUnifiedStackCachingInfo] = {DAEMON, NOWHERE, false, sizeof(TRACE_STACK_CACHING_INFO),
					  0, 0},
	[TracePmcSessionInformation] = {NOWHERE, KERNEL, false, 0, 1, 0},
	[TraceContextRegisterInfo] = {KERNEL, NOWHERE, true, 4, sizeof(CLASSIC_EVENT_ID), 0},
};

static const struct info_class *find_class(TRACE_INFO_CLASS c)
{
	return (unsigned)c < BASE_ARRAY_LEN(classes) ? &classes[c] : NULL;
}

/* ---- set
 * ---------------------------------------------------------------------------------------- */

static uint32_t check_length(const struct info_class *k, const void *p, ULONG n)
{
	if (n == 0 && k->may_clear) {
		return ERROR_SUCCESS;
	}
	if (n < k->least || (k->element == 0 && n != k->least) ||
	    (k->element != 0 && (n - k->least) % k->element != 0)) {
		return ERROR_BAD_LENGTH;
	}
	if (p == NULL || (k->most != 0 && (n - k->least) / k->element > k->most)) {
		return ERROR_INVALID_PARAMETER;
	}
	return ERROR_SUCCESS;
}

ULONG WINAPI TraceSetInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass,
				 PVOID TraceInformation, ULONG InformationLength)
{
	const struct info_class *k = find_class(InformationClass);
	if (k == NULL || k->set == NOWHERE) {
		return ERROR_NOT_SUPPORTED;
	}
	uint32_t code = check_length(k, TraceInformation, InformationLength);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	if (k->set == KERNEL) {
		return ERROR_NOT_SUPPORTED;
	}
	if (k->set == HERE) { /* which sources samples may come from: there is one */
		for (ULONG i = 0; i < InformationLength; i += 4) {
			if (le32_get((const uint8_t *)TraceInformation + i) != 0) {
				return ERROR_NOT_SUPPORTED;
			}
		}
		return ERROR_SUCCESS;
	}
	bool machine = InformationClass == TraceSampledProfileIntervalInfo; /* not of a session */
	if (SessionHandle == 0 && !machine) {
		return ERROR_INVALID_PARAMETER;
	}
	uint8_t *req = malloc(PROTO_MESSAGE_MAX);
	struct control_reply *reply = malloc(sizeof *reply);
	code = ERROR_NOT_ENOUGH_MEMORY;
	if (req && reply) {
		struct proto_writer w;
		proto_begin(&w, req, PROTO_MESSAGE_MAX, PROTO_SET_INFO, 1);
		proto_put_u64(&w, PROTO_TAG_SESSION_ID, SessionHandle);
		proto_put_u32(&w, PROTO_TAG_INFO_CLASS, InformationClass);
		proto_put(&w, PROTO_TAG_DATA, TraceInformation, InformationLength);
		code = control_call(req, proto_end(&w), machine, CONTROL_TIMEOUT_MS, reply);
	}
	free(req);
	free(reply);
	return code;
}

/* ---- query
 * -------------------------------------------------------------------------------------- */

static uint32_t query_daemon(TRACEHANDLE id, TRACE_INFO_CLASS class, void *out, ULONG size,
			     PULONG ret_len)
{
	uint8_t req[64];
	struct proto_writer w;
	bool machine = class == TraceSampledProfileIntervalInfo;
	if (id == 0 && !machine) {
		return ERROR_INVALID_PARAMETER;
	}
	proto_begin(&w, req, sizeof req, PROTO_QUERY_INFO, 1);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	proto_put_u32(&w, PROTO_TAG_INFO_CLASS, class);
	return control_data(&w, machine, out, size, ret_len, ERROR_BAD_LENGTH);
}

/* The one source of samples, the timer. */
static uint32_t profile_sources(void *out, ULONG size, PULONG ret_len)
{
	static const WCHAR name[] = u"Timer";
	PROFILE_SOURCE_INFO *p = out;
	ULONG need = (ULONG)(offsetof(PROFILE_SOURCE_INFO, Description) + sizeof name);
	if (ret_len) {
		*ret_len = need;
	}
	if (size < need) {
		return ERROR_BAD_LENGTH;
	}
	memset(p, 0, need);
	p->MinInterval = 1250; /* 125 microseconds, in 100 ns */
	p->MaxInterval = 10000000;
	memcpy(p->Description, name, sizeof name);
	return ERROR_SUCCESS;
}

ULONG WINAPI TraceQueryInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass,
				   PVOID TraceInformation, ULONG InformationLength,
				   PULONG ReturnLength)
{
	union {
		ULONG number;
		TRACE_VERSION_INFO version;
		TRACE_PERIODIC_CAPTURE_STATE_INFO capture;
	} v = {0};
	const struct info_class *k = find_class(InformationClass);
	if (k == NULL || k->query == NOWHERE) {
		return ERROR_NOT_SUPPORTED;
	}
	if (ReturnLength && k->element == 0) {
		*ReturnLength = k->least;
	}
	if (InformationLength < k->least) {
		return ERROR_BAD_LENGTH;
	}
	if (TraceInformation == NULL && InformationLength != 0) {
		return ERROR_INVALID_PARAMETER;
	}
	if (k->query == KERNEL) {
		return ERROR_NOT_SUPPORTED;
	}
	if (k->query == DAEMON) {
		ULONG need;
		return query_daemon(SessionHandle, InformationClass, TraceInformation,
				    InformationLength, ReturnLength ? ReturnLength : &need);
	}
	switch ((int)InformationClass) {
	case TraceProfileSourceListInfo:
		return profile_sources(TraceInformation, InformationLength, ReturnLength);
	case TraceMaxLoggersQuery:
		v.number = MAX_LOGGERS;
		break;
	case TraceMaxPmcCounterQuery:
		v.number = 0; /* no counters are collected */
		break;
	case TraceVersionInfo:
		v.version.EtwTraceProcessingVersion = 1;
		break;
	default: /* limits: the shortest period, the most providers */
		v.capture.CaptureStateFrequencyInSeconds = 1;
		v.capture.ProviderCount = 2048;
		break;
	}
	memcpy(TraceInformation, &v, k->least);
	return ERROR_SUCCESS;
}

ULONG WINAPI TraceConfigureLastBranchRecord(CONTROLTRACE_ID TraceId,
					    TRACE_LBR_CONFIGURATION LbrConfiguration,
					    const CLASSIC_EVENT_ID *Events, ULONG EventCount)
{
	if (TraceId == 0 || (Events == NULL && EventCount != 0)) {
		return ERROR_INVALID_PARAMETER;
	}
	/* Branches are recorded at kernel events, which nothing collects yet. */
	return ERROR_NOT_SUPPORTED;
}
