/* SPDX-License-Identifier: MIT
 * diff: the same table of two traces, group by group; and whether the second one is worse than is allowed.
 */
#include "base/map.h"
#include "tools/openetw/diff.h"
#include "tools/openetw/diff_noise.h"
#include "tools/tables/table_show.h"

#include <math.h>
#include <stdlib.h>

#define SHOWN  15
#define CHANCE 0.01
enum { DIFF_WORSE = 1, DIFF_ERROR = 2 };

static const struct cli_option options[] = {
	TABLE_OPTIONS(diff_options, tables),
	CLI_WORD(diff_options, filter, 'F', "filter", "EXPR",
		 "only rows for which EXPR is true, by the names of the table's columns"),
	CLI_TIME(diff_options, new_from, 0, "new-from",
		 "of NEW from this time on; --from and --to are of BASE then (compares times of one trace, given "
		 "twice)"),
	CLI_TIME(diff_options, new_to, 0, "new-to", "of NEW up to this time; --from and --to are of BASE then"),
	CLI_WORDS(diff_options, fail_if, 0, "fail-if", "EXPR",
		  "the exit status is 1 when EXPR is true of a group: 'p99(duration) > 1.2 * base', 'count > 100' "
		  "(repeatable)"),
	CLI_WORDS(diff_options, base, 0, "base", "FILE", "another run of BASE, for what is noise (repeatable)"),
	CLI_WORDS(diff_options, new, 0, "new", "FILE", "another run of NEW (repeatable)"),
	CLI_WORD(diff_options, chance, 0, "chance", "P",
		 "a difference is beyond noise when chance alone makes one so great in at most P of all cases "
		 "(default 0.01)"),
	CLI_NUMBER(diff_options, top, 'n', "top", "N", 1, UINT64_MAX,
		   "groups that are shown, those that differ most first (default 15; with --json or --csv all)"),
	CLI_FLAG(diff_options, json, 'j', "json", "a JSON object for each group and column, one a line"),
	CLI_FLAG(diff_options, csv, 0, "csv", "CSV with a line of names"),
	{0},
};

/* ---- the question --------------------------------------------------------------------------------- */

/* Numbers of processes, threads and addresses are others in every trace. */
static bool is_lasting(const char *column)
{
	static const char *const passing[] = {"pid", "process", "tid", "thread", "stack", "address", NULL};
	for (const char *const *p = passing; *p; p++) {
		if (strcasecmp(*p, column) == 0) {
			return false;
		}
	}
	return true;
}

static void default_group(struct diff *d, const char *group_by)
{
	char word[160];
	struct strbuf b = {0};
	while (*group_by) {
		size_t n = strcspn(group_by, ",");
		snprintf(word, sizeof word, "%.*s", (int)n, group_by);
		group_by += n + (group_by[n] == ',');
		if (is_lasting(word)) {
			strbuf_addf(&b, "%s%s", b.len ? "," : "", word);
		}
	}
	snprintf(d->group_by, sizeof d->group_by, "%s", b.s ? b.s : "");
	strbuf_finish(&b);
}

/* A table's own columns, and those that rules ask for. */
static bool choose_columns(struct diff *d, const char *columns)
{
	struct strbuf b = {0};
	strbuf_adds(&b, columns);
	for (int i = 0; i < d->rules; i++) {
		const char *want = d->rule[i].aggregate, *at = b.s ? strcasestr(b.s, want) : NULL;
		size_t n = strlen(want);
		bool there = at && (at == b.s || at[-1] == ',') && (at[n] == 0 || at[n] == ',');
		if (!there) {
			strbuf_addf(&b, "%s%s", b.len ? "," : "", want);
		}
	}
	bool ok = !b.failed && b.len < sizeof d->columns;
	snprintf(d->columns, sizeof d->columns, "%s", b.s ? b.s : "");
	strbuf_finish(&b);
	return ok;
}

struct table_answer *diff_ask(struct diff *d, int which, struct table_set *s, const char *file, const char *table,
			      uint32_t slices)
{
	struct table_options t = d->o->tables;
	struct table_question q;
	char why[600];
	t.table = table;
	t.sort = NULL;
	t.group_by = t.group_by ? t.group_by : d->group_by;
	t.columns = d->columns;
	if (which == 1 && (d->o->new_from.given || d->o->new_to.given)) {
		t.from = d->o->new_from;
		t.to = d->o->new_to;
	}
	bool ok = table_question_make(d->args, s, &t, d->o->filter, NULL, 0, &q) == CLI_OK;
	if (slices) {
		table_set_range(s, &q.ask.slice_from, &q.ask.slice_to);
		q.ask.slice_from = BASE_MAX(q.ask.slice_from, q.ask.from);
		q.ask.slice_to = BASE_MIN(q.ask.slice_to, q.ask.to);
		q.ask.slices = slices;
	}
	struct table_answer *r = ok ? table_ask(s, &q.ask, why, sizeof why) : NULL;
	if (ok && !r) {
		cli_tell(d->args, "%s: %s", file, why);
	}
	if (r && table_question_end(d->args, &q, CLI_OK) != CLI_OK) {
		table_answer_free(r);
		r = NULL;
	}
	if (r) {
		r->table = table;
	}
	table_question_finish(&q);
	return r;
}

static bool ask_both(struct diff *d, const char *table)
{
	const char *group_by, *columns;
	table_defaults(table, &group_by, &columns);
	default_group(d, group_by);
	columns = d->o->tables.columns ? d->o->tables.columns : columns[0] ? columns : "count(*)";
	if (!choose_columns(d, columns)) {
		cli_tell(d->args, "too many columns");
		return false;
	}
	for (int i = 0; i < 2; i++) {
		table_answer_free(d->answer[i]);
		d->answer[i] = diff_ask(d, i, d->set[i], d->args->words[i], table, 0);
		if (!d->answer[i]) {
			return false;
		}
	}
	return true;
}

static int column_named(const struct table_answer *r, const char *name)
{
	for (uint32_t i = 0; i < r->columns; i++) {
		if (strcasecmp(r->column[i].name, name) == 0 ||
		    (strcasecmp(name, "count(*)") == 0 && strcmp(r->column[i].name, "count") == 0)) {
			return (int)i;
		}
	}
	return -1;
}

static bool find_columns(struct diff *d)
{
	const struct table_answer *r = d->answer[0];
	d->keys = 0;
	while (d->keys < r->columns && r->column[d->keys].key) {
		d->keys++;
	}
	int sort = d->o->tables.sort ? column_named(r, d->o->tables.sort) : (int)d->keys;
	if (sort < (int)d->keys || sort >= (int)r->columns) {
		cli_tell(d->args, "--sort takes a column that is no group, and '%s' is none",
			 d->o->tables.sort ? d->o->tables.sort : "");
		return false;
	}
	d->sort = (uint32_t)sort;
	for (int i = 0; i < d->rules; i++) {
		int column = column_named(r, d->rule[i].aggregate);
		if (column < (int)d->keys) {
			cli_tell(d->args, "--fail-if '%s': %s is a group", d->rule[i].text, d->rule[i].aggregate);
			return false;
		}
		d->rule[i].column = (uint32_t)column;
	}
	return true;
}

/* ---- pairs ---------------------------------------------------------------------------------------- */

void diff_key(const struct table_answer *r, uint64_t row, uint32_t keys, struct strbuf *out)
{
	strbuf_clear(out);
	for (uint32_t i = 0; i < keys; i++) {
		const struct table_value *v = table_answer_cell(r, row, i);
		strbuf_addf(out, "%c", 'a' + (char)(v->kind == TABLE_NULL));
		table_value_text(v, false, out);
		strbuf_addc(out, '\x1f');
	}
}

/* NAN: the value is no number. */
static double as_double(const struct table_value *v)
{
	switch (v->kind) {
	case TABLE_FLOAT: return v->f;
	case TABLE_UNSIGNED: return (double)v->u;
	case TABLE_INTEGER: return (double)v->i;
	default: return NAN;
	}
}

const struct table_value *diff_key_cell(const struct diff *d, const struct pair *p, uint32_t i)
{
	int which = p->row[0] == NO_ROW;
	return table_answer_cell(d->answer[which], p->row[which], i);
}

/* Of several runs the median. */
struct table_value diff_cell(const struct diff *d, const struct pair *p, int which, uint32_t column)
{
	struct table_value none = {.kind = TABLE_NULL};
	if (p->row[which] == NO_ROW) {
		return none;
	}
	struct table_value v = *table_answer_cell(d->answer[which], p->row[which], column);
	double typical = d->cell && column >= d->keys ? diff_noise_of(d, p, column)->typical[which] : NAN;
	if (!isnan(typical) && v.kind == TABLE_INTEGER && fabs(typical) < 9e15) {
		v.i = (int64_t)llround(typical);
	} else if (!isnan(typical)) {
		v = (struct table_value){.kind = TABLE_FLOAT, .f = typical};
	}
	return v;
}

/* False: there is none, or it is NaN, which cannot be compared. */
bool diff_number(const struct diff *d, int which, const struct pair *p, uint32_t column, double *ret)
{
	struct table_value v = diff_cell(d, p, which, column);
	*ret = as_double(&v);
	return !isnan(*ret);
}

static int by_change(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return x->change > y->change    ? -1
	       : x->change < y->change  ? 1
	       : x->row[0] != y->row[0] ? (x->row[0] < y->row[0] ? -1 : 1)
					: (x->row[1] < y->row[1] ? -1 : x->row[1] > y->row[1]);
}

static bool make_pairs(struct diff *d)
{
	const struct table_answer *base = d->answer[0], *now = d->answer[1];
	struct map of = {0};
	struct strbuf key = {0}, other = {0};
	free(d->pair);
	free(d->cell);
	d->cell = NULL;
	d->pair = calloc(base->rows + now->rows + 1, sizeof *d->pair);
	d->pairs = 0;
	bool ok = d->pair != NULL;
	for (uint64_t i = 0; ok && i < base->rows; i++) {
		diff_key(base, i, d->keys, &key);
		d->pair[d->pairs++] = (struct pair){.row = {i, NO_ROW}};
		ok = !key.failed && map_add(&of, map_hash(&of, key.s ? key.s : "", key.len), i) == 0;
	}
	for (uint64_t i = 0; ok && i < now->rows; i++) {
		uint64_t pair = NO_ROW;
		diff_key(now, i, d->keys, &key);
		MAP_EACH(&of, map_hash(&of, key.s ? key.s : "", key.len), at) {
			diff_key(base, map_value(&of, at), d->keys, &other);
			if (other.len == key.len && memcmp(other.s ? other.s : "", key.s ? key.s : "", key.len) == 0) {
				pair = map_value(&of, at);
				break;
			}
		}
		if (pair == NO_ROW) {
			d->pair[d->pairs++] = (struct pair){.row = {NO_ROW, i}};
		} else {
			d->pair[pair].row[1] = i;
		}
		ok = !key.failed && !other.failed;
	}
	for (uint64_t i = 0; ok && i < d->pairs; i++) {
		double a = 0, b = 0;
		a = diff_number(d, 0, &d->pair[i], d->sort, &a) ? a : 0;
		b = diff_number(d, 1, &d->pair[i], d->sort, &b) ? b : 0;
		double change = fabs(b - a);
		d->pair[i].change = isnan(change) ? 0 : change; /* both are the same infinity */
	}
	if (ok) {
		qsort(d->pair, d->pairs, sizeof *d->pair, by_change);
	} else {
		cli_fail(d->args, ERROR_NOT_ENOUGH_MEMORY, "cannot compare the tables");
	}
	map_free(&of);
	strbuf_finish(&key);
	strbuf_finish(&other);
	return ok;
}

/* ---- rules ---------------------------------------------------------------------------------------- */

/* "io: read: max(duration) ms is 180.265, base 35.601" */
static void name_value(const struct diff *d, const struct pair *p, uint32_t column, struct strbuf *out)
{
	const struct table_answer *r = d->answer[0];
	char name[170];
	struct table_value v[2] = {diff_cell(d, p, 0, column), diff_cell(d, p, 1, column)};
	strbuf_clear(out);
	strbuf_addf(out, "%s: ", r->table);
	for (uint32_t j = 0; j < d->keys; j++) {
		strbuf_adds(out, j ? ", " : "");
		table_value_text(diff_key_cell(d, p, j), r->column[j].truth, out);
	}
	table_show_heading(&r->column[column], name, sizeof name);
	strbuf_addf(out, "%s: %s is ", d->keys ? "" : "all", name);
	table_show_value(&r->column[column], &v[1], out);
	strbuf_adds(out, ", base ");
	table_show_value(&r->column[column], &v[0], out);
}

static bool is_nan(const struct diff *d, const struct pair *p, int which, uint32_t column)
{
	struct table_value v = diff_cell(d, p, which, column);
	return v.kind == TABLE_FLOAT && isnan(v.f);
}

static void judge_group(struct diff *d, int k, const struct pair *p, struct strbuf *text)
{
	const struct diff_rule *rule = &d->rule[k];
	double now, base = 0;
	bool known = diff_number(d, 1, p, rule->column, &now) &&
		     (diff_number(d, 0, p, rule->column, &base) || !rule->of_base);
	/* Nothing is above or below NaN: no rule would be true of it. 0 * base is NaN, too, of an infinite base. */
	bool nan = is_nan(d, p, 1, rule->column) || (rule->of_base && is_nan(d, p, 0, rule->column)) ||
		   (known && rule->of_base && isnan(rule->number * base));
	if (nan) {
		d->not_judged = true;
		name_value(d, p, rule->column, text);
		cli_tell(d->args, "%s: --fail-if '%s' cannot be judged by what is not a number", text->s ? text->s : "",
			 rule->text);
		d->judged[k]++; /* that it is about nothing is not true */
		return;
	}
	enum diff_noise_word noise = known ? diff_noise_of(d, p, rule->column)->word : DIFF_NOISE_UNKNOWN;
	if (known && rule->beyond && noise == DIFF_NOISE_UNKNOWN) {
		d->unknown[k]++;
		return;
	}
	known = known && (!rule->beyond || noise == DIFF_NOISE_BEYOND || ++d->judged[k] == 0);
	d->judged[k] += known;
	if (known && diff_rule_is_true(rule, now, base)) {
		d->worse = true;
		name_value(d, p, rule->column, text);
		cli_tell(d->args, "%s: --fail-if '%s'", text->s ? text->s : "", rule->text);
	}
}

static void judge(struct diff *d)
{
	struct strbuf text = {0};
	for (uint64_t i = 0; i < d->pairs; i++) {
		for (int k = 0; k < d->rules; k++) {
			judge_group(d, k, &d->pair[i], &text);
		}
	}
	for (int k = 0; k < d->rules; k++) {
		if (d->unknown[k]) {
			d->not_judged = d->not_judged || d->judged[k] == 0;
			cli_tell(d->args,
				 "--fail-if '%s': of %llu group%s nobody knows what is noise, and none of them was "
				 "judged",
				 d->rule[k].text, (unsigned long long)d->unknown[k], PLURAL(d->unknown[k]));
		} else if (d->judged[k] == 0) {
			d->not_judged = true;
			cli_tell(d->args, "--fail-if '%s' is about nothing: no group has these values",
				 d->rule[k].text);
		}
	}
	strbuf_finish(&text);
}

/* ---- the verb ------------------------------------------------------------------------------------- */

static bool compare(struct diff *d, const char *table)
{
	if (!ask_both(d, table) || !find_columns(d) || !make_pairs(d) || !diff_spread(d, table)) {
		return false;
	}
	bool lines = d->o->json || d->o->csv;
	uint64_t top = d->o->top ? d->o->top : lines ? d->pairs : SHOWN;
	top = BASE_MIN(top, d->pairs);
	if (!(lines ? diff_show_lines(d, top) : diff_show_text(d, top))) {
		cli_fail(d->args, ERROR_NOT_ENOUGH_MEMORY, "cannot print the table");
		return false;
	}
	fflush(stdout);
	judge(d);
	return true;
}

/* Every table that has a group, and rows in one of the traces. */
static bool compare_all(struct diff *d)
{
	for (const char *const *table = table_set_names(); *table; table++) {
		const char *group_by, *columns;
		char why[600];
		table_defaults(*table, &group_by, &columns);
		if (!group_by[0]) {
			continue;
		}
		uint64_t rows = 0;
		for (int i = 0; i < 2; i++) {
			const struct table_view *v = table_set_get(d->set[i], *table, why, sizeof why);
			if (!v) {
				cli_tell(d->args, "%s: %s", d->args->words[i], why);
				return false;
			}
			rows += table_view_rows(v);
		}
		if (rows == 0) {
			continue;
		}
		if (!d->o->json) {
			printf("\n%s\n", *table);
		}
		if (!compare(d, *table)) {
			return false;
		}
	}
	return true;
}

/* --base and --new, and --chance. */
static bool take_runs(struct diff *d)
{
	const struct cli_words *more[2] = {&d->o->base, &d->o->new};
	char *end = NULL;
	d->chance = d->o->chance ? strtod(d->o->chance, &end) : CHANCE;
	if (!(d->chance > 0 && d->chance < 1) || (end && (*end || end == d->o->chance))) {
		cli_usage(d->args, "--chance takes a part of 1, such as 0.05");
		return false;
	}
	for (int i = 0; i < 2; i++) {
		if ((unsigned)more[i]->count >= DIFF_NOISE_MOST) {
			cli_usage(d->args, "at most %u runs of each", DIFF_NOISE_MOST);
			return false;
		}
	}
	return true;
}

static bool open_runs(struct diff *d)
{
	const struct cli_words *more[2] = {&d->o->base, &d->o->new};
	for (int i = 0; i < 2; i++) {
		d->run[i] = calloc((size_t)more[i]->count + 1, sizeof(struct table_set *));
		for (int k = 0; d->run[i] && k < more[i]->count; k++, d->runs[i]++) {
			char *file = (char *)(uintptr_t)more[i]->text[k];
			d->run[i][k] = table_set_open(d->args, 1, &file);
			if (!d->run[i][k]) {
				return false;
			}
		}
		if (!d->run[i]) {
			cli_fail(d->args, ERROR_NOT_ENOUGH_MEMORY, "cannot compare the tables");
			return false;
		}
	}
	return true;
}

static void close_all(struct diff *d)
{
	for (int i = 0; i < 2; i++) {
		table_answer_free(d->answer[i]);
		table_set_close(d->set[i]);
		for (int k = 0; k < d->runs[i]; k++) {
			table_set_close(d->run[i][k]);
		}
		free(d->run[i]);
	}
	free(d->pair);
	free(d->cell);
}

static bool take_rules(struct diff *d)
{
	char why[300];
	for (int i = 0; i < d->o->fail_if.count; i++) {
		if (d->rules == RULES_MAX) {
			cli_usage(d->args, "at most %d --fail-if", RULES_MAX);
			return false;
		}
		if (!diff_rule_parse(d->o->fail_if.text[i], &d->rule[d->rules++], why, sizeof why)) {
			cli_usage(d->args, "--fail-if '%s': %s", d->o->fail_if.text[i], why);
			return false;
		}
	}
	return true;
}

static int run(struct cli_args *a)
{
	const struct diff_options *o = a->given;
	struct diff d = {.args = a, .o = o};
	const char *table = o->tables.table, *given = o->filter ? "filter" : o->fail_if.count ? "fail-if" : NULL;
	given = given ? given : o->new_from.given ? "new-from" : o->new_to.given ? "new-to" : NULL;
	given = given ? given : table_options_given(&o->tables);
	if (o->csv && o->json) {
		return cli_usage(a, "--csv and --json contradict each other");
	}
	if (table && strcmp(table, "list") == 0) {
		table_list(stdout, o->json);
		return CLI_OK;
	}
	if (a->count != 2) {
		return cli_usage(a, "which two files? the base first");
	}
	if (!table && (given || o->csv)) {
		return cli_usage(a, "--%s is of one table: which --table? --table list lists them",
				 given ? given : "csv");
	}
	if (!take_rules(&d) || !take_runs(&d)) {
		return CLI_USAGE;
	}
	cli_signals_catch();
	bool ok = (d.set[0] = table_set_open(a, 1, &a->words[0])) && (d.set[1] = table_set_open(a, 1, &a->words[1])) &&
		  open_runs(&d) && (table ? compare(&d, table) : compare_all(&d));
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	cli_signals_restore();
	close_all(&d);
	return !ok ? DIFF_ERROR : d.worse ? DIFF_WORSE : d.not_judged ? DIFF_ERROR : CLI_OK;
}

const struct cli_command cli_diff = {
	.name = "diff",
	.synopsis = "BASE NEW [--table NAME] [--fail-if EXPR] [options]",
	.summary = "Compare two traces, table by table.",
	.details = "Asks both traces the same, as 'openetw report --table' does, and puts the answers side by side: "
		   "for each "
		   "group and\n"
		   "each column what it is in BASE and in NEW, the difference, and NEW as a multiple of BASE. Groups "
		   "that differ "
		   "most come\n"
		   "first. Numbers of processes and threads are others in each trace, so they are in no group unless "
		   "--group-by "
		   "names them.\n"
		   "Without --table: every table that has rows.\n\n"
		   "For CI: --fail-if compares a column of each group of NEW with a number (5ms, 10MB) or with BASE. "
		   "The exit "
		   "status is 1\n"
		   "when one is true, and stderr says of which group; 2 after errors, and when no group has what a "
		   "rule compares.\n"
		   "A group that BASE does not have is not compared with it.\n\n"
		   "NOISE says whether a difference is more than chance makes: by rank among several runs of each "
		   "(--base, --new),\n"
		   "else among twenty slices of time of each trace. A rule that ends in 'beyond noise' is true of such "
		   "differences only.\n\n"
		   "Examples:\n"
		   "  openetw diff monday.etl tuesday.etl\n"
		   "  openetw diff base.etl new.etl --table io --group-by process_name,operation\n"
		   "  openetw diff web.etl web.etl --table spans --to +10s --new-from +10s\n"
		   "  openetw diff base.etl new.etl --table spans --fail-if 'p99(duration) > 1.2 * base' --fail-if "
		   "'max(duration) > 2s'\n",
	.options = options,
	CLI_INTO(diff_options),
	.run = run,
	.complete = "file",
};
