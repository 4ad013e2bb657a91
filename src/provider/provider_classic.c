/* SPDX-License-Identifier: MIT
 * Classic providers: logger map and event classes.
 */
#include "provider/provider_classic.h"
#include "provider/provider_fork.h"

#include <stdlib.h>

/* logger id | registration index << 16 | destination << 32 | 1 << 63. A session enables few. */
#define MAP_MAX 128u
static uint64_t map[MAP_MAX];

void provider_classic_refresh_locked(void)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		const struct provider_registration *reg = &provider_registrations[i];
		if (reg->state != PROVIDER_REG_LIVE || !(reg->flags & PROVIDER_HOT_CLASSIC)) {
			continue;
		}
		for (uint64_t d = 0; d < PROVIDER_DESTS && n < MAP_MAX; d++) {
			uint64_t handle = reg->said[d].classic_handle;
			if (handle != 0) {
				order_store_relaxed(&map[n],
						    (handle & 0xFFFF) | (uint64_t)i << 16 | d << 32 | 1ull << 63);
				n++;
			}
		}
	}
	for (; n < MAP_MAX && map[n] != 0; n++) {
		order_store_relaxed(&map[n], 0ull);
	}
}

bool provider_classic_find(uint64_t handle, struct provider_classic_target *ret)
{
	provider_fork_check();
	for (uint32_t i = 0; i < MAP_MAX; i++) {
		uint64_t m = order_load_relaxed(&map[i]);
		if (m == 0) {
			return false;
		}
		if ((m & 0xFFFF) == (handle & 0xFFFF)) {
			ret->index = (uint32_t)(m >> 16) & 0xFFFFu;
			ret->dest = (uint32_t)(m >> 32) & 3u;
			return true;
		}
	}
	return false;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Blocks are never freed, so a stale handle finds memory that says "dead", not freed memory. */
#define BLOCK_CLASSES 64u
#define BLOCKS_MAX    256u
struct class
{
	uint64_t registration; /* 0 free */
	uint32_t generation;
	uint32_t counter;
	struct guid guid;
};
static struct class *blocks[BLOCKS_MAX];

static struct class *class_at(uint64_t handle)
{
	uint32_t index = (uint32_t)handle - 1;
	if (index >= BLOCKS_MAX * BLOCK_CLASSES) {
		return NULL;
	}
	struct class *block = order_load_acquire(&blocks[index / BLOCK_CLASSES]);
	struct class *c = block ? &block[index % BLOCK_CLASSES] : NULL;
	return c && order_load_acquire(&c->registration) != 0 && c->generation == (uint32_t)(handle >> 32) ? c : NULL;
}

uint64_t provider_class_add(uint64_t registration, const struct guid *guid)
{
	uint64_t handle = 0;
	pthread_mutex_lock(&provider_lock);
	for (uint32_t i = 0; i < BLOCKS_MAX * BLOCK_CLASSES && handle == 0; i++) {
		struct class **block = &blocks[i / BLOCK_CLASSES];
		if (!*block) {
			struct class *fresh = calloc(BLOCK_CLASSES, sizeof *fresh);
			if (!fresh) {
				break;
			}
			order_store_release(block, fresh);
		}
		struct class *c = &(*block)[i % BLOCK_CLASSES];
		if (c->registration == 0) {
			c->generation++;
			c->counter = 0;
			c->guid = *guid;
			order_store_release(&c->registration, registration);
			handle = (uint64_t)c->generation << 32 | (i + 1);
		}
	}
	pthread_mutex_unlock(&provider_lock);
	return handle;
}

void provider_class_remove_all(uint64_t registration)
{
	pthread_mutex_lock(&provider_lock);
	for (uint32_t i = 0; i < BLOCKS_MAX && blocks[i]; i++) {
		for (uint32_t k = 0; k < BLOCK_CLASSES; k++) {
			if (blocks[i][k].registration == registration) {
				order_store_release(&blocks[i][k].registration, 0ull);
			}
		}
	}
	pthread_mutex_unlock(&provider_lock);
}

bool provider_class_guid(uint64_t class_handle, struct guid *ret)
{
	const struct class *c = class_at(class_handle);
	if (!c) {
		return false;
	}
	*ret = c->guid;
	return true;
}

bool provider_class_next(uint64_t class_handle, uint32_t *ret)
{
	struct class *c = class_at(class_handle);
	if (!c) {
		return false;
	}
	uint32_t n = order_add_relaxed(&c->counter, 1u) + 1;
	*ret = n != 0 ? n : order_add_relaxed(&c->counter, 1u) + 1;
	return true;
}
