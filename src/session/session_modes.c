/* SPDX-License-Identifier: MIT */
#include "session/session_modes.h"

#include "etw/values/errors.h"
#include "etw/values/session_modes.h"

#define SEQUENTIAL  EVENT_TRACE_FILE_MODE_SEQUENTIAL
#define CIRCULAR    EVENT_TRACE_FILE_MODE_CIRCULAR
#define APPEND      EVENT_TRACE_FILE_MODE_APPEND
#define NEWFILE     EVENT_TRACE_FILE_MODE_NEWFILE
#define PREALLOCATE EVENT_TRACE_FILE_MODE_PREALLOCATE
#define REAL_TIME   EVENT_TRACE_REAL_TIME_MODE
#define BUFFERING   EVENT_TRACE_BUFFERING_MODE
#define PRIVATE     EVENT_TRACE_PRIVATE_LOGGER_MODE
#define IN_PROC     EVENT_TRACE_PRIVATE_IN_PROC

#define FILE_MODES (SEQUENTIAL | CIRCULAR | APPEND | NEWFILE | PREALLOCATE)
#define UNKNOWN    0x202C0000u /* bits without a documented meaning */

#define EVERYBODY (~0u)
#define BY(Name)  (1u << SESSION_RUNNER_##Name)
#define IN_ETWD   (BY(ETWD) | BY(AUTOLOGGER))

/* A mode that has one of the bits `of`, and one of `with` (0: whatever else), and none of `without`, is refused to
 * these runners. The first rule that fits says why. */
struct rule {
	uint32_t of, with, without;
	uint32_t runners;
	uint32_t code;
	char why[120]; /* an array: a pointer would be written by the loader, in every process */
};

#define ONE_ORDER "sequential, circular and new-file modes exclude each other"

static const struct rule rules[] = {
	{SEQUENTIAL, CIRCULAR | NEWFILE, 0, EVERYBODY, ERROR_INVALID_PARAMETER, ONE_ORDER},
	{CIRCULAR, NEWFILE, 0, EVERYBODY, ERROR_INVALID_PARAMETER, ONE_ORDER},
	{APPEND, REAL_TIME, 0, EVERYBODY, ERROR_INVALID_PARAMETER, "append mode cannot deliver in real time"},
	{APPEND, CIRCULAR | NEWFILE, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "append mode cannot be circular or new-file"},
	{BUFFERING, FILE_MODES | REAL_TIME, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "buffering mode has neither a file mode nor real-time delivery: leave out the "
	 "log file and name one when you flush"},

	{PRIVATE, 0, 0, BY(ETWD), ERROR_INVALID_PARAMETER, "a private session lives in its process, not in etwd"},
	{PRIVATE, 0, 0, BY(AUTOLOGGER), ERROR_INVALID_PARAMETER, "an autologger cannot be private"},
	{~0u, 0, PRIVATE, BY(PROCESSES) | BY(HERE), ERROR_INVALID_PARAMETER,
	 "only a private session lives in a process"},
	{PRIVATE, REAL_TIME, 0, EVERYBODY, ERROR_INVALID_PARAMETER, "a private session cannot deliver in real time"},
	{PRIVATE, APPEND, 0, EVERYBODY, ERROR_INVALID_PARAMETER, "a private session cannot append"},
	{PRIVATE, NEWFILE | PREALLOCATE, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "a private session cannot be new-file or preallocated"},
	{PRIVATE, EVENT_TRACE_INDEPENDENT_SESSION_MODE, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "private and independent modes exclude each other"},
	{PRIVATE, EVENT_TRACE_SYSTEM_LOGGER_MODE, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "a private session has no kernel events"},
	{PRIVATE, EVENT_TRACE_SECURE_MODE, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "private and secure modes exclude each other: only its own process writes into a private session"},
	{IN_PROC, 0, PRIVATE, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "the in-process mode goes with the private mode only (0x20000 with 0x800)"},
	{IN_PROC, 0, 0, BY(PROCESSES), ERROR_INVALID_PARAMETER,
	 "only its own process starts a session of the in-process mode"},

	{EVENT_TRACE_USE_GLOBAL_SEQUENCE, EVENT_TRACE_USE_LOCAL_SEQUENCE, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "global and local sequence numbers exclude each other"},
	{EVENT_TRACE_COMPRESSED_MODE, CIRCULAR | APPEND, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "compressed mode cannot be circular or append: these need buffers of one size"},
	{OPENETW_TRACE_ZSTD_MODE, 0, EVENT_TRACE_COMPRESSED_MODE, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "the Zstandard mode goes with the compressed mode only (0x40000000 with 0x4000000)"},

	{NEWFILE, 0, 0, BY(AUTOLOGGER), ERROR_INVALID_PARAMETER,
	 "an autologger cannot be in new-file mode; FileMax keeps the files of earlier starts"},
	{EVENT_TRACE_NONSTOPPABLE_MODE, 0, 0, BY(ETWD), ERROR_INVALID_PARAMETER,
	 "only an autologger can be non-stoppable"},

	{EVENT_TRACE_RELOG_MODE, 0, 0, EVERYBODY, ERROR_NOT_SUPPORTED,
	 "the relog mode marks a file being rewritten, no session"},
	{EVENT_TRACE_MODE_RESERVED, 0, 0, EVERYBODY, ERROR_NOT_SUPPORTED,
	 "heap and critical-section tracing is not there"},
	{UNKNOWN, 0, 0, EVERYBODY, ERROR_INVALID_PARAMETER,
	 "the log file mode has bits without a documented meaning (of 0x202C0000)"},
};

static const struct {
	uint32_t of;
	char why[44];
} sized[] = {
	{CIRCULAR, "circular mode needs a maximum file size"},
	{NEWFILE, "new-file mode needs a maximum file size"},
	{PREALLOCATE, "preallocation needs a maximum file size"},
};

enum session_file_kind session_file_kind(const uint16_t *name, size_t units)
{
	if (!name || units == 0) {
		return SESSION_FILE_NONE;
	}
	for (size_t i = 0; i + 1 < units; i++) {
		if (name[i] == '%' && name[i + 1] == 'd') {
			return SESSION_FILE_COUNTED;
		}
	}
	return SESSION_FILE_PLAIN;
}

static uint32_t refuse(uint32_t code, const char *why, const char **ret_why)
{
	*ret_why = why;
	return code;
}

static bool breaks(const struct rule *r, uint32_t mode, uint32_t runner)
{
	return (r->runners & runner) && ((mode & r->of) || r->of == ~0u) && (r->with == 0 || (mode & r->with)) &&
	       !(mode & r->without);
}

uint32_t session_modes_check(const struct session_properties *p, enum session_file_kind file,
			     enum session_runner runner, const char **ret_why)
{
	uint32_t m = p->mode;
	bool buffers = runner == SESSION_RUNNER_BUFFERS;
	for (size_t i = 0; i < BASE_ARRAY_LEN(rules); i++) {
		if (breaks(&rules[i], m, 1u << runner)) {
			return refuse(rules[i].code, rules[i].why, ret_why);
		}
	}
	bool bounded = p->maximum_file_size > 0 || (buffers && file == SESSION_FILE_NONE);
	for (size_t i = 0; i < BASE_ARRAY_LEN(sized) && !bounded; i++) {
		if (m & sized[i].of) {
			return refuse(ERROR_INVALID_PARAMETER, sized[i].why, ret_why);
		}
	}
	if (p->clock > 3) {
		return refuse(ERROR_INVALID_PARAMETER, "the clock must be 1, 2 or 3", ret_why);
	}
	if ((m & PRIVATE) && !(m & IN_PROC) && !buffers && guid_is_zero(&p->guid)) {
		return refuse(ERROR_INVALID_PARAMETER, "Wnode.Guid of a private session is its provider's", ret_why);
	}
	if (file == SESSION_FILE_NONE && !buffers && ((m & FILE_MODES) || !(m & (REAL_TIME | BUFFERING)))) {
		return refuse(ERROR_BAD_PATHNAME,
			      "this mode needs a log file: only real-time and buffering sessions do without", ret_why);
	}
	if ((m & NEWFILE) && file == SESSION_FILE_PLAIN) {
		return refuse(ERROR_INVALID_PARAMETER, "the name of a new-file session must hold %d", ret_why);
	}
	return 0;
}

/* ---- sessions as a whole -------------------------------------------------------------------------- */

bool session_autologger_wants_file(const struct etw_session *s)
{
	return !s->file[0] && !(s->props.mode & (REAL_TIME | BUFFERING));
}

uint32_t session_autologger_mode(const struct etw_session *s)
{
	bool file = s->file[0] || session_autologger_wants_file(s);
	bool order = s->props.mode & (SEQUENTIAL | CIRCULAR | APPEND | NEWFILE);
	return s->props.mode | (file && !order ? SEQUENTIAL : 0);
}

uint32_t session_check(const struct etw_session *s, enum session_runner runner, const char **ret_why)
{
	struct session_properties p = s->props;
	bool autologger = runner == SESSION_RUNNER_AUTOLOGGER;
	bool file = s->file[0] || (autologger && session_autologger_wants_file(s));
	if (autologger) {
		p.mode = session_autologger_mode(s);
	}
	if (runner == SESSION_RUNNER_ANY) {
		runner = p.mode & PRIVATE ? SESSION_RUNNER_PROCESSES : SESSION_RUNNER_ETWD;
	}
	if ((p.mode & PRIVATE) && guid_is_zero(&p.guid) && s->provider_count) {
		p.guid = s->provider[0].guid;
	}
	return session_modes_check(&p,
				   !file                           ? SESSION_FILE_NONE
				   : strstr(s->file, "%d") != NULL ? SESSION_FILE_COUNTED
								   : SESSION_FILE_PLAIN,
				   runner, ret_why);
}
