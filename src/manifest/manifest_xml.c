/* SPDX-License-Identifier: MIT
 *
 * Instrumentation manifests: the document, its providers, what they name, their events.
 */
#include "manifest/manifest_xml.h"

#include <stdlib.h>

#define KEYWORD_CLASSIC (1ull << 55) /* win:EventlogClassic */

#define WIN_URI "http://manifests.microsoft.com/win/2004/08/windows/events"

int manifest_xml_bad(struct manifest_xml *x, uint32_t line, uint32_t column, const char *what, const char *arg)
{
	if (x->arena->failed) {
		return -ENOMEM;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	diag_at(x->diag, UINT64_MAX, what, arg);
#pragma GCC diagnostic pop
	if (x->diag && x->diag->line == 0) {
		x->diag->line = line;
		x->diag->column = column;
	}
	return -EBADMSG;
}

const char *manifest_xml_copy(struct manifest_xml *x, const struct xml_node *n, const char *name)
{
	const char *v = xml_value(n, name);
	return v ? arena_text(x->arena, v, strlen(v)) : NULL;
}

int manifest_xml_number(struct manifest_xml *x, const struct xml_node *n, const char *name, uint64_t most,
			uint64_t otherwise, uint64_t *ret)
{
	const struct xml_attr *a = xml_attr(n, name);
	if (!a) {
		*ret = otherwise;
		return 0;
	}
	char *end;
	errno = 0;
	/* "010" is ten. */
	bool hex = a->value[0] == '0' && (a->value[1] | 32) == 'x';
	unsigned long long v = strtoull(a->value, &end, hex ? 16 : 10);
	if (a->value[0] < '0' || a->value[0] > '9' || *end || errno || v > most) {
		return manifest_xml_bad(x, a->line, a->column, "'%s' is not a number that fits", a->value);
	}
	*ret = v;
	return 0;
}

/* "w:Start" with w bound to the system's namespace becomes "win:Start". */
static const char *qname(struct manifest_xml *x, const struct xml_node *n, const char *name)
{
	const char *colon = strchr(name, ':');
	const char *uri = colon ? xml_prefix_uri(n, name, (size_t)(colon - name)) : NULL;
	if (!uri || strcmp(uri, WIN_URI) != 0 || strncmp(name, "win:", 4) == 0) {
		return name;
	}
	size_t k = strlen(colon);
	char *s = arena_alloc(x->arena, k + 4);
	if (s) {
		memcpy(s, "win", 3);
		memcpy(s + 3, colon, k);
	}
	return s ? s : name;
}

static bool is_true(const char *value)
{
	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

/* ---- names ------------------------------------------------------------------------------------ */

static const struct {
	const char *list, *element, *value;
	uint64_t most;
} kinds[MANIFEST_KIND_COUNT] = {
	[MANIFEST_LEVEL] = {"levels", "level", "value", 255},
	[MANIFEST_TASK] = {"tasks", "task", "value", 65535},
	[MANIFEST_OPCODE] = {"opcodes", "opcode", "value", 255},
	[MANIFEST_KEYWORD] = {"keywords", "keyword", "mask", UINT64_MAX},
	[MANIFEST_CHANNEL] = {"channels", "channel", "value", 255},
	[MANIFEST_FILTER] = {"filters", "filter", "value", 255},
};

static int read_message(struct manifest_xml *x, const struct xml_node *n, const char **ret_message,
			const char **ret_text)
{
	*ret_message = manifest_xml_copy(x, n, "message");
	*ret_text = *ret_message ? manifest_strings_text(x, *ret_message) : NULL;
	if (*ret_message && !*ret_text) {
		const struct xml_attr *a = xml_attr(n, "message");
		return manifest_xml_bad(x, a->line, a->column, "there is no string for '%s'", *ret_message);
	}
	return 0;
}

static int read_name(struct manifest_xml *x, const struct xml_node *n, enum manifest_kind kind,
		     struct manifest_name ***tail, struct manifest_name **ret)
{
	struct manifest_name *m = ARENA_NEW(x->arena, struct manifest_name);
	uint64_t version;
	if (!m) {
		return -ENOMEM;
	}
	if (++x->names > MANIFEST_NAMES_MAX) {
		return manifest_xml_bad(x, n->line, n->column, "too many names", "");
	}
	m->name = manifest_xml_copy(x, n, "name");
	if (!m->name) {
		return manifest_xml_bad(x, n->line, n->column, "this %s needs a name", kinds[kind].element);
	}
	m->name = qname(x, n, m->name);
	m->symbol = manifest_xml_copy(x, n, "symbol");
	m->pos = (struct manifest_pos){n->line, n->column};
	int err = manifest_xml_number(x, n, kinds[kind].value, kinds[kind].most, UINT64_MAX, &m->value);
	if (err == 0 && m->value == UINT64_MAX && !xml_attr(n, kinds[kind].value) && kind != MANIFEST_CHANNEL) {
		/* winmeta's names may be listed without their value */
		const struct manifest_name *known = manifest_predefined_by_name(kind, m->name);
		if (!known) {
			return manifest_xml_bad(x, n->line, n->column, "'%s' needs a value", m->name);
		}
		m->value = known->value;
	}
	if (err == 0) {
		err = read_message(x, n, &m->message, &m->text);
	}
	if (err == 0) {
		err = manifest_xml_number(x, n, "version", 255, 0, &version);
	}
	if (err < 0) {
		return err;
	}
	m->version = (uint8_t)version;
	const struct manifest_name *known = manifest_predefined_by_name(kind, m->name);
	m->text = m->text ? m->text : known ? known->text : m->name;
	**tail = m;
	*tail = &m->next;
	*ret = m;
	return 0;
}

/* From `first` on. */
static int read_opcodes(struct manifest_xml *x, const struct xml_node *first, const struct manifest_name *task,
			struct manifest_name ***tail)
{
	int err = 0;
	for (const struct xml_node *n = first; n && err == 0; n = xml_listed_next(n, "opcode")) {
		struct manifest_name *m;
		err = read_name(x, n, MANIFEST_OPCODE, tail, &m);
		if (err == 0) {
			m->task = task;
		}
	}
	return err;
}

static int read_tasks(struct manifest_xml *x, const struct xml_node *p, struct manifest_name ***opcodes)
{
	struct manifest_name **tail = &x->provider->names[MANIFEST_TASK];
	int err = 0;
	for (const struct xml_node *n = xml_listed(p, "tasks", "task"); n && err == 0; n = xml_listed_next(n, "task")) {
		struct manifest_name *m;
		err = read_name(x, n, MANIFEST_TASK, &tail, &m);
		const struct xml_attr *guid = xml_attr(n, "eventGUID");
		if (err == 0 && guid && guid_parse(guid->value, &m->event_guid) < 0) {
			err = manifest_xml_bad(x, guid->line, guid->column, "'%s' is no GUID", guid->value);
		}
		if (err == 0) {
			err = read_opcodes(x, xml_listed(n, "opcodes", "opcode"), m, opcodes);
		}
		/* Without a list around them, as older compilers took them, too. */
		for (const struct xml_node *o = xml_child(n, "opcode"); o && err == 0; o = xml_next(o, "opcode")) {
			struct manifest_name *own;
			err = read_name(x, o, MANIFEST_OPCODE, opcodes, &own);
			if (err == 0) {
				own->task = m;
			}
		}
	}
	return err;
}

static uint64_t imported_value(const char *name)
{
	const struct manifest_name *known = manifest_predefined_by_name(MANIFEST_CHANNEL, name);
	return known ? known->value : UINT64_MAX;
}

static bool channel_number_taken(const struct manifest_provider *p, uint64_t value)
{
	const struct manifest_name *m = p->names[MANIFEST_CHANNEL];
	while (m && m->value != value) {
		m = m->next;
	}
	return m != NULL;
}

/* Channels say their number or get the smallest from 16 on that nobody has. */
static int read_channels(struct manifest_xml *x, const struct xml_node *p)
{
	struct manifest_name **tail = &x->provider->names[MANIFEST_CHANNEL];
	int err = 0;
	for (const struct xml_node *n = xml_listed(p, "channels", NULL); n && err == 0; n = xml_listed_next(n, NULL)) {
		bool imported = strcmp(n->name, "importChannel") == 0;
		struct manifest_name *m;
		if (!imported && strcmp(n->name, "channel") != 0) {
			continue;
		}
		err = read_name(x, n, MANIFEST_CHANNEL, &tail, &m);
		if (err < 0) {
			break;
		}
		m->imported = imported;
		m->chid = manifest_xml_copy(x, n, "chid");
		m->channel_type = manifest_xml_copy(x, n, "type");
		m->enabled = is_true(xml_value(n, "enabled"));
		if (m->value == UINT64_MAX && imported) {
			m->value = imported_value(m->name);
		}
	}
	uint64_t next = 16;
	for (struct manifest_name *m = x->provider->names[MANIFEST_CHANNEL]; m; m = m->next) {
		if (m->value == UINT64_MAX) {
			while (channel_number_taken(x->provider, next)) {
				next++;
			}
			m->value = next;
		}
	}
	return err;
}

static int read_names(struct manifest_xml *x, const struct xml_node *p)
{
	struct manifest_name **opcodes = &x->provider->names[MANIFEST_OPCODE];
	int err = read_tasks(x, p, &opcodes);
	if (err == 0) {
		err = read_opcodes(x, xml_listed(p, "opcodes", "opcode"), NULL, &opcodes);
	}
	if (err == 0) {
		err = read_channels(x, p);
	}
	static const enum manifest_kind simple[] = {MANIFEST_LEVEL, MANIFEST_KEYWORD, MANIFEST_FILTER};
	for (size_t i = 0; i < BASE_ARRAY_LEN(simple); i++) {
		enum manifest_kind kind = simple[i];
		struct manifest_name **tail = &x->provider->names[kind];
		const char *element = kinds[kind].element;
		for (const struct xml_node *n = xml_listed(p, kinds[kind].list, element); n && err == 0;
		     n = xml_listed_next(n, element)) {
			struct manifest_name *m;
			err = read_name(x, n, kind, &tail, &m);
			if (err == 0 && kind == MANIFEST_FILTER) {
				m->tid = manifest_xml_copy(x, n, "tid");
			}
		}
	}
	return err;
}

/* ---- events ----------------------------------------------------------------------------------- */

static int unknown(struct manifest_xml *x, const struct xml_attr *a, const char *what)
{
	return manifest_xml_bad(x, a->line, a->column, what, a->value);
}

static int read_keywords(struct manifest_xml *x, const struct xml_node *n, struct manifest_event *e)
{
	const struct xml_attr *a = xml_attr(n, "keywords");
	e->keywords = manifest_xml_copy(x, n, "keywords");
	for (const char *s = a ? a->value : ""; *s;) {
		size_t skip = strspn(s, " \t\n"), k = strcspn(s + skip, " \t\n");
		char *name = arena_text(x->arena, s + skip, k);
		if (!name) {
			return -ENOMEM;
		}
		if (k) {
			const struct manifest_name *m = manifest_find(x->provider, MANIFEST_KEYWORD, qname(x, n, name));
			if (!m) {
				return unknown(x, a, "unknown keyword in '%s'");
			}
			e->keyword |= m->value;
		}
		s += skip + k;
	}
	return 0;
}

static const struct manifest_name *find_opcode(const struct manifest_provider *p, const char *name,
					       const struct manifest_name *task)
{
	const struct manifest_name *common = NULL;
	for (const struct manifest_name *n = p->names[MANIFEST_OPCODE]; n; n = n->next) {
		if (strcmp(n->name, name) == 0) {
			if (n->task == task) {
				return n;
			}
			common = n->task ? common : n;
		}
	}
	return common ? common : manifest_predefined_by_name(MANIFEST_OPCODE, name);
}

/* Reference by name; 0 and NULL when the attribute is absent. */
static int refer(struct manifest_xml *x, const struct xml_node *n, const char *attr, enum manifest_kind kind,
		 const struct manifest_name *task, const struct manifest_name **ret)
{
	const struct xml_attr *a = xml_attr(n, attr);
	*ret = NULL;
	if (!a || !*a->value) {
		return 0;
	}
	const char *name = qname(x, n, a->value);
	if (x->reader && kind == MANIFEST_LEVEL && strcmp(name, "win:Always") == 0) {
		name = "win:LogAlways"; /* as dumps of installed providers call it */
	}
	*ret = kind == MANIFEST_OPCODE ? find_opcode(x->provider, name, task) : manifest_find(x->provider, kind, name);
	return *ret ? 0 : unknown(x, a, "'%s' is not declared");
}

/* A system channel that was not imported joins the provider's channels. */
static int imply_channel(struct manifest_xml *x, const struct manifest_name **channel)
{
	struct manifest_name **tail = &x->provider->names[MANIFEST_CHANNEL];
	while (*tail) {
		tail = &(*tail)->next;
	}
	*tail = ARENA_NEW(x->arena, struct manifest_name);
	if (!*tail) {
		return -ENOMEM;
	}
	**tail = **channel;
	(*tail)->next = NULL;
	(*tail)->imported = (*tail)->implied = true;
	(*tail)->predefined = false;
	*channel = *tail;
	return 0;
}

static int read_references(struct manifest_xml *x, const struct xml_node *n, struct manifest_event *e)
{
	int err = refer(x, n, "level", MANIFEST_LEVEL, NULL, &e->level_of);
	if (err == 0) {
		err = refer(x, n, "task", MANIFEST_TASK, NULL, &e->task_of);
	}
	if (err == 0) {
		err = refer(x, n, "opcode", MANIFEST_OPCODE, e->task_of, &e->opcode_of);
	}
	if (err == 0) {
		err = refer(x, n, "channel", MANIFEST_CHANNEL, NULL, &e->channel_of);
	}
	if (err == 0 && e->channel_of && e->channel_of->predefined) {
		err = imply_channel(x, &e->channel_of);
	}
	const struct xml_attr *a = xml_attr(n, "template");
	for (const struct manifest_template *t = x->provider->templates; a && t && err == 0; t = t->next) {
		if (strcmp(t->tid, a->value) == 0) {
			e->template = t;
			break;
		}
	}
	if (err == 0 && a && *a->value && !e->template) {
		err = unknown(x, a, "there is no template '%s'");
	}
	return err;
}

/* The bit that mc gives a channel's events: the top ones, in order. */
static uint64_t channel_bit(const struct manifest_provider *p, const struct manifest_name *channel)
{
	unsigned bit = 63;
	for (const struct manifest_name *n = p->names[MANIFEST_CHANNEL]; n && !n->implied && bit >= 56;
	     n = n->next, bit--) {
		if (n == channel) {
			return 1ull << bit;
		}
	}
	return 0;
}

static int read_event(struct manifest_xml *x, const struct xml_node *n, struct manifest_event ***tail)
{
	struct manifest_event *e = ARENA_NEW(x->arena, struct manifest_event);
	uint64_t id, version;
	if (!e) {
		return -ENOMEM;
	}
	e->pos = (struct manifest_pos){n->line, n->column};
	if (x->provider->event_count >= MANIFEST_EVENTS_MAX) {
		return manifest_xml_bad(x, n->line, n->column, "too many events", "");
	}
	if (!xml_attr(n, "value")) {
		return manifest_xml_bad(x, n->line, n->column, "an event needs a value", "");
	}
	int err = read_keywords(x, n, e);
	if (err == 0) {
		/* Of events of the old event log the value is the whole message id, with its severity. */
		err = manifest_xml_number(x, n, "value", e->keyword & KEYWORD_CLASSIC ? UINT32_MAX : 65535, 0, &id);
	}
	if (err == 0) {
		err = manifest_xml_number(x, n, "version", 255, 0, &version);
	}
	if (err == 0) {
		err = read_references(x, n, e);
	}
	if (err == 0) {
		err = read_message(x, n, &e->message, &e->text);
	}
	if (err < 0) {
		return err;
	}
	e->id = (uint16_t)id;
	e->version = (uint8_t)version;
	e->symbol = manifest_xml_copy(x, n, "symbol");
	e->name = manifest_xml_copy(x, n, "name");
	e->attributes = manifest_xml_copy(x, n, "attributes");
	e->not_logged = is_true(xml_value(n, "notLogged"));
	e->level = e->level_of ? (uint8_t)e->level_of->value : 0;
	e->task = e->task_of ? (uint16_t)e->task_of->value : 0;
	e->opcode = e->opcode_of ? (uint8_t)e->opcode_of->value : 0;
	if (e->channel_of) {
		e->channel = (uint8_t)e->channel_of->value;
		e->keyword |= channel_bit(x->provider, e->channel_of);
	}
	e->opcode_given = e->opcode_of != NULL;
	if (!e->opcode_of) {
		e->opcode_of = manifest_find_value(x->provider, MANIFEST_OPCODE, 0, e->task_of);
	}
	**tail = e;
	*tail = &e->next;
	x->provider->event_count++;
	return 0;
}

/* ---- providers -------------------------------------------------------------------------------- */

static int optional_guid(struct manifest_xml *x, const struct xml_node *n, const char *name, struct guid *ret)
{
	const struct xml_attr *a = xml_attr(n, name);
	return !a || guid_parse(a->value, ret) == 0 ? 0 : unknown(x, a, "'%s' is no GUID");
}

static int read_provider(struct manifest_xml *x, const struct xml_node *n, struct manifest_provider ***tail)
{
	struct manifest_provider *p = ARENA_NEW(x->arena, struct manifest_provider);
	if (!p) {
		return -ENOMEM;
	}
	x->provider = p;
	x->names = x->templates = x->maps = 0;
	p->pos = (struct manifest_pos){n->line, n->column};
	p->name = manifest_xml_copy(x, n, "name");
	if (!p->name || !xml_attr(n, "guid")) {
		return manifest_xml_bad(x, n->line, n->column, "a provider needs name and guid", "");
	}
	int err = optional_guid(x, n, "guid", &p->guid);
	if (err == 0) {
		err = optional_guid(x, n, "controlGuid", &p->control_guid);
	}
	const char *text = NULL;
	if (err == 0) {
		err = read_message(x, n, &p->message_ref, &text);
		p->message = text;
	}
	const struct xml_node *traits = xml_child(n, "traits");
	if (err == 0 && traits) {
		p->has_traits = true;
		p->include_name = is_true(xml_value(traits, "includeName"));
		err = optional_guid(x, traits, "groupGuid", &p->group_guid);
	}
	p->symbol = manifest_xml_copy(x, n, "symbol");
	p->resource_file = manifest_xml_copy(x, n, "resourceFileName");
	p->message_file = manifest_xml_copy(x, n, "messageFileName");
	if (err == 0) {
		err = read_names(x, n);
	}
	if (err == 0) {
		err = manifest_templates_read(x, n);
	}
	struct manifest_event **events = &p->events;
	for (const struct xml_node *e = xml_listed(n, "events", "event"); e && err == 0;
	     e = xml_listed_next(e, "event")) {
		err = read_event(x, e, &events);
	}
	**tail = p;
	*tail = &p->next;
	return err;
}

static int read_document(struct manifest_xml *x, const struct xml_doc *doc, struct manifest *ret)
{
	const struct xml_node *root = doc->root;
	struct manifest_provider **tail = &ret->providers;
	/* Components of Windows have theirs inside an assembly's manifest. */
	if (strcmp(root->name, "instrumentationManifest") != 0 && strcmp(root->name, "assembly") != 0) {
		return manifest_xml_bad(x, root->line, root->column, "'%s' is not an instrumentationManifest",
					root->name);
	}
	int err = manifest_strings_read(x, root, ret);
	const struct xml_node *inst = xml_child(root, "instrumentation");
	for (; inst && err == 0; inst = xml_next(inst, "instrumentation")) {
		for (const struct xml_node *n = xml_listed(inst, "events", "provider"); n && err == 0;
		     n = xml_listed_next(n, "provider")) {
			err = read_provider(x, n, &tail);
		}
	}
	return err;
}

static int read_into(const struct xml_doc *doc, bool reader, struct manifest *ret, struct diag *d)
{
	manifest_init(ret);
	struct manifest_xml x = {.arena = &ret->arena, .diag = d, .reader = reader};
	int err = read_document(&x, doc, ret);
	if (ret->arena.failed) {
		err = -ENOMEM;
	}
	if (err < 0) {
		manifest_finish(ret);
	}
	return err;
}

int manifest_read_document(const struct xml_doc *doc, struct manifest *ret, struct diag *d)
{
	return read_into(doc, false, ret, d);
}

int manifest_read_xml(const void *text, size_t n, struct manifest *ret, struct diag *d)
{
	struct xml_doc doc;
	int err = xml_parse(text, n, &doc, d);
	if (err < 0) {
		return err;
	}
	err = read_into(&doc, true, ret, d);
	if (err == 0 && !ret->providers) {
		diag_at(d, UINT64_MAX, "no provider in it");
		err = -EBADMSG;
		manifest_finish(ret);
	}
	for (struct manifest_provider *p = err == 0 ? ret->providers : NULL; p; p = p->next) {
		for (struct manifest_template *t = p->templates; t; t = t->next) {
			t->user_data = NULL; /* the document goes */
		}
	}
	xml_finish(&doc);
	return err;
}
