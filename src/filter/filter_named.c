/* SPDX-License-Identifier: MIT */
#include "filter/filter_named.h"

#include "filter/filter_parse.h"

#include <errno.h>
#include <stdlib.h>

#define FILTER_HEAD    4u
#define PREDICATE_HEAD 20u
#define SCHEMA_DEPTH   8u

enum { NUMBER_SIGNED = 1, NUMBER_UNSIGNED = 2 };

/* Types of fields [doc]; low five bits. */
enum tlg_type {
	TLG_NULL,
	TLG_WIDE,
	TLG_NARROW,
	TLG_INT8,
	TLG_UINT8,
	TLG_INT16,
	TLG_UINT16,
	TLG_INT32,
	TLG_UINT32,
	TLG_INT64,
	TLG_UINT64,
	TLG_FLOAT,
	TLG_DOUBLE,
	TLG_BOOL32,
	TLG_BINARY,
	TLG_GUID,
	TLG_POINTER,
	TLG_FILETIME,
	TLG_SYSTEMTIME,
	TLG_SID,
	TLG_HEXINT32,
	TLG_HEXINT64,
	TLG_COUNTED_WIDE,
	TLG_COUNTED_NARROW,
	TLG_STRUCT,
	TLG_COUNTED_BINARY,
	TLG_TYPES,
};
enum { TLG_COUNT = 0x60, TLG_FIXED = 0x20, TLG_VARIABLE = 0x40, TLG_CUSTOM = 0x60, TLG_CHAIN = 0x80 };

/* ---- writing ---------------------------------------------------------------------------------- */

/* The whole number that the text is, and the types of fields that can have it. */
static bool one_number(const char *s, size_t n, uint64_t *ret, uint8_t *inout_kinds)
{
	struct filter_number x = filter_number_of(s, n);
	if (!x.is_int || (x.negative && x.magnitude > (uint64_t)INT64_MAX + 1)) {
		*inout_kinds = 0;
		return false;
	}
	*ret = x.negative ? 0 - x.magnitude : x.magnitude;
	*inout_kinds &= x.negative                ? NUMBER_SIGNED
			: x.magnitude > INT64_MAX ? NUMBER_UNSIGNED
						  : NUMBER_SIGNED | NUMBER_UNSIGNED;
	return true;
}

static int put_condition(uint8_t *out, size_t cap, size_t *inout_at, const struct filter_named_condition *c,
			 struct diag *d)
{
	size_t field = strlen(c->field), text = strlen(c->value), at = *inout_at;
	uint8_t kinds = NUMBER_SIGNED | NUMBER_UNSIGNED;
	uint64_t low = 0, high = 0;
	bool interval = c->op == FILTER_BETWEEN || c->op == FILTER_NOTBETWEEN;
	if (d && d->text[0] == 0) {
		d->column = c->column;
	}
	if (field == 0 || field >= FILTER_NAMED_TEXT_MAX || text >= FILTER_NAMED_TEXT_MAX) {
		diag_at(d, UINT64_MAX, "a field's name or value is empty or longer than 255 bytes");
		return -EINVAL;
	}
	const char *comma = interval ? strchr(c->value, ',') : NULL;
	one_number(c->value, comma ? (size_t)(comma - c->value) : text, &low, &kinds);
	if (comma) {
		one_number(comma + 1, strlen(comma + 1), &high, &kinds);
	}
	bool needs_number = c->op != FILTER_EQ && c->op != FILTER_NE && c->op <= FILTER_MODULO;
	if (needs_number && (kinds == 0 || (interval && !comma))) {
		diag_at(d, UINT64_MAX, "'%s' is no whole number%s", c->value, interval ? "s low,high" : "");
		return -EINVAL;
	}
	if (c->op == FILTER_MODULO && low == 0) {
		diag_at(d, UINT64_MAX, "nothing can be divided by 0");
		return -EINVAL;
	}
	if (at + PREDICATE_HEAD + field + 1 + text > cap) {
		diag_at(d, UINT64_MAX, "the filters are larger than %u bytes together", FILTER_BYTES_MAX);
		return -ENOSPC;
	}
	out[at] = c->op;
	out[at + 1] = kinds;
	le16_put(out + at + 2, (uint16_t)text);
	le64_put(out + at + 4, low);
	le64_put(out + at + 12, high);
	at += PREDICATE_HEAD;
	memcpy(out + at, c->field, field + 1);
	at += field + 1;
	memcpy(out + at, c->value, text);
	*inout_at = at + text;
	if (d && d->text[0] == 0) {
		d->column = 0;
	}
	return 0;
}

int filter_named_add(uint8_t out[FILTER_BYTES_MAX], size_t *inout_bytes, const struct guid *provider, const char *event,
		     bool any, const struct filter_named_condition *c, size_t count, struct diag *d)
{
	size_t start = *inout_bytes ? *inout_bytes : FILTER_HEAD_BYTES;
	size_t name = strlen(event), at = start + FILTER_HEAD + name + 1;
	if (name == 0 || name >= FILTER_NAMED_TEXT_MAX || count == 0 || count > FILTER_PREDICATES_MAX) {
		diag_at(d, UINT64_MAX, "a filter has an event's name and 1 to %u conditions", FILTER_PREDICATES_MAX);
		return -EINVAL;
	}
	if (at > FILTER_BYTES_MAX) {
		diag_at(d, UINT64_MAX, "the filters are larger than %u bytes together", FILTER_BYTES_MAX);
		return -ENOSPC;
	}
	out[start + 2] = any ? FILTER_ANY : 0;
	out[start + 3] = (uint8_t)count;
	memcpy(out + start + FILTER_HEAD, event, name + 1);
	for (size_t i = 0; i < count; i++) {
		int err = put_condition(out, FILTER_BYTES_MAX, &at, &c[i], d);
		if (err < 0) {
			return err;
		}
	}
	le16_put(out + start, (uint16_t)(at - start));
	uint16_t filters = *inout_bytes ? le16_get(out + 6) : 0;
	le32_put(out, FILTER_NAMED_MAGIC);
	le16_put(out + 4, FILTER_FORMAT);
	le16_put(out + 6, (uint16_t)(filters + 1));
	le32_put(out + 8, (uint32_t)at);
	le32_put(out + 12, 0);
	memcpy(out + 16, provider->b, 16);
	*inout_bytes = at;
	return filter_named_check(out, at, NULL, d);
}

/* ---- checking --------------------------------------------------------------------------------- */

static bool operator_known(uint8_t op)
{
	return op <= FILTER_MODULO || op == FILTER_CONTAINS || op == FILTER_DOESNTCONTAIN || op == FILTER_IS ||
	       op == FILTER_ISNOT;
}

static const char *check_filter(struct bytes *all)
{
	struct bytes b = *all;
	size_t bytes = bytes_u16(&b), len;
	struct bytes f = bytes_of(all->p, bytes_left(all) < bytes ? 0 : bytes);
	bytes_u16(&f);
	uint8_t flags = bytes_u8(&f), predicates = bytes_u8(&f);
	const char *name = bytes_asz(&f, &len);
	if (f.bad || !name || len == 0) {
		return "a filter ends early";
	}
	if ((flags & ~FILTER_ANY) || predicates == 0 || predicates > FILTER_PREDICATES_MAX) {
		return "a filter has unknown flags or a wrong number of predicates";
	}
	for (uint8_t i = 0; i < predicates; i++) {
		uint8_t op = bytes_u8(&f), kinds = bytes_u8(&f);
		uint16_t text = bytes_u16(&f);
		uint64_t low = bytes_u64(&f);
		bytes_u64(&f);
		const char *field = bytes_asz(&f, &len);
		bytes_take(&f, text);
		if (f.bad || !field || len == 0) {
			return "a predicate ends early";
		}
		if (!operator_known(op) || (kinds & ~(NUMBER_SIGNED | NUMBER_UNSIGNED)) ||
		    (op == FILTER_MODULO && low == 0)) {
			return "a predicate has an unknown operator or a value it cannot have";
		}
	}
	if (bytes_left(&f) != 0) {
		return "a filter is longer than what is in it";
	}
	bytes_take(all, bytes);
	return NULL;
}

int filter_named_check(const void *blob, size_t n, struct guid *ret_provider, struct diag *d)
{
	const uint8_t *p = blob;
	const char *why = NULL;
	if (n < FILTER_HEAD_BYTES || n > FILTER_BYTES_MAX || le32_get(p) != FILTER_NAMED_MAGIC ||
	    le16_get(p + 4) != FILTER_FORMAT || le32_get(p + 8) != n || le32_get(p + 12) != 0 || le16_get(p + 6) == 0) {
		why = "no filter by names, or of another version";
	}
	struct bytes b = bytes_of(p + FILTER_HEAD_BYTES, why ? 0 : n - FILTER_HEAD_BYTES);
	for (uint16_t i = why ? 0 : le16_get(p + 6); i > 0 && !why; i--) {
		why = check_filter(&b);
	}
	if (!why && bytes_left(&b) != 0) {
		why = "there is something behind the last filter";
	}
	if (why) {
		diag_at(d, UINT64_MAX, "%s", why);
		return -EINVAL;
	}
	if (ret_provider) {
		memcpy(ret_provider->b, p + 16, 16);
	}
	return 0;
}

/* ---- values ----------------------------------------------------------------------------------- */

struct run {
	struct bytes payload;
	uint32_t work;
};

static bool is_signed(uint8_t type)
{
	return type == TLG_INT8 || type == TLG_INT16 || type == TLG_INT32 || type == TLG_INT64;
}

/* Bytes of a value of fixed size; 0: it says so itself. */
static size_t fixed_size(uint8_t type)
{
	static const uint8_t sizes[TLG_TYPES] = {
		[TLG_INT8] = 1,     [TLG_UINT8] = 1,    [TLG_INT16] = 2,   [TLG_UINT16] = 2,   [TLG_INT32] = 4,
		[TLG_UINT32] = 4,   [TLG_INT64] = 8,    [TLG_UINT64] = 8,  [TLG_FLOAT] = 4,    [TLG_DOUBLE] = 8,
		[TLG_BOOL32] = 4,   [TLG_GUID] = 16,    [TLG_POINTER] = 8, [TLG_FILETIME] = 8, [TLG_SYSTEMTIME] = 16,
		[TLG_HEXINT32] = 4, [TLG_HEXINT64] = 8,
	};
	return type < TLG_TYPES ? sizes[type] : 0;
}

/* One value; false: the payload or the metadata makes no sense. */
static bool take_value(struct run *r, uint8_t type, const uint8_t **ret, size_t *ret_n)
{
	struct bytes *b = &r->payload;
	size_t n = fixed_size(type);
	switch (type) {
	case TLG_NULL: break;
	case TLG_WIDE:
		while (n + 2 <= bytes_left(b) && le16_get(b->p + n) != 0) {
			n += 2;
		}
		*ret = b->p;
		*ret_n = n;
		bytes_take(b, BASE_MIN(n + 2, bytes_left(b)));
		return true;
	case TLG_NARROW: {
		const uint8_t *nul = bytes_left(b) ? memchr(b->p, 0, bytes_left(b)) : NULL;
		n = nul ? (size_t)(nul - b->p) : bytes_left(b);
		*ret = b->p;
		*ret_n = n;
		bytes_take(b, n + (nul != NULL));
		return true;
	}
	case TLG_BINARY:
	case TLG_COUNTED_WIDE:
	case TLG_COUNTED_NARROW:
	case TLG_COUNTED_BINARY: n = bytes_u16(b); break;
	case TLG_SID: n = bytes_left(b) >= 2 ? 8 + 4 * (size_t)b->p[1] : SIZE_MAX; break;
	default:
		if (n == 0) {
			return false;
		}
	}
	*ret = bytes_take(b, n);
	*ret_n = n;
	return !b->bad && (*ret || n == 0);
}

/* ---- metadata --------------------------------------------------------------------------------- */

struct field {
	const char *name;
	size_t name_len;
	uint8_t in, members;
	uint16_t count; /* TLG_FIXED */
};

static bool next_field(struct bytes *m, struct field *f)
{
	uint8_t out = 0;
	*f = (struct field){.count = 1};
	f->name = bytes_asz(m, &f->name_len);
	f->in = bytes_u8(m);
	if (f->in & TLG_CHAIN) {
		out = bytes_u8(m);
		for (int i = 0; (out & TLG_CHAIN) && i < 4 && (bytes_u8(m) & 0x80); i++) {
		}
	}
	f->members = out & 0x7F;
	uint8_t how = f->in & TLG_COUNT;
	if (how == TLG_FIXED) {
		f->count = bytes_u16(m);
	} else if (how == TLG_CUSTOM) {
		bytes_take(m, bytes_u16(m));
	}
	return !m->bad && f->name;
}

/* Past the members of a struct, in the metadata only. */
static bool skip_members(struct run *r, struct bytes *m, unsigned members, unsigned depth)
{
	struct field f;
	for (; members > 0; members--) {
		if (depth > SCHEMA_DEPTH || r->work == 0 || !next_field(m, &f)) {
			return false;
		}
		r->work--;
		if ((f.in & TLG_COUNT) != TLG_CUSTOM && (f.in & 0x1F) == TLG_STRUCT &&
		    !skip_members(r, m, f.members, depth + 1)) {
			return false;
		}
	}
	return true;
}

static bool skip_values(struct run *r, struct bytes *m, const struct field *f, unsigned depth);

/* All members of one element. */
static bool walk_members(struct run *r, struct bytes *m, unsigned members, unsigned depth)
{
	struct field f;
	for (; members > 0; members--) {
		if (depth > SCHEMA_DEPTH || !next_field(m, &f) || !skip_values(r, m, &f, depth)) {
			return false;
		}
	}
	return true;
}

/* Past a field's values in the payload, and a struct's members in the metadata. */
static bool skip_values(struct run *r, struct bytes *m, const struct field *f, unsigned depth)
{
	uint8_t how = f->in & TLG_COUNT, type = f->in & 0x1F;
	uint32_t count = how == TLG_VARIABLE ? bytes_u16(&r->payload) : f->count;
	if (how == TLG_CUSTOM) {
		type = TLG_BINARY;
		count = 1;
	}
	struct bytes members = *m;
	if (type == TLG_STRUCT && !skip_members(r, m, f->members, depth)) {
		return false;
	}
	size_t size = type == TLG_STRUCT ? 0 : fixed_size(type);
	if (size > 0) { /* at once: nothing looks at them */
		bytes_take(&r->payload, size * count);
		count = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p;
		size_t n;
		if (r->work == 0) {
			return false;
		}
		r->work--;
		if (type == TLG_STRUCT) {
			struct bytes again = members;
			if (!walk_members(r, &again, f->members, depth + 1)) {
				return false;
			}
		} else if (!take_value(r, type, &p, &n)) {
			return false;
		}
	}
	return !r->payload.bad;
}

/* ---- predicates ------------------------------------------------------------------------------- */

struct predicate {
	uint8_t op, kinds;
	uint64_t low, high;
	const char *field;
	size_t field_len;
	const uint8_t *text;
	size_t text_len;
};

static void next_predicate(struct bytes *b, struct predicate *p)
{
	p->op = bytes_u8(b);
	p->kinds = bytes_u8(b);
	p->text_len = bytes_u16(b);
	p->low = bytes_u64(b);
	p->high = bytes_u64(b);
	p->field = bytes_asz(b, &p->field_len);
	p->text = bytes_take(b, p->text_len);
}

static bool compare(const struct predicate *p, uint8_t type, const uint8_t *v, size_t n)
{
	bool sign = is_signed(type);
	uint64_t x = 0, turn = sign ? 1ull << 63 : 0;
	if (!(p->kinds & (sign ? NUMBER_SIGNED : NUMBER_UNSIGNED))) {
		/* No such value is ever equal to it. */
		return p->op == FILTER_NE || p->op == FILTER_ISNOT;
	}
	for (size_t i = n; i > 0; i--) {
		x = x << 8 | v[i - 1];
	}
	unsigned unused = 64 - 8 * (unsigned)n;
	if (sign) {
		x = (uint64_t)((int64_t)(x << unused) >> unused);
	}
	uint64_t a = x ^ turn, low = p->low ^ turn, high = p->high ^ turn;
	switch (p->op) {
	case FILTER_EQ:
	case FILTER_IS: return a == low;
	case FILTER_NE:
	case FILTER_ISNOT: return a != low;
	case FILTER_LE: return a <= low;
	case FILTER_GT: return a > low;
	case FILTER_LT: return a < low;
	case FILTER_GE: return a >= low;
	case FILTER_BETWEEN: return a >= low && a <= high;
	case FILTER_NOTBETWEEN: return a < low || a > high;
	case FILTER_MODULO:
		/* INT64_MIN % -1 traps on some machines. */
		return sign ? p->low == UINT64_MAX || (int64_t)x % (int64_t)p->low == 0 : x % p->low == 0;
	default: return false;
	}
}

/* 1 found, 0 not, -1 too much work. */
static int contains(struct run *r, const uint8_t *v, size_t n, size_t unit, const uint8_t *s, size_t m)
{
	for (size_t i = 0; i + m <= n; i += unit) {
		if (m == 0 || memcmp(v + i, s, m) == 0) {
			return 1;
		}
		uint32_t cost = 1 + (uint32_t)(m / 16);
		if (r->work < cost) {
			return -1;
		}
		r->work -= cost;
	}
	return m == 0;
}

static bool text_holds(struct run *r, const struct predicate *p, bool wide, const uint8_t *v, size_t n)
{
	uint16_t units[FILTER_NAMED_TEXT_MAX];
	const uint8_t *s = p->text;
	size_t m = p->text_len, unit = wide ? 2 : 1;
	if (wide) {
		long k = m < FILTER_NAMED_TEXT_MAX
				 ? utf8_to_utf16((const char *)p->text, m, units, BASE_ARRAY_LEN(units))
				 : -1;
		if (k < 0 || (size_t)k >= BASE_ARRAY_LEN(units)) {
			return false;
		}
		s = (const uint8_t *)units;
		m = 2 * (size_t)k;
	}
	bool same = n == m && (m == 0 || memcmp(v, s, m) == 0);
	switch (p->op) {
	case FILTER_EQ:
	case FILTER_IS: return same;
	case FILTER_NE:
	case FILTER_ISNOT: return !same;
	case FILTER_CONTAINS: return contains(r, v, n, unit, s, m) == 1;
	case FILTER_DOESNTCONTAIN: return contains(r, v, n, unit, s, m) == 0;
	default: return false;
	}
}

static bool holds(struct run *r, const struct predicate *p, uint8_t type, const uint8_t *v, size_t n)
{
	switch (type) {
	case TLG_WIDE:
	case TLG_COUNTED_WIDE: return text_holds(r, p, true, v, n & ~(size_t)1);
	case TLG_NARROW:
	case TLG_COUNTED_NARROW: return text_holds(r, p, false, v, n);
	case TLG_NULL:
	case TLG_FLOAT:
	case TLG_DOUBLE:
	case TLG_GUID:
	case TLG_SYSTEMTIME:
	case TLG_SID:
	case TLG_BINARY:
	case TLG_COUNTED_BINARY: return false;
	default: return compare(p, type, v, n);
	}
}

/* One predicate: the field is looked for from the start. */
static bool predicate_holds(struct run *r, const struct predicate *p, struct bytes m, const uint8_t *payload,
			    size_t bytes)
{
	struct field f;
	r->payload = bytes_of(payload, bytes);
	while (bytes_left(&m) > 0 && next_field(&m, &f)) {
		uint8_t type = f.in & 0x1F;
		bool plain = (f.in & TLG_COUNT) == 0 && type != TLG_STRUCT;
		if (plain && f.name_len == p->field_len && memcmp(f.name, p->field, f.name_len) == 0) {
			const uint8_t *v;
			size_t n;
			return take_value(r, type, &v, &n) && holds(r, p, type, v, n);
		}
		if (!skip_values(r, &m, &f, 0)) {
			return false;
		}
	}
	return false;
}

bool filter_named_passes(const uint8_t *blob, const uint8_t *schema, size_t schema_bytes, const uint8_t *payload,
			 size_t bytes)
{
	struct bytes m = bytes_of(schema, schema_bytes), f;
	struct run r = {.work = FILTER_WORK_MAX};
	size_t name_len = 0, len;
	bytes_u16(&m);
	for (int i = 0; i < 4 && (bytes_u8(&m) & 0x80); i++) {
	}
	const char *name = bytes_asz(&m, &name_len);
	if (!name || m.bad) {
		return true; /* not named by anything */
	}
	bool named = false;
	const uint8_t *at = blob + FILTER_HEAD_BYTES;
	for (uint16_t n = le16_get(blob + 6); n > 0; n--, at += le16_get(at)) {
		f = bytes_of(at, le16_get(at));
		bytes_u16(&f);
		bool any = bytes_u8(&f) & FILTER_ANY, ok = !any;
		uint8_t predicates = bytes_u8(&f);
		const char *event = bytes_asz(&f, &len);
		if (!event || len != name_len || memcmp(event, name, len) != 0) {
			continue;
		}
		named = true;
		for (; predicates > 0 && ok != any; predicates--) {
			struct predicate p;
			next_predicate(&f, &p);
			ok = predicate_holds(&r, &p, m, payload, bytes);
		}
		if (ok) {
			return true;
		}
	}
	return !named;
}
