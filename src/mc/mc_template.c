/* SPDX-License-Identifier: MIT
 *
 * The WEVT_TEMPLATE resource: events, providers, the whole.
 */
#include "mc/mc_template.h"

#include <stdlib.h>

#define MINOR 1u
/* What format 3 has room for in a provider, whatever it has. */
#define FORMAT_3_LISTS 11u

/* ---- events ----------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct manifest_event *x = *(const struct manifest_event *const *)a,
				    *y = *(const struct manifest_event *const *)b;
	if (x->id != y->id) {
		return x->id < y->id ? -1 : 1;
	}
	/* as written */
	if (x->pos.line != y->pos.line) {
		return x->pos.line < y->pos.line ? -1 : 1;
	}
	return x->pos.column < y->pos.column ? -1 : x->pos.column > y->pos.column;
}

static int by_mask(const void *a, const void *b)
{
	const struct manifest_name *x = *(const struct manifest_name *const *)a,
				   *y = *(const struct manifest_name *const *)b;
	return x->value < y->value ? -1 : x->value > y->value;
}

static uint32_t keywords_of(const struct manifest_provider *p, const struct manifest_event *e,
			    const struct manifest_name *ret[64])
{
	const char *at = e->keywords;
	const struct manifest_name *k;
	uint32_t n = 0;
	while (n < 64 && (k = mc_next_keyword(p, &at)) != NULL) {
		ret[n++] = k;
	}
	qsort(ret, n, sizeof *ret, by_mask);
	return n;
}

/* 48 bytes: the descriptor, the message, where the things it names stand. The offsets of the
 * keywords come behind all events. */
static void put_event(struct mc_resource *r, const struct manifest_event *e)
{
	mc_put16(r, e->id);
	mc_put8(r, e->version);
	mc_put8(r, e->channel);
	mc_put8(r, e->level);
	mc_put8(r, e->opcode);
	mc_put16(r, e->task);
	mc_put64(r, e->keyword);
	mc_put32(r, mc_message_id(r->mc, e->message));
	mc_put32(r, mc_find(r, e->template));
	mc_put32(r, mc_find(r, e->opcode_given ? e->opcode_of : NULL));
	mc_put32(r, mc_find(r, e->level_of));
	mc_put32(r, mc_find(r, e->task_of));
	mc_put32(r, 0);
	mc_put32(r, 0);
	mc_put32(r, mc_find(r, e->channel_of));
}

static void put_events(struct mc_resource *r, const struct manifest_provider *p)
{
	const struct manifest_event **list = calloc(p->event_count + 1, sizeof *list);
	uint32_t at = mc_here(r), n = 0;
	if (!list) {
		r->out->failed = true;
		return;
	}
	for (const struct manifest_event *e = p->events; e; e = e->next) {
		list[n++] = e;
	}
	qsort(list, n, sizeof *list, by_id);
	strbuf_add(r->out, "EVNT", 4);
	mc_put32(r, 0);
	mc_put32(r, n);
	mc_put32(r, 0);
	uint32_t rows = mc_here(r);
	for (uint32_t i = 0; i < n; i++) {
		put_event(r, list[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct manifest_name *keywords[64];
		uint32_t count = keywords_of(p, list[i], keywords);
		if (count) {
			mc_fix32(r, rows + 48 * i + 36, count);
			mc_fix32(r, rows + 48 * i + 40, mc_here(r));
		}
		for (uint32_t k = 0; k < count; k++) {
			mc_put32(r, mc_find(r, keywords[k]));
		}
	}
	mc_fix32(r, at + 4, mc_here(r) - at);
	free(list);
}

/* ---- providers -------------------------------------------------------------------------------- */

static void put_levels(struct mc_resource *r, const struct manifest_provider *p)
{
	mc_put_list(r, p, MANIFEST_LEVEL);
}
static void put_tasks(struct mc_resource *r, const struct manifest_provider *p)
{
	mc_put_list(r, p, MANIFEST_TASK);
}
static void put_opcodes(struct mc_resource *r, const struct manifest_provider *p)
{
	mc_put_list(r, p, MANIFEST_OPCODE);
}
static void put_keywords(struct mc_resource *r, const struct manifest_provider *p)
{
	mc_put_list(r, p, MANIFEST_KEYWORD);
}
static void put_channels(struct mc_resource *r, const struct manifest_provider *p)
{
	mc_put_list(r, p, MANIFEST_CHANNEL);
}
static void put_filters(struct mc_resource *r, const struct manifest_provider *p)
{
	mc_put_list(r, p, MANIFEST_FILTER);
}

/* In the order in which they stand: what is referred to comes before who refers to it. */
static const struct list {
	uint32_t kind, align;
	void (*put)(struct mc_resource *r, const struct manifest_provider *p);
} lists[] = {
	{5, 1, put_channels},
	{6, 1, mc_put_maps},
	{8, 1, mc_put_pattern_maps},
	{7, 1, mc_put_templates},
	{13, 1, mc_put_provider_attributes}, /* format 5 */
	{2, 1, put_opcodes},
	{0, 1, put_levels},
	{1, 1, put_tasks},
	{3, 1, put_keywords},
	{4, 8, put_events},
	{12, 1, mc_put_event_attributes}, /* format 5 */
	{9, 1, put_filters},
};

static bool wanted(const struct list *l, unsigned format, const struct manifest_provider *p)
{
	if (l->kind >= 12 && format < MC_FORMAT_5) {
		return false;
	}
	switch (l->kind) {
	case 5: return p->names[MANIFEST_CHANNEL];
	case 6: return p->maps;
	case 8: return p->pattern_maps;
	case 7: return p->templates;
	case 4: return p->events;
	case 12: return mc_has_event_attributes(p);
	case 9: return p->names[MANIFEST_FILTER];
	default: return true;
	}
}

static void put_provider(struct mc_resource *r, unsigned format, const struct manifest_provider *p)
{
	uint32_t at = mc_here(r), count = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(lists); i++) {
		count += wanted(&lists[i], format, p);
	}
	strbuf_add(r->out, "WEVT", 4);
	mc_put32(r, 0);
	mc_put32(r, mc_message_id(r->mc, p->message_ref));
	mc_put32(r, count);
	uint32_t row = mc_here(r);
	for (uint32_t i = 0; i < 2 * (format < MC_FORMAT_5 ? FORMAT_3_LISTS : count); i++) {
		mc_put32(r, 0);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(lists); i++) {
		if (wanted(&lists[i], format, p)) {
			mc_align(r, 0, lists[i].align);
			mc_fix32(r, row, lists[i].kind);
			mc_fix32(r, row + 4, mc_here(r));
			row += 8;
			lists[i].put(r, p);
		}
	}
	mc_fix32(r, at + 4, mc_here(r) - at);
}

int mc_write_template(const struct mc *mc, unsigned format, struct strbuf *out, struct diag *d)
{
	struct strbuf b = {0};
	struct mc_resource r = {.mc = mc, .out = &b, .diag = d};
	strbuf_add(&b, "CRIM", 4);
	mc_put32(&r, 0);
	mc_put16(&r, (uint16_t)format);
	mc_put16(&r, MINOR);
	mc_put32(&r, (uint32_t)mc->provider_count);
	for (size_t i = 0; i < mc->provider_count; i++) {
		mc_put_guid(&r, &mc->providers[i].p->guid);
		mc_put32(&r, 0);
	}
	for (size_t i = 0; i < mc->provider_count && r.err == 0; i++) {
		mc_fix32(&r, 16 + 20 * (uint32_t)i + 16, mc_here(&r));
		put_provider(&r, format, mc->providers[i].p);
	}
	mc_fix32(&r, 4, mc_here(&r));
	mc_put16(&r, 0); /* Windows' compiler ends so; nothing counts it */
	map_free(&r.places);
	int err = r.err < 0 ? r.err : b.failed || b.len > INT32_MAX ? -ENOMEM : 0;
	if (err == 0) {
		strbuf_add(out, b.s, b.len);
	}
	strbuf_finish(&b);
	return err;
}
