/* SPDX-License-Identifier: MIT
 * The published examples of MS-XCA 3.1, and everything decompresses to what it was.
 */
#include "etl/etl_reader.h"
#include "etl/etl_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

static void the_published_examples_come_out_byte_for_byte(void **state)
{
	static const uint8_t alphabet[] = "abcdefghijklmnopqrstuvwxyz";
	uint8_t want[30] = {0x3F, 0, 0, 0}, out[64], three[300];
	memcpy(want + 4, alphabet, 26);
	assert_int_equal(xpress_compress(alphabet, 26, out), 30);
	assert_memory_equal(out, want, 30);

	static const uint8_t abc[] = {0xFF, 0xFF, 0xFF, 0x1F, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0F, 0xFF, 0x26, 0x01};
	for (int i = 0; i < 300; i++) {
		three[i] = "abc"[i % 3];
	}
	assert_int_equal(xpress_compress(three, 300, out), sizeof abc);
	assert_memory_equal(out, abc, sizeof abc);
}

/* Every length from nothing to beyond a flag group, in three textures; and one long match. */
static void whatever_is_compressed_decompresses_to_itself(void **state)
{
	enum { LONG = 300000 };
	uint8_t *in = malloc(LONG), *packed = malloc(xpress_compress_bound(LONG)), *back = malloc(LONG);
	uint32_t seed = 1;
	for (int texture = 0; texture < 3; texture++) {
		for (size_t n = 0; n < 400; n++) {
			for (size_t i = 0; i < n; i++) {
				seed = seed * 1664525u + 1013904223u;
				in[i] = texture == 0   ? (uint8_t)(seed >> 24)
					: texture == 1 ? (uint8_t)(seed >> 30)
						       : (uint8_t)(i / 7);
			}
			size_t used = xpress_compress(in, n, packed);
			assert_true(used <= xpress_compress_bound(n));
			assert_int_equal(xpress_decompress(packed, used, back, n), 0);
			assert_memory_equal(in, back, n);
		}
	}
	memset(in, 'x', LONG); /* a length of more than 16 bits */
	size_t used = xpress_compress(in, LONG, packed);
	assert_true(used < 32);
	assert_int_equal(xpress_decompress(packed, used, back, LONG), 0);
	assert_memory_equal(in, back, LONG);
	free(in);
	free(packed);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_examples_come_out_byte_for_byte),
		cmocka_unit_test(whatever_is_compressed_decompresses_to_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
