/* SPDX-License-Identifier: MIT
 *
 * The file thread: takes closed buffers in the order they were closed, writes as many as there are
 * with one call, frees them.
 *
 *   ok      --error-->        failing    retry with back-off until patience is over
 *   failing --patience over-> bad        one attempt per buffer, then it is dropped and counted
 *   failing, bad --success--> ok         the session continues in the same file
 *
 * In `bad` nothing sleeps: buffers come back to the producer at the rate the disk refuses them, so
 * that events after the disk recovered are recorded at once. A stop ends patience after at most one
 * second.
 */
#include "sink/sink_private.h"

#include "base/open_output.h"
#include "base/quiet_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#define BATCH_BUFFERS    256u
#define AGAIN_NS         1000000000ull
#define BACKOFF_FIRST_NS (2u * 1000 * 1000)
#define BACKOFF_MAX_NS   (250u * 1000 * 1000)

char *sink_expand_path(const char *path, uint32_t n)
{
	const char *mark = strstr(path, "%d");
	if (!mark) {
		return strdup(path);
	}
	char *out = malloc(strlen(path) + 12);
	if (out) {
		sprintf(out, "%.*s%u%s", (int)(mark - path), path, n, mark + 2);
	}
	return out;
}

uint16_t *sink_expand_name(const uint16_t *name, uint32_t n)
{
	size_t units = utf16_len(name), mark = 0;
	while (mark < units && !(name[mark] == '%' && name[mark + 1] == 'd')) {
		mark++;
	}
	if (mark == units) {
		return utf16_dup(name, units);
	}
	char digits[12];
	size_t k = (size_t)sprintf(digits, "%u", n);
	uint16_t *out = malloc(2 * (units + k));
	if (!out) {
		return NULL;
	}
	memcpy(out, name, 2 * mark);
	for (size_t i = 0; i < k; i++) {
		out[mark + i] = (uint8_t)digits[i];
	}
	memcpy(out + mark + k, name + mark + 2, 2 * (units - mark - 1)); /* with terminator */
	return out;
}

static struct sink_file_counts counts_locked(const struct sink *s)
{
	return (struct sink_file_counts){
		.events_lost = s->published.events_lost + s->lost_disk_events + s->lost_late_events + s->gone_events,
		.buffers_lost = s->lost_disk_buffers + s->gone_buffers,
	};
}

static void note_error(struct sink *s, int err, bool final)
{
	pthread_mutex_lock(&s->lock);
	s->file_error = -err;
	if (final && s->final_error == 0) {
		s->final_error = err;
	}
	pthread_mutex_unlock(&s->lock);
}

/* With the lock held. Their places in a sequential file are free again. */
static void count_gone_locked(struct sink *s, uint64_t events, uint64_t buffers)
{
	s->gone_events += events;
	s->gone_buffers += buffers;
	if (s->quota != UINT64_MAX && !s->next_file) {
		s->quota += buffers;
	}
}

static void look_after(struct sink *s, struct sink_file *f)
{
	struct sink_file_gone gone;
	enum sink_file_fate fate = sink_file_look(f, &gone);
	if (fate == SINK_FATE_NONE) {
		return;
	}
	pthread_mutex_lock(&s->lock);
	count_gone_locked(s, gone.events, gone.buffers);
	if (fate != SINK_FATE_MOVED || s->file_fate == SINK_FATE_NONE) {
		s->file_fate = fate;
		s->file_fate_filetime = clock_filetime();
	}
	pthread_mutex_unlock(&s->lock);
}

/* Something is to be written, and the file is not there any more. A new one is begun, once a second at most:
 * not before there is something for it, and not where somebody has put another. */
static void begin_again(struct sink *s)
{
	uint64_t now = sink_monotonic_ns();
	struct sink_file *f;
	if (!sink_file_is_gone(s->file) || now < s->again_at_ns) {
		return;
	}
	s->again_at_ns = now + AGAIN_NS;
	int err = sink_file_again(&s->identity, s->file, &f);
	if (err == 0) {
		s->file = f;
		return;
	}
	note_error(s, err, false);
	if (err == -EEXIST) {
		pthread_mutex_lock(&s->lock);
		s->file_fate = SINK_FATE_REPLACED;
		pthread_mutex_unlock(&s->lock);
	}
}

static void close_file(struct sink *s, struct sink_file *f, bool last)
{
	pthread_mutex_lock(&s->lock);
	struct sink_file_counts c = counts_locked(s);
	pthread_mutex_unlock(&s->lock);
	int err = sink_file_finish(f, &c, last);
	if (err < 0) {
		note_error(s, err, true);
	}
}

static void finish_file(struct sink *s, struct sink_file *f, bool last)
{
	look_after(s, f);
	close_file(s, f, last);
}

void sink_remove_old(const char *path, uint32_t n, uint32_t keep)
{
	char *old = keep > 0 && n > keep ? sink_expand_path(path, n - keep) : NULL;
	if (old) {
		open_output_remove(old); /* it may be gone already */
		free(old);
	}
}

/* NEWFILE: the next file of the row. The old one stays open until the new one exists. */
static int rotate(struct sink *s)
{
	pthread_mutex_lock(&s->lock);
	uint32_t n = ++s->newfile_counter; /* first, so that sink_next_file gets another one */
	char *path = sink_expand_path(s->path, n);
	uint16_t *name = s->log_file ? sink_expand_name(s->log_file, n) : NULL;
	char *pattern = s->keep_files ? strdup(s->path) : NULL;
	uint32_t keep = s->keep_files;
	pthread_mutex_unlock(&s->lock);
	struct sink_file *f = NULL;
	int err = -ENOMEM;
	if (path && (name || !s->log_file)) {
		err = sink_file_open(&s->identity, path, name, &f, NULL);
	}
	free(path);
	free(name);
	if (err < 0) {
		free(pattern);
		pthread_mutex_lock(&s->lock);
		s->newfile_counter -= s->newfile_counter == n;
		pthread_mutex_unlock(&s->lock);
		return err;
	}
	finish_file(s, s->file, false);
	s->file = f;
	if (pattern) {
		sink_remove_old(pattern, n, keep);
		free(pattern);
	}
	return 0;
}

/* Sleep before the next attempt; false when patience is over. */
static bool wait_before_retry(struct sink *s, uint32_t *backoff_ns)
{
	uint64_t now = sink_monotonic_ns();
	if (s->failing_since == 0) {
		s->failing_since = now;
		*backoff_ns = BACKOFF_FIRST_NS;
	}
	pthread_mutex_lock(&s->lock);
	uint64_t deadline = s->failing_since + s->patience_ns;
	if (s->stopping) {
		deadline = BASE_MIN(deadline, s->stop_deadline_ns);
	}
	bool again = !s->disk_bad && now < deadline;
	if (again) {
		uint64_t until = BASE_MIN(now + *backoff_ns, deadline);
		struct timespec ts = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
		pthread_cond_timedwait(&s->wake, &s->lock, &ts);
		*backoff_ns = BASE_MIN(*backoff_ns * 2, BACKOFF_MAX_NS);
	}
	pthread_mutex_unlock(&s->lock);
	return again;
}

static void drop_buffer(struct sink *s, const struct sink_buffer *b)
{
	pthread_mutex_lock(&s->lock);
	s->lost_disk_buffers++;
	s->lost_disk_events += b->events;
	if (s->quota != UINT64_MAX && !s->next_file) {
		s->quota++; /* its place in the file is free again */
	}
	pthread_mutex_unlock(&s->lock);
}

/* Past the page cache, unless the disk does not keep up: then the cache has the room. */
static bool batch_direct(struct sink *s, unsigned n)
{
	if ((uint64_t)n * s->buffer_bytes < SINK_LARGE_BYTES) {
		return false;
	}
	pthread_mutex_lock(&s->lock);
	uint32_t left = s->free.count + s->buffers_limit - s->buffers_allocated;
	bool keeps_up = left > s->buffers_limit / 8;
	pthread_mutex_unlock(&s->lock);
	return keeps_up;
}

/* Compressed files only: how much goes into them nobody can tell beforehand, so buffers are on their way
 * when it turns out that the file is full. As with others the session ends here: these events are
 * no loss of the disk's, but come too late. */
static void drop_late(struct sink *s, const struct sink_buffer *b)
{
	pthread_mutex_lock(&s->lock);
	s->file_full = true;
	s->lost_late_events += b->events;
	pthread_mutex_unlock(&s->lock);
}

static void write_batch(struct sink *s, struct sink_buffer *const *b, unsigned n)
{
	bool direct = batch_direct(s, n);
	uint32_t backoff_ns = BACKOFF_FIRST_NS;
	unsigned i = 0;
	look_after(s, s->file);
	begin_again(s);
	while (i < n) {
		if (sink_file_is_gone(s->file)) {
			pthread_mutex_lock(&s->lock);
			count_gone_locked(s, b[i++]->events, 1);
			pthread_mutex_unlock(&s->lock);
			continue;
		}
		int err = 0;
		unsigned done = 0;
		uint64_t overwritten_events = 0, overwritten_buffers = 0, bytes = 0;
		uint64_t room = sink_file_room(s->file);
		if (room == 0 && s->identity.newfile) {
			err = rotate(s);
			room = sink_file_room(s->file);
		}
		if (err == 0) {
			unsigned count = (unsigned)BASE_MIN((uint64_t)(n - i), room);
			bytes = sink_file_written(s->file);
			err = count == 0 ? -EFBIG
					 : sink_file_write(s->file, b + i, count, direct, &done, &overwritten_events,
							   &overwritten_buffers);
			bytes = sink_file_written(s->file) - bytes;
		}
		i += done;
		if (done > 0) {
			s->failing_since = 0;
			s->disk_bad = false;
			pthread_mutex_lock(&s->lock);
			s->buffers_written += done;
			s->bytes_written += bytes;
			s->overwritten_events += overwritten_events;
			s->overwritten_buffers += overwritten_buffers;
			s->ring_since = sink_file_ring(s->file, s->ring_until, s->stream_count);
			s->file_error = 0;
			pthread_mutex_unlock(&s->lock);
		} else if (overwritten_buffers > 0) {
			pthread_mutex_lock(&s->lock);
			s->overwritten_events += overwritten_events;
			s->overwritten_buffers += overwritten_buffers;
			pthread_mutex_unlock(&s->lock);
		}
		if (err == 0 || i == n) {
			continue;
		}
		if (room == 0 && s->identity.compression && !s->identity.newfile) {
			drop_late(s, b[i++]);
			continue;
		}
		if (room == 0 && !s->identity.newfile) {
			pthread_mutex_lock(&s->lock);
			s->file_full = true;
			pthread_mutex_unlock(&s->lock);
		} else {
			note_error(s, err, false);
			if (wait_before_retry(s, &backoff_ns)) {
				continue;
			}
			s->disk_bad = true;
		}
		note_error(s, err, true);
		drop_buffer(s, b[i]);
		i++;
	}
}

static int write_one(struct sink *s, struct sink_file *f, struct sink_buffer *b, uint64_t before)
{
	unsigned done;
	uint64_t none_events = 0, none_buffers = 0;
	int err = sink_file_write(f, &b, 1, false, &done, &none_events, &none_buffers);
	pthread_mutex_lock(&s->lock);
	b->pins -= b->pins > 0;
	s->buffers_written += err == 0;
	s->bytes_written = before + sink_file_written(f);
	pthread_mutex_unlock(&s->lock);
	return err;
}

/* First the ring, which others wait for; then, when it is there, what explains it. */
static void write_snapshot(struct sink *s, struct sink_snapshot *snap)
{
	int err = 0;
	uint64_t before = s->bytes_written - sink_file_written(snap->file); /* only this thread counts */
	for (uint32_t i = 0; !snap->written && i < snap->count; i++) {
		if (err == 0) {
			err = write_one(s, snap->file, snap->buffer[i], before);
		} else {
			pthread_mutex_lock(&s->lock);
			snap->buffer[i]->pins--;
			pthread_mutex_unlock(&s->lock);
		}
	}
	struct sink_explanation *e = snap->written ? snap->explanation : NULL;
	for (; e && err == 0; e = e->next) {
		err = write_one(s, snap->file, &e->b, before);
	}
	note_error(s, err, false);
}

/* The first that there is something to do for. With the lock held. */
static struct sink_snapshot *next_snapshot(struct sink *s)
{
	struct sink_snapshot *snap = s->snapshots;
	while (snap && snap->written && snap->held && !s->stopping) {
		snap = snap->next;
	}
	return snap;
}

/* Without the lock; true: it is over and done with. */
static bool do_snapshot(struct sink *s, struct sink_snapshot *snap)
{
	bool over = snap->written;
	write_snapshot(s, snap);
	snap->written = true;
	if (over) {
		close_file(s, snap->file, false); /* a copy: the session has lost nothing if somebody removes it */
		sink_explanation_free(snap->explanation);
	}
	return over;
}

bool sink_worth_writing(const struct sink *s)
{
	uint32_t left = s->free.count + s->buffers_limit - s->buffers_allocated;
	return s->full.head &&
	       (s->stopping || s->waiting || s->write_wanted || s->next_file || s->rotate_wanted ||
		(uint64_t)s->full.count * s->buffer_bytes >= SINK_LARGE_BYTES || left <= s->buffers_limit / 2);
}

/* With the lock held. Buffers up to the place where the file changes. */
static unsigned detach_batch(struct sink *s, struct sink_buffer **batch)
{
	if (!sink_worth_writing(s)) {
		return 0;
	}
	unsigned n = 0, max = BASE_MAX(SINK_BATCH_BYTES / s->buffer_bytes, 1u);
	max = BASE_MIN(max, BATCH_BUFFERS);
	/* Leave the producer its half when there are only few. */
	max = BASE_MIN(max, BASE_MAX(s->buffers_limit / 2, 1u));
	while (!s->buffering && n < max && s->full.head && !(s->next_file && s->popped == s->switch_at) &&
	       !(s->rotate_wanted && s->popped == s->rotate_at)) {
		batch[n++] = sink_list_pop(&s->full);
		s->popped++;
	}
	if (!s->full.head) {
		s->write_wanted = false;
	}
	s->full_since_ns = 0;
	return n;
}

static void thread_run(struct sink *s)
{
	struct sink_buffer *batch[BATCH_BUFFERS];
	pthread_mutex_lock(&s->lock);
	for (;;) {
		if (s->next_file && s->popped == s->switch_at) {
			struct sink_file *old = s->file;
			s->file = s->next_file;
			pthread_mutex_unlock(&s->lock);
			if (old) {
				finish_file(s, old, false);
			}
			pthread_mutex_lock(&s->lock);
			s->next_file = NULL;
			pthread_cond_broadcast(&s->idle);
			continue;
		}
		if (s->rotate_wanted && s->popped >= s->rotate_at && s->file) {
			pthread_mutex_unlock(&s->lock);
			int err = rotate(s);
			if (err < 0) { /* the old one goes on */
				note_error(s, err, false);
			}
			pthread_mutex_lock(&s->lock);
			s->rotate_wanted = false;
			pthread_cond_broadcast(&s->idle);
			continue;
		}
		struct sink_snapshot *snap = next_snapshot(s);
		if (snap) {
			pthread_mutex_unlock(&s->lock);
			bool over = do_snapshot(s, snap);
			pthread_mutex_lock(&s->lock);
			struct sink_snapshot **at = &s->snapshots;
			while (over && *at != snap) {
				at = &(*at)->next;
			}
			if (over) {
				*at = snap->next;
				free(snap);
				pthread_cond_broadcast(&s->idle);
			}
			continue;
		}
		unsigned n = detach_batch(s, batch);
		if (n > 0) {
			pthread_mutex_unlock(&s->lock);
			write_batch(s, batch, n);
			pthread_mutex_lock(&s->lock);
			for (unsigned i = n; i-- > 0;) {
				sink_buffer_give_locked(s, batch[i]);
			}
			s->finished += n;
			if (s->waiting) {
				pthread_cond_broadcast(&s->idle);
			}
			continue;
		}
		if (s->look_wanted) {
			pthread_mutex_unlock(&s->lock);
			if (s->file) {
				look_after(s, s->file);
			}
			pthread_mutex_lock(&s->lock);
			s->look_wanted = false;
			pthread_cond_broadcast(&s->idle);
			continue;
		}
		if (s->refresh_wanted && s->file) {
			s->refresh_wanted = false;
			pthread_mutex_unlock(&s->lock);
			look_after(s, s->file);
			pthread_mutex_lock(&s->lock);
			struct sink_file_counts c = counts_locked(s);
			pthread_mutex_unlock(&s->lock);
			int err = sink_file_refresh(s->file, &c);
			if (err < 0) {
				note_error(s, err, false);
			}
			pthread_mutex_lock(&s->lock);
			continue;
		}
		if (s->stopping) {
			break;
		}
		s->sleeping = true;
		pthread_cond_wait(&s->wake, &s->lock);
		s->sleeping = false;
	}
	pthread_mutex_unlock(&s->lock);
	if (s->file) {
		finish_file(s, s->file, true);
		s->file = NULL;
	}
}

static void *thread_main(void *arg)
{
	struct sink *s = arg;
	pthread_setname_np(pthread_self(), "etw-file");
	pthread_mutex_lock(&s->lock);
	s->file_thread_id = syscall(SYS_gettid);
	pthread_cond_broadcast(&s->idle); /* sink_thread_start */
	pthread_mutex_unlock(&s->lock);
	thread_run(s);
	return NULL;
}

int sink_thread_start(struct sink *s)
{
	if (s->thread_running) {
		return 0;
	}
	int err = quiet_thread_start(&s->thread, thread_main, s);
	if (err < 0) {
		return err;
	}
	s->thread_running = true;
	/* Who starts a session and asks at once is told which thread writes its file. */
	pthread_mutex_lock(&s->lock);
	while (s->file_thread_id == 0) {
		pthread_cond_wait(&s->idle, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void sink_thread_join(struct sink *s)
{
	if (s->thread_running) {
		pthread_join(s->thread, NULL);
		s->thread_running = false;
	}
}
