/* SPDX-License-Identifier: MIT
 * Reads the input as a file in both orders and touches everything a consumer would touch.
 */
#include "etl/etl_reader.h"
#include "format/etl_item.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void touch(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sink ^= p[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (uint32_t flags = 0; flags <= ETL_READER_FILE_ORDER; flags++) {
		struct etl_reader *r;
		struct diag d;
		diag_clear(&d);
		if (etl_reader_open_memory(data, size, flags, &r, &d) < 0) {
			return 0;
		}
		const struct etl_file_info *i = etl_reader_info(r);
		touch(i->logger_name, 2 * (size_t)i->logger_name_units);
		touch(i->file_name, 2 * (size_t)i->file_name_units);
		struct etl_record e;
		while (etl_reader_next(r, &e) > 0) {
			touch(e.raw, e.raw_bytes);
			touch(e.payload, e.payload_bytes);
			if (e.counters) {
				touch(e.counters, 8u * e.counters_count);
			}
			uint32_t at = 0;
			uint16_t type, bytes;
			const uint8_t *p;
			while (e.items && etl_item_next(e.items, e.items_bytes, &at, &type, &p, &bytes)) {
				touch(p, bytes);
			}
		}
		struct etl_problem p;
		while (etl_reader_next_problem(r, &p)) {
			sink ^= (uint8_t)p.text[0];
		}
		etl_reader_close(r);
	}
	return 0;
}
