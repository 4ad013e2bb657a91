/* SPDX-License-Identifier: MIT
 * The end of a session, and the one change of direction a running one can make (UPDATE).
 *
 *   RUNNING --stop: drain, disable everywhere, drain--> STOPPING --consumers have it, or 1 s-->
 * CLOSING
 *           --job: sink_stop()--> gone
 *
 * No provider cooperates: from the store of "disabled" on nothing new is written, and what was
 * published before is in the pool. A stopped process delays nothing.
 */
#include "etw/values/errors.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_realtime.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdlib.h>

#define CONSUMER_PATIENCE_NS 1000000000ull  /* without a sign of life */
#define CONSUMER_MOST_NS     20000000000ull /* in all */

struct close_job {
	struct job job;
	struct session *session; /* ref */
	struct sink *sink;
	struct sink_stats stats;
	int result;
	bool by_controller;
};

static void close_run(struct job *j)
{
	struct close_job *c = (struct close_job *)j;
	c->result = sink_stop(c->sink, &c->stats);
	/* Who reads the file next may need what its programs said about themselves. */
	etwd_described_wait();
	if (c->session->last_file) {
		etwd_embed_last(c->session->last_file, c->by_controller);
	}
}

static void close_done(struct etwd *d, struct job *j)
{
	struct close_job *c = (struct close_job *)j;
	struct session *s = c->session;
	s->stats = c->stats;
	etwd_log_of(d, s->uid,
		    "Stopped session \"%s\": id=%u, events=%llu, lost=%llu, late=%llu, "
		    "buffers=%llu%s%s",
		    s->label, s->id, (unsigned long long)s->stats.events, (unsigned long long)s->stats.events_lost,
		    (unsigned long long)s->stats.late_records, (unsigned long long)s->stats.buffers_written,
		    c->result < 0 ? ", file: " : "", c->result < 0 ? strerror(-c->result) : "");
	etwd_schedule_ended(d, s);
	/* The session is gone whatever the disk said; the loss counters tell. */
	etwd_session_answer(d, s, &s->stop_reply, 0, NULL);
	etwd_session_answer(d, s, &s->start_reply, s->refusal_code, s->refusal);
	etwd_session_forget(d, s);
	etwd_session_unref(s);
}

/* As long as one of them reads on, they get what waits for them; but not for ever. */
static uint64_t consumers_deadline(struct session *s, uint64_t now_ns)
{
	const struct consumer *k;
	uint64_t acked = 0;
	LIST_FOREACH(k, &s->consumers, link) {
		acked += k->acked;
	}
	if (acked != s->stop_acked) {
		s->stop_acked = acked;
		s->stop_deadline_ns = BASE_MIN(now_ns + CONSUMER_PATIENCE_NS, s->stop_limit_ns);
	}
	return s->stop_deadline_ns;
}

void etwd_session_stop_step(struct etwd *d, struct session *s, uint64_t now_ns)
{
	if (etwd_kernel_holds(s)) {
		s->stop_deadline_ns = now_ns + CONSUMER_PATIENCE_NS;
		s->stop_limit_ns = now_ns + CONSUMER_MOST_NS;
		return;
	}
	if (s->consumer_count > 0 && now_ns < consumers_deadline(s, now_ns)) {
		s->blocked = false;
		sink_tap_pump(s->sink);
		if (s->blocked || sink_tap_behind(s->sink)) {
			return;
		}
	}
	if (s->consumer_count > 0) {
		etwd_realtime_end(d, s);
	}
	if (s->jobs > 0) {
		return; /* somebody waits for the sink; comes back with the next tick */
	}
	struct close_job *c = calloc(1, sizeof *c);
	if (!c) {
		return; /* the next tick tries again */
	}
	if (d->exiting) {
		sink_keep_backlog(s->sink);
	}
	sink_set_tap(s->sink, false, NULL, NULL);
	sink_stats(s->sink, &s->stats);
	*c = (struct close_job){.job = {.run = close_run, .done = close_done}, .session = s, .sink = s->sink};
	etwd_session_ref(s);
	s->sink = NULL;
	s->state = SESSION_CLOSING;
	/* The controller's library knows the file's name, and what this user and their environment know of events. */
	c->by_controller = s->stop_reply.conn && s->stop_reply.conn->uid == d->uid &&
			   !(s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE);
	etwd_job_start(d, &c->job);
}

void etwd_session_stop(struct etwd *d, struct session *s)
{
	etwd_drain_pass(d, POOL_PASS_FLUSH);
	s->state = SESSION_STOPPING;
	s->stop_deadline_ns = etwd_now_ns() + CONSUMER_PATIENCE_NS;
	s->stop_limit_ns = etwd_now_ns() + CONSUMER_MOST_NS;
	etwd_enable_remove_session(d, s);
	etwd_kernel_stop(d, s);
	etwd_drain_pass(d, POOL_PASS_FLUSH);
	etwd_images_stop(d, s);
	etwd_session_stop_step(d, s, etwd_now_ns());
}

void etwd_session_tick(struct etwd *d, uint64_t now_ns)
{
	if (d->session_count == 0) {
		return;
	}
	bool look = now_ns - d->session_tick_ns >= 100000000ull;
	if (look) {
		d->session_tick_ns = now_ns;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *s = d->session[i];
		if (!s) {
			continue;
		}
		if (s->state == SESSION_STOPPING) {
			etwd_session_stop_step(d, s, now_ns);
		} else if (s->state == SESSION_RUNNING && look) {
			etwd_info_tick(d, s, now_ns);
			if (etwd_limits_tick(d, s) || !s->path) {
				continue;
			}
			if (s->rotate_ns != 0 && now_ns >= s->rotate_next_ns) {
				s->rotate_next_ns = now_ns + s->rotate_ns;
				etwd_drain_pass(d, POOL_PASS_FLUSH);
				sink_rotate(s->sink);
			}
			sink_stats(s->sink, &s->stats);
			if (s->stats.file_full) {
				etwd_log_of(d, s->uid, "Session \"%s\" reached its maximum file size", s->label);
				etwd_session_stop(d, s);
			}
		}
	}
}

/* ---- update
 * -------------------------------------------------------------------------------------- */

static void set_real_time(struct etwd *d, struct session *s, bool on)
{
	if (on == ((s->props.mode & EVENT_TRACE_REAL_TIME_MODE) != 0)) {
		return;
	}
	if (on) {
		s->props.mode |= EVENT_TRACE_REAL_TIME_MODE;
		sink_set_tap(s->sink, true, etwd_realtime_deliver, s);
	} else {
		s->props.mode &= ~EVENT_TRACE_REAL_TIME_MODE;
		sink_tap_pump(s->sink);
		etwd_realtime_end(d, s);
		sink_set_tap(s->sink, false, NULL, NULL);
	}
}

static uint32_t switch_file(struct etwd *d, struct conn *c, struct session *s, const struct proto_session *p,
			    struct diag *diag, const char **ret_why)
{
	char *path = NULL;
	uint16_t *name = utf16_dup(p->log_file, p->log_file_len);
	if (!name) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	uint32_t code = etwd_session_path(d, c, p->log_file, p->log_file_len, s, &path, ret_why);
	if (code == 0 && s->path && strcmp(s->path, path) == 0) {
		*ret_why = "the session writes to this file already";
		code = ERROR_BAD_PATHNAME;
	}
	if (code == 0) {
		etwd_drain_pass(d, POOL_PASS_FLUSH);
		bool dump = (s->props.mode & EVENT_TRACE_BUFFERING_MODE) != 0;
		int r = dump ? etwd_session_copy(d, s, path, diag) : sink_set_file(s->sink, path, name, diag);
		code = r < 0 ? (r == -ENOENT ? ERROR_PATH_NOT_FOUND : win32_from_errno(r)) : 0;
		if (r == -EBUSY && diag->text[0]) {
			code = ERROR_BAD_PATHNAME; /* not the session is busy, but the file: somebody writes it */
		}
	}
	if (code != 0) {
		free(path);
		free(name);
		return code;
	}
	if (!(s->props.mode & EVENT_TRACE_BUFFERING_MODE)) {
		free(s->path);
		free(s->log_file);
		s->path = path;
		s->log_file = name;
	} else {
		free(path);
		free(name);
	}
	return 0;
}

uint32_t etwd_session_update(struct etwd *d, struct conn *c, struct session *s, const struct proto_session *p,
			     struct diag *diag, const char **ret_why)
{
	if (p->props.enable_flags != 0 && !s->kernel) {
		*ret_why = "only system loggers have enable flags";
		return ERROR_INVALID_PARAMETER;
	}
	uint32_t most = s->props.maximum_buffers, timer = s->props.flush_timer;
	uint64_t bytes = s->buffer_bytes;
	if (p->props.maximum_buffers != 0) {
		most = BASE_MAX(p->props.maximum_buffers, s->props.minimum_buffers);
		bytes = etwd_session_bytes(d, s, most);
		uint64_t more = bytes - BASE_MIN(bytes, s->buffer_bytes);
		if (more > 0 && !etwd_share_fits(d, s->uid, SHARE_BUFFER_BYTES, more)) {
			*ret_why = "the buffers of all sessions together would be too large";
			return ERROR_NO_SYSTEM_RESOURCES;
		}
	}
	timer = p->props.flush_timer ? etwd_session_timer(s, p->props.flush_timer) : timer;
	if ((p->update_mask & PROTO_UPDATE_FILE) && p->log_file && p->log_file_len > 0) {
		uint32_t code = switch_file(d, c, s, p, diag, ret_why);
		if (code != 0) {
			return code;
		}
	}
	if (most != s->props.maximum_buffers || timer != s->props.flush_timer) {
		sink_set_limits(s->sink, most, timer);
		s->props.maximum_buffers = most;
		s->props.flush_timer = timer;
		etwd_share_give(d, s->uid, SHARE_BUFFER_BYTES, s->buffer_bytes);
		etwd_share_add(d, s->uid, SHARE_BUFFER_BYTES, bytes);
		s->buffer_bytes = bytes;
	}
	if (p->update_mask & PROTO_UPDATE_MODE) {
		bool on = (p->props.mode & EVENT_TRACE_REAL_TIME_MODE) != 0;
		/* 0 turns the feed off; without a file there would be nothing left of the session.
		 */
		if ((on && !(s->props.mode & (EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_FILE_MODE_APPEND))) ||
		    (p->props.mode == 0 && s->path)) {
			set_real_time(d, s, on);
		}
	}
	if (p->latency_us != 0) {
		s->latency_us = p->latency_us;
	}
	return 0;
}
