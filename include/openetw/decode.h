/* SPDX-License-Identifier: MIT
 *
 * Turn event records into text: JSON objects, "name=value" lines, or one call per field. Faster and
 * shorter than driving TDH by hand; knows the same schemas: TraceLogging, the event information
 * that merged files carry, manifests that EventSources send, manifests and WPP formats from files,
 * a catalogue of well-known providers and kernel classes, and string events. In libetw.
 *
 *   struct openetw_decoder *d = openetw_decoder_create();
 *   struct openetw_text t = {0};
 *   if (openetw_decode_json(d, e, &t) == OPENETW_DECODED) {   // e: the EVENT_RECORD of a callback
 *           printf("%s %s\n", openetw_event_name(d, e), t.data);
 *   }
 *   openetw_text_free(&t);
 *   openetw_decoder_destroy(d);
 *
 * samples/decode.c is a whole program. A decoder belongs to one thread at a time; make one per thread. It remembers what it parsed
 * (within limits), so keep it for the whole trace. Feed it every record, also EventMetadata
 * records: it learns the schemas of later events from them.
 *
 * Values in JSON: integers up to 2^53 as numbers, larger ones as strings; hex and error codes as
 * "0x1f"; GUIDs lower case without braces; times as "2021-09-09T12:59:35.7912345Z"; binary as
 * lower-case hex digits; arrays as arrays, structs as objects. Names that start with "_" are ours:
 * "_raw" and "_reason" of an event that cannot be decoded, "_error" and "_rest" when the payload
 * does not fit its schema.
 */
#ifndef OPENETW_DECODE_H
#define OPENETW_DECODE_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Growable text. Start with all zeros; functions append; data is NUL-terminated when not NULL. It has no size and
 * never gets more members. */
struct openetw_text {
	char *data;
	size_t length;
	size_t capacity;
	bool failed; /* memory ran out; data is a prefix */
};
OPENETW_API void openetw_text_clear(struct openetw_text *t); /* keeps the memory */
OPENETW_API void openetw_text_free(struct openetw_text *t);

struct openetw_decoder;

/* NULL when memory runs out. */
OPENETW_API struct openetw_decoder *openetw_decoder_create(void);
OPENETW_API void openetw_decoder_destroy(struct openetw_decoder *d); /* NULL is fine */

/* Results of the decode functions, by names of their own: with each of them the text was appended to. Anything else is
 * a failure: ERROR_NOT_ENOUGH_MEMORY. */
#define OPENETW_DECODED   0u    /* ERROR_SUCCESS */
#define OPENETW_NO_SCHEMA 1168u /* ERROR_NOT_FOUND: the text holds the raw payload and a reason */
#define OPENETW_PARTLY \
	15005u /* ERROR_EVT_INVALID_EVENT_DATA: payload and schema disagree; the text holds what could
				  * be read */

/* Append the payload as one JSON object, fields in order. */
OPENETW_API uint32_t openetw_decode_json(struct openetw_decoder *d, const openetw_event_record *r,
					 struct openetw_text *t);
/* The same, and both names as openetw_event_names() gives them, for less than two calls take. */
OPENETW_API uint32_t openetw_decode_json_named(struct openetw_decoder *d, const openetw_event_record *r,
					       struct openetw_text *t, const char **ret_provider,
					       const char **ret_event);
/* Append `name=value name2="two words" list=[1,2]`. */
OPENETW_API uint32_t openetw_decode_text(struct openetw_decoder *d, const openetw_event_record *r,
					 struct openetw_text *t);
/* The same and both names. */
OPENETW_API uint32_t openetw_decode_text_named(struct openetw_decoder *d, const openetw_event_record *r,
					       struct openetw_text *t, const char **ret_provider,
					       const char **ret_event);

/* Bytes of the payload last decoded that its schema does not cover: 0 when everything was explained,
 * the whole payload without a schema. Newer builds of Windows append fields. */
OPENETW_API size_t openetw_decoder_unread(const struct openetw_decoder *d);

/* Why the event last decoded could not be, or not wholly, and what to supply; "" when it was. Valid
 * until the next call with this decoder. */
OPENETW_API const char *openetw_decoder_reason(struct openetw_decoder *d);

/* Whence the description of this event is, for people: "the event itself (TraceLogging)", the path of a manifest, … ""
 * without one. Valid until the next call with this decoder. */
OPENETW_API const char *openetw_decoder_source(struct openetw_decoder *d, const openetw_event_record *r);

struct openetw_field {
	uint32_t size;    /* bytes that the library filled */
	const char *name; /* UTF-8 */
	size_t name_length;
	uint16_t in_type;  /* TDH_INTYPE_*; 0 for structs */
	uint16_t out_type; /* TDH_OUTTYPE_* */
	bool is_array;
	bool is_struct;
	const char *text; /* the value for people and CSV; equals json for arrays and structs */
	size_t text_length;
	const char *json; /* the value in JSON */
	size_t json_length;
	/* Which bytes of the payload (UserData) the value takes, with the length in front of it and the terminator behind it. No
	 * bytes: the field is none of the payload (_reason, _error). */
	uint32_t offset;
	uint32_t bytes;
};
/* False: no more fields of this event. Pointers are valid during the call. */
typedef bool (*openetw_field_fn)(void *context, const struct openetw_field *f);
/* One call per top-level field. Undecodable events give the fields _raw and _reason. */
OPENETW_API uint32_t openetw_decode_fields(struct openetw_decoder *d, const openetw_event_record *r,
					   openetw_field_fn fn, void *context);

/* The same for the field that a path begins with alone, several times faster: "Line" for "Line" and for "Line.Price".
 * Without a schema _raw and _reason are told when the path begins with "_". */
OPENETW_API uint32_t openetw_decode_field(struct openetw_decoder *d, const openetw_event_record *r, const char *path,
					  openetw_field_fn fn, void *context);

/* Names in UTF-8, never NULL, valid until the next call with this decoder. Unknown events are
 * called "Event(5)" or "Opcode(3)", unknown providers by their GUID in lower case with braces. */
OPENETW_API const char *openetw_event_name(struct openetw_decoder *d, const openetw_event_record *r);
OPENETW_API const char *openetw_provider_name(struct openetw_decoder *d, const openetw_event_record *r);
/* Both at once, for less than twice the time. */
OPENETW_API void openetw_event_names(struct openetw_decoder *d, const openetw_event_record *r,
				     const char **ret_provider, const char **ret_event);

/* Append the event's message with its fields put in: of manifests that have one, and of WPP messages.
 * True: appended; false: the event has none. */
OPENETW_API bool openetw_event_message(struct openetw_decoder *d, const openetw_event_record *r,
				       struct openetw_text *t);
/* What a WPP message says about itself: "FUNC", "LEVEL", "FLAGS", "COMPNAME", "SUBCOMP", "FILE". NULL: it
 * does not, or the event is no such message. Valid until the next call with this decoder. */
OPENETW_API const char *openetw_message_attribute(struct openetw_decoder *d, const openetw_event_record *r,
						  const char *name);

/* Remember the schema in an EventMetadata record. True: learnt; false: not such a record, or nothing new. The
 * decode functions do this themselves. */
OPENETW_API bool openetw_decoder_learn(struct openetw_decoder *d, const openetw_event_record *r);
/* The same for the whole process: TDH functions and all decoders look here too. Any thread. */
OPENETW_API bool openetw_schema_learn(const openetw_event_record *r);
/* Load a file that describes providers, for the whole process: an instrumentation manifest (.man), a
 * PE file with such a manifest as resource (.dll, .exe, .mui), a catalogue (.etwcat), WPP formats
 * (.tmf). ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED, ERROR_INVALID_DATA, …;
 * openetw_last_error_text() says where and why. Files in the directories of
 * OPENETW_CATALOGUE, ~/.local/share/openetw/manifests and <prefix>/share/openetw/manifests are found
 * without this. Any thread. */
OPENETW_API uint32_t openetw_schema_load_file(const char *path);

/* The GUID (16 bytes, as Windows' GUID) that a provider's name stands for: "{guid}" or "guid" itself; of
 * "Name" the one of the installed or loaded manifest of that name, else the one that TraceLogging and
 * EventSource compute; "*Name" is always the computed one. ERROR_SUCCESS; ERROR_INVALID_PARAMETER: *guid is as it was. */
OPENETW_API uint32_t openetw_provider_guid(const char *text, struct openetw_guid *guid);

/* Write into a trace file what this machine knows of its events, so that it can be read elsewhere: the
 * descriptions of all events with ids and of WPP messages that the file has and does not describe itself.
 * Sessions do it when they end. Returns 0 or a Windows code; *ret_events (may be NULL) is how many were
 * added, 0 also for files of other systems' writers, which stay as they are. 32: a session writes it. */
OPENETW_API uint32_t openetw_trace_describe(const char *path, uint32_t *ret_events);
/* The same of a file that is open for reading and writing: for programs that may open none themselves. */
OPENETW_API uint32_t openetw_trace_describe_descriptor(int fd, uint32_t *ret_events);

#ifdef __cplusplus
}
#endif
#endif
