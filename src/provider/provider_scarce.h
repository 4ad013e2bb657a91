/* SPDX-License-Identifier: MIT
 *
 * When something is short: memory, threads, descriptors. EventRegister still succeeds, and nothing is given up
 * for the life of the process:
 *
 *   memory      what a message needs comes from a mapping if malloc() has none; what cannot be said then is said
 *               again later: d->behind (to a daemon), reg->due (to a callback)
 *   descriptors the listener tries again soon, not after its usual minute
 *   threads     EventRegister tries for a moment. Then the process is attached without threads, as a forked
 *               child is, and callbacks are called by EventRegister and its kin themselves. While threads are
 *               missing, handles are hidden: events and "is it enabled" take the slow way through
 *               provider_lookup_slow(), which attaches again where a daemon came or went. Each other call of ours
 *               tries to create the threads, and the callback thread, if there is one, tries for the listeners.
 *
 * A program without threads of ours, whose callback alone decides whether it calls us, learns of a session that
 * begins later with its next EventRegister, EventUnregister or EventSetInformation.
 */
#ifndef PROVIDER_PROVIDER_SCARCE_H
#define PROVIDER_PROVIDER_SCARCE_H

#include "provider/provider_region.h"

/* malloc(), or a mapping of its own. Not signal-safe. */
void *provider_alloc(size_t bytes);
void provider_free(void *mem);
/* Another try may succeed: the machine or the process had not enough of something. */
bool provider_is_shortage(int err);

/* The threads that should be there; what is missing is made up for. `patient`: waits a moment, at most
 * once in the life of a process. By application threads, the lock is held; it is released meanwhile. */
void provider_threads_start_locked(bool patient);
/* The callback thread's: only tries. True: nothing is missing any more. */
bool provider_threads_try_locked(void);
/* Threads are missing. */
bool provider_is_scarce(void);
/* A forked child that has not reached its daemons and has no threads. context: async-signal-safe */
void provider_scarce_in_child(void);
/* A handle that provider_lookup_fast() does not find. context: async-signal-safe */
struct provider_hot *provider_scarce_lookup(uint64_t handle);
/* The handle is not valid any more, or is again. The lock is held. */
void provider_handle_publish_locked(uint32_t index, uint64_t handle);
/* In a forked child, where the region reads as zero. */
void provider_scarce_forget(void);

#endif
