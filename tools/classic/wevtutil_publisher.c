/* SPDX-License-Identifier: MIT
 *
 * ep and gp: providers, and what one of them declares, in wevtutil's layout.
 */
#include "tools/classic/wevtutil.h"
#include "base/vec.h"
#include "xml/xml.h"
#include "tools/common/event_xml.h"

#include <stdlib.h>
#include <strings.h>

struct list {
	struct wevtutil_provider *items;
	size_t count, cap;
	bool failed;
};

static int add(void *ctx, const struct guid *g, enum schema_source source, const char *name)
{
	struct list *l = ctx;
	if (source != SCHEMA_SOURCE_XML || !*name) {
		return 0;
	}
	for (size_t i = 0; i < l->count; i++) {
		if (guid_equal(&l->items[i].guid, g)) {
			return 0;
		}
	}
	if (!VEC_ROOM(l->items, l->count, l->cap)) {
		l->failed = true;
		return 1;
	}
	l->items[l->count].guid = *g;
	snprintf(l->items[l->count++].name, sizeof l->items->name, "%s", name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct wevtutil_provider *x = a, *y = b;
	int c = strcasecmp(x->name, y->name);
	return c ? c : strcmp(x->name, y->name);
}

struct wevtutil_provider *wevtutil_providers(size_t *ret_count)
{
	struct list l = {0};
	schema_process_each_provider(add, &l);
	if (l.failed || !l.items) {
		free(l.items);
		return NULL;
	}
	qsort(l.items, l.count, sizeof *l.items, by_name);
	*ret_count = l.count;
	return l.items;
}

const struct manifest_provider *wevtutil_find(const char *name)
{
	struct guid g;
	size_t count = 0;
	if (guid_parse(name, &g) == 0) {
		return schema_process_provider(false, &g);
	}
	struct wevtutil_provider *list = wevtutil_providers(&count);
	const struct manifest_provider *found = NULL;
	for (size_t i = 0; i < count && !found; i++) {
		if (strcasecmp(list[i].name, name) == 0) {
			found = schema_process_provider(false, &list[i].guid);
		}
	}
	free(list);
	return found;
}

struct source {
	char *ret;
	size_t cap;
};

static int take_source(void *ctx, const char *path)
{
	struct source *s = ctx;
	snprintf(s->ret, s->cap, "%s", path);
	return 0; /* the last goes before the others */
}

void wevtutil_source(const struct guid *provider, char *ret, size_t cap)
{
	struct source s = {ret, cap};
	ret[0] = 0;
	schema_files_of(provider, take_source, &s);
}

int wevtutil_publishers(struct wevtutil *w)
{
	size_t count = 0;
	struct wevtutil_provider *list = wevtutil_providers(&count);
	for (size_t i = 0; i < count; i++) {
		cli_puts(list[i].name);
	}
	free(list);
	return list ? CLI_OK : cli_fail(w->a, ERROR_NOT_ENOUGH_MEMORY, "cannot list providers");
}

/* ---- gp ---------------------------------------------------------------------------------------
 */

struct show {
	const struct manifest_provider *p;
	bool xml, texts, events;
	struct strbuf out;
	int depth;
	bool open; /* an element whose attributes are being written */
};

static void indent(struct show *s)
{
	for (int i = 0; i < s->depth; i++) {
		strbuf_adds(&s->out, "  ");
	}
}

static void begin(struct show *s, const char *name)
{
	if (s->open) {
		strbuf_adds(&s->out, ">\n");
	}
	indent(s);
	strbuf_addf(&s->out, s->xml ? "<%s" : "%s:\n", name);
	s->open = s->xml;
	s->depth++;
}

static void end(struct show *s, const char *name)
{
	s->depth--;
	if (s->xml && s->open) {
		strbuf_addf(&s->out, "></%s>\n", name);
	} else if (s->xml) {
		indent(s);
		strbuf_addf(&s->out, "</%s>\n", name);
	}
	s->open = false;
}

static void value(struct show *s, const char *name, const char *text)
{
	if (s->xml) {
		strbuf_addf(&s->out, " %s=\"", name);
		xml_escape(&s->out, text, strlen(text));
		strbuf_addc(&s->out, '"');
	} else {
		indent(s);
		strbuf_addf(&s->out, "%s: %s\n", name, text);
	}
}

static void number(struct show *s, const char *name, uint64_t v, bool hex)
{
	char text[32];
	snprintf(text, sizeof text, hex ? "0x%llx" : "%llu", (unsigned long long)v);
	value(s, name, text);
}

/* The number a message has in a table that mc makes (docs/mc.md), or its text. */
static void message(struct show *s, const char *text, uint32_t id)
{
	char hex[16];
	if (s->texts) {
		value(s, "message", text ? text : "");
	} else {
		snprintf(hex, sizeof hex, "%u", text ? id : UINT32_MAX);
		value(s, "message", hex);
	}
}

static const struct {
	enum manifest_kind kind;
	const char *list, *one;
	uint32_t message_kind;
} parts[] = {{MANIFEST_CHANNEL, "channels", "channel", 9},
	     {MANIFEST_LEVEL, "levels", "level", 5},
	     {MANIFEST_OPCODE, "opcodes", "opcode", 3},
	     {MANIFEST_TASK, "tasks", "task", 7},
	     {MANIFEST_KEYWORD, "keywords", "keyword", 1}};

static void show_name(struct show *s, size_t part, const struct manifest_name *n, uint32_t index)
{
	char guid[37];
	uint32_t id = parts[part].message_kind << 28, task = n->task ? (uint32_t)n->task->value : 0;
	begin(s, parts[part].one);
	value(s, "name", n->name);
	switch (parts[part].kind) {
	case MANIFEST_CHANNEL:
		number(s, "id", n->value, false);
		number(s, "flags", n->imported, false);
		id |= index;
		break;
	case MANIFEST_OPCODE:
		/* as wevtutil has it: both halves in one, then each */
		number(s, "value", n->value << 16 | task, false);
		if (!s->xml) {
			s->depth++;
			number(s, "task", task, false);
			number(s, "opcode", n->value, false);
			s->depth--;
		}
		id |= task << 16 | (uint32_t)n->value;
		break;
	case MANIFEST_TASK:
		number(s, "value", n->value, false);
		value(s, "eventGUID", guid_format(&n->event_guid, guid));
		id |= (uint32_t)n->value;
		break;
	case MANIFEST_KEYWORD:
		if (s->xml) {
			number(s, "mask", n->value, true);
		} else { /* without 0x, as there */
			snprintf(guid, sizeof guid, "%llx", (unsigned long long)n->value);
			value(s, "mask", guid);
		}
		id |= n->value ? 64 - (uint32_t)__builtin_clzll(n->value) : 0;
		break;
	default: number(s, "value", n->value, false); id |= (uint32_t)n->value;
	}
	message(s, n->text && *n->text ? n->text : NULL, id);
	end(s, parts[part].one);
}

static void show_names(struct show *s, size_t part)
{
	enum manifest_kind kind = parts[part].kind;
	uint32_t index = 1;
	begin(s, parts[part].list);
	/* winmeta's levels and opcodes are a provider's when an event uses them */
	const struct manifest_name *used[64];
	size_t count = 0;
	bool common = kind == MANIFEST_LEVEL || kind == MANIFEST_OPCODE;
	for (const struct manifest_event *e = common ? s->p->events : NULL; e; e = e->next) {
		const struct manifest_name *n = kind == MANIFEST_LEVEL ? e->level_of : e->opcode_of;
		size_t i = 0;
		while (i < count && n && used[i]->value != n->value) {
			i++;
		}
		if (n && n->predefined && i == count && count < BASE_ARRAY_LEN(used)) {
			used[count++] = n;
			show_name(s, part, n, 0);
		}
	}
	for (const struct manifest_name *n = s->p->names[kind]; n; n = n->next) {
		show_name(s, part, n, index++);
	}
	end(s, parts[part].list);
}

static void show_events(struct show *s)
{
	begin(s, "events");
	for (const struct manifest_event *e = s->p->events; e; e = e->next) {
		begin(s, "event");
		number(s, "value", e->id, false);
		number(s, "version", e->version, false);
		number(s, "opcode", e->opcode, false);
		number(s, "channel", e->channel, false);
		number(s, "level", e->level, false);
		number(s, "task", e->task, false);
		number(s, "keywords", e->keyword, true);
		message(s, e->text, 0xB0000000u | (uint32_t)e->version << 16 | e->id);
		end(s, "event");
	}
	end(s, "events");
}

static void show_provider(struct show *s)
{
	char path[4096], file[1024], guid[39];
	const struct manifest_provider *p = s->p;
	wevtutil_source(&p->guid, path, sizeof path);
	guid_format(&p->guid, guid + 1);
	if (s->xml) {
		strbuf_adds(&s->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
		begin(s, "provider");
		value(s, "name", p->name);
		guid[0] = '{';
		strcat(guid, "}");
		value(s, "guid", guid);
	} else {
		value(s, "name", p->name);
		value(s, "guid", guid + 1);
	}
	value(s, "helpLink", "");
	wevtutil_override(path, "rf", file, sizeof file);
	value(s, "resourceFileName", file[0] ? file : p->resource_file ? p->resource_file : "");
	wevtutil_override(path, "mf", file, sizeof file);
	value(s, "messageFileName", file[0] ? file : p->message_file ? p->message_file : "");
	wevtutil_override(path, "pf", file, sizeof file);
	if (file[0]) {
		value(s, "parameterFileName", file);
	}
	message(s, p->message, 0x90000001u);
	if (s->xml) {
		value(s, "xmlns", "http://schemas.microsoft.com/win/2004/08/events");
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		show_names(s, i);
	}
	if (s->events) {
		show_events(s);
	}
	if (s->xml) {
		end(s, "provider");
	}
}

int wevtutil_publisher(struct wevtutil *w)
{
	const char *format = wevtutil_value(w, "f", "text");
	if (strcasecmp(format, "text") != 0 && strcasecmp(format, "xml") != 0) {
		return cli_usage(w->a, "/f takes text or xml, not '%s'", format);
	}
	struct show s = {.p = wevtutil_find(w->word),
			 .xml = strcasecmp(format, "xml") == 0,
			 .texts = wevtutil_on(w, "gm"),
			 .events = wevtutil_on(w, "ge")};
	if (!s.p) {
		fprintf(stderr,
			"Failed to open metadata for publisher %s. The publisher has been disabled "
			"and its "
			"resource is not available, or it is not installed.\n"
			"'openetw wevtutil im FILE' installs a manifest.\n",
			w->word);
		return CLI_FAILED;
	}
	show_provider(&s);
	int status = s.out.failed ? cli_fail(w->a, ERROR_NOT_ENOUGH_MEMORY, "cannot show it") : CLI_OK;
	if (status == CLI_OK) {
		fwrite(s.out.s, 1, s.out.len, stdout);
	}
	strbuf_finish(&s.out);
	return status;
}
