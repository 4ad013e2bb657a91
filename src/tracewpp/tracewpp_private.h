/* SPDX-License-Identifier: MIT
 *
 * Between the files of tracewpp.
 */
#ifndef TRACEWPP_TRACEWPP_PRIVATE_H
#define TRACEWPP_TRACEWPP_PRIVATE_H

#include "tracewpp/tracewpp.h"

#define PARAMS_MAX 16u
#define ARGS_MAX   32u /* of a message */

/* ---- types ---- */

struct wpp_type {
	struct wpp_type *next;
	const char *name;  /* "d", "STATUS" */
	const char *macro; /* that makes pointers and lengths: "WPP_LOGTYPEVAL(INT, x)" without the
			      value */
	const char *ctype; /* of the staging function's parameter */
	const char *item;  /* "ItemLong" */
	const char *spec;  /* printf's in the .tmf: "d"; NULL: as written */
	const char *code;  /* in the name of the staging function */
};
/* A conversion of printf: letters with their size, such as "I64u". NULL: none. */
const struct wpp_type *wpp_type_printf(const char *text, size_t n);
/* Of %!NAME!; NULL: none. Of those that are text, *ret_text is which. */
const struct wpp_type *wpp_type_named(const struct tracewpp *w, const char *name, size_t n);

/* ---- configuration ---- */

struct wpp_parameter {
	const char *name;
	const char *constant; /* of {NAME=VALUE}; NULL: the caller gives it */
};
struct wpp_fix { /* USEPREFIX, USESUFFIX */
	const char *text;
	const char *args[ARGS_MAX];
	size_t count;
};
struct wpp_function {
	struct wpp_function *next;
	const char *name;
	struct wpp_parameter params[PARAMS_MAX]; /* in order, constants first */
	size_t count;
	bool message, variadic;
	bool paired;                   /* called with two pairs of brackets */
	bool inner;                    /* with one more pair around message and arguments */
	struct wpp_fix prefix, suffix; /* text NULL: not said */
};

struct wpp_define { /* WPP_FLAGS(-DNAME(a,b)=text) */
	struct wpp_define *next;
	const char *name, *text;
};

struct wpp_enum { /* of the source, with values from 0 on */
	struct wpp_enum *next;
	const char *name;
	const char *list; /* "a,b,c" */
};

struct wpp_macro { /* #define */
	struct wpp_macro *next;
	const char *name, *text;
	const char *params[PARAMS_MAX];
	size_t count, name_bytes;
	bool takes, variadic; /* has brackets; ends in ... */
	bool leads;           /* to trace calls: looked up for `asked` */
	uint32_t asked;       /* tracewpp.source_number */
};

struct wpp_call {
	struct wpp_call *next;
	const struct wpp_function *f;
	uint32_t line, column;
	uint32_t last_line;             /* of the macro it stands in; else `line` */
	const char *in;                 /* function around it */
	const char *message;            /* decoded text; "" */
	bool wide;                      /* L"…" */
	unsigned number;                /* from 0 on */
	bool first;                     /* of its function in this line */
	bool heads;                     /* the first of these with so many arguments */
	const char *params[PARAMS_MAX]; /* as written */
	size_t extra;                   /* arguments behind the message */
};

struct tracewpp {
	struct arena arena;
	struct wpp_function *functions; /* the later ones first */
	struct wpp_function *shared;    /* the first of those that hold for all sources */
	struct wpp_type *types;
	struct wpp_define *defines;
	struct wpp_enum *enums;
	struct wpp_macro *macros;
	uint32_t source_number;
	size_t expanded;                /* bytes, of this source */
	const char *source, *component; /* names, while compiling */
	struct wpp_call *calls;
	size_t call_count;
	struct strbuf formats;
};

int wpp_fail(struct diag *d, uint32_t line, uint32_t column, const char *fmt, const char *what);
/* One configuration block: lines without their comment marks. */
int wpp_config_read(struct tracewpp *w, const char *text, size_t n, uint32_t line, struct diag *d);

/* ---- source ---- */

/* Finds calls; configuration blocks are read before when `config`, calls when `calls`. */
int wpp_source_read(struct tracewpp *w, const char *text, size_t n, bool config, bool calls, struct diag *d);

const struct wpp_function *wpp_function_find(const struct tracewpp *w, const char *s, size_t n);

/* ---- macros ---- */

/* What follows #define. */
void wpp_macro_define(struct tracewpp *w, const char *s, const char *end);
/* Only those that lead to trace calls. */
const struct wpp_macro *wpp_macro_find(const struct tracewpp *w, const char *s, size_t n);
/* Its text with the arguments, what stands between the brackets, put in. */
bool wpp_macro_expand(const struct wpp_macro *m, const char *args, const char *end, struct strbuf *out);

/* ---- messages ---- */

struct wpp_message {
	struct strbuf format; /* of the .tmf */
	const struct wpp_type *types[ARGS_MAX];
	const char *args[ARGS_MAX]; /* as C: "_a1", or what a prefix says */
	size_t count;
};
int wpp_message_build(struct tracewpp *w, const struct wpp_call *c, struct wpp_message *ret, struct diag *d);

/* ---- output ---- */

int wpp_write(struct tracewpp *w, const struct tracewpp_options *o, struct strbuf *tmh, struct diag *d);

#endif
