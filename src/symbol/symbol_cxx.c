/* SPDX-License-Identifier: MIT
 * A name of C++ from one end to the other: memory for it, parse, print.
 */
#include "symbol/symbol_cxx.h"
#include "symbol/symbol_private.h"

#include <stdlib.h>

#define NODES_PER_BYTE 2u /* names that compilers make need less than one */
#define NODES_LEAST    64u

char *symbol_demangle_cxx(const char *name, uint64_t *inout_steps)
{
	size_t n = strnlen(name, CXX_NAME_MAX + 1);
	if (n < 3 || n > CXX_NAME_MAX || name[0] != '_' || name[1] != 'Z') {
		return NULL;
	}
	struct cxx x = {.s = name + 2, .n = (uint32_t)n - 2};
	x.cap = x.n * NODES_PER_BYTE + NODES_LEAST;
	x.node = malloc(x.cap * sizeof *x.node);
	x.subst = malloc(x.n * sizeof *x.subst);
	char *text = NULL;
	if (x.node && x.subst) {
		x.node[0] = (struct cxx_node){.kind = CXX_NONE};
		x.count = 1;
		uint32_t root = cxx_parse(&x);
		text = root ? cxx_print(&x, root, inout_steps) : NULL;
		*inout_steps += x.steps;
	}
	free(x.node);
	free(x.subst);
	return text;
}
