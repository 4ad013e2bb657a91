/* SPDX-License-Identifier: MIT
 * Shared by the files of the verb diff.
 */
#ifndef TOOLS_OPENETW_DIFF_H
#define TOOLS_OPENETW_DIFF_H

#include "tools/openetw/diff_rule.h"
#include "tools/tables/table_option.h"

#define RULES_MAX 32
#define NO_ROW    UINT64_MAX

struct diff_options {
	struct table_options tables;
	const char *filter;
	struct cli_words fail_if, base, new;
	struct cli_time new_from, new_to;
	const char *chance;
	uint64_t top;
	bool json, csv;
};
struct pair {
	uint64_t row[2]; /* of the base, of the new one; NO_ROW: it has no such group */
	double change;
};
enum diff_noise_word { DIFF_NOISE_UNKNOWN, DIFF_NOISE_WITHIN, DIFF_NOISE_BEYOND };
struct diff_cell {         /* of a pair and a column that is no group */
	double typical[2]; /* the median of the runs; NAN: none */
	double chance;     /* NAN: nobody knows */
	enum diff_noise_word word;
};
struct diff {
	const struct cli_args *args;
	const struct diff_options *o;
	struct table_set *set[2];
	struct table_answer *answer[2];
	struct table_set **run[2]; /* further runs of each, as --base and --new say */
	int runs[2];
	struct diff_cell *cell; /* pairs times columns */
	double chance;          /* --chance */
	bool few_told;
	struct pair *pair;
	uint64_t pairs;
	struct diff_rule rule[RULES_MAX];
	uint64_t judged[RULES_MAX], unknown[RULES_MAX]; /* groups; those of which nobody knows the noise */
	int rules;
	uint32_t keys, sort;
	bool worse, not_judged; /* not_judged: a rule was compared with no group, or with a value that is no number */
	char group_by[300], columns[2000];
};

/* The text of a group's columns, by which groups of two answers are found to be the same. */
void diff_key(const struct table_answer *r, uint64_t row, uint32_t keys, struct strbuf *out);
/* False: there is none, or it is NaN, which cannot be compared. */
bool diff_number(const struct diff *d, int which, const struct pair *p, uint32_t column, double *ret);
struct table_value diff_cell(const struct diff *d, const struct pair *p, int which, uint32_t column);
const struct table_value *diff_key_cell(const struct diff *d, const struct pair *p, uint32_t i);
/* What is known of the noise of this column of the pair. */
static inline const struct diff_cell *diff_noise_of(const struct diff *d, const struct pair *p, uint32_t column)
{
	const struct table_answer *r = d->answer[0];
	return &d->cell[(size_t)(p - d->pair) * (r->columns - d->keys) + (column - d->keys)];
}

/* Asks `s`, a run of the base (0) or of the new one (1), for the groups; with `slices`, by time as well. NULL: said why. */
struct table_answer *diff_ask(struct diff *d, int which, struct table_set *s, const char *file, const char *table,
			      uint32_t slices);
/* Fills d->cell, of the pairs in the order they have now. False: said why. */
bool diff_spread(struct diff *d, const char *table);

/* False: no memory. */
bool diff_show_lines(const struct diff *d, uint64_t top);
bool diff_show_text(const struct diff *d, uint64_t top);

#endif
