/* SPDX-License-Identifier: MIT
 * The --filter language against its documentation in filter_parse.h, and times, durations and sizes as
 * text.
 */
#include "filter/filter_parse.h"
#include "base/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

/* An event with these properties and fields. */
static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	static const struct {
		const char *name;
		bool payload;
		const char *text;
		bool is_number;
		uint64_t number;
	} values[] = {
		{"pid", false, "4711", true, 4711},
		{"level", false, "2", true, 2},
		{"keywords", false, "0x8000000000000011", true, 0x8000000000000011},
		{"provider", false, "MyCompany.Web", false, 0},
		{"providerGuid", false, "71e4037d-56b7-5e7c-163b-9a48a5792f88", false, 0},
		{"event", false, "Shop/Order", false, 0},
		{"time", false, NULL, true, 132756731759801567},
		{"pid", true, "my own pid", false, 0},
		{"Number", true, "-17", false, 0},
		{"Big", true, "18446744073709551615", false, 0},
		{"Near", true, "18446744073709551614", false, 0},
		{"Hex", true, "0xc0ffee", false, 0},
		{"Ratio", true, "2.5", false, 0},
		{"WaitedMs", true, "1500", false, 0},
		{"took_us", true, "2000", false, 0},
		{"Code", true, "10s", false, 0},
		{"Film", true, "4K", false, 0},
		{"Path", true, "/a/../b", false, 0},
		{"Name", true, "Grüße, World", false, 0},
		{"Empty", true, "", false, 0},
		{"Line.Article", true, "teapot", false, 0},
		{"Odd name!", true, "7", false, 0},
		{"in", true, "1", false, 0},
	};
	(void)ctx;
	for (int pass = payload; pass < 2; pass++) {
		for (size_t i = 0; i < BASE_ARRAY_LEN(values); i++) {
			if (values[i].payload == (pass == 1) && strcmp(values[i].name, name) == 0) {
				*ret = (struct filter_expr_value){values[i].text,
								  values[i].text ? strlen(values[i].text) : 0,
								  values[i].is_number, values[i].number};
				return true;
			}
		}
	}
	return false;
}

static bool match(const char *text)
{
	struct filter_expr *f = NULL;
	struct diag d;
	diag_clear(&d);
	int err = filter_expr_parse(text, &f, &d);
	if (err) {
		fail_msg("'%s' at column %u: %s", text, d.column, d.text);
	}
	bool r = filter_expr_match(f, lookup, NULL);
	filter_expr_destroy(f);
	return r;
}

static void expressions_mean_what_the_manual_says(void **state)
{
	static const struct {
		const char *text;
		bool wanted;
	} cases[] = {
		{"pid == 4711", true},
		{"pid=4711", true},
		{"pid == 0x1267", true},
		{"pid != 4711", false},
		{"pid < 4712 and pid > 4710", true},
		{"pid <= 4711 && pid >= 4711", true},
		{"pid == 1 or pid == 4711", true},
		{"pid == 1 || pid == 2", false},
		{"not pid == 1", true},
		{"!(pid == 4711)", false},
		/* and binds more tightly than or */
		{"pid == 4711 or pid == 1 and pid == 2", true},
		{"(pid == 4711 or pid == 1) and pid == 2", false},
		/* numbers compare exactly and with sign */
		{"Big == 18446744073709551615", true},
		{"Big == Near", false},
		{"Near == 18446744073709551615", false},
		{"Near < 18446744073709551615", true},
		/* the last part of an event's name will do */
		{"event == Order", true},
		{"event == shop/order", true},
		{"event == rder", false},
		{"event == Shop", false},
		{"event != Order", false},
		{"event in (Other, Order)", true},
		{"event < Order", false},
		{"Number == -17", true},
		{"Number < 0", true},
		{"Number < -16", true},
		{"Number > -16", false},
		{"Number < 18446744073709551615", true},
		{"Ratio > 2.25", true},
		{"Ratio == 2.50", true},
		{"Ratio < 3", true},
		{"Hex == 12648430", true},
		{"Hex == 0xC0FFEE", true},
		/* text compares as text, by case */
		{"Name == 'Grüße, World'", true},
		{"Name == \"grüße, world\"", false},
		{"Line.Article == teapot", true},
		{"Line.Article < teapou", true},
		{"Empty == ''", true},
		{"Empty", true},
		/* ~ contains or matches a pattern, ignoring case */
		{"Name ~ world", true},
		{"Name ~ 'world'", true},
		{"Name ~ 'gr*ld'", true},
		{"Name ~ 'gr*l'", false},
		{"Name ~ '*WORL?'", true},
		{"Name !~ moon", true},
		{"pid ~ 71", true},
		/* & has a bit in common */
		{"keywords & 0x10", true},
		{"keywords & 0x2", false},
		{"keywords & 0x8000000000000000", true},
		{"pid & 1 && pid & 2", true},
		{"Name & 1", false},
		/* % can be divided by; intervals have both of their ends */
		{"pid % 7", true},
		{"Number % 17", true},
		{"Number % 2", false},
		{"Name % 2", false},
		{"pid between 4711,4712", true},
		{"pid between 4710 , 4711", true},
		{"pid between '4710, 4711'", true},
		{"pid between 1,2", false},
		{"pid outside 1,2", true},
		{"pid outside 4711,4712", false},
		{"Number between -18,-16", true},
		{"Ratio between 2,3", true},
		{"Line.Article between tea,teb", true},
		{"level between error,info", true},
		{"Nothing outside 1,2", false},
		{"pid between 4711,4711 and Number is -17", true},
		{"Line.Article isnot cup", true},
		{"Line.Article IS teapot", true},
		/* lists */
		{"pid in (1, 2, 4711)", true},
		{"pid in (1)", false},
		{"pid not in (1, 2)", true},
		{"pid not in (4711)", false},
		{"Line.Article in ('cup', teapot)", true},
		/* a field that is not there passes no test */
		{"Nothing", false},
		{"Nothing == 1", false},
		{"Nothing != 1", false},
		{"Nothing not in (1)", false},
		{"not Nothing", true},
		/* a dot or brackets mean the payload */
		{".pid == 'my own pid'", true},
		{"[pid] ~ own", true},
		{"[Odd name!] == 7", true},
		{"[in] in (1)", true},
		/* names of levels, providers by name in any case or GUID in any form */
		{"level == error", true},
		{"level <= win:Warning", true},
		{"level == critical", false},
		{"provider == mycompany.web", true},
		{"provider == MyCompany.Db", false},
		{"provider == {71E4037D-56B7-5E7C-163B-9A48A5792F88}", true},
		{"provider != 71e4037d-56b7-5e7c-163b-9a48a5792f88", false},
		{"event == order", true},
		{"event ~ '*/ord*'", true},
		/* units and ranges */
		{"Big > 1K", true},
		{"pid > 4K and pid < 5Ki", true},
		{"pid in 4K..5K", true},
		{"pid in (1, 2, 4700..4800)", true},
		{"pid not in (1, 2, 4700..4800)", false},
		{"pid not in 1..2", true},
		{"pid in (4711 .. 4712)", true},
		{"Number in -20..-10", true},
		{"Ratio in 2.5..3", true},
		{"WaitedMs == 1.5s", true},
		{"WaitedMs < 1501000us", true},
		{"took_us >= 2ms", true},
		{"Code == 10s", true}, /* a text */
		{"Code == 64K", false},
		{"Film == 4K", true},
		{"Film == '4K'", true},
		{"Path == /a/../b", true},
		{"Path in (/a/../b, x)", true},
		{"Path !~ /b/", false}, /* a regular expression; nobody has an engine here */
		{"Path !~ /a/../c", true},
		/* times */
		{"time == 2021-09-09T14:59:35.9801567Z", true},
		{"time >= '2021-09-09 14:59:35'", true},
		{"time < 2021-09-09T16:59:36+02:00", true},
		{"time > 2021-09-10", false},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		if (match(cases[i].text) != cases[i].wanted) {
			fail_msg("'%s' should be %s", cases[i].text, cases[i].wanted ? "true" : "false");
		}
	}
}

static void mistakes_are_found_at_their_column(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
	} cases[] = {
		{"", 1},
		{"   ", 4},
		{"pid ==", 7},
		{"pid == 1 and", 13},
		{"(pid == 1", 10},
		{"pid == 1)", 9},
		{"pid == 'x", 8},
		{"pid 1", 5},
		{"== 1", 1},
		{"level == loud", 10},
		{"[pid == 1", 1},
		{"[] == 1", 1},
		{"pid in 1", 8},
		{"pid in (1", 10},
		{"pid in (1,)", 11},
		{"keywords & x", 12},
		{"time > noon", 8},
		{"a == 1 b == 2", 8},
		{"time > 2021-02-30", 8},
		{"pid between 1", 14},
		{"pid between 1,", 15},
		{"pid between 1,x", 15},
		{"pid == abc", 8},
		{"id == seven", 7},
		{"pid < 10ms", 7},
		{"Size >= 64Q", 9},
		{"Size in 1..2x", 12},
		{"Elapsed > 10ms", 11},
		{"duration > 10", 12},
		{"duration > 10mss", 12},
		{"duration > 64K", 12},
		{"time > 10 o'clock", 8},
		{"time > 24:00", 8},
		{"Port in 80", 9},
		{"Port in (80, 90..)", 18},
		{"Port in (80 .. )", 16},
		{"Port in 1..a", 9},
		{"Port in 90..80", 9},
		{"Size between 2K,1K", 14},
		{"level in warning..error", 10},
		{"Name has x", 6},
		{"stack == x", 7},
		{"stack in (x)", 7},
		{"Name =~ x", 9},
		{"Name =~ /x", 9},
		{"Name =~ //", 9},
		{"Name =~ /x/g", 12},
		{"Name =~ 'x\\\\'", 9},
		{"Name contians x", 6},
		{"pid % 0", 7},
		{"pid % x", 7},
		{"level between 1,loud", 17},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f = NULL;
		struct diag d;
		diag_clear(&d);
		if (filter_expr_parse(cases[i].text, &f, &d) != -EINVAL || d.column != cases[i].column || !d.text[0]) {
			fail_msg("'%s': column %u (wanted %u): %s", cases[i].text, d.column, cases[i].column, d.text);
		}
	}
}

static void mistakes_name_what_is_nearest(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"level == eror", "no level 'eror'; did you mean 'error'?"},
		{"duration > 10mss", "no unit 'mss'; did you mean 'ms'?"},
		{"Size >= 64KX", "no unit 'KX'; did you mean 'K'?"},
		{"Name contians x", "no operator 'contians'; did you mean '~'?"},
		{"Name betwen 1,2", "no operator 'betwen'; did you mean 'between'?"},
		{"Size => 5", "no operator '=>'; did you mean '>='?"},
		{"Size <> 5", "no operator '<>'; did you mean '!='?"},
		{"Name like x", "no operator 'like'; did you mean '~'?"},
		{"Elapsed > 10ms", "does not say in which unit"},
		{"duration > 10", "such as 10ms"},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f = NULL;
		struct diag d = {0};
		if (filter_expr_parse(cases[i].text, &f, &d) != -EINVAL || !strstr(d.text, cases[i].says)) {
			fail_msg("'%s': %s", cases[i].text, d.text);
		}
	}
}

/* A dialect of two columns. */
static void in_a_closed_dialect_other_names_are_mistakes(void **state)
{
	static const char *const names[] = {"process", "path", NULL};
	static const struct filter_dialect dialect = {.names = names};
	struct filter_expr *f;
	struct diag d = {0};
	(void)state;
	assert_int_equal(filter_expr_parse_in(&dialect, "path ~ x and pocess == y", &f, &d), -EINVAL);
	assert_int_equal(d.column, 14);
	assert_string_equal(d.text, "no property 'pocess'; did you mean 'process'?");
	diag_clear(&d);
	assert_int_equal(filter_expr_parse_in(&dialect, "xyzzy == y", &f, &d), -EINVAL);
	assert_string_equal(d.text, "no property 'xyzzy'; there are process path");
	diag_clear(&d);
	assert_int_equal(filter_expr_parse_in(&dialect, "pid == 7", &f, &d), -EINVAL);
	assert_int_equal(filter_expr_parse_in(&dialect, ".process == y", &f, &d), 0); /* there is only one such name */
	assert_int_equal(f->nodes[f->root].property, FILTER_PROPERTY_PROCESS);
	filter_expr_destroy(f);
	assert_int_equal(filter_expr_parse_in(&dialect, "path ~ x and process == y", &f, &d), 0);
	assert_int_equal(f->nodes[f->root - 1].property, FILTER_PROPERTY_PROCESS);
	filter_expr_destroy(f);
}

static void depth_and_length_are_limited(void **state)
{
	struct filter_expr *f;
	struct diag d;
	(void)state;
	char deep[4096], *longer = malloc(400000);
	memset(deep, '(', sizeof deep);
	deep[sizeof deep - 1] = 0;
	diag_clear(&d);
	assert_int_equal(filter_expr_parse(deep, &f, &d), -EINVAL);
	memset(deep, '!', sizeof deep - 1);
	diag_clear(&d);
	assert_int_equal(filter_expr_parse(deep, &f, &d), -EINVAL);
	assert_non_null(longer);
	size_t n = 0;
	for (int i = 0; i < 10000; i++) {
		n += (size_t)sprintf(longer + n, "%sa == %d", i ? " or " : "", i);
	}
	diag_clear(&d);
	assert_int_equal(filter_expr_parse(longer, &f, &d), -EINVAL);
	free(longer);
}

static void every_node_knows_its_place(void **state)
{
	static const char text[] = "not (pid == 1 and  Name ~ 'x y' ) or id in (7, 8)";
	static const struct {
		enum filter_node_type type;
		const char *whole, *op;
	} wanted[] = {
		{FILTER_NODE_TEST, "pid == 1", "=="},
		{FILTER_NODE_TEST, "Name ~ 'x y'", "~"},
		{FILTER_NODE_AND, "pid == 1 and  Name ~ 'x y'", "and"},
		{FILTER_NODE_NOT, "not (pid == 1 and  Name ~ 'x y' )", "not"},
		{FILTER_NODE_TEST, "id in (7", "in"},
		{FILTER_NODE_TEST, "id in (7, 8", "in"},
		{FILTER_NODE_OR, "id in (7, 8", "in"},
		{FILTER_NODE_OR, "not (pid == 1 and  Name ~ 'x y' ) or id in (7, 8", "or"},
	};
	struct filter_expr *f;
	(void)state;
	assert_int_equal(filter_expr_parse(text, &f, NULL), 0);
	assert_int_equal(f->count, BASE_ARRAY_LEN(wanted));
	for (uint32_t i = 0; i < f->count; i++) {
		const struct filter_node *n = &f->nodes[i];
		assert_int_equal(n->type, wanted[i].type);
		assert_int_equal(n->whole.bytes, strlen(wanted[i].whole));
		assert_memory_equal(text + n->whole.at, wanted[i].whole, n->whole.bytes);
		assert_int_equal(n->op.bytes, strlen(wanted[i].op));
		assert_memory_equal(text + n->op.at, wanted[i].op, n->op.bytes);
	}
	assert_int_equal(f->root, f->count - 1);
	filter_expr_destroy(f);
}

static void what_is_printed_is_the_same_filter(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{"pid=4711", "pid == 4711"},
		{"a && !b || c", "a and not b or c"},
		{"a and (b or c)", "a and (b or c)"},
		{"(a and b) and c", "a and b and c"},
		{"a and (b and c)", "a and (b and c)"},
		{"not (a or b)", "not (a or b)"},
		{"!!a", "not not a"},
		{"pid not in (1,2)", "pid != 1 and pid != 2"},
		{"pid in (1, 2) and b", "(pid == 1 or pid == 2) and b"},
		{"Name is \"it's\"", "Name == \"it's\""},
		{"Name ~ 'a \"b\" \\\\ c'", "Name ~ \"a \\\"b\\\" \\\\ c\""},
		{"[Odd name!] == ''", "[Odd name!] == \"\""},
		{"[pid] outside 1 , 2", ".pid outside 1,2"},
		{"x isnot y", "x != y"},
		{"Url ~ a=b", "Url ~ \"a=b\""},
		{"Size >= 64K", "Size >= 64K"},
		{"Size == '64K'", "Size == \"64K\""},
		{"Port in 80..90", "Port between 80,90"},
		{"Port not in (1, 80..90)", "Port != 1 and Port outside 80,90"},
		{"time in 10:00..10:01", "time between 10:00,10:01"},
		{"Name =~ /a\\/b\\d/i", "Name =~ /a\\/b\\d/i"},
		{"Name matches 'a/b'", "Name =~ /a\\/b/"},
		{"Name not matches 'a b'", "Name !~ /a b/"},
		{"Name !~ '/usr/'", "Name !~ \"/usr/\""},
		{"stack has 'a!b'", "stack has \"a!b\""},
		{"text has b", "text has b"},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		const char *text = cases[i].text;
		for (int round = 0; round < 2; round++, text = cases[i].printed) {
			struct filter_expr *f;
			struct strbuf b = {0};
			assert_int_equal(filter_expr_parse(text, &f, NULL), 0);
			filter_expr_print(f, &b);
			assert_string_equal(b.s, cases[i].printed);
			strbuf_finish(&b);
			filter_expr_destroy(f);
		}
	}
}

static void a_clause_names_its_event(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
	} bad[] = {
		{"Order", 1}, {": a == 1", 1}, {"Order: a", 0}, {"Order:", 7}, {"Order: Number is", 17}, {"  ", 3},
	};
	struct filter_clause c;
	struct diag d;
	(void)state;
	assert_int_equal(filter_clause_parse(" Order : pid == 1 and level == loud", &c, NULL), 0);
	assert_string_equal(c.event, "Order");
	assert_false(c.by_id);
	assert_true(c.expr->nodes[0].payload); /* a property's name means a field here */
	filter_clause_finish(&c);
	assert_int_equal(filter_clause_parse("0x11: a == 1", &c, NULL), 0);
	assert_true(c.by_id && c.id == 17);
	filter_clause_finish(&c);
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		diag_clear(&d);
		int err = filter_clause_parse(bad[i].text, &c, &d);
		assert_int_equal(err, bad[i].column ? -EINVAL : 0);
		assert_int_equal(d.column, bad[i].column);
		if (err == 0) {
			filter_clause_finish(&c);
		}
	}
}

static void times_are_read_and_written_as_iso_8601(void **state)
{
	/* Pairs known from elsewhere: the FILETIME of the Unix epoch, a leap day, the end of a
	 * 400-year cycle. */
	static const struct {
		const char *text;
		uint64_t filetime;
	} cases[] = {
		{"1601-01-01T00:00:00.0000000Z", 0},
		{"1970-01-01T00:00:00.0000000Z", 116444736000000000},
		{"2000-02-29T23:59:59.9999999Z", 125963423999999999},
		{"2021-09-09T14:59:35.9801567Z", 132756731759801567},
	};
	char text[TIME_TEXT_SIZE];
	uint64_t t;
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		format_time(cases[i].filetime, false, text);
		assert_string_equal(text, cases[i].text);
		assert_true(parse_time(cases[i].text, &t));
		assert_int_equal(t, cases[i].filetime);
	}
	assert_true(parse_time("1970-01-01", &t));
	assert_int_equal(t, 116444736000000000);
	assert_true(parse_time("1970-01-01 01:00+01:00", &t));
	assert_int_equal(t, 116444736000000000);
	static const char *const bad[] = {"",
					  "1970",
					  "1970-13-01",
					  "2021-02-29",
					  "1970-01-01T24:00",
					  "1970-01-01T10",
					  "1970-01-01x",
					  "1970-01-01T10:00:00.",
					  "1600-12-31"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		assert_false(parse_time(bad[i], &t));
	}
	setenv("TZ", "XYZ-05:30", 1);
	format_time(116444736000000000, true, text);
	assert_string_equal(text, "1970-01-01T05:30:00.0000000+05:30");
}

static void sizes_and_durations_have_units(void **state)
{
	uint64_t v;
	(void)state;
	assert_true(parse_size("100MB", 1, &v) && v == 100ull << 20);
	assert_true(parse_size("64k", 1, &v) && v == 64 << 10);
	assert_true(parse_size("1.5G", 1, &v) && v == 3ull << 29);
	assert_true(parse_size("7", 1 << 20, &v) && v == 7 << 20);
	assert_true(parse_duration("1.5s", 1, &v) && v == 1500000000);
	assert_true(parse_duration("250ms", 1, &v) && v == 250000000);
	assert_true(parse_duration("2m", 1, &v) && v == 120000000000);
	assert_true(parse_duration("3", 1000, &v) && v == 3000);
	static const char *const bad[] = {"", "-1", "x", "1x", "1 MB", "0x10", "1e30", "nan", "inf"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		assert_false(parse_size(bad[i], 1, &v));
		assert_false(parse_duration(bad[i], 1, &v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_mean_what_the_manual_says),
		cmocka_unit_test(mistakes_are_found_at_their_column),
		cmocka_unit_test(mistakes_name_what_is_nearest),
		cmocka_unit_test(in_a_closed_dialect_other_names_are_mistakes),
		cmocka_unit_test(depth_and_length_are_limited),
		cmocka_unit_test(every_node_knows_its_place),
		cmocka_unit_test(what_is_printed_is_the_same_filter),
		cmocka_unit_test(a_clause_names_its_event),
		cmocka_unit_test(times_are_read_and_written_as_iso_8601),
		cmocka_unit_test(sizes_and_durations_have_units),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
