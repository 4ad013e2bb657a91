/* SPDX-License-Identifier: MIT
 * Kernel events as they happen by a real-time session of an etwd, for those who have no right to record the
 * kernel themselves: their own etwd's, when its collector has the rights, or that of all users, which
 * shows users their own processes.
 */
#ifndef TOOLS_OPENETW_FEED_SESSION_H
#define TOOLS_OPENETW_FEED_SESSION_H

#include "tools/common/cli.h"
#include "kernel/kernel.h"

struct feed_session;
/* `fn` is called on a thread of the session's own between feed_session_let() and its return; times are
 * CLOCK_MONOTONIC in nanoseconds. NULL: `why` says what to do about it. */
typedef void feed_session_fn(void *ctx, EVENT_RECORD *e);
struct feed_session *feed_session_open(const struct kernel_session *s, feed_session_fn *fn, void *ctx, char *why,
				       size_t cap);
void feed_session_let(struct feed_session *f, int timeout_ms);
/* False: the session has ended. */
bool feed_session_runs(const struct feed_session *f);
/* It ended unexpectedly: what was lost is not known. */
bool feed_session_broken_off(const struct feed_session *f);
void feed_session_stats(struct feed_session *f, struct kernel_stats *ret);
void feed_session_close(struct feed_session *f);

#endif
