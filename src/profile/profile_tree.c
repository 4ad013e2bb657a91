/* SPDX-License-Identifier: MIT
 * Derivation: what an object says over what it got from its base, as XML trees.
 *
 * A child with the name of one in the base stands for the same thing. Operation="Set", the default,
 * puts it in the other's place. "Add" merges: entries with a Value that is there already are merged
 * in turn, others are appended. "Remove" takes away the entries it lists. Attributes of the
 * derived object win; those it lacks are the base's.
 */
#include "profile/profile_private.h"

#include <strings.h>

enum operation {
	SET,
	ADD,
	REMOVE,
};

static enum operation operation_of(const struct xml_node *n)
{
	const char *v = xml_value(n, "Operation");
	return v && strcasecmp(v, "Add") == 0	   ? ADD
	       : v && strcasecmp(v, "Remove") == 0 ? REMOVE
						   : SET;
}

/* Elements that come several times in one parent and are told apart by what they stand for. */
static const char *key_of(const struct xml_node *n)
{
	const char *v = xml_value(n, "Value");
	static const char *const sizes[] = {"BufferSize", "Buffers",	     "BuffersPerCPU",
					    "FileMax",	  "MaximumFileSize", "DeletePreMergedTraceFiles",
					    "SkipMerge",  "InjectOnly",	     "FileCompression"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(sizes); i++) {
		if (strcmp(n->name, sizes[i]) == 0) {
			return NULL;
		}
	}
	return v ? v : xml_value(n, "Id");
}

static bool same_thing(const struct xml_node *a, const struct xml_node *b)
{
	if (strcmp(a->name, b->name) != 0) {
		return false;
	}
	const char *x = key_of(a), *y = key_of(b);
	return x && y ? profile_same_value(x, y) : !x && !y;
}

static void *need(struct profile_tree *t, size_t n)
{
	void *p = arena_alloc(t->arena, n);
	if (!p) {
		t->err = -ENOMEM;
	}
	return p;
}

static struct xml_node *copy_one(struct profile_tree *t, const struct xml_node *n)
{
	struct xml_node *c = need(t, sizeof *c);
	if (c) {
		*c = *n;
		c->next = c->parent = c->children = NULL;
	}
	return c;
}

static struct xml_node *copy(struct profile_tree *t, const struct xml_node *n)
{
	struct xml_node *c = copy_one(t, n), **end = c ? &c->children : NULL;
	for (const struct xml_node *k = n->children; k && c; k = k->next) {
		*end = copy(t, k);
		if (!*end) {
			return NULL;
		}
		(*end)->parent = c;
		end = &(*end)->next;
	}
	return c;
}

/* The attributes of both; `over` wins. */
static struct xml_attr *merge_attributes(struct profile_tree *t, const struct xml_node *base,
					 const struct xml_node *over)
{
	struct xml_attr *first = over->attrs;
	for (const struct xml_attr *a = base->attrs; a; a = a->next) {
		static const char *const own[] = {"Operation", "Base", "Value", "Id", "Default",
						  "Internal"};
		bool skip = xml_attr(over, a->name) != NULL;
		for (size_t i = 0; i < BASE_ARRAY_LEN(own); i++) {
			/* Value and Id are what the definition is called; a reference has its own. */
			skip = skip || (strcasecmp(a->name, own[i]) == 0 &&
					!(i == 3 && !xml_attr(over, "Id")));
		}
		if (skip) {
			continue;
		}
		struct xml_attr *c = need(t, sizeof *c);
		if (!c) {
			return first;
		}
		*c = *a;
		c->next = first;
		first = c;
	}
	return first;
}

static void remove_entries(struct xml_node *from, const struct xml_node *what)
{
	for (const struct xml_node *w = what->children; w; w = w->next) {
		for (struct xml_node **p = &from->children; *p;) {
			if (same_thing(*p, w)) {
				*p = (*p)->next;
			} else {
				p = &(*p)->next;
			}
		}
	}
}

static void apply(struct profile_tree *t, struct xml_node *base, const struct xml_node *over);

/* `c`, a child of the derived object, goes into `to`, which so far is the base's. */
static void apply_child(struct profile_tree *t, struct xml_node *to, const struct xml_node *c,
			bool entries)
{
	enum operation op = operation_of(c);
	struct xml_node **p = &to->children;
	while (*p && !same_thing(*p, c)) {
		p = &(*p)->next;
	}
	struct xml_node *have = *p;
	if (have && op == REMOVE) {
		if (c->children) {
			remove_entries(have, c);
		} else {
			*p = have->next;
		}
		return;
	}
	/* Entries of a list that is added to are themselves added to. */
	if (have && (op == ADD || entries)) {
		apply(t, have, c);
		return;
	}
	if (op == REMOVE) {
		return;
	}
	struct xml_node *mine = copy(t, c);
	if (mine) {
		mine->next = have ? have->next : NULL;
		mine->parent = to;
		*p = mine;
	}
}

static void apply(struct profile_tree *t, struct xml_node *base, const struct xml_node *over)
{
	base->attrs = merge_attributes(t, base, over);
	base->line = over->line;
	base->column = over->column;
	bool list = operation_of(over) == ADD;
	for (const struct xml_node *c = over->children; c && t->err == 0; c = c->next) {
		apply_child(t, base, c, list);
	}
}

const struct xml_node *profile_tree_definition(const struct profile_doc *doc, const char *kind,
					       const char *id)
{
	for (const struct xml_node *n = doc->profiles ? xml_child(doc->profiles, kind) : NULL; n;
	     n = xml_next(n, kind)) {
		const char *v = xml_value(n, "Id");
		if (v && strcmp(v, id) == 0) {
			return n;
		}
	}
	return NULL;
}

static const struct xml_node *must_find(struct profile_tree *t, const char *kind, const char *id,
					const struct xml_node *asking, const char *attribute)
{
	const struct xml_node *n = profile_tree_definition(t->doc, kind, id);
	if (n) {
		return n;
	}
	const char *names[64];
	size_t count = 0;
	for (n = xml_child(t->doc->profiles, kind); n && count < 64; n = xml_next(n, kind)) {
		const char *v = xml_value(n, "Id");
		if (v) {
			names[count++] = v;
		}
	}
	const char *near = profile_nearest(id, names, count);
	const struct xml_attr *a = xml_attr(asking, attribute);
	profile_note_add(t->doc, true, a ? a->line : asking->line, a ? a->column : asking->column,
			 near ? "there is no %s with the Id '%.60s'; is '%.60s' meant?"
			      : "there is no %s with the Id '%.60s'",
			 kind, id, near);
	t->err = -EBADMSG;
	return NULL;
}

struct xml_node *profile_tree_derive(struct profile_tree *t, const struct xml_node *definition)
{
	const struct xml_node *chain[PROFILE_BASES_MAX];
	unsigned n = 0;
	chain[n++] = definition;
	for (const char *base; (base = xml_value(chain[n - 1], "Base")) != NULL && *base;) {
		const struct xml_node *b =
			must_find(t, definition->name, base, chain[n - 1], "Base");
		if (!b) {
			return NULL;
		}
		for (unsigned i = 0; i < n; i++) {
			if (chain[i] == b || n == PROFILE_BASES_MAX) {
				profile_bad(t->doc, chain[n - 1],
					    chain[i] == b ? "'%.60s' is, by way of Base, derived from itself"
							  : "'%.60s' is derived too many times over",
					    xml_value(chain[n - 1], "Id") ? xml_value(chain[n - 1], "Id")
									  : "");
				t->err = -EBADMSG;
				return NULL;
			}
		}
		chain[n++] = b;
	}
	struct xml_node *result = copy(t, chain[--n]);
	while (result && n > 0 && t->err == 0) {
		apply(t, result, chain[--n]);
	}
	return t->err == 0 ? result : NULL;
}

struct xml_node *profile_tree_refer(struct profile_tree *t, const char *kind,
				    const struct xml_node *reference)
{
	if (strcmp(reference->name, kind) == 0) {
		return profile_tree_derive(t, reference); /* inline */
	}
	const char *id = xml_value(reference, "Value");
	const struct xml_node *d = id ? must_find(t, kind, id, reference, "Value") : NULL;
	struct xml_node *n = d ? profile_tree_derive(t, d) : NULL;
	if (n) {
		apply(t, n, reference);
		n->line = d->line; /* where it is defined helps more */
		n->column = d->column;
	}
	return t->err == 0 ? n : NULL;
}
