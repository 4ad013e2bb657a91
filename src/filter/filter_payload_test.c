/* SPDX-License-Identifier: MIT */
#include "filter/filter_payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- little builders ------------------------------------------------------------------------- */

static uint8_t blob[FILTER_BYTES_MAX];
static size_t blob_bytes;

#define FIELDS(...)                   \
	(const struct filter_field[]) \
	{                             \
		__VA_ARGS__           \
	}
#define INTEGER(bytes)                         \
	{                                      \
		FILTER_FIXED, 0, (bytes), 1, 0 \
	}

static int make(const struct filter_field *fields, size_t field_count, const struct filter_predicate *predicates,
		size_t predicate_count, uint8_t flags)
{
	struct filter_event e = {.provider = {{7}},
				 .id = 10,
				 .version = 2,
				 .flags = flags,
				 .field_count = (uint16_t)field_count,
				 .predicate_count = (uint16_t)predicate_count,
				 .fields = fields,
				 .predicates = predicates};
	return filter_write(&e, blob, &blob_bytes);
}

static bool passes(const void *payload, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);
	if (bytes) {
		memcpy(copy, payload, bytes);
	}
	bool ok = filter_passes(blob, 10, 2, copy, bytes, 8);
	free(copy);
	return ok;
}

/* ---- operators ------------------------------------------------------------------------------- */

static void integers_compare_by_value_and_sign(void **state)
{
	static const struct {
		uint8_t op, type, width;
		int64_t value, high;
		int64_t yes[3], no[3];
	} cases[] = {
		{FILTER_EQ, FILTER_UNSIGNED, 1, 200, 0, {200, 200, 200}, {0, 199, 201}},
		{FILTER_EQ, FILTER_SIGNED, 1, -56, 0, {200, -56, 200}, {0, 56, 55}},
		{FILTER_NE, FILTER_UNSIGNED, 2, 7, 0, {6, 8, 65535}, {7, 7, 7}},
		{FILTER_LE, FILTER_SIGNED, 2, 0, 0, {0, -1, -32768}, {1, 2, 32767}},
		{FILTER_LE, FILTER_UNSIGNED, 2, 0, 0, {0, 0, 0}, {1, -1, -32768}},
		{FILTER_GT, FILTER_SIGNED, 4, -5, 0, {-4, 0, 5}, {-5, -6, INT32_MIN}},
		{FILTER_LT, FILTER_UNSIGNED, 4, 5, 0, {4, 0, 1}, {5, 6, UINT32_MAX}},
		{FILTER_GE, FILTER_SIGNED, 8, INT64_MIN, 0, {INT64_MIN, 0, -1}, {1, 1, 1}},
		{FILTER_GE, FILTER_UNSIGNED, 8, -1, 0, {-1, -1, -1}, {0, 1, INT64_MAX}},
		{FILTER_BETWEEN, FILTER_SIGNED, 4, -2, 2, {-2, 0, 2}, {-3, 3, INT32_MAX}},
		{FILTER_NOTBETWEEN, FILTER_SIGNED, 4, -2, 2, {-3, 3, INT32_MAX}, {-2, 0, 2}},
		{FILTER_MODULO, FILTER_UNSIGNED, 4, 100, 0, {0, 100, 200}, {1, 99, 101}},
		{FILTER_MODULO, FILTER_SIGNED, 8, -1, 0, {INT64_MIN, 0, 7}, {0, 0, 0}},
		{FILTER_EQ, FILTER_NETWORK, 2, 443, 0, {0xBB01, 0xBB01, 0xBB01}, {443, 0, 1}},
		{FILTER_LT, FILTER_NETWORK, 4, 0x0A000001, 0, {10, 0, 10}, {0x0100000A, 11, 12}},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		uint8_t value[16], payload[12] = {1, 2, 3, 4};
		le64_put(value, (uint64_t)cases[i].value);
		le64_put(value + 8, (uint64_t)cases[i].high);
		bool interval = cases[i].op == FILTER_BETWEEN || cases[i].op == FILTER_NOTBETWEEN;
		struct filter_predicate p = {1, cases[i].op, cases[i].type, interval ? 16 : 8, value};
		assert_int_equal(make(FIELDS(INTEGER(4), INTEGER(cases[i].width)), 2, &p, 1, 0), 0);
		for (int k = 0; k < 3; k++) {
			le64_put(payload + 4, (uint64_t)cases[i].yes[k]);
			if (!passes(payload, 4u + cases[i].width)) {
				fail_msg("case %zu, yes %d", i, k);
			}
			bool all_pass = cases[i].op == FILTER_GE && cases[i].value == INT64_MIN;
			le64_put(payload + 4, (uint64_t)cases[i].no[k]);
			all_pass |= cases[i].op == FILTER_MODULO && cases[i].value == -1;
			if (passes(payload, 4u + cases[i].width) != all_pass) {
				fail_msg("case %zu, no %d", i, k);
			}
		}
		/* Cut off, no operator holds. */
		assert_false(passes(payload, 3u + cases[i].width));
	}
}

static void text_is_found_only_at_whole_characters(void **state)
{
	static const struct {
		uint8_t op;
		bool wide;
		const char *value;
		size_t bytes;
		const char *payload;
		size_t payload_bytes;
		bool passes;
	} cases[] = {
		{FILTER_CONTAINS, false, "bc", 2, "abcd", 5, true},
		{FILTER_CONTAINS, false, "BC", 2, "abcd", 5, false},
		{FILTER_CONTAINS, false, "bcd", 3, "abcd", 4, true}, /* no terminator */
		{FILTER_CONTAINS, false, "d\0", 2, "abcd", 5, false},
		{FILTER_CONTAINS, false, "", 0, "", 1, true},
		{FILTER_DOESNTCONTAIN, false, "bc", 2, "abcd", 5, false},
		{FILTER_DOESNTCONTAIN, false, "x", 1, "abcd\0x", 7, true},
		{FILTER_IS, false, "ab", 2, "ab", 3, true},
		{FILTER_IS, false, "ab", 2, "abc", 4, false},
		{FILTER_IS, false, "", 0, "", 1, true},
		{FILTER_ISNOT, false, "ab", 2, "a", 2, true},
		{FILTER_CONTAINS, true, "b\0", 2, "a\0b\0\0", 6, true},
		/* U+6100 U+0062: the bytes of 'a' stand there, one byte off. */
		{FILTER_CONTAINS, true, "a\0", 2, "\0ab\0\0", 6, false},
		{FILTER_IS, true, "a\0", 2, "a\0\0\0", 4, true},
		{FILTER_ISNOT, true, "a\0", 2, "A\0\0\0", 4, true},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_predicate p = {0, cases[i].op, cases[i].wide ? FILTER_WIDE : FILTER_NARROW,
					     (uint16_t)cases[i].bytes, (const uint8_t *)cases[i].value};
		struct filter_field f = {cases[i].wide ? FILTER_TEXT16 : FILTER_TEXT8, 0, 0, 1, 0};
		assert_int_equal(make(&f, 1, &p, 1, 0), 0);
		if (passes(cases[i].payload, cases[i].payload_bytes) != cases[i].passes) {
			fail_msg("case %zu", i);
		}
	}
}

static void a_guid_is_compared_as_a_whole(void **state)
{
	uint8_t a[16] = {1, 2, 3}, b[16] = {1, 2, 3, 4};
	struct filter_predicate p = {0, FILTER_IS, FILTER_BYTES, 16, a};
	assert_int_equal(make(FIELDS({FILTER_FIXED, 0, 16, 1, 0}), 1, &p, 1, 0), 0);
	assert_true(passes(a, 16));
	assert_false(passes(b, 16));
	p.op = FILTER_ISNOT;
	assert_int_equal(make(FIELDS({FILTER_FIXED, 0, 16, 1, 0}), 1, &p, 1, 0), 0);
	assert_false(passes(a, 16));
	assert_true(passes(b, 16));
	assert_false(passes(b, 15));
}

/* ---- where a field lies ---------------------------------------------------------------------- */

/* Behind each kind of field stands a byte 42. */
static void every_kind_of_field_is_passed_over(void **state)
{
	static const struct {
		struct filter_field f;
		const char *bytes;
		size_t n;
	} cases[] = {
		{{FILTER_FIXED, 0, 3, 1, 0}, "abc", 3},
		{{FILTER_FIXED, 0, 3, 2, 0}, "abcdef", 6},
		{{FILTER_FIXED, 0, 0, 1, 0}, "", 0},
		{{FILTER_POINTER, 0, 0, 1, 0}, "12345678", 8},
		{{FILTER_TEXT8, 0, 0, 1, 0}, "text\0", 5},
		{{FILTER_TEXT8, FILTER_SIZED, 6, 1, 0}, "text\0x", 6},
		{{FILTER_TEXT16, 0, 0, 1, 0}, "t\0e\0\0\0", 6},
		{{FILTER_TEXT16, 0, 0, 2, 0}, "t\0\0\0e\0\0\0", 8},
		{{FILTER_TEXT16, FILTER_SIZED, 2, 1, 0}, "t\0e\0", 4},
		{{FILTER_COUNTED, 0, 0, 1, 0}, "\3\0abc", 5},
		{{FILTER_COUNTED_BE, 0, 0, 1, 0}, "\0\3abc", 5},
		{{FILTER_COUNTED32, 0, 0, 1, 0}, "\3\0\0\0abc", 7},
		{{FILTER_SID, 0, 0, 1, 0}, "\1\1\0\0\0\0\0\5\x12\0\0\0", 12},
		{{FILTER_TOKEN_SID, 0, 0, 1, 0}, "12345678\0\0\0\0\0\0\0\0\1\1\0\0\0\0\0\5\x12\0\0\0", 28},
		{{FILTER_TOKEN_SID, 0, 0, 1, 0}, "\0\0\0\0", 4},
		{{FILTER_FIXED, 0, 4, 0, 0}, "", 0},
	};
	uint8_t value[8] = {42};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_predicate p = {1, FILTER_EQ, FILTER_UNSIGNED, 8, value};
		struct filter_field f[2] = {cases[i].f, INTEGER(1)};
		uint8_t payload[64];
		assert_int_equal(make(f, 2, &p, 1, 0), 0);
		memcpy(payload, cases[i].bytes, cases[i].n);
		payload[cases[i].n] = 42;
		payload[cases[i].n + 1] = 1;
		if (!passes(payload, cases[i].n + 2)) {
			fail_msg("case %zu", i);
		}
		payload[cases[i].n] = 43;
		for (size_t n = 0; n <= cases[i].n + 1; n++) {
			/* Cut anywhere: never mistaken for something that fits. */
			assert_false(passes(payload, n));
		}
	}
}

static void counts_and_lengths_come_from_the_payload(void **state)
{
	/* u8 n, u16 text[n] sized by n, struct { u8 m; u8 data[m] }[n], u32 x */
	struct filter_field f[] = {
		{FILTER_FIXED, FILTER_CAPTURE, 1, 1, 0},   {FILTER_TEXT16, FILTER_SIZED | FILTER_LENGTH_OF, 0, 1, 0},
		{FILTER_ARRAY, FILTER_COUNT_OF, 0, 0, 2},  {FILTER_FIXED, FILTER_CAPTURE, 1, 1, 0},
		{FILTER_FIXED, FILTER_LENGTH_OF, 3, 1, 0}, INTEGER(4)};
	uint8_t value[8] = {9};
	struct filter_predicate p = {5, FILTER_EQ, FILTER_UNSIGNED, 8, value};
	assert_int_equal(make(f, 6, &p, 1, 0), 0);
	assert_true(passes("\2a\0b\0\3xyz\0\11\0\0\0", 14));
	assert_false(passes("\2a\0b\0\3xyz\0\10\0\0\0", 14));
	assert_true(passes("\0\11\0\0\0", 5));
	assert_false(passes("\2a\0b\0\3xyz\11\0\0\0", 13));
	/* A predicate on a member of an element is refused: which one? */
	p.field = 3;
	assert_int_equal(make(f, 6, &p, 1, 0), -EINVAL);
	/* So is one on an array. */
	struct filter_field array = {FILTER_FIXED, 0, 4, 2, 0};
	p.field = 0;
	assert_int_equal(make(&array, 1, &p, 1, 0), -EINVAL);
}

/* ---- several --------------------------------------------------------------------------------- */

static void all_or_any_of_the_predicates_have_to_hold(void **state)
{
	uint8_t one[8] = {1}, two[8] = {2};
	/* In the order of the caller, not of the payload. */
	struct filter_predicate p[] = {{1, FILTER_EQ, FILTER_UNSIGNED, 8, two},
				       {0, FILTER_EQ, FILTER_UNSIGNED, 8, one}};
	assert_int_equal(make(FIELDS(INTEGER(1), INTEGER(1)), 2, p, 2, 0), 0);
	assert_true(passes("\1\2", 2));
	assert_false(passes("\1\3", 2));
	assert_false(passes("\2\2", 2));
	assert_false(passes("\1", 1));
	assert_int_equal(make(FIELDS(INTEGER(1), INTEGER(1)), 2, p, 2, FILTER_ANY), 0);
	assert_true(passes("\1\3", 2));
	assert_true(passes("\2\2", 2));
	assert_false(passes("\2\3", 2));
	assert_true(passes("\1", 1)); /* the first is enough */
	assert_false(passes("\2", 1));
}

static void only_the_event_it_names_is_filtered(void **state)
{
	uint8_t one[8] = {1};
	struct filter_predicate p = {0, FILTER_EQ, FILTER_UNSIGNED, 8, one};
	assert_int_equal(make(FIELDS(INTEGER(1)), 1, &p, 1, 0), 0);
	assert_false(filter_passes(blob, 10, 2, (const uint8_t *)"\0", 1, 8));
	assert_true(filter_passes(blob, 10, 1, (const uint8_t *)"\0", 1, 8));
	assert_true(filter_passes(blob, 11, 2, (const uint8_t *)"\0", 1, 8));
}

static void filters_of_one_event_are_joined_by_their_flag(void **state)
{
	uint8_t a[FILTER_BYTES_MAX], b[FILTER_BYTES_MAX], joined[FILTER_BYTES_MAX];
	uint8_t value[8] = {1};
	const uint8_t *both[2] = {a, b};
	size_t bytes[2], n;
	struct filter_predicate p = {0, FILTER_EQ, FILTER_UNSIGNED, 8, value};
	assert_int_equal(make(FIELDS(INTEGER(1)), 1, &p, 1, 0), 0);
	memcpy(a, blob, bytes[0] = blob_bytes);
	p.field = 1;
	assert_int_equal(make(FIELDS(INTEGER(1), INTEGER(1)), 2, &p, 1, 0), 0);
	memcpy(b, blob, bytes[1] = blob_bytes);
	static const struct {
		bool must[2];
		bool yes_no, no_yes, yes_yes, no_no;
	} cases[] = {
		{{false, false}, true, true, true, false},
		{{true, true}, false, false, true, false},
		{{true, false}, false, false, true, false},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		assert_int_equal(filter_join(both, bytes, cases[i].must, 2, joined, &n), 0);
		assert_int_equal(filter_check(joined, n, NULL, NULL), 0);
		memcpy(blob, joined, n);
		assert_int_equal(passes("\1\0", 2), cases[i].yes_no);
		assert_int_equal(passes("\0\1", 2), cases[i].no_yes);
		assert_int_equal(passes("\1\1", 2), cases[i].yes_yes);
		assert_int_equal(passes("\0\0", 2), cases[i].no_no);
	}
	b[16] = 8;
	assert_int_equal(filter_join(both, bytes, NULL, 2, joined, &n), -EINVAL);
}

/* ---- limits and hostile blobs ---------------------------------------------------------------- */

static void what_does_not_fit_is_refused(void **state)
{
	static uint8_t text[FILTER_BYTES_MAX];
	memset(text, 'x', sizeof text);
	struct filter_field f = {FILTER_TEXT8, 0, 0, 1, 0};
	uint16_t most =
		FILTER_BYTES_MAX - FILTER_HEAD_BYTES - FILTER_EVENT_BYTES - FILTER_FIELD_BYTES - FILTER_PREDICATE_BYTES;
	struct filter_predicate p = {0, FILTER_IS, FILTER_NARROW, most, text};
	assert_int_equal(make(&f, 1, &p, 1, 0), 0);
	assert_int_equal(blob_bytes, FILTER_BYTES_MAX);
	p.bytes++;
	assert_int_equal(make(&f, 1, &p, 1, 0), -ENOSPC);
}

/* Arrays of nothing in each other: the work is bounded, and the answer is no. */
static void endless_arrays_end(void **state)
{
	uint8_t value[8] = {0};
	struct filter_field f[] = {{FILTER_ARRAY, 0, 0, 0xFFFF, 3},
				   {FILTER_ARRAY, 0, 0, 0xFFFF, 2},
				   {FILTER_ARRAY, 0, 0, 0xFFFF, 1},
				   {FILTER_FIXED, 0, 0, 1, 0},
				   INTEGER(1)};
	struct filter_predicate p = {4, FILTER_EQ, FILTER_UNSIGNED, 8, value};
	assert_int_equal(make(f, 5, &p, 1, 0), 0);
	assert_false(passes("\0", 1));
	/* Text that almost is what is looked for, everywhere. */
	static uint8_t needle[3900], hay[65535];
	memset(needle, 'a', sizeof needle);
	needle[sizeof needle - 1] = 'b';
	memset(hay, 'a', sizeof hay);
	struct filter_field text = {FILTER_REST, 0, 0, 1, 0};
	p = (struct filter_predicate){0, FILTER_DOESNTCONTAIN, FILTER_NARROW, sizeof needle, needle};
	assert_int_equal(make(&text, 1, &p, 1, 0), 0);
	passes(hay, sizeof hay);
}

static void a_blob_that_lies_is_refused(void **state)
{
	uint8_t value[16] = {1}, copy[FILTER_BYTES_MAX + 1];
	struct guid g;
	struct filter_field f[] = {{FILTER_FIXED, FILTER_CAPTURE, 1, 1, 0},
				   {FILTER_TEXT8, FILTER_SIZED | FILTER_LENGTH_OF, 0, 1, 0},
				   INTEGER(4)};
	struct filter_predicate p = {2, FILTER_MODULO, FILTER_UNSIGNED, 8, value};
	assert_int_equal(make(f, 3, &p, 1, 0), 0);
	size_t n = blob_bytes;
	assert_int_equal(filter_check(blob, n, &g, NULL), 0);
	assert_int_equal(g.b[0], 7);
	for (size_t cut = 0; cut < n; cut++) {
		assert_int_equal(filter_check(blob, cut, NULL, NULL), -EINVAL);
	}
	memcpy(copy, blob, n);
	copy[n] = 0;
	assert_int_equal(filter_check(copy, n + 1, NULL, NULL), -EINVAL);
	const size_t at = FILTER_HEAD_BYTES, fields = at + FILTER_EVENT_BYTES,
		     predicate = fields + 3 * FILTER_FIELD_BYTES;
	const struct {
		size_t at;
		uint8_t value;
		const char *what;
	} lies[] = {
		{0, 0, "the magic"},
		{4, 2, "the format"},
		{6, 0, "no filters"},
		{6, 2, "more filters"},
		{12, 1, "reserved"},
		{at, 0, "a filter of no length"},
		{at, 200, "a filter beyond the end"},
		{at + 5, 4, "an unknown flag"},
		{at + 6, 0, "no fields"},
		{at + 6, 2, "fewer fields"},
		{at + 7, 2, "more fields than there is room"},
		{at + 8, 0, "no predicates"},
		{at + 8, 9, "too many predicates"},
		{fields, 0, "no kind"},
		{fields, FILTER_KIND_COUNT, "an unknown kind"},
		{fields + 1, 0, "a length from what is not captured"},
		{fields + 1, 16, "an unknown field flag"},
		{fields + 2, 8, "a length of eight bytes"},
		{fields + 6, 1, "members of what is no array"},
		{fields + 8, FILTER_COUNTED, "a length of what has none"},
		{fields + 10, 1, "a length from itself"},
		{fields + 10, 2, "a length from behind"},
		{predicate, 1, "a text compared with a number"},
		{predicate, 3, "a field that is not there"},
		{predicate + 2, 9, "an unknown operator"},
		{predicate + 2, FILTER_BETWEEN, "an interval with one end"},
		{predicate + 2, FILTER_IS, "an operator of another type"},
		{predicate + 3, 0, "no type"},
		{predicate + 3, FILTER_TYPE_COUNT, "an unknown type"},
		{predicate + 4, 7, "a number of seven bytes"},
		{predicate + 6, 1, "reserved"},
		{predicate + 8, 0, "divided by nothing"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(lies); i++) {
		struct diag d = {0};
		memcpy(copy, blob, n);
		copy[lies[i].at] = lies[i].value;
		if (filter_check(copy, n, NULL, &d) != -EINVAL || d.text[0] == 0) {
			fail_msg("accepted: %s", lies[i].what);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_compare_by_value_and_sign),
		cmocka_unit_test(text_is_found_only_at_whole_characters),
		cmocka_unit_test(a_guid_is_compared_as_a_whole),
		cmocka_unit_test(every_kind_of_field_is_passed_over),
		cmocka_unit_test(counts_and_lengths_come_from_the_payload),
		cmocka_unit_test(all_or_any_of_the_predicates_have_to_hold),
		cmocka_unit_test(only_the_event_it_names_is_filtered),
		cmocka_unit_test(filters_of_one_event_are_joined_by_their_flag),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(endless_arrays_end),
		cmocka_unit_test(a_blob_that_lies_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
