/* SPDX-License-Identifier: MIT
 * Kernel events as they happen, for live views. With the right to it the engine runs in this process; else
 * a real-time session of an etwd brings them (feed_session.h).
 */
#ifndef CLI_KERNEL_FEED_H
#define CLI_KERNEL_FEED_H

#include "cli/cli.h"
#include "kernel/kernel.h"

#include <openetw/state.h>

/* Times of events are CLOCK_MONOTONIC in nanoseconds. */
typedef void kernel_feed_fn(void *ctx, const EVENT_RECORD *e);

struct kernel_feed;
/* The events of that session go to `fn` from within kernel_feed_poll, and to `state` before. Prints
 * what is wrong, and on stderr what is missing; NULL. */
struct kernel_feed *kernel_feed_open(const struct cli_args *a, const struct kernel_session *session,
				     uint32_t interval_us, struct openetw_state *state, kernel_feed_fn *fn,
				     void *ctx);
/* Is this one of the processes that were asked for, or came of one of them? */
bool kernel_feed_shows(const struct kernel_feed *f, uint32_t pid, uint64_t time);
/* False: there will be no more events. */
bool kernel_feed_runs(const struct kernel_feed *f);
/* It does not run any more because something died: what was lost is not known. */
bool kernel_feed_broken_off(const struct kernel_feed *f);
void kernel_feed_poll(struct kernel_feed *f, int timeout_ms);
void kernel_feed_stats(struct kernel_feed *f, struct kernel_stats *ret);
uint64_t kernel_feed_filetime(const struct kernel_feed *f, uint64_t time_ns);
void kernel_feed_close(struct kernel_feed *f);

#endif
