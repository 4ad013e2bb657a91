/* SPDX-License-Identifier: MIT */
#include "tools/common/table.h"

#include "base/vec.h"
#include "tools/common/print.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define GAP       2u
#define WIDEST    60u /* a longer text pushes what follows to the right: one long path does not part all rows */
#define CUT_LEAST 8u
#define A_ROW     UINT32_MAX

struct cell {
	size_t at, bytes;
	unsigned columns;
};
struct line {
	size_t cell;   /* the first of a row, or the only one of a line of its own */
	unsigned from; /* of a line of its own: its column; else A_ROW */
};
struct table {
	const struct table_column *columns;
	unsigned count, indent;
	unsigned filled; /* cells of the last row */
	struct strbuf text;
	struct cell *cell;
	size_t cells, cell_cap;
	struct line *line;
	size_t lines, line_cap;
	bool failed;
};

struct table *table_create(const struct table_column *columns, unsigned count, unsigned indent)
{
	struct table *t = calloc(1, sizeof *t);
	if (t) {
		t->columns = columns;
		t->count = t->filled = count;
		t->indent = indent;
	}
	return t;
}

static void add_line(struct table *t, unsigned from)
{
	if (!VEC_ROOM(t->line, t->lines, t->line_cap)) {
		t->failed = true;
		return;
	}
	t->line[t->lines++] = (struct line){t->cells, from};
}

static void add_cell(struct table *t, const char *fmt, va_list ap)
{
	size_t at = t->text.len;
	strbuf_vaddf_printable(&t->text, fmt, ap);
	if (t->text.failed || !VEC_ROOM(t->cell, t->cells, t->cell_cap)) {
		t->failed = true;
		return;
	}
	size_t bytes = t->text.len - at;
	unsigned columns = bytes ? (unsigned)printable_columns(t->text.s + at, bytes) : 0;
	t->cell[t->cells++] = (struct cell){at, bytes, columns};
}

void table_cell(struct table *t, const char *fmt, ...)
{
	if (!t || t->failed) {
		return;
	}
	if (t->filled == t->count) {
		t->filled = 0;
		add_line(t, A_ROW);
	}
	t->filled++;
	va_list ap;
	va_start(ap, fmt);
	add_cell(t, fmt, ap);
	va_end(ap);
}

void table_line(struct table *t, unsigned column, const char *fmt, ...)
{
	if (!t || t->failed) {
		return;
	}
	t->filled = t->count; /* the row is over */
	add_line(t, column);
	va_list ap;
	va_start(ap, fmt);
	add_cell(t, fmt, ap);
	va_end(ap);
}

/* ---- printing ------------------------------------------------------------------------------------ */

/* 0: no terminal, or it does not say. */
static unsigned terminal_columns(FILE *f)
{
	struct winsize w;
	int fd = fileno(f);
	return fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static size_t cells_of(const struct table *t, size_t line)
{
	return (line + 1 < t->lines ? t->line[line + 1].cell : t->cells) - t->line[line].cell;
}

static void find_widths(const struct table *t, unsigned *ret_width)
{
	for (unsigned c = 0; c < t->count; c++) {
		const char *heading = t->columns[c].heading;
		ret_width[c] = BASE_MAX((unsigned)printable_columns(heading, strlen(heading)), t->columns[c].least);
	}
	for (size_t i = 0; i < t->lines; i++) {
		const struct cell *cell = t->cell + t->line[i].cell;
		for (unsigned c = 0; t->line[i].from == A_ROW && c < cells_of(t, i); c++) {
			unsigned w = cell[c].columns;
			ret_width[c] = c + 1 < t->count && w > WIDEST ? ret_width[c] : BASE_MAX(ret_width[c], w);
		}
	}
}

/* Takes columns away where they are widest until all fit. */
static void narrow(const struct table *t, unsigned screen, unsigned *inout_width)
{
	unsigned all = t->indent + GAP * (t->count - 1);
	for (unsigned c = 0; c < t->count; c++) {
		all += inout_width[c];
	}
	while (all > screen) {
		unsigned *widest = NULL;
		for (unsigned c = 0; c < t->count; c++) {
			unsigned least = BASE_MAX((unsigned)strlen(t->columns[c].heading), CUT_LEAST);
			if (t->columns[c].cut && inout_width[c] > least && (!widest || inout_width[c] > *widest)) {
				widest = &inout_width[c];
			}
		}
		if (!widest) {
			return;
		}
		--*widest;
		all--;
	}
}

static void put_cell(struct strbuf *b, const struct table_column *column, unsigned width, bool fit, const char *s,
		     size_t n)
{
	if (fit && printable_columns(s, n) > width) {
		strbuf_add_fitted(b, s, n, width);
	} else {
		strbuf_add_column(b, s, n, column->right ? (int)width : -(int)width);
	}
}

static void end_line(struct strbuf *b)
{
	while (b->len && b->s[b->len - 1] == ' ') {
		b->len--;
	}
	strbuf_addc(b, '\n');
}

static void put_blanks(struct strbuf *b, size_t n)
{
	while (n-- > 0) {
		strbuf_addc(b, ' ');
	}
}

/* Cells of a row, or the headings: `line` SIZE_MAX. */
static void put_row(const struct table *t, size_t line, const unsigned *width, bool narrowed, struct strbuf *b)
{
	size_t n = line == SIZE_MAX ? t->count : cells_of(t, line);
	put_blanks(b, t->indent);
	for (unsigned c = 0; c < n; c++) {
		const struct cell *cell = line == SIZE_MAX ? NULL : &t->cell[t->line[line].cell + c];
		const char *s = cell ? t->text.s + cell->at : t->columns[c].heading;
		put_blanks(b, c ? GAP : 0);
		put_cell(b, &t->columns[c], width[c], narrowed && t->columns[c].cut, s, cell ? cell->bytes : strlen(s));
	}
	end_line(b);
}

static int print(FILE *f, const struct table *t)
{
	struct strbuf b = {0};
	unsigned *width = calloc(t->count, sizeof *width);
	if (!width || t->failed) {
		free(width);
		return -ENOMEM;
	}
	find_widths(t, width);
	unsigned screen = terminal_columns(f);
	if (screen) {
		narrow(t, screen, width);
	}
	if (t->lines) {
		put_row(t, SIZE_MAX, width, screen, &b);
	}
	for (size_t i = 0; i < t->lines; i++) {
		if (t->line[i].from == A_ROW) {
			put_row(t, i, width, screen, &b);
			continue;
		}
		const struct cell *cell = &t->cell[t->line[i].cell];
		put_blanks(&b, t->indent);
		for (unsigned c = 0; c < t->line[i].from; c++) {
			put_blanks(&b, width[c] + GAP);
		}
		strbuf_add(&b, t->text.s + cell->at, cell->bytes);
		end_line(&b);
	}
	int r = b.failed ? -ENOMEM : 0;
	if (r == 0 && b.len) {
		fwrite(b.s, 1, b.len, f);
	}
	strbuf_finish(&b);
	free(width);
	return r;
}

int table_print(FILE *f, struct table *t)
{
	int r = t ? print(f, t) : -ENOMEM;
	if (t) {
		strbuf_finish(&t->text);
		free(t->cell);
		free(t->line);
		free(t);
	}
	if (r < 0) {
		fputs("openetw: no memory for a table\n", stderr);
	}
	return r;
}
