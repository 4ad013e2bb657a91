/* SPDX-License-Identifier: MIT
 *
 * sink: one trace session's buffers, its log file and its real-time feed. Front door.
 *
 * Used by etwd for every session and by the in-process logger. The drain thread reserves space for
 * one record after the other (single producer); a file thread of the sink's own writes full
 * buffers. Nothing here ever blocks the producer: no free buffer means a counted loss.
 *
 *   FREE --first record for cpu--> CURRENT --full/flush/stop--> FULL --file thread--> FREE
 *   buffering mode: FULL is a ring, the oldest goes back to FREE (counted as overwritten)
 *
 * Records of one buffer belong to one cpu and never go back in time: a record older than the last
 * one of its cpu's current buffer goes to that cpu's second, "late", buffer.
 */
#ifndef SINK_SINK_H
#define SINK_SINK_H

#include "base/base.h"
#include "etl/etl_writer.h"
#include "session/session_properties.h"

struct sink;

/* Files of that name beside a spool_path which nobody has locked are leftovers and are removed. */
#define SINK_SPOOL_PREFIX "EtwRT-"

/* Injected for tests: disk full, EIO, slow. NULL members mean the real thing. Results: bytes or 0,
 * else a negative errno. Called on the file thread, and on the caller's for headers of files it
 * opens. */
struct sink_file_ops {
	long (*pwrite)(void *ctx, int fd, const void *p, size_t n, uint64_t off);
	int (*fdatasync)(void *ctx, int fd);
	int (*fallocate)(void *ctx, int fd, uint64_t off, uint64_t len);
	void *ctx;
};

/* A log file was opened, has its final header and is closed; LAST: at the end of the session; GONE: somebody
 * removed, moved or replaced it, and what has its name now, if anything, is not this session's. On the thread
 * that did it, for files whose final header could be written. */
enum sink_file_event {
	SINK_FILE_OPENED,
	SINK_FILE_FINISHED,
	SINK_FILE_LAST,
	SINK_FILE_GONE,
};
typedef void (*sink_file_fn)(void *ctx, const char *path, enum sink_file_event event);

/* What others did to the log file while it was written: sink_file_look.c. */
enum sink_file_fate {
	SINK_FATE_NONE,
	SINK_FATE_MOVED,    /* it has another name; it is written on */
	SINK_FATE_CUT,      /* truncated: it is written on behind what is left */
	SINK_FATE_REMOVED,  /* it has no name any more; a new one is begun with the next event */
	SINK_FATE_REPLACED, /* somebody else's bytes are in it, or have its name */
};

/* How much several sinks may have on the disk together, for what waits for real-time consumers. Whoever made
 * it keeps it as long as one of them lives. */
struct sink_quota {
	uint64_t limit_bytes;
	uint64_t floor_bytes; /* so much stays free there, or a tenth of a smaller file system */
	uint64_t used_bytes;  /* any thread, through base/order.h */
};

struct sink_options {
	const uint16_t *name;     /* session name */
	const uint16_t *log_file; /* as it goes into the header; NULL: no file */
	const char *path;         /* the same as a Linux path; NULL: no file. For NEWFILE it holds %d */
	/* Adjusted, see sink_adjust(). Of a clock, conversion is the caller's; flush_timer is in seconds, whatever the
	 * mode says; the GUID, the threshold and the flags are not looked at. */
	struct session_properties props;
	uint64_t clock_freq; /* of the raw clock */
	bool system_clock;   /* raw times are CLOCK_MONOTONIC, whatever this machine's clock is */
	uint16_t logger_id;
	uint16_t cpus; /* processors of the machine */
	bool sync_on_stop;
	bool other_table; /* made by a thread with a descriptor table of its own */
	struct sink_file_ops ops;
	/* Zero means the ordinary thing: */
	uint32_t patience_ms;    /* retries on a failing disk before buffers are dropped; 0: 5000 */
	uint32_t controller_pid; /* who started the session, for the header; 0: the caller */
	uint32_t controller_tid;
	/* Real-time records that no consumer has taken: as many as maximum_buffers in memory, and then so
	 * many bytes in this file, made when needed and removed at the end. NULL or 0: memory only. */
	const char *spool_path; /* its name begins with SINK_SPOOL_PREFIX, without keep_path */
	uint64_t spool_bytes;
	struct sink_quota *spool_quota; /* NULL: none but spool_bytes */
	bool fair;                      /* has buffers in reserve, see sink_may_reserve() */
	/* With a spool_path: the backlog outlives the process, in this file, which should lie in memory, and
	 * that one. The next sink with the same two goes on with it. Both are removed by sink_stop(), unless
	 * sink_keep_backlog() was called. */
	const char *keep_path;
	sink_file_fn on_file; /* may be NULL */
	void *on_file_ctx;
};

/* Which thread: everything below is called by one thread at a time, the producer (the drain
 * thread). The file thread is the sink's own affair. */

/* session_properties_adjust() with what the header of these names takes. 0 or -EINVAL. */
int sink_adjust(struct sink_options *o);
/* Everything is allocated and the file is opened and its header written before this returns, so
 * that a StartTrace fails cleanly: -ENOENT, -EACCES, -ENOSPC, -ENOMEM, -EEXIST (append mismatch:
 * -EINVAL). */
int sink_create(const struct sink_options *o, struct sink **ret, struct diag *d);
/* Flush, final header, close, join the file thread, free. Blocks (bounded by the disk). With a
 * failing disk patience shrinks to one second. Negative errno: the file lacks events or its final
 * header. `ret_final` may be NULL. */
struct sink_stats;
int sink_stop(struct sink *s, struct sink_stats *ret_final);

/* In a forked child: free the parent's sink without touching the file or waiting for anything (the
 * file thread is not here). */
void sink_forget(struct sink *s);

/* Room for one record of `bytes` (multiple of 8, header included) with that session-clock time on
 * `cpu`, zero-filled pads are the caller's. NULL: no free buffer, or bytes > buffer size - 0x48;
 * the loss is already counted. The bytes must be filled before the next sink call. Single producer.
 */
void *sink_reserve(struct sink *s, uint16_t cpu, uint64_t time, uint32_t bytes);
/* For the kernel's records, once they are filled: one with hook 0x00nn (group masks, the end of a rundown) describes
 * the file and counts as no event. */
void sink_uncount_of_file(struct sink *s, const void *record, uint32_t bytes);
/* The same as sink_reserve for many records of one cpu at once: where the next bytes go, how many there are, and the
 * least time the next record may have. Fill from `at` on, times not decreasing, then say what was
 * used, before any other sink call. What does not fit, or is older, goes through sink_reserve. */
struct sink_room {
	uint8_t *at;
	uint32_t left;
	uint64_t least_time; /* UINT64_MAX: nothing this way */
};
void sink_room_open(struct sink *s, uint16_t cpu, struct sink_room *ret);
void sink_room_used(struct sink *s, uint16_t cpu, uint32_t bytes, uint32_t events, uint64_t last_time);
/* What several write into one sink, and who writes most shall not cost the others' events. When no buffer is free,
 * scarce, the caller refuses those who write more than their share, also where a buffer is open (sink_refuse() counts
 * these events as lost for want of a buffer), and lets the others have the buffers in reserve. */
bool sink_scarce(struct sink *s);
void sink_refuse(struct sink *s, uint64_t events);
void sink_may_reserve(struct sink *s, bool may); /* what is reserved from now on */
/* What comes next on this processor goes into a buffer of the reserve. */
bool sink_is_in_reserve(const struct sink *s, uint16_t cpu);
/* Losses that happened elsewhere but belong to this session's header and statistics. */
void sink_add_lost(struct sink *s, uint64_t events);

/* Called by the producer between passes: flush timer, header refresh once a second, partial
 * delivery of new records to the real-time tap. `now_ns` CLOCK_MONOTONIC. */
void sink_tick(struct sink *s, uint64_t now_ns);
/* Every CURRENT buffer becomes FULL. Buffering mode: write the ring to `path` (NULL: the session's
 * own file); the file is opened here, so that errors are reported, and written by the file thread
 * (sink_drain_wait); the ring keeps its content. */
int sink_flush(struct sink *s, const char *path, struct diag *d);
/* Of a ring, in a file or in memory, that has overwritten something: of this processor nothing is gone that is later
 * than this; 0: nothing at all. */
uint64_t sink_ring_until(struct sink *s, uint16_t cpu);
/* And nothing is there that is older than this. Both in the session's clock. */
uint64_t sink_ring_since(struct sink *s);
/* As sink_flush, but the file stays open for what explains the ring, which is written at once: records of sink_explain,
 * until sink_flush_explained (or the sink's end). Behind the ring in the file, they take nothing of its room. */
int sink_flush_held(struct sink *s, const char *path, struct diag *d);
/* As sink_reserve; NULL also outside of buffering mode. */
void *sink_explain(struct sink *s, uint64_t time, uint32_t bytes);
void sink_flush_explained(struct sink *s);
/* Wait until every FULL buffer so far is on its way to the disk (also snapshots and changes of
 * file), or -ETIMEDOUT. Any thread, as long as the sink lives. */
int sink_drain_wait(struct sink *s, int timeout_ms);
/* These two open the new file here; the old one is finished by the file thread when everything
 * closed so far is in it. -EBUSY while an earlier change is not done. UPDATE: switch to another
 * file (sequential), change maximum buffers / flush timer / real-time. */
int sink_set_file(struct sink *s, const char *path, const uint16_t *log_file, struct diag *d);
int sink_next_file(struct sink *s, struct diag *d); /* INCREMENT_FILE of NEWFILE mode */
/* NEWFILE mode: what is recorded from now on goes to the next file, opened by the file thread. With
 * `keep`, only so many files stay, whatever makes them; 0: all. */
void sink_rotate(struct sink *s);
void sink_keep_files(struct sink *s, uint32_t keep);
void sink_set_limits(struct sink *s, uint32_t maximum_buffers, uint32_t flush_timer);

/* Real-time tap. `deliver` gets a complete little buffer (0x48 header + records of one cpu, time
 * ascending); returns false when it had no room: the sink keeps a backlog of at most
 * maximum_buffers buffers, then of spool_bytes, and then drops the oldest, counted. Called on the producer's thread. */
typedef bool (*sink_deliver_fn)(void *ctx, const uint8_t *buf, uint32_t bytes, uint16_t cpu);
void sink_set_tap(struct sink *s, bool enabled, sink_deliver_fn deliver, void *ctx);
/* Try the backlog and whatever is new again (consumer made room / attached). */
void sink_tap_pump(struct sink *s);
/* The session ends because its process does: what waits stays for the next one with this keep_path. */
void sink_keep_backlog(struct sink *s);
/* Something older than what was delivered last is still in the backlog. */
bool sink_tap_behind(struct sink *s);
/* Buffer 0 as a real-time consumer needs it (names, clock, start pair). Bytes or -errno. */
long sink_header(struct sink *s, uint8_t *out, size_t cap);

struct sink_stats {
	uint64_t events;      /* recorded */
	uint64_t events_lost; /* no_buffer + disk_events + gone_events + sink_add_lost */
	uint64_t lost_no_buffer;
	uint64_t lost_too_big; /* bigger than a buffer */
	uint64_t lost_disk_events;
	uint64_t lost_disk_buffers;         /* LogBuffersLost */
	uint64_t gone_events, gone_buffers; /* were in the file, which somebody removed or cut */
	enum sink_file_fate file_fate;
	uint64_t file_fate_filetime;
	uint64_t rt_events_lost, rt_buffers_lost;
	uint64_t rt_events_refused;   /* of the former: the quota, or the disk, had no room for them */
	uint64_t rt_found;            /* events that an earlier process left to be delivered */
	uint64_t overwritten_buffers; /* circular, buffering */
	uint64_t overwritten_events;
	uint64_t buffers_written;
	uint64_t bytes_written;
	uint64_t bytes_recycled; /* of buffers that went to no file */
	uint32_t buffers, free_buffers, buffer_size_kb;
	uint64_t start_filetime;
	uint64_t late_records;
	int file_error; /* last errno of the file, 0 when fine */
	bool file_full; /* sequential session reached MaximumFileSize: the session should stop */
	int64_t file_thread_id;
};
void sink_stats(struct sink *s, struct sink_stats *ret);

#endif
