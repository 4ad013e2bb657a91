/* SPDX-License-Identifier: MIT
 *
 * Records are put into one open buffer per processor, and a second one for late records, so that
 * each buffer stays sorted, as readers expect. Closed buffers are numbered and written in the order
 * in which they close.
 */
#include "relog/relog.h"
#include "format/etl_head.h"

#include "base/open_output.h"
#include "etl/etl_writer.h"
#include "etw/values/session_modes.h"

#include <stdlib.h>
#include <unistd.h>

#define BUFFER_MIN     (64u << 10) /* any record fits in there, or in no session's buffer */
#define BUFFER_MAX     (1u << 20)
#define OPEN_BYTES_MAX (64u << 20) /* files may name thousands of processors */
#define HEADER_ROUND   0x200u
#define FORMAT_XPRESS  3u
#define LAYOUT_PLAIN   0x05010000u
#define LAYOUT_PACKED  0x00020000u

struct open_buffer {
	uint8_t *mem;
	uint32_t used;
	uint64_t last;
	uint64_t opened; /* order of opening */
};
struct processor {
	struct open_buffer now, late;
};

struct relog_writer {
	int fd;
	bool compress;
	uint32_t buffer_size;
	uint64_t at; /* where the next buffer goes */
	uint64_t last_at;
	uint64_t sequence;
	uint64_t openings;
	uint64_t open_bytes;
	uint32_t buffers_written;
	uint64_t last_raw;
	uint8_t *packed;
	struct processor *processors;
	uint32_t processor_count;
};

/* UTF-8 to terminated UTF-16 at p; returns the bytes used, or 0 when there is no room. */
static size_t put_name(uint8_t *p, size_t room, const char *s)
{
	long units = utf8_to_utf16(s, strlen(s), (uint16_t *)(void *)p, room / 2);
	if (units < 0 || (size_t)units >= room / 2) {
		return 0;
	}
	return 2 * ((size_t)units + 1);
}

/* The header record: the first input's, with what is new in this file. */
static int build_header(struct relog_writer *w, const struct relog_head *h, uint8_t *buf)
{
	const struct etl_file_info *f = &h->info;
	bool wide = f->pointer_size != 4;
	uint32_t names = wide ? ETL_LH64_NAMES : ETL_LH32_NAMES;
	uint8_t *rec = buf + ETL_BUFFER_HEADER_SIZE, *p = rec + ETL_SYSTEM_HEADER_SIZE;
	size_t room = w->buffer_size - (size_t)(p - buf) - names;

	memset(buf, 0, w->buffer_size);
	if (h->payload && h->payload_bytes >= names) {
		memcpy(p, h->payload, names);
	} else {
		le32_put(p + ETL_LH_VERSION, f->os_version);
		le32_put(p + ETL_LH_PROVIDER_VERSION, f->os_build);
		le32_put(p + ETL_LH_TIMER_RESOLUTION, f->timer_resolution);
		le32_put(p + ETL_LH_START_BUFFERS, 1);
		le32_put(p + ETL_LH_CPU_MHZ, f->cpu_mhz);
		memcpy(p + (wide ? ETL_LH64_TIME_ZONE : ETL_LH32_TIME_ZONE), f->time_zone, ETL_TIME_ZONE_SIZE);
		le64_put(p + (wide ? ETL_LH64_BOOT_TIME : ETL_LH32_BOOT_TIME), f->boot_filetime);
	}
	le32_put(p + ETL_LH_BUFFER_SIZE, w->buffer_size);
	le32_put(p + ETL_LH_VERSION,
		 (le32_get(p + ETL_LH_VERSION) & 0xFFFF) | (w->compress ? LAYOUT_PACKED : LAYOUT_PLAIN));
	le32_put(p + ETL_LH_PROCESSORS, BASE_MAX(f->processors, w->processor_count));
	le64_put(p + ETL_LH_END_TIME, h->end_filetime);
	le32_put(p + ETL_LH_MAXIMUM_FILE_SIZE, 0);
	le32_put(p + ETL_LH_MODE, h->mode | (w->compress ? EVENT_TRACE_COMPRESSED_MODE : 0));
	le32_put(p + ETL_LH_BUFFERS_WRITTEN, w->buffers_written);
	le32_put(p + ETL_LH_POINTER_SIZE, wide ? 8 : 4);
	le32_put(p + ETL_LH_EVENTS_LOST, h->events_lost);
	le64_put(p + (wide ? ETL_LH64_PERF_FREQ : ETL_LH32_PERF_FREQ), f->perf_freq);
	le64_put(p + (wide ? ETL_LH64_START_TIME : ETL_LH32_START_TIME), f->start_filetime);
	le32_put(p + (wide ? ETL_LH64_CLOCK_TYPE : ETL_LH32_CLOCK_TYPE), f->clock_type);
	le32_put(p + (wide ? ETL_LH64_BUFFERS_LOST : ETL_LH32_BUFFERS_LOST), h->buffers_lost);

	size_t a = put_name(p + names, room, h->logger_name);
	size_t b = a ? put_name(p + names + a, room - a, h->file_name) : 0;
	if (!b) {
		return -EMSGSIZE;
	}
	uint32_t bytes = (uint32_t)(ETL_SYSTEM_HEADER_SIZE + names + a + b);
	const struct etl_hook_head first = {
		.type = wide ? ETL_RT_SYSTEM64 : ETL_RT_SYSTEM32,
		.version = 2,
		.pid = h->pid,
		.tid = h->tid,
		.time = f->start_raw,
	};
	etl_hook_head_put(rec, bytes, &first);

	uint32_t used = ETL_BUFFER_HEADER_SIZE + BASE_ALIGN8(bytes);
	uint32_t size = w->compress ? (used + HEADER_ROUND - 1) / HEADER_ROUND * HEADER_ROUND : w->buffer_size;
	le32_put(buf + ETL_BH_BUFFER_SIZE, size);
	le32_put(buf + ETL_BH_SAVED_OFFSET, used);
	le64_put(buf + ETL_BH_TIME_STAMP, f->start_filetime);
	le32_put(buf + ETL_BH_STATE, w->compress ? FORMAT_XPRESS : ETL_STATE_FLUSH);
	le32_put(buf + ETL_BH_OFFSET, used);
	le16_put(buf + ETL_BH_FLAG, ETL_BF_FLUSH_MARKER);
	le16_put(buf + ETL_BH_TYPE, ETL_BT_HEADER);
	memset(buf + used, 0xFF, size - used);
	return (int)size;
}

int relog_writer_create(const char *path, const struct relog_head *head, bool compress, struct relog_writer **ret,
			struct diag *d)
{
	struct relog_writer *w = calloc(1, sizeof *w);
	int r = -ENOMEM;
	if (!w) {
		return r;
	}
	w->compress = compress;
	w->fd = -1;
	w->buffer_size = BASE_MIN(BASE_MAX(head->info.buffer_size, BUFFER_MIN), BUFFER_MAX) & ~0x3FFu;
	w->packed = malloc(ETL_BUFFER_HEADER_SIZE + xpress_compress_bound(w->buffer_size));
	if (!w->packed) {
		goto fail;
	}
	r = open_output(path, OPEN_OUTPUT_REUSE, 0666, d);
	if (r < 0) {
		goto fail;
	}
	w->fd = r;
	if (ftruncate(w->fd, 0) < 0) {
		r = -errno;
		diag_at(d, UINT64_MAX, "%s: %s", path, strerror(errno));
		goto fail;
	}
	/* Already readable: a run that is killed leaves a file of what came so far. */
	w->buffers_written = 1;
	r = build_header(w, head, w->packed);
	if (r > 0) {
		w->at = (uint64_t)r;
		r = base_pwrite_all(w->fd, w->packed, (size_t)r, 0);
	}
	if (r < 0) {
		diag_at(d, 0, "%s: %s", path, strerror(-r));
		goto fail;
	}
	*ret = w;
	return 0;
fail:
	relog_writer_destroy(w);
	return r;
}

static int close_buffer(struct relog_writer *w, struct open_buffer *b, uint16_t cpu)
{
	if (!b->mem) {
		return 0;
	}
	uint8_t *out = b->mem;
	uint32_t size = w->buffer_size, used = b->used;
	struct etl_buffer_args a = {.buffer_size = w->buffer_size,
				    .used = used,
				    .flush_raw = b->last,
				    .sequence = ++w->sequence,
				    .processor = cpu};
	etl_write_buffer_header(b->mem, &a, !w->compress);
	if (w->compress) {
		uint32_t plain = used - ETL_BUFFER_HEADER_SIZE;
		size = ETL_BUFFER_HEADER_SIZE + (uint32_t)xpress_compress(b->mem + ETL_BUFFER_HEADER_SIZE, plain,
									  w->packed + ETL_BUFFER_HEADER_SIZE);
		memcpy(w->packed, b->mem, ETL_BUFFER_HEADER_SIZE);
		out = w->packed;
		le32_put(out + ETL_BH_BUFFER_SIZE, size);
		le16_put(out + ETL_BH_FLAG, ETL_BF_PROC_INDEX | ETL_BF_COMPRESSED);
	}
	int r = base_pwrite_all(w->fd, out, size, w->at);
	if (r == 0) {
		w->last_at = w->at;
		w->at += size;
		w->buffers_written++;
	}
	free(b->mem);
	b->mem = NULL;
	w->open_bytes -= w->buffer_size;
	return r;
}

/* The buffer that has been open longest gives its memory back. */
static int close_oldest(struct relog_writer *w)
{
	struct open_buffer *oldest = NULL;
	uint32_t cpu = 0;
	for (uint32_t i = 0; i < w->processor_count; i++) {
		struct open_buffer *both[] = {&w->processors[i].now, &w->processors[i].late};
		for (int k = 0; k < 2; k++) {
			if (both[k]->mem && (!oldest || both[k]->opened < oldest->opened)) {
				oldest = both[k];
				cpu = i;
			}
		}
	}
	return oldest ? close_buffer(w, oldest, (uint16_t)cpu) : 0;
}

static int open_fresh(struct relog_writer *w, struct open_buffer *b)
{
	while (w->open_bytes + w->buffer_size > OPEN_BYTES_MAX) {
		int r = close_oldest(w);
		if (r < 0) {
			return r;
		}
	}
	b->mem = calloc(1, w->buffer_size);
	if (!b->mem) {
		return -ENOMEM;
	}
	b->used = ETL_BUFFER_HEADER_SIZE;
	b->last = 0;
	b->opened = w->openings++;
	w->open_bytes += w->buffer_size;
	return 0;
}

int relog_writer_put(struct relog_writer *w, uint16_t cpu, uint64_t time_raw, const void *record, uint32_t bytes)
{
	uint32_t room = BASE_ALIGN8(bytes);
	if (bytes > ETL_RECORD_MAX || room > w->buffer_size - ETL_BUFFER_HEADER_SIZE) {
		return -EMSGSIZE;
	}
	if (cpu >= w->processor_count) {
		struct processor *p = realloc(w->processors, (cpu + 1u) * sizeof *p);
		if (!p) {
			return -ENOMEM;
		}
		memset(p + w->processor_count, 0, (cpu + 1u - w->processor_count) * sizeof *p);
		w->processors = p;
		w->processor_count = cpu + 1u;
	}
	struct processor *p = &w->processors[cpu];
	struct open_buffer *b = p->now.mem && p->now.last > time_raw ? &p->late : &p->now;
	if (b->mem && (b->last > time_raw || room > w->buffer_size - b->used)) {
		int r = close_buffer(w, b, cpu);
		if (r < 0) {
			return r;
		}
	}
	int r = b->mem ? 0 : open_fresh(w, b);
	if (r < 0) {
		return r;
	}
	memcpy(b->mem + b->used, record, bytes); /* the pad was zeroed with the buffer */
	b->used += room;
	b->last = time_raw;
	return 0;
}

int relog_writer_finish(struct relog_writer *w, const struct relog_head *head, struct diag *d)
{
	int r = 0;
	for (uint32_t i = 0; i < w->processor_count && r == 0; i++) {
		r = close_buffer(w, &w->processors[i].late, (uint16_t)i);
		r = r < 0 ? r : close_buffer(w, &w->processors[i].now, (uint16_t)i);
	}
	if (r == 0 && w->last_at > 0) {
		uint8_t flags[2];
		le16_put(flags, ETL_BF_FLUSH_MARKER | ETL_BF_PROC_INDEX | (w->compress ? ETL_BF_COMPRESSED : 0));
		r = base_pwrite_all(w->fd, flags, 2, w->last_at + ETL_BH_FLAG);
	}
	if (r == 0) {
		r = build_header(w, head, w->packed);
		r = r < 0 ? r : base_pwrite_all(w->fd, w->packed, (size_t)r, 0);
	}
	if (close(w->fd) < 0 && r == 0) {
		r = -errno;
	}
	w->fd = -1;
	if (r < 0) {
		diag_at(d, w->at, "writing: %s", strerror(-r));
	}
	return r;
}

void relog_writer_destroy(struct relog_writer *w)
{
	if (!w) {
		return;
	}
	for (uint32_t i = 0; i < w->processor_count; i++) {
		free(w->processors[i].now.mem);
		free(w->processors[i].late.mem);
	}
	if (w->fd >= 0) {
		close(w->fd);
	}
	free(w->processors);
	free(w->packed);
	free(w);
}
