/* SPDX-License-Identifier: MIT
 *
 * Microsoft's printf. Differences from ISO C that sources rely on: %s takes the function's own
 * character width and %S the other one, %ls %ws %hs force it, `l` on a number is 32 bits, %I64 %I32
 * %I exist, %p is 16 upper-case digits.
 */
#include "winrt/win.h"

#include <stdlib.h>

enum size { SIZE_NONE, SIZE_HH, SIZE_H, SIZE_L, SIZE_32, SIZE_64, SIZE_LD };

struct spec {
	bool minus, plus, space, alt, zero;
	int width;
	int precision; /* -1: none */
	enum size size;
	bool force_wide, force_narrow;
};

void win_sink_unit(struct win_sink *s, uint16_t unit)
{
	if (s->grow && s->count >= s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 256;
		void *p = realloc(s->buf, (cap + 1) * (s->wide ? 2 : 1));
		if (!p) {
			s->failed = true;
			return;
		}
		s->buf = p;
		s->cap = cap;
	}
	if (s->buf && s->count < s->cap) {
		if (s->wide) {
			((uint16_t *)s->buf)[s->count] = unit;
		} else {
			((char *)s->buf)[s->count] = (char)unit;
		}
	}
	s->count++;
}

void win_sink_utf16(struct win_sink *s, const uint16_t *text, size_t n)
{
	if (s->wide) {
		for (size_t i = 0; i < n; i++) {
			win_sink_unit(s, text[i]);
		}
		return;
	}
	for (size_t i = 0; i < n;) {
		char out[8];
		bool pair = (text[i] & 0xFC00) == 0xD800 && i + 1 < n && (text[i + 1] & 0xFC00) == 0xDC00;
		size_t units = pair ? 2 : 1;
		long k = utf16_to_utf8_lossy(text + i, units, out, sizeof out);
		for (long j = 0; j < k; j++) {
			win_sink_unit(s, (uint8_t)out[j]);
		}
		i += units;
	}
}

/* Bytes that are no UTF-8 become U+FFFD each. */
void win_sink_utf8(struct win_sink *s, const char *text, size_t n)
{
	if (!s->wide) {
		for (size_t i = 0; i < n; i++) {
			win_sink_unit(s, (uint8_t)text[i]);
		}
		return;
	}
	for (size_t i = 0; i < n;) {
		uint16_t out[4];
		size_t used = 1;
		uint8_t c = (uint8_t)text[i];
		size_t want = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
		long k = want <= n - i ? utf8_to_utf16(text + i, want, out, 4) : -1;
		if (k < 0) {
			out[0] = 0xFFFD;
			k = 1;
		} else {
			used = want;
		}
		for (long j = 0; j < k; j++) {
			win_sink_unit(s, out[j]);
		}
		i += used;
	}
}

static void pad(struct win_sink *s, char c, long n)
{
	while (n-- > 0) {
		win_sink_unit(s, (uint8_t)c);
	}
}

static void put_number(struct win_sink *s, const struct spec *f, const char *sign, const char *digits, size_t n)
{
	long zeros = f->precision > (long)n ? f->precision - (long)n : 0;
	long used = (long)strlen(sign) + zeros + (long)n;
	if (f->zero && !f->minus && f->precision < 0 && f->width > used) {
		zeros += f->width - used;
		used = f->width;
	}
	if (!f->minus) {
		pad(s, ' ', f->width - used);
	}
	win_sink_utf8(s, sign, strlen(sign));
	pad(s, '0', zeros);
	win_sink_utf8(s, digits, n);
	if (f->minus) {
		pad(s, ' ', f->width - used);
	}
}

static void put_unsigned(struct win_sink *s, const struct spec *f, uint64_t v, unsigned base, bool upper,
			 const char *sign)
{
	char buf[72];
	char *p = buf + sizeof buf;
	bool nonzero = v != 0;
	while (v) {
		p[-1] = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[v % base];
		p--;
		v /= base;
	}
	if (!nonzero && f->precision != 0) {
		*--p = '0';
	}
	if (f->alt && nonzero && base == 16) {
		sign = upper ? "0X" : "0x";
	} else if (f->alt && base == 8 && nonzero) {
		*--p = '0';
	}
	put_number(s, f, sign, p, (size_t)(buf + sizeof buf - p));
}

static int64_t signed_of(enum size size, uint64_t v)
{
	switch (size) {
	case SIZE_HH: return (int8_t)v;
	case SIZE_H: return (int16_t)v;
	case SIZE_64: return (int64_t)v;
	default: return (int32_t)v;
	}
}

static uint64_t unsigned_of(enum size size, uint64_t v)
{
	switch (size) {
	case SIZE_HH: return (uint8_t)v;
	case SIZE_H: return (uint16_t)v;
	case SIZE_64: return v;
	default: return (uint32_t)v;
	}
}

static void put_double(struct win_sink *s, const struct spec *f, char conv, long double ld, double d)
{
	char fmt[32], small[128], *text = small;
	snprintf(fmt, sizeof fmt, "%%%s%s%s%s%s*.*%s%c", f->minus ? "-" : "", f->plus ? "+" : "", f->space ? " " : "",
		 f->alt ? "#" : "", f->zero ? "0" : "", f->size == SIZE_LD ? "L" : "", conv);
	int n = f->size == SIZE_LD ? snprintf(small, sizeof small, fmt, f->width, f->precision, ld)
				   : snprintf(small, sizeof small, fmt, f->width, f->precision, d);
	if (n >= (int)sizeof small) {
		text = malloc((size_t)n + 1);
		if (!text) {
			s->failed = true;
			return;
		}
		if (f->size == SIZE_LD) {
			snprintf(text, (size_t)n + 1, fmt, f->width, f->precision, ld);
		} else {
			snprintf(text, (size_t)n + 1, fmt, f->width, f->precision, d);
		}
	}
	win_sink_utf8(s, text, n > 0 ? (size_t)n : 0);
	if (text != small) {
		free(text);
	}
}

/* A string of either width, padded by the units it takes in the sink. */
static void put_string(struct win_sink *s, const struct spec *f, const void *p, bool wide)
{
	size_t n = 0, max = f->precision >= 0 ? (size_t)f->precision : SIZE_MAX;
	if (!p) {
		p = "(null)";
		wide = false;
	}
	struct win_sink count = {.wide = s->wide};
	if (wide) {
		const uint16_t *w = p;
		while (n < max && w[n]) {
			n++;
		}
		win_sink_utf16(&count, w, n);
	} else {
		const char *c = p;
		while (n < max && c[n]) {
			n++;
		}
		win_sink_utf8(&count, c, n);
	}
	long gap = (long)f->width - (long)count.count;
	if (!f->minus) {
		pad(s, f->zero ? '0' : ' ', gap);
	}
	if (wide) {
		win_sink_utf16(s, p, n);
	} else {
		win_sink_utf8(s, p, n);
	}
	if (f->minus) {
		pad(s, ' ', gap);
	}
}

static uint16_t format_at(const void *format, bool wide, size_t i)
{
	return wide ? ((const uint16_t *)format)[i] : ((const uint8_t *)format)[i];
}

struct reader {
	const void *format;
	bool wide;
	size_t at;
};

static uint16_t peek(const struct reader *r)
{
	return format_at(r->format, r->wide, r->at);
}

static void read_flags(struct reader *r, struct spec *f)
{
	for (;; r->at++) {
		switch (peek(r)) {
		case '-': f->minus = true; break;
		case '+': f->plus = true; break;
		case ' ': f->space = true; break;
		case '#': f->alt = true; break;
		case '0': f->zero = true; break;
		default: return;
		}
	}
}

static int read_int(struct reader *r)
{
	int v = 0;
	for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) {
		if (v < 100000000) {
			v = 10 * v + (peek(r) - '0');
		}
	}
	return v;
}

static void read_size(struct reader *r, struct spec *f)
{
	for (;; r->at++) {
		uint16_t c = peek(r), d = c ? format_at(r->format, r->wide, r->at + 1) : 0;
		switch (c) {
		case 'h':
			f->size = f->size == SIZE_H ? SIZE_HH : SIZE_H;
			f->force_narrow = true;
			break;
		case 'l':
			f->size = f->size == SIZE_L ? SIZE_64 : SIZE_L;
			f->force_wide = true;
			break;
		case 'w': f->force_wide = true; break;
		case 'L': f->size = SIZE_LD; break;
		case 'q':
		case 'j':
		case 'z':
		case 't': f->size = SIZE_64; break;
		case 'I':
			if (d == '6' && format_at(r->format, r->wide, r->at + 2) == '4') {
				f->size = SIZE_64;
				r->at += 2;
			} else if (d == '3' && format_at(r->format, r->wide, r->at + 2) == '2') {
				f->size = SIZE_32;
				r->at += 2;
			} else {
				f->size = sizeof(void *) == 8 ? SIZE_64 : SIZE_32;
			}
			break;
		default: return;
		}
	}
}

/* The argument list travels in a structure, because va_list may be an array type. */
struct args {
	va_list ap;
};

static void convert(struct win_sink *s, struct spec *f, uint16_t conv, bool format_wide, struct args *a)
{
	bool wide_text;
	switch (conv) {
	case 'd':
	case 'i': {
		uint64_t raw = f->size == SIZE_64 ? va_arg(a->ap, uint64_t) : va_arg(a->ap, uint32_t);
		int64_t v = signed_of(f->size, raw);
		const char *sign = v < 0 ? "-" : f->plus ? "+" : f->space ? " " : "";
		f->alt = false;
		put_unsigned(s, f, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, false, sign);
		return;
	}
	case 'u':
	case 'o':
	case 'x':
	case 'X': {
		uint64_t raw = f->size == SIZE_64 ? va_arg(a->ap, uint64_t) : va_arg(a->ap, uint32_t);
		put_unsigned(s, f, unsigned_of(f->size, raw), conv == 'u' ? 10 : conv == 'o' ? 8 : 16, conv == 'X', "");
		return;
	}
	case 'p': {
		uint64_t v = (uint64_t)(uintptr_t)va_arg(a->ap, void *);
		f->precision = 2 * (int)sizeof(void *);
		put_unsigned(s, f, v, 16, true, "");
		return;
	}
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		if (f->size == SIZE_LD) {
			put_double(s, f, (char)conv, va_arg(a->ap, long double), 0);
		} else {
			put_double(s, f, (char)conv, 0, va_arg(a->ap, double));
		}
		return;
	case 'c':
	case 'C': {
		wide_text = f->force_wide || (!f->force_narrow && (conv == 'c') == format_wide);
		uint32_t v = va_arg(a->ap, uint32_t);
		uint16_t w[2] = {(uint16_t)v, 0};
		char c[2] = {(char)v, 0};
		long gap = f->width - 1;
		if (!f->minus) {
			pad(s, ' ', gap);
		}
		if (wide_text) {
			win_sink_utf16(s, w, 1);
		} else {
			win_sink_utf8(s, c, 1);
		}
		if (f->minus) {
			pad(s, ' ', gap);
		}
		return;
	}
	case 's':
	case 'S':
		wide_text = f->force_wide || (!f->force_narrow && (conv == 's') == format_wide);
		put_string(s, f, va_arg(a->ap, void *), wide_text);
		return;
	case 'Z': { /* ANSI_STRING, or UNICODE_STRING with w or l */
		const struct {
			uint16_t length, maximum;
			const void *buffer;
		} *t = va_arg(a->ap, void *);
		if (t && t->buffer) {
			int len = f->force_wide ? t->length / 2 : t->length;
			f->precision = f->precision >= 0 && f->precision < len ? f->precision : len;
			put_string(s, f, t->buffer, f->force_wide);
		} else {
			put_string(s, f, NULL, false);
		}
		return;
	}
	case 'n': /* switched off on Windows too */ (void)va_arg(a->ap, void *); return;
	default: /* %% and unknown ones print themselves */ win_sink_unit(s, conv);
	}
}

void win_format(struct win_sink *s, const void *format, bool format_wide, va_list ap)
{
	struct args a;
	struct reader r = {format, format_wide, 0};
	va_copy(a.ap, ap);
	while (peek(&r)) {
		size_t from = r.at;
		while (peek(&r) && peek(&r) != '%') {
			r.at++;
		}
		if (format_wide) {
			win_sink_utf16(s, (const uint16_t *)format + from, r.at - from);
		} else {
			win_sink_utf8(s, (const char *)format + from, r.at - from);
		}
		if (!peek(&r)) {
			break;
		}
		r.at++;
		struct spec f = {.precision = -1};
		read_flags(&r, &f);
		if (peek(&r) == '*') {
			r.at++;
			f.width = va_arg(a.ap, int);
			if (f.width < 0) {
				f.minus = true;
				f.width = f.width == INT32_MIN ? 0 : -f.width;
			}
		} else {
			f.width = read_int(&r);
		}
		if (peek(&r) == '.') {
			r.at++;
			if (peek(&r) == '*') {
				r.at++;
				f.precision = va_arg(a.ap, int);
			} else {
				f.precision = read_int(&r);
			}
		}
		read_size(&r, &f);
		if (!peek(&r)) {
			break;
		}
		uint16_t conv = peek(&r);
		r.at++;
		convert(s, &f, conv, format_wide, &a);
	}
	va_end(a.ap);
}
