/* SPDX-License-Identifier: MIT
 *
 * schema: what events mean. Front door.
 *
 *   loaders    schema_tlg (TraceLogging metadata), schema_tei (TRACE_EVENT_INFO blocks that merged
 *              files carry), schema_manifest (what src/manifest read, and the catalogue of well-known providers
 *              and kernel classes)
 *   model      struct schema_event: one event's fields in the order of EVENT_PROPERTY_INFO arrays:
 *              top-level fields first, members of structs after, each struct's members together
 *   store      schema_store.h: what was learnt and loaded, of one decoder or of the process
 *   users      schema_walk (payload + model -> JSON, text, places of values), schema_value (one value),
 *              schema_build_tei (model -> TRACE_EVENT_INFO), the Tdh* and openetw_* functions in api_*.c
 *
 * Invariants of every struct schema_event, whatever it came from: indices lie inside the array; a
 * struct's members come after it, so there is no cycle; a count or length refers to an earlier
 * field; strings are valid UTF-8, terminated, inside the pool. Metadata and payload are untrusted:
 * what breaks an invariant is refused by the loader, and the walker bounds depth and work.
 *
 * A schema_event is immutable once built and may be shared between threads.
 */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include "base/base.h"
#include "etw/values/tdh_types.h"
#include "manifest/manifest.h"
#include "openetw/decode.h"
#include "schema/schema_leaf.h"

/* Limits on what a hostile file can make us do. */
#define SCHEMA_FIELDS_MAX MANIFEST_FIELDS_MAX /* per event, hidden ones included */
#define SCHEMA_DEPTH_MAX  32u                 /* structs in structs */
#define SCHEMA_WORK_MAX \
	400000 /* values visited per payload; names cost extra, see schema_walk.c \
				  */

/* TraceLogging's marker of a struct; in the model PropertyStruct says it. */
#define SCHEMA_IN_STRUCT TDH_INTYPE_RESERVED24
/* Text in the pool of the event: offset and bytes. Offset 0 is the empty string: absent. */
struct schema_str {
	uint32_t at;
	uint32_t bytes;
};

struct schema_field {
	uint32_t flags;
	uint32_t tags;         /* 28 bits */
	uint16_t in_type;      /* TDH_INTYPE_*; 0 for structs */
	uint16_t out_type;     /* TDH_OUTTYPE_*, as the loader found or resolved it */
	uint16_t count;        /* elements, or index of the field that says so (PARAM_COUNT) */
	uint16_t length;       /* bytes or units, or index of the field that says so (PARAM_LENGTH) */
	uint16_t first_member; /* structs */
	uint16_t member_count;
	uint16_t custom_protocol;
	bool hidden;   /* "x.Count" and "x.Length" made up for TDH; JSON leaves them out */
	bool captured; /* a later field's count or length refers to this */
	bool optional; /* absent when the payload ends before it */
	bool to_end;   /* as many elements as fit; count is 1 */
	struct schema_str name;
	struct schema_str key;          /* `"name":` in JSON */
	struct schema_str map;          /* name of the value map */
	struct schema_str custom;       /* custom schema bytes, not text */
	const struct schema_map *bound; /* the map itself when the store knew it; may be NULL */
};

struct schema_event {
	enum schema_source source;
	struct guid provider; /* zero for TraceLogging: the record says it */
	struct guid event_guid;
	uint8_t descriptor[16]; /* EVENT_DESCRIPTOR; zero for TraceLogging */
	uint32_t flags;         /* TEMPLATE_FLAGS and tag << 4 */
	struct schema_str provider_name, event_name, task_name, opcode_name, message;
	struct schema_str level_name, channel_name, provider_message, attributes;
	struct schema_str keywords; /* names, a NUL after each */
	bool better;                /* of the catalogue: goes before what a trace says about the event */
	bool has_pointers;          /* the layout depends on the pointer size */
	uint32_t field_count;
	uint32_t top_count;
	const struct schema_field *fields;
	const char *pool;
	const uint8_t *tei; /* the block it was read from, given back as it is; NULL otherwise */
	uint32_t tei_bytes;
	size_t memory_bytes; /* of the one allocation that holds everything */
};

static inline const char *schema_text(const struct schema_event *e, struct schema_str s)
{
	return e->pool + s.at;
}
static inline bool schema_field_is_array(const struct schema_field *f)
{
	return f->count != 1 || f->to_end || (f->flags & (PropertyParamCount | PropertyParamFixedCount));
}

/* ---- loaders: 0, -EBADMSG with diag, -ENOMEM ----------------------------------------------------
 */

/* Event metadata as in extended item 11. */
int schema_load_tlg(const void *metadata, size_t n, struct schema_event **ret, struct diag *d);
/* A TRACE_EVENT_INFO block. */
int schema_load_tei(const void *block, size_t n, struct schema_event **ret, struct diag *d);
/* Events whose form is fixed by their kind. */
enum schema_special {
	SCHEMA_SPECIAL_STRING,         /* flag STRING_ONLY: one string */
	SCHEMA_SPECIAL_MANIFEST_CHUNK, /* Id 0xFFFE of an EventSource */
	SCHEMA_SPECIAL_COUNT,
};
int schema_load_special(enum schema_special kind, struct schema_event **ret);
void schema_event_destroy(struct schema_event *e); /* NULL is fine */

/* Name in a provider traits block (extended item 12): false when there is none. Borrowed. */
bool schema_traits_name(const void *traits, size_t n, const char **ret_name, size_t *ret_bytes);

/* ---- value maps -------------------------------------------------------------------------------
 */

struct schema_map {
	const uint8_t *block; /* EVENT_MAP_INFO as read */
	uint32_t block_bytes;
	uint32_t flag;
	uint32_t entry_count;
	uint32_t group_count; /* behind the entries, which readers of EVENT_MAP_INFO do not see */
};
/* Checks an EVENT_MAP_INFO block; the result borrows it. 0 or -EBADMSG. */
int schema_map_parse(const void *block, size_t n, struct schema_map *ret, struct diag *d);
/* Appends the text for a value in UTF-8: the entry's, or for bitmaps the names joined by '|'. false
 * when the map does not cover it (nothing appended). `ret_rest`, which may be NULL: the bits of the
 * value that have no name. */
bool schema_map_text(const struct schema_map *m, uint32_t value, struct openetw_text *o, uint32_t *ret_rest);

/* ---- store: schemas that were learnt, by provider
 * --------------------------------------------------- */

struct schema_store;
struct schema_store *schema_store_create(void); /* NULL on ENOMEM; not locked */
void schema_store_destroy(struct schema_store *s);
/* Take an event over (also when it fails). 1 kept, 0 already known or full (then destroyed),
 * -ENOMEM. */
int schema_store_take_event(struct schema_store *s, struct schema_event *e);
int schema_store_add_map(struct schema_store *s, const struct guid *provider, const void *block, size_t n);
/* Payload of an EventMetadata record: opcode 32 event, 33 map, 224 formats of WPP messages, as text of a
 * .tmf file (only in files of ours). */
#define SCHEMA_METADATA_EVENT 32u
#define SCHEMA_METADATA_MAP   33u
#define SCHEMA_METADATA_TMF   224u
int schema_store_learn(struct schema_store *s, uint8_t opcode, const void *payload, size_t n);
/* Borrowed until the store goes. `classic` looks by class and opcode, else by provider and id. */
const struct schema_event *schema_store_find(const struct schema_store *s, bool classic, const struct guid *guid,
					     uint16_t id_or_opcode, uint8_t version);
const struct schema_map *schema_store_find_map(const struct schema_store *s, const struct guid *provider,
					       const char *name, size_t bytes);
/* Calls fn once per provider known; stops when fn returns non-zero. */
typedef int (*schema_provider_fn)(void *ctx, const struct guid *g, enum schema_source source, const char *name);
int schema_store_each_provider(const struct schema_store *s, schema_provider_fn fn, void *ctx);

/* Calls fn once per event of one provider. */
typedef int (*schema_event_fn)(void *ctx, const struct schema_event *e);
int schema_store_each_event(const struct schema_store *s, const struct guid *provider, schema_event_fn fn, void *ctx);
/* ---- one value ----------------------------------------------------------------------------------
 */

enum schema_style {
	SCHEMA_STYLE_TDH,   /* as TdhFormatProperty writes it */
	SCHEMA_STYLE_PLAIN, /* JSON's value without quotes and escapes */
	SCHEMA_STYLE_JSON,
};
struct schema_value {
	const uint8_t *p; /* the value, without a length prefix */
	uint32_t bytes;
	uint32_t consumed; /* bytes of payload it takes, prefix and terminator included */
};
#define SCHEMA_NO_LENGTH UINT32_MAX
/* The name of a code shown as NTSTATUS, HRESULT or Win32 error ("STATUS_ACCESS_DENIED"); NULL when
 * unknown. */
const char *schema_error_symbol(uint16_t out, uint32_t code);
/* Where the value at p ends. `length` as resolved (units or bytes) or SCHEMA_NO_LENGTH. -EBADMSG
 * when the payload is too short. */
int schema_value_read(uint16_t in_type, uint16_t out_type, uint32_t length, unsigned pointer_size, const uint8_t *p,
		      size_t left, struct schema_value *ret);
void schema_value_format(struct openetw_text *o, enum schema_style style, uint16_t in_type, uint16_t out_type,
			 const struct schema_value *v);
/* The value of an integer type that may be a count, length or map key: false for others. */
bool schema_value_u32(uint16_t in_type, const uint8_t *p, uint32_t *ret);
/* Bytes of a type that always has the same size; 0 for the others. */
uint32_t schema_value_fixed(uint16_t in, unsigned pointer_size);

/* ---- a payload ----------------------------------------------------------------------------------
 */

struct schema_payload {
	const struct schema_event *event;
	const uint8_t *data;
	size_t bytes;
	unsigned pointer_size;
	const struct schema_store *store; /* for maps; may be NULL: only the process's */
	uint32_t *ret_unread;             /* bytes behind the last field; may be NULL */
};
/* Append. 0, or -EBADMSG when the payload does not fit (what fits was appended, with _error and
 * _rest). */
int schema_walk_json(const struct schema_payload *p, struct openetw_text *o);
int schema_walk_text(const struct schema_payload *p, struct openetw_text *o);
/* `only`: the field that this path begins with; NULL: all. */
int schema_walk_fields(const struct schema_payload *p, const char *only, struct openetw_text *scratch,
		       openetw_field_fn fn, void *ctx);

/* The event's message with its inserts; nothing when it has none. */
void schema_message_format(const struct schema_payload *p, struct openetw_text *o);

/* How many bytes of the payload the fields take. 0, or -EBADMSG with the bytes up to the problem. */
int schema_walk_measure(const struct schema_payload *p, uint32_t *ret_bytes);
/* Every value, hidden ones too, in the order of the payload; the bytes that they take. 0, or -EBADMSG where the payload
 * does not fit: what came before was given. */
int schema_walk_leaves(const struct schema_payload *p, schema_leaf_fn *fn, void *ctx, uint32_t *ret_bytes);
/* Where the last field begins; the event must have fields. */
int schema_walk_last(const struct schema_payload *p, uint32_t *ret_at);

/* How many of the top-level fields are there, and the elements of the field that takes the rest. */
uint32_t schema_walk_present(const struct schema_payload *p, uint16_t *ret_to_end);

#define SCHEMA_INDEX_ALL UINT32_MAX
struct schema_step {
	const char *name; /* UTF-8 */
	size_t bytes;
	uint32_t index; /* element or SCHEMA_INDEX_ALL */
};
/* Where a value lies in the payload; one step per struct level. -ENOENT, -EBADMSG. */
int schema_walk_find(const struct schema_payload *p, const struct schema_step *steps, unsigned n,
		     const uint8_t **ret_data, uint32_t *ret_bytes);

/* ---- TRACE_EVENT_INFO
 * ----------------------------------------------------------------------------- */

struct schema_tei_names {
	struct guid provider;
	const uint8_t *descriptor; /* 16 bytes; NULL: the event's own */
	const char *provider_name; /* NULL: the event's own */
	size_t provider_name_bytes;
	/* The event's payload; may be NULL. Fields it does not have are left out. */
	const struct schema_payload *payload;
};
/* Appends the block to `o`. -ENOMEM. */
int schema_build_tei(const struct schema_event *e, const struct schema_tei_names *n, struct openetw_text *o);

#endif
