/* SPDX-License-Identifier: MIT
 *
 * Catalogue sections: lines, words, names. Fields are read in catalogue_fields.c.
 */
#include "schema/catalogue.h"
#include "schema/catalogue_private.h"

#include <stdlib.h>

/* ---- lines ------------------------------------------------------------------------------------ */

static const char *trim(const char *s, const char **end)
{
	while (s < *end && (*s == ' ' || *s == '\t' || *s == '\r')) {
		s++;
	}
	while (*end > s && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\r')) {
		(*end)--;
	}
	return s;
}

/* The next physical line without comment and blanks. */
static bool physical_line(struct catalogue_text *t, const char **ret_s, const char **ret_end)
{
	if (t->p >= t->end) {
		return false;
	}
	const char *nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
	const char *end = nl ? nl : t->end;
	const char *s = t->p;
	t->p = nl ? nl + 1 : t->end;
	t->line++;
	const char *hash = memchr(s, '#', (size_t)(end - s));
	end = hash ? hash : end;
	*ret_s = trim(s, &end);
	*ret_end = end;
	return true;
}

/* A line that ends with a comma or an opening brace goes on. */
bool catalogue_line(struct catalogue_text *t, struct strbuf *line)
{
	const char *s, *end;
	strbuf_clear(line);
	while (physical_line(t, &s, &end)) {
		if (s == end) {
			continue;
		}
		if (line->len == 0) {
			t->line_start = t->line;
		} else {
			strbuf_addc(line, ' ');
		}
		strbuf_add(line, s, (size_t)(end - s));
		if (line->failed || line->len > CATALOGUE_LINE_MAX) {
			return false;
		}
		if (end[-1] != ',' && end[-1] != '{') {
			return true;
		}
	}
	return line->len > 0;
}

bool catalogue_word(const char **at, const char **ret, size_t *ret_bytes)
{
	const char *s = *at;
	while (*s == ' ' || *s == '\t') {
		s++;
	}
	size_t n = strcspn(s, " \t,");
	*ret = s;
	*ret_bytes = n;
	*at = s + n;
	return n > 0;
}

static bool word_is(const char *w, size_t n, const char *text)
{
	return strlen(text) == n && memcmp(w, text, n) == 0;
}

static bool word_number(const char *w, size_t n, uint64_t *ret)
{
	char buf[24], *end;
	if (n == 0 || n >= sizeof buf || w[0] < '0' || w[0] > '9') {
		return false;
	}
	memcpy(buf, w, n);
	buf[n] = 0;
	*ret = strtoull(buf, &end, 0);
	return *end == 0;
}

static bool word_guid(const char *w, size_t n, struct guid *ret)
{
	char buf[40];
	if (n >= sizeof buf) {
		return false;
	}
	memcpy(buf, w, n);
	buf[n] = 0;
	return guid_parse(buf, ret) == 0;
}

/* ---- sections --------------------------------------------------------------------------------- */

int catalogue_each_section(const char *text, size_t n, catalogue_section_fn fn, void *ctx)
{
	struct catalogue_text t = {.p = text, .end = text + n};
	struct catalogue_section s = {0};
	const char *provider = NULL;
	size_t provider_bytes = 0;
	const char *line, *end;
	bool open = false;
	int stop = 0;
	for (const char *start = t.p; stop == 0 && physical_line(&t, &line, &end); start = t.p) {
		size_t k = (size_t)(end - line);
		bool is_class = k > 6 && memcmp(line, "class ", 6) == 0;
		bool is_manifest = k > 9 && memcmp(line, "manifest ", 9) == 0;
		bool is_provider = k > 9 && memcmp(line, "provider ", 9) == 0;
		if (open && (is_class || is_manifest || is_provider)) {
			s.text_bytes = (size_t)(start - s.text);
			open = false;
			stop = fn(ctx, &s);
		}
		if (is_provider) {
			provider = line + 9;
			provider_bytes = k - 9;
		}
		if (stop == 0 && (is_class || is_manifest)) {
			const char *name = line + (is_class ? 6 : 9);
			const char *space = memchr(name, ' ', (size_t)(end - name));
			const char *guid = space;
			while (guid && guid < end && *guid == ' ') {
				guid++;
			}
			if (!guid || !word_guid(guid, (size_t)(end - guid), &s.guid)) {
				continue;
			}
			s.classic = is_class;
			s.name = name;
			s.name_bytes = (size_t)(space - name);
			s.provider = is_class ? provider : NULL;
			s.provider_bytes = provider_bytes;
			s.text = t.p;
			s.line = t.line;
			open = true;
		}
	}
	if (open && stop == 0) {
		s.text_bytes = (size_t)(t.end - s.text);
		stop = fn(ctx, &s);
	}
	return stop;
}

/* ---- what a section declares ------------------------------------------------------------------ */

int catalogue_bad(struct catalogue_reader *r, const char *what, const char *near)
{
	diag_at(r->diag, UINT64_MAX, "catalogue line %u: %s near \"%.40s\"", r->text.line_start, what, near);
	if (r->diag) {
		r->diag->line = r->text.line_start;
		r->diag->column = 1;
	}
	return -EBADMSG;
}

static struct manifest_name *add_name(struct catalogue_reader *r, enum manifest_kind kind, uint64_t value,
				      const char *name, size_t n)
{
	struct manifest_name *x = ARENA_NEW(r->arena, struct manifest_name);
	char *text = arena_text(r->arena, name, n);
	if (!x || !text) {
		return NULL;
	}
	x->name = x->text = text;
	x->value = value;
	x->pos.line = r->text.line_start;
	*r->names_tail[kind] = x;
	r->names_tail[kind] = &x->next;
	return x;
}

/* keyword 0x1 GC        task 3 Loader        opcode [Task] 11 Name */
static int read_name(struct catalogue_reader *r, enum manifest_kind kind, const char *rest)
{
	const char *w, *at = rest;
	size_t n;
	uint64_t value;
	const struct manifest_name *task = NULL;
	if (!catalogue_word(&at, &w, &n)) {
		return catalogue_bad(r, "a value is missing", rest);
	}
	if (kind == MANIFEST_OPCODE && !word_number(w, n, &value)) {
		char name[128];
		if (n >= sizeof name) {
			return catalogue_bad(r, "the task's name is too long", w);
		}
		memcpy(name, w, n);
		name[n] = 0;
		task = manifest_find(r->provider, MANIFEST_TASK, name);
		if (!task) {
			return catalogue_bad(r, "unknown task", w);
		}
		catalogue_word(&at, &w, &n);
	}
	if (!word_number(w, n, &value)) {
		return catalogue_bad(r, "a number is expected", w);
	}
	while (*at == ' ' || *at == '\t') {
		at++;
	}
	struct manifest_name *x = add_name(r, kind, value, at, strlen(at));
	if (!x) {
		return -ENOMEM;
	}
	x->task = task;
	return 0;
}

/* A number; or 0x80/0x380, the value that some bits have together, and those bits. */
static bool word_value(const char *w, size_t n, bool bits, uint64_t *ret_value, uint64_t *ret_mask)
{
	const char *slash = bits ? memchr(w, '/', n) : NULL;
	size_t k = slash ? (size_t)(slash - w) : n;
	*ret_mask = 0;
	return word_number(w, k, ret_value) &&
	       (!slash || (word_number(slash + 1, n - k - 1, ret_mask) && *ret_mask <= UINT32_MAX && *ret_value != 0 &&
			   (*ret_value & ~*ret_mask) == 0));
}

/* map Name 0 First, 1 Second          bits Name 0x1 A, 0x2 B, 0x80/0x380 C, 0x100/0x380 D */
static int read_map(struct catalogue_reader *r, bool bits, const char *rest)
{
	const char *w, *at = rest;
	size_t n;
	struct manifest_map *m = ARENA_NEW(r->arena, struct manifest_map);
	if (!m || !catalogue_word(&at, &w, &n)) {
		return m ? catalogue_bad(r, "a map needs a name", rest) : -ENOMEM;
	}
	m->name = arena_text(r->arena, w, n);
	m->bits = bits;
	m->pos.line = r->text.line_start;
	struct manifest_map_entry **tail = &m->entries, **group_tail = &m->groups;
	for (;;) {
		uint64_t value, mask;
		if (!catalogue_word(&at, &w, &n) || !word_value(w, n, bits, &value, &mask)) {
			return catalogue_bad(r, "a map entry is a number and a text", w);
		}
		while (*at == ' ' || *at == '\t') {
			at++;
		}
		size_t k = strcspn(at, ",");
		struct manifest_map_entry *e = ARENA_NEW(r->arena, struct manifest_map_entry);
		char *text = arena_text(r->arena, at, k);
		if (!e || !text || !m->name) {
			return -ENOMEM;
		}
		e->value = (uint32_t)value;
		e->mask = (uint32_t)mask;
		e->text = text;
		if (mask) {
			*group_tail = e;
			group_tail = &e->next;
			m->group_count++;
		} else {
			*tail = e;
			tail = &e->next;
			m->entry_count++;
		}
		at += k;
		if (*at != ',') {
			break;
		}
		at++;
	}
	m->next = r->provider->maps;
	r->provider->maps = m;
	return 0;
}

static int read_let(struct catalogue_reader *r, const char *rest)
{
	const char *w, *at = rest;
	size_t n;
	struct catalogue_alias *a = ARENA_NEW(r->arena, struct catalogue_alias);
	if (!a || !catalogue_word(&at, &w, &n)) {
		return a ? catalogue_bad(r, "let needs a name", rest) : -ENOMEM;
	}
	at += strspn(at, " \t");
	if (*at != '=') {
		return catalogue_bad(r, "let needs =", at);
	}
	at++;
	a->name = arena_text(r->arena, w, n);
	a->fields = arena_text(r->arena, at, strlen(at));
	if (!a->name || !a->fields) {
		return -ENOMEM;
	}
	a->next = r->aliases;
	r->aliases = a;
	return 0;
}

/* ---- events ----------------------------------------------------------------------------------- */

/* task=T opcode=O level=4 keywords=0x10 channel=N behind the name */
static int read_event_word(struct catalogue_reader *r, struct manifest_event *e, const char *w, size_t n)
{
	const char *eq = memchr(w, '=', n);
	size_t key = eq ? (size_t)(eq - w) : n;
	uint64_t value = 0;
	if (!eq) {
		return catalogue_bad(r, "key=value is expected", w);
	}
	char text[128];
	size_t k = n - key - 1;
	if (k >= sizeof text) {
		return catalogue_bad(r, "too long", w);
	}
	memcpy(text, eq + 1, k);
	text[k] = 0;
	bool number = word_number(text, k, &value);
	if (word_is(w, key, "task")) {
		e->task_of = number ? manifest_find_value(r->provider, MANIFEST_TASK, value, NULL)
				    : manifest_find(r->provider, MANIFEST_TASK, text);
		if (!number && !e->task_of) {
			return catalogue_bad(r, "unknown task", w);
		}
		e->task = (uint16_t)(e->task_of ? e->task_of->value : value);
	} else if (word_is(w, key, "opcode")) {
		if (!number) {
			const struct manifest_name *o = NULL;
			for (o = r->provider->names[MANIFEST_OPCODE]; o; o = o->next) {
				if (strcmp(o->name, text) == 0 && (!o->task || o->task == e->task_of)) {
					break;
				}
			}
			char win[140] = "win:";
			strcat(win, text);
			o = o ? o : manifest_predefined_by_name(MANIFEST_OPCODE, win);
			if (!o) {
				return catalogue_bad(r, "unknown opcode", w);
			}
			value = o->value;
		}
		e->opcode = (uint8_t)value;
	} else if (word_is(w, key, "level") && number) {
		e->level = (uint8_t)value;
	} else if (word_is(w, key, "channel") && number) {
		e->channel = (uint8_t)value;
	} else if (word_is(w, key, "keywords") && number) {
		e->keyword = value;
	} else if (word_is(w, key, "better") && number) {
		e->better = value != 0;
	} else {
		return catalogue_bad(r, "unknown word", w);
	}
	return 0;
}

static struct manifest_event *new_event(struct catalogue_reader *r, const char *at)
{
	struct manifest_event *e;
	if (r->event_count == CATALOGUE_EVENTS_MAX) {
		catalogue_bad(r, "too many events in one line", at);
		return NULL;
	}
	e = &r->events[r->event_count++];
	*e = (struct manifest_event){.pos.line = r->text.line_start};
	return e;
}

/* Manifest: event 10 Name task=.. ; class: event 10 Read, 11 Write */
static int read_event(struct catalogue_reader *r, const char *rest)
{
	const char *w, *at = rest;
	size_t n;
	r->event_count = 0;
	do {
		at += *at == ',';
		uint64_t id;
		struct manifest_event *e = new_event(r, at);
		if (!e) {
			return -EBADMSG;
		}
		if (!catalogue_word(&at, &w, &n) || !word_number(w, n, &id) || id > 0xFFFF) {
			return catalogue_bad(r, "an event starts with its number", w);
		}
		if (!catalogue_word(&at, &w, &n)) {
			return catalogue_bad(r, "an event needs a name", w);
		}
		e->id = (uint16_t)id;
		e->name = arena_text(r->arena, w, n);
		if (!e->name) {
			return -ENOMEM;
		}
		if (r->classic) {
			struct manifest_name *o = add_name(r, MANIFEST_OPCODE, id, w, n);
			if (!o) {
				return -ENOMEM;
			}
			o->task = r->provider->names[MANIFEST_TASK];
			e->opcode = (uint8_t)id;
			e->opcode_of = o;
			e->task_of = o->task;
			e->name = NULL;
		}
		while (!r->classic && catalogue_word(&at, &w, &n)) {
			int err = read_event_word(r, e, w, n);
			if (err < 0) {
				return err;
			}
		}
		if (!r->classic) {
			e->opcode_of = manifest_find_value(r->provider, MANIFEST_OPCODE, e->opcode, e->task_of);
			e->level_of = manifest_find_value(r->provider, MANIFEST_LEVEL, e->level, NULL);
			/* As Windows does: an event is known by its task and opcode. */
			e->symbol = e->name;
			e->name = e->task_of ? NULL : e->name;
		}
		at += strspn(at, " \t");
	} while (*at == ',');
	return *at ? catalogue_bad(r, "what is this?", at) : 0;
}

/* 3 fields: the events of the last `event` line from version 3 on */
static int read_version(struct catalogue_reader *r, uint64_t version, const char *fields)
{
	struct manifest_template *t = ARENA_NEW(r->arena, struct manifest_template);
	if (!t || version > 255) {
		return t ? catalogue_bad(r, "a version is below 256", fields) : -ENOMEM;
	}
	if (r->event_count == 0) {
		return catalogue_bad(r, "fields without an event", fields);
	}
	t->tid = "";
	t->pos.line = r->text.line_start;
	const char *at = fields;
	int err = catalogue_read_fields(r, &at, t);
	if (err < 0) {
		return err;
	}
	for (uint32_t i = 0; i < r->event_count; i++) {
		struct manifest_event *e = ARENA_NEW(r->arena, struct manifest_event);
		if (!e) {
			return -ENOMEM;
		}
		*e = r->events[i];
		e->version = (uint8_t)version;
		e->template = t->items ? t : NULL;
		*r->events_tail = e;
		r->events_tail = &e->next;
		r->provider->event_count++;
	}
	return 0;
}

static int read_line(struct catalogue_reader *r, const char *line)
{
	const char *w, *at = line;
	size_t n;
	uint64_t number;
	catalogue_word(&at, &w, &n);
	if (word_number(w, n, &number)) {
		return read_version(r, number, at);
	}
	if (word_is(w, n, "event")) {
		return read_event(r, at);
	}
	if (word_is(w, n, "let")) {
		return read_let(r, at);
	}
	if (word_is(w, n, "map") || word_is(w, n, "bits")) {
		return read_map(r, w[0] == 'b', at);
	}
	static const struct {
		const char *word;
		enum manifest_kind kind;
	} kinds[] = {{"keyword", MANIFEST_KEYWORD},
		     {"task", MANIFEST_TASK},
		     {"opcode", MANIFEST_OPCODE},
		     {"level", MANIFEST_LEVEL},
		     {"channel", MANIFEST_CHANNEL}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(kinds); i++) {
		if (word_is(w, n, kinds[i].word)) {
			return read_name(r, kinds[i].kind, at);
		}
	}
	return catalogue_bad(r, "unknown line", line);
}

int catalogue_read_section(const struct catalogue_section *s, struct manifest *ret, struct diag *d)
{
	manifest_init(ret);
	struct catalogue_reader *r = calloc(1, sizeof *r);
	struct manifest_provider *p = ARENA_NEW(&ret->arena, struct manifest_provider);
	struct strbuf line = {0};
	int err = r && p ? 0 : -ENOMEM;
	if (err == 0) {
		r->text = (struct catalogue_text){.p = s->text, .end = s->text + s->text_bytes, .line = s->line};
		r->arena = &ret->arena;
		r->provider = p;
		r->classic = s->classic;
		r->diag = d;
		for (int i = 0; i < MANIFEST_KIND_COUNT; i++) {
			r->names_tail[i] = &p->names[i];
		}
		r->events_tail = &p->events;
		p->guid = s->guid;
		p->lenient = true;
		const char *name = s->classic && s->provider ? s->provider : s->name;
		p->name = arena_text(&ret->arena, name, s->classic && s->provider ? s->provider_bytes : s->name_bytes);
		ret->providers = p;
		if (s->classic && !add_name(r, MANIFEST_TASK, 0, s->name, s->name_bytes)) {
			err = -ENOMEM;
		}
	}
	while (err == 0 && catalogue_line(&r->text, &line)) {
		err = read_line(r, line.s);
	}
	if (err == 0 && (line.failed || line.len > CATALOGUE_LINE_MAX)) {
		err = catalogue_bad(r, "line too long", "");
	}
	if (ret->arena.failed) {
		err = -ENOMEM;
	}
	strbuf_finish(&line);
	free(r);
	if (err < 0) {
		manifest_finish(ret);
	}
	return err;
}
