/* SPDX-License-Identifier: MIT
 *
 * One record in a plain buffer, in two steps: peek (where does it end, when did it happen) and
 * split (all fields). A merge peeks at the head of every stream but splits only what it delivers.
 */
#ifndef ETL_ETL_RECORD_H
#define ETL_ETL_RECORD_H

#include "etl/etl_reader.h"

struct etl_record_head {
	uint32_t at;    /* offset in the buffer */
	uint32_t bytes; /* exact size, without padding */
	uint8_t type;   /* enum etl_record_type */
	bool timed;     /* false: a message without time stamp */
	uint64_t time_raw;
};

/* The first record at or after `at` that carries an event. 1, 0 at the end of the data, -EBADMSG.
 * `end` is the end of valid data. */
int etl_record_peek(const uint8_t *buf, uint32_t end, uint32_t at, struct etl_record_head *ret, struct diag *d);
/* Everything about a record that peek accepted. `buf` must be the buffer, header included. */
void etl_record_split(const uint8_t *buf, const struct etl_record_head *h, const struct etl_clock *clock,
		      struct etl_record *ret, struct diag *d);
/* Where the next record starts; may lie at or behind `end`. */
static inline uint32_t etl_record_after(const struct etl_record_head *h)
{
	return h->at + BASE_ALIGN8(h->bytes);
}

/* Time of the first record that has one, of the first n bytes of a buffer's records. False when they
 * do not tell. */
bool etl_record_first_time(const uint8_t *records, size_t n, uint64_t *ret);

/* End of valid data of a plain buffer of which n bytes are there: ETL_BH_OFFSET when that makes
 * sense. */
uint32_t etl_buffer_end(const uint8_t *buf, size_t n);
uint16_t etl_buffer_cpu(const uint8_t *buf);

/* What the state of buffer 0 says about the other buffers. */
enum etl_compression {
	ETL_COMPRESSION_LZNT1 = 2,
	ETL_COMPRESSION_XPRESS = 3,
	ETL_COMPRESSION_XPRESS_HUFFMAN = 4,
	ETL_COMPRESSION_ZSTD = ETL_FORMAT_ZSTD, /* ours */
};
/* Decompress as much as is sound. 0 when `out` is full, else -EBADMSG; -ENOTSUP for an unknown
 * format. *ret_done is always set. */
int etl_decompress(uint32_t format, const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes,
		   size_t *ret_done);
/* The same for each format: xpress.c, lznt1.c, xpress_huffman.c, zstd.c (-ENOTSUP without libzstd). */
int xpress_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done);
int lznt1_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done);
/* Until the input ends in order: 0 then too, with *ret_done perhaps short of `out_bytes`. */
int lznt1_decompress_whole(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done);
int zstd_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done);
int xpress_huffman_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes,
				   size_t *ret_done);

#endif
