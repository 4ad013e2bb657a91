/* SPDX-License-Identifier: MIT
 *
 * Is a difference more than noise? Two lists of values of the same thing, such as those of five runs before a change and
 * of five runs after it, are compared by rank (Mann and Whitney, 1947; ties share their ranks): no value is taken to be
 * of any distribution, and a single one that is far off counts as one.
 */
#ifndef TOOLS_OPENETW_DIFF_NOISE_H
#define TOOLS_OPENETW_DIFF_NOISE_H

#include "base/base.h"

#define DIFF_NOISE_MOST 256u /* values on each side */

/* How often chance alone would order two such lists at least so differently: 0 to 1, and 1 for equal lists; NAN when a
 * list is empty or too long. *ret_higher: -1, 0 or 1, whether `b` is below or above `a`.
 *
 * `in_time`: the values follow each other in time, as those of slices of one trace. Neighbours may then be alike, and
 * twenty of them say less than twenty runs would: the more alike they are, the less a difference counts. */
double diff_noise_chance(const double *a, size_t a_count, const double *b, size_t b_count, bool in_time,
			 int *ret_higher);
/* The smallest chance that lists of these lengths can have. */
double diff_noise_least(size_t a_count, size_t b_count);

#endif
