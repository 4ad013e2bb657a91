/* SPDX-License-Identifier: MIT
 * Any bytes as a --filter expression; what parses is evaluated against fields made of the same
 * bytes.
 */
#include "cli/view/filter.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lookup(void *ctx, const char *name, bool payload, struct cli_filter_value *ret)
{
	const char *text = ctx;
	size_t n = strlen(text);
	size_t at = (size_t)(unsigned char)name[0] % (n + 1);
	*ret = (struct cli_filter_value){text + at, n - at, payload, n};
	return name[0] != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct cli_filter *f = NULL;
	struct diag d;
	if (!text) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	diag_clear(&d);
	int err = cli_filter_parse(text, &f, &d);
	if (err == 0) {
		cli_filter_match(f, lookup, text);
		cli_filter_destroy(f);
	} else if (err == -EINVAL && (d.column == 0 || d.column > strlen(text) + 1)) {
		abort(); /* a report must point into the text */
	}
	free(text);
	return 0;
}
