/* SPDX-License-Identifier: MIT
 *
 * What openetw asks openetw-sql, and what that answers (over src/sandbox/sandbox.h).
 *
 *   openetw                                         openetw-sql
 *   SQL_OPEN   limits, perhaps a file      ----->   opens the database, answers its version
 *   SQL_QUERY  the text                    ----->   a thread begins with it
 *   SQL_EXPORT format, the text            ----->   the same; the rows go into the file of SQL_OPEN
 *   SQL_NEXT                               ----->   answers within SQL_PATIENCE_MS what there is:
 *                                          <-----   SQL_RUNNING and bytes of the result;
 *                                          <-----   or SQL_WANTS and the name of a table
 *   SQL_TABLE  name, descriptor            ----->   the table (sql_columns.h); without one: why there is none
 *   SQL_STORE  descriptor                  ----->   the index of a file, for the table events; one for each, then
 *   SQL_TABLE  "events", no descriptor
 *   SQL_NEXT                               ----->   ...
 *                                          <-----   SQL_DONE: that was all
 *   SQL_CANCEL                             ----->   the query ends soon, with an error
 *
 * The openetw command reads the trace, openetw-sql sees only columns. The bytes of a result are records, cut
 * anywhere into answers: struct sql_record and its bytes. All numbers are in the byte order of the machine.
 */
#ifndef TOOLS_SQL_SQL_WIRE_H
#define TOOLS_SQL_SQL_WIRE_H

#include "sandbox/sandbox.h"

#define SQL_TEXT_MAX    60000u      /* bytes of a query, of a name */
#define SQL_ANSWER_MAX  60000u      /* bytes of a result in one answer */
#define SQL_RECORD_MAX  (64u << 20) /* bytes of a row */
#define SQL_FILES_MAX   1024u
#define SQL_COLUMNS_MAX 4096u
#define SQL_PATIENCE_MS 200
#define SQL_NAME_MAX    1024u /* bytes of the name of a table */

enum sql_question { SQL_OPEN = 1, SQL_QUERY, SQL_EXPORT, SQL_NEXT, SQL_TABLE, SQL_STORE, SQL_CANCEL };

struct sql_open {
	uint64_t memory_bytes; /* DuckDB's own limit */
	uint32_t threads;
	uint32_t reserved;
	int64_t start_ns; /* since 1970: time 0 of the trace */
};
/* SQL_EXPORT: this, and the text behind it. */
enum sql_export_format { SQL_PARQUET = 1, SQL_ARROW };
struct sql_export {
	uint32_t format;
	uint32_t reserved;
};
/* SQL_STORE has the descriptor of the index of a file (query/query_store.h), and this. What is added to numbers and
 * times of the file, so that they are those of all files together. */
struct sql_store {
	int64_t offset;
	uint32_t type_base, process_base, thread_base, stack_base;
};
/* SQL_TABLE: this, and the name; behind it, when there is no descriptor, why. */
struct sql_table {
	uint32_t name_bytes;
	uint32_t reserved;
};

enum sql_state { SQL_RUNNING = 1, SQL_WANTS, SQL_DONE };
/* The beginning of an answer to SQL_NEXT. */
struct sql_answer {
	uint32_t state;
	uint32_t percent; /* that is done; UINT32_MAX: nobody knows */
};

enum sql_record_kind {
	SQL_COLUMNS = 1, /* a result begins. Of each column: uint32_t enum sql_class, then its name as a value */
	SQL_ROW,         /* its values */
	SQL_END,         /* the result is complete */
	SQL_ERROR,       /* text: the query ends here */
};
struct sql_record {
	uint32_t kind, bytes;
};
/* A value: uint32_t length + 1 and the text; 0: NULL. */
enum sql_class { SQL_STRING, SQL_NUMBER, SQL_BOOLEAN, SQL_NESTED }; /* NESTED: JSON */

#endif
