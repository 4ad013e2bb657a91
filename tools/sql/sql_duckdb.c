/* SPDX-License-Identifier: MIT */
#include "tools/sql/sql_duckdb.h"

#include <dlfcn.h>
#include <stdio.h>

struct duckdb duckdb;

const char *duckdb_load(const char *path)
{
	static const struct {
		const char *name;
		size_t place;
	} functions[] = {
#define DUCKDB_ROW(result, name, arguments) {"duckdb_" #name, offsetof(struct duckdb, name)},
		DUCKDB_FUNCTIONS(DUCKDB_ROW)
#undef DUCKDB_ROW
	};
	static char why[400];
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(why, sizeof why, "%s", dlerror());
		return why;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(functions); i++) {
		void *f = dlsym(library, functions[i].name);
		if (!f) {
			snprintf(why, sizeof why, "%s has no function %s: DuckDB 1.2 or newer is needed", path,
				 functions[i].name);
			return why;
		}
		memcpy((char *)&duckdb + functions[i].place, &f, sizeof f);
	}
	return NULL;
}
