/* SPDX-License-Identifier: MIT
 * Making blobs, and checking those from elsewhere.
 */
#include "filter/filter_payload.h"

/* ---- writing --------------------------------------------------------------------------------- */

static void put_head(uint8_t *out, const struct guid *provider, size_t filters, size_t bytes)
{
	le32_put(out, FILTER_MAGIC);
	le16_put(out + 4, FILTER_FORMAT);
	le16_put(out + 6, (uint16_t)filters);
	le32_put(out + 8, (uint32_t)bytes);
	le32_put(out + 12, 0);
	memcpy(out + 16, provider->b, 16);
}

static void put_field(uint8_t *p, const struct filter_field *f)
{
	p[0] = f->kind;
	p[1] = f->flags;
	le16_put(p + 2, f->length);
	le16_put(p + 4, f->count);
	le16_put(p + 6, f->members);
}

static uint8_t *put_predicate(uint8_t *p, const struct filter_predicate *f)
{
	le16_put(p, f->field);
	p[2] = f->op;
	p[3] = f->type;
	le16_put(p + 4, f->bytes);
	le16_put(p + 6, 0);
	if (f->bytes) {
		memcpy(p + FILTER_PREDICATE_BYTES, f->value, f->bytes);
	}
	return p + FILTER_PREDICATE_BYTES + f->bytes;
}

int filter_write(const struct filter_event *e, uint8_t *out, size_t *ret_bytes)
{
	size_t bytes = FILTER_HEAD_BYTES + FILTER_EVENT_BYTES + (size_t)e->field_count * FILTER_FIELD_BYTES;
	for (uint16_t i = 0; i < e->predicate_count; i++) {
		bytes += FILTER_PREDICATE_BYTES + (size_t)e->predicates[i].bytes;
	}
	if (bytes > FILTER_BYTES_MAX) {
		return -ENOSPC;
	}
	put_head(out, &e->provider, 1, bytes);
	uint8_t *p = out + FILTER_HEAD_BYTES;
	le16_put(p, (uint16_t)(bytes - FILTER_HEAD_BYTES));
	le16_put(p + 2, e->id);
	p[4] = e->version;
	p[5] = e->flags;
	le16_put(p + 6, e->field_count);
	le16_put(p + 8, e->predicate_count);
	le16_put(p + 10, 0);
	p += FILTER_EVENT_BYTES;
	for (uint16_t i = 0; i < e->field_count; i++, p += FILTER_FIELD_BYTES) {
		put_field(p, &e->fields[i]);
	}
	/* The payload is walked once, so predicates stand in the order of their fields. */
	for (uint16_t f = 0; f < e->field_count; f++) {
		for (uint16_t i = 0; i < e->predicate_count; i++) {
			if (e->predicates[i].field == f) {
				p = put_predicate(p, &e->predicates[i]);
			}
		}
	}
	int err = filter_check(out, bytes, NULL, NULL);
	if (err == 0) {
		*ret_bytes = bytes;
	}
	return err;
}

int filter_join(const uint8_t *const *blobs, const size_t *bytes, const bool *must, size_t count, uint8_t *out,
		size_t *ret_bytes)
{
	size_t at = FILTER_HEAD_BYTES, filters = 0;
	struct guid provider = GUID_ZERO, other;
	for (size_t i = 0; i < count; i++) {
		int err = filter_check(blobs[i], bytes[i], &other, NULL);
		if (err < 0 || (i > 0 && !guid_equal(&provider, &other))) {
			return -EINVAL;
		}
		provider = other;
		if (at + bytes[i] - FILTER_HEAD_BYTES > FILTER_BYTES_MAX) {
			return -ENOSPC;
		}
		memcpy(out + at, blobs[i] + FILTER_HEAD_BYTES, bytes[i] - FILTER_HEAD_BYTES);
		for (uint16_t n = le16_get(blobs[i] + 6); n > 0; n--) {
			out[at + 5] = (uint8_t)((out[at + 5] & FILTER_ANY) | (must && must[i] ? FILTER_MUST : 0));
			at += le16_get(out + at);
			filters++;
		}
	}
	if (filters == 0) {
		return -EINVAL;
	}
	put_head(out, &provider, filters, at);
	*ret_bytes = at;
	return 0;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int refuse(struct diag *d, size_t at, const char *why)
{
	diag_at(d, at, "%s", why);
	return -EINVAL;
}

static bool is_integer(const struct filter_field *f)
{
	return f->kind == FILTER_POINTER || (f->kind == FILTER_FIXED && !(f->flags & FILTER_LENGTH_OF) &&
					     (f->length == 1 || f->length == 2 || f->length == 4 || f->length == 8));
}

static const char *check_field(const uint8_t *fields, uint16_t i, uint16_t end)
{
	struct filter_field f = filter_field_get(fields + (size_t)i * FILTER_FIELD_BYTES);
	bool text = f.kind == FILTER_TEXT16 || f.kind == FILTER_TEXT8;
	if (f.kind == 0 || f.kind >= FILTER_KIND_COUNT ||
	    (f.flags & ~(FILTER_SIZED | FILTER_LENGTH_OF | FILTER_COUNT_OF | FILTER_CAPTURE))) {
		return "a field of an unknown kind";
	}
	const uint16_t refers[2] = {f.length, f.count};
	const uint8_t by[2] = {FILTER_LENGTH_OF, FILTER_COUNT_OF};
	for (int k = 0; k < 2; k++) {
		if (!(f.flags & by[k])) {
			continue;
		}
		if (refers[k] >= i || !(fields[(size_t)refers[k] * FILTER_FIELD_BYTES + 1] & FILTER_CAPTURE)) {
			return "a field refers to one that is not a number before it";
		}
	}
	if ((f.flags & FILTER_SIZED) && !text) {
		return "a length where there is none";
	}
	if ((f.flags & FILTER_LENGTH_OF) && f.kind != FILTER_FIXED && !(text && (f.flags & FILTER_SIZED))) {
		return "a length where there is none";
	}
	if ((f.flags & FILTER_CAPTURE) && (f.kind != FILTER_FIXED || !is_integer(&f) || f.length == 8)) {
		return "a length or count that is no small integer";
	}
	if (f.kind == FILTER_ARRAY ? f.members == 0 || f.members > end - i - 1 : f.members != 0) {
		return "an array with a wrong number of members";
	}
	return NULL;
}

/* The fields [i, end) of one level; arrays call it for their members. */
static const char *check_fields(const uint8_t *fields, uint16_t i, uint16_t end, unsigned depth)
{
	if (depth > FILTER_DEPTH_MAX) {
		return "arrays too deep in each other";
	}
	for (; i < end; i++) {
		const char *why = check_field(fields, i, end);
		if (why) {
			return why;
		}
		uint16_t members = le16_get(fields + (size_t)i * FILTER_FIELD_BYTES + 6);
		if (members > 0) {
			why = check_fields(fields, i + 1, (uint16_t)(i + 1 + members), depth + 1);
			if (why) {
				return why;
			}
			i = (uint16_t)(i + members);
		}
	}
	return NULL;
}

static bool is_top(const uint8_t *fields, uint16_t field)
{
	uint16_t i = 0;
	while (i < field) {
		i = (uint16_t)(i + 1 + le16_get(fields + (size_t)i * FILTER_FIELD_BYTES + 6));
	}
	return i == field;
}

static bool is_text(const struct filter_field *f, bool wide)
{
	return f->kind == (wide ? FILTER_TEXT16 : FILTER_TEXT8) || f->kind == FILTER_COUNTED ||
	       f->kind == FILTER_COUNTED_BE || f->kind == FILTER_REST;
}

static bool value_fits(const struct filter_predicate *p, const struct filter_field *f)
{
	bool interval = p->op == FILTER_BETWEEN || p->op == FILTER_NOTBETWEEN;
	switch (p->type) {
	case FILTER_SIGNED:
	case FILTER_UNSIGNED:
	case FILTER_NETWORK:
		return p->op <= FILTER_MODULO && is_integer(f) &&
		       !(f->kind == FILTER_POINTER && p->type != FILTER_UNSIGNED) && p->bytes == (interval ? 16 : 8) &&
		       !(p->op == FILTER_MODULO && le64_get(p->value) == 0);
	case FILTER_WIDE:
	case FILTER_NARROW:
		return (p->op == FILTER_CONTAINS || p->op == FILTER_DOESNTCONTAIN || p->op == FILTER_IS ||
			p->op == FILTER_ISNOT) &&
		       is_text(f, p->type == FILTER_WIDE) && (p->type == FILTER_NARROW || p->bytes % 2 == 0);
	case FILTER_BYTES:
		return (p->op == FILTER_IS || p->op == FILTER_ISNOT) && f->kind == FILTER_FIXED &&
		       !(f->flags & FILTER_LENGTH_OF) && f->length == p->bytes;
	default: return false;
	}
}

static const char *check_predicates(const uint8_t *fields, uint16_t field_count, struct bytes b, uint16_t count)
{
	uint16_t last = 0;
	for (uint16_t i = 0; i < count; i++) {
		const uint8_t *p = bytes_take(&b, FILTER_PREDICATE_BYTES);
		if (!p || !bytes_take(&b, le16_get(p + 4))) {
			return "a predicate is cut off";
		}
		struct filter_predicate q = filter_predicate_get(p);
		if (q.field >= field_count || q.field < last || le16_get(p + 6) != 0 || !is_top(fields, q.field)) {
			return "a predicate names no field";
		}
		struct filter_field f = filter_field_get(fields + (size_t)q.field * FILTER_FIELD_BYTES);
		if (f.count != 1 || (f.flags & FILTER_COUNT_OF) || !value_fits(&q, &f)) {
			return "a predicate does not fit its field";
		}
		last = q.field;
	}
	return bytes_left(&b) == 0 ? NULL : "something behind the predicates";
}

static const char *check_filter(const uint8_t *p, size_t n)
{
	uint16_t fields = le16_get(p + 6), predicates = le16_get(p + 8);
	if ((p[5] & ~(FILTER_ANY | FILTER_MUST)) || le16_get(p + 10) != 0) {
		return "unknown flags";
	}
	if (predicates == 0 || predicates > FILTER_PREDICATES_MAX || fields == 0 || fields > FILTER_FIELDS_MAX) {
		return "a wrong number of fields or predicates";
	}
	struct bytes b = bytes_of(p + FILTER_EVENT_BYTES, n - FILTER_EVENT_BYTES);
	const uint8_t *at = bytes_take(&b, (size_t)fields * FILTER_FIELD_BYTES);
	if (!at) {
		return "the fields are cut off";
	}
	const char *why = check_fields(at, 0, fields, 0);
	return why ? why : check_predicates(at, fields, b, predicates);
}

int filter_check(const void *blob, size_t n, struct guid *ret_provider, struct diag *d)
{
	const uint8_t *p = blob;
	if (n < FILTER_HEAD_BYTES || n > FILTER_BYTES_MAX || le32_get(p) != FILTER_MAGIC) {
		return refuse(d, 0, "not a payload filter of TdhAggregatePayloadFilters");
	}
	if (le16_get(p + 4) != FILTER_FORMAT || le32_get(p + 12) != 0) {
		return refuse(d, 4, "a payload filter in a format of another version");
	}
	if (le32_get(p + 8) != n) {
		return refuse(d, 8, "a payload filter that is longer or shorter than it says");
	}
	uint16_t filters = le16_get(p + 6);
	size_t at = FILTER_HEAD_BYTES;
	for (uint16_t i = 0; i < filters; i++) {
		if (n - at < FILTER_EVENT_BYTES || le16_get(p + at) < FILTER_EVENT_BYTES || le16_get(p + at) > n - at) {
			return refuse(d, at, "a payload filter is cut off");
		}
		const char *why = check_filter(p + at, le16_get(p + at));
		if (why) {
			return refuse(d, at, why);
		}
		at += le16_get(p + at);
	}
	if (filters == 0 || at != n) {
		return refuse(d, at, "a payload filter with something behind its end");
	}
	if (ret_provider) {
		memcpy(ret_provider->b, p + 16, 16);
	}
	return 0;
}
