/* SPDX-License-Identifier: MIT */
#ifndef CLI_PAYLOAD_H
#define CLI_PAYLOAD_H

#include "cli/cli.h"

/* What --payload says, for events of that provider. Prints the mistake. */
bool cli_payload_filters(const struct cli_args *a, const GUID *g, struct cli_filters *f);

#endif
