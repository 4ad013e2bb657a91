/* SPDX-License-Identifier: MIT */
#include "tools/common/event_xml.h"
#include "base/json_text.h"
#include "base/level.h"
#include "xml/xml.h"

#include "base/parse.h"
#include "tools/common/event_view.h"

#include <stdlib.h>
#include <tdh.h>

#define EVENT_NS "http://schemas.microsoft.com/win/2004/08/events/event"
#define TRACE_NS "http://schemas.microsoft.com/win/2004/08/events/trace"

void cli_xml_value(struct strbuf *b, const char *s)
{
	strbuf_addc(b, '\'');
	while (*s) {
		size_t n = strcspn(s, "'");
		xml_escape(b, s, n);
		strbuf_adds(b, s[n] ? "&apos;" : "");
		s += n + (s[n] != 0);
	}
	strbuf_addc(b, '\'');
}

static void tabs(struct strbuf *b, int n)
{
	while (n-- > 0) {
		strbuf_addc(b, '\t');
	}
}

/* One value of our decoder's JSON: a struct becomes ComplexData, an array one element each. */
static void add_json(struct strbuf *b, const char *name, size_t name_length, const char *s, size_t n, int depth)
{
	bool object = n && s[0] == '{';
	if (n && s[0] == '[' && depth < 16) {
		for (size_t i = 1; i + 1 < n;) {
			size_t m = json_text_skip(s + i, n - 1 - i, 0);
			add_json(b, name, name_length, s + i, m, depth + 1);
			i += m + 1;
		}
		return;
	}
	tabs(b, 2 + (depth < 14 ? depth : 14));
	strbuf_adds(b, object ? "<ComplexData Name=\"" : "<Data Name=\"");
	xml_escape(b, name, name_length);
	strbuf_adds(b, "\">");
	if (object && depth < 16) {
		strbuf_adds(b, "\r\n");
		for (size_t i = 1; i + 1 < n;) {
			size_t key = json_text_skip(s + i, n - 1 - i, 0); /* up to the comma: key, colon, value */
			size_t value = json_text_skip_string(s + i, key, 0);
			struct strbuf member = {0};
			json_text_plain(&member, s + i, value);
			value += 1; /* the colon */
			add_json(b, member.s ? member.s : "", member.len, s + i + value, key > value ? key - value : 0,
				 depth + 1);
			strbuf_finish(&member);
			i += key + 1;
		}
		tabs(b, 2 + depth);
		strbuf_adds(b, "</ComplexData>\r\n");
		return;
	}
	struct strbuf text = {0};
	json_text_plain(&text, s, n);
	xml_escape(b, text.s ? text.s : "", text.len);
	strbuf_finish(&text);
	strbuf_adds(b, object ? "</ComplexData>\r\n" : "</Data>\r\n");
}

static bool add_field(void *context, const struct openetw_field *f)
{
	add_json(context, f->name, f->name_length, f->json, f->json_length, 0);
	return true;
}

static void add_hex(struct strbuf *b, const EVENT_RECORD *e)
{
	const uint8_t *p = e->UserData;
	for (USHORT i = 0; i < e->UserDataLength; i++) {
		strbuf_addf(b, "%02X", p[i]);
	}
}

bool cli_xml_debug_data(struct openetw_decoder *decoder, const EVENT_RECORD *e, cli_xml_text *add, struct strbuf *b)
{
	static const struct {
		const char *element, *attribute;
	} parts[] = {{"FlagsName", "FLAGS"},      {"LevelName", "LEVEL"}, {"Component", "COMPNAME"},
		     {"SubComponent", "SUBCOMP"}, {"FileLine", "FILE"},   {"Function", "FUNC"}};
	struct openetw_text text = {0};
	if (!(e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) || !openetw_event_message(decoder, e, &text)) {
		return false;
	}
	/* Records do not carry the message's number. */
	strbuf_adds(b, "\t<DebugData>\r\n\t\t<SequenceNumber>0</SequenceNumber>\r\n");
	for (size_t i = 0; i < BASE_ARRAY_LEN(parts); i++) {
		const char *v = openetw_message_attribute(decoder, e, parts[i].attribute);
		v = v ? v : i == 4 ? openetw_event_name(decoder, e) : "";
		strbuf_addf(b, "\t\t<%s>", parts[i].element);
		add(b, v, strlen(v));
		strbuf_addf(b, "</%s>\r\n", parts[i].element);
	}
	strbuf_adds(b, "\t\t<Message>");
	add(b, text.data ? text.data : "", text.length);
	strbuf_adds(b, "</Message>\r\n\t</DebugData>\r\n");
	openetw_text_free(&text);
	return true;
}

static void add_payload(struct cli_xml *x, const EVENT_RECORD *e, struct strbuf *b)
{
	struct strbuf fields = {0};
	if (cli_xml_debug_data(x->decoder, e, xml_escape, b)) {
		return;
	}
	uint32_t result = openetw_decode_fields(x->decoder, e, add_field, &fields);
	if (result == OPENETW_NO_SCHEMA) {
		strbuf_adds(b, "\t<BinaryEventData>");
		add_hex(b, e);
		strbuf_adds(b, "</BinaryEventData>\r\n");
	} else if (result == OPENETW_PARTLY) {
		strbuf_adds(b, "\t<ProcessingErrorData>\r\n\t\t<ErrorCode>15003</"
			       "ErrorCode>\r\n\t\t<DataItemName />\r\n"
			       "\t\t<EventPayload>");
		add_hex(b, e);
		strbuf_adds(b, "</EventPayload>\r\n\t</ProcessingErrorData>\r\n");
	} else {
		strbuf_adds(b, "\t<EventData>\r\n");
		strbuf_add(b, fields.s ? fields.s : "", fields.len);
		strbuf_adds(b, "\t</EventData>\r\n");
	}
	strbuf_finish(&fields);
}

void cli_xml_origin(struct strbuf *b, const EVENT_RECORD *e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related = cli_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	if (related && related->DataSize == sizeof(GUID)) {
		char guid[37];
		cli_guid_text((const GUID *)(uintptr_t)related->DataPtr, guid);
		strbuf_addf(b, " RelatedActivityID=\"{%s}\"", guid);
	}
	strbuf_addf(b, " />\r\n\t\t<Execution ProcessID=\"%u\" ThreadID=\"%u\" ProcessorID=\"%u\"", h->ProcessId,
		    h->ThreadId, GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e));
}

static void add_system(struct cli_xml *x, const EVENT_RECORD *e, struct strbuf *b, const char *provider)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	static const GUID zero;
	char guid[37], time[TIME_TEXT_SIZE];
	cli_guid_text(&h->ProviderId, guid);
	strbuf_adds(b, "\t<System>\r\n\t\t<Provider Name=\"");
	xml_escape(b, provider, strlen(provider));
	strbuf_addf(b,
		    "\" Guid=\"{%s}\" />\r\n\t\t<EventID>%u</EventID>\r\n\t\t<Version>%u</Version>\r\n"
		    "\t\t<Level>%u</Level>\r\n\t\t<Task>%u</Task>\r\n\t\t<Opcode>%u</Opcode>\r\n"
		    "\t\t<Keywords>0x%llX</Keywords>\r\n",
		    guid, d->Id, d->Version, d->Level, d->Task, d->Opcode, d->Keyword);
	if (x->raw_time) {
		strbuf_addf(b, "\t\t<TimeCreated RawTime=\"%lld\" />\r\n", (long long)h->TimeStamp.QuadPart);
	} else { /* nine digits of the second, then the zone */
		format_time((uint64_t)h->TimeStamp.QuadPart, !x->utc, time);
		strbuf_addf(b, "\t\t<TimeCreated SystemTime=\"%.27s00%s\" />\r\n", time, x->utc ? "Z" : time + 27);
	}
	strbuf_adds(b, "\t\t<Correlation");
	if (memcmp(&h->ActivityId, &zero, sizeof zero) != 0) {
		cli_guid_text(&h->ActivityId, guid);
		strbuf_addf(b, " ActivityID=\"{%s}\"", guid);
	}
	cli_xml_origin(b, e);
	if (h->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) {
		strbuf_addf(b, " ProcessorTime=\"%llu\"", h->ProcessorTime);
	} else {
		strbuf_addf(b, " KernelTime=\"%u\" UserTime=\"%u\"", h->KernelTime, h->UserTime);
	}
	strbuf_addf(b,
		    " />\r\n\t\t<Channel>%u</Channel>\r\n\t\t<Computer />\r\n\t\t<Security "
		    "/>\r\n\t</System>\r\n",
		    d->Channel);
}

/* A name of the event's TRACE_EVENT_INFO; nothing when it has none. Lists have a NUL after each. */
static void add_tdh_name(struct strbuf *b, const struct cli_xml *x, ULONG offset, const char *element)
{
	struct bytes in = bytes_at(x->info, offset ? x->info_used : 0, offset);
	char text[3 * 512 + 1];
	size_t n = 0;
	const uint8_t *wide = bytes_wsz(&in, &n);
	if (!wide) {
		return;
	}
	long bytes = utf16_to_utf8_lossy(wide, BASE_MIN(n, (size_t)512), text, sizeof text);
	while (bytes > 0 && text[bytes - 1] == ' ') {
		bytes--;
	}
	if (bytes > 0) {
		strbuf_addf(b, "<%s>", element);
		xml_escape(b, text, (size_t)bytes);
		strbuf_addf(b, "</%s>", element);
	}
}

static void add_line(struct strbuf *b, const struct cli_xml *x, ULONG offset, const char *element)
{
	size_t before = b->len;
	strbuf_adds(b, "\t\t");
	size_t empty = b->len;
	add_tdh_name(b, x, offset, element);
	if (b->len == empty && b->s) {
		b->len = before;
		b->s[before] = 0;
	} else {
		strbuf_adds(b, "\r\n");
	}
}

/* What the manifest says about level, opcode, task, keywords and channel of the event. */
static const TRACE_EVENT_INFO *event_info(struct cli_xml *x, const EVENT_RECORD *e)
{
	ULONG bytes = x->info_bytes;
	PEVENT_RECORD r = (PEVENT_RECORD)(uintptr_t)e;
	ULONG code = TdhGetEventInformation(r, 0, NULL, (PTRACE_EVENT_INFO)x->info, &bytes);
	if (code == ERROR_INSUFFICIENT_BUFFER) {
		void *more = realloc(x->info, bytes);
		if (!more) {
			return NULL;
		}
		x->info = more;
		x->info_bytes = bytes;
		code = TdhGetEventInformation(r, 0, NULL, (PTRACE_EVENT_INFO)x->info, &bytes);
	}
	x->info_used = bytes;
	return code == ERROR_SUCCESS ? x->info : NULL;
}

static void add_keywords(struct strbuf *b, const struct cli_xml *x, ULONG offset)
{
	struct bytes in = bytes_at(x->info, offset ? x->info_used : 0, offset);
	size_t units = 0;
	const uint8_t *s = bytes_wsz(&in, &units);
	if (!s || units == 0) {
		return;
	}
	strbuf_adds(b, "\t\t<Keywords>\r\n");
	for (; s && units > 0; s = bytes_wsz(&in, &units)) {
		strbuf_addc(b, '\t');
		add_line(b, x, (ULONG)(s - (const uint8_t *)x->info), "Keyword");
	}
	strbuf_adds(b, "\t\t</Keywords>\r\n");
}

static void add_manifest_names(struct cli_xml *x, const EVENT_RECORD *e, struct strbuf *b, const char *event)
{
	UCHAR level = e->EventHeader.EventDescriptor.Level;
	const TRACE_EVENT_INFO *info = event_info(x, e);
	struct openetw_text message = {0};
	if (level && level_text(level)) {
		strbuf_addf(b, "\t\t<Level>%s</Level>\r\n", level_text(level));
	} else if (info) {
		add_line(b, x, info->LevelNameOffset, "Level");
	}
	size_t before = b->len;
	if (info) {
		add_line(b, x, info->OpcodeNameOffset, "Opcode");
		add_keywords(b, x, info->KeywordsNameOffset);
		before = b->len;
		add_line(b, x, info->TaskNameOffset, "Task");
	}
	if (b->len == before) {
		strbuf_adds(b, "\t\t<Task>");
		xml_escape(b, event, strlen(event));
		strbuf_adds(b, "</Task>\r\n");
	}
	if (!(e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) &&
	    openetw_event_message(x->decoder, e, &message)) {
		strbuf_adds(b, "\t\t<Message>");
		xml_escape(b, message.data ? message.data : "", message.length);
		strbuf_adds(b, "</Message>\r\n");
	}
	openetw_text_free(&message);
	if (info) {
		add_line(b, x, info->ChannelNameOffset, "Channel");
	}
}

static void add_rendering(struct cli_xml *x, const EVENT_RECORD *e, struct strbuf *b, const char *provider,
			  const char *event)
{
	const EVENT_HEADER *h = &e->EventHeader;
	bool is_classic = h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
	const char *slash = is_classic ? strchr(event, '/') : NULL;
	strbuf_adds(b, "\t<RenderingInfo Culture=\"en-US\">\r\n");
	if (slash) {
		strbuf_adds(b, "\t\t<Opcode>");
		xml_escape(b, slash + 1, strlen(slash + 1));
		strbuf_adds(b, "</Opcode>\r\n");
	} else {
		add_manifest_names(x, e, b, event);
	}
	strbuf_adds(b, "\t\t<Provider>");
	xml_escape(b, provider, strlen(provider));
	strbuf_adds(b, "</Provider>\r\n");
	if (is_classic) {
		strbuf_adds(b, "\t\t<EventName xmlns=\"" TRACE_NS "\">");
		xml_escape(b, event, slash ? (size_t)(slash - event) : strlen(event));
		strbuf_adds(b, "</EventName>\r\n");
	}
	strbuf_adds(b, "\t</RenderingInfo>\r\n");
	if (is_classic) {
		char guid[37];
		cli_guid_text(&h->ProviderId, guid);
		strbuf_addf(b, "\t<ExtendedTracingInfo xmlns=\"" TRACE_NS "\">\r\n\t\t<EventGuid>{%s}</EventGuid>\r\n",
			    guid);
		const EVENT_HEADER_EXTENDED_DATA_ITEM *instance =
			cli_event_item(e, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
		if (instance && instance->DataSize >= 8) {
			const uint8_t *p = (const uint8_t *)(uintptr_t)instance->DataPtr;
			strbuf_addf(b,
				    "\t\t<InstanceID>%u</InstanceID>\r\n\t\t<ParentInstanceID>%u</"
				    "ParentInstanceID>\r\n",
				    le32_get(p), le32_get(p + 4));
		}
		strbuf_adds(b, "\t</ExtendedTracingInfo>\r\n");
	}
}

void cli_xml_event(struct cli_xml *x, const EVENT_RECORD *e, struct strbuf *out)
{
	struct strbuf provider = {0}, event = {0};
	strbuf_adds(&provider, openetw_provider_name(x->decoder, e));
	strbuf_adds(&event, openetw_event_name(x->decoder, e));
	if (!provider.failed && !event.failed) {
		strbuf_adds(out, "<Event xmlns=\"" EVENT_NS "\">\r\n");
		add_system(x, e, out, provider.s ? provider.s : "");
		add_payload(x, e, out);
		add_rendering(x, e, out, provider.s ? provider.s : "", event.s ? event.s : "");
		strbuf_adds(out, "</Event>\r\n");
	}
	strbuf_finish(&provider);
	strbuf_finish(&event);
}

void cli_xml_finish(struct cli_xml *x)
{
	free(x->info);
	x->info = NULL;
	x->info_bytes = 0;
}
