/* SPDX-License-Identifier: MIT
 *
 * For this folder's tests: event records out of bytes, TraceLogging metadata out of a few calls.
 */
#ifndef SCHEMA_SCHEMA_TESTING_H
#define SCHEMA_SCHEMA_TESTING_H

#include "schema/schema_tdh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- bytes
 * ---------------------------------------------------------------------------------------- */

struct blob {
	uint8_t b[8192];
	size_t n;
};

static inline void blob_add(struct blob *k, const void *p, size_t n)
{
	memcpy(k->b + k->n, p, n);
	k->n += n;
}
static inline void blob_u8(struct blob *k, uint8_t v)
{
	blob_add(k, &v, 1);
}
static inline void blob_u16(struct blob *k, uint16_t v)
{
	blob_add(k, &v, 2);
}
static inline void blob_u32(struct blob *k, uint32_t v)
{
	blob_add(k, &v, 4);
}
static inline void blob_u64(struct blob *k, uint64_t v)
{
	blob_add(k, &v, 8);
}
static inline void blob_asz(struct blob *k, const char *s)
{
	blob_add(k, s, strlen(s) + 1);
}
static inline void blob_wide(struct blob *k, const char *ascii) /* without NUL */
{
	for (; *ascii; ascii++) {
		blob_u16(k, (uint8_t)*ascii);
	}
}
static inline void blob_wsz(struct blob *k, const char *ascii)
{
	blob_wide(k, ascii);
	blob_u16(k, 0);
}
static inline void blob_hex(struct blob *k, const char *hex)
{
	for (; hex[0] && hex[1]; hex += 2) {
		char two[3] = {hex[0], hex[1], 0};
		blob_u8(k, (uint8_t)strtoul(two, NULL, 16));
	}
}

/* ---- TraceLogging metadata
 * -------------------------------------------------------------------------- */

static inline void meta_start(struct blob *k, const char *event)
{
	k->n = 0;
	blob_u16(k, 0);
	blob_u8(k, 0);
	blob_asz(k, event);
}
static inline void meta_field(struct blob *k, const char *name, uint8_t in)
{
	blob_asz(k, name);
	blob_u8(k, in);
}
static inline void meta_field_out(struct blob *k, const char *name, uint8_t in, uint8_t out)
{
	meta_field(k, name, in | 0x80);
	blob_u8(k, out);
}
static inline void meta_done(struct blob *k)
{
	le16_put(k->b, (uint16_t)k->n);
}

/* ---- records
 * ---------------------------------------------------------------------------------------- */

struct record {
	EVENT_RECORD r;
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
	struct blob traits;
};

/* {01020304-0506-0708-090a-0b0c0d0e0f10} */
static const uint8_t test_provider[16] = {4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16};

static inline EVENT_RECORD *record_make(struct record *t, const struct blob *meta, const struct blob *payload)
{
	memset(t, 0, sizeof *t);
	t->r.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
	memcpy(&t->r.EventHeader.ProviderId, test_provider, 16);
	t->r.UserData = (void *)(uintptr_t)payload->b;
	t->r.UserDataLength = (USHORT)payload->n;
	if (meta) {
		blob_u16(&t->traits, 0);
		blob_asz(&t->traits, "Test.Provider");
		le16_put(t->traits.b, (uint16_t)t->traits.n);
		t->items[0].ExtType = EVENT_HEADER_EXT_TYPE_PROV_TRAITS;
		t->items[0].DataSize = (USHORT)t->traits.n;
		t->items[0].DataPtr = (uintptr_t)t->traits.b;
		t->items[1].ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL;
		t->items[1].DataSize = (USHORT)meta->n;
		t->items[1].DataPtr = (uintptr_t)meta->b;
		t->r.ExtendedData = t->items;
		t->r.ExtendedDataCount = 2;
		t->r.EventHeader.EventDescriptor.Channel = 11;
	}
	return &t->r;
}

static inline void assert_json(const struct blob *meta, const struct blob *payload, int expected_result,
			       const char *expected)
{
	struct record t;
	struct openetw_text o = {0};
	struct openetw_decoder *d = openetw_decoder_create();
	assert_non_null(d);
	/* twice: parsed, then from the cache */
	for (int i = 0; i < 2; i++) {
		openetw_text_clear(&o);
		int got = openetw_decode_json(d, record_make(&t, meta, payload), &o);
		assert_string_equal(o.data, expected);
		assert_int_equal(got, expected_result);
	}
	openetw_text_free(&o);
	openetw_decoder_destroy(d);
}

#endif
