/* SPDX-License-Identifier: MIT
 *
 * What things are called in C.
 */
#include "mc/mc_private.h"

#include <stdio.h>

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const char *mc_identifier(struct mc *mc, const char *text)
{
	char *s = arena_text(&mc->arena, text, strlen(text));
	bool begun = false; /* digits may not come first */
	for (char *c = s; c && *c; c++) {
		bool digit = *c >= '0' && *c <= '9';
		begun = begun || !digit;
		if (!is_word(*c) || (digit && !begun)) {
			*c = '_';
		}
	}
	return s;
}

const char *mc_text(struct mc *mc, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *s = n < 0 ? NULL : arena_alloc(&mc->arena, (size_t)n + 1);
	if (s) {
		va_start(ap, fmt);
		vsnprintf(s, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	return s;
}

const char *mc_name_symbol(struct mc *mc, const struct mc_provider *p, enum manifest_kind kind,
			   const struct manifest_name *n)
{
	static const char *const words[MANIFEST_KIND_COUNT] = {
		[MANIFEST_LEVEL] = "LEVEL",     [MANIFEST_TASK] = "TASK",       [MANIFEST_OPCODE] = "OPCODE",
		[MANIFEST_KEYWORD] = "KEYWORD", [MANIFEST_CHANNEL] = "CHANNEL", [MANIFEST_FILTER] = "FILTER",
	};
	if (n->symbol && n->symbol[0]) {
		return n->symbol;
	}
	const char *name = mc_identifier(mc, n->chid && n->chid[0] ? n->chid : n->name);
	return name ? mc_text(mc, "%s_%s_%s", p->symbol, words[kind], name) : NULL;
}
