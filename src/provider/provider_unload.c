/* SPDX-License-Identifier: MIT
 *
 * libc calls what was given to __cxa_atexit() with a library's handle when that library ends: the address of its
 * own variable __dso_handle, which is hidden. But that variable holds nothing but its own address, and so it is
 * found among the library's data. Other words that point at themselves (heads of empty lists) are told to libc,
 * too: nobody ever ends with those.
 */
#include "provider/provider_unload.h"
#include "base/vec.h"

#include "provider/provider_callback.h"
#include "provider/provider_registry.h"

#include "base/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>

/* Destructors of the library may still write events with a registration. */
#define SWEEP_AFTER_NS 1000000000ull
/* How long the unloading of a library waits for a callback in it, and the end of the program for the same. */
#define UNLOAD_WAIT_MS 10000u
#define EXIT_WAIT_MS   500u
/* Of libc's __cxa_finalize(), which calls us in the first case: it is shorter than that. */
#define FINALIZE_BYTES 1024u
#define SCAN_MAX       (4u << 20)
#define HEADERS_BYTES  4096u
#define HANDLES_MAX    16u

extern int __cxa_atexit(void (*fn)(void *), void *arg, void *dso) __attribute__((weak));
extern void __cxa_finalize(void *dso) __attribute__((weak));

static struct provider_module *modules;
/* Addresses that libc knows already: a library is often loaded again where it was. */
static uintptr_t *told;
static uint32_t told_count, told_cap;

static bool is_told(uintptr_t handle)
{
	for (uint32_t i = 0; i < told_count; i++) {
		if (told[i] == handle) {
			return true;
		}
	}
	return false;
}

static void forget_told(uintptr_t handle)
{
	for (uint32_t i = 0; i < told_count; i++) {
		if (told[i] == handle) {
			told[i] = told[--told_count];
			return;
		}
	}
}

static bool uses(const struct provider_registration *reg, const struct provider_module *m)
{
	return reg->state == PROVIDER_REG_LIVE && reg->module == m && !reg->module_only;
}

/* Its callbacks end here. */
static void take_callbacks_locked(struct provider_module *m, uint32_t wait_ms)
{
	struct timespec until = provider_deadline(wait_ms);
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		int r = 0;
		while (r == 0 && uses(reg, m) && reg->running && !provider_callback_is_self()) {
			r = pthread_cond_timedwait(&provider_changed, &provider_lock, &until);
		}
		if (uses(reg, m)) {
			reg->enable_fn = NULL;
			reg->wmi_fn = NULL;
		}
	}
}

/* From libc, on the thread that unloads the library, or on the one that ends the program. */
static void module_ends(void *handle)
{
	uintptr_t from = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__cxa_finalize;
	uint32_t wait_ms = from < FINALIZE_BYTES ? UNLOAD_WAIT_MS : EXIT_WAIT_MS;
	int saved = errno;
	/* A forked child that has not called us yet has no thread of ours, and perhaps a lock that nobody will
	 * release: to say that the module is gone is enough. */
	bool child = order_load_acquire(&provider_memory.epoch) == 0;
	if (!child) {
		pthread_mutex_lock(&provider_lock);
	}
	for (struct provider_module *m = modules; m; m = m->next) {
		if ((uintptr_t)handle - m->start < m->end - m->start && !order_load_relaxed(&m->gone)) {
			m->gone_ns = clock_read_system_ns();
			order_store_release(&m->gone, 1u);
			if (!child) {
				take_callbacks_locked(m, wait_ms);
			}
		}
	}
	if (!child) {
		forget_told((uintptr_t)handle);
		provider_callback_sweep_locked();
		pthread_mutex_unlock(&provider_lock);
	}
	errno = saved;
}

/* Words of its own data that hold their own address. Other threads may write there; a word that changes is none. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static uint32_t
find_handles(uintptr_t from, uintptr_t to, uintptr_t *ret, uint32_t cap)
{
	uint32_t n = 0;
	for (uintptr_t at = (from + 7) & ~(uintptr_t)7; at + sizeof(uintptr_t) <= to && n < cap; at += 8) {
		if (*(volatile const uintptr_t *)at == at) {
			ret[n++] = at;
		}
	}
	return n;
}

/* The headers are in the first page of what is loaded. */
static uint32_t handles_of(const struct link_map *map, uintptr_t start, uintptr_t end, uintptr_t *ret, uint32_t cap)
{
	struct elf e;
	struct elf_segment s;
	uint32_t n = 0;
	if (end - start < HEADERS_BYTES || elf_file_begin(&e, -1, (const void *)start, HEADERS_BYTES) < 0) {
		return 0;
	}
	for (uint32_t i = 0; i < e.segments && elf_segment_read(&e, i, &s) == 0; i++) {
		uintptr_t from = (uintptr_t)(map->l_addr + s.address),
			  to = from + (uintptr_t)BASE_MIN(s.file_bytes, (uint64_t)SCAN_MAX);
		if (s.type == PT_LOAD && (s.flags & PF_W) && from >= start && to >= from && to <= end) {
			n += find_handles(from, to, ret + n, cap - n);
		}
	}
	return n;
}

static bool watch(const struct link_map *map, uintptr_t start, uintptr_t end)
{
	uintptr_t handle[HANDLES_MAX];
	bool all = true;
	uint32_t n = __cxa_atexit && __cxa_finalize ? handles_of(map, start, end, handle, HANDLES_MAX) : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (is_told(handle[i])) {
			continue;
		}
		if (!VEC_ROOM(told, told_count, told_cap)) {
			return false;
		}
		if (__cxa_atexit(module_ends, (void *)handle[i], (void *)handle[i]) == 0) {
			told[told_count++] = handle[i];
		} else {
			all = false;
		}
	}
	return n > 0 && all;
}

struct provider_module *provider_module_get_locked(const void *code)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;
	if (!code || _dl_find_object((void *)(uintptr_t)code, &found) != 0 || found.dlfo_link_map->l_name[0] == 0) {
		return NULL;
	}
	const struct link_map *map = found.dlfo_link_map;
	uintptr_t start = (uintptr_t)found.dlfo_map_start, end = (uintptr_t)found.dlfo_map_end;
	for (struct provider_module *m = modules; m; m = m->next) {
		if (m->map == map && m->start == start && m->end == end && !order_load_acquire(&m->gone)) {
			m->refs++;
			return m;
		}
	}
#else
	Dl_info info;
	if (!code || !dladdr(code, &info)) {
		return NULL;
	}
	const struct link_map *map = NULL;
	uintptr_t start = (uintptr_t)info.dli_fbase, end = start;
#endif
	struct provider_module *m = calloc(1, sizeof *m);
	if (!m) {
		return NULL;
	}
	*m = (struct provider_module){
		.next = modules, .map = provider_code_module(code), .start = start, .end = end, .refs = 1};
	m->watched = map && watch(map, start, end);
	modules = m;
	return m;
}

void provider_module_put_locked(struct provider_module *m)
{
	if (!m || --m->refs > 0) {
		return;
	}
	/* While it is there it is kept: it may register again. */
	struct provider_module **at = &modules;
	while (*at && *at != m) {
		at = &(*at)->next;
	}
	if (*at && (order_load_acquire(&m->gone) || !m->watched)) {
		*at = m->next;
		free(m);
	}
}

bool provider_module_is_there(const struct provider_module *m, const void *code)
{
	if (!m) {
		return true;
	}
	return !order_load_acquire(&m->gone) && (m->watched || provider_code_module(code) == m->map);
}

uint64_t provider_module_sweep_locked(bool at_once)
{
	uint64_t next = UINT64_MAX;
	for (uint32_t i = 0; i < provider_registrations_top; i++) {
		struct provider_registration *reg = &provider_registrations[i];
		if (reg->state != PROVIDER_REG_LIVE || !reg->module || !order_load_acquire(&reg->module->gone) ||
		    (reg->module_only && !at_once)) {
			continue;
		}
		uint64_t now = clock_read_system_ns(), due = reg->module->gone_ns + SWEEP_AFTER_NS;
		if (!at_once && now < due) {
			next = BASE_MIN(next, due - now);
			continue;
		}
		uint64_t handle = (uint64_t)reg->generation << 32 | (i + 1);
		bool classic = (reg->flags & PROVIDER_HOT_CLASSIC) != 0;
		pthread_mutex_unlock(&provider_lock);
		provider_unregister(handle, classic);
		pthread_mutex_lock(&provider_lock);
	}
	return next;
}
