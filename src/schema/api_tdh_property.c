/* SPDX-License-Identifier: MIT
 *
 * TdhGetPropertySize, TdhGetProperty.
 */
#include "schema/schema_tdh.h"

/* Windows takes two (struct, member); TraceLogging structs nest, so deeper paths are welcome. */
#define STEPS_MAX (SCHEMA_DEPTH_MAX + 1)

static ULONG find_property(PEVENT_RECORD r, ULONG context_count, PTDH_CONTEXT contexts, ULONG count,
			   PPROPERTY_DATA_DESCRIPTOR path, const uint8_t **ret_data, uint32_t *ret_bytes)
{
	if (!r || !path || count == 0 || count > STEPS_MAX) {
		return ERROR_INVALID_PARAMETER;
	}
	for (ULONG i = 0; i < count; i++) {
		if (!path[i].PropertyName) {
			return ERROR_INVALID_PARAMETER;
		}
	}
	struct schema_tdh_event t;
	ULONG status = schema_tdh_find(r, context_count, contexts, &t);
	if (status != ERROR_SUCCESS) {
		return status;
	}
	struct schema_step steps[STEPS_MAX];
	struct openetw_text names = {0};
	size_t at[STEPS_MAX + 1];
	for (ULONG i = 0; i < count; i++) {
		at[i] = names.length;
		schema_tdh_utf8((const void *)(uintptr_t)path[i].PropertyName, &names);
	}
	at[count] = names.length;
	int err = names.failed ? -ENOMEM : 0;
	for (ULONG i = 0; i < count && err == 0; i++) {
		/* A lone struct of a scalar kind is addressed with 0 or with "all". */
		steps[i] = (struct schema_step){names.data + at[i], at[i + 1] - at[i], path[i].ArrayIndex};
	}
	if (err == 0) {
		struct schema_payload p = {t.event, t.record.payload, t.record.payload_bytes, t.pointer_size, NULL};
		err = schema_walk_find(&p, steps, (unsigned)count, ret_data, ret_bytes);
	}
	openetw_text_free(&names);
	schema_event_destroy(t.owned);
	switch (err) {
	case 0: return ERROR_SUCCESS;
	case -ENOENT: return ERROR_NOT_FOUND;
	case -EBADMSG: return ERROR_EVT_INVALID_EVENT_DATA;
	default: return win32_from_errno(err);
	}
}

/* A WPP message has properties of its own besides its arguments. */
static ULONG message_property(PEVENT_RECORD r, ULONG context_count, PTDH_CONTEXT contexts,
			      PPROPERTY_DATA_DESCRIPTOR name, void *buffer, ULONG *size)
{
	struct schema_tdh_event t;
	struct openetw_text text = {0};
	ULONG status = schema_tdh_find(r, context_count, contexts, &t);
	if (status == ERROR_SUCCESS) {
		struct schema_payload p = {t.event, t.record.payload, t.record.payload_bytes, t.pointer_size, NULL,
					   NULL};
		schema_tdh_utf8((const void *)(uintptr_t)name->PropertyName, &text);
		status = text.failed ? ERROR_OUTOFMEMORY
				     : schema_tdh_message_property(text.data ? text.data : "", r, &p, buffer, size);
	}
	openetw_text_free(&text);
	return status;
}

static bool is_message(const EVENT_RECORD *r, ULONG count)
{
	return r && (r->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) && count == 1;
}

TDHSTATUS TDHAPI TdhGetPropertySize(PEVENT_RECORD pEvent, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
				    ULONG PropertyDataCount, PPROPERTY_DATA_DESCRIPTOR pPropertyData,
				    ULONG *pPropertySize)
{
	const uint8_t *data;
	uint32_t bytes;
	if (!pPropertySize) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG status =
		find_property(pEvent, TdhContextCount, pTdhContext, PropertyDataCount, pPropertyData, &data, &bytes);
	if (status == ERROR_NOT_FOUND && is_message(pEvent, PropertyDataCount)) {
		ULONG size = 0;
		status = message_property(pEvent, TdhContextCount, pTdhContext, pPropertyData, NULL, &size);
		status = status == ERROR_INSUFFICIENT_BUFFER ? ERROR_SUCCESS : status;
		bytes = size;
	}
	if (status == ERROR_SUCCESS) {
		*pPropertySize = bytes;
	}
	return status;
}

TDHSTATUS TDHAPI TdhGetProperty(PEVENT_RECORD pEvent, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
				ULONG PropertyDataCount, PPROPERTY_DATA_DESCRIPTOR pPropertyData, ULONG BufferSize,
				PBYTE pBuffer)
{
	const uint8_t *data;
	uint32_t bytes;
	if (!pBuffer && BufferSize != 0) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG status =
		find_property(pEvent, TdhContextCount, pTdhContext, PropertyDataCount, pPropertyData, &data, &bytes);
	if (status == ERROR_NOT_FOUND && is_message(pEvent, PropertyDataCount)) {
		return message_property(pEvent, TdhContextCount, pTdhContext, pPropertyData, pBuffer, &BufferSize);
	}
	if (status != ERROR_SUCCESS) {
		return status;
	}
	if (bytes > BufferSize) {
		return ERROR_INSUFFICIENT_BUFFER;
	}
	if (bytes > 0) {
		memcpy(pBuffer, data, bytes);
	}
	return ERROR_SUCCESS;
}
