/* SPDX-License-Identifier: MIT
 *
 * Manifests that EventSources sent in a stream. A stream may have several of one provider: processes of different
 * builds send different ones under one GUID, with the same event ids and other fields. Each is kept with the processes that
 * sent it, in a store of its own, so that their names and value maps do not mix.
 *
 * Who decodes an event asks for the newest manifest that its own process sent, then for the newest of others that describes
 * the event; never takes one with which the payload has another length. Inside this folder only; not locked.
 */
#ifndef SCHEMA_SCHEMA_SENT_H
#define SCHEMA_SCHEMA_SENT_H

#include "schema/schema_store.h"

struct schema_sent;
/* `parent` pays for the memory. NULL on ENOMEM. */
struct schema_sent *schema_sent_create(struct schema_store *parent);
void schema_sent_destroy(struct schema_sent *s);
/* See schema_store_take_sent(), schema_store_sent(), schema_store_choose(). */
int schema_sent_take(struct schema_sent *s, const struct guid *provider, uint32_t pid, const void *text, size_t n,
		     struct diag *d);
uint32_t schema_sent_count(const struct schema_sent *s, const struct guid *provider);
const struct schema_event *schema_sent_choose(struct schema_sent *s, const struct schema_ask *a,
					      enum schema_sender who);
/* Without a payload to look at: the newest that has it. */
const struct schema_event *schema_sent_resolve(struct schema_sent *s, const struct guid *g, uint16_t id,
					       uint8_t version);
const struct manifest_provider *schema_sent_provider(const struct schema_sent *s, const struct guid *g);
const struct schema_map *schema_sent_find_map(const struct schema_sent *s, const struct guid *g, const char *name,
					      size_t bytes);
int schema_sent_each_provider(const struct schema_sent *s, schema_provider_fn fn, void *ctx);
int schema_sent_each_event(const struct schema_sent *s, const struct guid *g, schema_event_fn fn, void *ctx);

#endif
