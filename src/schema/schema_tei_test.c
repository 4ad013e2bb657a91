/* SPDX-License-Identifier: MIT
 *
 * Blocks of event information and value maps out of a file: TDH hands them to its callers as they are, and
 * callers follow every offset in them.
 */
#include "schema/schema_testing.h"

enum {
	LEVEL = 0x38,
	KEYWORDS = 0x40,
	PROVIDER_MESSAGE = 0x50,
	BINARY_XML = 0x54,
	SECOND_NAME = 0x5C,
	THIRD_NAME = 0x60
};

/* An event without fields; texts follow the fixed part. */
static void make_block(struct blob *k, uint16_t id, uint32_t source)
{
	memset(k, 0, sizeof *k);
	memcpy(k->b, test_provider, 16);
	memcpy(k->b + 0x10, test_provider, 16);
	le16_put(k->b + 0x20, id);
	k->b[0x25] = (uint8_t)id;
	le32_put(k->b + 0x30, source);
	k->n = 136;
}

static void learn(const struct blob *k)
{
	static const uint8_t class_guid[16] = {0xC1, 0xF6, 0xCC, 0xBB, 0xD1, 0x6C, 0xC4, 0x48,
					       0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71};
	struct record t;
	EVENT_RECORD *r = record_make(&t, NULL, k);
	memcpy(&r->EventHeader.ProviderId, class_guid, 16);
	r->EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	r->EventHeader.EventDescriptor.Opcode = 32;
	assert_int_equal(openetw_schema_learn(r), 1);
}

/* What TDH gives for the event, in memory of exactly its size. */
static uint8_t *given(uint16_t id, bool classic, size_t *ret_size)
{
	struct record t;
	struct blob nothing = {.n = 0};
	EVENT_RECORD *r = record_make(&t, NULL, &nothing);
	r->EventHeader.EventDescriptor.Id = id;
	r->EventHeader.EventDescriptor.Opcode = (UCHAR)id;
	r->EventHeader.Flags |= classic ? EVENT_HEADER_FLAG_CLASSIC_HEADER : 0;
	ULONG size = 0;
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, NULL, &size), ERROR_INSUFFICIENT_BUFFER);
	uint8_t *p = malloc(size);
	assert_non_null(p);
	assert_int_equal(TdhGetEventInformation(r, 0, NULL, (TRACE_EVENT_INFO *)(void *)p, &size), ERROR_SUCCESS);
	*ret_size = size;
	return p;
}

static void a_list_of_keywords_that_does_not_end_is_not_handed_out(void **state)
{
	struct blob k;
	size_t size;
	make_block(&k, 31, SCHEMA_SOURCE_XML);
	le32_put(k.b + LEVEL, (uint32_t)k.n);
	blob_wsz(&k, "Loud");
	le32_put(k.b + KEYWORDS, (uint32_t)k.n);
	blob_wsz(&k, "Fuel"), blob_wide(&k, "Air");
	learn(&k);
	uint8_t *p = given(31, false, &size);
	assert_int_equal(le32_get(p + KEYWORDS), 0);
	assert_int_equal(le32_get(p + LEVEL), 136);
	free(p);
	/* nor one whose last name ends and that has no empty one behind */
	make_block(&k, 32, SCHEMA_SOURCE_XML);
	le32_put(k.b + KEYWORDS, (uint32_t)k.n);
	blob_wsz(&k, "Fuel"), blob_wsz(&k, "Air");
	learn(&k);
	p = given(32, false, &size);
	assert_int_equal(le32_get(p + KEYWORDS), 0);
	free(p);
	make_block(&k, 33, SCHEMA_SOURCE_XML);
	le32_put(k.b + KEYWORDS, (uint32_t)k.n);
	blob_wsz(&k, "Fuel"), blob_wsz(&k, "Air"), blob_wsz(&k, "");
	learn(&k);
	p = given(33, false, &size);
	assert_int_equal(size, k.n);
	assert_memory_equal(p, k.b, size);
	free(p);
}

static void offsets_that_only_callers_follow_lead_into_the_block(void **state)
{
	static const uint32_t wrong[] = {PROVIDER_MESSAGE, SECOND_NAME, THIRD_NAME};
	for (uint16_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		for (uint16_t far = 0; far < 2; far++) {
			struct blob k;
			size_t size;
			uint16_t id = (uint16_t)(41 + 2 * i + far);
			make_block(&k, id, SCHEMA_SOURCE_WBEM);
			le32_put(k.b + wrong[i], far ? 0xFFFFFF00u : (uint32_t)k.n);
			blob_wide(&k, "never ends");
			learn(&k);
			uint8_t *p = given(id, true, &size);
			assert_int_equal(le32_get(p + wrong[i]), 0);
			free(p);
		}
	}
	struct blob k;
	size_t size;
	make_block(&k, 51, SCHEMA_SOURCE_XML);
	le32_put(k.b + BINARY_XML, 130);
	le32_put(k.b + BINARY_XML + 4, 7);
	learn(&k);
	uint8_t *p = given(51, false, &size);
	assert_int_equal(le32_get(p + BINARY_XML), 0);
	assert_int_equal(le32_get(p + BINARY_XML + 4), 0);
	free(p);
}

static void a_map_of_patterns_has_its_texts_inside(void **state)
{
	struct blob k = {.n = 0};
	struct schema_map m;
	blob_u32(&k, 24), blob_u32(&k, EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP), blob_u32(&k, 1);
	blob_u32(&k, 30), blob_u32(&k, 36), blob_u32(&k, 42);
	blob_wsz(&k, "Mp"), blob_wsz(&k, "%s"), blob_wsz(&k, "a+"), blob_wsz(&k, "b+");
	assert_int_equal(schema_map_parse(k.b, k.n, &m, NULL), 0);
	assert_int_equal(schema_map_parse(k.b, k.n - 2, &m, NULL), -EBADMSG);
	le32_put(k.b + 20, 0x7FFFFFF0);
	assert_int_equal(schema_map_parse(k.b, k.n, &m, NULL), -EBADMSG);
	le32_put(k.b + 20, 42);
	le32_put(k.b + 12, (uint32_t)k.n);
	assert_int_equal(schema_map_parse(k.b, k.n, &m, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_keywords_that_does_not_end_is_not_handed_out),
		cmocka_unit_test(offsets_that_only_callers_follow_lead_into_the_block),
		cmocka_unit_test(a_map_of_patterns_has_its_texts_inside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
