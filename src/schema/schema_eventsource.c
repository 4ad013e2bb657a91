/* SPDX-License-Identifier: MIT */
#include "schema/schema_eventsource.h"

#include <stdlib.h>

/* u8 format 1, u8 major 1, u8 minor, u8 magic 0x5B, u16 chunks, u16 number, text */
#define CHUNK_HEAD 8u

/* What strangers may make us hold: the oldest unfinished manifest gives way. */
#define UNFINISHED_MAX 64u
#define TEXT_MAX       (16u << 20)
#define HELD_MAX       (64u << 20)

struct unfinished {
	struct unfinished *next;
	struct guid provider;
	uint32_t pid, tid;
	uint8_t versions[3];
	uint16_t total, have;
	size_t bytes;
	struct piece {
		uint8_t *text;
		uint32_t bytes;
	} pieces[];
};
struct schema_chunks {
	struct unfinished *list; /* newest first */
	unsigned count;
	size_t held;
};

struct schema_chunks *schema_chunks_create(void)
{
	return calloc(1, sizeof(struct schema_chunks));
}

static void drop(struct schema_chunks *c, struct unfinished **at)
{
	struct unfinished *u = *at;
	*at = u->next;
	c->count--;
	c->held -= sizeof *u + u->total * sizeof u->pieces[0] + u->bytes;
	for (unsigned i = 0; i < u->total; i++) {
		free(u->pieces[i].text);
	}
	free(u);
}

static void drop_oldest(struct schema_chunks *c)
{
	struct unfinished **at = &c->list;
	while (*at && (*at)->next) {
		at = &(*at)->next;
	}
	if (*at) {
		drop(c, at);
	}
}

void schema_chunks_destroy(struct schema_chunks *c)
{
	while (c && c->list) {
		drop(c, &c->list);
	}
	free(c);
}

static struct unfinished **find(struct schema_chunks *c, const struct guid *g, uint32_t pid, uint32_t tid,
				const uint8_t *head)
{
	struct unfinished **at = &c->list;
	while (*at && !(guid_equal(&(*at)->provider, g) && (*at)->pid == pid && (*at)->tid == tid &&
			memcmp((*at)->versions, head, 3) == 0 && (*at)->total == le16_get(head + 4))) {
		at = &(*at)->next;
	}
	return at;
}

static struct unfinished *begin(struct schema_chunks *c, const struct guid *g, uint32_t pid, uint32_t tid,
				const uint8_t *head)
{
	uint16_t total = le16_get(head + 4);
	size_t size = sizeof(struct unfinished) + total * sizeof(struct piece);
	while (c->count >= UNFINISHED_MAX || (c->list && c->held + size > HELD_MAX)) {
		drop_oldest(c);
	}
	struct unfinished *u = calloc(1, size);
	if (!u) {
		return NULL;
	}
	u->provider = *g;
	u->pid = pid;
	u->tid = tid;
	u->total = total;
	memcpy(u->versions, head, 3);
	u->next = c->list;
	c->list = u;
	c->count++;
	c->held += size;
	return u;
}

static int keep(struct schema_chunks *c, struct unfinished *u, uint16_t number, const uint8_t *text, size_t n)
{
	if (u->pieces[number].text || u->bytes + n > TEXT_MAX) {
		return 0; /* sent again, or too much */
	}
	u->pieces[number].text = malloc(n + 1);
	if (!u->pieces[number].text) {
		return -ENOMEM;
	}
	memcpy(u->pieces[number].text, text, n);
	u->pieces[number].bytes = (uint32_t)n;
	u->bytes += n;
	c->held += n;
	u->have++;
	return 0;
}

static int join(const struct unfinished *u, struct schema_store *store, struct diag *d)
{
	uint8_t *text = malloc(u->bytes + 1);
	size_t n = 0;
	if (!text) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < u->total; i++) {
		memcpy(text + n, u->pieces[i].text, u->pieces[i].bytes);
		n += u->pieces[i].bytes;
	}
	int err = schema_store_take_sent(store, &u->provider, u->pid, text, n, d);
	free(text);
	return err;
}

int schema_chunks_add(struct schema_chunks *c, const struct guid *g, uint32_t pid, uint32_t tid, const void *payload,
		      size_t n, struct schema_store *store, struct diag *d)
{
	const uint8_t *head = payload;
	if (n < CHUNK_HEAD || head[0] != 1 || head[3] != 0x5B) {
		return 0;
	}
	uint16_t total = le16_get(head + 4), number = le16_get(head + 6);
	if (number >= total) {
		diag_at(d, 6, "manifest chunk %u of %u", number, total);
		return -EBADMSG;
	}
	if (total == 1) {
		return schema_store_take_sent(store, g, pid, head + CHUNK_HEAD, n - CHUNK_HEAD, d);
	}
	struct unfinished **at = find(c, g, pid, tid, head);
	struct unfinished *u = *at;
	if (!u) {
		u = begin(c, g, pid, tid, head);
		at = &c->list;
	}
	int err = u ? keep(c, u, number, head + CHUNK_HEAD, n - CHUNK_HEAD) : -ENOMEM;
	if (err == 0 && u->have == u->total) {
		err = join(u, store, d);
		drop(c, at);
	}
	while (c->held > HELD_MAX) {
		drop_oldest(c);
	}
	return err;
}
