/* SPDX-License-Identifier: MIT
 *
 * Private to symbol: names of C++ (Itanium C++ ABI, chapter 5.1) made readable, with bounds.
 *
 *   parse   the mangled name becomes a graph of nodes; what a name refers back to is there once
 *   print   the graph is walked; a part that several others refer to is walked once for each of them
 *
 * A few hundred bytes can describe gigabytes of text, because each part may refer twice to the part
 * before it. So nodes, depth, walked nodes and written bytes all have limits. A name that goes
 * beyond one of them has no readable form here. The text is that of libiberty, which c++filt,
 * gdb and libstdc++ use, so that names look alike everywhere.
 */
#ifndef SYMBOL_SYMBOL_CXX_H
#define SYMBOL_SYMBOL_CXX_H

#include "base/base.h"

#define CXX_NAME_MAX  32768u  /* bytes of a mangled name */
#define CXX_TEXT_MAX  65536u  /* bytes of a readable name */
#define CXX_STEPS_MAX 250000u /* parts of the grammar read, and nodes visited while printing */
#define CXX_DEPTH_MAX 256u    /* of nested parts; each takes some 200 bytes of the stack */

enum cxx_kind {
	CXX_NONE,
	/* names */
	CXX_TEXT,     /* s, n: a source name, or text that the grammar stands for */
	CXX_NESTED,   /* a::b */
	CXX_LOCAL,    /* a::b, where a is a function */
	CXX_TYPED,    /* a: name, b: function type */
	CXX_TEMPLATE, /* a: name, b: list of arguments */
	CXX_TAGGED,   /* a: name, b: text of the ABI tag */
	CXX_CLONE,    /* a: function, b: text of the suffix */
	CXX_CTOR,     /* a: name of the class */
	CXX_DTOR,
	CXX_SPECIAL,          /* s, n: what stands before a */
	CXX_CONSTRUCTION,     /* vtable for a in b */
	CXX_REFTEMP,          /* a: the object, n: number */
	CXX_OPERATOR,         /* op */
	CXX_LITERAL_OPERATOR, /* a: name */
	CXX_VENDOR_OPERATOR,  /* a: name */
	CXX_CONVERSION,       /* a: type */
	CXX_DEFAULT_ARG,      /* n: which, a: what is in it */
	CXX_UNNAMED,          /* n: which */
	CXX_LAMBDA,           /* a: list of parameters, n: which */
	CXX_BINDING,          /* a: list of names */
	/* types */
	CXX_BUILTIN,        /* type */
	CXX_TPARAM,         /* n: index */
	CXX_QUALIFIED,      /* a: what, qual: how */
	CXX_NOEXCEPT,       /* a: function type, b: condition or 0 */
	CXX_THROWS,         /* a: function type, b: list */
	CXX_VENDOR_QUAL,    /* a: type, b: qualifier */
	CXX_FUNCTION,       /* a: result or 0, b: list of parameters */
	CXX_ARRAY,          /* a: element, b: bound or 0 */
	CXX_MEMBER_POINTER, /* a: class, b: member */
	CXX_VECTOR,         /* a: element, b: bound */
	CXX_DECLTYPE,       /* a: expression */
	CXX_PACK,           /* a: pattern */
	CXX_LIST,           /* a: item or 0, b: rest or 0 */
	CXX_SIZED_FLOAT,    /* s, n */
	CXX_BITINT,         /* a: number of bits, s: prefix */
	/* expressions */
	CXX_FPARAM,            /* n: which; 0: this */
	CXX_UNARY,             /* a: operator, b: operand */
	CXX_SUFFIX,            /* a: operator, b: operand that stands before it */
	CXX_BINARY,            /* a: operator, b: pair */
	CXX_TRINARY,           /* a: operator, b: pair of the first and a pair */
	CXX_PAIR,              /* a, b */
	CXX_NULLARY,           /* a: operator */
	CXX_CAST,              /* a: type; an operator */
	CXX_LITERAL,           /* a: type, b: text, qual: negative */
	CXX_BRACED,            /* a: type or 0, b: list */
	CXX_VENDOR_EXPRESSION, /* a: name, b: list */
};

enum cxx_qual {
	CXX_CONST,
	CXX_VOLATILE,
	CXX_RESTRICT,
	CXX_POINTER,
	CXX_LREF,
	CXX_RREF,
	CXX_COMPLEX,
	CXX_IMAGINARY,
	/* behind the parameters of a function */
	CXX_CONST_THIS,
	CXX_VOLATILE_THIS,
	CXX_RESTRICT_THIS,
	CXX_LREF_THIS,
	CXX_RREF_THIS,
	CXX_TRANSACTION_SAFE,
};
static inline bool cxx_is_this(unsigned qual)
{
	return qual >= CXX_CONST_THIS;
}

/* No pointers: the loader would have to write them in every process that has libetw. */
struct cxx_operator {
	char code[3];
	uint8_t operands;
	char text[20];
};
enum cxx_literal { /* how values of a type are written */
		   CXX_AS_CAST,
		   CXX_AS_INT,
		   CXX_AS_BOOL,
		   CXX_AS_FLOAT,
		   CXX_AS_VOID,
		   CXX_AS_NULLPTR,
};
struct cxx_type {
	char code[3];
	uint8_t literal;
	char text[20];
	char suffix[4]; /* of its values */
};
const struct cxx_operator *cxx_operator_find(char a, char b); /* NULL: there is none */
const struct cxx_type *cxx_type_find(char a, char b);         /* b is 0 for codes of one letter */

struct cxx_node {
	uint8_t kind;
	uint8_t qual;
	uint32_t a, b; /* other nodes; 0: none */
	uint32_t n;
	union {
		const char *s;
		const struct cxx_operator *op;
		const struct cxx_type *type;
	};
};

struct cxx {
	const char *s; /* behind _Z */
	uint32_t n, at;
	struct cxx_node *node; /* [0] is none */
	uint32_t count, cap;
	uint32_t *subst;
	uint32_t substs;
	unsigned depth, steps;
	bool conversion; /* inside the type of a conversion operator */
};

/* 0: it is no such name, or beyond a limit. */
uint32_t cxx_parse(struct cxx *x);
/* free(); NULL: as above, or no memory. */
char *cxx_print(const struct cxx *x, uint32_t root, uint64_t *inout_steps);

/* Between the files that parse: each returns a node, or 0. */
static inline char cxx_peek(const struct cxx *x)
{
	return x->at < x->n ? x->s[x->at] : 0;
}
static inline char cxx_peek_next(const struct cxx *x)
{
	return x->at + 1 < x->n ? x->s[x->at + 1] : 0;
}
static inline bool cxx_eat(struct cxx *x, char c)
{
	bool there = c && cxx_peek(x) == c;
	x->at += there;
	return there;
}
static inline bool cxx_eat2(struct cxx *x, char c, char d)
{
	bool there = cxx_peek(x) == c && cxx_peek_next(x) == d;
	x->at += there ? 2 : 0;
	return there;
}
static inline bool cxx_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool cxx_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}
/* One part deeper; the way out is to decrease depth. False: beyond a limit. */
static inline bool cxx_enter(struct cxx *x)
{
	x->depth++;
	x->steps++;
	return x->depth <= CXX_DEPTH_MAX && x->steps <= CXX_STEPS_MAX;
}
/* To where it was, to be read in another way. The steps stay counted: two ways at each of n levels would
 * be 2^n of them. */
static inline void cxx_back(struct cxx *x, const struct cxx *to)
{
	unsigned steps = x->steps;
	*x = *to;
	x->steps = steps;
}
uint32_t cxx_make(struct cxx *x, enum cxx_kind kind, uint32_t a, uint32_t b);
uint32_t cxx_qualified(struct cxx *x, uint32_t node, unsigned qual); /* 0 of 0 */
uint32_t cxx_text(struct cxx *x, const char *s, size_t n);
bool cxx_number(struct cxx *x, uint32_t *ret);  /* decimal; false: none, or too big */
bool cxx_compact(struct cxx *x, uint32_t *ret); /* "_" is 0, "0_" is 1, … */
uint32_t cxx_encoding(struct cxx *x, bool outermost);
uint32_t cxx_name(struct cxx *x);
uint32_t cxx_unqualified(struct cxx *x, uint32_t within);
uint32_t cxx_source_name(struct cxx *x);
uint32_t cxx_template_args(struct cxx *x);
uint32_t cxx_template_list(struct cxx *x); /* behind its first letter, up to E */
uint32_t cxx_type(struct cxx *x);
uint32_t cxx_parameters(struct cxx *x); /* a list of types */
uint32_t cxx_expression(struct cxx *x);
uint32_t cxx_expressions(struct cxx *x, char end); /* a list */
uint32_t cxx_literal(struct cxx *x);
uint32_t cxx_template_param(struct cxx *x);

#endif
