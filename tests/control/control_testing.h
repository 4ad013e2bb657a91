/* SPDX-License-Identifier: MIT
 *
 * What the controller tests share: a private daemon that the first call starts on demand, property
 * blocks, and a reader that counts what a file holds.
 */
#ifndef TESTS_CONTROL_TESTING_H
#define TESTS_CONTROL_TESTING_H

#include <windows.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NAME_ROOM   1032
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* EVENT_TRACE_PROPERTIES with its two names in 16-bit units; `a` sees the same bytes as UTF-8. */
struct block {
	EVENT_TRACE_PROPERTIES p;
	WCHAR name[NAME_ROOM];
	WCHAR file[NAME_ROOM];
};

int testing_setup(void **state);
int testing_teardown(void **state);
void testing_stop_daemon(void);             /* it leaves by itself on SIGTERM; waits for that */
const char *testing_path(const char *name); /* in the test's directory; two may be in use */

/* Zeroed, sizes and offsets set. file: NULL, or a name in the test's directory. */
void block_init(struct block *b, ULONG mode, const char *file);
void block_init_a(struct block *b, ULONG mode, const char *file);
/* A running session; fails the test otherwise. */
CONTROLTRACE_ID session_start(const WCHAR *name, ULONG mode, const char *file);
void session_stop(CONTROLTRACE_ID id);
ULONG session_query(CONTROLTRACE_ID id, struct block *b);

/* Events of a file (header event excluded), by id modulo 64. */
struct tally {
	unsigned events, by_id[64], traits, stacks, binaries;
	USHORT last_id;
};
void tally_file(const char *file, struct tally *ret);

/* One failed case names itself. */
#define expect_code(got, want, what)                                           \
	do {                                                                   \
		ULONG got_ = (got), want_ = (want);                            \
		if (got_ != want_) {                                           \
			fail_msg("%s: %u instead of %u", (what), got_, want_); \
		}                                                              \
	} while (0)

#endif
