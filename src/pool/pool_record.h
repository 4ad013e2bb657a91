/* SPDX-License-Identifier: MIT
 *
 * The record that a session keeps of an event of the pool: header, extended items, payload, byte by byte as in an
 * .etl file. etwd and private sessions build their records here and nowhere else; headers: format/etl_head.h.
 *
 * What the record says of its writer (process, user, keys) comes from whoever hosts the session. How far the writer's
 * own word counts is the one thing in which the two hosts differ: enum pool_claims.
 *
 *   1. pool_items_read()   the items of the event, once
 *   2. pool_items_for()    those that one session gets
 *   3. pool_record_bytes() how much room the record takes
 *   4. pool_record_put()   the record
 *
 * Events without items skip the first two.
 */
#ifndef POOL_POOL_RECORD_H
#define POOL_POOL_RECORD_H

#include "format/etl_head.h"
#include "format/unix_sid.h"
#include "pool/pool.h"

/* ---- header --------------------------------------------------------------------------------- */

/* The flags of this event beside those of the head. */
static inline uint16_t pool_head_flags(const struct pool_rec *rec, bool items)
{
	return (rec->flags & POOL_REC_STRING_ONLY ? ETL_EF_STRING_ONLY : 0) | (items ? ETL_EF_EXTENDED_INFO : 0);
}

_Static_assert(sizeof(struct pool_rec) - offsetof(struct pool_rec, id) == 16, "the descriptor is copied as it is");

/* ---- items ---------------------------------------------------------------------------------- */

/* Of a process, as its host knows it. */
struct pool_identity {
	uint8_t sid[UNIX_SID_BYTES];
	uint32_t terminal_session;
	uint64_t start_key;
};

/* What /proc says of that process, and the SID of its user. */
void pool_identity_learn(struct pool_identity *ret, uint32_t pid, uint32_t uid);

/* What the writer says of itself where that is the host's to say: items with SID, terminal session, event key or
 * process start key, and the thread and process of a message. */
enum pool_claims {
	/* etwd: the writer is another process, and does not tell who it is. Such items are dropped, the fields of
	 * messages written over. */
	POOL_CLAIMS_DROPPED,
	/* A private session: the process writes into a file of its own, where it could write anything. */
	POOL_CLAIMS_KEPT,
};

/* Of a record; a writer has at most POOL_WRITER_ITEMS_MAX of them. The rest is for those that the host adds, one of each:
 * the traits of the provider, SID, terminal session, event key, process start key. The library writes 4 at most. */
#define POOL_RECORD_ITEMS_MAX 24u
#define POOL_HOST_ITEMS_MAX   5u
#define POOL_WRITER_ITEMS_MAX (POOL_RECORD_ITEMS_MAX - POOL_HOST_ITEMS_MAX)

struct pool_item {
	const uint8_t *data; /* borrowed */
	uint16_t bytes;
	uint16_t type;
	uint8_t rank;
};
struct pool_items {
	uint32_t count;
	uint32_t bytes;        /* in the record */
	const uint8_t *schema; /* data of the TraceLogging metadata; NULL: none */
	uint32_t schema_bytes;
	struct pool_item item[POOL_RECORD_ITEMS_MAX]; /* in the order of real files */
};

/* The items of the event up to the first that is malformed, and the traits of its provider (NULL: none) unless they
 * are among them. The writer's beyond POOL_WRITER_ITEMS_MAX are left out. All data is borrowed. */
void pool_items_read(struct pool_items *to, const struct pool_event *ev, enum pool_claims claims, const void *traits,
		     uint32_t traits_bytes);

/* Those of `from` that a session with these properties (EVENT_ENABLE_PROPERTY_*) gets: stacks if it wants some, and
 * what it wants to know of the writer. `event_key` counts only if it wants that. */
void pool_items_for(struct pool_items *to, const struct pool_items *from, uint32_t properties,
		    const struct pool_identity *who, const uint64_t *event_key);

/* ---- records -------------------------------------------------------------------------------- */

struct pool_record_args {
	const struct etl_event_head *head;
	const struct pool_items *items; /* of an event; NULL: none */
	uint32_t tid;
	uint64_t time;      /* of the session's clock */
	uint32_t *sequence; /* counts messages that want to be; NULL: they all get 0 */
	enum pool_claims claims;
};

/* Bytes of the record; 0: its payload is too short for what its kind says, or there is no such kind. */
uint32_t pool_record_bytes(const struct pool_event *ev, const struct pool_items *items);
/* Writes so many bytes (pool_record_bytes()). What follows up to the next multiple of 8 is the caller's. */
void pool_record_put(uint8_t *out, uint32_t bytes, const struct pool_event *ev, const struct pool_record_args *a);

#endif
