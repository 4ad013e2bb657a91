/* SPDX-License-Identifier: MIT
 *
 * Schemas that were learnt. Tables that never forget before destroy, so that borrowed pointers stay good;
 * bounded, because files from elsewhere fill them. The first schema for a key stays: a trace repeats them,
 * and a hostile one could otherwise take others' place.
 *
 * A map leads from a key to the newest node that has it; the others follow by `next`. All nodes of a kind are
 * on a list by `older`, the newest first.
 */
#include "schema/schema_build.h"
#include "schema/schema_sent.h"
#include "schema/wpp.h"
#include "schema/schema_manifest.h"

#include "base/map.h"

#include <stdlib.h>

#define STORE_MEMORY_MAX (64u << 20)

struct event_node {
	struct event_node *next, *older;
	struct schema_event *event;
	struct guid guid;
	uint16_t id;
	uint8_t version;
	bool classic;
	bool alias; /* the event belongs to another node */
};
struct map_node {
	struct map_node *next, *older;
	struct guid provider;
	struct schema_map map;
	uint32_t name_bytes;
	/* then the block, then the name in UTF-8 */
};

struct provider_node {
	struct provider_node *next, *older;
	const struct manifest_provider *provider;
	enum schema_source source;
	struct manifest_node *from;
};
struct manifest_node {
	struct manifest_node *next;
	struct manifest manifest;
	char key[]; /* whence, for unloading */
};

struct schema_store {
	struct map events;    /* by GUID and id */
	struct map maps;      /* by provider and name */
	struct map providers; /* by GUID */
	struct event_node *all_events;
	struct map_node *all_maps;
	struct provider_node *all_providers;
	struct manifest_node *manifests;
	struct event_node *retired; /* borrowed pointers to them may still be out there */
	struct schema_sent *sent;   /* made with the first one */
	size_t *memory;
	size_t own_memory; /* what memory leads to, but in stores inside others */
};

struct schema_store *schema_store_create(void)
{
	struct schema_store *s = calloc(1, sizeof *s);
	if (s) {
		s->memory = &s->own_memory;
	}
	return s;
}

struct schema_store *schema_store_create_within(struct schema_store *parent)
{
	/* Half of it stays for schemas: whoever sends many manifests does not keep others from being read. */
	struct schema_store *s = *parent->memory < STORE_MEMORY_MAX / 2 ? schema_store_create() : NULL;
	if (s) {
		s->memory = parent->memory;
		*s->memory += sizeof *s;
	}
	return s;
}

static void free_events(struct event_node *n)
{
	for (struct event_node *next; n; n = next) {
		next = n->older;
		if (!n->alias) {
			schema_event_destroy(n->event);
		}
		free(n);
	}
}

void schema_store_destroy(struct schema_store *s)
{
	if (!s) {
		return;
	}
	for (struct provider_node *n = s->all_providers, *next; n; n = next) {
		next = n->older;
		free(n);
	}
	for (struct manifest_node *n = s->manifests, *next; n; n = next) {
		next = n->next;
		manifest_finish(&n->manifest);
		free(n);
	}
	free_events(s->retired);
	schema_sent_destroy(s->sent);
	free_events(s->all_events);
	for (struct map_node *n = s->all_maps, *next; n; n = next) {
		next = n->older;
		free(n);
	}
	map_free(&s->events);
	map_free(&s->maps);
	map_free(&s->providers);
	free(s);
}

static uint64_t provider_key(const struct schema_store *s, const struct guid *g)
{
	return map_hash(&s->providers, g->b, sizeof g->b);
}

static uint64_t event_key(const struct schema_store *s, const struct guid *g, uint16_t id)
{
	return map_hash(&s->events, g->b, sizeof g->b) ^ id;
}

static uint64_t map_key(const struct schema_store *s, const struct guid *g, const char *name, size_t bytes)
{
	return map_mix(map_hash(&s->maps, g->b, sizeof g->b), map_hash(&s->maps, name, bytes));
}

/* In front of those that have the key. The node's `next` is theirs to set: *ret_next. -ENOMEM. */
static int put_first(struct map *m, uint64_t key, const void *node, void **ret_next)
{
	size_t at = map_find(m, key);
	*ret_next = at != MAP_NONE ? map_pointer(m, at) : NULL;
	if (at == MAP_NONE) {
		return map_add_pointer(m, key, node);
	}
	map_set(m, at, (uintptr_t)node);
	return 0;
}

/* Without the first one of those that have the key. */
static void take_first(struct map *m, uint64_t key, const void *next)
{
	size_t at = map_find(m, key);
	if (next) {
		map_set(m, at, (uintptr_t)next);
	} else {
		map_remove(m, at);
	}
}

static struct provider_node *first_provider(const struct schema_store *s, const struct guid *g)
{
	return map_find_pointer(&s->providers, provider_key(s, g));
}

static int put_event(struct schema_store *s, struct event_node *n)
{
	void *next;
	int err = put_first(&s->events, event_key(s, &n->guid, n->id), n, &next);
	if (err == 0) {
		n->next = next;
		n->older = s->all_events;
		s->all_events = n;
	}
	return err;
}

static struct event_node *find_event(const struct schema_store *s, bool classic, const struct guid *g, uint16_t id,
				     uint8_t version)
{
	struct event_node *n = map_find_pointer(&s->events, event_key(s, g, id));
	while (n && !(n->id == id && n->version == version && n->classic == classic && guid_equal(&n->guid, g))) {
		n = n->next;
	}
	return n;
}

const struct schema_event *schema_store_find(const struct schema_store *s, bool classic, const struct guid *g,
					     uint16_t id, uint8_t version)
{
	struct event_node *n = find_event(s, classic, g, id, version);
	return n ? n->event : NULL;
}

int schema_store_take_event(struct schema_store *s, struct schema_event *e)
{
	bool classic = e->source == SCHEMA_SOURCE_WBEM;
	const struct guid *g = classic && !guid_is_zero(&e->event_guid) ? &e->event_guid : &e->provider;
	uint16_t id = classic ? e->descriptor[5] : le16_get(e->descriptor);
	uint8_t version = e->descriptor[2];
	if (find_event(s, classic, g, id, version) || *s->memory + e->memory_bytes > STORE_MEMORY_MAX) {
		schema_event_destroy(e);
		return 0;
	}
	struct event_node *n = malloc(sizeof *n);
	if (!n) {
		schema_event_destroy(e);
		return -ENOMEM;
	}
	*n = (struct event_node){.event = e, .guid = *g, .id = id, .version = version, .classic = classic};
	if (put_event(s, n) < 0) {
		free(n);
		schema_event_destroy(e);
		return -ENOMEM;
	}
	*s->memory += e->memory_bytes + sizeof *n;
	return 1;
}

const struct schema_map *schema_store_find_map(const struct schema_store *s, const struct guid *provider,
					       const char *name, size_t bytes)
{
	const struct map_node *n = map_find_pointer(&s->maps, map_key(s, provider, name, bytes));
	for (; n; n = n->next) {
		const char *own = (const char *)n->map.block + n->map.block_bytes;
		if (n->name_bytes == bytes && guid_equal(&n->provider, provider) && memcmp(own, name, bytes) == 0) {
			return &n->map;
		}
	}
	return schema_sent_find_map(s->sent, provider, name, bytes);
}

/* `replace`: found before an older one of the same name. */
static int add_map(struct schema_store *s, const struct guid *provider, const void *block, size_t n,
		   uint32_t group_count, bool replace)
{
	struct schema_map m;
	int err = schema_map_parse(block, n, &m, NULL);
	if (err < 0) {
		return err;
	}
	m.group_count = group_count;
	struct openetw_text name = {0};
	size_t units = 0;
	uint32_t at = le32_get(m.block);
	struct bytes in = bytes_of(m.block + at, n - at);
	const uint8_t *wide = bytes_wsz(&in, &units);
	out_utf16(&name, wide, units, false);
	int result = -ENOMEM;
	size_t total = sizeof(struct map_node) + n + name.length;
	if (!name.failed && !replace && schema_store_find_map(s, provider, name.data, name.length)) {
		result = 0;
	} else if (!name.failed && *s->memory + total > STORE_MEMORY_MAX) {
		result = 0;
	} else if (!name.failed) {
		struct map_node *node = malloc(total);
		void *next;
		if (node && put_first(&s->maps, map_key(s, provider, name.data, name.length), node, &next) < 0) {
			free(node);
			node = NULL;
		}
		if (node) {
			uint8_t *copy = (uint8_t *)(node + 1);
			memcpy(copy, block, n);
			memcpy(copy + n, name.data, name.length);
			m.block = copy;
			*node = (struct map_node){next, s->all_maps, *provider, m, (uint32_t)name.length};
			s->all_maps = node;
			*s->memory += total;
			result = 1;
		}
	}
	openetw_text_free(&name);
	return result;
}

int schema_store_add_map(struct schema_store *s, const struct guid *provider, const void *block, size_t n)
{
	return add_map(s, provider, block, n, 0, false);
}

static const struct manifest_event *best_event(const struct manifest_provider *p, uint16_t id, uint8_t version)
{
	const struct manifest_event *best = NULL;
	for (const struct manifest_event *e = p->events; e; e = e->next) {
		if (e->id != id) {
			continue;
		}
		if (e->version == version) {
			return e;
		}
		if (p->lenient && e->version < version && (!best || e->version > best->version)) {
			best = e;
		}
	}
	return best;
}

/* Do we know the event better than a trace describes it? */
static bool is_known_better(const struct schema_store *s, const struct schema_event *e)
{
	const struct provider_node *n = first_provider(s, &e->provider);
	for (; n && e->source != SCHEMA_SOURCE_WBEM; n = n->next) {
		if (n->source == SCHEMA_SOURCE_WBEM || !guid_equal(&n->provider->guid, &e->provider)) {
			continue;
		}
		const struct manifest_event *m = best_event(n->provider, le16_get(e->descriptor), e->descriptor[2]);
		if (m && m->better) {
			return true;
		}
	}
	return false;
}

#define KEY_OF_TRACE "\x01trace" /* no path */

/* What was loaded from elsewhere goes before what a trace says. */
static bool known_from_elsewhere(const struct schema_store *s, const struct manifest *m)
{
	for (const struct manifest_provider *p = m->providers; p; p = p->next) {
		const struct provider_node *n = first_provider(s, &p->guid);
		for (; n; n = n->next) {
			if (guid_equal(&n->provider->guid, &p->guid) && strcmp(n->from->key, KEY_OF_TRACE) != 0) {
				return true;
			}
		}
	}
	return false;
}

static int learn_formats(struct schema_store *s, const void *text, size_t n)
{
	struct manifest m;
	int err = manifest_read_tmf(text, n, &m, NULL);
	if (err < 0) {
		return err;
	}
	if (known_from_elsewhere(s, &m)) {
		manifest_finish(&m);
		return 0;
	}
	err = schema_store_take_manifest(s, &m, SCHEMA_SOURCE_WPP, KEY_OF_TRACE);
	return err < 0 ? err : 1;
}

bool schema_store_understands(uint8_t opcode, const void *payload, size_t n)
{
	struct schema_event *e;
	struct schema_map map;
	struct manifest m;
	switch (opcode) {
	case SCHEMA_METADATA_EVENT:
		if (schema_load_tei(payload, n, &e, NULL) < 0) {
			return false;
		}
		schema_event_destroy(e);
		return true;
	case SCHEMA_METADATA_MAP:
		return n > 16 && schema_map_parse((const uint8_t *)payload + 16, n - 16, &map, NULL) == 0;
	case SCHEMA_METADATA_TMF:
		if (manifest_read_tmf(payload, n, &m, NULL) < 0) {
			return false;
		}
		manifest_finish(&m);
		return true;
	default: return false;
	}
}

int schema_store_learn(struct schema_store *s, uint8_t opcode, const void *payload, size_t n)
{
	if (opcode == SCHEMA_METADATA_TMF) {
		return learn_formats(s, payload, n);
	}
	if (opcode == SCHEMA_METADATA_EVENT) {
		struct schema_event *e;
		int err = schema_load_tei(payload, n, &e, NULL);
		if (err == 0 && is_known_better(s, e)) {
			schema_event_destroy(e);
			return 0;
		}
		return err < 0 ? err : schema_store_take_event(s, e);
	}
	if (opcode == SCHEMA_METADATA_MAP && n > 16) {
		struct guid provider;
		memcpy(provider.b, payload, 16);
		return schema_store_add_map(s, &provider, (const uint8_t *)payload + 16, n - 16);
	}
	return 0;
}

/* ---- manifests -------------------------------------------------------------------------------- */

static void take_event(struct schema_store *s, struct event_node *n)
{
	uint64_t key = event_key(s, &n->guid, n->id);
	struct event_node *before = map_find_pointer(&s->events, key);
	if (before == n) {
		take_first(&s->events, key, n->next);
		return;
	}
	while (before->next != n) {
		before = before->next;
	}
	before->next = n->next;
}

/* What was made of a provider's older declaration makes room for the new one. */
static void retire_events(struct schema_store *s, const struct guid *g, bool classic)
{
	for (struct event_node **at = &s->all_events; *at;) {
		struct event_node *n = *at;
		if (n->classic != classic || !guid_equal(&n->guid, g)) {
			at = &n->older;
			continue;
		}
		take_event(s, n);
		*at = n->older;
		n->older = s->retired;
		s->retired = n;
	}
}

static int add_maps(struct schema_store *s, const struct manifest_provider *p)
{
	int err = 0;
	for (const struct manifest_map *m = p->maps; m && err >= 0; m = m->next) {
		struct openetw_text block = {0};
		schema_manifest_map(m, &block);
		err = block.failed ? -ENOMEM : add_map(s, &p->guid, block.data, block.length, m->group_count, true);
		openetw_text_free(&block);
	}
	return err < 0 ? err : 0;
}

int schema_store_take_manifest(struct schema_store *s, struct manifest *m, enum schema_source source, const char *key)
{
	size_t bytes = strlen(key) + 1;
	struct manifest_node *node =
		*s->memory + m->arena.total_bytes > STORE_MEMORY_MAX ? NULL : malloc(sizeof *node + bytes);
	if (!node) {
		manifest_finish(m);
		return -ENOMEM;
	}
	node->manifest = *m;
	memcpy(node->key, key, bytes);
	node->next = s->manifests;
	s->manifests = node;
	*s->memory += m->arena.total_bytes;
	int err = 0;
	for (const struct manifest_provider *p = m->providers; p && err == 0; p = p->next) {
		struct provider_node *n = malloc(sizeof *n);
		void *next;
		err = n ? add_maps(s, p) : -ENOMEM;
		err = err < 0 ? err : put_first(&s->providers, provider_key(s, &p->guid), n, &next);
		if (err < 0) {
			free(n);
			break;
		}
		retire_events(s, &p->guid, source == SCHEMA_SOURCE_WBEM);
		*n = (struct provider_node){next, s->all_providers, p, source, node};
		s->all_providers = n;
	}
	*m = (struct manifest){0};
	return err;
}

static void take_provider(struct schema_store *s, struct provider_node *n)
{
	uint64_t key = provider_key(s, &n->provider->guid);
	struct provider_node *before = map_find_pointer(&s->providers, key);
	if (before == n) {
		take_first(&s->providers, key, n->next);
		return;
	}
	while (before->next != n) {
		before = before->next;
	}
	before->next = n->next;
}

int schema_store_drop_manifest(struct schema_store *s, const char *key)
{
	int found = 0;
	for (struct provider_node **at = &s->all_providers; *at;) {
		struct provider_node *n = *at;
		if (strcmp(n->from->key, key) != 0) {
			at = &n->older;
			continue;
		}
		/* The manifest itself stays: somebody may hold a name of it. */
		retire_events(s, &n->provider->guid, n->source == SCHEMA_SOURCE_WBEM);
		take_provider(s, n);
		*at = n->older;
		free(n);
		found = 1;
	}
	return found ? 0 : -ENOENT;
}

static const struct provider_node *find_provider(const struct schema_store *s, bool classic, const struct guid *g)
{
	const struct provider_node *n = first_provider(s, g);
	while (n && !((n->source == SCHEMA_SOURCE_WBEM) == classic && guid_equal(&n->provider->guid, g))) {
		n = n->next;
	}
	return n;
}

const struct manifest_provider *schema_store_loaded(const struct schema_store *s, bool classic, const struct guid *g)
{
	const struct provider_node *n = find_provider(s, classic, g);
	return n ? n->provider : NULL;
}

const char *schema_store_key(const struct schema_store *s, bool classic, const struct guid *g)
{
	const struct provider_node *n = find_provider(s, classic, g);
	return n ? n->from->key : NULL;
}

const struct manifest_provider *schema_store_provider(const struct schema_store *s, bool classic, const struct guid *g)
{
	const struct manifest_provider *p = schema_store_loaded(s, classic, g);
	return p || classic ? p : schema_sent_provider(s->sent, g);
}

/* The fields' maps are looked up once, before anybody else sees the event. */
static void bind_maps(const struct schema_store *s, struct schema_event *e)
{
	struct schema_field *f = (struct schema_field *)(uintptr_t)e->fields;
	for (uint32_t i = 0; i < e->field_count; i++) {
		if (f[i].map.bytes) {
			f[i].bound = schema_store_find_map(s, &e->provider, schema_text(e, f[i].map), f[i].map.bytes);
		}
	}
}

static const struct schema_event *add_alias(struct schema_store *s, const struct event_node *to, uint8_t version)
{
	struct event_node *n = malloc(sizeof *n);
	if (!n) {
		return NULL;
	}
	*n = *to;
	n->version = version;
	n->alias = true;
	if (put_event(s, n) < 0) {
		free(n);
		return NULL;
	}
	*s->memory += sizeof *n;
	return n->event;
}

const struct schema_event *schema_store_resolve(struct schema_store *s, bool classic, const struct guid *g, uint16_t id,
						uint8_t version)
{
	const struct event_node *known = find_event(s, classic, g, id, version);
	if (known) {
		return known->event;
	}
	for (const struct provider_node *n = first_provider(s, g); n; n = n->next) {
		if ((n->source == SCHEMA_SOURCE_WBEM) != classic || !guid_equal(&n->provider->guid, g)) {
			continue;
		}
		const struct manifest_event *e = best_event(n->provider, id, version);
		struct schema_event *made;
		if (!e || *s->memory > STORE_MEMORY_MAX) {
			continue;
		}
		known = find_event(s, classic, g, id, e->version);
		if (!known && schema_manifest_event(n->provider, e, n->source, &made) == 0) {
			bind_maps(s, made);
			schema_store_take_event(s, made);
			known = find_event(s, classic, g, id, e->version);
		}
		if (known) {
			return e->version == version ? known->event : add_alias(s, known, version);
		}
	}
	return NULL;
}

int schema_store_each_provider(const struct schema_store *s, schema_provider_fn fn, void *ctx)
{
	for (const struct provider_node *n = s->all_providers; n; n = n->older) {
		int stop = fn(ctx, &n->provider->guid, n->source, n->provider->name);
		if (stop) {
			return stop;
		}
	}
	for (const struct event_node *n = s->all_events; n; n = n->older) {
		int stop =
			fn(ctx, &n->event->provider, n->event->source, schema_text(n->event, n->event->provider_name));
		if (stop) {
			return stop;
		}
	}
	return schema_sent_each_provider(s->sent, fn, ctx);
}

int schema_store_each_event(const struct schema_store *s, const struct guid *provider, schema_event_fn fn, void *ctx)
{
	for (const struct event_node *n = s->all_events; n; n = n->older) {
		int stop = !n->alias && guid_equal(&n->event->provider, provider) ? fn(ctx, n->event) : 0;
		if (stop) {
			return stop;
		}
	}
	return schema_sent_each_event(s->sent, provider, fn, ctx);
}

/* ---- manifests that EventSources sent ---------------------------------------------------------- */

int schema_store_take_sent(struct schema_store *s, const struct guid *provider, uint32_t pid, const void *text,
			   size_t n, struct diag *d)
{
	s->sent = s->sent ? s->sent : schema_sent_create(s);
	return s->sent ? schema_sent_take(s->sent, provider, pid, text, n, d) : -ENOMEM;
}

uint32_t schema_store_sent(const struct schema_store *s, const struct guid *provider)
{
	return schema_sent_count(s->sent, provider);
}

const struct schema_event *schema_store_resolve_sent(struct schema_store *s, const struct guid *g, uint16_t id,
						     uint8_t version)
{
	return schema_sent_resolve(s->sent, g, id, version);
}

const struct schema_event *schema_store_choose(struct schema_store *s, const struct schema_ask *a,
					       enum schema_sender who)
{
	return schema_sent_choose(s->sent, a, who);
}
