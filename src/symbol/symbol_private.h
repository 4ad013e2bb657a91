/* SPDX-License-Identifier: MIT
 * Shared by the files of symbol.
 */
#ifndef SYMBOL_SYMBOL_PRIVATE_H
#define SYMBOL_SYMBOL_PRIVATE_H

#include "symbol/symbol.h"

#define SYMBOL_DIGITS_MAX 24u
/* The number in decimal, at the end of `text`, without a terminator: where it begins. */
static inline size_t symbol_digits(uint64_t v, char text[SYMBOL_DIGITS_MAX])
{
	size_t n = SYMBOL_DIGITS_MAX;
	do {
		text[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return n;
}

/* free(); NULL when it is none, or liblzma is not there. */
uint8_t *symbol_unxz(const uint8_t *p, size_t n, size_t *ret_n);

/* A name of C++ (_Z…), within bounds of time, memory and length; NULL when it is none, or beyond them.
 * *inout_steps grows. free(). */
char *symbol_demangle_cxx(const char *name, uint64_t *inout_steps);
/* Names of Rust (_R…), the same. */
char *symbol_demangle_rust(const char *name, uint64_t *inout_steps);
/* What the C++ demangler made of an old Rust name: without the hash and what stands behind it, and with
 * its signs written out. */
void symbol_tidy_rust(char *text);

#endif
