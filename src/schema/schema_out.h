/* SPDX-License-Identifier: MIT
 *
 * Fast appends to openetw_text: room is made once for a bounded piece, then bytes are stored
 * without further checks. Inside this folder only.
 */
#ifndef SCHEMA_SCHEMA_OUT_H
#define SCHEMA_SCHEMA_OUT_H

#include "base/base.h"
#include "openetw/decode.h"

bool schema_out_grow(struct openetw_text *o, size_t n);

/* n bytes to fill at the end, or NULL; then call out_used(). Room for a NUL is kept besides. */
static inline char *out_room(struct openetw_text *o, size_t n)
{
	if (BASE_UNLIKELY(o->failed || n >= o->capacity - o->length) && !schema_out_grow(o, n)) {
		return NULL;
	}
	return o->data + o->length;
}
static inline void out_used(struct openetw_text *o, size_t n)
{
	o->length += n;
	o->data[o->length] = 0;
}
static inline void out_add(struct openetw_text *o, const void *p, size_t n)
{
	char *to = out_room(o, n);
	if (to) {
		memcpy(to, p, n);
		out_used(o, n);
	}
}
static inline void out_char(struct openetw_text *o, char c)
{
	char *to = out_room(o, 1);
	if (to) {
		*to = c;
		out_used(o, 1);
	}
}
static inline void out_str(struct openetw_text *o, const char *s)
{
	out_add(o, s, strlen(s));
}
static inline void out_cut(struct openetw_text *o, size_t length)
{
	if (o->data && length <= o->length) {
		o->length = length;
		o->data[length] = 0;
	}
}

void out_u64(struct openetw_text *o, uint64_t v);
void out_i64(struct openetw_text *o, int64_t v);
/* `0x` and no leading zeros */
void out_hex(struct openetw_text *o, uint64_t v, bool upper);
void out_hex_bytes(struct openetw_text *o, const uint8_t *p, size_t n, bool upper);
/* Decimal with leading zeros. */
void out_padded(struct openetw_text *o, uint32_t v, unsigned digits);
void out_double(struct openetw_text *o, double v, bool is_float);
/* Text from elsewhere to valid UTF-8, JSON-escaped (without quotes) if asked. */
void out_utf8(struct openetw_text *o, const void *s, size_t n, bool json);
void out_utf16(struct openetw_text *o, const void *s, size_t units, bool json);

#endif
