/* SPDX-License-Identifier: MIT
 *
 * session: a trace session as somebody wishes it. Front door.
 *
 * struct etw_session is what all say who want one: the options of the tools, session files, profiles. The numbers in
 * it (session_properties.h) travel on through protocol, etwd and buffers; session_modes.h says which are possible.
 *
 * What "logman create" keeps and what etwd starts by itself (autologgers) is one format of files: lines
 * "Key = value" with the names of the Windows registry's autologger values, first for the session,
 * then a section "[{GUID}]" or "[Provider-Name]" for each provider. docs/autologger.md has the
 * table.
 *
 *   # a comment
 *   Start = 1
 *   FileName = /var/log/web.etl
 *   BufferSize = 64
 *
 *   [{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}]
 *   Enabled = 1
 *   EnableLevel = 5
 *   MatchAnyKeyword = 0x11
 *
 * Keys are compared without regard to case; numbers are decimal or 0x hex. Whatever is not
 * understood is an error with its line: a session that does less than its file says helps nobody.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/provider_guid.h"
#include "filter/filter_compile.h"
#include "format/kernel_mask.h"
#include "session/session_properties.h"

#define SESSION_BYTES_MAX      (1u << 20) /* of a file */
#define SESSION_PROVIDERS_MAX  1024u
#define SESSION_COMMAND_MAX    2048u
#define SESSION_FILE_MAX_LIMIT 16u /* FileMax, as Windows */

/* Filters of an enable that can be written down; the one of payloads is apart. */
enum session_filter {
	SESSION_FILTER_EXE,
	SESSION_FILTER_EVENT_ID,
	SESSION_FILTER_EVENT_NAME,
	SESSION_FILTER_STACK_ID,
	SESSION_FILTER_STACK_NAME,
	SESSION_FILTER_STACK_LEVEL,
	SESSION_FILTER_CONTAINER,
	SESSION_FILTER_PID, /* of what lives when the session starts */
	SESSION_FILTER_COUNT,
};
#define SESSION_FILTER_BYTES    4096u
#define SESSION_EXPRESSION_TEXT 8192u
const char *session_filter_key(enum session_filter kind); /* in a file */
uint32_t session_filter_type(enum session_filter kind);   /* EVENT_FILTER_TYPE_* */
bool session_filter_is_stack(enum session_filter kind);   /* wants EVENT_ENABLE_PROPERTY_STACK_TRACE */
/* What EVENT_FILTER_DESCRIPTOR points to. -EINVAL: *d says what the text should be.
 *
 *   EventNameFilter, StackWalkNameFilter    [!][@LEVEL:KEYWORDS:]NAME,NAME…
 *
 * with LEVEL and KEYWORDS only events that these let through are looked at. In a name a backslash stands before a comma,
 * a backslash, and before a ! or @ at its beginning. */
int session_filter_make(enum session_filter kind, const char *text, uint8_t out[SESSION_FILTER_BYTES],
			size_t *ret_bytes, struct diag *d);

/* Such texts of numbers, and of names: begun, then one name after another. */
void session_filter_ids_text(struct strbuf *out, bool in, const uint16_t *ids, uint32_t count);
void session_filter_names_text(struct strbuf *out, bool in, uint8_t level, uint64_t any);
void session_filter_name_text(struct strbuf *out, bool first, const char *name);

struct session_provider {
	struct guid guid;
	char name[256]; /* what to show; "" when only the GUID is known */
	uint32_t line;
	bool enabled;
	uint8_t level;
	uint32_t properties; /* EVENT_ENABLE_PROPERTY_* */
	uint64_t any, all;
	/* Heap, each set by a function below; NULL: none */
	char *filter[SESSION_FILTER_COUNT];
	char *expression; /* of src/filter, whole */
	uint8_t *payload; /* what EVENT_FILTER_TYPE_PAYLOAD takes */
	uint32_t payload_bytes;
};

/* What it records of the kernel. */
struct session_kernel {
	struct kernel_mask mask;           /* empty: nothing */
	uint16_t stack[KERNEL_STACKS_MAX]; /* events with stacks: group << 8 | type */
	uint32_t stacks;
	uint32_t pid[8]; /* of these processes only. Not in a file */
	uint32_t pids;   /* 0: of all */
};

enum session_suffix { /* of a collector's file, as logman -v */
		      SESSION_SUFFIX_NONE,
		      SESSION_SUFFIX_NUMBER,
		      SESSION_SUFFIX_TIME,
};

struct etw_session {
	char name[3100]; /* 1024 units of UTF-16 */
	char file[4096]; /* "": none */
	struct session_properties props;
	uint32_t start;                    /* autologger: 1 = start with etwd */
	uint32_t file_max;                 /* autologger: keep that many files NAME.0001 …; 0: one file */
	uint32_t expire_s;                 /* 0: never */
	uint32_t rotate_s;                 /* new-file mode: the next file so often; 0: by size only */
	uint32_t keep_files;               /* new-file mode; 0: all */
	uint64_t end_filetime;             /* it ends then; 0: it does not */
	uint64_t begin_filetime;           /* a collector starts then, while etwd runs; 0: by hand */
	bool daily;                        /* both every day, at that time of day */
	char command[SESSION_COMMAND_MAX]; /* for the shell, when a run has ended; "": none */
	uint64_t quota;                    /* bytes of log file; 0: none */
	uint32_t owner_pid;                /* it ends with that process; 0: with none. Not in a file */
	enum session_suffix suffix;
	uint32_t serial; /* the next number for SESSION_SUFFIX_NUMBER */
	bool overwrite;
	bool not_persistent; /* DisableRealtimePersistence */
	struct session_kernel kernel;
	struct session_provider *provider; /* heap */
	uint32_t provider_count, provider_cap;
};

/* What manifests say, for files that are written by hand; each may be NULL. */
struct session_manifests {
	provider_installed installed; /* sections with a provider's name */
	filter_manifest_fn *describe; /* conditions on the fields of a manifest's event */
};

/* What a file means when it says nothing. */
void session_init(struct etw_session *s);
/* 0; -EBADMSG with line and reason in *d; -ENOMEM, at times with both, too; -E2BIG. On failure *ret holds nothing. `name` is
 * the session's when the file does not tell. `manifests` may be NULL. */
int session_parse(const char *text, size_t n, const char *name, const struct session_manifests *manifests,
		  struct etw_session *ret, struct diag *d);
/* The same from a file, named after it without ".conf". Also -errno of the file. */
int session_read_file(const char *path, const struct session_manifests *manifests, struct etw_session *ret,
		      struct diag *d);
/* As text that session_parse reads back. */
void session_format(const struct etw_session *s, struct strbuf *out);
/* Replaces the file in one step; makes missing directories (0700). 0 or -errno. */
int session_write(const char *path, const struct etw_session *s);
void session_finish(struct etw_session *s);
void session_provider_finish(struct session_provider *p); /* one that is in no session */
/* Another filter of that kind instead; NULL: none. -EINVAL: *d says what the text should be. -ENOMEM. */
int session_set_filter(struct session_provider *p, enum session_filter kind, const char *text, struct diag *d);
/* A filter of src/filter/filter_compile.h instead of the one it has; the text is kept. Conditions on a manifest's event
 * become the payload filter; without `describe`, or when there is one already, that has to be set before. -EINVAL: *d says
 * what the session cannot evaluate, and in which column. -ENOMEM. */
int session_set_expression(struct session_provider *p, const char *text, filter_manifest_fn *describe, struct diag *d);
/* What EVENT_FILTER_DESCRIPTORs point to for it: type and bytes; false: no memory. Nothing when there is none. */
typedef bool session_filter_fn(void *ctx, uint32_t type, const uint8_t *bytes, size_t n); /* filter_plan_fn */
int session_expression_each(const struct session_provider *p, session_filter_fn *each, void *ctx, struct diag *d);
/* Another payload filter instead. -EINVAL, -ENOMEM. */
int session_set_payload(struct session_provider *p, const void *blob, size_t n, struct diag *d);
/* "Windows Kernel Trace": its keywords are the session's EnableFlags, and it is never enabled. */
bool session_provider_is_kernel(const struct session_provider *p);
/* A new provider, enabled for everything. NULL when there are too many or no memory. */
struct session_provider *session_add_provider(struct etw_session *s, const struct guid *g);
const char *session_add_failed(const struct etw_session *s); /* which of the two it was, behind it */

/* Where they are. Users: $XDG_CONFIG_HOME/openetw (else ~/.config/openetw), for all: /etc/openetw.
 */
enum session_place {
	SESSION_AUTOLOGGERS, /* autologger.d */
	SESSION_COLLECTORS,  /* collectors */
	SESSION_STATE,       /* $XDG_STATE_HOME/openetw (else ~/.local/state/openetw), /var/lib/openetw */
};
/* -ENOENT when there is no home to speak of, -ENAMETOOLONG. */
int session_dir(enum session_place place, bool system, char *out, size_t cap);
/* "DIR/NAME.conf", what is no plain file name character of NAME as %XX. */
int session_path(enum session_place place, bool system, const char *name, char *out, size_t cap);
/* Every "*.conf" of a directory by name; stops when `each` is false. 0 or -errno; a missing
 * directory is an empty one. */
int session_each(const char *dir, bool (*each)(void *ctx, const char *path), void *ctx);
/* mkdir -p, 0700; /var/lib/openetw itself is 0755. */
int session_make_dirs(const char *dir);

#endif
