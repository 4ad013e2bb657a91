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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kbpf_config);
} kbpf_config SEC(".maps");

/* By thread group: the sessions that watch it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KBPF_PIDS_MAX);
	__type(key, uint32_t);
	__type(value, uint64_t);
} kbpf_pids SEC(".maps");

/* By hook: records of this processor that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KBPF_HOOKS_MAX);
	__type(key, uint32_t);
	__type(value, uint64_t);
} kbpf_drops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KBPF_SLOTS_MAX);
	__type(key, uint32_t);
	__type(value, struct kbpf_scratch);
} kbpf_scratch SEC(".maps");

struct kbpf_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
/* By processor. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__array(values, struct kbpf_ring);
} kbpf_rings SEC(".maps");

struct kbpf_who {
	uint64_t sessions, stacks, time;
	uint32_t pid, tid, flags;
	uint16_t hook;
};

/* For a hook whose task is not the current one: is it wanted of that thread group? */
static __always_inline bool kbpf_wanted_of(uint32_t hook, uint32_t pid, uint32_t tid,
					   struct kbpf_who *who)
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
	who->time = bpf_ktime_get_ns();
	who->pid = pid;
	who->tid = tid;
	who->flags = 0;
	who->hook = hook;
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

/* Sends what stands in the slot: `bytes` of payload (made a multiple of 8), and the stack when wanted.
 * False: no room. */
static __always_inline bool kbpf_send(void *ctx, const struct kbpf_who *who, struct kbpf_scratch *s,
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
	if (who->stacks) {
		long n = bpf_get_stack(ctx, s->body + bytes, KBPF_STACK_FRAMES * 8, 0);
		uint32_t kernel = n > 0 ? (uint32_t)n : 0;
		if (kernel > KBPF_STACK_FRAMES * 8) {
			kernel = KBPF_STACK_FRAMES * 8;
		}
		end += kernel;
		if (end > KBPF_PAYLOAD_MAX + KBPF_STACK_FRAMES * 8) {
			return false; /* for the verifier: cannot be */
		}
		n = bpf_get_stack(ctx, s->body + end, KBPF_STACK_FRAMES * 8, BPF_F_USER_STACK);
		uint32_t user = n > 0 ? (uint32_t)n : 0;
		if (user > KBPF_STACK_FRAMES * 8) {
			user = KBPF_STACK_FRAMES * 8;
		}
		end += user;
		s->head.kernel_frames = kernel / 8;
		s->head.frames = (kernel + user) / 8;
	}
	if (end > sizeof s->body) {
		return false;
	}
	if (!ring || bpf_ringbuf_output(ring, s, sizeof s->head + end, BPF_RB_NO_WAKEUP) < 0) {
		kbpf_dropped(who->hook);
		return false;
	}
	return true;
}

/* A record of a fixed number of bytes (a constant, a multiple of 8). */
static __always_inline void kbpf_write(void *ctx, const struct kbpf_who *who, uint32_t slot,
				       const void *payload, const uint32_t bytes)
{
	if (who->stacks) {
		struct kbpf_scratch *s = kbpf_slot(slot);
		if (s) {
			__builtin_memcpy(s->body, payload, bytes);
			kbpf_send(ctx, who, s, bytes);
		}
		return;
	}
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&kbpf_rings, &cpu);
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
