/* SPDX-License-Identifier: MIT
 *
 * Streams: where a record goes, when a buffer is taken and when it is closed.
 *
 * Each cpu has a main and a late stream. A record goes to the main one unless it is older than the
 * last one there, then to the late one; if it is older than the last one there, too, the late
 * buffer is closed and a new one taken. So every buffer is sorted and nothing is ever moved.
 *
 * Files must hold the buffers of one cpu in the order of their sequence numbers, which are given
 * when a buffer is taken. Closing order is file order, hence: before a buffer is closed, an open
 * buffer of the same cpu with a smaller number is closed. Late records are rare, so the space this
 * wastes is small; the alternative (holding full buffers back until the late one fills) would keep
 * events from the disk for an unbounded time.
 *
 * NO_PER_PROCESSOR_BUFFERING has one stream for records of all cpus, which arrive cpu by cpu in
 * each pass. There the open buffer takes them as they come and is sorted by time when it is closed
 * (or shown to a real-time consumer).
 */
#include "sink/sink_private.h"
#include "etw/values/session_modes.h"

#include <stdlib.h>

struct sink_sort_entry {
	uint64_t time;
	uint32_t at, bytes;
};

int sink_streams_init(struct sink *s)
{
	s->single = s->options.props.mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	s->stream_count = s->single ? 1 : s->options.cpus;
	size_t bytes = 2 * (size_t)s->stream_count * sizeof *s->stream;
	s->stream = aligned_alloc(64, bytes);
	s->ring_until = calloc(s->stream_count, sizeof *s->ring_until);
	if (!s->stream || !s->ring_until) {
		return -ENOMEM;
	}
	memset(s->stream, 0, bytes);
	if (s->single) {
		s->stream[0].last_time = UINT64_MAX;
		s->sort_cap = s->buffer_bytes / 8;
		s->sort = malloc(s->sort_cap * sizeof *s->sort);
		s->sort_scratch = malloc(s->buffer_bytes);
		if (!s->sort || !s->sort_scratch) {
			return -ENOMEM;
		}
	}
	return 0;
}

void sink_streams_finish(struct sink *s)
{
	free(s->stream);
	free(s->ring_until);
	free(s->sort);
	free(s->sort_scratch);
}

uint64_t sink_clock_now(const struct sink *s)
{
	switch (s->clock) {
	case 2: return clock_filetime();
	case 3: return clock_read_counter();
	default: return s->options.system_clock ? clock_read_system_ns() : clock_now();
	}
}

static int sort_compare(const void *pa, const void *pb)
{
	const struct sink_sort_entry *a = pa, *b = pb;
	if (a->time != b->time) {
		return a->time < b->time ? -1 : 1;
	}
	return a->at < b->at ? -1 : a->at > b->at; /* stable */
}

void sink_stream_sort(struct sink *s)
{
	struct sink_stream *st = &s->stream[0];
	if (!s->single || !s->sort_needed || !st->buffer) {
		return;
	}
	uint32_t from = s->sort[s->sort_floor].at; /* entries below the floor fill the space before */
	qsort(s->sort + s->sort_floor, s->sort_count - s->sort_floor, sizeof *s->sort, sort_compare);
	uint32_t to = from;
	for (uint32_t i = s->sort_floor; i < s->sort_count; i++) {
		struct sink_sort_entry *e = &s->sort[i];
		memcpy(s->sort_scratch + to, st->base + e->at, e->bytes);
		e->at = to;
		to += e->bytes;
	}
	memcpy(st->base + from, s->sort_scratch + from, to - from);
	s->sort_needed = false;
}

void sink_stream_raise_floor(struct sink *s)
{
	if (s->single && s->sort_count > 0) {
		s->sort_floor = s->sort_count;
		s->sort_floor_time = s->sort[s->sort_count - 1].time;
	}
}

static void close_one(struct sink *s, struct sink_stream *st)
{
	struct sink_buffer *b = st->buffer;
	if (!b) {
		return;
	}
	uint64_t last = st->last_time;
	if (s->single) {
		sink_stream_sort(s);
		last = s->sort[s->sort_count - 1].time;
		b->first_time = BASE_MIN(b->first_time, s->sort[0].time);
		s->sort_count = s->sort_floor = 0;
		s->sort_floor_time = 0;
	}
	b->used = st->pos;
	b->events = (uint32_t)(st->events - b->events_before);
	uint64_t now = sink_clock_now(s);
	b->flush_time = BASE_MAX(now, last);
	b->last_time = last;
	sink_tap_deliver_stream(s, st, true);
	st->buffer = NULL;
	st->base = NULL;
	st->pos = st->end = 0;
	st->last_time = s->single ? UINT64_MAX : 0;

	pthread_mutex_lock(&s->lock);
	if (s->buffering) {
		sink_list_push(&s->full, b);
	} else if (s->has_file) {
		sink_list_push(&s->full, b);
		s->pushed++;
		if (s->sleeping && sink_worth_writing(s)) {
			pthread_cond_signal(&s->wake);
		}
	} else {
		s->recycled++;
		sink_buffer_give_locked(s, b);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Close `st` and before it its sibling, if that one was taken earlier. */
static void close_in_order(struct sink *s, struct sink_stream *st)
{
	ptrdiff_t i = st - s->stream;
	ptrdiff_t n = s->stream_count;
	struct sink_stream *sibling = &s->stream[i < n ? i + n : i - n];
	if (sibling->buffer && st->buffer && sibling->buffer->sequence < st->buffer->sequence) {
		close_one(s, sibling);
	}
	close_one(s, st);
}

void sink_close_all(struct sink *s)
{
	for (uint32_t i = 0; i < s->stream_count; i++) {
		struct sink_stream *late = &s->stream[s->stream_count + i];
		if (late->buffer) {
			close_in_order(s, late);
		}
		close_in_order(s, &s->stream[i]);
	}
}

static bool open_buffer(struct sink *s, struct sink_stream *st, uint16_t cpu, uint64_t time)
{
	pthread_mutex_lock(&s->lock);
	struct sink_buffer *b = sink_buffer_take_locked(s);
	pthread_mutex_unlock(&s->lock);
	if (!b) {
		return false;
	}
	b->sequence = s->next_sequence++;
	b->cpu = s->single ? 0 : cpu;
	b->events_before = st->events;
	b->first_time = time;
	st->buffer = b;
	st->base = b->data;
	st->pos = ETL_BUFFER_HEADER_SIZE;
	st->end = s->buffer_bytes;
	st->delivered_pos = ETL_BUFFER_HEADER_SIZE;
	st->delivered_events = st->events;
	return true;
}

static void *reserve_single(struct sink *s, uint64_t time, uint32_t bytes)
{
	struct sink_stream *st = &s->stream[0];
	if (st->buffer && (bytes > st->end - st->pos || s->sort_count == s->sort_cap || time < s->sort_floor_time)) {
		close_one(s, st);
	}
	if (!st->buffer && !open_buffer(s, st, 0, time)) {
		s->lost_no_buffer++;
		return NULL;
	}
	if (s->sort_count > s->sort_floor && time < s->sort[s->sort_count - 1].time) {
		s->sort_needed = true;
	}
	s->sort[s->sort_count++] = (struct sink_sort_entry){time, st->pos, bytes};
	void *p = st->base + st->pos;
	st->pos += bytes;
	st->events++;
	return p;
}

static __attribute__((noinline)) void *reserve_slow(struct sink *s, uint16_t cpu, uint64_t time, uint32_t bytes)
{
	if (bytes > s->buffer_bytes - ETL_BUFFER_HEADER_SIZE || bytes == 0) {
		s->lost_too_big++;
		return NULL;
	}
	if (s->single) {
		return reserve_single(s, time, bytes);
	}
	struct sink_stream *main = &s->stream[cpu];
	struct sink_stream *late = &s->stream[s->stream_count + cpu];
	struct sink_stream *st = main;
	if (time < main->last_time) {
		s->late_records++;
		st = late;
	}
	if (st->buffer && (time < st->last_time || bytes > st->end - st->pos)) {
		close_in_order(s, st);
	}
	if (!st->buffer && !open_buffer(s, st, cpu, time)) {
		s->lost_no_buffer++;
		return NULL;
	}
	void *p = st->base + st->pos;
	st->pos += bytes;
	st->last_time = time;
	st->events++;
	return p;
}

void *sink_reserve(struct sink *s, uint16_t cpu, uint64_t time, uint32_t bytes)
{
	if (BASE_UNLIKELY(cpu >= s->stream_count)) {
		/* One stream, or a processor number nobody announced: keep the record. */
		cpu = (uint16_t)(cpu % s->stream_count);
	}
	struct sink_stream *st = &s->stream[cpu];
	if (BASE_LIKELY(time >= st->last_time && bytes <= st->end - st->pos && bytes != 0)) {
		void *p = st->base + st->pos;
		st->pos += bytes;
		st->last_time = time;
		st->events++;
		return p;
	}
	return reserve_slow(s, cpu, time, bytes);
}

void sink_uncount_of_file(struct sink *s, const void *record, uint32_t bytes)
{
	const uint8_t *p = record;
	if (bytes < 8 || (p[2] != ETL_RT_SYSTEM64 && p[2] != ETL_RT_PERFINFO64) || p[7] != 0x00) {
		return;
	}
	for (uint32_t i = 0; i < 2 * (uint32_t)s->stream_count; i++) {
		struct sink_stream *st = &s->stream[i];
		if (st->buffer && p >= st->base && p < st->base + st->pos) {
			st->events--;
			return;
		}
	}
}

void sink_room_open(struct sink *s, uint16_t cpu, struct sink_room *ret)
{
	const struct sink_stream *st = &s->stream[cpu % s->stream_count];
	ret->at = st->base + st->pos;
	ret->left = st->end - st->pos;
	ret->least_time = st->last_time; /* a single stream for all says UINT64_MAX: it sorts */
}

void sink_room_used(struct sink *s, uint16_t cpu, uint32_t bytes, uint32_t events, uint64_t last_time)
{
	struct sink_stream *st = &s->stream[cpu % s->stream_count];
	if (events > 0) {
		st->pos += bytes;
		st->events += events;
		st->last_time = last_time;
	}
}
