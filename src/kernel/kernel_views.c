/* SPDX-License-Identifier: MIT
 *
 * What processes have mapped, allocated and open when a session begins and ends, as /proc says: views of
 * files, memory without one, descriptors; and what types of those there are.
 */
#include "kernel/kernel_names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOOK_MAP_DC    0x0427u /* and the next one at the end */
#define HOOK_ALLOC_DC  0x0280u
#define HOOK_TYPE_DC   0x1124u
#define HOOK_HANDLE_DC 0x1126u
#define MEM_COMMIT     0x1000u
#define MEM_RESERVE    0x2000u
#define NO_FILE        "/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage", "/[aio]"

struct scan {
	struct kernel *k;
	struct kernel_names *names;
	uint64_t all; /* sessions of this rundown */
	uint64_t views, memory, handles;
	uint64_t time;
	uint16_t end; /* added to hooks */
	uint32_t pid;
};

static void begin(const struct scan *s, struct kernel_record *r, uint16_t hook, uint64_t sessions)
{
	kernel_record_clear(r);
	r->hook = (uint16_t)(hook + s->end);
	r->version = 2;
	r->time = s->time;
	r->pid = r->tid = s->pid;
	r->sessions = sessions;
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Not a file, though it looks like one: shared memory. */
static bool is_file(const char *name)
{
	static const char *const others[] = {NO_FILE};
	for (size_t i = 0; i < BASE_ARRAY_LEN(others); i++) {
		if (strncmp(name, others[i], strlen(others[i])) == 0) {
			return false;
		}
	}
	return name[0] == '/';
}

static void view(const struct scan *s, uint64_t base, uint64_t bytes, uint64_t offset, char *path)
{
	static const char gone[] = " (deleted)";
	struct kernel_record r;
	struct kbpf_record at = {.time = s->time, .sessions = s->views};
	size_t n = strlen(path);
	if (n >= sizeof gone && strcmp(path + n - (sizeof gone - 1), gone) == 0) {
		path[n - (sizeof gone - 1)] = 0;
	}
	uint64_t key = kernel_names_of_path(s->names, path);
	kernel_names_tell(s->names, s->k, key, &at);
	begin(s, &r, HOOK_MAP_DC, s->views);
	kernel_put(&r, base, 8);
	kernel_put(&r, key, 8);
	kernel_put(&r, offset, 8);
	kernel_put(&r, bytes, 8);
	kernel_put(&r, s->pid, 4);
	kernel_out(s->k, &r);
}

static void allocation(const struct scan *s, uint64_t base, uint64_t bytes, bool committed)
{
	struct kernel_record r;
	begin(s, &r, HOOK_ALLOC_DC, s->memory);
	kernel_put(&r, base, 8);
	kernel_put(&r, bytes, 8);
	kernel_put(&r, s->pid, 4);
	kernel_put(&r, MEM_RESERVE | (committed ? MEM_COMMIT : 0), 4);
	kernel_put(&r, committed ? bytes : 0, 8);
	kernel_out(s->k, &r);
}

static void memory(const struct scan *s)
{
	char path[64], line[4096 + 128], name[4096];
	snprintf(path, sizeof path, "/proc/%u/maps", s->pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		unsigned long long from, to, offset;
		char rights[8];
		name[0] = 0;
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*u %4095[^\n]", &from, &to, rights, &offset, name) < 4) {
			continue;
		}
		bool file = is_file(name), code = rights[2] == 'x';
		if (file && !code && s->views) { /* code is an image */
			view(s, from, to - from, offset, name);
		} else if (!file && s->memory && (name[0] != '[' || strcmp(name, "[heap]") == 0)) {
			allocation(s, from, to - from, rights[0] != '-' || rights[1] != '-' || code);
		}
	}
	if (f) {
		fclose(f);
	}
}

/* ---- descriptors ------------------------------------------------------------------------------ */

static void handles(const struct scan *s)
{
	char path[96], to[4096];
	snprintf(path, sizeof path, "/proc/%u/fd", s->pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct kernel_record r;
		struct stat st;
		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0) {
			continue;
		}
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof to - 1);
		to[BASE_MAX(n, 0)] = 0;
		begin(s, &r, HOOK_HANDLE_DC, s->handles);
		kernel_put(&r, 0, 8); /* the kernel's object: nobody says */
		kernel_put(&r, s->pid, 4);
		kernel_put(&r, strtoul(e->d_name, NULL, 10), 4);
		kernel_put(&r, kernel_handle_type(st.st_mode), 2);
		kernel_put_wide(&r, to, 4095);
		kernel_out(s->k, &r);
	}
	if (d) {
		closedir(d);
	}
}

static void types(const struct scan *s)
{
	for (uint16_t i = 0; i < KERNEL_HANDLE_TYPES; i++) {
		struct kernel_record r;
		begin(s, &r, HOOK_TYPE_DC, s->handles);
		kernel_put(&r, i, 2);
		kernel_put(&r, 0, 2);
		kernel_put_wide(&r, kernel_handle_types[i], 64);
		kernel_out(s->k, &r);
	}
}

void kernel_views_rundown(struct kernel *k, void *state, uint64_t sessions, bool end)
{
	struct scan s = {.k = k, .names = kernel_file_names(state), .end = end};
	uint64_t views = sessions & kernel_masked(k, KERNEL_BIT_VAMAP);
	uint64_t allocations = sessions & kernel_masked(k, KERNEL_BIT_VIRT_ALLOC);
	uint64_t descriptors = sessions & kernel_masked(k, (uint32_t)KERNEL_BIT_OB_HANDLE);
	s.all = views | allocations | descriptors;
	DIR *d = s.names && s.all ? opendir("/proc") : NULL;
	s.time = kernel_breathe(k);
	s.handles = descriptors;
	if (d && descriptors) {
		types(&s);
	}
	for (struct dirent *e; d && (e = readdir(d));) {
		s.pid = (uint32_t)strtoul(e->d_name, NULL, 10);
		if (s.pid == 0 || kernel_is_self(k, s.pid)) {
			continue;
		}
		const struct kernel_thread *t = kernel_table_find(k->threads, s.pid);
		uint64_t mine = ~k->filtered | kernel_watchers(k, s.pid) | (t ? t->watchers : 0);
		s.views = views & mine;
		s.memory = allocations & mine;
		s.handles = descriptors & mine;
		s.time = kernel_breathe(k);
		if (s.views | s.memory) {
			memory(&s);
		}
		if (s.handles) {
			handles(&s);
		}
	}
	if (d) {
		closedir(d);
	}
}
