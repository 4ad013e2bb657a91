/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_names.h"

#include "base/vec.h"

#include <stdlib.h>

uint32_t table_names_find(struct table_maker *m, struct table_names *n, uint32_t process, uint32_t pid,
			  uint64_t address, int64_t time)
{
	char text[1024];
	const uint64_t parts[] = {process, address};
	uint64_t key = map_hash(&n->of, parts, sizeof parts);
	MAP_EACH(&n->of, key, at) {
		uint32_t i = (uint32_t)map_value(&n->of, at);
		if (n->names[i].address == address && n->names[i].process == process) {
			return i;
		}
	}
	names_of(&m->names, pid, address, table_make_filetime(m, time), text, sizeof text);
	char *copy = strdup(text);
	if (!copy || !VEC_ROOM_UP_TO(n->names, n->count, n->cap, UINT32_MAX - 1) ||
	    map_add(&n->of, key, n->count) < 0) {
		free(copy);
		m->failed = true;
		return UINT32_MAX;
	}
	n->names[n->count] = (struct table_name){process, address, copy};
	return n->count++;
}

const char *table_names_text(struct table_maker *m, struct table_names *n, uint32_t process, uint32_t pid,
			     uint64_t address, int64_t time)
{
	uint32_t i = table_names_find(m, n, process, pid, address, time);
	return i == UINT32_MAX ? NULL : n->names[i].text;
}

void table_names_free(struct table_names *n)
{
	for (uint32_t i = 0; i < n->count; i++) {
		free(n->names[i].text);
	}
	free(n->names);
	map_free(&n->of);
}

size_t table_names_module(const char *text)
{
	const char *bang = text ? strchr(text, '!') : NULL;
	return bang && bang > text && text[0] != '?' ? (size_t)(bang - text) : 0;
}

void table_names_put(struct table_build *b, int module, int function, const char *text)
{
	size_t n = table_names_module(text);
	table_put_string(b, function, text);
	if (n) {
		table_build_text(b, module, text, n);
	}
}
