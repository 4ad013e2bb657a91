/* SPDX-License-Identifier: MIT
 *
 * The functions of DuckDB's C interface that openetw-sql uses. The library is loaded when the program starts, so nothing
 * of it is needed to build this. Types and numbers are those of DuckDB's documented, stable C interface.
 */
#ifndef TOOLS_SQL_SQL_DUCKDB_H
#define TOOLS_SQL_SQL_DUCKDB_H

#include "base/base.h"

/* Handles: pointers to what only the library knows. */
typedef void *duckdb_handle;
typedef uint64_t duckdb_idx;
enum { DUCKDB_OK = 0, DUCKDB_FAILED = 1 };

enum duckdb_type {
	DUCKDB_BOOLEAN = 1,
	DUCKDB_TINYINT,
	DUCKDB_SMALLINT,
	DUCKDB_INTEGER,
	DUCKDB_BIGINT,
	DUCKDB_UTINYINT,
	DUCKDB_USMALLINT,
	DUCKDB_UINTEGER,
	DUCKDB_UBIGINT,
	DUCKDB_FLOAT,
	DUCKDB_DOUBLE,
	DUCKDB_TIMESTAMP,
	DUCKDB_DATE,
	DUCKDB_TIME,
	DUCKDB_INTERVAL,
	DUCKDB_HUGEINT,
	DUCKDB_VARCHAR,
	DUCKDB_BLOB,
	DUCKDB_DECIMAL,
	DUCKDB_TIMESTAMP_S,
	DUCKDB_TIMESTAMP_MS,
	DUCKDB_TIMESTAMP_NS,
	DUCKDB_ENUM,
	DUCKDB_LIST,
	DUCKDB_STRUCT,
	DUCKDB_MAP,
	DUCKDB_UUID,
	DUCKDB_UNION,
	DUCKDB_BIT,
	DUCKDB_TIME_TZ,
	DUCKDB_TIMESTAMP_TZ,
	DUCKDB_UHUGEINT,
	DUCKDB_ARRAY,
	DUCKDB_ANY,
	DUCKDB_BIGNUM,
	DUCKDB_NULL,
};

struct duckdb_result {
	duckdb_idx columns, rows, changed; /* not to be read by programs */
	void *column;
	char *error;
	void *internal;
};
struct duckdb_progress {
	double percent;
	uint64_t done, total;
};
/* A text in a vector: up to 12 bytes stand in it, longer ones elsewhere. */
union duckdb_text {
	struct {
		uint32_t length;
		char prefix[4];
		const char *at;
	} elsewhere;
	struct {
		uint32_t length;
		char text[12];
	} here;
};
_Static_assert(sizeof(union duckdb_text) == 16, "the layout of DuckDB's C interface");
struct duckdb_entry { /* of a list */
	uint64_t offset, length;
};
struct duckdb_huge {
	uint64_t low;
	int64_t high;
};
struct duckdb_interval {
	int32_t months, days;
	int64_t micros;
};

typedef void duckdb_destroy_fn(void *data);
typedef void duckdb_call_fn(duckdb_handle info);
typedef void duckdb_function_fn(duckdb_handle info, duckdb_handle chunk);
typedef void duckdb_replacement_fn(duckdb_handle info, const char *name, void *data);

/* RESULT(name)(arguments) */
#define DUCKDB_FUNCTIONS(F)                                                                                  \
	F(const char *, library_version, (void))                                                             \
	F(int, create_config, (duckdb_handle *))                                                             \
	F(int, set_config, (duckdb_handle, const char *, const char *))                                      \
	F(void, destroy_config, (duckdb_handle *))                                                           \
	F(int, open_ext, (const char *, duckdb_handle *, duckdb_handle, char **))                            \
	F(int, connect, (duckdb_handle, duckdb_handle *))                                                    \
	F(void, interrupt, (duckdb_handle))                                                                  \
	F(struct duckdb_progress, query_progress, (duckdb_handle))                                           \
	F(int, query, (duckdb_handle, const char *, struct duckdb_result *))                                 \
	F(duckdb_idx, extract_statements, (duckdb_handle, const char *, duckdb_handle *))                    \
	F(const char *, extract_statements_error, (duckdb_handle))                                           \
	F(void, destroy_extracted, (duckdb_handle *))                                                        \
	F(int, prepare_extracted_statement, (duckdb_handle, duckdb_handle, duckdb_idx, duckdb_handle *))     \
	F(const char *, prepare_error, (duckdb_handle))                                                      \
	F(void, destroy_prepare, (duckdb_handle *))                                                          \
	F(duckdb_idx, nparams, (duckdb_handle))                                                              \
	F(int, pending_prepared_streaming, (duckdb_handle, duckdb_handle *))                                 \
	F(const char *, pending_error, (duckdb_handle))                                                      \
	F(int, execute_pending, (duckdb_handle, struct duckdb_result *))                                     \
	F(void, destroy_pending, (duckdb_handle *))                                                          \
	F(duckdb_handle, fetch_chunk, (struct duckdb_result))                                                \
	F(const char *, result_error, (struct duckdb_result *))                                              \
	F(void, destroy_result, (struct duckdb_result *))                                                    \
	F(duckdb_idx, column_count, (struct duckdb_result *))                                                \
	F(const char *, column_name, (struct duckdb_result *, duckdb_idx))                                   \
	F(duckdb_handle, column_logical_type, (struct duckdb_result *, duckdb_idx))                          \
	F(duckdb_idx, data_chunk_get_size, (duckdb_handle))                                                  \
	F(void, data_chunk_set_size, (duckdb_handle, duckdb_idx))                                            \
	F(duckdb_handle, data_chunk_get_vector, (duckdb_handle, duckdb_idx))                                 \
	F(void, destroy_data_chunk, (duckdb_handle *))                                                       \
	F(void *, vector_get_data, (duckdb_handle))                                                          \
	F(uint64_t *, vector_get_validity, (duckdb_handle))                                                  \
	F(void, vector_ensure_validity_writable, (duckdb_handle))                                            \
	F(duckdb_handle, list_vector_get_child, (duckdb_handle))                                             \
	F(duckdb_handle, struct_vector_get_child, (duckdb_handle, duckdb_idx))                               \
	F(duckdb_handle, array_vector_get_child, (duckdb_handle))                                            \
	F(duckdb_idx, vector_size, (void))                                                                   \
	F(duckdb_handle, create_logical_type, (int))                                                         \
	F(void, destroy_logical_type, (duckdb_handle *))                                                     \
	F(int, get_type_id, (duckdb_handle))                                                                 \
	F(uint8_t, decimal_scale, (duckdb_handle))                                                           \
	F(int, decimal_internal_type, (duckdb_handle))                                                       \
	F(int, enum_internal_type, (duckdb_handle))                                                          \
	F(char *, enum_dictionary_value, (duckdb_handle, duckdb_idx))                                        \
	F(duckdb_handle, list_type_child_type, (duckdb_handle))                                              \
	F(duckdb_handle, array_type_child_type, (duckdb_handle))                                             \
	F(duckdb_idx, array_type_array_size, (duckdb_handle))                                                \
	F(duckdb_idx, struct_type_child_count, (duckdb_handle))                                              \
	F(char *, struct_type_child_name, (duckdb_handle, duckdb_idx))                                       \
	F(duckdb_handle, struct_type_child_type, (duckdb_handle, duckdb_idx))                                \
	F(duckdb_handle, map_type_key_type, (duckdb_handle))                                                 \
	F(duckdb_handle, map_type_value_type, (duckdb_handle))                                               \
	F(void, free, (void *))                                                                              \
	F(duckdb_handle, create_varchar, (const char *))                                                     \
	F(char *, get_varchar, (duckdb_handle))                                                              \
	F(int64_t, get_int64, (duckdb_handle))                                                               \
	F(bool, is_null_value, (duckdb_handle))                                                              \
	F(void, destroy_value, (duckdb_handle *))                                                            \
	F(duckdb_handle, create_table_function, (void))                                                      \
	F(void, table_function_set_name, (duckdb_handle, const char *))                                      \
	F(void, table_function_add_parameter, (duckdb_handle, duckdb_handle))                                \
	F(void, table_function_add_named_parameter, (duckdb_handle, const char *, duckdb_handle))            \
	F(void, table_function_set_extra_info, (duckdb_handle, void *, duckdb_destroy_fn *))                 \
	F(void, table_function_set_bind, (duckdb_handle, duckdb_call_fn *))                                  \
	F(void, table_function_set_init, (duckdb_handle, duckdb_call_fn *))                                  \
	F(void, table_function_set_local_init, (duckdb_handle, duckdb_call_fn *))                            \
	F(void, table_function_set_function, (duckdb_handle, duckdb_function_fn *))                          \
	F(void, table_function_supports_projection_pushdown, (duckdb_handle, bool))                          \
	F(int, register_table_function, (duckdb_handle, duckdb_handle))                                      \
	F(void, destroy_table_function, (duckdb_handle *))                                                   \
	F(void *, bind_get_extra_info, (duckdb_handle))                                                      \
	F(void, bind_add_result_column, (duckdb_handle, const char *, duckdb_handle))                        \
	F(duckdb_handle, bind_get_parameter, (duckdb_handle, duckdb_idx))                                    \
	F(duckdb_handle, bind_get_named_parameter, (duckdb_handle, const char *))                            \
	F(void, bind_set_bind_data, (duckdb_handle, void *, duckdb_destroy_fn *))                            \
	F(void, bind_set_cardinality, (duckdb_handle, duckdb_idx, bool))                                     \
	F(void, bind_set_error, (duckdb_handle, const char *))                                               \
	F(void *, init_get_bind_data, (duckdb_handle))                                                       \
	F(void, init_set_init_data, (duckdb_handle, void *, duckdb_destroy_fn *))                            \
	F(duckdb_idx, init_get_column_count, (duckdb_handle))                                                \
	F(duckdb_idx, init_get_column_index, (duckdb_handle, duckdb_idx))                                    \
	F(void, init_set_max_threads, (duckdb_handle, duckdb_idx))                                           \
	F(void, init_set_error, (duckdb_handle, const char *))                                               \
	F(void *, function_get_bind_data, (duckdb_handle))                                                   \
	F(void *, function_get_init_data, (duckdb_handle))                                                   \
	F(void *, function_get_local_init_data, (duckdb_handle))                                             \
	F(void, function_set_error, (duckdb_handle, const char *))                                           \
	F(void, add_replacement_scan, (duckdb_handle, duckdb_replacement_fn *, void *, duckdb_destroy_fn *)) \
	F(void, replacement_scan_set_function_name, (duckdb_handle, const char *))                           \
	F(void, replacement_scan_add_parameter, (duckdb_handle, duckdb_handle))                              \
	F(void, replacement_scan_set_error, (duckdb_handle, const char *))

struct duckdb {
#define DUCKDB_MEMBER(result, name, arguments) result(*name) arguments;
	DUCKDB_FUNCTIONS(DUCKDB_MEMBER)
#undef DUCKDB_MEMBER
};
extern struct duckdb duckdb;

/* Loads the library from this path. NULL, or why not: a text that lives as long as the program. */
const char *duckdb_load(const char *path);

#endif
