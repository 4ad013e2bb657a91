/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_read.h"

#include "tools/tables/table_make.h"

#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#define TABLES_MAX 4096u /* of one set; there are only so many names in a trace that anybody would ask for */

struct table_view {
	const struct sql_columns *columns;
	uint64_t rows;
};
struct made {
	char *name;
	struct sql_columns columns;
	struct table_view view;
};
struct table_set {
	struct table_maker maker;
	pthread_mutex_t lock;          /* of the list */
	struct made *made[TABLES_MAX]; /* views point into them, so each stays where it is */
	uint32_t count;
};

struct table_set *table_set_open(const struct cli_args *a, int count, char **files)
{
	struct table_set *s = calloc(1, sizeof *s);
	if (!s) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	if (!table_maker_open(&s->maker, a, count, files)) {
		table_set_close(s);
		return NULL;
	}
	return s;
}

static void made_free(struct made *m)
{
	sql_columns_unmap(&m->columns);
	free(m->name);
	free(m);
}

void table_set_close(struct table_set *s)
{
	if (!s) {
		return;
	}
	for (uint32_t i = 0; i < s->count; i++) {
		made_free(s->made[i]);
	}
	table_maker_close(&s->maker);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

bool table_set_use_index(struct table_set *s, struct openetw_index *x)
{
	return table_make_use_index(&s->maker, x);
}

struct table_maker *table_set_maker(struct table_set *s)
{
	return &s->maker;
}

uint64_t table_set_start(const struct table_set *s)
{
	return s->maker.start;
}

void table_set_range(const struct table_set *s, int64_t *ret_first, int64_t *ret_last)
{
	*ret_first = s->maker.about.first;
	*ret_last = s->maker.about.last;
}

const char *const *table_set_names(void)
{
	return table_make_names();
}

/* ---- making --------------------------------------------------------------------------------------- */

static struct made *find_locked(struct table_set *s, const char *name, uint32_t *ret_place)
{
	for (uint32_t i = 0; i < s->count; i++) {
		if (strcasecmp(s->made[i]->name, name) == 0) {
			*ret_place = i;
			return s->made[i];
		}
	}
	return NULL;
}

static struct made *find(struct table_set *s, const char *name)
{
	uint32_t place;
	pthread_mutex_lock(&s->lock);
	struct made *m = find_locked(s, name, &place);
	pthread_mutex_unlock(&s->lock);
	return m;
}

const struct table_view *table_set_made(struct table_set *s, const char *name)
{
	struct made *m = find(s, name);
	return m ? &m->view : NULL;
}

uint64_t table_set_bytes(struct table_set *s, const char *name)
{
	struct made *m = find(s, name);
	return m ? m->columns.map_bytes : 0;
}

void table_set_drop(struct table_set *s, const char *name)
{
	uint32_t place;
	pthread_mutex_lock(&s->lock);
	struct made *m = find_locked(s, name, &place);
	if (m) {
		s->made[place] = s->made[--s->count];
	}
	pthread_mutex_unlock(&s->lock);
	if (m) {
		made_free(m);
	}
}

/* `key`: what the set calls it. */
static const struct table_view *get(struct table_set *s, const char *name, const char *key, char *why, size_t cap)
{
	struct made *m = find(s, key);
	if (m) {
		return &m->view;
	}
	pthread_mutex_lock(&s->lock); /* other threads drop tables meanwhile */
	bool room = s->count < TABLES_MAX;
	pthread_mutex_unlock(&s->lock);
	int fd = room ? table_make(&s->maker, name, why, cap) : -1;
	if (fd < 0) {
		if (!room) {
			snprintf(why, cap, "too many tables at once");
		}
		return NULL;
	}
	m = calloc(1, sizeof *m);
	char *copy = m ? strdup(key) : NULL;
	int r = copy ? sql_columns_map(fd, &m->columns) : -ENOMEM;
	close(fd);
	if (r < 0) {
		snprintf(why, cap, "no memory for the table: %s", strerror(-r));
		free(copy);
		free(m);
		return NULL;
	}
	m->name = copy;
	m->view = (struct table_view){.columns = &m->columns, .rows = m->columns.head->rows};
	pthread_mutex_lock(&s->lock);
	s->made[s->count++] = m;
	pthread_mutex_unlock(&s->lock);
	return &m->view;
}

const struct table_view *table_set_get(struct table_set *s, const char *name, char *why, size_t cap)
{
	return get(s, name, name, why, cap);
}

const struct table_view *table_set_of_samples(struct table_set *s, const char *name, const char *key,
					      table_sample_fn wanted, void *context, char *why, size_t cap)
{
	const struct table_view *v = table_set_made(s, key);
	if (v) { /* any thread may ask, and leaves the maker alone */
		return v;
	}
	s->maker.sample_wanted = wanted;
	s->maker.sample_context = context;
	v = get(s, name, key, why, cap);
	s->maker.sample_wanted = NULL;
	return v;
}

/* ---- reading -------------------------------------------------------------------------------------- */

uint64_t table_view_rows(const struct table_view *v)
{
	return v->rows;
}

uint32_t table_view_columns(const struct table_view *v)
{
	return v->columns->head->columns;
}

int table_view_column(const struct table_view *v, const char *name)
{
	for (uint32_t i = 0; i < v->columns->head->columns; i++) {
		if (strcasecmp(v->columns->column[i].name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

const char *table_view_column_name(const struct table_view *v, int column)
{
	return v->columns->column[column].name;
}

enum sql_type table_view_type(const struct table_view *v, int column)
{
	return (enum sql_type)v->columns->column[column].type;
}

/* NULL: there is no value. */
static const uint8_t *value_at(const struct table_view *v, int column, uint64_t row, uint32_t *ret_type)
{
	const struct sql_columns *c = v->columns;
	if (column < 0 || (uint32_t)column >= c->head->columns || row >= v->rows) {
		return NULL;
	}
	const struct sql_column *k = &c->column[column];
	if (k->valid_at && !(((const uint64_t *)(const void *)(c->map + k->valid_at))[row / 64] >> (row % 64) & 1)) {
		return NULL;
	}
	*ret_type = k->type;
	return c->map + k->at + row * sql_type_bytes(k->type);
}

static void take_text(const struct sql_columns *c, uint32_t text, struct table_value *ret)
{
	text = text < c->head->texts ? text : 0;
	ret->kind = TABLE_TEXT;
	ret->s = c->text_bytes + c->text_at[text];
	ret->n = (size_t)(c->text_at[text + 1] - c->text_at[text]);
}

static void take_guid(const uint8_t *p, struct table_value *ret)
{
	struct guid g;
	uint8_t big[16];
	for (int i = 0; i < 16; i++) {
		big[i] = p[15 - i];
	}
	big[0] ^= 0x80;
	const uint8_t first[8] = {big[3], big[2], big[1], big[0], big[5], big[4], big[7], big[6]};
	memcpy(g.b, first, 8);
	memcpy(g.b + 8, big + 8, 8);
	guid_format(&g, ret->guid);
	ret->kind = TABLE_TEXT;
	ret->s = ret->guid;
	ret->n = strlen(ret->guid);
}

bool table_view_value(const struct table_view *v, int column, uint64_t row, struct table_value *ret)
{
	uint32_t type = 0;
	const uint8_t *p = value_at(v, column, row, &type);
	float f;
	ret->kind = p ? TABLE_INTEGER : TABLE_NULL;
	switch (p ? (enum sql_type)type : SQL_TYPES) {
	case SQL_TYPES: return false;
	case SQL_TYPE_BOOL: ret->i = *p != 0; break;
	case SQL_TYPE_I8: ret->i = *(const int8_t *)p; break;
	case SQL_TYPE_I16: ret->i = (int16_t)le16_get(p); break;
	case SQL_TYPE_I32: ret->i = (int32_t)le32_get(p); break;
	case SQL_TYPE_TIMESTAMP:
	case SQL_TYPE_I64: ret->i = (int64_t)le64_get(p); break;
	case SQL_TYPE_U8: ret->i = *p; break;
	case SQL_TYPE_U16: ret->i = le16_get(p); break;
	case SQL_TYPE_U32: ret->i = le32_get(p); break;
	case SQL_TYPE_U64:
		ret->u = le64_get(p);
		ret->kind = ret->u > INT64_MAX ? TABLE_UNSIGNED : TABLE_INTEGER;
		break;
	case SQL_TYPE_F32:
		memcpy(&f, p, sizeof f);
		ret->f = (double)f;
		ret->kind = TABLE_FLOAT;
		break;
	case SQL_TYPE_F64:
		memcpy(&ret->f, p, sizeof ret->f);
		ret->kind = TABLE_FLOAT;
		break;
	case SQL_TYPE_TEXT: take_text(v->columns, le32_get(p), ret); break;
	case SQL_TYPE_UUID: take_guid(p, ret); break;
	}
	return true;
}

int64_t table_view_integer(const struct table_view *v, int column, uint64_t row, int64_t otherwise)
{
	struct table_value x;
	return table_view_value(v, column, row, &x) && x.kind == TABLE_INTEGER ? x.i : otherwise;
}

uint32_t table_view_text_id(const struct table_view *v, int column, uint64_t row)
{
	uint32_t type = 0;
	const uint8_t *p = value_at(v, column, row, &type);
	uint32_t text = p && type == SQL_TYPE_TEXT ? le32_get(p) : UINT32_MAX;
	return text < v->columns->head->texts ? text : UINT32_MAX;
}
