/* SPDX-License-Identifier: MIT */
#include "tools/openetw/sql_show.h"

#include "base/vec.h"
#include "tools/common/csv.h"

#include <stdlib.h>

#define LOOKED_AT 200u /* rows whose values say how wide the columns are */
#define WIDEST    120u /* a column; longer values are shown whole, and push the others */

struct cell {
	size_t at, n; /* in the text; n == SIZE_MAX: NULL */
};
struct sql_show {
	enum sql_format format;
	uint32_t columns;
	enum sql_class *classes;
	char **names;
	int *widths;
	struct cell *cells; /* of the rows that wait for the widths */
	size_t cell_count, cell_cap;
	struct strbuf text, line;
	uint32_t waiting;
	bool headed; /* the widths are known */
	bool any;    /* a result was shown before */
};

struct sql_show *sql_show_create(enum sql_format format)
{
	struct sql_show *s = calloc(1, sizeof *s);
	if (s) {
		s->format = format;
	}
	return s;
}

static void forget(struct sql_show *s)
{
	for (uint32_t i = 0; s->names && i < s->columns; i++) {
		free(s->names[i]);
	}
	free(s->names);
	free(s->classes);
	free(s->widths);
	s->names = NULL;
	s->classes = NULL;
	s->widths = NULL;
	s->columns = 0;
	s->cell_count = 0;
	s->waiting = 0;
	s->headed = false;
	strbuf_clear(&s->text);
}

void sql_show_destroy(struct sql_show *s)
{
	if (s) {
		forget(s);
		free(s->cells);
		strbuf_finish(&s->text);
		strbuf_finish(&s->line);
	}
	free(s);
}

static bool put_line(struct sql_show *s)
{
	strbuf_addc(&s->line, '\n');
	bool ok = !s->line.failed && fwrite(s->line.s, 1, s->line.len, stdout) == s->line.len;
	strbuf_clear(&s->line);
	return ok;
}

bool sql_show_columns(void *show, uint32_t count, const enum sql_class *classes, const struct sql_value *names)
{
	struct sql_show *s = show;
	forget(s);
	s->names = calloc(count + 1, sizeof *s->names);
	s->classes = calloc(count + 1, sizeof *s->classes);
	s->widths = calloc(count + 1, sizeof *s->widths);
	if (!s->names || !s->classes || !s->widths) {
		return false;
	}
	s->columns = count;
	for (uint32_t i = 0; i < count; i++) {
		s->classes[i] = classes[i];
		s->names[i] = strndup(names[i].s ? names[i].s : "", names[i].n);
		if (!s->names[i]) {
			return false;
		}
		s->widths[i] = (int)BASE_MIN(printable_columns(s->names[i], strlen(s->names[i])), (size_t)WIDEST);
	}
	if (s->any && s->format == SQL_TABLES) {
		putchar('\n');
	}
	s->any = true;
	if (s->format != SQL_CSV) {
		return true;
	}
	for (uint32_t i = 0; i < count; i++) {
		strbuf_adds(&s->line, i ? "," : "");
		csv_add(&s->line, s->names[i], strlen(s->names[i]));
	}
	return put_line(s);
}

/* ---- tables --------------------------------------------------------------------------------------- */

static const char null_text[] = "NULL";

static bool put_cells(struct sql_show *s, const struct sql_value *values)
{
	for (uint32_t i = 0; i < s->columns; i++) {
		const char *p = values[i].s ? values[i].s : null_text;
		size_t n = values[i].s ? values[i].n : sizeof null_text - 1;
		bool last = i + 1 == s->columns, number = s->classes[i] == SQL_NUMBER;
		strbuf_adds(&s->line, i ? "  " : "");
		strbuf_add_column(&s->line, p, n, number ? s->widths[i] : last ? 0 : -s->widths[i]);
	}
	return put_line(s);
}

/* The widths are known: the head, and the rows that waited. */
static bool put_head(struct sql_show *s)
{
	bool ok = true;
	struct sql_value *values = calloc(s->columns + 1, sizeof *values);
	if (!values) {
		return false;
	}
	for (uint32_t i = 0; i < s->columns; i++) {
		values[i] = (struct sql_value){s->names[i], strlen(s->names[i])};
	}
	ok = put_cells(s, values);
	for (uint32_t i = 0; i < s->columns; i++) {
		strbuf_adds(&s->line, i ? "  " : "");
		for (int j = 0; j < s->widths[i]; j++) {
			strbuf_addc(&s->line, '-');
		}
	}
	ok = ok && put_line(s);
	for (uint32_t r = 0; ok && r < s->waiting; r++) {
		for (uint32_t i = 0; i < s->columns; i++) {
			const struct cell *c = &s->cells[(size_t)r * s->columns + i];
			values[i] = c->n == SIZE_MAX ? (struct sql_value){NULL, 0}
						     : (struct sql_value){s->text.s + c->at, c->n};
		}
		ok = put_cells(s, values);
	}
	s->headed = true;
	free(values);
	return ok;
}

static bool wait_row(struct sql_show *s, const struct sql_value *values)
{
	for (uint32_t i = 0; i < s->columns; i++) {
		const char *p = values[i].s ? values[i].s : null_text;
		size_t n = values[i].s ? values[i].n : sizeof null_text - 1;
		if (!VEC_ROOM(s->cells, s->cell_count, s->cell_cap)) {
			return false;
		}
		s->cells[s->cell_count++] = (struct cell){s->text.len, values[i].s ? n : SIZE_MAX};
		strbuf_add(&s->text, p, n);
		int columns = (int)BASE_MIN(printable_columns(p, n), (size_t)WIDEST);
		s->widths[i] = BASE_MAX(s->widths[i], columns);
	}
	s->waiting++;
	return !s->text.failed && (s->waiting < LOOKED_AT || put_head(s));
}

/* ---- rows ----------------------------------------------------------------------------------------- */

/* May the value stand in JSON as it is? "nan" and "inf" are no numbers there; and a child that somebody has taken over
 * says of anything that it is a number. */
static bool stands_plain(enum sql_class class, const struct sql_value *v)
{
	if (!v->s || class == SQL_STRING) {
		return false;
	}
	if (class == SQL_NESTED) {
		return printable_is(v->s, v->n);
	}
	if (class == SQL_BOOLEAN) {
		return (v->n == 4 && memcmp(v->s, "true", 4) == 0) || (v->n == 5 && memcmp(v->s, "false", 5) == 0);
	}
	for (size_t i = 0; i < v->n; i++) {
		if (!memchr("0123456789+-.eE", v->s[i], 15)) {
			return false;
		}
	}
	return v->n > 0;
}

static void add_json(struct strbuf *b, enum sql_class class, const struct sql_value *v)
{
	bool plain = stands_plain(class, v);
	if (!v->s) {
		strbuf_adds(b, "null");
	} else if (plain) {
		strbuf_add(b, v->s, v->n);
	} else {
		strbuf_add_json(b, v->s, v->n);
	}
}

bool sql_show_row(void *show, uint32_t count, const struct sql_value *values)
{
	struct sql_show *s = show;
	if (count != s->columns) {
		return false;
	}
	if (s->format == SQL_TABLES) {
		return s->headed ? put_cells(s, values) : wait_row(s, values);
	}
	strbuf_adds(&s->line, s->format == SQL_JSON ? "{" : "");
	for (uint32_t i = 0; i < count; i++) {
		strbuf_adds(&s->line, i ? "," : "");
		if (s->format == SQL_JSON) {
			strbuf_add_json(&s->line, s->names[i], strlen(s->names[i]));
			strbuf_addc(&s->line, ':');
			add_json(&s->line, s->classes[i], &values[i]);
		} else if (values[i].s) {
			csv_add(&s->line, values[i].s, values[i].n);
		}
	}
	strbuf_adds(&s->line, s->format == SQL_JSON ? "}" : "");
	return put_line(s);
}

bool sql_show_end(void *show)
{
	struct sql_show *s = show;
	bool ok = s->format != SQL_TABLES || s->headed || s->columns == 0 || put_head(s);
	forget(s);
	return fflush(stdout) == 0 && ok;
}
