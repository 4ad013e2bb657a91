/* SPDX-License-Identifier: MIT
 * What may come next, at every kind of place.
 */
#include "filter/filter_complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

static const char *const fields[] = {"Number", "Odd name", "pid", NULL};
static const char *const events[] = {"Order", "Order Line", NULL};
static const char *const providers[] = {"MyCompany.Web", NULL};
static const struct filter_vocabulary vocabulary = {
	.names = NULL, .fields = fields, .providers = providers, .events = events};

static bool take(void *ctx, const struct filter_completion *c)
{
	struct strbuf *b = ctx;
	strbuf_addf(b, "%s%u:%s", b->len ? "|" : "", c->replaces.at, c->text);
	return true;
}

static bool first_only(void *ctx, const struct filter_completion *c)
{
	(void)c;
	++*(int *)ctx;
	return false;
}

static void what_may_come_next_is_offered(void **state)
{
	static const struct {
		const char *text, *wanted; /* the cursor is at its end */
	} cases[] = {
		{"pi", "0:pid"},
		{"tim", "0:time"},
		{"nu", "0:Number"},
		{".p", "0:.pid"},
		{"[Od", "0:[Odd name]"},
		{"level <= e", "9:error"},
		{"level not in (w", "14:warning"},
		{"event == ", "9:Order|9:\"Order Line\""},
		{"event == ord", "9:Order"},
		{"event == 'Order ", "9:'Order Line'"},
		{"provider ~ my", "11:MyCompany.Web"},
		{"pid b", "4:between"},
		{"pid a", "4:and"},
		{"pid == 1 a", "9:and"},
		{"pid == 1 ", "9:and|9:or"},
		{"(pid == 1 ", "10:and|10:or|10:)"},
		{"pid in (1", ""},
		{"pid in (1 ", "10:,|10:..|10:)"},
		{"Size > 64", "7:64K|7:64M|7:64G|7:64T"},
		{"duration > 1.5m", "11:1.5ms"},
		{"WaitedMs > 10", "11:10ns|11:10us|11:10ms|11:10s|11:10m|11:10h"},
		{"pid > 64", ""},
		{"stack ", "6:has|6:=~|6:in|6:not in|6:and|6:or"},
		{"text h", "5:has"},
		{"pid in (1) o", "11:or"},
		{"pid == 1 and ke", "13:keywords"},
		{"!( tim", "3:time"},
		{"pid == ", ""},
		{"pid == 1) ", ""},
		{"Number ",
		 "7:==|7:!=|7:<|7:<=|7:>|7:>=|7:~|7:!~|7:&|7:%|7:between|7:outside|7:=~|7:in|7:not in|7:and|7:or"},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct strbuf b = {0};
		strbuf_adds(&b, "");
		assert_int_equal(filter_complete(cases[i].text, strlen(cases[i].text), &vocabulary, take, &b), 0);
		if (strcmp(b.s ? b.s : "", cases[i].wanted) != 0) {
			fail_msg("'%s': %s, not %s", cases[i].text, b.s, cases[i].wanted);
		}
		strbuf_finish(&b);
	}
}

static void where_the_names_are_given_no_others_are_offered(void **state)
{
	static const char *const names[] = {"process", "path", NULL};
	static const struct filter_vocabulary columns = {.names = names};
	struct strbuf b = {0};
	(void)state;
	assert_int_equal(filter_complete("p", 1, &columns, take, &b), 0);
	assert_string_equal(b.s, "0:process|0:path");
	strbuf_finish(&b);
}

static void what_is_behind_the_cursor_does_not_matter(void **state)
{
	struct strbuf b = {0};
	(void)state;
	assert_int_equal(filter_complete("pi == 1 and )(", 2, NULL, take, &b), 0);
	assert_string_equal(b.s, "0:pid");
	strbuf_finish(&b);
}

static void a_caller_that_has_enough_is_not_called_again(void **state)
{
	int calls = 0;
	(void)state;
	assert_int_equal(filter_complete("", 0, &vocabulary, first_only, &calls), 0);
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_come_next_is_offered),
		cmocka_unit_test(where_the_names_are_given_no_others_are_offered),
		cmocka_unit_test(what_is_behind_the_cursor_does_not_matter),
		cmocka_unit_test(a_caller_that_has_enough_is_not_called_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
