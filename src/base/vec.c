/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdlib.h>

#define FIRST_CAP 16u

void *vec_grow(void *items, size_t *inout_cap, size_t most, size_t element_bytes)
{
	size_t cap = *inout_cap < FIRST_CAP / 2 ? FIRST_CAP : *inout_cap <= most / 2 ? 2 * *inout_cap : most;
	cap = BASE_MIN(cap, most);
	bool fits = cap > *inout_cap && cap <= SIZE_MAX / element_bytes;
	void *grown = fits ? realloc(items, cap * element_bytes) : NULL;
	if (grown) {
		*inout_cap = cap;
	}
	return grown;
}
