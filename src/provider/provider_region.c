/* SPDX-License-Identifier: MIT
 * The wiped-on-fork region and per-thread state.
 */
#include "provider/provider_region.h"
#include "provider/provider_fork.h"
#include "provider/provider_scarce.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

const struct ctl_entry provider_entry_off __attribute__((aligned(64)));
const struct ctl_entry provider_entry_on
	__attribute__((aligned(64))) = {.enabled = 1, .level_max = 255, .any_union = UINT64_MAX};

struct provider_region provider_memory;
static uint32_t region_state PROVIDER_FEW; /* 0 none, 1 being mapped, 2 there */

__thread struct provider_thread provider_thread;

int provider_region_ready(void)
{
	uint32_t seen = order_load_acquire(&region_state);
	while (seen != 2) {
		uint32_t none = 0;
		if (seen == 1 || !order_cas_full(&region_state, &none, 1u)) {
			sched_yield(); /* another thread, for a few microseconds */
			seen = order_load_acquire(&region_state);
			continue;
		}
		size_t bytes = sizeof(struct provider_region);
		/* Page by page ours: the structure is page-aligned and page-sized. */
		void *mem = mmap(&provider_memory, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (mem == MAP_FAILED || madvise(mem, bytes, MADV_WIPEONFORK) != 0) {
			order_store_release(&region_state, 0u);
			return -ENOMEM;
		}
		order_store_relaxed(&provider_memory.epoch, (uint32_t)syscall(SYS_getpid));
		order_store_release(&region_state, 2u);
		seen = 2;
	}
	return 0;
}

/* A handler that changes the activity right here has the last word: it runs between our two looks. */
void provider_thread_refresh(void)
{
	struct provider_thread *t = &provider_thread;
	order_store_relaxed(&t->plain_epoch, 0u);
	order_fence_compiler();
	if ((t->activity[0] | t->activity[1]) == 0 && pool_thread_ready()) {
		order_store_relaxed(&t->plain_epoch, t->epoch);
	}
}

uint32_t provider_tid_slow(void)
{
	provider_thread.tid = (uint32_t)syscall(SYS_gettid);
	provider_thread.epoch = provider_memory.epoch;
	provider_thread_refresh();
	return provider_thread.tid;
}

__attribute__((cold, noinline)) struct provider_hot *provider_lookup_slow(uint64_t handle)
{
	uint32_t index = (uint32_t)handle - 1;
	if (index >= PROVIDER_REGISTRATIONS_MAX || handle >> 32 == 0 || order_load_acquire(&region_state) != 2) {
		return NULL;
	}
	int saved = errno;
	if (order_load_acquire(&provider_memory.epoch) == 0) {
		provider_fork_recover();
	} else {
		provider_fork_settle();
	}
	struct provider_hot *hot = &provider_memory.hot[index];
	if (order_load_acquire(&hot->handle) != handle) {
		hot = provider_scarce_lookup(handle);
	}
	errno = saved;
	return hot;
}
