/* SPDX-License-Identifier: MIT
 *
 * What OpenETW adds to the Windows API. Clean as C99 and C++11.
 */
#ifndef OPENETW_OPENETW_H
#define OPENETW_OPENETW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPENETW_API __attribute__((visibility("default")))

/* "major.minor.patch". Never NULL. */
OPENETW_API const char *openetw_version(void);

/* The directory of this user's etwd, made when it is not there: private to them, empty after a restart of
 * the machine. Programs may keep files about running sessions in folders of their own there. Win32
 * code: ERROR_ACCESS_DENIED when it is not safely theirs, ERROR_INVALID_PARAMETER. */
OPENETW_API uint32_t openetw_runtime_directory(char *path, uint32_t bytes);

/* Where the etwd that this program's calls reach runs, or would run (UTF-8): the user's, or with
 * OPENETW_INSTANCE=system the one of all users. Nothing is made. `note` says why it is not the usual place, ""
 * when it is; NULL: never mind. ERROR_SUCCESS; ERROR_ACCESS_DENIED: no place is safely this user's;
 * ERROR_INVALID_PARAMETER. */
OPENETW_API uint32_t openetw_etwd_place(char *path, uint32_t path_bytes, char *note, uint32_t note_bytes);

/* The files of saved collectors (docs/autologger.md) have changed: etwd reads them again, and keeps their
 * time tables from now on. `start`: start etwd when none runs. Win32 code;
 * ERROR_WMI_INSTANCE_NOT_FOUND: none runs. */
OPENETW_API uint32_t openetw_collectors_changed(uint32_t start);

/* One English sentence (UTF-8) that says why this thread's last failed StartTrace, ControlTrace,
 * EnableTrace*, Query* or OpenTrace call failed, more exactly than its Win32 code can; "" when nothing
 * more is known. Valid until the thread's next such call. */
OPENETW_API const char *openetw_last_error_text(void);

/* English sentence and symbolic name ("ERROR_ACCESS_DENIED") of a Win32 code; NULL when unknown. */
OPENETW_API const char *openetw_error_text(uint32_t win32_code);
OPENETW_API const char *openetw_error_name(uint32_t win32_code);

/* Damage that the reader found in a trace file, went around and did not deliver. */
struct openetw_problem {
	uint32_t size; /* in: sizeof(struct openetw_problem) */
	uint32_t reserved;
	uint64_t file_offset; /* bytes, of the buffer that is damaged */
	char text[200];	      /* English, UTF-8 */
};
/* The next report about an open trace (a handle of OpenTrace), each once: ERROR_SUCCESS,
 * ERROR_NO_MORE_ITEMS, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER. Ask inside callbacks or when
 * ProcessTrace has returned, and before CloseTrace. */
OPENETW_API uint32_t openetw_trace_next_problem(uint64_t trace, struct openetw_problem *problem);

/* ProcessTrace for up to 1,024 traces; times as FILETIME, both included (0 and UINT64_MAX: all). Codes as
 * ProcessTrace. */
OPENETW_API uint32_t openetw_trace_process(const unsigned long long *traces, uint32_t count, uint64_t from,
					   uint64_t to);

/* When something was lost while a trace was recorded, as far as its file shows it: buffers that say so,
 * and numbers of buffers that are not there. How much it was in all, the header says (EventsLost,
 * BuffersLost); losses told in events of their own (live) are not among these. */
#define OPENETW_LOST_EVENTS	 1u /* events of one processor */
#define OPENETW_LOST_BUFFERS	 2u /* buffers */
#define OPENETW_LOST_BACKUP	 3u /* parts of what a real-time session put aside */
#define OPENETW_LOST_MISSING	 4u /* `count` buffers are not there: empty ones dropped, or lost */
#define OPENETW_LOST_OVERWRITTEN 5u /* the oldest `count` buffers of a ring, by intention */
#define OPENETW_LOST_LATEST	 6u /* the last loss of one processor was at this time */
struct openetw_loss_range {
	uint32_t size; /* in: sizeof(struct openetw_loss_range) */
	uint32_t kind;
	uint32_t processor; /* 0xFFFFFFFF: not of one processor */
	uint32_t reserved;
	uint64_t count; /* of buffers; 0: nobody knows */
	uint64_t from, to; /* FILETIME */
};
/* The next one of an open trace, each once; codes as of openetw_trace_next_problem(). */
OPENETW_API uint32_t openetw_trace_next_loss(uint64_t trace, struct openetw_loss_range *range);

/* What was lost while a trace was recorded, as far as it can be known. Zero and "nobody knows" are two things:
 * a file whose session did not end has no final numbers, one that was cut lacks what was behind the cut, and
 * a session whose etwd died told nobody. */
#define OPENETW_UNKNOWN_NOT_CLOSED  1u /* file: its header was not finished, or the session still runs */
#define OPENETW_UNKNOWN_END_MISSING 2u /* file: `missing_buffers` that were written are not there */
#define OPENETW_UNKNOWN_BROKEN_OFF  3u /* real time: the session ended unexpectedly */
struct openetw_trace_loss {
	uint32_t size;	  /* in: sizeof(struct openetw_trace_loss) */
	uint32_t unknown; /* 0: the numbers are all; else OPENETW_UNKNOWN_…: there may be more */
	uint64_t events, buffers;
	uint64_t missing_buffers;
	char reason[120]; /* English, UTF-8; "" when `unknown` is 0 */
};
/* Of an open trace; of a session, up to now. ERROR_SUCCESS, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER. */
OPENETW_API uint32_t openetw_trace_loss(uint64_t trace, struct openetw_trace_loss *loss);

/* Called now and then with the number of events done; false ends the work. */
typedef bool openetw_merge_progress_fn(void *ctx, uint64_t events);
#define OPENETW_MERGE_COMPRESS 1u
/* Writes the events of `count` (1 to 1,024) trace files to `output`, an .etl in the order of time, as
 * Windows' merging tools do: logger name "Relogger", the first file's header, losses added up. Time
 * stamps keep their bytes; those of a file with another clock are converted to the first one's.
 * `output` must be none of the inputs. ERROR_FILE_NOT_FOUND, ERROR_FILE_CORRUPT (no trace),
 * ERROR_CANCELLED (by `progress`, which may be NULL), ERROR_DISK_FULL, …;
 * openetw_last_error_text() names file and reason. */
OPENETW_API uint32_t openetw_merge(const char *const *paths, uint32_t count, const char *output,
				   uint32_t flags, openetw_merge_progress_fn *progress, void *ctx);

/* A bit of LogFileMode of ours, beside EVENT_TRACE_COMPRESSED_MODE: the file's buffers are Zstandard
 * frames. Smaller and faster than what Windows has, and read by our own readers only. */
#define OPENETW_TRACE_ZSTD_MODE 0x40000000u

struct _EVENT_TRACE_PROPERTIES; /* evntrace.h */

/* The loss ledger of a session: every place where an event can vanish has its own counter.
 * docs/loss.md explains each. All counters are cumulative since the session started. */
struct openetw_loss {
	uint32_t size;		/* in: sizeof(struct openetw_loss) */
	uint32_t reserved;
	uint64_t events;	/* recorded */
	uint64_t bytes_written; /* to the log file */
	uint64_t pool_full;	/* the provider process wrote faster than etwd drained */
	uint64_t nesting;	/* too many writes nested in signal handlers */
	uint64_t too_big;	/* larger than 64 KiB */
	uint64_t detached;	/* while no etwd was there, or in a forked child before it attached */
	uint64_t rejected;	/* malformed records of a broken process */
	uint64_t no_buffer;	/* no free session buffer */
	uint64_t disk_events;	/* in buffers the file system refused */
	uint64_t disk_buffers;
	uint64_t realtime_buffers; /* not taken by a consumer in time */
	uint64_t realtime_events;
	uint64_t torn;		/* half written when their process died */
	uint64_t overwritten;	/* circular and buffering modes: by intention, not counted as lost */
	/* Programs that were compiled before these existed give the smaller size. */
	uint64_t gone_events;	/* were in the log file, which somebody removed, cut or replaced */
	uint64_t gone_buffers;
	uint64_t file_time;	/* FILETIME: when `file_state` was noticed */
	uint32_t file_state;	/* OPENETW_FILE_* */
	uint32_t reserved2;
	uint64_t realtime_refused; /* of realtime_events: the disk, or the user's share of it, had no room */
	uint64_t disbelieved; /* said by processes whose counters of losses lie: not counted as lost */
};
#define OPENETW_FILE_FINE     0u
#define OPENETW_FILE_MOVED    1u /* it has another name, and is written on */
#define OPENETW_FILE_CUT      2u /* truncated; written on behind what was left */
#define OPENETW_FILE_REMOVED  3u /* a new one of that name is begun with the next events */
#define OPENETW_FILE_REPLACED 4u /* another file has its name, or others' bytes are in it: nothing is written */
#define OPENETW_LOSS_SIZE_1   offsetof(struct openetw_loss, gone_events)

/* Fills *loss for the session with that name (UTF-8). Win32 code: ERROR_WMI_INSTANCE_NOT_FOUND when
 * no such session runs, ERROR_INVALID_PARAMETER for NULL or a wrong size. */
OPENETW_API uint32_t openetw_session_loss(const char *session_name, struct openetw_loss *loss);
/* Ends a session as ControlTraceA(id, session_name, properties, EVENT_TRACE_CONTROL_STOP) does, whose codes and
 * arguments these are, and fills *loss with what was counted up to its last event. */
OPENETW_API uint32_t openetw_session_stop(uint64_t id, const char *session_name, struct _EVENT_TRACE_PROPERTIES *properties,
					  struct openetw_loss *loss);

/* A provider that was registered lately, whether or not its process still runs. */
struct openetw_registration {
	uint32_t size;
	uint32_t pid;
	uint64_t number;  /* etwd counts them: later ones have higher numbers */
	uint8_t guid[16]; /* as a GUID lies in memory */
	uint8_t group[16]; /* zeros when it is in none */
	char name[256];	  /* "" when the provider did not say it */
	char process[256];
};
/* False ends the list. */
typedef bool openetw_registration_fn(void *ctx, const struct openetw_registration *r);
/* The last registrations (etwd remembers 128), in no order; one's own processes' only, of the instance for all
 * users. ERROR_SUCCESS also when there are none; ERROR_NOT_SUPPORTED: an older etwd. */
OPENETW_API uint32_t openetw_recent_registrations(openetw_registration_fn *each, void *ctx);

/* What is known of a session beyond EVENT_TRACE_PROPERTIES. Times are FILETIME. */
struct openetw_session {
	uint32_t size; /* in: sizeof(struct openetw_session) */
	uint32_t owner_uid;
	uint64_t started;
	uint64_t events;
	uint64_t bytes_written;
	uint64_t expires;     /* etwd stops it then; 0: never */
	uint64_t quota_bytes; /* etwd stops it when so much is in its file; 0: no quota */
	uint32_t owner_pid;   /* etwd stops it when this process ends; 0: it is nobody's */
	uint32_t consumers;   /* programs that read it live now */
};
/* Codes as of openetw_session_loss(). */
OPENETW_API uint32_t openetw_session_query(const char *session_name,
					   struct openetw_session *session);

/* The kernel events of a session: what it wants, what of it is missing, what recording costs. */
struct openetw_kernel {
	uint32_t size;		/* in: sizeof(struct openetw_kernel) */
	uint32_t masks[8];	/* group masks, as of TraceSystemTraceEnableFlagsInfo */
	uint32_t stacks;	/* events with stacks */
	uint16_t stack[256];	/* group << 8 | type of each */
	uint32_t restarts;	/* of the collector, which ended unexpectedly */
	uint32_t collector_pid; /* 0: none runs */
	uint64_t cpu_ns;	/* processor time of the collector, for all sessions together */
	uint64_t memory;	/* bytes it holds */
	char note[704];		/* what is not recorded, and why, in words; "": nothing is missing */
};
/* Codes as of openetw_session_loss(); ERROR_NOT_FOUND: a session without kernel events. */
OPENETW_API uint32_t openetw_session_kernel(const char *session_name, struct openetw_kernel *kernel);

/* Limits for a session that might be forgotten: `expires`, `quota_bytes` and `owner_pid` as above,
 * replacing those it had; all 0: it lives until it is stopped. The process must be in etwd's pid
 * name space. ERROR_NOT_FOUND: no such process. Private sessions have no limits. */
OPENETW_API uint32_t openetw_session_limit(const char *session_name, uint64_t expires,
					   uint64_t quota_bytes, uint32_t owner_pid);

/* For a session in new-file mode: the next file begins whenever `seconds` are over, besides when one is
 * full (0: only then), and only the last `keep` files stay (0: all). ERROR_INVALID_PARAMETER for
 * other sessions. */
OPENETW_API uint32_t openetw_session_rotate(const char *session_name, uint32_t seconds,
					    uint32_t keep);

/* Names of the private sessions that controllers started in the processes of a provider, which
 * QueryAllTraces does not list: one after another, each terminated, and an empty one at the end; as
 * many as `size` bytes hold. openetw_session_query() and ControlTrace take such a name. */
OPENETW_API uint32_t openetw_private_sessions(char *names, uint32_t size);

/* Counters of the daemon itself as one JSON object: sessions, processes, registrations, connections, memory,
 * events, and what became of the pools that an etwd before it left behind (adopted_*). Terminated; cut at
 * `size` bytes. ERROR_WMI_INSTANCE_NOT_FOUND: no etwd runs. */
OPENETW_API uint32_t openetw_daemon_counters(char *json, uint32_t size);

/* The name (UTF-8, terminated, cut at `size` bytes) that the provider with these 16 bytes of GUID said
 * when it registered. ERROR_NOT_FOUND: it is not registered or did not say one. */
OPENETW_API uint32_t openetw_registered_name(const void *guid, char *name, uint32_t size);

/* Tells etwd what to call an enabled provider as long as no registration of it says so itself; lists
 * then show it, openetw_registered_name() answers with it. `name` is UTF-8, at most 255 bytes; "" or
 * NULL only asks. *registrations (may be NULL): how many processes' registrations there are now, 0
 * when its events will only come later. ERROR_WMI_GUID_NOT_FOUND: neither registered nor enabled. */
OPENETW_API uint32_t openetw_name_provider(const void *guid, const char *name,
					   uint32_t *registrations);

#ifdef __cplusplus
}
#endif

#endif
