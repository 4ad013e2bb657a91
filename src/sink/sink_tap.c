/* SPDX-License-Identifier: MIT
 *
 * Real-time feed. Consumers get the records of open buffers as little buffers of their own: the
 * 0x48 bytes before the first new record are replaced by a buffer header for the time of the call
 * and put back afterwards, which saves a copy of everything that is delivered. Nobody else looks at
 * an open buffer, and `deliver` runs on this thread.
 *
 *   open buffer   | header | delivered records ............ | new records | free |
 *                                                  ^0x48 bytes lent^
 *
 * While a consumer has no room, or there is none, records wait in their open buffer; when that is
 * closed they are copied to the backlog, in memory and beyond that in a file (sink_spool.c). Every backlog entry holds records of one cpu in time
 * order.
 *
 * With a keep_path the entries lie in memory that outlives the process (sink_keep.c), and records that
 * nobody took go there with the next tick instead of waiting for their buffer to be full.
 */
#include "etl/etl_record.h"
#include "sink/sink_keep.h"
#include "sink/sink_private.h"

#include <stdlib.h>

static void put_header(struct sink *s, uint8_t *p, uint32_t bytes, uint16_t cpu, uint64_t flush_time, uint16_t flags)
{
	struct etl_buffer_args a = {
		.buffer_size = bytes,
		.used = bytes,
		.flush_raw = flush_time,
		.sequence = ++s->rt_sequence,
		.processor = cpu,
		.logger_id = s->options.logger_id,
		.flags = flags,
	};
	etl_write_buffer_header(p, &a, false);
}

/* Losses since the last successful delivery travel as flags of the next buffer; consumers turn them
 * into the artificial lost-event records. */
static uint16_t loss_flags(const struct sink *s, uint64_t *ret_events, uint64_t *ret_buffers)
{
	uint64_t spool_events = 0, refused;
	*ret_events = s->lost_no_buffer + s->lost_too_big + s->lost_elsewhere;
	*ret_buffers = s->rt_buffers_lost;
	if (s->spool) {
		sink_spool_losses(s->spool, &spool_events, ret_buffers, &refused);
	}
	return (uint16_t)((*ret_events != s->rt_reported_lost ? ETL_BF_EVENTS_LOST : 0) |
			  (*ret_buffers != s->rt_reported_buffers_lost ? ETL_BF_BUFFER_LOST : 0));
}

static bool deliver(struct sink *s, uint8_t *p, uint32_t bytes, uint16_t cpu, uint64_t flush_time)
{
	if (!s->deliver) {
		return false;
	}
	uint64_t events, buffers;
	uint16_t flags = loss_flags(s, &events, &buffers);
	put_header(s, p, bytes, cpu, flush_time, flags);
	if (!s->deliver(s->deliver_ctx, p, bytes, cpu)) {
		s->rt_sequence--;
		return false;
	}
	s->rt_reported_lost = events;
	s->rt_reported_buffers_lost = buffers;
	return true;
}

static bool deliver_chunk(struct sink *s, struct sink_rt_chunk *c)
{
	return deliver(s, c->data, c->bytes, c->cpu, BASE_MAX(sink_clock_now(s), c->last_time));
}

/* What went to the disk is older than what is in memory. */
static bool pump_spool(struct sink *s)
{
	struct sink_rt_chunk *c;
	if (!s->deliver) {
		return false;
	}
	for (;;) {
		switch (sink_spool_take(s->spool, &c)) {
		case SINK_SPOOL_EMPTY: return true;
		case SINK_SPOOL_WAIT: s->rt_waiting = true; return false;
		default:
			if (!deliver_chunk(s, c)) {
				sink_spool_return(s->spool, c);
				return false;
			}
			sink_spool_delivered(s->spool, c);
		}
	}
}

static bool pump_backlog(struct sink *s)
{
	s->rt_waiting = false;
	if (s->spool && !pump_spool(s)) {
		return false;
	}
	while (s->rt_head) {
		struct sink_rt_chunk *c = s->rt_head;
		if (!deliver_chunk(s, c)) {
			return false;
		}
		s->rt_head = c->next;
		if (!s->rt_head) {
			s->rt_tail = NULL;
		}
		s->rt_count--;
		sink_chunk_free(s->keep, c);
	}
	return true;
}

static void lose(struct sink *s, uint32_t events)
{
	s->rt_buffers_lost++;
	s->rt_events_lost += events;
	if (s->keep) {
		sink_keep_head(s->keep)->tap_lost_events = s->rt_events_lost;
		sink_keep_head(s->keep)->tap_lost_buffers = s->rt_buffers_lost;
	}
}

static struct sink_rt_chunk *detach_oldest(struct sink *s)
{
	struct sink_rt_chunk *c = s->rt_head;
	s->rt_head = c->next;
	if (!s->rt_head) {
		s->rt_tail = NULL;
	}
	s->rt_count--;
	return c;
}

/* To the disk where there is one for it, else it is lost. */
static void make_room(struct sink *s)
{
	struct sink_rt_chunk *c = detach_oldest(s);
	if (!s->spool && s->options.spool_path && s->options.spool_bytes > 0) {
		(void)sink_spool_create(s, &s->spool); /* else tried again with the next one */
	}
	if (s->spool) {
		sink_spool_put(s->spool, c);
		return;
	}
	lose(s, c->events);
	sink_chunk_free(s->keep, c);
}

/* An entry of that cpu the records may be added to: without a consumer the flush timer closes many
 * nearly empty buffers, and each one as an entry of its own would push older ones out. */
static struct sink_rt_chunk *find_chunk(struct sink *s, uint16_t cpu, uint64_t first_time, uint32_t bytes)
{
	struct sink_rt_chunk *last = NULL;
	for (struct sink_rt_chunk *c = s->rt_head; c; c = c->next) {
		if (c->cpu == cpu) {
			last = c;
		}
	}
	return last && last->last_time <= first_time && bytes <= last->cap - last->bytes ? last : NULL;
}

static void add_to_backlog(struct sink *s, const struct sink_stream *st, uint32_t events, uint64_t last_time)
{
	const struct sink_buffer *b = st->buffer;
	uint32_t bytes = st->pos - st->delivered_pos;
	struct sink_rt_chunk *c = NULL;
	struct etl_record_head h;
	if (st->delivered_pos == ETL_BUFFER_HEADER_SIZE) {
		c = find_chunk(s, b->cpu, b->first_time, bytes);
	} else if (s->keep && etl_record_peek(st->base, st->pos, st->delivered_pos, &h, NULL) == 1) {
		c = find_chunk(s, b->cpu, h.time_raw, bytes);
	}
	if (!c) {
		if (s->rt_count >= s->options.props.maximum_buffers) {
			make_room(s);
		}
		c = sink_chunk_new(s->keep, s->buffer_bytes);
		if (!c) {
			lose(s, events);
			return;
		}
		c->cpu = b->cpu;
		if (s->rt_tail) {
			s->rt_tail->next = c;
		} else {
			s->rt_head = c;
		}
		s->rt_tail = c;
		s->rt_count++;
	}
	memcpy(c->data + c->bytes, st->base + st->delivered_pos, bytes);
	order_store_release(&c->bytes, c->bytes + bytes); /* complete up to there, see sink_keep.h */
	c->events += events;
	c->last_time = last_time;
}

/* Nobody took them, and the process may end at any time. */
static void keep_new(struct sink *s)
{
	for (uint32_t i = 0; i < 2 * s->stream_count; i++) {
		struct sink_stream *st = &s->stream[i];
		if (!st->buffer || st->pos == st->delivered_pos) {
			continue;
		}
		sink_stream_sort(s);
		sink_stream_raise_floor(s);
		add_to_backlog(s, st, (uint32_t)(st->events - st->delivered_events),
			       s->single ? s->sort_floor_time : st->last_time);
		st->delivered_pos = st->pos;
		st->delivered_events = st->events;
	}
}

void sink_tap_deliver_stream(struct sink *s, struct sink_stream *st, bool closing)
{
	if (!s->tap_enabled || !st->buffer || st->pos == st->delivered_pos) {
		return;
	}
	uint32_t events = (uint32_t)(st->events - st->delivered_events);
	uint64_t now = sink_clock_now(s);
	uint64_t last = s->single ? now : BASE_MAX(now, st->last_time);
	if (pump_backlog(s)) {
		sink_stream_sort(s);
		uint8_t saved[ETL_BUFFER_HEADER_SIZE];
		uint8_t *p = st->base + st->delivered_pos - ETL_BUFFER_HEADER_SIZE;
		memcpy(saved, p, sizeof saved);
		bool ok = deliver(s, p, ETL_BUFFER_HEADER_SIZE + st->pos - st->delivered_pos, st->buffer->cpu, last);
		memcpy(p, saved, sizeof saved);
		if (ok) {
			sink_stream_raise_floor(s);
			st->delivered_pos = st->pos;
			st->delivered_events = st->events;
			return;
		}
	}
	if (closing) {
		add_to_backlog(s, st, events, s->single ? st->buffer->flush_time : st->last_time);
	}
}

bool sink_tap_behind(struct sink *s)
{
	return s->rt_head != NULL || (s->spool && s->rt_waiting);
}

void sink_tap_pump(struct sink *s)
{
	if (!s->tap_enabled) {
		return;
	}
	if (s->deliver && pump_backlog(s)) {
		for (uint32_t i = 0; i < 2 * s->stream_count; i++) {
			sink_tap_deliver_stream(s, &s->stream[i], false);
		}
	}
	if (s->keep) {
		keep_new(s);
	}
}

void sink_set_tap(struct sink *s, bool enabled, sink_deliver_fn fn, void *ctx)
{
	if (enabled && !s->tap_enabled) {
		/* A feed begins now; what was recorded before belongs to the file alone. */
		for (uint32_t i = 0; i < 2 * s->stream_count; i++) {
			sink_stream_sort(s);
			sink_stream_raise_floor(s);
			s->stream[i].delivered_pos = s->stream[i].pos;
			s->stream[i].delivered_events = s->stream[i].events;
		}
		uint64_t events, buffers;
		loss_flags(s, &events, &buffers);
		s->rt_reported_lost = events;
	}
	s->tap_enabled = enabled;
	s->deliver = fn;
	s->deliver_ctx = ctx;
	if (!enabled) {
		sink_tap_finish(s);
	} else {
		sink_tap_pump(s);
	}
}

void sink_tap_finish(struct sink *s)
{
	while (s->rt_head) {
		struct sink_rt_chunk *c = s->rt_head;
		s->rt_head = c->next;
		if (!s->keep_at_end) {
			sink_chunk_free(s->keep, c);
		} else if (c->entry == 0) {
			free(c);
		}
	}
	s->rt_tail = NULL;
	s->rt_count = 0;
	if (s->spool && !s->keep_at_end) {
		sink_spool_clear(s->spool);
	}
}

void sink_tap_open_keep(struct sink *s)
{
	struct sink_keep_found found;
	if (!s->keep_path || !s->tap_enabled) {
		return;
	}
	/* As many entries as may lie in memory and on their way to the disk. */
	uint32_t entries = 2 * BASE_MAX(s->options.props.maximum_buffers, (8u << 20) / s->buffer_bytes);
	if (sink_keep_open(s->keep_path, s->buffer_bytes, entries, sink_spool_places(s), sink_spool_clock(s), &s->keep,
			   &found) < 0) {
		return;
	}
	s->keep_at_end = true; /* until this sink is there to answer for it */
	s->rt_head = found.entries.head;
	s->rt_tail = found.entries.tail;
	s->rt_count = found.entries.count;
	s->rt_found = found.waiting_events;
	s->rt_events_lost = found.lost_events;
	s->rt_buffers_lost = found.lost_buffers;
	const struct sink_keep_head *h = sink_keep_head(s->keep);
	if (h->next > h->first) {
		(void)sink_spool_create(s, &s->spool); /* else tried again when memory does not do */
	}
}

void sink_keep_backlog(struct sink *s)
{
	if (s->keep && s->tap_enabled) {
		keep_new(s);
		s->keep_at_end = true;
	}
}
