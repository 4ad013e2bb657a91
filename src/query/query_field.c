/* SPDX-License-Identifier: MIT
 *
 * Readers take no lock: what they read was published after it was complete, and never moves.
 */
#include "query/query_field_store.h"

#include "base/map.h"
#include "base/order.h"
#include "base/vec.h"
#include "filter/filter_parse.h"

#include <math.h>
#include <stdlib.h>

#define CHUNK_VALUES 4096u
#define CHUNKS_MAX   4096u /* 16 million different values */
#define TEXT_BYTES   65536u

struct text_chunk {
	struct text_chunk *next;
	size_t used, room;
	char bytes[];
};
/* The values of a field of an index, which all views share. */
struct field_values {
	char *name;
	struct field_shared *all;
	pthread_mutex_t lock; /* of making cells and values */
	struct map map;       /* hash of the text: number */
	struct field_value *chunks[CHUNKS_MAX];
	struct text_chunk *text;
	uint32_t count;  /* B: of values; published by field_number_of() */
	uint32_t **made; /* cells of all views, to be freed */
	uint32_t made_count, made_cap;
};
struct field_shared {
	pthread_mutex_t lock; /* of the list */
	struct field_values **list;
	uint32_t count, cap;
	uint64_t bytes;            /* order_add: of all columns */
	uint64_t read, kept;       /* order_…: events that were read; how many of them are in a file */
	pthread_mutex_t keep_lock; /* of writing the file */
};
struct field_file {
	uint32_t **cells; /* of each group; A: published by field_set() */
	uint32_t group_count, type_count;
	uint8_t *types;              /* enum field_of_type of each */
	struct field_stored *stored; /* what a file has of it; may be NULL */
};
/* What a view knows of a field. */
struct field_column {
	struct field_values *values;
	struct field_file *files;
	uint32_t file_count;
	const struct openetw_index *x;
};
struct field_columns {
	struct field_column **list;
	uint32_t count, cap;
	struct field_shared *shared;
	bool is_view; /* of an older one, which frees what is shared */
};

static bool take_bytes(struct field_shared *all, uint64_t bytes)
{
	if (order_load_relaxed(&all->bytes) + bytes > FIELD_BYTES_MAX) {
		return false;
	}
	order_add_relaxed(&all->bytes, bytes);
	return true;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static void values_free(struct field_values *v)
{
	for (uint32_t i = 0; i < v->made_count; i++) {
		free(v->made[i]);
	}
	for (uint32_t i = 0; i < CHUNKS_MAX; i++) {
		free(v->chunks[i]);
	}
	while (v->text) {
		struct text_chunk *next = v->text->next;
		free(v->text);
		v->text = next;
	}
	map_free(&v->map);
	pthread_mutex_destroy(&v->lock);
	free(v->made);
	free(v->name);
	free(v);
}

static struct field_values *values_make(struct field_shared *all, const char *name)
{
	struct field_values *v = calloc(1, sizeof *v);
	if (!v) {
		return NULL;
	}
	pthread_mutex_init(&v->lock, NULL);
	v->all = all;
	v->name = strdup(name);
	if (!v->name) {
		values_free(v);
		return NULL;
	}
	return v;
}

static int values_of(struct field_shared *all, const char *name, struct field_values **ret)
{
	int err = 0;
	*ret = NULL;
	pthread_mutex_lock(&all->lock);
	for (uint32_t i = 0; i < all->count && !*ret; i++) {
		*ret = strcmp(all->list[i]->name, name) == 0 ? all->list[i] : NULL;
	}
	if (!*ret) {
		bool room = VEC_ROOM_UP_TO(all->list, all->count, all->cap, FIELD_COLUMNS_MAX);
		*ret = room ? values_make(all, name) : NULL;
		err = *ret ? 0 : -ENOMEM;
		if (*ret) {
			all->list[all->count++] = *ret;
		}
	}
	pthread_mutex_unlock(&all->lock);
	return err;
}

static void column_free(struct field_column *c)
{
	for (uint32_t f = 0; c->files && f < c->file_count; f++) {
		free(c->files[f].cells);
		free(c->files[f].types);
		field_stored_close(c->files[f].stored);
	}
	free(c->files);
	free(c);
}

static struct field_column *column_make(struct openetw_index *x, struct field_values *values)
{
	struct field_column *c = calloc(1, sizeof *c);
	if (!c) {
		return NULL;
	}
	c->x = x;
	c->values = values;
	c->files = calloc(x->file_count + 1ull, sizeof *c->files);
	c->file_count = x->file_count;
	bool fine = c->files != NULL;
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

int field_columns_begin(struct openetw_index *x)
{
	struct field_columns *c = calloc(1, sizeof *c);
	const struct field_columns *older = x->older ? x->older->fields : NULL;
	if (c) {
		c->is_view = older != NULL;
		c->shared = older ? older->shared : calloc(1, sizeof *c->shared);
	}
	if (!c || !c->shared) {
		free(c);
		return -ENOMEM;
	}
	if (!older) {
		pthread_mutex_init(&c->shared->lock, NULL);
		pthread_mutex_init(&c->shared->keep_lock, NULL);
	}
	x->fields = c;
	return 0;
}

void field_columns_free(struct field_columns *c)
{
	if (!c) {
		return;
	}
	for (uint32_t i = 0; i < c->count; i++) {
		column_free(c->list[i]);
	}
	if (!c->is_view) {
		for (uint32_t i = 0; i < c->shared->count; i++) {
			values_free(c->shared->list[i]);
		}
		pthread_mutex_destroy(&c->shared->lock);
		pthread_mutex_destroy(&c->shared->keep_lock);
		free(c->shared->list);
		free(c->shared);
	}
	free(c->list);
	free(c);
}

static struct field_column *find_locked(const struct field_columns *all, const char *name)
{
	for (uint32_t i = 0; all && i < all->count; i++) {
		if (strcmp(all->list[i]->values->name, name) == 0) {
			return all->list[i];
		}
	}
	return NULL;
}

/* Rows of a group are the same in all views: what an older one has of them is taken over. */
static void take_over(struct field_column *c, const struct field_column *older)
{
	for (uint32_t f = 0; f < c->file_count; f++) {
		const struct field_file *from = &older->files[f];
		struct field_file *to = &c->files[f];
		uint32_t groups = BASE_MIN(from->group_count, to->group_count);
		uint32_t types = BASE_MIN(from->type_count, to->type_count);
		for (uint32_t i = 0; i < groups; i++) {
			to->cells[i] = order_load_acquire(&from->cells[i]);
		}
		for (uint32_t i = 0; i < types; i++) {
			to->types[i] = order_load_relaxed(&from->types[i]);
		}
	}
}

static void take_stored(struct field_column *c)
{
	for (uint32_t f = 0; f < c->file_count; f++) {
		struct field_file *to = &c->files[f];
		to->stored = field_stored_open(c, &c->x->files[f]);
		for (uint32_t i = 0; to->stored && i < to->type_count; i++) {
			if (to->types[i] == FIELD_OF_TYPE_UNKNOWN && to->stored->types[i] <= FIELD_OF_TYPE_NONE) {
				to->types[i] = to->stored->types[i];
			}
		}
	}
}

void field_columns_read(struct openetw_index *x, uint64_t events)
{
	if (x->fields && events) {
		order_add_relaxed(&x->fields->shared->read, events);
	}
}

void field_columns_keep(struct openetw_index *x, uint64_t least)
{
	struct field_column *list[FIELD_COLUMNS_MAX];
	uint32_t count = 0;
	/* Not of an index that is being made: its later views have all that this one has. */
	struct field_shared *all = x->fields && !x->unfinished && !x->files[0].store.ring ? x->fields->shared : NULL;
	uint64_t read = all ? order_load_relaxed(&all->read) : 0, kept = all ? order_load_relaxed(&all->kept) : 0;
	/* All of it is written again each time: so not for little more. */
	if (read - kept < BASE_MAX(least, kept / 8) || read == kept || pthread_mutex_trylock(&all->keep_lock) != 0) {
		return;
	}
	pthread_mutex_lock(&x->lock);
	while (count < x->fields->count) {
		list[count] = x->fields->list[count];
		count++;
	}
	pthread_mutex_unlock(&x->lock);
	/* It would only save time: that it cannot be written is no error. */
	(void)field_store_save(x, list, count);
	order_store_relaxed(&all->kept, read);
	pthread_mutex_unlock(&all->keep_lock);
}

static int column_of_locked(struct openetw_index *x, const char *name, struct field_column **ret)
{
	struct field_values *values;
	int err = x->fields ? 0 : field_columns_begin(x);
	if (err < 0) {
		return err;
	}
	struct field_columns *all = x->fields;
	*ret = find_locked(all, name);
	if (*ret) {
		return 0;
	}
	err = VEC_ROOM_UP_TO(all->list, all->count, all->cap, FIELD_COLUMNS_MAX) ? values_of(all->shared, name, &values)
										 : -ENOMEM;
	struct field_column *c = err == 0 ? column_make(x, values) : NULL, *older = NULL;
	if (!c) {
		return -ENOMEM;
	}
	for (struct openetw_index *o = x->older; o && !older; o = o->older) {
		pthread_mutex_lock(&o->lock);
		older = find_locked(o->fields, name);
		if (older) {
			take_over(c, older);
		}
		pthread_mutex_unlock(&o->lock);
	}
	take_stored(c);
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

const char *field_name(const struct field_column *c)
{
	return c->values->name;
}

/* ---- cells ------------------------------------------------------------------------------------- */

uint32_t field_get(const struct field_column *c, uint32_t file, uint32_t group, uint32_t row)
{
	const struct field_file *f = &c->files[file];
	const uint32_t *cells = order_load_acquire(&f->cells[group]);
	uint32_t number = cells ? order_load_acquire(&cells[row]) : FIELD_NOT_READ;
	return number == FIELD_NOT_READ && f->stored ? field_stored_get(f->stored, group, row) : number;
}

static uint32_t *cells_make(struct field_column *c, uint32_t file, uint32_t group)
{
	uint32_t rows = c->x->files[file].store.groups[group].rows;
	struct field_values *v = c->values;
	pthread_mutex_lock(&v->lock);
	uint32_t *cells = c->files[file].cells[group];
	if (!cells && VEC_ROOM(v->made, v->made_count, v->made_cap) && take_bytes(v->all, rows * sizeof *cells)) {
		cells = calloc(rows, sizeof *cells);
	}
	if (cells && cells != c->files[file].cells[group]) {
		v->made[v->made_count++] = cells;
		order_store_release(&c->files[file].cells[group], cells); /* A: pairs with the acquires of readers */
	}
	pthread_mutex_unlock(&v->lock);
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
	return order_load_acquire(&c->values->count) + FIELD_FIRST;
}

const struct field_value *field_value(const struct field_column *c, uint32_t number)
{
	uint32_t i = number - FIELD_FIRST;
	return &c->values->chunks[i / CHUNK_VALUES][i % CHUNK_VALUES];
}

static const char *text_keep(struct field_values *c, const char *text, size_t length)
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

/* Is it what a whole number prints as: digits alone, none of them a zero in front? */
static bool is_printed_whole(const char *text, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9') {
			return false;
		}
	}
	return length == 1 || (length > 1 && text[0] != '0');
}

/* As the filter language understands it; hexadecimal and fractions are numbers, too. */
static void understand(struct field_value *v)
{
	struct filter_number n = filter_number_of(v->text, v->length);
	v->is_number = n.valid && isfinite(n.real);
	v->number = v->is_number ? n.real : 0;
	if (n.valid && n.is_int && !n.negative) {
		v->is_whole = is_printed_whole(v->text, v->length);
		v->whole = n.magnitude;
	}
}

static uint32_t number_of_locked(struct field_values *c, const char *text, size_t length)
{
	uint64_t hash = map_hash(&c->map, text, length);
	MAP_EACH(&c->map, hash, at) {
		uint32_t number = (uint32_t)map_value(&c->map, at);
		const struct field_value *v =
			&c->chunks[(number - FIELD_FIRST) / CHUNK_VALUES][(number - FIELD_FIRST) % CHUNK_VALUES];
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
	pthread_mutex_lock(&c->values->lock);
	uint32_t number = number_of_locked(c->values, text, length);
	pthread_mutex_unlock(&c->values->lock);
	return number;
}
