/* SPDX-License-Identifier: MIT */
#include "manifest/manifest_xml.h"

#include <stdlib.h>
#include <strings.h>

static int by_id(const void *a, const void *b)
{
	const struct manifest_string *x = a, *y = b;
	return strcmp(x->id, y->id);
}

static const struct xml_node *best_resources(const struct xml_node *root)
{
	const struct xml_node *first = xml_listed(root, "localization", "resources");
	for (const struct xml_node *r = first; r; r = xml_listed_next(r, "resources")) {
		const char *culture = xml_value(r, "culture");
		if (culture && strcasecmp(culture, "en-US") == 0) {
			return r;
		}
	}
	return first;
}

/* Every language's strings, for who compiles the manifest. */
static int read_culture(struct manifest_xml *x, const struct xml_node *res, struct manifest_culture ***tail,
			struct manifest_culture **ret)
{
	struct manifest_culture *c = ARENA_NEW(x->arena, struct manifest_culture);
	size_t count = 0, n = 0;
	const struct xml_node *first = xml_listed(res, "stringTable", "string");
	for (const struct xml_node *s = first; s; s = xml_listed_next(s, "string")) {
		count++;
	}
	struct manifest_string *strings = count ? arena_alloc(x->arena, count * sizeof *strings) : NULL;
	if (!c || (count && !strings)) {
		return -ENOMEM;
	}
	for (const struct xml_node *s = first; s; s = xml_listed_next(s, "string")) {
		strings[n].id = manifest_xml_copy(x, s, "id");
		strings[n].value = manifest_xml_copy(x, s, "value");
		if (!strings[n].id || !strings[n].value) {
			return manifest_xml_bad(x, s->line, s->column, "a string needs id and value", "");
		}
		n++;
	}
	const char *name = xml_value(res, "culture");
	name = name ? name : "en-US";
	c->name = arena_text(x->arena, name, strlen(name));
	c->strings = strings;
	c->string_count = count;
	**tail = c;
	*tail = &c->next;
	*ret = c;
	return c->name ? 0 : -ENOMEM;
}

int manifest_strings_read(struct manifest_xml *x, const struct xml_node *root, struct manifest *ret)
{
	const struct xml_node *best = best_resources(root);
	struct manifest_culture **tail = &ret->cultures;
	const struct manifest_culture *chosen = NULL;
	for (const struct xml_node *r = xml_listed(root, "localization", "resources"); r;
	     r = xml_listed_next(r, "resources")) {
		struct manifest_culture *c = NULL;
		int err = read_culture(x, r, &tail, &c);
		if (err < 0) {
			return err;
		}
		chosen = r == best ? c : chosen;
	}
	size_t n = chosen ? chosen->string_count : 0;
	x->strings = n ? arena_alloc(x->arena, n * sizeof *x->strings) : NULL;
	if (n && !x->strings) {
		return -ENOMEM;
	}
	if (n) {
		memcpy(x->strings, chosen->strings, n * sizeof *x->strings);
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
		x->string_count ? bsearch(&key, x->strings, x->string_count, sizeof key, by_id) : NULL;
	return s ? s->value : NULL;
}
