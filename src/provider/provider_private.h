/* SPDX-License-Identifier: MIT
 *
 * Private sessions that a controller starts from outside: etwd says so, this process hosts them with
 * src/inproc. What that costs (a thread for the time of each request, a logger thread, the files) is
 * there only when somebody asks.
 */
#ifndef PROVIDER_PROVIDER_PRIVATE_H
#define PROVIDER_PROVIDER_PRIVATE_H

#include "provider/provider_dest.h"

/* A PROTO_PRIVATE of that daemon. The lock is held. */
void provider_private_asked_locked(struct provider_dest *d, const struct proto_message *m);
/* A thread for what was asked could not be created: once more. False: in vain again. */
bool provider_private_start(void);
/* The daemon is gone, and with it whoever could stop its sessions: they end, their files complete. */
void provider_private_left_locked(struct provider_dest *d);
/* Something asked for is not done yet. The lock is held. */
bool provider_private_busy_locked(void);
/* It has sessions of controllers. */
bool provider_private_hosting(void);
/* A forked child hosts nothing. context: async-signal-safe */
void provider_private_forget(void);
/* The answer of a thread that cannot do it. Bytes of a PROTO_PRIVATE_DONE. context: async-signal-safe */
long provider_private_refuse(void *mem, size_t cap, const struct proto_message *m);

#endif
