/* SPDX-License-Identifier: MIT */
#include "tools/tables/index_words.h"

#include "etw/values/errors.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MOST 2000u /* of fields and of events */
#define OTHER_MOST 500u  /* of providers and of processes */
#define TYPES_MOST 2000u /* whose fields are looked at */

struct list {
	char *name[NAMES_MOST + 1]; /* NULL behind the last */
	uint32_t count;
};
struct index_words {
	struct filter_vocabulary vocabulary;
	struct list fields, events, providers, processes;
};

static void add(struct list *l, const char *name, size_t n)
{
	if (n == 0 || l->count == NAMES_MOST) {
		return;
	}
	for (uint32_t i = 0; i < l->count; i++) {
		if (strncmp(l->name[i], name, n) == 0 && l->name[i][n] == 0) {
			return;
		}
	}
	l->name[l->count] = strndup(name, n);
	l->count += l->name[l->count] != NULL;
}

static bool take_name(void *context, const struct openetw_facet *f)
{
	if (f->id != UINT32_MAX && f->text) {
		add(context, f->text, strlen(f->text));
	}
	return true;
}

/* Members that begin with "_" are not fields, but what is said of a payload that cannot be decoded. */
static bool take_field(void *context, const struct openetw_field *f)
{
	if (f->name_length && f->name[0] != '_') {
		add(context, f->name, f->name_length);
	}
	return true;
}

/* ---- the first event of each type ------------------------------------------------------------------ */

struct type_seen {
	uint32_t type;
	int64_t first;
};
struct types {
	struct index_words *words;
	struct openetw_index *x;
	struct type_seen list[TYPES_MOST];
	uint32_t count;
};

static bool take_type(void *context, const struct openetw_facet *f)
{
	struct types *t = context;
	OPENETW_SIZED(struct openetw_index_type, type);
	if (f->id != UINT32_MAX && openetw_index_type(t->x, f->id, &type) == ERROR_SUCCESS) {
		add(&t->words->events, type.name, strlen(type.name));
		t->list[t->count++] = (struct type_seen){f->id, f->first};
	}
	return t->count < TYPES_MOST;
}

struct first_of {
	const struct type_seen *wanted;
	uint64_t row;
	bool found;
};

static bool look_at_type(void *context, const struct openetw_row *r)
{
	struct first_of *x = context;
	if (r->type == x->wanted->type) {
		x->found = true;
		x->row = r->row;
	}
	return !x->found && r->time <= x->wanted->first;
}

static void add_fields(struct types *t, struct openetw_query *q, struct openetw_decoder *d)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct first_of x = {.wanted = &t->list[i]};
		const openetw_event_record *e;
		uint64_t at;
		if (openetw_query_position(q, t->list[i].first, &at) == ERROR_SUCCESS &&
		    openetw_query_rows(q, at, UINT64_MAX - at, look_at_type, &x, NULL) == ERROR_SUCCESS && x.found &&
		    openetw_query_event(q, x.row, &e) == ERROR_SUCCESS) {
			openetw_decode_fields(d, e, take_field, &t->words->fields);
		}
	}
}

struct index_words *index_words_create(struct openetw_index *x, struct openetw_decoder *d)
{
	struct index_words *w = calloc(1, sizeof *w);
	struct types *types = calloc(1, sizeof *types);
	struct openetw_query *q = openetw_query_create(x);
	if (!w || !types || !q || !d) {
		openetw_query_destroy(q);
		free(types);
		free(w);
		return NULL;
	}
	types->words = w;
	types->x = x;
	openetw_query_facets(q, OPENETW_BY_PROVIDER, OTHER_MOST, take_name, &w->providers, NULL);
	openetw_query_facets(q, OPENETW_BY_PROCESS_NAME, OTHER_MOST, take_name, &w->processes, NULL);
	openetw_query_facets(q, OPENETW_BY_TYPE, TYPES_MOST, take_type, types, NULL);
	add_fields(types, q, d);
	openetw_query_destroy(q);
	free(types);
	w->vocabulary = (struct filter_vocabulary){.fields = (const char *const *)w->fields.name,
						   .providers = (const char *const *)w->providers.name,
						   .events = (const char *const *)w->events.name,
						   .processes = (const char *const *)w->processes.name};
	return w;
}

static void list_finish(struct list *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		free(l->name[i]);
	}
}

void index_words_destroy(struct index_words *w)
{
	if (w) {
		list_finish(&w->fields);
		list_finish(&w->events);
		list_finish(&w->providers);
		list_finish(&w->processes);
		free(w);
	}
}

const struct filter_vocabulary *index_words_get(const struct index_words *w)
{
	return &w->vocabulary;
}
