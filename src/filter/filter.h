/* SPDX-License-Identifier: MIT
 *
 * filter: which events somebody wants. Front door.
 *
 * There is one language (filter_parse.h), and it is evaluated in two places.
 *
 *   text --parse--> tree --match----> yes or no          those who read: dump, live, report, …
 *                     |                                  They take all of the language.
 *                     +--compile----> plan --> bytes     sessions: etwd, and private sessions inside a process.
 *                     |                                  They take the part of it that can be evaluated without
 *                     |                                  a schema, in bounded time. The rest is refused, with
 *                     |                                  its column.
 *                     +--print------> text
 *
 *   filter_parse.c     text to tree; every node knows which bytes of the text it came from
 *   filter_lex.c       names, operators, values and regular expressions in the text
 *   filter_value.c     what values mean: units, times, levels
 *   filter_match.c     a tree against one event, whose fields the caller looks up, or of which only a part is known
 *   filter_print.c     a tree as text that means the same
 *   filter_complete.c  what may come next at a place in the text
 *   filter_compile.c   a tree as the filters of a session
 *
 * The bytes that sessions evaluate are those of Windows' EVENT_FILTER_DESCRIPTORs, beside two formats of our own:
 *
 *   filter_event_id.c  event ids and names, stacks; all filters of one enable, evaluated together
 *   filter_payload_*.c what is in the fields of manifest events, which the controller has described
 *   filter_named.c     what is in the fields of TraceLogging events, which describe themselves
 *
 * Bytes from elsewhere are checked once and then evaluated without allocating.
 */
#ifndef FILTER_FILTER_H
#define FILTER_FILTER_H

#include "filter/filter_compile.h"
#include "filter/filter_complete.h"
#include "filter/filter_event_id.h"
#include "filter/filter_named.h"
#include "filter/filter_parse.h"
#include "filter/filter_payload.h"

#endif
