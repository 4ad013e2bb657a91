/* SPDX-License-Identifier: MIT
 * Activity ids: one for each thread, and new ones.
 */
#ifndef PROVIDER_PROVIDER_ACTIVITY_H
#define PROVIDER_PROVIDER_ACTIVITY_H

#include "provider/provider_region.h"

/* Unique on this machine until reboot, and never a real GUID: its version nibble is 0, which no
 * generator uses. context: async-signal-safe. */
void provider_activity_create(struct guid *ret);

static inline void provider_activity_get(struct guid *ret)
{
	memcpy(ret, provider_thread.activity, sizeof *ret);
}
static inline void provider_activity_set(const struct guid *id)
{
	order_store_relaxed(&provider_thread.plain_epoch, 0u);
	order_fence_compiler();
	memcpy(provider_thread.activity, id, sizeof *id);
	order_fence_compiler();
	provider_thread_refresh();
}

#endif
