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
 * A name is a property of every event (provider, event, id, pid, …; cli_filter_names) or else a
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
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "base/base.h"

struct cli_filter;

struct cli_filter_value {
	const char *text; /* need not be terminated; valid until the next lookup */
	size_t length;
	bool is_number; /* `number` is set; text may be NULL */
	uint64_t number;
};
/* False when the event has no such field. `payload`: only the event's own fields count. */
typedef bool cli_filter_lookup_fn(void *ctx, const char *name, bool payload,
				  struct cli_filter_value *ret);

/* -EINVAL with the column (1-based) and the reason in *d, or -ENOMEM. */
int cli_filter_parse(const char *text, struct cli_filter **ret, struct diag *d);
bool cli_filter_match(const struct cli_filter *f, cli_filter_lookup_fn *lookup, void *ctx);
/* The i-th name that it tests, from 0 on; NULL behind the last. A name that is tested twice comes twice. */
const char *cli_filter_name(const struct cli_filter *f, uint32_t i, bool *ret_payload);
void cli_filter_destroy(struct cli_filter *f);

/* 0-255, or always|critical|error|warning|info(rmational)|verbose, also as win:Error. */
bool cli_level_parse(const char *s, size_t n, uint8_t *ret);
/* * and ? pattern, or with neither: contained in. Ignores ASCII case. */
bool cli_pattern_match(const char *pattern, const char *text, size_t n);
/* Is an event of the name `text` meant? "Process/Start" is also just "Start"; ignores case. */
bool cli_event_is(const char *wanted, const char *text, size_t n);

#endif
