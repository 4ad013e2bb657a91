/* SPDX-License-Identifier: MIT
 * export: what was written and what was not, on stderr.
 */
#ifndef TOOLS_OPENETW_EXPORT_SUMMARY_H
#define TOOLS_OPENETW_EXPORT_SUMMARY_H

#include "tools/common/trace_reading.h"
#include "tools/export/export.h"

struct export_counts {
	uint64_t in_trace, selected, undecoded;
	bool decoded; /* the export read payloads; else `undecoded` says nothing */
};
/* `x` has what was written. `loss`: what was lost when the files were recorded. */
void export_summary(const struct export *x, const struct export_counts *n, const struct cli_trace *loss);

#endif
