/* SPDX-License-Identifier: MIT */
#include "tools/common/select.h"
#include "tools/common/event_view.h"

#include "tools/common/frame_text.h"

#include "base/json_text.h"
#include "base/parse.h"

#include <stdlib.h>

#define FIELDS_MAX 1024

struct field {
	size_t name, name_length; /* in `store` */
	size_t text, text_length;
	size_t json, json_length;
};
struct cli_view {
	struct openetw_decoder *decoder;
	struct openetw_state *state;
	bool local_time;
	const EVENT_RECORD *e;
	bool decoded, has_schema, origin_known, has_duration;
	size_t unread;                      /* bytes at the payload's end that are in no field */
	uint64_t duration;                  /* ns */
	struct openetw_event_origin origin; /* when origin_known */
	struct field fields[FIELDS_MAX];
	size_t field_count;
	struct strbuf store;   /* names and values of the fields */
	struct strbuf scratch; /* text of a header property, or of a member found inside JSON */
	struct strbuf json;
	struct openetw_stack stack; /* of the event, while its frames are asked for */
};

struct cli_view *cli_view_create(struct openetw_decoder *decoder, bool local_time)
{
	struct cli_view *v = calloc(1, sizeof *v);
	if (v) {
		v->decoder = decoder;
		v->local_time = local_time;
	}
	return v;
}

void cli_view_destroy(struct cli_view *v)
{
	if (v) {
		strbuf_finish(&v->store);
		strbuf_finish(&v->scratch);
		strbuf_finish(&v->json);
		free(v);
	}
}

void cli_view_set(struct cli_view *v, const EVENT_RECORD *e)
{
	v->e = e;
	v->decoded = v->origin_known = v->has_duration = false;
}

void cli_view_set_duration(struct cli_view *v, const uint64_t *ns)
{
	v->has_duration = ns != NULL;
	v->duration = ns ? *ns : 0;
}

void cli_view_set_state(struct cli_view *v, struct openetw_state *state)
{
	v->state = state;
}

const struct openetw_event_origin *cli_view_origin(struct cli_view *v)
{
	const EVENT_HEADER *h = &v->e->EventHeader;
	if (!v->origin_known) {
		v->origin = (struct openetw_event_origin){.size = sizeof v->origin,
							  .pid = h->ProcessId,
							  .tid = h->ThreadId,
							  .subject_pid = h->ProcessId,
							  .subject_tid = h->ThreadId};
		if (v->state) {
			openetw_state_event(v->state, v->e, &v->origin);
		}
		v->origin_known = true;
	}
	return &v->origin;
}

const EVENT_HEADER_EXTENDED_DATA_ITEM *cli_event_item(const EVENT_RECORD *e, USHORT type)
{
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		if (e->ExtendedData[i].ExtType == type) {
			return &e->ExtendedData[i];
		}
	}
	return NULL;
}

bool cli_view_is_property(const char *name)
{
	return filter_property_of(name) < FILTER_PROPERTY_COUNT;
}

static bool give_text(struct cli_view *v, const char *s, struct cli_view_value *ret)
{
	strbuf_clear(&v->scratch);
	strbuf_adds(&v->scratch, s);
	strbuf_clear(&v->json);
	strbuf_add_json(&v->json, s, strlen(s));
	if (v->scratch.failed || v->json.failed) {
		return false;
	}
	*ret = (struct cli_view_value){.text = v->scratch.s ? v->scratch.s : "",
				       .text_length = v->scratch.len,
				       .json = v->json.s,
				       .json_length = v->json.len};
	return true;
}

enum number_base { DECIMAL, HEX };

static bool give_number(struct cli_view *v, uint64_t n, enum number_base base, struct cli_view_value *ret)
{
	char text[32];
	snprintf(text, sizeof text, base == HEX ? "0x%llX" : "%llu", (unsigned long long)n);
	if (!give_text(v, text, ret)) {
		return false;
	}
	if (base == DECIMAL) { /* JSON has no other numbers; the rest is a string there */
		ret->json = ret->text;
		ret->json_length = ret->text_length;
	}
	ret->is_number = true;
	ret->number = n;
	return true;
}

static bool give_guid(struct cli_view *v, const GUID *g, struct cli_view_value *ret)
{
	static const GUID zero;
	char text[37];
	if (memcmp(g, &zero, sizeof zero) == 0) {
		return false;
	}
	cli_guid_text(g, text);
	return give_text(v, text, ret);
}

static bool property(struct cli_view *v, enum filter_property which, struct cli_view_value *ret)
{
	const EVENT_HEADER *h = &v->e->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	char time[TIME_TEXT_SIZE];
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related;
	const struct openetw_event_origin *o = cli_view_origin(v);
	switch (which) {
	case FILTER_PROPERTY_TIME:
		format_time((uint64_t)h->TimeStamp.QuadPart, v->local_time, time);
		if (!give_text(v, time, ret)) {
			return false;
		}
		ret->is_number = true;
		ret->number = (uint64_t)h->TimeStamp.QuadPart;
		return true;
	case FILTER_PROPERTY_PROVIDER: return give_text(v, openetw_provider_name(v->decoder, v->e), ret);
	case FILTER_PROPERTY_PROVIDER_GUID: return give_guid(v, &h->ProviderId, ret);
	case FILTER_PROPERTY_EVENT: return give_text(v, openetw_event_name(v->decoder, v->e), ret);
	case FILTER_PROPERTY_ID: return give_number(v, d->Id, DECIMAL, ret);
	case FILTER_PROPERTY_VERSION: return give_number(v, d->Version, DECIMAL, ret);
	case FILTER_PROPERTY_CHANNEL: return give_number(v, d->Channel, DECIMAL, ret);
	case FILTER_PROPERTY_LEVEL: return give_number(v, d->Level, DECIMAL, ret);
	case FILTER_PROPERTY_OPCODE: return give_number(v, d->Opcode, DECIMAL, ret);
	case FILTER_PROPERTY_TASK: return give_number(v, d->Task, DECIMAL, ret);
	case FILTER_PROPERTY_KEYWORDS: return give_number(v, d->Keyword, HEX, ret);
	case FILTER_PROPERTY_CPU:
		return give_number(v, GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)v->e), DECIMAL, ret);
	case FILTER_PROPERTY_PID: return o->pid != UINT32_MAX && give_number(v, o->pid, DECIMAL, ret);
	case FILTER_PROPERTY_TID: return o->tid != UINT32_MAX && give_number(v, o->tid, DECIMAL, ret);
	case FILTER_PROPERTY_PROCESS: return o->process && give_text(v, o->process, ret);
	case FILTER_PROPERTY_THREAD: return o->thread && give_text(v, o->thread, ret);
	case FILTER_PROPERTY_FILE: return o->file && give_text(v, o->file, ret);
	case FILTER_PROPERTY_ACTIVITY: return give_guid(v, &h->ActivityId, ret);
	case FILTER_PROPERTY_RELATED_ACTIVITY:
		related = cli_event_item(v->e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
		return related && related->DataSize == sizeof(GUID) &&
		       give_guid(v, (const GUID *)(uintptr_t)related->DataPtr, ret);
	case FILTER_PROPERTY_LENGTH: return give_number(v, v->e->UserDataLength, DECIMAL, ret);
	case FILTER_PROPERTY_DURATION: return v->has_duration && give_number(v, v->duration, DECIMAL, ret);
	default: break; /* duration: no event has one by itself */
	}
	return false;
}

static bool collect(void *context, const struct openetw_field *f)
{
	struct cli_view *v = context;
	if (v->field_count == FIELDS_MAX) {
		return false;
	}
	struct field *to = &v->fields[v->field_count++];
	to->name = v->store.len;
	to->name_length = f->name_length;
	strbuf_add(&v->store, f->name, f->name_length);
	to->text = v->store.len;
	to->text_length = f->text_length;
	strbuf_add(&v->store, f->text, f->text_length);
	to->json = v->store.len;
	to->json_length = f->json_length;
	strbuf_add(&v->store, f->json, f->json_length);
	return !v->store.failed;
}

/* ---- members inside a value's JSON -------------------------------------------------------------- */

static bool inside(struct cli_view *v, const struct field *f, const char *path, struct cli_view_value *ret)
{
	const char *s = v->store.s + f->json;
	size_t n = f->json_length;
	if (!json_text_member(&s, &n, path)) {
		return false;
	}
	json_text_plain(&v->scratch, s, n);
	*ret = (struct cli_view_value){
		.text = v->scratch.s ? v->scratch.s : "", .text_length = v->scratch.len, .json = s, .json_length = n};
	return !v->scratch.failed;
}

/* False: there are no fields. */
static bool decode(struct cli_view *v)
{
	if (!v->decoded) {
		v->field_count = 0;
		strbuf_clear(&v->store);
		v->has_schema = openetw_decode_fields(v->decoder, v->e, collect, v) != OPENETW_NO_SCHEMA;
		v->unread = openetw_decoder_unread(v->decoder);
		v->decoded = true;
	}
	return !v->store.failed && v->store.s;
}

bool cli_view_get(struct cli_view *v, const char *name, bool payload, struct cli_view_value *ret)
{
	enum filter_property which = payload ? FILTER_PROPERTY_FIELD : filter_property_of(name);
	/* A payload field may be called "file", too. */
	if (which < FILTER_PROPERTY_COUNT) {
		bool there = property(v, which, ret);
		if (there || (which != FILTER_PROPERTY_PROCESS && which != FILTER_PROPERTY_FILE &&
			      which != FILTER_PROPERTY_DURATION)) {
			return there;
		}
	}
	if (!decode(v)) {
		return false;
	}
	size_t len = strlen(name);
	for (size_t i = 0; i < v->field_count; i++) {
		const struct field *f = &v->fields[i];
		if (f->name_length > len || memcmp(v->store.s + f->name, name, f->name_length) != 0) {
			continue;
		}
		if (f->name_length == len) {
			*ret = (struct cli_view_value){.text = v->store.s + f->text,
						       .text_length = f->text_length,
						       .json = v->store.s + f->json,
						       .json_length = f->json_length};
			return true;
		}
		if (name[f->name_length] == '.' && inside(v, f, name + f->name_length + 1, ret)) {
			return true;
		}
	}
	return false;
}

/* ---- terms of filters ------------------------------------------------------------------------ */

static bool frame(struct cli_view *v, uint32_t i, struct filter_expr_value *ret)
{
	if (i == 0) {
		v->stack = (struct openetw_stack){.size = sizeof v->stack};
		if (!v->state || openetw_state_stack(v->state, v->e, &v->stack) != ERROR_SUCCESS) {
			v->stack.count = 0;
		}
	}
	if (i >= v->stack.count) {
		return false;
	}
	strbuf_clear(&v->scratch);
	cli_frame_text(v->state, v->e, &v->stack, i, false, &v->scratch);
	ret->text = v->scratch.s ? v->scratch.s : "";
	ret->length = v->scratch.len;
	return !v->scratch.failed;
}

/* Bytes behind what was decoded. The text that is given is what the node asks for: that passes. */
static bool undecoded_text(struct cli_view *v, const struct filter_node *n, struct filter_expr_value *ret)
{
	size_t bytes = BASE_MIN(v->unread, (size_t)v->e->UserDataLength);
	const uint8_t *from = (const uint8_t *)v->e->UserData + (v->e->UserDataLength - bytes);
	*ret = (struct filter_expr_value){.text = n->value, .length = strlen(n->value), .index = ret->index};
	return bytes && filter_bytes_have(n, from, bytes, &v->scratch);
}

/* A text that the event carries, in a field or in bytes that are in none: its bytes have it, too. */
static bool text(struct cli_view *v, const struct filter_node *n, uint32_t i, struct filter_expr_value *ret)
{
	const char *literal;
	size_t bytes;
	if (i == 0 && filter_node_literal(n, &literal, &bytes) &&
	    !filter_bytes_contain(v->e->UserData, v->e->UserDataLength, literal, bytes)) {
		return false;
	}
	size_t count = decode(v) && v->has_schema ? v->field_count : 0;
	if (i >= count) {
		return i == count && undecoded_text(v, n, ret);
	}
	ret->text = v->store.s + v->fields[i].text;
	ret->length = v->fields[i].text_length;
	return true;
}

enum filter_answer cli_view_try(void *view, const struct filter_node *n, struct filter_expr_value *ret)
{
	struct cli_view_value v = {0};
	bool there;
	switch (n->property) {
	case FILTER_PROPERTY_STACK: there = frame(view, ret->index, ret); break;
	case FILTER_PROPERTY_TEXT: there = text(view, n, ret->index, ret); break;
	default:
		there = cli_view_get(view, n->name, n->payload, &v);
		*ret = (struct filter_expr_value){v.text, v.text_length, v.is_number, v.number, ret->index};
	}
	return there ? FILTER_VALUE_PRESENT : FILTER_VALUE_ABSENT;
}
