/* SPDX-License-Identifier: MIT
 *
 * profile: recording profiles (.wprp). Front door.
 *
 * A profile file defines collectors (trace sessions), providers, and profiles that say which
 * provider goes to which collector. Objects derive from others of their kind by Base and change
 * what they got with Operation="Set", "Add" or "Remove".
 *
 *   profile_read     XML -> document: every element and attribute checked against the schema
 *                    (profile_schema.c), ids, references and derivations resolved once as a trial.
 *                    A mistake costs the profiles that use the object it is in, and no other
 *   profile_find     which profile "Name.Verbose" and a logging mode mean
 *   profile_resolve  one profile with everything inherited and referred to, as plain structs
 *   profile_unite    several of these as one recording: one collector of a name, one provider of
 *                    a name in it (profile_unite.c)
 *   profile_write    that recording as a file that needs no other
 *
 * Derivation and reference are both a merge of XML trees (profile_tree.c); structs are made of the
 * result (profile_build.c). Nothing here knows of sessions, GUIDs or the machine.
 *
 * Everything belongs to an arena: what profile_read made lives until profile_close, what
 * profile_resolve made until profile_free. Not locked.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/base.h"

#define PROFILE_BYTES_MAX (4u << 20) /* of a file */
#define PROFILE_NOTES_MAX 64u        /* mistakes told of one file */
#define PROFILE_IDS_MAX   64u        /* of an event filter: what a session takes */
#define PROFILE_ALL       UINT64_MAX /* keywords, when none are given */

enum profile_mode {
	PROFILE_ANY_MODE,
	PROFILE_FILE,
	PROFILE_MEMORY,
};
enum profile_detail {
	PROFILE_ANY_DETAIL,
	PROFILE_LIGHT,
	PROFILE_VERBOSE,
};
enum profile_kind {
	PROFILE_SYSTEM,
	PROFILE_EVENT,
	PROFILE_HEAP,
};

/* Something wrong with, or strange in, a file. */
struct profile_note {
	struct profile_note *next;
	bool error; /* else a warning */
	uint32_t line, column;
	const char *text;
};

/* A keyword, stack, event name, tag. */
struct profile_word {
	struct profile_word *next;
	const char *text;
	bool strict;
};
/* A request for the provider's state. */
struct profile_state {
	bool wanted;
	bool has_keywords;
	uint64_t keywords;
	struct profile_word *words; /* of a system provider */
	uint32_t timeout_s;         /* 0: not said */
};
struct profile_ids {
	bool present, in;
	uint32_t count;
	uint16_t id[PROFILE_IDS_MAX];
};
struct profile_names {
	bool present, in;
	uint8_t level;
	uint64_t keywords;
	struct profile_word *names;
};
struct profile_provider {
	struct profile_provider *next;
	enum profile_kind kind;
	const char *id;   /* "" when inline without one */
	const char *name; /* event: name, GUID, *Name or a special one */
	uint32_t line;    /* where its definition stands */
	/* event */
	uint8_t level;
	uint64_t keywords; /* PROFILE_ALL when none are given */
	bool stack, sid, tsid, event_key, non_paged, capture_only, strict;
	struct profile_state on_start, on_save, on_demand;
	struct profile_ids events, stack_events;
	struct profile_names event_names, stack_names;
	const char *exe; /* NULL: any */
	/* system */
	struct profile_word *system_keywords; /* names, and custom ones as 0x… */
	struct profile_word *stacks;
	struct profile_word *pool_tags;
	/* heap */
	struct profile_word *processes;
};
/* A counter that the file defines itself (MicroArchitecturalConfig). -1: not said, so any. */
struct profile_defined {
	struct profile_defined *next;
	const char *name, *architecture; /* "" when not said */
	int64_t family, model, stepping;
	uint32_t event, unit;
	const char *extended; /* ExtendedBits as written; "" when there are none */
};
/* What a system collector counts. */
struct profile_counters {
	struct profile_word *counters;   /* names */
	struct profile_word *events;     /* that have their values */
	struct profile_word *sampled;    /* "Name" or "Name=Interval": what samples are taken by */
	struct profile_defined *defined; /* of these what the file defines; a name may have several */
	bool strict;
	const char *refused; /* an element in it that has no counterpart; NULL: none */
};
struct profile_collector {
	struct profile_collector *next;
	enum profile_kind kind;
	const char *id, *name;
	uint32_t line;
	bool realtime, private_session, process_private, secure, host_guest;
	const char *file_name;       /* NULL: none */
	uint32_t buffer_kb;          /* 128 unless said */
	uint32_t buffers;            /* count, 64 unless said; without meaning beside percent_hundredths */
	uint32_t percent_hundredths; /* of memory, 140: 1.4 percent; 0: `buffers` is a count */
	uint32_t percent_most_mb;    /* cap of that; 0: none */
	uint32_t buffers_per_cpu;    /* 0: not said */
	uint32_t file_most_mb;       /* 0: no limit */
	bool circular;
	uint32_t file_count; /* 0: not said */
	uint32_t stack_cache_buckets, stack_cache_kb;
	struct profile_counters counting;
	struct profile_provider *providers;
};
struct profile {
	struct arena arena;
	const char *id, *name, *description;
	enum profile_mode mode;
	enum profile_detail detail;
	bool strict, internal, is_default;
	const char *file;              /* of the profile that chose it; may be NULL */
	struct profile_word *problems; /* problem categories */
	struct profile_collector *collectors;
	/* merge */
	bool compress, skip_merge, inject_only, keep_parts;
	struct profile_word *custom_events;
};

/* What stands in a file, for lists. */
struct profile_entry {
	struct profile_entry *next;
	const char *id, *name, *description;
	enum profile_mode mode;
	enum profile_detail detail;
	bool internal, is_default;
	bool broken; /* it, or what it uses, has mistakes: it is listed, and does not resolve */
	uint32_t line, column;
};

struct profile_doc;

/* Always makes *ret, unless -ENOMEM or -E2BIG. -EBADMSG: no profile of it can be used; why is among its
 * notes, as are the mistakes of profiles that are broken. */
int profile_read(const void *bytes, size_t n, struct profile_doc **ret);
/* The same; what the file does not define itself may be defined in `base`, which is closed along
 * with the new document, or, when there is none, by this function. NULL: nothing else. */
int profile_read_upon(const void *bytes, size_t n, struct profile_doc *base, struct profile_doc **ret);
void profile_close(struct profile_doc *doc); /* NULL is fine */
const struct profile_note *profile_notes(const struct profile_doc *doc);
const struct profile_entry *profile_entries(const struct profile_doc *doc);

/* "Name", "Name.Light", "Name.Verbose", or a whole id; NULL or "": the default or first profile.
 * Verbose is preferred where the name leaves it open. NULL when there is none. */
const struct profile_entry *profile_find(const struct profile_doc *doc, const char *name, enum profile_mode mode);
/* -ENOMEM, -EBADMSG (a broken entry). */
int profile_resolve(struct profile_doc *doc, const struct profile_entry *e, struct profile **ret);
void profile_free(struct profile *p); /* NULL is fine */

/* What only the caller knows; all may be NULL. */
struct profile_hooks {
	/* Do two names stand for one provider? Else they do when they are the same. */
	bool (*same_provider)(void *ctx, const char *a, const char *b);
	/* Hears of filters that had to be dropped. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};
/* Adds what `more` records to `into`. Texts are copied. -ENOMEM; -EINVAL: one is for files, the other
 * for memory. */
int profile_unite(struct profile *into, const struct profile *more, const struct profile_hooks *hooks);
/* An empty recording to add to. NULL: no memory. */
struct profile *profile_create(const char *name, enum profile_detail detail, enum profile_mode mode);

/* As a .wprp document. */
void profile_write(const struct profile *p, struct strbuf *out);

const char *profile_mode_text(enum profile_mode m);
const char *profile_detail_text(enum profile_detail d);
/* The number of buffers a collector asks for on a machine. */
uint32_t profile_buffer_count(const struct profile_collector *c, uint64_t memory_bytes, uint32_t processors);

#endif
