/* SPDX-License-Identifier: MIT
 * report --table: one table, grouped and counted as the command line says.
 */
#ifndef TOOLS_OPENETW_REPORT_TABLE_H
#define TOOLS_OPENETW_REPORT_TABLE_H

#include "tools/openetw/report.h"

/* Returns the exit status. */
int report_table(const struct cli_args *a, const struct report_options *o);

#endif
