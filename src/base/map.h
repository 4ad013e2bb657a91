/* SPDX-License-Identifier: MIT
 *
 * From 64-bit keys to 64-bit values: open addressing, at most half full. All zero is an empty map, and map_free()
 * ends it. The values are what their owner wants: indices of an array, mostly, or pointers.
 *
 * A number that is unique, like the id of a thread, is the key itself:
 *
 *	size_t at = map_find(&m, tid);
 *	struct thread *t = at != MAP_NONE ? &threads[map_value(&m, at)] : NULL;
 *
 * Of text, or of several parts, the key is a hash. Elements may share one, so the owner compares:
 *
 *	uint64_t key = map_hash(&m, name, strlen(name));
 *	MAP_EACH(&m, key, at) {
 *		struct row *r = &rows[map_value(&m, at)];
 *		if (strcmp(r->name, name) == 0) {
 *			return r;
 *		}
 *	}
 *	err = map_add(&m, key, row_count);
 *
 * Keys may come from elsewhere and be chosen to collide: a secret of this process decides where they stand. So
 * places differ from run to run, and what people read is printed in the order of the owner's array.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/base.h"

#define MAP_NONE SIZE_MAX
#define MAP_MOST (1u << 30) /* entries */

struct map_slot {
	uint64_t key;
	uint64_t value; /* + 1; 0: the slot is free */
};
struct map {
	struct map_slot *slots; /* NULL, or 1 << bits of them */
	uint32_t count, bits;
	uint64_t secret; /* of the places; set with the slots */
};

/* Adds an entry, whether or not the key is there already. The value is below UINT64_MAX. Places are others
 * afterwards. 0, or -ENOMEM and nothing changed. */
int map_add(struct map *m, uint64_t key, uint64_t value);
/* Takes the entry at this place out. Other places are others afterwards. */
void map_remove(struct map *m, size_t at);
/* Takes all out, and keeps the memory. */
void map_clear(struct map *m);
void map_free(struct map *m);
uint64_t map_secret_of_process(void);

static inline uint64_t map_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline size_t map_home(const struct map *m, uint64_t key)
{
	return (size_t)(map_mix(key ^ m->secret, 0x9E3779B97F4A7C15ull) >> (64 - m->bits));
}

static inline size_t map_from(const struct map *m, uint64_t key, size_t at)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	for (at &= mask; m->slots[at].value; at = (at + 1) & mask) {
		if (m->slots[at].key == key) {
			return at;
		}
	}
	return MAP_NONE;
}

/* The place of an entry with this key, or MAP_NONE; and of the next one behind a place. */
static inline size_t map_find(const struct map *m, uint64_t key)
{
	return m->slots ? map_from(m, key, map_home(m, key)) : MAP_NONE;
}
static inline size_t map_find_next(const struct map *m, uint64_t key, size_t at)
{
	return map_from(m, key, at + 1);
}
#define MAP_EACH(m, key, at) for (size_t at = map_find((m), (key)); at != MAP_NONE; at = map_find_next((m), (key), at))

static inline uint64_t map_value(const struct map *m, size_t at)
{
	return m->slots[at].value - 1;
}
static inline void map_set(struct map *m, size_t at, uint64_t value)
{
	m->slots[at].value = value + 1;
}

/* The first entry whose place is `at` or behind it, in no order that means anything; MAP_NONE: there is none. */
static inline size_t map_entry(const struct map *m, size_t at)
{
	size_t end = m->slots ? (size_t)1 << m->bits : 0;
	while (at < end && !m->slots[at].value) {
		at++;
	}
	return at < end ? at : MAP_NONE;
}

/* Values that are pointers, aligned as malloc's are. */
static inline void *map_pointer(const struct map *m, size_t at)
{
	return (void *)(uintptr_t)map_value(m, at);
}
static inline int map_add_pointer(struct map *m, uint64_t key, const void *p)
{
	return map_add(m, key, (uintptr_t)p);
}
/* NULL: there is none. Of several with this key, any. */
static inline void *map_find_pointer(const struct map *m, uint64_t key)
{
	size_t at = map_find(m, key);
	return at != MAP_NONE ? map_pointer(m, at) : NULL;
}
static inline void map_remove_pointer(struct map *m, uint64_t key, const void *p)
{
	MAP_EACH(m, key, at) {
		if (map_pointer(m, at) == p) {
			map_remove(m, at);
			return;
		}
	}
}
/* Of all entries, in no order that means anything. Nothing is added or removed meanwhile. */
#define MAP_ALL(m, at) for (size_t at = map_entry((m), 0); at != MAP_NONE; at = map_entry((m), at + 1))

/* A key for bytes, which others cannot foresee. */
static inline uint64_t map_hash(const struct map *m, const void *bytes, size_t n)
{
	uint64_t h = (m->slots ? m->secret : map_secret_of_process()) ^ n;
	const uint8_t *p = (const uint8_t *)bytes;
	for (; n >= 8; p += 8, n -= 8) {
		h = map_mix(h ^ le64_get(p), 0xD6E8FEB86659FD93ull);
	}
	if (n > 0) {
		uint64_t rest = 0;
		memcpy(&rest, p, n);
		h = map_mix(h ^ rest, 0xD6E8FEB86659FD93ull);
	}
	return h;
}

#endif
