/* SPDX-License-Identifier: MIT */
#include "tools/classic/explain_line.h"

#include "tools/common/session_control.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int cli_same(const char *verb, ...)
{
	va_list ap;
	va_start(ap, verb);
	printf("openetw %s", verb);
	for (const char *s; (s = va_arg(ap, const char *)) != NULL;) {
		putchar(' ');
		cli_quote(stdout, s);
	}
	va_end(ap);
	putchar('\n');
	return CLI_OK;
}

int cli_same_none(const char *why)
{
	printf("# %s\n", why);
	return CLI_OK;
}

int cli_same_enable(const char *session, const char *providers, bool capture)
{
	while (*providers) {
		char one[600];
		size_t n = strcspn(providers, "+");
		snprintf(one, sizeof one, "%.*s", (int)n, providers);
		if (capture) {
			cli_same("enable", session, "--capture-state", one, NULL);
		} else {
			cli_same("enable", session, one, NULL);
		}
		providers += n + (providers[n] == '+');
	}
	return CLI_OK;
}

int cli_same_stop_all(void)
{
	enum { MOST = 1024 };
	struct cli_props *all = calloc(MOST, sizeof *all);
	EVENT_TRACE_PROPERTIES **each = calloc(MOST, sizeof *each);
	ULONG count = 0;
	for (int i = 0; all && each && i < MOST; i++) {
		cli_props_init(&all[i]);
		each[i] = &all[i].p;
	}
	if (all && each && QueryAllTracesA(each, MOST, &count) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < count; i++) {
			cli_same("stop", all[i].name, NULL);
		}
	}
	free(each);
	free(all);
	return count > 0 ? CLI_OK : cli_same_none("no session is running");
}
