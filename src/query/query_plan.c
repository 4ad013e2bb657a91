/* SPDX-License-Identifier: MIT
 *
 * From a filter to sets over columns. Each set is sound for the whole filter: a number is left out only when the
 * filter is false for all rows that have it.
 */
#include "query/query_plan.h"

#include "query/query_durations.h"
#include "query/query_span_edges.h"

#include "regex/regex.h"

#include "etw/values/guids.h"

#include <stdio.h>
#include <stdlib.h>

#define SET_LEAST 65536u

/* Which properties a column decides. The name of a process may also be a field of the payload, where nobody knows the
 * process: plan_lookup() says so. */
#define ASKS_OF_TYPE                                                                                                  \
	(FILTER_ASKS(PROVIDER) | FILTER_ASKS(PROVIDER_GUID) | FILTER_ASKS(EVENT) | FILTER_ASKS(ID) |                  \
	 FILTER_ASKS(VERSION) | FILTER_ASKS(CHANNEL) | FILTER_ASKS(LEVEL) | FILTER_ASKS(OPCODE) | FILTER_ASKS(TASK) | \
	 FILTER_ASKS(KEYWORDS))
#define ASKS_OF_PROCESS (FILTER_ASKS(PID) | FILTER_ASKS(PROCESS))
#define ASKS_OF_THREAD  (FILTER_ASKS(TID) | FILTER_ASKS(THREAD))
#define ASKS_OF_CPU     FILTER_ASKS(CPU)
#define ASKS_OF_TIME    FILTER_ASKS(TIME)
#define ASKS_OF_COLUMNS (ASKS_OF_TYPE | ASKS_OF_PROCESS | ASKS_OF_THREAD | ASKS_OF_CPU | ASKS_OF_TIME)

static const uint32_t asks_of_column[PLAN_COLUMNS] = {ASKS_OF_TYPE, ASKS_OF_PROCESS, ASKS_OF_THREAD, ASKS_OF_CPU};

/* ---- values ---------------------------------------------------------------------------------- */

static enum filter_answer give_text(const char *s, struct filter_expr_value *ret)
{
	*ret = (struct filter_expr_value){.text = s, .length = strlen(s)};
	return FILTER_VALUE_PRESENT;
}

static enum filter_answer give_number(struct plan_event *e, uint64_t n, const char *format,
				      struct filter_expr_value *ret)
{
	int length = snprintf(e->text, sizeof e->text, format, (unsigned long long)n);
	*ret = (struct filter_expr_value){.text = e->text, .length = (size_t)length, .is_number = true, .number = n};
	return FILTER_VALUE_PRESENT;
}

static enum filter_answer of_type(struct plan_event *e, enum filter_property which, struct filter_expr_value *ret)
{
	const struct store *s = &e->file->store;
	const struct store_type *t = &s->types[e->type < s->type_count ? e->type : 0];
	struct guid guid;
	switch (which) {
	case FILTER_PROPERTY_PROVIDER: return give_text(store_string(s, t->provider_name), ret);
	case FILTER_PROPERTY_EVENT: return give_text(store_string(s, t->name), ret);
	case FILTER_PROPERTY_ID: return give_number(e, t->id, "%llu", ret);
	case FILTER_PROPERTY_VERSION: return give_number(e, t->version, "%llu", ret);
	case FILTER_PROPERTY_CHANNEL: return give_number(e, t->channel, "%llu", ret);
	case FILTER_PROPERTY_LEVEL: return give_number(e, t->level, "%llu", ret);
	case FILTER_PROPERTY_OPCODE: return give_number(e, t->opcode, "%llu", ret);
	case FILTER_PROPERTY_TASK: return give_number(e, t->task, "%llu", ret);
	case FILTER_PROPERTY_KEYWORDS: return give_number(e, t->keyword, "0x%llX", ret);
	default:
		memcpy(guid.b, t->provider, sizeof guid.b);
		return guid_is_zero(&guid) ? FILTER_VALUE_ABSENT : give_text(guid_format(&guid, e->text), ret);
	}
}

static enum filter_answer read_event(struct plan_event *e, const struct filter_node *n, struct filter_expr_value *ret)
{
	return e->reader.read ? e->reader.read(e->reader.reader, n, ret) : FILTER_VALUE_UNKNOWN;
}

static enum filter_answer of_number(const struct field_column *c, uint32_t number, struct filter_expr_value *ret)
{
	if (number == FIELD_ABSENT) {
		return FILTER_VALUE_ABSENT;
	}
	const struct field_value *v = field_value(c, number);
	*ret = (struct filter_expr_value){v->text, v->length, v->is_whole, v->whole, 0};
	return FILTER_VALUE_PRESENT;
}

static enum filter_answer of_field(struct plan_event *e, const struct filter_node *n, struct filter_expr_value *ret)
{
	struct field_column *c = e->plan->column_of[n - e->plan->filter->nodes];
	if (e->knows & PLAN_NUMBER) {
		return of_number(e->plan->only, e->number, ret);
	}
	if (c && e->plan->nobody_has[n - e->plan->filter->nodes]) {
		return FILTER_VALUE_ABSENT;
	}
	if (!c || !(e->knows & PLAN_TYPE)) {
		return read_event(e, n, ret);
	}
	enum field_of_type has = field_of_type(c, e->file_at, e->type);
	if (has == FIELD_OF_TYPE_UNKNOWN && e->reader.look) {
		has = e->reader.look(e->reader.reader, e->file_at, e->type, c);
	}
	if (has == FIELD_OF_TYPE_NONE) {
		return FILTER_VALUE_ABSENT;
	}
	uint32_t number = e->knows & PLAN_CELL ? field_get(c, e->file_at, e->group, e->row) : FIELD_NOT_READ;
	if (number == FIELD_NOT_READ) {
		return read_event(e, n, ret);
	}
	return of_number(c, number, ret);
}

static enum filter_answer of_process(struct plan_event *e, const struct filter_node *n, struct filter_expr_value *ret)
{
	const struct store *s = &e->file->store;
	uint32_t id = e->process < s->process_count ? e->process : 0;
	if (n->property == FILTER_PROPERTY_PID) {
		return id ? give_number(e, s->processes[id].pid, "%llu", ret) : FILTER_VALUE_ABSENT;
	}
	const char *name = store_string(s, s->processes[id].name);
	return name[0] ? give_text(name, ret) : of_field(e, n, ret);
}

static enum filter_answer of_thread(struct plan_event *e, const struct filter_node *n, struct filter_expr_value *ret)
{
	const struct store *s = &e->file->store;
	uint32_t id = e->thread < s->thread_count ? e->thread : 0;
	if (n->property == FILTER_PROPERTY_TID) {
		return id ? give_number(e, s->threads[id].tid, "%llu", ret) : FILTER_VALUE_ABSENT;
	}
	const char *name = store_string(s, s->threads[id].name);
	return name[0] ? give_text(name, ret) : FILTER_VALUE_ABSENT;
}

uint64_t plan_filetime(const struct plan_event *e)
{
	int64_t ticks = e->time / 100 - (e->time % 100 < 0);
	return (uint64_t)e->file->store.about->start_filetime + (uint64_t)ticks;
}

static enum filter_answer of_time(struct plan_event *e, struct filter_expr_value *ret)
{
	give_number(e, plan_filetime(e), "%llu", ret);
	return FILTER_VALUE_PRESENT;
}

/* Only an end has one. */
static enum filter_answer of_duration(struct plan_event *e, struct filter_expr_value *ret)
{
	const struct store *s = &e->file->store;
	const struct durations *d = e->plan->durations ? e->plan->durations[e->file_at] : NULL;
	uint64_t ns;
	if ((e->knows & PLAN_TYPE) && !edge_may_end(&s->types[e->type < s->type_count ? e->type : 0])) {
		return FILTER_VALUE_ABSENT;
	}
	if (!(e->knows & PLAN_CELL) || !d) {
		return FILTER_VALUE_UNKNOWN;
	}
	return durations_get(d, e->group, e->row, &ns) ? give_number(e, ns, "%llu", ret) : FILTER_VALUE_ABSENT;
}

enum filter_answer plan_lookup(void *event, const struct filter_node *n, struct filter_expr_value *ret)
{
	struct plan_event *e = event;
	uint32_t asks = 1u << n->property;
	if (n->payload || n->property == FILTER_PROPERTY_FIELD) {
		return of_field(e, n, ret);
	}
	if (n->property == FILTER_PROPERTY_STACK && (e->knows & PLAN_CELL)) {
		return e->stack == 0     ? FILTER_VALUE_ABSENT
		       : e->reader.stack ? e->reader.stack(e->reader.reader, e, n, ret)
					 : FILTER_VALUE_UNKNOWN;
	}
	if (n->property == FILTER_PROPERTY_DURATION) {
		return of_duration(e, ret);
	}
	if (!(asks & ASKS_OF_COLUMNS)) {
		return read_event(e, n, ret);
	}
	if (asks & ASKS_OF_TYPE) {
		return e->knows & PLAN_TYPE ? of_type(e, n->property, ret) : FILTER_VALUE_UNKNOWN;
	}
	if (asks & ASKS_OF_PROCESS) {
		return e->knows & PLAN_PROCESS ? of_process(e, n, ret) : FILTER_VALUE_UNKNOWN;
	}
	if (asks & ASKS_OF_THREAD) {
		return e->knows & PLAN_THREAD ? of_thread(e, n, ret) : FILTER_VALUE_UNKNOWN;
	}
	if (asks & ASKS_OF_CPU) {
		return e->knows & PLAN_CPU ? give_number(e, e->cpu, "%llu", ret) : FILTER_VALUE_UNKNOWN;
	}
	return e->knows & PLAN_TIME ? of_time(e, ret) : FILTER_VALUE_UNKNOWN;
}

enum filter_truth plan_rest(const struct plan *p, struct plan_event *e)
{
	enum filter_truth all = FILTER_YES;
	for (size_t i = 0; i < p->rest_count; i++) {
		enum filter_truth one = filter_expr_try_part(p->filter, p->rest[i], plan_lookup, e);
		if (one == FILTER_NO) {
			return FILTER_NO;
		}
		all = one == FILTER_UNKNOWN ? one : all;
	}
	return all;
}

bool plan_type_is_header(const struct store_type *t)
{
	static const struct guid header = GUID_INIT(ETW_GUID_EVENT_TRACE);
	return memcmp(t->provider, header.b, sizeof header.b) == 0;
}

/* ---- sets ------------------------------------------------------------------------------------ */

struct conjuncts {
	uint32_t part[FILTER_CONJUNCTS_MAX], asks[FILTER_CONJUNCTS_MAX];
	bool open[FILTER_CONJUNCTS_MAX]; /* columns of their own do not decide it */
	size_t count;
};

/* May rows pass of which this is known? `asks` is what the column decides. */
static bool may_pass(const struct plan *p, struct conjuncts *c, uint32_t asks, struct plan_event *e)
{
	bool may = true;
	for (size_t i = 0; i < c->count; i++) {
		enum filter_truth t = filter_expr_try_part(p->filter, c->part[i], plan_lookup, e);
		may = may && t != FILTER_NO;
		if (t == FILTER_UNKNOWN && (c->asks[i] & ~asks) == 0) {
			c->open[i] = true;
		}
	}
	return may;
}

static bool asks_for(const struct conjuncts *c, uint32_t asks)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->asks[i] & asks) {
			return true;
		}
	}
	return false;
}

/* A set of `count` numbers, which `number` of the event is. */
static int make_set(const struct plan *p, struct conjuncts *c, uint32_t asks, struct plan_event *e, uint32_t *number,
		    uint32_t count, struct plan_set *ret)
{
	uint32_t room = BASE_MAX(count, SET_LEAST);
	bool all = true;
	ret->count = count;
	ret->ok = calloc(room, 1);
	if (!ret->ok) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		*number = i;
		ret->ok[i] = may_pass(p, c, asks, e);
		if (number == &e->type && plan_type_is_header(&e->file->store.types[i])) {
			ret->ok[i] = false;
		}
		all = all && ret->ok[i];
	}
	memset(ret->ok + count, ret->ok[0], room - count);
	if (all) {
		free(ret->ok);
		ret->ok = NULL;
	}
	return 0;
}

static int make_sets(struct plan *p, struct conjuncts *c, uint32_t file, const struct plan_reader *reader)
{
	struct plan_event e = {.plan = p, .file = &p->x->files[file], .file_at = file, .knows = PLAN_TYPE};
	const struct store *s = &e.file->store;
	struct plan_file *ret = &p->files[file];
	e.reader.look = reader->look;
	e.reader.reader = reader->reader;
	int err = make_set(p, c, ASKS_OF_TYPE, &e, &e.type, s->type_count, &ret->type);
	if (err == 0 && asks_for(c, ASKS_OF_PROCESS)) {
		e.knows = PLAN_PROCESS;
		err = make_set(p, c, ASKS_OF_PROCESS, &e, &e.process, s->process_count, &ret->process);
	}
	if (err == 0 && asks_for(c, ASKS_OF_THREAD)) {
		e.knows = PLAN_THREAD;
		err = make_set(p, c, ASKS_OF_THREAD, &e, &e.thread, s->thread_count, &ret->thread);
	}
	return err;
}

static int make_cpu_set(struct plan *p, struct conjuncts *c)
{
	struct plan_event e = {.plan = p, .file = &p->x->files[0], .knows = PLAN_CPU};
	bool all = true;
	p->cpu.ok = malloc(SET_LEAST);
	p->cpu.count = SET_LEAST;
	if (!p->cpu.ok) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < SET_LEAST; i++) {
		e.cpu = (uint16_t)i;
		p->cpu.ok[i] = may_pass(p, c, ASKS_OF_CPU, &e);
		all = all && p->cpu.ok[i];
	}
	if (all) {
		free(p->cpu.ok);
		p->cpu.ok = NULL;
	}
	return 0;
}

/* Decided: it asks for one column alone, whose numbers all gave yes or no. */
static bool is_decided(const struct conjuncts *c, size_t i)
{
	for (size_t k = 0; k < PLAN_COLUMNS; k++) {
		if ((c->asks[i] & ~asks_of_column[k]) == 0) {
			return !c->open[i];
		}
	}
	return false;
}

/* ---- fields -------------------------------------------------------------------------------------- */

/* One event of each type is looked at, once for the index. Type 0 stands for types that found no room. */
static bool nobody_has(struct openetw_index *x, struct field_column *c, const struct plan_reader *reader)
{
	for (uint32_t f = 0; f < x->file_count; f++) {
		const struct store *s = &x->files[f].store;
		for (uint32_t i = 0; i < s->type_count; i++) {
			if ((s->types[i].rows_low | s->types[i].rows_high) == 0) {
				continue;
			}
			enum field_of_type has = field_of_type(c, f, i);
			if (has == FIELD_OF_TYPE_UNKNOWN && reader->look) {
				has = reader->look(reader->reader, f, i, c);
			}
			if (has != FIELD_OF_TYPE_NONE) {
				return false;
			}
		}
	}
	return true;
}

/* A column for each field that is asked for. The name of a process may be that of a field, too. */
static int make_columns(struct plan *p, struct openetw_index *x, const struct plan_reader *reader)
{
	const struct filter_expr *f = p->filter;
	p->column_of = calloc(f->count + 1ull, sizeof(struct field_column *));
	p->columns = calloc(f->count + 1ull, sizeof(struct field_column *));
	p->nobody_has = calloc(f->count + 1ull, sizeof *p->nobody_has);
	int err = p->column_of && p->columns && p->nobody_has ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < f->count && err == 0; i++) {
		const struct filter_node *n = &f->nodes[i];
		bool asks = n->type == FILTER_NODE_TEST || n->type == FILTER_NODE_HAS;
		bool field = n->payload || n->property == FILTER_PROPERTY_FIELD;
		if (!asks || (!field && n->property != FILTER_PROPERTY_PROCESS)) {
			continue;
		}
		struct field_column *c = NULL;
		uint32_t k = 0;
		err = field_column_of(x, n->name, &c);
		p->column_of[i] = c;
		p->nobody_has[i] = err == 0 && nobody_has(x, c, reader);
		while (k < p->column_count && p->columns[k] != c) {
			k++;
		}
		if (c && k == p->column_count && !p->nobody_has[i]) {
			p->columns[p->column_count++] = c;
		}
	}
	return err;
}

/* ---- masks --------------------------------------------------------------------------------------- */

static uint32_t numbers_of(const struct store *s, enum plan_column column)
{
	return column == PLAN_COLUMN_TYPE      ? s->type_count
	       : column == PLAN_COLUMN_PROCESS ? s->process_count
	       : column == PLAN_COLUMN_THREAD  ? s->thread_count
					       : SET_LEAST;
}

/* What the node says of each number of a column of a file. -EAGAIN: the column does not tell of all. */
static int mask_set(const struct plan *p, uint32_t node, enum plan_column column, uint32_t file, struct plan_set *ret)
{
	static const enum plan_knows knows[PLAN_COLUMNS] = {PLAN_TYPE, PLAN_PROCESS, PLAN_THREAD, PLAN_CPU};
	struct plan_event e = {.plan = p, .file = &p->x->files[file], .file_at = file, .knows = knows[column]};
	uint32_t count = numbers_of(&e.file->store, column), room = BASE_MAX(count, SET_LEAST);
	ret->count = count;
	ret->ok = calloc(room, 1);
	if (!ret->ok) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		e.type = e.process = e.thread = i;
		e.cpu = (uint16_t)i;
		enum filter_truth t = filter_expr_try_part(p->filter, node, plan_lookup, &e);
		if (t == FILTER_UNKNOWN) {
			return -EAGAIN;
		}
		ret->ok[i] = t == FILTER_YES;
	}
	memset(ret->ok + count, ret->ok[0], room - count);
	return 0;
}

static int make_mask(struct plan *p, uint32_t node, uint32_t depth)
{
	struct plan_mask *m = &p->masks[node];
	const struct filter_node *n = &p->filter->nodes[node];
	uint32_t asks = filter_expr_asks(p->filter, node);
	if (depth >= PLAN_MASK_DEPTH || (asks & ~(ASKS_OF_COLUMNS & ~ASKS_OF_TIME))) {
		return -EAGAIN;
	}
	for (uint32_t c = 0; c < PLAN_COLUMNS; c++) {
		if (asks & ~asks_of_column[c]) {
			continue;
		}
		m->kind = PLAN_MASK_SET;
		m->column = (enum plan_column)c;
		m->sets = calloc(p->x->file_count + 1ull, sizeof *m->sets);
		int err = m->sets ? 0 : -ENOMEM;
		for (uint32_t f = 0; f < p->x->file_count && err == 0; f++) {
			err = mask_set(p, node, m->column, f, &m->sets[f]);
		}
		return err;
	}
	m->kind = n->type == FILTER_NODE_AND ? PLAN_MASK_AND : n->type == FILTER_NODE_OR ? PLAN_MASK_OR : PLAN_MASK_NOT;
	m->left = n->left;
	m->right = n->right;
	int err = make_mask(p, n->left, depth + 1);
	return err == 0 && n->type != FILTER_NODE_NOT ? make_mask(p, n->right, depth + 1) : err;
}

/* ---- times --------------------------------------------------------------------------------------- */

/* The first time of the index that has this FILETIME. */
static int64_t time_of(const struct plan *p, uint64_t filetime)
{
	__int128 t = ((__int128)filetime - p->x->start_filetime) * 100;
	return t < INT64_MIN ? INT64_MIN : t > INT64_MAX ? INT64_MAX : (int64_t)t;
}

static int64_t last_time_of(const struct plan *p, uint64_t filetime)
{
	return filetime == UINT64_MAX ? INT64_MAX : BASE_MAX(time_of(p, filetime + 1), INT64_MIN + 1) - 1;
}

static bool is_time(const struct filter_number *n)
{
	return n->valid && n->is_int && !n->negative;
}

/* A conjunct that is a range of times, as most are. */
static bool take_range(struct plan *p, uint32_t part)
{
	const struct filter_node *n = &p->filter->nodes[part];
	int64_t from = INT64_MIN, to = INT64_MAX;
	if (n->type != FILTER_NODE_TEST || n->payload || n->property != FILTER_PROPERTY_TIME || !is_time(&n->number)) {
		return false;
	}
	uint64_t low = n->number.magnitude;
	switch (n->test) {
	case FILTER_TEST_EQ:
		from = time_of(p, low);
		to = last_time_of(p, low);
		break;
	case FILTER_TEST_GE: from = time_of(p, low); break;
	case FILTER_TEST_LE: to = last_time_of(p, low); break;
	case FILTER_TEST_GT:
		if (low == UINT64_MAX) {
			return false;
		}
		from = time_of(p, low + 1);
		break;
	case FILTER_TEST_LT:
		if (low == 0) {
			return false;
		}
		to = last_time_of(p, low - 1);
		break;
	case FILTER_TEST_BETWEEN:
		if (!is_time(&n->high_number)) {
			return false;
		}
		from = time_of(p, low);
		to = last_time_of(p, n->high_number.magnitude);
		break;
	default: return false;
	}
	p->from = BASE_MAX(p->from, from);
	p->to = BASE_MIN(p->to, to);
	return true;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static int sort_conjunct(struct plan *p, const struct conjuncts *c, size_t i)
{
	if (is_decided(c, i) || take_range(p, c->part[i])) {
		return 0;
	}
	int err = make_mask(p, c->part[i], 0);
	if (err == 0) {
		p->masked[p->masked_count++] = c->part[i];
	}
	if (err != -EAGAIN) {
		return err;
	}
	p->rest[p->rest_count++] = c->part[i];
	p->timed = p->timed || (c->asks[i] & ASKS_OF_TIME);
	p->reads = p->reads || c->open[i] || (c->asks[i] & (~ASKS_OF_COLUMNS | FILTER_ASKS(PROCESS)));
	return 0;
}

/* The one field that the nodes below this one ask for. False: they ask for something else, too. */
static bool asks_one(const struct plan *p, uint32_t node, struct field_column **inout)
{
	const struct filter_node *n = &p->filter->nodes[node];
	if (n->type == FILTER_NODE_AND || n->type == FILTER_NODE_OR) {
		return asks_one(p, n->left, inout) && asks_one(p, n->right, inout);
	}
	if (n->type == FILTER_NODE_NOT) {
		return asks_one(p, n->left, inout);
	}
	struct field_column *c = p->column_of[node];
	if (!c || p->nobody_has[node] || !(n->payload || n->property == FILTER_PROPERTY_FIELD) ||
	    (*inout && *inout != c)) {
		return false;
	}
	*inout = c;
	return true;
}

static struct field_column *only_field(const struct plan *p)
{
	struct field_column *c = NULL;
	for (size_t i = 0; i < p->rest_count; i++) {
		if (!asks_one(p, p->rest[i], &c)) {
			return NULL;
		}
	}
	return c;
}

static int make(struct plan *p, struct openetw_index *x, const struct plan_reader *reader)
{
	struct conjuncts c = {0};
	p->masks = calloc(p->filter->count + 1ull, sizeof *p->masks);
	int err = p->masks ? make_columns(p, x, reader) : -ENOMEM;
	if (err < 0) {
		return err;
	}
	filter_expr_set_start(p->filter, (uint64_t)x->start_filetime, 0);
	c.count = filter_expr_conjuncts(p->filter, c.part);
	for (size_t i = 0; i < c.count; i++) {
		c.asks[i] = filter_expr_asks(p->filter, c.part[i]);
	}
	for (uint32_t i = 0; i < x->file_count && err == 0; i++) {
		err = make_sets(p, &c, i, reader);
	}
	if (err == 0 && x->file_count && asks_for(&c, ASKS_OF_CPU)) {
		err = make_cpu_set(p, &c);
	}
	for (size_t i = 0; i < c.count && err == 0; i++) {
		err = sort_conjunct(p, &c, i);
	}
	p->only = only_field(p);
	uint32_t asks = filter_expr_asks(p->filter, p->filter->root);
	p->asks_duration = asks & FILTER_ASKS(DURATION);
	p->asks_stack = asks & FILTER_ASKS(STACK);
	p->cells = p->column_count || p->asks_duration || p->asks_stack;
	p->asks_machine = asks & (FILTER_ASKS(STACK) | FILTER_ASKS(FILE));
	return err;
}

int plan_make(struct openetw_index *x, const char *filter, const struct plan_reader *reader, struct plan **ret,
	      struct diag *d)
{
	static const struct filter_dialect dialect = {.regex = &regex_pcre2};
	static const struct plan_reader nothing;
	struct plan *p = calloc(1, sizeof *p);
	if (!p) {
		return -ENOMEM;
	}
	p->x = x;
	p->from = INT64_MIN;
	p->to = INT64_MAX;
	p->files = calloc(x->file_count ? x->file_count : 1, sizeof *p->files);
	int err = p->files ? 0 : -ENOMEM;
	if (err == 0 && filter && filter[strspn(filter, " \t\r\n")]) {
		err = filter_expr_parse_in(&dialect, filter, &p->filter, d);
		err = err < 0 ? err : make(p, x, reader ? reader : &nothing);
	}
	if (err < 0) {
		plan_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (!p) {
		return;
	}
	for (uint32_t i = 0; p->files && i < p->x->file_count; i++) {
		free(p->files[i].type.ok);
		free(p->files[i].process.ok);
		free(p->files[i].thread.ok);
	}
	free(p->files);
	free(p->cpu.ok);
	for (uint32_t i = 0; p->masks && i < p->filter->count; i++) {
		for (uint32_t f = 0; p->masks[i].sets && f < p->x->file_count; f++) {
			free(p->masks[i].sets[f].ok);
		}
		free(p->masks[i].sets);
	}
	free(p->masks);
	free(p->durations);
	free(p->nobody_has);
	free(p->column_of);
	free(p->columns);
	filter_expr_destroy(p->filter);
	free(p);
}
