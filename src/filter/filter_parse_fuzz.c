/* SPDX-License-Identifier: MIT
 * Any bytes as a --filter expression; what parses is evaluated against fields made of the same
 * bytes.
 */
#include "filter/filter_parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	const char *text = ctx;
	size_t n = strlen(text);
	size_t at = (size_t)(unsigned char)name[0] % (n + 1);
	*ret = (struct filter_expr_value){text + at, n - at, payload, n};
	return name[0] != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct filter_expr *f = NULL;
	struct diag d;
	if (!text) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	diag_clear(&d);
	int err = filter_expr_parse(text, &f, &d);
	if (err == 0) {
		filter_expr_match(f, lookup, text);
		filter_expr_destroy(f);
	} else if (err == -EINVAL && (d.column == 0 || d.column > strlen(text) + 1)) {
		abort(); /* a report must point into the text */
	}
	free(text);
	return 0;
}
