/* SPDX-License-Identifier: MIT */
#include "tools/common/xpath.h"
#include "xml/xml.h"

#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

/* As wevtutil shows an event. */
static const char event_text[] =
	"<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System>"
	"<Provider Name='Shop' Guid='{F3C1A5A0-6A0E-4B2C-9D0B-2F6F4A7C1E11}'/><EventID>7</EventID>"
	"<Level>2</Level><Task>5</Task><Keywords>0x8000000000000012</Keywords>"
	"<TimeCreated SystemTime='2026-03-01T12:00:00.0000000Z'/><Execution "
	"ProcessID='100'/></System>"
	"<EventData><Data Name='User'>ann</Data><Data Name='Amount'>12.5</Data>"
	"<Data Name='Flags'>6</Data></EventData></Event>";

static const struct {
	const char *query;
	bool match;
} cases[] = {
	{"*", true},
	{"Event", true},
	{"Other", false},
	{"*[System]", true},
	{"*[System[EventID=7]]", true},
	{"*[System[EventID=8]]", false},
	{"*[System/EventID=7]", true},
	{"Event/System[EventID > 6 and EventID < 8]", true},
	{"*[System[(Level=1 or Level=2) and Task=5]]", true},
	{"*[System[(Level=1 or Level=3) and Task=5]]", false},
	{"*[System[Provider[@Name='Shop']]]", true},
	{"*[System[Provider[@Name='Shop' or @Name='x']]]", true},
	{"*[System/Provider/@Guid='{f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11}']", true},
	{"*[System[Execution[@ProcessID=100]]]", true},
	{"*[System[Execution[@ProcessID!=100]]]", false},
	{"*[System[TimeCreated[@SystemTime >= '2026-03-01T11:59:59Z']]]", true},
	{"*[System[TimeCreated[@SystemTime >= '2026-03-01T13:30:00+01:00']]]", false},
	/* the test's now is a minute later */
	{"*[System[TimeCreated[timediff(@SystemTime) <= 60000]]]", true},
	{"*[System[TimeCreated[timediff(@SystemTime) < 60000]]]", false},
	{"*[System[TimeCreated[timediff(@SystemTime, '2026-03-01T12:00:01Z') = 1000]]]", true},
	{"*[System[band(Keywords,0x10)]]", true},
	{"*[System[band(Keywords,0x4)]]", false},
	{"*[EventData[Data[@Name='User']='ann']]", true},
	{"*[EventData[Data='ann']]", true},
	{"*[EventData[Data[@Name='User']='bob']]", false},
	{"*[EventData[Data[@Name='Amount'] > 12]]", true},
	{"*[EventData[Data[@Name='Amount'] > 100]]", false},
	{"*[EventData/Data[2]=12.5]", true},
	{"*[EventData/Data[position()=1]='ann']", true},
	{"*[EventData[Data[@Name='Flags'][. = 6]]]", true},
	{"*[EventData[Data[@Name='User']='ann']] and *[System[Level=2]]", true},
	{"//Data[@Name='User']", true},
	{"*[UserData]", false},
};

static void queries_select_what_their_words_say(void **state)
{
	struct xml_doc doc;
	assert_int_equal(xml_parse(event_text, sizeof event_text - 1, &doc, NULL), 0);
	/* 2026-03-01T12:01:00Z */
	uint64_t now = (1772366460ull + 11644473600ull) * 10000000;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		size_t at;
		const char *why;
		struct cli_xpath *x = cli_xpath_parse(cases[i].query, &at, &why);
		if (!x) {
			fail_msg("%s: %s at %zu", cases[i].query, why, at);
		}
		if (cli_xpath_match(x, doc.root, now) != cases[i].match) {
			fail_msg("%s should%s match", cases[i].query, cases[i].match ? "" : " not");
		}
		cli_xpath_destroy(x);
	}
	xml_finish(&doc);
}

static void mistakes_are_told_with_their_place(void **state)
{
	static const struct {
		const char *query;
		size_t at;
	} bad[] = {{"", 0},           {"*[System", 8}, {"*[System[EventID=]]", 17}, {"*[contains(@a, 'b')]", 2},
		   {"*[Data='x]", 7}, {"* *", 2},      {"*[timediff()]", 11},       {"*[Band(a)]", 8}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		size_t at = 999;
		const char *why = NULL;
		struct cli_xpath *x = cli_xpath_parse(bad[i].query, &at, &why);
		if (x || at != bad[i].at || !why) {
			fail_msg("%s: %s at %zu, not %zu", bad[i].query, x ? "taken" : why, at, bad[i].at);
		}
	}
	char deep[400];
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = 0;
	size_t at;
	const char *why;
	assert_null(cli_xpath_parse(deep, &at, &why));
	assert_string_equal(why, "too deep");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_select_what_their_words_say),
		cmocka_unit_test(mistakes_are_told_with_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
