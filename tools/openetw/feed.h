/* SPDX-License-Identifier: MIT
 * Kernel events as they happen, for live views. With the right to it the engine runs in this process; else
 * a real-time session of an etwd brings them (feed_session.h).
 */
#ifndef TOOLS_OPENETW_FEED_H
#define TOOLS_OPENETW_FEED_H

#include "tools/common/cli.h"
#include "kernel/kernel.h"

#include <openetw/state.h>

/* Times of events are CLOCK_MONOTONIC in nanoseconds. */
typedef void feed_fn(void *ctx, const EVENT_RECORD *e);

struct feed;
/* The events of that session go to `fn` from within feed_poll, and to `state` before. Prints
 * what is wrong, and on stderr what is missing; NULL. */
struct feed *feed_open(const struct cli_args *a, const struct kernel_session *session, uint32_t interval_us,
		       struct openetw_state *state, feed_fn *fn, void *ctx);
/* Is this one of the processes that were asked for, or came of one of them? */
bool feed_shows(const struct feed *f, uint32_t pid, uint64_t time);
/* False: there will be no more events. */
bool feed_runs(const struct feed *f);
/* It does not run any more because something died: what was lost is not known. */
bool feed_broken_off(const struct feed *f);
void feed_poll(struct feed *f, int timeout_ms);
/* Lost: those that could not be read included. */
void feed_stats(struct feed *f, struct kernel_stats *ret);
/* Records that were too long, or of no kind that is known here. */
uint64_t feed_not_read(const struct feed *f);
uint64_t feed_filetime(const struct feed *f, uint64_t time_ns);
void feed_close(struct feed *f);

#endif
