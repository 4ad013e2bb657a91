/* SPDX-License-Identifier: MIT
 *
 * Short values, as numbers and codes are, stand in a table of the column's own: a set of four fits into one line of the
 * cache, and a value is compared as two integers. The table grows while values do not stay in it. Longer values of all
 * columns share a table of lines. What is in neither is looked up in the column.
 */
#include "query/query_known.h"

#include "base/map.h"

#include <stdlib.h>

#define SHORT_LENGTH 11u
#define WAYS         4u
#define SETS_BITS    10u /* at first */
#define SETS_MOST    15u /* 2 MiB */
#define TABLES       4u  /* columns that have one */
#define LONG_VALUES  4096u
#define LONG_LENGTH  51u

struct short_value {
	uint64_t begin;  /* of the text; bytes behind its end are 0 */
	uint32_t end;    /* three more bytes, and the length */
	uint32_t number; /* 0: nothing is here */
};
_Static_assert(sizeof(struct short_value) * WAYS == 64, "one line");
struct short_table {
	const struct field_column *column;
	struct short_value *values; /* NULL: there was no memory */
	uint32_t bits, missed;      /* how often since it has this size */
};
struct long_value {
	const struct field_column *column;
	uint32_t number;
	uint8_t length;
	char text[LONG_LENGTH];
};
_Static_assert(sizeof(struct long_value) == 64, "one line");
struct known {
	struct short_table tables[TABLES];
	uint32_t table_count;
	struct long_value longer[LONG_VALUES];
};

struct known *known_make(void)
{
	return calloc(1, sizeof(struct known));
}

void known_forget(struct known *k)
{
	for (uint32_t i = 0; i < k->table_count; i++) {
		free(k->tables[i].values);
	}
	memset(k, 0, sizeof *k);
}

void known_free(struct known *k)
{
	if (k) {
		known_forget(k);
		free(k);
	}
}

/* NULL: other columns have all tables. */
static struct short_table *table_of(struct known *k, const struct field_column *c)
{
	for (uint32_t i = 0; i < k->table_count; i++) {
		if (k->tables[i].column == c) {
			return &k->tables[i];
		}
	}
	if (k->table_count == TABLES) {
		return NULL;
	}
	k->tables[k->table_count] = (struct short_table){.column = c, .bits = SETS_BITS};
	return &k->tables[k->table_count++];
}

/* What was in it is looked up once more. */
static void table_resize(struct short_table *t)
{
	size_t bytes = sizeof(struct short_value) * WAYS << t->bits;
	free(t->values);
	t->values = aligned_alloc(64, bytes);
	t->missed = 0;
	if (t->values) {
		memset(t->values, 0, bytes);
	}
}

static struct short_value short_of(const char *text, size_t length)
{
	uint8_t bytes[12] = {0};
	memcpy(bytes, text, length);
	bytes[SHORT_LENGTH] = (uint8_t)length;
	return (struct short_value){.begin = le64_get(bytes), .end = le32_get(bytes + 8)};
}

static uint32_t short_number(struct short_table *t, struct field_column *c, const char *text, size_t length)
{
	struct short_value v = short_of(text, length);
	if (BASE_UNLIKELY(!t->values)) {
		table_resize(t);
	}
	if (!t->values) {
		return field_number_of(c, text, length);
	}
	uint64_t place = map_mix(v.begin ^ v.end, 0x9E3779B97F4A7C15ull) >> (64 - t->bits);
	struct short_value *set = &t->values[place * WAYS];
	for (uint32_t i = 0; i < WAYS; i++) {
		if (set[i].begin == v.begin && set[i].end == v.end && set[i].number) {
			return set[i].number;
		}
	}
	v.number = field_number_of(c, text, length);
	if (v.number < FIELD_FIRST) {
		return v.number;
	}
	/* The newest is first; the oldest leaves. */
	memmove(&set[1], &set[0], (WAYS - 1) * sizeof *set);
	set[0] = v;
	if (++t->missed > WAYS << (t->bits + 1) && t->bits < SETS_MOST) {
		t->bits = BASE_MIN(t->bits + 2, SETS_MOST);
		table_resize(t);
	}
	return v.number;
}

static uint32_t long_number(struct known *k, struct field_column *c, const char *text, size_t length)
{
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < length; i++) {
		h = (h ^ (uint8_t)text[i]) * 16777619u;
	}
	struct long_value *v = &k->longer[(h ^ h >> 16) % LONG_VALUES];
	if (v->column == c && v->length == length && memcmp(v->text, text, length) == 0) {
		return v->number;
	}
	uint32_t number = field_number_of(c, text, length);
	if (number >= FIELD_FIRST) {
		*v = (struct long_value){.column = c, .number = number, .length = (uint8_t)length};
		memcpy(v->text, text, length);
	}
	return number;
}

uint32_t known_number(struct known *k, struct field_column *c, const char *text, size_t length)
{
	struct short_table *t = length <= SHORT_LENGTH ? table_of(k, c) : NULL;
	return t                       ? short_number(t, c, text, length)
	       : length <= LONG_LENGTH ? long_number(k, c, text, length)
				       : field_number_of(c, text, length);
}
