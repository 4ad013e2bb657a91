/* SPDX-License-Identifier: MIT
 *
 * Buffers are sorted by the time of their first record, which the index knows. A buffer is brought
 * into memory when its first record may be the next of all, and leaves when its last was taken; so
 * memory holds those that overlap in time: one for each processor, and rarely one more with its
 * late records. (One stream for each processor, sorted by sequence number, would not do: late
 * records make buffers of one processor overlap, too.) A record is only looked at (etl_record_peek)
 * while it waits and split when its turn comes.
 */
#include "etl/etl_heap.h"
#include "base/vec.h"
#include "etl/etl_index.h"
#include "etl/etl_loss.h"
#include "etl/etl_run.h"
#include "etl/xpress_stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HEADER       ETL_BUFFER_HEADER_SIZE
#define CLOCK_SYSTEM 2u
/* All buffers in memory together. A sound file needs processors x buffer size; a hostile one could
 * ask for far more with a few bytes of compressed data each, so the limit grows with the file. */
#define MEMORY_BASE          (256ull << 20)
#define MEMORY_MAX           (8ull << 30)
#define MEMORY_PER_FILE_BYTE 64u

/* Large buffers are read through windows: a record is at most 64 KiB, so each window ends before the
 * first record that might not be complete in it. All windows together have WINDOWS_TOTAL. */
#define RECORD_MAX    65536u
#define WINDOW_MIN    (2u * RECORD_MAX)
#define WINDOW_MAX    (1u << 20)
#define WINDOWS_TOTAL (32u << 20)

/* A buffer in memory, or a piece of one with the buffer's header in front. */
struct slot {
	struct etl_run run;
	uint32_t *pieces; /* where they start in the buffer, and where the last ends; owned */
	uint32_t piece_count, piece_cap, piece;
	uint32_t entry; /* in the index */
	uint8_t *mem;   /* owned; kept for the next buffer */
	size_t mem_bytes;
	struct xpress_stream *unpacker; /* owned; NULL: none of its buffers was large and compressed */
};

struct etl_reader {
	struct etl_source source;
	struct etl_file_info info;
	struct etl_clock clock;
	struct etl_index index;
	struct etl_problems problems;
	bool file_order;
	uint32_t window; /* bytes; 0: whole buffers */
	uint32_t run_flags;
	size_t waiting; /* index entries before this one have been brought in */
	struct slot *slots;
	uint32_t slots_count, slots_cap;
	uint32_t *vacant; /* slots not in use */
	uint32_t vacant_count;
	struct etl_heap heap; /* slots in use, by the time of their head */
	bool root_delivered;  /* the root's record was handed out: move on first */
	uint8_t loss;         /* flags to tell of before the next record */
	uint32_t buffers_done;
	etl_wanted_fn *wanted; /* NULL: all */
	etl_buffer_done_fn *on_buffer;
	void *on_buffer_ctx;
	uint8_t *packed; /* compressed bytes of the buffer being loaded */
	size_t packed_bytes;
	uint64_t memory, memory_max;
	uint8_t *header; /* buffer 0, for the names in info */
	struct etl_loss_range *losses;
	size_t losses_count, losses_taken;
	bool losses_known;
};

static int room_want(struct etl_reader *r, uint8_t **mem, size_t *have, size_t want)
{
	if (*have >= want) {
		return 0;
	}
	if (r->memory - *have + want > r->memory_max) {
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

static int buffer_unpack(struct etl_reader *r, struct slot *s, const struct etl_index_entry *e, uint32_t *ret_used)
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
		*ret_used = HEADER;
		return 0;
	}
	memcpy(s->mem, in, HEADER);
	/* Who gets to see the plain buffer shall find a plain one. */
	le16_put(s->mem + ETL_BH_FLAG, le16_get(in + ETL_BH_FLAG) & ~ETL_BF_COMPRESSED);
	le32_put(s->mem + ETL_BH_BUFFER_SIZE, e->used_bytes);
	size_t done = 0;
	int err = etl_decompress(r->index.compression, in + HEADER, n - HEADER, s->mem + HEADER, e->used_bytes - HEADER,
				 &done);
	if (err == -ENOTSUP) {
		etl_problems_add(&r->problems, e->file_offset, "compression format %u is not known",
				 r->index.compression);
		*ret_used = HEADER;
		return 0;
	}
	if (err < 0 && !e->cut) { /* a cut buffer was reported when it was indexed */
		etl_problems_add(&r->problems, e->file_offset, "compressed data is damaged behind byte %zu of %u", done,
				 e->used_bytes - HEADER);
	}
	*ret_used = HEADER + (uint32_t)done;
	return 0;
}

static int pieces_add(struct slot *s, uint32_t at)
{
	if (!VEC_ROOM(s->pieces, s->piece_count, s->piece_cap)) {
		return -ENOMEM;
	}
	s->pieces[s->piece_count++] = at;
	return 0;
}

/* The next bytes of the slot's large buffer, at `at` behind its header; compressed ones are only read
 * front to back. */
static long large_read(struct etl_reader *r, struct slot *s, uint32_t at, uint8_t *to, size_t n)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	return e->compressed ? xpress_stream_read(s->unpacker, to, n)
			     : etl_source_read(&r->source, e->file_offset + at, to, n);
}

static void large_rewind(struct etl_reader *r, struct slot *s)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	if (e->compressed) {
		xpress_stream_start(s->unpacker, &r->source, e->file_offset + HEADER, e->file_bytes - HEADER,
				    e->used_bytes - HEADER);
	}
}

/* The first reading of a large buffer: where it can be cut, and whether that makes sense. 1: it does;
 * 0: it must be in memory as a whole, because it is not sorted or damaged. */
static int pieces_find(struct etl_reader *r, struct slot *s)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	uint64_t last = 0;
	uint32_t there = 0; /* bytes from `at` on that are in memory already */
	s->piece_count = 0;
	large_rewind(r, s);
	for (uint32_t at = HEADER; at < e->used_bytes;) {
		uint32_t want = BASE_MIN(r->window, e->used_bytes - at);
		bool end = want == e->used_bytes - at;
		long got = large_read(r, s, at + there, s->mem + there, want - there);
		if (got < 0) {
			return (int)got;
		}
		got += there;
		int err = pieces_add(s, at);
		if (err < 0) {
			return err;
		}
		uint32_t stop = end ? want : want - RECORD_MAX, here = 0;
		struct etl_record_head h;
		int more = 1;
		while (here < stop && (more = etl_record_peek(s->mem, (uint32_t)got, here, &h, NULL)) > 0) {
			bool keep = (r->run_flags & ETL_RUN_KEEP_ORDER) != 0;
			if (h.timed && h.time_raw < last && !keep) {
				return 0;
			}
			last = h.timed ? h.time_raw : last;
			here = etl_record_after(&h);
		}
		if (got < (long)want || (more <= 0 && !end) || (here > want && !end)) {
			return 0;
		}
		there = end ? 0 : want - here;
		memmove(s->mem, s->mem + here, there);
		at += end ? want : here;
	}
	int err = pieces_add(s, e->used_bytes);
	return err < 0 ? err : 1;
}

/* Bring the slot's next piece into memory. */
static int piece_load(struct etl_reader *r, struct slot *s, uint32_t *ret_used)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	uint32_t at = s->pieces[s->piece], n = s->pieces[s->piece + 1] - at;
	if (s->piece == 0) {
		large_rewind(r, s);
	}
	long got = large_read(r, s, at, s->mem + HEADER, n);
	if (got < 0) {
		return (int)got;
	}
	if (got < (long)n) {
		etl_problems_add(&r->problems, e->file_offset, "file was cut while it was read");
	}
	*ret_used = HEADER + (uint32_t)got;
	return 0;
}

static int buffer_open_windows(struct etl_reader *r, struct slot *s, uint32_t *ret_used)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	if (r->window == 0 || r->source.fd < 0 || e->cut || e->used_bytes <= HEADER + r->window ||
	    (e->compressed && r->index.compression != ETL_COMPRESSION_XPRESS)) {
		return 0;
	}
	if (e->compressed && !s->unpacker) {
		s->unpacker = malloc(sizeof *s->unpacker);
		if (!s->unpacker) {
			return -ENOMEM;
		}
		r->memory += sizeof *s->unpacker;
	}
	int got = room_want(r, &s->mem, &s->mem_bytes, HEADER + (size_t)r->window);
	if (got == 0) {
		got = pieces_find(r, s);
	}
	if (got > 0) {
		long n = etl_source_read(&r->source, e->file_offset, s->mem, HEADER);
		s->piece = 0;
		if (n == (long)HEADER && e->compressed) { /* who sees it shall find a plain one */
			le16_put(s->mem + ETL_BH_FLAG, le16_get(s->mem + ETL_BH_FLAG) & ~ETL_BF_COMPRESSED);
			le32_put(s->mem + ETL_BH_BUFFER_SIZE, e->used_bytes);
		}
		int err = n < (long)HEADER ? (n < 0 ? (int)n : -EBADMSG) : piece_load(r, s, ret_used);
		return err < 0 ? err : 1;
	}
	s->piece_count = 0;
	return got == -ENOBUFS || got == -EBADMSG ? 0 : got;
}

/* Bring the slot's buffer into memory. A buffer that cannot be read is empty, not an error. */
static int buffer_load(struct etl_reader *r, struct slot *s, const uint8_t **ret_buf, uint32_t *ret_used)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	*ret_buf = NULL;
	*ret_used = 0;
	s->piece_count = 0;
	int windows = buffer_open_windows(r, s, ret_used);
	if (windows != 0) {
		*ret_buf = s->mem;
		return BASE_MIN(windows, 0);
	}
	if (!e->compressed && r->source.fd < 0) {
		*ret_buf = r->source.mem + e->file_offset;
		*ret_used = e->used_bytes;
		return 0;
	}
	int err = room_want(r, &s->mem, &s->mem_bytes, e->used_bytes);
	if (err == -ENOBUFS) {
		etl_problems_add(&r->problems, e->file_offset,
				 "buffer left out: the file wants more than %llu MiB of memory",
				 (unsigned long long)(r->memory_max >> 20));
		return 0;
	}
	if (err < 0) {
		return err;
	}
	if (e->compressed) {
		err = buffer_unpack(r, s, e, ret_used);
		if (err < 0) {
			return err;
		}
	} else {
		long got = etl_source_read(&r->source, e->file_offset, s->mem, e->used_bytes);
		if (got < 0) {
			return (int)got;
		}
		*ret_used = (uint32_t)got;
		if (got < (long)e->used_bytes) {
			etl_problems_add(&r->problems, e->file_offset, "file was cut while it was read");
		}
	}
	*ret_buf = *ret_used >= HEADER ? s->mem : NULL;
	return 0;
}

/* From offsets in memory to offsets in the buffer. */
static uint32_t piece_shift(const struct slot *s)
{
	return s->piece_count ? s->pieces[s->piece] - HEADER : 0;
}

static void slot_problem(struct etl_reader *r, const struct slot *s, const struct diag *d)
{
	const struct etl_index_entry *e = &r->index.list[s->entry];
	if (!e->cut) { /* a cut is known already */
		etl_problems_add(&r->problems, e->file_offset, "at byte %llu of the buffer: %s; rest of it skipped",
				 (unsigned long long)d->offset + piece_shift(s), d->text);
	}
}

static void slot_finish(struct etl_reader *r, uint32_t i)
{
	struct slot *s = &r->slots[i];
	r->buffers_done++;
	bool whole = s->run.buf && !s->piece_count;
	uint32_t bytes = s->piece_count ? s->pieces[s->piece_count - 1] : s->run.used;
	if (r->on_buffer && r->on_buffer(r->on_buffer_ctx, whole ? s->run.buf : NULL, s->run.buf ? bytes : 0) &&
	    whole && s->run.buf == s->mem) {
		r->memory -= s->mem_bytes;
		s->mem = NULL;
		s->mem_bytes = 0;
	}
	etl_run_finish(&s->run);
	r->vacant[r->vacant_count++] = i;
}

static int slot_take(struct etl_reader *r, uint32_t *ret)
{
	if (r->vacant_count == 0 && r->slots_count == r->slots_cap) {
		uint32_t cap = r->slots_cap ? 2 * r->slots_cap : 16;
		void *slots = r->slots;
		int err = etl_heap_room(&r->heap, &r->vacant, &slots, sizeof *r->slots, cap);
		r->slots = slots;
		if (err < 0) {
			return err;
		}
		r->slots_cap = cap;
	}
	if (r->vacant_count == 0) {
		r->slots[r->slots_count] = (struct slot){.mem = NULL};
		r->vacant[r->vacant_count++] = r->slots_count++;
	}
	*ret = r->vacant[--r->vacant_count];
	return 0;
}

static bool is_header(const struct etl_reader *r, const struct slot *s)
{
	return r->index.list[s->entry].file_offset == 0 && !r->info.spill;
}

static struct etl_heap_item heap_item(const struct etl_reader *r, const struct slot *s)
{
	/* The first buffer, with the log-file header, comes first whatever its clock says:
	 * consumers need it to understand the rest. */
	return (struct etl_heap_item){
		.time = is_header(r, s) ? 0 : BASE_MAX(s->run.head.time_raw, 1),
		.sequence = r->index.list[s->entry].sequence,
		.who = (uint32_t)(s - r->slots),
	};
}

/* Bring in the next buffer that waits. */
static int buffer_enter(struct etl_reader *r)
{
	uint32_t i, used;
	int err = slot_take(r, &i);
	if (err < 0) {
		return err;
	}
	struct slot *s = &r->slots[i];
	s->entry = (uint32_t)r->waiting++;
	/* Files of sessions with a header count their losses there. */
	r->loss |= r->info.spill ? r->index.list[s->entry].loss : 0;
	const uint8_t *buf;
	err = buffer_load(r, s, &buf, &used);
	if (err < 0) {
		r->vacant[r->vacant_count++] = i;
		return err;
	}
	int got = 0;
	if (buf) {
		struct diag d;
		diag_clear(&d);
		/* What is read in pieces is known to be sorted. */
		uint32_t flags = s->piece_count ? ETL_RUN_KEEP_ORDER : r->run_flags;
		got = etl_run_start(&s->run, buf, used, flags, &d);
		if (got == -ENOMEM) {
			slot_finish(r, i);
			return got;
		}
		if (got < 0) {
			slot_problem(r, s, &d);
		}
	}
	if (got > 0) {
		etl_heap_push(&r->heap, heap_item(r, s));
	} else {
		slot_finish(r, i);
	}
	return 0;
}

static void root_advance(struct etl_reader *r)
{
	uint32_t i = r->heap.items[0].who;
	struct slot *s = &r->slots[i];
	struct diag d;
	diag_clear(&d);
	r->root_delivered = false;
	int got = etl_run_next(&s->run, &d);
	while (BASE_UNLIKELY(got == 0 && s->piece + 2 < s->piece_count)) {
		uint32_t used = 0;
		s->piece++;
		if (piece_load(r, s, &used) < 0) {
			etl_problems_add(&r->problems, r->index.list[s->entry].file_offset,
					 "the rest of the buffer cannot be read");
			break;
		}
		got = etl_run_start(&s->run, s->mem, used, ETL_RUN_KEEP_ORDER | ETL_RUN_CONTINUE, &d);
	}
	if (BASE_LIKELY(got > 0)) {
		r->heap.items[0] = heap_item(r, s);
		etl_heap_sift(&r->heap);
		return;
	}
	if (got < 0) {
		slot_problem(r, s, &d);
	}
	etl_heap_pop(&r->heap);
	slot_finish(r, i);
}

/* Where a session says that something is missing, before the next record. */
static void tell_loss(struct etl_reader *r, struct etl_record *ret)
{
	uint8_t flag = r->loss & ETL_BF_EVENTS_LOST   ? ETL_BF_EVENTS_LOST
		       : r->loss & ETL_BF_BUFFER_LOST ? ETL_BF_BUFFER_LOST
						      : ETL_BF_RTBACKUP_CORRUPT;
	r->loss &= (uint8_t)~flag;
	etl_record_loss(flag == ETL_BF_EVENTS_LOST   ? ETL_LOST_EVENT
			: flag == ETL_BF_BUFFER_LOST ? ETL_LOST_BUFFER
						     : ETL_LOST_FILE,
			r->heap.items[0].time, &r->clock, ret);
}

/* 1: the root of the heap is the next record, 0: there is none. */
static int root_find(struct etl_reader *r)
{
	while (r->waiting < r->index.count &&
	       (r->heap.count == 0 ||
		(!r->file_order && r->index.list[r->waiting].first_raw <= r->heap.items[0].time))) {
		int err = buffer_enter(r);
		if (err < 0) {
			return err;
		}
	}
	return r->heap.count > 0;
}

static bool root_wanted(const struct etl_reader *r)
{
	const struct slot *s = &r->slots[r->heap.items[0].who];
	return r->wanted(s->run.head.type, s->run.buf + s->run.head.at);
}

int etl_reader_next(struct etl_reader *r, struct etl_record *ret)
{
	if (BASE_LIKELY(r->root_delivered)) {
		root_advance(r);
	}
	int got = root_find(r);
	while (r->wanted && got > 0 && !root_wanted(r)) {
		root_advance(r);
		got = root_find(r);
	}
	if (got <= 0) {
		return got;
	}
	if (BASE_UNLIKELY(r->loss != 0)) {
		tell_loss(r, ret);
		return 1;
	}
	struct slot *s = &r->slots[r->heap.items[0].who];
	struct diag d;
	d.text[0] = 0;
	etl_record_split(s->run.buf, &s->run.head, &r->clock, ret, &d);
	ret->file_offset = r->index.list[s->entry].file_offset;
	ret->buffer_offset += piece_shift(s);
	if (BASE_UNLIKELY(d.text[0] != 0)) {
		etl_problems_add(&r->problems, ret->file_offset, "at byte %u of the buffer: %s", ret->buffer_offset,
				 d.text);
	}
	r->root_delivered = true;
	return 1;
}

static int by_first_time(const void *pa, const void *pb)
{
	const struct etl_index_entry *a = pa, *b = pb;
	if (a->first_raw != b->first_raw) {
		return a->first_raw < b->first_raw ? -1 : 1;
	}
	if (a->sequence != b->sequence) {
		return a->sequence < b->sequence ? -1 : 1;
	}
	return a->file_offset < b->file_offset ? -1 : a->file_offset > b->file_offset;
}

static int reader_open(const struct etl_source *source, uint32_t flags, struct etl_reader **ret, struct diag *d)
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
	r->file_order = (flags & ETL_READER_FILE_ORDER) != 0;
	r->run_flags = r->file_order || r->info.clock_type == CLOCK_SYSTEM ? ETL_RUN_KEEP_ORDER : 0;
	r->memory_max = BASE_MIN(MEMORY_MAX, MEMORY_BASE + source->bytes * MEMORY_PER_FILE_BYTE);
	if (!r->file_order && r->index.count > 1) {
		qsort(r->index.list, r->index.count, sizeof *r->index.list, by_first_time);
	}
	*ret = r;
	return 0;
fail:
	etl_reader_close(r);
	return err;
}

/* People send traces in archives; libetw does not unpack them. */
static bool is_archive(const struct etl_source *s)
{
	uint8_t p[8];
	return etl_source_read(s, 0, p, sizeof p) == (long)sizeof p &&
	       (memcmp(p, "PK\3\4", 4) == 0 || memcmp(p, "\x1f\x8b\x08", 3) == 0 || memcmp(p, "MSCF\0\0\0\0", 8) == 0);
}

int etl_reader_open(const char *path, uint32_t flags, struct etl_reader **ret, struct diag *d)
{
	/* Not blocking: a FIFO must not hang us before fstat tells that it is one. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		int err = -errno;
		diag_at(d, UINT64_MAX, "cannot open it: %s", strerror(-err));
		return err;
	}
	struct stat st;
	int err = fstat(fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (err < 0) {
		diag_at(d, UINT64_MAX, "it is no regular file");
		close(fd);
		return err;
	}
	struct etl_source s = {.fd = fd, .bytes = (uint64_t)st.st_size};
	if (is_archive(&s)) {
		diag_at(d, 0, "it is an archive: unpack it first, or read it with the openetw command");
		close(fd);
		return -EBADMSG;
	}
	return reader_open(&s, flags, ret, d);
}

int etl_reader_open_memory(const void *p, size_t n, uint32_t flags, struct etl_reader **ret, struct diag *d)
{
	struct etl_source s = {.fd = -1, .mem = p, .bytes = n};
	return reader_open(&s, flags, ret, d);
}

void etl_reader_close(struct etl_reader *r)
{
	if (!r) {
		return;
	}
	for (uint32_t i = 0; i < r->slots_count; i++) {
		etl_run_finish(&r->slots[i].run);
		free(r->slots[i].pieces);
		free(r->slots[i].unpacker);
		free(r->slots[i].mem);
	}
	free(r->slots);
	free(r->vacant);
	free(r->heap.items);
	free(r->index.list);
	free(r->problems.list);
	free(r->packed);
	free(r->header);
	free(r->losses);
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

void etl_reader_use_windows(struct etl_reader *r)
{
	uint32_t each = WINDOWS_TOTAL / BASE_MAX(r->info.processors, 1u);
	each = BASE_MAX(BASE_MIN(each, WINDOW_MAX), WINDOW_MIN);
	r->window = each & ~7u;
}

void etl_reader_only(struct etl_reader *r, etl_wanted_fn *wanted)
{
	r->wanted = wanted;
}

uint64_t etl_reader_memory(const struct etl_reader *r)
{
	return r->memory;
}

bool etl_reader_next_problem(struct etl_reader *r, struct etl_problem *ret)
{
	if (r->problems.taken == r->problems.count) {
		return false;
	}
	*ret = r->problems.list[r->problems.taken++];
	return true;
}

int etl_reader_next_loss(struct etl_reader *r, struct etl_loss_range *ret)
{
	if (!r->losses_known) {
		int err = etl_loss_collect(&r->index, &r->info, &r->clock, &r->losses, &r->losses_count);
		if (err < 0) {
			return err;
		}
		r->losses_known = true;
	}
	if (r->losses_taken == r->losses_count) {
		return 0;
	}
	*ret = r->losses[r->losses_taken++];
	return 1;
}
