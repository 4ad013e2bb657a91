/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_option.h"

#include "tools/common/filter_option.h"
#include "tools/common/table.h"

#include <stdlib.h>

const char *table_options_given(const struct table_options *o)
{
	return o->group_by        ? "group-by"
	       : o->columns       ? "columns"
	       : o->sort          ? "sort"
	       : o->ascending     ? "ascending"
	       : o->process.count ? "process"
	       : o->thread.count  ? "thread"
	       : o->from.given    ? "from"
	       : o->to.given      ? "to"
				  : NULL;
}

/* In ns from the start of the trace. `last`: what is left of the 100 ns of a FILETIME is in it. */
static int64_t time_of(const struct table_set *s, const struct cli_time *t, bool last)
{
	int64_t since = (int64_t)(t->relative ? t->time : t->time - table_set_start(s));
	return since > INT64_MAX / 200 || since < INT64_MIN / 200 ? (since < 0 ? INT64_MIN : INT64_MAX)
								  : since * 100 + (last ? 99 : 0);
}

static bool take_processes(const struct table_options *o, const struct cli_numbers *pids, struct table_question *ret)
{
	int n = 0, count = o->process.count + (pids ? pids->count : 0);
	char *text;
	ret->process = calloc((size_t)count + 1, sizeof *ret->process + 24);
	text = (char *)(ret->process + count + 1);
	if (!ret->process) {
		return false;
	}
	for (int i = 0; i < o->process.count; i++) {
		ret->process[n++] = o->process.text[i];
	}
	for (int i = 0; pids && i < pids->count; i++, text += 24) {
		snprintf(text, 24, "%llu", (unsigned long long)pids->number[i]);
		ret->process[n++] = text;
	}
	ret->ask.process_count = n;
	ret->ask.process = ret->process;
	return true;
}

int table_question_make(const struct cli_args *a, struct table_set *s, const struct table_options *o,
			const char *filter, const struct cli_numbers *pids, uint64_t top, struct table_question *ret)
{
	char why[600];
	*ret = (struct table_question){.ask = {.table = o->table,
					       .group_by = o->group_by,
					       .columns = o->columns,
					       .sort = o->sort,
					       .ascending = o->ascending,
					       .top = top,
					       .from = INT64_MIN,
					       .to = INT64_MAX,
					       .thread_count = o->thread.count,
					       .thread = o->thread.text}};
	if (o->from.given) {
		ret->ask.from = time_of(s, &o->from, false);
	}
	if (o->to.given) {
		ret->ask.to = time_of(s, &o->to, true);
	}
	if (ret->ask.from > ret->ask.to) {
		return cli_usage(a, "--to lies before --from");
	}
	if (!take_processes(o, pids, ret)) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot ask the table");
	}
	if (!filter) {
		return CLI_OK;
	}
	ret->names = table_filter_names(s, o->table, why, sizeof why);
	if (!ret->names) {
		return cli_tell(a, "%s", why);
	}
	if (!cli_filter_expr(a, filter, ret->names, &ret->filter)) {
		return CLI_USAGE;
	}
	filter_expr_set_start(ret->filter, table_set_start(s), 0);
	ret->ask.filter = ret->filter;
	return CLI_OK;
}

void table_question_finish(struct table_question *q)
{
	filter_expr_destroy(q->filter);
	free(q->names);
	free(q->process);
}

int table_question_end(const struct cli_args *a, const struct table_question *q, int status)
{
	if (q->filter && filter_expr_given_up(q->filter)) {
		fprintf(stderr, "openetw %s: ", a->command->name);
		cli_filter_given_up(q->filter);
		return CLI_FAILED;
	}
	return status;
}

void table_list(FILE *f, bool json)
{
	static const struct table_column columns[] = {{"TABLE"}, {"GROUP BY"}, {"COLUMNS"}};
	struct table *t = json ? NULL : table_create(columns, BASE_ARRAY_LEN(columns), 0);
	for (const char *const *name = table_set_names(); *name; name++) {
		const char *group_by, *shown;
		table_defaults(*name, &group_by, &shown);
		if (json) {
			fprintf(f, "{\"table\":\"%s\",\"groupBy\":\"%s\",\"columns\":\"%s\"}\n", *name, group_by,
				shown);
		} else {
			table_cell(t, "%s", *name);
			table_cell(t, "%s", group_by[0] ? group_by : "-");
			table_cell(t, "%s", shown[0] ? shown : "all, of each row");
		}
	}
	if (!json) {
		table_print(f, t);
	}
}
