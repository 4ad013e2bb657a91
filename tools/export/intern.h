/* SPDX-License-Identifier: MIT
 *
 * Texts that are kept once: each gets a number, in the order of appearance. All zero is an empty table.
 */
#ifndef TOOLS_EXPORT_INTERN_H
#define TOOLS_EXPORT_INTERN_H

#include "base/map.h"

#define INTERN_NONE UINT32_MAX

struct intern {
	char **text;
	uint32_t count, cap;
	struct map of;
	bool failed; /* out of memory: the number was INTERN_NONE */
};

/* The text's number. *ret_new (may be NULL): it was not there before. */
uint32_t intern_text(struct intern *t, const char *s, size_t n, bool *ret_new);
static inline uint32_t intern_string(struct intern *t, const char *s, bool *ret_new)
{
	return intern_text(t, s, strlen(s), ret_new);
}
bool intern_has(const struct intern *t, const char *s, size_t n);
void intern_free(struct intern *t);

#endif
