/* SPDX-License-Identifier: MIT
 *
 * openetw/decode.h. The fast path is a TraceLogging event seen before: hash its metadata, find the
 * model, walk the payload; nothing is allocated.
 */
#include "base/map.h"
#include "schema/schema_eventsource.h"
#include "schema/schema_out.h"
#include "schema/schema_record.h"
#include "schema/wpp.h"

#include <stdlib.h>

#define CACHE_MAX        1024u /* kinds */
#define CACHE_MEMORY_MAX (64u << 20)

struct cached {
	uint8_t *key; /* metadata bytes */
	uint32_t key_bytes;
	struct schema_event *event; /* NULL: the metadata is malformed */
};

/* Found schemas of manifest and classic events, and that there is none. Direct-mapped: a collision
 * costs a look into the stores. */
#define KNOWN_SLOTS 1024u /* power of two */
struct known_slot {
	struct guid guid;
	uint16_t id;
	uint8_t version;
	bool classic;
	bool used;
	bool sent; /* an EventSource's: `event` is for this process, if the payload fits */
	uint32_t pid;
	const struct schema_event *event;
};

struct openetw_decoder {
	struct schema_store *store;
	uint32_t known_generation;
	struct known_slot known[KNOWN_SLOTS];
	struct schema_chunks *chunks;
	/* The last manifest in the stream that could not be read, and why. */
	struct guid bad_manifest;
	struct diag bad_manifest_diag;
	uint32_t result; /* OPENETW_… of the last event */
	uint32_t unread; /* payload bytes of the last event that its schema did not cover */
	struct schema_event *special[SCHEMA_SPECIAL_COUNT];
	struct openetw_text scratch;
	struct openetw_text name, provider_name; /* what the name functions returned last */
	char reason[400];
	struct map cache_places; /* by metadata */
	uint32_t cache_used;
	size_t cache_memory;
	struct cached cache[CACHE_MAX];
};

void openetw_text_clear(struct openetw_text *t)
{
	t->length = 0;
	t->failed = false;
	if (t->data) {
		t->data[0] = 0;
	}
}

void openetw_text_free(struct openetw_text *t)
{
	free(t->data);
	*t = (struct openetw_text){0};
}

struct openetw_decoder *openetw_decoder_create(void)
{
	struct openetw_decoder *d = calloc(1, sizeof *d);
	if (!d) {
		return NULL;
	}
	int err = 0;
	d->store = schema_store_create();
	d->chunks = schema_chunks_create();
	for (int i = 0; i < SCHEMA_SPECIAL_COUNT && err == 0; i++) {
		err = schema_load_special((enum schema_special)i, &d->special[i]);
	}
	if (!d->store || !d->chunks || err < 0) {
		openetw_decoder_destroy(d);
		return NULL;
	}
	return d;
}

static void cache_empty(struct openetw_decoder *d)
{
	for (uint32_t i = 0; i < d->cache_used; i++) {
		free(d->cache[i].key);
		schema_event_destroy(d->cache[i].event);
	}
	map_clear(&d->cache_places);
	d->cache_used = 0;
	d->cache_memory = 0;
}

void openetw_decoder_destroy(struct openetw_decoder *d)
{
	if (!d) {
		return;
	}
	cache_empty(d);
	map_free(&d->cache_places);
	for (int i = 0; i < SCHEMA_SPECIAL_COUNT; i++) {
		schema_event_destroy(d->special[i]);
	}
	schema_chunks_destroy(d->chunks);
	schema_store_destroy(d->store);
	openetw_text_free(&d->scratch);
	openetw_text_free(&d->name);
	openetw_text_free(&d->provider_name);
	free(d);
}

/* ---- finding the schema
 * --------------------------------------------------------------------------- */

/* 0 and the model, or NULL with a reason; -ENOMEM. */
static int find_tlg(struct openetw_decoder *d, const struct schema_record *s, const struct schema_event **ret)
{
	uint64_t hash = map_hash(&d->cache_places, s->tlg, s->tlg_bytes);
	MAP_EACH(&d->cache_places, hash, at) {
		const struct cached *c = &d->cache[map_value(&d->cache_places, at)];
		if (c->key_bytes == s->tlg_bytes && memcmp(c->key, s->tlg, s->tlg_bytes) == 0) {
			*ret = c->event;
			return 0;
		}
	}
	struct diag diag = {0};
	struct schema_event *e = NULL;
	int err = schema_load_tlg(s->tlg, s->tlg_bytes, &e, &diag);
	if (err == -ENOMEM) {
		return err;
	}
	size_t memory = s->tlg_bytes + (e ? e->memory_bytes : 0);
	if (d->cache_used >= CACHE_MAX || d->cache_memory + memory > CACHE_MEMORY_MAX) {
		cache_empty(d); /* rare: more kinds of events than any real trace has */
	}
	uint8_t *key = malloc(s->tlg_bytes + 1);
	if (!key || map_add(&d->cache_places, hash, d->cache_used) < 0) {
		free(key);
		schema_event_destroy(e);
		return -ENOMEM;
	}
	memcpy(key, s->tlg, s->tlg_bytes);
	d->cache[d->cache_used++] = (struct cached){key, (uint32_t)s->tlg_bytes, e};
	d->cache_memory += memory;
	*ret = e;
	return 0;
}

/* ---- why there is none ------------------------------------------------------------------------ */

static void say_guid(struct openetw_text *t, const struct guid *g)
{
	char guid[37];
	out_char(t, '{');
	out_str(t, guid_format(g, guid));
	out_char(t, '}');
}

static void say_number(struct openetw_text *t, const char *what, uint32_t n)
{
	out_str(t, what);
	out_u64(t, n);
}

static const struct manifest_provider *known_provider(const struct openetw_decoder *d, const struct schema_record *s)
{
	const struct manifest_provider *p = schema_store_provider(d->store, s->classic, &s->provider);
	return p ? p : schema_process_provider(s->classic, &s->provider);
}

static void explain_manifest(struct openetw_decoder *d, const struct schema_record *s, struct openetw_text *t)
{
	const struct manifest_provider *p = known_provider(d, s);
	bool described = schema_store_resolve_sent(d->store, &s->provider, s->id, s->version) ||
			 schema_process_find(false, &s->provider, s->id, s->version);
	out_str(t, "no schema: provider ");
	if (p) {
		out_str(t, p->name);
		out_char(t, ' ');
	} else if (s->traits) {
		const char *name;
		size_t n;
		if (schema_traits_name(s->traits, s->traits_bytes, &name, &n)) {
			out_utf8(t, name, n, false);
			out_char(t, ' ');
		}
	}
	say_guid(t, &s->provider);
	if (p && described) {
		say_number(t, ": manifests that other processes sent describe its event ", s->id);
		say_number(t, " version ", s->version);
		out_str(t, " with another length: its own process sent none");
		return;
	}
	if (p && p->event_count) { /* else only its name is known */
		say_number(t, " is known, but not its event ", s->id);
		say_number(t, " version ", s->version);
		out_str(t, ": supply a newer manifest");
		return;
	}
	say_number(t, " id ", s->id);
	if (guid_equal(&d->bad_manifest, &s->provider)) {
		say_number(t, ": the manifest it sent cannot be read, line ", d->bad_manifest_diag.line);
		out_str(t, ": ");
		out_utf8(t, d->bad_manifest_diag.text, strlen(d->bad_manifest_diag.text), false);
		return;
	}
	out_str(t, ": supply its manifest (.man, or the .dll or .exe that holds it) in "
		   "~/.local/share/openetw/manifests");
}

static void explain_class(struct openetw_decoder *d, const struct schema_record *s, struct openetw_text *t)
{
	const struct manifest_provider *p = known_provider(d, s);
	out_str(t, "no schema: class ");
	if (p) {
		out_str(t, p->names[MANIFEST_TASK] ? p->names[MANIFEST_TASK]->name : p->name);
		out_char(t, ' ');
	}
	say_guid(t, &s->provider);
	say_number(t, p ? " has no known opcode " : " opcode ", s->opcode);
	if (p) {
		say_number(t, " in version ", s->version);
	}
	out_str(t, p ? ""
		     : ": not a known class; describe it in a .etwcat file in "
		       "~/.local/share/openetw/manifests");
}

static void explain_missing(struct openetw_decoder *d, const struct schema_record *s)
{
	struct openetw_text *t = &d->scratch;
	d->result = OPENETW_NO_SCHEMA;
	openetw_text_clear(t);
	if (s->tlg) {
		struct diag diag = {0};
		struct schema_event *e = NULL;
		if (schema_load_tlg(s->tlg, s->tlg_bytes, &e, &diag) == 0) {
			schema_event_destroy(e);
		}
		out_str(t, "bad TraceLogging metadata: ");
		out_str(t, diag.text);
	} else if (s->flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) {
		out_str(t, "no schema: WPP message ");
		say_guid(t, &s->provider);
		say_number(t, " number ", s->id);
		out_str(t, ": supply its .tmf file in ~/.local/share/openetw/manifests");
	} else if (s->classic) {
		explain_class(d, s, t);
	} else {
		explain_manifest(d, s, t);
	}
	size_t n = BASE_MIN(t->length, sizeof d->reason - 1);
	if (n) {
		memcpy(d->reason, t->data, n);
	}
	d->reason[n] = 0;
}

/* ---- what the stream says about itself --------------------------------------------------------- */

static void forget_known(struct openetw_decoder *d)
{
	memset(d->known, 0, sizeof d->known);
}

static int learn(struct openetw_decoder *d, const struct schema_record *s)
{
	int err = schema_store_learn(d->store, s->opcode, s->payload, s->payload_bytes);
	if (err > 0) {
		forget_known(d);
	}
	return err;
}

static int learn_chunk(struct openetw_decoder *d, const struct schema_record *s)
{
	struct diag diag = {0};
	int err = schema_chunks_add(d->chunks, &s->provider, s->pid, s->tid, s->payload, s->payload_bytes, d->store,
				    &diag);
	if (err > 0) {
		forget_known(d);
	} else if (err == -EBADMSG) {
		d->bad_manifest = s->provider;
		d->bad_manifest_diag = diag;
	}
	return err;
}

/* Processes of different builds send different manifests under one GUID, so what was found holds for one process, and
 * for payloads of the length it describes. */
static const struct schema_event *find_sent(struct openetw_decoder *d, struct known_slot *k,
					    const struct schema_record *s)
{
	struct schema_ask ask = schema_record_ask(s);
	if (k->event && k->pid == s->pid && schema_ask_fits(&ask, k->event)) {
		return k->event;
	}
	k->pid = s->pid;
	k->event = schema_find_sent(d->store, &ask);
	return k->event;
}

static const struct schema_event *find_known(struct openetw_decoder *d, const struct schema_record *s)
{
	uint16_t id = s->classic ? s->opcode : s->id;

	uint32_t generation = schema_process_generation();
	if (BASE_UNLIKELY(generation != d->known_generation)) {
		forget_known(d);
		d->known_generation = generation;
	}
	uint64_t h =
		(le64_get(s->provider.b) ^ le64_get(s->provider.b + 8)) + id * 0x10001ull + s->version * 0x1000001ull;
	struct known_slot *k = &d->known[(h * 0x9E3779B97F4A7C15ull >> 40) & (KNOWN_SLOTS - 1)];
	bool hit = k->used && k->id == id && k->version == s->version && k->classic == s->classic &&
		   guid_equal(&k->guid, &s->provider);
	if (BASE_UNLIKELY(hit && k->sent)) {
		return find_sent(d, k, s);
	}
	if (BASE_LIKELY(hit)) {
		if (BASE_LIKELY(k->event != NULL)) {
			return k->event;
		}
		schema_process_refresh(false); /* installed since, perhaps */
		if (schema_process_generation() == generation) {
			return NULL;
		}
	}
	*k = (struct known_slot){
		.guid = s->provider, .id = id, .version = s->version, .classic = s->classic, .used = true};
	const struct schema_event *e = schema_store_resolve(d->store, s->classic, &s->provider, id, s->version);
	k->sent = !s->classic && (schema_store_sent(d->store, &s->provider) || schema_process_sent(&s->provider));
	const struct schema_event *other = schema_process_find(s->classic, &s->provider, id, s->version);
	if (k->sent && !(other && other->better)) {
		return find_sent(d, k, s);
	}
	k->sent = false;
	e = !e || (other && other->better) ? other : e;
	k->event = e;
	return e;
}

/* *ret is NULL when there is none; explain_missing() says why. */
static int find_schema(struct openetw_decoder *d, const struct schema_record *s, const struct schema_event **ret)
{
	*ret = NULL;
	if (BASE_LIKELY(s->tlg != NULL)) {
		return find_tlg(d, s, ret);
	}
	if (s->flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) {
		struct schema_record message = *s; /* known by GUID and number, without version */
		message.classic = false;
		message.version = 0;
		*ret = find_known(d, &message);
		return 0;
	}
	if (s->flags & EVENT_HEADER_FLAG_STRING_ONLY) {
		*ret = d->special[SCHEMA_SPECIAL_STRING];
		return 0;
	}
	if (schema_record_is_manifest_chunk(s)) {
		learn_chunk(d, s);
		*ret = d->special[SCHEMA_SPECIAL_MANIFEST_CHUNK];
		return 0;
	}
	if (s->metadata) {
		learn(d, s);
	}
	*ret = find_known(d, s);
	return 0;
}

/* ---- decoding
 * --------------------------------------------------------------------------------------- */

static int prepare(struct openetw_decoder *d, const EVENT_RECORD *r, struct schema_record *s, struct schema_payload *p)
{
	const struct schema_event *e;
	schema_record_read(r, s);
	int err = find_schema(d, s, &e);
	*p = (struct schema_payload){e,        s->payload, s->payload_bytes, s->pointer_size ? s->pointer_size : 8,
				     d->store, &d->unread};
	d->unread = e ? 0 : (uint32_t)s->payload_bytes;
	return err;
}

/* Win32 code. */
static uint32_t result(struct openetw_decoder *d, const struct openetw_text *t, int err)
{
	d->result = err == -EBADMSG ? OPENETW_PARTLY : OPENETW_DECODED;
	return t->failed ? ERROR_NOT_ENOUGH_MEMORY : d->result;
}

/* The usual pointer size is tried first, so that records which fit it cost nothing extra. */
static bool is_other_width(struct openetw_decoder *d, const struct schema_record *s, struct schema_payload *p, int err)
{
	return s->classic && (BASE_UNLIKELY(err < 0 || d->unread != 0) || schema_record_ends_with_text(p->event)) &&
	       schema_record_settle(p);
}

/* The message's text goes before its arguments. */
static int message_json(struct openetw_decoder *d, const struct schema_payload *p, struct openetw_text *t)
{
	openetw_text_clear(&d->scratch);
	wpp_format(p, &d->scratch);
	out_str(t, "{\"_message\":\"");
	if (d->scratch.data) {
		out_utf8(t, d->scratch.data, d->scratch.length, true);
	}
	out_str(t, p->event->top_count ? "\"," : "\"");
	size_t at = t->length;
	int err = schema_walk_json(p, t);
	if (!t->failed) { /* one object out of two: without the second brace */
		memmove(t->data + at, t->data + at + 1, t->length - at - 1);
		out_cut(t, t->length - 1);
	}
	return err;
}

static int message_text(const struct schema_payload *p, struct openetw_text *t)
{
	out_str(t, "_message=\"");
	size_t at = t->length;
	int err = wpp_format(p, t);
	for (size_t i = at; i < t->length && !t->failed; i++) {
		t->data[i] = t->data[i] == '"' ? '\'' : (uint8_t)t->data[i] < ' ' ? ' ' : t->data[i];
	}
	out_char(t, '"');
	if (p->event->top_count) {
		out_char(t, ' ');
	}
	int walked = schema_walk_text(p, t);
	return err < 0 ? err : walked;
}

static uint32_t decode_json(struct openetw_decoder *d, const struct schema_record *s, struct schema_payload *p,
			    struct openetw_text *t)
{
	if (BASE_LIKELY(p->event != NULL)) {
		size_t at = t->length;
		if (BASE_UNLIKELY(p->event->source == SCHEMA_SOURCE_WPP)) {
			return result(d, t, message_json(d, p, t));
		}
		int err = schema_walk_json(p, t);
		if (is_other_width(d, s, p, err)) {
			out_cut(t, at);
			err = schema_walk_json(p, t);
		}
		return result(d, t, err);
	}
	explain_missing(d, s);
	out_str(t, "{\"_raw\":\"");
	out_hex_bytes(t, s->payload, s->payload_bytes, false);
	out_str(t, "\",\"_reason\":\"");
	out_utf8(t, d->reason, strlen(d->reason), true);
	out_str(t, "\"}");
	return t->failed ? ERROR_NOT_ENOUGH_MEMORY : OPENETW_NO_SCHEMA;
}

uint32_t openetw_decode_json(struct openetw_decoder *d, const EVENT_RECORD *r, struct openetw_text *t)
{
	struct schema_record s;
	struct schema_payload p;
	int err = prepare(d, r, &s, &p);
	return err < 0 ? win32_from_errno(err) : decode_json(d, &s, &p, t);
}

static uint32_t decode_text(struct openetw_decoder *d, const struct schema_record *s, struct schema_payload *p,
			    struct openetw_text *t)
{
	if (p->event) {
		size_t at = t->length;
		if (p->event->source == SCHEMA_SOURCE_WPP) {
			return result(d, t, message_text(p, t));
		}
		int err = schema_walk_text(p, t);
		if (is_other_width(d, s, p, err)) {
			out_cut(t, at);
			err = schema_walk_text(p, t);
		}
		return result(d, t, err);
	}
	explain_missing(d, s);
	out_str(t, "_raw=");
	out_hex_bytes(t, s->payload, s->payload_bytes, false);
	out_str(t, " _reason=\"");
	out_utf8(t, d->reason, strlen(d->reason), true);
	out_char(t, '"');
	return t->failed ? ERROR_NOT_ENOUGH_MEMORY : OPENETW_NO_SCHEMA;
}

uint32_t openetw_decode_text(struct openetw_decoder *d, const EVENT_RECORD *r, struct openetw_text *t)
{
	struct schema_record s;
	struct schema_payload p;
	int err = prepare(d, r, &s, &p);
	return err < 0 ? win32_from_errno(err) : decode_text(d, &s, &p, t);
}

/* A field of ours whose text needs no escaping; it takes the first bytes of the payload. */
static bool give_own(struct openetw_decoder *d, openetw_field_fn fn, void *context, const char *name, size_t bytes)
{
	struct openetw_text *t = &d->scratch;
	if (t->failed) {
		return false;
	}
	struct openetw_field f = {
		.size = sizeof f,
		.name = name,
		.name_length = strlen(name),
		.in_type = TDH_INTYPE_ANSISTRING,
		.out_type = TDH_OUTTYPE_STRING,
		.text = t->data + 1,
		.text_length = t->length - 2,
		.json = t->data,
		.json_length = t->length,
		.bytes = (uint32_t)bytes,
	};
	return fn(context, &f);
}

static uint32_t decode_fields(struct openetw_decoder *d, const EVENT_RECORD *r, const char *only, openetw_field_fn fn,
			      void *context)
{
	struct schema_record s;
	struct schema_payload p;
	int err = prepare(d, r, &s, &p);
	if (err < 0) {
		return win32_from_errno(err);
	}
	openetw_text_clear(&d->scratch);
	if (p.event) {
		if (s.classic) {
			schema_record_settle(&p);
		}
		err = schema_walk_fields(&p, only, &d->scratch, fn, context);
		return result(d, &d->scratch, err);
	}
	if (only && only[0] != '_') {
		explain_missing(d, &s);
		return OPENETW_NO_SCHEMA;
	}
	out_char(&d->scratch, '"');
	out_hex_bytes(&d->scratch, s.payload, s.payload_bytes, false);
	out_char(&d->scratch, '"');
	if (give_own(d, fn, context, "_raw", s.payload_bytes)) {
		explain_missing(d, &s);
		openetw_text_clear(&d->scratch);
		out_char(&d->scratch, '"');
		out_utf8(&d->scratch, d->reason, strlen(d->reason), true);
		out_char(&d->scratch, '"');
		give_own(d, fn, context, "_reason", 0);
	}
	return d->scratch.failed ? ERROR_NOT_ENOUGH_MEMORY : OPENETW_NO_SCHEMA;
}

uint32_t openetw_decode_fields(struct openetw_decoder *d, const EVENT_RECORD *r, openetw_field_fn fn, void *context)
{
	return decode_fields(d, r, NULL, fn, context);
}

uint32_t openetw_decode_field(struct openetw_decoder *d, const EVENT_RECORD *r, const char *path, openetw_field_fn fn,
			      void *context)
{
	return path ? decode_fields(d, r, path, fn, context) : ERROR_INVALID_PARAMETER;
}

int schema_decode_leaves(struct openetw_decoder *d, const EVENT_RECORD *r, schema_leaf_fn *fn, void *ctx,
			 uint32_t *ret_bytes)
{
	struct schema_record s;
	struct schema_payload p;
	int err = prepare(d, r, &s, &p);
	*ret_bytes = 0;
	if (err < 0) {
		return err;
	}
	if (!p.event) {
		return -ENOENT;
	}
	if (s.classic) {
		schema_record_settle(&p);
	}
	return schema_walk_leaves(&p, fn, ctx, ret_bytes);
}

bool schema_describes_events(const EVENT_RECORD *r)
{
	struct schema_record s;
	schema_record_read(r, &s);
	return schema_record_is_manifest_chunk(&s) ||
	       (s.metadata && schema_store_understands(s.opcode, s.payload, s.payload_bytes));
}

size_t openetw_decoder_unread(const struct openetw_decoder *d)
{
	return d->unread;
}

const char *openetw_decoder_reason(struct openetw_decoder *d)
{
	return d->result == OPENETW_NO_SCHEMA ? d->reason
	       : d->result == OPENETW_PARTLY  ? "its payload is not what the schema says: supply the "
						"manifest of the build that wrote it"
					      : "";
}

/* ---- whence
 * ------------------------------------------------------------------------------------------ */

static const char *finished_name(const struct openetw_text *t)
{
	return t->failed || !t->data ? "" : t->data;
}

/* The file that the process's store has a provider from; "" is the catalogue's key, and one that is no path the trace's. */
static void say_loaded(struct openetw_text *t, bool classic, const struct guid *g)
{
	char *key = schema_process_key(classic, g);
	if (key && (uint8_t)key[0] >= ' ') {
		out_utf8(t, key, strlen(key), false);
	} else {
		out_str(t, key && !key[0] ? "the catalogue of OpenETW" : "the trace (a description beside its events)");
	}
	free(key);
}

const char *openetw_decoder_source(struct openetw_decoder *d, const EVENT_RECORD *r)
{
	struct schema_record s;
	const struct schema_event *e = NULL;
	struct openetw_text *t = &d->name;
	schema_record_read(r, &s);
	bool message = s.flags & EVENT_HEADER_FLAG_TRACE_MESSAGE, classic = s.classic && !message;
	uint16_t id = classic ? s.opcode : s.id;
	uint8_t version = message ? 0 : s.version;
	if (find_schema(d, &s, &e) < 0 || !e) {
		return "";
	}
	openetw_text_clear(t);
	if (s.tlg) {
		out_str(t, "the event itself (TraceLogging)");
	} else if (e == d->special[SCHEMA_SPECIAL_STRING] || e == d->special[SCHEMA_SPECIAL_MANIFEST_CHUNK]) {
		out_str(t, "the form that all events of this kind have");
	} else if (e->tei || schema_store_resolve(d->store, classic, &s.provider, id, version) == e) {
		out_str(t, "the trace (a description beside its events)");
	} else if (schema_process_find(classic, &s.provider, id, version) == e) {
		say_loaded(t, classic, &s.provider);
	} else {
		out_str(t, "the program (its EventSource sent a manifest)");
	}
	return finished_name(t);
}

/* ---- names
 * ------------------------------------------------------------------------------------------ */

static const char *event_name(struct openetw_text *t, const struct schema_record *s, const struct schema_event *e)
{
	if (e && e->event_name.bytes) {
		return schema_text(e, e->event_name);
	}
	openetw_text_clear(t);
	if (e && e->task_name.bytes) {
		const char *opcode = schema_text(e, e->opcode_name);
		opcode += strncmp(opcode, "win:", 4) == 0 ? 4 : 0;
		if (!*opcode || strcmp(opcode, "Info") == 0) {
			return schema_text(e, e->task_name);
		}
		out_add(t, schema_text(e, e->task_name), e->task_name.bytes);
		out_char(t, '/');
		out_str(t, opcode);
	} else {
		bool message = s->flags & EVENT_HEADER_FLAG_TRACE_MESSAGE;
		out_str(t, message ? "Message(" : s->classic ? "Opcode(" : "Event(");
		out_u64(t, s->classic && !message ? s->opcode : s->id);
		out_char(t, ')');
	}
	return finished_name(t);
}

static const char *provider_name(const struct openetw_decoder *d, struct openetw_text *t, const struct schema_record *s,
				 const struct schema_event *e)
{
	const char *name;
	size_t bytes;
	if (s->traits && schema_traits_name(s->traits, s->traits_bytes, &name, &bytes)) {
		openetw_text_clear(t);
		out_utf8(t, name, bytes, false);
		return finished_name(t);
	}
	if (!s->tlg && e && e->provider_name.bytes) {
		return schema_text(e, e->provider_name);
	}
	const struct manifest_provider *p = s->tlg ? NULL : known_provider(d, s);
	if (p && p->name && *p->name) {
		return p->name;
	}
	char guid[37];
	openetw_text_clear(t);
	out_char(t, '{');
	out_str(t, guid_format(&s->provider, guid));
	out_char(t, '}');
	return finished_name(t);
}

void openetw_event_names(struct openetw_decoder *d, const EVENT_RECORD *r, const char **ret_provider,
			 const char **ret_event)
{
	struct schema_record s;
	const struct schema_event *e = NULL;
	schema_record_read(r, &s);
	*ret_provider = *ret_event = "";
	if (find_schema(d, &s, &e) >= 0) {
		*ret_event = event_name(&d->name, &s, e);
		*ret_provider = provider_name(d, &d->provider_name, &s, e);
	}
}

typedef uint32_t decode_fn(struct openetw_decoder *d, const struct schema_record *s, struct schema_payload *p,
			   struct openetw_text *t);

static uint32_t decode_named(struct openetw_decoder *d, const EVENT_RECORD *r, struct openetw_text *t,
			     const char **ret_provider, const char **ret_event, decode_fn *decode)
{
	struct schema_record s;
	struct schema_payload p;
	int err = prepare(d, r, &s, &p);
	*ret_provider = *ret_event = "";
	if (err < 0) {
		return win32_from_errno(err);
	}
	uint32_t code = decode(d, &s, &p, t);
	*ret_event = event_name(&d->name, &s, p.event);
	*ret_provider = provider_name(d, &d->provider_name, &s, p.event);
	return code;
}

uint32_t openetw_decode_json_named(struct openetw_decoder *d, const EVENT_RECORD *r, struct openetw_text *t,
				   const char **ret_provider, const char **ret_event)
{
	return decode_named(d, r, t, ret_provider, ret_event, decode_json);
}

uint32_t openetw_decode_text_named(struct openetw_decoder *d, const EVENT_RECORD *r, struct openetw_text *t,
				   const char **ret_provider, const char **ret_event)
{
	return decode_named(d, r, t, ret_provider, ret_event, decode_text);
}

const char *openetw_event_name(struct openetw_decoder *d, const EVENT_RECORD *r)
{
	struct schema_record s;
	const struct schema_event *e = NULL;
	schema_record_read(r, &s);
	return find_schema(d, &s, &e) < 0 ? "" : event_name(&d->name, &s, e);
}

const char *openetw_provider_name(struct openetw_decoder *d, const EVENT_RECORD *r)
{
	struct schema_record s;
	const struct schema_event *e = NULL;
	schema_record_read(r, &s);
	if (!s.tlg && find_schema(d, &s, &e) < 0) {
		return "";
	}
	return provider_name(d, &d->name, &s, e);
}

bool openetw_event_message(struct openetw_decoder *d, const EVENT_RECORD *r, struct openetw_text *t)
{
	struct schema_record s;
	struct schema_payload p;
	if (prepare(d, r, &s, &p) < 0 || !p.event || !p.event->message.bytes) {
		return false;
	}
	if (p.event->source == SCHEMA_SOURCE_WPP) {
		wpp_format(&p, t);
	} else {
		schema_message_format(&p, t);
	}
	return true;
}

const char *openetw_message_attribute(struct openetw_decoder *d, const EVENT_RECORD *r, const char *name)
{
	struct schema_record s;
	struct schema_payload p;
	size_t n;
	if (prepare(d, r, &s, &p) < 0 || !p.event || p.event->source != SCHEMA_SOURCE_WPP) {
		return NULL;
	}
	const char *value = wpp_attribute(p.event, name, &n);
	if (n == 0) {
		return NULL;
	}
	openetw_text_clear(&d->name);
	out_utf8(&d->name, value, n, false);
	return finished_name(&d->name);
}

/* ---- learning
 * --------------------------------------------------------------------------------------- */

bool openetw_decoder_learn(struct openetw_decoder *d, const EVENT_RECORD *r)
{
	struct schema_record s;
	if (BASE_LIKELY(!schema_record_may_teach(r))) {
		return false;
	}
	schema_record_read(r, &s);
	if (schema_record_is_manifest_chunk(&s)) {
		return learn_chunk(d, &s) == 1;
	}
	return s.metadata && learn(d, &s) == 1;
}

bool openetw_schema_learn(const EVENT_RECORD *r)
{
	struct schema_record s;
	schema_record_read(r, &s);
	if (schema_record_is_manifest_chunk(&s)) {
		return schema_process_learn_chunk(&s.provider, s.pid, s.tid, s.payload, s.payload_bytes) == 1;
	}
	return s.metadata && schema_process_learn(s.opcode, s.payload, s.payload_bytes) == 1;
}

uint32_t openetw_schema_load_file(const char *path)
{
	struct diag d = {0};
	err_text_clear();
	int err = path ? schema_process_load_file(path, &d) : -EINVAL;
	const char *why = d.text[0] ? d.text : strerror(-err);
	if (err < 0 && d.line) {
		err_text_set("line %u:%u: %s", d.line, d.column, why);
	} else if (err < 0) {
		err_text_set("%s", why);
	}
	return win32_from_errno(err);
}
