/* SPDX-License-Identifier: MIT
 *
 * Text to tree: recursive descent into an array of nodes. Depth and size are limited, so that no
 * expression can exhaust the stack. The lists of `in` become tests joined by or, those of `not in` by and.
 */
#include "filter/filter_parser.h"

#include "base/nearest.h"
#include "base/parse.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>

#define DEPTH_MAX 64
#define NODES_MAX 4096
#define TEXT_MAX  (1u << 20)

const char *const filter_properties[FILTER_PROPERTY_COUNT + 1] = {
	"time",   "provider", "providerGuid",    "event",  "id",       "version", "channel", "level",
	"opcode", "task",     "keywords",        "cpu",    "pid",      "tid",     "process", "thread",
	"file",   "activity", "relatedActivity", "length", "duration", NULL,
};

enum filter_property filter_property_of(const char *name)
{
	for (int i = 0; i < FILTER_PROPERTY_COUNT; i++) {
		if (strcmp(filter_properties[i], name) == 0) {
			return (enum filter_property)i;
		}
	}
	return strcmp(name, "stack") == 0 ? FILTER_PROPERTY_STACK : FILTER_PROPERTY_FIELD;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void node_finish(const struct filter_expr *f, struct filter_node *n)
{
	free(n->name);
	free(n->value);
	free(n->high);
	if (n->regex) {
		f->engine->destroy(n->regex);
	}
}

static uint32_t add(struct parser *p, struct filter_node n)
{
	struct filter_expr *f = p->f;
	if (p->err || !VEC_ROOM_UP_TO(f->nodes, f->count, f->cap, NODES_MAX)) {
		node_finish(f, &n);
		if (f->count == NODES_MAX) {
			return filter_fail(p, p->at, "the expression is too long");
		}
		p->err = p->err ? p->err : -ENOMEM;
		return 0;
	}
	f->nodes[f->count] = n;
	return f->count++;
}

/* ---- what a test means ----------------------------------------------------------------------- */

static bool mean(struct parser *p, const struct filter_node *n, char **inout_value, const struct written *w,
		 struct filter_number *ret, bool *ret_quoted)
{
	struct strbuf why = {0};
	struct filter_number x;
	const char *unit;
	*ret_quoted = w->quoted && filter_number_with_unit(*inout_value, strlen(*inout_value), &x, &unit);
	bool fine = filter_value_mean(n, inout_value, w->quoted, ret, &why);
	if (fine) {
		strbuf_finish(&why);
	} else {
		filter_fail_with(p, w->at, &why);
	}
	return fine;
}

/* Takes what the values can mean for this name out of the evaluator's way. */
static void prepare(struct parser *p, struct filter_node *n, const struct written *low, const struct written *high)
{
	struct guid g;
	if (n->property == FILTER_PROPERTY_PROVIDER && guid_parse(n->value, &g) == 0) {
		free(n->name);
		n->name = filter_copy(p, "providerGuid", 12);
		n->property = FILTER_PROPERTY_PROVIDER_GUID;
	}
	n->nocase = n->property == FILTER_PROPERTY_PROVIDER || n->property == FILTER_PROPERTY_PROVIDER_GUID ||
		    n->property == FILTER_PROPERTY_EVENT || n->property == FILTER_PROPERTY_ACTIVITY ||
		    n->property == FILTER_PROPERTY_RELATED_ACTIVITY;
	n->event = n->property == FILTER_PROPERTY_EVENT && (n->test == FILTER_TEST_EQ || n->test == FILTER_TEST_NE);
	bool fine = p->err == 0 && mean(p, n, &n->value, low, &n->number, &n->quoted) &&
		    (!n->high || mean(p, n, &n->high, high, &n->high_number, &n->high_quoted));
	if (!fine) {
		return;
	}
	const struct filter_number *a = &n->number, *b = &n->high_number;
	if (n->test == FILTER_TEST_BITS && !a->is_int) {
		filter_fail(p, low->at, "'&' needs a whole number");
	} else if (n->test == FILTER_TEST_DIVISIBLE && (!a->is_int || a->magnitude == 0)) {
		filter_fail(p, low->at, a->is_int ? "nothing can be divided by 0" : "'%' needs a whole number");
	} else if (n->high &&
		   (a->valid != b->valid || a->unit > FILTER_UNIT_DURATION || b->unit > FILTER_UNIT_DURATION) &&
		   !(n->property == FILTER_PROPERTY_TIME)) {
		filter_fail(p, low->at, "the interval's ends are a number and a text");
	} else if (n->high && a->valid && b->valid && filter_number_compare(a, b) > 0) {
		filter_fail(p, low->at, "the interval ends before it begins");
	}
}

/* Of terms that are no fields there is only one test. */
static bool check_term(struct parser *p, struct filter_node *n, const char *start, const char *op)
{
	bool has = n->type == FILTER_NODE_TEST && n->test == FILTER_TEST_HAS;
	bool regex = n->type == FILTER_NODE_TEST && n->test == FILTER_TEST_REGEX;
	if (has && n->property == FILTER_PROPERTY_FIELD && !n->payload && strcmp(n->name, "text") == 0 && !p->names) {
		n->property = FILTER_PROPERTY_TEXT;
	}
	if (has && n->property != FILTER_PROPERTY_STACK && n->property != FILTER_PROPERTY_TEXT) {
		filter_fail(p, op, "'has' is for stack and text; of a field, ~ is \"contains\"");
	} else if (n->type == FILTER_NODE_TEST && !has && !regex && n->property == FILTER_PROPERTY_STACK) {
		filter_fail(p, op, "write stack has \"module!function\", or .stack for a field of that name");
	}
	(void)start;
	return p->err == 0;
}

/* In a dialect that says which names there are. */
static bool check_name(struct parser *p, const struct filter_node *n, const char *start)
{
	if (!p->names || p->each) {
		return true;
	}
	for (size_t i = 0; p->names[i]; i++) {
		if (strcmp(p->names[i], n->name) == 0) {
			return true;
		}
	}
	const char *near = nearest_of(n->name, p->names);
	struct strbuf why = {0};
	strbuf_addf(&why, near ? "no property '%.60s'; did you mean '%s'?" : "no property '%.60s'; there are", n->name,
		    near);
	for (size_t i = 0; !near && p->names[i]; i++) {
		strbuf_addf(&why, " %s", p->names[i]);
	}
	filter_fail_with(p, start, &why);
	return false;
}

static void set_property(const struct parser *p, struct filter_node *n)
{
	n->payload = n->payload && !p->names; /* there is nothing else of these names */
	n->property = n->payload ? FILTER_PROPERTY_FIELD : filter_property_of(n->name);
	bool named = !p->names;
	for (size_t i = 0; !named && p->names[i]; i++) {
		named = strcmp(p->names[i], n->name) == 0;
	}
	n->property = named ? n->property : FILTER_PROPERTY_FIELD;
}

/* ---- grammar --------------------------------------------------------------------------------- */

static uint32_t parse_or(struct parser *p);

static uint32_t join(struct parser *p, enum filter_node_type type, uint32_t left, uint32_t right, struct filter_span op)
{
	if (p->err) {
		return 0;
	}
	const struct filter_span *a = &p->f->nodes[left].whole, *b = &p->f->nodes[right].whole;
	uint32_t at = BASE_MIN(a->at, b->at), end = BASE_MAX(a->at + a->bytes, b->at + b->bytes);
	return add(p,
		   (struct filter_node){.type = type, .left = left, .right = right, .whole = {at, end - at}, .op = op});
}

/* The other end of an interval: behind a comma, or both in one pair of quotes. */
static bool parse_high(struct parser *p, struct filter_node *n, const struct written *low, struct written *ret)
{
	char *comma = strchr(n->value, ',');
	*ret = (struct written){.at = p->at, .quoted = low->quoted};
	if (filter_symbol(p, ",")) {
		filter_parse_value(p, n->name, false, false, ret);
		n->high = ret->text;
	} else if (comma) {
		*comma = 0;
		comma += 1 + strspn(comma + 1, " ");
		n->high = filter_copy(p, comma, strlen(comma));
	} else {
		filter_fail(p, p->at, "',' and the end of the interval are expected here");
	}
	return n->high != NULL;
}

/* A value, or LOW..HIGH, of the test that `proto` begins; its name is copied. *ret_range: which of them it was. */
static uint32_t parse_item(struct parser *p, const struct filter_node *proto, const char *start, bool negate,
			   bool in_list)
{
	struct filter_node n = *proto;
	struct written low, high;
	const char *at = p->at;
	n.type = FILTER_NODE_TEST;
	n.test = negate ? FILTER_TEST_NE : FILTER_TEST_EQ;
	n.name = NULL;
	bool fine = filter_parse_value(p, proto->name, in_list, true, &low);
	n.value = low.text;
	const char *behind = p->end;
	if (fine && filter_symbol(p, "..")) {
		n.test = negate ? FILTER_TEST_OUTSIDE : FILTER_TEST_BETWEEN;
		fine = filter_parse_value(p, proto->name, in_list, true, &high);
		n.high = high.text;
		behind = p->end;
	} else if (fine && !in_list) {
		filter_fail(p, at, "'(' or LOW..HIGH is expected after in");
		fine = false;
	}
	n.name = fine ? filter_copy(p, proto->name, strlen(proto->name)) : NULL;
	n.value_at = filter_span_of(p, at, behind > at ? behind : at);
	n.whole = filter_span_of(p, start, behind > start ? behind : start);
	if (n.name) {
		prepare(p, &n, &low, &high);
	}
	return add(p, n);
}

static uint32_t parse_list(struct parser *p, const struct filter_node *proto, const char *start, bool negate)
{
	uint32_t all = 0;
	bool first = true;
	if (!filter_symbol(p, "(")) {
		return parse_item(p, proto, start, negate, false);
	}
	if (p->depth + 2 > DEPTH_MAX) { /* so that it can be printed as what it becomes */
		return filter_fail(p, p->at, "the expression is nested too deeply");
	}
	do {
		uint32_t one = parse_item(p, proto, start, negate, true);
		all = first ? one : join(p, negate ? FILTER_NODE_AND : FILTER_NODE_OR, all, one, proto->op);
		first = false;
		filter_expect(p, FILTER_EXPECTS_JOIN, NULL, true);
	} while (p->err == 0 && filter_symbol(p, ","));
	if (p->err == 0 && !filter_symbol(p, ")")) {
		filter_fail(p, p->at, "',' or ')' is expected here");
	}
	return all;
}

/* What is behind the operator. */
static void parse_right(struct parser *p, struct filter_node *n)
{
	struct written low, high = {0};
	if (n->test == FILTER_TEST_NOT_LIKE && filter_at_regex(p)) {
		n->test = FILTER_TEST_NOT_REGEX;
	}
	if (n->test == FILTER_TEST_REGEX || n->test == FILTER_TEST_NOT_REGEX) {
		filter_parse_regex(p, n);
		return;
	}
	const char *at = p->at;
	bool fine = filter_parse_value(p, n->name, false, false, &low);
	bool interval = n->test == FILTER_TEST_BETWEEN || n->test == FILTER_TEST_OUTSIDE;
	n->value = low.text;
	n->value_at = filter_span_of(p, at, p->end > at ? p->end : at);
	if (fine && (!interval || parse_high(p, n, &low, &high))) {
		prepare(p, n, &low, &high);
	}
}

static uint32_t parse_test(struct parser *p)
{
	struct filter_node n = {.type = FILTER_NODE_HAS};
	const char *start = p->at;
	n.name = filter_parse_name(p, &n.payload);
	if (!n.name) {
		return 0;
	}
	set_property(p, &n);
	check_name(p, &n, start);
	filter_expect(p, FILTER_EXPECTS_OPERATOR, n.name, false);
	const char *before = p->at, *end = p->end;
	bool negate = filter_keyword(p, "not");
	if (p->err == 0 && filter_keyword(p, "in")) {
		n.op = filter_span_of(p, before, p->end);
		if (n.property == FILTER_PROPERTY_STACK) {
			filter_fail(p, before,
				    "write stack has \"module!function\", or .stack for a field of that name");
		}
		uint32_t list = p->err ? 0 : parse_list(p, &n, start, negate);
		free(n.name);
		return list;
	}
	if (negate && filter_keyword(p, "matches")) {
		n.type = FILTER_NODE_TEST;
		n.test = FILTER_TEST_NOT_REGEX;
		n.op = filter_span_of(p, before, p->end);
		parse_right(p, &n);
	} else if (negate) {
		p->at = before;
		p->end = end;
		filter_check_no_operator(p);
	} else if (filter_parse_operator(p, &n)) {
		if (check_term(p, &n, start, before)) {
			parse_right(p, &n);
		}
	} else {
		filter_check_no_operator(p);
	}
	n.whole = filter_span_of(p, start, p->end > start ? p->end : start);
	return add(p, n);
}

static uint32_t parse_not(struct parser *p)
{
	const char *start = p->at;
	if (++p->depth > DEPTH_MAX) {
		return filter_fail(p, p->at, "the expression is nested too deeply");
	}
	uint32_t r;
	if (filter_keyword(p, "not") ||
	    (p->at[0] == '!' && p->at[1] != '=' && p->at[1] != '~' && filter_symbol(p, "!"))) {
		struct filter_span op = filter_span_of(p, start, p->end);
		r = parse_not(p);
		r = p->err ? 0
			   : add(p, (struct filter_node){.type = FILTER_NODE_NOT,
							 .left = r,
							 .whole = filter_span_of(p, start, p->end),
							 .op = op});
	} else if (filter_symbol(p, "(")) {
		p->parentheses++;
		r = parse_or(p);
		if (p->err == 0 && !filter_symbol(p, ")")) {
			filter_fail(p, p->at, "')' is missing");
		}
		p->parentheses--;
	} else {
		r = parse_test(p);
	}
	p->depth--;
	return r;
}

static uint32_t parse_and(struct parser *p)
{
	uint32_t r = parse_not(p);
	for (;;) {
		const char *start = p->at;
		filter_expect(p, FILTER_EXPECTS_JOIN, NULL, false);
		if (p->err || (!filter_keyword(p, "and") && !filter_symbol(p, "&&"))) {
			return r;
		}
		struct filter_span op = filter_span_of(p, start, p->end);
		uint32_t right = parse_not(p);
		r = join(p, FILTER_NODE_AND, r, right, op);
	}
}

static uint32_t parse_or(struct parser *p)
{
	uint32_t r = parse_and(p);
	for (;;) {
		const char *start = p->at;
		if (p->err || (!filter_keyword(p, "or") && !filter_symbol(p, "||"))) {
			return r;
		}
		struct filter_span op = filter_span_of(p, start, p->end);
		uint32_t right = parse_and(p);
		r = join(p, FILTER_NODE_OR, r, right, op);
	}
}

/* From p->at on to the end of the text. */
static int parse_all(struct parser *p, struct filter_expr **ret)
{
	struct filter_expr *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	p->f = f;
	f->engine = p->regex;
	if (strlen(p->text) > TEXT_MAX) {
		filter_fail(p, p->text + TEXT_MAX, "the expression is too long");
	} else {
		filter_blanks(p);
		f->root = parse_or(p);
	}
	if (p->err == 0 && *p->at) {
		filter_fail(p, p->at, "'and', 'or' or the end is expected here");
	}
	if (p->err) {
		filter_expr_destroy(f);
		return p->err;
	}
	*ret = f;
	return 0;
}

int filter_expr_parse_in(const struct filter_dialect *dialect, const char *text, struct filter_expr **ret,
			 struct diag *d)
{
	struct parser p = {.text = text, .at = text, .d = d, .regex = dialect->regex, .names = dialect->names};
	return parse_all(&p, ret);
}

int filter_expr_parse(const char *text, struct filter_expr **ret, struct diag *d)
{
	static const struct filter_dialect none;
	return filter_expr_parse_in(&none, text, ret, d);
}

int filter_clause_parse(const char *text, struct filter_clause *ret, struct diag *d)
{
	struct parser p = {.text = text, .at = text, .d = d, .payload = true};
	struct filter_clause c = {0};
	const char *colon = strchr(text, ':'), *event = text + strspn(text, " \t");
	size_t n = colon ? (size_t)(colon - event) : 0;
	uint64_t id;
	while (n > 0 && isspace((unsigned char)event[n - 1])) {
		n--;
	}
	if (!colon || colon <= event || n == 0) {
		filter_fail(&p, event, "write EVENT: FIELD OP VALUE, up to 8 joined by 'and' or all by 'or'");
		return p.err;
	}
	if (n >= sizeof c.event) {
		filter_fail(&p, event, "the event's name is longer than 255 bytes");
		return p.err;
	}
	memcpy(c.event, event, n);
	c.by_id = parse_number(c.event, 0, UINT16_MAX, &id);
	c.id = c.by_id ? (uint16_t)id : 0;
	p.at = colon + 1;
	int err = parse_all(&p, &c.expr);
	if (err == 0) {
		*ret = c;
	}
	return err;
}

void filter_clause_finish(struct filter_clause *c)
{
	filter_expr_destroy(c->expr);
	c->expr = NULL;
}

void filter_expr_expectations(const char *text, filter_expectation_fn *each, void *ctx)
{
	struct filter_expr *f;
	struct parser p = {.text = text, .at = text, .each = each, .ctx = ctx};
	if (parse_all(&p, &f) == 0) {
		filter_expr_destroy(f);
	}
}

void filter_expr_destroy(struct filter_expr *f)
{
	if (!f) {
		return;
	}
	for (uint32_t i = 0; i < f->count; i++) {
		node_finish(f, &f->nodes[i]);
	}
	free(f->nodes);
	free(f);
}

const char *filter_expr_name(const struct filter_expr *f, uint32_t i, bool *ret_payload, uint32_t *ret_column)
{
	for (uint32_t k = 0; k < f->count; k++) {
		const struct filter_node *n = &f->nodes[k];
		if ((n->type == FILTER_NODE_HAS || n->type == FILTER_NODE_TEST) &&
		    n->property != FILTER_PROPERTY_TEXT && n->property != FILTER_PROPERTY_STACK && i-- == 0) {
			*ret_payload = n->payload;
			*ret_column = n->whole.at + 1;
			return n->name;
		}
	}
	return NULL;
}

uint64_t filter_expr_given_up(const struct filter_expr *f)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; f && i < f->count; i++) {
		sum += f->nodes[i].regex ? f->engine->given_up(f->nodes[i].regex) : 0;
	}
	return sum;
}
