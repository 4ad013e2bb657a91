/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>
#include <sys/auxv.h>

#define FIRST_BITS 4u

/* The kernel gives each program 16 random bytes. They are also what libc guards its stacks with, so only a mix of
 * them is used. */
uint64_t map_secret_of_process(void)
{
	const uint8_t *random = (const uint8_t *)(uintptr_t)getauxval(AT_RANDOM);
	return random ? map_mix(le64_get(random) ^ 0xA0761D6478BD642Full, le64_get(random + 8) | 1) : 1;
}

static void put(struct map *m, struct map_slot s)
{
	size_t at = map_home(m, s.key), mask = ((size_t)1 << m->bits) - 1;
	while (m->slots[at].value) {
		at = (at + 1) & mask;
	}
	m->slots[at] = s;
}

static bool grow(struct map *m)
{
	struct map bigger = {
		.count = m->count, .bits = m->slots ? m->bits + 1 : FIRST_BITS, .secret = map_secret_of_process()};
	bigger.slots = calloc((size_t)1 << bigger.bits, sizeof *bigger.slots);
	if (!bigger.slots) {
		return false;
	}
	for (size_t at = map_entry(m, 0); at != MAP_NONE; at = map_entry(m, at + 1)) {
		put(&bigger, m->slots[at]);
	}
	free(m->slots);
	*m = bigger;
	return true;
}

int map_add(struct map *m, uint64_t key, uint64_t value)
{
	bool full = !m->slots || m->count >= (size_t)1 << (m->bits - 1);
	if (m->count >= MAP_MOST || (full && !grow(m))) {
		return -ENOMEM;
	}
	put(m, (struct map_slot){key, value + 1});
	m->count++;
	return 0;
}

/* What was pushed past the place moves back, so that searches need no marks for what was taken out. */
void map_remove(struct map *m, size_t at)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	for (size_t i = (at + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		size_t home = map_home(m, m->slots[i].key);
		if (((i - home) & mask) >= ((i - at) & mask)) {
			m->slots[at] = m->slots[i];
			at = i;
		}
	}
	m->slots[at] = (struct map_slot){0};
	m->count--;
}

void map_clear(struct map *m)
{
	if (m->slots) {
		memset(m->slots, 0, sizeof *m->slots << m->bits);
	}
	m->count = 0;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}
