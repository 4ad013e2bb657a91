/* SPDX-License-Identifier: MIT */
#include "symbol/symbol_private.h"

#include <stdlib.h>

#define BYTE_UNITS 4u

char *symbol_demangle_within(const char *name, uint64_t *inout_left)
{
	uint64_t steps = 0;
	char *text = *inout_left ? symbol_demangle_cxx(name, &steps) : NULL;
	if (text) {
		symbol_tidy_rust(text);
	} else if (*inout_left) {
		text = symbol_demangle_rust(name, &steps);
	}
	steps += text ? BYTE_UNITS * strlen(text) : 0;
	*inout_left -= BASE_MIN(*inout_left, steps);
	return text ? text : strdup(name);
}

char *symbol_demangle(const char *name)
{
	uint64_t any = UINT64_MAX;
	return symbol_demangle_within(name, &any);
}
