/* SPDX-License-Identifier: MIT
 *
 * System calls by seccomp: what is listed may be made, the rest fails with EPERM. What is newer than this list
 * fails with ENOSYS, as on an older kernel, so that the C library takes the way it has for that.
 */
#include "base/confine_calls.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif
#define NEWEST 470u /* this list knows of none from here on */
/* Name spaces of its own, in which a process may do what it may not here. */
#define CLONE_APART \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* The same on all machines, but not in all C libraries' headers. */
#define NR_close_range      436
#define NR_openat2          437
#define NR_faccessat2       439
#define NR_epoll_pwait2     441
#define NR_futex_waitv      449
#define NR_fchmodat2        452
#define NR_map_shadow_stack 453
#define NR_futex_wake       454
#define NR_futex_wait       455
#define NR_futex_requeue    456
#define NR_mseal            462
#define NR_clone3           435

/* What every program needs, those that are made most first. */
static const uint16_t common[] = {SYS_futex,
				  SYS_read,
				  SYS_write,
				  SYS_clock_gettime,
				  SYS_epoll_pwait,
				  SYS_ppoll,
				  SYS_recvmsg,
				  SYS_sendmsg,
				  SYS_recvfrom,
				  SYS_sendto,
				  SYS_pread64,
				  SYS_pwrite64,
				  SYS_close,
				  SYS_openat,
				  SYS_fstat,
				  SYS_newfstatat,
				  SYS_mmap,
				  SYS_munmap,
				  SYS_mprotect,
				  SYS_madvise,
				  SYS_mremap,
				  SYS_brk,
				  SYS_lseek,
				  SYS_readv,
				  SYS_writev,
				  SYS_preadv,
				  SYS_pwritev,
				  SYS_preadv2,
				  SYS_pwritev2,
				  NR_openat2,
				  NR_close_range,
				  SYS_statx,
				  SYS_faccessat,
				  NR_faccessat2,
				  SYS_readlinkat,
				  SYS_getdents64,
				  SYS_getcwd,
				  SYS_statfs,
				  SYS_fstatfs,
				  SYS_dup,
				  SYS_dup3,
				  SYS_fcntl,
				  SYS_flock,
				  SYS_fsync,
				  SYS_fdatasync,
				  SYS_ftruncate,
				  SYS_fallocate,
				  SYS_fadvise64,
				  SYS_sync_file_range,
				  SYS_copy_file_range,
				  SYS_mlock,
				  SYS_munlock,
				  SYS_mincore,
				  SYS_msync,
				  SYS_memfd_create,
				  SYS_membarrier,
				  SYS_pselect6,
				  SYS_epoll_create1,
				  SYS_epoll_ctl,
				  NR_epoll_pwait2,
				  SYS_eventfd2,
				  SYS_timerfd_create,
				  SYS_timerfd_settime,
				  SYS_timerfd_gettime,
				  SYS_signalfd4,
				  SYS_pipe2,
				  SYS_inotify_init1,
				  SYS_inotify_add_watch,
				  SYS_inotify_rm_watch,
				  NR_futex_waitv,
				  NR_futex_wake,
				  NR_futex_wait,
				  NR_futex_requeue,
				  SYS_set_robust_list,
				  SYS_get_robust_list,
				  SYS_rseq,
				  SYS_set_tid_address,
				  SYS_clock_getres,
				  SYS_clock_nanosleep,
				  SYS_nanosleep,
				  SYS_gettimeofday,
				  SYS_times,
				  SYS_getrusage,
				  SYS_sysinfo,
				  SYS_uname,
				  SYS_getrandom,
				  SYS_getpid,
				  SYS_getppid,
				  SYS_gettid,
				  SYS_getuid,
				  SYS_geteuid,
				  SYS_getgid,
				  SYS_getegid,
				  SYS_getgroups,
				  SYS_getresuid,
				  SYS_getresgid,
				  SYS_getpgid,
				  SYS_getsid,
				  SYS_capget,
				  SYS_rt_sigaction,
				  SYS_rt_sigprocmask,
				  SYS_rt_sigreturn,
				  SYS_rt_sigpending,
				  SYS_rt_sigsuspend,
				  SYS_rt_sigtimedwait,
				  SYS_sigaltstack,
				  SYS_restart_syscall,
				  SYS_exit,
				  SYS_exit_group,
				  SYS_prctl,
				  SYS_sched_yield,
				  SYS_sched_getaffinity,
				  SYS_sched_getparam,
				  SYS_sched_getscheduler,
				  SYS_getpriority,
				  SYS_getcpu,
				  SYS_getrlimit,
				  SYS_prlimit64,
				  SYS_kill,
				  SYS_tgkill,
				  SYS_tkill,
				  SYS_pidfd_open,
				  SYS_pidfd_send_signal,
				  SYS_wait4,
				  SYS_waitid,
				  SYS_umask,
				  NR_map_shadow_stack,
				  NR_mseal,
#ifdef SYS_open /* machines whose list began earlier */
				  SYS_open,
				  SYS_stat,
				  SYS_lstat,
				  SYS_access,
				  SYS_readlink,
				  SYS_getdents,
				  SYS_dup2,
				  SYS_poll,
				  SYS_select,
				  SYS_epoll_wait,
				  SYS_pipe,
				  SYS_time,
				  SYS_getpgrp,
				  SYS_arch_prctl,
				  SYS_alarm,
				  SYS_pause,
#endif
				  0xFFFF};
static const uint16_t sockets[] = {SYS_socket,      SYS_socketpair,  SYS_bind,       SYS_connect,
				   SYS_getsockname, SYS_getpeername, SYS_getsockopt, SYS_setsockopt,
				   SYS_sendmmsg,    SYS_recvmmsg,    SYS_shutdown,   0xFFFF};
static const uint16_t serving[] = {SYS_listen, SYS_accept, SYS_accept4, 0xFFFF};
static const uint16_t changing_files[] = {SYS_unlinkat,  SYS_renameat2, SYS_mkdirat,  SYS_linkat, SYS_symlinkat,
					  SYS_fchmod,    SYS_fchmodat,  NR_fchmodat2, SYS_fchown, SYS_fchownat,
					  SYS_utimensat, SYS_truncate,
#ifdef SYS_renameat
					  SYS_renameat,
#endif
#ifdef SYS_open
					  SYS_unlink,    SYS_rename,    SYS_mkdir,    SYS_rmdir,  SYS_link,
					  SYS_symlink,   SYS_chmod,     SYS_chown,    SYS_lchown, SYS_utimes,
#endif
					  0xFFFF};
/* All that a child has which only works (src/sandbox/sandbox.h). fstat() of newer C libraries is newfstatat(). */
static const uint16_t working[] = {SYS_read,
				   SYS_pread64,
				   SYS_recvmsg,
				   SYS_sendmsg,
				   SYS_ppoll,
				   SYS_close,
				   SYS_lseek,
				   SYS_fstat,
				   SYS_fcntl,
				   SYS_mmap,
				   SYS_munmap,
				   SYS_mremap,
				   SYS_mprotect,
				   SYS_madvise,
				   SYS_brk,
				   SYS_futex,
				   SYS_getrandom,
				   SYS_clock_gettime,
				   SYS_restart_syscall,
				   SYS_rt_sigreturn,
				   SYS_rt_sigprocmask,
				   SYS_exit,
				   SYS_exit_group,
#ifdef SYS_poll
				   SYS_poll,
#endif
				   0xFFFF};
/* Of one that has threads and writes what is open, too. */
static const uint16_t working_threads[] = {SYS_pwrite64,
					   SYS_write,
					   SYS_ftruncate,
					   SYS_fsync,
					   SYS_fdatasync,
					   SYS_sched_yield,
					   SYS_gettid,
					   SYS_getpid,
					   SYS_geteuid,
					   SYS_clock_nanosleep,
					   SYS_nanosleep,
					   SYS_rseq,
					   SYS_getcpu,
					   SYS_set_robust_list,
					   SYS_rt_sigaction,
					   SYS_sigaltstack,
					   SYS_sched_getaffinity,
					   SYS_sysinfo,
					   SYS_uname,
					   0xFFFF};
static const uint16_t events[] = {SYS_bpf,
				  SYS_perf_event_open,
				  SYS_sched_setscheduler,
				  SYS_sched_setparam,
				  SYS_sched_setaffinity,
				  SYS_setpriority,
				  SYS_setrlimit,
				  0xFFFF};

struct program {
	struct sock_filter *p;
	size_t n, cap;
};

static void put(struct program *f, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	if (f->n < f->cap) {
		f->p[f->n] = (struct sock_filter)BPF_JUMP(code, k, yes, no);
	}
	f->n++;
}

static void load(struct program *f, uint32_t offset)
{
	put(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void end(struct program *f, uint32_t what)
{
	put(f, BPF_RET | BPF_K, 0, 0, what);
}

static void refuse(struct program *f, int error)
{
	end(f, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void if_equal(struct program *f, uint32_t value, uint8_t otherwise)
{
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, otherwise, value);
}

static void allow(struct program *f, const uint16_t *list)
{
	for (; *list != 0xFFFF; list++) {
		if_equal(f, *list, 1);
		end(f, SECCOMP_RET_ALLOW);
	}
}

/* What is left: not listed. */
static void refuse_rest(struct program *f)
{
	put(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, NEWEST);
	refuse(f, ENOSYS);
	refuse(f, EPERM);
}

/* Threads, no processes; but etwd has strangers' descriptors closed by one that is itself, with other
 * descriptors (etwd_foreign.c). What the newer call does cannot be seen from here. */
static void allow_threads(struct program *f, bool itself)
{
	if_equal(f, SYS_clone, 7);
	load(f, offsetof(struct seccomp_data, args[0]));
	put(f, BPF_JMP | BPF_JSET | BPF_K, 4, 0, CLONE_APART);
	put(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_THREAD);
	end(f, SECCOMP_RET_ALLOW);
	if_equal(f, itself ? CLONE_VM | SIGCHLD : 0xFFFFFFFF, 1);
	end(f, SECCOMP_RET_ALLOW);
	refuse(f, EPERM);
	if_equal(f, NR_clone3, 1);
	refuse(f, ENOSYS);
}

static void write_filter(struct program *f, enum confine_program which)
{
	const uint32_t number = offsetof(struct seccomp_data, nr), machine = offsetof(struct seccomp_data, arch);
	const uint32_t second = offsetof(struct seccomp_data, args[1]);
	const uint32_t fourth = offsetof(struct seccomp_data, args[3]);
	load(f, machine);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
	refuse(f, ENOSYS); /* programs of another word size: none of ours */
	load(f, number);
	if (which == CONFINE_SANDBOX || which == CONFINE_DATABASE) {
		allow(f, working);
		if (which == CONFINE_DATABASE) {
			allow(f, working_threads);
			allow_threads(f, false);
		}
		/* Of a descriptor. A path could still be given, whose size is no secret worth more code. */
		if_equal(f, SYS_newfstatat, 4);
		load(f, fourth);
		if_equal(f, AT_EMPTY_PATH, 1);
		end(f, SECCOMP_RET_ALLOW);
		refuse(f, EPERM);
		refuse_rest(f);
		return;
	}
	allow(f, common);
	if (which == CONFINE_ETWD) {
		allow(f, sockets);
		allow(f, serving);
		allow(f, changing_files);
	} else if (which == CONFINE_TAKER) {
		allow(f, sockets);
	} else if (which == CONFINE_COLLECTOR) {
		allow(f, sockets);
		allow(f, events);
	}
	allow_threads(f, which == CONFINE_ETWD);
	/* Whatever else a descriptor can, but not typing on the terminal that it was started from. */
	if_equal(f, SYS_ioctl, 4);
	load(f, second);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, TIOCSTI);
	refuse(f, EPERM);
	end(f, SECCOMP_RET_ALLOW);
	refuse_rest(f);
}

bool confine_calls(enum confine_program which)
{
	struct program f = {NULL, 0, 0};
	write_filter(&f, which);
	f.p = malloc(f.n * sizeof *f.p);
	f.cap = f.n;
	f.n = 0;
	if (!f.p) {
		return false;
	}
	write_filter(&f, which);
	struct sock_fprog prog = {.len = (unsigned short)f.n, .filter = f.p};
	bool done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0;
	free(f.p);
	return done;
}
