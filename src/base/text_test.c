/* SPDX-License-Identifier: MIT
 * The ground's smallest parts: UTF-8 and UTF-16, GUIDs, the byte cursor, strbuf, arena, SHA-1.
 */
#include "base/arena.h"
#include "base/base.h"
#include "base/source_text.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

/* ---- utf --------------------------------------------------------------------------------------- */

static void every_code_point_survives_both_encodings(void **state)
{
	for (uint32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 61) {
		char utf8[5] = "", back[8];
		uint16_t wide[3];
		uint32_t again = 0;
		if (c >= 0xD800 && c < 0xE000) {
			continue;
		}
		size_t n = utf8_encode(c, utf8);
		assert_int_equal(utf8_decode(utf8, n, &again), n);
		assert_int_equal(again, c);
		long units = utf8_to_utf16(utf8, n, wide, BASE_ARRAY_LEN(wide));
		assert_int_equal(units, c < 0x10000 ? 1 : 2);
		assert_int_equal(utf16_to_utf8(wide, (size_t)units, back, sizeof back), (long)n);
		assert_string_equal(back, utf8);
	}
}

static void what_is_no_utf8_is_refused(void **state)
{
	static const char *const wrong[] = {"\x80",
					    "\xC3",
					    "\xC0\x80" /* overlong NUL */,
					    "\xE0\x80\xAF" /* overlong slash */,
					    "\xED\xA0\x80" /* a surrogate */,
					    "\xF4\x90\x80\x80" /* above U+10FFFF */,
					    "\xFF",
					    "\xF8\x88\x80\x80\x80"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		uint32_t c;
		uint16_t wide[8];
		assert_int_equal(utf8_decode(wrong[i], strlen(wrong[i]), &c), 0);
		assert_int_equal(utf8_to_utf16(wrong[i], strlen(wrong[i]), wide, 8), -EILSEQ);
	}
}

static void a_lone_surrogate_is_an_error_or_a_mark(void **state)
{
	static const uint16_t wide[] = {'a', 0xD800, 'b', 0xDC00};
	char out[16];
	assert_int_equal(utf16_to_utf8(wide, 4, out, sizeof out), -EILSEQ);
	assert_int_equal(utf16_to_utf8_lossy(wide, 4, out, sizeof out), 8);
	assert_string_equal(out, "a\xEF\xBF\xBD"
				 "b\xEF\xBF\xBD");
}

static void short_output_is_terminated_and_the_need_is_said(void **state)
{
	uint16_t wide[4];
	char out[4];
	assert_int_equal(utf8_to_utf16("abcdef", 6, wide, 4), 6);
	assert_int_equal(wide[3], 0);
	assert_int_equal(utf8_to_utf16("abcdef", 6, NULL, 0), 6);
	assert_int_equal(utf16_to_utf8(u"abcdef", 6, out, sizeof out), 6);
	assert_int_equal(out[3], 0);
	assert_true(utf16_equal_nocase(u"Name", u"nAME"));
	assert_false(utf16_equal_nocase(u"Name", u"Names"));
	assert_int_equal(utf16_len(u"abc"), 3);
}

/* ---- guid -------------------------------------------------------------------------------------- */

static void a_guid_is_read_in_all_spellings_and_no_others(void **state)
{
	static const char *const same[] = {"11223344-5566-7788-99aa-bbccddeeff00",
					   "{11223344-5566-7788-99AA-BBCCDDEEFF00}"};
	static const uint8_t bytes[16] = {0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77,
					  0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x00};
	static const char *const wrong[] = {"",
					    "{}",
					    "11223344-5566-7788-99aa-bbccddeeff0",
					    "11223344-5566-7788-99aa-bbccddeeff000",
					    "{11223344-5566-7788-99aa-bbccddeeff00",
					    "11223344-5566-7788-99aa-bbccddeeff00}",
					    "1122334455667788-99aa-bbccddeeff00",
					    "11223344-5566-7788-99aa-bbccddeeffg0"};
	struct guid g;
	char text[37];
	for (size_t i = 0; i < BASE_ARRAY_LEN(same); i++) {
		assert_int_equal(guid_parse(same[i], &g), 0);
		assert_memory_equal(g.b, bytes, 16);
		assert_string_equal(guid_format(&g, text), same[0]);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		assert_int_equal(guid_parse(wrong[i], &g), -EINVAL);
	}
	assert_true(guid_is_zero(&GUID_ZERO));
	assert_false(guid_equal(&g, &GUID_ZERO));
}

static void the_name_hash_is_that_of_eventsource(void **state)
{
	struct guid g;
	char text[37];
	assert_int_equal(guid_from_provider_name("MyCompany.MyComponent", &g), 0);
	assert_string_equal(guid_format(&g, text), "ce5fa4ea-ab00-5402-8b76-9f76ac858fb5");
	struct guid other;
	assert_int_equal(guid_from_provider_name("mycompany.MYCOMPONENT", &other), 0);
	assert_true(guid_equal(&g, &other));
	assert_int_equal(guid_from_provider_name("\xFF", &g), -EINVAL);
}

static void sha1_is_the_standards(void **state)
{
	static const uint8_t abc[20] = {0xA9, 0x99, 0x3E, 0x36, 0x47, 0x06, 0x81, 0x6A, 0xBA, 0x3E,
					0x25, 0x71, 0x78, 0x50, 0xC2, 0x6C, 0x9C, 0xD0, 0xD8, 0x9D};
	static const uint8_t long_one[20] = {0x84, 0x98, 0x3E, 0x44, 0x1C, 0x3B, 0xD2, 0x6E, 0xBA, 0xAE,
					     0x4A, 0xA1, 0xF9, 0x51, 0x29, 0xE5, 0xE5, 0x46, 0x70, 0xF1};
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t digest[20];
	sha1("abc", 3, digest);
	assert_memory_equal(digest, abc, 20);
	sha1(text, sizeof text - 1, digest);
	assert_memory_equal(digest, long_one, 20);
}

/* ---- bytes ------------------------------------------------------------------------------------- */

static void a_cursor_never_leaves_its_bytes(void **state)
{
	static const uint8_t data[] = {1, 2, 0, 3, 0, 0, 0};
	struct bytes b = bytes_of(data, sizeof data);
	assert_int_equal(bytes_u8(&b), 1);
	assert_int_equal(bytes_u16(&b), 2);
	assert_int_equal(bytes_left(&b), 4);
	assert_int_equal(bytes_u32(&b), 3);
	assert_false(b.bad);
	assert_int_equal(bytes_u8(&b), 0);
	assert_true(b.bad);
	b = bytes_of(data, 3);
	assert_int_equal(bytes_u32(&b), 0); /* one byte short */
	assert_true(b.bad);
	assert_int_equal(bytes_u8(&b), 0); /* bad stays */
	assert_int_equal(bytes_left(&b), 0);
	b = bytes_of(NULL, 0);
	assert_null(bytes_take(&b, 1));
	b = bytes_of(data, 7);
	assert_null(bytes_take(&b, SIZE_MAX));
	assert_int_equal(bytes_left(&(struct bytes){data, data, false}), 0);
	b = bytes_at(data, 7, 8);
	assert_int_equal(bytes_left(&b), 0);
}

static void strings_need_their_end_inside(void **state)
{
	static const uint8_t narrow[] = {'a', 'b', 0, 'c'}, wide[] = {'a', 0, 'b', 0, 0, 0, 'c', 0, 0};
	size_t n;
	struct bytes b = bytes_of(narrow, 4);
	assert_string_equal(bytes_asz(&b, &n), "ab");
	assert_int_equal(n, 2);
	assert_null(bytes_asz(&b, &n));
	assert_true(b.bad);
	b = bytes_of(wide, 9);
	assert_ptr_equal(bytes_wsz(&b, &n), wide);
	assert_int_equal(n, 2);
	assert_null(bytes_wsz(&b, &n)); /* half a NUL is none */
	assert_true(b.bad);
}

/* ---- strbuf, arena ----------------------------------------------------------------------------- */

static void a_strbuf_grows_and_stays_terminated(void **state)
{
	struct strbuf b = {0};
	for (int i = 0; i < 3000; i++) {
		strbuf_addf(&b, "%d,", i);
		assert_int_equal(b.s[b.len], 0);
	}
	strbuf_add_u64(&b, UINT64_MAX);
	assert_non_null(strstr(b.s, ",2999,18446744073709551615"));
	strbuf_clear(&b);
	assert_int_equal(b.len, 0);
	strbuf_add(&b, NULL, 0); /* nothing, from nowhere */
	assert_string_equal(b.s, "");
	strbuf_add_json(&b, "a\"\n\x01\xFF", 5);
	assert_non_null(strstr(b.s, "\"a\\\"\\n\\u0001"));
	assert_false(strbuf_room(&b, SIZE_MAX - 10));
	assert_true(b.failed);
	strbuf_finish(&b);
	assert_null(b.s);
}

static void an_arena_gives_zeroed_pieces_up_to_its_limit(void **state)
{
	static const uint8_t zero[5000];
	struct arena a;
	size_t given = 0;
	arena_init(&a, 200000);
	for (size_t n = 1; n < 5000; n += 37, given += n) {
		uint8_t *p = arena_alloc(&a, n);
		if (!p) {
			break;
		}
		assert_int_equal((uintptr_t)p % 8, 0);
		assert_memory_equal(p, zero, n); /* no other piece lies in it */
		memset(p, 0xAB, n);
	}
	assert_true(a.failed);
	assert_true(given <= 200000);
	assert_null(arena_alloc(&a, 1)); /* failed stays */
	arena_finish(&a);
	arena_init(&a, 1000);
	assert_string_equal(arena_text(&a, "abcdef", 3), "abc");
	assert_null(arena_alloc(&a, SIZE_MAX));
	arena_finish(&a);
}

static void a_source_is_utf8_or_utf16_of_either_order(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n;
		unsigned flags;
		const char *text; /* NULL: refused */
	} row[] = {
		{"a\xC3\xA9", 3, 0, "a\xC3\xA9"},
		{"\xEF\xBB\xBF<", 4, 0, "<"},
		{"\xFF\xFE\x61\0\xE9\0", 6, 0, "a\xC3\xA9"},
		{"\xFE\xFF\0\x61\0\xE9", 6, 0, "a\xC3\xA9"},
		{"\xFF\xFE\x61\0\x62", 5, 0, "a"}, /* half a unit at its end */
		{"\xFF\xFE\0\xD8", 4, 0, NULL},
		{"\xFF\xFE\0\xD8", 4, SOURCE_TEXT_LOSSY, "\xEF\xBF\xBD"},
		{"<\0a\0", 4, SOURCE_TEXT_MARKUP, "<a"},
		{"\0<\0a", 4, SOURCE_TEXT_MARKUP, "<a"},
		{"\xFF\xFE", 2, 0, ""},
		{"", 0, SOURCE_TEXT_MARKUP, ""},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(row); i++) {
		struct source_text t;
		int err = source_text_of(row[i].bytes, row[i].n, row[i].flags, &t);
		assert_int_equal(err, row[i].text ? 0 : -EILSEQ);
		if (row[i].text) {
			assert_int_equal(t.n, strlen(row[i].text));
			assert_memory_equal(t.s, row[i].text, t.n);
			source_text_finish(&t);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point_survives_both_encodings),
		cmocka_unit_test(what_is_no_utf8_is_refused),
		cmocka_unit_test(a_lone_surrogate_is_an_error_or_a_mark),
		cmocka_unit_test(short_output_is_terminated_and_the_need_is_said),
		cmocka_unit_test(a_guid_is_read_in_all_spellings_and_no_others),
		cmocka_unit_test(a_source_is_utf8_or_utf16_of_either_order),
		cmocka_unit_test(the_name_hash_is_that_of_eventsource),
		cmocka_unit_test(sha1_is_the_standards),
		cmocka_unit_test(a_cursor_never_leaves_its_bytes),
		cmocka_unit_test(strings_need_their_end_inside),
		cmocka_unit_test(a_strbuf_grows_and_stays_terminated),
		cmocka_unit_test(an_arena_gives_zeroed_pieces_up_to_its_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
