/* SPDX-License-Identifier: MIT
 *
 * Events of trace files or of a running session, in batches, without the shapes of Win32. In libopenetw.
 *
 *   struct openetw_reader *r = openetw_reader_create();
 *   openetw_reader_add_file(r, "web.etl");
 *   openetw_reader_set_content(r, OPENETW_READER_JSON);
 *   if (openetw_reader_start(r) != 0) {
 *           fprintf(stderr, "%s\n", openetw_reader_problem(r));
 *   }
 *   OPENETW_SIZED(struct openetw_batch, b);
 *   while (openetw_reader_next(r, OPENETW_READER_FOREVER, &b) == 0) {
 *           for (uint32_t i = 0; i < b.count; i++) {
 *                   const struct openetw_event *e = openetw_batch_event(&b, i);
 *                   printf("%s/%s %s\n", e->provider, e->name, e->json);
 *           }
 *   }
 *   openetw_reader_destroy(r);
 *
 * samples/reader.c is a whole program. A thread of the reader's own reads, selects and decodes; a bounded queue lies between it and next().
 * The functions that say what is wanted never fail by themselves: the first mistake is kept, and
 * openetw_reader_start() returns its code and openetw_reader_problem() says it in words.
 *
 * One thread at a time uses a reader; openetw_reader_stop() and stoppers are for any thread.
 * defs.h says what holds for results, sizes and strings.
 */
#ifndef OPENETW_READER_H
#define OPENETW_READER_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct openetw_reader;

/* ---- what is wanted ---------------------------------------------------------------------------- */

/* NULL when memory runs out. */
OPENETW_API struct openetw_reader *openetw_reader_create(void);
/* Stops what runs. Batches and their events are gone. NULL is fine. */
OPENETW_API void openetw_reader_destroy(struct openetw_reader *r);

/* Up to 1,024 files, merged by time; or one session (by its name), live. */
OPENETW_API void openetw_reader_add_file(struct openetw_reader *r, const char *path);
OPENETW_API void openetw_reader_set_session(struct openetw_reader *r, const char *name);

#define OPENETW_READER_RAW   0x1u /* openetw_event.record */
#define OPENETW_READER_JSON  0x2u /* openetw_event.json and the names */
#define OPENETW_READER_NAMES 0x4u /* the names alone */
/* Without the records that a file has for itself: headers, descriptions of events, and what etwd adds so that stacks have
 * names. The questions of query.h and the commands count so. */
#define OPENETW_READER_EVENTS 0x8u
/* Default: RAW | NAMES. */
OPENETW_API void openetw_reader_set_content(struct openetw_reader *r, uint32_t content);

#define OPENETW_READER_ORIGIN 0x1u /* whose event it is, also where its header does not say */
#define OPENETW_READER_STACKS 0x2u /* call stacks, also those in records of their own (files) */
#define OPENETW_READER_CPU    0x4u /* the processor */
/* Default: none of them. ORIGIN and STACKS make files be read twice, see state.h. */
OPENETW_API void openetw_reader_attach(struct openetw_reader *r, uint32_t what);

/* Only these processes (repeatable): by id, by name with or without ".exe". Implies ORIGIN. */
OPENETW_API void openetw_reader_add_pid(struct openetw_reader *r, uint32_t pid);
OPENETW_API void openetw_reader_add_process(struct openetw_reader *r, const char *name);
/* Only these providers (repeatable). */
OPENETW_API void openetw_reader_add_provider(struct openetw_reader *r, const struct openetw_guid *guid);
/* Only events of these times, FILETIME. */
OPENETW_API void openetw_reader_set_range(struct openetw_reader *r, uint64_t from, uint64_t to);
/* Asked last, on the reader's thread, before the event is decoded and kept. True: keep it. A filter that calls
 * openetw_reader_stop() ends the reading; its own event is not kept then. */
typedef bool (*openetw_reader_filter_fn)(void *context, const openetw_event_record *e);
OPENETW_API void openetw_reader_set_filter(struct openetw_reader *r, openetw_reader_filter_fn fn, void *context);

#define OPENETW_READER_WAIT 0u /* a full queue stops the reading: default for files */
#define OPENETW_READER_DROP 1u /* a full queue drops new events and counts them: default, live */
/* Default: 65,536 events and 16 MiB. At least 1 event and 64 KiB. An event larger than the queue
 * passes when the queue is empty. */
OPENETW_API void openetw_reader_set_queue(struct openetw_reader *r, uint32_t events, size_t bytes, uint32_t when_full);

/* ---- reading ----------------------------------------------------------------------------------- */

/* Opens all and begins. ERROR_INVALID_PARAMETER and others for mistakes made above,
 * ERROR_FILE_NOT_FOUND, ERROR_FILE_CORRUPT, ERROR_WMI_INSTANCE_NOT_FOUND, … as OpenTrace;
 * ERROR_INVALID_STATE when it has begun before. */
OPENETW_API uint32_t openetw_reader_start(struct openetw_reader *r);
/* What was wrong last, one sentence; "" when nothing was. Lives until the next call. */
OPENETW_API const char *openetw_reader_problem(const struct openetw_reader *r);

struct openetw_event {
	const openetw_event_record *record; /* with RAW, else NULL */
	const char *json;                   /* with JSON: the payload as one object, else NULL */
	size_t json_length;
	uint32_t result; /* with JSON: OPENETW_DECODED, … of decode.h */
	uint16_t id;
	uint8_t version, level;
	const char *provider; /* with JSON or NAMES, else "" */
	const char *name;
	uint64_t time; /* FILETIME */
	/* With CPU, else UINT32_MAX. */
	uint32_t cpu;
	/* Of the header; with ORIGIN also found out. UINT32_MAX: nobody knows. */
	uint32_t pid, tid;
	uint32_t stack_count;
	const uint64_t *stack; /* with STACKS: innermost first; NULL: none */
	const char *process;   /* with ORIGIN: its name; NULL: unknown */
	const char *file;      /* with ORIGIN: the file whose key the event has; NULL: none */
};
/* struct openetw_event may get more members at its end. Then one event takes more bytes than the program thinks, so
 * events[i] is wrong for every i but 0: openetw_batch_event() steps by event_stride. */
struct openetw_batch {
	uint32_t size; /* in: sizeof(struct openetw_batch) */
	uint32_t count;
	const struct openetw_event *events;
	uint32_t event_stride; /* bytes from one event to the next */
	uint32_t reserved;
};
/* Event number `i` of a batch, below its count. */
static inline const struct openetw_event *openetw_batch_event(const struct openetw_batch *b, uint32_t i)
{
	return (const struct openetw_event *)(const void *)((const char *)(const void *)b->events +
							    (size_t)i * b->event_stride);
}

#define OPENETW_READER_FOREVER 0xFFFFFFFFu
/* The next events, at least one, in the order of time; they are valid until the next call. Waits up to
 * so many milliseconds for the first. Without events the batch is empty: WAIT_TIMEOUT; ERROR_NO_MORE_ITEMS at the end (of the files, of
 * the session, or after a stop); or why the reading failed, when all that was read has been taken. */
OPENETW_API uint32_t openetw_reader_next(struct openetw_reader *r, uint32_t milliseconds, struct openetw_batch *ret);

/* Events that a full queue had no room for; known to the reader as lost when they were recorded. */
OPENETW_API uint64_t openetw_reader_dropped(struct openetw_reader *r);
OPENETW_API uint64_t openetw_reader_lost(struct openetw_reader *r);
/* Not 0: more may have been lost, and nobody knows how much; OPENETW_UNKNOWN_… of openetw.h says why. */
OPENETW_API uint32_t openetw_reader_lost_unknown(struct openetw_reader *r);

/* No more events; what is queued can still be taken. Any thread. */
OPENETW_API void openetw_reader_stop(struct openetw_reader *r);
/* The same for those who may outlive the reader: a signal thread, a timer. The stopper is theirs until
 * they release it; stopping a reader that is gone does nothing. NULL when memory runs out. */
struct openetw_stopper;
OPENETW_API struct openetw_stopper *openetw_reader_stopper(struct openetw_reader *r);
OPENETW_API void openetw_stopper_stop(struct openetw_stopper *s);
OPENETW_API void openetw_stopper_release(struct openetw_stopper *s); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
