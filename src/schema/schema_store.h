/* SPDX-License-Identifier: MIT
 *
 * Stores of schemas: one for each decoder (what its trace said about itself) and one for the process
 * (manifests that were loaded, the built-in catalogue, the user's directories).
 *
 * A store never forgets before it is destroyed, so what is found may be used without a lock; what is
 * unloaded is only not found any more. Stores are bounded, because files from elsewhere fill them.
 */
#ifndef SCHEMA_SCHEMA_STORE_H
#define SCHEMA_SCHEMA_STORE_H

#include "schema/schema.h"

/* ---- a store; not locked --------------------------------------------------------------------- */

/* Takes the manifest over, also when it fails. A provider declared again replaces the older one.
 * `key` says whence, for schema_store_drop_manifest(). 0 or -ENOMEM (also: the store is full). */
int schema_store_take_manifest(struct schema_store *s, struct manifest *m, enum schema_source source, const char *key);
int schema_store_drop_manifest(struct schema_store *s, const char *key); /* -ENOENT */
const struct manifest_provider *schema_store_provider(const struct schema_store *s, bool classic, const struct guid *g);
/* What schema_store_take_manifest() was told of whence it is: "" is the built-in catalogue. NULL: no manifest has it. */
const char *schema_store_key(const struct schema_store *s, bool classic, const struct guid *g);
/* The same without what EventSources sent. */
const struct manifest_provider *schema_store_loaded(const struct schema_store *s, bool classic, const struct guid *g);
/* As schema_store_find(), and makes the schema out of a manifest if it has to. */
const struct schema_event *schema_store_resolve(struct schema_store *s, bool classic, const struct guid *g, uint16_t id,
						uint8_t version);

/* Can a store learn from this payload of an EventMetadata record? */
bool schema_store_understands(uint8_t opcode, const void *payload, size_t n);

/* A store inside another one, which pays for its memory. NULL on ENOMEM. */
struct schema_store *schema_store_create_within(struct schema_store *parent);

/* ---- manifests that EventSources sent (schema_sent.h) ------------------------------------------ */

/* An event whose schema is looked for. */
struct schema_ask {
	struct guid guid;
	uint32_t pid;
	uint16_t id;
	uint8_t version;
	const uint8_t *payload;
	size_t payload_bytes;
	unsigned pointer_size;
};
enum schema_sender {
	SCHEMA_SENT_BY_IT, /* by the event's process */
	SCHEMA_SENT_BY_OTHERS,
	SCHEMA_SENT_BY_IT_WHATEVER_LENGTH, /* the payload may be longer or shorter than described */
};
/* 1: something may be found differently now, 0: nothing new, -EBADMSG with diag, -ENOMEM. */
int schema_store_take_sent(struct schema_store *s, const struct guid *provider, uint32_t pid, const void *text,
			   size_t n, struct diag *d);
uint32_t schema_store_sent(const struct schema_store *s, const struct guid *provider); /* how many there are */
/* The newest that has the event, whoever sent it. */
const struct schema_event *schema_store_resolve_sent(struct schema_store *s, const struct guid *g, uint16_t id,
						     uint8_t version);
/* The newest of those that describes the event, and its payload to the last byte. May be NULL. */
const struct schema_event *schema_store_choose(struct schema_store *s, const struct schema_ask *a,
					       enum schema_sender who);
bool schema_ask_fits(const struct schema_ask *a, const struct schema_event *e);

/* ---- the process's own; any thread ------------------------------------------------------------ */

int schema_process_learn(uint8_t opcode, const void *payload, size_t n);
int schema_process_learn_chunk(const struct guid *provider, uint32_t pid, uint32_t tid, const void *payload, size_t n);
int schema_process_load_file(const char *path, struct diag *d);
/* The same unless it was tried before: what a caller names again with each event. False: nothing new. */
bool schema_process_load_once(const char *path);
int schema_process_take_manifest(struct manifest *m, enum schema_source source, const char *key);
int schema_process_drop_manifest(const char *key);
/* Looks in what was loaded, in the built-in catalogue and in the user's directories, then in what was sent. */
const struct schema_event *schema_process_find(bool classic, const struct guid *guid, uint16_t id_or_opcode,
					       uint8_t version);
uint32_t schema_process_sent(const struct guid *provider);
/* The schema of an event whose provider sent manifests, by the rule of schema_sent.h: of what `own` (may be NULL) and the
 * process know. What was loaded, and what a merge or a session's end wrote about the event (EventMetadata), comes after
 * what was sent, unless only it fits the payload: TDH wrote it, which knows less than the process (names, for one). */
const struct schema_event *schema_find_sent(struct schema_store *own, const struct schema_ask *a);
BASE_SHARED const struct manifest_provider *schema_process_provider(bool classic, const struct guid *guid);
/* Whence it is, as schema_store_key() says it; yours. */
BASE_SHARED char *schema_process_key(bool classic, const struct guid *guid);
const struct schema_map *schema_process_find_map(const struct guid *provider, const char *name, size_t bytes);
/* The fields of one of its filters (MANIFEST_FILTER), as of an event; yours. 0 or -ENOMEM. */
int schema_process_filter(const struct manifest_provider *p, const struct manifest_name *filter,
			  struct schema_event **ret);
/* All events of a provider; all known providers. */
int schema_process_each_event(const struct guid *provider, schema_event_fn fn, void *ctx);
BASE_SHARED int schema_process_each_provider(schema_provider_fn fn, void *ctx);
/* The first of those, by manifest or MOF, that has this name, without regard to case. */
bool schema_process_provider_guid(const char *name, struct guid *ret);
/* What was installed, or told by a program, since this process last looked is found from now on. `now`:
 * else at most once a second. */
void schema_process_refresh(bool now);
/* Changes whenever something found before may now be found differently. */
uint32_t schema_process_generation(void);

/* ---- files ------------------------------------------------------------------------------------- */

/* Reads a file by its content: manifest, PE file with a manifest resource, catalogue (.etwcat), WPP
 * formats (.tmf). The path is the key. -errno with diag; -ENOENT also: a PE file without such a resource. */
BASE_SHARED int schema_file_read(const char *path, manifest_take_fn take, void *ctx, struct diag *d);
/* Files in the user's directories that describe a provider; all providers they describe. Directories:
 * OPENETW_CATALOGUE (a list with colons), $XDG_DATA_HOME or ~/.local/share/openetw/manifests,
 * <prefix>/share/openetw/manifests. Any thread. */
typedef int (*schema_file_fn)(void *ctx, const char *path);
BASE_SHARED int schema_files_of(const struct guid *provider, schema_file_fn fn, void *ctx);
/* Looks through the directories again if one of them changed; true then. */
bool schema_files_refresh(void);
int schema_files_each(int (*fn)(void *ctx, const struct guid *g), void *ctx);

#endif
