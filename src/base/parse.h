/* SPDX-License-Identifier: MIT
 *
 * Times and durations as people write and read them. All times are FILETIME: 100 ns since
 * 1601-01-01 UTC.
 */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include "base/base.h"

#define TIME_TEXT_SIZE 40

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
