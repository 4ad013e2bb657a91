/* SPDX-License-Identifier: MIT
 *
 * The server as its files share it.
 */
#ifndef TOOLS_VIEW_VIEW_H
#define TOOLS_VIEW_VIEW_H

#include "tools/common/allowed.h"
#include "tools/view/view_endpoint.h"
#include "tools/view/view_guard.h"

#define VIEW_RECORDED_MAX 8u

struct view_jobs;
struct view {
	const struct cli_args *args;
	struct allowed may;
	struct view_guard guard;
	const char *web; /* the page's files are in this folder, not in the program; NULL */
	char address[128];
	pthread_mutex_t lock; /* of the guard's code, the traces and the jobs */
	struct view_trace *traces[VIEW_TRACES_MAX];
	uint32_t next_id;
	struct view_jobs *jobs; /* view_jobs.h; NULL: none yet */
	char recording[160];    /* which recipe; "": none */
	struct {
		char session[64], path[4096];
	} recorded[VIEW_RECORDED_MAX]; /* providers that the page records; "": a free place */
	uint32_t ending;               /* order_… */
	pthread_t watcher;             /* view_watch.c */
	bool watches;
	uint32_t watch_ends; /* order_… */
};

bool view_ending(const struct view *v);
/* The folder without links, if it is one of --root or below; to be freed. NULL: it is not. */
char *view_folder_below(const struct view *v, const char *path);
/* Adds a trace, and says its number: once it is there, others may close it, and `t` is not to be read. False: there are too
 * many; `t` stays the caller's.
 */
bool view_trace_add(struct view *v, struct view_trace *t, uint32_t *ret_id);
/* Up to which number there have been traces. */
uint32_t view_trace_end(struct view *v);
/* It stays open until view_trace_let_go(). NULL: there is none of this number. */
struct view_trace *view_trace_hold(struct view *v, uint32_t id);
void view_trace_let_go(struct view *v, struct view_trace *t);
/* False: there is none. */
bool view_trace_close(struct view *v, uint32_t id);

/* The files of the page, embedded when it was built; `path` NULL ends them. */
struct view_file {
	const char *path;
	const unsigned char *data, *end;
};
extern const struct view_file view_bundle[];
/* The text of one of them. False: there is none, or no memory. */
bool view_page_read(const struct view *v, const char *path, struct strbuf *ret);

/* view_live.c: "event: rows" when something came, and the member "live_state" of info. */
void view_live_tell(struct view *v, struct view_trace *t, uint64_t *inout_rows, uint64_t *inout_rules,
		    struct strbuf *b);
void view_live_put(struct strbuf *b, const struct view_trace *t);

/* A name for a new trace, below the first root or in the present folder. */
void view_new_file(const struct view *v, const char *what, char *out, size_t cap);

/* view_http.c: listens and serves until a signal. CLI_OK, or said why. */
struct view_listen {
	unsigned port;      /* 0: any */
	const char *socket; /* a path instead */
};
int view_serve(struct view *v, const struct view_listen *l, int (*ready)(struct view *v, bool again));

/* view_events.c: the next piece of a stream of server-sent events. */
struct view_stream;
struct view_stream *view_stream_create(struct view *v, struct view_trace *t, int socket);
void view_stream_destroy(struct view_stream *s);
/* Waits for something to say. Bytes; -1: the stream has ended. */
ssize_t view_stream_read(struct view_stream *s, char *buf, size_t cap);

#endif
