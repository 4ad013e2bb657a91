/* SPDX-License-Identifier: MIT
 * OpenTelemetry logs: ExportLogsServiceRequest (open-telemetry/opentelemetry-proto, collector/logs/v1), as one message
 * of protobuf, or as JSON, one request a line. A process is a resource, a provider a scope; fields are attributes.
 */
#include "tools/export/export.h"

#include "base/json_text.h"
#include "tools/common/event_view.h"
#include "tools/export/json_walk.h"
#include "tools/export/protobuf.h"

#include <stdlib.h>

enum { REQUEST_RESOURCE = 1 };
enum { RESOURCE_RESOURCE = 1, RESOURCE_SCOPE = 2, RESOURCE_ATTRIBUTE = 1 };
enum { SCOPE_SCOPE = 1, SCOPE_RECORD = 2, SCOPE_NAME = 1, SCOPE_ATTRIBUTE = 3 };
enum {
	RECORD_TIME = 1,
	RECORD_SEVERITY = 2,
	RECORD_SEVERITY_TEXT = 3,
	RECORD_BODY = 5,
	RECORD_ATTRIBUTE = 6,
	RECORD_OBSERVED = 11,
	RECORD_EVENT_NAME = 12,
};
enum { PAIR_KEY = 1, PAIR_VALUE = 2 };
enum { ANY_STRING = 1, ANY_BOOL, ANY_INT, ANY_DOUBLE, ANY_ARRAY, ANY_LIST, ANY_VALUES = 1 };

#define RECORDS_MAX 1000u /* of a resource in protobuf, of a line in JSON */
#define BYTES_MAX   (4u << 20)

struct otlp {
	bool json, any; /* any: something was written to the list that is open */
	struct strbuf b, text, group, last_group;
	struct openetw_decoder *decoder; /* for messages */
	struct openetw_text message;
	uint32_t records;       /* of the resource, or the line */
	size_t resource, scope; /* where they began, in protobuf */
	bool is_open, line_open;
};

/* ---- values and attributes --------------------------------------------------------------------- */

static void json_value(struct otlp *o, const char *s, size_t n, unsigned depth)
{
	struct strbuf *b = &o->b;
	struct json_item item;
	struct json_number number;
	bool first = true;
	enum json_type type = json_type_of(s, n);
	switch (type) {
	case JSON_NULL: strbuf_adds(b, "{}"); break;
	case JSON_TRUE:
	case JSON_FALSE: strbuf_adds(b, type == JSON_TRUE ? "{\"boolValue\":true}" : "{\"boolValue\":false}"); break;
	case JSON_NUMBER:
		number = json_number_of(s, n);
		bool is_double = number.kind == JSON_DOUBLE || (number.kind == JSON_UNSIGNED && number.u > INT64_MAX);
		strbuf_adds(b, is_double ? "{\"doubleValue\":" : "{\"intValue\":\"");
		strbuf_add(b, s, n);
		strbuf_adds(b, is_double ? "}" : "\"}");
		break;
	case JSON_STRING:
		strbuf_adds(b, "{\"stringValue\":");
		strbuf_add(b, s, n);
		strbuf_adds(b, "}");
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		if (depth == JSON_DEPTH_MAX) {
			strbuf_adds(b, "{\"stringValue\":");
			strbuf_add_json(b, s, n);
			strbuf_adds(b, "}");
			break;
		}
		strbuf_adds(b, type == JSON_ARRAY ? "{\"arrayValue\":{\"values\":[" : "{\"kvlistValue\":{\"values\":[");
		for (struct json_walk w = json_walk_of(s, n); json_walk_next(&w, &item); first = false) {
			strbuf_adds(b, first ? "" : ",");
			if (item.name) {
				strbuf_adds(b, "{\"key\":");
				strbuf_add(b, item.name, item.name_length);
				strbuf_adds(b, ",\"value\":");
			}
			json_value(o, item.json, item.length, depth + 1);
			strbuf_adds(b, item.name ? "}" : "");
		}
		strbuf_adds(b, "]}}");
		break;
	}
}

static void pb_value(struct otlp *o, const char *s, size_t n, unsigned depth)
{
	struct strbuf *b = &o->b;
	struct json_item item;
	struct json_number number;
	enum json_type type = json_type_of(s, n);
	switch (type) {
	case JSON_NULL: break;
	case JSON_TRUE:
	case JSON_FALSE: pb_uint(b, ANY_BOOL, type == JSON_TRUE); break;
	case JSON_NUMBER:
		number = json_number_of(s, n);
		if (number.kind == JSON_DOUBLE || (number.kind == JSON_UNSIGNED && number.u > INT64_MAX)) {
			pb_double(b, ANY_DOUBLE, number.d);
		} else {
			pb_uint(b, ANY_INT, number.kind == JSON_SIGNED ? (uint64_t)number.i : number.u);
		}
		break;
	case JSON_STRING:
		json_text_plain(&o->text, s, n);
		pb_bytes(b, ANY_STRING, o->text.s, o->text.len);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		if (depth == JSON_DEPTH_MAX) {
			pb_bytes(b, ANY_STRING, s, n);
			break;
		}
		size_t list = pb_begin(b, type == JSON_ARRAY ? ANY_ARRAY : ANY_LIST);
		for (struct json_walk w = json_walk_of(s, n); json_walk_next(&w, &item);) {
			size_t at = pb_begin(b, ANY_VALUES);
			size_t value = 0;
			if (item.name) {
				json_text_plain(&o->text, item.name, item.name_length);
				pb_bytes(b, PAIR_KEY, o->text.s, o->text.len);
				value = pb_begin(b, PAIR_VALUE);
			}
			pb_value(o, item.json, item.length, depth + 1);
			if (item.name) {
				pb_end(b, value);
			}
			pb_end(b, at);
		}
		pb_end(b, list);
		break;
	}
}

/* An attribute whose value is this JSON. `field`: of the message that it belongs to. */
static void attribute(struct otlp *o, unsigned field, const char *key, size_t key_length, const char *s, size_t n)
{
	if (o->json) {
		strbuf_adds(&o->b, o->any ? ",{\"key\":" : "{\"key\":");
		strbuf_add_json(&o->b, key, key_length);
		strbuf_adds(&o->b, ",\"value\":");
		json_value(o, s, n, 0);
		strbuf_adds(&o->b, "}");
	} else {
		size_t at = pb_begin(&o->b, field);
		pb_bytes(&o->b, PAIR_KEY, key, key_length);
		size_t value = pb_begin(&o->b, PAIR_VALUE);
		pb_value(o, s, n, 0);
		pb_end(&o->b, value);
		pb_end(&o->b, at);
	}
	o->any = true;
}

static void attribute_text(struct otlp *o, unsigned field, const char *key, const char *text)
{
	struct strbuf json = {0};
	if (text && *text) {
		strbuf_add_json(&json, text, strlen(text));
		o->b.failed = o->b.failed || json.failed;
		if (!json.failed) {
			attribute(o, field, key, strlen(key), json.s, json.len);
		}
		strbuf_finish(&json);
	}
}

static void attribute_number(struct otlp *o, unsigned field, const char *key, uint64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%llu", (unsigned long long)v);
	attribute(o, field, key, strlen(key), text, (size_t)n);
}

/* ---- resources and scopes ---------------------------------------------------------------------- */

static void close_group(struct otlp *o)
{
	if (o->is_open && o->json) {
		strbuf_adds(&o->b, "]}]}");
	} else if (o->is_open) {
		pb_end(&o->b, o->scope);
		pb_end(&o->b, o->resource);
	}
	o->is_open = false;
}

static bool flush(struct export *x)
{
	struct otlp *o = x->own;
	close_group(o);
	if (o->line_open) {
		strbuf_adds(&o->b, "]}\n");
		o->line_open = false;
	}
	o->records = 0;
	return export_flush(x, &o->b);
}

static void open_group(struct otlp *o, const struct export_event *e)
{
	char guid[37];
	struct strbuf *b = &o->b;
	size_t at = 0;
	if (o->json) {
		strbuf_adds(b, o->line_open ? "," : "{\"resourceLogs\":[");
		strbuf_adds(b, "{\"resource\":{\"attributes\":[");
		o->line_open = true;
	} else {
		o->resource = pb_begin(b, REQUEST_RESOURCE);
		at = pb_begin(b, RESOURCE_RESOURCE);
	}
	o->any = false;
	attribute_text(o, RESOURCE_ATTRIBUTE, "service.name", e->who->process ? e->who->process : "unknown_service");
	attribute_text(o, RESOURCE_ATTRIBUTE, "process.executable.name", e->who->process);
	if (e->who->pid != OPENETW_UNKNOWN_ID) {
		attribute_number(o, RESOURCE_ATTRIBUTE, "process.pid", e->who->pid);
	}
	cli_guid_text(&e->record->EventHeader.ProviderId, guid);
	if (o->json) {
		strbuf_adds(b, "]},\"scopeLogs\":[{\"scope\":{\"name\":");
		strbuf_add_json(b, e->provider, strlen(e->provider));
		strbuf_adds(b, ",\"attributes\":[");
	} else {
		pb_end(b, at);
		o->scope = pb_begin(b, RESOURCE_SCOPE);
		at = pb_begin(b, SCOPE_SCOPE);
		pb_string(b, SCOPE_NAME, e->provider);
	}
	o->any = false;
	attribute_text(o, SCOPE_ATTRIBUTE, "etw.provider.guid", guid);
	if (o->json) {
		strbuf_adds(b, "]},\"logRecords\":[");
	} else {
		pb_end(b, at);
	}
	o->is_open = true;
}

/* Events of one process and provider, one after the other, are a group. */
static void group_of(struct otlp *o, const struct export_event *e)
{
	struct strbuf *g = &o->group;
	char guid[37];
	strbuf_clear(g);
	cli_guid_text(&e->record->EventHeader.ProviderId, guid);
	strbuf_addf(g, "%u %s ", e->who->pid, guid);
	strbuf_adds(g, e->who->process ? e->who->process : "");
	strbuf_addc(g, 0);
	strbuf_adds(g, e->provider);
	bool same = o->is_open && g->len == o->last_group.len && memcmp(g->s, o->last_group.s, g->len) == 0;
	if (!same) {
		close_group(o);
		open_group(o, e);
		struct strbuf other = o->last_group;
		o->last_group = *g;
		*g = other;
	} else if (o->json) {
		strbuf_addc(&o->b, ',');
	}
}

/* ---- records ----------------------------------------------------------------------------------- */

static unsigned severity(uint8_t level)
{
	static const uint8_t of[] = {0, 21, 17, 13, 9, 5}; /* FATAL, ERROR, WARN, INFO, DEBUG */
	return level < BASE_ARRAY_LEN(of) ? of[level] : 1; /* TRACE */
}

static void attributes(struct otlp *o, const struct export_event *e)
{
	static const GUID zero;
	const EVENT_HEADER *h = &e->record->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related =
		cli_event_item(e->record, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	char text[40];
	o->any = false;
	for (size_t i = 0; i < e->field_count; i++) {
		const struct openetw_field *f = &e->field[i];
		attribute(o, RECORD_ATTRIBUTE, f->name, f->name_length, f->json, f->json_length);
	}
	if (e->who->tid != OPENETW_UNKNOWN_ID) {
		attribute_number(o, RECORD_ATTRIBUTE, "thread.id", e->who->tid);
	}
	attribute_text(o, RECORD_ATTRIBUTE, "thread.name", e->who->thread);
	attribute_number(o, RECORD_ATTRIBUTE, "etw.id", d->Id);
	attribute_number(o, RECORD_ATTRIBUTE, "etw.version", d->Version);
	attribute_number(o, RECORD_ATTRIBUTE, "etw.opcode", d->Opcode);
	attribute_number(o, RECORD_ATTRIBUTE, "etw.task", d->Task);
	attribute_number(o, RECORD_ATTRIBUTE, "etw.channel", d->Channel);
	attribute_number(o, RECORD_ATTRIBUTE, "etw.cpu", e->cpu);
	if (d->Keyword) {
		snprintf(text, sizeof text, "0x%llX", (unsigned long long)d->Keyword);
		attribute_text(o, RECORD_ATTRIBUTE, "etw.keywords", text);
	}
	if (memcmp(&h->ActivityId, &zero, sizeof zero) != 0) {
		cli_guid_text(&h->ActivityId, text);
		attribute_text(o, RECORD_ATTRIBUTE, "etw.activity", text);
	}
	if (related && related->DataSize == sizeof(GUID)) {
		cli_guid_text((const GUID *)(uintptr_t)related->DataPtr, text);
		attribute_text(o, RECORD_ATTRIBUTE, "etw.related_activity", text);
	}
	attribute_text(o, RECORD_ATTRIBUTE, "etw.file", e->who->file);
}

static bool event(struct export *x, const struct export_event *e)
{
	struct otlp *o = x->own;
	struct strbuf *b = &o->b;
	const EVENT_RECORD *r = e->record;
	unsigned level = severity(r->EventHeader.EventDescriptor.Level);
	const char *word = export_level(e);
	if (cli_event_item(r, EVENT_HEADER_EXT_TYPE_STACK_TRACE64) ||
	    cli_event_item(r, EVENT_HEADER_EXT_TYPE_STACK_TRACE32)) {
		export_miss(x, "call stacks of events: left out");
	}
	openetw_text_clear(&o->message);
	bool message = openetw_event_message(o->decoder, r, &o->message) && o->message.length;
	group_of(o, e);
	strbuf_clear(&o->text);
	strbuf_adds(&o->text, e->provider);
	strbuf_addc(&o->text, '/');
	strbuf_adds(&o->text, e->name);
	if (o->json) {
		strbuf_addf(b, "{\"timeUnixNano\":\"%llu00\",\"observedTimeUnixNano\":\"%llu00\"",
			    (unsigned long long)e->time_100ns, (unsigned long long)e->time_100ns);
		if (level) {
			strbuf_addf(b, ",\"severityNumber\":%u,\"severityText\":\"%s\"", level, word);
		}
		strbuf_adds(b, ",\"eventName\":");
		strbuf_add_json(b, o->text.s ? o->text.s : "", o->text.len);
		if (message) {
			strbuf_adds(b, ",\"body\":{\"stringValue\":");
			strbuf_add_json(b, o->message.data, o->message.length);
			strbuf_adds(b, "}");
		}
		strbuf_adds(b, ",\"attributes\":[");
		attributes(o, e);
		strbuf_adds(b, "]}");
	} else {
		size_t at = pb_begin(b, SCOPE_RECORD);
		pb_fixed64(b, RECORD_TIME, e->time_100ns * 100);
		pb_fixed64(b, RECORD_OBSERVED, e->time_100ns * 100);
		if (level) {
			pb_uint(b, RECORD_SEVERITY, level);
			pb_string(b, RECORD_SEVERITY_TEXT, word);
		}
		pb_bytes(b, RECORD_EVENT_NAME, o->text.s, o->text.len);
		if (message) {
			size_t body = pb_begin(b, RECORD_BODY);
			pb_bytes(b, ANY_STRING, o->message.data, o->message.length);
			pb_end(b, body);
		}
		attributes(o, e);
		pb_end(b, at);
	}
	x->written++;
	if (o->text.failed || o->group.failed || o->message.failed || b->failed) {
		return export_fail(x, ENOMEM);
	}
	return (++o->records < RECORDS_MAX && b->len < BYTES_MAX) || flush(x);
}

static bool begin(struct export *x, bool json)
{
	struct otlp *o = x->own = calloc(1, sizeof *o);
	if (!o || !(o->decoder = openetw_decoder_create())) {
		return export_fail(x, ENOMEM);
	}
	o->json = json;
	return true;
}

static bool begin_protobuf(struct export *x)
{
	return begin(x, false);
}

static bool begin_json(struct export *x)
{
	return begin(x, true);
}

static void finish(struct export *x)
{
	struct otlp *o = x->own;
	if (o) {
		openetw_decoder_destroy(o->decoder);
		openetw_text_free(&o->message);
		strbuf_finish(&o->b);
		strbuf_finish(&o->text);
		strbuf_finish(&o->group);
		strbuf_finish(&o->last_group);
		free(o);
	}
	x->own = NULL;
}

#define CANNOT "call stacks"
const struct export_kind export_otlp = {
	.name = "otlp",
	.what = "log records for OpenTelemetry: one ExportLogsServiceRequest as protobuf",
	.suffix = ".otlp.pb",
	.cannot = CANNOT,
	.needs = EXPORT_FIELDS,
	.binary = true,
	.begin = begin_protobuf,
	.event = event,
	.end = flush,
	.finish = finish,
};
const struct export_kind export_otlp_json = {
	.name = "otlp-json",
	.what = "the same as JSON: a request of up to 1,000 records on each line",
	.suffix = ".otlp.jsonl",
	.cannot = CANNOT,
	.needs = EXPORT_FIELDS,
	.begin = begin_json,
	.event = event,
	.end = flush,
	.finish = finish,
};
