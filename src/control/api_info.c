/* SPDX-License-Identifier: MIT
 * TraceSetInformation, TraceQueryInformation, TraceConfigureLastBranchRecord: the information
 * classes. Lengths are checked for every class; those that speak of kernel events, performance
 * counters and branch records are refused with ERROR_NOT_SUPPORTED as long as nothing collects
 * these.
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
	[TraceStackTracingInfo] = {KERNEL, NOWHERE, true, 0, sizeof(CLASSIC_EVENT_ID), 256},
	[TraceSystemTraceEnableFlagsInfo] = {KERNEL, KERNEL, false, 32, 0, 0},
	[TraceSampledProfileIntervalInfo] = {KERNEL, KERNEL, false, sizeof(TRACE_PROFILE_INTERVAL),
					     0, 0},
	[TraceProfileSourceConfigInfo] = {KERNEL, NOWHERE, false, 4, 4, 0},
	[TraceProfileSourceListInfo] = {NOWHERE, KERNEL, false, 0, 1, 0},
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
	[TraceStackCachingInfo] = {KERNEL, NOWHERE, false, sizeof(TRACE_STACK_CACHING_INFO), 0, 0},
	[TracePmcCounterOwners] = {NOWHERE, KERNEL, false, 0, 1, 0},
	[TraceUnifiedStackCachingInfo] = {KERNEL, NOWHERE, false, sizeof(TRACE_STACK_CACHING_INFO),
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
	if (SessionHandle == 0) {
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
		code = control_call(req, proto_end(&w), false, CONTROL_TIMEOUT_MS, reply);
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
	if (id == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	proto_begin(&w, req, sizeof req, PROTO_QUERY_INFO, 1);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	proto_put_u32(&w, PROTO_TAG_INFO_CLASS, class);
	return control_data(&w, false, out, size, ret_len, ERROR_BAD_LENGTH);
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
