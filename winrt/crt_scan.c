/* SPDX-License-Identifier: MIT
 *
 * The scanf family over 16-bit text, and sscanf_s, with Microsoft's sizes: l is 32 bits, I64
 * exists, and in the _s forms %s %c %[ are followed by the size of the buffer. The plain forms take
 * no size; the two are told apart by entry point.
 */
#include "winrt/win.h"

#include <stdlib.h>

typedef uint16_t wc;

struct input {
	const void *s;
	bool wide;
	size_t at;
};

static uint16_t get(const struct input *in)
{
	return in->wide ? ((const uint16_t *)in->s)[in->at] : ((const uint8_t *)in->s)[in->at];
}

static bool space(uint16_t c)
{
	return c == ' ' || (c >= 9 && c <= 13);
}

static void skip_space(struct input *in)
{
	while (space(get(in))) {
		in->at++;
	}
}

struct conversion {
	bool drop;
	size_t width;
	int bytes; /* of an integer */
	bool wide_text, long_float;
};

/* The characters that may belong to a number, as ASCII. */
static size_t number_text(struct input *in, size_t width, const char *allowed, char *out, size_t cap)
{
	size_t n = 0;
	while (n < width && n + 1 < cap && get(in) && get(in) < 0x80 && strchr(allowed, get(in))) {
		out[n++] = (char)get(in);
		in->at++;
	}
	out[n] = 0;
	return n;
}

static bool scan_integer(struct input *in, const struct conversion *c, int base, void *to)
{
	char text[80], *end;
	skip_space(in);
	size_t from = in->at;
	number_text(in, c->width, base == 10 ? "+-0123456789" : "+-0123456789abcdefABCDEFxX", text, sizeof text);
	uint64_t v = text[0] == '-' ? (uint64_t)strtoll(text, &end, base) : strtoull(text, &end, base);
	in->at = from + (size_t)(end - text);
	if (end == text) {
		return false;
	}
	if (!c->drop) {
		memcpy(to, &v, (size_t)c->bytes);
	}
	return true;
}

static bool scan_float(struct input *in, const struct conversion *c, void *to)
{
	char text[128], *end;
	skip_space(in);
	size_t from = in->at;
	number_text(in, c->width, "+-0123456789.eEinfatyINFATYxXpP", text, sizeof text);
	double v = strtod(text, &end);
	in->at = from + (size_t)(end - text);
	if (end == text) {
		return false;
	}
	float f = (float)v;
	if (!c->drop && c->long_float) {
		memcpy(to, &v, sizeof v);
	} else if (!c->drop) {
		memcpy(to, &f, sizeof f);
	}
	return true;
}

static bool in_set(const struct input *set, size_t from, size_t to, bool negate, uint16_t ch)
{
	struct input i = *set;
	bool found = false;
	for (i.at = from; i.at < to; i.at++) {
		uint16_t lo = get(&i), hi = lo;
		if (i.at + 2 < to) {
			struct input dash = {i.s, i.wide, i.at + 1};
			if (get(&dash) == '-') {
				dash.at++;
				hi = get(&dash);
				i.at += 2;
			}
		}
		found |= ch >= lo && ch <= hi;
	}
	return found != negate;
}

static int scan(struct input *in, struct input *f, bool sized, va_list given)
{
	int done = 0;
	va_list ap;
	va_copy(ap, given);
	for (; get(f); f->at++) {
		uint16_t ch = get(f);
		if (space(ch)) {
			skip_space(in);
			continue;
		}
		if (ch != '%') {
			if (get(in) != ch) {
				va_end(ap);
				return done == 0 && !get(in) ? EOF : done;
			}
			in->at++;
			continue;
		}
		struct conversion c = {.width = SIZE_MAX, .bytes = 4, .wide_text = in->wide};
		f->at++;
		if (get(f) == '*') {
			c.drop = true;
			f->at++;
		}
		size_t width = 0;
		for (; get(f) >= '0' && get(f) <= '9'; f->at++) {
			width = 10 * width + (size_t)(get(f) - '0');
		}
		c.width = width ? width : SIZE_MAX;
		for (;; f->at++) {
			uint16_t m = get(f);
			if (m == 'h') {
				c.bytes = c.bytes == 2 ? 1 : 2;
				c.wide_text = false;
			} else if (m == 'l') {
				c.bytes = c.long_float ? 8 : 4;
				c.long_float = true;
				c.wide_text = true;
			} else if (m == 'L' || m == 'w') {
				c.long_float = true;
				c.wide_text = true;
			} else if (m == 'I' || m == 'j' || m == 'z' || m == 't') {
				c.bytes = 8;
				struct input d = {f->s, f->wide, f->at + 1};
				if (m == 'I' && (get(&d) == '6' || get(&d) == '3')) {
					c.bytes = get(&d) == '6' ? 8 : 4;
					f->at += 2;
				}
			} else {
				break;
			}
		}
		uint16_t conv = get(f);
		void *to = c.drop || conv == '%' || !conv ? NULL : va_arg(ap, void *);
		bool ok = false;
		struct input rest = *in;
		skip_space(&rest);
		bool empty = !get(&rest);
		switch (conv) {
		case '%':
			skip_space(in);
			ok = get(in) == '%';
			in->at += ok;
			c.drop = true;
			break;
		case 'd':
		case 'u': ok = scan_integer(in, &c, 10, to); break;
		case 'i': ok = scan_integer(in, &c, 0, to); break;
		case 'o': ok = scan_integer(in, &c, 8, to); break;
		case 'x':
		case 'X':
		case 'p':
			c.bytes = conv == 'p' ? 8 : c.bytes;
			ok = scan_integer(in, &c, 16, to);
			break;
		case 'e':
		case 'f':
		case 'g':
		case 'a':
		case 'E':
		case 'F':
		case 'G': ok = scan_float(in, &c, to); break;
		case 'n':
			if (to) {
				int n = (int)in->at;
				memcpy(to, &n, sizeof n);
			}
			continue;
		case 's':
		case 'S':
		case 'c':
		case 'C':
		case '[': {
			size_t cap = SIZE_MAX, set_from = 0, set_to = 0;
			bool negate = false, text = conv != 'c' && conv != 'C';
			if (conv == 'S' || conv == 'C') {
				c.wide_text = !in->wide;
			}
			if (conv == '[') {
				f->at++;
				negate = get(f) == '^';
				f->at += negate;
				set_from = f->at;
				do {
					f->at++;
				} while (get(f) && get(f) != ']');
				set_to = f->at;
			} else if (text) {
				skip_space(in);
			}
			if (sized && !c.drop) {
				cap = va_arg(ap, unsigned);
			}
			size_t max = !text && c.width == SIZE_MAX ? 1 : c.width;
			struct win_sink out = {.wide = c.wide_text, .buf = to, .cap = cap - (cap != SIZE_MAX && text)};
			size_t from = in->at;
			while (in->at - from < max && get(in)) {
				uint16_t v = get(in);
				if (conv == '[' ? !in_set(f, set_from, set_to, negate, v) : text && space(v)) {
					break;
				}
				win_sink_unit(&out, v);
				in->at++;
			}
			ok = in->at > from;
			bool full = out.count > out.cap;
			if (ok && to && text) {
				size_t end = full ? 0 : out.count;
				memset((char *)to + end * (out.wide ? 2 : 1), 0, out.wide ? 2 : 1);
			}
			if (full) {
				ok = false;
			}
			break;
		}
		default: break;
		}
		if (!ok) {
			va_end(ap);
			return done == 0 && empty ? EOF : done;
		}
		done += !c.drop;
	}
	va_end(ap);
	return done;
}

#define SCAN(text, is_wide, sized)             \
	struct input in = {text, is_wide, 0};  \
	struct input f = {format, is_wide, 0}; \
	va_list ap;                            \
	va_start(ap, format);                  \
	int ret = scan(&in, &f, sized, ap);    \
	va_end(ap);                            \
	return ret

WIN_EXPORT int etw16_vswscanf(const wc *s, const wc *format, va_list ap);
int etw16_vswscanf(const wc *s, const wc *format, va_list ap)
{
	struct input in = {s, true, 0}, f = {format, true, 0};
	return scan(&in, &f, false, ap);
}
WIN_EXPORT int etw16_swscanf(const wc *s, const wc *format, ...);
int etw16_swscanf(const wc *s, const wc *format, ...)
{
	SCAN(s, true, false);
}
WIN_EXPORT int etw16_swscanf_s(const wc *s, const wc *format, ...);
int etw16_swscanf_s(const wc *s, const wc *format, ...)
{
	SCAN(s, true, true);
}
WIN_EXPORT int etw16_sscanf_s(const char *s, const char *format, ...);
int etw16_sscanf_s(const char *s, const char *format, ...)
{
	SCAN(s, false, true);
}

/* From a stream: one line is read and scanned; what the format leaves of it is dropped. */
WIN_EXPORT int etw16_vfwscanf(FILE *file, const wc *format, va_list ap);
int etw16_vfwscanf(FILE *file, const wc *format, va_list ap)
{
	char *line = NULL;
	size_t cap = 0;
	int ret = EOF;
	if (getline(&line, &cap, file) >= 0) {
		uint16_t *w = win_utf16(line);
		ret = w ? etw16_vswscanf(w, format, ap) : EOF;
		free(w);
	}
	free(line);
	return ret;
}
WIN_EXPORT int etw16_vwscanf(const wc *format, va_list ap);
int etw16_vwscanf(const wc *format, va_list ap)
{
	return etw16_vfwscanf(stdin, format, ap);
}
WIN_EXPORT int etw16_fwscanf(FILE *file, const wc *format, ...);
int etw16_fwscanf(FILE *file, const wc *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int ret = etw16_vfwscanf(file, format, ap);
	va_end(ap);
	return ret;
}
WIN_EXPORT int etw16_wscanf(const wc *format, ...);
int etw16_wscanf(const wc *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int ret = etw16_vfwscanf(stdin, format, ap);
	va_end(ap);
	return ret;
}
