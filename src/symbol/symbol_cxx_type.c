/* SPDX-License-Identifier: MIT
 * Types: from the mangled text to nodes.
 */
#include "symbol/symbol_cxx.h"

static uint32_t remember(struct cxx *x, uint32_t node)
{
	if (!node || x->substs == x->n) {
		return 0;
	}
	x->subst[x->substs++] = node;
	return node;
}

/* A function in C linkage is written like any other. */
static uint32_t function(struct cxx *x)
{
	(void)cxx_eat(x, 'Y');
	uint32_t result = cxx_type(x), params = result ? cxx_parameters(x) : 0;
	uint32_t t = params ? cxx_make(x, CXX_FUNCTION, result, params) : 0;
	if (t && cxx_eat(x, 'R')) {
		t = cxx_qualified(x, t, CXX_LREF_THIS);
	} else if (t && cxx_eat(x, 'O')) {
		t = cxx_qualified(x, t, CXX_RREF_THIS);
	}
	return cxx_eat(x, 'E') ? t : 0;
}

static bool ends_parameters(const struct cxx *x)
{
	char c = cxx_peek(x);
	return c == 0 || c == 'Q' || c == 'E' || c == '.' || ((c == 'R' || c == 'O') && cxx_peek_next(x) == 'E');
}

uint32_t cxx_parameters(struct cxx *x)
{
	uint32_t first = cxx_make(x, CXX_LIST, 0, 0), last = first, count = 0;
	while (first && !ends_parameters(x)) {
		uint32_t type = cxx_type(x), item = count ? cxx_make(x, CXX_LIST, 0, 0) : first;
		if (!type || !item) {
			return 0;
		}
		x->node[last].b = count ? item : 0;
		x->node[item].a = type;
		last = item;
		count++;
	}
	const struct cxx_node *only = &x->node[x->node[first].a];
	if (count == 1 && only->kind == CXX_BUILTIN && only->type->literal == CXX_AS_VOID) {
		x->node[first].a = 0;
	}
	return count ? first : 0;
}

static uint32_t array(struct cxx *x)
{
	uint32_t bound = 0, from = x->at, n;
	if (cxx_is_digit(cxx_peek(x))) {
		bound = cxx_number(x, &n) ? cxx_text(x, x->s + from, x->at - from) : 0;
		if (!bound) {
			return 0;
		}
	} else if (cxx_peek(x) != '_') {
		bound = cxx_expression(x);
		if (!bound) {
			return 0;
		}
	}
	uint32_t element = cxx_eat(x, '_') ? cxx_type(x) : 0;
	return element ? cxx_make(x, CXX_ARRAY, element, bound) : 0;
}

static uint32_t member_pointer(struct cxx *x)
{
	uint32_t of = cxx_type(x), member = of ? cxx_type(x) : 0;
	return member ? cxx_make(x, CXX_MEMBER_POINTER, of, member) : 0;
}

static uint32_t vector(struct cxx *x)
{
	uint32_t bound, from = x->at, n;
	if (cxx_eat(x, '_')) {
		bound = cxx_expression(x);
	} else {
		bound = cxx_number(x, &n) ? cxx_text(x, x->s + from, x->at - from) : 0;
	}
	uint32_t element = bound && cxx_eat(x, '_') ? cxx_type(x) : 0;
	return element ? cxx_make(x, CXX_VECTOR, element, bound) : 0;
}

static uint32_t modifier(struct cxx *x, unsigned qual)
{
	x->at++;
	return cxx_qualified(x, cxx_type(x), qual);
}

uint32_t cxx_template_param(struct cxx *x)
{
	uint32_t n, t = 0;
	if (cxx_eat(x, 'T') && cxx_compact(x, &n) && (t = cxx_make(x, CXX_TPARAM, 0, 0)) != 0) {
		x->node[t].n = n;
	}
	return t;
}

/* The type of a conversion operator may be a parameter with arguments, or a parameter that is followed
 * by the arguments of the operator: then there is no second list. */
static uint32_t param_with_args(struct cxx *x, uint32_t param)
{
	struct cxx before = *x;
	if (!remember(x, param)) {
		return 0;
	}
	uint32_t args = cxx_template_args(x);
	if (x->conversion && (!args || cxx_peek(x) != 'I')) {
		cxx_back(x, &before);
		return param;
	}
	return args ? cxx_make(x, CXX_TEMPLATE, param, args) : 0;
}

static uint32_t sized_float(struct cxx *x)
{
	uint32_t from = x->at, n, t;
	if (!cxx_number(x, &n)) {
		return 0;
	}
	if (cxx_eat(x, 'b')) {
		return cxx_text(x, "std::bfloat16_t", 15);
	}
	uint32_t digits = x->at - from;
	bool extended = cxx_eat(x, 'x');
	if (!extended && !cxx_eat(x, '_')) {
		return 0;
	}
	t = cxx_make(x, CXX_SIZED_FLOAT, 0, 0);
	x->node[t].s = t ? x->s + from : NULL;
	x->node[t].n = t ? digits + extended : 0;
	return t;
}

static uint32_t bit_int(struct cxx *x, const char *text)
{
	uint32_t from = x->at, n, bits;
	if (cxx_is_digit(cxx_peek(x))) {
		bits = cxx_number(x, &n) ? cxx_text(x, x->s + from, x->at - from) : 0;
	} else {
		bits = cxx_expression(x);
	}
	uint32_t t = bits && cxx_eat(x, '_') ? cxx_make(x, CXX_BITINT, bits, 0) : 0;
	x->node[t].s = t ? text : NULL;
	return t;
}

static uint32_t builtin(struct cxx *x, char a, char b)
{
	const struct cxx_type *type = cxx_type_find(a, b);
	uint32_t t = type ? cxx_make(x, CXX_BUILTIN, 0, 0) : 0;
	x->node[t].type = t ? type : NULL;
	x->at += b ? 2 : 1;
	return t;
}

/* *ret_kept: what it gives is not remembered, being no candidate or remembered already. */
static uint32_t with_d(struct cxx *x, bool *ret_kept)
{
	char c = cxx_peek_next(x);
	uint32_t t;
	switch (c) {
	case 't':
	case 'T':
		x->at += 2;
		t = cxx_expression(x);
		return t && cxx_eat(x, 'E') ? cxx_make(x, CXX_DECLTYPE, t, 0) : 0;
	case 'p':
		x->at += 2;
		t = cxx_type(x);
		return t ? cxx_make(x, CXX_PACK, t, 0) : 0;
	case 'v': x->at += 2; return vector(x);
	case 'F':
		x->at += 2;
		*ret_kept = true;
		return sized_float(x);
	case 'B':
	case 'U':
		x->at += 2;
		*ret_kept = true;
		return bit_int(x, c == 'B' ? "signed _BitInt(" : "unsigned _BitInt(");
	default: *ret_kept = true; return builtin(x, 'D', c);
	}
}

static uint32_t vendor_qualified(struct cxx *x)
{
	uint32_t name = cxx_source_name(x);
	if (name && cxx_peek(x) == 'I') {
		uint32_t args = cxx_template_args(x);
		name = args ? cxx_make(x, CXX_TEMPLATE, name, args) : 0;
	}
	uint32_t type = name ? cxx_type(x) : 0;
	return type ? cxx_make(x, CXX_VENDOR_QUAL, type, name) : 0;
}

static uint32_t vendor_type(struct cxx *x)
{
	uint32_t name = cxx_source_name(x);
	if (name && cxx_peek(x) == 'I') {
		uint32_t args = cxx_template_args(x);
		name = args ? cxx_make(x, CXX_TEMPLATE, name, args) : 0;
	}
	return name;
}

static uint32_t with_t(struct cxx *x)
{
	if (cxx_eat2(x, 'T', 's') || cxx_eat2(x, 'T', 'u') || cxx_eat2(x, 'T', 'e')) {
		return cxx_name(x);
	}
	uint32_t t = cxx_template_param(x);
	return t && cxx_peek(x) == 'I' ? param_with_args(x, t) : t;
}

static uint32_t with_s(struct cxx *x, bool *ret_kept)
{
	bool in_std = cxx_peek_next(x) == 't';
	uint32_t made = x->count, t = cxx_name(x);
	/* An abbreviation, or what was remembered before, with nothing behind it is nothing new. */
	*ret_kept = !in_std && !(t >= made && x->node[t].kind == CXX_TEMPLATE);
	return t;
}

static bool is_qualifier(const struct cxx *x)
{
	char c = cxx_peek(x), d = cxx_peek_next(x);
	return c == 'r' || c == 'V' || c == 'K' || (c == 'D' && (d == 'o' || d == 'O' || d == 'w' || d == 'x'));
}

/* They belong to a function when one follows; nested one in the other, the first outermost. */
static uint32_t qualified_type(struct cxx *x)
{
	if (!is_qualifier(x)) {
		if (cxx_eat(x, 'F')) {
			return function(x);
		}
		return cxx_type(x);
	}
	if (!cxx_enter(x)) {
		return 0;
	}
	char c = cxx_peek(x), d = cxx_peek_next(x);
	uint32_t of = 0, t = 0;
	x->at += c == 'D' ? 2 : 1;
	if (c == 'D' && d == 'O') {
		of = cxx_expression(x);
		of = of && cxx_eat(x, 'E') ? of : 0;
	} else if (c == 'D' && d == 'w') {
		of = cxx_parameters(x);
		of = of && cxx_eat(x, 'E') ? of : 0;
	}
	uint32_t inner = c == 'D' && (d == 'O' || d == 'w') && !of ? 0 : qualified_type(x);
	const struct cxx_node *in = &x->node[inner];
	bool of_function = in->kind == CXX_FUNCTION || in->kind == CXX_NOEXCEPT || in->kind == CXX_THROWS ||
			   (in->kind == CXX_QUALIFIED && cxx_is_this(in->qual));
	if (inner && c == 'D') {
		t = d == 'x' ? cxx_qualified(x, inner, CXX_TRANSACTION_SAFE)
			     : cxx_make(x, d == 'w' ? CXX_THROWS : CXX_NOEXCEPT, inner, of);
	} else if (inner) {
		unsigned qual = c == 'r' ? CXX_RESTRICT : c == 'V' ? CXX_VOLATILE : CXX_CONST;
		unsigned of_this = c == 'r' ? CXX_RESTRICT_THIS : c == 'V' ? CXX_VOLATILE_THIS : CXX_CONST_THIS;
		t = cxx_qualified(x, inner, of_function ? of_this : qual);
	}
	x->depth--;
	return t;
}

static uint32_t type(struct cxx *x)
{
	char c = cxx_peek(x);
	bool kept = false;
	uint32_t t = 0;
	if (is_qualifier(x)) {
		return remember(x, qualified_type(x));
	}
	switch (c) {
	case 'F':
		x->at++;
		t = function(x);
		break;
	case 'A':
		x->at++;
		t = array(x);
		break;
	case 'M':
		x->at++;
		t = member_pointer(x);
		break;
	case 'T': t = with_t(x); break;
	case 'S': t = with_s(x, &kept); break;
	case 'P': t = modifier(x, CXX_POINTER); break;
	case 'R': t = modifier(x, CXX_LREF); break;
	case 'O': t = modifier(x, CXX_RREF); break;
	case 'C': t = modifier(x, CXX_COMPLEX); break;
	case 'G': t = modifier(x, CXX_IMAGINARY); break;
	case 'U':
		/* Names without a name of their own begin with it, too. */
		if (cxx_peek_next(x) == 'l' || cxx_peek_next(x) == 't') {
			t = cxx_name(x);
			break;
		}
		x->at++;
		t = vendor_qualified(x);
		break;
	case 'D': t = with_d(x, &kept); break;
	case 'u':
		x->at++;
		t = vendor_type(x);
		break;
	default:
		if (cxx_is_lower(c)) {
			t = builtin(x, c, 0);
			kept = true;
		} else {
			t = cxx_name(x);
		}
		break;
	}
	return kept ? t : remember(x, t);
}

uint32_t cxx_type(struct cxx *x)
{
	if (!cxx_enter(x)) {
		return 0;
	}
	uint32_t t = type(x);
	x->depth--;
	return t;
}
