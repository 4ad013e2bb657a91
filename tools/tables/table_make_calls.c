/* SPDX-License-Identifier: MIT
 * Tables: what samples show of functions: functions, modules, callers, callees.
 *
 * Samples of one stack of a process are counted first; then each stack is walked once. A row is a pair of functions,
 * or one alone. A function that calls itself counts once in a stack.
 */
#include "tools/tables/table_make.h"

#include "base/vec.h"
#include "tools/tables/table_names.h"

#include <stdlib.h>
#include <strings.h>

#define FRAMES_MAX 1024u
#define MOST       (1u << 28)
#define NONE       UINT32_MAX

enum shape { FUNCTIONS, MODULES, CALLERS, CALLEES };

struct stack { /* of a process */
	uint32_t process, pid, stack;
	uint64_t address; /* without a stack: where it was */
	int64_t time;     /* of the first one */
	uint64_t samples;
};
struct call {
	uint32_t process, a, b; /* words; NONE: nobody */
	uint32_t seen;          /* the last stack that counted it */
	uint64_t self, total;
};
struct word {
	char *text;
	size_t module; /* the length of its name */
};
struct calls {
	struct table_maker *m;
	struct table_build *b;
	enum shape shape;
	struct table_names names;
	struct stack *stacks;
	uint32_t stack_count, stack_cap;
	struct map stack_of;
	struct word *words; /* two functions of one name are one */
	uint32_t word_count, word_cap;
	struct map word_of;
	uint32_t *word_of_name; /* by number in `names`; NONE: not looked yet */
	uint32_t name_cap;
	struct call *calls;
	uint32_t call_count, call_cap;
	struct map call_of;
};

/* ---- samples -------------------------------------------------------------------------------------- */

static void on_sample(void *context, const EVENT_RECORD *e)
{
	struct calls *c = context;
	struct kevent s;
	if (!kevent_of(c->m->state, e, &s) || s.kind != KEVENT_SAMPLE || s.pid == 0 || s.tid == 0) {
		return;
	}
	int64_t time = table_make_time(c->m, s.time);
	if (c->m->sample_wanted && !c->m->sample_wanted(c->m->sample_context, &s, time)) {
		return;
	}
	uint32_t process = table_make_process(c->m, s.pid, s.time), stack = table_make_stack(c->m, e);
	const uint64_t parts[] = {(uint64_t)process << 32 | stack, stack ? 0 : s.address};
	uint64_t key = map_hash(&c->stack_of, parts, sizeof parts);
	MAP_EACH(&c->stack_of, key, at) {
		struct stack *k = &c->stacks[map_value(&c->stack_of, at)];
		if (k->process == process && k->stack == stack && (stack || k->address == s.address)) {
			k->samples++;
			return;
		}
	}
	if (!VEC_ROOM_UP_TO(c->stacks, c->stack_count, c->stack_cap, MOST) ||
	    map_add(&c->stack_of, key, c->stack_count) < 0) {
		c->m->failed = true;
		return;
	}
	c->stacks[c->stack_count++] = (struct stack){process, s.pid, stack, s.address, time, 1};
}

/* ---- words ---------------------------------------------------------------------------------------- */

static uint32_t word_of(struct calls *c, const char *text, size_t n)
{
	uint64_t key = map_hash(&c->word_of, text, n);
	MAP_EACH(&c->word_of, key, at) {
		uint32_t i = (uint32_t)map_value(&c->word_of, at);
		if (strncmp(c->words[i].text, text, n) == 0 && c->words[i].text[n] == 0) {
			return i;
		}
	}
	char *copy = strndup(text, n);
	if (!copy || !VEC_ROOM_UP_TO(c->words, c->word_count, c->word_cap, MOST) ||
	    map_add(&c->word_of, key, c->word_count) < 0) {
		free(copy);
		c->m->failed = true;
		return NONE;
	}
	c->words[c->word_count] = (struct word){copy, table_names_module(copy)};
	return c->word_count++;
}

/* Of the function, or of its module, at this address. */
static uint32_t word_at(struct calls *c, const struct stack *k, uint64_t address)
{
	uint32_t name = table_names_find(c->m, &c->names, k->process, k->pid, address, k->time);
	if (name == NONE) {
		return NONE;
	}
	if (name >= c->name_cap) {
		uint32_t cap = BASE_MAX(name + 1, c->name_cap * 2);
		uint32_t *more = realloc(c->word_of_name, cap * sizeof *more);
		if (!more) {
			c->m->failed = true;
			return NONE;
		}
		memset(more + c->name_cap, 0xFF, (cap - c->name_cap) * sizeof *more);
		c->word_of_name = more;
		c->name_cap = cap;
	}
	uint32_t *ret = &c->word_of_name[name];
	if (*ret == NONE) {
		const char *text = c->names.names[name].text;
		size_t module = table_names_module(text);
		*ret = c->shape != MODULES ? word_of(c, text, strlen(text))
		       : module            ? word_of(c, text, module)
					   : word_of(c, "?", 1);
	}
	return *ret;
}

/* ---- pairs ---------------------------------------------------------------------------------------- */

static void count(struct calls *c, uint32_t number, uint32_t a, uint32_t b, bool self)
{
	const struct stack *k = &c->stacks[number];
	const uint32_t parts[] = {k->process, a, b};
	uint64_t key = map_hash(&c->call_of, parts, sizeof parts);
	struct call *r = NULL;
	MAP_EACH(&c->call_of, key, at) {
		struct call *o = &c->calls[map_value(&c->call_of, at)];
		if (o->process == k->process && o->a == a && o->b == b) {
			r = o;
			break;
		}
	}
	if (!r) {
		if (!VEC_ROOM_UP_TO(c->calls, c->call_count, c->call_cap, MOST) ||
		    map_add(&c->call_of, key, c->call_count) < 0) {
			c->m->failed = true;
			return;
		}
		r = &c->calls[c->call_count++];
		*r = (struct call){.process = k->process, .a = a, .b = b, .seen = NONE};
	}
	r->self += self ? k->samples : 0;
	r->total += r->seen != number ? k->samples : 0;
	r->seen = number;
}

static void walk(struct calls *c, uint32_t number)
{
	uint64_t addresses[FRAMES_MAX];
	uint32_t words[FRAMES_MAX];
	const struct stack *k = &c->stacks[number];
	uint32_t n =
		k->stack ? BASE_MIN(openetw_index_stack(c->m->index, k->stack, addresses, FRAMES_MAX), FRAMES_MAX) : 0;
	if (n == 0) {
		addresses[0] = k->address;
		n = 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		words[i] = word_at(c, k, names_frame(addresses, i, true));
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = c->shape == CALLERS && i + 1 < n ? words[i + 1]
			     : c->shape == CALLEES && i > 0   ? words[i - 1]
							      : NONE;
		count(c, number, words[i], b, i == 0);
	}
}

/* ---- the table ------------------------------------------------------------------------------------ */

static void put_rows(struct calls *c)
{
	struct table_build *b = c->b;
	int process = table_build_column(b, "process", SQL_TYPE_U32), pid = table_build_column(b, "pid", SQL_TYPE_U32),
	    name = table_build_column(b, "process_name", SQL_TYPE_TEXT),
	    container = table_build_column(b, "container", SQL_TYPE_TEXT),
	    module = table_build_column(b, "module", SQL_TYPE_TEXT),
	    function = c->shape == MODULES ? -1 : table_build_column(b, "function", SQL_TYPE_TEXT);
	bool callers = c->shape == CALLERS, pairs = callers || c->shape == CALLEES;
	int other_module =
		    pairs ? table_build_column(b, callers ? "caller_module" : "callee_module", SQL_TYPE_TEXT) : -1,
	    other = pairs ? table_build_column(b, callers ? "caller" : "callee", SQL_TYPE_TEXT) : -1;
	int self = table_build_column(b, "self", SQL_TYPE_U64), total = table_build_column(b, "total", SQL_TYPE_U64);
	struct openetw_index_process p = {.size = sizeof p};
	for (uint32_t i = 0; i < c->call_count; i++) {
		const struct call *r = &c->calls[i];
		table_build_number(b, process, r->process);
		if (r->process && openetw_index_process(c->m->index, r->process, &p) == ERROR_SUCCESS) {
			table_build_number(b, pid, p.pid);
			table_put_string(b, name, table_make_process_name(c->m, r->process));
			table_put_string(b, container, table_make_container(c->m, r->process));
		}
		if (c->shape == MODULES && r->a != NONE) {
			table_put_string(b, module, c->words[r->a].text);
		} else if (r->a != NONE) {
			table_names_put(b, module, function, c->words[r->a].text);
		}
		if (r->b != NONE) {
			table_names_put(b, other_module, other, c->words[r->b].text);
		}
		table_build_number(b, self, r->self);
		table_build_number(b, total, r->total);
		table_build_row(b);
	}
}

static void forget(struct calls *c)
{
	for (uint32_t i = 0; i < c->word_count; i++) {
		free(c->words[i].text);
	}
	table_names_free(&c->names);
	free(c->words);
	free(c->word_of_name);
	free(c->stacks);
	free(c->calls);
	map_free(&c->stack_of);
	map_free(&c->word_of);
	map_free(&c->call_of);
}

bool table_is_of_calls(const char *name)
{
	return strcasecmp(name, "functions") == 0 || strcasecmp(name, "modules") == 0 ||
	       strcasecmp(name, "callers") == 0 || strcasecmp(name, "callees") == 0;
}

struct table_build *table_make_calls(struct table_maker *m, const char *name, char *why, size_t cap)
{
	struct calls c = {.m = m, .b = table_build_create()};
	c.shape = strcmp(name, "functions") == 0 ? FUNCTIONS
		  : strcmp(name, "modules") == 0 ? MODULES
		  : strcmp(name, "callers") == 0 ? CALLERS
						 : CALLEES;
	bool ok = c.b != NULL;
	if (!ok) {
		snprintf(why, cap, "no memory");
	}
	ok = ok && table_make_pass(m, on_sample, &c, why, cap);
	for (uint32_t i = 0; ok && i < c.stack_count && !m->failed; i++) {
		walk(&c, i);
	}
	if (ok) {
		put_rows(&c);
	}
	if (ok && m->failed) {
		snprintf(why, cap, "no memory for the table");
		ok = false;
	}
	forget(&c);
	if (!ok) {
		table_build_destroy(c.b);
		return NULL;
	}
	return c.b;
}
