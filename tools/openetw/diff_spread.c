/* SPDX-License-Identifier: MIT
 * diff: whether differences are more than noise.
 *
 * What a group has in several runs, or else in slices of time of the one trace, is compared by rank (diff_noise.h). A
 * slice is a twentieth of what is asked about; a row is of the slice in which it begins. Where a group has no rows, its
 * counts and sums are 0, and its other columns have no value.
 */
#include "tools/openetw/diff.h"
#include "tools/openetw/diff_noise.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>

#define SLICES       20u
#define SLICES_LEAST 8u /* with a value: fewer say nothing */

/* What one side has of each pair: `samples` values for each pair and column. */
struct side {
	uint32_t samples;
	double *value;
};
struct spread {
	struct diff *d;
	struct map of; /* pairs, by the text of their group */
	struct side side[2];
	uint32_t columns; /* that are no groups */
	bool in_time;
};

static bool of_nothing_is_0(const char *column)
{
	static const char *const words[] = {"count", "sum(", "errors(", "distinct("};
	for (size_t i = 0; i < BASE_ARRAY_LEN(words); i++) {
		if (strncasecmp(column, words[i], strlen(words[i])) == 0) {
			return true;
		}
	}
	return false;
}

static bool know_pairs(struct spread *s)
{
	struct strbuf key = {0};
	const struct diff *d = s->d;
	bool ok = true;
	for (uint64_t i = 0; ok && i < d->pairs; i++) {
		int which = d->pair[i].row[0] == NO_ROW;
		diff_key(d->answer[which], d->pair[i].row[which], d->keys, &key);
		ok = !key.failed && map_add(&s->of, map_hash(&s->of, key.s ? key.s : "", key.len), i) == 0;
	}
	strbuf_finish(&key);
	return ok;
}

static uint64_t pair_of(const struct spread *s, const struct strbuf *key, struct strbuf *other)
{
	const struct diff *d = s->d;
	MAP_EACH(&s->of, map_hash(&s->of, key->s ? key->s : "", key->len), at) {
		uint64_t i = map_value(&s->of, at);
		int which = d->pair[i].row[0] == NO_ROW;
		diff_key(d->answer[which], d->pair[i].row[which], d->keys, other);
		if (other->len == key->len && memcmp(other->s ? other->s : "", key->s ? key->s : "", key->len) == 0) {
			return i;
		}
	}
	return NO_ROW;
}

static double number_of(const struct table_value *v)
{
	return v->kind == TABLE_FLOAT      ? v->f
	       : v->kind == TABLE_UNSIGNED ? (double)v->u
	       : v->kind == TABLE_INTEGER  ? (double)v->i
					   : NAN;
}

/* Takes the values of an answer: as the sample `number`, or, of slices, each as the sample that its last key says. */
static bool take(struct spread *s, int which, const struct table_answer *r, uint32_t number)
{
	struct strbuf key = {0}, other = {0};
	struct side *side = &s->side[which];
	uint32_t first = s->d->keys + s->in_time;
	bool ok = true;
	for (uint64_t row = 0; ok && row < r->rows; row++) {
		diff_key(r, row, s->d->keys, &key);
		uint64_t pair = pair_of(s, &key, &other);
		uint32_t sample = s->in_time ? (uint32_t)table_answer_cell(r, row, s->d->keys)->i : number;
		for (uint32_t k = 0; pair != NO_ROW && sample < side->samples && k < s->columns; k++) {
			double v = number_of(table_answer_cell(r, row, first + k));
			bool nothing = isnan(v) && of_nothing_is_0(r->column[first + k].name);
			side->value[(pair * s->columns + k) * side->samples + sample] = nothing ? 0 : v;
		}
		ok = !key.failed && !other.failed;
	}
	strbuf_finish(&key);
	strbuf_finish(&other);
	return ok;
}

static bool make_room(struct spread *s, int which, uint32_t samples)
{
	const struct diff *d = s->d;
	struct side *side = &s->side[which];
	size_t n = (size_t)d->pairs * s->columns * samples;
	side->samples = samples;
	side->value = d->pairs < SIZE_MAX / 16 / samples / (s->columns + 1u) ? malloc((n + 1) * sizeof(double)) : NULL;
	for (size_t i = 0; side->value && i < n; i++) {
		uint32_t column = d->keys + (uint32_t)(i / samples % s->columns);
		bool there = d->pair[i / samples / s->columns].row[which] != NO_ROW;
		side->value[i] = there && of_nothing_is_0(d->answer[0]->column[column].name) ? 0 : NAN;
	}
	return side->value != NULL;
}

static bool take_runs(struct spread *s, int which, const char *table)
{
	struct diff *d = s->d;
	const struct cli_words *files = which ? &d->o->new : &d->o->base;
	if (!make_room(s, which, (uint32_t)d->runs[which] + 1) || !take(s, which, d->answer[which], 0)) {
		return false;
	}
	for (int i = 0; i < d->runs[which]; i++) {
		struct table_answer *r = diff_ask(d, which, d->run[which][i], files->text[i], table, 0);
		bool ok = r && take(s, which, r, (uint32_t)i + 1);
		table_answer_free(r);
		if (!ok) {
			return false;
		}
	}
	return true;
}

static bool take_slices(struct spread *s, int which, const char *table)
{
	struct table_answer *r = diff_ask(s->d, which, s->d->set[which], s->d->args->words[which], table, SLICES);
	bool ok = r && make_room(s, which, SLICES) && take(s, which, r, 0);
	table_answer_free(r);
	return ok;
}

/* ---- judging ------------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, size_t n)
{
	if (n == 0) {
		return NAN;
	}
	qsort(values, n, sizeof *values, by_number);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static size_t values_of(const struct side *s, size_t at, double *out)
{
	size_t n = 0;
	for (uint32_t i = 0; i < s->samples; i++) {
		double v = s->value[at * s->samples + i];
		out[n] = v;
		n += !isnan(v);
	}
	return n;
}

static void judge(struct spread *s, size_t at, struct diff_cell *ret)
{
	struct diff *d = s->d;
	const struct pair *p = &d->pair[at / s->columns];
	uint32_t column = d->keys + (uint32_t)(at % s->columns);
	double v[2][DIFF_NOISE_MOST], a, b;
	size_t n[2] = {values_of(&s->side[0], at, v[0]), values_of(&s->side[1], at, v[1])};
	int higher = 0;
	bool enough =
		s->in_time ? n[0] >= SLICES_LEAST && n[1] >= SLICES_LEAST : diff_noise_least(n[0], n[1]) <= d->chance;
	if (!enough || p->row[0] == NO_ROW || p->row[1] == NO_ROW) {
		d->few_told = d->few_told || (!s->in_time && n[0] && n[1]);
	} else {
		ret->chance = diff_noise_chance(v[0], n[0], v[1], n[1], s->in_time, &higher);
		ret->word = DIFF_NOISE_WITHIN;
	}
	for (int i = 0; i < 2 && !s->in_time; i++) {
		ret->typical[i] = median(v[i], n[i]);
	}
	/* Most parts may have become less and the whole more, by a single one: which of both is noise nobody knows. */
	bool known = diff_number(d, 0, p, column, &a) && diff_number(d, 1, p, column, &b);
	bool agree = known && ((higher > 0 && b > a) || (higher < 0 && b < a));
	ret->word = ret->word && ret->chance <= d->chance && agree ? DIFF_NOISE_BEYOND : ret->word;
}

static void judge_all(struct spread *s, struct diff_cell *cells)
{
	struct diff *d = s->d;
	size_t n = (size_t)d->pairs * s->columns;
	bool told = d->few_told;
	for (size_t i = 0; i < n; i++) {
		judge(s, i, &cells[i]);
	}
	if (d->few_told && !told) {
		cli_tell(d->args,
			 "of %d and %d runs no difference can be told from noise at --chance %g: that takes more runs, "
			 "or a greater "
			 "chance (5 of each for 0.01, 4 for 0.05)",
			 d->runs[0] + 1, d->runs[1] + 1, d->chance);
	}
}

static bool has_times(struct diff *d, const char *table)
{
	char why[600];
	for (int i = 0; i < 2; i++) {
		const struct table_view *v = table_set_get(d->set[i], table, why, sizeof why);
		if (!v || (table_view_column(v, "time") < 0 && table_view_column(v, "start") < 0)) {
			return false;
		}
	}
	return true;
}

bool diff_spread(struct diff *d, const char *table)
{
	struct spread s = {.d = d, .columns = d->answer[0]->columns - d->keys};
	size_t n = (size_t)d->pairs * s.columns;
	struct diff_cell *cells = calloc(n + 1, sizeof *cells);
	for (size_t i = 0; cells && i < n; i++) {
		cells[i] = (struct diff_cell){.typical = {NAN, NAN}, .chance = NAN};
	}
	bool runs = d->runs[0] || d->runs[1];
	s.in_time = !runs;
	bool possible = runs || has_times(d, table);
	bool ok = cells && know_pairs(&s);
	for (int i = 0; possible && ok && i < 2; i++) {
		ok = runs ? take_runs(&s, i, table) : take_slices(&s, i, table);
	}
	d->cell = cells;
	if (possible && ok) {
		judge_all(&s, cells);
	}
	map_free(&s.of);
	free(s.side[0].value);
	free(s.side[1].value);
	if (!ok) {
		cli_tell(d->args, "what is noise cannot be told: no memory, or a trace could not be read");
	}
	return ok;
}
