/* SPDX-License-Identifier: MIT
 *
 * Traces that the viewer has open. Each has an index, which is made in the background and may be asked at once; queries that
 * remember what their filters found; decoders; and tables (tools/tables; view_making.h).
 */
#ifndef TOOLS_VIEW_VIEW_TRACE_H
#define TOOLS_VIEW_VIEW_TRACE_H

#include "tools/tables/table_query.h"

#include <openetw/decode.h>
#include <openetw/query.h>
#include <openetw/state.h>

#include <pthread.h>

#define VIEW_TRACES_MAX   64u
#define VIEW_QUERIES_MAX  16u /* of a trace */
#define VIEW_DECODERS_MAX 8u

struct view_query {
	struct openetw_query *q;
	char *filter; /* NULL: none */
	int64_t from, to;
	bool busy;
	uint64_t used; /* when: the lowest is let go first */
};
struct view_trace {
	uint32_t id;
	uint32_t users;         /* requests; under the lock of the view */
	bool closed;            /* goes with its last user */
	struct view_live *live; /* a session that is followed; NULL: files */
	char *name;
	char **files;
	int count;
	struct openetw_index *x;
	const struct cli_args *args;
	pthread_mutex_t lock; /* of what follows */
	struct view_query queries[VIEW_QUERIES_MAX];
	uint64_t uses;
	struct openetw_decoder *decoders[VIEW_DECODERS_MAX];
	uint32_t decoder_count;
	struct view_making *making; /* view_making.h: its tables; NULL: none was asked for */
	struct view_kept *kept;     /* view_kept.h: answers; NULL: none */
	struct table_set *code;     /* for names of code, under `naming`; NULL: not yet */
	pthread_mutex_t naming;
	void *memo;                   /* view_parse.c: which names there are; view_vocabulary_free() */
	char *causes;                 /* view_cards.c's: JSON */
	struct view_machine *machine; /* view_machine.c's; NULL: not looked yet */
	int copy_of;                  /* of a live trace: the descriptor of its file, and one. 0: no copy */
};

/* Opens files as one trace; its index is being made when this returns. NULL: `why`. */
struct view_trace *view_trace_create(const struct cli_args *a, int count, char *const *files, char *why, size_t cap);
/* The same under a name of one's own, with flags of openetw_index_open(). */
struct view_trace *view_trace_create_as(const struct cli_args *a, int count, char *const *files, const char *name,
					uint32_t flags, char *why, size_t cap);
void view_trace_destroy(struct view_trace *t);
/* Takes a lock, as long as somebody waits for the answer. False: `why`. */
bool view_lock_for(pthread_mutex_t *lock, bool (*gone)(void *context), void *context, char *why, size_t cap);
void view_vocabulary_free(void *memo);
void view_trace_about(const struct view_trace *t, struct openetw_index_about *ret);
/* Nobody makes its index any more. */
bool view_trace_whole(const struct view_trace *t);
/* 0 of the index as a FILETIME, and other times. */
uint64_t view_trace_filetime(const struct view_trace *t, int64_t time);
/* "2026-01-31T12:00:00.0000000Z" */
void view_trace_date(const struct view_trace *t, int64_t time, char *out, size_t cap);

struct openetw_decoder *view_decoder_take(struct view_trace *t); /* NULL: no memory */
void view_decoder_give(struct view_trace *t, struct openetw_decoder *d);

/* Opens the files once more, for tables that are made of them. NULL: `why`. */
struct table_set *view_set_open(struct view_trace *t, char *why, size_t cap);
/* Waits until nobody makes the index any more. False: `why`; `gone` says that nobody waits. */
bool view_index_wait(struct view_trace *t, bool (*gone)(void *context), void *context, char *why, size_t cap);
/* Reads the trace for the names of code. False: `why`. */
bool view_names_make(struct view_trace *t, bool (*look)(void *context, double part), void *context, char *why,
		     size_t cap);
/* Names of code, the caller's until view_names_unlock(). NULL: `why`, and nothing is locked; or they are not read yet, and
 * r->making says so. */
struct view_request;
struct table_maker *view_names_lock(struct view_request *r, struct view_trace *t, char *why, size_t cap);
void view_names_unlock(struct view_trace *t);

#endif
