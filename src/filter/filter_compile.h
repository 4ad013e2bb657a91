/* SPDX-License-Identifier: MIT
 *
 * The part of the filter language that a session evaluates, as what EnableTraceEx2 takes.
 *
 * A session knows ids and names of events and, of those that somebody described to it, fields. It has no schema, and
 * its work for one event is bounded. So it takes
 *
 *   session     = choice { "or" choice } | exclusion { "and" exclusion }
 *   choice      = which [ "and" conditions ]       conditions: up to 8 tests of fields, joined all by and, or all
 *                                                  by or (then in parentheses)
 *   which       = ("event" | "id") ("==" value | "in" "(" values ")")
 *   exclusion   = ("event" | "id") ("!=" value | "not" "in" "(" values ")")
 *
 * in any order, and refuses the rest with its column. `event` is the name of a TraceLogging event, `id` the number of
 * a manifest's event. With choices no other events pass; with exclusions all others do.
 *
 * Three things differ from reading: text compares with case, an event's name is the whole name, and a number with a unit
 * is a number only (64K is not the text "64K").
 */
#ifndef FILTER_FILTER_COMPILE_H
#define FILTER_FILTER_COMPILE_H

#include "filter/filter_event_id.h"
#include "filter/filter_named.h"
#include "filter/filter_parse.h"

/* Conditions on the fields of one event; they point into the tree and into themselves: not to be copied. */
struct filter_conditions {
	bool any; /* joined by "or" */
	size_t count;
	struct filter_named_condition c[FILTER_PREDICATES_MAX];
	char value[FILTER_PREDICATES_MAX][512]; /* those that are written otherwise: intervals, numbers with units */
};
/* Of the whole tree, for filter_clause_parse(). -EINVAL with column and reason. */
int filter_conditions_of(const struct filter_expr *f, struct filter_conditions *ret, struct diag *d);

struct filter_choice {
	const char *event; /* into the tree; NULL: by id */
	uint16_t id;
	uint32_t column;
	struct filter_conditions *conditions; /* NULL: the event passes whatever it carries */
};
struct filter_plan {
	bool exclude; /* the events named do not pass, all others do */
	struct filter_choice *choices;
	uint32_t count, cap;
};
/* -EINVAL with column and reason, -ENOMEM. The plan needs the tree as long as it lives. */
int filter_compile(const struct filter_expr *f, struct filter_plan *ret, struct diag *d);
void filter_plan_finish(struct filter_plan *p);

/* The plan as bytes of one enable. *ret_bytes is 0 when there is none of that type. -EINVAL with the reason when
 * they are more than a filter holds. */
int filter_plan_ids(const struct filter_plan *p, uint8_t out[FILTER_BYTES_MAX], size_t *ret_bytes, struct diag *d);
int filter_plan_names(const struct filter_plan *p, uint8_t out[FILTER_BYTES_MAX], size_t *ret_bytes, struct diag *d);
/* The conditions on TraceLogging events. */
int filter_plan_payload(const struct filter_plan *p, const struct guid *provider, uint8_t out[FILTER_BYTES_MAX],
			size_t *ret_bytes, struct diag *d);
/* The i-th choice with conditions on a manifest's event, from 0 on, which takes its schema; NULL behind the last. */
const struct filter_choice *filter_plan_manifest(const struct filter_plan *p, uint32_t i);

/* All bytes of the plan, but those of conditions on manifest events: EVENT_FILTER_TYPE_* with what its descriptor points
 * to. `each`: false: no memory; NULL: only whether it can be. */
typedef bool filter_plan_fn(void *ctx, uint32_t type, const uint8_t *bytes, size_t n);
int filter_plan_each(const struct filter_plan *p, const struct guid *provider, filter_plan_fn *each, void *ctx,
		     struct diag *d);
/* Conditions on the fields of a manifest's event, appended to a payload filter (filter/filter_payload.h) that begins with
 * *inout_bytes 0. This folder knows no manifests: src/schema does. -EINVAL with the reason and its column, -ENOMEM. */
typedef int filter_manifest_fn(const struct guid *provider, uint16_t id, const struct filter_conditions *c,
			       uint8_t out[FILTER_BYTES_MAX], size_t *inout_bytes, struct diag *d);
/* Those of all choices on manifest's events. *ret_bytes is 0 when there are none. */
int filter_plan_describe(const struct filter_plan *p, const struct guid *provider, filter_manifest_fn *describe,
			 uint8_t out[FILTER_BYTES_MAX], size_t *ret_bytes, struct diag *d);
/* All bytes of a filter that is a text. Conditions on manifest's events are made by `describe`; they are refused where that
 * is NULL, unless the caller has the bytes of those already (manifest_apart), which are then all conditions that there
 * may be. `each` as above. */
int filter_text_each(const char *text, const struct guid *provider, bool manifest_apart, filter_manifest_fn *describe,
		     filter_plan_fn *each, void *ctx, struct diag *d);

#endif
