/* SPDX-License-Identifier: MIT
 * The kernel's part of xperf's command lines.
 */
#include "cli/xperf.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* "@FILE" is a list, one event a line. */
static bool parse_stacks(const struct cli_args *a, const char *text, struct cli_kernel_wish *w)
{
	char line[256];
	if (*text != '@') {
		return cli_kernel_stacks(a, text, w);
	}
	FILE *f = fopen(text + 1, "re");
	bool ok = f != NULL;
	if (!f) {
		cli_usage(a, "cannot read %s: %s", text + 1, strerror(errno));
	}
	while (ok && fgets(line, sizeof line, f)) {
		line[strcspn(line, " \t\r\n#;")] = 0;
		ok = cli_kernel_stacks(a, line, w);
	}
	if (f) {
		fclose(f);
	}
	return ok;
}

int xperf_kernel_wish(const struct cli_args *a, const struct xperf_scope *s, struct cli_kernel_wish *ret)
{
	*ret = (struct cli_kernel_wish){0};
	int status = cli_kernel_flags(a, s->on, cli_flag(a, "partial"), ret);
	if (status == CLI_OK && ((s->stack && !parse_stacks(a, s->stack, ret)) ||
				 !cli_kernel_pids(a, s->pids ? s->pids : "", ret))) {
		status = CLI_USAGE;
	}
	return status;
}
