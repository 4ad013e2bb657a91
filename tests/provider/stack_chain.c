/* SPDX-License-Identifier: MIT
 * A known chain of calls; compiled with and without frame pointers (CHAIN names the functions).
 */
#include <stdint.h>

#define NAME2(a, b) a##b
#define NAME(a, b)  NAME2(a, b)
#define A           NAME(CHAIN, _a)
#define B           NAME(CHAIN, _b)
#define C           NAME(CHAIN, _c)

int A(int (*leaf)(int), int n);
int B(int (*leaf)(int), int n);
int C(int (*leaf)(int), int n);

/* Enough live values to need every register. */
#define WORK(v, n)                                                     \
	volatile uint64_t v[8] = {(uint64_t)(n), 2, 3, 4, 5, 6, 7, 8}; \
	uint64_t r0 = v[0] * 3, r1 = v[1] ^ v[0], r2 = v[2] + v[0], r3 = v[3] - v[0], r4 = v[4] * v[0], r5 = v[5] | v[0]

__attribute__((noinline)) int C(int (*leaf)(int), int n)
{
	WORK(v, n);
	int r = leaf(n);
	return r + (int)((r0 ^ r1 ^ r2 ^ r3 ^ r4 ^ r5) & v[6] & 0);
}

__attribute__((noinline)) int B(int (*leaf)(int), int n)
{
	WORK(v, n);
	int r = C(leaf, n + 1);
	return r + (int)((r0 ^ r1 ^ r2 ^ r3 ^ r4 ^ r5) & v[6] & 0);
}

__attribute__((noinline)) int A(int (*leaf)(int), int n)
{
	WORK(v, n);
	int r = B(leaf, n + 1);
	return r + (int)((r0 ^ r1 ^ r2 ^ r3 ^ r4 ^ r5) & v[6] & 0);
}
