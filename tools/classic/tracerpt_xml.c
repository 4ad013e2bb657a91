/* SPDX-License-Identifier: MIT
 *
 * An event in XML: tabs, CRLF, ASCII with character references, as there is no declaration that names an encoding.
 */
#include "tools/classic/tracerpt.h"
#include "base/level.h"
#include "xml/xml.h"

#include "base/parse.h"
#include "tools/common/event_view.h"
#include "tools/common/event_xml.h"

#include <tdh.h>

#define EVENT_NS "http://schemas.microsoft.com/win/2004/08/events/event"
#define TRACE_NS "http://schemas.microsoft.com/win/2004/08/events/trace"

/* XML text in ASCII. */
static void add_text(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t plain = i;
		while (i < n && !((uint8_t)s[i] & 0x80)) {
			i++;
		}
		xml_escape(b, s + plain, i - plain);
		if (i == n) {
			return;
		}
		uint8_t c = (uint8_t)s[i];
		size_t len = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
		uint16_t unit[3];
		long units = utf8_to_utf16(s + i, BASE_MIN(len, n - i), unit, BASE_ARRAY_LEN(unit));
		uint32_t v = units == 1   ? unit[0]
			     : units == 2 ? 0x10000 + ((uint32_t)(unit[0] - 0xD800) << 10) + (unit[1] - 0xDC00u)
					  : 0xFFFD;
		strbuf_addf(b, "&#%u;", v == 0xFFFE || v == 0xFFFF ? 0xFFFD : v);
		i += units > 0 ? len : 1;
	}
}

static void add_tabs(struct strbuf *b, unsigned n)
{
	while (n-- > 0) {
		strbuf_addc(b, '\t');
	}
}

/* <element>text</element>, with the text of an offset; nothing when there is none. */
static void add_name(const struct tracerpt *r, struct strbuf *b, unsigned tabs, const char *element, ULONG offset)
{
	struct strbuf text = {0};
	tracerpt_text(r, offset, &text);
	if (text.len) {
		add_tabs(b, tabs);
		strbuf_addf(b, "<%s>", element);
		add_text(b, text.s, text.len);
		strbuf_addf(b, "</%s>\r\n", element);
	}
	strbuf_finish(&text);
}

/* ---- System ------------------------------------------------------------------------------------ */

static void add_provider(const struct tracerpt *r, const EVENT_RECORD *e, enum tracerpt_kind kind, struct strbuf *b)
{
	const TRACE_EVENT_INFO *info = r->info;
	struct strbuf name = {0};
	GUID guid = e->EventHeader.ProviderId;
	char text[37];
	if (kind == TRACERPT_CLASSIC) {
		guid = info->ProviderGuid; /* the kernel's, not the class's */
	} else if (r->known) {
		tracerpt_text(r, info->ProviderNameOffset, &name);
	}
	cli_guid_text(&guid, text);
	strbuf_adds(b, "\t\t<Provider ");
	if (name.len) {
		strbuf_adds(b, "Name=\"");
		add_text(b, name.s, name.len);
		strbuf_adds(b, "\" ");
	}
	strbuf_addf(b, "Guid=\"{%s}\" />\r\n", text);
	strbuf_finish(&name);
}

static void add_time(const struct tracerpt *r, const EVENT_RECORD *e, struct strbuf *b)
{
	char time[TIME_TEXT_SIZE];
	if (r->raw_time) {
		strbuf_addf(b, "\t\t<TimeCreated RawTime=\"%lld\" />\r\n",
			    (long long)e->EventHeader.TimeStamp.QuadPart);
		return;
	}
	/* nine digits of the second, then the zone */
	format_time((uint64_t)e->EventHeader.TimeStamp.QuadPart, !r->utc, time);
	strbuf_addf(b, "\t\t<TimeCreated SystemTime=\"%.27s00%s\" />\r\n", time, time + 27);
}

/* S-1-5-18 */
static void add_security(const EVENT_RECORD *e, struct strbuf *b)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item = cli_event_item(e, EVENT_HEADER_EXT_TYPE_SID);
	const uint8_t *p = item ? (const uint8_t *)(uintptr_t)item->DataPtr : NULL;
	if (!p || item->DataSize < 8 || p[1] > 15 || item->DataSize < 8 + 4 * p[1]) {
		return;
	}
	uint64_t authority = 0;
	for (unsigned i = 2; i < 8; i++) {
		authority = authority << 8 | p[i];
	}
	strbuf_addf(b, "\t\t<Security UserID=\"S-%u-%llu", p[0], (unsigned long long)authority);
	for (unsigned i = 0; i < p[1]; i++) {
		strbuf_addf(b, "-%u", le32_get(p + 8 + 4 * i));
	}
	strbuf_adds(b, "\" />\r\n");
}

static void add_system(const struct tracerpt *r, const EVENT_RECORD *e, enum tracerpt_kind kind, struct strbuf *b)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	const TRACE_EVENT_INFO *info = r->info;
	char guid[37];
	strbuf_adds(b, "\t<System>\r\n");
	add_provider(r, e, kind, b);
	strbuf_addf(b,
		    "\t\t<EventID>%u</EventID>\r\n\t\t<Version>%u</Version>\r\n\t\t<Level>%u</Level>\r\n"
		    "\t\t<Task>%u</Task>\r\n\t\t<Opcode>%u</Opcode>\r\n\t\t<Keywords>0x%llX</Keywords>\r\n",
		    d->Id, d->Version, d->Level, d->Task, d->Opcode, d->Keyword);
	add_time(r, e, b);
	cli_guid_text(&h->ActivityId, guid);
	strbuf_addf(b, "\t\t<Correlation ActivityID=\"{%s}\"", guid);
	cli_xml_origin(b, e);
	if (h->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) {
		strbuf_addf(b, " ProcessorTime=\"%llu\" />\r\n", h->ProcessorTime);
	} else {
		strbuf_addf(b, " KernelTime=\"%llu\" UserTime=\"%llu\" />\r\n",
			    (unsigned long long)tracerpt_ms(r, h->KernelTime),
			    (unsigned long long)tracerpt_ms(r, h->UserTime));
	}
	size_t before = b->len;
	if (kind == TRACERPT_MANIFEST) {
		add_name(r, b, 2, "Channel", info->ChannelNameOffset);
	}
	strbuf_adds(b, b->len == before ? "\t\t<Channel />\r\n" : "");
	strbuf_adds(b, "\t\t<Computer />\r\n");
	add_security(e, b);
	strbuf_adds(b, "\t</System>\r\n");
}

/* ---- payload ----------------------------------------------------------------------------------- */

static void add_hex(const EVENT_RECORD *e, struct strbuf *b)
{
	const uint8_t *p = e->UserData;
	for (USHORT i = 0; p && i < e->UserDataLength; i++) {
		strbuf_addf(b, "%02X", p[i]);
	}
}

static void add_value(void *ctx, const struct tracerpt_value *v)
{
	struct strbuf *b = ctx;
	add_tabs(b, 2 + v->depth);
	if (v->what == TRACERPT_CLOSE) {
		strbuf_adds(b, "</ComplexData>\r\n");
		return;
	}
	strbuf_adds(b, v->what == TRACERPT_OPEN ? "<ComplexData Name=\"" : "<Data Name=\"");
	add_text(b, v->name, v->name_bytes);
	strbuf_adds(b, "\">");
	if (v->what == TRACERPT_OPEN) {
		strbuf_adds(b, "\r\n");
		return;
	}
	add_text(b, v->text, v->text_bytes);
	strbuf_adds(b, "</Data>\r\n");
}

static void add_string_value(void *ctx, const struct tracerpt_value *v)
{
	struct strbuf *b = ctx;
	if (v->what == TRACERPT_VALUE) {
		strbuf_adds(b, "\t<Data>");
		add_text(b, v->text, v->text_bytes);
		strbuf_adds(b, "</Data>\r\n");
	}
}

static void add_payload(struct tracerpt *r, const EVENT_RECORD *e, enum tracerpt_kind kind, struct strbuf *b)
{
	if (kind == TRACERPT_STRING) {
		tracerpt_values(r, e, add_string_value, b);
		return;
	}
	if (kind == TRACERPT_MESSAGE && cli_xml_debug_data(r->decoder, e, add_text, b)) {
		return;
	}
	size_t before = b->len;
	int result = OPENETW_NO_SCHEMA;
	if (r->known) {
		strbuf_adds(b, "\t<EventData>\r\n");
		result = tracerpt_values(r, e, add_value, b);
		strbuf_adds(b, "\t</EventData>\r\n");
	}
	if (result == OPENETW_DECODED || b->failed) {
		return;
	}
	b->len = before;
	strbuf_adds(b, result == OPENETW_NO_SCHEMA ? "\t<BinaryEventData>"
						   : "\t<ProcessingErrorData>\r\n\t\t<ErrorCode>15005</ErrorCode>\r\n"
						     "\t\t<DataItemName />\r\n\t\t<EventPayload>");
	add_hex(e, b);
	strbuf_adds(b, result == OPENETW_NO_SCHEMA ? "</BinaryEventData>\r\n"
						   : "</EventPayload>\r\n\t</ProcessingErrorData>\r\n");
}

/* ---- RenderingInfo ----------------------------------------------------------------------------- */

static void add_keywords(const struct tracerpt *r, ULONG offset, struct strbuf *b)
{
	struct bytes in = bytes_at(r->info, offset ? r->info_bytes : 0, offset);
	size_t units = 0;
	const uint8_t *s = bytes_wsz(&in, &units);
	if (!s || units == 0) {
		return;
	}
	strbuf_adds(b, "\t\t<Keywords>\r\n");
	for (; s && units > 0; s = bytes_wsz(&in, &units)) {
		add_name(r, b, 3, "Keyword", (ULONG)(s - (const uint8_t *)r->info));
	}
	strbuf_adds(b, "\t\t</Keywords>\r\n");
}

static void add_manifest_names(const struct tracerpt *r, const EVENT_RECORD *e, struct strbuf *b)
{
	const TRACE_EVENT_INFO *info = r->info;
	UCHAR level = e->EventHeader.EventDescriptor.Level;
	struct openetw_text message = {0};
	if (level && level_text(level)) {
		strbuf_addf(b, "\t\t<Level>%s</Level>\r\n", level_text(level));
	} else {
		add_name(r, b, 2, "Level", info->LevelNameOffset);
	}
	add_name(r, b, 2, "Opcode", info->OpcodeNameOffset);
	add_keywords(r, info->KeywordsNameOffset, b);
	add_name(r, b, 2, "Task", info->TaskNameOffset);
	if (openetw_event_message(r->decoder, e, &message)) {
		strbuf_adds(b, "\t\t<Message>");
		add_text(b, message.data ? message.data : "", message.length);
		strbuf_adds(b, "</Message>\r\n");
	}
	openetw_text_free(&message);
	add_name(r, b, 2, "Channel", info->ChannelNameOffset);
	add_name(r, b, 2, "Provider", info->ProviderNameOffset);
}

static void add_rendering(const struct tracerpt *r, const EVENT_RECORD *e, enum tracerpt_kind kind, struct strbuf *b)
{
	const TRACE_EVENT_INFO *info = r->info;
	if (!r->known) {
		return;
	}
	strbuf_adds(b, "\t<RenderingInfo Culture=\"en-US\">\r\n");
	if (kind == TRACERPT_SELF_DESCRIBING) {
		add_name(r, b, 2, "Task", info->TaskNameOffset);
	} else if (kind == TRACERPT_MANIFEST) {
		add_manifest_names(r, e, b);
	} else {
		add_name(r, b, 2, "Opcode", info->OpcodeNameOffset);
		add_name(r, b, 2, "Provider", info->ProviderNameOffset);
		struct strbuf name = {0};
		tracerpt_text(r, info->TaskNameOffset, &name);
		strbuf_adds(b, "\t\t<EventName xmlns=\"" TRACE_NS "\">");
		add_text(b, name.s ? name.s : "", name.len);
		strbuf_adds(b, "</EventName>\r\n");
		strbuf_finish(&name);
	}
	strbuf_adds(b, "\t</RenderingInfo>\r\n");
}

static void add_extended(const EVENT_RECORD *e, struct strbuf *b)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *instance = cli_event_item(e, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
	bool classic = (e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) &&
		       !(e->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE);
	bool has_instance = instance && instance->DataSize >= 8;
	if (!classic && !has_instance) {
		return;
	}
	strbuf_adds(b, "\t<ExtendedTracingInfo xmlns=\"" TRACE_NS "\">\r\n");
	if (classic) {
		char guid[37];
		cli_guid_text(&e->EventHeader.ProviderId, guid);
		strbuf_addf(b, "\t\t<EventGuid>{%s}</EventGuid>\r\n", guid);
	}
	if (has_instance) {
		const uint8_t *p = (const uint8_t *)(uintptr_t)instance->DataPtr;
		strbuf_addf(b, "\t\t<InstanceID>%u</InstanceID>\r\n\t\t<ParentInstanceID>%u</ParentInstanceID>\r\n",
			    le32_get(p), le32_get(p + 4));
	}
	strbuf_adds(b, "\t</ExtendedTracingInfo>\r\n");
}

void tracerpt_xml_event(struct tracerpt *r, const EVENT_RECORD *e, struct strbuf *out)
{
	enum tracerpt_kind kind = tracerpt_look(r, e);
	strbuf_adds(out, "<Event xmlns=\"" EVENT_NS "\">\r\n");
	add_system(r, e, kind, out);
	add_payload(r, e, kind, out);
	add_rendering(r, e, kind, out);
	add_extended(e, out);
	strbuf_adds(out, "</Event>\r\n");
}
