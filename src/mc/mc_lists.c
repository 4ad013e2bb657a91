/* SPDX-License-Identifier: MIT
 *
 * Lists of the resource: names, maps, patterns.
 */
#include "mc/mc_template.h"
#include "base/vec.h"

#include <stdlib.h>

/* Things that events use: the provider's own, then those of winmeta in order of first use. */
struct names {
	const struct manifest_name **list;
	size_t count, cap;
};

static void names_add(struct mc_resource *r, struct names *l, const struct manifest_name *n)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->list[i] == n) {
			return;
		}
	}
	if (!VEC_ROOM(l->list, l->count, l->cap)) {
		r->out->failed = true;
		return;
	}
	l->list[l->count++] = n;
}

/* Keywords of an event, by name. */
const struct manifest_name *mc_next_keyword(const struct manifest_provider *p, const char **at)
{
	for (const char *s = *at; s && *s;) {
		char name[512];
		size_t skip = strspn(s, " \t\r\n"), n = strcspn(s + skip, " \t\r\n");
		*at = s + skip + n;
		if (n && n < sizeof name) {
			memcpy(name, s + skip, n);
			name[n] = 0;
			const struct manifest_name *k = manifest_find(p, MANIFEST_KEYWORD, name);
			if (k) {
				return k;
			}
		}
		s = *at;
	}
	return NULL;
}

static void used_by(struct mc_resource *r, const struct manifest_provider *p, enum manifest_kind kind, struct names *l)
{
	/* A provider's own names are distinct: only winmeta's need a look. */
	for (const struct manifest_name *n = p->names[kind]; n; n = n->next) {
		if (l->count == l->cap) {
			names_add(r, l, n);
		} else {
			l->list[l->count++] = n;
		}
	}
	for (const struct manifest_event *e = p->events; e; e = e->next) {
		const char *at = e->keywords;
		const struct manifest_name *n = NULL;
		switch (kind) {
		case MANIFEST_LEVEL: n = e->level_of; break;
		case MANIFEST_TASK: n = e->task_of; break;
		case MANIFEST_OPCODE: n = e->opcode_given ? e->opcode_of : NULL; break;
		case MANIFEST_KEYWORD:
			while ((n = mc_next_keyword(p, &at)) != NULL) {
				if (n->predefined) {
					names_add(r, l, n);
				}
			}
			break;
		default: break;
		}
		if (n && n->predefined) {
			names_add(r, l, n);
		}
	}
}

/* Ascending and stable. */
static uint64_t sort_key(enum manifest_kind kind, const struct manifest_name *n)
{
	return kind == MANIFEST_OPCODE ? n->value << 16 | (n->task ? n->task->value : 0) : n->value;
}

static void sort(struct mc_resource *r, enum manifest_kind kind, struct names *l)
{
	const struct manifest_name **other = calloc(l->count + 1, sizeof *other);
	if (!other) {
		r->out->failed = true;
		return;
	}
	for (size_t width = 1; width < l->count; width *= 2) {
		for (size_t i = 0; i < l->count; i += 2 * width) {
			size_t a = i, mid = BASE_MIN(i + width, l->count), b = mid,
			       end = BASE_MIN(i + 2 * width, l->count);
			for (size_t to = i; to < end; to++) {
				bool left = a < mid &&
					    (b == end || sort_key(kind, l->list[a]) <= sort_key(kind, l->list[b]));
				other[to] = left ? l->list[a++] : l->list[b++];
			}
		}
		memcpy(l->list, other, l->count * sizeof *other);
	}
	free(other);
}

/* ---- lists ------------------------------------------------------------------------------------ */

/* Where a row has the offset of its name. */
static const uint32_t row_bytes[] = {[MANIFEST_LEVEL] = 12,   [MANIFEST_TASK] = 28,    [MANIFEST_OPCODE] = 12,
				     [MANIFEST_KEYWORD] = 16, [MANIFEST_CHANNEL] = 16, [MANIFEST_FILTER] = 16};
static const uint32_t name_field[] = {[MANIFEST_LEVEL] = 8,    [MANIFEST_TASK] = 24,   [MANIFEST_OPCODE] = 8,
				      [MANIFEST_KEYWORD] = 12, [MANIFEST_CHANNEL] = 4, [MANIFEST_FILTER] = 8};

static const struct manifest_template *filter_template(const struct manifest_provider *p,
						       const struct manifest_name *filter)
{
	const struct manifest_template *t = filter->tid ? p->templates : NULL;
	while (t && strcmp(t->tid, filter->tid) != 0) {
		t = t->next;
	}
	return t;
}

static void put_row(struct mc_resource *r, const struct manifest_provider *p, enum manifest_kind kind,
		    const struct manifest_name *n)
{
	uint32_t message = mc_message_id(r->mc, mc_name_ref(r->mc, kind, n));
	switch (kind) {
	case MANIFEST_CHANNEL:
		mc_put32(r, n->imported);
		mc_put32(r, 0);
		mc_put32(r, (uint32_t)n->value);
		mc_put32(r, message);
		break;
	case MANIFEST_OPCODE:
		mc_put16(r, n->task ? (uint16_t)n->task->value : 0);
		mc_put16(r, (uint16_t)n->value);
		mc_put32(r, message);
		mc_put32(r, 0);
		break;
	case MANIFEST_TASK:
		mc_put32(r, (uint32_t)n->value);
		mc_put32(r, message);
		mc_put_guid(r, &n->event_guid);
		mc_put32(r, 0);
		break;
	case MANIFEST_KEYWORD:
		mc_put64(r, n->value);
		mc_put32(r, message);
		mc_put32(r, 0);
		break;
	case MANIFEST_FILTER:
		mc_put8(r, (uint8_t)n->value);
		mc_put8(r, n->version);
		mc_put16(r, 0);
		mc_put32(r, message);
		mc_put32(r, 0);
		mc_put32(r, mc_find(r, filter_template(p, n)));
		break;
	default:
		mc_put32(r, (uint32_t)n->value);
		mc_put32(r, message);
		mc_put32(r, 0);
	}
}

void mc_put_list(struct mc_resource *r, const struct manifest_provider *p, enum manifest_kind kind)
{
	static const char tags[][5] = {
		[MANIFEST_LEVEL] = "LEVL",   [MANIFEST_TASK] = "TASK",    [MANIFEST_OPCODE] = "OPCO",
		[MANIFEST_KEYWORD] = "KEYW", [MANIFEST_CHANNEL] = "CHAN", [MANIFEST_FILTER] = "FLTR"};
	struct names l = {0};
	uint32_t at = mc_here(r);
	used_by(r, p, kind, &l);
	if (kind == MANIFEST_LEVEL || kind == MANIFEST_OPCODE || kind == MANIFEST_KEYWORD) {
		sort(r, kind, &l);
	}
	strbuf_add(r->out, tags[kind], 4);
	mc_put32(r, 0);
	mc_put32(r, (uint32_t)l.count);
	if (kind == MANIFEST_FILTER) { /* what Windows' compiler leaves there */
		mc_put32(r, mc_find(r, l.count ? filter_template(p, l.list[l.count - 1]) : NULL));
	}
	uint32_t rows = mc_here(r);
	for (size_t i = 0; i < l.count; i++) {
		mc_note(r, l.list[i]);
		put_row(r, p, kind, l.list[i]);
	}
	for (size_t i = 0; i < l.count; i++) {
		mc_fix32(r, rows + (uint32_t)i * row_bytes[kind] + name_field[kind], mc_here(r));
		mc_put_name(r, l.list[i]->name);
	}
	/* Empty lists have no size. */
	mc_fix32(r, at + 4, l.count ? mc_here(r) - at : 0);
	free(l.list);
}

/* ---- maps ------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct manifest_map *x = *(const struct manifest_map *const *)a,
				  *y = *(const struct manifest_map *const *)b;
	return strcmp(x->name, y->name);
}

static int by_value(const void *a, const void *b)
{
	const struct manifest_map_entry *x = *(const struct manifest_map_entry *const *)a,
					*y = *(const struct manifest_map_entry *const *)b;
	if (x->value != y->value) {
		return x->value < y->value ? -1 : 1;
	}
	return x->pos.line < y->pos.line ? -1 : x->pos.line > y->pos.line;
}

static void put_map(struct mc_resource *r, const struct manifest_map *m)
{
	const struct manifest_map_entry **list = calloc(m->entry_count + 1, sizeof *list);
	size_t n = 0;
	mc_note(r, m);
	strbuf_add(r->out, m->bits ? "BMAP" : "VMAP", 4);
	mc_put32(r, 20 + 8 * m->entry_count);
	mc_put32(r, 0); /* name */
	mc_put32(r, m->bits);
	mc_put32(r, m->entry_count);
	if (!list) {
		r->out->failed = true;
		return;
	}
	for (const struct manifest_map_entry *e = m->entries; e; e = e->next) {
		list[n++] = e;
	}
	qsort(list, n, sizeof *list, by_value);
	for (size_t i = 0; i < n; i++) {
		mc_put32(r, list[i]->value);
		mc_put32(r, mc_message_id(r->mc, list[i]->message));
	}
	free(list);
}

/* Offsets and names go by name, the maps themselves stand as they were written. */
void mc_put_maps(struct mc_resource *r, const struct manifest_provider *p)
{
	uint32_t at = mc_here(r);
	size_t n = 0, count = 0;
	for (const struct manifest_map *m = p->maps; m; m = m->next) {
		count++;
	}
	const struct manifest_map **list = calloc(count + 1, sizeof *list);
	if (!list) {
		r->out->failed = true;
		return;
	}
	strbuf_add(r->out, "MAPS", 4);
	mc_put32(r, 0);
	mc_put32(r, (uint32_t)count);
	for (const struct manifest_map *m = p->maps; m; m = m->next) {
		list[n++] = m;
		mc_put32(r, 0);
	}
	for (const struct manifest_map *m = p->maps; m; m = m->next) {
		put_map(r, m);
	}
	qsort(list, n, sizeof *list, by_name);
	for (size_t i = 0; i < n; i++) {
		mc_fix32(r, at + 12 + 4 * (uint32_t)i, mc_find(r, list[i]));
		mc_fix32(r, mc_find(r, list[i]) + 8, mc_here(r));
		mc_put_name(r, list[i]->name);
	}
	mc_fix32(r, at + 4, mc_here(r) - at);
	free(list);
}

void mc_put_pattern_maps(struct mc_resource *r, const struct manifest_provider *p)
{
	uint32_t at = mc_here(r), count = 0, i = 0;
	strbuf_add(r->out, "QTAB", 4);
	mc_put32(r, 0);
	mc_put32(r, 0);
	for (const struct manifest_pattern_map *m = p->pattern_maps; m; m = m->next, count++) {
		mc_put32(r, 0);
	}
	mc_fix32(r, at + 8, count);
	for (const struct manifest_pattern_map *m = p->pattern_maps; m; m = m->next) {
		uint32_t patterns = 0;
		mc_fix32(r, at + 12 + 4 * i++, mc_here(r));
		mc_note(r, m);
		for (const struct manifest_pattern *e = m->patterns; e; e = e->next) {
			patterns++;
		}
		strbuf_add(r->out, "QUER", 4);
		mc_put32(r, 0);
		mc_put32(r, 0);
		mc_put32(r, 0);
		mc_put32(r, patterns);
		for (uint32_t k = 0; k < 2 * patterns; k++) {
			mc_put32(r, 0);
		}
	}
	for (const struct manifest_pattern_map *m = p->pattern_maps; m; m = m->next) {
		uint32_t head = mc_find(r, m), row = head + 20;
		mc_fix32(r, head + 8, mc_here(r));
		mc_put_name(r, m->name);
		mc_fix32(r, head + 12, mc_here(r));
		mc_put_name(r, m->format);
		for (const struct manifest_pattern *e = m->patterns; e; e = e->next, row += 8) {
			mc_fix32(r, row, mc_here(r));
			mc_put_name(r, e->name);
			mc_fix32(r, row + 4, mc_here(r));
			mc_put_name(r, e->value);
		}
		/* The size runs to the end of its texts, over the maps between. */
		mc_fix32(r, head + 4, mc_here(r) - head);
	}
	mc_fix32(r, at + 4, mc_here(r) - at);
}
