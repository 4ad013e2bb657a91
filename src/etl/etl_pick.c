/* SPDX-License-Identifier: MIT */
#include "etl/etl_pick.h"

#include "etl/etl_index.h"

#include <stdlib.h>
#include <sys/stat.h>

#define HEADER     ETL_BUFFER_HEADER_SIZE
#define KEPT       128u /* buffers */
#define KEPT_BYTES (64ull << 20)

/* A plain buffer that was asked for. */
struct kept {
	uint64_t file_offset;
	uint64_t used_at; /* the latest has the highest */
	uint8_t *mem;     /* NULL: free */
	uint32_t bytes;
};
struct etl_pick {
	struct etl_source source;
	struct etl_file_info info;
	struct etl_clock clock;
	struct etl_index index; /* in the order of the file */
	struct etl_problems problems;
	uint8_t *header;
	struct kept kept[KEPT];
	uint64_t kept_bytes, turn;
	struct kept *last;
};

int etl_pick_open(int fd, struct etl_pick **ret, struct diag *d)
{
	struct stat st;
	struct etl_pick *p = calloc(1, sizeof *p);
	if (!p || fstat(fd, &st) < 0) {
		int err = p ? -errno : -ENOMEM;
		free(p);
		return err;
	}
	p->source = (struct etl_source){.fd = fd, .bytes = (uint64_t)st.st_size};
	uint8_t h[HEADER];
	long got = etl_source_read(&p->source, 0, h, HEADER);
	uint32_t first = got == (long)HEADER ? le32_get(h + ETL_BH_BUFFER_SIZE) : 0;
	/* Enough for any header record even when the size is nonsense. */
	first = first >= 0x200 && first <= ETL_BUFFER_MAX ? first : 0x10000;
	first = (uint32_t)BASE_MIN(first, p->source.bytes);
	p->header = malloc(first ? first : 1);
	int err = p->header ? 0 : -ENOMEM;
	if (err == 0) {
		got = etl_source_read(&p->source, 0, p->header, first);
		err = got < 0 ? (int)got : etl_header_parse(p->header, (size_t)got, &p->info, d);
	}
	if (err == 0) {
		p->info.file_bytes = p->source.bytes;
		p->clock = (struct etl_clock){
			.clock_type = p->info.clock_type,
			.perf_freq = p->info.perf_freq,
			.cpu_mhz = p->info.cpu_mhz,
			.start_raw = p->info.start_raw,
			.start_filetime = p->info.start_filetime,
		};
		err = etl_index_build(&p->index, &p->source, &p->info, p->header, &p->problems);
	}
	if (err < 0) {
		etl_pick_close(p);
		return err;
	}
	*ret = p;
	return 0;
}

void etl_pick_close(struct etl_pick *p)
{
	if (p) {
		for (uint32_t i = 0; i < KEPT; i++) {
			free(p->kept[i].mem);
		}
		free(p->index.list);
		free(p->problems.list);
		free(p->header);
		free(p);
	}
}

static const struct etl_index_entry *entry_at(const struct etl_pick *p, uint64_t file_offset)
{
	size_t low = 0, high = p->index.count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p->index.list[mid].file_offset < file_offset) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low < p->index.count && p->index.list[low].file_offset == file_offset ? &p->index.list[low] : NULL;
}

/* The buffer, plain, as far as it can be read. NULL: no memory, or it cannot be read at all. */
static uint8_t *plain_of(const struct etl_pick *p, const struct etl_index_entry *e, uint32_t *ret_bytes)
{
	size_t n = e->compressed ? e->file_bytes : e->used_bytes;
	uint8_t *in = malloc(n ? n : 1);
	long got = in ? etl_source_read(&p->source, e->file_offset, in, n) : -ENOMEM;
	if (got < (long)HEADER) {
		free(in);
		return NULL;
	}
	if (!e->compressed) {
		*ret_bytes = (uint32_t)got;
		return in;
	}
	uint8_t *out = malloc(e->used_bytes);
	size_t done = 0;
	if (out) {
		memcpy(out, in, HEADER);
		etl_decompress(p->index.compression, in + HEADER, (size_t)got - HEADER, out + HEADER,
			       e->used_bytes - HEADER, &done);
		*ret_bytes = HEADER + (uint32_t)done;
	}
	free(in);
	return out;
}

static void forget(struct etl_pick *p, struct kept *k)
{
	p->kept_bytes -= k->bytes;
	free(k->mem);
	*k = (struct kept){.mem = NULL};
}

/* A free place, and room for so many bytes; those that were not asked for longest go. */
static struct kept *place_for(struct etl_pick *p, uint32_t bytes)
{
	for (;;) {
		struct kept *oldest = NULL, *vacant = NULL;
		for (uint32_t i = 0; i < KEPT; i++) {
			struct kept *k = &p->kept[i];
			if (!k->mem) {
				vacant = k;
			} else if (!oldest || k->used_at < oldest->used_at) {
				oldest = k;
			}
		}
		if (vacant && (p->kept_bytes + bytes <= KEPT_BYTES || !oldest)) {
			return vacant;
		}
		forget(p, oldest);
	}
}

static struct kept *buffer_at(struct etl_pick *p, uint64_t file_offset)
{
	if (p->last && p->last->mem && p->last->file_offset == file_offset) {
		return p->last;
	}
	for (uint32_t i = 0; i < KEPT; i++) {
		if (p->kept[i].mem && p->kept[i].file_offset == file_offset) {
			p->kept[i].used_at = ++p->turn;
			return p->last = &p->kept[i];
		}
	}
	const struct etl_index_entry *e = entry_at(p, file_offset);
	if (!e || e->used_bytes < HEADER) {
		return NULL;
	}
	struct kept *k = place_for(p, e->used_bytes);
	uint32_t bytes;
	uint8_t *mem = plain_of(p, e, &bytes);
	if (!mem) {
		return NULL;
	}
	*k = (struct kept){.file_offset = file_offset, .used_at = ++p->turn, .mem = mem, .bytes = bytes};
	p->kept_bytes += bytes;
	return p->last = k;
}

int etl_pick_record(struct etl_pick *p, uint64_t file_offset, uint32_t buffer_offset, struct etl_record *ret)
{
	const struct kept *k = buffer_at(p, file_offset);
	struct etl_record_head h;
	struct diag d;
	diag_clear(&d);
	if (!k || buffer_offset < HEADER || buffer_offset >= k->bytes ||
	    etl_record_peek(k->mem, k->bytes, buffer_offset, &h, &d) <= 0 || h.at != buffer_offset) {
		return -ENOENT;
	}
	etl_record_split(k->mem, &h, &p->clock, ret, &d);
	ret->file_offset = file_offset;
	return 0;
}

uint64_t etl_pick_frequency(const struct etl_pick *p)
{
	return p->info.perf_freq;
}
