/* SPDX-License-Identifier: MIT
 * A checked blob against one event. The payload is walked once for each filter that names the
 * event; what the blob promises about itself was checked, what the payload holds was not.
 */
#include "filter/filter_payload.h"

struct run {
	const uint8_t *fields;
	const uint8_t *p, *end;
	const uint8_t *next; /* predicate to come */
	uint16_t predicates; /* that are left */
	unsigned pointer_size;
	uint32_t work;
	bool any, result, decided;
	uint16_t number[FILTER_FIELDS_MAX]; /* by field; saturated at 0xFFFF as TDH does */
};

struct value {
	const uint8_t *p;
	size_t bytes;
};

/* ---- values ---------------------------------------------------------------------------------- */

static bool take(struct run *r, size_t prefix, size_t bytes, struct value *ret)
{
	size_t left = (size_t)(r->end - r->p);
	if (left < prefix || left - prefix < bytes) {
		return false;
	}
	*ret = (struct value){r->p + prefix, bytes};
	r->p += prefix + bytes;
	return true;
}

/* A sized string may be padded with NULs; its text ends at the first. */
static void cut_at_nul(struct value *v, unsigned unit)
{
	for (size_t i = 0; i + unit <= v->bytes; i += unit) {
		if (v->p[i] == 0 && (unit == 1 || v->p[i + 1] == 0)) {
			v->bytes = i;
			return;
		}
	}
	v->bytes -= v->bytes % unit;
}

static bool take_text(struct run *r, const struct filter_field *f, uint16_t length, unsigned unit, struct value *ret)
{
	if (f->flags & FILTER_SIZED) {
		bool ok = take(r, 0, (size_t)length * unit, ret);
		if (ok) {
			cut_at_nul(ret, unit);
		}
		return ok;
	}
	size_t left = (size_t)(r->end - r->p), bytes;
	if (unit == 1) {
		const uint8_t *nul = left ? memchr(r->p, 0, left) : NULL;
		bytes = nul ? (size_t)(nul - r->p) : left;
	} else {
		for (bytes = 0; bytes + 2 <= left && le16_get(r->p + bytes) != 0;) {
			bytes += 2;
		}
	}
	*ret = (struct value){r->p, bytes};
	r->p += BASE_MIN(bytes + unit, left); /* the last one may lack its terminator */
	return true;
}

static bool take_sid(struct run *r, size_t prefix, struct value *ret)
{
	size_t left = (size_t)(r->end - r->p);
	return left >= prefix && left - prefix >= 8 && take(r, prefix, 8 + 4 * (size_t)r->p[prefix + 1], ret);
}

/* As schema_value_read() does it: without a user there are four bytes, or zeros and then a SID. */
static bool take_token_sid(struct run *r, struct value *ret)
{
	static const uint8_t zeros[16];
	size_t left = (size_t)(r->end - r->p), prefix = 2 * (size_t)r->pointer_size;
	const uint8_t *p = r->p;
	bool sid_behind_zeros = left >= prefix + 8 && memcmp(p, zeros, prefix) == 0 && p[prefix] == 1 &&
				p[prefix + 1] <= 15 && memcmp(p + prefix + 2, zeros, 5) == 0;
	if (left >= 4 && le32_get(p) == 0 && !sid_behind_zeros) {
		return take(r, 4, 0, ret);
	}
	return take_sid(r, prefix, ret);
}

static bool take_value(struct run *r, const struct filter_field *f, struct value *ret)
{
	size_t left = (size_t)(r->end - r->p);
	uint16_t length = f->flags & FILTER_LENGTH_OF ? r->number[f->length] : f->length;
	switch (f->kind) {
	case FILTER_FIXED: return take(r, 0, length, ret);
	case FILTER_POINTER: return take(r, 0, r->pointer_size, ret);
	case FILTER_TEXT16: return take_text(r, f, length, 2, ret);
	case FILTER_TEXT8: return take_text(r, f, length, 1, ret);
	case FILTER_COUNTED: return left >= 2 && take(r, 2, le16_get(r->p), ret);
	case FILTER_COUNTED_BE: return left >= 2 && take(r, 2, (size_t)r->p[0] << 8 | r->p[1], ret);
	case FILTER_COUNTED32: return left >= 4 && take(r, 4, le32_get(r->p), ret);
	case FILTER_SID: return take_sid(r, 0, ret);
	case FILTER_TOKEN_SID: return take_token_sid(r, ret);
	case FILTER_REST: return take(r, 0, left, ret);
	default: return false;
	}
}

static uint64_t number_of(const struct value *v, bool sign, bool network)
{
	uint64_t n = 0;
	for (size_t i = 0; i < v->bytes; i++) {
		n = n << 8 | v->p[network ? i : v->bytes - 1 - i];
	}
	unsigned unused = 64 - 8 * (unsigned)v->bytes;
	return sign ? (uint64_t)((int64_t)(n << unused) >> unused) : n;
}

/* ---- predicates ------------------------------------------------------------------------------ */

static bool compare_numbers(const struct filter_predicate *p, const struct value *v)
{
	bool sign = p->type == FILTER_SIGNED;
	/* An order for both: the sign bit turned over makes signed numbers sort as unsigned ones.
	 */
	uint64_t turn = sign ? 1ull << 63 : 0;
	uint64_t n = number_of(v, sign, p->type == FILTER_NETWORK), a = le64_get(p->value);
	uint64_t x = n ^ turn, low = a ^ turn;
	switch (p->op) {
	case FILTER_EQ: return x == low;
	case FILTER_NE: return x != low;
	case FILTER_LE: return x <= low;
	case FILTER_GT: return x > low;
	case FILTER_LT: return x < low;
	case FILTER_GE: return x >= low;
	case FILTER_MODULO:
		/* INT64_MIN % -1 traps on some machines. */
		return sign ? a == UINT64_MAX || (int64_t)n % (int64_t)a == 0 : n % a == 0;
	default: {
		bool inside = x >= low && x <= (le64_get(p->value + 8) ^ turn);
		return inside == (p->op == FILTER_BETWEEN);
	}
	}
}

/* 1 found, 0 not, -1 too much work. */
static int search(struct run *r, const struct filter_predicate *p, const struct value *v)
{
	size_t unit = p->type == FILTER_WIDE ? 2 : 1;
	if (p->bytes == 0) {
		return 1;
	}
	for (size_t i = 0; i + p->bytes <= v->bytes; i += unit) {
		if (v->p[i] != p->value[0]) {
			continue;
		}
		if (memcmp(v->p + i, p->value, p->bytes) == 0) {
			return 1;
		}
		uint32_t cost = 1 + p->bytes / 16;
		if (r->work < cost) {
			return -1;
		}
		r->work -= cost;
	}
	return 0;
}

static bool holds(struct run *r, const struct filter_predicate *p, const struct value *v)
{
	if (p->op <= FILTER_MODULO) {
		return compare_numbers(p, v);
	}
	if (p->op == FILTER_CONTAINS || p->op == FILTER_DOESNTCONTAIN) {
		int found = search(r, p, v);
		return found >= 0 && (found == 1) == (p->op == FILTER_CONTAINS);
	}
	bool same = v->bytes == p->bytes && (p->bytes == 0 || memcmp(v->p, p->value, p->bytes) == 0);
	return same == (p->op == FILTER_IS);
}

/* The predicates of one field. */
static void judge(struct run *r, uint16_t field, const struct value *v)
{
	while (r->predicates > 0 && le16_get(r->next) == field && !r->decided) {
		struct filter_predicate p = filter_predicate_get(r->next);
		bool ok = holds(r, &p, v);
		r->next = p.value + p.bytes;
		r->predicates--;
		if (ok == r->any || r->predicates == 0) {
			r->result = ok;
			r->decided = true;
		}
	}
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool walk(struct run *r, uint16_t i, uint16_t end, bool top);

static bool walk_elements(struct run *r, const struct filter_field *f, uint16_t i, bool judged)
{
	uint32_t count = f->flags & FILTER_COUNT_OF ? r->number[f->count] : f->count;
	if (f->kind == FILTER_FIXED && count > 1) {
		/* Passed over at once: nothing looks at the elements of an array. */
		size_t one = f->flags & FILTER_LENGTH_OF ? r->number[f->length] : f->length;
		size_t left = (size_t)(r->end - r->p);
		if (one * count > left) {
			return false;
		}
		r->p += one * count;
		return true;
	}
	for (uint32_t k = 0; k < count; k++) {
		struct value v;
		if (r->work == 0) {
			return false;
		}
		r->work--;
		if (f->kind == FILTER_ARRAY) {
			if (!walk(r, (uint16_t)(i + 1), (uint16_t)(i + 1 + f->members), false)) {
				return false;
			}
			continue;
		}
		if (!take_value(r, f, &v)) {
			return false;
		}
		if (f->flags & FILTER_CAPTURE) {
			r->number[i] = (uint16_t)BASE_MIN(number_of(&v, false, false), 0xFFFFu);
		}
		if (judged) {
			judge(r, i, &v);
		}
	}
	return true;
}

static bool walk(struct run *r, uint16_t i, uint16_t end, bool top)
{
	for (; i < end && !r->decided; i++) {
		struct filter_field f = filter_field_get(r->fields + (size_t)i * FILTER_FIELD_BYTES);
		if (!walk_elements(r, &f, i, top)) {
			return false;
		}
		i = (uint16_t)(i + f.members);
	}
	return true;
}

static bool filter_holds(const uint8_t *f, const uint8_t *payload, size_t bytes, unsigned pointer_size)
{
	struct run r;
	uint16_t fields = le16_get(f + 6);
	r.fields = f + FILTER_EVENT_BYTES;
	r.p = payload;
	r.end = payload + bytes;
	r.next = r.fields + (size_t)fields * FILTER_FIELD_BYTES;
	r.predicates = le16_get(f + 8);
	r.pointer_size = pointer_size;
	r.work = FILTER_WORK_MAX;
	r.any = f[5] & FILTER_ANY;
	r.result = r.decided = false;
	memset(r.number, 0, fields * sizeof r.number[0]);
	/* Undecided: the payload ended before the rest of the predicates; those do not hold. */
	return walk(&r, 0, fields, true) && r.decided && r.result;
}

bool filter_passes(const uint8_t *blob, uint16_t id, uint8_t version, const uint8_t *payload, size_t bytes,
		   unsigned pointer_size)
{
	bool any_wanted = false, any = false;
	const uint8_t *f = blob + FILTER_HEAD_BYTES;
	for (uint16_t n = le16_get(blob + 6); n > 0; n--, f += le16_get(f)) {
		if (le16_get(f + 2) != id || f[4] != version) {
			continue;
		}
		bool must = f[5] & FILTER_MUST;
		if (!must && any) {
			continue; /* another one let it through */
		}
		bool ok = filter_holds(f, payload, bytes, pointer_size);
		if (must && !ok) {
			return false;
		}
		any_wanted |= !must;
		any |= !must && ok;
	}
	return any || !any_wanted;
}
