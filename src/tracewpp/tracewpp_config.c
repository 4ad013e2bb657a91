/* SPDX-License-Identifier: MIT
 *
 * Configuration: statements that end in a semicolon or with the line.
 */
#include "tracewpp/tracewpp_private.h"

#include <stdlib.h>

struct reader {
	struct tracewpp *w;
	const char *p, *end;
	uint32_t line;
	struct diag *diag;
};

int wpp_fail(struct diag *d, uint32_t line, uint32_t column, const char *fmt, const char *what)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	diag_at(d, UINT64_MAX, fmt, what);
#pragma GCC diagnostic pop
	if (d && d->line == 0) {
		d->line = line;
		d->column = column;
	}
	return -EBADMSG;
}

static int fail(struct reader *r, const char *fmt, const char *what)
{
	return wpp_fail(r->diag, r->line, 1, fmt, what);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

static void blanks(struct reader *r)
{
	for (; r->p < r->end; r->p++) {
		if (*r->p == '\n') {
			r->line++;
		} else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r' && *r->p != '\\') {
			return;
		}
	}
}

static bool take(struct reader *r, char c)
{
	blanks(r);
	if (r->p < r->end && *r->p == c) {
		r->p++;
		return true;
	}
	return false;
}

static const char *name(struct reader *r)
{
	blanks(r);
	const char *s = r->p;
	while (r->p < r->end && is_name(*r->p)) {
		r->p++;
	}
	return r->p > s && is_letter(*s) ? arena_text(&r->w->arena, s, (size_t)(r->p - s)) : NULL;
}

/* C text up to a comma or the closing bracket, both outside of brackets and strings. */
static const char *expression(struct reader *r, char close)
{
	int depth = 0;
	blanks(r);
	const char *s = r->p;
	for (; r->p < r->end; r->p++) {
		char c = *r->p;
		if (c == '"' || c == '\'') {
			for (r->p++; r->p < r->end && *r->p != c; r->p++) {
				r->p += *r->p == '\\' && r->p + 1 < r->end;
			}
			if (r->p >= r->end) {
				break;
			}
			continue;
		}
		if (depth == 0 && (c == ',' || c == close)) {
			break;
		}
		depth += c == '(' || c == '[' || c == '{';
		depth -= c == ')' || c == ']' || c == '}';
		r->line += c == '\n';
	}
	const char *e = r->p;
	while (e > s && (e[-1] == ' ' || e[-1] == '\t' || e[-1] == '\n' || e[-1] == '\r')) {
		e--;
	}
	return arena_text(&r->w->arena, s, (size_t)(e - s));
}

/* Adjacent string literals, decoded. */
static const char *string(struct reader *r)
{
	struct strbuf b = {0};
	blanks(r);
	bool any = false;
	while (r->p < r->end && *r->p == '"') {
		any = true;
		for (r->p++; r->p < r->end && *r->p != '"'; r->p++) {
			if (*r->p == '\\' && r->p + 1 < r->end) {
				r->p++;
				strbuf_addc(&b, *r->p == 'n' ? '\n' : *r->p == 't' ? '\t' : *r->p);
			} else {
				strbuf_addc(&b, *r->p);
			}
		}
		r->p += r->p < r->end;
		blanks(r);
	}
	const char *s = any ? arena_text(&r->w->arena, b.s ? b.s : "", b.len) : NULL;
	strbuf_finish(&b);
	return s;
}

/* The function of that name, to be changed: a new one, or what this source or all sources said so
 * far. */
static struct wpp_function *change_function(struct tracewpp *w, const char *wanted)
{
	struct wpp_function *found = NULL, *f = w->functions;
	bool own = true; /* not of all sources */
	for (; f && !found; f = f->next) {
		own = own && f != w->shared;
		found = strcmp(f->name, wanted) == 0 ? f : NULL;
	}
	if (found && own) {
		return found;
	}
	f = ARENA_NEW(&w->arena, struct wpp_function);
	if (f) {
		*f = found ? *found : (struct wpp_function){.name = wanted};
		f->next = w->functions;
		w->functions = f;
	}
	return f;
}

/* Name{A=x,B=y}(C, MSG, ...) */
static int read_function(struct reader *r)
{
	struct wpp_function made = {.name = name(r)}, *f = &made;
	const char *n = f->name;
	if (!n) {
		return fail(r, "FUNC: a name is expected%s", "");
	}
	if (take(r, '{')) {
		while (!take(r, '}')) {
			const char *p = name(r);
			if (!p || !take(r, '=') || f->count == PARAMS_MAX) {
				return fail(r, "FUNC %s: NAME=VALUE is expected in {}", n);
			}
			f->params[f->count++] = (struct wpp_parameter){p, expression(r, '}')};
			take(r, ',');
			blanks(r);
			if (r->p >= r->end) {
				return fail(r, "FUNC %s: } is missing", n);
			}
		}
	}
	if (!take(r, '(')) {
		return fail(r, "FUNC %s: ( is expected", n);
	}
	f->paired = take(r, '(');
	while (!take(r, ')')) {
		blanks(r);
		const char *p = NULL;
		if (!f->paired && !f->inner && f->count && take(r, '(')) {
			f->inner = true;
			continue;
		}
		if (r->end - r->p >= 3 && memcmp(r->p, "...", 3) == 0) {
			r->p += 3;
			f->variadic = true;
		} else if (!(p = name(r)) || f->variadic) {
			return fail(r, "FUNC %s: names of parameters, MSG and ... are expected", n);
		} else if (strcmp(p, "MSG") == 0) {
			f->message = true;
		} else if (f->count == PARAMS_MAX || f->message) {
			return fail(r, "FUNC %s: after MSG comes ... and nothing else", n);
		} else {
			f->params[f->count++] = (struct wpp_parameter){p, NULL};
		}
		take(r, ',');
		blanks(r);
		if (r->p >= r->end) {
			return fail(r, "FUNC %s: ) is missing", n);
		}
	}
	if ((f->paired || f->inner) && !take(r, ')')) {
		return fail(r, "FUNC %s: ) is missing", n);
	}
	if (f->inner && !f->message) {
		return fail(r, "FUNC %s: brackets inside are for MSG and what follows it", n);
	}
	take(r, ';');
	struct wpp_function *kept = change_function(r->w, n);
	if (!kept) {
		return -ENOMEM;
	}
	/* Said again: the later one holds, with what was said about its texts. */
	made.next = kept->next;
	made.prefix = kept->prefix;
	made.suffix = kept->suffix;
	*kept = made;
	return 0;
}

/* USEPREFIX(Func, "text", args…) */
static int read_fix(struct reader *r, bool prefix)
{
	const char *n = take(r, '(') ? take(r, '*') ? "*" : name(r) : NULL;
	if (!n) {
		return fail(r, "%s: (NAME, \"text\") is expected", prefix ? "USEPREFIX" : "USESUFFIX");
	}
	struct wpp_function all = {.name = n}; /* "*": of all, whose prefix is always there */
	struct wpp_function *f = *n == '*' ? &all : change_function(r->w, n); /* its FUNC may follow */
	if (!f) {
		return -ENOMEM;
	}
	struct wpp_fix *x = prefix ? &f->prefix : &f->suffix;
	*x = (struct wpp_fix){.text = take(r, ',') ? string(r) : NULL};
	if (!x->text) {
		return fail(r, "%s: a text is expected", n);
	}
	while (take(r, ',')) {
		if (x->count == ARGS_MAX) {
			return fail(r, "%s: too many arguments", n);
		}
		x->args[x->count++] = expression(r, ')');
	}
	if (!take(r, ')')) {
		return fail(r, "%s: ) is expected", n);
	}
	take(r, ';');
	return 0;
}

/* WPP_FLAGS(-DNAME(a,b)=text): a macro for the source. Others of these flags mean nothing here. */
static int read_flags(struct reader *r)
{
	if (!take(r, '(')) {
		return 0;
	}
	blanks(r);
	const char *s = r->p;
	int depth = 1;
	for (; r->p < r->end && depth > 0; r->p++) {
		depth += (*r->p == '(') - (*r->p == ')');
		r->line += *r->p == '\n';
	}
	size_t n = (size_t)(r->p - s);
	take(r, ';');
	if (n < 4 || s[0] != '-' || s[1] != 'D') {
		return 0;
	}
	const char *equals = memchr(s, '=', n);
	struct wpp_define *d = ARENA_NEW(&r->w->arena, struct wpp_define);
	if (d) {
		size_t k = equals ? (size_t)(equals - s) : n - 1;
		d->name = arena_text(&r->w->arena, s + 2, k - 2);
		d->text = equals ? arena_text(&r->w->arena, equals + 1, n - k - 2) : "1";
		d->next = r->w->defines;
		r->w->defines = d;
	}
	return r->w->arena.failed ? -ENOMEM : 0;
}

/* CUSTOM_TYPE(name, Item…(…)); DEFINE_SIMPLE_TYPE(name, ctype, item, "fmt", code, priority);
 * DEFINE_CPLX_TYPE(name, macro, ctype, item, "fmt", code, priority, slots) */
static int read_type(struct reader *r, const char *word)
{
	const char *arg[8] = {NULL};
	size_t count = 0;
	struct arena *a = &r->w->arena;
	if (!take(r, '(')) {
		return fail(r, "%s: ( is expected", word);
	}
	while (!take(r, ')')) {
		blanks(r);
		if (r->p >= r->end) {
			return fail(r, "%s: ) is missing", word);
		}
		const char *s = *r->p == '"' ? string(r) : expression(r, ')');
		if (count < BASE_ARRAY_LEN(arg)) {
			arg[count++] = s;
		}
		take(r, ',');
	}
	take(r, ';');
	bool custom = strcmp(word, "CUSTOM_TYPE") == 0, simple = strcmp(word, "DEFINE_SIMPLE_TYPE") == 0;
	if (count < (custom ? 2u : simple ? 5u : 6u)) {
		return fail(r, "%s needs more arguments", word);
	}
	struct wpp_type *t = ARENA_NEW(a, struct wpp_type);
	if (!t) {
		return -ENOMEM;
	}
	t->name = arg[0];
	if (custom) {
		bool byte = strstr(arg[1], "Byte") != NULL, word16 = strstr(arg[1], "Short") != NULL;
		t->item = arg[1];
		t->spec = "s";
		t->ctype = byte ? "UCHAR" : word16 ? "USHORT" : "UINT";
		t->code = byte ? "hhu" : word16 ? "H" : "u";
		t->macro = byte     ? "WPP_LOGTYPEVAL(UCHAR, "
			   : word16 ? "WPP_LOGTYPEVAL(USHORT, "
				    : "WPP_LOGTYPEVAL(UINT, ";
	} else {
		size_t shift = simple ? 0 : 1;
		struct strbuf b = {0};
		t->ctype = arg[1 + shift];
		t->item = arg[2 + shift];
		t->spec = arg[3 + shift];
		t->code = arg[4 + shift];
		if (simple) {
			strbuf_addf(&b, "WPP_LOGTYPEVAL(%s, ", t->ctype);
		} else {
			strbuf_addf(&b, "%s(", arg[1]);
		}
		t->macro = b.s ? arena_text(a, b.s, b.len) : NULL;
		strbuf_finish(&b);
	}
	if (t->ctype && !t->ctype[0]) {
		return 0; /* texts, such as %!FUNC!: Windows' own file says so of them */
	}
	const struct wpp_type *known = wpp_type_named(r->w, t->name, strlen(t->name));
	if (!custom && known && strcmp(known->item, t->item) == 0) {
		return 0; /* as we have it, with macros that Windows' headers bring along */
	}
	t->next = r->w->types;
	r->w->types = t;
	return a->failed ? -ENOMEM : 0;
}

/* DEFINE_FLAVOR(name, of, [item], ["fmt"], …): another type with some of it said anew. */
static int read_flavor(struct reader *r)
{
	const char *arg[4] = {NULL};
	size_t count = 0;
	struct arena *a = &r->w->arena;
	if (!take(r, '(')) {
		return fail(r, "%s: ( is expected", "DEFINE_FLAVOR");
	}
	while (!take(r, ')')) {
		blanks(r);
		if (r->p >= r->end) {
			return fail(r, "%s: ) is missing", "DEFINE_FLAVOR");
		}
		const char *s = *r->p == '"' ? string(r) : expression(r, ')');
		if (count < BASE_ARRAY_LEN(arg)) {
			arg[count++] = s;
		}
		take(r, ',');
	}
	take(r, ';');
	if (count < 2 || !arg[0] || !arg[1]) {
		return fail(r, "%s: (NAME, OTHER) is expected", "DEFINE_FLAVOR");
	}
	size_t n = strlen(arg[1]);
	const struct wpp_type *of = wpp_type_named(r->w, arg[1], n);
	of = of ? of : wpp_type_printf(arg[1], n);
	/* Windows' own file has many that we know by their names. */
	bool known = wpp_type_named(r->w, arg[0], strlen(arg[0])) || wpp_type_printf(arg[0], strlen(arg[0]));
	if (!of || known) {
		return of || known ? 0 : fail(r, "DEFINE_FLAVOR: there is no type %s", arg[1]);
	}
	struct wpp_type *t = ARENA_NEW(a, struct wpp_type);
	if (!t) {
		return -ENOMEM;
	}
	*t = *of;
	t->name = arg[0];
	t->item = arg[2] && arg[2][0] ? arg[2] : of->item;
	t->spec = arg[3] && arg[3][0] ? arg[3] : of->spec ? of->spec : of->name;
	t->next = r->w->types;
	r->w->types = t;
	return 0;
}

/* A statement up to the closing bracket. */
static void skip_statement(struct reader *r)
{
	if (!take(r, '(')) {
		return;
	}
	while (r->p < r->end && !take(r, ')')) {
		(void)expression(r, ')');
		take(r, ',');
	}
	take(r, ';');
}

/* "Name(LEVEL, MSG, ...)" without the word FUNC. */
static bool is_function(const struct reader *r)
{
	const char *close = memchr(r->p, ')', (size_t)(r->end - r->p));
	return r->p < r->end && *r->p == '(' && close && memmem(r->p, (size_t)(close - r->p), "MSG", 3) &&
	       !memchr(r->p, '\n', (size_t)(close - r->p));
}

int wpp_config_read(struct tracewpp *w, const char *text, size_t n, uint32_t line, struct diag *d)
{
	struct reader r = {w, text, text + n, line, d};
	int err = 0;
	for (blanks(&r); r.p < r.end && err == 0; blanks(&r)) {
		const char *word = name(&r);
		if (!word) {
			/* remarks between statements */
			while (r.p < r.end && *r.p != '\n') {
				r.p++;
			}
			continue;
		}
		if (strcmp(word, "FUNC") == 0) {
			err = read_function(&r);
		} else if (strcmp(word, "WPP_FLAGS") == 0) {
			err = read_flags(&r);
		} else if (strcmp(word, "USEPREFIX") == 0 || strcmp(word, "USESUFFIX") == 0) {
			err = read_fix(&r, word[3] == 'P');
		} else if (strcmp(word, "CUSTOM_TYPE") == 0 || strcmp(word, "DEFINE_SIMPLE_TYPE") == 0 ||
			   strcmp(word, "DEFINE_CPLX_TYPE") == 0) {
			err = read_type(&r, word);
		} else if (strcmp(word, "DEFINE_FLAVOR") == 0) {
			err = read_flavor(&r);
		} else if (strcmp(word, "NOPREFIX") == 0) {
			const char *n = take(&r, '(') ? name(&r) : NULL;
			struct wpp_function *f = n ? change_function(w, n) : NULL;
			if (f) {
				f->prefix = (struct wpp_fix){.text = ""};
			}
			take(&r, ')');
			take(&r, ';');
		} else if (strcmp(word, "INCLUDE") == 0 || strcmp(word, "SCANFORMACROS") == 0) {
			err = fail(&r, "%s is not followed: name that file with -ini: or -scan:", word);
		} else if (strcmp(word, "PROCESSFILES") == 0) {
			err = fail(&r, "%s is not followed: name the sources themselves", word);
		} else if (strcmp(word, "PUBLIC_FILTER") == 0 || strcmp(word, "TRACERANGE") == 0 ||
			   strcmp(word, "SEPARATE_TRACE_GUID_PER_FILE") == 0 ||
			   strncmp(word, "DEFINE_BUILTIN_", 15) == 0 || strcmp(word, "DEFINE_SIMPLE_TYPE_PTR") == 0) {
			skip_statement(&r);
		} else if (r.p < r.end && (*r.p == '{' || is_function(&r))) { /* FUNC left out */
			r.p -= strlen(word);
			err = read_function(&r);
		} else {
			while (r.p < r.end && *r.p != '\n') {
				r.p++;
			}
		}
	}
	return w->arena.failed ? -ENOMEM : err;
}

int tracewpp_add_function(struct tracewpp *w, const char *text, struct diag *d)
{
	struct reader r = {w, text, text + strlen(text), 0, d};
	int err = read_function(&r);
	blanks(&r);
	return err < 0 ? err : r.p < r.end ? fail(&r, "'%s' is not understood", r.p) : 0;
}
