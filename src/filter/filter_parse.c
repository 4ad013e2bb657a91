/* SPDX-License-Identifier: MIT
 *
 * Parser and evaluator of --filter expressions. Recursive descent into an array of nodes; depth and
 * size are limited, so that no expression can exhaust the stack.
 */
#include "filter/filter_parse.h"
#include "base/vec.h"
#include "base/level.h"
#include "base/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define DEPTH_MAX  64
#define NODES_MAX  4096
#define NUMBER_MAX 64 /* characters in a number */

enum node_type { NODE_AND, NODE_OR, NODE_NOT, NODE_HAS, NODE_TEST };
enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_LIKE, OP_NOT_LIKE, OP_BITS };

struct number {
	bool valid, is_int, negative;
	uint64_t magnitude; /* is_int */
	double real;
};
struct node {
	enum node_type type;
	enum op op;
	bool payload, nocase, event;
	uint32_t left, right; /* indices; left only for NOT */
	char *name;
	char *value;
	struct number number;
};
struct filter_expr {
	struct node *nodes;
	uint32_t count, cap, root;
};

struct parser {
	const char *text, *at;
	struct filter_expr *f;
	struct diag *d;
	int err;
	int depth;
};

/* ---- values
 * -------------------------------------------------------------------------------------- */

static struct number number_of(const char *s, size_t n)
{
	struct number r = {0};
	char text[NUMBER_MAX], *end;
	if (n == 0 || n >= sizeof text || isspace((unsigned char)*s)) {
		return r;
	}
	memcpy(text, s, n);
	text[n] = 0;
	const char *digits = text + (text[0] == '-' || text[0] == '+');
	if (!isdigit((unsigned char)*digits) && *digits != '.') {
		return r; /* strtod would take "nan" and "inf" */
	}
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	errno = 0;
	r.magnitude = strtoull(digits, &end, hex ? 16 : 10);
	if (*end == 0 && errno == 0 && end != digits) {
		r.valid = r.is_int = true;
		r.negative = text[0] == '-' && r.magnitude != 0;
		r.real = r.negative ? -(double)r.magnitude : (double)r.magnitude;
		return r;
	}
	if (hex) {
		return r;
	}
	r.real = strtod(text, &end);
	r.valid = *end == 0;
	return r;
}

static int number_compare(const struct number *a, const struct number *b)
{
	if (!a->is_int || !b->is_int) {
		return a->real < b->real ? -1 : a->real > b->real;
	}
	if (a->negative != b->negative) {
		return a->negative ? -1 : 1;
	}
	int order = a->magnitude < b->magnitude ? -1 : a->magnitude > b->magnitude;
	return a->negative ? -order : order;
}

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool contains(const char *text, size_t n, const char *part)
{
	size_t m = strlen(part);
	for (size_t i = 0; i + m <= n; i++) {
		size_t k = 0;
		while (k < m && fold(text[i + k]) == fold(part[k])) {
			k++;
		}
		if (k == m) {
			return true;
		}
	}
	return false;
}

bool filter_expr_pattern(const char *pattern, const char *text, size_t n)
{
	if (!strpbrk(pattern, "*?")) {
		return contains(text, n, pattern);
	}
	/* One position to come back to is enough: a later star absorbs what an earlier one would.
	 */
	const char *star = NULL;
	size_t i = 0, back = 0;
	while (i < n) {
		if (*pattern == '*') {
			star = ++pattern;
			back = i;
		} else if (*pattern && (*pattern == '?' || fold(*pattern) == fold(text[i]))) {
			pattern++;
			i++;
		} else if (star) {
			pattern = star;
			i = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*') {
		pattern++;
	}
	return *pattern == 0;
}

/* ---- parser
 * -------------------------------------------------------------------------------------- */

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

static uint32_t add(struct parser *p, struct node n)
{
	struct filter_expr *f = p->f;
	if (!VEC_ROOM_UP_TO(f->nodes, f->count, f->cap, NODES_MAX)) {
		free(n.name);
		free(n.value);
		if (f->count == NODES_MAX) {
			return fail(p, p->at, "the expression is too long");
		}
		p->err = -ENOMEM;
		return 0;
	}
	f->nodes[f->count] = n;
	return f->count++;
}

static void blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at)) {
		p->at++;
	}
}

/* Characters of names and unquoted values, besides letters, digits and bytes above 127. */
static bool word_char(char c, const char *more)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr(more, c));
}

static bool keyword(struct parser *p, const char *word)
{
	size_t n = strlen(word);
	if (strncasecmp(p->at, word, n) != 0 || word_char(p->at[n], "_.")) {
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
	*ret_payload = false;
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
	while (word_char(*p->at, "_.-:$#@/")) {
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

static char *parse_value(struct parser *p)
{
	const char *start = p->at;
	if (*start == '"' || *start == '\'') {
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
	while (word_char(*p->at, "_.-:+*?/{}%@#\\")) {
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

static bool is_name(const struct node *n, const char *name)
{
	return !n->payload && strcmp(n->name, name) == 0;
}

/* Takes what the value can mean for this name out of the evaluator's way. */
static void prepare(struct parser *p, struct node *n, const char *at)
{
	n->number = number_of(n->value, strlen(n->value));
	bool pattern = n->op == OP_LIKE || n->op == OP_NOT_LIKE;
	struct guid g;
	char text[37];
	if (is_name(n, "level") && !pattern) {
		uint8_t level;
		if (!level_parse(n->value, strlen(n->value), &level)) {
			fail(p, at, "level is a number or critical, error, warning, info or verbose");
			return;
		}
		n->number = (struct number){true, true, false, level, level};
	} else if (is_name(n, "time") && !pattern) {
		uint64_t t;
		if (!parse_time(n->value, &t)) {
			fail(p, at, "time is written as \"2026-01-31T12:00:00\", with Z for UTC");
			return;
		}
		n->number = (struct number){true, true, false, t, (double)t};
	} else if (is_name(n, "provider") && guid_parse(n->value, &g) == 0) {
		free(n->name);
		free(n->value);
		n->name = copy(p, "providerGuid", 12);
		guid_format(&g, text);
		n->value = copy(p, text, 36);
		n->nocase = true;
	} else if (is_name(n, "provider") || is_name(n, "event") || is_name(n, "activity") ||
		   is_name(n, "relatedActivity") || is_name(n, "providerGuid")) {
		n->nocase = true;
		n->event = is_name(n, "event") && (n->op == OP_EQ || n->op == OP_NE);
		if (!is_name(n, "event") && guid_parse(n->value, &g) == 0) {
			guid_format(&g, text);
			free(n->value);
			n->value = copy(p, text, 36);
		}
	}
	if (n->op == OP_BITS && !n->number.is_int) {
		fail(p, at, "'&' needs a whole number");
	}
}

static uint32_t parse_or(struct parser *p);

static uint32_t parse_list(struct parser *p, struct node proto, bool negate)
{
	uint32_t all = 0;
	bool first = true;
	if (!symbol(p, "(")) {
		free(proto.name);
		return fail(p, p->at, "'(' is expected after in");
	}
	do {
		struct node n = {.type = NODE_TEST, .op = OP_EQ, .payload = proto.payload};
		const char *at = p->at;
		n.value = parse_value(p);
		n.name = n.value ? copy(p, proto.name, strlen(proto.name)) : NULL;
		if (n.name) {
			prepare(p, &n, at);
		}
		uint32_t one = add(p, n);
		all = first ? one : add(p, (struct node){.type = NODE_OR, .left = all, .right = one});
		first = false;
	} while (p->err == 0 && symbol(p, ","));
	if (p->err == 0 && !symbol(p, ")")) {
		fail(p, p->at, "',' or ')' is expected here");
	}
	if (negate) {
		/* as everywhere: a field the event does not have passes no test */
		uint32_t none = add(p, (struct node){.type = NODE_NOT, .left = all});
		uint32_t has = add(p, (struct node){.type = NODE_HAS, .payload = proto.payload, .name = proto.name});
		return add(p, (struct node){.type = NODE_AND, .left = has, .right = none});
	}
	free(proto.name);
	return all;
}

static uint32_t parse_test(struct parser *p)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"!~", OP_NOT_LIKE}, {"<=", OP_LE}, {">=", OP_GE},
		   {"=", OP_EQ},  {"<", OP_LT},  {">", OP_GT},        {"~", OP_LIKE}};
	struct node n = {.type = NODE_HAS};
	n.name = parse_name(p, &n.payload);
	if (!n.name) {
		return 0;
	}
	const char *before = p->at;
	if (keyword(p, "not")) {
		if (keyword(p, "in")) {
			return parse_list(p, n, true);
		}
		p->at = before;
	} else if (keyword(p, "in")) {
		return parse_list(p, n, false);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(ops) && n.type == NODE_HAS; i++) {
		if (symbol(p, ops[i].text)) {
			n.type = NODE_TEST;
			n.op = ops[i].op;
		}
	}
	if (n.type == NODE_HAS && strncmp(p->at, "&&", 2) != 0 && symbol(p, "&")) {
		n.type = NODE_TEST;
		n.op = OP_BITS;
	}
	if (n.type == NODE_TEST) {
		const char *at = p->at;
		n.value = parse_value(p);
		if (n.value) {
			prepare(p, &n, at);
		}
	}
	return add(p, n);
}

static uint32_t parse_not(struct parser *p)
{
	if (++p->depth > DEPTH_MAX) {
		return fail(p, p->at, "the expression is nested too deeply");
	}
	uint32_t r;
	if (keyword(p, "not") || (p->at[0] == '!' && p->at[1] != '=' && p->at[1] != '~' && symbol(p, "!"))) {
		r = parse_not(p);
		r = p->err ? 0 : add(p, (struct node){.type = NODE_NOT, .left = r});
	} else if (symbol(p, "(")) {
		r = parse_or(p);
		if (p->err == 0 && !symbol(p, ")")) {
			fail(p, p->at, "')' is missing");
		}
	} else {
		r = parse_test(p);
	}
	p->depth--;
	return r;
}

static uint32_t parse_and(struct parser *p)
{
	uint32_t r = parse_not(p);
	while (p->err == 0 && (keyword(p, "and") || symbol(p, "&&"))) {
		uint32_t right = parse_not(p);
		r = p->err ? 0 : add(p, (struct node){.type = NODE_AND, .left = r, .right = right});
	}
	return r;
}

static uint32_t parse_or(struct parser *p)
{
	uint32_t r = parse_and(p);
	while (p->err == 0 && (keyword(p, "or") || symbol(p, "||"))) {
		uint32_t right = parse_and(p);
		r = p->err ? 0 : add(p, (struct node){.type = NODE_OR, .left = r, .right = right});
	}
	return r;
}

int filter_expr_parse(const char *text, struct filter_expr **ret, struct diag *d)
{
	struct filter_expr *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	struct parser p = {.text = text, .at = text, .f = f, .d = d};
	blanks(&p);
	f->root = parse_or(&p);
	if (p.err == 0 && *p.at) {
		fail(&p, p.at, "'and', 'or' or the end is expected here");
	}
	if (p.err) {
		filter_expr_destroy(f);
		return p.err;
	}
	*ret = f;
	return 0;
}

void filter_expr_destroy(struct filter_expr *f)
{
	if (!f) {
		return;
	}
	for (uint32_t i = 0; i < f->count; i++) {
		free(f->nodes[i].name);
		free(f->nodes[i].value);
	}
	free(f->nodes);
	free(f);
}

/* ---- evaluator
 * ----------------------------------------------------------------------------------- */

bool filter_expr_event_is(const char *wanted, const char *text, size_t n)
{
	size_t m = strlen(wanted);
	if (n > m && text[n - m - 1] == '/') {
		text += n - m;
		n = m;
	}
	return n == m && strncasecmp(text, wanted, n) == 0;
}

static int text_compare(const struct node *n, const struct filter_expr_value *v)
{
	size_t m = strlen(n->value);
	if (n->event && filter_expr_event_is(n->value, v->text, v->length)) {
		return 0;
	}
	size_t common = BASE_MIN(m, v->length);
	int order = common == 0 ? 0
		    : n->nocase ? strncasecmp(v->text, n->value, common)
				: memcmp(v->text, n->value, common);
	return order ? order : v->length < m ? -1 : v->length > m;
}

static bool test(const struct node *n, filter_expr_lookup_fn *lookup, void *ctx)
{
	struct filter_expr_value v = {0};
	if (!lookup(ctx, n->name, n->payload, &v)) {
		return false;
	}
	if (n->type == NODE_HAS) {
		return true;
	}
	char digits[24];
	if (n->op == OP_LIKE || n->op == OP_NOT_LIKE) {
		if (!v.text) {
			v.length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)v.number);
			v.text = digits;
		}
		return filter_expr_pattern(n->value, v.text, v.length) == (n->op == OP_LIKE);
	}
	struct number x = v.is_number ? (struct number){true, true, false, v.number, (double)v.number}
				      : number_of(v.text, v.length);
	if (n->op == OP_BITS) {
		/* negative numbers have the bits of two's complement */
		uint64_t a = x.negative ? -x.magnitude : x.magnitude;
		uint64_t b = n->number.negative ? -n->number.magnitude : n->number.magnitude;
		return x.is_int && (a & b) != 0;
	}
	int order;
	if (x.valid && n->number.valid) {
		order = number_compare(&x, &n->number);
	} else if (v.text) {
		order = text_compare(n, &v);
	} else {
		return n->op == OP_NE;
	}
	switch (n->op) {
	case OP_EQ: return order == 0;
	case OP_NE: return order != 0;
	case OP_LT: return order < 0;
	case OP_LE: return order <= 0;
	case OP_GT: return order > 0;
	default: return order >= 0;
	}
}

static bool evaluate(const struct filter_expr *f, uint32_t at, filter_expr_lookup_fn *lookup, void *ctx)
{
	const struct node *n = &f->nodes[at];
	switch (n->type) {
	case NODE_AND: return evaluate(f, n->left, lookup, ctx) && evaluate(f, n->right, lookup, ctx);
	case NODE_OR: return evaluate(f, n->left, lookup, ctx) || evaluate(f, n->right, lookup, ctx);
	case NODE_NOT: return !evaluate(f, n->left, lookup, ctx);
	default: return test(n, lookup, ctx);
	}
}

const char *filter_expr_name(const struct filter_expr *f, uint32_t i, bool *ret_payload)
{
	for (uint32_t k = 0; k < f->count; k++) {
		const struct node *n = &f->nodes[k];
		if ((n->type == NODE_HAS || n->type == NODE_TEST) && i-- == 0) {
			*ret_payload = n->payload;
			return n->name;
		}
	}
	return NULL;
}

bool filter_expr_match(const struct filter_expr *f, filter_expr_lookup_fn *lookup, void *ctx)
{
	return evaluate(f, f->root, lookup, ctx);
}
