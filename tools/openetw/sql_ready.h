/* SPDX-License-Identifier: MIT
 * The ready queries of openetw sql: data/sql.
 */
#ifndef TOOLS_OPENETW_SQL_READY_H
#define TOOLS_OPENETW_SQL_READY_H

#include "base/base.h"

struct sql_ready {
	char name[64], title[120], question[400];
	const char *text;
	size_t bytes;
};
/* The i-th; false: there are no more. */
bool sql_ready_at(unsigned i, struct sql_ready *ret);
bool sql_ready_find(const char *name, struct sql_ready *ret);

#endif
