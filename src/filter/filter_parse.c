/* SPDX-License-Identifier: MIT
 *
 * Text to tree: recursive descent into an array of nodes. Depth and size are limited, so that no
 * expression can exhaust the stack. The lists of `in` become tests joined by or, those of `not in` by and.
 */
#include "filter/filter_parse.h"
#include "base/level.h"
#include "base/parse.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define DEPTH_MAX 64
#define NODES_MAX 4096
#define TEXT_MAX  (1u << 20)

const char *const filter_properties[FILTER_PROPERTY_COUNT + 1] = {
	"time",   "provider", "providerGuid",    "event",  "id",  "version", "channel", "level",
	"opcode", "task",     "keywords",        "cpu",    "pid", "tid",     "process", "thread",
	"file",   "activity", "relatedActivity", "length", NULL,
};

/* In the order in which they are tried: the longer of two that begin alike stands first. */
static const struct {
	const char *word;
	enum filter_test test;
	bool letters;
} operators[] = {
	{"==", FILTER_TEST_EQ, false},          {"!=", FILTER_TEST_NE, false},
	{"!~", FILTER_TEST_NOT_LIKE, false},    {"<=", FILTER_TEST_LE, false},
	{">=", FILTER_TEST_GE, false},          {"=", FILTER_TEST_EQ, false},
	{"<", FILTER_TEST_LT, false},           {">", FILTER_TEST_GT, false},
	{"~", FILTER_TEST_LIKE, false},         {"&", FILTER_TEST_BITS, false},
	{"%", FILTER_TEST_DIVISIBLE, false},    {"between", FILTER_TEST_BETWEEN, true},
	{"outside", FILTER_TEST_OUTSIDE, true}, {"isnot", FILTER_TEST_NE, true},
	{"is", FILTER_TEST_EQ, true},
};

struct parser {
	const char *text, *at;
	const char *end; /* of the last token */
	struct filter_expr *f;
	struct diag *d;
	int err;
	int depth;
	unsigned parentheses;
	bool payload; /* all names mean payload fields */
	filter_expectation_fn *each;
	void *ctx;
};

enum filter_property filter_property_of(const char *name)
{
	for (int i = 0; i < FILTER_PROPERTY_COUNT; i++) {
		if (strcmp(filter_properties[i], name) == 0) {
			return (enum filter_property)i;
		}
	}
	return FILTER_PROPERTY_FIELD;
}

const char *filter_test_word(enum filter_test test)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(operators); i++) {
		if (operators[i].test == test) {
			return operators[i].word;
		}
	}
	return "";
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static uint32_t fail(struct parser *p, const char *at, const char *why)
{
	if (p->err == 0) {
		p->err = -EINVAL;
		if (p->d) {
			p->d->column = (uint32_t)(at - p->text) + 1;
		}
		diag_at(p->d, UINT64_MAX, "%s", why);
	}
	return 0;
}

static void expect(struct parser *p, enum filter_expects what, const char *name, bool in_list)
{
	if (p->each && p->err == 0) {
		struct filter_expectation e = {what, p->at, name, in_list, p->parentheses > 0};
		p->each(p->ctx, &e);
	}
}

static struct filter_span span_of(const struct parser *p, const char *from, const char *to)
{
	return (struct filter_span){(uint32_t)(from - p->text), (uint32_t)(to - from)};
}

static uint32_t add(struct parser *p, struct filter_node n)
{
	struct filter_expr *f = p->f;
	if (p->err || !VEC_ROOM_UP_TO(f->nodes, f->count, f->cap, NODES_MAX)) {
		free(n.name);
		free(n.value);
		free(n.high);
		if (f->count == NODES_MAX) {
			return fail(p, p->at, "the expression is too long");
		}
		p->err = p->err ? p->err : -ENOMEM;
		return 0;
	}
	f->nodes[f->count] = n;
	f->nodes[f->count].property = n.name && !n.payload ? filter_property_of(n.name) : FILTER_PROPERTY_FIELD;
	return f->count++;
}

/* Behind a token. */
static void blanks(struct parser *p)
{
	p->end = p->at;
	while (isspace((unsigned char)*p->at)) {
		p->at++;
	}
}

bool filter_word_byte(char c, const char *more)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr(more, c));
}

static bool keyword(struct parser *p, const char *word)
{
	size_t n = strlen(word);
	if (strncasecmp(p->at, word, n) != 0 || filter_word_byte(p->at[n], "_.")) {
		return false;
	}
	p->at += n;
	blanks(p);
	return true;
}

static bool symbol(struct parser *p, const char *s)
{
	size_t n = strlen(s);
	if (strncmp(p->at, s, n) != 0) {
		return false;
	}
	p->at += n;
	blanks(p);
	return true;
}

static char *copy(struct parser *p, const char *s, size_t n)
{
	char *r = strndup(s, n);
	if (!r) {
		p->err = -ENOMEM;
	}
	return r;
}

static char *parse_name(struct parser *p, bool *ret_payload)
{
	const char *start = p->at;
	expect(p, FILTER_EXPECTS_NAME, NULL, false);
	*ret_payload = p->payload;
	if (*p->at == '[') {
		const char *end = strchr(p->at, ']');
		if (!end || end == p->at + 1) {
			fail(p, start, end ? "no field name between the brackets" : "']' is missing");
			return NULL;
		}
		*ret_payload = true;
		p->at = end + 1;
		blanks(p);
		return copy(p, start + 1, (size_t)(end - start - 1));
	}
	if (*p->at == '.') {
		*ret_payload = true;
		start = ++p->at;
	}
	while (filter_word_byte(*p->at, FILTER_NAME_BYTES)) {
		p->at++;
	}
	if (p->at == start) {
		fail(p, start, *start ? "a field name is expected here" : "the expression ends too early");
		return NULL;
	}
	char *r = copy(p, start, (size_t)(p->at - start));
	blanks(p);
	return r;
}

static char *parse_quoted(struct parser *p)
{
	const char *start = p->at;
	struct strbuf b = {0};
	strbuf_adds(&b, "");
	for (p->at++; *p->at && *p->at != *start; p->at++) {
		if (*p->at == '\\' && (p->at[1] == *start || p->at[1] == '\\')) {
			p->at++;
		}
		strbuf_addc(&b, *p->at);
	}
	if (*p->at == 0) {
		strbuf_finish(&b);
		fail(p, start, "the closing quote is missing");
		return NULL;
	}
	p->at++;
	blanks(p);
	char *r = b.failed ? NULL : copy(p, b.s ? b.s : "", b.len);
	p->err = b.failed ? -ENOMEM : p->err;
	strbuf_finish(&b);
	return r;
}

static char *parse_value(struct parser *p, const char *name, bool in_list)
{
	const char *start = p->at;
	expect(p, FILTER_EXPECTS_VALUE, name, in_list);
	if (*start == '"' || *start == '\'') {
		return parse_quoted(p);
	}
	/* Inside a word = may stand, too, as it does in what is behind the ? of a URL. */
	while (filter_word_byte(*p->at, FILTER_VALUE_BYTES) || (p->at > start && *p->at == '=')) {
		p->at++;
	}
	if (p->at == start) {
		fail(p, start, "a value is expected here: a number, a word, or \"text\"");
		return NULL;
	}
	char *r = copy(p, start, (size_t)(p->at - start));
	blanks(p);
	return r;
}

/* ---- what a value means ---------------------------------------------------------------------- */

static bool is_name(const struct filter_node *n, const char *name)
{
	return !n->payload && n->name && strcmp(n->name, name) == 0;
}

static void prepare_value(struct parser *p, const struct filter_node *n, char **inout_value,
			  struct filter_number *ret_number, const char *at)
{
	bool pattern = n->test == FILTER_TEST_LIKE || n->test == FILTER_TEST_NOT_LIKE;
	struct guid g;
	*ret_number = filter_number_of(*inout_value, strlen(*inout_value));
	if (is_name(n, "level") && !pattern) {
		uint8_t level;
		if (!level_parse(*inout_value, strlen(*inout_value), &level)) {
			fail(p, at, "level is a number or critical, error, warning, info or verbose");
			return;
		}
		*ret_number = (struct filter_number){true, true, false, level, level};
	} else if (is_name(n, "time") && !pattern) {
		uint64_t t;
		if (!parse_time(*inout_value, &t)) {
			fail(p, at, "time is written as \"2026-01-31T12:00:00\", with Z for UTC");
			return;
		}
		*ret_number = (struct filter_number){true, true, false, t, (double)t};
	} else if ((is_name(n, "provider") || is_name(n, "activity") || is_name(n, "relatedActivity") ||
		    is_name(n, "providerGuid")) &&
		   guid_parse(*inout_value, &g) == 0) {
		char text[37];
		guid_format(&g, text);
		free(*inout_value);
		*inout_value = copy(p, text, 36);
	}
}

/* Takes what the values can mean for this name out of the evaluator's way. */
static void prepare(struct parser *p, struct filter_node *n, const char *at, const char *high_at)
{
	struct guid g;
	if (is_name(n, "provider") && guid_parse(n->value, &g) == 0) {
		free(n->name);
		n->name = copy(p, "providerGuid", 12);
	}
	n->nocase = is_name(n, "provider") || is_name(n, "event") || is_name(n, "activity") ||
		    is_name(n, "relatedActivity") || is_name(n, "providerGuid");
	n->event = is_name(n, "event") && (n->test == FILTER_TEST_EQ || n->test == FILTER_TEST_NE);
	prepare_value(p, n, &n->value, &n->number, at);
	if (n->high) {
		prepare_value(p, n, &n->high, &n->high_number, high_at);
	}
	const struct filter_number *low = &n->number, *high = &n->high_number;
	if (n->test == FILTER_TEST_BITS && !low->is_int) {
		fail(p, at, "'&' needs a whole number");
	} else if (n->test == FILTER_TEST_DIVISIBLE && (!low->is_int || low->magnitude == 0)) {
		fail(p, at, low->is_int ? "nothing can be divided by 0" : "'%' needs a whole number");
	} else if (n->high && low->valid != high->valid) {
		fail(p, at, "the interval's ends are a number and a text");
	}
}

/* "low,high", or both in one pair of quotes. */
static bool parse_high(struct parser *p, struct filter_node *n, const char **ret_at)
{
	char *comma = n->value ? strchr(n->value, ',') : NULL;
	*ret_at = p->at;
	if (symbol(p, ",")) {
		*ret_at = p->at;
		n->high = parse_value(p, n->name, false);
	} else if (comma) {
		*comma = 0;
		comma += 1 + strspn(comma + 1, " ");
		n->high = copy(p, comma, strlen(comma));
	} else if (n->value) {
		fail(p, p->at, "',' and the end of the interval are expected here");
	}
	return n->high != NULL;
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

static uint32_t parse_list(struct parser *p, struct filter_node proto, const char *start, bool negate)
{
	uint32_t all = 0;
	bool first = true;
	if (!symbol(p, "(")) {
		free(proto.name);
		return fail(p, p->at, "'(' is expected after in");
	}
	if (p->depth + 2 > DEPTH_MAX) { /* so that it can be printed as what it becomes */
		free(proto.name);
		return fail(p, p->at, "the expression is nested too deeply");
	}
	do {
		struct filter_node n = {.type = FILTER_NODE_TEST,
					.test = negate ? FILTER_TEST_NE : FILTER_TEST_EQ,
					.payload = proto.payload,
					.op = proto.op};
		const char *at = p->at;
		n.value = parse_value(p, proto.name, true);
		n.name = n.value ? copy(p, proto.name, strlen(proto.name)) : NULL;
		n.value_at = span_of(p, at, p->end > at ? p->end : at);
		n.whole = span_of(p, start, p->end > start ? p->end : start);
		if (n.name) {
			prepare(p, &n, at, at);
		}
		uint32_t one = add(p, n);
		all = first ? one : join(p, negate ? FILTER_NODE_AND : FILTER_NODE_OR, all, one, proto.op);
		first = false;
		expect(p, FILTER_EXPECTS_JOIN, NULL, true);
	} while (p->err == 0 && symbol(p, ","));
	free(proto.name);
	if (p->err == 0 && !symbol(p, ")")) {
		fail(p, p->at, "',' or ')' is expected here");
	}
	return all;
}

/* What stands behind a name: true when it was an operator. */
static bool parse_operator(struct parser *p, struct filter_node *n)
{
	const char *start = p->at;
	for (size_t i = 0; i < BASE_ARRAY_LEN(operators); i++) {
		bool both = operators[i].test == FILTER_TEST_BITS && strncmp(p->at, "&&", 2) == 0;
		if (!both && (operators[i].letters ? keyword(p, operators[i].word) : symbol(p, operators[i].word))) {
			n->type = FILTER_NODE_TEST;
			n->test = operators[i].test;
			n->op = span_of(p, start, p->end);
			return true;
		}
	}
	if (keyword(p, "matches")) {
		fail(p, start, "there are no regular expressions yet; ~ takes * and ?");
	}
	return false;
}

static uint32_t parse_test(struct parser *p)
{
	struct filter_node n = {.type = FILTER_NODE_HAS};
	const char *start = p->at, *high_at = NULL;
	n.name = parse_name(p, &n.payload);
	if (!n.name) {
		return 0;
	}
	expect(p, FILTER_EXPECTS_OPERATOR, n.name, false);
	const char *before = p->at, *end = p->end;
	if (keyword(p, "not")) {
		if (keyword(p, "in")) {
			n.op = span_of(p, before, p->end);
			return parse_list(p, n, start, true);
		}
		p->at = before;
		p->end = end;
	} else if (keyword(p, "in")) {
		n.op = span_of(p, before, p->end);
		return parse_list(p, n, start, false);
	}
	if (parse_operator(p, &n)) {
		const char *at = p->at;
		n.value = parse_value(p, n.name, false);
		n.value_at = span_of(p, at, p->end > at ? p->end : at);
		bool interval = n.test == FILTER_TEST_BETWEEN || n.test == FILTER_TEST_OUTSIDE;
		if (n.value && (!interval || parse_high(p, &n, &high_at))) {
			prepare(p, &n, at, high_at);
		}
	}
	n.whole = span_of(p, start, p->end > start ? p->end : start);
	return add(p, n);
}

static uint32_t parse_not(struct parser *p)
{
	const char *start = p->at;
	if (++p->depth > DEPTH_MAX) {
		return fail(p, p->at, "the expression is nested too deeply");
	}
	uint32_t r;
	if (keyword(p, "not") || (p->at[0] == '!' && p->at[1] != '=' && p->at[1] != '~' && symbol(p, "!"))) {
		struct filter_span op = span_of(p, start, p->end);
		r = parse_not(p);
		r = p->err ? 0
			   : add(p, (struct filter_node){.type = FILTER_NODE_NOT,
							 .left = r,
							 .whole = span_of(p, start, p->end),
							 .op = op});
	} else if (symbol(p, "(")) {
		p->parentheses++;
		r = parse_or(p);
		if (p->err == 0 && !symbol(p, ")")) {
			fail(p, p->at, "')' is missing");
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
		expect(p, FILTER_EXPECTS_JOIN, NULL, false);
		if (p->err || (!keyword(p, "and") && !symbol(p, "&&"))) {
			return r;
		}
		struct filter_span op = span_of(p, start, p->end);
		uint32_t right = parse_not(p);
		r = join(p, FILTER_NODE_AND, r, right, op);
	}
}

static uint32_t parse_or(struct parser *p)
{
	uint32_t r = parse_and(p);
	for (;;) {
		const char *start = p->at;
		if (p->err || (!keyword(p, "or") && !symbol(p, "||"))) {
			return r;
		}
		struct filter_span op = span_of(p, start, p->end);
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
	if (strlen(p->text) > TEXT_MAX) {
		fail(p, p->text + TEXT_MAX, "the expression is too long");
	} else {
		blanks(p);
		f->root = parse_or(p);
	}
	if (p->err == 0 && *p->at) {
		fail(p, p->at, "'and', 'or' or the end is expected here");
	}
	if (p->err) {
		filter_expr_destroy(f);
		return p->err;
	}
	*ret = f;
	return 0;
}

int filter_expr_parse(const char *text, struct filter_expr **ret, struct diag *d)
{
	struct parser p = {.text = text, .at = text, .d = d};
	return parse_all(&p, ret);
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
		fail(&p, event, "write EVENT: FIELD OP VALUE, up to 8 joined by 'and' or all by 'or'");
		return p.err;
	}
	if (n >= sizeof c.event) {
		fail(&p, event, "the event's name is longer than 255 bytes");
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
		free(f->nodes[i].name);
		free(f->nodes[i].value);
		free(f->nodes[i].high);
	}
	free(f->nodes);
	free(f);
}

const char *filter_expr_name(const struct filter_expr *f, uint32_t i, bool *ret_payload)
{
	for (uint32_t k = 0; k < f->count; k++) {
		const struct filter_node *n = &f->nodes[k];
		if ((n->type == FILTER_NODE_HAS || n->type == FILTER_NODE_TEST) && i-- == 0) {
			*ret_payload = n->payload;
			return n->name;
		}
	}
	return NULL;
}
