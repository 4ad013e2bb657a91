/* SPDX-License-Identifier: MIT
 *
 * A source by its tokens: trace calls, the functions they stand in, configuration blocks in
 * comments. Calls in macros are found where these are used. Both sides of #if are read, each as if it
 * were the only one.
 */
#include "tracewpp/tracewpp_private.h"

#include <stdlib.h>

#define IF_DEPTH_MAX    64
#define MACRO_DEPTH_MAX 8
#define EXPANDED_MAX    (16u << 20)

enum token { TOKEN_END, TOKEN_NAME, TOKEN_STRING, TOKEN_OTHER };

struct scope {
	int braces;     /* open ones */
	int body;       /* the number that were open before the function's; -1: outside of functions */
	const char *in; /* its name */
};
struct lexer {
	struct tracewpp *w;
	const char *start, *p, *end;
	uint32_t line;
	const char *line_start;
	bool config, bare; /* a token was seen in this line: # is no directive */
	bool defines;      /* macros are noted */
	int depth;         /* of macros in macros */
	struct scope scope, before[IF_DEPTH_MAX];
	int ifs;
	struct diag *diag;
	int err;
	/* the token */
	const char *text;
	size_t length;
	uint32_t token_line, token_column;
};

static bool name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool name_char(char c)
{
	return name_start(c) || (c >= '0' && c <= '9');
}

static void step(struct lexer *l)
{
	if (*l->p++ == '\n') {
		l->line++;
		l->line_start = l->p;
		l->bare = false;
	}
}

static bool at(const struct lexer *l, const char *s)
{
	size_t n = strlen(s);
	return (size_t)(l->end - l->p) >= n && memcmp(l->p, s, n) == 0;
}

/* ---- configuration blocks ---------------------------------------------------------------------
 */

static const char *find_text(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);
	for (; (size_t)(end - p) >= n; p++) {
		if (memcmp(p, word, n) == 0) {
			return p;
		}
	}
	return NULL;
}

/* A block may go on over many comments of one line each. */
static void config_block(struct lexer *l, const char *begin)
{
	const char *stop = find_text(begin, l->end, "end_wpp");
	struct strbuf b = {0};
	uint32_t line = l->line;
	for (const char *s = l->p; s < begin; s++) {
		line += *s == '\n';
	}
	stop = stop ? stop : l->end;
	const char *s = memchr(begin, '\n', (size_t)(stop - begin));
	for (s = s ? s : stop; s < stop;) { /* at the end of a line */
		strbuf_addc(&b, '\n');
		for (s++; s < stop && (*s == ' ' || *s == '\t' || *s == '/' || *s == '*'); s++) {
		}
		const char *e = memchr(s, '\n', (size_t)(stop - s));
		e = e ? e : stop;
		strbuf_add(&b, s, (size_t)(e - s));
		s = e;
	}
	if (b.failed) {
		l->err = -ENOMEM;
	} else if (b.s && l->err == 0) {
		l->err = wpp_config_read(l->w, b.s, b.len, line, l->diag);
	}
	strbuf_finish(&b);
}

static void comment(struct lexer *l, const char *stop)
{
	const char *begin = l->config ? find_text(l->p, stop, "begin_wpp") : NULL;
	if (begin) {
		const char *kind = begin + 9 + strspn(begin + 9, " \t");
		if (stop - kind >= 6 && memcmp(kind, "config", 6) == 0) {
			config_block(l, begin);
		}
	}
	while (l->p < stop) {
		step(l);
	}
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static void directive(struct lexer *l)
{
	const char *s = l->p + 1, *define = NULL;
	s += strspn(s, " \t");
	if (strncmp(s, "define", 6) == 0 && (s[6] == ' ' || s[6] == '\t')) {
		define = s + 6;
	} else if (strncmp(s, "if", 2) == 0 && l->ifs < IF_DEPTH_MAX) {
		l->before[l->ifs++] = l->scope;
	} else if (strncmp(s, "el", 2) == 0 && l->ifs > 0) {
		l->scope = l->before[l->ifs - 1];
	} else if (strncmp(s, "endif", 5) == 0 && l->ifs > 0) {
		l->ifs--;
	}
	while (l->p < l->end && *l->p != '\n') {
		if (*l->p == '\\' && l->p + 1 < l->end) {
			step(l);
			if (*l->p == '\r' && l->p + 1 < l->end) {
				step(l);
			}
		} else if (at(l, "/*")) {
			const char *e = find_text(l->p + 2, l->end, "*/");
			comment(l, e ? e + 2 : l->end);
			continue;
		} else if (at(l, "//")) {
			const char *e = memchr(l->p, '\n', (size_t)(l->end - l->p));
			comment(l, e ? e : l->end);
			continue;
		}
		if (l->p < l->end) {
			step(l);
		}
	}
	if (define && l->defines) {
		wpp_macro_define(l->w, define, l->p);
	}
}

/* To the closing mark. R"x(…)x" is text without escapes. */
static void literal(struct lexer *l, char close, bool raw)
{
	if (raw) {
		char mark[32] = ")";
		size_t n = strcspn(l->p + 1, "(");
		if (n < sizeof mark - 3) {
			memcpy(mark + 1, l->p + 1, n);
			memcpy(mark + 1 + n, "\"", 2);
			const char *e = find_text(l->p, l->end, mark);
			for (const char *stop = e ? e + strlen(mark) : l->end; l->p < stop;) {
				step(l);
			}
			return;
		}
	}
	for (l->p++; l->p < l->end && *l->p != close && *l->p != '\n'; step(l)) {
		if (*l->p == '\\' && l->p + 1 < l->end) {
			step(l);
		}
	}
	l->p += l->p < l->end && *l->p == close;
}

static enum token next(struct lexer *l)
{
	while (l->p < l->end && l->err == 0) {
		char c = *l->p;
		if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\\') {
			step(l);
			continue;
		}
		if (at(l, "//")) {
			const char *e = memchr(l->p, '\n', (size_t)(l->end - l->p));
			comment(l, e ? e : l->end);
			continue;
		}
		if (at(l, "/*")) {
			const char *e = find_text(l->p + 2, l->end, "*/");
			comment(l, e ? e + 2 : l->end);
			continue;
		}
		if (c == '#' && !l->bare) {
			directive(l);
			continue;
		}
		l->bare = true;
		l->text = l->p;
		l->token_line = l->line;
		l->token_column = (uint32_t)(l->p - l->line_start) + 1;
		enum token kind = TOKEN_OTHER;
		if (name_start(c)) {
			while (l->p < l->end && name_char(*l->p)) {
				l->p++;
			}
			kind = TOKEN_NAME;
			size_t n = (size_t)(l->p - l->text);
			/* L"", u8"", R"" */
			if (n <= 3 && l->p < l->end && *l->p == '"') {
				literal(l, '"', l->p[-1] == 'R');
				kind = TOKEN_STRING;
			} else if (n <= 2 && l->p < l->end && *l->p == '\'') {
				literal(l, '\'', false);
				kind = TOKEN_OTHER;
			}
		} else if (c == '"') {
			literal(l, '"', false);
			kind = TOKEN_STRING;
		} else if (c == '\'') {
			literal(l, '\'', false);
		} else if (c >= '0' && c <= '9') {
			/* 1'000 is a number of C++ */
			while (l->p < l->end && (name_char(*l->p) || *l->p == '.' ||
						 (*l->p == '\'' && l->p + 1 < l->end && name_char(l->p[1])))) {
				l->p++;
			}
		} else {
			l->p++;
		}
		l->length = (size_t)(l->p - l->text);
		return kind;
	}
	return TOKEN_END;
}

static bool is(const struct lexer *l, enum token kind, const char *s)
{
	(void)kind;
	return l->length == strlen(s) && memcmp(l->text, s, l->length) == 0;
}

/* ---- the function around ----------------------------------------------------------------------
 */

/* What looks like a function's name before its ( but is none. */
static bool no_function(const char *s, size_t n)
{
	static const char *const words[] = {"__declspec", "__attribute__",  "alignas",  "decltype", "noexcept",
					    "throw",      "DECLSPEC_ALIGN", "if",       "while",    "for",
					    "switch",     "return",         "requires", "explicit", "sizeof"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(words); i++) {
		if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0) {
			return true;
		}
	}
	return s[n - 1] == '_'; /* annotations, STDMETHODIMP_(x) */
}

struct candidate { /* since the last ; { or } outside of functions */
	char name[256];
	bool fixed;  /* the first name before a ( counts */
	bool closed; /* and its ) was seen: { is its body */
	int parens;
	char last[256]; /* names and :: in a row */
	size_t last_bytes;
	bool joined;
};

static void look_for_function(struct candidate *c, const struct lexer *l, enum token kind)
{
	bool colon = l->length == 1 && *l->text == ':', tilde = l->length == 1 && *l->text == '~';
	if (c->parens == 0 && (kind == TOKEN_NAME || colon || tilde)) {
		bool after_colon =
			c->last_bytes && (c->last[c->last_bytes - 1] == ':' || c->last[c->last_bytes - 1] == '~');
		if (!colon && !tilde && !after_colon) {
			c->last_bytes = 0;
		}
		size_t n = BASE_MIN(l->length, sizeof c->last - 1 - c->last_bytes);
		memcpy(c->last + c->last_bytes, l->text, n);
		c->last_bytes += n;
		c->last[c->last_bytes] = 0;
		return;
	}
	if (l->length == 1 && *l->text == '(') {
		if (c->parens++ == 0 && !c->fixed && c->last_bytes && !no_function(c->last, c->last_bytes)) {
			memcpy(c->name, c->last, sizeof c->name);
			c->fixed = true;
		}
	} else if (l->length == 1 && *l->text == ')') {
		c->closed |= --c->parens == 0 && c->fixed;
	}
	c->last_bytes = c->parens ? c->last_bytes : 0;
}

static void brace(struct lexer *l, struct candidate *c)
{
	struct scope *s = &l->scope;
	if (*l->text == '{') {
		if (s->body < 0 && c->closed) {
			s->body = s->braces;
			s->in = arena_text(&l->w->arena, c->name, strlen(c->name));
		}
		s->braces++;
	} else {
		s->braces -= s->braces > 0;
		if (s->body >= 0 && s->braces <= s->body) {
			s->body = -1;
			s->in = NULL;
		}
	}
	*c = (struct candidate){.fixed = false};
}

/* ---- enumerations, for ItemEnum ---------------------------------------------------------------
 */

static void add_enum(struct lexer *l, const char *name, const char *list)
{
	struct wpp_enum *e = name ? ARENA_NEW(&l->w->arena, struct wpp_enum) : NULL;
	if (e) {
		*e = (struct wpp_enum){l->w->enums, name, list};
		l->w->enums = e;
	}
}

/* After "enum": [class] NAME { A, B = 1, … } TYPE; those whose values count from 0 are known by
 * NAME and TYPE. Others are passed over, as is what is no definition. */
static void read_enum(struct lexer *l)
{
	struct lexer start = *l;
	struct arena *a = &l->w->arena;
	struct strbuf b = {0};
	const char *name = NULL;
	enum token kind = next(l);
	while (kind == TOKEN_NAME) { /* class, attributes, the name */
		name = arena_text(a, l->text, l->length);
		kind = next(l);
	}
	bool counts = kind == TOKEN_OTHER && l->length == 1 && *l->text == '{';
	unsigned long value = 0;
	if (!counts) {
		*l = start;
		return;
	}
	for (kind = next(l); kind == TOKEN_NAME && l->err == 0; kind = next(l)) {
		strbuf_addf(&b, "%s%.*s", value ? "," : "", (int)l->length, l->text);
		kind = next(l);
		if (kind == TOKEN_OTHER && *l->text == '=') {
			next(l);
			char *end;
			counts = counts && strtoul(l->text, &end, 0) == value && end > l->text;
			kind = next(l);
		}
		value++;
		if (kind != TOKEN_OTHER || *l->text != ',') {
			break;
		}
	}
	counts = counts && kind == TOKEN_OTHER && *l->text == '}' && value < 256 && !b.failed;
	if (counts) {
		const char *list = arena_text(a, b.s ? b.s : "", b.len);
		add_enum(l, name, list);
		struct lexer after = *l;
		if (next(&after) == TOKEN_NAME) {
			add_enum(l, arena_text(a, after.text, after.length), list);
		}
	}
	strbuf_finish(&b);
	*l = start;
}

/* ---- calls ------------------------------------------------------------------------------------
 */

const struct wpp_function *wpp_function_find(const struct tracewpp *w, const char *s, size_t n)
{
	for (const struct wpp_function *f = w->functions; f; f = f->next) {
		if (strlen(f->name) == n && memcmp(f->name, s, n) == 0) {
			return f;
		}
	}
	return NULL;
}

static void add_escape(struct strbuf *b, const char **s, const char *end)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	char c = *++*s;
	const char *k = strchr(from, c);
	if (k) {
		strbuf_addc(b, to[k - from]);
	} else if (c >= '0' && c <= '7') {
		unsigned v = 0;
		for (int i = 0; i < 3 && *s < end && **s >= '0' && **s <= '7'; i++, (*s)++) {
			v = 8 * v + (unsigned)(**s - '0');
		}
		(*s)--;
		strbuf_addc(b, (char)v);
	} else if (c == 'x') {
		char *stop;
		unsigned long v = strtoul(*s + 1, &stop, 16);
		*s = stop - 1;
		strbuf_addc(b, (char)v);
	} else if (c != '\n' && c != '\r') {
		strbuf_addc(b, c);
	}
}

/* One literal's text. */
static void add_literal(struct strbuf *b, const char *s, size_t n)
{
	const char *open = memchr(s, '"', n), *end = s + n;
	if (open > s && open[-1] == 'R') {
		const char *text = memchr(open, '(', (size_t)(end - open));
		size_t mark = text ? (size_t)(text - open) : 0;
		if (text && end - text > (long)mark) {
			strbuf_add(b, text + 1, (size_t)(end - text) - mark - 2);
		}
		return;
	}
	for (s = open + 1; s + 1 < end; s++) {
		if (*s == '\\' && s + 2 < end) {
			add_escape(b, &s, end - 1);
		} else {
			strbuf_addc(b, *s);
		}
	}
}

/* After the name: arguments. A name without ( is no call. */
static int read_call(struct lexer *l, const struct wpp_function *f, struct wpp_call ***tail)
{
	struct arena *a = &l->w->arena;
	struct wpp_call *c = ARENA_NEW(a, struct wpp_call);
	struct strbuf message = {0};
	if (!c) {
		return -ENOMEM;
	}
	c->f = f;
	c->line = c->last_line = l->token_line;
	c->column = l->token_column;
	c->in = l->scope.in ? l->scope.in : "";
	/* Which arguments are given: those without a constant, then the message. */
	size_t given[PARAMS_MAX], wanted = 0, index = 0;
	for (size_t i = 0; i < f->count; i++) {
		c->params[i] = f->params[i].constant;
		if (!c->params[i]) {
			given[wanted++] = i;
		}
	}
	int depth = 1, err = 0;
	if (f->paired && (next(l) == TOKEN_END || l->length != 1 || *l->text != '(')) {
		return wpp_fail(l->diag, c->line, c->column, "%s is called with two pairs of brackets", f->name);
	}
	bool opened = false, any = false, literal_only = true, is_message = f->message && wanted == 0;
	const char *from = NULL, *to = NULL;
	while (err == 0) {
		enum token kind = next(l);
		if (kind == TOKEN_END) {
			err = l->err ? l->err
				     : wpp_fail(l->diag, c->line, c->column, "the ) of this call of %s is missing",
						f->name);
			break;
		}
		char p = l->length == 1 ? *l->text : 0;
		if (f->inner && is_message && !opened && !from && p == '(') {
			opened = true;
			continue;
		}
		bool close = depth == 1 && p == ')', comma = depth == 1 && p == ',';
		if (!close && !comma) {
			depth += p == '(' || p == '[' || p == '{';
			depth -= p == ')' || p == ']' || p == '}';
			from = from ? from : l->text;
			to = l->text + l->length;
			if (is_message && kind == TOKEN_STRING) {
				add_literal(&message, l->text, l->length);
				c->wide = *l->text == 'L';
			} else if (is_message) {
				literal_only = false;
			}
			any = true;
			continue;
		}
		if (is_message && (!literal_only || !from)) {
			err = wpp_fail(l->diag, c->line, c->column, "%s: the message has to be a string literal",
				       f->name);
		} else if (index < wanted && from) {
			c->params[given[index]] = arena_text(a, from, (size_t)(to - from));
		} else if (index > wanted || (index == wanted && !f->message && (any || comma))) {
			c->extra++;
		}
		index++;
		is_message = f->message && index == wanted;
		from = to = NULL;
		if (close) {
			break;
		}
	}
	if (err == 0 && f->inner && !opened) {
		err = wpp_fail(l->diag, c->line, c->column, "%s: message and arguments need brackets of their own",
			       f->name);
	}
	if (err == 0 && (f->paired || f->inner) && (next(l) == TOKEN_END || l->length != 1 || *l->text != ')')) {
		err = wpp_fail(l->diag, c->line, c->column, "the ) of this call of %s is missing", f->name);
	}
	size_t least = wanted + f->message;
	if (err == 0 && (index < least || (least > 0 && !any)) && !(least == 0)) {
		err = wpp_fail(l->diag, c->line, c->column, "%s: arguments are missing", f->name);
	}
	if (err == 0 && c->extra && !f->variadic) {
		err = wpp_fail(l->diag, c->line, c->column, "%s takes no further arguments", f->name);
	}
	c->message = arena_text(a, message.s ? message.s : "", message.len);
	strbuf_finish(&message);
	**tail = c;
	*tail = &c->next;
	l->w->call_count++;
	return err < 0 ? err : a->failed ? -ENOMEM : 0;
}

static bool call_follows(struct lexer *l)
{
	struct lexer probe = *l;
	probe.config = false;
	return next(&probe) == TOKEN_OTHER && is(&probe, TOKEN_OTHER, "(");
}

/* One call: its name was read. */
static int take_call(struct lexer *l, const struct wpp_function *f, struct wpp_call ***tail)
{
	uint32_t line = l->token_line, column = l->token_column;
	next(l); /* ( */
	l->token_line = line;
	l->token_column = column;
	return read_call(l, f, tail);
}

/* The calls of a macro that is used here. Those that cannot be read may stand in a definition of this
 * name that does not hold: the compiler will say. */
static int take_macro(struct lexer *l, const struct wpp_macro *m, struct wpp_call ***tail)
{
	struct lexer inner = *l, probe = *l;
	struct strbuf b = {0};
	struct diag quiet = {.line = 0};
	const char *args = NULL, *end = NULL;
	int depth = 0, err = 0;
	probe.config = false;
	if (l->w->expanded > EXPANDED_MAX) {
		return 0;
	}
	if (m->takes) {
		if (next(&probe) != TOKEN_OTHER || !is(&probe, TOKEN_OTHER, "(")) {
			return 0;
		}
		args = probe.p;
		for (enum token kind; (kind = next(&probe)) != TOKEN_END;) {
			char c = kind == TOKEN_OTHER && probe.length == 1 ? *probe.text : 0;
			depth += c == '(';
			if (c == ')' && depth-- == 0) {
				end = probe.text;
				break;
			}
		}
		if (!end) {
			return 0;
		}
	}
	if (!wpp_macro_expand(m, args, end, &b)) {
		strbuf_finish(&b);
		return -ENOMEM;
	}
	l->w->expanded += b.len;
	inner.start = inner.p = inner.line_start = b.s ? b.s : "";
	inner.end = inner.p + b.len;
	inner.line = l->token_line;
	inner.depth++;
	inner.bare = true;
	inner.defines = inner.config = false;
	inner.diag = &quiet;
	inner.ifs = 0;
	for (enum token kind; err == 0 && (kind = next(&inner)) != TOKEN_END;) {
		const struct wpp_function *f =
			kind == TOKEN_NAME ? wpp_function_find(l->w, inner.text, inner.length) : NULL;
		const struct wpp_macro *more = kind == TOKEN_NAME && !f && inner.depth < MACRO_DEPTH_MAX
						       ? wpp_macro_find(l->w, inner.text, inner.length)
						       : NULL;
		if (f && call_follows(&inner)) {
			struct wpp_call **before = *tail;
			size_t count = l->w->call_count;
			struct lexer again = inner;
			err = take_call(&inner, f, tail);
			if (err == 0) {
				(*before)->column = l->token_column;
				(*before)->last_line = probe.token_line;
			} else if (err == -EBADMSG) {
				*before = NULL;
				*tail = before;
				l->w->call_count = count;
				inner = again;
				err = 0;
			}
		} else if (more && more != m) {
			err = take_macro(&inner, more, tail);
		}
	}
	strbuf_finish(&b);
	return err;
}

int wpp_source_read(struct tracewpp *w, const char *text, size_t n, bool config, bool calls, struct diag *d)
{
	struct lexer l = {.w = w,
			  .start = text,
			  .p = text,
			  .end = text + n,
			  .line = 1,
			  .line_start = text,
			  .config = config,
			  .defines = true,
			  .scope = {0, -1, NULL},
			  .diag = d};
	struct candidate c = {.fixed = false};
	struct wpp_call **tail = &w->calls;
	for (enum token kind; l.err == 0 && (kind = next(&l)) != TOKEN_END;) {
		if (!calls) {
			/* what an enumeration holds may be configuration too, so it is read again
			 * after */
			bool config_was = l.config;
			l.config = false;
			if (kind == TOKEN_NAME && is(&l, kind, "enum")) {
				read_enum(&l);
			}
			l.config = config_was;
			continue;
		}
		if (l.length == 1 && (*l.text == '{' || *l.text == '}')) {
			brace(&l, &c);
			continue;
		}
		if (l.scope.body < 0) {
			if (l.length == 1 && *l.text == ';') {
				c = (struct candidate){.fixed = false};
			} else {
				look_for_function(&c, &l, kind);
			}
		}
		const struct wpp_function *f = kind == TOKEN_NAME ? wpp_function_find(w, l.text, l.length) : NULL;
		const struct wpp_macro *m = kind == TOKEN_NAME && !f ? wpp_macro_find(w, l.text, l.length) : NULL;
		if (f && call_follows(&l)) {
			l.err = take_call(&l, f, &tail);
		} else if (m && l.scope.body >= 0) {
			l.err = take_macro(&l, m, &tail);
		}
	}
	return l.err;
}
