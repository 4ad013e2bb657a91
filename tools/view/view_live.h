/* SPDX-License-Identifier: MIT
 *
 * A session that is followed: an index over a ring of its last events (openetw/query.h). Some sessions the viewer has started
 * itself; they end with their trace.
 */
#ifndef TOOLS_VIEW_VIEW_LIVE_H
#define TOOLS_VIEW_VIEW_LIVE_H

#include "tools/view/view.h"
#include "tools/view/view_watch.h"

#define VIEW_LIVE_PROVIDERS 8u

/* view_copy.c */
struct view_copy {
	struct view_trace *trace; /* of a file; NULL: none was made yet */
	uint64_t rows, made_ns, took_ns;
};
struct view_live {
	pthread_mutex_t state; /* of what is told of it */
	struct view *view;
	char session[160];
	bool own;
	char provider[VIEW_LIVE_PROVIDERS][160]; /* of an own session: how they are enabled */
	uint32_t provider_count;
	bool stacks, kernel;
	uint32_t source[8], source_count; /* processes that the session is narrowed to */
	uint32_t source_level;            /* and a level; 0: all */
	pthread_mutex_t ruling;           /* of rules */
	struct view_rule rules[VIEW_RULES_MOST];
	uint32_t rule_count;
	uint64_t rule_changes;
	uint64_t looked_ns;
	bool followed, has_before; /* the session runs again, as trace `next`; ran before, as `before` */
	uint32_t next, before;
	uint64_t ring_bytes;
	uint64_t told_rows, told_ns; /* what view_live_tell() said last */
	double rate;                 /* rows a second */
	pthread_mutex_t copying;     /* of the copies */
	struct view_copy whole, machine;
	struct view_ops *ops; /* view_ops.h; NULL: not of the machine */
};
/* Attaches to a session. NULL: `why`. */
struct view_trace *view_live_create(struct view *v, const char *session, uint64_t ring_bytes, bool own, char *why,
				    size_t cap);
/* With its trace: stops an own session. */
void view_live_destroy(struct view_live *l);

/* A copy of what the ring has, at most some seconds old; view_trace_let_go() when it is not wanted any more. NULL: `why`. */
struct view_trace *view_copy_hold(struct view_trace *t, bool (*gone)(void *context), void *context, char *why,
				  size_t cap);
/* The same without events: what was said of processes and their modules, for names of code. */
struct view_trace *view_copy_of_machine(struct view_trace *t, bool (*gone)(void *context), void *context, char *why,
					size_t cap);
void view_copies_end(struct view_live *l);
void view_rules_free(struct view_live *l);
/* "rules":[…] */
void view_rules_put(struct view_live *l, struct strbuf *b);

#endif
