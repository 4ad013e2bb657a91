/* SPDX-License-Identifier: MIT
 *
 * The files of data/sql, one behind the other. Each begins with lines of comments that say its name, its title and the
 * question that it answers:
 *
 *	-- name: cpu-by-process
 *	-- title: CPU by process
 *	-- question: Which processes used the processors?
 */
#include "tools/openetw/sql_ready.h"

#include <stdio.h>

extern const char sql_queries[];
extern const size_t sql_queries_bytes;

static const char mark[] = "-- name: ";

static void take_line(const char *text, const char *key, char *out, size_t cap)
{
	const char *p = strstr(text, key);
	out[0] = 0;
	if (p) {
		p += strlen(key);
		snprintf(out, cap, "%.*s", (int)strcspn(p, "\n"), p);
	}
}

bool sql_ready_at(unsigned i, struct sql_ready *ret)
{
	const char *p = strstr(sql_queries, mark), *next = p;
	for (unsigned n = 0; p; n++, p = next) {
		next = strstr(p + sizeof mark - 1, mark);
		if (n == i) {
			ret->text = p;
			ret->bytes = next ? (size_t)(next - p) : strlen(p);
			take_line(p, mark, ret->name, sizeof ret->name);
			take_line(p, "-- title: ", ret->title, sizeof ret->title);
			take_line(p, "-- question: ", ret->question, sizeof ret->question);
			return true;
		}
	}
	return false;
}

bool sql_ready_find(const char *name, struct sql_ready *ret)
{
	for (unsigned i = 0; sql_ready_at(i, ret); i++) {
		if (strcmp(ret->name, name) == 0) {
			return true;
		}
	}
	return false;
}
