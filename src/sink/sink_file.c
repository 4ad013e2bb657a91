/* SPDX-License-Identifier: MIT
 *
 * One log file: buffer 0, data buffers at index * buffer size, the header rewritten in place.
 *
 * Buffers are written at the next free place; a place is used up only when the whole buffer is
 * there, so a failed write leaves no hole: the next buffer goes to the same place. What the file
 * holds is always a readable .etl as far as it goes; space is reserved ahead without changing the
 * file's length (unless PREALLOCATE asks for the length, too).
 *
 *   circular:  places 1..max-1 are reused from 1 on
 *   compressed: buffers have the size they get and stand one behind the other
 */
#include "sink/sink_file_private.h"

#include "base/open_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#define RESERVE_STEP_MIN (1u << 20)
#define RESERVE_STEP_MAX (64u << 20)
#define IOV_MAX_OURS     256u
#define PACKED_BATCH     (1u << 20)

/* ---- calls ------------------------------------------------------------------------------------
 */

int sink_file_pwrite(struct sink_file *f, const void *p, size_t n, uint64_t off)
{
	const uint8_t *at = p;
	while (n > 0) {
		long r;
		if (f->ops.pwrite) {
			r = f->ops.pwrite(f->ops.ctx, f->fd, at, n, off);
		} else {
			r = pwrite(f->fd, at, n, (off_t)off);
			r = r < 0 ? -errno : r;
		}
		if (r == -EINTR) {
			continue;
		}
		if (r <= 0) {
			return r == 0 ? -EIO : (int)r;
		}
		at += r;
		off += (uint64_t)r;
		n -= (size_t)r;
	}
	return 0;
}

/* Several buffers with one call. Bytes written (may be short) or -errno. */
static long write_gathered(struct sink_file *f, struct sink_buffer *const *b, unsigned n, uint64_t off)
{
	struct iovec iov[IOV_MAX_OURS];
	unsigned k = 0;
	for (unsigned i = 0; i < n; i++) {
		if (k > 0 && (uint8_t *)iov[k - 1].iov_base + iov[k - 1].iov_len == b[i]->data) {
			iov[k - 1].iov_len += f->buffer_bytes;
		} else {
			iov[k++] = (struct iovec){b[i]->data, f->buffer_bytes};
		}
	}
	long r;
	if (f->ops.pwrite) {
		r = f->ops.pwrite(f->ops.ctx, f->fd, iov[0].iov_base, iov[0].iov_len, off);
	} else {
		r = pwritev(f->fd, iov, (int)k, (off_t)off);
		r = r < 0 ? -errno : r;
	}
	return r == 0 ? -EIO : r;
}

/* Large writes of whole pages go to the disk without a copy: a page of the page cache costs more to
 * get and to fill than the events in it did. Small ones stay in the cache, where a reader finds
 * them at once. Both may take turns in one file: places do not overlap. */
static void set_direct(struct sink_file *f, bool on)
{
	on = on && f->direct_works;
	if (on == f->direct_now) {
		return;
	}
	int flags = fcntl(f->fd, F_GETFL);
	if (flags < 0 || fcntl(f->fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) < 0) {
		f->direct_works = false;
		return;
	}
	f->direct_now = on;
}

static int reserve_space(struct sink_file *f, uint64_t off, uint64_t len)
{
	if (f->ops.fallocate) {
		return f->ops.fallocate(f->ops.ctx, f->fd, off, len);
	}
	return fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len) < 0 ? -errno : 0;
}

/* Ahead of the writes, in steps that grow with the file. A refusal is not an error: the write
 * itself will tell. */
static void reserve_ahead(struct sink_file *f, uint64_t end)
{
	if (!f->reserve_works || end <= f->reserved_bytes) {
		return;
	}
	uint64_t step = BASE_MIN(BASE_MAX(f->reserved_bytes, RESERVE_STEP_MIN), RESERVE_STEP_MAX);
	uint64_t limit = f->compression   ? (f->max_bytes ? f->max_bytes : UINT64_MAX)
			 : f->max_buffers ? f->max_buffers * f->buffer_bytes
					  : UINT64_MAX;
	uint64_t target = BASE_MAX(BASE_MIN(f->reserved_bytes + step, limit), end);
	int err = reserve_space(f, f->reserved_bytes, target - f->reserved_bytes);
	if (err == 0) {
		f->reserved_bytes = target;
	} else if (err != -ENOSPC && err != -EDQUOT && err != -EINTR) {
		f->reserve_works = false;
	}
}

/* ---- open -------------------------------------------------------------------------------------
 */

static bool same_settings(const uint8_t *h, const struct etl_header_args *a)
{
	const uint8_t *p = h + ETL_HEADER_LIVE_OFFSET;
	return le16_get(h + ETL_BH_TYPE) == ETL_BT_HEADER && h[0x4A] == ETL_RT_SYSTEM64 && h[0x4B] == ETL_MARK_HEADER &&
	       le32_get(h + ETL_BH_BUFFER_SIZE) == a->buffer_size &&
	       le32_get(p + ETL_LH_BUFFER_SIZE) == a->buffer_size && le32_get(p + ETL_LH_PROCESSORS) == a->processors &&
	       le32_get(p + ETL_LH_POINTER_SIZE) == 8 && le32_get(p + ETL_LH64_CLOCK_TYPE) == a->clock_type;
}

static int append_to(struct sink_file *f, const struct etl_header_args *a, uint64_t file_bytes, struct diag *d)
{
	ssize_t got = pread(f->fd, f->header, f->buffer_bytes, 0);
	if (got < 0) {
		return -errno;
	}
	if ((size_t)got < f->buffer_bytes || !same_settings(f->header, a)) {
		diag_at(d, 0, "the file is no log file with the same buffer size, processors and clock");
		return -EINVAL;
	}
	const uint8_t *p = f->header + ETL_HEADER_LIVE_OFFSET;
	f->base.events_lost = le32_get(p + ETL_LH_EVENTS_LOST);
	f->base.buffers_lost = le32_get(p + ETL_LH64_BUFFERS_LOST);
	/* Whole buffers that are really there; a torn one at the end is overwritten. */
	uint64_t place = 1;
	for (; (place + 1) * f->buffer_bytes <= file_bytes; place++) {
		uint8_t h[ETL_BUFFER_HEADER_SIZE];
		if (pread(f->fd, h, sizeof h, (off_t)(place * f->buffer_bytes)) != (ssize_t)sizeof h) {
			return -EIO;
		}
		if (le32_get(h + ETL_BH_BUFFER_SIZE) != f->buffer_bytes) {
			break;
		}
		f->last_sequence = BASE_MAX(f->last_sequence, le64_get(h + ETL_BH_SEQUENCE));
		uint16_t flags = le16_get(h + ETL_BH_FLAG);
		if (flags & ETL_BF_FLUSH_MARKER) {
			/* It will not be the last buffer any more. */
			uint8_t flag[2];
			le16_put(flag, (uint16_t)(flags & ~ETL_BF_FLUSH_MARKER));
			int err = sink_file_pwrite(f, flag, 2, place * f->buffer_bytes + ETL_BH_FLAG);
			if (err < 0) {
				return err;
			}
		}
	}
	f->place = f->buffers = f->first_place = place;
	f->last_place = place - 1;
	struct etl_header_counts c = {
		.buffers_written = (uint32_t)place,
		.events_lost = (uint32_t)f->base.events_lost,
		.buffers_lost = (uint32_t)f->base.buffers_lost,
	};
	etl_header_set_counts(f->header, &c);
	return sink_file_pwrite(f, f->header + ETL_HEADER_LIVE_OFFSET, ETL_HEADER_LIVE_BYTES, ETL_HEADER_LIVE_OFFSET);
}

static int start_new(struct sink_file *f, struct etl_header_args *a, const uint16_t *log_file, struct diag *d)
{
	a->file_name = log_file;
	a->file_name_units = log_file ? (uint32_t)utf16_len(log_file) : 0;
	a->buffers_written = 1;
	int err = etl_write_header_buffer(f->header, a);
	if (err < 0) {
		diag_at(d, UINT64_MAX, "the names do not fit in one buffer");
		return err;
	}
	if (ftruncate(f->fd, 0) < 0) {
		return -errno;
	}
	f->place = f->buffers = f->first_place = 1;
	uint32_t header_bytes = f->buffer_bytes;
	if (f->compression) {
		header_bytes = etl_header_compressed(f->header, f->compression);
		f->end = header_bytes;
	}
	if (f->preallocate && f->max_buffers) {
		uint64_t bytes = f->compression ? f->max_bytes : f->max_buffers * f->buffer_bytes;
		err = reserve_space(f, 0, bytes);
		if (err == -ENOSPC || err == -EDQUOT) {
			return err;
		}
		f->reserved_bytes = bytes;
		if (ftruncate(f->fd, (off_t)bytes) < 0) {
			return -errno;
		}
	}
	return sink_file_pwrite(f, f->header, header_bytes, 0);
}

static int open_path(const char *path, bool fresh, uint64_t *ret_bytes, struct diag *d)
{
	/* Truncation waits until we know that no other session writes it. */
	int fd = open_output(path, fresh ? 0 : OPEN_OUTPUT_REUSE, 0666, d);
	if (fd < 0) {
		return fd;
	}
	struct stat st;
	int err = 0;
	if (fstat(fd, &st) < 0) {
		err = -errno;
		diag_at(d, UINT64_MAX, "%s: %s", path, strerror(errno));
	} else if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		diag_at(d, UINT64_MAX, "%s: another session writes it", path);
		err = -EBUSY;
	}
	if (err < 0) {
		close(fd);
		return err;
	}
	*ret_bytes = (uint64_t)st.st_size;
	return fd;
}

static void file_free(struct sink_file *f)
{
	base_close(&f->fd);
	etl_zstd_destroy(f->zstd);
	free(f->packed);
	free(f->header);
	free(f->place_events);
	free(f->place_times);
	free(f->gone_until);
	free(f->path);
	free(f->log_file);
	free(f);
}

void sink_file_forget(struct sink_file *f, bool other_table)
{
	if (other_table) {
		f->fd = -1; /* that number here is somebody else's */
	}
	file_free(f);
}

static int prepare_packing(struct sink_file *f)
{
	size_t plain = f->buffer_bytes - ETL_BUFFER_HEADER_SIZE, bound = xpress_compress_bound(plain);
	if (f->compression == ETL_FORMAT_ZSTD) {
		int err = etl_zstd_create(&f->zstd);
		if (err < 0) {
			return err;
		}
		bound = etl_zstd_bound(plain);
	}
	f->most = (uint32_t)(ETL_BUFFER_HEADER_SIZE + bound);
	f->packed = malloc(PACKED_BATCH + f->most);
	return f->packed ? 0 : -ENOMEM;
}

/* A session whose largest file has no room on the disk is refused at once [doc], before anything is lost. */
static bool room_for(const struct sink_file *f, uint64_t there, const char *path, struct diag *d)
{
	struct statvfs fs;
	uint64_t want = f->compression ? f->max_bytes : f->max_buffers * f->buffer_bytes;
	if (want == 0 || fstatvfs(f->fd, &fs) < 0 || fs.f_frsize == 0 ||
	    fs.f_bavail >= (want - BASE_MIN(want, there)) / fs.f_frsize) {
		return true;
	}
	diag_at(d, UINT64_MAX, "%s may have %llu MB (MaximumFileSize), and the disk has %llu MB left", path,
		(unsigned long long)(want >> 20),
		(unsigned long long)((fs.f_bavail * (uint64_t)fs.f_frsize + there) >> 20));
	return false;
}

static int open_file(const struct sink_identity *id, const char *path, const uint16_t *log_file, bool fresh,
		     struct sink_file **ret, struct diag *d)
{
	struct sink_file *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	f->fd = -1;
	f->ops = id->ops;
	f->buffer_bytes = id->header.buffer_size;
	f->logger_id = id->header.logger_id;
	f->circular = id->circular;
	f->preallocate = id->preallocate;
	f->sync = id->sync_on_stop;
	f->max_buffers = id->max_buffers;
	f->reserve_works = true;
	f->direct_works = !f->ops.pwrite && f->buffer_bytes % 4096 == 0;
	f->compression = id->compression;
	f->max_bytes = id->max_bytes;
	f->most = f->buffer_bytes;
	f->header = malloc(f->buffer_bytes);
	if (f->circular) {
		f->place_events = calloc(f->max_buffers, sizeof *f->place_events);
		f->place_cap = f->place_events ? f->max_buffers : 0;
		f->place_times = calloc(f->max_buffers, sizeof *f->place_times);
		f->cpus = BASE_MAX(id->header.processors, 1u);
		f->gone_until = calloc(f->cpus, sizeof *f->gone_until);
	}
	f->path = strdup(path);
	f->log_file = log_file ? utf16_dup(log_file, utf16_len(log_file)) : NULL;
	int err = -ENOMEM;
	uint64_t file_bytes = 0;
	struct etl_header_args a = id->header;
	if (!f->header || (f->circular && !(f->place_events && f->place_times && f->gone_until)) || !f->path ||
	    (log_file && !f->log_file)) {
		goto fail;
	}
	if (f->compression) {
		err = prepare_packing(f);
		if (err < 0) {
			diag_at(d, UINT64_MAX,
				err == -ENOTSUP ? "libzstd.so.1 is not installed" : "no memory to compress");
			goto fail;
		}
	}
	struct diag why;
	diag_clear(&why);
	err = open_path(path, fresh, &file_bytes, &why);
	if (err < 0) {
		diag_at(d, UINT64_MAX, "cannot open %s", why.text);
		goto fail;
	}
	f->fd = err;
	if (id->wants_room && !(id->append && file_bytes > 0) && !room_for(f, file_bytes, path, d)) {
		err = -ENOSPC;
		goto fail;
	}
	if (id->append && file_bytes > 0) {
		err = append_to(f, &a, file_bytes, d);
	} else {
		err = start_new(f, &a, log_file, d);
	}
	if (err < 0) {
		diag_at(d, UINT64_MAX, "cannot write %s: %s", path, strerror(-err));
		goto fail;
	}
	f->shown_buffers = f->buffers;
	sink_file_know(f);
	f->on_file = id->on_file;
	f->on_file_ctx = id->on_file_ctx;
	if (f->on_file) {
		f->on_file(f->on_file_ctx, f->path, SINK_FILE_OPENED);
	}
	*ret = f;
	return 0;
fail:
	file_free(f);
	return err;
}

int sink_file_open(const struct sink_identity *id, const char *path, const uint16_t *log_file, struct sink_file **ret,
		   struct diag *d)
{
	return open_file(id, path, log_file, false, ret, d);
}

int sink_file_again(const struct sink_identity *id, struct sink_file *old, struct sink_file **ret)
{
	int err = open_file(id, old->path, old->log_file, true, ret, NULL);
	if (err == 0) {
		flock(old->fd, LOCK_UN);
		file_free(old);
	}
	return err;
}

/* ---- write ------------------------------------------------------------------------------------
 */

uint64_t sink_file_last_sequence(const struct sink_file *f)
{
	return f->last_sequence;
}

uint64_t sink_file_room(const struct sink_file *f)
{
	if (f->compression && f->max_bytes) {
		/* A file can hold at least one, as plain ones do. */
		uint64_t left = f->max_bytes > f->end ? f->max_bytes - f->end : 0;
		return left / f->most ? left / f->most : f->buffers == 1;
	}
	if (f->max_buffers == 0 || f->circular) {
		return UINT64_MAX;
	}
	return f->max_buffers > f->place ? f->max_buffers - f->place : 0;
}

uint64_t sink_file_written(const struct sink_file *f)
{
	return f->written;
}

uint64_t sink_file_ring(const struct sink_file *f, uint64_t *inout_until, uint32_t cpus)
{
	uint64_t until = 0;
	for (uint32_t i = 0; f->circular && i < BASE_MIN(cpus, f->cpus); i++) {
		inout_until[i] = f->gone_until[i];
		until = BASE_MAX(until, f->gone_until[i]);
	}
	if (until == 0) {
		return 0;
	}
	/* Places are in the order in which buffers were closed, and none was open for longer than that. */
	uint64_t closed = f->place_times[f->place < f->buffers ? f->place : 1].closed;
	return closed > f->longest ? closed - f->longest : 0;
}

static void put_header(const struct sink_file *f, struct sink_buffer *b)
{
	struct etl_buffer_args a = {
		.buffer_size = f->buffer_bytes,
		.used = b->used,
		.flush_raw = b->flush_time,
		.sequence = b->sequence,
		.processor = b->cpu,
		.logger_id = f->logger_id,
	};
	etl_write_buffer_header(b->data, &a, f->compression == 0);
}

static void place_is_gone(struct sink_file *f, uint64_t *overwritten_events, uint64_t *overwritten_buffers)
{
	if (f->place < f->buffers && f->torn_place != f->place) {
		*overwritten_events += f->place_events[f->place];
		(*overwritten_buffers)++;
		const struct place_times *t = &f->place_times[f->place];
		f->gone_until[t->cpu % f->cpus] = BASE_MAX(f->gone_until[t->cpu % f->cpus], t->last);
	}
}

static void buffer_is_down(struct sink_file *f, const struct sink_buffer *b, uint64_t *overwritten_events,
			   uint64_t *overwritten_buffers)
{
	if (f->circular) {
		place_is_gone(f, overwritten_events, overwritten_buffers);
		f->place_times[f->place] = (struct place_times){b->last_time, b->flush_time, b->cpu};
		f->longest = BASE_MAX(f->longest, b->flush_time - BASE_MIN(b->first_time, b->flush_time));
		f->torn_place = 0;
	}
	sink_file_note_place(f, f->place, b->events);
	f->written += f->buffer_bytes;
	f->last_place = f->place;
	f->place++;
	f->buffers = BASE_MAX(f->buffers, f->place);
	if (f->circular && f->place == f->max_buffers) {
		f->place = 1;
	}
}

static int write_buffers(struct sink_file *f, struct sink_buffer *const *b, unsigned n, bool direct, unsigned *ret_done,
			 uint64_t *overwritten_events, uint64_t *overwritten_buffers)
{
	for (unsigned i = 0; i < n; i++) {
		put_header(f, b[i]);
	}
	*ret_done = 0;
	uint64_t part = 0; /* bytes of the first unfinished buffer that are down */
	while (*ret_done < n) {
		unsigned count = BASE_MIN(n - *ret_done, IOV_MAX_OURS);
		if (f->circular) {
			count = (unsigned)BASE_MIN((uint64_t)count, f->max_buffers - f->place);
		}
		uint64_t off = f->place * f->buffer_bytes;
		reserve_ahead(f, off + (uint64_t)count * f->buffer_bytes);
		set_direct(f, direct);
		long r = write_gathered(f, b + *ret_done, count, off);
		if (r == -EINTR) {
			continue;
		}
		if (r == -EINVAL && f->direct_now) {
			set_direct(f, false); /* a file system that only claims to be able to */
			f->direct_works = false;
			continue;
		}
		if (r < 0) {
			return (int)r;
		}
		uint64_t bytes = (uint64_t)r;
		for (; bytes >= f->buffer_bytes; bytes -= f->buffer_bytes) {
			buffer_is_down(f, b[*ret_done], overwritten_events, overwritten_buffers);
			++*ret_done;
		}
		if (bytes == 0) {
			continue;
		}
		/* Short: complete this one by itself. */
		set_direct(f, false);
		part = bytes;
		int err = sink_file_pwrite(f, b[*ret_done]->data + part, f->buffer_bytes - part,
					   f->place * f->buffer_bytes + part);
		if (err < 0) {
			if (f->circular && f->place < f->buffers && f->torn_place != f->place) {
				/* The old buffer is gone already. */
				place_is_gone(f, overwritten_events, overwritten_buffers);
				sink_file_note_place(f, f->place, 0);
				f->torn_place = f->place;
			}
			return err;
		}
		buffer_is_down(f, b[*ret_done], overwritten_events, overwritten_buffers);
		++*ret_done;
	}
	return 0;
}

/* One compressed buffer at `out`; its size. */
static uint32_t pack(struct sink_file *f, struct sink_buffer *b, uint8_t *out)
{
	const uint8_t *plain = b->data + ETL_BUFFER_HEADER_SIZE;
	uint8_t *to = out + ETL_BUFFER_HEADER_SIZE;
	size_t n = b->used - ETL_BUFFER_HEADER_SIZE;
	put_header(f, b);
	memcpy(out, b->data, ETL_BUFFER_HEADER_SIZE);
	size_t packed = f->zstd ? etl_zstd_compress(f->zstd, plain, n, to, f->most - ETL_BUFFER_HEADER_SIZE)
				: xpress_compress(plain, n, to);
	uint32_t size = ETL_BUFFER_HEADER_SIZE + (uint32_t)packed;
	le32_put(out + ETL_BH_BUFFER_SIZE, size);
	le16_put(out + ETL_BH_FLAG, ETL_BF_PROC_INDEX | ETL_BF_COMPRESSED);
	return size;
}

/* What could not be written is packed again next time: errors are rare. */
static int write_packed(struct sink_file *f, struct sink_buffer *const *b, unsigned n, unsigned *ret_done)
{
	*ret_done = 0;
	while (*ret_done < n) {
		uint32_t bytes = 0, last = 0;
		unsigned count = 0;
		while (*ret_done + count < n && bytes < PACKED_BATCH) {
			last = bytes;
			bytes += pack(f, b[*ret_done + count++], f->packed + bytes);
		}
		reserve_ahead(f, f->end + bytes);
		int err = sink_file_pwrite(f, f->packed, bytes, f->end);
		if (err < 0) {
			return err;
		}
		f->last_at = f->end + last;
		f->end += bytes;
		f->written += bytes;
		for (unsigned i = 0; i < count; i++) {
			sink_file_note_place(f, f->buffers++, b[*ret_done + i]->events);
		}
		*ret_done += count;
	}
	return 0;
}

int sink_file_write(struct sink_file *f, struct sink_buffer *const *b, unsigned n, bool direct, unsigned *ret_done,
		    uint64_t *overwritten_events, uint64_t *overwritten_buffers)
{
	if (f->compression) {
		return write_packed(f, b, n, ret_done);
	}
	int err = write_buffers(f, b, n, direct, ret_done, overwritten_events, overwritten_buffers);
	set_direct(f, false); /* headers and flags are no whole pages */
	return err;
}

/* ---- header -----------------------------------------------------------------------------------
 */

static int write_live_header(struct sink_file *f, const struct sink_file_counts *c, uint64_t end)
{
	uint64_t events = f->base.events_lost + c->events_lost;
	uint64_t buffers = f->base.buffers_lost + c->buffers_lost;
	struct etl_header_counts h = {
		.end_filetime = end,
		.buffers_written = (uint32_t)BASE_MIN(f->buffers, UINT32_MAX),
		.events_lost = (uint32_t)BASE_MIN(events, UINT32_MAX),
		.buffers_lost = (uint32_t)BASE_MIN(buffers, UINT32_MAX),
	};
	etl_header_set_counts(f->header, &h);
	int err =
		sink_file_pwrite(f, f->header + ETL_HEADER_LIVE_OFFSET, ETL_HEADER_LIVE_BYTES, ETL_HEADER_LIVE_OFFSET);
	if (err == 0) {
		f->shown = *c;
		f->shown_buffers = f->buffers;
	}
	return err;
}

int sink_file_refresh(struct sink_file *f, const struct sink_file_counts *c)
{
	if (f->gone) {
		return 0;
	}
	if (f->shown_buffers == f->buffers && f->shown.events_lost == c->events_lost &&
	    f->shown.buffers_lost == c->buffers_lost) {
		return 0; /* an idle session leaves the disk asleep */
	}
	return write_live_header(f, c, 0);
}

/* A place with half of one buffer and half of another becomes an empty buffer. */
static int mend_torn_place(struct sink_file *f)
{
	uint8_t *b = malloc(f->buffer_bytes);
	if (!b) {
		return -ENOMEM;
	}
	struct etl_buffer_args a = {
		.buffer_size = f->buffer_bytes,
		.used = ETL_BUFFER_HEADER_SIZE,
		.logger_id = f->logger_id,
	};
	etl_write_buffer_header(b, &a, true);
	int err = sink_file_pwrite(f, b, f->buffer_bytes, f->torn_place * f->buffer_bytes);
	free(b);
	return err;
}

int sink_file_finish(struct sink_file *f, const struct sink_file_counts *c, bool last)
{
	int first = 0;
	if (f->gone) {
		flock(f->fd, LOCK_UN);
		if (f->on_file) {
			f->on_file(f->on_file_ctx, f->path, SINK_FILE_GONE);
		}
		file_free(f);
		return 0;
	}
	if (f->torn_place) {
		first = mend_torn_place(f);
	}
	uint64_t last_at = f->compression ? f->last_at : f->last_place * f->buffer_bytes;
	uint64_t end = f->compression ? f->end : f->buffers * f->buffer_bytes;
	if (last_at) {
		uint8_t flag[2];
		le16_put(flag, ETL_BF_FLUSH_MARKER | ETL_BF_PROC_INDEX | (f->compression ? ETL_BF_COMPRESSED : 0));
		int err = sink_file_pwrite(f, flag, 2, last_at + ETL_BH_FLAG);
		first = first ? first : err;
	}
	/* Gives back what was reserved beyond the end, and cuts off a torn buffer. */
	if (ftruncate(f->fd, (off_t)end) < 0) {
		first = first ? first : -errno;
	}
	int err = write_live_header(f, c, clock_filetime());
	first = first ? first : err;
	if (f->sync) {
		err = f->ops.fdatasync ? f->ops.fdatasync(f->ops.ctx, f->fd) : fdatasync(f->fd) < 0 ? -errno : 0;
		first = first ? first : err;
	}
	/* A forked child may have inherited the descriptor: closing ours would not unlock. */
	flock(f->fd, LOCK_UN);
	if (f->on_file) { /* what its path names now is somebody else's, if it was moved */
		f->on_file(f->on_file_ctx, f->path,
			   f->moved ? SINK_FILE_GONE
			   : last   ? SINK_FILE_LAST
				    : SINK_FILE_FINISHED);
	}
	file_free(f);
	return first;
}
