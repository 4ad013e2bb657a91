/* SPDX-License-Identifier: MIT
 * u16 bytes of the blob, the blob, a payload. What the check accepts must run.
 */
#include "filter/filter_payload.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	size_t n = BASE_MIN((size_t)le16_get(data), size - 2);
	uint8_t *blob = malloc(n ? n : 1); /* of its own, so that reading beyond it shows */
	if (!blob) {
		return 0;
	}
	if (n) {
		memcpy(blob, data + 2, n);
	}
	const uint8_t *payload = data + 2 + n;
	size_t left = size - 2 - n;
	struct diag d = {0};
	if (filter_check(blob, n, NULL, &d) == 0) {
		const uint8_t *f = blob + FILTER_HEAD_BYTES;
		for (uint16_t i = le16_get(blob + 6); i > 0; i--, f += le16_get(f)) {
			filter_passes(blob, le16_get(f + 2), f[4], payload, left, 8);
			filter_passes(blob, le16_get(f + 2), f[4], payload, left, 4);
		}
		/* One filter of it, made again, is accepted again. */
		uint8_t out[FILTER_BYTES_MAX];
		const uint8_t *blobs[1] = {blob};
		size_t bytes;
		if (filter_join(blobs, &n, NULL, 1, out, &bytes) != 0 || bytes != n) {
			abort();
		}
	} else if (d.text[0] == 0) {
		abort(); /* a refusal always says why */
	}
	free(blob);
	return 0;
}
