/* SPDX-License-Identifier: MIT
 *
 * malloc() and its family in chosen processes: what was asked for is known when the function is
 * entered, what came of it when it returns. One function may call another of them (realloc of
 * nothing is malloc): the outer one is told.
 */
#include "kbpf_core.h"

#include "kbpf_heap.h"

#if defined(__TARGET_ARCH_x86)
#define ARG1(regs)   ((regs)->di)
#define ARG2(regs)   ((regs)->si)
#define ARG3(regs)   ((regs)->dx)
#define RESULT(regs) ((regs)->ax)
#else
#define ARG1(r)   ((r)->regs[0])
#define ARG2(r)   ((r)->regs[1])
#define ARG3(r)   ((r)->regs[2])
#define RESULT(r) ((r)->regs[0])
#endif

enum { MALLOC = 1, REALLOC };

struct asked {
	uint64_t bytes, old;
	uint32_t kind, inner;
};
/* By thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, struct asked);
} heap_asked SEC(".maps");

static __always_inline int enter(uint32_t kind, uint64_t bytes, uint64_t old)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	struct asked *outer = bpf_map_lookup_elem(&heap_asked, &tid);
	if (outer) {
		outer->inner++;
	} else {
		struct asked a = {.bytes = bytes, .old = old, .kind = kind};
		bpf_map_update_elem(&heap_asked, &tid, &a, BPF_ANY);
	}
	return 0;
}

static __always_inline int leave(void *ctx, uint64_t address)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	struct asked *a = bpf_map_lookup_elem(&heap_asked, &tid);
	struct kbpf_who who;
	if (!a) {
		return 0;
	}
	if (a->inner > 0) {
		a->inner--;
		return 0;
	}
	struct kbpf_heap h = {.address = address, .bytes = a->bytes, .old = a->old};
	/* realloc() to nothing frees. */
	bool frees = a->kind == REALLOC && h.old && !h.address && !h.bytes;
	uint32_t hook = frees ? KBPF_HEAP_FREE : a->kind == REALLOC && h.old ? KBPF_HEAP_REALLOC : KBPF_HEAP_ALLOC;
	bpf_map_delete_elem(&heap_asked, &tid);
	if (frees) {
		h.address = h.old;
	}
	if (h.address && kbpf_wanted(hook, &who)) {
		kbpf_write(ctx, &who, KBPF_SLOT_HEAP_LEAVE, &h, sizeof h);
	}
	return 0;
}

SEC("uprobe")
int kbpf_malloc(struct pt_regs *ctx)
{
	return enter(MALLOC, ARG1(ctx), 0);
}

SEC("uprobe")
int kbpf_calloc(struct pt_regs *ctx)
{
	return enter(MALLOC, ARG1(ctx) * ARG2(ctx), 0);
}

SEC("uprobe")
int kbpf_memalign(struct pt_regs *ctx)
{
	return enter(MALLOC, ARG2(ctx), 0);
}

SEC("uprobe")
int kbpf_realloc(struct pt_regs *ctx)
{
	return enter(REALLOC, ARG2(ctx), ARG1(ctx));
}

SEC("uretprobe")
int kbpf_heap_return(struct pt_regs *ctx)
{
	return leave(ctx, RESULT(ctx));
}

/* Says where by a pointer, and returns 0 when it could. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, uint64_t);
} heap_where SEC(".maps");

SEC("uprobe")
int kbpf_posix_memalign(struct pt_regs *ctx)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	uint64_t where = ARG1(ctx), bytes = ARG3(ctx);
	bpf_map_update_elem(&heap_where, &tid, &where, BPF_ANY);
	return enter(MALLOC, bytes, 0);
}

SEC("uretprobe")
int kbpf_posix_memalign_return(struct pt_regs *ctx)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	uint64_t *where = bpf_map_lookup_elem(&heap_where, &tid), address = 0;
	if (where && (int)RESULT(ctx) == 0) {
		bpf_probe_read_user(&address, sizeof address, (void *)*where);
	}
	return leave(ctx, address);
}

SEC("uprobe")
int kbpf_heap_free(struct pt_regs *ctx)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	uint64_t address = ARG1(ctx);
	struct kbpf_heap h = {.address = address};
	struct kbpf_who who;
	if (address && !bpf_map_lookup_elem(&heap_asked, &tid) && kbpf_wanted(KBPF_HEAP_FREE, &who)) {
		kbpf_write(ctx, &who, KBPF_SLOT_HEAP_FREE, &h, sizeof h);
	}
	return 0;
}
