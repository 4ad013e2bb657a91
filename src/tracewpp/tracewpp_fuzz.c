/* SPDX-License-Identifier: MIT
 * Sources from anywhere.
 */
#include "tracewpp/tracewpp.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct tracewpp_options o = {.component = "fuzz"};
	struct strbuf tmh = {0};
	struct diag d;
	diag_clear(&d);
	/* Names and texts are C strings: what lies behind a 0 is not there. */
	char *text = strndup((const char *)data, n);
	struct tracewpp *w = text ? tracewpp_create() : NULL;
	if (w) {
		tracewpp_compile(w, "fuzz.c", text, strlen(text), &o, &tmh, &d);
	}
	tracewpp_destroy(w);
	strbuf_finish(&tmh);
	free(text);
	return 0;
}
