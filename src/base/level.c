/* SPDX-License-Identifier: MIT */
#include "base/level.h"

#include "base/parse.h"

#include <strings.h>

/* Names inside the table: pointers would be written by the loader, in every process. */
static const struct {
	char word[12], text[16], manifest[20];
} levels[] = {
	{"always", "Log Always", "win:LogAlways"},
	{"critical", "Critical", "win:Critical"},
	{"error", "Error", "win:Error"},
	{"warning", "Warning", "win:Warning"},
	{"info", "Information", "win:Informational"},
	{"verbose", "Verbose", "win:Verbose"},
};

const char *level_word(uint8_t level)
{
	return level < BASE_ARRAY_LEN(levels) ? levels[level].word : NULL;
}

const char *level_text(uint8_t level)
{
	return level < BASE_ARRAY_LEN(levels) ? levels[level].text : NULL;
}

const char *level_manifest(uint8_t level)
{
	return level < BASE_ARRAY_LEN(levels) ? levels[level].manifest : NULL;
}

static bool is(const char *s, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(name, s, n) == 0;
}

bool level_parse(const char *s, size_t n, uint8_t *ret)
{
	uint64_t number;
	const size_t prefix = strlen("win:");
	if (n > prefix && strncasecmp(s, "win:", prefix) == 0) {
		s += prefix;
		n -= prefix;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(levels); i++) {
		if (is(s, n, levels[i].word) || is(s, n, levels[i].manifest + prefix) ||
		    (i > 0 && is(s, n, levels[i].text))) {
			*ret = (uint8_t)i;
			return true;
		}
	}
	if (is(s, n, "warn")) {
		*ret = 3;
		return true;
	}
	if (!parse_number_of(s, n, 0, UINT8_MAX, &number)) {
		return false;
	}
	*ret = (uint8_t)number;
	return true;
}
