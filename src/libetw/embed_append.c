/* SPDX-License-Identifier: MIT
 *
 * Records put behind the last buffer of a log file, in buffers of the file's own kind: plain ones of one
 * size, or compressed as its others are.
 */
#include "libetw/embed_append.h"

#include "etl/etl_writer.h"

#include <stdlib.h>
#include <unistd.h>

#define FLAGS_KNOWN 0x7Fu

static bool header_sound(const struct embed_place *p, const uint8_t *h, uint64_t at)
{
	uint32_t size = le32_get(h + ETL_BH_BUFFER_SIZE);
	if (le16_get(h + ETL_BH_FLAG) & ~FLAGS_KNOWN) {
		return false;
	}
	return p->packed ? size >= ETL_BUFFER_HEADER_SIZE && size <= ETL_BUFFER_MAX : size == p->buffer_size || at == 0;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != 0) {
			return false;
		}
	}
	return true;
}

bool embed_place_find(int fd, const struct etl_file_info *f, struct embed_place *ret)
{
	struct embed_place p = {.fd = fd, .buffer_size = f->buffer_size, .packed = f->compressed, .info = f};
	if (f->old || f->spill || f->pointer_size != 8 || f->buffer_size <= ETL_BUFFER_HEADER_SIZE ||
	    f->buffer_size > ETL_BUFFER_MAX) {
		return false;
	}
	uint8_t h[ETL_BUFFER_HEADER_SIZE];
	uint64_t at = 0;
	for (; at + sizeof h <= f->file_bytes; p.buffers++) {
		if (pread(fd, h, sizeof h, (off_t)at) != (ssize_t)sizeof h) {
			return false;
		}
		uint32_t size = le32_get(h + ETL_BH_BUFFER_SIZE);
		if (!header_sound(&p, h, at) || at + size > f->file_bytes) {
			break;
		}
		if (at == 0) {
			p.format = (uint16_t)le32_get(h + ETL_BH_STATE);
			p.packed = p.packed || size != p.buffer_size;
		}
		memcpy(p.last, h, sizeof h);
		p.sequence = BASE_MAX(p.sequence, le64_get(h + ETL_BH_SEQUENCE));
		at += size;
	}
	p.end = at;
	if (p.packed && p.format != ETL_FORMAT_XPRESS && p.format != ETL_FORMAT_ZSTD) {
		return false;
	}
	if (p.buffers < 2 || p.buffers != f->buffers_found) {
		return false; /* what follows is damaged, or another buffer, cut */
	}
	if (f->stopped_cleanly) {
		*ret = p;
		return p.end == f->file_bytes && p.buffers == f->buffers_written;
	}
	/* Its writer died: what was set aside and never written may go. */
	for (uint64_t rest = at; rest < f->file_bytes;) {
		uint8_t part[4096];
		ssize_t n = pread(fd, part, sizeof part, (off_t)rest);
		if (n <= 0 || !all_zero(part, (size_t)n)) {
			return false;
		}
		rest += (uint64_t)n;
	}
	*ret = p;
	return true;
}

/* As the sink packs. Bytes, or 0. */
static uint32_t pack(struct etl_zstd *z, const uint8_t *buf, uint32_t used, uint8_t *out, size_t cap)
{
	const uint8_t *plain = buf + ETL_BUFFER_HEADER_SIZE;
	size_t n = used - ETL_BUFFER_HEADER_SIZE;
	size_t packed = z ? etl_zstd_compress(z, plain, n, out + ETL_BUFFER_HEADER_SIZE, cap - ETL_BUFFER_HEADER_SIZE)
			  : xpress_compress(plain, n, out + ETL_BUFFER_HEADER_SIZE);
	uint32_t size = ETL_BUFFER_HEADER_SIZE + (uint32_t)packed;
	memcpy(out, buf, ETL_BUFFER_HEADER_SIZE);
	le32_put(out + ETL_BH_BUFFER_SIZE, size);
	le16_put(out + ETL_BH_FLAG, le16_get(buf + ETL_BH_FLAG) | ETL_BF_COMPRESSED);
	return packed ? size : 0;
}

static void finish_buffer(const struct embed_place *p, uint8_t *buf, uint32_t used, uint32_t number)
{
	memset(buf + used, 0xFF, p->buffer_size - used);
	memcpy(buf, p->last, ETL_BUFFER_HEADER_SIZE);
	le32_put(buf + ETL_BH_BUFFER_SIZE, p->buffer_size);
	le32_put(buf + ETL_BH_SAVED_OFFSET, used);
	le32_put(buf + ETL_BH_CURRENT_OFFSET, used);
	le32_put(buf + ETL_BH_OFFSET, used);
	le64_put(buf + ETL_BH_SEQUENCE, p->sequence + number + 1);
	le16_put(buf + ETL_BH_PROCESSOR, 0);
	le16_put(buf + ETL_BH_FLAG, le16_get(p->last + ETL_BH_FLAG) & ETL_BF_PROC_INDEX);
	le16_put(buf + ETL_BH_TYPE, ETL_BT_GENERIC);
}

int embed_append(const struct embed_place *p, const struct strbuf *records)
{
	uint32_t buffers = 0, size = p->buffer_size;
	struct etl_zstd *z = NULL;
	int err = p->packed && p->format == ETL_FORMAT_ZSTD ? etl_zstd_create(&z) : 0;
	size_t plain = size - ETL_BUFFER_HEADER_SIZE;
	size_t cap = ETL_BUFFER_HEADER_SIZE + (z ? etl_zstd_bound(plain) : xpress_compress_bound(plain));
	uint8_t *buf = malloc(size), *packed = p->packed ? malloc(cap) : NULL;
	err = err < 0 ? err : !buf || (p->packed && !packed) ? -ENOMEM : 0;
	uint64_t end = p->end;
	for (size_t at = 0; at < records->len && err == 0; buffers++) {
		uint32_t used = ETL_BUFFER_HEADER_SIZE;
		while (at < records->len) {
			size_t bytes = BASE_ALIGN8((size_t)le16_get(records->s + at));
			if (bytes > size - used) {
				break;
			}
			memcpy(buf + used, records->s + at, bytes);
			used += (uint32_t)bytes;
			at += bytes;
		}
		finish_buffer(p, buf, used, buffers);
		uint32_t bytes = packed ? pack(z, buf, used, packed, cap) : size;
		err = bytes ? base_pwrite_all(p->fd, packed ? packed : buf, bytes, end) : -EIO;
		end += bytes;
	}
	if (err == 0 && !p->info->stopped_cleanly && ftruncate(p->fd, (off_t)end) < 0) {
		err = -errno;
	}
	if (err == 0) {
		uint8_t count[4];
		le32_put(count, p->buffers + buffers);
		err = base_pwrite_all(p->fd, count, sizeof count, ETL_HEADER_LIVE_OFFSET + ETL_LH_BUFFERS_WRITTEN);
	}
	if (err < 0 && ftruncate(p->fd, (off_t)p->end) < 0) {
		err = -errno;
	}
	etl_zstd_destroy(z);
	free(packed);
	free(buf);
	return err;
}
