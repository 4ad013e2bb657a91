/* SPDX-License-Identifier: MIT
 *
 * Which call stacks have a frame that a filter asks for, `stack has "module!function"`. Private to query.
 *
 * What a frame is called depends on its address, on the process and on the time: modules come and go. So the answer about
 * a frame is kept with the times for which it holds, once for all processes of which the trace says no modules; and so is
 * the answer about a path of frames, which is that of its innermost frame or of the path outside of it. A row costs two
 * looks into a table then, and no event is read.
 */
#ifndef QUERY_QUERY_FRAMES_H
#define QUERY_QUERY_FRAMES_H

#include "query/query_plan.h"

struct frames;
struct machine;
/* `answers`: so many are kept at most. NULL: no memory. */
struct frames *frames_make(uint32_t answers);
void frames_free(struct frames *f);
/* The filter, the index or the machine is another one. */
void frames_forget(struct frames *f);
/* What plan_lookup() says of a node about the stack of an event, whose row is known: the text of a frame that passes the
 * node, or FILTER_VALUE_ABSENT. FILTER_VALUE_UNKNOWN: no memory. */
enum filter_answer frames_ask(struct frames *f, struct machine *m, const struct plan_event *e,
			      const struct filter_node *n, struct filter_expr_value *ret);

#endif
