/* SPDX-License-Identifier: MIT
 * diff: what is shown.
 */
#include "tools/common/csv.h"
#include "tools/common/table.h"
#include "tools/openetw/diff.h"
#include "tools/tables/table_show.h"

#include <math.h>
#include <stdlib.h>

/* base, new, difference, ratio */
static void four(const struct diff *d, const struct pair *p, uint32_t column, struct table_value ret[4])
{
	double a, b;
	ret[0] = diff_cell(d, p, 0, column);
	ret[1] = diff_cell(d, p, 1, column);
	ret[2] = ret[3] = (struct table_value){.kind = TABLE_NULL};
	if (!diff_number(d, 0, p, column, &a) || !diff_number(d, 1, p, column, &b)) {
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

static const char *const noise_words[] = {
	[DIFF_NOISE_UNKNOWN] = "unknown", [DIFF_NOISE_WITHIN] = "within", [DIFF_NOISE_BEYOND] = "beyond"};

static void show_noise(const struct diff_cell *c, bool json, struct strbuf *line)
{
	if (json) {
		strbuf_addf(line, isnan(c->chance) ? ",\"chance\":null" : ",\"chance\":%.3g", c->chance);
		strbuf_addf(line, ",\"noise\":\"%s\"", noise_words[c->word]);
		return;
	}
	strbuf_addc(line, ',');
	if (!isnan(c->chance)) {
		strbuf_addf(line, "%.3g", c->chance);
	}
	strbuf_addf(line, ",%s", noise_words[c->word]);
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
			table_show_json(diff_key_cell(d, p, i), r->column[i].truth, line);
		} else {
			strbuf_clear(&text);
			table_value_text(diff_key_cell(d, p, i), r->column[i].truth, &text);
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
	show_noise(diff_noise_of(d, p, column), json, line);
	strbuf_adds(line, json ? "}\n" : "\n");
	line->failed = line->failed || text.failed;
	strbuf_finish(&text);
}

bool diff_show_lines(const struct diff *d, uint64_t top)
{
	struct strbuf line = {0};
	const struct table_answer *r = d->answer[0];
	if (d->o->csv) {
		for (uint32_t i = 0; i < d->keys; i++) {
			csv_add(&line, r->column[i].name, strlen(r->column[i].name));
			strbuf_addc(&line, ',');
		}
		printf("%scolumn,base,new,difference,ratio,chance,noise\n", line.s ? line.s : "");
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

bool diff_show_text(const struct diff *d, uint64_t top)
{
	struct table_column columns[TABLE_ASK_COLUMNS + 6] = {0};
	const struct table_answer *r = d->answer[0];
	const struct table_answer_column ratio = {.number = true};
	char name[170];
	for (uint32_t i = 0; i < d->keys; i++) {
		columns[i] = (struct table_column){r->column[i].name, .right = r->column[i].number,
						   .cut = !r->column[i].number};
	}
	static const char *const heads[] = {"COLUMN", "BASE", "NEW", "DIFFERENCE", "RATIO", "NOISE"};
	for (uint32_t i = 0; i < 6; i++) {
		columns[d->keys + i] = (struct table_column){heads[i], .right = i > 0 && i < 5};
	}
	if (d->pairs == 0) {
		printf("no rows in either\n");
		return true;
	}
	struct table *t = table_create(columns, d->keys + 6, 0);
	for (uint64_t i = 0; i < top; i++) {
		for (uint32_t k = d->keys; k < r->columns; k++) {
			struct table_value v[4];
			four(d, &d->pair[i], k, v);
			for (uint32_t j = 0; j < d->keys; j++) {
				put_cell(t, &r->column[j], diff_key_cell(d, &d->pair[i], j), "-");
			}
			table_show_heading(&r->column[k], name, sizeof name);
			table_cell(t, "%s", name);
			for (int j = 0; j < 3; j++) {
				put_cell(t, &r->column[k], &v[j], "-");
			}
			put_cell(t, &ratio, &v[3], "-");
			const struct diff_cell *c = diff_noise_of(d, &d->pair[i], k);
			table_cell(t, "%s", c->word == DIFF_NOISE_UNKNOWN ? "?" : noise_words[c->word]);
		}
	}
	bool ok = table_print(stdout, t) == 0;
	if (top < d->pairs) {
		printf("… and %llu more groups; --top says how many are shown\n", (unsigned long long)(d->pairs - top));
	}
	return ok;
}
