/* SPDX-License-Identifier: MIT
 *
 * Libraries whose code we call, and their end. A program may unload one without EventUnregister, while an enable
 * is on its way to its callback; a look whether the code is still there, and then a call, would come too late. So
 * we are told: libc calls us, as it calls destructors of C++, when a library is about to be unloaded and before
 * its code goes. From then on none of its callbacks begins, and one that runs is waited for.
 */
#ifndef PROVIDER_PROVIDER_UNLOAD_H
#define PROVIDER_PROVIDER_UNLOAD_H

#include "provider/provider_region.h"

struct provider_module {
	struct provider_module *next;
	const void *map; /* the dynamic linker's name for it */
	uintptr_t start, end;
	uint32_t refs;    /* registrations */
	uint32_t gone;    /* atomic: it is being unloaded, or was */
	uint64_t gone_ns; /* when */
	bool watched;     /* we are told; else only a look before a call is left */
};

/* The module that holds this code; a reference. NULL: none does (a runtime made it), it is the program itself,
 * which is never unloaded, or no memory. The lock is held. */
struct provider_module *provider_module_get_locked(const void *code);
void provider_module_put_locked(struct provider_module *m);
/* May its code be called? */
bool provider_module_is_there(const struct provider_module *m, const void *code);
/* Registrations of modules that are gone end, when the module is so long gone that its destructors have run; or
 * at once. The lock is held, and released meanwhile. Nanoseconds until there is more to do; UINT64_MAX: nothing. */
uint64_t provider_module_sweep_locked(bool at_once);

#endif
