/* SPDX-License-Identifier: MIT
 * Buffers as a ring or a stream brings them, merged as they come. Input: { u16 bytes, buffer }*; the
 * lowest bit of the length says whether records are taken before the next buffer arrives.
 */
#include "consume/consume_held.h"
#include "consume/consume_view.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sum;
static size_t held;

static void release(void *ctx, const struct held_buffer *b)
{
	held--;
	free(b->owner);
}

static void take(struct held_set *h, struct consume_view *v, unsigned count)
{
	static const struct etl_clock clock = {.clock_type = 2};
	for (held_advance(h); !held_empty(h) && count > 0; held_advance(h), count--) {
		struct etl_record e;
		EVENT_RECORD r;
		held_take(h, &clock, &e);
		for (uint32_t i = 0; i < e.payload_bytes; i++) {
			sum ^= e.payload[i];
		}
		if (consume_view_fill(v, &e, e.time_filetime, NULL, &r) == 0) {
			for (unsigned i = 0; i < r.ExtendedDataCount; i++) {
				const uint8_t *p = (const uint8_t *)(uintptr_t)r.ExtendedData[i].DataPtr;
				sum ^= r.ExtendedData[i].DataSize ? p[r.ExtendedData[i].DataSize - 1] : 0;
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct held_set h = {.release = release};
	struct consume_view view = {0};
	struct bytes b = bytes_of(data, size);
	if (size & 1) {
		h.run_flags = ETL_RUN_KEEP_ORDER;
	}
	while (bytes_left(&b) > 2) {
		uint16_t length = bytes_u16(&b);
		size_t n = BASE_MIN((size_t)length, bytes_left(&b));
		const uint8_t *p = bytes_take(&b, n);
		if (n < ETL_BUFFER_HEADER_SIZE) {
			continue; /* refused before it comes here */
		}
		uint8_t *own = malloc(n);
		if (!own) {
			break;
		}
		memcpy(own, p, n);
		held++;
		if (held_add(&h, own, etl_buffer_end(own, (uint32_t)n), own) < 0) {
			held--;
			free(own);
		}
		take(&h, &view, length & 1 ? 3 : 0);
	}
	take(&h, &view, 1u << 20);
	held_finish(&h);
	consume_view_free(&view);
	if (held != 0) {
		abort(); /* each buffer is let go once */
	}
	return 0;
}
