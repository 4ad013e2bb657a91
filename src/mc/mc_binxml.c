/* SPDX-License-Identifier: MIT
 *
 * Templates of the resource: how an event looks as XML, in binary form, then its fields.
 *
 * The XML is <EventData> with one element a field or what the manifest's <UserData> says. The id of
 * a template is a hash of this XML as text and of the fields' types.
 */
#include "mc/mc_template.h"

#include "xml/xml.h"

#include <stdlib.h>

enum token {
	END_OF_FRAGMENT = 0x00,
	OPEN_ELEMENT = 0x01,
	CLOSE_START = 0x02,
	END_ELEMENT = 0x04,
	VALUE_TEXT = 0x05,
	ATTRIBUTE = 0x06,
	SUBSTITUTION = 0x0D,
	FRAGMENT = 0x0F,
	MORE = 0x40, /* elements: has attributes; attributes: another one follows */
};
#define TYPE_STRING  1
#define TYPE_BINARY  14
#define TYPE_ARRAY   0x80
#define SPEC_VERSION 1

struct tree {
	struct mc_resource *r;
	const struct manifest_template *t;
	struct strbuf text; /* the same as text */
};

static uint8_t type_of(const struct manifest_item *it)
{
	uint8_t type = it->is_struct ? TYPE_BINARY : (uint8_t)it->in_type;
	return type | (it->count_of || it->count > 0 ? TYPE_ARRAY : 0);
}

static void put_name(struct mc_resource *r, const char *name)
{
	uint32_t at = mc_here(r), hash = 0;
	mc_put32(r, 0);
	uint32_t units = mc_put_wide(r, name);
	for (uint32_t i = 0; i < units && !r->out->failed; i++) {
		hash = hash * 65599u + le16_get(r->out->s + at + 4 + 2 * (size_t)i);
	}
	mc_put16(r, 0);
	mc_fix32(r, at, (hash & 0xFFFF) | units << 16);
}

/* Not xml_escape(): this text is hashed, so it is to be as Microsoft's compiler has it, with quotes in texts as they
 * are and nothing replaced. */
static void put_escaped(struct strbuf *b, const char *s, bool attribute)
{
	for (; *s; s++) {
		switch (*s) {
		case '&': strbuf_adds(b, "&amp;"); break;
		case '<': strbuf_adds(b, "&lt;"); break;
		case '>': strbuf_adds(b, "&gt;"); break;
		case '"': strbuf_adds(b, attribute ? "&quot;" : "\""); break;
		default: strbuf_addc(b, *s);
		}
	}
}

/* Start of an element; returns where its size stands. */
static uint32_t element_begin(struct tree *x, const char *prefix, const char *name, bool attributes)
{
	mc_put8(x->r, OPEN_ELEMENT | (attributes ? MORE : 0));
	mc_put16(x->r, 0xFFFF); /* depends on no field */
	uint32_t at = mc_here(x->r);
	mc_put32(x->r, 0);
	put_name(x->r, name);
	strbuf_addf(&x->text, "<%s%s%s", prefix, *prefix ? ":" : "", name);
	return at;
}

static void attribute(struct tree *x, const char *prefix, const char *name, const char *value, bool last)
{
	mc_put8(x->r, ATTRIBUTE | (last ? 0 : MORE));
	put_name(x->r, name);
	mc_put8(x->r, VALUE_TEXT);
	mc_put8(x->r, TYPE_STRING);
	uint32_t at = mc_here(x->r);
	mc_put16(x->r, 0);
	uint32_t units = mc_put_wide(x->r, value);
	if (!x->r->out->failed) {
		le16_put(x->r->out->s + at, (uint16_t)units);
	}
	strbuf_addf(&x->text, " %s%s%s=\"", prefix, *prefix ? ":" : "", name);
	put_escaped(&x->text, value, true);
	strbuf_adds(&x->text, "\"");
}

static void substitution(struct tree *x, uint32_t index)
{
	const struct manifest_item *it = x->t->items;
	for (uint32_t i = 0; it && i < index; i++) {
		it = it->next;
	}
	mc_put8(x->r, SUBSTITUTION);
	mc_put16(x->r, (uint16_t)index);
	mc_put8(x->r, it ? type_of(it) : 0);
}

static void element_end(struct tree *x, uint32_t size_at, const char *prefix, const char *name)
{
	mc_put8(x->r, END_ELEMENT);
	mc_fix32(x->r, size_at, mc_here(x->r) - size_at - 4);
	strbuf_addf(&x->text, "</%s%s%s>", prefix, *prefix ? ":" : "", name);
}

/* ---- EventData -------------------------------------------------------------------------------- */

static void put_event_data(struct tree *x)
{
	const struct manifest_template *t = x->t;
	uint32_t root = element_begin(x, "", "EventData", t->name != NULL), i = 0;
	if (t->name) {
		uint32_t at = mc_here(x->r);
		mc_put32(x->r, 0);
		attribute(x, "", "Name", t->name, true);
		mc_fix32(x->r, at, mc_here(x->r) - at - 4);
	}
	mc_put8(x->r, CLOSE_START);
	if (!t->items) {
		mc_put8(x->r, END_ELEMENT);
		mc_fix32(x->r, root, mc_here(x->r) - root - 4);
		strbuf_adds(&x->text, "/>");
		return;
	}
	strbuf_adds(&x->text, ">");
	for (const struct manifest_item *it = t->items; it; it = it->next, i++) {
		const char *name = it->is_struct ? "ComplexData" : "Data";
		uint32_t size = element_begin(x, "", name, true), at = mc_here(x->r);
		mc_put32(x->r, 0);
		attribute(x, "", "Name", it->name, true);
		mc_fix32(x->r, at, mc_here(x->r) - at - 4);
		mc_put8(x->r, CLOSE_START);
		strbuf_addf(&x->text, ">%%%u", i + 1);
		substitution(x, i);
		element_end(x, size, "", name);
	}
	element_end(x, root, "", "EventData");
}

/* ---- UserData --------------------------------------------------------------------------------- */

static int refuse(struct tree *x, const struct xml_node *n, const char *why)
{
	struct diag *d = x->r->diag;
	diag_at(d, UINT64_MAX, "<UserData> of template '%s': %s", x->t->tid, why);
	if (d && d->line == 0) {
		d->line = n->line;
		d->column = n->column;
	}
	return -EBADMSG;
}

/* "%7" in text; other text is not kept, as Windows' compiler does not. */
static int put_text(struct tree *x, const struct xml_node *n)
{
	const char *s = strchr(n->text, '%');
	if (!s) {
		return 0;
	}
	char *end;
	unsigned long index = strtoul(s + 1, &end, 10);
	if (s[1] < '0' || s[1] > '9' || index == 0 || index > x->t->item_count) {
		return refuse(x, n, "a '%' is followed by the number of no field");
	}
	substitution(x, (uint32_t)index - 1);
	return 0;
}

static bool blank(const char *s)
{
	return s[strspn(s, " \t\r\n")] == 0;
}

/* The declarations of an element itself, in their order. */
static uint32_t own_namespaces(const struct xml_node *n, const struct xml_namespace *ret[16])
{
	uint32_t count = 0;
	const struct xml_namespace *outer = n->parent ? n->parent->scope : NULL;
	for (const struct xml_namespace *s = n->scope; s && s != outer && count < 16; s = s->next) {
		memmove(ret + 1, ret, count * sizeof *ret);
		ret[0] = s;
		count++;
	}
	return count;
}

static int put_node(struct tree *x, const struct xml_node *n, bool root)
{
	const struct xml_namespace *spaces[16];
	uint32_t space_count = own_namespaces(n, spaces), attrs = space_count, i = 0;
	for (const struct xml_attr *a = n->attrs; a; a = a->next) {
		attrs++;
	}
	uint32_t size = element_begin(x, n->prefix, n->name, attrs > 0);
	if (attrs) {
		uint32_t at = mc_here(x->r);
		mc_put32(x->r, 0);
		for (uint32_t k = 0; k < space_count; k++) {
			bool named = *spaces[k]->prefix;
			attribute(x, named ? "xmlns" : "", named ? spaces[k]->prefix : "xmlns", spaces[k]->uri,
				  ++i == attrs);
		}
		for (const struct xml_attr *a = n->attrs; a; a = a->next) {
			attribute(x, a->prefix, a->name, a->value, ++i == attrs);
		}
		mc_fix32(x->r, at, mc_here(x->r) - at - 4);
	}
	mc_put8(x->r, CLOSE_START);
	int err = 0;
	bool text = !blank(n->text);
	if (!n->children && !text) {
		mc_put8(x->r, END_ELEMENT);
		mc_fix32(x->r, size, mc_here(x->r) - size - 4);
		strbuf_adds(&x->text, " />");
		return 0;
	}
	strbuf_adds(&x->text, ">");
	if (n->children && text) {
		return refuse(x, n, "an element has both text and elements");
	}
	if (text) {
		put_escaped(&x->text, n->text, false);
		err = put_text(x, n);
	}
	/* The hashed text is set like this, however the manifest is [obs, deeper levels asm]. */
	for (const struct xml_node *c = n->children; c && err == 0; c = c->next) {
		strbuf_adds(&x->text, root ? "\r\n\t\t" : "");
		err = put_node(x, c, false);
	}
	bool spread = n->children && n->children->line != n->line;
	strbuf_adds(&x->text, root && spread ? "\r\n\t" : "");
	element_end(x, size, n->prefix, n->name);
	return err;
}

/* ---- templates -------------------------------------------------------------------------------- */

/* As a name-based UUID, made of the text in UTF-16 and the types as 32-bit numbers. */
static void put_id(struct tree *x, uint32_t at)
{
	struct strbuf name = {0};
	struct mc_resource r = {.out = &name};
	uint8_t hash[32];
	strbuf_add(&name, "MS-WEVT", 8);
	mc_put_wide(&r, x->text.s ? x->text.s : "");
	for (const struct manifest_item *it = x->t->items; it; it = it->next) {
		mc_put32(&r, type_of(it));
	}
	x->r->out->failed |= name.failed || x->text.failed;
	if (!x->r->out->failed) {
		mc_sha256(name.s, name.len, hash);
		hash[7] = (hash[7] & 0x0F) | 0x50;
		memcpy(x->r->out->s + at, hash, 16);
	}
	strbuf_finish(&name);
}

static uint32_t index_in(const struct manifest_item *first, const struct manifest_item *wanted, bool *ret_found)
{
	uint32_t i = 0;
	for (const struct manifest_item *it = first; it; it = it->next, i++) {
		if (it == wanted) {
			*ret_found = true;
			return i;
		}
	}
	*ret_found = false;
	return i;
}

/* The index of a field that holds a count or length: of the same struct, else of the top. */
static uint16_t reference(const struct manifest_template *t, const struct manifest_item *members, uint32_t members_at,
			  const struct manifest_item *wanted)
{
	bool found = false;
	uint32_t i = members ? index_in(members, wanted, &found) + members_at : 0;
	return (uint16_t)(found ? i : index_in(t->items, wanted, &found));
}

/* 20 bytes: flags; types and map, or first member and their number; count; length; name. */
static void put_field(struct tree *x, const struct manifest_item *it, const struct manifest_item *members,
		      uint32_t members_at, uint32_t *first)
{
	struct mc_resource *r = x->r;
	bool sid = it->in_type == TDH_INTYPE_SID && !it->is_struct;
	bool fixed_length = it->length > 0 && !it->length_of;
	uint32_t flags = (it->is_struct ? 1u : 0) | (fixed_length && !sid ? 2u : 0) | (it->length_of ? 4u : 0) |
			 (it->count_of    ? 0x10u
			  : it->count > 0 ? 8u
					  : 0);
	mc_put32(r, flags);
	if (it->is_struct) {
		mc_put16(r, (uint16_t)*first);
		mc_put16(r, (uint16_t)it->member_count);
		mc_put32(r, 0);
		*first += it->member_count;
	} else {
		mc_put8(r, (uint8_t)it->in_type);
		mc_put8(r, (uint8_t)it->out_type);
		mc_put16(r, 0);
		mc_put32(r, mc_find(r, it->map));
	}
	mc_put16(r, it->count_of ? reference(x->t, members, members_at, it->count_of) : it->count);
	mc_put16(r, it->length_of ? reference(x->t, members, members_at, it->length_of) : it->length);
	mc_put32(r, 0); /* the name's offset comes with the names */
}

static void put_field_name(struct tree *x, uint32_t rows, uint32_t i, const char *name)
{
	mc_fix32(x->r, rows + 20 * i + 16, mc_here(x->r));
	mc_put_name(x->r, name);
}

static void put_fields(struct tree *x)
{
	const struct manifest_template *t = x->t;
	uint32_t rows = mc_here(x->r), first = t->item_count, at = t->item_count, i = 0;
	for (const struct manifest_item *it = t->items; it; it = it->next) {
		put_field(x, it, NULL, 0, &first);
	}
	for (const struct manifest_item *it = t->items; it; it = it->next) {
		for (const struct manifest_item *m = it->members; m; m = m->next) {
			put_field(x, m, it->members, at, &first);
		}
		at += it->is_struct ? it->member_count : 0;
	}
	for (const struct manifest_item *it = t->items; it; it = it->next) {
		put_field_name(x, rows, i++, it->name);
	}
	for (const struct manifest_item *it = t->items; it; it = it->next) {
		for (const struct manifest_item *m = it->members; m; m = m->next) {
			put_field_name(x, rows, i++, m->name);
		}
	}
}

static void put_template(struct mc_resource *r, const struct manifest_template *t)
{
	const struct xml_node *user = t->user_data;
	struct tree x = {.r = r, .t = t};
	uint32_t at = mc_here(r), all = t->item_count;
	for (const struct manifest_item *it = t->items; it; it = it->next) {
		all += it->is_struct ? it->member_count : 0;
	}
	mc_note(r, t);
	strbuf_add(r->out, "TEMP", 4);
	mc_put32(r, 0);
	mc_put32(r, t->item_count);
	mc_put32(r, all);
	mc_put32(r, 0); /* fields */
	mc_put32(r, user ? 2 : 1);
	mc_put_guid(r, &GUID_ZERO);
	mc_put8(r, FRAGMENT);
	mc_put8(r, SPEC_VERSION);
	mc_put8(r, SPEC_VERSION);
	mc_put8(r, 0);
	if (!user) {
		put_event_data(&x);
	} else if (!user->children || user->children->next) {
		r->err = r->err ? r->err : refuse(&x, user, "it needs one element");
	} else {
		int err = put_node(&x, user->children, true);
		r->err = r->err ? r->err : err;
	}
	mc_put8(r, END_OF_FRAGMENT);
	mc_align(r, at, 4);
	mc_fix32(r, at + 16, mc_here(r));
	put_id(&x, at + 24);
	put_fields(&x);
	mc_fix32(r, at + 4, mc_here(r) - at);
	strbuf_finish(&x.text);
}

void mc_put_templates(struct mc_resource *r, const struct manifest_provider *p)
{
	uint32_t at = mc_here(r), count = 0;
	strbuf_add(r->out, "TTBL", 4);
	mc_put32(r, 0);
	mc_put32(r, 0);
	for (const struct manifest_template *t = p->templates; t; t = t->next, count++) {
		put_template(r, t);
	}
	mc_fix32(r, at + 4, mc_here(r) - at);
	mc_fix32(r, at + 8, count);
}
