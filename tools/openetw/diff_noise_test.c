/* SPDX-License-Identifier: MIT
 * Differences whose chance is known: from the tables of Mann and Whitney, and by trying thousands of times.
 */
#include "tools/openetw/diff_noise.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

#define VALUES 20u
#define TRIES  4000

static void chances_of_small_lists_are_exact(void **state)
{
	(void)state;
	static const struct {
		double a[6], b[6];
		size_t a_count, b_count;
		double chance;
		int higher;
	} cases[] = {
		{{1, 2, 3}, {4, 5, 6}, 3, 3, 2 / 20.0, 1},
		{{6, 5, 4}, {3, 2, 1}, 3, 3, 2 / 20.0, -1},
		{{1, 2, 3, 4}, {5, 6, 7, 8}, 4, 4, 2 / 70.0, 1},
		{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 5, 5, 2 / 252.0, 1},
		{{1, 2, 3, 4, 6}, {5, 7, 8, 9, 10}, 5, 5, 4 / 252.0, 1},
		{{1, 3, 5}, {2, 4, 6}, 3, 3, 2 * 7 / 20.0, 1},
		{{7, 7, 7}, {7, 7, 7}, 3, 3, 1, 0},
		{{1}, {1000}, 1, 1, 1, 1},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		int higher = 5;
		double p =
			diff_noise_chance(cases[i].a, cases[i].a_count, cases[i].b, cases[i].b_count, false, &higher);
		if (fabs(p - cases[i].chance) > 1e-12 || higher != cases[i].higher) {
			fail_msg("case %zu: %.9g, not %.9g; %d", i, p, cases[i].chance, higher);
		}
	}
	assert_true(fabs(diff_noise_least(5, 5) - 2 / 252.0) < 1e-12);
	assert_true(fabs(diff_noise_least(3, 4) - 2 / 35.0) < 1e-12);
	int higher;
	assert_true(isnan(diff_noise_chance(cases[0].a, 0, cases[0].b, 3, false, &higher)));
}

static uint64_t seed = 20261128;

/* About normal: a sum of twelve. */
static double random_value(void)
{
	double sum = -6;
	for (int i = 0; i < 12; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		sum += (double)(seed >> 11) / 9007199254740992.0;
	}
	return sum;
}

/* How often a difference is found at 0.01. `alike`: how much of its neighbour each value has; `shift`: b's. */
static double share_found(double alike, double shift)
{
	int found = 0;
	for (int i = 0; i < TRIES; i++) {
		double v[2][VALUES];
		for (int side = 0; side < 2; side++) {
			double last = random_value();
			for (size_t k = 0; k < VALUES; k++) {
				last = alike * last + sqrt(1 - alike * alike) * random_value();
				v[side][k] = last + (side ? shift : 0);
			}
		}
		int higher;
		found += diff_noise_chance(v[0], VALUES, v[1], VALUES, true, &higher) <= 0.01;
	}
	return (double)found / TRIES;
}

static void equal_traces_rarely_differ(void **state)
{
	(void)state;
	double alone = share_found(0, 0), some = share_found(0.4, 0), much = share_found(0.7, 0);
	if (alone > 0.02 || some > 0.03 || much > 0.06) {
		fail_msg("found where nothing is: %.4f, alike: %.4f, very alike: %.4f", alone, some, much);
	}
}

static void differences_are_found(void **state)
{
	(void)state;
	double one = share_found(0, 1.5), alike = share_found(0.4, 2.5);
	if (one < 0.9 || alike < 0.8) {
		fail_msg("found where something is: %.4f, alike: %.4f", one, alike);
	}
}

/* Two traces that rise slowly all the time, and the second one is above the first one everywhere. */
static void lists_that_lie_apart_differ_however_alike_neighbours_are(void **state)
{
	(void)state;
	double a[VALUES], b[VALUES];
	int higher;
	for (size_t i = 0; i < VALUES; i++) {
		a[i] = (double)i;
		b[i] = 1000 + (double)i;
	}
	double p = diff_noise_chance(a, VALUES, b, VALUES, true, &higher);
	assert_true(p < 0.01 && p > 0.001 && higher == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chances_of_small_lists_are_exact),
		cmocka_unit_test(equal_traces_rarely_differ),
		cmocka_unit_test(differences_are_found),
		cmocka_unit_test(lists_that_lie_apart_differ_however_alike_neighbours_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
