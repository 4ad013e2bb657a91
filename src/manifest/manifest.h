/* SPDX-License-Identifier: MIT
 *
 * manifest: what a provider declares about itself, as written. Front door.
 *
 *   manifest_read_xml      instrumentation manifests
 *   manifest_read_binary   WEVT_TEMPLATE resources, in PE files (manifest_read_pe) and in programs of ours
 *                          (manifest_section.h)
 *   manifest_read_tmf      formats of WPP messages
 *
 * All of them, and the catalogue of src/schema, make a struct manifest. manifest_write_xml() writes a provider of one as a
 * manifest again, the message compiler (src/mc) in other forms; src/schema makes schemas of its events (schema_manifest.c), keeps them and decodes with them. Nothing
 * here knows the process it runs in: the libraries and the command each have a copy.
 *
 * Everything lives in the manifest's arena. Texts are UTF-8, terminated, never NULL unless said.
 * Positions count from 1 and are 0 where the input has no lines. Immutable once read.
 */
#ifndef MANIFEST_MANIFEST_H
#define MANIFEST_MANIFEST_H

#include "base/arena.h"
#include "base/base.h"
#include "etw/values/tdh_types.h"

/* The most memory one manifest may take; the largest of Windows' own need a tenth. */
#define MANIFEST_MEMORY_MAX (48u << 20)
/* Of one event, members of structs included. */
#define MANIFEST_FIELDS_MAX 4096u

struct manifest_pos {
	uint32_t line, column;
};

struct manifest_map_entry {
	struct manifest_map_entry *next;
	uint32_t value;
	const char *text;             /* message with string references resolved */
	const char *message, *symbol; /* as written; may be NULL */
	uint32_t mask;                /* groups: the bits that hold the value */
	struct manifest_pos pos;
};
struct manifest_map {
	struct manifest_map *next;
	const char *name;
	const char *symbol; /* may be NULL */
	bool bits;
	struct manifest_map_entry *entries;
	uint32_t entry_count;
	/* Values of several bits together. Only the catalogue has them: EVENT_MAP_INFO cannot say them. */
	struct manifest_map_entry *groups;
	uint32_t group_count;
	struct manifest_pos pos;
};

/* A <data> or <struct>. */
struct manifest_item {
	struct manifest_item *next;
	const char *name;
	uint16_t in_type, out_type; /* TDH_INTYPE_*, TDH_OUTTYPE_*; in_type 0: struct */
	const char *map_name;       /* may be NULL */
	const struct manifest_map *map;
	/* Elements and size: a number, or the item that holds it. */
	bool has_count, has_length;
	uint16_t count, length;
	struct manifest_item *count_of, *length_of;
	bool is_struct;
	bool optional; /* later builds append it without raising the version */
	bool to_end;   /* elements until the payload ends */
	uint32_t tags;
	struct manifest_item *members;
	uint32_t member_count;
	uint32_t index; /* among the fields, set while the schema is made */
	struct manifest_pos pos;
};
struct manifest_template {
	struct manifest_template *next;
	const char *tid;
	const char *name; /* may be NULL */
	struct manifest_item *items;
	uint32_t item_count;
	const void *user_data; /* <UserData>: only of manifest_read_document */
	bool has_user_data;    /* a <UserData> says how to render it */
	struct manifest_pos pos;
};

enum manifest_kind {
	MANIFEST_LEVEL,
	MANIFEST_TASK,
	MANIFEST_OPCODE,
	MANIFEST_KEYWORD,
	MANIFEST_CHANNEL,
	MANIFEST_FILTER,
	MANIFEST_KIND_COUNT,
};
/* A level, task, opcode, keyword, channel or filter. */
struct manifest_name {
	struct manifest_name *next;
	const char *name;
	const char *text;                 /* what people see: the message, else the name */
	const char *symbol, *message;     /* as written; may be NULL */
	uint64_t value;                   /* keywords: the mask */
	const struct manifest_name *task; /* opcodes of one task; NULL: of the provider */
	const char *chid, *channel_type;  /* channels; may be NULL */
	struct guid event_guid;           /* tasks */
	uint8_t version;                  /* filters */
	bool imported, enabled;           /* channels */
	bool implied;                     /* a system channel that events use undeclared */
	const char *tid;                  /* filters: of the template; may be NULL */
	bool predefined;
	struct manifest_pos pos;
};

struct manifest_event {
	struct manifest_event *next;
	uint16_t id;
	uint8_t version, channel, level, opcode;
	uint16_t task;
	uint64_t keyword;
	bool not_logged;
	bool opcode_given;                   /* else opcode_of is what 0 means */
	bool better;                         /* than what the trace says: the provider's own description is wrong */
	const char *name, *symbol, *message; /* may be NULL */
	const char *text;                    /* message resolved; may be NULL */
	const char *keywords;                /* as written; may be NULL */
	const char *attributes;              /* "k=v;..."; may be NULL */
	uint32_t tags;
	const struct manifest_name *level_of, *task_of, *opcode_of, *channel_of; /* may be NULL */
	const struct manifest_template *template;                                /* may be NULL */
	struct manifest_pos pos;
};
/* Regular expressions under a name, for tools; nothing decodes with them. */
struct manifest_pattern {
	struct manifest_pattern *next;
	const char *name, *value;
};
struct manifest_pattern_map {
	struct manifest_pattern_map *next;
	const char *name, *format;
	struct manifest_pattern *patterns;
};
struct manifest_provider {
	struct manifest_provider *next;
	struct guid guid, control_guid;
	const char *name;
	const char *symbol, *message, *resource_file, *message_file; /* may be NULL */
	const char *message_ref;                                     /* message as written; may be NULL */
	struct guid group_guid;                                      /* <traits> */
	bool has_traits, include_name;
	bool lenient; /* an unknown version is read as the newest known one below it */
	struct manifest_name *names[MANIFEST_KIND_COUNT];
	struct manifest_map *maps;
	struct manifest_template *templates;
	struct manifest_pattern_map *pattern_maps;
	struct manifest_event *events;
	uint32_t event_count;
	struct manifest_pos pos;
};

/* The strings of one language, in their order. Only manifests in XML have them. */
struct manifest_string {
	const char *id, *value;
};
struct manifest_culture {
	struct manifest_culture *next;
	const char *name; /* "en-US" */
	const struct manifest_string *strings;
	size_t string_count;
};

struct manifest {
	struct arena arena;
	struct manifest_provider *providers;
	struct manifest_culture *cultures;
};

void manifest_init(struct manifest *m);
void manifest_finish(struct manifest *m);

/* Whence a description is: the numbers of DECODING_SOURCE. */
enum schema_source {
	SCHEMA_SOURCE_XML = 0,
	SCHEMA_SOURCE_WBEM = 1,
	SCHEMA_SOURCE_WPP = 2,
	SCHEMA_SOURCE_TLG = 3,
};

/* ---- front ends: 0, -EBADMSG with diag, -ENOMEM; on failure the manifest is finished ------- */

/* An instrumentation manifest, UTF-8 or UTF-16. */
int manifest_read_xml(const void *text, size_t n, struct manifest *ret, struct diag *d);
/* The same from a document, which must outlive the manifest: the templates' user_data are its nodes
 * (struct xml_node). */
struct xml_doc;
int manifest_read_document(const struct xml_doc *doc, struct manifest *ret, struct diag *d);
/* A WEVT_TEMPLATE resource ("CRIM"). `messages` gives the text of a message id or NULL. */
typedef const char *(*manifest_message_fn)(void *ctx, uint32_t id);
int manifest_read_binary(const void *p, size_t n, manifest_message_fn messages, void *ctx, struct manifest *ret,
			 struct diag *d);
/* A PE file (.dll, .exe, .mui) with such a resource; its message table too. -ENOENT: none in it. */
int manifest_read_pe(const void *p, size_t n, struct manifest *ret, struct diag *d);

/* A .tmf file. Each format is an event of a provider whose GUID is the message GUID; its id is the message number, its
 * text the format string with inserts from %10 on, its template the arguments, its attributes
 * "FUNC=..;LEVEL=..;FLAGS=..;COMPNAME=..;SUBCOMP=..;FILE=..". */
#define MANIFEST_TMF_FIRST_INSERT 10u
#define MANIFEST_TMF_ARGS_MAX     90u
int manifest_read_tmf(const void *text, size_t n, struct manifest *ret, struct diag *d);

/* Who takes over what was read, also when it fails; `key` says whence it is. 0 or -errno. */
typedef int (*manifest_take_fn)(void *ctx, struct manifest *m, enum schema_source source, const char *key);

/* A provider as an instrumentation manifest. What a manifest cannot say stands in it as a comment. */
void manifest_write_xml(const struct manifest_provider *p, struct strbuf *out);

/* ---- helpers ------------------------------------------------------------------------------- */

/* winmeta's names: NULL when there is none with this value or name ("win:Start"). Static. */
const struct manifest_name *manifest_predefined(enum manifest_kind kind, uint64_t value);
const struct manifest_name *manifest_predefined_by_name(enum manifest_kind kind, const char *name);
/* Types by name: "win:UInt32", "xs:unsignedInt"; any case, prefix optional. false when unknown. */
bool manifest_in_type(const char *name, uint16_t *ret);
bool manifest_out_type(const char *name, uint16_t *ret);
/* The same back, without prefix; NULL when a manifest cannot say the type. Static. */
const char *manifest_in_type_name(uint16_t in_type);
const char *manifest_out_type_name(uint16_t out_type);
/* What values of an in type are shown as when nothing is said. */
uint16_t manifest_out_default(uint16_t in_type);
/* May this in type be shown as that out type? */
bool manifest_types_fit(uint16_t in_type, uint16_t out_type);

const struct manifest_name *manifest_find(const struct manifest_provider *p, enum manifest_kind kind, const char *name);
/* Of a value; opcodes: of the task first, then the provider's, then winmeta's. May be NULL. */
const struct manifest_name *manifest_find_value(const struct manifest_provider *p, enum manifest_kind kind,
						uint64_t value, const struct manifest_name *task);

#endif
