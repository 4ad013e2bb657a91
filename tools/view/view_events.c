/* SPDX-License-Identifier: MIT
 * Server-sent events: what a page hears without asking, at most ten times a second.
 */
#include "tools/view/view.h"

#include "tools/view/view_jobs.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define STEP_MS  100   /* between two messages */
#define LOOK_MS  20    /* between two looks for something to tell: the first event after a silence is told at once */
#define QUIET_MS 10000 /* then a comment, so that both sides know that the other is there */

struct view_stream {
	struct view *view;
	struct view_trace *trace; /* NULL: none */
	int socket;
	bool told_whole;
	bool told; /* the last call had a message */
	uint64_t rows, jobs, live_rows, live_rules;
	int quiet_ms;
};

struct view_stream *view_stream_create(struct view *v, struct view_trace *t, int socket)
{
	struct view_stream *s = calloc(1, sizeof *s);
	if (s) {
		*s = (struct view_stream){.view = v, .trace = t ? view_trace_hold(v, t->id) : NULL, .socket = socket};
		s->jobs = UINT64_MAX;
		s->rows = UINT64_MAX;
	}
	return s;
}

void view_stream_destroy(struct view_stream *s)
{
	if (s->trace) {
		view_trace_let_go(s->view, s->trace);
	}
	free(s);
}

static void put_progress(struct view_stream *s, struct strbuf *b)
{
	OPENETW_SIZED(struct openetw_index_progress, p);
	if (!s->trace || s->told_whole || s->trace->live || openetw_index_progress(s->trace->x, &p) != ERROR_SUCCESS) {
		return;
	}
	bool whole = p.code != ERROR_IO_PENDING;
	if (!whole && p.rows_read == s->rows) {
		return;
	}
	s->rows = p.rows_read;
	s->told_whole = whole;
	strbuf_adds(b, "event: progress\ndata: {");
	json_put_count(b, "tr", s->trace->id);
	json_put_real(b, "fraction", whole ? 1 : p.fraction);
	json_put_count(b, "rows", p.rows_read);
	json_put_real(b, "rows_per_second", p.rows_per_second);
	json_put_real(b, "seconds_left", p.seconds_left);
	json_put_truth(b, "whole", whole);
	strbuf_adds(b, "}\n\n");
}

static bool hung_up(const struct view_stream *s)
{
	char c;
	return view_ending(s->view) || (s->trace && s->trace->closed) ||
	       recv(s->socket, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

ssize_t view_stream_read(struct view_stream *s, char *buf, size_t cap)
{
	struct strbuf b = {0};
	if (s->told) { /* the pause is behind a message: before it, it would delay the message */
		s->told = false;
		poll(NULL, 0, STEP_MS);
	}
	while (!hung_up(s)) {
		strbuf_clear(&b);
		put_progress(s, &b);
		view_jobs_tell(s->view, &s->jobs, &b);
		view_live_tell(s->view, s->trace, &s->live_rows, &s->live_rules, &b);
		if (b.len == 0 && s->quiet_ms >= QUIET_MS) {
			strbuf_adds(&b, ": still here\n\n");
		}
		if (b.len && !b.failed && b.len <= cap) {
			size_t n = b.len;
			memcpy(buf, b.s, n);
			strbuf_finish(&b);
			s->quiet_ms = 0;
			s->told = true;
			return (ssize_t)n;
		}
		s->quiet_ms += LOOK_MS;
		poll(NULL, 0, LOOK_MS);
	}
	strbuf_finish(&b);
	return -1;
}

const struct view_endpoint view_events = {.path = "events", .params = VIEW_TRACE_PARAM};
