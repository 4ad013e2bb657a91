/* SPDX-License-Identifier: MIT
 * Trace sessions: their life, finding and describing them.
 */
#include "etw/values/access_rights.h"
#include "etw/values/errors.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdlib.h>

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
	etwd_images_forget(s->daemon, s);
	free(s->name);
	free(s->log_file);
	free(s->path);
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
	etwd_share_give(d, s->uid, SHARE_BUFFER_BYTES, s->buffer_bytes);
	etwd_share_give(d, s->uid, SHARE_SESSIONS, 1);
	d->session_end_ns = etwd_now_ns();
	etwd_session_unref(s);
}

enum session_runner etwd_session_runner(const struct conn *c)
{
	return c->pid == getpid() ? SESSION_RUNNER_AUTOLOGGER : SESSION_RUNNER_ETWD;
}

uint32_t etwd_session_rights(uint32_t mode, bool file)
{
	return (mode & EVENT_TRACE_REAL_TIME_MODE ? (uint32_t)TRACELOG_CREATE_REALTIME : 0) |
	       (file ? (uint32_t)TRACELOG_CREATE_ONDISK : 0);
}

bool etwd_session_may_see(const struct etwd *d, const struct session *s, const struct conn *c)
{
	return c->uid == 0 || c->uid == s->uid || (!d->system && c->uid == d->uid);
}

static bool get_name(const struct proto_message *m, uint16_t out[ETWD_NAME_MAX + 1])
{
	const uint8_t *p;
	size_t n;
	if (!proto_get(m, PROTO_TAG_SESSION_NAME, &p, &n) || n == 0 || n % 2 != 0 || n / 2 > ETWD_NAME_MAX) {
		return false;
	}
	memcpy(out, p, n);
	out[n / 2] = 0;
	return utf16_len(out) == n / 2;
}

/* Root may have given somebody rights on this very session. */
static bool may_reach(struct etwd *d, const struct session *s, const struct conn *c, uint32_t rights)
{
	if (rights == ETWD_RIGHTS_TO_CONTROL) {
		rights = etwd_session_rights(s->props.mode, s->path != NULL);
	}
	return etwd_session_may_see(d, s, c) || etwd_access_grants(d, &s->props.guid, c, rights);
}

struct session *etwd_session_find(struct etwd *d, const struct proto_message *m, struct conn *c, uint32_t rights)
{
	uint64_t id = 0;
	uint16_t name[ETWD_NAME_MAX + 1];
	struct session *others = NULL;
	proto_get_u64(m, PROTO_TAG_SESSION_ID, &id);
	if (id != 0) {
		struct session *s = id <= ETWD_SESSIONS_MAX ? d->session[id] : NULL;
		return s && may_reach(d, s, c, rights) ? s : NULL;
	}
	if (!get_name(m, name)) {
		return NULL;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *s = d->session[i];
		if (s && may_reach(d, s, c, rights) && utf16_equal_nocase(s->name, name)) {
			if (etwd_session_may_see(d, s, c)) {
				return s; /* the user's own before others of that name */
			}
			others = others ? others : s;
		}
	}
	return others;
}

void etwd_session_describe(struct etwd *d, struct session *s, struct proto_session *ret)
{
	if (s->sink) {
		sink_stats(s->sink, &s->stats);
	}
	const struct sink_stats *st = &s->stats;
	*ret = (struct proto_session){
		.id = s->id,
		.props = s->props,
		.number_of_buffers = st->buffers,
		.free_buffers = st->free_buffers,
		.events_lost = (uint32_t)BASE_MIN(st->events_lost, (uint64_t)UINT32_MAX),
		.buffers_written = (uint32_t)st->buffers_written,
		.log_buffers_lost = (uint32_t)(st->lost_disk_buffers + st->gone_buffers),
		.real_time_buffers_lost = (uint32_t)(st->rt_buffers_lost + s->loss[PROTO_LOSS_RT_BUFFERS]),
		.owner_uid = s->uid,
		.flags = s->flags,
		.logger_thread_id = (uint64_t)st->file_thread_id,
		.start_filetime = st->start_filetime,
		.events = st->events - BASE_MIN(s->images_records, st->events),
		.bytes_written = st->bytes_written,
		.latency_us = s->latency_us,
		.expires_filetime = s->expires_filetime,
		.quota_bytes = s->quota_bytes,
		.owner_pid = s->owner_pid,
		.consumers = s->consumer_count,
		.file_fate = (uint32_t)st->file_fate,
		.file_fate_filetime = st->file_fate_filetime,
		.name = s->name,
		.log_file = s->log_file,
		.name_len = (uint32_t)utf16_len(s->name),
		.log_file_len = s->log_file ? (uint32_t)utf16_len(s->log_file) : 0,
	};
	if (s->props.mode & EVENT_TRACE_USE_MS_FLUSH_TIMER) {
		ret->props.flush_timer = s->latency_us / 1000;
	}
	if (s->kernel) {
		ret->props.enable_flags = etwd_kernel_flags(s);
	}
	memcpy(ret->loss, s->loss, sizeof ret->loss);
	ret->loss[PROTO_LOSS_NO_BUFFER] += st->lost_no_buffer;
	ret->loss[PROTO_LOSS_TOO_BIG] += st->lost_too_big;
	ret->loss[PROTO_LOSS_DISK_EVENTS] += st->lost_disk_events;
	ret->loss[PROTO_LOSS_DISK_BUFFERS] += st->lost_disk_buffers;
	ret->loss[PROTO_LOSS_GONE_EVENTS] += st->gone_events;
	ret->loss[PROTO_LOSS_GONE_BUFFERS] += st->gone_buffers;
	ret->loss[PROTO_LOSS_RT_BUFFERS] += st->rt_buffers_lost;
	ret->loss[PROTO_LOSS_RT_EVENTS] += st->rt_events_lost;
	ret->loss[PROTO_LOSS_RT_REFUSED] += st->rt_events_refused;
	ret->loss[PROTO_LOSS_OVERWRITTEN] += st->overwritten_events;
}

void etwd_session_reply(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s)
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
void etwd_session_answer(struct etwd *d, struct session *s, struct reply_to *r, uint32_t code, const char *text)
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

uint32_t etwd_session_code_of_create(int err)
{
	switch (-err) {
	case ENOENT:
	case ENOTDIR: return ERROR_PATH_NOT_FOUND;
	case EISDIR:
	case ELOOP:
	case EBUSY: /* another session writes the file */ return ERROR_BAD_PATHNAME;
	case EEXIST: return ERROR_ALREADY_EXISTS;
	default: return win32_from_errno(err);
	}
}

/* UTF-16 to a path that etwd may open for this connection and no session uses. */
uint32_t etwd_session_path(struct etwd *d, struct conn *c, const uint16_t *name, size_t units,
			   const struct session *except, char **ret, const char **ret_why)
{
	char path[4096];
	long n = utf16_to_utf8(name, units, path, sizeof path);
	if (n < 0 || (size_t)n >= sizeof path || path[0] != '/') {
		*ret_why = "the log file must be an absolute path";
		return ERROR_BAD_PATHNAME;
	}
	/* etwd opens files with its own rights, so only for those who have them anyway. */
	if (c->uid != 0 && c->uid != d->uid) {
		*ret_why = "this etwd writes files only for its owner; use a real-time session";
		return ERROR_ACCESS_DENIED;
	}
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *o = d->session[i];
		if (o && o != except && o->path && strcmp(o->path, path) == 0) {
			*ret_why = "another session writes to this file";
			return ERROR_BAD_PATHNAME;
		}
	}
	*ret = strdup(path);
	return *ret ? 0 : ERROR_NOT_ENOUGH_MEMORY;
}

/* Seconds for the sink. With USE_MS_FLUSH_TIMER the value is milliseconds and also how long a
 * consumer is willing to wait. */
uint32_t etwd_session_timer(struct session *s, uint32_t timer)
{
	if (!(s->props.mode & EVENT_TRACE_USE_MS_FLUSH_TIMER) || timer == 0) {
		return timer;
	}
	s->latency_us = BASE_MIN(timer, 3600000u) * 1000;
	return timer / 1000 + (timer % 1000 != 0);
}

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
		count += s && s->state != SESSION_STARTING && may_reach(d, s, c, WMIGUID_QUERY);
	}
	etwd_reply_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, 0);
	proto_put_u32(&w, PROTO_TAG_COUNT, count);
	etwd_conn_send(d, c, &w, NULL, 0);
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX && !c->closing; i++) {
		struct session *s = d->session[i];
		if (s && s->state != SESSION_STARTING && may_reach(d, s, c, WMIGUID_QUERY)) {
			struct proto_session desc;
			etwd_session_describe(d, s, &desc);
			proto_begin(&w, d->send_buf, PROTO_MESSAGE_MAX, PROTO_LIST_ITEM, m->id);
			proto_put_session(&w, &desc);
			etwd_kernel_put(d, s, &w);
			etwd_conn_send(d, c, &w, NULL, 0);
		}
	}
}
