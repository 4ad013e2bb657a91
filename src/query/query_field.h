/* SPDX-License-Identifier: MIT
 *
 * Columns of payload fields, made as somebody asks for them. Private to query.
 *
 * A column holds a number for each row that was decoded: FIELD_ABSENT, or which value of the column's dictionary it is.
 * Other rows have FIELD_NOT_READ. Any number of threads read and write a column at the same time; what two of them write
 * for a row is the same. Columns belong to the index, so a second filter on the same field reads no event again.
 *
 * The values of a type that has no such field are known without reading its events: one event of the type is decoded to
 * see its fields.
 *
 * An index has at most FIELD_COLUMNS_MAX columns. All of them together are bounded by FIELD_BYTES_MAX. What does not fit
 * is not kept: a filter decodes it again, and groups put it into "the rest".
 */
#ifndef QUERY_QUERY_FIELD_H
#define QUERY_QUERY_FIELD_H

#include "query/query_index.h"

#define FIELD_NOT_READ    0u
#define FIELD_ABSENT      1u
#define FIELD_FIRST       2u /* number of the first value */
#define FIELD_BYTES_MAX   (1ull << 30)
#define FIELD_COLUMNS_MAX 1024u

struct field_value {
	const char *text; /* terminated */
	uint32_t length;
	bool is_whole;  /* the text is what `whole` prints as */
	bool is_number; /* `number` is set */
	uint64_t whole;
	double number;
};
enum field_of_type { FIELD_OF_TYPE_UNKNOWN, FIELD_OF_TYPE_MAY_BE, FIELD_OF_TYPE_NONE };

struct field_column;
struct field_columns;
/* The columns of an index, none yet. A view shares values with the views before it, and takes over what those have
 * read when it is asked for a column. -ENOMEM. */
int field_columns_begin(struct openetw_index *x);
/* The column of a field, which is there from then on. -errno. */
int field_column_of(struct openetw_index *x, const char *name, struct field_column **ret);
/* So many events were read for columns. When enough have been, the columns are written into a file beside the index,
 * where there is one (query_field_store.h). */
#define FIELD_KEEP_AT_ONCE 100000u
#define FIELD_KEEP_AT_END  10000u
void field_columns_read(struct openetw_index *x, uint64_t events);
void field_columns_keep(struct openetw_index *x, uint64_t least);
/* Views are freed before those that are older. */
void field_columns_free(struct field_columns *c);
const char *field_name(const struct field_column *c);

/* What a row has; FIELD_NOT_READ. `row` is its place in the group. */
uint32_t field_get(const struct field_column *c, uint32_t file, uint32_t group, uint32_t row);
void field_set(struct field_column *c, uint32_t file, uint32_t group, uint32_t row, uint32_t number);
/* The number of a value; FIELD_NOT_READ: there is no room for it. */
uint32_t field_number_of(struct field_column *c, const char *text, size_t length);
/* How many numbers there are: those below it are valid. */
uint32_t field_numbers(const struct field_column *c);
/* The value of a number from FIELD_FIRST on. It stays where it is. */
const struct field_value *field_value(const struct field_column *c, uint32_t number);

/* Do events of a type have the field? */
enum field_of_type field_of_type(const struct field_column *c, uint32_t file, uint32_t type);
void field_set_of_type(struct field_column *c, uint32_t file, uint32_t type, enum field_of_type has);

#endif
