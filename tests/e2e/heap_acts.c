/* SPDX-License-Identifier: MIT
 *
 * Allocations that are known. Says one line of JSON for each, as the trace must show it between two
 * marks: allocations of 77777 and 88888 bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct step {
	const char *what;
	uintptr_t address, old;
	size_t bytes;
};
static struct step step[4000];
static int steps;

static void *volatile sink; /* so that nothing is optimised away */

static void *did(const char *what, void *address, uintptr_t old, size_t bytes)
{
	step[steps++] = (struct step){what, (uintptr_t)address, old, bytes};
	sink = address;
	return address;
}

/* Two hundred and one allocations of a size of their own, and their end. */
static void family(size_t bytes)
{
	for (int i = 0; i < 201; i++) {
		sink = malloc(bytes);
		free(sink);
	}
}

static int children(void)
{
	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			family(54321);
			if (i == 1) {
				execl("/proc/self/exe", "heap_acts", "again", (char *)NULL);
			}
			_exit(0);
		}
		int status;
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
			return 1;
		}
		printf("{\"pid\": %d, \"counts\": [201, %d]}\n", (int)child, i == 1 ? 201 : 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	void *kept[200];
	(void)argv;
	if (argc > 1) {
		family(65432);
		return 0;
	}
	static char out[1 << 16];
	setvbuf(stdout, out, _IOFBF, sizeof out); /* which takes no memory while we look */
	alarm(60);
	void *p = sink = malloc(77777);
	for (size_t i = 0; i < 200; i++) {
		kept[i] = did("Alloc", malloc(i * 7 + 1), 0, i * 7 + 1);
	}
	for (size_t i = 0; i < 200; i += 2) {
		uintptr_t old = (uintptr_t)kept[i];
		void *now = realloc(kept[i], 3000 + i);
		kept[i] = did("ReAlloc", now, old, 3000 + i);
	}
	for (size_t i = 0; i < 200; i++) {
		did("Free", kept[i], 0, 0);
		free(kept[i]);
	}
	p = did("Alloc", calloc(30, 11), 0, 330);
	did("Free", p, 0, 0);
	free(p);
	p = did("Alloc", realloc(NULL, 99), 0, 99);
	did("Free", p, 0, 0);
	free(p);
	void *aligned = NULL;
	if (posix_memalign(&aligned, 256, 1000) == 0) {
		did("Alloc", aligned, 0, 1000);
		did("Free", aligned, 0, 0);
		free(aligned);
	}
	p = did("Alloc", aligned_alloc(64, 640), 0, 640);
	did("Free", p, 0, 0);
	free(p);
	free(NULL); /* is nothing */
	sink = malloc(88888);
	for (int i = 0; i < steps; i++) {
		printf("{\"pid\": %d, \"event\": \"Heap/%s\", \"address\": %llu, \"old\": %llu, "
		       "\"bytes\": %zu}\n",
		       (int)getpid(), step[i].what, (unsigned long long)step[i].address,
		       (unsigned long long)step[i].old, step[i].bytes);
	}
	return children();
}
