/* SPDX-License-Identifier: MIT
 *
 * Memory of the buffers. Address space for all that a session may ever have is taken at once; pages
 * are touched up to MinimumBuffers at the start and beyond only when the disk falls behind.
 */
#include "sink/sink_private.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct sink_extent *extent_make(struct sink *s, uint32_t count)
{
	size_t bytes = (size_t)count * s->buffer_bytes;
	struct sink_extent *e = calloc(1, sizeof *e + count * sizeof e->buffer[0]);
	if (!e) {
		return NULL;
	}
	e->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (e->memory == MAP_FAILED) {
		free(e);
		return NULL;
	}
	madvise(e->memory, bytes, MADV_HUGEPAGE); /* a wish */
	e->bytes = bytes;
	e->count = count;
	for (uint32_t i = 0; i < count; i++) {
		e->buffer[i].data = e->memory + (size_t)i * s->buffer_bytes;
	}
	return e;
}

int sink_buffers_add(struct sink *s, uint32_t count)
{
	struct sink_extent *e = extent_make(s, count);
	if (!e) {
		return -ENOMEM;
	}
	pthread_mutex_lock(&s->lock);
	struct sink_extent **at = &s->extents;
	while (*at) {
		at = &(*at)->next;
	}
	*at = e;
	s->buffers_limit += count;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int sink_buffers_reserve(struct sink *s, uint32_t count)
{
	struct sink_extent *e = extent_make(s, count);
	if (!e) {
		return -ENOMEM;
	}
	madvise(e->memory, e->bytes, MADV_NOHUGEPAGE); /* most of it is never touched */
	s->reserve_extent = e;
	for (uint32_t i = 0; i < count; i++) {
		e->buffer[i].of_reserve = true;
		sink_list_push(&s->reserve, &e->buffer[i]);
	}
	return 0;
}

void sink_buffers_free(struct sink *s)
{
	if (s->reserve_extent) {
		s->reserve_extent->next = s->extents;
		s->extents = s->reserve_extent;
		s->reserve_extent = NULL;
	}
	while (s->extents) {
		struct sink_extent *e = s->extents;
		s->extents = e->next;
		munmap(e->memory, e->bytes);
		free(e);
	}
}

static struct sink_buffer *take_fresh(struct sink *s)
{
	if (s->buffers_allocated >= s->buffers_limit) {
		return NULL;
	}
	for (struct sink_extent *e = s->extents; e; e = e->next) {
		if (e->handed_out < e->count) {
			s->buffers_allocated++;
			return &e->buffer[e->handed_out++];
		}
	}
	return NULL;
}

/* Buffering mode: the oldest closed buffer that no snapshot is busy writing. */
static struct sink_buffer *take_oldest(struct sink *s)
{
	struct sink_buffer *previous = NULL;
	for (struct sink_buffer *b = s->full.head; b; previous = b, b = b->next) {
		if (b->pins > 0) {
			continue;
		}
		if (previous) {
			previous->next = b->next;
		} else {
			s->full.head = b->next;
		}
		if (s->full.tail == b) {
			s->full.tail = previous;
		}
		s->full.count--;
		s->overwritten_buffers++;
		s->overwritten_events += b->events;
		s->ring_until[b->cpu] = BASE_MAX(s->ring_until[b->cpu], b->last_time);
		return b;
	}
	return NULL;
}

bool sink_scarce(struct sink *s)
{
	if (BASE_LIKELY(!s->scarce)) {
		return false;
	}
	pthread_mutex_lock(&s->lock);
	s->scarce = !s->free.head && s->buffers_allocated >= s->buffers_limit;
	pthread_mutex_unlock(&s->lock);
	return s->scarce;
}

void sink_refuse(struct sink *s, uint64_t events)
{
	s->lost_no_buffer += events;
}

void sink_may_reserve(struct sink *s, bool may)
{
	s->may_reserve = may;
}

bool sink_is_in_reserve(const struct sink *s, uint16_t cpu)
{
	const struct sink_buffer *b = s->stream[cpu % s->stream_count].buffer;
	return b && b->of_reserve;
}

struct sink_buffer *sink_buffer_take_locked(struct sink *s)
{
	if (s->quota == 0) {
		s->file_full = true;
		return NULL;
	}
	if (s->file_full && s->identity.compression) {
		return NULL;
	}
	/* Last freed first: its lines may still be in the cache. */
	struct sink_buffer *b = sink_list_pop(&s->free);
	if (!b) {
		b = take_fresh(s);
	}
	if (!b && s->buffering) {
		b = take_oldest(s);
	}
	s->scarce = !b;
	if (!b && s->may_reserve) {
		b = sink_list_pop(&s->reserve);
	}
	if (b && s->quota != UINT64_MAX) {
		s->quota--;
	}
	return b;
}
