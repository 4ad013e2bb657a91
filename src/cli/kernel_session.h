/* SPDX-License-Identifier: MIT
 *
 * A kernel recording that goes on in the background until it is stopped by another command: a process
 * of its own, found again by a file <runtime directory>/kernel/<key>.
 */
#ifndef CLI_KERNEL_SESSION_H
#define CLI_KERNEL_SESSION_H

#include "cli/cli.h"
#include "kernel/kernel.h"

/* The recordings there were before group masks. */
enum cli_kernel_source { KERNEL_CPU = 1, KERNEL_CSWITCH = 2, KERNEL_PROCESS = 4 };
void cli_kernel_wants(struct kernel_session *s, uint32_t sources, bool stacks);

struct cli_kernel {
	char file[4096]; /* what it writes, absolute */
	int pid;
	uint64_t pid_start; /* of /proc: another process of that number is another one */
};

/* Is there one? */
bool cli_kernel_find(const char *key, struct cli_kernel *ret);
/* Returns when it records. -EEXIST: there is one; else -errno with `problem` saying why. */
int cli_kernel_start(const char *key, const struct kernel_options *o, char *problem, size_t cap);
/* Waits until the file is complete. -ENOENT: there is none; -EIO: it ended in some other way. */
int cli_kernel_stop(const char *key, char *ret_file, size_t cap, struct kernel_stats *ret);

#endif
