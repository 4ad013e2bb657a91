/* SPDX-License-Identifier: MIT
 *
 * The text of a WPP message: %N!printf specification!, %!NAME!, %%. Numbers are printed here, not by
 * libc, since specifications come from a file.
 */
#include "schema/schema_out.h"
#include "schema/schema_store.h"
#include "schema/wpp.h"

#define WIDTH_MAX 1000u

const char *wpp_attribute(const struct schema_event *e, const char *name, size_t *ret_bytes)
{
	const char *s = schema_text(e, e->attributes);
	size_t n = strlen(name);
	while (*s) {
		size_t k = strcspn(s, ";");
		if (k > n && memcmp(s, name, n) == 0 && s[n] == '=') {
			*ret_bytes = k - n - 1;
			return s + n + 1;
		}
		s += k + (s[k] == ';');
	}
	*ret_bytes = 0;
	return "";
}

struct spec {
	bool left, zero, plus, space, alt, has_precision;
	unsigned width, precision;
	char conversion; /* 0: as the type says */
};

static unsigned read_number(const char **s, const char *end)
{
	unsigned n = 0;
	for (; *s < end && **s >= '0' && **s <= '9'; (*s)++) {
		n = n < WIDTH_MAX ? n * 10 + (unsigned)(**s - '0') : WIDTH_MAX;
	}
	return BASE_MIN(n, WIDTH_MAX);
}

/* Between the exclamation marks: flags, width, .precision, size, conversion. */
static struct spec read_spec(const char *s, const char *end)
{
	struct spec x = {0};
	for (; s < end; s++) {
		x.left |= *s == '-';
		x.zero |= *s == '0';
		x.plus |= *s == '+';
		x.space |= *s == ' ';
		x.alt |= *s == '#';
		if (!memchr("-0+ #", *s, 5)) {
			break;
		}
	}
	x.width = read_number(&s, end);
	if (s < end && *s == '.') {
		s++;
		x.has_precision = true;
		x.precision = read_number(&s, end);
	}
	x.conversion = end > s ? end[-1] : 0;
	return x;
}

static void add_padded(struct openetw_text *o, const struct spec *x, const char *s, size_t n)
{
	size_t pad = x->width > n ? x->width - n : 0;
	for (size_t i = 0; i < pad && !x->left; i++) {
		out_char(o, ' ');
	}
	out_add(o, s, n);
	for (size_t i = 0; i < pad && x->left; i++) {
		out_char(o, ' ');
	}
}

static void add_integer(struct openetw_text *o, const struct spec *x, uint64_t v, bool negative, unsigned base,
			const char *prefix)
{
	char digits[72], all[72 + WIDTH_MAX + 8];
	const char *set = x->conversion == 'X' || x->conversion == 'p' ? "0123456789ABCDEF" : "0123456789abcdef";
	size_t k = sizeof digits, n = 0;
	do {
		digits[--k] = set[v % base];
		v /= base;
	} while (v);
	size_t count = sizeof digits - k;
	if (negative || x->plus || x->space) {
		all[n++] = negative ? '-' : x->plus ? '+' : ' ';
	}
	size_t prefix_bytes = strlen(prefix);
	memcpy(all + n, prefix, prefix_bytes);
	n += prefix_bytes;
	size_t least = x->has_precision ? x->precision : x->zero && !x->left && x->width > n ? x->width - n : 0;
	for (size_t i = count; i < least; i++) {
		all[n++] = '0';
	}
	memcpy(all + n, digits + k, count);
	add_padded(o, x, all, n + count);
}

static bool is_integer(uint16_t in)
{
	return (in >= TDH_INTYPE_INT8 && in <= TDH_INTYPE_UINT64) || in == TDH_INTYPE_POINTER ||
	       in == TDH_INTYPE_HEXINT32 || in == TDH_INTYPE_HEXINT64 || in == TDH_INTYPE_SIZET ||
	       in == TDH_INTYPE_BOOLEAN;
}

static uint64_t integer_of(const struct schema_field *f, const struct schema_value *v, int64_t *ret_signed)
{
	uint64_t n = 0;
	memcpy(&n, v->p, BASE_MIN(v->bytes, 8u));
	unsigned shift = 64 - 8 * BASE_MIN(BASE_MAX(v->bytes, 1u), 8u);
	*ret_signed = (int64_t)(n << shift) >> shift;
	return n;
}

static void add_value(struct openetw_text *o, const struct spec *x, const struct schema_field *f,
		      const struct schema_value *v, unsigned pointer_size)
{
	uint32_t key;
	int64_t number = 0;
	struct openetw_text t = {0};
	uint64_t n = is_integer(f->in_type) ? integer_of(f, v, &number) : 0;
	bool named = f->bound && schema_value_u32(f->in_type, v->p, &key) && schema_map_text(f->bound, key, &t, NULL);
	if (!named && is_integer(f->in_type)) {
		struct spec pointer = *x;
		switch (x->conversion) {
		case 'd':
		case 'i':
			add_integer(o, x, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0, 10, "");
			return;
		case 'u': add_integer(o, x, n, false, 10, ""); return;
		case 'x':
		case 'X': add_integer(o, x, n, false, 16, x->alt && n ? "0x" : ""); return;
		case 'o': add_integer(o, x, n, false, 8, x->alt && n ? "0" : ""); return;
		case 'p':
			pointer.has_precision = true;
			pointer.precision = 2 * pointer_size;
			add_integer(o, &pointer, n, false, 16, "");
			return;
		case 'c':
			out_utf16(&t, (uint8_t[]){(uint8_t)n, (uint8_t)(v->bytes > 1 ? n >> 8 : 0)}, 1, false);
			named = true;
			break;
		default: break;
		}
	}
	bool code = f->out_type == TDH_OUTTYPE_NTSTATUS || f->out_type == TDH_OUTTYPE_HRESULT ||
		    f->out_type == TDH_OUTTYPE_WIN32ERROR;
	const char *symbol = !named && code && v->bytes == 4 ? schema_error_symbol(f->out_type, (uint32_t)n) : NULL;
	if (symbol) { /* "0xc0000022(STATUS_ACCESS_DENIED)" */
		schema_value_format(&t, SCHEMA_STYLE_PLAIN, f->in_type, f->out_type, v);
		out_char(&t, '(');
		out_str(&t, symbol);
		out_char(&t, ')');
	} else if (!named) {
		schema_value_format(&t, SCHEMA_STYLE_PLAIN, f->in_type, f->out_type, v);
	}
	size_t bytes = t.length;
	if (x->has_precision && x->conversion == 's' && bytes > x->precision) {
		bytes = x->precision;
		while (bytes && ((uint8_t)t.data[bytes] & 0xC0) == 0x80) {
			bytes--; /* not inside a character */
		}
	}
	if (t.failed) {
		o->failed = 1;
	} else {
		add_padded(o, x, t.data ? t.data : "", bytes);
	}
	openetw_text_free(&t);
}

/* %!FUNC! and its like */
static void add_named(struct openetw_text *o, const struct schema_event *e, const char *s, size_t n)
{
	char name[16];
	size_t bytes;
	if (n < sizeof name) {
		memcpy(name, s, n);
		name[n] = 0;
		const char *v = wpp_attribute(e, name, &bytes);
		out_add(o, v, bytes);
	}
}

int wpp_format(const struct schema_payload *p, struct openetw_text *o)
{
	const struct schema_event *e = p->event;
	struct schema_value values[MANIFEST_TMF_ARGS_MAX];
	uint32_t have = 0, count = BASE_MIN(e->top_count, MANIFEST_TMF_ARGS_MAX);
	const uint8_t *at = p->data, *end = p->data + p->bytes;
	for (; have < count; have++) {
		const struct schema_field *f = &e->fields[have];
		if (schema_value_read(f->in_type, f->out_type, f->length ? f->length : SCHEMA_NO_LENGTH,
				      p->pointer_size, at, (size_t)(end - at), &values[have]) < 0) {
			break;
		}
		at += values[have].consumed;
	}
	const char *s = schema_text(e, e->message), *stop = s + e->message.bytes;
	while (s < stop) {
		const char *percent = memchr(s, '%', (size_t)(stop - s));
		out_add(o, s, (size_t)((percent ? percent : stop) - s));
		if (!percent || percent + 1 >= stop) {
			break;
		}
		s = percent + 1;
		if (*s == '!') {
			const char *close = memchr(s + 1, '!', (size_t)(stop - s - 1));
			add_named(o, e, s + 1, (size_t)((close ? close : stop) - s - 1));
			s = close ? close + 1 : stop;
			continue;
		}
		if (*s < '0' || *s > '9') {
			out_char(o, *s == 'n' ? '\n' : *s == 't' ? '\t' : *s);
			s++;
			continue;
		}
		unsigned k = read_number(&s, stop);
		struct spec x = {0};
		if (s < stop && *s == '!') {
			const char *close = memchr(s + 1, '!', (size_t)(stop - s - 1));
			x = read_spec(s + 1, close ? close : stop);
			s = close ? close + 1 : stop;
		}
		if (k >= MANIFEST_TMF_FIRST_INSERT && k - MANIFEST_TMF_FIRST_INSERT < have) {
			k -= MANIFEST_TMF_FIRST_INSERT;
			add_value(o, &x, &e->fields[k], &values[k], p->pointer_size);
		} else if (k >= MANIFEST_TMF_FIRST_INSERT) {
			out_char(o, '?');
		}
	}
	if (p->ret_unread) {
		*p->ret_unread = (uint32_t)(end - at);
	}
	return have < count ? -EBADMSG : 0;
}
