/* SPDX-License-Identifier: MIT
 *
 * Profiles: stacks of a selection, counted. Of processors' samples where there are any; else of all events that have
 * stacks. Which of the two it is shows at the end only, so both are kept until then.
 */
#ifndef TOOLS_EXPORT_PROFILE_H
#define TOOLS_EXPORT_PROFILE_H

#include "tools/export/export.h"
#include "tools/export/stacks.h"

struct profile {
	struct stacks samples, events; /* below a node for the process: "sh (12)" */
	uint64_t sample_count, event_count, idle, others, without_stack;
	uint64_t first_100ns, last_100ns; /* of what was taken */
	struct strbuf text;
};
bool profile_begin(struct export *x);
bool profile_event(struct export *x, const struct export_event *e);
void profile_finish(struct export *x);
/* What the profile is of: counts what is left out. NULL: there is nothing, and it was said; then `error` is ENODATA. */
const struct stacks *profile_of(struct export *x, const char **ret_name);
/* "sh (12)" of an event, without what divides frames. */
void profile_process(const struct export_event *e, struct strbuf *b);

#endif
