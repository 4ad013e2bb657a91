/* SPDX-License-Identifier: MIT
 * What parses is written as text that parses to the same text again.
 */
#include "session/session.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct saved_session s, again;
	struct diag d = {0};
	if (saved_parse((const char *)data, size, "name", NULL, &s, &d) < 0) {
		return 0;
	}
	struct strbuf a = {0}, b = {0};
	saved_format(&s, &a);
	if (a.len <= SAVED_BYTES_MAX) {
		if (saved_parse(a.s, a.len, "name", NULL, &again, &d) < 0) {
			abort();
		}
		saved_format(&again, &b);
		if (a.len != b.len || memcmp(a.s, b.s, a.len) != 0) {
			abort();
		}
		saved_finish(&again);
	}
	saved_finish(&s);
	strbuf_finish(&a);
	strbuf_finish(&b);
	return 0;
}
