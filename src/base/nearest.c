/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <ctype.h>
#include <strings.h>

#define COMPARED_MAX 128

/* Edits (insert, delete, replace, swap neighbours) between a and b, whatever their case. */
static int distance(const char *a, const char *b)
{
	int rows[3][COMPARED_MAX + 1];
	int n = (int)strlen(a), m = (int)strlen(b);
	if (n > COMPARED_MAX || m > COMPARED_MAX) {
		return 999;
	}
	for (int i = 0; i <= n; i++) {
		int *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
		for (int j = 0; j <= m; j++) {
			if (i == 0 || j == 0) {
				now[j] = i + j;
				continue;
			}
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
			int best = before[j - 1] + (x != y);
			best = BASE_MIN(best, before[j] + 1);
			best = BASE_MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    tolower((unsigned char)a[i - 2]) == y) {
				best = BASE_MIN(best, earlier[j - 2] + 1);
			}
			now[j] = best;
		}
	}
	return rows[n % 3][m];
}

const char *nearest_word(const char *text, const char *(*next)(const void *ctx, int i), const void *ctx)
{
	const char *best = NULL;
	int best_distance = 999;
	size_t n = strlen(text);
	for (int i = 0;; i++) {
		const char *c = next(ctx, i);
		if (!c) {
			break;
		}
		/* A beginning or an end of the word is as good as one typing mistake. */
		size_t m = strlen(c);
		int d = n >= 3 && m > n && (strncasecmp(c, text, n) == 0 || strcasecmp(c + m - n, text) == 0)
				? 1
				: distance(text, c);
		if (d < best_distance) {
			best_distance = d;
			best = c;
		}
	}
	return best_distance <= (n <= 3 ? 1 : n <= 6 ? 2 : n <= 18 ? 3 : (int)n / 6) ? best : NULL;
}

static const char *listed(const void *ctx, int i)
{
	return ((const char *const *)ctx)[i];
}

const char *nearest_of(const char *text, const char *const *words)
{
	return words ? nearest_word(text, listed, words) : NULL;
}
