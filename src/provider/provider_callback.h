/* SPDX-License-Identifier: MIT
 *
 * Enable callbacks. One thread, so the callbacks of a registration never overlap. It is created by
 * an application thread: a callback must see the application's descriptors, not the listener's.
 */
#ifndef PROVIDER_PROVIDER_CALLBACK_H
#define PROVIDER_PROVIDER_CALLBACK_H

#include "provider/provider_registry.h"

struct provider_job {
	bool heap; /* to be freed */
	struct provider_job *next;
	uint32_t index;
	uint32_t generation;
	uint32_t dest;
	uint64_t serial;               /* of the attachment that asked */
	struct provider_notice notice; /* merged; its filter pointer is not used */
	uint32_t filter_type;          /* EVENT_FILTER_TYPE_*, 0 none */
	uint32_t filter_bytes;
	uint64_t filter[]; /* 8-aligned copy */
};

/* Take a copy of the notice. 0 or -ENOMEM. */
int provider_callback_push_locked(uint32_t index, uint32_t dest, const struct provider_notice *n);
/* Create the thread unless it runs. Called by application threads. False: there is none. */
bool provider_callback_start_locked(void);
/* What it would do now, by this thread, if there is none. */
void provider_callback_run_here_locked(void);
/* Registrations of modules that are gone: the thread looks after them. */
void provider_callback_sweep_locked(void);
/* Is this the callback thread, inside a callback? */
bool provider_callback_is_self(void);
/* The thread that calls runs, or would if it got a processor: it waits for nobody. The lock is held. */
bool provider_callback_is_runnable(void);
/* In a forked child: there is no thread and no job. context: async-signal-safe. */
void provider_callback_forget(void);
/* The module that holds `code`, NULL when none does. Needs no lock in glibc from 2.35 on. */
const void *provider_code_module(const void *code);

#endif
