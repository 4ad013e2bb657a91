/* SPDX-License-Identifier: MIT
 *
 * <maps> and <templates> of an instrumentation manifest.
 */
#include "manifest/manifest_xml.h"

#include <stdlib.h>

/* ---- maps ------------------------------------------------------------------------------------- */

static int read_entry(struct manifest_xml *x, const struct xml_node *n, struct manifest_map *m,
		      struct manifest_map_entry ***tail)
{
	struct manifest_map_entry *e = ARENA_NEW(x->arena, struct manifest_map_entry);
	uint64_t value;
	if (!e) {
		return -ENOMEM;
	}
	int err = manifest_xml_number(x, n, "value", UINT32_MAX, UINT64_MAX, &value);
	if (err < 0) {
		return err;
	}
	e->message = manifest_xml_copy(x, n, "message");
	e->symbol = manifest_xml_copy(x, n, "symbol");
	if (value > UINT32_MAX || !e->message) {
		return manifest_xml_bad(x, n->line, n->column, "an entry of map '%s' needs value and message", m->name);
	}
	e->value = (uint32_t)value;
	e->text = manifest_strings_text(x, e->message);
	if (!e->text) {
		return x->arena->failed
			       ? -ENOMEM
			       : manifest_xml_bad(x, n->line, n->column, "there is no string '%s'", e->message);
	}
	e->pos = (struct manifest_pos){n->line, n->column};
	**tail = e;
	*tail = &e->next;
	m->entry_count++;
	return 0;
}

static int read_map(struct manifest_xml *x, const struct xml_node *n, bool bits, struct manifest_map ***tail)
{
	struct manifest_map *m = ARENA_NEW(x->arena, struct manifest_map);
	if (!m) {
		return -ENOMEM;
	}
	if (++x->maps > MANIFEST_MAPS_MAX) {
		return manifest_xml_bad(x, n->line, n->column, "too many maps", "");
	}
	m->name = manifest_xml_copy(x, n, "name");
	if (!m->name) {
		return manifest_xml_bad(x, n->line, n->column, "a map needs a name", "");
	}
	for (const struct manifest_map *o = x->provider->maps; o; o = o->next) {
		if (strcmp(o->name, m->name) == 0) {
			return manifest_xml_bad(x, n->line, n->column, "map '%s' twice", m->name);
		}
	}
	m->symbol = manifest_xml_copy(x, n, "symbol");
	m->bits = bits;
	m->pos = (struct manifest_pos){n->line, n->column};
	struct manifest_map_entry **entries = &m->entries;
	int err = 0;
	for (const struct xml_node *e = xml_child(n, "map"); e && err == 0; e = xml_next(e, "map")) {
		err = read_entry(x, e, m, &entries);
	}
	**tail = m;
	*tail = &m->next;
	return err;
}

static int read_maps(struct manifest_xml *x, const struct xml_node *provider)
{
	struct manifest_map **tail = &x->provider->maps;
	int err = 0;
	for (const struct xml_node *n = xml_listed(provider, "maps", NULL); n && err == 0;
	     n = xml_listed_next(n, NULL)) {
		bool bits = strcmp(n->name, "bitMap") == 0;
		if (bits || strcmp(n->name, "valueMap") == 0) {
			err = read_map(x, n, bits, &tail);
		}
	}
	return err;
}

static int read_pattern_map(struct manifest_xml *x, const struct xml_node *n, struct manifest_pattern_map ***tail)
{
	struct manifest_pattern_map *m = ARENA_NEW(x->arena, struct manifest_pattern_map);
	if (!m) {
		return -ENOMEM;
	}
	m->name = manifest_xml_copy(x, n, "name");
	m->format = manifest_xml_copy(x, n, "format");
	if (!m->name || !m->format) {
		return manifest_xml_bad(x, n->line, n->column, "a pattern map needs name and format", "");
	}
	struct manifest_pattern **patterns = &m->patterns;
	for (const struct xml_node *e = xml_child(n, "map"); e; e = xml_next(e, "map")) {
		struct manifest_pattern *p = ARENA_NEW(x->arena, struct manifest_pattern);
		if (!p) {
			return -ENOMEM;
		}
		p->name = manifest_xml_copy(x, e, "name");
		p->value = manifest_xml_copy(x, e, "value");
		if (!p->name || !p->value) {
			return manifest_xml_bad(x, e->line, e->column, "a pattern of '%s' needs name and value",
						m->name);
		}
		*patterns = p;
		patterns = &p->next;
	}
	**tail = m;
	*tail = &m->next;
	return 0;
}

/* <namedQueries>, which hold nothing else. */
static int read_patterns(struct manifest_xml *x, const struct xml_node *queries)
{
	struct manifest_pattern_map **tail = &x->provider->pattern_maps;
	const struct xml_node *list = queries ? xml_child(queries, "patternMaps") : NULL;
	int err = 0;
	for (const struct xml_node *n = list ? xml_child(list, "patternMap") : NULL; n && err == 0;
	     n = xml_next(n, "patternMap")) {
		err = read_pattern_map(x, n, &tail);
	}
	return err;
}

/* ---- templates -------------------------------------------------------------------------------- */

struct items {
	struct manifest_item *first, **tail;
	const struct items *outer;
	uint32_t count;
};

static struct manifest_item *find_item(const struct items *l, const char *name)
{
	for (; l; l = l->outer) {
		for (struct manifest_item *it = l->first; it; it = it->next) {
			if (strcmp(it->name, name) == 0) {
				return it;
			}
		}
	}
	return NULL;
}

/* length= and count=: a number or the name of a field before. */
static int read_size(struct manifest_xml *x, const struct xml_node *n, const char *attr, const struct items *l,
		     bool *ret_has, uint16_t *ret, struct manifest_item **ret_of)
{
	const struct xml_attr *a = xml_attr(n, attr);
	if (!a) {
		return 0;
	}
	char *end;
	if (a->value[0] >= '0' && a->value[0] <= '9') {
		unsigned long v = strtoul(a->value, &end, 0);
		if (*end || v > 0xFFFF) {
			return manifest_xml_bad(x, a->line, a->column, "'%s' is no size below 65536", a->value);
		}
		*ret_has = true;
		*ret = (uint16_t)v;
		return 0;
	}
	*ret_of = find_item(l, a->value);
	if (!*ret_of) {
		return manifest_xml_bad(x, a->line, a->column, "no field '%s' stands before this one", a->value);
	}
	uint16_t in = (*ret_of)->in_type;
	bool integer = (in >= TDH_INTYPE_INT8 && in <= TDH_INTYPE_UINT32) || in == TDH_INTYPE_HEXINT32 ||
		       in == TDH_INTYPE_UINT64 || in == TDH_INTYPE_INT64;
	if ((*ret_of)->is_struct || !integer) {
		return manifest_xml_bad(x, a->line, a->column, "field '%s' is no integer", a->value);
	}
	return 0;
}

static int read_types(struct manifest_xml *x, const struct xml_node *n, struct manifest_item *it)
{
	const struct xml_attr *in = xml_attr(n, "inType"), *out = xml_attr(n, "outType");
	if (!in) {
		return manifest_xml_bad(x, n->line, n->column, "field '%s' needs an inType", it->name);
	}
	/* The names that a library of traces gives two types, in manifests it writes. */
	const char *name = in->value;
	if (x->reader && strcmp(name, "win:CountedUtf16String") == 0) {
		name = "win:CountedUnicodeString";
	} else if (x->reader && strcmp(name, "win:CountedMbcsString") == 0) {
		name = "win:CountedAnsiString";
	}
	if (!manifest_in_type(name, &it->in_type)) {
		return manifest_xml_bad(x, in->line, in->column, "unknown inType '%s'", in->value);
	}
	it->out_type = manifest_out_default(it->in_type);
	if (out) {
		uint16_t type;
		if (!manifest_out_type(out->value, &type)) {
			return manifest_xml_bad(x, out->line, out->column, "unknown outType '%s'", out->value);
		}
		/* A pair that does not exist is shown by default, as Windows does. */
		if (manifest_types_fit(it->in_type, type)) {
			it->out_type = type;
		}
	}
	return 0;
}

static int read_data(struct manifest_xml *x, const struct xml_node *n, const struct items *l, struct manifest_item *it)
{
	int err = read_types(x, n, it);
	if (err == 0) {
		err = read_size(x, n, "length", l, &it->has_length, &it->length, &it->length_of);
	}
	if (err < 0) {
		return err;
	}
	bool sized = it->has_length || it->length_of;
	bool may = it->in_type == TDH_INTYPE_UNICODESTRING || it->in_type == TDH_INTYPE_ANSISTRING ||
		   it->in_type == TDH_INTYPE_BINARY || it->in_type == TDH_INTYPE_SID;
	if (sized && !may) {
		const struct xml_attr *a = xml_attr(n, "length");
		return manifest_xml_bad(x, a->line, a->column, "field '%s' has a type that takes no length", it->name);
	}
	bool bare = !sized && it->in_type == TDH_INTYPE_BINARY && it->out_type != TDH_OUTTYPE_IPV6;
	if (bare && x->reader) {
		/* Dumps of installed providers lack it: all bytes that are left. */
		it->in_type = TDH_INTYPE_UINT8;
		it->out_type = TDH_OUTTYPE_HEXINT8;
		it->to_end = true;
	} else if (bare) {
		return manifest_xml_bad(x, n->line, n->column, "binary field '%s' needs a length", it->name);
	}
	it->map_name = manifest_xml_copy(x, n, "map");
	for (const struct manifest_map *m = it->map_name ? x->provider->maps : NULL; m; m = m->next) {
		if (strcmp(m->name, it->map_name) == 0) {
			it->map = m;
		}
	}
	if (it->map_name && !it->map) {
		const struct xml_attr *a = xml_attr(n, "map");
		return manifest_xml_bad(x, a->line, a->column, "there is no map '%s'", it->map_name);
	}
	return 0;
}

static int read_items(struct manifest_xml *x, const struct xml_node *parent, struct items *l, uint32_t *total,
		      unsigned depth);

static int read_item(struct manifest_xml *x, const struct xml_node *n, struct items *l, uint32_t *total, unsigned depth)
{
	struct manifest_item *it = ARENA_NEW(x->arena, struct manifest_item);
	if (!it) {
		return -ENOMEM;
	}
	it->pos = (struct manifest_pos){n->line, n->column};
	it->name = manifest_xml_copy(x, n, "name");
	if (!it->name) {
		return manifest_xml_bad(x, n->line, n->column, "a field needs a name", "");
	}
	if (++*total > MANIFEST_FIELDS_MAX) {
		return manifest_xml_bad(x, n->line, n->column, "too many fields", "");
	}
	int err = read_size(x, n, "count", l, &it->has_count, &it->count, &it->count_of);
	if (err < 0) {
		return err;
	}
	it->is_struct = strcmp(n->name, "struct") == 0;
	if (it->is_struct) {
		struct items members = {.outer = l};
		members.tail = &members.first;
		err = depth ? manifest_xml_bad(x, n->line, n->column, "struct '%s' is inside a struct", it->name)
			    : read_items(x, n, &members, total, depth + 1);
		it->members = members.first;
		it->member_count = members.count;
	} else {
		err = read_data(x, n, l, it);
	}
	if (err == 0) {
		*l->tail = it;
		l->tail = &it->next;
		l->count++;
	}
	return err;
}

static int read_items(struct manifest_xml *x, const struct xml_node *parent, struct items *l, uint32_t *total,
		      unsigned depth)
{
	int err = 0;
	for (const struct xml_node *n = parent->children; n && err == 0; n = n->next) {
		if (strcmp(n->name, "data") == 0 || strcmp(n->name, "struct") == 0) {
			err = read_item(x, n, l, total, depth);
		}
	}
	return err;
}

static int read_template(struct manifest_xml *x, const struct xml_node *n, struct manifest_template ***tail)
{
	struct manifest_template *t = ARENA_NEW(x->arena, struct manifest_template);
	struct items l = {.outer = NULL};
	uint32_t total = 0;
	if (!t) {
		return -ENOMEM;
	}
	if (++x->templates > MANIFEST_TEMPLATES_MAX) {
		return manifest_xml_bad(x, n->line, n->column, "too many templates", "");
	}
	l.tail = &l.first;
	t->tid = manifest_xml_copy(x, n, "tid");
	t->name = manifest_xml_copy(x, n, "name");
	t->pos = (struct manifest_pos){n->line, n->column};
	if (!t->tid) {
		return manifest_xml_bad(x, n->line, n->column, "a template needs a tid", "");
	}
	int err = read_items(x, n, &l, &total, 0);
	t->items = l.first;
	t->item_count = l.count;
	t->user_data = xml_child(n, "UserData");
	t->has_user_data = t->user_data != NULL;
	**tail = t;
	*tail = &t->next;
	return err;
}

int manifest_templates_read(struct manifest_xml *x, const struct xml_node *provider)
{
	int err = read_maps(x, provider);
	if (err == 0) {
		err = read_patterns(x, xml_child(provider, "namedQueries"));
	}
	struct manifest_template **tail = &x->provider->templates;
	for (const struct xml_node *n = xml_listed(provider, "templates", "template"); n && err == 0;
	     n = xml_listed_next(n, "template")) {
		err = read_template(x, n, &tail);
	}
	return err;
}
