/* SPDX-License-Identifier: MIT
 *
 * A stream of buffers that the caller brings, usually from another machine's buffer callback. They
 * come in the order in which they were finished there, so a later one may hold older records.
 * Nothing says when that cannot happen any more; but a session flushes all its processors together,
 * so buffers come in bursts: what has come is held until the burst is over, or more is held than a
 * burst can have, and is then delivered in order.
 */
#include "consume/consume_held.h"
#include "base/order.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define QUIET_MS       50
#define HELD_PER_CPU   4u
#define HELD_MIN       64u
#define HELD_BYTES_MAX (64ull << 20)
#define CLOCK_SYSTEM   2u
#define CPUS           2048u /* what the 11 bits of a processor index can say */

struct fed {
	struct fed *next;
	const uint8_t *caller; /* theirs */
	uint8_t *plain;        /* ours, when theirs is compressed */
	uint32_t used;
	uint64_t last_raw; /* time of its newest record */
};

struct stream_source {
	struct consume_source s;
	consume_stream_done_fn *done;
	void *done_ctx;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct fed *queue, **queue_end; /* guarded by lock, as all down to sequence */
	struct fed *header;
	struct etl_file_info info;
	uint32_t compression;
	bool closing;
	uint64_t *sequence;     /* highest of each processor that came */
	uint64_t delivered_raw; /* newest; a hint for the feeding thread */
	/* the reading thread's */
	bool started;
	uint32_t header_at;
	bool header_done;
	bool draining;
	uint32_t held_count;
	struct held_set held;
};

static void fed_done(struct stream_source *x, struct fed *f)
{
	x->done(x->done_ctx, f->caller);
	free(f->plain);
	free(f);
}

static void release(void *ctx, const struct held_buffer *b)
{
	struct stream_source *x = ctx;
	struct fed *f = b->owner;
	x->held_count--;
	if (x->s.on_buffer) {
		/* Nothing can be taken over here: the buffer is the caller's. */
		(void)x->s.on_buffer(x->s.on_buffer_ctx, b->buf, b->used);
	}
	fed_done(x, f);
}

/* A plain copy of a compressed buffer. */
static int unpack(uint32_t format, uint32_t limit, const uint8_t *buf, uint32_t bytes, struct fed *f)
{
	uint32_t used = le32_get(buf + ETL_BH_OFFSET);
	if (used < ETL_BUFFER_HEADER_SIZE || used > limit) {
		return -EBADMSG;
	}
	f->plain = malloc(used);
	if (!f->plain) {
		return -ENOMEM;
	}
	size_t done = 0;
	memcpy(f->plain, buf, ETL_BUFFER_HEADER_SIZE);
	le16_put(f->plain + ETL_BH_FLAG, le16_get(buf + ETL_BH_FLAG) & ~ETL_BF_COMPRESSED);
	le32_put(f->plain + ETL_BH_BUFFER_SIZE, used);
	int err = etl_decompress(format, buf + ETL_BUFFER_HEADER_SIZE, bytes - ETL_BUFFER_HEADER_SIZE,
				 f->plain + ETL_BUFFER_HEADER_SIZE, used - ETL_BUFFER_HEADER_SIZE, &done);
	f->used = ETL_BUFFER_HEADER_SIZE + (uint32_t)done;
	return err == -ENOTSUP ? -EBADMSG : 0; /* damage costs the rest of the buffer only */
}

static int examine_locked(struct stream_source *x, const uint8_t *buf, uint32_t bytes, struct fed *f)
{
	if (!x->header) {
		/* A copy, because the names in info point into it. */
		f->used = etl_buffer_end(buf, bytes);
		f->plain = malloc(bytes);
		if (!f->plain) {
			return -ENOMEM;
		}
		memcpy(f->plain, buf, bytes);
		x->compression = le32_get(buf + ETL_BH_STATE) & 0xFFFF;
		return etl_header_parse(f->plain, bytes, &x->info, NULL);
	}
	uint32_t limit = BASE_MIN(x->info.buffer_size, ETL_BUFFER_MAX);
	if (le16_get(buf + ETL_BH_TYPE) == ETL_BT_HEADER) {
		return -ERANGE; /* only the first may be one */
	}
	if (le16_get(buf + ETL_BH_FLAG) & ETL_BF_COMPRESSED) {
		int err = unpack(x->compression, limit, buf, bytes, f);
		if (err < 0) {
			return err;
		}
	} else {
		f->used = le32_get(buf + ETL_BH_OFFSET);
		if (f->used < ETL_BUFFER_HEADER_SIZE || f->used > bytes) {
			return -EBADMSG;
		}
	}
	const uint8_t *plain = f->plain ? f->plain : buf;
	struct etl_record_head h = {.at = 0};
	f->last_raw = 0;
	for (uint32_t at = ETL_BUFFER_HEADER_SIZE; etl_record_peek(plain, f->used, at, &h, NULL) > 0;
	     at = etl_record_after(&h)) {
		f->last_raw = h.timed && h.time_raw > f->last_raw ? h.time_raw : f->last_raw;
	}
	/* A buffer may hold older records than have been delivered; but not nothing else, and be of
	 * a number that has been, too: that is one from the past. */
	uint16_t cpu = etl_buffer_cpu(buf) % CPUS;
	uint64_t sequence = le64_get(buf + ETL_BH_SEQUENCE);
	if (sequence <= x->sequence[cpu] && f->last_raw < order_load_relaxed(&x->delivered_raw)) {
		return -ERANGE;
	}
	x->sequence[cpu] = BASE_MAX(x->sequence[cpu], sequence);
	return 0;
}

int consume_stream_add(struct consume_source *s, const uint8_t *buf, uint32_t bytes)
{
	struct stream_source *x = (struct stream_source *)s;
	if (bytes < ETL_BUFFER_HEADER_SIZE) {
		return -EINVAL;
	}
	struct fed *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	f->caller = buf;
	pthread_mutex_lock(&x->lock);
	int err = examine_locked(x, buf, bytes, f);
	if (err == 0 && !x->header) {
		x->header = f;
	} else if (err == 0) {
		*x->queue_end = f;
		x->queue_end = &f->next;
	}
	if (err == 0) {
		pthread_cond_signal(&x->changed);
	}
	pthread_mutex_unlock(&x->lock);
	if (err < 0) {
		free(f->plain);
		free(f);
	}
	return err;
}

/* Waits for buffers, or until the burst is over. Returns the new ones in order of arrival. */
static struct fed *collect(struct stream_source *x, bool *ret_quiet, bool *ret_end)
{
	struct timespec until;
	bool some = !held_empty(&x->held);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += QUIET_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000l;
	until.tv_nsec %= 1000000000l;
	*ret_quiet = *ret_end = false;
	pthread_mutex_lock(&x->lock);
	while (!x->closing && (x->started ? !x->queue : !x->header)) {
		if (!some) {
			pthread_cond_wait(&x->changed, &x->lock);
		} else if (pthread_cond_timedwait(&x->changed, &x->lock, &until) == ETIMEDOUT) {
			*ret_quiet = true;
			break;
		}
	}
	struct fed *list = x->queue;
	x->queue = NULL;
	x->queue_end = &x->queue;
	*ret_end = x->closing && !list;
	if (x->header && !x->started) {
		x->started = true;
		consume_source_set_info(&x->s, &x->info);
		x->s.events_lost = 0;
		x->held.run_flags = x->info.clock_type == CLOCK_SYSTEM ? ETL_RUN_KEEP_ORDER : 0;
	}
	pthread_mutex_unlock(&x->lock);
	return list;
}

static int hold(struct stream_source *x, struct fed *list)
{
	int err = 0;
	while (list) {
		struct fed *f = list;
		list = f->next;
		x->held_count++;
		int r = held_add(&x->held, f->plain ? f->plain : f->caller, f->used, f);
		if (r < 0) {
			x->held_count--;
			fed_done(x, f);
			err = r;
		}
	}
	return err;
}

static int stream_next(struct consume_source *s, struct etl_record *ret)
{
	struct stream_source *x = (struct stream_source *)s;
	held_advance(&x->held);
	for (;;) {
		if (x->started && !x->header_done) {
			if (etl_buffer_next(x->header->plain, x->header->used, &x->header_at, &s->clock, ret, NULL) >
			    0) {
				return 1;
			}
			x->header_done = true;
			if (s->on_buffer) {
				(void)s->on_buffer(s->on_buffer_ctx, x->header->plain, x->header->used);
			}
			x->done(x->done_ctx, x->header->caller);
		}
		uint32_t many = BASE_MAX(HELD_MIN, HELD_PER_CPU * BASE_MIN(s->info.processors, CPUS));
		if (held_empty(&x->held)) {
			x->draining = false;
		} else if (x->draining || x->held_count > many || x->held.bytes > HELD_BYTES_MAX) {
			held_take(&x->held, &s->clock, ret);
			if (ret->time_raw > x->delivered_raw) {
				order_store_relaxed(&x->delivered_raw, ret->time_raw);
			}
			return 1;
		}
		if (s->cancelled) { /* by on_buffer, just now: nobody may bring another buffer */
			return 0;
		}
		bool quiet, end;
		struct fed *list = collect(x, &quiet, &end);
		int err = hold(x, list);
		if (err < 0) {
			return err;
		}
		if (end && held_empty(&x->held) && (!x->started || x->header_done)) {
			return 0;
		}
		x->draining = quiet || end;
	}
}

static void stream_wake(struct consume_source *s)
{
	struct stream_source *x = (struct stream_source *)s;
	pthread_mutex_lock(&x->lock);
	x->closing = true;
	pthread_cond_signal(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

static void stream_close(struct consume_source *s)
{
	struct stream_source *x = (struct stream_source *)s;
	s->on_buffer = NULL;
	held_finish(&x->held);
	for (struct fed *f = x->queue, *next; f; f = next) {
		next = f->next;
		fed_done(x, f);
	}
	if (x->header) {
		if (!x->header_done) {
			x->done(x->done_ctx, x->header->caller);
		}
		free(x->header->plain);
		free(x->header);
	}
	pthread_cond_destroy(&x->changed);
	pthread_mutex_destroy(&x->lock);
	free(x->sequence);
	free(x);
}

static const struct consume_ops stream_ops = {.next = stream_next, .wake = stream_wake, .close = stream_close};

int consume_stream_open(consume_stream_done_fn *done, void *ctx, struct consume_source **ret)
{
	struct stream_source *x = calloc(1, sizeof *x);
	uint64_t *sequence = calloc(CPUS, sizeof *sequence);
	if (!x || !sequence) {
		free(x);
		free(sequence);
		return -ENOMEM;
	}
	x->s.ops = &stream_ops;
	x->s.real_time = true; /* a close delivers what has come and then ends */
	x->done = done;
	x->done_ctx = ctx;
	x->sequence = sequence;
	x->queue_end = &x->queue;
	x->held.release = release;
	x->held.ctx = x;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_t a;
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&x->changed, &a);
	pthread_condattr_destroy(&a);
	*ret = &x->s;
	return 0;
}
