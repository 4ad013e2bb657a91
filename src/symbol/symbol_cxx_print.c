/* SPDX-License-Identifier: MIT
 *
 * From nodes to text. A type has a part on the left of what it declares and one on the right, as in
 * void (*name)(int). Parameters of templates are looked up while printing: in the innermost template
 * whose function is being printed, and what is found there belongs to the templates around that one.
 */
#include "symbol/symbol_cxx_print.h"

#include <stdlib.h>

static void left(struct print *p, uint32_t node);
static void right(struct print *p, uint32_t node);

/* ---- template parameters ------------------------------------------------------------------------- */

static uint32_t item(struct print *p, uint32_t list, uint32_t n)
{
	for (; list && n > 0; n--) {
		list = at(p, list)->b;
		p->bad |= ++p->steps > CXX_STEPS_MAX;
		if (p->bad) {
			return 0;
		}
	}
	return list ? at(p, list)->a : 0;
}

/* What a parameter stands for; of a pack, all of it. 0: nothing known. */
static uint32_t argument(struct print *p, uint32_t param)
{
	return p->scope ? item(p, p->scope->args, at(p, param)->n) : 0;
}

static bool is_list(const struct print *p, uint32_t node)
{
	return at(p, node)->kind == CXX_LIST;
}

/* Of a pack, the item at hand. */
static uint32_t resolve(struct print *p, uint32_t param)
{
	uint32_t a = argument(p, param);
	return a && is_list(p, a) && p->pack != NO_PACK ? item(p, a, (uint32_t)p->pack) : a;
}

uint32_t cxx_pack_length(struct print *p, uint32_t list)
{
	uint32_t n = 0;
	for (; list && at(p, list)->a; list = at(p, list)->b) {
		n++;
		p->bad |= ++p->steps > CXX_STEPS_MAX;
	}
	return n;
}

/* The pack that a pattern repeats for. Each node is looked at once, however often it is referred to. */
static uint32_t find_pack(struct print *p, uint32_t node, uint8_t *seen)
{
	if (!node || seen[node] || !enter(p)) {
		return 0;
	}
	seen[node] = 1;
	const struct cxx_node *t = at(p, node);
	uint32_t found = 0;
	switch (t->kind) {
	case CXX_TPARAM:
		found = argument(p, node);
		found = found && is_list(p, found) ? found : 0;
		break;
	case CXX_PACK:
	case CXX_TEXT:
	case CXX_TAGGED:
	case CXX_OPERATOR:
	case CXX_BUILTIN:
	case CXX_FPARAM:
	case CXX_LAMBDA:
	case CXX_UNNAMED:
	case CXX_DEFAULT_ARG: break;
	default:
		found = find_pack(p, t->a, seen);
		found = found || p->bad ? found : find_pack(p, t->b, seen);
		break;
	}
	leave(p);
	return found;
}

uint32_t cxx_pack_of(struct print *p, uint32_t pattern)
{
	uint8_t few[256] = {0}, *seen = p->x->count > sizeof few ? calloc(p->x->count, 1) : few;
	uint32_t found = 0;
	p->steps += p->x->count / 64; /* the memory */
	if (seen) {
		found = find_pack(p, pattern, seen);
	} else {
		p->out.failed = true;
	}
	if (seen != few) {
		free(seen);
	}
	return found;
}

/* ---- lists --------------------------------------------------------------------------------------- */

void cxx_say_list(struct print *p, uint32_t node)
{
	bool any = false;
	for (; node && at(p, node)->a && !p->bad; node = at(p, node)->b) {
		size_t before = p->out.len;
		say(p, any ? ", " : "");
		size_t behind = p->out.len;
		cxx_say_node(p, at(p, node)->a);
		if (p->out.len == behind && !p->bad && p->out.s) { /* an empty pack */
			p->out.len = before;
			p->out.s[before] = 0;
		} else {
			any = true;
		}
	}
}

static void repeated(struct print *p, uint32_t pattern)
{
	uint32_t pack = cxx_pack_of(p, pattern), n = pack ? cxx_pack_length(p, pack) : 0;
	int before = p->pack;
	if (!pack) { /* of a parameter that nobody knows, or of a function's */
		cxx_say_node(p, pattern);
		say(p, "...");
		return;
	}
	for (uint32_t i = 0; i < n && !p->bad; i++) {
		say(p, i ? ", " : "");
		p->pack = (int)i;
		cxx_say_node(p, pattern);
	}
	p->pack = before;
}

/* ---- types --------------------------------------------------------------------------------------- */

/* What a reference to a reference is: the node inside, and which kind it collapsed to. */
static uint32_t collapse(struct print *p, uint32_t node, unsigned *inout_qual, const struct scope **inout_scope)
{
	const struct scope *before = p->scope;
	uint32_t of = at(p, node)->a, found = of;
	if (at(p, of)->kind == CXX_TPARAM && !p->in_lambda) {
		found = resolve(p, of);
		if (!found) {
			return of;
		}
		const struct cxx_node *t = at(p, found);
		bool is_reference = t->kind == CXX_QUALIFIED && (t->qual == CXX_LREF || t->qual == CXX_RREF);
		*inout_scope = before ? before->outer : NULL;
		if (is_reference) {
			*inout_qual = t->qual == CXX_LREF ? CXX_LREF : *inout_qual;
			return t->a;
		}
		return found;
	}
	return of;
}

/* Has it a part on the right? Functions and arrays have, and what points to them. */
static bool has_right(struct print *p, uint32_t node)
{
	const struct scope *before = p->scope;
	bool found = false;
	for (bool more = true; more && !p->bad;) {
		const struct cxx_node *t = at(p, node);
		p->bad |= ++p->steps > CXX_STEPS_MAX;
		switch (t->kind) {
		case CXX_FUNCTION:
		case CXX_ARRAY:
			found = true;
			more = false;
			break;
		case CXX_QUALIFIED:
		case CXX_NOEXCEPT:
		case CXX_THROWS:
		case CXX_VENDOR_QUAL: node = t->a; break;
		case CXX_MEMBER_POINTER: node = t->b; break;
		case CXX_TPARAM:
			node = p->in_lambda ? 0 : resolve(p, node);
			p->scope = p->scope ? p->scope->outer : NULL;
			more = node != 0;
			break;
		default: more = false; break;
		}
	}
	p->scope = before;
	return found;
}

/* Is what it declares a function or an array, so that a pointer to it needs parentheses? */
static unsigned declares(struct print *p, uint32_t node)
{
	const struct scope *before = p->scope;
	unsigned kind = CXX_NONE;
	for (bool more = true; more && !p->bad;) {
		const struct cxx_node *t = at(p, node);
		p->bad |= ++p->steps > CXX_STEPS_MAX;
		more = false;
		if (t->kind == CXX_FUNCTION || t->kind == CXX_ARRAY) {
			kind = t->kind;
		} else if (t->kind == CXX_NOEXCEPT || t->kind == CXX_THROWS ||
			   (t->kind == CXX_QUALIFIED && (cxx_is_this(t->qual) || t->qual <= CXX_RESTRICT))) {
			node = t->a; /* an array of constant things is a constant array */
			more = true;
		} else if (t->kind == CXX_TPARAM && !p->in_lambda) {
			node = resolve(p, node);
			p->scope = p->scope ? p->scope->outer : NULL;
			more = node != 0;
		}
	}
	p->scope = before;
	return kind;
}

static void open_paren(struct print *p, unsigned of, bool spaced)
{
	if (of == CXX_ARRAY) {
		say(p, " (");
	} else if (of == CXX_FUNCTION) {
		bool space = spaced || (last(p) != '(' && last(p) != '*');
		say(p, space && last(p) != ' ' ? " (" : "(");
	}
}

static void param(struct print *p, uint32_t node, void (*how)(struct print *, uint32_t))
{
	if (p->in_lambda) {
		if (how != right) {
			say(p, "auto:");
			say_number(p, at(p, node)->n + 1ull);
		}
		return;
	}
	uint32_t a = resolve(p, node);
	if (!a) {
		p->bad = true;
		return;
	}
	const struct scope *before = p->scope;
	p->scope = before->outer;
	how(p, a);
	p->scope = before;
}

static void reference(struct print *p, uint32_t node, bool is_left)
{
	unsigned qual = at(p, node)->qual;
	const struct scope *before = p->scope, *scope = before;
	uint32_t of = collapse(p, node, &qual, &scope);
	p->scope = scope;
	unsigned declared = declares(p, of);
	if (is_left) {
		left(p, of);
		open_paren(p, declared, false);
		say(p, qual == CXX_LREF ? "&" : "&&");
	} else {
		say(p, declared ? ")" : "");
		right(p, of);
	}
	p->scope = before;
}

static bool same_inside(struct print *p, const struct cxx_node *t)
{
	/* A parameter that is const already is not said to be const twice. */
	const struct cxx_node *in = at(p, t->a);
	const struct scope *before = p->scope;
	bool same = false;
	for (unsigned i = 0; i < 8; i++) {
		if (in->kind == CXX_TPARAM && !p->in_lambda) {
			uint32_t a = resolve(p, (uint32_t)(in - p->x->node));
			p->scope = p->scope ? p->scope->outer : NULL;
			if (!a) {
				break;
			}
			in = at(p, a);
		} else if (in->kind == CXX_QUALIFIED && in->qual <= CXX_RESTRICT) {
			same = same || in->qual == t->qual;
			in = at(p, in->a);
		} else {
			break;
		}
	}
	p->scope = before;
	return same;
}

static void qualified_left(struct print *p, uint32_t node)
{
	static const char text[][12] = {
		[CXX_CONST] = " const",      [CXX_VOLATILE] = " volatile",    [CXX_RESTRICT] = " restrict",
		[CXX_COMPLEX] = " _Complex", [CXX_IMAGINARY] = " _Imaginary",
	};
	const struct cxx_node *t = at(p, node);
	if (t->qual == CXX_LREF || t->qual == CXX_RREF) {
		reference(p, node, true);
		return;
	}
	left(p, t->a);
	if (t->qual == CXX_POINTER) {
		open_paren(p, declares(p, t->a), false);
		say(p, "*");
	} else if (!cxx_is_this(t->qual) && !same_inside(p, t)) {
		say(p, text[t->qual]);
	}
}

static void qualified_right(struct print *p, uint32_t node)
{
	static const char text[][20] = {
		[CXX_CONST_THIS] = " const",       [CXX_VOLATILE_THIS] = " volatile",
		[CXX_RESTRICT_THIS] = " restrict", [CXX_LREF_THIS] = " &",
		[CXX_RREF_THIS] = " &&",           [CXX_TRANSACTION_SAFE] = " transaction_safe",
	};
	const struct cxx_node *t = at(p, node);
	if (t->qual == CXX_LREF || t->qual == CXX_RREF) {
		reference(p, node, false);
		return;
	}
	say(p, t->qual == CXX_POINTER && declares(p, t->a) ? ")" : "");
	right(p, t->a);
	say(p, cxx_is_this(t->qual) ? text[t->qual] : "");
}

static void member_pointer(struct print *p, const struct cxx_node *t, bool is_left)
{
	unsigned declared = declares(p, t->b);
	if (is_left) {
		left(p, t->b);
		open_paren(p, declared, true);
		if (last(p) != '(') {
			say_char(p, ' ');
		}
		cxx_say_node(p, t->a);
		say(p, "::*");
	} else {
		say(p, declared ? ")" : "");
		right(p, t->b);
	}
}

static void parameters(struct print *p, uint32_t function)
{
	say_char(p, '(');
	cxx_say_list(p, at(p, function)->b);
	say_char(p, ')');
}

static void function_left(struct print *p, const struct cxx_node *t)
{
	if (t->a) {
		left(p, t->a);
		if (!has_right(p, t->a)) {
			say_char(p, ' ');
		}
	}
}

static void array_right(struct print *p, const struct cxx_node *t)
{
	say(p, last(p) == ']' ? "[" : " [");
	if (t->b) {
		cxx_say_node(p, t->b);
	}
	say_char(p, ']');
	right(p, t->a);
}

/* ---- names --------------------------------------------------------------------------------------- */

static void operator_name(struct print *p, const struct cxx_operator *op)
{
	size_t n = strlen(op->text);
	say(p, "operator");
	say(p, cxx_is_lower(op->text[0]) ? " " : "");
	say_n(p, op->text, n - (op->text[n - 1] == ' '));
}

static void angle(struct print *p, uint32_t args)
{
	say(p, last(p) == '<' ? " <" : "<");
	cxx_say_list(p, args);
	say(p, last(p) == '>' ? " >" : ">");
}

static void template(struct print *p, uint32_t node)
{
	uint32_t before = p->current;
	p->current = node;
	cxx_say_node(p, at(p, node)->a);
	p->current = before;
	angle(p, at(p, node)->b);
}

/* Its type may name parameters of the operator, which are its own. */
static void conversion(struct print *p, uint32_t type)
{
	const struct scope *before = p->scope;
	struct scope mine = {before, p->current ? at(p, p->current)->b : 0};
	const struct cxx_node *t = at(p, type);
	say(p, "operator ");
	p->scope = p->current ? &mine : before;
	if (t->kind == CXX_TEMPLATE) {
		cxx_say_node(p, t->a);
		p->scope = before;
		angle(p, t->b);
	} else {
		cxx_say_node(p, type);
	}
	p->scope = before;
}

static void local(struct print *p, const struct cxx_node *t)
{
	cxx_say_node(p, t->a);
	say(p, "::");
	uint32_t name = t->b;
	const struct cxx_node *in = at(p, name);
	if (in->kind == CXX_DEFAULT_ARG) {
		say(p, "{default arg#");
		say_number(p, in->n + 1ull);
		say(p, "}::");
		name = in->a;
	}
	while (at(p, name)->kind == CXX_QUALIFIED) { /* said behind the parameters */
		name = at(p, name)->a;
	}
	cxx_say_node(p, name);
}

/* What qualifies the object of a member function stands around its name, or around its name in another
 * function; it is said last. */
static uint32_t bare(struct print *p, uint32_t name)
{
	while (at(p, name)->kind == CXX_QUALIFIED && cxx_is_this(at(p, name)->qual)) {
		name = at(p, name)->a;
	}
	return name;
}

static void of_object(struct print *p, uint32_t name)
{
	const struct cxx_node *t = at(p, name);
	if (!enter(p)) {
		return;
	}
	if (t->kind == CXX_QUALIFIED && cxx_is_this(t->qual)) {
		of_object(p, t->a);
		say(p, t->qual == CXX_CONST_THIS      ? " const"
		       : t->qual == CXX_VOLATILE_THIS ? " volatile"
		       : t->qual == CXX_RESTRICT_THIS ? " restrict"
		       : t->qual == CXX_LREF_THIS     ? " &"
						      : " &&");
	} else if (t->kind == CXX_LOCAL) {
		of_object(p, t->b);
	} else if (t->kind == CXX_DEFAULT_ARG) {
		of_object(p, t->a);
	}
	leave(p);
}

/* The innermost template that a function is an instance of. */
static uint32_t instance(struct print *p, uint32_t name)
{
	for (uint32_t steps = 0; steps < p->x->count; steps++) {
		const struct cxx_node *t = at(p, name);
		if (t->kind == CXX_LOCAL) {
			name = t->b;
		} else if (t->kind == CXX_QUALIFIED || t->kind == CXX_DEFAULT_ARG) {
			name = t->a;
		} else {
			return t->kind == CXX_TEMPLATE ? name : 0;
		}
	}
	return 0;
}

static void typed(struct print *p, const struct cxx_node *t)
{
	const struct scope *before = p->scope;
	uint32_t of = instance(p, t->a);
	struct scope mine = {before, of ? at(p, of)->b : 0};
	const struct cxx_node *function = at(p, t->b);
	p->scope = of ? &mine : before;
	function_left(p, function);
	cxx_say_node(p, bare(p, t->a));
	parameters(p, t->b);
	of_object(p, t->a);
	if (function->a) {
		right(p, function->a);
	}
	p->scope = before;
}

static void lambda(struct print *p, const struct cxx_node *t)
{
	say(p, "{lambda(");
	p->in_lambda++;
	cxx_say_list(p, t->a);
	p->in_lambda--;
	say(p, ")#");
	say_number(p, t->n + 1ull);
	say(p, "}");
}

static void constructor(struct print *p, const struct cxx_node *t)
{
	say(p, t->kind == CXX_DTOR ? "~" : "");
	cxx_say_node(p, t->a);
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* What has nothing on its right. */
static void whole(struct print *p, uint32_t node)
{
	const struct cxx_node *t = at(p, node);
	switch (t->kind) {
	case CXX_TEXT: say_n(p, t->s, t->n); break;
	case CXX_NESTED:
		cxx_say_node(p, t->a);
		say(p, "::");
		cxx_say_node(p, t->b);
		break;
	case CXX_LOCAL: local(p, t); break;
	case CXX_TYPED: typed(p, t); break;
	case CXX_TEMPLATE: template(p, node); break;
	case CXX_TAGGED:
		cxx_say_node(p, t->a);
		say(p, "[abi:");
		cxx_say_node(p, t->b);
		say(p, "]");
		break;
	case CXX_CLONE:
		cxx_say_node(p, t->a);
		say(p, " [clone ");
		cxx_say_node(p, t->b);
		say(p, "]");
		break;
	case CXX_CTOR:
	case CXX_DTOR: constructor(p, t); break;
	case CXX_SPECIAL:
		say_n(p, t->s, t->n);
		cxx_say_node(p, t->a);
		break;
	case CXX_CONSTRUCTION:
		say(p, "construction vtable for ");
		cxx_say_node(p, t->a);
		say(p, "-in-");
		cxx_say_node(p, t->b);
		break;
	case CXX_REFTEMP:
		say(p, "reference temporary #");
		say_number(p, t->n);
		say(p, " for ");
		cxx_say_node(p, t->a);
		break;
	case CXX_OPERATOR: operator_name(p, t->op); break;
	case CXX_LITERAL_OPERATOR:
		say(p, "operator\"\" ");
		cxx_say_node(p, t->a);
		break;
	case CXX_VENDOR_OPERATOR:
		say(p, "operator ");
		cxx_say_node(p, t->a);
		break;
	case CXX_CONVERSION: conversion(p, t->a); break;
	case CXX_DEFAULT_ARG: cxx_say_node(p, t->a); break;
	case CXX_UNNAMED:
		say(p, "{unnamed type#");
		say_number(p, t->n + 1ull);
		say(p, "}");
		break;
	case CXX_LAMBDA: lambda(p, t); break;
	case CXX_BINDING:
		say(p, "[");
		cxx_say_list(p, t->a);
		say(p, "]");
		break;
	case CXX_BUILTIN: say(p, t->type->text); break;
	case CXX_DECLTYPE:
		say(p, "decltype (");
		cxx_say_node(p, t->a);
		say(p, ")");
		break;
	case CXX_PACK: repeated(p, t->a); break;
	case CXX_LIST: cxx_say_list(p, node); break;
	case CXX_VECTOR:
		cxx_say_node(p, t->a);
		say(p, " __vector(");
		cxx_say_node(p, t->b);
		say(p, ")");
		break;
	case CXX_SIZED_FLOAT:
		say(p, "_Float");
		say_n(p, t->s, t->n);
		break;
	case CXX_BITINT:
		say(p, t->s);
		cxx_say_node(p, t->a);
		say(p, ")");
		break;
	case CXX_FPARAM: cxx_say_function_parameter(p, t); break;
	case CXX_UNARY: cxx_say_unary(p, t); break;
	case CXX_SUFFIX:
		cxx_say_in_parens(p, t->b);
		cxx_say_sign(p, t->a);
		break;
	case CXX_BINARY: cxx_say_binary(p, t); break;
	case CXX_TRINARY: cxx_say_trinary(p, t); break;
	case CXX_NULLARY: cxx_say_sign(p, t->a); break;
	case CXX_LITERAL: cxx_say_literal(p, t); break;
	case CXX_BRACED: cxx_say_braced(p, t); break;
	case CXX_VENDOR_EXPRESSION:
		cxx_say_node(p, t->a);
		say(p, "(");
		cxx_say_list(p, t->b);
		say(p, ")");
		break;
	default: p->bad = true; break;
	}
}

static void left(struct print *p, uint32_t node)
{
	const struct cxx_node *t = at(p, node);
	if (!enter(p)) {
		return;
	}
	switch (t->kind) {
	case CXX_QUALIFIED: qualified_left(p, node); break;
	case CXX_NOEXCEPT:
	case CXX_THROWS: left(p, t->a); break;
	case CXX_VENDOR_QUAL:
		left(p, t->a);
		say(p, " ");
		cxx_say_node(p, t->b);
		break;
	case CXX_FUNCTION: function_left(p, t); break;
	case CXX_ARRAY: left(p, t->a); break;
	case CXX_MEMBER_POINTER: member_pointer(p, t, true); break;
	case CXX_TPARAM: param(p, node, left); break;
	default: whole(p, node); break;
	}
	leave(p);
}

static void right(struct print *p, uint32_t node)
{
	const struct cxx_node *t = at(p, node);
	if (!enter(p)) {
		return;
	}
	switch (t->kind) {
	case CXX_QUALIFIED: qualified_right(p, node); break;
	case CXX_NOEXCEPT:
		right(p, t->a);
		say(p, " noexcept");
		if (t->b) {
			say(p, "(");
			cxx_say_node(p, t->b);
			say(p, ")");
		}
		break;
	case CXX_THROWS:
		right(p, t->a);
		say(p, " throw(");
		cxx_say_list(p, t->b);
		say(p, ")");
		break;
	case CXX_VENDOR_QUAL: right(p, t->a); break;
	case CXX_FUNCTION:
		parameters(p, node);
		if (t->a) {
			right(p, t->a);
		}
		break;
	case CXX_ARRAY: array_right(p, t); break;
	case CXX_MEMBER_POINTER: member_pointer(p, t, false); break;
	case CXX_TPARAM: param(p, node, right); break;
	default: break;
	}
	leave(p);
}

void cxx_say_node(struct print *p, uint32_t node)
{
	left(p, node);
	right(p, node);
}

char *cxx_print(const struct cxx *x, uint32_t root, uint64_t *inout_steps)
{
	struct print p = {.x = x, .pack = 0};
	cxx_say_node(&p, root);
	*inout_steps += p.steps;
	if (p.bad || p.out.failed || p.out.len == 0) {
		strbuf_finish(&p.out);
		return NULL;
	}
	return p.out.s;
}
