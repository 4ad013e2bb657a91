/* SPDX-License-Identifier: MIT
 *
 * Sessions and providers as the command line names them: -p, --level, --event-id, --mode and their kin.
 */
#ifndef TOOLS_COMMON_SESSION_OPTIONS_H
#define TOOLS_COMMON_SESSION_OPTIONS_H

#include "tools/common/cli.h"
#include "tools/common/output.h"
#include "launch/launch.h"
#include "session/session.h"

#include <evntcons.h>
#include <evntrace.h>
#include <openetw/openetw.h>

/* A properties block with room for both names. */
struct cli_props {
	EVENT_TRACE_PROPERTIES p;
	char name[4096];
	char file[4096];
};
void cli_props_init(struct cli_props *p);
uint32_t cli_session_query(const char *name, struct cli_props *ret);
/* How providers are enabled; shared by start, run, live, enable and autologger. */
struct cli_enable_options {
	struct cli_words filter[SESSION_FILTER_COUNT]; /* of those that stand once the last one counts */
	struct cli_words payload;
	const char *expression; /* of --filter, which the session evaluates */
	uint64_t keywords, match_all;
	struct cli_level level;
	bool stack, sid, process_start_key, event_key;
};
#define CLI_ENABLE_OPTIONS(T, m)                                                                                 \
	CLI_NUMBER(T, m.keywords, 'k', "keywords", "MASK", 0, UINT64_MAX,                                        \
		   "match any of these keyword bits (default: all)"),                                            \
		CLI_NUMBER(T, m.match_all, 0, "match-all", "MASK", 0, UINT64_MAX, "and all of these"),           \
		CLI_LEVEL(T, m.level, 'l', "level",                                                              \
			  "1-5, 255 or critical|error|warning|info|verbose (default verbose)"),                  \
		CLI_FLAG(T, m.stack, 's', "stack", "record the user-mode call stack of each event"),             \
		CLI_FLAG(T, m.sid, 0, "sid", "record the user of each event"),                                   \
		CLI_FLAG(T, m.process_start_key, 0, "process-start-key",                                         \
			 "record a key that is unique for each process start"),                                  \
		CLI_FLAG(T, m.event_key, 0, "event-key", "record a key that is unique for each event"),          \
		CLI_WORDS(T, m.filter[SESSION_FILTER_PID], 0, "pid", "PID",                                      \
			  "only from this process (repeatable, up to 8)"),                                       \
		CLI_WORDS(T, m.filter[SESSION_FILTER_EXE], 0, "exe", "NAME",                                     \
			  "only from processes of this executable (a;b for several)"),                           \
		CLI_WORDS(T, m.filter[SESSION_FILTER_EVENT_ID], 0, "event-id", "IDS",                            \
			  "only these event ids: 1,2,7 (or !1,2 for all but these)"),                            \
		CLI_WORDS(T, m.filter[SESSION_FILTER_EVENT_NAME], 0, "event-name", "NAMES",                      \
			  "only TraceLogging events of these names: A,B (or !A,B for all but these)"),           \
		CLI_WORDS(T, m.payload, 0, "payload", "EXPR",                                                    \
			  "only events 'EVENT: FIELD OP VALUE and …', by id or TraceLogging name (repeatable)"), \
		CLI_WORDS(T, m.filter[SESSION_FILTER_CONTAINER], 0, "container", "ID",                           \
			  "only from processes of this container or control group (a;b for several)"),           \
		CLI_WORDS(T, m.filter[SESSION_FILTER_STACK_ID], 0, "stack-id", "IDS",                            \
			  "stacks for these event ids only: 1,2 (or !1,2)"),                                     \
		CLI_WORDS(T, m.filter[SESSION_FILTER_STACK_NAME], 0, "stack-name", "NAMES",                      \
			  "stacks for these TraceLogging events only: A,B (or !A,B)"),                           \
		CLI_WORDS(T, m.filter[SESSION_FILTER_STACK_LEVEL], 0, "stack-level", "LEVEL[:MASK]",             \
			  "stacks for this level, and keywords, only: 2 or 4:0x10 (or !4)")

/* Of verbs whose --filter is evaluated by the session. */
#define CLI_SESSION_FILTER_OPTION(T, m)                  \
	CLI_WORD(T, m.expression, 'F', "filter", "EXPR", \
		 "only events for which the session finds EXPR true (docs/cli.md says what it can)")

/* What describes a session; shared by start, run, live and autologger. */
enum cli_clock {
	CLI_CLOCK_UNSAID,
	CLI_CLOCK_QPC, /* from here on as Wnode.ClientContext has them */
	CLI_CLOCK_SYSTEM,
	CLI_CLOCK_CYCLES,
};
struct cli_buffers {
	uint32_t least, most; /* 0: not said */
};
struct cli_session_options {
	const char *mode;
	uint64_t max_size_mb, buffer_kb, flush_s, mode_bits; /* 0: not said */
	struct cli_buffers buffers;
	enum cli_clock clock;
	enum cli_compress compress;
	bool no_per_cpu, preallocate;
	bool low_latency;
};
cli_take_fn cli_take_buffers;
#define CLI_BUFFER_OPTIONS(T, m)                                                                       \
	CLI_SIZE(T, m.buffer_kb, 'b', "buffer-size", 1 << 10, 4, 16384,                                \
		 "size of one buffer, 4K to 16M; a bare number is KB"),                                \
		CLI_OWN(T, m.buffers, struct cli_buffers, cli_take_buffers, 0, "buffers", "MIN[:MAX]", \
			"number of buffers")
#define CLI_LOW_LATENCY_OPTION(T, m) \
	CLI_FLAG(T, m.low_latency, 0, "low-latency", "deliver every millisecond instead of every 10")
#define CLI_SESSION_OPTIONS(T, m)                                                                                      \
	CLI_ONE_OF(T, m.mode, 'm', "mode", "MODE", "sequential|circular|newfile|append|buffering",                     \
		   "sequential, circular, newfile, append or buffering"),                                              \
		CLI_SIZE(T, m.max_size_mb, 0, "max-size", 1 << 20, 1, UINT32_MAX,                                      \
			 "size limit of the file: 100MB, 2GB; a bare number is MB"),                                   \
		CLI_BUFFER_OPTIONS(T, m),                                                                              \
		CLI_DURATION(T, m.flush_s, 'f', "flush-timer", 1000000000, 1, 86400,                                   \
			     "write part-filled buffers this often: 1s, 2m"),                                          \
		CLI_CHOICE(T, m.clock, CLI_CLOCK_QPC, 0, "clock", "CLOCK", "qpc|system|cycles",                        \
			   "qpc (default), system or cycles"),                                                         \
		CLI_NUMBER(T, m.mode_bits, 0, "mode-bits", "BITS", 0, UINT32_MAX,                                      \
			   "more bits of the Windows LogFileMode, such as 0x4000"),                                    \
		CLI_FLAG(T, m.no_per_cpu, 0, "no-per-cpu", "one stream of buffers instead of one for each processor"), \
		CLI_COMPRESS_OPTION(T, m.compress),                                                                    \
		CLI_FLAG(T, m.preallocate, 0, "preallocate", "reserve --max-size on disk at once")

/* Name (installed manifests first, else the name hash), *Name, {guid}, guid or #guid. False: none
 * of these. */
bool cli_provider_guid(const char *text, GUID *ret);
/* The same for session/session.h. */
bool cli_provider_installed(const char *name, struct guid *ret);
/* For files of sessions that are written by hand. */
extern const struct session_manifests cli_manifests;
/* A command that is going to run: the providers that its program describes are known by name. */
void cli_provider_of_command(const char *word);
const char *cli_filter_option(enum session_filter kind); /* "event-id" */
/* What was given for it, checked. False: printed why. */
bool cli_filter_set(const struct cli_args *a, const struct cli_enable_options *o, enum session_filter kind,
		    struct session_provider *p);

/* After an enable: has etwd know the name (NULL or "": none is known), and tells people when nobody
 * has registered the provider: it may be misspelt. */
void cli_provider_tell(const GUID *g, const char *name);
/* Says on stderr when etwd is not at its usual place, and why. */
void cli_place_tell(const struct cli_args *a);
/* One paragraph: events, buffers, losses by cause. Always says so when something was lost. */
void cli_print_totals(FILE *f, const EVENT_TRACE_PROPERTIES *p, const struct openetw_loss *loss);
/* "the log file was removed at …; 12 events (1 buffer) are not in it"; "": it is fine. */
void cli_file_state_text(const struct openetw_loss *loss, char *out, size_t cap);
const char *cli_file_state(const struct openetw_loss *loss); /* one word; "": it is fine */
void cli_mode_text(uint32_t mode, char *out, size_t cap);

#endif
