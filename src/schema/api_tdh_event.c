/* SPDX-License-Identifier: MIT
 *
 * TdhGetEventInformation, TdhGetEventMapInformation, TdhGetManifestEventInformation,
 * TdhEnumerateManifestProviderEvents.
 */
#include "schema/schema_tdh.h"
#include "etw/values/guids.h"

static ULONG read_contexts(ULONG count, const TDH_CONTEXT *contexts, unsigned *pointer_size)
{
	if (count > 0 && !contexts) {
		return ERROR_INVALID_PARAMETER;
	}
	for (ULONG i = 0; i < count; i++) {
		ULONG type = (ULONG)contexts[i].ParameterType;
		if (type >= TDH_CONTEXT_MAXIMUM) {
			return ERROR_INVALID_PARAMETER;
		}
		for (ULONG k = 0; k < i; k++) {
			if ((ULONG)contexts[k].ParameterType == type) {
				return ERROR_INVALID_PARAMETER; /* no duplicates [doc] */
			}
		}
		if (type == TDH_CONTEXT_POINTERSIZE) {
			if (contexts[i].ParameterValue != 4 && contexts[i].ParameterValue != 8) {
				return ERROR_INVALID_PARAMETER;
			}
			*pointer_size = (unsigned)contexts[i].ParameterValue;
		}
	}
	return ERROR_SUCCESS;
}

static const struct schema_event *find_known(const struct schema_record *s)
{
	struct schema_ask ask = schema_record_ask(s);
	return !s->classic && schema_process_sent(&s->provider)
		       ? schema_find_sent(NULL, &ask)
		       : schema_process_find(s->classic, &s->provider, s->classic ? s->opcode : s->id, s->version);
}

ULONG schema_tdh_find(const EVENT_RECORD *r, ULONG context_count, const TDH_CONTEXT *contexts,
		      struct schema_tdh_event *ret)
{
	struct schema_tdh_event t = {.pointer_size = sizeof(void *)};
	ULONG status = read_contexts(context_count, contexts, &t.pointer_size);
	if (status != ERROR_SUCCESS) {
		return status;
	}
	schema_record_read(r, &t.record);
	const struct schema_record *s = &t.record;
	if (s->pointer_size) {
		t.pointer_size = s->pointer_size;
	}
	if (s->flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) {
		t.event = schema_tdh_find_message(s, context_count, contexts);
		*ret = t;
		return t.event ? ERROR_SUCCESS : ERROR_NOT_FOUND;
	}
	if (s->tlg) {
		int err = schema_load_tlg(s->tlg, s->tlg_bytes, &t.owned, NULL);
		if (err < 0) {
			return err == -ENOMEM ? ERROR_OUTOFMEMORY : ERROR_NOT_FOUND;
		}
		t.event = t.owned;
	} else {
		t.event = find_known(s);
	}
	if (!t.event) {
		return ERROR_NOT_FOUND;
	}
	if (s->classic) {
		struct schema_payload p = {t.event, s->payload, s->payload_bytes, t.pointer_size, NULL, NULL};
		schema_record_settle(&p);
		t.pointer_size = p.pointer_size;
	}
	*ret = t;
	return ERROR_SUCCESS;
}

static void tlg_names(const EVENT_RECORD *r, const struct schema_record *s, struct openetw_text *name,
		      struct schema_tei_names *ret)
{
	ret->provider = s->provider;
	if (s->control_guid) { /* for self-describing events this member is the control GUID [doc]
				*/
		memcpy(ret->provider.b, s->control_guid, 16);
	}
	ret->descriptor = (const uint8_t *)&r->EventHeader.EventDescriptor;
	const char *text;
	size_t bytes;
	ret->provider_name = "";
	if (s->traits && schema_traits_name(s->traits, s->traits_bytes, &text, &bytes)) {
		out_utf8(name, text, bytes, false);
		if (!name->failed) {
			ret->provider_name = name->data;
			ret->provider_name_bytes = name->length;
		}
	}
}

/* Classes of the kernel belong to one provider, whose GUID is not theirs; heaps, critical sections and thread pools are
 * providers of their own. */
static struct guid classic_provider(const struct schema_event *e)
{
	static const struct guid kernel = GUID_INIT(ETW_GUID_SYSTEM_TRACE_CONTROL);
	static const uint32_t own[] = {GUID_FIRST(ETW_GUID_CLASS_HEAP), GUID_FIRST(ETW_GUID_CLASS_CRIT_SEC),
				       GUID_FIRST(ETW_GUID_CLASS_THREAD_POOL)};
	bool is_kernel = strcmp(schema_text(e, e->provider_name), "MSNT_SystemTrace") == 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(own); i++) {
		is_kernel = is_kernel && le32_get(e->provider.b) != own[i];
	}
	return is_kernel ? kernel : e->provider;
}

TDHSTATUS TDHAPI TdhGetEventInformation(PEVENT_RECORD Event, ULONG TdhContextCount, PTDH_CONTEXT TdhContext,
					PTRACE_EVENT_INFO Buffer, PULONG BufferSize)
{
	ULONG status = Event ? schema_tdh_check_buffer(Buffer, BufferSize) : ERROR_INVALID_PARAMETER;
	if (status != ERROR_SUCCESS) {
		return status;
	}
	struct schema_tdh_event t;
	status = schema_tdh_find(Event, TdhContextCount, TdhContext, &t);
	if (status != ERROR_SUCCESS) {
		return status;
	}
	struct openetw_text block = {0}, name = {0};
	struct schema_payload payload = {t.event, t.record.payload, t.record.payload_bytes, t.pointer_size, NULL, NULL};
	struct schema_tei_names names = {.provider = t.event->provider, .payload = &payload};
	if (t.owned) {
		tlg_names(Event, &t.record, &name, &names);
	} else if (t.event->source == SCHEMA_SOURCE_WPP) {
		names.provider = GUID_ZERO; /* the record has the message GUID [doc] */
	} else if (t.event->source == SCHEMA_SOURCE_WBEM) {
		names.provider = classic_provider(t.event);
	}
	status = schema_build_tei(t.event, &names, &block) < 0
			 ? ERROR_OUTOFMEMORY
			 : schema_tdh_give(block.data, block.length, Buffer, BufferSize);
	openetw_text_free(&block);
	openetw_text_free(&name);
	schema_event_destroy(t.owned);
	return status;
}

/* Processes may have sent different maps under one name. */
static const struct schema_map *map_of_event(const struct schema_record *s, const char *name, size_t n)
{
	const struct schema_event *e = !s->classic && schema_process_sent(&s->provider) ? find_known(s) : NULL;
	for (uint32_t i = 0; e && i < e->field_count; i++) {
		const struct schema_field *f = &e->fields[i];
		if (f->bound && f->map.bytes == n && memcmp(schema_text(e, f->map), name, n) == 0) {
			return f->bound;
		}
	}
	return NULL;
}

/* TraceLogging has no maps. */
TDHSTATUS TDHAPI TdhGetEventMapInformation(PEVENT_RECORD pEvent, LPWSTR pMapName, PEVENT_MAP_INFO pBuffer,
					   ULONG *pBufferSize)
{
	if (!pEvent || !pMapName || schema_tdh_check_buffer(pBuffer, pBufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	struct schema_record s;
	schema_record_read(pEvent, &s);
	if (s.tlg || (s.flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)) {
		return ERROR_NOT_FOUND;
	}
	struct openetw_text name = {0};
	schema_tdh_utf8(pMapName, &name);
	while (name.length > 0 && name.data[name.length - 1] == ' ') {
		out_cut(&name, name.length - 1); /* stored without the compiler's space */
	}
	const struct schema_map *m = NULL;
	ULONG status = ERROR_OUTOFMEMORY;
	if (!name.failed) {
		m = map_of_event(&s, name.data, name.length);
		m = m ? m : schema_process_find_map(&s.provider, name.data, name.length);
		status = m ? schema_tdh_give(m->block, m->block_bytes, pBuffer, pBufferSize) : ERROR_NOT_FOUND;
	}
	openetw_text_free(&name);
	return status;
}

/* ---- events of a provider
 * ------------------------------------------------------------------------- */

struct descriptor_list {
	struct openetw_text out;
	uint32_t count;
	const EVENT_DESCRIPTOR *wanted;
	const struct schema_event *found;
};

static int add_descriptor(void *ctx, const struct schema_event *e)
{
	struct descriptor_list *l = ctx;
	if (e->source == SCHEMA_SOURCE_XML) {
		out_add(&l->out, e->descriptor, 16);
		l->count++;
	}
	return 0;
}

static int match_descriptor(void *ctx, const struct schema_event *e)
{
	struct descriptor_list *l = ctx;
	bool same = e->source == SCHEMA_SOURCE_XML && le16_get(e->descriptor) == l->wanted->Id &&
		    e->descriptor[2] == l->wanted->Version;
	l->found = same ? e : NULL;
	return same;
}

static int any_event(void *ctx, const struct schema_event *e)
{
	return 1;
}

TDHSTATUS TDHAPI TdhEnumerateManifestProviderEvents(LPGUID ProviderGuid, PPROVIDER_EVENT_INFO Buffer, ULONG *BufferSize)
{
	if (!ProviderGuid || schema_tdh_check_buffer(Buffer, BufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(g.b, ProviderGuid, 16);
	struct descriptor_list l = {.count = 0};
	uint32_t head[2] = {0, 0};
	out_add(&l.out, head, 8);
	schema_process_each_event(&g, add_descriptor, &l);
	ULONG status = ERROR_NOT_FOUND;
	if (l.out.failed) {
		status = ERROR_OUTOFMEMORY;
	} else if (l.count > 0) {
		le32_put(l.out.data, l.count);
		status = schema_tdh_give(l.out.data, l.out.length, Buffer, BufferSize);
	} else if (schema_process_each_event(&g, any_event, NULL)) {
		status = ERROR_EMPTY;
	}
	openetw_text_free(&l.out);
	return status;
}

TDHSTATUS TDHAPI TdhGetManifestEventInformation(LPGUID ProviderGuid, PEVENT_DESCRIPTOR EventDescriptor,
						PTRACE_EVENT_INFO Buffer, ULONG *BufferSize)
{
	if (!ProviderGuid || !EventDescriptor || schema_tdh_check_buffer(Buffer, BufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(g.b, ProviderGuid, 16);
	struct descriptor_list l = {.wanted = EventDescriptor};
	schema_process_each_event(&g, match_descriptor, &l);
	if (!l.found) {
		return ERROR_NOT_FOUND;
	}
	struct openetw_text block = {0};
	struct schema_tei_names names = {.provider = g};
	ULONG status = schema_build_tei(l.found, &names, &block) < 0
			       ? ERROR_OUTOFMEMORY
			       : schema_tdh_give(block.data, block.length, Buffer, BufferSize);
	openetw_text_free(&block);
	return status;
}
