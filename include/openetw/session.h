/* SPDX-License-Identifier: MIT
 *
 * Running sessions beyond what EVENT_TRACE_PROPERTIES tells: losses, limits, kernel events, providers. In libetw.
 *
 *   OPENETW_SIZED(struct openetw_session, session);
 *   if (openetw_session_query("web", &session) == 0) {
 *           printf("%llu events\n", (unsigned long long)session.events);
 *   }
 */
#ifndef OPENETW_SESSION_H
#define OPENETW_SESSION_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The loss ledger of a session: every place where an event can vanish has its own counter.
 * docs/loss.md explains each. All counters are cumulative since the session started. */
struct openetw_loss {
	uint32_t size; /* in: sizeof(struct openetw_loss) */
	uint32_t reserved;
	uint64_t events;        /* recorded */
	uint64_t bytes_written; /* to the log file */
	uint64_t pool_full;     /* the provider process wrote faster than etwd drained */
	uint64_t nesting;       /* too many writes nested in signal handlers */
	uint64_t too_big;       /* larger than 64 KiB */
	uint64_t detached;      /* while no etwd was there, or before a process heard of it: docs/loss.md */
	uint64_t rejected;      /* malformed records of a broken process */
	uint64_t no_buffer;     /* no free session buffer */
	uint64_t disk_events;   /* in buffers the file system refused */
	uint64_t disk_buffers;
	uint64_t realtime_buffers; /* not taken by a consumer in time */
	uint64_t realtime_events;
	uint64_t torn;        /* half written when their process died */
	uint64_t overwritten; /* circular and buffering modes: by intention, not counted as lost */
	uint64_t gone_events; /* were in the log file, which somebody removed, cut or replaced */
	uint64_t gone_buffers;
	uint64_t file_time;  /* FILETIME: when `file_state` was noticed */
	uint32_t file_state; /* OPENETW_FILE_* */
	uint32_t reserved2;
	uint64_t realtime_refused; /* of realtime_events: the disk, or the user's share of it, had no room */
	uint64_t disbelieved;      /* said by processes whose counters of losses lie: not counted as lost */
};
#define OPENETW_FILE_FINE     0u
#define OPENETW_FILE_MOVED    1u /* it has another name, and is written on */
#define OPENETW_FILE_CUT      2u /* truncated; written on behind what was left */
#define OPENETW_FILE_REMOVED  3u /* a new one of that name is begun with the next events */
#define OPENETW_FILE_REPLACED 4u /* another file has its name, or others' bytes are in it: nothing is written */

/* Fills *loss for the session with that name (UTF-8). Win32 code: ERROR_WMI_INSTANCE_NOT_FOUND when
 * no such session runs, ERROR_INVALID_PARAMETER for NULL or a size that defs.h rules out. */
OPENETW_API uint32_t openetw_session_loss(const char *session_name, struct openetw_loss *loss);
/* Ends a session as ControlTraceA(id, session_name, properties, EVENT_TRACE_CONTROL_STOP) does, whose codes and
 * arguments these are, and fills *loss with what was counted up to its last event: zeros when
 * the session was not stopped. */
OPENETW_API uint32_t openetw_session_stop(uint64_t id, const char *session_name, openetw_session_properties *properties,
					  struct openetw_loss *loss);

/* A provider that was registered lately, whether or not its process still runs. */
struct openetw_registration {
	uint32_t size; /* bytes that the library filled */
	uint32_t pid;
	uint64_t number; /* etwd counts them: later ones have higher numbers */
	struct openetw_guid guid;
	struct openetw_guid group; /* zeros when it is in none */
	char name[256];            /* "" when the provider did not say it */
	char process[256];
};
/* False ends the list. */
typedef bool (*openetw_registration_fn)(void *context, const struct openetw_registration *r);
/* The last registrations (etwd remembers 128), in no order; one's own processes' only, of the instance for all
 * users. ERROR_SUCCESS also when there are none; ERROR_NOT_SUPPORTED: an older etwd. */
OPENETW_API uint32_t openetw_recent_registrations(openetw_registration_fn each, void *context);

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
OPENETW_API uint32_t openetw_session_query(const char *session_name, struct openetw_session *session);

/* The kernel events of a session: what it wants, what of it is missing, what recording costs. */
struct openetw_kernel {
	uint32_t size;          /* in: sizeof(struct openetw_kernel) */
	uint32_t masks[8];      /* group masks, as of TraceSystemTraceEnableFlagsInfo */
	uint32_t stacks;        /* events with stacks */
	uint16_t stack[256];    /* group << 8 | type of each */
	uint32_t restarts;      /* of the collector, which ended unexpectedly */
	uint32_t collector_pid; /* 0: none runs */
	uint64_t cpu_ns;        /* processor time of the collector, for all sessions together */
	uint64_t memory;        /* bytes it holds */
	char note[704];         /* what is not recorded, and why, in words; "": nothing is missing */
};
/* Codes as of openetw_session_loss(); ERROR_NOT_FOUND: a session without kernel events. */
OPENETW_API uint32_t openetw_session_kernel(const char *session_name, struct openetw_kernel *kernel);

/* Limits for a session that might be forgotten: `expires`, `quota_bytes` and `owner_pid` as above,
 * replacing those it had; all 0: it lives until it is stopped. The process must be in etwd's pid
 * name space. ERROR_NOT_FOUND: no such process. Private sessions have no limits. */
OPENETW_API uint32_t openetw_session_limit(const char *session_name, uint64_t expires, uint64_t quota_bytes,
					   uint32_t owner_pid);

/* For a session in new-file mode: the next file begins whenever `seconds` are over, besides when one is
 * full (0: only then), and only the last `keep` files stay (0: all). ERROR_INVALID_PARAMETER for
 * other sessions. */
OPENETW_API uint32_t openetw_session_rotate(const char *session_name, uint32_t seconds, uint32_t keep);

/* Names of the private sessions that controllers started in the processes of a provider, which
 * QueryAllTraces does not list: one after another, each terminated, and an empty one at the end; as
 * many as `size` bytes hold. openetw_session_query() and ControlTrace take such a name. */
OPENETW_API uint32_t openetw_private_sessions(char *names, uint32_t size);

/* The name (UTF-8, terminated, cut at `size` bytes) that the provider with this GUID said
 * when it registered. ERROR_NOT_FOUND: it is not registered or did not say one. */
OPENETW_API uint32_t openetw_registered_name(const struct openetw_guid *guid, char *name, uint32_t size);

/* Tells etwd what to call an enabled provider as long as no registration of it says so itself; lists
 * then show it, openetw_registered_name() answers with it. `name` is UTF-8, at most 255 bytes; "" or
 * NULL only asks. *registrations (may be NULL): how many processes' registrations there are now, 0
 * when its events will only come later. ERROR_WMI_GUID_NOT_FOUND: neither registered nor enabled. */
OPENETW_API uint32_t openetw_name_provider(const struct openetw_guid *guid, const char *name, uint32_t *registrations);

#ifdef __cplusplus
}
#endif
#endif
