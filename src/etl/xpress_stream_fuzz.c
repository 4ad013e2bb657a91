/* SPDX-License-Identifier: MIT
 *
 * What is unpacked in pieces is what is unpacked at once, damaged or not. Input: u16 size of the output
 * in units of 16 bytes, u8 size of the pieces, compressed data.
 */
#include "etl/xpress_stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n < 3) {
		return 0;
	}
	size_t want = 16u * le16_get(data), piece = 1 + 97u * data[2], done = 0, whole_done = 0;
	uint8_t *whole = malloc(want + 1), *pieces = malloc(want + 1);
	struct xpress_stream *s = malloc(sizeof *s);
	struct etl_source source = {.fd = -1, .mem = data, .bytes = n};
	if (!whole || !pieces || !s) {
		abort();
	}
	xpress_decompress_some(data + 3, n - 3, whole, want, &whole_done);
	xpress_stream_start(s, &source, 3, n - 3, want);
	for (;;) {
		size_t ask = BASE_MIN(piece, want - done);
		long got = xpress_stream_read(s, pieces + done, ask);
		if (got < 0 || (size_t)got > ask) {
			abort();
		}
		done += (size_t)got;
		if (got == 0 || (size_t)got < ask) {
			break;
		}
	}
	if (done != whole_done || memcmp(whole, pieces, done) != 0) {
		abort();
	}
	free(whole);
	free(pieces);
	free(s);
	return 0;
}
