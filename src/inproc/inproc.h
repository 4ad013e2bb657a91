/* SPDX-License-Identifier: MIT
 *
 * inproc: private (in-process) trace sessions: EVENT_TRACE_PRIVATE_LOGGER_MODE. The same slots,
 * chunks, sink and file code as with etwd, with the pool in private memory and one logger thread as
 * drain.
 *
 * src/control starts and stops sessions here; src/provider asks for a control block and a writer as
 * if this were another etwd ("destination").
 */
#ifndef INPROC_INPROC_H
#define INPROC_INPROC_H

#include "base/base.h"
#include "pool/pool_writer.h"
#include "sink/sink.h"

/* What src/provider needs: the same shapes as an attached etwd gives. NULL until a private session
 * was started in this process (checked with one load). */
struct inproc_destination {
	void *ctl; /* control block, writable by inproc only by convention */
	struct pool_writer *writer;
};
struct inproc_destination *inproc_destination(void);

/* A registration came or went. Returns the entry offset in the control block; `index` as for etwd.
 * May be called before there is a destination: offsets depend on the index alone. A provider that a
 * session enabled before it was registered is enabled when this returns; that is not notified (the
 * caller finds it in the entry). Unregister drains first, so that pending events keep their GUID.
 * None of these calls the notify function. */
int inproc_register(uint32_t index, const struct guid *provider, uint32_t *ret_entry_offset);
void inproc_unregister(uint32_t index);
void inproc_set_traits(uint32_t index, const void *traits, uint32_t bytes);

/* An EVENT_FILTER_DESCRIPTOR. */
struct inproc_filter {
	uint32_t type, bytes;
	const void *data;
};

/* Called by inproc when an enable changed, so that src/provider runs callbacks. Set once by
 * provider. On the thread that made the change, without locks of ours; level, any and all are
 * merged over the private sessions (level 0 as 255, any 0 as all ones), except for a capture of
 * state, which is one session's wish. `filter`: what the session that enabled it last, or that asks for
 * the state, has to say to the provider (a schematized filter); NULL: nothing. */
typedef void (*inproc_notify_fn)(uint32_t index, uint32_t code, uint8_t level, uint64_t any, uint64_t all,
				 const struct guid *source, const struct inproc_filter *filter);
/* `wanted` (may be NULL) is called after each start of a session: now the
 * registrations are to be told, before that they need not be. */
void inproc_set_notify(inproc_notify_fn fn, void (*wanted)(void));
/* Has this process registered that provider? False without src/provider, which says `here`. */
void inproc_set_registered(bool (*here)(const struct guid *provider));
bool inproc_registered(const struct guid *provider);

/* What GetTraceLoggerHandle tells a classic provider: session number, level and flags of the session
 * that enabled it last; 0 when none did. */
uint64_t inproc_classic_handle(uint32_t index);

/* What the session that enabled that registration last has to say to it (a schematized filter): its type
 * and data; bytes written, 0: nothing, or more than `cap`. For the caller of inproc_register(). */
size_t inproc_filter_said(uint32_t index, void *mem, size_t cap);

struct inproc_session_args {
	struct sink_options sink; /* props.guid: of the provider without PRIVATE_IN_PROC; other_table: see sink.h */
	bool suffix;              /* in any case: the plain name is an earlier process's, which may have ended */
	bool from_outside;        /* a controller's, who has an id for it: others may have that GUID */
};
/* Win32 codes, as the callers are api functions. A session is found by id, or with id 0 by name or
 * GUID. Start: without PRIVATE_IN_PROC the file gets the suffix _<pid> when another process has the
 * plain one. `ret` of stop may be NULL; options of a query borrow the session's strings until it
 * stops. */
uint32_t inproc_start(struct inproc_session_args *a, uint64_t *ret_id, struct diag *d);
uint32_t inproc_stop(uint64_t id, const uint16_t *name, const struct guid *guid, struct sink_stats *ret);
uint32_t inproc_query(uint64_t id, const uint16_t *name, const struct guid *guid, struct sink_stats *ret,
		      struct sink_options *ret_options, uint64_t *ret_id);
uint32_t inproc_flush(uint64_t id, const uint16_t *name, const struct guid *guid);
/* flush_timer 0: as it is. With a path (and its UTF-16 spelling) that file from now on; of a buffering
 * session, that file gets its content. */
uint32_t inproc_update(uint64_t id, uint32_t flush_timer, const char *path, const uint16_t *log_file, struct diag *d);
uint32_t inproc_enable(uint64_t id, const struct guid *provider, uint32_t code, uint8_t level, uint64_t any,
		       uint64_t all, uint32_t properties);
/* The same with filters, which are copied: those for each event are evaluated here, the others are
 * passed to the callback or none of ours (scope filters: the caller knows the process). */
uint32_t inproc_enable_filtered(uint64_t id, const struct guid *provider, uint32_t code, uint8_t level, uint64_t any,
				uint64_t all, uint32_t properties, const struct inproc_filter *filter, uint32_t count);

#endif
