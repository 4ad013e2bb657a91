/* SPDX-License-Identifier: MIT
 *
 * SysCallEnter and SysCallExit. Windows names a call by its handler's address; so do we, with the
 * address of the function that kallsyms shows, so that ordinary symbol look-up names it. Where
 * addresses are hidden it is the number.
 */
#include "kernel/kernel_bpf.h"
#include "kernel/kernel_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define HOOK_SYSCALL_ENTER 0x0F33u
#define HOOK_SYSCALL_EXIT  0x0F34u
#define CALLS_MAX          1024u

struct calls {
	uint64_t address[CALLS_MAX]; /* by number */
};

static const char *const call_names[CALLS_MAX] = {
#define CALL(name, number) [number] = #name,
#include "kernel_calls.h" /* made at build time, of <sys/syscall.h> */
#undef CALL
};

#if defined(__x86_64__)
#define PREFIX "__x64_sys_"
#else
#define PREFIX "__arm64_sys_"
#endif

/* Where the handler has another name than the call. */
static const char *const aliases[][2] = {
	{"newstat", "stat"},
	{"newfstat", "fstat"},
	{"newlstat", "lstat"},
	{"newuname", "uname"},
	{"sendfile64", "sendfile"},
	{"umount", "umount2"},
	{"sync_file_range2", "sync_file_range"},
};

struct name {
	const char *name;
	uint32_t number;
};
static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}

void *kernel_syscall_create(struct kernel *k, struct kernel_names *names)
{
	struct calls *c = calloc(1, sizeof *c);
	struct name sorted[CALLS_MAX];
	unsigned n = 0;
	char line[512], symbol[256], kind;
	unsigned long long address;
	for (unsigned i = 0; i < CALLS_MAX; i++) {
		if (call_names[i]) {
			sorted[n++] = (struct name){call_names[i], i};
		}
	}
	qsort(sorted, n, sizeof *sorted, by_name);
	FILE *f = c ? fopen("/proc/kallsyms", "re") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		if (!strstr(line, PREFIX) || sscanf(line, "%llx %c %255s", &address, &kind, symbol) != 3 ||
		    strncmp(symbol, PREFIX, strlen(PREFIX)) != 0) {
			continue;
		}
		struct name key = {symbol + strlen(PREFIX), 0};
		for (size_t i = 0; i < BASE_ARRAY_LEN(aliases); i++) {
			key.name = strcmp(key.name, aliases[i][0]) == 0 ? aliases[i][1] : key.name;
		}
		const struct name *hit = bsearch(&key, sorted, n, sizeof *sorted, by_name);
		if (hit) {
			c->address[hit->number] = address;
		}
	}
	if (f) {
		fclose(f);
	}
	return c;
}

void kernel_syscall_destroy(void *state)
{
	free(state);
}

bool kernel_syscall_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	const struct calls *c = state;
	const uint64_t *word = (const void *)(raw + 1);
	bool enter = raw->hook == KBPF_SYS_ENTER;
	struct kernel_record r;
	if (raw->bytes < (enter ? 8 : 16)) {
		return false;
	}
	kernel_record_begin(&r, raw, enter ? HOOK_SYSCALL_ENTER : HOOK_SYSCALL_EXIT, 2, false);
	if (enter) {
		uint64_t number = word[0];
		uint64_t address = c && number < CALLS_MAX ? c->address[number] : 0;
		kernel_put(&r, address ? address : number, 8);
		if (address) {
			kernel_walk_seen(k->walk, KERNEL_PID_SYSTEM, &address, 1);
		}
	} else {
		kernel_put(&r, word[1] & UINT32_MAX, 4);
	}
	kernel_out(k, &r);
	return true;
}
