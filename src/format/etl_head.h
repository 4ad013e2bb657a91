/* SPDX-License-Identifier: MIT
 *
 * The headers that records begin with, built in one place. Whoever writes records (etwd, private sessions, the kernel
 * engine, relog, the file header) takes them from here; the offsets are those of etl_layout.h.
 *
 *	etl_event_head_put()   EVENT_HEADER: events of manifests and TraceLogging
 *	etl_full_head_put()    EVENT_TRACE_HEADER: events of a class; an instance header begins with it
 *	etl_hook_head_put()    SYSTEM, COMPACT, PERFINFO: events of the kernel
 *
 * context: hot paths of the drain; all of it is inlined.
 */
#ifndef FORMAT_ETL_HEAD_H
#define FORMAT_ETL_HEAD_H

#include "base/base.h"
#include "format/etl_layout.h"

/* ---- EVENT_HEADER ---------------------------------------------------------------------------- */

/* What the headers of many events have in common, in the words that are stored. */
struct etl_event_head {
	uint64_t first; /* type and flags; the size is 0 */
	uint64_t ids;   /* process; the thread is 0 */
	uint8_t provider[16];
};

/* flags: ETL_EF_* that all these events have. */
static inline struct etl_event_head etl_event_head_of(uint32_t pid, const uint8_t provider[16], uint16_t flags)
{
	struct etl_event_head h = {
		.first = (uint64_t)flags << 8 * ETL_EH_FLAGS | (uint64_t)ETL_MARK_HEADER << 24 | ETL_RT_EVENT64 << 16,
		.ids = (uint64_t)pid << 32,
	};
	memcpy(h.provider, provider, 16);
	return h;
}

/* ETL_EVENT_HEADER_SIZE bytes. `flags`: of this event beside those of the head. `descriptor` and `activity` (NULL: none)
 * have 16. The property and the times are 0. */
static inline void etl_event_head_put(uint8_t *out, const struct etl_event_head *h, uint16_t flags, uint32_t bytes,
				      uint32_t tid, uint64_t time, const void *descriptor, const uint8_t *activity)
{
	le64_put(out, h->first | (uint64_t)flags << 8 * ETL_EH_FLAGS | bytes);
	le64_put(out + ETL_EH_TID, h->ids | tid);
	le64_put(out + ETL_EH_TIME, time);
	memcpy(out + ETL_EH_PROVIDER, h->provider, 16);
	memcpy(out + ETL_EH_DESCRIPTOR, descriptor, 16);
	le64_put(out + ETL_EH_KERNEL_TIME, 0);
	memset(out + ETL_EH_ACTIVITY, 0, 16);
	if (activity) {
		memcpy(out + ETL_EH_ACTIVITY, activity, 16);
	}
}
_Static_assert(ETL_EH_SIZE == 0 && ETL_EH_TYPE == 2 && ETL_EH_FLAGS == 4 && ETL_EH_PROPERTY == 6 &&
		       ETL_EH_PID == ETL_EH_TID + 4 && ETL_EH_USER_TIME == ETL_EH_KERNEL_TIME + 4,
	       "words of the header");

/* ---- EVENT_TRACE_HEADER ---------------------------------------------------------------------- */

struct etl_full_head {
	uint8_t type; /* ETL_RT_FULL…, ETL_RT_INSTANCE… */
	uint8_t opcode, level;
	uint16_t version;
	uint32_t pid, tid;
	uint64_t time;
	const uint8_t *class; /* 16 bytes */
	uint32_t kernel_time, user_time;
};

/* ETL_FULL_HEADER_SIZE bytes, of a record of `bytes`. */
static inline void etl_full_head_put(uint8_t *out, uint32_t bytes, const struct etl_full_head *h)
{
	le16_put(out + ETL_FH_SIZE, (uint16_t)bytes);
	out[ETL_FH_TYPE] = h->type;
	out[ETL_FH_TYPE + 1] = ETL_MARK_HEADER;
	out[ETL_FH_OPCODE] = h->opcode;
	out[ETL_FH_LEVEL] = h->level;
	le16_put(out + ETL_FH_VERSION, h->version);
	le32_put(out + ETL_FH_TID, h->tid);
	le32_put(out + ETL_FH_PID, h->pid);
	le64_put(out + ETL_FH_TIME, h->time);
	memcpy(out + ETL_FH_CLASS, h->class, 16);
	le32_put(out + ETL_FH_KERNEL_TIME, h->kernel_time);
	le32_put(out + ETL_FH_USER_TIME, h->user_time);
}

/* ---- SYSTEM, COMPACT, PERFINFO --------------------------------------------------------------- */

struct etl_hook_head {
	uint8_t type; /* ETL_RT_SYSTEM…, ETL_RT_COMPACT…, ETL_RT_PERFINFO… */
	uint16_t version, hook;
	uint32_t pid, tid; /* not in PERFINFO */
	uint64_t time;
	uint32_t kernel_time, user_time; /* in SYSTEM */
};

static inline uint32_t etl_hook_head_bytes(uint8_t type)
{
	switch (type) {
	case ETL_RT_PERFINFO32:
	case ETL_RT_PERFINFO64: return ETL_PERFINFO_HEADER_SIZE;
	case ETL_RT_COMPACT32:
	case ETL_RT_COMPACT64: return ETL_COMPACT_HEADER_SIZE;
	default: return ETL_SYSTEM_HEADER_SIZE;
	}
}

/* Of a record of `bytes`. Returns its own: where counters or the payload go. */
static inline uint32_t etl_hook_head_put(uint8_t *out, uint32_t bytes, const struct etl_hook_head *h)
{
	uint32_t own = etl_hook_head_bytes(h->type);
	le16_put(out + ETL_HH_VERSION, h->version);
	out[ETL_HH_TYPE] = h->type;
	out[ETL_HH_TYPE + 1] = ETL_MARK_HEADER;
	le16_put(out + ETL_HH_SIZE, (uint16_t)bytes);
	le16_put(out + ETL_HH_HOOK, h->hook);
	if (own == ETL_PERFINFO_HEADER_SIZE) {
		le64_put(out + ETL_PERFINFO_TIME, h->time);
		return own;
	}
	le32_put(out + ETL_HH_TID, h->tid);
	le32_put(out + ETL_HH_PID, h->pid);
	le64_put(out + ETL_HH_TIME, h->time);
	if (own == ETL_SYSTEM_HEADER_SIZE) {
		le32_put(out + ETL_HH_KERNEL_TIME, h->kernel_time);
		le32_put(out + ETL_HH_USER_TIME, h->user_time);
	}
	return own;
}

#endif
