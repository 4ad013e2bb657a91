/* SPDX-License-Identifier: MIT
 *
 * From perf's records to Windows' events, in the order of each processor's ring.
 */
#include "kernel/kernel_process.h"
#include "kernel/kernel_walk.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#define HOOK_IMAGE_LOAD      0x030Au
#define HOOK_THREAD_START    0x0501u
#define HOOK_THREAD_END      0x0502u
#define HOOK_THREAD_NAME     0x0548u
#define KERNEL_EVENT_VERSION 0x46u /* of Windows 10 */

enum { /* KTHREAD_STATE and KWAIT_REASON */
       STATE_READY = 1,
       STATE_TERMINATED = 4,
       STATE_WAITING = 5,
       WAIT_EXECUTIVE = 0,
       WAIT_SUSPENDED = 5,
       WAIT_TERMINATED = 22,
       WAIT_QUANTUM_END = 30,
       WAIT_PREEMPTED = 32,
};

/* prev_state of sched_switch. */
#define TASK_INTERRUPTIBLE   0x01u
#define TASK_UNINTERRUPTIBLE 0x02u
#define TASK_STOPPED         0x0Cu
#define TASK_DEAD            0x30u
#define TASK_PREEMPTED       0x100u

/* common_flags of tracepoints. */
#define TRACE_HARDIRQ 0x08u
#define TRACE_SOFTIRQ 0x10u
#define TRACE_NMI     0x40u

void kernel_emit_masks(struct kernel *k, uint64_t sessions, uint16_t hook, const struct kernel_mask *m)
{
	struct kernel_record r = {
		.hook = hook, .version = 2, .perfinfo = true, .time = kernel_breathe(k), .sessions = sessions};
	for (unsigned i = 0; i < KERNEL_MASK_WORDS; i++) {
		kernel_put(&r, m ? m->word[i] : 0, 4);
	}
	kernel_put(&r, KERNEL_EVENT_VERSION, 4);
	kernel_out(k, &r);
}

void kernel_emit_interval(struct kernel *k, uint64_t sessions, uint16_t hook, uint32_t old_us)
{
	struct kernel_record r = {.hook = hook, .version = 3, .time = kernel_breathe(k), .sessions = sessions};
	kernel_put(&r, 0, 4); /* source: the timer */
	kernel_put(&r, k->o.interval_us * 10, 4);
	kernel_put(&r, old_us * 10, 4);
	kernel_put_wide(&r, "Timer", 8);
	if (sessions) {
		kernel_out(k, &r);
	}
}

void kernel_emit_plain(struct kernel *k, uint64_t sessions, uint16_t hook)
{
	struct kernel_record r = {
		.hook = hook, .version = 2, .perfinfo = true, .time = kernel_breathe(k), .sessions = sessions};
	kernel_out(k, &r);
}

/* ---- who is who ------------------------------------------------------------------------------- */

struct kernel_thread *kernel_thread_of(struct kernel *k, uint32_t tid, uint32_t pid)
{
	struct kernel_thread *t = kernel_table_find(k->threads, tid);
	if (!t) {
		t = kernel_table_add(k->threads, tid, kernel_reported_pid(pid));
		if (t) {
			t->watchers = kernel_watchers(k, pid);
		}
	}
	return t;
}

/* What a thread does after its end has been told it does without a number: then it is still the one that ended on this
 * processor. */
static uint64_t wants_of_exited(const struct kernel *k, uint16_t hook, struct kernel_perf_record *p)
{
	const struct kernel_exited *e = &k->exited[p->cpu % k->cpus];
	p->pid = e->pid;
	p->tid = e->tid;
	return e->tid ? k->want[hook] & (~k->filtered | e->watchers) : 0;
}

/* Which sessions want a sample. *ret_pid: of which process it is, as they know it. */
static uint64_t wants_sample(struct kernel *k, uint16_t hook, struct kernel_perf_record *p, uint32_t *ret_pid)
{
	if (p->tid == KERNEL_NO_ID) {
		uint64_t sessions = wants_of_exited(k, hook, p);
		*ret_pid = p->pid;
		return sessions;
	}
	struct kernel_thread *t = kernel_thread_of(k, p->tid, p->pid);
	*ret_pid = t ? t->pid : p->pid;
	return kernel_wants_of(k, hook, p->tid);
}

/* In the middle of an exec the thread's registers are those of the program that called it, whose code is gone: nobody
 * called what the kernel does for the new one. */
static void forget_callers_that_are_gone(struct kernel *k, struct kernel_perf_record *p)
{
	struct kernel_thread *t = kernel_table_find(k->threads, p->tid);
	struct unwind_module m;
	if (k->dying[p->tid % KERNEL_DYING].tid == p->tid && p->tid != 0) {
		p->user = false; /* its end was told: the images of its program are gone by then */
	}
	if (BASE_LIKELY(!t || !t->in_exec)) {
		return;
	}
	if (p->ip >= KERNEL_SPACE && p->user &&
	    !unwind_module_at(kernel_walk_unwind(k->walk), p->pid, p->regs.r[UNWIND_PC], &m)) {
		p->user = false;
	} else {
		t->in_exec = false;
	}
}

/* ---- samples ---------------------------------------------------------------------------------- */

/* `source`: 1, or by which counter. `counts`: the record has the values of counters where a session wants some. */
static void put_sample(struct kernel *k, struct kernel_perf_record *p, uint16_t hook, uint16_t source, bool counts)
{
	uint32_t pid;
	uint64_t sessions = wants_sample(k, hook, p, &pid);
	if (sessions == 0) {
		return;
	}
	forget_callers_that_are_gone(k, p);
	kernel_walk_finish(k->walk, p);
	struct kernel_record r;
	kernel_record_clear(&r);
	r.hook = hook;
	r.version = 2;
	r.perfinfo = true;
	r.cpu = p->cpu;
	r.time = p->time;
	r.pid = p->pid;
	r.tid = p->tid;
	r.sessions = sessions;
	kernel_put(&r, p->ip, 8);
	kernel_put(&r, p->tid, 4);
	kernel_put(&r, source, 2);
	kernel_put(&r, 0, 2);
	k->values = counts && p->reads ? kernel_pmc_of_sample(k, p) : NULL;
	kernel_out(k, &r);
	k->values = NULL;
	k->stats.samples++;
	kernel_out_stack(k, sessions & k->stack[hook], p->cpu, p->time, p->time, pid, p->tid, p->frame, p->frames);
}

static void on_sample(struct kernel *k, struct kernel_perf_record *p)
{
	put_sample(k, p, KERNEL_HOOK_SAMPLE, 1, true);
}

/* The same by another source than the timer. Of users without rights kernel_confine() knows nothing of these: they
 * have no PMC_PROFILE. */
static void on_pmc_sample(struct kernel *k, struct kernel_perf_record *p, uint32_t source)
{
	put_sample(k, p, KERNEL_HOOK_PMC_SAMPLE, pmc_record_id(source), false);
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

static void why(uint64_t state, uint8_t wait, uint8_t *ret_reason, uint8_t *ret_state)
{
	if (state & TASK_DEAD) {
		*ret_state = STATE_TERMINATED;
		*ret_reason = WAIT_TERMINATED;
	} else if (state & TASK_STOPPED) {
		*ret_state = STATE_WAITING;
		*ret_reason = WAIT_SUSPENDED;
	} else if (state & TASK_INTERRUPTIBLE) {
		*ret_state = STATE_WAITING;
		*ret_reason = wait;
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
static void keep_stack(struct kernel_thread *t, uint64_t time, const uint64_t *frames, uint32_t count)
{
	t->out_time = time;
	t->frames = 0;
	if (count > t->room) {
		uint64_t *f = realloc(t->frame, count * sizeof *f);
		if (!f) {
			return;
		}
		t->frame = f;
		t->room = count;
	}
	if (count > 0) {
		memcpy(t->frame, frames, count * sizeof *frames);
		t->frames = count;
	}
}

void kernel_on_switch(struct kernel *k, const struct kernel_switch *s, const uint64_t *frames, uint32_t count)
{
	struct kernel_thread *out = kernel_thread_of(k, s->prev, s->prev_pid);
	if (out) {
		keep_stack(out, s->time, frames, count);
	}
	if (s->sessions == 0) {
		return;
	}
	/* Only now: adding may have moved the table. */
	struct kernel_thread *in = kernel_table_find(k->threads, s->next);
	uint8_t reason, state;
	why(s->state, s->wait, &reason, &state);
	struct kernel_record r;
	r.hook = KERNEL_HOOK_CSWITCH;
	r.version = 2;
	r.perfinfo = true;
	r.class = NULL;
	r.cpu = s->cpu;
	r.time = s->time;
	r.pid = r.tid = 0;
	r.sessions = s->sessions;
	r.live = false;
	r.n = 24;
	uint8_t *p = r.payload;
	le32_put(p, s->next);
	le32_put(p + 4, s->prev);
	p[8] = priority_of(s->next_prio);
	p[9] = priority_of(s->prev_prio);
	p[10] = p[11] = 0;
	p[12] = reason;
	p[13] = 0;
	p[14] = state;
	p[15] = (uint8_t)s->cpu;
	/* In clock ticks of 15.625 ms. */
	le32_put(p + 16, in && in->out_time ? (uint32_t)((s->time - in->out_time) / 15625000) : 0);
	le32_put(p + 20, 0);
	kernel_ended_seen(k, s->prev, s->time);
	kernel_ended_seen(k, s->next, s->time);
	kernel_out(k, &r);
	k->stats.switches++;
	if (in && in->frames > 0 && s->next != 0) {
		kernel_out_stack(k, s->sessions & k->stack[KERNEL_HOOK_CSWITCH], s->cpu, s->time, s->time, in->pid,
				 s->next, in->frame, in->frames);
	}
	if (in) {
		/* It holds for one return: some kernels leave switches out (perf misses them as well), and
		 * then what is kept would be from an older one. */
		in->out_time = 0;
		in->frames = 0;
	}
}

static void on_switch(struct kernel *k, struct kernel_perf_record *p)
{
	struct kernel_switch s = {
		.cpu = p->cpu,
		.time = p->time,
		.prev = (uint32_t)kernel_perf_field(k->perf, p, SWITCH_PREV_PID),
		.prev_pid = p->pid,
		.next = (uint32_t)kernel_perf_field(k->perf, p, SWITCH_NEXT_PID),
		.prev_prio = (uint8_t)kernel_perf_field(k->perf, p, SWITCH_PREV_PRIO),
		.next_prio = (uint8_t)kernel_perf_field(k->perf, p, SWITCH_NEXT_PRIO),
		.state = kernel_perf_field(k->perf, p, SWITCH_PREV_STATE),
		.wait = KERNEL_WAIT_USER_REQUEST,
	};
	(void)kernel_thread_of(k, s.prev, p->pid);
	uint64_t of_prev = kernel_wants_of(k, KERNEL_HOOK_CSWITCH, s.prev);
	s.sessions = of_prev | kernel_wants_of(k, KERNEL_HOOK_CSWITCH, s.next);
	if (of_prev & k->stack[KERNEL_HOOK_CSWITCH]) {
		kernel_walk_finish(k->walk, p);
	}
	kernel_on_switch(k, &s, p->frame, p->frames);
}

void kernel_on_waking(struct kernel *k, const struct kernel_waking *w, const uint64_t *frames, uint32_t count)
{
	struct kernel_record r;
	if (w->sessions == 0) {
		return;
	}
	kernel_record_clear(&r);
	r.hook = KERNEL_HOOK_READY_THREAD;
	r.version = 2;
	r.cpu = w->cpu;
	r.time = w->time;
	r.pid = w->pid;
	r.tid = w->tid;
	r.sessions = w->sessions;
	r.n = 8;
	le32_put(r.payload, w->woken);
	r.payload[4] = 1;                /* AdjustReason: unwait */
	r.payload[6] = w->waker ? 1 : 0; /* Flag: readied by a DPC, as Windows calls what interrupts leave to do */
	r.payload[7] = w->waker;
	kernel_out(k, &r);
	kernel_out_stack(k, w->sessions & k->stack[KERNEL_HOOK_READY_THREAD], w->cpu, w->time, w->time, w->pid, w->tid,
			 frames, count);
}

static void on_waking(struct kernel *k, struct kernel_perf_record *p)
{
	struct kernel_waking w = {
		.cpu = p->cpu,
		.time = p->time,
		.pid = p->pid,
		.tid = p->tid,
		.woken = (uint32_t)kernel_perf_field(k->perf, p, WAKING_PID),
	};
	uint64_t flags = kernel_perf_field(k->perf, p, WAKING_FLAGS);
	w.waker = flags & (TRACE_HARDIRQ | TRACE_NMI) ? KERNEL_BY_INTERRUPT
		  : flags & TRACE_SOFTIRQ             ? KERNEL_BY_SOFTIRQ
						      : KERNEL_BY_THREAD;
	w.sessions = kernel_wants_of(k, KERNEL_HOOK_READY_THREAD, w.woken);
	if (w.sessions != 0) {
		kernel_walk_finish(k->walk, p);
		kernel_on_waking(k, &w, p->frame, p->frames);
	}
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
	uint64_t watchers = parent ? parent->watchers & (pid == ppid ? ~0ull : k->follow) : 0;
	uint32_t owner = parent && parent->pid == KERNEL_PID_SYSTEM ? KERNEL_PID_SYSTEM : pid;
	kernel_ended_not(k, tid);
	struct kernel_thread *t = kernel_table_add(k->threads, tid, owner);
	unwind_fork(kernel_walk_unwind(k->walk), pid, ppid);
	if (t) {
		t->watchers = watchers | kernel_watchers(k, pid);
	}
	if (pid == tid && owner == pid) {
		kernel_on_fork(k, p->time, p->cpu, pid, ppid);
	}
	kernel_emit_thread(k, 0, HOOK_THREAD_START, p->time, p->cpu, owner, tid, "");
}

static void on_exit_record(struct kernel *k, const struct kernel_perf_record *p)
{
	if (p->body_bytes < 24) {
		return;
	}
	uint32_t pid = le32_get(p->body), ppid = le32_get(p->body + 4), tid = le32_get(p->body + 8);
	struct kernel_thread *t = kernel_table_find(k->threads, tid);
	uint32_t owner = t ? t->pid : pid;
	k->exited[p->cpu % k->cpus] = (struct kernel_exited){owner, tid, t ? t->watchers : 0};
	kernel_emit_thread(k, 0, HOOK_THREAD_END, p->time, p->cpu, owner, tid, "");
	kernel_table_remove(k->threads, tid);
	kernel_ended_thread(k, owner, tid);
	if (owner == pid) {
		kernel_on_thread_exit(k, p->time, p->cpu, pid, tid, ppid);
	}
	if (pid == tid) {
		unwind_exit(kernel_walk_unwind(k->walk), pid);
	}
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
		unwind_exec(kernel_walk_unwind(k->walk), pid);
		struct kernel_thread *t = kernel_table_find(k->threads, pid); /* the one that is left */
		if (t) {
			t->in_exec = true;
		}
		/* Windows knows no exec: the old program ends here, and the new one starts. */
		kernel_on_exec(k, p->time, p->cpu, pid, tid, name);
		return;
	}
	struct kernel_record r = {
		.hook = HOOK_THREAD_NAME, .version = 2, .perfinfo = true, .cpu = p->cpu, .time = p->time};
	kernel_put(&r, pid, 4);
	kernel_put(&r, tid, 4);
	kernel_put_wide(&r, name, 64);
	kernel_out(k, &r);
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
	if (n == p->body_bytes - FIXED) {
		return;
	}
	struct unwind_identity id = {makedev(le32_get(b + 32), le32_get(b + 36)), le64_get(b + 40)};
	unwind_map_identified(kernel_walk_unwind(k->walk), pid, address, bytes, offset, name, &id);
	if ((name[0] != '/' && strcmp(name, "[vdso]") != 0) || strncmp(name, "//anon", 6) == 0) {
		return; /* no code of a file: //anon, [heap] */
	}
	if (name[0] != '/') {
		offset = 0;
	}
	/* Only the part with code is announced; files begin where their first byte would lie. */
	struct kernel_build build = {.n = 0};
	uint64_t base = address - offset, code_end = address + bytes;
	bytes += offset;
	if (kernel_wants(k, HOOK_IMAGE_LOAD)) {
		kernel_walk_identify(k->walk, pid, address, name, &base, &bytes, &build);
	}
	kernel_on_image(k, p->time, p->cpu, pid, base, bytes, address, code_end, &build, name);
}

void kernel_on_record(struct kernel *k, struct kernel_perf_record *p)
{
	switch (p->type) {
	case PERF_RECORD_SAMPLE:
		if ((p->kind == KERNEL_EV_CPU || p->kind >= KERNEL_EV_PMC) && kernel_is_self(k, p->pid)) {
			break; /* the collector does not watch itself */
		}
		if (p->kind >= KERNEL_EV_PMC) {
			on_pmc_sample(k, p, kernel_perf_source_of(k->perf, p->kind));
		} else if (p->kind == KERNEL_EV_CPU) {
			on_sample(k, p);
		} else if (p->kind == KERNEL_EV_SWITCH) {
			on_switch(k, p);
		} else if (p->kind == KERNEL_EV_WAKING) {
			on_waking(k, p);
		}
		break;
	case PERF_RECORD_FORK: on_fork(k, p); break;
	case PERF_RECORD_EXIT: on_exit_record(k, p); break;
	case PERF_RECORD_COMM: on_comm(k, p); break;
	case PERF_RECORD_MMAP2: on_mmap(k, p); break;
	case PERF_RECORD_LOST:
		if (p->body_bytes >= 16) {
			kernel_lost(k, 0, p->cpu, "samples, switches or names of processes", le64_get(p->body + 8));
			kernel_confine_again(k);
		}
		break;
	default: break;
	}
}
