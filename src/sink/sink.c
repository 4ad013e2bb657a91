/* SPDX-License-Identifier: MIT
 *
 * Life of a sink: create, tick, flush, change of file, statistics, stop.
 */
#include "sink/sink_keep.h"
#include "sink/sink_private.h"
#include "etw/values/errors.h"
#include "etw/values/session_modes.h"
#include "session/session_modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define TIMER_RESOLUTION   156250u /* 100 ns units; Windows' usual clock tick */
#define PATIENCE_MS        5000u
#define STOP_PATIENCE_NS   1000000000ull
#define PREFAULT_BYTES_MAX (64u << 20)
#define NS_PER_S           1000000000ull
#define HEADER_LEAST       0x200u       /* readers take less for something else than a trace */
#define GATHER_NS          200000000ull /* the longest that a full buffer waits for company */
#define RESERVE_SHARE      8u           /* of the buffers, one in so many more */
#define FILE_BUFFERS_MIN   2u           /* buffer 0 and one for events */

static void free_memory(struct sink *s)
{
	sink_explanation_free(s->explanation);
	sink_tap_finish(s);
	if (s->spool) {
		sink_spool_destroy(s->spool, s->keep_at_end);
	}
	if (s->keep) {
		if (!s->keep_at_end) {
			unlink(s->spool_path); /* also one that an earlier process made */
		}
		sink_keep_close(s->keep, !s->keep_at_end);
	}
	sink_streams_finish(s);
	sink_buffers_free(s);
	free(s->name);
	free(s->log_file);
	free(s->path);
	free(s->spool_path);
	free(s->keep_path);
	free(s);
}

static void destroy(struct sink *s)
{
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free_memory(s);
}

void sink_forget(struct sink *s)
{
	/* The locks are left alone: whoever held them does not exist here. */
	s->keep_at_end = true;
	if (s->spool) {
		sink_spool_forget(s->spool);
		s->spool = NULL;
	}
	if (s->file) {
		sink_file_forget(s->file, s->options.other_table);
	}
	free_memory(s);
}

/* -EINVAL, -EOPNOTSUPP and the reason. */
static int check_modes(const struct sink_options *o, struct diag *d)
{
	/* The path, not log_file: its %d is what is replaced. */
	enum session_file_kind file = !o->path                ? SESSION_FILE_NONE
				      : strstr(o->path, "%d") ? SESSION_FILE_COUNTED
							      : SESSION_FILE_PLAIN;
	const char *why = NULL;
	uint32_t code = session_modes_check(&o->props, file, SESSION_RUNNER_BUFFERS, &why);
	if (code == 0 && (o->props.mode & OPENETW_TRACE_ZSTD_MODE) && !etl_zstd_available()) {
		code = ERROR_NOT_SUPPORTED;
		why = "libzstd.so.1 is not installed; compressed mode without 0x40000000 needs nothing";
	}
	if (code != 0) {
		diag_at(d, UINT64_MAX, "%s", why);
	}
	return code == 0 ? 0 : code == ERROR_NOT_SUPPORTED ? -EOPNOTSUPP : -EINVAL;
}

/* The processors' own: what they are made for, else what they run at. 0: not told (arm64 tells it in cpufreq only). */
static uint32_t machine_mhz(void)
{
	static const char *const files[] = {
		"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
		"/proc/cpuinfo",
		"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
	};
	double mhz = 0;
	for (size_t i = 0; mhz < 1 && i < BASE_ARRAY_LEN(files); i++) {
		char line[128];
		FILE *f = fopen(files[i], "re");
		while (f && mhz < 1 && fgets(line, sizeof line, f)) {
			if (i != 1) {
				mhz = strtod(line, NULL) / 1000;
			} else if (sscanf(line, "cpu MHz : %lf", &mhz) != 1) {
				mhz = 0;
			}
		}
		if (f) {
			fclose(f);
		}
	}
	return (uint32_t)(mhz + 0.5);
}

/* Readers convert times of clock type 3 with it, and take it for the processor's speed everywhere else. */
static uint32_t cpu_mhz(uint32_t clock_type, uint64_t freq)
{
	return clock_type == 3 ? (uint32_t)((freq + 500000) / 1000000) : machine_mhz();
}

static void fill_identity(struct sink *s)
{
	const struct sink_options *o = &s->options;
	struct sink_identity *id = &s->identity;
	uint64_t raw, filetime;
	clock_pair(&raw, &filetime);
	if (o->props.clock == 2) {
		raw = filetime;
	} else if (o->props.clock == 3) {
		raw = clock_read_counter();
	} else if (o->system_clock) {
		raw = clock_read_system_ns();
		filetime = clock_filetime();
	}
	/* Once: all files of a session say the same, and asking libc is slow. */
	etl_time_zone_local(id->time_zone);
	uint64_t freq = o->clock_freq ? o->clock_freq : clock_frequency();
	id->on_file = o->on_file;
	id->on_file_ctx = o->on_file_ctx;
	id->header = (struct etl_header_args){
		.buffer_size = s->buffer_bytes,
		.processors = o->cpus,
		.timer_resolution = TIMER_RESOLUTION,
		.maximum_file_size = o->props.maximum_file_size,
		.log_file_mode = o->props.mode & ~(EVENT_TRACE_COMPRESSED_MODE | OPENETW_TRACE_ZSTD_MODE),
		.buffers_written = 1,
		.cpu_mhz = cpu_mhz(o->props.clock, freq),
		.clock_type = o->props.clock,
		.perf_freq = freq,
		.boot_filetime = clock_boot_filetime(),
		.start_filetime = filetime,
		.start_raw = raw,
		.pid = o->controller_pid ? o->controller_pid : (uint32_t)getpid(),
		.tid = o->controller_tid ? o->controller_tid : (uint32_t)syscall(SYS_gettid),
		.logger_id = o->logger_id,
		.time_zone = id->time_zone,
		.logger_name = s->name,
		.logger_name_units = s->name ? (uint32_t)utf16_len(s->name) : 0,
	};
	uint64_t unit = o->props.mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE ? 1u << 10 : 1u << 20;
	uint64_t limit = o->props.maximum_file_size * unit / s->buffer_bytes;
	if (o->props.mode & EVENT_TRACE_COMPRESSED_MODE) {
		id->compression = o->props.mode & OPENETW_TRACE_ZSTD_MODE ? ETL_FORMAT_ZSTD : ETL_FORMAT_XPRESS;
		id->max_bytes = s->buffering ? 0 : o->props.maximum_file_size * unit;
	}
	if (!s->buffering && o->props.maximum_file_size > 0) {
		id->max_buffers = BASE_MAX(limit, FILE_BUFFERS_MIN);
	}
	id->circular = o->props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR;
	id->newfile = o->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE;
	id->append = o->props.mode & EVENT_TRACE_FILE_MODE_APPEND;
	id->preallocate = o->props.mode & EVENT_TRACE_FILE_MODE_PREALLOCATE;
	id->sync_on_stop = o->sync_on_stop;
	id->ops = o->ops;
}

static int copy_strings(struct sink *s)
{
	const struct sink_options *o = &s->options;
	s->name = o->name ? utf16_dup(o->name, utf16_len(o->name)) : NULL;
	s->log_file = o->log_file ? utf16_dup(o->log_file, utf16_len(o->log_file)) : NULL;
	s->path = o->path ? strdup(o->path) : NULL;
	s->spool_path = o->spool_path ? strdup(o->spool_path) : NULL;
	s->options.spool_path = s->spool_path;
	s->keep_path = o->keep_path && o->spool_path ? strdup(o->keep_path) : NULL;
	s->options.keep_path = s->keep_path;
	if ((o->name && !s->name) || (o->log_file && !s->log_file) || (o->path && !s->path)) {
		return -ENOMEM;
	}
	s->options.name = s->name;
	s->options.log_file = s->log_file;
	s->options.path = s->path;
	return 0;
}

#define HUGE_PAGE_BYTES (2u << 20)

/* The first buffers of a session should not pay for page faults. */
static void prefault(struct sink *s)
{
	size_t bytes = (size_t)s->options.props.minimum_buffers * s->buffer_bytes;
	bytes = BASE_MIN(bytes, s->extents->bytes);
	/* A thousand small sessions would zero, and keep, a huge page each. */
	if (s->extents->bytes < HUGE_PAGE_BYTES) {
		madvise(s->extents->memory, s->extents->bytes, MADV_NOHUGEPAGE);
	}
	if (bytes > PREFAULT_BYTES_MAX) {
		return;
	}
#ifdef MADV_POPULATE_WRITE
	if (madvise(s->extents->memory, bytes, MADV_POPULATE_WRITE) == 0) {
		return;
	}
#endif
	for (size_t i = 0; i < bytes; i += 4096) {
		s->extents->memory[i] = 0;
	}
}

/* A new file by its final or %d name. */
static int open_numbered(struct sink *s, const char *path, const uint16_t *log_file, uint32_t n, struct sink_file **ret,
			 struct diag *d)
{
	if (!s->identity.newfile) {
		return sink_file_open(&s->identity, path, log_file, ret, d);
	}
	char *p = sink_expand_path(path, n);
	uint16_t *name = log_file ? sink_expand_name(log_file, n) : NULL;
	int err = -ENOMEM;
	if (p && (name || !log_file)) {
		err = sink_file_open(&s->identity, p, name, ret, d);
	}
	free(p);
	free(name);
	return err;
}

/* How many data buffers the producer may take for a file; only sequential files end, and where
 * compressed ones do the file thread finds out. */
static uint64_t quota_of(const struct sink *s, const struct sink_file *f)
{
	return s->identity.newfile || s->identity.compression ? UINT64_MAX : sink_file_room(f);
}

static int init_locks(struct sink *s)
{
	pthread_condattr_t attr;
	if (pthread_condattr_init(&attr) != 0) {
		return -ENOMEM;
	}
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, &attr);
	pthread_cond_init(&s->idle, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

int sink_create(const struct sink_options *options, struct sink **ret, struct diag *d)
{
	struct sink_options o = *options;
	int err = check_modes(&o, d);
	if (err == 0 && (err = sink_adjust(&o)) < 0) {
		diag_at(d, UINT64_MAX, "the buffer sizes or counts are out of range");
	}
	if (err < 0) {
		return err;
	}
	struct sink *s = calloc(1, sizeof *s);
	if (!s) {
		return -ENOMEM;
	}
	err = init_locks(s);
	if (err < 0) {
		free(s);
		return err;
	}
	s->options = o;
	s->buffer_bytes = o.props.buffer_kb * 1024;
	s->buffering = o.props.mode & EVENT_TRACE_BUFFERING_MODE;
	s->clock = o.props.clock;
	s->flush_timer = o.props.flush_timer;
	s->next_sequence = 1;
	s->quota = UINT64_MAX;
	s->buffers_minimum = o.props.minimum_buffers;
	s->patience_ns = (o.patience_ms ? o.patience_ms : PATIENCE_MS) * 1000000ull;
	s->tap_enabled = o.props.mode & EVENT_TRACE_REAL_TIME_MODE;
	err = copy_strings(s);
	if (err == 0) {
		err = sink_streams_init(s);
	}
	if (err == 0) {
		err = sink_buffers_add(s, o.props.maximum_buffers);
	}
	if (err == 0 && o.fair && o.path && !s->buffering) {
		/* Each processor has two streams, in order and late: one for each, and another while that is written. */
		uint32_t some = BASE_MAX(4 * s->stream_count, o.props.maximum_buffers / RESERVE_SHARE);
		err = sink_buffers_reserve(s, BASE_MIN(some, o.props.maximum_buffers));
	}
	if (err < 0) {
		destroy(s);
		return err;
	}
	prefault(s);
	fill_identity(s);
	s->identity.wants_room = !s->identity.newfile; /* those may have any size, to change by time */
	sink_tap_open_keep(s);
	if (s->path && !s->buffering) {
		s->newfile_counter = 1;
		err = open_numbered(s, s->path, s->log_file, 1, &s->file, d);
		if (err < 0) {
			destroy(s);
			return err;
		}
		s->has_file = true;
		s->identity.wants_room = false;
		s->quota = quota_of(s, s->file);
		s->next_sequence = sink_file_last_sequence(s->file) + 1;
	}
	if (s->has_file || s->buffering) {
		err = sink_thread_start(s);
	}
	if (err < 0) {
		if (s->file) {
			sink_file_finish(s->file, &s->published, true);
		}
		destroy(s);
		return err;
	}
	s->keep_at_end = false;
	*ret = s;
	return 0;
}

/* With the lock held. */
void sink_publish_counts(struct sink *s)
{
	s->published.events_lost = s->lost_no_buffer + s->lost_too_big + s->lost_elsewhere;
}

int sink_stop(struct sink *s, struct sink_stats *ret_final)
{
	if (!s) {
		return 0;
	}
	sink_close_all(s);
	pthread_mutex_lock(&s->lock);
	sink_publish_counts(s);
	s->stopping = true;
	s->stop_deadline_ns = sink_monotonic_ns() + BASE_MIN(s->patience_ns, STOP_PATIENCE_NS);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	sink_thread_join(s);
	if (ret_final) {
		sink_stats(s, ret_final);
	}
	int err = s->final_error;
	destroy(s);
	return err;
}

void sink_add_lost(struct sink *s, uint64_t events)
{
	s->lost_elsewhere += events;
}

void sink_tick(struct sink *s, uint64_t now_ns)
{
	if (s->tap_enabled) {
		sink_tap_pump(s);
	}
	bool timed = false;
	/* Without a file there is nothing a timed flush could save. */
	if (s->flush_timer > 0 && s->has_file) {
		if (s->flush_at_ns == 0) {
			s->flush_at_ns = now_ns + s->flush_timer * NS_PER_S;
		} else if (now_ns >= s->flush_at_ns) {
			s->flush_at_ns = now_ns + s->flush_timer * NS_PER_S;
			sink_close_all(s);
			timed = true;
		}
	}
	if (!s->thread_running) {
		return;
	}
	bool refresh = now_ns >= s->refresh_at_ns;
	pthread_mutex_lock(&s->lock);
	if (refresh) {
		s->refresh_at_ns = now_ns + NS_PER_S;
		s->refresh_wanted = true;
		sink_publish_counts(s);
	}
	if (s->full.head && !s->buffering) {
		s->full_since_ns = s->full_since_ns ? s->full_since_ns : now_ns;
		s->write_wanted |= timed || now_ns - s->full_since_ns >= GATHER_NS;
	}
	if (s->sleeping && (refresh || (!s->buffering && sink_worth_writing(s)))) {
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&s->lock);
}

static int take_snapshot(struct sink *s, const char *path, bool held, struct diag *d)
{
	const uint16_t *log_file = s->log_file;
	uint16_t *converted = NULL;
	if (!path) {
		path = s->path;
	} else {
		long units = utf8_to_utf16(path, strlen(path), NULL, 0);
		if (units >= 0) {
			converted = malloc(2 * ((size_t)units + 1));
			if (!converted) {
				return -ENOMEM;
			}
			utf8_to_utf16(path, strlen(path), converted, (size_t)units + 1);
			log_file = converted;
		}
	}
	if (!path) {
		diag_at(d, UINT64_MAX, "the session has no file and none was named");
		free(converted);
		return -EINVAL;
	}
	struct sink_snapshot *snap = calloc(1, sizeof *snap + s->buffers_limit * sizeof snap->buffer[0]);
	int err = -ENOMEM;
	if (snap) {
		err = sink_file_open(&s->identity, path, log_file, &snap->file, d);
	}
	free(converted);
	if (err < 0) {
		free(snap);
		return err;
	}
	pthread_mutex_lock(&s->lock);
	sink_publish_counts(s);
	for (struct sink_buffer *b = s->full.head; b; b = b->next) {
		b->pins++;
		snap->buffer[snap->count++] = b;
	}
	snap->held = held;
	struct sink_snapshot **at = &s->snapshots;
	while (*at) {
		at = &(*at)->next;
	}
	*at = snap;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int sink_flush(struct sink *s, const char *path, struct diag *d)
{
	sink_close_all(s);
	if (s->buffering) {
		return take_snapshot(s, path, false, d);
	}
	pthread_mutex_lock(&s->lock);
	sink_publish_counts(s);
	s->look_wanted = s->has_file;
	s->refresh_wanted = true;
	s->write_wanted = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int sink_flush_held(struct sink *s, const char *path, struct diag *d)
{
	sink_close_all(s);
	return s->buffering ? take_snapshot(s, path, true, d) : -EINVAL;
}

uint64_t sink_ring_until(struct sink *s, uint16_t cpu)
{
	pthread_mutex_lock(&s->lock);
	uint64_t until = s->ring_until[cpu % s->stream_count];
	pthread_mutex_unlock(&s->lock);
	return until;
}

uint64_t sink_ring_since(struct sink *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t first = s->buffering ? UINT64_MAX : s->ring_since;
	for (const struct sink_buffer *b = s->buffering ? s->full.head : NULL; b; b = b->next) {
		first = BASE_MIN(first, b->first_time);
	}
	for (uint32_t i = 0; s->buffering && i < 2 * s->stream_count; i++) {
		const struct sink_buffer *b = s->stream[i].buffer;
		first = b ? BASE_MIN(first, b->first_time) : first;
	}
	pthread_mutex_unlock(&s->lock);
	return first == UINT64_MAX ? 0 : first;
}

int sink_drain_wait(struct sink *s, int timeout_ms)
{
	if (!s->thread_running) {
		return 0;
	}
	uint64_t until = sink_monotonic_ns() + (uint64_t)BASE_MAX(timeout_ms, 0) * 1000000u;
	struct timespec ts = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};
	int err = 0;
	pthread_mutex_lock(&s->lock);
	uint64_t target = s->pushed;
	s->waiting++;
	pthread_cond_signal(&s->wake);
	while (s->finished < target || s->snapshots || s->next_file || s->rotate_wanted || s->look_wanted) {
		if (err == -ETIMEDOUT) {
			break;
		}
		err = -pthread_cond_timedwait(&s->idle, &s->lock, &ts);
	}
	bool undone = s->finished < target || s->snapshots || s->next_file || s->rotate_wanted || s->look_wanted;
	err = undone ? -ETIMEDOUT : 0;
	s->waiting--;
	pthread_mutex_unlock(&s->lock);
	return err;
}

/* The file thread continues with `f` after everything closed so far. */
static void order_switch(struct sink *s, struct sink_file *f)
{
	s->next_file = f;
	s->switch_at = s->pushed;
	s->quota = quota_of(s, f);
	s->file_full = false;
	sink_publish_counts(s);
	pthread_cond_signal(&s->wake);
}

static bool switch_pending(struct sink *s)
{
	pthread_mutex_lock(&s->lock);
	bool pending = s->next_file != NULL;
	pthread_mutex_unlock(&s->lock);
	return pending;
}

int sink_set_file(struct sink *s, const char *path, const uint16_t *log_file, struct diag *d)
{
	if (!path || (s->identity.newfile && !strstr(path, "%d"))) {
		return -EINVAL;
	}
	if (switch_pending(s)) {
		return -EBUSY;
	}
	char *new_path = strdup(path);
	uint16_t *new_name = log_file ? utf16_dup(log_file, utf16_len(log_file)) : NULL;
	struct sink_file *f = NULL;
	int err = new_path && (new_name || !log_file) ? 0 : -ENOMEM;
	if (err == 0 && !s->buffering) {
		err = open_numbered(s, path, log_file, 1, &f, d);
	}
	if (err < 0) {
		free(new_path);
		free(new_name);
		return err;
	}
	/* What is open now belongs to the old file, or, without one, to nobody but the tap. */
	sink_close_all(s);
	pthread_mutex_lock(&s->lock);
	char *old_path = s->path;
	uint16_t *old_name = s->log_file;
	s->path = new_path;
	s->log_file = new_name;
	s->options.path = new_path;
	s->options.log_file = new_name;
	s->newfile_counter = 1;
	if (f) {
		order_switch(s, f);
	}
	pthread_mutex_unlock(&s->lock);
	free(old_path);
	free(old_name);
	if (s->buffering) {
		return 0;
	}
	s->has_file = true;
	return sink_thread_start(s);
}

int sink_next_file(struct sink *s, struct diag *d)
{
	if (!s->identity.newfile || !s->has_file) {
		return -EINVAL;
	}
	if (switch_pending(s)) {
		return -EBUSY;
	}
	sink_close_all(s);
	/* The file thread may be just about to turn a full file over by itself; the number is
	 * taken first, so that both get different ones. */
	pthread_mutex_lock(&s->lock);
	uint32_t n = ++s->newfile_counter;
	uint32_t keep = s->keep_files;
	pthread_mutex_unlock(&s->lock);
	struct sink_file *f = NULL;
	int err = open_numbered(s, s->path, s->log_file, n, &f, d);
	if (err == 0) {
		sink_remove_old(s->path, n, keep);
	}
	pthread_mutex_lock(&s->lock);
	if (err == 0) {
		order_switch(s, f);
	} else if (s->newfile_counter == n) {
		s->newfile_counter--;
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

void sink_rotate(struct sink *s)
{
	if (!s->identity.newfile || !s->has_file) {
		return;
	}
	sink_close_all(s);
	pthread_mutex_lock(&s->lock);
	s->rotate_at = s->pushed;
	s->rotate_wanted = true;
	sink_publish_counts(s);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void sink_keep_files(struct sink *s, uint32_t keep)
{
	pthread_mutex_lock(&s->lock);
	s->keep_files = keep;
	pthread_mutex_unlock(&s->lock);
}

void sink_set_limits(struct sink *s, uint32_t maximum_buffers, uint32_t flush_timer)
{
	uint32_t wanted = BASE_MAX(maximum_buffers, s->buffers_minimum);
	if (maximum_buffers > 0 && !s->buffering) {
		pthread_mutex_lock(&s->lock);
		uint32_t limit = s->buffers_limit;
		if (wanted < limit) {
			/* Those already there stay; no further ones are made. */
			s->buffers_limit = BASE_MAX(wanted, s->buffers_allocated);
		}
		uint32_t room = 0;
		for (struct sink_extent *e = s->extents; e; e = e->next) {
			room += e->count - e->handed_out;
		}
		uint32_t possible = s->buffers_allocated + room;
		if (wanted > limit) {
			s->buffers_limit = BASE_MIN(wanted, possible);
		}
		pthread_mutex_unlock(&s->lock);
		/* Out of memory leaves the old limit: an UPDATE has nothing better to offer. */
		if (wanted <= possible || sink_buffers_add(s, wanted - possible) == 0) {
			s->options.props.maximum_buffers = wanted;
		}
	}
	if (flush_timer != s->flush_timer && flush_timer > 0) {
		s->flush_timer = flush_timer;
		s->options.props.flush_timer = flush_timer;
		s->flush_at_ns = 0;
	}
}

long sink_header(struct sink *s, uint8_t *out, size_t cap)
{
	struct etl_header_args a = s->identity.header;
	a.file_name = s->log_file;
	a.file_name_units = s->log_file ? (uint32_t)utf16_len(s->log_file) : 0;
	uint32_t used = etl_header_used(a.logger_name_units, a.file_name_units);
	uint32_t bytes = BASE_MAX(used, HEADER_LEAST);
	if (bytes > cap) {
		return -EMSGSIZE;
	}
	uint8_t *whole = malloc(s->buffer_bytes);
	if (!whole) {
		return -ENOMEM;
	}
	int err = etl_write_header_buffer(whole, &a);
	if (err == 0) {
		memcpy(out, whole, used);
		memset(out + used, 0xFF, bytes - used);
		le32_put(out + ETL_BH_BUFFER_SIZE, bytes); /* this one ends here */
	}
	free(whole);
	return err < 0 ? err : (long)bytes;
}

void sink_stats(struct sink *s, struct sink_stats *ret)
{
	struct sink_stats r = {
		.lost_no_buffer = s->lost_no_buffer,
		.lost_too_big = s->lost_too_big,
		.rt_events_lost = s->rt_events_lost,
		.rt_buffers_lost = s->rt_buffers_lost,
		.rt_found = s->rt_found,
		.buffer_size_kb = s->options.props.buffer_kb,
		.start_filetime = s->identity.header.start_filetime,
		.late_records = s->late_records,
	};
	for (uint32_t i = 0; i < 2 * s->stream_count; i++) {
		r.events += s->stream[i].events;
	}
	if (s->spool) {
		sink_spool_losses(s->spool, &r.rt_events_lost, &r.rt_buffers_lost, &r.rt_events_refused);
	}
	pthread_mutex_lock(&s->lock);
	r.lost_disk_events = s->lost_disk_events;
	r.lost_no_buffer += s->lost_late_events;
	r.lost_disk_buffers = s->lost_disk_buffers;
	r.gone_events = s->gone_events;
	r.gone_buffers = s->gone_buffers;
	r.file_fate = s->file_fate;
	r.file_fate_filetime = s->file_fate_filetime;
	r.overwritten_buffers = s->overwritten_buffers;
	r.overwritten_events = s->overwritten_events;
	r.buffers_written = s->buffers_written + s->recycled;
	r.bytes_recycled = s->recycled * s->buffer_bytes;
	r.bytes_written = s->bytes_written;
	r.buffers = BASE_MAX(s->buffers_allocated, s->buffers_minimum);
	r.free_buffers = s->free.count + r.buffers - s->buffers_allocated;
	r.file_error = s->file_error;
	r.file_full = s->file_full;
	r.file_thread_id = s->file_thread_id;
	pthread_mutex_unlock(&s->lock);
	r.events_lost = r.lost_no_buffer + r.lost_too_big + s->lost_elsewhere + r.lost_disk_events + r.gone_events;
	*ret = r;
}
