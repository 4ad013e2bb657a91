/* SPDX-License-Identifier: MIT
 *
 * Input: u16 n, n bytes of TraceLogging metadata, the rest payload. Decodes it in every way there
 * is.
 */
#include "schema/schema_tdh.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool ignore(void *ctx, const struct openetw_field *f)
{
	size_t *sum = ctx;
	for (size_t i = 0; i < f->text_length; i++) {
		*sum += (uint8_t)f->text[i];
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	size_t n = le16_get(data);
	n = n < size - 2 ? n : size - 2;
	size_t left = size - 2 - n;
	/* exact copies, so that a step over an end is seen */
	uint8_t *meta = malloc(n + 1), *payload = malloc(left + 1);
	struct openetw_decoder *d = openetw_decoder_create();
	if (meta && payload && d) {
		memcpy(meta, data + 2, n);
		memcpy(payload, data + 2 + n, left);
		EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
							.DataSize = (USHORT)n,
							.DataPtr = (uintptr_t)meta};
		EVENT_RECORD r = {.ExtendedData = &item,
				  .ExtendedDataCount = 1,
				  .UserData = payload,
				  .UserDataLength = (USHORT)BASE_MIN(left, 0xFFFFu)};
		struct openetw_text o = {0};
		size_t sum = 0;
		openetw_decode_json(d, &r, &o);
		openetw_decode_text(d, &r, &o);
		openetw_decode_fields(d, &r, ignore, &sum);
		openetw_event_name(d, &r);
		openetw_text_free(&o);
		/* what we build must be readable by our own strict reader */
		struct schema_tdh_event t;
		if (schema_tdh_find(&r, 0, NULL, &t) == ERROR_SUCCESS) {
			struct schema_tei_names names = {.provider_name = ""};
			struct openetw_text block = {0};
			struct schema_event *again;
			if (schema_build_tei(t.event, &names, &block) == 0 && block.length <= 0xFFFF &&
			    schema_load_tei(block.data, block.length, &again, NULL) == 0) {
				if (again->field_count != t.event->field_count) {
					abort();
				}
				schema_event_destroy(again);
			}
			openetw_text_free(&block);
			schema_event_destroy(t.owned);
		}
	}
	openetw_decoder_destroy(d);
	free(meta);
	free(payload);
	return 0;
}
