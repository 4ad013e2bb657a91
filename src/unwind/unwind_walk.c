/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_private.h"

#include <stdlib.h>

struct unwind *unwind_create(void)
{
	struct unwind *u = calloc(1, sizeof *u);
	if (u && (!(u->kept = calloc(UNWIND_ROWS, sizeof *u->kept)) ||
		  !(u->recent = calloc(UNWIND_RECENT, sizeof *u->recent)))) {
		free(u->kept);
		free(u);
		u = NULL;
	}
	if (u) {
		u->root = -1;
		unwind_shares_init(&u->shares);
	}
	return u;
}

void unwind_destroy(struct unwind *u)
{
	if (u) {
		unwind_spaces_free(u);
		unwind_files_free(u);
		unwind_shares_finish(&u->shares);
		free(u->kept);
		free(u->recent);
	}
	free(u);
}

static const struct unwind_row *row_in(struct unwind *u, const struct unwind_table *t, uint64_t pc,
				       uint32_t *inout_steps)
{
	uint64_t h = (pc ^ (uint64_t)(uintptr_t)t >> 4) * 0x9E3779B97F4A7C15ull;
	struct unwind_kept *k = &u->kept[h >> 51];
	_Static_assert(UNWIND_ROWS == 1u << (64 - 51), "the shift above");
	if (k->table == t && k->pc == pc) {
		u->stats.known++;
		return &k->row;
	}
	if (!unwind_table_row(t, pc, inout_steps, &k->row)) {
		k->table = NULL;
		return NULL;
	}
	k->table = t;
	k->pc = pc;
	return &k->row;
}

/* Frame pointers: the caller's, and the way back, lie where this one points. */
static bool by_frame_pointer(const struct unwind_space *s, const struct unwind_stack *m, struct unwind_regs *regs)
{
	uint64_t fp = regs->r[UNWIND_FP], next, pc;
	if (fp < regs->r[UNWIND_SP] || (fp & 7) || !unwind_stack_read(m, fp, 8, &next) ||
	    !unwind_stack_read(m, fp + 8, 8, &pc) || !unwind_mapping_at(s, pc)) {
		return false;
	}
	regs->r[UNWIND_FP] = next;
	regs->r[UNWIND_SP] = fp + 16;
	regs->r[UNWIND_PC] = pc;
	return true;
}

static bool place(struct unwind_mapping *w, uint64_t *ret_bias)
{
	uint64_t linked;
	if (!w->placed) {
		if (!w->file || !unwind_content_linked(w->file->content, w->offset, &linked)) {
			return false;
		}
		w->bias = w->start - linked;
		w->placed = true;
	}
	*ret_bias = w->bias;
	return true;
}

enum found { FOUND_NOTHING, FOUND_END, FOUND_CALLER };

static enum found caller(struct unwind *u, struct unwind_space *s, const struct unwind_stack *m,
			 struct unwind_regs *regs, bool *called, uint32_t *inout_steps)
{
	/* Behind a call that never returns the next function begins: look at the call itself. */
	uint64_t pc = regs->r[UNWIND_PC] - (*called ? 1 : 0), bias;
	struct unwind_mapping *map = unwind_mapping_at(s, pc);
	if (!map) {
		return FOUND_NOTHING;
	}
	if (map->file && place(map, &bias)) {
		unwind_file_tables(u, s, map->file);
		for (unsigned i = 0; i < 2; i++) {
			const struct unwind_table *t = map->file->content->table[i];
			const struct unwind_row *row = t ? row_in(u, t, pc - bias, inout_steps) : NULL;
			if (row) {
				*called = !row->signal;
				switch (unwind_row_apply(t, row, m, regs)) {
				case STEP_DONE: return FOUND_CALLER;
				case STEP_OUTERMOST: return FOUND_END;
				default: return FOUND_NOTHING;
				}
			}
		}
	}
	*called = true;
	return by_frame_pointer(s, m, regs) ? FOUND_CALLER : FOUND_NOTHING;
}

uint32_t unwind_walk(struct unwind *u, uint32_t pid, const struct unwind_regs *regs, const uint8_t *stack,
		     uint32_t stack_bytes, uint64_t *frames, uint32_t max)
{
	struct unwind_space *s = unwind_space_of(u, pid);
	struct unwind_stack m = {regs->r[UNWIND_SP], stack, stack_bytes};
	struct unwind_regs r = *regs;
	bool called = false;
	uint32_t n = 0, steps = UNWIND_STEPS_MAX;
	u->stats.stacks++;
	while (n < max) {
		frames[n++] = r.r[UNWIND_PC];
		enum found f = s ? caller(u, s, &m, &r, &called, &steps) : FOUND_NOTHING;
		if (f != FOUND_CALLER) {
			u->stats.whole += f == FOUND_END;
			break;
		}
	}
	u->stats.frames += n;
	u->stats.cut += steps == 0;
	return n;
}

bool unwind_module_at(struct unwind *u, uint32_t pid, uint64_t address, struct unwind_module *ret)
{
	struct unwind_mapping *m = unwind_mapping_at(unwind_space_of(u, pid), address);
	uint64_t bias;
	if (!m || !m->file || !place(m, &bias)) {
		return false;
	}
	const struct unwind_content *c = m->file->content;
	*ret = (struct unwind_module){
		.path = m->file->path,
		.build_id = c->build_id,
		.build_id_bytes = c->build_id_bytes,
		.base = bias + c->first,
		.span = c->span,
		.file = m->file->number,
	};
	return true;
}

void unwind_stats(const struct unwind *u, struct unwind_stats *ret)
{
	*ret = u->stats;
	ret->files = u->file_count - u->free_numbers;
	ret->table_bytes = u->shares.used[UNWIND_TABLES];
	ret->open = (uint32_t)u->shares.used[UNWIND_OPEN];
}
