/* SPDX-License-Identifier: MIT
 *
 * kernel: this machine as the NT kernel logger would record it, into a standard .etl. Front door.
 *
 *   perf     one perf_event_open ring for each processor: samples, context switches, wake-ups, and
 *            the stream of forks, execs, mappings and exits that names everything else
 *   rundown  what was there before the recording began, from /proc
 *   bpf      programs on typed tracepoints: system calls, disk, files, faults, … (kernel_bpf.h)
 *   record   Windows' event classes, byte by byte
 *   session  puts them together over a sink; drained by the caller's thread
 *
 * Needs root, or CAP_PERFMON and CAP_BPF; context switches need the tracing file system as well. Every time is
 * CLOCK_MONOTONIC, in nanoseconds, the clock that perf is told to use.
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "base/base.h"

enum kernel_source {
	KERNEL_CPU = 1u << 0,	   /* SampledProfile */
	KERNEL_CSWITCH = 1u << 1,  /* CSwitch and ReadyThread */
	KERNEL_PROCESS = 1u << 2,  /* processes, threads and images; always on */
	KERNEL_SYSCALL = 1u << 3,  /* SysCallEnter and SysCallExit */
	KERNEL_DISK = 1u << 4,	   /* DiskIo, with the files' names */
	KERNEL_FILE = 1u << 5,	   /* FileIo */
	KERNEL_FAULT = 1u << 6,	   /* PageFault, soft and hard */
	KERNEL_VIRTUAL = 1u << 7,  /* VirtualAlloc and VirtualFree, MapFile and UnmapFile */
	KERNEL_HANDLE = 1u << 8,   /* Object: descriptors created and closed */
	KERNEL_NET = 1u << 9,	   /* TcpIp and UdpIp */
	KERNEL_INTERRUPT = 1u << 10, /* ISR and DPC */
	KERNEL_POWER = 1u << 11,     /* processors' idle states and frequencies */
};

struct kernel_options {
	const char *path;	/* the .etl */
	uint32_t sources;	/* enum kernel_source */
	uint32_t interval_us;	/* between samples of a processor; 125 and more */
	bool stacks;		/* with samples and context switches */
	int only_pid;		/* this process and its children; 0: everything */
	uint32_t buffer_size_kb; /* 0: 256 */
	uint32_t ring_pages;	/* of each processor, a power of two; 0: 1024 */
};

struct kernel;

struct kernel_stats {
	uint64_t samples, switches, stacks;
	uint64_t events; /* recorded, of all kinds */
	uint64_t lost;	 /* by full rings, of perf and of BPF */
	uint64_t lost_no_buffer;
	uint64_t bytes_written;
	uint64_t cpu_ns; /* what recording cost the collector */
};

/* Opens rings, begins the file, writes the rundown. -EACCES, -EPERM, -ENOENT, … with a diag that
 * says what to grant or to turn on. */
int kernel_start(const struct kernel_options *o, struct kernel **ret, struct diag *d);
/* Waits for work at most that long, and does it. */
int kernel_poll(struct kernel *k, int timeout_ms);
void kernel_stats(struct kernel *k, struct kernel_stats *ret);
/* What was asked for and is not recorded, and why: a line each, "" for nothing. */
const char *kernel_missing(const struct kernel *k);
/* Records without room, by hook and processor (UINT32_MAX: unknown); how many there are. */
struct kernel_loss {
	const char *hook;
	uint32_t cpu;
	uint64_t count;
};
size_t kernel_losses(const struct kernel *k, struct kernel_loss *ret, size_t cap);
/* Drains, writes the closing rundown, finishes the file, frees. `ret` may be NULL. */
int kernel_stop(struct kernel *k, struct kernel_stats *ret);

#endif
