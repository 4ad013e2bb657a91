/* SPDX-License-Identifier: MIT
 * Sessions and processes that are asked for and are not there.
 */
#include "tools/common/session_options.h"
#include "tools/common/cli.h"

#include <stdlib.h>
#include <unistd.h>

struct running {
	EVENT_TRACE_PROPERTIES *list[64];
	struct cli_props *props;
	ULONG count;
};

static const char *running_name(const void *ctx, int i)
{
	const struct running *r = ctx;
	return (ULONG)i < r->count ? r->props[i].name : NULL;
}

int cli_fail_session(const struct cli_args *a, uint32_t code, const char *session, const char *fmt, ...)
{
	struct running r = {.props = calloc(BASE_ARRAY_LEN(r.list), sizeof *r.props)};
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(text, sizeof text, fmt, ap);
	va_end(ap);
	const char *near = NULL;
	for (size_t i = 0; r.props && i < BASE_ARRAY_LEN(r.list); i++) {
		cli_props_init(&r.props[i]);
		r.list[i] = &r.props[i].p;
	}
	if (r.props && code == ERROR_WMI_INSTANCE_NOT_FOUND &&
	    QueryAllTracesA(r.list, BASE_ARRAY_LEN(r.list), &r.count) == ERROR_SUCCESS) {
		near = cli_nearest(session, running_name, &r);
	}
	if (near && strcasecmp(near, session) == 0 && strncmp(text, "cannot watch", 12) == 0) {
		/* To consumers a session that writes a file only is none. */
		fprintf(stderr,
			"openetw %s: %s: it runs, but not for live consumers\n"
			"  'openetw start NAME -r' makes a session that can be watched, with or without a file\n",
			a->command->name, text);
	} else {
		cli_fail(a, code, "%s", text);
		if (near) {
			fprintf(stderr, "  did you mean '%s'?\n", near);
		}
	}
	free(r.props);
	return CLI_FAILED;
}

bool cli_process_exists(const struct cli_args *a, uint64_t pid)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%llu", (unsigned long long)pid);
	if (pid > 0 && access(path, F_OK) == 0) {
		return true;
	}
	fprintf(stderr, "openetw %s: there is no process %llu\n", a->command->name, (unsigned long long)pid);
	return false;
}
