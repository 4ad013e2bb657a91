/* SPDX-License-Identifier: MIT
 *
 * Where etwd lives: the directory of its sockets, lock and log. The rules are in docs/architecture.md, "Where
 * etwd lives". All programs of a user must come to the same place, whoever else makes directories in /tmp,
 * and whatever is in their environment.
 */
#ifndef BASE_RUNTIME_DIR_H
#define BASE_RUNTIME_DIR_H

#include "base/base.h"

#include <sys/types.h>

/* The user's directory (OPENETW_RUNTIME_DIR, unless the program runs with rights of its file; else what
 * runtime_dir_choose() finds) or, with `system`, /run/openetw. The function checks owner and mode and follows
 * no link. With `create` it makes the directory. 0 or -errno. Not async-signal-safe. */
int runtime_dir(bool system, bool create, char *out, size_t cap);

/* What the environment says about the directory. A thread that needs the directory later takes this first,
 * because other threads may change the environment. Strings are empty where a variable is absent, or where
 * the program must not believe its environment. */
#define RUNTIME_DIR_MAX 112 /* longer ones do not fit a socket's name */
struct runtime_environment {
	char runtime_dir[RUNTIME_DIR_MAX], xdg[RUNTIME_DIR_MAX];
};
void runtime_environment_get(struct runtime_environment *ret);

/* The user's directory. `note` says why it is not the usual one, "" when it is; may be NULL. */
int runtime_dir_user(const struct runtime_environment *e, bool create, char *out, size_t cap, char *note,
		     size_t note_cap);

/* The choice alone, apart from the environment, so that it can be tested. */
struct runtime_places {
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
 * others: no place is safe. `note` as above. */
int runtime_dir_choose(const struct runtime_places *p, bool create, char *out, size_t cap, char *note, size_t note_cap);

#endif
