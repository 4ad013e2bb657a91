/* SPDX-License-Identifier: MIT
 *
 * The filter language: text, its tree, and the tree against an event. docs/filters.md is for its users.
 *
 *   expression  = and { ("or" | "||") and }
 *   and         = not { ("and" | "&&") not }
 *   not         = ("not" | "!") not | "(" expression ")" | test
 *   test        = name                          the event has that field
 *               | name op value                 op: ==  =  !=  <  <=  >  >=  ~  !~  &  %  is  isnot
 *               | name ("=~" | "!~" | ["not"] "matches") regex
 *               | name ("between" | "outside") value "," value
 *               | name ["not"] "in" (range | "(" item { "," item } ")")
 *               | ("stack" | "text") "has" value
 *   item        = value | range
 *   range       = value ".." value
 *   name        = [ "." ] word { "." word } | "[" any characters "]"
 *   value       = number [ unit ] | word | "text" | 'text'
 *   unit        = "ns" | "us" | "ms" | "s" | "m" | "h" | "K" | "M" | "G" | "T"    also "Ki", "KB", "KiB", …: 1024 each
 *   regex       = "/" pattern "/" [ "i" ] | "text"
 *
 * A name is a property of every event (provider, event, id, pid, …; filter_properties) or else a
 * payload field; a leading dot or brackets mean the payload field whatever its name. Struct members
 * and array elements follow after dots: Line.Price.Value, Readings.0.
 *
 * When both sides are whole numbers they compare exactly, as numbers also when one has a
 * fraction; otherwise as text. `~` is "contains", or a * ? pattern of the whole text; it ignores
 * case, and so do provider, event and the GUIDs. `&` is "has a bit in common", `%` "can be divided by",
 * `is` and `isnot` are other words for == and !=. `between`, `in` and ranges include both of their ends, `outside`
 * none. A test of a field that the event does not have is false, whatever the operator.
 *
 * Units. A size is a number, in bytes. A duration is compared with `duration`, with `time` (then it counts from the
 * start of the trace), or with a payload field whose name says its unit (WaitedMs, elapsed_us); elsewhere it is
 * refused, because nobody knows what the field counts. A quoted value has no unit.
 *
 * `time` takes a date with a time of day, a time of day (of the day on which the trace starts), or a duration since
 * its start. The last two have a meaning only after filter_expr_set_start().
 *
 * `stack has` asks for a frame of the call stack, "module!function"; `text has` for a text that the event carries:
 * some field's text has it, and so have the bytes of the payload (filter_node_literal()); or bytes that no schema
 * describes have it (filter_bytes_have()). Both take what `~` takes.
 *
 * Regular expressions are those of the engine in the dialect. Without an engine they are parsed, and can be printed and
 * refused with their column, but they match nothing.
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
	FILTER_TEST_REGEX,     /* value is the pattern */
	FILTER_TEST_NOT_REGEX, /* likewise */
	FILTER_TEST_HAS,       /* of stack and text */
	FILTER_TEST_COUNT,
};
struct filter_span {
	uint32_t at, bytes; /* of the text */
};
enum filter_unit {
	FILTER_UNIT_NONE,
	FILTER_UNIT_SIZE,     /* the number is in bytes */
	FILTER_UNIT_DURATION, /* the number is in ns, or in the unit of the payload field */
	FILTER_UNIT_SINCE,    /* of `time`: `relative` from the start of the trace */
	FILTER_UNIT_CLOCK,    /* of `time`: `relative` from midnight */
};
struct filter_number {
	bool valid, is_int, negative;
	uint8_t unit;       /* enum filter_unit */
	uint64_t magnitude; /* is_int */
	uint64_t relative;  /* 100 ns; the number is valid after filter_expr_set_start() */
	double real;
};
/* What a name means, in the order of filter_properties. */
enum filter_property {
	FILTER_PROPERTY_TIME,
	FILTER_PROPERTY_PROVIDER,
	FILTER_PROPERTY_PROVIDER_GUID,
	FILTER_PROPERTY_EVENT,
	FILTER_PROPERTY_ID,
	FILTER_PROPERTY_VERSION,
	FILTER_PROPERTY_CHANNEL,
	FILTER_PROPERTY_LEVEL,
	FILTER_PROPERTY_OPCODE,
	FILTER_PROPERTY_TASK,
	FILTER_PROPERTY_KEYWORDS,
	FILTER_PROPERTY_CPU,
	FILTER_PROPERTY_PID,
	FILTER_PROPERTY_TID,
	FILTER_PROPERTY_PROCESS,
	FILTER_PROPERTY_THREAD,
	FILTER_PROPERTY_FILE,
	FILTER_PROPERTY_ACTIVITY,
	FILTER_PROPERTY_RELATED_ACTIVITY,
	FILTER_PROPERTY_LENGTH,
	FILTER_PROPERTY_DURATION, /* ns */
	FILTER_PROPERTY_COUNT,
	FILTER_PROPERTY_STACK = FILTER_PROPERTY_COUNT, /* "module!function" of each frame, see filter_expr_value */
	FILTER_PROPERTY_TEXT,                          /* of each field, likewise */
	FILTER_PROPERTY_FIELD,                         /* none of these: a field of the payload */
};
struct filter_node {
	enum filter_node_type type;
	enum filter_test test;
	enum filter_property property; /* of HAS and TEST: what `name` means */
	bool payload;                  /* `name` means the payload field whatever it is called */
	bool nocase, event;            /* text compares without case; as the name of an event */
	bool quoted, high_quoted;      /* the value stood in quotes, and would mean something else without */
	void *regex;                   /* of the dialect's engine; NULL: not compiled */
	uint32_t left, right;          /* numbers of nodes */
	char *name, *value, *high;
	struct filter_number number, high_number; /* what they mean as numbers */
	struct filter_span whole, op;             /* op: of TEST, NOT, AND and OR */
	struct filter_span value_at;
};
struct filter_regex_engine;
struct filter_expr {
	struct filter_node *nodes;
	uint32_t count, cap, root;
	const struct filter_regex_engine *engine;
};

/* Regular expressions, which this folder does not know how to match: src/regex does. */
struct filter_regex_engine {
	/* 0; -EINVAL with the reason in *d and the byte of the pattern in *ret_at; -ENOTSUP with the reason; -ENOMEM. */
	int (*compile)(const char *pattern, size_t n, bool nocase, void **ret, size_t *ret_at, struct diag *d);
	/* 1, 0, or negative: it was given up. Any thread. */
	int (*match)(void *regex, const char *text, size_t n);
	uint64_t (*given_up)(const void *regex); /* how often */
	void (*destroy)(void *regex);
};
/* What a caller's filters may hold. All of it may be NULL. */
struct filter_dialect {
	const struct filter_regex_engine *regex;
	/* The only names that there are, NULL-terminated; those of properties mean these. */
	const char *const *names;
};

/* -EINVAL with the column (1-based) and the reason in *d, or -ENOMEM. */
int filter_expr_parse_in(const struct filter_dialect *dialect, const char *text, struct filter_expr **ret,
			 struct diag *d);
/* The same without a dialect: for those who do not match. */
int filter_expr_parse(const char *text, struct filter_expr **ret, struct diag *d);
void filter_expr_destroy(struct filter_expr *f);

/* When the trace starts (100 ns since 1601), and by how much local time is ahead of UTC where times of day are local.
 * Until this is called no event passes a test of a relative time. May be called again. */
void filter_expr_set_start(struct filter_expr *f, uint64_t start_filetime, int64_t ahead_100ns);
bool filter_expr_needs_start(const struct filter_expr *f);
/* How often a regular expression ran into a limit. Such a test is false, and =~ and !~ alike; that has to be told. */
uint64_t filter_expr_given_up(const struct filter_expr *f);

struct filter_clause {
	char event[256]; /* as it is written */
	bool by_id;      /* a number: an event of a manifest */
	uint16_t id;
	struct filter_expr *expr; /* the clause's own */
};
/* "event: expression". Codes as above. A clause that was parsed has to be finished. */
int filter_clause_parse(const char *text, struct filter_clause *ret, struct diag *d);
void filter_clause_finish(struct filter_clause *c);

/* The i-th name of a property or a field that it tests, from 0 on; NULL behind the last. A name that is tested twice comes
 * twice. The column is 1-based. */
const char *filter_expr_name(const struct filter_expr *f, uint32_t i, bool *ret_payload, uint32_t *ret_column);
/* As text that parses to the same tree. */
void filter_expr_print(const struct filter_expr *f, struct strbuf *out);

/* How an operator is written: "==", "between". */
const char *filter_test_word(enum filter_test test);
/* The properties of every event, NULL-terminated. */
extern const char *const filter_properties[FILTER_PROPERTY_COUNT + 1];
/* FILTER_PROPERTY_FIELD: it is none of them. */
enum filter_property filter_property_of(const char *name);

/* ---- one event ---- */

struct filter_expr_value {
	const char *text; /* need not be terminated; valid until the next lookup */
	size_t length;
	bool is_number; /* `number` is set; text may be NULL */
	uint64_t number;
	/* Said by the one who asks: of `stack` and `text` there are several, which are asked for from 0 on until one is
	 * absent. A frame is "module!function", or what of it is known. */
	uint32_t index;
};
/* False when the event has no such field. `payload`: only the event's own fields count. */
typedef bool filter_expr_lookup_fn(void *ctx, const char *name, bool payload, struct filter_expr_value *ret);

/* "stack" and "text" are asked for by these names, without `payload`, and with an index. A field that is called "text" is
 * asked for with `payload`. */
bool filter_expr_match(const struct filter_expr *f, filter_expr_lookup_fn *lookup, void *ctx);

/* ---- an event that is known in part ----
 *
 * A query engine knows some values of an event without decoding it, and would like to decode as few events as it can.
 * It answers FILTER_VALUE_UNKNOWN for what it does not know yet. The result is FILTER_UNKNOWN only when it depends on
 * one of these: `level <= error and Status == 500` is FILTER_NO for an event of level 4 whatever its Status.
 *
 *	FILTER_NO and x = FILTER_NO		FILTER_YES or x = FILTER_YES		not FILTER_UNKNOWN = FILTER_UNKNOWN
 *
 * A filter is split at its outermost "and" into conjuncts. Each says which properties it asks for. One that asks for
 * a single property becomes a set: evaluate it once for each value that the column has. One that asks for several
 * columns is evaluated over those. Only the conjuncts that ask for FILTER_PROPERTY_FIELD need the event itself.
 *
 *	uint32_t part[FILTER_CONJUNCTS_MAX];
 *	size_t n = filter_expr_conjuncts(f, part);
 *	for (size_t i = 0; i < n; i++) {
 *		uint32_t asks = filter_expr_asks(f, part[i]);
 *		if (asks == FILTER_ASKS(PROVIDER)) {
 *			for each provider: set[provider] = filter_expr_try_part(f, part[i], one_provider, &ctx) == FILTER_YES;
 *		}
 *	}
 */

enum filter_truth { FILTER_NO, FILTER_YES, FILTER_UNKNOWN };
enum filter_answer {
	FILTER_VALUE_ABSENT,  /* the event has no such field */
	FILTER_VALUE_PRESENT, /* *ret is set */
	FILTER_VALUE_UNKNOWN, /* nobody has looked yet */
};
/* `n` is of type HAS or TEST: n->property says what is asked for, n->name how a payload field is called. */
typedef enum filter_answer filter_expr_try_lookup_fn(void *ctx, const struct filter_node *n,
						     struct filter_expr_value *ret);

enum filter_truth filter_expr_try(const struct filter_expr *f, filter_expr_try_lookup_fn *lookup, void *ctx);
/* The same of the node `part` and what is below it. */
enum filter_truth filter_expr_try_part(const struct filter_expr *f, uint32_t part, filter_expr_try_lookup_fn *lookup,
				       void *ctx);
/* Does this value pass a node of type TEST or HAS? For engines that look at the nodes themselves. */
bool filter_node_accepts(const struct filter_expr *f, const struct filter_node *n, const struct filter_expr_value *v);

#define FILTER_CONJUNCTS_MAX 64
/* The numbers of the nodes that the outermost "and" joins, in the order of the text; how many. When there are
 * more, one part stands for several of them. */
size_t filter_expr_conjuncts(const struct filter_expr *f, uint32_t ret_parts[FILTER_CONJUNCTS_MAX]);
/* Which properties the node and those below it ask for: bits FILTER_ASKS(TIME) … FILTER_ASKS(FIELD). */
#define FILTER_ASKS(property) (1u << FILTER_PROPERTY_##property)
uint32_t filter_expr_asks(const struct filter_expr *f, uint32_t part);

/* ---- words ---- */

/* * and ? pattern, or with neither: contained in. Ignores ASCII case. */
bool filter_expr_pattern(const char *pattern, const char *text, size_t n);
/* Is an event of the name `text` meant? "Process/Start" is also just "Start"; ignores case. */
bool filter_expr_event_is(const char *wanted, const char *text, size_t n);
/* Is the frame "module!function" meant? As filter_expr_pattern(); the module may be written without its extension. */
bool filter_expr_frame_is(const char *wanted, const char *text, size_t n);
/* What a payload's bytes have to contain so that the event can pass this node, `text has "order*paid"`: the longest part
 * without * and ?. It points into the node. False: the node asks for something else. */
bool filter_node_literal(const struct filter_node *n, const char **ret_text, size_t *ret_bytes);
/* Do bytes contain the text, as UTF-8 or as UTF-16, at any place? Ignores ASCII case. */
bool filter_bytes_contain(const void *bytes, size_t n, const char *text, size_t text_bytes);
/* Is a text of bytes that nobody can decode what a node asks for, `text has "order*paid"`? Their texts are what stands
 * between NULs: of the bytes as UTF-8, and as UTF-16 from the first and from the second byte on. `scratch->failed`: there
 * was no memory. */
bool filter_bytes_have(const struct filter_node *n, const void *bytes, size_t count, struct strbuf *scratch);

/* ---- inside this folder ---- */

/* What a text means as a number; `valid` only when all of it is one. */
struct filter_number filter_number_of(const char *s, size_t n);
/* The same with a unit: a size in bytes, or a duration in ns. *ret_unit is what stands behind the digits. False: not
 * digits with letters behind them. The number is invalid when the letters are no unit. */
bool filter_number_with_unit(const char *s, size_t n, struct filter_number *ret, const char **ret_unit);
/* Of two valid ones: less than, equal to or more than 0. */
int filter_number_compare(const struct filter_number *a, const struct filter_number *b);
/* How many ns a payload field counts, by the end of its name: "WaitedMs"; 0: its name does not say so. */
uint64_t filter_field_unit_ns(const char *name);
/* What the value means for this name and operator. False with the reason in `why`. `quoted`: whether it stood in quotes. */
bool filter_value_mean(const struct filter_node *n, char **inout_value, bool quoted, struct filter_number *ret,
		       struct strbuf *why);
/* Sizes and durations, NULL-terminated: what completion offers. */
extern const char *const filter_size_units[], *const filter_duration_units[];
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
