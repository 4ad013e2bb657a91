/* SPDX-License-Identifier: MIT
 *
 * What a trace says about the machine it was recorded on: whose event this is, what that process is
 * called, which module an address lies in, which file a key means, what the call stack of an event
 * was. An optional helper for callbacks of ProcessTrace (and for anybody who has EVENT_RECORDs).
 * In libopenetw.
 *
 *   struct openetw_state *s = openetw_state_create(0);
 *   openetw_state_read_file(s, path, NULL, NULL);   // much of what a file tells stands at its end
 *   TRACEHANDLE h = OpenTraceA(&log);
 *   openetw_state_attach(s, h);
 *   ProcessTrace(&h, 1, NULL, NULL);                // callbacks ask s about their event
 *   CloseTrace(h);
 *   openetw_state_destroy(s);
 *
 * samples/state.c is a whole program.
 *
 * Without openetw_state_read_file (live sessions) the state knows what came before the event.
 * Several traces may share a state: those of one machine and boot (as their headers say) complete
 * each other, others are kept apart, and answers are about the trace whose callback asks. Kernel
 * records tell all this: process, thread, image, file name, context switch and stack walk records;
 * a file without them tells nothing.
 *
 * Memory grows with the number of processes, threads, modules and file names, not with the length
 * of the trace, unless OPENETW_STATE_STACKS asks for stacks; it ends at 1 GiB (openetw_state_full).
 *
 * A state belongs to one thread at a time: that of ProcessTrace while it runs. Strings are UTF-8,
 * never NULL unless said so, and live as long as the state. Times are TimeStamps as the trace's
 * callbacks get them (FILETIME, or raw ticks with PROCESS_TRACE_MODE_RAW_TIMESTAMP) when they go
 * in, and FILETIME when they come out. defs.h says what holds for results and sizes.
 */
#ifndef OPENETW_STATE_H
#define OPENETW_STATE_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct openetw_state;

#define OPENETW_STATE_STACKS 0x1u /* keep call stacks that come in records of their own */

#define OPENETW_UNKNOWN_ID 0xFFFFFFFFu

/* NULL when memory runs out. */
OPENETW_API struct openetw_state *openetw_state_create(uint32_t flags);
/* After CloseTrace of the traces attached to it. NULL is fine. */
OPENETW_API void openetw_state_destroy(struct openetw_state *s);

/* False ends the reading. `done` of `total` buffers have been read. */
typedef bool (*openetw_progress_fn)(void *context, uint32_t done, uint32_t total);
/* Reads a whole trace file for what it says. From then on attach and feed add nothing new, they
 * only follow which thread runs where. ERROR_CANCELLED when fn said so; else what OpenTrace would
 * say. */
OPENETW_API uint32_t openetw_state_read_file(struct openetw_state *s, const char *path, openetw_progress_fn fn,
					     void *context);
/* Sees every record of that trace before its callbacks do. After OpenTrace, before ProcessTrace; a
 * trace has one state at most. ERROR_INVALID_HANDLE, ERROR_BUSY. */
OPENETW_API uint32_t openetw_state_attach(struct openetw_state *s, openetw_trace_handle trace);
/* Instead of attaching: hand it every event, in the order of time. Stacks find their events only
 * when the time stamps are raw. ERROR_SUCCESS. */
OPENETW_API uint32_t openetw_state_feed(struct openetw_state *s, const openetw_event_record *e);
/* True when something had to be left out because the limit of memory was reached. */
OPENETW_API bool openetw_state_full(const struct openetw_state *s);

/* Whose event is it? */
struct openetw_event_origin {
	uint32_t size;
	/* Those of the header; when it has none, from the payload, or of the thread that ran on the
	 * processor. OPENETW_UNKNOWN_ID when nobody knows. */
	uint32_t pid, tid;
	/* What the event is about: the process that starts, the thread that ends, the process an
	 * image is loaded into. The same as above for all other events. */
	uint32_t subject_pid, subject_tid;
	uint32_t reserved;
	const char *process; /* name of `pid`; NULL when unknown */
	const char *subject; /* name of `subject_pid`; NULL when unknown */
	const char *file;    /* path of the file whose key the event has; NULL: none, or unknown */
	uint64_t file_key;   /* 0: none */
	const char *thread;  /* what `tid` is called; NULL when it has no name of its own */
};
OPENETW_API uint32_t openetw_state_event(struct openetw_state *s, const openetw_event_record *e,
					 struct openetw_event_origin *ret);

struct openetw_process {
	uint32_t size;
	uint32_t pid, parent_pid, session_id;
	uint64_t start_time;      /* 0: it ran when the trace began */
	uint64_t end_time;        /* UINT64_MAX: it ran when the trace ended */
	const char *name;         /* as the system has it: "notepad.exe" */
	const char *command_line; /* "" when unknown */
};
/* The process that had this id at that time. ERROR_NOT_FOUND. */
OPENETW_API uint32_t openetw_state_process(struct openetw_state *s, uint32_t pid, uint64_t time,
					   struct openetw_process *ret);

/* True: all that the process did is in the trace. False: it was recorded for other processes (record --pid), and has of
 * this one only what it did to those, such as every other of its context switches. */
OPENETW_API bool openetw_state_watched(const struct openetw_state *s, uint32_t pid, uint64_t time);

struct openetw_thread {
	uint32_t size;
	uint32_t tid, pid;
	uint32_t reserved;
	uint64_t start_time, end_time; /* as with processes */
	uint64_t start_address;        /* of its first function; 0: unknown */
	const char *name;              /* that it was given last; "": none but its program's */
};
OPENETW_API uint32_t openetw_state_thread(struct openetw_state *s, uint32_t tid, uint64_t time,
					  struct openetw_thread *ret);

struct openetw_module {
	uint32_t size;
	uint32_t pid; /* that it is loaded into; 0 or 4: the kernel */
	uint64_t base, bytes;
	uint64_t load_time, unload_time; /* as with processes */
	uint32_t checksum, time_date_stamp;
	const char *path;
	const char *name; /* last part of the path */
	/* Which build it is: GUID and age of its symbol file, and the file's name. NULL, 0, NULL: the trace
	 * does not tell. */
	const struct openetw_guid *build_guid;
	uint32_t build_age;
	uint32_t reserved;
	const char *symbol_file;
};
/* The module that an address of a process lies in; kernel addresses are found for any process. */
OPENETW_API uint32_t openetw_state_module(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time,
					  struct openetw_module *ret);

/* The file that names of code of a module come from. */
struct openetw_symbol_file {
	uint32_t size;
	uint32_t reserved;
	const char *path; /* NULL: there is none */
	const char *why;  /* then: a sentence */
};
/* Of the module that an address lies in. ERROR_NOT_FOUND: it lies in none. Texts are valid as long as the state. */
OPENETW_API uint32_t openetw_state_symbol_file(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time,
					       struct openetw_symbol_file *ret);
/* Look for files of ELF modules in this folder, too: by build id (.build-id/ab/cdef….debug), by the whole path, and by
 * the name, with and without ".debug". Only files of the same build are taken. What was not found before is looked for
 * again. ERROR_INVALID_PARAMETER: there are 16 folders already. */
OPENETW_API uint32_t openetw_state_symbol_folder(struct openetw_state *s, const char *folder);

/* The name of the code at an address: of methods that were made at run time (.NET, JScript) from
 * the trace, of ELF modules from the files of this machine that are of the same build (they
 * themselves, or their separate debug information). C++ and Rust names are made readable. Names are valid as long as the state. ERROR_NOT_FOUND. */
struct openetw_symbol {
	uint32_t size;
	uint32_t reserved;
	const char *name;
	uint64_t offset;    /* of the address, from the symbol's start */
	const char *module; /* name of the module; NULL for code that is in none */
};
OPENETW_API uint32_t openetw_state_symbol(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time,
					  struct openetw_symbol *ret);

/* Path of the file with this key (FileObject or FileKey in disk, file and page fault events); NULL
 * when unknown. */
OPENETW_API const char *openetw_state_file(struct openetw_state *s, uint64_t key, uint64_t time);

struct openetw_stack {
	uint32_t size;
	uint32_t count;            /* of addresses */
	uint32_t pid, tid;         /* whose stack it is */
	const uint64_t *addresses; /* innermost first, kernel part before user part */
};
/* Call stack of an event: from the event itself or, with OPENETW_STATE_STACKS, from stack walk
 * records; without openetw_state_read_file these come too late. Addresses are valid until the next
 * call. ERROR_NOT_FOUND: it has none. */
OPENETW_API uint32_t openetw_state_stack(struct openetw_state *s, const openetw_event_record *e,
					 struct openetw_stack *ret);

#ifdef __cplusplus
}
#endif
#endif
