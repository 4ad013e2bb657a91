/* SPDX-License-Identifier: MIT
 * diff: the same table of two traces, group by group; and whether the second one is worse than is allowed.
 */
#include "base/map.h"
#include "tools/common/csv.h"
#include "tools/common/table.h"
#include "tools/openetw/diff_rule.h"
#include "tools/tables/table_option.h"
#include "tools/tables/table_show.h"

#include <math.h>
#include <stdlib.h>

#define SHOWN     15
#define RULES_MAX 32
#define NO_ROW    UINT64_MAX
enum { DIFF_WORSE = 1, DIFF_ERROR = 2 };

struct diff_options {
	struct table_options tables;
	const char *filter;
	struct cli_words fail_if;
	struct cli_time new_from, new_to;
	uint64_t top;
	bool json, csv;
};
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
	CLI_NUMBER(diff_options, top, 'n', "top", "N", 1, UINT64_MAX,
		   "groups that are shown, those that differ most first (default 15; with --json or --csv all)"),
	CLI_FLAG(diff_options, json, 'j', "json", "a JSON object for each group and column, one a line"),
	CLI_FLAG(diff_options, csv, 0, "csv", "CSV with a line of names"),
	{0},
};

struct pair {
	uint64_t row[2]; /* of the base, of the new one; NO_ROW: it has no such group */
	double change;
};
struct diff {
	const struct cli_args *args;
	const struct diff_options *o;
	struct table_set *set[2];
	struct table_answer *answer[2];
	struct pair *pair;
	uint64_t pairs;
	struct diff_rule rule[RULES_MAX];
	uint64_t judged[RULES_MAX]; /* groups */
	int rules;
	uint32_t keys, sort;
	bool worse, not_judged; /* not_judged: a rule was compared with no group, or with a value that is no number */
	char group_by[300], columns[2000];
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

static bool ask_both(struct diff *d, const char *table)
{
	struct table_options t = d->o->tables;
	const char *group_by, *columns;
	char why[600];
	t.table = table;
	t.sort = NULL;
	table_defaults(table, &group_by, &columns);
	default_group(d, group_by);
	t.group_by = t.group_by ? t.group_by : d->group_by;
	if (!choose_columns(d, t.columns ? t.columns : columns[0] ? columns : "count(*)")) {
		cli_tell(d->args, "too many columns");
		return false;
	}
	t.columns = d->columns;
	for (int i = 0; i < 2; i++) {
		struct table_question q;
		if (i == 1 && (d->o->new_from.given || d->o->new_to.given)) {
			t.from = d->o->new_from;
			t.to = d->o->new_to;
		}
		bool ok = table_question_make(d->args, d->set[i], &t, d->o->filter, NULL, 0, &q) == CLI_OK;
		table_answer_free(d->answer[i]);
		d->answer[i] = ok ? table_ask(d->set[i], &q.ask, why, sizeof why) : NULL;
		if (ok && !d->answer[i]) {
			cli_tell(d->args, "%s: %s", d->args->words[i], why);
		}
		ok = d->answer[i] && table_question_end(d->args, &q, CLI_OK) == CLI_OK;
		if (d->answer[i]) {
			d->answer[i]->table = table;
		}
		table_question_finish(&q);
		if (!ok) {
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

static void add_key(const struct table_answer *r, uint64_t row, uint32_t keys, struct strbuf *out)
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

/* False: there is none, or it is NaN, which cannot be compared. */
static bool number_at(const struct diff *d, int which, const struct pair *p, uint32_t column, double *ret)
{
	if (p->row[which] == NO_ROW) {
		return false;
	}
	*ret = as_double(table_answer_cell(d->answer[which], p->row[which], column));
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
	d->pair = calloc(base->rows + now->rows + 1, sizeof *d->pair);
	d->pairs = 0;
	bool ok = d->pair != NULL;
	for (uint64_t i = 0; ok && i < base->rows; i++) {
		add_key(base, i, d->keys, &key);
		d->pair[d->pairs++] = (struct pair){.row = {i, NO_ROW}};
		ok = !key.failed && map_add(&of, map_hash(&of, key.s ? key.s : "", key.len), i) == 0;
	}
	for (uint64_t i = 0; ok && i < now->rows; i++) {
		uint64_t pair = NO_ROW;
		add_key(now, i, d->keys, &key);
		MAP_EACH(&of, map_hash(&of, key.s ? key.s : "", key.len), at) {
			add_key(base, map_value(&of, at), d->keys, &other);
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
		a = number_at(d, 0, &d->pair[i], d->sort, &a) ? a : 0;
		b = number_at(d, 1, &d->pair[i], d->sort, &b) ? b : 0;
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

/* ---- what is shown -------------------------------------------------------------------------------- */

static const struct table_value *key_cell(const struct diff *d, const struct pair *p, uint32_t i)
{
	int which = p->row[0] == NO_ROW;
	return table_answer_cell(d->answer[which], p->row[which], i);
}

static struct table_value cell(const struct diff *d, const struct pair *p, int which, uint32_t column)
{
	struct table_value none = {.kind = TABLE_NULL};
	return p->row[which] == NO_ROW ? none : *table_answer_cell(d->answer[which], p->row[which], column);
}

/* base, new, difference, ratio */
static void four(const struct diff *d, const struct pair *p, uint32_t column, struct table_value ret[4])
{
	double a, b;
	ret[0] = cell(d, p, 0, column);
	ret[1] = cell(d, p, 1, column);
	ret[2] = ret[3] = (struct table_value){.kind = TABLE_NULL};
	if (!number_at(d, 0, p, column, &a) || !number_at(d, 1, p, column, &b)) {
		return;
	}
	if (ret[0].kind == TABLE_INTEGER && ret[1].kind == TABLE_INTEGER &&
	    !__builtin_sub_overflow(ret[1].i, ret[0].i, &ret[2].i)) {
		ret[2].kind = TABLE_INTEGER;
	} else {
		ret[2] = (struct table_value){.kind = TABLE_FLOAT, .f = b - a};
	}
	if (a != 0) {
		ret[3] = (struct table_value){.kind = TABLE_FLOAT, .f = b / a};
	}
}

static void show_line(const struct diff *d, const struct pair *p, uint32_t column, bool json, struct strbuf *line)
{
	static const char *const names[] = {"base", "new", "difference", "ratio"};
	const struct table_answer *r = d->answer[0];
	struct table_value v[4];
	struct strbuf text = {0};
	four(d, p, column, v);
	strbuf_clear(line);
	if (json) {
		strbuf_adds(line, "{\"table\":");
		strbuf_add_json(line, r->table, strlen(r->table));
		strbuf_adds(line, ",\"group\":{");
	}
	for (uint32_t i = 0; i < d->keys; i++) {
		strbuf_adds(line, i ? "," : "");
		if (json) {
			strbuf_add_json(line, r->column[i].name, strlen(r->column[i].name));
			strbuf_addc(line, ':');
			table_show_json(key_cell(d, p, i), r->column[i].truth, line);
		} else {
			strbuf_clear(&text);
			table_value_text(key_cell(d, p, i), r->column[i].truth, &text);
			csv_add(line, text.s ? text.s : "", text.len);
		}
	}
	strbuf_adds(line, json ? "},\"column\":" : d->keys ? "," : "");
	if (json) {
		strbuf_add_json(line, r->column[column].name, strlen(r->column[column].name));
	} else {
		csv_add(line, r->column[column].name, strlen(r->column[column].name));
	}
	for (int i = 0; i < 4; i++) {
		if (json) {
			strbuf_addf(line, ",\"%s\":", names[i]);
			table_show_json(&v[i], false, line);
		} else {
			strbuf_addc(line, ',');
			table_value_text(&v[i], false, line);
		}
	}
	strbuf_adds(line, json ? "}\n" : "\n");
	line->failed = line->failed || text.failed;
	strbuf_finish(&text);
}

static bool show_lines(const struct diff *d, uint64_t top)
{
	struct strbuf line = {0};
	const struct table_answer *r = d->answer[0];
	if (d->o->csv) {
		for (uint32_t i = 0; i < d->keys; i++) {
			csv_add(&line, r->column[i].name, strlen(r->column[i].name));
			strbuf_addc(&line, ',');
		}
		printf("%scolumn,base,new,difference,ratio\n", line.s ? line.s : "");
	}
	for (uint64_t i = 0; i < top && !line.failed; i++) {
		for (uint32_t k = d->keys; k < r->columns && !line.failed; k++) {
			show_line(d, &d->pair[i], k, d->o->json, &line);
			fwrite(line.s ? line.s : "", 1, line.len, stdout);
		}
	}
	bool ok = !line.failed;
	strbuf_finish(&line);
	return ok;
}

static void put_cell(struct table *t, const struct table_answer_column *c, const struct table_value *v,
		     const char *none)
{
	struct strbuf text = {0};
	struct table_value size = *v;
	/* Sizes have units without a sign. */
	bool minus = c->unit == TABLE_UNIT_BYTES && v->kind == TABLE_INTEGER && v->i < 0 && v->i > INT64_MIN;
	size.i = minus ? -v->i : size.i;
	table_show_value(c, &size, &text);
	table_cell(t, "%s%s", minus ? "-" : "", v->kind == TABLE_NULL ? none : text.s ? text.s : "");
	strbuf_finish(&text);
}

static bool show_text(const struct diff *d, uint64_t top)
{
	struct table_column columns[TABLE_ASK_COLUMNS + 5] = {0};
	const struct table_answer *r = d->answer[0];
	const struct table_answer_column ratio = {.number = true};
	char name[170];
	for (uint32_t i = 0; i < d->keys; i++) {
		columns[i] = (struct table_column){r->column[i].name, .right = r->column[i].number,
						   .cut = !r->column[i].number};
	}
	static const char *const heads[] = {"COLUMN", "BASE", "NEW", "DIFFERENCE", "RATIO"};
	for (uint32_t i = 0; i < 5; i++) {
		columns[d->keys + i] = (struct table_column){heads[i], .right = i > 0};
	}
	if (d->pairs == 0) {
		printf("no rows in either\n");
		return true;
	}
	struct table *t = table_create(columns, d->keys + 5, 0);
	for (uint64_t i = 0; i < top; i++) {
		for (uint32_t k = d->keys; k < r->columns; k++) {
			struct table_value v[4];
			four(d, &d->pair[i], k, v);
			for (uint32_t j = 0; j < d->keys; j++) {
				put_cell(t, &r->column[j], key_cell(d, &d->pair[i], j), "-");
			}
			table_show_heading(&r->column[k], name, sizeof name);
			table_cell(t, "%s", name);
			for (int j = 0; j < 3; j++) {
				put_cell(t, &r->column[k], &v[j], "-");
			}
			put_cell(t, &ratio, &v[3], "-");
		}
	}
	bool ok = table_print(stdout, t) == 0;
	if (top < d->pairs) {
		printf("… and %llu more groups; --top says how many are shown\n", (unsigned long long)(d->pairs - top));
	}
	return ok;
}

/* ---- rules ---------------------------------------------------------------------------------------- */

/* "io: read: max(duration) ms is 180.265, base 35.601" */
static void name_value(const struct diff *d, const struct pair *p, uint32_t column, struct strbuf *out)
{
	const struct table_answer *r = d->answer[0];
	char name[170];
	struct table_value v[2] = {cell(d, p, 0, column), cell(d, p, 1, column)};
	strbuf_clear(out);
	strbuf_addf(out, "%s: ", r->table);
	for (uint32_t j = 0; j < d->keys; j++) {
		strbuf_adds(out, j ? ", " : "");
		table_value_text(key_cell(d, p, j), r->column[j].truth, out);
	}
	table_show_heading(&r->column[column], name, sizeof name);
	strbuf_addf(out, "%s: %s is ", d->keys ? "" : "all", name);
	table_show_value(&r->column[column], &v[1], out);
	strbuf_adds(out, ", base ");
	table_show_value(&r->column[column], &v[0], out);
}

static bool is_nan(const struct diff *d, const struct pair *p, int which, uint32_t column)
{
	struct table_value v = cell(d, p, which, column);
	return v.kind == TABLE_FLOAT && isnan(v.f);
}

static void judge_group(struct diff *d, int k, const struct pair *p, struct strbuf *text)
{
	const struct diff_rule *rule = &d->rule[k];
	double now, base = 0;
	bool known =
		number_at(d, 1, p, rule->column, &now) && (number_at(d, 0, p, rule->column, &base) || !rule->of_base);
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
		if (d->judged[k] == 0) {
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
	if (!ask_both(d, table) || !find_columns(d) || !make_pairs(d)) {
		return false;
	}
	bool lines = d->o->json || d->o->csv;
	uint64_t top = d->o->top ? d->o->top : lines ? d->pairs : SHOWN;
	top = BASE_MIN(top, d->pairs);
	if (!(lines ? show_lines(d, top) : show_text(d, top))) {
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
	if (!take_rules(&d)) {
		return CLI_USAGE;
	}
	cli_signals_catch();
	bool ok = (d.set[0] = table_set_open(a, 1, &a->words[0])) && (d.set[1] = table_set_open(a, 1, &a->words[1])) &&
		  (table ? compare(&d, table) : compare_all(&d));
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	cli_signals_restore();
	for (int i = 0; i < 2; i++) {
		table_answer_free(d.answer[i]);
		table_set_close(d.set[i]);
	}
	free(d.pair);
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
