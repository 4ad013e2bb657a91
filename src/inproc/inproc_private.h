/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share.
 *
 *   inproc.c         sessions: start, stop, query, flush, enable; registrations
 *   inproc_drain.c   memory of the destination, logger thread, passes
 *   inproc_record.c  a pool event -> its record on disk
 *   inproc_images.c  what the addresses of stacks mean
 *
 * One lock covers everything but the writers, who need none. The logger thread holds it for one
 * pass; API functions hold it to change things and drain before they do, so that events written
 * before a change are judged by what held then. Callbacks and the final part of a stop (disk) run
 * without it.
 */
#ifndef INPROC_INPROC_PRIVATE_H
#define INPROC_INPROC_PRIVATE_H

#include "inproc/inproc.h"
#include "base/order.h"
#include "filter/filter_event_id.h"
#include "pool/pool_record.h"

#include <pthread.h>

#define INPROC_SESSIONS      8u
#define INPROC_IN_PROC_MAX   3u
#define INPROC_CHUNK_BYTES   16384u
#define INPROC_REGISTRATIONS POOL_PROVIDERS_MAX

/* Control block: header, then the entries, then two tables an entry. Only touched pages cost. */
#define INPROC_TABLE_BYTES (sizeof(struct filter_table) + INPROC_SESSIONS * sizeof(struct filter_row))
static inline uint32_t inproc_entry_offset(uint32_t index)
{
	return (uint32_t)(sizeof(struct ctl_header) + index * sizeof(struct ctl_entry));
}
static inline uint32_t inproc_table_offset(uint32_t index, uint32_t which)
{
	return inproc_entry_offset(INPROC_REGISTRATIONS) + (uint32_t)((2 * index + which) * INPROC_TABLE_BYTES);
}
_Static_assert(sizeof(struct ctl_header) + INPROC_REGISTRATIONS * sizeof(struct ctl_entry) +
			       2 * INPROC_REGISTRATIONS * INPROC_TABLE_BYTES <=
		       POOL_CTL_BYTES,
	       "fits the control block");

/* The filters of an enable. */
struct inproc_chosen {
	struct filter_select select;      /* points into bytes */
	struct inproc_filter schematized; /* type 0: none */
	uint8_t bytes[];
};
struct inproc_enable {
	struct guid provider;
	struct filter_row row;        /* bit is the session's */
	uint32_t properties;          /* EVENT_ENABLE_PROPERTY_* */
	struct inproc_chosen *chosen; /* NULL: no filters */
	uint64_t order;               /* the most recent has the highest */
};
/* Session numbers apart from the daemon's, which are at most 1,024: the low 16 bits of a handle name
 * the session to TraceEvent, and both kinds may have enabled one provider. */
#define INPROC_LOGGER_BASE 0x8001u

struct inproc_session {
	struct sink *sink; /* NULL: slot free */
	uint64_t id;
	struct guid guid;
	struct sink_options options; /* adjusted; strings below */
	uint16_t *name, *log_file;
	char *path;
	struct inproc_enable *enable;
	uint32_t enable_count, enable_cap;
	uint32_t message_sequence;
	uint64_t start_raw, start_filetime; /* for clock 2 */
	uint64_t images; /* what inproc_images_changes() was when they were said; 0: no event had a stack */
};

struct inproc_registration {
	bool used;
	struct guid provider;
	uint8_t *traits; /* data of item 0x0C; may be NULL */
	uint32_t traits_bytes;
	uint32_t generation;
};

struct inproc_state {
	pthread_mutex_t lock;
	struct inproc_destination *destination; /* atomic; set once, NULL in a forked child */
	struct inproc_destination destination_body;
	uint8_t *ctl;
	void *segment;
	struct pool_view *view;
	struct pool_pass *pass;
	pthread_t thread;
	bool thread_running;
	uint32_t thread_generation; /* a logger thread of another one ends */
	bool prepared;              /* atfork, atexit */
	uint64_t lost_taken_ns;
	uint64_t next_id, next_order;
	uint32_t pid;
	struct pool_identity identity; /* for extended items; learned at the first start in a process */
	uint64_t event_key;
	uint64_t images; /* of this pass; 0: not looked yet */
	struct inproc_session session[INPROC_SESSIONS];
	struct inproc_registration registration[INPROC_REGISTRATIONS];
};
extern struct inproc_state inproc;

/* inproc_drain.c; with the lock held unless said */
int inproc_memory_create(void);
int inproc_thread_start(void);
void inproc_thread_dismiss(void); /* it ends soon; join it without the lock */
bool inproc_pass(bool flush);     /* true: look again at once */
struct ctl_entry *inproc_entry(uint32_t index);

/* inproc.c; without the lock. A session whose file has its maximum size records nothing more: its
 * providers are disabled as if it had stopped, so that writing costs nothing. The session itself
 * stays until somebody stops it and learns its statistics. */
void inproc_retire_full(void);

/* inproc_images.c: all images of the process, and the number that changes with them, never 0 */
uint64_t inproc_images_say(struct inproc_session *s, uint64_t time, bool explain);
uint64_t inproc_images_changes(void);

/* inproc_record.c */
uint64_t inproc_session_time(const struct inproc_session *s, uint64_t raw);
void inproc_record(void *ctx, const struct pool_event *ev);

#endif
