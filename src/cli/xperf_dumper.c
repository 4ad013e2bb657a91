/* SPDX-License-Identifier: MIT
 * The text of xperf's dumper: a block that lists each kind of event with its columns, then one line an
 * event. The files are read twice, for the block stands first.
 */
#include "cli/trace.h"
#include "cli/xperf.h"

#include <openetw/decode.h>
#include <stdio.h>
#include <stdlib.h>

struct kind {
	struct kind *next;
	EVENT_DESCRIPTOR d;
	GUID provider;
	char *name;
};
struct dumper {
	struct cli_trace *trace;
	struct openetw_decoder *decoder;
	struct strbuf line, cell;
	FILE *out;
	struct kind *kinds;
	bool header, failed;
	uint64_t start;
};

static void put_name(struct dumper *m, const EVENT_RECORD *e)
{
	static const char *const opcodes[] = {"Info",	   "Start", "Stop",   "DC_Start", "DC_Stop",
					      "Extension", "Reply", "Resume", "Suspend",  "Send"};
	UCHAR op = e->EventHeader.EventDescriptor.Opcode;
	const char *event = openetw_event_name(m->decoder, e);
	char name[512];
	size_t n = (size_t)snprintf(name, sizeof name, "%.200s/", openetw_provider_name(m->decoder, e));
	event = openetw_event_name(m->decoder, e);
	snprintf(name + n, sizeof name - n,
		 op < BASE_ARRAY_LEN(opcodes) && !strchr(event, '/') ? "%.200s/win:%s" : "%.200s", event,
		 op < BASE_ARRAY_LEN(opcodes) ? opcodes[op] : "");
	strbuf_addf(&m->line, "%23s, ", name);
}

static int put_column(void *ctx, const struct openetw_field *f)
{
	struct dumper *m = ctx;
	strbuf_addf(&m->line, ", %.*s", (int)f->name_length, f->name);
	return 0;
}

/* Text is quoted, with quotes inside doubled, so that commas in it do not make columns. */
static int put_cell(void *ctx, const struct openetw_field *f)
{
	struct dumper *m = ctx;
	bool plain = f->text_length > 0;
	for (size_t i = 0; i < f->text_length; i++) {
		unsigned char c = (unsigned char)f->text[i];
		plain = plain && c > ' ' && c != ',' && c != '"';
	}
	strbuf_adds(&m->line, ", ");
	if (plain) {
		strbuf_add(&m->line, f->text, f->text_length);
		return 0;
	}
	strbuf_addc(&m->line, '"');
	for (size_t i = 0; i < f->text_length; i++) {
		char c = f->text[i];
		if (c == '"') {
			strbuf_addc(&m->line, '"');
		}
		strbuf_addc(&m->line, c == '\n' || c == '\r' ? ' ' : c);
	}
	strbuf_addc(&m->line, '"');
	return 0;
}

static bool known(struct dumper *m, const EVENT_RECORD *e, const char *name)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	struct kind **p = &m->kinds;
	for (; *p; p = &(*p)->next) {
		if (memcmp(&(*p)->provider, &e->EventHeader.ProviderId, sizeof(GUID)) == 0 &&
		    (*p)->d.Id == d->Id && (*p)->d.Version == d->Version && (*p)->d.Opcode == d->Opcode &&
		    strcmp((*p)->name, name) == 0) {
			return true;
		}
	}
	*p = calloc(1, sizeof **p);
	if (*p) {
		(*p)->d = *d;
		(*p)->provider = e->EventHeader.ProviderId;
		(*p)->name = strdup(name);
	}
	if (!*p || !(*p)->name) {
		m->failed = true;
		free(*p);
		*p = NULL;
		return true;
	}
	return false;
}

static bool is_header(const EVENT_RECORD *e)
{
	static const GUID trace = {0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0, 0, 0xf8, 0x04, 0x64, 0xe3}};
	return memcmp(&e->EventHeader.ProviderId, &trace, sizeof trace) == 0;
}

static bool one(void *ctx, const EVENT_RECORD *e)
{
	struct dumper *m = ctx;
	if (is_header(e)) {
		return true;
	}
	strbuf_clear(&m->line);
	if (m->header) {
		openetw_decoder_learn(m->decoder, e);
		if (known(m, e, openetw_event_name(m->decoder, e))) {
			return !m->failed;
		}
		put_name(m, e);
		strbuf_adds(&m->line, " TimeStamp,     Process Name ( PID),   ThreadID, CPU");
		openetw_decode_fields(m->decoder, e, put_column, m);
	} else {
		uint64_t t = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
		char process[40];
		put_name(m, e);
		snprintf(process, sizeof process, "Unknown (%4u)", e->EventHeader.ProcessId);
		strbuf_addf(&m->line, "%10llu, %23s, %10u, %3u",
			    (unsigned long long)(t > m->start ? (t - m->start) / 10 : 0), process,
			    e->EventHeader.ThreadId, e->BufferContext.ProcessorIndex);
		openetw_decode_fields(m->decoder, e, put_cell, m);
	}
	strbuf_addc(&m->line, '\n');
	return fwrite(m->line.s, 1, m->line.len, m->out) == m->line.len && !m->line.failed;
}

static int pass(struct dumper *m, struct cli_args *a, int count, char **files)
{
	struct cli_trace *t = calloc(1, sizeof *t);
	if (!t) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	}
	*t = (struct cli_trace){.args = a, .event = one, .ctx = m};
	m->trace = t;
	if (!cli_trace_open(t, count, files, NULL)) {
		free(t);
		return CLI_FAILED;
	}
	m->start = t->first_start;
	if (!m->header) {
		const TRACE_LOGFILE_HEADER *h = &t->file[0].LogfileHeader;
		fprintf(m->out,
			"OS Version: %u.%u.%u, Events Lost: %u, Buffers lost: %u, Trace Start: %lld, "
			"Trace Length: %llu sec, PointerSize: %u, Trace Name: %s\n",
			h->VersionDetail.MajorVersion, h->VersionDetail.MinorVersion, h->ProviderVersion,
			h->EventsLost, h->BuffersLost, (long long)h->StartTime.QuadPart,
			(unsigned long long)(h->EndTime.QuadPart - h->StartTime.QuadPart) / 10000000,
			h->PointerSize, files[0]);
	}
	uint32_t code = cli_trace_run(t);
	int status = t->interrupted ? 128 + t->interrupted : CLI_OK;
	if (code && code != ERROR_CANCELLED) {
		status = cli_fail(a, code, "cannot read %s", files[0]);
	}
	if (!m->header && t->lost_events) {
		fprintf(stderr, "xperf: warning: %s lost %llu events when it was recorded.\n", files[0],
			(unsigned long long)t->lost_events);
	}
	status = status == CLI_OK && t->problems ? CLI_FAILED : status;
	free(t);
	return status;
}

int xperf_dump(struct cli_args *a, int count, char **files, const char *out, bool tolerate_loss)
{
	struct dumper m = {.out = stdout, .header = true};
	(void)tolerate_loss; /* loss is told in any case */
	m.decoder = openetw_decoder_create();
	m.out = out && strcmp(out, "-") != 0 ? fopen(out, "we") : stdout;
	int status = CLI_OK;
	if (!m.decoder || !m.out) {
		status = cli_fail(a, win32_from_errno(m.out ? -ENOMEM : -errno), "cannot write %s",
				  out ? out : "");
	} else {
		fprintf(m.out, "BeginHeader\n");
		status = pass(&m, a, count, files);
		fprintf(m.out, "EndHeader\n");
		m.header = false;
		status = status == CLI_OK ? pass(&m, a, count, files) : status;
	}
	for (struct kind *k = m.kinds, *next; k; k = next) {
		next = k->next;
		free(k->name);
		free(k);
	}
	if (m.out && m.out != stdout && fclose(m.out) != 0 && status == CLI_OK) {
		status = cli_fail(a, win32_from_errno(-errno), "cannot write %s", out);
	}
	if (m.failed && status == CLI_OK) {
		status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot dump");
	}
	openetw_decoder_destroy(m.decoder);
	strbuf_finish(&m.line);
	return status;
}
