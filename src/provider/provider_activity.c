/* SPDX-License-Identifier: MIT
 *
 * u32 counter low | u16 counter high | u16 0x0000..0x0FFF, version nibble 0 | u32 process id | u32
 * salt
 *
 * Counter and salt live in the wiped-on-fork region, so a child does not repeat its parent's ids.
 */
#include "provider/provider_activity.h"
#include "provider/provider_fork.h"

#include <sys/random.h>
#include <sys/syscall.h>

void provider_activity_create(struct guid *ret)
{
	static uint64_t without_region;
	int saved = errno;
	provider_fork_check();
	uint64_t n, salt;
	if (provider_region_ready() == 0) {
		struct provider_region *r = &provider_memory;
		if (order_load_acquire(&r->activity_ready) == 0) {
			uint64_t fresh = 0;
			(void)!getrandom(&fresh, sizeof fresh, GRND_NONBLOCK);
			uint64_t zero = 0;
			uint32_t pid = (uint32_t)syscall(SYS_getpid);
			/* Never 0, so that the first of several racing threads wins for all. */
			order_cas_full(&r->activity_salt, &zero, (fresh & 0x0FFFFFFF00000000u) << 0 | pid | 1ull << 63);
			order_store_release(&r->activity_ready, 1u);
		}
		n = order_add_relaxed(&r->activity_next, 1u) + 1;
		salt = order_load_relaxed(&r->activity_salt);
	} else {
		n = order_add_relaxed(&without_region, 1u) + 1;
		salt = (uint64_t)(uint32_t)syscall(SYS_getpid);
	}
	le32_put(ret->b, (uint32_t)n);
	le16_put(ret->b + 4, (uint16_t)(n >> 32));
	le16_put(ret->b + 6, (uint16_t)(n >> 48) & 0x0FFF);
	le64_put(ret->b + 8, salt);
	errno = saved;
}
