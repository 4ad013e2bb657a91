/* SPDX-License-Identifier: MIT
 * StartTrace, ControlTrace and its wrappers, QueryAllTraces.
 */
#include "base/sized.h"
#include "control/control.h"
#include "control/control_private.h"
#include "format/kernel_mask.h"
#include "session/session_modes.h"

#include <openetw/openetw.h>

#include <stdlib.h>

#define SESSIONS_MAX 1024u /* as TraceMaxLoggersQuery says */

/* Session names are compared without regard to case. NULL: an ordinary name. */
static const struct guid *kernel_guid_of(const uint16_t *s)
{
	static const uint16_t nt[] = u"" KERNEL_LOGGER_NAMEA, circular[] = u"Circular Kernel Context Logger";
	return utf16_equal_nocase(s, nt)         ? &kernel_trace_control_guid
	       : utf16_equal_nocase(s, circular) ? &kernel_circular_guid
						 : NULL;
}

/* ---- EnableFlags that say where more of them stand ------------------------------------------- */

#define EXT_ITEMS 0xFFu /* instead of a length: a header and items follow */
#define EXT_MASKS 1u
#define EXT_PIDS  2u

struct extension {
	struct kernel_mask mask;
	uint32_t pid[8];
	uint32_t pids;
	bool has_mask;
};

/* {u16 Length, u16 Items}, items {u16 Offset to the next, u16 Type, u32[]}; lengths in u32s. */
static bool parse_items(const uint8_t *p, size_t n, struct extension *ret)
{
	if (n < 4 || le16_get(p) * 4u > n) {
		return false;
	}
	n = le16_get(p) * (size_t)4;
	size_t at = 4;
	for (uint32_t items = le16_get(p + 2); items > 0; items--) {
		size_t size = at + 4 <= n ? le16_get(p + at) * (size_t)4 : 0;
		if (size < 4 || size > n - at) {
			return false;
		}
		uint16_t type = le16_get(p + at + 2);
		if (type == EXT_MASKS) {
			memcpy(&ret->mask, p + at + 4, BASE_MIN(size - 4, sizeof ret->mask));
			ret->has_mask = true;
		} else if (type == EXT_PIDS) {
			ret->pids = (uint32_t)BASE_MIN((size - 4) / 4, BASE_ARRAY_LEN(ret->pid));
			memcpy(ret->pid, p + at + 4, 4 * (size_t)ret->pids);
		}
		at += size;
	}
	return true;
}

static bool parse_extension(const EVENT_TRACE_PROPERTIES *p, struct extension *ret)
{
	uint32_t f = p->EnableFlags, offset = f & 0xFFFF, length = f >> 16 & 0xFF;
	*ret = (struct extension){.has_mask = false};
	if (!(f & EVENT_TRACE_FLAG_EXTENSION)) {
		return true;
	}
	if (offset < sizeof *p || offset >= p->Wnode.BufferSize || offset % 4 != 0) {
		return false;
	}
	const uint8_t *at = (const uint8_t *)p + offset;
	size_t left = p->Wnode.BufferSize - offset;
	if (length == EXT_ITEMS) {
		return parse_items(at, left, ret);
	}
	if (length * 4 > left) {
		return false;
	}
	memcpy(&ret->mask, at, BASE_MIN(length * (size_t)4, sizeof ret->mask));
	ret->has_mask = true;
	return true;
}

static void put_extension(struct proto_writer *w, const struct extension *e)
{
	if (e->has_mask) {
		proto_put(w, PROTO_TAG_KERNEL_MASK, &e->mask, sizeof e->mask);
	}
	if (e->pids) {
		proto_put(w, PROTO_TAG_KERNEL_PIDS, e->pid, 4 * (size_t)e->pids);
	}
}

void control_session_from_props(const EVENT_TRACE_PROPERTIES *p, struct proto_session *s)
{
	memcpy(s->props.guid.b, &p->Wnode.Guid, 16);
	s->props.clock = p->Wnode.ClientContext;
	s->props.buffer_kb = p->BufferSize;
	s->props.minimum_buffers = p->MinimumBuffers;
	s->props.maximum_buffers = p->MaximumBuffers;
	s->props.maximum_file_size = p->MaximumFileSize;
	s->props.mode = p->LogFileMode;
	s->props.flush_timer = p->FlushTimer;
	s->props.enable_flags = p->EnableFlags & EVENT_TRACE_FLAG_EXTENSION ? 0 : p->EnableFlags;
	s->props.flush_threshold = (uint32_t)p->FlushThreshold;
}

static uint32_t start(CONTROLTRACE_ID *ret_id, const void *name, bool wide, EVENT_TRACE_PROPERTIES *p)
{
	err_text_clear();
	if (ret_id == NULL || name == NULL || p == NULL) {
		return control_refuse(ERROR_INVALID_PARAMETER, "the handle, the name and the properties must be given");
	}
	*ret_id = 0;
	struct control_block b = {p, wide, false};
	uint16_t session_name[CONTROL_NAME_MAX + 1];
	uint16_t file[4096];
	struct proto_session s = {0};
	uint32_t code = ERROR_SUCCESS;
	if (p->Wnode.BufferSize < sizeof *p) {
		code = control_refuse(ERROR_BAD_LENGTH, "Wnode.BufferSize is smaller than the properties structure");
	}
	if (code == ERROR_SUCCESS) {
		code = control_name(name, wide, session_name, &s.name_len);
	}
	if (code == ERROR_SUCCESS) {
		size_t units = wide ? s.name_len : strlen(name);
		code = control_block_check(&b, true, units);
	}
	if (code != ERROR_SUCCESS) {
		return code;
	}
	control_session_from_props(p, &s);
	const struct guid *kernel_guid = kernel_guid_of(session_name);
	struct extension ext;
	if (!kernel_guid && !(p->LogFileMode & EVENT_TRACE_SYSTEM_LOGGER_MODE) &&
	    (memcmp(&p->Wnode.Guid, &kernel_trace_control_guid, 16) == 0 ||
	     memcmp(&p->Wnode.Guid, &kernel_circular_guid, 16) == 0)) {
		return control_refuse(ERROR_INVALID_PARAMETER,
				      "SystemTraceControlGuid belongs to the session '" KERNEL_LOGGER_NAMEA "'");
	}
	if (kernel_guid && (p->LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE)) {
		return control_refuse(ERROR_INVALID_PARAMETER, "a private session has no kernel events");
	}
	if (!parse_extension(p, &ext)) {
		return control_refuse(ERROR_INVALID_PARAMETER,
				      "EnableFlags point to an extension that does not fit the block");
	}
	code = control_block_file(&b, file, BASE_ARRAY_LEN(file), &s.log_file_len);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	const char *why;
	code = session_modes_check(&s.props, session_file_kind(file, s.log_file_len), SESSION_RUNNER_ANY, &why);
	if (code != ERROR_SUCCESS) {
		return control_refuse(code, why);
	}
	if (kernel_guid) {
		s.props.guid = *kernel_guid;
	}
	s.name = session_name;
	s.log_file = s.log_file_len ? file : NULL;
	bool of_processes = (p->LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
	if (of_processes && control_private_own(&b)) {
		return control_private_start(&b, &s, ret_id);
	}
	uint8_t req[24576];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_START, 1);
	proto_put_session(&w, &s);
	put_extension(&w, &ext);
	code = of_processes ? control_private_put_scope(&w, &b) : (uint32_t)ERROR_SUCCESS;
	if (code != ERROR_SUCCESS) {
		return code;
	}
	struct control_reply *reply = malloc(sizeof *reply);
	if (reply == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	code = control_call(req, proto_end(&w), true, CONTROL_TIMEOUT_MS, reply);
	if (code == ERROR_SUCCESS) {
		struct proto_session got;
		if (proto_get_session(&reply->message, &got)) {
			control_block_fill(&b, &got);
			*ret_id = got.id;
		} else {
			code = ERROR_INVALID_DATA;
		}
	}
	free(reply);
	return code;
}

ULONG WINAPI StartTraceW(PTRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return start(TraceHandle, InstanceName, true, Properties);
}

ULONG WINAPI StartTraceA(PTRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return start(TraceHandle, InstanceName, false, Properties);
}

/* In .data, whose page the loader writes anyway: this is set in every process. */
static control_finish_fn finisher __attribute__((section(".data")));

void control_set_finisher(control_finish_fn fn)
{
	finisher = fn;
}

/* With both, the id says which session is meant. */
static bool name_used(CONTROLTRACE_ID id)
{
	return id == 0 || id == UINT64_MAX;
}

void control_finished(const char *path)
{
	if (finisher && path[0]) {
		finisher(path);
	}
}

/* `ledger` may be NULL. */
static uint32_t control_counted(CONTROLTRACE_ID id, const void *name, bool wide, EVENT_TRACE_PROPERTIES *p,
				ULONG control_code, struct openetw_loss *ledger)
{
	err_text_clear();
	if (p == NULL || control_code > EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME) {
		return control_refuse(ERROR_INVALID_PARAMETER,
				      p ? "no such control code" : "the properties must be given");
	}
	struct control_block b = {p, wide, false};
	uint16_t session_name[CONTROL_NAME_MAX + 1];
	uint16_t file[4096];
	struct proto_session s = {0};
	uint32_t code = control_block_check(&b, false, 0);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	/* A private session may be named by Wnode.Guid alone. */
	if (name == NULL && (id == 0 || id == UINT64_MAX) && !(p->LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE)) {
		return control_refuse(ERROR_INVALID_PARAMETER, "the session must be given by its name or its handle");
	}
	if (name != NULL && name_used(id)) {
		code = control_name(name, wide, session_name, &s.name_len);
		if (code != ERROR_SUCCESS) {
			return code;
		}
		s.name = session_name;
	}
	bool has_file = control_code == EVENT_TRACE_CONTROL_UPDATE || control_code == EVENT_TRACE_CONTROL_FLUSH;
	if (has_file) {
		code = control_block_file(&b, file, BASE_ARRAY_LEN(file), &s.log_file_len);
		if (code != ERROR_SUCCESS) {
			return code;
		}
		s.log_file = s.log_file_len ? file : NULL;
	}
	bool of_processes = (p->LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
	if (control_private_knows(id) || (of_processes && !(id != UINT64_MAX && id >= PROTO_PRIVATE_ID))) {
		file[s.log_file ? s.log_file_len : 0] = 0;
		code = control_private_control(&b, id, s.name, control_code, s.log_file);
		if (code != ERROR_WMI_INSTANCE_NOT_FOUND || (p->LogFileMode & EVENT_TRACE_PRIVATE_IN_PROC)) {
			return code;
		}
	}
	control_session_from_props(p, &s);
	s.id = id;
	struct extension ext = {.has_mask = false};
	if (control_code == EVENT_TRACE_CONTROL_UPDATE) {
		/* Flags of 0 are meant, too: no kernel events any more. */
		s.update_mask = PROTO_UPDATE_MODE | PROTO_UPDATE_FLAGS | (s.log_file ? PROTO_UPDATE_FILE : 0);
		if (!parse_extension(p, &ext)) {
			return ERROR_INVALID_PARAMETER;
		}
	}
	uint8_t req[24576];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_CONTROL, 1);
	proto_put_u32(&w, PROTO_TAG_CONTROL_CODE, control_code);
	if (!name_used(id)) {
		proto_put_u64(&w, PROTO_TAG_SESSION_ID, id);
	}
	proto_put_session(&w, &s);
	put_extension(&w, &ext);
	if (of_processes && (code = control_private_put_scope(&w, &b)) != ERROR_SUCCESS) {
		return code;
	}
	struct control_reply *reply = malloc(sizeof *reply);
	if (reply == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	code = control_call(req, proto_end(&w), false, CONTROL_TIMEOUT_MS, reply);
	char path[4096] = "";
	if (code == ERROR_SUCCESS) {
		struct proto_session got;
		code = proto_get_session(&reply->message, &got) ? control_block_fill(&b, &got) : ERROR_INVALID_DATA;
		if (ledger && code != ERROR_INVALID_DATA) {
			control_loss_of(&got, ledger);
		}
		if (code != ERROR_INVALID_DATA && got.log_file && got.log_file_len &&
		    utf16_to_utf8(got.log_file, got.log_file_len, path, sizeof path) >= (long)sizeof path) {
			path[0] = 0;
		}
		if (code != ERROR_INVALID_DATA &&
		    (got.file_fate == PROTO_FILE_MOVED || got.file_fate == PROTO_FILE_REPLACED)) {
			path[0] = 0; /* what has that name is not this session's */
		}
	}
	free(reply);
	if (control_code == EVENT_TRACE_CONTROL_STOP && (code == ERROR_SUCCESS || code == ERROR_MORE_DATA)) {
		control_finished(path);
	}
	return code;
}

static uint32_t control(CONTROLTRACE_ID id, const void *name, bool wide, EVENT_TRACE_PROPERTIES *p, ULONG control_code)
{
	return control_counted(id, name, wide, p, control_code, NULL);
}

uint32_t openetw_session_stop(uint64_t id, const char *session_name, EVENT_TRACE_PROPERTIES *p,
			      struct openetw_loss *loss)
{
	struct openetw_loss counted = {0};
	if (!SIZED_VALID(loss, overwritten)) {
		return control_refuse(ERROR_INVALID_PARAMETER, "the ledger must be given with its size");
	}
	uint32_t code = control_counted(id, session_name, false, p, EVENT_TRACE_CONTROL_STOP, &counted);
	SIZED_GIVE(loss, &counted);
	return code;
}

ULONG WINAPI ControlTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties,
			   ULONG ControlCode)
{
	return control(TraceHandle, InstanceName, true, Properties, ControlCode);
}

ULONG WINAPI ControlTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties,
			   ULONG ControlCode)
{
	return control(TraceHandle, InstanceName, false, Properties, ControlCode);
}

#define WRAPPER(Name, Code)                                                                                     \
	ULONG WINAPI Name##W(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties) \
	{                                                                                                       \
		return control(TraceHandle, InstanceName, true, Properties, Code);                              \
	}                                                                                                       \
	ULONG WINAPI Name##A(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)  \
	{                                                                                                       \
		return control(TraceHandle, InstanceName, false, Properties, Code);                             \
	}

#undef StopTrace
#undef QueryTrace
#undef UpdateTrace
#undef FlushTrace
WRAPPER(StopTrace, EVENT_TRACE_CONTROL_STOP)
WRAPPER(QueryTrace, EVENT_TRACE_CONTROL_QUERY)
WRAPPER(UpdateTrace, EVENT_TRACE_CONTROL_UPDATE)
WRAPPER(FlushTrace, EVENT_TRACE_CONTROL_FLUSH)

/* ---- QueryAllTraces --------------------------------------------------------------------------- */

struct query_all {
	PEVENT_TRACE_PROPERTIES *array;
	uint32_t count;
	uint32_t at;
	bool wide;
};

static bool query_all_item(void *ctx, const struct proto_message *m)
{
	struct query_all *q = ctx;
	struct proto_session s;
	if (q->at >= q->count || !proto_get_session(m, &s)) {
		return q->at < q->count;
	}
	struct control_block b = {q->array[q->at], q->wide, false};
	control_block_fill(&b, &s); /* a name without room is not an error here */
	q->at++;
	return true;
}

static uint32_t query_all(PEVENT_TRACE_PROPERTIES *array, ULONG count, PULONG ret_count, bool wide)
{
	if (array == NULL || count == 0 || count > SESSIONS_MAX || ret_count == NULL) {
		return ERROR_INVALID_PARAMETER;
	}
	for (ULONG i = 0; i < count; i++) {
		struct control_block b = {array[i], wide, false};
		uint32_t bad = b.p ? control_block_check(&b, false, 0) : ERROR_INVALID_PARAMETER;
		if (bad != ERROR_SUCCESS) {
			return bad;
		}
	}
	uint8_t req[64];
	struct proto_writer w;
	struct query_all q = {array, count, 0, wide};
	uint32_t total = 0;
	proto_begin(&w, req, sizeof req, PROTO_LIST, 1);
	uint32_t code = control_list(req, proto_end(&w), PROTO_LIST_ITEM, &total, query_all_item, &q);
	if (code == ERROR_WMI_INSTANCE_NOT_FOUND) { /* no daemon, no sessions */
		*ret_count = 0;
		return ERROR_SUCCESS;
	}
	if (code != ERROR_SUCCESS) {
		return code;
	}
	*ret_count = total;
	return total > count ? ERROR_MORE_DATA : ERROR_SUCCESS;
}

ULONG WINAPI QueryAllTracesW(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount, PULONG LoggerCount)
{
	return query_all(PropertyArray, PropertyArrayCount, LoggerCount, true);
}

ULONG WINAPI QueryAllTracesA(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount, PULONG LoggerCount)
{
	return query_all(PropertyArray, PropertyArrayCount, LoggerCount, false);
}
