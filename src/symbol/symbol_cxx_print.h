/* SPDX-License-Identifier: MIT
 *
 * Private to the printing of demangled names: symbol_cxx_print.c prints names and types,
 * symbol_cxx_print_expr.c the expressions among their arguments.
 */
#ifndef SYMBOL_SYMBOL_CXX_PRINT_H
#define SYMBOL_SYMBOL_CXX_PRINT_H

#include "symbol/symbol_cxx.h"
#include "symbol/symbol_private.h"

#define NO_PACK (-1)

struct scope { /* a template whose parameters can be named */
	const struct scope *outer;
	uint32_t args;
};
struct print {
	const struct cxx *x;
	struct strbuf out;
	const struct scope *scope;
	uint32_t current; /* the template whose name is being printed; 0: none */
	uint32_t steps, depth;
	int pack; /* which item of a pack is being printed */
	unsigned in_lambda;
	bool bad;
};

/* ---- text --------------------------------------------------------------------------------------- */

static inline void say_n(struct print *p, const char *s, size_t n)
{
	p->bad |= p->out.len + n > CXX_TEXT_MAX;
	if (!p->bad) {
		strbuf_add(&p->out, s, n);
	}
}

static inline void say(struct print *p, const char *s)
{
	say_n(p, s, strlen(s));
}

static inline void say_char(struct print *p, char c)
{
	say_n(p, &c, 1);
}

static inline void say_number(struct print *p, uint64_t v)
{
	char text[SYMBOL_DIGITS_MAX];
	size_t n = symbol_digits(v, text);
	say_n(p, text + n, sizeof text - n);
}

static inline char last(const struct print *p)
{
	return p->out.len ? p->out.s[p->out.len - 1] : 0;
}

static inline const struct cxx_node *at(const struct print *p, uint32_t node)
{
	return &p->x->node[node];
}

/* One more node, or too many. */
static inline bool enter(struct print *p)
{
	p->bad |= p->steps >= CXX_STEPS_MAX || p->depth >= CXX_DEPTH_MAX;
	p->steps++;
	p->depth += !p->bad;
	return !p->bad;
}

static inline void leave(struct print *p)
{
	p->depth--;
}

/* ---- names and types ---------------------------------------------------------------------------- */

void cxx_say_node(struct print *p, uint32_t node);
void cxx_say_list(struct print *p, uint32_t node);
/* The pack that a pattern repeats, and how many items it has. */
uint32_t cxx_pack_of(struct print *p, uint32_t pattern);
uint32_t cxx_pack_length(struct print *p, uint32_t list);

/* ---- expressions --------------------------------------------------------------------------------- */

/* In parentheses, unless that would be the same without. */
void cxx_say_in_parens(struct print *p, uint32_t node);
void cxx_say_sign(struct print *p, uint32_t op); /* of an operator */
void cxx_say_unary(struct print *p, const struct cxx_node *t);
void cxx_say_binary(struct print *p, const struct cxx_node *t);
void cxx_say_trinary(struct print *p, const struct cxx_node *t);
void cxx_say_literal(struct print *p, const struct cxx_node *t);
void cxx_say_braced(struct print *p, const struct cxx_node *t);
void cxx_say_function_parameter(struct print *p, const struct cxx_node *t);

#endif
