/* SPDX-License-Identifier: MIT
 *
 * Columns of fields in a file, NAME.etl.idx.fields beside the index: what a process has read of a field the next one
 * needs not read again. Private to query.
 *
 * The file has the shape of an index (query_store.h), the same key, and of each column which index it is of. It is never
 * changed: whoever has more writes a new one in its place. Its bytes are hostile, as those of an index are.
 */
#ifndef QUERY_QUERY_FIELD_STORE_H
#define QUERY_QUERY_FIELD_STORE_H

#include "query/query_field.h"

/* A column of one file, as it stands in a file. */
struct field_stored {
	struct store store;
	const struct store_field_group *groups;
	const uint8_t *cells, *types;
	uint32_t group_count, type_count;
	uint32_t *numbers; /* of the file's values: those of the column */
	uint32_t value_count;
};
/* NULL: there is none. It adds values to the column. */
struct field_stored *field_stored_open(struct field_column *c, const struct index_file *f);
/* The same of a file that is open, which it takes over. */
struct field_stored *field_stored_take(struct field_column *c, const struct index_file *f, const struct store *fields);
void field_stored_close(struct field_stored *s);
/* FIELD_NOT_READ: it does not know. */
uint32_t field_stored_get(const struct field_stored *s, uint32_t group, uint32_t row);

/* Writes the columns of an index into files, as far as its files have an index on the disk. Columns that are there and
 * were not asked for stay, as far as there is room: FIELD_COLUMNS_MAX columns, FIELD_BYTES_MAX, and no more bytes than
 * there were. -errno. */
int field_store_save(const struct openetw_index *x, struct field_column *const *columns, uint32_t count);

#endif
