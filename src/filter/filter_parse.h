/* SPDX-License-Identifier: MIT
 *
 * The expressions of --filter.
 *
 *   expression  = and { ("or" | "||") and }
 *   and         = not { ("and" | "&&") not }
 *   not         = ("not" | "!") not | "(" expression ")" | test
 *   test        = name                          the event has that field
 *               | name op value                 op: == = != < <= > >= ~ !~ &
 *               | name ["not"] "in" "(" value { "," value } ")"
 *   name        = [ "." ] word { "." word } | "[" any characters "]"
 *   value       = number | word | "text" | 'text'
 *
 * A name is a property of every event (provider, event, id, pid, …; filter_expr_names) or else a
 * payload field; a leading dot or brackets mean the payload field whatever its name. Struct members
 * and array elements follow after dots: Line.Price.Value, Readings.0.
 *
 * When both sides are whole numbers they compare exactly, as numbers also when one has a
 * fraction; otherwise as text. `~` is "contains", or a * ? pattern of the whole text; it ignores
 * case, and so do provider, event and the GUIDs. `&` is "has a bit in common". A test of a field
 * that the event does not have is false, whatever the operator.
 *
 * The parser knows no events: values come from the caller's lookup function.
 */
#ifndef FILTER_FILTER_PARSE_H
#define FILTER_FILTER_PARSE_H

#include "base/base.h"

struct filter_expr;

struct filter_expr_value {
	const char *text; /* need not be terminated; valid until the next lookup */
	size_t length;
	bool is_number; /* `number` is set; text may be NULL */
	uint64_t number;
};
/* False when the event has no such field. `payload`: only the event's own fields count. */
typedef bool filter_expr_lookup_fn(void *ctx, const char *name, bool payload, struct filter_expr_value *ret);

/* -EINVAL with the column (1-based) and the reason in *d, or -ENOMEM. */
int filter_expr_parse(const char *text, struct filter_expr **ret, struct diag *d);
bool filter_expr_match(const struct filter_expr *f, filter_expr_lookup_fn *lookup, void *ctx);
/* The i-th name that it tests, from 0 on; NULL behind the last. A name that is tested twice comes twice. */
const char *filter_expr_name(const struct filter_expr *f, uint32_t i, bool *ret_payload);
void filter_expr_destroy(struct filter_expr *f);

/* * and ? pattern, or with neither: contained in. Ignores ASCII case. */
bool filter_expr_pattern(const char *pattern, const char *text, size_t n);
/* Is an event of the name `text` meant? "Process/Start" is also just "Start"; ignores case. */
bool filter_expr_event_is(const char *wanted, const char *text, size_t n);

#endif
