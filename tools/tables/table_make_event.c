/* SPDX-License-Identifier: MIT
 * Tables: payloads of one event; spans.
 */
#include "tools/tables/table_make.h"

#include "base/parse.h"
#include "base/vec.h"

#include <stdlib.h>
#include <tdh.h>

/* ---- payloads ------------------------------------------------------------------------------------- */

struct payloads {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	int time, cpu, stack;
	const char *name;
	uint64_t event; /* its number */
	struct field_name *names;
	uint32_t count, cap;
	struct map of;
	bool full; /* there are no more columns */
};

#define NAME_BYTES (sizeof((struct sql_column *)0)->name - 16) /* the rest is for a number */

struct field_name { /* and its columns: one event may have several fields of the name */
	char name[NAME_BYTES];
	int *columns;
	uint32_t count, cap;
	unsigned number; /* behind the name of its last column; 1: none */
	uint64_t event;  /* that had the name last */
	uint32_t used;   /* fields of the name in that event */
};

/* Also "nan" and "inf". */
static bool is_real(const struct openetw_field *f)
{
	char *end;
	strtod(f->text, &end);
	return f->text_length > 0 && end == f->text + f->text_length;
}

static enum sql_type type_of_field(const struct openetw_field *f)
{
	if (f->is_array || f->is_struct || f->json_length == 0) {
		return SQL_TYPE_TEXT;
	}
	if (f->json[0] == 't' || f->json[0] == 'f') { /* also an integer whose output is a truth value */
		return SQL_TYPE_BOOL;
	}
	/* A number that has a name is shown by it. */
	bool number = (f->json[0] >= '0' && f->json[0] <= '9') || f->json[0] == '-' ||
		      (f->json[0] == '"' && f->text_length > 0 && f->text[strspn(f->text, "-0123456789")] == 0) ||
		      (f->text_length > 2 && f->text[0] == '0' && f->text[1] == 'x' &&
		       f->text[2 + strspn(f->text + 2, "0123456789abcdefABCDEF")] == 0);
	switch (f->in_type) {
	case TDH_INTYPE_GUID: return SQL_TYPE_UUID;
	case TDH_INTYPE_FLOAT: return number || is_real(f) ? SQL_TYPE_F32 : SQL_TYPE_TEXT;
	case TDH_INTYPE_DOUBLE: return number || is_real(f) ? SQL_TYPE_F64 : SQL_TYPE_TEXT;
	case TDH_INTYPE_FILETIME:
	case TDH_INTYPE_SYSTEMTIME: return SQL_TYPE_TIMESTAMP;
	case TDH_INTYPE_INT8: return number ? SQL_TYPE_I8 : SQL_TYPE_TEXT;
	case TDH_INTYPE_INT16: return number ? SQL_TYPE_I16 : SQL_TYPE_TEXT;
	case TDH_INTYPE_INT32: return number ? SQL_TYPE_I32 : SQL_TYPE_TEXT;
	case TDH_INTYPE_INT64: return number ? SQL_TYPE_I64 : SQL_TYPE_TEXT;
	case TDH_INTYPE_UINT8: return number ? SQL_TYPE_U8 : SQL_TYPE_TEXT;
	case TDH_INTYPE_UINT16: return number ? SQL_TYPE_U16 : SQL_TYPE_TEXT;
	case TDH_INTYPE_HEXINT32:
	case TDH_INTYPE_UINT32: return number ? SQL_TYPE_U32 : SQL_TYPE_TEXT;
	case TDH_INTYPE_HEXINT64:
	case TDH_INTYPE_SIZET:
	case TDH_INTYPE_POINTER:
	case TDH_INTYPE_UINT64: return number ? SQL_TYPE_U64 : SQL_TYPE_TEXT;
	default: return SQL_TYPE_TEXT;
	}
}

/* Microseconds since 1970. */
static bool unix_time(const char *text, int64_t *ret)
{
	uint64_t filetime;
	bool ok = parse_time(text, &filetime);
	*ret = ok ? ((int64_t)filetime - 116444736000000000ll) / 10 : 0;
	return ok;
}

static void put_field(struct table_build *b, int column, const struct openetw_field *f)
{
	enum sql_type type = type_of_field(f), has = table_build_type(b, column);
	struct guid g;
	int64_t time;
	char *end;
	if (type == SQL_TYPE_TEXT || has == SQL_TYPE_TEXT) {
		table_build_text(b, column, f->text, f->text_length);
	} else if (type == SQL_TYPE_UUID && guid_parse(f->text, &g) == 0) {
		table_build_guid(b, column, &g);
	} else if (type == SQL_TYPE_TIMESTAMP && unix_time(f->text, &time)) {
		table_build_number(b, column, (uint64_t)time);
	} else if (type == SQL_TYPE_BOOL) {
		table_build_number(b, column, f->json[0] == 't');
	} else if (type == SQL_TYPE_F32 || type == SQL_TYPE_F64) {
		table_build_float(b, column, strtod(f->text, &end));
	} else if (type >= SQL_TYPE_I8 && type <= SQL_TYPE_U64) {
		table_build_number(b, column,
				   f->text[0] == '-' ? (uint64_t)strtoll(f->text, &end, 10)
						     : strtoull(f->text, &end, f->text[1] == 'x' ? 16 : 10));
	} else {
		table_build_text(b, column, f->text, f->text_length);
	}
}

/* NULL: it is a new name, and there is no room. */
static struct field_name *name_of(struct payloads *t, const struct openetw_field *f)
{
	struct field_name new = {.number = 0};
	size_t n = BASE_MIN(f->name_length, sizeof new.name - 1);
	for (size_t i = 0; i < n; i++) { /* columns have the same name in any case */
		new.name[i] = (char)(f->name[i] >= 'A' && f->name[i] <= 'Z' ? f->name[i] + 32 : f->name[i]);
	}
	uint64_t key = map_hash(&t->of, new.name, sizeof new.name);
	MAP_EACH(&t->of, key, at) {
		struct field_name *known = &t->names[map_value(&t->of, at)];
		if (memcmp(known->name, new.name, sizeof new.name) == 0) {
			return known;
		}
	}
	if (t->full || !VEC_ROOM(t->names, t->count, t->cap) || map_add(&t->of, key, t->count) < 0) {
		return NULL;
	}
	t->names[t->count] = new;
	return &t->names[t->count++];
}

/* Also a name that stands for something else gets a number. Numbers only rise, so all searches together look at each
 * column once for each name. */
static int new_column(struct payloads *t, struct field_name *name, const struct openetw_field *f)
{
	char text[sizeof((struct sql_column *)0)->name];
	size_t n = BASE_MIN(f->name_length, sizeof name->name - 1);
	if (t->full || !VEC_ROOM(name->columns, name->count, name->cap)) {
		return -1;
	}
	do {
		name->number++;
		snprintf(text, sizeof text, name->number == 1 ? "%.*s" : "%.*s_%u", (int)n, f->name, name->number);
	} while (table_build_find(t->b, text, strlen(text)) >= 0);
	int column = table_build_column(t->b, text, type_of_field(f));
	t->full = column < 0;
	if (column >= 0) {
		name->columns[name->count++] = column;
	}
	return column;
}

/* The same name in other versions of the event is the same column. A second field of a name in one event, or one whose
 * name is that of a column of all tables, gets a number behind its name. */
static int column_of(struct payloads *t, const struct openetw_field *f)
{
	struct field_name *name = name_of(t, f);
	if (!name) {
		return -1;
	}
	name->used = name->event == t->event ? name->used : 0;
	name->event = t->event;
	uint32_t i = name->used++;
	return i < name->count ? name->columns[i] : new_column(t, name, f);
}

/* Wider numbers of other versions are kept as such. */
static bool fits(enum sql_type has, enum sql_type type)
{
	bool signs = has >= SQL_TYPE_I8 && has <= SQL_TYPE_I64,
	     type_signs = type >= SQL_TYPE_I8 && type <= SQL_TYPE_I64;
	bool integers = (signs || (has >= SQL_TYPE_U8 && has <= SQL_TYPE_U64)) &&
			(type_signs || (type >= SQL_TYPE_U8 && type <= SQL_TYPE_U64));
	return has == type || has == SQL_TYPE_TEXT ||
	       (integers && signs == type_signs && sql_type_bytes(has) >= sql_type_bytes(type));
}

static bool on_field(void *context, const struct openetw_field *f)
{
	struct payloads *t = context;
	int column = column_of(t, f);
	if (column < 0) {
		return true;
	}
	if (fits(table_build_type(t->b, column), type_of_field(f))) {
		put_field(t->b, column, f);
	} else {
		table_build_text(t->b, column, f->text, f->text_length);
	}
	return true;
}

/* "Provider/Event" */
static bool is_named(const char *provider, const char *event, const char *name)
{
	size_t n = strlen(provider);
	return strncasecmp(provider, name, n) == 0 && name[n] == '/' && strcasecmp(event, name + n + 1) == 0;
}

static void put_payload(void *context, const EVENT_RECORD *e)
{
	struct payloads *t = context;
	struct openetw_event_origin o = {.size = sizeof o};
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	struct table_kind *kind = table_make_kind(t->m, e);
	if (kind && kind->wanted == 0) {
		kind->wanted = is_named(kind->provider, kind->name, t->name) ? 2 : 1;
	}
	if (!kind || kind->wanted != 2 || openetw_state_event(t->m->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	table_build_number(t->b, t->time, (uint64_t)table_make_time(t->m, time));
	table_who_put(t->m, t->b, &t->who, o.pid, o.tid, time);
	table_build_number(t->b, t->cpu, GetEventProcessorIndex(e));
	uint32_t stack = table_make_stack(t->m, e);
	if (stack) {
		table_build_number(t->b, t->stack, stack);
	}
	t->event++;
	openetw_decode_fields(t->m->decoder, e, on_field, t);
	table_build_row(t->b);
}

/* The names that could have been meant: tables, then events. */
struct candidates {
	char **names;
	uint32_t count, cap;
};

static void add_candidate(struct candidates *c, const char *provider, const char *event)
{
	struct strbuf b = {0};
	strbuf_adds(&b, provider);
	strbuf_adds(&b, event ? "/" : "");
	strbuf_adds(&b, event ? event : "");
	if (b.failed || !VEC_ROOM(c->names, c->count, c->cap)) {
		strbuf_finish(&b);
		return;
	}
	c->names[c->count++] = b.s;
}

static const char *next_name(const void *context, int i)
{
	const struct candidates *c = context;
	return (uint32_t)i < c->count ? c->names[i] : NULL;
}

static void say_nearest(struct table_maker *m, const char *name, char *why, size_t cap)
{
	struct candidates c = {0};
	struct openetw_index_type t = {.size = sizeof t};
	for (const char *const *table = table_make_names(); *table; table++) {
		add_candidate(&c, *table, NULL);
	}
	for (uint32_t i = 0; i < m->about.types; i++) {
		if (openetw_index_type(m->index, i, &t) == ERROR_SUCCESS && t.rows) {
			add_candidate(&c, t.provider, t.name);
		}
	}
	const char *near = cli_nearest(name, next_name, &c);
	if (near) {
		snprintf(why, cap, "there is no table \"%s\" and no such event in the trace; did you mean \"%s\"?",
			 name, near);
	} else {
		snprintf(why, cap,
			 "there is no table \"%s\" and no such event in the trace; --tables (at the prompt .tables) "
			 "lists them",
			 name);
	}
	for (uint32_t i = 0; i < c.count; i++) {
		free(c.names[i]);
	}
	free(c.names);
}

struct table_build *table_make_payloads(struct table_maker *m, const char *name, char *why, size_t cap)
{
	struct payloads t = {.m = m, .name = name};
	bool any = false;
	struct openetw_index_type of = {.size = sizeof of};
	for (uint32_t i = 0; i < m->about.types && !any; i++) {
		any = openetw_index_type(m->index, i, &of) == ERROR_SUCCESS && is_named(of.provider, of.name, name);
	}
	for (uint32_t i = 0; i < m->kind_count; i++) {
		m->kinds[i].wanted = 0;
	}
	if (!any) {
		say_nearest(m, name, why, cap);
		return NULL;
	}
	t.b = table_build_create();
	bool ok = t.b != NULL;
	if (ok) {
		t.time = table_build_column(t.b, "time", SQL_TYPE_I64);
		table_who_columns(t.b, &t.who);
		t.cpu = table_build_column(t.b, "cpu", SQL_TYPE_U16);
		t.stack = table_build_column(t.b, "stack", SQL_TYPE_U32);
		ok = table_make_pass(m, put_payload, &t, why, cap);
	} else {
		snprintf(why, cap, "no memory");
	}
	if (!ok) {
		table_build_destroy(t.b);
		t.b = NULL;
	}
	for (uint32_t i = 0; i < t.count; i++) {
		free(t.names[i].columns);
	}
	free(t.names);
	map_free(&t.of);
	return t.b;
}

/* ---- spans ---------------------------------------------------------------------------------------- */

/* A span begins with an event of opcode Start and ends with the next one of opcode Stop that has the same provider and
 * task and the same activity; without activities, the same thread. */
struct open_span {
	bool open;
	uint32_t older; /* that was open already when this one began, and is the same: its place + 1; 0: none */
	GUID provider, activity;
	uint32_t kind, pid, tid;
	uint16_t task;
	uint64_t time;
	uint32_t cpu, stack;
};
struct spans {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	int time, duration, provider, name, activity, cpu, stack, ended;
	struct open_span *open;
	uint32_t count, cap, *free;
	uint32_t free_count, free_cap;
	struct map of; /* the newest of each */
};

enum { OPCODE_START = 1, OPCODE_STOP = 2 };

static void put_span(struct spans *t, const struct open_span *s, uint64_t end)
{
	struct guid activity;
	const struct table_kind *k = &t->m->kinds[s->kind];
	const char *slash = strrchr(k->name, '/');
	table_build_number(t->b, t->time, (uint64_t)table_make_time(t->m, s->time));
	if (end) {
		table_build_number(t->b, t->duration, (end - s->time) * 100);
	}
	table_build_number(t->b, t->ended, end != 0);
	table_put_string(t->b, t->provider, k->provider);
	table_build_text(t->b, t->name, k->name, slash ? (size_t)(slash - k->name) : strlen(k->name));
	table_who_put(t->m, t->b, &t->who, s->pid, s->tid, s->time);
	table_build_number(t->b, t->cpu, s->cpu);
	if (s->stack) {
		table_build_number(t->b, t->stack, s->stack);
	}
	memcpy(&activity, &s->activity, sizeof activity);
	if (!guid_is_zero(&activity)) {
		table_build_guid(t->b, t->activity, &activity);
	}
	table_build_row(t->b);
}

static bool same_span(const struct open_span *a, const struct open_span *b)
{
	return memcmp(&a->provider, &b->provider, sizeof a->provider) == 0 && a->task == b->task &&
	       memcmp(&a->activity, &b->activity, sizeof a->activity) == 0 && a->tid == b->tid && a->pid == b->pid;
}

static void end_span(struct spans *t, size_t at, const struct open_span *stop, uint32_t tid)
{
	uint32_t i = (uint32_t)map_value(&t->of, at);
	struct open_span done = t->open[i];
	if (done.older) {
		map_set(&t->of, at, done.older - 1);
	} else {
		map_remove(&t->of, at);
	}
	t->open[i].open = false;
	done.tid = done.tid ? done.tid : tid;
	put_span(t, &done, stop->time);
	if (VEC_ROOM(t->free, t->free_count, t->free_cap)) {
		t->free[t->free_count++] = i;
	}
}

static void put_edge(void *context, const EVENT_RECORD *e)
{
	struct spans *t = context;
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	struct openetw_event_origin o = {.size = sizeof o};
	struct guid activity;
	/* Classic events of the kernel have opcodes 1 and 2, too: processes and threads are no spans of a thread. */
	if ((d->Opcode != OPCODE_START && d->Opcode != OPCODE_STOP) ||
	    (e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) ||
	    openetw_state_event(t->m->state, e, &o) != ERROR_SUCCESS) {
		return;
	}
	struct open_span s = {.provider = e->EventHeader.ProviderId,
			      .activity = e->EventHeader.ActivityId,
			      .task = d->Task,
			      .time = (uint64_t)e->EventHeader.TimeStamp.QuadPart,
			      .cpu = GetEventProcessorIndex(e)};
	memcpy(&activity, &s.activity, sizeof activity);
	bool has_activity = !guid_is_zero(&activity);
	s.pid = o.pid;
	s.tid = has_activity ? 0 : o.tid;
	uint64_t key =
		map_hash(&t->of, &s.activity, sizeof s.activity) ^ map_hash(&t->of, &s.provider, sizeof s.provider);
	key = map_mix(key ^ ((uint64_t)s.task << 32 | s.tid), s.pid + 0x9E3779B97F4A7C15ull);
	size_t newest = MAP_NONE;
	MAP_EACH(&t->of, key, at) {
		if (same_span(&t->open[map_value(&t->of, at)], &s)) {
			newest = at;
		}
	}
	if (d->Opcode == OPCODE_STOP) {
		if (newest != MAP_NONE) {
			end_span(t, newest, &s, o.tid);
		}
		return;
	}
	const struct table_kind *kind = table_make_kind(t->m, e);
	if (!kind) {
		return;
	}
	s.kind = (uint32_t)(kind - t->m->kinds);
	s.stack = table_make_stack(t->m, e);
	s.open = true;
	s.older = newest == MAP_NONE ? 0 : (uint32_t)map_value(&t->of, newest) + 1;
	uint32_t i = t->free_count ? t->free[--t->free_count] : t->count;
	if ((i == t->count && !VEC_ROOM(t->open, t->count, t->cap)) ||
	    (newest == MAP_NONE && map_add(&t->of, key, i) < 0)) {
		t->m->failed = true;
		return;
	}
	if (newest != MAP_NONE) {
		map_set(&t->of, newest, i);
	}
	t->count += i == t->count;
	t->open[i] = s;
}

struct table_build *table_make_spans(struct table_maker *m, char *why, size_t cap)
{
	struct spans t = {.m = m, .b = table_build_create()};
	if (!t.b) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	t.time = table_build_column(t.b, "start", SQL_TYPE_I64);
	t.duration = table_build_column(t.b, "duration", SQL_TYPE_U64);
	t.ended = table_build_column(t.b, "ended", SQL_TYPE_BOOL);
	t.provider = table_build_column(t.b, "provider", SQL_TYPE_TEXT);
	t.name = table_build_column(t.b, "name", SQL_TYPE_TEXT);
	table_who_columns(t.b, &t.who);
	t.cpu = table_build_column(t.b, "cpu", SQL_TYPE_U16);
	t.stack = table_build_column(t.b, "stack", SQL_TYPE_U32);
	t.activity = table_build_column(t.b, "activity", SQL_TYPE_UUID);
	bool ok = table_make_pass(m, put_edge, &t, why, cap);
	for (uint32_t i = 0; ok && i < t.count; i++) {
		if (t.open[i].open) {
			put_span(&t, &t.open[i], 0);
		}
	}
	free(t.open);
	free(t.free);
	map_free(&t.of);
	if (!ok) {
		table_build_destroy(t.b);
		return NULL;
	}
	return t.b;
}
