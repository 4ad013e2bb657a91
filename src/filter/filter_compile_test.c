/* SPDX-License-Identifier: MIT
 * Filters as a session evaluates them: compiled, made into bytes, checked as etwd checks them, and run on events.
 */
#include "filter/filter_compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

static const struct guid provider = {{1, 2, 3}};

/* An enable with the filters of an expression. */
struct enable {
	struct filter_select select;
	uint8_t ids[FILTER_BYTES_MAX], names[FILTER_BYTES_MAX], payload[FILTER_BYTES_MAX];
	size_t id_bytes, name_bytes, payload_bytes;
};

static void put(struct enable *e, uint32_t type, const uint8_t *p, size_t n)
{
	if (n > 0) {
		assert_int_equal(filter_select_add(&e->select, &provider, (uint32_t)type, p, n, NULL), 0);
	}
}

static void enable(struct enable *e, const char *text)
{
	struct filter_expr *f;
	struct filter_plan plan;
	struct diag d = {0};
	memset(e, 0, sizeof *e);
	if (filter_expr_parse(text, &f, &d) != 0 || filter_compile(f, &plan, &d) != 0) {
		fail_msg("'%s', column %u: %s", text, d.column, d.text);
	}
	assert_int_equal(filter_plan_ids(&plan, e->ids, &e->id_bytes, &d), 0);
	assert_int_equal(filter_plan_names(&plan, e->names, &e->name_bytes, &d), 0);
	assert_int_equal(filter_plan_payload(&plan, &provider, e->payload, &e->payload_bytes, &d), 0);
	filter_plan_finish(&plan);
	filter_expr_destroy(f);
	put(e, EVENT_FILTER_TYPE_EVENT_ID, e->ids, e->id_bytes);
	put(e, EVENT_FILTER_TYPE_EVENT_NAME, e->names, e->name_bytes);
	put(e, EVENT_FILTER_TYPE_PAYLOAD, e->payload, e->payload_bytes);
}

/* A TraceLogging event with a field "Number", 32 bits, and a field "Text"; a manifest's event without a name. */
static bool passes(struct enable *e, const char *event, uint16_t id, uint32_t number, const char *text)
{
	uint8_t schema[100], payload[100];
	size_t at = 3, n = strlen(event) + 1;
	schema[2] = 0;
	memcpy(schema + at, event, n);
	memcpy(schema + at + n,
	       "Number\0\x08"
	       "Text\0\x02",
	       14);
	at += n + 14;
	le16_put(schema, (uint16_t)at);
	le32_put(payload, number);
	memcpy(payload + 4, text, strlen(text) + 1);
	struct filter_facts f = {.id = id, .payload = payload, .payload_bytes = 5 + strlen(text)};
	if (*event) {
		f.schema = schema;
		f.schema_bytes = at;
	}
	return !e->select.filtered || filter_select_event(&e->select, &f);
}

static void the_session_takes_what_was_said_and_nothing_else(void **state)
{
	static const struct {
		const char *text, *event;
		uint16_t id;
		uint32_t number;
		const char *value;
		bool wanted;
	} cases[] = {
		{"event == Order", "Order", 0, 1, "", true},
		{"event == Order", "Other", 0, 1, "", false},
		{"event == Order", "", 7, 1, "", false}, /* no event of a manifest is called that */
		{"id == 7", "", 7, 1, "", true},
		{"id == 7", "", 8, 1, "", false},
		{"id == 7", "Order", 7, 1, "", false},
		{"id in (7, 9) or event in (A, B)", "", 9, 1, "", true},
		{"id in (7, 9) or event in (A, B)", "B", 0, 1, "", true},
		{"id in (7, 9) or event in (A, B)", "C", 0, 1, "", false},
		{"event == Order and Number >= 3", "Order", 0, 3, "", true},
		{"event == Order and Number >= 3", "Order", 0, 2, "", false},
		{"event == Order and Number >= 3", "Other", 0, 3, "", false},
		{"Number >= 3 and event == Order and Text == ab", "Order", 0, 3, "ab", true},
		{"Number >= 3 and event == Order and Text == ab", "Order", 0, 3, "ac", false},
		{"event == Order and (Number == 3 or Text ~ b)", "Order", 0, 4, "abc", true},
		{"event == Order and (Number == 3 or Text ~ b)", "Order", 0, 3, "", true},
		{"event == Order and (Number == 3 or Text ~ b)", "Order", 0, 4, "", false},
		{"event == Order and Number in (3, 5)", "Order", 0, 5, "", true},
		{"event == Order and Number not in (3, 5)", "Order", 0, 5, "", false},
		{"event == Order and Number between 3,5", "Order", 0, 5, "", true},
		{"event == Order and Number outside 3,5", "Order", 0, 5, "", false},
		{"event == Order and Number % 2", "Order", 0, 6, "", true},
		{"event == Order and Number == 010", "Order", 0, 10, "", true}, /* decimal, as when reading */
		{"(event == A and Number == 1) or (event == B and Number == 2)", "A", 0, 1, "", true},
		{"(event == A and Number == 1) or (event == B and Number == 2)", "A", 0, 2, "", false},
		{"(event == A and Number == 1) or (event == B and Number == 2)", "B", 0, 2, "", true},
		{"(event == A and Number == 1) or event == A", "A", 0, 2, "", true},
		{"event in (A, B) and Number == 1", "B", 0, 1, "", true},
		{"event in (A, B) and Number == 1", "B", 0, 2, "", false},
		{"event != Tick", "Tick", 0, 1, "", false},
		{"event != Tick", "Tock", 0, 1, "", true},
		{"event != Tick", "", 7, 1, "", true},
		{"event not in (A, B) and id != 7", "B", 0, 1, "", false},
		{"event not in (A, B) and id != 7", "", 7, 1, "", false},
		{"event not in (A, B) and id != 7", "", 8, 1, "", true},
	};
	static struct enable e;
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		enable(&e, cases[i].text);
		if (passes(&e, cases[i].event, cases[i].id, cases[i].number, cases[i].value) != cases[i].wanted) {
			fail_msg("'%s': event '%s' %u, %u, '%s'", cases[i].text, cases[i].event, cases[i].id,
				 cases[i].number, cases[i].value);
		}
	}
}

static void what_a_session_cannot_evaluate_is_refused_with_its_column(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *says;
	} cases[] = {
		{"event == A and Number & 1", 23, "'&'"},
		{"event == A and not Number == 1", 16, "'not'"},
		{"event == A and Text ~ 'a*b'", 23, "pattern"},
		{"event == A and Number", 16, "whether a field is there"},
		{"event == A and (B == 1 or C == 2 and D == 3)", 34, "joined all by"},
		{"event == A and (B == 1 or C == 2) and D == 3", 24, "joined all by"},
		{"event == A and pid == 1", 16, "'pid'; --pid"},
		{"event == A and level <= 2", 16, "'level'"},
		{"event == A and time > 2021-09-10", 16, "'time'; use it when reading"},
		{"process == web", 1, "'process'; --exe"},
		{"Number == 3", 1, "event == NAME"},
		{"event ~ Ord", 1, "'event'"},
		{"event != A and Number == 3", 7, "left out"},
		{"event == A or id != 3", 18, "left out"},
		{"event == A and Name =~ /x/", 21, "regular expressions"},
		{"event == A and Name !~ /x/i", 21, "regular expressions"},
		{"event == A and Name not matches 'x'", 21, "regular expressions"},
		{"event == A and stack has malloc", 16, "'stack'; use it when reading"},
		{"event == A and text has tea", 16, "'text'; use it when reading"},
		{"event == A and duration > 10ms", 16, "'duration'; use it when reading"},
		{"time > 1.5s", 1, "'time'; use it when reading"},
		{"id == 65536", 7, "0 to 65535"},
		{"event == ''", 10, "empty"},
		{"event == A and a==1 and a==2 and a==3 and a==4 and a==5 and a==6 and a==7 and a==8 and a==9", 88,
		 "up to 8"},
		{"not event == A", 1, "'not'"},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f;
		struct filter_plan plan;
		struct diag d = {0};
		assert_int_equal(filter_expr_parse(cases[i].text, &f, NULL), 0);
		int err = filter_compile(f, &plan, &d);
		if (err != -EINVAL || d.column != cases[i].column || !strstr(d.text, cases[i].says)) {
			fail_msg("'%s': %d, column %u: %s", cases[i].text, err, d.column, d.text);
		}
		filter_expr_destroy(f);
	}
}

static void values_that_make_no_sense_are_refused_with_their_column(void **state)
{
	struct filter_expr *f;
	struct filter_plan plan;
	struct diag d = {0};
	uint8_t out[FILTER_BYTES_MAX];
	size_t n;
	(void)state;
	assert_int_equal(filter_expr_parse("event == A and B == x and C > many", &f, NULL), 0);
	assert_int_equal(filter_compile(f, &plan, &d), 0);
	assert_int_equal(filter_plan_payload(&plan, &provider, out, &n, &d), -EINVAL);
	assert_int_equal(d.column, 31);
	assert_non_null(strstr(d.text, "'many' is no whole number"));
	filter_plan_finish(&plan);
	filter_expr_destroy(f);
}

static void conditions_on_a_manifest_event_are_handed_out(void **state)
{
	struct filter_expr *f;
	struct filter_plan plan;
	(void)state;
	assert_int_equal(filter_expr_parse("id in (7, 8) and (a == 1 or b between 2,3) or id == 8", &f, NULL), 0);
	assert_int_equal(filter_compile(f, &plan, NULL), 0);
	const struct filter_choice *c = filter_plan_manifest(&plan, 0);
	assert_non_null(c);
	assert_int_equal(c->id, 7);
	assert_true(c->conditions->any);
	assert_int_equal(c->conditions->count, 2);
	assert_string_equal(c->conditions->c[1].field, "b");
	assert_string_equal(c->conditions->c[1].value, "2,3");
	assert_int_equal(c->conditions->c[1].op, FILTER_BETWEEN);
	assert_null(filter_plan_manifest(&plan, 1)); /* 8 passes in any case */
	filter_plan_finish(&plan);
	filter_expr_destroy(f);
}

static void ranges_and_units_are_numbers_for_a_session(void **state)
{
	static const struct {
		const char *text, *value;
		uint8_t op;
	} cases[] = {
		{"id == 7 and Size >= 64K", "65536", FILTER_GE},
		{"id == 7 and Port in 8000..8999", "8000,8999", FILTER_BETWEEN},
		{"id == 7 and Size not in 1K..1.5K", "1024,1536", FILTER_NOTBETWEEN},
		{"id == 7 and WaitedMs > 1.5s", "1500", FILTER_GT},
		{"id == 7 and (Port in (80, 8000..8999))", "8000,8999", FILTER_BETWEEN},
		{"id == 7 and .duration > 10", "10", FILTER_GT},
		{"id == 7 and Name == \"64K\"", "64K", FILTER_EQ},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f;
		struct filter_plan plan;
		assert_int_equal(filter_expr_parse(cases[i].text, &f, NULL), 0);
		assert_int_equal(filter_compile(f, &plan, NULL), 0);
		const struct filter_choice *c = filter_plan_manifest(&plan, 0);
		assert_non_null(c);
		const struct filter_named_condition *last = &c->conditions->c[c->conditions->count - 1];
		assert_string_equal(last->value, cases[i].value);
		assert_int_equal(last->op, cases[i].op);
		filter_plan_finish(&plan);
		filter_expr_destroy(f);
	}
}

static void a_clause_is_a_list_of_conditions(void **state)
{
	struct filter_clause c;
	struct filter_conditions conditions;
	struct diag d = {0};
	(void)state;
	assert_int_equal(filter_clause_parse("Order: pid == 1 and Text !~ 'a b'", &c, NULL), 0);
	assert_int_equal(filter_conditions_of(c.expr, &conditions, NULL), 0);
	assert_int_equal(conditions.count, 2);
	assert_false(conditions.any);
	assert_string_equal(conditions.c[0].field, "pid");
	assert_string_equal(conditions.c[1].value, "a b");
	filter_clause_finish(&c);
	assert_int_equal(filter_clause_parse("Order: a == 1 or b == 2 and c == 3", &c, NULL), 0);
	assert_int_equal(filter_conditions_of(c.expr, &conditions, &d), -EINVAL);
	assert_int_equal(d.column, 25);
	filter_clause_finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_session_takes_what_was_said_and_nothing_else),
		cmocka_unit_test(what_a_session_cannot_evaluate_is_refused_with_its_column),
		cmocka_unit_test(values_that_make_no_sense_are_refused_with_their_column),
		cmocka_unit_test(conditions_on_a_manifest_event_are_handed_out),
		cmocka_unit_test(ranges_and_units_are_numbers_for_a_session),
		cmocka_unit_test(a_clause_is_a_list_of_conditions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
