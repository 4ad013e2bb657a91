/* SPDX-License-Identifier: MIT
 * The input as an archive of each kind, and as a bare deflate stream.
 */
#include "etl/etl_archive.h"
#include "etl/inflate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sum;
static uint64_t room;

static int take(void *ctx, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sum ^= p[i];
	}
	if (n > room) {
		return -ENOSPC;
	}
	room -= n;
	return 0;
}

struct input {
	const uint8_t *p;
	size_t n;
};
static long give(void *ctx, const uint8_t **ret)
{
	struct input *i = ctx;
	size_t n = i->n < 7 ? i->n : 7; /* in small pieces */
	*ret = i->p;
	i->p += n;
	i->n -= n;
	return (long)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etl_source s = {.fd = -1, .mem = data, .bytes = size};
	for (int kind = ETL_ARCHIVE_GZIP; kind <= ETL_ARCHIVE_CAB; kind++) {
		struct diag d;
		diag_clear(&d);
		room = 1 << 20;
		etl_archive_unpack(&s, (enum etl_archive_kind)kind, take, NULL, &d);
	}
	struct input i = {data, size};
	struct inflate *z = calloc(1, sizeof *z);
	if (z) {
		z->more = give;
		z->write = take;
		z->ctx = &i;
		room = 1 << 20;
		inflate_stream(z);
		free(z);
	}
	return 0;
}
