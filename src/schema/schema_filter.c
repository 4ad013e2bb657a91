/* SPDX-License-Identifier: MIT */
#include "schema/schema_filter.h"

#include "base/nearest.h"
#include "schema/schema_payload_filter.h"
#include "schema/schema_store.h"

#include <stdlib.h>

struct making {
	const struct guid *provider;
	uint16_t id;
	const struct filter_conditions *c;
	uint8_t *out;
	size_t *inout_bytes;
	struct diag *d;
	unsigned versions;
	int err;
};

static bool is_text(uint16_t in_type)
{
	switch (in_type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDANSISTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
	case TDH_INTYPE_GUID: return true;
	default: return false;
	}
}

/* A member of structs is "struct.member". NULL: there is none. */
static const struct schema_field *find(const struct schema_event *e, uint32_t first, uint32_t count, const char *path,
				       unsigned depth)
{
	for (uint32_t i = first; i < first + count && depth < SCHEMA_DEPTH_MAX; i++) {
		const struct schema_field *f = &e->fields[i];
		if (strncmp(path, schema_text(e, f->name), f->name.bytes) != 0) {
			continue;
		}
		if (path[f->name.bytes] == 0) {
			return f;
		}
		const struct schema_field *inner =
			(f->flags & PropertyStruct) && path[f->name.bytes] == '.'
				? find(e, f->first_member, f->member_count, path + f->name.bytes + 1, depth + 1)
				: NULL;
		if (inner) {
			return inner;
		}
	}
	return NULL;
}

static const char *field_at(const void *ctx, int i)
{
	const struct schema_event *e = ctx;
	return (uint32_t)i < e->top_count ? schema_text(e, e->fields[i].name) : NULL;
}

/* Text has operators of its own in Windows' filters. */
static uint16_t operator_for(uint8_t op, bool text)
{
	return !text ? op : op == FILTER_EQ ? FILTER_IS : op == FILTER_NE ? FILTER_ISNOT : op;
}

static int make_one(struct making *m, const struct schema_event *e, uint8_t version)
{
	struct schema_condition conditions[FILTER_PREDICATES_MAX];
	struct diag why = {0};
	uint8_t one[FILTER_BYTES_MAX];
	size_t bytes;
	for (size_t i = 0; i < m->c->count; i++) {
		const struct filter_named_condition *c = &m->c->c[i];
		const struct schema_field *f = find(e, 0, e->top_count, c->field, 0);
		if (!f) {
			const char *near = nearest_word(c->field, field_at, e);
			if (m->d && m->d->text[0] == 0) {
				m->d->column = c->name_column;
			}
			diag_at(m->d, UINT64_MAX,
				near ? "event %u has no field '%.80s'; did you mean '%s'?"
				     : "event %u has no field '%.80s'",
				m->id, c->field, near);
			return -EINVAL;
		}
		conditions[i] = (struct schema_condition){c->field, c->value, operator_for(c->op, is_text(f->in_type))};
	}
	int err = schema_filter_make(e, m->provider, m->id, version, m->c->any, conditions, m->c->count, one, &bytes,
				     &why);
	if (err == 0 && *m->inout_bytes == 0) {
		memcpy(m->out, one, bytes);
		*m->inout_bytes = bytes;
	} else if (err == 0) {
		const uint8_t *both[] = {m->out, one};
		size_t sizes[] = {*m->inout_bytes, bytes}, n;
		uint8_t joined[FILTER_BYTES_MAX];
		err = filter_join(both, sizes, NULL, 2, joined, &n);
		if (err == 0) {
			memcpy(m->out, joined, n);
			*m->inout_bytes = n;
		} else {
			diag_at(&why, UINT64_MAX, "the filters are larger than %u bytes together", FILTER_BYTES_MAX);
		}
	}
	if (err < 0 && err != -ENOMEM) {
		if (m->d && m->d->text[0] == 0) {
			m->d->column = m->c->count ? m->c->c[0].name_column : 0;
		}
		diag_at(m->d, UINT64_MAX, "event %u: %s", m->id, why.text[0] ? why.text : "the filter is too large");
		err = -EINVAL;
	}
	return err;
}

static int each(void *ctx, const struct schema_event *e)
{
	struct making *m = ctx;
	uint16_t id = le16_get(e->descriptor);
	uint8_t version = e->descriptor[2];
	if (id == m->id) {
		m->versions++;
		m->err = make_one(m, e, version);
	}
	return m->err;
}

int schema_filter_manifest(const struct guid *provider, uint16_t id, const struct filter_conditions *c,
			   uint8_t out[FILTER_BYTES_MAX], size_t *inout_bytes, struct diag *d)
{
	struct making m = {.provider = provider, .id = id, .c = c, .out = out, .inout_bytes = inout_bytes, .d = d};
	schema_process_each_event(provider, each, &m);
	if (m.err == 0 && m.versions == 0) {
		diag_at(d, UINT64_MAX,
			"no installed manifest describes event %u of this provider; 'openetw wevtutil im FILE.man' "
			"installs "
			"one. TraceLogging events are named",
			id);
		return -EINVAL;
	}
	return m.err;
}
