/* SPDX-License-Identifier: MIT
 *
 * The BPF engine: programs on typed tracepoints, which write into a ring of each processor.
 *
 *   bpf/kbpf_abi.h   hooks, the raw record; both sides
 *   bpf/kbpf_core.h  what programs are made of
 *   bpf/NAME.bpf.c   the programs; each file becomes one object, embedded in this program
 *   kernel_areas.c   the table: which program serves which hooks, who shapes its records
 *   kernel_bpf.c     loads and attaches what is wanted; says what is missing, and why
 *   kernel_bpf_ring.c  reads rings, sorted by time
 *   kernel_<area>.c  shapes raw records into Windows' payloads
 *
 * A new source: hooks in kbpf_abi.h, a .bpf.c, a kernel_<area>.c, and lines in kernel_areas.c.
 * Every program loads and attaches by itself: one that this kernel refuses costs its own events only.
 */
#ifndef KERNEL_KERNEL_BPF_H
#define KERNEL_KERNEL_BPF_H

#include "kernel/kernel_private.h"

#include "kernel/bpf/kbpf_abi.h"

struct kernel_bpf;
struct kernel_names;

struct kernel_bpf_options {
	uint32_t ring_bytes; /* of each processor, a power of two; 0: 2 MiB */
	uint32_t own_pid;    /* never recorded */
	bool unwind;         /* user stacks are copied, see kernel_stacks; else frame pointers count */
	/* What user stacks come as, before the records that name them. True: all that was sent so far was
	 * forgotten. */
	bool (*on_stack)(void *ctx, const struct kbpf_record *r);
	bool (*give_up)(void); /* loads no more programs; NULL: never */
	struct kernel_soon soon;
	void *ctx;
};
/* Nothing is loaded yet. -ENOSYS: built without BPF, or the kernel has none; others with a diag. */
int kernel_bpf_open(const struct kernel_bpf_options *o, struct kernel_bpf **ret, struct diag *d);
void kernel_bpf_close(struct kernel_bpf *b);

/* Which sessions want a hook, and which of them its stack. Attach loads and attaches programs for what
 * is wanted, which takes a while, and detaches those that serve no wanted hook; it never fails as a
 * whole, see kernel_bpf_missing. Wants count from the next begin on. All may change at any time. */
void kernel_bpf_want(struct kernel_bpf *b, unsigned hook, uint64_t sessions, uint64_t stacks);
void kernel_bpf_attach(struct kernel_bpf *b);
/* Which of those sessions want the counters with it, from the next begin on; how many counters there are; and
 * perf's descriptor of one of a processor (-1: none). */
void kernel_bpf_count(struct kernel_bpf *b, unsigned hook, uint64_t sessions);
void kernel_bpf_counters(struct kernel_bpf *b, uint32_t count);
void kernel_bpf_set_counter(struct kernel_bpf *b, uint32_t cpu, uint32_t which, int fd);
void kernel_bpf_begin(struct kernel_bpf *b);
/* Is a program attached that serves the hook? */
bool kernel_bpf_serves(const struct kernel_bpf *b, unsigned hook);

/* Sessions that see only processes they watch, from the next begin on, and the family they begin with. */
void kernel_bpf_filter(struct kernel_bpf *b, uint64_t sessions, uint64_t follow);
int kernel_bpf_watch(struct kernel_bpf *b, uint32_t pid, uint64_t sessions);
/* Of these sessions each watches what is its user's, from the next begin on. */
void kernel_bpf_confine(struct kernel_bpf *b, uint64_t sessions, const uint32_t uid[64]);
/* Those sessions watch nobody any more, nor the children they followed. */
void kernel_bpf_unwatch(struct kernel_bpf *b, uint64_t sessions);

/* The processes whose functions are probed, by programs with a symbol. */
#define KERNEL_BPF_TARGETS 16u
void kernel_bpf_targets(struct kernel_bpf *b, const uint32_t *pid, uint32_t count);
/* What processes do, for the sake of those. */
void kernel_bpf_forked(struct kernel_bpf *b, uint32_t parent, uint32_t pid);
void kernel_bpf_ended(struct kernel_bpf *b, uint32_t pid);

/* One line for each thing that is missing, "" when all is there. Valid until the next attach. */
const char *kernel_bpf_missing(const struct kernel_bpf *b);

/* The oldest record of a processor's ring not newer than `until`, NULL when there is none; valid until
 * it is popped. Nearly sorted rings come out sorted. */
const struct kbpf_record *kernel_bpf_peek(struct kernel_bpf *b, uint32_t cpu, uint64_t until);
void kernel_bpf_pop(struct kernel_bpf *b, uint32_t cpu);
uint32_t kernel_bpf_cpus(const struct kernel_bpf *b);
/* Records without room since the last call, by processor and hook; turned away by the kernel because
 * the program was running on that processor: by hook. */
void kernel_bpf_losses(struct kernel_bpf *b, void (*lost)(void *ctx, unsigned hook, uint32_t cpu, uint64_t count),
		       void *ctx);

/* For areas: where programs find out whether an interrupt runs, from the next begin on. */
void kernel_bpf_preempt(struct kernel_bpf *b, int32_t from_rq);
/* A map of an object that is loaded, for areas that have their own; -1: not there. */
int kernel_bpf_map_fd(const struct kernel_bpf *b, const char *name);

/* What lies behind a record's payload: KBPF_COUNTERS_MAX words, or NULL; and then the frames. */
static inline const uint64_t *kernel_bpf_words(const struct kbpf_record *r)
{
	return r->flags & KBPF_COUNTERS ? (const void *)((const uint8_t *)(r + 1) + r->bytes) : NULL;
}
static inline const uint64_t *kernel_bpf_frames(const struct kbpf_record *r)
{
	const uint64_t *behind = (const void *)((const uint8_t *)(r + 1) + r->bytes);
	return behind + (r->flags & KBPF_COUNTERS ? KBPF_COUNTERS_MAX : 0);
}

/* ---- rings ------------------------------------------------------------------------------------ */

struct kernel_ring;
int kernel_ring_open(int map_fd, uint32_t bytes, void (*on_stack)(void *ctx, const struct kbpf_record *r), void *ctx,
		     struct kernel_ring **ret);
void kernel_ring_close(struct kernel_ring *r);
const struct kbpf_record *kernel_ring_peek(struct kernel_ring *r, uint64_t until);
void kernel_ring_pop(struct kernel_ring *r);

/* ---- user stacks ------------------------------------------------------------------------------ */

struct kernel_stacks;
struct kernel_stacks *kernel_stacks_create(void);
void kernel_stacks_destroy(struct kernel_stacks *s);
/* True: it was full, and has forgotten the others. */
bool kernel_stacks_add(struct kernel_stacks *s, const struct kbpf_record *record);
/* Frames at the beginning that are the way to the program itself. */
uint32_t kernel_stacks_skip(const struct kernel_stacks *s, const struct kbpf_record *record);
/* The addresses, innermost first; their number, 0: not known. */
uint32_t kernel_stacks_find(struct kernel_stacks *s, struct kernel *k, uint64_t id, uint64_t *frames, uint32_t max);
/* The whole stack of a record, kernel before user; valid until the next call. */
const uint64_t *kernel_tracepoints_frames(struct kernel_tracepoints *s, const struct kbpf_record *raw,
					  uint32_t *ret_count);

/* ---- areas ------------------------------------------------------------------------------------ */

/* A file of programs and what becomes of their records. */
struct kernel_area {
	const char *name;
	const char *object; /* NULL: built without */
	const size_t *object_bytes;
	/* Optional: its object was loaded, nothing is attached yet. */
	void (*loaded)(struct kernel_bpf *b);
	/* Optional: what the area remembers. Names are shared by all. */
	void *(*create)(struct kernel *k, struct kernel_names *names);
	void (*destroy)(void *state);
	/* Optional: what was there before, or is there still: records with these `sessions`. */
	void (*rundown)(struct kernel *k, void *state, uint64_t sessions, bool end);
	/* Sends events by kernel_out(); true: the record's stack belongs to the last one, whose time is the
	 * record's. */
	bool (*shape)(struct kernel *k, void *state, const struct kbpf_record *r);
};
/* Where in an open file a function begins. */
bool kernel_probe_place(int file, const char *symbol, uint64_t *ret_offset);
/* Is this a program that calls its own function of that name, as one that is static, or exports it to its libraries? */
bool kernel_probe_own(int file, const char *symbol);
/* A program on a function of a process and of all its children from then on. Fails where the kernel does not
 * allow it. */
struct kernel_probe;
struct bpf_program;
int kernel_probe_open(struct bpf_program *prog, uint32_t pid, int file, uint64_t offset, bool at_return,
		      struct kernel_probe **ret);
void kernel_probe_close(struct kernel_probe *p);
/* The processes that such programs are on; *f begins as NULL. */
struct kernel_family;
void kernel_family_add(struct kernel_family **f, uint32_t pid, uint32_t root);
/* The root of a parent that is to be covered by its probes again; 0: it need not be. */
uint32_t kernel_family_fork(struct kernel_family **f, uint32_t parent, uint32_t pid);
void kernel_family_cover(struct kernel_family *f, uint32_t pid, const struct kernel_probe *p);
void kernel_family_end(struct kernel_family *f, uint32_t pid);
void kernel_family_clear(struct kernel_family **f);

/* One program of an object, by the name of its function. */
struct kernel_program {
	const char *name;
	uint8_t area;
	const char *what;     /* "system calls", for people */
	uint16_t hooks[32];   /* + 1: zero ends */
	uint32_t perf_event;  /* not a tracepoint: this software event of perf's + 1 */
	bool disturbs_itself; /* what the kernel turned away while it ran are its own doings */
	const char *symbol;   /* not a tracepoint: this function in the targets' heap_file; */
	bool at_return;       /* when it returns */
	bool everywhere;      /* in this program's own C library, for all who use it */
	bool optional;        /* not every library has it */
	const char *instead;  /* only where this program (before it in the table) cannot be had */
	bool adds;            /* to events that there are without it */
	bool family;          /* wanted whenever a session has a filter of processes */
};
extern const struct kernel_area kernel_areas[];
extern const unsigned kernel_area_count;
extern const struct kernel_program kernel_programs[];
extern const unsigned kernel_program_count;
/* Of a hook: Windows' event or source, for people; NULL: none. */
const char *kernel_hook_name(unsigned hook);
const struct kernel_area *kernel_area_of(unsigned hook, unsigned *ret_index);

/* A record with the header's fields of a raw one. */
void kernel_record_begin(struct kernel_record *r, const struct kbpf_record *raw, uint16_t hook, uint8_t version,
			 bool perfinfo);

bool kernel_syscall_shape(struct kernel *k, void *state, const struct kbpf_record *r);
void *kernel_syscall_create(struct kernel *k, struct kernel_names *names);
void kernel_syscall_destroy(void *state);
void *kernel_irq_create(struct kernel *k, struct kernel_names *names);
void kernel_irq_destroy(void *state);
bool kernel_irq_shape(struct kernel *k, void *state, const struct kbpf_record *r);
bool kernel_heap_shape(struct kernel *k, void *state, const struct kbpf_record *r);
/* The file whose malloc() it is, open; -errno. */
int kernel_heap_open(uint32_t pid, const char *program);
bool kernel_process_shape(struct kernel *k, void *state, const struct kbpf_record *r);
bool kernel_sched_shape(struct kernel *k, void *state, const struct kbpf_record *r);
void kernel_sched_loaded(struct kernel_bpf *b);
bool kernel_net_shape(struct kernel *k, void *state, const struct kbpf_record *r);
/* Files and descriptors; views and allocations of memory come from the same programs. */
bool kernel_file_shape(struct kernel *k, void *state, const struct kbpf_record *r);
void *kernel_file_create(struct kernel *k, struct kernel_names *names);
void kernel_file_destroy(void *state);
bool kernel_memory_shape(struct kernel *k, struct kernel_names *names, const struct kbpf_record *r);
/* What processes have mapped, allocated and open, and types of handles; `state` is that of files. */
void kernel_views_rundown(struct kernel *k, void *state, uint64_t sessions, bool end);
struct kernel_names *kernel_file_names(void *state);
bool kernel_fault_shape(struct kernel *k, void *state, const struct kbpf_record *r);
void *kernel_fault_create(struct kernel *k, struct kernel_names *names);
bool kernel_disk_shape(struct kernel *k, void *state, const struct kbpf_record *r);
void *kernel_disk_create(struct kernel *k, struct kernel_names *names);
void kernel_disk_destroy(void *state);

/* The table of calls, into the map of the programs; and the information class of a call. */
void kernel_calls_loaded(struct kernel_bpf *b);
uint8_t kernel_calls_info(uint32_t number);
/* From a system call's result. */
uint32_t kernel_nt_status(int64_t result);
#define KERNEL_HANDLE_TYPES 7
extern const char *const kernel_handle_types[KERNEL_HANDLE_TYPES];
uint16_t kernel_handle_type(uint32_t mode);

#endif
