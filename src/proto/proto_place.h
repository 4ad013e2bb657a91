/* SPDX-License-Identifier: MIT
 *
 * Where a user's etwd lives: src/proto's own view of it, apart from the environment so that it can be tested.
 * The rules are in docs/architecture.md, "Where etwd lives". All programs of a user must come to the same
 * place, whoever else makes directories in /tmp, and whatever is in their environment.
 */
#ifndef PROTO_PROTO_PLACE_H
#define PROTO_PROTO_PLACE_H

#include "base/base.h"

#include <sys/types.h>

struct proto_places {
	uid_t uid;
	const char *xdg;      /* XDG_RUNTIME_DIR, or NULL */
	const char *run_user; /* "/run/user" */
	const char *tmp;      /* "/tmp" */
	/* account_home(): what HOME says is not the same in all programs. Asked only when the places above do
	 * not do. */
	bool (*home)(uid_t uid, char *ret, size_t cap);
	const char *host; /* several machines may share a home */
};

/* The directory, made with `create`. 0; -ENOENT: it is not there (the path is, where it would be); -EPERM and
 * others: no place is safe. `note` says in words why it is not the usual place, "" when it is; may be NULL. */
int proto_place_choose(const struct proto_places *p, bool create, char *out, size_t cap, char *note,
		       size_t note_cap);

#endif
