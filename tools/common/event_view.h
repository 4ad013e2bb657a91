/* SPDX-License-Identifier: MIT
 *
 * One event seen by name: header properties and payload fields as text and as JSON. Decodes the
 * payload only when a payload field is asked for. --filter, --fields and the column formats stand
 * on it.
 */
#ifndef TOOLS_COMMON_EVENT_VIEW_H
#define TOOLS_COMMON_EVENT_VIEW_H

#include "tools/common/select.h"
#include "tools/common/cli.h"
#include "filter/filter_parse.h"

#include <openetw/decode.h>
#include <openetw/state.h>

struct cli_view;

struct cli_view_value {
	const char *text; /* for people and CSV */
	size_t text_length;
	const char *json;
	size_t json_length;
	bool is_number;
	uint64_t number;
};

/* NULL when memory runs out. The decoder is borrowed. */
struct cli_view *cli_view_create(struct openetw_decoder *decoder, bool local_time);
void cli_view_destroy(struct cli_view *v);
/* Where process names and ids come from that the events do not carry; borrowed, may be NULL. */
void cli_view_set_state(struct cli_view *v, struct openetw_state *state);
/* Whose event it is; without a state, what its header says. */
const struct openetw_event_origin *cli_view_origin(struct cli_view *v);
/* From now on the view is of this event; values taken before become invalid. */
void cli_view_set(struct cli_view *v, const EVENT_RECORD *e);
/* How long took what this event ends, where somebody has found it out (durations.h); NULL: it ends nothing. */
void cli_view_set_duration(struct cli_view *v, const uint64_t *ns);
/* "time", "provider", …, a payload field, or "Struct.Member" and "Array.0". The pointers are valid
 * until the next call of cli_view_set, those of header properties until the next cli_view_get. */
bool cli_view_get(struct cli_view *v, const char *name, bool payload, struct cli_view_value *ret);
/* Is `name` a property that every event can have? */
bool cli_view_is_property(const char *name);
/* filter_expr_try_lookup_fn over a view. Stacks take a state that keeps them. */
enum filter_answer cli_view_try(void *view, const struct filter_node *n, struct filter_expr_value *ret);

const EVENT_HEADER_EXTENDED_DATA_ITEM *cli_event_item(const EVENT_RECORD *e, USHORT type);

#endif
