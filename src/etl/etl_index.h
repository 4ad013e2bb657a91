/* SPDX-License-Identifier: MIT
 *
 * The buffers of a file: where each starts and whether its header can be believed. Private to etl.
 */
#ifndef ETL_ETL_INDEX_H
#define ETL_ETL_INDEX_H

#include "etl/etl_record.h"

/* Bytes, from a file or from memory. Files are read, never mapped: a file that shrinks under us
 * gives a short read, not a signal. */
struct etl_source {
	int fd; /* -1: memory */
	const uint8_t *mem;
	uint64_t bytes;
};
/* Bytes read, fewer than n only at the end (or where the file was cut); -errno. */
long etl_source_read(const struct etl_source *s, uint64_t at, void *p, size_t n);

struct etl_index_entry {
	uint64_t file_offset;
	uint64_t sequence;
	uint64_t first_raw;  /* time of the first record; 0 in buffer 0, which always comes first */
	uint32_t file_bytes; /* in the file, header included; less than announced when cut */
	uint32_t used_bytes; /* end of valid data, decompressed, header included */
	uint16_t cpu;
	bool compressed;
	bool cut;     /* the file ends inside its data */
	uint8_t loss; /* flags of ETL_BF_EVENTS_LOST and its like */
};

struct etl_problems {
	struct etl_problem *list;
	size_t count, cap, taken;
	bool overflow;
};
void etl_problems_add(struct etl_problems *p, uint64_t file_offset, const char *fmt, ...) BASE_PRINTF(3, 4);

struct etl_index {
	struct etl_index_entry *list;
	size_t count, cap;
	uint16_t compression; /* state of buffer 0: 2 LZNT1, 3 XPRESS, 4 XPRESS-Huffman */
};
/* buf0 are the first buf0_bytes of the file, already parsed into info. */
int etl_index_build(struct etl_index *x, const struct etl_source *s, const struct etl_file_info *info,
		    const uint8_t *buf0, struct etl_problems *problems);

#endif
