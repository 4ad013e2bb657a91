/* SPDX-License-Identifier: MIT
 * The kernel's part of xperf's command lines.
 */
#include "cli/wpr/wpr.h"
#include "cli/xperf/xperf.h"

#include "saved/saved.h"

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

/* ---- -boottrace --------------------------------------------------------------------------------- */

static int boot_off(const struct cli_args *a, const char *path)
{
	if (cli_flag(a, "explain")) {
		printf("openetw autologger remove '%s'\n", XPERF_KERNEL);
		return CLI_OK;
	}
	if (unlink(path) < 0) {
		return cli_fail(a, win32_from_errno(-errno), errno == ENOENT ? "no recording from boot is set up (%s)"
									     : "cannot remove %s",
				path);
	}
	return CLI_OK;
}

/* The kernel's session as an autologger: it begins with etwd, and ends with -stop. */
int xperf_boot(struct xperf *x)
{
	struct cli_args *a = x->a;
	struct xperf_scope scope = x->scope[0];
	struct saved_session s;
	struct cli_kernel_wish wish;
	char path[4200], cwd[2000];
	bool system = wpr_boot_system();
	scope.on = cli_value(a, "boottrace", "");
	if (saved_path(SAVED_AUTOLOGGERS, system, XPERF_KERNEL, path, sizeof path) < 0) {
		return cli_fail(a, ERROR_PATH_NOT_FOUND, "there is no place for the files of autologgers");
	}
	if (strcasecmp(scope.on, "off") == 0) {
		return boot_off(a, path);
	}
	int status = xperf_kernel_wish(a, &scope, &wish);
	if (status != CLI_OK) {
		return status;
	}
	saved_init(&s);
	snprintf(s.name, sizeof s.name, "%s", XPERF_KERNEL);
	s.start = 1;
	s.buffer_kb = (uint32_t)scope.buffer_kb;
	s.minimum_buffers = (uint32_t)scope.min;
	s.maximum_buffers = (uint32_t)scope.max;
	s.maximum_file_size = (uint32_t)scope.max_file;
	bool circular = scope.file_mode && strcasecmp(scope.file_mode, "Circular") == 0;
	s.mode = circular ? EVENT_TRACE_FILE_MODE_CIRCULAR : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	if (scope.file) {
		bool whole = scope.file[0] == '/' || !getcwd(cwd, sizeof cwd);
		snprintf(s.file, sizeof s.file, "%s%s%.2000s", whole ? "" : cwd, whole ? "" : "/", scope.file);
	}
	memcpy(s.kernel_mask, wish.mask.word, sizeof s.kernel_mask);
	s.kernel_stacks = BASE_MIN(wish.stacks, SAVED_STACKS_MAX);
	memcpy(s.kernel_stack, wish.stack, s.kernel_stacks * sizeof s.kernel_stack[0]);
	if (cli_flag(a, "explain")) {
		printf("# the autologger %s:\n", path);
		struct strbuf b = {0};
		saved_format(&s, &b);
		fputs(b.failed ? "" : b.s, stdout);
		strbuf_finish(&b);
	} else {
		int r = saved_write(path, &s);
		if (r < 0) {
			status = cli_fail(a, win32_from_errno(r), "cannot write %s", path);
		} else {
			wpr_boot_tell("xperf -boottrace");
			fprintf(stderr, "'xperf -stop -d FILE' ends it, 'xperf -boottrace off' keeps it from beginning again.\n");
		}
	}
	saved_finish(&s);
	return status;
}
