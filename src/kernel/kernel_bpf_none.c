/* SPDX-License-Identifier: MIT
 * In place of kernel_bpf.c where clang and libbpf were missing when this was built.
 */
#include "kernel/kernel_bpf.h"

#ifndef OPENETW_BPF

struct kernel_bpf {
	int nothing;
};

int kernel_bpf_open(const struct kernel_bpf_options *o, struct kernel_bpf **ret, struct diag *d)
{
	(void)o, (void)ret;
	diag_at(d, UINT64_MAX, "this program was built without BPF (clang and libbpf were not there)");
	return -ENOSYS;
}

void kernel_bpf_close(struct kernel_bpf *b)
{
	(void)b;
}
void kernel_bpf_want(struct kernel_bpf *b, unsigned hook, uint64_t sessions, uint64_t stacks)
{
	(void)b, (void)hook, (void)sessions, (void)stacks;
}
void kernel_bpf_count(struct kernel_bpf *b, unsigned hook, uint64_t sessions)
{
	(void)b, (void)hook, (void)sessions;
}
void kernel_bpf_counters(struct kernel_bpf *b, uint32_t count)
{
	(void)b, (void)count;
}
void kernel_bpf_set_counter(struct kernel_bpf *b, uint32_t cpu, uint32_t which, int fd)
{
	(void)b, (void)cpu, (void)which, (void)fd;
}
void kernel_bpf_attach(struct kernel_bpf *b)
{
	(void)b;
}
void kernel_bpf_begin(struct kernel_bpf *b)
{
	(void)b;
}
bool kernel_bpf_serves(const struct kernel_bpf *b, unsigned hook)
{
	(void)b, (void)hook;
	return false;
}
void kernel_bpf_filter(struct kernel_bpf *b, uint64_t sessions, uint64_t follow)
{
	(void)b, (void)sessions, (void)follow;
}
void kernel_bpf_forked(struct kernel_bpf *b, uint32_t parent, uint32_t pid)
{
	(void)b, (void)parent, (void)pid;
}

void kernel_bpf_ended(struct kernel_bpf *b, uint32_t pid)
{
	(void)b, (void)pid;
}

void kernel_bpf_targets(struct kernel_bpf *b, const uint32_t *pid, uint32_t count)
{
	(void)b, (void)pid, (void)count;
}

int kernel_bpf_watch(struct kernel_bpf *b, uint32_t pid, uint64_t sessions)
{
	(void)b, (void)pid, (void)sessions;
	return -ENOSYS;
}
void kernel_bpf_confine(struct kernel_bpf *b, uint64_t sessions, const uint32_t uid[64])
{
	(void)b, (void)sessions, (void)uid;
}
void kernel_bpf_unwatch(struct kernel_bpf *b, uint64_t sessions)
{
	(void)b, (void)sessions;
}
const char *kernel_bpf_missing(const struct kernel_bpf *b)
{
	(void)b;
	return "";
}
const struct kbpf_record *kernel_bpf_peek(struct kernel_bpf *b, uint32_t cpu, uint64_t until)
{
	(void)b, (void)cpu, (void)until;
	return NULL;
}
void kernel_bpf_pop(struct kernel_bpf *b, uint32_t cpu)
{
	(void)b, (void)cpu;
}
uint32_t kernel_bpf_cpus(const struct kernel_bpf *b)
{
	(void)b;
	return 0;
}
void kernel_bpf_losses(struct kernel_bpf *b, void (*lost)(void *ctx, unsigned hook, uint32_t cpu, uint64_t count),
		       void *ctx)
{
	(void)b, (void)lost, (void)ctx;
}
int kernel_bpf_map_fd(const struct kernel_bpf *b, const char *name)
{
	(void)b, (void)name;
	return -1;
}

bool kernel_probe_own(int file, const char *symbol)
{
	(void)file, (void)symbol;
	return false;
}

#endif
