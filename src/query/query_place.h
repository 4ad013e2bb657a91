/* SPDX-License-Identifier: MIT
 *
 * Where the index of a trace lies: NAME.etl.idx beside it, or in the user's cache directory. Private to query.
 */
#ifndef QUERY_QUERY_PLACE_H
#define QUERY_QUERY_PLACE_H

#include "query/query_store.h"

#include <limits.h>
#include <sys/types.h>

/* What an index of the trace that is open there must say. -errno. */
int place_key(int trace, struct store_key *ret);

/* A place for an index. The second is tried where the first is none: in a folder that this user cannot write to. */
struct place {
	int directory; /* O_PATH */
	char path[PATH_MAX], name[NAME_MAX + 1], folder[PATH_MAX];
};
enum { PLACE_BESIDE, PLACE_CACHE, PLACE_COUNT };
/* `cache`: a directory, or NULL for the user's. -errno; `d` may be NULL. */
int place_open(const char *trace, int which, const char *cache, struct place *ret, struct diag *d);
/* A file of this path, whatever it is for. */
int place_of(const char *path, struct place *ret);
/* The whole path of a file that belongs to this index, and is named after it: NAME.`what`. To be freed. NULL: no memory. */
char *place_companion(const struct place *p, const char *what);
void place_close(struct place *p);
/* The index that is there, open for reading, or -errno. */
int place_find(const struct place *p);
/* A new file for one, without a name yet: for this user alone, or for everybody when the trace is. -errno: none can be
 * made there. */
int place_new(const struct place *p, mode_t trace);
/* Gives it its name, in the place of one that was there. */
int place_keep(const struct place *p, int fd);

#endif
