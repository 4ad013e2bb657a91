/* SPDX-License-Identifier: MIT
 *
 * What tracerpt writes for one event, as Windows 10 writes it: docs/tracerpt.md has the facts.
 */
#ifndef TOOLS_CLASSIC_TRACERPT_H
#define TOOLS_CLASSIC_TRACERPT_H

#include "tools/common/cli.h"

struct openetw_decoder;

struct tracerpt {
	struct openetw_decoder *decoder;
	bool utc, raw_time;
	uint32_t timer_resolution; /* 100 ns in each tick of kernel and user time */
	/* what TDH says about the event at hand */
	void *info; /* TRACE_EVENT_INFO; owned */
	uint32_t info_bytes, info_room;
	bool known; /* info is about this event */
};
void tracerpt_xml_event(struct tracerpt *r, const EVENT_RECORD *e, struct strbuf *out);
void tracerpt_csv_head(struct strbuf *out);
void tracerpt_csv_event(struct tracerpt *r, const EVENT_RECORD *e, struct strbuf *out);
void tracerpt_finish(struct tracerpt *r);

/* ---- what both formats need ------------------------------------------------------------------- */

enum tracerpt_kind {
	TRACERPT_UNKNOWN, /* no description: payload as it is */
	TRACERPT_CLASSIC,
	TRACERPT_MANIFEST,
	TRACERPT_SELF_DESCRIBING,
	TRACERPT_MESSAGE, /* WPP */
	TRACERPT_STRING,
};
/* Asks TDH about the event. */
enum tracerpt_kind tracerpt_look(struct tracerpt *r, const EVENT_RECORD *e);
/* A text of r->info in UTF-8, without "win:" before it and the blank that ends names; nothing when there is none. */
void tracerpt_text(const struct tracerpt *r, ULONG offset, struct strbuf *out);
/* Ticks in milliseconds: each tick counts whole milliseconds only. */
uint64_t tracerpt_ms(const struct tracerpt *r, ULONG ticks);

struct tracerpt_value {
	const char *name;
	size_t name_bytes;
	unsigned depth;                                              /* structs around it */
	enum { TRACERPT_VALUE, TRACERPT_OPEN, TRACERPT_CLOSE } what; /* of a struct: begins, ends */
	const char *text;
	size_t text_bytes;
	bool is_text;      /* it was text in the payload */
	uint64_t filetime; /* of a point in time; else 0 */
};
typedef void tracerpt_value_fn(void *ctx, const struct tracerpt_value *v);
/* Every value of the payload in its order, arrays element by element. OPENETW_… */
uint32_t tracerpt_values(struct tracerpt *r, const EVENT_RECORD *e, tracerpt_value_fn *fn, void *ctx);

#endif
