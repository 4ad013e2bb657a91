/* SPDX-License-Identifier: MIT
 * Answers of tables for people and for programs.
 */
#ifndef TOOLS_TABLES_TABLE_SHOW_H
#define TOOLS_TABLES_TABLE_SHOW_H

#include "tools/tables/table_query.h"

enum table_form { TABLE_FORM_TEXT, TABLE_FORM_JSON, TABLE_FORM_CSV };

/* Text: durations in ms, times in seconds from the start, sizes with units. JSON and CSV: nanoseconds and bytes. False:
 * no memory. */
bool table_show(FILE *f, const struct table_answer *r, enum table_form form);
/* "sum(duration) ms" */
void table_show_heading(const struct table_answer_column *c, char *out, size_t cap);
/* A value as text has it; "" for NULL. */
void table_show_value(const struct table_answer_column *c, const struct table_value *v, struct strbuf *out);
/* As JSON: null, a number, a truth value, or a text in quotes. */
void table_show_json(const struct table_value *v, bool truth, struct strbuf *out);

#endif
