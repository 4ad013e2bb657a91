/* SPDX-License-Identifier: MIT
 * One session of one engine, into a file, drained by the caller's thread.
 */
#include "kernel/kernel.h"

#include "base/open_output.h"
#include "sink/sink.h"
#include "etw/values/session_modes.h"
#include "etw/values/session_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_KB          256u
#define NS_PER_S           1000000000ull
#define NAMES_POLL_MS      5
#define WINDOW_PATIENCE_MS 10000

struct kernel_file {
	struct kernel *kernel;
	struct sink *sink;
};

static void on_record(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head, uint32_t head_bytes,
		      const void *body, uint32_t body_bytes)
{
	struct kernel_file *f = ctx;
	uint32_t bytes = BASE_ALIGN8(head_bytes + body_bytes);
	(void)sessions;
	uint8_t *p = sink_reserve(f->sink, cpu, time, bytes);
	if (p) {
		memset(p + bytes - 8, 0, 8);
		memcpy(p, head, head_bytes);
		if (body_bytes > 0) { /* else there may be no body */
			memcpy(p + head_bytes, body, body_bytes);
		}
		sink_uncount_of_file(f->sink, p, bytes);
	}
}

/* What was put out by now is in the file, and may have overwritten something. */
static bool on_window(void *ctx, uint32_t slot, struct kernel_window *ret)
{
	struct kernel_file *f = ctx;
	(void)slot;
	sink_flush(f->sink, NULL, NULL);
	(void)sink_drain_wait(f->sink, WINDOW_PATIENCE_MS);
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	*ret = (struct kernel_window){.since = sink_ring_since(f->sink), .after = UINT64_MAX};
	for (uint64_t i = 0; i < cpus; i++) {
		uint64_t *until = &ret->until[BASE_MIN(i, KERNEL_WINDOW_CPUS - 1)];
		*until = BASE_MAX(*until, sink_ring_until(f->sink, (uint16_t)i));
	}
	return true;
}

static void on_lost(void *ctx, uint64_t sessions, uint64_t events)
{
	struct kernel_file *f = ctx;
	(void)sessions;
	sink_add_lost(f->sink, events);
}

static int open_sink(struct kernel_file *f, const struct kernel_options *o, struct diag *d)
{
	static const uint16_t name[] = u"" KERNEL_LOGGER_NAMEA;
	uint16_t file[1024];
	char full[4096];
	if (!realpath(o->path, full)) {
		snprintf(full, sizeof full, "%s", o->path);
	}
	if (utf8_to_utf16(full, strlen(full), file, BASE_ARRAY_LEN(file)) < 0) {
		file[0] = 0;
	}
	struct sink_options s = {
		.name = name,
		.log_file = file,
		.path = o->path,
		.props.mode = o->ring_mb ? EVENT_TRACE_FILE_MODE_CIRCULAR : EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.props.maximum_file_size = o->ring_mb,
		.props.buffer_kb = o->buffer_size_kb ? o->buffer_size_kb : BUFFER_KB,
		.props.minimum_buffers = 16,
		.props.maximum_buffers = 256,
		.props.flush_timer = 1,
		.props.clock = 1,
		.clock_freq = NS_PER_S,
		.system_clock = true,
		.logger_id = 0xFFFF,
		.cpus = (uint16_t)sysconf(_SC_NPROCESSORS_CONF),
	};
	int err = sink_adjust(&s);
	return err < 0 ? err : sink_create(&s, &f->sink, d);
}

int kernel_file_start(const struct kernel_options *o, struct kernel_file **ret, struct kernel_mask *ret_missing,
		      struct diag *d)
{
	struct kernel_file *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	struct kernel_engine_options engine = {.interval_us = o->interval_us,
					       .ring_pages = o->ring_pages,
					       .frame_pointers = o->frame_pointers,
					       .stack_bytes = o->stack_bytes,
					       .give_up = o->give_up,
					       .soon = o->soon};
	struct kernel_output out = {.record = on_record, .window = on_window, .lost = on_lost, .ctx = f};
	struct kernel_session session = o->session;
	session.children = true;
	session.forgets = o->ring_mb != 0;
	int err = kernel_open(&engine, &out, &f->kernel, d);
	err = err < 0 || !o->sampleds ? err : kernel_set_sampled(f->kernel, o->sampled, o->sampleds, d);
	err = err < 0 ? err : open_sink(f, o, d);
	err = err < 0 ? err : kernel_add(f->kernel, 0, &session, ret_missing, d);
	if (err < 0) {
		if (f->kernel) {
			kernel_close(f->kernel);
		}
		if (f->sink) {
			sink_stop(f->sink, NULL);
			open_output_remove(o->path);
		}
		free(f);
		return err;
	}
	*ret = f;
	return 0;
}

struct kernel *kernel_file_engine(struct kernel_file *f)
{
	return f->kernel;
}

int kernel_file_poll(struct kernel_file *f, int timeout_ms)
{
	kernel_poll(f->kernel, timeout_ms);
	sink_tick(f->sink, clock_read_system_ns());
	return 0;
}

static void stats_of(struct kernel_file *f, const struct sink_stats *s, struct kernel_stats *ret)
{
	kernel_engine_stats(f->kernel, ret);
	ret->events = s->events;
	ret->lost_no_buffer = s->lost_no_buffer + s->lost_disk_events + s->gone_events;
	ret->bytes_written = s->bytes_written;
}

void kernel_file_stats(struct kernel_file *f, struct kernel_stats *ret)
{
	struct sink_stats s;
	sink_stats(f->sink, &s);
	stats_of(f, &s, ret);
}

int kernel_file_stop(struct kernel_file *f, struct kernel_stats *ret)
{
	struct sink_stats s;
	struct kernel_stats k;
	kernel_remove(f->kernel, 0);
	while (!kernel_removed(f->kernel, 0)) {
		kernel_file_poll(f, NAMES_POLL_MS);
	}
	int err = sink_stop(f->sink, &s);
	stats_of(f, &s, &k);
	if (ret) {
		*ret = k;
	}
	kernel_close(f->kernel);
	free(f);
	return err;
}

void kernel_session_stack(struct kernel_session *s, uint16_t hook)
{
	for (uint32_t i = 0; i < s->stacks; i++) {
		if (s->stack[i] == hook) {
			return;
		}
	}
	if (s->stacks < KERNEL_STACKS_MAX) {
		s->stack[s->stacks++] = hook;
	}
}
