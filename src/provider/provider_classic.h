/* SPDX-License-Identifier: MIT
 *
 * Classic providers: TraceEvent names a session, not a provider. Here is which registration that
 * session enabled, and the event classes behind TRACE_GUID_REGISTRATION.RegHandle.
 *
 * Logger handle: logger id in bits 0-15, level in 16-23, enable flags in 32-63.
 */
#ifndef PROVIDER_PROVIDER_CLASSIC_H
#define PROVIDER_PROVIDER_CLASSIC_H

#include "provider/provider_registry.h"

#define PROVIDER_KERNEL_LOGGER_ID 0xFFFFu

/* Rebuild the logger map from what the destinations said. The lock is held. */
void provider_classic_refresh_locked(void);

struct provider_classic_target {
	uint32_t index; /* registration */
	uint32_t dest;
};
/* context: async-signal-safe. False: no such session enabled a classic provider here. */
bool provider_classic_find(uint64_t handle, struct provider_classic_target *ret);

/* Event classes. A handle is never 0; classes of a registration die with it. */
uint64_t provider_class_add(uint64_t registration, const struct guid *guid); /* 0: no memory */
void provider_class_remove_all(uint64_t registration);
bool provider_class_guid(uint64_t class_handle, struct guid *ret);
/* The next instance number: 1, 2, … and after wrapping 1 again. False for a dead handle. */
bool provider_class_next(uint64_t class_handle, uint32_t *ret);

#endif
