/* SPDX-License-Identifier: MIT
 *
 * Names of Rust. The new kind ("v0", RFC 2603) begins with _R and is read here; the old kind is a C++
 * name with a hash at its end and signs written as $LT$. Hashes of crates are left out.
 */
#include "symbol/symbol_private.h"

#include <stdlib.h>

#define DEPTH_MAX      96u
#define OUT_MAX        8192u
#define NAME_MAX_BYTES 32768u
#define STEPS_MAX      250000u /* bytes of the name read, some of them again and again */

struct rust {
	const char *s; /* behind _R */
	size_t n, at;
	struct strbuf out;
	unsigned depth, quiet; /* quiet: read, but not written */
	unsigned steps;
	bool bad;
};

static char peek(const struct rust *r)
{
	return r->at < r->n ? r->s[r->at] : 0;
}

static bool eat(struct rust *r, char c)
{
	if (peek(r) == c && c) {
		r->at++;
		return true;
	}
	return false;
}

static char next(struct rust *r)
{
	if (r->at >= r->n || ++r->steps > STEPS_MAX) {
		r->bad = true;
		return 0;
	}
	return r->s[r->at++];
}

static void say_n(struct rust *r, const char *text, size_t n)
{
	if (r->quiet == 0 && !r->bad) {
		r->bad = r->out.len + n > OUT_MAX;
		if (!r->bad) {
			strbuf_add(&r->out, text, n);
		}
	}
}

static void say(struct rust *r, const char *text)
{
	say_n(r, text, strlen(text));
}

static void say_number(struct rust *r, uint64_t v)
{
	char text[SYMBOL_DIGITS_MAX];
	size_t n = symbol_digits(v, text);
	say_n(r, text + n, sizeof text - n);
}

/* Digits of base 62 up to _; no digits are 0, "0" is 1. */
static uint64_t base62(struct rust *r)
{
	uint64_t v = 0;
	if (eat(r, '_')) {
		return 0;
	}
	for (;;) {
		char c = next(r);
		if (c == '_') {
			return v + 1;
		}
		unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
			     : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
			     : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
						    : 62;
		if (d == 62 || v > UINT64_MAX / 64) {
			r->bad = true;
			return 0;
		}
		v = v * 62 + d;
	}
}

static uint64_t optional62(struct rust *r, char tag)
{
	return eat(r, tag) ? base62(r) + 1 : 0;
}

struct identifier {
	const char *s;
	size_t n;
	bool punycode;
};

static struct identifier identifier(struct rust *r)
{
	struct identifier i = {.punycode = eat(r, 'u')};
	if (peek(r) < '0' || peek(r) > '9') {
		r->bad = true;
		return i;
	}
	if (!eat(r, '0')) {
		while (peek(r) >= '0' && peek(r) <= '9' && i.n <= r->n) {
			i.n = i.n * 10 + (size_t)(next(r) - '0');
		}
	}
	eat(r, '_');
	if (i.n > r->n - r->at) {
		r->bad = true;
		i.n = 0;
	}
	i.s = r->s + r->at;
	r->at += i.n;
	return i;
}

static void say_identifier(struct rust *r, const struct identifier *i)
{
	if (i->punycode) {
		say(r, "punycode{");
		say_n(r, i->s, i->n);
		say(r, "}");
	} else {
		say_n(r, i->s, i->n);
	}
}

static void path(struct rust *r, bool in_value);
static void type(struct rust *r);
static void constant(struct rust *r);

/* Goes back to what was said before, and returns. */
static void again(struct rust *r, void (*read)(struct rust *), bool is_path, bool in_value)
{
	size_t tag = r->at - 1;
	uint64_t to = base62(r);
	size_t here = r->at;
	if (to >= tag) {
		r->bad = true;
		return;
	}
	if (r->quiet) {
		return; /* it was read where it stands */
	}
	r->at = (size_t)to;
	if (is_path) {
		path(r, in_value);
	} else {
		read(r);
	}
	r->at = here;
}

static void lifetime(struct rust *r)
{
	uint64_t l = base62(r);
	say(r, l ? "'a" : "'_");
}

static void generic(struct rust *r)
{
	if (eat(r, 'L')) {
		lifetime(r);
	} else if (eat(r, 'K')) {
		constant(r);
	} else {
		type(r);
	}
}

static void implementation(struct rust *r)
{
	optional62(r, 's');
	r->quiet++;
	path(r, false);
	r->quiet--;
}

static void nested(struct rust *r, bool in_value)
{
	char space = next(r);
	path(r, in_value);
	uint64_t number = optional62(r, 's');
	struct identifier i = identifier(r);
	if (space >= 'A' && space <= 'Z') {
		say(r, "::{");
		if (space == 'C') {
			say(r, "closure");
		} else if (space == 'S') {
			say(r, "shim");
		} else {
			say_n(r, &space, 1);
		}
		if (i.n) {
			say(r, ":");
			say_identifier(r, &i);
		}
		say(r, "#");
		say_number(r, number);
		say(r, "}");
	} else if (i.n) {
		say(r, "::");
		say_identifier(r, &i);
	}
}

static void path(struct rust *r, bool in_value)
{
	if (r->bad || ++r->depth > DEPTH_MAX) {
		r->bad = true;
		return;
	}
	char tag = next(r);
	struct identifier i;
	switch (tag) {
	case 'C':
		optional62(r, 's');
		i = identifier(r);
		say_identifier(r, &i);
		break;
	case 'M':
	case 'X':
		implementation(r);
		/* fall through */
	case 'Y':
		say(r, "<");
		type(r);
		if (tag != 'M') {
			say(r, " as ");
			path(r, false);
		}
		say(r, ">");
		break;
	case 'N': nested(r, in_value); break;
	case 'I':
		path(r, in_value);
		say(r, in_value ? "::<" : "<");
		for (bool first = true; !r->bad && !eat(r, 'E'); first = false) {
			say(r, first ? "" : ", ");
			generic(r);
		}
		say(r, ">");
		break;
	case 'B': again(r, NULL, true, in_value); break;
	default: r->bad = true; break;
	}
	r->depth--;
}

static const char *basic(char c)
{
	static const char names[26][6] = {"i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
					  "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
					  "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
	return c >= 'a' && c <= 'z' && names[c - 'a'][0] ? names[c - 'a'] : NULL;
}

static void types_until_end(struct rust *r, unsigned *ret_count)
{
	*ret_count = 0;
	while (!r->bad && !eat(r, 'E')) {
		say(r, *ret_count ? ", " : "");
		type(r);
		++*ret_count;
	}
}

static void function_type(struct rust *r)
{
	unsigned count;
	optional62(r, 'G');
	say(r, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K')) {
		say(r, "extern \"");
		if (eat(r, 'C')) {
			say(r, "C");
		} else {
			struct identifier i = identifier(r);
			say_identifier(r, &i);
		}
		say(r, "\" ");
	}
	say(r, "fn(");
	types_until_end(r, &count);
	say(r, ")");
	if (!eat(r, 'u')) {
		say(r, " -> ");
		type(r);
	}
}

static void dynamic_type(struct rust *r)
{
	say(r, "dyn ");
	optional62(r, 'G');
	for (bool first = true; !r->bad && !eat(r, 'E'); first = false) {
		say(r, first ? "" : " + ");
		path(r, false);
		for (bool open = true; eat(r, 'p'); open = false) {
			struct identifier i = identifier(r);
			say(r, open ? "<" : ", ");
			say_identifier(r, &i);
			say(r, " = ");
			type(r);
			say(r, peek(r) == 'p' ? "" : ">");
		}
	}
	if (eat(r, 'L')) {
		base62(r);
	} else {
		r->bad = true;
	}
}

static void type(struct rust *r)
{
	unsigned count;
	if (r->bad || ++r->depth > DEPTH_MAX) {
		r->bad = true;
		return;
	}
	char tag = next(r);
	const char *name = basic(tag);
	if (name) {
		say(r, name);
		r->depth--;
		return;
	}
	switch (tag) {
	case 'A':
	case 'S':
		say(r, "[");
		type(r);
		if (tag == 'A') {
			say(r, "; ");
			constant(r);
		}
		say(r, "]");
		break;
	case 'T':
		say(r, "(");
		types_until_end(r, &count);
		say(r, count == 1 ? ",)" : ")");
		break;
	case 'R':
	case 'Q':
		say(r, "&");
		if (eat(r, 'L') && base62(r)) {
			say(r, "'a ");
		}
		say(r, tag == 'Q' ? "mut " : "");
		type(r);
		break;
	case 'P':
	case 'O':
		say(r, tag == 'P' ? "*const " : "*mut ");
		type(r);
		break;
	case 'F': function_type(r); break;
	case 'D': dynamic_type(r); break;
	case 'B': again(r, type, false, false); break;
	default:
		r->at--;
		path(r, false);
		break;
	}
	r->depth--;
}

static void constant(struct rust *r)
{
	if (eat(r, 'p')) {
		say(r, "_");
		return;
	}
	if (eat(r, 'B')) {
		again(r, constant, false, false);
		return;
	}
	char kind = next(r);
	say(r, eat(r, 'n') ? "-" : "");
	size_t from = r->at;
	uint64_t v = 0;
	while (!r->bad && peek(r) != '_') {
		char c = next(r);
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	size_t digits = r->at - from;
	if (!eat(r, '_') || !basic(kind)) {
		r->bad = true;
	} else if (kind == 'b') {
		say(r, v ? "true" : "false");
	} else if (digits > 16) {
		say(r, "0x");
		say_n(r, r->s + from, digits);
	} else {
		say_number(r, v);
	}
}

char *symbol_demangle_rust(const char *name, uint64_t *inout_steps)
{
	if (name[0] != '_' || name[1] != 'R' || strnlen(name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES) {
		return NULL;
	}
	struct rust r = {.s = name + 2, .n = strcspn(name + 2, ".$")};
	path(&r, true);
	if (!r.bad && r.at < r.n) { /* the crate that made this instance of it */
		r.quiet++;
		path(&r, false);
		r.quiet--;
	}
	*inout_steps += r.steps;
	char *text = !r.bad && r.at == r.n && r.out.len && !r.out.failed ? strdup(r.out.s) : NULL;
	strbuf_finish(&r.out);
	return text;
}

void symbol_tidy_rust(char *text)
{
	static const struct {
		char from[6], to[3];
	} signs[] = {{"$LT$", "<"},  {"$GT$", ">"},  {"$RF$", "&"},  {"$BP$", "*"},  {"$LP$", "("},  {"$RP$", ")"},
		     {"$C$", ","},   {"$SP$", "@"},  {"$u20$", " "}, {"$u27$", "'"}, {"$u5b$", "["}, {"$u5d$", "]"},
		     {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"}};
	enum { HASH = 19 }; /* ::h and 16 digits */
	const char *clone = strstr(text, " [clone ");
	size_t n = clone ? (size_t)(clone - text) : strlen(text);
	if (n <= HASH || strncmp(text + n - HASH, "::h", 3) != 0 ||
	    strspn(text + n - HASH + 3, "0123456789abcdef") != HASH - 3) {
		return;
	}
	text[n - HASH] = 0;
	char *out = text;
	for (const char *p = text; *p;) {
		size_t i = 0;
		if (p[0] == '_' && p[1] == '$' && (p == text || p[-1] == ':')) {
			p++; /* keeps a sign from beginning the name */
		}
		while (i < BASE_ARRAY_LEN(signs) && strncmp(p, signs[i].from, strlen(signs[i].from)) != 0) {
			i++;
		}
		if (i < BASE_ARRAY_LEN(signs)) {
			size_t length = strlen(signs[i].to);
			memcpy(out, signs[i].to, length);
			out += length;
			p += strlen(signs[i].from);
		} else {
			*out++ = *p++;
		}
	}
	*out = 0;
}
