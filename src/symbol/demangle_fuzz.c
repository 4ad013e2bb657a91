/* SPDX-License-Identifier: MIT
 * Names from anywhere, made readable.
 */
#include "symbol/symbol.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const begin[] = {"_R", ""};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(begin); i++) {
		struct strbuf b = {0};
		strbuf_adds(&b, begin[i]);
		strbuf_add(&b, data, size);
		char *name = b.s ? symbol_demangle(b.s) : NULL;
		sum += name ? strlen(name) : 0;
		free(name);
		strbuf_finish(&b);
	}
	return 0;
}
