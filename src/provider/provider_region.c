/* SPDX-License-Identifier: MIT
 * The wiped-on-fork region and per-thread state.
 */
#include "provider/provider_region.h"
#include "provider/provider_fork.h"

#include <sys/mman.h>
#include <sys/syscall.h>

const struct ctl_entry provider_entry_off __attribute__((aligned(64)));
const struct ctl_entry provider_entry_on __attribute__((aligned(64))) = {
	.enabled = 1, .level_max = 255, .any_union = UINT64_MAX};

/* Only read: costs address space, no memory. */
static struct provider_region region_empty;
struct provider_region *provider_region = &region_empty;

__thread struct provider_thread provider_thread;

int provider_region_ready(void)
{
	if (order_load_acquire(&provider_region) != &region_empty) {
		return 0;
	}
	size_t bytes = sizeof(struct provider_region);
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED) {
		return -ENOMEM;
	}
	if (madvise(mem, bytes, MADV_WIPEONFORK) != 0) {
		munmap(mem, bytes);
		return -ENOMEM;
	}
	struct provider_region *r = mem;
	r->epoch = (uint32_t)getpid();
	struct provider_region *expect = &region_empty;
	if (!order_cas_full(&provider_region, &expect, r)) {
		munmap(mem, bytes); /* another thread was first */
	}
	return 0;
}

uint32_t provider_tid_slow(void)
{
	provider_thread.tid = (uint32_t)syscall(SYS_gettid);
	provider_thread.epoch = provider_region->epoch;
	return provider_thread.tid;
}

__attribute__((cold, noinline)) struct provider_hot *provider_lookup_slow(uint64_t handle)
{
	uint32_t index = (uint32_t)handle - 1;
	if (index >= PROVIDER_REGISTRATIONS_MAX || handle >> 32 == 0 ||
	    provider_region == &region_empty) {
		return NULL;
	}
	if (order_load_acquire(&provider_region->epoch) != 0) {
		return NULL;
	}
	int saved = errno;
	provider_fork_recover();
	errno = saved;
	struct provider_hot *hot = &provider_region->hot[index];
	return order_load_acquire(&hot->generation) == (uint32_t)(handle >> 32) ? hot : NULL;
}
