/* SPDX-License-Identifier: MIT
 * Derivation: what an object says over what it got from its base, as XML trees.
 *
 * A child with the name of one in the base stands for the same thing. Operation="Set", the default,
 * puts it in the other's place. "Add" merges: entries with a Value that is there already are merged
 * in turn, others are appended. "Remove" takes away the entries it lists. Attributes of the
 * derived object win; those it lacks are the base's.
 *
 * Two more things that profiles in use rely on. A parent may have a list several times, usually
 * first to remove and then to add: they act one after the other, and one that says nothing adds to
 * its predecessor. And a list of providers that says nothing, in a collector that is being added,
 * adds to the providers that are there.
 */
#include "profile/profile_private.h"
#include "base/parse.h"

#include <stdio.h>
#include <strings.h>

enum operation {
	SET,
	ADD,
	REMOVE,
};

static enum operation operation_of(const struct xml_node *n)
{
	const char *v = xml_value(n, "Operation");
	return v && strcasecmp(v, "Add") == 0 ? ADD : v && strcasecmp(v, "Remove") == 0 ? REMOVE : SET;
}

static bool is_one_of(const struct xml_node *n, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(n->name, names[i]) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_size(const struct xml_node *n)
{
	static const char *const sizes[] = {"BufferSize", "Buffers", "BuffersPerCPU", "FileMax", "MaximumFileSize"};
	return is_one_of(n, sizes, BASE_ARRAY_LEN(sizes));
}

static bool is_provider_list(const struct xml_node *n)
{
	return strcmp(n->name, "EventProviders") == 0 || strcmp(n->name, "HeapEventProviders") == 0;
}

static const char *value_or_id(const struct xml_node *n)
{
	const char *v = xml_value(n, strcmp(n->name, "ProfileSource") == 0 ? "Name" : "Value");
	return v ? v : xml_value(n, "Id");
}

/* Lists that stay apart: each is of another processor. */
static bool is_apart(const struct xml_node *n)
{
	return strcmp(n->name, "ProfileSources") == 0;
}

/* Elements that come several times in one parent and are told apart by what they stand for. */
static const char *key_of(const struct xml_node *n)
{
	static const char *const truths[] = {"DeletePreMergedTraceFiles", "SkipMerge", "InjectOnly", "FileCompression"};
	return is_size(n) || is_one_of(n, truths, BASE_ARRAY_LEN(truths)) ? NULL : value_or_id(n);
}

/* `key` is b's. Asked of all pairs of two lists, so without looking twice. */
static bool is_same(const struct xml_node *a, const struct xml_node *b, const char *key)
{
	if (strcmp(a->name, b->name) != 0 || is_apart(b)) {
		return false;
	}
	if (!key) {
		return !key_of(a);
	}
	const char *other = value_or_id(a);
	return other && profile_same_value(other, key);
}

static bool same_thing(const struct xml_node *a, const struct xml_node *b)
{
	return is_same(a, b, key_of(b));
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

static bool continue_list(struct profile_tree *t, struct xml_node *to, const struct xml_node *k);

static struct xml_node *copy(struct profile_tree *t, const struct xml_node *n)
{
	struct xml_node *c = copy_one(t, n), **end = c ? &c->children : NULL;
	for (const struct xml_node *k = n->children; k && c; k = k->next) {
		if (continue_list(t, c, k)) {
			continue;
		}
		while (*end) {
			end = &(*end)->next; /* what a continued list left behind */
		}
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
		static const char *const own[] = {"Operation", "Base", "Value", "Id", "Default", "Internal"};
		bool skip = xml_attr(over, a->name) != NULL;
		for (size_t i = 0; i < BASE_ARRAY_LEN(own); i++) {
			/* Value and Id are what the definition is called; a reference has its own. */
			skip = skip || (strcasecmp(a->name, own[i]) == 0 && !(i == 3 && !xml_attr(over, "Id")));
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
		const char *key = key_of(w);
		for (struct xml_node **p = &from->children; *p;) {
			if (is_same(*p, w, key)) {
				*p = (*p)->next;
			} else {
				p = &(*p)->next;
			}
		}
	}
}

static void apply(struct profile_tree *t, struct xml_node *base, const struct xml_node *over, bool adding);

/* Numbers of buffers and their like are added and subtracted. */
static bool count_together(struct profile_tree *t, struct xml_node *have, const struct xml_node *c, enum operation op)
{
	const char *a = xml_value(have, "Value"), *b = xml_value(c, "Value");
	uint64_t x, y;
	bool percent = profile_bool(xml_value(c, "PercentageOfTotalMemory"), false);
	if (!is_size(c) || op == SET || !a || !b || !parse_number(a, 0, UINT64_MAX, &x) ||
	    !parse_number(b, 0, UINT64_MAX, &y) || x > UINT32_MAX || y > UINT32_MAX ||
	    percent != profile_bool(xml_value(have, "PercentageOfTotalMemory"), false)) {
		return false;
	}
	char text[24];
	int n = snprintf(text, sizeof text, "%llu", (unsigned long long)(op == ADD ? x + y : x > y ? x - y : 1));
	for (struct xml_attr *v = have->attrs; v; v = v->next) {
		if (strcasecmp(v->name, "Value") == 0) {
			struct xml_attr *mine = need(t, sizeof *mine);
			char *value = arena_text(t->arena, text, (size_t)n);
			if (!mine || !value) {
				t->err = -ENOMEM;
				return true;
			}
			*mine = *v; /* the list is the definition's: a new one in front hides it */
			mine->value = value;
			mine->next = have->attrs;
			have->attrs = mine;
			break;
		}
	}
	return true;
}

/* `c`, a child of the derived object, goes into `to`, which so far is the base's. */
static void apply_child(struct profile_tree *t, struct xml_node *to, const struct xml_node *c, bool entries,
			bool adding)
{
	enum operation op = operation_of(c);
	const char *key = key_of(c);
	struct xml_node **p = &to->children;
	while (*p && !is_same(*p, c, key)) {
		p = &(*p)->next;
	}
	struct xml_node *have = *p;
	if (have && count_together(t, have, c, op)) {
		return;
	}
	if (have && op == REMOVE) {
		if (c->children) {
			remove_entries(have, c);
		} else {
			*p = have->next;
		}
		return;
	}
	/* Entries of a list that is added to are themselves added to. */
	bool more = adding && is_provider_list(c) && !xml_attr(c, "Operation");
	if (have && (op == ADD || entries || more)) {
		apply(t, have, c, adding || op == ADD);
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

/* Is there a list of this name before it, which it goes on? */
static bool goes_on(const struct xml_node *parent, const struct xml_node *c)
{
	if (key_of(c) || is_size(c) || xml_attr(c, "Operation")) {
		return false;
	}
	const struct xml_node *before = NULL;
	for (const struct xml_node *k = parent->children; k && k != c; k = k->next) {
		before = same_thing(k, c) ? k : before;
	}
	return before && operation_of(before) != REMOVE;
}

static void apply(struct profile_tree *t, struct xml_node *base, const struct xml_node *over, bool adding)
{
	base->attrs = merge_attributes(t, base, over);
	base->line = over->line;
	base->column = over->column;
	bool list = operation_of(over) == ADD || (adding && is_provider_list(over) && !xml_attr(over, "Operation"));
	for (const struct xml_node *c = over->children; c && t->err == 0; c = c->next) {
		if (goes_on(over, c) && continue_list(t, base, c)) {
			continue;
		}
		apply_child(t, base, c, list, adding || list);
	}
}

/* A list that is there already, in a copy of what has it twice. Whether it was taken care of. */
static bool continue_list(struct profile_tree *t, struct xml_node *to, const struct xml_node *k)
{
	struct xml_node *have = key_of(k) || is_size(k) ? NULL : to->children; /* entries are many */
	while (have && !same_thing(have, k)) {
		have = have->next;
	}
	if (!have || operation_of(have) == REMOVE || (xml_attr(k, "Operation") && operation_of(k) == SET)) {
		return false;
	}
	if (operation_of(k) == REMOVE) {
		remove_entries(have, k);
		return true;
	}
	for (const struct xml_node *c = k->children; c && t->err == 0; c = c->next) {
		apply_child(t, have, c, true, true);
	}
	return true;
}

const struct xml_node *profile_tree_definition(const struct profile_doc *doc, const char *kind, const char *id)
{
	for (const struct xml_node *n = doc->profiles ? xml_child(doc->profiles, kind) : NULL; n;
	     n = xml_next(n, kind)) {
		const char *v = xml_value(n, "Id");
		if (v && strcmp(v, id) == 0) {
			return n;
		}
	}
	return doc->base ? profile_tree_definition(doc->base, kind, id) : NULL;
}

/* Windows' wpr has hundreds of "EventProvider_NAME" built in: such a reference means the provider NAME. */
static const struct xml_node *well_known(struct profile_tree *t, const char *kind, const char *id)
{
	static const char front[] = "EventProvider_";
	size_t n = sizeof front - 1;
	if (!t->doc->base || strcmp(kind, "EventProvider") != 0 || strncmp(id, front, n - 1) != 0 ||
	    (id[n - 1] != '_' && id[n - 1] != '-') || !id[n]) {
		return NULL;
	}
	struct xml_node *node = need(t, sizeof *node);
	struct xml_attr *a = need(t, 2 * sizeof *a);
	if (!node || !a) {
		return NULL;
	}
	a[0] = (struct xml_attr){.next = &a[1], .prefix = "", .name = "Id", .value = id};
	a[1] = (struct xml_attr){.prefix = "", .name = "Name", .value = id + n};
	*node = (struct xml_node){
		.attrs = a, .ns = "", .prefix = "", .name = "EventProvider", .text = "", .line = 1, .column = 1};
	return node;
}

static const struct xml_node *must_find(struct profile_tree *t, const char *kind, const char *id,
					const struct xml_node *asking, const char *attribute)
{
	const struct xml_node *n = profile_tree_definition(t->doc, kind, id);
	if (n && profile_is_faulty(t->doc, n)) {
		profile_bad(t->doc, asking, "the %s '%.60s' cannot be used: it has mistakes (line %u)", kind, id,
			    n->line);
		t->err = -EBADMSG;
		return NULL;
	}
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
	if (!near && (n = well_known(t, kind, id)) != NULL) {
		profile_warn(t->doc, asking, "'%.60s' is not defined; it is taken for the provider %.60s", id,
			     xml_value(n, "Name"));
		return n;
	}
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
		const struct xml_node *b = must_find(t, definition->name, base, chain[n - 1], "Base");
		if (!b) {
			return NULL;
		}
		for (unsigned i = 0; i < n; i++) {
			if (chain[i] == b || n == PROFILE_BASES_MAX) {
				profile_bad(t->doc, chain[n - 1],
					    chain[i] == b ? "'%.60s' is, by way of Base, derived from itself"
							  : "'%.60s' is derived too many times over",
					    xml_value(chain[n - 1], "Id") ? xml_value(chain[n - 1], "Id") : "");
				t->err = -EBADMSG;
				return NULL;
			}
		}
		chain[n++] = b;
	}
	struct xml_node *result = copy(t, chain[--n]);
	while (result && n > 0 && t->err == 0) {
		apply(t, result, chain[--n], false);
	}
	return t->err == 0 ? result : NULL;
}

struct xml_node *profile_tree_refer(struct profile_tree *t, const char *kind, const struct xml_node *reference)
{
	if (strcmp(reference->name, kind) == 0) {
		return profile_tree_derive(t, reference); /* inline */
	}
	const char *id = xml_value(reference, "Value");
	const struct xml_node *d = id ? must_find(t, kind, id, reference, "Value") : NULL;
	struct xml_node *n = d ? profile_tree_derive(t, d) : NULL;
	if (n) {
		apply(t, n, reference, false);
		n->line = d->line; /* where it is defined helps more */
		n->column = d->column;
	}
	return t->err == 0 ? n : NULL;
}
