/* SPDX-License-Identifier: MIT
 *
 * tools: the openetw command, which is also logman, tracelog, tracerpt, wpr, xperf and their kin. Front door.
 *
 *   common/    what the programs share:
 *              args.c             values of options, help, error lines
 *              session_options.c  providers, buffers and modes of a session as the command line names them
 *              session_control.c  sessions of the classic tools: start, enable, update, stop
 *              trace_reading.c    reading files and sessions, Ctrl-C, progress
 *              select.c           which events: --provider, --from, …
 *              printer.c          one event as text or JSON; csv.c: as CSV; fields.c: --fields
 *              event_view.c       one event by field names; event_xml.c: one event as XML
 *              output.h           files that verbs make: safe, whole or not there, earlier ones kept
 *              path.h             paths of Windows
 *              print.h            printf and its like: what %s brings in is made printable
 *   openetw/   main.c finds the verb and parses its options; cmd_VERB.c are our own verbs
 *   classic/   logman, tracelog, tracerpt, tracefmt, wevtutil
 *   wpt/       wpr, xperf
 *   compile/   mc, rc, tracewpp, tracepdb
 *
 * A verb is one file ending in one const table entry (struct cli_command); parsing, help and shell
 * completion all come from that table. LAYERS says which internal folders a tool may use beside the public API.
 * Results go to stdout, everything else to stderr. Exit status: 0 done, 1 failed (one line says
 * what, why and what to do next), 2 wrong usage; docs/cli.md has all rules.
 */
#ifndef TOOLS_COMMON_CLI_H
#define TOOLS_COMMON_CLI_H

#include "base/base.h"
#include "tools/common/print.h"
#include "session/session.h"

#include <windows.h>
#include <evntrace.h>
#include <evntcons.h>
#include <openetw/openetw.h>
#include <stdio.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
};

struct cli_option {
	char letter;      /* 0: none */
	const char *name; /* without the dashes; NULL ends the table */
	const char *arg;  /* "FILE", …; NULL: a flag */
	const char *help;
	const char *values; /* "a|b|c" for completion and checking; may be NULL */
};

struct cli_args;
struct cli_command {
	const char *name;
	const char *synopsis; /* what follows the verb in the usage line */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs and examples; may be NULL */
	const struct cli_option *options;
	int (*run)(struct cli_args *args);
	bool classic;         /* parses its words itself, as the Windows tool of this name does;
				 cli_classic_word */
	bool raw;             /* classic, and run parses the words: their case counts */
	bool linked;          /* raw, and also by its own name as a link */
	bool rest_is_command; /* positionals are a command line: parsing stops at the first or at --
			       */
	uint32_t usage_code;  /* printed with mistakes in usage, for scripts that look for it; 0: none */
	const char *complete; /* what positionals are: "file", "session", "command", "verb", a|b|c;
				 NULL: nothing */
};

/* A parsed command line. */
#define CLI_VALUES_MAX 256
struct cli_args {
	const struct cli_command *command;
	int value_count;
	struct {
		const struct cli_option *option;
		const char *value;
	} values[CLI_VALUES_MAX];
	int count; /* positionals */
	char **words;
};
bool cli_flag(const struct cli_args *a, const char *name);
/* Last value given; `fallback` when absent. */
const char *cli_value(const struct cli_args *a, const char *name, const char *fallback);
/* The n-th value of a repeated option; NULL when there are fewer. */
const char *cli_value_at(const struct cli_args *a, const char *name, int n);
/* Sizes ("100MB") in units of `unit`, durations ("250ms", "2m") in units of `unit_ns`, rounded up;
 * a bare number has that unit. They print the mistake and return false. */
bool cli_size(const struct cli_args *a, const char *name, uint64_t unit, uint64_t min, uint64_t max, uint64_t *inout);
bool cli_duration(const struct cli_args *a, const char *name, uint64_t unit_ns, uint64_t min, uint64_t max,
		  uint64_t *inout);
/* Whole number with range; prints the mistake and returns false. */
bool cli_number(const struct cli_args *a, const char *name, uint64_t min, uint64_t max, uint64_t *inout);

extern const struct cli_command *const cli_commands[]; /* NULL-terminated */
const struct cli_command *cli_find(const char *name);
/* Is there a link of the tool's own name, such as wpr? */
bool cli_has_link(const struct cli_command *c);
/* The candidate closest to `text`, when it is close enough to be what was meant; else NULL. `next`
 * gives the i-th candidate, NULL at the end. */
const char *cli_nearest(const char *text, const char *(*next)(const void *ctx, int i), const void *ctx);
void cli_help(FILE *f, const struct cli_command *c);
void cli_help_all(FILE *f);

/* ---- the classic tools' option style ------------------------------------------------------------
 */

/* -name and /name in any case, as options of the table; a word after it is its value unless it is
 * an option too. Fills values and the positionals. Prints the mistake. */
bool cli_classic_parse(struct cli_args *a, int argc, char **argv);

/* "openetw VERB: what: reason (ERROR_NAME, code)" and a hint where one is known. Returns
 * CLI_FAILED. */
int cli_fail(const struct cli_args *a, uint32_t code, const char *fmt, ...) BASE_PRINTF(3, 4);
/* What to do about a code, of a call that has just failed; NULL where nothing can be said in general. */
const char *cli_hint(uint32_t code);
/* "openetw VERB: text" plus where to find help. Returns CLI_USAGE. */
int cli_usage(const struct cli_args *a, const char *fmt, ...) BASE_PRINTF(2, 3);
/* What the last of these two returned: for callers of functions that say false after one of them. */
int cli_told(void);
/* cli_fail about a session; of one that does not run the nearest that does is named. */
int cli_fail_session(const struct cli_args *a, uint32_t code, const char *session, const char *fmt, ...)
	BASE_PRINTF(4, 5);
/* False, and said: no process has this id. */
bool cli_process_exists(const struct cli_args *a, uint64_t pid);

/* ---- sessions ----------------------------------------------------------------------------------
 */

/* A properties block with room for both names. */
struct cli_props {
	EVENT_TRACE_PROPERTIES p;
	char name[4096];
	char file[4096];
};
void cli_props_init(struct cli_props *p);
uint32_t cli_session_query(const char *name, struct cli_props *ret);
/* Waits for a word in a terminal-free way: true when SIGINT, SIGTERM or SIGHUP arrived since the
 * call of cli_signals_catch. SIGPIPE is ignored from the start of main; cli_child_signals() undoes
 * all that in a child. */
void cli_signals_catch(void);
void cli_signals_restore(void);
int cli_signal_caught(void);
void cli_child_signals(void);
/* A signal ended the verb before its output was whole: main says so and ends with 128 + it. 0: none did. */
void cli_interrupt(int sig);
int cli_interrupted(void);

/* Name (installed manifests first, else the name hash), *Name, {guid}, guid or #guid. False: none
 * of these. */
bool cli_provider_guid(const char *text, GUID *ret);
/* The same for session/session.h. */
bool cli_provider_installed(const char *name, struct guid *ret);
/* A command that is going to run: the providers that its program describes are known by name. */
void cli_provider_of_command(const char *word);
/* Filters on their way into EnableTraceEx2. */
struct cli_filters {
	EVENT_FILTER_DESCRIPTOR d[MAX_EVENT_FILTERS_COUNT];
	void *memory[MAX_EVENT_FILTERS_COUNT];
	ULONG count;
	bool stack; /* some choose who has stacks: EVENT_ENABLE_PROPERTY_STACK_TRACE is needed */
};
void cli_filters_init(struct cli_filters *f);
/* A copy of these bytes. */
bool cli_filters_put(struct cli_filters *f, uint32_t type, const void *p, size_t n);
/* From text; *d says what is wrong with it. */
bool cli_filters_add(struct cli_filters *f, enum session_filter kind, const char *text, struct diag *d);
const char *filter_expr_option(enum session_filter kind); /* "event-id" */
/* What was given for it, checked; "": nothing. False: printed why. */
bool filter_expr_text(const struct cli_args *a, enum session_filter kind, char out[SESSION_FILTER_TEXT]);
void cli_filters_finish(struct cli_filters *f);

/* After an enable: has etwd know the name (NULL or "": none is known), and tells people when nobody
 * has registered the provider: it may be misspelt. */
void cli_provider_tell(const GUID *g, const char *name);
#define CLI_ENABLE_OPTIONS                                                                                             \
	{'k', "keywords", "MASK", "match any of these keyword bits (default: all)", NULL},                             \
		{0, "match-all", "MASK", "and all of these", NULL},                                                    \
		{'l', "level", "LEVEL", "1-5, 255 or critical|error|warning|info|verbose (default verbose)", NULL},    \
		{'s', "stack", NULL, "record the user-mode call stack of each event", NULL},                           \
		{0, "sid", NULL, "record the user of each event", NULL},                                               \
		{0, "process-start-key", NULL, "record a key that is unique for each process start", NULL},            \
		{0, "event-key", NULL, "record a key that is unique for each event", NULL},                            \
		{0, "pid", "PID", "only from this process (repeatable, up to 8)", NULL},                               \
		{0, "exe", "NAME", "only from processes of this executable (a;b for several)", NULL},                  \
		{0, "event-id", "IDS", "only these event ids: 1,2,7 (or !1,2 for all but these)", NULL},               \
		{0, "event-name", "NAMES", "only TraceLogging events of these names: A,B (or !A,B for all but these)", \
		 NULL},                                                                                                \
		{0, "payload", "EXPR",                                                                                 \
		 "only events 'EVENT: FIELD OP VALUE and …', by id or TraceLogging name (repeatable)", NULL},          \
		{0, "container", "ID", "only from processes of this container or control group (a;b for several)",     \
		 NULL},                                                                                                \
		{0, "stack-id", "IDS", "stacks for these event ids only: 1,2 (or !1,2)", NULL},                        \
		{0, "stack-name", "NAMES", "stacks for these TraceLogging events only: A,B (or !A,B)", NULL},          \
	{                                                                                                              \
		0, "stack-level", "LEVEL[:MASK]", "stacks for this level, and keywords, only: 2 or 4:0x10 (or !4)",    \
			NULL                                                                                           \
	}

/* Of verbs whose --filter is evaluated by the session. */
#define CLI_SESSION_FILTER_OPTION                                                                                \
	{                                                                                                        \
		'F', "filter", "EXPR",                                                                           \
			"only events for which the session finds EXPR true (docs/cli.md says what it can)", NULL \
	}

/* The same in all verbs: without HOW it is xpress. */
#define CLI_COMPRESS_OPTION                                                                                   \
	{                                                                                                     \
		'c', "compress", "[HOW]",                                                                     \
			"compress the file: xpress (as Windows; the default) or zstd (for our readers only)", \
			"xpress|zstd"                                                                         \
	}

/* Options that describe a session; shared by start, run and live. */
#define CLI_SESSION_OPTIONS                                                                               \
	{'m', "mode", "MODE", "sequential, circular, newfile, append or buffering",                       \
	 "sequential|circular|newfile|append|buffering"},                                                 \
		{0, "max-size", "SIZE", "size limit of the file: 100MB, 2GB; a bare number is MB", NULL}, \
		{'b', "buffer-size", "SIZE", "size of one buffer, 4K to 16M; a bare number is KB", NULL}, \
		{0, "buffers", "MIN[:MAX]", "number of buffers", NULL},                                   \
		{'f', "flush-timer", "TIME", "write part-filled buffers this often: 1s, 2m", NULL},       \
		{0, "clock", "CLOCK", "qpc (default), system or cycles", "qpc|system|cycles"},            \
		{0, "mode-bits", "BITS", "more bits of the Windows LogFileMode, such as 0x4000", NULL},   \
		{0, "no-per-cpu", NULL, "one stream of buffers instead of one for each processor", NULL}, \
		CLI_COMPRESS_OPTION,                                                                      \
	{                                                                                                 \
		0, "preallocate", NULL, "reserve --max-size on disk at once", NULL                        \
	}

/* Says on stderr when etwd is not at its usual place, and why. */
void cli_place_tell(const struct cli_args *a);
/* One paragraph: events, buffers, losses by cause. Always says so when something was lost. */
void cli_print_totals(FILE *f, const EVENT_TRACE_PROPERTIES *p, const struct openetw_loss *loss);
/* "the log file was removed at …; 12 events (1 buffers) are not in it", or nothing. */
void cli_print_file_state(FILE *f, const char *indent, const struct openetw_loss *loss);
const char *cli_file_state(const struct openetw_loss *loss); /* one word; "": it is fine */
void cli_mode_text(uint32_t mode, char *out, size_t cap);
void cli_guid_text(const GUID *g, char out[37]);

/* Human sizes and rates. */
void cli_size_text(uint64_t bytes, char *out, size_t cap);
/* A whole file behind what is there. -errno; -EFBIG: more than max bytes. */
int cli_file_read(const char *path, size_t max, struct strbuf *inout);
/* The same of a source file: UTF-16 with its mark comes out as UTF-8. */
int cli_source_read(const char *path, size_t max, struct strbuf *inout);

/* Terminal progress on stderr (only when it is a terminal), at most ten times a second. */
struct cli_progress {
	bool active;
	uint64_t started_ns, last_ns;
};
void cli_progress_start(struct cli_progress *p, bool wanted);
void cli_progress_show(struct cli_progress *p, const char *fmt, ...) BASE_PRINTF(2, 3);
void cli_progress_end(struct cli_progress *p);

/* ---- events -------------------------------------------------------------------------------------
 */

struct openetw_decoder;
struct cli_view;

/* Which events: --filter, --event, --process, --pid, --tid, --level, --from, --to and, when `providers`,
 * --provider. */
struct cli_select;
struct cli_select *cli_select_create(const struct cli_args *a, bool providers); /* NULL: said why */
void cli_select_destroy(struct cli_select *s);
/* Relative times count from here. False when the range is empty. */
bool cli_select_set_start(struct cli_select *s, uint64_t start_filetime);
uint64_t cli_select_from(const struct cli_select *s);
uint64_t cli_select_to(const struct cli_select *s); /* UINT64_MAX: no end */
/* Does it ask for what only a state knows of some events? */
bool cli_select_names_process(const struct cli_select *s);
/* Does --event say which? */
bool cli_select_names_events(const struct cli_select *s);
bool cli_select_match(struct cli_select *s, struct cli_view *v, const EVENT_RECORD *e);
/* The i-th thing that it asks for by name or number. */
enum cli_asked_kind {
	CLI_ASKED_PROVIDER,
	CLI_ASKED_EVENT,
	CLI_ASKED_PROCESS,
	CLI_ASKED_PID,
	CLI_ASKED_TID,
	CLI_ASKED_FIELD, /* of --filter, and of --fields */
};
struct cli_asked {
	enum cli_asked_kind kind;
	const char *text; /* NULL: a number */
	uint64_t number;
	bool payload; /* a field, and no property */
	bool seen;    /* some event had it */
};
bool cli_select_asked(const struct cli_select *s, unsigned i, struct cli_asked *ret);
/* Has this event that one thing, whatever else is asked for? */
bool cli_select_has(const struct cli_asked *k, struct cli_view *v, const EVENT_RECORD *e);
/* Only what is said by --level, --from and --to; false when none of them is given. */
bool cli_select_bounds(const struct cli_select *s);
#define CLI_SELECT_OPTIONS                                                                                             \
	{'F', "filter", "EXPR", "only events for which EXPR is true, such as 'pid == 7 and Name ~ \"x\"'", NULL},      \
		{'p', "provider", "P", "only this provider: name, GUID or *Name (repeatable)", NULL},                  \
		{'M', "manifest", "FILE", "decode with this .man, .dll, .exe, .mui, .tmf or .etwcat too (repeatable)", \
		 NULL},                                                                                                \
		{'e', "event", "E", "only this event: name, its last part, pattern or id (repeatable)", NULL},         \
		{0, "process", "NAME", "only processes of this name or pattern, .exe may be left out (repeatable)",    \
		 NULL},                                                                                                \
		{0, "pid", "PID", "only this process (repeatable)", NULL},                                             \
		{0, "tid", "TID", "only this thread (repeatable)", NULL},                                              \
		{'l', "level", "LEVEL", "only this level and more severe ones", NULL},                                 \
		{0, "from", "TIME", "from this time on: 2026-01-31T12:00:00, or +1.5s from the start", NULL},          \
	{                                                                                                              \
		0, "to", "TIME", "up to this time, written likewise", NULL                                             \
	}

enum cli_format {
	CLI_TEXT,
	CLI_JSON,
	CLI_CSV,
};
/* Prints events to stdout; used by dump and live. `select` is borrowed, may be NULL. */
struct cli_printer;
struct cli_printer *cli_printer_create(const struct cli_args *a, struct cli_select *select);
/* What the printer asks for names, ids, files and stacks; attach it to the traces. NULL: no memory. */
struct openetw_state;
struct openetw_state *cli_printer_state(struct cli_printer *p);
/* False when --limit is reached or stdout takes no more (then cli_output_errno says why). */
bool cli_printer_event(struct cli_printer *p, const EVENT_RECORD *e);
extern int cli_output_errno;
uint64_t cli_printer_count(const struct cli_printer *p);
/* Records of the file itself (cli_is_header), which --headers prints, or --event with their names. */
uint64_t cli_printer_headers(const struct cli_printer *p);
/* Events whose payload could not be decoded for want of a schema, or only in part. */
uint64_t cli_printer_undecoded(const struct cli_printer *p);
/* One line for each provider of such events: how many, why, what to supply. */
void cli_printer_explain(const struct cli_printer *p, FILE *f);
void cli_printer_destroy(struct cli_printer *p);
/* The i-th of --fields. */
bool cli_printer_asked(const struct cli_printer *p, unsigned i, struct cli_asked *ret);
#define CLI_PRINT_OPTIONS                                                                                            \
	{0, "format", "FORMAT", "text (default), json (one object a line) or csv", "text|json|csv"},                 \
		{'j', "json", NULL, "the same as --format json", NULL},                                              \
		{0, "fields", "NAMES", "only these, in this order: time,pid,Name,Struct.Member", NULL},              \
		{0, "stacks", NULL, "show call stacks", NULL}, {0, "utc", NULL, "times in UTC (the default)", NULL}, \
		{0, "local", NULL, "times of this machine's zone", NULL},                                            \
	{                                                                                                            \
		'n', "limit", "N", "stop after N events", NULL                                                       \
	}

#endif
