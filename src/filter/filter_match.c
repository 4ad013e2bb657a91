/* SPDX-License-Identifier: MIT
 *
 * A filter's tree against one event.
 */
#include "filter/filter_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define NUMBER_MAX  64     /* characters in a number */
#define SEVERAL_MAX 65536u /* frames, fields */

/* ---- values ---------------------------------------------------------------------------------- */

struct filter_number filter_number_of(const char *s, size_t n)
{
	struct filter_number r = {0};
	char text[NUMBER_MAX], *end;
	if (n == 0 || n >= sizeof text || isspace((unsigned char)*s)) {
		return r;
	}
	memcpy(text, s, n);
	text[n] = 0;
	const char *digits = text + (text[0] == '-' || text[0] == '+');
	if (!isdigit((unsigned char)*digits) && *digits != '.') {
		return r; /* strtod would take "nan" and "inf" */
	}
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	errno = 0;
	r.magnitude = strtoull(digits, &end, hex ? 16 : 10);
	if (*end == 0 && errno == 0 && end != digits) {
		r.valid = r.is_int = true;
		r.negative = text[0] == '-' && r.magnitude != 0;
		r.real = r.negative ? -(double)r.magnitude : (double)r.magnitude;
		return r;
	}
	double real = hex ? 0 : strtod(text, &end);
	bool valid = !hex && *end == 0;
	return valid ? (struct filter_number){.valid = true, .real = real} : (struct filter_number){0};
}

int filter_number_compare(const struct filter_number *a, const struct filter_number *b)
{
	if (!a->is_int || !b->is_int) {
		return a->real < b->real ? -1 : a->real > b->real;
	}
	if (a->negative != b->negative) {
		return a->negative ? -1 : 1;
	}
	int order = a->magnitude < b->magnitude ? -1 : a->magnitude > b->magnitude;
	return a->negative ? -order : order;
}

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool contains(const char *text, size_t n, const char *part)
{
	size_t m = strlen(part);
	for (size_t i = 0; i + m <= n; i++) {
		size_t k = 0;
		while (k < m && fold(text[i + k]) == fold(part[k])) {
			k++;
		}
		if (k == m) {
			return true;
		}
	}
	return false;
}

bool filter_expr_pattern(const char *pattern, const char *text, size_t n)
{
	if (!strpbrk(pattern, "*?")) {
		return contains(text, n, pattern);
	}
	/* One position to come back to is enough: a later star absorbs what an earlier one would. */
	const char *star = NULL;
	size_t i = 0, back = 0;
	while (i < n) {
		if (*pattern == '*') {
			star = ++pattern;
			back = i;
		} else if (*pattern && (*pattern == '?' || fold(*pattern) == fold(text[i]))) {
			pattern++;
			i++;
		} else if (star) {
			pattern = star;
			i = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*') {
		pattern++;
	}
	return *pattern == 0;
}

bool filter_expr_event_is(const char *wanted, const char *text, size_t n)
{
	size_t m = strlen(wanted);
	if (n > m && text[n - m - 1] == '/') {
		text += n - m;
		n = m;
	}
	return n == m && strncasecmp(text, wanted, n) == 0;
}

bool filter_expr_frame_is(const char *wanted, const char *text, size_t n)
{
	const char *bang = memchr(text, '!', n), *wants = strchr(wanted, '!'), *dot;
	if (filter_expr_pattern(wanted, text, n)) {
		return true;
	}
	/* "ntdll!Rtl*" for a frame of ntdll.dll, "libc!malloc" for one of libc.so.6 */
	if (!bang || !wants || memchr(wanted, '.', (size_t)(wants - wanted))) {
		return false;
	}
	dot = memchr(text, '.', (size_t)(bang - text));
	char shorter[512];
	size_t module = dot ? (size_t)(dot - text) : 0, rest = n - (size_t)(bang - text);
	if (!dot || module + rest > sizeof shorter) {
		return false;
	}
	memcpy(shorter, text, module);
	memcpy(shorter + module, bang, rest);
	return filter_expr_pattern(wanted, shorter, module + rest);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

bool filter_node_literal(const struct filter_node *n, const char **ret_text, size_t *ret_bytes)
{
	size_t best = 0;
	if (n->type != FILTER_NODE_TEST || n->property != FILTER_PROPERTY_TEXT || n->test != FILTER_TEST_HAS) {
		return false;
	}
	*ret_text = n->value;
	for (const char *s = n->value; *s;) {
		size_t part = strcspn(s, "*?");
		if (part > best) {
			best = part;
			*ret_text = s;
		}
		s += part + (s[part] != 0);
	}
	*ret_bytes = best;
	return true;
}

static bool contain(const uint8_t *bytes, size_t n, const uint8_t *part, size_t m)
{
	for (size_t i = 0; i + m <= n; i++) {
		size_t k = 0;
		while (k < m && fold((char)bytes[i + k]) == fold((char)part[k])) {
			k++;
		}
		if (k == m) {
			return true;
		}
	}
	return false;
}

bool filter_bytes_contain(const void *bytes, size_t n, const char *text, size_t text_bytes)
{
	uint16_t wide[256];
	uint8_t utf16[512];
	if (contain(bytes, n, (const uint8_t *)text, text_bytes)) {
		return true;
	}
	/* A longer one is searched for by its beginning, which the decoded text then confirms. */
	size_t take = BASE_MIN(text_bytes, BASE_ARRAY_LEN(wide) - 1);
	while (take < text_bytes && take > 0 && ((unsigned char)text[take] & 0xC0) == 0x80) {
		take--;
	}
	long units = utf8_to_utf16(text, take, wide, BASE_ARRAY_LEN(wide));
	for (long i = 0; i < units; i++) {
		le16_put(utf16 + 2 * i, wide[i]);
	}
	return units >= 0 && contain(bytes, n, utf16, 2 * (size_t)units);
}

static bool part_has(const char *pattern, const uint8_t *bytes, size_t units, size_t unit, struct strbuf *scratch)
{
	if (unit == 1) {
		return filter_expr_pattern(pattern, (const char *)bytes, units);
	}
	strbuf_clear(scratch);
	if (!strbuf_room(scratch, 3 * units)) {
		return false;
	}
	long n = utf16_to_utf8_lossy(bytes, units, scratch->s, 3 * units + 1);
	return n >= 0 && filter_expr_pattern(pattern, scratch->s, (size_t)n);
}

static bool any_part_has(const char *pattern, const uint8_t *bytes, size_t units, size_t unit, struct strbuf *scratch)
{
	size_t from = 0;
	for (size_t i = 0; i <= units; i++) {
		if (i < units && (bytes[i * unit] || bytes[i * unit + unit - 1])) {
			continue;
		}
		if (part_has(pattern, bytes + from * unit, i - from, unit, scratch)) {
			return true;
		}
		from = i + 1;
	}
	return false;
}

bool filter_bytes_have(const struct filter_node *n, const void *bytes, size_t count, struct strbuf *scratch)
{
	const uint8_t *p = bytes;
	return any_part_has(n->value, p, count, 1, scratch) || any_part_has(n->value, p, count / 2, 2, scratch) ||
	       (count > 1 && any_part_has(n->value, p + 1, (count - 1) / 2, 2, scratch));
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int text_compare(const struct filter_node *n, const char *wanted, const struct filter_expr_value *v)
{
	size_t m = strlen(wanted);
	if (n->event && filter_expr_event_is(wanted, v->text, v->length)) {
		return 0;
	}
	size_t common = BASE_MIN(m, v->length);
	int order = common == 0 ? 0
		    : n->nocase ? strncasecmp(v->text, wanted, common)
				: memcmp(v->text, wanted, common);
	return order ? order : v->length < m ? -1 : v->length > m;
}

/* The event's value against one of the test's. False: they cannot be compared. */
static bool compare(const struct filter_node *n, const char *wanted, const struct filter_number *number,
		    const struct filter_expr_value *v, const struct filter_number *x, int *ret_order)
{
	if (x->valid && number->valid) {
		*ret_order = filter_number_compare(x, number);
		return true;
	}
	if (v->text) {
		*ret_order = text_compare(n, wanted, v);
	}
	return v->text != NULL;
}

static bool test_number(const struct filter_node *n, const struct filter_expr_value *v)
{
	struct filter_number x = v->is_number ? (struct filter_number){.valid = true,
								       .is_int = true,
								       .magnitude = v->number,
								       .real = (double)v->number}
					      : filter_number_of(v->text, v->length);
	int order, high;
	if (n->test == FILTER_TEST_BITS) {
		/* negative numbers have the bits of two's complement */
		uint64_t a = x.negative ? -x.magnitude : x.magnitude;
		uint64_t b = n->number.negative ? -n->number.magnitude : n->number.magnitude;
		return x.is_int && (a & b) != 0;
	}
	if (n->test == FILTER_TEST_DIVISIBLE) {
		return x.is_int && x.magnitude % n->number.magnitude == 0;
	}
	if (n->number.unit > FILTER_UNIT_DURATION && !n->number.valid) {
		return false; /* nobody said when the trace starts */
	}
	if (!compare(n, n->value, &n->number, v, &x, &order)) {
		return n->test == FILTER_TEST_NE;
	}
	switch (n->test) {
	case FILTER_TEST_EQ: return order == 0;
	case FILTER_TEST_NE: return order != 0;
	case FILTER_TEST_LT: return order < 0;
	case FILTER_TEST_LE: return order <= 0;
	case FILTER_TEST_GT: return order > 0;
	case FILTER_TEST_BETWEEN:
	case FILTER_TEST_OUTSIDE:
		return compare(n, n->high, &n->high_number, v, &x, &high) &&
		       (order >= 0 && high <= 0) == (n->test == FILTER_TEST_BETWEEN);
	default: return order >= 0;
	}
}

static bool accepts(const struct filter_regex_engine *engine, const struct filter_node *n,
		    const struct filter_expr_value *value)
{
	struct filter_expr_value v = *value;
	if (n->type == FILTER_NODE_HAS) {
		return true;
	}
	if (n->test < FILTER_TEST_REGEX && n->test != FILTER_TEST_LIKE && n->test != FILTER_TEST_NOT_LIKE) {
		return test_number(n, &v);
	}
	char digits[24];
	if (!v.text) {
		v.length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)v.number);
		v.text = digits;
	}
	if (n->test == FILTER_TEST_HAS && n->property == FILTER_PROPERTY_STACK) {
		return filter_expr_frame_is(n->value, v.text, v.length);
	}
	if (n->test == FILTER_TEST_REGEX || n->test == FILTER_TEST_NOT_REGEX) {
		int r = n->regex ? engine->match(n->regex, v.text, v.length) : -ENOTSUP;
		return r >= 0 && (r > 0) == (n->test == FILTER_TEST_REGEX);
	}
	return filter_expr_pattern(n->value, v.text, v.length) == (n->test != FILTER_TEST_NOT_LIKE);
}

bool filter_node_accepts(const struct filter_expr *f, const struct filter_node *n, const struct filter_expr_value *v)
{
	return accepts(f->engine, n, v);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static enum filter_truth test(const struct filter_expr *f, const struct filter_node *n,
			      filter_expr_try_lookup_fn *lookup, void *ctx)
{
	bool several = n->property == FILTER_PROPERTY_STACK || n->property == FILTER_PROPERTY_TEXT;
	struct filter_expr_value v;
	for (uint32_t i = 0; i == 0 || (several && i < SEVERAL_MAX); i++) {
		v = (struct filter_expr_value){.index = i};
		switch (lookup(ctx, n, &v)) {
		case FILTER_VALUE_ABSENT: return FILTER_NO;
		case FILTER_VALUE_PRESENT: break;
		default: return FILTER_UNKNOWN;
		}
		if (accepts(f->engine, n, &v)) {
			return FILTER_YES;
		}
	}
	return FILTER_NO;
}

enum filter_truth filter_expr_try_part(const struct filter_expr *f, uint32_t part, filter_expr_try_lookup_fn *lookup,
				       void *ctx)
{
	const struct filter_node *n = &f->nodes[part];
	enum filter_truth left, right, decides = n->type == FILTER_NODE_OR ? FILTER_YES : FILTER_NO;
	switch (n->type) {
	case FILTER_NODE_AND:
	case FILTER_NODE_OR:
		left = filter_expr_try_part(f, n->left, lookup, ctx);
		if (left == decides) {
			return left;
		}
		right = filter_expr_try_part(f, n->right, lookup, ctx);
		return right == decides || left != FILTER_UNKNOWN ? right : left;
	case FILTER_NODE_NOT:
		left = filter_expr_try_part(f, n->left, lookup, ctx);
		return left == FILTER_UNKNOWN ? left : left == FILTER_NO ? FILTER_YES : FILTER_NO;
	default: return test(f, n, lookup, ctx);
	}
}

enum filter_truth filter_expr_try(const struct filter_expr *f, filter_expr_try_lookup_fn *lookup, void *ctx)
{
	return filter_expr_try_part(f, f->root, lookup, ctx);
}

struct by_name {
	filter_expr_lookup_fn *lookup;
	void *ctx;
};

static enum filter_answer look_up_name(void *ctx, const struct filter_node *n, struct filter_expr_value *ret)
{
	const struct by_name *b = ctx;
	/* What is called "text" and is no term is a field. */
	bool payload = n->payload || (n->property == FILTER_PROPERTY_FIELD && strcmp(n->name, "text") == 0);
	return b->lookup(b->ctx, n->name, payload, ret) ? FILTER_VALUE_PRESENT : FILTER_VALUE_ABSENT;
}

bool filter_expr_match(const struct filter_expr *f, filter_expr_lookup_fn *lookup, void *ctx)
{
	struct by_name b = {lookup, ctx};
	return filter_expr_try(f, look_up_name, &b) == FILTER_YES;
}

/* ---- for engines ----------------------------------------------------------------------------- */

static void split(const struct filter_expr *f, uint32_t at, uint32_t *parts, size_t *inout_count, size_t max)
{
	const struct filter_node *n = &f->nodes[at];
	/* Whatever is on the right takes one place at least. */
	if (n->type == FILTER_NODE_AND && *inout_count + 1 < max) {
		split(f, n->left, parts, inout_count, max - 1);
		split(f, n->right, parts, inout_count, max);
	} else {
		parts[(*inout_count)++] = at;
	}
}

size_t filter_expr_conjuncts(const struct filter_expr *f, uint32_t ret_parts[FILTER_CONJUNCTS_MAX])
{
	size_t count = 0;
	split(f, f->root, ret_parts, &count, FILTER_CONJUNCTS_MAX);
	return count;
}

uint32_t filter_expr_asks(const struct filter_expr *f, uint32_t part)
{
	const struct filter_node *n = &f->nodes[part];
	switch (n->type) {
	case FILTER_NODE_AND:
	case FILTER_NODE_OR: return filter_expr_asks(f, n->left) | filter_expr_asks(f, n->right);
	case FILTER_NODE_NOT: return filter_expr_asks(f, n->left);
	default: return 1u << n->property;
	}
}
