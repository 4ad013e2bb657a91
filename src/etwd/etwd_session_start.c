/* SPDX-License-Identifier: MIT
 * START of a session. What may wait for a disk runs as a job; until it is back, the session's name, GUID
 * and file are taken but nothing can be enabled.
 */
#include "base/open_output.h"
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
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "session/session.h"
#include "session/session_modes.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>

#define SPOOL_BYTES (100ull << 20) /* as Windows, unless the session has a maximum size for it */

struct start_job {
	struct job job;
	struct session *session; /* ref */
	struct sink_options options;
	char spool[4400], keep[4400]; /* of the options */
	struct sink *sink;
	struct diag diag;
	int result;
};

static void start_run(struct job *j)
{
	struct start_job *s = (struct start_job *)j;
	if (s->options.spool_path) {
		char dir[sizeof s->spool];
		snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(s->spool, '/') - s->spool), s->spool);
		(void)session_make_dirs(dir); /* else the backlog stays in memory */
	}
	if (s->session->path) {
		etwd_embed_wait(true); /* it may be one that an earlier etwd left */
		etwd_embed_wait_for(s->session->path);
	}
	/* Nobody changes the session's strings while it is STARTING. */
	s->result = sink_create(&s->options, &s->sink, &s->diag);
}

void etwd_session_refuse(struct etwd *d, struct session *s, uint32_t code, const char *text)
{
	etwd_log_of(d, s->uid, "Session \"%s\" was refused: %s", s->label, text);
	if (s->sink) {
		/* Told when its name is free again: the next start may come at once. */
		s->refusal_code = code;
		s->refusal = strdup(text);
		/* Nothing is in its file that was not there before. */
		if (s->path && !(s->props.mode & (EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_NEWFILE))) {
			open_output_remove(s->path);
		}
		etwd_session_stop(d, s);
	} else {
		etwd_session_answer(d, s, &s->start_reply, code, text);
		etwd_session_forget(d, s);
	}
}

void etwd_session_running(struct etwd *d, struct session *s)
{
	s->state = SESSION_RUNNING;
	etwd_log_of(d, s->uid, "Started session \"%s\": id=%u, mode=%#x, buffers=%u-%u x %u KB, file=%s", s->label,
		    s->id, s->props.mode, s->props.minimum_buffers, s->props.maximum_buffers, s->props.buffer_kb,
		    s->path ? s->path : "none");
	/* Kernel events take seconds to begin. Who has gone meanwhile does not know of this session, and nobody
	 * would ever stop it. */
	bool gone = s->start_reply.type != 0 && !s->start_reply.conn;
	etwd_session_answer(d, s, &s->start_reply, 0, NULL);
	if (gone) {
		etwd_log_of(d, s->uid, "Session \"%s\": whoever started it has gone before it ran", s->label);
		etwd_session_stop(d, s);
	}
}

static void start_done(struct etwd *d, struct job *j)
{
	struct start_job *sj = (struct start_job *)j;
	struct session *s = sj->session;
	if (sj->result < 0) {
		char text[400];
		if (sj->diag.text[0]) {
			snprintf(text, sizeof text, "%s", sj->diag.text);
		} else {
			snprintf(text, sizeof text, "the session could not be created%s%s: %s",
				 s->path ? ", file " : "", s->path ? s->path : "", strerror(-sj->result));
		}
		etwd_session_refuse(d, s, etwd_session_code_of_create(sj->result), text);
	} else {
		s->sink = sj->sink;
		sink_stats(s->sink, &s->stats);
		if (s->stats.rt_found > 0 || s->stats.rt_events_lost > 0) {
			etwd_log_of(
				d, s->uid,
				"Session \"%s\": %llu events of an earlier etwd wait for a consumer, %llu were lost",
				s->label, (unsigned long long)s->stats.rt_found,
				(unsigned long long)s->stats.rt_events_lost);
		}
		if (s->props.mode & EVENT_TRACE_REAL_TIME_MODE) {
			sink_set_tap(s->sink, true, etwd_realtime_deliver, s);
		}
		if (!etwd_kernel_attach(d, s)) {
			etwd_session_running(d, s);
		}
	}
	etwd_session_unref(s);
}

static uint32_t check_unique(struct etwd *d, const struct session *s, const char **ret_why)
{
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *o = d->session[i];
		if (!o || (d->system && o->uid != s->uid)) {
			continue;
		}
		if (utf16_equal_nocase(o->name, s->name)) {
			*ret_why = "a session of this name is running";
			return ERROR_ALREADY_EXISTS;
		}
		if (!guid_is_zero(&s->props.guid) && guid_equal(&o->props.guid, &s->props.guid)) {
			*ret_why = "a session with this GUID is running";
			return ERROR_ALREADY_EXISTS;
		}
	}
	return 0;
}

/* Takes what the message says into a new session. Win32 code; *ret_why says more. */
static uint32_t session_read(struct etwd *d, struct conn *c, const struct proto_message *m,
			     const struct proto_session *p, struct session *s, const char **ret_why)
{
	uint32_t code = session_modes_check(&p->props, session_file_kind(p->log_file, p->log_file_len),
					    etwd_session_runner(c), ret_why);
	if (code != 0) {
		return code;
	}
	if (!p->name || p->name_len == 0 || p->name_len > ETWD_NAME_MAX) {
		*ret_why = "a session needs a name of at most 1024 characters";
		return ERROR_INVALID_PARAMETER;
	}
	s->name = utf16_dup(p->name, p->name_len);
	s->log_file = p->log_file ? utf16_dup(p->log_file, p->log_file_len) : NULL;
	if (!s->name || (p->log_file && !s->log_file)) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	if (utf16_to_utf8_lossy(s->name, p->name_len, s->label, sizeof s->label) >= (long)sizeof s->label) {
		memcpy(s->label + sizeof s->label - 4, "...", 4);
	}
	s->uid = c->uid;
	s->props = p->props;
	s->props.clock = s->props.clock ? s->props.clock : 1;
	if (s->props.clock == 3 && d->clock_kind != CLOCK_KIND_TSC) {
		s->props.clock = 2; /* as Windows does without a usable cycle counter */
	}
	code = etwd_kernel_read(d, c, m, p, s, ret_why);
	/* Before the file: whoever starts the same twice is to be told of the session, not of it. */
	code = code ? code : check_unique(d, s, ret_why);
	if (code == 0 && s->log_file) {
		code = etwd_session_path(d, c, s->log_file, p->log_file_len, NULL, &s->path, ret_why);
	}
	if (code != 0) {
		return code;
	}
	s->flags = p->flags;
	s->latency_us = p->latency_us;
	code = etwd_limits_set(s, p, ret_why);
	if (code != 0) {
		return code;
	}
	s->props.flush_timer = etwd_session_timer(s, s->props.flush_timer);
	struct sink_options o = {
		.name = s->name, .log_file = s->log_file, .props = s->props, .cpus = (uint16_t)d->cpus};
	if (sink_adjust(&o) < 0) {
		*ret_why = "the buffer sizes or counts are out of range";
		return ERROR_INVALID_PARAMETER;
	}
	s->props = o.props;
	return 0;
}

/* What no consumer takes waits in as much memory again, and once more on its way to the disk. */
uint64_t etwd_session_bytes(const struct etwd *d, const struct session *s, uint32_t buffers)
{
	uint64_t bytes = (uint64_t)s->props.buffer_kb * 1024 * buffers;
	return etwd_share_whole(d, s->uid) || !(s->props.mode & EVENT_TRACE_REAL_TIME_MODE) ? bytes : 3 * bytes;
}

static uint32_t take_place(struct etwd *d, struct session *s, const char **ret_why)
{
	uint64_t bytes = etwd_session_bytes(d, s, s->props.maximum_buffers);
	if (d->session_count >= ETWD_SESSIONS_MAX) {
		*ret_why = "all 1024 sessions are in use";
		return ERROR_NO_SYSTEM_RESOURCES;
	}
	/* Of the last ones none is for sessions: who stops one must be able to come in. */
	if (!etwd_fds_left(d, 3 * ETWD_FDS_RESERVE)) {
		*ret_why = "etwd has no file descriptors left for another session (see ulimit -n)";
		return ERROR_NO_SYSTEM_RESOURCES;
	}
	*ret_why = etwd_share_take(d, s->uid, SHARE_SESSIONS, 1);
	if (*ret_why) {
		return ERROR_NO_SYSTEM_RESOURCES;
	}
	*ret_why = etwd_share_take(d, s->uid, SHARE_BUFFER_BYTES, bytes);
	if (*ret_why) {
		etwd_share_give(d, s->uid, SHARE_SESSIONS, 1);
		return ERROR_NO_SYSTEM_RESOURCES;
	}
	/* Ids go round, so that a stale handle does not soon mean another session. */
	while (d->session[d->session_next]) {
		d->session_next = d->session_next % ETWD_SESSIONS_MAX + 1;
	}
	s->id = (uint16_t)d->session_next;
	d->session_next = d->session_next % ETWD_SESSIONS_MAX + 1;
	d->session[s->id] = s;
	d->session_count++;
	s->buffer_bytes = bytes;
	return 0;
}

static void choose_keep(const struct etwd *d, struct start_job *j, const char *dir)
{
	const uint16_t *wide = j->session->name;
	char name[3 * ETWD_NAME_MAX], conf[8000];
	long n = utf16_to_utf8(wide, utf16_len(wide), name, sizeof name - 1);
	if (n <= 0 || n >= (long)sizeof name || d->dir[0] == 0) {
		return;
	}
	name[n] = 0;
	/* As the file it comes from is called, so that no name leaves the directory. */
	if (session_path(SESSION_STATE, d->system, name, conf, sizeof conf) < 0) {
		return;
	}
	const char *base = strrchr(conf, '/') + 1;
	int length = (int)strlen(base) - 5; /* without .conf */
	if (length <= 0 || length > 200) {
		return; /* no file has such a name */
	}
	snprintf(j->spool, sizeof j->spool, "%s/realtime/" ETWD_KEEP_PREFIX "%.*s.etl", dir, length, base);
	snprintf(j->keep, sizeof j->keep, "%s/" ETWD_KEEP_PREFIX "%.*s", d->dir, length, base);
	j->options.keep_path = j->keep;
}

/* Where what no consumer takes may wait. Not having such a place is no reason to fail. */
static void choose_spool(struct etwd *d, const struct conn *c, struct start_job *j)
{
	const struct session *s = j->session;
	struct sink_options *o = &j->options;
	char dir[4000];
	if (etwd_share_spool(d, s->uid, &o->spool_quota) < 0 || !(s->props.mode & EVENT_TRACE_REAL_TIME_MODE) ||
	    (s->flags & PROTO_SESSION_NOT_PERSISTENT) || session_dir(SESSION_STATE, d->system, dir, sizeof dir) < 0) {
		return;
	}
	snprintf(j->spool, sizeof j->spool, "%s/realtime/" SINK_SPOOL_PREFIX "%d-%u.etl", dir, (int)getpid(), s->id);
	o->spool_path = j->spool;
	o->spool_bytes = SPOOL_BYTES;
	if (!s->path && s->props.maximum_file_size > 0) {
		o->spool_bytes = (uint64_t)s->props.maximum_file_size
				 << (s->props.mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE ? 10 : 20);
	}
	if (o->spool_quota) {
		o->spool_bytes = BASE_MIN(o->spool_bytes, o->spool_quota->limit_bytes);
	}
	/* An autologger comes back with the next etwd, which then goes on with what waited. */
	if (c->pid == getpid()) {
		choose_keep(d, j, dir);
	}
}

static void choose_options(struct etwd *d, const struct conn *c, struct start_job *j)
{
	struct session *s = j->session;
	j->options = (struct sink_options){
		.name = s->name,
		.log_file = s->log_file,
		.path = s->path,
		.props = s->props,
		.clock_freq = s->system_clock ? 1000000000 : d->clock_freq,
		.system_clock = s->system_clock,
		.logger_id = s->id,
		.cpus = (uint16_t)d->cpus,
		.sync_on_stop = true,
		.controller_pid = (uint32_t)c->pid,
		.controller_tid = (uint32_t)c->pid,
		.fair = true,
		.on_file = etwd_embed_on_file,
		.on_file_ctx = s,
	};
	choose_spool(d, c, j);
}

void etwd_session_start(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct proto_session p;
	const char *why = NULL;
	uint32_t code = 0;
	if (d->exiting) {
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, "etwd is leaving");
		return;
	}
	if (!proto_get_session(m, &p)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "START needs a session description");
		return;
	}
	if (etwd_private_start(d, c, m)) {
		return;
	}
	struct session *s = calloc(1, sizeof *s);
	struct start_job *sj = calloc(1, sizeof *sj);
	if (!s || !sj) {
		free(s);
		free(sj);
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
		return;
	}
	s->daemon = d;
	s->refs = 1;
	s->start_ns = etwd_now_ns();
	LIST_INIT(&s->enables);
	LIST_INIT(&s->consumers);
	code = session_read(d, c, m, &p, s, &why);
	if (code == 0 && !guid_is_zero(&s->props.guid) &&
	    !etwd_access_allows(d, &s->props.guid, c, etwd_session_rights(s->props.mode, s->path != NULL))) {
		code = ERROR_ACCESS_DENIED;
		why = "no right to start the session of this GUID";
	}
	if (code == 0 && guid_is_zero(&s->props.guid) && guid_random(&s->props.guid) < 0) {
		code = ERROR_NOT_ENOUGH_MEMORY;
	}
	code = code ? code : take_place(d, s, &why);
	if (code != 0) {
		etwd_reply_status(d, c, m, code, why);
		etwd_session_unref(s);
		free(sj);
		return;
	}
	s->fair.epoch = 1; /* nobody has written in it */
	s->fair.little = s->props.buffer_kb * 1024 / 2;
	s->state = SESSION_STARTING;
	etwd_reply_keep(c, m, &s->start_reply);
	etwd_session_ref(s);
	sj->job = (struct job){.run = start_run, .done = start_done};
	sj->session = s;
	choose_options(d, c, sj);
	if (!etwd_kernel_begin(d, s, &sj->job)) {
		etwd_job_start(d, &sj->job);
	}
}
