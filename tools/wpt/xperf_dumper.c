/* SPDX-License-Identifier: MIT
 * The text of xperf's dumper: a block that lists each kind of event with its columns, then one line an
 * event, its call stack behind it. The files are read twice, for the block stands first.
 */
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"
#include "tools/wpt/xperf.h"
#include "tools/wpt/xperf_rows.h"
#include "etw/values/guids.h"

#include <stdio.h>
#include <stdlib.h>

struct dumper {
	struct xperf_read *read;
	struct openetw_decoder *decoder;
	struct openetw_state *state;
	struct xperf_rows *rows;
	struct strbuf line, key;
	FILE *out;
	struct strbuf kinds; /* the keys that have a heading: u32 length, bytes */
	bool header, stacks_told, read_all;
	struct xperf_clock clock;
};

static bool is_known(struct dumper *m)
{
	for (size_t at = 0; at < m->kinds.len;) {
		uint32_t n = le32_get(m->kinds.s + at);
		if (n == m->key.len && memcmp(m->kinds.s + at + 4, m->key.s, n) == 0) {
			return true;
		}
		at += 4 + n;
	}
	uint8_t n[4];
	le32_put(n, (uint32_t)m->key.len);
	strbuf_add(&m->kinds, n, 4);
	strbuf_add(&m->kinds, m->key.s, m->key.len);
	return false;
}

static bool is_wanted(const struct dumper *m, const GUID *provider)
{
	for (size_t i = 0; i < m->read->only_count; i++) {
		if (memcmp(provider, &m->read->only[i], sizeof *provider) == 0) {
			return true;
		}
	}
	return m->read->only_count == 0;
}

/* -add_rawdata: what the event is, in numbers, and its bytes. */
static void put_bytes(struct dumper *m, const EVENT_RECORD *e, uint64_t us)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	const uint8_t *data = e->UserData;
	char guid[37];
	cli_guid_text(&e->EventHeader.ProviderId, guid);
	strbuf_addf(&m->line, "%23s, %10llu, {%s}, %u, %u, %u, %u, %u, %u, 0x%llx, %u, ", "RawData",
		    (unsigned long long)us, guid, d->Id, d->Version, d->Channel, d->Level, d->Opcode, d->Task,
		    (unsigned long long)d->Keyword, e->UserDataLength);
	for (uint32_t i = 0; i < e->UserDataLength; i++) {
		strbuf_addf(&m->line, "%02x", data[i]);
	}
	strbuf_addc(&m->line, '\n');
}

static bool one(void *ctx, const EVENT_RECORD *e)
{
	static const struct guid trace = GUID_INIT(ETW_GUID_EVENT_TRACE);
	struct dumper *m = ctx;
	const EVENT_HEADER *h = &e->EventHeader;
	strbuf_clear(&m->line);
	if (m->header) {
		/* Ticks: the first event of a trace says when it began. */
		if (m->clock.start_raw == 0 && memcmp(&h->ProviderId, &trace, sizeof trace) == 0) {
			m->clock.start_raw = (uint64_t)h->TimeStamp.QuadPart;
		}
		openetw_decoder_learn(m->decoder, e);
		if (xperf_rows_skips(m->rows, e)) {
			if (memcmp(&h->ProviderId, &trace, sizeof trace) != 0 && !m->stacks_told) {
				m->stacks_told = true;
				xperf_rows_stack_header(&m->line);
			}
		} else {
			strbuf_clear(&m->key);
			xperf_rows_key(m->rows, e, &m->key);
			if (is_wanted(m, &h->ProviderId) && !is_known(m)) {
				xperf_rows_header(m->rows, e, &m->line);
			}
		}
	} else if (!xperf_rows_skips(m->rows, e)) {
		uint64_t us = ((uint64_t)h->TimeStamp.QuadPart - m->clock.start) / 10;
		if ((!m->read->ranged || (us >= m->read->from_us && us <= m->read->to_us)) &&
		    is_wanted(m, &h->ProviderId)) {
			if (m->read->raw_data) {
				put_bytes(m, e, us);
			}
			xperf_rows_event(m->rows, e, &m->line);
		}
	}
	return (m->line.len == 0 || fwrite(m->line.s, 1, m->line.len, m->out) == m->line.len) && !m->line.failed &&
	       !m->kinds.failed;
}

static int pass(struct dumper *m)
{
	struct cli_args *a = m->read->a;
	struct cli_trace *t = calloc(1, sizeof *t);
	if (!t) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	}
	*t = (struct cli_trace){
		.args = a, .event = one, .ctx = m, .raw_time = m->header, .state = m->header ? NULL : m->state};
	if (!cli_trace_open(t, m->read->count, m->read->files, NULL)) {
		free(t);
		return CLI_FAILED;
	}
	const TRACE_LOGFILE_HEADER *h = &t->file[0].LogfileHeader;
	m->clock.start = t->first_start;
	m->clock.frequency = (uint64_t)h->PerfFreq.QuadPart;
	m->rows = xperf_rows_create(m->decoder, m->state, &m->clock);
	if (!m->header) {
		fprintf(m->out,
			"OS Version: %u.%u.%u, Events Lost: %u, Buffers lost: %u, Trace Start: %lld, "
			"Trace Length: %llu sec, PointerSize: %u, Trace Name: %s\n",
			h->VersionDetail.MajorVersion, h->VersionDetail.MinorVersion, h->ProviderVersion, h->EventsLost,
			h->BuffersLost, (long long)h->StartTime.QuadPart,
			(unsigned long long)(h->EndTime.QuadPart - h->StartTime.QuadPart) / 10000000, h->PointerSize,
			m->read->files[0]);
	}
	uint32_t code = m->rows ? cli_trace_run(t) : ERROR_NOT_ENOUGH_MEMORY;
	int status = t->interrupted ? 128 + t->interrupted : CLI_OK;
	if (code && code != ERROR_CANCELLED) {
		status = cli_fail(a, code, "cannot read %s", m->read->files[0]);
	}
	if (!m->header && t->lost_events) {
		fprintf(stderr, "xperf: warning: %s lost %llu events when it was recorded.\n", m->read->files[0],
			(unsigned long long)t->lost_events);
	}
	if (!m->header && t->unknown[0]) {
		fprintf(stderr, "xperf: warning: %s: lost: unknown (%s).\n", m->read->files[0], t->unknown);
	}
	m->read_all = !m->header && status == CLI_OK && !m->line.failed;
	/* What is damaged is told; the good part is dumped all the same. */
	status = status == CLI_OK && t->problems && !m->header ? CLI_FAILED : status;
	xperf_rows_destroy(m->rows);
	m->rows = NULL;
	free(t);
	return status;
}

int xperf_dump(struct xperf_read *r)
{
	struct dumper m = {.read = r, .header = true};
	m.decoder = openetw_decoder_create();
	m.state = openetw_state_create(OPENETW_STATE_STACKS);
	m.out = r->to;
	int status = CLI_OK;
	if (!m.decoder || !m.state) {
		status = cli_fail(r->a, ERROR_NOT_ENOUGH_MEMORY, "cannot dump");
	} else {
		fprintf(m.out, "BeginHeader\n");
		if (r->raw_data) {
			fprintf(m.out,
				"%23s,  TimeStamp, Provider, Id, Version, Channel, Level, Opcode, Task, Keyword, "
				"Length, Bytes\n",
				"RawData");
		}
		status = pass(&m);
		if (!cli_interrupted() && status == CLI_OK) {
			fprintf(m.out, "EndHeader\n");
			m.header = false;
			status = pass(&m);
		}
	}
	if ((m.line.failed || m.kinds.failed) && status == CLI_OK) {
		status = cli_fail(r->a, ERROR_NOT_ENOUGH_MEMORY, "cannot dump");
	}
	r->whole = m.read_all;
	openetw_decoder_destroy(m.decoder);
	cli_state_end(m.state);
	strbuf_finish(&m.line);
	strbuf_finish(&m.key);
	strbuf_finish(&m.kinds);
	return status;
}

uint64_t xperf_start_of(const struct cli_args *a, const char *path)
{
	EVENT_TRACE_LOGFILEA f = {.LogFileName = (char *)(uintptr_t)cli_unpacked(a, path),
				  .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD};
	TRACEHANDLE h = f.LogFileName ? OpenTraceA(&f) : INVALID_PROCESSTRACE_HANDLE;
	if (h == INVALID_PROCESSTRACE_HANDLE) {
		return 0;
	}
	CloseTrace(h);
	return (uint64_t)f.LogfileHeader.StartTime.QuadPart;
}
