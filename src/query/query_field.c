/* SPDX-License-Identifier: MIT
 *
 * Readers take no lock: what they read was published after it was complete, and never moves.
 */
#include "query/query_field.h"

#include "base/map.h"
#include "base/order.h"
#include "base/vec.h"
#include "filter/filter_parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK_VALUES 4096u
#define CHUNKS_MAX   4096u /* 16 million different values */
#define TEXT_BYTES   65536u
#define COLUMNS_MAX  1024u

struct text_chunk {
	struct text_chunk *next;
	size_t used, room;
	char bytes[];
};
struct field_file {
	uint32_t **cells; /* of each group; A: published by field_set() */
	uint32_t group_count, type_count;
	uint8_t *types; /* enum field_of_type of each */
};
struct field_column {
	char *name;
	struct field_columns *all;
	struct field_file *files;
	uint32_t file_count;
	const struct openetw_index *x;
	pthread_mutex_t lock; /* of making cells and values */
	struct map map;       /* hash of the text: number */
	struct field_value *chunks[CHUNKS_MAX];
	struct text_chunk *text;
	uint32_t count; /* B: of values; published by field_number_of() */
};
struct field_columns {
	struct field_column **list;
	uint32_t count, cap;
	uint64_t bytes; /* order_add: of all columns */
};

static bool take_bytes(struct field_columns *all, uint64_t bytes)
{
	if (order_load_relaxed(&all->bytes) + bytes > FIELD_BYTES_MAX) {
		return false;
	}
	order_add_relaxed(&all->bytes, bytes);
	return true;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static void column_free(struct field_column *c)
{
	for (uint32_t f = 0; c->files && f < c->file_count; f++) {
		for (uint32_t g = 0; c->files[f].cells && g < c->files[f].group_count; g++) {
			free(c->files[f].cells[g]);
		}
		free(c->files[f].cells);
		free(c->files[f].types);
	}
	for (uint32_t i = 0; i < CHUNKS_MAX; i++) {
		free(c->chunks[i]);
	}
	while (c->text) {
		struct text_chunk *next = c->text->next;
		free(c->text);
		c->text = next;
	}
	map_free(&c->map);
	pthread_mutex_destroy(&c->lock);
	free(c->files);
	free(c->name);
	free(c);
}

static struct field_column *column_make(struct openetw_index *x, struct field_columns *all, const char *name)
{
	struct field_column *c = calloc(1, sizeof *c);
	if (!c) {
		return NULL;
	}
	pthread_mutex_init(&c->lock, NULL);
	c->all = all;
	c->x = x;
	c->name = strdup(name);
	c->files = calloc(x->file_count + 1ull, sizeof *c->files);
	c->file_count = x->file_count;
	bool fine = c->name && c->files;
	for (uint32_t f = 0; f < x->file_count && fine; f++) {
		const struct store *s = &x->files[f].store;
		c->files[f].group_count = s->group_count;
		c->files[f].type_count = s->type_count;
		c->files[f].cells = calloc(s->group_count + 1ull, sizeof *c->files[f].cells);
		c->files[f].types = calloc(s->type_count + 1ull, 1);
		fine = c->files[f].cells && c->files[f].types;
	}
	if (!fine) {
		column_free(c);
		return NULL;
	}
	return c;
}

static int column_of_locked(struct openetw_index *x, const char *name, struct field_column **ret)
{
	if (!x->fields && !(x->fields = calloc(1, sizeof *x->fields))) {
		return -ENOMEM;
	}
	struct field_columns *all = x->fields;
	for (uint32_t i = 0; i < all->count; i++) {
		if (strcmp(all->list[i]->name, name) == 0) {
			*ret = all->list[i];
			return 0;
		}
	}
	if (!VEC_ROOM_UP_TO(all->list, all->count, all->cap, COLUMNS_MAX)) {
		return -ENOMEM;
	}
	struct field_column *c = column_make(x, all, name);
	if (!c) {
		return -ENOMEM;
	}
	all->list[all->count++] = c;
	*ret = c;
	return 0;
}

int field_column_of(struct openetw_index *x, const char *name, struct field_column **ret)
{
	pthread_mutex_lock(&x->lock);
	int err = column_of_locked(x, name, ret);
	pthread_mutex_unlock(&x->lock);
	return err;
}

void field_columns_free(struct field_columns *c)
{
	for (uint32_t i = 0; c && i < c->count; i++) {
		column_free(c->list[i]);
	}
	free(c ? c->list : NULL);
	free(c);
}

const char *field_name(const struct field_column *c)
{
	return c->name;
}

/* ---- cells ------------------------------------------------------------------------------------- */

uint32_t field_get(const struct field_column *c, uint32_t file, uint32_t group, uint32_t row)
{
	const uint32_t *cells = order_load_acquire(&c->files[file].cells[group]);
	return cells ? order_load_acquire(&cells[row]) : FIELD_NOT_READ;
}

static uint32_t *cells_make(struct field_column *c, uint32_t file, uint32_t group)
{
	uint32_t rows = c->x->files[file].store.groups[group].rows;
	pthread_mutex_lock(&c->lock);
	uint32_t *cells = c->files[file].cells[group];
	if (!cells && take_bytes(c->all, rows * sizeof *cells)) {
		cells = calloc(rows, sizeof *cells);
		order_store_release(&c->files[file].cells[group], cells); /* A: pairs with the acquires of readers */
	}
	pthread_mutex_unlock(&c->lock);
	return cells;
}

void field_set(struct field_column *c, uint32_t file, uint32_t group, uint32_t row, uint32_t number)
{
	uint32_t *cells = order_load_acquire(&c->files[file].cells[group]);
	cells = cells ? cells : cells_make(c, file, group);
	if (cells && number != FIELD_NOT_READ) {
		/* Release: whoever reads the number finds its value, see field_number_of(). */
		order_store_release(&cells[row], number);
	}
}

enum field_of_type field_of_type(const struct field_column *c, uint32_t file, uint32_t type)
{
	const struct field_file *f = &c->files[file];
	return (enum field_of_type)order_load_relaxed(&f->types[type < f->type_count ? type : 0]);
}

void field_set_of_type(struct field_column *c, uint32_t file, uint32_t type, enum field_of_type has)
{
	const struct field_file *f = &c->files[file];
	order_store_relaxed(&f->types[type < f->type_count ? type : 0], (uint8_t)has);
}

/* ---- values ------------------------------------------------------------------------------------ */

uint32_t field_numbers(const struct field_column *c)
{
	return order_load_acquire(&c->count) + FIELD_FIRST;
}

const struct field_value *field_value(const struct field_column *c, uint32_t number)
{
	uint32_t i = number - FIELD_FIRST;
	return &c->chunks[i / CHUNK_VALUES][i % CHUNK_VALUES];
}

static const char *text_keep(struct field_column *c, const char *text, size_t length)
{
	if (!c->text || c->text->room - c->text->used <= length) {
		size_t room = BASE_MAX(TEXT_BYTES, length + 1);
		struct text_chunk *t = take_bytes(c->all, room) ? malloc(sizeof *t + room) : NULL;
		if (!t) {
			return NULL;
		}
		*t = (struct text_chunk){.next = c->text, .room = room};
		c->text = t;
	}
	char *to = c->text->bytes + c->text->used;
	memcpy(to, text, length);
	to[length] = 0;
	c->text->used += length + 1;
	return to;
}

/* As the filter language understands it; hexadecimal and fractions are numbers, too. */
static void understand(struct field_value *v)
{
	char digits[24];
	struct filter_number n = filter_number_of(v->text, v->length);
	v->is_number = n.valid && isfinite(n.real);
	v->number = v->is_number ? n.real : 0;
	if (n.valid && n.is_int && !n.negative) {
		snprintf(digits, sizeof digits, "%llu", (unsigned long long)n.magnitude);
		v->is_whole = strcmp(digits, v->text) == 0;
		v->whole = n.magnitude;
	}
}

static uint32_t number_of_locked(struct field_column *c, const char *text, size_t length)
{
	uint64_t hash = map_hash(&c->map, text, length);
	MAP_EACH(&c->map, hash, at) {
		uint32_t number = (uint32_t)map_value(&c->map, at);
		const struct field_value *v = field_value(c, number);
		if (v->length == length && memcmp(v->text, text, length) == 0) {
			return number;
		}
	}
	uint32_t i = c->count;
	if (i / CHUNK_VALUES >= CHUNKS_MAX || length > UINT32_MAX / 2) {
		return FIELD_NOT_READ;
	}
	if (!c->chunks[i / CHUNK_VALUES]) {
		struct field_value *chunk = NULL;
		if (take_bytes(c->all, CHUNK_VALUES * (sizeof *chunk + sizeof(struct map_slot)))) {
			chunk = calloc(CHUNK_VALUES, sizeof *chunk);
		}
		c->chunks[i / CHUNK_VALUES] = chunk;
		if (!chunk) {
			return FIELD_NOT_READ;
		}
	}
	struct field_value *v = &c->chunks[i / CHUNK_VALUES][i % CHUNK_VALUES];
	*v = (struct field_value){.text = text_keep(c, text, length), .length = (uint32_t)length};
	if (!v->text || map_add(&c->map, hash, i + FIELD_FIRST) < 0) {
		return FIELD_NOT_READ;
	}
	understand(v);
	order_store_release(&c->count, i + 1); /* B */
	return i + FIELD_FIRST;
}

uint32_t field_number_of(struct field_column *c, const char *text, size_t length)
{
	pthread_mutex_lock(&c->lock);
	uint32_t number = number_of_locked(c, text, length);
	pthread_mutex_unlock(&c->lock);
	return number;
}
