/* SPDX-License-Identifier: MIT
 * Shared by the files of kernel.
 */
#ifndef KERNEL_KERNEL_PRIVATE_H
#define KERNEL_KERNEL_PRIVATE_H

#include "kernel/kernel.h"

#include "format/etl_layout.h"
#include "sink/sink.h"

#define KERNEL_FRAMES_MAX 192u /* as many as Windows keeps */
#define KERNEL_PID_SYSTEM 4u   /* owner of the kernel's own threads, as there */
#define KERNEL_NO_ID	  UINT32_MAX

/* ---- record --------------------------------------------------------------------------------- */

/* One record under construction, in the caller's memory. */
struct kernel_record {
	uint16_t hook; /* group << 8 | type */
	uint8_t version;
	bool perfinfo; /* header without process and thread */
	const struct guid *class; /* a full header with this class, as events added by a merge have */
	uint16_t cpu;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t sessions; /* that get it, a bit each */
	uint32_t n; /* bytes of payload */
	uint8_t payload[3072];
};
void kernel_put(struct kernel_record *r, uint64_t value, unsigned bytes);
/* UTF-8 to a terminated string of UTF-16 units or of bytes; cut to `max` units. */
void kernel_put_wide(struct kernel_record *r, const char *s, size_t max);
void kernel_put_text(struct kernel_record *r, const char *s, size_t max);
/* Exactly `units` UTF-16 units, filled up with zeros. */
void kernel_put_fixed(struct kernel_record *r, const char *s, size_t units);
/* TOKEN_USER and S-1-22-1-uid, which names Unix users. */
void kernel_put_user(struct kernel_record *r, uint32_t uid);
/* Into the sink; a full sink counts it. */
void kernel_emit(struct sink *s, const struct kernel_record *r);
void kernel_emit_stack(struct sink *s, uint16_t cpu, uint64_t event_time, uint64_t time, uint32_t pid,
		       uint32_t tid, const uint64_t *frames, uint32_t count);

/* The one way out for events: to the sessions of the record's mask. */
struct kernel;
void kernel_out(struct kernel *k, const struct kernel_record *r);
/* The stack of the event with that time, on that processor, of the record's thread and sessions. */
void kernel_out_stack(struct kernel *k, const struct kernel_record *of, const uint64_t *frames,
		      uint32_t count);

/* ---- perf ------------------------------------------------------------------------------------ */

enum kernel_event_kind { /* of a sample, by the event it came from */
	KERNEL_EV_NONE,
	KERNEL_EV_CPU,
	KERNEL_EV_SWITCH,
	KERNEL_EV_WAKING,
	KERNEL_EV_COUNT,
};

/* One perf record, taken apart. */
struct kernel_perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	enum kernel_event_kind kind;
	uint64_t time;
	uint16_t cpu;
	uint32_t pid, tid;
	uint64_t ip;
	const uint8_t *body; /* of other than samples: after the header */
	uint32_t body_bytes;
	const uint8_t *raw; /* of tracepoints */
	uint32_t raw_bytes;
	uint32_t frames;
	uint64_t frame[KERNEL_FRAMES_MAX]; /* without context markers, innermost first */
};

struct kernel_perf;
int kernel_perf_open(const struct kernel_options *o, struct kernel_perf **ret, struct diag *d);
int kernel_perf_enable(struct kernel_perf *p, bool on);
/* Waits until a ring is part full. */
void kernel_perf_wait(struct kernel_perf *p, int timeout_ms);
uint32_t kernel_perf_cpus(const struct kernel_perf *p);
uint32_t kernel_perf_cpu(const struct kernel_perf *p, uint32_t index); /* the processor's number */
/* The next record of a processor's ring, valid until the next call; false: empty. */
bool kernel_perf_next(struct kernel_perf *p, uint32_t cpu, struct kernel_perf_record *ret);
/* A field of a tracepoint's raw data, by name; 0 when this kernel does not have it. */
uint64_t kernel_perf_field(const struct kernel_perf *p, const struct kernel_perf_record *r,
			   unsigned field);
enum kernel_switch_field { SWITCH_PREV_PID, SWITCH_PREV_PRIO, SWITCH_PREV_STATE, SWITCH_NEXT_PID,
			   SWITCH_NEXT_PRIO, WAKING_PID, KERNEL_FIELDS };
void kernel_perf_close(struct kernel_perf *p);

/* ---- sources that are BPF programs (kernel_bpf.h) ----------------------------------------------- */

struct kernel_sources;
struct kbpf_record;
struct kernel_bpf;
/* Never fails for want of BPF: what is not there is missing. -ENOMEM. */
int kernel_sources_open(struct kernel *k, const struct kernel_options *o, struct kernel_sources **ret);
/* NULL: there is no BPF here. */
struct kernel_bpf *kernel_sources_bpf(struct kernel_sources *s);
void kernel_sources_rundown(struct kernel_sources *s, bool end);
/* The oldest record of a processor that is not newer than `until`, and what becomes of it. */
const struct kbpf_record *kernel_sources_peek(struct kernel_sources *s, uint32_t cpu, uint64_t until,
					      uint64_t *ret_time);
void kernel_sources_take(struct kernel_sources *s, uint32_t cpu, const struct kbpf_record *r);
uint32_t kernel_sources_cpus(struct kernel_sources *s);
/* Losses since the last call are counted and told; their number. */
uint64_t kernel_sources_losses(struct kernel_sources *s);
size_t kernel_sources_loss_list(const struct kernel_sources *s, struct kernel_loss *ret, size_t cap);
/* In lines; "" when nothing is. */
const char *kernel_sources_missing(const struct kernel_sources *s);
void kernel_sources_pause(struct kernel_sources *s);
void kernel_sources_close(struct kernel_sources *s);

/* ---- what is known of processes ---------------------------------------------------------------- */

struct kernel_thread {
	uint32_t tid, pid; /* pid as reported: KERNEL_PID_SYSTEM for the kernel's threads */
	uint64_t out_time; /* when it was last switched out, 0 unknown */
	uint32_t frames;   /* its stack at that moment */
	uint64_t *frame;
	bool watched; /* with only_pid: one of that family */
};
struct kernel_table; /* threads by tid */
struct kernel_table *kernel_table_create(void);
void kernel_table_destroy(struct kernel_table *t);
struct kernel_thread *kernel_table_find(struct kernel_table *t, uint32_t tid);
struct kernel_thread *kernel_table_add(struct kernel_table *t, uint32_t tid, uint32_t pid); /* NULL: no memory */
void kernel_table_remove(struct kernel_table *t, uint32_t tid);

/* ---- rundown --------------------------------------------------------------------------------- */

struct kernel_run {
	struct sink *sink;
	struct kernel_table *threads;
	int only_pid;
	bool end; /* DCEnd instead of DCStart */
};
/* Every process with its threads and images, and the kernel with its modules. */
int kernel_rundown(const struct kernel_run *run);
/* One process, as a start (exec) or an end. */
void kernel_emit_process(struct sink *s, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
			 uint32_t parent, int status, const char *name);
void kernel_emit_thread(struct sink *s, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
			uint32_t tid, const char *name);
void kernel_emit_image(struct sink *s, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
		       uint64_t base, uint64_t bytes, const uint8_t *build_id, const char *path);
uint32_t kernel_reported_pid(uint32_t pid); /* reads /proc: a kernel thread? */

#endif
