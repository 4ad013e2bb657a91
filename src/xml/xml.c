/* SPDX-License-Identifier: MIT
 *
 * The parser: one pass over the UTF-8 text, the open elements on a stack of parent pointers.
 */
#include "xml/xml.h"

#include "base/source_text.h"

#include <stdlib.h>
#include <strings.h>

struct parser {
	struct arena *arena;
	const char *start, *p, *end;
	/* Position of `seen`, which only moves forward. */
	const char *seen;
	uint32_t line, column;
	struct strbuf text;
	struct diag *diag;
	unsigned depth;
};

/* ---- where we are ----------------------------------------------------------------------------- */

static void locate(struct parser *x, const char *to)
{
	for (; x->seen < to; x->seen++) {
		if (*x->seen == '\n') {
			x->line++;
			x->column = 1;
		} else if (((uint8_t)*x->seen & 0xC0) != 0x80) {
			x->column++;
		}
	}
}

static int bad_at(struct parser *x, const char *where, const char *fmt, const char *arg)
{
	locate(x, where);
	diag_at(x->diag, (uint64_t)(where - x->start), fmt, arg);
	if (x->diag && x->diag->line == 0) {
		x->diag->line = x->line;
		x->diag->column = x->column;
	}
	return -EBADMSG;
}

static int bad(struct parser *x, const char *what)
{
	return bad_at(x, x->p, "%s", what);
}

/* ---- pieces ----------------------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (uint8_t)c >= 0x80;
}

static bool is_name(char c)
{
	return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static void skip_space(struct parser *x)
{
	while (x->p < x->end && is_space(*x->p)) {
		x->p++;
	}
}

static bool looking_at(const struct parser *x, const char *s)
{
	size_t n = strlen(s);
	return (size_t)(x->end - x->p) >= n && memcmp(x->p, s, n) == 0;
}

static const char *find(const char *p, const char *end, const char *s)
{
	return memmem(p, (size_t)(end - p), s, strlen(s));
}

/* prefix:name */
static int read_name(struct parser *x, const char **ret_prefix, const char **ret_name)
{
	const char *start = x->p, *colon = NULL;
	if (x->p == x->end || !is_name_start(*x->p)) {
		return bad(x, "a name is expected");
	}
	for (; x->p < x->end && (is_name(*x->p) || *x->p == ':'); x->p++) {
		if (*x->p != ':') {
			continue;
		}
		if (colon || x->p == start || x->p + 1 == x->end || !is_name_start(x->p[1])) {
			return bad(x, "a name has one colon at most");
		}
		colon = x->p;
	}
	const char *name = colon ? colon + 1 : start;
	*ret_prefix = colon ? arena_text(x->arena, start, (size_t)(colon - start)) : "";
	*ret_name = arena_text(x->arena, name, (size_t)(x->p - name));
	return *ret_prefix && *ret_name ? 0 : -ENOMEM;
}

static bool is_char(uint32_t v)
{
	return v == 9 || v == 10 || v == 13 || (v >= 0x20 && v < 0xD800) || (v >= 0xE000 && v < 0xFFFE) ||
	       (v >= 0x10000 && v <= 0x10FFFF);
}

static void add_code_point(struct strbuf *b, uint32_t v)
{
	char s[4];
	size_t n = 0;
	if (v < 0x80) {
		s[n++] = (char)v;
	} else if (v < 0x800) {
		s[n++] = (char)(0xC0 | v >> 6);
		s[n++] = (char)(0x80 | (v & 0x3F));
	} else if (v < 0x10000) {
		s[n++] = (char)(0xE0 | v >> 12);
		s[n++] = (char)(0x80 | (v >> 6 & 0x3F));
		s[n++] = (char)(0x80 | (v & 0x3F));
	} else {
		s[n++] = (char)(0xF0 | v >> 18);
		s[n++] = (char)(0x80 | (v >> 12 & 0x3F));
		s[n++] = (char)(0x80 | (v >> 6 & 0x3F));
		s[n++] = (char)(0x80 | (v & 0x3F));
	}
	strbuf_add(b, s, n);
}

/* &lt; &#65; &#x41; */
static int read_reference(struct parser *x, struct strbuf *to)
{
	static const struct {
		const char *name;
		char c;
	} entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(entities); i++) {
		if (looking_at(x, entities[i].name)) {
			strbuf_addc(to, entities[i].c);
			x->p += strlen(entities[i].name);
			return 0;
		}
	}
	if (!looking_at(x, "&#")) {
		return bad(x, "unknown entity: only lt, gt, amp, quot and apos are known");
	}
	const char *s = x->p + 2;
	bool hex = s < x->end && *s == 'x';
	s += hex;
	uint32_t v = 0;
	const char *digits = s;
	for (; s < x->end && v <= 0x10FFFF; s++) {
		uint32_t digit = *s >= '0' && *s <= '9'          ? (uint32_t)(*s - '0')
				 : hex && *s >= 'a' && *s <= 'f' ? (uint32_t)(*s - 'a' + 10)
				 : hex && *s >= 'A' && *s <= 'F' ? (uint32_t)(*s - 'A' + 10)
								 : 99;
		if (digit == 99) {
			break;
		}
		v = v * (hex ? 16 : 10) + digit;
	}
	if (s == digits || s == x->end || *s != ';' || !is_char(v)) {
		return bad(x, "not a character reference");
	}
	x->p = s + 1;
	add_code_point(to, v);
	return 0;
}

/* ---- attributes ------------------------------------------------------------------------------- */

static int read_value(struct parser *x, const char **ret)
{
	char q = x->p < x->end ? *x->p : 0;
	if (q != '"' && q != '\'') {
		return bad(x, "a quoted value is expected");
	}
	x->p++;
	strbuf_clear(&x->text);
	while (x->p < x->end && *x->p != q) {
		if (*x->p == '<') {
			return bad(x, "'<' inside a value");
		}
		if (*x->p == '&') {
			int err = read_reference(x, &x->text);
			if (err < 0) {
				return err;
			}
		} else {
			char c = *x->p++;
			if (c == '\r' && x->p < x->end && *x->p == '\n') {
				continue;
			}
			strbuf_addc(&x->text, is_space(c) ? ' ' : c);
		}
	}
	if (x->p == x->end) {
		return bad(x, "the document ends inside a value");
	}
	x->p++;
	*ret = arena_text(x->arena, x->text.s ? x->text.s : "", x->text.len);
	return *ret && !x->text.failed ? 0 : -ENOMEM;
}

static int declare(struct parser *x, struct xml_node *n, const char *prefix, const char *uri)
{
	struct xml_namespace *s = ARENA_NEW(x->arena, struct xml_namespace);
	if (!s) {
		return -ENOMEM;
	}
	*s = (struct xml_namespace){(struct xml_namespace *)(uintptr_t)n->scope, prefix, uri};
	n->scope = s;
	return 0;
}

static int read_attribute(struct parser *x, struct xml_node *n, struct xml_attr ***tail, unsigned *count)
{
	struct xml_attr *a = ARENA_NEW(x->arena, struct xml_attr);
	if (!a) {
		return -ENOMEM;
	}
	locate(x, x->p);
	a->line = x->line;
	a->column = x->column;
	const char *where = x->p;
	int err = read_name(x, &a->prefix, &a->name);
	if (err < 0) {
		return err;
	}
	skip_space(x);
	if (x->p == x->end || *x->p != '=') {
		return bad(x, "'=' is expected");
	}
	x->p++;
	skip_space(x);
	err = read_value(x, &a->value);
	if (err < 0) {
		return err;
	}
	if (strcmp(a->prefix, "xmlns") == 0) {
		return declare(x, n, a->name, a->value);
	}
	if (!*a->prefix && strcmp(a->name, "xmlns") == 0) {
		return declare(x, n, "", a->value);
	}
	/* Comparing each with each is quadratic: few attributes are enough for anybody. */
	if (++*count > 256) {
		return bad_at(x, where, "%s", "too many attributes");
	}
	for (const struct xml_attr *o = n->attrs; o; o = o->next) {
		if (strcmp(o->name, a->name) == 0 && strcmp(o->prefix, a->prefix) == 0) {
			return bad_at(x, where, "attribute '%s' twice", a->name);
		}
	}
	**tail = a;
	*tail = &a->next;
	return 0;
}

/* ---- elements --------------------------------------------------------------------------------- */

static int resolve(struct parser *x, struct xml_node *n, const char *where)
{
	const char *uri = xml_prefix_uri(n, n->prefix, strlen(n->prefix));
	if (!uri && *n->prefix) {
		return bad_at(x, where, "prefix '%s' is not declared", n->prefix);
	}
	n->ns = uri ? uri : "";
	return 0;
}

/* Behind '<'. */
static int read_start_tag(struct parser *x, struct xml_node *parent, struct xml_node **ret, bool *ret_empty)
{
	const char *where = x->p - 1;
	struct xml_node *n = ARENA_NEW(x->arena, struct xml_node);
	if (!n) {
		return -ENOMEM;
	}
	locate(x, where);
	n->line = x->line;
	n->column = x->column;
	n->parent = parent;
	n->scope = parent ? parent->scope : NULL;
	n->text = "";
	int err = read_name(x, &n->prefix, &n->name);
	struct xml_attr **tail = &n->attrs;
	unsigned count = 0;
	while (err == 0) {
		const char *before = x->p;
		skip_space(x);
		if (x->p == x->end) {
			return bad_at(x, where, "element '%s' does not end", n->name);
		}
		*ret_empty = *x->p == '/';
		if (*x->p == '/' || *x->p == '>') {
			x->p += *ret_empty;
			if (x->p == x->end || *x->p != '>') {
				return bad(x, "'>' is expected");
			}
			x->p++;
			break;
		}
		if (x->p == before) {
			return bad(x, "a space is expected between attributes");
		}
		err = read_attribute(x, n, &tail, &count);
	}
	if (err == 0) {
		err = resolve(x, n, where);
	}
	*ret = n;
	return err;
}

/* Behind '</'. */
static int read_end_tag(struct parser *x, const struct xml_node *open)
{
	const char *where = x->p - 2, *start = x->p;
	while (x->p < x->end && !is_space(*x->p) && *x->p != '>') {
		x->p++;
	}
	size_t n = (size_t)(x->p - start), k = strlen(open->prefix), own = strlen(open->name);
	bool same = k ? n == k + 1 + own && memcmp(start, open->prefix, k) == 0 && start[k] == ':' &&
				    memcmp(start + k + 1, open->name, own) == 0
		      : n == own && memcmp(start, open->name, own) == 0;
	if (!same) {
		return bad_at(x, where, "this does not end the open element '%s'", open->name);
	}
	skip_space(x);
	if (x->p == x->end || *x->p != '>') {
		return bad(x, "'>' is expected");
	}
	x->p++;
	return 0;
}

/* Comments and processing instructions. 1: skipped, 0: neither. */
static int skip_misc(struct parser *x)
{
	bool comment = looking_at(x, "<!--");
	if (!comment && !looking_at(x, "<?")) {
		return 0;
	}
	const char *end = find(x->p + (comment ? 4 : 2), x->end, comment ? "-->" : "?>");
	if (!end) {
		return bad(x, comment ? "the comment does not end" : "the instruction does not end");
	}
	x->p = end + (comment ? 3 : 2);
	return 1;
}

static int add_text(struct parser *x, struct xml_node *n, const char *s, size_t bytes)
{
	size_t old = strlen(n->text);
	if (bytes == 0) {
		return 0;
	}
	char *joined = arena_alloc(x->arena, old + bytes + 1);
	if (!joined) {
		return -ENOMEM;
	}
	memcpy(joined, n->text, old);
	memcpy(joined + old, s, bytes);
	n->text = joined;
	return 0;
}

static int read_cdata(struct parser *x, struct xml_node *n)
{
	const char *start = x->p + 9;
	const char *end = find(start, x->end, "]]>");
	if (!end) {
		return bad(x, "the CDATA section does not end");
	}
	x->p = end + 3;
	return add_text(x, n, start, (size_t)(end - start));
}

static int read_text(struct parser *x, struct xml_node *n)
{
	bool blank = true;
	strbuf_clear(&x->text);
	while (x->p < x->end && *x->p != '<') {
		if (*x->p == '&') {
			int err = read_reference(x, &x->text);
			blank = false;
			if (err < 0) {
				return err;
			}
			continue;
		}
		char c = *x->p++;
		if (c == '\r') {
			if (x->p < x->end && *x->p == '\n') {
				continue;
			}
			c = '\n';
		}
		blank &= is_space(c);
		strbuf_addc(&x->text, c);
	}
	if (x->text.failed) {
		return -ENOMEM;
	}
	/* Blanks between elements are layout, and joining them would cost. */
	return blank && (n->children || *n->text || (x->p + 1 < x->end && x->p[1] != '/'))
		       ? 0
		       : add_text(x, n, x->text.s, x->text.len);
}

static int read_content(struct parser *x, struct xml_doc *doc)
{
	struct xml_node *open = NULL, **tail[XML_DEPTH_MAX + 1];
	unsigned pieces = 0;
	tail[0] = &doc->root;
	for (;;) {
		if (!open && doc->root) {
			return 0;
		}
		if (x->p == x->end) {
			return open ? bad_at(x, x->p, "element '%s' is not closed", open->name)
				    : bad(x, "there is no element");
		}
		if (open && *x->p != '<') {
			/* Text in many pieces would be copied again and again. */
			int err = *open->text && ++pieces > 10000 ? bad(x, "too much mixed text") : read_text(x, open);
			if (err < 0) {
				return err;
			}
			continue;
		}
		int misc = skip_misc(x);
		if (misc < 0) {
			return misc;
		}
		if (misc) {
			if (!open) {
				skip_space(x);
			}
			continue;
		}
		if (open && looking_at(x, "<![CDATA[")) {
			int err = ++pieces > 10000 ? bad(x, "too much mixed text") : read_cdata(x, open);
			if (err < 0) {
				return err;
			}
			continue;
		}
		if (looking_at(x, "<!")) {
			return bad(x, "document types are not supported");
		}
		if (open && looking_at(x, "</")) {
			x->p += 2;
			int err = read_end_tag(x, open);
			if (err < 0) {
				return err;
			}
			open = open->parent;
			x->depth--;
			continue;
		}
		if (*x->p != '<') {
			return bad(x, "'<' is expected");
		}
		if (x->depth == XML_DEPTH_MAX) {
			return bad(x, "elements are nested too deep");
		}
		struct xml_node *n = NULL;
		bool empty = false;
		x->p++;
		int err = read_start_tag(x, open, &n, &empty);
		if (err < 0) {
			return err;
		}
		*tail[x->depth] = n;
		tail[x->depth] = &n->next;
		if (!empty) {
			open = n;
			x->depth++;
			tail[x->depth] = &n->children;
		} else if (!open) {
			return 0;
		}
	}
}

/* What may stand behind the root: space, comments, instructions; tools also leave NULs. */
static int read_tail(struct parser *x)
{
	for (;;) {
		while (x->p < x->end && (is_space(*x->p) || *x->p == 0)) {
			x->p++;
		}
		if (x->p == x->end) {
			return 0;
		}
		int misc = skip_misc(x);
		if (misc <= 0) {
			return misc < 0 ? misc : bad(x, "something stands behind the last element");
		}
	}
}

/* ---- encodings -------------------------------------------------------------------------------- */

static int refuse_encoding(struct diag *d, const char *what)
{
	diag_at(d, 0, "%s", what);
	if (d && d->line == 0) {
		d->line = d->column = 1;
	}
	return -EBADMSG;
}

/* The declaration may say what we cannot read. */
static int check_declaration(struct parser *x)
{
	if (!looking_at(x, "<?xml")) {
		return 0;
	}
	const char *end = find(x->p, x->end, "?>");
	const char *s = end ? find(x->p, end, "encoding") : NULL;
	if (!s) {
		return 0;
	}
	for (s += 8; s < end && *s != '"' && *s != '\''; s++) {
	}
	static const char *const known[] = {"utf-8", "utf8", "utf-16", "us-ascii", "unicode", "utf-16le"};
	for (size_t i = 0; s < end && i < BASE_ARRAY_LEN(known); i++) {
		size_t k = strlen(known[i]);
		if ((size_t)(end - s) > k + 1 && strncasecmp(s + 1, known[i], k) == 0 && s[k + 1] == *s) {
			return 0;
		}
	}
	return bad_at(x, s, "%s", "only UTF-8 and UTF-16 can be read");
}

static int check_text(struct parser *x)
{
	for (const char *p = x->start; p < x->end;) {
		uint8_t c = (uint8_t)*p;
		if (c >= 0x80) {
			uint16_t unit[3];
			size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
			if ((size_t)(x->end - p) < len || utf8_to_utf16(p, len, unit, 3) <= 0) {
				return bad_at(x, p, "%s", "this is not UTF-8");
			}
			p += len;
			continue;
		}
		if (c < 0x20 && !is_space((char)c)) {
			/* tolerated at the very end only */
			const char *q = p;
			while (q < x->end && *q == 0) {
				q++;
			}
			if (q != x->end) {
				return bad_at(x, p, "%s", "a control character");
			}
			x->end = p;
		}
		p++;
	}
	return 0;
}

int xml_parse(const void *input, size_t n, struct xml_doc *ret, struct diag *d)
{
	struct xml_doc doc = {.root = NULL};
	struct parser x = {.diag = d, .line = 1, .column = 1};
	struct source_text text;
	if (n > XML_BYTES_MAX) {
		return refuse_encoding(d, "the document is too large");
	}
	int err = source_text_of(input, n, SOURCE_TEXT_MARKUP, &text);
	if (err < 0) {
		return err == -ENOMEM ? err : refuse_encoding(d, "this is not UTF-16");
	}
	arena_init(&doc.arena, XML_MEMORY_MAX);
	x.arena = &doc.arena;
	x.start = x.p = x.seen = text.s;
	x.end = text.s + text.n;
	err = check_text(&x);
	x.seen = x.start;
	if (err == 0) {
		err = check_declaration(&x);
	}
	if (err == 0) {
		skip_space(&x);
		err = read_content(&x, &doc);
	}
	if (err == 0) {
		err = read_tail(&x);
	}
	strbuf_finish(&x.text);
	source_text_finish(&text);
	if (err < 0) {
		arena_finish(&doc.arena);
		return doc.arena.failed && err == -EBADMSG ? -ENOMEM : err;
	}
	*ret = doc;
	return 0;
}

void xml_finish(struct xml_doc *doc)
{
	arena_finish(&doc->arena);
	doc->root = NULL;
}

/* ---- looking into it -------------------------------------------------------------------------- */

const struct xml_attr *xml_attr(const struct xml_node *n, const char *name)
{
	const struct xml_attr *a = n->attrs;
	while (a && (*a->prefix || strcasecmp(a->name, name) != 0)) {
		a = a->next;
	}
	return a;
}

const char *xml_value(const struct xml_node *n, const char *name)
{
	const struct xml_attr *a = xml_attr(n, name);
	return a ? a->value : NULL;
}

static const struct xml_node *named(const struct xml_node *n, const char *name)
{
	while (n && strcmp(n->name, name) != 0) {
		n = n->next;
	}
	return n;
}

const struct xml_node *xml_child(const struct xml_node *n, const char *name)
{
	return named(n->children, name);
}

const struct xml_node *xml_next(const struct xml_node *n, const char *name)
{
	return named(n->next, name);
}

const struct xml_node *xml_listed(const struct xml_node *parent, const char *list, const char *name)
{
	const struct xml_node *l = parent ? xml_child(parent, list) : NULL, *n = NULL;
	for (; l && !n; l = xml_next(l, list)) {
		n = name ? xml_child(l, name) : l->children;
	}
	return n;
}

const struct xml_node *xml_listed_next(const struct xml_node *n, const char *name)
{
	const struct xml_node *l = n->parent, *next = name ? xml_next(n, name) : n->next;
	while (!next && l && (l = xml_next(l, l->name)) != NULL) {
		next = name ? xml_child(l, name) : l->children;
	}
	return next;
}

const char *xml_prefix_uri(const struct xml_node *n, const char *prefix, size_t bytes)
{
	for (const struct xml_namespace *s = n->scope; s; s = s->next) {
		if (strlen(s->prefix) == bytes && memcmp(s->prefix, prefix, bytes) == 0) {
			return s->uri;
		}
	}
	return NULL;
}
