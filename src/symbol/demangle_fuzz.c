/* SPDX-License-Identifier: MIT
 * Names from anywhere, made readable; none becomes longer than it may.
 */
#include "symbol/symbol.h"
#include "symbol/symbol_cxx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const begin[] = {"_R", "_Z", ""};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(begin); i++) {
		struct strbuf b = {0};
		strbuf_adds(&b, begin[i]);
		strbuf_add(&b, data, size);
		char *name = b.s ? symbol_demangle(b.s) : NULL;
		size_t n = name ? strlen(name) : 0;
		if (n > CXX_TEXT_MAX && n > b.len) {
			abort();
		}
		sum += n;
		free(name);
		strbuf_finish(&b);
	}
	return 0;
}
