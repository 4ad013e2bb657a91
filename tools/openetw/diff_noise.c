/* SPDX-License-Identifier: MIT */
#include "tools/openetw/diff_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MOST   20u /* values of both sides: all ways to divide them are counted */
#define ALIKE_MOST   0.5 /* twenty slices that nearly all lie above twenty others are beyond a chance of 0.01 */
#define ALIKE_VALUES 8u  /* fewer on a side say nothing of neighbours */

struct ranked {
	double value;
	size_t at; /* in a, then in b */
};
struct ranks {
	unsigned twice[2 * DIFF_NOISE_MOST]; /* twice the rank, from 2 on: those of ties are in the middle of them */
	double ties;                         /* the sum of t³ - t over all ties of t values */
};

static int by_value(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	return a->value < b->value ? -1 : a->value > b->value;
}

static void rank(const double *a, size_t a_count, const double *b, size_t b_count, struct ranks *ret)
{
	struct ranked all[2 * DIFF_NOISE_MOST];
	size_t n = a_count + b_count;
	for (size_t i = 0; i < n; i++) {
		all[i] = (struct ranked){i < a_count ? a[i] : b[i - a_count], i};
	}
	qsort(all, n, sizeof *all, by_value);
	ret->ties = 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !(all[i].value < all[end].value);) {
			end++;
		}
		double t = (double)(end - i);
		ret->ties += t * t * t - t;
		for (size_t k = i; k < end; k++) {
			ret->twice[all[k].at] = (unsigned)(i + 1 + end);
		}
	}
}

/* Of all ways to choose a's ranks, how many have a sum so small, and how many one so great? */
static double exact(const struct ranks *r, size_t a_count, size_t n, unsigned sum)
{
	enum { SUMS = 2 * EXACT_MOST * EXACT_MOST + 1 };
	static double ways[EXACT_MOST + 1][SUMS];
	double below = 0, above = 0, all = 0;
	memset(ways, 0, sizeof ways);
	ways[0][0] = 1;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = BASE_MIN(i + 1, a_count); k > 0; k--) {
			for (unsigned s = SUMS - 1; s >= r->twice[i]; s--) {
				ways[k][s] += ways[k - 1][s - r->twice[i]];
			}
		}
	}
	for (unsigned s = 0; s < SUMS; s++) {
		all += ways[a_count][s];
		below += s <= sum ? ways[a_count][s] : 0;
		above += s >= sum ? ways[a_count][s] : 0;
	}
	return fmin(1, 2 * fmin(below, above) / all);
}

/* By how much less the values say because neighbours are alike: 1, or more. An estimate from few values is too small by
 * about (1 + 3r) / n. */
static double alikeness(const struct ranks *r, size_t a_count, size_t b_count)
{
	double products = 0, squares = 0;
	const size_t counts[2] = {a_count, b_count};
	if (a_count < ALIKE_VALUES || b_count < ALIKE_VALUES) {
		return 1;
	}
	for (size_t side = 0, from = 0; side < 2; from += counts[side++]) {
		const unsigned *v = r->twice + from;
		double mean = 0;
		for (size_t i = 0; i < counts[side]; i++) {
			mean += (double)v[i] / (double)counts[side];
		}
		for (size_t i = 0; i < counts[side]; i++) {
			squares += ((double)v[i] - mean) * ((double)v[i] - mean);
			products += i ? ((double)v[i] - mean) * ((double)v[i - 1] - mean) : 0;
		}
	}
	double alike = squares > 0 ? products / squares : 0;
	alike += (1 + 3 * alike) * 2 / (double)(a_count + b_count);
	alike = fmin(fmax(alike, 0), ALIKE_MOST);
	return (1 + alike) / (1 - alike);
}

double diff_noise_chance(const double *a, size_t a_count, const double *b, size_t b_count, bool in_time,
			 int *ret_higher)
{
	struct ranks r;
	size_t n = a_count + b_count;
	unsigned sum = 0;
	if (a_count == 0 || b_count == 0 || a_count > DIFF_NOISE_MOST || b_count > DIFF_NOISE_MOST) {
		return NAN;
	}
	rank(a, a_count, b, b_count, &r);
	for (size_t i = 0; i < a_count; i++) {
		sum += r.twice[i];
	}
	double na = (double)a_count, nb = (double)b_count, count = (double)n;
	double off = (double)sum / 2 - na * (count + 1) / 2; /* what a's sum of ranks is above its mean */
	*ret_higher = off < 0 ? 1 : off > 0 ? -1 : 0;
	if (n <= EXACT_MOST && !in_time) {
		return exact(&r, a_count, n, sum);
	}
	double variance = na * nb / 12 * (count + 1 - r.ties / (count * (count - 1)));
	variance *= in_time ? alikeness(&r, a_count, b_count) : 1;
	double z = variance > 0 ? fmax(fabs(off) - 0.5, 0) / sqrt(variance) : 0;
	return erfc(z / sqrt(2));
}

double diff_noise_least(size_t a_count, size_t b_count)
{
	double ways = 1;
	for (size_t i = 1; i <= a_count; i++) {
		ways *= (double)(b_count + i) / (double)i;
	}
	return fmin(1, 2 / ways);
}
