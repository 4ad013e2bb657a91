/* SPDX-License-Identifier: MIT
 *
 * One event as wevtutil shows it: a tree of XML for queries, a line of XML, or text.
 */
#ifndef TOOLS_CLASSIC_WEVTUTIL_RENDER_H
#define TOOLS_CLASSIC_WEVTUTIL_RENDER_H

#include "tools/common/event_xml.h"
#include "xml/xml.h"

struct wevtutil_event {
	struct xml_doc doc;
	/* What the schema says; "" when it does not. UTF-8. */
	char *message; /* with its inserts; malloc'd, may be NULL */
	char level[128], task[256], opcode[256], channel[256], keywords[512];
};
struct openetw_decoder;
/* 0, or -errno with nothing to finish. */
int wevtutil_event_read(struct openetw_decoder *decoder, const EVENT_RECORD *e, struct wevtutil_event *ret);
/* The event's <UserData>, when its installed manifest has a template for it. */
bool wevtutil_user_data(const EVENT_RECORD *e, const struct xml_node *event, struct strbuf *out);
void wevtutil_event_finish(struct wevtutil_event *v);
/* One line; `rendered` adds what the numbers mean. */
void wevtutil_event_xml(const struct wevtutil_event *v, bool rendered, struct strbuf *out);
void wevtutil_event_text(const struct wevtutil_event *v, uint64_t index, struct strbuf *out);

#endif
