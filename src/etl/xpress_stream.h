/* SPDX-License-Identifier: MIT
 *
 * Plain XPRESS (LZ77 of MS-XCA) unpacked front to back in pieces of any size, for buffers that are too
 * large to be in memory as a whole: matches reach back 8 KiB, so that much is kept. Private to etl.
 */
#ifndef ETL_XPRESS_STREAM_H
#define ETL_XPRESS_STREAM_H

#include "etl/etl_index.h"

#define XPRESS_REACH 8192u
#define XPRESS_ROOM  65536u /* unpacked at a time */
#define XPRESS_INPUT 16384u

struct xpress_stream {
	const struct etl_source *source;
	uint64_t in_at, in_end; /* in the source: what comes next, and the end */
	uint64_t out_left;      /* bytes that are still to come */
	/* The group of 32 items that is being unpacked, and the match that did not fit. */
	uint32_t flags, items;
	uint32_t distance;
	uint64_t match;
	uint8_t nibble;
	bool has_nibble;
	uint32_t input_at, input_bytes;
	uint32_t ready_at, ready_end; /* in `out`: unpacked and not taken */
	uint8_t input[XPRESS_INPUT];
	uint8_t out[XPRESS_REACH + XPRESS_ROOM];
	uint32_t history; /* bytes of `out` before ready_end that matches may reach */
};

/* `at`, `bytes`: the compressed data; `out_bytes`: what it unpacks to. */
void xpress_stream_start(struct xpress_stream *s, const struct etl_source *source, uint64_t at, uint64_t bytes,
			 uint64_t out_bytes);
/* The next n bytes. How many there are: fewer at the end and where the data is damaged; -errno. */
long xpress_stream_read(struct xpress_stream *s, uint8_t *to, size_t n);

#endif
