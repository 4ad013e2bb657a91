/* SPDX-License-Identifier: MIT */
#include "capi/reader_queue.h"

#include "evntcons.h"
#include "synchapi.h"

#include <stdlib.h>
#include <time.h>

#define PIECE_BYTES 65536u

/* Memory that the events of a block point into. */
struct piece {
	struct piece *next;
	size_t bytes, used;
	_Alignas(16) uint8_t data[];
};
struct reader_block {
	struct reader_block *next;
	struct piece *pieces; /* the one in use first */
	size_t bytes;         /* that its events take */
	uint32_t count;
	struct openetw_event events[READER_BLOCK_EVENTS];
};

static void block_clear(struct reader_block *b)
{
	while (b->pieces && b->pieces->next) { /* one is kept */
		struct piece *next = b->pieces->next;
		free(b->pieces);
		b->pieces = next;
	}
	if (b->pieces && b->pieces->bytes > PIECE_BYTES) {
		free(b->pieces);
		b->pieces = NULL;
	}
	if (b->pieces) {
		b->pieces->used = 0;
	}
	b->next = NULL;
	b->bytes = b->count = 0;
}

static void block_destroy(struct reader_block *b)
{
	if (b) {
		block_clear(b);
		free(b->pieces);
		free(b);
	}
}

static void *block_room(struct reader_block *b, size_t n)
{
	n = (n + 15) & ~(size_t)15;
	struct piece *p = b->pieces;
	if (!p || p->bytes - p->used < n) {
		size_t bytes = BASE_MAX(n, (size_t)PIECE_BYTES);
		p = malloc(sizeof *p + bytes);
		if (!p) {
			return NULL;
		}
		*p = (struct piece){.next = b->pieces, .bytes = bytes};
		b->pieces = p;
	}
	void *at = p->data + p->used;
	p->used += n;
	return at;
}

const struct openetw_event *reader_block_events(const struct reader_block *b, uint32_t *ret_count)
{
	*ret_count = b->count;
	return b->events;
}

/* ---- one event, with all it points to ---------------------------------------------------------- */

static size_t text_bytes(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

static size_t record_bytes(const EVENT_RECORD *r)
{
	size_t n = 0;
	if (r) {
		n = sizeof *r + BASE_ALIGN8((size_t)r->UserDataLength) + r->ExtendedDataCount * sizeof *r->ExtendedData;
		for (USHORT i = 0; i < r->ExtendedDataCount; i++) {
			n += BASE_ALIGN8((size_t)r->ExtendedData[i].DataSize);
		}
	}
	return n;
}

static size_t event_bytes(const struct openetw_event *e)
{
	return record_bytes(e->record) + 8u * e->stack_count + (e->json ? e->json_length + 1 : 0) +
	       text_bytes(e->provider) + text_bytes(e->name) + text_bytes(e->process) + text_bytes(e->file);
}

static const char *copy_text(uint8_t **at, const char *s)
{
	size_t n = text_bytes(s);
	if (n == 0) {
		return NULL;
	}
	char *to = (char *)*at;
	memcpy(to, s, n);
	*at += n;
	return to;
}

static const EVENT_RECORD *copy_record(uint8_t **at, const EVENT_RECORD *r)
{
	EVENT_RECORD *to = (EVENT_RECORD *)(void *)*at;
	*to = *r;
	to->UserContext = NULL;
	*at += sizeof *r;
	if (r->ExtendedDataCount) {
		to->ExtendedData = (PEVENT_HEADER_EXTENDED_DATA_ITEM)(void *)*at;
		*at += r->ExtendedDataCount * sizeof *r->ExtendedData;
		for (USHORT i = 0; i < r->ExtendedDataCount; i++) {
			const EVENT_HEADER_EXTENDED_DATA_ITEM *from = &r->ExtendedData[i];
			to->ExtendedData[i] = *from;
			to->ExtendedData[i].DataPtr = (ULONGLONG)(uintptr_t)*at;
			memcpy(*at, (const void *)(uintptr_t)from->DataPtr, from->DataSize);
			*at += BASE_ALIGN8((size_t)from->DataSize);
		}
	}
	if (r->UserDataLength) {
		to->UserData = *at;
		memcpy(*at, r->UserData, r->UserDataLength);
		*at += BASE_ALIGN8((size_t)r->UserDataLength);
	}
	return to;
}

static int block_add(struct reader_block *b, const struct openetw_event *e, size_t bytes)
{
	uint8_t *at = block_room(b, bytes + 1);
	if (!at) {
		return -ENOMEM;
	}
	struct openetw_event *to = &b->events[b->count];
	*to = *e;
	/* What must be aligned stands first. */
	if (e->record) {
		to->record = copy_record(&at, e->record);
	}
	if (e->stack_count) {
		to->stack = (const uint64_t *)(const void *)at;
		memcpy(at, e->stack, 8u * e->stack_count);
		at += 8u * e->stack_count;
	}
	if (e->json) {
		to->json = (char *)at;
		memcpy(at, e->json, e->json_length);
		at[e->json_length] = 0;
		at += e->json_length + 1;
	}
	to->provider = copy_text(&at, e->provider);
	to->name = copy_text(&at, e->name);
	to->process = copy_text(&at, e->process);
	to->file = copy_text(&at, e->file);
	b->count++;
	b->bytes += bytes + sizeof *e;
	return 1;
}

/* ---- the queue --------------------------------------------------------------------------------- */

int reader_queue_init(struct reader_queue *q)
{
	pthread_condattr_t a;
	*q = (struct reader_queue){.events_max = 65536, .bytes_max = 16u << 20};
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	int err = pthread_cond_init(&q->filled, &a);
	pthread_cond_init(&q->emptied, NULL);
	pthread_condattr_destroy(&a);
	return -err;
}

void reader_queue_finish(struct reader_queue *q)
{
	for (struct reader_block *b = q->first, *next; b; b = next) {
		next = b->next;
		block_destroy(b);
	}
	block_destroy(q->spare);
	pthread_cond_destroy(&q->filled);
	pthread_cond_destroy(&q->emptied);
	pthread_mutex_destroy(&q->lock);
}

static bool is_full(const struct reader_queue *q, size_t bytes)
{
	return q->events > 0 && (q->events >= q->events_max || q->bytes + bytes > q->bytes_max);
}

/* The block that takes the next event. */
static struct reader_block *last_block(struct reader_queue *q)
{
	if (q->last && q->last->count < READER_BLOCK_EVENTS) {
		return q->last;
	}
	struct reader_block *b = q->spare;
	q->spare = NULL;
	if (!b) {
		b = malloc(sizeof *b);
		if (!b) {
			return NULL;
		}
		b->pieces = NULL;
		block_clear(b);
	}
	if (q->last) {
		q->last->next = b;
	} else {
		q->first = b;
	}
	q->last = b;
	return b;
}

int reader_queue_put(struct reader_queue *q, const struct openetw_event *e)
{
	size_t bytes = event_bytes(e);
	int r;
	pthread_mutex_lock(&q->lock);
	while (!q->stopped && !q->drop_when_full && is_full(q, bytes + sizeof *e)) {
		pthread_cond_wait(&q->emptied, &q->lock);
	}
	if (q->stopped) {
		r = -ECANCELED;
	} else if (is_full(q, bytes + sizeof *e)) {
		q->dropped++;
		r = 0;
	} else {
		struct reader_block *b = last_block(q);
		r = b ? block_add(b, e, bytes) : -ENOMEM;
		if (r > 0) {
			q->bytes += bytes + sizeof *e;
			if (q->events++ == 0) {
				pthread_cond_signal(&q->filled);
			}
		}
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

struct reader_block *reader_queue_take(struct reader_queue *q, uint32_t milliseconds, uint32_t *ret_code)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += milliseconds / 1000;
	until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&q->lock);
	int err = 0;
	while (q->events == 0 && !q->ended && err == 0) {
		err = milliseconds == OPENETW_READER_FOREVER ? pthread_cond_wait(&q->filled, &q->lock)
							     : pthread_cond_timedwait(&q->filled, &q->lock, &until);
	}
	struct reader_block *b = NULL;
	if (q->events) {
		b = q->first;
		q->first = b->next;
		q->last = q->first ? q->last : NULL;
		q->events -= b->count;
		q->bytes -= b->bytes;
		pthread_cond_signal(&q->emptied);
	} else {
		*ret_code = !q->ended ? WAIT_TIMEOUT : q->code ? q->code : ERROR_NO_MORE_ITEMS;
	}
	pthread_mutex_unlock(&q->lock);
	return b;
}

void reader_queue_give_back(struct reader_queue *q, struct reader_block *b)
{
	if (!b) {
		return;
	}
	block_clear(b);
	pthread_mutex_lock(&q->lock);
	struct reader_block *other = q->spare;
	q->spare = b;
	pthread_mutex_unlock(&q->lock);
	block_destroy(other);
}

void reader_queue_stop(struct reader_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopped = true;
	pthread_cond_broadcast(&q->emptied);
	pthread_mutex_unlock(&q->lock);
}

bool reader_queue_stopped(struct reader_queue *q)
{
	pthread_mutex_lock(&q->lock);
	bool stopped = q->stopped;
	pthread_mutex_unlock(&q->lock);
	return stopped;
}

void reader_queue_end(struct reader_queue *q, uint32_t code)
{
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	q->code = code;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}
