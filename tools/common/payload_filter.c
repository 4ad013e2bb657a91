/* SPDX-License-Identifier: MIT
 * --payload: conditions on the fields of events (filter/filter_text.h), as the filter EnableTraceEx2
 * takes. A manifest's event is meant in all its versions.
 */
#include "tools/common/session_options.h"
#include "tools/common/payload_filter.h"

#include "filter/filter_text.h"

#include <stdlib.h>
#include <tdh.h>

#define VERSIONS_MAX 64

/* ---- events of manifests ----------------------------------------------------------------------- */

/* String fields have operators of their own in Windows' filters; nobody wants to know that. */
static uint32_t create(const GUID *g, const EVENT_DESCRIPTOR *e, const struct filter_text *p, void **ret)
{
	PAYLOAD_FILTER_PREDICATE pred[FILTER_PREDICATES_MAX];
	uint16_t names[FILTER_PREDICATES_MAX][256], values[FILTER_PREDICATES_MAX][256];
	uint32_t code = ERROR_INVALID_PARAMETER;
	for (unsigned words = 0; words < 1u << p->count; words++) {
		bool sensible = true;
		for (size_t i = 0; i < p->count; i++) {
			uint8_t op = p->c[i].op;
			bool flip = words >> i & 1;
			sensible = sensible && !(flip && op != FILTER_EQ && op != FILTER_NE);
			op = flip && op == FILTER_EQ ? FILTER_IS : flip && op == FILTER_NE ? FILTER_ISNOT : op;
			long n = utf8_to_utf16(p->c[i].field, strlen(p->c[i].field), names[i], 256);
			long v = utf8_to_utf16(p->c[i].value, strlen(p->c[i].value), values[i], 256);
			if (n < 0 || n >= 256 || v < 0 || v >= 256) {
				return ERROR_INVALID_PARAMETER;
			}
			pred[i] = (PAYLOAD_FILTER_PREDICATE){names[i], op, values[i]};
		}
		if (sensible) {
			code = TdhCreatePayloadFilter(g, e, p->any, (ULONG)p->count, pred, ret);
		}
		if (code == ERROR_SUCCESS) {
			return code;
		}
	}
	return code;
}

static bool add_manifest(const struct cli_args *a, const GUID *g, const struct filter_text *p, unsigned long id,
			 void **made, ULONG *inout_count)
{
	ULONG bytes = 0, before = *inout_count;
	GUID copy = *g;
	uint8_t *mem = NULL;
	if (TdhEnumerateManifestProviderEvents(&copy, NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER) {
		mem = malloc(bytes);
	}
	PPROVIDER_EVENT_INFO info = (PPROVIDER_EVENT_INFO)(void *)mem;
	bool fine = mem && TdhEnumerateManifestProviderEvents(&copy, info, &bytes) == ERROR_SUCCESS;
	for (ULONG i = 0; fine && i < info->NumberOfEvents; i++) {
		const EVENT_DESCRIPTOR *e = &info->EventDescriptorsArray[i];
		if (e->Id != id || *inout_count == VERSIONS_MAX) {
			continue;
		}
		uint32_t code = create(g, e, p, &made[*inout_count]);
		if (code) {
			cli_usage(a, "--payload: event %lu: %s", id, openetw_last_error_text());
			free(mem);
			return false;
		}
		++*inout_count;
	}
	free(mem);
	if (*inout_count == before) {
		cli_usage(a,
			  "--payload: no installed manifest describes event %lu of this provider; 'openetw "
			  "wevtutil im FILE.man' installs one. TraceLogging events are named",
			  id);
		return false;
	}
	return true;
}

/* ---- both --------------------------------------------------------------------------------------- */

bool cli_payload_filters(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
			 struct cli_filters *f)
{
	struct filter_text p;
	uint8_t named[FILTER_BYTES_MAX];
	void *made[VERSIONS_MAX];
	size_t named_bytes = 0;
	ULONG count = 0;
	struct guid guid;
	bool fine = true;
	memcpy(guid.b, g, 16);
	for (int i = 0; fine && i < o->payload.count; i++) {
		const char *v = o->payload.text[i];
		struct diag d = {0};
		uint16_t id;
		if (filter_text_parse(v, &p, &d) < 0) {
			cli_usage(a, "--payload %s", d.text);
			fine = false;
		} else if (filter_text_number(&p, &id)) {
			fine = add_manifest(a, g, &p, id, made, &count);
		} else {
			fine = filter_named_add(named, &named_bytes, &guid, p.event, p.any, p.c, p.count, &d) == 0;
			if (!fine) {
				cli_usage(a, "--payload '%s': %s", v, d.text);
			}
		}
	}
	if (fine && count && named_bytes) {
		cli_usage(a, "--payload names events either by number or by name");
		fine = false;
	}
	if (fine && named_bytes) {
		fine = cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, named, named_bytes);
	}
	EVENT_FILTER_DESCRIPTOR d = {0};
	if (fine && count) {
		uint32_t code = TdhAggregatePayloadFilters(count, made, NULL, &d);
		if (code) {
			cli_usage(a, "--payload: the filters are larger than 4096 bytes together");
			fine = false;
		} else {
			fine = cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, (const void *)(uintptr_t)d.Ptr, d.Size);
			TdhCleanupPayloadEventFilterDescriptor(&d);
		}
	}
	for (ULONG i = 0; i < count; i++) {
		TdhDeletePayloadFilter(&made[i]);
	}
	return fine;
}
