/* SPDX-License-Identifier: MIT
 *
 * Columns of fields, and what questions make of them. The values are set here, as if the events had been decoded.
 */
#include "query/query_test_index.h"

#include "query/query_known.h"
#include "query/query_question.h"
#include "query/query_sample.h"

#include <setjmp.h>
#include <math.h>
#include <cmocka.h>

#define NO_SIZE 9999u

struct sizes {
	struct test_index t;
	uint32_t *of; /* of each row; NO_SIZE: the event has no such field */
};

static void make(struct sizes *s, uint32_t groups, uint32_t rows)
{
	struct field_column *c;
	char text[16];
	assert_int_equal(test_index_make(&s->t, 1, groups, rows), 0);
	assert_int_equal(field_column_of(&s->t.x, "Size", &c), 0);
	for (uint32_t i = 0; i < TEST_TYPES; i++) {
		field_set_of_type(c, 0, i, i % 4 == 3 ? FIELD_OF_TYPE_NONE : FIELD_OF_TYPE_MAY_BE);
	}
	s->of = calloc(s->t.count, sizeof *s->of);
	assert_non_null(s->of);
	for (uint64_t i = 0; i < s->t.count; i++) {
		bool none = s->t.rows[i].type % 4 == 3 || test_random() % 10 == 0;
		s->of[i] = none ? NO_SIZE : test_random() % 200;
		int n = snprintf(text, sizeof text, "%u", s->of[i]);
		uint32_t number = none ? FIELD_ABSENT : field_number_of(c, text, (size_t)n);
		field_set(c, 0, (uint32_t)(i / rows), (uint32_t)(i % rows), number);
	}
}

static void finish(struct sizes *s)
{
	test_index_free(&s->t);
	free(s->of);
}

/* Values that begin alike, that differ in what is behind their end alone, of columns more than have a table, and more of
 * them than a table keeps. */
static void values_met_lately_have_the_numbers_of_the_column(void **state)
{
	static const char *const names[] = {"A", "B", "C", "D", "E", "F"};
	struct field_column *c[BASE_ARRAY_LEN(names)];
	struct test_index t;
	struct known *k = known_make();
	char text[64];
	assert_non_null(k);
	assert_int_equal(test_index_make(&t, 1, 1, 10), 0);
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		assert_int_equal(field_column_of(&t.x, names[i], &c[i]), 0);
		assert_int_equal(known_number(k, c[i], "", 0), field_number_of(c[i], "", 0));
	}
	for (uint32_t i = 0; i < 300000; i++) {
		struct field_column *one = c[i % 3 ? 0 : test_random() % BASE_ARRAY_LEN(names)];
		uint32_t value = i % 2 ? test_random() % 5000 : i;
		int n = snprintf(text, sizeof text, "%s%u", i % 5 == 4 ? "a value of some length " : "", value);
		size_t length = i % 7 == 6 ? (size_t)n + 2 : i % 7 == 5 ? sizeof text - 1 : (size_t)n;
		memset(text + n, i % 7 == 6 ? 0 : 'x', sizeof text - (size_t)n);
		assert_int_equal(known_number(k, one, text, length), field_number_of(one, text, length));
	}
	known_forget(k);
	assert_int_equal(known_number(k, c[0], "new", 3), field_number_of(c[0], "new", 3));
	known_free(k);
	test_index_free(&t);
}

static bool in_filter(uint32_t size, unsigned which)
{
	switch (which) {
	case 0: return size != NO_SIZE && size > 150;
	case 1: return size != NO_SIZE;
	case 2: return size == NO_SIZE;
	case 3: return size != NO_SIZE && (size == 7 || (size >= 20 && size <= 30));
	case 4: return false;
	default: return size != NO_SIZE && (size % 10 == 0);
	}
}

static void a_filter_on_a_field_reads_the_column(void **state)
{
	static const char *const filters[] = {
		"Size > 150", "Size", "not Size", "Size in (7, 20..30)", "Size > 150 and Size < 9", "Size % 10"};
	struct sizes s;
	make(&s, 3, 900);
	struct openetw_query *q = openetw_query_create(&s.t.x);
	for (unsigned k = 0; k < BASE_ARRAY_LEN(filters); k++) {
		OPENETW_SIZED(struct openetw_answer, a);
		uint64_t n = 0;
		for (uint64_t i = 0; i < s.t.count; i++) {
			n += in_filter(s.of[i], k);
		}
		assert_int_equal(openetw_query_set_filter(q, filters[k]), 0);
		for (int twice = 0; twice < 2; twice++) {
			openetw_query_set_range(q, INT64_MIN, INT64_MAX); /* counts again */
			assert_int_equal(openetw_query_count(q, &a), 0);
			assert_int_equal(a.matched, n);
			assert_int_equal(a.decoded, 0);
		}
	}
	openetw_query_destroy(q);
	finish(&s);
}

struct facet_check {
	const struct sizes *s;
	uint64_t sum;
};
static bool take_facet(void *context, const struct openetw_facet *f)
{
	struct facet_check *c = context;
	uint32_t size = f->id == 0 ? NO_SIZE : (uint32_t)atoi(f->text);
	uint64_t n = 0;
	for (uint64_t i = 0; i < c->s->t.count; i++) {
		n += c->s->of[i] == size;
	}
	assert_true(f->id != UINT32_MAX && (f->id == 0) == (f->text[0] == 0));
	assert_int_equal(f->count, n);
	c->sum += f->count;
	return true;
}

static void facets_of_a_field_are_its_values(void **state)
{
	struct sizes s;
	make(&s, 2, 700);
	struct openetw_query *q = openetw_query_create(&s.t.x);
	struct facet_check c = {&s, 0};
	assert_int_equal(openetw_query_facets(q, OPENETW_BY_FIELD, 999, take_facet, &c, NULL), 2); /* which field? */
	assert_int_equal(openetw_query_set_field(q, "Size"), 0);
	assert_int_equal(openetw_query_facets(q, OPENETW_BY_FIELD, 999, take_facet, &c, NULL), 0);
	assert_int_equal(c.sum, s.t.count);
	openetw_query_destroy(q);
	finish(&s);
}

struct group_check {
	const struct sizes *s;
	uint32_t groups;
};
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}
static bool take_group(void *context, const struct openetw_group *g)
{
	struct group_check *c = context;
	double *v = calloc(c->s->t.count + 1, sizeof *v), sum = 0;
	uint64_t n = 0, count = 0;
	for (uint64_t i = 0; i < c->s->t.count; i++) {
		if (c->s->t.rows[i].cpu == g->id || g->depth == 2) {
			count += g->depth == 1;
			if (c->s->of[i] != NO_SIZE && g->depth == 1) {
				v[n++] = c->s->of[i];
				sum += c->s->of[i];
			}
		}
	}
	if (g->depth == 1) {
		qsort(v, n, sizeof *v, by_value);
		assert_int_equal(g->count, count);
		assert_int_equal(g->values, n);
		assert_true(g->sum == sum && g->min == v[0] && g->max == v[n - 1] && g->average == sum / (double)n);
		assert_true(g->p50 == v[(n * 50 + 99) / 100 - 1]);
		assert_true(g->p99 == v[(n * 99 + 99) / 100 - 1]);
		c->groups++;
	}
	free(v);
	return true;
}

static void groups_measure_the_field(void **state)
{
	static const enum openetw_key keys[] = {OPENETW_BY_CPU, OPENETW_BY_LEVEL};
	struct sizes s;
	make(&s, 4, 800);
	struct openetw_query *q = openetw_query_create(&s.t.x);
	q->threads = 3;
	assert_int_equal(openetw_query_set_field(q, "Size"), 0);
	for (uint32_t depth = 1; depth <= 2; depth++) {
		struct group_check c = {&s, 0};
		OPENETW_SIZED(struct openetw_answer, a);
		assert_int_equal(openetw_query_group(q, keys, depth, 99, take_group, &c, &a), 0);
		assert_int_equal(c.groups, TEST_CPUS);
		assert_true(a.exact);
	}
	openetw_query_destroy(q);
	finish(&s);
}

/* ---- percentiles ---- */

static void many_numbers_are_rounded_by_little(void **state)
{
	struct samples s = {.most = 1000};
	static const uint32_t parts[] = {1, 50, 99, 100};
	double got[4];
	uint32_t to[] = {0, 1};
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(samples_add(&s, i % 2, i % 2 ? -(double)(i % 5000) : (double)(i % 5000), 1), 0);
	}
	assert_true(s.rounded && s.count < 4000);
	samples_sort(&s, to);
	assert_true(samples_percentiles(&s, 0, 1, parts, 4, got));
	assert_true(fabs(got[0] / 49 - 1) < 0.05 && fabs(got[1] / 2500 - 1) < 0.016 && fabs(got[2] / 4950 - 1) < 0.016);
	assert_true(samples_percentiles(&s, 1, 2, parts, 4, got));
	assert_true(fabs(got[1] / -2500 - 1) < 0.016 && got[0] < got[1] && got[2] < 0);
	assert_false(samples_percentiles(&s, 2, 9, parts, 4, got));
	samples_free(&s);
}

/* ---- call trees ---- */

struct node_check {
	const struct sizes *s;
	uint64_t address[64];
	uint32_t count;
	bool inverted;
	double self;
};
static bool take_node(void *context, const struct openetw_stack_node *n)
{
	struct node_check *c = context;
	uint64_t frame = n->address / 0x1000, events = 0, ends = 0;
	for (uint64_t i = 0; i < c->s->t.count; i++) {
		const struct test_row *r = &c->s->t.rows[i];
		/* Stack k is frame 1 (outermost) to k. Upside down its tree is a chain for each k. */
		events += r->process == 1 && (c->inverted ? n->depth == 1 && r->stack == frame : r->stack >= frame);
		ends += r->process == 1 && r->stack == frame;
	}
	assert_int_equal(n->process, 1);
	assert_true(n->parent == UINT32_MAX ? n->depth == 1 : n->parent < c->count);
	if (!c->inverted || n->depth == 1) {
		assert_int_equal((uint64_t)n->total, events);
		assert_int_equal((uint64_t)n->self, ends);
	} else {
		assert_true(n->self == 0 && n->address == c->address[n->parent] - 0x1000);
	}
	c->self += n->self;
	c->address[c->count++] = n->address;
	return true;
}

static void trees_of_stacks_add_up(void **state)
{
	struct sizes s;
	make(&s, 3, 900);
	struct openetw_query *q = openetw_query_create(&s.t.x);
	uint64_t with_stack = 0;
	for (uint64_t i = 0; i < s.t.count; i++) {
		with_stack += s.t.rows[i].process == 1 && s.t.rows[i].stack;
	}
	q->threads = 2;
	assert_int_equal(openetw_query_set_filter(q, "pid == 101"), 0);
	for (uint32_t flags = 0; flags <= OPENETW_STACKS_INVERTED; flags++) {
		struct node_check c = {.s = &s, .inverted = flags & OPENETW_STACKS_INVERTED};
		assert_int_equal(openetw_query_stacks(q, flags, 0, take_node, &c, NULL), 0);
		assert_int_equal(c.count, c.inverted ? (TEST_STACKS - 1) * TEST_STACKS / 2 : TEST_STACKS - 1);
		assert_int_equal((uint64_t)c.self, with_stack);
	}
	struct node_check few = {.s = &s};
	assert_int_equal(openetw_query_stacks(q, 0, 0.5, take_node, &few, NULL), 0);
	assert_true(few.count > 0 && few.count < TEST_STACKS - 1);
	assert_int_equal(openetw_query_stacks(q, 0, NAN, take_node, &few, NULL), 87);
	openetw_query_destroy(q);
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_met_lately_have_the_numbers_of_the_column),
		cmocka_unit_test(a_filter_on_a_field_reads_the_column),
		cmocka_unit_test(facets_of_a_field_are_its_values),
		cmocka_unit_test(groups_measure_the_field),
		cmocka_unit_test(many_numbers_are_rounded_by_little),
		cmocka_unit_test(trees_of_stacks_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
