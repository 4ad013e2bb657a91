/* SPDX-License-Identifier: MIT
 *
 * CSV of "openetw dump": one event, or the values of --fields, in a line.
 */
#ifndef TOOLS_COMMON_CSV_H
#define TOOLS_COMMON_CSV_H

#include "base/base.h"

#include <openetw/decode.h>
#include <openetw/state.h>
#include <windows.h>
#include <evntcons.h>

/* One value, made printable, in quotes where a comma or a quote would be misread. */
void csv_add(struct strbuf *b, const char *s, size_t n);

/* The line with the names of the columns, and the line of an event; `fields` is its payload as JSON. */
void csv_add_event_head(struct strbuf *b);
void csv_add_event(struct strbuf *b, const EVENT_RECORD *e, const struct openetw_event_origin *o, const char *time,
		   const char *provider, const char *event, const struct openetw_text *fields);

#endif
