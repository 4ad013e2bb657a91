/* SPDX-License-Identifier: MIT
 * Shared by view_ops.c, which keeps operations, and view_ops_ask.c, which answers.
 */
#ifndef TOOLS_VIEW_VIEW_OPS_STATE_H
#define TOOLS_VIEW_VIEW_OPS_STATE_H

#include "tools/tables/kernel_event.h"
#include "tools/view/view_ops.h"

#include "base/map.h"

#include <openetw/decode.h>

#define OPS_BLOCKS     (VIEW_OPS_MOST / VIEW_OPS_BLOCK)
#define OPS_SELECTIONS 12u
#define OPS_KINDS                                                                                                \
	(1u << KEVENT_PROCESS | 1u << KEVENT_IMAGE | 1u << KEVENT_FILE | 1u << KEVENT_NET | 1u << KEVENT_FAULT | \
	 1u << KEVENT_DISK)

struct op {
	uint64_t filetime;
	const char *name; /* "FileRead"; a literal */
	uint64_t bytes, asked, offset, took_ns;
	uint32_t pid, tid, status;
	uint32_t process, path, to; /* texts of the block */
	uint8_t kind, op;           /* enum kevent_kind, kevent_op */
	bool waits, has_result;
};
struct ops_block { /* leaves as a whole, with its texts */
	struct op ops[VIEW_OPS_BLOCK];
	struct strbuf arena;
	struct map texts;
};
struct ops_process {
	uint32_t pid, parent, uid;
	int32_t exit_code;
	int64_t start, end; /* ns; INT64_MIN, INT64_MAX: before and after what was seen */
	char name[64], user[40];
	char *command; /* may be NULL */
	uint64_t ops[KEVENT_SYSCALL + 1];
	uint64_t read, written, failed;
};
/* Operations of some kinds that fit a filter: found once, and from then on only what came since. */
struct ops_selection {
	char *text; /* the filter; NULL: the place is free */
	uint32_t kinds;
	struct filter_expr *filter; /* NULL: all */
	uint64_t *numbers;
	size_t count, cap;
	uint64_t gone;  /* as many have left in front of them */
	uint64_t next;  /* which operation is looked at next */
	uint64_t used;  /* when: the lowest is let go first */
	uint32_t users; /* requests that look */
};
struct view_ops {
	char session[160];
	uint64_t start_filetime;
	TRACEHANDLE trace;
	pthread_t thread;
	bool started;
	uint32_t stop, ended; /* order_… */
	pthread_mutex_t lock; /* of what follows */
	struct openetw_state *state;
	struct openetw_decoder *decoder;
	struct ops_block *blocks[OPS_BLOCKS];
	uint64_t first, end, settled; /* numbers of operations */
	uint64_t now;                 /* FILETIME of the newest event */
	uint64_t early, not_kept;
	struct map waiting; /* IRP: which operation */
	struct map by_pid;
	struct ops_process *processes;
	size_t process_count, process_cap;
	struct ops_selection selections[OPS_SELECTIONS];
	uint64_t uses;
};

static inline int64_t ops_time(const struct view_ops *o, uint64_t filetime)
{
	return ((int64_t)filetime - (int64_t)o->start_filetime) * 100;
}
/* Under the lock. NULL: it has left. */
struct op *ops_at(const struct view_ops *o, uint64_t n);
const char *ops_text(const struct view_ops *o, uint64_t n, uint32_t text);
struct ops_process *ops_process(struct view_ops *o, uint32_t pid, bool make);
uint64_t ops_settled(struct view_ops *o);
void ops_selection_clear(struct ops_selection *s);

#endif
