/* SPDX-License-Identifier: MIT
 * Payload filters out of schemas.
 *
 * Fields are told to the daemon only up to the last one that a condition looks at, and only by
 * where they end. Names and types stay here.
 */
#include "schema/schema_payload_filter.h"

#include <stdlib.h>

struct making {
	const struct schema_event *e;
	const struct schema_condition *conditions;
	size_t count, found;
	uint16_t field_of[FILTER_PREDICATES_MAX]; /* of the schema */
	bool is_found[FILTER_PREDICATES_MAX];
	struct filter_predicate predicates[FILTER_PREDICATES_MAX];
	uint8_t *values; /* FILTER_BYTES_MAX for each predicate */
	struct filter_field fields[FILTER_FIELDS_MAX];
	uint16_t field_count;
	uint16_t index[SCHEMA_FIELDS_MAX]; /* of the schema -> here */
	char name[1024];
	struct diag *d;
};

static int refuse(const struct making *m, int err, size_t i, const char *why)
{
	diag_at(m->d, UINT64_MAX, "condition %zu, field \"%.80s\": %s", i + 1, m->conditions[i].field, why);
	return err;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static uint8_t kind_of(uint16_t in, uint16_t *ret_bytes)
{
	*ret_bytes = 0;
	switch (in) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_ANSICHAR: *ret_bytes = 1; return FILTER_FIXED;
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_UINT16:
	case TDH_INTYPE_UNICODECHAR: *ret_bytes = 2; return FILTER_FIXED;
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_FLOAT:
	case TDH_INTYPE_BOOLEAN:
	case TDH_INTYPE_HEXINT32: *ret_bytes = 4; return FILTER_FIXED;
	case TDH_INTYPE_INT64:
	case TDH_INTYPE_UINT64:
	case TDH_INTYPE_DOUBLE:
	case TDH_INTYPE_FILETIME:
	case TDH_INTYPE_HEXINT64: *ret_bytes = 8; return FILTER_FIXED;
	case TDH_INTYPE_GUID:
	case TDH_INTYPE_SYSTEMTIME: *ret_bytes = 16; return FILTER_FIXED;
	case TDH_INTYPE_NULL:
	case TDH_INTYPE_BINARY: return FILTER_FIXED;
	case TDH_INTYPE_POINTER:
	case TDH_INTYPE_SIZET: return FILTER_POINTER;
	case TDH_INTYPE_UNICODESTRING: return FILTER_TEXT16;
	case TDH_INTYPE_ANSISTRING: return FILTER_TEXT8;
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDANSISTRING: return FILTER_COUNTED;
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING: return FILTER_COUNTED_BE;
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING: return FILTER_REST;
	case TDH_INTYPE_HEXDUMP: return FILTER_COUNTED32;
	case TDH_INTYPE_SID: return FILTER_SID;
	case TDH_INTYPE_WBEMSID: return FILTER_TOKEN_SID;
	default: return 0;
	}
}

static struct filter_field field_of(const struct making *m, const struct schema_field *f)
{
	struct filter_field out = {.count = f->count};
	out.kind = kind_of(f->in_type, &out.length);
	bool sized = out.kind == FILTER_TEXT16 || out.kind == FILTER_TEXT8;
	if (sized || f->in_type == TDH_INTYPE_BINARY) {
		bool given = f->length != 0 || (f->flags & PropertyParamFixedLength);
		out.length = f->length;
		if (f->flags & PropertyParamLength) {
			out.flags |= FILTER_LENGTH_OF;
			out.length = m->index[f->length];
			given = true;
		} else if (!given && f->out_type == TDH_OUTTYPE_IPV6) {
			out.length = 16;
		}
		out.flags |= sized && given ? FILTER_SIZED : 0;
	}
	if (f->flags & PropertyParamCount) {
		out.flags |= FILTER_COUNT_OF;
		out.count = m->index[f->count];
	}
	if (f->captured && out.kind == FILTER_FIXED && !schema_field_is_array(f) &&
	    (out.length == 1 || out.length == 2 || out.length == 4)) {
		out.flags |= FILTER_CAPTURE;
	}
	return out;
}

/* Conditions on this field; `name_bytes` of m->name are its path. */
static int find_conditions(struct making *m, uint32_t i, size_t name_bytes, bool single)
{
	for (size_t k = 0; k < m->count; k++) {
		if (m->is_found[k] || strlen(m->conditions[k].field) != name_bytes ||
		    memcmp(m->conditions[k].field, m->name, name_bytes) != 0) {
			continue;
		}
		if (!single || schema_field_is_array(&m->e->fields[i])) {
			return refuse(m, -EINVAL, k, "an array, or in one; only single values can be compared");
		}
		m->is_found[k] = true;
		m->predicates[k].field = m->field_count;
		m->field_of[k] = (uint16_t)i;
		m->found++;
	}
	return 0;
}

static int add_fields(struct making *m, uint32_t first, uint32_t count, size_t path, bool single, unsigned depth)
{
	if (depth > SCHEMA_DEPTH_MAX) {
		return -ENOSPC;
	}
	for (uint32_t i = first; i < first + count && m->found < m->count; i++) {
		const struct schema_field *f = &m->e->fields[i];
		size_t end = path + f->name.bytes;
		if (end + 2 > sizeof m->name) {
			return -ENOSPC;
		}
		memcpy(m->name + path, schema_text(m->e, f->name), f->name.bytes);
		bool is_struct = f->flags & PropertyStruct, array = schema_field_is_array(f);
		int err = is_struct ? 0 : find_conditions(m, i, end, single);
		if (err < 0) {
			return err;
		}
		m->name[end] = '.';
		if (is_struct && !array) {
			err = add_fields(m, f->first_member, f->member_count, end + 1, single, depth + 1);
			if (err < 0) {
				return err;
			}
			continue;
		}
		if (m->field_count == FILTER_FIELDS_MAX) {
			return -ENOSPC;
		}
		uint16_t at = m->field_count++;
		m->index[i] = at;
		m->fields[at] = field_of(m, f);
		if (is_struct) {
			m->fields[at].kind = FILTER_ARRAY;
			err = add_fields(m, f->first_member, f->member_count, end + 1, false, depth + 1);
			m->fields[at].members = (uint16_t)(m->field_count - at - 1);
		}
		if (err < 0 || f->to_end) {
			return err; /* nothing can stand behind what takes the rest */
		}
	}
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* One number, decimal or 0x…, and what ends it. NULL: none. */
static const char *number(const char *p, bool sign, uint64_t *ret)
{
	p = skip_blanks(p);
	bool minus = sign && *p == '-';
	p += minus || *p == '+';
	bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	const char *digits = p + (hex ? 2 : 0);
	if (strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") == 0) {
		return NULL;
	}
	char *end;
	errno = 0;
	uint64_t n = strtoull(digits, &end, hex ? 16 : 10);
	/* Hexadecimal stands for the bits, also those of a negative number. */
	bool too_large = sign && !hex && n > (uint64_t)INT64_MAX + minus;
	if (errno != 0 || too_large) {
		return NULL;
	}
	*ret = minus ? 0 - n : n;
	return skip_blanks(end);
}

/* Four numbers with dots, as one in host order. */
static const char *ipv4(const char *p, uint64_t *ret)
{
	uint64_t n = 0;
	for (int i = 0; i < 4; i++) {
		char *end;
		if (*p < '0' || *p > '9') {
			return NULL;
		}
		unsigned long part = strtoul(p, &end, 10);
		if (part > 255 || (i < 3 && *end != '.')) {
			return NULL;
		}
		n = n << 8 | part;
		p = end + (i < 3);
	}
	*ret = n;
	return skip_blanks(p);
}

static const char *one_value(const struct schema_field *f, const char *p, uint8_t type, uint64_t *ret)
{
	p = skip_blanks(p);
	if (f->in_type == TDH_INTYPE_BOOLEAN || f->out_type == TDH_OUTTYPE_BOOLEAN) {
		if (strncmp(p, "true", 4) == 0 || strncmp(p, "false", 5) == 0) {
			*ret = *p == 't';
			return skip_blanks(p + (*p == 't' ? 4 : 5));
		}
	}
	if (f->out_type == TDH_OUTTYPE_IPV4) {
		return ipv4(p, ret);
	}
	return number(p, type == FILTER_SIGNED, ret);
}

static uint8_t number_type(const struct schema_field *f)
{
	switch (f->in_type) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_INT64: return FILTER_SIGNED;
	case TDH_INTYPE_UINT16: return f->out_type == TDH_OUTTYPE_PORT ? FILTER_NETWORK : FILTER_UNSIGNED;
	case TDH_INTYPE_UINT32: return f->out_type == TDH_OUTTYPE_IPV4 ? FILTER_NETWORK : FILTER_UNSIGNED;
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_UINT64:
	case TDH_INTYPE_BOOLEAN:
	case TDH_INTYPE_HEXINT32:
	case TDH_INTYPE_HEXINT64:
	case TDH_INTYPE_POINTER:
	case TDH_INTYPE_SIZET:
	case TDH_INTYPE_FILETIME:
	case TDH_INTYPE_UNICODECHAR:
	case TDH_INTYPE_ANSICHAR: return FILTER_UNSIGNED;
	default: return 0;
	}
}

static int make_number(struct making *m, size_t i, const struct schema_field *f, uint8_t type)
{
	struct filter_predicate *p = &m->predicates[i];
	bool interval = p->op == FILTER_BETWEEN || p->op == FILTER_NOTBETWEEN;
	uint64_t n[2] = {0};
	uint8_t *out = m->values + i * FILTER_BYTES_MAX;
	const char *at = one_value(f, m->conditions[i].value, type, &n[0]);
	if (p->op > FILTER_MODULO) {
		return refuse(m, -EINVAL, i, "an integer; PAYLOADFIELD_EQ to _MODULO compare integers");
	}
	if (at && interval) {
		at = *at == ',' ? one_value(f, at + 1, type, &n[1]) : NULL;
	}
	if (!at || *at) {
		return refuse(m, -EINVAL, i,
			      interval ? "two numbers of its type with a comma between them are wanted"
				       : "a number of its type is wanted");
	}
	bool empty = type == FILTER_SIGNED ? (int64_t)n[0] > (int64_t)n[1] : n[0] > n[1];
	if (interval && empty) {
		return refuse(m, -EINVAL, i, "the interval ends before it begins");
	}
	if (p->op == FILTER_MODULO && n[0] == 0) {
		return refuse(m, -EINVAL, i, "nothing can be divided by 0");
	}
	le64_put(out, n[0]);
	le64_put(out + 8, n[1]);
	p->type = type;
	p->bytes = interval ? 16 : 8;
	return 0;
}

static int make_text(struct making *m, size_t i, bool wide)
{
	struct filter_predicate *p = &m->predicates[i];
	const char *value = m->conditions[i].value;
	size_t n = strlen(value);
	uint8_t *out = m->values + i * FILTER_BYTES_MAX;
	if (p->op < FILTER_CONTAINS) {
		return refuse(m, -EINVAL, i,
			      "text; PAYLOADFIELD_CONTAINS, _DOESNTCONTAIN, _IS and _ISNOT compare text");
	}
	if (n > FILTER_BYTES_MAX / 2 - 1) {
		return refuse(m, -ENOSPC, i, "the text is too long");
	}
	p->type = wide ? FILTER_WIDE : FILTER_NARROW;
	p->bytes = (uint16_t)n;
	if (wide) {
		uint16_t units[FILTER_BYTES_MAX / 2];
		long got = utf8_to_utf16(value, n, units, BASE_ARRAY_LEN(units));
		if (got < 0) {
			return refuse(m, -EINVAL, i, "the text is no valid Unicode");
		}
		p->bytes = (uint16_t)(2 * got);
		memcpy(out, units, p->bytes);
	} else if (n > 0) {
		memcpy(out, value, n);
	}
	return 0;
}

static int make_predicate(struct making *m, size_t i)
{
	const struct schema_field *f = &m->e->fields[m->field_of[i]];
	struct filter_predicate *p = &m->predicates[i];
	uint16_t op = m->conditions[i].op;
	if ((op > FILTER_MODULO && op < FILTER_CONTAINS) || (op > FILTER_DOESNTCONTAIN && op < FILTER_IS) ||
	    op > FILTER_ISNOT) {
		return refuse(m, -EINVAL, i, "an unknown operator");
	}
	p->op = (uint8_t)op;
	p->value = m->values + i * FILTER_BYTES_MAX;
	uint8_t type = number_type(f);
	if (type != 0) {
		return make_number(m, i, f, type);
	}
	switch (f->in_type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDSTRING: return make_text(m, i, true);
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_COUNTEDANSISTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING: return make_text(m, i, false);
	case TDH_INTYPE_GUID: {
		struct guid g;
		if (op < FILTER_IS || guid_parse(m->conditions[i].value, &g) < 0) {
			return refuse(m, -EINVAL, i, "a GUID; PAYLOADFIELD_IS and _ISNOT compare it with {…}");
		}
		memcpy(m->values + i * FILTER_BYTES_MAX, g.b, 16);
		p->type = FILTER_BYTES;
		p->bytes = 16;
		return 0;
	}
	default: return refuse(m, -EINVAL, i, "of a type that no filter compares");
	}
}

int schema_filter_make(const struct schema_event *e, const struct guid *provider, uint16_t id, uint8_t version,
		       bool any, const struct schema_condition *conditions, size_t count, uint8_t out[FILTER_BYTES_MAX],
		       size_t *ret_bytes, struct diag *d)
{
	if (count == 0 || count > FILTER_PREDICATES_MAX) {
		return -EINVAL;
	}
	struct making *m = calloc(1, sizeof *m);
	uint8_t *values = m ? malloc(count * FILTER_BYTES_MAX) : NULL;
	int err = values ? 0 : -ENOMEM;
	if (err == 0) {
		m->e = e;
		m->conditions = conditions;
		m->count = count;
		m->values = values;
		m->d = d;
		err = add_fields(m, 0, e->top_count, 0, true, 0);
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		err = m->is_found[i] ? make_predicate(m, i) : refuse(m, -ENOENT, i, "the event has no such field");
	}
	if (err == 0) {
		struct filter_event event = {.provider = *provider,
					     .id = id,
					     .version = version,
					     .flags = any ? FILTER_ANY : 0,
					     .field_count = m->field_count,
					     .predicate_count = (uint16_t)count,
					     .fields = m->fields,
					     .predicates = m->predicates};
		err = filter_write(&event, out, ret_bytes);
	}
	if (err == -ENOSPC) {
		diag_at(d, UINT64_MAX, "the filter does not fit into %u bytes", FILTER_BYTES_MAX);
	}
	free(values);
	free(m);
	return err;
}
