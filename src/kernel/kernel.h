/* SPDX-License-Identifier: MIT
 *
 * kernel: this machine as the NT kernel logger would record it. Front door.
 *
 *   perf     one perf_event_open ring for each processor: samples, context switches, wake-ups, and
 *            the stream of forks, execs, mappings and exits that names everything else
 *   walk     user stacks of code without frame pointers, from registers and a copy of the stack's top;
 *            names of what stacks go through (kernel_walk.h)
 *   rundown  what was there before a session began, from /proc
 *   bpf      programs on typed tracepoints: system calls, disk, files, faults, … (kernel_bpf.h)
 *   record   Windows' event classes, byte by byte
 *   events   from perf's records to Windows' events
 *   session  the engine: its sources, and which session wants which hook
 *   pmc      counters that go with events, and samples by other sources than the timer (pmc/pmc.h)
 *   file     one session of one engine into an .etl, for 'openetw record'
 *
 * An engine serves up to 64 sessions at once. Each says by group masks (format/kernel_mask.h) which
 * events it wants and by a list of hooks which of them with stacks; every record goes out once, with
 * the set of sessions that want it. A session's rundowns go to that session alone.
 *
 * Needs root, or CAP_PERFMON and CAP_BPF; context switches need the tracing file system as well. Every time is
 * CLOCK_MONOTONIC, in nanoseconds, the clock that perf is told to use. One thread.
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "base/base.h"
#include "format/kernel_mask.h"
#include "pmc/pmc.h"

#define KERNEL_SESSIONS_MAX    64u
#define KERNEL_PIDS_MAX        8u
#define KERNEL_INTERVAL_MIN_US 125u

struct kernel;

/* ---- the engine ------------------------------------------------------------------------------- */

/* Of a ring: of records until `until` (of each processor, the rest have the last one) some may be gone, and none that is
 * there is older than `since`. What came from `after` on is no part of the copy that is being explained. */
#define KERNEL_WINDOW_CPUS 64u
struct kernel_window {
	uint64_t since, after;
	uint64_t until[KERNEL_WINDOW_CPUS];
};

/* Where records go. `sessions` is a set of slots. */
struct kernel_output {
	/* One record in two pieces; to be padded with zeros to a multiple of 8. */
	void (*record)(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head, uint32_t head_bytes,
		       const void *body, uint32_t body_bytes);
	/* The same of what kernel_explain() says, and of the closing rundown. NULL: `record` takes that, too. */
	void (*explain)(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head,
			uint32_t head_bytes, const void *body, uint32_t body_bytes);
	/* What a session has left of what it was given. False: all of it. NULL: no session forgets. */
	bool (*window)(void *ctx, uint32_t slot, struct kernel_window *ret);
	/* Events that never came, of which these sessions wanted one or the other. */
	void (*lost)(void *ctx, uint64_t sessions, uint64_t events);
	void *ctx;
};

/* A process that waits to run this program; probes are where its functions will be. The path stays the caller's. */
struct kernel_soon {
	uint32_t pid; /* 0: none */
	const char *program;
};

struct kernel_engine_options {
	uint32_t interval_us; /* between samples of a processor; 0: 1000 */
	uint32_t ring_pages;  /* of each processor, a power of two; 0: 1024 */
	bool frame_pointers;  /* user stacks by them alone, not by unwind tables: cheaper */
	uint32_t stack_bytes; /* of a user stack copied to be unwound; 0: 8192, of switches 2048 */
	uint32_t self[2];     /* processes, beside this one, that are not to be traced; 0: none */
	/* True: whoever asked for a session does not want it any more; what begins one then ends with -EINTR soon.
	 * NULL: never. */
	bool (*give_up)(void);
	struct kernel_soon soon;
};

/* What a session wants. */
struct kernel_session {
	struct kernel_mask mask;
	uint16_t stack[KERNEL_STACKS_MAX]; /* hooks */
	uint32_t stacks;
	uint32_t pid[KERNEL_PIDS_MAX]; /* what runs and waits in these processes only; none: all */
	uint32_t pids;
	bool children; /* and in what they start from now on */
	bool forgets;  /* a ring, that overwrites what is oldest */
	/* Of a user without rights: nothing but what that user's processes do, and of that only what
	 * kernel_mask_unconfinable() leaves (kernel_confine.c). */
	bool confined;
	uint32_t uid;
	bool packets; /* of the interface, or of all when it has no name */
	char interface[16];
	uint32_t heap[KERNEL_PIDS_MAX]; /* processes whose heaps are watched; none: those of `pid` */
	uint32_t heaps;
	/* Sources of counters (pmc/pmc.h), and the hooks whose records have their values. */
	uint32_t counter[PMC_COUNTERS_MAX], counters;
	uint16_t counted[PMC_EVENTS_MAX];
	uint32_t counteds;
};

struct kernel_stats {
	uint64_t samples, switches, stacks;
	uint64_t events; /* recorded, of all kinds, by all sessions */
	uint64_t lost;   /* by full rings, of perf and of BPF */
	uint64_t lost_no_buffer;
	uint64_t bytes_written;
	uint64_t cpu_ns; /* what recording cost the collector */
};

/* Opens the rings. -EACCES, -EPERM, -ENOENT, … with a diag that says what to grant. */
int kernel_open(const struct kernel_engine_options *o, const struct kernel_output *out, struct kernel **ret,
		struct diag *d);
void kernel_close(struct kernel *k);
/* The tracing file system is there, or root has mounted it. */
bool kernel_mount_tracing(void);
/* Masks, events, rundown, from now on. *ret_missing: what was asked for and cannot be had here,
 * for which diag says why; the session runs without. -EBUSY: the slot is taken. -EINTR: given up. */
int kernel_add(struct kernel *k, uint32_t slot, const struct kernel_session *s, struct kernel_mask *ret_missing,
	       struct diag *d);
/* Another mask, other stacks, other processes. */
int kernel_change(struct kernel *k, uint32_t slot, const struct kernel_session *s, struct kernel_mask *ret_missing,
		  struct diag *d);
/* No more events, and the closing rundown. Names of functions take longer: the session has ended, and its slot
 * is free, when kernel_removed() says so, which kernel_poll() brings about. */
void kernel_remove(struct kernel *k, uint32_t slot);
bool kernel_removed(const struct kernel *k, uint32_t slot);
/* Says again what there is, as a start of the session would. */
void kernel_capture(struct kernel *k, uint32_t slot);
/* What the end of the session would say now, that it goes on: what there is, what the machine is like, names of all
 * that its stacks went through. For a copy of what is in memory. Names of functions take longer: all is said when
 * kernel_explained() says so, which kernel_poll() brings about. */
void kernel_explain(struct kernel *k, uint32_t slot);
bool kernel_explained(const struct kernel *k, uint32_t slot);
/* Of all sessions: as on Windows there is one interval. -EINVAL: below the least. */
int kernel_set_interval(struct kernel *k, uint32_t interval_us);
/* Of all sessions with PMC_PROFILE as well: what beside the timer samples are taken by, each so many of its
 * events apart. -ENOENT, -ENODEV: the diag names the one that is not there. */
struct kernel_sampled {
	uint32_t source, interval;
};
int kernel_set_sampled(struct kernel *k, const struct kernel_sampled *s, uint32_t count, struct diag *d);
/* Waits for work at most that long, and does it. True: there was some. */
bool kernel_poll(struct kernel *k, int timeout_ms);
/* Every event up to this time has been put out. */
uint64_t kernel_watermark(const struct kernel *k);
void kernel_engine_stats(struct kernel *k, struct kernel_stats *ret);
/* What was asked for and is not recorded, and why: a line each, "" for nothing. */
const char *kernel_missing(const struct kernel *k);
/* Of a session that has ended: what was not remembered or read of files and processes, because users have but a
 * share of that, a line each; "" for nothing. */
const char *kernel_shortage(const struct kernel *k, uint32_t slot);
/* Of that, what is not counted and not sampled by. */
const char *kernel_counters_missing(const struct kernel *k);
/* Records without room, by hook and processor (UINT32_MAX: unknown); how many there are. */
struct kernel_loss {
	const char *hook;
	uint32_t cpu;
	uint64_t count;
};
size_t kernel_losses(const struct kernel *k, struct kernel_loss *ret, size_t cap);
/* A descriptor beside the rings' for which kernel_poll returns; -1: none. */
void kernel_wake_fd(struct kernel *k, int fd);

/* ---- one session into a file ------------------------------------------------------------------ */

struct kernel_options {
	const char *path;              /* the .etl */
	struct kernel_session session; /* of which `children` is implied */
	uint32_t interval_us;
	bool frame_pointers; /* as above */
	uint32_t stack_bytes;
	uint32_t buffer_size_kb; /* 0: 256 */
	uint32_t ring_mb;        /* the file keeps the last so many megabytes; 0: all */
	uint32_t ring_pages;     /* of each processor, a power of two; 0: 1024 */
	struct kernel_sampled sampled[PMC_SAMPLED_MAX];
	uint32_t sampleds;
	bool (*give_up)(void); /* as above */
	struct kernel_soon soon;
};

struct kernel_file;

/* Opens rings, begins the file, writes the rundown. -EACCES, -EPERM, -ENOENT, … with a diag that
 * says what to grant or to turn on. *ret_missing as above. What failed leaves no file behind. */
int kernel_file_start(const struct kernel_options *o, struct kernel_file **ret, struct kernel_mask *ret_missing,
		      struct diag *d);
/* Waits for work at most that long, and does it. */
struct kernel *kernel_file_engine(struct kernel_file *f);
int kernel_file_poll(struct kernel_file *f, int timeout_ms);
void kernel_file_stats(struct kernel_file *f, struct kernel_stats *ret);
/* Drains, writes the closing rundown, finishes the file, frees. `ret` may be NULL. */
int kernel_file_stop(struct kernel_file *f, struct kernel_stats *ret);
/* One more hook with stacks. */
void kernel_session_stack(struct kernel_session *s, uint16_t hook);

#endif
