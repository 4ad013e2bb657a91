/* SPDX-License-Identifier: MIT
 * Questions to tables: what their words mean.
 */
#include "tools/tables/table_ask.h"

#include "base/nearest.h"
#include "tools/tables/table_choose.h"
#include "tools/tables/table_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- what every table has ------------------------------------------------------------------------- */

static const struct {
	const char *table, *group_by, *columns;
} defaults[] = {
	{"events", "provider,event", "count"},
	{"event_types", "", ""},
	{"providers", "", ""},
	{"processes", "", ""},
	{"lifetimes", "", ""},
	{"threads", "", ""},
	{"images", "", ""},
	{"cpu", "process_name,pid", "count,sum(running),sum(ready),sum(waiting),p99(ready),max(ready)"},
	{"samples", "process_name,pid", "count"},
	{"functions", "function", "sum(self),sum(total)"},
	{"modules", "module", "sum(self),sum(total)"},
	{"callers", "function,caller", "sum(total),sum(self)"},
	{"callees", "function,callee", "sum(total),sum(self)"},
	{"switches", "process_name,pid", "count"},
	{"waits", "process_name,pid,kind,reason", "count,sum(duration),p50(duration),p99(duration),max(duration)"},
	{"wait_chains", "idle,process_name,chain", "sum(duration),count,p50(duration),p99(duration),max(duration)"},
	{"io", "layer,operation,process_name,pid",
	 "count,sum(bytes),sum(duration),p50(duration),p99(duration),max(duration),max(queue),errors(status)"},
	{"files", "file", "sum(reads),sum(writes),sum(bytes_read),sum(bytes_written),sum(disk_time)"},
	{"net", "process_name,pid,protocol,operation,remote", "count,sum(bytes),errors(status)"},
	{"faults", "process_name,pid,kind", "count,sum(bytes)"},
	{"syscalls", "process_name,pid,call",
	 "count,sum(duration),p50(duration),p99(duration),max(duration),errors(result)"},
	{"dpc_isr", "kind,module,function", "count,sum(duration),p50(duration),p99(duration),max(duration)"},
	{"power", "kind,cpu,state", "count,sum(duration),p50(duration),max(duration)"},
	{"memory", "process_name,pid,operation", "count,sum(bytes),count(freed)"},
	{"gc", "process_name,pid,generation,reason,type",
	 "count,sum(pause),p50(pause),p99(pause),max(pause),sum(duration),max(duration)"},
	{"jit", "process_name,pid", "count,sum(duration),p99(duration),max(duration),sum(il_bytes),sum(native_bytes)"},
	{"spans", "provider,name", "count,count(duration),sum(duration),p50(duration),p99(duration),max(duration)"},
	{"stacks", "", ""},
	{"frames", "", ""},
	{"symbols", "", ""},
	{"lost", "", ""},
	{"trace", "", ""},
};

void table_defaults(const char *table, const char **ret_group_by, const char **ret_columns)
{
	*ret_group_by = *ret_columns = "";
	for (size_t i = 0; i < BASE_ARRAY_LEN(defaults); i++) {
		if (strcasecmp(defaults[i].table, table) == 0) {
			*ret_group_by = defaults[i].group_by;
			*ret_columns = defaults[i].columns;
		}
	}
}

bool table_name_is_own(const char *table)
{
	for (const char *const *name = table_set_names(); *name; name++) {
		if (strcasecmp(*name, table) == 0) {
			return true;
		}
	}
	return false;
}

static bool among(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (strcasecmp(word, *list) == 0) {
			return true;
		}
	}
	return false;
}

/* A payload's field of one of these names may count anything. */
enum table_unit table_unit_of(const char *table, const char *column)
{
	static const char *const times[] = {"start", "stop", "first", "last", "load", "unload", "freed", NULL},
				 *const durations[] = {"duration", "ready",     "running", "waiting",
						       "pause",    "disk_time", NULL},
				 *const sizes[] = {"bytes",
						   "asked",
						   "bytes_read",
						   "bytes_written",
						   "disk_bytes_read",
						   "disk_bytes_written",
						   "size",
						   NULL},
				 *const addresses[] = {"address", "base", "heap", NULL};
	if (strcasecmp(column, "time") == 0) {
		return TABLE_UNIT_TIME;
	}
	if (!table_name_is_own(table)) {
		return TABLE_UNIT_NONE;
	}
	return among(column, times)       ? TABLE_UNIT_TIME
	       : among(column, durations) ? TABLE_UNIT_DURATION
	       : among(column, sizes)     ? TABLE_UNIT_BYTES
	       : among(column, addresses) ? TABLE_UNIT_ADDRESS
					  : TABLE_UNIT_NONE;
}

/* ---- words ---------------------------------------------------------------------------------------- */

static const char *next_column(const void *context, int i)
{
	const struct table_view *v = context;
	return (uint32_t)i < table_view_columns(v) ? table_view_column_name(v, i) : NULL;
}

static int column_named(const struct table_view *v, const char *table, const char *name, char *why, size_t cap)
{
	int column = table_view_column(v, name);
	if (column < 0) {
		const char *near = nearest_word(name, next_column, v);
		struct strbuf all = {0};
		for (int i = 0; !near && next_column(v, i); i++) {
			strbuf_addf(&all, "%s%s", i ? ", " : "", next_column(v, i));
		}
		if (near) {
			snprintf(why, cap, "the table %s has no column '%s'; did you mean '%s'?", table, name, near);
		} else {
			snprintf(why, cap, "the table %s has no column '%s'; it has %s", table, name,
				 all.s ? all.s : "none");
		}
		strbuf_finish(&all);
	}
	return column;
}

/* Up to the next comma outside of brackets, without blanks around. False: there is none. */
static bool next_word(const char **inout, char *out, size_t cap)
{
	const char *p = *inout, *end;
	int depth = 0;
	if (!*p) {
		return false;
	}
	for (end = p; *end && (*end != ',' || depth > 0); end++) {
		depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
	}
	*inout = *end ? end + 1 : end;
	while (p < end && *p == ' ') {
		p++;
	}
	while (end > p && end[-1] == ' ') {
		end--;
	}
	snprintf(out, cap, "%.*s", (int)(end - p), p);
	return true;
}

static const struct {
	const char *name;
	enum table_function function;
} functions[] = {{"count", TABLE_COUNT}, {"distinct", TABLE_DISTINCT}, {"sum", TABLE_SUM},      {"min", TABLE_MIN},
		 {"avg", TABLE_AVG},     {"max", TABLE_MAX},           {"errors", TABLE_ERRORS}};

/* "p99" */
static bool take_percentile(const char *name, unsigned *ret)
{
	unsigned n = 0;
	if ((name[0] != 'p' && name[0] != 'P') || !name[1] || strlen(name) > 3) {
		return false;
	}
	for (const char *p = name + 1; *p; p++) {
		if (*p < '0' || *p > '9') {
			return false;
		}
		n = n * 10 + (unsigned)(*p - '0');
	}
	*ret = n;
	return n >= 1 && n <= 99;
}

static bool is_number(enum sql_type t)
{
	return t != SQL_TYPE_TEXT && t != SQL_TYPE_UUID;
}

/* "queue,duration": the second one says how much each row counts. */
static bool take_weight(const struct table_plan *p, const char *table, const char *word, char *inout_column,
			struct table_term *ret, char *why, size_t cap)
{
	char *comma = strrchr(inout_column, ',');
	if (!comma || table_view_column(p->view, inout_column) >= 0) {
		return true; /* a field may have a comma in its name */
	}
	const char *weight = comma + 1 + strspn(comma + 1, " ");
	*comma = 0;
	ret->weight = column_named(p->view, table, weight, why, cap);
	if (ret->weight < 0) {
		return false;
	}
	enum sql_type type = table_view_type(p->view, ret->weight);
	if ((ret->function != TABLE_PERCENTILE && ret->function != TABLE_AVG) || !is_number(type) ||
	    type == SQL_TYPE_F32 || type == SQL_TYPE_F64) {
		snprintf(why, cap, "'%s': p1 to p99 and avg take a second column, one of whole numbers", word);
		return false;
	}
	return true;
}

static const char *function_named(const char *name, struct table_term *ret)
{
	static const char *const words[] = {"count",  "distinct", "sum", "min", "avg", "max",
					    "errors", "p50",      "p90", "p99", NULL};
	ret->function = TABLE_PLAIN;
	for (size_t i = 0; i < BASE_ARRAY_LEN(functions); i++) {
		ret->function = strcasecmp(functions[i].name, name) == 0 ? functions[i].function : ret->function;
	}
	if (take_percentile(name, &ret->percent)) {
		ret->function = TABLE_PERCENTILE;
	}
	const char *near = ret->function == TABLE_PLAIN ? nearest_of(name, words) : NULL;
	return ret->function != TABLE_PLAIN ? NULL : near ? near : "";
}

/* "p99(duration)", "count", "process_name". */
static bool take_term(struct table_plan *p, const char *table, const char *word, struct table_term *ret, char *why,
		      size_t cap)
{
	char name[128], column[128];
	const char *open = strchr(word, '(');
	size_t n = strlen(word);
	*ret = (struct table_term){.column = -1, .weight = -1};
	if (strcasecmp(word, "count") == 0 && table_view_column(p->view, "count") < 0) {
		ret->function = TABLE_COUNT;
		return true;
	}
	if (!open || word[n - 1] != ')' || table_view_column(p->view, word) >= 0) {
		ret->column = column_named(p->view, table, word, why, cap);
		return ret->column >= 0;
	}
	snprintf(name, sizeof name, "%.*s", (int)BASE_MIN((size_t)(open - word), sizeof name - 1), word);
	snprintf(column, sizeof column, "%.*s", (int)BASE_MIN(n - (size_t)(open - word) - 2, sizeof column - 1),
		 open + 1);
	const char *near = function_named(name, ret);
	if (near) {
		snprintf(why, cap, "there is no '%s(…)'%s%s%s (count, distinct, sum, min, avg, max, errors, p1 to p99)",
			 name, *near ? "; did you mean '" : "", near, *near ? "(…)'?" : "");
		return false;
	}
	if (ret->function == TABLE_COUNT && (!column[0] || strcmp(column, "*") == 0)) {
		return true;
	}
	if (!take_weight(p, table, word, column, ret, why, cap)) {
		return false;
	}
	ret->column = column_named(p->view, table, column, why, cap);
	if (ret->column >= 0 && ret->function != TABLE_COUNT && ret->function != TABLE_DISTINCT &&
	    !is_number(table_view_type(p->view, ret->column))) {
		snprintf(why, cap, "'%s': the column %s has texts, and no numbers", word, column);
		return false;
	}
	return ret->column >= 0;
}

static bool add_term(struct table_plan *p, struct table_answer *r, const char *table, const char *word, bool key,
		     char *why, size_t cap)
{
	struct table_term t;
	if (p->terms == TABLE_ASK_COLUMNS) {
		snprintf(why, cap, "at most %u columns", TABLE_ASK_COLUMNS);
		return false;
	}
	if (!take_term(p, table, word, &t, why, cap)) {
		return false;
	}
	if (key && t.function != TABLE_PLAIN) {
		snprintf(why, cap, "--group-by takes columns, and '%s' is none", word);
		return false;
	}
	struct table_answer_column *c = &r->column[p->terms];
	const char *of = t.column >= 0 ? table_view_column_name(p->view, t.column) : "";
	enum sql_type type = t.column >= 0 ? table_view_type(p->view, t.column) : SQL_TYPE_U64;
	bool rows = t.function == TABLE_COUNT && t.column < 0;
	t.interval = table_is_interval(p->view, table, t.column);
	snprintf(c->name, sizeof c->name, "%s", t.function == TABLE_PLAIN ? of : rows ? "count" : word);
	bool counts = t.function == TABLE_COUNT || t.function == TABLE_DISTINCT || t.function == TABLE_ERRORS;
	c->key = key;
	c->number = counts || is_number(type);
	c->truth = t.function == TABLE_PLAIN && type == SQL_TYPE_BOOL;
	c->unit = counts ? TABLE_UNIT_NONE : table_unit_of(table, of);
	p->term[p->terms++] = t;
	return true;
}

static bool add_terms(struct table_plan *p, struct table_answer *r, const char *table, const char *words, bool key,
		      char *why, size_t cap)
{
	char word[160];
	while (next_word(&words, word, sizeof word)) {
		if (word[0] && !add_term(p, r, table, word, key, why, cap)) {
			return false;
		}
	}
	return true;
}

static bool has_aggregate(const struct table_plan *p)
{
	for (uint32_t i = p->keys; i < p->terms; i++) {
		if (p->term[i].function != TABLE_PLAIN) {
			return true;
		}
	}
	return false;
}

/* Columns that a group does not have one value of. */
static bool check_group(const struct table_plan *p, struct table_answer *r, char *why, size_t cap)
{
	for (uint32_t i = p->keys; i < p->terms; i++) {
		if (p->term[i].function == TABLE_PLAIN) {
			const char *name = r->column[i].name;
			bool count = strcasecmp(name, "count") == 0;
			snprintf(why, cap,
				 "a group has many values of '%s': name it in --group-by, or ask for max(%s), say%s",
				 name, name, count ? "; count(*) is the number of rows" : "");
			return false;
		}
	}
	return true;
}

static const char *next_answer(const void *context, int i)
{
	const struct table_answer *r = context;
	return (uint32_t)i < r->columns ? r->column[i].name : NULL;
}

static bool take_sort(struct table_plan *p, const struct table_ask *ask, struct table_answer *r, char *why, size_t cap)
{
	p->sort = -1;
	for (uint32_t i = 0; ask->sort && i < p->terms; i++) {
		p->sort = strcasecmp(r->column[i].name, ask->sort) == 0 ? (int)i : p->sort;
	}
	if (ask->sort && p->sort < 0) {
		const char *near = nearest_word(ask->sort, next_answer, r);
		snprintf(why, cap, "--sort takes one of the columns, and '%s' is none%s%s%s", ask->sort,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
		return false;
	}
	if (!ask->sort && p->grouped && p->terms > p->keys) {
		p->sort = (int)p->keys;
	}
	return true;
}

static bool add_slices(struct table_plan *p, const struct table_ask *ask, struct table_answer *r, char *why, size_t cap)
{
	if (!ask->slices || !p->grouped) {
		return true;
	}
	p->time = table_view_column(p->view, "time");
	p->time = p->time >= 0 ? p->time : table_view_column(p->view, "start");
	if (p->time < 0 || p->terms == TABLE_ASK_COLUMNS) {
		snprintf(why, cap, "the table %s has %s", ask->table, p->time < 0 ? "no times" : "too many columns");
		return false;
	}
	p->slices = ask->slices;
	p->slice_from = ask->slice_from;
	p->slice_to = ask->slice_to;
	r->column[p->terms] = (struct table_answer_column){.name = "slice", .key = true, .number = true};
	p->term[p->terms++] = (struct table_term){.function = TABLE_PLAIN, .column = TABLE_COLUMN_SLICE, .weight = -1};
	return true;
}

bool table_plan_make(struct table_plan *p, const struct table_ask *ask, struct table_answer *r, char *why, size_t cap)
{
	const char *group_by, *columns;
	table_defaults(ask->table, &group_by, &columns);
	/* Columns without an aggregate are rows. Which they are is known when they are read; the default group stands in
	 * front of them only where somebody counts. */
	if (ask->columns) {
		if (!add_terms(p, r, ask->table, ask->columns, false, why, cap)) {
			return false;
		}
		bool counted = has_aggregate(p);
		p->terms = 0;
		columns = ask->columns;
		group_by = counted ? group_by : "";
		p->grouped = counted;
	} else if (ask->group_by && !columns[0]) {
		columns = "count(*)";
	}
	group_by = ask->group_by ? ask->group_by : group_by;
	p->grouped = p->grouped || ask->group_by || (!ask->columns && columns[0]);
	if (!p->grouped && !columns[0]) {
		for (uint32_t i = 0; i < BASE_MIN(table_view_columns(p->view), TABLE_ASK_COLUMNS); i++) {
			if (!add_term(p, r, ask->table, table_view_column_name(p->view, (int)i), false, why, cap)) {
				return false;
			}
		}
	}
	if (!add_terms(p, r, ask->table, group_by, true, why, cap) || !add_slices(p, ask, r, why, cap)) {
		return false;
	}
	p->keys = p->grouped ? p->terms : 0;
	if (!add_terms(p, r, ask->table, columns, false, why, cap) || (p->grouped && !check_group(p, r, why, cap))) {
		return false;
	}
	r->columns = p->terms;
	return take_sort(p, ask, r, why, cap);
}

const char **table_filter_names(struct table_set *s, const char *table, char *why, size_t cap)
{
	const struct table_view *v = table_set_get(s, table, why, cap);
	const char **names = v ? calloc(table_view_columns(v) + 2u, sizeof *names) : NULL;
	if (!names) {
		if (v) {
			snprintf(why, cap, "no memory");
		}
		return NULL;
	}
	uint32_t n = 0;
	for (uint32_t i = 0; i < table_view_columns(v); i++) {
		names[n++] = table_view_column_name(v, (int)i);
	}
	return names;
}
