/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_COMMON_PAYLOAD_FILTER_H
#define TOOLS_COMMON_PAYLOAD_FILTER_H

#include "tools/common/session_options.h"

/* What --payload says, for events of that provider. Prints the mistake. */
bool cli_payload_filters(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
			 struct cli_filters *f);

#endif
