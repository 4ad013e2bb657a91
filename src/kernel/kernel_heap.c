/* SPDX-License-Identifier: MIT
 *
 * Heap events of chosen processes, by probes on the functions of their C library, or of the
 * allocator that takes their place. Opt-in: each call costs the process about a microsecond.
 */
#include "kernel/kernel_bpf.h"

#include "base/open_foreign.h"
#include "kernel/bpf/kbpf_heap.h"

#include <stdio.h>
#include <stdlib.h>

#define HOOK_HEAP_ALLOC   0x1021u
#define HOOK_HEAP_REALLOC 0x1022u
#define HOOK_HEAP_FREE    0x1024u
#define HEAP_HANDLE       1u /* there is one heap, and it has no address */

bool kernel_heap_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	const struct kbpf_heap *h = (const void *)(raw + 1);
	struct kernel_record r;
	(void)state;
	if (raw->bytes < sizeof *h) {
		return false;
	}
	if (raw->hook == KBPF_HEAP_FREE) {
		kernel_record_begin(&r, raw, HOOK_HEAP_FREE, 2, false);
		kernel_put(&r, HEAP_HANDLE, 8);
		kernel_put(&r, h->address, 8);
	} else if (raw->hook == KBPF_HEAP_REALLOC) {
		kernel_record_begin(&r, raw, HOOK_HEAP_REALLOC, 2, false);
		kernel_put(&r, HEAP_HANDLE, 8);
		kernel_put(&r, h->address, 8);
		kernel_put(&r, h->old, 8);
		kernel_put(&r, h->bytes, 8);
		kernel_put(&r, 0, 8); /* OldAllocSize: the function is not told */
	} else {
		kernel_record_begin(&r, raw, HOOK_HEAP_ALLOC, 2, false);
		kernel_put(&r, HEAP_HANDLE, 8);
		kernel_put(&r, h->bytes, 8);
		kernel_put(&r, h->address, 8);
	}
	kernel_put(&r, 0, 4); /* SourceId */
	kernel_out(k, &r);
	return true;
}

/* The file whose malloc() a process calls: an allocator of its own before the C library, and a
 * program without either has it inside. What lies under the path is the process's choice. `program`: what it is about
 * to run; NULL: it runs already. Of that its libraries are not known yet: the C library's is taken that this
 * process has now, unless the program has its own function. */
int kernel_heap_open(uint32_t pid, const char *program)
{
	int own = program ? open_foreign(-1, program, 0, NULL) : -1;
	if (own >= 0 && kernel_probe_own(own, "malloc")) {
		return own;
	}
	base_close(&own);
	static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc",
					    "libc.so",     "libc-2.",     "ld-musl-"};
	char path[64], line[4096 + 128], name[4096], best[4096] = "";
	size_t rank = BASE_ARRAY_LEN(names);
	snprintf(path, sizeof path, "/proc/%u/maps", pid);
	FILE *f = fopen(path, "re");
	if (!f) {
		return -errno;
	}
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%*s %*s %*s %*s %*s %4095[^\n]", name) != 1) {
			continue;
		}
		const char *slash = strrchr(name, '/');
		for (size_t i = 0; slash && i < rank; i++) {
			if (strncmp(slash + 1, names[i], strlen(names[i])) == 0) {
				rank = i;
				snprintf(best, sizeof best, "%s", name);
			}
		}
	}
	fclose(f);
	if (!best[0]) {
		return open_foreign_program(pid, NULL);
	}
	int root = open_foreign_root(pid);
	if (root < 0) {
		return root;
	}
	int fd = open_foreign(root, best, 0, NULL);
	close(root);
	return fd;
}
