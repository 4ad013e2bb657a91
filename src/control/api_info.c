/* SPDX-License-Identifier: MIT
 * TraceSetInformation, TraceQueryInformation, TraceConfigureLastBranchRecord: the information
 * classes. Lengths are checked for every class; those that speak of branch records and registers are refused
 * with ERROR_NOT_SUPPORTED: nothing collects these.
 */
#include "control/control.h"
#include "pmc/pmc.h"

#include <stdlib.h>

#define MAX_LOGGERS 1024u

enum where {
	NOWHERE, /* for the other function */
	KERNEL,  /* known, of kernel events, and refused after its arguments have been looked at */
	HERE,
	DAEMON,
};

struct info_class {
	uint8_t set, query; /* enum where */
	bool may_clear;     /* a length of 0 takes the setting back */
	uint16_t least;     /* bytes */
	uint16_t element;   /* further bytes come in multiples of this; 0: exactly `least` */
	uint16_t most;      /* elements; 0: no limit of the interface's */
};

static const struct info_class classes[MaxTraceSetInfoClass] = {
	[TraceStackTracingInfo] = {DAEMON, NOWHERE, true, 0, sizeof(CLASSIC_EVENT_ID), 256},
	[TraceSystemTraceEnableFlagsInfo] = {DAEMON, DAEMON, false, 32, 0, 0},
	[TraceSampledProfileIntervalInfo] = {DAEMON, DAEMON, false, sizeof(TRACE_PROFILE_INTERVAL), 0, 0},
	[TraceProfileSourceConfigInfo] = {DAEMON, NOWHERE, false, 4, 4, 0},
	[TraceProfileSourceListInfo] = {NOWHERE, HERE, false, 0, 1, 0},
	[TracePmcEventListInfo] = {DAEMON, NOWHERE, false, sizeof(CLASSIC_EVENT_ID), sizeof(CLASSIC_EVENT_ID), 0},
	[TracePmcCounterListInfo] = {DAEMON, NOWHERE, false, 4, 4, 0},
	[TraceSetDisallowList] = {DAEMON, NOWHERE, true, 0, sizeof(GUID), 2048},
	[TraceVersionInfo] = {NOWHERE, HERE, false, sizeof(TRACE_VERSION_INFO), 0, 0},
	[TraceDisallowListQuery] = {NOWHERE, DAEMON, false, 0, 1, 0},
	[TracePeriodicCaptureStateListInfo] = {DAEMON, NOWHERE, true, sizeof(TRACE_PERIODIC_CAPTURE_STATE_INFO),
					       sizeof(GUID), 2048},
	[TracePeriodicCaptureStateInfo] = {NOWHERE, HERE, false, sizeof(TRACE_PERIODIC_CAPTURE_STATE_INFO), 0, 0},
	[TraceProviderBinaryTracking] = {DAEMON, NOWHERE, false, sizeof(BOOLEAN), 0, 0},
	[TraceMaxLoggersQuery] = {NOWHERE, HERE, false, 4, 0, 0},
	[TraceLbrConfigurationInfo] = {KERNEL, NOWHERE, false, 4, 0, 0},
	[TraceLbrEventListInfo] = {KERNEL, NOWHERE, true, 0, 4, 0},
	[TraceMaxPmcCounterQuery] = {NOWHERE, HERE, false, 4, 0, 0},
	[TraceStreamCount] = {NOWHERE, DAEMON, false, 4, 0, 0},
	[TraceStackCachingInfo] = {DAEMON, NOWHERE, false, sizeof(TRACE_STACK_CACHING_INFO), 0, 0},
	[TracePmcCounterOwners] = {NOWHERE, DAEMON, false, 0, 1, 0},
	[TraceUnifiedStackCachingInfo] = {DAEMON, NOWHERE, false, sizeof(TRACE_STACK_CACHING_INFO), 0, 0},
	[TracePmcSessionInformation] = {NOWHERE, DAEMON, false, 0, 1, 0},
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

static uint32_t not_recorded(void)
{
	return control_refuse(ERROR_NOT_SUPPORTED,
			      "last branch records and registers are not recorded by this version");
}

/* Not of a session. */
static bool of_machine(TRACE_INFO_CLASS c)
{
	return c == TraceSampledProfileIntervalInfo || c == TraceProfileSourceConfigInfo ||
	       c == TracePmcCounterOwners || c == TracePmcSessionInformation;
}

ULONG WINAPI TraceSetInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass, PVOID TraceInformation,
				 ULONG InformationLength)
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
		return not_recorded();
	}
	bool machine = of_machine(InformationClass);
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

static uint32_t query_daemon(TRACEHANDLE id, TRACE_INFO_CLASS class, void *out, ULONG size, PULONG ret_len)
{
	uint8_t req[96];
	struct proto_writer w;
	bool machine = of_machine(class);
	if (id == 0 && !machine) {
		return ERROR_INVALID_PARAMETER;
	}
	proto_begin(&w, req, sizeof req, PROTO_QUERY_INFO, 1);
	proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	proto_put_u32(&w, PROTO_TAG_INFO_CLASS, class);
	if (class == TraceSampledProfileIntervalInfo && out) { /* of which source */
		proto_put(&w, PROTO_TAG_DATA, out, sizeof(TRACE_PROFILE_INTERVAL));
	}
	return control_data(&w, machine, out, size, ret_len, ERROR_BAD_LENGTH);
}

/* What samples can be taken by, and counted: a chain, each entry a multiple of 8 bytes. */
static uint32_t profile_sources(void *out, ULONG size, PULONG ret_len)
{
	struct pmc_source *all = calloc(PMC_SOURCES_MAX, sizeof *all);
	const uint32_t fixed = offsetof(PROFILE_SOURCE_INFO, Description);
	uint8_t *p = out;
	ULONG need = 0;
	size_t n = all ? BASE_MIN(pmc_list(all, PMC_SOURCES_MAX), (size_t)PMC_SOURCES_MAX) : 0;
	for (size_t i = 0; i < n; i++) {
		need += (ULONG)BASE_ALIGN8(fixed + 2 * (strlen(all[i].name) + 1));
	}
	if (ret_len) {
		*ret_len = need;
	}
	for (size_t i = 0; i < n && size >= need; i++) {
		PROFILE_SOURCE_INFO *s = (void *)p;
		size_t units = strlen(all[i].name) + 1, bytes = BASE_ALIGN8(fixed + 2 * units);
		memset(s, 0, bytes);
		s->NextEntryOffset = i + 1 < n ? (ULONG)bytes : 0;
		s->Source = all[i].id;
		s->MinInterval = all[i].least;
		s->MaxInterval = all[i].most;
		for (size_t c = 0; c < units; c++) { /* ASCII, all of them */
			le16_put(p + fixed + 2 * c, (uint8_t)all[i].name[c]);
		}
		p += bytes;
	}
	uint32_t code = !all ? ERROR_NOT_ENOUGH_MEMORY : size < need ? ERROR_BAD_LENGTH : ERROR_SUCCESS;
	free(all);
	return code;
}

ULONG WINAPI TraceQueryInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass, PVOID TraceInformation,
				   ULONG InformationLength, PULONG ReturnLength)
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
		return query_daemon(SessionHandle, InformationClass, TraceInformation, InformationLength,
				    ReturnLength ? ReturnLength : &need);
	}
	switch ((int)InformationClass) {
	case TraceProfileSourceListInfo: return profile_sources(TraceInformation, InformationLength, ReturnLength);
	case TraceMaxLoggersQuery: v.number = MAX_LOGGERS; break;
	case TraceMaxPmcCounterQuery: v.number = pmc_most(); break;
	case TraceVersionInfo: v.version.EtwTraceProcessingVersion = 1; break;
	default: /* limits: the shortest period, the most providers */
		v.capture.CaptureStateFrequencyInSeconds = 1;
		v.capture.ProviderCount = 2048;
		break;
	}
	memcpy(TraceInformation, &v, k->least);
	return ERROR_SUCCESS;
}

ULONG WINAPI TraceConfigureLastBranchRecord(CONTROLTRACE_ID TraceId, TRACE_LBR_CONFIGURATION LbrConfiguration,
					    const CLASSIC_EVENT_ID *Events, ULONG EventCount)
{
	if (TraceId == 0 || (Events == NULL && EventCount != 0)) {
		return ERROR_INVALID_PARAMETER;
	}
	return not_recorded();
}
