/* SPDX-License-Identifier: MIT
 *
 * Questions over columns, against a loop over the same rows.
 */
#include "query/query_test_index.h"

#include "query/query_question.h"

#include <setjmp.h>
#include <cmocka.h>

/* All kinds: decided by one column, by several, by the order of the words; never and always true. */
static const char *const filters[] = {
	"",
	"id == 10",
	"level <= 2",
	"provider == Contoso-Web",
	"event == Event5",
	"pid == 103",
	"pid != 103",
	"process == program1.exe",
	"tid in (1003, 1006, 1030)",
	"thread ~ worker",
	"cpu == 2",
	"level <= 2 and pid == 104",
	"level <= 2 or pid == 104",
	"not (id == 20 or cpu > 3)",
	"provider == Fabrikam and (cpu == 0 or tid == 1005) and pid between 102, 105",
	"id == 20 and process == program2.exe and thread == worker9",
	"id == 1 and id == 2",
	"not thread and not pid == 105",
	"cpu < 900",
};

struct range {
	int64_t from, to;
};
static const struct range ranges[] = {
	{INT64_MIN, INT64_MAX}, {0, 200000}, {100000, 4000000}, {-100, -1}, {INT64_MAX - 5, INT64_MAX}};

static struct filter_expr *parsed(const char *text)
{
	struct filter_expr *f = NULL;
	struct diag d = {0};
	if (text[0]) {
		assert_int_equal(filter_expr_parse(text, &f, &d), 0);
	}
	return f;
}

/* Which rows match, by the loop. */
static bool *expected(const struct test_index *t, const char *text, const struct range *r, uint64_t *ret_count)
{
	struct filter_expr *f = parsed(text);
	bool *yes = calloc(t->count + 1, sizeof *yes);
	assert_non_null(yes);
	*ret_count = 0;
	for (uint64_t i = 0; i < t->count; i++) {
		int64_t time = test_time(t, &t->rows[i]);
		yes[i] = time >= r->from && time <= r->to && test_row_matches(t, f, &t->rows[i]);
		*ret_count += yes[i];
	}
	filter_expr_destroy(f);
	return yes;
}

typedef void each_fn(const struct test_index *t, struct openetw_query *q, const bool *yes, uint64_t count);

static void for_each_question(const struct test_index *t, each_fn *fn)
{
	struct openetw_query *q = openetw_query_create((struct openetw_index *)(uintptr_t)&t->x);
	assert_non_null(q);
	q->threads = 3; /* more than there may be processors */
	for (size_t i = 0; i < BASE_ARRAY_LEN(filters); i++) {
		assert_int_equal(openetw_query_set_filter(q, filters[i]), 0);
		for (size_t k = 0; k < BASE_ARRAY_LEN(ranges); k++) {
			uint64_t count;
			bool *yes = expected(t, filters[i], &ranges[k], &count);
			openetw_query_set_range(q, ranges[k].from, ranges[k].to);
			fn(t, q, yes, count);
			free(yes);
		}
	}
	openetw_query_destroy(q);
}

static void for_each(each_fn *fn)
{
	static const uint32_t shapes[][3] = {{1, 1, 1}, {1, 5, 700}, {3, 4, 500}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(shapes); i++) {
		struct test_index t;
		assert_int_equal(test_index_make(&t, shapes[i][0], shapes[i][1], shapes[i][2]), 0);
		for_each_question(&t, fn);
		test_index_free(&t);
	}
}

/* ---- count ---- */

static void check_count(const struct test_index *t, struct openetw_query *q, const bool *yes, uint64_t count)
{
	OPENETW_SIZED(struct openetw_answer, a);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, count);
	assert_true(a.exact && !a.partial);
	assert_true(a.scanned >= a.matched && a.scanned <= t->count);
}

static void counts_are_those_of_a_loop(void **state)
{
	for_each(check_count);
}

/* ---- histogram ---- */

static uint32_t local_id(uint32_t id, uint32_t count)
{
	return id % count;
}

/* Types of the same shape in several files are one: the first file's. */
static bool is_of(enum openetw_key by, const struct test_index *t, const struct test_row *r, uint32_t id)
{
	const struct store *s = &t->x.files[0].store;
	uint32_t local;
	switch (by) {
	case OPENETW_BY_NOTHING: return true;
	case OPENETW_BY_TYPE: return r->type == local_id(id, TEST_TYPES);
	case OPENETW_BY_PROVIDER:
		local = local_id(id, TEST_TYPES);
		return strcmp(store_string(s, s->types[local].provider_name),
			      store_string(s, s->types[r->type].provider_name)) == 0;
	case OPENETW_BY_LEVEL: return s->types[r->type].level == id;
	case OPENETW_BY_PROCESS: return (r->process ? r->process + r->file * TEST_PROCESSES : 0) == id;
	case OPENETW_BY_PROCESS_NAME:
		local = local_id(id, TEST_PROCESSES);
		return strcmp(store_string(s, s->processes[local].name),
			      store_string(s, s->processes[r->process].name)) == 0;
	case OPENETW_BY_CONTAINER:
		local = local_id(id, TEST_PROCESSES);
		return strcmp(store_string(s, s->processes[local].container),
			      store_string(s, s->processes[r->process].container)) == 0;
	case OPENETW_BY_THREAD: return (r->thread ? r->thread + r->file * TEST_THREADS : 0) == id;
	case OPENETW_BY_STACK: return (r->stack ? r->stack + r->file * TEST_STACKS : 0) == id;
	case OPENETW_BY_CPU: return r->cpu == id;
	case OPENETW_BY_FILE: return r->file == id;
	default: return false;
	}
}

static uint64_t naive_cell(const struct test_index *t, const bool *yes, const struct openetw_histogram *h,
			   enum openetw_key by, uint32_t series, int64_t from, int64_t to, uint32_t buckets,
			   uint32_t bucket)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < t->count; i++) {
		int64_t time = test_time(t, &t->rows[i]);
		if (!yes[i] || time < from || time >= to ||
		    (uint64_t)(time - from) * buckets / (uint64_t)(to - from) != bucket) {
			continue;
		}
		bool in = false;
		if (h->ids[series] != UINT32_MAX) {
			in = is_of(by, t, &t->rows[i], h->ids[series]);
		} else {
			in = true;
			for (uint32_t s = 0; s + 1 < h->series; s++) {
				in = in && !is_of(by, t, &t->rows[i], h->ids[s]);
			}
		}
		n += in;
	}
	return n;
}

static void check_histogram(const struct test_index *t, struct openetw_query *q, const bool *yes, uint64_t count)
{
	static const uint32_t bucket_counts[] = {1, 7, 1600};
	static const enum openetw_key keys[] = {OPENETW_BY_NOTHING, OPENETW_BY_TYPE,    OPENETW_BY_PROVIDER,
						OPENETW_BY_LEVEL,   OPENETW_BY_PROCESS, OPENETW_BY_PROCESS_NAME,
						OPENETW_BY_CPU,     OPENETW_BY_FILE};
	int64_t from = -20000, to = 3000000;
	for (size_t k = 0; k < BASE_ARRAY_LEN(keys); k++) {
		uint32_t buckets = bucket_counts[test_random() % 3], most = 1 + test_random() % 5;
		OPENETW_SIZED(struct openetw_histogram, h);
		assert_int_equal(openetw_query_histogram(q, from, to, buckets, keys[k], most, &h), 0);
		assert_true(h.series <= most);
		uint64_t sum = 0, inside = 0;
		for (uint64_t i = 0; i < t->count; i++) {
			int64_t time = test_time(t, &t->rows[i]);
			inside += yes[i] && time >= from && time < to;
		}
		for (uint32_t s = 0; s < h.series; s++) {
			uint64_t total = 0;
			for (uint32_t b = 0; b < buckets; b++) {
				uint64_t n = h.counts[(uint64_t)s * buckets + b];
				total += n;
				if (buckets < 10 || test_random() % 400 == 0) {
					assert_int_equal(n, naive_cell(t, yes, &h, keys[k], s, from, to, buckets, b));
				}
			}
			assert_int_equal(total, h.totals[s]);
			assert_true(s == 0 || h.ids[s] == UINT32_MAX || h.totals[s] <= h.totals[s - 1]);
			sum += total;
		}
		assert_int_equal(sum, inside);
		assert_int_equal(h.answer.matched, inside);
	}
}

static void histograms_are_those_of_a_loop(void **state)
{
	for_each(check_histogram);
}

/* ---- facets ---- */

struct facet_check {
	const struct test_index *t;
	const bool *yes;
	enum openetw_key by;
	uint64_t sum, last;
};

static bool take_facet(void *context, const struct openetw_facet *f)
{
	struct facet_check *c = context;
	uint64_t n = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (uint64_t i = 0; i < c->t->count; i++) {
		if (c->yes[i] && is_of(c->by, c->t, &c->t->rows[i], f->id)) {
			int64_t time = test_time(c->t, &c->t->rows[i]);
			n++;
			first = BASE_MIN(first, time);
			last = BASE_MAX(last, time);
		}
	}
	assert_int_equal(f->count, n);
	assert_int_equal(f->first, first);
	assert_int_equal(f->last, last);
	assert_true(f->count <= c->last);
	c->last = f->count;
	c->sum += n;
	return true;
}

static void check_facets(const struct test_index *t, struct openetw_query *q, const bool *yes, uint64_t count)
{
	for (int by = OPENETW_BY_NOTHING; by < OPENETW_BY_FIELD; by++) {
		struct facet_check c = {t, yes, (enum openetw_key)by, 0, UINT64_MAX};
		OPENETW_SIZED(struct openetw_answer, a);
		assert_int_equal(openetw_query_facets(q, c.by, UINT32_MAX, take_facet, &c, &a), 0);
		assert_int_equal(c.sum, count);
		assert_int_equal(a.matched, count);
	}
}

static void facets_are_those_of_a_loop(void **state)
{
	for_each(check_facets);
}

struct text_of {
	char text[64];
};
static bool take_text(void *context, const struct openetw_facet *f)
{
	snprintf(((struct text_of *)context)->text, sizeof(struct text_of), "%s", f->text);
	return false;
}

static void a_facet_says_what_it_is(void **state)
{
	static const struct {
		enum openetw_key by;
		const char *filter, *text;
	} cases[] = {
		{OPENETW_BY_TYPE, "id == 20", "Fabrikam/Event2/Start"},
		{OPENETW_BY_PROVIDER, "id == 20", "Fabrikam"},
		{OPENETW_BY_LEVEL, "level == 2", "Error"},
		{OPENETW_BY_PROCESS, "pid == 105", "program1.exe (105)"},
		{OPENETW_BY_PROCESS, "pid == 110", "110"},
		{OPENETW_BY_PROCESS_NAME, "pid == 105", "program1.exe"},
		{OPENETW_BY_CONTAINER, "pid == 105", "box5"},
		{OPENETW_BY_THREAD, "tid == 1003", "worker3 (1003)"},
		{OPENETW_BY_THREAD, "tid == 1004", "1004"},
		{OPENETW_BY_CPU, "cpu == 4", "4"},
		{OPENETW_BY_FILE, "", "trace.etl"},
	};
	struct test_index t;
	assert_int_equal(test_index_make(&t, 2, 2, 800), 0);
	struct openetw_query *q = openetw_query_create(&t.x);
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct text_of got = {"nothing"};
		assert_int_equal(openetw_query_set_filter(q, cases[i].filter), 0);
		assert_int_equal(openetw_query_facets(q, cases[i].by, 1, take_text, &got, NULL), 0);
		assert_string_equal(got.text, cases[i].text);
	}
	openetw_query_destroy(q);
	test_index_free(&t);
}

/* ---- rows ---- */

struct expected_row {
	int64_t key, time;
	uint64_t row;
};
struct row_check {
	const struct expected_row *rows;
	uint64_t next, end;
};

static bool take_row(void *context, const struct openetw_row *r)
{
	struct row_check *c = context;
	assert_true(c->next < c->end);
	assert_int_equal(r->position, c->next);
	assert_int_equal(r->row, c->rows[c->next].row);
	assert_int_equal(r->time, c->rows[c->next].time);
	c->next++;
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct expected_row *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key ? 1 : x->row < y->row ? -1 : x->row > y->row;
}

static void check_rows(const struct test_index *t, struct openetw_query *q, const bool *yes, uint64_t count)
{
	struct expected_row *rows = calloc(count + 1, sizeof *rows);
	uint64_t n = 0, in_file = 0;
	int64_t latest = INT64_MIN;
	for (uint64_t i = 0; i < t->count; i++) {
		bool next_file = i > 0 && t->rows[i].file != t->rows[i - 1].file;
		in_file = next_file ? 0 : in_file;
		int64_t time = test_time(t, &t->rows[i]);
		latest = next_file ? time : BASE_MAX(latest, time);
		if (yes[i]) {
			rows[n++] = (struct expected_row){latest, time,
							  (uint64_t)t->rows[i].file << INDEX_ROW_BITS | in_file};
		}
		in_file++;
	}
	qsort(rows, n, sizeof *rows, by_key);
	for (int i = 0; i < 3; i++) { /* the same before they are counted, and with what that found */
		uint64_t many = i == 0 ? 1 : i == 1 ? test_random() % (count + 2) : count + 1;
		struct row_check c = {rows, 0, n};
		OPENETW_SIZED(struct openetw_answer, a);
		assert_int_equal(openetw_query_first_rows(q, many, take_row, &c, &a), 0);
		assert_int_equal(c.next, BASE_MIN(many, count));
		assert_true(a.matched >= c.next && a.matched <= count && a.scanned >= a.matched);
		assert_true(a.partial || a.matched == count);
		assert_true(!a.partial || many <= count);
	}
	for (int i = 0; i < 6; i++) {
		uint64_t from = i == 0 ? 0 : i == 1 ? count : test_random() % (count + 2);
		uint64_t many = i == 0 ? count : test_random() % 40;
		struct row_check c = {rows, from, n};
		OPENETW_SIZED(struct openetw_answer, a);
		assert_int_equal(openetw_query_rows(q, from, many, take_row, &c, &a), 0);
		assert_int_equal(c.next, from >= count ? from : BASE_MIN(from + many, count));
		assert_int_equal(a.matched, count);
	}
	for (int i = 0; i < 6; i++) {
		int64_t time = n && i < 4 ? rows[test_random() % n].time + i % 2 : i == 4 ? INT64_MIN : INT64_MAX;
		uint64_t position = 0, want = 0;
		while (want < n && rows[want].key < time) {
			want++;
		}
		assert_int_equal(openetw_query_position(q, time, &position), 0);
		assert_int_equal(position, want);
	}
	free(rows);
}

static void rows_are_in_the_order_of_time(void **state)
{
	for_each(check_rows);
}

/* ---- groups ---- */

struct told {
	struct openetw_group g;
	uint64_t below; /* of its children */
	uint32_t children;
};
struct group_check {
	const struct test_index *t;
	const bool *yes;
	const enum openetw_key *keys;
	struct told told[4096];
	uint32_t count, most;
	uint64_t sum;
};

static bool row_is_in(const struct group_check *c, uint32_t group, const struct test_row *r)
{
	for (; group != UINT32_MAX; group = c->told[group].g.parent) {
		const struct openetw_group *g = &c->told[group].g;
		if (!is_of(c->keys[g->depth - 1], c->t, r, g->id)) {
			return false;
		}
	}
	return true;
}

static bool take_group(void *context, const struct openetw_group *g)
{
	struct group_check *c = context;
	assert_true(c->count < BASE_ARRAY_LEN(c->told));
	assert_true(g->parent == UINT32_MAX ? g->depth == 1 : g->parent < c->count);
	c->told[c->count].g = *g;
	if (g->parent == UINT32_MAX) {
		c->sum += g->count;
	} else {
		assert_int_equal(c->told[g->parent].g.depth, g->depth - 1);
		c->told[g->parent].below += g->count;
		assert_true(++c->told[g->parent].children <= c->most);
	}
	uint32_t me = c->count++;
	if (g->id != UINT32_MAX && test_random() % 8 == 0) {
		uint64_t n = 0;
		for (uint64_t i = 0; i < c->t->count; i++) {
			n += c->yes[i] && row_is_in(c, me, &c->t->rows[i]);
		}
		assert_int_equal(g->count, n);
	}
	return true;
}

static void check_groups(const struct test_index *t, struct openetw_query *q, const bool *yes, uint64_t count)
{
	static const enum openetw_key keys[][3] = {
		{OPENETW_BY_LEVEL, OPENETW_BY_CPU, OPENETW_BY_PROCESS_NAME},
		{OPENETW_BY_TYPE, OPENETW_BY_PROCESS, OPENETW_BY_NOTHING},
		{OPENETW_BY_THREAD, OPENETW_BY_STACK, OPENETW_BY_FILE},
	};
	static struct group_check c;
	for (size_t i = 0; i < BASE_ARRAY_LEN(keys); i++) {
		for (uint32_t depth = 1; depth <= 3; depth++) {
			memset(&c, 0, sizeof c);
			c.t = t;
			c.yes = yes;
			c.keys = keys[i];
			c.most = 1 + test_random() % 12;
			OPENETW_SIZED(struct openetw_answer, a);
			assert_int_equal(openetw_query_group(q, keys[i], depth, c.most, take_group, &c, &a), 0);
			assert_int_equal(c.sum, count);
			for (uint32_t k = 0; k < c.count; k++) {
				if (c.told[k].g.depth < depth && c.told[k].g.id != UINT32_MAX) {
					assert_int_equal(c.told[k].below, c.told[k].g.count);
				}
			}
		}
	}
}

static void groups_are_those_of_a_loop(void **state)
{
	for_each(check_groups);
}

/* ---- mistakes, and the end -------------------------------------------------------------------------- */

static void a_wrong_filter_says_where(void **state)
{
	struct test_index t;
	assert_int_equal(test_index_make(&t, 1, 1, 10), 0);
	struct openetw_query *q = openetw_query_create(&t.x);
	assert_int_equal(openetw_query_set_filter(q, "level <="), 87);
	assert_non_null(strstr(openetw_query_problem(q), "column"));
	/* The one before is in force still. */
	OPENETW_SIZED(struct openetw_answer, a);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, 10);
	assert_int_equal(openetw_query_set_filter(q, NULL), 0);
	assert_string_equal(openetw_query_problem(q), "");
	openetw_query_destroy(q);
	test_index_free(&t);
}

static bool cancel_at_once(void *context, const struct openetw_row *r)
{
	openetw_query_cancel(context);
	return true;
}

static void a_cancelled_question_says_that_there_may_be_more(void **state)
{
	struct test_index t;
	assert_int_equal(test_index_make(&t, 2, 3, 100), 0);
	struct openetw_query *q = openetw_query_create(&t.x);
	OPENETW_SIZED(struct openetw_answer, a);
	assert_int_equal(openetw_query_first_rows(q, 500, cancel_at_once, q, &a), 1223);
	assert_true(a.partial);
	assert_int_equal(openetw_query_rows(q, 0, 500, cancel_at_once, q, &a), 1223);
	assert_true(a.partial);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_false(a.partial);
	openetw_query_destroy(q);
	test_index_free(&t);
}

static void impossible_questions_are_refused(void **state)
{
	struct test_index t;
	assert_int_equal(test_index_make(&t, 1, 1, 10), 0);
	struct openetw_query *q = openetw_query_create(&t.x);
	OPENETW_SIZED(struct openetw_histogram, h);
	OPENETW_SIZED(struct openetw_answer, a);
	enum openetw_key none[] = {(enum openetw_key)99};
	assert_int_equal(openetw_query_histogram(q, 0, 1, 0, OPENETW_BY_CPU, 1, &h), 87);
	assert_int_equal(openetw_query_histogram(q, 1, 0, 1, OPENETW_BY_CPU, 1, &h), 87);
	assert_int_equal(openetw_query_histogram(q, 0, 1, 1, (enum openetw_key)99, 1, &h), 87);
	assert_int_equal(openetw_query_group(q, none, 1, 1, take_group, NULL, &a), 87);
	/* No time at all is a question, without an answer. */
	assert_int_equal(openetw_query_histogram(q, 5, 5, 1600, OPENETW_BY_CPU, 3, &h), 0);
	assert_int_equal(h.series, 0);
	assert_int_equal(openetw_query_histogram(q, 5, 5, 3, OPENETW_BY_LEVEL, 3, &h), 0);
	assert_int_equal(h.series, 0);
	a.size = 3;
	assert_int_equal(openetw_query_count(q, &a), 87);
	assert_null(openetw_query_create(NULL));
	openetw_query_destroy(NULL);
	openetw_query_destroy(q);
	test_index_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_of_a_loop),
		cmocka_unit_test(histograms_are_those_of_a_loop),
		cmocka_unit_test(facets_are_those_of_a_loop),
		cmocka_unit_test(a_facet_says_what_it_is),
		cmocka_unit_test(rows_are_in_the_order_of_time),
		cmocka_unit_test(groups_are_those_of_a_loop),
		cmocka_unit_test(a_wrong_filter_says_where),
		cmocka_unit_test(a_cancelled_question_says_that_there_may_be_more),
		cmocka_unit_test(impossible_questions_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
