/* SPDX-License-Identifier: MIT
 *
 * Events in the XML of Windows' event schema: tabs, CRLF. tracerpt's differs: tools/classic/tracerpt_xml.c.
 */
#ifndef TOOLS_COMMON_EVENT_XML_H
#define TOOLS_COMMON_EVENT_XML_H

#include "tools/common/cli.h"

struct openetw_decoder;

struct cli_xml {
	struct openetw_decoder *decoder;
	void *info;          /* TRACE_EVENT_INFO of the last event; owned */
	uint32_t info_bytes; /* of the memory */
	uint32_t info_used;
	bool utc, raw_time;
};
void cli_xml_event(struct cli_xml *x, const EVENT_RECORD *e, struct strbuf *out);
void cli_xml_finish(struct cli_xml *x);
/* The end of its <Correlation> and the beginning of its <Execution>. */
void cli_xml_origin(struct strbuf *b, const EVENT_RECORD *e);
/* A WPP message: what its format says about it, and its text, as `add` writes text. False: it is none, or unknown. */
typedef void cli_xml_text(struct strbuf *b, const char *s, size_t n);
bool cli_xml_debug_data(struct openetw_decoder *decoder, const EVENT_RECORD *e, cli_xml_text *add, struct strbuf *b);
/* xml_escape() as the value of an attribute, in single quotes. */
void cli_xml_value(struct strbuf *b, const char *s);

#endif
