/* SPDX-License-Identifier: MIT
 *
 * What every program is made of: the maps all of them share, "does anybody want this?", and the ways
 * to write a record. The collector creates the maps and hands them to each object.
 *
 *	SEC("tp_btf/NAME")
 *	int BPF_PROG(kbpf_NAME, …)
 *	{
 *		struct kbpf_who who;
 *		if (kbpf_wanted(KBPF_HOOK, &who)) {
 *			uint64_t words[] = {…};
 *			kbpf_write(ctx, &who, KBPF_SLOT_NAME, words, sizeof words);
 *		}
 *		return 0;
 *	}
 *
 * A program never runs twice at a time on one processor (the kernel sees to it, and counts what it
 * turned away), so a scratch slot that belongs to one program needs no lock. Rings are never
 * woken: the collector comes by itself.
 */
#ifndef KERNEL_BPF_KBPF_CORE_H
#define KERNEL_BPF_KBPF_CORE_H

#include "kbpf_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kbpf_abi.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define KBPF_MAP(id, name, kind, key_type, value_type, entries) \
	struct {                                                \
		__uint(type, BPF_MAP_TYPE_##kind);              \
		__uint(max_entries, entries);                   \
		__type(key, key_type);                          \
		__type(value, value_type);                      \
	} name SEC(".maps");
KBPF_MAPS(KBPF_MAP)

struct kbpf_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__array(values, struct kbpf_ring);
} KBPF_RINGS SEC(".maps");

struct kbpf_who {
	uint64_t sessions, stacks, time;
#ifdef KBPF_WAITS
	uint64_t waits_for; /* what a thread in the kernel waits in, as a number; 0: not known */
#endif
#ifdef KBPF_OWN_STACK
	uint64_t own_stack; /* a user stack that was sent before, in the place of the current one; 0: none */
#endif
	bool unwind;
	uint8_t counters; /* to be read with it */
	uint32_t pid, tid, flags;
	uint16_t hook;
};

/* For a hook whose task is not the current one: is it wanted of that thread group? */
static __always_inline bool kbpf_wanted_of(uint32_t hook, uint32_t pid, uint32_t tid, struct kbpf_who *who)
{
	uint32_t zero = 0;
	struct kbpf_config *c = bpf_map_lookup_elem(&kbpf_config, &zero);
	if (!c || hook >= KBPF_HOOKS_MAX) {
		return false;
	}
	uint64_t sessions = c->sessions[hook];
	if (sessions == 0 || pid == c->own_pid) {
		return false;
	}
	if (sessions & c->filtered) {
		uint64_t *of_pid = bpf_map_lookup_elem(&kbpf_pids, &pid);
		sessions &= ~c->filtered | (of_pid ? *of_pid : 0);
		if (sessions == 0) {
			return false;
		}
	}
	who->sessions = sessions;
	who->stacks = c->stacks[hook] & sessions;
	who->counters = c->counted[hook] & sessions ? c->counters : 0;
	who->unwind = c->unwind;
	who->time = bpf_ktime_get_ns();
	who->pid = pid;
	who->tid = tid;
	who->flags = 0;
	who->hook = hook;
#ifdef KBPF_OWN_STACK
	who->own_stack = 0;
#endif
	return true;
}

static __always_inline bool kbpf_wanted(uint32_t hook, struct kbpf_who *who)
{
	uint64_t id = bpf_get_current_pid_tgid();
	return kbpf_wanted_of(hook, id >> 32, (uint32_t)id, who);
}

/* For what belongs to no process, or is told of every one: sessions that watch some get it too. */
static __always_inline bool kbpf_wanted_of_all(uint32_t hook, struct kbpf_who *who)
{
	uint32_t zero = 0;
	struct kbpf_config *c = bpf_map_lookup_elem(&kbpf_config, &zero);
	uint64_t id = bpf_get_current_pid_tgid();
	if (!c || hook >= KBPF_HOOKS_MAX || c->sessions[hook] == 0) {
		return false;
	}
	who->sessions = c->sessions[hook];
	who->stacks = 0;
	who->counters = c->counted[hook] ? c->counters : 0;
	who->time = bpf_ktime_get_ns();
	who->pid = id >> 32;
	who->tid = (uint32_t)id;
	who->flags = 0;
	who->hook = hook;
	return true;
}

static __always_inline void kbpf_dropped(uint32_t hook)
{
	uint64_t *n = bpf_map_lookup_elem(&kbpf_drops, &hook);
	if (n) {
		++*n;
	}
}

static __always_inline void kbpf_head(struct kbpf_record *r, const struct kbpf_who *who, uint32_t bytes)
{
	r->time = who->time;
	r->sessions = who->sessions;
	r->pid = who->pid;
	r->tid = who->tid;
	r->hook = who->hook;
	r->cpu = bpf_get_smp_processor_id();
	r->bytes = bytes;
	r->frames = 0;
	r->flags = who->flags;
	r->kernel_frames = 0;
}

static __always_inline struct kbpf_scratch *kbpf_slot(uint32_t slot)
{
	return bpf_map_lookup_elem(&kbpf_scratch, &slot);
}

struct bpf_perf_event_value {
	uint64_t counter, enabled, running;
};

#ifdef KBPF_NO_COUNTERS
#define KBPF_COUNTED(who) false
#else
#define KBPF_COUNTED(who) ((who)->counters)
#endif

/* What the counters show now, into KBPF_COUNTERS_MAX words; 0 for one that is not there. */
static __noinline int kbpf_count(uint32_t counters, uint64_t *to)
{
	uint64_t at = bpf_get_smp_processor_id() * KBPF_COUNTERS_MAX;
	for (uint32_t i = 0; i < KBPF_COUNTERS_MAX; i++) {
		struct bpf_perf_event_value v;
		to[i] = 0;
		if (i < counters && bpf_perf_event_read_value(&kbpf_counters, at + i, &v, sizeof v) == 0) {
			to[i] = v.counter;
		}
	}
	return 0;
}

#define KBPF_PRIME 0x9E3779B97F4A7C15ull

/* The id of the current task's user stack, which the collector has or gets now; 0: there is none. Not
 * static: so the verifier looks at it once, and not again for each of its callers. */
__noinline uint64_t kbpf_user_stack(uint32_t slot, bool waits, uint64_t time, uint64_t sessions)
{
	const uint32_t limit = waits ? KBPF_COPY_SWITCH : KBPF_COPY_MAX;
	struct task_struct *task = bpf_get_current_task_btf();
	struct kbpf_user_scratch *u = bpf_map_lookup_elem(&kbpf_user_scratch, &slot);
	uint8_t one = 1;
	if (!u || (task->flags & PF_KTHREAD)) {
		return 0;
	}
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct pt_regs *r = (void *)u->raw;
	if (bpf_probe_read_kernel(r, sizeof *r, regs)) {
		return 0;
	}
	uint64_t *to = u->user.regs;
#if defined(__TARGET_ARCH_x86)
	uint64_t sp = r->sp, ip = r->ip, bp = r->bp;
	to[0] = r->ax, to[1] = r->dx, to[2] = r->cx, to[3] = r->bx, to[4] = r->si, to[5] = r->di, to[6] = r->bp;
	to[7] = r->sp, to[8] = r->r8, to[9] = r->r9, to[10] = r->r10, to[11] = r->r11, to[12] = r->r12;
	to[13] = r->r13, to[14] = r->r14, to[15] = r->r15, to[16] = r->ip;
#else
	uint64_t sp = r->sp, ip = r->pc, bp = r->regs[29];
	__builtin_memcpy(to, r->regs, sizeof r->regs);
	to[31] = r->sp, to[32] = r->pc;
#endif
	/* Up to the end of the page, which is there; then the next, which need not be. */
	uint32_t first = 4096 - (sp & 4095), bytes = 0;
	if (first > limit) {
		first = limit;
	}
	/* The barriers keep the compiler from dropping what the verifier cannot conclude by itself. */
	barrier_var(first);
	if (first <= KBPF_COPY_MAX && bpf_probe_read_user(u->user.stack, first, (void *)sp) == 0) {
		uint32_t rest = limit - first;
		bytes = first;
		barrier_var(rest);
		if (rest > 0 && rest <= KBPF_COPY_MAX &&
		    bpf_probe_read_user(u->user.stack + first, rest, (void *)(sp + first)) == 0) {
			bytes += rest;
		}
	}
	bytes &= ~31u; /* what does not fill a round is no return address that matters */
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;
	uint64_t a = ip * KBPF_PRIME ^ pid, b = sp * KBPF_PRIME, c = bp + bytes, d = limit;
	for (uint32_t i = 0; i < KBPF_COPY_MAX / 32; i++) {
		if (i * 32 >= bytes) {
			break;
		}
		const uint64_t *w = (const void *)(u->user.stack + i * 32);
		a = (a ^ w[0]) * KBPF_PRIME;
		b = (b ^ w[1]) * KBPF_PRIME;
		c = (c ^ w[2]) * KBPF_PRIME;
		d = (d ^ w[3]) * KBPF_PRIME;
		a ^= a >> 29;
		b ^= b >> 31;
		c ^= c >> 33;
		d ^= d >> 27;
	}
	uint64_t id = (a ^ b * 3 ^ c * 5 ^ d * 7) | 1;
	if (bpf_map_lookup_elem(&kbpf_user_stacks, &id)) {
		return id;
	}
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&kbpf_rings, &cpu);
	u->user.id = id;
	u->user.bytes = bytes;
	u->user.reserved = 0;
	struct kbpf_who who = {.time = time, .sessions = sessions, .pid = pid, .hook = KBPF_USER_STACK};
	kbpf_head(&u->head, &who, sizeof u->user - KBPF_COPY_MAX + bytes);
	if (bytes > KBPF_COPY_MAX || !ring ||
	    bpf_ringbuf_output(ring, u, sizeof u->head + sizeof u->user - KBPF_COPY_MAX + bytes, BPF_RB_NO_WAKEUP) <
		    0) {
		return 0; /* the event goes without; the next one tries again */
	}
	bpf_map_update_elem(&kbpf_user_stacks, &id, &one, BPF_ANY);
	return id;
}

#ifdef KBPF_WAITS /* by sched.bpf.c */
/* An id for the kernel's part of the stack of a thread that waits: it is the same whenever the same
 * user stack waits in the same call with the same arguments at the same depth. Walking it costs ten
 * times as much. Bit 1 is no part of the id: the collector has that stack. */
__noinline uint64_t kbpf_kernel_stack(uint64_t user, uint64_t waits_for)
{
	uint64_t a = (user ^ waits_for) * KBPF_PRIME;
	a ^= a >> 31;
	a = ((a ^ waits_for) * KBPF_PRIME & ~3ull) | 1;
	return bpf_map_lookup_elem(&kbpf_user_stacks, &a) ? a | 2 : a;
}

static __noinline void kbpf_stack_known(uint64_t id)
{
	uint8_t one = 1;
	bpf_map_update_elem(&kbpf_user_stacks, &id, &one, BPF_ANY);
}
#endif

/* Sends what stands in the slot: `bytes` of payload (made a multiple of 8), and the stack when wanted.
 * False: no room. */
static __always_inline bool kbpf_send(void *ctx, const struct kbpf_who *who, uint32_t slot, struct kbpf_scratch *s,
				      uint32_t bytes)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&kbpf_rings, &cpu);
	bytes = (bytes + 7) & ~7u;
	if (bytes > KBPF_PAYLOAD_MAX) {
		bytes = KBPF_PAYLOAD_MAX;
	}
	kbpf_head(&s->head, who, bytes);
	uint32_t end = bytes;
	if (KBPF_COUNTED(who)) {
		kbpf_count(who->counters, (void *)(s->body + bytes));
		s->head.flags |= KBPF_COUNTERS;
		end += KBPF_COUNTERS_MAX * 8;
	}
	uint64_t fresh = 0; /* a stack that is known when this has gone out */
	(void)fresh;
	if (who->stacks) {
		bool waits = who->hook == KBPF_SWITCH || who->hook == KBPF_WAKING;
		uint64_t id = 0, kernel_id = 0;
		if (who->unwind) {
			id = kbpf_user_stack(slot, waits, who->time, who->sessions);
		}
#ifdef KBPF_WAITS
		if (id && who->waits_for) {
			kernel_id = kbpf_kernel_stack(id, who->waits_for);
		}
#endif
		long n = 0;
		if (!(kernel_id & 2)) {
			n = bpf_get_stack(ctx, s->body + end, KBPF_STACK_FRAMES * 8, 0);
		}
		uint32_t kernel = n > 0 ? (uint32_t)n : 0, user = 0;
		if (kernel > KBPF_STACK_FRAMES * 8) {
			kernel = KBPF_STACK_FRAMES * 8;
		}
		end += kernel;
		if (end > KBPF_PAYLOAD_MAX + KBPF_COUNTERS_MAX * 8 + KBPF_STACK_FRAMES * 8) {
			return false; /* for the verifier: cannot be */
		}
		if (!who->unwind) {
			n = bpf_get_stack(ctx, s->body + end, KBPF_STACK_FRAMES * 8, BPF_F_USER_STACK);
			user = n > 0 ? (uint32_t)n : 0;
			if (user > KBPF_STACK_FRAMES * 8) {
				user = KBPF_STACK_FRAMES * 8;
			}
			end += user;
		}
		s->head.kernel_frames = kernel / 8;
		s->head.frames = (kernel + user) / 8;
		if (kernel_id) {
			*(uint64_t *)(void *)(s->body + end) = kernel_id & ~2ull;
			s->head.flags |= KBPF_KERNEL_STACK_ID;
			fresh = kernel > 0 ? kernel_id : 0;
			end += 8;
		}
		if (id) {
			*(uint64_t *)(void *)(s->body + end) = id;
			s->head.flags |= KBPF_USER_STACK_ID;
			end += 8;
		}
	}
	if (end > sizeof s->body) {
		return false;
	}
	if (!ring || bpf_ringbuf_output(ring, s, sizeof s->head + end, BPF_RB_NO_WAKEUP) < 0) {
		kbpf_dropped(who->hook);
		return false;
	}
#ifdef KBPF_WAITS
	if (fresh) {
		kbpf_stack_known(fresh);
	}
#endif
	return true;
}

/* A record of a fixed number of bytes (a constant, a multiple of 8). */
static __always_inline void kbpf_write(void *ctx, const struct kbpf_who *who, uint32_t slot, const void *payload,
				       const uint32_t bytes)
{
#ifdef KBPF_NO_SLOT
	bool build = who->stacks != 0;
#else
	bool build = who->stacks || KBPF_COUNTED(who);
#endif
	if (build) {
		struct kbpf_scratch *s = kbpf_slot(slot);
		if (s) {
			__builtin_memcpy(s->body, payload, bytes);
			kbpf_send(ctx, who, slot, s, bytes);
		}
		return;
	}
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&kbpf_rings, &cpu);
#ifdef KBPF_OWN_STACK
	if (who->own_stack && ring) {
		struct kbpf_record *own = bpf_ringbuf_reserve(ring, sizeof *own + bytes + 8, 0);
		if (!own) {
			kbpf_dropped(who->hook);
			return;
		}
		kbpf_head(own, who, bytes);
		own->flags |= KBPF_USER_STACK_ID;
		__builtin_memcpy(own + 1, payload, bytes);
		*(uint64_t *)((uint8_t *)(own + 1) + bytes) = who->own_stack;
		bpf_ringbuf_submit(own, BPF_RB_NO_WAKEUP);
		return;
	}
#endif
#ifdef KBPF_NO_SLOT
	if (who->counters && ring) {
		struct kbpf_record *counted =
			bpf_ringbuf_reserve(ring, sizeof *counted + bytes + KBPF_COUNTERS_MAX * 8, 0);
		if (!counted) {
			kbpf_dropped(who->hook);
			return;
		}
		kbpf_head(counted, who, bytes);
		counted->flags |= KBPF_COUNTERS;
		__builtin_memcpy(counted + 1, payload, bytes);
		kbpf_count(who->counters, (void *)((uint8_t *)(counted + 1) + bytes));
		bpf_ringbuf_submit(counted, BPF_RB_NO_WAKEUP);
		return;
	}
#endif
	struct kbpf_record *r = ring ? bpf_ringbuf_reserve(ring, sizeof *r + bytes, 0) : NULL;
	if (!r) {
		kbpf_dropped(who->hook);
		return;
	}
	kbpf_head(r, who, bytes);
	__builtin_memcpy(r + 1, payload, bytes);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

#endif
