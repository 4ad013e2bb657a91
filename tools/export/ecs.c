/* SPDX-License-Identifier: MIT */
#include "tools/export/ecs.h"

#include "base/parse.h"
#include "tools/common/event_view.h"

static void add_string(struct strbuf *b, const char *key, const char *s)
{
	if (s && *s) {
		strbuf_adds(b, key);
		strbuf_add_json(b, s, strlen(s));
	}
}

static void add_guid(struct strbuf *b, const char *key, const GUID *g)
{
	static const GUID zero;
	char text[39] = "{", *end;
	if (memcmp(g, &zero, sizeof zero) != 0) {
		cli_guid_text(g, text + 1);
		end = text + strlen(text);
		*end++ = '}';
		*end = 0;
		add_string(b, key, text);
	}
}

static void add_fields(struct strbuf *b, const struct export_event *e)
{
	strbuf_adds(b, ",\"event_data\":{");
	for (size_t i = 0; i < e->field_count; i++) {
		const struct openetw_field *f = &e->field[i];
		strbuf_adds(b, i ? "," : "");
		strbuf_add_json(b, f->name, f->name_length);
		strbuf_addc(b, ':');
		/* Elasticsearch maps event_data.* as keywords: one type, whatever the event. */
		if (f->is_array || f->is_struct) {
			strbuf_add(b, f->json, f->json_length);
		} else {
			strbuf_add_json(b, f->text, f->text_length);
		}
	}
	strbuf_addc(b, '}');
}

void ecs_add_event(struct strbuf *b, const struct export_event *e)
{
	const EVENT_HEADER *h = &e->record->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related =
		cli_event_item(e->record, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	char time[TIME_TEXT_SIZE], number[16];
	format_time((uint64_t)h->TimeStamp.QuadPart, false, time);
	snprintf(number, sizeof number, "%u", d->Id);
	strbuf_addf(b, "{\"@timestamp\":\"%s\",\"ecs\":{\"version\":\"8.11.0\"},\"event\":{\"kind\":\"event\"", time);
	add_string(b, ",\"module\":", "openetw");
	add_string(b, ",\"code\":", number);
	add_string(b, ",\"provider\":", e->provider);
	add_string(b, ",\"action\":", e->name);
	strbuf_adds(b, "}");
	if (export_level(e)[0]) {
		strbuf_adds(b, ",\"log\":{\"level\":");
		strbuf_add_json(b, export_level(e), strlen(export_level(e)));
		strbuf_adds(b, "}");
	}
	if (e->who->pid != OPENETW_UNKNOWN_ID) {
		strbuf_addf(b, ",\"process\":{\"pid\":%u", e->who->pid);
		add_string(b, ",\"name\":", e->who->process);
		if (e->who->tid != OPENETW_UNKNOWN_ID) {
			strbuf_addf(b, ",\"thread\":{\"id\":%u", e->who->tid);
			add_string(b, ",\"name\":", e->who->thread);
			strbuf_adds(b, "}");
		}
		strbuf_adds(b, "}");
	}
	if (e->who->file) {
		add_string(b, ",\"file\":{\"path\":", e->who->file);
		strbuf_adds(b, "}");
	}
	strbuf_adds(b, ",\"winlog\":{\"api\":\"etw\"");
	add_string(b, ",\"provider_name\":", e->provider);
	add_guid(b, ",\"provider_guid\":", &h->ProviderId);
	add_string(b, ",\"event_id\":", number);
	strbuf_addf(b, ",\"version\":%u,\"opcode\":\"%u\",\"task\":\"%u\",\"channel\":\"%u\",\"keywords\":[\"0x%llx\"]",
		    d->Version, d->Opcode, d->Task, d->Channel, d->Keyword);
	add_guid(b, ",\"activity_id\":", &h->ActivityId);
	if (related && related->DataSize == sizeof(GUID)) {
		add_guid(b, ",\"related_activity_id\":", (const GUID *)(uintptr_t)related->DataPtr);
	}
	strbuf_addf(b, ",\"process\":{\"pid\":%u,\"thread\":{\"id\":%u}},\"cpu\":%u", h->ProcessId, h->ThreadId,
		    e->cpu);
	add_fields(b, e);
	strbuf_adds(b, "}}\n");
}
