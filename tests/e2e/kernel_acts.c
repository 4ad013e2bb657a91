/* SPDX-License-Identifier: MIT
 * A program whose doings are known: "kernel_acts WHAT DIRECTORY" says on stdout what it did, for the
 * tests that look for it in a recording.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 1,000 calls that cannot fail, 50 that must. */
static int act_syscalls(void)
{
	for (int i = 0; i < 1000; i++) {
		syscall(SYS_getppid);
	}
	for (int i = 0; i < 50; i++) {
		if (syscall(SYS_close, -1) == 0) {
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3 || chdir(argv[2]) < 0) {
		fprintf(stderr, "usage: kernel_acts WHAT DIRECTORY\n");
		return 2;
	}
	printf("{\"pid\": %d}\n", (int)getpid());
	fflush(stdout);
	if (strcmp(argv[1], "syscalls") == 0) {
		return act_syscalls();
	}
	fprintf(stderr, "kernel_acts: no such act: %s\n", argv[1]);
	return 2;
}
