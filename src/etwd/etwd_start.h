/* SPDX-License-Identifier: MIT
 *
 * Programs that etwd has do something. etwd itself may start none: it gives up that right, and all others that it needs
 * not, before anybody can speak to it (base/confine.h). So it forks a starter first, which keeps the rights that it
 * was started with, listens to nobody but etwd, and ends with it.
 *
 *   etwd --request, descriptors--> starter --fork--> watcher --spawn--> program
 *     ^                                                 |
 *     +------------- a pipe: number, then status -------+
 *
 * The programs are few (etwd_program.c, etwd_collector.c): the collector of kernel events, `openetw describe`,
 * what root or the user has saved as a session's command.
 */
#ifndef ETWD_ETWD_START_H
#define ETWD_ETWD_START_H

#include "base/base.h"

#include <sys/types.h>

/* Before there are threads, sockets and sessions. 0 or -errno. */
int etwd_starter_begin(void);

struct etwd_start {
	const char *program;
	char *const *argv, *const *env;
	int fd[2];  /* what the program has as descriptors 3 and 4; -1: nothing */
	bool quiet; /* in a session of its own, with /dev/null for its words */
};
/* 0 or -errno. *ret_status is readable when the program has ended, see below. Any thread. */
int etwd_start(const struct etwd_start *s, pid_t *ret_pid, int *ret_status);
/* Waits, unless told not to: -EAGAIN. Its exit status, or 128 and the signal that ended it; -errno. */
int etwd_start_status(int status_fd, bool wait);

#endif
