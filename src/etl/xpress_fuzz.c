/* SPDX-License-Identifier: MIT
 * First two bytes: how much output is wanted. The rest is decompressed all ways.
 */
#include "etl/etl_record.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	size_t want = le16_get(data);
	uint8_t *out = malloc(want ? want : 1); /* exact, so that ASan sees every overrun */
	if (out) {
		size_t done;
		xpress_decompress_some(data + 2, size - 2, out, want, &done);
		lznt1_decompress_some(data + 2, size - 2, out, want, &done);
		lznt1_decompress_whole(data + 2, size - 2, out, want, &done);
		xpress_huffman_decompress_some(data + 2, size - 2, out, want, &done);
		free(out);
	}
	return 0;
}
