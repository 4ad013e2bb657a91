/* SPDX-License-Identifier: MIT
 *
 * Expressions in demangled names, as they stand among the arguments of templates and in decltype.
 */
#include "symbol/symbol_cxx_print.h"

void cxx_say_in_parens(struct print *p, uint32_t node)
{
	const struct cxx_node *t = at(p, node);
	bool simple = t->kind == CXX_TEXT || t->kind == CXX_NESTED || t->kind == CXX_BRACED || t->kind == CXX_FPARAM;
	say(p, simple ? "" : "(");
	cxx_say_node(p, node);
	say(p, simple ? "" : ")");
}

void cxx_say_sign(struct print *p, uint32_t op)
{
	if (at(p, op)->kind == CXX_OPERATOR) {
		say(p, at(p, op)->op->text);
	} else {
		cxx_say_node(p, op);
	}
}

static bool is_op(struct print *p, uint32_t op, const char *code)
{
	return at(p, op)->kind == CXX_OPERATOR && strcmp(at(p, op)->op->code, code) == 0;
}

void cxx_say_unary(struct print *p, const struct cxx_node *t)
{
	uint32_t operand = t->b;
	if (is_op(p, t->a, "ad")) { /* of a function: without its parameters */
		const struct cxx_node *o = at(p, operand);
		if (o->kind == CXX_TYPED && at(p, o->a)->kind == CXX_NESTED && at(p, o->b)->kind == CXX_FUNCTION) {
			operand = o->a;
		}
	} else if (is_op(p, t->a, "sZ")) {
		uint32_t pack = cxx_pack_of(p, operand);
		say_number(p, cxx_pack_length(p, pack));
		return;
	} else if (is_op(p, t->a, "sP")) {
		uint32_t n = 0;
		for (uint32_t i = operand; i && at(p, i)->a && !p->bad; i = at(p, i)->b) {
			const struct cxx_node *a = at(p, at(p, i)->a);
			uint32_t pack = a->kind == CXX_PACK ? cxx_pack_of(p, a->a) : 0;
			n += a->kind == CXX_PACK ? cxx_pack_length(p, pack) : 1;
		}
		say_number(p, n);
		return;
	}
	if (at(p, t->a)->kind == CXX_CAST) {
		say(p, "(");
		cxx_say_node(p, at(p, t->a)->a);
		say(p, ")");
	} else {
		cxx_say_sign(p, t->a);
	}
	if (is_op(p, t->a, "gs")) {
		cxx_say_node(p, operand);
	} else if (is_op(p, t->a, "st") || is_op(p, t->a, "nx")) {
		say(p, "(");
		cxx_say_node(p, operand);
		say(p, ")");
	} else {
		cxx_say_in_parens(p, operand);
	}
}

static bool is_cast(struct print *p, uint32_t op)
{
	return is_op(p, op, "sc") || is_op(p, op, "cc") || is_op(p, op, "dc") || is_op(p, op, "rc");
}

/* (... + pack), (pack + ...), and with a value to begin from. */
static bool fold(struct print *p, const struct cxx_node *t)
{
	const char *code = at(p, t->a)->kind == CXX_OPERATOR ? at(p, t->a)->op->code : "";
	if (code[0] != 'f' || code[1] == 'p') {
		return false;
	}
	const struct cxx_node *both = at(p, t->b);
	const struct cxx_node *rest = at(p, both->b);
	int before = p->pack;
	p->pack = NO_PACK;
	switch (code[1]) {
	case 'l':
		say(p, "(...");
		cxx_say_sign(p, both->a);
		cxx_say_in_parens(p, both->b);
		say(p, ")");
		break;
	case 'r':
		say(p, "(");
		cxx_say_in_parens(p, both->b);
		cxx_say_sign(p, both->a);
		say(p, "...)");
		break;
	default:
		say(p, "(");
		cxx_say_in_parens(p, rest->a);
		cxx_say_sign(p, both->a);
		say(p, "...");
		cxx_say_sign(p, both->a);
		cxx_say_in_parens(p, rest->b);
		say(p, ")");
		break;
	}
	p->pack = before;
	return true;
}

void cxx_say_binary(struct print *p, const struct cxx_node *t)
{
	const struct cxx_node *both = at(p, t->b);
	if (is_cast(p, t->a)) {
		cxx_say_sign(p, t->a);
		say(p, "<");
		cxx_say_node(p, both->a);
		say(p, ">(");
		cxx_say_node(p, both->b);
		say(p, ")");
		return;
	}
	if (fold(p, t)) {
		return;
	}
	bool greater = is_op(p, t->a, "gt"); /* not to be taken for the end of the arguments */
	say(p, greater ? "(" : "");
	if (is_op(p, t->a, "cl") && at(p, both->a)->kind == CXX_TYPED) {
		cxx_say_in_parens(p, at(p, both->a)->a);
	} else {
		cxx_say_in_parens(p, both->a);
	}
	if (is_op(p, t->a, "ix")) {
		say(p, "[");
		cxx_say_node(p, both->b);
		say(p, "]");
	} else {
		if (!is_op(p, t->a, "cl")) {
			cxx_say_sign(p, t->a);
		}
		cxx_say_in_parens(p, both->b);
	}
	say(p, greater ? ")" : "");
}

void cxx_say_trinary(struct print *p, const struct cxx_node *t)
{
	const struct cxx_node *all = at(p, t->b);
	const struct cxx_node *rest = at(p, all->b);
	if (fold(p, t)) {
		return;
	}
	if (is_op(p, t->a, "qu")) {
		cxx_say_in_parens(p, all->a);
		cxx_say_sign(p, t->a);
		cxx_say_in_parens(p, rest->a);
		say(p, " : ");
		cxx_say_in_parens(p, rest->b);
		return;
	}
	say(p, "new ");
	if (at(p, all->a)->a) {
		cxx_say_in_parens(p, all->a);
		say(p, " ");
	}
	cxx_say_node(p, rest->a);
	if (at(p, rest->b)->kind != CXX_NONE) {
		cxx_say_in_parens(p, rest->b);
	}
}

void cxx_say_literal(struct print *p, const struct cxx_node *t)
{
	const struct cxx_node *type = at(p, t->a), *text = at(p, t->b);
	unsigned how = type->kind == CXX_BUILTIN ? type->type->literal : CXX_AS_CAST;
	if (how == CXX_AS_INT) {
		say(p, t->qual ? "-" : "");
		say_n(p, text->s, text->n);
		say(p, type->type->suffix);
		return;
	}
	if (how == CXX_AS_BOOL && !t->qual && text->n == 1 && (text->s[0] == '0' || text->s[0] == '1')) {
		say(p, text->s[0] == '0' ? "false" : "true");
		return;
	}
	say(p, "(");
	cxx_say_node(p, t->a);
	say(p, ")");
	say(p, t->qual ? "-" : "");
	say(p, how == CXX_AS_FLOAT ? "[" : "");
	say_n(p, text->s, text->n);
	say(p, how == CXX_AS_FLOAT ? "]" : "");
}

void cxx_say_braced(struct print *p, const struct cxx_node *t)
{
	if (t->a) {
		cxx_say_node(p, t->a);
	}
	say(p, "{");
	cxx_say_list(p, t->b);
	say(p, "}");
}

void cxx_say_function_parameter(struct print *p, const struct cxx_node *t)
{
	if (t->n == 0) {
		say(p, "this");
	} else {
		say(p, "{parm#");
		say_number(p, t->n);
		say(p, "}");
	}
}
