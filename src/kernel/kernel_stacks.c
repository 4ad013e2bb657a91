/* SPDX-License-Identifier: MIT
 *
 * User stacks that BPF programs sent, by the number made of their content (kbpf_user_stack). What finds
 * the callers is kept as it came until an event wants it: by then everything that the process had mapped
 * is known. After that only the addresses are kept.
 */
#include "kernel/kernel_bpf.h"

#include "kernel/kernel_walk.h"

#include <stdlib.h>

#define SLOTS (1u << 16)
#define USED  (SLOTS / 2)

struct stack {
	uint64_t id;
	uint32_t pid;
	uint32_t frames;	      /* when `raw` is NULL */
	struct kbpf_user_stack *raw; /* cut behind its copy */
	uint64_t *frame;
};
struct kernel_stacks {
	struct stack slot[SLOTS];
	uint32_t used;
};

struct kernel_stacks *kernel_stacks_create(void)
{
	return calloc(1, sizeof(struct kernel_stacks));
}

static void clear(struct kernel_stacks *s)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		free(s->slot[i].raw);
		free(s->slot[i].frame);
	}
	memset(s, 0, sizeof *s);
}

void kernel_stacks_destroy(struct kernel_stacks *s)
{
	if (s) {
		clear(s);
	}
	free(s);
}

static struct stack *place(struct kernel_stacks *s, uint64_t id)
{
	uint32_t i = (uint32_t)(id >> 8) & (SLOTS - 1);
	while (s->slot[i].id != 0 && s->slot[i].id != id) {
		i = (i + 1) & (SLOTS - 1);
	}
	return &s->slot[i];
}

bool kernel_stacks_add(struct kernel_stacks *s, const struct kbpf_record *record)
{
	const struct kbpf_user_stack *u = (const void *)(record + 1);
	size_t head = offsetof(struct kbpf_user_stack, stack);
	bool cleared = false;
	if (record->bytes < head || u->id == 0 || u->bytes > record->bytes - head) {
		return false;
	}
	if (s->used >= USED) {
		clear(s);
		cleared = true;
	}
	struct stack *e = place(s, u->id);
	struct kbpf_user_stack *raw = malloc(head + u->bytes);
	if (!raw) {
		return cleared;
	}
	memcpy(raw, u, head + u->bytes);
	s->used += e->id == 0;
	free(e->raw);
	free(e->frame);
	*e = (struct stack){.id = u->id, .pid = record->pid, .raw = raw};
	return cleared;
}

uint32_t kernel_stacks_find(struct kernel_stacks *s, struct kernel *k, uint64_t id, uint64_t *frames,
			    uint32_t max)
{
	struct stack *e = place(s, id);
	if (e->id == 0) {
		return 0;
	}
	if (e->raw) {
		struct unwind_regs regs;
		uint64_t found[KERNEL_FRAMES_MAX];
		for (unsigned i = 0; i < UNWIND_REGS; i++) {
			regs.r[i] = e->raw->regs[i];
		}
		e->frames = unwind_walk(kernel_walk_unwind(k->walk), e->pid, &regs, e->raw->stack, e->raw->bytes,
					found, KERNEL_FRAMES_MAX);
		free(e->raw);
		e->raw = NULL;
		e->frame = malloc(e->frames * sizeof *found + 8);
		if (!e->frame) {
			e->frames = 0;
			return 0;
		}
		memcpy(e->frame, found, e->frames * sizeof *found);
	}
	uint32_t n = BASE_MIN(e->frames, max);
	memcpy(frames, e->frame, n * sizeof *frames);
	return n;
}
