/* SPDX-License-Identifier: MIT
 *
 * TdhEnumerateProviders and the functions about a provider as a whole. What is known are the schemas
 * this process learnt or loaded, the built-in catalogue and the user's directories; another provider
 * is ERROR_NOT_FOUND, as one that is not installed is on Windows.
 */
#include "schema/schema_tdh.h"
#include "base/vec.h"

#include <stdlib.h>

struct provider_list {
	struct provider_item {
		struct guid guid;
		enum schema_source source;
		char *name;
	} * items;
	size_t count, cap;
	int only; /* a source, or -1 for manifests and MOF */
	bool failed;
};

static int add_provider(void *ctx, const struct guid *g, enum schema_source source, const char *name)
{
	struct provider_list *l = ctx;
	if (source > SCHEMA_SOURCE_WBEM || (l->only >= 0 && (int)source != l->only)) {
		return 0;
	}
	for (size_t i = 0; i < l->count; i++) {
		if (guid_equal(&l->items[i].guid, g)) {
			return 0;
		}
	}
	if (!VEC_ROOM(l->items, l->count, l->cap)) {
		l->failed = true;
		return 1;
	}
	char *copy = strdup(name);
	if (!copy) {
		l->failed = true;
		return 1;
	}
	l->items[l->count++] = (struct provider_item){*g, source, copy};
	return 0;
}

/* PROVIDER_ENUMERATION_INFO: u32 count, u32 0, 24 bytes each, then the names. */
static void build_list(const struct provider_list *l, struct openetw_text *o)
{
	size_t fixed = BASE_MAX(8 + 24 * l->count, sizeof(PROVIDER_ENUMERATION_INFO));
	char *head = out_room(o, fixed);
	if (!head) {
		return;
	}
	memset(head, 0, fixed);
	le32_put(head, (uint32_t)l->count);
	out_used(o, fixed);
	for (size_t i = 0; i < l->count; i++) {
		const struct provider_item *p = &l->items[i];
		size_t n = strlen(p->name);
		uint32_t at = (uint32_t)o->length;
		char *to = out_room(o, 2 * (n + 1));
		if (!to) {
			return;
		}
		uint16_t *wide = malloc(2 * (n + 1));
		long units = wide ? utf8_to_utf16(p->name, n, wide, n + 1) : -ENOMEM;
		if (units < 0) {
			free(wide);
			o->failed = 1;
			return;
		}
		memcpy(to, wide, 2 * ((size_t)units + 1));
		free(wide);
		out_used(o, 2 * ((size_t)units + 1));
		char *row = o->data + 8 + 24 * i;
		memcpy(row, p->guid.b, 16);
		le32_put(row + 16, p->source == SCHEMA_SOURCE_WBEM);
		le32_put(row + 20, at);
	}
}

static ULONG enumerate(int only, void *buffer, ULONG *size)
{
	struct provider_list l = {.only = only};
	struct openetw_text block = {0};
	schema_process_each_provider(add_provider, &l);
	if (!l.failed) {
		build_list(&l, &block);
	}
	ULONG status =
		l.failed || block.failed ? ERROR_OUTOFMEMORY : schema_tdh_give(block.data, block.length, buffer, size);
	for (size_t i = 0; i < l.count; i++) {
		free(l.items[i].name);
	}
	free(l.items);
	openetw_text_free(&block);
	return status;
}

TDHSTATUS TDHAPI TdhEnumerateProviders(PPROVIDER_ENUMERATION_INFO pBuffer, ULONG *pBufferSize)
{
	ULONG status = schema_tdh_check_buffer(pBuffer, pBufferSize);
	return status == ERROR_SUCCESS ? enumerate(-1, pBuffer, pBufferSize) : status;
}

TDHSTATUS TDHAPI TdhEnumerateProvidersForDecodingSource(DECODING_SOURCE filter, PROVIDER_ENUMERATION_INFO *buffer,
							ULONG bufferSize, ULONG *bufferRequired)
{
	if (!bufferRequired || (!buffer && bufferSize != 0) ||
	    (filter != DecodingSourceXMLFile && filter != DecodingSourceWbem)) {
		return ERROR_INVALID_PARAMETER;
	}
	*bufferRequired = bufferSize;
	return enumerate((int)filter, buffer, bufferRequired);
}

/* ---- levels, keywords and so on ---------------------------------------------------------------- */

static const enum manifest_kind field_kinds[EventInformationMax] = {
	[EventKeywordInformation] = MANIFEST_KEYWORD, [EventLevelInformation] = MANIFEST_LEVEL,
	[EventChannelInformation] = MANIFEST_CHANNEL, [EventTaskInformation] = MANIFEST_TASK,
	[EventOpcodeInformation] = MANIFEST_OPCODE,
};

struct field_list {
	const struct manifest_name **names;
	size_t count, cap;
	bool failed;
};

static void add_field(struct field_list *l, const struct manifest_name *n)
{
	if (!VEC_ROOM(l->names, l->count, l->cap)) {
		l->failed = true;
		return;
	}
	l->names[l->count++] = n;
}

/* Opcodes: the value in the high word, the task they belong to in the low one. */
static uint64_t field_value(enum manifest_kind kind, const struct manifest_name *n)
{
	return kind != MANIFEST_OPCODE ? n->value : n->value << 16 | (n->task ? n->task->value & 0xFFFF : 0);
}

static uint32_t add_text(struct openetw_text *o, const char *s)
{
	uint32_t at = (uint32_t)o->length;
	size_t n = strlen(s);
	char *to = out_room(o, 2 * n + 2);
	long units = to ? utf8_to_utf16(s, n, (uint16_t *)(void *)to, n + 1) : -1;
	if (units < 0) {
		return 0;
	}
	out_used(o, 2 * (size_t)units + 2);
	return at;
}

/* PROVIDER_FIELD_INFOARRAY: u32 count, u32 type; { u32 name, u32 description, u64 value }; texts */
static ULONG give_fields(const struct field_list *l, EVENT_FIELD_TYPE type, void *buffer, ULONG *size)
{
	struct openetw_text o = {0};
	size_t fixed = 8 + 16 * BASE_MAX(l->count, (size_t)1);
	char *head = out_room(&o, fixed);
	if (!head) {
		return ERROR_OUTOFMEMORY;
	}
	memset(head, 0, fixed);
	out_used(&o, fixed);
	le32_put(o.data, (uint32_t)l->count);
	le32_put(o.data + 4, (uint32_t)type);
	for (size_t i = 0; i < l->count && !o.failed; i++) {
		const struct manifest_name *n = l->names[i];
		uint32_t name = add_text(&o, n->name);
		uint32_t text = strcmp(n->name, n->text) != 0 ? add_text(&o, n->text) : 0;
		if (!o.failed) {
			le32_put(o.data + 8 + 16 * i, name);
			le32_put(o.data + 8 + 16 * i + 4, text);
			le64_put(o.data + 8 + 16 * i + 8, field_value(field_kinds[type], n));
		}
	}
	ULONG status = o.failed ? ERROR_OUTOFMEMORY : schema_tdh_give(o.data, o.length, buffer, size);
	openetw_text_free(&o);
	return status;
}

static ULONG find_provider(LPGUID guid, EVENT_FIELD_TYPE type, const void *buffer, const ULONG *size,
			   const struct manifest_provider **ret)
{
	struct guid g;
	if (!guid || schema_tdh_check_buffer(buffer, size) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	if ((unsigned)type >= EventInformationMax) {
		return ERROR_NOT_SUPPORTED;
	}
	memcpy(g.b, guid, 16);
	*ret = schema_process_provider(false, &g);
	return *ret ? ERROR_SUCCESS : ERROR_NOT_FOUND;
}

/* Gives them, if there are some, and ends the list. */
static ULONG end_fields(struct field_list *l, EVENT_FIELD_TYPE type, PPROVIDER_FIELD_INFOARRAY buffer, ULONG *size)
{
	ULONG status = l->failed       ? ERROR_OUTOFMEMORY
		       : l->count == 0 ? ERROR_NOT_FOUND
				       : give_fields(l, type, buffer, size);
	free(l->names);
	return status;
}

TDHSTATUS TDHAPI TdhQueryProviderFieldInformation(LPGUID pGuid, ULONGLONG EventFieldValue,
						  EVENT_FIELD_TYPE EventFieldType, PPROVIDER_FIELD_INFOARRAY pBuffer,
						  ULONG *pBufferSize)
{
	const struct manifest_provider *p;
	ULONG status = find_provider(pGuid, EventFieldType, pBuffer, pBufferSize, &p);
	if (status != ERROR_SUCCESS) {
		return status;
	}
	enum manifest_kind kind = field_kinds[EventFieldType];
	struct field_list l = {.count = 0};
	if (kind == MANIFEST_KEYWORD) { /* one result for each bit that is known */
		for (unsigned bit = 0; bit < 64; bit++) {
			const struct manifest_name *n =
				EventFieldValue >> bit & 1 ? manifest_find_value(p, kind, 1ull << bit, NULL) : NULL;
			if (n) {
				add_field(&l, n);
			}
		}
	} else {
		const struct manifest_name *task =
			kind == MANIFEST_OPCODE && (EventFieldValue & 0xFFFF)
				? manifest_find_value(p, MANIFEST_TASK, EventFieldValue & 0xFFFF, NULL)
				: NULL;
		uint64_t value = kind == MANIFEST_OPCODE ? EventFieldValue >> 16 : EventFieldValue;
		const struct manifest_name *n = manifest_find_value(p, kind, value, task);
		if (n) {
			add_field(&l, n);
		}
	}
	return end_fields(&l, EventFieldType, pBuffer, pBufferSize);
}

TDHSTATUS TDHAPI TdhEnumerateProviderFieldInformation(LPGUID pGuid, EVENT_FIELD_TYPE EventFieldType,
						      PPROVIDER_FIELD_INFOARRAY pBuffer, ULONG *pBufferSize)
{
	const struct manifest_provider *p;
	ULONG status = find_provider(pGuid, EventFieldType, pBuffer, pBufferSize, &p);
	if (status != ERROR_SUCCESS) {
		return status;
	}
	struct field_list l = {.count = 0};
	for (const struct manifest_name *n = p->names[field_kinds[EventFieldType]]; n; n = n->next) {
		add_field(&l, n);
	}
	return end_fields(&l, EventFieldType, pBuffer, pBufferSize);
}

/* ---- filters ---------------------------------------------------------------------------------- */

#define FILTER_HEAD offsetof(PROVIDER_FILTER_INFO, EventPropertyInfoArray)
#define EVENT_HEAD  offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray)

/* PROVIDER_FILTER_INFO is TRACE_EVENT_INFO with a shorter head: what stands behind moves up. */
static void add_filter(struct openetw_text *o, const struct manifest_name *f, const struct openetw_text *event)
{
	static const uint32_t moved = EVENT_HEAD - FILTER_HEAD;
	size_t bytes = event->length - moved;
	uint8_t *to = (uint8_t *)out_room(o, BASE_ALIGN8(bytes));
	const uint8_t *from = (const uint8_t *)event->data;
	if (!to) {
		return;
	}
	memset(to, 0, BASE_ALIGN8(bytes));
	memcpy(to + FILTER_HEAD, from + EVENT_HEAD, bytes - FILTER_HEAD);
	uint32_t message = le32_get(from + offsetof(TRACE_EVENT_INFO, EventMessageOffset));
	uint32_t count = le32_get(from + offsetof(TRACE_EVENT_INFO, PropertyCount));
	to[0] = (uint8_t)f->value;
	to[1] = f->version;
	le32_put(to + offsetof(PROVIDER_FILTER_INFO, MessageOffset), message ? message - moved : 0);
	le32_put(to + offsetof(PROVIDER_FILTER_INFO, PropertyCount), count);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *p = to + FILTER_HEAD + i * sizeof(EVENT_PROPERTY_INFO);
		uint32_t name = le32_get(p + offsetof(EVENT_PROPERTY_INFO, NameOffset));
		le32_put(p + offsetof(EVENT_PROPERTY_INFO, NameOffset), name ? name - moved : 0);
		uint8_t *map = p + offsetof(EVENT_PROPERTY_INFO, nonStructType.MapNameOffset);
		if (!(le32_get(p) & PropertyStruct) && le32_get(map)) {
			le32_put(map, le32_get(map) - moved);
		}
	}
	out_used(o, BASE_ALIGN8(bytes));
}

struct filter_list {
	struct openetw_text blocks;
	size_t at[256]; /* an id has eight bits; a manifest with more lists the first */
	ULONG count;
};

static ULONG list_filters(const struct manifest_provider *p, struct filter_list *l)
{
	for (const struct manifest_name *f = p->names[MANIFEST_FILTER]; f && l->count < BASE_ARRAY_LEN(l->at);
	     f = f->next) {
		struct schema_event *e;
		struct openetw_text block = {0};
		struct schema_tei_names names = {.provider = p->guid};
		if (schema_process_filter(p, f, &e) < 0) {
			return ERROR_OUTOFMEMORY;
		}
		int err = schema_build_tei(e, &names, &block);
		l->at[l->count++] = l->blocks.length;
		if (err == 0 && !block.failed) {
			add_filter(&l->blocks, f, &block);
		}
		bool failed = err < 0 || block.failed || l->blocks.failed;
		openetw_text_free(&block);
		schema_event_destroy(e);
		if (failed) {
			return ERROR_OUTOFMEMORY;
		}
	}
	return l->count ? ERROR_SUCCESS : ERROR_NOT_FOUND;
}

TDHSTATUS TDHAPI TdhEnumerateProviderFilters(LPGUID pGuid, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
					     ULONG *FilterCount, PPROVIDER_FILTER_INFO *pBuffer, ULONG *pBufferSize)
{
	if (!pGuid || TdhContextCount != 0 || pTdhContext || !FilterCount ||
	    schema_tdh_check_buffer(pBuffer, pBufferSize) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(g.b, pGuid, 16);
	const struct manifest_provider *p = schema_process_provider(false, &g);
	struct filter_list l = {.count = 0};
	*FilterCount = 0;
	ULONG status = p ? list_filters(p, &l) : ERROR_NOT_FOUND;
	if (status == ERROR_SUCCESS) {
		size_t head = l.count * sizeof *pBuffer, bytes = head + l.blocks.length;
		bool fits = pBuffer && *pBufferSize >= bytes;
		*pBufferSize = (ULONG)bytes;
		status = fits ? ERROR_SUCCESS : ERROR_INSUFFICIENT_BUFFER;
		for (ULONG i = 0; fits && i < l.count; i++) {
			pBuffer[i] = (PPROVIDER_FILTER_INFO)(void *)((uint8_t *)pBuffer + head + l.at[i]);
		}
		if (fits) {
			memcpy((uint8_t *)pBuffer + head, l.blocks.data, l.blocks.length);
			*FilterCount = l.count;
		}
	}
	openetw_text_free(&l.blocks);
	return status;
}
