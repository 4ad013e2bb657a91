/* SPDX-License-Identifier: MIT
 *
 * What explains a ring in memory when it is written to a file: who the processes were, what they had loaded, what
 * functions are called. Said once, at the time of the snapshot, it would push out what it explains if it went through
 * the ring. So it has buffers of its own, which end with the snapshot.
 */
#include "sink/sink_private.h"

#include <stdlib.h>

#define EXPLANATION_BYTES_MAX (64u << 20) /* of one snapshot */

static struct sink_explanation *next_buffer(struct sink *s)
{
	struct sink_explanation *e = NULL;
	if ((uint64_t)(s->explanation_count + 1) * s->buffer_bytes <= EXPLANATION_BYTES_MAX) {
		e = calloc(1, sizeof *e + s->buffer_bytes);
	}
	if (e) {
		e->b.data = (uint8_t *)(e + 1);
		e->b.used = ETL_BUFFER_HEADER_SIZE;
		*(s->explanation ? &s->explanation_last->next : &s->explanation) = e;
		s->explanation_last = e;
		s->explanation_count++;
	}
	return e;
}

void *sink_explain(struct sink *s, uint64_t time, uint32_t bytes)
{
	if (!s->buffering || bytes == 0 || bytes > s->buffer_bytes - ETL_BUFFER_HEADER_SIZE) {
		s->lost_too_big += s->buffering;
		return NULL;
	}
	/* A buffer is sorted: what is older than the last one goes into a second one, as in the streams. */
	struct sink_explanation **e = &s->explanation_open[0];
	if (*e && time < (*e)->b.flush_time) {
		e = &s->explanation_open[1];
	}
	if (!*e || bytes > s->buffer_bytes - (*e)->b.used || time < (*e)->b.flush_time) {
		struct sink_explanation *next = next_buffer(s);
		if (!next) {
			s->lost_no_buffer++;
			return NULL;
		}
		next->b.first_time = time;
		*e = next;
	}
	struct sink_buffer *b = &(*e)->b;
	void *p = b->data + b->used;
	b->used += bytes;
	b->events++;
	b->flush_time = time; /* until it is closed, that of its last record */
	return p;
}

struct sink_explanation *sink_explanation_take(struct sink *s)
{
	struct sink_explanation *all = s->explanation;
	uint64_t now = sink_clock_now(s);
	for (struct sink_explanation *e = all; e; e = e->next) {
		e->b.sequence = s->next_sequence++;
		e->b.flush_time = BASE_MAX(now, e->b.flush_time);
	}
	s->explanation = s->explanation_last = NULL;
	s->explanation_open[0] = s->explanation_open[1] = NULL;
	s->explanation_count = 0;
	return all;
}

void sink_flush_explained(struct sink *s)
{
	struct sink_explanation *e = sink_explanation_take(s);
	pthread_mutex_lock(&s->lock);
	struct sink_snapshot *snap = s->snapshots;
	while (snap && !snap->held) {
		snap = snap->next;
	}
	if (snap) {
		sink_publish_counts(s);
		snap->explanation = e;
		snap->held = false;
		e = NULL;
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&s->lock);
	sink_explanation_free(e);
}

void sink_explanation_free(struct sink_explanation *e)
{
	while (e) {
		struct sink_explanation *next = e->next;
		free(e);
		e = next;
	}
}
