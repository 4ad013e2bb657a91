/* SPDX-License-Identifier: MIT */
#include "tools/export/intern.h"

#include "base/vec.h"

#include <stdlib.h>

static uint32_t find(const struct intern *t, uint64_t key, const char *s, size_t n)
{
	MAP_EACH(&t->of, key, at) {
		uint32_t i = (uint32_t)map_value(&t->of, at);
		if (strncmp(t->text[i], s, n) == 0 && t->text[i][n] == 0) {
			return i;
		}
	}
	return INTERN_NONE;
}

bool intern_has(const struct intern *t, const char *s, size_t n)
{
	return find(t, map_hash(&t->of, s, n), s, n) != INTERN_NONE;
}

uint32_t intern_text(struct intern *t, const char *s, size_t n, bool *ret_new)
{
	s = s ? s : "";
	n = strnlen(s, n); /* a NUL ends it */
	uint64_t key = map_hash(&t->of, s, n);
	uint32_t there = find(t, key, s, n);
	if (ret_new) {
		*ret_new = false;
	}
	if (there != INTERN_NONE) {
		return there;
	}
	char *copy = VEC_ROOM_UP_TO(t->text, t->count, t->cap, MAP_MOST) ? strndup(s, n) : NULL;
	if (!copy || map_add(&t->of, key, t->count) < 0) {
		free(copy);
		t->failed = true;
		return INTERN_NONE;
	}
	if (ret_new) {
		*ret_new = true;
	}
	t->text[t->count] = copy;
	return t->count++;
}

void intern_free(struct intern *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		free(t->text[i]);
	}
	free(t->text);
	map_free(&t->of);
	*t = (struct intern){0};
}
