/* SPDX-License-Identifier: MIT */
#include "schema/schema_sent.h"

#include <stdlib.h>

#define BUCKETS       1024u
#define MANIFESTS_MAX 64u    /* of one provider that are looked through for an event */
#define SENDERS_MAX   65536u /* a hostile trace may name any number of processes */

struct sent_manifest {
	struct sent_manifest *next;    /* of the same bucket, the newest first */
	struct sent_manifest *retired; /* found no more; what was found of it lives on */
	struct guid provider;
	uint8_t hash[20];
	struct schema_store *store; /* of this manifest alone */
	uint64_t order;             /* when it was first sent */
};
struct sender {
	struct sender *next;
	const struct sent_manifest *manifest;
	uint32_t pid;
	uint64_t order; /* when it was last sent */
};

struct schema_sent {
	struct schema_store *parent;
	struct sent_manifest *manifests[BUCKETS]; /* by provider */
	struct sender *senders[BUCKETS];
	uint32_t sender_count;
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
	for (uint32_t i = 0; s && i < BUCKETS; i++) {
		free_manifests(s->manifests[i], false);
		for (struct sender *n = s->senders[i], *next; n; n = next) {
			next = n->next;
			free(n);
		}
	}
	if (s) {
		free_manifests(s->retired, true);
	}
	free(s);
}

static uint32_t guid_bucket(const struct guid *g)
{
	return (uint32_t)((le64_get(g->b) ^ le64_get(g->b + 8)) * 0x9E3779B97F4A7C15ull >> 40) % BUCKETS;
}

static struct sender **find_sender(struct schema_sent *s, const struct sent_manifest *m, uint32_t pid)
{
	uint64_t h = ((uint64_t)(uintptr_t)m >> 4 ^ (uint64_t)pid << 32) * 0x9E3779B97F4A7C15ull;
	struct sender **at = &s->senders[(h >> 40) % BUCKETS];
	while (*at && !((*at)->manifest == m && (*at)->pid == pid)) {
		at = &(*at)->next;
	}
	return at;
}

/* 1: this process's newest manifest changed. */
static int add_sender(struct schema_sent *s, const struct sent_manifest *m, uint32_t pid)
{
	struct sender **at = find_sender(s, m, pid);
	bool changed = true;
	if (*at) {
		changed = false; /* unless it sent another one meanwhile */
		for (const struct sent_manifest *k = s->manifests[guid_bucket(&m->provider)]; k; k = k->next) {
			struct sender *other = guid_equal(&k->provider, &m->provider) ? *find_sender(s, k, pid) : NULL;
			changed = changed || (other && other->order > (*at)->order);
		}
	} else if (s->sender_count >= SENDERS_MAX || !(*at = malloc(sizeof **at))) {
		return 0;
	} else {
		**at = (struct sender){.manifest = m, .pid = pid};
		s->sender_count++;
	}
	(*at)->order = ++s->order;
	return changed;
}

static void retire(struct schema_sent *s, struct sent_manifest **at)
{
	struct sent_manifest *m = *at;
	*at = m->next;
	m->retired = s->retired;
	s->retired = m;
}

/* The oldest one makes room. */
static void make_room(struct schema_sent *s, const struct guid *g)
{
	struct sent_manifest **oldest = NULL;
	for (struct sent_manifest **at = &s->manifests[guid_bucket(g)]; *at; at = &(*at)->next) {
		oldest = guid_equal(&(*at)->provider, g) ? at : oldest;
	}
	if (oldest) {
		retire(s, oldest);
	}
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
	struct sent_manifest **bucket = &s->manifests[guid_bucket(g)];
	for (struct sent_manifest *m = *bucket; m; m = m->next) {
		if (guid_equal(&m->provider, g) && memcmp(m->hash, hash, sizeof hash) == 0) {
			return add_sender(s, m, pid); /* every process sends it, at its beginning and its end */
		}
	}
	struct schema_store *store;
	int err = read_manifest(s, g, text, n, &store, d);
	if (err < 0) {
		return err;
	}
	struct sent_manifest *m = malloc(sizeof *m);
	if (!m) {
		schema_store_destroy(store);
		return -ENOMEM;
	}
	if (schema_sent_count(s, g) >= MANIFESTS_MAX) {
		make_room(s, g);
	}
	*m = (struct sent_manifest){.next = *bucket, .provider = *g, .store = store, .order = ++s->order};
	memcpy(m->hash, hash, sizeof hash);
	*bucket = m;
	add_sender(s, m, pid);
	return 1;
}

uint32_t schema_sent_count(const struct schema_sent *s, const struct guid *g)
{
	uint32_t n = 0;
	for (const struct sent_manifest *m = s ? s->manifests[guid_bucket(g)] : NULL; m; m = m->next) {
		n += guid_equal(&m->provider, g);
	}
	return n;
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
	for (struct sent_manifest *m = s->manifests[guid_bucket(&a->guid)]; m; m = m->next) {
		const struct sender *by = guid_equal(&m->provider, &a->guid) ? *find_sender(s, m, a->pid) : NULL;
		uint64_t order = by ? by->order : m->order;
		if (guid_equal(&m->provider, &a->guid) && (by != NULL) == own && order < *before &&
		    order > best_order) {
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
	for (struct sent_manifest *m = s ? s->manifests[guid_bucket(g)] : NULL; m && !e; m = m->next) {
		e = guid_equal(&m->provider, g) ? schema_store_resolve(m->store, false, g, id, version) : NULL;
	}
	return e;
}

/* ---- the newest of each provider --------------------------------------------------------------- */

static const struct sent_manifest *newest(const struct schema_sent *s, const struct guid *g)
{
	const struct sent_manifest *m = s ? s->manifests[guid_bucket(g)] : NULL;
	while (m && !guid_equal(&m->provider, g)) {
		m = m->next;
	}
	return m;
}

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
		map = guid_equal(&m->provider, g) ? schema_store_find_map(m->store, g, name, bytes) : NULL;
	}
	return map;
}

int schema_sent_each_provider(const struct schema_sent *s, schema_provider_fn fn, void *ctx)
{
	int stop = 0;
	for (uint32_t i = 0; s && i < BUCKETS && stop == 0; i++) {
		for (const struct sent_manifest *m = s->manifests[i]; m && stop == 0; m = m->next) {
			stop = newest(s, &m->provider) == m ? schema_store_each_provider(m->store, fn, ctx) : 0;
		}
	}
	return stop;
}

int schema_sent_each_event(const struct schema_sent *s, const struct guid *g, schema_event_fn fn, void *ctx)
{
	const struct sent_manifest *m = newest(s, g);
	return m ? schema_store_each_event(m->store, g, fn, ctx) : 0;
}
