/* SPDX-License-Identifier: MIT
 * Who is registered and who is enabled.
 */
#include "control/control.h"

#include <stdlib.h>

#define ENABLE_INFO_BYTES 32u
_Static_assert(sizeof(TRACE_ENABLE_INFO) == ENABLE_INFO_BYTES, "travels as it is");

/* ---- EnumerateTraceGuidsEx --------------------------------------------------------------------- */

/* The result grows here while items arrive; what does not fit the caller is only counted. */
static bool add_guids(void *ctx, const struct proto_message *m)
{
	struct strbuf *out = ctx;
	const uint8_t *p;
	uint16_t tag;
	size_t n;
	for (size_t at = 0; proto_next(m, &at, &tag, &p, &n);) {
		if (tag == PROTO_TAG_GUID && n == 16) {
			strbuf_add(out, p, 16);
		}
	}
	return true;
}

static bool add_instance(void *ctx, const struct proto_message *m)
{
	struct strbuf *out = ctx;
	uint32_t pid = 0, flags = 0, enables = 0;
	const uint8_t *p;
	uint16_t tag;
	size_t n;
	proto_get_u32(m, PROTO_TAG_PID, &pid);
	proto_get_u32(m, PROTO_TAG_REG_FLAGS, &flags);
	size_t start = out->len;
	TRACE_PROVIDER_INSTANCE_INFO inst = {
		.Pid = pid,
		.Flags = ((flags & PROTO_REG_CLASSIC) ? TRACE_PROVIDER_FLAG_LEGACY : 0) |
			 ((flags & PROTO_REG_PRE_ENABLE) ? TRACE_PROVIDER_FLAG_PRE_ENABLE : 0),
	};
	strbuf_add(out, &inst, sizeof inst);
	for (size_t at = 0; proto_next(m, &at, &tag, &p, &n);) {
		if (tag == PROTO_TAG_ENABLE_INFO && n == ENABLE_INFO_BYTES) {
			strbuf_add(out, p, n);
			enables++;
		}
	}
	if (!out->failed) {
		/* NextOffset is patched to 0 for the last one by the caller. */
		inst.EnableCount = enables;
		inst.NextOffset = (ULONG)(out->len - start);
		memcpy(out->s + start, &inst, sizeof inst);
	}
	return true;
}

static uint32_t ask(uint16_t type, const struct guid *guid, bool own_process, uint16_t item, control_item_fn each,
		    struct strbuf *out, uint32_t *ret_count)
{
	uint8_t req[64];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, type, 1);
	if (guid) {
		proto_put(&w, PROTO_TAG_GUID, guid->b, 16);
	}
	if (own_process) {
		proto_put_u32(&w, PROTO_TAG_PID, (uint32_t)getpid());
	}
	*ret_count = 0;
	return control_list(req, proto_end(&w), item, ret_count, each, out);
}

static uint32_t give(struct strbuf *b, void *out, ULONG out_size, ULONG *ret_len)
{
	uint32_t code = ERROR_SUCCESS;
	if (b->failed) {
		code = ERROR_NOT_ENOUGH_MEMORY;
	} else {
		*ret_len = (ULONG)b->len;
		if (out_size < b->len) {
			code = ERROR_INSUFFICIENT_BUFFER;
		} else if (b->len > 0) {
			memcpy(out, b->s, b->len);
		}
	}
	strbuf_finish(b);
	return code;
}

static uint32_t guid_info(const GUID *in, ULONG in_size, void *out, ULONG out_size, ULONG *ret_len)
{
	struct guid guid;
	struct strbuf b = {0};
	TRACE_GUID_INFO info = {0};
	uint32_t count;
	if (in == NULL || in_size != sizeof guid) {
		return ERROR_INVALID_PARAMETER;
	}
	memcpy(guid.b, in, 16);
	strbuf_add(&b, &info, sizeof info);
	uint32_t code = ask(PROTO_GUID_INFO, &guid, false, PROTO_GUID_INFO_ITEM, add_instance, &b, &count);
	if (code == ERROR_WMI_INSTANCE_NOT_FOUND || (code == ERROR_SUCCESS && count == 0)) {
		code = ERROR_WMI_GUID_NOT_FOUND;
	}
	if (code != ERROR_SUCCESS || b.failed) {
		strbuf_finish(&b);
		return code != ERROR_SUCCESS ? code : ERROR_NOT_ENOUGH_MEMORY;
	}
	info.InstanceCount = count;
	memcpy(b.s, &info, sizeof info);
	size_t at = sizeof info;
	for (;;) {
		TRACE_PROVIDER_INSTANCE_INFO inst;
		memcpy(&inst, b.s + at, sizeof inst);
		if (at + inst.NextOffset >= b.len) {
			inst.NextOffset = 0;
			memcpy(b.s + at, &inst, sizeof inst);
			break;
		}
		at += inst.NextOffset;
	}
	return give(&b, out, out_size, ret_len);
}

static uint32_t group_query(TRACE_QUERY_INFO_CLASS class, const void *in, ULONG in_size, void *out, ULONG out_size,
			    ULONG *ret_len)
{
	uint8_t req[128];
	struct proto_writer w;
	proto_begin(&w, req, sizeof req, PROTO_QUERY_INFO, 1);
	proto_put_u32(&w, PROTO_TAG_INFO_CLASS, class);
	if (class == TraceGroupQueryInfo) {
		if (in == NULL || in_size != sizeof(GUID)) {
			return ERROR_INVALID_PARAMETER;
		}
		proto_put(&w, PROTO_TAG_GUID, in, sizeof(GUID));
	}
	uint32_t code = control_data(&w, false, out, out_size, ret_len, ERROR_INSUFFICIENT_BUFFER);
	if (code == ERROR_WMI_INSTANCE_NOT_FOUND) { /* no daemon, so no groups */
		*ret_len = 0;
		return class == TraceGroupQueryList ? ERROR_SUCCESS : ERROR_WMI_GUID_NOT_FOUND;
	}
	return code;
}

ULONG WINAPI EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS TraceQueryInfoClass, PVOID InBuffer, ULONG InBufferSize,
				   PVOID OutBuffer, ULONG OutBufferSize, PULONG ReturnLength)
{
	struct strbuf b = {0};
	uint32_t count, code;
	ULONG *ret_len = ReturnLength;
	if (ret_len == NULL || (OutBuffer == NULL && OutBufferSize != 0)) {
		return ERROR_INVALID_PARAMETER;
	}
	switch ((int)TraceQueryInfoClass) {
	case TraceGuidQueryList:
	case TraceGuidQueryProcess:
		code = ask(PROTO_GUIDS, NULL, TraceQueryInfoClass == TraceGuidQueryProcess, PROTO_GUIDS_ITEM, add_guids,
			   &b, &count);
		if (code != ERROR_SUCCESS && code != ERROR_WMI_INSTANCE_NOT_FOUND) {
			strbuf_finish(&b);
			return code;
		}
		return give(&b, OutBuffer, OutBufferSize, ret_len);
	case TraceGuidQueryInfo: return guid_info(InBuffer, InBufferSize, OutBuffer, OutBufferSize, ret_len);
	case TraceMaxLoggersQuery:
		code = TraceQueryInformation(0, TraceMaxLoggersQuery, OutBuffer, OutBufferSize, ret_len);
		return code == ERROR_BAD_LENGTH ? ERROR_INSUFFICIENT_BUFFER : code;
	case TraceGroupQueryList:
	case TraceGroupQueryInfo:
		return group_query(TraceQueryInfoClass, InBuffer, InBufferSize, OutBuffer, OutBufferSize, ret_len);
	default: return ERROR_INVALID_PARAMETER;
	}
}

/* ---- EnumerateTraceGuids (old) ------------------------------------------------------------------ */

static void properties_of(const struct guid *g, TRACE_GUID_PROPERTIES *ret)
{
	struct strbuf b = {0};
	uint32_t count;
	memset(ret, 0, sizeof *ret);
	memcpy(&ret->Guid, g->b, 16);
	if (ask(PROTO_GUID_INFO, g, false, PROTO_GUID_INFO_ITEM, add_instance, &b, &count) == ERROR_SUCCESS &&
	    !b.failed && b.len >= sizeof(TRACE_PROVIDER_INSTANCE_INFO)) {
		TRACE_PROVIDER_INSTANCE_INFO inst;
		memcpy(&inst, b.s, sizeof inst);
		if (inst.EnableCount > 0) {
			TRACE_ENABLE_INFO e;
			memcpy(&e, b.s + sizeof inst + (inst.EnableCount - 1) * sizeof e, sizeof e);
			ret->LoggerId = e.LoggerId;
			ret->EnableLevel = e.Level;
			ret->EnableFlags = (ULONG)e.MatchAnyKeyword;
			ret->IsEnable = TRUE;
		}
	}
	strbuf_finish(&b);
}

ULONG WINAPI EnumerateTraceGuids(PTRACE_GUID_PROPERTIES *GuidPropertiesArray, ULONG PropertyArrayCount,
				 PULONG GuidCount)
{
	if (GuidPropertiesArray == NULL || PropertyArrayCount == 0 || GuidCount == NULL) {
		return ERROR_INVALID_PARAMETER;
	}
	for (ULONG i = 0; i < PropertyArrayCount; i++) {
		if (GuidPropertiesArray[i] == NULL) {
			return ERROR_INVALID_PARAMETER;
		}
	}
	struct strbuf b = {0};
	uint32_t count;
	uint32_t code = ask(PROTO_GUIDS, NULL, false, PROTO_GUIDS_ITEM, add_guids, &b, &count);
	if (code != ERROR_SUCCESS && code != ERROR_WMI_INSTANCE_NOT_FOUND) {
		strbuf_finish(&b);
		return code;
	}
	ULONG total = (ULONG)(b.len / 16);
	for (ULONG i = 0; i < total && i < PropertyArrayCount; i++) {
		struct guid g;
		memcpy(g.b, b.s + 16 * (size_t)i, 16);
		properties_of(&g, GuidPropertiesArray[i]);
	}
	strbuf_finish(&b);
	*GuidCount = total;
	return total > PropertyArrayCount ? ERROR_MORE_DATA : ERROR_SUCCESS;
}
