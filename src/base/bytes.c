/* SPDX-License-Identifier: MIT */
#include "base/base.h"

const char *bytes_asz(struct bytes *b, size_t *ret_len)
{
	const uint8_t *nul = b->bad ? NULL : memchr(b->p, 0, (size_t)(b->end - b->p));
	if (!nul) {
		b->bad = true;
		return NULL;
	}
	const char *s = (const char *)b->p;
	if (ret_len) {
		*ret_len = (size_t)(nul - b->p);
	}
	b->p = nul + 1;
	return s;
}

const uint8_t *bytes_wsz(struct bytes *b, size_t *ret_units)
{
	const uint8_t *s = b->p;
	size_t units = bytes_left(b) / 2;
	for (size_t i = 0; i < units; i++) {
		if (le16_get(s + 2 * i) == 0) {
			if (ret_units) {
				*ret_units = i;
			}
			b->p = s + 2 * (i + 1);
			return s;
		}
	}
	b->bad = true;
	return NULL;
}
