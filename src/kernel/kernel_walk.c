/* SPDX-License-Identifier: MIT
 *
 * The user part of stacks, and the identity of images: both come from the files that processes map.
 */
#include "kernel/kernel_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct kernel_walk *kernel_walk_create(void)
{
	struct kernel_walk *w = calloc(1, sizeof *w);
	struct rlimit files;
	if (w && !(w->unwind = unwind_create())) {
		free(w);
		return NULL;
	}
	/* Files stay open until their names have been written: they may be deleted meanwhile. */
	if (w && getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return w;
}

void kernel_walk_destroy(struct kernel_walk *w)
{
	if (w) {
		unwind_destroy(w->unwind);
		kernel_jit_free(w);
		free(w->seen);
		map_free(&w->places);
	}
	free(w);
}

struct unwind *kernel_walk_unwind(struct kernel_walk *w)
{
	return w->unwind;
}

void kernel_walk_finish(struct kernel_walk *w, struct kernel_perf_record *p)
{
	if (p->user && p->frames < KERNEL_FRAMES_MAX) {
		p->frames += unwind_walk(w->unwind, p->pid, &p->regs, p->stack, p->stack_bytes, p->frame + p->frames,
					 KERNEL_FRAMES_MAX - p->frames);
		p->user = false;
	}
}

void kernel_walk_forget(struct kernel_walk *w)
{
	struct unwind *fresh = unwind_create();
	if (fresh) {
		unwind_destroy(w->unwind);
		w->unwind = fresh;
	}
	kernel_jit_free(w);
	w->seen_count = 0;
	map_free(&w->places);
	w->full = false;
	memset(w->recent, 0, sizeof w->recent);
}

void kernel_walk_identify(struct kernel_walk *w, uint32_t pid, uint64_t code, const char *path, uint64_t *inout_base,
			  uint64_t *inout_bytes, struct kernel_build *inout_build)
{
	struct unwind_module m;
	if (unwind_module_at(w->unwind, pid, code, &m) && strcmp(m.path, path) == 0) {
		*inout_base = m.base;
		*inout_bytes = m.span;
		if (m.build_id_bytes) {
			inout_build->n = (uint8_t)BASE_MIN(m.build_id_bytes, KERNEL_BUILD_ID);
			memcpy(inout_build->id, m.build_id, inout_build->n);
		}
	}
}
