/* SPDX-License-Identifier: MIT
 * Trace sessions: start, query, update, flush. What may wait for a disk runs as a job; until it is
 * back, the session's name, GUID and file are taken but nothing can be enabled.
 */
#include "etwd/etwd.h"

#include <stdio.h>
#include <stdlib.h>

#include "etwd/etwd_modes.h"
#include "saved/saved.h"

#define SPOOL_BYTES (100ull << 20) /* as Windows, unless the session has a maximum size for it */

void etwd_session_ref(struct session *s)
{
	s->refs++;
}

void etwd_session_unref(struct session *s)
{
	if (--s->refs > 0) {
		return;
	}
	etwd_limits_clear(s);
	etwd_kernel_free(s);
	free(s->name);
	free(s->log_file);
	free(s->path);
	free(s->spool);
	free(s->keep);
	free(s->last_file);
	free(s->refusal);
	free(s->disallowed.at);
	free(s->capture.at);
	free(s);
}

bool etwd_session_allows(const struct etwd *d, const struct session *s, const struct process *p)
{
	return !d->system || s->uid == 0 || s->uid == d->uid || s->uid == p->uid;
}

void etwd_session_forget(struct etwd *d, struct session *s)
{
	etwd_reply_drop(&s->start_reply);
	etwd_reply_drop(&s->stop_reply);
	etwd_limits_clear(s);
	s->state = SESSION_DEAD;
	d->session[s->id] = NULL;
	d->session_count--;
	d->buffer_bytes -= s->buffer_bytes;
	d->session_end_ns = etwd_now_ns();
	etwd_session_unref(s);
}

/* ---- finding
 * ------------------------------------------------------------------------------------- */

/* What it takes to start, change or stop a session of that mode. */
static uint32_t rights_to_control(uint32_t mode, bool file)
{
	return (mode & MODE_REAL_TIME ? (uint32_t)ACCESS_CREATE_REALTIME : 0) |
	       (file ? (uint32_t)ACCESS_CREATE_ONDISK : 0);
}

static bool may_see(const struct etwd *d, const struct session *s, const struct conn *c)
{
	return c->uid == 0 || c->uid == s->uid || (!d->system && c->uid == d->uid);
}

static bool get_name(const struct proto_message *m, uint16_t out[ETWD_NAME_MAX + 1])
{
	const uint8_t *p;
	size_t n;
	if (!proto_get(m, PROTO_TAG_SESSION_NAME, &p, &n) || n == 0 || n % 2 != 0 ||
	    n / 2 > ETWD_NAME_MAX) {
		return false;
	}
	memcpy(out, p, n);
	out[n / 2] = 0;
	return utf16_len(out) == n / 2;
}

struct session *etwd_session_find(struct etwd *d, const struct proto_message *m, struct conn *c)
{
	uint64_t id = 0;
	uint16_t name[ETWD_NAME_MAX + 1];
	proto_get_u64(m, PROTO_TAG_SESSION_ID, &id);
	if (id != 0) {
		struct session *s = id <= ETWD_SESSIONS_MAX ? d->session[id] : NULL;
		return s && may_see(d, s, c) ? s : NULL;
	}
	if (!get_name(m, name)) {
		return NULL;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *s = d->session[i];
		if (s && may_see(d, s, c) && utf16_equal_nocase(s->name, name)) {
			return s;
		}
	}
	return NULL;
}

/* ---- describing
 * ---------------------------------------------------------------------------------- */

void etwd_session_describe(struct etwd *d, struct session *s, struct proto_session *ret)
{
	if (s->sink) {
		sink_stats(s->sink, &s->stats);
	}
	const struct sink_stats *st = &s->stats;
	*ret = (struct proto_session){
		.id = s->id,
		.guid = s->guid,
		.clock = s->clock == SESSION_CLOCK_SYSTEM ? 1 : s->clock,
		.buffer_size_kb = s->options.buffer_size_kb,
		.minimum_buffers = s->options.minimum_buffers,
		.maximum_buffers = s->options.maximum_buffers,
		.maximum_file_size = s->options.maximum_file_size,
		.log_file_mode = s->mode,
		.flush_timer = s->mode & MODE_MS_FLUSH_TIMER ? s->latency_us / 1000
							     : s->options.flush_timer,
		.enable_flags = s->kernel ? etwd_kernel_flags(s) : s->enable_flags,
		.flush_threshold = s->flush_threshold,
		.number_of_buffers = st->buffers,
		.free_buffers = st->free_buffers,
		.events_lost = (uint32_t)BASE_MIN(st->events_lost, (uint64_t)UINT32_MAX),
		.buffers_written = (uint32_t)st->buffers_written,
		.log_buffers_lost = (uint32_t)st->lost_disk_buffers,
		.real_time_buffers_lost =
			(uint32_t)(st->rt_buffers_lost + s->loss[PROTO_LOSS_RT_BUFFERS]),
		.owner_uid = s->uid,
		.flags = s->flags,
		.logger_thread_id = (uint64_t)st->file_thread_id,
		.start_filetime = st->start_filetime,
		.events = st->events,
		.bytes_written = st->bytes_written,
		.latency_us = s->latency_us,
		.expires_filetime = s->expires_filetime,
		.quota_bytes = s->quota_bytes,
		.owner_pid = s->owner_pid,
		.consumers = s->consumer_count,
		.name = s->name,
		.log_file = s->log_file,
		.name_len = (uint32_t)utf16_len(s->name),
		.log_file_len = s->log_file ? (uint32_t)utf16_len(s->log_file) : 0,
	};
	memcpy(ret->loss, s->loss, sizeof ret->loss);
	ret->loss[PROTO_LOSS_NO_BUFFER] += st->lost_no_buffer;
	ret->loss[PROTO_LOSS_TOO_BIG] += st->lost_too_big;
	ret->loss[PROTO_LOSS_DISK_EVENTS] += st->lost_disk_events;
	ret->loss[PROTO_LOSS_DISK_BUFFERS] += st->lost_disk_buffers;
	ret->loss[PROTO_LOSS_RT_BUFFERS] += st->rt_buffers_lost;
	ret->loss[PROTO_LOSS_RT_EVENTS] += st->rt_events_lost;
	ret->loss[PROTO_LOSS_OVERWRITTEN] += st->overwritten_events;
}

void etwd_session_reply(struct etwd *d, struct conn *c, const struct proto_message *m,
			struct session *s)
{
	struct proto_session desc;
	struct proto_writer w;
	etwd_session_describe(d, s, &desc);
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_session(&w, &desc);
	etwd_kernel_put(d, s, &w);
	etwd_conn_send(d, c, &w, NULL, 0);
}

/* Answers and forgets a kept reply; nothing happens when its connection is gone. */
void etwd_session_answer(struct etwd *d, struct session *s, struct reply_to *r, uint32_t code,
			 const char *text)
{
	struct conn *c = r->conn;
	struct proto_message m = {.type = r->type, .id = r->id};
	if (!c) {
		return;
	}
	etwd_reply_drop(r);
	if (code != 0) {
		etwd_reply_status(d, c, &m, code, text);
	} else {
		etwd_session_reply(d, c, &m, s);
	}
}

/* ---- start
 * --------------------------------------------------------------------------------------- */

struct start_job {
	struct job job;
	struct session *session; /* ref */
	struct sink *sink;
	struct diag diag;
	int result;
};

static void start_run(struct job *j)
{
	struct start_job *s = (struct start_job *)j;
	if (s->session->spool) {
		char dir[4200];
		snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(s->session->spool, '/') - s->session->spool),
			 s->session->spool);
		(void)saved_make_dirs(dir); /* else the backlog stays in memory */
	}
	if (s->session->path) {
		etwd_embed_wait(true); /* it may be one that an earlier etwd left */
		etwd_embed_wait_for(s->session->path);
	}
	/* Only this thread reads the options while the session is STARTING. */
	s->result = sink_create(&s->session->options, &s->sink, &s->diag);
}

static uint32_t code_of_create(int err)
{
	switch (-err) {
	case ENOENT:
	case ENOTDIR:
		return 3;
	case EISDIR:
	case ELOOP:
	case EBUSY: /* another session writes the file */
		return 161;
	case EEXIST:
		return 183;
	default:
		return win32_from_errno(err);
	}
}

void etwd_session_refuse(struct etwd *d, struct session *s, uint32_t code, const char *text)
{
	etwd_log(d, "Session \"%s\" was refused: %s", s->label, text);
	if (s->sink) {
		/* Told when its name is free again: the next start may come at once. */
		s->refusal_code = code;
		s->refusal = strdup(text);
		/* Nothing is in its file that was not there before. */
		if (s->path && !(s->mode & (MODE_APPEND | MODE_NEWFILE))) {
			unlink(s->path);
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
	etwd_log(d, "Started session \"%s\": id=%u, mode=%#x, buffers=%u-%u x %u KB, file=%s", s->label, s->id,
		 s->mode, s->options.minimum_buffers, s->options.maximum_buffers, s->options.buffer_size_kb,
		 s->path ? s->path : "none");
	etwd_session_answer(d, s, &s->start_reply, 0, NULL);
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
				 s->path ? ", file " : "", s->path ? s->path : "",
				 strerror(-sj->result));
		}
		etwd_session_refuse(d, s, code_of_create(sj->result), text);
	} else {
		s->sink = sj->sink;
		sink_stats(s->sink, &s->stats);
		if (s->stats.rt_found > 0 || s->stats.rt_events_lost > 0) {
			etwd_log(d, "Session \"%s\": %llu events of an earlier etwd wait for a consumer, %llu were lost",
				 s->label, (unsigned long long)s->stats.rt_found,
				 (unsigned long long)s->stats.rt_events_lost);
		}
		if (s->mode & MODE_REAL_TIME) {
			sink_set_tap(s->sink, true, etwd_realtime_deliver, s);
		}
		if (!etwd_kernel_attach(d, s)) {
			etwd_session_running(d, s);
		}
	}
	etwd_session_unref(s);
}

#define BUFFER_KB_MAX 16384u

static uint32_t check_mode(const struct proto_session *p, const char **ret_why)
{
	uint32_t m = p->log_file_mode;
	uint32_t order = m & (MODE_SEQUENTIAL | MODE_CIRCULAR | MODE_NEWFILE);
	bool sized = m & (MODE_CIRCULAR | MODE_NEWFILE | MODE_PREALLOCATE);
	bool files = m & (order | MODE_APPEND | MODE_PREALLOCATE);
	bool memory = m & (MODE_REAL_TIME | MODE_BUFFERING);
	*ret_why = NULL;
	if (order & (order - 1)) {
		*ret_why = "sequential, circular and new-file modes exclude each other";
	} else if ((m & MODE_APPEND) && (m & (MODE_CIRCULAR | MODE_NEWFILE | MODE_REAL_TIME))) {
		*ret_why = "append mode cannot be circular, new-file or real-time";
	} else if ((m & MODE_BUFFERING) && (files || (m & MODE_REAL_TIME))) {
		*ret_why = "buffering mode has neither a file mode nor real-time delivery";
	} else if (m & (MODE_PRIVATE_LOGGER | MODE_PRIVATE_IN_PROC)) {
		*ret_why = "a private session lives in its process, not in etwd";
	} else if ((m & MODE_GLOBAL_SEQUENCE) && (m & MODE_LOCAL_SEQUENCE)) {
		*ret_why = "global and local sequence numbers exclude each other";
	} else if ((m & MODE_COMPRESSED) && (m & (MODE_CIRCULAR | MODE_APPEND))) {
		*ret_why = "compressed mode cannot be circular or append: these need buffers of one size";
	} else if ((m & MODE_ZSTD) && !(m & MODE_COMPRESSED)) {
		*ret_why = "the Zstandard mode goes with the compressed mode only (0x40000000 with "
			   "0x4000000)";
	} else if ((m & MODE_ZSTD) && !etl_zstd_available()) {
		*ret_why = "libzstd.so.1 is not installed; compressed mode without 0x40000000 needs "
			   "nothing";
		return 50;
	} else if (sized && p->maximum_file_size == 0) {
		*ret_why = "this file mode needs a maximum file size";
	} else if (p->buffer_size_kb > BUFFER_KB_MAX) {
		/* Never fewer than asked for, so not silently the maximum. */
		*ret_why = "a buffer has at most 16384 KB";
	} else if (m & (MODE_RELOG | MODE_RESERVED)) {
		*ret_why = m & MODE_RELOG ? "the relog mode marks a file being rewritten, no session"
					  : "heap and critical-section tracing is not there";
		return 50;
	} else if (m & MODE_UNKNOWN) {
		*ret_why = "the log file mode has bits without a documented meaning (of 0x202C0000)";
	} else if (p->clock > 3) {
		*ret_why = "the clock must be 1, 2 or 3";
	}
	if (*ret_why) {
		return 87;
	}
	if (!p->log_file && (files || !memory)) {
		*ret_why = "this mode needs a log file name";
		return 161;
	}
	return 0;
}

static bool has_counter(const uint16_t *s)
{
	for (; *s; s++) {
		if (s[0] == '%' && s[1] == 'd') {
			return true;
		}
	}
	return false;
}

/* Seconds for the sink. With USE_MS_FLUSH_TIMER the value is milliseconds and also how long a
 * consumer is willing to wait. */
uint32_t etwd_session_timer(struct session *s, uint32_t timer)
{
	if (!(s->mode & MODE_MS_FLUSH_TIMER) || timer == 0) {
		return timer;
	}
	s->latency_us = BASE_MIN(timer, 3600000u) * 1000;
	return timer / 1000 + (timer % 1000 != 0);
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
			return 183;
		}
		if (!guid_is_zero(&s->guid) && guid_equal(&o->guid, &s->guid)) {
			*ret_why = "a session with this GUID is running";
			return 183;
		}
	}
	return 0;
}

/* Takes what the message says into a new session. Win32 code; *ret_why says more. */
static uint32_t session_read(struct etwd *d, struct conn *c, const struct proto_message *m,
			     const struct proto_session *p, struct session *s, const char **ret_why)
{
	uint32_t code = check_mode(p, ret_why);
	/* The autologgers' connections come from this process, see etwd_autolog.c. */
	if (code == 0 && (p->log_file_mode & MODE_NONSTOPPABLE) && c->pid != getpid()) {
		*ret_why = "only an autologger can be non-stoppable";
		code = 87;
	}
	if (code != 0) {
		return code;
	}
	if (!p->name || p->name_len == 0 || p->name_len > ETWD_NAME_MAX) {
		*ret_why = "a session needs a name of at most 1024 characters";
		return 87;
	}
	s->name = utf16_dup(p->name, p->name_len);
	s->log_file = p->log_file ? utf16_dup(p->log_file, p->log_file_len) : NULL;
	if (!s->name || (p->log_file && !s->log_file)) {
		return 8;
	}
	if (utf16_to_utf8_lossy(s->name, p->name_len, s->label, sizeof s->label) >=
	    (long)sizeof s->label) {
		memcpy(s->label + sizeof s->label - 4, "...", 4);
	}
	if ((p->log_file_mode & MODE_NEWFILE) && !has_counter(s->log_file)) {
		*ret_why = "the name of a new-file session must hold %d";
		return 87;
	}
	s->uid = c->uid;
	s->guid = p->guid;
	s->mode = p->log_file_mode;
	s->clock = p->clock ? p->clock : 1;
	if (s->clock == 3 && d->clock_kind != CLOCK_KIND_TSC) {
		s->clock = 2; /* as Windows does without a usable cycle counter */
	}
	code = etwd_kernel_read(d, c, m, p, s, ret_why);
	/* Before the file: whoever starts the same twice is to be told of the session, not of it. */
	code = code ? code : check_unique(d, s, ret_why);
	if (code == 0 && s->log_file) {
		code = etwd_session_path(d, c, s->log_file, p->log_file_len, NULL, &s->path,
					 ret_why);
	}
	if (code != 0) {
		return code;
	}
	s->flags = p->flags;
	s->latency_us = p->latency_us;
	s->flush_threshold = p->flush_threshold;
	s->enable_flags = p->enable_flags;
	code = etwd_limits_set(s, p, ret_why);
	if (code != 0) {
		return code;
	}
	s->options = (struct sink_options){
		.name = s->name,
		.log_file = s->log_file,
		.path = s->path,
		.log_file_mode = s->mode,
		.buffer_size_kb = p->buffer_size_kb,
		.minimum_buffers = p->minimum_buffers,
		.maximum_buffers = p->maximum_buffers,
		.maximum_file_size = p->maximum_file_size,
		.flush_timer = etwd_session_timer(s, p->flush_timer),
		.clock = s->clock == SESSION_CLOCK_SYSTEM ? 1 : s->clock,
		.clock_freq = s->clock == SESSION_CLOCK_SYSTEM ? 1000000000 : d->clock_freq,
		.system_clock = s->clock == SESSION_CLOCK_SYSTEM,
		.cpus = (uint16_t)d->cpus,
		.sync_on_stop = true,
		.controller_pid = (uint32_t)c->pid,
		.controller_tid = (uint32_t)c->pid,
		.on_file = etwd_embed_on_file,
		.on_file_ctx = s,
	};
	if (sink_adjust(&s->options) < 0) {
		*ret_why = "the buffer sizes or counts are out of range";
		return 87;
	}
	return 0;
}

/* UTF-16 to a path that etwd may open for this connection and no session uses. */
uint32_t etwd_session_path(struct etwd *d, struct conn *c, const uint16_t *name, size_t units,
			   const struct session *except, char **ret, const char **ret_why)
{
	char path[4096];
	long n = utf16_to_utf8(name, units, path, sizeof path);
	if (n < 0 || (size_t)n >= sizeof path || path[0] != '/') {
		*ret_why = "the log file must be an absolute path";
		return 161;
	}
	/* etwd opens files with its own rights, so only for those who have them anyway. */
	if (c->uid != 0 && c->uid != d->uid) {
		*ret_why = "this etwd writes files only for its owner; use a real-time session";
		return 5;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *o = d->session[i];
		if (o && o != except && o->path && strcmp(o->path, path) == 0) {
			*ret_why = "another session writes to this file";
			return 161;
		}
	}
	*ret = strdup(path);
	return *ret ? 0 : 8;
}

static uint32_t take_place(struct etwd *d, struct session *s, const char **ret_why)
{
	uint64_t bytes = (uint64_t)s->options.buffer_size_kb * 1024 * s->options.maximum_buffers;
	uint64_t limit = d->system ? ETWD_BUFFER_BYTES_SYSTEM : ETWD_BUFFER_BYTES_USER;
	if (d->session_count >= ETWD_SESSIONS_MAX) {
		*ret_why = "all 1024 sessions are in use";
		return 1450;
	}
	/* Of the last ones none is for sessions: who stops one must be able to come in. */
	if (!etwd_fds_left(d, 3 * ETWD_FDS_RESERVE)) {
		*ret_why = "etwd has no file descriptors left for another session (see ulimit -n)";
		return 1450;
	}
	if (bytes > limit - d->buffer_bytes) {
		*ret_why = "the buffers of all sessions together would be too large";
		return 1450;
	}
	*ret_why = etwd_share_session(d, s, bytes);
	if (*ret_why) {
		return 1450;
	}
	/* Ids go round, so that a stale handle does not soon mean another session. */
	while (d->session[d->session_next]) {
		d->session_next = d->session_next % ETWD_SESSIONS_MAX + 1;
	}
	s->id = (uint16_t)d->session_next;
	s->options.logger_id = s->id;
	d->session_next = d->session_next % ETWD_SESSIONS_MAX + 1;
	d->session[s->id] = s;
	d->session_count++;
	s->buffer_bytes = bytes;
	d->buffer_bytes += bytes;
	return 0;
}

static void choose_keep(const struct etwd *d, struct session *s, const char *dir)
{
	char name[3 * ETWD_NAME_MAX], conf[8000], spool[4400], keep[4400];
	long n = utf16_to_utf8(s->name, utf16_len(s->name), name, sizeof name - 1);
	if (n <= 0 || n >= (long)sizeof name || d->dir[0] == 0) {
		return;
	}
	name[n] = 0;
	/* As the file it comes from is called, so that no name leaves the directory. */
	if (saved_path(SAVED_STATE, d->system, name, conf, sizeof conf) < 0) {
		return;
	}
	const char *base = strrchr(conf, '/') + 1;
	int length = (int)strlen(base) - 5; /* without .conf */
	if (length <= 0 || length > 200) {
		return; /* no file has such a name */
	}
	snprintf(spool, sizeof spool, "%s/realtime/" ETWD_KEEP_PREFIX "%.*s.etl", dir, length, base);
	snprintf(keep, sizeof keep, "%s/" ETWD_KEEP_PREFIX "%.*s", d->dir, length, base);
	char *a = strdup(spool), *b = strdup(keep);
	if (!a || !b) {
		free(a);
		free(b);
		return;
	}
	free(s->spool);
	s->spool = a;
	s->keep = b;
	s->options.spool_path = s->spool;
	s->options.keep_path = s->keep;
}

/* Where what no consumer takes may wait. Not having such a place is no reason to fail. */
static void choose_spool(const struct etwd *d, const struct conn *c, struct session *s)
{
	char dir[4000], path[4200];
	if (!(s->mode & MODE_REAL_TIME) || (s->flags & PROTO_SESSION_NOT_PERSISTENT) ||
	    saved_dir(SAVED_STATE, d->system, dir, sizeof dir) < 0) {
		return;
	}
	snprintf(path, sizeof path, "%s/realtime/" SINK_SPOOL_PREFIX "%d-%u.etl", dir, (int)getpid(),
		 s->id);
	s->spool = strdup(path);
	s->options.spool_path = s->spool;
	s->options.spool_bytes = SPOOL_BYTES;
	if (!s->path && s->options.maximum_file_size > 0) {
		s->options.spool_bytes = (uint64_t)s->options.maximum_file_size
					 << (s->mode & MODE_USE_KBYTES ? 10 : 20);
	}
	/* An autologger comes back with the next etwd, which then goes on with what waited. */
	if (c->pid == getpid()) {
		choose_keep(d, s, dir);
	}
}

void etwd_session_start(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	struct proto_session p;
	const char *why = NULL;
	uint32_t code = 0;
	if (d->exiting) {
		etwd_reply_status(d, c, m, 1450, "etwd is leaving");
		return;
	}
	if (!proto_get_session(m, &p)) {
		etwd_reply_status(d, c, m, 87, "START needs a session description");
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
		etwd_reply_status(d, c, m, 8, NULL);
		return;
	}
	s->daemon = d;
	s->refs = 1;
	s->start_ns = etwd_now_ns();
	LIST_INIT(&s->enables);
	LIST_INIT(&s->consumers);
	code = session_read(d, c, m, &p, s, &why);
	if (code == 0 && !guid_is_zero(&s->guid) &&
	    !etwd_access_allows(d, &s->guid, c, rights_to_control(s->mode, s->path != NULL))) {
		code = 5;
		why = "no right to start the session of this GUID";
	}
	if (code == 0 && guid_is_zero(&s->guid) && guid_random(&s->guid) < 0) {
		code = 8;
	}
	code = code ? code : take_place(d, s, &why);
	if (code != 0) {
		etwd_reply_status(d, c, m, code, why);
		etwd_session_unref(s);
		free(sj);
		return;
	}
	choose_spool(d, c, s);
	s->state = SESSION_STARTING;
	etwd_reply_keep(c, m, &s->start_reply);
	etwd_session_ref(s);
	*sj = (struct start_job){.job = {.run = start_run, .done = start_done}, .session = s};
	if (!etwd_kernel_begin(d, s, &sj->job)) {
		etwd_job_start(d, &sj->job);
	}
}

/* ---- list
 * ---------------------------------------------------------------------------------------- */

void etwd_session_list(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t count = 0, kind = 0;
	struct proto_writer w;
	if (proto_get_u32(m, PROTO_TAG_CODE, &kind) && kind == PROTO_LIST_PRIVATE) {
		etwd_private_list(d, c, m);
		return;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *s = d->session[i];
		count += s && s->state != SESSION_STARTING && may_see(d, s, c);
	}
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_COUNT, count);
	etwd_conn_send(d, c, &w, NULL, 0);
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX && !c->closing; i++) {
		struct session *s = d->session[i];
		if (s && s->state != SESSION_STARTING && may_see(d, s, c)) {
			struct proto_session desc;
			etwd_session_describe(d, s, &desc);
			proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_LIST_ITEM, m->id);
			proto_put_session(&w, &desc);
			etwd_kernel_put(d, s, &w);
			etwd_conn_send(d, c, &w, NULL, 0);
		}
	}
}

/* ---- control
 * ------------------------------------------------------------------------------------- */

struct flush_job {
	struct job job;
	struct session *session; /* ref; its sink stays while session->jobs > 0 */
	struct sink *sink;
	struct reply_to reply;
	int result;
	bool snapshot;
};

static void flush_run(struct job *j)
{
	struct flush_job *f = (struct flush_job *)j;
	/* Waiting touches only what the sink guards by its lock. */
	f->result = sink_drain_wait(f->sink, 10000);
	if (f->snapshot) {
		etwd_embed_wait(false); /* a file that is complete */
	}
}

static void flush_done(struct etwd *d, struct job *j)
{
	struct flush_job *f = (struct flush_job *)j;
	struct session *s = f->session;
	s->jobs--;
	etwd_session_answer(d, s, &f->reply, f->result == -ETIMEDOUT ? 1460 : 0,
			    "the disk has not taken all buffers yet");
	etwd_session_unref(s);
}

/* Answers when the disk has it: what the controller does next finds a file that is complete, and a sink
 * that takes the next change. False: no memory. */
static bool answer_after_disk(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s)
{
	struct flush_job *f = calloc(1, sizeof *f);
	if (!f) {
		return false;
	}
	*f = (struct flush_job){
		.job = {.run = flush_run, .done = flush_done}, .session = s, .sink = s->sink,
		.snapshot = (s->mode & MODE_BUFFERING) != 0};
	etwd_session_ref(s);
	s->jobs++;
	etwd_reply_keep(c, m, &f->reply);
	etwd_job_start(d, &f->job);
	return true;
}

static void control_flush(struct etwd *d, struct conn *c, const struct proto_message *m,
			  struct session *s)
{
	struct proto_session p = {0};
	struct diag diag = {0};
	char *path = NULL;
	const char *why = NULL;
	uint32_t code = 0;
	proto_get_session(m, &p);
	if (d->jobs_running >= ETWD_JOBS_MAX) {
		etwd_reply_status(d, c, m, 1450, "too many requests wait for a disk");
		return;
	}
	if (p.log_file && p.log_file_len > 0 && (s->mode & MODE_BUFFERING)) {
		code = etwd_session_path(d, c, p.log_file, p.log_file_len, s, &path, &why);
	} else if ((s->mode & MODE_BUFFERING) && !s->path) {
		code = 161;
		why = "a buffering session is flushed to a file: name one";
	}
	if (code == 0) {
		etwd_drain_pass(d, POOL_PASS_FLUSH);
		int r = sink_flush(s->sink, path, &diag);
		if (r < 0) {
			code = code_of_create(r);
			why = diag.text[0] ? diag.text : NULL;
		}
	}
	free(path);
	code = code == 0 && !answer_after_disk(d, c, m, s) ? 8 : code;
	if (code != 0) {
		etwd_reply_status(d, c, m, code, why);
	}
}

/* The file this request is going to open on the loop, if any. */
static bool opens_file(const struct proto_message *m, const struct session *s, uint32_t control,
		       char *path, size_t cap)
{
	struct proto_session p = {0};
	bool may = control == 4 || (control == 3 && (s->mode & MODE_BUFFERING)) || control == 2;
	if (!may || (control != 4 && !proto_get_session(m, &p))) {
		return false;
	}
	if (p.log_file && p.log_file_len > 0) {
		long n = utf16_to_utf8(p.log_file, p.log_file_len, path, cap);
		return n >= 0 && (size_t)n < cap;
	}
	size_t n = s->path && control != 2 ? strlen(s->path) + 1 : cap + 1;
	if (n > cap) {
		return false;
	}
	memcpy(path, s->path, n);
	return true;
}

static void session_control(struct etwd *d, struct conn *c, const struct proto_message *m,
			    bool reached);

void etwd_session_control(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	session_control(d, c, m, false);
}

void etwd_session_control_reached(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	session_control(d, c, m, true);
}

static void session_control(struct etwd *d, struct conn *c, const struct proto_message *m,
			    bool reached)
{
	uint32_t control;
	struct diag diag = {0};
	const char *why = NULL;
	uint32_t code = 0;
	bool opened = false; /* a file */
	if (!proto_get_u32(m, PROTO_TAG_CONTROL_CODE, &control) ||
	    control > PROTO_CONTROL_ROTATION) {
		etwd_reply_status(d, c, m, 87, "unknown control code");
		return;
	}
	struct session *s = etwd_session_find(d, m, c);
	if (!s && etwd_private_control(d, c, m)) {
		return;
	}
	if (!s || s->state == SESSION_STARTING) {
		etwd_reply_status(d, c, m, 4201, "no such trace session is running");
		return;
	}
	if (!etwd_access_allows(d, &s->guid, c,
				control == 0 ? (uint32_t)ACCESS_QUERY
					     : rights_to_control(s->mode, s->path != NULL))) {
		etwd_reply_status(d, c, m, 5, "no right to query or control this session");
		return;
	}
	if (s->state != SESSION_RUNNING && control != 0) {
		/* Without a file nothing is left to wait for: its consumer has been told that it ended,
		 * and a consumer that then stops it by name, as many do, finds none on Windows. */
		etwd_reply_status(d, c, m, control == 1 && s->path ? 2402 : 4201,
				  "the session is being stopped");
		return;
	}
	char path[4096];
	if (!reached && opens_file(m, s, control, path, sizeof path) &&
	    etwd_reach_first(d, c, m, path)) {
		return;
	}
	switch (control) {
	case 0:
		break;
	case 1:
		if (s->mode & MODE_NONSTOPPABLE) {
			code = 5;
			why = "this autologger is non-stoppable: it ends with etwd";
			break;
		}
		etwd_reply_keep(c, m, &s->stop_reply);
		etwd_session_stop(d, s);
		return;
	case 2: {
		struct proto_session p;
		if (!proto_get_session(m, &p)) {
			code = 87;
		} else {
			code = etwd_session_update(d, c, s, &p, &diag, &why);
		}
		if (code == 0 && etwd_kernel_update(d, c, m, s, &p, &code, &why)) {
			return;
		}
		opened = code == 0 && (p.update_mask & PROTO_UPDATE_FILE) && p.log_file;
		break;
	}
	case 3:
		control_flush(d, c, m, s);
		return;
	case PROTO_CONTROL_LIMITS: {
		struct proto_session p;
		code = proto_get_session(m, &p) ? etwd_limits_set(s, &p, &why) : 87;
		break;
	}
	case PROTO_CONTROL_ROTATION: {
		uint32_t ms = 0, keep = 0;
		proto_get_u32(m, PROTO_TAG_TIMEOUT_MS, &ms);
		proto_get_u32(m, PROTO_TAG_COUNT, &keep);
		if (!(s->mode & MODE_NEWFILE)) {
			code = 87;
			why = "only a new-file session has a next file";
			break;
		}
		s->rotate_ns = ms * 1000000ull;
		s->rotate_next_ns = etwd_now_ns() + s->rotate_ns;
		sink_keep_files(s->sink, keep);
		break;
	}
	case 5:
		code = 50;
		why = "a session is not converted; UPDATE with the real-time mode adds the feed";
		break;
	default:
		if (!(s->mode & MODE_NEWFILE)) {
			code = 87;
			why = "only a new-file session has a next file";
		} else {
			int r = sink_next_file(s->sink, &diag);
			code = r < 0 ? code_of_create(r) : 0;
			opened = code == 0;
		}
	}
	if (code != 0) {
		etwd_reply_status(d, c, m, code, why ? why : diag.text[0] ? diag.text : NULL);
		return;
	}
	if (opened && d->jobs_running < ETWD_JOBS_MAX && answer_after_disk(d, c, m, s)) {
		return;
	}
	etwd_session_reply(d, c, m, s);
}
