/* SPDX-License-Identifier: MIT
 *
 * The filter language: text, its tree, and the tree against an event.
 *
 *   expression  = and { ("or" | "||") and }
 *   and         = not { ("and" | "&&") not }
 *   not         = ("not" | "!") not | "(" expression ")" | test
 *   test        = name                          the event has that field
 *               | name op value                 op: == = != < <= > >= ~ !~ & % is isnot
 *               | name ("between" | "outside") value "," value
 *               | name ["not"] "in" "(" value { "," value } ")"
 *   name        = [ "." ] word { "." word } | "[" any characters "]"
 *   value       = number | word | "text" | 'text'
 *
 * A name is a property of every event (provider, event, id, pid, …; filter_properties) or else a
 * payload field; a leading dot or brackets mean the payload field whatever its name. Struct members
 * and array elements follow after dots: Line.Price.Value, Readings.0.
 *
 * When both sides are whole numbers they compare exactly, as numbers also when one has a
 * fraction; otherwise as text. `~` is "contains", or a * ? pattern of the whole text; it ignores
 * case, and so do provider, event and the GUIDs. `&` is "has a bit in common", `%` "can be divided by",
 * `is` and `isnot` are other words for == and !=. `between` includes both of its ends, `outside` none.
 * A test of a field that the event does not have is false, whatever the operator. The operator `matches`
 * is kept for regular expressions and refused.
 *
 * The parser knows no events: values come from the caller's lookup function.
 *
 * A session's conditions on one event (--payload, PayloadFilter) are the same language behind the event:
 *
 *   clause      = event ":" expression          event: a number or the name of a TraceLogging event
 *
 * where every name means a payload field.
 */
#ifndef FILTER_FILTER_PARSE_H
#define FILTER_FILTER_PARSE_H

#include "base/base.h"

/* ---- the tree ---- */

enum filter_node_type {
	FILTER_NODE_AND,  /* left, right */
	FILTER_NODE_OR,   /* left, right */
	FILTER_NODE_NOT,  /* left */
	FILTER_NODE_HAS,  /* the event has the field `name` */
	FILTER_NODE_TEST, /* name op value */
};
enum filter_test {
	FILTER_TEST_EQ,
	FILTER_TEST_NE,
	FILTER_TEST_LT,
	FILTER_TEST_LE,
	FILTER_TEST_GT,
	FILTER_TEST_GE,
	FILTER_TEST_LIKE,
	FILTER_TEST_NOT_LIKE,
	FILTER_TEST_BITS,
	FILTER_TEST_DIVISIBLE,
	FILTER_TEST_BETWEEN, /* value to high */
	FILTER_TEST_OUTSIDE,
	FILTER_TEST_COUNT,
};
struct filter_span {
	uint32_t at, bytes; /* of the text */
};
struct filter_number {
	bool valid, is_int, negative;
	uint64_t magnitude; /* is_int */
	double real;
};
struct filter_node {
	enum filter_node_type type;
	enum filter_test test;
	bool payload;         /* `name` means the payload field whatever it is called */
	bool nocase, event;   /* text compares without case; as the name of an event */
	uint32_t left, right; /* numbers of nodes */
	char *name, *value, *high;
	struct filter_number number, high_number; /* what they mean as numbers */
	struct filter_span whole, op;             /* op: of TEST, NOT, AND and OR */
	struct filter_span value_at;
};
struct filter_expr {
	struct filter_node *nodes;
	uint32_t count, cap, root;
};

/* -EINVAL with the column (1-based) and the reason in *d, or -ENOMEM. */
int filter_expr_parse(const char *text, struct filter_expr **ret, struct diag *d);
void filter_expr_destroy(struct filter_expr *f);

struct filter_clause {
	char event[256]; /* as it is written */
	bool by_id;      /* a number: an event of a manifest */
	uint16_t id;
	struct filter_expr *expr; /* the clause's own */
};
/* "event: expression". Codes as above. A clause that was parsed has to be finished. */
int filter_clause_parse(const char *text, struct filter_clause *ret, struct diag *d);
void filter_clause_finish(struct filter_clause *c);

/* The i-th name that it tests, from 0 on; NULL behind the last. A name that is tested twice comes twice. */
const char *filter_expr_name(const struct filter_expr *f, uint32_t i, bool *ret_payload);

/* How an operator is written: "==", "between". */
const char *filter_test_word(enum filter_test test);
/* The properties of every event, NULL-terminated. */
#define FILTER_PROPERTY_COUNT 20
extern const char *const filter_properties[FILTER_PROPERTY_COUNT + 1];

/* ---- one event ---- */

struct filter_expr_value {
	const char *text; /* need not be terminated; valid until the next lookup */
	size_t length;
	bool is_number; /* `number` is set; text may be NULL */
	uint64_t number;
};
/* False when the event has no such field. `payload`: only the event's own fields count. */
typedef bool filter_expr_lookup_fn(void *ctx, const char *name, bool payload, struct filter_expr_value *ret);

bool filter_expr_match(const struct filter_expr *f, filter_expr_lookup_fn *lookup, void *ctx);
/* * and ? pattern, or with neither: contained in. Ignores ASCII case. */
bool filter_expr_pattern(const char *pattern, const char *text, size_t n);
/* Is an event of the name `text` meant? "Process/Start" is also just "Start"; ignores case. */
bool filter_expr_event_is(const char *wanted, const char *text, size_t n);

/* ---- inside this folder ---- */

/* What a text means as a number; `valid` only when all of it is one. */
struct filter_number filter_number_of(const char *s, size_t n);
/* Bytes of names and unquoted values, besides letters, digits and bytes above 127. */
#define FILTER_NAME_BYTES  "_.-:$#@/"
#define FILTER_VALUE_BYTES "_.-:+*?/{}%@#\\"
bool filter_word_byte(char c, const char *more);
/* The parser tells where it expects what, in the order of the text; see filter_complete.c. */
enum filter_expects { FILTER_EXPECTS_NAME, FILTER_EXPECTS_OPERATOR, FILTER_EXPECTS_VALUE, FILTER_EXPECTS_JOIN };
struct filter_expectation {
	enum filter_expects what;
	const char *at;
	const char *name; /* of the test; OPERATOR and VALUE; valid during the call */
	bool in_list, nested;
};
typedef void filter_expectation_fn(void *ctx, const struct filter_expectation *e);
void filter_expr_expectations(const char *text, filter_expectation_fn *each, void *ctx);

#endif
