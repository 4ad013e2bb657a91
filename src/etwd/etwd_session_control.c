/* SPDX-License-Identifier: MIT
 * CONTROL of a session: query, stop, update, flush, the next file, limits. What waits for a disk runs as
 * a job.
 */
#include "etw/values/access_rights.h"
#include "etw/values/errors.h"
#include "etw/values/session_control.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdlib.h>

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
	etwd_share_give(d, s->uid, SHARE_JOBS, 1);
	etwd_session_answer(d, s, &f->reply, f->result == -ETIMEDOUT ? ERROR_TIMEOUT : 0,
			    "the disk has not taken all buffers yet");
	etwd_session_unref(s);
}

/* Answers when the disk has it: what the controller does next finds a file that is complete, and a sink
 * that takes the next change. False: no memory. */
bool etwd_session_answer_after_disk(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s)
{
	struct flush_job *f = calloc(1, sizeof *f);
	if (!f) {
		return false;
	}
	*f = (struct flush_job){.job = {.run = flush_run, .done = flush_done},
				.session = s,
				.sink = s->sink,
				.snapshot = (s->props.mode & EVENT_TRACE_BUFFERING_MODE) != 0};
	etwd_session_ref(s);
	s->jobs++;
	etwd_share_add(d, s->uid, SHARE_JOBS, 1);
	etwd_reply_keep(c, m, &f->reply);
	etwd_job_start(d, &f->job);
	return true;
}

static void control_flush(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s)
{
	struct proto_session p = {0};
	struct diag diag = {0};
	char *path = NULL;
	const char *why = NULL;
	uint32_t code = 0;
	proto_get_session(m, &p);
	if (d->jobs_running >= ETWD_JOBS_MAX || !etwd_share_fits(d, s->uid, SHARE_JOBS, 1)) {
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, "too many requests wait for a disk");
		return;
	}
	if (p.log_file && p.log_file_len > 0 && (s->props.mode & EVENT_TRACE_BUFFERING_MODE)) {
		code = etwd_session_path(d, c, p.log_file, p.log_file_len, s, &path, &why);
	} else if ((s->props.mode & EVENT_TRACE_BUFFERING_MODE) && !s->path) {
		code = ERROR_BAD_PATHNAME;
		why = "a buffering session is flushed to a file: name one";
	}
	bool explain = code == 0 && etwd_kernel_explains(d, s);
	if (code == 0) {
		etwd_drain_pass(d, POOL_PASS_FLUSH);
		int r = etwd_session_copy(d, s, path, &diag);
		if (r < 0) {
			code = etwd_session_code_of_create(r);
			why = diag.text[0] ? diag.text : NULL;
		}
	}
	free(path);
	if (code == 0 && explain) {
		etwd_kernel_explain(d, c, m, s); /* which answers */
		return;
	}
	code = code == 0 && !etwd_session_answer_after_disk(d, c, m, s) ? ERROR_NOT_ENOUGH_MEMORY : code;
	if (code != 0) {
		etwd_reply_status(d, c, m, code, why);
	}
}

int etwd_session_copy(struct etwd *d, struct session *s, const char *path, struct diag *diag)
{
	bool images = etwd_images_explain(s), kernel = etwd_kernel_explains(d, s);
	int r = images || kernel ? sink_flush_held(s->sink, path, diag) : sink_flush(s->sink, path, diag);
	if (r == 0 && images) {
		etwd_images_again(d, s);
	}
	if (r == 0 && !kernel && images) {
		sink_flush_explained(s->sink);
	}
	return r;
}

/* The file this request is going to open on the loop, if any. */
static bool opens_file(const struct proto_message *m, const struct session *s, uint32_t control, char *path, size_t cap)
{
	struct proto_session p = {0};
	bool may = control == EVENT_TRACE_CONTROL_INCREMENT_FILE ||
		   (control == EVENT_TRACE_CONTROL_FLUSH && (s->props.mode & EVENT_TRACE_BUFFERING_MODE)) ||
		   control == EVENT_TRACE_CONTROL_UPDATE;
	if (!may || (control != EVENT_TRACE_CONTROL_INCREMENT_FILE && !proto_get_session(m, &p))) {
		return false;
	}
	if (p.log_file && p.log_file_len > 0) {
		long n = utf16_to_utf8(p.log_file, p.log_file_len, path, cap);
		return n >= 0 && (size_t)n < cap;
	}
	size_t n = s->path && control != EVENT_TRACE_CONTROL_UPDATE ? strlen(s->path) + 1 : cap + 1;
	if (n > cap) {
		return false;
	}
	memcpy(path, s->path, n);
	return true;
}

static void session_control(struct etwd *d, struct conn *c, const struct proto_message *m, bool reached)
{
	uint32_t control;
	struct diag diag = {0};
	const char *why = NULL;
	uint32_t code = 0;
	bool opened = false; /* a file */
	if (!proto_get_u32(m, PROTO_TAG_CONTROL_CODE, &control) || control > PROTO_CONTROL_ROTATION) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "unknown control code");
		return;
	}
	struct session *s = etwd_session_find(
		d, m, c, control == EVENT_TRACE_CONTROL_QUERY ? (uint32_t)WMIGUID_QUERY : ETWD_RIGHTS_TO_CONTROL);
	if (!s && etwd_private_control(d, c, m)) {
		return;
	}
	if (!s || s->state == SESSION_STARTING) {
		etwd_reply_status(d, c, m, ERROR_WMI_INSTANCE_NOT_FOUND, "no such trace session is running");
		return;
	}
	if (!etwd_access_allows(d, &s->props.guid, c,
				control == EVENT_TRACE_CONTROL_QUERY
					? (uint32_t)WMIGUID_QUERY
					: etwd_session_rights(s->props.mode, s->path != NULL))) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "no right to query or control this session");
		return;
	}
	if (s->state != SESSION_RUNNING && control != EVENT_TRACE_CONTROL_QUERY) {
		/* Without a file nothing is left to wait for: its consumer has been told that it ended,
		 * and a consumer that then stops it by name, as many do, finds none on Windows. */
		etwd_reply_status(d, c, m,
				  control == EVENT_TRACE_CONTROL_STOP && s->path ? ERROR_ACTIVE_CONNECTIONS
										 : ERROR_WMI_INSTANCE_NOT_FOUND,
				  "the session is being stopped");
		return;
	}
	char path[4096];
	if (!reached && opens_file(m, s, control, path, sizeof path) && etwd_reach_first(d, c, m, path)) {
		return;
	}
	switch (control) {
	case EVENT_TRACE_CONTROL_QUERY: break;
	case EVENT_TRACE_CONTROL_STOP:
		if (s->props.mode & EVENT_TRACE_NONSTOPPABLE_MODE) {
			code = ERROR_ACCESS_DENIED;
			why = "this autologger is non-stoppable: it ends with etwd";
			break;
		}
		etwd_reply_keep(c, m, &s->stop_reply);
		etwd_conn_hear(d);
		etwd_session_stop(d, s);
		return;
	case EVENT_TRACE_CONTROL_UPDATE: {
		struct proto_session p;
		if (!proto_get_session(m, &p)) {
			code = ERROR_INVALID_PARAMETER;
		} else {
			code = etwd_session_update(d, c, s, &p, &diag, &why);
		}
		if (code == 0 && etwd_kernel_update(d, c, m, s, &p, &code, &why)) {
			return;
		}
		opened = code == 0 && (p.update_mask & PROTO_UPDATE_FILE) && p.log_file;
		if (opened && (s->props.mode & EVENT_TRACE_BUFFERING_MODE) && etwd_kernel_explains(d, s)) {
			etwd_kernel_explain(d, c, m, s);
			return;
		}
		break;
	}
	case EVENT_TRACE_CONTROL_FLUSH: control_flush(d, c, m, s); return;
	case PROTO_CONTROL_LIMITS: {
		struct proto_session p;
		code = proto_get_session(m, &p) ? etwd_limits_set(s, &p, &why) : ERROR_INVALID_PARAMETER;
		break;
	}
	case PROTO_CONTROL_ROTATION: {
		uint32_t ms = 0, keep = 0;
		proto_get_u32(m, PROTO_TAG_TIMEOUT_MS, &ms);
		proto_get_u32(m, PROTO_TAG_COUNT, &keep);
		if (!(s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE)) {
			code = ERROR_INVALID_PARAMETER;
			why = "only a new-file session has a next file";
			break;
		}
		s->rotate_ns = ms * 1000000ull;
		s->rotate_next_ns = etwd_now_ns() + s->rotate_ns;
		sink_keep_files(s->sink, keep);
		break;
	}
	case EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME:
		code = ERROR_NOT_SUPPORTED;
		why = "a session is not converted; UPDATE with the real-time mode adds the feed";
		break;
	case EVENT_TRACE_CONTROL_INCREMENT_FILE:
		if (!(s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE)) {
			code = ERROR_INVALID_PARAMETER;
			why = "only a new-file session has a next file";
		} else {
			int r = sink_next_file(s->sink, &diag);
			code = r < 0 ? etwd_session_code_of_create(r) : 0;
			opened = code == 0;
		}
	}
	if (code != 0) {
		etwd_reply_status(d, c, m, code, why ? why : diag.text[0] ? diag.text : NULL);
		return;
	}
	if (opened && d->jobs_running < ETWD_JOBS_MAX && etwd_session_answer_after_disk(d, c, m, s)) {
		return;
	}
	etwd_session_reply(d, c, m, s);
}

void etwd_session_control(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	session_control(d, c, m, false);
}

void etwd_session_control_reached(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	session_control(d, c, m, true);
}
