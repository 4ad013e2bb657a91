/* SPDX-License-Identifier: MIT
 * What a client hears of a call that takes long, and which files the numbers may come from.
 */
#include "tools/mcp/mcp_reply.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char said[1000];

void mcp_reply_line(struct mcp_server *s, struct strbuf *b)
{
	snprintf(said, sizeof said, "%s", b->s);
}

/* What is said a second later. */
static const char *later(struct mcp_job *j)
{
	struct mcp_server s = {0};
	said[0] = 0;
	j->told_ns = clock_read_system_ns() - 1000000000ull;
	assert_true(mcp_progress_tell(&s, j) > 0);
	return said;
}

static void progress_says_what_is_done_and_increases(void **state)
{
	struct mcp_job j = {.running = true, .token = "\"t\"", .told_ns = clock_read_system_ns()};
	struct mcp_server s = {0};
	assert_true(cli_work_share());
	assert_true(mcp_progress_tell(&s, &j) > 0);
	assert_string_equal(said, ""); /* no second has gone by */
	assert_non_null(
		strstr(later(&j), "\"progressToken\":\"t\",\"progress\":0.001,\"message\":\"worked on, for 1 s\""));
	cli_work_tell(CLI_WORK_EVENTS, 0, 1000);
	assert_non_null(strstr(
		later(&j), "\"progress\":0.002,\"total\":100,\"message\":\"looking at events: 0 of 1000, for 2 s\""));
	cli_work_tell(CLI_WORK_INDEX, 500000, 2000000);
	assert_non_null(
		strstr(later(&j), "\"progress\":125.000,\"total\":200,\"message\":\"making the index: 0.5 of 2.0 MB"));
	assert_non_null(strstr(later(&j), "\"progress\":125.001,\"total\":200,")); /* it stands still */
	cli_work_tell(CLI_WORK_INDEX, 1, 2000000);                                 /* another one */
	assert_non_null(strstr(later(&j), "\"progress\":200.000,\"total\":300,"));
	cli_work_tell(CLI_WORK_QUERY, 300, 100); /* more than all */
	assert_non_null(strstr(later(&j), "\"progress\":400.000,\"total\":400,\"message\":\"running the query: 100%"));
	assert_non_null(strstr(later(&j), "\"progress\":400.001,\"message\""));
	cli_work_clear(); /* never less */
	assert_non_null(strstr(later(&j), "\"progress\":400.002,\"message\":\"worked on"));
}

static void no_other_file_is_written_to(void **state)
{
	char path[] = "/tmp/openetw-work-XXXXXX", number[16];
	struct cli_work_done x;
	struct stat st;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof x), 0);
	snprintf(number, sizeof number, "%d", fd);
	for (const char *const *v = (const char *const[]){number, "1", "-1", "99999", "x", "", NULL}; *v; v++) {
		assert_true(cli_work_share());
		setenv("OPENETW_WORK", *v, 1);
		cli_work_take_over();
		assert_null(getenv("OPENETW_WORK"));
		cli_work_tell(CLI_WORK_EVENTS, 1, 2);
		assert_int_equal(pread(fd, &x, sizeof x, 0), sizeof x);
		assert_int_equal(x.piece, 0);
		assert_true(cli_work_look(&x)); /* what was there goes on */
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, sizeof x);
	unlink(path);
	close(fd);
}

static void what_a_child_tells_is_seen(void **state)
{
	struct cli_work_done x;
	assert_true(cli_work_share());
	cli_work_tell(CLI_WORK_EVENTS, 5, 10);
	cli_work_hand_over(); /* as in the child, which then becomes another program */
	cli_work_take_over();
	cli_work_tell(CLI_WORK_BUFFERS, 1, 3);
	assert_true(cli_work_look(&x));
	assert_int_equal(x.piece, 2);
	assert_int_equal(x.work, CLI_WORK_BUFFERS);
	assert_int_equal(x.done, 1);
	assert_int_equal(x.total, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_says_what_is_done_and_increases),
		cmocka_unit_test(no_other_file_is_written_to),
		cmocka_unit_test(what_a_child_tells_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
