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
		free(w->slot);
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
		p->frames += unwind_walk(w->unwind, p->pid, &p->regs, p->stack, p->stack_bytes,
					 p->frame + p->frames, KERNEL_FRAMES_MAX - p->frames);
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
	free(w->slot);
	w->slot = NULL;
	w->cap = w->used = 0;
	w->full = false;
	memset(w->recent, 0, sizeof w->recent);
}

/* ImageID, DbgID_RSDS: the build id where Windows has the GUID of the symbol file. It has the time of
 * the Image record that it is about. */
static void emit_debug_id(struct kernel *k, uint64_t sessions, uint64_t time, uint16_t cpu, uint32_t pid,
			  const struct unwind_module *m)
{
	static const struct guid image_id = {{0xd7, 0x75, 0xe6, 0xb3, 0x54, 0x25, 0x18, 0x4f, 0x83, 0x0b,
					      0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};
	enum { RSDS = 36, AGE = 1, GUID_BYTES = 16 };
	char name[256];
	const char *slash = strrchr(m->path, '/');
	if (m->build_id_bytes < GUID_BYTES || !sessions) {
		return;
	}
	struct kernel_record r = {.hook = RSDS,
				  .class = &image_id,
				  .cpu = cpu,
				  .time = time,
				  .pid = pid,
				  .tid = pid,
				  .sessions = sessions};
	snprintf(name, sizeof name, "%.250s.pdb", slash ? slash + 1 : m->path);
	kernel_put(&r, m->base, 8);
	kernel_put(&r, pid, 4);
	for (unsigned i = 0; i < GUID_BYTES; i++) {
		kernel_put(&r, m->build_id[i], 1);
	}
	kernel_put(&r, AGE, 4);
	kernel_put_text(&r, name, sizeof name);
	kernel_out(k, &r);
}

void kernel_walk_image(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu,
		       uint32_t pid, uint64_t code, uint64_t base, uint64_t bytes, const char *path)
{
	struct unwind_module m;
	if (!sessions) {
		return;
	}
	bool known = unwind_module_at(k->walk->unwind, pid, code, &m) && strcmp(m.path, path) == 0;
	kernel_emit_image(k, sessions, hook, time, cpu, pid, known ? m.base : base, known ? m.span : bytes,
			  known && m.build_id_bytes >= 8 ? m.build_id : NULL, path);
	if (known) {
		emit_debug_id(k, sessions, time, cpu, pid, &m);
	}
}
