/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_show.h"

#include "tools/common/csv.h"
#include "tools/common/table.h"

#include <math.h>
#include <stdlib.h>

void table_show_heading(const struct table_answer_column *c, char *out, size_t cap)
{
	const char *unit = c->unit == TABLE_UNIT_TIME ? " s" : c->unit == TABLE_UNIT_DURATION ? " ms" : "";
	snprintf(out, cap, "%s%s", c->name, unit);
}

static double number_of(const struct table_value *v)
{
	return v->kind == TABLE_FLOAT ? v->f : v->kind == TABLE_UNSIGNED ? (double)v->u : (double)v->i;
}

void table_show_value(const struct table_answer_column *c, const struct table_value *v, struct strbuf *out)
{
	char size[32];
	if (v->kind == TABLE_NULL || v->kind == TABLE_TEXT) {
		table_value_text(v, false, out);
		return;
	}
	double n = number_of(v);
	switch (c->unit) {
	case TABLE_UNIT_TIME: strbuf_addf(out, "%.6f", n / 1e9); return;
	case TABLE_UNIT_DURATION: strbuf_addf(out, "%.3f", n / 1e6); return;
	case TABLE_UNIT_BYTES:
		if (n >= 0 && n < 1e19) {
			cli_size_text((uint64_t)n, size, sizeof size);
			strbuf_adds(out, size);
			return;
		}
		break;
	case TABLE_UNIT_ADDRESS:
		if (v->kind != TABLE_FLOAT) {
			strbuf_addf(out, "0x%llx", (unsigned long long)v->u);
			return;
		}
		break;
	default: break;
	}
	if (v->kind == TABLE_FLOAT) {
		strbuf_addf(out, "%.3f", isnan(n) ? (double)NAN : n);
	} else {
		table_value_text(v, c->truth, out);
	}
}

void table_show_json(const struct table_value *v, bool truth, struct strbuf *out)
{
	if (v->kind == TABLE_NULL || (v->kind == TABLE_FLOAT && !isfinite(v->f))) {
		strbuf_adds(out, "null");
	} else if (v->kind == TABLE_TEXT) {
		strbuf_add_json(out, v->s, v->n);
	} else {
		table_value_text(v, truth, out);
	}
}

static void add_json(const struct table_answer *r, uint64_t row, struct strbuf *line)
{
	strbuf_adds(line, "{\"table\":");
	strbuf_add_json(line, r->table, strlen(r->table));
	for (uint32_t i = 0; i < r->columns; i++) {
		strbuf_addc(line, ',');
		/* A column of that name would be there twice. */
		const char *name = strcmp(r->column[i].name, "table") == 0 ? "table_2" : r->column[i].name;
		strbuf_add_json(line, name, strlen(name));
		strbuf_addc(line, ':');
		table_show_json(table_answer_cell(r, row, i), r->column[i].truth, line);
	}
	strbuf_addc(line, '}');
}

static void add_csv(const struct table_answer *r, uint64_t row, struct strbuf *line)
{
	struct strbuf value = {0};
	for (uint32_t i = 0; i < r->columns; i++) {
		strbuf_adds(line, i ? "," : "");
		strbuf_clear(&value);
		table_value_text(table_answer_cell(r, row, i), r->column[i].truth, &value);
		csv_add(line, value.s ? value.s : "", value.len);
	}
	line->failed = line->failed || value.failed;
	strbuf_finish(&value);
}

static bool show_lines(FILE *f, const struct table_answer *r, bool csv)
{
	struct strbuf line = {0};
	for (uint32_t i = 0; csv && i < r->columns; i++) {
		strbuf_adds(&line, i ? "," : "");
		csv_add(&line, r->column[i].name, strlen(r->column[i].name));
	}
	strbuf_adds(&line, csv ? "\n" : "");
	for (uint64_t row = 0; row <= r->rows && !line.failed; row++) {
		fwrite(line.s ? line.s : "", 1, line.len, f);
		strbuf_clear(&line);
		if (row < r->rows) {
			(csv ? add_csv : add_json)(r, row, &line);
			strbuf_addc(&line, '\n');
		}
	}
	bool ok = !line.failed;
	strbuf_finish(&line);
	return ok;
}

static bool show_text(FILE *f, const struct table_answer *r)
{
	struct table_column columns[TABLE_ASK_COLUMNS] = {0};
	char headings[TABLE_ASK_COLUMNS][170];
	struct strbuf value = {0};
	for (uint32_t i = 0; i < r->columns; i++) {
		table_show_heading(&r->column[i], headings[i], sizeof headings[i]);
		columns[i] =
			(struct table_column){headings[i], .right = r->column[i].number, .cut = !r->column[i].number};
	}
	if (r->rows == 0) {
		fprintf(f, "no rows\n");
		return true;
	}
	struct table *t = table_create(columns, r->columns, 0);
	for (uint64_t row = 0; row < r->rows; row++) {
		for (uint32_t i = 0; i < r->columns; i++) {
			const struct table_value *v = table_answer_cell(r, row, i);
			strbuf_clear(&value);
			table_show_value(&r->column[i], v, &value);
			table_cell(t, "%s", v->kind == TABLE_NULL ? "-" : value.s ? value.s : "");
		}
	}
	bool ok = table_print(f, t) == 0 && !value.failed;
	if (r->all > r->rows) {
		fprintf(f, "… and %llu more; --top says how many are shown\n", (unsigned long long)(r->all - r->rows));
	}
	strbuf_finish(&value);
	return ok;
}

bool table_show(FILE *f, const struct table_answer *r, enum table_form form)
{
	return form == TABLE_FORM_TEXT ? show_text(f, r) : show_lines(f, r, form == TABLE_FORM_CSV);
}
