/* SPDX-License-Identifier: MIT
 *
 * Schemas that were learnt. Chained hash tables that never forget before destroy, so that borrowed
 * pointers stay good; bounded, because files from elsewhere fill them. The first schema for a key
 * stays: a trace repeats them, and a hostile one could otherwise take others' place.
 */
#include "schema/schema_build.h"

#include <pthread.h>
#include <stdlib.h>

#define STORE_BUCKETS	 1024u
#define STORE_MEMORY_MAX (64u << 20)

struct event_node {
	struct event_node *next;
	struct schema_event *event;
	struct guid guid;
	uint16_t id;
	uint8_t version;
	bool classic;
};
struct map_node {
	struct map_node *next;
	struct guid provider;
	struct schema_map map;
	uint32_t name_bytes;
	/* then the block, then the name in UTF-8 */
};

struct schema_store {
	struct event_node *events[STORE_BUCKETS];
	struct map_node *maps[STORE_BUCKETS];
	size_t memory;
};

struct schema_store *schema_store_create(void)
{
	return calloc(1, sizeof(struct schema_store));
}

void schema_store_destroy(struct schema_store *s)
{
	for (uint32_t i = 0; s && i < STORE_BUCKETS; i++) {
		for (struct event_node *n = s->events[i], *next; n; n = next) {
			next = n->next;
			schema_event_destroy(n->event);
			free(n);
		}
		for (struct map_node *n = s->maps[i], *next; n; n = next) {
			next = n->next;
			free(n);
		}
	}
	free(s);
}

static uint32_t event_bucket(const struct guid *g, uint16_t id)
{
	uint64_t h = (le64_get(g->b) ^ le64_get(g->b + 8) ^ id) * 0x9E3779B97F4A7C15ull;
	return (uint32_t)(h >> 54) % STORE_BUCKETS;
}

static uint32_t map_bucket(const struct guid *g, const char *name, size_t bytes)
{
	uint64_t h = le64_get(g->b) ^ le64_get(g->b + 8);
	for (size_t i = 0; i < bytes; i++) {
		h = (h ^ (uint8_t)name[i]) * 0x100000001B3ull;
	}
	return (uint32_t)(h >> 32) % STORE_BUCKETS;
}

static struct event_node *find_event(const struct schema_store *s, bool classic,
				     const struct guid *g, uint16_t id, uint8_t version)
{
	struct event_node *n = s->events[event_bucket(g, id)];
	while (n && !(n->id == id && n->version == version && n->classic == classic &&
		      guid_equal(&n->guid, g))) {
		n = n->next;
	}
	return n;
}

const struct schema_event *schema_store_find(const struct schema_store *s, bool classic,
					     const struct guid *g, uint16_t id, uint8_t version)
{
	struct event_node *n = find_event(s, classic, g, id, version);
	return n ? n->event : NULL;
}

int schema_store_take_event(struct schema_store *s, struct schema_event *e)
{
	bool classic = e->source == SCHEMA_SOURCE_WBEM;
	const struct guid *g =
		classic && !guid_is_zero(&e->event_guid) ? &e->event_guid : &e->provider;
	uint16_t id = classic ? e->descriptor[5] : le16_get(e->descriptor);
	uint8_t version = e->descriptor[2];
	if (find_event(s, classic, g, id, version) ||
	    s->memory + e->memory_bytes > STORE_MEMORY_MAX) {
		schema_event_destroy(e);
		return 0;
	}
	struct event_node *n = malloc(sizeof *n);
	if (!n) {
		schema_event_destroy(e);
		return -ENOMEM;
	}
	uint32_t at = event_bucket(g, id);
	*n = (struct event_node){s->events[at], e, *g, id, version, classic};
	s->events[at] = n;
	s->memory += e->memory_bytes + sizeof *n;
	return 1;
}

const struct schema_map *schema_store_find_map(const struct schema_store *s,
					       const struct guid *provider, const char *name,
					       size_t bytes)
{
	struct map_node *n = s->maps[map_bucket(provider, name, bytes)];
	for (; n; n = n->next) {
		const char *own = (const char *)n->map.block + n->map.block_bytes;
		if (n->name_bytes == bytes && guid_equal(&n->provider, provider) &&
		    memcmp(own, name, bytes) == 0) {
			return &n->map;
		}
	}
	return NULL;
}

int schema_store_add_map(struct schema_store *s, const struct guid *provider, const void *block,
			 size_t n)
{
	struct schema_map m;
	int err = schema_map_parse(block, n, &m, NULL);
	if (err < 0) {
		return err;
	}
	struct openetw_text name = {0};
	size_t units = 0;
	uint32_t at = le32_get(m.block);
	struct bytes in = bytes_of(m.block + at, n - at);
	const uint8_t *wide = bytes_wsz(&in, &units);
	out_utf16(&name, wide, units, false);
	int result = -ENOMEM;
	size_t total = sizeof(struct map_node) + n + name.length;
	if (!name.failed && schema_store_find_map(s, provider, name.data, name.length)) {
		result = 0;
	} else if (!name.failed && s->memory + total > STORE_MEMORY_MAX) {
		result = 0;
	} else if (!name.failed) {
		struct map_node *node = malloc(total);
		if (node) {
			uint32_t bucket = map_bucket(provider, name.data, name.length);
			uint8_t *copy = (uint8_t *)(node + 1);
			memcpy(copy, block, n);
			memcpy(copy + n, name.data, name.length);
			m.block = copy;
			*node = (struct map_node){s->maps[bucket], *provider, m,
						  (uint32_t)name.length};
			s->maps[bucket] = node;
			s->memory += total;
			result = 1;
		}
	}
	openetw_text_free(&name);
	return result;
}

int schema_store_learn(struct schema_store *s, uint8_t opcode, const void *payload, size_t n)
{
	if (opcode == 32) {
		struct schema_event *e;
		int err = schema_load_tei(payload, n, &e, NULL);
		return err < 0 ? err : schema_store_take_event(s, e);
	}
	if (opcode == 33 && n > 16) {
		struct guid provider;
		memcpy(provider.b, payload, 16);
		return schema_store_add_map(s, &provider, (const uint8_t *)payload + 16, n - 16);
	}
	return 0;
}

int schema_store_each_provider(const struct schema_store *s, schema_provider_fn fn, void *ctx)
{
	for (uint32_t i = 0; i < STORE_BUCKETS; i++) {
		for (const struct event_node *n = s->events[i]; n; n = n->next) {
			int stop = fn(ctx, &n->event->provider, n->event->source,
				      schema_text(n->event, n->event->provider_name));
			if (stop) {
				return stop;
			}
		}
	}
	return 0;
}

int schema_store_each_event(const struct schema_store *s, const struct guid *provider,
			    schema_event_fn fn, void *ctx)
{
	for (uint32_t i = 0; i < STORE_BUCKETS; i++) {
		for (const struct event_node *n = s->events[i]; n; n = n->next) {
			int stop =
				guid_equal(&n->event->provider, provider) ? fn(ctx, n->event) : 0;
			if (stop) {
				return stop;
			}
		}
	}
	return 0;
}

/* ---- the process's own
 * ---------------------------------------------------------------------------- */

static struct {
	pthread_rwlock_t lock;
	struct schema_store *store; /* made when first needed, never destroyed */
} process = {PTHREAD_RWLOCK_INITIALIZER, NULL};

int schema_process_learn(uint8_t opcode, const void *payload, size_t n)
{
	pthread_rwlock_wrlock(&process.lock);
	if (!process.store) {
		process.store = schema_store_create();
	}
	int err = process.store ? schema_store_learn(process.store, opcode, payload, n) : -ENOMEM;
	pthread_rwlock_unlock(&process.lock);
	return err;
}

/* A built-in class enters the store when it is first asked for. */
static const struct schema_event *load_classic(const struct guid *g, uint8_t opcode,
					       uint8_t version)
{
	struct schema_event *e;
	const struct schema_event *found = NULL;
	if (schema_load_classic(g, opcode, version, &e) < 0) {
		return NULL;
	}
	pthread_rwlock_wrlock(&process.lock);
	if (!process.store) {
		process.store = schema_store_create();
	}
	if (!process.store) {
		schema_event_destroy(e);
	} else {
		schema_store_take_event(process.store, e);
		found = schema_store_find(process.store, true, g, opcode, version);
	}
	pthread_rwlock_unlock(&process.lock);
	return found;
}

const struct schema_event *schema_process_find(bool classic, const struct guid *g, uint16_t id,
					       uint8_t version)
{
	pthread_rwlock_rdlock(&process.lock);
	const struct schema_event *e =
		process.store ? schema_store_find(process.store, classic, g, id, version) : NULL;
	pthread_rwlock_unlock(&process.lock);
	return e || !classic ? e : load_classic(g, (uint8_t)id, version);
}

const struct schema_map *schema_process_find_map(const struct guid *provider, const char *name,
						 size_t bytes)
{
	pthread_rwlock_rdlock(&process.lock);
	const struct schema_map *m =
		process.store ? schema_store_find_map(process.store, provider, name, bytes) : NULL;
	pthread_rwlock_unlock(&process.lock);
	return m;
}

int schema_process_each_provider(schema_provider_fn fn, void *ctx)
{
	pthread_rwlock_rdlock(&process.lock);
	int err = process.store ? schema_store_each_provider(process.store, fn, ctx) : 0;
	pthread_rwlock_unlock(&process.lock);
	return err;
}

int schema_process_each_event(const struct guid *provider, schema_event_fn fn, void *ctx)
{
	pthread_rwlock_rdlock(&process.lock);
	int err = process.store ? schema_store_each_event(process.store, provider, fn, ctx) : 0;
	pthread_rwlock_unlock(&process.lock);
	return err;
}
