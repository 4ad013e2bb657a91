/* SPDX-License-Identifier: MIT
 * Expressions, as they stand in template arguments and decltype: from the mangled text to nodes.
 */
#include "symbol/symbol_cxx.h"

uint32_t cxx_literal(struct cxx *x)
{
	if (!cxx_eat(x, 'L')) {
		return 0;
	}
	if (cxx_peek(x) == '_' || cxx_peek(x) == 'Z') {
		(void)cxx_eat(x, '_');
		uint32_t t = cxx_eat(x, 'Z') ? cxx_encoding(x, false) : 0;
		return t && cxx_eat(x, 'E') ? t : 0;
	}
	uint32_t type = cxx_type(x);
	if (!type) {
		return 0;
	}
	bool is_null = x->node[type].kind == CXX_BUILTIN && x->node[type].type->literal == CXX_AS_NULLPTR;
	if (is_null && cxx_eat(x, 'E')) {
		return type;
	}
	bool negative = cxx_eat(x, 'n');
	uint32_t from = x->at;
	while (cxx_peek(x) && cxx_peek(x) != 'E') {
		x->at++;
	}
	uint32_t text = cxx_text(x, x->s + from, x->at - from);
	uint32_t t = text && cxx_eat(x, 'E') ? cxx_make(x, CXX_LITERAL, type, text) : 0;
	x->node[t].qual = t != 0 && negative;
	return t;
}

uint32_t cxx_expressions(struct cxx *x, char end)
{
	uint32_t first = cxx_make(x, CXX_LIST, 0, 0), last = first;
	while (first && !cxx_eat(x, end)) {
		uint32_t e = cxx_expression(x), item = x->node[last].a ? cxx_make(x, CXX_LIST, 0, 0) : last;
		if (!e || !item) {
			return 0;
		}
		x->node[last].b = item != last ? item : 0;
		x->node[item].a = e;
		last = item;
	}
	return first;
}

static uint32_t unresolved(struct cxx *x)
{
	uint32_t name = cxx_unqualified(x, 0);
	if (name && cxx_peek(x) == 'I') {
		uint32_t args = cxx_template_args(x);
		name = args ? cxx_make(x, CXX_TEMPLATE, name, args) : 0;
	}
	return name;
}

/* Names one in the other, up to E, behind a type or, with 0, behind nothing. */
static uint32_t levels(struct cxx *x, uint32_t t, bool first)
{
	do {
		uint32_t level = cxx_source_name(x);
		if (level && cxx_peek(x) == 'I') {
			uint32_t args = cxx_template_args(x);
			level = args ? cxx_make(x, CXX_TEMPLATE, level, args) : 0;
		}
		t = !level ? 0 : first ? level : cxx_make(x, CXX_NESTED, t, level);
		first = false;
	} while (t && !cxx_eat(x, 'E'));
	return t;
}

/* sr: a member of a type, or of a namespace. Some compilers write the type whole, others in levels. */
static uint32_t scoped_by(struct cxx *x, bool in_levels)
{
	uint32_t t;
	if (!in_levels) {
		t = cxx_type(x);
	} else if (cxx_eat(x, 'N')) {
		t = cxx_type(x);
		t = t ? levels(x, t, false) : 0;
	} else {
		t = levels(x, 0, true);
	}
	uint32_t name = t ? unresolved(x) : 0;
	return name ? cxx_make(x, CXX_NESTED, t, name) : 0;
}

static uint32_t scoped(struct cxx *x)
{
	struct cxx before = *x;
	bool digit = cxx_is_digit(cxx_peek(x));
	uint32_t t = scoped_by(x, digit);
	if (!t) {
		cxx_back(x, &before);
		t = scoped_by(x, !digit);
	}
	return t;
}

static uint32_t function_parameter(struct cxx *x)
{
	uint32_t level, n, t = 0;
	bool good = true;
	if (cxx_eat2(x, 'f', 'L')) {
		good = cxx_number(x, &level) && cxx_eat(x, 'p');
	} else if (!cxx_eat2(x, 'f', 'p')) {
		good = false;
	}
	if (good && cxx_eat(x, 'T')) {
		t = cxx_make(x, CXX_FPARAM, 0, 0);
	} else if (good) {
		while (cxx_peek(x) == 'r' || cxx_peek(x) == 'V' || cxx_peek(x) == 'K') {
			x->at++;
		}
		if (cxx_compact(x, &n) && (t = cxx_make(x, CXX_FPARAM, 0, 0)) != 0) {
			x->node[t].n = n + 1;
		}
	}
	return t;
}

static uint32_t braced(struct cxx *x, bool typed)
{
	uint32_t type = typed ? cxx_type(x) : 0;
	if (typed && !type) {
		return 0;
	}
	uint32_t list = cxx_expressions(x, 'E');
	return list ? cxx_make(x, CXX_BRACED, type, list) : 0;
}

static uint32_t pair(struct cxx *x, uint32_t a, uint32_t b)
{
	return a && b ? cxx_make(x, CXX_PAIR, a, b) : 0;
}

static uint32_t conversion(struct cxx *x)
{
	bool before = x->conversion;
	x->conversion = false;
	uint32_t type = cxx_type(x);
	x->conversion = before;
	uint32_t cast = type ? cxx_make(x, CXX_CAST, type, 0) : 0;
	uint32_t operand = !cast ? 0 : cxx_eat(x, '_') ? cxx_expressions(x, 'E') : cxx_expression(x);
	return operand ? cxx_make(x, CXX_UNARY, cast, operand) : 0;
}

static uint32_t binary(struct cxx *x, uint32_t op, const char *code)
{
	uint32_t left, right;
	if (strcmp(code, "sc") == 0 || strcmp(code, "cc") == 0 || strcmp(code, "dc") == 0 || strcmp(code, "rc") == 0) {
		left = cxx_type(x);
	} else if (code[0] == 'f') {
		left = 0; /* which operator it folds with */
		const struct cxx_operator *with = cxx_operator_find(cxx_peek(x), cxx_peek_next(x));
		x->at += 2;
		if (with && (left = cxx_make(x, CXX_OPERATOR, 0, 0)) != 0) {
			x->node[left].op = with;
		}
	} else {
		left = cxx_expression(x);
	}
	if (!left) {
		return 0;
	}
	if (strcmp(code, "cl") == 0) {
		right = cxx_expressions(x, 'E');
	} else if (strcmp(code, "dt") == 0 || strcmp(code, "pt") == 0) {
		(void)cxx_eat2(x, 'g', 's');
		right = cxx_eat2(x, 's', 'r') ? scoped(x) : unresolved(x);
	} else {
		right = cxx_expression(x);
	}
	uint32_t both = pair(x, left, right);
	return both ? cxx_make(x, CXX_BINARY, op, both) : 0;
}

static uint32_t creation(struct cxx *x, uint32_t op)
{
	uint32_t where = cxx_expressions(x, '_'), type = where ? cxx_type(x) : 0, init;
	if (!type) {
		return 0;
	}
	if (cxx_eat(x, 'E')) {
		init = cxx_make(x, CXX_NONE, 0, 0);
	} else if (cxx_eat2(x, 'p', 'i')) {
		init = cxx_expressions(x, 'E');
	} else if (cxx_eat2(x, 'i', 'l')) {
		init = braced(x, false);
	} else {
		init = 0;
	}
	uint32_t rest = pair(x, type, init), all = pair(x, where, rest);
	return all ? cxx_make(x, CXX_TRINARY, op, all) : 0;
}

static uint32_t trinary(struct cxx *x, uint32_t op, const char *code)
{
	uint32_t first, second, third;
	if (code[0] == 'n') {
		return creation(x, op);
	}
	if (code[0] == 'f') {
		const struct cxx_operator *with = cxx_operator_find(cxx_peek(x), cxx_peek_next(x));
		x->at += 2;
		first = with ? cxx_make(x, CXX_OPERATOR, 0, 0) : 0;
		if (!first) {
			return 0;
		}
		x->node[first].op = with;
	} else {
		first = cxx_expression(x);
	}
	second = first ? cxx_expression(x) : 0;
	third = second ? cxx_expression(x) : 0;
	uint32_t rest = pair(x, second, third), all = pair(x, first, rest);
	return all ? cxx_make(x, CXX_TRINARY, op, all) : 0;
}

static uint32_t unary(struct cxx *x, uint32_t op, const char *code)
{
	bool suffix = false;
	uint32_t operand;
	if (strcmp(code, "pp") == 0 || strcmp(code, "mm") == 0) {
		suffix = !cxx_eat(x, '_');
	}
	if (strcmp(code, "sP") == 0) {
		operand = cxx_template_list(x);
	} else if (strcmp(code, "st") == 0 || strcmp(code, "at") == 0 || strcmp(code, "ti") == 0) {
		operand = cxx_type(x);
	} else {
		operand = cxx_expression(x);
	}
	return operand ? cxx_make(x, suffix ? CXX_SUFFIX : CXX_UNARY, op, operand) : 0;
}

static uint32_t vendor(struct cxx *x)
{
	uint32_t name = cxx_source_name(x), list = name ? cxx_template_list(x) : 0;
	return list ? cxx_make(x, CXX_VENDOR_EXPRESSION, name, list) : 0;
}

static uint32_t with_operator(struct cxx *x)
{
	const struct cxx_operator *found = cxx_operator_find(cxx_peek(x), cxx_peek_next(x));
	uint32_t op = found ? cxx_make(x, CXX_OPERATOR, 0, 0) : 0;
	if (!op) {
		return 0;
	}
	x->node[op].op = found;
	x->at += 2;
	switch (found->operands) {
	case 0: return cxx_make(x, CXX_NULLARY, op, 0);
	case 1: return unary(x, op, found->code);
	case 2: return binary(x, op, found->code);
	default: return trinary(x, op, found->code);
	}
}

static uint32_t expression(struct cxx *x)
{
	char a = cxx_peek(x), b = cxx_peek_next(x);
	if (a == 'L') {
		return cxx_literal(x);
	}
	if (a == 'T') {
		return cxx_template_param(x);
	}
	if (cxx_is_digit(a) || (a == 'o' && b == 'n')) {
		return unresolved(x);
	}
	if (a == 'f' && (b == 'p' || (b == 'L' && x->at + 2 < x->n && cxx_is_digit(x->s[x->at + 2])))) {
		return function_parameter(x);
	}
	if (a == 'u') {
		x->at++;
		return vendor(x);
	}
	if (cxx_eat2(x, 's', 'r')) {
		return scoped(x);
	}
	if (cxx_eat2(x, 's', 'p')) {
		uint32_t pattern = cxx_expression(x);
		return pattern ? cxx_make(x, CXX_PACK, pattern, 0) : 0;
	}
	if (cxx_eat2(x, 'i', 'l')) {
		return braced(x, false);
	}
	if (cxx_eat2(x, 't', 'l')) {
		return braced(x, true);
	}
	if (cxx_eat2(x, 'c', 'v')) {
		return conversion(x);
	}
	return with_operator(x);
}

uint32_t cxx_expression(struct cxx *x)
{
	if (!cxx_enter(x)) {
		return 0;
	}
	uint32_t t = expression(x);
	x->depth--;
	return t;
}
