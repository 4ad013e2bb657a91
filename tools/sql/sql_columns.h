/* SPDX-License-Identifier: MIT
 *
 * A table as columns in a file in memory: what openetw makes of a trace, and openetw-sql shows DuckDB.
 *
 *   struct sql_columns_head
 *   struct sql_column[columns]
 *   columns: `rows` values each; texts are numbers of the dictionary
 *   validity of each column that has NULLs: a bit for each row, 1: there is a value
 *   dictionary: uint64_t[texts + 1], where each text begins in the bytes behind; then those bytes, UTF-8
 *
 * Every part begins at a multiple of 8.
 */
#ifndef TOOLS_SQL_SQL_COLUMNS_H
#define TOOLS_SQL_SQL_COLUMNS_H

#include "base/base.h"

#define SQL_COLUMNS_MAGIC 0x314C4F435754454Full /* "OETWCOL1" */

enum sql_type {
	SQL_TYPE_BOOL = 1,
	SQL_TYPE_I8,
	SQL_TYPE_I16,
	SQL_TYPE_I32,
	SQL_TYPE_I64,
	SQL_TYPE_U8,
	SQL_TYPE_U16,
	SQL_TYPE_U32,
	SQL_TYPE_U64,
	SQL_TYPE_F32,
	SQL_TYPE_F64,
	SQL_TYPE_TEXT,      /* uint32_t: which of the dictionary */
	SQL_TYPE_UUID,      /* as DuckDB has it: 128 bits, the uppermost one inverted */
	SQL_TYPE_TIMESTAMP, /* int64_t: microseconds since 1970 */
	SQL_TYPES
};
struct sql_columns_head {
	uint64_t magic;
	uint64_t rows;
	uint32_t columns, texts;
	uint64_t texts_at, text_bytes_at, text_bytes;
};
struct sql_column {
	char name[112];
	uint32_t type, reserved;
	uint64_t at;
	uint64_t valid_at; /* 0: no NULLs */
};
_Static_assert(sizeof(struct sql_column) == 136, "no gaps");

static inline uint32_t sql_type_bytes(uint32_t type)
{
	static const uint8_t bytes[SQL_TYPES] = {
		[SQL_TYPE_BOOL] = 1,  [SQL_TYPE_I8] = 1,       [SQL_TYPE_I16] = 2, [SQL_TYPE_I32] = 4,
		[SQL_TYPE_I64] = 8,   [SQL_TYPE_U8] = 1,       [SQL_TYPE_U16] = 2, [SQL_TYPE_U32] = 4,
		[SQL_TYPE_U64] = 8,   [SQL_TYPE_F32] = 4,      [SQL_TYPE_F64] = 8, [SQL_TYPE_TEXT] = 4,
		[SQL_TYPE_UUID] = 16, [SQL_TYPE_TIMESTAMP] = 8};
	return type < SQL_TYPES ? bytes[type] : 0;
}

/* A table that was mapped and checked: all columns lie inside, all texts exist and are UTF-8. */
struct sql_columns {
	const uint8_t *map;
	uint64_t map_bytes;
	const struct sql_columns_head *head;
	const struct sql_column *column;
	const uint64_t *text_at; /* texts + 1 */
	const char *text_bytes;
	void *views; /* of the texts: what their reader keeps with them. Of malloc(); NULL: nothing */
};
/* The descriptor stays the caller's. 0, -ENOMEM, -EBADMSG: it is no such file. The numbers of texts in columns are not
 * checked: who reads them does. */
int sql_columns_map(int fd, struct sql_columns *ret);
void sql_columns_unmap(struct sql_columns *c);

#endif
