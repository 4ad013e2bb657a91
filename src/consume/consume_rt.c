/* SPDX-License-Identifier: MIT
 *
 * Real-time source. etwd copies full buffers into a ring and announces each (RT_BUFFER); a round
 * ends with a watermark (RT_ROUND): nothing older can come any more, whatever the processor. So the
 * records up to the watermark are merged exactly, without timers.
 *
 * Buffers are copied out with pread() and acknowledged at once: what we parse is ours alone and
 * cannot change under us, and a ring that shrinks gives a short read, not a signal.
 */
#include "consume/consume_held.h"
#include "proto/proto.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#define REPLY_TIMEOUT_MS 30000
#define SLOTS_MAX        65536u
/* A round larger than this is delivered without waiting for its watermark. */
#define HELD_BYTES_MAX (1ull << 30)
#define CLOCK_SYSTEM   2u

struct rt_source {
	struct consume_source s;
	int sock, ring, wake;
	uint32_t slots, slot_bytes;
	uint64_t ring_bytes;
	struct held_set held;
	uint64_t watermark;
	bool ended;
	uint64_t lost_events, lost_buffers; /* as etwd counted at last */
	bool tell_lost_events, tell_lost_buffers;
	uint8_t *header; /* buffer 0; delivered first */
	size_t header_bytes;
	uint32_t header_at;
	bool header_done;
	bool closing;
	uint32_t closing_left; /* buffers that may have been in the ring when CloseTrace came */
	int error;             /* what broke the stream off */
	uint8_t message[PROTO_MESSAGE_MAX];
};

static void release(void *ctx, const struct held_buffer *b)
{
	struct rt_source *r = ctx;
	if (!(r->s.on_buffer && r->s.on_buffer(r->s.on_buffer_ctx, b->buf, b->used))) {
		free(b->owner);
	}
}

static void note_losses(struct rt_source *r, const struct proto_message *m)
{
	uint64_t v;
	if (proto_get_u64(m, PROTO_TAG_LOST_EVENTS, &v) && v > r->lost_events) {
		r->lost_events = v;
		r->tell_lost_events = true;
	}
	if (proto_get_u64(m, PROTO_TAG_LOST_BUFFERS, &v) && v > r->lost_buffers) {
		r->lost_buffers = v;
		r->tell_lost_buffers = true;
	}
	r->s.events_lost = r->lost_events;
	r->s.buffers_lost = r->lost_buffers;
}

static int take_buffer(struct rt_source *r, const struct proto_message *m)
{
	uint32_t position, length;
	uint64_t sequence;
	if (!proto_get_u32(m, PROTO_TAG_POSITION, &position) || !proto_get_u32(m, PROTO_TAG_LENGTH, &length) ||
	    !proto_get_u64(m, PROTO_TAG_SEQUENCE, &sequence) || position >= r->slots ||
	    length < ETL_BUFFER_HEADER_SIZE || length > r->slot_bytes) {
		return -EBADMSG;
	}
	note_losses(r, m);
	uint8_t *buf = malloc(length);
	if (!buf) {
		return -ENOMEM;
	}
	ssize_t n;
	do {
		n = pread(r->ring, buf, length, (off_t)((uint64_t)position * r->slot_bytes));
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)length) {
		free(buf);
		return n < 0 ? -errno : -EBADMSG;
	}

	uint8_t ack[64];
	struct proto_writer w;
	proto_begin(&w, ack, sizeof ack, PROTO_RT_ACK, 0);
	proto_put_u64(&w, PROTO_TAG_SEQUENCE, sequence);
	long bytes = proto_end(&w);
	/* A lost peer shows at the next receive; what has arrived is delivered all the same. */
	(void)proto_send(r->sock, ack, (size_t)bytes, NULL, 0);

	int err = held_add(&r->held, buf, etl_buffer_end(buf, length), buf);
	if (err < 0) {
		free(buf);
	}
	return err;
}

/* Wait for one message. 1 when something happened, 0 when there is nothing more to come, -errno. */
static int receive(struct rt_source *r)
{
	struct pollfd p[2] = {{.fd = r->sock, .events = POLLIN}, {.fd = r->wake, .events = POLLIN}};
	int n = poll(p, 2, -1);
	if (n < 0) {
		return errno == EINTR ? 1 : -errno;
	}
	if (p[1].revents && !r->closing) {
		r->closing = true;
		r->closing_left = r->slots;
	}
	/* A busy session never falls silent, so what comes after the close is bounded, too. */
	if (r->closing && (p[0].revents == 0 || r->closing_left == 0)) {
		return 0;
	}
	long got = proto_recv(r->sock, r->message, sizeof r->message, NULL, NULL, 0);
	if (got == -EAGAIN || got == -EINTR || got == -ETIMEDOUT) {
		return 1;
	}
	if (got <= 0) {
		/* etwd ends a stream with RT_END. Without it etwd has died, or given us up. */
		return got < 0 ? (int)got : -ECONNRESET;
	}
	struct proto_message m;
	int err = proto_parse(r->message, (size_t)got, &m);
	if (err < 0) {
		return err;
	}
	uint64_t watermark;
	switch (m.type) {
	case PROTO_RT_BUFFER:
		err = take_buffer(r, &m);
		r->closing_left -= r->closing;
		return err < 0 ? err : 1;
	case PROTO_RT_ROUND:
		note_losses(r, &m);
		if (proto_get_u64(&m, PROTO_TAG_WATERMARK, &watermark) && watermark > r->watermark) {
			r->watermark = watermark;
		}
		return 1;
	case PROTO_RT_END: note_losses(r, &m); return 0;
	default: return 1; /* a later etwd may say more than we know */
	}
}

static int synthetic_loss(struct rt_source *r, uint64_t time_raw, struct etl_record *ret)
{
	bool *told = r->tell_lost_events ? &r->tell_lost_events : &r->tell_lost_buffers;
	etl_record_loss(r->tell_lost_events ? ETL_LOST_EVENT : ETL_LOST_BUFFER, time_raw, &r->s.clock, ret);
	*told = false;
	return 1;
}

static int rt_next(struct consume_source *s, struct etl_record *ret)
{
	struct rt_source *r = (struct rt_source *)s;
	if (!r->header_done) {
		if (etl_buffer_next(r->header, r->header_bytes, &r->header_at, &s->clock, ret, NULL) > 0) {
			return 1;
		}
		r->header_done = true; /* kept until close: the names in info point into it */
		if (s->on_buffer) {
			/* Who forwards buffers needs this one first. Not to be taken over. */
			uint8_t *copy = malloc(r->header_bytes);
			if (copy) {
				memcpy(copy, r->header, r->header_bytes);
			}
			if (copy && !s->on_buffer(s->on_buffer_ctx, copy, (uint32_t)r->header_bytes)) {
				free(copy);
			}
		}
	}
	held_advance(&r->held);
	for (;;) {
		bool due = !held_empty(&r->held) &&
			   (r->ended || held_time(&r->held) <= r->watermark || r->held.bytes > HELD_BYTES_MAX);
		if ((r->tell_lost_events || r->tell_lost_buffers) && (due || r->ended || held_empty(&r->held))) {
			return synthetic_loss(r, due ? held_time(&r->held) : r->watermark, ret);
		}
		if (due) {
			held_take(&r->held, &s->clock, ret);
			return 1;
		}
		if (r->ended) {
			return r->error;
		}
		if (s->cancelled) { /* by on_buffer, just now: in a quiet session nothing may come for hours */
			return 0;
		}
		int got = receive(r);
		if (got <= 0) {
			/* Whatever ended the stream, what has arrived is delivered first. */
			r->ended = true;
			r->error = got;
			r->s.broken_off = got < 0;
		}
	}
}

static void rt_wake(struct consume_source *s)
{
	uint64_t one = 1;
	ssize_t n = write(((struct rt_source *)s)->wake, &one, sizeof one);
	(void)n;
}

static void rt_close(struct consume_source *s)
{
	struct rt_source *r = (struct rt_source *)s;
	r->s.on_buffer = NULL;
	held_finish(&r->held);
	free(r->header);
	base_close(&r->sock);
	base_close(&r->ring);
	base_close(&r->wake);
	free(r);
}

static const struct consume_ops rt_ops = {.next = rt_next, .wake = rt_wake, .close = rt_close};

static int rt_accept(struct rt_source *r, const struct proto_message *m, int fds_count, struct diag *d)
{
	struct stat st;
	const uint8_t *header;
	size_t n;
	if (fds_count != 1 || fstat(r->ring, &st) < 0 || !proto_get_u32(m, PROTO_TAG_RING_SLOTS, &r->slots) ||
	    !proto_get_u32(m, PROTO_TAG_RING_SLOT_BYTES, &r->slot_bytes) ||
	    !proto_get(m, PROTO_TAG_HEADER, &header, &n)) {
		diag_at(d, UINT64_MAX, "etwd's answer lacks the ring or the header");
		return -EBADMSG;
	}
	r->ring_bytes = (uint64_t)st.st_size;
	if (r->slots == 0 || r->slots > SLOTS_MAX || r->slot_bytes < ETL_BUFFER_HEADER_SIZE ||
	    r->slot_bytes > ETL_BUFFER_MAX || (uint64_t)r->slots * r->slot_bytes > r->ring_bytes) {
		diag_at(d, UINT64_MAX, "etwd's ring makes no sense: %u slots of %u bytes in %llu", r->slots,
			r->slot_bytes, (unsigned long long)r->ring_bytes);
		return -EBADMSG;
	}
	r->header = malloc(n ? n : 1);
	if (!r->header) {
		return -ENOMEM;
	}
	memcpy(r->header, header, n);
	r->header_bytes = n;
	struct etl_file_info info;
	int err = etl_header_parse(r->header, n, &info, d);
	if (err < 0) {
		return err;
	}
	consume_source_set_info(&r->s, &info);
	r->s.events_lost = 0;
	r->held.run_flags = info.clock_type == CLOCK_SYSTEM ? ETL_RUN_KEEP_ORDER : 0;
	return 0;
}

int consume_rt_open(const uint16_t *name, uint32_t name_units, struct consume_source **ret, uint32_t *ret_status,
		    struct diag *d)
{
	*ret_status = 0;
	struct rt_source *r = calloc(1, sizeof *r);
	if (!r) {
		return -ENOMEM;
	}
	r->s.ops = &rt_ops;
	r->s.real_time = true;
	r->held.release = release;
	r->held.ctx = r;
	r->ring = -1;
	r->wake = -1;
	r->sock = proto_connect_control(false, d);
	int err = r->sock;
	if (err < 0) {
		goto fail;
	}
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake < 0) {
		err = -errno;
		goto fail;
	}
	uint8_t request[4096];
	struct proto_writer w;
	proto_begin(&w, request, sizeof request, PROTO_OPEN_RT, 1);
	proto_put(&w, PROTO_TAG_SESSION_NAME, name, 2 * (size_t)name_units);
	long n = proto_end(&w);
	err = (int)n;
	if (n < 0) {
		goto fail;
	}
	struct proto_message m;
	int fds[PROTO_FDS_MAX], count = 1;
	err = proto_call(r->sock, request, (size_t)n, r->message, sizeof r->message, &m, fds, &count, ret_status,
			 REPLY_TIMEOUT_MS);
	if (err < 0) {
		goto fail;
	}
	if (count > 0) {
		r->ring = fds[0];
	}
	if (*ret_status != 0) {
		err = -EREMOTEIO;
		goto fail;
	}
	err = rt_accept(r, &m, count, d);
	if (err < 0) {
		goto fail;
	}
	*ret = &r->s;
	return 0;
fail:
	rt_close(&r->s);
	return err;
}
