/* SPDX-License-Identifier: MIT */
#include "tools/common/table.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

static const struct table_column columns[] = {
	{"NAME", .cut = true}, {"COUNT", .right = true}, {"GUID"}, {"FILE", .cut = true}};

static struct table *new_table(unsigned indent)
{
	struct table *t = table_create(columns, BASE_ARRAY_LEN(columns), indent);
	assert_non_null(t);
	return t;
}

static void row(struct table *t, const char *name, int count, const char *guid, const char *file)
{
	table_cell(t, "%s", name);
	table_cell(t, "%d", count);
	table_cell(t, "%s", guid);
	table_cell(t, "%s", file);
}

static void expect(struct table *t, const char *wanted)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	assert_non_null(f);
	assert_int_equal(table_print(f, t), 0);
	fclose(f);
	assert_string_equal(text, wanted);
	free(text);
}

static void rows_make_the_widths_and_lines_end_without_blanks(void **state)
{
	struct table *t = new_table(2);
	row(t, "web", 12, "{1}", "");
	row(t, "orders-of-today", 1234567, "{22}", "/tmp/x.etl");
	expect(t, "  NAME               COUNT  GUID  FILE\n"
		  "  web                   12  {1}\n"
		  "  orders-of-today  1234567  {22}  /tmp/x.etl\n");
}

static void without_rows_there_is_nothing(void **state)
{
	expect(new_table(0), "");
}

static void wide_characters_take_two_columns_and_controls_are_shown(void **state)
{
	struct table *t = new_table(0);
	row(t, "注文", 1, "a", "b");
	row(t, "x\033[31m", 2, "c", "d");
	expect(t, "NAME       COUNT  GUID  FILE\n"
		  "注文           1  a     b\n"
		  "x\\x1b[31m      2  c     d\n");
}

static void a_very_long_text_does_not_part_the_other_rows(void **state)
{
	char name[91];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	struct table *t = new_table(0);
	row(t, "web", 1, "a", "b");
	table_cell(t, "%s", name);
	char wanted[300];
	snprintf(wanted, sizeof wanted, "NAME  COUNT  GUID  FILE\nweb       1  a     b\n%s\n", name);
	expect(t, wanted);
}

static void lines_of_their_own_begin_where_a_column_does(void **state)
{
	struct table *t = new_table(1);
	row(t, "web", 1, "a", "b");
	table_line(t, 1, "%s", "ends in 5 s");
	table_line(t, 0, "the rest:");
	row(t, "db", 2, "c", "d");
	expect(t, " NAME  COUNT  GUID  FILE\n"
		  " web       1  a     b\n"
		  "       ends in 5 s\n"
		  " the rest:\n"
		  " db        2  c     d\n");
}

/* What comes out at a terminal of so many columns. */
static void on_terminal(struct table *t, unsigned short wide, char *out, size_t cap)
{
	int screen = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(screen >= 0 && grantpt(screen) == 0 && unlockpt(screen) == 0);
	int line = open(ptsname(screen), O_RDWR | O_NOCTTY);
	assert_true(line >= 0);
	struct termios raw;
	assert_int_equal(tcgetattr(line, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(line, TCSANOW, &raw), 0);
	assert_int_equal(ioctl(screen, TIOCSWINSZ, &(struct winsize){.ws_row = 25, .ws_col = wide}), 0);
	FILE *f = fdopen(line, "w");
	assert_non_null(f);
	assert_int_equal(table_print(f, t), 0);
	fflush(f);
	size_t n = 0;
	for (out[0] = 0; strchr(out, '\n') == strrchr(out, '\n'); out[n] = 0) { /* two lines */
		ssize_t more = read(screen, out + n, cap - 1 - n);
		assert_true(more > 0);
		n += (size_t)more;
	}
	fclose(f);
	close(screen);
}

static void a_narrow_terminal_cuts_what_may_be_cut(void **state)
{
	char out[512];
	struct table *t = new_table(0);
	row(t, "orders-of-today", 7, "{0123456789}", "/var/log/orders.etl");
	on_terminal(t, 50, out, sizeof out);
	assert_string_equal(out, "NAME           COUNT  GUID          FILE\n"
				 "orders-of-to…      7  {0123456789}  /var/log/orde…\n");
	t = new_table(0);
	row(t, "web", 7, "{0123456789}", "x.etl");
	on_terminal(t, 10, out, sizeof out); /* nothing can be cut: the terminal breaks the line */
	assert_string_equal(out, "NAME  COUNT  GUID          FILE\n"
				 "web       7  {0123456789}  x.etl\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_make_the_widths_and_lines_end_without_blanks),
		cmocka_unit_test(without_rows_there_is_nothing),
		cmocka_unit_test(wide_characters_take_two_columns_and_controls_are_shown),
		cmocka_unit_test(a_very_long_text_does_not_part_the_other_rows),
		cmocka_unit_test(lines_of_their_own_begin_where_a_column_does),
		cmocka_unit_test(a_narrow_terminal_cuts_what_may_be_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
