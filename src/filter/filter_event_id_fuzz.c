/* SPDX-License-Identifier: MIT
 * Two filters of one enable and an event: u8 type, u16 bytes, the bytes; twice; then what the event is. What is
 * accepted must run.
 */
#include "filter/filter_event_id.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t types[] = {
	EVENT_FILTER_TYPE_PAYLOAD,   EVENT_FILTER_TYPE_EVENT_ID,       EVENT_FILTER_TYPE_EVENT_NAME,
	EVENT_FILTER_TYPE_STACKWALK, EVENT_FILTER_TYPE_STACKWALK_NAME, EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW,
};

static uint8_t *own(const uint8_t *p, size_t n) /* so that reading beyond it shows */
{
	uint8_t *copy = malloc(n ? n : 1);
	if (copy && n) {
		memcpy(copy, p, n);
	}
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = bytes_of(data, size);
	struct guid provider = {{0}};
	struct filter_select s = {0};
	struct diag d = {0};
	uint8_t *filter[2] = {NULL, NULL};
	bool fine = true;
	for (int i = 0; i < 2 && fine; i++) {
		unsigned type = bytes_u8(&b) % BASE_ARRAY_LEN(types);
		size_t n = bytes_u16(&b);
		n = BASE_MIN(n, bytes_left(&b));
		filter[i] = own(b.p, n);
		bytes_take(&b, n);
		fine = !b.bad && filter[i] &&
		       filter_select_add(&s, &provider, (uint32_t)types[type], filter[i], n, &d) == 0;
	}
	struct filter_facts f = {.id = bytes_u16(&b), .level = bytes_u8(&b), .keyword = bytes_u64(&b)};
	size_t n = bytes_u16(&b);
	n = BASE_MIN(n, bytes_left(&b));
	uint8_t *schema = own(b.p, n), *payload = NULL;
	f.schema_bytes = n;
	bytes_take(&b, n);
	f.payload_bytes = bytes_left(&b);
	payload = own(b.p, f.payload_bytes);
	if (fine && !b.bad && schema && payload) {
		f.schema = f.id & 1 ? schema : NULL;
		f.payload = payload;
		if (s.filtered) {
			filter_select_event(&s, &f);
		}
		if (s.stack_filtered) {
			filter_select_stack(&s, &f);
		}
	}
	free(filter[0]);
	free(filter[1]);
	free(schema);
	free(payload);
	return 0;
}
