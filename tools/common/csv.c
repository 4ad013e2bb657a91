/* SPDX-License-Identifier: MIT */
#include "tools/common/csv.h"

#include "base/printable.h"

void csv_add(struct strbuf *b, const char *s, size_t n)
{
	if (n == 0) {
		return;
	}
	/* Printable: newlines are escaped, so they need no quotes. */
	if (!memchr(s, '"', n) && !memchr(s, ',', n)) {
		strbuf_add_printable(b, s, n);
		return;
	}
	strbuf_add_quoted(b, s, n);
}

void csv_add_event_head(struct strbuf *b)
{
	strbuf_adds(b, "time,provider,event,id,version,level,opcode,task,keywords,cpu,pid,tid,fields\n");
}

void csv_add_event(struct strbuf *b, const EVENT_RECORD *e, const struct openetw_event_origin *o, const char *time,
		   const char *provider, const char *event, const struct openetw_text *fields)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	strbuf_adds(b, time);
	strbuf_addc(b, ',');
	csv_add(b, provider, strlen(provider));
	strbuf_addc(b, ',');
	csv_add(b, event, strlen(event));
	strbuf_addf(b, ",%u,%u,%u,%u,%u,0x%llX,%u,%u,%u,", d->Id, d->Version, d->Level, d->Opcode, d->Task, d->Keyword,
		    GetEventProcessorIndex(e), o->pid, o->tid);
	csv_add(b, fields->data ? fields->data : "", fields->length);
	strbuf_addc(b, '\n');
}
