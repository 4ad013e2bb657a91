/* SPDX-License-Identifier: MIT
 *
 * inflate: DEFLATE (RFC 1951) as a stream, for trace files in archives. Private to etl. Input comes
 * in pieces from a callback, output goes in pieces to another; memory is the window and the tables.
 */
#ifndef ETL_INFLATE_H
#define ETL_INFLATE_H

#include "base/base.h"

#define INFLATE_WINDOW 32768u

struct inflate {
	/* The next piece of input: > 0 bytes at *ret, 0 at the end, -errno. */
	long (*more)(void *ctx, const uint8_t **ret);
	/* 0 or -errno, which ends everything. */
	int (*write)(void *ctx, const uint8_t *p, size_t n);
	void *ctx;
	/* private; all zero at the start */
	const uint8_t *in, *end;
	int error;
	uint64_t bits;
	unsigned bits_count;
	size_t at, written; /* in out */
	uint64_t total;
	uint8_t out[2 * INFLATE_WINDOW];
};

/* One complete deflate stream. Whole bytes behind it stay for inflate_byte(). 0, -EBADMSG for
 * nonsense, -ENODATA when the input ends too early, or what a callback said. What has been decoded
 * is written in any case. History of earlier streams stays, as MSZIP wants it. */
int inflate_stream(struct inflate *z);
/* The next byte of the input behind a stream (or before one), -1 at the end. */
int inflate_byte(struct inflate *z);
/* Pass stored bytes through to the output, window included. */
int inflate_put(struct inflate *z, const uint8_t *p, size_t n);
int inflate_flush(struct inflate *z);

uint32_t crc32_add(uint32_t crc, const uint8_t *p, size_t n);

#endif
