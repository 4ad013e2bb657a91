/* SPDX-License-Identifier: MIT
 *
 * Buffers of one processor, in order of their sequence numbers, are a stream sorted by time. The
 * reader keeps one buffer of each stream in memory and always delivers the stream whose next record
 * is oldest. A record is only looked at (etl_record_peek) while it waits and split when its turn
 * comes.
 */
#include "etl/etl_heap.h"
#include "etl/etl_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HEADER	      ETL_BUFFER_HEADER_SIZE
#define MODE_APPEND   0x00000004u
#define FORMAT_LZNT1  2u
#define FORMAT_XPRESS 3u
/* All streams together. A sound file needs processors x buffer size; a hostile one could ask for
 * far more with a few bytes of compressed data each. */
#define MEMORY_MAX (8ull << 30)

struct stream {
	uint32_t first, end; /* in the index */
	uint32_t current;
	uint8_t *mem; /* owned */
	size_t mem_bytes;
	const uint8_t *buf; /* current buffer; NULL when none is loaded */
	uint32_t used;
	struct etl_record_head head;
};

struct etl_reader {
	struct etl_source source;
	struct etl_file_info info;
	struct etl_clock clock;
	struct etl_index index;
	struct etl_problems problems;
	struct stream *streams;
	uint32_t streams_count;
	struct etl_heap heap;
	bool root_delivered; /* the root's record was handed out: move on first */
	uint32_t buffers_done;
	etl_buffer_done_fn *on_buffer;
	void *on_buffer_ctx;
	uint8_t *packed; /* compressed bytes of the buffer being loaded */
	size_t packed_bytes;
	uint64_t memory;
	uint8_t *header; /* buffer 0, for the names in info */
};

static int room_want(struct etl_reader *r, uint8_t **mem, size_t *have, size_t want)
{
	if (*have >= want) {
		return 0;
	}
	if (r->memory - *have + want > MEMORY_MAX) {
		return -ENOBUFS;
	}
	uint8_t *p = malloc(want);
	if (!p) {
		return -ENOMEM;
	}
	free(*mem);
	r->memory += want - *have;
	*mem = p;
	*have = want;
	return 0;
}

static int buffer_unpack(struct etl_reader *r, struct stream *s, const struct etl_index_entry *e)
{
	size_t n = e->file_bytes;
	const uint8_t *in;
	if (r->source.fd < 0) {
		in = r->source.mem + e->file_offset;
	} else {
		int err = room_want(r, &r->packed, &r->packed_bytes, n);
		if (err < 0) {
			return err;
		}
		long got = etl_source_read(&r->source, e->file_offset, r->packed, n);
		if (got < 0) {
			return (int)got;
		}
		n = (size_t)got;
		in = r->packed;
	}
	if (n < HEADER) {
		etl_problems_add(&r->problems, e->file_offset, "file was cut while it was read");
		s->used = HEADER;
		return 0;
	}
	memcpy(s->mem, in, HEADER);
	size_t done = 0;
	int err;
	switch (r->index.compression) {
	case FORMAT_XPRESS:
		err = xpress_decompress_some(in + HEADER, n - HEADER, s->mem + HEADER,
					     e->used_bytes - HEADER, &done);
		break;
	case FORMAT_LZNT1:
		err = lznt1_decompress_some(in + HEADER, n - HEADER, s->mem + HEADER,
					    e->used_bytes - HEADER, &done);
		break;
	default:
		etl_problems_add(&r->problems, e->file_offset, "compression format %u is not known",
				 r->index.compression);
		s->used = HEADER;
		return 0;
	}
	if (err < 0 && !e->cut) { /* a cut buffer was reported when it was indexed */
		etl_problems_add(&r->problems, e->file_offset,
				 "compressed data is damaged behind byte %zu of %u", done,
				 e->used_bytes - HEADER);
	}
	s->used = HEADER + (uint32_t)done;
	return 0;
}

/* Bring the stream's current buffer into memory. A buffer that cannot be read is empty, not an
 * error. */
static int buffer_load(struct etl_reader *r, struct stream *s)
{
	const struct etl_index_entry *e = &r->index.list[s->current];
	s->buf = NULL;
	if (!e->compressed && r->source.fd < 0) {
		s->buf = r->source.mem + e->file_offset;
		s->used = e->used_bytes;
		return 0;
	}
	int err = room_want(r, &s->mem, &s->mem_bytes, e->used_bytes);
	if (err == -ENOBUFS) {
		etl_problems_add(&r->problems, e->file_offset,
				 "buffer left out: the file wants more than %llu MiB of memory",
				 MEMORY_MAX >> 20);
		return 0;
	}
	if (err < 0) {
		return err;
	}
	if (e->compressed) {
		err = buffer_unpack(r, s, e);
		if (err < 0) {
			return err;
		}
	} else {
		long got = etl_source_read(&r->source, e->file_offset, s->mem, e->used_bytes);
		if (got < 0) {
			return (int)got;
		}
		s->used = (uint32_t)got;
		if (got < (long)e->used_bytes) {
			etl_problems_add(&r->problems, e->file_offset,
					 "file was cut while it was read");
		}
	}
	s->buf = s->used >= HEADER ? s->mem : NULL;
	return 0;
}

static void buffer_finish(struct etl_reader *r, struct stream *s)
{
	r->buffers_done++;
	if (r->on_buffer) {
		r->on_buffer(r->on_buffer_ctx, s->buf, s->buf ? s->used : 0);
	}
	s->buf = NULL;
}

/* A message without a time stamp takes the time of what stands before it in the buffer, or else of
 * the first record behind it that has one. */
static void head_guess_time(struct stream *s, uint64_t before)
{
	struct etl_record_head h = s->head;
	if (before != UINT64_MAX) {
		s->head.time_raw = before;
		return;
	}
	while (etl_record_peek(s->buf, s->used, etl_record_after(&h), &h, NULL) > 0) {
		if (h.timed) {
			s->head.time_raw = h.time_raw;
			return;
		}
	}
	s->head.time_raw = le64_get(s->buf + ETL_BH_TIME_STAMP);
}

/* Move to the first record at or behind `at` of this or a later buffer. 1, 0 at the end, -errno. */
static int stream_seek(struct etl_reader *r, struct stream *s, uint32_t at)
{
	for (;;) {
		if (s->buf) {
			struct diag d;
			diag_clear(&d);
			uint64_t before = at > HEADER ? s->head.time_raw : UINT64_MAX;
			int got = etl_record_peek(s->buf, s->used, at, &s->head, &d);
			if (BASE_LIKELY(got > 0)) {
				if (BASE_UNLIKELY(!s->head.timed)) {
					head_guess_time(s, before);
				}
				return 1;
			}
			const struct etl_index_entry *e = &r->index.list[s->current];
			if (got < 0 && !e->cut) { /* a cut is known already */
				etl_problems_add(
					&r->problems, e->file_offset,
					"at byte %llu of the buffer: %s; rest of it skipped",
					(unsigned long long)d.offset, d.text);
			}
			buffer_finish(r, s);
			s->current++;
		}
		if (s->current == s->end) {
			return 0;
		}
		int err = buffer_load(r, s);
		if (err < 0) {
			return err;
		}
		at = HEADER;
		if (!s->buf) {
			buffer_finish(r, s);
			s->current++;
		}
	}
}

static bool is_file_header(const struct etl_reader *r, const struct stream *s)
{
	return s->head.at == HEADER && r->index.list[s->current].file_offset == 0;
}

static struct etl_heap_item heap_item(const struct etl_reader *r, const struct stream *s)
{
	/* The header comes first whatever its clock says: consumers need it to understand the rest.
	 */
	return (struct etl_heap_item){
		.time = is_file_header(r, s) ? 0 : s->head.time_raw,
		.sequence = r->index.list[s->current].sequence,
		.who = (uint32_t)(s - r->streams),
	};
}

int etl_reader_next(struct etl_reader *r, struct etl_record *ret)
{
	if (BASE_LIKELY(r->root_delivered)) {
		struct stream *s = &r->streams[r->heap.items[0].who];
		int got = stream_seek(r, s, etl_record_after(&s->head));
		if (got < 0) {
			return got;
		}
		r->root_delivered = false;
		if (got > 0) {
			r->heap.items[0] = heap_item(r, s);
			etl_heap_sift(&r->heap);
		} else {
			etl_heap_pop(&r->heap);
		}
	}
	if (r->heap.count == 0) {
		return 0;
	}
	struct stream *s = &r->streams[r->heap.items[0].who];
	struct diag d;
	d.text[0] = 0;
	etl_record_split(s->buf, &s->head, &r->clock, ret, &d);
	ret->file_offset = r->index.list[s->current].file_offset;
	if (BASE_UNLIKELY(d.text[0] != 0)) {
		etl_problems_add(&r->problems, ret->file_offset, "at byte %u of the buffer: %s",
				 s->head.at, d.text);
	}
	r->root_delivered = true;
	return 1;
}

static int by_stream_and_sequence(const void *pa, const void *pb)
{
	const struct etl_index_entry *a = pa, *b = pb;
	if (a->cpu != b->cpu) {
		return a->cpu < b->cpu ? -1 : 1;
	}
	if (a->sequence != b->sequence) {
		return a->sequence < b->sequence ? -1 : 1;
	}
	return a->file_offset < b->file_offset ? -1 : a->file_offset > b->file_offset;
}

static int by_stream_and_place(const void *pa, const void *pb)
{
	const struct etl_index_entry *a = pa, *b = pb;
	if (a->cpu != b->cpu) {
		return a->cpu < b->cpu ? -1 : 1;
	}
	return a->file_offset < b->file_offset ? -1 : a->file_offset > b->file_offset;
}

static int streams_build(struct etl_reader *r, uint32_t flags)
{
	struct etl_index *x = &r->index;
	bool merge = !(flags & ETL_READER_FILE_ORDER);
	if (merge && x->count > 1) {
		/* Appended sessions number their buffers from 1 again. */
		qsort(x->list, x->count, sizeof *x->list,
		      r->info.log_file_mode & MODE_APPEND ? by_stream_and_place
							  : by_stream_and_sequence);
	}
	uint32_t n = x->count > 0;
	for (size_t i = 1; i < x->count && merge; i++) {
		n += x->list[i].cpu != x->list[i - 1].cpu;
	}
	r->streams = calloc(n ? n : 1, sizeof *r->streams);
	r->heap.items = calloc(n ? n : 1, sizeof *r->heap.items);
	if (!r->streams || !r->heap.items) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < x->count;) {
		struct stream *s = &r->streams[r->streams_count++];
		s->first = s->current = i;
		do {
			i++;
		} while (i < x->count && (!merge || x->list[i].cpu == x->list[s->first].cpu));
		s->end = i;
	}
	for (uint32_t i = 0; i < r->streams_count; i++) {
		int got = stream_seek(r, &r->streams[i], HEADER);
		if (got < 0) {
			return got;
		}
		if (got > 0) {
			etl_heap_push(&r->heap, heap_item(r, &r->streams[i]));
		}
	}
	return 0;
}

static int reader_open(const struct etl_source *source, uint32_t flags, struct etl_reader **ret,
		       struct diag *d)
{
	struct etl_reader *r = calloc(1, sizeof *r);
	if (!r) {
		int fd = source->fd;
		base_close(&fd);
		return -ENOMEM;
	}
	r->source = *source;
	uint8_t h[HEADER];
	long got = etl_source_read(source, 0, h, HEADER);
	int err = (int)got;
	if (got < 0) {
		goto fail;
	}
	uint32_t first = got == (long)HEADER ? le32_get(h + ETL_BH_BUFFER_SIZE) : 0;
	/* Enough for any header record even when the size is nonsense. */
	first = first >= 0x200 && first <= ETL_BUFFER_MAX ? first : 0x10000;
	first = (uint32_t)BASE_MIN(first, source->bytes);
	r->header = malloc(first ? first : 1);
	err = -ENOMEM;
	if (!r->header) {
		goto fail;
	}
	got = etl_source_read(source, 0, r->header, first);
	err = (int)got;
	if (got < 0) {
		goto fail;
	}
	err = etl_header_parse(r->header, (size_t)got, &r->info, d);
	if (err < 0) {
		goto fail;
	}
	r->info.file_bytes = source->bytes;
	r->info.compressed = (r->info.log_file_mode & 0x04000000u) != 0;
	r->clock = (struct etl_clock){
		.clock_type = r->info.clock_type,
		.perf_freq = r->info.perf_freq,
		.cpu_mhz = r->info.cpu_mhz,
		.start_raw = r->info.start_raw,
		.start_filetime = r->info.start_filetime,
	};
	err = etl_index_build(&r->index, source, &r->info, r->header, &r->problems);
	if (err < 0) {
		goto fail;
	}
	r->info.buffers_found = (uint32_t)r->index.count;
	err = streams_build(r, flags);
	if (err < 0) {
		goto fail;
	}
	*ret = r;
	return 0;
fail:
	etl_reader_close(r);
	return err;
}

int etl_reader_open(const char *path, uint32_t flags, struct etl_reader **ret, struct diag *d)
{
	/* Not blocking: a FIFO must not hang us before fstat tells that it is one. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		int err = -errno;
		diag_at(d, UINT64_MAX, "cannot open %s: %s", path, strerror(-err));
		return err;
	}
	struct stat st;
	int err = fstat(fd, &st) < 0	? -errno
		  : S_ISDIR(st.st_mode) ? -EISDIR
		  : S_ISREG(st.st_mode) ? 0
					: -EINVAL;
	if (err < 0) {
		diag_at(d, UINT64_MAX, "%s is no regular file", path);
		close(fd);
		return err;
	}
	struct etl_source s = {.fd = fd, .bytes = (uint64_t)st.st_size};
	return reader_open(&s, flags, ret, d);
}

int etl_reader_open_memory(const void *p, size_t n, uint32_t flags, struct etl_reader **ret,
			   struct diag *d)
{
	struct etl_source s = {.fd = -1, .mem = p, .bytes = n};
	return reader_open(&s, flags, ret, d);
}

void etl_reader_close(struct etl_reader *r)
{
	if (!r) {
		return;
	}
	for (uint32_t i = 0; i < r->streams_count; i++) {
		free(r->streams[i].mem);
	}
	free(r->streams);
	free(r->heap.items);
	free(r->index.list);
	free(r->problems.list);
	free(r->packed);
	free(r->header);
	base_close(&r->source.fd);
	free(r);
}

const struct etl_file_info *etl_reader_info(const struct etl_reader *r)
{
	return &r->info;
}

uint32_t etl_reader_buffers_done(const struct etl_reader *r)
{
	return r->buffers_done;
}

void etl_reader_on_buffer(struct etl_reader *r, etl_buffer_done_fn *fn, void *ctx)
{
	r->on_buffer = fn;
	r->on_buffer_ctx = ctx;
}

bool etl_reader_next_problem(struct etl_reader *r, struct etl_problem *ret)
{
	if (r->problems.taken == r->problems.count) {
		return false;
	}
	*ret = r->problems.list[r->problems.taken++];
	return true;
}
