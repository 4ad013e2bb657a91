/* SPDX-License-Identifier: MIT
 *
 * Attributes of providers and events.
 */
#include "mc/mc_template.h"
#include "base/vec.h"

#include <stdlib.h>

void mc_put_provider_attributes(struct mc_resource *r, const struct manifest_provider *p)
{
	const struct guid *guids[2] = {&p->control_guid, &p->group_guid};
	static const uint32_t kinds[2] = {0x20000001, 0x20000002};
	uint32_t at = mc_here(r), count = 1 + !guid_is_zero(guids[0]) + !guid_is_zero(guids[1]), row = at + 12;
	strbuf_add(r->out, "PRVA", 4);
	mc_put32(r, 0);
	mc_put32(r, count);
	for (uint32_t i = 0; i < 2 * count; i++) {
		mc_put32(r, 0);
	}
	mc_fix32(r, row, 0x10000001);
	mc_fix32(r, row + 4, mc_here(r));
	mc_put_string(r, p->name);
	for (int i = 0; i < 2; i++) {
		if (guid_is_zero(guids[i])) {
			continue;
		}
		mc_align(r, 0, 4);
		row += 8;
		mc_fix32(r, row, kinds[i]);
		mc_fix32(r, row + 4, mc_here(r));
		mc_put_guid(r, guids[i]);
	}
	mc_align(r, at, 4);
	mc_fix32(r, at + 4, mc_here(r) - at);
}

struct attribute {
	const struct manifest_event *e;
	const char *text;
	uint8_t kind; /* 0x11 name, 0x12 key=value */
	uint32_t offset;
	size_t order;
};
struct attributes {
	struct attribute *list;
	size_t count, cap;
};

/* key=value;key="value with ;" -> the pieces. */
static size_t piece(const char *s)
{
	bool quoted = false;
	size_t n = 0;
	for (; s[n] && (quoted || s[n] != ';'); n++) {
		quoted ^= s[n] == '"';
	}
	return n;
}

static void attribute_add(struct mc_resource *r, struct attributes *l, const struct manifest_event *e, uint8_t kind,
			  const char *text, size_t n)
{
	char *copy = arena_text(&((struct mc *)r->mc)->arena, text, n);
	if (!copy || !VEC_ROOM(l->list, l->count, l->cap)) {
		r->out->failed = true;
		return;
	}
	l->list[l->count] = (struct attribute){e, copy, kind, 0, l->count};
	l->count++;
}

static int by_event(const void *a, const void *b)
{
	const struct attribute *x = a, *y = b;
	uint32_t i = (uint32_t)x->e->id << 8 | x->e->version, k = (uint32_t)y->e->id << 8 | y->e->version;
	if (i != k) {
		return i < k ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_text(const void *a, const void *b)
{
	return strcmp((*(struct attribute *const *)a)->text, (*(struct attribute *const *)b)->text);
}

static struct attributes attributes_of(struct mc_resource *r, const struct manifest_provider *p)
{
	struct attributes l = {0};
	for (const struct manifest_event *e = p->events; e; e = e->next) {
		if (e->name) {
			attribute_add(r, &l, e, 0x11, e->name, strlen(e->name));
		}
		for (const char *s = e->attributes ? e->attributes : ""; *s;) {
			size_t n = piece(s);
			if (n) {
				attribute_add(r, &l, e, 0x12, s, n);
			}
			s += n + (s[n] == ';');
		}
	}
	if (l.count) {
		qsort(l.list, l.count, sizeof *l.list, by_event);
	}
	return l;
}

/* Rows by event, texts in order and each once. */
static void put_event_attributes(struct mc_resource *r, struct attributes *l)
{
	struct attribute **sorted = calloc(l->count + 1, sizeof *sorted);
	uint32_t at = mc_here(r);
	strbuf_add(r->out, "EVTA", 4);
	mc_put32(r, 0);
	mc_put32(r, (uint32_t)l->count);
	if (!sorted) {
		r->out->failed = true;
		return;
	}
	for (size_t i = 0; i < l->count; i++) {
		mc_put8(r, l->list[i].kind);
		mc_put8(r, l->list[i].e->version);
		mc_put16(r, l->list[i].e->id);
		mc_put32(r, 0);
		sorted[i] = &l->list[i];
	}
	qsort(sorted, l->count, sizeof *sorted, by_text);
	for (size_t i = 0; i < l->count; i++) {
		if (i && strcmp(sorted[i]->text, sorted[i - 1]->text) == 0) {
			sorted[i]->offset = sorted[i - 1]->offset;
			continue;
		}
		sorted[i]->offset = mc_here(r);
		mc_put_string(r, sorted[i]->text);
	}
	for (size_t i = 0; i < l->count; i++) {
		mc_fix32(r, at + 12 + 8 * (uint32_t)i + 4, l->list[i].offset);
	}
	mc_align(r, at, 4);
	mc_fix32(r, at + 4, mc_here(r) - at);
	free(sorted);
}

bool mc_has_event_attributes(const struct manifest_provider *p)
{
	const struct manifest_event *e = p->events;
	while (e && !e->name && !(e->attributes && e->attributes[0])) {
		e = e->next;
	}
	return e != NULL;
}

void mc_put_event_attributes(struct mc_resource *r, const struct manifest_provider *p)
{
	struct attributes l = attributes_of(r, p);
	put_event_attributes(r, &l);
	free(l.list);
}
