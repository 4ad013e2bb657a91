/* SPDX-License-Identifier: MIT
 * Real-time consumers. Each has a ring of its own, which it can only read; a slow or dead one fills
 * its ring and from then on loses buffers, counted, without anybody waiting for it.
 *
 *   sink tap -> etwd_realtime_deliver -> copy into every ring with a free place, RT_BUFFER
 *   end of a pass -> RT_ROUND(watermark): everything up to there stands in the RT_BUFFERs before
 *   RT_ACK -> places are free again
 *
 * The tap is told "no room" only when nobody had any: then the sink keeps the buffer in its
 * backlog. So a single consumer gets everything the backlog holds, and of several the slow one
 * alone has gaps.
 */
#include "etl/etl_record.h"
#include "etw/values/access_rights.h"
#include "etw/values/errors.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_realtime.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "format/etl_layout.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define SLOTS_MAX      64u
#define SLOTS_MIN      4u
#define RING_BYTES_MAX (64ull << 20)
#define HEADER_ROOM    32768u
#define QUIET_ROUND_NS 100000000ull

static uint32_t count_records(const uint8_t *buf, uint32_t bytes)
{
	struct etl_record_head h;
	uint32_t n = 0, at = ETL_BUFFER_HEADER_SIZE;
	while (etl_record_peek(buf, bytes, at, &h, NULL) == 1) {
		n++;
		at = etl_record_after(&h);
	}
	return n;
}

/* ---- attach
 * ---------------------------------------------------------------------------------------- */

static int ring_create(struct consumer *k, int *ret_fd)
{
	int fd = base_memfd("openetw-feed", k->ring_bytes);
	if (fd < 0) {
		return fd;
	}
	k->ring = mmap(NULL, k->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (k->ring == MAP_FAILED) {
		k->ring = NULL;
		close(fd);
		return -ENOMEM;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	}
	*ret_fd = fd;
	return 0;
}

static void consumer_free(struct etwd *d, struct consumer *k)
{
	if (k->ring) {
		munmap(k->ring, k->ring_bytes);
	}
	etwd_share_give(d, k->uid, SHARE_BUFFER_BYTES, k->ring_bytes);
	free(k);
}

static const char *may_open(struct etwd *d, struct conn *c, struct session *s, uint32_t *ret_code)
{
	*ret_code = ERROR_WMI_INSTANCE_NOT_FOUND;
	if (!s || s->state != SESSION_RUNNING) {
		return "no such trace session is running";
	}
	if (!(s->props.mode & EVENT_TRACE_REAL_TIME_MODE)) {
		return "the session does not deliver in real time";
	}
	*ret_code = ERROR_ACCESS_DENIED;
	if (!etwd_access_allows(d, &s->props.guid, c, TRACELOG_ACCESS_REALTIME)) {
		return "no right to read this session";
	}
	*ret_code = ERROR_NO_SYSTEM_RESOURCES;
	if (s->consumer_count >= ETWD_CONSUMERS_MAX) {
		return "the session has 16 consumers already";
	}
	*ret_code = ERROR_INVALID_PARAMETER;
	return c->consumer ? "this connection reads a session already" : NULL;
}

void etwd_realtime_open(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t code;
	struct session *s = etwd_session_find(d, m, c, TRACELOG_ACCESS_REALTIME);
	const char *why = may_open(d, c, s, &code);
	if (why) {
		etwd_reply_status(d, c, m, code, why);
		return;
	}
	struct consumer *k = calloc(1, sizeof *k);
	uint8_t *header = malloc(HEADER_ROOM);
	int fd = -1;
	int r = k && header ? 0 : -ENOMEM;
	long header_bytes = 0;
	if (r == 0) {
		k->conn = c;
		k->session = s;
		k->slot_bytes = s->props.buffer_kb * 1024;
		k->slots = (uint32_t)BASE_MIN(RING_BYTES_MAX / k->slot_bytes, SLOTS_MAX);
		k->slots = BASE_MAX(k->slots, SLOTS_MIN);
		k->uid = c->uid;
		/* Where that is too much, it may be less. */
		while (k->slots > SLOTS_MIN &&
		       !etwd_share_fits(d, k->uid, SHARE_BUFFER_BYTES, (uint64_t)k->slots * k->slot_bytes)) {
			k->slots = BASE_MAX(k->slots / 2, SLOTS_MIN);
		}
		uint64_t ring_bytes = (uint64_t)k->slots * k->slot_bytes;
		r = etwd_share_take(d, k->uid, SHARE_BUFFER_BYTES, ring_bytes) ? -ENOMEM : 0;
		k->ring_bytes = r == 0 ? ring_bytes : 0;
	}
	if (r == 0) {
		struct sink_stats st;
		sink_stats(s->sink, &st);
		k->base_events = st.events_lost + st.rt_events_lost;
		k->base_buffers = st.rt_buffers_lost;
		r = ring_create(k, &fd);
	}
	if (r == 0) {
		header_bytes = sink_header(s->sink, header, HEADER_ROOM);
		r = header_bytes < 0 ? (int)header_bytes : 0;
	}
	if (r < 0) {
		base_close(&fd);
		if (k) {
			consumer_free(d, k);
		}
		free(header);
		etwd_reply_status(d, c, m, win32_from_errno(r), "no memory for the feed");
		return;
	}
	etwd_images_file(s);
	struct proto_session desc;
	struct proto_writer w;
	etwd_session_describe(d, s, &desc);
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_session(&w, &desc);
	proto_put_u32(&w, PROTO_TAG_RING_SLOTS, k->slots);
	proto_put_u32(&w, PROTO_TAG_RING_SLOT_BYTES, k->slot_bytes);
	proto_put(&w, PROTO_TAG_HEADER, header, (size_t)header_bytes);
	etwd_conn_send(d, c, &w, &fd, 1);
	close(fd);
	free(header);
	if (c->closing) {
		consumer_free(d, k);
		return;
	}
	c->consumer = k;
	LIST_INSERT_HEAD(&s->consumers, k, link);
	s->consumer_count++;
	d->drain_now = true; /* the backlog, and the tick is shorter now */
}

void etwd_realtime_close(struct etwd *d, struct consumer *k)
{
	LIST_REMOVE(k, link);
	k->session->consumer_count--;
	k->conn->consumer = NULL;
	consumer_free(d, k);
}

/* ---- delivery
 * -------------------------------------------------------------------------------------- */

static void put_losses(struct proto_writer *w, const struct consumer *k)
{
	struct sink_stats st = {0};
	if (k->session->sink) {
		sink_stats(k->session->sink, &st);
	}
	/* What the session lost before this consumer came was not its loss. */
	proto_put_u64(w, PROTO_TAG_LOST_EVENTS, k->lost_events + st.events_lost + st.rt_events_lost - k->base_events);
	proto_put_u64(w, PROTO_TAG_LOST_BUFFERS, k->lost_buffers + st.rt_buffers_lost - k->base_buffers);
}

static bool give(struct etwd *d, struct consumer *k, const uint8_t *buf, uint32_t bytes, uint16_t cpu)
{
	if (k->sent - k->acked >= k->slots || bytes > k->slot_bytes) {
		return false;
	}
	uint32_t position = (uint32_t)(k->sent % k->slots);
	memcpy(k->ring + (uint64_t)position * k->slot_bytes, buf, bytes);
	uint8_t mem[256];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_RT_BUFFER, 0);
	proto_put_u32(&w, PROTO_TAG_POSITION, position);
	proto_put_u64(&w, PROTO_TAG_SEQUENCE, k->sent + 1);
	proto_put_u32(&w, PROTO_TAG_LENGTH, bytes);
	proto_put_u32(&w, PROTO_TAG_CPU, cpu);
	put_losses(&w, k);
	if (etwd_conn_try_send(d, k->conn, &w) < 0) {
		return false;
	}
	k->sent++;
	return true;
}

bool etwd_realtime_deliver(void *ctx, const uint8_t *buf, uint32_t bytes, uint16_t cpu)
{
	struct session *s = ctx;
	struct consumer *k = LIST_FIRST(&s->consumers);
	bool had[ETWD_CONSUMERS_MAX] = {0};
	bool any = false;
	uint32_t i = 0;
	while (k) {
		/* A failed send may close the connection and with it the consumer. */
		struct consumer *next = LIST_NEXT(k, link);
		uint32_t before = s->consumer_count;
		bool ok = give(s->daemon, k, buf, bytes, cpu);
		if (s->consumer_count == before && i < ETWD_CONSUMERS_MAX) {
			had[i++] = ok;
		}
		any |= ok;
		k = next;
	}
	if (!any) {
		s->blocked = true;
		return false;
	}
	uint32_t events = 0;
	i = 0;
	LIST_FOREACH(k, &s->consumers, link) {
		if (!had[i++]) {
			events = events ? events : count_records(buf, bytes);
			k->lost_buffers++;
			k->lost_events += events;
			s->loss[PROTO_LOSS_RT_BUFFERS]++;
			s->loss[PROTO_LOSS_RT_EVENTS] += events;
		}
	}
	s->delivered = true;
	return true;
}

void etwd_realtime_round(struct etwd *d, struct session *s, uint64_t watermark, uint64_t now_ns)
{
	/* While something waits in the backlog nothing can be promised. Quiet sessions are heard
	 * now and then, so that a reader of several sessions need not wait for them. */
	if (s->consumer_count == 0 || s->blocked || sink_tap_behind(s->sink) ||
	    (!s->delivered && now_ns - s->round_ns < QUIET_ROUND_NS)) {
		return;
	}
	s->round_ns = now_ns;
	struct consumer *k = LIST_FIRST(&s->consumers);
	while (k) {
		struct consumer *next = LIST_NEXT(k, link);
		uint8_t mem[128];
		struct proto_writer w;
		proto_begin(&w, mem, sizeof mem, PROTO_RT_ROUND, 0);
		proto_put_u64(&w, PROTO_TAG_WATERMARK, etwd_kernel_watermark(d, s, etwd_session_time(d, s, watermark)));
		put_losses(&w, k);
		/* A full socket: a later round says more. */
		(void)etwd_conn_try_send(d, k->conn, &w);
		k = next;
	}
}

void etwd_realtime_end(struct etwd *d, struct session *s)
{
	struct consumer *k;
	while ((k = LIST_FIRST(&s->consumers))) {
		struct conn *c = k->conn;
		uint8_t mem[128];
		struct proto_writer w;
		proto_begin(&w, mem, sizeof mem, PROTO_RT_END, 0);
		proto_put_u64(&w, PROTO_TAG_WATERMARK, etwd_session_time(d, s, d->watermark));
		put_losses(&w, k);
		etwd_realtime_close(d, k);
		/* Queued if need be: the connection outlives the session. */
		etwd_conn_send(d, c, &w, NULL, 0);
	}
}

void etwd_realtime_ack(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint64_t sequence;
	struct consumer *k = c->consumer;
	c->tokens++; /* acknowledgements are not requests: they are bounded by what we sent */
	if (!k || !proto_get_u64(m, PROTO_TAG_SEQUENCE, &sequence)) {
		return; /* the session ended meanwhile */
	}
	if (sequence < k->acked || sequence > k->sent) {
		d->bad_messages++;
		etwd_conn_close(d, c);
		return;
	}
	bool was_full = k->sent - k->acked >= k->slots;
	k->acked = sequence;
	if (was_full) {
		d->drain_now = true; /* there may be a backlog */
	}
}
