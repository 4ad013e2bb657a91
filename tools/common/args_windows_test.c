/* SPDX-License-Identifier: MIT
 *
 * Command lines of Windows' tools, read into a structure by its rows.
 */
#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "tools/common/path.h"

#include <openetw/decode.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* What the parser needs of the program; what it says is kept. */
const struct cli_command *const cli_commands[] = {NULL};
static char said[512];

int cli_usage(const struct cli_args *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(said, sizeof said, fmt, ap);
	va_end(ap);
	return CLI_USAGE;
}

int cli_fail(const struct cli_args *a, uint32_t code, const char *fmt, ...)
{
	return CLI_FAILED;
}

int cli_tell(const struct cli_args *a, const char *fmt, ...)
{
	return CLI_FAILED;
}

int cli_told(void)
{
	return CLI_USAGE;
}

const struct cli_command *cli_find(const char *name)
{
	return NULL;
}

void cli_size_text(uint64_t bytes, char *out, size_t cap)
{
	snprintf(out, cap, "%llu", (unsigned long long)bytes);
}

void cli_output_overwrite(void)
{
}

void cli_path_input(char *path)
{
}

FILE *cli_path_fopen(const char *path)
{
	return fopen(path, "re");
}

uint32_t openetw_schema_load_file(const char *path)
{
	return 0;
}

const char *openetw_last_error_text(void)
{
	return "";
}

struct span {
	bool given, open;
	char from[16], to[16];
};
struct given {
	enum cli_switch live;
	struct cli_words files;
	struct cli_numbers pids;
	struct span span;
	const char *session, *name;
	uint64_t size, count;
	bool no_size;
};

static bool take_span(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct span *s = member;
	*s = (struct span){.given = true, .open = count < 2};
	snprintf(s->from, sizeof s->from, "%s", value[0]);
	snprintf(s->to, sizeof s->to, "%s", count > 1 ? value[1] : "");
	return true;
}

static bool wants_digits(int index, const char *word, int words)
{
	return (*word >= '0' && *word <= '9') || words > 0;
}

static const struct cli_option options[] = {
	CLI_SWITCH(given, live, "rt", "live"),
	CLI_WORDS(given, files, 0, "file", "FILE…", "files"),
	CLI_NUMBERS(given, pids, 0, "pid", "PID…", 1, 100, 3, "processes"),
	CLI_OWN_ALL(given, span, struct span, take_span, wants_digits, "span", "FROM [TO]", "a span"),
	CLI_WORD(given, session, 0, "start", "[SESSION]", "start it"),
	CLI_WORD(given, name, 0, "n", "NAME", "its name"),
	CLI_NUMBER(given, size, 0, "max", "MB", 4, 64, "size"),
	CLI_FLAG(given, no_size, 0, "-max", NULL),
	CLI_NUMBER_OR(given, count, 0, "top", "[N]", 10, 1, 99, "rows"),
	CLI_REFUSED("kd", NULL, "refused", "there is no kernel debugger"),
	{0},
};
static const struct cli_command command = {
	.name = "tool",
	.options = options,
	CLI_INTO(given),
	.defaults = &(const struct given){.count = 5},
	.classic = true,
};

static struct cli_args args;
static char text[1024];
static char *words[64];

/* The words of a line, which blanks part. */
static const struct given *parse(const char *line)
{
	int n = 0;
	char *save = NULL;
	snprintf(text, sizeof text, "%s", line);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		words[n++] = w;
	}
	words[n] = NULL;
	said[0] = 0;
	args = (struct cli_args){.command = &command};
	return cli_parse_windows(&args, n, words) ? args.given : NULL;
}

static void wrong(const char *line, const char *what)
{
	assert_null(parse(line));
	assert_string_equal(said, what);
}

static void what_is_absent_keeps_its_default(void **state)
{
	const struct given *g = parse("");
	assert_true(g->live == CLI_UNSAID && !g->span.given && !g->session && g->count == 5 && args.count == 0);
}

static void names_have_any_case_and_a_dash_or_a_slash(void **state)
{
	const struct given *g = parse("/RT -Max 8 web /N x");
	assert_true(g->live == CLI_ON && g->size == 8);
	assert_string_equal(g->name, "x");
	assert_int_equal(args.count, 1);
	assert_string_equal(args.words[0], "web");
	assert_null(args.words[1]);
}

static void two_dashes_take_back_what_has_a_row_for_it(void **state)
{
	const struct given *g = parse("-rt --rt --max --n x");
	assert_true(g->live == CLI_OFF && g->no_size && g->size == 0);
	assert_string_equal(g->name, "x"); /* as programs of Linux write it */
}

static void lists_go_to_the_next_option_and_may_be_repeated(void **state)
{
	const struct given *g = parse("-file a b -rt -file c -pid 7 8");
	assert_true(g->files.count == 3 && g->pids.count == 2 && g->pids.number[1] == 8);
	assert_string_equal(g->files.text[0], "a");
	assert_string_equal(g->files.text[2], "c");
}

static void a_missing_value_is_told_from_a_missing_option(void **state)
{
	const struct given *g = parse("-start -top");
	assert_string_equal(g->session, "");
	assert_int_equal(g->count, 10);
	g = parse("-start web -top 3 more");
	assert_string_equal(g->session, "web");
	assert_int_equal(g->count, 3);
	assert_string_equal(args.words[0], "more");
}

static void a_row_says_which_words_it_wants(void **state)
{
	const struct given *g = parse("-span 1 web");
	assert_true(g->span.given && g->span.open && args.count == 1);
	g = parse("-span 1 2 web");
	assert_string_equal(g->span.to, "2");
	g = parse("verb -span 1 web");
	assert_string_equal(g->span.to, "web");
	g = parse("-span -1 -rt"); /* one that must be there looks like anything but an option */
	assert_string_equal(g->span.from, "-1");
}

static void mistakes_name_the_option_and_its_range(void **state)
{
	wrong("-max 2", "-max takes a number from 4 to 64, not '2'");
	wrong("-max", "-max needs MB");
	wrong("-max -rt", "-max needs MB");
	wrong("-top 100", "-top takes a number from 1 to 99, not '100'");
	wrong("-pid 1 x", "-pid takes a number from 1 to 100, not 'x'");
	wrong("-pid 1 2 -pid 3 4", "at most 3 -pid");
	wrong("-span", "-span needs FROM [TO]");
	wrong("-kd", "-kd is not done here: there is no kernel debugger");
	wrong("--maxx", "unknown option '--maxx'; did you mean -max?");
	wrong("-fle a", "unknown option '-fle'; did you mean -file?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_absent_keeps_its_default),
		cmocka_unit_test(names_have_any_case_and_a_dash_or_a_slash),
		cmocka_unit_test(two_dashes_take_back_what_has_a_row_for_it),
		cmocka_unit_test(lists_go_to_the_next_option_and_may_be_repeated),
		cmocka_unit_test(a_missing_value_is_told_from_a_missing_option),
		cmocka_unit_test(a_row_says_which_words_it_wants),
		cmocka_unit_test(mistakes_name_the_option_and_its_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
