/* SPDX-License-Identifier: MIT
 *
 * A recursive-descent parser into nodes of one array, and a walk that asks "is there one?". A
 * step's predicates are tried on each element as it is met, so nothing is collected.
 */
#include "tools/common/xpath.h"

#include "base/parse.h"
#include "xml/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define NODES_MAX 2000
#define DEPTH_MAX 64

enum kind {
	NODE_OR,
	NODE_AND,
	NODE_COMPARE, /* left op right */
	NODE_PATH,    /* steps */
	NODE_STRING,
	NODE_NUMBER,
	NODE_TIMEDIFF, /* left: path; right: path or string, may be 0 */
	NODE_BAND,     /* left & right */
	NODE_POSITION,
};
enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE };

struct node {
	enum kind kind;
	enum op op;
	int left, right; /* indices; 0: none */
	int next;        /* predicates of a step */
	char *text;
	double number;
	int steps; /* first step */
};
struct step {
	char *name;     /* "*" for all */
	bool attribute; /* @name */
	bool self;      /* . */
	bool deep;      /* after // */
	int predicates; /* first node */
	int next;
};
struct cli_xpath {
	struct node node[NODES_MAX];
	struct step step[NODES_MAX];
	int nodes, steps; /* [0] is none */
	int root;
	/* while parsing */
	const char *text, *at;
	const char *why;
	int depth;
};

/* ---- parsing ----------------------------------------------------------------------------------
 */

static int parse_or(struct cli_xpath *x);

static int fail(struct cli_xpath *x, const char *why)
{
	x->why = x->why ? x->why : why;
	return 0;
}

static void blanks(struct cli_xpath *x)
{
	x->at += strspn(x->at, " \t\r\n");
}

static int new_node(struct cli_xpath *x, enum kind kind)
{
	if (x->nodes == NODES_MAX) {
		return fail(x, "the query is too long");
	}
	x->node[x->nodes] = (struct node){.kind = kind};
	return x->nodes++;
}

static char *copy(struct cli_xpath *x, const char *s, size_t n)
{
	char *c = strndup(s, n);
	if (!c) {
		fail(x, "not enough memory");
	}
	return c;
}

static size_t name_length(const char *s)
{
	size_t n = 0;
	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_' || (s[n] & 0x80) ||
	       (n && ((s[n] >= '0' && s[n] <= '9') || s[n] == '-' || s[n] == '.'))) {
		n++;
	}
	return n;
}

static bool word(struct cli_xpath *x, const char *w)
{
	blanks(x);
	size_t n = name_length(x->at);
	if (n != strlen(w) || strncasecmp(x->at, w, n) != 0) {
		return false;
	}
	x->at += n;
	return true;
}

static int parse_string(struct cli_xpath *x)
{
	const char *end = strchr(x->at + 1, *x->at);
	int n = end ? new_node(x, NODE_STRING) : fail(x, "this quotation mark is never closed");
	if (n) {
		x->node[n].text = copy(x, x->at + 1, (size_t)(end - x->at - 1));
		x->at = end + 1;
	}
	return n;
}

static int number_literal(struct cli_xpath *x)
{
	char *end;
	bool hex = x->at[0] == '0' && (x->at[1] == 'x' || x->at[1] == 'X');
	double v = hex ? (double)strtoull(x->at, &end, 16) : strtod(x->at, &end);
	int n = end > x->at ? new_node(x, NODE_NUMBER) : fail(x, "a number is expected");
	if (n) {
		x->node[n].number = v;
		x->node[n].text = copy(x, x->at, (size_t)(end - x->at));
		x->at = end;
	}
	return n;
}

static int parse_step(struct cli_xpath *x, bool deep)
{
	if (x->steps == NODES_MAX) {
		return fail(x, "the query is too long");
	}
	int s = x->steps++;
	x->step[s] = (struct step){.deep = deep};
	blanks(x);
	if (*x->at == '@') {
		x->step[s].attribute = true;
		x->at++;
	}
	if (*x->at == '.' && !x->step[s].attribute) {
		x->step[s].self = true;
		x->at++;
	} else if (*x->at == '*') {
		x->step[s].name = copy(x, "*", 1);
		x->at++;
	} else {
		size_t n = name_length(x->at);
		if (!n) {
			return fail(x, "a name is expected");
		}
		x->step[s].name = copy(x, x->at, n);
		x->at += n;
	}
	int last = 0;
	for (blanks(x); *x->at == '[' && !x->why; blanks(x)) {
		x->at++;
		int p = parse_or(x);
		blanks(x);
		if (!p || *x->at != ']') {
			return fail(x, "] is expected");
		}
		x->at++;
		if (last) {
			x->node[last].next = p;
		} else {
			x->step[s].predicates = p;
		}
		last = p;
	}
	return s;
}

static int parse_path(struct cli_xpath *x)
{
	int n = new_node(x, NODE_PATH), last = 0;
	bool deep = false;
	blanks(x);
	if (n && *x->at == '/') { /* from the root, which is the event */
		x->at++;
		deep = *x->at == '/';
		x->at += deep;
	}
	while (n && !x->why) {
		int s = parse_step(x, deep);
		if (!s) {
			return 0;
		}
		if (last) {
			x->step[last].next = s;
		} else {
			x->node[n].steps = s;
		}
		last = s;
		blanks(x);
		if (*x->at != '/') {
			break;
		}
		x->at++;
		deep = *x->at == '/';
		x->at += deep;
	}
	return n;
}

static int parse_call(struct cli_xpath *x, enum kind kind, int least, int most)
{
	int n = new_node(x, kind), count = 0;
	blanks(x);
	x->at++; /* ( */
	blanks(x);
	while (n && *x->at != ')' && !x->why) {
		int arg = parse_or(x);
		if (!arg) {
			return 0;
		}
		*(count++ ? &x->node[n].right : &x->node[n].left) = arg;
		blanks(x);
		if (*x->at == ',' && count < most) {
			x->at++;
		} else if (*x->at != ')') {
			return fail(x, ") is expected");
		}
	}
	if (!n || count < least || *x->at != ')') {
		return fail(x, "this function needs more arguments");
	}
	x->at++;
	return n;
}

static int parse_primary(struct cli_xpath *x)
{
	blanks(x);
	char c = *x->at;
	if (c == '(') {
		x->at++;
		int n = parse_or(x);
		blanks(x);
		if (!n || *x->at != ')') {
			return fail(x, ") is expected");
		}
		x->at++;
		return n;
	}
	if (c == '\'' || c == '"') {
		return parse_string(x);
	}
	if ((c >= '0' && c <= '9') || c == '-') {
		return number_literal(x);
	}
	size_t n = name_length(x->at);
	if (n && x->at[n + strspn(x->at + n, " \t")] == '(') {
		static const struct {
			const char *name;
			enum kind kind;
			int least, most;
		} functions[] = {{"timediff", NODE_TIMEDIFF, 1, 2},
				 {"Band", NODE_BAND, 2, 2},
				 {"position", NODE_POSITION, 0, 0}};
		for (size_t i = 0; i < BASE_ARRAY_LEN(functions); i++) {
			if (strlen(functions[i].name) == n && strncasecmp(functions[i].name, x->at, n) == 0) {
				x->at += n;
				return parse_call(x, functions[i].kind, functions[i].least, functions[i].most);
			}
		}
		return fail(x, "event queries have the functions timediff, Band and position only");
	}
	return parse_path(x);
}

static int parse_compare(struct cli_xpath *x)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {{"!=", OP_NE}, {"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ},
		   {"=", OP_EQ},  {"<", OP_LT},  {">", OP_GT}};
	int left = parse_primary(x);
	blanks(x);
	for (size_t i = 0; left && i < BASE_ARRAY_LEN(ops); i++) {
		if (strncmp(x->at, ops[i].text, strlen(ops[i].text)) != 0) {
			continue;
		}
		x->at += strlen(ops[i].text);
		int right = parse_primary(x), n = right ? new_node(x, NODE_COMPARE) : 0;
		if (n) {
			x->node[n].op = ops[i].op;
			x->node[n].left = left;
			x->node[n].right = right;
		}
		return n;
	}
	return left;
}

static int parse_both(struct cli_xpath *x, enum kind kind, const char *between, int (*part)(struct cli_xpath *x))
{
	int left = part(x);
	while (left && word(x, between)) {
		int right = part(x), n = right ? new_node(x, kind) : 0;
		if (!n) {
			return 0;
		}
		x->node[n].left = left;
		x->node[n].right = right;
		left = n;
	}
	return left;
}

static int parse_and(struct cli_xpath *x)
{
	return parse_both(x, NODE_AND, "and", parse_compare);
}

static int parse_or(struct cli_xpath *x)
{
	if (x->depth == DEPTH_MAX) {
		return fail(x, "too deep");
	}
	x->depth++;
	int n = parse_both(x, NODE_OR, "or", parse_and);
	x->depth--;
	return n;
}

struct cli_xpath *cli_xpath_parse(const char *text, size_t *ret_at, const char **ret_why)
{
	struct cli_xpath *x = calloc(1, sizeof *x);
	*ret_at = 0;
	*ret_why = "not enough memory";
	if (!x) {
		return NULL;
	}
	x->nodes = x->steps = 1;
	x->text = x->at = text;
	x->root = parse_or(x);
	blanks(x);
	if (x->root && *x->at) {
		x->root = fail(x, "nothing more is expected here");
	}
	if (!x->root || x->why) {
		*ret_at = (size_t)(x->at - text);
		*ret_why = x->why ? x->why : "this is no query";
		cli_xpath_destroy(x);
		return NULL;
	}
	return x;
}

void cli_xpath_destroy(struct cli_xpath *x)
{
	for (int i = 0; x && i < x->nodes; i++) {
		free(x->node[i].text);
	}
	for (int i = 0; x && i < x->steps; i++) {
		free(x->step[i].name);
	}
	free(x);
}

/* ---- evaluation -------------------------------------------------------------------------------
 */

struct context {
	const struct cli_xpath *x;
	uint64_t now;
	int position; /* of the element whose predicates are tried */
};
/* Asked for every value a path leads to; true: enough. */
typedef bool (*value_fn)(void *ctx, const char *text);

static bool truth(struct context *c, int n, const struct xml_node *at);

static bool predicates_hold(struct context *c, int first, const struct xml_node *at, int position)
{
	struct context inner = *c;
	inner.position = position;
	for (int p = first; p; p = c->x->node[p].next) {
		const struct node *n = &c->x->node[p];
		if (n->kind == NODE_NUMBER ? n->number != position : !truth(&inner, p, at)) {
			return false;
		}
	}
	return true;
}

static bool walk(struct context *c, int step, const struct xml_node *at, value_fn fn, void *ctx);

static bool arrive(struct context *c, const struct step *s, const struct xml_node *at, value_fn fn, void *ctx)
{
	return s->next ? walk(c, s->next, at, fn, ctx) : fn(ctx, at->text);
}

static bool walk(struct context *c, int step, const struct xml_node *at, value_fn fn, void *ctx)
{
	const struct step *s = &c->x->step[step];
	if (s->self) {
		return predicates_hold(c, s->predicates, at, 1) && arrive(c, s, at, fn, ctx);
	}
	if (s->attribute) {
		for (const struct xml_attr *a = at->attrs; a; a = a->next) {
			if ((strcmp(s->name, "*") == 0 || strcasecmp(a->name, s->name) == 0) && fn(ctx, a->value)) {
				return true;
			}
		}
		return false;
	}
	int position = 0;
	for (const struct xml_node *e = at->children; e; e = e->next) {
		if (strcmp(s->name, "*") == 0 || strcmp(e->name, s->name) == 0) {
			position++;
			if (predicates_hold(c, s->predicates, e, position) && arrive(c, s, e, fn, ctx)) {
				return true;
			}
		}
		if (s->deep && walk(c, step, e, fn, ctx)) {
			return true;
		}
	}
	return false;
}

static bool number_of(const char *s, double *ret)
{
	char *end;
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	if (!*s) {
		return false;
	}
	*ret = hex ? (double)strtoull(s, &end, 16) : strtod(s, &end);
	return *end == 0;
}

static bool holds(enum op op, int c)
{
	switch (op) {
	case OP_EQ: return c == 0;
	case OP_NE: return c != 0;
	case OP_LT: return c < 0;
	case OP_LE: return c <= 0;
	case OP_GT: return c > 0;
	default: return c >= 0;
	}
}

static bool compare_texts(enum op op, const char *a, const char *b)
{
	double x, y;
	uint64_t s, t;
	if (number_of(a, &x) && number_of(b, &y)) {
		return holds(op, x < y ? -1 : x > y);
	}
	if (strlen(a) >= 10 && a[4] == '-' && parse_time(a, &s) && parse_time(b, &t)) {
		return holds(op, s < t ? -1 : s > t);
	}
	/* Windows compares GUIDs and names without regard to case. */
	return holds(op, strcasecmp(a, b));
}

/* The values an operand stands for, one after the other. */
static bool each_value(struct context *c, int n, const struct xml_node *at, value_fn fn, void *ctx);

struct pair {
	struct context *c;
	const struct xml_node *at;
	enum op op;
	int right;
	const char *left;
};

static bool right_value(void *ctx, const char *text)
{
	const struct pair *p = ctx;
	return compare_texts(p->op, p->left, text);
}

static bool left_value(void *ctx, const char *text)
{
	struct pair *p = ctx;
	p->left = text;
	return each_value(p->c, p->right, p->at, right_value, p);
}

static bool keep_time(void *ctx, const char *text)
{
	return parse_time(text, ctx);
}

static bool keep_bits(void *ctx, const char *text)
{
	char *end;
	*(uint64_t *)ctx = strtoull(text, &end, 0);
	return *text && *end == 0;
}

static bool each_value(struct context *c, int n, const struct xml_node *at, value_fn fn, void *ctx)
{
	const struct node *e = &c->x->node[n];
	char text[64];
	uint64_t a, b = c->now;
	switch (e->kind) {
	case NODE_PATH: return walk(c, e->steps, at, fn, ctx);
	case NODE_STRING:
	case NODE_NUMBER: return fn(ctx, e->text ? e->text : "");
	case NODE_POSITION: snprintf(text, sizeof text, "%d", c->position); return fn(ctx, text);
	case NODE_TIMEDIFF:
		if (!each_value(c, e->left, at, keep_time, &a) ||
		    (e->right && !each_value(c, e->right, at, keep_time, &b))) {
			return false;
		}
		snprintf(text, sizeof text, "%lld", (long long)(b - a) / 10000);
		return fn(ctx, text);
	case NODE_BAND:
		if (!each_value(c, e->left, at, keep_bits, &a) || !each_value(c, e->right, at, keep_bits, &b)) {
			return false;
		}
		snprintf(text, sizeof text, "%llu", (unsigned long long)(a & b));
		return fn(ctx, text);
	default: return fn(ctx, truth(c, n, at) ? "1" : "0");
	}
}

static bool any_value(void *ctx, const char *text)
{
	return true;
}

static bool not_zero(void *ctx, const char *text)
{
	return strcmp(text, "0") != 0;
}

static bool truth(struct context *c, int n, const struct xml_node *at)
{
	const struct node *e = &c->x->node[n];
	switch (e->kind) {
	case NODE_OR: return truth(c, e->left, at) || truth(c, e->right, at);
	case NODE_AND: return truth(c, e->left, at) && truth(c, e->right, at);
	case NODE_COMPARE: {
		struct pair p = {c, at, e->op, e->right, NULL};
		return each_value(c, e->left, at, left_value, &p);
	}
	case NODE_BAND:
	case NODE_TIMEDIFF: return each_value(c, n, at, not_zero, NULL);
	case NODE_NUMBER: return e->number != 0;
	case NODE_STRING: return e->text && *e->text;
	default: return each_value(c, n, at, any_value, NULL);
	}
}

bool cli_xpath_match(const struct cli_xpath *x, const struct xml_node *event, uint64_t now)
{
	/* Paths begin above the event: "*" and "Event" are the event itself. */
	struct xml_node above = {.children = (struct xml_node *)(uintptr_t)event, .text = "", .name = ""};
	struct context c = {x, now, 1};
	return truth(&c, x->root, &above);
}
