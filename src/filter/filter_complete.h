/* SPDX-License-Identifier: MIT
 *
 * What may come next in a filter that somebody is typing: names, operators, values.
 *
 * For `level <= er` the answer is "error", which stands for the bytes 9 to 11. A caller that knows its
 * trace also says which fields, providers and events there are.
 */
#ifndef FILTER_FILTER_COMPLETE_H
#define FILTER_FILTER_COMPLETE_H

#include "filter/filter_parse.h"

/* Each list is NULL-terminated, or NULL. */
struct filter_vocabulary {
	const char *const *names;  /* instead of the properties: as in struct filter_dialect */
	const char *const *fields; /* of payloads */
	const char *const *providers;
	const char *const *events;
	const char *const *processes;
};
struct filter_completion {
	enum filter_expects what;
	struct filter_span replaces; /* what it stands for, up to the cursor */
	const char *text;            /* as it is written in an expression, with quotes or brackets if need be */
};
/* False ends it. */
typedef bool filter_completion_fn(void *ctx, const struct filter_completion *c);

/* What may stand at the cursor, a number of bytes, and begins with what is there already, without regard to case.
 * -ENOMEM; 0 also when nothing fits. */
int filter_complete(const char *text, size_t cursor, const struct filter_vocabulary *v, filter_completion_fn *each,
		    void *ctx);

#endif
