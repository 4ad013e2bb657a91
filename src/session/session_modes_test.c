/* SPDX-License-Identifier: MIT
 * The combinations of modes that Windows documents, and what each runner adds.
 */
#include "session/session_modes.h"

#include "etw/values/errors.h"
#include "etw/values/session_modes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define SEQ     EVENT_TRACE_FILE_MODE_SEQUENTIAL
#define CIRC    EVENT_TRACE_FILE_MODE_CIRCULAR
#define APPEND  EVENT_TRACE_FILE_MODE_APPEND
#define NEW     EVENT_TRACE_FILE_MODE_NEWFILE
#define PRE     EVENT_TRACE_FILE_MODE_PREALLOCATE
#define RT      EVENT_TRACE_REAL_TIME_MODE
#define BUF     EVENT_TRACE_BUFFERING_MODE
#define PRIVATE EVENT_TRACE_PRIVATE_LOGGER_MODE
#define IN_PROC EVENT_TRACE_PRIVATE_IN_PROC
#define GLOBAL  EVENT_TRACE_USE_GLOBAL_SEQUENCE
#define LOCAL   EVENT_TRACE_USE_LOCAL_SEQUENCE
#define PACKED  EVENT_TRACE_COMPRESSED_MODE
#define ZSTD    OPENETW_TRACE_ZSTD_MODE

#define INVALID  ERROR_INVALID_PARAMETER
#define BAD_PATH ERROR_BAD_PATHNAME
#define NEVER    ERROR_NOT_SUPPORTED

enum { NONE, FILE_ = SESSION_FILE_PLAIN, COUNTED };

struct row {
	uint32_t mode;
	uint32_t size; /* of the file */
	int file;
	uint32_t want;
};

static uint32_t check(const struct row *r, enum session_runner runner, const char **why)
{
	struct session_properties p = {.guid = {{1}}, .mode = r->mode, .maximum_file_size = r->size};
	*why = NULL;
	uint32_t code = session_modes_check(&p, (enum session_file_kind)r->file, runner, why);
	assert_int_equal(code == 0, *why == NULL);
	return code;
}

static void check_all(const struct row *r, size_t n, enum session_runner runner)
{
	for (size_t i = 0; i < n; i++) {
		const char *why;
		uint32_t code = check(&r[i], runner, &why);
		if (code != r[i].want) {
			fail_msg("mode 0x%x, size %u, file %d: %u (%s), not %u", r[i].mode, r[i].size, r[i].file, code,
				 why ? why : "", r[i].want);
		}
	}
}

/* The documentation of the logging mode constants, and of StartTrace. */
static void combinations_are_answered_as_windows_documents_them(void **state)
{
	static const struct row rows[] = {
		{0, 0, FILE_, 0},
		{0, 0, NONE, BAD_PATH},
		{SEQ, 0, FILE_, 0},
		{SEQ, 100, FILE_, 0},
		{SEQ, 0, NONE, BAD_PATH},
		{SEQ | RT, 0, FILE_, 0},
		{SEQ | RT, 0, NONE, BAD_PATH},
		{SEQ | CIRC, 1, FILE_, INVALID},
		{SEQ | NEW, 1, COUNTED, INVALID},
		{CIRC | NEW, 1, COUNTED, INVALID},
		{SEQ | APPEND, 0, FILE_, 0},
		{CIRC, 0, FILE_, INVALID},
		{CIRC, 1, FILE_, 0},
		{CIRC | RT, 1, FILE_, 0},
		{CIRC | APPEND, 1, FILE_, INVALID},
		{NEW, 0, COUNTED, INVALID},
		{NEW, 1, COUNTED, 0},
		{NEW, 1, FILE_, INVALID},
		{NEW | RT, 1, COUNTED, 0},
		{NEW | APPEND, 1, COUNTED, INVALID},
		{APPEND, 0, FILE_, 0},
		{APPEND | RT, 0, FILE_, INVALID},
		{APPEND | PRIVATE, 0, FILE_, INVALID},
		{PRE | SEQ, 0, FILE_, INVALID},
		{PRE | SEQ, 1, FILE_, 0},
		{PRE | PRIVATE, 1, FILE_, INVALID},
		{RT, 0, NONE, 0},
		{RT, 0, FILE_, 0},
		{BUF, 0, NONE, 0},
		{BUF, 0, FILE_, 0},
		{BUF | RT, 0, NONE, INVALID},
		{BUF | SEQ, 0, FILE_, INVALID},
		{BUF | CIRC, 1, FILE_, INVALID},
		{BUF | PRE, 1, FILE_, INVALID},
		{PRIVATE, 0, FILE_, 0},
		{PRIVATE, 0, NONE, BAD_PATH},
		{PRIVATE | BUF, 0, NONE, 0},
		{PRIVATE | CIRC, 1, FILE_, 0},
		{PRIVATE | RT, 0, NONE, INVALID},
		{PRIVATE | NEW, 1, COUNTED, INVALID},
		{PRIVATE | EVENT_TRACE_INDEPENDENT_SESSION_MODE, 0, FILE_, INVALID},
		{PRIVATE | EVENT_TRACE_SYSTEM_LOGGER_MODE, 0, FILE_, INVALID},
		{PRIVATE | EVENT_TRACE_SECURE_MODE, 0, FILE_, INVALID},
		{PRIVATE | IN_PROC, 0, FILE_, 0},
		{IN_PROC | SEQ, 0, FILE_, INVALID},
		{GLOBAL | LOCAL | RT, 0, NONE, INVALID},
		{GLOBAL | RT, 0, NONE, 0},
		{PACKED | SEQ, 0, FILE_, 0},
		{PACKED | NEW, 1, COUNTED, 0},
		{PACKED | CIRC, 1, FILE_, INVALID},
		{PACKED | APPEND, 0, FILE_, INVALID},
		{ZSTD | SEQ, 0, FILE_, INVALID},
		{ZSTD | PACKED | SEQ, 0, FILE_, 0},
		{EVENT_TRACE_RELOG_MODE | RT, 0, NONE, NEVER},
		{EVENT_TRACE_MODE_RESERVED | RT, 0, NONE, NEVER},
		{0x20000000 | RT, 0, NONE, INVALID},
		{0x00200000 | RT, 0, NONE, INVALID},
		/* Stored, or without a meaning since Vista. */
		{EVENT_TRACE_DELAY_OPEN_FILE_MODE | EVENT_TRACE_ADD_HEADER_MODE | SEQ, 0, FILE_, 0},
		{EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN | EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN | RT, 0, NONE, 0},
		{EVENT_TRACE_ADDTO_TRIAGE_DUMP | EVENT_TRACE_SECURE_MODE | RT, 0, NONE, 0},
		{EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING | EVENT_TRACE_USE_PAGED_MEMORY | RT, 0, NONE, 0},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_INDEPENDENT_SESSION_MODE | RT, 0, NONE, 0},
	};
	(void)state;
	check_all(rows, sizeof rows / sizeof *rows, SESSION_RUNNER_ANY);
}

static void etwd_hosts_no_private_session_and_only_autologgers_stay(void **state)
{
	static const struct row etwd[] = {
		{PRIVATE, 0, FILE_, INVALID},
		{EVENT_TRACE_NONSTOPPABLE_MODE | RT, 0, NONE, INVALID},
		{NEW, 1, COUNTED, 0},
		{SEQ, 0, FILE_, 0},
	};
	static const struct row autologger[] = {
		{PRIVATE, 0, FILE_, INVALID},
		{EVENT_TRACE_NONSTOPPABLE_MODE | RT, 0, NONE, 0},
		{NEW, 1, COUNTED, INVALID},
		{SEQ, 0, FILE_, 0},
	};
	(void)state;
	check_all(etwd, sizeof etwd / sizeof *etwd, SESSION_RUNNER_ETWD);
	check_all(autologger, sizeof autologger / sizeof *autologger, SESSION_RUNNER_AUTOLOGGER);
}

static void only_a_process_itself_starts_an_in_process_session(void **state)
{
	static const struct row others[] = {
		{PRIVATE, 0, FILE_, 0},
		{PRIVATE | IN_PROC, 0, FILE_, INVALID},
		{SEQ, 0, FILE_, INVALID},
	};
	static const struct row own[] = {
		{PRIVATE, 0, FILE_, 0},
		{PRIVATE | IN_PROC, 0, FILE_, 0},
		{0, 0, FILE_, INVALID},
	};
	(void)state;
	check_all(others, sizeof others / sizeof *others, SESSION_RUNNER_PROCESSES);
	check_all(own, sizeof own / sizeof *own, SESSION_RUNNER_HERE);
}

static void a_private_session_has_its_providers_guid(void **state)
{
	struct session_properties p = {.mode = PRIVATE | SEQ};
	const char *why = NULL;
	(void)state;
	assert_int_equal(session_modes_check(&p, SESSION_FILE_PLAIN, SESSION_RUNNER_ANY, &why), INVALID);
	assert_string_equal(why, "Wnode.Guid of a private session is its provider's");
	p.mode |= IN_PROC;
	assert_int_equal(session_modes_check(&p, SESSION_FILE_PLAIN, SESSION_RUNNER_ANY, &why), 0);
}

static void buffers_without_a_file_need_no_size_and_no_name(void **state)
{
	static const struct row rows[] = {
		{0, 0, NONE, 0}, {CIRC, 0, NONE, 0}, {CIRC, 0, FILE_, INVALID}, {PRIVATE | SEQ, 0, FILE_, 0}};
	(void)state;
	check_all(rows, sizeof rows / sizeof *rows, SESSION_RUNNER_BUFFERS);
}

static void there_are_three_clocks(void **state)
{
	struct session_properties p = {.mode = RT};
	const char *why = NULL;
	(void)state;
	for (p.clock = 0; p.clock < 6; p.clock++) {
		uint32_t want = p.clock > 3 ? INVALID : 0;
		assert_int_equal(session_modes_check(&p, SESSION_FILE_NONE, SESSION_RUNNER_ANY, &why), want);
	}
}

static void the_counter_of_a_file_name_is_found_wherever_it_stands(void **state)
{
	(void)state;
	assert_int_equal(session_file_kind(NULL, 0), SESSION_FILE_NONE);
	assert_int_equal(session_file_kind(u"", 0), SESSION_FILE_NONE);
	assert_int_equal(session_file_kind(u"a%d", 3), SESSION_FILE_COUNTED);
	assert_int_equal(session_file_kind(u"a%d", 2), SESSION_FILE_PLAIN); /* what follows is not its name */
	assert_int_equal(session_file_kind(u"%%d.etl", 7), SESSION_FILE_COUNTED);
	assert_int_equal(session_file_kind(u"d%.etl", 6), SESSION_FILE_PLAIN);
}

/* What a file says, as it is when it starts. */
static void a_session_is_looked_at_as_it_will_start(void **state)
{
	(void)state;
	static const struct {
		uint32_t mode, size;
		const char *file;
		enum session_runner runner;
		const char *says; /* NULL: fine */
	} rows[] = {
		{0, 0, "", SESSION_RUNNER_AUTOLOGGER, NULL}, /* a file in the state directory, sequential */
		{EVENT_TRACE_REAL_TIME_MODE, 0, "", SESSION_RUNNER_AUTOLOGGER, NULL},
		{EVENT_TRACE_FILE_MODE_CIRCULAR, 0, "", SESSION_RUNNER_AUTOLOGGER, "maximum file size"},
		{EVENT_TRACE_FILE_MODE_NEWFILE, 1, "a%d", SESSION_RUNNER_AUTOLOGGER, "FileMax"},
		{EVENT_TRACE_PRIVATE_LOGGER_MODE, 0, "a", SESSION_RUNNER_AUTOLOGGER, "cannot be private"},
		{EVENT_TRACE_NONSTOPPABLE_MODE, 0, "", SESSION_RUNNER_AUTOLOGGER, NULL},
		{EVENT_TRACE_NONSTOPPABLE_MODE, 0, "a", SESSION_RUNNER_ANY, "only an autologger"},
		{EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, "", SESSION_RUNNER_ANY, "needs a log file"},
		{EVENT_TRACE_FILE_MODE_NEWFILE, 1, "a", SESSION_RUNNER_ANY, "must hold %d"},
		{EVENT_TRACE_FILE_MODE_NEWFILE, 1, "a%d", SESSION_RUNNER_ANY, NULL},
		{EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, "a", SESSION_RUNNER_ANY,
		 NULL}, /* the GUID is the provider's */
		{EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_FILE_MODE_APPEND, 0, "a", SESSION_RUNNER_ANY,
		 "cannot append"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct etw_session s;
		const char *why = "";
		session_init(&s);
		s.props.mode = rows[i].mode;
		s.props.maximum_file_size = rows[i].size;
		snprintf(s.file, sizeof s.file, "%s", rows[i].file);
		assert_non_null(session_add_provider(&s, &(struct guid){{1}}));
		uint32_t code = session_check(&s, rows[i].runner, &why);
		if ((code != 0) != (rows[i].says != NULL) || (rows[i].says && !strstr(why, rows[i].says))) {
			fail_msg("row %zu: %u, %s", i, code, why);
		}
		session_finish(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(combinations_are_answered_as_windows_documents_them),
		cmocka_unit_test(etwd_hosts_no_private_session_and_only_autologgers_stay),
		cmocka_unit_test(only_a_process_itself_starts_an_in_process_session),
		cmocka_unit_test(a_private_session_has_its_providers_guid),
		cmocka_unit_test(buffers_without_a_file_need_no_size_and_no_name),
		cmocka_unit_test(there_are_three_clocks),
		cmocka_unit_test(the_counter_of_a_file_name_is_found_wherever_it_stands),
		cmocka_unit_test(a_session_is_looked_at_as_it_will_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
