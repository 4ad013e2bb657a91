/* SPDX-License-Identifier: MIT
 * Kernel events as they happen, for live views. Today the engine runs in this process; a real-time
 * session of etwd's would stand behind the same interface.
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
void kernel_feed_poll(struct kernel_feed *f, int timeout_ms);
void kernel_feed_stats(struct kernel_feed *f, struct kernel_stats *ret);
uint64_t kernel_feed_filetime(const struct kernel_feed *f, uint64_t time_ns);
void kernel_feed_close(struct kernel_feed *f);

#endif
