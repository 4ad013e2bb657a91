/* SPDX-License-Identifier: MIT
 * The table of processes and of the images in them.
 */
#include "kernel/kernel_process.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>

#define IMAGES_MAX 4096u /* in one process; more are not remembered */

struct kernel_processes {
	struct map by_pid;
};

struct kernel_processes *kernel_processes_create(void)
{
	return calloc(1, sizeof(struct kernel_processes));
}

void kernel_process_clear_images(struct kernel_process *p)
{
	for (uint32_t i = 0; i < p->images; i++) {
		free(p->image[i].path);
	}
	p->images = 0;
}

static void destroy(struct kernel_process *p)
{
	kernel_process_clear_images(p);
	free(p->image);
	free(p->line);
	free(p);
}

void kernel_processes_destroy(struct kernel_processes *t)
{
	if (t) {
		MAP_ALL(&t->by_pid, at) {
			destroy(map_pointer(&t->by_pid, at));
		}
		map_free(&t->by_pid);
	}
	free(t);
}

struct kernel_process *kernel_process_find(struct kernel_processes *t, uint32_t pid)
{
	return map_find_pointer(&t->by_pid, pid);
}

struct kernel_process *kernel_process_get(struct kernel_processes *t, uint32_t pid)
{
	struct kernel_process *p = kernel_process_find(t, pid);
	if (!p && (p = calloc(1, sizeof *p)) != NULL) {
		p->pid = pid;
		p->owner = KERNEL_NO_ID;
		if (map_add_pointer(&t->by_pid, pid, p) < 0) {
			free(p);
			p = NULL;
		}
	}
	return p;
}

void kernel_process_remove(struct kernel_processes *t, uint32_t pid)
{
	size_t at = map_find(&t->by_pid, pid);
	if (at != MAP_NONE) {
		destroy(map_pointer(&t->by_pid, at));
		map_remove(&t->by_pid, at);
	}
}

void kernel_processes_each(struct kernel_processes *t, void (*fn)(void *ctx, struct kernel_process *p), void *ctx)
{
	MAP_ALL(&t->by_pid, at) {
		fn(ctx, map_pointer(&t->by_pid, at));
	}
}

void kernel_process_set(struct kernel_process *p, uint32_t parent, uint32_t uid, const char *name, const char *line)
{
	char *copy = line ? strdup(line) : NULL;
	p->parent = parent;
	p->uid = uid;
	snprintf(p->name, sizeof p->name, "%s", name);
	free(p->line);
	p->line = copy;
}

struct kernel_image *kernel_process_add_image(struct kernel_process *p, uint64_t base, uint64_t bytes, uint64_t code,
					      uint64_t code_end, const struct kernel_build *build, const char *path)
{
	for (uint32_t i = 0; i < p->images; i++) {
		struct kernel_image *m = &p->image[i];
		if (m->base == base && strcmp(m->path, path) == 0) {
			m->bytes = BASE_MAX(m->bytes, bytes);
			m->code = BASE_MIN(m->code, code);
			m->code_end = BASE_MAX(m->code_end, code_end);
			return m;
		}
	}
	if (!VEC_ROOM_UP_TO(p->image, p->images, p->cap, IMAGES_MAX)) {
		return NULL;
	}
	struct kernel_image *m = &p->image[p->images];
	*m = (struct kernel_image){
		.base = base, .bytes = bytes, .code = code, .code_end = code_end, .path = strdup(path)};
	if (!m->path) {
		return NULL;
	}
	if (build) {
		m->build = *build;
	}
	p->images++;
	return m;
}
