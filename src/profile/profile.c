/* SPDX-License-Identifier: MIT
 * Documents: reading, notes, choosing.
 */
#include "profile/profile_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool has_fault(const struct profile_doc *doc, const struct xml_node *object)
{
	return map_find(&doc->faults, (uintptr_t)object) != MAP_NONE;
}

bool profile_is_faulty(const struct profile_doc *doc, const struct xml_node *object)
{
	return has_fault(doc, object) || (doc->base && profile_is_faulty(doc->base, object));
}

static void add_fault(struct profile_doc *doc)
{
	if (!doc->within || (!has_fault(doc, doc->within) && map_add(&doc->faults, (uintptr_t)doc->within, 0) < 0)) {
		doc->bad = true;
	}
}

void profile_note_add(struct profile_doc *doc, bool error, uint32_t line, uint32_t column, const char *fmt, ...)
{
	char line_text[400];
	va_list ap;
	if (error) {
		add_fault(doc);
	}
	va_start(ap, fmt);
	vsnprintf(line_text, sizeof line_text, fmt, ap);
	va_end(ap);
	for (const struct profile_note *n = doc->notes; n; n = n->next) {
		if (n->line == line && n->column == column && strcmp(n->text, line_text) == 0) {
			return; /* objects are resolved more than once */
		}
	}
	if (doc->note_count == PROFILE_NOTES_MAX) {
		return;
	}
	struct profile_note *n = ARENA_NEW(&doc->arena, struct profile_note);
	if (!n) {
		return;
	}
	*n = (struct profile_note){.error = error, .line = line, .column = column};
	n->text = arena_text(&doc->arena, line_text, strlen(line_text));
	if (!n->text) {
		n->text = "out of memory";
	}
	*doc->notes_end = n;
	doc->notes_end = &n->next;
	doc->note_count++;
}

struct named {
	const char *id;
	const struct xml_node *node;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = strcmp(x->id, y->id);
	return c ? c : x->node->line < y->node->line ? -1 : x->node->line > y->node->line;
}

/* Ids are unique in a file, whatever they name. */
static int check_ids(struct profile_doc *doc)
{
	size_t count = 0;
	for (const struct xml_node *n = doc->profiles->children; n; n = n->next) {
		count++;
	}
	struct named *all = calloc(count ? count : 1, sizeof *all);
	if (!all) {
		return -ENOMEM;
	}
	count = 0;
	for (const struct xml_node *n = doc->profiles->children; n; n = n->next) {
		const char *id = xml_value(n, "Id");
		if (id) {
			all[count++] = (struct named){id, n};
		}
	}
	qsort(all, count, sizeof *all, compare_named);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(all[i - 1].id, all[i].id) == 0) {
			doc->within = all[i].node;
			profile_bad(doc, all[i].node, "the Id '%.60s' is already that of the %s in line %u", all[i].id,
				    all[i - 1].node->name, all[i - 1].node->line);
			if (strcmp(all[i].node->name, "Profile") != 0) { /* nobody knows which is meant */
				doc->within = all[i - 1].node;
				add_fault(doc);
			}
		}
	}
	doc->within = NULL;
	free(all);
	return 0;
}

/* What no profile uses is resolved too, so that its mistakes are told. */
static int try_definitions(struct profile_doc *doc)
{
	int err = 0;
	for (const struct xml_node *n = doc->profiles->children; n && err == 0; n = n->next) {
		if (!xml_value(n, "Base") || profile_is_faulty(doc, n)) {
			continue;
		}
		doc->within = n;
		struct arena scratch;
		arena_init(&scratch, PROFILE_MEMORY_MAX);
		struct profile_tree t = {.doc = doc, .arena = &scratch};
		profile_tree_derive(&t, n);
		arena_finish(&scratch);
		err = t.err == -ENOMEM ? -ENOMEM : 0;
	}
	doc->within = NULL;
	return err;
}

static int list_profiles(struct profile_doc *doc)
{
	struct profile_entry **end = &doc->entries;
	for (const struct xml_node *n = xml_child(doc->profiles, "Profile"); n; n = xml_next(n, "Profile")) {
		static const char *const needed[] = {"Id", "Name", "Description", "LoggingMode", "DetailLevel"};
		bool whole = true;
		for (size_t i = 0; i < BASE_ARRAY_LEN(needed); i++) {
			whole = whole && xml_value(n, needed[i]);
		}
		struct profile_entry *e = whole ? ARENA_NEW(&doc->arena, struct profile_entry) : NULL;
		if (!whole) {
			continue; /* nobody can ask for it */
		}
		if (!e) {
			return -ENOMEM;
		}
		*e = (struct profile_entry){
			.id = xml_value(n, "Id"),
			.name = xml_value(n, "Name"),
			.description = xml_value(n, "Description"),
			.mode = strcasecmp(xml_value(n, "LoggingMode"), "File") == 0 ? PROFILE_FILE : PROFILE_MEMORY,
			.detail =
				strcasecmp(xml_value(n, "DetailLevel"), "Light") == 0 ? PROFILE_LIGHT : PROFILE_VERBOSE,
			.internal = profile_bool(xml_value(n, "Internal"), false),
			.is_default = profile_bool(xml_value(n, "Default"), false),
			.broken = profile_is_faulty(doc, n),
			.line = n->line,
			.column = n->column,
		};
		*end = e;
		end = &e->next;
	}
	return 0;
}

static int understand(struct profile_doc *doc)
{
	profile_schema_check(doc);
	if (doc->bad) {
		return 0;
	}
	int err = check_ids(doc);
	err = err ? err : try_definitions(doc);
	if (err || doc->bad) {
		return err;
	}
	err = list_profiles(doc);
	for (struct profile_entry *e = doc->entries; e && err == 0; e = e->next) {
		struct profile *p;
		err = e->broken ? 0 : profile_resolve(doc, e, &p);
		if (err == 0 && !e->broken) {
			profile_free(p);
		}
		e->broken = e->broken || err == -EBADMSG;
		err = err == -EBADMSG ? 0 : err;
	}
	return err;
}

/* Is there a profile that can be used? */
static bool is_of_use(const struct profile_doc *doc)
{
	const struct profile_entry *e = doc->bad ? NULL : doc->entries;
	while (e && e->broken) {
		e = e->next;
	}
	return e != NULL;
}

int profile_read(const void *bytes, size_t n, struct profile_doc **ret)
{
	return profile_read_upon(bytes, n, NULL, ret);
}

int profile_read_upon(const void *bytes, size_t n, struct profile_doc *base, struct profile_doc **ret)
{
	struct profile_doc *doc = n > PROFILE_BYTES_MAX ? NULL : calloc(1, sizeof *doc);
	if (!doc) {
		profile_close(base);
		return n > PROFILE_BYTES_MAX ? -E2BIG : -ENOMEM;
	}
	doc->base = base;
	struct diag d = {0};
	arena_init(&doc->arena, PROFILE_MEMORY_MAX);
	doc->notes_end = &doc->notes;
	int err = xml_parse(bytes, n, &doc->xml, &d);
	if (err == -EBADMSG) {
		profile_note_add(doc, true, d.line, d.column, "%s", d.text);
		err = 0;
	} else if (err == 0) {
		doc->parsed = true;
		err = understand(doc);
	}
	if (err < 0) {
		profile_close(doc);
		return err;
	}
	*ret = doc;
	return is_of_use(doc) ? 0 : -EBADMSG;
}

void profile_close(struct profile_doc *doc)
{
	if (!doc) {
		return;
	}
	if (doc->parsed) {
		xml_finish(&doc->xml);
	}
	arena_finish(&doc->arena);
	profile_close(doc->base);
	map_free(&doc->faults);
	free(doc);
}

const struct profile_note *profile_notes(const struct profile_doc *doc)
{
	return doc->notes;
}

const struct profile_entry *profile_entries(const struct profile_doc *doc)
{
	return doc->entries;
}

const char *profile_mode_text(enum profile_mode m)
{
	return m == PROFILE_FILE ? "File" : "Memory";
}

const char *profile_detail_text(enum profile_detail d)
{
	return d == PROFILE_LIGHT ? "Light" : "Verbose";
}

/* How well an entry answers "name": 0 not at all, 2 exactly, 1 with a detail level left open. */
static int answers(const struct profile_entry *e, const char *name)
{
	size_t n = strlen(e->name);
	if (strcasecmp(e->id, name) == 0) {
		return 2;
	}
	if (strncasecmp(e->name, name, n) != 0 || (name[n] != '.' && name[n] != 0)) {
		return 0;
	}
	if (name[n] == 0) {
		return 1;
	}
	return strcasecmp(name + n + 1, profile_detail_text(e->detail)) == 0 ? 2 : 0;
}

const struct profile_entry *profile_find(const struct profile_doc *doc, const char *name, enum profile_mode mode)
{
	const struct profile_entry *best = NULL;
	int best_score = 0;
	const char *want = name && *name ? name : NULL;
	for (const struct profile_entry *e = doc->entries; e && !want; e = e->next) {
		if (e->is_default) {
			want = e->name;
		}
	}
	want = want ? want : doc->entries ? doc->entries->name : "";
	for (const struct profile_entry *e = doc->entries; e; e = e->next) {
		int a = answers(e, want);
		if (a == 0 || (mode != PROFILE_ANY_MODE && e->mode != mode)) {
			continue;
		}
		int score = 4 * a + 2 * (e->detail == PROFILE_VERBOSE) + (e->mode == PROFILE_MEMORY);
		if (score > best_score) {
			best = e;
			best_score = score;
		}
	}
	return best;
}

int profile_resolve(struct profile_doc *doc, const struct profile_entry *e, struct profile **ret)
{
	const struct xml_node *n = xml_child(doc->profiles, "Profile");
	while (n && (n->line != e->line || n->column != e->column)) {
		n = xml_next(n, "Profile");
	}
	if (!n || e->broken) {
		return -EBADMSG;
	}
	struct profile *p = profile_create(NULL, PROFILE_ANY_DETAIL, PROFILE_ANY_MODE);
	if (!p) {
		return -ENOMEM;
	}
	doc->within = n;
	int err = profile_build(doc, n, p);
	doc->within = NULL;
	if (err) {
		profile_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

struct profile *profile_create(const char *name, enum profile_detail detail, enum profile_mode mode)
{
	struct profile *p = calloc(1, sizeof *p);
	if (!p) {
		return NULL;
	}
	arena_init(&p->arena, PROFILE_MEMORY_MAX);
	p->mode = mode;
	p->detail = detail;
	if (name) {
		char id[300];
		int n = snprintf(id, sizeof id, "%.255s.%s.%s", name, profile_detail_text(detail),
				 profile_mode_text(mode));
		p->name = arena_text(&p->arena, name, strlen(name));
		p->id = arena_text(&p->arena, id, (size_t)n);
		p->description = p->name;
		if (!p->name || !p->id) {
			profile_free(p);
			return NULL;
		}
	}
	return p;
}

void profile_free(struct profile *p)
{
	if (p) {
		arena_finish(&p->arena);
		free(p);
	}
}

uint32_t profile_buffer_count(const struct profile_collector *c, uint64_t memory_bytes, uint32_t processors)
{
	uint64_t n = c->buffers;
	if (c->percent_hundredths) {
		uint64_t bytes = memory_bytes / 100 * c->percent_hundredths / 100;
		if (c->percent_most_mb) {
			bytes = BASE_MIN(bytes, (uint64_t)c->percent_most_mb << 20);
		}
		n = bytes / ((uint64_t)c->buffer_kb << 10);
	} else if (c->buffers_per_cpu) {
		n = (uint64_t)c->buffers_per_cpu * processors;
	}
	return (uint32_t)BASE_MAX(2u, BASE_MIN(n, (uint64_t)UINT32_MAX));
}
