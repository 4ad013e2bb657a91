/* SPDX-License-Identifier: MIT
 *
 * The table of open traces. A handle is a place and a generation, so that a stale one is refused
 * and never hits somebody else's trace.
 */
#include "consume/consume_trace.h"

#include "base/order.h"

#include <pthread.h>
#include <stdlib.h>

#define PLACES_MAX       4096u
#define PLACE_BITS       16u
#define FIRST_GENERATION 1u

static struct {
	pthread_mutex_t lock;
	struct place {
		struct trace *trace;
		uint32_t generation;
	} * places;
	uint32_t count;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct place *find_locked(PROCESSTRACE_HANDLE h)
{
	uint32_t i = (uint32_t)(h & ((1u << PLACE_BITS) - 1));
	if (i == 0 || i > table.count) {
		return NULL;
	}
	struct place *p = &table.places[i - 1];
	return p->trace && p->generation == h >> PLACE_BITS ? p : NULL;
}

PROCESSTRACE_HANDLE trace_add(struct trace *t)
{
	PROCESSTRACE_HANDLE h = INVALID_PROCESSTRACE_HANDLE;
	pthread_mutex_lock(&table.lock);
	uint32_t i = 0;
	while (i < table.count && table.places[i].trace) {
		i++;
	}
	if (i == table.count && i < PLACES_MAX) {
		uint32_t more = table.count ? table.count : 8;
		struct place *p = realloc(table.places, (table.count + more) * sizeof *p);
		if (p) {
			for (uint32_t k = table.count; k < table.count + more; k++) {
				p[k] = (struct place){NULL, FIRST_GENERATION};
			}
			table.places = p;
			table.count += more;
		}
	}
	if (i < table.count) {
		table.places[i].trace = t;
		h = (PROCESSTRACE_HANDLE)table.places[i].generation << PLACE_BITS | (i + 1);
		t->handle = h;
	}
	pthread_mutex_unlock(&table.lock);
	return h;
}

/* The handle is dead from here on. */
static void place_vacate(struct place *p)
{
	p->trace = NULL;
	p->generation++;
}

uint32_t trace_begin(const PROCESSTRACE_HANDLE *handles, uint32_t n, struct trace **ret)
{
	uint32_t code = 0;
	pthread_mutex_lock(&table.lock);
	uint32_t done = 0;
	for (; done < n; done++) {
		struct place *p = find_locked(handles[done]);
		if (!p || p->trace->running) {
			code = ERROR_INVALID_HANDLE;
			break;
		}
		p->trace->running = true;
		ret[done] = p->trace;
	}
	if (code) {
		while (done-- > 0) {
			ret[done]->running = false;
		}
	}
	pthread_mutex_unlock(&table.lock);
	return code;
}

void trace_end(struct trace **traces, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct trace *t = traces[i];
		pthread_mutex_lock(&table.lock);
		t->running = false;
		bool closed = t->closing;
		pthread_mutex_unlock(&table.lock);
		if (closed) {
			trace_destroy(t);
		}
	}
}

uint32_t trace_close(PROCESSTRACE_HANDLE h)
{
	pthread_mutex_lock(&table.lock);
	struct place *p = find_locked(h);
	if (!p) {
		pthread_mutex_unlock(&table.lock);
		return ERROR_INVALID_HANDLE;
	}
	struct trace *t = p->trace;
	place_vacate(p);
	bool running = t->running;
	if (running) {
		order_store_release(&t->closing, true);
		/* Under the lock: trace_end() must not free it before the wake. */
		if (t->source) {
			consume_source_wake(t->source);
		}
	}
	pthread_mutex_unlock(&table.lock);
	if (running) {
		return ERROR_CTX_CLOSE_PENDING;
	}
	trace_destroy(t);
	return 0;
}

void trace_set_source(struct trace *t, struct consume_source *source)
{
	pthread_mutex_lock(&table.lock);
	struct consume_source *old = t->source;
	t->source = source;
	t->consumed = false;
	if (t->closing) {
		consume_source_wake(source);
	}
	pthread_mutex_unlock(&table.lock);
	consume_source_close(old);
}

struct trace *trace_lock(PROCESSTRACE_HANDLE h)
{
	pthread_mutex_lock(&table.lock);
	struct place *p = find_locked(h);
	if (!p) {
		pthread_mutex_unlock(&table.lock);
		return NULL;
	}
	return p->trace;
}

void trace_table_lock(void)
{
	pthread_mutex_lock(&table.lock);
}

void trace_unlock(void)
{
	pthread_mutex_unlock(&table.lock);
}

void trace_destroy(struct trace *t)
{
	if (!t) {
		return;
	}
	consume_source_close(t->source);
	free(t->log_name);
	free(t->file_name);
	free(t->header_logger);
	free(t->header_file);
	free(t->path);
	free(t->session);
	consume_view_free(&t->view);
	free(t);
}
