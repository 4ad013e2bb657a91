/* SPDX-License-Identifier: MIT
 * What parses is written as text that parses to the same text again.
 */
#include "session/session.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etw_session s, again;
	struct diag d = {0};
	if (session_parse((const char *)data, size, "name", NULL, &s, &d) < 0) {
		return 0;
	}
	struct strbuf a = {0}, b = {0};
	session_format(&s, &a);
	if (a.len <= SESSION_BYTES_MAX) {
		if (session_parse(a.s, a.len, "name", NULL, &again, &d) < 0) {
			abort();
		}
		session_format(&again, &b);
		if (a.len != b.len || memcmp(a.s, b.s, a.len) != 0) {
			abort();
		}
		session_finish(&again);
	}
	session_finish(&s);
	strbuf_finish(&a);
	strbuf_finish(&b);
	return 0;
}
