/* SPDX-License-Identifier: MIT
 *
 * Forks, execs and ends of processes, as Windows would see them: an exec ends the old program and
 * starts the new one, with the images of each.
 */
#include "kernel/kernel_bpf.h"
#include "kernel/kernel_process.h"

#include "kernel/bpf/kbpf_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASK_NAME_MAX      15u
#define HOOK_PROCESS_START 0x0301u
#define HOOK_PROCESS_END   0x0302u
#define HOOK_TERMINATE     0x030Bu
#define HOOK_COUNTERS      0x0320u
#define HOOK_IMAGE_LOAD    0x030Au
#define HOOK_IMAGE_UNLOAD  0x1402u
#define HOOK_THREAD_START  0x0501u
#define HOOK_THREAD_END    0x0502u
#define STILL_ALIVE        0x103
#define SIGNALLED          128
#define EXIT_TAKES_NS      1000000u

static bool told_of(struct kernel *k, unsigned hook, uint64_t time)
{
	return kernel_tracepoints_tells(k->tracepoints, hook, time);
}

static void unload_all(struct kernel *k, struct kernel_process *p, uint64_t time, uint16_t cpu)
{
	for (uint32_t i = 0; i < p->images; i++) {
		const struct kernel_image *m = &p->image[i];
		if (m->told) {
			kernel_emit_image(k, 0, HOOK_IMAGE_UNLOAD, time, cpu, p->pid, m->base, m->bytes, &m->build,
					  m->path);
		}
	}
}

static void load(struct kernel *k, struct kernel_process *p, struct kernel_image *m)
{
	m->told = true;
	kernel_emit_image(k, 0, HOOK_IMAGE_LOAD, m->time, m->cpu, p->pid, m->base, m->bytes, &m->build, m->path);
}

void kernel_on_fork(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint32_t parent)
{
	kernel_tracepoints_forked(k->tracepoints, parent, pid);
	kernel_process_remove(k->processes, pid); /* of the same number, whose end was not told */
	bool known = kernel_process_find(k->processes, parent) != NULL;
	if (!known) {
		kernel_process_learn(k, parent); /* the rundown has not come to it yet */
	}
	if (!kernel_process_find(k->processes, parent)) {
		kernel_process_learn(k, pid); /* its parent is gone: what it says of itself */
	}
	struct kernel_process *p = kernel_process_get(k->processes, pid);
	struct kernel_process *from = kernel_process_find(k->processes, parent);
	if (!p) {
		return;
	}
	if (from || !p->name[0]) {
		kernel_process_set(p, parent, from ? from->uid : 0, from ? from->name : "", from ? from->line : NULL);
	}
	if (from && from->owner != KERNEL_NO_ID && time >= from->owned_since) {
		p->owner = from->owner; /* with the same credentials */
	}
	if (!known || (from && from->owner != p->owner)) {
		kernel_confine_learn(k, p);
	}
	kernel_emit_process(k, 0, HOOK_PROCESS_START, time, cpu, p, STILL_ALIVE);
	for (uint32_t i = 0; from && i < from->images; i++) {
		const struct kernel_image *m = &from->image[i];
		struct kernel_image *mine = m->told ? kernel_process_add_image(p, m->base, m->bytes, m->code,
									       m->code_end, &m->build, m->path)
						    : NULL;
		if (mine) {
			mine->time = time;
			mine->cpu = cpu;
			load(k, p, mine);
		}
	}
}

/* ---- exec -------------------------------------------------------------------------------------
 */

/* The kernel's name of a program has 15 letters; of one that is gone already, its file has them all. */
static void whole_name(const struct kernel_process *p, char *name, size_t cap)
{
	size_t n = strlen(name);
	for (uint32_t i = 0; n == TASK_NAME_MAX && i < p->images; i++) {
		const char *base = strrchr(p->image[i].path, '/');
		if (base && strncmp(base + 1, name, n) == 0) {
			snprintf(name, cap, "%s", base + 1);
			return;
		}
	}
}

static void finish_exec(struct kernel *k, struct kernel_process *p, uint32_t uid, uint32_t owner, const char *line,
			uint32_t old_tid)
{
	char name[64];
	uint32_t old = 0;
	p->exec.waits = false;
	p->owner = p->exec.owner;
	kernel_emit_thread(k, 0, HOOK_THREAD_END, p->exec.time, p->exec.cpu, p->pid, old_tid, "");
	if (old_tid != p->pid) {
		kernel_table_remove(k->threads, old_tid);
		kernel_ended_not(k, p->pid);
		(void)kernel_thread_of(k, p->pid, p->pid); /* ended, and is there again */
	}
	unload_all(k, p, p->exec.time, p->exec.cpu);
	kernel_emit_process(k, 0, HOOK_PROCESS_END, p->exec.time, p->exec.cpu, p, 0);
	p->owner = owner;
	p->owned_since = 0;
	/* What came since then is the new program's. */
	while (old < p->images && p->image[old].told) {
		free(p->image[old++].path);
	}
	p->images -= old;
	if (p->images) { /* of nothing, there may be no list */
		memmove(p->image, p->image + old, p->images * sizeof *p->image);
	}
	kernel_read_name(p->pid, p->exec.name, name, sizeof name);
	whole_name(p, name, sizeof name);
	kernel_process_set(p, p->parent, uid, name, line);
	kernel_emit_process(k, 0, HOOK_PROCESS_START, p->exec.time, p->exec.cpu, p, STILL_ALIVE);
	kernel_emit_thread(k, 0, HOOK_THREAD_START, p->exec.time, p->exec.cpu, p->pid, p->exec.tid, p->exec.name);
	for (uint32_t i = 0; i < p->images; i++) {
		load(k, p, &p->image[i]);
	}
}

static void finish_exec_from_proc(struct kernel *k, struct kernel_process *p)
{
	char line[900], path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%u", p->pid);
	kernel_read_line(p->pid, line, sizeof line);
	/* Whose it was then, nobody can say any more. */
	finish_exec(k, p, stat(path, &st) == 0 ? st.st_uid : p->uid, KERNEL_NO_ID, line, p->pid);
}

void kernel_on_exec(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint32_t tid, const char *name)
{
	struct kernel_process *p = kernel_process_get(k->processes, pid);
	if (!p) {
		return;
	}
	if (p->exec.waits) { /* its record was lost */
		finish_exec_from_proc(k, p);
	}
	p->exec.waits = true;
	p->exec.owner = p->owner;
	p->owner = KERNEL_NO_ID;
	p->exec.time = time;
	p->exec.cpu = cpu;
	p->exec.tid = tid;
	snprintf(p->exec.name, sizeof p->exec.name, "%s", name);
	if (!told_of(k, KBPF_EXEC, time)) {
		finish_exec_from_proc(k, p);
	}
}

void kernel_on_image(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint64_t base, uint64_t bytes,
		     uint64_t code, uint64_t code_end, const struct kernel_build *build, const char *path)
{
	struct kernel_process *p = kernel_process_get(k->processes, pid);
	struct kernel_image *m = NULL;
	if (p && p->exec.waits) {
		/* The old program's images stay where they are: those that were told. */
		for (uint32_t i = 0; i < p->images; i++) {
			if (p->image[i].told && p->image[i].base == base) {
				p->image[i].base = 1; /* no address of an image */
			}
		}
	}
	m = p ? kernel_process_add_image(p, base, bytes, code, code_end, build, path) : NULL;
	if (!m) {
		kernel_emit_image(k, 0, HOOK_IMAGE_LOAD, time, cpu, pid, base, bytes, build, path);
		return;
	}
	m->time = time;
	m->cpu = cpu;
	m->build = *build;
	if (!p->exec.waits) {
		load(k, p, m);
	}
}

/* ---- end --------------------------------------------------------------------------------------
 */

static void finish(struct kernel *k, struct kernel_process *p, uint64_t time, uint16_t cpu, uint32_t tid)
{
	if (p->exec.waits) {
		finish_exec_from_proc(k, p);
	}
	if (p->end.known) {
		struct kernel_counters c = {
			.pid = p->pid, .faults = (uint32_t)p->end.faults, .peak_working = p->end.peak_bytes};
		kernel_emit_counters(k, 0, HOOK_COUNTERS, time, cpu, &c);
	}
	kernel_tracepoints_ended(k->tracepoints, p->pid);
	unload_all(k, p, time, cpu);
	struct kernel_record r = {
		.hook = HOOK_TERMINATE, .version = 2, .cpu = cpu, .time = time, .pid = p->pid, .tid = tid};
	kernel_put(&r, p->pid, 4);
	kernel_out(k, &r);
	kernel_emit_process(k, 0, HOOK_PROCESS_END, time, cpu, p, p->end.status);
	kernel_process_remove(k->processes, p->pid);
}

void kernel_on_thread_exit(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint32_t tid, uint32_t parent)
{
	/* The record of the end comes before this one: it may have been too early to be told. */
	bool told = told_of(k, KBPF_EXIT, time - BASE_MIN(time, EXIT_TAKES_NS));
	struct kernel_process *p =
		told ? kernel_process_find(k->processes, pid) : kernel_process_get(k->processes, pid);
	if (!p) {
		return;
	}
	p->parent = p->parent ? p->parent : parent;
	/* The first thread is not always the last. */
	if (p->end.known ? p->end.tid == tid : !told && pid == tid) {
		finish(k, p, time, cpu, tid);
	}
}

/* ---- what BPF tells ----------------------------------------------------------------------------
 */

static bool on_exec_record(struct kernel *k, const struct kbpf_record *raw)
{
	const struct kbpf_exec *e = (const void *)(raw + 1);
	char line[KBPF_ARGS_MAX + 1];
	if (raw->bytes < sizeof *e || e->bytes > KBPF_ARGS_MAX || raw->bytes < sizeof *e + e->bytes) {
		return false;
	}
	memcpy(line, e + 1, e->bytes);
	size_t n = e->bytes;
	while (n > 0 && line[n - 1] == 0) {
		n--;
	}
	for (size_t i = 0; i < n; i++) {
		line[i] = line[i] ? line[i] : ' ';
	}
	line[n] = 0;
	struct kernel_process *p = kernel_process_find(k->processes, raw->pid);
	if (p && p->exec.waits) {
		finish_exec(k, p, e->uid, e->owner, line, e->old_tid);
	}
	return false;
}

static bool on_exit_record(struct kernel *k, const struct kbpf_record *raw)
{
	const struct kbpf_exit *e = (const void *)(raw + 1);
	if (raw->bytes < sizeof *e || (raw->flags & KBPF_KERNEL_THREAD)) {
		return false;
	}
	struct kernel_process *p = kernel_process_get(k->processes, raw->pid);
	if (p) {
		p->parent = p->parent ? p->parent : e->parent;
		if (!p->name[0]) { /* it went before the rundown came */
			char name[sizeof e->name + 1] = "";
			memcpy(name, e->name, sizeof e->name);
			kernel_process_set(p, p->parent, e->uid, name, NULL);
		}
		p->end.known = true;
		p->end.tid = raw->tid;
		p->end.status = e->code & 0x7F ? SIGNALLED + (e->code & 0x7F) : e->code >> 8 & 0xFF;
		p->end.faults = e->faults;
		p->end.peak_bytes = e->peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
		/* The thread's own record was read before this one. */
		if (!kernel_table_find(k->threads, raw->tid)) {
			finish(k, p, raw->time, raw->cpu, raw->tid);
		}
	}
	return false;
}

/* Which images does what is unmapped take along? */
static bool mark_in_range(const struct kernel_process *p, const struct kbpf_unload *u, bool *gone)
{
	bool any = false;
	for (uint32_t i = 0; i < p->images; i++) {
		const struct kernel_image *m = &p->image[i];
		gone[i] = u->address <= m->code && m->code_end <= u->address + u->bytes;
		any = any || gone[i];
	}
	return any;
}

/* Which images are not there any more? What is mapped by now may have come later, and is announced by
 * its own record. */
static bool mark_missing(const struct kernel_process *p, bool *gone)
{
	char path[64], line[4096 + 128], name[4096];
	bool any = false;
	snprintf(path, sizeof path, "/proc/%u/maps", p->pid);
	FILE *f = fopen(path, "re");
	for (uint32_t i = 0; i < p->images; i++) {
		gone[i] = true;
	}
	while (f && fgets(line, sizeof line, f)) {
		unsigned long long from;
		if (sscanf(line, "%llx-%*x %*s %*s %*s %*u %4095[^\n]", &from, name) != 2) {
			continue;
		}
		any = true;
		for (uint32_t i = 0; i < p->images; i++) {
			const struct kernel_image *m = &p->image[i];
			gone[i] = gone[i] &&
				  !(from >= m->base && from - m->base < m->bytes && strcmp(m->path, name) == 0);
		}
	}
	if (f) {
		fclose(f);
	}
	return any;
}

static bool on_unload_record(struct kernel *k, const struct kbpf_record *raw)
{
	const struct kbpf_unload *u = (const void *)(raw + 1);
	struct kernel_process *p = kernel_process_find(k->processes, raw->pid);
	if (raw->bytes < sizeof *u || !p || p->images == 0 || p->exec.waits) {
		return false;
	}
	bool *gone = calloc(p->images, sizeof *gone);
	uint32_t kept = 0, n = p->images;
	if (gone && (u->bytes ? mark_in_range(p, u, gone) : mark_missing(p, gone))) {
		for (uint32_t i = 0; i < n; i++) {
			struct kernel_image *m = &p->image[i];
			/* One that came after that moment is another's business. */
			if (!gone[i] || !m->told || m->time > raw->time) {
				p->image[kept++] = *m;
				continue;
			}
			kernel_emit_image(k, 0, HOOK_IMAGE_UNLOAD, raw->time, raw->cpu, p->pid, m->base, m->bytes,
					  &m->build, m->path);
			free(m->path);
		}
		p->images = kept;
	}
	free(gone);
	return false;
}

bool kernel_process_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	(void)state;
	if (raw->hook == KBPF_UNLOAD) {
		return on_unload_record(k, raw);
	}
	return raw->hook == KBPF_EXEC ? on_exec_record(k, raw) : on_exit_record(k, raw);
}
