/* SPDX-License-Identifier: MIT */
#include "base/source_text.h"

#include <stdlib.h>

int source_text_of(const void *bytes, size_t n, unsigned flags, struct source_text *ret)
{
	const uint8_t *in = bytes;
	bool markup = n >= 2 && (flags & SOURCE_TEXT_MARKUP);
	bool le = n >= 2 && ((in[0] == 0xFF && in[1] == 0xFE) || (markup && in[0] == '<' && in[1] == 0));
	bool be = n >= 2 && ((in[0] == 0xFE && in[1] == 0xFF) || (markup && in[0] == 0 && in[1] == '<'));
	if (!le && !be) {
		size_t mark = n >= 3 && memcmp(in, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
		*ret = (struct source_text){.s = (const char *)in + mark, .n = n - mark};
		return 0;
	}
	size_t mark = in[0] >= 0xFE ? 2 : 0, units = (n - mark) / 2;
	*ret = (struct source_text){.s = ""};
	if (units > SIZE_MAX / 8) {
		return -ENOMEM;
	}
	uint16_t *wide = malloc(2 * units + 2);
	char *text = malloc(3 * units + 1);
	long used = -ENOMEM;
	if (wide && text) {
		for (size_t i = 0; i < units; i++) {
			const uint8_t *u = in + mark + 2 * i;
			wide[i] = le ? le16_get(u) : (uint16_t)(u[0] << 8 | u[1]);
		}
		used = (flags & SOURCE_TEXT_LOSSY) ? utf16_to_utf8_lossy(wide, units, text, 3 * units + 1)
						   : utf16_to_utf8(wide, units, text, 3 * units + 1);
	}
	free(wide);
	if (used < 0) {
		free(text);
		return (int)used;
	}
	*ret = (struct source_text){.s = text, .n = (size_t)used, .owned = text};
	return 0;
}

void source_text_finish(struct source_text *t)
{
	free(t->owned);
	*t = (struct source_text){.s = ""};
}
