/* SPDX-License-Identifier: MIT
 *
 * Numbers, times, durations and sizes as people write and read them. All times are FILETIME: 100 ns since
 * 1601-01-01 UTC.
 *
 * A number is decimal or, behind 0x, hexadecimal: digits alone, without sign or blanks. A leading zero means
 * nothing. Outputs are written only on success.
 */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include "base/base.h"

#define TIME_TEXT_SIZE 40

/* A whole text that is one number from min to max. */
bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret);
/* The same of a text's first n bytes. */
bool parse_number_of(const char *text, size_t n, uint64_t min, uint64_t max, uint64_t *ret);
/* The number that *inout_text begins with, at most max; *inout_text then points behind it. */
bool parse_number_at(const char **inout_text, uint64_t max, uint64_t *ret);
/* "1,2, 0x10": numbers from min to max, separated by commas and blanks beside these. How many, at most cap; -1:
 * it is no such list, or it has more. "" is none: 0. */
int parse_numbers(const char *text, uint32_t min, uint32_t max, uint32_t *out, int cap);

/* "2026-03-01T12:34:56.1234567Z", or with the machine's offset ("+01:00") when local. */
void format_time(uint64_t filetime, bool local, char out[TIME_TEXT_SIZE]);
/* A date, or a date and a time down to 100 ns, separated by T or a blank, then nothing or Z (UTC)
 * or +hh:mm. */
bool parse_time(const char *text, uint64_t *ret_filetime);
/* "250ms", "1.5s", "2m", "1h", "3d", "10us", "100ns"; a bare number has unit `unit_ns`. */
bool parse_duration(const char *text, uint64_t unit_ns, uint64_t *ret_ns);
/* "4096", "64K", "100MB", "2GiB" (K, M, G are powers of 1024); a bare number has unit `unit_bytes`.
 */
bool parse_size(const char *text, uint64_t unit_bytes, uint64_t *ret_bytes);
/* "1.234 s", "12.3 ms", "2 h 03 min". */
void format_duration(uint64_t duration_100ns, char *out, size_t cap);

#endif
