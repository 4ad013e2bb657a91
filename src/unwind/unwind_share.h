/* SPDX-License-Identifier: MIT
 *
 * Private to unwind: what the processes of one user may make the recorder keep, and how long they may make
 * it work. Whoever runs on this machine chooses what is mapped, how often and how big it is.
 *
 * Of each kind of thing there is so much for all. A user may have as much as is left free: one alone a
 * half, with a second one the rest is shared, and so on; there is always some left for the next. An eighth is
 * kept for root. The recorder's own user has no limit but the whole: in an instance of one's own everything is
 * one's own.
 */
#ifndef UNWIND_UNWIND_SHARE_H
#define UNWIND_UNWIND_SHARE_H

#include "base/map.h"
#include "unwind/unwind.h"

#include <sys/queue.h>

enum unwind_kind {
	UNWIND_MAPS,   /* bytes that mappings take */
	UNWIND_FILES,  /* bytes that is known of files: path, build, segments */
	UNWIND_OPEN,   /* files that are held open */
	UNWIND_TABLES, /* bytes of unwind tables */
	UNWIND_KINDS,
};

struct unwind_content;
TAILQ_HEAD(unwind_list, unwind_content);

struct unwind_user {
	uint32_t uid;
	bool own; /* root, or the user of the recorder itself */
	uint64_t used[UNWIND_KINDS];
	uint64_t work_ns, work_at_ns;  /* that was spent and not yet forgiven; when that was last worked out */
	struct unwind_list open, idle; /* files of theirs, the one that was not used for longest last */
};
struct unwind_shares {
	uint64_t limit[UNWIND_KINDS], used[UNWIND_KINDS];
	struct map users; /* by uid */
};

void unwind_shares_init(struct unwind_shares *s);
void unwind_shares_finish(struct unwind_shares *s);
/* NULL: no memory. Valid until finish. */
struct unwind_user *unwind_share_user(struct unwind_shares *s, uint32_t uid);
/* False: it would be more than the user's share. */
bool unwind_share_take(struct unwind_shares *s, struct unwind_user *u, enum unwind_kind kind, uint64_t n);
void unwind_share_give(struct unwind_shares *s, struct unwind_user *u, enum unwind_kind kind, uint64_t n);
/* Whose files have to go when there is no room for this user's: theirs; for root, those of who has the most. */
struct unwind_user *unwind_share_owing(struct unwind_shares *s, struct unwind_user *u, enum unwind_kind kind);

/* So much was spent on a user's files. */
void unwind_work_add(struct unwind_user *u, uint64_t ns);
/* Is there some left? Two seconds at once, and an eighth of a processor for as long as one likes. */
bool unwind_work_left(struct unwind_user *u);

#endif
