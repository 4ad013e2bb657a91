/* SPDX-License-Identifier: MIT
 * Names of code, of which those of the same address of a process are found once.
 */
#ifndef TOOLS_TABLES_TABLE_NAMES_H
#define TOOLS_TABLES_TABLE_NAMES_H

#include "tools/tables/table_make.h"

struct table_name {
	uint32_t process;
	uint64_t address;
	char *text; /* "module!function" */
};
struct table_names {
	struct table_name *names; /* in the order in which they were asked for */
	uint32_t count, cap;
	struct map of;
};
/* The number of the name; UINT32_MAX: no memory. `process` is the number, `time` (of the index) when the code was met. */
uint32_t table_names_find(struct table_maker *m, struct table_names *n, uint32_t process, uint32_t pid,
			  uint64_t address, int64_t time);
/* The same as a text; NULL: no memory. Valid until table_names_free(). */
const char *table_names_text(struct table_maker *m, struct table_names *n, uint32_t process, uint32_t pid,
			     uint64_t address, int64_t time);
void table_names_free(struct table_names *n);
/* The length of the module's name in front of "!function"; 0: there is none. */
size_t table_names_module(const char *text);
/* Puts both into a row; NULL is fine. */
void table_names_put(struct table_build *b, int module, int function, const char *text);

#endif
