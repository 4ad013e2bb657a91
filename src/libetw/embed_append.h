/* SPDX-License-Identifier: MIT
 *
 * The end of a log file, and records put there. Private to libetw.
 */
#ifndef LIBETW_EMBED_APPEND_H
#define LIBETW_EMBED_APPEND_H

#include "base/base.h"
#include "etl/etl_reader.h"

struct embed_place {
	int fd;
	const struct etl_file_info *info; /* borrowed */
	uint64_t end;                     /* of the last whole buffer */
	uint64_t sequence;                /* the highest so far */
	uint32_t buffer_size;             /* unpacked */
	uint32_t buffers;                 /* buffer 0 counts */
	uint16_t format;                  /* ETL_FORMAT_*, when packed */
	bool packed;
	uint8_t last[ETL_BUFFER_HEADER_SIZE]; /* header of the last buffer */
};

/* May something be put behind the last buffer? Not in files of other shapes, damaged ones, and those
 * in which something stands behind that buffer. */
bool embed_place_find(int fd, const struct etl_file_info *f, struct embed_place *ret);
/* Records with their sizes in the first two bytes, each small enough for a buffer. 0, or -errno: then
 * the file is as it was. */
int embed_append(const struct embed_place *p, const struct strbuf *records);

#endif
