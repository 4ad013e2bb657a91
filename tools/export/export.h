/* SPDX-License-Identifier: MIT
 *
 * Exports: the events of a trace in the forms that other programs read. Front door.
 *
 *   export.c     the table of kinds, and what they share: writing, counting what a kind cannot represent
 *   kind_NAME.c  one kind each: begin, one call for each event, end
 *   stacks.h     call stacks as a tree of frames; folded and speedscope stand on it, report too
 *   protobuf.h   writes the wire format of protocol buffers; json_walk.h: takes the decoder's JSON apart
 *   pcapng.h     packets as a capture file; the verb pcapng stands on it, too
 *   kernel kinds "etl", "csv", "json" and "xml" are made by the writers of relog, dump and wevtutil
 *   "parquet" and "arrow" are made by DuckDB (tools/openetw/export_table.h)
 *
 * An exporter sees events through struct export_event alone: the feed fills it (tools/openetw/export_feed.h reads the
 * files as dump does). Another feed, such as an index, can take its place without a change here.
 *
 * To add a kind, write kind_NAME.c with one `const struct export_kind export_NAME`, and put NAME into
 * EXPORT_EACH_KIND. docs/export.md has a section for each.
 */
#ifndef TOOLS_EXPORT_EXPORT_H
#define TOOLS_EXPORT_EXPORT_H

#include "tools/common/cli.h"

#include <openetw/decode.h>
#include <openetw/state.h>

/* X(first) or X(other) for each kind, in the order of the help: the name in C, and the name that users write. */
#define EXPORT_EACH_KIND(FIRST, X)  \
	FIRST(perfetto, "perfetto") \
	X(pprof, "pprof")           \
	X(speedscope, "speedscope") \
	X(folded, "folded")         \
	X(gecko, "gecko")           \
	X(otlp, "otlp")             \
	X(otlp_json, "otlp-json")   \
	X(ctf, "ctf")               \
	X(etl, "etl")               \
	X(csv, "csv")               \
	X(json, "json")             \
	X(xml, "xml")               \
	X(pcapng, "pcapng")         \
	X(parquet, "parquet")       \
	X(arrow, "arrow")
#define EXPORT_NAME_FIRST(c, name) name
#define EXPORT_NAME_OTHER(c, name) "|" name
/* "perfetto|pprof|…" for option tables. */
#define EXPORT_NAMES EXPORT_EACH_KIND(EXPORT_NAME_FIRST, EXPORT_NAME_OTHER)

/* What an event is besides its fields. */
enum export_what {
	EXPORT_PLAIN,
	EXPORT_SAMPLE, /* of a processor */
	EXPORT_SWITCH, /* from out_tid to in_tid */
	EXPORT_READY,  /* in_tid can run again */
	EXPORT_STACK,  /* a call stack as a record of its own: the event that it belongs to has it as well */
};

struct export_frame {
	uint64_t address;
	const char *name;        /* "module!function"; ';' divides what was inlined, the outermost first */
	const char *module_path; /* NULL: unknown */
	uint64_t module_base, module_bytes;
};

struct export_counter {
	const char *name;
	uint64_t value;
};

struct export_event {
	const EVENT_RECORD *record;
	uint64_t time_100ns; /* since 1970, UTC */
	uint16_t cpu;
	enum export_what what;
	const char *provider, *name; /* "MyCompany.Shop", "Sold"; "" unless EXPORT_FIELDS is asked for */
	const struct openetw_event_origin *who;
	const char *in_process, *in_thread;        /* of in_tid; "" when unknown */
	const char *out_thread;                    /* of out_tid */
	uint32_t out_tid, in_tid, out_pid, in_pid; /* OPENETW_UNKNOWN_ID */
	const char *out_process;
	uint8_t out_state, out_reason; /* Windows' numbers of thread states and wait reasons */
	/* With EXPORT_FIELDS: the fields of the payload, in their order. */
	const struct openetw_field *field;
	size_t field_count;
	bool whole; /* decoded without a rest */
	/* With EXPORT_FRAMES: the call stack, innermost first. */
	const struct export_frame *frame;
	uint32_t frame_count;
	const struct export_counter *counter; /* values of processor counters */
	uint32_t counter_count;
};

/* What a trace says about itself. */
struct export_trace {
	const char *name; /* of the (first) file */
	const char *computer;
	uint64_t start_100ns; /* since 1970 */
	uint32_t cpus;
	char os[64];
};

#define EXPORT_FIELDS 0x1u /* names and fields */
#define EXPORT_FRAMES 0x2u /* call stacks with names */
#define EXPORT_LEARN  0x4u /* all records go through learn() first */

struct export_options {
	const char *kind, *output;
	struct cli_words counter; /* fields that are counters */
	bool ecs, stacks, summary_json, quiet, no_inlines;
};

#define EXPORT_MISSES_MAX 16

struct export
{
	const struct cli_args *args;
	const struct export_kind *kind;
	const struct export_options *o;
	struct export_trace trace;
	struct openetw_state *state; /* for kinds that print by themselves */
	FILE *f;                     /* the output; of a folder its first file */
	struct cli_output_dir *dir;  /* the folder, of kinds that make one */
	void *own;                   /* of the kind */
	uint64_t written, bytes;
	struct {
		const char *what;
		uint64_t count;
	} miss[EXPORT_MISSES_MAX];
	unsigned miss_count;
	int error; /* errno of the first failure */
};

struct export_kind {
	const char *name;   /* as users write it */
	const char *what;   /* one line */
	const char *suffix; /* ".pftrace" */
	const char *cannot; /* what the form cannot represent, one line; NULL: nothing */
	unsigned needs;     /* EXPORT_FIELDS, … */
	bool binary;        /* not for terminals */
	const char *const
		*folder; /* the output is a folder with files of these names, the first open as `f`; NULL: a file */
	bool elsewhere;  /* made by another verb: all functions are NULL */
	/* False from one of these ends the export; export_fail() said why. */
	bool (*begin)(struct export *x);
	void (*learn)(struct export *x, const EVENT_RECORD *e);
	bool (*event)(struct export *x, const struct export_event *e);
	bool (*end)(struct export *x);
	void (*finish)(struct export *x); /* frees `own`, also after a failure */
};

#define EXPORT_DECLARE(c, name) extern const struct export_kind export_##c;
EXPORT_EACH_KIND(EXPORT_DECLARE, EXPORT_DECLARE)
#undef EXPORT_DECLARE
extern const struct export_kind *const export_kinds[]; /* ends with NULL */
const struct export_kind *export_kind_of(const char *name);

/* Output. Bytes are counted. False: the output takes no more. */
bool export_put(struct export *x, const void *p, size_t n);
/* The buffer's bytes, and then the buffer is empty. */
bool export_flush(struct export *x, struct strbuf *b);
/* Remembers errno and returns false. */
bool export_fail(struct export *x, int err);
/* One thing that the kind cannot represent. `what` is a literal that follows a number: "records of call stacks: …" */
void export_miss(struct export *x, const char *what);
void export_miss_n(struct export *x, const char *what, uint64_t n);
/* "  12 records of call stacks: …" on stderr. */
void export_print_misses(const struct export *x, FILE *f);
/* The same as a member of a JSON object. */
void export_add_misses(const struct export *x, struct strbuf *b);

/* The event's level as a word ("info"), "" when it has none. */
const char *export_level(const struct export_event *e);

#endif
