/* SPDX-License-Identifier: MIT
 * Names of the running kernel's functions.
 */
#ifndef TOOLS_TABLES_KALLSYMS_H
#define TOOLS_TABLES_KALLSYMS_H

#include "tools/common/cli.h"

struct cli_kallsyms;
/* NULL when the trace is of another boot (or machine), or the names are not for this user. */
struct cli_kallsyms *cli_kallsyms_load(uint64_t trace_boot_filetime);
/* The function an address of the kernel lies in, or NULL. `k` may be NULL. */
const char *cli_kallsyms_name(const struct cli_kallsyms *k, uint64_t address);
void cli_kallsyms_free(struct cli_kallsyms *k);

#endif
