/* SPDX-License-Identifier: MIT
 *
 * An event as a line of comma-separated columns, each as wide as its heading at least.
 */
#include "tools/classic/tracerpt.h"

#include "base/printable.h"
#include "tools/common/event_view.h"

#include <tdh.h>

void tracerpt_csv_head(struct strbuf *out)
{
	strbuf_addf(out,
		    "%12s, %10s, %10s, %10s, %10s, %10s, %10s, %10s, %18s, %10s, %10s, %16s, %20s, %20s, %38s, %38s, "
		    "%20s, %10s, "
		    "%10s, User Data\r\n",
		    "Event Name", "Type", "Event ID", "Version", "Channel", "Level", "Opcode", "Task", "Keyword", "PID",
		    "TID", "Processor Number", "Instance ID", "Parent Instance ID", "Activity ID",
		    "Related Activity ID", "Clock-Time", "Kernel(ms)", "User(ms)");
}

/* Between quotes when a comma or a quote would end it. One event is one line. */
static void add_cell(struct strbuf *b, const char *s, size_t n, bool quoted)
{
	for (size_t i = 0; i < n && !quoted; i++) {
		quoted = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
	}
	strbuf_adds(b, quoted ? "\"" : "");
	for (size_t i = 0, plain; i < n; i++) {
		for (plain = i; i < n && s[i] != '"' && s[i] != '\n' && s[i] != '\r';) {
			i++;
		}
		strbuf_add_printable(b, s + plain, i - plain);
		strbuf_adds(b, i == n ? "" : s[i] == '"' ? "\"\"" : " ");
	}
	strbuf_adds(b, quoted ? "\"" : "");
}

/* Right-aligned in `width` characters. */
static void add_wide_cell(struct strbuf *b, const struct strbuf *text, const char *instead, unsigned width)
{
	struct strbuf cell = {0};
	const char *s = text->len ? text->s : instead;
	add_cell(&cell, s, strlen(s), false);
	strbuf_addf(b, "%*s", (int)width, cell.s ? cell.s : "");
	strbuf_finish(&cell);
}

static void add_value(void *ctx, const struct tracerpt_value *v)
{
	struct strbuf *b = ctx;
	if (v->what != TRACERPT_VALUE) {
		return;
	}
	strbuf_adds(b, ", ");
	if (v->filetime) {
		strbuf_add_u64(b, v->filetime);
	} else {
		add_cell(b, v->text, v->text_bytes, v->is_text);
	}
}

static void add_payload(struct tracerpt *r, const EVENT_RECORD *e, enum tracerpt_kind kind, struct strbuf *b)
{
	struct openetw_text text = {0};
	if (kind == TRACERPT_MESSAGE && openetw_event_message(r->decoder, e, &text)) {
		strbuf_adds(b, ", ");
		add_cell(b, text.data ? text.data : "", text.length, true);
	} else if (r->known || kind == TRACERPT_STRING) {
		tracerpt_values(r, e, add_value, b);
	} else if (e->UserData && e->UserDataLength) {
		const uint8_t *p = e->UserData;
		strbuf_adds(b, ", ");
		for (USHORT i = 0; i < e->UserDataLength; i++) {
			strbuf_addf(b, "%02X", p[i]);
		}
	}
	openetw_text_free(&text);
}

/* A class and an opcode, a provider and an opcode, or an event by its own name. */
static void add_names(const struct tracerpt *r, const EVENT_RECORD *e, enum tracerpt_kind kind, struct strbuf *b)
{
	const TRACE_EVENT_INFO *info = r->info;
	struct strbuf name = {0}, type = {0};
	if (kind == TRACERPT_MESSAGE && openetw_message_attribute(r->decoder, e, "FUNC")) {
		strbuf_adds(&name, openetw_provider_name(r->decoder, e));
		strbuf_adds(&type, openetw_event_name(r->decoder, e));
	} else if (r->known) {
		tracerpt_text(r, kind == TRACERPT_MANIFEST ? info->ProviderNameOffset : info->TaskNameOffset, &name);
		tracerpt_text(r, info->OpcodeNameOffset, &type);
	}
	add_wide_cell(b, &name, "Unknown", 12);
	strbuf_adds(b, ", ");
	add_wide_cell(b, &type, "0", 10);
	strbuf_finish(&name);
	strbuf_finish(&type);
}

static void add_guid(struct strbuf *b, const GUID *g)
{
	char text[37];
	cli_guid_text(g, text);
	strbuf_addf(b, ", {%s}", text);
}

void tracerpt_csv_event(struct tracerpt *r, const EVENT_RECORD *e, struct strbuf *out)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	enum tracerpt_kind kind = tracerpt_look(r, e);
	char keyword[19], pid[11], tid[11];
	add_names(r, e, kind, out);
	snprintf(keyword, sizeof keyword, "0x%llX", d->Keyword);
	snprintf(pid, sizeof pid, "0x%X", h->ProcessId);
	snprintf(tid, sizeof tid, "0x%X", h->ThreadId);
	strbuf_addf(out, ", %10u, %10u, %10u, %10u, %10u, %10u, %18s, %10s, %10s, %16u", d->Id, d->Version, d->Channel,
		    d->Level, d->Opcode, d->Task, keyword, pid, tid,
		    GetEventProcessorIndex((PEVENT_RECORD)(uintptr_t)e));
	const EVENT_HEADER_EXTENDED_DATA_ITEM *instance = cli_event_item(e, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
	if (instance && instance->DataSize >= 8) {
		const uint8_t *p = (const uint8_t *)(uintptr_t)instance->DataPtr;
		strbuf_addf(out, ", %20u, %20u", le32_get(p), le32_get(p + 4));
	} else {
		strbuf_addf(out, ", %20s, %20s", "", "");
	}
	add_guid(out, &h->ActivityId);
	const EVENT_HEADER_EXTENDED_DATA_ITEM *related = cli_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	if (related && related->DataSize == sizeof(GUID)) {
		add_guid(out, (const GUID *)(uintptr_t)related->DataPtr);
	} else {
		strbuf_addf(out, ", %38s", "");
	}
	strbuf_addf(out, ", %20lld, %10llu, %10llu", (long long)h->TimeStamp.QuadPart,
		    (unsigned long long)tracerpt_ms(r, h->KernelTime), (unsigned long long)tracerpt_ms(r, h->UserTime));
	add_payload(r, e, kind, out);
	strbuf_adds(out, "\r\n");
}
