/* SPDX-License-Identifier: MIT
 *
 * Looking after the log file. Others can remove it, move it, cut it or write into it while a session does, and no
 * write says so: the bytes go to a file without a name, or leave a hole. So the file thread looks, before it
 * writes and once a second, and what was in the file and is gone is counted as lost.
 *
 *   moved      written on under its new name, as with any program that has a file open; nothing is lost
 *   cut        written on behind the whole buffers that are left; the header is put back
 *   removed    everything in it is lost; a new file of the same name is begun (sink_thread.c), unless there is one
 *   replaced   (its bytes are another's) everything in it is lost, and it is left alone
 */
#include "sink/sink_file_private.h"

#include <stdlib.h>
#include <sys/stat.h>

/* So many places have their events counted one by one: 4 bytes each. Those behind count as a whole only. */
#define PLACES_MAX   (4u << 20)
#define PLACES_FIRST 256u
/* Of the header, the shortest of which is longer. */
#define HEADER_LOOK 512u

static bool have_place(struct sink_file *f, uint64_t place)
{
	if (place < f->place_cap) {
		return true;
	}
	uint64_t cap = BASE_MAX(f->place_cap, (uint64_t)PLACES_FIRST);
	while (cap <= place) {
		cap *= 2;
	}
	uint32_t *more = cap <= PLACES_MAX ? realloc(f->place_events, cap * sizeof *more) : NULL;
	if (!more) {
		return false;
	}
	memset(more + f->place_cap, 0, (cap - f->place_cap) * sizeof *more);
	f->place_events = more;
	f->place_cap = cap;
	return true;
}

void sink_file_note_place(struct sink_file *f, uint64_t place, uint32_t events)
{
	f->events_here += events;
	if (have_place(f, place)) {
		f->events_here -= f->place_events[place];
		f->place_events[place] = events;
	}
}

void sink_file_know(struct sink_file *f)
{
	struct stat st;
	if (fstat(f->fd, &st) == 0) {
		f->device = st.st_dev;
		f->inode = st.st_ino;
	}
}

bool sink_file_is_gone(const struct sink_file *f)
{
	return f->gone;
}

static bool is_moved(const struct sink_file *f)
{
	struct stat st;
	if (stat(f->path, &st) == 0) {
		return st.st_dev != f->device || st.st_ino != f->inode;
	}
	return errno == ENOENT || errno == ENOTDIR; /* else nobody knows */
}

/* Where the first buffer that is not whole begins, its number, and where the one before it begins. */
static uint64_t whole_end(const struct sink_file *f, uint64_t size, uint64_t *ret_buffers, uint64_t *ret_last)
{
	*ret_last = 0;
	if (!f->compression) {
		*ret_buffers = size / f->buffer_bytes;
		return *ret_buffers * f->buffer_bytes;
	}
	uint64_t at = 0, n = 0;
	while (n < f->buffers) {
		uint8_t h[ETL_BUFFER_HEADER_SIZE];
		if (at + sizeof h > size || pread(f->fd, h, sizeof h, (off_t)at) != (ssize_t)sizeof h) {
			break;
		}
		uint32_t bytes = le32_get(h + ETL_BH_BUFFER_SIZE);
		if (bytes < sizeof h || bytes > size - at) {
			break;
		}
		*ret_last = at;
		at += bytes;
		n++;
	}
	*ret_buffers = n;
	return at;
}

static void take_all(struct sink_file *f, struct sink_file_gone *ret)
{
	ret->events = f->events_here;
	ret->buffers = f->buffers - BASE_MIN(f->buffers, f->first_place);
	f->events_here = 0;
	f->gone = true;
}

/* Everything from buffer `n` on is gone. */
static void take_from(struct sink_file *f, uint64_t n, struct sink_file_gone *ret)
{
	uint64_t counted = BASE_MIN(f->buffers, f->place_cap), events = 0;
	for (uint64_t i = n; i < counted; i++) {
		events += f->place_events[i];
		f->place_events[i] = 0;
	}
	if (n <= 1 && f->first_place <= 1) {
		events = f->events_here;
	}
	ret->events = events;
	ret->buffers = f->buffers - BASE_MAX(n, BASE_MIN(f->first_place, f->buffers));
	f->events_here -= events;
}

static void cut(struct sink_file *f, uint64_t size, struct sink_file_gone *ret)
{
	uint64_t n, last, end = whole_end(f, size, &n, &last);
	if (n == 0) { /* the header, too */
		uint32_t bytes = f->compression ? le32_get(f->header + ETL_BH_BUFFER_SIZE) : f->buffer_bytes;
		if (sink_file_pwrite(f, f->header, bytes, 0) < 0) {
			take_all(f, ret);
			return;
		}
		n = 1;
		end = bytes;
	}
	take_from(f, n, ret);
	(void)!ftruncate(f->fd, (off_t)end); /* half a buffer that stays is covered by the next one */
	f->buffers = n;
	f->first_place = BASE_MIN(f->first_place, n);
	f->place = BASE_MIN(f->place, n);
	f->end = end;
	f->last_at = last;
	f->last_place = f->compression ? 0 : n - 1;
	f->torn_place = f->torn_place < n ? f->torn_place : 0;
	f->reserved_bytes = end;
	f->shown_buffers = 0; /* the header is out of date */
}

/* What never changes in it: who wrote it and when. A short one was cut. */
static bool header_is_ours(const struct sink_file *f)
{
	uint8_t now[HEADER_LOOK];
	size_t start = ETL_HEADER_LIVE_OFFSET + ETL_LH64_START_TIME;
	_Static_assert(ETL_HEADER_LIVE_OFFSET + ETL_LH64_START_TIME + 8 <= HEADER_LOOK, "in what is read");
	ssize_t got = pread(f->fd, now, sizeof now, 0);
	return got != (ssize_t)sizeof now ||
	       (memcmp(now, f->header, ETL_HEADER_LIVE_OFFSET) == 0 && memcmp(now + start, f->header + start, 8) == 0);
}

enum sink_file_fate sink_file_look(struct sink_file *f, struct sink_file_gone *ret)
{
	struct stat st;
	*ret = (struct sink_file_gone){0};
	if (f->gone || f->inode == 0 || fstat(f->fd, &st) < 0) {
		return SINK_FATE_NONE;
	}
	if (st.st_nlink == 0) {
		take_all(f, ret);
		return SINK_FATE_REMOVED;
	}
	if (!header_is_ours(f)) {
		take_all(f, ret);
		return SINK_FATE_REPLACED;
	}
	uint64_t end = f->compression ? f->end : f->buffers * f->buffer_bytes;
	if ((uint64_t)st.st_size < end) {
		cut(f, (uint64_t)st.st_size, ret);
		return f->gone ? SINK_FATE_REPLACED : SINK_FATE_CUT;
	}
	if (!f->moved && is_moved(f)) {
		f->moved = true;
		return SINK_FATE_MOVED;
	}
	return SINK_FATE_NONE;
}
