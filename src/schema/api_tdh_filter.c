/* SPDX-License-Identifier: MIT
 *
 * Payload filters. A filter and what an aggregate's descriptor points to are blobs of
 * filter/filter_payload.h.
 */
#include "schema/schema_payload_filter.h"
#include "schema/schema_tdh.h"

#include <stdlib.h>

static ULONG status_of(int err, const struct diag *d)
{
	if (err == -EINVAL || err == -ENOENT || err == -ENOSPC) {
		err_text_set("%s", d->text);
	}
	switch (err) {
	case 0: return ERROR_SUCCESS;
	case -ENOSPC: return ERROR_INSUFFICIENT_BUFFER;
	case -ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
	default: return ERROR_INVALID_PARAMETER;
	}
}

static ULONG find_event(const struct guid *g, PCEVENT_DESCRIPTOR d, const struct schema_event **ret)
{
	char text[37];
	*ret = schema_process_find(false, g, d->Id, d->Version);
	if (*ret) {
		return ERROR_SUCCESS;
	}
	if (schema_process_provider(false, g)) {
		err_text_set("the manifest of provider {%s} declares no event %u in version %u", guid_format(g, text),
			     d->Id, d->Version);
	} else {
		err_text_set("no manifest of provider {%s} is known; load it with TdhLoadManifest",
			     guid_format(g, text));
	}
	return ERROR_NOT_FOUND;
}

TDHSTATUS TDHAPI TdhCreatePayloadFilter(LPCGUID ProviderGuid, PCEVENT_DESCRIPTOR EventDescriptor, BOOLEAN EventMatchANY,
					ULONG PayloadPredicateCount, PPAYLOAD_FILTER_PREDICATE PayloadPredicates,
					PVOID *PayloadFilter)
{
	if (!ProviderGuid || !EventDescriptor || PayloadPredicateCount == 0 ||
	    PayloadPredicateCount > MAX_PAYLOAD_PREDICATES || !PayloadPredicates || !PayloadFilter) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(g.b, ProviderGuid, 16);
	const struct schema_event *event;
	struct openetw_text text = {0};
	size_t at[2 * MAX_PAYLOAD_PREDICATES];
	for (ULONG i = 0; i < PayloadPredicateCount; i++) {
		const WCHAR *both[2] = {PayloadPredicates[i].FieldName, PayloadPredicates[i].Value};
		for (int k = 0; k < 2; k++) {
			if (!both[k]) {
				openetw_text_free(&text);
				return ERROR_INVALID_PARAMETER;
			}
			at[2 * i + (size_t)k] = text.length;
			schema_tdh_utf8(both[k], &text);
			out_char(&text, 0);
		}
	}
	uint8_t blob[FILTER_BYTES_MAX];
	size_t bytes;
	ULONG status = text.failed ? ERROR_NOT_ENOUGH_MEMORY : find_event(&g, EventDescriptor, &event);
	if (status == ERROR_SUCCESS) {
		struct schema_condition conditions[MAX_PAYLOAD_PREDICATES];
		struct diag d = {0};
		for (ULONG i = 0; i < PayloadPredicateCount; i++) {
			conditions[i] = (struct schema_condition){text.data + at[2 * i], text.data + at[2 * i + 1],
								  PayloadPredicates[i].CompareOp};
		}
		status = status_of(schema_filter_make(event, &g, EventDescriptor->Id, EventDescriptor->Version,
						      EventMatchANY != 0, conditions, PayloadPredicateCount, blob,
						      &bytes, &d),
				   &d);
	}
	if (status == ERROR_SUCCESS) {
		uint8_t *copy = malloc(bytes);
		status = copy ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
		if (copy) {
			memcpy(copy, blob, bytes);
			*PayloadFilter = copy;
		}
	}
	openetw_text_free(&text);
	return status;
}

TDHSTATUS TDHAPI TdhDeletePayloadFilter(PVOID *PayloadFilter)
{
	if (!PayloadFilter || !*PayloadFilter) {
		return ERROR_INVALID_PARAMETER;
	}
	free(*PayloadFilter);
	*PayloadFilter = NULL;
	return ERROR_SUCCESS;
}

/* Filters that fit into one blob. */
#define FILTERS_MAX (FILTER_BYTES_MAX / FILTER_EVENT_BYTES)

TDHSTATUS TDHAPI TdhAggregatePayloadFilters(ULONG PayloadFilterCount, PVOID *PayloadFilterPtrs,
					    PBOOLEAN EventMatchALLFlags, PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	if (PayloadFilterCount == 0 || PayloadFilterCount > FILTERS_MAX || !PayloadFilterPtrs ||
	    !EventFilterDescriptor) {
		return ERROR_INVALID_PARAMETER;
	}
	const uint8_t *blobs[FILTERS_MAX];
	size_t bytes[FILTERS_MAX], n;
	bool must[FILTERS_MAX];
	for (ULONG i = 0; i < PayloadFilterCount; i++) {
		blobs[i] = PayloadFilterPtrs[i];
		if (!blobs[i] || le32_get(blobs[i]) != FILTER_MAGIC) {
			return ERROR_INVALID_PARAMETER;
		}
		bytes[i] = le32_get(blobs[i] + 8);
		must[i] = EventMatchALLFlags && EventMatchALLFlags[i];
	}
	uint8_t *out = malloc(FILTER_BYTES_MAX);
	if (!out) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	struct diag d = {.text = "the filters are of different providers, or too many"};
	int err = filter_join(blobs, bytes, must, PayloadFilterCount, out, &n);
	if (err < 0) {
		free(out);
		return status_of(err, &d);
	}
	EventFilterDescriptor->Ptr = (ULONGLONG)(uintptr_t)out;
	EventFilterDescriptor->Size = (ULONG)n;
	EventFilterDescriptor->Type = EVENT_FILTER_TYPE_PAYLOAD;
	return ERROR_SUCCESS;
}

TDHSTATUS TDHAPI TdhCleanupPayloadEventFilterDescriptor(PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	if (!EventFilterDescriptor ||
	    (EventFilterDescriptor->Ptr != 0 && EventFilterDescriptor->Type != EVENT_FILTER_TYPE_PAYLOAD)) {
		return ERROR_INVALID_PARAMETER;
	}
	free((void *)(uintptr_t)EventFilterDescriptor->Ptr);
	memset(EventFilterDescriptor, 0, sizeof *EventFilterDescriptor);
	return ERROR_SUCCESS;
}
