/* SPDX-License-Identifier: MIT */
#include "schema/schema_sent.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

#define MANIFESTS_MAX 64u    /* of one provider that are looked through for an event */
#define SENDERS_MAX   65536u /* a hostile trace may name any number of processes */

struct sent_manifest {
	struct sent_manifest *next;    /* of the same provider, an older one */
	struct sent_manifest *retired; /* found no more; what was found of it lives on */
	struct guid provider;
	uint8_t hash[20];
	struct schema_store *store; /* of this manifest alone */
	uint64_t order;             /* when it was first sent */
};
struct sent_provider {
	struct guid guid;
	struct sent_manifest *newest;
	uint32_t count;
};
struct sender {
	const struct sent_manifest *manifest;
	uint32_t pid;
	uint64_t order; /* when it was last sent */
};

struct schema_sent {
	struct schema_store *parent;
	struct sent_provider *providers;
	uint32_t provider_count, provider_cap;
	struct map provider_places; /* by GUID */
	struct sender *senders;
	uint32_t sender_count, sender_cap;
	struct map sender_places; /* by manifest and process */
	uint64_t order;
	struct sent_manifest *retired;
};

struct schema_sent *schema_sent_create(struct schema_store *parent)
{
	struct schema_sent *s = calloc(1, sizeof *s);
	if (s) {
		s->parent = parent;
	}
	return s;
}

static void free_manifests(struct sent_manifest *m, bool retired)
{
	for (struct sent_manifest *next; m; m = next) {
		next = retired ? m->retired : m->next;
		schema_store_destroy(m->store);
		free(m);
	}
}

void schema_sent_destroy(struct schema_sent *s)
{
	for (uint32_t i = 0; s && i < s->provider_count; i++) {
		free_manifests(s->providers[i].newest, false);
	}
	if (s) {
		free_manifests(s->retired, true);
		free(s->providers);
		map_free(&s->provider_places);
		free(s->senders);
		map_free(&s->sender_places);
	}
	free(s);
}

static struct sent_provider *find_provider(const struct schema_sent *s, const struct guid *g)
{
	uint64_t hash = s ? map_hash(&s->provider_places, g, sizeof *g) : 0;
	for (size_t at = s ? map_find(&s->provider_places, hash) : MAP_NONE; at != MAP_NONE;
	     at = map_find_next(&s->provider_places, hash, at)) {
		struct sent_provider *p = &s->providers[map_value(&s->provider_places, at)];
		if (guid_equal(&p->guid, g)) {
			return p;
		}
	}
	return NULL;
}

static struct sent_provider *add_provider(struct schema_sent *s, const struct guid *g)
{
	struct sent_provider *p = find_provider(s, g);
	if (!p && VEC_ROOM(s->providers, s->provider_count, s->provider_cap) &&
	    map_add(&s->provider_places, map_hash(&s->provider_places, g, sizeof *g), s->provider_count) == 0) {
		p = &s->providers[s->provider_count++];
		*p = (struct sent_provider){.guid = *g};
	}
	return p;
}

static struct sent_manifest *newest(const struct schema_sent *s, const struct guid *g)
{
	const struct sent_provider *p = find_provider(s, g);
	return p ? p->newest : NULL;
}

static uint64_t sender_key(const struct schema_sent *s, const struct sent_manifest *m, uint32_t pid)
{
	uint64_t key[2] = {(uintptr_t)m, pid};
	return map_hash(&s->sender_places, key, sizeof key);
}

static struct sender *find_sender(const struct schema_sent *s, const struct sent_manifest *m, uint32_t pid)
{
	uint64_t key = sender_key(s, m, pid);
	MAP_EACH(&s->sender_places, key, at) {
		struct sender *n = &s->senders[map_value(&s->sender_places, at)];
		if (n->manifest == m && n->pid == pid) {
			return n;
		}
	}
	return NULL;
}

/* 1: this process's newest manifest changed. */
static int add_sender(struct schema_sent *s, const struct sent_manifest *m, uint32_t pid)
{
	struct sender *n = find_sender(s, m, pid);
	bool changed = true;
	if (n) {
		changed = false; /* unless it sent another one meanwhile */
		for (const struct sent_manifest *k = newest(s, &m->provider); k; k = k->next) {
			const struct sender *other = find_sender(s, k, pid);
			changed = changed || (other && other->order > n->order);
		}
	} else if (!VEC_ROOM_UP_TO(s->senders, s->sender_count, s->sender_cap, SENDERS_MAX) ||
		   map_add(&s->sender_places, sender_key(s, m, pid), s->sender_count) < 0) {
		return 0;
	} else {
		n = &s->senders[s->sender_count++];
		*n = (struct sender){.manifest = m, .pid = pid};
	}
	n->order = ++s->order;
	return changed;
}

/* The oldest one makes room. */
static void make_room(struct schema_sent *s, struct sent_provider *p)
{
	struct sent_manifest **oldest = &p->newest;
	while ((*oldest)->next) {
		oldest = &(*oldest)->next;
	}
	(*oldest)->retired = s->retired;
	s->retired = *oldest;
	*oldest = NULL;
	p->count--;
}

static int read_manifest(struct schema_sent *s, const struct guid *g, const void *text, size_t n,
			 struct schema_store **ret, struct diag *d)
{
	struct manifest m;
	int err = manifest_read_xml(text, n, &m, d);
	if (err < 0) {
		return err;
	}
	const struct manifest_provider *p = m.providers;
	while (p && !guid_equal(&p->guid, g)) {
		p = p->next;
	}
	if (!p) {
		manifest_finish(&m);
		diag_at(d, 0, "it describes other providers than the one that sent it");
		return -EBADMSG;
	}
	struct schema_store *store = schema_store_create_within(s->parent);
	if (!store) {
		manifest_finish(&m);
		return -ENOMEM;
	}
	err = schema_store_take_manifest(store, &m, SCHEMA_SOURCE_XML, "");
	if (err < 0) {
		schema_store_destroy(store);
		return err;
	}
	*ret = store;
	return 0;
}

int schema_sent_take(struct schema_sent *s, const struct guid *g, uint32_t pid, const void *text, size_t n,
		     struct diag *d)
{
	uint8_t hash[20];
	sha1(text, n, hash);
	for (struct sent_manifest *m = newest(s, g); m; m = m->next) {
		if (memcmp(m->hash, hash, sizeof hash) == 0) {
			return add_sender(s, m, pid); /* every process sends it, at its beginning and its end */
		}
	}
	struct schema_store *store;
	int err = read_manifest(s, g, text, n, &store, d);
	if (err < 0) {
		return err;
	}
	struct sent_manifest *m = malloc(sizeof *m);
	struct sent_provider *p = m ? add_provider(s, g) : NULL;
	if (!p) {
		free(m);
		schema_store_destroy(store);
		return -ENOMEM;
	}
	if (p->count >= MANIFESTS_MAX) {
		make_room(s, p);
	}
	*m = (struct sent_manifest){.next = p->newest, .provider = *g, .store = store, .order = ++s->order};
	memcpy(m->hash, hash, sizeof hash);
	p->newest = m;
	p->count++;
	add_sender(s, m, pid);
	return 1;
}

uint32_t schema_sent_count(const struct schema_sent *s, const struct guid *g)
{
	const struct sent_provider *p = find_provider(s, g);
	return p ? p->count : 0;
}

/* ---- choosing ---------------------------------------------------------------------------------- */

bool schema_ask_fits(const struct schema_ask *a, const struct schema_event *e)
{
	uint32_t bytes = 0;
	struct schema_payload p = {
		.event = e, .data = a->payload, .bytes = a->payload_bytes, .pointer_size = a->pointer_size};
	return schema_walk_measure(&p, &bytes) == 0 && bytes == a->payload_bytes;
}

/* The newest manifest older than `before` that the process sent, or that any other did. */
static struct sent_manifest *next_newest(struct schema_sent *s, const struct schema_ask *a, bool own, uint64_t *before)
{
	struct sent_manifest *best = NULL;
	uint64_t best_order = 0;
	for (struct sent_manifest *m = newest(s, &a->guid); m; m = m->next) {
		const struct sender *by = find_sender(s, m, a->pid);
		uint64_t order = by ? by->order : m->order;
		if ((by != NULL) == own && order < *before && order > best_order) {
			best = m;
			best_order = order;
		}
	}
	*before = best_order;
	return best;
}

const struct schema_event *schema_sent_choose(struct schema_sent *s, const struct schema_ask *a, enum schema_sender who)
{
	uint64_t before = UINT64_MAX;
	bool own = who != SCHEMA_SENT_BY_OTHERS;
	struct sent_manifest *m;
	while (s && (m = next_newest(s, a, own, &before)) != NULL) {
		const struct schema_event *e = schema_store_resolve(m->store, false, &a->guid, a->id, a->version);
		if (e && (who == SCHEMA_SENT_BY_IT_WHATEVER_LENGTH || schema_ask_fits(a, e))) {
			return e;
		}
	}
	return NULL;
}

const struct schema_event *schema_sent_resolve(struct schema_sent *s, const struct guid *g, uint16_t id,
					       uint8_t version)
{
	const struct schema_event *e = NULL;
	for (struct sent_manifest *m = newest(s, g); m && !e; m = m->next) {
		e = schema_store_resolve(m->store, false, g, id, version);
	}
	return e;
}

/* ---- the newest of each provider --------------------------------------------------------------- */

const struct manifest_provider *schema_sent_provider(const struct schema_sent *s, const struct guid *g)
{
	const struct sent_manifest *m = newest(s, g);
	return m ? schema_store_provider(m->store, false, g) : NULL;
}

const struct schema_map *schema_sent_find_map(const struct schema_sent *s, const struct guid *g, const char *name,
					      size_t bytes)
{
	const struct schema_map *map = NULL;
	for (const struct sent_manifest *m = newest(s, g); m && !map; m = m->next) {
		map = schema_store_find_map(m->store, g, name, bytes);
	}
	return map;
}

int schema_sent_each_provider(const struct schema_sent *s, schema_provider_fn fn, void *ctx)
{
	int stop = 0;
	for (uint32_t i = 0; s && i < s->provider_count && stop == 0; i++) {
		stop = schema_store_each_provider(s->providers[i].newest->store, fn, ctx);
	}
	return stop;
}

int schema_sent_each_event(const struct schema_sent *s, const struct guid *g, schema_event_fn fn, void *ctx)
{
	const struct sent_manifest *m = newest(s, g);
	return m ? schema_store_each_event(m->store, g, fn, ctx) : 0;
}
