/* SPDX-License-Identifier: MIT
 *
 * What is known of processes: who they are, said again when they end, and the images in them, said
 * again by a fork and unloaded by an exec or an end. Linux has neither record for those.
 *
 * Where BPF tells of execs and exits, an exec waits for the arguments and an end for its status:
 * they come in another ring, at about the same time.
 */
#ifndef KERNEL_KERNEL_PROCESS_H
#define KERNEL_KERNEL_PROCESS_H

#include "kernel/kernel_private.h"

#define KERNEL_BUILD_ID 20u

struct kernel_build {
	uint8_t id[KERNEL_BUILD_ID];
	uint8_t n; /* 0: none */
};
/* Of the bytes of an ELF note section, such as /sys/kernel/notes. */
struct kernel_build kernel_build_of_notes(const uint8_t *p, size_t n);
/* The same out of a file of notes; n is 0 when there is none. */
struct kernel_build kernel_build_read(const char *path);

struct kernel_image {
	uint64_t base, bytes, time;
	uint64_t code, code_end; /* what of it is mapped to be run */
	struct kernel_build build;
	uint16_t cpu;
	bool told;
	char *path;
};

struct kernel_process {
	uint32_t pid, parent, uid;
	/* Who may watch it without rights: KERNEL_NO_ID nobody. Known of what happens from then on. */
	uint32_t owner;
	uint64_t owned_since;
	char name[64];
	char *line; /* arguments; may be NULL */
	struct kernel_image *image;
	uint32_t images, cap;
	struct { /* that waits for its arguments */
		bool waits;
		uint32_t tid;
		uint64_t time;
		uint16_t cpu;
		char name[64];
		uint32_t owner; /* of the old program */
	} exec;
	struct { /* that was announced */
		bool known;
		uint32_t tid; /* the last thread */
		int status;
		uint64_t faults, peak_bytes;
	} end;
};

struct kernel_processes;
struct kernel_processes *kernel_processes_create(void);
void kernel_processes_destroy(struct kernel_processes *t);
struct kernel_process *kernel_process_find(struct kernel_processes *t, uint32_t pid);
/* Found or made; NULL: no memory. */
struct kernel_process *kernel_process_get(struct kernel_processes *t, uint32_t pid);
void kernel_process_remove(struct kernel_processes *t, uint32_t pid);
void kernel_processes_each(struct kernel_processes *t, void (*fn)(void *ctx, struct kernel_process *p), void *ctx);
void kernel_process_clear_images(struct kernel_process *p);
void kernel_process_set(struct kernel_process *p, uint32_t parent, uint32_t uid, const char *name, const char *line);
/* Adds, or makes an image that is there bigger. Valid until the next. NULL: no memory. */
struct kernel_image *kernel_process_add_image(struct kernel_process *p, uint64_t base, uint64_t bytes, uint64_t code,
					      uint64_t code_end, const struct kernel_build *build, const char *path);

/* ---- what happens to them, as events ------------------------------------------------------------
 */

void kernel_on_fork(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint32_t parent);
void kernel_on_exec(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint32_t tid, const char *name);
void kernel_on_image(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint64_t base, uint64_t bytes,
		     uint64_t code, uint64_t code_end, const struct kernel_build *build, const char *path);
/* Of a thread, after its own end was told. */
void kernel_on_thread_exit(struct kernel *k, uint64_t time, uint16_t cpu, uint32_t pid, uint32_t tid, uint32_t parent);

/* ---- records ----------------------------------------------------------------------------------
 */

/* sessions 0: who wants it. */
void kernel_emit_process(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu,
			 const struct kernel_process *p, int status);
/* With what a merge would add on Windows: the identity of the file, at the same time. */
void kernel_emit_image(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
		       uint64_t base, uint64_t bytes, const struct kernel_build *build, const char *path);
/* PerfCtr or PerfCtrRundown. */
struct kernel_counters {
	uint32_t pid, faults, handles;
	uint64_t peak_virtual, peak_working, peak_pagefile, virtual, working, pagefile, private_bytes;
};
void kernel_emit_counters(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu,
			  const struct kernel_counters *c);

/* ---- /proc ------------------------------------------------------------------------------------
 */

/* The arguments as one line; "" when there are none, or the process is gone. */
void kernel_read_line(uint32_t pid, char *out, size_t cap);
/* What /proc says of a process, as the rundown would take it; nothing when it is gone. */
void kernel_process_learn(struct kernel *k, uint32_t pid);
/* The file's name when it begins with what the thread is called by, of which only 15 bytes are
 * kept; else that. */
void kernel_read_name(uint32_t pid, const char *comm, char *out, size_t cap);
bool kernel_read_counters(uint32_t pid, struct kernel_counters *ret);

#endif
