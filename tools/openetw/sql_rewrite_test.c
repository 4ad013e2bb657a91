/* SPDX-License-Identifier: MIT */
#include "tools/openetw/sql_rewrite.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(const char *from, const char *to)
{
	char *got = sql_rewrite(from);
	if (to) {
		assert_non_null(got);
		assert_string_equal(got, to);
	} else {
		assert_null(got);
	}
	free(got);
}

static void times_behind_where_become_bounds_of_the_table(void **state)
{
	check("select count(*) from events where time between 5 and 10",
	      "select count(*) from events(t0 := 5, t1 := 10) where time between 5 and 10");
	check("FROM Samples WHERE pid = 3 AND time >= 7 ORDER BY time;",
	      "FROM Samples(t0 := 7) WHERE pid = 3 AND time >= 7 ORDER BY time;");
	check("select 1 from net where time<100 and x between 1 and 2 and time > 3",
	      "select 1 from net(t0 := 3, t1 := 100) where time<100 and x between 1 and 2 and time > 3");
	check("select 1 from events where time between 1 and 9 and time between 5 and 20 group by all",
	      "select 1 from events(t0 := 5, t1 := 9) where time between 1 and 9 and time between 5 and 20 group by "
	      "all");
	check("select 1 from events where (pid = 1) and time <= 4 limit 3",
	      "select 1 from events(t1 := 4) where (pid = 1) and time <= 4 limit 3");
	check("select ' where time < 1 ' from events where time < 2",
	      "select ' where time < 1 ' from events(t1 := 2) where time < 2");
}

static void what_could_change_the_answer_is_left_alone(void **state)
{
	static const char *const texts[] = {
		"select count(*) from events where time between 5 and 10 or pid = 1",
		"select count(*) from events where not time between 5 and 10",
		"select count(*) from events where (time between 5 and 10 or pid = 1)",
		"select count(*) from events where (time > 5)",
		"select count(*) from events where time > 5 + 3",
		"select count(*) from events where time > 5 union all from events",
		"select count(*) from events e where time > 5",
		"select count(*) from events, samples where time > 5",
		"select count(*) from events join samples using (time) where time > 5",
		"select (select count(*) from samples) from events where time > 5",
		"select count(*) from (select * from events) where time > 5",
		"with e as (select 1) from events where time > 5",
		"select count(*) filter (time > 5) from events",
		"select count(*) from events having time > 5",
		"select count(*) from events where x between 1 and time and 3 > 2",
		"select count(*) from events where pid between 5 and 10",
		"select count(*) from events where time between 5.5 and 10",
		"select count(*) from events where time between 5 and 10::int",
		"select count(*) from events where time between 1e3 and 1e4",
		"select count(*) from events where time > 99999999999999999999",
		"select count(*) from events where time between -5 and 10",
		"select count(*) from waits where time > 5",
		"select count(*) from \"events\" where time > 5",
		"select count(*) from events -- where time > 5\n where time > 5",
		"select count(*) from events /* x */ where time > 5",
		"from events where time > 5; from events",
		"select count(*) from events where case when time > 5 and time > 6 then 1 end = 1",
		"select count(*) from events where time",
		"select count(*) from events where time between",
		"select count(*) from events where time between 5 and",
		"select count(*) from events where",
		"'",
		"\"",
		"",
		"from",
		"select from where",
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(texts); i++) {
		check(texts[i], NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(times_behind_where_become_bounds_of_the_table),
					   cmocka_unit_test(what_could_change_the_answer_is_left_alone)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
