/* SPDX-License-Identifier: MIT */
#include "machine/machine_table.h"

#include "base/map.h"

#include <stdlib.h>

#define BLOCK_BYTES 65536u
#define FIRST_BITS  8u

struct machine_block {
	struct machine_block *next;
	size_t used, size;
	uint64_t bytes[];
};

void *machine_alloc(struct machine_memory *m, size_t bytes)
{
	bytes = (bytes + 7) & ~(size_t)7;
	struct machine_block *b = m->blocks;
	if (!b || bytes > b->size - b->used) {
		size_t size = BASE_MAX(bytes, BLOCK_BYTES);
		b = size > machine_memory_left(m) ? NULL : calloc(1, sizeof *b + size);
		if (!b) {
			m->full = true;
			m->left_out++;
			return NULL;
		}
		b->size = size;
		b->next = m->blocks;
		m->blocks = b;
		m->used += size;
	}
	void *p = (uint8_t *)b->bytes + b->used;
	b->used += bytes;
	return p;
}

void machine_memory_free(struct machine_memory *m)
{
	for (struct machine_block *b = m->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	m->blocks = NULL;
}

const char *machine_text16(struct machine_memory *m, const uint8_t *p, size_t units)
{
	long bytes = utf16_to_utf8_lossy(p, units, NULL, 0);
	char *out = bytes < 0 ? NULL : machine_alloc(m, (size_t)bytes + 1);
	if (out) {
		utf16_to_utf8_lossy(p, units, out, (size_t)bytes + 1);
	}
	return out ? out : "";
}

bool machine_text16_equal(const uint8_t *p, size_t units, const char *text)
{
	size_t i = 0;
	while (i < units && text[i] && le16_get(p + 2 * i) < 0x80 && le16_get(p + 2 * i) == (uint8_t)text[i]) {
		i++;
	}
	if (i == units || !text[i] || le16_get(p + 2 * i) < 0x80) {
		return i == units && !text[i];
	}
	/* Beyond ASCII: the long way. */
	char narrow[2048];
	long bytes = utf16_to_utf8_lossy(p + 2 * i, units - i, narrow, sizeof narrow);
	return bytes >= 0 && (size_t)bytes < sizeof narrow && strcmp(narrow, text + i) == 0;
}

const char *machine_text8(struct machine_memory *m, const uint8_t *p, size_t bytes)
{
	/* In the code page of the machine, which nobody tells: what is no ASCII gets a mark. */
	char *out = machine_alloc(m, bytes + 1);
	for (size_t i = 0; out && i < bytes; i++) {
		out[i] = p[i] >= 0x20 && p[i] < 0x7F ? (char)p[i] : '?';
	}
	return out ? out : "";
}

const char *machine_text(struct machine_memory *m, const char *text)
{
	size_t n = strlen(text) + 1;
	char *out = machine_alloc(m, n);
	return out ? memcpy(out, text, n) : "";
}

static uint32_t bucket(const struct machine_table *t, uint64_t id)
{
	return (uint32_t)(map_mix(id ^ t->secret, 0x9E3779B97F4A7C15ull) >> (64 - t->bits));
}

struct machine_node *machine_table_find(const struct machine_table *t, uint64_t id)
{
	struct machine_node *n = t->buckets ? t->buckets[bucket(t, id)] : NULL;
	while (n && n->id != id) {
		n = n->next;
	}
	return n;
}

static bool grow(struct machine_table *t)
{
	struct machine_table wider = {
		.bits = t->buckets ? t->bits + 2 : FIRST_BITS, .count = t->count, .secret = map_secret_of_process()};
	wider.buckets = calloc((size_t)1 << wider.bits, sizeof(struct machine_node *));
	if (!wider.buckets) {
		return t->buckets != NULL; /* slower, not wrong */
	}
	for (size_t i = 0; t->buckets && i < (size_t)1 << t->bits; i++) {
		for (struct machine_node *n = t->buckets[i], *next; n; n = next) {
			next = n->next;
			struct machine_node **at = &wider.buckets[bucket(&wider, n->id)];
			n->next = *at;
			*at = n;
		}
	}
	free(t->buckets);
	*t = wider;
	return true;
}

bool machine_table_add(struct machine_table *t, struct machine_node *n)
{
	if ((!t->buckets || t->count > (size_t)1 << t->bits) && t->bits < 24 && !grow(t)) {
		return false;
	}
	struct machine_node **at = &t->buckets[bucket(t, n->id)];
	while (*at && (*at)->id != n->id) {
		at = &(*at)->next;
	}
	if (*at) { /* takes the place of the older one */
		n->older = *at;
		n->next = (*at)->next;
	} else {
		n->older = NULL;
		n->next = NULL;
		t->count++;
	}
	*at = n;
	return true;
}

struct machine_node *machine_table_next(const struct machine_table *t, const struct machine_node *n)
{
	if (n && n->next) {
		return n->next;
	}
	for (size_t i = n ? bucket(t, n->id) + 1u : 0; t->buckets && i < (size_t)1 << t->bits; i++) {
		if (t->buckets[i]) {
			return t->buckets[i];
		}
	}
	return NULL;
}

void machine_table_free(struct machine_table *t)
{
	free(t->buckets);
	t->buckets = NULL;
}
