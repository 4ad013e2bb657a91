/* SPDX-License-Identifier: MIT
 *
 * Numbers of many groups, for percentiles. Private to query.
 *
 * Up to SAMPLE_EXACT numbers are kept as they are. When there are more, numbers that agree in sign, exponent and the
 * first six bits of their fraction become one number with a weight, so a percentile is off by less than 1.6 percent.
 */
#ifndef QUERY_QUERY_SAMPLE_H
#define QUERY_QUERY_SAMPLE_H

#include "base/base.h"
#include "base/map.h"

#define SAMPLE_EXACT (1u << 22) /* of all threads together: 96 MB */

struct sample_number {
	uint32_t group;
	double value;
	uint64_t weight;
};
struct samples {
	struct sample_number *numbers;
	size_t count, cap, most;
	struct map coarse; /* group and the first bits of the number: which of the numbers. Used when `rounded` */
	bool rounded;
};
int samples_add(struct samples *s, uint32_t group, double value, uint64_t weight);
/* From now on numbers are rounded, as above. */
int samples_round(struct samples *s);
void samples_free(struct samples *s);
/* Gives each number the group `to[group]`, and sorts by it. */
void samples_sort(struct samples *s, const uint32_t *to);
/* Of the groups `first` to `end` - 1, after samples_sort(): the smallest number that is not below `parts` / 100 of all.
 * `count` such percentiles at once. False: they have no numbers. -ENOMEM counts as that. */
bool samples_percentiles(const struct samples *s, uint32_t first, uint32_t end, const uint32_t *parts, uint32_t count,
			 double *ret);

#endif
