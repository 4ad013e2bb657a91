/* SPDX-License-Identifier: MIT
 *
 * One event as a row of xperf's dumper text: kernel events with the names and columns that tools know,
 * all others as Provider/Task/win:Opcode with their fields.
 */
#ifndef TOOLS_WPT_XPERF_ROWS_H
#define TOOLS_WPT_XPERF_ROWS_H

#include "tools/common/cli.h"

#include <openetw/decode.h>
#include <openetw/state.h>

struct xperf_rows;

/* The trace's clock: start as FILETIME and in ticks, ticks per second. */
struct xperf_clock {
	uint64_t start, start_raw, frequency;
};
/* Decoder and state are borrowed. */
struct xperf_rows *xperf_rows_create(struct openetw_decoder *d, struct openetw_state *s, const struct xperf_clock *c);
void xperf_rows_destroy(struct xperf_rows *r);
/* Of no interest to readers of the text: headers, stacks in records of their own. */
bool xperf_rows_skips(struct xperf_rows *r, const EVENT_RECORD *e);
/* Two events with the same key have the same columns, as far as is known before decoding. */
void xperf_rows_key(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *key);
/* Append "Name, TimeStamp, …" of this kind of event, with line end. */
void xperf_rows_header(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *b);
/* The heading of call stacks, which come in rows of their own behind their event. */
void xperf_rows_stack_header(struct strbuf *b);
/* Append the event's row and those of its stack. */
void xperf_rows_event(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *b);
/* What the text calls a kernel event, such as CSwitch for Thread/CSwitch; NULL: it has no name of its own. */
const char *xperf_rows_label(const char *event);
/* "name.exe (1234)", for tables of other actions. */
void xperf_process_cell(struct strbuf *b, const char *name, uint32_t pid);
/* "module!function" or "module!0x1234", "Unknown" where nobody knows. */
void xperf_symbol_cell(struct strbuf *b, struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time);

#endif
