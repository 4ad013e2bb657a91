/* SPDX-License-Identifier: MIT
 *
 * proto: messages between libetw and etwd. Front door.
 *
 * Unix SOCK_SEQPACKET, two sockets in the runtime directory: "provider" and "control". One message
 * = header { u32 length, u16 type, u16 flags, u32 id } then TLVs { u16 tag, u16 flags, u32 length,
 * bytes, padding to 4 }. Unknown tags are skipped unless flagged critical. At most 64 KiB. All
 * integers little-endian. Identity is never read from a message, only from the socket. etwd takes
 * descriptors with ADOPT only, and only after HELLO.
 *
 * A request's `id` comes back in its reply. Replies have type | PROTO_REPLY and always a
 * PROTO_TAG_STATUS (u32 Win32 code); on failure PROTO_TAG_TEXT says why, in words.
 */
#ifndef PROTO_PROTO_H
#define PROTO_PROTO_H

#include "base/base.h"
#include "session/session_properties.h"

#define PROTO_VERSION     1u
#define PROTO_MESSAGE_MAX 65536u
#define PROTO_FDS_MAX     4
#define PROTO_REPLY       0x8000u

enum proto_type {
	/* provider socket, process -> etwd */
	PROTO_HELLO = 1,      /* VERSION, EXE_NAME (utf8), PID_NS? ; reply: WELCOME */
	PROTO_WELCOME = 2,    /* etwd -> process; INSTANCE(guid), CLOCK_KIND, POOL_ID; fds: control
				 block, segment 0. CHUNK_SIZE tells segment 0's chunk size */
	PROTO_ADOPT = 3,      /* fds: pool segments of an earlier etwd, POOL_ID, GENERATIONS */
	PROTO_REGISTER = 4,   /* GUID, PROVIDER_INDEX (chosen by the process, dense, never reused
				 while attached), REG_FLAGS, TRAITS?; reply: ENTRY_OFFSET, and for an
				 already enabled provider the same tags as NOTIFY */
	PROTO_UNREGISTER = 5, /* PROVIDER_INDEX; reply */
	PROTO_TRAITS = 6,     /* PROVIDER_INDEX, TRAITS */
	PROTO_POOL = 7,       /* etwd -> process: fd of a growth segment, CHUNK_SIZE */
	PROTO_NOTIFY = 8,     /* etwd -> process: PROVIDER_INDEX, CODE (0 disable 1 enable 2 capture),
				 LEVEL, ANY, ALL, SOURCE_ID, FILTER*, NOTIFY_ID, CLASSIC_HANDLE */
	PROTO_NOTIFIED = 9,   /* process -> etwd: NOTIFY_ID: the callback returned (or none exists) */
	PROTO_BELL = 10,      /* process -> etwd: pool more than half full */
	PROTO_PING = 11,
	PROTO_BINARY_TRACK = 12, /* PROVIDER_INDEX, PATH: EventProviderBinaryTrackInfo; reply */
	PROTO_PRIVATE = 15,      /* etwd -> process: CONTROL_CODE (enum proto_private), NOTIFY_ID, SESSION_ID and
			       what that needs: it is to start, change or end a private session */
	PROTO_PRIVATE_DONE = 16, /* process -> etwd: NOTIFY_ID, SESSION_ID, STATUS, TEXT?, SESSION?: how
				    that session is now */
	PROTO_DESCRIBED = 14,    /* process -> etwd: PATH of a module that carries the description of its
				 events (format/schema_section.h) */
	PROTO_IMAGES = 17,       /* process -> etwd: CODE (enum proto_images), DATA: the ELF images it has mapped, in
			      one or several messages; the last one is answered. Each: u64 base, u64 bytes, u8 length
			      of the build id, 20 bytes build id, u16 length of the path, path. etwd -> process: look
			      again, a stack has code that no image has */

	/* control socket */
	PROTO_START = 32,   /* session description; reply: session description */
	PROTO_CONTROL = 33, /* CONTROL_CODE (EVENT_TRACE_CONTROL_*,
			       limits 6: PROTO_CONTROL_LIMITS), SESSION_ID or
			       SESSION_NAME, and for update the session description; reply: session
			       description with statistics */
	PROTO_LIST =
		34, /* CODE? PROTO_LIST_PRIVATE: those in other processes instead; reply: u32 COUNT; then PROTO_LIST_ITEM messages, one a session */
	PROTO_LIST_ITEM = 35,
	PROTO_ENABLE = 36,        /* SESSION_ID, GUID, CODE, LEVEL, ANY, ALL, TIMEOUT_MS, PROPERTIES,
				     SOURCE_ID, FILTER*; reply when entries are written, or after the
				     callbacks when TIMEOUT_MS != 0 */
	PROTO_NAME_PROVIDER = 60, /* GUID, NAME: what to call a provider nobody has registered yet;
				     reply COUNT: its registrations */
	PROTO_GUIDS = 37,         /* reply: COUNT, then PROTO_GUIDS_ITEM: GUID list (registered or enabled) */
	PROTO_GUIDS_ITEM = 38,
	PROTO_GUID_INFO = 39,      /* GUID; reply COUNT, then PROTO_GUID_INFO_ITEM per instance */
	PROTO_GUID_INFO_ITEM = 40, /* PID, REG_FLAGS, EXE_NAME, NAME, {ENABLE_INFO blob of 32 bytes =
				      TRACE_ENABLE_INFO}* */
	PROTO_OPEN_RT = 41,        /* SESSION_NAME; reply: session description + fd: ring memfd (read-only),
				     RING_SLOTS, RING_SLOT_BYTES, HEADER = buffer 0 of the session */
	PROTO_RT_BUFFER = 42,      /* etwd -> consumer: POSITION, SEQUENCE, LENGTH, LOST_EVENTS,
				     LOST_BUFFERS, CPU */
	PROTO_RT_ROUND = 43,       /* etwd -> consumer: WATERMARK (raw clock): everything up to here has
				     been delivered in the RT_BUFFERs before */
	PROTO_RT_ACK = 44,         /* consumer -> etwd: SEQUENCE (all up to and including) */
	PROTO_RT_END = 45,         /* etwd -> consumer: session stopped, WATERMARK */
	PROTO_STATS = 46,          /* reply: counters of the daemon: UTF-8 JSON in TEXT */
	PROTO_PROCESSES = 47,      /* reply COUNT then PROTO_PROCESSES_ITEM: PID, EXE_NAME, losses */
	PROTO_PROCESSES_ITEM = 48,
	PROTO_SHUTDOWN = 49,     /* stop every session and exit; owner only */
	PROTO_SET_INFO = 50,     /* SESSION_ID, INFO_CLASS, DATA: TraceSetInformation */
	PROTO_QUERY_INFO = 51,   /* SESSION_ID?, INFO_CLASS, GUID?; reply: DATA as the caller gets it */
	PROTO_ACCESS_SET = 52,   /* GUID, CODE (EVENTSECURITYOPERATION, or 16: remove), SID, RIGHTS,
				     ALLOW; owner only */
	PROTO_ACCESS_QUERY = 53, /* GUID; reply: DATA, a self-relative security descriptor */
	PROTO_RELOAD = 54,       /* the collectors' files have changed; owner only */
	PROTO_RECENT = 55,       /* reply COUNT, then PROTO_RECENT_ITEM: the last registrations, also of
				     processes that ended: GUID, DATA (GUID of its group), SEQUENCE, PID,
				     EXE_NAME, NAME */
	PROTO_RECENT_ITEM = 56,
};

enum proto_tag {
	PROTO_TAG_STATUS = 1,   /* u32 */
	PROTO_TAG_TEXT = 2,     /* utf8 */
	PROTO_TAG_VERSION = 3,  /* u32 */
	PROTO_TAG_EXE_NAME = 4, /* utf8 */
	PROTO_TAG_INSTANCE = 5, /* 16 bytes */
	PROTO_TAG_POOL_ID = 6,  /* 16 bytes */
	PROTO_TAG_CHUNK_SIZE = 7,
	PROTO_TAG_CLOCK_KIND = 8,
	PROTO_TAG_CLOCK_FREQ = 9, /* u64 */
	PROTO_TAG_GUID = 10,
	PROTO_TAG_PROVIDER_INDEX = 11,
	PROTO_TAG_REG_FLAGS = 12, /* u32, enum proto_reg_flags */
	PROTO_TAG_TRAITS = 13,
	PROTO_TAG_ENTRY_OFFSET = 14,
	PROTO_TAG_CODE = 15,
	PROTO_TAG_LEVEL = 16,
	PROTO_TAG_ANY = 17, /* u64 */
	PROTO_TAG_ALL = 18, /* u64 */
	PROTO_TAG_SOURCE_ID = 19,
	PROTO_TAG_FILTER = 20, /* u32 type, then bytes; repeated */
	PROTO_TAG_NOTIFY_ID = 21,
	PROTO_TAG_CLASSIC_HANDLE = 22, /* u64: logger id | level << 16 | flags << 32 */
	PROTO_TAG_PATH = 23,
	PROTO_TAG_SEGMENTS = 24,
	PROTO_TAG_GENERATION = 25,

	PROTO_TAG_CONTROL_CODE = 40,
	PROTO_TAG_SESSION_ID = 41,   /* u64 */
	PROTO_TAG_SESSION_NAME = 42, /* utf16 */
	PROTO_TAG_LOG_FILE = 43,     /* utf16, absolute path: the caller resolves relative ones */
	PROTO_TAG_SESSION = 44,      /* fixed part of struct proto_session, see proto_session_put */
	PROTO_TAG_COUNT = 45,
	PROTO_TAG_TIMEOUT_MS = 46, /* u32; 0 = don't wait; UINT32_MAX = for ever */
	PROTO_TAG_PROPERTIES = 47, /* u32 EVENT_ENABLE_PROPERTY_* */
	PROTO_TAG_ENABLE_INFO = 48,
	PROTO_TAG_PID = 49,
	PROTO_TAG_NAME = 50, /* utf8 provider name when traits tell it */
	PROTO_TAG_RING_SLOTS = 51,
	PROTO_TAG_RING_SLOT_BYTES = 52,
	PROTO_TAG_POSITION = 53,
	PROTO_TAG_SEQUENCE = 54, /* u64 */
	PROTO_TAG_LENGTH = 55,
	PROTO_TAG_LOST_EVENTS = 56,  /* u64, cumulative */
	PROTO_TAG_LOST_BUFFERS = 57, /* u64, cumulative */
	PROTO_TAG_CPU = 58,
	PROTO_TAG_WATERMARK = 59,  /* u64 */
	PROTO_TAG_HEADER = 60,     /* buffer 0 as it would stand in a file */
	PROTO_TAG_LOSS = 61,       /* u64[16]: loss ledger, enum proto_loss order */
	PROTO_TAG_INFO_CLASS = 62, /* u32 TRACE_QUERY_INFO_CLASS */
	PROTO_TAG_DATA = 63,
	PROTO_TAG_SID = 64,           /* revision, count, authority, sub-authorities */
	PROTO_TAG_RIGHTS = 65,        /* u32 TRACELOG_*, WMIGUID_* */
	PROTO_TAG_ALLOW = 66,         /* u32, 0: deny */
	PROTO_TAG_KERNEL_MASK = 67,   /* 32 bytes: group masks of a session; in START and UPDATE
				       instead of the flags, in descriptions */
	PROTO_TAG_KERNEL_PIDS = 68,   /* u32[]: START, UPDATE */
	PROTO_TAG_KERNEL_STACKS = 69, /* u16[]: hooks; START, descriptions */
	PROTO_TAG_KERNEL_NOTE = 70,   /* utf8: what of it is not recorded, and why */
	PROTO_TAG_KERNEL_COST = 71,   /* u64[4]: the collector's processor time in ns, its memory, its
				       restarts, its process */
	PROTO_TAG_GROUPS = 72, /* u32[]: of who started a private session: the group, then the supplementary ones */
};
#define PROTO_TAG_CRITICAL 0x0001u /* TLV flag: refuse the message when the tag is unknown */

enum proto_images {
	PROTO_IMAGES_FIRST = 1u << 0,
	PROTO_IMAGES_LAST = 1u << 1,
};
#define PROTO_IMAGES_BUILD_ID 20u

enum proto_reg_flags {
	PROTO_REG_CLASSIC = 1u << 0,    /* RegisterTraceGuids */
	PROTO_REG_CALLBACK = 1u << 1,   /* wants NOTIFY */
	PROTO_REG_PRE_ENABLE = 1u << 2, /* in GUID_INFO_ITEM: no process, only enabled */
	PROTO_REG_LATE = 1u << 3,       /* on a connection of its own: the process did not wait any longer for the
					   answer, and what it writes is lost until it has one */
};

/* Order of the counters in PROTO_TAG_LOSS; docs/loss.md explains each. */
enum proto_loss {
	PROTO_LOSS_POOL_FULL,
	PROTO_LOSS_NESTING,
	PROTO_LOSS_TOO_BIG,
	PROTO_LOSS_DETACHED,
	PROTO_LOSS_REJECTED,
	PROTO_LOSS_NO_BUFFER,
	PROTO_LOSS_DISK_EVENTS,
	PROTO_LOSS_DISK_BUFFERS,
	PROTO_LOSS_RT_BUFFERS,
	PROTO_LOSS_RT_EVENTS,
	PROTO_LOSS_TORN,
	PROTO_LOSS_OVERWRITTEN, /* circular / buffering: not a loss, shown apart */
	PROTO_LOSS_GONE_EVENTS, /* were in the log file, which somebody removed, cut or replaced */
	PROTO_LOSS_GONE_BUFFERS,
	PROTO_LOSS_RT_REFUSED,  /* of RT_EVENTS: the disk, or the user's share of it, had no room */
	PROTO_LOSS_DISBELIEVED, /* said by processes whose counters lie: not in EventsLost */
	PROTO_LOSS_COUNT = 16,
};

/* A trace session as it travels: what was asked for, what came of it, and our additions. */
struct proto_session {
	uint64_t id; /* logger handle */
	struct session_properties props;
	uint32_t number_of_buffers;
	uint32_t free_buffers;
	uint32_t events_lost;
	uint32_t buffers_written;
	uint32_t log_buffers_lost;
	uint32_t real_time_buffers_lost;
	uint32_t owner_uid;
	uint32_t flags; /* enum proto_session_flags */
	uint64_t logger_thread_id;
	uint64_t start_filetime;
	uint64_t events;        /* recorded */
	uint64_t bytes_written; /* to the file */
	uint64_t loss[PROTO_LOSS_COUNT];
	uint32_t update_mask; /* UPDATE: which log-file-mode intent etc.; enum proto_update */
	uint32_t latency_us;  /* real-time delivery wish; 0 = default (10 ms) */
	/* limits: when and why etwd ends it by itself */
	uint64_t expires_filetime; /* 0: never */
	uint64_t quota_bytes;      /* of log file; 0: none */
	uint32_t owner_pid;        /* ends with that process; 0: none */
	uint32_t consumers;        /* real-time, attached now */
	/* what others did to the log file while it was written */
	uint64_t file_fate_filetime; /* when etwd noticed */
	uint32_t file_fate;          /* enum proto_file_fate */
	/* borrowed; NULL when absent; lengths in 16-bit units, no terminator counted */
	const uint16_t *name;
	const uint16_t *log_file;
	uint32_t name_len;
	uint32_t log_file_len;
};
#define PROTO_CONTROL_LIMITS 6u /* expires_filetime, quota_bytes and owner_pid as the description says */

/* NEWFILE sessions: TIMEOUT_MS, the next file whenever so much time is over (0: not by time), and COUNT, how
 * many files to keep (0: all). */
#define PROTO_CONTROL_ROTATION 7u

enum proto_session_flags {
	PROTO_SESSION_LOW_LATENCY = 1u << 0,    /* 1 ms tick for real-time consumers */
	PROTO_SESSION_PID_SUFFIX = 1u << 2,     /* private: an earlier process has the plain file name */
	PROTO_SESSION_NOT_PERSISTENT = 1u << 1, /* what no consumer takes waits in memory only */
};
enum proto_file_fate { /* as OPENETW_FILE_* */
		       PROTO_FILE_FINE,
		       PROTO_FILE_MOVED,
		       PROTO_FILE_CUT,
		       PROTO_FILE_REMOVED,
		       PROTO_FILE_REPLACED,
};
/* What a process is told of a private session that a controller started for its provider. */
enum proto_private {
	PROTO_PRIVATE_QUERY, /* as EVENT_TRACE_CONTROL_* up to here ... */
	PROTO_PRIVATE_STOP,
	PROTO_PRIVATE_UPDATE, /* SESSION: flush timer, log file */
	PROTO_PRIVATE_FLUSH,
	PROTO_PRIVATE_START = 16, /* SESSION, GROUPS */
	PROTO_PRIVATE_ENABLE,     /* the tags of ENABLE */
};
/* Ids of these sessions are this and more; those that a process started itself are less. */
#define PROTO_PRIVATE_ID   0x0002000000000000ull
#define PROTO_LIST_PRIVATE 1u
/* PROTO_TAG_STATUS ERROR_BUSY: the process cannot just now; ask again. */
enum proto_update {
	PROTO_UPDATE_MODE = 1u << 0, /* log_file_mode is meant, also when it is 0 */
	PROTO_UPDATE_FILE = 1u << 1,
	PROTO_UPDATE_FLAGS = 1u << 2,
};

/* ---- building ------------------------------------------------------------------------------- */

struct proto_writer {
	uint8_t *mem;
	size_t cap;
	size_t len;
	bool failed; /* did not fit */
};
void proto_begin(struct proto_writer *w, void *mem, size_t cap, uint16_t type, uint32_t id);
void proto_put(struct proto_writer *w, uint16_t tag, const void *p, size_t n);
void proto_put_u32(struct proto_writer *w, uint16_t tag, uint32_t v);
void proto_put_u64(struct proto_writer *w, uint16_t tag, uint64_t v);
void proto_put_str(struct proto_writer *w, uint16_t tag, const char *utf8);
void proto_put_session(struct proto_writer *w, const struct proto_session *s);
/* Finish: total bytes, or -EMSGSIZE. */
long proto_end(struct proto_writer *w);

/* ---- reading (hostile input) ---------------------------------------------------------------- */

struct proto_message {
	uint16_t type;
	uint16_t flags;
	uint32_t id;
	const uint8_t *body;
	size_t body_bytes;
};
/* Checks the header and that every TLV lies inside. -EBADMSG, -EOPNOTSUPP (unknown critical tag). */
int proto_parse(const void *p, size_t n, struct proto_message *ret);
/* First TLV with that tag; false when absent. */
bool proto_get(const struct proto_message *m, uint16_t tag, const uint8_t **ret_p, size_t *ret_n);
bool proto_get_u32(const struct proto_message *m, uint16_t tag, uint32_t *ret); /* exact size only */
bool proto_get_u64(const struct proto_message *m, uint16_t tag, uint64_t *ret);
bool proto_get_guid(const struct proto_message *m, uint16_t tag, struct guid *ret);
/* Copies at most cap-1 bytes of valid UTF-8 without NULs; false when absent or bad or too long. */
bool proto_get_str(const struct proto_message *m, uint16_t tag, char *out, size_t cap);
/* name and log_file point into the message and are 2-aligned. */
bool proto_get_session(const struct proto_message *m, struct proto_session *ret);
/* Iterate: start with *at = 0; false at the end. */
bool proto_next(const struct proto_message *m, size_t *at, uint16_t *ret_tag, const uint8_t **ret_p, size_t *ret_n);

/* ---- sockets -------------------------------------------------------------------------------- */

/* Connect to "<dir>/<name>" and check that the peer's uid is 0, ours, or the directory's root owner.
 * Returns fd (CLOEXEC, blocking) or -errno. context: async-signal-safe. */
int proto_connect(const char *dir, const char *name);
/* The same, waiting at most timeout_ms (0: without limit) for a daemon that accepts nobody; sends
 * on the socket keep that limit. *ret_peer (may be NULL): the daemon, 0 when it lives in a pid
 * namespace we cannot see. context: async-signal-safe */
int proto_connect_within(const char *dir, const char *name, uint32_t timeout_ms, pid_t *ret_peer);
/* One message; never SIGPIPE. -EAGAIN on a full non-blocking socket. */
int proto_send(int fd, const void *p, size_t n, const int *fds, int fd_count);
/* Bytes received; 0 = end of stream; -errno. More fds than expected or truncation: all are closed
 * and -EBADMSG. ret_fd_count may be NULL when no fd is expected. */
long proto_recv(int fd, void *p, size_t cap, int *ret_fds, int *inout_fd_count, int timeout_ms);
/* For a daemon. A message with descriptors must never be received without room for all of them, nor a
 * socket with one in it be closed, on a thread that may not block: see proto_socket.c. */
#define PROTO_STRANGE_FDS_MAX 253 /* the kernel's limit for a message */
/* Whether peers may send descriptors to this socket, and to those accepted on it. False: this kernel
 * (before 6.16) always lets them. */
bool proto_pass_descriptors(int fd, bool on);
bool proto_passes_descriptors(int fd);
/* The first bytes of the next message, which stays where it is; does it carry descriptors? */
long proto_peek(int fd, void *p, size_t cap, bool *ret_carries);
/* The next message, without waiting, unless it carries descriptors: then *ret_carries, its first bytes are
 * in p, and it stays where it is. `look` false: none can. -EBADMSG: longer than cap. */
long proto_recv_plain(int fd, void *p, size_t cap, bool look, bool *ret_carries);
/* The next message with all its descriptors, which are the caller's, whatever is returned. */
long proto_recv_descriptors(int fd, void *p, size_t cap, int fds[PROTO_STRANGE_FDS_MAX], int *ret_count);
/* Ends both directions. True: messages are still there, and closing the socket drops them. */
bool proto_end_unread(int fd);
/* Request and its reply on a blocking socket. Parses into *ret (which points into buf). Reply
 * failures: returns 0 and *ret_status is the Win32 code. */
int proto_call(int fd, const void *req, size_t req_bytes, void *buf, size_t cap, struct proto_message *ret,
	       int *ret_fds, int *inout_fd_count, uint32_t *ret_status, int timeout_ms);
/* Do this program's calls go to the etwd of all users? */
bool proto_system_wanted(void);
/* Connection to the control socket; starts etwd when it does not run and `start` (docs: on-demand
 * start; finds the binary through OPENETW_ETWD, then beside libetw, then the install prefix). */
int proto_connect_control(bool start, struct diag *d);

#endif
