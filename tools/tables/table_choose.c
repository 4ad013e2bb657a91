/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_choose.h"

#include "tools/common/select.h"
#include "tools/tables/table_ask.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>
#include <strings.h>

struct chooser {
	const struct table_view *view;
	const struct table_ask *ask;
	uint64_t start; /* FILETIME */
	uint64_t row;
	int time, pid, name, tid, thread_name;
	char text[48];
};

bool table_word_is(const char *word, int64_t number, const char *name, size_t name_length)
{
	char *end;
	unsigned long long wanted = strtoull(word, &end, 10);
	return word[0] >= '0' && word[0] <= '9' && !*end ? number == (int64_t)wanted
							 : name && cli_process_is(word, name, name_length);
}

static bool is_one_of(const struct chooser *c, const char *const *words, int count, int id, int name)
{
	struct table_value v;
	bool named = table_view_value(c->view, name, c->row, &v) && v.kind == TABLE_TEXT;
	for (int i = 0; i < count; i++) {
		if (table_word_is(words[i], table_view_integer(c->view, id, c->row, -1), named ? v.s : NULL,
				  named ? v.n : 0)) {
			return true;
		}
	}
	return count == 0;
}

/* A name of the filter is a column; process is the name, as everywhere in filters, and time is a date. */
static bool look_up(void *context, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct chooser *c = context;
	struct table_value v;
	int column = table_view_column(c->view, name);
	bool process = !payload && strcasecmp(name, "process") == 0 && c->name >= 0;
	if (!table_view_value(c->view, process ? c->name : column, c->row, &v)) {
		return false;
	}
	ret->is_number = v.kind == TABLE_INTEGER && v.i >= 0;
	ret->number = ret->is_number ? (uint64_t)v.i : 0;
	ret->text = NULL;
	ret->length = 0;
	if (!payload && column >= 0 && column == c->time && strcasecmp(name, "time") == 0) {
		ret->number = c->start + (uint64_t)((v.i >= 0 ? v.i : v.i - 99) / 100);
		ret->is_number = true;
	} else if (v.kind == TABLE_TEXT) {
		ret->text = v.s;
		ret->length = v.n;
		if (v.s == v.guid) {
			snprintf(c->text, sizeof c->text, "%s", v.guid);
			ret->text = c->text;
		}
	} else if (table_view_type(c->view, column) == SQL_TYPE_BOOL) {
		ret->text = v.i ? "true" : "false";
		ret->length = strlen(ret->text);
	} else if (!ret->is_number) {
		snprintf(c->text, sizeof c->text, v.kind == TABLE_FLOAT ? "%.17g" : "%.0f",
			 v.kind == TABLE_FLOAT ? v.f : 0);
		if (v.kind == TABLE_INTEGER) {
			snprintf(c->text, sizeof c->text, "%lld", (long long)v.i);
		} else if (v.kind == TABLE_UNSIGNED) {
			ret->is_number = true;
			ret->number = v.u;
		}
		ret->text = c->text;
		ret->length = strlen(c->text);
	}
	return true;
}

static bool is_wanted(struct chooser *c)
{
	return is_one_of(c, c->ask->process, c->ask->process_count, c->pid, c->name) &&
	       is_one_of(c, c->ask->thread, c->ask->thread_count, c->tid, c->thread_name) &&
	       (!c->ask->filter || filter_expr_match(c->ask->filter, look_up, c));
}

static bool check_ask(const struct chooser *c, char *why, size_t cap)
{
	const char *table = c->ask->table;
	if (c->ask->process_count && c->pid < 0 && c->name < 0) {
		snprintf(why, cap, "the table %s has no processes, so --process and --pid mean nothing", table);
		return false;
	}
	if (c->ask->thread_count && c->tid < 0) {
		snprintf(why, cap, "the table %s has no threads, so --thread means nothing", table);
		return false;
	}
	if (c->time < 0 && (c->ask->from != INT64_MIN || c->ask->to != INT64_MAX)) {
		snprintf(why, cap, "the table %s has no times, so --from and --to mean nothing", table);
		return false;
	}
	return true;
}

/* ---- intervals ------------------------------------------------------------------------------------ */

static struct table_intervals intervals_of(const struct table_view *v, const char *table)
{
	struct table_intervals none = {-1, -1, -1, -1, -1};
	if (!table_name_is_own(table) || table_view_column(v, "time") >= 0 || table_view_column(v, "start") < 0) {
		return none;
	}
	return (struct table_intervals){.start = table_view_column(v, "start"),
					.duration = table_view_column(v, "duration"),
					.running = table_view_column(v, "running"),
					.ready = table_view_column(v, "ready"),
					.waiting = table_view_column(v, "waiting")};
}

bool table_is_interval(const struct table_view *v, const char *table, int column)
{
	struct table_intervals t = intervals_of(v, table);
	return column >= 0 && t.start >= 0 &&
	       (column == t.duration || column == t.running || column == t.ready || column == t.waiting);
}

struct interval {
	int64_t from, to;
};

static int64_t plus(int64_t a, int64_t b)
{
	int64_t r;
	return __builtin_add_overflow(a, b, &r) ? (b < 0 ? INT64_MIN : INT64_MAX) : r;
}

/* A wait ends with the time in which the thread was ready; in `cpu` a row begins when both were over. */
static struct interval interval_at(const struct table_intervals *t, const struct table_view *v, int column,
				   uint64_t row)
{
	int64_t start = table_view_integer(v, t->start, row, INT64_MIN), n = table_view_integer(v, column, row, 0);
	if (start == INT64_MIN || n < 0) {
		return (struct interval){0, 0};
	}
	if (column == t->ready && t->duration >= 0) {
		int64_t end = plus(start, table_view_integer(v, t->duration, row, 0));
		return (struct interval){plus(end, -n), end};
	}
	if (column == t->ready) {
		return (struct interval){plus(start, -n), start};
	}
	if (column == t->waiting) {
		int64_t end = plus(start, -table_view_integer(v, t->ready, row, 0));
		return (struct interval){plus(end, -n), end};
	}
	return (struct interval){start, plus(start, n)};
}

int64_t table_chosen_part(const struct table_chosen *c, const struct table_view *v, int column, uint64_t row)
{
	struct interval i = interval_at(&c->intervals, v, column, row);
	int64_t from = BASE_MAX(i.from, c->from), to = BASE_MIN(i.to, c->to);
	return to > from ? plus(to, -from) : 0;
}

static bool reaches_in(const struct table_chosen *c, const struct table_view *v, uint64_t row)
{
	const struct table_intervals *t = &c->intervals;
	return (t->duration >= 0 && table_chosen_part(c, v, t->duration, row)) ||
	       (t->running >= 0 && table_chosen_part(c, v, t->running, row)) ||
	       (t->ready >= 0 && table_chosen_part(c, v, t->ready, row)) ||
	       (t->waiting >= 0 && table_chosen_part(c, v, t->waiting, row));
}

/* ---- tables that add samples up ------------------------------------------------------------------- */

static bool is_sample_of(void *context, const struct kevent *k, int64_t time)
{
	const struct table_ask *ask = context;
	bool process = ask->process_count == 0, thread = ask->thread_count == 0;
	for (int i = 0; i < ask->process_count && !process; i++) {
		process = table_word_is(ask->process[i], k->pid, k->process, strlen(k->process));
	}
	for (int i = 0; i < ask->thread_count && !thread; i++) {
		thread = table_word_is(ask->thread[i], k->tid, k->thread, strlen(k->thread));
	}
	return process && thread && time >= ask->from && time <= ask->to;
}

bool table_ask_key(const struct table_ask *ask, struct strbuf *out)
{
	bool narrowed = ask->from != INT64_MIN || ask->to != INT64_MAX || ask->process_count || ask->thread_count;
	strbuf_adds(out, ask->table);
	if (!narrowed || !table_is_of_calls(ask->table)) {
		return false;
	}
	strbuf_addf(out, "\x1f%lld\x1f%lld", (long long)ask->from, (long long)ask->to);
	for (int i = 0; i < ask->process_count; i++) {
		strbuf_addf(out, "\x1fp%s", ask->process[i]);
	}
	for (int i = 0; i < ask->thread_count; i++) {
		strbuf_addf(out, "\x1ft%s", ask->thread[i]);
	}
	return true;
}

const struct table_view *table_narrow(struct table_set *s, struct table_ask *inout_ask, char *why, size_t cap)
{
	struct table_ask *ask = inout_ask;
	struct strbuf key = {0};
	const struct table_view *v = NULL;
	bool narrowed = table_ask_key(ask, &key);
	if (key.failed) {
		snprintf(why, cap, "no memory");
	} else if (narrowed) {
		v = table_set_of_samples(s, ask->table, key.s, is_sample_of, ask, why, cap);
		ask->from = INT64_MIN;
		ask->to = INT64_MAX;
		ask->process_count = ask->thread_count = 0;
	} else {
		v = table_set_get(s, ask->table, why, cap);
	}
	strbuf_finish(&key);
	return v;
}

bool table_ask_make(struct table_set *s, const struct table_ask *ask, char *why, size_t cap)
{
	struct table_ask copy = *ask;
	return table_narrow(s, &copy, why, cap) != NULL;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static void find_columns(struct chooser *c)
{
	c->time = table_view_column(c->view, "time");
	c->time = c->time < 0 ? table_view_column(c->view, "start") : c->time;
	c->pid = table_view_column(c->view, "pid");
	c->name = table_view_column(c->view, "process_name");
	c->tid = table_view_column(c->view, "tid");
	c->thread_name = table_view_column(c->view, "thread_name");
}

bool table_choose(struct table_set *s, const struct table_view *v, const struct table_ask *ask, bool reaching,
		  struct table_chosen *ret, char *why, size_t cap)
{
	struct chooser c = {.view = v, .ask = ask, .start = table_set_start(s)};
	struct table_chosen r = {.intervals = intervals_of(v, ask->table)};
	uint64_t rows = table_view_rows(v);
	find_columns(&c);
	if (!check_ask(&c, why, cap)) {
		return false;
	}
	r.cut = r.intervals.start >= 0 && (ask->from != INT64_MIN || ask->to != INT64_MAX);
	r.from = ask->from;
	/* Times are in 100 ns: what lies in the last ones is in the range. */
	r.to = ask->to == INT64_MAX ? ask->to : plus(ask->to - (ask->to % 100 + 100) % 100, 100);
	reaching = reaching && r.cut;
	r.rows = malloc((rows + 1) * sizeof *r.rows);
	r.outside = reaching ? malloc(rows + 1) : NULL;
	if (!r.rows || (reaching && !r.outside)) {
		snprintf(why, cap, "no memory");
		table_chosen_free(&r);
		return false;
	}
	for (uint64_t row = 0; row < rows; row++) {
		c.row = row;
		int64_t at = c.time >= 0 ? table_view_integer(v, c.time, row, INT64_MIN) : ask->from;
		bool within = at >= ask->from && at <= ask->to;
		if ((within || (reaching && reaches_in(&r, v, row))) && is_wanted(&c)) {
			if (reaching) {
				r.outside[r.count] = !within;
			}
			r.rows[r.count++] = row;
			r.within += within;
		}
	}
	*ret = r;
	return true;
}

void table_chosen_free(struct table_chosen *c)
{
	free(c->rows);
	free(c->outside);
}
