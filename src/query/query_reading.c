/* SPDX-License-Identifier: MIT */
#include "query/query_reading.h"

#include "base/json_text.h"
#include "base/vec.h"
#include "consume/consume_view.h"
#include "machine/machine.h"
#include "query/query_fetch.h"
#include "query/query_frames.h"
#include "query/query_known.h"

#include "openetw/decode.h"

#include <stdio.h>
#include <stdlib.h>

#define FIELDS_MAX   1024u
#define CANCEL_EVERY 64u
/* About frames and paths, of all threads of a query: 128 MiB. */
#define FRAMES_ANSWERS (1u << 21)
/* Rows of a group whose buffers have numbers so near each other are sorted by counting. */
#define BUFFERS_SORTED 4096u

struct one_field {
	size_t name, name_length; /* in `store` */
	size_t text, text_length;
	size_t json, json_length;
};
struct reading {
	struct openetw_index *x;
	struct openetw_decoder *decoder;
	struct consume_view view;
	struct fetch **fetch;         /* of each file; NULL: not open */
	struct machine **machine;     /* of each file; NULL: not asked for yet */
	const struct plan_event *row; /* what columns say of the event; while rows are judged */
	struct frames *frames;        /* NULL: nobody asked for stacks yet */
	struct etl_record record;
	EVENT_RECORD event;
	bool decoded;
	uint32_t result; /* of decoding: OPENETW_DECODED, … */
	size_t unread;   /* bytes at the payload's end that are in no field */
	struct one_field *fields;
	uint32_t field_count, field_cap;
	struct strbuf store, scratch;
	char text[64];
	struct due *due, *due_sorted;
	uint32_t *places; /* of the buffers' rows in due_sorted */
	struct known *known;
};

struct reading *reading_make(struct openetw_index *x)
{
	struct reading *r = calloc(1, sizeof *r);
	if (r) {
		r->x = x;
		r->decoder = openetw_decoder_create();
		r->fetch = calloc(x->file_count + 1ull, sizeof(struct fetch *));
		r->machine = calloc(x->file_count + 1ull, sizeof(struct machine *));
		r->due = malloc(STORE_GROUP_ROWS * sizeof *r->due);
		r->due_sorted = malloc(STORE_GROUP_ROWS * sizeof *r->due);
		r->places = malloc((BUFFERS_SORTED + 1) * sizeof *r->places);
		r->known = known_make();
	}
	if (r && (!r->decoder || !r->fetch || !r->machine || !r->due || !r->due_sorted || !r->places || !r->known)) {
		reading_free(r);
		return NULL;
	}
	return r;
}

void reading_free(struct reading *r)
{
	if (!r) {
		return;
	}
	for (uint32_t f = 0; r->fetch && f < r->x->file_count; f++) {
		fetch_close(r->fetch[f]);
	}
	for (uint32_t f = 0; r->machine && f < r->x->file_count; f++) {
		machine_destroy(r->machine[f]);
	}
	openetw_decoder_destroy(r->decoder);
	consume_view_free(&r->view);
	strbuf_finish(&r->store);
	strbuf_finish(&r->scratch);
	free(r->fetch);
	free(r->machine);
	free(r->fields);
	free(r->due);
	free(r->due_sorted);
	free(r->places);
	known_free(r->known);
	frames_free(r->frames);
	free(r);
}

void reading_renew(struct reading *r, struct openetw_index *x)
{
	r->x = x;
	if (x->files[0].store.ring) {
		/* Columns of the view before are gone, and another may be where one of them was. */
		known_forget(r->known);
		machine_destroy(r->machine[0]);
		r->machine[0] = NULL;
		frames_forget(r->frames);
	}
	for (uint32_t f = 0; f < x->file_count; f++) {
		if (r->fetch[f]) {
			fetch_renew(r->fetch[f], &x->files[f].store);
		}
	}
}

int reading_of(struct scan *s, struct reading **ret)
{
	if (!s->reading) {
		s->reading = reading_make(s->q->x);
	}
	*ret = s->reading;
	return s->reading ? 0 : -ENOMEM;
}

/* ---- one event ----------------------------------------------------------------------------------- */

static int fetch_of(struct reading *r, uint32_t file)
{
	const struct index_file *f = &r->x->files[file];
	return r->fetch[file] ? 0 : fetch_open(f->fd, &f->store, &r->fetch[file], NULL);
}

int reading_raw(struct reading *r, uint32_t file, uint64_t where, struct etl_record *ret)
{
	int err = fetch_of(r, file);
	return err < 0 ? err : fetch_record(r->fetch[file], where, ret);
}

int reading_frequency(struct reading *r, uint32_t file, uint64_t *ret)
{
	int err = fetch_of(r, file);
	*ret = err == 0 ? fetch_frequency(r->fetch[file]) : 0;
	return err;
}

int reading_event(struct reading *r, uint32_t file, uint64_t where)
{
	struct etl_record *e = &r->record;
	int err = reading_raw(r, file, where, e);
	err = err < 0 ? err : consume_view_fill(&r->view, e, e->time_filetime, NULL, &r->event);
	r->decoded = false;
	return err;
}

const EVENT_RECORD *reading_record(const struct reading *r)
{
	return &r->event;
}

static bool take_field(void *context, const struct openetw_field *f)
{
	struct reading *r = context;
	if (!VEC_ROOM_UP_TO(r->fields, r->field_count, r->field_cap, FIELDS_MAX)) {
		return false;
	}
	struct one_field *to = &r->fields[r->field_count++];
	to->name = r->store.len;
	to->name_length = f->name_length;
	strbuf_add(&r->store, f->name, f->name_length);
	to->text = r->store.len;
	to->text_length = f->text_length;
	strbuf_add(&r->store, f->text, f->text_length);
	to->json = r->store.len;
	to->json_length = f->json_length;
	strbuf_add(&r->store, f->json, f->json_length);
	return !r->store.failed;
}

static bool decode(struct reading *r)
{
	if (!r->decoded) {
		r->field_count = 0;
		strbuf_clear(&r->store);
		r->result = openetw_decode_fields(r->decoder, &r->event, take_field, r);
		r->unread = openetw_decoder_unread(r->decoder);
		r->decoded = true;
	}
	return !r->store.failed && r->store.s;
}

/* Is it that field, or one of its members? *ret_rest is the path behind the name. */
static bool is_named(const char *field, size_t n, const char *name, const char **ret_rest)
{
	if (strncmp(field, name, n) != 0 || memchr(name, 0, n) || (name[n] != 0 && name[n] != '.')) {
		return false;
	}
	*ret_rest = name + n + (name[n] == '.');
	return true;
}

/* A field that is asked for. */
struct wanted {
	struct reading *reading;
	const char *name;
	const char *text, *json; /* of the event's field */
	size_t text_length, json_length;
	bool found;
};

/* The text of a field, or of a member of it: of its JSON. */
static bool value_of(struct reading *r, const char *rest, const struct wanted *w, const char **ret_text,
		     size_t *ret_length)
{
	if (rest[0] == 0) {
		*ret_text = w->text;
		*ret_length = w->text_length;
		return true;
	}
	const char *s = w->json;
	size_t n = w->json_length;
	if (!json_text_member(&s, &n, rest)) {
		return false;
	}
	json_text_plain(&r->scratch, s, n);
	*ret_text = r->scratch.s ? r->scratch.s : "";
	*ret_length = r->scratch.len;
	return !r->scratch.failed;
}

static bool field_of_all(struct reading *r, const char *name, const char **ret_text, size_t *ret_length)
{
	const char *rest, *store = r->store.s;
	for (uint32_t i = 0; i < r->field_count; i++) {
		const struct one_field *f = &r->fields[i];
		const struct wanted w = {.text = store + f->text,
					 .text_length = f->text_length,
					 .json = store + f->json,
					 .json_length = f->json_length};
		if (is_named(store + f->name, f->name_length, name, &rest) &&
		    value_of(r, rest, &w, ret_text, ret_length)) {
			return true;
		}
	}
	return false;
}

/* Of one field: the first that has what is asked for. */
static bool take_wanted(void *context, const struct openetw_field *f)
{
	struct wanted *w = context;
	const char *rest, *text;
	size_t length;
	if (!is_named(f->name, f->name_length, w->name, &rest)) {
		return true;
	}
	w->text = f->text;
	w->text_length = f->text_length;
	w->json = f->json;
	w->json_length = f->json_length;
	if (!value_of(w->reading, rest, w, &text, &length)) {
		return true;
	}
	strbuf_clear(&w->reading->store);
	strbuf_add(&w->reading->store, text, length);
	w->found = true;
	return false;
}

bool reading_field(struct reading *r, const char *name, const char **ret_text, size_t *ret_length)
{
	if (r->decoded) {
		return decode(r) && field_of_all(r, name, ret_text, ret_length);
	}
	struct wanted w = {.reading = r, .name = name};
	openetw_decode_field(r->decoder, &r->event, name, take_wanted, &w);
	*ret_text = r->store.s ? r->store.s : "";
	*ret_length = r->store.len;
	return w.found && !r->store.failed;
}

uint32_t reading_number(struct reading *r, struct field_column *c)
{
	const char *text;
	size_t length;
	if (!reading_field(r, field_name(c), &text, &length)) {
		return FIELD_ABSENT;
	}
	return known_number(r->known, c, text, length);
}

/* ---- the machine ----------------------------------------------------------------------------------- */

/* What the trace says of files and modules, from the records that say it. Before an event is read: it reads others. */
static int machine_begin(struct reading *r, uint32_t file)
{
	static const uint32_t kinds[] = {STORE_TELLERS, STORE_TEACHERS};
	const struct index_file *f = &r->x->files[file];
	struct etl_record e;
	if (r->machine[file]) {
		return 0;
	}
	int err = r->fetch[file] ? 0 : fetch_open(f->fd, &f->store, &r->fetch[file], NULL);
	if (err < 0) {
		return err;
	}
	r->machine[file] = machine_create(0);
	if (!r->machine[file]) {
		return -ENOMEM;
	}
	for (size_t k = 0; k < BASE_ARRAY_LEN(kinds); k++) {
		uint64_t bytes, count;
		const uint64_t *where = store_section(&f->store, kinds[k], 0, &bytes, &count);
		for (uint64_t i = 0; i < count; i++) {
			if (fetch_record(r->fetch[file], where[i], &e) == 0) {
				machine_add(r->machine[file], &e);
			}
		}
	}
	return 0;
}

int reading_machine(struct reading *r, uint32_t file, struct machine **ret)
{
	int err = machine_begin(r, file);
	*ret = r->machine[file];
	return err;
}

static enum filter_answer give_file(struct reading *r, const struct filter_node *n, struct filter_expr_value *ret)
{
	uint64_t key = r->row ? machine_file_key(&r->record) : 0;
	const char *path = NULL;
	if (key) {
		path = machine_file(r->machine[r->row->file_at], key, r->record.time_filetime);
	}
	if (path) {
		*ret = (struct filter_expr_value){.text = path, .length = strlen(path)};
		return FILTER_VALUE_PRESENT;
	}
	return reading_field(r, n->name, &ret->text, &ret->length) ? FILTER_VALUE_PRESENT : FILTER_VALUE_ABSENT;
}

static enum filter_answer ask_stack(void *reading, const struct plan_event *e, const struct filter_node *n,
				    struct filter_expr_value *ret)
{
	struct reading *r = reading;
	return frames_ask(r->frames, r->machine[e->file_at], e, n, ret);
}

int reading_stacks(struct scan *s, uint32_t file, struct plan_reader *ret)
{
	struct reading *r;
	int err = reading_of(s, &r);
	err = err < 0 ? err : machine_begin(r, file);
	if (err == 0 && !r->frames) {
		r->frames = frames_make(FRAMES_ANSWERS / BASE_MAX(s->q->threads, 1u));
		err = r->frames ? 0 : -ENOMEM;
	}
	if (err == 0) {
		*ret = (struct plan_reader){.stack = ask_stack, .reader = r};
	}
	return err;
}

void reading_forget(struct reading *r)
{
	if (r) {
		frames_forget(r->frames);
	}
}

/* ---- what a filter asks for ------------------------------------------------------------------------ */

static enum filter_answer give_guid(struct reading *r, const void *guid, struct filter_expr_value *ret)
{
	struct guid g;
	memcpy(g.b, guid, sizeof g.b);
	if (guid_is_zero(&g)) {
		return FILTER_VALUE_ABSENT;
	}
	guid_format(&g, r->text);
	ret->text = r->text;
	ret->length = strlen(r->text);
	return FILTER_VALUE_PRESENT;
}

static enum filter_answer related_activity(struct reading *r, struct filter_expr_value *ret)
{
	for (USHORT i = 0; i < r->event.ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *e = &r->event.ExtendedData[i];
		if (e->ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID) {
			return e->DataSize == sizeof(GUID) ? give_guid(r, (const void *)(uintptr_t)e->DataPtr, ret)
							   : FILTER_VALUE_ABSENT;
		}
	}
	return FILTER_VALUE_ABSENT;
}

/* Bytes behind what was decoded. The text that is given is what the node asks for: that passes. */
static enum filter_answer undecoded_text(struct reading *r, const struct filter_node *n, struct filter_expr_value *ret)
{
	size_t bytes = BASE_MIN(r->unread, (size_t)r->event.UserDataLength);
	const uint8_t *from = (const uint8_t *)r->event.UserData + (r->event.UserDataLength - bytes);
	if (bytes == 0 || !filter_bytes_have(n, from, bytes, &r->scratch)) {
		return bytes && r->scratch.failed ? FILTER_VALUE_UNKNOWN : FILTER_VALUE_ABSENT;
	}
	*ret = (struct filter_expr_value){.text = n->value, .length = strlen(n->value), .index = ret->index};
	return FILTER_VALUE_PRESENT;
}

/* The fields one after the other, then the bytes that are in none. All of the payload's bytes tell first that it is in
 * none of these. */
static enum filter_answer next_text(struct reading *r, const struct filter_node *n, struct filter_expr_value *ret)
{
	const char *literal;
	size_t bytes;
	uint32_t i = ret->index;
	if (i == 0 && filter_node_literal(n, &literal, &bytes) &&
	    !filter_bytes_contain(r->event.UserData, r->event.UserDataLength, literal, bytes)) {
		return FILTER_VALUE_ABSENT;
	}
	uint32_t count = decode(r) && r->result != OPENETW_NO_SCHEMA ? r->field_count : 0;
	if (i >= count) {
		return i == count ? undecoded_text(r, n, ret) : FILTER_VALUE_ABSENT;
	}
	ret->text = r->store.s + r->fields[i].text;
	ret->length = r->fields[i].text_length;
	return FILTER_VALUE_PRESENT;
}

enum filter_answer reading_lookup(void *reading, const struct filter_node *n, struct filter_expr_value *ret)
{
	struct reading *r = reading;
	enum filter_property asks = n->payload ? FILTER_PROPERTY_FIELD : n->property;
	switch (asks) {
	case FILTER_PROPERTY_ACTIVITY: return give_guid(r, &r->event.EventHeader.ActivityId, ret);
	case FILTER_PROPERTY_RELATED_ACTIVITY: return related_activity(r, ret);
	case FILTER_PROPERTY_LENGTH:
		*ret = (struct filter_expr_value){
			.text = r->text, .is_number = true, .number = r->event.UserDataLength};
		ret->length = (size_t)snprintf(r->text, sizeof r->text, "%u", r->event.UserDataLength);
		return FILTER_VALUE_PRESENT;
	case FILTER_PROPERTY_TEXT: return next_text(r, n, ret);
	case FILTER_PROPERTY_STACK:
	case FILTER_PROPERTY_DURATION: return FILTER_VALUE_ABSENT; /* plan_lookup() knows them */
	case FILTER_PROPERTY_FILE: return give_file(r, n, ret);
	case FILTER_PROPERTY_FIELD:
	case FILTER_PROPERTY_PROCESS: break;
	default: return FILTER_VALUE_ABSENT; /* a column has it */
	}
	return reading_field(r, n->name, &ret->text, &ret->length) ? FILTER_VALUE_PRESENT : FILTER_VALUE_ABSENT;
}

enum field_of_type reading_look(void *reading, uint32_t file, uint32_t type, struct field_column *c)
{
	struct reading *r = reading;
	const struct store *s = &r->x->files[file].store;
	const char *name = field_name(c), *rest;
	enum field_of_type has = FIELD_OF_TYPE_NONE;
	/* Names of our own stand in what cannot be decoded, which differs from event to event. Of a type without a schema
	 * there are no others. Type 0 is of any event. */
	if (name[0] == '_' || type == 0 || type >= s->type_count ||
	    reading_event(r, file, s->types[type].first_where) < 0 || !decode(r) || r->result == OPENETW_PARTLY) {
		has = FIELD_OF_TYPE_MAY_BE;
	}
	for (uint32_t i = 0; has == FIELD_OF_TYPE_NONE && i < r->field_count; i++) {
		if (is_named(r->store.s + r->fields[i].name, r->fields[i].name_length, name, &rest)) {
			has = FIELD_OF_TYPE_MAY_BE;
		}
	}
	field_set_of_type(c, file, type, has);
	return has;
}

/* ---- many events --------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct due *x = a, *y = b;
	return x->where < y->where ? -1 : x->where > y->where;
}

struct due *reading_due(struct reading *r)
{
	return r->due;
}

/* Rows come in the order of time, so those of one buffer are in order: only buffers have to be brought together. */
const struct due *reading_in_order(struct reading *r, uint32_t count)
{
	uint32_t low = UINT32_MAX, high = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t buffer = (uint32_t)(r->due[i].where >> 32);
		low = BASE_MIN(low, buffer);
		high = BASE_MAX(high, buffer);
	}
	if (count == 0 || high - low >= BUFFERS_SORTED) {
		qsort(r->due, count, sizeof *r->due, by_place);
		return r->due;
	}
	memset(r->places, 0, (high - low + 2ull) * sizeof *r->places);
	for (uint32_t i = 0; i < count; i++) {
		r->places[(r->due[i].where >> 32) - low + 1]++;
	}
	for (uint32_t i = 0; i < high - low; i++) {
		r->places[i + 1] += r->places[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		r->due_sorted[r->places[(r->due[i].where >> 32) - low]++] = r->due[i];
	}
	return r->due_sorted;
}

/* Called often by all threads. */
static bool may_not_go_on(struct scan *s)
{
	if (s->number == 0) {
		question_tell(s->q);
	}
	return question_cancelled(s->q);
}

int reading_judge(struct scan *s, const struct scan_part *p, const uint16_t *rows, uint8_t *verdict, uint32_t n)
{
	const struct plan *plan = s->q->plan;
	struct plan_event e = {.plan = plan, .file = p->file, .file_at = p->file_at, .group = p->group};
	struct reading *r;
	uint32_t count = 0;
	int err = reading_of(s, &r);
	if (err == 0 && plan->asks_machine) {
		err = machine_begin(r, p->file_at); /* of stacks reading_stacks() has been asked for */
	}
	for (uint32_t i = 0; i < n && err == 0; i++) {
		if (verdict[i] == FILTER_UNKNOWN) {
			r->due[count++] = (struct due){p->c.where[rows[i]], i};
		}
	}
	if (err < 0) {
		return err;
	}
	const struct due *due = reading_in_order(r, count);
	e.knows = PLAN_ROW | PLAN_CELL;
	e.reader = (struct plan_reader){.read = reading_lookup, .stack = ask_stack, .reader = r};
	for (uint32_t i = 0; i < count; i++) {
		if (i % CANCEL_EVERY == 0 && may_not_go_on(s)) {
			return -ECANCELED;
		}
		uint32_t row = rows[due[i].at];
		err = reading_event(r, p->file_at, due[i].where);
		if (err == -ENOENT) {
			continue; /* nobody can judge it */
		}
		if (err < 0) {
			return err;
		}
		s->decoded++;
		uint32_t number = FIELD_NOT_READ;
		for (uint32_t k = 0; k < plan->column_count; k++) {
			number = reading_number(r, plan->columns[k]);
			field_set(plan->columns[k], p->file_at, p->group, row, number);
		}
		enum filter_truth t = plan->only ? scan_truth_of(s, number) : FILTER_UNKNOWN;
		if (t != FILTER_UNKNOWN) {
			verdict[due[i].at] = (uint8_t)t;
			continue;
		}
		scan_event(p, row, &e);
		r->row = &e;
		verdict[due[i].at] = (uint8_t)plan_rest(plan, &e);
		r->row = NULL;
	}
	return 0;
}

/* ---- the query's field ---------------------------------------------------------------------------- */

struct prepare {
	struct field_column *c;
};

static int prepare_part(void *sink, struct scan *s, const struct scan_part *p)
{
	struct field_column *c = ((struct prepare *)sink)->c;
	struct reading *r;
	uint32_t count = 0;
	int err = reading_of(s, &r);
	for (uint32_t i = 0; i < p->count && err == 0; i++) {
		uint32_t row = scan_row(p, i), type = store_type_at(&p->c, row);
		enum field_of_type has = field_of_type(c, p->file_at, type);
		if (has == FIELD_OF_TYPE_UNKNOWN) {
			has = reading_look(r, p->file_at, type, c);
		}
		if (has != FIELD_OF_TYPE_NONE && field_get(c, p->file_at, p->group, row) == FIELD_NOT_READ) {
			r->due[count++] = (struct due){p->c.where[row], row};
		}
	}
	const struct due *due = err == 0 ? reading_in_order(r, count) : r->due;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		if (i % CANCEL_EVERY == 0 && may_not_go_on(s)) {
			return -ECANCELED;
		}
		err = reading_event(r, p->file_at, due[i].where);
		uint32_t number = err == 0 ? reading_number(r, c) : FIELD_ABSENT;
		if (err == 0 || err == -ENOENT) {
			field_set(c, p->file_at, p->group, due[i].at, number);
			s->decoded += err == 0;
			err = 0;
		}
	}
	return err;
}

int reading_prepare(struct openetw_query *q, struct field_column **ret)
{
	struct prepare sinks[QUESTION_THREADS_MAX];
	struct field_column *c;
	int err = q->field && q->field[0] ? field_column_of(q->x, q->field, &c) : -ENOENT;
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		sinks[i].c = c;
	}
	err = err < 0 ? err : question_run(q, INT64_MIN, INT64_MAX, prepare_part, sinks, sizeof sinks[0]);
	if (err == 0) {
		*ret = c;
	}
	return err;
}
