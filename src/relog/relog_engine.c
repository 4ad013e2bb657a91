/* SPDX-License-Identifier: MIT
 *
 * Streams in, merged by time; the callbacks decide; the writer takes what they inject.
 */
#include "relog/relog.h"

#include "base/order.h"
#include "etw/values/session_modes.h"

#include <stdlib.h>
#include <sys/stat.h>

#define HEADER_HOOK 0x0000u

struct relog {
	struct consume_source *sources[CONSUME_SOURCES_MAX];
	bool same_clock[CONSUME_SOURCES_MAX]; /* as the first stream: raw times stay */
	struct {
		dev_t device;
		ino_t inode;
	} id[CONSUME_SOURCES_MAX]; /* of files */
	uint32_t count;
	char *path;
	bool compress;
	uint32_t mode;
	char *logger, *file;
	struct relog_writer *writer; /* while it runs */
	uint64_t now_raw;
	uint32_t cancelled; /* set by any thread */
	uint8_t out[ETL_RECORD_MAX + 1];
};

int relog_create(struct relog **ret)
{
	struct relog *g = calloc(1, sizeof *g);
	if (!g) {
		return -ENOMEM;
	}
	g->compress = true;
	relog_set_names(g, EVENT_TRACE_RELOG_MODE | EVENT_TRACE_ADD_HEADER_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, "",
			"ReloggedFile.ETL");
	*ret = g;
	return g->logger && g->file ? 0 : -ENOMEM;
}

static int add(struct relog *g, struct consume_source *s, uint32_t *ret_stream)
{
	g->same_clock[g->count] = g->count == 0 || consume_same_clock(&g->sources[0]->info, &s->info);
	*ret_stream = g->count;
	g->sources[g->count++] = s;
	return 0;
}

int relog_add_file(struct relog *g, const char *path, uint32_t *ret_stream, struct diag *d)
{
	struct consume_source *s;
	struct stat st;
	int r = g->count == CONSUME_SOURCES_MAX ? -ENOSPC : consume_file_open(path, &s, d);
	if (r < 0) {
		return r;
	}
	if (stat(path, &st) == 0) { /* else it vanished, and nobody can name it as output */
		g->id[g->count].device = st.st_dev;
		g->id[g->count].inode = st.st_ino;
	}
	return add(g, s, ret_stream);
}

/* Emptying a file that is being read would end in two ruins. */
static bool is_input(const struct relog *g, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0) {
		return false;
	}
	for (uint32_t i = 0; i < g->count; i++) {
		if (g->id[i].inode == st.st_ino && g->id[i].device == st.st_dev) {
			return true;
		}
	}
	return false;
}

int relog_add_session(struct relog *g, const uint16_t *name, uint32_t units, uint32_t *ret_stream, uint32_t *ret_status,
		      struct diag *d)
{
	struct consume_source *s;
	*ret_status = 0;
	int r = g->count == CONSUME_SOURCES_MAX ? -ENOSPC : consume_rt_open(name, units, &s, ret_status, d);
	return r < 0 ? r : add(g, s, ret_stream);
}

int relog_set_output(struct relog *g, const char *path)
{
	char *copy = strdup(path);
	if (!copy) {
		return -ENOMEM;
	}
	free(g->path);
	g->path = copy;
	return 0;
}

void relog_set_compress(struct relog *g, bool compress)
{
	g->compress = compress;
}

void relog_set_names(struct relog *g, uint32_t mode, const char *logger, const char *file)
{
	free(g->logger);
	free(g->file);
	g->mode = mode;
	g->logger = strdup(logger);
	g->file = strdup(file);
}

const struct etl_file_info *relog_stream_info(const struct relog *g, uint32_t stream)
{
	return stream < g->count ? &g->sources[stream]->info : NULL;
}

uint64_t relog_now_raw(const struct relog *g)
{
	return g->now_raw;
}

int relog_inject(struct relog *g, const struct relog_event *e)
{
	if (!g->writer) {
		return -EINVAL;
	}
	int n = relog_event_encode(e, g->out);
	return n < 0 ? n : relog_writer_put(g->writer, e->r.cpu, e->r.time_raw, g->out, (uint32_t)n);
}

/* The inverse of etl_clock_to_filetime for the first stream's clock, near enough: to a tick. */
static uint64_t raw_of(const struct etl_clock *c, uint64_t filetime)
{
	double hz = c->clock_type == 3 ? c->cpu_mhz * 1e6 : (double)c->perf_freq;
	if (c->clock_type == 2 || hz == 0) {
		return filetime;
	}
	double ticks = ((double)(int64_t)(filetime - c->start_filetime)) / 1e7 * hz;
	return c->start_raw + (uint64_t)(int64_t)(ticks < 0 ? ticks - 0.5 : ticks + 0.5);
}

/* Buffers at the end of a file that were written and are not there. A ring counts, too, those it overwrote. */
static uint32_t buffers_cut(const struct etl_file_info *f)
{
	bool ring = (f->log_file_mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_BUFFERING_MODE)) != 0;
	return ring || !f->stopped_cleanly || f->buffers_found == 0 || f->buffers_written < f->buffers_found
		       ? 0
		       : f->buffers_written - f->buffers_found;
}

/* The earliest stream gives the start; losses add up; the end is the latest. */
static void head_of(const struct relog *g, struct relog_head *h)
{
	h->info = g->sources[0]->info;
	h->mode = g->mode;
	h->logger_name = g->logger;
	h->file_name = g->file;
	h->events_lost = h->buffers_lost = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct etl_file_info *f = &g->sources[i]->info;
		uint64_t lost = h->events_lost + g->sources[i]->events_lost;
		h->events_lost = lost > UINT32_MAX ? UINT32_MAX : (uint32_t)lost;
		h->buffers_lost += f->buffers_lost + buffers_cut(f);
		h->end_filetime = BASE_MAX(h->end_filetime, f->end_filetime);
		h->info.processors = BASE_MAX(h->info.processors, f->processors);
		h->info.buffer_size = BASE_MAX(h->info.buffer_size, f->buffer_size);
		if (f->start_filetime < h->info.start_filetime) {
			/* A pair on the first stream's line, so that all its times stay what they are. */
			h->info.start_raw =
				g->same_clock[i] ? f->start_raw : raw_of(&g->sources[0]->clock, f->start_filetime);
			h->info.start_filetime = f->start_filetime;
		}
	}
}

static bool is_header(const struct etl_record *r)
{
	return r->hook == HEADER_HOOK && (r->type == ETL_RT_SYSTEM32 || r->type == ETL_RT_SYSTEM64);
}

struct run {
	struct relog *g;
	struct relog_head head;
	struct relog_event event;
	uint8_t *header_payload;
};

static int start(struct run *u, const struct etl_record *r, struct diag *d)
{
	head_of(u->g, &u->head);
	if (is_header(r) && r->pointer_size == u->head.info.pointer_size) {
		u->header_payload = malloc(r->payload_bytes + 1u);
		if (!u->header_payload) {
			return -ENOMEM;
		}
		memcpy(u->header_payload, r->payload, r->payload_bytes);
		u->head.payload = u->header_payload;
		u->head.payload_bytes = r->payload_bytes;
	}
	u->head.pid = r->pid;
	u->head.tid = r->tid;
	return relog_writer_create(u->g->path, &u->head, u->g->compress, &u->g->writer, d);
}

static int deliver(struct run *u, const struct etl_record *r, uint32_t stream, const struct relog_callbacks *cb,
		   void *ctx)
{
	struct relog *g = u->g;
	int err = relog_event_take(&u->event, r);
	if (err < 0) {
		return err;
	}
	if (!g->same_clock[stream]) {
		u->event.r.time_raw = raw_of(&g->sources[0]->clock, r->time_filetime);
		u->event.changed |= RELOG_TIME;
	}
	g->now_raw = u->event.r.time_raw;
	u->head.end_filetime = BASE_MAX(u->head.end_filetime, r->time_filetime);
	if (is_header(r)) { /* the output gets its own */
		return stream == 0 && cb->begin ? cb->begin(ctx, &u->event) : 0;
	}
	return cb->event ? cb->event(ctx, &u->event, stream) : 0;
}

int relog_run(struct relog *g, const struct relog_callbacks *cb, void *ctx, struct diag *d)
{
	if (g->count == 0 || !g->path || g->writer) {
		return -EINVAL;
	}
	if (is_input(g, g->path)) {
		diag_at(d, UINT64_MAX, "%s: cannot be read and written at once", g->path);
		return -EBUSY;
	}
	struct run u = {.g = g};
	struct consume_merge *m;
	int r = consume_merge_create(g->sources, g->count, true, &m);
	if (r < 0) {
		return r;
	}
	while (!order_load_acquire(&g->cancelled)) {
		const struct etl_record *record;
		uint32_t stream;
		r = consume_merge_next(m, &record, &stream);
		if (r > 0 && !g->writer) {
			r = start(&u, record, d);
			r = r < 0 ? r : 1;
		}
		if (r <= 0) {
			break;
		}
		r = deliver(&u, record, stream, cb, ctx);
		if (r != 0) {
			break;
		}
	}
	if (g->writer) {
		int end = cb->finish ? cb->finish(ctx) : 0;
		uint64_t last = u.head.end_filetime;
		head_of(g, &u.head); /* losses of sessions are known only now */
		u.head.end_filetime = BASE_MAX(last, u.head.end_filetime);
		int w = relog_writer_finish(g->writer, &u.head, d);
		r = r != 0 ? r : end != 0 ? end : w;
		relog_writer_destroy(g->writer);
		g->writer = NULL;
	}
	relog_event_free(&u.event);
	free(u.header_payload);
	consume_merge_destroy(m);
	return r;
}

void relog_cancel(struct relog *g)
{
	order_store_release(&g->cancelled, 1u);
	for (uint32_t i = 0; i < g->count; i++) {
		consume_source_wake(g->sources[i]);
	}
}

void relog_destroy(struct relog *g)
{
	if (!g) {
		return;
	}
	for (uint32_t i = 0; i < g->count; i++) {
		consume_source_close(g->sources[i]);
	}
	free(g->path);
	free(g->logger);
	free(g->file);
	free(g);
}
