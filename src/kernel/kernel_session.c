/* SPDX-License-Identifier: MIT
 *
 * From perf's records to Windows' events, in the order of each processor's ring.
 */
#include "kernel/kernel_config.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_KB	256u
#define NS_PER_S	1000000000ull
#define INTERVAL_MIN_US 125u
#define HOLD_BACK_NS	300000u /* newer records wait: their neighbours may not be in the rings yet */

#define HOOK_MASKS	   0x0005u
#define HOOK_RUNDOWN_DONE  0x0008u
#define HOOK_MASKS_END	   0x0020u
#define HOOK_PROCESS_START 0x0301u
#define HOOK_PROCESS_END   0x0302u
#define HOOK_IMAGE_LOAD	   0x030Au
#define HOOK_THREAD_START  0x0501u
#define HOOK_THREAD_END	   0x0502u
#define HOOK_CSWITCH	   0x0524u
#define HOOK_READY_THREAD  0x0532u
#define HOOK_THREAD_NAME   0x0548u
#define HOOK_SAMPLE	   0x0F2Eu
#define HOOK_INTERVAL_DC   0x0F49u
#define HOOK_INTERVAL_END  0x0F4Au
#define KERNEL_EVENT_VERSION 0x46u /* of Windows 10 */

/* EVENT_TRACE_FLAG_* of the first mask. */
#define FLAG_PROCESS 0x00000001u
#define FLAG_THREAD  0x00000002u
#define FLAG_IMAGE   0x00000004u
#define FLAG_CSWITCH 0x00000010u
#define FLAG_READY   0x00000800u
#define FLAG_PROFILE 0x01000000u

enum { /* KTHREAD_STATE and KWAIT_REASON */
	STATE_READY = 1,
	STATE_TERMINATED = 4,
	STATE_WAITING = 5,
	WAIT_EXECUTIVE = 0,
	WAIT_SUSPENDED = 5,
	WAIT_USER_REQUEST = 6,
	WAIT_TERMINATED = 22,
	WAIT_QUANTUM_END = 30,
	WAIT_PREEMPTED = 32,
};

/* prev_state of sched_switch. */
#define TASK_INTERRUPTIBLE   0x01u
#define TASK_UNINTERRUPTIBLE 0x02u
#define TASK_STOPPED	     0x0Cu
#define TASK_DEAD	     0x30u
#define TASK_PREEMPTED	     0x100u

struct kernel {
	struct kernel_options o;
	char *path;
	struct sink *sink;
	struct kernel_perf *perf;
	struct kernel_sources *sources;
	struct kernel_table *threads;
	struct kernel_stats stats;
	uint64_t cpu_at_start;
	uint32_t me;
	struct kernel_perf_record *ahead; /* by ring: the next record, when `has` */
	bool *has;
};

void kernel_out(struct kernel *k, const struct kernel_record *r)
{
	kernel_emit(k->sink, r);
}

void kernel_out_stack(struct kernel *k, const struct kernel_record *of, const uint64_t *frames,
		      uint32_t count)
{
	kernel_emit_stack(k->sink, of->cpu, of->time, of->time, of->pid, of->tid, frames, count);
	k->stats.stacks++;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void emit_masks(struct kernel *k, uint16_t hook)
{
	struct kernel_record r = {.hook = hook, .version = 2, .perfinfo = true, .time = clock_read_system_ns()};
	uint32_t flags = FLAG_PROCESS | FLAG_THREAD | FLAG_IMAGE;
	flags |= k->o.sources & KERNEL_CPU ? FLAG_PROFILE : 0;
	flags |= k->o.sources & KERNEL_CSWITCH ? FLAG_CSWITCH | FLAG_READY : 0;
	kernel_put(&r, flags, 4);
	for (int i = 1; i < 8; i++) {
		kernel_put(&r, 0, 4);
	}
	kernel_put(&r, KERNEL_EVENT_VERSION, 4);
	kernel_emit(k->sink, &r);
}

static void emit_interval(struct kernel *k, uint16_t hook)
{
	struct kernel_record r = {.hook = hook, .version = 3, .time = clock_read_system_ns()};
	kernel_put(&r, 0, 4); /* source: the timer */
	kernel_put(&r, k->o.interval_us * 10, 4);
	kernel_put(&r, k->o.interval_us * 10, 4);
	kernel_put_wide(&r, "Timer", 8);
	kernel_emit(k->sink, &r);
}

static void emit_plain(struct kernel *k, uint16_t hook)
{
	struct kernel_record r = {.hook = hook, .version = 2, .perfinfo = true, .time = clock_read_system_ns()};
	kernel_emit(k->sink, &r);
}

/* ---- who is who ------------------------------------------------------------------------------- */

static struct kernel_thread *thread_of(struct kernel *k, uint32_t tid, uint32_t pid)
{
	struct kernel_thread *t = kernel_table_find(k->threads, tid);
	return t ? t : kernel_table_add(k->threads, tid, kernel_reported_pid(pid));
}

static bool wanted(const struct kernel *k, const struct kernel_thread *t)
{
	return k->o.only_pid == 0 || (t && t->watched);
}

/* ---- samples ---------------------------------------------------------------------------------- */

static void emit_stack(struct kernel *k, const struct kernel_perf_record *p, uint64_t event_time,
		       uint32_t pid, uint32_t tid, const uint64_t *frames, uint32_t count)
{
	if (count > 0) {
		kernel_emit_stack(k->sink, p->cpu, event_time, p->time, pid, tid, frames, count);
		k->stats.stacks++;
	}
}

static void on_sample(struct kernel *k, const struct kernel_perf_record *p)
{
	struct kernel_thread *t = thread_of(k, p->tid, p->pid);
	if (!wanted(k, t)) {
		return;
	}
	struct kernel_record r = {
		.hook = HOOK_SAMPLE, .version = 2, .perfinfo = true, .cpu = p->cpu, .time = p->time};
	kernel_put(&r, p->ip, 8);
	kernel_put(&r, p->tid, 4);
	kernel_put(&r, 1, 2);
	kernel_put(&r, 0, 2);
	kernel_emit(k->sink, &r);
	k->stats.samples++;
	emit_stack(k, p, p->time, t ? t->pid : p->pid, p->tid, p->frame, p->frames);
}

/* Linux' 0 (most urgent) to 139 onto Windows' 31 to 0. */
static uint8_t priority_of(uint64_t prio)
{
	if (prio < 100) { /* real time */
		return (uint8_t)(30 - prio * 14 / 99);
	}
	uint64_t nice = BASE_MIN(prio - 100, 39u);
	return (uint8_t)(15 - nice * 13 / 39);
}

static void why(uint64_t state, uint8_t *ret_reason, uint8_t *ret_state)
{
	if (state & TASK_DEAD) {
		*ret_state = STATE_TERMINATED;
		*ret_reason = WAIT_TERMINATED;
	} else if (state & TASK_STOPPED) {
		*ret_state = STATE_WAITING;
		*ret_reason = WAIT_SUSPENDED;
	} else if (state & TASK_INTERRUPTIBLE) {
		*ret_state = STATE_WAITING;
		*ret_reason = WAIT_USER_REQUEST;
	} else if (state & TASK_UNINTERRUPTIBLE) {
		*ret_state = STATE_WAITING;
		*ret_reason = WAIT_EXECUTIVE;
	} else {
		*ret_state = STATE_READY;
		*ret_reason = state & TASK_PREEMPTED ? WAIT_PREEMPTED : WAIT_QUANTUM_END;
	}
}

/* Windows has the stack of the thread that comes back; the kernel shows the one that leaves. A
 * blocked thread's stack does not move, so it is kept until then. */
static void keep_stack(struct kernel_thread *t, const struct kernel_perf_record *p)
{
	t->out_time = p->time;
	t->frames = 0;
	if (p->frames > 0) {
		uint64_t *f = realloc(t->frame, p->frames * sizeof *f);
		if (f) {
			memcpy(f, p->frame, p->frames * sizeof *f);
			t->frame = f;
			t->frames = p->frames;
		}
	}
}

static void on_switch(struct kernel *k, const struct kernel_perf_record *p)
{
	uint32_t prev = (uint32_t)kernel_perf_field(k->perf, p, SWITCH_PREV_PID);
	uint32_t next = (uint32_t)kernel_perf_field(k->perf, p, SWITCH_NEXT_PID);
	struct kernel_thread *out = thread_of(k, prev, p->pid);
	bool want = wanted(k, out);
	if (out) {
		keep_stack(out, p);
	}
	/* Only now: adding may move the table. */
	struct kernel_thread *in = kernel_table_find(k->threads, next);
	if (!want && !wanted(k, in)) {
		return;
	}
	uint8_t reason, state;
	why(kernel_perf_field(k->perf, p, SWITCH_PREV_STATE), &reason, &state);
	struct kernel_record r = {
		.hook = HOOK_CSWITCH, .version = 2, .perfinfo = true, .cpu = p->cpu, .time = p->time};
	kernel_put(&r, next, 4);
	kernel_put(&r, prev, 4);
	kernel_put(&r, priority_of(kernel_perf_field(k->perf, p, SWITCH_NEXT_PRIO)), 1);
	kernel_put(&r, priority_of(kernel_perf_field(k->perf, p, SWITCH_PREV_PRIO)), 1);
	kernel_put(&r, 0, 2);
	kernel_put(&r, reason, 1);
	kernel_put(&r, 0, 1);
	kernel_put(&r, state, 1);
	kernel_put(&r, p->cpu & 0xFF, 1);
	/* In clock ticks of 15.625 ms. */
	kernel_put(&r, in && in->out_time ? (p->time - in->out_time) / 15625000 : 0, 4);
	kernel_put(&r, 0, 4);
	kernel_emit(k->sink, &r);
	k->stats.switches++;
	if (in && in->frames > 0 && next != 0) {
		emit_stack(k, p, p->time, in->pid, next, in->frame, in->frames);
	}
}

static void on_waking(struct kernel *k, const struct kernel_perf_record *p)
{
	uint32_t tid = (uint32_t)kernel_perf_field(k->perf, p, WAKING_PID);
	if (!wanted(k, kernel_table_find(k->threads, tid))) {
		return;
	}
	struct kernel_record r = {.hook = HOOK_READY_THREAD,
				  .version = 2,
				  .cpu = p->cpu,
				  .time = p->time,
				  .pid = p->pid,
				  .tid = p->tid};
	kernel_put(&r, tid, 4);
	kernel_put(&r, 1, 4); /* AdjustReason: unwait */
	kernel_emit(k->sink, &r);
}

/* ---- processes -------------------------------------------------------------------------------- */

static void on_fork(struct kernel *k, const struct kernel_perf_record *p)
{
	if (p->body_bytes < 24) {
		return;
	}
	uint32_t pid = le32_get(p->body), ppid = le32_get(p->body + 4), tid = le32_get(p->body + 8);
	uint32_t ptid = le32_get(p->body + 12);
	struct kernel_thread *parent = kernel_table_find(k->threads, ptid);
	bool watched = parent && parent->watched;
	uint32_t owner = parent && parent->pid == KERNEL_PID_SYSTEM ? KERNEL_PID_SYSTEM : pid;
	struct kernel_thread *t = kernel_table_add(k->threads, tid, owner);
	if (t) {
		t->watched = watched || (k->o.only_pid != 0 && (uint32_t)k->o.only_pid == pid);
	}
	if (pid == tid && owner == pid) {
		kernel_emit_process(k->sink, HOOK_PROCESS_START, p->time, p->cpu, pid, ppid, 0x103, "");
	}
	kernel_emit_thread(k->sink, HOOK_THREAD_START, p->time, p->cpu, owner, tid, "");
}

static void on_exit_record(struct kernel *k, const struct kernel_perf_record *p)
{
	if (p->body_bytes < 24) {
		return;
	}
	uint32_t pid = le32_get(p->body), ppid = le32_get(p->body + 4), tid = le32_get(p->body + 8);
	struct kernel_thread *t = kernel_table_find(k->threads, tid);
	uint32_t owner = t ? t->pid : pid;
	kernel_emit_thread(k->sink, HOOK_THREAD_END, p->time, p->cpu, owner, tid, "");
	if (pid == tid && owner == pid) {
		kernel_emit_process(k->sink, HOOK_PROCESS_END, p->time, p->cpu, pid, ppid, 0, "");
	}
	kernel_table_remove(k->threads, tid);
}

static void on_comm(struct kernel *k, const struct kernel_perf_record *p)
{
	if (p->body_bytes < 9) {
		return;
	}
	uint32_t pid = le32_get(p->body), tid = le32_get(p->body + 4);
	char name[64] = "";
	memcpy(name, p->body + 8, BASE_MIN(p->body_bytes - 8, sizeof name - 1));
	if (p->misc & PERF_RECORD_MISC_COMM_EXEC) {
		/* Windows knows no exec: the old program ends here, and the new one starts. */
		kernel_emit_process(k->sink, HOOK_PROCESS_END, p->time, p->cpu, pid, 0, 0, "");
		kernel_emit_process(k->sink, HOOK_PROCESS_START, p->time, p->cpu, pid, 0, 0x103, name);
		kernel_emit_thread(k->sink, HOOK_THREAD_START, p->time, p->cpu, pid, tid, name);
		return;
	}
	struct kernel_record r = {
		.hook = HOOK_THREAD_NAME, .version = 2, .perfinfo = true, .cpu = p->cpu, .time = p->time};
	kernel_put(&r, pid, 4);
	kernel_put(&r, tid, 4);
	kernel_put_wide(&r, name, 64);
	kernel_emit(k->sink, &r);
}

static void on_mmap(struct kernel *k, const struct kernel_perf_record *p)
{
	enum { FIXED = 64 };
	if (p->body_bytes < FIXED + 1) {
		return;
	}
	const uint8_t *b = p->body;
	uint32_t pid = le32_get(b);
	uint64_t address = le64_get(b + 8), bytes = le64_get(b + 16), offset = le64_get(b + 24);
	const char *name = (const char *)b + FIXED;
	size_t n = strnlen(name, p->body_bytes - FIXED);
	bool has_id = p->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (n == p->body_bytes - FIXED || (name[0] != '/' && strcmp(name, "[vdso]") != 0)) {
		return; /* no code of a file: //anon, [heap] */
	}
	if (name[0] != '/') {
		offset = 0;
	}
	/* Only the part with code is announced; files begin where their first byte would lie. */
	kernel_emit_image(k->sink, HOOK_IMAGE_LOAD, p->time, p->cpu, pid, address - offset, bytes + offset,
			  has_id ? b + 36 : NULL, name);
}

static void on_record(struct kernel *k, const struct kernel_perf_record *p)
{
	switch (p->type) {
	case PERF_RECORD_SAMPLE:
		if (p->pid == k->me && p->kind == KERNEL_EV_CPU && k->o.only_pid == 0) {
			break; /* the collector does not watch itself */
		}
		if (p->kind == KERNEL_EV_CPU) {
			on_sample(k, p);
		} else if (p->kind == KERNEL_EV_SWITCH) {
			on_switch(k, p);
		} else if (p->kind == KERNEL_EV_WAKING) {
			on_waking(k, p);
		}
		break;
	case PERF_RECORD_FORK:
		on_fork(k, p);
		break;
	case PERF_RECORD_EXIT:
		on_exit_record(k, p);
		break;
	case PERF_RECORD_COMM:
		on_comm(k, p);
		break;
	case PERF_RECORD_MMAP2:
		on_mmap(k, p);
		break;
	case PERF_RECORD_LOST:
		if (p->body_bytes >= 16) {
			uint64_t lost = le64_get(p->body + 8);
			k->stats.lost += lost;
			sink_add_lost(k->sink, lost);
		}
		break;
	default:
		break;
	}
}

/* The rings of one processor, perf's and BPF's, merged by time. What is newer than `until` stays for
 * the next time: something older may still be on its way into the other ring. */
static void drain_cpu(struct kernel *k, uint32_t i, uint64_t until)
{
	uint32_t cpu = kernel_perf_cpu(k->perf, i);
	for (;;) {
		struct kernel_perf_record *p = &k->ahead[i];
		uint64_t time = UINT64_MAX;
		k->has[i] = k->has[i] || kernel_perf_next(k->perf, i, p);
		const struct kbpf_record *raw = kernel_sources_peek(k->sources, cpu, until, &time);
		if (raw && (!k->has[i] || time < p->time)) {
			kernel_sources_take(k->sources, cpu, raw);
		} else if (k->has[i] && p->time <= until) {
			on_record(k, p);
			k->has[i] = false;
		} else {
			return;
		}
	}
}

static void drain(struct kernel *k, uint64_t until)
{
	uint64_t time;
	for (uint32_t i = 0; i < kernel_perf_cpus(k->perf); i++) {
		drain_cpu(k, i, until);
	}
	/* Processors that perf found switched off when this began. */
	for (uint32_t cpu = 0; cpu < kernel_sources_cpus(k->sources); cpu++) {
		for (const struct kbpf_record *raw;
		     (raw = kernel_sources_peek(k->sources, cpu, until, &time)) != NULL;) {
			kernel_sources_take(k->sources, cpu, raw);
		}
	}
	uint64_t lost = kernel_sources_losses(k->sources);
	k->stats.lost += lost;
	if (lost > 0) {
		sink_add_lost(k->sink, lost);
	}
}

/* ---- the session ------------------------------------------------------------------------------ */

static int open_sink(struct kernel *k, struct diag *d)
{
	static const uint16_t name[] = u"NT Kernel Logger";
	uint16_t file[1024];
	char full[2048];
	if (!realpath(k->path, full)) {
		snprintf(full, sizeof full, "%s", k->path);
	}
	if (utf8_to_utf16(full, strlen(full), file, BASE_ARRAY_LEN(file)) < 0) {
		file[0] = 0;
	}
	struct sink_options o = {
		.name = name,
		.log_file = file,
		.path = k->path,
		.log_file_mode = 1,
		.buffer_size_kb = k->o.buffer_size_kb ? k->o.buffer_size_kb : BUFFER_KB,
		.minimum_buffers = 16,
		.maximum_buffers = 256,
		.flush_timer = 1,
		.clock = 1,
		.clock_freq = NS_PER_S,
		.system_clock = true,
		.logger_id = 0xFFFF,
		.cpus = (uint16_t)sysconf(_SC_NPROCESSORS_CONF),
	};
	int err = sink_adjust(&o);
	return err < 0 ? err : sink_create(&o, &k->sink, d);
}

static int rundown(struct kernel *k, bool end)
{
	struct kernel_run run = {
		.sink = k->sink, .threads = k->threads, .only_pid = k->o.only_pid, .end = end};
	return kernel_rundown(&run);
}

static void config_out_of(void *ctx, const struct kernel_record *r)
{
	kernel_out(ctx, r);
}

static void emit_config(struct kernel *k)
{
	struct kernel_config c = {.out = config_out_of, .ctx = k, .root = "", .pid = k->me, .tid = k->me};
	kernel_config_write(&c);
}

static void free_all(struct kernel *k)
{
	kernel_table_destroy(k->threads);
	free(k->ahead);
	free(k->has);
	free(k->path);
	free(k);
}

int kernel_start(const struct kernel_options *o, struct kernel **ret, struct diag *d)
{
	struct kernel *k = calloc(1, sizeof *k);
	int err = -ENOMEM;
	if (!k) {
		return err;
	}
	k->o = *o;
	k->me = (uint32_t)getpid();
	k->cpu_at_start = own_cpu_ns();
	k->path = strdup(o->path);
	k->threads = kernel_table_create();
	if (!k->path || !k->threads) {
		goto fail;
	}
	if ((o->sources & KERNEL_CPU) && o->interval_us < INTERVAL_MIN_US) {
		diag_at(d, UINT64_MAX, "samples come %u microseconds apart at least", INTERVAL_MIN_US);
		err = -EINVAL;
		goto fail;
	}
	if ((err = kernel_perf_open(o, &k->perf, d)) < 0 || (err = open_sink(k, d)) < 0) {
		goto fail;
	}
	k->ahead = calloc(kernel_perf_cpus(k->perf), sizeof *k->ahead);
	k->has = calloc(kernel_perf_cpus(k->perf), sizeof *k->has);
	err = k->ahead && k->has ? kernel_sources_open(k, o, &k->sources) : -ENOMEM;
	if (err < 0) {
		goto fail;
	}
	emit_masks(k, HOOK_MASKS);
	err = kernel_perf_enable(k->perf, true);
	err = err < 0 ? err : rundown(k, false);
	if (err < 0) {
		goto fail;
	}
	kernel_sources_rundown(k->sources, false);
	if (o->sources & KERNEL_CPU) {
		emit_interval(k, HOOK_INTERVAL_DC);
	}
	emit_plain(k, HOOK_RUNDOWN_DONE);
	*ret = k;
	return 0;
fail:
	kernel_sources_close(k->sources);
	if (k->sink) {
		sink_stop(k->sink, NULL);
	}
	if (k->perf) {
		kernel_perf_close(k->perf);
	}
	free_all(k);
	return err;
}

int kernel_poll(struct kernel *k, int timeout_ms)
{
	kernel_perf_wait(k->perf, timeout_ms);
	drain(k, clock_read_system_ns() - HOLD_BACK_NS);
	sink_tick(k->sink, clock_read_system_ns());
	return 0;
}

void kernel_stats(struct kernel *k, struct kernel_stats *ret)
{
	struct sink_stats s;
	sink_stats(k->sink, &s);
	k->stats.events = s.events;
	k->stats.lost_no_buffer = s.lost_no_buffer + s.lost_disk_events;
	k->stats.bytes_written = s.bytes_written;
	k->stats.cpu_ns = own_cpu_ns() - k->cpu_at_start;
	*ret = k->stats;
}

int kernel_stop(struct kernel *k, struct kernel_stats *ret)
{
	kernel_perf_enable(k->perf, false);
	kernel_sources_pause(k->sources);
	drain(k, UINT64_MAX);
	emit_config(k);
	kernel_sources_rundown(k->sources, true);
	emit_masks(k, HOOK_MASKS_END);
	rundown(k, true);
	if (k->o.sources & KERNEL_CPU) {
		emit_interval(k, HOOK_INTERVAL_END);
	}
	emit_plain(k, HOOK_RUNDOWN_DONE);
	kernel_perf_close(k->perf);
	kernel_sources_close(k->sources);
	struct sink_stats s;
	int err = sink_stop(k->sink, &s);
	k->stats.events = s.events;
	k->stats.lost_no_buffer = s.lost_no_buffer + s.lost_disk_events;
	k->stats.bytes_written = s.bytes_written;
	k->stats.cpu_ns = own_cpu_ns() - k->cpu_at_start;
	if (ret) {
		*ret = k->stats;
	}
	free_all(k);
	return err;
}

const char *kernel_missing(const struct kernel *k)
{
	return kernel_sources_missing(k->sources);
}

size_t kernel_losses(const struct kernel *k, struct kernel_loss *ret, size_t cap)
{
	return kernel_sources_loss_list(k->sources, ret, cap);
}
