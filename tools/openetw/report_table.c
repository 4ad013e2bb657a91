/* SPDX-License-Identifier: MIT */
#include "tools/openetw/report_table.h"

#include "tools/tables/table_show.h"

#define SHOWN 15 /* rows for people; programs get all */

static int answer(const struct cli_args *a, const struct report_options *o, struct table_set *s)
{
	enum table_form form = o->csv ? TABLE_FORM_CSV : o->json ? TABLE_FORM_JSON : TABLE_FORM_TEXT;
	uint64_t top = o->top ? o->top : form == TABLE_FORM_TEXT ? SHOWN : 0;
	struct table_question q;
	char why[600];
	int status = table_question_make(a, s, &o->tables, o->filter, &o->pid, top, &q);
	struct table_answer *r = status == CLI_OK ? table_ask(s, &q.ask, why, sizeof why) : NULL;
	if (status == CLI_OK && !r) {
		status = cli_tell(a, "%s", why);
	} else if (status == CLI_OK && !table_show(stdout, r, form)) {
		status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot print the table");
	}
	status = status == CLI_OK ? table_question_end(a, &q, status) : status;
	table_answer_free(r);
	table_question_finish(&q);
	return status;
}

int report_table(const struct cli_args *a, const struct report_options *o)
{
	if (o->csv && o->json) {
		return cli_usage(a, "--csv and --json contradict each other");
	}
	if (strcmp(o->tables.table, "list") == 0) {
		table_list(stdout, o->json);
		return CLI_OK;
	}
	if (a->count == 0) {
		return cli_usage(a, "which file?");
	}
	cli_signals_catch();
	struct table_set *s = table_set_open(a, a->count, a->words);
	int status = s ? answer(a, o, s) : CLI_FAILED;
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	cli_signals_restore();
	table_set_close(s);
	return status;
}
