/* SPDX-License-Identifier: MIT
 *
 * WEVT_TEMPLATE resources: a manifest as the message compiler leaves it in a binary. Little-endian,
 * offsets from the start of the resource. The layout is known from public research (libyal's
 * "Windows Event manifest binary format") and, for the fields it leaves open, from the likeness to
 * EVENT_PROPERTY_INFO [asm].
 *
 *   CRIM  u32 size, u16 3, u16 1, u32 count; { guid, u32 offset }[count]
 *   WEVT  u32 size, u32 message, u32 elements, u32 n; { u32 offset, u32 }[elements]
 *   CHAN  { u32 id, u32 name, u32 value, u32 message }      KEYW  { u64 mask, u32 message, u32 name }
 *   LEVL  { u32 id, u32 message, u32 name }                 OPCO  the same; id is opcode << 16 | task
 *   TASK  { u32 id, u32 message, guid, u32 name }           MAPS  u32 offset[count - 1], VMAP or BMAP
 *   EVNT  u32; 48 bytes each                                TTBL  TEMP: 40 bytes, binary XML, items
 *   names u32 size with itself, UTF-16
 */
#include "manifest/manifest.h"

struct crim {
	const uint8_t *p;
	size_t n;
	struct arena *arena;
	struct diag *diag;
	manifest_message_fn messages;
	void *messages_ctx;
	struct manifest_provider *provider;
	uint32_t budget; /* table rows and names still allowed: tables may overlap */
};

static int bad(struct crim *c, uint64_t at, const char *what)
{
	if (c->arena->failed) {
		return -ENOMEM;
	}
	diag_at(c->diag, at, "event resource: %s", what);
	return -EBADMSG;
}

/* `bytes` at `at`, or NULL. */
static const uint8_t *at(const struct crim *c, uint32_t offset, size_t bytes)
{
	return offset <= c->n && c->n - offset >= bytes ? c->p + offset : NULL;
}

static bool is(const uint8_t *p, const char *signature)
{
	return memcmp(p, signature, 4) == 0;
}

/* A table: signature, size, count, then rows behind `head` bytes. */
static int table(struct crim *c, uint32_t offset, uint32_t head, uint32_t row, uint32_t *ret_count, const uint8_t **ret)
{
	const uint8_t *p = at(c, offset, head);
	if (!p) {
		return bad(c, offset, "a table lies outside");
	}
	uint32_t count = le32_get(p + 8);
	if (count > (c->n - offset - head) / row || count > c->budget) {
		return bad(c, offset + 8, "a table is longer than the resource");
	}
	c->budget -= count;
	*ret_count = count;
	*ret = p + head;
	return 0;
}

static const char *name_at(struct crim *c, uint32_t offset)
{
	const uint8_t *p = offset ? at(c, offset, 4) : NULL;
	uint32_t bytes = p ? le32_get(p) : 0;
	if (bytes < 4 || !at(c, offset, bytes) || bytes > 0x10000) {
		return "";
	}
	size_t units = (bytes - 4) / 2;
	while (units && le16_get(p + 4 + 2 * (units - 1)) == 0) {
		units--;
	}
	long need = utf16_to_utf8_lossy(p + 4, units, NULL, 0);
	char *s = need >= 0 ? arena_alloc(c->arena, (size_t)need + 1) : NULL;
	if (!s) {
		return "";
	}
	utf16_to_utf8_lossy(p + 4, units, s, (size_t)need + 1);
	return s;
}

static const char *message(struct crim *c, uint32_t id)
{
	const char *s = id != UINT32_MAX && c->messages ? c->messages(c->messages_ctx, id) : NULL;
	size_t n = s ? strlen(s) : 0;
	while (n && (s[n - 1] == '\n' || s[n - 1] == '\r')) {
		n--;
	}
	return s ? arena_text(c->arena, s, n) : NULL;
}

/* ---- names ------------------------------------------------------------------------------------ */

static struct manifest_name *add(struct crim *c, enum manifest_kind kind, uint64_t value, uint32_t name,
				 uint32_t message_id)
{
	struct manifest_name *n = ARENA_NEW(c->arena, struct manifest_name);
	if (!n) {
		return NULL;
	}
	n->name = name_at(c, name);
	n->message = message(c, message_id);
	const struct manifest_name *known = manifest_predefined_by_name(kind, n->name);
	n->text = n->message ? n->message : known ? known->text : n->name;
	n->value = value;
	n->next = c->provider->names[kind];
	c->provider->names[kind] = n;
	return n;
}

static int read_channels(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 16, &count, &p);
	for (uint32_t i = 0; i < count && err == 0; i++, p += 16) {
		struct manifest_name *n = add(c, MANIFEST_CHANNEL, le32_get(p + 8), le32_get(p + 4), le32_get(p + 12));
		err = n ? 0 : -ENOMEM;
		/* `value` is what events say where it is set. */
		if (n && n->value == 0) {
			n->value = le32_get(p);
		}
	}
	return err;
}

static int read_keywords(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 16, &count, &p);
	for (uint32_t i = 0; i < count && err == 0; i++, p += 16) {
		err = add(c, MANIFEST_KEYWORD, le64_get(p), le32_get(p + 12), le32_get(p + 8)) ? 0 : -ENOMEM;
	}
	return err;
}

static int read_levels(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 12, &count, &p);
	for (uint32_t i = 0; i < count && err == 0; i++, p += 12) {
		err = add(c, MANIFEST_LEVEL, le32_get(p), le32_get(p + 8), le32_get(p + 4)) ? 0 : -ENOMEM;
	}
	return err;
}

static int read_tasks(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 28, &count, &p);
	for (uint32_t i = 0; i < count && err == 0; i++, p += 28) {
		struct manifest_name *n = add(c, MANIFEST_TASK, le32_get(p), le32_get(p + 24), le32_get(p + 4));
		err = n ? 0 : -ENOMEM;
		if (n) {
			memcpy(n->event_guid.b, p + 8, 16);
		}
	}
	return err;
}

static int read_opcodes(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 12, &count, &p);
	for (uint32_t i = 0; i < count && err == 0; i++, p += 12) {
		uint32_t id = le32_get(p);
		struct manifest_name *n = add(c, MANIFEST_OPCODE, id >> 16, le32_get(p + 8), le32_get(p + 4));
		err = n ? 0 : -ENOMEM;
		if (n && (id & 0xFFFF)) {
			n->task = manifest_find_value(c->provider, MANIFEST_TASK, id & 0xFFFF, NULL);
		}
	}
	return err;
}

/* ---- maps ------------------------------------------------------------------------------------- */

/* Tag, size, name, 1 for bits, number of entries; then value and message of each [obs: resources of
 * Windows' compiler]. */
static int read_map(struct crim *c, uint32_t offset)
{
	const uint8_t *p = at(c, offset, 20);
	if (!p || (!is(p, "VMAP") && !is(p, "BMAP"))) {
		return bad(c, offset, "a map is expected");
	}
	struct manifest_map *m = ARENA_NEW(c->arena, struct manifest_map);
	if (!m) {
		return -ENOMEM;
	}
	uint32_t count = le32_get(p + 16);
	if (count > (c->n - offset - 20) / 8 || count > c->budget) {
		return bad(c, offset + 16, "a map is longer than the resource");
	}
	c->budget -= count;
	m->name = name_at(c, le32_get(p + 8));
	m->bits = p[0] == 'B';
	const uint8_t *row = p + 20;
	struct manifest_map_entry **tail = &m->entries;
	for (uint32_t i = 0; i < count; i++, row += 8) {
		struct manifest_map_entry *e = ARENA_NEW(c->arena, struct manifest_map_entry);
		if (!e) {
			return -ENOMEM;
		}
		e->value = le32_get(row);
		e->message = message(c, le32_get(row + 4));
		if (!e->message) {
			continue; /* without its text an entry says nothing */
		}
		e->text = e->message;
		*tail = e;
		tail = &e->next;
		m->entry_count++;
	}
	m->next = c->provider->maps;
	c->provider->maps = m;
	return 0;
}

static int read_maps(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 4, &count, &p);
	for (uint32_t i = 0; i < count && err == 0; i++, p += 4) {
		err = read_map(c, le32_get(p));
	}
	return err;
}

static const struct manifest_map *map_named(const struct crim *c, const char *name)
{
	const struct manifest_map *m = c->provider->maps;
	while (m && strcmp(m->name, name) != 0) {
		m = m->next;
	}
	return m;
}

/* ---- templates -------------------------------------------------------------------------------- */

/* Flags of an item, which are not those that TDH shows. [obs: resources of Windows' compiler] */
#define ITEM_STRUCT       0x01u
#define ITEM_FIXED_LENGTH 0x02u
#define ITEM_LENGTH_OF    0x04u
#define ITEM_FIXED_COUNT  0x08u
#define ITEM_COUNT_OF     0x10u

/* The row of an item: u32 flags; u8 in, u8 out, u16, u32 map | u16 first, u16 members, u32; u16
 * count, u16 length, u32 name. */
struct items {
	struct manifest_item **all;
	uint32_t count;
};

static int fill_item(struct crim *c, struct items *l, uint32_t i, const uint8_t *p)
{
	struct manifest_item *it = l->all[i];
	uint32_t flags = le32_get(p);
	it->name = name_at(c, le32_get(p + 16));
	uint16_t count = le16_get(p + 12), length = le16_get(p + 14);
	if (flags & ITEM_COUNT_OF) {
		if (count >= l->count) {
			return bad(c, (uint64_t)(p - c->p), "a count refers to no field");
		}
		it->count_of = l->all[count];
	} else if (flags & ITEM_FIXED_COUNT) {
		it->has_count = true;
		it->count = count;
	}
	if (flags & ITEM_STRUCT) {
		uint16_t first = le16_get(p + 4), members = le16_get(p + 6);
		if (first <= i || (uint32_t)first + members > l->count) {
			return bad(c, (uint64_t)(p - c->p), "a struct has no such members");
		}
		it->is_struct = true;
		it->member_count = members;
		it->index = first;
		return 0;
	}
	it->in_type = p[4];
	it->out_type = p[5] ? p[5] : manifest_out_default(p[4]);
	bool sized = it->in_type == TDH_INTYPE_UNICODESTRING || it->in_type == TDH_INTYPE_ANSISTRING ||
		     it->in_type == TDH_INTYPE_BINARY;
	if (flags & ITEM_LENGTH_OF) {
		if (length >= l->count) {
			return bad(c, (uint64_t)(p - c->p), "a length refers to no field");
		}
		it->length_of = l->all[length];
	} else if (sized && (flags & ITEM_FIXED_LENGTH)) {
		it->has_length = true;
		it->length = length;
	}
	if (le32_get(p + 8)) {
		const char *name = name_at(c, le32_get(p + 8));
		/* The offset leads to the map itself or to its name: both have been described. */
		const uint8_t *m = at(c, le32_get(p + 8), 12);
		if (m && (is(m, "VMAP") || is(m, "BMAP"))) {
			name = name_at(c, le32_get(m + 8));
		}
		it->map = *name ? map_named(c, name) : NULL;
		it->map_name = it->map ? it->map->name : NULL;
	}
	return 0;
}

/* The flat list becomes the tree: what belongs to a struct leaves the top level. */
static void link_items(struct items *l, uint32_t top, struct manifest_template *t)
{
	struct manifest_item **tail = &t->items;
	for (uint32_t i = 0; i < top; i++) {
		*tail = l->all[i];
		tail = &l->all[i]->next;
		t->item_count++;
	}
	for (uint32_t i = 0; i < top; i++) {
		struct manifest_item *it = l->all[i];
		if (!it->is_struct) {
			continue;
		}
		struct manifest_item **member = &it->members;
		for (uint32_t k = 0; k < it->member_count; k++) {
			*member = l->all[it->index + k];
			member = &l->all[it->index + k]->next;
		}
	}
}

static int read_template(struct crim *c, uint32_t offset, struct manifest_template **ret)
{
	const uint8_t *p = at(c, offset, 40);
	struct manifest_template *t = ARENA_NEW(c->arena, struct manifest_template);
	if (!t) {
		return -ENOMEM;
	}
	if (!p || !is(p, "TEMP")) {
		return bad(c, offset, "a template is expected");
	}
	uint32_t count = le32_get(p + 12), top = le32_get(p + 8), items = le32_get(p + 16);
	t->tid = "";
	t->has_user_data = le32_get(p + 20) == 2;
	if (count < top) {
		count = top;
	}
	if (count > MANIFEST_FIELDS_MAX || count > c->budget) {
		return bad(c, offset + 12, "too many fields");
	}
	c->budget -= count;
	const uint8_t *rows = count ? at(c, items, 20 * (size_t)count) : p;
	struct items l = {.count = count};
	l.all = arena_alloc(c->arena, (count + 1) * sizeof *l.all);
	if (!rows || !l.all) {
		return l.all ? bad(c, offset + 16, "the fields lie outside") : -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		l.all[i] = ARENA_NEW(c->arena, struct manifest_item);
		if (!l.all[i]) {
			return -ENOMEM;
		}
	}
	/* Members come after the top level. They belong to one struct each and hold no structs. */
	uint32_t next = top;
	for (uint32_t i = 0; i < count; i++) {
		int err = fill_item(c, &l, i, rows + 20 * (size_t)i);
		if (err < 0) {
			return err;
		}
		struct manifest_item *it = l.all[i];
		if (it->is_struct && (i >= top || it->index != next)) {
			return bad(c, items, "structs overlap");
		}
		next += it->is_struct ? it->member_count : 0;
	}
	link_items(&l, top, t);
	*ret = t;
	return 0;
}

/* ---- events ----------------------------------------------------------------------------------- */

/* Many events share a template; the list is searched backwards from the newest. */
struct known_template {
	struct known_template *next;
	uint32_t offset;
	struct manifest_template *template;
};
#define TEMPLATE_BUCKETS 256u

static int find_template(struct crim *c, struct known_template **known, uint32_t offset,
			 const struct manifest_template **ret)
{
	struct known_template **bucket = &known[(offset >> 2) % TEMPLATE_BUCKETS];
	for (const struct known_template *k = *bucket; k; k = k->next) {
		if (k->offset == offset) {
			*ret = k->template;
			return 0;
		}
	}
	struct known_template *k = ARENA_NEW(c->arena, struct known_template);
	if (!k) {
		return -ENOMEM;
	}
	int err = read_template(c, offset, &k->template);
	if (err < 0) {
		return err;
	}
	k->offset = offset;
	k->next = *bucket;
	*bucket = k;
	k->template->next = c->provider->templates;
	c->provider->templates = k->template;
	*ret = k->template;
	return 0;
}

static int read_events(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	struct manifest_provider *q = c->provider;
	struct known_template *known[TEMPLATE_BUCKETS] = {NULL};
	int err = table(c, offset, 16, 48, &count, &p);
	struct manifest_event **tail = &q->events;
	for (uint32_t i = 0; i < count && err == 0; i++, p += 48) {
		struct manifest_event *e = ARENA_NEW(c->arena, struct manifest_event);
		if (!e) {
			return -ENOMEM;
		}
		e->id = le16_get(p);
		e->version = p[2];
		e->channel = p[3];
		e->level = p[4];
		e->opcode = p[5];
		e->task = le16_get(p + 6);
		e->keyword = le64_get(p + 8);
		e->text = message(c, le32_get(p + 16));
		e->level_of = manifest_find_value(q, MANIFEST_LEVEL, e->level, NULL);
		e->task_of = e->task ? manifest_find_value(q, MANIFEST_TASK, e->task, NULL) : NULL;
		e->opcode_of = manifest_find_value(q, MANIFEST_OPCODE, e->opcode, e->task_of);
		e->channel_of = e->channel ? manifest_find_value(q, MANIFEST_CHANNEL, e->channel, NULL) : NULL;
		if (le32_get(p + 20)) {
			err = find_template(c, known, le32_get(p + 20), &e->template);
		}
		*tail = e;
		tail = &e->next;
		q->event_count++;
	}
	return err;
}

/* ---- providers -------------------------------------------------------------------------------- */

static const char *wide_at(struct crim *c, uint32_t offset)
{
	size_t units = 0;
	while (units < 0x8000 && at(c, offset + 2 * (uint32_t)units, 2) && le16_get(c->p + offset + 2 * units)) {
		units++;
	}
	const uint8_t *p = at(c, offset, 2 * units);
	long need = p ? utf16_to_utf8_lossy(p, units, NULL, 0) : -1;
	char *s = need > 0 ? arena_alloc(c->arena, (size_t)need + 1) : NULL;
	if (s) {
		utf16_to_utf8_lossy(p, units, s, (size_t)need + 1);
	}
	return s;
}

/* Newer resources say the provider's name. */
static int read_attributes(struct crim *c, uint32_t offset)
{
	uint32_t count;
	const uint8_t *p;
	int err = table(c, offset, 12, 8, &count, &p);
	bool named = false; /* one look at a text: rows may all point to a long one */
	for (uint32_t i = 0; i < count && err == 0; i++, p += 8) {
		uint32_t kind = le32_get(p), value = le32_get(p + 4);
		struct guid *guid = kind == 0x20000001   ? &c->provider->control_guid
				    : kind == 0x20000002 ? &c->provider->group_guid
							 : NULL;
		const uint8_t *bytes = guid ? at(c, value, 16) : NULL;
		const char *name = kind == 0x10000001 && !named ? wide_at(c, value) : NULL;
		named = named || kind == 0x10000001;
		c->provider->name = name ? name : c->provider->name;
		if (bytes) {
			memcpy(guid->b, bytes, 16);
		}
	}
	return err;
}

static int read_elements(struct crim *c, const uint8_t *p, uint32_t count)
{
	/* Later kinds refer to earlier ones. */
	static const struct {
		const char *signature;
		int (*read)(struct crim *c, uint32_t offset);
	} kinds[] = {
		{"PRVA", read_attributes}, {"CHAN", read_channels}, {"KEYW", read_keywords}, {"LEVL", read_levels},
		{"TASK", read_tasks},      {"OPCO", read_opcodes},  {"MAPS", read_maps},     {"EVNT", read_events},
	};
	int err = 0;
	for (size_t k = 0; k < BASE_ARRAY_LEN(kinds); k++) {
		for (uint32_t i = 0; i < count && err == 0; i++) {
			uint32_t offset = le32_get(p + 8 * (size_t)i);
			const uint8_t *e = at(c, offset, 12);
			if (e && is(e, kinds[k].signature)) {
				err = kinds[k].read(c, offset);
				break;
			}
		}
	}
	return err;
}

static int read_provider(struct crim *c, const uint8_t *row, struct manifest_provider ***tail)
{
	uint32_t offset = le32_get(row + 16);
	const uint8_t *p = at(c, offset, 20);
	struct manifest_provider *q = ARENA_NEW(c->arena, struct manifest_provider);
	if (!q) {
		return -ENOMEM;
	}
	if (!p || !is(p, "WEVT")) {
		return bad(c, offset, "a provider is expected");
	}
	uint32_t count = le32_get(p + 12);
	if (count > 64 || !at(c, offset, 20 + 8 * (size_t)count)) {
		return bad(c, offset + 12, "a provider has too many parts");
	}
	c->provider = q;
	memcpy(q->guid.b, row, 16);
	q->message = message(c, le32_get(p + 8));
	/* Older resources do not hold the name; the provider's message usually is it. */
	q->name = q->message ? q->message : "";
	int err = read_elements(c, p + 20, count);
	**tail = q;
	*tail = &q->next;
	return err;
}

int manifest_read_binary(const void *p, size_t n, manifest_message_fn messages, void *ctx, struct manifest *ret,
			 struct diag *d)
{
	manifest_init(ret);
	struct crim c = {.p = p,
			 .n = n,
			 .arena = &ret->arena,
			 .diag = d,
			 .messages = messages,
			 .messages_ctx = ctx,
			 .budget = (uint32_t)BASE_MIN(n / 4, 400000u) + 16};
	int err = 0;
	if (n < 16 || n > UINT32_MAX || !is(p, "CRIM")) {
		err = bad(&c, 0, "this is not one");
	}
	uint32_t count = err == 0 ? le32_get(c.p + 12) : 0;
	if (err == 0 && (count > (n - 16) / 20 || count > 1000)) {
		err = bad(&c, 12, "too many providers");
	}
	struct manifest_provider **tail = &ret->providers;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		err = read_provider(&c, c.p + 16 + 20 * (size_t)i, &tail);
	}
	if (ret->arena.failed) {
		err = -ENOMEM;
	}
	if (err < 0) {
		manifest_finish(ret);
	}
	return err;
}
