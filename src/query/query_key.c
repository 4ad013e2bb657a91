/* SPDX-License-Identifier: MIT
 */
#include "query/query_key.h"

#include "base/level.h"
#include "base/map.h"
#include "query/query_reading.h"

#include <stdlib.h>

/* ---- which values are one ------------------------------------------------------------------------- */

/* Values that look alike have one slot, whichever file they are of: types, providers, names. */
struct same {
	struct map map;
	const void **what; /* of each slot */
	size_t *bytes;
	const char **name;
	uint32_t cap;
};

static int same_slot(struct key *k, struct same *s, const void *what, size_t bytes, const char *name, uint32_t id,
		     uint32_t *ret)
{
	uint64_t hash = map_hash(&s->map, what, bytes);
	MAP_EACH(&s->map, hash, at) {
		uint32_t slot = (uint32_t)map_value(&s->map, at);
		if (s->bytes[slot] == bytes && memcmp(s->what[slot], what, bytes) == 0 &&
		    strcmp(s->name[slot], name) == 0) {
			*ret = slot;
			return 0;
		}
	}
	int err = map_add(&s->map, hash, k->slots);
	if (err < 0) {
		return err;
	}
	s->what[k->slots] = what;
	s->bytes[k->slots] = bytes;
	s->name[k->slots] = name;
	k->id[k->slots] = id;
	*ret = k->slots++;
	return 0;
}

static const char *text_of(enum openetw_key by, const struct store *s, uint32_t i)
{
	switch (by) {
	case OPENETW_BY_PROVIDER: return store_string(s, s->types[i].provider_name);
	case OPENETW_BY_PROCESS_NAME: return store_string(s, s->processes[i].name);
	default: return store_string(s, s->processes[i].container);
	}
}

/* What makes two types one: all of it up to what is counted, and the name: events of TraceLogging may differ in that alone. */
#define TYPE_IDENTITY_BYTES offsetof(struct store_type, record_type)

/* By type, provider, name or container: numbers of a dictionary, of which several may be one. */
static int make_same(struct key *k, uint32_t total)
{
	struct same s = {0};
	int err = 0;
	bool types = k->by == OPENETW_BY_TYPE || k->by == OPENETW_BY_PROVIDER;
	s.what = calloc(total + 1ull, sizeof *s.what);
	s.bytes = calloc(total + 1ull, sizeof *s.bytes);
	s.name = calloc(total + 1ull, sizeof *s.name);
	k->id = calloc(total + 1ull, sizeof *k->id);
	if (!s.what || !s.bytes || !s.name || !k->id) {
		err = -ENOMEM;
	}
	for (uint32_t f = 0; f < k->x->file_count && err == 0; f++) {
		const struct index_file *file = &k->x->files[f];
		const struct store *st = &file->store;
		struct key_file *kf = &k->files[f];
		for (uint32_t i = 0; i < kf->count && err == 0; i++) {
			uint32_t id = i + (types ? file->type_base : file->process_base);
			const char *text = k->by == OPENETW_BY_TYPE ? "" : text_of(k->by, st, i);
			const void *what = k->by == OPENETW_BY_TYPE && i ? (const void *)&st->types[i] : text;
			size_t bytes = what == text ? strlen(text) : TYPE_IDENTITY_BYTES;
			const char *name = what == text ? "" : store_string(st, st->types[i].name);
			err = same_slot(k, &s, what, bytes, name, id, &kf->slot[i]);
		}
	}
	map_free(&s.map);
	free(s.what);
	free(s.bytes);
	free(s.name);
	return err;
}

/* Each number is a value of its own; 0 is one for all files. */
static int make_each(struct key *k, uint32_t total)
{
	k->id = calloc(total + 1ull, sizeof *k->id);
	if (!k->id) {
		return -ENOMEM;
	}
	k->slots = 1;
	for (uint32_t f = 0; f < k->x->file_count; f++) {
		const struct index_file *file = &k->x->files[f];
		uint32_t base = k->by == OPENETW_BY_PROCESS  ? file->process_base
				: k->by == OPENETW_BY_THREAD ? file->thread_base
							     : file->stack_base;
		for (uint32_t i = 1; i < k->files[f].count; i++) {
			k->id[k->slots] = i + base;
			k->files[f].slot[i] = k->slots++;
		}
	}
	return 0;
}

/* Values that are small numbers themselves. */
static int make_numbers(struct key *k, uint32_t slots)
{
	k->slots = slots;
	k->id = malloc(slots * sizeof *k->id);
	for (uint32_t i = 0; i < slots && k->id; i++) {
		k->id[i] = i;
	}
	return k->id ? 0 : -ENOMEM;
}

static uint32_t numbers_of(enum openetw_key by, const struct store *s)
{
	switch (by) {
	case OPENETW_BY_TYPE:
	case OPENETW_BY_PROVIDER:
	case OPENETW_BY_LEVEL: return s->type_count;
	case OPENETW_BY_PROCESS:
	case OPENETW_BY_PROCESS_NAME:
	case OPENETW_BY_CONTAINER: return s->process_count;
	case OPENETW_BY_THREAD: return s->thread_count;
	case OPENETW_BY_STACK: return BASE_MAX(1u, s->stack_count);
	default: return 0;
	}
}

int key_make(struct openetw_query *q, enum openetw_key by, struct key *ret)
{
	struct key k = {.by = by, .x = q->x};
	uint64_t total = 0;
	int err = 0;
	if (by < OPENETW_BY_NOTHING || by > OPENETW_BY_FIELD) {
		return -EINVAL;
	}
	k.files = calloc(q->x->file_count + 1ull, sizeof *k.files);
	err = k.files ? 0 : -ENOMEM;
	for (uint32_t f = 0; f < q->x->file_count && err == 0; f++) {
		uint32_t n = numbers_of(by, &q->x->files[f].store);
		k.files[f].count = n;
		/* A number of 16 bits may be any: no check in the loops. */
		k.files[f].slot = n ? calloc(BASE_MAX(n, 65536u), sizeof *k.files[f].slot) : NULL;
		err = n && !k.files[f].slot ? -ENOMEM : 0;
		total += n;
	}
	if (err == 0 && total >= UINT32_MAX) {
		err = -EOVERFLOW;
	}
	for (uint32_t f = 0; f < q->x->file_count && err == 0 && by == OPENETW_BY_LEVEL; f++) {
		for (uint32_t i = 0; i < k.files[f].count; i++) {
			k.files[f].slot[i] = q->x->files[f].store.types[i].level;
		}
	}
	if (err == 0) {
		switch (by) {
		case OPENETW_BY_TYPE:
		case OPENETW_BY_PROVIDER:
		case OPENETW_BY_PROCESS_NAME:
		case OPENETW_BY_CONTAINER: err = make_same(&k, (uint32_t)total); break;
		case OPENETW_BY_PROCESS:
		case OPENETW_BY_THREAD:
		case OPENETW_BY_STACK: err = make_each(&k, (uint32_t)total); break;
		case OPENETW_BY_LEVEL: err = make_numbers(&k, 256); break;
		case OPENETW_BY_CPU: err = make_numbers(&k, 65536); break;
		case OPENETW_BY_FILE: err = make_numbers(&k, BASE_MAX(1u, q->x->file_count)); break;
		case OPENETW_BY_NOTHING: err = make_numbers(&k, 1); break;
		case OPENETW_BY_FIELD:
			err = reading_prepare(q, &k.field);
			k.slots = err == 0 ? field_numbers(k.field) : 0;
			break;
		}
	}
	for (uint32_t f = 0; f < q->x->file_count && err == 0; f++) {
		for (uint32_t i = k.files[f].count; i < 65536 && k.files[f].slot; i++) {
			k.files[f].slot[i] = k.files[f].slot[0];
		}
	}
	if (err < 0) {
		key_free(&k);
		return err;
	}
	*ret = k;
	return 0;
}

void key_free(struct key *k)
{
	for (uint32_t f = 0; k->files && f < k->x->file_count; f++) {
		free(k->files[f].slot);
	}
	free(k->files);
	free(k->id);
	*k = (struct key){0};
}

/* ---- the slots of rows ---------------------------------------------------------------------------- */

static void slots_of2(const uint16_t *column, const uint32_t *slot, const struct scan_part *p, uint32_t *ret)
{
	for (uint32_t i = 0; p->rows && i < p->count; i++) {
		ret[i] = slot[column[p->rows[i]]];
	}
	for (uint32_t i = 0; !p->rows && i < p->count; i++) {
		ret[i] = slot[column[i]];
	}
}

static void slots_of4(const uint32_t *column, const struct key_file *f, const struct scan_part *p, uint32_t *ret)
{
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t id = column[scan_row(p, i)];
		ret[i] = f->slot[id < f->count ? id : 0];
	}
}

static void slots_same(uint32_t slot, uint32_t count, uint32_t *ret)
{
	for (uint32_t i = 0; i < count; i++) {
		ret[i] = slot;
	}
}

/* Slot 0 is "no such field", the last one is what found no room; the number of a value is one more than its slot. */
static void slots_of_field(const struct key *k, const struct scan_part *p, uint32_t *ret)
{
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t row = scan_row(p, i), number = field_get(k->field, p->file_at, p->group, row);
		if (number == FIELD_NOT_READ) {
			uint32_t type = store_type_at(&p->c, row);
			bool none = field_of_type(k->field, p->file_at, type) == FIELD_OF_TYPE_NONE;
			number = none ? FIELD_ABSENT : k->slots;
		}
		ret[i] = BASE_MIN(number, k->slots) - 1;
	}
}

void key_slots(const struct key *k, const struct scan_part *p, uint32_t *slots)
{
	const struct key_file *f = &k->files[p->file_at];
	switch (k->by) {
	case OPENETW_BY_TYPE:
	case OPENETW_BY_PROVIDER:
	case OPENETW_BY_LEVEL:
		if (p->c.type2) {
			slots_of2(p->c.type2, f->slot, p, slots);
		} else {
			slots_of4(p->c.type4, f, p, slots);
		}
		return;
	case OPENETW_BY_PROCESS:
	case OPENETW_BY_PROCESS_NAME:
	case OPENETW_BY_CONTAINER:
		if (p->c.process2) {
			slots_of2(p->c.process2, f->slot, p, slots);
		} else {
			slots_of4(p->c.process4, f, p, slots);
		}
		return;
	case OPENETW_BY_THREAD: slots_of4(p->c.thread, f, p, slots); return;
	case OPENETW_BY_STACK:
		if (p->c.stack) {
			slots_of4(p->c.stack, f, p, slots);
		} else {
			slots_same(0, p->count, slots);
		}
		return;
	case OPENETW_BY_CPU:
		for (uint32_t i = 0; i < p->count; i++) {
			slots[i] = p->c.cpu[scan_row(p, i)];
		}
		return;
	case OPENETW_BY_FIELD: slots_of_field(k, p, slots); return;
	default: slots_same(k->by == OPENETW_BY_FILE ? p->file_at : 0, p->count, slots); return;
	}
}

/* ---- text ------------------------------------------------------------------------------------------ */

static const struct index_file *file_of(const struct key *k, uint32_t id, uint32_t *ret_local)
{
	switch (k->by) {
	case OPENETW_BY_TYPE:
	case OPENETW_BY_PROVIDER: return index_type_of(k->x, id, ret_local);
	case OPENETW_BY_THREAD: return index_thread_of(k->x, id, ret_local);
	case OPENETW_BY_STACK: return index_stack_of(k->x, id, ret_local);
	default: return index_process_of(k->x, id, ret_local);
	}
}

static void text_of_number(const struct key *k, uint32_t id, struct strbuf *out)
{
	uint32_t i;
	const struct index_file *f = file_of(k, id, &i);
	if (!f || i == 0) {
		return; /* nobody knows */
	}
	const struct store *s = &f->store;
	const char *name;
	switch (k->by) {
	case OPENETW_BY_TYPE:
		strbuf_adds(out, store_string(s, s->types[i].provider_name));
		strbuf_addc(out, '/');
		strbuf_adds(out, store_string(s, s->types[i].name));
		return;
	case OPENETW_BY_PROCESS:
		name = store_string(s, s->processes[i].name);
		strbuf_addf(out, name[0] ? "%s (%u)" : "%s%u", name, s->processes[i].pid);
		return;
	case OPENETW_BY_THREAD:
		name = store_string(s, s->threads[i].name);
		strbuf_addf(out, name[0] ? "%s (%u)" : "%s%u", name, s->threads[i].tid);
		return;
	case OPENETW_BY_STACK: strbuf_addf(out, "stack %u", id); return;
	default: strbuf_adds(out, text_of(k->by, s, i)); return;
	}
}

uint32_t key_id(const struct key *k, uint32_t slot)
{
	if (k->by == OPENETW_BY_FIELD) {
		return slot + 1 == k->slots ? UINT32_MAX : slot;
	}
	return k->id[slot];
}

void key_text(const struct key *k, uint32_t slot, struct strbuf *out)
{
	uint32_t id = key_id(k, slot);
	const char *word;
	switch (k->by) {
	case OPENETW_BY_NOTHING: return;
	case OPENETW_BY_FIELD:
		if (id > 0 && id != UINT32_MAX) {
			const struct field_value *v = field_value(k->field, id + 1);
			strbuf_add(out, v->text, v->length);
		}
		return;
	case OPENETW_BY_LEVEL:
		word = level_text((uint8_t)id);
		if (word) {
			strbuf_adds(out, word);
		} else {
			strbuf_addf(out, "%u", id);
		}
		return;
	case OPENETW_BY_CPU: strbuf_addf(out, "%u", id); return;
	case OPENETW_BY_FILE: strbuf_adds(out, id < k->x->file_count ? k->x->files[id].path : ""); return;
	default: text_of_number(k, id, out); return;
	}
}
