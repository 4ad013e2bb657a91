/* SPDX-License-Identifier: MIT
 *
 * Files beside an index with what was made of its rows: read when one is there and fits, else made. Private to query.
 *
 * Where the index has a file, so has this: beside it, or in the user's cache directory where this user cannot write to its
 * folder. Others are made in a file without a name beside the trace or in the cache directory; small ones, and what finds
 * no room there, in memory.
 */
#ifndef QUERY_QUERY_COMPANION_H
#define QUERY_QUERY_COMPANION_H

#include "query/query_index.h"

#include <limits.h>

/* A folder for files without a name that hold what does not fit into memory: that of the trace, or the user's cache
 * directory. False: what is made of so few rows fits, or there is none. */
bool companion_folder(const struct index_file *f, char *ret, size_t bytes);

/* One that is being made, while nobody asks. All zero: none. */
struct companion_begun {
	bool is, in_memory;
	int fd;
	uint64_t bytes_most;
	char folder[PATH_MAX];
};
void companion_begun_end(struct companion_begun *b);

struct companion {
	const char *path;              /* beside the index; NULL: it gets no name */
	const char *what;              /* what its name ends with */
	struct companion_begun *begun; /* where it is kept when `make` says -ECANCELED; the next call goes on with it */
	/* Writes it into `fd`, which stays the caller's. `directory`: for what does not fit into memory, NULL: memory;
	 * `bytes_most`: so many at most, what comes later is left out. After -ECANCELED it is called again with the same,
	 * after other errors with another file. */
	int (*make)(void *context, int fd, const char *directory, uint64_t bytes_most);
	/* Takes the descriptor over, also when it fails. */
	int (*take)(void *context, int fd, void *ret);
	void *context;
};
/* *inout_bytes: of memory for all of such; it does not grow above KEPT_BYTES_MAX. `ret` is for `take`. -errno. */
int companion_of(const struct index_file *f, const struct companion *c, uint64_t *inout_bytes, void *ret);

#endif
