/* SPDX-License-Identifier: MIT */
#include "symbol/symbol_private.h"

#include <stdlib.h>

char *symbol_demangle(const char *name)
{
	char *text = symbol_demangle_cxx(name);
	if (text) {
		symbol_tidy_rust(text);
		return text;
	}
	text = symbol_demangle_rust(name);
	return text ? text : strdup(name);
}
