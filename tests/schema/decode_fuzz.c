/* SPDX-License-Identifier: MIT
 * The input as a trace file whose every event is put into words, with whatever descriptions it brings
 * along.
 */
#include "openetw/decode.h"

#include "consume/consume_view.h"
#include "etl/etl_reader.h"

#include "tdh.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sum;

static bool add(void *ctx, const struct openetw_field *f)
{
	sum += f->text_length + f->json_length + strlen(f->name);
	return true;
}

static void ask_tdh(EVENT_RECORD *e)
{
	ULONG bytes = 0;
	if (TdhGetEventInformation(e, 0, NULL, NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	TRACE_EVENT_INFO *info = malloc(bytes);
	if (info && TdhGetEventInformation(e, 0, NULL, info, &bytes) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < info->TopLevelPropertyCount; i++) {
			PROPERTY_DATA_DESCRIPTOR p = {.PropertyName = (uintptr_t)info +
								      info->EventPropertyInfoArray[i].NameOffset,
						      .ArrayIndex = UINT32_MAX};
			ULONG n = 0;
			uint8_t value[64];
			if (TdhGetPropertySize(e, 0, NULL, 1, &p, &n) == ERROR_SUCCESS && n <= sizeof value) {
				TdhGetProperty(e, 0, NULL, 1, &p, n, value);
				sum += n ? value[n - 1] : 0;
			}
		}
	}
	free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etl_reader *r;
	struct etl_record e;
	if (etl_reader_open_memory(data, size, 0, &r, NULL) < 0) {
		return 0;
	}
	struct openetw_decoder *d = openetw_decoder_create();
	struct openetw_text t = {0};
	struct consume_view view = {0};
	EVENT_RECORD record;
	for (unsigned left = 500; d && left > 0 && etl_reader_next(r, &e) > 0; left--) {
		const char *provider, *event;
		if (consume_view_fill(&view, &e, e.time_filetime, NULL, &record) < 0) {
			break;
		}
		openetw_text_clear(&t);
		openetw_decode_json_named(d, &record, &t, &provider, &event);
		sum += strlen(provider) + strlen(event);
		openetw_decode_text(d, &record, &t);
		openetw_event_message(d, &record, &t);
		openetw_decode_fields(d, &record, add, NULL);
		openetw_message_attribute(d, &record, "FUNC");
		ask_tdh(&record);
		sum += t.length;
	}
	openetw_text_free(&t);
	consume_view_free(&view);
	openetw_decoder_destroy(d);
	etl_reader_close(r);
	return 0;
}
