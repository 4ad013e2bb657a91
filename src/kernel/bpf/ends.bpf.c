/* SPDX-License-Identifier: MIT
 *
 * Descriptors that come and go without a call of their own: a child has its parent's, exec closes those
 * that are marked so, and the end of a process closes all.
 */
#include "kbpf_open.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct fdtable___exec {
	unsigned long *close_on_exec;
};
#pragma clang attribute pop

struct ends {
	void *ctx;
	struct file **slots;
	unsigned long *going; /* by exec */
	uint64_t irp;
	uint32_t pid, seen;
};

static __always_inline struct file *ends_file(const struct ends *e, uint32_t fd)
{
	struct file *file = NULL;
	bpf_probe_read_kernel(&file, sizeof file, &e->slots[fd]);
	return file;
}

static __always_inline uint32_t ends_begin(struct ends *e, void *ctx, struct task_struct *task)
{
	uint32_t n = BPF_CORE_READ(task, files, fdt, max_fds);
	e->ctx = ctx;
	e->slots = BPF_CORE_READ(task, files, fdt, fd);
	e->irp = bpf_get_current_pid_tgid() << 32;
	return n > FDS_MAX ? FDS_MAX : n;
}

/* ---- exit ------------------------------------------------------------------------------------- */

static long exit_step(uint32_t fd, struct ends *e)
{
	struct file *file = ends_file(e, fd);
	if (file) {
		handle_event(e->ctx, KBPF_HANDLE_CLOSE, KBPF_SLOT_EXIT_FILES, file, fd);
		tell_close(e->ctx, KBPF_SLOT_EXIT_FILES, file, fd, false, e->irp, &e->seen);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(kbpf_exit_files, struct task_struct *task)
{
	struct kbpf_who who;
	struct ends e = {0};
	if ((!kbpf_wanted(KBPF_FILE_CLOSE, &who) && !kbpf_wanted(KBPF_HANDLE_CLOSE, &who)) ||
	    BPF_CORE_READ(task, files, count.counter) != 1) {
		return 0;
	}
	bpf_loop(ends_begin(&e, ctx, task), exit_step, &e, 0);
	return 0;
}

/* ---- fork ------------------------------------------------------------------------------------- */

static long fork_step(uint32_t fd, struct ends *e)
{
	struct file *file = ends_file(e, fd);
	if (file) {
		held_by(file, e->pid);
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(kbpf_fork_files, struct task_struct *parent, struct task_struct *child)
{
	struct kbpf_who who;
	struct ends e = {.pid = child->tgid};
	if (child->tgid != parent->tgid && child->files != parent->files && kbpf_wanted(KBPF_FILE_CLOSE, &who)) {
		bpf_loop(ends_begin(&e, ctx, child), fork_step, &e, 0);
	}
	return 0;
}

/* ---- exec ------------------------------------------------------------------------------------- */

static long exec_step(uint32_t fd, struct ends *e)
{
	struct file *file = goes(e->going, fd) ? ends_file(e, fd) : NULL;
	if (file) {
		handle_event(e->ctx, KBPF_HANDLE_CLOSE, KBPF_SLOT_EXEC_FILES, file, fd);
		tell_close(e->ctx, KBPF_SLOT_EXEC_FILES, file, fd, has_copy(file, fd, fd, e->going), e->irp, &e->seen);
	}
	return 0;
}

/* The new program has been found to be one, and the old one goes. */
SEC("tp_btf/sched_prepare_exec")
int BPF_PROG(kbpf_exec_files, struct task_struct *task)
{
	struct kbpf_who who;
	struct ends e = {0};
	if (kbpf_wanted(KBPF_FILE_CLOSE, &who) || kbpf_wanted(KBPF_HANDLE_CLOSE, &who)) {
		struct fdtable___exec *table = (void *)BPF_CORE_READ(task, files, fdt);
		e.going = BPF_CORE_READ(table, close_on_exec);
		bpf_loop(ends_begin(&e, ctx, task), exec_step, &e, 0);
	}
	return 0;
}
