/* SPDX-License-Identifier: MIT
 * EnableTrace, EnableTraceEx, EnableTraceEx2.
 */
#include "control/control.h"
#include "control/control_private.h"
#include "filter/filter_event_id.h"
#include "inproc/inproc.h"

#include <stdlib.h>
#include <unistd.h>

/* Largest payload of each filter type, as documented; 0 = not a type a caller may pass. */
static uint32_t filter_limit(ULONG type)
{
	switch (type) {
	case EVENT_FILTER_TYPE_PAYLOAD: return MAX_EVENT_FILTER_PAYLOAD_SIZE;
	case EVENT_FILTER_TYPE_EVENT_NAME:
	case EVENT_FILTER_TYPE_STACKWALK_NAME: return MAX_EVENT_FILTER_EVENT_NAME_SIZE;
	case EVENT_FILTER_TYPE_SCHEMATIZED:
	case EVENT_FILTER_TYPE_TRACEHANDLE:
	case EVENT_FILTER_TYPE_PID:
	case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
	case EVENT_FILTER_TYPE_PACKAGE_ID:
	case EVENT_FILTER_TYPE_PACKAGE_APP_ID:
	case EVENT_FILTER_TYPE_EVENT_ID:
	case EVENT_FILTER_TYPE_STACKWALK:
	case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
	case EVENT_FILTER_TYPE_CONTAINER: return MAX_EVENT_FILTER_DATA_SIZE;
	default: return 0;
	}
}

/* What must hold inside one filter before it travels; the daemon looks again. */
static bool filter_well_formed(const EVENT_FILTER_DESCRIPTOR *f)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)f->Ptr;
	switch (f->Type) {
	case EVENT_FILTER_TYPE_PID: return f->Size % 4 == 0 && f->Size / 4 <= MAX_EVENT_FILTER_PID_COUNT;
	case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
	case EVENT_FILTER_TYPE_CONTAINER: return f->Size % 2 == 0;
	case EVENT_FILTER_TYPE_EVENT_ID:
	case EVENT_FILTER_TYPE_STACKWALK: {
		if (f->Size < 4) {
			return false;
		}
		uint16_t n = le16_get(p + 2);
		return n <= MAX_EVENT_FILTER_EVENT_ID_COUNT && f->Size >= 4u + 2u * n;
	}
	case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW: return f->Size >= sizeof(EVENT_FILTER_LEVEL_KW);
	default: return true;
	}
}

uint32_t control_put_filters(struct proto_writer *w, const EVENT_FILTER_DESCRIPTOR *f, ULONG count)
{
	if (count > MAX_EVENT_FILTERS_COUNT || (count > 0 && f == NULL)) {
		return control_refuse(ERROR_INVALID_PARAMETER, "an enable has at most 13 filters");
	}
	uint8_t *blob = malloc(4 + MAX_EVENT_FILTER_PAYLOAD_SIZE);
	if (blob == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint32_t code = ERROR_SUCCESS;
	for (ULONG i = 0; i < count && code == ERROR_SUCCESS; i++) {
		if (f[i].Type == EVENT_FILTER_TYPE_NONE) {
			continue;
		}
		uint32_t limit = filter_limit(f[i].Type);
		if (limit == 0 || f[i].Size > limit || (f[i].Size > 0 && f[i].Ptr == 0) || !filter_well_formed(&f[i])) {
			code = control_refuse(ERROR_INVALID_PARAMETER, limit == 0
									       ? "a filter has a type that is not known"
									       : "a filter is malformed or too large");
		}
		for (ULONG k = 0; k < i; k++) {
			if (f[k].Type == f[i].Type) {
				code = control_refuse(ERROR_INVALID_PARAMETER, "a filter type is given twice");
			}
		}
		if (code == ERROR_SUCCESS) {
			le32_put(blob, f[i].Type);
			if (f[i].Size > 0) {
				memcpy(blob + 4, (const void *)(uintptr_t)f[i].Ptr, f[i].Size);
			}
			proto_put(w, PROTO_TAG_FILTER, blob, 4 + f[i].Size);
		}
	}
	free(blob);
	return code;
}

static bool exe_named(const EVENT_FILTER_DESCRIPTOR *f)
{
	char list[MAX_EVENT_FILTER_DATA_SIZE * 2], path[4096];
	size_t units = f->Size / 2;
	const uint8_t *p = (const uint8_t *)(uintptr_t)f->Ptr;
	while (units > 0 && le16_get(p + 2 * (units - 1)) == 0) {
		units--;
	}
	long n = utf16_to_utf8(p, units, list, sizeof list);
	ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n < 0 || (size_t)n >= sizeof list || len <= 0) {
		return false;
	}
	path[len] = 0;
	const char *slash = strrchr(path, '/');
	return filter_exe_listed(list, slash ? slash + 1 : path);
}

/* Filters of a private session that choose processes: is it this one? What they say about single events
 * is evaluated in src/inproc. */
uint32_t control_private_scope(const EVENT_FILTER_DESCRIPTOR *f, ULONG count, bool *ret_here)
{
	bool here = true;
	for (ULONG i = 0; i < count; i++) {
		bool found = true;
		switch (f[i].Type) {
		case EVENT_FILTER_TYPE_PID:
			found = false;
			for (ULONG k = 0; k < f[i].Size / 4; k++) {
				found |= le32_get((const uint8_t *)(uintptr_t)f[i].Ptr + 4 * k) == (uint32_t)getpid();
			}
			break;
		case EVENT_FILTER_TYPE_EXECUTABLE_NAME: found = exe_named(&f[i]); break;
		case EVENT_FILTER_TYPE_PACKAGE_ID:
		case EVENT_FILTER_TYPE_PACKAGE_APP_ID:
			found = false; /* no process of this system has a package */
			break;
		case EVENT_FILTER_TYPE_CONTAINER:
			return control_refuse(ERROR_NOT_SUPPORTED,
					      "a private session does not filter by container; use an "
					      "ordinary session");
		default: break;
		}
		here = here && found;
	}
	*ret_here = here;
	return ERROR_SUCCESS;
}

/* The same without a daemon: of this process, or nothing. The filters are checked. */
static uint32_t private_enable(uint64_t id, const struct guid *guid, ULONG control_code, UCHAR level, uint64_t any,
			       uint64_t all, ULONG properties, const EVENT_FILTER_DESCRIPTOR *f, ULONG count)
{
	bool here = true;
	uint32_t code = ERROR_SUCCESS;
	struct inproc_filter filter[MAX_EVENT_FILTERS_COUNT];
	uint32_t n = 0;
	if (control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		code = control_private_scope(f, count, &here);
	}
	if (code == ERROR_SUCCESS && !here) {
		/* Not this process: what it had enabled before ends. */
		return inproc_enable(id, guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0);
	}
	for (ULONG i = 0; i < count && i < BASE_ARRAY_LEN(filter); i++) {
		if (f[i].Type != EVENT_FILTER_TYPE_NONE) {
			filter[n++] = (struct inproc_filter){f[i].Type, f[i].Size, (const void *)(uintptr_t)f[i].Ptr};
		}
	}
	return code != ERROR_SUCCESS
		       ? code
		       : inproc_enable_filtered(id, guid, control_code, level, any, all, properties, filter, n);
}

static uint32_t enable(uint64_t id, const GUID *provider, ULONG control_code, UCHAR level, uint64_t any, uint64_t all,
		       ULONG timeout, const GUID *source, ULONG properties, const EVENT_FILTER_DESCRIPTOR *filters,
		       ULONG filter_count)
{
	struct guid guid, source_id = {{0}};
	err_text_clear();
	if (id == 0 || id == UINT64_MAX || provider == NULL || control_code > EVENT_CONTROL_CODE_CAPTURE_STATE) {
		return control_refuse(ERROR_INVALID_PARAMETER,
				      "a session, a provider and a known control code are needed");
	}
	memcpy(guid.b, provider, 16);
	if (source) {
		memcpy(source_id.b, source, 16);
	}
	size_t cap = PROTO_MESSAGE_MAX;
	uint8_t *req = malloc(cap);
	struct control_reply *reply = malloc(sizeof *reply);
	uint32_t code = req && reply ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
	if (code == ERROR_SUCCESS) {
		struct proto_writer w;
		proto_begin(&w, req, cap, PROTO_ENABLE, 1);
		proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
		proto_put(&w, PROTO_TAG_GUID, guid.b, 16);
		proto_put_u32(&w, PROTO_TAG_CODE, control_code);
		proto_put_u32(&w, PROTO_TAG_LEVEL, level);
		proto_put_u64(&w, PROTO_TAG_ANY, any);
		proto_put_u64(&w, PROTO_TAG_ALL, all);
		proto_put_u32(&w, PROTO_TAG_TIMEOUT_MS, timeout);
		proto_put_u32(&w, PROTO_TAG_PROPERTIES, properties);
		proto_put(&w, PROTO_TAG_SOURCE_ID, source_id.b, 16);
		code = control_put_filters(&w, filters, filter_count);
		if (code == ERROR_SUCCESS && control_private_knows(id)) {
			code = private_enable(id, &guid, control_code, level, any, all, properties, filters,
					      filter_count);
		} else if (code == ERROR_SUCCESS) {
			/* The daemon keeps the caller's timeout; ours only guards against a dead one. */
			int wait = timeout > 3600u * 1000u ? -1 : (int)timeout + 30000;
			code = control_call(req, proto_end(&w), false, wait, reply);
		}
	}
	free(req);
	free(reply);
	return code;
}

ULONG WINAPI EnableTraceEx2(TRACEHANDLE TraceHandle, LPCGUID ProviderId, ULONG ControlCode, UCHAR Level,
			    ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword, ULONG Timeout,
			    PENABLE_TRACE_PARAMETERS EnableParameters)
{
	const ENABLE_TRACE_PARAMETERS *p = EnableParameters;
	if (p == NULL) {
		return enable(TraceHandle, ProviderId, ControlCode, Level, MatchAnyKeyword, MatchAllKeyword, Timeout,
			      NULL, 0, NULL, 0);
	}
	if ((p->Version != ENABLE_TRACE_PARAMETERS_VERSION && p->Version != ENABLE_TRACE_PARAMETERS_VERSION_2) ||
	    p->ControlFlags != 0) {
		return control_refuse(ERROR_INVALID_PARAMETER,
				      "ENABLE_TRACE_PARAMETERS needs Version 1 or 2 and ControlFlags 0");
	}
	/* A version-1 block has no FilterDescCount member: it must not be read. */
	ULONG count =
		p->Version == ENABLE_TRACE_PARAMETERS_VERSION_2 ? p->FilterDescCount : p->EnableFilterDesc != NULL;
	return enable(TraceHandle, ProviderId, ControlCode, Level, MatchAnyKeyword, MatchAllKeyword, Timeout,
		      &p->SourceId, p->EnableProperty, p->EnableFilterDesc, count);
}

ULONG WINAPI EnableTraceEx(LPCGUID ProviderId, LPCGUID SourceId, TRACEHANDLE TraceHandle, ULONG IsEnabled, UCHAR Level,
			   ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword, ULONG EnableProperty,
			   PEVENT_FILTER_DESCRIPTOR EnableFilterDesc)
{
	return enable(TraceHandle, ProviderId, IsEnabled, Level, MatchAnyKeyword, MatchAllKeyword, 0, SourceId,
		      EnableProperty, EnableFilterDesc, EnableFilterDesc != NULL);
}

ULONG WINAPI EnableTrace(ULONG Enable, ULONG EnableFlag, ULONG EnableLevel, LPCGUID ControlGuid,
			 TRACEHANDLE TraceHandle)
{
	if (EnableLevel > 255) {
		return ERROR_INVALID_PARAMETER;
	}
	return enable(TraceHandle, ControlGuid, Enable, (UCHAR)EnableLevel, EnableFlag, 0, 0, NULL, 0, NULL, 0);
}
