/* SPDX-License-Identifier: MIT
 * Whatever goes in, what comes out is valid UTF-8 without a character that must be escaped.
 */
#include "base/printable.h"

#include <stdlib.h>

static void check(const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t used = utf8_decode(s + i, n - i, &c);
		if (used == 0 || printable_must_escape(c)) {
			abort();
		}
		i += used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *s = (const char *)data;
	struct strbuf b = {0}, again = {0};
	char small[32];
	unsigned width = n ? data[0] % 40 : 0;

	strbuf_add_printable(&b, s, n);
	check(b.s, b.len);
	strbuf_add_printable(&again, b.s, b.len);
	if (again.len != b.len || (b.len && memcmp(again.s, b.s, b.len) != 0) ||
	    printable_is(s, n) != (b.len == n && (n == 0 || memcmp(b.s, s, n) == 0)) ||
	    printable_columns(s, n) != printable_columns(b.s, b.len)) {
		abort();
	}
	strbuf_clear(&b);
	strbuf_add_printable16(&b, s, n / 2);
	check(b.s, b.len);
	strbuf_clear(&b);
	strbuf_add_fitted(&b, s, n, width);
	check(b.s, b.len);
	if (printable_columns(b.s, b.len) != width) {
		abort();
	}
	strbuf_clear(&b);
	strbuf_add_json(&b, s, n);
	check(b.s, b.len);
	size_t cap = n ? data[n - 1] % (sizeof small + 1) : 0;
	size_t copied = printable_copy(small, cap, s, n);
	if (cap && (copied >= cap || small[copied] != 0)) {
		abort();
	}
	check(small, copied);
	strbuf_finish(&b);
	strbuf_finish(&again);
	return 0;
}
