/* SPDX-License-Identifier: MIT
 * Daemons that record stacks of this process are told what it has mapped, so that addresses have names later.
 */
#ifndef PROVIDER_PROVIDER_IMAGES_H
#define PROVIDER_PROVIDER_IMAGES_H

#include "provider/provider_dest.h"

/* Some session wants stacks of this destination's registrations; of that one. The lock is not held; is held. */
bool provider_stacks_wanted(const struct provider_dest *d);
bool provider_stacks_wanted_of_locked(uint32_t index);
/* Tells the daemons which images have come or gone since they were told last. With `wait` (application threads), it
 * returns when they have answered, but waits no longer than a registration does, and not at all where no listener
 * would read the answer. The lock is not held: the dynamic linker's is taken first. */
void provider_images_look(bool wait);
/* The daemon is another one, or has answered. The lock is held. */
void provider_images_forget_locked(struct provider_dest *d);
void provider_images_answered_locked(struct provider_dest *d, uint32_t id);

#endif
