/* SPDX-License-Identifier: MIT
 * u16 bytes of the blob, u16 bytes of the metadata, blob, metadata, payload. What the check accepts
 * must run.
 */
#include "filter/filter_named.h"

#include <stdlib.h>

static uint8_t *own(const uint8_t *p, size_t n) /* so that reading beyond it shows */
{
	uint8_t *copy = malloc(n ? n : 1);
	if (copy && n) {
		memcpy(copy, p, n);
	}
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4) {
		return 0;
	}
	size_t n = BASE_MIN((size_t)le16_get(data), size - 4);
	size_t m = BASE_MIN((size_t)le16_get(data + 2), size - 4 - n), left = size - 4 - n - m;
	uint8_t *blob = own(data + 4, n), *schema = own(data + 4 + n, m), *payload = own(data + 4 + n + m, left);
	struct diag d = {0};
	if (blob && schema && payload) {
		if (filter_named_check(blob, n, NULL, &d) == 0) {
			filter_named_passes(blob, schema, m, payload, left);
		} else if (d.text[0] == 0) {
			abort(); /* a refusal always says why */
		}
	}
	free(blob);
	free(schema);
	free(payload);
	return 0;
}
