/* SPDX-License-Identifier: MIT
 *
 * What the recorder of kernel events says that it did not keep or read, event 2 of OpenETW.Losses: no event is
 * missing, but something has no name, or no callers.
 */
#ifndef TOOLS_COMMON_SHORTAGE_H
#define TOOLS_COMMON_SHORTAGE_H

#include "tools/common/cli.h"

#define CLI_SHORTAGES_MAX 16u

struct cli_shortages {
	struct {
		uint64_t count;
		char what[160];
	} list[CLI_SHORTAGES_MAX];
	uint32_t n;
};
/* False: it is another event. */
bool cli_shortage_take(struct cli_shortages *s, const EVENT_RECORD *e);
/* A line each. */
void cli_shortage_print(FILE *f, const struct cli_shortages *s);
/* Members what and count, between the caller's begin and end of an object. */
void cli_shortage_json(FILE *f, const struct cli_shortages *s, const char *begin, const char *end);

#endif
