/* SPDX-License-Identifier: MIT
 *
 * Stacks that BPF programs sent, by the number made of their content (kbpf_core.h). What finds
 * the callers of a user stack is kept as it came until an event wants it: by then everything that the process had mapped
 * is known. After that only the addresses are kept.
 */
#include "kernel/kernel_bpf.h"
#include "base/vec.h"

#include "kernel/kernel_walk.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS (1u << 16)
#define USED  (SLOTS / 2)

struct stack {
	uint64_t id;
	uint32_t pid;
	uint32_t frames;             /* when `raw` is NULL */
	struct kbpf_user_stack *raw; /* cut behind its copy */
	uint64_t *frame;
};
struct kernel_stacks {
	struct stack slot[SLOTS];
	uint32_t used, owns, own_cap;
	struct own {
		uint64_t start, end;
	} * own;
};

static void clear(struct kernel_stacks *s)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		free(s->slot[i].raw);
		free(s->slot[i].frame);
	}
	memset(s->slot, 0, sizeof s->slot);
	s->used = 0;
}

/* ---- the way from a tracepoint to a program is nobody's stack ------------------------------------- */

/* Where the functions are that call programs. */
static void read_own(struct kernel_stacks *s)
{
	static const char *const prefix[] = {"bpf_trace_run", "__bpf_trace_", "__traceiter_"};
	char line[512], name[256], kind;
	unsigned long long address;
	struct own *open = NULL;
	FILE *f = fopen("/proc/kallsyms", "re");
	while (f && fgets(line, sizeof line, f)) {
		bool is_text = sscanf(line, "%llx %c %255s", &address, &kind, name) == 3 && address &&
			       (kind == 't' || kind == 'T');
		if (is_text && open) {
			open->end = address > open->start ? address : open->start;
			open = NULL;
		}
		for (size_t i = 0; is_text && i < BASE_ARRAY_LEN(prefix); i++) {
			if (strncmp(name, prefix[i], strlen(prefix[i])) == 0 && VEC_ROOM(s->own, s->owns, s->own_cap)) {
				open = &s->own[s->owns++];
				*open = (struct own){address, address + 1};
			}
		}
	}
	if (f) {
		fclose(f);
	}
}

static uint32_t own_frames(const struct kernel_stacks *s, const uint64_t *frames, uint32_t count)
{
	uint32_t n = BASE_MIN(count, 1u); /* the program */
	for (bool own = true; own && n < count; n += own) {
		own = s->owns == 0 && n == 1; /* addresses are hidden: as it is on most kernels */
		for (uint32_t i = 0; i < s->owns && !own; i++) {
			own = frames[n] > s->own[i].start && frames[n] <= s->own[i].end;
		}
	}
	return n;
}

uint32_t kernel_stacks_skip(const struct kernel_stacks *s, const struct kbpf_record *record)
{
	return record->hook == KBPF_FAULT_HARD ? 0 : own_frames(s, kernel_bpf_frames(record), record->kernel_frames);
}

struct kernel_stacks *kernel_stacks_create(void)
{
	struct kernel_stacks *s = calloc(1, sizeof *s);
	if (s) {
		read_own(s);
	}
	return s;
}

void kernel_stacks_destroy(struct kernel_stacks *s)
{
	if (s) {
		clear(s);
		free(s->own);
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

/* The kernel's part of a record, which later ones may refer to. */
static bool add_kernel(struct kernel_stacks *s, const struct kbpf_record *record)
{
	const uint64_t *frames = kernel_bpf_frames(record);
	uint64_t id = frames[record->frames];
	uint32_t skip = kernel_stacks_skip(s, record), n = record->kernel_frames - skip;
	bool cleared = s->used >= USED;
	if (cleared) {
		clear(s);
	}
	struct stack *e = place(s, id);
	uint64_t *copy = id ? malloc(n * sizeof *copy + 8) : NULL;
	if (copy) {
		memcpy(copy, frames + skip, n * sizeof *copy);
		s->used += e->id == 0;
		free(e->raw);
		free(e->frame);
		*e = (struct stack){.id = id, .frame = copy, .frames = n};
	}
	return cleared;
}

bool kernel_stacks_add(struct kernel_stacks *s, const struct kbpf_record *record)
{
	if (record->hook != KBPF_USER_STACK) {
		return add_kernel(s, record);
	}
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

uint32_t kernel_stacks_find(struct kernel_stacks *s, struct kernel *k, uint64_t id, uint64_t *frames, uint32_t max)
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
		e->frames = unwind_walk(kernel_walk_unwind(k->walk), e->pid, &regs, e->raw->stack, e->raw->bytes, found,
					KERNEL_FRAMES_MAX);
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
