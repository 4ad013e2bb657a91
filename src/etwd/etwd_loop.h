/* SPDX-License-Identifier: MIT
 *
 * etwd's loop: what it watches, its jobs, its clock and its log.
 */
#ifndef ETWD_ETWD_LOOP_H
#define ETWD_ETWD_LOOP_H

#include "base/base.h"

#include <sys/queue.h>
#include <sys/types.h>

struct etwd;

/* Something epoll watches; embedded first in its owner. */
struct source {
	void (*ready)(struct etwd *d, struct source *s, uint32_t events);
	int fd;
};

/* Work that may block. `run` on a thread of its own: it may touch nothing but the job. `done` on
 * the loop, which then frees the job. */
struct job {
	void (*run)(struct job *j);
	void (*done)(struct etwd *d, struct job *j);
	struct etwd *d;
	STAILQ_ENTRY(job) link;
};

int etwd_loop_init(struct etwd *d);
void etwd_loop_finish(struct etwd *d);
int etwd_loop_add(struct etwd *d, struct source *s, uint32_t events);
void etwd_loop_change(struct etwd *d, struct source *s, uint32_t events);
void etwd_loop_remove(struct etwd *d, struct source *s);
/* Until d->exiting and everything has ended. */
void etwd_loop_run(struct etwd *d);
/* One turn; waits at most timeout_ms. For tests. */
void etwd_loop_turn(struct etwd *d, int timeout_ms);
/* Takes the job (heap). Runs it in place when no thread can be had. */
void etwd_job_start(struct etwd *d, struct job *j);
/* Takes it only if a thread can be had. */
bool etwd_job_try(struct etwd *d, struct job *j);
uint64_t etwd_now_ns(void);
void etwd_log(struct etwd *d, const char *fmt, ...) BASE_PRINTF(2, 3);
/* The same for what a user can cause as often as they like: lines have a rate then. */
void etwd_log_of(struct etwd *d, uid_t uid, const char *fmt, ...) BASE_PRINTF(3, 4);
void etwd_log_left_out(struct etwd *d, uid_t uid, uint64_t lines);
void etwd_log_open(struct etwd *d); /* DIR/etwd.log */

#endif
