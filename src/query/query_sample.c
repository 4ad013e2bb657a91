/* SPDX-License-Identifier: MIT
 */
#include "query/query_sample.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

#define KEPT_BITS 18 /* sign, exponent, six bits of the fraction */

static uint64_t bits_of(double v)
{
	uint64_t b;
	memcpy(&b, &v, sizeof b);
	return b;
}

/* The middle of the numbers that begin with the same bits. */
static double middle_of(double v)
{
	uint64_t b = bits_of(v) >> (64 - KEPT_BITS);
	if (v == 0 || !isfinite(v)) {
		return v;
	}
	b = b << (64 - KEPT_BITS) | 1ull << (63 - KEPT_BITS);
	memcpy(&v, &b, sizeof v);
	return v;
}

static int add_coarse(struct samples *s, uint32_t group, double value, uint64_t weight)
{
	uint64_t key = (uint64_t)group << KEPT_BITS | bits_of(value) >> (64 - KEPT_BITS);
	size_t at = map_find(&s->coarse, key);
	if (at != MAP_NONE) {
		s->numbers[map_value(&s->coarse, at)].weight += weight;
		return 0;
	}
	if (!VEC_ROOM(s->numbers, s->count, s->cap) || map_add(&s->coarse, key, s->count) < 0) {
		return -ENOMEM;
	}
	s->numbers[s->count++] = (struct sample_number){group, middle_of(value), weight};
	return 0;
}

/* What was exact so far, too. In place: the coarse numbers are never more than those that were read. */
int samples_round(struct samples *s)
{
	size_t n = s->count;
	if (s->rounded) {
		return 0;
	}
	s->rounded = true;
	s->count = 0;
	for (size_t i = 0; i < n; i++) {
		struct sample_number one = s->numbers[i];
		int err = add_coarse(s, one.group, one.value, one.weight);
		if (err < 0) {
			return err;
		}
	}
	return 0;
}

int samples_add(struct samples *s, uint32_t group, double value, uint64_t weight)
{
	if (!s->rounded && s->count >= s->most) {
		int err = samples_round(s);
		if (err < 0) {
			return err;
		}
	}
	if (s->rounded) {
		return add_coarse(s, group, value, weight);
	}
	if (!VEC_ROOM(s->numbers, s->count, s->cap)) {
		return -ENOMEM;
	}
	s->numbers[s->count++] = (struct sample_number){group, value, weight};
	return 0;
}

void samples_free(struct samples *s)
{
	free(s->numbers);
	map_free(&s->coarse);
	*s = (struct samples){0};
}

static int by_group(const void *a, const void *b)
{
	const struct sample_number *x = a, *y = b;
	return x->group < y->group ? -1 : x->group > y->group;
}

static int by_value(const void *a, const void *b)
{
	const struct sample_number *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}

void samples_sort(struct samples *s, const uint32_t *to)
{
	for (size_t i = 0; i < s->count; i++) {
		s->numbers[i].group = to[s->numbers[i].group];
	}
	if (s->count) {
		qsort(s->numbers, s->count, sizeof *s->numbers, by_group);
	}
}

static size_t first_of(const struct samples *s, uint32_t group)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->numbers[middle].group < group) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

bool samples_percentiles(const struct samples *s, uint32_t first, uint32_t end, const uint32_t *parts, uint32_t count,
			 double *ret)
{
	size_t at = first_of(s, first), n = first_of(s, end) - at;
	struct sample_number *sorted = n ? malloc(n * sizeof *sorted) : NULL;
	uint64_t all = 0, seen = 0;
	if (!sorted) {
		return false;
	}
	memcpy(sorted, s->numbers + at, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_value);
	for (size_t i = 0; i < n; i++) {
		all += sorted[i].weight;
	}
	size_t i = 0;
	for (uint32_t k = 0; k < count; k++) {
		uint64_t rank = clock_muldiv(all, parts[k], 100);
		rank += clock_muldiv(rank, 100, 1) != clock_muldiv(all, parts[k], 1); /* rounded up */
		while (i + 1 < n && seen + sorted[i].weight < BASE_MAX(rank, 1u)) {
			seen += sorted[i++].weight;
		}
		ret[k] = sorted[i].value;
	}
	free(sorted);
	return true;
}
