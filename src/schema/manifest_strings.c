/* SPDX-License-Identifier: MIT */
#include "schema/manifest_xml.h"

#include <stdlib.h>
#include <strings.h>

static int by_id(const void *a, const void *b)
{
	const struct manifest_string *x = a, *y = b;
	return strcmp(x->id, y->id);
}

static const struct xml_node *best_resources(const struct xml_node *root)
{
	const struct xml_node *loc = xml_child(root, "localization");
	const struct xml_node *first = loc ? xml_child(loc, "resources") : NULL;
	for (const struct xml_node *r = first; r; r = xml_next(r, "resources")) {
		const char *culture = xml_value(r, "culture");
		if (culture && strcasecmp(culture, "en-US") == 0) {
			return r;
		}
	}
	return first;
}

int manifest_strings_read(struct manifest_xml *x, const struct xml_node *root)
{
	const struct xml_node *res = best_resources(root);
	const struct xml_node *table = res ? xml_child(res, "stringTable") : NULL;
	size_t count = 0;
	for (const struct xml_node *s = table ? xml_child(table, "string") : NULL; s;
	     s = xml_next(s, "string")) {
		count++;
	}
	x->strings = count ? arena_alloc(x->arena, count * sizeof *x->strings) : NULL;
	if (count && !x->strings) {
		return -ENOMEM;
	}
	size_t n = 0;
	for (const struct xml_node *s = table ? xml_child(table, "string") : NULL; s;
	     s = xml_next(s, "string")) {
		const char *id = xml_value(s, "id"), *value = xml_value(s, "value");
		if (!id || !value) {
			return manifest_xml_bad(x, s->line, s->column,
						"a string needs id and value", "");
		}
		x->strings[n++] = (struct manifest_string){id, value};
	}
	if (n) {
		qsort(x->strings, n, sizeof *x->strings, by_id);
	}
	x->string_count = n;
	return 0;
}

const char *manifest_strings_text(struct manifest_xml *x, const char *message)
{
	size_t n = message ? strlen(message) : 0;
	if (n < 11 || memcmp(message, "$(string.", 9) != 0 || message[n - 1] != ')') {
		return message;
	}
	char *id = arena_text(x->arena, message + 9, n - 10);
	if (!id) {
		return NULL;
	}
	struct manifest_string key = {id, NULL};
	const struct manifest_string *s =
		x->string_count ? bsearch(&key, x->strings, x->string_count, sizeof key, by_id)
				: NULL;
	/* A copy, so that the document may go. */
	return s ? arena_text(x->arena, s->value, strlen(s->value)) : NULL;
}
