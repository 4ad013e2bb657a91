/* SPDX-License-Identifier: MIT
 *
 * view: the server of the viewer's page. Front door.
 *
 *   view_guard.c      who may ask
 *   view_http.c       libmicrohttpd: connections, their limits, routing, the page's files
 *   view_request.c    parameters of a request, by the endpoint's list; failures
 *   view_reply.c      answers: JSON, arrays
 *   view_trace.c      traces that are open: index, queries, tables, decoders
 *   view_*.c          the endpoints; docs/view-api.md says what each takes and gives
 *
 * An endpoint is a file ending in const table entries. To add one: write it, name it in view_endpoints.def, describe it in
 * docs/view-api.md. Its parameters are a list; a request with any other parameter is refused before the endpoint runs.
 *
 *	static int run(struct view_request *r)
 *	{
 *		struct view_sel s;
 *		if (!view_sel_of(r, &s)) {
 *			return r->status;
 *		}
 *		strbuf_addc(&r->out, '{');
 *		…
 *		return view_done(r);
 *	}
 *	const struct view_endpoint view_facets = {.path = "facets", .params = VIEW_SEL "by:text field:text top:1-10000", .run = run};
 *
 * Each connection has a thread, and so has each request. What endpoints share is behind locks of their owners.
 */
#ifndef TOOLS_VIEW_VIEW_ENDPOINT_H
#define TOOLS_VIEW_VIEW_ENDPOINT_H

#include "tools/common/json_put.h"
#include "tools/common/json_read.h"
#include "tools/view/view_making.h"
#include "tools/view/view_trace.h"

struct view;
struct view_request;

struct view_endpoint {
	const char *path;   /* behind "/api/" */
	const char *params; /* "NAME:KIND …": text, time, real, flag, list, or FROM-TO for a whole number */
	bool post;          /* with a JSON body of at most JSON_BYTES_MAX */
	bool keep;          /* its answers about a trace that is read whole are kept (view_kept.h) */
	bool whole;         /* of a live trace it gets a copy of what was there a moment ago (view_copy.c) */
	int (*run)(struct view_request *r); /* the status: 200, … */
};
extern const struct view_endpoint *const view_endpoints[];                 /* NULL-terminated */
const struct view_endpoint *view_endpoint_of(const char *path, bool post); /* NULL: there is none */

#define VIEW_TRACE_PARAM "tr:0-1000000 "
#define VIEW_SEL         VIEW_TRACE_PARAM "t0:time t1:time f:text "
#define VIEW_PARAMS_MAX  24

struct view_request {
	struct view *view;
	const struct view_endpoint *endpoint;
	struct {
		const char *name, *value;
	} given[VIEW_PARAMS_MAX];
	size_t given_count;
	struct view_trace *trace; /* view_trace_of(): let go when the request has ended */
	struct json_value *body;  /* of POST: an object */
	int socket;               /* of the client: closed when it has hung up */
	/* Tables that it reads (view_making.h). */
	struct view_table *held[VIEW_HELD_MAX];
	uint32_t held_count;
	bool hurried;         /* it does not wait for what takes long: its client asks again */
	struct strbuf making; /* what it would have to wait for: members of a list in JSON */
	uint32_t generation;  /* view_kept.c's */
	bool passing;         /* the answer is of a moment of a live trace */
	/* the answer */
	int status;
	struct strbuf out;
	const char *type; /* of `out`; NULL: JSON */
	struct strbuf filename_text;
	const char *filename; /* it is to be saved under this name; NULL: shown */
	int file;             /* instead of `out`: the descriptor of a file; -1 */
};

/* ---- parameters ---- */

/* Are all parameters known and of their kinds? Else 400. */
bool view_request_check(struct view_request *r);
const char *view_text(const struct view_request *r, const char *name, const char *absent);
uint64_t view_number(const struct view_request *r, const char *name, uint64_t absent);
int64_t view_time(const struct view_request *r, const char *name, int64_t absent);
bool view_flag(const struct view_request *r, const char *name, bool absent);
/* Numbers with commas between them: at most `most`. False: 400. */
bool view_numbers(struct view_request *r, const char *text, uint32_t *ret, uint32_t most, uint32_t *ret_count);

/* ---- failures ---- */

/* Sets status and body; returns the status. */
int view_fail(struct view_request *r, int status, const char *fmt, ...) BASE_PRINTF(3, 4);
/* The data is not in the trace: `teach` says what to record. */
int view_teach(struct view_request *r, const char *why, const char *teach);
/* A Win32 code of a question. */
int view_fail_code(struct view_request *r, uint32_t code);
/* False: `d` says which mistake it has, and where. */
bool view_filter_fits(const char *filter, struct diag *d);
/* The filter has a mistake: column, nearest name. */
int view_fail_filter(struct view_request *r, const char *filter);

/* ---- answers ---- */

/* 200, or 500 where memory ran out. */
int view_done(struct view_request *r);
/* "answer":{…} */
void view_put_answer(struct strbuf *b, const struct openetw_answer *a);
void view_put_hex(struct strbuf *b, const char *name, uint64_t v); /* "0x…" as a text */

/* Arrays: docs/view-api.md. view_arrays_begin(), the head's members by json_put_…, view_arrays_add() for each, view_arrays_end(). */
struct view_arrays {
	struct strbuf head, data;
	struct strbuf list; /* of the head */
};
void view_arrays_begin(struct view_arrays *a);
/* type: "u8", "u16", "u32", "f32", "f64" */
void view_arrays_add(struct view_arrays *a, const char *name, const char *type, const void *p, size_t count);
int view_arrays_end(struct view_arrays *a, struct view_request *r);

/* ---- the selection ---- */

struct view_sel {
	struct view_trace *trace;
	int64_t from, to;   /* of the trace where nothing was given */
	const char *filter; /* NULL: none */
};
/* The trace of `tr`; for an endpoint that is `whole`, a copy of a live one. NULL: `status`. It stays open until the request has
 * ended. */
struct view_trace *view_trace_of(struct view_request *r);
bool view_sel_of(struct view_request *r, struct view_sel *ret);
/* A query with the selection's filter and times, which is cancelled when the client hangs up. NULL: `status`. One that was
 * asked with this filter before remembers what it found. Give it back. */
struct openetw_query *view_query_take(struct view_request *r, const struct view_sel *s);
void view_query_give(struct view_request *r, const struct view_sel *s, struct openetw_query *q);
/* The client is gone, or the server ends. */
bool view_gone(const struct view_request *r);
bool view_request_gone(void *context); /* the same, for those who call back */
/* "type", "provider", "field:NAME" …; the field's name is given to `q`. False: 400. */
bool view_key(struct view_request *r, struct openetw_query *q, const char *text, enum openetw_key *ret);
/* A filter that is true for what has this value of a key. */
void view_filter_text(struct strbuf *b, struct view_trace *t, enum openetw_key by, const char *field, uint32_t id,
		      const char *text);

#endif
