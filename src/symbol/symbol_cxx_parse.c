/* SPDX-License-Identifier: MIT
 *
 * Names: from the mangled text to nodes. A function that reads a part of the grammar is called as that
 * part is in the ABI. Each reads at least a byte for every few nodes it makes, so the number of nodes
 * is bounded by the length of the name.
 */
#include "symbol/symbol_cxx.h"

#define NUMBER_MAX (1u << 30)

uint32_t cxx_make(struct cxx *x, enum cxx_kind kind, uint32_t a, uint32_t b)
{
	if (x->count == x->cap) {
		return 0;
	}
	x->node[x->count] = (struct cxx_node){.kind = (uint8_t)kind, .a = a, .b = b};
	return x->count++;
}

uint32_t cxx_text(struct cxx *x, const char *s, size_t n)
{
	uint32_t t = cxx_make(x, CXX_TEXT, 0, 0);
	x->node[t].s = t ? s : NULL;
	x->node[t].n = t ? (uint32_t)n : 0;
	return t;
}

static uint32_t numbered(struct cxx *x, enum cxx_kind kind, uint32_t a, uint32_t n)
{
	uint32_t t = cxx_make(x, kind, a, 0);
	if (t) {
		x->node[t].n = n;
	}
	return t;
}

static uint32_t special(struct cxx *x, const char *text, uint32_t of)
{
	uint32_t t = of ? cxx_make(x, CXX_SPECIAL, of, 0) : 0;
	if (t) {
		x->node[t].s = text;
		x->node[t].n = (uint32_t)strlen(text);
	}
	return t;
}

bool cxx_number(struct cxx *x, uint32_t *ret)
{
	uint32_t v = 0;
	if (!cxx_is_digit(cxx_peek(x))) {
		return false;
	}
	while (cxx_is_digit(cxx_peek(x))) {
		if (v > NUMBER_MAX / 10) {
			return false;
		}
		v = v * 10 + (uint32_t)(x->s[x->at++] - '0');
	}
	*ret = v;
	return true;
}

bool cxx_compact(struct cxx *x, uint32_t *ret)
{
	uint32_t v = 0;
	if (cxx_eat(x, '_')) {
		*ret = 0;
		return true;
	}
	bool good = cxx_number(x, &v) && cxx_eat(x, '_');
	*ret = v + 1;
	return good;
}

/* ---- substitutions ---------------------------------------------------------------------------- */

static bool remember(struct cxx *x, uint32_t node)
{
	if (!node || x->substs == x->n) {
		return false;
	}
	x->subst[x->substs++] = node;
	return true;
}

/* What the one-letter abbreviations stand for: alone, and before a constructor. */
static const struct {
	char letter, brief[20], full[80];
} standard[] = {
	{'t', "std", "std"},
	{'a', "std::allocator", "std::allocator"},
	{'b', "std::basic_string", "std::basic_string"},
	{'s', "std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"},
	{'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >"},
	{'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >"},
	{'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >"},
};

static uint32_t tags(struct cxx *x, uint32_t name)
{
	while (name && cxx_eat(x, 'B')) {
		uint32_t tag = cxx_source_name(x);
		name = tag ? cxx_make(x, CXX_TAGGED, name, tag) : 0;
	}
	return name;
}

/* *ret_again: what it gives has been remembered already. */
static uint32_t substitution(struct cxx *x, bool in_prefix, bool *ret_again)
{
	*ret_again = true;
	if (!cxx_eat(x, 'S')) {
		return 0;
	}
	char c = cxx_peek(x);
	if (c == '_' || cxx_is_digit(c) || (c >= 'A' && c <= 'Z')) {
		uint32_t id = 0;
		while (!cxx_eat(x, '_')) {
			c = cxx_peek(x);
			if ((!cxx_is_digit(c) && (c < 'A' || c > 'Z')) || id > CXX_NAME_MAX) {
				return 0;
			}
			/* "S_" is the first, "S0_" the second */
			id = (id ? id - 1 : 0) * 36 + (uint32_t)(cxx_is_digit(c) ? c - '0' : c - 'A' + 10) + 1;
			x->at++;
		}
		return id < x->substs ? x->subst[id] : 0;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(standard); i++) {
		if (standard[i].letter == c) {
			char behind = cxx_peek_next(x);
			const char *text =
				in_prefix && (behind == 'C' || behind == 'D') ? standard[i].full : standard[i].brief;
			x->at++;
			uint32_t t = cxx_text(x, text, strlen(text));
			if (t && cxx_peek(x) == 'B') {
				t = tags(x, t);
				*ret_again = false;
				return remember(x, t) ? t : 0;
			}
			*ret_again = false;
			return t;
		}
	}
	return 0;
}

/* ---- unqualified names ------------------------------------------------------------------------- */

static uint32_t text_of_source(struct cxx *x, uint32_t n)
{
	static const char anonymous[] = "_GLOBAL_";
	const char *s = x->s + x->at;
	x->at += n;
	if (n >= sizeof anonymous + 1 && memcmp(s, anonymous, sizeof anonymous - 1) == 0 &&
	    (s[8] == '.' || s[8] == '_' || s[8] == '$') && s[9] == 'N') {
		return cxx_text(x, "(anonymous namespace)", 21);
	}
	return cxx_text(x, s, n);
}

uint32_t cxx_source_name(struct cxx *x)
{
	uint32_t n;
	return cxx_number(x, &n) && n > 0 && n <= x->n - x->at ? text_of_source(x, n) : 0;
}

/* What a constructor of that class is called. */
static uint32_t class_name(struct cxx *x, uint32_t node)
{
	for (uint32_t steps = 0; node && steps < x->count; steps++) {
		const struct cxx_node *t = &x->node[node];
		switch (t->kind) {
		case CXX_NESTED:
		case CXX_LOCAL: /* of one without a name: that of what it is in */
			node = x->node[t->b].kind == CXX_UNNAMED || x->node[t->b].kind == CXX_LAMBDA ? t->a : t->b;
			break;
		case CXX_TEMPLATE:
		case CXX_TAGGED:
		case CXX_TYPED:
		case CXX_DEFAULT_ARG: node = t->a; break;
		case CXX_TEXT: {
			const char *s = t->s, *end = memchr(s, '<', t->n), *from;
			if (!end || memcmp(s, "std::", 5) != 0) {
				end = s + t->n;
			}
			if (end - s > 5 && memcmp(s, "std::", 5) == 0) {
				from = s + 5;
				return cxx_text(x, from, (size_t)(end - from));
			}
			return node;
		}
		default: return node;
		}
	}
	return 0;
}

static uint32_t constructor(struct cxx *x, uint32_t within)
{
	bool destroys = cxx_peek(x) == 'D';
	x->at++;
	bool inherited = !destroys && cxx_eat(x, 'I');
	char which = cxx_peek(x);
	bool good = destroys ? which == '0' || which == '1' || which == '2' || which == '4' || which == '5'
			     : which >= '1' && which <= '5';
	uint32_t name = good ? class_name(x, within) : 0;
	x->at++;
	if (!name || (inherited && !cxx_type(x))) {
		return 0;
	}
	return cxx_make(x, destroys ? CXX_DTOR : CXX_CTOR, name, 0);
}

/* A static name's number; absent more often than not. */
static bool discriminator(struct cxx *x)
{
	uint32_t n, from = x->at;
	if (!cxx_eat(x, '_')) {
		return true;
	}
	bool two = cxx_eat(x, '_');
	if (!cxx_is_digit(cxx_peek(x))) {
		x->at = from; /* it belongs to what the name is part of */
		return true;
	}
	return cxx_number(x, &n) && (!two || n < 10 || cxx_eat(x, '_'));
}

static uint32_t binding(struct cxx *x)
{
	uint32_t first = 0, last = 0;
	do {
		uint32_t name = cxx_source_name(x), item = name ? cxx_make(x, CXX_LIST, name, 0) : 0;
		if (!item) {
			return 0;
		}
		x->node[last].b = last ? item : 0;
		first = first ? first : item;
		last = item;
	} while (!cxx_eat(x, 'E'));
	return cxx_make(x, CXX_BINDING, first, 0);
}

static bool is_template_head(const struct cxx *x)
{
	char c = cxx_peek_next(x);
	return cxx_peek(x) == 'T' && (c == 'y' || c == 'n' || c == 't' || c == 'p' || c == 'k');
}

/* What a parameter of a template may be: read, and not said. */
static bool template_head(struct cxx *x)
{
	char c = cxx_peek_next(x);
	bool good = true;
	if (!is_template_head(x) || !cxx_enter(x)) {
		return false;
	}
	x->at += 2;
	if (c == 'n') {
		good = cxx_type(x) != 0;
	} else if (c == 'k') {
		good = cxx_name(x) != 0;
	} else if (c == 'p') {
		good = template_head(x);
	} else if (c == 't') {
		while (good && !cxx_eat(x, 'E')) {
			good = template_head(x);
		}
	}
	x->depth--;
	return good;
}

static uint32_t unnamed(struct cxx *x)
{
	uint32_t n;
	if (cxx_eat2(x, 'U', 't')) {
		return cxx_compact(x, &n) ? numbered(x, CXX_UNNAMED, 0, n) : 0;
	}
	if (!cxx_eat2(x, 'U', 'l')) {
		return 0;
	}
	bool good = true;
	while (good && is_template_head(x)) {
		good = template_head(x);
	}
	uint32_t params = good ? cxx_parameters(x) : 0;
	return params && cxx_eat(x, 'E') && cxx_compact(x, &n) ? numbered(x, CXX_LAMBDA, params, n) : 0;
}

static uint32_t operator_name(struct cxx *x)
{
	char a = cxx_peek(x), b = cxx_peek_next(x);
	x->at += 2;
	if (a == 'v' && cxx_is_digit(b)) {
		uint32_t name = cxx_source_name(x);
		return name ? cxx_make(x, CXX_VENDOR_OPERATOR, name, 0) : 0;
	}
	if (a == 'l' && b == 'i') {
		uint32_t name = cxx_source_name(x);
		return name ? cxx_make(x, CXX_LITERAL_OPERATOR, name, 0) : 0;
	}
	if (a == 'c' && b == 'v') {
		bool before = x->conversion;
		x->conversion = true;
		uint32_t type = cxx_type(x);
		x->conversion = before;
		return type ? cxx_make(x, CXX_CONVERSION, type, 0) : 0;
	}
	const struct cxx_operator *op = cxx_operator_find(a, b);
	uint32_t t = op ? cxx_make(x, CXX_OPERATOR, 0, 0) : 0;
	x->node[t].op = t ? op : NULL;
	return t;
}

uint32_t cxx_unqualified(struct cxx *x, uint32_t within)
{
	uint32_t t = 0;
	(void)cxx_eat(x, 'F'); /* a friend, defined in the class */
	char c = cxx_peek(x);
	if (cxx_is_digit(c)) {
		t = cxx_source_name(x);
	} else if (cxx_is_lower(c)) {
		(void)cxx_eat2(x, 'o', 'n');
		t = operator_name(x);
	} else if (cxx_eat2(x, 'D', 'C')) {
		t = binding(x);
	} else if (c == 'C' || c == 'D') {
		t = constructor(x, within);
	} else if (cxx_eat(x, 'L')) {
		t = cxx_source_name(x);
		t = t && discriminator(x) ? t : 0;
	} else if (c == 'U') {
		t = unnamed(x);
	}
	return tags(x, t);
}

/* ---- names ------------------------------------------------------------------------------------- */

uint32_t cxx_template_list(struct cxx *x)
{
	uint32_t first = cxx_make(x, CXX_LIST, 0, 0), last = first;
	while (first && !cxx_eat(x, 'E')) {
		char c = cxx_peek(x);
		uint32_t arg;
		if (cxx_eat(x, 'X')) {
			arg = cxx_expression(x);
			arg = arg && cxx_eat(x, 'E') ? arg : 0;
		} else if (c == 'L') {
			arg = cxx_literal(x);
		} else if (c == 'I' || c == 'J') {
			arg = cxx_template_args(x);
		} else if (is_template_head(x)) { /* of the argument that follows */
			if (!template_head(x)) {
				return 0;
			}
			continue;
		} else if (c == 'Q') { /* what is required of them */
			x->at++;
			if (!cxx_expression(x) || cxx_peek(x) != 'E') {
				return 0;
			}
			continue;
		} else {
			arg = cxx_type(x);
		}
		if (!arg) {
			return 0;
		}
		uint32_t item = x->node[last].a ? cxx_make(x, CXX_LIST, 0, 0) : last;
		if (!item) {
			return 0;
		}
		x->node[last].b = item != last ? item : 0;
		x->node[item].a = arg;
		last = item;
	}
	return first;
}

uint32_t cxx_template_args(struct cxx *x)
{
	if (!cxx_enter(x)) {
		return 0;
	}
	uint32_t list = cxx_eat(x, 'I') || cxx_eat(x, 'J') ? cxx_template_list(x) : 0;
	x->depth--;
	return list;
}

static uint32_t with_args(struct cxx *x, uint32_t name)
{
	uint32_t args = name ? cxx_template_args(x) : 0;
	return args ? cxx_make(x, CXX_TEMPLATE, name, args) : 0;
}

static uint32_t prefix(struct cxx *x)
{
	uint32_t ret = 0;
	for (;;) {
		char c = cxx_peek(x), d = cxx_peek_next(x);
		uint32_t part = 0;
		bool again = false;
		if (c == 'E') {
			return ret;
		}
		if (c == 'I') {
			ret = with_args(x, ret);
		} else if (c == 'M') { /* the initializer of the member before */
			x->at++;
			if (!ret) {
				return 0;
			}
			continue;
		} else {
			if (c == 'S' && !ret) {
				part = substitution(x, true, &again);
				again = true; /* of the abbreviations, too, none is remembered */
			} else if (c == 'T' && !ret) {
				part = cxx_template_param(x);
			} else if (c == 'D' && (d == 't' || d == 'T') && !ret) {
				x->at += 2;
				part = cxx_expression(x);
				part = part && cxx_eat(x, 'E') ? cxx_make(x, CXX_DECLTYPE, part, 0) : 0;
			} else {
				part = cxx_unqualified(x, ret);
			}
			ret = part && ret ? cxx_make(x, CXX_NESTED, ret, part) : part;
		}
		if (!ret || (!again && cxx_peek(x) != 'E' && !remember(x, ret))) {
			return 0;
		}
	}
}

uint32_t cxx_qualified(struct cxx *x, uint32_t node, unsigned qual)
{
	uint32_t t = node ? cxx_make(x, CXX_QUALIFIED, node, 0) : 0;
	if (t) {
		x->node[t].qual = (uint8_t)qual;
	}
	return t;
}

static uint32_t nested(struct cxx *x)
{
	(void)cxx_eat(x, 'H'); /* says its object as a parameter */
	bool restricted = cxx_eat(x, 'r'), is_volatile = cxx_eat(x, 'V'), constant = cxx_eat(x, 'K');
	bool lvalue = cxx_eat(x, 'R'), rvalue = !lvalue && cxx_eat(x, 'O');
	uint32_t t = prefix(x);
	if (!cxx_eat(x, 'E')) {
		return 0;
	}
	t = constant ? cxx_qualified(x, t, CXX_CONST_THIS) : t;
	t = is_volatile ? cxx_qualified(x, t, CXX_VOLATILE_THIS) : t;
	t = restricted ? cxx_qualified(x, t, CXX_RESTRICT_THIS) : t;
	t = lvalue ? cxx_qualified(x, t, CXX_LREF_THIS) : t;
	return rvalue ? cxx_qualified(x, t, CXX_RREF_THIS) : t;
}

static uint32_t local(struct cxx *x)
{
	uint32_t function = cxx_encoding(x, false), name, which;
	if (!function || !cxx_eat(x, 'E')) {
		return 0;
	}
	const struct cxx_node *f = &x->node[function];
	if (f->kind == CXX_TYPED && x->node[f->b].kind == CXX_FUNCTION) {
		x->node[f->b].a = 0; /* its result would look like that of what is in it */
	}
	if (cxx_eat(x, 's')) {
		name = cxx_text(x, "string literal", 14);
		return name && discriminator(x) ? cxx_make(x, CXX_LOCAL, function, name) : 0;
	}
	bool of_argument = cxx_eat(x, 'd');
	if (of_argument && !cxx_compact(x, &which)) {
		return 0;
	}
	name = cxx_name(x);
	if (!name || (x->node[name].kind != CXX_LAMBDA && x->node[name].kind != CXX_UNNAMED && !discriminator(x))) {
		return 0;
	}
	name = of_argument ? numbered(x, CXX_DEFAULT_ARG, name, which) : name;
	return name ? cxx_make(x, CXX_LOCAL, function, name) : 0;
}

static uint32_t unscoped(struct cxx *x)
{
	bool again = false;
	uint32_t t;
	if (cxx_eat2(x, 'S', 't')) {
		uint32_t space = cxx_text(x, "std", 3), name = cxx_unqualified(x, 0);
		t = space && name ? cxx_make(x, CXX_NESTED, space, name) : 0;
	} else if (cxx_peek(x) == 'S') {
		t = substitution(x, false, &again);
		again = true;
	} else {
		t = cxx_unqualified(x, 0);
	}
	if (!t || cxx_peek(x) != 'I') {
		return t;
	}
	return again || remember(x, t) ? with_args(x, t) : 0;
}

uint32_t cxx_name(struct cxx *x)
{
	if (!cxx_enter(x)) {
		return 0;
	}
	uint32_t t = cxx_eat(x, 'N') ? nested(x) : cxx_eat(x, 'Z') ? local(x) : unscoped(x);
	x->depth--;
	return t;
}

/* ---- encodings --------------------------------------------------------------------------------- */

static bool makes_or_converts(const struct cxx *x, uint32_t name)
{
	for (;;) {
		switch (x->node[name].kind) {
		case CXX_NESTED:
		case CXX_LOCAL: name = x->node[name].b; break;
		case CXX_DEFAULT_ARG:
		case CXX_TAGGED: name = x->node[name].a; break;
		default:
			return x->node[name].kind == CXX_CTOR || x->node[name].kind == CXX_DTOR ||
			       x->node[name].kind == CXX_CONVERSION;
		}
	}
}

/* Function templates say what they return. */
static bool has_result(const struct cxx *x, uint32_t name)
{
	for (;;) {
		switch (x->node[name].kind) {
		case CXX_LOCAL: name = x->node[name].b; break;
		case CXX_DEFAULT_ARG:
		case CXX_QUALIFIED: name = x->node[name].a; break;
		default: return x->node[name].kind == CXX_TEMPLATE && !makes_or_converts(x, x->node[name].a);
		}
	}
}

static bool offset(struct cxx *x, char kind)
{
	uint32_t n;
	(void)cxx_eat(x, 'n');
	if (!cxx_number(x, &n) || !cxx_eat(x, '_')) {
		return false;
	}
	if (kind == 'v') {
		(void)cxx_eat(x, 'n');
		return cxx_number(x, &n) && cxx_eat(x, '_');
	}
	return kind == 'h';
}

static bool offset_of_any_kind(struct cxx *x)
{
	char kind = cxx_peek(x);
	x->at++;
	return offset(x, kind);
}

static uint32_t construction(struct cxx *x)
{
	uint32_t derived = cxx_type(x), n, base;
	if (!derived || !cxx_number(x, &n) || !cxx_eat(x, '_')) {
		return 0;
	}
	base = cxx_type(x);
	return base ? cxx_make(x, CXX_CONSTRUCTION, base, derived) : 0;
}

static uint32_t reference_temporary(struct cxx *x)
{
	uint32_t name = cxx_name(x), n = 0;
	if (!name) {
		return 0;
	}
	if (cxx_peek(x)) {
		if (cxx_number(x, &n)) {
			n++;
		}
		(void)cxx_eat(x, '_');
	}
	return numbered(x, CXX_REFTEMP, name, n);
}

static uint32_t special_name(struct cxx *x)
{
	char a = cxx_peek(x), b = cxx_peek_next(x);
	x->at += 2;
	if (a == 'T') {
		switch (b) {
		case 'V': return special(x, "vtable for ", cxx_type(x));
		case 'T': return special(x, "VTT for ", cxx_type(x));
		case 'I': return special(x, "typeinfo for ", cxx_type(x));
		case 'S': return special(x, "typeinfo name for ", cxx_type(x));
		case 'F': return special(x, "typeinfo fn for ", cxx_type(x));
		case 'h': return offset(x, 'h') ? special(x, "non-virtual thunk to ", cxx_encoding(x, false)) : 0;
		case 'v': return offset(x, 'v') ? special(x, "virtual thunk to ", cxx_encoding(x, false)) : 0;
		case 'c':
			return offset_of_any_kind(x) && offset_of_any_kind(x)
				       ? special(x, "covariant return thunk to ", cxx_encoding(x, false))
				       : 0;
		case 'C': return construction(x);
		case 'H': return special(x, "TLS init function for ", cxx_name(x));
		case 'W': return special(x, "TLS wrapper function for ", cxx_name(x));
		case 'A': {
			uint32_t arg = cxx_peek(x) == 'L' ? cxx_literal(x) : cxx_type(x);
			return special(x, "template parameter object for ", arg);
		}
		default: return 0;
		}
	}
	switch (b) {
	case 'V': return special(x, "guard variable for ", cxx_name(x));
	case 'R': return reference_temporary(x);
	case 'A': return special(x, "hidden alias for ", cxx_encoding(x, false));
	case 'T':
		b = cxx_peek(x);
		x->at++;
		return b == 't' || b == 'n'
			       ? special(x, b == 't' ? "transaction clone for " : "non-transaction clone for ",
					 cxx_encoding(x, false))
			       : 0;
	default: return 0;
	}
}

static uint32_t encoding(struct cxx *x, bool outermost)
{
	if (cxx_peek(x) == 'G' || cxx_peek(x) == 'T') {
		return special_name(x);
	}
	uint32_t name = cxx_name(x), result = 0;
	char c = cxx_peek(x);
	if (!name || c == 0 || c == 'E' || (c == '.' && outermost)) {
		return name;
	}
	bool returns = has_result(x, name);
	if (cxx_eat(x, 'J') || returns) {
		result = cxx_type(x);
		if (!result) {
			return 0;
		}
	}
	uint32_t params = cxx_parameters(x);
	if (params && cxx_eat(x, 'Q') && !cxx_expression(x)) {
		return 0;
	}
	uint32_t type = params ? cxx_make(x, CXX_FUNCTION, result, params) : 0;
	return type ? cxx_make(x, CXX_TYPED, name, type) : 0;
}

uint32_t cxx_encoding(struct cxx *x, bool outermost)
{
	if (!cxx_enter(x)) {
		return 0;
	}
	uint32_t t = encoding(x, outermost);
	x->depth--;
	return t;
}

/* What compilers put behind the name of a function that they made out of another: words, numbers. */
static uint32_t clone(struct cxx *x, uint32_t of)
{
	uint32_t from = x->at;
	do {
		x->at++;
	} while (cxx_is_lower(cxx_peek(x)) || cxx_is_digit(cxx_peek(x)) || cxx_peek(x) == '_');
	if (x->at == from + 1) {
		return 0;
	}
	while (cxx_peek(x) == '.' && cxx_is_digit(cxx_peek_next(x))) {
		x->at++;
		while (cxx_is_digit(cxx_peek(x))) {
			x->at++;
		}
	}
	uint32_t suffix = cxx_text(x, x->s + from, x->at - from);
	return suffix ? cxx_make(x, CXX_CLONE, of, suffix) : 0;
}

uint32_t cxx_parse(struct cxx *x)
{
	uint32_t t = cxx_encoding(x, true);
	while (t && cxx_peek(x) == '.') {
		t = clone(x, t);
	}
	return x->at == x->n ? t : 0;
}
