/* SPDX-License-Identifier: MIT
 *
 * Takes the JSON of our own decoder apart: the members of an object, the elements of an array, one after the other.
 *
 *	struct json_walk w = json_walk_of(json, length);
 *	struct json_item i;
 *	while (json_walk_next(&w, &i)) {
 *		…
 *	}
 *
 * It never reads behind the end, also where the text is not well formed.
 */
#ifndef TOOLS_EXPORT_JSON_WALK_H
#define TOOLS_EXPORT_JSON_WALK_H

#include "base/base.h"

#define JSON_DEPTH_MAX 32 /* values deeper than this are written as their text */

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_item {
	const char *name; /* in quotes, of members; NULL for elements */
	size_t name_length;
	const char *json;
	size_t length;
};
struct json_walk {
	const char *s;
	size_t n, i;
	bool object;
};
struct json_walk json_walk_of(const char *s, size_t n);
bool json_walk_next(struct json_walk *w, struct json_item *ret);

enum json_type json_type_of(const char *s, size_t n);
/* A number: true when it is whole and fits; else its value as a double is what counts. */
enum json_number_kind { JSON_UNSIGNED, JSON_SIGNED, JSON_DOUBLE };
struct json_number {
	enum json_number_kind kind;
	uint64_t u;
	int64_t i;
	double d;
};
struct json_number json_number_of(const char *s, size_t n);

#endif
