/* SPDX-License-Identifier: MIT
 *
 * Tables on the screen: as wide as their rows make them.
 *
 *	static const struct table_column columns[] = {{"NAME", .cut = true}, {"EVENTS", .right = true}};
 *	struct table *t = table_create(columns, BASE_ARRAY_LEN(columns), 0);
 *	for (…) {
 *		table_cell(t, "%s", name);
 *		table_cell(t, "%llu", count);
 *	}
 *	table_print(stdout, t);
 *
 * Two blanks stand between columns, none at the end of a line. East Asian characters count as two columns. Nothing is
 * cut but on a terminal that is too narrow, and there in the columns that allow it. When memory runs out, table_print()
 * says so; the others go on.
 */
#ifndef TOOLS_COMMON_TABLE_H
#define TOOLS_COMMON_TABLE_H

#include "base/base.h"

#include <stdio.h>

struct table;
struct table_column {
	const char *heading;
	bool right;     /* numbers; else text */
	bool cut;       /* may end in "…" on a narrow terminal */
	unsigned least; /* so wide at least */
};

/* The columns stay the caller's. `indent`: blanks in front of every line. */
struct table *table_create(const struct table_column *columns, unsigned count, unsigned indent);
/* The next cell; what %s brings in is made printable. */
void table_cell(struct table *t, const char *fmt, ...) BASE_PRINTF(2, 3);
/* A line of its own between the rows, which begins where the column does. */
void table_line(struct table *t, unsigned column, const char *fmt, ...) BASE_PRINTF(3, 4);
/* Headings and rows; without a row nothing. The table is gone then. 0 or -ENOMEM. */
int table_print(FILE *f, struct table *t);

#endif
