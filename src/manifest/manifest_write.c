/* SPDX-License-Identifier: MIT
 *
 * A provider as an instrumentation manifest. Names that events use and nobody declared are made up of their values, because a
 * manifest refers to levels, tasks, opcodes, keywords and channels by name alone.
 */
#include "manifest/manifest.h"
#include "base/map.h"
#include "xml/xml.h"

#include <stdio.h>

struct writer {
	const struct manifest_provider *p;
	struct strbuf *out;
	struct strbuf strings; /* of the table at the end */
	uint32_t string_count;
	struct map symbols;   /* of events, that are taken */
	struct map templates; /* by address: their numbers */
	uint32_t template_count;
};

static void put(struct strbuf *b, const char *s)
{
	xml_escape(b, s, strlen(s));
}

static void attribute(struct writer *w, const char *name, const char *value)
{
	if (value) {
		strbuf_addf(w->out, " %s=\"", name);
		put(w->out, value);
		strbuf_addc(w->out, '"');
	}
}

static void number(struct writer *w, const char *name, uint64_t v)
{
	strbuf_addf(w->out, " %s=\"%llu\"", name, (unsigned long long)v);
}

/* A text of the table, by reference. */
static void message(struct writer *w, const char *text)
{
	if (text && text[0]) {
		uint32_t id = ++w->string_count;
		strbuf_addf(w->out, " message=\"$(string.s%u)\"", id);
		strbuf_addf(&w->strings, "\t\t\t\t<string id=\"s%u\" value=\"", id);
		put(&w->strings, text);
		strbuf_adds(&w->strings, "\"/>\n");
	}
}

/* ---- names ------------------------------------------------------------------------------------------ */

static const char *const made_up[MANIFEST_KIND_COUNT] = {
	[MANIFEST_LEVEL] = "level",     [MANIFEST_TASK] = "task",       [MANIFEST_OPCODE] = "opcode",
	[MANIFEST_KEYWORD] = "keyword", [MANIFEST_CHANNEL] = "channel",
};

/* Lists of keywords have blanks between names. */
static void name_of(enum manifest_kind kind, const struct manifest_name *n, uint64_t value, char *out, size_t cap)
{
	const char *name = !n ? NULL : kind == MANIFEST_CHANNEL && n->chid ? n->chid : n->name;
	if (!name || !name[0]) {
		snprintf(out, cap, "%s_%llx", made_up[kind], (unsigned long long)value);
		return;
	}
	snprintf(out, cap, "%s", name);
	for (char *s = out; *s && kind == MANIFEST_KEYWORD; s++) {
		*s = *s == ' ' || *s == '\t' ? '_' : *s;
	}
}

static void put_name(struct writer *w, enum manifest_kind kind, const struct manifest_name *n, uint64_t value)
{
	static const char *const elements[] = {"level", "task", "opcode", "keyword", "channel"};
	char name[300], guid[40];
	name_of(kind, n, value, name, sizeof name);
	strbuf_addf(w->out, "\t\t\t\t\t<%s", n && n->imported ? "importChannel" : elements[kind]);
	attribute(w, "name", kind == MANIFEST_CHANNEL && n ? n->name : name);
	if (kind == MANIFEST_CHANNEL) {
		attribute(w, "chid", name);
	}
	if (kind == MANIFEST_KEYWORD) {
		strbuf_addf(w->out, " mask=\"0x%llx\"", (unsigned long long)value);
	} else if (!n || !n->imported) {
		number(w, "value", value);
	}
	if (kind == MANIFEST_CHANNEL && !(n && n->imported)) {
		attribute(w, "type", n && n->channel_type ? n->channel_type : "Operational");
	}
	if (kind == MANIFEST_TASK && n && !guid_equal(&n->event_guid, &GUID_ZERO)) {
		guid[0] = '{';
		guid_format(&n->event_guid, guid + 1);
		strcat(guid, "}");
		attribute(w, "eventGUID", guid);
	}
	if (n && n->text && strcmp(n->text, n->name) != 0) {
		message(w, n->text);
	}
}

static uint64_t value_of(const struct manifest_event *e, enum manifest_kind kind)
{
	return kind == MANIFEST_LEVEL    ? e->level
	       : kind == MANIFEST_TASK   ? e->task
	       : kind == MANIFEST_OPCODE ? e->opcode
					 : e->channel;
}

/* What events use: declared for their task, for all, by winmeta, or not at all (NULL). */
static const struct manifest_name *declared(const struct writer *w, const struct manifest_event *e,
					    enum manifest_kind kind)
{
	const struct manifest_name *task = kind == MANIFEST_OPCODE ? e->task_of : NULL;
	return manifest_find_value(w->p, kind, value_of(e, kind), task);
}

#define OWN_BITS 48 /* of keywords; those above are winmeta's and the channels' */

static uint64_t undeclared_keywords(const struct writer *w)
{
	uint64_t used = 0;
	for (const struct manifest_event *e = w->p->events; e; e = e->next) {
		used |= e->keyword;
	}
	for (const struct manifest_name *n = w->p->names[MANIFEST_KEYWORD]; n; n = n->next) {
		used &= ~n->value;
	}
	return used & ((1ull << OWN_BITS) - 1);
}

static void put_opcodes_of(struct writer *w, const struct manifest_name *task)
{
	bool any = false;
	for (const struct manifest_name *n = w->p->names[MANIFEST_OPCODE]; n; n = n->next) {
		if (n->task == task && !n->predefined) {
			strbuf_adds(w->out, any ? "" : "\t\t\t\t<opcodes>\n");
			any = true;
			put_name(w, MANIFEST_OPCODE, n, n->value);
			strbuf_adds(w->out, "/>\n");
		}
	}
	strbuf_adds(w->out, any ? "\t\t\t\t</opcodes>\n" : "");
}

static void put_names(struct writer *w, enum manifest_kind kind, const char *list)
{
	uint8_t seen[65536 / 8] = {0};
	strbuf_addf(w->out, "\t\t\t\t<%s>\n", list);
	for (const struct manifest_name *n = w->p->names[kind]; n; n = n->next) {
		if (n->predefined || (kind == MANIFEST_OPCODE && n->task)) {
			continue;
		}
		put_name(w, kind, n, n->value);
		if (kind == MANIFEST_TASK) {
			strbuf_adds(w->out, ">\n");
			put_opcodes_of(w, n);
			strbuf_adds(w->out, "\t\t\t\t\t</task>\n");
		} else {
			strbuf_adds(w->out, "/>\n");
		}
	}
	for (const struct manifest_event *e = kind == MANIFEST_KEYWORD ? NULL : w->p->events; e; e = e->next) {
		uint64_t v = value_of(e, kind);
		if (v && !declared(w, e, kind) && !(seen[v / 8] & 1u << v % 8)) {
			seen[v / 8] = (uint8_t)(seen[v / 8] | 1u << v % 8);
			put_name(w, kind, NULL, v);
			strbuf_adds(w->out, "/>\n");
		}
	}
	uint64_t bits = kind == MANIFEST_KEYWORD ? undeclared_keywords(w) : 0;
	for (unsigned i = 0; i < OWN_BITS; i++) {
		if (bits & 1ull << i) {
			put_name(w, kind, NULL, 1ull << i);
			strbuf_adds(w->out, "/>\n");
		}
	}
	strbuf_addf(w->out, "\t\t\t\t</%s>\n", list);
}

/* ---- maps and templates ----------------------------------------------------------------------------- */

static void put_maps(struct writer *w)
{
	strbuf_adds(w->out, w->p->maps ? "\t\t\t\t<maps>\n" : "");
	for (const struct manifest_map *m = w->p->maps; m; m = m->next) {
		strbuf_addf(w->out, "\t\t\t\t\t<%sMap", m->bits ? "bit" : "value");
		attribute(w, "name", m->name);
		strbuf_adds(w->out, ">\n");
		for (const struct manifest_map_entry *e = m->entries; e; e = e->next) {
			strbuf_addf(w->out, "\t\t\t\t\t\t<map value=\"0x%x\"", e->value);
			message(w, e->text ? e->text : "");
			strbuf_adds(w->out, "/>\n");
		}
		if (m->groups) {
			strbuf_adds(w->out, "\t\t\t\t\t\t<!-- Values of several bits together have names that no "
					    "manifest can say. -->\n");
		}
		strbuf_addf(w->out, "\t\t\t\t\t</%sMap>\n", m->bits ? "bit" : "value");
	}
	strbuf_adds(w->out, w->p->maps ? "\t\t\t\t</maps>\n" : "");
}

static void put_items(struct writer *w, const struct manifest_item *first, int depth)
{
	static const char tabs[] = "\t\t\t\t\t\t\t\t\t\t\t\t";
	for (const struct manifest_item *i = first; i; i = i->next) {
		if (i->to_end || i->optional) {
			strbuf_addf(w->out, "%.*s<!-- The next one %s, which no manifest can say. -->\n", depth, tabs,
				    i->to_end ? "is repeated up to the end of the payload"
					      : "is missing in older events");
		}
		strbuf_addf(w->out, "%.*s<%s", depth, tabs, i->is_struct ? "struct" : "data");
		attribute(w, "name", i->name);
		if (!i->is_struct) {
			const char *in = manifest_in_type_name(i->in_type), *out = manifest_out_type_name(i->out_type);
			strbuf_addf(w->out, " inType=\"win:%s\"", in ? in : "Binary");
			if (out && i->out_type != manifest_out_default(i->in_type)) {
				strbuf_addf(w->out, " outType=\"%s:%s\"",
					    i->out_type < TDH_OUTTYPE_HEXINT8 ? "xs" : "win", out);
			}
			attribute(w, "map", i->map_name);
		}
		if (i->count_of) {
			attribute(w, "count", i->count_of->name);
		} else if (i->has_count) {
			number(w, "count", i->count);
		}
		if (i->length_of) {
			attribute(w, "length", i->length_of->name);
		} else if (i->has_length) {
			number(w, "length", i->length);
		}
		if (i->is_struct && depth < 11) {
			strbuf_adds(w->out, ">\n");
			put_items(w, i->members, depth + 1);
			strbuf_addf(w->out, "%.*s</struct>\n", depth, tabs);
		} else {
			strbuf_adds(w->out, "/>\n");
		}
	}
}

/* The number of a template; those of the catalogue are in no list. New ones get the next number. */
static uint32_t template_number(struct writer *w, const struct manifest_template *t, bool *ret_new)
{
	size_t at = map_find(&w->templates, (uint64_t)(uintptr_t)t);
	*ret_new = at == MAP_NONE;
	if (!*ret_new) {
		return (uint32_t)map_value(&w->templates, at);
	}
	if (map_add(&w->templates, (uint64_t)(uintptr_t)t, w->template_count) < 0) {
		w->out->failed = true;
	}
	return w->template_count++;
}

static void put_template(struct writer *w, const struct manifest_template *t)
{
	bool fresh;
	uint32_t n = template_number(w, t, &fresh);
	if (fresh) {
		strbuf_addf(w->out, "\t\t\t\t\t<template tid=\"t%u\">\n", n);
		put_items(w, t->items, 6);
		strbuf_adds(w->out, "\t\t\t\t\t</template>\n");
	}
}

static void put_templates(struct writer *w)
{
	strbuf_adds(w->out, "\t\t\t\t<templates>\n");
	for (const struct manifest_template *t = w->p->templates; t; t = t->next) {
		put_template(w, t);
	}
	for (const struct manifest_event *e = w->p->events; e; e = e->next) {
		if (e->template) {
			put_template(w, e->template);
		}
	}
	strbuf_adds(w->out, "\t\t\t\t</templates>\n");
}

/* ---- events ----------------------------------------------------------------------------------------- */

static void put_keywords(struct writer *w, const struct manifest_event *e)
{
	char name[300];
	uint64_t left = e->keyword & ((1ull << 56) - 1);
	bool any = false;
	for (const struct manifest_name *n = w->p->names[MANIFEST_KEYWORD]; n; n = n->next) {
		if (n->value && (left & n->value) == n->value) {
			name_of(MANIFEST_KEYWORD, n, n->value, name, sizeof name);
			strbuf_adds(w->out, any ? " " : " keywords=\"");
			put(w->out, name);
			left &= ~n->value;
			any = true;
		}
	}
	for (unsigned i = 0; i < 56; i++) {
		const struct manifest_name *n = manifest_predefined(MANIFEST_KEYWORD, 1ull << i);
		if (left & 1ull << i && (i < OWN_BITS || n)) {
			name_of(MANIFEST_KEYWORD, n, 1ull << i, name, sizeof name);
			strbuf_adds(w->out, any ? " " : " keywords=\"");
			put(w->out, name);
			any = true;
		}
	}
	strbuf_adds(w->out, any ? "\"" : "");
}

static void put_reference(struct writer *w, const struct manifest_event *e, enum manifest_kind kind, const char *name)
{
	char text[300];
	uint64_t v = value_of(e, kind);
	if (v) {
		name_of(kind, declared(w, e, kind), v, text, sizeof text);
		attribute(w, name, text);
	}
}

/* Two events may not have the same; in the catalogue versions of one do. */
static void put_symbol(struct writer *w, const struct manifest_event *e)
{
	char text[300];
	uint64_t key = e->symbol ? map_hash(&w->symbols, e->symbol, strlen(e->symbol)) : 0;
	if (!e->symbol) {
		return;
	}
	bool again = map_find(&w->symbols, key) != MAP_NONE;
	snprintf(text, sizeof text, again ? "%.200s_%u_V%u" : "%.200s", e->symbol, e->id, e->version);
	attribute(w, "symbol", text);
	w->out->failed |= !again && map_add(&w->symbols, key, 1) < 0;
}

static void put_events(struct writer *w)
{
	strbuf_adds(w->out, "\t\t\t\t<events>\n");
	for (const struct manifest_event *e = w->p->events; e; e = e->next) {
		strbuf_adds(w->out, "\t\t\t\t\t<event");
		number(w, "value", e->id);
		number(w, "version", e->version);
		put_symbol(w, e);
		put_reference(w, e, MANIFEST_LEVEL, "level");
		put_reference(w, e, MANIFEST_TASK, "task");
		put_reference(w, e, MANIFEST_OPCODE, "opcode");
		put_reference(w, e, MANIFEST_CHANNEL, "channel");
		put_keywords(w, e);
		if (e->template) {
			bool fresh;
			strbuf_addf(w->out, " template=\"t%u\"", template_number(w, e->template, &fresh));
		}
		message(w, e->text);
		strbuf_adds(w->out, "/>\n");
	}
	strbuf_adds(w->out, "\t\t\t\t</events>\n");
}

void manifest_write_xml(const struct manifest_provider *p, struct strbuf *out)
{
	struct writer w = {.p = p, .out = out};
	char guid[40] = "{";
	guid_format(&p->guid, guid + 1);
	strcat(guid, "}");
	strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			 "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"\n"
			 "\txmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\"\n"
			 "\txmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
			 "\t<instrumentation>\n\t\t<events>\n\t\t\t<provider");
	attribute(&w, "name", p->name);
	attribute(&w, "guid", guid);
	attribute(&w, "symbol", p->symbol ? p->symbol : "PROVIDER");
	attribute(&w, "resourceFileName", p->resource_file ? p->resource_file : p->name);
	attribute(&w, "messageFileName", p->message_file ? p->message_file : p->name);
	strbuf_adds(out, ">\n");
	put_names(&w, MANIFEST_CHANNEL, "channels");
	put_names(&w, MANIFEST_LEVEL, "levels");
	put_names(&w, MANIFEST_TASK, "tasks");
	put_names(&w, MANIFEST_OPCODE, "opcodes");
	put_names(&w, MANIFEST_KEYWORD, "keywords");
	put_maps(&w);
	put_templates(&w);
	put_events(&w);
	strbuf_adds(out, "\t\t\t</provider>\n\t\t</events>\n\t</instrumentation>\n"
			 "\t<localization>\n\t\t<resources culture=\"en-US\">\n\t\t\t<stringTable>\n");
	strbuf_adds(out, w.strings.s ? w.strings.s : "");
	strbuf_adds(out, "\t\t\t</stringTable>\n\t\t</resources>\n\t</localization>\n</instrumentationManifest>\n");
	out->failed |= w.strings.failed;
	strbuf_finish(&w.strings);
	map_free(&w.templates);
	map_free(&w.symbols);
}
