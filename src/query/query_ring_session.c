/* SPDX-License-Identifier: MIT
 *
 * openetw_index_open_live() and what is asked of a live index itself. The thread of a session takes records from etwd as
 * any other consumer does, and appends them.
 */
#include "query/query_live.h"
#include "query/query_ring_state.h"

#include "base/order.h"
#include "base/quiet_thread.h"
#include "base/sized.h"
#include "base/win32_error.h"
#include "consume/consume.h"

#include "etw/values/errors.h"

#include <stdlib.h>
#include <time.h>

#define CLOCK_QPC       1u
#define FILETIME_TICKS  10000000u
#define FILETIME_1970   116444736000000000ull
#define NAME_UNITS_MOST 1024u

struct ring_session {
	struct ring *ring;
	struct consume_source *source;
	pthread_t thread;
	bool started;
	uint32_t stop; /* order_… */
};

static void *session_main(void *arg)
{
	struct ring_session *s = arg;
	struct etl_record e;
	int err = 0;
	while (!order_load_relaxed(&s->stop) && (err = consume_source_next(s->source, &e)) > 0) {
		(void)ring_add(s->ring, &e); /* what could not be kept is counted */
		ring_lost(s->ring, s->source->events_lost, s->source->buffers_lost);
	}
	ring_lost(s->ring, s->source->events_lost, s->source->buffers_lost);
	ring_ended(s->ring, err < 0 ? win32_from_errno(err) : ERROR_SUCCESS, s->source->broken_off);
	return NULL;
}

void ring_session_close(struct ring_session *s)
{
	if (s) {
		if (s->started) {
			order_store_relaxed(&s->stop, 1);
			consume_source_wake(s->source);
			pthread_join(s->thread, NULL);
		}
		consume_source_close(s->source);
		free(s);
	}
}

static uint64_t filetime_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * FILETIME_TICKS + (uint64_t)t.tv_nsec / 100 + FILETIME_1970;
}

static uint32_t open_pushed(const struct openetw_live_options *o, struct ring_options *ring, struct openetw_index **ret)
{
	uint64_t start = o->start_filetime ? o->start_filetime : filetime_now();
	ring->name = "events";
	ring->clock = (struct etl_clock){
		.clock_type = CLOCK_QPC, .perf_freq = FILETIME_TICKS, .start_raw = start, .start_filetime = start};
	ring->info = (struct etl_file_info){.buffer_size = 65536,
					    .pointer_size = 8,
					    .os_version = 0x0501000A,
					    .processors = 1,
					    .timer_resolution = 156250,
					    .clock_type = CLOCK_QPC,
					    .perf_freq = FILETIME_TICKS,
					    .start_filetime = start,
					    .start_raw = start};
	return win32_from_errno(ring_open(ring, ret));
}

static uint32_t open_session(const struct openetw_live_options *o, struct ring_options *ring,
			     struct openetw_index **ret)
{
	uint16_t name[NAME_UNITS_MOST];
	uint32_t status = 0;
	struct diag d = {0};
	long units = utf8_to_utf16(o->session, strlen(o->session), name, BASE_ARRAY_LEN(name));
	struct ring_session *s = units > 0 ? calloc(1, sizeof *s) : NULL;
	if (!s) {
		return units > 0 ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER;
	}
	struct openetw_index *x;
	int err = consume_rt_open(name, (uint32_t)units, &s->source, &status, &d);
	if (err < 0) {
		err_text_set("%s: %s", o->session, d.text[0] ? d.text : strerror(-err));
		free(s);
		return status ? status : win32_from_errno(err);
	}
	ring->name = o->session;
	ring->info = s->source->info;
	ring->clock = s->source->clock;
	err = ring_open(ring, &x);
	if (err < 0) {
		ring_session_close(s);
		return win32_from_errno(err);
	}
	s->ring = x->ring;
	x->ring->session = s;
	err = quiet_thread_start(&s->thread, session_main, s);
	s->started = err == 0;
	if (err < 0) {
		ring_close(x);
		return win32_from_errno(err);
	}
	*ret = x;
	return ERROR_SUCCESS;
}

uint32_t openetw_index_open_live(const struct openetw_live_options *options, struct openetw_index **ret)
{
	static const struct openetw_live_options none = {.size = sizeof none};
	const struct openetw_live_options *o = options ? options : &none;
	struct ring_options ring = {.bytes = o->ring_bytes};
	if (!SIZED_VALID(o, start_filetime) || !ret) {
		return ERROR_INVALID_PARAMETER;
	}
	return o->session && o->session[0] ? open_session(o, &ring, ret) : open_pushed(o, &ring, ret);
}

uint32_t openetw_index_append(struct openetw_index *x, const openetw_event_record *e)
{
	/* Of a thread: 64 KiB would be much for a stack, and malloc() for each event much time. */
	static _Thread_local uint8_t scratch[RING_SCRATCH_BYTES];
	struct etl_record r;
	if (!x || !x->ring || !e) {
		return ERROR_INVALID_PARAMETER;
	}
	if (x->ring->session) {
		return ERROR_INVALID_STATE;
	}
	int err = ring_record_of(e, &x->ring->b.clock, scratch, &r);
	if (err < 0) {
		pthread_mutex_lock(&x->ring->lock);
		x->ring->refused++;
		pthread_mutex_unlock(&x->ring->lock);
		return win32_from_errno(err);
	}
	return win32_from_errno(ring_add(x->ring, &r));
}

/* ---- progress -------------------------------------------------------------------------------------- */

static void tell_locked(const struct ring *r, struct openetw_live_progress *ret)
{
	const struct build *b = &r->b;
	ret->code = r->code;
	ret->ended = r->ended;
	ret->broken_off = r->broken_off;
	ret->rows = r->rows;
	ret->first_row = r->count ? ring_at(r, 0)->first_row : r->rows;
	ret->events_lost = r->events_lost;
	ret->buffers_lost = r->buffers_lost;
	ret->events_refused = r->refused;
	ret->left_out = r->not_kept + r->stacks_left_out + b->types.left_out + b->who.left_out + b->strings.left_out +
			b->lost_stacks + machine_left_out(b->machine);
	ret->newest = r->rows ? r->newest : INT64_MIN;
	ret->ring_bytes = r->most;
	ret->bytes = r->closed_bytes + (r->count ? ring_group_bytes(ring_at(r, r->count - 1)) : 0);
	ret->bytes_besides = ring_bytes_besides(r);
	int64_t now = build_time_of_filetime(&b->clock, filetime_now());
	ret->lag = r->rows ? now - r->newest : 0;
}

uint32_t openetw_index_live_progress(struct openetw_index *x, struct openetw_live_progress *ret)
{
	if (!x || !x->ring || !SIZED_VALID(ret, broken_off)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct openetw_live_progress p = {0};
	pthread_mutex_lock(&x->ring->lock);
	tell_locked(x->ring, &p);
	pthread_mutex_unlock(&x->ring->lock);
	SIZED_GIVE(ret, &p);
	return ERROR_SUCCESS;
}

uint32_t openetw_index_wait_rows(struct openetw_index *x, uint64_t rows, uint32_t milliseconds)
{
	if (!x || !x->ring) {
		return ERROR_INVALID_PARAMETER;
	}
	struct ring *r = x->ring;
	struct timespec until = live_in_milliseconds(milliseconds);
	int gone = 0;
	pthread_mutex_lock(&r->lock);
	r->waiting++;
	while (r->rows < rows && !r->ended && gone == 0) {
		/* The one who waits for least decides; the others look and wait again. */
		r->wanted_rows = r->waiting == 1 ? rows : BASE_MIN(r->wanted_rows, rows);
		gone = milliseconds == UINT32_MAX ? pthread_cond_wait(&r->grown, &r->lock)
						  : pthread_cond_timedwait(&r->grown, &r->lock, &until);
	}
	r->waiting--;
	uint32_t code = r->rows >= rows ? ERROR_SUCCESS : r->ended ? ERROR_NO_MORE_ITEMS : ERROR_TIMEOUT;
	pthread_mutex_unlock(&r->lock);
	return code;
}
