/* SPDX-License-Identifier: MIT
 *
 * TdhEnumerateProviders and the functions about a provider as a whole. What is known here are the
 * schemas this process learnt; there is no registry of installed manifests behind it yet, so a
 * provider that was not learnt is ERROR_NOT_FOUND, as an unknown one is on Windows.
 */
#include "schema/schema_tdh.h"

#include <stdlib.h>

struct provider_list {
	struct provider_item {
		struct guid guid;
		enum schema_source source;
		const char *name; /* lives as long as the process's store */
	} * items;
	size_t count, cap;
	int only; /* a source, or -1 for manifests and MOF */
	bool failed;
};

static int add_provider(void *ctx, const struct guid *g, enum schema_source source,
			const char *name)
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
	if (l->count == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct provider_item *items = realloc(l->items, cap * sizeof *items);
		if (!items) {
			l->failed = true;
			return 1;
		}
		l->items = items;
		l->cap = cap;
	}
	l->items[l->count++] = (struct provider_item){*g, source, name};
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
	ULONG status = l.failed || block.failed
			       ? ERROR_OUTOFMEMORY
			       : schema_tdh_give(block.data, block.length, buffer, size);
	free(l.items);
	openetw_text_free(&block);
	return status;
}

TDHSTATUS TDHAPI TdhEnumerateProviders(PPROVIDER_ENUMERATION_INFO pBuffer, ULONG *pBufferSize)
{
	ULONG status = schema_tdh_check_buffer(pBuffer, pBufferSize);
	return status == ERROR_SUCCESS ? enumerate(-1, pBuffer, pBufferSize) : status;
}

TDHSTATUS TDHAPI TdhEnumerateProvidersForDecodingSource(DECODING_SOURCE filter,
							PROVIDER_ENUMERATION_INFO *buffer,
							ULONG bufferSize, ULONG *bufferRequired)
{
	if (!bufferRequired || (!buffer && bufferSize != 0) ||
	    (filter != DecodingSourceXMLFile && filter != DecodingSourceWbem)) {
		return ERROR_INVALID_PARAMETER;
	}
	*bufferRequired = bufferSize;
	return enumerate((int)filter, buffer, bufferRequired);
}

static ULONG check_field_query(LPGUID guid, EVENT_FIELD_TYPE type, const void *buffer,
			       const ULONG *size)
{
	if (!guid || schema_tdh_check_buffer(buffer, size) != ERROR_SUCCESS) {
		return ERROR_INVALID_PARAMETER;
	}
	return (unsigned)type >= EventInformationMax ? ERROR_NOT_SUPPORTED : ERROR_NOT_FOUND;
}

/* Names of keywords and such come from manifests, whose loader is to come: NOT_FOUND until then. */
TDHSTATUS TDHAPI TdhQueryProviderFieldInformation(LPGUID pGuid, ULONGLONG EventFieldValue,
						  EVENT_FIELD_TYPE EventFieldType,
						  PPROVIDER_FIELD_INFOARRAY pBuffer,
						  ULONG *pBufferSize)
{
	return check_field_query(pGuid, EventFieldType, pBuffer, pBufferSize);
}

TDHSTATUS TDHAPI TdhEnumerateProviderFieldInformation(LPGUID pGuid, EVENT_FIELD_TYPE EventFieldType,
						      PPROVIDER_FIELD_INFOARRAY pBuffer,
						      ULONG *pBufferSize)
{
	return check_field_query(pGuid, EventFieldType, pBuffer, pBufferSize);
}

TDHSTATUS TDHAPI TdhEnumerateProviderFilters(LPGUID pGuid, ULONG TdhContextCount,
					     PTDH_CONTEXT pTdhContext, ULONG *FilterCount,
					     PPROVIDER_FILTER_INFO *pBuffer, ULONG *pBufferSize)
{
	if (!pGuid || TdhContextCount != 0 || pTdhContext || !FilterCount || !pBufferSize) {
		return ERROR_INVALID_PARAMETER;
	}
	*FilterCount = 0;
	return ERROR_NOT_FOUND;
}
