/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include <stdio.h>

/* ---- which characters ------------------------------------------------------------------------- */

struct range {
	uint32_t first, last;
};

static bool among(const struct range *r, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n && r[i].first <= c; i++) {
		if (c <= r[i].last) {
			return true;
		}
	}
	return false;
}

bool printable_must_escape(uint32_t c)
{
	/* Ascending. */
	static const struct range bad[] = {
		{0x0000, 0x001F},   /* C0 */
		{0x007F, 0x009F},   /* DEL, C1 */
		{0x061C, 0x061C},   /* Arabic letter mark */
		{0x180E, 0x180E},   /* Mongolian vowel separator: no mark */
		{0x200B, 0x200B},   /* zero width space */
		{0x200E, 0x200F},   /* left-to-right and right-to-left mark */
		{0x2028, 0x202E},   /* line and paragraph separator, embeddings and overrides */
		{0x2060, 0x206F},   /* invisible operators, isolates, deprecated format characters */
		{0xD800, 0xDFFF},   /* surrogates */
		{0xFDD0, 0xFDEF},   /* noncharacters */
		{0xFEFF, 0xFEFF},   /* byte order mark */
		{0xFFF9, 0xFFFB},   /* interlinear annotation */
		{0xE0000, 0xE007F}, /* tags */
	};
	if (BASE_LIKELY(c >= 0x20 && c < 0x7F)) {
		return false;
	}
	return (c & 0xFFFE) == 0xFFFE || c > 0x10FFFF || among(bad, BASE_ARRAY_LEN(bad), c);
}

/* Columns of a character that is not escaped: what matters for tables, not all that Unicode says. */
static unsigned columns_of(uint32_t c)
{
	static const struct range none[] = {
		{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
		{0x064B, 0x065F}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x200C, 0x200D},
		{0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
	};
	static const struct range two[] = {
		{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
		{0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
		{0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
	};
	if (c < 0x300) {
		return 1;
	}
	return among(none, BASE_ARRAY_LEN(none), c) ? 0 : among(two, BASE_ARRAY_LEN(two), c) ? 2 : 1;
}

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* All of sixteen bytes are ASCII that stays as it is: from ' ' to '~'. */
static inline bool is_plain16(const char *s)
{
	bytes16 v;
	memcpy(&v, s, sizeof v);
	bytes16 bad = (bytes16)((v - ' ') > '~' - ' ');
	uint64_t half[2];
	memcpy(half, &bad, sizeof half);
	return (half[0] | half[1]) == 0;
}

/* How many bytes at the beginning are ASCII that stays as it is. */
static size_t plain_length(const char *s, size_t n)
{
	size_t i = 0;
	while (i + 16 <= n && is_plain16(s + i)) {
		i += 16;
	}
	if (i + 16 > n && n >= 16 && is_plain16(s + n - 16)) {
		return n; /* the last piece may overlap the one before */
	}
	while (i < n && (uint8_t)s[i] >= 0x20 && (uint8_t)s[i] < 0x7F) {
		i++;
	}
	return i;
}

/* ---- pieces: a run of ASCII, a character or an escape ------------------------------------------ */

#define ESCAPE_MAX 12

struct piece {
	size_t used;      /* bytes of the source */
	const char *text; /* in the source, or `escape` */
	size_t bytes;
	unsigned columns;
	char escape[ESCAPE_MAX];
};

static void make_escape(struct piece *p, uint32_t c, bool is_byte)
{
	static const char names[] = {['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
	int n;
	if (c < sizeof names && names[c]) {
		n = snprintf(p->escape, sizeof p->escape, "\\%c", names[c]);
	} else if (c < 0x80 || is_byte) {
		n = snprintf(p->escape, sizeof p->escape, "\\x%02x", c);
	} else {
		n = snprintf(p->escape, sizeof p->escape, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	}
	p->text = p->escape;
	p->bytes = p->columns = (unsigned)n;
}

/* The next piece of s[0..n), n > 0. With `one`, a run of ASCII is one character long. */
static void next_piece(struct piece *p, const char *s, size_t n, bool one)
{
	size_t plain = plain_length(s, one ? 1 : n);
	p->text = s;
	if (plain > 0) {
		p->used = p->bytes = plain;
		p->columns = (unsigned)plain;
		return;
	}
	uint32_t c;
	p->used = utf8_decode(s, n, &c);
	if (p->used == 0) {
		p->used = 1;
		make_escape(p, (uint8_t)*s, true);
	} else if (printable_must_escape(c)) {
		make_escape(p, c, false);
	} else {
		p->bytes = p->used;
		p->columns = columns_of(c);
	}
}

bool printable_is(const char *s, size_t n)
{
	for (size_t i = plain_length(s, n); i < n; i += plain_length(s + i, n - i)) {
		uint32_t c;
		size_t used = utf8_decode(s + i, n - i, &c);
		if (used == 0 || printable_must_escape(c)) {
			return false;
		}
		i += used;
	}
	return true;
}

void strbuf_add_printable(struct strbuf *b, const char *s, size_t n)
{
	struct piece p;
	size_t plain = plain_length(s, n); /* nearly always all of it */
	strbuf_add(b, s, plain);
	for (size_t i = plain; i < n && !b->failed; i += p.used) {
		next_piece(&p, s + i, n - i, false);
		strbuf_add(b, p.text, p.bytes);
	}
}

void strbuf_add_printable16(struct strbuf *b, const void *text, size_t units)
{
	const uint8_t *s = text;
	for (size_t i = 0; i < units && !b->failed; i++) {
		uint32_t c = le16_get(s + 2 * i);
		uint32_t low = i + 1 < units ? le16_get(s + 2 * (i + 1)) : 0;
		if (c >= 0xD800 && c < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
			c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
			i++;
		}
		if (printable_must_escape(c)) {
			struct piece p;
			make_escape(&p, c, false);
			strbuf_add(b, p.text, p.bytes);
		} else {
			char utf8[4];
			strbuf_add(b, utf8, utf8_encode(c, utf8));
		}
	}
}

void strbuf_add_quoted(struct strbuf *b, const char *s, size_t n)
{
	strbuf_addc(b, '"');
	for (const char *quote; n > 0 && (quote = memchr(s, '"', n)) != NULL;) {
		size_t k = (size_t)(quote - s) + 1;
		strbuf_add_printable(b, s, k);
		strbuf_addc(b, '"');
		s += k;
		n -= k;
	}
	strbuf_add_printable(b, s, n);
	strbuf_addc(b, '"');
}

size_t printable_copy(char *out, size_t cap, const char *s, size_t n)
{
	struct piece p;
	size_t at = 0;
	for (size_t i = 0; i < n && cap > 0; i += p.used) {
		next_piece(&p, s + i, n - i, false);
		if (p.bytes >= cap - at && p.text == s + i && p.used > 1) {
			next_piece(&p, s + i, n - i, true); /* a run is cut, a character is not */
		}
		if (p.bytes >= cap - at) {
			break;
		}
		memcpy(out + at, p.text, p.bytes);
		at += p.bytes;
	}
	if (cap > 0) {
		out[at] = 0;
	}
	return at;
}

/* ---- columns ---------------------------------------------------------------------------------- */

size_t printable_columns(const char *s, size_t n)
{
	struct piece p;
	size_t columns = 0;
	for (size_t i = 0; i < n; i += p.used) {
		next_piece(&p, s + i, n - i, false);
		columns += p.columns;
	}
	return columns;
}

static void add_spaces(struct strbuf *b, size_t n)
{
	static const char spaces[] = "                                ";
	for (; n > 0 && !b->failed; n -= BASE_MIN(n, sizeof spaces - 1)) {
		strbuf_add(b, spaces, BASE_MIN(n, sizeof spaces - 1));
	}
}

void strbuf_add_column(struct strbuf *b, const char *s, size_t n, int width)
{
	size_t columns = width ? printable_columns(s, n) : 0;
	size_t wanted = width < 0 ? 0 - (size_t)width : (size_t)width;
	size_t fill = wanted > columns ? wanted - columns : 0;
	if (width > 0) {
		add_spaces(b, fill);
	}
	strbuf_add_printable(b, s, n);
	if (width < 0) {
		add_spaces(b, fill);
	}
}

void strbuf_add_fitted(struct strbuf *b, const char *s, size_t n, unsigned columns)
{
	struct piece p;
	size_t at = 0;
	bool cut = printable_columns(s, n) > columns;
	size_t room = cut && columns > 0 ? columns - 1 : columns;
	for (size_t i = 0; i < n && !b->failed; i += p.used) {
		next_piece(&p, s + i, n - i, true);
		if (at + p.columns > room) {
			break;
		}
		strbuf_add(b, p.text, p.bytes);
		at += p.columns;
	}
	if (cut && columns > 0) {
		strbuf_adds(b, "…");
		at++;
	}
	add_spaces(b, columns - BASE_MIN(at, (size_t)columns));
}

/* ---- formats ---------------------------------------------------------------------------------- */

struct arguments {
	va_list ap;
};

static void add_string(struct strbuf *b, const char *s, int width, int precision)
{
	s = s ? s : "(null)";
	strbuf_add_column(b, s, precision >= 0 ? strnlen(s, (size_t)precision) : strlen(s), width);
}

/* "%" flags width precision length type: reads what it takes from the arguments. Returns the text
 * behind it. */
static const char *add_conversion(struct strbuf *b, const char *fmt, struct arguments *a)
{
	char spec[64];
	const char *s = fmt + 1;
	int width = 0, precision = -1;
	bool left = false;
	s += strspn(s, "-+ #0'");
	left = memchr(fmt + 1, '-', (size_t)(s - fmt - 1)) != NULL;
	size_t flags = (size_t)(s - fmt);
	if (*s == '*') {
		width = va_arg(a->ap, int);
		left = left || width < 0;
		width = width < 0 ? -width : width;
		s++;
	} else {
		for (; *s >= '0' && *s <= '9'; s++) {
			width = width * 10 + (*s - '0');
		}
	}
	if (*s == '.') {
		precision = 0;
		s++;
		if (*s == '*') {
			precision = va_arg(a->ap, int);
			s++;
		} else {
			for (; *s >= '0' && *s <= '9'; s++) {
				precision = precision * 10 + (*s - '0');
			}
		}
	}
	const char *length = s;
	s += strspn(s, "hlLzjt");
	size_t n = (size_t)(s - length);
	char type = *s;
	if (type == '%') {
		strbuf_addc(b, '%');
		return s + 1;
	}
	if (type == 's' && n == 0) {
		add_string(b, va_arg(a->ap, const char *), left ? -width : width, precision);
		return s + 1;
	}
	if (type == 'c' && n == 0) {
		char c = (char)va_arg(a->ap, int);
		strbuf_add_column(b, &c, 1, left ? -width : width);
		return s + 1;
	}
	/* A number: written out with its flags, and by libc. */
	int k = snprintf(spec, sizeof spec, "%.*s%s*.*%.*s%c", (int)BASE_MIN(flags, (size_t)8), fmt,
			 left && !memchr(fmt, '-', flags) ? "-" : "", (int)BASE_MIN(n, (size_t)2), length, type);
	if (k < 0 || type == 0) {
		return s;
	}
#define NUMBER(of) strbuf_addf(b, spec, width, precision, va_arg(a->ap, of))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (strchr("diouxX", type)) {
		if (n == 0 || *length == 'h') {
			NUMBER(int);
		} else if (n == 2 || *length == 'j') {
			NUMBER(long long);
		} else {
			NUMBER(long);
		}
	} else if (type == 'p') {
		strbuf_addf(b, "%p", va_arg(a->ap, void *));
	} else if (*length == 'L') {
		NUMBER(long double);
	} else {
		NUMBER(double);
	}
#pragma GCC diagnostic pop
#undef NUMBER
	return s + 1;
}

/* Numbers alone are libc's from beginning to end. */
static bool brings_text(const char *fmt)
{
	for (const char *s = fmt; (s = strchr(s, '%')) != NULL;) {
		s += 1 + strspn(s + 1, "-+ #0'.*123456789hlLzjt");
		if (*s == 's' || *s == 'c') {
			return true;
		}
		s += *s != 0;
	}
	return false;
}

void strbuf_vaddf_printable(struct strbuf *b, const char *fmt, va_list ap)
{
	struct arguments a;
	if (!brings_text(fmt)) {
		strbuf_vaddf(b, fmt, ap);
		return;
	}
	va_copy(a.ap, ap);
	for (const char *s = fmt; *s && !b->failed;) {
		size_t n = strcspn(s, "%");
		strbuf_add(b, s, n);
		s += n;
		if (*s) {
			s = add_conversion(b, s, &a);
		}
	}
	va_end(a.ap);
}

void strbuf_addf_printable(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf_printable(b, fmt, ap);
	va_end(ap);
}

#define LINE_MAX_BYTES 1024

size_t printable_vformat(char *out, size_t cap, const char *fmt, va_list ap)
{
	char raw[LINE_MAX_BYTES];
	int n = vsnprintf(raw, sizeof raw, fmt, ap);
	size_t length = n < 0 ? 0 : BASE_MIN((size_t)n, sizeof raw - 1);
	if (n >= (int)sizeof raw) { /* not with half a character at the end */
		size_t at = length;
		uint32_t c;
		while (at > 0 && length - at < 3 && ((uint8_t)raw[at - 1] & 0xC0) == 0x80) {
			at--;
		}
		if (at > 0 && (uint8_t)raw[at - 1] >= 0xC0 && utf8_decode(raw + at - 1, length - at + 1, &c) == 0) {
			length = at - 1;
		}
	}
	return printable_copy(out, cap, raw, length);
}
