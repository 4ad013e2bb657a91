/* SPDX-License-Identifier: MIT
 * Vectors: the examples of MS-XCA section 3, and streams made by hand.
 */
#include "etl/etl_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void decodes_the_published_literals(void **state)
{
	static const uint8_t in[] = {0x3f, 0,   0,   0,   'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k',
				     'l',  'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'};
	uint8_t out[26];
	assert_int_equal(xpress_decompress(in, sizeof in, out, sizeof out), 0);
	assert_memory_equal(out, "abcdefghijklmnopqrstuvwxyz", 26);
}

static void decodes_the_published_long_match(void **state)
{
	static const uint8_t in[] = {0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01};
	uint8_t out[300];
	assert_int_equal(xpress_decompress(in, sizeof in, out, sizeof out), 0);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(out[i], "abc"[i % 3]);
	}
}

static void shares_a_nibble_between_two_matches(void **state)
{
	/* a, then a match of 3+7+2, b, then one of 3+7+5: nibbles 2 and 5 of one byte 0x52 */
	static const uint8_t in[] = {0xff, 0xff, 0xff, 0x5f, 'a', 0x07, 0x00, 0x52, 'b', 0x07, 0x00};
	uint8_t out[1 + 12 + 1 + 15];
	assert_int_equal(xpress_decompress(in, sizeof in, out, sizeof out), 0);
	for (unsigned i = 0; i < sizeof out; i++) {
		assert_int_equal(out[i], i < 13 ? 'a' : 'b');
	}
}

static void refuses_a_distance_before_the_start(void **state)
{
	static const uint8_t in[] = {0xff, 0xff, 0xff, 0x7f, 'a', 0x08, 0x00}; /* distance 2, one byte out */
	uint8_t out[8];
	assert_int_equal(xpress_decompress(in, sizeof in, out, sizeof out), -EBADMSG);
}

static void every_cut_of_a_stream_is_refused_and_its_prefix_right(void **state)
{
	static const uint8_t in[] = {0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01};
	for (size_t n = 0; n < sizeof in; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		memcpy(copy, in, n);
		uint8_t out[300];
		size_t done = 999;
		assert_int_equal(xpress_decompress_some(copy, n, out, sizeof out, &done), -EBADMSG);
		assert_true(done <= 300);
		for (size_t i = 0; i < done; i++) {
			assert_int_equal(out[i], "abc"[i % 3]);
		}
		free(copy);
	}
}

static void a_match_never_writes_past_the_output(void **state)
{
	static const uint8_t in[] = {0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01};
	uint8_t *out = malloc(100);
	assert_int_equal(xpress_decompress(in, sizeof in, out, 100), -EBADMSG);
	free(out);
}

static void lznt1_decodes_the_published_example(void **state)
{
	static const uint8_t in[] = {0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00,
				     0x10, 0xa2, 0x47, 0x01, 0xa0, 0x45, 0x20, 0x44, 0x00, 0x08, 0x45, 0x01,
				     0x50, 0x79, 0x00, 0xc0, 0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xb4,
				     0x02, 0x4a, 0x44, 0xef, 0x03, 0x58, 0x02, 0x8c, 0x09, 0x16, 0x01, 0x48,
				     0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00, 0x04, 0x01, 0x18, 0x90, 0x00};
	static const char want[] = "F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D "
				   "E E F# D E F# G F# D E F# G F# E D E A F# F# G A A G F# E D D E F# E D "
				   "D";
	uint8_t out[sizeof want];
	size_t done;
	assert_int_equal(lznt1_decompress_some(in, sizeof in, out, sizeof want, &done), 0);
	assert_int_equal(done, sizeof want);
	assert_memory_equal(out, want, sizeof want);
}

/* Code lengths, 4 bits a symbol. */
static void set_length(uint8_t table[256], unsigned symbol, unsigned bits)
{
	table[symbol / 2] |= (uint8_t)(bits << (symbol & 1 ? 4 : 0));
}

static void xpress_huffman_decodes_the_published_literals(void **state)
{
	static const uint8_t bits[] = {0xd8, 0x52, 0x3e, 0xd7, 0x94, 0x11, 0x5b, 0xe9, 0x19, 0x5f,
				       0xf9, 0xd6, 0x7c, 0xdf, 0x8d, 0x04, 0x00, 0x00, 0x00, 0x00};
	uint8_t in[256 + sizeof bits] = {0}, out[26];
	for (unsigned c = 'a'; c <= 'z'; c++) {
		set_length(in, c, c < 'w' ? 5 : 4);
	}
	set_length(in, 256, 4);
	memcpy(in + 256, bits, sizeof bits);
	size_t done;
	assert_int_equal(xpress_huffman_decompress_some(in, sizeof in, out, sizeof out, &done), 0);
	assert_int_equal(done, sizeof out);
	assert_memory_equal(out, "abcdefghijklmnopqrstuvwxyz", 26);
	for (size_t n = 0; n < sizeof in; n++) { /* cut anywhere: refused or a prefix */
		memset(out, 0, sizeof out);
		int r = xpress_huffman_decompress_some(in, n, out, sizeof out, &done);
		assert_true(r == 0 || r == -EBADMSG);
		assert_true(n < 256 ? done == 0 : true);
		/* Words behind the end read as zeros, so the last few letters may be others. */
		assert_memory_equal(out, "abcdefghijklmnopqrstuvwxyz", n < 262 ? 0 : BASE_MIN(done, (n - 260) / 2));
	}
}

static void xpress_huffman_decodes_the_published_long_match(void **state)
{
	static const uint8_t bits[] = {0xa8, 0xdc, 0x00, 0x00, 0xff, 0x26, 0x01};
	uint8_t in[256 + sizeof bits] = {0}, out[300];
	set_length(in, 'a', 3);
	set_length(in, 'b', 3);
	set_length(in, 'c', 2);
	set_length(in, 256, 2);
	set_length(in, 287, 2); /* length in bytes behind, distance 2 or 3 */
	memcpy(in + 256, bits, sizeof bits);
	size_t done;
	assert_int_equal(xpress_huffman_decompress_some(in, sizeof in, out, sizeof out, &done), 0);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(out[i], "abc"[i % 3]);
	}
	/* A match that wants more than there is room for fills the room and no more. */
	assert_int_equal(xpress_huffman_decompress_some(in, sizeof in, out, 100, &done), -EBADMSG);
	assert_int_equal(done, 100);
}

static void xpress_huffman_starts_a_new_table_every_64_kib(void **state)
{
	/* Block 1: 'x' alone with a code of one bit (0). Block 2: 'y' alone. */
	enum { N = 65536, WORDS = N / 16 + 1 };
	size_t bytes = 2 * (256 + 2 * WORDS);
	uint8_t *in = calloc(1, bytes), *out = malloc(N + 100);
	set_length(in, 'x', 1);
	set_length(in + bytes / 2, 'y', 1);
	size_t done;
	assert_int_equal(xpress_huffman_decompress_some(in, bytes, out, N + 100, &done), 0);
	assert_int_equal(out[0], 'x');
	assert_int_equal(out[N - 1], 'x');
	assert_int_equal(out[N], 'y');
	assert_int_equal(out[N + 99], 'y');
	free(in);
	free(out);
}

static void xpress_huffman_refuses_tables_that_are_none(void **state)
{
	uint8_t in[300] = {0}, out[8];
	size_t done;
	assert_int_equal(xpress_huffman_decompress_some(in, sizeof in, out, 8, &done), -EBADMSG);
	memset(in, 0x11, 256); /* 512 codes of one bit */
	assert_int_equal(xpress_huffman_decompress_some(in, sizeof in, out, 8, &done), -EBADMSG);
	assert_int_equal(done, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_the_published_literals),
		cmocka_unit_test(decodes_the_published_long_match),
		cmocka_unit_test(shares_a_nibble_between_two_matches),
		cmocka_unit_test(refuses_a_distance_before_the_start),
		cmocka_unit_test(every_cut_of_a_stream_is_refused_and_its_prefix_right),
		cmocka_unit_test(a_match_never_writes_past_the_output),
		cmocka_unit_test(lznt1_decodes_the_published_example),
		cmocka_unit_test(xpress_huffman_decodes_the_published_literals),
		cmocka_unit_test(xpress_huffman_decodes_the_published_long_match),
		cmocka_unit_test(xpress_huffman_starts_a_new_table_every_64_kib),
		cmocka_unit_test(xpress_huffman_refuses_tables_that_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
