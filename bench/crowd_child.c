/* SPDX-License-Identifier: MIT
 * One of the quiet processes of crowd_bench, built twice: with libetw, where it registers if it is told
 * to, and (CROWD_PLAIN) without, as the measure of what a process costs anyway.
 */
#include "crowd_child.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef CROWD_PLAIN
#include <windows.h>
#include <evntprov.h>
static const GUID guid = {0x9c5e4a56, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x14}};
#endif

static volatile char *heap;

int main(int argc, char **argv)
{
	struct shared *sh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, CROWD_FD, 0);
	close(CROWD_FD);
	heap = malloc(64); /* as every program has */
	heap[0] = (char)argc;
#ifndef CROWD_PLAIN
	REGHANDLE r = 0;
	if (argc > 1) {
		EventRegister(&guid, NULL, NULL, &r);
	}
#endif
	__atomic_fetch_add(&sh->ready, 1, __ATOMIC_SEQ_CST);
	/* The enable is a store into memory; nobody is woken by it. Everybody looks once, when it has
	 * returned. */
	while (__atomic_load_n(&sh->look, __ATOMIC_SEQ_CST) == 0) {
		syscall(SYS_futex, &sh->look, FUTEX_WAIT, 0, NULL, NULL, 0);
	}
#ifndef CROWD_PLAIN
	if (argc > 1 && EventProviderEnabled(r, 1, 0)) {
		__atomic_fetch_add(&sh->enabled, 1, __ATOMIC_SEQ_CST);
	}
#endif
	__atomic_fetch_add(&sh->looked, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		pause();
	}
}
