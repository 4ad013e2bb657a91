/* SPDX-License-Identifier: MIT
 * What the files about providers share.
 */
#ifndef TOOLS_VIEW_VIEW_PROVIDER_H
#define TOOLS_VIEW_VIEW_PROVIDER_H

#include "tools/view/view_trace.h"

/* An event of a type of the index, by a query of the trace without a filter of its own. NULL: none was found. Valid until the
 * query is asked again. */
const openetw_event_record *view_event_of_type(struct view_trace *t, struct openetw_query *q, uint32_t type);

#endif
