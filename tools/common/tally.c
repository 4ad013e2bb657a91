/* SPDX-License-Identifier: MIT */
#include "tools/common/tally.h"
#include "base/vec.h"
#include "tools/common/table.h"

#include <ctype.h>
#include <stdlib.h>

/* Where rows stand is not known any more after they were sorted. */
static bool find_places(struct tally *t)
{
	map_clear(&t->places);
	for (size_t i = 0; i < t->used; i++) {
		const char *name = t->row[i].name;
		if (map_add(&t->places, map_hash(&t->places, name, strlen(name)), i) < 0) {
			return false;
		}
	}
	t->sorted = false;
	return true;
}

struct tally_row *tally_row(struct tally *t, const char *name)
{
	if (t->sorted && !find_places(t)) {
		return NULL;
	}
	size_t bytes = strlen(name) + 1;
	uint64_t key = map_hash(&t->places, name, bytes - 1);
	MAP_EACH(&t->places, key, at) {
		struct tally_row *row = &t->row[map_value(&t->places, at)];
		if (strcmp(row->name, name) == 0) {
			return row;
		}
	}
	char *copy = VEC_ROOM(t->row, t->used, t->cap) ? malloc(bytes) : NULL;
	if (!copy || map_add(&t->places, key, t->used) < 0) {
		free(copy);
		return NULL;
	}
	t->row[t->used] = (struct tally_row){.name = memcpy(copy, name, bytes)};
	return &t->row[t->used++];
}

struct tally_row *tally_rowf(struct tally *t, const char *fmt, ...)
{
	struct strbuf name = {0};
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf_printable(&name, fmt, args); /* so no part has a TALLY_PART in it */
	va_end(args);
	struct tally_row *row = name.failed ? NULL : tally_row(t, name.s ? name.s : "");
	strbuf_finish(&name);
	return row;
}

static int compare(const void *pa, const void *pb, void *by)
{
	const struct tally_row *a = pa, *b = pb;
	unsigned i = *(const unsigned *)by;
	if (a->v[i] != b->v[i]) {
		return a->v[i] < b->v[i] ? 1 : -1;
	}
	if (a->v[0] != b->v[0]) {
		return a->v[0] < b->v[0] ? 1 : -1;
	}
	return strcmp(a->name, b->name);
}

void tally_sort(struct tally *t, unsigned by)
{
	if (t->used) {
		qsort_r(t->row, t->used, sizeof *t->row, compare, &by);
	}
	t->sorted = true;
}

void tally_clear(struct tally *t)
{
	for (size_t i = 0; i < t->used; i++) {
		free(t->row[i].name);
	}
	t->used = 0;
	map_clear(&t->places);
}

void tally_free(struct tally *t)
{
	tally_clear(t);
	free(t->row);
	map_free(&t->places);
	*t = (struct tally){0};
}

/* ---- printing --------------------------------------------------------------------------------- */

static double percent(const struct tally_table *table, uint64_t v)
{
	return table->whole ? 100.0 * (double)v / (double)table->whole : 0;
}

static void print_json(FILE *f, const struct tally_row *r, const struct tally_table *t)
{
	struct strbuf b = {0};
	const char *p = r->name;
	strbuf_addf(&b, "{\"table\":\"%s\"", t->json);
	for (size_t i = 0; t->parts[i]; i++) {
		size_t n = strcspn(p, "\x1f");
		bool number = n > 0 && n < 19 && strspn(p, "0123456789") == n;
		strbuf_adds(&b, ",\"");
		for (const char *c = t->parts[i]; *c; c++) {
			strbuf_addc(&b, (char)tolower((unsigned char)*c));
		}
		strbuf_adds(&b, "\":");
		if (number) {
			strbuf_add(&b, p, n);
		} else {
			strbuf_add_json(&b, p, n);
		}
		p += n + (p[n] != 0);
	}
	for (unsigned i = 0; i < t->column_count; i++) {
		const struct tally_column *c = &t->columns[i];
		if (c->format == TALLY_PERCENT_OF) {
			strbuf_addf(&b, ",\"%s\":%.2f", c->json, percent(t, r->v[c->value]));
		} else if (c->format == TALLY_US) {
			strbuf_addf(&b, ",\"%s\":%.3f", c->json, (double)r->v[c->value] / 1e3);
		} else {
			strbuf_addf(&b, ",\"%s\":%llu", c->json, (unsigned long long)r->v[c->value]);
		}
	}
	fprintf(f, "%s}\n", b.s ? b.s : "{");
	strbuf_finish(&b);
}

static void add_row(struct table *out, const struct tally_row *r, const struct tally_table *t)
{
	char text[32];
	for (unsigned i = 0; i < t->column_count; i++) {
		const struct tally_column *c = &t->columns[i];
		switch (c->format) {
		case TALLY_BYTES:
			cli_size_text(r->v[c->value], text, sizeof text);
			table_cell(out, "%s", text);
			break;
		case TALLY_US: table_cell(out, "%.3f", (double)r->v[c->value] / 1e3); break;
		case TALLY_PERCENT_OF: table_cell(out, "%.1f%%", percent(t, r->v[c->value])); break;
		default: table_cell(out, "%llu", (unsigned long long)r->v[c->value]); break;
		}
	}
	const char *p = r->name;
	for (size_t i = 0; t->parts[i]; i++) {
		size_t n = t->parts[i + 1] ? strcspn(p, (const char[]){TALLY_PART, 0}) : strlen(p);
		table_cell(out, "%.*s", (int)n, p);
		p += n + (p[n] != 0);
	}
}

static void print_text(FILE *f, const struct tally *t, const struct tally_table *table, uint64_t top)
{
	struct table_column columns[2 * TALLY_VALUES + TALLY_PARTS] = {0};
	unsigned count = 0;
	for (; count < table->column_count; count++) {
		const struct tally_column *c = &table->columns[count];
		columns[count] = (struct table_column){c->title, .right = true,
						       .least = c->format == TALLY_PERCENT_OF ? 7
								: c->format == TALLY_COUNT    ? 8
											      : 10};
	}
	for (size_t i = 0; table->parts[i]; i++) {
		columns[count++] = (struct table_column){table->parts[i]};
	}
	struct table *out = table_create(columns, count, 2);
	for (size_t i = 0; i < t->used && i < top; i++) {
		add_row(out, &t->row[i], table);
	}
	fprintf(f, "\n%s\n", table->title);
	table_print(f, out);
}

void tally_print(FILE *f, struct tally *t, const struct tally_table *table, uint64_t top, bool json)
{
	if (t->used == 0) {
		return;
	}
	tally_sort(t, table->sort_by);
	if (!json) {
		print_text(f, t, table, top);
		return;
	}
	for (size_t i = 0; i < t->used && i < top; i++) {
		print_json(f, &t->row[i], table);
	}
}
