/* SPDX-License-Identifier: MIT
 *
 * tracerpt -export: what is known of the events that occur, as an instrumentation manifest.
 */
#ifndef TOOLS_CLASSIC_TRACERPT_EXPORT_H
#define TOOLS_CLASSIC_TRACERPT_EXPORT_H

#include "tools/common/cli.h"

struct tracerpt_export;

struct tracerpt_export *tracerpt_export_create(void); /* NULL: no memory */
void tracerpt_export_destroy(struct tracerpt_export *x);
/* Remembers the kind of an event. Kinds that no manifest can describe are counted. */
void tracerpt_export_event(struct tracerpt_export *x, const EVENT_RECORD *e);
/* Writes the manifest. Says on stderr which kinds of events are not in it. False: no memory. */
bool tracerpt_export_write(struct tracerpt_export *x, const struct cli_args *a, FILE *f);

#endif
