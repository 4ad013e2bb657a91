/* SPDX-License-Identifier: MIT
 *
 * From a filter to sets over columns. Each set is sound for the whole filter: a number is left out only when the
 * filter is false for all rows that have it.
 */
#include "query/query_plan.h"

#include "format/etl_layout.h"

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
	*ret = (struct filter_expr_value){e->text, (size_t)length, true, n};
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
	return e->read ? e->read(e->reader, n, ret) : FILTER_VALUE_UNKNOWN;
}

static enum filter_answer of_process(struct plan_event *e, const struct filter_node *n, struct filter_expr_value *ret)
{
	const struct store *s = &e->file->store;
	uint32_t id = e->process < s->process_count ? e->process : 0;
	if (n->property == FILTER_PROPERTY_PID) {
		return id ? give_number(e, s->processes[id].pid, "%llu", ret) : FILTER_VALUE_ABSENT;
	}
	const char *name = store_string(s, s->processes[id].name);
	return name[0] ? give_text(name, ret) : read_event(e, n, ret);
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

static enum filter_answer of_time(struct plan_event *e, struct filter_expr_value *ret)
{
	int64_t ticks = e->time / 100 - (e->time % 100 < 0);
	give_number(e, (uint64_t)e->file->store.about->start_filetime + (uint64_t)ticks, "%llu", ret);
	return FILTER_VALUE_PRESENT;
}

enum filter_answer plan_lookup(void *event, const struct filter_node *n, struct filter_expr_value *ret)
{
	struct plan_event *e = event;
	uint32_t asks = 1u << n->property;
	if (n->payload || !(asks & ASKS_OF_COLUMNS)) {
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

static int make_sets(struct plan *p, struct conjuncts *c, const struct index_file *file, struct plan_file *ret)
{
	struct plan_event e = {.file = file, .knows = PLAN_TYPE};
	const struct store *s = &file->store;
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
	struct plan_event e = {.file = &p->x->files[0], .knows = PLAN_CPU};
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
	static const uint32_t columns[] = {ASKS_OF_TYPE, ASKS_OF_PROCESS, ASKS_OF_THREAD, ASKS_OF_CPU};
	for (size_t k = 0; k < BASE_ARRAY_LEN(columns); k++) {
		if ((c->asks[i] & ~columns[k]) == 0) {
			return !c->open[i];
		}
	}
	return false;
}

static int make(struct plan *p)
{
	struct conjuncts c = {0};
	int err = 0;
	c.count = filter_expr_conjuncts(p->filter, c.part);
	for (size_t i = 0; i < c.count; i++) {
		c.asks[i] = filter_expr_asks(p->filter, c.part[i]);
	}
	for (uint32_t i = 0; i < p->x->file_count && err == 0; i++) {
		err = make_sets(p, &c, &p->x->files[i], &p->files[i]);
	}
	if (err == 0 && p->x->file_count && asks_for(&c, ASKS_OF_CPU)) {
		err = make_cpu_set(p, &c);
	}
	for (size_t i = 0; i < c.count; i++) {
		if (!is_decided(&c, i)) {
			p->rest[p->rest_count++] = c.part[i];
			p->timed = p->timed || (c.asks[i] & ASKS_OF_TIME);
			p->reads = p->reads || c.open[i] || (c.asks[i] & (~ASKS_OF_COLUMNS | FILTER_ASKS(PROCESS)));
		}
	}
	return err;
}

int plan_make(const struct openetw_index *x, const char *filter, struct plan **ret, struct diag *d)
{
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
		err = filter_expr_parse(filter, &p->filter, d);
		err = err < 0 ? err : make(p);
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
	filter_expr_destroy(p->filter);
	free(p);
}
