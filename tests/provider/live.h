/* SPDX-License-Identifier: MIT
 *
 * For programs that are provider, controller and consumer at once, against the real etwd
 * (OPENETW_ETWD). Each has a runtime directory, and so an etwd, of its own. A failed expectation
 * ends the program with a line that says what and where.
 */
#ifndef TESTS_PROVIDER_LIVE_H
#define TESTS_PROVIDER_LIVE_H

#include <windows.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(what, want)                                                 \
	do {                                                               \
		unsigned long long got_ = (unsigned long long)(what);      \
		unsigned long long want_ = (unsigned long long)(want);     \
		if (got_ != want_) {                                       \
			live_fail(__FILE__, __LINE__, #what, got_, want_); \
		}                                                          \
	} while (0)
_Noreturn void live_fail(const char *file, int line, const char *what, unsigned long long got, unsigned long long want);

struct live_session {
	struct {
		EVENT_TRACE_PROPERTIES p;
		WCHAR name[128];
		WCHAR file[256];
	} block;
	CONTROLTRACE_ID id;
	char name[64];
	char path[200];
};

extern char live_dir[64];

/* Runtime directory; everything is cleaned up at exit. */
void live_init(void);
/* The same, and etwd runs afterwards. */
void live_begin(void);
/* A session with a file "<dir>/<file>"; mode is added to sequential unless it names another. */
void live_start(struct live_session *s, const char *name, const char *file, ULONG mode);
ULONG live_control(struct live_session *s, ULONG code);
void live_stop(struct live_session *s);
ULONG live_enable(struct live_session *s, LPCGUID guid, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		  ULONG properties);
/* Until the condition holds, at most 10 s. */
#define live_wait(condition)                                             \
	do {                                                             \
		int left_ = 2000;                                        \
		while (!(condition) && --left_ > 0) {                    \
			usleep(5000);                                    \
		}                                                        \
		if (left_ == 0) {                                        \
			live_fail(__FILE__, __LINE__, #condition, 0, 1); \
		}                                                        \
	} while (0)

typedef void (*live_record_fn)(PEVENT_RECORD r, void *context);
/* All events but the file's own headers. */
void live_read(const char *path, live_record_fn fn, void *context);
/* The extended item, NULL when there is none. */
const EVENT_HEADER_EXTENDED_DATA_ITEM *live_item(PEVENT_RECORD r, USHORT type);

pid_t live_etwd(void); /* 0: none runs */
/* A number of etwd's statistics. */
uint64_t live_stat(const char *name);

#endif
