/* SPDX-License-Identifier: MIT
 * report: stacks as files for other programs.
 */
#include "tools/openetw/report.h"

#include "tools/common/output.h"
#include "tools/export/stacks.h"

/* The rows' names are the stacks' lines. */
static bool take(struct stacks *s, const struct tally *rows)
{
	for (size_t i = 0; i < rows->used; i++) {
		const struct tally_row *r = &rows->row[i];
		stacks_weigh(s, stacks_line(s, STACKS_ROOT, r->name, strlen(r->name)), r->v[0]);
	}
	return !s->failed;
}

bool report_write_folded(const struct cli_args *a, const struct tally *stacks, const char *path)
{
	struct stacks s = {0};
	struct cli_output *o = take(&s, stacks) ? cli_output_open(a, path, true) : NULL;
	FILE *f = cli_output_file(o);
	bool ok = f && stacks_write_folded(&s, f);
	ok = o && cli_output_close(o, ok) == CLI_OK && ok;
	stacks_free(&s);
	return ok;
}

bool report_write_speedscope(const struct cli_args *a, const struct tally *stacks, const char *path, const char *name,
			     const char *unit)
{
	struct stacks s = {0};
	struct cli_output *o = take(&s, stacks) ? cli_output_open(a, path, true) : NULL;
	FILE *f = cli_output_file(o);
	bool ok = f && stacks_write_speedscope(&s, f, name, unit);
	ok = o && cli_output_close(o, ok) == CLI_OK && ok;
	stacks_free(&s);
	return ok;
}
