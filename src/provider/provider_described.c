/* SPDX-License-Identifier: MIT
 *
 * Programs and libraries that carry the description of their own events (format/schema_section.h):
 * a note in memory says so, and the daemon is told the path once. Programs without one cost a look
 * at the number of libraries that were ever loaded.
 */
#include "base/elf.h"
#include "format/schema_section.h"
#include "provider/provider.h"
#include "provider/provider_dest.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MODULES_MAX 64u

static char *paths[MODULES_MAX]; /* never freed; under the lock */
static uint32_t path_count;
static uint64_t looked_at PROVIDER_FEW; /* dlpi_adds + 1 when last looked */

struct look {
	char *found[MODULES_MAX];
	uint32_t count;
	uint64_t adds;
	bool first;
};

/* The dynamic linker mapped it, so it is as long as it says; what is inside is checked. */
static bool has_note(const uint8_t *p, size_t n, size_t align)
{
	struct bytes in = bytes_of(p, n);
	struct elf_note note;
	while (elf_note_next(&in, align, &note)) {
		if (note.type == SCHEMA_SECTION_NOTE_TYPE && note.owner_bytes == sizeof SCHEMA_SECTION_NOTE_NAME &&
		    memcmp(note.owner, SCHEMA_SECTION_NOTE_NAME, note.owner_bytes) == 0) {
			return true;
		}
	}
	return false;
}

/* Not part of look_at_module(): a path's room on the stack is a page of every process. */
static __attribute__((noinline)) char *path_of(const struct dl_phdr_info *info)
{
	char path[PATH_MAX];
	if (info->dlpi_name && info->dlpi_name[0]) {
		return realpath(info->dlpi_name, path) ? strdup(path) : NULL;
	}
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0) {
		return NULL;
	}
	path[n] = 0;
	return strdup(path);
}

/* context: the dynamic linker's lock is held. */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct look *l = ctx;
	if (l->first) {
		l->first = false;
		l->adds = size >= offsetof(struct dl_phdr_info, dlpi_subs) ? info->dlpi_adds + 1 : 0;
		if (l->adds && l->adds == order_load_relaxed(&looked_at)) {
			return 1;
		}
	}
	for (unsigned i = 0; i < info->dlpi_phnum && l->count < MODULES_MAX; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type != PT_NOTE ||
		    !has_note((const uint8_t *)(info->dlpi_addr + h->p_vaddr), h->p_memsz, h->p_align)) {
			continue;
		}
		char *copy = path_of(info);
		if (copy) {
			l->found[l->count++] = copy;
		}
		break;
	}
	return 0;
}

/* As path_of(). */
static __attribute__((noinline)) void post_locked(uint32_t k)
{
	uint8_t mem[64 + PATH_MAX];
	long n = provider_make_described(mem, sizeof mem, k);
	for (int d = 0; n > 0 && d < 2; d++) {
		provider_post_locked(&provider_dests[d], mem, (size_t)n);
	}
}

void provider_described_look(void)
{
	struct look l = {.first = true};
	dl_iterate_phdr(look_at_module, &l);
	if (l.adds && l.adds == order_load_relaxed(&looked_at)) {
		return;
	}
	pthread_mutex_lock(&provider_lock);
	for (uint32_t i = 0; i < l.count; i++) {
		uint32_t k = 0;
		while (k < path_count && strcmp(paths[k], l.found[i]) != 0) {
			k++;
		}
		if (k < path_count || path_count == MODULES_MAX) {
			free(l.found[i]);
			continue;
		}
		paths[path_count] = l.found[i];
		path_count++;
		post_locked(k);
	}
	order_store_relaxed(&looked_at, l.adds);
	pthread_mutex_unlock(&provider_lock);
}

bool provider_described_path(uint32_t i, char *ret, size_t cap)
{
	pthread_mutex_lock(&provider_lock);
	bool there = i < path_count && strlen(paths[i]) < cap;
	if (there) {
		strcpy(ret, paths[i]);
	}
	pthread_mutex_unlock(&provider_lock);
	return there;
}

long provider_make_described(void *mem, size_t cap, uint32_t i)
{
	struct proto_writer w;
	if (i >= path_count) {
		return 0;
	}
	proto_begin(&w, mem, cap, PROTO_DESCRIBED, 0);
	proto_put_str(&w, PROTO_TAG_PATH, paths[i]);
	return proto_end(&w);
}

void provider_send_described(int fd, void *buf, size_t cap)
{
	for (uint32_t i = 0; i < path_count; i++) {
		long n = provider_make_described(buf, cap, i);
		if (n > 0 && send(fd, buf, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) != n) {
			return;
		}
	}
}
