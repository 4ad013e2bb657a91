/* SPDX-License-Identifier: MIT
 *
 * The tables of a trace, read in this process: the same that openetw sql asks. Numbers here and there are the same,
 * because both read what table_make.h makes.
 *
 *	struct table_set *s = table_set_open(a, count, files);
 *	const struct table_view *w = table_set_get(s, "waits", why, sizeof why);
 *	int duration = table_view_column(w, "duration");
 *	struct table_value v;
 *	for (uint64_t row = 0; row < table_view_rows(w); row++) {
 *		if (table_view_value(w, duration, row, &v) && v.kind == TABLE_INTEGER) {
 *			… v.i …
 *		}
 *	}
 *	table_set_close(s);
 *
 * A table is made when it is asked for first, by one reading of the files, and stays in memory until the set is closed.
 * docs/sql.md has the tables and their columns. Times and durations are nanoseconds; time 0 is the start of the trace.
 * A set belongs to one thread, but for tables that are made already: any thread may ask these (table_set_made(), table_ask(),
 * views) while another one makes the next. Several sets of the same files make tables at the same time.
 */
#ifndef TOOLS_TABLES_TABLE_READ_H
#define TOOLS_TABLES_TABLE_READ_H

#include "tools/common/cli.h"
#include "tools/tables/kernel_event.h"
#include "tools/sql/sql_columns.h"

struct table_set;
struct table_view;

enum table_value_kind {
	TABLE_NULL,
	TABLE_INTEGER,  /* i; of a truth value 0 or 1; of a timestamp microseconds since 1970 */
	TABLE_UNSIGNED, /* u: of a column of 64 bits without sign, where the number is above INT64_MAX */
	TABLE_FLOAT,    /* f */
	TABLE_TEXT,     /* s, n: valid until the set is closed, not ended by a zero; a GUID is in the value itself */
};
struct table_value {
	enum table_value_kind kind;
	union {
		int64_t i;
		uint64_t u;
		double f;
		struct {
			const char *s;
			size_t n;
		};
	};
	char guid[37];
};

/* Opens the files. NULL: said why. */
struct table_set *table_set_open(const struct cli_args *a, int count, char **files);
void table_set_close(struct table_set *s); /* NULL is fine */
/* The index of the same files in the same order, which is whole and stays open as long as the set, instead of one of the
 * set's own: before the first table. False: no memory. */
struct openetw_index;
bool table_set_use_index(struct table_set *s, struct openetw_index *x);
/* What the tables are made with: names of code (table_make.h). */
struct table_maker;
struct table_maker *table_set_maker(struct table_set *s);
/* Time 0, as a FILETIME. */
uint64_t table_set_start(const struct table_set *s);
/* Names of all tables but those of events ("Provider/Event"), in the order of docs/sql.md; NULL ends them. */
/* Times of the first and the last event, once a table was made; 0 and 0 before. */
void table_set_range(const struct table_set *s, int64_t *ret_first, int64_t *ret_last);
const char *const *table_set_names(void);
/* The table of that name, in any case. NULL: `why` says why, with the nearest name where there is none of this one. */
const struct table_view *table_set_get(struct table_set *s, const char *name, char *why, size_t cap);
/* The same of one that is made already. NULL: it is not. */
const struct table_view *table_set_made(struct table_set *s, const char *name);
/* Bytes of memory that it takes; 0: it is not made. */
uint64_t table_set_bytes(struct table_set *s, const char *name);
/* Frees it, its views and texts; nobody uses them any more. It is made anew when it is wanted again. */
void table_set_drop(struct table_set *s, const char *name);

/* A table that adds samples up (functions, modules, callers, callees), of those that are wanted; the set knows it as
 * `key` from then on. */
typedef bool (*table_sample_fn)(void *context, const struct kevent *sample, int64_t time);
const struct table_view *table_set_of_samples(struct table_set *s, const char *name, const char *key,
					      table_sample_fn wanted, void *context, char *why, size_t cap);

uint64_t table_view_rows(const struct table_view *v);
uint32_t table_view_columns(const struct table_view *v);
/* The column of that name, in any case; -1: there is none. */
int table_view_column(const struct table_view *v, const char *name);
const char *table_view_column_name(const struct table_view *v, int column);
enum sql_type table_view_type(const struct table_view *v, int column);
/* A value. False: NULL, also of a column or row that is not there; `ret` is TABLE_NULL then. */
bool table_view_value(const struct table_view *v, int column, uint64_t row, struct table_value *ret);
/* The same where only one kind is wanted; NULL values, and values of other kinds, give `otherwise`. */
int64_t table_view_integer(const struct table_view *v, int column, uint64_t row, int64_t otherwise);
/* The number of a text: texts of one table are the same where their numbers are. UINT32_MAX: no text. */
uint32_t table_view_text_id(const struct table_view *v, int column, uint64_t row);

#endif
