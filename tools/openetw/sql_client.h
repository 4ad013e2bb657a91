/* SPDX-License-Identifier: MIT
 *
 * DuckDB in a child without rights (tools/sql), for openetw sql.
 */
#ifndef TOOLS_OPENETW_SQL_CLIENT_H
#define TOOLS_OPENETW_SQL_CLIENT_H

#include "tools/common/cli.h"
#include "tools/sql/sql_wire.h"

struct sql_client;

struct sql_client_options {
	uint64_t memory_bytes; /* 0: half of this machine's, at least 1 GiB */
	uint32_t threads;      /* 0: as many as there are processors, at most 8 */
	int64_t start_ns;      /* time 0 of the trace, since 1970 */
	int out;               /* what sql_client_export() writes; -1: nothing */
};
struct sql_value {
	const char *s; /* NULL: NULL */
	size_t n;
};
/* What comes of a query. False ends it. */
struct sql_sink {
	void *context;
	bool (*columns)(void *context, uint32_t count, const enum sql_class *classes, const struct sql_value *names);
	bool (*row)(void *context, uint32_t count, const struct sql_value *values);
	bool (*end)(void *context); /* of a result; a query of several statements has several */
	/* The descriptor of a table, which is taken over; -1: `why` says why there is none. */
	int (*table)(void *context, const char *name, char *why, size_t cap);
	/* The index of a file, for the table events. 1: `ret` and its descriptor, which stays the callee's; 0: there are no more
	 * files; -1: `why`. */
	int (*store)(void *context, uint32_t file, struct sql_store *ret, int *ret_fd, char *why, size_t cap);
	bool (*cancelled)(void *context);
};

/* NULL: said why. */
struct sql_client *sql_client_create(const struct cli_args *a, const struct sql_client_options *o);
void sql_client_destroy(struct sql_client *c);
/* 0; CLI_FAILED: said why. After a failure of the child the next query starts another one. */
int sql_client_query(struct sql_client *c, const char *text, const struct sql_sink *sink);
int sql_client_export(struct sql_client *c, const char *text, enum sql_export_format format,
		      const struct sql_sink *sink);

#endif
