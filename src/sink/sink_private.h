/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share. Overview of who touches what:
 *
 *   producer only    streams, sequence numbers, tap, its own counters
 *   under `lock`     lists of buffers, what the file thread counted, orders for the file thread
 *   file thread only the open file (while the thread runs), retry state
 *
 *   sink.c          create, flush, stop, tick, statistics
 *   sink_options.c  Windows' adjustments
 *   sink_stream.c   reserve: streams, taking and closing buffers
 *   sink_buffer.c   memory of the buffers
 *   sink_tap.c      real-time feed
 *   sink_spool.c    its backlog beyond memory
 *   sink_keep.c     its backlog beyond the life of the process
 *   sink_thread.c   the file thread: batches, patience, switching files
 *   sink_file.c     one log file
 */
#ifndef SINK_SINK_PRIVATE_H
#define SINK_SINK_PRIVATE_H

#include "sink/sink.h"
#include "base/order.h"

#include <pthread.h>

/* What the file thread writes at once when there is as much. */
#define SINK_BATCH_BYTES (4u << 20)
/* Less than that is left to gather, for a while; that much goes past the page cache. */
#define SINK_LARGE_BYTES (1u << 20)

/* ---- buffers --------------------------------------------------------------------------------- */

struct sink_buffer {
	uint8_t *data;
	struct sink_buffer *next;
	uint64_t sequence;
	uint64_t flush_time;
	uint64_t first_time, last_time; /* of its records */
	uint64_t events_before;         /* the stream's count when the buffer was taken */
	uint32_t used;
	uint32_t events;
	uint16_t cpu;
	uint16_t pins; /* snapshots that still have to write it */
	bool of_reserve;
};

struct sink_list {
	struct sink_buffer *head, *tail;
	uint32_t count;
};

static inline void sink_list_push(struct sink_list *l, struct sink_buffer *b)
{
	b->next = NULL;
	if (l->tail) {
		l->tail->next = b;
	} else {
		l->head = b;
	}
	l->tail = b;
	l->count++;
}
static inline void sink_list_push_front(struct sink_list *l, struct sink_buffer *b)
{
	b->next = l->head;
	l->head = b;
	if (!l->tail) {
		l->tail = b;
	}
	l->count++;
}
static inline struct sink_buffer *sink_list_pop(struct sink_list *l)
{
	struct sink_buffer *b = l->head;
	if (b) {
		l->head = b->next;
		if (!l->head) {
			l->tail = NULL;
		}
		l->count--;
	}
	return b;
}

/* Address space for `count` more buffers; memory comes with first use. */
struct sink_extent {
	struct sink_extent *next;
	uint8_t *memory;
	size_t bytes;
	uint32_t count, handed_out;
	struct sink_buffer buffer[];
};

/* ---- streams --------------------------------------------------------------------------------- */

/* The open buffer of one cpu: all that the fast path of sink_reserve touches, one cache line. */
struct sink_stream {
	uint64_t last_time; /* UINT64_MAX keeps the fast path away */
	uint8_t *base;      /* NULL: no open buffer, and then pos == end == 0 */
	uint32_t pos, end;
	uint64_t events; /* all that ever came here */
	struct sink_buffer *buffer;
	uint64_t delivered_events; /* real-time tap: `events` and `pos` up to which it has got all */
	uint32_t delivered_pos;
	uint32_t reserved;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct sink_stream) == 64, "one cache line");

/* ---- file ------------------------------------------------------------------------------------ */

struct sink_file;

/* Everything a new file's header needs, fixed at sink_create. */
struct sink_identity {
	struct etl_header_args header; /* names and time zone borrowed from the sink */
	uint8_t time_zone[ETL_TIME_ZONE_SIZE];
	uint64_t max_buffers; /* of one file, buffer 0 included; 0 unlimited */
	bool wants_room;      /* the disk must have that much: for the first file */
	uint64_t max_bytes;   /* the same for compressed files, whose buffers have many sizes */
	uint16_t compression; /* ETL_FORMAT_*; 0: plain buffers of one size */
	bool circular, newfile, append, preallocate, sync_on_stop;
	struct sink_file_ops ops;
	sink_file_fn on_file; /* or NULL */
	void *on_file_ctx;
};

struct sink_file_counts {
	uint64_t events_lost, buffers_lost;
};

/* `path` and `log_file` are final: %d is already replaced. */
int sink_file_open(const struct sink_identity *id, const char *path, const uint16_t *log_file, struct sink_file **ret,
		   struct diag *d);
/* Sequence numbers used in an appended file; 0 for new files. */
uint64_t sink_file_last_sequence(const struct sink_file *f);
/* Data buffers that still fit; UINT64_MAX for circular and unlimited ones. Compressed: as if none of them
 * shrank. */
uint64_t sink_file_room(const struct sink_file *f);
/* What a ring has overwritten, as sink_ring_since() and sink_ring_until() say it. */
uint64_t sink_file_ring(const struct sink_file *f, uint64_t *inout_until, uint32_t cpus);
uint64_t sink_file_written(const struct sink_file *f); /* bytes of all data buffers */
/* Write n buffers (n <= room); *ret_done counts whole ones, also on error. Overwritten events and
 * buffers of a circular file are added. `direct`: past the page cache, where the file system can. */
int sink_file_write(struct sink_file *f, struct sink_buffer *const *b, unsigned n, bool direct, unsigned *ret_done,
		    uint64_t *overwritten_events, uint64_t *overwritten_buffers);
int sink_file_refresh(struct sink_file *f, const struct sink_file_counts *c);
/* ---- sink_file_look.c: what others do to the file while it is written ---- */

struct sink_file_gone { /* what was in it and is not any more */
	uint64_t events, buffers;
};
enum sink_file_fate sink_file_look(struct sink_file *f, struct sink_file_gone *ret);
/* Removed or replaced: nothing is written to it any more. */
bool sink_file_is_gone(const struct sink_file *f);
/* In the place of one that is gone: a new file of its name, unless something has that name. `old` is freed on
 * success. -EEXIST and others. */
int sink_file_again(const struct sink_identity *id, struct sink_file *old, struct sink_file **ret);
void sink_file_know(struct sink_file *f); /* right after it was opened */

/* Final header, last buffer's flag, trim, sync, close, free. 0 or the first error. */
int sink_file_finish(struct sink_file *f, const struct sink_file_counts *c, bool last);
void sink_file_forget(struct sink_file *f, bool other_table); /* only free */

/* ---- the sink -------------------------------------------------------------------------------- */

struct sink_explanation { /* a buffer of it; its data lie behind it */
	struct sink_explanation *next;
	struct sink_buffer b;
};
struct sink_snapshot { /* buffering mode: an order to write the ring */
	struct sink_snapshot *next;
	struct sink_explanation *explanation; /* comes behind the ring */
	bool held;                            /* the explanation is still to come */
	bool written;                         /* the ring is in the file */
	struct sink_file *file;
	uint32_t count;
	struct sink_buffer *buffer[];
};

/* ---- real-time backlog ----------------------------------------------------------------------- */

struct sink_rt_chunk {
	struct sink_rt_chunk *next;
	uint64_t last_time;
	uint32_t bytes, cap; /* of data, header included */
	uint32_t events;
	uint16_t cpu;
	/* of one that outlives its process, see sink_keep.h */
	uint32_t entry;  /* its place + 1; 0: on the heap */
	uint64_t order;  /* 0: free */
	uint64_t stored; /* its number in the spool's file + 1, when it was written there; 0: not yet */
	uint64_t number; /* of one that was read from there: the same; 0: it was not */
	uint8_t data[];
};
struct sink_place { /* of the spool's file */
	uint32_t bytes, events;
	uint64_t last_time;
	uint64_t cpu;
};
struct sink_rt_list {
	struct sink_rt_chunk *head, *tail;
	uint32_t count;
};

/* sink_spool.c: what does not fit into memory. Everything by the producer. */
struct sink_spool;
enum sink_spool_state { SINK_SPOOL_EMPTY, SINK_SPOOL_ONE, SINK_SPOOL_WAIT };
uint64_t sink_spool_places(const struct sink *s);
uint64_t sink_spool_clock(const struct sink *s); /* as ETL_BH_CLOCK has it */
int sink_spool_create(const struct sink *s, struct sink_spool **ret);
void sink_spool_put(struct sink_spool *p, struct sink_rt_chunk *c); /* takes it */
/* The oldest. WAIT: it is being read, ask again with the next tick. */
enum sink_spool_state sink_spool_take(struct sink_spool *p, struct sink_rt_chunk **ret);
void sink_spool_return(struct sink_spool *p, struct sink_rt_chunk *c);    /* what take gave, undelivered */
void sink_spool_delivered(struct sink_spool *p, struct sink_rt_chunk *c); /* frees it */
/* `refused`: of these, for want of room on the disk. */
void sink_spool_losses(struct sink_spool *p, uint64_t *inout_events, uint64_t *inout_buffers, uint64_t *ret_refused);
void sink_spool_clear(struct sink_spool *p); /* nobody wants what is in it; never waits */
/* With its file, unless the backlog is kept; waits for the disk. */
void sink_spool_destroy(struct sink_spool *p, bool keep);
void sink_spool_forget(struct sink_spool *p); /* in a forked child */

struct sink {
	/* producer only */
	struct sink_stream *stream; /* [2 * stream_count]: main ones, then late ones */
	uint32_t stream_count;
	uint32_t buffer_bytes;
	bool single; /* NO_PER_PROCESSOR_BUFFERING */
	bool buffering;
	bool has_file; /* closed buffers go to the file thread */
	uint32_t clock;
	uint64_t next_sequence;
	bool scarce; /* the last look found no free buffer */
	bool may_reserve;
	uint64_t lost_no_buffer, lost_too_big, lost_elsewhere, late_records;
	uint64_t flush_at_ns, refresh_at_ns;
	uint32_t flush_timer;
	struct sink_sort_entry *sort; /* single: one entry for each record of the open buffer */
	uint32_t sort_count, sort_cap;
	uint32_t sort_floor; /* entries below were shown to the tap and must not move any more */
	uint64_t sort_floor_time;
	bool sort_needed;
	uint8_t *sort_scratch;

	/* constant */
	struct sink_options options; /* strings are ours */
	uint16_t *name, *log_file;
	char *path, *spool_path, *keep_path;
	struct sink_identity identity;
	uint64_t patience_ns;

	/* real-time tap, producer only */
	bool tap_enabled;
	bool rt_waiting; /* the backlog is being read: not the consumer keeps us waiting */
	sink_deliver_fn deliver;
	void *deliver_ctx;
	struct sink_spool *spool; /* from the first time memory did not do */
	struct sink_keep *keep;   /* NULL: the backlog ends with the process */
	bool keep_at_end;
	uint64_t rt_found;
	struct sink_rt_chunk *rt_head, *rt_tail;
	uint32_t rt_count;
	uint64_t rt_sequence, rt_events_lost, rt_buffers_lost, rt_reported_lost;
	uint64_t rt_reported_buffers_lost;
	uint64_t recycled; /* buffers closed without a file */
	struct sink_explanation *explanation, *explanation_last, *explanation_open[2]; /* for the next snapshot */
	uint32_t explanation_count;

	/* under lock */
	pthread_mutex_t lock;
	pthread_cond_t wake; /* file thread sleeps here */
	pthread_cond_t idle; /* sink_drain_wait and sink_thread_start sleep here */
	struct sink_list free, full;
	struct sink_list reserve; /* beyond the limit: for those who write little, when nothing is free */
	struct sink_extent *reserve_extent;
	struct sink_extent *extents;
	uint32_t buffers_allocated, buffers_limit, buffers_minimum;
	uint64_t quota; /* data buffers that may still be taken for the file */
	bool file_full;
	uint64_t pushed, popped, finished; /* buffers: to the file thread, taken by it, dealt with */
	struct sink_file *next_file;       /* becomes current after `switch_at` buffers */
	uint64_t switch_at;
	struct sink_snapshot *snapshots;
	bool look_wanted; /* after the file, also when nothing is to be written */
	bool refresh_wanted, stopping, sleeping, thread_running;
	bool rotate_wanted; /* to the next file after `rotate_at` buffers */
	uint64_t rotate_at;
	uint32_t keep_files;    /* NEWFILE; 0 all */
	bool write_wanted;      /* whatever is full, however little */
	uint64_t full_since_ns; /* tick that first saw what waits in `full`; 0 none */
	uint32_t waiting;
	uint64_t stop_deadline_ns;
	struct sink_file_counts published; /* the producer's losses, for headers */
	uint64_t buffers_written, bytes_written, lost_disk_events, lost_disk_buffers;
	uint64_t gone_events, gone_buffers; /* were in the file, which others removed or cut */
	enum sink_file_fate file_fate;
	uint64_t file_fate_filetime;
	uint64_t lost_late_events; /* compressed: on their way to a file that became full */
	uint64_t overwritten_buffers, overwritten_events;
	uint64_t ring_since, *ring_until; /* what is left of a ring, by stream; see sink_ring_until() */
	int file_error;                   /* last one, 0 when fine again */
	int final_error;                  /* first thing that makes the file incomplete */
	int64_t file_thread_id;
	pthread_t thread;

	/* file thread only (before it starts: the creator's) */
	struct sink_file *file;
	uint32_t newfile_counter; /* under lock: sink_next_file counts too */
	bool disk_bad;
	uint64_t again_at_ns;   /* a file that is gone: when to look next whether it can be made again */
	uint64_t failing_since; /* 0: fine */
};

/* sink_buffer.c; all with the lock held unless said */
int sink_buffers_add(struct sink *s, uint32_t count); /* without the lock */
void sink_buffers_free(struct sink *s);
struct sink_buffer *sink_buffer_take_locked(struct sink *s);
int sink_buffers_reserve(struct sink *s, uint32_t count); /* at the start */
static inline void sink_buffer_give_locked(struct sink *s, struct sink_buffer *b)
{
	sink_list_push_front(b->of_reserve ? &s->reserve : &s->free, b);
}

/* sink.c */
void sink_publish_counts(struct sink *s); /* with the lock held */

/* sink_stream.c */
int sink_streams_init(struct sink *s);
void sink_streams_finish(struct sink *s);
void sink_close_all(struct sink *s);
void sink_stream_sort(struct sink *s); /* single: the open buffer's records by time */
void sink_stream_raise_floor(struct sink *s);
uint64_t sink_clock_now(const struct sink *s);

/* sink_explain.c */
/* All of it, numbered: behind the last buffer of the ring. */
struct sink_explanation *sink_explanation_take(struct sink *s);
void sink_explanation_free(struct sink_explanation *e);

/* sink_tap.c */
void sink_tap_deliver_stream(struct sink *s, struct sink_stream *st, bool closing);
void sink_tap_finish(struct sink *s);
/* Goes on with what an earlier process left. Not having such a file is no reason to fail. */
void sink_tap_open_keep(struct sink *s);

/* sink_thread.c */
/* With the lock held: is it time to write what is full? Each wake-up and each call costs more than
 * a buffer is worth, and long writes cost less per byte. */
bool sink_worth_writing(const struct sink *s);
int sink_thread_start(struct sink *s);
void sink_thread_join(struct sink *s); /* after `stopping` was set */
/* NEWFILE with a number of files to keep: the one that is too many now that `n` exists. */
void sink_remove_old(const char *path, uint32_t n, uint32_t keep);
char *sink_expand_path(const char *path, uint32_t n);         /* %d; malloc */
uint16_t *sink_expand_name(const uint16_t *name, uint32_t n); /* %d; malloc */

static inline uint64_t sink_monotonic_ns(void)
{
	return clock_read_system_ns();
}

#endif
