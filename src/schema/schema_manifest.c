/* SPDX-License-Identifier: MIT
 *
 * A declared event becomes a schema_event: the tree of items is laid out flat, top-level items
 * first, then the members of each struct together, and references to items become indices.
 */
#include "schema/schema_manifest.h"

#include "schema/schema_build.h"

static struct schema_str text(struct schema_build *b, const char *s)
{
	return s ? schema_build_utf8(b, s, strlen(s)) : (struct schema_str){0, 0};
}

static bool item_reference(struct schema_build *b, uint32_t self, const struct manifest_item *to, uint16_t *ret)
{
	if (to->index >= self || to->is_struct) {
		return false;
	}
	b->fields[to->index].captured = true;
	*ret = (uint16_t)to->index;
	return true;
}

/* One item as field; its members come later. */
static int add_item(struct schema_build *b, struct manifest_item *it)
{
	struct schema_field *f = schema_build_field(b);
	if (!f) {
		return -ENOMEM;
	}
	uint32_t self = b->field_count - 1;
	it->index = self;
	f->in_type = it->is_struct ? 0 : it->in_type;
	f->out_type = it->is_struct ? 0 : it->out_type;
	f->tags = it->tags;
	f->flags = (it->is_struct ? PropertyStruct : 0) | (it->tags ? PropertyHasTags : 0);
	f->optional = it->optional;
	f->to_end = it->to_end;
	if (it->count_of) {
		f->flags |= PropertyParamCount;
		if (!item_reference(b, self, it->count_of, &f->count)) {
			return -EBADMSG;
		}
	} else if (it->has_count) {
		f->flags |= PropertyParamFixedCount;
		f->count = it->count;
	}
	if (it->length_of) {
		f->flags |= PropertyParamLength;
		if (!item_reference(b, self, it->length_of, &f->length)) {
			return -EBADMSG;
		}
	} else if (it->has_length) {
		f->flags |= PropertyParamFixedLength;
		f->length = it->length;
	}
	f->map = text(b, it->map_name);
	schema_build_name(b, f, text(b, it->name), NULL);
	return b->failed ? -ENOMEM : 0;
}

static int add_items(struct schema_build *b, struct manifest_item *first)
{
	for (struct manifest_item *it = first; it; it = it->next) {
		int err = add_item(b, it);
		if (err < 0) {
			return err;
		}
	}
	return 0;
}

/* Members of the structs in a list, then of theirs; the depth is bounded by the readers. */
static int add_members(struct schema_build *b, struct manifest_item *first)
{
	int err = 0;
	for (struct manifest_item *it = first; it && err == 0; it = it->next) {
		if (!it->is_struct) {
			continue;
		}
		b->fields[it->index].first_member = (uint16_t)b->field_count;
		b->fields[it->index].member_count = (uint16_t)it->member_count;
		err = add_items(b, it->members);
		if (err == 0) {
			err = add_members(b, it->members);
		}
	}
	return err;
}

/* Names, each terminated, and one more NUL. */
static struct schema_str keyword_names(struct schema_build *b, const struct manifest_provider *p, uint64_t mask)
{
	struct openetw_text t = {0};
	for (unsigned bit = 0; bit < 64 && mask; bit++) {
		const struct manifest_name *n =
			mask >> bit & 1 ? manifest_find_value(p, MANIFEST_KEYWORD, 1ull << bit, NULL) : NULL;
		if (n) {
			out_add(&t, n->text, strlen(n->text) + 1);
		}
	}
	struct schema_str s = {0, 0};
	if (t.failed) {
		b->failed = true;
	} else if (t.length) {
		s = schema_build_bytes(b, t.data, t.length);
	}
	openetw_text_free(&t);
	return s;
}

static const char *name_text(const struct manifest_name *n)
{
	return n ? n->text : NULL;
}

static void fill_head(struct schema_build *b, const struct manifest_provider *p, const struct manifest_event *e)
{
	struct schema_event *h = &b->head;
	le16_put(h->descriptor, e->id);
	h->descriptor[2] = e->version;
	h->descriptor[3] = e->channel;
	h->descriptor[4] = e->level;
	h->descriptor[5] = e->opcode;
	le16_put(h->descriptor + 6, e->task);
	le64_put(h->descriptor + 8, e->keyword);
	h->provider = p->guid;
	h->better = e->better;
	h->flags = 1 | e->tags << 4; /* TEMPLATE_EVENT_DATA */
	if (e->template && e->template->has_user_data) {
		h->flags = 2 | e->tags << 4;
	}
	if (!guid_is_zero(&p->control_guid)) {
		h->event_guid = p->control_guid;
		h->flags |= 4;
	} else if (e->task_of) {
		h->event_guid = e->task_of->event_guid;
	}
	h->provider_name = text(b, p->name);
	h->provider_message = text(b, p->message);
	h->event_name = text(b, e->name);
	h->task_name = text(b, name_text(e->task_of));
	h->opcode_name = text(b, name_text(e->opcode_of));
	h->level_name = text(b, name_text(e->level_of));
	h->channel_name = text(b, name_text(e->channel_of));
	h->keywords = keyword_names(b, p, e->keyword);
	h->message = text(b, e->text);
	h->attributes = text(b, e->attributes);
}

int schema_manifest_event(const struct manifest_provider *p, const struct manifest_event *e, enum schema_source source,
			  struct schema_event **ret)
{
	struct schema_build b;
	schema_build_init(&b);
	b.head.source = source;
	fill_head(&b, p, e);
	if (source == SCHEMA_SOURCE_WBEM) {
		b.head.event_guid = p->guid;
		b.head.flags = 0;
	}
	int err = 0;
	if (e->template) {
		err = add_items(&b, e->template->items);
		b.head.top_count = b.field_count;
		if (err == 0) {
			err = add_members(&b, e->template->items);
		}
	}
	if (err == 0) {
		err = schema_build_seal(&b, NULL, 0, ret);
	}
	schema_build_finish(&b);
	return err;
}

/* ---- maps ------------------------------------------------------------------------------------- */

static void add_wide(struct openetw_text *o, const char *s, bool space)
{
	size_t n = strlen(s);
	char *to = out_room(o, 2 * n + 4);
	if (!to) {
		return;
	}
	long units = utf8_to_utf16(s, n, (uint16_t *)(void *)to, n + 1);
	size_t used = units > 0 ? 2 * (size_t)units : 0;
	if (space) {
		le16_put(to + used, ' ');
		used += 2;
	}
	le16_put(to + used, 0);
	out_used(o, used + 2);
}

void schema_manifest_map(const struct manifest_map *m, struct openetw_text *o)
{
	size_t start = o->length;
	size_t fixed = 16 + 8 * (size_t)m->entry_count + 12 * (size_t)m->group_count;
	char *head = out_room(o, fixed);
	if (!head) {
		return;
	}
	memset(head, 0, fixed);
	out_used(o, fixed);
	le32_put(o->data + start, (uint32_t)fixed);
	le32_put(o->data + start + 4, m->bits ? 2 : 1);
	le32_put(o->data + start + 8, m->entry_count);
	add_wide(o, m->name, false);
	size_t at = start + 16;
	for (const struct manifest_map_entry *e = m->entries; e && !o->failed; e = e->next) {
		le32_put(o->data + at, (uint32_t)(o->length - start));
		le32_put(o->data + at + 4, e->value);
		add_wide(o, e->text, true);
		at += 8;
	}
	for (const struct manifest_map_entry *e = m->groups; e && !o->failed; e = e->next) {
		le32_put(o->data + at, (uint32_t)(o->length - start));
		le32_put(o->data + at + 4, e->value);
		le32_put(o->data + at + 8, e->mask);
		add_wide(o, e->text, true);
		at += 12;
	}
}
