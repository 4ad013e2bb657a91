/* SPDX-License-Identifier: MIT
 *
 * Payload and model together: JSON, text, one call per field, or the place of a named value.
 *
 * The payload is walked once, front to back. Numbers that later fields need as counts or lengths
 * are kept by field index. Both payload and model may be hostile: depth is bounded by
 * SCHEMA_DEPTH_MAX and `work` falls with each value and with the length of its name, so arrays of
 * nothing end, too.
 */
#include "schema/schema.h"
#include "schema/schema_store.h"
#include "schema/schema_out.h"

struct walk {
	const struct schema_event *e;
	const uint8_t *p;
	const uint8_t *end;
	const struct schema_payload *payload;
	unsigned pointer_size;
	int work;
	uint16_t *numbers; /* by field index; saturated at 0xFFFF as TDH does [doc] */
	const char *why;
	const struct schema_field *where;
	schema_leaf_fn *leaf; /* of schema_walk_leaves(); else NULL */
	void *leaf_ctx;
};

#define WALK_INIT(w, payload_, numbers_)                              \
	struct walk w = {.e = (payload_)->event,                      \
			 .p = (payload_)->data,                       \
			 .end = (payload_)->data + (payload_)->bytes, \
			 .payload = (payload_),                       \
			 .pointer_size = (payload_)->pointer_size,    \
			 .work = SCHEMA_WORK_MAX,                     \
			 .numbers = (numbers_)};                      \
	memset((numbers_), 0, (payload_)->event->field_count * sizeof *(numbers_))

static int walk_fail(struct walk *w, const struct schema_field *f, const char *why)
{
	if (!w->why) {
		w->why = why;
		w->where = f;
	}
	return -EBADMSG;
}

static int walk_spend(struct walk *w, const struct schema_field *f, unsigned depth)
{
	w->work -= 1 + (int)(f->key.bytes >> 5);
	if (BASE_UNLIKELY(w->work < 0 || depth > SCHEMA_DEPTH_MAX)) {
		return walk_fail(w, f, "too many values");
	}
	return 0;
}

static uint32_t walk_count(const struct walk *w, const struct schema_field *f)
{
	return f->flags & PropertyParamCount ? w->numbers[f->count] : f->count;
}

static uint32_t walk_length(const struct walk *w, const struct schema_field *f)
{
	if (f->flags & PropertyParamLength) {
		return w->numbers[f->length];
	}
	return f->length != 0 || (f->flags & PropertyParamFixedLength) ? f->length : SCHEMA_NO_LENGTH;
}

static int walk_value(struct walk *w, const struct schema_field *f, struct schema_value *v)
{
	int err = schema_value_read(f->in_type, f->out_type, walk_length(w, f), w->pointer_size, w->p,
				    (size_t)(w->end - w->p), v);
	if (BASE_UNLIKELY(err < 0)) {
		return walk_fail(w, f, "payload ends inside");
	}
	w->p += v->consumed;
	uint32_t n;
	if (f->captured && schema_value_u32(f->in_type, v->p, &n)) {
		w->numbers[f - w->e->fields] = (uint16_t)BASE_MIN(n, 0xFFFFu);
	}
	return 0;
}

/* ---- output -------------------------------------------------------------------------------------
 */

/* A trace may bring the map of an old release of its provider, in which later values have no name: for
 * those the map that is known here under the same name is asked. */
static bool map_text(const struct walk *w, const struct schema_field *f, uint32_t n, struct openetw_text *o)
{
	const char *name = schema_text(w->e, f->map);
	const struct schema_map *own = f->bound;
	if (!own && w->payload->store) {
		own = schema_store_find_map(w->payload->store, &w->e->provider, name, f->map.bytes);
	}
	size_t start = o->length;
	uint32_t rest = n;
	bool known = own && schema_map_text(own, n, o, &rest);
	if (known && rest == 0) {
		return true;
	}
	const struct schema_map *here = schema_process_find_map(&w->e->provider, name, f->map.bytes);
	if (!here || here == own) {
		return known;
	}
	struct openetw_text text = {0};
	uint32_t here_rest;
	if (schema_map_text(here, n, &text, &here_rest) && (here_rest == 0 || !known)) {
		o->length = start;
		out_add(o, text.data, text.length);
		known = true;
	}
	openetw_text_free(&text);
	return known;
}

static bool put_mapped(const struct walk *w, struct openetw_text *o, enum schema_style style,
		       const struct schema_field *f, const struct schema_value *v)
{
	uint32_t n;
	if (!schema_value_u32(f->in_type, v->p, &n)) {
		return false;
	}
	struct openetw_text text = {0};
	bool known = map_text(w, f, n, &text);
	if (known && style == SCHEMA_STYLE_JSON) {
		out_char(o, '"');
		out_utf8(o, text.data, text.length, true);
		out_char(o, '"');
	} else if (known) {
		out_add(o, text.data, text.length);
	}
	openetw_text_free(&text);
	return known;
}

static void put_value(const struct walk *w, struct openetw_text *o, enum schema_style style,
		      const struct schema_field *f, const struct schema_value *v)
{
	if (BASE_UNLIKELY(f->map.bytes != 0) && put_mapped(w, o, style, f, v)) {
		return;
	}
	schema_value_format(o, style, f->in_type, f->out_type, v);
}

static int put_members(struct walk *w, struct openetw_text *o, uint32_t first, uint32_t count, unsigned depth);

static int put_element(struct walk *w, struct openetw_text *o, const struct schema_field *f, unsigned depth)
{
	int err = walk_spend(w, f, depth);
	if (err < 0) {
		return err;
	}
	if (f->flags & PropertyStruct) {
		return put_members(w, o, f->first_member, f->member_count, depth + 1);
	}
	struct schema_value v;
	err = walk_value(w, f, &v);
	if (err == 0) {
		put_value(w, o, SCHEMA_STYLE_JSON, f, &v);
	}
	return err;
}

/* The field's value as JSON. After an error the JSON is still complete: what is missing is null. */
static int put_json(struct walk *w, struct openetw_text *o, const struct schema_field *f, unsigned depth)
{
	size_t at = o->length;
	if (BASE_LIKELY(!schema_field_is_array(f))) {
		int err = put_element(w, o, f, depth);
		if (BASE_UNLIKELY(err < 0 && o->length == at)) {
			out_str(o, "null");
		}
		return err;
	}
	uint32_t count = walk_count(w, f);
	out_char(o, '[');
	for (uint32_t i = 0; f->to_end ? w->p < w->end : i < count; i++) {
		size_t before = o->length;
		if (i) {
			out_char(o, ',');
		}
		size_t start = o->length;
		int err = put_element(w, o, f, depth);
		if (err < 0) {
			if (o->length == start) {
				out_cut(o, before);
			}
			out_char(o, ']');
			return err;
		}
	}
	out_char(o, ']');
	return 0;
}

/* Fields that newer builds append are not there in older records. One that newer builds put before the
 * last ones is not there when it does not fit. */
static inline bool is_absent(const struct walk *w, const struct schema_field *f)
{
	if (BASE_LIKELY(!f->optional)) {
		return false;
	}
	size_t left = (size_t)(w->end - w->p);
	return left == 0 || (f->in_type && left < schema_value_fixed(f->in_type, w->pointer_size));
}

/* Hidden fields are read, not shown. */
static int skip_hidden(struct walk *w, const struct schema_field *f)
{
	struct schema_value v;
	return walk_value(w, f, &v);
}

/* False: there is nothing to show of it, and *inout_err says whether one can go on behind it. */
static inline bool is_shown(struct walk *w, const struct schema_field *f, int *inout_err)
{
	if (BASE_UNLIKELY(f->hidden)) {
		*inout_err = skip_hidden(w, f);
		return false;
	}
	return !is_absent(w, f);
}

static int put_members(struct walk *w, struct openetw_text *o, uint32_t first, uint32_t count, unsigned depth)
{
	int err = 0;
	bool any = false;
	out_char(o, '{');
	for (uint32_t i = first; i < first + count && err == 0; i++) {
		const struct schema_field *f = &w->e->fields[i];
		if (!is_shown(w, f, &err)) {
			continue;
		}
		if (any) {
			out_char(o, ',');
		}
		any = true;
		out_add(o, schema_text(w->e, f->key), f->key.bytes);
		err = put_json(w, o, f, depth);
	}
	out_char(o, '}');
	return err;
}

static void put_problem_text(const struct walk *w, struct openetw_text *o, bool json)
{
	out_str(o, w->why);
	if (w->where && w->where->name.bytes) {
		out_char(o, ' ');
		out_utf8(o, schema_text(w->e, w->where->name), w->where->name.bytes, json);
	}
}

static inline void report_unread(const struct walk *w)
{
	if (w->payload->ret_unread) {
		*w->payload->ret_unread = (uint32_t)(w->end - w->p);
	}
}

int schema_walk_json(const struct schema_payload *payload, struct openetw_text *o)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	int err = put_members(&w, o, 0, w.e->top_count, 0);
	report_unread(&w);
	if (BASE_UNLIKELY(err < 0) && !o->failed) {
		out_cut(o, o->length - 1); /* the closing brace */
		out_str(o, o->data[o->length - 1] == '{' ? "\"_error\":\"" : ",\"_error\":\"");
		put_problem_text(&w, o, true);
		out_str(o, "\",\"_rest\":\"");
		out_hex_bytes(o, w.p, (size_t)(w.end - w.p), false);
		out_str(o, "\"}");
	}
	return err;
}

/* Quotes stay where a reader of "a=b c=d" could be misled. */
static void unquote_if_simple(struct openetw_text *o, size_t at)
{
	size_t n = o->length - at;
	if (o->failed || n < 3 || o->data[at] != '"') {
		return;
	}
	for (size_t i = at + 1; i < o->length - 1; i++) {
		unsigned char c = (unsigned char)o->data[i];
		if (c <= ' ' || c == '"' || c == '\\' || c == '=' || c == '[' || c == '{') {
			return;
		}
	}
	memmove(o->data + at, o->data + at + 1, n - 2);
	out_cut(o, o->length - 2);
}

int schema_walk_text(const struct schema_payload *payload, struct openetw_text *o)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	size_t start = o->length;
	int err = 0;
	for (uint32_t i = 0; i < w.e->top_count && err == 0; i++) {
		const struct schema_field *f = &w.e->fields[i];
		if (!is_shown(&w, f, &err)) {
			continue;
		}
		if (o->length != start) {
			out_char(o, ' ');
		}
		/* The key is the name escaped for JSON, in quotes and with a colon. */
		out_add(o, schema_text(w.e, f->key) + 1, f->key.bytes - 3);
		out_char(o, '=');
		size_t at = o->length;
		err = put_json(&w, o, f, 0);
		unquote_if_simple(o, at);
	}
	report_unread(&w);
	if (err < 0) {
		out_str(o, o->length == start ? "_error=\"" : " _error=\"");
		put_problem_text(&w, o, true);
		out_str(o, "\" _rest=");
		out_hex_bytes(o, w.p, (size_t)(w.end - w.p), false);
	}
	return err;
}

/* False: no more fields. */
static bool give(struct openetw_text *s, openetw_field_fn fn, void *ctx, struct openetw_field *out, size_t json_at,
		 size_t text_at)
{
	if (s->failed) {
		return false;
	}
	out->json = s->data + json_at;
	out->json_length = (text_at == json_at ? s->length : text_at) - json_at;
	out->text = s->data + text_at;
	out->text_length = s->length - text_at;
	return fn(ctx, out);
}

static int skip_field(struct walk *w, const struct schema_field *f, unsigned depth);

/* "Line" is meant by "Line" and by "Line.Price". */
static bool is_meant(const char *path, const char *name, size_t bytes)
{
	return !path ||
	       (strncmp(path, name, bytes) == 0 && !memchr(path, 0, bytes) && (path[bytes] == 0 || path[bytes] == '.'));
}

int schema_walk_fields(const struct schema_payload *payload, const char *only, struct openetw_text *s,
		       openetw_field_fn fn, void *ctx)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	int err = 0;
	for (uint32_t i = 0; i < w.e->top_count && err == 0; i++) {
		const struct schema_field *f = &w.e->fields[i];
		if (!is_shown(&w, f, &err)) {
			continue;
		}
		if (!is_meant(only, schema_text(w.e, f->name), f->name.bytes)) {
			err = skip_field(&w, f, 0);
			continue;
		}
		struct openetw_field out = {
			.size = sizeof out,
			.name = schema_text(w.e, f->name),
			.name_length = f->name.bytes,
			.in_type = f->in_type,
			.out_type = f->out_type,
			.is_array = schema_field_is_array(f),
			.is_struct = (f->flags & PropertyStruct) != 0,
			.offset = (uint32_t)(w.p - payload->data),
		};
		out_cut(s, 0);
		size_t text_at = 0;
		if (out.is_array || out.is_struct) {
			err = put_json(&w, s, f, 0);
		} else {
			struct schema_value v;
			err = walk_value(&w, f, &v);
			if (err == 0) {
				put_value(&w, s, SCHEMA_STYLE_JSON, f, &v);
				/* numbers read the same both ways; strings lose quotes and escapes
				 */
				if (!s->failed && s->data[0] == '"') {
					text_at = s->length;
					put_value(&w, s, SCHEMA_STYLE_PLAIN, f, &v);
				}
			}
		}
		if (err == 0 || out.is_array || out.is_struct) {
			out.bytes = (uint32_t)(w.p - payload->data) - out.offset;
			if (!give(s, fn, ctx, &out, 0, text_at)) {
				return 0;
			}
		}
	}
	report_unread(&w);
	if (err < 0 && is_meant(only, "_error", 6)) {
		struct openetw_field out = {
			.size = sizeof out, .name = "_error", .name_length = 6, .in_type = 2, .out_type = 1};
		out_cut(s, 0);
		out_char(s, '"');
		put_problem_text(&w, s, true);
		out_char(s, '"');
		size_t text_at = s->length;
		put_problem_text(&w, s, false);
		give(s, fn, ctx, &out, 0, text_at);
	}
	return err;
}

/* ---- places -------------------------------------------------------------------------------------
 */

static int skip_members(struct walk *w, uint32_t first, uint32_t count, unsigned depth);

static int skip_element(struct walk *w, const struct schema_field *f, unsigned depth)
{
	int err = walk_spend(w, f, depth);
	if (err < 0) {
		return err;
	}
	if (f->flags & PropertyStruct) {
		return skip_members(w, f->first_member, f->member_count, depth + 1);
	}
	struct schema_value v;
	const uint8_t *from = w->p;
	err = walk_value(w, f, &v);
	if (err == 0 && w->leaf) {
		const struct schema_leaf leaf = {.name = schema_text(w->e, f->name),
						 .name_bytes = f->name.bytes,
						 .in_type = f->in_type,
						 .out_type = f->out_type,
						 .at = (uint32_t)(v.p - w->payload->data),
						 .bytes = v.bytes,
						 .from = (uint32_t)(from - w->payload->data),
						 .taken = v.consumed,
						 .hidden = f->hidden};
		w->leaf(w->leaf_ctx, &leaf);
	}
	return err;
}

static int skip_elements(struct walk *w, const struct schema_field *f, uint32_t count, unsigned depth)
{
	int err = 0;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		err = skip_element(w, f, depth);
	}
	return err;
}

static int skip_field(struct walk *w, const struct schema_field *f, unsigned depth)
{
	int err = 0;
	if (!f->to_end) {
		return skip_elements(w, f, walk_count(w, f), depth);
	}
	while (w->p < w->end && err == 0) {
		err = skip_element(w, f, depth);
	}
	return err;
}

static int skip_members(struct walk *w, uint32_t first, uint32_t count, unsigned depth)
{
	int err = 0;
	for (uint32_t i = first; i < first + count && err == 0; i++) {
		const struct schema_field *f = &w->e->fields[i];
		if (!is_absent(w, f)) {
			err = skip_field(w, f, depth);
		}
	}
	return err;
}

static int measure(const struct schema_payload *payload, uint32_t count, uint32_t *ret_bytes)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	int err = skip_members(&w, 0, count, 0);
	*ret_bytes = (uint32_t)(w.p - payload->data);
	return err;
}

int schema_walk_measure(const struct schema_payload *payload, uint32_t *ret_bytes)
{
	return measure(payload, payload->event->top_count, ret_bytes);
}

int schema_walk_last(const struct schema_payload *payload, uint32_t *ret_at)
{
	return measure(payload, payload->event->top_count - 1, ret_at);
}

int schema_walk_leaves(const struct schema_payload *payload, schema_leaf_fn *fn, void *ctx, uint32_t *ret_bytes)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	w.leaf = fn;
	w.leaf_ctx = ctx;
	int err = skip_members(&w, 0, w.e->top_count, 0);
	*ret_bytes = (uint32_t)(w.p - payload->data);
	return err;
}

uint32_t schema_walk_present(const struct schema_payload *payload, uint16_t *ret_to_end)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	*ret_to_end = 0;
	for (uint32_t i = 0; i < w.e->top_count; i++) {
		const struct schema_field *f = &w.e->fields[i];
		int err = 0;
		if (is_absent(&w, f)) {
			return i;
		}
		for (uint32_t n = 0; f->to_end && w.p < w.end && err == 0; n++) {
			err = skip_element(&w, f, 0);
			*ret_to_end = (uint16_t)BASE_MIN(n + 1, 0xFFFFu);
		}
		if (!f->to_end) {
			err = skip_field(&w, f, 0);
		}
		if (err < 0) {
			break;
		}
	}
	return w.e->top_count;
}

int schema_walk_find(const struct schema_payload *payload, const struct schema_step *steps, unsigned n,
		     const uint8_t **ret_data, uint32_t *ret_bytes)
{
	uint16_t numbers[SCHEMA_FIELDS_MAX];
	WALK_INIT(w, payload, numbers);
	uint32_t i = 0, end = w.e->top_count;
	for (unsigned level = 0; level < n;) {
		const struct schema_step *s = &steps[level];
		if (i == end) {
			return -ENOENT;
		}
		const struct schema_field *f = &w.e->fields[i++];
		uint32_t count = f->to_end ? UINT32_MAX - 1 : walk_count(&w, f);
		if (is_absent(&w, f)) {
			continue;
		}
		if (f->name.bytes != s->bytes || memcmp(schema_text(w.e, f->name), s->name, s->bytes) != 0) {
			int err = skip_field(&w, f, level);
			if (err < 0) {
				return err;
			}
			continue;
		}
		bool last = level + 1 == n;
		if (s->index != SCHEMA_INDEX_ALL) {
			if (s->index >= count) {
				return -ENOENT;
			}
			int err = skip_elements(&w, f, s->index, level);
			if (err < 0) {
				return err;
			}
		}
		if (last) {
			const uint8_t *from = w.p;
			int err = s->index == SCHEMA_INDEX_ALL ? skip_field(&w, f, level) : skip_element(&w, f, level);
			if (err < 0) {
				return err;
			}
			*ret_data = from;
			*ret_bytes = (uint32_t)(w.p - from);
			return 0;
		}
		if (!(f->flags & PropertyStruct) || count == 0) {
			return -ENOENT;
		}
		level++;
		i = f->first_member;
		end = i + f->member_count;
	}
	return -EINVAL;
}
