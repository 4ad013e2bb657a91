/* SPDX-License-Identifier: MIT
 *
 * Manifests that EventSources send in the stream (event id 0xFFFE), put together from their chunks.
 * Chunks may come in any order and mixed with those of other providers, processes and threads.
 */
#ifndef SCHEMA_SCHEMA_EVENTSOURCE_H
#define SCHEMA_SCHEMA_EVENTSOURCE_H

#include "schema/schema_store.h"

struct schema_chunks;
struct schema_chunks *schema_chunks_create(void); /* NULL on ENOMEM; not locked */
void schema_chunks_destroy(struct schema_chunks *c);
/* A payload of such an event. 1: a manifest was completed and taken by the store, 0: not yet or
 * nothing new, -EBADMSG with diag: complete, but not readable. -ENOMEM. */
int schema_chunks_add(struct schema_chunks *c, const struct guid *provider, uint32_t pid, uint32_t tid,
		      const void *payload, size_t n, struct schema_store *store, struct diag *d);

#endif
