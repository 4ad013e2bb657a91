/* SPDX-License-Identifier: MIT
 *
 * The process's store. Readers share a lock; whoever misses takes it alone, and brings in once for
 * each provider what the built-in catalogue and the user's directories say about it.
 */
#include "base/order.h"
#include "base/map.h"
#include "base/vec.h"
#include "schema/catalogue.h"
#include "schema/schema_eventsource.h"
#include "schema/schema_store.h"
#include "schema/schema_manifest.h"

#include <pthread.h>
#include <stdlib.h>

#define ASKED_MAX  65536u /* a hostile trace may name any number of providers */
#define TRIED_MAX  1024u
#define NAME_UNITS 256u /* of a provider, with the NUL */

static struct {
	pthread_rwlock_t lock;
	struct schema_store *store; /* made when first needed, never destroyed */
	struct guid *asked;
	struct map asked_places; /* by GUID */
	struct schema_chunks *chunks;
	char *tried[TRIED_MAX]; /* paths */
	uint32_t tried_count;
	uint32_t asked_count, asked_cap;
	uint32_t generation;
} process = {PTHREAD_RWLOCK_INITIALIZER};

uint32_t schema_process_generation(void)
{
	return order_load_acquire(&process.generation); /* A: pairs with A in changed_locked() */
}

static void changed_locked(void)
{
	order_store_release(&process.generation, process.generation + 1); /* A */
}

static struct schema_store *store_locked(void)
{
	if (!process.store) {
		process.store = schema_store_create();
	}
	return process.store;
}

/* ---- bringing in ------------------------------------------------------------------------------ */

static bool was_asked_locked(const struct guid *g)
{
	uint64_t key = map_hash(&process.asked_places, g, sizeof *g);
	MAP_EACH(&process.asked_places, key, at) {
		if (guid_equal(&process.asked[map_value(&process.asked_places, at)], g)) {
			return true;
		}
	}
	return process.asked_count >= ASKED_MAX;
}

static int load_builtin(void *ctx, const struct catalogue_section *s)
{
	const struct guid *g = ctx;
	struct manifest m;
	if (!guid_equal(&s->guid, g) || schema_store_loaded(process.store, s->classic, g) ||
	    catalogue_read_section(s, &m, NULL) < 0) {
		return 0;
	}
	schema_store_take_manifest(process.store, &m, s->classic ? SCHEMA_SOURCE_WBEM : SCHEMA_SOURCE_XML, "");
	return 0; /* a GUID may have a class and a manifest */
}

static int take_locked(void *ctx, struct manifest *m, enum schema_source source, const char *key)
{
	return schema_store_take_manifest(process.store, m, source, key);
}

/* What cannot be read is as if it were not there; loading it by hand says why. */
static int load_file(void *ctx, const char *path)
{
	schema_file_read(path, take_locked, NULL, NULL);
	return 0;
}

static void bring_in_locked(const struct guid *g)
{
	uint64_t key = map_hash(&process.asked_places, g, sizeof *g);
	if (!VEC_ROOM(process.asked, process.asked_count, process.asked_cap) ||
	    map_add(&process.asked_places, key, process.asked_count) < 0) {
		return;
	}
	process.asked[process.asked_count++] = *g;
	/* What the user loaded stays in front of the catalogue. */
	if (!schema_store_loaded(process.store, false, g) && !schema_store_loaded(process.store, true, g)) {
		struct guid copy = *g;
		schema_files_of(g, load_file, NULL);
		catalogue_each_section(catalogue_builtin, catalogue_builtin_bytes, load_builtin, &copy);
	}
}

static void ensure(const struct guid *g)
{
	pthread_rwlock_rdlock(&process.lock);
	bool asked = was_asked_locked(g);
	pthread_rwlock_unlock(&process.lock);
	if (asked) {
		return;
	}
	pthread_rwlock_wrlock(&process.lock);
	if (store_locked() && !was_asked_locked(g)) {
		bring_in_locked(g);
	}
	pthread_rwlock_unlock(&process.lock);
}

/* ---- finding ---------------------------------------------------------------------------------- */

static const struct schema_event *find_once(bool classic, const struct guid *g, uint16_t id, uint8_t version,
					    bool also_sent)
{
	const struct schema_event *e = NULL;
	bool known = false;
	pthread_rwlock_rdlock(&process.lock);
	if (process.store) {
		e = schema_store_find(process.store, classic, g, id, version);
		known = was_asked_locked(g) && !schema_store_provider(process.store, classic, g);
	}
	pthread_rwlock_unlock(&process.lock);
	if (e || known) {
		return e;
	}
	pthread_rwlock_wrlock(&process.lock);
	if (store_locked()) {
		if (!was_asked_locked(g)) {
			bring_in_locked(g);
		}
		e = schema_store_resolve(process.store, classic, g, id, version);
		e = e || classic || !also_sent ? e : schema_store_resolve_sent(process.store, g, id, version);
	}
	pthread_rwlock_unlock(&process.lock);
	return e;
}

static const struct schema_event *find(bool classic, const struct guid *g, uint16_t id, uint8_t version, bool also_sent)
{
	const struct schema_event *e = find_once(classic, g, id, version, also_sent);
	uint32_t before = schema_process_generation();
	if (!e) {
		schema_process_refresh(false);
	}
	return e || schema_process_generation() == before ? e : find_once(classic, g, id, version, also_sent);
}

const struct schema_event *schema_process_find(bool classic, const struct guid *g, uint16_t id, uint8_t version)
{
	return find(classic, g, id, version, true);
}

uint32_t schema_process_sent(const struct guid *g)
{
	pthread_rwlock_rdlock(&process.lock);
	uint32_t n = process.store ? schema_store_sent(process.store, g) : 0;
	pthread_rwlock_unlock(&process.lock);
	return n;
}

static const struct schema_event *choose(const struct schema_ask *a, enum schema_sender who)
{
	pthread_rwlock_wrlock(&process.lock); /* the schema may have to be made */
	const struct schema_event *e = process.store ? schema_store_choose(process.store, a, who) : NULL;
	pthread_rwlock_unlock(&process.lock);
	return e;
}

const struct schema_event *schema_find_sent(struct schema_store *own, const struct schema_ask *a)
{
	static const enum schema_sender turns[] = {SCHEMA_SENT_BY_IT, SCHEMA_SENT_BY_OTHERS,
						   SCHEMA_SENT_BY_IT_WHATEVER_LENGTH};
	bool in_own = own && schema_store_sent(own, &a->guid), in_process = schema_process_sent(&a->guid);
	const struct schema_event *loaded = NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(turns); i++) {
		if (turns[i] == SCHEMA_SENT_BY_IT_WHATEVER_LENGTH) {
			loaded = own ? schema_store_resolve(own, false, &a->guid, a->id, a->version) : NULL;
			loaded = loaded ? loaded : find(false, &a->guid, a->id, a->version, false);
		}
		const struct schema_event *e = loaded && schema_ask_fits(a, loaded) ? loaded : NULL;
		e = e || !in_own ? e : schema_store_choose(own, a, turns[i]);
		e = e || !in_process ? e : choose(a, turns[i]);
		if (e) {
			return e;
		}
	}
	return loaded;
}

const struct manifest_provider *schema_process_provider(bool classic, const struct guid *g)
{
	ensure(g);
	pthread_rwlock_rdlock(&process.lock);
	const struct manifest_provider *p = process.store ? schema_store_provider(process.store, classic, g) : NULL;
	pthread_rwlock_unlock(&process.lock);
	return p;
}

char *schema_process_key(bool classic, const struct guid *g)
{
	ensure(g);
	pthread_rwlock_rdlock(&process.lock);
	const char *key = process.store ? schema_store_key(process.store, classic, g) : NULL;
	char *copy = key ? strdup(key) : NULL;
	pthread_rwlock_unlock(&process.lock);
	return copy;
}

/* Under the lock alone: making a schema numbers the items of the template. */
int schema_process_filter(const struct manifest_provider *p, const struct manifest_name *filter,
			  struct schema_event **ret)
{
	struct manifest_event e = {.id = (uint16_t)filter->value, .version = filter->version, .text = filter->text};
	for (const struct manifest_template *t = filter->tid ? p->templates : NULL; t; t = t->next) {
		if (strcmp(t->tid, filter->tid) == 0) {
			e.template = t;
		}
	}
	pthread_rwlock_wrlock(&process.lock);
	int err = schema_manifest_event(p, &e, SCHEMA_SOURCE_XML, ret);
	pthread_rwlock_unlock(&process.lock);
	return err;
}

const struct schema_map *schema_process_find_map(const struct guid *provider, const char *name, size_t bytes)
{
	ensure(provider);
	pthread_rwlock_rdlock(&process.lock);
	const struct schema_map *m = process.store ? schema_store_find_map(process.store, provider, name, bytes) : NULL;
	pthread_rwlock_unlock(&process.lock);
	return m;
}

/* ---- going through ---------------------------------------------------------------------------- */

struct visit {
	schema_provider_fn fn;
	void *ctx;
};

static int visit_section(void *ctx, const struct catalogue_section *s)
{
	const struct visit *v = ctx;
	const char *name = s->classic && s->provider ? s->provider : s->name;
	size_t n = s->classic && s->provider ? s->provider_bytes : s->name_bytes;
	char text[256];
	n = BASE_MIN(n, sizeof text - 1);
	memcpy(text, name, n);
	text[n] = 0;
	return v->fn(v->ctx, &s->guid, s->classic ? SCHEMA_SOURCE_WBEM : SCHEMA_SOURCE_XML, text);
}

/* The name is in the file: it has to be read. */
static int visit_file(void *ctx, const struct guid *g)
{
	const struct visit *v = ctx;
	const struct manifest_provider *p = schema_process_provider(false, g);
	return p ? v->fn(v->ctx, g, SCHEMA_SOURCE_XML, p->name) : 0;
}

int schema_process_each_provider(schema_provider_fn fn, void *ctx)
{
	struct visit v = {fn, ctx};
	pthread_rwlock_rdlock(&process.lock);
	int stop = process.store ? schema_store_each_provider(process.store, fn, ctx) : 0;
	pthread_rwlock_unlock(&process.lock);
	if (!stop) {
		stop = schema_files_each(visit_file, &v);
	}
	return stop ? stop : catalogue_each_section(catalogue_builtin, catalogue_builtin_bytes, visit_section, &v);
}

struct named {
	const uint16_t *name;
	struct guid guid;
};

static int same_name(void *ctx, const struct guid *g, enum schema_source source, const char *name)
{
	struct named *n = ctx;
	uint16_t wide[NAME_UNITS];
	long units = source > SCHEMA_SOURCE_WBEM ? -1 : utf8_to_utf16(name, strlen(name), wide, NAME_UNITS);
	if (units <= 0 || units >= (long)NAME_UNITS || !utf16_equal_nocase(wide, n->name)) {
		return 0;
	}
	n->guid = *g;
	return 1;
}

bool schema_process_provider_guid(const char *name, struct guid *ret)
{
	uint16_t wide[NAME_UNITS];
	long units = utf8_to_utf16(name, strlen(name), wide, NAME_UNITS);
	struct named n = {.name = wide};
	if (units <= 0 || units >= (long)NAME_UNITS || schema_process_each_provider(same_name, &n) != 1) {
		return false;
	}
	*ret = n.guid;
	return true;
}

int schema_process_each_event(const struct guid *provider, schema_event_fn fn, void *ctx)
{
	const struct manifest_provider *p = schema_process_provider(false, provider);
	for (const struct manifest_event *e = p ? p->events : NULL; e; e = e->next) {
		schema_process_find(false, provider, e->id, e->version);
	}
	pthread_rwlock_rdlock(&process.lock);
	int stop = process.store ? schema_store_each_event(process.store, provider, fn, ctx) : 0;
	pthread_rwlock_unlock(&process.lock);
	return stop;
}

/* ---- learning --------------------------------------------------------------------------------- */

int schema_process_learn(uint8_t opcode, const void *payload, size_t n)
{
	if (opcode == 32 && n >= 16) { /* the catalogue may know the event better */
		struct guid g;
		memcpy(g.b, payload, 16);
		ensure(&g);
	}
	pthread_rwlock_wrlock(&process.lock);
	int err = store_locked() ? schema_store_learn(process.store, opcode, payload, n) : -ENOMEM;
	if (err > 0) {
		changed_locked();
	}
	pthread_rwlock_unlock(&process.lock);
	return err;
}

int schema_process_take_manifest(struct manifest *m, enum schema_source source, const char *key)
{
	pthread_rwlock_wrlock(&process.lock);
	int err = -ENOMEM;
	if (store_locked()) {
		err = schema_store_take_manifest(process.store, m, source, key);
		changed_locked();
	} else {
		manifest_finish(m);
	}
	pthread_rwlock_unlock(&process.lock);
	return err;
}

/* The catalogue and the user's directories have their turn again. */
static void forget_asked_locked(void)
{
	map_clear(&process.asked_places);
	process.asked_count = 0;
}

void schema_process_refresh(bool now)
{
	static uint64_t looked_ns;
	uint64_t time = clock_read_system_ns(), last = order_load_relaxed(&looked_ns);
	if (!now && last && time - last < 1000000000ull) {
		return;
	}
	order_store_relaxed(&looked_ns, time);
	if (schema_files_refresh()) {
		pthread_rwlock_wrlock(&process.lock);
		forget_asked_locked();
		changed_locked();
		pthread_rwlock_unlock(&process.lock);
	}
}

int schema_process_drop_manifest(const char *key)
{
	pthread_rwlock_wrlock(&process.lock);
	int err = process.store ? schema_store_drop_manifest(process.store, key) : -ENOENT;
	if (err == 0) {
		forget_asked_locked();
	}
	changed_locked();
	pthread_rwlock_unlock(&process.lock);
	return err;
}

int schema_process_learn_chunk(const struct guid *g, uint32_t pid, uint32_t tid, const void *payload, size_t n)
{
	pthread_rwlock_wrlock(&process.lock);
	if (!process.chunks) {
		process.chunks = schema_chunks_create();
	}
	int err = -ENOMEM;
	if (process.chunks && store_locked()) {
		err = schema_chunks_add(process.chunks, g, pid, tid, payload, n, process.store, NULL);
	}
	if (err > 0) {
		changed_locked();
	}
	pthread_rwlock_unlock(&process.lock);
	return err;
}

static int take_file(void *ctx, struct manifest *m, enum schema_source source, const char *key)
{
	return schema_process_take_manifest(m, source, key);
}

int schema_process_load_file(const char *path, struct diag *d)
{
	return schema_file_read(path, take_file, NULL, d);
}

/* Under the lock, so that two threads with the same file do not both read it. */
bool schema_process_load_once(const char *path)
{
	bool fresh = true;
	pthread_rwlock_wrlock(&process.lock);
	for (uint32_t i = 0; i < process.tried_count && fresh; i++) {
		fresh = strcmp(process.tried[i], path) != 0;
	}
	char *copy = fresh && process.tried_count < TRIED_MAX ? strdup(path) : NULL;
	bool loaded = false;
	if (copy && store_locked()) {
		process.tried[process.tried_count++] = copy;
		loaded = schema_file_read(path, take_locked, NULL, NULL) == 0;
		if (loaded) {
			changed_locked();
		}
	} else {
		free(copy);
	}
	pthread_rwlock_unlock(&process.lock);
	return loaded;
}
