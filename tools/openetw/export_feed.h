/* SPDX-License-Identifier: MIT
 *
 * Events for exporters, read from files as dump reads them: the same selection, order, names, stacks and decoding.
 * Exporters see struct export_event (tools/export/export.h) and nothing of this; whoever fills that structure from an
 * index instead replaces this file.
 */
#ifndef TOOLS_OPENETW_EXPORT_FEED_H
#define TOOLS_OPENETW_EXPORT_FEED_H

#include "tools/common/select.h"
#include "tools/common/trace_reading.h"
#include "tools/export/export.h"

struct export_feed;
/* `x` has kind and options, and gets `trace` and `state`. NULL: said why. */
struct export_feed *export_feed_create(const struct cli_args *a, struct export *x, struct cli_select *select);
/* Opens the files, and says what they are. False: said why. */
bool export_feed_open(struct export_feed *f);
/* Every record goes through the kind's learn(). CLI_OK, or an exit status, and said why. */
int export_feed_learn(struct export_feed *f);
/* Every event that is selected goes to the kind. The same. */
int export_feed_run(struct export_feed *f);
void export_feed_destroy(struct export_feed *f);

uint64_t export_feed_selected(const struct export_feed *f);
/* Of these, such as could not be decoded, or not wholly; with EXPORT_FIELDS. */
uint64_t export_feed_undecoded(const struct export_feed *f);
const struct cli_trace *export_feed_trace(const struct export_feed *f);

#endif
