/* SPDX-License-Identifier: MIT
 * The text of xperf's dumper: a block that lists each kind of event with its columns, then one line an
 * event, its call stack behind it. The files are read twice, for the block stands first.
 */
#include "cli/output.h"
#include "cli/view/trace.h"
#include "cli/xperf/xperf.h"
#include "cli/xperf/xperf_rows.h"

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

static bool one(void *ctx, const EVENT_RECORD *e)
{
	static const GUID trace = {0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0, 0, 0xf8, 4, 0x64, 0xe3}};
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
			if (!is_known(m)) {
				xperf_rows_header(m->rows, e, &m->line);
			}
		}
	} else if (!xperf_rows_skips(m->rows, e)) {
		uint64_t us = ((uint64_t)h->TimeStamp.QuadPart - m->clock.start) / 10;
		if (!m->read->ranged || (us >= m->read->from_us && us <= m->read->to_us)) {
			xperf_rows_event(m->rows, e, &m->line);
		}
	}
	return (m->line.len == 0 || fwrite(m->line.s, 1, m->line.len, m->out) == m->line.len) &&
	       !m->line.failed && !m->kinds.failed;
}

static int pass(struct dumper *m)
{
	struct cli_args *a = m->read->a;
	struct cli_trace *t = calloc(1, sizeof *t);
	if (!t) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read");
	}
	*t = (struct cli_trace){.args = a,
				.event = one,
				.ctx = m,
				.raw_time = m->header,
				.state = m->header ? NULL : m->state};
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
			h->VersionDetail.MajorVersion, h->VersionDetail.MinorVersion, h->ProviderVersion,
			h->EventsLost, h->BuffersLost, (long long)h->StartTime.QuadPart,
			(unsigned long long)(h->EndTime.QuadPart - h->StartTime.QuadPart) / 10000000,
			h->PointerSize, m->read->files[0]);
	}
	uint32_t code = m->rows ? cli_trace_run(t) : ERROR_NOT_ENOUGH_MEMORY;
	int status = t->interrupted ? 128 + t->interrupted : CLI_OK;
	if (code && code != ERROR_CANCELLED) {
		status = cli_fail(a, code, "cannot read %s", m->read->files[0]);
	}
	if (!m->header && t->lost_events) {
		fprintf(stderr, "xperf: warning: %s lost %llu events when it was recorded.\n",
			m->read->files[0], (unsigned long long)t->lost_events);
	}
	m->read_all = !m->header && status == CLI_OK && !m->line.failed;
	status = status == CLI_OK && t->problems ? CLI_FAILED : status;
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
	struct cli_output *o = cli_output_open(r->a, r->out ? r->out : "-", true);
	m.out = cli_output_file(o);
	int status = CLI_OK;
	if (!m.out) {
		status = CLI_FAILED;
	} else if (!m.decoder || !m.state) {
		status = cli_fail(r->a, ERROR_NOT_ENOUGH_MEMORY, "cannot dump");
	} else {
		fprintf(m.out, "BeginHeader\n");
		status = pass(&m);
		if (!cli_interrupted()) {
			fprintf(m.out, "EndHeader\n");
			m.header = false;
			status = status == CLI_OK ? pass(&m) : status;
		}
	}
	int end = cli_output_close(o, m.read_all);
	status = status == CLI_OK ? end : status;
	if ((m.line.failed || m.kinds.failed) && status == CLI_OK) {
		status = cli_fail(r->a, ERROR_NOT_ENOUGH_MEMORY, "cannot dump");
	}
	openetw_decoder_destroy(m.decoder);
	openetw_state_destroy(m.state);
	strbuf_finish(&m.line);
	strbuf_finish(&m.key);
	strbuf_finish(&m.kinds);
	return status;
}
