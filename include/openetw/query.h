/* SPDX-License-Identifier: MIT
 *
 * Questions to trace files: how many, when, who, which, how long. In libopenetw.
 *
 *   struct openetw_index *x;
 *   if (openetw_index_open((const char *[]){"web.etl"}, 1, NULL, &x) != 0) {
 *           fprintf(stderr, "%s\n", openetw_last_error_text());
 *   }
 *   struct openetw_query *q = openetw_query_create(x);
 *   openetw_query_set_filter(q, "provider == Contoso-Web and level <= warning");
 *   OPENETW_SIZED(struct openetw_answer, a);
 *   if (openetw_query_count(q, &a) == 0) {
 *           printf("%llu of %llu events\n", (unsigned long long)a.matched, (unsigned long long)a.scanned);
 *   }
 *   openetw_query_destroy(q);
 *   openetw_index_close(x);
 *
 * samples/query.c is a whole program.
 *
 * Index      The first question reads the whole file once and writes columns beside it, NAME.etl.idx (or into the
 *            user's cache directory, where the folder cannot be written to); later questions read those columns. A
 *            trace of fewer than a million events gets no file. An index that is of another file, damaged or of another
 *            version is made anew. Several files are asked as one. With OPENETW_INDEX_BACKGROUND it is made while it is
 *            asked. What is read of fields of events is kept beside it, in NAME.etl.idx.fields,
 *            and what threads did in NAME.etl.idx.lanes.
 * Times      int64_t, nanoseconds since 0 of the index: the start of the earliest of its files, which
 *            struct openetw_index_about has as FILETIME. A trace may hold events before it: negative times.
 * Numbers    Types, processes, threads and stacks are numbers below the counts of struct openetw_index_about, the same as
 *            long as the index is open. Process 0 and thread 0 mean "nobody knows", stack 0 "none". Of several files
 *            each has such an entry of its own.
 * Rows       A number names an event: of one file its position in the order of time.
 * Threads    Any number of threads may ask one index, each with a query of its own.
 * Answers    A query that is cancelled answers of what it has found, and `partial` says so.
 */
#ifndef OPENETW_QUERY_H
#define OPENETW_QUERY_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the index --------------------------------------------------------------------------------- */

struct openetw_index;

/* False ends the work: ERROR_CANCELLED. `done` of `total` bytes have been read, `rows` events found. The trace is read
 * twice, so `total` is twice its size. */
typedef bool (*openetw_index_progress_fn)(void *context, uint64_t done, uint64_t total, uint64_t rows);

#define OPENETW_INDEX_MEMORY     0x1u /* write no file, and read none */
#define OPENETW_INDEX_WRITE      0x2u /* write one, however small the trace is */
#define OPENETW_INDEX_REBUILD    0x4u /* make it anew, whatever there is */
#define OPENETW_INDEX_BACKGROUND 0x8u /* do not wait for it: openetw_index_progress() */
struct openetw_index_options {
	uint32_t size;
	uint32_t flags;
	openetw_index_progress_fn progress; /* may be NULL. In the background: called by another thread */
	void *context;
	const char *cache_directory; /* NULL: $XDG_CACHE_HOME/openetw, ~/.cache/openetw */
};
/* Opens 1 to 1,024 trace files. `options` may be NULL. What OpenTrace would say; ERROR_CANCELLED.
 * openetw_last_error_text() names the file and the reason. */
OPENETW_API uint32_t openetw_index_open(const char *const *paths, uint32_t count,
					const struct openetw_index_options *options, struct openetw_index **ret);
/* After its queries. NULL is fine. An index that is still being made is given up, and leaves no file. */
OPENETW_API void openetw_index_close(struct openetw_index *x);

/* An index that is made in the background can be asked at once, about what is there so far. Each question is about what is
 * there when it begins; its answer is `partial`, and says how much of the traces it covers. */
struct openetw_index_progress {
	uint32_t size;
	uint32_t code; /* ERROR_IO_PENDING: it is being made; ERROR_SUCCESS: it is whole; else why the work ended */
	uint32_t file; /* which of the files is read */
	uint64_t bytes_read, bytes_to_read; /* each trace is read twice */
	uint64_t rows_read;
	uint64_t bytes_covered, bytes; /* of the traces: what questions are answered of, and all */
	uint64_t rows_covered;
	int64_t covered_until; /* all events before this time are there. INT64_MIN: none yet; INT64_MAX: all */
	double rows_per_second;
	double fraction;              /* of the work that is done, 0 to 1 */
	double seconds, seconds_left; /* -1: nobody knows yet */
};
OPENETW_API uint32_t openetw_index_progress(struct openetw_index *x, struct openetw_index_progress *ret);
/* Waits until the index is whole. ERROR_TIMEOUT; ERROR_CANCELLED; or why it cannot be made, and
 * openetw_last_error_text() says with which file. UINT32_MAX: as long as it takes. */
OPENETW_API uint32_t openetw_index_wait(struct openetw_index *x, uint32_t milliseconds);
/* Any thread: the index is not finished. What is there can be asked until it is closed. */
OPENETW_API void openetw_index_cancel(struct openetw_index *x);

/* An index of what happens now: the last events of a real-time session, or those that its user appends, in memory. Its
 * questions are those of any index, each about what was there when it began. */
struct openetw_live_options {
	uint32_t size;
	uint32_t reserved;
	const char *session; /* of which to be a real-time consumer. NULL: openetw_index_append() brings the events */
	uint64_t ring_bytes; /* at least 1 MiB, for events and what is known besides. 0: 256 MiB */
	uint64_t start_filetime; /* without a session: what time 0 is. 0: now */
};
/* `options` may be NULL: a ring of 256 MiB for appended events. What OpenTrace would say of the session. When the ring is
 * full the oldest rows leave, thousands at a time. A row keeps its number, which counts from the ring's first event. */
OPENETW_API uint32_t openetw_index_open_live(const struct openetw_live_options *options, struct openetw_index **ret);
/* Adds an event behind all others; its TimeStamp is FILETIME. Any thread. What comes late in time is kept where it comes.
 * Not for an index of a session: ERROR_INVALID_STATE. An event that cannot be kept is counted. Events of the kernel say who
 * runs and which processes, threads and modules there are, as in a file. Their stacks come as records with the time of the
 * recording's clock, which nobody knows here: these find no event, and are counted. Stacks that are items of their
 * event are known. */
OPENETW_API uint32_t openetw_index_append(struct openetw_index *x, const openetw_event_record *e);
struct openetw_live_progress {
	uint32_t size;
	uint32_t code; /* ERROR_IO_PENDING: the session runs; ERROR_SUCCESS: it has ended; else why the reading ended */
	uint64_t rows; /* since the ring began */
	uint64_t first_row;                 /* of those that are there; as many have left */
	uint64_t events_lost, buffers_lost; /* as the session says */
	uint64_t events_refused;            /* events that could not be kept: no memory, or lengths that lie */
	uint64_t
		left_out; /* what had no room besides: types, processes, threads, stacks, names, modules, files; rows are there all the same */
	int64_t newest;             /* the latest time of all events; INT64_MIN: none */
	int64_t lag;                /* ns from then to now */
	uint64_t ring_bytes, bytes; /* what all of it may take; what events do */
	uint64_t bytes_besides;     /* what dictionaries and the machine's state take */
	bool ended;
	bool broken_off; /* it ended without etwd's word that the session had */
};
OPENETW_API uint32_t openetw_index_live_progress(struct openetw_index *x, struct openetw_live_progress *ret);
/* Waits until the ring has had so many rows. ERROR_TIMEOUT; ERROR_NO_MORE_ITEMS: the session has ended with fewer.
 * UINT32_MAX: as long as it takes. */
OPENETW_API uint32_t openetw_index_wait_rows(struct openetw_index *x, uint64_t rows, uint32_t milliseconds);

struct openetw_index_about {
	uint32_t size;
	uint32_t files;
	uint64_t start_filetime; /* what time 0 is */
	int64_t first, last;     /* times of the first and the last event */
	uint64_t rows;
	uint64_t events_lost, buffers_lost; /* when they were recorded, as the headers say */
	uint64_t stacks_without_event;
	uint64_t bytes; /* of the index */
	uint32_t types, processes, threads, stacks;
	uint32_t processors;
	uint32_t loss_unknown; /* OPENETW_UNKNOWN_… of trace.h: more may have been lost */
	bool on_disk;          /* it is in a file */
	bool reused;           /* it was there already */
	uint64_t
		rows_gone; /* of a live session: rows that have left the ring; the first that is there has this number */
};
OPENETW_API uint32_t openetw_index_about(struct openetw_index *x, struct openetw_index_about *ret);
/* Where the index of a file is or would be. ERROR_INSUFFICIENT_BUFFER. */
OPENETW_API uint32_t openetw_index_path(const char *trace, char *ret, uint32_t bytes);

struct openetw_index_type {
	uint32_t size;
	uint32_t type;
	struct openetw_guid provider_guid;
	const char *provider, *name; /* "Microsoft-Windows-Kernel-Process", "ProcessStart/Start" */
	uint16_t id, task;
	uint8_t version, channel, level, opcode;
	uint64_t keyword;
	uint64_t rows;
	bool classic;
};
/* Strings live as long as the index. ERROR_NOT_FOUND. */
OPENETW_API uint32_t openetw_index_type(struct openetw_index *x, uint32_t type, struct openetw_index_type *ret);

struct openetw_index_process {
	uint32_t size;
	uint32_t process;
	uint32_t pid, parent_pid, session_id;
	uint32_t file;      /* which of the files */
	int64_t start, end; /* INT64_MIN: it ran when the trace began; INT64_MAX: when it ended */
	const char *name, *command_line, *container;
	int32_t exit_code;
	bool has_exit_code;
};
OPENETW_API uint32_t openetw_index_process(struct openetw_index *x, uint32_t process,
					   struct openetw_index_process *ret);

struct openetw_index_thread {
	uint32_t size;
	uint32_t thread;
	uint32_t tid, process;
	int64_t start, end;
	const char *name;
};
OPENETW_API uint32_t openetw_index_thread(struct openetw_index *x, uint32_t thread, struct openetw_index_thread *ret);

/* Addresses of a stack, innermost first, at most `max`. How many it has. */
OPENETW_API uint32_t openetw_index_stack(struct openetw_index *x, uint32_t stack, uint64_t *addresses, uint32_t max);

/* ---- a query ----------------------------------------------------------------------------------- */

struct openetw_query;

/* NULL when memory runs out. */
OPENETW_API struct openetw_query *openetw_query_create(struct openetw_index *x);
OPENETW_API void openetw_query_destroy(struct openetw_query *q);
/* Only events of these times, both included. Default: all. */
OPENETW_API void openetw_query_set_range(struct openetw_query *q, int64_t from, int64_t to);
/* Only events for which this is true, in the language of `openetw dump --filter` (docs/filters.md). NULL or "": all.
 * ERROR_INVALID_PARAMETER: openetw_query_problem() says what is wrong in which column. */
OPENETW_API uint32_t openetw_query_set_filter(struct openetw_query *q, const char *text);
/* "" when nothing was wrong. */
OPENETW_API const char *openetw_query_problem(const struct openetw_query *q);
/* Any thread: what runs ends soon, with ERROR_CANCELLED and what it has found by then. The next question is not
 * concerned. */
OPENETW_API void openetw_query_cancel(struct openetw_query *q);

/* False ends the question, as openetw_query_cancel() does. `done` of `total` groups of rows have been looked at. A
 * question may look at them several times; then `done` begins again. */
typedef bool (*openetw_query_progress_fn)(void *context, uint64_t done, uint64_t total);
/* For questions that take long: called about ten times a second, by the thread that asks. NULL: nobody wants to know. */
OPENETW_API void openetw_query_set_progress(struct openetw_query *q, openetw_query_progress_fn fn, void *context);

/* What every answer says of itself. */
struct openetw_answer {
	uint32_t size;
	bool exact;                /* nothing was estimated */
	bool partial;              /* the index is being made, the query was cancelled, or it asked for less than all */
	uint64_t scanned, matched; /* events */
	uint64_t decoded;          /* events whose payload had to be read */
	uint64_t undecided;        /* events that the filter could not judge (a regular expression gave up): left out */
	/* Of an index that is being made: what of the traces it is about. Else all of them. */
	uint64_t bytes_covered, bytes;
	uint64_t rows_covered;
};

OPENETW_API uint32_t openetw_query_count(struct openetw_query *q, struct openetw_answer *ret);

/* Writes the events of a live index that match to a trace file, with all that was said of the machine and of what events
 * mean since the ring began. An existing file is emptied. */
OPENETW_API uint32_t openetw_query_save(struct openetw_query *q, const char *path, struct openetw_answer *ret);

/* By what events are told apart. */
enum openetw_key {
	OPENETW_BY_NOTHING,
	OPENETW_BY_TYPE,
	OPENETW_BY_PROVIDER, /* ids are those of any type of the provider */
	OPENETW_BY_LEVEL,
	OPENETW_BY_PROCESS,      /* instance of a process: pid and start */
	OPENETW_BY_PROCESS_NAME, /* ids are those of any process of the name */
	OPENETW_BY_THREAD,
	OPENETW_BY_CPU,
	OPENETW_BY_STACK,
	OPENETW_BY_FILE,
	OPENETW_BY_CONTAINER, /* ids are those of any process of the container */
	OPENETW_BY_FIELD,     /* the field of openetw_query_set_field(); id 0 are the events that do not have it */
};

/* Counts over time. The range [from, to) is cut into `buckets` of equal length. */
struct openetw_histogram {
	uint32_t size;
	/* Of them, those with most events first; what does not fit is in the last, id UINT32_MAX. OPENETW_BY_NOTHING has one,
	 * also when it counts nothing. */
	uint32_t series;
	const uint32_t *ids;
	const uint64_t *counts; /* [series][buckets] */
	const uint64_t *totals; /* [series] */
	struct openetw_answer answer;
};
/* At most `most` series. The arrays live until the next question to this query. */
OPENETW_API uint32_t openetw_query_histogram(struct openetw_query *q, int64_t from, int64_t to, uint32_t buckets,
					     enum openetw_key by, uint32_t most, struct openetw_histogram *ret);

/* One event of a result. */
struct openetw_row {
	uint32_t size;
	uint32_t type, process, thread;
	uint32_t cpu, stack;
	int64_t time;
	uint64_t row;      /* its number in the index */
	uint64_t position; /* in the filtered result */
};
typedef bool (*openetw_row_fn)(void *context, const struct openetw_row *row);
/* Events `position` to `position` + `count` - 1 of the result. */
OPENETW_API uint32_t openetw_query_rows(struct openetw_query *q, uint64_t position, uint64_t count, openetw_row_fn fn,
					void *context, struct openetw_answer *ret);
/* The first `count` events of the result, as soon as they are found: a filter that has to read events reads only as far
 * as it must, and what it read is not read again by the next question. Unless all have been counted before, `matched`
 * and `scanned` are about the groups of rows that were looked at, and `partial` says that there may be others. */
OPENETW_API uint32_t openetw_query_first_rows(struct openetw_query *q, uint64_t count, openetw_row_fn fn, void *context,
					      struct openetw_answer *ret);
/* The position in the result of the first event at or after a time. */
OPENETW_API uint32_t openetw_query_position(struct openetw_query *q, int64_t time, uint64_t *ret);

/* The whole event of a row, as a callback of ProcessTrace gets it; valid until the next call with this query.
 * ERROR_NOT_FOUND: there is no such row, or it has left the ring of a live index. */
OPENETW_API uint32_t openetw_query_event(struct openetw_query *q, uint64_t row, const openetw_event_record **ret);

/* Values of a key with their counts, most first. */
struct openetw_facet {
	uint32_t size;
	uint32_t id;
	const char *text; /* what the id means, as people read it */
	uint64_t count;
	int64_t first, last; /* times of the first and last event that has it */
};
typedef bool (*openetw_facet_fn)(void *context, const struct openetw_facet *f);
OPENETW_API uint32_t openetw_query_facets(struct openetw_query *q, enum openetw_key by, uint32_t most,
					  openetw_facet_fn fn, void *context, struct openetw_answer *ret);

/* A field of payloads, for BY_FIELD and the measures of groups: "Status", "Line.Price". */
OPENETW_API uint32_t openetw_query_set_field(struct openetw_query *q, const char *name);

/* A tree of groups: first by keys[0], those by keys[1], … */
struct openetw_group {
	uint32_t size;
	uint32_t depth;  /* 1: of keys[0] */
	uint32_t parent; /* which of the groups told before; UINT32_MAX: none */
	uint32_t id;
	const char *text;
	uint64_t count;
	/* Of the field's numbers; 0 when no event of the group has it. p50 is the smallest number that half of them are not
	 * above. Of more than four million numbers p50 and p99 are off by up to 1.6 percent, and `exact` is false. */
	uint64_t values;
	double sum, min, max, average, p50, p99;
};
/* Parents are told before their children, those with most events first. At most `most` children of a parent: what does
 * not fit is the last of them, with id UINT32_MAX. */
typedef bool (*openetw_group_fn)(void *context, const struct openetw_group *g);
#define OPENETW_GROUP_KEYS 8u
OPENETW_API uint32_t openetw_query_group(struct openetw_query *q, const enum openetw_key *keys, uint32_t key_count,
					 uint32_t most, openetw_group_fn fn, void *context, struct openetw_answer *ret);

/* Call trees of the events that have stacks. */
#define OPENETW_STACKS_CALLEES   0x0u /* from the outermost frame inwards */
#define OPENETW_STACKS_INVERTED  0x1u /* from the innermost outwards: callers */
#define OPENETW_STACKS_NO_KERNEL 0x2u
struct openetw_stack_node {
	uint32_t size;
	uint32_t depth;
	uint32_t parent; /* which of the nodes told before; UINT32_MAX: none */
	uint32_t process;
	uint64_t address;
	double self, total; /* events, or the sum of the field */
};
typedef bool (*openetw_stack_node_fn)(void *context, const struct openetw_stack_node *n);
/* Nodes that have less than `least` (0 to 1) of everything are left out, their weight stays in their parents. */
OPENETW_API uint32_t openetw_query_stacks(struct openetw_query *q, uint32_t flags, double least,
					  openetw_stack_node_fn fn, void *context, struct openetw_answer *ret);

/* ---- what threads did -------------------------------------------------------------------------- */

/* Of the context switches and wakings in the traces. The first such question reads those events; what they say is kept as
 * long as the index is open. The query's filter and times do not matter. Without such events nothing is known. */
enum openetw_doing {
	OPENETW_DOING_UNKNOWN, /* no event says it, or switches were lost */
	OPENETW_DOING_RUNNING,
	OPENETW_DOING_READY, /* it could run, and another thread does */
	OPENETW_DOING_WAITING,
	OPENETW_DOING_IDLE, /* processors alone */
};
/* What ends a wait. */
enum openetw_waker {
	OPENETW_WAKER_UNKNOWN, /* no event says it */
	OPENETW_WAKER_THREAD,
	OPENETW_WAKER_INTERRUPT,
	OPENETW_WAKER_SOFTIRQ,
	OPENETW_WAKER_TIMER,
	OPENETW_WAKER_DPC,       /* of Windows: an interrupt's or a timer's */
	OPENETW_WAKER_PREEMPTED, /* it did not wait: another thread took its processor */
};

enum openetw_lanes {
	OPENETW_LANES_THREADS, /* ids are threads */
	OPENETW_LANES_CPUS,    /* ids are OPENETW_CPU_OF() */
};
#define OPENETW_CPU_OF(file, processor) ((uint32_t)(file) << 16 | (uint32_t)(processor))

/* Some pixels beside each other during most of which the lane did the same. */
struct openetw_lane_run {
	uint32_t size;
	uint32_t lane;          /* which of the ids */
	uint32_t first, pixels; /* the first, and how many */
	enum openetw_doing doing;
	double coverage;    /* 0 to 1: of the pixels' time, how much of it did that */
	uint64_t intervals; /* how many such there are in these pixels */
	/* Of the longest of them, whole. */
	int64_t from, to;
	uint32_t thread;          /* processors: who ran; ready threads: who woke it. 0: none, or nobody knows */
	uint32_t cpu;             /* running: where */
	uint32_t reason;          /* waiting: KWAIT_REASON of Windows */
	enum openetw_waker waker; /* ready: what woke it */
};
typedef bool (*openetw_lane_fn)(void *context, const struct openetw_lane_run *r);
/* The time from `from` to `to` cut into `pixels` (up to 65,536) of equal length, for each of `count` ids (up to 65,536).
 * Runs of a lane are told in order, lane by lane; pixels about which nothing is known are in none. Of processors a run
 * ends also where another thread runs most. ERROR_NOT_FOUND: there is no such id. */
OPENETW_API uint32_t openetw_query_lanes(struct openetw_query *q, enum openetw_lanes kind, const uint32_t *ids,
					 uint32_t count, int64_t from, int64_t to, uint32_t pixels, openetw_lane_fn fn,
					 void *context, struct openetw_answer *ret);

enum openetw_spans {
	/* From an event of opcode Start to the next one of opcode Stop that has the same provider, task and process, and the
	 * same activity; without activities, the same thread. */
	OPENETW_SPANS_EVENTS,
	OPENETW_SPANS_DISKS, /* requests to disks */
	OPENETW_SPANS_FILES, /* operations on files */
};
/* It belongs to the thread of its Start. Spans of a thread that overlap are on different levels, 0 outermost. */
struct openetw_span {
	uint32_t size;
	uint32_t lane;          /* which of the threads */
	uint32_t level;         /* 0 to 63 */
	uint32_t first, pixels; /* the first pixel that it touches, and how many */
	uint32_t type;          /* of its Start; of a request to a disk, the event that tells of it */
	double coverage;        /* 0 to 1: of the pixels' time */
	uint64_t spans; /* more than 1: so many touch this one pixel and no other. The rest is of the longest of them */
	int64_t from, to; /* to INT64_MAX: it did not end; to `from`: no event says when it did */
};
typedef bool (*openetw_span_fn)(void *context, const struct openetw_span *s);
/* As openetw_query_lanes(). Spans of a thread are told in the order in which they began, nearly: those that are told
 * together come later. */
OPENETW_API uint32_t openetw_query_spans(struct openetw_query *q, enum openetw_spans kind, const uint32_t *threads,
					 uint32_t count, int64_t from, int64_t to, uint32_t pixels, openetw_span_fn fn,
					 void *context, struct openetw_answer *ret);

/* One wait, and what ended it. */
enum openetw_cause {
	OPENETW_CAUSE_NEXT,    /* a thread that waited, too: the next link is its wait */
	OPENETW_CAUSE_RAN,     /* a thread that did not wait meanwhile: what it did took so long */
	OPENETW_CAUSE_OUTSIDE, /* no thread: see `waker` */
	OPENETW_CAUSE_UNKNOWN, /* no event says who */
	OPENETW_CAUSE_WAITS,   /* nothing yet: it waits when the trace ends */
	OPENETW_CAUSE_MORE,    /* there are more links than were asked for */
};
struct openetw_link {
	uint32_t size;
	uint32_t thread; /* that waited */
	int64_t from, ready,
		to;      /* it waited from `from`, was woken at `ready`, ran at `to`. INT64_MAX: not in the trace */
	uint32_t reason; /* KWAIT_REASON of Windows */
	enum openetw_waker waker;
	uint32_t waker_thread; /* 0: none, or nobody knows */
	enum openetw_cause cause;
};
typedef bool (*openetw_link_fn)(void *context, const struct openetw_link *l);
/* Why did the thread wait? From its wait at `time`, or the last one before it, back from waker to waker, at most `most`
 * links (up to 4,096). ERROR_NOT_FOUND: there is no such thread, or it is not known to have waited before. */
OPENETW_API uint32_t openetw_query_chain(struct openetw_query *q, uint32_t thread, int64_t time, uint32_t most,
					 openetw_link_fn fn, void *context, struct openetw_answer *ret);

#ifdef __cplusplus
}
#endif
#endif
