/* SPDX-License-Identifier: MIT
 *
 * Input: in type, out type, length (u16 each), pointer size bit, payload. Also the same bytes as a
 * TRACE_EVENT_INFO block and as a value map.
 */
#include "schema/schema_tdh.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_blocks(const uint8_t *data, size_t size)
{
	struct schema_event *e;
	struct schema_map m;
	struct openetw_text o = {0};
	if (schema_load_tei(data, size, &e, NULL) == 0) {
		struct schema_payload p = {e, data, size, 8, NULL};
		schema_walk_json(&p, &o);
		schema_event_destroy(e);
	}
	if (schema_map_parse(data, size, &m, NULL) == 0) {
		for (uint32_t i = 0; i < 5; i++) {
			schema_map_text(&m, i, &o, NULL);
		}
	}
	openetw_text_free(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_blocks(data, size);
	if (size < 7) {
		return 0;
	}
	size_t n = BASE_MIN(size - 7, (size_t)0xFFFF);
	uint8_t *payload = malloc(n + 1);
	if (!payload) {
		return 0;
	}
	memcpy(payload, data + 7, n);
	WCHAR buffer[64];
	ULONG bytes = sizeof buffer;
	USHORT consumed = 0;
	USHORT in = le16_get(data) % 320;
	ULONG status = TdhFormatProperty(NULL, NULL, data[6] & 1 ? 4 : 8, in, le16_get(data + 2) % 310,
					 le16_get(data + 4), (USHORT)n, payload, &bytes, buffer, &consumed);
	if (status == ERROR_SUCCESS && consumed > n) {
		abort();
	}
	free(payload);
	return 0;
}
