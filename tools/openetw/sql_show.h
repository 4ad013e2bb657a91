/* SPDX-License-Identifier: MIT
 * Results of queries as tables, CSV and JSON.
 */
#ifndef TOOLS_OPENETW_SQL_SHOW_H
#define TOOLS_OPENETW_SQL_SHOW_H

#include "tools/openetw/sql_client.h"

enum sql_format { SQL_TABLES, SQL_CSV, SQL_JSON };

struct sql_show;

struct sql_show *sql_show_create(enum sql_format format); /* NULL: no memory */
void sql_show_destroy(struct sql_show *s);
/* As struct sql_sink has them. */
bool sql_show_columns(void *show, uint32_t count, const enum sql_class *classes, const struct sql_value *names);
bool sql_show_row(void *show, uint32_t count, const struct sql_value *values);
bool sql_show_end(void *show);

#endif
